#include "contact/barrier/pair_barrier.h"

#include "contact/barrier/parallel_edges.h"
#include "math/vec3.h"

#include <string.h>

// ---- The function of the gap
//
// With y = 1 - s:   b = -dhat y^2 ln s,   b' = 2 y ln s - y^2/s,   b'' = (-2 ln s + 4 y/s + y^2/s^2) / dhat
// The terms of each have one sign: nothing cancels. y is the rounded (dhat - d)/dhat, and near s = 1 ln s = log1p(-y).

typedef struct curve {
    double y, s, log;
} curve;

static curve curve_at(double d, double dhat) {
    double s = d / dhat, y = (dhat - d) / dhat;
    return (curve){y, s, s > 0.5 ? log1p(-y) : log(s)};
}
static double curve_value(const curve *c, double dhat) { return -dhat * c->y * c->y * c->log; }
static double curve_slope(const curve *c) { return c->y * (2 * c->log - c->y / c->s); }
static double curve_second(const curve *c, double dhat) {
    double ratio = c->y / c->s;
    return (-2 * c->log + ratio * (4 + ratio)) / dhat;
}

// scale b, scale b' and scale b'' of a pair
typedef struct law {
    double value, slope, second;
} law;

static law barrier_at(double d, double dhat, double scale) {
    curve c = curve_at(d, dhat);
    return (law){scale * curve_value(&c, dhat), scale * curve_slope(&c), scale * curve_second(&c, dhat)};
}

// u = depth: cubic up to the width of the entry, then a parabola
static law parabola_at(const rbt_pair_barrier *pair, double u) {
    double m = pair->scale, w = pair->entry;
    if (u < w) return (law){m * u * u * u / (6 * w), -m * u * u / (2 * w), m * u / w};
    return (law){m * (0.5 * u * (u - w) + w * w / 6), -m * (u - 0.5 * w), m};
}

static law law_at(const rbt_pair_barrier *pair, double d) {
    double depth = pair->dhat - d;
    if (!pair->parabola) return barrier_at(d, pair->dhat, pair->scale);
    law l = parabola_at(pair, depth);
    if (d >= pair->net) return l;
    law n = barrier_at(d, pair->net, pair->scale * pair->net);
    return (law){l.value + n.value, l.slope + n.slope, l.second + n.second};
}

double rbt_barrier(double d, double dhat) {
    if (!(d > 0)) return INFINITY;
    if (d >= dhat) return 0;
    curve c = curve_at(d, dhat);
    return curve_value(&c, dhat);
}

double rbt_barrier_slope(double d, double dhat) {
    if (!(d > 0)) return -INFINITY;
    if (d >= dhat) return 0;
    curve c = curve_at(d, dhat);
    return curve_slope(&c);
}

double rbt_barrier_second(double d, double dhat) {
    if (!(d > 0)) return INFINITY;
    if (d >= dhat) return 0;
    curve c = curve_at(d, dhat);
    return curve_second(&c, dhat);
}

// ---- The pair

static bool has_parts(const rbt_pair_barrier *pair) { return pair->part[0] || pair->part[1]; }

static void measure_gap(const rbt_pair_barrier *pair, const double *x, rbt_gap *gap) {
    if (has_parts(pair)) rbt_gap_edge_parts(x, pair->part, gap);
    else rbt_gap_measure_any(pair->kind, x, pair->wall_normal, gap);
}

static void measure_shape(const rbt_pair_barrier *pair, const double *x, rbt_gap_shape *shape) {
    if (has_parts(pair)) rbt_gap_shape_edge_parts(x, pair->part, shape);
    else rbt_gap_shape_measure(pair->kind, x, pair->wall_normal, shape);
}

// Whether 0 < E < infinity; else *energy is what it is.
static bool acts(const rbt_pair_barrier *pair, const rbt_gap *gap, double *d, double *energy) {
    *d = gap->distance - pair->inside;
    *energy = *d > 0 ? 0 : INFINITY;
    return *d > 0 && *d < pair->dhat;
}

static bool mollify(const rbt_pair_barrier *pair, const double *x, rbt_parallel_edges *edges) {
    return pair->kind == RBT_TOUCH_EDGES && pair->parallel > 0 &&
           rbt_parallel_edges_measure(x, pair->parallel, edges);
}

