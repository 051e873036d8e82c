// Two balls collide and nothing else acts: action equals reaction, so their momentum stays, with friction or without.
//
// How well it can: a step stores positions z with a rounding of eps |x| and makes velocities (z - b)/tau of them, b
// with a rounding of its own, and of v with eps |v|. In n steps these add up to at most
//   |P - P0| <= 4 n eps (sum m |v| + sum m |x| / tau),
// tau being h, h/2 and 2h/3 (step/implicit/implicit.c); that is what "to rounding" means here. A step that was halved k
// times is up to 2^k steps, with 1/tau 2^k times as large.
//
// Contact acts on the end of a step. So no method keeps angular momentum in it to rounding: what it loses falls with h,
// and must be little. Between contacts the midpoint rule does: there it is judged as momentum is, with |x| as the
// lever.
#include "contact_scene.h"

#include <float.h>
#include <unistd.h>

typedef struct ledger {
    double momentum[3], angular[3];
    double moving, size, lever;  // sum m |v|, the same with |x|/tau, and where the farthest node is [m]
    rbt_energies energies;
} ledger;

static ledger take(const rbt_sim *sim, double tau) {
    ledger l = {.energies = rbt_sim_energies(sim)};
    const double *x = rbt_sim_positions(sim), *v = rbt_sim_velocities(sim), *mass = rbt_sim_masses(sim);
    for (size_t n = 0; n < rbt_sim_node_count(sim); n++) {
        double turning[3];
        rbt_cross(x + 3 * n, v + 3 * n, turning);
        rbt_add_scaled(l.momentum, mass[n], v + 3 * n);
        rbt_add_scaled(l.angular, mass[n], turning);
        l.moving += mass[n] * rbt_length(v + 3 * n);
        l.size += mass[n] * (rbt_length(v + 3 * n) + rbt_length(x + 3 * n) / tau);
        l.lever = fmax(l.lever, rbt_length(x + 3 * n));
    }
    return l;
}

static double change(const double a[3], const double b[3]) {
    double by[3];
    rbt_subtract(a, b, by);
    return rbt_length(by);
}

static double bound_of(const ledger *l, double steps) { return 4 * steps * DBL_EPSILON * l->size; }

static void collide(rbt_sim *sim, const char *what, const char *method, double share, int steps) {
    double tau = share * rbt_sim_step_length(sim);
    ledger first = take(sim, tau), last = first;
    double worst = 0, off = 0, highest = 0, done = 0;
    int touching = 0, halvings = 0;
    for (int i = 0; i < steps; i++) {
        ledger before = last;
        bool apart = rbt_sim_contacts(sim, NULL, 0) == 0;
        int halved = contact_try(sim);
        halvings += halved;
        done += ldexp(1, 2 * halved);
        last = take(sim, tau);
        touching += rbt_sim_contacts(sim, NULL, 0) > 0;
        worst = fmax(worst, change(last.momentum, first.momentum) / bound_of(&last, done));
        if (apart && !halved && rbt_sim_contacts(sim, NULL, 0) == 0 && share == 0.5)
            off = fmax(off, change(last.angular, before.angular) / (last.lever * bound_of(&last, 1)));
        highest = fmax(highest, last.energies.total + last.energies.friction);
    }
    print_message("%-26s %-17s %2d steps of contact, %d halvings; momentum %.2f of rounding (%.1e of sum m |v|), "
                  "angular momentum "
                  "%.1e of sum m |v| |x|, energy %.4f, at most %.5f, friction took %.4f\n",
                  what, method, touching, halvings, worst, change(last.momentum, first.momentum) / first.moving,
                  change(last.angular, first.angular) / (first.moving * first.lever),
                  last.energies.total / first.energies.total, highest / first.energies.total,
                  last.energies.friction / first.energies.total);
    assert_true(touching >= 3);
    assert_below(worst, 1);
    assert_below(off, 1);
    assert_below(highest, 1.001 * first.energies.total);  // nothing is gained
    rbt_sim_free(sim);
}

// ---- Balls of the generator

