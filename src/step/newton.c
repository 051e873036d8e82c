#include "step/newton.h"

#include "math/vec3.h"

#include <stdio.h>
#include <string.h>

bool rbt_newton_init(rbt_newton *s, rbt_objective *objective, rbt_error *error) {
    *s = (rbt_newton){.objective = objective, .arena = rbt_arena_new()};
    size_t nodes = objective->model->node_count;
    if (s->arena && rbt_linear_init(&s->linear, objective->model, &objective->H, false, error) &&
        (s->gradient = rbt_arena_take(s->arena, 3 * nodes, sizeof(double))) &&
        (s->direction = rbt_arena_take(s->arena, 3 * nodes, sizeof(double))) &&
        (s->trial = rbt_arena_take(s->arena, 3 * nodes, sizeof(double))) &&
        (s->trial_gradient = rbt_arena_take(s->arena, 3 * nodes, sizeof(double))))
        return true;
    rbt_newton_free(s);
    return rbt_fail_memory(error, 12 * nodes * sizeof(double), "a step solver");
}

void rbt_newton_free(rbt_newton *s) {
    rbt_linear_free(&s->linear);
    rbt_arena_free(s->arena);
    *s = (rbt_newton){0};
}

static rbt_outcome analyse(rbt_newton *s) {
    bool changed;
    rbt_outcome outcome = rbt_linear_analyse(&s->linear, s->objective->held, &changed);
    if (changed) s->factored_tau = 0;
    return outcome;
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

// The largest gradient shows where a step does not come to rest. Returns the node's number within its body.
static size_t report_worst(const rbt_newton *s, const double *z, rbt_step_report *report) {
    const rbt_model *m = s->objective->model;
    size_t worst = 0;
    for (size_t i = 1; i < 3 * m->node_count; i++)
        if (!(fabs(s->gradient[i]) <= fabs(s->gradient[worst]))) worst = i;
    rbt_report_node(report, m, z, worst / 3);
    return worst / 3 - m->bodies[m->node_body[worst / 3]].node_begin;
}

// Why E or its gradient has no value at z: a tet is inside out, or numbers are too large.
static rbt_outcome report_not_finite(const rbt_newton *s, const double *z, rbt_step_report *report) {
    if (rbt_report_inverted(report, s->objective->model, z)) return RBT_INVERTED;
    size_t node = report_worst(s, z, report);
    snprintf(report->hint, sizeof report->hint,
             "node %zu would go beyond any distance; check forces, speeds and driven nodes, or take a smaller step",
             node);
    return RBT_NOT_FINITE;
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
    snprintf(report->hint, sizeof report->hint,
             "the line search found no decrease at node %zu; loosen the tolerance or take a smaller step",
             report_worst(s, z, report));
    return RBT_NOT_CONVERGED;
}

rbt_outcome rbt_newton_solve(rbt_newton *s, double *z, double tolerance, int max_iterations, rbt_stages *stages,
                             rbt_step_report *report) {
    rbt_objective *o = s->objective;
    size_t values = 3 * o->model->node_count;
    bool keep_factor = o->model->linear && !o->contact;  // H does not depend on z
    double value = rbt_objective_gradient(o, z, s->gradient);
    report->stage = "start";
    if (!isfinite(value)) return report_not_finite(s, z, report);
    for (int k = 0;; k++) {
        double size = norm(s->gradient, values);
        if (!isfinite(size)) return report_not_finite(s, z, report);
        report->residual = tolerance > 0 ? size / tolerance : size;
        if (size <= tolerance) return RBT_DONE;
        if (k == max_iterations) {
            snprintf(report->hint, sizeof report->hint,
                     "the gradient is still %.3g times the tolerance, most at node %zu; take a smaller step or more "
                     "iterations",
                     report->residual, report_worst(s, z, report));
            return RBT_NOT_CONVERGED;
        }
        RBT_STAGE("analyse", analyse(s));
        if (!keep_factor || s->factored_tau != o->tau) {
            s->factored_tau = 0;
            RBT_STAGE("assemble", assemble(s, z));                          // H(z), projected
            RBT_STAGE("factor", rbt_linear_factor(&s->linear, z, report));  // H = L L^T
            s->factored_tau = o->tau;
        }
        RBT_STAGE("solve", rbt_linear_solve(&s->linear, s->gradient, s->direction, report));  // p = H^-1 grad E
        RBT_STAGE("search", line_search(s, z, &value, report));
    }
}
