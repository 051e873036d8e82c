// Methods of bodies in one coupled step (step/implicit/other_methods.h): its limits, momentum, crossings, refusals.
#include "contact_scene.h"
#include "random.h"
#include "sampled.h"
#include "sim/sim.h"
#include "solve/cholesky.h"
#include "verify/exact/intersect.h"

#define BALL(name, x, y, young, more)                                                                                \
    "{'name': '" name "', 'mesh': {'shape': {'ball': {'radius': 0.1, 'layers': 2}}}, 'transform': {'translate': [" x \
    ", " y ", 0]}, 'material': {'model': '%s', 'young': " young ", 'poisson': 0.3, 'density': 1000}" more "}"
#define METHOD(which, options) ", 'integrator': {'method': '" which "'" options "}"
#define SIX_MODES              METHOD("siere", ", 'options': {'modes': 6, 'tolerance': 1e-9}")
#define SIERE                  METHOD("siere", ", 'options': {'modes': 12, 'tolerance': 1e-9}")

// Two balls that fly at each other, off centre; `first` and `second`: what they have besides
static rbt_sim *collision(const char *model, const char *first, const char *second, const char *contact,
                          const char *integrator) {
    char bodies[2048];
    snprintf(bodies, sizeof bodies,
             BALL("stiff", "-0.11", "0", "1e7", ", 'velocity': {'linear': [3, 0, 0]}%s") ", " BALL(
                 "soft", "0.11", "0.05", "1e5", ", 'velocity': {'linear': [-1, 0, 0], 'angular': [1, 2, 3]}%s"),
             model, first, model, second);
    return contact_sim("{'rubato': 1, 'bodies': [%s], 'contact': {'thickness': 2e-3%s}, 'time': {'step': 0.004, "
                       "'frame': 0.004, 'end': 10}, 'integrator': {%s}}",
                       bodies, contact, integrator);
}

static void assert_same_bits(rbt_sim *a, rbt_sim *b, int steps) {
    size_t bytes = 3 * rbt_sim_node_count(a) * sizeof(double), touching = 0;
    for (int i = 0; i < steps; i++) {
        contact_try(a), contact_try(b);
        touching += rbt_sim_contacts(a, NULL, 0) > 0;
        assert_memory_equal(rbt_sim_positions(a), rbt_sim_positions(b), bytes);
        assert_memory_equal(rbt_sim_velocities(a), rbt_sim_velocities(b), bytes);
    }
    assert_true(touching > 0);
    rbt_sim_free(a), rbt_sim_free(b);
}

static void one_method_for_all_is_that_method(void **state) {
    (void)state;
    static const char MODEL[] = "stable-neo-hookean", NEWTON[] = "'method': 'backward-euler'";
    assert_same_bits(collision(MODEL, SIERE, SIERE, ", 'friction': 0.3", NEWTON),
                     collision(MODEL, "", "", ", 'friction': 0.3",
                               "'method': 'siere', 'options': {'modes': 12, 'tolerance': 1e-9}"),
                     SAMPLED(15, 6));
    assert_same_bits(collision(MODEL, METHOD("semi-implicit", ""), METHOD("semi-implicit", ""), "", NEWTON),
                     collision(MODEL, "", "", "", "'method': 'semi-implicit'"), SAMPLED(15, 6));
    assert_same_bits(collision(MODEL, METHOD("backward-euler", ""), "", ", 'friction': 0.3", NEWTON),
                     collision(MODEL, "", "", ", 'friction': 0.3", NEWTON), SAMPLED(12, 6));
}

// ---- Bodies that never touch

#define BAR(name, z, young, more)                                                                                    \
    "{'name': '" name                                                                                                \
    "', 'mesh': {'shape': {'cuboid': {'size': [0.6, 0.1, 0.1], 'cells': [8, 2, 2]}}}, 'transform': "                 \
    "{'translate': [0, 0, " z "]}, 'material': {'young': " young ", 'poisson': 0.3, 'density': 1000}, 'fixed': "     \
    "['left']" more "}"

