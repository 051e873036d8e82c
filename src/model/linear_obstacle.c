#include "model/linear_obstacle.h"

#include "base/threads.h"
#include "math/vec3.h"

#include <string.h>

void rbt_obstacle_meet(const rbt_model *m, size_t n, const double y[3], const double from_there[3], double push[3],
                       double K[9]) {
    memset(push, 0, 3 * sizeof *push);
    memset(K, 0, 9 * sizeof *K);
    if (m->node_area[n] == 0) return;
    rbt_obstacles_node(&m->obstacles, y, m->node_area[n], push, K);
    for (size_t k = 0; k < 3; k++) push[k] += rbt_dot(K + 3 * k, from_there);
}

// f += F(y); K of a node that is not on a surface stays as it is: zero.
static void add_force(const rbt_model *m, size_t n, const double y[3], double f[3], double K[9]) {
    double push[3];
    if (m->node_area[n] == 0) return;
    rbt_obstacles_node(&m->obstacles, y, m->node_area[n], push, K);
    rbt_add_scaled(f, 1, push);
}

void rbt_obstacles_meet(const rbt_model *m, const rbt_state *state, double h, double *f, double *K) {
#pragma omp parallel for schedule(static) if (m->node_count >= RBT_PARALLEL_FROM)
    for (size_t n = 0; n < m->node_count; n++) {
        double ahead[3], y[3];
        for (size_t k = 0; k < 3; k++) {
            size_t i = 3 * n + k;
            ahead[k] = rbt_obstacle_ahead(m, n, h, f[i]);
            y[k] = state->x[i] + h * state->v[i] + ahead[k];
        }
        add_force(m, n, y, f + 3 * n, K + 9 * n);
        for (size_t k = 0; k < 3; k++) f[3 * n + k] += rbt_dot(K + 9 * n + 3 * k, ahead);
    }
}

void rbt_obstacles_meet_from_start(const rbt_model *m, const rbt_state *state, double h, const double *node_steps,
                                   const double *f, double *push, double *K) {
#pragma omp parallel for schedule(static) if (m->node_count >= RBT_PARALLEL_FROM)
    for (size_t n = 0; n < m->node_count; n++) {
        double step = node_steps ? node_steps[n] : h, y[3];
        for (size_t k = 0; k < 3; k++) {
            size_t i = 3 * n + k;
            y[k] = state->x[i] + step * state->v[i] + rbt_obstacle_ahead(m, n, step, f[i]);
        }
        add_force(m, n, y, push + 3 * n, K + 9 * n);
        for (size_t i = 0; i < 3; i++)
            for (size_t k = 0; k < 3; k++) push[3 * n + i] += K[9 * n + 3 * i + k] * (y[k] - state->x[3 * n + k]);
    }
}