double rbt_parabola_depth(double m, double w, double force) {
    return force < 0.5 * m * w ? sqrt(2 * w * force / m) : force / m + 0.5 * w;
}

double rbt_pair_barrier_force(const rbt_pair_barrier *pair, double d) {
    return d < pair->dhat ? -law_at(pair, d).slope : 0;
}

double rbt_pair_barrier_stiffness(const rbt_pair_barrier *pair, double d) {
    return d < pair->dhat ? law_at(pair, d).second : 0;
}

double rbt_pair_barrier_gap(const rbt_pair_barrier *pair, const double x[12]) {
    rbt_gap gap;
    measure_gap(pair, x, &gap);
    return gap.distance - pair->inside;
}

double rbt_pair_barrier_share(const rbt_pair_barrier *pair, const double x[12]) {
    rbt_parallel_edges edges;
    return mollify(pair, x, &edges) ? edges.e : 1;
}

double rbt_pair_barrier_value(const rbt_pair_barrier *pair, const double x[12]) {
    rbt_gap gap;
    rbt_parallel_edges edges;
    double d, energy;
    measure_gap(pair, x, &gap);
    if (!acts(pair, &gap, &d, &energy)) return energy;
    energy = law_at(pair, d).value;
    return mollify(pair, x, &edges) ? edges.e * energy : energy;
}

// E' = scale (e b' d' + e' b c'); d' = (w_i n)
static double put_gradient(const law *l, const rbt_gap *gap, const rbt_parallel_edges *edges, double *gradient) {
    rbt_gap_gradient(gap, gradient);
    for (int a = 0; a < 12; a++) gradient[a] *= l->slope;
    if (!edges) return l->value;
    double more[12];
    rbt_parallel_edges_gradient(edges, more);
    for (int a = 0; a < 12; a++) gradient[a] = edges->e * gradient[a] + edges->slope * l->value * more[a];
    return edges->e * l->value;
}

double rbt_pair_barrier_gradient(const rbt_pair_barrier *pair, const double x[12], double gradient[12]) {
    rbt_gap gap;
    rbt_parallel_edges edges;
    double d, energy;
    measure_gap(pair, x, &gap);
    if (!acts(pair, &gap, &d, &energy)) {
        memset(gradient, 0, 12 * sizeof *gradient);
        return energy;
    }
    law l = law_at(pair, d);
    return put_gradient(&l, &gap, mollify(pair, x, &edges) ? &edges : NULL, gradient);
}

double rbt_pair_barrier_contact(const rbt_pair_barrier *pair, const double x[12], rbt_gap_shape *shape) {
    rbt_parallel_edges edges;
    double d, energy;
    measure_shape(pair, x, shape);
    if (!acts(pair, &shape->gap, &d, &energy)) return energy;
    double force = -law_at(pair, d).slope;
    return mollify(pair, x, &edges) ? edges.e * force : force;
}

// ---- The Hessian of pairs without mollifier
//
//   E'' / scale = b'' g g^T + b' d'',   g = d'
// With b' = -|b'| and the rows tau_j, theta_j of contact/distance/shape.h, as quadratic forms:
//   b' d'' = |b'| (2 tau_j theta_j + r theta_j^2)   where the nearest points slide (r: the distance, without `inside`),
//          = -|b'| tau_j^2 / r                      where they do not.
// The latter is negative and is left out (of a stretched spring, whose r is negative, it is positive and stays). In the
// former, for any q > 0,
//   2 tau theta = 1/2 (sqrt(q) tau + theta/sqrt(q))^2 - 1/2 (sqrt(q) tau - theta/sqrt(q))^2,
// and leaving out the second square can only make the form larger. So
//   H / scale = b'' g g^T + |b'| sum_j (1/2 (sqrt(q) tau_j + theta_j/sqrt(q))^2 + r theta_j^2)
// is a sum of squares, thus positive semidefinite, and H - E'' is one as well. As tau and theta are perpendicular rows
// (n . t = 0), q = |theta|/|tau| makes the two squares the eigenvectors of 2 tau theta: exactly its negative eigenvalue
// is left out. Both lengths are those of weights and slopes, for n and t have length 1.

enum { MAX_SQUARES = 5 };

