// Smoothed Coulomb friction of one pair: derivatives, the cone, convexity, and what it must not depend on.
#include "contact/friction/pair_friction.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "random.h"

#include "pair.h"

static const double NOISE = 30 * 4 * DBL_EPSILON;  // of a slip: some 30 operations on numbers up to 4

typedef struct line {
    rbt_pair_friction pair;
    double move[12], delta[12], other[12], normal[3];
    rbt_touch_kind kind;
} line;

static double slip_size(const line *l, const double *move) {
    double u[2];
    rbt_pair_friction_slip(&l->pair, move, u);
    return sqrt(u[0] * u[0] + u[1] * u[1]);
}

// A pair of any kind and closest feature; how far it slips in units of e is up to the caller.
static int pair_make(int kind, double slip, line *l) {
    rbt_gap_shape shape;
    double x[12], wall[3];
    l->kind = (rbt_touch_kind)(kind % RBT_TOUCH_KINDS);
    pair_draw(x, wall);
    rbt_gap_shape_measure(l->kind, x, wall, &shape);
    for (int a = 0; a < 12; a++) l->move[a] = uniform(-1, 1);
    pair_direction(l->delta);
    pair_direction(l->other);
    memcpy(l->normal, shape.gap.normal, sizeof l->normal);
    rbt_pair_friction_make(&shape, uniform(0.5, 2), 1, &l->pair);
    l->pair.smooth = slip_size(l, l->move) / slip;
    return pair_feature(&shape.gap);
}

// ---- The function of the slip

static void potential_has_the_share_as_slope(void **state) {
    (void)state;
    double last = 0, share = 0;
    const double e = 0.03125;
    assert_true(rbt_friction_potential(0, e) == 0 && rbt_friction_share(0, e) == 0);
    for (int i = 1; i <= 400; i++) {  // pieces are polynomials of third order at most: Simpson's rule is exact
        double y = i * e / 128, h = e / 128, f = rbt_friction_potential(y, e);
        double step = h / 6 * (share + 4 * rbt_friction_share(y - 0.5 * h, e) + rbt_friction_share(y, e));
        assert_below(fabs(f - last - step), 8 * DBL_EPSILON * f);
        assert_true(f > last && rbt_friction_share(y, e) >= share && rbt_friction_share(y, e) <= 1);
        last = f, share = rbt_friction_share(y, e);
    }
    assert_true(rbt_friction_share(e, e) == 1 && rbt_friction_share(100 * e, e) == 1);
    double before = rbt_friction_potential(e * (1 - DBL_EPSILON), e), after = rbt_friction_potential(e, e);
    assert_below(fabs(before - after), 4 * DBL_EPSILON * e);
    assert_below(fabs(after - 2 * e / 3), 4 * DBL_EPSILON * e);
}

// ---- Derivatives

static double energy_at(const void *of, double s) {
    const line *l = of;
    double move[12];
    pair_move(l->move, s, l->delta, move);
    return rbt_pair_friction_value(&l->pair, move);
}

static double slope_at(const void *of, double s) {
    const line *l = of;
    double move[12], g[12];
    pair_move(l->move, s, l->delta, move);
    rbt_pair_friction_gradient(&l->pair, move, g);
    return pair_inner(g, l->other);
}

