#include "energy/group.h"

#include <string.h>

enum { MOST_VALUES = 3 * RBT_MOST_CORNERS };

void rbt_group_energy(const rbt_group *group, size_t first, size_t count, const double *x, double *energy) {
    for (size_t e = 0; e < count; e++) energy[e] = group->type->local(group, first + e, x, NULL, RBT_HESSIAN, NULL);
}

void rbt_group_gradient(const rbt_group *group, size_t first, size_t count, const double *x, double *energy,
                        double *gradient) {
    size_t values = 3 * (size_t)group->type->corners;
    for (size_t e = 0; e < count; e++) {
        double *own = gradient + values * e, W = group->type->local(group, first + e, x, own, RBT_HESSIAN, NULL);
        for (size_t i = 0; i < values; i++) own[i] = -own[i];
        if (energy) energy[e] = W;
    }
}

void rbt_group_stiffness(const rbt_group *group, rbt_stiffness_kind kind, size_t first, size_t count, const double *x,
                         double *blocks) {
    size_t corners = (size_t)group->type->corners, values = 3 * corners;
    for (size_t e = first; e < first + count; e++) {
        double K[MOST_VALUES * MOST_VALUES];
        group->type->local(group, e, x, NULL, kind, K);
        for (size_t a = 0; a < corners; a++)
            for (size_t b = 0; b <= a; b++, blocks += 9)
                for (size_t i = 0; i < 3; i++)
                    memcpy(blocks + 3 * i, K + values * (3 * a + i) + 3 * b, 3 * sizeof *blocks);
    }
}
