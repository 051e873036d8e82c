// Obstacles linearised where nodes are heading: of planes the linearisation is exact, so that what a step gets is the
// force at the point that it counts displacements from, however deep or far outside that is.
#include "math/vec3.h"
#include "model/linear_obstacle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "random.h"

enum { NODES = 40, ROUNDS = 50 };

static void assert_below(double value, double bound) {
    if (!(value <= bound)) fail_msg("%.17g is above %.17g", value, bound);
}

typedef struct world {
    rbt_obstacle_plane plane;
    rbt_obstacle obstacle;
    rbt_model model;
    rbt_state state;
    double area[NODES], mass[NODES], x[3 * NODES], v[3 * NODES], f[3 * NODES], step[NODES];
} world;

static void make(world *w) {
    *w = (world){.plane = {.stiffness = uniform(1, 1e4)}};
    for (int k = 0; k < 3; k++) w->plane.point[k] = uniform(-0.1, 0.1), w->plane.normal[k] = uniform(-1, 1);
    rbt_normalize(w->plane.normal, w->plane.normal);
    for (int n = 0; n < NODES; n++) {
        w->area[n] = n % 5 ? uniform(0.1, 1) : 0;  // every fifth is inside its body
        w->mass[n] = n % 7 ? uniform(0.1, 1) : 0;
        w->step[n] = uniform(0.01, 0.2);
        for (int k = 0; k < 3; k++) {
            w->x[3 * n + k] = uniform(-1, 1);
            w->v[3 * n + k] = uniform(-3, 3);
            w->f[3 * n + k] = uniform(-9, 9);
        }
    }
    w->obstacle = (rbt_obstacle){RBT_OBSTACLE_PLANE, &w->plane};
    w->model =
        (rbt_model){.node_count = NODES, .node_area = w->area, .mass = w->mass, .obstacles = {1, &w->obstacle}};
    w->state = (rbt_state){.x = w->x, .v = w->v};
}

static double depth(const world *w, const double z[3]) {
    double from[3];
    rbt_subtract(z, w->plane.point, from);
    return -rbt_dot(from, w->plane.normal);
}

// Where node n is heading, whether it meets the plane there, and what the plane would do to it at z
static bool heading(const world *w, int n, double h, double y[3], double start[3], const double *z, double force[3]) {
    for (int k = 0; k < 3; k++) {
        int i = 3 * n + k;
        start[k] = w->x[i] + h * w->v[i];
        y[k] = start[k] + (w->mass[n] > 0 ? h * h * w->f[i] / w->mass[n] : 0);
    }
    bool meets = w->area[n] > 0 && depth(w, y) > 0;
    double size = meets ? w->plane.stiffness * w->area[n] * depth(w, z ? z : start) : 0;
    for (int k = 0; k < 3; k++) force[k] = size * w->plane.normal[k];
    return meets;
}

// 20 roundings of sums of terms of up to k A d + |f|, with places and ways d of up to 10 m: h^2 f / M is the longest
static double bound(const world *w, int n) { return 20 * 0x1p-53 * (10 * w->plane.stiffness * w->area[n] + 9); }

static void forces_are_those_where_displacements_begin(void **state) {
    (void)state;
    int met = 0, missed = 0;
    for (int round = 0; round < ROUNDS; round++) {
        world w;
        make(&w);
        double h = uniform(0.01, 0.2), ahead[3 * NODES], from_x[3 * NODES], K[2][9 * NODES] = {{0}};
        memcpy(ahead, w.f, sizeof ahead);
        memcpy(from_x, w.f, sizeof from_x);
        rbt_obstacles_meet(&w.model, &w.state, h, ahead, K[0]);
        rbt_obstacles_meet_from_start(&w.model, &w.state, 0, w.step, from_x, from_x, K[1]);
        for (int n = 0; n < NODES; n++) {
            double y[3], start[3], force[3], small = bound(&w, n);
            bool meets = heading(&w, n, h, y, start, NULL, force);
            met += meets, missed += !meets;
            for (int k = 0; k < 3; k++) {
                assert_below(fabs(ahead[3 * n + k] - w.f[3 * n + k] - force[k]), small);
                for (int j = 0; j < 3; j++) {
                    double wanted = w.plane.stiffness * w.area[n] * w.plane.normal[k] * w.plane.normal[j];
                    assert_below(fabs(K[0][9 * n + 3 * k + j] - (meets ? wanted : 0)), small);
                }
            }
            heading(&w, n, w.step[n], y, start, w.x + 3 * n, force);
            for (int k = 0; k < 3; k++) assert_below(fabs(from_x[3 * n + k] - w.f[3 * n + k] - force[k]), small);
        }
    }
    assert_true(met > ROUNDS * NODES / 5 && missed > ROUNDS * NODES / 5);
}

static void one_node_is_as_all(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        world w;
        make(&w);
        double h = uniform(0.01, 0.2), push[3 * NODES] = {0}, all[9 * NODES] = {0};
        rbt_obstacles_meet_from_start(&w.model, &w.state, h, NULL, w.f, push, all);
        for (int n = 0; n < NODES; n++) {
            double y[3], start[3], way[3], unused[3], own[3], K[9];
            heading(&w, n, h, y, start, NULL, unused);
            rbt_subtract(y, w.x + 3 * n, way);
            rbt_obstacle_meet(&w.model, (size_t)n, y, way, own, K);
            for (int k = 0; k < 3; k++) assert_below(fabs(own[k] - push[3 * n + k]), bound(&w, n));
            assert_memory_equal(K, all + 9 * n, sizeof K);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_are_those_where_displacements_begin),
        cmocka_unit_test(one_node_is_as_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