// The energy is analytic except at u = 0 (f0 has |u|^3) and at |u| = e; u changes by at most 2 |delta|. So rho is 0.2
// of the distance of |u| to both. In the disc |u| is at most 1.4 times what it is in the middle, y: |E| <= 4 mu N y,
// and for y < e also |E| <= mu N (1.4 y)^2/e (1 + 1.4/3) <= 16 mu N y^2/e.
static void derivatives_are_those_of_the_energy(void **state) {
    (void)state;
    int judged[RBT_TOUCH_KINDS][PAIR_FEATURES] = {0}, stick = 0, slide = 0;
    for (int i = 0; i < 40000; i++) {
        line l;
        double g[12], same[12], H[144];
        int feature = pair_make(i, pow(10, uniform(-2, 2)), &l);
        double y = slip_size(&l, l.move), e = l.pair.smooth, rho = 0.2 * fmin(y, fabs(y - e));
        if (rho < 0.01 * y) continue;
        double E = rbt_pair_friction_hessian(&l.pair, l.move, g, H);
        assert_true(E == rbt_pair_friction_value(&l.pair, l.move));
        assert_true(E == rbt_pair_friction_gradient(&l.pair, l.move, same));
        assert_memory_equal(g, same, sizeof g);
        double steep = fmin(1 / e, 1 / y), M = l.pair.limit * 4 * y * (y < e ? 4 * y / e : 1);
        double noise = l.pair.limit * 2 * NOISE, noisy = 4 * noise * steep;
        assert_below(fabs(pair_derivative(energy_at, &l, rho) - pair_inner(g, l.delta)),
                     pair_derivative_bound(M, noise, rho));
        assert_below(fabs(pair_derivative(slope_at, &l, 0.5 * rho) - pair_form(l.delta, H, l.other)),
                     pair_derivative_bound(2 * M / rho, noisy, 0.5 * rho));
        assert_symmetric(H);
        assert_only_corners(l.kind, g, H);
        judged[l.kind][feature]++;
        *(y < e ? &stick : &slide) += 1;
    }
    pair_all_judged(judged, 20);
    assert_true(stick >= 5000 && slide >= 5000);
}

// At |u| = e and at u = 0 energy, force and Hessian are continuous: over a step s they change by no more than their
// Lipschitz constants, mu N, mu N |w|^2 2/e and mu N |w|^2 4/e^2 with |w|^2 <= 2, allow.
static void seams_are_smooth(void **state) {
    (void)state;
    for (int i = 0; i < 4000; i++) {
        line l;
        double before[12], after[12], A[144], B[144], move[12];
        pair_make(i, 1, &l);
        double e = l.pair.smooth, w = 2, step = 1e-9;
        double from = i % 2 ? 1 - step : 0, to = i % 2 ? 1 + step : step;
        for (int a = 0; a < 12; a++) move[a] = from * l.move[a];
        double E = rbt_pair_friction_hessian(&l.pair, move, before, A);
        for (int a = 0; a < 12; a++) move[a] = to * l.move[a];
        double F = rbt_pair_friction_hessian(&l.pair, move, after, B);
        double slip = 2 * step * e, N = l.pair.limit;  // |u| = e at 1
        assert_below(fabs(E - F), N * (slip + NOISE));
        for (int a = 0; a < 12; a++) assert_below(fabs(before[a] - after[a]), N * w * 2 / e * (slip + NOISE));
        for (int a = 0; a < 144; a++)
            assert_below(fabs(A[a] - B[a]), N * w * (4 / (e * e) * (slip + NOISE) + 2 / e * NOISE));
    }
}

// ---- Coulomb's law

// The force on B is opposite to its slip, at most mu N, equal to it once it slides, and never less for more slip; that
// on A is its opposite.
static void force_is_in_the_cone_and_against_the_slip(void **state) {
    (void)state;
    int stick = 0, slide = 0;
    for (int i = 0; i < 20000; i++) {
        line l;
        pair_make(i, pow(10, uniform(-6, 6)), &l);
        double last = 0, g[12], u[2], move[12], N = l.pair.limit, e = l.pair.smooth;
        for (double s = 0.125; s <= 8; s *= 2) {
            double force[3] = {0}, sum[3] = {0}, way[3];
            for (int a = 0; a < 12; a++) move[a] = s * l.move[a];
            rbt_pair_friction_gradient(&l.pair, move, g);
            rbt_pair_friction_slip(&l.pair, move, u);
            double y = sqrt(u[0] * u[0] + u[1] * u[1]);
            for (int c = 0; c < 4; c++) rbt_add_scaled(sum, 1, g + 3 * c);
            for (int c = rbt_pair_first(l.kind); c < 4; c++) rbt_add_scaled(force, -1, g + 3 * c);
            for (int k = 0; k < 3; k++) way[k] = (u[0] * l.pair.tangent[0][k] + u[1] * l.pair.tangent[1][k]) / y;
            double size = rbt_length(force), rounding = 16 * DBL_EPSILON * N;
            assert_below(rbt_length(sum), rounding);
            assert_below(size, N + rounding);
            assert_below(fabs(size - N * rbt_friction_share(y, e)), rounding);
            assert_below(fabs(rbt_dot(force, way) + size), rounding);
            assert_below(last, size + rounding);
            if (y >= e) assert_below(N - size, rounding);
            last = size;
            *(y < e ? &stick : &slide) += 1;
        }
    }
    assert_true(stick >= 20000 && slide >= 20000);
}

