// Coulomb's law on a slope: a cube of 1 m on a plane with tan = 1/2 holds at friction 1/2 and slides at 0.49.
//
// With the smoothed law of friction a body that holds creeps: at the speed v it is held by mu N f(v/v_eps), f(s) =
// s (2 - s) below 1. At tan = mu the weight needs all of mu N, so the speed comes up to v_eps from below,
//   v' = g sin (1 - v/v_eps)^2,
// and the way in the time t is less than v_eps t. Nothing brakes there: what is faster than v_eps stays so. Hence the
// cube starts in equilibrium, with the gaps and stresses that it has on a slope that is rough enough to hold it.
#include "contact_scene.h"

static const double SLIP_SPEED = 1e-3;                                         // v_eps [m/s]
static const double DOWN[3] = {0.89442719099991588, -0.44721359549995794, 0};  // (2, -1, 0)/sqrt(5)

static rbt_sim *slope(const char *method, int cells, double friction) {
    return contact_sim(
        "{'rubato': 1, 'bodies': [{'name': 'cube', 'mesh': {'shape': {'cuboid': {'size': [1, 1, 1], 'cells': [%d, "
        "%d, "
        "%d]}}}, 'transform': {'axis': [0, 0, 1], 'degrees': -26.56505117707799, 'translate': [0.224, 0.448, 0]}, "
        "'material': {'model': 'neo-hookean', 'young': 1e9, 'poisson': 0.4, 'density': 1000}}], 'forces': "
        "[{'gravity': "
        "{}}], 'obstacles': [{'plane': {'point': [0, 0, 0], 'normal': [1, 2, 0]}}], 'contact': {'thickness': 1e-3, "
        "'friction': %.17g, 'slip_speed': %.17g}, 'time': {'step': 0.025, 'frame': 0.025, 'end': 100}, 'integrator': "
        "{'method': '%s', 'solver': 'newton'}}",
        cells, cells, cells, friction, SLIP_SPEED, method);
}

static double along(const double x[3]) { return rbt_dot(DOWN, x); }

// A cube at rest on the slope: 1 s of backward Euler at friction 1, which damps all vibrations
static rbt_sim *resting(const char *method, int cells, double friction) {
    rbt_error error;
    rbt_sim *rough = slope("backward-euler", cells, 1), *sim = slope(method, cells, friction);
    contact_steps(rough, 40);
    if (!rbt_sim_set_positions(sim, 0, rbt_sim_node_count(sim), rbt_sim_positions(rough), &error))
        fail_msg("%s", error.message);
    rbt_sim_free(rough);
    return sim;
}

static void holds(const char *method, int cells, int steps) {
    rbt_sim *sim = resting(method, cells, 0.5);
    double start[3], end[3];
    contact_centre(sim, 0, start);
    contact_steps(sim, steps);
    contact_centre(sim, 0, end);
    double creep = along(end) - along(start);
    print_message("%-17s %3zu nodes: crept %.3f of v_eps t in %g s\n", method, rbt_sim_node_count(sim),
                  creep / (SLIP_SPEED * rbt_sim_time(sim)), rbt_sim_time(sim));
    assert_below(creep, SLIP_SPEED * rbt_sim_time(sim));
    assert_below(-creep, 0);
    rbt_sim_free(sim);
}

// From rest the cube is at v_eps soon; the mean acceleration is taken from there on.
static void slides(const char *method, int cells, int steps) {
    rbt_sim *sim = resting(method, cells, 0.49);
    double begin[3], end[3], coulomb = GRAVITY * (DOWN[0] * 0.5 - 0.49 * DOWN[0]);
    contact_steps(sim, 8);
    contact_velocity(sim, 0, begin);
    double t = rbt_sim_time(sim);
    contact_steps(sim, steps);
    contact_velocity(sim, 0, end);
    double a = (along(end) - along(begin)) / (rbt_sim_time(sim) - t);
    print_message("%-17s %3zu nodes: %.6f m/s^2, %+.3f %% beside Coulomb's\n", method, rbt_sim_node_count(sim), a,
                  100 * (a / coulomb - 1));
    assert_below(fabs(a / coulomb - 1), 0.01);
    rbt_sim_free(sim);
}

#define EACH(NAME, FUNCTION, METHOD)                                                                                 \
    static void NAME(void **state) {                                                                                 \
        (void)state;                                                                                                 \
        FUNCTION(METHOD, 1, 200);                                                                                    \
        FUNCTION(METHOD, 2, 100);                                                                                    \
        FUNCTION(METHOD, 4, 60);                                                                                     \
    }
EACH(backward_euler_holds, holds, "backward-euler")
EACH(midpoint_holds, holds, "implicit-midpoint")
EACH(bdf2_holds, holds, "bdf2")
EACH(backward_euler_slides, slides, "backward-euler")
EACH(midpoint_slides, slides, "implicit-midpoint")
EACH(bdf2_slides, slides, "bdf2")

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(backward_euler_holds),  cmocka_unit_test(midpoint_holds),  cmocka_unit_test(bdf2_holds),
        cmocka_unit_test(backward_euler_slides), cmocka_unit_test(midpoint_slides), cmocka_unit_test(bdf2_slides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
