// The angle's derivatives, exact and with a closed-form projection.
//
// With heights h of the apexes over the edge (length l, direction e), each apex has directions m (along its triangle,
// away from the edge) and n (the normal), and s is how far it moves against the point of the edge below it, s = dx_2
// - (1 - alpha) dx_0 - alpha dx_1. For small motions
//   d theta = n_A.s_A/h_A + n_B.s_B/h_B
//   d^2 theta = -2 sum over A, B of [ (n.s)(m.s)/h^2 + (n.de)(e.s)/(h l) + (n.de)(m.de)/(2 l^2) ],   de = dx_1 - dx_0
// In the frame (y, z) across the edge whose z halves the angle between the normals, and with sums and differences of
// A and B over sqrt 2, marked + and -, the second derivative falls apart into blocks of two variables:
//   (n+.s/h, m+.s/h)      [0 -1; -1 0]                  (n-.s/h, m-.s/h)      [0 -1; -1 0]
//   (e.s-/h, y.de/l)      [0 -r; -r sin theta]          (e.s+/h, z.de/l)      [0 -q; -q -sin theta]
// r = sqrt 2 sin(theta/2), q = sqrt 2 cos(theta/2), and d theta = sqrt 2 n+.s/h. So has the Hessian of W, weight (g
// g^T + (theta - theta_0) d^2 theta), and its projection replaces each 2x2 block by its positive part. Values and
// limits agree with Tamstorf and Grinspun 2013, "Discrete bending forces and their Jacobians".
#include "energy/hinge.h"

#include "math/scalar.h"
#include "math/vec3.h"

#include <string.h>

typedef struct apex {
    double n[3], m[3];
    double steepness;  // 1 / h
    double foot;       // alpha: where on the edge it stands, 0 at x_0 and 1 at x_1
} apex;

typedef struct fold {
    double e[3];       // unit
    double steepness;  // 1 / l
    apex apex[2];
    double angle;
} fold;

// A triangle that has lost all its area has no normal and an infinitely sensitive angle: `floor` [m^2] bounds 2 A
// from below.
static fold fold_at(const double *x, const int32_t *node, double floor) {
    fold f;
    const double *x0 = x + 3 * (size_t)node[0];
    double edge[3], arm[2][3], normal[2][3], across[3];
    rbt_subtract(x + 3 * (size_t)node[1], x0, edge);
    rbt_subtract(x + 3 * (size_t)node[2], x0, arm[0]);
    rbt_subtract(x + 3 * (size_t)node[3], x0, arm[1]);
    rbt_cross(edge, arm[0], normal[0]);
    rbt_cross(arm[1], edge, normal[1]);
    rbt_normalize(edge, f.e);
    double length = rbt_length(edge), square = fmax(length * length, floor);
    f.steepness = length / square;
    for (int k = 0; k < 2; k++) {
        apex *a = &f.apex[k];
        rbt_normalize(normal[k], a->n);
        if (k == 0) rbt_cross(a->n, f.e, a->m);
        else rbt_cross(f.e, a->n, a->m);
        a->steepness = length / fmax(rbt_length(normal[k]), floor);
        a->foot = rbt_dot(arm[k], edge) / square;
    }
    rbt_cross(normal[1], normal[0], across);
    f.angle = atan2(rbt_dot(across, f.e), rbt_dot(normal[0], normal[1]));
    return f;
}

double rbt_hinge_angle(const double *x, const int32_t nodes[4]) { return fold_at(x, nodes, 0x1p-1000).angle; }

// t (12) such that t.dx = scale (direction . s) of one apex
static void apex_row(const apex *a, int k, double scale, const double direction[3], double t[12]) {
    for (int i = 0; i < 3; i++) {
        double along = scale * a->steepness * direction[i];
        t[i] = (a->foot - 1) * along;
        t[3 + i] = -a->foot * along;
        t[6 + i] = k == 0 ? along : 0;
        t[9 + i] = k == 1 ? along : 0;
    }
}

// d theta/dx (12)
static void angle_gradient(const fold *f, double g[12]) {
    double other[12];
    apex_row(&f->apex[0], 0, 1, f->apex[0].n, g);
    apex_row(&f->apex[1], 1, 1, f->apex[1].n, other);
    for (int i = 0; i < 12; i++) g[i] += other[i];
}

