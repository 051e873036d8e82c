// multirate-euler against its equations as one dense system, backward Euler, single rates, and itself.
#include "base/threads.h"
#include "tempo_bar.h"

// ---- All rows at once: every velocity of every part at each of its instants is an unknown. Row of part P at instant
// k:
//   sum_b M_ab (V_b,k - V_b,k-1) + h (D_ab V_b,k + K_ab U_b,k) = h (f_a,k - f_int,0)
// where b goes over all free nodes, V and U are velocity and way as P sees them: a child's at the end of P's step, a
// parent's interpolated. These are the rows of the paper's system (with y_k = v_k - v_0 as unknowns its blocks A, C,
// G, H^SL, H^LS, H^LL).

typedef struct reference {
    const rbt_model *m;
    const rbt_tempos *tempos;
    bool averaged;
    double H;
    size_t unknowns, *first;  // (3 node_count) first unknown of a value; its instants follow, SIZE_MAX: constrained
} reference;

static int part_of(const reference *r, size_t value) { return r->tempos->count ? r->tempos->node[value / 3] : -1; }
static int parent_of(const reference *r, int p) { return p < 0 ? -2 : r->tempos->items[p].parent; }
static int instants(const reference *r, int p) {
    return p < 0 ? 1 : r->tempos->items[p].substeps * instants(r, parent_of(r, p));
}
static double theta_of(const reference *r, int p) {
    double theta = 0;
    for (size_t i = 0; i < r->tempos->count; i++)
        if (r->tempos->items[i].parent == p) theta = fmax(theta, 0.5 + 0.5 / r->tempos->items[i].substeps);
    return r->averaged && theta > 0 ? theta : 1;
}

// Adds factor times velocity k of a part to coefficients c (instants + 1): c[0] belongs to the start
static void velocity(double factor, int k, double *c) { c[k] += factor; }
static void way(const reference *r, int p, double factor, int k, double *c) {
    double h = r->H / instants(r, p), theta = theta_of(r, p);
    for (int l = 1; l <= k; l++) {
        velocity(factor * h * (1 - theta), l - 1, c);
        velocity(factor * h * theta, l, c);
    }
}

// The same of part q as p sees it at its own instant k
static void seen_velocity(const reference *r, int p, int q, double factor, int k, double *c) {
    int n = instants(r, p), o = instants(r, q);
    if (o >= n) {
        velocity(factor, k * (o / n), c);
        return;
    }
    int m = n / o, j = k / m, i = k % m;
    velocity(factor * (1 - (double)i / m), j, c);
    if (i) velocity(factor * i / m, j + 1, c);
}
static void seen_way(const reference *r, int p, int q, double factor, int k, double *c) {
    int n = instants(r, p), o = instants(r, q);
    if (p == q || parent_of(r, q) == p) {
        way(r, q, factor, k * (o / n), c);
        return;
    }
    int m = n / o, j = (k - 1) / m;
    double kappa = r->averaged ? theta_of(r, q) / (0.5 + 0.5 / m) : 1;
    way(r, q, factor, j, c);
    for (int l = j * m + 1; l <= k; l++)
        for (int end = 0; end < 2; end++)
            velocity(factor * r->H / n * (end ? kappa * (l - j * m) / m : 1 - kappa * (l - j * m) / m), j + end, c);
}

