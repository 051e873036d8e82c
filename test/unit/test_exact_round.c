// Balls, rods and planes: distances that are known exactly, to the last digit of a radius; random pairs against their
// nearest points by a search that knows no cases; ways against dense samples of them.
#include "math/exact_round.h"
#include "math/vec3.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "random.h"

// ---- Known distances

// Turns small whole points by a quaternion of whole numbers: they stay whole, and lengths grow by the square of its
// size.
static double turn(const int q[4], double x[3]) {
    double a = q[0], b = q[1], c = q[2], d = q[3], y[3] = {x[0], x[1], x[2]};
    const double m[9] = {a * a + b * b - c * c - d * d, 2 * (b * c - a * d),           2 * (b * d + a * c),
                         2 * (b * c + a * d),           a * a - b * b + c * c - d * d, 2 * (c * d - a * b),
                         2 * (b * d - a * c),           2 * (c * d + a * b),           a * a - b * b - c * c + d * d};
    for (int k = 0; k < 3; k++) x[k] = rbt_dot(m + 3 * k, y);
    return a * a + b * b + c * c + d * d;
}

static void check_distance(rbt_round_pair pair, double distance) {
    for (int n = 0; n < 40; n++) {
        int q[4] = {1 + (int)(draw() % 5), small(5), small(5), small(5)};
        double shift[3] = {small(1000), small(1000), small(1000)}, scale = 1;
        rbt_round_pair turned = pair;
        for (int i = 0; i < pair.count[0] + pair.count[1]; i++) {
            scale = turn(q, turned.from[i]);
            for (int k = 0; k < 3; k++) turned.from[i][k] = 0x1p-20 * (turned.from[i][k] + shift[k]);
        }
        double radius = 0x1p-20 * scale * distance;
        turned.other_radius = n % 2 ? 0.25 * radius : 0;
        turned.radius = radius - turned.other_radius;
        assert_int_equal(rbt_round_meets(&turned), RBT_TOUCHING);
        turned.radius = nextafter(turned.radius, 0);
        assert_int_equal(rbt_round_meets(&turned), RBT_APART);
        turned.radius = nextafter(nextafter(turned.radius, INFINITY), INFINITY);
        assert_int_equal(rbt_round_meets(&turned), RBT_CROSSING);
    }
}

static void test_known_distances(void **state) {
    (void)state;
    check_distance((rbt_round_pair){{1, 1}, .from = {{0, 0, 0}, {2, 3, 6}}}, 7);
    check_distance((rbt_round_pair){{1, 2}, .from = {{3, 4, 0}, {0, 0, -5}, {0, 0, 9}}}, 5);
    check_distance((rbt_round_pair){{1, 2}, .from = {{3, 4, 11}, {0, 0, -5}, {0, 0, -1}}}, 13);
    check_distance((rbt_round_pair){{1, 3}, .from = {{1, 1, 5}, {-7, -7, 0}, {9, -7, 0}, {0, 8, 0}}}, 5);
    check_distance((rbt_round_pair){{1, 3}, .from = {{2, -11, 3}, {-7, -7, 0}, {9, -7, 0}, {0, 8, 0}}}, 5);
    check_distance((rbt_round_pair){{2, 1}, .from = {{0, 0, -5}, {0, 0, 9}, {3, 4, 0}}}, 5);
    check_distance((rbt_round_pair){{2, 2}, .from = {{-3, 0, 0}, {5, 0, 0}, {1, -4, 6}, {1, 9, 6}}}, 6);
    check_distance((rbt_round_pair){{2, 2}, .from = {{-3, 0, 0}, {5, 0, 0}, {0, 3, 4}, {7, 3, 4}}}, 5);
    check_distance((rbt_round_pair){{2, 3}, .from = {{0, 0, 3}, {1, 1, 9}, {-7, -7, 0}, {9, -7, 0}, {0, 8, 0}}}, 3);
    check_distance((rbt_round_pair){{2, 3}, .from = {{-9, 1, 3}, {9, 1, 3}, {-7, -7, 0}, {9, -7, 0}, {0, 8, 0}}}, 3);
}

