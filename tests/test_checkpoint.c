/* Runs as bytes: the same on any threads, after a checkpoint, in no more memory; and how they fail. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "check.h"
#include "iclkin/rng.h"
#include "iclkin/train.h"
#include "runs.h"

/* ---- determinism and checkpoints -----------------------------------------------------------------------------------
 */

/* A short run with every part in use, at sizes that fill no panel. */
static struct icl_train_setup short_setup(uint32_t member) {
    struct icl_train_setup s = runs_setup(42, 10, 9, 37);
    s.init = (struct icl_init){.w_sd = 0.5, .beta_sd = 0.5};
    s.train = (struct icl_train){.lr = 0.3, .batch = 45, .t_max = 60, .lambda_w = 1e-3};
    s.sim.eval_items = 300;
    s.rows = true;
    s.member = member;
    return s;
}

static void *run_to_end(void *argument) {
    struct icl_train_run *const run = argument;
    struct icl_err err;
    enum icl_status status = icl_train_init(run, &err);
    while (status == ICL_OK && !icl_train_done(run)) status = icl_train_step(run, &err);
    return NULL;
}

static unsigned char *bytes_of(const struct icl_train_run *run) {
    unsigned char *block = NULL;
    struct icl_err err;
    check_ok(icl_mem_alloc(&block, icl_train_save_size(run), 1, &err), &err);
    icl_train_save(run, block);
    return block;
}

static void same_seed_same_bytes_on_any_threads(void **state) {
    (void)state;
    enum { RUNS = 8 };
    unsigned char *serial[RUNS];
    for (uint32_t m = 0; m < RUNS; m++) {
        const struct icl_train_setup s = short_setup(m);
        struct icl_train_run *run = runs_start(&s);
        runs_finish(run);
        serial[m] = bytes_of(run);
        if (m > 0) assert_memory_not_equal(serial[m], serial[m - 1], icl_train_save_size(run));
        icl_train_free(run);
    }
    for (size_t threads = 2; threads <= RUNS; threads *= 4) {
        for (uint32_t first = 0; first < RUNS; first += (uint32_t)threads) {
            struct icl_train_run *run[RUNS];
            pthread_t thread[RUNS];
            struct icl_err err;
            for (uint32_t m = 0; m < threads; m++) {
                const struct icl_train_setup s = short_setup(first + m);
                check_ok(icl_train_alloc(&run[m], &s, &err), &err);
                assert_int_equal(pthread_create(&thread[m], NULL, run_to_end, run[m]), 0);
            }
            for (uint32_t m = 0; m < threads; m++) {
                assert_int_equal(pthread_join(thread[m], NULL), 0);
                unsigned char *const block = bytes_of(run[m]);
                assert_memory_equal(block, serial[first + m], icl_train_save_size(run[m]));
                icl_mem_free(block);
                icl_train_free(run[m]);
            }
        }
    }
    for (size_t m = 0; m < RUNS; m++) icl_mem_free(serial[m]);
}

/* Takes a checkpoint after `at` steps into a fresh run, and goes on to the end: rows and bytes are the whole run's. */
static void check_resumed(const struct icl_train_setup *s, uint64_t at, const struct icl_train_row *rows,
                          const unsigned char *whole) {
    struct icl_err err;
    struct icl_train_run *first = runs_start(s), *second;
    struct icl_train_row row;
    size_t row_number = icl_train_row(first, &row);
    for (uint64_t i = 0; i < at; i++) {
        check_ok(icl_train_step(first, &err), &err);
        row_number += icl_train_row(first, &row);
    }
    unsigned char *const block = bytes_of(first);
    check_ok(icl_train_alloc(&second, s, &err), &err);
    check_ok(icl_train_restore(second, block, icl_train_save_size(second), &err), &err);
    icl_train_free(first);
    assert_int_equal(icl_train_row(second, &row),
                     row_number > 0 && rows[row_number - 1].value[ICL_TRAIN_STEPS] == (double)at);
    while (!icl_train_done(second)) {
        check_ok(icl_train_step(second, &err), &err);
        if (icl_train_row(second, &row)) assert_memory_equal(&row, &rows[row_number++], sizeof row);
    }
    unsigned char *const end = bytes_of(second);
    assert_memory_equal(end, whole, icl_train_save_size(second));
    assert_int_equal(row_number, s->observe.samples);
    icl_mem_free(end);
    icl_mem_free(block);
    icl_train_free(second);
}

