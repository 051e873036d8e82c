#include "step/core/stage.h"

#include "math/vec3.h"

#include <stdio.h>
#include <string.h>

void rbt_stage_add(rbt_stages *stages, const char *name, double seconds) {
    int i = 0;
    while (i < stages->count && stages->name[i] != name && strcmp(stages->name[i], name) != 0) i++;
    if (i == RBT_MAX_STAGES) return;
    if (i == stages->count) {
        stages->name[stages->count] = name;
        stages->seconds[stages->count++] = 0;
    }
    stages->seconds[i] += seconds;
}

rbt_outcome rbt_stage_agree(rbt_stages *stages, rbt_outcome outcome) {
    if (outcome == RBT_DONE && stages->stop && *stages->stop) outcome = RBT_STOPPED;
    double worst = outcome;
    stages->ranks->most(stages->ranks->self, &worst, 1);
    stages->at_fault = outcome == (rbt_outcome)worst;
    return (rbt_outcome)worst;
}

void rbt_trace_begin(rbt_stages *stages) {
    if (!stages->trace) return;
    stages->trace->count = 0;
    stages->trace->start = rbt_now();
}

void rbt_trace_add(rbt_stages *stages, double residual) {
    rbt_trace *trace = stages->trace;
    if (!trace || trace->count == trace->capacity) return;
    trace->seconds[trace->count] = rbt_now() - trace->start;
    trace->residual[trace->count++] = residual;
}

double rbt_step_length(const rbt_model *model, const rbt_state *state, double until) {
    double h = until - state->t, nominal = model->step;
    while (nominal > 1.5 * h) nominal *= 0.5;
    return fabs(nominal - h) <= 1e-6 * h ? nominal : h;
}

// det F of a tet at x
static double determinant(const rbt_model *m, size_t tet, const double *x) {
    const int32_t *n = m->tets + 4 * tet;
    const double *p[4], *P[4];
    for (int a = 0; a < 4; a++) p[a] = x + 3 * (size_t)n[a], P[a] = m->X + 3 * (size_t)n[a];
    return rbt_tet_volume(p[0], p[1], p[2], p[3]) / rbt_tet_volume(P[0], P[1], P[2], P[3]);
}

// Area of a triangle or length of an edge at x
static double extent(const double *x, const int32_t *n, size_t corners) {
    double u[3], v[3], normal[3];
    rbt_subtract(x + 3 * (size_t)n[1], x + 3 * (size_t)n[0], u);
    if (corners == 2) return rbt_length(u);
    rbt_subtract(x + 3 * (size_t)n[2], x + 3 * (size_t)n[0], v);
    rbt_cross(u, v, normal);
    return 0.5 * rbt_length(normal);
}

// `element` of all of its kind
static void report_element(rbt_step_report *report, const rbt_model *m, const rbt_body *body, size_t element,
                           double ratio) {
    const rbt_ranks *ranks = m->ranks;
    switch (body->kind) {
    case RBT_SHELL:
        report->element = ranks ? ranks->triangle_number[element] : (int64_t)(element - body->triangle_begin);
        break;
    case RBT_NET:
        report->element = ranks ? ranks->edge_number[element] : (int64_t)(element - body->edge_begin);
        break;
    case RBT_PARTICLES: report->element = (int64_t)rbt_ranks_number_in_body(m, element); break;
    default: report->element = ranks ? ranks->tet_number[element] : (int64_t)(element - body->tet_begin); break;
    }
    report->element_kind = rbt_body_element(body);
    report->value = isfinite(ratio) ? ratio : 0;
}

static void report_sheet(rbt_step_report *report, const rbt_model *m, const rbt_body *body, const double *x,
                         size_t node) {
    size_t corners = body->kind == RBT_SHELL ? 3 : 2;
    const int32_t *elements =
        body->kind == RBT_SHELL ? m->triangles + 3 * body->triangle_begin : m->edges + 2 * body->edge_begin;
    double most = -1;
    for (size_t e = 0; e < rbt_body_element_count(body); e++) {
        const int32_t *n = elements + corners * e;
        if (n[0] != (int32_t)node && n[1] != (int32_t)node && n[corners - 1] != (int32_t)node) continue;
        double ratio = extent(x, n, corners) / extent(m->X, n, corners);
        if (!(ratio > most) && report->element >= 0) continue;
        most = ratio;
        report_element(report, m, body, e + (corners == 3 ? body->triangle_begin : body->edge_begin), ratio);
    }
}

void rbt_report_node(rbt_step_report *report, const rbt_model *m, const double *x, size_t node) {
    const rbt_body *body = &m->bodies[m->node_body[node]];
    report->body = m->node_body[node];
    report->element = -1;
    report->element_kind = NULL;
    if (body->kind == RBT_PARTICLES) report_element(report, m, body, node, 1);
    else if (body->kind != RBT_SOLID) report_sheet(report, m, body, x, node);
    double least = INFINITY;
    for (size_t k = m->tet_start[node]; k < m->tet_start[node + 1]; k++) {
        size_t t = (size_t)m->node_tets[k];
        double J = determinant(m, t, x);
        if (J < least || report->element < 0) {
            least = J;
            report_element(report, m, body, t, J);
        }
    }
}

bool rbt_report_inverted(rbt_step_report *report, const rbt_model *m, const double *x) {
    double least = 0;
    bool found = false, forbidden = false;
    for (size_t r = 0; r < m->region_count; r++)
        forbidden |= !rbt_material_at(m->regions[r].material.model)->survives_inversion;
    for (size_t t = 0; forbidden && t < m->tet_count; t++) {
        const rbt_region *region = &m->regions[m->tet_region[t]];
        if (rbt_material_at(region->material.model)->survives_inversion) continue;
        double J = determinant(m, t, x);
        if (!(J <= least)) continue;
        found = true;
        least = J;
        report->body = region->body;
        report_element(report, m, &m->bodies[region->body], t, J);
    }
    if (found)
        snprintf(report->hint, sizeof report->hint,
                 "the element is inside out, which its material forbids; take a smaller step or stable-neo-hookean");
    return found;
}

// A node whose position or velocity is beyond numbers, or that moves further than anything should
static void report_motion(const rbt_model *m, const rbt_state *state, size_t n, rbt_step_report *report) {
    const rbt_body *body = &m->bodies[m->node_body[n]];
    double speed = rbt_length(state->v + 3 * n);
    char what[64] = "has lost its place";
    rbt_report_node(report, m, state->x, n);
    if (isfinite(speed)) {
        report->value = speed;
        snprintf(what, sizeof what, "moves at %.3g m/s", speed);
    }
    snprintf(report->hint, sizeof report->hint,
             "node %zu %s; take a smaller step (explicit methods: below %.3g s here), or an implicit method",
             rbt_ranks_number_in_body(m, n), what, body->explicit_step);
}

rbt_outcome rbt_check_motion(const rbt_model *m, const rbt_state *state, double h, rbt_step_report *report) {
    for (size_t b = 0; b < m->body_count; b++) {
        const rbt_body *body = &m->bodies[b];
        double size[3];
        rbt_subtract(body->box_max, body->box_min, size);
        double most = 1e6 * rbt_dot(size, size) / (h * h);
        for (size_t n = body->node_begin; n < body->node_end; n++) {
            const double *x = state->x + 3 * n, *v = state->v + 3 * n;
            if (isfinite(rbt_dot(x, x)) && rbt_dot(v, v) <= most) continue;
            report_motion(m, state, n, report);
            return RBT_NOT_FINITE;
        }
    }
    return rbt_report_inverted(report, m, state->x) ? RBT_INVERTED : RBT_DONE;
}