// A pair whose scale is negative, which takes away what others count twice, has b' > 0 and b'' < 0. Of its E'' stay
//   b' tau_j^2 / r   where nothing slides,   b'/2 (sqrt(q) tau_j - theta_j/sqrt(q))^2   where it does.

// H is the sum of the squares of these rows; returns how many.
static int squares(const rbt_gap_shape *shape, double slope, double second, double rows[MAX_SQUARES][12]) {
    const double r = shape->gap.distance, *w = shape->gap.weight;
    double tau[12], theta[12], root = sqrt(fmax(0, second)), size = 0;
    int count = second > 0;
    rbt_gap_gradient(&shape->gap, rows[0]);
    for (int a = 0; a < 12; a++) rows[0][a] *= root;
    for (int i = 0; i < 4; i++) size += w[i] * w[i];
    for (int j = 0; j < 2; j++) {
        double turn = 0, apart = j >= shape->sliding && r != 0 ? slope / r : 0;
        for (int i = 0; i < 4; i++) turn += shape->slope[j][i] * shape->slope[j][i];
        if (turn == 0 && !(apart > 0)) continue;
        rbt_gap_shape_rows(shape, j, tau, theta);
        if (apart > 0) {
            double last = sqrt(apart);
            for (int a = 0; a < 12; a++) rows[count][a] = last * tau[a];
            count++;
            continue;
        }
        double q = sqrt(turn / size), half = sqrt(0.5 * fabs(slope) * q), under = half / q;
        double last = sqrt(fmax(0, -slope * r));
        for (int a = 0; a < 12 && slope < 0; a++) rows[count][a] = last * theta[a];
        count += slope < 0;
        if (slope > 0) under = -under;
        for (int a = 0; a < 12; a++) rows[count][a] = half * tau[a] + under * theta[a];
        count++;
    }
    return count;
}

static void put_squares(int count, double rows[MAX_SQUARES][12], double *restrict hessian) {
    if (!count) memset(hessian, 0, 144 * sizeof *hessian);
    for (int a = 0; a < 12 && count; a++) {
        double *row = hessian + 12 * a;
        for (int b = 0; b < 12; b++) row[b] = rows[0][a] * rows[0][b];
        for (int k = 1; k < count; k++)
            for (int b = 0; b < 12; b++) row[b] += rows[k][a] * rows[k][b];
    }
}

static void put_exact(const rbt_gap_shape *shape, double slope, double second, double *hessian) {
    double g[12];
    rbt_gap_gradient(&shape->gap, g);
    rbt_gap_shape_hessian(shape, hessian);
    for (int a = 0; a < 12; a++)
        for (int b = 0; b < 12; b++) hessian[12 * a + b] = second * (g[a] * g[b]) + slope * hessian[12 * a + b];
}

static double measure_hessian(const rbt_pair_barrier *pair, const double *x, bool exact, double *gradient,
                              double *hessian) {
    rbt_gap_shape shape;
    rbt_parallel_edges edges;
    double d, energy, rows[MAX_SQUARES][12];
    measure_shape(pair, x, &shape);
    if (!acts(pair, &shape.gap, &d, &energy)) {
        memset(gradient, 0, 12 * sizeof *gradient);
        memset(hessian, 0, 144 * sizeof *hessian);
        return energy;
    }
    law l = law_at(pair, d);
    bool mollified = mollify(pair, x, &edges);
    energy = put_gradient(&l, &shape.gap, mollified ? &edges : NULL, gradient);
    if (mollified) rbt_parallel_edges_hessian(&edges, &shape, l.value, l.slope, l.second, !exact, hessian);
    else if (exact) put_exact(&shape, l.slope, l.second, hessian);
    else put_squares(squares(&shape, l.slope, l.second, rows), rows, hessian);
    return energy;
}

double rbt_pair_barrier_hessian(const rbt_pair_barrier *pair, const double x[12], double gradient[12],
                                double hessian[144]) {
    return measure_hessian(pair, x, false, gradient, hessian);
}

double rbt_pair_barrier_exact_hessian(const rbt_pair_barrier *pair, const double x[12], double gradient[12],
                                      double hessian[144]) {
    return measure_hessian(pair, x, true, gradient, hessian);
}