static void test_points_without_radius(void **state) {
    (void)state;
    rbt_round_pair pair = {{1, 3}, .from = {{0.25, 0.25, 0}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}}};
    assert_int_equal(rbt_round_meets(&pair), RBT_TOUCHING);
    pair.from[0][2] = 0x1p-1074;
    assert_int_equal(rbt_round_meets(&pair), RBT_APART);
    pair = (rbt_round_pair){
        {2, 3}, .from = {{0.25, 0.25, -3}, {0.25, 0.25, 3}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, .radius = 0x1p-60};
    assert_int_equal(rbt_round_meets(&pair), RBT_CROSSING);  // right through, whatever the ends are away
}

static void test_planes(void **state) {
    (void)state;
    for (int n = 0; n < 200; n++) {  // (1, 2, 2) has length 3
        double p[3] = {small(99), small(99), small(99)}, normal[3] = {7, 14, 14},
               height = 0x1p-30 * (1 + (int)(draw() % 1000000)), x[3];
        double across[3] = {2 * small(50), -small(50), 0};
        across[2] = -0.5 * across[0] - across[1];
        for (int k = 0; k < 3; k++) x[k] = p[k] + across[k] + height * normal[k] / 7;
        assert_int_equal(rbt_ball_above(x, 3 * height, p, normal), 0);
        assert_int_equal(rbt_ball_above(x, nextafter(3 * height, 0), p, normal), 1);
        assert_int_equal(rbt_ball_above(x, nextafter(3 * height, 1), p, normal), -1);
        for (int k = 0; k < 3; k++) x[k] = p[k] + across[k];
        assert_int_equal(rbt_ball_above(x, 0, p, normal), 0);
        assert_int_equal(rbt_ball_above(x, 1e-300, p, normal), -1);
        x[0] = nextafter(x[0], INFINITY);
        assert_int_equal(rbt_ball_above(x, 0, p, normal), 1);
    }
}

// ---- Any pairs

// The weights with which `count` points, at most four, come nearest to the origin in the flat that they span, by
// elimination; false if the points span less, or if a weight is negative.
static bool nearest_in_flat(double (*const p)[3], const int *of, int count, double at[3]) {
    double A[5][6] = {{0}};  // [p_i.p_j 1; 1 0] (w, mu) = (0, 1)
    double size = 0;
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < count; j++) A[i][j] = rbt_dot(p[of[i]], p[of[j]]);
        size = fmax(size, A[i][i]);
    }
    for (int i = 0; i < count; i++) A[i][count] = A[count][i] = size;
    A[count][count + 1] = size;
    for (int c = 0; c <= count; c++) {
        int pivot = c;
        for (int r = c; r <= count; r++)
            if (fabs(A[r][c]) > fabs(A[pivot][c])) pivot = r;
        if (!(fabs(A[pivot][c]) > 1e-13 * size)) return false;
        for (int k = 0; k <= count + 1; k++) {
            double swap = A[c][k];
            A[c][k] = A[pivot][k];
            A[pivot][k] = swap;
        }
        for (int r = 0; r <= count; r++)
            for (int k = count + 1; r != c && k >= c; k--) A[r][k] -= A[r][c] / A[c][c] * A[c][k];
    }
    memset(at, 0, 3 * sizeof *at);
    for (int i = 0; i < count; i++) {
        double w = A[i][count + 1] / A[i][i];
        if (w < 0) return false;
        rbt_add_scaled(at, w, p[of[i]]);
    }
    return true;
}

// The least distance: the point nearest to the origin in the hull of all differences of corners lies in the flat of
// at most three of them with weights that are not negative, or is the origin, among four (Caratheodory). All are
// tried; none of them is nearer than the nearest.
static double min_distance(const rbt_round_pair *pair, const double (*x)[3]) {
    double p[6][3], at[3], best = INFINITY;
    int n = 0;
    for (int i = 0; i < pair->count[0]; i++)
        for (int j = 0; j < pair->count[1]; j++) rbt_subtract(x[i], x[pair->count[0] + j], p[n++]);
    for (int set = 1; set < 1 << n; set++) {
        int of[6], count = 0;
        for (int i = 0; i < n; i++)
            if (set >> i & 1) of[count++] = i;
        if (count <= 4 && nearest_in_flat(p, of, count, at)) best = fmin(best, rbt_length(at));
    }
    return best;
}

