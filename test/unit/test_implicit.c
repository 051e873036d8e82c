// The implicit rules from inside: where each takes its damping. Their file is part of this program, to look inside.
#include "step/implicit/implicit.c"

#include "scene.h"
#include "sim/sim.h"

#define DAMPED(method)                                                                                               \
    "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.4, 0.1, 0.1], 'cells': [4, "  \
    "1, "                                                                                                            \
    "1]}}}, 'material': {'model': 'stable-neo-hookean', 'young': 1e5}, 'damping': {'stiffness': 0.01}, 'fixed': "    \
    "['left'], 'velocity': {'linear': [0.5, 1, 0]}}], 'time': {'step': 0.01, 'frame': 0.01, 'end': 1}, "             \
    "'integrator': "                                                                                                 \
    "{'method': '" method "'}}"

// beta K is that of the position where the rule takes the force: x_n of backward Euler and of the first step of BDF2,
// x_n + h v_n from then on, x_n + h/2 v_n of the midpoint rule, which the order of the latter two rests on.
static void damping_is_taken_where_the_force_is(void **state) {
    (void)state;
    static const struct {
        const char *json;
        double ahead[3];  // of the first three steps, in steps
    } RULES[] = {{DAMPED("backward-euler"), {0, 0, 0}},
                 {DAMPED("implicit-midpoint"), {0.5, 0.5, 0.5}},
                 {DAMPED("bdf2"), {0, 1, 1}}};
    for (int r = 0; r < 3; r++) {
        rbt_sim *sim = sim_from(RULES[r].json);
        rbt_implicit *s = sim->stepper.self;
        size_t n = 3 * sim->model->node_count, numbers = 9 * s->objective.H.start[sim->model->node_count];
        double *there = malloc(n * sizeof *there), *used = malloc(numbers * sizeof *used);
        for (int k = 0; k < 3; k++) {
            for (size_t i = 0; i < n; i++)
                there[i] = sim->state.x[i] + RULES[r].ahead[k] * sim->model->step * sim->state.v[i];
            advance(sim, 1);
            memcpy(used, s->objective.damping, numbers * sizeof *used);
            rbt_objective_freeze_damping(&s->objective, there);
            double off = 0, size = 0;
            for (size_t i = 0; i < numbers; i++) {
                off = fmax(off, fabs(used[i] - s->objective.damping[i]));
                size = fmax(size, fabs(used[i]));
            }
            assert_true(size > 0 && off <= 1e-12 * size);
        }
        free(there), free(used);
        rbt_sim_free(sim);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damping_is_taken_where_the_force_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
