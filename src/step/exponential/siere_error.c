#include "step/exponential/siere_error.h"

#include "solve/vectors.h"
#include "step/exponential/siere.h"

#include <math.h>

static double largest_of(const double *x, size_t count) {
    double largest = 0;
    for (size_t i = 0; i < count; i++) largest = fmax(largest, fabs(x[i]));
    return largest;
}

// to = (I - P) to, and its largest component; then the modes' part c is added, `factor` times what was missed, `z`
static void exchange(const rbt_siere *s, double factor, double *to, double *rest, double *all) {
    size_t n = 3 * s->base.model->node_count;
    double *c = s->small;
    rbt_vectors_inner(n, s->used, s->modes.Q, 1, to, c, s->modes.partial);
    rbt_vectors_combine(n, -1, s->used, s->modes.U, s->used, c, 1, 1, to);
    *rest = largest_of(to, n);
    for (size_t l = 0; l < s->used; l++) c[l] = factor * s->z[l];
    rbt_vectors_combine(n, 1, s->used, s->modes.U, s->used, c, 1, 1, to);
    *all = largest_of(to, n);
}

int rbt_siere_refine_error(void *self, const rbt_state *state, double h, int order, double *ex, double *ev) {
    rbt_siere *s = self;
    rbt_linearised *base = &s->base;
    const rbt_model *m = base->model;
    for (size_t i = 0; i < 3 * m->node_count; i++) {
        s->carried[i] = base->constrained[i / 3] ? 0 : state->v[i];
        base->moved[i] = h * state->v[i];
    }
    // dx = h (v+ - U c) + U da, c = Q^T v+
    rbt_vectors_inner(3 * m->node_count, s->used, s->modes.Q, 1, s->carried, s->c, s->modes.partial);
    for (size_t l = 0; l < s->used; l++) s->z[l] = s->da[l] - h * s->c[l];
    rbt_vectors_combine(3 * m->node_count, 1, s->used, s->modes.U, s->used, s->z, 1, 1, base->moved);
    const double *F = rbt_linearised_add_missed(base, state, h, base->moved, ev);
    if (!s->used) return order;
    rbt_vectors_inner(3 * m->node_count, s->used, s->modes.U, 1, F, s->z, s->modes.partial);
    for (size_t l = 0; l < s->used; l++) {
        double foreseen = s->g[l] + h * s->ramp[l] - s->modes.lambda[l] * s->da[l] - s->d[l] * s->db[l];
        s->z[l] += -s->d[l] * s->c[l] - foreseen;
    }
    double x_rest, x_all, v_rest, v_all;
    exchange(s, h * h / 12, ex, &x_rest, &x_all);
    exchange(s, h / 3, ev, &v_rest, &v_all);
    return v_all > 2 * v_rest && x_all > 2 * x_rest ? 2 : 1;
}
