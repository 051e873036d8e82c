// L-BFGS in a step with contact (contact_drive.h): directions are those of lbfgs.h, each no longer than the continuous
// test allows.
//
// D has the stiffness of the pairs that pushed each other where it was made. The barrier stiffens within a fraction of
// the thickness, and one more pair is one more stiff direction that D knows nothing of: what five pairs of differences
// can tell about it is soon too little. So D is made again
//   - after a step that the continuous test or the line search has shortened: something is in the way that D does not
//     know;
//   - when friction gets new forces, and with them another number of pairs: one that sticks is as stiff as one that
//     touches. (To make it again at every change of forces helps cloth and takes a chain of links twice the time; never
//     to do it costs cloth that falls on cloth half as much again.) No pair of differences spans such a change, since
//     both gradients of one have the same forces;
//   - where convergence is so slow that it pays, as without contact. Steps have been taken whole then, and the true
//     second derivatives of contact, which surfaces that slide or roll on each other need, are tried first.
#include "math/vector.h"
#include "step/implicit/lbfgs.h"

#include <math.h>

static const double SHORT = 0.01;  // share of a direction that is free: not worth following

static rbt_outcome factor(void *self, const double *z, rbt_stages *stages, rbt_step_report *report) {
    rbt_lbfgs *l = self;
    return l->D->factor(l->D->self, z, stages, report);
}

static rbt_outcome make(void *self, const double *z, rbt_stages *stages, rbt_step_report *report) {
    rbt_lbfgs *l = self;
    RBT_STAGE("assemble", rbt_contact_drive_assemble(&l->drive, false, z));
    l->drive.is_bent = l->stale = false;
    l->count = 0;  // older pairs belong to another D
    l->age = 0;
    l->rubbing = l->objective->pairs->rubbing_count;
    l->first = report->statistics[RBT_STAT_RESIDUAL];
    if (l->whole) {
        RBT_STAGE("assemble", rbt_contact_drive_add(&l->drive, true));
        rbt_outcome outcome = factor(l, z, stages, report);
        if (outcome != RBT_NOT_POSITIVE_DEFINITE) return outcome;
        l->whole = false;
        report->body = report->element = -1;
        report->hint[0] = '\0';
    }
    RBT_STAGE("assemble", rbt_contact_drive_add(&l->drive, false));
    return factor(l, z, stages, report);
}

static rbt_outcome solve_for(void *self, const double *rhs, double *p, rbt_step_report *report) {
    rbt_lbfgs *l = self;
    report->statistics[RBT_STAT_ITERATIONS]++;
    rbt_outcome outcome = l->D->apply(l->D->self, rhs, p);
    for (size_t i = 0; i < 3 * l->objective->model->node_count; i++) p[i] = -p[i];
    l->stale = true;  // prescribed motion comes next
    return outcome;
}

// drive.direction and how much of it is free, with a new D if the present one leads nowhere
static rbt_outcome find_way(rbt_lbfgs *l, const double *z, double *longest, rbt_stages *stages,
                            rbt_step_report *report) {
    for (;;) {
        if (l->stale || l->drive.is_bent || l->rubbing != l->objective->pairs->rubbing_count ||
            rbt_lbfgs_new_one_pays(l->D, l->age, l->first, report->statistics[RBT_STAT_RESIDUAL])) {
            rbt_outcome outcome = make(l, z, stages, report);
            if (outcome != RBT_DONE) return outcome;
        }
        report->statistics[RBT_STAT_ITERATIONS]++;
        RBT_STAGE("solve", rbt_lbfgs_direction(l, l->D));
        RBT_STAGE("ccd", rbt_contact_drive_limit(&l->drive, z, 0, longest));
        if (l->age == 0 || *longest >= SHORT) return RBT_DONE;
        l->stale = true;
    }
}

static rbt_outcome advance(rbt_lbfgs *l, double *z, double *value, double longest, double *length) {
    size_t values = 3 * l->objective->model->node_count;
    double slope = rbt_vector_dot(values, l->direction, l->gradient);
    rbt_vector_copy(values, l->before, z);
    rbt_vector_copy(values, l->gradient_before, l->gradient);
    l->search.expected = 0;
    *length = longest > 0 ? rbt_search_along(&l->search, l->direction, slope, longest, z, value, l->gradient) : 0;
    if (*length > 0) rbt_lbfgs_remember(l, z);
    return RBT_DONE;
}

static rbt_outcome relax(void *self, double *z, double *value, bool *found, rbt_stages *stages,
                         rbt_step_report *report) {
    rbt_lbfgs *l = self;
    rbt_step_contact *c = l->objective->pairs;
    double longest, length;
    for (;;) {
        rbt_outcome outcome = find_way(l, z, &longest, stages, report);
        if (outcome != RBT_DONE) return outcome;
        outcome = rbt_contact_drive_detour(&l->drive, z, value, longest, found, stages, report);
        if (outcome != RBT_DONE || *found) return outcome;
        RBT_STAGE("search", advance(l, z, value, longest, &length));
        *found = length > 0;
        if (*found) break;
        *value = rbt_objective_gradient(l->objective, z, l->gradient);  // contact was asked elsewhere since
        if (l->age == 0) break;
        l->stale = true;  // once more, with a new D
    }
    c->cautious = l->search.expected > 0;
    l->age++;
    l->stale = length < 1;
    l->whole = length == 1;
    if (*found) rbt_step_contact_show(c, z);
    return RBT_DONE;
}

rbt_outcome rbt_lbfgs_contact(rbt_lbfgs *l, const rbt_inverse *D, const double *last, double *z, rbt_stop *stop,
                              int max_iterations, rbt_stages *stages, rbt_step_report *report) {
    static const rbt_contact_iteration LBFGS = {.make = make, .factor = factor, .solve = solve_for, .relax = relax};
    l->drive.solver = &LBFGS;
    l->drive.self = l;
    l->D = D;
    l->stale = true;
    l->whole = false;
    return rbt_contact_drive_solve(&l->drive, last, z, stop, max_iterations, stages, report);
}
