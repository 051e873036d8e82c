// The continuous test against exact predicates: never late, whatever the pair; never early where nothing comes within
// reach; and how early elsewhere. bench/tools/ccd_study.c does the first with millions of pairs.
#include "contact/ccd/additive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "ccd_pairs.h"
#include "random.h"
#include "sampled.h"

static double ask(const ccd_pair *p) {
    return rbt_ccd_pair(p->kind, p->x, p->y, p->inside, p->reach, p->kind == RBT_TOUCH_WALL ? p->wall : NULL);
}

static ccd_pair drawn(int n, ccd_class class) {
    return ccd_draw(&random_test_stream, (rbt_touch_kind)(n % CCD_KINDS), class);
}

static void assert_within(double value, double low, double high) {
    if (!(value >= low && value <= high)) fail_msg("%.17g is not within %.17g and %.17g", value, low, high);
}

static void test_never_late(void **state) {
    (void)state;
    enum { EACH = SAMPLED(10000, 1000) };
    for (int class = 0; class < CCD_CLASSES; class ++) {
        ccd_counts c = {0};
        long impacts = 0, soon = 0;
        for (int n = 0; n < EACH; n++) {
            ccd_pair p = drawn(n, (ccd_class) class);
            ccd_count(&random_test_stream, &p, ask(&p), &c);
        }
        for (int b = 0; b < CCD_BINS; b++) impacts += c.early[b], soon += b < 8 ? c.early[b] : 0;
        printf(
            "%-9s passed %ld, stopped %ld (%ld before an impact, %ld of them below 0.8 of its time), refused %ld\n",
            CCD_CLASS_NAMES[class], c.passed, c.stopped, impacts, soon, c.refused);
        assert_int_equal(c.late, 0);
        assert_int_equal(c.far, 0);
        assert_int_equal(c.needless, 0);
        assert_true(c.undecided < EACH / SAMPLED(200, 50));
        assert_true(c.passed > EACH / 20 && c.stopped > EACH / 20);  // both answers are judged
        // Half of the walls begin on the wrong side.
        if (class != CCD_REPEATED && class != CCD_ROUNDING) assert_true(c.refused < EACH / 4);
    }
}

// The distance of samples and the speed between them bound it from below; a reach below that is never entered.
static void test_out_of_reach(void **state) {
    (void)state;
    enum { SAMPLES = 60 };
    int asked = 0;
    for (int n = 0; n < 12000; n++) {
        ccd_pair p = drawn(n, n % 2 ? CCD_TURNING : CCD_RANDOM);
        int first = rbt_pair_first(p.kind), corners = rbt_pair_corners(p.kind);
        double least = INFINITY, fastest = 0, x[12];
        for (int i = 0; i < first; i++)
            for (int j = first; j < corners; j++) {
                double d[3];
                for (int k = 0; k < 3; k++) d[k] = p.y[3 * i + k] - p.x[3 * i + k] - p.y[3 * j + k] + p.x[3 * j + k];
                fastest = fmax(fastest, rbt_length(d));
            }
        for (int s = 0; s <= SAMPLES; s++) {
            ccd_at(&p, p.y, (double)s / SAMPLES, x);
            least = fmin(least, ccd_distance(&p, x));
        }
        p.reach = least - 0.5 * fastest / SAMPLES - p.inside;
        if (p.reach < 1e-6) continue;
        asked++;
        assert_true(ask(&p) == 1);
        p.reach *= 1e-3;  // so for any smaller one
        assert_true(ask(&p) == 1);
    }
    assert_true(asked > 4000);
}

// What is left at every time, and that no more is left than the share at which advances cease to pay. Rounding: 64 e of
// sizes of 100 at most.
static void test_what_is_kept(void **state) {
    (void)state;
    const double rounding = 64 * DBL_EPSILON * 100;
    int stopped = 0;
    for (int n = 0; n < 20000; n++) {
        ccd_pair p = drawn(n, n % 2 ? CCD_TURNING : CCD_RANDOM);
        double first = ccd_distance(&p, p.x) - p.inside, t = ask(&p), y[12], x[12];
        double kept = RBT_CCD_KEEP * fmin(first, p.reach);
        if (!(t > 0) || first < 1e-6) continue;
        ccd_store(&p, t, false, y);
        for (int s = 0; s <= 10; s++) {
            ccd_at(&p, y, s / 10.0, x);
            assert_within(ccd_distance(&p, x) - p.inside, kept * 0.998 - rounding, INFINITY);
        }
        if (t == 1) continue;
        stopped++;
        assert_within(ccd_distance(&p, y) - p.inside, 0, 1.21 * kept + rounding);
    }
    assert_true(stopped > 1000);
}

