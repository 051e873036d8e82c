#include "step/async/async_surface.h"

void rbt_async_surface_drive(const rbt_model_surface *s, rbt_tracks *tracks, int64_t tick, double t, double h) {
    for (size_t i = 0; i < s->nodes.count; i++) {
        size_t n = s->model->node_count + i;
        double *x = tracks->x + 3 * n, *v = tracks->v + 3 * n, next[3];
        rbt_obstacle_nodes_at(&s->nodes, i, t, x);
        rbt_obstacle_nodes_at(&s->nodes, i, t + h, next);
        for (size_t k = 0; k < 3; k++) v[k] = (next[k] - x[k]) / h;
        tracks->t[n] = tick;
    }
}
