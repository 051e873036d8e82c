#include "step/imex/imex_reach.h"

#include "math/vec3.h"

#include <math.h>

bool rbt_imex_reach_matters(const rbt_stability *s, double step) {
    double most = 0;
    for (size_t n = 0; n < s->model->node_count; n++)
        most = fmax(most, s->model->node_area[n] * s->root[n] * s->root[n]);
    return step * step * s->contact_norm * most > 0.4;
}

void rbt_imex_reach_grow(const rbt_model *m, const double *x, const double *v, double step, unsigned char *reach) {
    for (size_t b = 0; b < m->body_count; b++) {
        const rbt_body *body = &m->bodies[b];
        double size[3];
        rbt_subtract(body->box_max, body->box_min, size);
        for (size_t n = body->node_begin; n < body->node_end; n++) {
            if (reach[n] || m->node_area[n] == 0) continue;
            double close = fmax(rbt_length(size) / 50, 16 * step * rbt_length(v + 3 * n));
            reach[n] = rbt_obstacles_depth(&m->obstacles, x + 3 * n) > -close;
        }
    }
}

bool rbt_imex_reach_missed(const rbt_stability *s, const rbt_state *state, double step,
                           const unsigned char *implicit) {
    const rbt_model *m = s->model;
    for (size_t n = 0; n < m->node_count; n++) {
        if (s->reach[n] || implicit[n] || !(s->root[n] > 0 && m->node_area[n] > 0)) continue;
        double ahead = 2 * step * rbt_length(state->v + 3 * n);
        if (rbt_obstacles_depth(&m->obstacles, state->x + 3 * n) > -ahead) return true;
    }
    return false;
}
