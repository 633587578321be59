/* bench_sgd.c -- SGD steps a second, as a part of the processor's peak, and where a step's time goes.
 *
 * Peak and steps are measured in turn, in the same run. A step is counted as 6 batch (D H + H^2 + H) flop. Rates are by
 * the processor time of each thread, so that another program on the machine does not enter; wall time stands beside.
 * The transformer's steps stand beside the minimal model's of the same minutes. Then the same under other OPENBLAS_*
 * variables, in processes of their own, and a PyTorch loop (tests/bench) beside them. Nothing is asserted but that the
 * runs succeed.
 *
 *   bench_sgd [SECONDS]      of each measurement; default 2
 */
#include <gsl/gsl_cblas.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "iclkin/params.h"
#include "iclkin/train.h"
#include "sim/gemm.h"
#include "sim/lap.h"
#include "sim/record.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

extern void openblas_set_num_threads(int threads) __attribute__((weak));
extern char *openblas_get_corename(void) __attribute__((weak));

enum { MOST_THREADS = 64 };
static double seconds = 2;

static double wall(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- peak ----------------------------------------------------------------------------------------------------------
 */

#if defined(__x86_64__)
#define FMA_LOOP(name, isa, type, set, fma, sums)                                                                      \
    __attribute__((target(isa))) static double name(long n) {                                                          \
        type c[sums];                                                                                                  \
        const type a = set(0.999f), b = set(1e-3f);                                                                    \
        for (int i = 0; i < (sums); i++) c[i] = set((float)i);                                                         \
        for (long k = 0; k < n; k++) {                                                                                 \
            UNROLL for (int i = 0; i < (sums); i++) c[i] = fma(c[i], a, b);                                            \
        }                                                                                                              \
        float out;                                                                                                     \
        for (int i = 1; i < (sums); i++) c[0] = fma(c[i], a, c[0]);                                                    \
        memcpy(&out, &c[0], sizeof out);                                                                               \
        return (double)out;                                                                                            \
    }
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 24")
#endif
FMA_LOOP(fma_512, "avx512f", __m512, _mm512_set1_ps, _mm512_fmadd_ps, 24)
FMA_LOOP(fma_256, "avx2,fma", __m256, _mm256_set1_ps, _mm256_fmadd_ps, 12)
#endif

/* Adds a burst of multiply-adds to the flop and the processor time seen. */
static void add_peak(double *flop, double *time) {
#if defined(__x86_64__)
    const int wide = icl_gemm_has(ICL_GEMM_V4);
    if (!wide && !icl_gemm_has(ICL_GEMM_V3)) return;
    const long n = 400000;
    const double start = icl_lap_now();
    if (isnan(wide ? fma_512(n) : fma_256(n))) exit(EXIT_FAILURE); /* so that the sums are needed */
    *time += icl_lap_now() - start;
    *flop += (double)n * (wide ? 24 * 16 * 2 : 12 * 8 * 2);
#else
    (void)flop, (void)time;
#endif
}

/* ---- steps ---------------------------------------------------------------------------------------------------------
 */

struct rate {
    double cpu, wall;   /* steps a second */
    double peak;        /* steps a second at the peak; 0: unknown */
    struct icl_lap lap; /* seconds a step */
};

static struct icl_train_setup setup_of(double K, uint32_t member) {
    struct icl_params p;
    icl_params_default(&p);
    p.task.K = K;
    p.train.t_max = 1e9;
    return (struct icl_train_setup){
        .task = p.task, .init = p.init, .train = p.train, .observe = p.observe, .sim = p.sim, .member = member};
}

static void fail(const struct icl_err *err) {
    (void)fprintf(stderr, "%s\n", err->text);
    exit(EXIT_FAILURE);
}

static double flop_of(const struct icl_train_setup *s) {
    const double D = s->task.D, H = (double)s->sim.hidden;
    return 6 * (double)s->train.batch * (D * H + H * H + H);
}

static struct rate measure(const struct icl_train_setup *setup) {
    struct icl_train_run *run;
    struct icl_err err;
    struct rate rate = {0};
    double steps = 0, cpu = 0, elapsed = 0, peak_flop = 0, peak_time = 0;
    if (icl_train_alloc(&run, setup, &err) != ICL_OK || icl_train_init(run, &err) != ICL_OK) fail(&err);
    for (int i = 0; i < 20; i++) {
        if (icl_train_step(run, &err) != ICL_OK) fail(&err);
    }
    icl_train_clock(run, &rate.lap);
    for (const double start = wall(); wall() - start < seconds;) {
        add_peak(&peak_flop, &peak_time);
        const double c = icl_lap_now(), w = wall();
        for (int i = 0; i < 40; i++, steps++) {
            if (icl_train_step(run, &err) != ICL_OK) fail(&err);
        }
        cpu += icl_lap_now() - c;
        elapsed += wall() - w;
    }
    icl_train_free(run);
    for (int p = 0; p < ICL_LAP_PHASES; p++) rate.lap.seconds[p] /= steps;
    rate.cpu = steps / cpu;
    rate.wall = steps / elapsed;
    rate.peak = peak_time > 0 ? peak_flop / peak_time / flop_of(setup) : 0;
    return rate;
}

struct job {
    struct icl_train_setup setup;
    struct rate rate;
};

static void *measure_job(void *argument) {
    struct job *const job = argument;
    job->rate = measure(&job->setup);
    return NULL;
}

static void print_rate(const char *what, const struct rate *r) {
    printf("%-44s %7.1f steps/s (wall %7.1f)  peak %7.1f  %5.1f %%\n", what, r->cpu, r->wall, r->peak,
           r->peak > 0 ? 100 * r->cpu / r->peak : 0);
    (void)fflush(stdout);
}

static void print_phases(const struct rate *r) {
    static const char *const name[ICL_LAP_EVAL] = {
        "sampling",           "gather and scores",  "softmax",           "packing",           "GEMM W1 x",
        "GEMM W2 h",          "GEMM gradient of h", "GEMM update of W2", "GEMM update of W1", "output, biases, loss",
        "attention, forward", "attention, backward"};
    double total = 0;
    for (int p = 0; p < ICL_LAP_PHASES; p++) total += r->lap.seconds[p];
    for (int p = 0; p < ICL_LAP_EVAL; p++) {
        if (r->lap.seconds[p] == 0) continue;
        printf("    %-24s %8.1f us %5.1f %%\n", name[p], 1e6 * r->lap.seconds[p], 100 * r->lap.seconds[p] / total);
    }
}

/* Evaluations of a whole run that never acquires ICL. */
static double evaluations_of(const struct icl_train_setup *setup) {
    struct icl_record record;
    double n = 0;
    icl_record_init(setup, &record);
    for (uint64_t step = 0;; step = record.next, n++) {
        const struct icl_train_row row = {.value = {[ICL_TRAIN_STEPS] = (double)step, [ICL_TRAIN_ACC_ICL] = 0.5}};
        icl_record_take(setup, step, &row, &record);
        if (step == record.total) return n + 1;
    }
}

/* What evaluations take of a run to t_max = 1000, with rows and without. */
static void print_evaluation(double steps_a_second) {
    struct icl_train_setup setup = setup_of(4000, 0);
    struct icl_train_run *run;
    struct icl_err err;
    struct icl_lap lap = {0};
    setup.train.t_max = 1000;
    if (icl_train_alloc(&run, &setup, &err) != ICL_OK) fail(&err);
    icl_train_clock(run, &lap);
    for (int i = 0; i < 20; i++) {
        if (icl_train_init(run, &err) != ICL_OK) fail(&err);
    }
    icl_train_free(run);
    const double each = lap.seconds[ICL_LAP_EVAL] / 20, steps = setup.train.t_max / setup.train.lr / steps_a_second;
    printf("    an evaluation: %.1f ms, %.1f steps;", 1e3 * each, each * steps_a_second);
    for (int rows = 0; rows < 2; rows++) {
        setup.rows = rows;
        const double n = evaluations_of(&setup);
        printf(" %.0f in a run %s rows, %.1f %%%s", n, rows ? "with" : "without", 100 * n * each / (n * each + steps),
               rows ? "\n" : ",");
    }
}

/* The last line that a command prints, up to three numbers of it. */
static int ask(const char *command, double number[3]) {
    char line[256];
    int n = 0;
    FILE *const pipe = popen(command, "r");
    if (!pipe) return 0;
    while (fgets(line, sizeof line, pipe)) n = sscanf(line, "%lf %lf %lf", &number[0], &number[1], &number[2]);
    return pclose(pipe) == 0 ? n : 0;
}

/* A PyTorch loop's steps a second, on one thread, as a part of ours. */
static void print_torch(const char *env, const char *script, double ours) {
    char command[1024];
    double r[3] = {0};
    (void)snprintf(command, sizeof command,
                   "%sOMP_NUM_THREADS=1 $(test -x /usr/bin/python3 && echo /usr/bin/python3 || echo python3) "
                   "tests/bench/%s %g 2>/dev/null",
                   env, script, seconds);
    if (ask(command, r) >= 2)
        printf("    PyTorch loop, one thread: %.1f steps/s (wall %.1f): 1/%.2f\n", r[1], r[0], ours / r[1]);
    else
        printf("    PyTorch loop: not run (needs python3-torch, and to be started in the source folder)\n");
    (void)fflush(stdout);
}

/* The transformer beside the minimal model in turns, so that both see the same machine. */
static void print_transformer(double K) {
    struct icl_train_setup minimal = setup_of(K, 0), transformer = minimal;
    transformer.model = ICL_TRAIN_TRANSFORMER;
    transformer.train.lr = 0.01;
    struct rate least = {0}, rate = {0};
    enum { TURNS = 3 };
    double ratio[TURNS];
    for (int i = 0; i < TURNS; i++) {
        least = measure(&minimal);
        rate = measure(&transformer);
        ratio[i] = rate.cpu / least.cpu;
    }
    char what[64];
    (void)snprintf(what, sizeof what, "transformer, K = %g, one core", K);
    rate.peak = 0;
    print_rate(what, &rate);
    print_phases(&rate);
    printf("    %.2f %.2f %.2f of the minimal model's steps\n", ratio[0], ratio[1], ratio[2]);
    if (K == 4000) print_torch("env ", "torch_transformer.py", rate.cpu);
}

static struct rate all_cores(double K) {
    struct job job[MOST_THREADS];
    pthread_t thread[MOST_THREADS];
    struct rate sum = {0};
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    const int threads = online < 1 ? 1 : online > MOST_THREADS ? MOST_THREADS : (int)online;
    for (int i = 0; i < threads; i++) {
        job[i].setup = setup_of(K, (uint32_t)i);
        if (pthread_create(&thread[i], NULL, measure_job, &job[i]) != 0) exit(EXIT_FAILURE);
    }
    for (int i = 0; i < threads; i++) {
        (void)pthread_join(thread[i], NULL);
        sum.cpu += job[i].rate.cpu;
        sum.wall += job[i].rate.wall;
        sum.peak += job[i].rate.peak;
    }
    return sum;
}

/* ---- products ------------------------------------------------------------------------------------------------------
 */

static float *floats(size_t n) {
    float *p = NULL;
    struct icl_err err;
    if (icl_mem_alloc(&p, n, sizeof *p, &err) != ICL_OK) fail(&err);
    for (size_t i = 0; i < n; i++) p[i] = (float)(i % 7) - 3;
    return p;
}

static double product_rate(bool own, size_t m, size_t n, size_t k) {
    const struct icl_gemm_tail tail = {.kind = ICL_GEMM_STORE};
    float *A = floats(icl_gemm_floats(m, k)), *B = floats(icl_gemm_floats(k, n)), *C = floats(icl_gemm_floats(m, n));
    double best = 0;
    for (int r = 0; r < 30; r++) {
        const double start = icl_lap_now();
        for (int i = 0; i < 5; i++) {
            if (own)
                icl_gemm_product(ICL_GEMM_AUTO, m, n, k, A, B, &tail, C);
            else
                cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)n, (int)k, 1, A, (int)k, B, (int)n,
                            0, C, (int)n);
        }
        best = fmax(best, 5 * 2e-9 * (double)m * (double)n * (double)k / (icl_lap_now() - start));
    }
    icl_mem_free(A);
    icl_mem_free(B);
    icl_mem_free(C);
    return best;
}

