// The closed form of one tet's highest frequency against dense eigenvalues that know nothing of it: K is made from
// the strain-displacement matrix, and the eigenvalues come from Jacobi rotations.
#include "../support/cube.h"
#include "mesh/core/stable_step.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "random.h"

// Largest eigenvalue of the symmetric A (n x n), which is destroyed.
static double largest_eigenvalue(double *A, size_t n) {
    for (int sweep = 0; sweep < 30; sweep++) {
        double off = 0, all = 0;
        for (size_t i = 0; i < n * n; i++) {
            all += A[i] * A[i];
            if (i / n != i % n) off += A[i] * A[i];
        }
        if (off < 1e-24 * all) break;
        for (size_t p = 0; p < n; p++)
            for (size_t q = p + 1; q < n; q++) {
                if (A[p * n + q] == 0) continue;
                double theta = (A[q * n + q] - A[p * n + p]) / (2 * A[p * n + q]);
                double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1));
                double c = 1 / sqrt(t * t + 1), s = t * c;
                for (size_t k = 0; k < n; k++) {
                    double x = A[k * n + p], y = A[k * n + q];
                    A[k * n + p] = c * x - s * y;
                    A[k * n + q] = s * x + c * y;
                }
                for (size_t k = 0; k < n; k++) {
                    double x = A[p * n + k], y = A[q * n + k];
                    A[p * n + k] = c * x - s * y;
                    A[q * n + k] = s * x + c * y;
                }
            }
    }
    double largest = A[0];
    for (size_t i = 1; i < n; i++) largest = fmax(largest, A[i * n + i]);
    return largest;
}

typedef struct material {
    double young, poisson, density;
} material;

// Adds V B^T C B of one tet to K (3 n x 3 n) and its lumped mass to m (n).
static void add_tet(const rbt_mesh *mesh, size_t t, material k, double *K, double *m) {
    size_t n = 3 * mesh->node_count;
    const int32_t *tet = mesh->tets + 4 * t;
    double A[3][3], inverse[3][3], g[4][3] = {{0}};  // rows of A: edges from corner 0
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < 3; i++) A[a][i] = mesh->nodes[3 * tet[a + 1] + i] - mesh->nodes[3 * tet[0] + i];
    double det = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            inverse[j][i] = A[(i + 1) % 3][(j + 1) % 3] * A[(i + 2) % 3][(j + 2) % 3] -
                            A[(i + 1) % 3][(j + 2) % 3] * A[(i + 2) % 3][(j + 1) % 3];
    for (int j = 0; j < 3; j++) det += A[0][j] * inverse[j][0];
    double volume = fabs(det) / 6;
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < 3; i++) {
            g[a + 1][i] = inverse[i][a] / det;
            g[0][i] -= g[a + 1][i];
        }
    double C[6][6] = {{0}}, B[6][12] = {{0}};
    double mu = k.young / (2 * (1 + k.poisson)),
           lambda = k.young * k.poisson / ((1 + k.poisson) * (1 - 2 * k.poisson));
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) C[i][j] = lambda + (i == j ? 2 * mu : 0);
        C[i + 3][i + 3] = mu;
    }
    for (int a = 0; a < 4; a++)
        for (int i = 0; i < 3; i++) {  // strains xx yy zz, then twice yz zx xy
            int j = (i + 1) % 3, l = (i + 2) % 3;
            B[i][3 * a + i] = g[a][i];
            B[3 + i][3 * a + j] = g[a][l];
            B[3 + i][3 * a + l] = g[a][j];
        }
    for (int r = 0; r < 12; r++)
        for (int c = 0; c < 12; c++) {
            double sum = 0;
            for (int i = 0; i < 6; i++)
                for (int j = 0; j < 6; j++) sum += B[i][r] * C[i][j] * B[j][c];
            K[(size_t)(3 * tet[r / 3] + r % 3) * n + (size_t)(3 * tet[c / 3] + c % 3)] += volume * sum;
        }
    for (int a = 0; a < 4; a++) m[tet[a]] += k.density * volume / 4;
}

// 2 / omega_max of the assembled body, all of its nodes free.
static double dense_step(const rbt_mesh *mesh, material k) {
    size_t n = 3 * mesh->node_count;
    double *K = calloc(n * n, sizeof *K), *m = calloc(mesh->node_count, sizeof *m);
    for (size_t t = 0; t < mesh->tet_count; t++) add_tet(mesh, t, k, K, m);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) K[i * n + j] /= sqrt(m[i / 3] * m[j / 3]);
    double step = 2 / sqrt(largest_eigenvalue(K, n));
    free(K);
    free(m);
    return step;
}

static const material MATERIALS[] = {
    {1e6, 0.4, 1000}, {2e11, 0.3, 7800}, {1e5, 0.499, 900}, {1e4, 0.0, 1}, {3e5, -0.3, 50}, {1e6, -0.9, 1000},
};
enum { MATERIAL_COUNT = sizeof MATERIALS / sizeof MATERIALS[0] };