// Q (z - v_0) = q - Q v_0, with unknowns of the root last; condensed and symmetrised if asked for. Fills v and x of
// the free.
static void dense_multirate(const rbt_sim *sim, double H, bool averaged, bool symmetric, double *x, double *v) {
    const rbt_model *m = sim->model;
    size_t n = 3 * m->node_count, roots = 0;
    reference r = {m, &m->tempos, averaged, H, 0, malloc(n * sizeof(size_t))};
    dense_step d = dense_of(sim, 1, H);
    unsigned char *is_free = calloc(n, 1);
    for (size_t i = 0; i < d.N; i++) is_free[d.free[i]] = 1;
    for (int root = 0; root < 2; root++)
        for (size_t i = 0; i < n; i++) {
            if (!i) roots = r.unknowns;
            if (!is_free[i]) r.first[i] = SIZE_MAX;
            else if ((part_of(&r, i) < 0) == root) {
                r.first[i] = r.unknowns;
                r.unknowns += (size_t)instants(&r, part_of(&r, i));
            }
        }
    size_t N = r.unknowns;
    double *Q = new_matrix(N, N), *q = new_matrix(N, 1), *c = new_matrix(4096, 1), *f = new_matrix(n, 1);
    double *partial = new_matrix(3 * m->plan.slot_count, 1), *internal = new_matrix(n, 1), *zero = new_matrix(n, 1);
    rbt_force_elastic(m, sim->state.x, NULL, partial, internal);
    for (size_t i = 0; i < d.N; i++) {
        size_t a = d.free[i];
        int p = part_of(&r, a), count = instants(&r, p);
        double h = H / count;
        for (int k = 1; k <= count; k++) {
            size_t row = r.first[a] + (size_t)k - 1;
            double *place = new_matrix(n, 1);
            for (size_t e = 0; e < n; e++) place[e] = sim->state.x[e] + (k - 1) * h * sim->state.v[e];
            rbt_force_external(m, sim->state.t + (k - 1) * h, place, sim->state.v, f);
            free(place);
            q[row] = h * (f[a] + internal[a]);
            for (size_t j = 0; j < d.N; j++) {
                size_t b = d.free[j];
                int o = part_of(&r, b), others = instants(&r, o);
                double M = d.M[i * d.N + j], K = d.K[i * d.N + j], D = d.D[i * d.N + j];
                if (M == 0 && K == 0) continue;
                memset(c, 0, (size_t)(others + 1) * sizeof *c);
                seen_velocity(&r, p, o, M + h * D, k, c);
                seen_velocity(&r, p, o, -M, k - 1, c);
                seen_way(&r, p, o, h * K, k, c);
                q[row] -= c[0] * d.v[j];
                for (int l = 1; l <= others; l++) {
                    Q[row * N + r.first[b] + (size_t)l - 1] += c[l];
                    q[row] -= c[l] * d.v[j];
                }
            }
        }
    }
    // Condensation: rows before `roots` are the parts' with short steps.
    size_t S = roots, L = N - S, columns = L + 1;
    double *A = new_matrix(S, S), *X = new_matrix(S, columns), *star = new_matrix(L, L), *delta = new_matrix(N, 1);
    for (size_t i = 0; i < S; i++) {
        memcpy(A + i * S, Q + i * N, S * sizeof *A);
        memcpy(X + i * columns, Q + i * N + S, L * sizeof *X);
        X[i * columns + L] = q[i];
    }
    if (S) assert_true(rbt_dense_solve(S, A, columns, X));
    for (size_t i = 0; i < L; i++) {
        delta[S + i] = q[S + i];
        for (size_t k = 0; k < S; k++) delta[S + i] -= Q[(S + i) * N + k] * X[k * columns + L];
        for (size_t j = 0; j < L; j++) {
            star[i * L + j] = Q[(S + i) * N + S + j];
            for (size_t k = 0; k < S; k++) star[i * L + j] -= Q[(S + i) * N + k] * X[k * columns + j];
        }
    }
    for (size_t i = 0; symmetric && i < L; i++)
        for (size_t j = 0; j < i; j++) star[i * L + j] = star[j * L + i] = 0.5 * (star[i * L + j] + star[j * L + i]);
    if (L) assert_true(rbt_dense_solve(L, star, 1, delta + S));
    for (size_t i = 0; i < S; i++) {
        delta[i] = X[i * columns + L];
        for (size_t j = 0; j < L; j++) delta[i] -= X[i * columns + j] * delta[S + j];
    }
    memcpy(x, sim->state.x, n * sizeof *x);
    memcpy(v, sim->state.v, n * sizeof *v);
    for (size_t i = 0; i < d.N; i++) {
        size_t a = d.free[i];
        int p = part_of(&r, a), count = instants(&r, p);
        memset(c, 0, (size_t)(count + 1) * sizeof *c);
        way(&r, p, 1, count, c);
        x[a] += c[0] * d.v[i];
        for (int l = 1; l <= count; l++) x[a] += c[l] * (d.v[i] + delta[r.first[a] + (size_t)l - 1]);
        v[a] += delta[r.first[a] + (size_t)count - 1];
    }
    dense_free(&d);
    free(r.first), free(is_free), free(Q), free(q), free(c), free(f), free(partial), free(internal), free(zero);
    free(A), free(X), free(star), free(delta);
}

