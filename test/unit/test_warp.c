// Rotation-strain warping against dense least squares with an exponential of its own, and in its limits.
#include "dense_step.h"
#include "math/vec3.h"
#include "model/warp.h"

#include "random.h"

// 'cells' along a bar of one metre, 'body' adds keys
static rbt_sim *bar(int cells, const char *body) {
    char json[2048];
    snprintf(
        json, sizeof json,
        "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [1, 0.2, 0.2], 'cells': "
        "[%d, %d, %d]}}}, 'material': {'model': 'linear', 'young': 1e5, 'density': 1000}%s}], 'output': {'warp': "
        "true}}",
        cells, cells / 5, cells / 5, body);
    return sim_from(json);
}

#define FIXED ", 'fixed': [{'box': {'min': [0, 0, 0], 'max': [0.01, 1, 1], 'relative': true}}]"
#define MIXED                                                                                                        \
    ", 'regions': [{'name': 'a', 'where': {'box': {'min': [0, 0, 0], 'max': [0.4, 1, 1], 'relative': true}}, "       \
    "'material': {'model': 'corotational', 'young': 1e5, 'density': 500}}]"

static void warp(const rbt_sim *sim, const double *x, double *y) {
    rbt_error error = {0};
    rbt_warp *w = rbt_warp_new(sim->model, &error);
    assert_non_null(w);
    assert_true(rbt_warp_apply(w, 0, x, y, &error));
    rbt_warp_free(w);
}

// exp of a skew matrix: of 2^-20 of it by four terms, then squared twenty times
static void exponential(const double w[3], double E[9]) {
    const double scale = 1.0 / (1 << 20);
    double W[9] = {0, -w[2], w[1], w[2], 0, -w[0], -w[1], w[0], 0}, P[9], T[9];
    for (int i = 0; i < 9; i++) {
        W[i] *= scale;
        E[i] = 0;  // exp - 1, which squaring keeps the digits of: (1 + E)^2 - 1 = 2 E + E E
        P[i] = i % 4 == 0;
    }
    for (int k = 1; k <= 4; k++) {
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                T[3 * i + j] = 0;
                for (int l = 0; l < 3; l++) T[3 * i + j] += P[3 * i + l] * W[3 * l + j] / k;
            }
        memcpy(P, T, sizeof P);
        for (int i = 0; i < 9; i++) E[i] += P[i];
    }
    for (int k = 0; k < 20; k++) {
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                T[3 * i + j] = 2 * E[3 * i + j];
                for (int l = 0; l < 3; l++) T[3 * i + j] += E[3 * i + l] * E[3 * l + j];
            }
        memcpy(E, T, sizeof T);
    }
    for (int i = 0; i < 9; i += 4) E[i] += 1;
}

// exp(skew) (1 + symmetric) of the gradient of x in a tet
static void target(const double *x, const int32_t *tet, const double G[4][3], double T[9]) {
    double F[9] = {0}, E[9], S[9];
    for (int a = 0; a < 4; a++)
        for (int i = 0; i < 9; i++) F[i] += x[3 * (size_t)tet[a] + (size_t)(i / 3)] * G[a][i % 3];
    for (int i = 0; i < 9; i++) S[i] = 0.5 * (F[i] + F[3 * (i % 3) + i / 3]);
    exponential((double[3]){0.5 * (F[7] - F[5]), 0.5 * (F[2] - F[6]), 0.5 * (F[3] - F[1])}, E);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            T[3 * i + j] = 0;
            for (int k = 0; k < 3; k++) T[3 * i + j] += E[3 * i + k] * S[3 * k + j];
        }
}