// Sum and difference of the two apexes' rows
static void paired_rows(const fold *f, const double a[3], const double b[3], double plus[12], double minus[12]) {
    double A[12], B[12];
    apex_row(&f->apex[0], 0, M_SQRT1_2, a, A);
    apex_row(&f->apex[1], 1, M_SQRT1_2, b, B);
    for (int i = 0; i < 12; i++) {
        plus[i] = A[i] + B[i];
        minus[i] = A[i] - B[i];
    }
}

static void edge_row(const fold *f, const double direction[3], double t[12]) {
    memset(t, 0, 12 * sizeof *t);
    for (int i = 0; i < 3; i++) {
        t[3 + i] = f->steepness * direction[i];
        t[i] = -t[3 + i];
    }
}

// y and z across the edge, from the sum of the normals or, if the hinge is nearly shut, from their difference
static void halving_frame(const fold *f, double y[3], double z[3]) {
    double sum[3];
    const double *a = f->apex[0].n, *b = f->apex[1].n;
    bool open = fabs(f->angle) < 1.6;
    for (int i = 0; i < 3; i++) sum[i] = open ? a[i] + b[i] : f->angle > 0 ? a[i] - b[i] : b[i] - a[i];
    rbt_normalize(sum, open ? z : y);
    if (open) rbt_cross(f->e, z, y);
    else rbt_cross(y, f->e, z);
}

// Replaces the negative eigenvalues of [a b; b c] by 0.
static void project(double *a, double *b, double *c) {
    double middle = 0.5 * (*a + *c), radius = hypot(0.5 * (*a - *c), *b), high = middle + radius,
           low = middle - radius;
    if (low >= 0) return;
    double share = high > 0 ? high / (high - low) : 0;
    *a = share * (*a - low);
    *b = share * *b;
    *c = share * (*c - low);
}

// K += (s t) [a b; b c] (s t)^T
static void add_block(const double s[12], const double t[12], double a, double b, double c, bool positive,
                      double *K) {
    if (positive) project(&a, &b, &c);
    for (int i = 0; i < 12; i++) {
        double to_s = a * s[i] + b * t[i], to_t = b * s[i] + c * t[i];
        for (int j = 0; j < 12; j++) K[12 * i + j] += to_s * s[j] + to_t * t[j];
    }
}

// K = weight (g g^T + more d^2 theta/dx^2), or its projection
static void stiffness(const fold *f, double weight, double more, bool positive, double *K) {
    double n[2][12], m[2][12], s[2][12], across[2][12], y[3], z[3], d = weight * more;
    const apex *a = &f->apex[0], *b = &f->apex[1];
    halving_frame(f, y, z);
    paired_rows(f, a->n, b->n, n[0], n[1]);
    paired_rows(f, a->m, b->m, m[0], m[1]);
    paired_rows(f, f->e, f->e, s[0], s[1]);
    edge_row(f, y, across[0]);
    edge_row(f, z, across[1]);
    memset(K, 0, 144 * sizeof *K);
    add_block(n[0], m[0], 2 * weight, -d, 0, positive, K);
    add_block(n[1], m[1], 0, -d, 0, positive, K);
    add_block(s[1], across[0], 0, -d * M_SQRT2 * sin(0.5 * f->angle), d * sin(f->angle), positive, K);
    add_block(s[0], across[1], 0, -d * M_SQRT2 * cos(0.5 * f->angle), -d * sin(f->angle), positive, K);
}

static double local(const rbt_group *group, size_t element, const double *x, double *force, rbt_stiffness_kind kind,
                    double *K) {
    const rbt_hinge *hinge = (const rbt_hinge *)group->data + element;
    fold f = fold_at(x, group->nodes + 4 * element, 1e-8 * hinge->area);
    double more = remainder(f.angle - hinge->rest_angle, 2 * M_PI);
    if (force) angle_gradient(&f, force);
    for (int i = 0; force && i < 12; i++) force[i] *= -hinge->weight * more;
    if (K) stiffness(&f, hinge->weight, more, kind != RBT_HESSIAN, K);
    return 0.5 * hinge->weight * more * more;
}