static rbt_round_pair random_pair(int kind) {
    rbt_round_pair pair = {{1 + kind % 2, 1 + kind / 2}, .radius = 0};
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 3; k++) {
            pair.from[i][k] = unit() + (i < pair.count[0] ? 0.7 * (k == 1) : 0);
            pair.to[i][k] = pair.from[i][k] + 3 * (unit() - 0.5);
        }
    return pair;
}

static void test_random_pairs(void **state) {
    (void)state;
    int judged = 0;
    for (int n = 0; n < 120; n++) {
        rbt_round_pair pair = random_pair(n % 6);
        double distance = min_distance(&pair, (const double(*)[3])pair.from);
        if (distance < 1e-4) continue;  // crossing, or nearly
        judged++;
        pair.radius = distance * (1 - 1e-6);
        pair.other_radius = 0;
        assert_int_equal(rbt_round_meets(&pair), RBT_APART);
        pair.other_radius = distance * 2e-6;
        assert_int_equal(rbt_round_meets(&pair), RBT_CROSSING);
    }
    assert_true(judged >= 90);  // of six kinds only rods and triangles can cross
}

// ---- Ways

static void test_passing_by(void **state) {
    (void)state;
    double when;
    for (int n = 0; n < 200; n++) {  // past each other at a known distance, seen from something that moves itself
        double by = 0.1 + unit(), speed[3] = {unit(), unit(), unit()};
        rbt_round_pair pair = {{1, 1}, .from = {{-10, by, 0}, {0, 0, 0}}, .to = {{30, by, 0}, {0, 0, 0}}};
        for (int i = 0; i < 2; i++) rbt_add_scaled(pair.to[i], 1, speed);
        pair.radius = 0.5 * by;
        pair.other_radius = 0.5 * by * (1 - 1e-9);
        assert_false(rbt_round_paths_meet(&pair, &when));
        pair.other_radius = 0.5 * by * (1 + 1e-9);
        assert_true(rbt_round_paths_meet(&pair, &when));
        assert_true(fabs(when - 0.25) < 1e-4);
        pair.other_radius = by;  // reached where x = -sqrt((1.5 by)^2 - by^2)
        assert_true(rbt_round_paths_meet(&pair, &when));
        assert_true(fabs(when - (10 - by * sqrt(1.25)) / 40) < 1e-8);
    }
}

static void test_random_ways(void **state) {
    (void)state;
    enum { SAMPLES = 80 };
    int meeting = 0, apart = 0;
    for (int n = 0; n < 90; n++) {
        rbt_round_pair pair = random_pair(n % 6);
        double least = INFINITY, fastest = 0, when = -1;
        for (int i = 0; i < pair.count[0]; i++)
            for (int j = pair.count[0]; j < pair.count[0] + pair.count[1]; j++) {
                double d[3];
                for (int k = 0; k < 3; k++) d[k] = pair.to[i][k] - pair.from[i][k] - pair.to[j][k] + pair.from[j][k];
                fastest = fmax(fastest, rbt_length(d));  // the distance changes no faster
            }
        for (int s = 0; s <= SAMPLES; s++) {
            double x[5][3], t = (double)s / SAMPLES;
            for (int i = 0; i < 5; i++)
                for (int k = 0; k < 3; k++) x[i][k] = (1 - t) * pair.from[i][k] + t * pair.to[i][k];
            least = fmin(least, min_distance(&pair, (const double(*)[3])x));
        }
        pair.radius = least * (1 + 1e-6) + 1e-6;
        assert_true(rbt_round_paths_meet(&pair, &when));
        assert_true(when >= 0 && when <= 1);
        meeting++;
        pair.radius = least * (1 - 1e-6) - 0.5 * fastest / SAMPLES;  // between two samples it falls no further
        if (pair.radius < 0) continue;
        assert_false(rbt_round_paths_meet(&pair, &when));
        apart++;
    }
    assert_true(meeting == 90 && apart > 20);
}

