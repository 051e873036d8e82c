// Pairs in motion: contacts constructed to happen exactly, misses by one unit in the last place, motion within a
// plane, and random motion on coarse grids. There a "no" is proved in another way, by directions that separate the
// pair during ever shorter spans of time, and a "yes" by the place where they are at the time given.
#include "math/exact.h"
#include "math/vec3.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "random.h"

static bool meet(const rbt_paths *p, rbt_pair_kind kind) {
    double when;
    bool found = rbt_paths_meet(p, kind, &when);
    if (found) assert_false(rbt_paths_apart(p, kind, 0, 1));
    return found;
}

// ---- Contacts that are known

// Four points in contact (coordinates are small whole numbers over 16), velocities on a grid, contact at k / 8: all
// exact.
static void put_in_contact(double x[4][3], rbt_pair_kind kind) {
    int s = (int)(draw() % 5), v = (int)(draw() % 5);
    for (int i = 0; i < 12; i++) x[i / 3][i % 3] = small(6);
    if (kind == RBT_VERTEX_TRIANGLE && s + v > 4) v = 4 - s;
    for (int k = 0; k < 3; k++) {
        if (kind == RBT_VERTEX_TRIANGLE)
            x[0][k] = x[1][k] + s * (x[2][k] - x[1][k]) / 4 + v * (x[3][k] - x[1][k]) / 4;
        else {  // x0 + s/4 (x1 - x0) = x2 + v/4 (x3 - x2): both are moved
            double shift = x[0][k] + s * (x[1][k] - x[0][k]) / 4 - x[2][k] - v * (x[3][k] - x[2][k]) / 4;
            x[2][k] += shift;
            x[3][k] += shift;
        }
    }
}

static void test_contacts_are_found(void **state) {
    (void)state;
    for (int n = 0; n < 1500; n++) {
        rbt_pair_kind kind = n % 2 ? RBT_EDGE_EDGE : RBT_VERTEX_TRIANGLE;
        rbt_paths p;
        double x[4][3], t = (double)(draw() % 9) / 8;
        put_in_contact(x, kind);
        bool flat = n % 3 == 0;  // within a plane all the time
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 3; k++) {
                double v = small(16);
                p.from[i][k] = x[i][k] - t * v;
                p.to[i][k] = x[i][k] + (1 - t) * v;
                if (flat && k == 1) p.from[i][k] = p.to[i][k] = 0.75;
            }
        assert_true(meet(&p, kind));
    }
}

// A vertex that grazes a corner or a side of the triangle z = 0, or passes outside by one unit in the last place.
static void test_misses_by_the_last_bit(void **state) {
    (void)state;
    static const double at[4][3] = {{1, 1, 0}, {1.5, 1, 0}, {1.5, 1.5, 0}, {2, 1, 0}};  // corner, side, slant, corner
    static const int away[4][2] = {{-1, 0}, {0, -1}, {1, 0}, {1, 0}};
    for (int n = 0; n < 400; n++) {
        int which = n % 4;
        rbt_paths p = {{{0}, {1, 1, 0}, {2, 1, 0}, {1, 2, 0}}, {{0}, {1, 1, 0}, {2, 1, 0}, {1, 2, 0}}};
        double drop = 1 + (double)(draw() % 7);
        for (int k = 0; k < 3; k++) p.from[0][k] = p.to[0][k] = at[which][k];
        p.from[0][2] = drop;
        p.to[0][2] = -3 * drop;
        assert_true(meet(&p, RBT_VERTEX_TRIANGLE));
        for (int k = 0; k < 2; k++)
            if (away[which][k])
                p.from[0][k] = p.to[0][k] = nextafter(at[which][k], away[which][k] > 0 ? INFINITY : -INFINITY);
        assert_false(meet(&p, RBT_VERTEX_TRIANGLE));
    }
    // Straight down onto the face, just reaching it or not.
    rbt_paths p = {{{0.25, 0.25, 1}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}},
                   {{0.25, 0.25, 0}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}}};
    assert_true(meet(&p, RBT_VERTEX_TRIANGLE));
    p.to[0][2] = 0x1p-1074;
    assert_false(meet(&p, RBT_VERTEX_TRIANGLE));
    // One edge sinks through another.
    rbt_paths sink = {{{-1, 0, 0}, {1, 0, 0}, {-1, -1, 1}, {1, 1, 1}},
                      {{-1, 0, 0}, {1, 0, 0}, {-1, -1, -1}, {1, 1, -1}}};
    assert_true(meet(&sink, RBT_EDGE_EDGE));
}

