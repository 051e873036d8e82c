// The distance of a pair to second order, against differences, seams, rigid motions and scales.
#include "contact/distance/shape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "random.h"

#include "pair.h"

static const double LEAST_RADIUS = 0.002;  // pairs with less are too badly conditioned to judge by differences

// ---- Derivatives

typedef struct line {
    rbt_touch_kind kind;
    double x[12], delta[12], other[12], wall[3];
} line;

static void measure(const line *l, double s, rbt_gap *gap) {
    double moved[12];
    pair_move(l->x, s, l->delta, moved);
    rbt_gap_measure_any(l->kind, moved, l->wall, gap);
}

static double distance_at(const void *of, double s) {
    rbt_gap gap;
    measure(of, s, &gap);
    return gap.distance;
}

static double slope_at(const void *of, double s) {
    rbt_gap gap;
    double g[12];
    measure(of, s, &gap);
    rbt_gap_gradient(&gap, g);
    return pair_inner(g, ((const line *)of)->other);
}

// The feature is the same over the whole step of the difference.
static bool stays(const line *l, double rho, int feature) {
    for (int i = -4; i <= 4; i++) {
        rbt_gap gap;
        measure(l, i * 0.25 * rho / PAIR_STEPS, &gap);
        if (pair_feature(&gap) != feature) return false;
    }
    return true;
}

// Of an analytic d: |d| <= 8 where corners are in the cube and rho beyond, and |d'| <= 4 |w| <= 8 with weights up to 2.
// Rounding: a distance is made of some 30 operations on numbers up to 4. Weights and the normal divide such numbers by
// heights, areas or the distance, all at least rho.
static void derivatives_are_those_of_the_distance(void **state) {
    (void)state;
    int judged[RBT_TOUCH_KINDS][PAIR_FEATURES] = {0};
    for (int i = 0; i < 120000; i++) {
        line l = {.kind = (rbt_touch_kind)(i % RBT_TOUCH_KINDS)};
        rbt_gap_shape shape;
        double g[12], H[144];
        pair_draw(l.x, l.wall);
        pair_direction(l.delta);
        pair_direction(l.other);
        rbt_gap_shape_measure(l.kind, l.x, l.wall, &shape);
        double rho = pair_radius(l.kind, l.x, &shape.gap);
        int feature = pair_feature(&shape.gap);
        if (rho < LEAST_RADIUS || !stays(&l, rho, feature)) continue;
        rbt_gap_gradient(&shape.gap, g);
        rbt_gap_shape_hessian(&shape, H);
        double noise = 30 * 4 * DBL_EPSILON, noisy = noise / rho;
        assert_below(fabs(pair_derivative(distance_at, &l, rho) - pair_inner(g, l.delta)),
                     pair_derivative_bound(8, noise, rho));
        assert_below(fabs(pair_derivative(slope_at, &l, rho) - pair_form(l.delta, H, l.other)),
                     pair_derivative_bound(8, noisy, rho));
        assert_symmetric(H);
        assert_only_corners(l.kind, g, H);
        judged[l.kind][feature]++;
    }
    pair_all_judged(judged, 50);
}

// ---- Seams

static int seams[RBT_TOUCH_KINDS][PAIR_FEATURES][PAIR_FEATURES];

// Two features that meet share all corners but one. Parallel edges are none.
static void every_seam_was_crossed(int times) {
    for (int kind = 0; kind < RBT_TOUCH_KINDS; kind++)
        for (int a = 0; a < PAIR_FEATURES; a++)
            for (int b = 0; b < a; b++) {
                int apart = a ^ b;
                if (apart & (apart - 1) || !pair_feature_exists((rbt_touch_kind)kind, a) ||
                    !pair_feature_exists((rbt_touch_kind)kind, b))
                    continue;
                int seen = seams[kind][a][b] + seams[kind][b][a];
                if (seen < times)
                    fail_msg("kind %d from %x to %x: crossed %d times, not %d", kind, a, b, seen, times);
            }
}

