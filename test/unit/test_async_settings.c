// "contact" of a scene with async-contact: the same as its own options where these say the same, friction of bodies and
// pairs, and gaps.
#include "contact_scene.h"

#define BLOCK(name, x, y, more)                                                                                      \
    "{'name': '" name "', 'mesh': {'shape': {'cuboid': {'size': [0.2, 0.1, 0.2], 'cells': [2, 1, 2]}}}, "            \
    "'transform': {'translate': [" x ", " y ", 0]}, 'material': {'model': 'stable-neo-hookean', 'young': 1e5, "      \
    "'poisson': 0.3, 'density': 1000}, 'velocity': {'linear': [1, 0, 0]}" more "}"

static rbt_sim *sliding(const char *bodies, const char *contact, const char *options) {
    return contact_sim("{'rubato': 1, 'bodies': [%s], 'obstacles': [{'plane': {}}], %s 'forces': [{'gravity': {}}], "
                       "'time': {'step': 0.005, 'frame': 0.005, 'end': 10}, 'integrator': {'method': "
                       "'async-contact'%s}}",
                       bodies, contact, options);
}

static void the_same_as_options(void **state) {
    (void)state;
    const char *bodies = BLOCK("a", "0", "0.052", "") ", " BLOCK("b", "0.05", "0.16", "");
    rbt_sim *a = sliding(bodies, "'contact': {'thickness': 1.5e-3, 'friction': 0.3},", "");
    rbt_sim *b = sliding(bodies, "", ", 'options': {'thickness': 1.5e-3, 'friction': 0.3}");
    contact_steps(a, 20), contact_steps(b, 20);
    size_t bytes = 3 * rbt_sim_node_count(a) * sizeof(double);
    assert_memory_equal(rbt_sim_positions(a), rbt_sim_positions(b), bytes);
    assert_memory_equal(rbt_sim_velocities(a), rbt_sim_velocities(b), bytes);
    assert_true(rbt_sim_contacts(a, NULL, 0) > 0);
    rbt_sim_free(a), rbt_sim_free(b);
}

// How much slower each of three blocks gets on the ground in a tenth of a second, over g
static void slow_down(const char *contact, const char *first, double by[3]) {
    char bodies[4096];
    snprintf(bodies, sizeof bodies,
             BLOCK("a", "0", "0.052", "%s") ", " BLOCK("b", "1", "0.052", "") ", " BLOCK("c", "2", "0.052", ""),
             first);
    rbt_sim *sim = sliding(bodies, contact, ", 'options': {'restitution': 0}");
    contact_steps(sim, 40);
    for (int b = 0; b < 3; b++) {
        double v[3];
        contact_velocity(sim, b, v);
        by[b] = (1 - v[0]) / (0.2 * GRAVITY);
    }
    rbt_sim_free(sim);
}

// Coulomb's law with the coefficient of the pair, within what the first fall of 2 mm takes
static void friction_is_that_of_the_pair(void **state) {
    (void)state;
    double by[3];
    slow_down("'contact': {'thickness': 1.5e-3, 'friction': 0.1, 'pairs': [{'a': 'c', 'b': 'obstacles[0]', "
              "'friction': 0.3}]},",
              ", 'friction': 0.2", by);
    print_message("slowed down by %.3f, %.3f, %.3f g; coefficients 0.2, 0.1, 0.3\n", by[0], by[1], by[2]);
    assert_below(fabs(by[0] - 0.2), 0.03);
    assert_below(fabs(by[1] - 0.1), 0.03);
    assert_below(fabs(by[2] - 0.3), 0.03);
}

// Bodies keep their gap: half of it to an obstacle, the mean of theirs to each other.
static void gaps_are_kept(void **state) {
    (void)state;
    rbt_sim *sim = sliding(BLOCK("a", "0", "0.065", "") ", " BLOCK("b", "0.02", "0.19", ", 'gap': 0.01"),
                           "'contact': {'thickness': 1e-3, 'gap': 0.02, 'friction': 0.5},", "");
    double low = INFINITY, between = INFINITY;
    size_t half = rbt_sim_node_count(sim) / 2;
    for (int i = 0; i < 60; i++) {
        contact_step(sim);
        const double *x = rbt_sim_positions(sim);
        for (size_t n = 0; n < half; n++) {
            low = fmin(low, x[3 * n + 1]);
            for (size_t k = half; k < 2 * half; k++) {
                double across[3];
                rbt_subtract(x + 3 * k, x + 3 * n, across);
                between = fmin(between, rbt_length(across));
            }
        }
    }
    print_message("above the ground by %.5f m, nodes of both by %.5f m\n", low, between);
    assert_true(low > 0.01);
    assert_below(low, 0.0112);
    assert_true(between > 0.015);
    assert_below(between, 0.03);
    rbt_sim_free(sim);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_same_as_options),
                                       cmocka_unit_test(friction_is_that_of_the_pair),
                                       cmocka_unit_test(gaps_are_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
