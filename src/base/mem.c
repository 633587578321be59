#include "mem.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

static atomic_size_t fail_in, held;

static int fails_now(void) {
    size_t left = atomic_load(&fail_in);

    while (left != 0 && !atomic_compare_exchange_weak(&fail_in, &left, left - 1)) continue;
    return left == 1;
}

enum icl_status icl_mem_alloc(void *block, size_t count, size_t size, struct icl_err *err) {
    void *fresh = NULL;
    size_t bytes;

    /* The caller's pointer may have any object type: it is written as bytes, not through a void **. */
    memcpy(block, &fresh, sizeof fresh);
    if (size != 0 && count > PTRDIFF_MAX / size)
        return ICL_ERR(err, ICL_ENOMEM, "out of memory: %zu x %zu bytes are more than can be addressed", count, size);
    bytes = count * size != 0 ? count * size : 1;
    if (fails_now() || posix_memalign(&fresh, ALIGNMENT, bytes) != 0)
        return ICL_ERR(err, ICL_ENOMEM, "out of memory: %zu bytes could not be had", bytes);
    memset(fresh, 0, bytes);
    memcpy(block, &fresh, sizeof fresh);
    atomic_fetch_add(&held, 1);
    return ICL_OK;
}

enum icl_status icl_mem_grow(void *block, size_t old_count, size_t new_count, size_t size, struct icl_err *err) {
    void *old, *fresh;

    ICL_TRY(icl_mem_alloc(&fresh, new_count, size, err));
    memcpy(&old, block, sizeof old);
    if (old != NULL) memcpy(fresh, old, (old_count < new_count ? old_count : new_count) * size);
    icl_mem_free(old);
    memcpy(block, &fresh, sizeof fresh);
    return ICL_OK;
}

void icl_mem_free(void *block) {
    if (block == NULL) return;
    atomic_fetch_sub(&held, 1);
    free(block);
}

size_t icl_mem_held(void) {
    return atomic_load(&held);
}

void icl_mem_fail_at(size_t n) {
    atomic_store(&fail_in, n);
}
