#include "step/implicit/contact_drive.h"

#include "math/vector.h"
#include "step/contact/contact_predict.h"

#include <stdio.h>
#include <string.h>

enum { MAX_DRIVES = 200, MAX_PREDICTIONS = 4 };  // moves of what is prescribed; of a direction
// Shares of a direction that are free: it is worth looking for a better one, and it is good enough
static const double SHORT = 0.01, LONG_ENOUGH = 0.5;
static const double LAG_SHARE = 0.5;  // of the residual since the last lag, for the next one

bool rbt_contact_drive_init(rbt_contact_drive *s, rbt_objective *objective, rbt_search *search, double *gradient,
                            double *direction, rbt_error *error) {
    size_t values = 3 * objective->model->node_count;
    *s = (rbt_contact_drive){.objective = objective,
                             .search = search,
                             .gradient = gradient,
                             .direction = direction,
                             .arena = rbt_arena_new()};
    if (s->arena && (s->rhs = rbt_arena_take(s->arena, values, sizeof(double))) &&
        (s->plain = rbt_arena_take(s->arena, values, sizeof(double))) &&
        (s->bent = rbt_arena_take(s->arena, values, sizeof(double))))
        return true;
    rbt_contact_drive_free(s);
    return rbt_fail_memory(error, 3 * values * sizeof(double), "a step solver");
}

void rbt_contact_drive_free(rbt_contact_drive *s) {
    rbt_arena_free(s->arena);
    *s = (rbt_contact_drive){0};
}

static rbt_outcome in_the_way(const rbt_contact_drive *s, const char *what, rbt_step_report *report) {
    const rbt_step_contact *c = s->objective->pairs;
    char pair[160];
    if (c->out_of_memory) return RBT_OUT_OF_MEMORY;
    report->body = report->element = -1;
    rbt_step_contact_name(c, c->blocking, pair, sizeof pair);
    snprintf(report->hint, sizeof report->hint, "at %g s %s: %s", c->t + c->share * c->h, what, pair);
    return RBT_BLOCKED;
}

static rbt_outcome evaluate(rbt_contact_drive *s, double *z, double *value, rbt_step_report *report) {
    *value = rbt_objective_gradient(s->objective, z, s->gradient);
    if (isfinite(*value)) return RBT_DONE;
    if (s->objective->pairs->out_of_memory) return RBT_OUT_OF_MEMORY;
    return rbt_solver_not_finite(s->objective, z, s->gradient, report);
}

// Normal forces and tangents of friction where the gradient was taken last, and the gradient with them
static rbt_outcome lag(rbt_contact_drive *s, double *z, double *value, rbt_step_report *report) {
    rbt_step_contact *c = s->objective->pairs;
    if (!c->has_friction) return RBT_DONE;
    rbt_step_contact_lag(c, z);
    return c->out_of_memory ? RBT_OUT_OF_MEMORY : evaluate(s, z, value, report);
}

rbt_outcome rbt_contact_drive_assemble(rbt_contact_drive *s, const double *z) {
    rbt_objective_hessian(s->objective, z);
    return RBT_DONE;
}

rbt_outcome rbt_contact_drive_add(rbt_contact_drive *s, bool exact) {
    return rbt_step_contact_hessian(s->objective->pairs, &s->objective->H, exact) ? RBT_DONE : RBT_OUT_OF_MEMORY;
}

rbt_outcome rbt_contact_drive_limit(rbt_contact_drive *s, const double *z, double advance, double *longest) {
    rbt_step_contact *c = s->objective->pairs;
    *longest = rbt_step_contact_limit(c, z, s->direction, c->share, advance);
    return c->out_of_memory ? RBT_OUT_OF_MEMORY : RBT_DONE;
}

// ---- What is prescribed

// rhs = g + H_fp p_p
static void predict(rbt_contact_drive *s) {
    const rbt_objective *o = s->objective;
    size_t values = 3 * o->model->node_count;
    memset(s->direction, 0, values * sizeof(double));
    rbt_step_contact_drive(o->pairs, s->direction);
    rbt_block_matrix_product(&o->H, s->direction, s->rhs);
    rbt_vector_add_scaled(values, s->rhs, 1, s->gradient);
    rbt_step_contact_couple(o->pairs, s->rhs);
}

// z and the share of the prescribed motion, as far as the test allows and E is finite
static rbt_outcome follow(rbt_contact_drive *s, double *z, double longest, double *length) {
    rbt_objective *o = s->objective;
    rbt_step_contact *c = o->pairs;
    size_t values = 3 * o->model->node_count;
    double share = c->share;
    for (int halvings = 0; halvings < 40; halvings++, longest *= 0.5) {
        rbt_vector_combine(values, s->search->trial, z, longest, s->direction);
        c->share = longest == 1 ? 1 : share + longest * (1 - share);
        if (!(longest > 0) || !isfinite(rbt_objective_value(o, s->search->trial))) continue;
        rbt_vector_copy(values, z, s->search->trial);
        *length = longest;
        return RBT_DONE;
    }
    c->share = share;
    *length = 0;
    return RBT_DONE;
}

// Adds the constraints to the present matrix and solves with it: s->direction. The matrix has its terms already.
static rbt_outcome solve_with_predictions(rbt_contact_drive *s, const double *z, const double *rhs,
                                          rbt_stages *stages, rbt_step_report *report) {
    size_t values = 3 * s->objective->model->node_count;
    rbt_step_contact *c = s->objective->pairs;
    rbt_vector_copy(values, s->bent, rhs);
    RBT_STAGE("assemble", rbt_contact_drive_add(s, false));
    if (!rbt_contact_predict_add(c, &s->objective->H, s->bent)) return RBT_OUT_OF_MEMORY;
    s->is_bent = true;
    rbt_outcome outcome = s->solver->factor(s->self, z, stages, report);
    if (outcome != RBT_DONE) return outcome;
    RBT_STAGE("solve", s->solver->solve(s->self, s->bent, s->direction, report));
    return RBT_DONE;
}

