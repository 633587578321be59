#include "iclkin/slope.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

enum { LEVELS = 4 };

/* Differences of level k, at 2^k step, are a + b h^e + c h^2e + ..., e = 1 or 2: each round removes the next power. */
static struct icl_slope extrapolate(double difference[LEVELS], size_t levels, double growth) {
    double before = difference[0], factor = growth;
    for (size_t round = 1; round < levels; round++, factor *= growth) {
        before = difference[0];
        for (size_t k = 0; k + round < levels; k++) difference[k] += (difference[k] - difference[k + 1]) / (factor - 1);
    }
    return (struct icl_slope){difference[0], fabs(difference[0] - before)};
}

enum icl_status icl_slope_run(icl_slope_function *f, void *context, size_t count, double x, double step,
                              enum icl_slope_side side, double noise, struct icl_slope *slope, struct icl_err *err) {
    const bool central = side == ICL_SLOPE_CENTRAL;
    const size_t levels = central ? LEVELS - 1 : LEVELS;
    double up[ICL_SLOPE_COMPONENTS], down[ICL_SLOPE_COMPONENTS], difference[ICL_SLOPE_COMPONENTS][LEVELS];
    assert(count <= ICL_SLOPE_COMPONENTS);
    if (!central) ICL_TRY(f(x, context, down, err));
    for (size_t k = 0; k < levels; k++, step *= 2) {
        if (central) ICL_TRY(f(x - step, context, down, err));
        ICL_TRY(f(x + step, context, up, err));
        for (size_t i = 0; i < count; i++) {
            difference[i][k] = (up[i] - down[i]) / (central ? 2 * step : step);
            if (!isfinite(difference[i][k])) difference[i][k] = NAN;
            if (k == 0) slope[i].error = noise * fabs(up[i] / step);
        }
    }
    for (size_t i = 0; i < count; i++) {
        const double rounding = slope[i].error;
        slope[i] = extrapolate(difference[i], levels, central ? 4 : 2);
        slope[i].error += rounding;
    }
    return ICL_OK;
}
