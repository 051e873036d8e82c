// The method schroeder against its equations in dense matrices, in its limits, and what it loses.
#include "base/threads.h"
#include "tempo_bar.h"

static rbt_sim *with(const char *model, double h, const char *body, const char *scene) {
    return bar_with(model, "schroeder", h, "", body, scene);
}

#define DRIVEN                                                                                                       \
    ", 'driven': [{'where': {'box': {'min': [0, 0, 0], 'max': [0.01, 1, 1], 'relative': true}}, 'motions': "         \
    "[{'oscillation': {'amplitude': [0, 0.02, 0], 'frequency': 3}}], 'release': 0.1469}]"
#define GROUND ", 'obstacles': [{'plane': {'point': [0, 0.01, 0], 'stiffness': 1e5}}]"

// ---- One step in dense matrices: a linear bar without constrained nodes

// K of the elements whose nodes are all in this part
static void own_stiffness(const rbt_model *m, int part, double *K) {
    size_t n = 3 * m->node_count;
    memset(K, 0, n * n * sizeof *K);
    for (size_t g = 0; g < m->group_count; g++)
        for (size_t e = 0; e < m->groups[g].count; e++) {
            const int32_t *nodes = m->groups[g].nodes + 4 * e;
            double local[144];
            bool inside = true;
            for (int a = 0; a < 4; a++) inside &= m->tempos.node[nodes[a]] == part;
            if (!inside) continue;
            m->groups[g].type->local(&m->groups[g], e, m->X, NULL, RBT_TANGENT, local);
            for (size_t i = 0; i < 12; i++)
                for (size_t j = 0; j < 12; j++)
                    K[(3 * (size_t)nodes[i / 3] + i % 3) * n + 3 * (size_t)nodes[j / 3] + j % 3] += local[12 * i + j];
        }
}

static double row_times(const double *row, const double *x, size_t n) {
    double sum = 0;
    for (size_t j = 0; j < n; j++) sum += row[j] * x[j];
    return sum;
}

// One step of a part alone, from time t
static void dense_alone(const rbt_model *m, int part, double t, double h, const double *K, double *x, double *v) {
    size_t n = 3 * m->node_count;
    const rbt_damping_def *damping = &m->bodies[0].damping;
    double *A = new_matrix(n, n), *b = new_matrix(n, 1), *f = new_matrix(n, 1), *u = new_matrix(n, 1);
    rbt_force_external(m, t, x, v, f);
    for (size_t i = 0; i < n; i++) u[i] = x[i] - m->X[i];
    for (size_t i = 0; i < n; i++) {
        bool inside = m->tempos.node[i / 3] == part;
        double mass = m->mass[i / 3];
        for (size_t j = 0; j < n; j++) A[i * n + j] = inside ? h * damping->stiffness * K[i * n + j] : 0;
        A[i * n + i] += inside ? (1 + h * damping->mass) * mass : 1;
        b[i] = inside ? mass * v[i] + h * (f[i] - row_times(K + i * n, u, n)) : v[i];
    }
    assert_true(rbt_dense_solve(n, A, 1, b));
    for (size_t i = 0; i < n; i++)
        if (m->tempos.node[i / 3] == part) {
            v[i] = b[i];
            x[i] += h * b[i];
        }
    free(A), free(b), free(f), free(u);
}

static int steps_of(const rbt_model *m, int part) {
    return part < 0 ? 1 : m->tempos.items[part].substeps * steps_of(m, m->tempos.items[part].parent);
}