// Difference between a step and the dense system, relative to what the step changes
static double against_dense(rbt_sim *sim, double H, bool averaged, bool symmetric) {
    advance(sim, 2);
    size_t n = 3 * sim->model->node_count;
    double *x = malloc(n * sizeof *x), *v = malloc(n * sizeof *v), *x0 = malloc(n * sizeof *x0);
    double *v0 = malloc(n * sizeof *v0);
    memcpy(x0, sim->state.x, n * sizeof *x0);
    memcpy(v0, sim->state.v, n * sizeof *v0);
    dense_multirate(sim, H, averaged, symmetric, x, v);
    advance(sim, 1);
    double error =
        fmax(largest(sim->state.x, x, n) / largest(x0, x, n), largest(sim->state.v, v, n) / largest(v0, v, n));
    free(x), free(v), free(x0), free(v0);
    rbt_sim_free(sim);
    if (!(error < 1e-12)) print_error("difference %g\n", error);
    return error;
}

static void a_step_is_the_dense_system(void **state) {
    (void)state;
    static const char *const tempi[] = {ENDS("1"), ENDS("2"), ENDS("7"), ENDS("20"), TWO("2", "7"), TWO("20", "3")};
    static const char *const bodies[] = {"", DAMPED, MASS, DAMPED MASS};
    for (size_t t = 0; t < sizeof tempi / sizeof *tempi; t++)
        for (size_t b = 0; b < 4; b++) {
            char body[1024];
            snprintf(body, sizeof body, "%s%s%s", tempi[t], bodies[b], b % 2 ? FIXED : "");
            double H = b % 2 ? 0.04 : 0.01;
            assert_true(against_dense(bar("", H, body, GRAVITY), H, true, true) < 1e-12);
            assert_true(against_dense(bar(LU, H, body, GRAVITY), H, true, false) < 1e-12);
            if (b == 1 || b == 2) {
                assert_true(against_dense(bar(AT_END, H, body, GRAVITY), H, false, true) < 1e-12);
                assert_true(against_dense(bar(LU AT_END, H, body, GRAVITY), H, false, false) < 1e-12);
            }
        }
}

static void nested_parts_are_the_dense_system(void **state) {
    (void)state;
    static const char *const tempi[] = {NESTED("2", "6"), NESTED("3", "3"), NESTED("1", "5"), NESTED("4", "12")};
    for (size_t t = 0; t < sizeof tempi / sizeof *tempi; t++) {
        char body[1024];
        snprintf(body, sizeof body, "%s%s", tempi[t], t % 2 ? DAMPED MASS FIXED : "");
        assert_true(against_dense(bar(LU, 0.02, body, GRAVITY), 0.02, true, false) < 1e-12);
        assert_true(against_dense(bar(LU AT_END, 0.02, body, GRAVITY), 0.02, false, false) < 1e-12);
    }
}

static void forces_inside_the_step_are_seen(void **state) {
    (void)state;
    assert_true(against_dense(bar(LU, 0.02, TWO("4", "8") DAMPED, PULSE), 0.02, true, false) < 1e-12);
    assert_true(against_dense(bar(LU, 0.02, NESTED("2", "6"), PULSE), 0.02, true, false) < 1e-12);
}

// ---- Limits

// After some steps of both, of the second `times` as many
static double apart(rbt_sim *a, rbt_sim *b, int steps, int times) {
    advance(a, steps);
    advance(b, steps * times);
    double difference = distance(a, b);
    rbt_sim_free(a);
    rbt_sim_free(b);
    return difference;
}

