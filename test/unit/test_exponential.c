// Exponentials: of small dense matrices, of one damped mode, and of large matrices times vectors.
#include "math/exponential.h"
#include "math/oscillator.h"
#include "scene.h"
#include "solve/phi.h"

#include <math.h>

#include "random.h"

// ---- Small dense matrices

static void rotations_and_blocks_are_exact(void **state) {
    (void)state;
    double work[RBT_EXPONENTIAL_WORK * 9];
    static const double angles[] = {1e-8, 0.3, 5, 100};
    for (int i = 0; i < 4; i++) {
        double a = angles[i], A[9] = {0, -a, 0, a, 0, 0, 0, 0, -2};
        assert_true(rbt_dense_exponential(3, A, work));
        assert_true(fabs(A[0] - cos(a)) < 1e-14 * (1 + a) && fabs(A[3] - sin(a)) < 1e-14 * (1 + a));
        assert_true(fabs(A[8] - exp(-2.0)) < 1e-15 && A[2] == 0 && A[6] == 0);
    }
    // Jordan's block: exp(t) (1, t; 0, 1). A large entry costs squarings, and each of them a bit.
    double B[4] = {-3, 1e6, 0, -3};
    assert_true(rbt_dense_exponential(2, B, work));
    assert_true(fabs(B[0] - exp(-3)) < 1e-10 && fabs(B[1] / (1e6 * exp(-3)) - 1) < 1e-10 && B[2] == 0);
    double infinite[1] = {INFINITY}, large[1] = {1e4}, zero[1] = {0};
    assert_false(rbt_dense_exponential(1, infinite, work));
    assert_false(rbt_dense_exponential(1, large, work));
    assert_true(rbt_dense_exponential(1, zero, work) && zero[0] == 1);
}

// exp(A) exp(-A) = I, exp(A/2)^2 = exp(A) with matrices without a pattern
static void the_group_property_holds(void **state) {
    (void)state;
    enum { N = 12 };
    double A[N * N], plus[N * N], minus[N * N], work[RBT_EXPONENTIAL_WORK * N * N];
    for (int scale = -6; scale <= 0; scale++) {
        for (int i = 0; i < N * N; i++) A[i] = pow(4, scale) * uniform(-1, 1), plus[i] = A[i], minus[i] = -A[i];
        assert_true(rbt_dense_exponential(N, plus, work) && rbt_dense_exponential(N, minus, work));
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                double sum = i == j ? -1 : 0;
                for (int k = 0; k < N; k++) sum += plus[N * i + k] * minus[N * k + j];
                assert_true(fabs(sum) < 1e-12);
            }
    }
}

static void systems_are_solved(void **state) {
    (void)state;
    double A[9] = {0, 2, 1, 1, 0, 0, 3, 0, 1}, b[6] = {7, 1, 1, 2, 6, 3}, singular[4] = {1, 2, 2, 4}, c[2] = {1, 1};
    assert_true(rbt_dense_solve(3, A, 2, b));  // columns (1, 2, 3) and (2, 2, -3)
    static const double expected[6] = {1, 2, 2, 2, 3, -3};
    for (int i = 0; i < 6; i++) assert_true(fabs(b[i] - expected[i]) < 1e-14);
    assert_false(rbt_dense_solve(2, singular, 1, c));
}

// ---- One mode

// The same from the exponential of [[0, 1, 0, 0], [-lambda, -d, r, g], [0, 0, 0, 1], [0, 0, 0, 0]]
static void check_mode(double h, double lambda, double d) {
    double work[RBT_EXPONENTIAL_WORK * 16], E[16] = {0}, scale = fmax(1, sqrt(fabs(lambda)));
    // in units of 1 / scale, so that the matrix is balanced
    E[1] = h * scale;
    E[4] = -h * lambda / scale, E[5] = -h * d, E[6] = h, E[7] = 0;
    E[11] = h;
    assert_true(rbt_dense_exponential(4, E, work));
    rbt_response r = rbt_oscillator_response(h, lambda, d);
    double phase = 1 + h * sqrt(fabs(lambda)) + h * fabs(d), bound = 4e-15 * phase * (1 + fabs(E[1] / scale / h));
    assert_true(fabs(r.impulse - E[1] / scale) < bound * h);
    assert_true(fabs(r.slope - (E[5] - 1)) < bound * phase);
    assert_true(fabs(r.step - E[2] / scale) < bound * h * h);
    assert_true(fabs(r.ramp - E[3] / scale) < bound * h * h * h);
}

static void modes_are_exact(void **state) {
    (void)state;
    static const double lambdas[] = {0, 1e-12, -1e-12, 1e-3, -1e-3, 0.24, 0.25, 0.26, 1, -1, 7, -7, 100, -30, 1e4};
    static const double dampings[] = {0, 1e-9, 0.01, 1, 2, 1.9999, 3, 20, -0.5};
    static const double steps[] = {1e-3, 0.1, 0.5, 1, 2};
    for (size_t i = 0; i < sizeof lambdas / sizeof *lambdas; i++)
        for (size_t j = 0; j < sizeof dampings / sizeof *dampings; j++)
            for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) check_mode(steps[k], lambdas[i], dampings[j]);
    // Near critical damping, on either side: (h d / 2)^2 - h^2 lambda small
    static const double halves[] = {1.1, 1.5, 2, 3, 6},
                        squares[] = {0, 1e-13, 1e-9, 1e-4, 0.01, 0.1, 0.2, 0.249, 0.251, 0.5};
    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++)
        for (size_t j = 0; j < sizeof squares / sizeof *squares; j++)
            for (size_t k = 0; k < sizeof steps / sizeof *steps; k++)
                for (int sign = -1; sign <= 1; sign += 2) {
                    double a = halves[i] / steps[k], h2 = steps[k] * steps[k];
                    check_mode(steps[k], a * a - sign * squares[j] / h2, 2 * a);
                }
    // Limits: free fall, and damping beyond any oscillation
    rbt_response fall = rbt_oscillator_response(0.5, 0, 0);
    assert_true(fall.impulse == 0.5 && fall.step == 0.125 && fabs(fall.ramp - 0.125 / 6) < 1e-17 && fall.slope == 0);
    rbt_response honey = rbt_oscillator_response(1, 1e6, 1e9);
    assert_true(fabs(honey.impulse / 1e-9 - exp(-1e-3)) < 1e-9 && fabs(honey.step / -expm1(-1e-3) * 1e6 - 1) < 1e-6);
    assert_true(isinf(rbt_oscillator_response(1, -1e6, 0).step));
}

