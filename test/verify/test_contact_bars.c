// Two elastic bars meet end to end: contact against d'Alembert's waves.
//
// Length L = 10, E = rho = 1, nu = 0, velocities +-v = 0.1: the force rises at once to A rho c v, stays for 2 L / c =
// 20 s and is gone at once, and the bars then have exchanged their velocities.
//
// How near a mesh can come: fronts that have come 2 L far are smeared over
//   w = (3 a 2 L)^(1/3),  a = dx^2/24 + b h^2,   by dispersion: sin(k dx/2) of lumped tets, and b = 1/12 of the
//                         midpoint
//                                                rule, 1/3 of BDF2 (both from the expansion of their frequency in omega
//                                                h)
//   w = sqrt(4 (h/2) 2 L)                        by backward Euler's damping, which is a viscosity of c^2 h/2.
// The contact's own layer opens and closes within thickness / v, and times are multiples of h. So the time of contact
// is good to t = w + thickness/v + h, the momentum that was exchanged to A rho c v t, and the velocity to twice the
// share t / (2 L) of v. With 25 cells that is a coarse mesh; docs/reproduction/contact.md has finer ones.
#include "contact_scene.h"

static const double LENGTH = 10, SIDE = 0.5, SPEED = 0.1, THICKNESS = 0.01;
enum { CELLS = 25 };

static rbt_sim *bars(const char *method, double h) {
    return contact_sim(
        "{'rubato': 1, 'bodies': [{'name': 'left', 'mesh': {'shape': {'bar': {'size': [%g, %g, %g], 'cells': [%d, 1, "
        "1]}}}, 'transform': {'translate': [%.17g, 0, 0]}, 'material': {'model': 'linear', 'young': 1, 'poisson': 0, "
        "'density': 1}, 'velocity': {'linear': [%g, 0, 0]}}, {'name': 'right', 'mesh': {'shape': {'bar': {'size': "
        "[%g, "
        "%g, %g], 'cells': [%d, 1, 1]}}}, 'transform': {'translate': [%.17g, 0, 0]}, 'material': {'model': 'linear', "
        "'young': 1, 'poisson': 0, 'density': 1}, 'velocity': {'linear': [%g, 0, 0]}}], 'contact': {'thickness': "
        "%g}, "
        "'time': {'step': %.17g, 'frame': %.17g, 'end': 100}, 'integrator': {'method': '%s', 'solver': 'newton'}}",
        LENGTH, SIDE, SIDE, CELLS, -0.5 * (LENGTH + THICKNESS), SPEED, LENGTH, SIDE, SIDE, CELLS,
        0.5 * (LENGTH + THICKNESS), -SPEED, THICKNESS, h, h, method);
}

static double front_width(const char *method, double dx, double h) {
    if (strcmp(method, "backward-euler") == 0) return sqrt(4 * (h / 2) * 2 * LENGTH);
    double b = strcmp(method, "bdf2") == 0 ? 1.0 / 3 : 1.0 / 12;
    return cbrt(3 * (dx * dx / 24 + b * h * h) * 2 * LENGTH);
}

static void meet(const char *method) {
    double dx = LENGTH / CELLS, h = dx / 2, first = NAN, last = NAN, highest = 0, velocity[2][3];
    rbt_sim *sim = bars(method, h);
    double start = rbt_sim_energies(sim).total, exact = SIDE * SIDE * SPEED;
    while (rbt_sim_time(sim) < 2 * LENGTH + 6) {
        double force[3];
        contact_step(sim);
        contact_force(sim, 0, force);
        if (-force[0] > 0.5 * exact) {
            if (isnan(first)) first = rbt_sim_time(sim);
            last = rbt_sim_time(sim);
        }
        highest = fmax(highest, rbt_sim_energies(sim).total / start);
    }
    for (size_t b = 0; b < 2; b++) contact_velocity(sim, b, velocity[b]);
    double error = front_width(method, dx, h) + THICKNESS / SPEED + h;
    print_message(
        "%-17s in contact for %.2f s, not 20 +- %.2f; velocities after %.4f and %.4f, +-%.4f; energy at most "
        "%.9f\n",
        method, last - first + h, error, velocity[0][0], velocity[1][0], 2 * SPEED * error / (2 * LENGTH), highest);
    assert_int_equal(rbt_sim_contacts(sim, NULL, 0), 0);
    assert_below(fabs(last - first + h - 2 * LENGTH), error);
    assert_below(fabs(velocity[0][0] + SPEED), 2 * SPEED * error / (2 * LENGTH));
    assert_below(fabs(velocity[0][0] + velocity[1][0]), 1e-12);  // equal masses, and momentum stays
    assert_below(highest, 1 + 1e-9);
    rbt_sim_free(sim);
}

static void bars_exchange_their_velocities(void **state) {
    (void)state;
    for (int i = 0; i < CONTACT_METHOD_COUNT; i++) meet(CONTACT_METHODS[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(bars_exchange_their_velocities)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