static void one_substep_is_backward_euler(void **state) {
    (void)state;
    static const char *const models[] = {"linear", "corotational", "stable-neo-hookean"};
    static const char *const tempi[] = {"", ENDS("1"), TWO("1", "1"), NESTED("1", "1")};
#define GROUND ", 'obstacles': [{'plane': {'point': [0, 0.01, 0], 'stiffness': 1e5}}]"
#define DRIVEN                                                                                                       \
    ", 'driven': [{'where': {'box': {'min': [0, 0, 0], 'max': [0.01, 1, 1], 'relative': true}}, 'motions': "         \
    "[{'oscillation': {'amplitude': [0, 0.02, 0], 'frequency': 3}}], 'release': 0.1469}]"
    for (int model = 0; model < 3; model++)
        for (int t = 0; t < 4; t++)
            for (int lu = 0; lu < 2; lu++) {
                char body[1024];
                snprintf(body, sizeof body, "%s%s", tempi[t], t % 2 ? DAMPED MASS DRIVEN : DRIVEN);
                rbt_sim *a = bar_with(models[model], "multirate-euler", 0.02, lu ? LU : "", body, GRAVITY GROUND);
                rbt_sim *b = bar_with(models[model], "semi-implicit", 0.02, "", body, GRAVITY GROUND);
                double difference = apart(a, b, 12, 1);
                if (!(difference < 1e-11)) print_error("%s %d: %g\n", models[model], t, difference);
                assert_true(difference < 1e-11);
            }
}

// With every node in a part the step is the short one; a linear model, since stiffness is looked up once per long step.
static void everything_in_one_part_is_the_short_step(void **state) {
    (void)state;
    static const char *const bodies[] = {"", DAMPED, DAMPED MASS DRIVEN};
    for (int b = 0; b < 3; b++) {
        char all[1024], none[1024];
        snprintf(all, sizeof all, ", 'tempo': [" LAYERS("0", "1", "7") "]%s", bodies[b]);
        snprintf(none, sizeof none, "%s", bodies[b]);
        double difference =
            apart(bar("", 0.021, all, PULSE), bar_with("linear", "semi-implicit", 0.003, "", none, PULSE), 9, 7);
        if (!(difference < 1e-11)) print_error("body %d: %g\n", b, difference);
        assert_true(difference < 1e-11);
        // on the ground, which every short step meets again
        difference = apart(bar("", 0.021, all, PULSE GROUND),
                           bar_with("linear", "semi-implicit", 0.003, "", none, PULSE GROUND), 20, 7);
        if (!(difference < 1e-11)) print_error("body %d on the ground: %g\n", b, difference);
        assert_true(difference < 1e-11);
    }
}

// A selection of two ends is two parts, bit for bit.
static void what_does_not_touch_is_parts_of_its_own(void **state) {
    (void)state;
    rbt_sim *one =
        bar("", 0.02,
            ", 'tempo': [{'where': {'any': [{'box': {'min': [0, 0, 0], 'max': [0.2, 1, 1], 'relative': true}}, "
            "{'box': {'min': [0.8, 0, 0], 'max': [1, 1, 1], 'relative': true}}]}, 'substeps': 4}]",
            GRAVITY);
    rbt_sim *two = bar("", 0.02, TWO("4", "4"), GRAVITY);
    assert_int_equal(one->model->tempos.count, 2);
    advance(one, 3);
    advance(two, 3);
    assert_memory_equal(one->state.x, two->state.x, 3 * one->model->node_count * sizeof(double));
    assert_memory_equal(one->state.v, two->state.v, 3 * one->model->node_count * sizeof(double));
    rbt_sim_free(one);
    rbt_sim_free(two);
}

// A part inside another with as many steps is a part of it; inside one with a single step it is alone.
static void nested_parts_have_their_limits(void **state) {
    (void)state;
    assert_true(apart(bar(LU, 0.02, NESTED("6", "6"), GRAVITY),
                      bar(LU, 0.02, ", 'tempo': [" LAYERS("0", "0.7", "6") "]", GRAVITY), 5, 1) < 1e-11);
    assert_true(apart(bar(LU AT_END, 0.02, NESTED("1", "6"), GRAVITY), bar(LU AT_END, 0.02, ENDS("6"), GRAVITY), 5,
                      1) < 1e-11);
}

int main(void) {
    rbt_threads_set(1);  // many small systems, which threads only wait for
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_the_dense_system),
        cmocka_unit_test(nested_parts_are_the_dense_system),
        cmocka_unit_test(forces_inside_the_step_are_seen),
        cmocka_unit_test(one_substep_is_backward_euler),
        cmocka_unit_test(everything_in_one_part_is_the_short_step),
        cmocka_unit_test(nested_parts_have_their_limits),
        cmocka_unit_test(what_does_not_touch_is_parts_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