static void print_products(void) {
    static const size_t shape[][3] = {
        {512, 128, 63}, {512, 128, 512}, {128, 512, 512}, {512, 512, 128}, {512, 63, 128}};
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++) {
        const size_t m = shape[i][0], n = shape[i][1], k = shape[i][2];
        printf("    %4zu x %4zu, sum of %4zu: own %6.1f GFLOP/s, OpenBLAS (%s) %6.1f\n", m, n, k,
               product_rate(true, m, n, k), openblas_get_corename ? openblas_get_corename() : "?",
               product_rate(false, m, n, k));
    }
}

/* ---- other processes -----------------------------------------------------------------------------------------------
 */

static void print_variables(const char *self, double one) {
    static const struct {
        const char *what, *env;
    } variant[] = {
        {"OPENBLAS_* as they are", ""},
        {"OPENBLAS_* unset", "env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE "},
        {"OPENBLAS_CORETYPE=Haswell, L2_SIZE=262144", "env OPENBLAS_CORETYPE=Haswell OPENBLAS_L2_SIZE=262144 "}};
    for (size_t i = 0; i < sizeof variant / sizeof *variant; i++) {
        char command[1024];
        double r[3] = {0};
        (void)snprintf(command, sizeof command, "%s'%s' --one %g", variant[i].env, self, seconds);
        if (ask(command, r) == 3) {
            const struct rate rate = {.cpu = r[0], .wall = r[1], .peak = r[2]};
            print_rate(variant[i].what, &rate);
        }
        print_torch(*variant[i].env ? variant[i].env : "env ", "torch_loop.py", one);
    }
}