// Value and gradient jump by no more than rounding, and than they change over the width of what bisection leaves.
static void value_and_gradient_are_continuous(void **state) {
    (void)state;
    memset(seams, 0, sizeof seams);
    for (int i = 0; i < 60000; i++) {
        line l = {.kind = (rbt_touch_kind)(i % 3)};
        rbt_gap low, high, middle;
        pair_draw(l.x, l.wall);
        pair_draw(l.delta, l.wall);
        for (int a = 0; a < 12; a++) l.delta[a] -= l.x[a];
        measure(&l, 0, &low);
        measure(&l, 1, &high);
        if (pair_feature(&low) == pair_feature(&high)) continue;
        double from = 0, to = 1;
        while (to - from > 0x1p-50) {
            double half = 0.5 * (from + to);
            measure(&l, half, &middle);
            bool same = pair_feature(&middle) == pair_feature(&low);
            *(same ? &low : &high) = middle;
            *(same ? &from : &to) = half;
        }
        double at[12], before[12], after[12];
        pair_move(l.x, from, l.delta, at);
        double rho = pair_radius(l.kind, at, &low);
        if (rho < LEAST_RADIUS) continue;
        rbt_gap_gradient(&low, before);
        rbt_gap_gradient(&high, after);
        double width = 0x1p-50 * pair_norm(l.delta, 12), noise = 30 * 4 * DBL_EPSILON;
        assert_below(fabs(low.distance - high.distance), noise + 2 * width);
        for (int a = 0; a < 12; a++) assert_below(fabs(before[a] - after[a]), (noise + 8 * width) / rho);
        seams[l.kind][pair_feature(&low)][pair_feature(&high)]++;
    }
    every_seam_was_crossed(10);
}

// ---- Invariances

static void rigid_motions_change_nothing(void **state) {
    (void)state;
    int judged[RBT_TOUCH_KINDS][PAIR_FEATURES] = {0};
    for (int i = 0; i < 40000; i++) {
        rbt_touch_kind kind = (rbt_touch_kind)(i % RBT_TOUCH_KINDS);
        rbt_gap_shape shape;
        double x[12], wall[3], g[12], H[144];
        pair_draw(x, wall);
        rbt_gap_shape_measure(kind, x, wall, &shape);
        double rho = pair_radius(kind, x, &shape.gap), noise = 30 * 4 * DBL_EPSILON;
        if (rho < LEAST_RADIUS) continue;
        rbt_gap_gradient(&shape.gap, g);
        rbt_gap_shape_hessian(&shape, H);
        assert_rigid(kind != RBT_TOUCH_WALL, x, g, H, noise, noise / (rho * rho));
        judged[kind][pair_feature(&shape.gap)]++;
    }
    pair_all_judged(judged, 50);
}

// Lengths times 2^20 or 2^-20: nothing but exponents changes.
static void scales_change_no_bit(void **state) {
    (void)state;
    for (int i = 0; i < 20000; i++) {
        rbt_touch_kind kind = (rbt_touch_kind)(i % RBT_TOUCH_KINDS);
        rbt_gap_shape shape, other;
        double x[12], y[12], wall[3], H[144], G[144], by = i % 2 ? 0x1p20 : 0x1p-20;
        pair_draw(x, wall);
        for (int a = 0; a < 12; a++) y[a] = by * x[a];
        rbt_gap_shape_measure(kind, x, wall, &shape);
        rbt_gap_shape_measure(kind, y, wall, &other);
        assert_true(other.gap.distance == by * shape.gap.distance && other.sliding == shape.sliding);
        assert_memory_equal(other.gap.weight, shape.gap.weight, sizeof shape.gap.weight);
        assert_memory_equal(other.tangent, shape.tangent, sizeof shape.tangent);
        rbt_gap_shape_hessian(&shape, H);
        rbt_gap_shape_hessian(&other, G);
        for (int a = 0; a < 144; a++) assert_true(by * G[a] == H[a]);
    }
}

// ---- Frames and degenerate pairs

static void assert_frame(const rbt_gap_shape *shape) {
    const double *n = shape->gap.normal, *t = shape->tangent[0], *u = shape->tangent[1];
    double third[3];
    rbt_cross(n, t, third);
    assert_below(fabs(rbt_length(n) - 1), 8 * DBL_EPSILON);
    assert_below(fabs(rbt_length(t) - 1), 8 * DBL_EPSILON);
    // What is left along the normal is rounding of an edge that may be 1e8 times as long as its part across.
    assert_below(fabs(rbt_dot(n, t)), shape->sliding ? 1e8 * 8 * DBL_EPSILON : 8 * DBL_EPSILON);
    for (int k = 0; k < 3; k++) assert_below(fabs(third[k] - u[k]), 8 * DBL_EPSILON);
}

