// When a step counts as solved: bodies that a test blind to loads would leave hanging in the air, light bodies beside
// heavy ones, and the part of a step that has a closed form.
#include "math/vec3.h"
#include "sampled.h"
#include "scene.h"
#include "sim/sim.h"
#include "step/implicit/rigid.h"
#include "step/implicit/solver.h"

#include <float.h>

// A bar of length `size`, a quarter as thick, constrained at its left end under gravity
typedef struct bar {
    double size, young, poisson, density, step;
    const char *method, *solver, *options;
} bar;

static rbt_sim *make_bar(const bar *b, const char *solver, const char *options) {
    char json[1024];
    snprintf(
        json, sizeof json,
        "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [%g, %g, %g], 'cells': "
        "[8, 2, 2]}}}, 'material': {'young': %g, 'poisson': %g, 'density': %g}, 'fixed': ['left']}], 'forces': "
        "[{'gravity': {}}], 'time': {'step': %g, 'frame': %g, 'end': 100}, 'integrator': {'method': '%s', 'solver': "
        "'%s', 'options': {%s}}}",
        b->size, b->size / 4, b->size / 4, b->young, b->poisson, b->density, b->step, b->step, b->method, solver,
        options);
    return sim_from(json);
}

static double largest_distance(const double *x, const double *y, size_t nodes) {
    double most = 0;
    for (size_t n = 0; n < nodes; n++) {
        double way[3];
        rbt_subtract(x + 3 * n, y + 3 * n, way);
        most = fmax(most, rbt_length(way));
    }
    return most;
}

static const char REFERENCE[] = "'stop': 'stall', 'max_iterations': 1000, 'at_cap': 'continue'";

// The share by which a run of `frames` is off, of the largest displacement
static double error_of(const bar *b, int frames) {
    rbt_sim *reference = make_bar(b, "newton", REFERENCE), *sim = make_bar(b, b->solver, b->options);
    const rbt_model *m = sim->model;
    advance(reference, frames);
    advance(sim, frames);
    double moved = largest_distance(reference->state.x, m->X, m->node_count);
    double off = largest_distance(sim->state.x, reference->state.x, m->node_count);
    assert_true(moved > 0);
    rbt_sim_free(sim);
    rbt_sim_free(reference);
    return off / moved;
}

// Each was motionless, or wrong by a factor, with a test that compares residuals with stiffness times area.
static void loads_are_noticed(void **state) {
    (void)state;
    const bar bars[] = {
        {0.4, 1e6, 0.45, 1000, 0.01, "backward-euler", "dot", ""},
        {0.4, 1e6, 0.45, 1000, 0.01, "backward-euler", "newton", ""},
        {0.4, 1e6, 0.45, 1000, 0.001, "backward-euler", "newton", ""},
        {0.4, 1e6, 0.45, 1000, 0.001, "bdf2", "dot", ""},
        {0.05, 1e5, 0.45, 1000, 0.001, "backward-euler", "newton", ""},
        {0.05, 1e5, 0.45, 1000, 0.001, "backward-euler", "lbfgs-h", ""},
        {0.4, 1e6, 0.4999, 1000, 0.01, "backward-euler", "newton", ""},
        {0.4, 2e11, 0.3, 7800, 0.01, "backward-euler", "lbfgs-pd", ""},
        {0.4, 2e11, 0.3, 7800, 0.01, "backward-euler", "admm-pd", ""},
        {0.4, 2e11, 0.3, 7800, 0.001, "implicit-midpoint", "newton", ""},
        {0.001, 2e11, 0.3, 7800, 0.04, "backward-euler", "dot", ""},
    };
    for (size_t k = 0; k < sizeof bars / sizeof *bars; k++) {
        double off = error_of(&bars[k], SAMPLED(40, 15));
        if (!(off < 0.01)) fail_msg("%s with %s, bar %zu: off by %g", bars[k].method, bars[k].solver, k, off);
    }
}

// What the tests above would not find if they could not fail: the paper's test leaves the first bar where it was.
static void the_characteristic_test_does_not_notice_them(void **state) {
    (void)state;
    bar b = {0.4, 1e6, 0.45, 1000, 0.01, "backward-euler", "dot", "'stop': 'characteristic'"};
    assert_true(error_of(&b, 40) > 0.5);
}