static void a_restored_run_is_the_uninterrupted_one(void **state) {
    (void)state;
    const struct icl_train_setup s = short_setup(5);
    struct icl_train_row rows[11];
    size_t row_number = 0;
    struct icl_err err;
    struct icl_train_run *run = runs_start(&s);
    assert_true(icl_train_row(run, &rows[row_number++]));
    while (!icl_train_done(run)) {
        check_ok(icl_train_step(run, &err), &err);
        row_number += icl_train_row(run, &rows[row_number < 10 ? row_number : 10]);
    }
    assert_int_equal(row_number, 11);
    for (size_t i = 0; i < 11; i++) check_abs(rows[i].value[ICL_TRAIN_T], 6. * (double)i, 1e-9); /* rounding */
    unsigned char *const whole = bytes_of(run);
    const uint64_t total = icl_train_total(run);
    assert_int_equal(total, 200);
    icl_train_free(run);
    struct icl_rng rng;
    icl_rng_seek(&rng, 9, 0, ICL_RNG_TEST, 0);
    check_resumed(&s, 0, rows, whole);
    check_resumed(&s, total, rows, whole);
    for (int i = 0; i < 20; i++) check_resumed(&s, icl_rng_below(&rng, (uint32_t)total), rows, whole);
    icl_mem_free(whole);
}

/* Every value of the setup enters the fingerprint. */
static void a_fingerprint_knows_every_value(void **state) {
    (void)state;
    struct icl_train_setup s = short_setup(1);
    const uint64_t same = icl_train_fingerprint(&s);
    double *const real[] = {&s.task.K,
                            &s.task.D,
                            &s.init.w,
                            &s.init.beta,
                            &s.init.w_sd,
                            &s.init.beta_sd,
                            &s.train.lambda_w,
                            &s.train.lambda_beta,
                            &s.train.lambda_mlp,
                            &s.train.lr,
                            &s.train.t_max,
                            &s.observe.icl_threshold,
                            &s.observe.loss_threshold,
                            &s.observe.iwl_threshold,
                            &s.sim.input_scale,
                            &s.offset};
    size_t *const count[] = {&s.task.N,     &s.task.copies, &s.train.batch,   &s.observe.samples,
                             &s.sim.hidden, &s.sim.seed,    &s.sim.eval_items};
    for (size_t i = 0; i < sizeof real / sizeof *real; i++) {
        const double keep = *real[i];
        *real[i] = nextafter(keep, 1e9);
        assert_true(icl_train_fingerprint(&s) != same);
        *real[i] = keep;
    }
    for (size_t i = 0; i < sizeof count / sizeof *count; i++) {
        ++*count[i];
        assert_true(icl_train_fingerprint(&s) != same);
        --*count[i];
    }
    struct icl_train_setup other[7];
    for (size_t i = 0; i < 7; i++) other[i] = s;
    other[0].task.labels = ICL_LABELS_BALANCED;
    other[1].task.items = ICL_ITEMS_UNIT;
    other[2].observe.spacing = ICL_SPACING_LOG;
    other[3].member++;
    other[4].model = ICL_TRAIN_MLP;
    other[5].rows = !s.rows;
    other[6].stop_at_icl = !s.stop_at_icl;
    for (size_t i = 0; i < 7; i++) assert_true(icl_train_fingerprint(&other[i]) != same);
    assert_true(icl_train_fingerprint(&s) == same);
}

static void bad_checkpoints_are_refused(void **state) {
    (void)state;
    struct icl_train_setup s = short_setup(1);
    struct icl_err err;
    struct icl_train_run *run = runs_start(&s), *other;
    unsigned char *const block = bytes_of(run);
    const size_t size = icl_train_save_size(run);
    check_fails(icl_train_restore(run, block, 5, &err), ICL_EUSAGE, &err, "no checkpoint");
    check_fails(icl_train_restore(run, block, size - 1, &err), ICL_EUSAGE, &err, "damaged");
    block[size - 20] ^= 1;
    check_fails(icl_train_restore(run, block, size, &err), ICL_EUSAGE, &err, "damaged");
    block[size - 20] ^= 1;
    block[8] ^= 8;
    check_fails(icl_train_restore(run, block, size, &err), ICL_EUSAGE, &err, "this program writes and reads");
    block[8] ^= 8;
    s.train.lambda_beta = 1e-9;
    check_ok(icl_train_alloc(&other, &s, &err), &err);
    check_fails(icl_train_restore(other, block, size, &err), ICL_EUSAGE, &err, "other parameters");
    check_ok(icl_train_restore(run, block, size, &err), &err);
    icl_train_free(other);
    icl_train_free(run);
    icl_mem_free(block);
}

/* ---- failures and memory -------------------------------------------------------------------------------------------
 */

