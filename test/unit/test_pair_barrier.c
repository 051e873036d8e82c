// The barrier of one pair: its function of the gap, its derivatives, seams, mollifier, definiteness and invariances.
#include "contact/barrier/pair_barrier.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "random.h"

#include "pair.h"

static const double LEAST_RADIUS = 0.002;          // pairs with less are too badly conditioned for differences
static const double NOISE = 30 * 4 * DBL_EPSILON;  // of a distance: some 30 operations on numbers up to 4

// ---- The function of the gap

// Against the formulas in long double, which cancel near dhat: by at most a factor 1/y, y = 1 - s >= 1e-3
static void curve_is_the_formula(void **state) {
    (void)state;
    for (int i = 0; i < 20000; i++) {
        double dhat = pow(10, uniform(-6, 6)), d = dhat * (i % 2 ? pow(10, uniform(-100, 0)) : uniform(0, 1));
        long double s = (long double)d / dhat, l = logl(s), y = 1 - s;
        if (!(y >= 1e-3L)) continue;
        long double b = -dhat * y * y * l, slope = 2 * y * l - y * y / s;
        long double second = (-2 * l + 4 * y / s + y * y / (s * s)) / dhat;
        double relative = 8 * DBL_EPSILON;
        assert_below(fabs(rbt_barrier(d, dhat) - (double)b), relative * (double)b);
        assert_below(fabs(rbt_barrier_slope(d, dhat) - (double)slope), relative * -(double)slope);
        assert_below(fabs(rbt_barrier_second(d, dhat) - (double)second), relative * (double)second);
        assert_true(rbt_barrier_force(d, dhat) == -rbt_barrier_slope(d, dhat));
    }
}

// -ln(1 - y) = y + y^2/2 + ...: b = dhat y^3 (1 + y/2 + ...), b' = -3 y^2 (1 + ...), b'' = 6 y (1 + ...)/dhat, with
// coefficients up to 3
static void curve_ends_smoothly(void **state) {
    (void)state;
    const double dhat = 0.0078125;
    for (int i = 4; i <= 52; i++) {
        double y = ldexp(1, -i), d = dhat * (1 - y), off = 3 * y / (1 - y) + 8 * DBL_EPSILON;
        assert_below(fabs(rbt_barrier(d, dhat) / (dhat * y * y * y) - 1), off);
        assert_below(fabs(rbt_barrier_force(d, dhat) / (3 * y * y) - 1), off);
        assert_below(fabs(rbt_barrier_second(d, dhat) / (6 * y / dhat) - 1), off);
    }
    static const double beyond[] = {1, 1 + DBL_EPSILON, 2, 1e300, INFINITY};
    for (int i = 0; i < 5; i++) {
        double d = beyond[i] * dhat;
        assert_true(rbt_barrier(d, dhat) == 0 && rbt_barrier_slope(d, dhat) == 0 && rbt_barrier_second(d, dhat) == 0);
    }
}

// Towards 0 energy and force grow without bound: -dhat ln s, and at least 1/s - 2 up to what is finite.
static void curve_grows_without_bound(void **state) {
    (void)state;
    const double dhat = 1e-3;
    double last = 0, force = 0;
    for (int i = 1; i <= 250; i++) {
        double s = pow(10, -i), b = rbt_barrier(s * dhat, dhat), f = rbt_barrier_force(s * dhat, dhat);
        assert_true(b > last && f > force && isfinite(b) && isfinite(f));
        assert_true(f >= 1 / s - 2);
        last = b, force = f;
    }
    static const double through[] = {0, -0.0, -1e-300, -1, -INFINITY, NAN};
    for (int i = 0; i < 6; i++) {
        assert_true(rbt_barrier(through[i], dhat) == INFINITY && rbt_barrier_slope(through[i], dhat) == -INFINITY);
        assert_true(rbt_barrier_second(through[i], dhat) == INFINITY);
    }
}

// ---- Pairs

typedef struct line {
    rbt_pair_barrier pair;
    double x[12], delta[12], other[12];
} line;

