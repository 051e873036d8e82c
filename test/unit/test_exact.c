// Exact answers about points at rest, against rational and integer arithmetic that knows nothing of orientations: two
// convex sets are apart if and only if one of finitely many directions, made of differences of their corners,
// separates them.
#include "math/exact.h"

#include <gmp.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "random.h"
#include "sampled.h"

// ---- Signs of determinants

static int rational_side(const double a[3], const double b[3], const double c[3], const double d[3]) {
    mpq_t m[9], x, sum, product;
    const double *rows[3] = {b, c, d};
    mpq_inits(x, sum, product, NULL);
    for (int i = 0; i < 9; i++) {
        mpq_init(m[i]);
        mpq_set_d(m[i], rows[i / 3][i % 3]);
        mpq_set_d(x, a[i % 3]);
        mpq_sub(m[i], m[i], x);
    }
    static const int even[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    for (int i = 0; i < 6; i++) {
        mpq_mul(product, m[even[i][0]], m[3 + even[i][1]]);
        mpq_mul(product, product, m[6 + even[i][2]]);
        if (i < 3) mpq_add(sum, sum, product);
        else mpq_sub(sum, sum, product);
    }
    int sign = mpq_sgn(sum);
    for (int i = 0; i < 9; i++) mpq_clear(m[i]);
    mpq_clears(x, sum, product, NULL);
    return sign;
}

static int rational_turn(const double a[3], const double b[3], const double c[3]) {
    double up[3] = {a[0], a[1], 0}, at[3] = {a[0], a[1], 1}, second[3] = {b[0], b[1], 0}, third[3] = {c[0], c[1], 0};
    return rational_side(up, second, third, at);
}

static void nudge(double x[3]) {  // by one unit in the last place, or not
    int k = (int)(draw() % 3), way = small(1);
    if (way) x[k] = nextafter(x[k], way * INFINITY);
}

static void compare(double p[4][3]) {
    assert_int_equal(rbt_side(p[0], p[1], p[2], p[3]), rational_side(p[0], p[1], p[2], p[3]));
    assert_int_equal(rbt_rotation_lag(p[0], p[1], p[2], 0, 1), rational_turn(p[0], p[1], p[2]));
    assert_int_equal(rbt_rotation_lag(p[0], p[1], p[2], 1, 0), -rational_turn(p[0], p[1], p[2]));
}

static void test_signs_of_any_doubles(void **state) {
    (void)state;
    double p[4][3];
    for (int n = 0; n < SAMPLED(20000, 4000); n++) {
        int spread = n % 4 == 0 ? 1000 : n % 4 == 1 ? 60 : 2;
        for (int i = 0; i < 12; i++) p[i / 3][i % 3] = ldexp(unit() - 0.5, small(spread));
        if (n % 8 == 0)
            for (int i = 0; i < 12; i++) p[i / 3][i % 3] = ldexp((double)small(3), -1074 + (int)(draw() % 4));
        if (n % 8 == 4) p[3][0] = ldexp(unit() - 0.5, 1020);
        compare(p);
    }
}

// In a plane up to the last bit: d = a + s (b - a) + t (c - a), rounded and nudged; and exactly, on a grid.
static void test_signs_near_and_on_planes(void **state) {
    (void)state;
    double p[4][3];
    int zeros = 0;
    for (int n = 0; n < SAMPLED(20000, 4000); n++) {
        double s = 2 * unit() - 0.5, t = 2 * unit() - 0.5, far = n % 3 == 0 ? 1e6 : 0;
        for (int i = 0; i < 9; i++) p[i / 3][i % 3] = far + unit();
        for (int k = 0; k < 3; k++) p[3][k] = p[0][k] + s * (p[1][k] - p[0][k]) + t * (p[2][k] - p[0][k]);
        nudge(p[3]);
        compare(p);
        for (int k = 0; k < 3; k++) p[2][k] = p[0][k] + s * (p[1][k] - p[0][k]);  // on a line, nearly
        nudge(p[2]);
        compare(p);
        for (int i = 0; i < 12; i++) p[i / 3][i % 3] = 0.1 * small(2);  // multiples of 0.1 are no grid after rounding
        compare(p);
        for (int i = 0; i < 12; i++) p[i / 3][i % 3] = 1 + 0x1p-52 * small(2);
        compare(p);
        zeros += rbt_side(p[0], p[1], p[2], p[3]) == 0;
    }
    // the last kind is often exactly flat, and often not
    assert_in_range(zeros, SAMPLED(1000, 200), SAMPLED(19000, 3800));
}

// ---- Meetings, against separating directions in integers

typedef __int128 whole;
typedef struct corner {
    whole x[3];
} corner;

static corner difference(corner a, corner b) { return (corner){{a.x[0] - b.x[0], a.x[1] - b.x[1], a.x[2] - b.x[2]}}; }
static corner cross(corner a, corner b) {
    return (corner){
        {a.x[1] * b.x[2] - a.x[2] * b.x[1], a.x[2] * b.x[0] - a.x[0] * b.x[2], a.x[0] * b.x[1] - a.x[1] * b.x[0]}};
}

static bool is_separating(corner d, const corner *p, int first, int count) {
    whole low[2] = {0, 0}, high[2] = {0, 0};
    for (int i = 0; i < count; i++) {
        whole v = d.x[0] * p[i].x[0] + d.x[1] * p[i].x[1] + d.x[2] * p[i].x[2];
        int set = i >= first;
        bool new = i == 0 || i == first;
        if (new || v < low[set]) low[set] = v;
        if (new || v > high[set]) high[set] = v;
    }
    return high[0] < low[1] || high[1] < low[0];
}

// The shortest way between two convex sets joins corners, sides or faces, and is made of their corners' differences.
static bool are_apart(const corner *p, int first, int count) {
    corner w[10];
    int n = 0;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++) w[n++] = difference(p[i], p[j]);
    for (int i = 0; i < n; i++)
        if (is_separating(w[i], p, first, count)) return true;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            corner c = cross(w[i], w[j]);
            if (is_separating(c, p, first, count)) return true;
            for (int k = 0; k < n; k++)
                if (is_separating(cross(w[k], c), p, first, count)) return true;
        }
    return false;
}