static void one_tet_is_exact(void **state) {
    (void)state;
    rbt_mesh *mesh = rbt_mesh_new(NULL);
    assert_true(rbt_mesh_allocate(mesh, 4, 1, 0, 0, NULL));
    for (int i = 0; i < 4; i++) mesh->tets[i] = i;
    double worst = 0;
    for (int trial = 0; trial < 300; trial++) {
        double X[4][3], squeeze = trial % 3 == 0 ? 1e-3 : 1;  // every third one is a sliver
        for (int i = 0; i < 12; i++) mesh->nodes[i] = X[i / 3][i % 3] = uniform(-0.5, 0.5) * (i % 3 ? 1 : squeeze);
        material k = MATERIALS[trial % MATERIAL_COUNT];
        double step = rbt_tet_stable_step((const double(*)[3])X, k.young, k.poisson, k.density);
        double expected = dense_step(mesh, k);
        worst = fmax(worst, fabs(step / expected - 1));
    }
    printf("closed form against Jacobi: %.1e\n", worst);
    assert_true(worst < 1e-7);  // a double root costs half of the digits
    rbt_mesh_free(mesh);
}

static void the_least_tet_is_safe_for_the_body(void **state) {
    (void)state;
    for (int trial = 0; trial < MATERIAL_COUNT; trial++) {
        rbt_mesh *mesh = cube_new(2, 2, 1, 0.2, 0.3, 0.1);
        for (size_t i = 0; i < 3 * mesh->node_count; i++) mesh->nodes[i] += 0.03 * uniform(-0.5, 0.5);
        material k = MATERIALS[trial];
        double steps[24];
        rbt_step_histogram histogram;
        assert_int_equal(mesh->tet_count, 24);
        rbt_stable_steps(mesh->nodes, mesh->tets, mesh->tet_count, k.young, k.poisson, k.density, steps);
        rbt_step_histogram_fill(steps, mesh->tet_count, &histogram);
        double body = dense_step(mesh, k);
        printf("poisson %5.3f: body %.4g s, least tet %.4g s\n", k.poisson, body, histogram.min);
        assert_true(histogram.min <= body * (1 + 1e-9));
        assert_true(histogram.min > body / 3);  // and not hopelessly careful
        rbt_mesh_free(mesh);
    }
}

static void scales_and_turns_as_it_should(void **state) {
    (void)state;
    const double X[4][3] = {{0, 0, 0}, {1, 0, 0}, {0.2, 1, 0}, {0.1, 0.3, 0.7}};
    double scaled[4][3], mirrored[4][3];
    for (int i = 0; i < 12; i++) {
        scaled[i / 3][i % 3] = 1e-3 * X[i / 3][i % 3] + 5;
        mirrored[i / 3][i % 3] = i % 3 == 2 ? -X[i / 3][2] : X[i / 3][i % 3];
    }
    double step = rbt_tet_stable_step(X, 1e6, 0.4, 1000);
    assert_true(fabs(rbt_tet_stable_step((const double(*)[3])scaled, 1e6, 0.4, 1000) / (1e-3 * step) - 1) < 1e-9);
    assert_true(fabs(rbt_tet_stable_step(X, 4e6, 0.4, 1000) / (0.5 * step) - 1) < 1e-12);
    assert_true(fabs(rbt_tet_stable_step(X, 1e6, 0.4, 4000) / (2 * step) - 1) < 1e-12);
    assert_true(fabs(rbt_tet_stable_step((const double(*)[3])mirrored, 1e6, 0.4, 1000) / step - 1) < 1e-12);
}

static void what_has_no_step(void **state) {
    (void)state;
    const double X[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const double flat[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
    const double wrong[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, NAN, 0}, {0, 0, 1}};
    assert_true(rbt_tet_stable_step(X, 1e6, 0.4, 1000) > 0);
    assert_true(rbt_tet_stable_step(flat, 1e6, 0.4, 1000) == 0);
    assert_true(rbt_tet_stable_step(wrong, 1e6, 0.4, 1000) == 0);
    assert_true(rbt_tet_stable_step(X, 0, 0.4, 1000) == 0);
    assert_true(rbt_tet_stable_step(X, 1e6, 0.5, 1000) == 0);
    assert_true(rbt_tet_stable_step(X, 1e6, -1, 1000) == 0);
    assert_true(rbt_tet_stable_step(X, 1e6, 0.4, -1) == 0);
    assert_true(rbt_tet_stable_step(X, NAN, 0.4, 1000) == 0);
}

static void histogram_of_steps(void **state) {
    (void)state;
    const double steps[] = {1e-3, 0, 1, 0.1, 0.0999, 1e-3, 0.6};
    rbt_step_histogram h;
    rbt_step_histogram_fill(steps, 7, &h);
    assert_true(h.min == 1e-3 && h.max == 1);
    assert_int_equal(h.smallest, 0);
    assert_int_equal(h.none_count, 1);
    assert_int_equal(h.count[0], 2);
    assert_int_equal(h.count[6], 2);  // 10^-1.2 to 10^-0.9
    assert_int_equal(h.count[8], 0);
    assert_int_equal(h.count[9], 2);
    assert_true(h.edge[0] == h.min && h.edge[RBT_HISTOGRAM_BINS] == h.max);

    rbt_step_histogram_fill(steps + 1, 1, &h);
    assert_int_equal(h.smallest, -1);
    assert_true(h.min == 0 && h.max == 0);
    rbt_step_histogram_fill(steps + 2, 1, &h);
    assert_int_equal(h.smallest, 0);
    assert_int_equal(h.count[0], 1);
    const double alike[] = {1e-3, 1e-3 * (1 + 1e-15), 1e-3 * (1 - 1e-15)};
    rbt_step_histogram_fill(alike, 3, &h);
    assert_int_equal(h.count[0], 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_tet_is_exact),
        cmocka_unit_test(the_least_tet_is_safe_for_the_body),
        cmocka_unit_test(scales_and_turns_as_it_should),
        cmocka_unit_test(what_has_no_step),
        cmocka_unit_test(histogram_of_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