static double at_gap(const line *l, const double *x) {
    rbt_gap gap;
    rbt_gap_measure_any(l->pair.kind, x, l->pair.wall_normal, &gap);
    return gap.distance - l->pair.inside;
}

static double cross_square(const double *x) {
    double u[3], v[3], n[3];
    rbt_subtract(x + 3, x, u);
    rbt_subtract(x + 9, x + 6, v);
    rbt_cross(u, v, n);
    return rbt_dot(n, n);
}
static bool mollified(const rbt_pair_barrier *pair, const double *x) {
    return pair->kind == RBT_TOUCH_EDGES && cross_square(x) < pair->parallel;
}

// Which formula holds: closest features and mollifier
static int piece(const line *l, double s) {
    double x[12];
    rbt_gap gap;
    pair_move(l->x, s, l->delta, x);
    rbt_gap_measure_any(l->pair.kind, x, l->pair.wall_normal, &gap);
    return pair_feature(&gap) + (mollified(&l->pair, x) ? PAIR_FEATURES : 0);
}

static bool parabolas;  // every other pair is one

// An active pair: its gap is between 0.05 and 0.95 dhat. A part of the distance may lie inside; that of a wall may be
// negative.
static void pair_make(rbt_touch_kind kind, double parallel, line *l) {
    memset(l, 0, sizeof *l);
    l->pair.kind = kind;
    l->pair.scale = uniform(0.5, 2);
    pair_draw(l->x, l->pair.wall_normal);
    pair_direction(l->delta);
    pair_direction(l->other);
    double distance = at_gap(l, l->x), gap = below(2) && distance > 0 ? distance : fabs(distance) * uniform(0.1, 1);
    l->pair.inside = distance - gap;
    l->pair.dhat = gap / uniform(0.05, 0.95);
    l->pair.parallel = parallel;
    if (!parabolas || below(2)) return;
    l->pair.parabola = true;
    l->pair.entry = uniform(0.05, 0.4) * l->pair.dhat;
    l->pair.net = uniform(0.1, 0.5) * l->pair.dhat;
}

// b, -b' and b'' of a pair, and how far d is from where another formula holds
typedef struct values {
    double b, force, second, room;
} values;

static values values_of(const rbt_pair_barrier *p, double d) {
    values v = {rbt_barrier(d, p->dhat), rbt_barrier_force(d, p->dhat), rbt_barrier_second(d, p->dhat), p->dhat - d};
    if (!p->parabola) return v;
    double u = p->dhat - d, w = p->entry, net = p->net;
    v = u < w ? (values){u * u * u / (6 * w), u * u / (2 * w), u / w, fmin(u, w - u)}
              : (values){(3 * u * u - 3 * u * w + w * w) / 6, u - w / 2, 1, u - w};
    v.room = fmin(v.room, fabs(d - net));
    v.b += net * rbt_barrier(d, net);
    v.force += net * rbt_barrier_force(d, net);
    v.second += net * rbt_barrier_second(d, net);
    return v;
}

// A bound of |b| within 0.4 d of d, in the complex plane
static double bound_of(const rbt_pair_barrier *p, double d) {
    double log_bound = 6 * (fabs(log(0.6 * d / p->dhat)) + 3.2), u = p->dhat - 0.6 * d;
    if (!p->parabola) return p->dhat * log_bound;
    double plain = p->dhat - d < p->entry ? u * u * u / (6 * p->entry) : u * u + p->entry * p->entry;
    return plain + (d < p->net ? p->net * p->net * 6 * (fabs(log(0.6 * d / p->net)) + 3.2) : 0);
}

// The radius rho within which E is analytic, a bound of it there, and bounds of the rounding of E and E'.
typedef struct limits {
    double rho, M, noise, noise_gradient;
} limits;

