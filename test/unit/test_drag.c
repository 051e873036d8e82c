// A spring that drags nodes to a point: it swings as an oscillator does, its work is counted, and it stops when it
// lets go.
#define METHOD_CELLS SAMPLED(8, 6)
#include "every_method.h"

#include <math.h>

static const char *const BLOCK = "{'rubato': 1, 'bodies': [{'name': 'block', 'mesh': {'shape': {'cuboid': {'size': "
                                 "[0.1, 0.1, 0.1], 'cells': [1, 1, 1]}}}}], "
                                 "'forces': [{'drag': {'where': 'everything', 'point': [0.5, 0, 0], 'stiffness': %g, "
                                 "'until': %g}}], 'time': {'step': 1e-3, "
                                 "'frame': 1e-2, 'end': 2}, 'integrator': {'method': 'backward-euler'}}";

static double centre(const rbt_sim *sim) {
    double sum = 0;
    for (int i = 0; i < 8; i++) sum += rbt_sim_positions(sim)[3 * i] / 8;
    return sum;
}

// 1 kg at 0.5 m from the point: x = 0.5 (1 - cos(omega t)), omega^2 = k / m
static void a_block_swings(void **state) {
    (void)state;
    char json[1024];
    snprintf(json, sizeof json, BLOCK, 10.0, 10.0);
    rbt_sim *sim = sim_from(json);
    for (int frame = 1; frame <= 100; frame++) {
        advance(sim, 1);
        double want = 0.5 * (1 - cos(sqrt(10.0) * rbt_sim_time(sim)));
        assert_float_equal(centre(sim), want, 5e-3);
    }
    rbt_energies e = rbt_sim_energies(sim);
    double away = 0.5 - centre(sim);
    assert_float_equal(e.work, 0.5 * 10 * (0.25 - away * away), 1e-2);  // what the spring has given
    assert_float_equal(e.kinetic, e.work, 2e-2);
    rbt_sim_free(sim);
}

static void it_lets_go(void **state) {
    (void)state;
    char json[1024];
    snprintf(json, sizeof json, BLOCK, 10.0, 0.2);
    rbt_sim *sim = sim_from(json);
    advance(sim, 20);
    double v = rbt_sim_velocities(sim)[0], x = centre(sim);
    advance(sim, 50);
    assert_float_equal(centre(sim), x + 0.5 * v, 1e-3);
    rbt_sim_free(sim);
}

// Every method knows it, counts its work and continues with it.
static void dragged(const method_case *c) {
    rbt_error error;
    const char *more = ", {'drag': {'body': 'bar', 'where': 'middle', 'point': [0, 0.5, 0], 'stiffness': 400}}]";
    rbt_sim *one = method_sim_with(c, "", more), *other = method_sim_with(c, "", more),
            *bare = method_sim_with(c, "", "]");
    steps(one, 6);
    rbt_state *saved = rbt_sim_save(one, &error);
    must(saved, &error);
    advance(one, 6);
    advance(bare, 7);
    must(rbt_sim_restore(other, saved, &error), &error);
    advance(other, 6);
    assert_same_motion(one, other, c->name);
    const int32_t *nodes;
    size_t count;
    must(rbt_sim_selection(one, 0, "middle", &nodes, &count, &error), &error);
    double lifted = rbt_sim_positions(one)[3 * nodes[0] + 1] - rbt_sim_positions(bare)[3 * nodes[0] + 1];
    if (!(lifted > 1e-3) || !(rbt_sim_energies(one).work > 0)) fail_msg("%s: lifted by %g m", c->name, lifted);
    rbt_state_free(saved);
    rbt_sim_free(one);
    rbt_sim_free(other);
    rbt_sim_free(bare);
}

static void every_method_drags(void **state) {
    (void)state;
    for_every_method(dragged);
}

static void too_stiff_is_refused(void **state) {
    (void)state;
    char json[1024];
    snprintf(json, sizeof json, BLOCK, 2e6, 1.0);
    refuses(json, "it may have 1e+06 N/m at most");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_swings),
        cmocka_unit_test(it_lets_go),
        cmocka_unit_test(every_method_drags),
        cmocka_unit_test(too_stiff_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