// Normal equations of min sum V |grad y - T|^2 over the tets of the linear material; nodes of `stay` keep their x.
// With none of them the mean of y, by mass, is that of x: a multiplier for each component.
static void dense_warp(const rbt_model *m, const unsigned char *stay, const double *x, double *y) {
    size_t n = m->node_count, N = n + 1;
    bool any = memchr(stay, 1, n);
    double *A = new_matrix(N, N), *b = new_matrix(N, 3);
    for (size_t t = 0; t < m->tet_count; t++) {
        const int32_t *tet = m->tets + 4 * t;
        double G[4][3], T[9], volume = rbt_tet_gradients(m->X, tet, G);
        if (m->regions[m->tet_region[t]].material.model != rbt_material_find("linear")) continue;
        target(x, tet, (const double(*)[3])G, T);
        for (int a = 0; a < 4; a++) {
            for (int c = 0; c < 4; c++) A[(size_t)tet[a] * N + (size_t)tet[c]] += volume * rbt_dot(G[a], G[c]);
            for (int i = 0; i < 3; i++) b[3 * tet[a] + i] += volume * rbt_dot(T + 3 * i, G[a]);
        }
    }
    for (size_t k = 0; k < n; k++) {
        if (stay[k]) {
            memset(A + k * N, 0, N * sizeof *A);
            A[k * N + k] = 1;
            memcpy(b + 3 * k, x + 3 * k, 3 * sizeof *b);
        } else if (!any) {
            A[n * N + k] = A[k * N + n] = m->mass[k];
            for (size_t i = 0; i < 3; i++) b[3 * n + i] += m->mass[k] * x[3 * k + i];
        }
    }
    if (any) A[n * N + n] = 1;
    assert_true(rbt_dense_solve(N, A, 3, b));
    memcpy(y, b, 3 * n * sizeof *y);
    free(A), free(b);
}