// In the disc |d' rho| <= 0.4 d with |d'| <= 4, so that |b| <= dhat (1 + 1.4)^2 (|ln 0.6 s| + pi), and with c < eps in
// the middle |c| <= 2 eps, |e| <= 8. E is as wrong as the distance times |b'|, E' as it times b'', and as weights and
// normal (which divide by lengths of at least rho) times |b'|; the mollifier divides by sqrt(eps) >= rho, twice in E'.
static limits limits_of(const line *l, double radius) {
    double d = at_gap(l, l->x);
    values v = values_of(&l->pair, d);
    double b = v.b, slope = v.force, second = v.second;
    limits m = {.rho = fmin(radius, 0.1 * fmin(d, v.room))};
    bool soft = mollified(&l->pair, l->x);
    m.M = l->pair.scale * bound_of(&l->pair, d) * (soft ? 8 : 1);
    m.noise = 2 * l->pair.scale * NOISE * (slope + b + (soft ? 8 * b / m.rho : 0));
    m.noise_gradient = 2 * l->pair.scale * NOISE * (second + slope / m.rho);
    if (soft) m.noise_gradient += 2 * l->pair.scale * NOISE * 8 * (slope + b / m.rho) / m.rho;
    return m;
}

static double energy_at(const void *of, double s) {
    const line *l = of;
    double x[12];
    pair_move(l->x, s, l->delta, x);
    return rbt_pair_barrier_value(&l->pair, x);
}

static double slope_at(const void *of, double s) {
    const line *l = of;
    double x[12], g[12];
    pair_move(l->x, s, l->delta, x);
    rbt_pair_barrier_gradient(&l->pair, x, g);
    return pair_inner(g, l->other);
}

// E' from differences of E, and E'' from those of E'. Of E', |E'| <= 2 M / rho in half the disc (Cauchy).
static bool judge_derivatives(const line *l, double radius) {
    limits m = limits_of(l, radius);
    for (int i = -4; i <= 4; i++)
        if (piece(l, i * 0.25 * m.rho / PAIR_STEPS) != piece(l, 0)) return false;
    double g[12], same[12], H[144];
    double E = rbt_pair_barrier_exact_hessian(&l->pair, l->x, g, H);
    assert_true(E > 0 && E == rbt_pair_barrier_value(&l->pair, l->x));
    assert_true(E == rbt_pair_barrier_gradient(&l->pair, l->x, same));
    assert_memory_equal(g, same, sizeof g);
    assert_below(fabs(pair_derivative(energy_at, l, m.rho) - pair_inner(g, l->delta)),
                 pair_derivative_bound(m.M, m.noise, m.rho));
    assert_below(fabs(pair_derivative(slope_at, l, 0.5 * m.rho) - pair_form(l->delta, H, l->other)),
                 pair_derivative_bound(2 * m.M / m.rho, m.noise_gradient, 0.5 * m.rho));
    assert_symmetric(H);
    assert_only_corners(l->pair.kind, g, H);
    return true;
}

static void derivatives_are_those_of_the_energy(void **state) {
    (void)state;
    parabolas = true;
    int judged[RBT_TOUCH_KINDS][PAIR_FEATURES] = {0}, soft[PAIR_FEATURES] = {0};
    for (int i = 0; i < 200000; i++) {
        line l;
        rbt_gap gap;
        pair_make((rbt_touch_kind)(i % RBT_TOUCH_KINDS), i % 3 ? pow(10, uniform(-3, 1)) : 0, &l);
        rbt_gap_measure_any(l.pair.kind, l.x, l.pair.wall_normal, &gap);
        double radius = pair_radius(l.pair.kind, l.x, &gap);
        if (radius < LEAST_RADIUS || !judge_derivatives(&l, radius)) continue;
        judged[l.pair.kind][pair_feature(&gap)]++;
        soft[pair_feature(&gap)] += mollified(&l.pair, l.x);
    }
    pair_all_judged(judged, 50);
    for (int bits = 0; bits < PAIR_FEATURES; bits++)
        assert_true(soft[bits] >= 20 || !pair_feature_exists(RBT_TOUCH_EDGES, bits));
    parabolas = false;
}

