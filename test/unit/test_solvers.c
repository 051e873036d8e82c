// Step solvers: all find the same minimum; dot's matrix is what the paper says; the number of threads changes no bit.
#include "base/threads.h"
#include "dense.h"
#include "sampled.h"
#include "scene.h"
#include "sim/sim.h"
#include "solve/partition.h"
#include "step/implicit/solver.h"
#include "step/subdomain/subdomains.h"

// A soft cantilever that bends by half its length within 20 steps. 384 tets.
static double young = 2e3;  // [Pa]

static rbt_sim *cantilever(const char *method, const char *solver, const char *material, const char *options,
                           double tolerance, const int cells[3]) {
    char json[2048];
    snprintf(
        json, sizeof json,
        "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.8, 0.2, 0.2], "
        "'cells': [%d, %d, %d]}}}, "
        "'material': {'model': '%s', 'young': %g, 'poisson': 0.4, 'density': 1000}, 'fixed': ['left']}], "
        "'forces': [{'gravity': {}}], 'time': {'step': 0.02, 'frame': 0.02, 'end': 10}, "
        "'integrator': {'method': '%s', 'solver': '%s', 'max_halvings': 0, 'options': {'stop': 'characteristic', "
        "'tolerance': %g, 'max_iterations': 20000%s}}}",
        cells[0], cells[1], cells[2], material, young, method, solver, tolerance, options);
    return sim_from(json);
}

static const int SMALL[3] = {16, 2, 2};

static void advance_counting(rbt_sim *sim, int steps, int64_t *iterations) {
    rbt_step_report report;
    for (int k = 0; k < steps; k++) {
        if (!rbt_sim_advance_frame(sim, &report))
            fail_msg("%s, step %d: %s at %s, %s", rbt_material_name(sim->model->regions[0].material.model), k,
                     rbt_outcome_name(report.outcome), report.stage, report.hint);
        if (iterations) *iterations += report.statistics[RBT_STAT_ITERATIONS];
    }
}

// |x - y| in the norm of M
static double distance(const rbt_model *m, const double *x, const double *y) {
    double sum = 0;
    for (size_t i = 0; i < 3 * m->node_count; i++) sum += m->mass[i / 3] * (x[i] - y[i]) * (x[i] - y[i]);
    return sqrt(sum);
}

// A step stops where |grad E| <= t. Where E'' >= M, which holds as long as the elastic part is convex, its end is
// then within |grad E|_{1/M} <= t / sqrt(m_min) of the minimum in the norm of M. It enters the next steps as a
// position and, over h, as a velocity: at worst, in free flight, it grows to (1 + k) times its size after k steps;
// backward Euler only damps beside that. After n steps of two solvers with tolerance t: n (n + 1) / 2 times 2 t /
// sqrt(m_min).
static double allowed(const rbt_model *m, int steps, double epsilon) {
    rbt_objective o;
    double least = INFINITY;
    assert_true(rbt_objective_init(&o, m, NULL));
    o.tau = m->step;
    for (size_t n = 0; n < m->node_count; n++) least = fmin(least, m->mass[n]);
    double bound = 0.5 * steps * (steps + 1) * 2 * rbt_objective_tolerance(&o, epsilon) / sqrt(least);
    rbt_objective_free(&o);
    return bound;
}

typedef struct choice {
    const char *solver, *options;
} choice;

static const choice CHOICES[] = {
    {"dot", ", 'subdomains': 1"},
    {"dot", ", 'subdomains': 2"},
    {"dot", ", 'subdomains': 8"},
    {"dot", ", 'subdomains': 32"},
    {"dot", ""},
    {"dot", ", 'variant': 'paper', 'subdomains': 1"},
    {"dot", ", 'variant': 'paper', 'subdomains': 2"},
    {"dot", ", 'variant': 'paper', 'subdomains': 8"},
    {"dot", ", 'variant': 'paper', 'subdomains': 32"},
    {"dot", ", 'variant': 'paper'"},
    {"lbfgs-h", ""},
    {"lbfgs-pd", ""},
};
enum { CHOICE_COUNT = sizeof CHOICES / sizeof *CHOICES };

static void compare_with_newton(const choice *choices, size_t count) {
    const int steps = SAMPLED(20, 8);
    const double epsilon = 1e-8;
    for (int material = 0; rbt_material_name(material); material++) {
        const char *name = rbt_material_name(material);
        rbt_sim *newton = cantilever("backward-euler", "newton", name, "", epsilon, SMALL);
        const rbt_model *m = newton->model;
        advance_counting(newton, steps, NULL);
        double bound = allowed(m, steps, epsilon);
        assert_true(young > 2e3 || bound < 1e-3 * distance(m, newton->state.x, m->X));  // the bound says something
        for (size_t k = 0; k < count; k++) {
            rbt_sim *sim = cantilever("backward-euler", choices[k].solver, name, choices[k].options, epsilon, SMALL);
            advance_counting(sim, steps, NULL);
            double off = distance(m, sim->state.x, newton->state.x);
            if (!(off <= bound))
                fail_msg("%s %s%s: %g away from newton, allowed %g", name, choices[k].solver, choices[k].options, off,
                         bound);
            rbt_sim_free(sim);
        }
        rbt_sim_free(newton);
    }
}