static void dense_step_of(const rbt_sim *sim, double H, double *x, double *v) {
    const rbt_model *m = sim->model;
    size_t n = 3 * m->node_count;
    const rbt_damping_def *damping = &m->bodies[0].damping;
    dense_step d = dense_of(sim, 1, H);
    assert_int_equal(d.N, n);
    double *own = new_matrix(n, n), *A = new_matrix(n, n), *b = new_matrix(n, 1), *f = new_matrix(n, 1),
           *u = new_matrix(n, 1);
    memcpy(x, sim->state.x, n * sizeof *x);
    memcpy(v, sim->state.v, n * sizeof *v);
    for (int p = 0; p < (int)m->tempos.count; p++) {
        own_stiffness(m, p, own);
        for (int k = 0; k + 1 < steps_of(m, p); k++)
            dense_alone(m, p, sim->state.t + k * H / steps_of(m, p), H / steps_of(m, p), own, x, v);
    }
    for (size_t i = 0; i < n; i++) u[i] = x[i] - m->X[i];
    for (size_t i = 0; i < n; i++) {  // in terms of velocities
        double h = H / steps_of(m, m->tempos.node[i / 3]);
        rbt_force_external(m, sim->state.t + H - h, x, v, f);
        b[i] = m->mass[i / 3] * v[i] + h * (f[i] - row_times(d.K + i * n, u, n));
        for (size_t j = 0; j < n; j++) {
            double other = H / steps_of(m, m->tempos.node[j / 3]), D = damping->stiffness * d.K[i * n + j];
            A[i * n + j] = h * other * d.K[i * n + j];
            if (h == other) A[i * n + j] += h * D;
            else b[i] -= h * D * v[j];
        }
        A[i * n + i] += (1 + h * damping->mass) * m->mass[i / 3];
    }
    assert_true(rbt_dense_solve(n, A, 1, b));
    for (size_t i = 0; i < n; i++) {
        v[i] = b[i];
        x[i] += H / steps_of(m, m->tempos.node[i / 3]) * b[i];
    }
    dense_free(&d);
    free(own), free(A), free(b), free(f), free(u);
}

static void a_step_is_the_dense_one(void **state) {
    (void)state;
    static const char *const tempi[] = {ENDS("1"), ENDS("5"), TWO("2", "7"), NESTED("2", "6")};
    for (int t = 0; t < 4; t++)
        for (int damped = 0; damped < 2; damped++) {
            char body[1024];
            snprintf(body, sizeof body, "%s%s", tempi[t], damped ? DAMPED : "");
            rbt_sim *sim = with("linear", 0.02, body, PULSE);
            size_t n = 3 * sim->model->node_count;
            double *x = new_matrix(n, 1), *v = new_matrix(n, 1);
            advance(sim, 2);
            dense_step_of(sim, 0.02, x, v);
            advance(sim, 1);
            double size = 0;
            for (size_t i = 0; i < n; i++) size = fmax(size, fabs(v[i]));
            double error = fmax(largest(sim->state.x, x, n), largest(sim->state.v, v, n) / size);
            if (!(error < 1e-12)) print_error("%d %d: %g\n", t, damped, error);
            assert_true(error < 1e-12);
            free(x), free(v);
            rbt_sim_free(sim);
        }
}

// ---- Limits

static void one_step_for_all_is_backward_euler(void **state) {
    (void)state;
    static const char *const models[] = {"linear", "corotational", "stable-neo-hookean"};
    static const char *const tempi[] = {"", ENDS("1"), NESTED("1", "1")};
    for (int model = 0; model < 3; model++)
        for (int t = 0; t < 3; t++) {
            char body[1024];
            snprintf(body, sizeof body, "%s%s", tempi[t], t % 2 ? DAMPED DRIVEN : DRIVEN);
            rbt_sim *a = with(models[model], 0.02, body, GRAVITY GROUND);
            rbt_sim *b = bar_with(models[model], "semi-implicit", 0.02, "", body, GRAVITY GROUND);
            advance(a, 12);
            advance(b, 12);
            double difference = distance(a, b);
            if (!(difference < 1e-11)) print_error("%s %d: %g\n", models[model], t, difference);
            assert_true(difference < 1e-11);
            rbt_sim_free(a);
            rbt_sim_free(b);
        }
}