// Edges at an angle of 0.005 to 0.03 with the mollifier's own eps, which they are below. Nearest points move by as much
// as 1/sin times of what corners do, so here the radius is 0.05 sin.
static void derivatives_of_nearly_parallel_edges(void **state) {
    (void)state;
    int inside = 0, ends = 0;
    for (int i = 0; i < 20000; i++) {
        line l;
        double off[3], u[3];
        pair_make(RBT_TOUCH_EDGES, 0, &l);
        pair_unit(off);
        rbt_subtract(l.x + 3, l.x, u);
        if (rbt_length(u) < 0.5) continue;
        for (int k = 0; k < 3; k++) {
            double start = uniform(-0.1, 0.1);
            l.x[6 + k] = 0.5 * (l.x[k] + l.x[3 + k]) + start - (i % 2 ? 0.5 : -0.3) * u[k] + 0.3 * off[k];
            l.x[9 + k] = l.x[6 + k] + u[k] + uniform(-0.03, 0.03);
        }
        double distance = at_gap(&l, l.x) + l.pair.inside, height = pair_height(RBT_TOUCH_EDGES, l.x);
        if (distance < 0.1 || height < 0.005) continue;
        l.pair.inside = 0;
        l.pair.dhat = distance / uniform(0.2, 0.9);
        l.pair.parallel = 1e-3 * pow(rbt_dot(u, u), 2);
        if (!mollified(&l.pair, l.x) || !judge_derivatives(&l, 0.05 * height)) continue;
        *(piece(&l, 0) == PAIR_FEATURES + 15 ? &inside : &ends) += 1;
    }
    assert_true(inside >= 50 && ends >= 50);
}

// ---- Seams

static void energy_and_gradient_are_continuous(void **state) {
    (void)state;
    int features = 0, mollifiers = 0;
    for (int i = 0; i < 60000; i++) {
        line l;
        pair_make((rbt_touch_kind)(i % 3), 0.5, &l);
        double to_x[12], wall[3], from = 0, to = 1;
        pair_draw(to_x, wall);
        for (int a = 0; a < 12; a++) l.delta[a] = to_x[a] - l.x[a];
        l.pair.inside = 0;
        l.pair.dhat = 4;
        int first = piece(&l, 0), last = piece(&l, 1);
        if (first == last) continue;
        while (to - from > 0x1p-50) {
            double half = 0.5 * (from + to);
            int middle = piece(&l, half);
            if (middle == first) from = half;
            else to = half, last = middle;
        }
        double before[12], after[12], width = 0x1p-50 * pair_norm(l.delta, 12);
        line at = l;
        pair_move(l.x, from, l.delta, at.x);
        pair_move(l.x, to, l.delta, to_x);
        rbt_gap gap;
        rbt_gap_measure_any(l.pair.kind, at.x, NULL, &gap);
        double radius = pair_radius(l.pair.kind, at.x, &gap);
        if (radius < LEAST_RADIUS) continue;
        limits m = limits_of(&at, radius);
        double E = rbt_pair_barrier_gradient(&l.pair, at.x, before);
        double F = rbt_pair_barrier_gradient(&l.pair, to_x, after);
        assert_below(fabs(E - F), 2 * m.noise + 2 * width * pair_norm(before, 12));
        for (int a = 0; a < 12; a++)
            assert_below(fabs(before[a] - after[a]), 2 * m.noise_gradient + width * m.M / (m.rho * m.rho));
        features += (first ^ last) % PAIR_FEATURES != 0;
        mollifiers += (first ^ last) >= PAIR_FEATURES;
    }
    assert_true(features >= 1000 && mollifiers >= 1000);
}

