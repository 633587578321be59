/* Random streams: the generator's published answers, the draws' laws, and one sequence whatever the vector width. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/rng_isa.h"
#include "check.h"
#include "iclkin/rng.h"

enum { MANY = 1 << 20 };

/* Random123's kat_vectors, philox4x32 with 10 rounds: counter, key, answer. */
static const uint32_t kat[][10] = {
    {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
    {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d, 0x41c83b0e, 0xa20bc7c6,
     0x6d5451fd},
    {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09, 0x94fdcceb, 0x5001e420,
     0x24126ea1},
};

/* Every level that this machine runs. */
struct level {
    int level;
    void (*blocks)(const uint32_t key[2], uint32_t first, const uint32_t rest[3], size_t blocks, uint32_t *out);
    void (*normals)(size_t n, const uint32_t *bits, float *out);
};
static const struct level levels[] = {
    {1, icl_rng_isa_blocks_v1, icl_rng_isa_normals_v1},
#ifndef ICL_NO_ISA
    {3, icl_rng_isa_blocks_v3, icl_rng_isa_normals_v3},
    {4, icl_rng_isa_blocks_v4, icl_rng_isa_normals_v4},
#endif
};
enum { LEVELS = sizeof levels / sizeof *levels };

static void known_answers(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof kat / sizeof *kat; i++) {
        struct icl_rng rng = {.used = 4};
        memcpy(rng.counter, kat[i], sizeof rng.counter);
        memcpy(rng.key, kat[i] + 4, sizeof rng.key);
        for (int w = 0; w < 4; w++) assert_int_equal(icl_rng_bits(&rng), kat[i][6 + w]);
        for (size_t l = 0; l < LEVELS && levels[l].level <= icl_cpu_level(); l++) {
            uint32_t out[4 * ICL_RNG_ISA_GROUP];
            levels[l].blocks(kat[i] + 4, kat[i][0], kat[i] + 1, ICL_RNG_ISA_GROUP, out);
            assert_memory_equal(out, kat[i] + 6, 4 * sizeof *out);
        }
    }
}

static void a_fill_is_the_single_draws(void **state) {
    (void)state;
    static uint32_t out[3000];
    for (size_t skip = 0; skip < 6; skip++) {
        for (size_t n = 0; n < 3000; n = n * 3 + 1) {
            struct icl_rng one, all;
            icl_rng_seek(&one, 77, 3, ICL_RNG_TEST, 5);
            icl_rng_seek(&all, 77, 3, ICL_RNG_TEST, 5);
            for (size_t i = 0; i < skip; i++) assert_int_equal(icl_rng_bits(&one), icl_rng_bits(&all));
            icl_rng_fill_bits(&all, n, out);
            for (size_t i = 0; i < n; i++) assert_int_equal(out[i], icl_rng_bits(&one));
            assert_int_equal(icl_rng_bits(&all), icl_rng_bits(&one));
        }
    }
}

static void normals_are_the_same_at_every_width(void **state) {
    (void)state;
    enum { N = 1 << 14 };
    static uint32_t bits[N];
    static float first[N], other[N];
    struct icl_rng rng;
    icl_rng_seek(&rng, 1, 0, ICL_RNG_TEST, 0);
    icl_rng_fill_bits(&rng, N, bits);
    bits[0] = 0; /* the largest radius, the smallest, and the angles' ends */
    bits[1] = UINT32_MAX;
    bits[16] = 0;
    bits[17] = UINT32_MAX;
    levels[0].normals(N, bits, first);
    for (size_t i = 0; i < N; i++) assert_true(isfinite(first[i]));
    for (size_t l = 1; l < LEVELS && levels[l].level <= icl_cpu_level(); l++) {
        levels[l].normals(N, bits, other);
        assert_memory_equal(first, other, sizeof first);
    }
}

/* The floats against Box-Muller in double of the same words: rounding of u to a float where u is near 1 moves the
 * radius by 2^-25/r; elsewhere a few ulp. Measured: 2.7e-7 where r > 0.1. */
static void normals_are_box_muller(void **state) {
    (void)state;
    enum { N = 1 << 12, HALF = ICL_RNG_ISA_CHUNK / 2 };
    static uint32_t bits[N];
    static float out[N];
    struct icl_rng rng;
    icl_rng_seek(&rng, 2, 0, ICL_RNG_TEST, 0);
    icl_rng_fill_bits(&rng, N, bits);
    levels[0].normals(N, bits, out);
    for (size_t at = 0; at < N; at += ICL_RNG_ISA_CHUNK) {
        for (size_t i = at; i < at + HALF; i++) {
            const double r = sqrt(-2 * log((bits[i] + 0.5) / 4294967296.0));
            const double a = 6.283185307179586 * bits[i + HALF] / 4294967296.0;
            if (r < 0.1) continue;
            check_abs(out[i], r * cos(a), 1e-6);
            check_abs(out[i + HALF], r * sin(a), 1e-6);
        }
    }
}