static double apart(const double *a, const double *b, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

static void warping_is_the_least_square(void **state) {
    (void)state;
    static const char *const bodies[] = {"", FIXED, MIXED, FIXED MIXED};
    for (int k = 0; k < 4; k++) {
        rbt_sim *sim = bar(5, bodies[k]);
        const rbt_model *m = sim->model;
        size_t n = 3 * m->node_count;
        double *x = new_matrix(n, 1), *y = new_matrix(n, 1), *z = new_matrix(n, 1);
        unsigned char *stay = calloc(m->node_count, 1);
        for (size_t i = 0; i < n; i++) {
            // turns of up to several times around
            x[i] = m->X[i] + (k == 3 ? 3 : 0.3) * uniform(-0.5, 0.5);
        }
        for (size_t v = 0; v < m->node_count; v++) stay[v] = m->role[v] != RBT_FREE;
        for (size_t t = 0; t < m->tet_count; t++)
            for (size_t a = 0; a < 4; a++)
                if (m->regions[m->tet_region[t]].material.model != rbt_material_find("linear"))
                    stay[m->tets[4 * t + a]] = 1;
        warp(sim, x, y);
        dense_warp(m, stay, x, z);
        double difference = apart(y, z, n) / apart(x, z, n);
        if (!(difference < 1e-12)) print_error("%d: %g\n", k, difference);
        assert_true(difference < 1e-12);
        for (size_t v = 0; v < m->node_count; v++)
            if (stay[v]) assert_memory_equal(y + 3 * v, x + 3 * v, 3 * sizeof *x);
        free(x), free(y), free(z), free(stay);
        rbt_sim_free(sim);
    }
}

// x = X + A X for any symmetric A stays as it is.
static void without_turns_nothing_changes(void **state) {
    (void)state;
    rbt_sim *sim = bar(10, "");
    size_t n = sim->model->node_count;
    double *x = new_matrix(n, 3), *y = new_matrix(n, 3);
    static const double A[9] = {0.5, 0.2, -0.3, 0.2, -0.4, 0.1, -0.3, 0.1, 0.7};
    for (size_t v = 0; v < n; v++)
        for (size_t i = 0; i < 3; i++)
            x[3 * v + i] = sim->model->X[3 * v + i] + rbt_dot(A + 3 * i, sim->model->X + 3 * v);
    warp(sim, x, y);
    assert_true(apart(x, y, 3 * n) < 1e-14);
    free(x), free(y);
    rbt_sim_free(sim);
}

// What linear elasticity makes of a turn by w, x = X + w x X, becomes the turn, about the centre of mass.
static void small_turns_become_whole(void **state) {
    (void)state;
    static const double turns[][3] = {{1e-9, 2e-9, 0}, {0.3, -0.7, 0.9}, {0, 0, 3.1}, {4, 5, -6}};
    rbt_sim *sim = bar(10, "");
    const rbt_model *m = sim->model;
    size_t n = m->node_count;
    double *x = new_matrix(n, 3), *y = new_matrix(n, 3), centre[3] = {0};
    for (size_t v = 0; v < n; v++) rbt_add_scaled(centre, m->mass[v] / m->bodies[0].mass, m->X + 3 * v);
    for (int k = 0; k < 4; k++) {
        double most = 0, axis[3];
        rbt_normalize(turns[k], axis);
        for (size_t v = 0; v < n; v++) {
            double r[3];
            rbt_subtract(m->X + 3 * v, centre, r);
            rbt_cross(turns[k], r, x + 3 * v);
            rbt_add_scaled(x + 3 * v, 1, m->X + 3 * v);
        }
        warp(sim, x, y);
        for (size_t v = 0; v < n; v++) {
            double turned[3];
            rbt_rotate(m->X + 3 * v, centre, axis, rbt_length(turns[k]), turned);
            most = fmax(most, apart(turned, y + 3 * v, 3));
        }
        if (!(most < 1e-12)) print_error("turn %d: %g\n", k, most);
        assert_true(most < 1e-12);
    }
    free(x), free(y);
    rbt_sim_free(sim);
}

// The linear bending of a bar to a given angle, u = k (-x y, x^2 / 2, 0), and a turn by w about the same axis
static void bend(const rbt_model *m, double angle, double w, double *x) {
    for (size_t v = 0; v < m->node_count; v++) {
        const double *X = m->X + 3 * v;
        double s = X[0] - m->X[0], h = X[1] - m->X[1];
        double u[3] = {-angle * s * h - w * h, angle * s * s / 2 + w * s, 0};
        for (size_t i = 0; i < 3; i++) x[3 * v + i] = X[i] + u[i];
    }
}

// It becomes an arc, all the more the finer the mesh: errors fall with the square of the size of elements; and its
// turn, whole.
static void a_bent_bar_becomes_an_arc(void **state) {
    (void)state;
    const double angle = 2, w = 1.3;
    double error[2];
    for (int k = 0; k < 2; k++) {
        rbt_sim *sim = bar(k ? 20 : 10, FIXED);
        const rbt_model *m = sim->model;
        size_t n = m->node_count;
        double *x = new_matrix(n, 3), *y = new_matrix(n, 3), size = 0;
        bend(m, angle, 0, x);
        warp(sim, x, y);
        error[k] = 0;
        for (size_t v = 0; v < n; v++) {
            double s = m->X[3 * v] - m->X[0], h = m->X[3 * v + 1] - m->X[1], r = 1 / angle - h;
            double arc[3] = {m->X[0] + r * sin(angle * s), m->X[1] + 1 / angle - r * cos(angle * s), m->X[3 * v + 2]};
            error[k] = fmax(error[k], apart(arc, y + 3 * v, 3));
            size = fmax(size, apart(arc, x + 3 * v, 3));
        }
        assert_true(error[k] < 0.05 * size);
        free(x), free(y);
        rbt_sim_free(sim);
    }
    if (!(log2(error[0] / error[1]) > 1.5)) print_error("errors %g %g\n", error[0], error[1]);
    assert_true(log2(error[0] / error[1]) > 1.5);

    rbt_sim *sim = bar(10, "");
    const rbt_model *m = sim->model;
    size_t n = m->node_count;
    double *x = new_matrix(n, 3), *y = new_matrix(n, 3), *z = new_matrix(n, 3), most = 0, from[3], to[3];
    bend(m, angle, 0, x);
    warp(sim, x, y);
    bend(m, angle, w, x);
    warp(sim, x, z);
    for (size_t v = 0; v < n; v++) {
        rbt_subtract(y + 3 * v, y, from);
        rbt_subtract(z + 3 * v, z, to);
        double turned[3];
        rbt_rotate(from, (double[3]){0}, (double[3]){0, 0, 1}, w, turned);
        most = fmax(most, apart(turned, to, 3));
    }
    assert_true(most < 1e-12);
    free(x), free(y), free(z);
    rbt_sim_free(sim);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warping_is_the_least_square),
        cmocka_unit_test(without_turns_nothing_changes),
        cmocka_unit_test(small_turns_become_whole),
        cmocka_unit_test(a_bent_bar_becomes_an_arc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