// At exactly parallel edges E and its gradient are 0, and there is no corner: E <= C |delta|^2 on all sides. For c <=
// (|u| |delta v| + |v| |delta u|)^2 <= 4 |delta|^2 max(|u|, |v|)^2 (|delta| small), and e <= 2 c / eps.
static void parallel_edges_are_smooth(void **state) {
    (void)state;
    for (int i = 0; i < 5000; i++) {
        line l;
        double u[3], g[12], H[144], moved[12];
        pair_make(RBT_TOUCH_EDGES, 0, &l);
        for (int a = 0; a < 9; a++) l.x[a] = small(8);  // so that sums are exact
        rbt_subtract(l.x + 3, l.x, u);
        for (int k = 0; k < 3; k++) l.x[9 + k] = l.x[6 + k] + (i % 3 - 1) * u[k];
        l.pair.inside = 0;
        double square = rbt_dot(u, u), d = at_gap(&l, l.x);
        if (!(d > 0)) continue;
        l.pair.dhat = 2 * d;
        l.pair.parallel = 1e-3 * square * square + (square == 0);
        assert_true(rbt_pair_barrier_hessian(&l.pair, l.x, g, H) == 0);
        for (int a = 0; a < 12; a++) assert_true(g[a] == 0);
        for (int a = 0; a < 144; a++) assert_true(isfinite(H[a]));
        for (double s = 1e-3; s > 1e-12; s *= 0.1) {
            pair_move(l.x, s, l.delta, moved);
            // The gap changes by 2 s at most, and corners and sums are rounded.
            double longest = sqrt(square) + 2 * s, away = s + 1e-14, most = 2 * 4 * away * away * longest * longest;
            double b = rbt_barrier(d - 3 * away, l.pair.dhat);
            double E = rbt_pair_barrier_hessian(&l.pair, moved, g, H);
            assert_below(E, l.pair.scale * b * most / l.pair.parallel);
            for (int a = 0; a < 144; a++) assert_true(isfinite(H[a]));
        }
    }
}

// The parabola and its net, where their formulas meet, and the depth that belongs to a force
static void parabola_is_smooth(void **state) {
    (void)state;
    for (int i = 0; i < 10000; i++) {
        rbt_pair_barrier p = {.kind = RBT_TOUCH_POINT, .parabola = true, .scale = pow(10, uniform(-3, 3)), .dhat = 1};
        p.entry = uniform(0.05, 0.4), p.net = uniform(0.1, 0.5);
        double places[] = {p.dhat, p.dhat - p.entry, p.net}, near = 1e-9;
        for (int k = 0; k < 3; k++) {
            double a = places[k] - near, b = places[k] + near;
            // continuous to second order: first differences are those of the second derivative, at most 1/entry + 6/net
            assert_below(fabs(rbt_pair_barrier_force(&p, a) - rbt_pair_barrier_force(&p, b)), 2.1 * near * p.scale);
            assert_below(fabs(rbt_pair_barrier_stiffness(&p, a) - rbt_pair_barrier_stiffness(&p, b)),
                         2.1 * near * p.scale * (1 / p.entry + 6 / p.net));
        }
        double force = p.scale * pow(10, uniform(-6, 1)), u = rbt_parabola_depth(p.scale, p.entry, force);
        p.dhat = 1 + u, p.net = 0.5;
        assert_below(fabs(rbt_pair_barrier_force(&p, 1) - force), 1e-9 * force + 4 * DBL_EPSILON * p.scale);
    }
}

// ---- The Hessian

// H - E'' has the trace that is left out: of unmollified pairs |b'| |tau_j| |theta_j| where nearest points slide and
// |b'| |tau_j|^2 / r where they do not, else the negative eigenvalues of E''.
static double left_out(const line *l, const double *exact) {
    rbt_gap_shape shape;
    double N = rbt_pair_barrier_contact(&l->pair, l->x, &shape), sum = 0, A[144];
    if (mollified(&l->pair, l->x)) {
        memcpy(A, exact, sizeof A);
        rbt_symmetric_eigen(12, A, NULL);
        for (int a = 0; a < 12; a++) sum += fmax(0, -A[13 * a]);
        return sum;
    }
    for (int j = 0; j < 2; j++) {
        double tau = pair_norm(shape.gap.weight, 4), theta = pair_norm(shape.slope[j], 4), r = shape.gap.distance;
        sum += N * (j < shape.sliding ? tau * theta : r > 0 ? tau * tau / r : 0);
    }
    return sum;
}