int main(int argc, char **argv) {
    const bool one_only = argc > 1 && strcmp(argv[1], "--one") == 0;
    if (argc > 1 + one_only) seconds = fmax(strtod(argv[1 + one_only], NULL), 0.1);
    if (openblas_set_num_threads) openblas_set_num_threads(1);
    const struct icl_train_setup setup = setup_of(4000, 0);
    if (one_only) {
        const struct rate r = measure(&setup);
        printf("%.17g %.17g %.17g\n", r.cpu, r.wall, r.peak);
        return EXIT_SUCCESS;
    }
    printf("minimal model, D = 63, H = 512, N = 100, batch 128; kernels %s; a step counted as %.1f MFLOP\n",
           icl_gemm_name(icl_gemm_choose()), flop_of(&setup) * 1e-6);
    const struct rate one = measure(&setup);
    print_rate("K = 4000, one core", &one);
    print_phases(&one);
    print_evaluation(one.cpu);
    const struct icl_train_setup infinite = setup_of(INFINITY, 0);
    const struct rate fresh = measure(&infinite);
    print_rate("K infinite, one core", &fresh);
    const struct rate all = all_cores(4000);
    print_rate("K = 4000, every core, a network each", &all);
    printf("    %.2f x one core\n", all.wall / one.wall);
    print_transformer(4000);
    print_transformer(50000);
    print_transformer(INFINITY);
    print_products();
    print_variables(argv[0], one.cpu);
    return EXIT_SUCCESS;
}