// The sag of a clamped bar: 3/2 rho g l^4 / (E t^2) by beam theory, and what tight solves give for this coarse mesh
// at rest; both differ by the mesh's own error, so the bound between two solvers at rest is what counts here: 1 %.
static void small_steps_and_large_ones_come_to_the_same_rest(void **state) {
    (void)state;
    const bar b = {0.4, 1e6, 0.3, 1000, 0.04, "backward-euler", "dot", ""};
    double tip[2];
    for (int k = 0; k < 2; k++) {
        bar own = b;
        own.step = k ? 0.01 : 0.04;
        rbt_sim *sim = make_bar(&own, b.solver, "");
        advance(sim, k ? 400 : 100);  // numerical damping: 4 s are 40 periods
        tip[k] = largest_distance(sim->state.x, sim->model->X, sim->model->node_count);
        rbt_sim_free(sim);
    }
    assert_true(tip[0] > 0.005 && fabs(tip[1] / tip[0] - 1) < 0.01);
}

// Backward Euler's minimum is never above its start, so that energy falls from step to step; a step that is solved to
// a share epsilon of the forces may miss the minimum by epsilon times the work that these do in it.
static void energy_does_not_rise_from_rest(void **state) {
    (void)state;
    const double poissons[] = {0.3, 0.49, 0.4999};
    for (size_t k = 0; k < 3; k++)
        for (int s = 0; s < 3; s++) {
            bar b = {0.4, 1e6, poissons[k], 1000, 0.01, "backward-euler", rbt_step_solver_name(s), ""};
            rbt_sim *sim = make_bar(&b, b.solver, "");
            double start = rbt_sim_energies(sim).total, released = 0, most = 0;
            for (int step = 0; step < SAMPLED(50, 20); step++) {
                advance(sim, 1);
                rbt_energies e = rbt_sim_energies(sim);
                most = fmax(most, e.total - start);
                released = fmax(released, e.kinetic + e.elastic);
            }
            if (!(most <= 2e-3 * released))
                fail_msg("%s, Poisson %g: %g of %g J", b.solver, b.poisson, most, released);
            rbt_sim_free(sim);
        }
}

// Steel under its own weight: the midpoint rule gained energy from loose solves.
static void the_midpoint_rule_keeps_the_energy_of_steel(void **state) {
    (void)state;
    bar b = {0.4, 2e11, 0.3, 7800, 0.001, "implicit-midpoint", "newton", ""};
    rbt_sim *sim = make_bar(&b, "newton", "");
    double start = rbt_sim_energies(sim).total, most = 0, swing = 0;
    for (int step = 0; step < SAMPLED(200, 80); step++) {
        advance(sim, 1);
        rbt_energies e = rbt_sim_energies(sim);
        most = fmax(most, fabs(e.total - start));
        swing = fmax(swing, e.kinetic + e.elastic);
    }
    if (!(most <= 0.02 * swing)) fail_msg("%g J of %g", most, swing);
    rbt_sim_free(sim);
}

// Where Newton's method converges, what is wrong after a step is less than the step: of all steps together no more than
// the tolerance times the diagonal times tau, here 100 steps long. The longest step that is allowed ends after one.
static void the_step_test_bounds_the_last_step(void **state) {
    (void)state;
    bar b = {0.4, 1e6, 0.45, 1000, 0.01, "backward-euler", "newton", ""};
    const double tolerances[] = {1, 1e-2, 1e-6};
    rbt_sim *reference = make_bar(&b, "newton", REFERENCE);
    advance(reference, 1);
    double last = INFINITY;
    for (int k = 0; k < 3; k++) {
        char options[80];
        snprintf(options, sizeof options, "'stop': 'step', 'tolerance': %g", tolerances[k]);
        rbt_sim *sim = make_bar(&b, "newton", options);
        rbt_step_report report = {.body = -1, .element = -1, .stage = ""};
        assert_int_equal(rbt_sim_take_step(sim, &report), RBT_DONE);
        const rbt_model *m = sim->model;
        double off = largest_distance(sim->state.x, reference->state.x, m->node_count);
        assert_true(rbt_model_diagonal(m) > 0.4 && rbt_model_diagonal(m) < 0.45);  // 0.4 x 0.1 x 0.1
        assert_true(off <= tolerances[k] * rbt_model_diagonal(m) * b.step && off <= last);
        assert_true(report.statistics[RBT_STAT_RESIDUAL] <= 1);
        assert_true((report.statistics[RBT_STAT_ITERATIONS] == 1) == (k == 0));
        last = off;
        rbt_sim_free(sim);
    }
    rbt_sim_free(reference);
}

