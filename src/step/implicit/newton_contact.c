// Newton's iterations in a step with contact (contact_drive.h).
//
// A positive semidefinite stand-in for the Hessian of contact keeps directions downhill anywhere, but close to the
// minimum, where surfaces that slide and roll on each other have a good share of negative curvature, it makes Newton's
// method a slow linear one (0.9 per iteration in a chain of links). So once a step was taken whole, the true Hessian is
// tried; should it have no Cholesky factor, the other one takes its place for two iterations, then for four, and so on.
//
// Of a pair that slides Newton's method does not see that its friction turns round where it stops, and goes to and fro
// there: after a step that had to be shortened the next one is made with the secant of friction, which does.
//
// The stiffness of elements without negative curvature does the same to bodies that are twisted or pressed. After many
// iterations the true one is tried likewise; most steps do not need it.
#include "math/vector.h"
#include "step/implicit/newton.h"

enum { LATE = 20 };  // iterations

static rbt_outcome analyse(rbt_newton *s) {
    bool changed;
    return rbt_linear_analyse(&s->linear, s->objective->constrained, &changed);
}

static void raise_diagonal(rbt_block_matrix *A, double share) {
    for (size_t i = 0; i < A->row_count; i++)
        for (int k = 0; k < 9; k += 4) A->value[9 * (A->start[i + 1] - 1) + (size_t)k] *= 1 + share;
}

// All parts of A are positive semidefinite, but where contact is 1e16 times as stiff as what it presses, rounding may
// leave no factor. The decomposition of a matrix whose diagonal is scaled to 1 succeeds if its lowest eigenvalue is
// above a small multiple of e (Higham 2002, theorem 10.7); one that is a little larger on the diagonal has that.
static rbt_outcome factor_raised(rbt_newton *s, const double *z, rbt_step_report *report) {
    rbt_outcome outcome = rbt_linear_factor(&s->linear, z, report);
    for (double share = 1e-13; outcome == RBT_NOT_POSITIVE_DEFINITE && share < 1e-7; share *= 100) {
        raise_diagonal(&s->objective->pairs->matrix.A, share);
        report->body = report->element = -1;
        report->hint[0] = '\0';
        outcome = rbt_linear_factor(&s->linear, z, report);
    }
    return outcome;
}

// What modes of other methods add to the matrix
static rbt_outcome add_modes(rbt_newton *s) {
    rbt_other_methods *others = s->objective->others;
    return !others || rbt_other_methods_prepare(others, s->linear.cholesky) ? RBT_DONE : RBT_OUT_OF_MEMORY;
}

static rbt_outcome factor(void *self, const double *z, rbt_stages *stages, rbt_step_report *report) {
    rbt_newton *s = self;
    RBT_STAGE("analyse", analyse(s));
    RBT_STAGE("factor", factor_raised(s, z, report));
    RBT_STAGE("modes", add_modes(s));
    return RBT_DONE;
}

// A factor of the H that was assembled with the true Hessian of contact; RBT_NOT_POSITIVE_DEFINITE, and nothing in the
// report: it has none.
static rbt_outcome factor_true(rbt_newton *s, const double *z, rbt_stages *stages, rbt_step_report *report) {
    RBT_STAGE("assemble", rbt_contact_drive_add(&s->drive, true));
    RBT_STAGE("analyse", analyse(s));
    report->stage = "factor";
    double start = rbt_now();
    rbt_outcome outcome = rbt_linear_factor(&s->linear, z, report);
    rbt_stage_add(stages, "factor", rbt_now() - start);
    if (outcome == RBT_NOT_POSITIVE_DEFINITE) {
        report->body = report->element = -1;
        report->hint[0] = '\0';
    }
    if (outcome != RBT_DONE) return outcome;
    RBT_STAGE("modes", add_modes(s));
    return RBT_DONE;
}

// A factor of H with the contact's part: the true ones if wanted and possible
static rbt_outcome make(void *self, const double *z, rbt_stages *stages, rbt_step_report *report) {
    rbt_newton *s = self;
    if (--s->body_waits < 0 && s->exact) {
        RBT_STAGE("assemble", rbt_contact_drive_assemble(&s->drive, true, z));
        rbt_outcome outcome = factor_true(s, z, stages, report);
        if (outcome != RBT_NOT_POSITIVE_DEFINITE) return outcome;
        s->body_waits = s->body_patience = 2 * s->body_patience;
    }
    RBT_STAGE("assemble", rbt_contact_drive_assemble(&s->drive, false, z));
    if (s->exact) {
        rbt_outcome outcome = factor_true(s, z, stages, report);
        if (outcome != RBT_NOT_POSITIVE_DEFINITE) return outcome;
        s->exact = false;
        s->patience = s->waited = 2 * s->patience;
    }
    RBT_STAGE("assemble", rbt_contact_drive_add(&s->drive, false));
    return factor(s, z, stages, report);
}

static rbt_outcome solve_for(void *self, const double *rhs, double *p, rbt_step_report *report) {  // p = -A^-1 rhs
    rbt_newton *s = self;
    rbt_outcome outcome = rbt_linear_solve(&s->linear, rhs, p, report);
    if (s->objective->others) rbt_other_methods_correct(s->objective->others, p);
    for (size_t i = 0; i < 3 * s->objective->model->node_count; i++) p[i] = -p[i];
    return outcome;
}

static rbt_outcome relax(void *self, double *z, double *value, bool *found, rbt_stages *stages,
                         rbt_step_report *report) {
    rbt_newton *s = self;
    double longest;
    rbt_outcome outcome = make(s, z, stages, report);
    if (outcome != RBT_DONE) return outcome;
    RBT_STAGE("solve", solve_for(s, s->gradient, s->direction, report));
    RBT_STAGE("ccd", rbt_contact_drive_limit(&s->drive, z, 0, &longest));
    outcome = rbt_contact_drive_detour(&s->drive, z, value, longest, found, stages, report);
    if (outcome != RBT_DONE || *found) return outcome;
    // Where nothing pushes and nothing is in the way, an iteration is as without contact.
    const rbt_step_contact *c = s->objective->pairs;
    if (longest < 1 || c->active_count || c->constraint_count)
        longest = rbt_contact_drive_room(&s->drive, z, longest);
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

rbt_outcome rbt_newton_contact(rbt_newton *s, const double *last, double *z, rbt_stop *stop, int max_iterations,
                               rbt_stages *stages, rbt_step_report *report) {
    static const rbt_contact_iteration NEWTON = {.make = make, .factor = factor, .solve = solve_for, .relax = relax};
    s->drive.solver = &NEWTON;
    s->drive.self = s;
    s->exact = false;
    s->waited = 0;
    s->patience = s->body_patience = 1;
    s->body_waits = LATE;
    return rbt_contact_drive_solve(&s->drive, last, z, stop, max_iterations, stages, report);
}