static void test_known_times(void **state) {
    (void)state;
    const double up[3] = {0, 0, 1};
    const double x[12] = {0.25, 0.25, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0};
    double y[12];
    memcpy(y, x, sizeof y);
    y[2] = -1;  // falls from 1 to -1; 0.1 of the gap is left
    assert_within(rbt_ccd_pair(RBT_TOUCH_FACE, x, y, 0, 1, NULL), 0.45 - 1e-14, 0.45);
    assert_within(rbt_ccd_pair(RBT_TOUCH_FACE, x, y, 0, 0.1, NULL), 0.495 - 1e-14, 0.495);
    assert_within(rbt_ccd_pair(RBT_TOUCH_FACE, x, y, 0.5, 1, NULL), 0.225 - 1e-14, 0.225);
    assert_within(rbt_ccd_pair(RBT_TOUCH_WALL, x, y, 0.5, 1, up), 0.225 - 1e-14, 0.225);
    y[2] = 0.11;
    assert_true(rbt_ccd_pair(RBT_TOUCH_FACE, x, y, 0, 1, NULL) == 1);
    assert_true(rbt_ccd_pair(RBT_TOUCH_WALL, x, y, 0, 1, up) == 1);
    // Two balls pass at a distance of 1, seen from something that moves: 0.1 of the reach is left, 0.5 + 0.01.
    const double a[12] = {-10, 1, 0, 0, 0, 0}, b[12] = {17, 8, 7, 7, 7, 7};
    assert_true(rbt_ccd_pair(RBT_TOUCH_POINT, a, b, 0.5, 0.4, NULL) == 1);
    double meets = (10 - sqrt(1.21 * 1.21 - 1)) / 20;
    assert_within(rbt_ccd_pair(RBT_TOUCH_POINT, a, b, 1.2, 0.1, NULL), 0.99 * meets, meets + 1e-12);
    // An edge sinks onto another.
    const double e[12] = {-1, 0, 1, 1, 0, 1, 0, -1, 0, 0, 1, 0}, f[12] = {-1, 0, -1, 1, 0, -1, 0, -1, 0, 0, 1, 0};
    assert_within(rbt_ccd_pair(RBT_TOUCH_EDGES, e, f, 0, 1, NULL), 0.45 - 1e-14, 0.45);
}

// Powers of two round nothing.
static void test_scales(void **state) {
    (void)state;
    for (int n = 0; n < 5000; n++) {
        ccd_pair p = drawn(n, (ccd_class)(n % CCD_CLASSES)), q = p;
        double t = ask(&p);
        for (int exponent = -120; exponent <= 120; exponent += 80) {
            for (int j = 0; j < 12; j++) q.x[j] = ldexp(p.x[j], exponent), q.y[j] = ldexp(p.y[j], exponent);
            q.inside = ldexp(p.inside, exponent);
            q.reach = ldexp(p.reach, exponent);
            assert_true(ask(&q) == t);
        }
    }
}

static void test_bad_numbers(void **state) {
    (void)state;
    static const double BAD[] = {NAN, INFINITY, -INFINITY, 1e200, DBL_MAX};
    for (int n = 0; n < 2000; n++) {
        ccd_pair p = drawn(n, CCD_RANDOM);
        for (int j = 0; j < 3 * rbt_pair_corners(p.kind); j++) {
            ccd_pair q = p;
            q.x[j] = BAD[n % 5];
            assert_true(ask(&q) == 0);
            q = p;
            q.y[j] = BAD[n % 5];
            assert_true(ask(&q) == 0);
        }
        ccd_pair q = p;
        q.inside = n % 2 ? NAN : -1;
        assert_true(ask(&q) == 0);
        q = p;
        q.reach = n % 2 ? NAN : -1;
        assert_true(ask(&q) == 0);
        q = p;  // at rest: 1 unless they touch
        memcpy(q.y, q.x, sizeof q.y);
        assert_true(ask(&q) == (ccd_distance(&p, p.x) > p.inside));
        q.reach = INFINITY;
        assert_true(ask(&q) == (ccd_distance(&p, p.x) > p.inside));
        for (int j = 0; j < 12; j++) q.x[j] = q.y[j] = 0.3;  // all at one point
        assert_true(ask(&q) == 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_never_late),  cmocka_unit_test(test_out_of_reach), cmocka_unit_test(test_what_is_kept),
        cmocka_unit_test(test_known_times), cmocka_unit_test(test_scales),       cmocka_unit_test(test_bad_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
