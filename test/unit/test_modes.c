// Modes that follow a changing matrix: what a round gets without products with K must be what the products say.
#include "eigen.h"
#include "grid_matrix.h"
#include "solve/modes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { NX = 6, NY = 5, NZ = 5, ROWS = NX * NY * NZ, N = 3 * ROWS, WANTED = 5 };

typedef struct setting {
    rbt_block_matrix K, A;
    rbt_block_operator *product;
    rbt_cholesky *factor;
    double mass[ROWS], a[ROWS], c[ROWS];
    unsigned char keep[ROWS];
    rbt_modes modes;
    rbt_modes_problem problem;
} setting;

static void factor(setting *s) {
    size_t row;
    for (size_t n = 0; n < ROWS; n++)
        for (size_t k = s->K.start[n]; k < s->K.start[n + 1]; k++)
            for (size_t e = 0; e < 9; e++) {
                bool diagonal = k == s->K.start[n + 1] - 1 && e % 4 == 0;
                s->A.value[9 * k + e] = s->c[n] * s->K.value[9 * k + e] + (diagonal ? s->a[n] * s->mass[n] : 0);
            }
    assert_int_equal(rbt_cholesky_factor(s->factor, &s->A, &row), RBT_FACTORED);
}

static void setting_init(setting *s, double tolerance) {
    const double h2 = 0.5;
    s->K = grid_matrix_new(NX, NY, NZ, 0.02);
    s->A = grid_matrix_new(NX, NY, NZ, 0.02);
    for (size_t n = 0; n < ROWS; n++) {
        s->mass[n] = 1 + 0.5 * sin((double)n);
        s->a[n] = 1.1;
        s->c[n] = h2;
        s->keep[n] = n % 9 != 4;
    }
    assert_non_null(s->product = rbt_block_operator_new(&s->K, NULL));
    assert_non_null(s->factor = rbt_cholesky_analyse(&s->A, s->keep, NULL));
    assert_true(rbt_modes_init(&s->modes, ROWS, rbt_modes_capacity(WANTED), NULL));
    s->problem = (rbt_modes_problem){.K = &s->K,
                                     .stiffness = rbt_block_operator_of(s->product),
                                     .lumped = s->mass,
                                     .keep = s->keep,
                                     .factor = s->factor,
                                     .mass_share = s->a,
                                     .stiffness_share = s->c,
                                     .shift = 1 / h2,
                                     .tolerance = tolerance};
    factor(s);
    assert_int_equal(rbt_modes_start(&s->modes, &s->problem, WANTED, 0), RBT_MODES_FOUND);
    // K changes, as in a step
    for (size_t n = 0; n < ROWS; n++)
        for (size_t e = 0; e < 9; e += 4)
            s->K.value[9 * (s->K.start[n + 1] - 1) + e] += 0.2 * (1 + sin(0.1 * (double)n));
    factor(s);
    s->modes.carried = s->modes.count;
    assert_int_equal(rbt_modes_follow(&s->modes, &s->problem, WANTED, s->modes.U), RBT_MODES_FOUND);
}

static void setting_free(setting *s) {
    rbt_modes_free(&s->modes);
    rbt_cholesky_free(s->factor);
    rbt_block_operator_free(s->product);
    grid_matrix_free(&s->K);
    grid_matrix_free(&s->A);
}

static void multiply(setting *s, const double *u, double *y) {
    s->problem.stiffness.apply(s->problem.stiffness.self, u, y);
    for (size_t i = 0; i < N; i++)
        if (!s->keep[i / 3]) y[i] = 0;
}

// K U, the residuals and K U z against products; every eigenvalue lies within the residual of one of ARPACK's.
static void check(setting *s) {
    rbt_modes *m = &s->modes;
    double Ku[N], y[N] = {0}, sum[N] = {0}, z[WANTED], k_z[WANTED];
    for (size_t l = 0; l < WANTED; l++) {
        k_z[l] = 1.0 / (double)(l + 1) - 0.4;
        z[l] = sin(1.0 + (double)l);
    }
    for (size_t l = 0; l < WANTED; l++) {
        multiply(s, m->U + l * N, Ku);
        for (size_t i = 0; i < N; i++) sum[i] += z[l] * m->Q[l * N + i] + k_z[l] * Ku[i];
    }
    rbt_modes_add(m, 1, WANTED, z, k_z, y);
    for (size_t i = 0; i < N; i++) assert_true(fabs(y[i] - sum[i]) < 1e-11);
    rbt_modes_images(m);
    double lambda[WANTED], *u = malloc(WANTED * N * sizeof *u), residual[WANTED];
    rbt_eigen_def def = rbt_eigen_def_default();
    def.count = WANTED;
    def.shift = -0.1;
    rbt_eigen *eigen = rbt_eigen_new(ROWS, s->keep, WANTED, NULL);
    assert_true(rbt_eigen_solve(eigen, &def, &s->K, s->mass, lambda, u, residual, NULL));
    for (size_t l = 0; l < WANTED; l++) {
        double square = 0, scale = m->lambda[l] + s->problem.shift;
        multiply(s, m->U + l * N, Ku);
        for (size_t i = 0; i < N; i++) {
            assert_true(fabs(m->KU[l * N + i] - Ku[i]) < 1e-11);
            assert_true(fabs(m->Q[l * N + i] - (s->keep[i / 3] ? s->mass[i / 3] : 0) * m->U[l * N + i]) < 1e-13);
            square += pow(Ku[i] - m->lambda[l] * m->Q[l * N + i], 2) / s->mass[i / 3];
        }
        assert_true(fabs(m->residual[l] - sqrt(square)) < 1e-7 * scale);
        assert_true(m->residual[l] <= s->problem.tolerance * scale);
        assert_true(m->lambda[l] >= lambda[l] - 1e-10 && m->lambda[l] <= lambda[l] + m->residual[l] + 1e-10);
        for (size_t k = 0; k <= l; k++) {
            double product = 0;
            for (size_t i = 0; i < N; i++) product += m->U[k * N + i] * m->Q[l * N + i];
            assert_true(fabs(product - (k == l)) < 1e-9);
        }
    }
    rbt_eigen_free(eigen);
    free(u);
}

// A loose tolerance is met by rounds that never multiply with K, a tight one by those with residuals from long vectors.
static void modes_follow(void **state) {
    (void)state;
    static const double TOLERANCE[] = {0.3, 1e-3, 1e-8};
    for (int i = 0; i < 3; i++) {
        setting *s = calloc(1, sizeof *s);
        setting_init(s, TOLERANCE[i]);
        if (i == 0) {
            assert_false(s->modes.images);
            double most = 0;
            for (size_t l = 0; l < WANTED; l++) most = fmax(most, s->modes.residual[l]);
            assert_true(most > 1e-4);  // otherwise nothing is compared
        }
        check(s);
        setting_free(s);
        free(s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(modes_follow)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