// All solvers have steps to judge by.
static void the_step_test_ends_every_solver(void **state) {
    (void)state;
    for (int s = 0; rbt_step_solver_name(s); s++) {
        bar b = {0.4, 1e6, 0.45, 1000, 0.01, "bdf2", rbt_step_solver_name(s), ""};
        rbt_sim *sim = make_bar(&b, b.solver, "'stop': 'step', 'tolerance': 1e-4");
        for (int step = 0; step < 5; step++) {
            rbt_step_report report = {.body = -1, .element = -1, .stage = ""};
            assert_int_equal(rbt_sim_take_step(sim, &report), RBT_DONE);
            assert_true(report.statistics[RBT_STAT_ITERATIONS] >= 1 && report.statistics[RBT_STAT_RESIDUAL] <= 1);
        }
        rbt_sim_free(sim);
    }
}

// ---- Pieces

static void pieces_are_what_elements_join(void **state) {
    (void)state;
    rbt_sim *sim = sim_from(
        "{'rubato': 1, 'bodies': [{'name': 'two', 'mesh': {'shape': {'blend': {'parts': [{'sphere': {'centre': [0, "
        "0, 0], "
        "'radius': 0.3}}, {'sphere': {'centre': [1, 0, 0], 'radius': 0.3}}], 'blend': 0.01, 'cell': 0.15, "
        "'largest_only': false}}}, 'material': {}}, {'name': 'bar', 'mesh': {'shape': {'cuboid': {}}}, 'material': "
        "{}}, {'name': 'dust', 'mesh': {'shape': {'cuboid': {'cells': [2, 2, 2]}}}, 'particles': {'radius': 0.01, "
        "'mass': 1e-3}}], "
        "'time': {'step': 0.01, 'end': 1}, 'integrator': {'method': 'backward-euler'}}");
    const rbt_model *m = sim->model;
    rbt_arena *arena = rbt_arena_new();
    rbt_pieces p;
    assert_true(rbt_pieces_find(&p, arena, m, NULL));
    assert_int_equal(p.count, 4);
    unsigned char *seen = calloc(m->node_count, 1);
    for (size_t i = 0; i < p.count; i++) {
        size_t begin = p.block_start[p.piece_start[i]], end = p.block_start[p.piece_start[i + 1]];
        assert_true(end > begin);
        for (size_t k = begin; k < end; k++) {
            assert_true(!seen[p.order[k]] && (k == begin || p.order[k] > p.order[k - 1]));
            assert_int_equal(m->node_body[p.order[k]], m->node_body[p.order[begin]]);
            seen[p.order[k]] = 1;
        }
    }
    for (size_t n = 0; n < m->node_count; n++) assert_true(seen[n]);
    for (size_t b = 0; b < p.block_count; b++)
        assert_true(p.block_start[b + 1] - p.block_start[b] <= RBT_PIECE_BLOCK);
    free(seen);
    rbt_arena_free(arena);
    rbt_sim_free(sim);
}

// A jelly of 10 g beside a tonne of steel that hangs on a plate: what acts on the steel says nothing about the jelly.
static void a_light_body_beside_a_heavy_one_is_right(void **state) {
    (void)state;
    double tip[2];
    for (int with = 0; with < 2; with++) {
        char json[1600];
        snprintf(
            json, sizeof json,
            "{'rubato': 1, 'bodies': [{'name': 'jelly', 'mesh': {'shape': {'cuboid': {'size': [0.05, 0.0125, "
            "0.0125], "
            "'cells': [8, 2, 2]}}}, 'material': {'young': 1e5, 'poisson': 0.45, 'density': 1000}, 'fixed': "
            "['left']}%s], "
            "'forces': [{'gravity': {}}], 'time': {'step': 0.005, 'frame': 0.005, 'end': 10}, 'integrator': "
            "{'method': "
            "'backward-euler', 'solver': 'dot'}}",
            with ? ", {'name': 'steel', 'mesh': {'shape': {'cuboid': {'size': [2, 0.5, 0.5], 'cells': [8, 2, 2]}}}, "
                   "'material': {'young': 2e11, 'poisson': 0.3, 'density': 7800}, 'fixed': ['left']}"
                 : "");
        rbt_sim *sim = sim_from(json);
        advance(sim, 20);
        tip[with] = largest_distance(sim->state.x, sim->model->X, 81);
        rbt_sim_free(sim);
    }
    assert_true(tip[0] > 1e-5 && fabs(tip[1] / tip[0] - 1) < 0.01);
}

// ---- Rigid motion