static rbt_sim *bars(const char *bodies, const char *contact, const char *method) {
    return contact_sim("{'rubato': 1, 'bodies': [%s], %s'forces': [{'gravity': {}}], 'time': {'step': 0.01, 'frame': "
                       "0.01, 'end': 10}, 'integrator': {'method': '%s'}}",
                       bodies, contact, method);
}

// The largest distance of nodes of a body of a from those of b, which has this body alone
static double apart(const rbt_sim *a, size_t body, const rbt_sim *b) {
    rbt_body_info info;
    double worst = 0;
    assert_true(rbt_sim_body(a, body, &info, NULL));
    for (size_t i = 3 * info.node_begin; i < 3 * info.node_end; i++)
        worst = fmax(worst, fabs(rbt_sim_positions(a)[i] - rbt_sim_positions(b)[i - 3 * info.node_begin]));
    return worst;
}

// Positions of free steps are taken as they are: what differs is rounding, and of siere what its modes are off by,
// 1e-9. Backward Euler's bar is solved to 2e-5 of the forces that act, without contact 2e-3; of what stiffness and
// inertia move in a step that is no more than so large a share, and a bar that swings damps what it got before. So
// after n steps it is off by at most n times that share of its way.
static void bodies_apart_move_as_alone(void **state) {
    (void)state;
    static const char *const CONTACT[] = {"", "'contact': {'thickness': 1e-3}, "};
    for (int i = 0; i < 2; i++) {
        enum { STEPS = SAMPLED(20, 8) };
        rbt_sim *both =
            bars(BAR("a", "0", "1e6", SIX_MODES) ", " BAR("b", "0.2", "1e5", "") ", " BAR(
                     "c", "0.4", "1e6", METHOD("semi-implicit", "")) ", " BAR("d", "0.6", "3e5",
                                                                              METHOD("semi-implicit", "")),
                 CONTACT[i], "backward-euler");
        rbt_sim *alone[] = {bars(BAR("a", "0", "1e6", SIX_MODES), CONTACT[i], "backward-euler"),
                            bars(BAR("b", "0.2", "1e5", ""), CONTACT[i], "backward-euler"),
                            bars(BAR("c", "0.4", "1e6", ""), CONTACT[i], "semi-implicit"),
                            bars(BAR("d", "0.6", "3e5", ""), CONTACT[i], "semi-implicit")};
        double way = 0;
        for (int k = 0; k < STEPS; k++) {
            contact_step(both);
            for (int b = 0; b < 4; b++) contact_step(alone[b]);
        }
        for (size_t k = 0; k < 3 * rbt_sim_node_count(both); k++)
            way = fmax(way, fabs(rbt_sim_positions(both)[k] - both->model->x0[k]));
        print_message("apart, %s contact: siere %.1e, backward-euler %.1e, semi-implicit %.1e and %.1e of %.2g m\n",
                      i ? "with" : "without", apart(both, 0, alone[0]), apart(both, 1, alone[1]),
                      apart(both, 2, alone[2]), apart(both, 3, alone[3]), way);
        assert_below(apart(both, 0, alone[0]), 1e-8 * STEPS * way);
        assert_below(apart(both, 1, alone[1]), (i ? 2e-5 : 2e-3) * STEPS * way);
        assert_below(apart(both, 2, alone[2]), 1e-12 * STEPS * way);
        assert_below(apart(both, 3, alone[3]), 1e-12 * STEPS * way);
        for (int b = 0; b < 4; b++) rbt_sim_free(alone[b]);
        rbt_sim_free(both);
    }
}

// ---- The term of a body

