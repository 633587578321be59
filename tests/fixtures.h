/* fixtures.h -- problems with known answers, for the theory's tests and its bench.
 *
 * Golden numbers are read from tests/golden (the programs run from the top of the tree); each file names its
 * independent source. What fails here fails the test.
 */
#ifndef ICLKIN_FIXTURES_H
#define ICLKIN_FIXTURES_H

#include <stdbool.h>
#include <stddef.h>

#include "iclkin/model.h"
#include "iclkin/params.h"
#include "iclkin/traj.h"

/* The defaults with "section.key=value section.key=value ..." on top, checked. */
struct icl_params fixture_params(const char *assignments);

/* The rows of golden.tsv of one kind ("asym", "red", "mf"): values after the kind. */
enum { FIXTURE_COLUMNS = 8, FIXTURE_ROWS = 64 };
struct fixture_row {
    size_t count;
    double value[FIXTURE_COLUMNS];
};
size_t fixture_golden(const char *kind, struct fixture_row row[FIXTURE_ROWS]);

/* The rows of times.tsv. */
struct fixture_time {
    char assignments[200], source[16];
    double t_icl, allowed;
};
size_t fixture_times(struct fixture_time row[FIXTURE_ROWS]);

/* The trajectory of params at a level from params->init, from start to end. */
struct icl_traj_result fixture_solve(const struct icl_params *params, enum icl_level level, enum icl_traj_stop stop);
/* The mean field of the golden rows: D and K infinite, phi = 0. */
struct icl_params fixture_meanfield(double N, double w, double beta, double lambda, bool balanced);
/* Level reduced with frozen c1, c2. */
struct icl_params fixture_reduced(double N, double w, double beta, double c1, double c2);

/* y at t by the model's right-hand side and the solver of params (level meanfield: t is tau). */
void fixture_integrate(const struct icl_params *params, enum icl_level level, double tau, double y[ICL_DIM]);

/* Uniform on [lo, hi] and N(0, 1), from one fixed stream a test: the same numbers in every run. */
void fixture_seed(unsigned member);
double fixture_uniform(double lo, double hi);
double fixture_normal(void);

#endif