// The strain is the angle: D v = phi weight (g . v) g. Its gradient g grows where triangles lose their heights; phi
// takes that back, corner by corner, so that the rate weight sum_a |g_a|^2 / m_a does not grow for any masses. A
// corner whose slope at rest is nearly none counts with a small part of all slopes: twice the rate is still stable
// (step/async/clocks.c).
static double viscous_moment(const rbt_hinge *hinge, const int32_t *node, const double g[12], const double *v) {
    double steepest = 1, rate = 0, all = 0;
    for (int a = 0; a < 4; a++) all += hinge->slope[a];
    for (int a = 0; a < 4; a++) {
        double slope = rbt_dot(g + 3 * a, g + 3 * a), rest = rbt_larger(hinge->slope[a], all / 64);
        rate += rbt_dot(g + 3 * a, v + 3 * (size_t)node[a]);
        if (slope > steepest * rest) steepest = slope / rest;
    }
    return hinge->weight * rate / steepest;
}

static void damped_gradient(const rbt_group *group, size_t first, size_t count, const double *x, const double *v,
                            const double *beta, double *result) {
    const rbt_hinge *hinge = (const rbt_hinge *)group->data + first;
    const int32_t *node = group->nodes + 4 * first;
    for (size_t e = 0; e < count; e++, hinge++, node += 4, result += 12) {
        fold f = fold_at(x, node, 1e-8 * hinge->area);
        double moment = hinge->weight * remainder(f.angle - hinge->rest_angle, 2 * M_PI);
        angle_gradient(&f, result);
        if (beta[e] > 0) moment += beta[e] * viscous_moment(hinge, node, result, v);
        for (int i = 0; i < 12; i++) result[i] *= moment;
    }
}

// At rest K = weight g g^T, of rank one
static double rate(const rbt_group *group, size_t element, const double *masses) {
    const rbt_hinge *hinge = (const rbt_hinge *)group->data + element;
    double sum = 0;
    for (int a = 0; a < 4; a++) sum += hinge->slope[a] / masses[a];
    return hinge->weight * sum;
}

const rbt_group_type RBT_HINGES = {
    .name = "hinges",
    .corners = 4,
    .pairs = 10,
    .energy = rbt_group_energy,
    .gradient = rbt_group_gradient,
    .stiffness = rbt_group_stiffness,
    .local = local,
    .rate = rate,
    .damped_gradient = damped_gradient,
    .tangent_size = rbt_group_tangent_size,
    .tangent = rbt_group_tangent,
    .apply = rbt_group_apply,
    .data_size = sizeof(rbt_hinge),
};

double rbt_hinge_flow(const rbt_hinge *hinge, const int32_t nodes[4], const double *x, double flow) {
    double angle = fold_at(x, nodes, 1e-8 * hinge->area).angle;
    double more = remainder(angle - (hinge->rest_angle + flow), 2 * M_PI);
    return fabs(more) > hinge->yield ? more - copysign(hinge->yield, more) : 0;
}

static rbt_hinge rest(const double *X, const int32_t *node, double bending, double yield) {
    fold f = fold_at(X, node, 0x1p-1000);
    double g[12], length = 1 / f.steepness;
    double area = 0.5 * length * (1 / f.apex[0].steepness + 1 / f.apex[1].steepness);
    rbt_hinge hinge = {
        .weight = bending * length * length / area, .rest_angle = f.angle, .area = area, .yield = yield};
    angle_gradient(&f, g);
    for (int a = 0; a < 4; a++) hinge.slope[a] = rbt_dot(g + 3 * a, g + 3 * a);
    return hinge;
}

bool rbt_hinge_group_build(rbt_group *group, rbt_arena *arena, const double *X, const int32_t *nodes,
                           const int32_t *members, const double *bending, const double *yield, size_t count,
                           rbt_error *error) {
    rbt_hinge *hinges = rbt_arena_take(arena, count, sizeof *hinges);
    int32_t *corners = rbt_arena_take(arena, 4 * count, sizeof *corners);
    int32_t *numbers = rbt_arena_take(arena, count, sizeof *numbers);
    if (!hinges || !corners || !numbers) return rbt_fail_memory(error, count * sizeof *hinges, "hinges");
    memcpy(corners, nodes, 4 * count * sizeof *corners);
    memcpy(numbers, members, count * sizeof *numbers);
    for (size_t e = 0; e < count; e++) hinges[e] = rest(X, nodes + 4 * e, bending[e], yield ? yield[e] : INFINITY);
    *group = (rbt_group){.type = &RBT_HINGES, .count = count, .nodes = corners, .members = numbers, .data = hinges};
    return true;
}