// Eigenvalues and traces have errors of some units of rounding of the norm of the matrix, times 12 for sums.
static void hessian_is_positive_and_majorises(void **state) {
    (void)state;
    parabolas = true;
    int judged[RBT_TOUCH_KINDS][PAIR_FEATURES] = {0}, soft = 0, indefinite = 0;
    for (int i = 0; i < 40000; i++) {
        line l;
        double g[12], same[12], H[144], exact[144], more[144], trace = 0;
        rbt_gap gap;
        pair_make((rbt_touch_kind)(i % RBT_TOUCH_KINDS), i % 3 ? pow(10, uniform(-3, 1)) : 0, &l);
        double E = rbt_pair_barrier_hessian(&l.pair, l.x, g, H);
        assert_true(E == rbt_pair_barrier_exact_hessian(&l.pair, l.x, same, exact));
        assert_memory_equal(g, same, sizeof g);
        for (int a = 0; a < 144; a++) more[a] = H[a] - exact[a];
        for (int a = 0; a < 12; a++) trace += more[13 * a];
        double rounding = 100 * DBL_EPSILON * (pair_norm(H, 144) + pair_norm(exact, 144));
        assert_symmetric(H);
        assert_only_corners(l.pair.kind, g, H);
        assert_below(-pair_least_eigenvalue(H), rounding);
        assert_below(-pair_least_eigenvalue(more), rounding);
        assert_below(fabs(trace - left_out(&l, exact)), rounding);
        rbt_gap_measure_any(l.pair.kind, l.x, l.pair.wall_normal, &gap);
        judged[l.pair.kind][pair_feature(&gap)]++;
        soft += mollified(&l.pair, l.x);
        indefinite += pair_least_eigenvalue(exact) < -1e-3 * pair_norm(exact, 144);
    }
    pair_all_judged(judged, 50);
    assert_true(soft >= 500 && indefinite >= 5000);
    parabolas = false;
}

// Pairs of negative scale, and of ends of edges in place of these: energies and gradients are minus those of the pair
// of positive scale, and what stands for the Hessian is positive and majorises.
static void negative_pairs_majorise(void **state) {
    (void)state;
    int judged = 0, with_ends = 0;
    for (int i = 0; i < 20000; i++) {
        line l;
        double g[12], f[12], H[144], exact[144], opposite[144], more[144];
        pair_make((rbt_touch_kind)(i % RBT_TOUCH_KINDS), i % 3 ? pow(10, uniform(-3, 1)) : 0, &l);
        if (l.pair.kind == RBT_TOUCH_EDGES && below(2)) {
            rbt_gap gap;
            for (int k = 0; k < 2; k++) l.pair.part[k] = (signed char)below(3);
            rbt_gap_edge_parts(l.x, l.pair.part, &gap);
            l.pair.inside = 0.5 * gap.distance;
            l.pair.dhat = 0.5 * gap.distance / uniform(0.05, 0.95);
        }
        double E = rbt_pair_barrier_exact_hessian(&l.pair, l.x, g, opposite);
        l.pair.scale = -l.pair.scale;
        assert_true(rbt_pair_barrier_hessian(&l.pair, l.x, f, H) == -E && E > 0);
        for (int a = 0; a < 12; a++) assert_true(f[a] == -g[a]);
        rbt_pair_barrier_exact_hessian(&l.pair, l.x, g, exact);
        for (int a = 0; a < 144; a++) more[a] = H[a] - exact[a];
        double rounding = 100 * DBL_EPSILON * (pair_norm(H, 144) + pair_norm(exact, 144));
        for (int a = 0; a < 144; a++) assert_below(fabs(exact[a] + opposite[a]), rounding);
        assert_symmetric(H);
        assert_below(-pair_least_eigenvalue(H), rounding);
        assert_below(-pair_least_eigenvalue(more), rounding);
        with_ends += l.pair.part[0] || l.pair.part[1];
        judged++;
    }
    assert_true(judged == 20000 && with_ends > 1000);
}