static void all_find_the_same_minimum(void **state) {
    (void)state;
    compare_with_newton(CHOICES, CHOICE_COUNT);
}

// ADMM runs in circles where tets are pressed flat: it is asked about a body a thousand times as stiff.
static void admm_finds_it_where_strains_are_moderate(void **state) {
    (void)state;
    young = 2e6;
    compare_with_newton(&(choice){"admm-pd", ""}, 1);
    young = 2e3;
}

// The other rules are the same minimisation with other constants.
static void other_rules_too(void **state) {
    (void)state;
    const char *const RULES[] = {"implicit-midpoint", "bdf2"};
    const int steps = SAMPLED(20, 8);
    for (size_t r = 0; r < 2; r++) {
        rbt_sim *newton = cantilever(RULES[r], "newton", "fixed-corotated", "", 1e-8, SMALL);
        advance_counting(newton, steps, NULL);
        double bound =
            2 * allowed(newton->model, steps, 1e-8);  // the midpoint rule continues twice as far as its minimum
        for (size_t k = 0; k < CHOICE_COUNT; k++) {
            rbt_sim *sim =
                cantilever(RULES[r], CHOICES[k].solver, "fixed-corotated", CHOICES[k].options, 1e-8, SMALL);
            advance_counting(sim, steps, NULL);
            assert_true(distance(sim->model, sim->state.x, newton->state.x) <= bound);
            rbt_sim_free(sim);
        }
        rbt_sim_free(newton);
    }
}

// With linear elasticity E is quadratic: around the exact matrix one iteration ends a step.
static void quadratic_functions_take_one_iteration(void **state) {
    (void)state;
    const choice exact[] = {{"newton", ""}, {"lbfgs-h", ""}, {"dot", ", 'variant': 'paper', 'subdomains': 1"}};
    for (size_t k = 0; k < 3; k++) {
        int64_t iterations = 0;
        rbt_sim *sim = cantilever("backward-euler", exact[k].solver, "linear", exact[k].options, 1e-8, SMALL);
        advance_counting(sim, 5, &iterations);
        assert_int_equal(iterations, 5);
        rbt_sim_free(sim);
    }
}

// ---- dot's matrix

// D q for each unit vector q, against B S^T diag(H_j^-1) S made of dense principal sub-matrices.
static void check_matrix(const rbt_objective *o, size_t count, rbt_precision precision, double tolerance) {
    const rbt_model *m = o->model;
    size_t n = 3 * m->node_count;
    rbt_subdomains parts;
    rbt_step_report report = {0};
    bool changed;
    assert_true(rbt_subdomains_init(&parts, m, &o->H, count, precision, NULL));
    assert_int_equal(rbt_subdomains_analyse(&parts, o->constrained, &changed), RBT_DONE);
    assert_int_equal(rbt_subdomains_factor(&parts, m->X, &report), RBT_DONE);
    double *H = dense_of_blocks(&o->H), *q = calloc(n, sizeof *q), *r = calloc(n, sizeof *r),
           *expected = calloc(n, sizeof *expected), *A = calloc(n * n, sizeof *A), *b = calloc(n, sizeof *b),
           *x = calloc(n, sizeof *x);
    int *copies = calloc(m->node_count, sizeof *copies);
    for (size_t k = 0; k < parts.member_start[count]; k++) copies[parts.members[k]]++;
    for (size_t unit = 0; unit < n; unit += 7) {
        memset(q, 0, n * sizeof *q);
        memset(expected, 0, n * sizeof *expected);
        q[unit] = 1;
        for (size_t j = 0; j < count; j++) {
            const int32_t *nodes = parts.members + parts.member_start[j];
            int32_t rows[4096];
            size_t size = 0;
            for (size_t k = 0; k < parts.member_start[j + 1] - parts.member_start[j]; k++)
                for (int i = 0; i < 3; i++)
                    if (!o->constrained[nodes[k]]) rows[size++] = 3 * nodes[k] + i;
            for (size_t a = 0; a < size; a++) {
                b[a] = q[rows[a]];
                for (size_t c = 0; c < size; c++) A[a * size + c] = H[(size_t)rows[a] * n + (size_t)rows[c]];
            }
            if (size) assert_true(dense_solve(A, size, b, x));
            for (size_t a = 0; a < size; a++) expected[rows[a]] += x[a] / copies[rows[a] / 3];
        }
        assert_int_equal(rbt_subdomains_apply(&parts, q, r), RBT_DONE);
        double size = 0;
        for (size_t i = 0; i < n; i++) size = fmax(size, fabs(expected[i]));
        assert_true(dense_distance(r, expected, n) <= tolerance * size);
    }
    free(H), free(q), free(r), free(expected), free(A), free(b), free(x), free(copies);
    rbt_subdomains_free(&parts);
}

