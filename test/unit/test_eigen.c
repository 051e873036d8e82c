// Lowest eigenpairs against Jacobi's rotations, and what is known of free bodies.
#include "base/threads.h"
#include "dense.h"
#include "eigen.h"
#include "grid_matrix.h"
#include "model/model.h"
#include "model/stiffness.h"
#include "scene.h"

enum { NX = 3, NY = 3, NZ = 4, ROWS = NX * NY * NZ, N = 3 * ROWS };

typedef struct pairs {
    size_t count, row_count;
    double *lambda, *u, *residual;
} pairs;

static pairs pairs_new(size_t count, size_t row_count) {
    return (pairs){count, row_count, calloc(count, sizeof(double)), calloc(3 * count * row_count, sizeof(double)),
                   calloc(count, sizeof(double))};
}

static void pairs_free(pairs *p) { free(p->lambda), free(p->u), free(p->residual); }

static bool solve(const rbt_eigen_def *def, const rbt_block_matrix *K, const double *mass, const unsigned char *keep,
                  pairs *p, rbt_error *error) {
    rbt_eigen *e = rbt_eigen_new(K->row_count, keep, p->count, error);
    bool good = e && rbt_eigen_solve(e, def, K, mass, p->lambda, p->u, p->residual, error);
    rbt_eigen_free(e);
    return good;
}

static double mass_product(const pairs *p, const double *mass, size_t i, size_t j) {
    double sum = 0;
    for (size_t k = 0; k < 3 * p->row_count; k++)
        sum += mass[k / 3] * p->u[3 * i * p->row_count + k] * p->u[3 * j * p->row_count + k];
    return sum;
}

static void assert_orthonormal(const pairs *p, const double *mass) {
    for (size_t i = 0; i < p->count; i++)
        for (size_t j = 0; j < p->count; j++) assert_true(fabs(mass_product(p, mass, i, j) - (i == j)) < 1e-10);
}

static void fill_masses(double *mass) {
    for (size_t i = 0; i < ROWS; i++) mass[i] = 1 + 0.5 * sin((double)i);
}

// Held rows, uneven masses, shifts near and far, an indefinite K; a lent factor of h^2 (K - sigma M) gives the same.
static void agrees_with_dense_eigenvalues(void **state) {
    (void)state;
    enum { COUNT = 9 };
    rbt_block_matrix K = grid_matrix_new(NX, NY, NZ, -1.5), A = K;
    double mass[ROWS], lambda[N], *D = dense_of_blocks(&K);
    unsigned char keep[ROWS];
    fill_masses(mass);
    for (size_t i = 0; i < ROWS; i++) keep[i] = i % 7 != 1;
    dense_eliminate(D, N, keep, 1e6);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) D[i * N + j] /= sqrt(mass[i / 3] * mass[j / 3]);
    dense_eigenvalues(D, N, lambda);
    assert_true(lambda[0] < 0);
    pairs p = pairs_new(COUNT, ROWS);
    rbt_error error;
    rbt_eigen_def def = rbt_eigen_def_default();
    def.count = COUNT;
    const double shifts[] = {-3, -50};
    for (int i = 0; i < 2; i++) {
        def.shift = shifts[i];
        assert_true(solve(&def, &K, mass, keep, &p, &error));
        assert_true(dense_distance(p.lambda, lambda, COUNT) < 1e-11);
        for (size_t k = 0; k < COUNT; k++) assert_true(p.residual[k] < 1e-10);
        for (size_t k = 0; k < COUNT * N; k++) assert_true(keep[k % N / 3] || p.u[k] == 0);
        assert_orthonormal(&p, mass);
    }
    const double h2 = 1.0 / 50;
    size_t values = 9 * K.start[ROWS], row;
    A.value = malloc(values * sizeof *A.value);
    for (size_t i = 0; i < values; i++) A.value[i] = h2 * K.value[i];
    for (size_t i = 0; i < ROWS; i++)
        for (size_t r = 0; r < 9; r += 4) A.value[9 * (A.start[i + 1] - 1) + r] += mass[i];
    def.factor = rbt_cholesky_analyse(&A, keep, NULL);
    def.factor_scale = h2;
    def.guess = p.u;
    assert_int_equal(rbt_cholesky_factor(def.factor, &A, &row), RBT_FACTORED);
    assert_true(solve(&def, &K, mass, keep, &p, &error));
    assert_true(dense_distance(p.lambda, lambda, COUNT) < 1e-11);
    rbt_cholesky_free(def.factor);
    free(A.value), free(D);
    pairs_free(&p);
    grid_matrix_free(&K);
}

