// Penalty obstacles: depth and direction of every kind, forces as energy gradients.
#include "energy/obstacle.h"
#include "math/vec3.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const rbt_obstacle_plane PLANE = {.point = {0, 1, 0}, .normal = {0, 2, 0}, .stiffness = 100};
static const rbt_obstacle_sphere SPHERE = {.centre = {1, 0, 0}, .radius = 0.5, .stiffness = 100};
static const rbt_obstacle_box BOX = {.min = {-1, -1, -1}, .max = {1, 2, 1}, .stiffness = 100};
static const rbt_obstacle_capsule CAPSULE = {.a = {0, 0, 0}, .b = {2, 0, 0}, .radius = 0.5, .stiffness = 100};

static const rbt_obstacle ALL[] = {{RBT_OBSTACLE_PLANE, &PLANE},
                                   {RBT_OBSTACLE_SPHERE, &SPHERE},
                                   {RBT_OBSTACLE_BOX, &BOX},
                                   {RBT_OBSTACLE_CAPSULE, &CAPSULE}};

// A point inside each, the way out and how far it is
static const struct {
    double x[3], normal[3], depth;
} CASES[] = {
    {{5, 0.75, 3}, {0, 1, 0}, 0.25},   {{1.1, 0, 0}, {1, 0, 0}, 0.4}, {{0.5, 1.7, 0.2}, {0, 1, 0}, 0.3},
    {{1.2, 0, -0.3}, {0, 0, -1}, 0.2}, {{2.3, 0, 0}, {1, 0, 0}, 0.2},  // beyond the ends of the capsule's segment
    {{-0.1, 0, 0}, {-1, 0, 0}, 0.4},
};
enum { CASE_COUNT = sizeof CASES / sizeof *CASES };
static const rbt_obstacle *obstacle_of(int i) { return &ALL[i < 4 ? i : 3]; }

static void depth_and_direction(void **state) {
    (void)state;
    for (int i = 0; i < CASE_COUNT; i++) {
        rbt_obstacles one = {1, obstacle_of(i), NULL};
        double force[3], K[9], area = 2;
        double energy = rbt_obstacles_node(&one, CASES[i].x, area, force, K), d = CASES[i].depth;
        assert_true(fabs(energy - 0.5 * 100 * area * d * d) < 1e-12);
        for (int k = 0; k < 3; k++) assert_true(fabs(force[k] - 100 * area * d * CASES[i].normal[k]) < 1e-12);
        for (int k = 0; k < 9; k++)
            assert_true(fabs(K[k] - 100 * area * CASES[i].normal[k / 3] * CASES[i].normal[k % 3]) < 1e-12);
    }
}

static void force_is_energy_gradient(void **state) {
    (void)state;
    const double s = 1e-6;
    for (int i = 0; i < CASE_COUNT; i++) {
        rbt_obstacles one = {1, obstacle_of(i), NULL};
        double x[3] = {CASES[i].x[0] + 0.02, CASES[i].x[1] - 0.03, CASES[i].x[2] + 0.01}, force[3];
        rbt_obstacles_node(&one, x, 1, force, NULL);
        for (int k = 0; k < 3; k++) {
            double plus[3] = {x[0], x[1], x[2]}, minus[3] = {x[0], x[1], x[2]};
            plus[k] += s;
            minus[k] -= s;
            double slope =
                (rbt_obstacles_node(&one, plus, 1, NULL, NULL) - rbt_obstacles_node(&one, minus, 1, NULL, NULL)) /
                (2 * s);
            assert_true(fabs(slope + force[k]) < 1e-6);
        }
    }
}

static void nothing_outside(void **state) {
    (void)state;
    const double far[3] = {-20, 30, 40};
    rbt_obstacles all = {4, ALL, NULL};
    double force[3], K[9];
    assert_true(rbt_obstacles_node(&all, far, 1, force, K) == 0);
    assert_true(force[0] == 0 && force[1] == 0 && force[2] == 0 && K[0] == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(depth_and_direction),
                                       cmocka_unit_test(force_is_energy_gradient), cmocka_unit_test(nothing_outside)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