// In one plane at irrational times. The triangle's plane is y = t x and turns; its side away from the origin is x + z
// = 4.
static void test_irrational_times(void **state) {
    (void)state;
    rbt_paths p = {{{-2, -1, 0.25}, {0, 0, 0}, {4, 0, 0}, {0, 0, 4}},
                   {{3, 1, 0.25}, {0, 0, 0}, {4, 4, 0}, {0, 0, 4}}};
    // The vertex has x = -2 + 5 t, y = -1 + 2 t: in the plane if 5 t^2 - 4 t + 1 = 0, which is never.
    assert_false(meet(&p, RBT_VERTEX_TRIANGLE));
    p.to[0][0] = 0.5;  // x = -2 + 2.5 t: 2.5 t^2 - 4 t + 1 = 0, t = (4 - sqrt 6) / 5, x = -1.2: outside
    assert_false(meet(&p, RBT_VERTEX_TRIANGLE));
    p.from[0][0] = 2;  // x = 2 - 1.5 t: t = sqrt(2/3), x = 0.775: inside
    double when;
    assert_true(rbt_paths_meet(&p, RBT_VERTEX_TRIANGLE, &when));
    assert_true(fabs(when - sqrt(2.0 / 3)) < 1e-8);
    // With z = 4 - x it meets the side itself, exactly; a bit further out it does not.
    p.from[0][2] = 2;
    p.to[0][2] = 3.5;
    assert_true(meet(&p, RBT_VERTEX_TRIANGLE));
    p.from[0][2] = nextafter(2, 3);
    assert_false(meet(&p, RBT_VERTEX_TRIANGLE));
    p.from[0][2] = nextafter(2, 1);
    assert_true(meet(&p, RBT_VERTEX_TRIANGLE));
}

// ---- Against points at rest

// Seen from a triangle that keeps its shape, a vertex draws a segment; seen from an edge, another that keeps its
// shape draws a parallelogram. So the answers must be those for points at rest, in every degenerate position of a
// small grid, whether its step is 1 or the last bit, and however all of it moves along.
static void check_against_rest(int most, double step, double offset, int rounds) {
    int found = 0;
    for (int n = 0; n < rounds; n++) {
        double x[4][3], shift[3], common[3], to[4][3];
        rbt_pair_kind kind = n % 2 ? RBT_EDGE_EDGE : RBT_VERTEX_TRIANGLE;
        int movers = kind == RBT_EDGE_EDGE ? 2 : 1;
        rbt_paths p;
        for (int k = 0; k < 3; k++) {
            shift[k] = step * small(2 * most);
            common[k] = step * small(3);
            for (int i = 0; i < 4; i++) x[i][k] = offset + (n % 3 == 0 && k == 1 ? 0 : step * small(most));
            if (n % 6 == 0 && k == 1) shift[k] = 0;  // within a plane
            for (int i = 0; i < 4; i++) {
                to[i][k] = x[i][k] + (i < movers ? shift[k] : 0);
                p.from[i][k] = x[i][k];
                p.to[i][k] = to[i][k] + common[k];
            }
        }
        bool meets = kind == RBT_VERTEX_TRIANGLE
                         ? rbt_segment_meets_triangle(x[0], to[0], x[1], x[2], x[3]) != RBT_APART
                         : rbt_segment_meets_triangle(x[2], x[3], x[0], x[1], to[1]) != RBT_APART ||
                               rbt_segment_meets_triangle(x[2], x[3], x[0], to[1], to[0]) != RBT_APART;
        assert_int_equal(meet(&p, kind), meets);
        found += meets;
    }
    assert_in_range(found, rounds / 20, rounds * 19 / 20);
}

static void test_shapes_that_move_stiffly(void **state) {
    (void)state;
    check_against_rest(1, 1, 0, 800);
    check_against_rest(3, 1, 0, 800);
    check_against_rest(3, 0x1p-52, 1, 800);
    check_against_rest(4, 0x1p-1074, 0, 400);
    check_against_rest(4, 0x1p600, 0, 400);
}

// ---- Random motion