// Edges of which an end alone counts are points: the same energies, and forces at the same corners.
static void ends_are_points(void **state) {
    (void)state;
    for (int i = 0; i < 2000; i++) {
        line l;
        double g[12], f[12], y[12] = {0};
        int a = below(2), b = below(2);
        pair_make(RBT_TOUCH_EDGES, 0, &l);
        l.pair.part[0] = (signed char)(1 + a);
        l.pair.part[1] = (signed char)(i % 2 ? 1 + b : 0);
        rbt_pair_barrier other = l.pair;
        other.part[0] = other.part[1] = 0;
        other.kind = i % 2 ? RBT_TOUCH_POINT : RBT_TOUCH_EDGE;
        memcpy(y, l.x + 3 * a, 3 * sizeof *y);
        memcpy(y + 3, l.x + 6 + 3 * (i % 2 ? b : 0), (i % 2 ? 3 : 6) * sizeof *y);
        l.pair.inside = 0;
        l.pair.dhat = 1.5 * rbt_pair_barrier_gap(&l.pair, l.x);
        other.inside = 0, other.dhat = l.pair.dhat;
        double E = rbt_pair_barrier_gradient(&l.pair, l.x, g), F = rbt_pair_barrier_gradient(&other, y, f);
        assert_true(E > 0);
        assert_below(fabs(E - F), 1e-12 * F);
        for (int k = 0; k < 3; k++) {
            assert_below(fabs(g[3 * a + k] - f[k]), 1e-11 * pair_norm(f, 12));
            assert_true(g[3 * (1 - a) + k] == 0);
            if (i % 2) assert_below(fabs(g[6 + 3 * b + k] - f[3 + k]), 1e-11 * pair_norm(f, 12));
            else
                for (int c = 0; c < 2; c++)
                    assert_below(fabs(g[6 + 3 * c + k] - f[3 + 3 * c + k]), 1e-11 * pair_norm(f, 12));
        }
    }
}

// ---- Invariances

static void rigid_motions_change_nothing(void **state) {
    (void)state;
    parabolas = true;
    int judged[RBT_TOUCH_KINDS][PAIR_FEATURES] = {0}, soft = 0;
    for (int i = 0; i < 40000; i++) {
        line l;
        double g[12], exact[144];
        rbt_gap gap;
        pair_make((rbt_touch_kind)(i % RBT_TOUCH_KINDS), i % 3 ? pow(10, uniform(-3, 1)) : 0, &l);
        rbt_gap_measure_any(l.pair.kind, l.x, l.pair.wall_normal, &gap);
        double radius = pair_radius(l.pair.kind, l.x, &gap);
        if (radius < LEAST_RADIUS) continue;
        rbt_pair_barrier_exact_hessian(&l.pair, l.x, g, exact);
        limits m = limits_of(&l, radius);
        // Sums of products of numbers up to 2 with what rounding leaves of the gradient and of the Hessian, whose
        // slopes divide by rho once more
        assert_rigid(l.pair.kind != RBT_TOUCH_WALL, l.x, g, exact, 12 * m.noise_gradient,
                     12 * m.noise_gradient / m.rho);
        judged[l.pair.kind][pair_feature(&gap)]++;
        soft += mollified(&l.pair, l.x);
    }
    pair_all_judged(judged, 50);
    assert_true(soft >= 200);
    parabolas = false;
}

// All lengths times 2^20 or 2^-20 at the same scale [N]: E follows, forces stay, stiffness goes down, to the bit.
static void scales_change_no_bit(void **state) {
    (void)state;
    int soft = 0;
    for (int i = 0; i < 20000; i++) {
        line l;
        double y[12], g[12], f[12], H[144], G[144], by = i % 2 ? 0x1p20 : 0x1p-20;
        pair_make((rbt_touch_kind)(i % RBT_TOUCH_KINDS), i % 3 ? pow(10, uniform(-3, 1)) : 0, &l);
        rbt_pair_barrier other = l.pair;
        other.inside *= by, other.dhat *= by, other.parallel *= by * by * by * by;
        for (int a = 0; a < 12; a++) y[a] = by * l.x[a];
        double E = rbt_pair_barrier_hessian(&l.pair, l.x, g, H), F = rbt_pair_barrier_hessian(&other, y, f, G);
        assert_true(F == by * E);
        for (int a = 0; a < 12; a++) assert_true(f[a] == g[a]);
        // Eigenvectors are made by iterations with limits of their own.
        double rounding = mollified(&l.pair, l.x) ? 100 * DBL_EPSILON * pair_norm(H, 144) : 0;
        for (int a = 0; a < 144; a++) assert_below(fabs(by * G[a] - H[a]), rounding);
        soft += mollified(&l.pair, l.x);
    }
    assert_true(soft >= 200);
}