static rbt_sim *balls(const char *method, double offset, double friction, double spin) {
    return contact_sim(
        "{'rubato': 1, 'bodies': [{'name': 'a', 'mesh': {'shape': {'ball': {'radius': 0.5, 'layers': 3}}}, "
        "'transform': "
        "{'translate': [-0.55, 0, 0]}, 'material': {'model': 'neo-hookean', 'young': 1e5, 'poisson': 0.4, 'density': "
        "1000}, 'velocity': {'linear': [2, 0, 0]}}, {'name': 'b', 'mesh': {'shape': {'ball': {'radius': 0.5, "
        "'layers': "
        "4}}}, 'transform': {'axis': [1, 2, 3], 'degrees': 40, 'translate': [0.55, %.17g, 0]}, 'material': {'model': "
        "'neo-hookean', 'young': 2e5, 'poisson': 0.3, 'density': 700}, 'velocity': {'linear': [-2, 0, 0], 'angular': "
        "[0, 0, %.17g]}}], 'contact': {'thickness': 5e-3, 'friction': %.17g}, 'time': {'step': 0.01, 'frame': 0.01, "
        "'end': "
        "10}, 'integrator': {'method': '%s', 'solver': 'newton'}}",
        offset, spin, friction, method);
}

static void each_method(const char *what, double offset, double friction, double spin) {
    static const double SHARE[] = {1, 0.5, 2.0 / 3};
    for (int i = 0; i < CONTACT_METHOD_COUNT; i++)
        collide(balls(CONTACT_METHODS[i], offset, friction, spin), what, CONTACT_METHODS[i], SHARE[i], 40);
}

static void head_on(void **state) {
    (void)state;
    each_method("head-on", 0, 0, 3);
}
static void head_on_with_friction(void **state) {
    (void)state;
    each_method("head-on, friction 0.5", 0, 0.5, 3);
}
static void oblique(void **state) {
    (void)state;
    each_method("oblique", 0.4, 0, 3);
}
static void oblique_with_friction(void **state) {
    (void)state;
    each_method("oblique, friction 0.5", 0.4, 0.5, 3);
}

// Fast past each other: the force of the end of a step points forward all through it, since surfaces are curved, which
// gives a rule that damps nothing of its own 5 % of energy, unless it is balanced (rbt_contact_balance).
static void sliding(void **state) {
    (void)state;
    each_method("sliding", 0.6, 0, -3);
}

// ---- The spheres that other simulators are compared with

static void shared_spheres(void **state) {
    (void)state;
    char path[600];
    rbt_error error = {0};
    snprintf(path, sizeof path, "%s/../shared/contact-scenes/two_spheres/bodies.msh", RBT_SOURCE_DIR);
    if (access(path, R_OK) != 0) {
        print_message("skipped: %s is not there\n", path);
        return;
    }
    rbt_sim *sim = contact_sim(
        "{'rubato': 1, 'bodies': [{'name': 'spheres', 'mesh': {'file': '%s'}, 'material': {'model': 'neo-hookean', "
        "'young': 1e5, 'poisson': 0.4, 'density': 1000}}], 'contact': {}, 'time': {'step': 0.025, "
        "'frame': 0.025, 'end': 10}, 'integrator': {'method': 'backward-euler', 'solver': 'newton'}}",
        path);
    size_t nodes = rbt_sim_node_count(sim);
    double *v = calloc(3 * nodes, sizeof *v);
    assert_non_null(v);
    for (size_t n = 0; n < nodes; n++) v[3 * n] = rbt_sim_positions(sim)[3 * n] < 0 ? 2 : -2;
    if (!rbt_sim_set_velocities(sim, 0, nodes, v, &error)) fail_msg("%s", error.message);
    free(v);
    collide(sim, "shared spheres", "backward-euler", 1, 6);
}

static void by_constraints(void **state) {
    contact_by = "augmented-lagrangian";
    head_on(state);
    oblique(state);
    contact_by = NULL;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_constraints), cmocka_unit_test(head_on), cmocka_unit_test(head_on_with_friction),
        cmocka_unit_test(oblique),        cmocka_unit_test(sliding), cmocka_unit_test(oblique_with_friction),
        cmocka_unit_test(shared_spheres),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