// What the linear formulas of siere_contact.h make of an impulse is where the quadratic term has the force of it, and
// velocities follow. Modes of a linear body are exact to 1e-9.
static void the_term_is_the_answer_to_impulses(void **state) {
    (void)state;
    rbt_sim *sim = collision("linear", "", "", "", "'method': 'siere', 'options': {'modes': 16, 'tolerance': 1e-9}");
    const rbt_model *m = sim->model;
    size_t n = 3 * m->node_count;
    double h = m->step, *J = calloc(n, sizeof *J), *y = calloc(n, sizeof *y), *w = calloc(n, sizeof *w);
    double *B = calloc(n, sizeof *B), *R = calloc(n, sizeof *R);
    unsigned char *left_out = calloc(m->node_count, 1);
    const rbt_method *method = sim->stepper.method;
    rbt_step_report report = {0};
    rbt_stages stages = {0};
    rbt_free_step step;
    rbt_free_part part = {.left_out = left_out};
    assert_true(J && y && w && B && R && left_out);
    assert_int_equal(method->free_step(sim->stepper.self, &sim->state, h, &part, &step, &stages, &report), RBT_DONE);
    for (size_t i = 0; i < n; i++) J[i] = uniform(-1, 1);
    // S_q J and S_v J: A^-1 J by the factor, of which modes replace their own part
    memset(left_out, 1, m->node_count);
    rbt_cholesky *factor = rbt_cholesky_analyse(step.A, left_out, NULL);  // now: nodes that are kept
    size_t row, slow = 0;
    assert_true(factor && rbt_cholesky_factor(factor, step.A, &row) == RBT_FACTORED &&
                rbt_cholesky_solve(factor, J, w));
    for (size_t i = 0; i < n; i++) y[i] = h * w[i];
    for (size_t l = 0; l < step.mode_count; l++) {
        const double *u = step.U + l * n, *q = step.Q + l * n;
        double share = 0, theta = 0, inner = 0;
        for (size_t i = 0; i < n; i++) share += u[i] * J[i], inner += q[i] * w[i];
        if (!(step.stiffening[l] > 0)) continue;
        slow++;
        theta = share / inner;  // U^T J = U^T A w = theta q^T w
        double rho = h / (step.stiffening[l] + theta), sigma = rho * (step.quickening[l] + 1 / h);
        for (size_t i = 0; i < n; i++) {
            y[i] += (rho - h / theta) * share * u[i];
            w[i] += (sigma - 1 / theta) * share * u[i];
        }
    }
    assert_true(slow >= 12);  // rigid motions of two balls
    rbt_block_matrix_product(step.A, y, B);
    for (size_t i = 0; i < n; i++) R[i] = y[i] / h;
    for (size_t l = 0; l < step.mode_count; l++) {
        const double *u = step.U + l * n, *q = step.Q + l * n;
        double share = 0;
        for (size_t i = 0; i < n; i++) share += q[i] * y[i];
        for (size_t i = 0; i < n; i++) {
            B[i] += step.stiffening[l] * share * q[i];
            R[i] += step.quickening[l] * share * u[i];
        }
    }
    double worst = 0, off = 0, speed = 0;
    for (size_t i = 0; i < n; i++) {
        worst = fmax(worst, fabs(B[i] - h * J[i]));
        off = fmax(off, fabs(R[i] - w[i]));
        speed = fmax(speed, fabs(w[i]));
    }
    print_message("B S_q J is off by %.1e of h J, velocities by %.1e of %.2g m/s\n", worst / h, off, speed);
    assert_below(worst, 1e-6 * h);
    assert_below(off, 1e-6 * speed);
    // a slow mode: rho = h/2, sigma = 1
    assert_below(fabs(step.stiffening[0] - 1), 1e-3);
    assert_below(fabs(step.quickening[0] * h - 1), 1e-3);
    rbt_cholesky_free(factor);
    free(J), free(y), free(w), free(B), free(R), free(left_out);
    rbt_sim_free(sim);
}

// Of linear bodies backward Euler and semi-implicit are the same equation, and so is one beside the other: both runs
// solve it to 2e-5 of the forces that act. Differences of two such solutions are at most that share of how far contact
// moves nodes, and grow in a collision as the motion itself does, by no more than twice in so few steps.
static void linear_bodies_are_those_of_backward_euler(void **state) {
    (void)state;
    static const char NEWTON[] = "'method': 'backward-euler'";
    rbt_sim *a = collision("linear", METHOD("semi-implicit", ""), "", "", NEWTON);
    rbt_sim *b = collision("linear", "", "", "", NEWTON);
    enum { STEPS = 10 };
    size_t touching = 0;
    double worst = 0, way = 0;
    for (int i = 0; i < STEPS; i++) {
        contact_step(a), contact_step(b);
        touching += rbt_sim_contacts(a, NULL, 0) > 0;
    }
    for (size_t i = 0; i < 3 * rbt_sim_node_count(a); i++) {
        worst = fmax(worst, fabs(rbt_sim_positions(a)[i] - rbt_sim_positions(b)[i]));
        way = fmax(way, fabs(rbt_sim_positions(a)[i] - a->model->x0[i]));
    }
    print_message("linear bodies: positions differ by %.1e m after ways of %.1e m, %zu steps in contact\n", worst,
                  way, touching);
    assert_true(touching > 3);
    assert_below(worst, 2 * 2e-5 * STEPS * way);
    rbt_sim_free(a), rbt_sim_free(b);
}