// Sizes at which squares leave the range of numbers
static void test_extreme_sizes(void **state) {
    (void)state;
    for (int exponent = -900; exponent <= 900; exponent += 300) {
        double unit_length = ldexp(1, exponent), when;
        rbt_round_pair pair = {{1, 2}, .radius = 2 * unit_length};
        const double from[3][3] = {{-9, 3, 1}, {0, 0, 0}, {0, 5, 0}}, to[3][3] = {{9, 3, 1}, {0, 0, 0}, {0, 5, 0}};
        for (int i = 0; i < 9; i++) {
            pair.from[i / 3][i % 3] = unit_length * from[i / 3][i % 3];
            pair.to[i / 3][i % 3] = unit_length * to[i / 3][i % 3];
        }
        assert_int_equal(rbt_round_meets(&pair), RBT_APART);
        assert_true(rbt_round_paths_meet(&pair, &when));
        assert_true(fabs(when - (9 - sqrt(3)) / 18) < 1e-8);
        pair.radius = 0.999 * unit_length;
        assert_false(rbt_round_paths_meet(&pair, &when));
    }
}

// Triangles that turn as they roll around a ball, so that every direction separates them for a moment only: as a
// spinning ring of cloth did in a random run. The first stays 5.7e-7 radii away (20,001 moments, in doubles), the
// second 6e-14 (201 moments, in fractions). A ball that is larger by more than that is met.
static void test_rolling(void **state) {
    (void)state;
    static const struct {
        double from[4][3], to[4][3], gap;
    } cases[] = {{{{-0.0011295187519079907, 0.0033503711266944158, 0.00060080964498143838},
                   {-0.0012356436390359609, 0.0030506343436587681, 0.00089671886113040495},
                   {-0.0005157509385985764, 0.0028258552731561517, 0.0004373742283447508},
                   {-0.00074362125037990981, 0.0023672225118564075, -0.00051583351885437661}},
                  {{-0.001126744738351219, 0.0033406135462999568, 0.00059990107031684687},
                   {-0.0012314095125983942, 0.0030389049514552551, 0.00089387471515505932},
                   {-0.00052487972070235827, 0.0028207069487143918, 0.00043897756330118685},
                   {-0.00074808802694940305, 0.0023711056092965335, -0.0005087382974840707}},
                  6e-7},
                 {{{0.00017033983576479275, 0.0038633869620266848, 0.0014680527045224873},
                   {0.00020349282936681017, 0.0037463415618357535, 0.0022003784142788567},
                   {0.00073783922383099335, 0.0035926415658427031, 0.00177810170595723},
                   {-0.00098071650928622405, 0.0032006119922835113, 0.0010837915426962221}},
                  {{0.00017034176857202358, 0.0038633869510953768, 0.0014680526880358818},
                   {0.00020349737358017452, 0.0037463416190653704, 0.0022003782227906338},
                   {0.00073784053946602168, 0.0035926415494947784, 0.0017781017339273128},
                   {-0.00098071424198654792, 0.0032006119853008903, 0.0010837915388547247}},
                  1e-12}};
    for (size_t i = 0; i < 2; i++) {
        rbt_round_pair pair = {.count = {1, 3}, .radius = 0.0003989451651077924};
        double when;
        memcpy(pair.from, cases[i].from, sizeof cases[i].from);
        memcpy(pair.to, cases[i].to, sizeof cases[i].to);
        assert_false(rbt_round_paths_meet(&pair, &when));
        pair.radius *= 1 + cases[i].gap;
        assert_true(rbt_round_paths_meet(&pair, &when));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_distances), cmocka_unit_test(test_points_without_radius),
        cmocka_unit_test(test_planes),          cmocka_unit_test(test_random_pairs),
        cmocka_unit_test(test_passing_by),      cmocka_unit_test(test_random_ways),
        cmocka_unit_test(test_extreme_sizes),   cmocka_unit_test(test_rolling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
