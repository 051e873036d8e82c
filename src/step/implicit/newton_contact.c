// Newton's method for a step with contact.
//
// First what is prescribed moves: nodes of bodies and of obstacles go to where they must be, and the free nodes follow
// by the linear prediction p_f = -H_ff^-1 (g_f + H_fp p_p), all as far as the continuous test allows. Where it stops
// them, an iteration without prescribed motion lets the barrier push the free nodes out of the way. Then come Newton
// iterations as without contact, each no longer than the test allows.
//
// A positive semidefinite stand-in for the Hessian of contact keeps directions downhill anywhere, but close to the
// minimum, where surfaces that slide and roll on each other have a good share of negative curvature, it makes Newton's
// method a slow linear one (0.9 per iteration in a chain of links). So once a step was taken whole, the true Hessian is
// tried; should it have no Cholesky factor, the other one takes its place for two iterations, then for four, and so on.
//
// A direction that the continuous test would stop early is found again with the pairs that stop it as constraints
// (step/contact/contact_predict.h).
//
// Friction has the normal forces and tangents of an earlier iterate (lag). New ones are taken whenever the residual with
// the old ones has halved: sooner, energies of different friction would be compared, and both swing. An iterate is
// called solved only if it is with its own forces, so that it meets Coulomb's law. Of a pair that slides Newton's method
// does not see that its friction turns round where it stops, and goes to and fro there: after a step that had to be
// shortened the next one is made with the secant of friction, which does.
#include "step/implicit/newton.h"

#include "math/vector.h"
#include "step/contact/contact_predict.h"

#include <stdio.h>
#include <string.h>

enum { MAX_DRIVES = 200, MAX_PREDICTIONS = 4 };  // moves of what is prescribed; of a direction
// Shares of a direction that are free: it is worth looking for a better one, and it is good enough
static const double SHORT = 0.01, LONG_ENOUGH = 0.5;
static const double LAG_SHARE = 0.5;  // of the residual since the last lag, for the next one

static rbt_outcome in_the_way(const rbt_newton *s, const char *what, rbt_step_report *report) {
    const rbt_step_contact *c = s->objective->pairs;
    char pair[160];
    if (c->out_of_memory) return RBT_OUT_OF_MEMORY;
    report->body = report->element = -1;
    rbt_step_contact_name(c, c->blocking, pair, sizeof pair);
    snprintf(report->hint, sizeof report->hint, "at %g s %s: %s", c->t + c->share * c->h, what, pair);
    return RBT_BLOCKED;
}

static rbt_outcome evaluate(rbt_newton *s, double *z, double *value, rbt_step_report *report) {
    *value = rbt_objective_gradient(s->objective, z, s->gradient);
    if (isfinite(*value)) return RBT_DONE;
    if (s->objective->pairs->out_of_memory) return RBT_OUT_OF_MEMORY;
    return rbt_solver_not_finite(s->objective, z, s->gradient, report);
}

// Normal forces and tangents of friction where the gradient was taken last, and the gradient with them
static rbt_outcome lag(rbt_newton *s, double *z, double *value, rbt_step_report *report) {
    rbt_step_contact *c = s->objective->pairs;
    if (!c->has_friction) return RBT_DONE;
    rbt_step_contact_lag(c, z);
    return c->out_of_memory ? RBT_OUT_OF_MEMORY : evaluate(s, z, value, report);
}

static rbt_outcome assemble(rbt_newton *s, const double *z) {
    rbt_objective_hessian(s->objective, z);
    return RBT_DONE;
}

static rbt_outcome add_contact(rbt_newton *s, bool exact) {
    return rbt_step_contact_hessian(s->objective->pairs, &s->objective->H, exact) ? RBT_DONE : RBT_OUT_OF_MEMORY;
}

static rbt_outcome analyse(rbt_newton *s) {
    bool changed;
    return rbt_linear_analyse(&s->linear, s->objective->constrained, &changed);
}

