#include "step/imex_watch.h"

#include <math.h>

static const double LEVEL = 0.1;
enum { EVERY = 64 };  // steps

static double square_distance(const double *x, int32_t a, int32_t b) {
    const double *p = x + 3 * (size_t)a, *q = x + 3 * (size_t)b;
    double u = q[0] - p[0], v = q[1] - p[1], w = q[2] - p[2];
    return u * u + v * v + w * w;
}

// |l^2 / L^2 - 1| of the element's edges
static double strain_of(const double *X, const double *x, const int32_t *node, size_t corners) {
    double most = 0;
    for (size_t a = 1; a < corners; a++)
        for (size_t b = 0; b < a; b++) {
            double rest = square_distance(X, node[a], node[b]), now = square_distance(x, node[a], node[b]);
            double strain = fabs(now - rest);
            if (strain > most * rest) most = strain / rest;
        }
    return most;
}

static bool has_explicit(const rbt_stability *s, const unsigned char *implicit, const int32_t *node, size_t corners) {
    for (size_t a = 0; a < corners; a++)
        if (!implicit[node[a]] && s->root[node[a]] > 0) return true;
    return false;
}

static double largest_strain(const rbt_stability *s, const double *x, const unsigned char *implicit) {
    const rbt_model *m = s->model;
    double most = 0;
    for (size_t g = 0; g < m->group_count; g++) {
        const rbt_group *group = &m->groups[g];
        size_t corners = (size_t)group->type->corners;
        for (size_t e = 0; e < group->count; e++) {
            const int32_t *node = group->nodes + corners * e;
            if (has_explicit(s, implicit, node, corners)) most = fmax(most, strain_of(m->X, x, node, corners));
        }
    }
    return most;
}

void rbt_imex_watch_look(rbt_imex_watch *w, rbt_stability *s, rbt_imex_watched *memory, const double *x,
                         unsigned char *implicit, rbt_split *split) {
    if (memory->steps++ % EVERY) return;
    double strain = largest_strain(s, x, implicit);
    w->strain = fmax(w->strain, strain);
    if (!(strain > memory->level + LEVEL)) return;
    memory->level = LEVEL * floor(strain / LEVEL);
    size_t before = split->moved_count;
    rbt_stability_certify(s, s->model->step, x, implicit, split);
    w->certificates++;
    w->moved += (int64_t)(split->moved_count - before);
}
