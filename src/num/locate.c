#include "num/locate.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "num/bracket.h"

static const double WIDTH = 0x1p-12;  /* of the accurate bracket, in steps; its cubic errs by 2^-48 of the step's */
static const double COARSE = 0x1p-13; /* of the first guess, in steps */

void icl_locate_hermite(size_t dim, const struct icl_locate_piece *piece, double t, double *y) {
    const double h = piece->tb - piece->ta, s = h != 0 ? (t - piece->ta) / h : 0, r = 1 - s;
    const double a = r * r * (1 + 2 * s), b = s * s * (1 + 2 * r), da = h * s * r * r, db = -h * s * s * r;

    for (size_t i = 0; i < dim; i++) y[i] = a * piece->ya[i] + b * piece->yb[i] + da * piece->fa[i] + db * piece->fb[i];
}

static enum icl_status event(const struct icl_locate *search, double t, const double *y, double *g,
                             struct icl_err *err) {
    *g = search->g(t, y, search->context);
    return isnan(*g) ? ICL_ERR(err, ICL_ENUMERIC, "ode: the event function is NaN at t=%.17g", t) : ICL_OK;
}

/* Leaves the state in search->work. */
static enum icl_status accurate(struct icl_locate *search, double t, double *g, struct icl_err *err) {
    ICL_TRY(icl_ode_at(search->ode, t, search->work, err));
    return event(search, t, search->work, g, err);
}

static bool is_near(const struct icl_locate *search, double g) {
    return search->sign > 0 ? g > 0 : g < 0;
}

/* The accurate value at t; its state is kept for the side it is on. */
static enum icl_status at_solution(double t, void *context, double *g, struct icl_err *err) {
    struct icl_locate *search = context;

    ICL_TRY(accurate(search, t, g, err));
    if (t == search->known) *g = search->g_known;
    memcpy(is_near(search, *g) ? search->y_near : search->y_far, search->work, search->dim * sizeof(double));
    return ICL_OK;
}

struct on_cubic {
    struct icl_locate *search;
    const struct icl_locate_piece *piece;
};

static enum icl_status at_cubic(double t, void *context, double *g, struct icl_err *err) {
    const struct on_cubic *on = context;

    icl_locate_hermite(on->search->dim, on->piece, t, on->search->work);
    return event(on->search, t, on->search->work, g, err);
}

/* The change between two ends on a cubic, to xtol: its far side. */
static enum icl_status on_cubic(struct icl_locate *search, const struct icl_locate_piece *piece,
                                struct icl_roots_bracket ends, double xtol, double *root, struct icl_err *err) {
    struct on_cubic on = {search, piece};

    ICL_TRY(icl_roots_narrow(search->solver, at_cubic, &on, xtol, &ends, err));
    *root = ends.far;
    return ICL_OK;
}

/* Looks at t; it becomes the bracket's end on its side. */
static enum icl_status look(struct icl_locate *search, double t, struct icl_roots_bracket *ends, bool *near,
                            struct icl_err *err) {
    double g;

    ICL_TRY(at_solution(t, search, &g, err));
    *near = is_near(search, g);
    *(*near ? &ends->near : &ends->far) = t;
    *(*near ? &ends->f_near : &ends->f_far) = g;
    return ICL_OK;
}

/* An accurate bracket from a guess: outwards by growing strides, forwards to the part's end (where g may turn out not
 * to have changed: found = false), backwards to the last point known. */
static enum icl_status hunt(struct icl_locate *search, double guess, double end, struct icl_roots_bracket *ends,
                            bool *found, struct icl_err *err) {
    double stride = 0.5 * WIDTH * (search->step.tb - search->step.ta), t = guess;
    bool forwards, near;

    ICL_TRY(look(search, t, ends, &forwards, err));
    const double limit = forwards ? end : search->known;
    near = forwards;
    for (*found = true; near == forwards; stride *= 8) {
        if (t == limit) {
            *found = false;
            return ICL_OK;
        }
        t = forwards ? t + stride : t - stride;
        if (fabs(t - guess) >= fabs(limit - guess)) t = limit;
        ICL_TRY(look(search, t, ends, &near, err));
    }
    return ICL_OK;
}

