#include "fixtures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "iclkin/ode.h"
#include "iclkin/rng.h"

struct icl_params fixture_params(const char *assignments) {
    struct icl_params params;
    struct icl_err err;
    char text[512];
    const char *part[32];
    size_t n = 0;

    snprintf(text, sizeof text, "%s", assignments);
    for (char *rest = text, *word; (word = strtok_r(rest, " ", &rest)) != NULL && n < 32;) part[n++] = word;
    icl_params_default(&params);
    check_ok(icl_params_apply(&params, part, n, &err), &err);
    check_ok(icl_params_check(&params, &err), &err);
    return params;
}

static FILE *golden(const char *path) {
    FILE *file = fopen(path, "r");
    if (!file) fail_msg("%s: not found; run the tests from the top of the tree", path);
    return file;
}

size_t fixture_golden(const char *kind, struct fixture_row row[FIXTURE_ROWS]) {
    FILE *file = golden("tests/golden/golden.tsv");
    char line[400];
    size_t n = 0;

    while (fgets(line, sizeof line, file) != NULL) {
        char *rest = line, *word = strtok_r(rest, "\t\n", &rest);
        if (word == NULL || strcmp(word, kind) != 0) continue;
        assert_true(n < FIXTURE_ROWS);
        row[n].count = 0;
        while ((word = strtok_r(rest, "\t\n", &rest)) != NULL) {
            assert_true(row[n].count < FIXTURE_COLUMNS);
            row[n].value[row[n].count++] = strtod(word, NULL);
        }
        n++;
    }
    fclose(file);
    assert_true(n > 0);
    return n;
}

size_t fixture_times(struct fixture_time row[FIXTURE_ROWS]) {
    FILE *file = golden("tests/golden/times.tsv");
    char line[400];
    size_t n = 0;

    while (fgets(line, sizeof line, file) != NULL) {
        if (line[0] == '#') continue;
        assert_true(n < FIXTURE_ROWS);
        assert_int_equal(sscanf(line, "%199[^\t]\t%lf\t%lf\t%15s", row[n].assignments, &row[n].t_icl, &row[n].allowed,
                                row[n].source),
                         4);
        n++;
    }
    fclose(file);
    assert_true(n > 0);
    return n;
}

struct icl_traj_result fixture_solve(const struct icl_params *params, enum icl_level level, enum icl_traj_stop stop) {
    struct icl_traj *traj = NULL;
    struct icl_traj_result result;
    struct icl_err err;

    check_ok(icl_traj_alloc(&traj, params, level, params->task.K, &err), &err);
    check_ok(icl_traj_run(traj, params->init.w, params->init.beta, stop, NULL, NULL, &result, &err), &err);
    icl_traj_free(traj);
    return result;
}

struct icl_params fixture_meanfield(double N, double w, double beta, double lambda, bool balanced) {
    struct icl_params params = fixture_params("task.D=inf task.K=inf memory.law=none train.t_max=1e5");

    params.task.N = (size_t)N;
    params.task.labels = balanced ? ICL_LABELS_BALANCED : ICL_LABELS_RANDOM;
    params.init.w = w;
    params.init.beta = beta;
    params.train.lambda_w = params.train.lambda_beta = lambda;
    return params;
}

struct icl_params fixture_reduced(double N, double w, double beta, double c1, double c2) {
    struct icl_params params = fixture_params("memory.law=constant theory.level=reduced train.t_max=1e5");

    params.task.N = (size_t)N;
    params.init.w = w;
    params.init.beta = beta;
    params.memory.c1 = c1;
    params.memory.c2 = c2;
    return params;
}

void fixture_integrate(const struct icl_params *params, enum icl_level level, double tau, double y[ICL_DIM]) {
    const struct icl_solver *solver = &params->solver;
    struct icl_model *model = NULL;
    struct icl_ode *ode = NULL;
    struct icl_err err;

    check_ok(icl_model_alloc(&model, params, level, params->task.K, &err), &err);
    const struct icl_ode_system system = {ICL_DIM, icl_model_rhs, icl_model_jac, model};
    const struct icl_ode_control control = {solver->method, solver->rtol, solver->atol, 0, solver->max_steps};
    check_ok(icl_ode_alloc(&ode, &system, &control, &err), &err);
    check_ok(icl_ode_init(ode, 0, y, tau, &err), &err);
    while (!icl_ode_done(ode)) check_ok(icl_ode_step(ode, &err), &err);
    memcpy(y, icl_ode_y(ode), ICL_DIM * sizeof *y);
    icl_ode_free(ode);
    icl_model_free(model);
}

/* Drawn many at a time: sampled contexts take millions. */
enum { DRAWN = 1024 };
static struct {
    struct icl_rng rng;
    float normal[DRAWN];
    uint32_t bits[DRAWN];
    size_t normals, words; /* left */
} stream;

void fixture_seed(unsigned member) {
    icl_rng_seek(&stream.rng, 20241202, member, ICL_RNG_TEST, 0);
    stream.normals = stream.words = 0;
}

double fixture_uniform(double lo, double hi) {
    if (stream.words == 0) icl_rng_fill_bits(&stream.rng, stream.words = DRAWN, stream.bits);
    return lo + (hi - lo) * (stream.bits[--stream.words] + 0.5) * 0x1p-32;
}

double fixture_normal(void) {
    if (stream.normals == 0) icl_rng_fill_normal(&stream.rng, stream.normals = DRAWN, stream.normal);
    return (double)stream.normal[--stream.normals];
}
