// Sums that do not depend on the order of what is added: against sums in quadruple precision, in any order and in any
// pieces, with numbers of all sizes.
#include "math/sum.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "random.h"

enum { COUNT = 5000 };

static void fill(double *values, double range) {
    for (size_t i = 0; i < COUNT; i++) values[i] = ldexp(uniform(-1, 1), (int)uniform(-range, range));
}

static void shuffle(double *a, double *b) {
    for (size_t i = COUNT; i-- > 1;) {
        size_t k = (size_t)uniform(0, (double)i + 1);
        double keep = a[i];
        a[i] = a[k], a[k] = keep;
        keep = b[i];
        b[i] = b[k], b[k] = keep;
    }
}

// What is dropped of each number is at most half a unit of the third place, 2^-60 of the largest number or less.
static void sums_are_exact(void **state) {
    (void)state;
    static double values[COUNT];
    for (int range = 1; range < 900; range += 149) {
        __float128 exact = 0;
        double most = 0;
        fill(values, range);
        for (size_t i = 0; i < COUNT; i++) exact += values[i], most = fmax(most, fabs(values[i]));
        double bound = COUNT * ldexp(most, -59) + ldexp(fabs((double)exact), -52);
        assert_true(fabs((double)(rbt_sum_of(values, COUNT) - exact)) <= bound);
    }
}

static void order_does_not_matter(void **state) {
    (void)state;
    static double a[COUNT], b[COUNT];
    for (int turn = 0; turn < 30; turn++) {
        fill(a, 10 * turn);
        fill(b, 3);
        double whole = rbt_sum_dot(a, b, COUNT);
        shuffle(a, b);
        rbt_sum part[7] = {0}, sum = {0};
        size_t at = 0;
        for (size_t p = 0; p < 7; p++) {
            size_t count = p < 6 ? (size_t)uniform(0, COUNT / 6) : COUNT - at;
            rbt_sum_add_products(&part[p], a + at, b + at, count);
            at += count;
        }
        for (size_t p = 7; p-- > 0;) rbt_sum_join(&sum, &part[p]);
        assert_true(rbt_sum_value(&sum) == whole);
        rbt_sum one = {0};
        for (size_t i = COUNT; i-- > 0;) rbt_sum_add_one(&one, a[i] * b[i]);
        assert_true(rbt_sum_value(&one) == whole);
    }
}

static void odd_numbers(void **state) {
    (void)state;
    const double zeros[] = {0, -0.0, 0}, tiny[] = {5e-324, -5e-324, 1e-300}, huge[] = {1e280, -1e280, 3};
    const double bad[][3] = {{1, NAN, 2}, {INFINITY, 1, 1}, {1, -INFINITY, INFINITY}, {NAN, NAN, NAN}};
    assert_true(rbt_sum_of(zeros, 3) == 0 && rbt_sum_of(NULL, 0) == 0);
    assert_true(fabs(rbt_sum_of(tiny, 3) - 1e-300) <= 1e-280);
    assert_true(rbt_sum_of(huge, 2) == 0);
    for (size_t i = 0; i < 4; i++) {
        assert_true(isnan(rbt_sum_of(bad[i], 3)));
        rbt_sum sum = {0}, other = {0};
        rbt_sum_add(&sum, bad[i], 3);
        rbt_sum_add_one(&other, 7);
        rbt_sum_join(&other, &sum);
        assert_true(isnan(rbt_sum_value(&other)));
        rbt_sum_add_one(&sum, 7);
        assert_true(isnan(rbt_sum_value(&sum)));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_exact),
        cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(odd_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
