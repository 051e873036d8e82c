// Stick and slip: a block of mass m on a plane is pulled by a spring k whose other end moves with the speed V.
//
// It sticks until k V t = mu m g, at t1. Then m x'' = k (V t - x) - mu m g, and with w = sqrt(k/m), s = t - t1
//   x = V s - V/w sin(w s),   x' = V (1 - cos(w s)) >= 0:
// a motion about the moving equilibrium that comes to rest once in every period, where it starts again.
//
// What a step h and the slip speed v_eps may change, in units of V/w, with a = w h:
//   2 a          slip begins at the end of a step, up to h late, while x' <= 2 V
//   a s w/2      backward Euler damps the amplitude by exp(-a w s/2)
//   a^2 s w/3    the phase of a vibration is off by a^2/3 per radian with backward Euler and BDF2, a^2/12 with midpoint
//   a^3 s w/4    BDF2 damps by exp(-a^3 w s/4)
//   v_eps t w/V  friction is not all there below v_eps: at most v_eps t in all
#include "contact_scene.h"

#include <unistd.h>

static const double MASS = 1, FREQUENCY = 2, SPEED = 0.5, FRICTION = 0.5;  // [kg], w [1/s], V [m/s], mu
static const double STEP = 0.005, SLIP_SPEED = 1e-4;                       // h [s], v_eps [m/s]

static double onset(void) { return FRICTION * GRAVITY / (FREQUENCY * FREQUENCY * SPEED); }  // t1 [s]

static double position(double t) {
    double s = t - onset();
    return s > 0 ? SPEED * s - SPEED / FREQUENCY * sin(FREQUENCY * s) : 0;
}

static double bound(double t, bool first_order) {
    double a = FREQUENCY * STEP, turns = FREQUENCY * fmax(0, t - onset());
    double share = 2 * a + (first_order ? 0.5 * a : 0.25 * a * a * a) * turns + a * a * turns / 3;
    return SPEED / FREQUENCY * share + SLIP_SPEED * t;
}

// ---- A spring of the scene: a net of two nodes, one of which is driven

static rbt_sim *spring(const char *file, const char *method, double speed, double damping) {
    return contact_sim(
        "{'rubato': 1, 'bodies': [{'name': 'block', 'mesh': {'file': '%s'}, 'springs': {'stiffness': %.17g, "
        "'node_mass': %.17g}, 'damping': {'mass': %.17g}, 'driven': [{'where': {'nodes': [1]}, 'motions': "
        "[{'velocity': "
        "{'velocity': [%.17g, 0, 0]}}]}]}], 'forces': [{'gravity': {}}], 'obstacles': [{'plane': {}}], 'contact': "
        "{'thickness': 1e-3, 'friction': %.17g, 'slip_speed': %.17g}, 'time': {'step': %.17g, 'frame': %.17g, 'end': "
        "100}, 'integrator': {'method': '%s', 'solver': 'newton'}}",
        file, MASS * FREQUENCY * FREQUENCY, MASS, damping, speed, FRICTION, SLIP_SPEED, STEP, STEP, method);
}

// The same at rest on the plane: damping has taken the vibration of its start
static rbt_sim *resting_spring(const char *file, const char *method) {
    rbt_error error;
    rbt_sim *damped = spring(file, method, 0, 40), *sim = spring(file, method, SPEED, 0);
    contact_steps(damped, 400);
    if (!rbt_sim_set_positions(sim, 0, 2, rbt_sim_positions(damped), &error)) fail_msg("%s", error.message);
    rbt_sim_free(damped);
    return sim;
}

static void pulled_by_a_spring(const char *method) {
    char file[] = "/tmp/rubato-stick-slip-XXXXXX.obj";
    int descriptor = mkstemps(file, 4);
    assert_true(descriptor >= 0);
    FILE *obj = fdopen(descriptor, "w");
    fputs("v 0 5e-4 0\nv 2 5e-4 0\nl 1 2\n", obj);
    fclose(obj);
    rbt_sim *sim = resting_spring(file, method);
    double start = rbt_sim_positions(sim)[0], worst = 0, crept = 0, end = onset() + 4 * M_PI / FREQUENCY;
    while (rbt_sim_time(sim) < end) {
        contact_step(sim);
        double t = rbt_sim_time(sim), x = rbt_sim_positions(sim)[0] - start;
        if (t < onset()) crept = x;
        double off = fabs(x - position(t));
        worst = fmax(worst, off / bound(t, method[1] == 'a'));
    }
    double t = rbt_sim_time(sim);
    print_message("%-17s crept %.2f of v_eps t1; slid %.4f m (%.4f m), at worst %.2f of the bound off\n", method,
                  crept / (SLIP_SPEED * onset()), rbt_sim_positions(sim)[0] - start, position(t), worst);
    assert_below(crept, SLIP_SPEED * onset());
    assert_below(worst, 1);
    rbt_sim_free(sim);
    unlink(file);
}