// Linear and angular momentum of a free body keep to rounding, whatever the tolerance: x and v are rounded by epsilon
// |x| / h and epsilon |v| in every step and node.
static void free_bodies_keep_their_momenta(void **state) {
    (void)state;
    for (int s = 0; s < 4; s++) {
        char json[1024];
        snprintf(json, sizeof json,
                 "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.4, 0.1, 0.1], "
                 "'cells': "
                 "[4, 1, 1]}}}, 'material': {'young': 1e6, 'poisson': 0.3}, 'velocity': {'linear': [0.1, 0.2, 0.3], "
                 "'angular': [0, 1, 4]}, 'deform': [{'twist': {'axis': [1, 0, 0], 'degrees': 30}}]}], 'time': "
                 "{'step': 0.002, "
                 "'frame': 0.002, 'end': 100}, 'integrator': {'method': 'implicit-midpoint', 'solver': '%s'}}",
                 rbt_step_solver_name(s));
        rbt_sim *sim = sim_from(json);
        rbt_energies before = rbt_sim_energies(sim);
        const int steps = 100;
        advance(sim, steps);
        rbt_energies after = rbt_sim_energies(sim);
        const rbt_body *body = sim->model->bodies;
        // All errors of the same sign, in all nodes and steps: a bound, far above what is found
        double noise = steps * body->mass * DBL_EPSILON * 2 * 0.6 / 0.002;
        for (int i = 0; i < 3; i++) {
            assert_true(fabs(after.momentum[i] - before.momentum[i]) <= noise);
            assert_true(fabs(after.angular_momentum[i] - before.angular_momentum[i]) <= noise * 0.6);
        }
        rbt_sim_free(sim);
    }
}

// After the fit the residual of a free piece has neither a net force nor a torque; a piece that is constrained stays
// where it is.
static void the_fit_leaves_no_net_force(void **state) {
    (void)state;
    rbt_sim *sim = sim_from("{'rubato': 1, 'bodies': [{'name': 'free', 'mesh': {'shape': {'cuboid': {'cells': [3, 2, "
                            "2]}}}, 'material': {'young': 1e5}, "
                            "'damping': {'mass': 0.3}}, {'name': 'constrained', 'mesh': {'shape': {'cuboid': {}}}, "
                            "'material': {}, 'fixed': ['left']}], "
                            "'forces': [{'gravity': {}}, {'pull': {'body': 'free', 'where': 'right', 'force': [3, "
                            "-20, 7]}}], 'time': {'step': 0.02, "
                            "'end': 1}, 'integrator': {'method': 'backward-euler'}}");
    const rbt_model *m = sim->model;
    size_t values = 3 * m->node_count;
    rbt_objective o;
    rbt_rigid rigid;
    assert_true(rbt_objective_init(&o, m, NULL) && rbt_rigid_init(&rigid, &o, NULL));
    double *z = malloc(values * sizeof *z), *before = malloc(values * sizeof *z), *g = malloc(values * sizeof *z);
    o.tau = m->step;
    o.base = m->x0;
    rbt_constrained_nodes(m, 0, o.constrained);
    rbt_force_external(m, 0, m->x0, m->v0, o.external);
    for (size_t i = 0; i < values; i++) {
        o.target[i] = m->x0[i] + 0.02 * sin((double)i);
        z[i] = before[i] = m->x0[i] + 0.05 * cos(3.0 * (double)i);
    }
    rbt_rigid_begin(&rigid);
    assert_true(rigid.any && rigid.free[0] && !rigid.free[1]);
    rbt_rigid_fit(&rigid, z);
    rbt_objective_gradient(&o, z, g);
    double force[3] = {0}, torque[3] = {0}, size = 0;
    for (size_t n = m->bodies[0].node_begin; n < m->bodies[0].node_end; n++) {
        double t[3];
        rbt_cross(z + 3 * n, g + 3 * n, t);
        rbt_add_scaled(force, 1, g + 3 * n);
        rbt_add_scaled(torque, 1, t);
        size += rbt_length(g + 3 * n);
    }
    assert_true(rbt_length(force) <= 1e-12 * size && rbt_length(torque) <= 1e-12 * size);
    for (size_t i = 3 * m->bodies[1].node_begin; i < values; i++) assert_true(z[i] == before[i]);
    free(z);
    free(before);
    free(g);
    rbt_rigid_free(&rigid);
    rbt_objective_free(&o);
    rbt_sim_free(sim);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_are_noticed),
        cmocka_unit_test(the_characteristic_test_does_not_notice_them),
        cmocka_unit_test(the_step_test_bounds_the_last_step),
        cmocka_unit_test(the_step_test_ends_every_solver),
        cmocka_unit_test(small_steps_and_large_ones_come_to_the_same_rest),
        cmocka_unit_test(energy_does_not_rise_from_rest),
        cmocka_unit_test(the_midpoint_rule_keeps_the_energy_of_steel),
        cmocka_unit_test(pieces_are_what_elements_join),
        cmocka_unit_test(a_light_body_beside_a_heavy_one_is_right),
        cmocka_unit_test(free_bodies_keep_their_momenta),
        cmocka_unit_test(the_fit_leaves_no_net_force),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