static void hessian_is_positive(void **state) {
    (void)state;
    int stick = 0, slide = 0;
    for (int i = 0; i < 10000; i++) {
        line l;
        double g[12], H[144];
        pair_make(i, pow(10, uniform(-3, 3)), &l);
        if (i % 50 == 0) memset(l.move, 0, sizeof l.move);
        rbt_pair_friction_hessian(&l.pair, l.move, g, H);
        double size = pair_norm(H, 144);
        assert_below(-pair_least_eigenvalue(H), 100 * DBL_EPSILON * size);
        assert_true(size > 0 && isfinite(size));
        *(slip_size(&l, l.move) < l.pair.smooth ? &stick : &slide) += 1;
    }
    assert_true(stick >= 1000 && slide >= 1000);
}

// ---- What changes nothing

// Other tangents of the same plane; all corners moved by the same; corners of B moved along the normal
static void frames_shifts_and_normal_moves_change_nothing(void **state) {
    (void)state;
    for (int i = 0; i < 10000; i++) {
        line l;
        double g[12], f[12], H[144], G[144], move[12], along[3], turn = uniform(0, 6.3);
        pair_make(i, pow(10, uniform(-2, 2)), &l);
        double E = rbt_pair_friction_hessian(&l.pair, l.move, g, H), N = l.pair.limit;
        double steep = N * 2 * fmin(2 / l.pair.smooth, 2 / slip_size(&l, l.move)),
               curve = steep / slip_size(&l, l.move);
        line other = l;
        for (int k = 0; k < 3; k++) {
            double t = l.pair.tangent[0][k], s = l.pair.tangent[1][k];
            other.pair.tangent[0][k] = cos(turn) * t + sin(turn) * s;
            other.pair.tangent[1][k] = cos(turn) * s - sin(turn) * t;
        }
        pair_unit(along);
        for (int c = 0; c < 4; c++)
            for (int k = 0; k < 3; k++)
                move[3 * c + k] = l.move[3 * c + k] + along[k] +
                                  (c >= rbt_pair_first(l.kind) && c < l.pair.corners ? 0.5 * l.normal[k] : 0);
        // How far the tangents of this pair are from perpendicular to the normal, which a move along it shows
        double tilt = fabs(rbt_dot(l.normal, l.pair.tangent[0])) + fabs(rbt_dot(l.normal, l.pair.tangent[1]));
        double F = rbt_pair_friction_hessian(&other.pair, move, f, G), off = 4 * NOISE + tilt;
        assert_below(fabs(E - F), N * off);
        for (int a = 0; a < 12; a++) assert_below(fabs(g[a] - f[a]), 4 * steep * off + N * 16 * DBL_EPSILON);
        for (int a = 0; a < 144; a++) assert_below(fabs(H[a] - G[a]), 8 * curve * off);
        assert_below(tilt, 1e-6);
    }
}

// Lengths times 2^20 or 2^-20: forces stay, to the bit.
static void scales_change_no_bit(void **state) {
    (void)state;
    for (int i = 0; i < 10000; i++) {
        line l;
        double g[12], f[12], H[144], G[144], move[12], by = i % 2 ? 0x1p20 : 0x1p-20;
        pair_make(i, pow(10, uniform(-2, 2)), &l);
        double E = rbt_pair_friction_hessian(&l.pair, l.move, g, H);
        for (int a = 0; a < 12; a++) move[a] = by * l.move[a];
        l.pair.smooth *= by;
        double F = rbt_pair_friction_hessian(&l.pair, move, f, G);
        assert_true(F == by * E);
        for (int a = 0; a < 12; a++) assert_true(f[a] == g[a]);
        for (int a = 0; a < 144; a++) assert_true(by * G[a] == H[a]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(potential_has_the_share_as_slope),
        cmocka_unit_test(derivatives_are_those_of_the_energy),
        cmocka_unit_test(seams_are_smooth),
        cmocka_unit_test(force_is_in_the_cone_and_against_the_slip),
        cmocka_unit_test(hessian_is_positive),
        cmocka_unit_test(frames_shifts_and_normal_moves_change_nothing),
        cmocka_unit_test(scales_change_no_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
