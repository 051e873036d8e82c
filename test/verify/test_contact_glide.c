// A block over a plane: with a clearance it keeps its speed, on the plane friction brings it to a halt.
#include "contact_scene.h"

static rbt_sim *block(const char *method, double clearance, double thickness, double speed, double gravity) {
    return contact_sim(
        "{'rubato': 1, 'bodies': [{'name': 'block', 'mesh': {'shape': {'cuboid': {'size': [0.2, 0.05, 0.1], 'cells': "
        "[2, 1, 1]}}}, 'transform': {'translate': [0, %.17g, 0]}, 'material': {'model': 'neo-hookean', 'young': 1e8, "
        "'poisson': 0.3, 'density': 1000}, 'velocity': {'linear': [%.17g, 0, 0]}}], 'forces': [{'gravity': "
        "{'acceleration': [0, %.17g, 0]}}], 'obstacles': [{'plane': {}}], 'contact': {'thickness': %.17g, "
        "'friction': "
        "0.5, 'slip_speed': 1e-4}, 'time': {'step': 0.005, 'frame': 0.005, 'end': 100}, 'integrator': {'method': "
        "'%s', "
        "'solver': 'newton'}}",
        0.025 + clearance, speed, -gravity, thickness, method);
}

// ---- 0.1 mm of clearance

// Thinner than the clearance: nothing touches, so the block moves as one that is alone. Its speed is kept to rounding,
// which is eps |x| / tau a step for a block that comes 20 m far.
static void clearance_is_no_contact(void **state) {
    (void)state;
    for (int i = 0; i < CONTACT_METHOD_COUNT; i++) {
        rbt_sim *sim = block(CONTACT_METHODS[i], 1e-4, 5e-5, 20, 0);
        double v[3];
        for (int k = 0; k < 200; k++) {
            contact_step(sim);
            assert_int_equal(rbt_sim_contacts(sim, NULL, 0), 0);
        }
        contact_velocity(sim, 0, v);
        print_message("%-17s 20 m in 1 s: speed off by %.1e, %.1e across\n", CONTACT_METHODS[i], fabs(v[0] - 20),
                      fabs(v[1]));
        double rounding = 4 * 200 * 0x1p-52 * 20 / (0.5 * 0.005);
        assert_below(fabs(v[0] - 20), rounding);
        assert_below(fabs(v[1]), rounding);
        rbt_sim_free(sim);
    }
}

// Thicker than the clearance: the block starts inside the barrier, which pushes it away; as long as it pushes, it rubs.
// By Coulomb's law the impulse along is mu times the one across, whatever the pushing was like:
//   v_x = 20 - mu v_y.
// Both are means of the same pairs' forces, so they agree as well as steps are solved, 2e-5 of forces that act; 1 %
// here.
static void thicker_contact_pushes_and_rubs_by_coulomb(void **state) {
    (void)state;
    for (int i = 0; i < CONTACT_METHOD_COUNT; i++) {
        rbt_sim *sim = block(CONTACT_METHODS[i], 1e-4, 1e-3, 20, 0);
        double v[3];
        assert_true(rbt_sim_contacts(sim, NULL, 0) > 0);
        contact_steps(sim, 200);
        assert_int_equal(rbt_sim_contacts(sim, NULL, 0), 0);
        contact_velocity(sim, 0, v);
        print_message("%-17s pushed to %.4f m/s across, slowed by %.4f m/s, mu times that is %.4f\n",
                      CONTACT_METHODS[i], v[1], 20 - v[0], 0.5 * v[1]);
        assert_true(v[1] > 0.01);
        assert_below(fabs(20 - v[0] - 0.5 * v[1]), 0.01 * 0.5 * v[1]);
        rbt_sim_free(sim);
    }
}

// ---- To a halt

// A block at speed v on a plane stops after v^2/(2 mu g). Discrete steps: backward Euler moves with the speed of the
// end, which is mu g h/2 less on average: h v/2 shorter, BDF2 and midpoint are of second order and differ by the step
// in which it stops, h v_eps and mu g h^2. Friction takes the kinetic energy; what backward Euler damps of its change,
// 1/2 m (mu g h)^2 a step, is h mu g/v of it in all: friction sees the speed of the end only. The midpoint rule turns
// the speed that is left of the last step round in every further one; the block stays where it is, so speed is a mean
// of two.
static void halts(const char *method, bool first_order) {
    const double speed = 2, mu = 0.5, h = 0.005;
    rbt_sim *settled = block("backward-euler", 9.8e-4, 1e-3, 0, GRAVITY),
            *sim = block(method, 9.8e-4, 1e-3, speed, GRAVITY);
    double x[3], before[3], start, way = speed * speed / (2 * mu * GRAVITY);
    rbt_error error;
    contact_steps(settled, 100);
    if (!rbt_sim_set_positions(sim, 0, rbt_sim_node_count(sim), rbt_sim_positions(settled), &error))
        fail_msg("%s", error.message);
    rbt_sim_free(settled);
    contact_centre(sim, 0, x);
    start = x[0];
    rbt_energies first = rbt_sim_energies(sim), last = first;
    double rise = 0, least = first.total, balance = 0;
    for (int k = 0; k < 120; k++) {
        contact_step(sim);
        last = rbt_sim_energies(sim);
        rise = fmax(rise, last.total - least);
        balance = fmax(balance, last.total + last.friction - first.total - first.friction);
        least = fmin(least, last.total);
    }
    contact_centre(sim, 0, before);
    contact_steps(sim, 2);
    contact_centre(sim, 0, x);
    double left = (x[0] - before[0]) / (2 * h);
    double taken = last.friction - first.friction;
    print_message(
        "%-17s way %.4f m (%.4f m); friction took %.4f of the kinetic energy; energy rose by %.1e, with friction "
        "by %.1e of it; speed left %.1e\n",
        method, x[0] - start, way, taken / first.kinetic, rise / first.kinetic, balance / first.kinetic, left);
    assert_below(fabs(left), 1e-4);
    assert_below(fabs(x[0] - start - way), (first_order ? 0.5 * h * speed : 0) + mu * GRAVITY * h * h + 1e-4 * 0.6);
    assert_below(fabs(taken / first.kinetic - 1), (first_order ? h * mu * GRAVITY / speed : 0) + 0.005);
    assert_below(rise, 1e-6 * first.kinetic);
    rbt_sim_free(sim);
}

static void backward_euler_halts(void **state) {
    (void)state;
    halts("backward-euler", true);
}
static void midpoint_halts(void **state) {
    (void)state;
    halts("implicit-midpoint", false);
}
static void bdf2_halts(void **state) {
    (void)state;
    halts("bdf2", false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clearance_is_no_contact),
        cmocka_unit_test(thicker_contact_pushes_and_rubs_by_coulomb),
        cmocka_unit_test(backward_euler_halts),
        cmocka_unit_test(midpoint_halts),
        cmocka_unit_test(bdf2_halts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
