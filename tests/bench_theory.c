/* Solves a second of the theory, beside the same in SciPy. Times are recorded only; counts of steps and calls are
 * asserted. */
#include "check.h"

#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fixtures.h"
#include "iclkin/predict.h"

static double read_clock(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A core's own time: what else the machine does is no part of it. */
static double now(void) {
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

struct job {
    const struct icl_params *params;
    enum icl_level level;
    struct icl_traj_result result;
    struct icl_traj *traj;
    double K_star;
};

static void solve(struct job *job) {
    job->result = fixture_solve(job->params, job->level, ICL_TRAJ_TO_ICL);
}

/* As a sweep over starts has it: everything allocated already. */
static void solve_again(struct job *job) {
    struct icl_err err;
    check_ok(icl_traj_run(job->traj, 0, 0, ICL_TRAJ_TO_ICL, NULL, NULL, &job->result, &err), &err);
}

static void threshold(struct job *job) {
    struct icl_err err;
    check_ok(icl_predict_items(job->params, job->level, &job->K_star, &err), &err);
}

static void everything(struct job *job) {
    struct icl_prediction prediction;
    struct icl_err err;
    check_ok(icl_predict_run(job->params, &prediction, &err), &err);
}

/* Seconds a call: the best of twenty rounds of at least 10 ms. */
static double clocked(void (*call)(struct job *job), struct job *job) {
    double best = INFINITY;
    call(job);
    for (int round = 0; round < 20; round++) {
        const double start = now();
        double count = 0;
        do {
            call(job);
            count++;
        } while (now() - start < 0.01);
        best = fmin(best, (now() - start) / count);
    }
    return best;
}

static void line(const char *what, double seconds, double bound) {
    printf("%-52s %12.3f us %12.0f /s", what, 1e6 * seconds, 1 / seconds);
    if (bound > 0) printf("   bound %g us: %s", 1e6 * bound, seconds <= bound ? "met" : "MISSED");
    printf("\n");
}

/* One level: once, and a solve alone (as in SciPy, whose rules are made before the clock starts); asserts the counts
 * and returns the time of a solve. */
static double bench_level(const struct icl_params *params, enum icl_level level, const char *name, double bound,
                          size_t most_steps, size_t most_calls, double *t_icl) {
    struct job job = {.params = params, .level = level};
    struct icl_err err;
    char what[100];
    double seconds = clocked(solve, &job);
    snprintf(what, sizeof what, "%s, once: rules, thresholds, solve", name);
    line(what, seconds, 0);
    check_ok(icl_traj_alloc(&job.traj, params, level, params->task.K, &err), &err);
    snprintf(what, sizeof what, "%s, a solve to t_icl", name);
    line(what, seconds = clocked(solve_again, &job), bound);
    icl_traj_free(job.traj);
    printf("%-52s %zu steps, %zu right-hand sides, t_icl = %.8g\n", "", job.result.steps, job.result.rhs_calls,
           job.result.t_icl);
    assert_true(job.result.steps <= most_steps && job.result.rhs_calls <= most_calls);
    *t_icl = job.result.t_icl;
    return seconds;
}

/* The first python3 that has SciPy. */
static const char *python(void) {
    static const char *const NAMES[] = {"python3", "/usr/bin/python3"};
    for (int i = 0; i < 2; i++) {
        char command[100];
        snprintf(command, sizeof command, "%s -c 'import scipy' 2>/dev/null", NAMES[i]);
        if (system(command) == 0) return NAMES[i];
    }
    return NULL;
}

/* beta at acquisition, where the event is: the same for both programs. */
static double beta_icl(const struct icl_params *params) {
    return fixture_solve(params, ICL_LEVEL_REDUCED, ICL_TRAJ_TO_ICL).y[ICL_BETA];
}

enum { SOLVES = 3 }; /* reduced, mean field, and that with a memory table */

static void bench_scipy(const struct icl_params *params, const struct icl_params *measured, const char *table,
                        const double seconds[SOLVES], const double t_icl[SOLVES]) {
    static const char *const LEVELS[SOLVES] = {"reduced", "meanfield", "measured"};
    const char *interpreter = python();
    char command[600], text[200];
    double best[SOLVES] = {INFINITY, INFINITY, INFINITY};
    if (!interpreter) {
        printf("SciPy is not installed (python3-scipy): no comparison\n");
        return;
    }
    snprintf(command, sizeof command, "%s tests/bench/scipy_theory.py %zu %g %g %g %g %g %g %.17g %zu %zu %s %.17g",
             interpreter, params->task.N, params->task.D, params->task.K, params->memory.A, params->memory.nu,
             params->memory.p, params->solver.rtol, beta_icl(params), params->solver.nodes_q, params->solver.nodes_g,
             table, fixture_solve(measured, ICL_LEVEL_MEANFIELD, ICL_TRAJ_TO_ICL).y[ICL_BETA]);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    while (fgets(text, sizeof text, pipe)) {
        char name[20], method[20];
        double time, t;
        size_t calls;
        if (sscanf(text, "%19s %lf %lf %zu %19s", name, &time, &t, &calls, method) != 5) continue;
        int level = 0;
        while (level + 1 < SOLVES && strcmp(name, LEVELS[level]) != 0) level++;
        printf("SciPy %s, %-38s %12.3f us; %zu right-hand sides, t_icl = %.8g; ratio %.0f\n", name, method, 1e6 * time,
               calls, t, time / seconds[level]);
        /* The same problem: RK45 errs most; another spline and more nodes through the same table. */
        check_rel(t, t_icl[level], level < 2 ? 1e-4 : 1e-3);
        best[level] = fmin(best[level], time);
    }
    pclose(pipe);
    for (int level = 0; level < SOLVES; level++)
        printf("%s: %.0f x the fastest of SciPy's methods\n", LEVELS[level], best[level] / seconds[level]);
}

static void bench_process(const char *self, const char *options) {
    char command[600], what[100];
    const char *slash = strstr(self, "/tests/");
    double best = INFINITY;
    snprintf(command, sizeof command, "%.*s/iclkin predict %s >/dev/null", slash ? (int)(slash - self) : 1,
             slash ? self : ".", options);
    for (int i = 0; i < 10; i++) {
        const double start = read_clock(CLOCK_MONOTONIC);
        if (system(command) != 0) {
            printf("%s: did not run\n", command);
            return;
        }
        best = fmin(best, read_clock(CLOCK_MONOTONIC) - start);
    }
    snprintf(what, sizeof what, "`iclkin predict %s` as a process", options);
    line(what, best, 50e-3);
}

int main(int argc, char **argv) {
    (void)argc;
    gsl_set_error_handler_off();
    /* rtol 1e-8 for both: what SciPy is asked for too. */
    const struct icl_params params = fixture_params("solver.rtol=1e-8 solver.atol=1e-11");
    const struct icl_params defaults = fixture_params("");
    struct icl_params measured = fixture_params("solver.rtol=1e-8 solver.atol=1e-11 memory.closure=plain");
    const char *const table = "params/memory/default.tsv";
    struct icl_memtable *memory;
    struct icl_err err;
    double seconds[SOLVES], t_icl[SOLVES];
    check_ok(icl_memtable_read(&memory, table, &err), &err);
    measured.memory.law = ICL_LAW_TABLE;
    measured.memtable = memory;
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "OPENBLAS_L2_SIZE" : "OPENBLAS_CORETYPE", *value = getenv(name);
        printf("# %s = %s\n", name, value ? value : "not set");
    }
    printf("# N = %zu, D = %g, K = %g, power law, rtol %g; CPU time of one core\n", params.task.N, params.task.D,
           params.task.K, params.solver.rtol);
    seconds[0] = bench_level(&params, ICL_LEVEL_REDUCED, "reduced", 25e-6, 20, 400, &t_icl[0]);
    seconds[1] = bench_level(&params, ICL_LEVEL_MEANFIELD, "mean field, 8 x 12 x 3 nodes", 0.7e-3, 25, 600, &t_icl[1]);
    seconds[2] = bench_level(&measured, ICL_LEVEL_MEANFIELD, "mean field, memory table", 0.7e-3, 100, 1000, &t_icl[2]);
    double with_response;
    measured.memory.closure = ICL_CLOSURE_RESPONSE;
    bench_level(&measured, ICL_LEVEL_MEANFIELD, "the same with its response (M4)", 0, 100, 1000, &with_response);
    measured.memory.closure = ICL_CLOSURE_PLAIN;
    for (int level = 0; level < ICL_LEVEL_COUNT; level++) {
        static const char *const NAMES[] = {"K*, asymptotic", "K*, reduced", "K*, mean field"};
        struct job job = {.params = &defaults, .level = (enum icl_level)level};
        line(NAMES[level], clocked(threshold, &job), 0);
    }
    struct job job = {.params = &defaults};
    line("everything that `predict` prints (defaults)", clocked(everything, &job), 0);
    bench_process(argv[0], "");
    bench_process(argv[0], "-s memory.law=table");
    bench_scipy(&params, &measured, table, seconds, t_icl);
    icl_memtable_free(memory);
    return 0;
}
