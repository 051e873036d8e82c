#include "step/exponential/siere_error.h"

#include "solve/vectors.h"

#include <math.h>

static double largest_of(const double *x, size_t count) {
    double largest = 0;
    for (size_t i = 0; i < count; i++) largest = fmax(largest, fabs(x[i]));
    return largest;
}

// to = (I - P) to, and its largest component; then the modes' part c is added
static void exchange(const rbt_siere_error *e, double factor, double *to, double *rest, double *all) {
    double *c = e->small;
    rbt_vectors_inner(e->count, e->modes, e->Q, 1, to, c, e->partial);
    rbt_vectors_combine(e->count, -1, e->modes, e->U, e->modes, c, 1, 1, to);
    *rest = largest_of(to, e->count);
    for (size_t l = 0; l < e->modes; l++) c[l] = factor * e->missed[l];
    rbt_vectors_combine(e->count, 1, e->modes, e->U, e->modes, c, 1, 1, to);
    *all = largest_of(to, e->count);
}

int rbt_siere_refine(const rbt_siere_error *e, double h, double *ex, double *ev) {
    double x_rest, x_all, v_rest, v_all;
    exchange(e, h * h / 12, ex, &x_rest, &x_all);
    exchange(e, h / 3, ev, &v_rest, &v_all);
    return v_all > 2 * v_rest && x_all > 2 * x_rest ? 2 : 1;
}