/* Moments of n draws against z = 4.5 of their standard error (statistics; fixed seed). */
static void check_moments(size_t n, const double *sum, const double *mean, const double *sd) {
    for (int m = 0; m < 4; m++) check_abs(sum[m] / (double)n, mean[m], 4.5 * sd[m] / sqrt((double)n));
}

static void laws(void **state) {
    (void)state;
    static float fill[MANY];
    struct icl_rng rng;
    double sum[3][4] = {{0}};
    icl_rng_seek(&rng, 12345, 9, ICL_RNG_TEST, 1);
    icl_rng_fill_normal(&rng, MANY, fill);
    for (size_t i = 0; i < MANY; i++) {
        const double x[3] = {fill[i], icl_rng_normal(&rng), icl_rng_uniform(&rng)};
        assert_true(x[2] > 0 && x[2] < 1);
        for (int k = 0; k < 3; k++) {
            for (int m = 0; m < 4; m++) sum[k][m] += pow(x[k], m + 1);
        }
    }
    static const double normal[2][4] = {{0, 1, 0, 3}, {1, 1.414213562, 3.872983346, 9.797958971}};
    static const double uniform[2][4] = {{1. / 2, 1. / 3, 1. / 4, 1. / 5}, {0.28868, 0.29814, 0.28347, 0.26667}};
    check_moments(MANY, sum[0], normal[0], normal[1]);
    check_moments(MANY, sum[1], normal[0], normal[1]);
    check_moments(MANY, sum[2], uniform[0], uniform[1]);
}

/* Counts of 0..n-1 by chi squared: mean n-1, variance 2(n-1); z = 4.5. */
static void below_is_uniform(void **state) {
    (void)state;
    static const uint32_t n[] = {1, 2, 3, 7, 100, 1000};
    for (size_t k = 0; k < sizeof n / sizeof *n; k++) {
        static double count[1000];
        memset(count, 0, sizeof count);
        struct icl_rng rng;
        icl_rng_seek(&rng, 4, (uint32_t)k, ICL_RNG_TEST, 0);
        const size_t draws = 200000;
        for (size_t i = 0; i < draws; i++) count[icl_rng_below(&rng, n[k])]++;
        double chi2 = 0;
        for (size_t i = 0; i < n[k]; i++) chi2 += pow(count[i] - (double)draws / n[k], 2) * n[k] / (double)draws;
        check_abs(chi2, n[k] - 1.0, 4.5 * sqrt(2.0 * n[k]) + 1e-9);
    }
    /* A range that does not divide 2^32: a plain product would give even numbers 3/2 the weight of some others. */
    struct icl_rng rng;
    icl_rng_seek(&rng, 5, 0, ICL_RNG_TEST, 0);
    const uint32_t large = UINT32_C(3) << 30;
    double mean = 0, odd = 0;
    for (size_t i = 0; i < MANY; i++) {
        const uint32_t x = icl_rng_below(&rng, large);
        mean += x / (double)large / MANY;
        odd += (x % 3 == 0) / (double)MANY;
    }
    check_abs(mean, 0.5, 4.5 * 0.2887 / sqrt(MANY));
    check_abs(odd, 1. / 3, 4.5 * 0.4714 / sqrt(MANY));
}

static void streams_differ(void **state) {
    (void)state;
    static const struct {
        uint64_t seed;
        uint32_t member;
        enum icl_rng_purpose purpose;
        uint64_t step;
    } s[] = {{1, 0, ICL_RNG_BATCH, 0},
             {2, 0, ICL_RNG_BATCH, 0},
             {UINT64_C(1) << 40 | 1, 0, ICL_RNG_BATCH, 0},
             {1, 1, ICL_RNG_BATCH, 0},
             {1, 0, ICL_RNG_EVAL, 0},
             {1, 0, ICL_RNG_BATCH, 1},
             {1, 0, ICL_RNG_BATCH, UINT64_C(1) << 40}};
    enum { S = sizeof s / sizeof *s };
    uint32_t first[S][4];
    for (size_t i = 0; i < S; i++) {
        struct icl_rng rng;
        icl_rng_seek(&rng, s[i].seed, s[i].member, s[i].purpose, s[i].step);
        icl_rng_fill_bits(&rng, 4, first[i]);
        for (size_t j = 0; j < i; j++) assert_memory_not_equal(first[i], first[j], sizeof first[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(a_fill_is_the_single_draws),
        cmocka_unit_test(normals_are_the_same_at_every_width),
        cmocka_unit_test(normals_are_box_muller),
        cmocka_unit_test(laws),
        cmocka_unit_test(below_is_uniform),
        cmocka_unit_test(streams_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