/* From an accurate bracket to the last digits, and to a point that is truly behind the change. */
static enum icl_status polish(struct icl_locate *search, struct icl_roots_bracket *ends, double *root,
                              struct icl_err *err) {
    const double size = fabs(search->step.tb - search->step.ta), smallest = DBL_EPSILON * DBL_EPSILON * size;
    double t, stride;

    ICL_TRY(icl_roots_narrow(search->solver, at_solution, search, WIDTH * size, ends, err));
    ICL_TRY(search->slope(search->ode, ends->near, search->y_near, search->f_near, err));
    ICL_TRY(search->slope(search->ode, ends->far, search->y_far, search->f_far, err));
    const struct icl_locate_piece inner = {ends->near,    ends->far,      search->y_near,
                                           search->y_far, search->f_near, search->f_far};
    /* The absolute tolerance matters for a root at t = 0 only. */
    ICL_TRY(on_cubic(search, &inner, *ends, smallest, &t, err));

    stride = copysign(fmax(DBL_EPSILON * fabs(t), smallest), search->step.tb - search->step.ta);
    while (t != ends->far) {
        double g;
        ICL_TRY(accurate(search, t, &g, err));
        if (!is_near(search, g)) {
            ends->far = t;
            ends->f_far = g;
            break;
        }
        t = fabs(stride) < fabs(ends->far - t) && t + stride != t ? t + stride : ends->far;
        stride *= 2;
    }
    *root = ends->far;
    return ICL_OK;
}

/* A change that the cubic shows between two points; *g_end becomes accurate where it was wrong. */
static enum icl_status change(struct icl_locate *search, const struct icl_roots_bracket *part, double *g_end,
                              bool *found, double *root, struct icl_err *err) {
    struct icl_roots_bracket ends = {search->known, part->far, search->g_known, part->f_far};
    double guess;

    ICL_TRY(on_cubic(search, &search->step, *part, COARSE * fabs(search->step.tb - search->step.ta), &guess, err));
    ICL_TRY(hunt(search, guess, part->far, &ends, found, err));
    if (!*found) {
        search->known = part->far;
        search->g_known = *g_end = ends.f_near;
        return ICL_OK;
    }
    ICL_TRY(polish(search, &ends, root, err));
    search->known = *root;
    search->g_known = ends.f_far;
    return ICL_OK;
}

enum icl_status icl_locate_all(struct icl_locate *search, size_t parts, size_t capacity, double *root, size_t *roots,
                               struct icl_err *err) {
    const struct icl_locate_piece *const step = &search->step;
    struct icl_roots_bracket part = {.near = step->ta};
    double g;

    if (step->ta == step->tb) return ICL_OK;
    ICL_TRY(event(search, step->ta, step->ya, &g, err));
    search->sign = (g > 0) - (g < 0);
    search->known = step->ta;
    search->g_known = part.f_near = g;
    for (size_t i = 1; i <= parts && *roots < capacity; i++) {
        bool found = false;
        double t = step->tb;
        const double *y = step->yb;

        if (i < parts) {
            t = step->ta + (step->tb - step->ta) * ((double)i / (double)parts);
            icl_locate_hermite(search->dim, step, t, search->work);
            y = search->work;
        }
        ICL_TRY(event(search, t, y, &g, err));
        if (search->sign != 0 && !is_near(search, g)) {
            part.far = t;
            part.f_far = g;
            ICL_TRY(change(search, &part, &g, &found, &root[*roots], err));
            if (found) (*roots)++;
        }
        if (found || search->sign == 0) {
            search->sign = (g > 0) - (g < 0);
            if (!found) {
                search->known = t;
                search->g_known = g;
            }
            /* Where a root is an exact zero, it belongs to what lies behind it. */
            if (!is_near(search, search->g_known)) search->g_known = search->sign * DBL_MIN;
        }
        part.near = t;
        part.f_near = g;
    }
    return ICL_OK;
}