static void assert_finite(const rbt_gap_shape *shape) {
    double H[144];
    rbt_gap_shape_hessian(shape, H);
    for (int a = 0; a < 144; a++) assert_true(isfinite(H[a]));
    for (int i = 0; i < 4; i++) assert_true(isfinite(shape->slope[0][i]) && isfinite(shape->slope[1][i]));
}

static void frames_are_orthonormal(void **state) {
    (void)state;
    for (int i = 0; i < 40000; i++) {
        rbt_touch_kind kind = (rbt_touch_kind)(i % RBT_TOUCH_KINDS);
        rbt_gap_shape shape;
        double x[12], wall[3];
        pair_draw(x, wall);
        rbt_gap_shape_measure(kind, x, wall, &shape);
        assert_frame(&shape);
        if (fabs(shape.gap.distance) > 0.01 && shape.sliding) {
            // An inside feature's edges are perpendicular to the normal, up to the rounding of nearest points.
            double noise = 30 * 4 * DBL_EPSILON / pow(fmin(1, pair_height(kind, x)), 2);
            assert_below(fabs(rbt_dot(shape.gap.normal, shape.tangent[0])), noise);
        }
        // Weights change as r moves along the tangent: sum slope = 0 and sum slope x = t.
        for (int j = 0; j < shape.sliding && kind != RBT_TOUCH_WALL; j++) {
            double r[3] = {0}, sum = 0, size = 0;
            for (int c = 0; c < shape.corners; c++) {
                rbt_add_scaled(r, shape.slope[j][c], x + 3 * c);
                sum += shape.slope[j][c];
                size += fabs(shape.slope[j][c]);
            }
            assert_below(fabs(sum), 8 * DBL_EPSILON * size);
            // r may have a part along the normal, of which the nearest points know nothing
            double out = rbt_dot(r, shape.gap.normal);
            rbt_add_scaled(r, -out, shape.gap.normal);
            for (int k = 0; k < 3; k++) assert_below(fabs(r[k] - shape.tangent[j][k]), 64 * DBL_EPSILON * size);
        }
    }
}

// Corners on a few points of a grid: edges without length, triangles without area, parallel edges, pairs that touch
static void degenerate_pairs_have_numbers(void **state) {
    (void)state;
    int touching = 0, flat = 0, apart = 0;
    for (int i = 0; i < 100000; i++) {
        rbt_touch_kind kind = (rbt_touch_kind)(i % RBT_TOUCH_KINDS);
        rbt_gap_shape shape;
        double x[12], wall[3];
        pair_unit(wall);
        for (int a = 0; a < 12; a++) x[a] = small(1);
        rbt_gap_shape_measure(kind, x, wall, &shape);
        assert_finite(&shape);
        assert_frame(&shape);
        touching += shape.gap.distance == 0;
        flat += pair_height(kind, x) == 0 || isnan(pair_height(kind, x));
        apart += shape.gap.distance > 0;
    }
    assert_true(touching > 1000 && flat > 1000 && apart > 1000);
}

// Edges whose directions differ by less and less, down to nothing: numbers stay finite, and two edges that are parallel
// to 1e-8 slide along each other only.
static void parallel_edges_have_numbers(void **state) {
    (void)state;
    int one = 0, two = 0;
    for (int i = 0; i < 20000; i++) {
        rbt_gap_shape shape;
        double x[12], wall[3], off[3];
        pair_draw(x, wall);
        pair_unit(off);
        double angle = i % 10 ? pow(10, uniform(-18, -1)) : 0;
        for (int k = 0; k < 3; k++) {  // from about the middle of the other edge on, both ways
            x[6 + k] = 0.5 * (x[k] + x[3 + k]) + uniform(-0.1, 0.1) - 0.25 * (x[3 + k] - x[k]);
            x[9 + k] = x[6 + k] + 0.5 * (x[3 + k] - x[k]) + angle * off[k];
        }
        rbt_gap_shape_measure(RBT_TOUCH_EDGES, x, NULL, &shape);
        assert_finite(&shape);
        assert_frame(&shape);
        one += shape.sliding == 1;
        two += shape.sliding == 2;
    }
    assert_true(one > 1000 && two > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_are_those_of_the_distance),
        cmocka_unit_test(value_and_gradient_are_continuous),
        cmocka_unit_test(rigid_motions_change_nothing),
        cmocka_unit_test(scales_change_no_bit),
        cmocka_unit_test(frames_are_orthonormal),
        cmocka_unit_test(degenerate_pairs_have_numbers),
        cmocka_unit_test(parallel_edges_have_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