// ---- Momentum, crossings

static size_t crossings(const rbt_sim *sim) {
    const rbt_model *m = sim->model;
    rbt_intersect_mesh mesh;
    rbt_intersections found = {0};
    assert_true(rbt_intersect_mesh_build(&mesh, m->triangles, m->triangle_count, NULL, 0, m->node_count, NULL));
    assert_true(rbt_intersect_state(&mesh, rbt_sim_positions(sim), 10, &found, NULL));
    size_t count = found.count;
    rbt_intersections_free(&found);
    rbt_intersect_mesh_free(&mesh);
    return count;
}

// Each body keeps to the rule of its method: what a constant force F makes of a centre in a step is h v + h^2 F / (2 m)
// where translations are modes of siere, so that its way is h times the mean of both velocities; it is h times the last
// velocity by semi-implicit and backward Euler. Positions have it but for the modes, 1e-9; velocities are shifted by
// what the tolerance of forces, 2e-5, has left of the momentum of a step, here m |dv|.
static void check_rule(const rbt_sim *sim, size_t body, bool mean, const double x0[3], const double v0[3], double h) {
    double x[3], v[3], off = 0, change = 0;
    contact_centre(sim, body, x), contact_velocity(sim, body, v);
    for (int d = 0; d < 3; d++) {
        off = fmax(off, fabs(x[d] - x0[d] - h * (mean ? 0.5 * (v0[d] + v[d]) : v[d])));
        change = fmax(change, fabs(v[d] - v0[d]));
    }
    assert_below(off, 1e-3 * h * change + 1e-9 * h * rbt_length(v));
}

// To rounding: a step adds the momentum of its impulses, each node's to 1e-16 of m |v| and of h |f|, where inner forces
// are those of vibrations; 1e-14 of what moves for each step. It holds for steps that are not solved, too.
static void momentum_and_no_crossing(void **state) {
    (void)state;
    static const char *const METHODS[] = {METHOD("semi-implicit", ""), SIERE,
                                          METHOD("siere", ", 'options': {'modes': 30}")};
    static const char *const CONTACT[] = {"", ", 'friction': 0.4"};
    static const char *const SOLVED[] = {
        "'method': 'backward-euler'",
        "'method': 'backward-euler', 'options': {'max_iterations': 1, 'at_cap': 'continue'}"};
    for (int i = 0; i < 9; i++) {
        enum { STEPS = SAMPLED(25, 12) };
        rbt_sim *sim = collision("stable-neo-hookean", METHODS[i % 3], "", CONTACT[i / 3 % 2], SOLVED[i / 6]);
        rbt_energies before = rbt_sim_energies(sim), e;
        double p = 0, worst = 0;
        size_t touching = 0, unsolved = 0;
        for (size_t n = 0; n < rbt_sim_node_count(sim); n++)
            p += rbt_sim_masses(sim)[n] * rbt_length(rbt_sim_velocities(sim) + 3 * n);
        for (int k = 0; k < STEPS; k++) {
            double x0[2][3], v0[2][3];
            for (size_t b = 0; b < 2; b++) contact_centre(sim, b, x0[b]), contact_velocity(sim, b, v0[b]);
            rbt_step_report report;
            assert_true(rbt_sim_step(sim, &report) && (i >= 6 || !report.unconverged));
            unsolved += report.unconverged > 0;
            for (size_t b = 0; b < 2 && !report.halvings && i % 3 < 2 && i < 6; b++)
                check_rule(sim, b, i % 3 == 1 && b == 0, x0[b], v0[b], sim->model->step);
            e = rbt_sim_energies(sim);
            touching += rbt_sim_contacts(sim, NULL, 0) > 0;
            for (int d = 0; d < 3; d++) worst = fmax(worst, fabs(e.momentum[d] - before.momentum[d]));
            assert_int_equal(crossings(sim), 0);
            assert_below(e.total, 1.001 * before.total);
        }
        double v[3], u[3];
        contact_velocity(sim, 0, v), contact_velocity(sim, 1, u);
        print_message("momentum changed by %.1e of %.2g kg m/s, %zu steps in contact, %.2f of the energy is left\n",
                      worst, p, touching, e.total / before.total);
        assert_true(i < 6 ? touching > 3 && v[0] < 2 && u[0] > 0 : touching > 0 && unsolved > 0);
        assert_below(worst, 1e-14 * STEPS * p);
        rbt_sim_free(sim);
    }
}