// Corners on a tiny grid, which makes every kind of degenerate position, or around 1 with steps of its last bit.
static void check_grid(int most, double step, double offset, int rounds) {
    int seen[3] = {0}, segments[2] = {0};
    for (int n = 0; n < rounds; n++) {
        corner g[5];
        double x[5][3];
        for (int i = 0; i < 15; i++) {
            g[i / 3].x[i % 3] = small(most);
            x[i / 3][i % 3] = offset + step * (double)g[i / 3].x[i % 3];
        }
        if (n % 3 == 0)  // all in a plane
            for (int i = 0; i < 5; i++) {
                g[i].x[2] = 0;
                x[i][2] = offset;
            }
        rbt_meeting m = rbt_segment_meets_triangle(x[0], x[1], x[2], x[3], x[4]);
        assert_int_equal(m == RBT_APART, are_apart(g, 2, 5));
        seen[m]++;
        assert_int_equal(m, rbt_segment_meets_triangle(x[1], x[0], x[4], x[2], x[3]));
        bool meet = rbt_segments_meet(x[0], x[1], x[2], x[3]);
        assert_int_equal(meet, !are_apart(g, 2, 4));
        segments[meet]++;
        // Beyond the shared corner: the segment with its beginning cut off still meets the triangle.
        corner cut[5] = {{{0}}, g[1], g[2], g[3], g[4]};
        for (int i = 1; i < 5; i++)
            for (int k = 0; k < 3; k++) cut[i].x[k] *= 4096;
        for (int k = 0; k < 3; k++) cut[0].x[k] = cut[2].x[k] + (cut[1].x[k] - cut[2].x[k]) / 4096;
        bool at_corner = memcmp(&g[1], &g[2], sizeof g[1]) == 0;
        bool overlaps = rbt_corner_segment_overlaps(x[1], x[2], x[3], x[4]);
        assert_int_equal(overlaps, !at_corner && !are_apart(cut, 2, 5));
    }
    for (int m = 0; m < 3; m++) assert_true(seen[m] > rounds / 200);
    for (int m = 0; m < 2; m++) assert_true(segments[m] > rounds / 200);
}

static void test_meetings_on_grids(void **state) {
    (void)state;
    check_grid(1, 1, 0, 2500);
    check_grid(2, 1, 0, 2500);
    check_grid(3, 0x1p-52, 1, 2500);
    check_grid(5, 0x1p-1074, 0, 1000);
    check_grid(4, 0x1p1000, 0, 1000);
}

static void test_kinds_of_meetings(void **state) {
    (void)state;
    const double a[3] = {0, 0, 0}, b[3] = {1, 0, 0}, c[3] = {0, 1, 0}, p[3] = {0.25, 0.25, -1},
                 q[3] = {0.25, 0.25, 1};
    assert_int_equal(rbt_segment_meets_triangle(p, q, a, b, c), RBT_CROSSING);
    const double on[3] = {0.25, 0.25, 0}, over[3] = {0.25, 0.25, 0x1p-1074};
    assert_int_equal(rbt_segment_meets_triangle(on, q, a, b, c), RBT_TOUCHING);
    assert_int_equal(rbt_segment_meets_triangle(over, q, a, b, c), RBT_APART);
    const double side_p[3] = {0.5, 0.5, -1}, side_q[3] = {0.5, 0.5, 1}, out_q[3] = {nextafter(0.5, 1), 0.5, 1};
    const double out_p[3] = {nextafter(0.5, 1), 0.5, -1};
    assert_int_equal(rbt_segment_meets_triangle(side_p, side_q, a, b, c), RBT_TOUCHING);
    assert_int_equal(rbt_segment_meets_triangle(out_p, out_q, a, b, c), RBT_APART);
    const double beside[3] = {-1, -1, 0}, inside[3] = {0.5, 0.25, 0}, above[3] = {0.5, 0.25, 1};
    assert_true(rbt_corner_segment_overlaps(inside, a, b, c));
    assert_false(rbt_corner_segment_overlaps(beside, a, b, c));
    assert_false(rbt_corner_segment_overlaps(above, a, b, c));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signs_of_any_doubles),
        cmocka_unit_test(test_signs_near_and_on_planes),
        cmocka_unit_test(test_meetings_on_grids),
        cmocka_unit_test(test_kinds_of_meetings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
