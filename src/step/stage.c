#include "step/stage.h"

#include "math/vec3.h"

#include <stdio.h>
#include <string.h>

void rbt_stage_add(rbt_stages *stages, const char *name, double seconds) {
    int i = 0;
    while (i < stages->count && strcmp(stages->name[i], name) != 0) i++;
    if (i == RBT_MAX_STAGES) return;
    if (i == stages->count) {
        stages->name[stages->count] = name;
        stages->seconds[stages->count++] = 0;
    }
    stages->seconds[i] += seconds;
}

double rbt_step_length(const rbt_model *model, const rbt_state *state, double until) {
    double h = until - state->t, nominal = model->step;
    while (nominal > 1.5 * h) nominal *= 0.5;
    return fabs(nominal - h) <= 1e-6 * h ? nominal : h;
}

void rbt_report_node(rbt_step_report *report, const rbt_model *m, const double *x, size_t node) {
    const rbt_body *body = &m->bodies[m->node_body[node]];
    report->body = m->node_body[node];
    report->tet = -1;
    double least = INFINITY;
    for (size_t k = m->tet_start[node]; k < m->tet_start[node + 1]; k++) {
        size_t t = (size_t)m->node_tets[k];
        const int32_t *n = m->tets + 4 * t;
        const double *p[4], *P[4];
        for (int a = 0; a < 4; a++) p[a] = x + 3 * (size_t)n[a], P[a] = m->X + 3 * (size_t)n[a];
        double J = rbt_tet_volume(p[0], p[1], p[2], p[3]) / rbt_tet_volume(P[0], P[1], P[2], P[3]);
        if (J < least || report->tet < 0) {
            least = J;
            report->tet = (int64_t)(t - body->tet_begin);
            report->value = J;
        }
    }
}

rbt_outcome rbt_check_motion(const rbt_model *m, const rbt_state *state, double h, rbt_step_report *report) {
    for (size_t n = 0; n < m->node_count; n++) {
        const double *x = state->x + 3 * n, *v = state->v + 3 * n;
        const rbt_body *body = &m->bodies[m->node_body[n]];
        double size[3];
        rbt_subtract(body->box_max, body->box_min, size);
        double speed = rbt_length(v);
        if (isfinite(rbt_length(x)) && speed * h <= 1e3 * rbt_length(size)) continue;
        rbt_report_node(report, m, state->x, n);
        report->value = speed;
        snprintf(report->hint, sizeof report->hint,
                 "node %zu moves at %.3g m/s; take a smaller step (explicit methods: below %.3g s here), or an "
                 "implicit method",
                 n - body->node_begin, speed, body->explicit_step);
        return RBT_NOT_FINITE;
    }
    return RBT_DONE;
}
