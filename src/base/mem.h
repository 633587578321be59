/* mem.h -- the only way to the heap; private to src/. Zeroed, overflow-checked, 64-byte aligned blocks. */
#ifndef ICLKIN_MEM_H
#define ICLKIN_MEM_H

#include <stddef.h>

#include "iclkin/err.h"

/* A zeroed block of count x size bytes, aligned to 64, in *block; ICL_ENOMEM (and *block = NULL) if it cannot be had.
 */
enum icl_status icl_mem_alloc(void *block, size_t count, size_t size, struct icl_err *err) ICL_MUST_CHECK;

/* Grows *block (from icl_mem_alloc, or NULL) from old_count to new_count elements, keeping its content; the old block
 * stays valid on failure. */
enum icl_status icl_mem_grow(void *block, size_t old_count, size_t new_count, size_t size,
                             struct icl_err *err) ICL_MUST_CHECK;

/* Frees a block from icl_mem_alloc; NULL is legal. */
void icl_mem_free(void *block);

/* Tests only: how many blocks are held at the moment. */
size_t icl_mem_held(void);

/* Tests only: the nth allocation from now fails (n = 1: the next one), and only that one; 0 switches it off. */
void icl_mem_fail_at(size_t n);

#endif
