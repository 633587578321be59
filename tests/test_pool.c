/* test_pool.c -- jobs on threads: every result once, in order, whatever the number of threads; failures; stopping. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "check.h"
#include "iclkin/pool.h"

enum { JOBS = 1000 };

struct log {
    size_t n, fail_at;
    size_t index[JOBS];
    double value[JOBS];
    volatile sig_atomic_t stop;
};

static void compute(size_t index, size_t worker, void *slot, void *context) {
    (void)worker;
    (void)context;
    /* jobs of different length, so that they finish out of order */
    const struct timespec nap = {0, index % 7 == 0 ? 200000 : 1000};
    nanosleep(&nap, NULL);
    *(double *)slot = sin((double)index);
}

static enum icl_status emit(size_t index, const void *slot, void *context, struct icl_err *err) {
    struct log *log = context;
    if (log->n == log->fail_at) return ICL_ERR(err, ICL_EIO, "job %zu: no space", index);
    log->index[log->n] = index;
    log->value[log->n++] = *(const double *)slot;
    return ICL_OK;
}

static struct icl_pool_job job_of(struct log *log, size_t threads, bool ordered) {
    *log = (struct log){.fail_at = JOBS + 1};
    return (struct icl_pool_job){.n = JOBS,
                                 .slot = sizeof(double),
                                 .threads = threads,
                                 .ordered = ordered,
                                 .compute = compute,
                                 .emit = emit,
                                 .context = log,
                                 .stop = &log->stop};
}

static struct log first, again;

static void results_come_in_order(void **state) {
    struct icl_err err;
    (void)state;
    for (size_t threads = 1; threads <= 8; threads *= 2) {
        struct icl_pool_job job = job_of(&again, threads, true);
        check_ok(icl_pool_run(&job, &err), &err);
        assert_int_equal(again.n, JOBS);
        for (size_t i = 0; i < JOBS; i++) assert_int_equal(again.index[i], i);
        if (threads == 1) first = again;
        assert_memory_equal(again.value, first.value, sizeof first.value); /* same bytes */
    }
}

static void a_part_is_done_where_it_begins(void **state) {
    struct icl_err err;
    (void)state;
    struct icl_pool_job job = job_of(&again, 3, true);
    job.first = 990;
    check_ok(icl_pool_run(&job, &err), &err);
    assert_int_equal(again.n, JOBS - 990);
    for (size_t i = 0; i < again.n; i++) {
        assert_int_equal(again.index[i], 990 + i);
        check_abs(again.value[i], sin(990 + (double)i), 0);
    }
}

static void unordered_results_come_once(void **state) {
    struct icl_err err;
    char seen[JOBS] = {0};
    (void)state;
    struct icl_pool_job job = job_of(&again, 4, false);
    check_ok(icl_pool_run(&job, &err), &err);
    assert_int_equal(again.n, JOBS);
    for (size_t i = 0; i < JOBS; i++) {
        assert_int_equal(seen[again.index[i]]++, 0);
        check_abs(again.value[i], sin((double)again.index[i]), 0);
    }
}

static void a_failing_sink_ends_the_work(void **state) {
    struct icl_err err;
    (void)state;
    struct icl_pool_job job = job_of(&again, 3, true);
    again.fail_at = 17;
    check_fails(icl_pool_run(&job, &err), ICL_EIO, &err, "job 17: no space");
    assert_int_equal(again.n, 17);
}

static void a_stop_ends_the_work(void **state) {
    struct icl_err err;
    (void)state;
    struct icl_pool_job job = job_of(&again, 2, true);
    again.stop = 2;
    check_fails(icl_pool_run(&job, &err), ICL_ESTOPPED, &err, "stopped");
    assert_true(again.n < JOBS);
}

static void nothing_to_do_is_no_failure(void **state) {
    struct icl_err err;
    (void)state;
    struct icl_pool_job job = job_of(&again, 2, true);
    job.n = 0;
    check_ok(icl_pool_run(&job, &err), &err);
    job.n = job.first = 5;
    check_ok(icl_pool_run(&job, &err), &err);
    assert_int_equal(again.n, 0);
}

static void memory_that_is_missing_is_said(void **state) {
    struct icl_err err;
    (void)state;
    for (size_t n = 1; n <= 3; n++) { /* results, states, workers */
        struct icl_pool_job job = job_of(&again, 2, true);
        icl_mem_fail_at(n);
        check_fails(icl_pool_run(&job, &err), ICL_ENOMEM, &err, "");
        icl_mem_fail_at(0);
        assert_int_equal(again.n, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_come_in_order),          cmocka_unit_test(unordered_results_come_once),
        cmocka_unit_test(a_part_is_done_where_it_begins), cmocka_unit_test(a_failing_sink_ends_the_work),
        cmocka_unit_test(a_stop_ends_the_work),           cmocka_unit_test(nothing_to_do_is_no_failure),
        cmocka_unit_test(memory_that_is_missing_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