// ---- Forces and limits

// B is pushed along the normal by N; what the mollifier adds turns edges but moves none.
static void contact_force_is_that_of_the_gradient(void **state) {
    (void)state;
    parabolas = true;
    for (int i = 0; i < 20000; i++) {
        line l;
        double g[12], size = 0, push[3] = {0};
        rbt_gap_shape shape;
        pair_make((rbt_touch_kind)(i % RBT_TOUCH_KINDS), i % 3 ? pow(10, uniform(-3, 1)) : 0, &l);
        rbt_pair_barrier_gradient(&l.pair, l.x, g);
        double N = rbt_pair_barrier_contact(&l.pair, l.x, &shape);
        assert_true(N > 0);
        for (int c = rbt_pair_first(l.pair.kind); c < shape.corners; c++) rbt_add_scaled(push, -1, g + 3 * c);
        for (int a = 0; a < 12; a++) size = fmax(size, fabs(g[a]));
        for (int k = 0; k < 3; k++)
            assert_below(fabs(push[k] - N * shape.gap.normal[k]), 16 * DBL_EPSILON * (N + size));
    }
    parabolas = false;
}

static void idle_and_touching_pairs(void **state) {
    (void)state;
    for (int i = 0; i < 2000; i++) {
        line l;
        rbt_gap_shape shape;
        double g[12], H[144];
        pair_make((rbt_touch_kind)(i % RBT_TOUCH_KINDS), i % 3, &l);
        double gap = at_gap(&l, l.x), expected = i / 2 % 2 ? INFINITY : 0;
        if (expected > 0) l.pair.inside += i % 2 ? gap : 2 * gap;
        else l.pair.dhat = i % 2 ? gap : 0.5 * gap;
        if (expected > 0 && at_gap(&l, l.x) > 0) continue;  // by rounding
        memset(g, 1, sizeof g);
        memset(H, 1, sizeof H);
        assert_true(rbt_pair_barrier_value(&l.pair, l.x) == expected);
        assert_true(rbt_pair_barrier_gradient(&l.pair, l.x, g) == expected);
        for (int a = 0; a < 12; a++) assert_true(g[a] == 0);
        assert_true(rbt_pair_barrier_hessian(&l.pair, l.x, g, H) == expected);
        for (int a = 0; a < 144; a++) assert_true(H[a] == 0 && g[a % 12] == 0);
        assert_true(rbt_pair_barrier_contact(&l.pair, l.x, &shape) == expected);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curve_is_the_formula),
        cmocka_unit_test(curve_ends_smoothly),
        cmocka_unit_test(curve_grows_without_bound),
        cmocka_unit_test(parabola_is_smooth),
        cmocka_unit_test(derivatives_are_those_of_the_energy),
        cmocka_unit_test(derivatives_of_nearly_parallel_edges),
        cmocka_unit_test(energy_and_gradient_are_continuous),
        cmocka_unit_test(parallel_edges_are_smooth),
        cmocka_unit_test(hessian_is_positive_and_majorises),
        cmocka_unit_test(negative_pairs_majorise),
        cmocka_unit_test(ends_are_points),
        cmocka_unit_test(rigid_motions_change_nothing),
        cmocka_unit_test(scales_change_no_bit),
        cmocka_unit_test(contact_force_is_that_of_the_gradient),
        cmocka_unit_test(idle_and_touching_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