// A driven tool of one method presses on a held block of another; what is prescribed is where it must be.
static void a_tool_presses(void **state) {
    (void)state;
    rbt_sim *sim = contact_sim(
        "{'rubato': 1, 'bodies': [{'name': 'tool', 'mesh': {'shape': {'cuboid': {'size': [0.1, 0.3, 0.1], 'cells': "
        "[2, "
        "4, 2]}}}, 'transform': {'translate': [0, 0.26, 0]}, 'material': {'young': 1e8, 'density': 2000}, 'driven': "
        "[{'where': 'top', 'motions': [{'velocity': {'velocity': [0.2, -0.5, 0]}}]}]" METHOD(
            "siere",
            "") "}, {'name': 'tissue', 'mesh': {'shape': {'cuboid': {'size': [0.4, 0.2, 0.4], 'cells': [6, 3, 6]}}}, "
                "'material': {'young': 2e4, 'poisson': 0.4, 'density': 1000}, 'fixed': ['bottom']}], 'contact': "
                "{'thickness': "
                "2e-3, 'friction': 0.3}, 'time': {'step': 0.01, 'frame': 0.01, 'end': 10}, 'integrator': {'method': "
                "'backward-euler'}}");
    double x[3], f[3], g[3];
    for (int k = 0; k < 15; k++) {
        contact_try(sim);
        assert_int_equal(crossings(sim), 0);
        for (size_t i = 0; i < sim->model->motions.node_count; i++) {
            const double *at = rbt_sim_positions(sim) + 3 * (size_t)sim->model->motions.node[i];
            const double *from = sim->model->x0 + 3 * (size_t)sim->model->motions.node[i];
            assert_below(fabs(at[0] - from[0] - 0.2 * rbt_sim_time(sim)), 1e-12);
            assert_below(fabs(at[1] - from[1] + 0.5 * rbt_sim_time(sim)), 1e-12);
        }
    }
    contact_centre(sim, 0, x), contact_force(sim, 0, f), contact_force(sim, 1, g);
    print_message("the tool is at %.4f m and pressed with %.3g N, the tissue with %.3g N\n", x[1], f[1], g[1]);
    assert_true(f[1] > 1 && fabs(x[1] - 0.26 + 0.5 * rbt_sim_time(sim)) < 2e-3);
    assert_below(fabs(f[1] + g[1]), 1e-12 * f[1]);
    rbt_sim_free(sim);
}

