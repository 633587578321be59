/* test_link.c -- what the program was put together from: OpenBLAS, and the version the Makefile says. */
#define _GNU_SOURCE
#include "check.h"

#include <ctype.h>
#include <dlfcn.h>
#include <gsl/gsl_cblas.h>
#include <string.h>

#include "iclkin/version.h"

/* libgsl.so drags in libgslcblas.so, ten times slower: the linker must have found OpenBLAS first. */
static void blas_is_openblas(void **state) {
    void (*sgemm)(enum CBLAS_ORDER, enum CBLAS_TRANSPOSE, enum CBLAS_TRANSPOSE, int, int, int, float, const float *,
                  int, const float *, int, float, float *, int) = cblas_sgemm;
    void *address;
    Dl_info info;

    (void)state;
    memcpy(&address, &sgemm, sizeof address);
    assert_int_not_equal(dladdr(address, &info), 0);
    if (strstr(info.dli_fname, "openblas") == NULL) fail_msg("cblas_sgemm comes from %s", info.dli_fname);
}

/* A wrong order of transposed or leading dimensions would show here: [1 2; 3 4] [5 6; 7 8] by hand. */
static void blas_multiplies(void **state) {
    const float a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
    float c[4] = {0};

    (void)state;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 2, 2, 2, 1, a, 2, b, 2, 0, c, 2);
    for (size_t i = 0; i < 4; i++) check_abs(c[i], ((double[]){19, 22, 43, 50})[i], 0); /* small whole numbers: exact */
}

static void version_has_three_numbers(void **state) {
    const char *text = icl_version_text();
    int dots = 0;

    (void)state;
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '.')
            dots++;
        else
            assert_true(isdigit((unsigned char)*p));
    }
    assert_int_equal(dots, 2);
}

static void commit_is_hexadecimal_or_unknown(void **state) {
    const char *text = icl_version_commit();
    const size_t digits = strspn(text, "0123456789abcdef");

    (void)state;
    if (strcmp(text, "unknown") == 0) return;
    assert_in_range(digits, 7, 40);
    if (text[digits] != '\0') assert_string_equal(text + digits, "-dirty");
}

static void datadir_is_absolute(void **state) {
    const char *text = icl_version_datadir();

    (void)state;
    assert_int_equal(text[0], '/');
    assert_non_null(strstr(text, "/share/iclkin"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blas_is_openblas),          cmocka_unit_test(blas_multiplies),
        cmocka_unit_test(version_has_three_numbers), cmocka_unit_test(commit_is_hexadecimal_or_unknown),
        cmocka_unit_test(datadir_is_absolute),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
