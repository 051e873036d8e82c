// L-BFGS from inside: the two loops against dense updates, and the matrix of lbfgs-pd. The files are part of this
// program, to look inside.
#define advance lbfgs_advance  // of an iteration; that of scene.h is of a simulation
#include "step/implicit/lbfgs.c"
#undef advance
#include "step/implicit/lbfgs_pd.c"

#include "base/threads.h"
#include "energy/tet_group.h"
#include "math/vec3.h"
#include "one_step.h"

// ---- The two loops

static double *scales;  // (values) D, a diagonal matrix

static rbt_outcome scale(void *self, const double *q, double *r) {
    const one_step *s = self;
    for (size_t i = 0; i < s->values; i++) r[i] = scales[i] * q[i];
    return RBT_DONE;
}

// B <- (I - s y^T / y.s) B (I - y s^T / y.s) + s s^T / y.s
static void update(size_t n, const double *s, const double *y, double *B) {
    double ys = 0, yBy = 0, *By = calloc(n, sizeof *By);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) By[i] += B[n * i + j] * y[j];
        ys += y[i] * s[i];
        yBy += y[i] * By[i];
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            B[n * i + j] += (1 + yBy / ys) * s[i] * s[j] / ys - (By[i] * s[j] + s[i] * By[j]) / ys;
    free(By);
}

// The last five pairs of positive curvature, in their order, however many there were
static void directions_are_those_of_bfgs(void **state) {
    (void)state;
    one_step s = one_step_begin("linear", 2e4, 0.02, 0.02, "");
    size_t n = s.values;
    rbt_lbfgs l;
    assert_true(rbt_lbfgs_init(&l, &s.o, NULL));
    rbt_inverse D = {.self = &s, .apply = scale};
    double *B = malloc(n * n * sizeof *B), *pairs[2][8], *z = calloc(n, sizeof *z);
    scales = malloc(n * sizeof *scales);
    for (size_t i = 0; i < n; i++) scales[i] = uniform(0.5, 2);
    for (size_t count = 0; count <= 8; count++) {
        for (size_t i = 0; i < n; i++) l.gradient[i] = uniform(-1, 1);
        assert_int_equal(rbt_lbfgs_direction(&l, &D), RBT_DONE);
        memset(B, 0, n * n * sizeof *B);
        for (size_t i = 0; i < n; i++) B[n * i + i] = scales[i];
        for (size_t k = count > RBT_LBFGS_PAIRS ? count - RBT_LBFGS_PAIRS : 0; k < count; k++)
            update(n, pairs[0][k], pairs[1][k], B);
        double off = 0, size = 0;
        for (size_t i = 0; i < n; i++) {
            double expected = 0;
            for (size_t j = 0; j < n; j++) expected -= B[n * i + j] * l.gradient[j];
            off = fmax(off, fabs(l.direction[i] - expected));
            size = fmax(size, fabs(expected));
        }
        assert_true(off < 1e-11 * size);
        if (count == 8) break;
        for (int i = 0; i < 2; i++) pairs[i][count] = malloc(n * sizeof(double));
        for (int against = count < 4; against >= 0;
             against--) {  // first a pair of negative curvature, which is left out
            for (size_t i = 0; i < n; i++) {
                double step = uniform(-1, 1), change = (against ? -1 : 1) * uniform(0.5, 2) * step;
                l.before[i] = uniform(-1, 1);
                z[i] = l.before[i] + step;
                l.gradient_before[i] = uniform(-1, 1);
                l.gradient[i] = l.gradient_before[i] + change;
                pairs[0][count][i] = z[i] - l.before[i];
                pairs[1][count][i] = l.gradient[i] - l.gradient_before[i];
            }
            rbt_lbfgs_remember(&l, z);
        }
    }
    for (int k = 0; k < 8; k++) free(pairs[0][k]), free(pairs[1][k]);
    free(B), free(z), free(scales);
    rbt_lbfgs_free(&l);
    one_step_end(&s);
}

// ---- lbfgs-pd

// A r = q with A = (1 + tau alpha) M + tau (tau + beta) L, L_ab = sum over tets of V (2 mu + lambda) grad N_a . grad
// N_b
static void the_matrix_of_lbfgs_pd_is_a_laplacian(void **state) {
    (void)state;
    const double alpha = 3, beta = 0.05, young = 2e4, poisson = 0.4, mu = young / (2 * (1 + poisson)),
                 lambda = 2 * mu * poisson / (1 - 2 * poisson);
    one_step s = one_step_begin("fixed-corotated", young, 0, 0, ", 'damping': {'mass': 3, 'stiffness': 0.05}");
    const rbt_model *m = s.sim->model;
    rbt_implicit_options options = {.tolerance = NAN, .max_iterations = -1};
    lbfgs_pd *solver = create(&s.o, &options, NULL);
    rbt_step_report report = {0};
    double *q = calloc(s.values, sizeof *q), *r = calloc(s.values, sizeof *r), *Ar = calloc(s.values, sizeof *Ar);
    double tau = s.o.tau, off = 0;
    assert_int_equal(rbt_laplacian_prepare(&solver->laplacian, s.sim->state.x, &report), RBT_DONE);
    for (size_t i = 0; i < s.values; i++) q[i] = s.o.constrained[i / 3] ? 0 : uniform(-1, 1);
    assert_int_equal(apply(solver, q, r), RBT_DONE);
    for (size_t i = 0; i < s.values; i++) Ar[i] = (1 + tau * alpha) * m->mass[i / 3] * r[i];
    for (size_t t = 0; t < m->tet_count; t++) {
        double G[4][3], volume = rbt_tet_gradients(m->X, m->tets + 4 * t, G);
        for (size_t a = 0; a < 4; a++)
            for (size_t b = 0; b < 4; b++) {
                size_t row = 3 * (size_t)m->tets[4 * t + a], column = 3 * (size_t)m->tets[4 * t + b];
                double entry = tau * (tau + beta) * volume * (2 * mu + lambda) * rbt_dot(G[a], G[b]);
                for (size_t k = 0; k < 3; k++) Ar[row + k] += entry * r[column + k];
            }
    }
    for (size_t i = 0; i < s.values; i++)
        if (!s.o.constrained[i / 3]) off = fmax(off, fabs(Ar[i] - q[i]));
    assert_true(off < 1e-11);
    free(q), free(r), free(Ar);
    destroy(solver);
    one_step_end(&s);
}

int main(void) {
    rbt_threads_set(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(directions_are_those_of_bfgs),
        cmocka_unit_test(the_matrix_of_lbfgs_pd_is_a_laplacian),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
