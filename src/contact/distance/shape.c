#include "contact/distance/shape.h"

#include "math/vec3.h"

#include <string.h>

// Two tangents as a function of the unit normal (Duff et al. 2017): smooth but where its z changes its sign
void rbt_gap_shape_frame(rbt_gap_shape *shape) {
    const double *n = shape->gap.normal;
    double sign = copysign(1, n[2]), a = -1 / (sign + n[2]), b = n[0] * n[1] * a;
    double *t = shape->tangent[0], *u = shape->tangent[1];
    t[0] = 1 + sign * n[0] * n[0] * a, t[1] = sign * b, t[2] = -sign * n[0];
    u[0] = b, u[1] = sign + n[1] * n[1] * a, u[2] = -n[1];
}

// An edge of the pair: from corner p to corner q. More weight for q and as much less for p moves r along it.
typedef struct edge {
    int p, q;
    double along[3];
} edge;

static edge edge_between(const double *x, int p, int q) {
    edge e = {p, q, {0}};
    rbt_subtract(x + 3 * q, x + 3 * p, e.along);
    return e;
}

// The first tangent goes along the edge, as far as it is perpendicular to the normal. False: the edge has no length or
// goes along the normal, which rounding does to pairs that touch.
static bool slide_along(const edge *e, rbt_gap_shape *shape) {
    const double *n = shape->gap.normal, out = rbt_dot(e->along, n);
    double *t = shape->tangent[0];
    memcpy(t, e->along, sizeof shape->tangent[0]);
    double whole = rbt_dot(t, t);
    rbt_add_scaled(t, -out, n);
    double square = rbt_dot(t, t);
    if (!(square > 1e-16 * whole)) return false;
    double length = sqrt(square);
    for (int k = 0; k < 3; k++) t[k] /= length;
    rbt_cross(n, t, shape->tangent[1]);
    shape->slope[0][e->q] = 1 / length;
    shape->slope[0][e->p] = -1 / length;
    shape->sliding = 1;
    return true;
}

// Two edges span the tangent plane. In the frame of the first, e = (l, 0) and f = (a, b), so that
//   t_0 = e / l,   t_1 = f / b - e a / (l b)
static void slide_in_plane(const edge *e, const edge *f, rbt_gap_shape *shape) {
    if (!slide_along(e, shape)) {
        slide_along(f, shape);
        return;
    }
    double a = rbt_dot(f->along, shape->tangent[0]), b = rbt_dot(f->along, shape->tangent[1]);
    if (!(b * b > 1e-16 * (a * a + b * b))) return;  // parallel
    double share = a * shape->slope[0][e->q] / b, *slope = shape->slope[1];
    slope[f->q] += 1 / b, slope[f->p] -= 1 / b;
    slope[e->q] -= share, slope[e->p] += share;
    shape->sliding = 2;
}

// The corners of a triangle that the nearest point lies between
static void slide_on_triangle(const double *x, rbt_gap_shape *shape) {
    int between[3], count = 0;
    for (int i = 1; i < 4; i++)
        if (shape->gap.weight[i] != 0) between[count++] = i;
    if (count < 2) return;
    edge e = edge_between(x, between[0], between[1]);
    if (count == 2) {
        slide_along(&e, shape);
        return;
    }
    edge f = edge_between(x, between[0], between[2]);
    slide_in_plane(&e, &f, shape);
}

static void slide_on_edges(const double *x, rbt_gap_shape *shape) {
    const double *w = shape->gap.weight;
    edge a = edge_between(x, 0, 1), b = edge_between(x, 2, 3);
    bool inside_a = w[0] != 0 && w[1] != 0, inside_b = w[2] != 0 && w[3] != 0;
    if (inside_a && inside_b) slide_in_plane(&b, &a, shape);
    else if (inside_a) slide_along(&a, shape);
    else if (inside_b) slide_along(&b, shape);
}

void rbt_gap_measure_any(rbt_touch_kind kind, const double x[12], const double wall_normal[3], rbt_gap *gap) {
    if (kind == RBT_TOUCH_WALL) rbt_gap_wall(x + 3, wall_normal, x, gap);
    else rbt_gap_measure(kind, x, gap);
}

void rbt_gap_shape_edge_parts(const double x[12], const signed char part[2], rbt_gap_shape *shape) {
    rbt_gap_edge_parts(x, part, &shape->gap);
    shape->corners = 4;
    shape->sliding = 0;
    memset(shape->slope, 0, sizeof shape->slope);
    slide_on_edges(x, shape);
    if (!shape->sliding) rbt_gap_shape_frame(shape);
}

void rbt_gap_shape_measure(rbt_touch_kind kind, const double x[12], const double wall_normal[3],
                           rbt_gap_shape *shape) {
    rbt_gap_measure_any(kind, x, wall_normal, &shape->gap);
    shape->corners = rbt_pair_corners(kind);
    shape->sliding = 0;
    memset(shape->slope, 0, sizeof shape->slope);
    if (kind == RBT_TOUCH_FACE) slide_on_triangle(x, shape);
    else if (kind == RBT_TOUCH_EDGES) slide_on_edges(x, shape);
    else if (kind == RBT_TOUCH_EDGE && shape->gap.weight[1] != 0 && shape->gap.weight[2] != 0) {
        edge e = edge_between(x, 1, 2);
        slide_along(&e, shape);
    }
    if (!shape->sliding) rbt_gap_shape_frame(shape);
    if (kind == RBT_TOUCH_WALL) shape->sliding = 2;
}

void rbt_gap_gradient(const rbt_gap *gap, double gradient[12]) {
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) gradient[3 * i + k] = gap->weight[i] * gap->normal[k];
}

void rbt_gap_shape_hessian(const rbt_gap_shape *shape, double hessian[144]) {
    const rbt_gap *gap = &shape->gap;
    double d = gap->distance, tau[12], theta[12];
    memset(hessian, 0, 144 * sizeof *hessian);
    for (int j = 0; j < 2; j++) {
        rbt_gap_shape_rows(shape, j, tau, theta);
        bool slides = j < shape->sliding;
        double curve = slides || d == 0 ? 0 : 1 / d;
        for (int a = 0; a < 12; a++)
            for (int b = 0; b < 12; b++)
                hessian[12 * a + b] += slides ? -(tau[a] * theta[b] + theta[a] * tau[b]) - d * (theta[a] * theta[b])
                                              : curve * (tau[a] * tau[b]);
    }
}