// What a direction promises: its slope times the share of it that is free. Prescribed motion counts for itself.
static double promise(const rbt_contact_drive *s, double longest, double advance) {
    size_t values = 3 * s->objective->model->node_count;
    return advance > 0 ? longest : -longest * rbt_vector_dot(values, s->direction, s->gradient);
}

rbt_outcome rbt_contact_drive_look_ahead(rbt_contact_drive *s, const double *z, const double *rhs, double advance,
                                         double *longest, rbt_stages *stages, rbt_step_report *report) {
    rbt_step_contact *c = s->objective->pairs;
    size_t values = 3 * s->objective->model->node_count;
    double best = promise(s, *longest, advance), length = *longest;
    if (length >= SHORT) return RBT_DONE;
    rbt_vector_copy(values, s->plain, s->direction);
    rbt_contact_predict_begin(c);
    for (int k = 0; k < MAX_PREDICTIONS && *longest < LONG_ENOUGH; k++) {
        size_t changes = rbt_contact_predict_update(c, s->direction);
        if (changes == SIZE_MAX) return RBT_OUT_OF_MEMORY;
        if (!changes) break;
        rbt_outcome outcome = solve_with_predictions(s, z, rhs, stages, report);
        if (outcome == RBT_NOT_POSITIVE_DEFINITE || outcome == RBT_NOT_FINITE) break;
        if (outcome != RBT_DONE) return outcome;
        if (advance > 0) rbt_step_contact_drive(c, s->direction);
        RBT_STAGE("ccd", rbt_contact_drive_limit(s, z, advance, longest));
        double promised = promise(s, *longest, advance);
        if (!(promised > best)) continue;
        best = promised;
        length = *longest;
        rbt_vector_copy(values, s->plain, s->direction);
    }
    rbt_vector_copy(values, s->direction, s->plain);
    *longest = length;
    return RBT_DONE;
}

static rbt_outcome drive(rbt_contact_drive *s, double *z, double *value, rbt_stages *stages,
                         rbt_step_report *report) {
    rbt_step_contact *c = s->objective->pairs;
    double marked = 0;
    for (int k = 0; rbt_step_contact_is_driven(c); k++) {
        double longest, length = 0;
        bool found;
        if (k % 20 == 19) {
            if (k >= MAX_DRIVES || c->share - marked < 1e-3)
                return in_the_way(s, "a prescribed motion cannot be made", report);
            marked = c->share;
        }
        rbt_outcome outcome = s->solver->make(s->self, z, stages, report);
        if (outcome != RBT_DONE) return outcome;
        predict(s);
        RBT_STAGE("solve", s->solver->solve(s->self, s->rhs, s->direction, report));
        rbt_step_contact_drive(c, s->direction);
        RBT_STAGE("ccd", rbt_contact_drive_limit(s, z, 1 - c->share, &longest));
        outcome = rbt_contact_drive_look_ahead(s, z, s->rhs, 1 - c->share, &longest, stages, report);
        if (outcome != RBT_DONE) return outcome;
        RBT_STAGE("search", follow(s, z, longest, &length));
        rbt_step_contact_show(c, z);
        outcome = evaluate(s, z, value, report);
        if (outcome == RBT_DONE) outcome = lag(s, z, value, report);
        if (outcome == RBT_DONE && length < 1) outcome = s->solver->relax(s->self, z, value, &found, stages, report);
        if (outcome == RBT_DONE && length < 1) outcome = lag(s, z, value, report);
        if (outcome != RBT_DONE) return outcome;
    }
    return RBT_DONE;
}

// ---- The iteration

rbt_outcome rbt_contact_drive_solve(rbt_contact_drive *s, double *z, rbt_stop *stop, int max_iterations,
                                    rbt_stages *stages, rbt_step_report *report) {
    rbt_step_contact *c = s->objective->pairs;
    double value, lagged = 0;
    report->stage = "start";
    rbt_outcome outcome = evaluate(s, z, &value, report);
    if (outcome == RBT_DONE) outcome = lag(s, z, &value, report);
    rbt_step_contact_show(c, z);
    if (outcome == RBT_DONE) outcome = drive(s, z, &value, stages, report);
    if (outcome != RBT_DONE) return outcome;
    for (int k = 0;; k++) {
        bool solved, found;
        outcome = rbt_solver_judge(stop, z, s->gradient, k, max_iterations, &solved, stages, report);
        if (outcome != RBT_DONE) return outcome;
        if (k == 0) lagged = stop->residual;
        else if (c->has_friction && (solved || stop->residual <= LAG_SHARE * lagged)) {
            outcome = lag(s, z, &value, report);
            if (outcome == RBT_DONE)
                outcome = rbt_solver_judge(stop, z, s->gradient, k, max_iterations, &solved, stages, report);
            if (outcome != RBT_DONE) return outcome;
            lagged = stop->residual;
        }
        if (solved) return RBT_DONE;
        outcome = s->solver->relax(s->self, z, &value, &found, stages, report);
        if (outcome == RBT_DONE && !found) {
            if (rbt_stop_at_rounding(stop)) return evaluate(s, z, &value, report);
            return in_the_way(s, "no room to move, or no decrease of the energy, near", report);
        }
        if (outcome != RBT_DONE) return outcome;
    }
}