// Of p to the segment a b
static double to_segment(const double p[3], const double a[3], const double b[3]) {
    double u[3], r[3];
    rbt_subtract(b, a, u);
    rbt_subtract(p, a, r);
    double uu = rbt_dot(u, u), s = uu > 0 ? fmin(1, fmax(0, rbt_dot(u, r) / uu)) : 0;
    rbt_add_scaled(r, -s, u);
    return rbt_length(r);
}

// The least of what corners and sides give and, if the foot lies inside, of the distance between the planes.
static double distance_at(const rbt_paths *p, rbt_pair_kind kind, double t) {
    double x[4][3], u[3], v[3], r[3], n[3], c[3], e[3];
    for (int i = 0; i < 12; i++) x[i / 3][i % 3] = (1 - t) * p->from[i / 3][i % 3] + t * p->to[i / 3][i % 3];
    bool face = kind == RBT_VERTEX_TRIANGLE;
    double best = fmin(to_segment(x[0], x[2], x[3]), to_segment(x[1 - face], face ? x[1] : x[2], x[3]));
    best = fmin(best, face ? to_segment(x[0], x[1], x[2]) : to_segment(x[2], x[0], x[1]));
    if (!face) best = fmin(best, to_segment(x[3], x[0], x[1]));
    rbt_subtract(face ? x[2] : x[1], face ? x[1] : x[0], u);
    rbt_subtract(x[3], face ? x[1] : x[2], v);
    rbt_subtract(face ? x[0] : x[2], face ? x[1] : x[0], r);
    rbt_cross(u, v, n);
    double nn = rbt_dot(n, n);
    if (nn < 1e-20) return best;
    rbt_cross(r, v, c);
    rbt_cross(face ? u : r, face ? r : u, e);
    double s = rbt_dot(c, n) / nn, w = rbt_dot(e, n) / nn;
    bool inside = s >= 0 && w >= 0 && (face ? s + w <= 1 : s <= 1 && w <= 1);
    return inside ? fmin(best, fabs(rbt_dot(r, n)) / sqrt(nn)) : best;
}

// Spans of time down to 2^-18; false if one of these is left.
static bool proved_apart(const rbt_paths *p, rbt_pair_kind kind, double begin, double end) {
    if (rbt_paths_apart(p, kind, begin, end)) return true;
    if (end - begin < 0x1p-17) return false;
    double middle = 0.5 * (begin + end);
    return proved_apart(p, kind, begin, middle) && proved_apart(p, kind, middle, end);
}

static void test_random_motion(void **state) {
    (void)state;
    int found = 0, quick = 0, rounds = 2000;
    for (int n = 0; n < rounds; n++) {
        rbt_pair_kind kind = n % 2 ? RBT_EDGE_EDGE : RBT_VERTEX_TRIANGLE;
        rbt_paths p;
        int most = 1 + n % 4;
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 3; k++) {
                p.from[i][k] = n % 5 ? small(most) : 2 * unit() - 1;
                p.to[i][k] = n % 5 ? small(most) : 2 * unit() - 1;
                if (n % 7 == 0 && k == 2) p.from[i][k] = p.to[i][k] = 0;          // in a plane
                if (n % 7 == 1 && k > 0) p.from[i][k] = p.to[i][k] = 0;           // on a line
                if (n % 7 == 2 && i == 3) p.from[i][k] = p.from[2][k];            // a side opens from nothing
                if (n % 7 == 3) p.to[i][k] = p.from[i][k] + (i < 2 ? 2 - k : 0);  // halves move stiffly
            }
        double when;
        if (rbt_paths_meet(&p, kind, &when)) {
            found++;
            assert_true(distance_at(&p, kind, when) < 1e-5);
            assert_false(rbt_paths_apart(&p, kind, 0, 1));
        } else {
            quick += rbt_paths_apart(&p, kind, 0, 1);
            assert_true(proved_apart(&p, kind, 0, 1));
        }
    }
    assert_in_range(found, rounds / 5, rounds * 4 / 5);
    assert_true(quick > (rounds - found) * 9 / 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contacts_are_found), cmocka_unit_test(test_misses_by_the_last_bit),
        cmocka_unit_test(test_irrational_times),   cmocka_unit_test(test_shapes_that_move_stiffly),
        cmocka_unit_test(test_random_motion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
