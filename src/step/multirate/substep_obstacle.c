#include "step/multirate/substep_obstacle.h"

#include "math/vec3.h"
#include "model/linear_obstacle.h"

#include <string.h>

bool rbt_substep_obstacles_build(rbt_rate_parts *parts, rbt_rate_part *part) {
    size_t n = part->count, steps = (size_t)part->substeps;
    if (!parts->model->obstacles.count || parts->model->contact.on || part->parent != 0 || part->child_count)
        return true;
    if (!(part->touched.value = rbt_arena_take(parts->arena, 9 * part->A.start[n], sizeof(double))) ||
        !(part->touches = rbt_arena_take(parts->arena, steps, sizeof *part->touches)))
        return false;
    for (size_t i = 0; i < steps; i++) {
        rbt_substep_obstacle *touch = &part->touches[i];
        double **blocks[] = {&touch->stiffness, &touch->condensed, &touch->factored};
        for (size_t k = 0; k < 3; k++)
            if (!(*blocks[k] = rbt_arena_take(parts->arena, 9 * n, sizeof(double)))) return false;
        if (!(touch->push = rbt_arena_take(parts->arena, 3 * n, sizeof(double)))) return false;
    }
    return true;
}

void rbt_substep_obstacles_free(rbt_rate_part *part) {
    for (int i = 0; part->touches && i < part->substeps; i++) rbt_cholesky_free(part->touches[i].own);
}

void rbt_substep_obstacles_forget(rbt_rate_part *part) {
    for (int i = 0; part->touches && i < part->substeps; i++) {
        rbt_substep_obstacle *touch = &part->touches[i];
        memset(touch->factored, 0, 9 * part->count * sizeof(double));  // nothing: no factor is made for that
        touch->factor = part->cholesky;
    }
}

static bool same(const rbt_rate_part *part, const double *a, const double *b) {
    return memcmp(a, b, 9 * part->count * sizeof(double)) == 0;
}

// A + h^2 K = L L^T
static rbt_outcome factor(const rbt_rate_parts *parts, rbt_rate_part *part, rbt_substep_obstacle *touch,
                          const double *x, rbt_step_report *report) {
    size_t row = 0, n = part->count;
    if (!touch->own) {
        unsigned char *keep = rbt_array_new(n, 1, "a part", NULL);
        if (keep) memset(keep, 1, n);
        touch->own = keep ? rbt_cholesky_analyse(&part->A, keep, NULL) : NULL;
        free(keep);
        if (!touch->own) return RBT_OUT_OF_MEMORY;
    }
    double *value = part->touched.value;
    part->touched = part->A;
    part->touched.value = value;
    memcpy(value, part->A.value, 9 * part->A.start[n] * sizeof(double));
    for (size_t r = 0; r < n; r++)
        rbt_obstacle_stiffen(value + 9 * (part->A.start[r + 1] - 1), part->h * part->h, touch->stiffness + 9 * r);
    memset(touch->factored, 0, 9 * n * sizeof(double));
    rbt_factor_result result = rbt_cholesky_factor(touch->own, &part->touched, &row);
    if (result == RBT_FACTOR_NO_MEMORY) return RBT_OUT_OF_MEMORY;
    if (result != RBT_FACTORED) {
        rbt_report_node(report, parts->model, x, (size_t)part->node[row]);
        return result == RBT_FACTOR_NOT_FINITE ? RBT_NOT_FINITE : RBT_NOT_POSITIVE_DEFINITE;
    }
    memcpy(touch->factored, touch->stiffness, 9 * n * sizeof(double));
    return RBT_DONE;
}

// Where nodes are heading, and what they would meet there
static void look(const rbt_rate_parts *parts, const rbt_rate_part *part, const rbt_state *state, const double *f,
                 rbt_substep_obstacle *touch) {
    const rbt_model *m = parts->model;
    double h = part->h;
    touch->any = false;
    for (size_t i = 0; i < part->count; i++) {
        size_t n = (size_t)part->node[i];
        double *K = touch->stiffness + 9 * i, y[3], way[3];
        for (size_t k = 0; k < 3; k++) {
            size_t at = 3 * i + k;
            way[k] = part->w[at] + h * part->v[at] + rbt_obstacle_ahead(m, n, h, f[at]);
            y[k] = state->x[3 * n + k] + way[k];
        }
        rbt_obstacle_meet(m, n, y, way, touch->push + 3 * i, K);
        for (size_t e = 0; e < 9; e++) touch->any |= K[e] != 0;
    }
}

rbt_outcome rbt_substep_obstacle_find(const rbt_rate_parts *parts, rbt_rate_part *part, const rbt_state *state,
                                      int64_t instant, const double *f, rbt_step_report *report) {
    rbt_substep_obstacle *touch = &part->touches[instant], *before = instant ? touch - 1 : NULL;
    look(parts, part, state, f, touch);
    touch->factor = part->cholesky;
    if (!touch->any) return RBT_DONE;
    if (before && same(part, before->stiffness, touch->stiffness)) {
        touch->factor = before->factor;
        return RBT_DONE;
    }
    rbt_outcome outcome = touch->own && same(part, touch->factored, touch->stiffness)
                              ? RBT_DONE
                              : factor(parts, part, touch, state->x, report);
    touch->factor = touch->own;
    return outcome;
}

bool rbt_substep_obstacles_changed(rbt_rate_part *part) {
    bool changed = false;
    for (int i = 0; i < part->substeps; i++) {
        rbt_substep_obstacle *touch = &part->touches[i];
        if (same(part, touch->condensed, touch->stiffness)) continue;
        memcpy(touch->condensed, touch->stiffness, 9 * part->count * sizeof(double));
        changed = true;
    }
    return changed;
}

void rbt_substep_obstacle_push(const rbt_rate_part *part, int64_t instant, bool driven, const double *w,
                               double *rhs) {
    const rbt_substep_obstacle *touch = &part->touches[instant];
    for (size_t i = 0; touch->any && i < 3 * part->count; i++)
        rhs[i] += part->h * ((driven ? touch->push[i] : 0) - rbt_dot(touch->stiffness + 3 * i, w + 3 * (i / 3)));
}

void rbt_substep_obstacle_take(const rbt_rate_part *part, int64_t instant, const double *v, double *rhs) {
    const rbt_substep_obstacle *touch = &part->touches[instant];
    for (size_t i = 0; touch->any && i < 3 * part->count; i++)
        rhs[i] -= part->h * part->h * rbt_dot(touch->stiffness + 3 * i, v + 3 * (i / 3));
}