// A spring that bends under a pad comes to rest where it does if all of it is backward Euler's, with modes that a step
// resolves and with others: equilibria have no velocities, and are those of the same energy. Steps are solved to 2e-5
// of the forces that act, and what damping has left is less than a thousandth of the deflection.
static void rest_is_that_of_backward_euler(void **state) {
    (void)state;
    static const char *const METHODS[] = {"", METHOD("siere", ", 'options': {'modes': 4}"),
                                          METHOD("semi-implicit", "")};
    static const char *const STEPS[] = {"0.004", "0.016"};
    double tip[3], push[3];
    for (int i = SAMPLED(0, 3); i < 6; i++) {
        rbt_sim *sim = contact_sim(
            "{'rubato': 1, 'bodies': [{'name': 'spring', 'mesh': {'shape': {'cuboid': {'size': [0.2, 0.01, 0.02], "
            "'cells': [10, 1, 1]}}}, 'material': {'young': 1e7, 'poisson': 0.3, 'density': 1000}, 'damping': "
            "{'mass': "
            "20}, 'fixed': ['left']%s}, {'name': 'pad', 'mesh': {'shape': {'cuboid': {'size': [0.05, 0.05, 0.05], "
            "'cells': [2, 2, 2]}}}, 'transform': {'translate': [0.08, 0.0315, 0]}, 'velocity': {'linear': [0, -0.3, "
            "0]}, "
            "'material': {'young': 1e5, 'density': 3000}, 'damping': {'mass': 20}}], 'forces': [{'gravity': {}}], "
            "'contact': {'thickness': 1e-3, 'friction': 0.8}, 'time': {'step': %s, 'frame': %s, 'end': 10}, "
            "'integrator': {'method': 'backward-euler'}}",
            METHODS[i % 3], STEPS[i / 3], STEPS[i / 3]);
        rbt_body_info info;
        for (int k = 0; k < (i / 3 ? 60 : 240); k++) contact_try(sim);
        assert_true(rbt_sim_body(sim, 0, &info, NULL));
        double low = 0, f[3];
        for (size_t n = info.node_begin; n < info.node_end; n++) low = fmin(low, rbt_sim_positions(sim)[3 * n + 1]);
        contact_force(sim, 0, f);
        print_message("step %s, method %d: the tip is at %.6f m, pressed by %.4f N\n", STEPS[i / 3], i % 3, low,
                      f[1]);
        tip[i % 3] = low + 0.005, push[i % 3] = f[1];
        assert_below(fabs(tip[i % 3] - tip[0]), 1e-3 * fabs(tip[0]));
        assert_below(fabs(push[i % 3] - push[0]), 1e-3 * fabs(push[0]));
        rbt_sim_free(sim);
    }
}

// ---- Refusals

static void refuses_pair(const char *scene, const char *body, const char *one, const char *other) {
    rbt_error error = {0};
    rbt_scene_file *file = scene_from(scene);
    assert_null(rbt_sim_create(rbt_scene_of(file), &error));
    print_message("%s: %s\n", error.path, error.message);
    assert_string_equal(error.path, "bodies[0].integrator.method");
    assert_non_null(strstr(error.message, body));
    assert_non_null(strstr(error.message, one));
    assert_non_null(strstr(error.message, other));
    rbt_scene_free(file);
}

// Every method of the table beside backward-euler, and for the scene beside a body by siere
static void what_cannot_be_combined_is_refused(void **state) {
    (void)state;
    for (int i = 0; rbt_method_at(i); i++) {
        const rbt_method *method = rbt_method_at(i);
        char scene[1024];
        static const char FORMAT[] =
            "{'rubato': 1, 'bodies': [{'name': 'tool', 'mesh': {'shape': {'cuboid': {}}}, 'integrator': {'method': "
            "'%s'}}, {'name': 'other', 'mesh': {'shape': {'cuboid': {}}}, 'transform': {'translate': [3, 0, 0]}}], "
            "'integrator': {'method': '%s'}}";
        assert_true(method->free_step || method->joins || method->alone);
        snprintf(scene, sizeof scene, FORMAT, method->name, "backward-euler");
        if (method->free_step || method->joins) rbt_sim_free(sim_from(scene));
        else refuses_pair(scene, "tool", method->name, "backward-euler");
        snprintf(scene, sizeof scene, FORMAT, "siere", method->name);
        if (method == &RBT_SIERE || method->joins) rbt_sim_free(sim_from(scene));
        else refuses_pair(scene, "tool", method->name, "siere");
    }
    rbt_error error = {0};
    rbt_scene_file *file = scene_from(
        "{'rubato': 1, 'bodies': [{'name': 'tool', 'mesh': {'shape': {'cuboid': {}}}, 'integrator': {'method': "
        "'siere'}}, {'name': 'other', 'mesh': {'shape': {'cuboid': {}}}, 'transform': {'translate': [3, 0, 0]}}], "
        "'contact': {}, 'integrator': {'method': 'backward-euler', 'solver': 'dot'}}");
    assert_null(rbt_sim_create(rbt_scene_of(file), &error));
    assert_string_equal(error.path, "integrator.solver");
    rbt_scene_free(file);
}