static void dots_matrix_is_the_papers(void **state) {
    (void)state;
    const int cells[3] = {6, 1, 2};
    const size_t counts[] = {1, 2, 8, 32};
    rbt_sim *sim = cantilever("backward-euler", "newton", "fixed-corotated", "", 1e-8, cells);
    advance_counting(sim, 10, NULL);
    rbt_objective o;
    assert_true(rbt_objective_init(&o, sim->model, NULL));
    o.tau = sim->model->step;
    rbt_constrained_nodes(sim->model, 0, o.constrained);
    rbt_objective_hessian(&o, sim->state.x);
    // Rounding times the condition of H: below 1e3 here, where M and h^2 K are of one size
    for (size_t k = 0; k < 4; k++) {
        check_matrix(&o, counts[k], RBT_DOUBLE, 1e3 * 1e-15);
        check_matrix(&o, counts[k], RBT_SINGLE, 1e3 * 1e-6);
    }
    rbt_objective_free(&o);
    rbt_sim_free(sim);
}

// Every element is in a part, parts differ little in size, and nodes are listed once in each part that touches them.
static void parts_are_even(void **state) {
    (void)state;
    const int cells[3] = {12, 6, 6};
    rbt_sim *sim = cantilever("backward-euler", "newton", "fixed-corotated", "", 1e-8, cells);
    const rbt_model *m = sim->model;
    size_t *start = calloc(m->tet_count + 1, sizeof *start), sizes[32];
    int32_t *part = calloc(m->tet_count, sizeof *part), *again = calloc(m->tet_count, sizeof *again);
    for (size_t t = 0; t <= m->tet_count; t++) start[t] = 4 * t;
    for (int count = 1; count <= 32; count *= 2) {
        assert_true(rbt_partition(m->tet_count, start, m->tets, m->node_count, count, part, NULL));
        assert_true(rbt_partition(m->tet_count, start, m->tets, m->node_count, count, again, NULL));
        assert_memory_equal(part, again, m->tet_count * sizeof *part);
        memset(sizes, 0, sizeof sizes);
        for (size_t t = 0; t < m->tet_count; t++) {
            assert_in_range(part[t], 0, count - 1);
            sizes[part[t]]++;
        }
        for (int j = 0; j < count; j++)  // METIS promises 3 %; of small parts a few elements more
            assert_true((double)sizes[j] * count <= 1.03 * (double)m->tet_count + 8 * count && sizes[j] > 0);
    }
    free(start), free(part), free(again);
    rbt_sim_free(sim);
}

// ---- Threads

static void threads_change_no_bit(void **state) {
    (void)state;
    const int cells[3] = {24, 7, 7}, threads[] = {1, 2, 3, 8};  // 1600 nodes: enough for several threads
    const choice choices[] = {{"newton", ""},
                              {"dot", ", 'subdomains': 5"},
                              {"dot", ", 'variant': 'paper', 'subdomains': 2"},
                              {"dot", ""},
                              {"lbfgs-h", ""},
                              {"lbfgs-pd", ""},
                              {"admm-pd", ""}};
    for (size_t k = 0; k < sizeof choices / sizeof *choices; k++) {
        double *first = NULL;
        for (int t = 0; t < 4; t += LONG(1, 2)) {
            rbt_threads_set(threads[t]);
            rbt_sim *sim =
                cantilever("backward-euler", choices[k].solver, "fixed-corotated", choices[k].options, 1e-5, cells);
            size_t bytes = 3 * sim->model->node_count * sizeof(double);
            advance_counting(sim, SAMPLED(3, 1), NULL);
            if (!first) {
                first = malloc(bytes);
                memcpy(first, sim->state.x, bytes);
            } else if (memcmp(first, sim->state.x, bytes) != 0)
                fail_msg("%s%s: %d threads give other bits than 1", choices[k].solver, choices[k].options,
                         threads[t]);
            rbt_sim_free(sim);
        }
        free(first);
    }
    rbt_threads_set(0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_find_the_same_minimum), cmocka_unit_test(admm_finds_it_where_strains_are_moderate),
        cmocka_unit_test(other_rules_too),           cmocka_unit_test(quadratic_functions_take_one_iteration),
        cmocka_unit_test(dots_matrix_is_the_papers), cmocka_unit_test(parts_are_even),
        cmocka_unit_test(threads_change_no_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