static void divergence_names_the_step(void **state) {
    (void)state;
    struct icl_train_setup s = runs_setup(200, 20, 63, 64);
    struct icl_err err;
    struct icl_train_result result;
    static const double rates[] = {100, 1000, 1e6};
    for (size_t i = 0; i < 3; i++) {
        s.train.lr = rates[i];
        s.train.t_max = 1000 * rates[i];
        struct icl_train_run *run = runs_start(&s);
        enum icl_status status = ICL_OK;
        while (status == ICL_OK && !icl_train_done(run)) status = icl_train_step(run, &err);
        icl_train_result(run, &result);
        char step[40];
        (void)snprintf(step, sizeof step, "step %llu (t=", (unsigned long long)result.steps);
        check_fails(status, ICL_ENUMERIC, &err, step);
        assert_true(result.steps < 100 && strstr(err.text, "SGD diverges at lr="));
        icl_train_free(run);
    }
}

/* An allocation inside a step would fail, and so would the step. */
static void steps_do_not_allocate(void **state) {
    (void)state;
    const struct icl_train_setup s = short_setup(2);
    struct icl_err err;
    struct icl_train_run *run = runs_start(&s);
    icl_mem_fail_at(1);
    while (!icl_train_done(run)) check_ok(icl_train_step(run, &err), &err);
    check_ok(icl_train_init(run, &err), &err);
    void *block = NULL;
    check_fails(icl_mem_alloc(&block, 1, 1, &err), ICL_ENOMEM, &err, "");
    icl_mem_fail_at(0);
    icl_train_free(run);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    const struct icl_train_setup s = short_setup(2);
    struct icl_err err;
    struct icl_train_run *run = NULL;
    size_t n = 1;
    for (;; n++) {
        icl_mem_fail_at(n);
        const enum icl_status status = icl_train_alloc(&run, &s, &err);
        icl_mem_fail_at(0);
        if (status == ICL_OK) break;
        assert_int_equal(status, ICL_ENOMEM);
        assert_null(run);
    }
    assert_true(n > 10);
    icl_train_free(run);
    icl_train_free(NULL);
}

/* ---- memory --------------------------------------------------------------------------------------------------------
 */

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED __has_feature(address_sanitizer)
#else
#define SANITIZED 0
#endif
/* The sanitizer keeps what is freed, and a byte of its own beside every eight. */
enum { KEEPS_FREED = SANITIZED, EIGHTHS = 8 + SANITIZED };

/* The most memory, in bytes, that a process of its own comes to hold over some runs, one after another. */
static double peak_of(const struct icl_train_setup *s, int runs, int steps) {
    struct rusage used;
    int code, ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct icl_err err;
        enum icl_status status = ICL_OK;
        for (int r = 0; r < runs && status == ICL_OK; r++) {
            struct icl_train_run *run;
            status = icl_train_alloc(&run, s, &err);
            if (status == ICL_OK) status = icl_train_init(run, &err);
            for (int i = 0; i < steps && status == ICL_OK; i++) status = icl_train_step(run, &err);
            icl_train_free(run);
        }
        const bool told = getrusage(RUSAGE_SELF, &used) == 0 && write(ends[1], &used, sizeof used) == sizeof used;
        _exit(status == ICL_OK && told ? 0 : 1);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &used, sizeof used), sizeof used);
    close(ends[0]);
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_int_equal(code, 0);
    return 1024 * (double)used.ru_maxrss;
}

/* What a run holds, to what it states: K items of D floats (to the next 16), the MLP (H^2 + H D + ...), four
 * arrays of the activations of 128 inputs. Pages are counted in batches, and the heap has gaps: measured 0.6 MB; 20
 * runs that freed nothing would hold 50 MB. */
static void memory_grows_with_items_and_the_mlp_alone(void **state) {
    (void)state;
    const double allowed = 1e6;
    struct icl_train_setup s = runs_setup(1e4, 10, 63, 32);
    s.sim.eval_items = 100;
    s.train.t_max = 10;
    const double small = peak_of(&s, 1, 1);
    check_abs(peak_of(&s, 1, 100) - small, 0, allowed);
    if (!KEEPS_FREED) check_abs(peak_of(&s, 20, 1) - small, 0, allowed);
    s.task.K = 11e4;
    check_abs(peak_of(&s, 1, 1) - small, 1e5 * 64 * 4 / 8 * EIGHTHS, allowed); /* 25.6 MB */
    s.task.K = 1e4;
    s.sim.hidden = 2048;
    const double mlp = 4.0 * (2048 * 2048 + 2048 * 67 + 4 * 128 * 2048); /* 21.5 MB */
    check_abs(peak_of(&s, 1, 1) - small, mlp / 8 * EIGHTHS, allowed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_seed_same_bytes_on_any_threads),
        cmocka_unit_test(a_restored_run_is_the_uninterrupted_one),
        cmocka_unit_test(a_fingerprint_knows_every_value),
        cmocka_unit_test(bad_checkpoints_are_refused),
        cmocka_unit_test(divergence_names_the_step),
        cmocka_unit_test(steps_do_not_allocate),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(memory_grows_with_items_and_the_mlp_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