// With every node in a part: all its steps but the last are symplectic Euler's, the last is semi-implicit Euler's.
static void everything_in_one_part_walks_alone(void **state) {
    (void)state;
    for (int driven = 0; driven < 2; driven++) {
        char all[1024];
        snprintf(all, sizeof all, ", 'tempo': [" LAYERS("0", "1", "4") "]%s", driven ? DRIVEN : "");
        rbt_sim *sim = with("corotational", 0.008, all, PULSE GROUND);
        rbt_sim *walk = bar_with("corotational", "symplectic-euler", 0.002, "", driven ? DRIVEN : "", PULSE GROUND);
        rbt_sim *last = bar_with("corotational", "semi-implicit", 0.002, "", driven ? DRIVEN : "", PULSE GROUND);
        size_t bytes = 3 * sim->model->node_count * sizeof(double);
        for (int k = 0; k < 5; k++) {
            advance(sim, 1);
            for (int i = 0; i < 4; i++) {
                rbt_sim *next = i < 3 ? walk : last, *other = i < 3 ? last : walk;
                advance(next, 1);
                memcpy(other->state.x, next->state.x, bytes);
                memcpy(other->state.v, next->state.v, bytes);
                other->state.t = next->state.t;
                other->state.frame = next->state.frame;
                other->state.step = next->state.step;
            }
        }
        double difference = distance(sim, last);
        if (!(difference < 1e-11)) print_error("driven %d: %g\n", driven, difference);
        assert_true(difference < 1e-11);
        rbt_sim_free(sim);
        rbt_sim_free(walk);
        rbt_sim_free(last);
    }
}

// ---- What it loses

// A bar is constrained in the middle and its end is pulled by a steady force until it rests: schroeder's end hangs on
// elements that pull on it in one of m steps only, and is drawn out much further.
static double stretch_of(const char *method, const char *tempo) {
    char body[1024];
    snprintf(body, sizeof body, "%s" FIXED ", 'damping': {'mass': 20}", tempo);
    rbt_sim *sim = bar_with("linear", method, 0.02, "", body,
                            ", 'forces': [{'pull': {'where': {'nodes': [0]}, 'force': [-1, 0, 0]}}]");
    advance(sim, 400);
    double far = sim->model->X[0] - sim->state.x[0];
    rbt_sim_free(sim);
    return far;
}

static void its_interfaces_are_too_soft(void **state) {
    (void)state;
    double exact = stretch_of("semi-implicit", ""), ours = stretch_of("multirate-euler", ENDS("8"));
    double soft = stretch_of("schroeder", ENDS("8"));
    assert_true(fabs(ours - exact) < 0.01 * exact);
    if (!(soft > 1.5 * exact)) print_error("%g against %g\n", soft, exact);
    assert_true(soft > 1.5 * exact);
}

static void threads_and_pauses_change_no_bit(void **state) {
    (void)state;
    static const char *const json =
        "{'rubato': 1, 'bodies': [{'name': 'dragon', 'mesh': {'shape': {'dragon': {'size': 1, 'resolution': 26}}}, "
        "'material': {'model': 'corotational', 'young': 1e4, 'poisson': 0.3, 'density': 1000}, 'damping': "
        "{'stiffness': 1e-4}, "
        "'tempo': [{'name': 'front', 'where': {'box': {'min': [0.75, 0, 0], 'max': [1, 1, 1], 'relative': true}}, "
        "'substeps': 10}], 'fixed': [{'box': {'min': [0, 0, 0], 'max': [1, 0.08, 1], 'relative': true}}], "
        "'velocity': "
        "{'angular': [3, 5, 1]}}], 'time': {'step': 0.01, 'frame': 0.01, 'end': 100}, 'integrator': {'method': "
        "'schroeder'}}";
    check_threads_and_pauses(sim_from, json);
}

int main(void) {
    rbt_threads_set(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_the_dense_one),
        cmocka_unit_test(one_step_for_all_is_backward_euler),
        cmocka_unit_test(everything_in_one_part_walks_alone),
        cmocka_unit_test(its_interfaces_are_too_soft),
        cmocka_unit_test(threads_and_pauses_change_no_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
