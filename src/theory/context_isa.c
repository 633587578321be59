/* The nodes of a finite-D context, compiled once for each instruction set (ICL_ISA); see context.h. */
#include "theory/context.h"

#include "base/isa.h"

void ISA_NAME(icl_context_fill)(struct icl_context *c) {
    for (const struct icl_context_group *group = c->group; group < c->group + c->groups; group++) {
        const double a0 = group->line[0], a1 = group->line[1], b0 = group->line[2], b1 = group->line[3];
        const double *restrict g = c->node + group->first;
        double *restrict a = c->a + group->first, *restrict b = c->b + group->first;
        for (size_t i = 0; i < group->count; i++) {
            a[i] = a0 + a1 * g[i];
            b[i] = b0 + b1 * g[i];
        }
    }
}
