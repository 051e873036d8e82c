#include "step/newton.h"

#include "math/vec3.h"

#include <stdio.h>
#include <string.h>

bool rbt_newton_init(rbt_newton *s, rbt_objective *objective, rbt_error *error) {
    *s = (rbt_newton){.objective = objective, .arena = rbt_arena_new()};
    size_t nodes = objective->model->node_count;
    if (s->arena && (s->analysed = rbt_arena_take(s->arena, nodes, 1)) &&
        (s->keep = rbt_arena_take(s->arena, nodes, 1)) &&
        (s->gradient = rbt_arena_take(s->arena, 3 * nodes, sizeof(double))) &&
        (s->direction = rbt_arena_take(s->arena, 3 * nodes, sizeof(double))) &&
        (s->trial = rbt_arena_take(s->arena, 3 * nodes, sizeof(double))) &&
        (s->trial_gradient = rbt_arena_take(s->arena, 3 * nodes, sizeof(double))))
        return true;
    rbt_newton_free(s);
    return rbt_fail_memory(error, 12 * nodes * sizeof(double), "a step solver");
}

void rbt_newton_free(rbt_newton *s) {
    rbt_cholesky_free(s->cholesky);
    rbt_arena_free(s->arena);
    *s = (rbt_newton){0};
}

// Symbolic analysis again only when the set of held nodes changed (a release).
static rbt_outcome analyse(rbt_newton *s) {
    const rbt_objective *o = s->objective;
    size_t nodes = o->model->node_count;
    if (s->cholesky && memcmp(o->held, s->analysed, nodes) == 0) return RBT_DONE;
    rbt_cholesky_free(s->cholesky);
    for (size_t n = 0; n < nodes; n++) s->keep[n] = !o->held[n];
    memcpy(s->analysed, o->held, nodes);
    s->factored_tau = 0;
    s->cholesky = rbt_cholesky_analyze(&o->H, s->keep, NULL);
    return s->cholesky ? RBT_DONE : RBT_OUT_OF_MEMORY;
}

static rbt_outcome factor(rbt_newton *s, const double *z, rbt_step_report *report) {
    size_t row = 0;
    rbt_factor_result result = rbt_cholesky_factor(s->cholesky, &s->objective->H, &row);
    if (result == RBT_FACTORED) return RBT_DONE;
    if (result == RBT_FACTOR_NO_MEMORY) {
        snprintf(report->hint, sizeof report->hint,
                 "the factor needs %.3g GB; take a coarser mesh or an explicit method",
                 8e-9 * rbt_cholesky_fill(s->cholesky));
        return RBT_OUT_OF_MEMORY;
    }
    rbt_report_node(report, s->objective->model, z, row);
    snprintf(report->hint, sizeof report->hint,
             "the projected Hessian lost its definiteness to rounding; take a smaller step");
    return RBT_NOT_POSITIVE_DEFINITE;
}

static double norm(const double *g, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += g[i] * g[i];
    return sqrt(sum);
}

static rbt_outcome assemble(rbt_newton *s, const double *z) {
    rbt_objective_hessian(s->objective, z);
    return RBT_DONE;
}

static rbt_outcome solve(rbt_newton *s) {
    return rbt_cholesky_solve(s->cholesky, s->gradient, s->direction) ? RBT_DONE : RBT_OUT_OF_MEMORY;
}

// Halves the step until E does not increase; the first trial brings its gradient along, since it is nearly always taken.
// Where the promised decrease is less than the rounding of E, which a tight tolerance leads to, the gradient judges.
static rbt_outcome line_search(rbt_newton *s, double *z, double *value, rbt_step_report *report) {
    rbt_objective *o = s->objective;
    size_t values = 3 * o->model->node_count;
    double length = 1, trial_value = INFINITY, promised = 0;
    for (size_t i = 0; i < values; i++) promised += 0.5 * s->gradient[i] * s->direction[i];
    bool hidden = promised <= rbt_objective_rounding(o, *value);
    for (int halvings = 0; halvings < 40; halvings++, length *= 0.5) {
        for (size_t i = 0; i < values; i++) s->trial[i] = z[i] - length * s->direction[i];
        trial_value =
            halvings == 0 ? rbt_objective_gradient(o, s->trial, s->trial_gradient) : rbt_objective_value(o, s->trial);
        bool flatter = hidden && halvings == 0 && norm(s->trial_gradient, values) <= 0.5 * norm(s->gradient, values);
        if (trial_value <= *value || flatter) {
            if (halvings) trial_value = rbt_objective_gradient(o, s->trial, s->trial_gradient);
            memcpy(z, s->trial, values * sizeof(double));
            memcpy(s->gradient, s->trial_gradient, values * sizeof(double));
            *value = trial_value;
            return RBT_DONE;
        }
    }
    report->value = *value;
    snprintf(report->hint, sizeof report->hint,
             "the line search found no decrease; loosen the tolerance or take a smaller step");
    return RBT_NOT_CONVERGED;
}

// The tet with the least det F among those whose material forbids to be inside out
static void report_inverted(const rbt_objective *o, const double *z, rbt_step_report *report) {
    const rbt_model *m = o->model;
    double worst = 0;
    for (size_t t = 0; t < m->tet_count; t++) {
        const int32_t *n = m->tets + 4 * t;
        if (rbt_material_at(m->regions[m->tet_region[t]].material.model)->survives_inversion) continue;
        double volume =
            rbt_tet_volume(z + 3 * (size_t)n[0], z + 3 * (size_t)n[1], z + 3 * (size_t)n[2], z + 3 * (size_t)n[3]);
        double rest = rbt_tet_volume(m->X + 3 * (size_t)n[0], m->X + 3 * (size_t)n[1], m->X + 3 * (size_t)n[2],
                                     m->X + 3 * (size_t)n[3]);
        if (volume / rest > worst) continue;
        worst = volume / rest;
        report->body = m->node_body[n[0]];
        report->tet = (int64_t)(t - m->bodies[report->body].tet_begin);
        report->value = worst;
    }
    snprintf(report->hint, sizeof report->hint,
             "the element is inside out, which its material forbids; take a smaller step or stable-neo-hookean");
}

rbt_outcome rbt_newton_solve(rbt_newton *s, double *z, double tolerance, int max_iterations, rbt_stages *stages,
                             rbt_step_report *report) {
    rbt_objective *o = s->objective;
    size_t values = 3 * o->model->node_count;
    bool keep_factor = o->model->linear && !o->contact;  // H does not depend on z
    double value = rbt_objective_gradient(o, z, s->gradient);
    report->stage = "start";
    if (!isfinite(value)) {
        report_inverted(o, z, report);
        return RBT_INVERTED;
    }
    for (int k = 0;; k++) {
        double size = norm(s->gradient, values);
        report->residual = tolerance > 0 ? size / tolerance : size;
        if (size <= tolerance) return RBT_DONE;
        if (k == max_iterations) {
            snprintf(report->hint, sizeof report->hint,
                     "the gradient is still %.3g times the tolerance; take a smaller step or more iterations",
                     report->residual);
            report->value = report->residual;
            return RBT_NOT_CONVERGED;
        }
        report->iterations++;
        RBT_STAGE("analyse", analyse(s));
        if (!keep_factor || s->factored_tau != o->tau) {
            RBT_STAGE("assemble", assemble(s, z));      // H(z), projected
            RBT_STAGE("factor", factor(s, z, report));  // H = L L^T
            s->factored_tau = o->tau;
        }
        RBT_STAGE("solve", solve(s));  // p = H^-1 grad E
        RBT_STAGE("search", line_search(s, z, &value, report));
    }
}