static void spring_backward_euler(void **state) {
    (void)state;
    pulled_by_a_spring("backward-euler");
}
static void spring_midpoint(void **state) {
    (void)state;
    pulled_by_a_spring("implicit-midpoint");
}
static void spring_bdf2(void **state) {
    (void)state;
    pulled_by_a_spring("bdf2");
}

// ---- A block of tets, pulled by forces that the test sets before every step
//
// The force stays the same in a step. For the motion as a whole backward Euler is then symplectic Euler, which does not
// damp; its positions lie half a step off the velocities.

static rbt_sim *block(int cells, double young) {
    return contact_sim(
        "{'rubato': 1, 'bodies': [{'name': 'block', 'mesh': {'shape': {'cuboid': {'size': [0.2, 0.05, 0.1], 'cells': "
        "[%d, %d, %d]}}}, 'transform': {'translate': [0, 0.0254, 0]}, 'material': {'young': %.17g, 'poisson': 0.3, "
        "'density': 1000}}], 'forces': [{'gravity': {}}], 'obstacles': [{'plane': {}}], 'contact': {'thickness': "
        "1e-3, "
        "'friction': %.17g, 'slip_speed': %.17g}, 'time': {'step': %.17g, 'frame': %.17g, 'end': 100}, 'integrator': "
        "{'method': 'backward-euler', 'solver': 'newton'}}",
        cells, cells, cells, young, FRICTION, SLIP_SPEED, STEP, STEP);
}

static void pull(rbt_sim *sim, double force, double *forces) {
    rbt_error error;
    double whole = 0;
    const double *mass = rbt_sim_masses(sim);
    size_t nodes = rbt_sim_node_count(sim);
    for (size_t n = 0; n < nodes; n++) whole += mass[n];
    for (size_t n = 0; n < nodes; n++) forces[3 * n] = force * mass[n] / whole;
    if (!rbt_sim_set_forces(sim, 0, nodes, forces, &error)) fail_msg("%s", error.message);
}

static void pulled_block(int cells, double young) {
    rbt_sim *sim = block(cells, young);
    double *forces = calloc(3 * rbt_sim_node_count(sim), sizeof *forces), x[3], worst = 0, crept = 0;
    double end = onset() + 2 * M_PI / FREQUENCY;
    rbt_body_info info;
    assert_true(forces && rbt_sim_body(sim, 0, &info, NULL));
    contact_steps(sim, 100);
    contact_centre(sim, 0, x);
    double start = x[0], begin = rbt_sim_time(sim), k = info.mass * FREQUENCY * FREQUENCY;
    while (rbt_sim_time(sim) - begin < end) {
        contact_centre(sim, 0, x);
        pull(sim, k * (SPEED * (rbt_sim_time(sim) - begin) - (x[0] - start)), forces);
        contact_step(sim);
        contact_centre(sim, 0, x);
        double t = rbt_sim_time(sim) - begin;
        if (t < onset()) crept = x[0] - start;
        worst = fmax(worst, fabs(x[0] - start - position(t)) / bound(t, false));
    }
    print_message("%d cells across, E = %g: crept %.2f of v_eps t1; slid %.4f m (%.4f m), at worst %.2f of the bound "
                  "off\n",
                  cells, young, crept / (SLIP_SPEED * onset()), x[0] - start, position(end), worst);
    // before it slips it also shears: mu rho g H^2 / (2 G), G = E / 2.6, and as much again in the gaps
    assert_below(crept, SLIP_SPEED * onset() + 2.6 * FRICTION * 1000 * GRAVITY * 0.05 * 0.05 / young);
    assert_below(worst, 1);
    free(forces);
    rbt_sim_free(sim);
}

static void stiff_block(void **state) {
    (void)state;
    pulled_block(1, 1e8);
}
static void fine_block(void **state) {
    (void)state;
    pulled_block(2, 1e7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spring_backward_euler), cmocka_unit_test(spring_midpoint), cmocka_unit_test(spring_bdf2),
        cmocka_unit_test(stiff_block),           cmocka_unit_test(fine_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
