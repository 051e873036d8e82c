// An elastic half-ball between two planes: contact against Hertz, corrected for what is not infinite and not thin.
//
// Half of a sphere that is pressed by two planes without friction. The force at this approach, radius and peak of the
// pressure of the whole sphere in linear elasticity are from modes of Legendre's polynomials, which
// bench/contact/hertz.py sums up (and proves to become Hertz's for small contacts); for R = E = 1, nu = 0.3:
//   sphere(0.2, 0.3): delta 0.036872, F 0.011618, a 0.19867, p0 0.13943
// The barrier's layer d(p), -b'(d) = p / (0.1 E), counts as a plane that is raised by the mean of d(p0 s) over s from 0
// to 1 (Betti's reciprocity, there).
//
// Tets of first order are too stiff by the square of their size, so the error of the force falls to a quarter on a mesh
// of half the size, and extrapolation leaves what is not of that order: the edge of the contact lies anywhere between
// two rings of nodes. The force at a given approach is stationary in the radius of the contact (no pressure at its
// edge), so a radius that is off by half a cell, 0.0325 of 0.2 with 4 cells, counts by its square: 3 %.
#include "contact_scene.h"

static const double THICKNESS = 5e-4, DELTA = 0.036872, FORCE = 0.011618, PEAK = 0.13943;
enum { STEPS = 4 };

static rbt_sim *half_ball(int cells) {
    double travel = 0.041 + 2 * THICKNESS;
    return contact_sim(
        "{'rubato': 1, 'bodies': [{'name': 'half', 'mesh': {'shape': {'half-ball': {'radius': 1, 'fine': 0.26, "
        "'cells': "
        "%d}}}, 'transform': {'translate': [0, %.17g, 0]}, 'material': {'model': 'linear', 'young': 1, 'poisson': "
        "0.3, "
        "'density': 1e-6}}], 'obstacles': [{'plane': {}}, {'plane': {'point': [0, %.17g, 0], 'normal': [0, -1, 0], "
        "'motions': [{'velocity': {'velocity': [0, %.17g, 0]}}]}}], 'contact': {'thickness': %g}, 'time': {'step': "
        "1, "
        "'frame': 1, 'end': 4}, 'integrator': {'method': 'backward-euler', 'solver': 'newton'}}",
        cells, 1 + THICKNESS, 1 + 2 * THICKNESS, -travel / STEPS, THICKNESS);
}

// ---- The layer

static double barrier_force(double s) { return -(2 * (1 - s) * log(s) - (1 - s) * (1 - s) / s); }

static double gap_of(double pressure) {  // d/dhat
    double low = 1e-9, high = 1;
    for (int k = 0; k < 100; k++) {
        double middle = 0.5 * (low + high);
        *(0.1 * barrier_force(middle) > pressure ? &low : &high) = middle;
    }
    return low;
}

static double raised(double peak) {
    double sum = 0;
    for (int k = 0; k < 200; k++) sum += gap_of(peak * (k + 0.5) / 200) / 200;
    return THICKNESS * sum;
}

// ---- A press

typedef struct press {
    double force, upper;  // [N] of the planes
    double delta;         // [m] approach
} press;

static press look(const rbt_sim *sim, double plane) {
    enum { MOST = 4000 };
    rbt_contact_point *points = calloc(MOST, sizeof *points);
    assert_non_null(points);
    size_t count = rbt_sim_contacts(sim, points, MOST);
    assert_true(count < MOST);
    press p = {0};
    double height = 0, flat = 0;
    for (size_t i = 0; i < count; i++) {
        if (points[i].body_b == -1) p.force += points[i].force;
        else p.upper += points[i].force, height += plane - points[i].gap, flat++;
    }
    free(points);
    assert_true(flat > 0);
    p.delta = 1 - height / flat + raised(PEAK * cbrt(p.force / FORCE));
    return p;
}

// The force at DELTA beside FORCE, by powers between the two nearest presses
static double excess(int cells) {
    rbt_sim *sim = half_ball(cells);
    press last = {0}, before = {0};
    double travel = 0.041 + 2 * THICKNESS;
    for (int k = 1; k <= STEPS; k++) {
        contact_step(sim);
        before = last;
        last = look(sim, 1 + 2 * THICKNESS - travel * k / STEPS);
        assert_below(fabs(last.force - last.upper), 1e-3 * last.force);  // at rest, as well as steps are solved
        assert_true(last.force > before.force);
    }
    rbt_sim_free(sim);
    assert_true(before.delta < DELTA && last.delta > DELTA);
    double power = log(last.force / before.force) / log(last.delta / before.delta);
    double found = last.force * pow(DELTA / last.delta, power) / FORCE - 1;
    print_message("%d cells: force off by %+.2f %%, F ~ delta^%.2f\n", cells, 100 * found, power);
    return found;
}

static void force_is_that_of_the_sphere(void **state) {
    (void)state;
    double coarse = excess(2), fine = excess(4), limit = (4 * fine - coarse) / 3;
    print_message("extrapolated: %+.2f %%\n", 100 * limit);
    assert_below(fabs(fine), 0.5 * fabs(coarse));
    assert_below(fabs(limit), 0.03);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(force_is_that_of_the_sphere)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