// A factor of H with the contact's part: the true one if wanted and possible
static rbt_outcome factor(rbt_newton *s, const double *z, rbt_stages *stages, rbt_step_report *report) {
    RBT_STAGE("assemble", assemble(s, z));
    if (s->exact) {
        RBT_STAGE("assemble", add_contact(s, true));
        RBT_STAGE("analyse", analyse(s));
        report->stage = "factor";
        double start = rbt_now();
        rbt_outcome outcome = rbt_linear_factor(&s->linear, z, report);
        rbt_stage_add(stages, "factor", rbt_now() - start);
        if (outcome != RBT_NOT_POSITIVE_DEFINITE) return outcome;
        s->exact = false;
        s->patience = s->waited = 2 * s->patience;
        report->body = report->element = -1;
        report->hint[0] = '\0';
    }
    RBT_STAGE("assemble", add_contact(s, false));
    RBT_STAGE("analyse", analyse(s));
    RBT_STAGE("factor", rbt_linear_factor(&s->linear, z, report));
    return RBT_DONE;
}

static rbt_outcome solve_for(rbt_newton *s, const double *rhs, rbt_step_report *report) {  // p = -A^-1 rhs
    rbt_outcome outcome = rbt_linear_solve(&s->linear, rhs, s->direction, report);
    for (size_t i = 0; i < 3 * s->objective->model->node_count; i++) s->direction[i] = -s->direction[i];
    return outcome;
}

static rbt_outcome limit_motion(rbt_newton *s, const double *z, double advance, double *longest) {
    rbt_step_contact *c = s->objective->pairs;
    *longest = rbt_step_contact_limit(c, z, s->direction, c->share, advance);
    return c->out_of_memory ? RBT_OUT_OF_MEMORY : RBT_DONE;
}

// ---- What is prescribed

// rhs = g + H_fp p_p
static void predict(rbt_newton *s) {
    const rbt_objective *o = s->objective;
    size_t values = 3 * o->model->node_count;
    memset(s->direction, 0, values * sizeof(double));
    rbt_step_contact_drive(o->pairs, s->direction);
    rbt_block_matrix_product(&o->H, s->direction, s->rhs);
    rbt_vector_add_scaled(values, s->rhs, 1, s->gradient);
    rbt_step_contact_couple(o->pairs, s->rhs);
}

// z and the share of the prescribed motion, as far as the test allows and E is finite
static rbt_outcome follow(rbt_newton *s, double *z, double longest, double *length) {
    rbt_objective *o = s->objective;
    rbt_step_contact *c = o->pairs;
    size_t values = 3 * o->model->node_count;
    double share = c->share;
    for (int halvings = 0; halvings < 40; halvings++, longest *= 0.5) {
        rbt_vector_combine(values, s->search.trial, z, longest, s->direction);
        c->share = longest == 1 ? 1 : share + longest * (1 - share);
        if (!(longest > 0) || !isfinite(rbt_objective_value(o, s->search.trial))) continue;
        rbt_vector_copy(values, z, s->search.trial);
        *length = longest;
        return RBT_DONE;
    }
    c->share = share;
    *length = 0;
    return RBT_DONE;
}

// Adds the constraints to the present matrix and solves with it: s->direction. The matrix has its terms already.
static rbt_outcome solve_with_predictions(rbt_newton *s, const double *z, const double *rhs, rbt_stages *stages,
                                          rbt_step_report *report) {
    size_t values = 3 * s->objective->model->node_count;
    rbt_step_contact *c = s->objective->pairs;
    rbt_vector_copy(values, s->bent, rhs);
    RBT_STAGE("assemble", add_contact(s, false));
    if (!rbt_contact_predict_add(c, &s->objective->H, s->bent)) return RBT_OUT_OF_MEMORY;
    RBT_STAGE("analyse", analyse(s));
    RBT_STAGE("factor", rbt_linear_factor(&s->linear, z, report));
    RBT_STAGE("solve", solve_for(s, s->bent, report));
    return RBT_DONE;
}