// A block of elastic stuff that nothing holds: six rigid modes at 0, then the stiffness shows. The same bits whatever
// the threads.
static void free_bodies_have_six_rigid_modes(void **state) {
    (void)state;
    enum { COUNT = 10 };
    rbt_scene_file *file = scene_from(
        "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.4, 0.1, 0.12], 'cells': "
        "[8, 2, 3]}}}, 'material': {'model': 'stable-neo-hookean', 'young': 1e6, 'poisson': 0.3, 'density': 1000}}], "
        "'time': {'step': 0.01, 'frame': 0.01, 'end': 1}}");
    rbt_error error;
    rbt_model *m = rbt_model_compile(rbt_scene_of(file), &error);
    assert_non_null(m);
    rbt_stiffness s;
    assert_true(rbt_stiffness_build(&s, m, &error));
    rbt_stiffness_assemble(&s, m, RBT_HESSIAN, m->X);
    unsigned char *keep = malloc(m->node_count);
    memset(keep, 1, m->node_count);
    rbt_eigen_def def = rbt_eigen_def_default();
    def.count = COUNT;
    def.shift = -100;
    pairs p = pairs_new(COUNT, m->node_count), first = pairs_new(COUNT, m->node_count);
    const int threads[] = {1, 2, 3, 8};
    for (int t = 0; t < 4; t++) {
        rbt_threads_set(threads[t]);
        assert_true(solve(&def, &s.K, m->mass, keep, t ? &p : &first, &error));
        if (t) assert_memory_equal(p.lambda, first.lambda, COUNT * sizeof(double));
        if (t) assert_memory_equal(p.u, first.u, 3 * COUNT * m->node_count * sizeof(double));
    }
    rbt_threads_set(0);
    // Bending of a free beam (Euler and Bernoulli): omega = 4.73^2 sqrt(E I / (rho S L^4)), about its thin side;
    // a coarse mesh of linear tets is too stiff, and shear makes the beam softer.
    double omega = 4.73 * 4.73 * sqrt(1e6 * 0.1 * 0.1 / (12 * 1000 * pow(0.4, 4)));
    for (size_t i = 0; i < 6; i++) assert_true(fabs(first.lambda[i]) < 1e-9 * first.lambda[6]);
    assert_true(sqrt(first.lambda[6]) > 0.8 * omega && sqrt(first.lambda[6]) < 1.6 * omega);
    for (size_t i = 0; i < COUNT; i++) assert_true(first.residual[i] < 1e-9 * first.lambda[6]);
    assert_orthonormal(&first, m->mass);

    def.shift = 0;  // K itself is singular; the smallest negative step away from it is enough
    bool solved = solve(&def, &s.K, m->mass, keep, &p, &error);
    if (!solved) assert_non_null(strstr(error.message, "take a shift below the lowest eigenvalue"));
    def.shift = 1e4;
    assert_false(solve(&def, &s.K, m->mass, keep, &p, &error));
    assert_non_null(strstr(error.message,
                           " with shift 10000: take a shift below the lowest eigenvalue, for a free body "
                           "a negative one"));
    pairs_free(&p), pairs_free(&first);
    free(keep);
    rbt_stiffness_free(&s);
    rbt_model_free(m);
    rbt_scene_free(file);
}

static void failures_are_told(void **state) {
    (void)state;
    rbt_block_matrix K = grid_matrix_new(NX, NY, NZ, 0.1);
    double mass[ROWS];
    unsigned char keep[ROWS];
    memset(keep, 1, sizeof keep);
    fill_masses(mass);
    rbt_error error;
    rbt_eigen_def def = rbt_eigen_def_default();
    pairs p = pairs_new(def.count, ROWS);
    def.max_iterations = 1;
    def.shift = -1e7;
    assert_false(solve(&def, &K, mass, keep, &p, &error));
    assert_non_null(strstr(error.message,
                           " of 10 eigenpairs converged in 1 iterations: allow more, ask for fewer, or "
                           "take a shift closer to the lowest eigenvalue than -1e+07"));
    mass[5] = 0;
    assert_false(solve(&def, &K, mass, keep, &p, &error));
    assert_string_equal(error.message, "node 5 has mass 0; eigenvectors need a positive mass at every free node");
    mass[5] = 1;
    K.value[0] = NAN;
    assert_false(solve(&def, &K, mass, keep, &p, &error));
    assert_string_equal(error.message, "the stiffness at node 0 is not finite");
    memset(keep, 0, sizeof keep);
    keep[3] = 1;
    assert_null(rbt_eigen_new(ROWS, keep, 3, &error));
    assert_string_equal(error.message, "3 eigenpairs of a matrix with 3 unknowns: must be from 1 to 2");
    rbt_eigen *e = rbt_eigen_new(ROWS, keep, 2, &error);
    assert_non_null(e);
    def.count = 3;
    assert_false(rbt_eigen_solve(e, &def, &K, mass, p.lambda, p.u, p.residual, &error));
    assert_string_equal(error.message, "3 eigenpairs: must be from 1 to 2");
    rbt_eigen_free(e);
    pairs_free(&p);
    grid_matrix_free(&K);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_dense_eigenvalues),
                                       cmocka_unit_test(free_bodies_have_six_rigid_modes),
                                       cmocka_unit_test(failures_are_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