// ---- Large matrices

enum { CELLS = 60 };

// A chain of masses: q' = v, v' = -stiffness (second differences of q) - d v
typedef struct chain {
    double stiffness, d;
} chain;

static void multiply_chain(void *self, const double *x, double *y) {
    const chain *c = self;
    for (int i = 0; i < CELLS; i++) {
        double left = i ? x[i - 1] : 0, right = i + 1 < CELLS ? x[i + 1] : 0;
        y[i] = x[CELLS + i];
        y[CELLS + i] = c->stiffness * (left + right - 2 * x[i]) - c->d * x[CELLS + i];
    }
}

// h phi_1(h J) b + h^2 phi_2(h J) c from the dense exponential
static void dense_phi(chain *of, double h, const double *b, const double *c, double *y) {
    enum { N = 2 * CELLS, SIDE = N + 2 };
    double *E = calloc(SIDE * SIDE, sizeof *E), *work = calloc(RBT_EXPONENTIAL_WORK * SIDE * SIDE, sizeof *work);
    double unit[N] = {0}, column[N];
    for (int j = 0; j < N; j++) {
        unit[j] = 1;
        multiply_chain(of, unit, column);
        unit[j] = 0;
        for (int i = 0; i < N; i++) E[i * SIDE + j] = h * column[i];
    }
    for (int i = 0; i < N; i++) E[i * SIDE + N] = c ? h * c[i] : 0, E[i * SIDE + N + 1] = h * b[i];
    E[N * SIDE + N + 1] = h;
    assert_true(rbt_dense_exponential(SIDE, E, work));
    for (int i = 0; i < N; i++) y[i] = E[i * SIDE + N + 1];
    free(E), free(work);
}

static void krylov_meets_its_tolerance(void **state) {
    (void)state;
    enum { N = 2 * CELLS };
    static const double stiffnesses[] = {0, 1, 100, 1e4}, tolerances[] = {1e-3, 1e-6, 1e-10};
    double b[N], c[N], exact[N], y[N];
    for (int i = 0; i < N; i++) b[i] = uniform(-1, 1), c[i] = uniform(-1, 1);
    for (int i = 0; i < 4; i++)
        for (int damped = 0; damped < 2; damped++)
            for (int ramp = 0; ramp < 2; ramp++)
                for (int t = 0; t < 3; t++)
                    for (size_t dimension = 12; dimension <= 60; dimension += 48) {
                        chain of = {stiffnesses[i], damped ? 3 : 0};
                        rbt_phi *phi = rbt_phi_new(N, dimension, NULL);
                        rbt_phi_def def = {{multiply_chain, &of}, tolerances[t], dimension, 100000};
                        dense_phi(&of, 0.5, b, ramp ? c : NULL, exact);
                        rbt_phi_report r = rbt_phi_solve(phi, &def, 0.5, b, ramp ? c : NULL, y);
                        double error = 0, size = 0;
                        for (int k = 0; k < N; k++) error += pow(y[k] - exact[k], 2), size += exact[k] * exact[k];
                        assert_true(r.converged && r.reached == 1 && r.products > 0 && r.parts > 0);
                        assert_true(sqrt(error) <= tolerances[t] * sqrt(size));
                        rbt_phi_free(phi);
                    }
}

static void krylov_gives_up_and_stops(void **state) {
    (void)state;
    enum { N = 2 * CELLS };
    double b[N], y[N];
    for (int i = 0; i < N; i++) b[i] = 1;
    chain stiff = {1e8, 0};
    rbt_phi *phi = rbt_phi_new(N, 20, NULL);
    rbt_phi_def def = {{multiply_chain, &stiff}, 1e-6, 20, 500};
    rbt_phi_report r = rbt_phi_solve(phi, &def, 1, b, NULL, y);
    assert_true(!r.converged && r.products >= 500 && r.products < 530 && r.reached < 1 && r.reached > 0);
    memset(b, 0, sizeof b);
    r = rbt_phi_solve(phi, &def, 1, b, NULL, y);
    assert_true(r.converged && r.products == 0 && y[0] == 0);
    b[3] = NAN;
    r = rbt_phi_solve(phi, &def, 1, b, NULL, y);
    assert_false(r.converged);
    rbt_phi_free(phi);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rotations_and_blocks_are_exact),
        cmocka_unit_test(the_group_property_holds),
        cmocka_unit_test(systems_are_solved),
        cmocka_unit_test(modes_are_exact),
        cmocka_unit_test(krylov_meets_its_tolerance),
        cmocka_unit_test(krylov_gives_up_and_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