// What a direction promises: its slope times the share of it that is free. Prescribed motion counts for itself.
static double promise(const rbt_newton *s, double longest, double advance) {
    size_t values = 3 * s->objective->model->node_count;
    return advance > 0 ? longest : -longest * rbt_vector_dot(values, s->direction, s->gradient);
}

// s->direction, which can be followed for *longest of its length, is made to go around what is in its way, as long as
// that helps; the one that promises most is taken. `advance`: of the prescribed motion. rhs is what the direction was
// solved for.
static rbt_outcome look_ahead(rbt_newton *s, const double *z, const double *rhs, double advance, double *longest,
                              rbt_stages *stages, rbt_step_report *report) {
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
        RBT_STAGE("ccd", limit_motion(s, z, advance, longest));
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

static rbt_outcome relax(rbt_newton *s, double *z, double *value, bool *found, rbt_stages *stages,
                         rbt_step_report *report) {
    double longest;
    rbt_outcome outcome = factor(s, z, stages, report);
    if (outcome != RBT_DONE) return outcome;
    RBT_STAGE("solve", solve_for(s, s->gradient, report));
    RBT_STAGE("ccd", limit_motion(s, z, 0, &longest));
    outcome = look_ahead(s, z, s->gradient, 0, &longest, stages, report);
    if (outcome != RBT_DONE) return outcome;
    double slope = rbt_vector_dot(3 * s->objective->model->node_count, s->direction, s->gradient);
    s->search.expected = 0;
    report->stage = "search";
    double start = rbt_now();
    double length =
        longest > 0 ? rbt_search_along(&s->search, s->direction, slope, longest, z, value, s->gradient) : 0;
    *found = length > 0;
    s->exact = length == 1 && --s->waited < 0;
    rbt_stage_add(stages, "search", rbt_now() - start);
    s->objective->pairs->cautious = s->search.expected > 0;
    if (*found) rbt_step_contact_show(s->objective->pairs, z);
    return RBT_DONE;
}

static rbt_outcome drive(rbt_newton *s, double *z, double *value, rbt_stages *stages, rbt_step_report *report) {
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
        rbt_outcome outcome = factor(s, z, stages, report);
        if (outcome != RBT_DONE) return outcome;
        predict(s);
        RBT_STAGE("solve", solve_for(s, s->rhs, report));
        rbt_step_contact_drive(c, s->direction);
        RBT_STAGE("ccd", limit_motion(s, z, 1 - c->share, &longest));
        outcome = look_ahead(s, z, s->rhs, 1 - c->share, &longest, stages, report);
        if (outcome != RBT_DONE) return outcome;
        RBT_STAGE("search", follow(s, z, longest, &length));
        rbt_step_contact_show(c, z);
        outcome = evaluate(s, z, value, report);
        if (outcome == RBT_DONE) outcome = lag(s, z, value, report);
        if (outcome == RBT_DONE && length < 1) outcome = relax(s, z, value, &found, stages, report);
        if (outcome == RBT_DONE && length < 1) outcome = lag(s, z, value, report);
        if (outcome != RBT_DONE) return outcome;
    }
    return RBT_DONE;
}

// ---- The iteration

rbt_outcome rbt_newton_contact(rbt_newton *s, double *z, rbt_stop *stop, int max_iterations, rbt_stages *stages,
                               rbt_step_report *report) {
    rbt_step_contact *c = s->objective->pairs;
    double value, lagged = 0;
    s->exact = false;
    s->waited = 0;
    s->patience = 1;
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
        outcome = relax(s, z, &value, &found, stages, report);
        if (outcome == RBT_DONE && !found) {
            if (rbt_stop_at_rounding(stop)) return evaluate(s, z, &value, report);
            return in_the_way(s, "no room to move, or no decrease of the energy, near", report);
        }
        if (outcome != RBT_DONE) return outcome;
    }
}