// A clone outlives the simulation that its model is shared with.
static void clones_have_methods_of_their_own(void **state) {
    (void)state;
    rbt_error error;
    rbt_sim *sim = collision("stable-neo-hookean", SIERE, "", "", "'method': 'backward-euler'");
    contact_steps(sim, 4);
    rbt_sim *clone = rbt_sim_clone(sim, &error);
    assert_non_null(clone);
    rbt_sim *next = rbt_sim_clone(clone, &error);
    assert_non_null(next);
    size_t bytes = 3 * rbt_sim_node_count(sim) * sizeof(double);
    double *x = malloc(bytes);
    contact_steps(sim, 3);
    memcpy(x, rbt_sim_positions(sim), bytes);
    rbt_sim_free(sim), rbt_sim_free(clone);
    contact_steps(next, 3);
    assert_memory_equal(x, rbt_sim_positions(next), bytes);
    free(x);
    rbt_sim_free(next);
}

// A soft ball whose material must not turn inside out hits another one in a step in which it flies fifty times its
// size. No linearisation of it can tell that: pieces of a sixteenth of the step and less are backward Euler's for both.
static void hard_hits_are_backward_eulers(void **state) {
    (void)state;
    rbt_sim *sim = contact_sim(
        "{'rubato': 1, 'bodies': [{'name': 'soft', 'mesh': {'shape': {'ball': {'radius': 0.13, 'layers': 2}}}, "
        "'material': {'model': 'neo-hookean', 'young': 4e4, 'poisson': 0.26, 'density': 500}, 'velocity': {'linear': "
        "[350, 20, 0]}, 'integrator': {'method': 'siere', 'options': {'modes': 2}}}, {'name': 'other', 'mesh': "
        "{'shape': {'ball': {'radius': 0.13, 'layers': 2}}}, 'transform': {'translate': [0.4, 0.03, 0]}, 'material': "
        "{'model': 'stable-neo-hookean', 'young': 1e6, 'poisson': 0.3, 'density': 2000}}], 'contact': {'thickness': "
        "2e-3}, 'time': {'step': 0.04, 'frame': 0.04, 'end': 10}, 'integrator': {'method': 'backward-euler'}}");
    rbt_energies first = rbt_sim_energies(sim);
    int halvings = 0;
    for (int i = 0; i < 3; i++) {
        int own = contact_try(sim);
        halvings = own > halvings ? own : halvings;
    }
    rbt_energies last = rbt_sim_energies(sim);
    double damped = sim->stepper.statistics[RBT_STAT_DAMPED], off = 0;
    for (int k = 0; k < 3; k++) off = fmax(off, fabs(last.momentum[k] - first.momentum[k]));
    print_message("%d halvings, %g pieces by backward Euler, energy %.3f, momentum off by %.1e of %.3g kg m/s\n",
                  halvings, damped, last.total / first.total, off, first.momentum[0]);
    assert_true(damped > 0);
    assert_true(halvings >= 4);
    assert_below(last.total, first.total);
    assert_below(off, 1e-6 * first.momentum[0]);
    rbt_sim_free(sim);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_method_for_all_is_that_method),
        cmocka_unit_test(bodies_apart_move_as_alone),
        cmocka_unit_test(the_term_is_the_answer_to_impulses),
        cmocka_unit_test(linear_bodies_are_those_of_backward_euler),
        cmocka_unit_test(momentum_and_no_crossing),
        cmocka_unit_test(a_tool_presses),
        cmocka_unit_test(rest_is_that_of_backward_euler),
        cmocka_unit_test(what_cannot_be_combined_is_refused),
        cmocka_unit_test(clones_have_methods_of_their_own),
        cmocka_unit_test(hard_hits_are_backward_eulers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
