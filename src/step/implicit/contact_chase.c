// The chase (contact_drive.h): from a safe position towards a wanted one that may intersect.
//
// A round: the safe position moves towards the wanted one as far as the continuous test allows, prescribed nodes and
// obstacles with it; every pair that stopped it, anywhere on the way, becomes a constraint; then the wanted position
// makes one Newton step on E with these constraints in the place of contact (step/contact/contact_constraints.h), and
// their multipliers follow. It ends when the safe position has caught up. One round finds all pairs that are in the way
// of a motion, where an iteration that stays safe would find one after the other, each stopping all nodes.
#include "math/vector.h"
#include "step/contact/contact_constraints.h"
#include "step/implicit/contact_drive.h"

enum { MAX_ROUNDS = 30, MAX_HALVINGS = 40 };
// Of the longest way to the wanted position at first, how far one of its steps may go. What is in the way leads it
// aside or back; linear constraints that contradict each other, as those of both sides of a thin edge do, lead it
// further away each time, with ever more pairs in the way.
static const double FARTHEST = 4;

// To whom looks: every move by itself, since the judge looks at straight ways
static void show(rbt_contact_drive *s, const double *safe, double share) {
    rbt_step_contact *c = s->objective->pairs;
    c->share = share;
    rbt_step_contact_show(c, safe);
    c->share = 1;
}

// A motion that was stopped leaves a tenth of a gap, the next one a tenth of that: before there is no room left to move
// in, gaps are made what they should be, by moves that are small beside everything else.
static rbt_outcome restore(rbt_contact_drive *s, double *safe, double share) {
    enum { MOVES = 3 };
    rbt_objective *o = s->objective;
    rbt_step_contact *c = o->pairs;
    size_t values = 3 * o->model->node_count;
    for (int k = 0; k < MOVES && rbt_constraints_restore(c, s->direction); k++) {
        double length = rbt_step_contact_limit(c, safe, s->direction, share, 0);
        if (c->out_of_memory) return RBT_OUT_OF_MEMORY;
        if (!(length > 0)) return RBT_DONE;
        rbt_vector_combine(values, s->search->trial, safe, length, s->direction);
        if (!isfinite(rbt_objective_value(o, s->search->trial))) return RBT_DONE;
        rbt_vector_copy(values, safe, s->search->trial);
        show(s, safe, share);
        if (!rbt_constraints_relinearise(c, safe, share)) return RBT_OUT_OF_MEMORY;
    }
    return RBT_DONE;
}

// As far from `safe` towards s->wanted as the test allows and E is finite; *share is how far prescribed nodes have
// come.
static rbt_outcome catch_up(rbt_contact_drive *s, double *safe, double *share, double *length) {
    rbt_objective *o = s->objective;
    rbt_step_contact *c = o->pairs;
    size_t values = 3 * o->model->node_count;
    rbt_vector_combine(values, s->direction, s->wanted, -1, safe);
    *length = rbt_step_contact_first_stop(c, safe, s->direction, *share, 1 - *share);
    if (c->out_of_memory || !rbt_constraints_add_stops(c)) return RBT_OUT_OF_MEMORY;
    *length = rbt_contact_drive_room(s, safe, *length);
    for (int halvings = 0; *length > 0; halvings++, *length *= 0.5) {
        rbt_vector_combine(values, s->search->trial, safe, *length, s->direction);
        if (isfinite(rbt_objective_value(o, s->search->trial))) break;
        if (halvings == MAX_HALVINGS) *length = 0;
    }
    if (*length > 0) {
        rbt_vector_copy(values, safe, s->search->trial);
        *share = *length == 1 ? 1 : *share + *length * (1 - *share);
        show(s, safe, *share);
    }
    if (!rbt_constraints_relinearise(c, safe, *share)) return RBT_OUT_OF_MEMORY;
    return *length < 1 ? restore(s, safe, *share) : RBT_DONE;
}

// One Newton step of the wanted position. *found: there is one.
static rbt_outcome improve(rbt_contact_drive *s, bool *found, rbt_stages *stages, rbt_step_report *report) {
    rbt_objective *o = s->objective;
    double value = rbt_objective_gradient(o, s->wanted, s->gradient);
    *found = false;
    if (!isfinite(value)) return o->pairs->out_of_memory ? RBT_OUT_OF_MEMORY : RBT_DONE;
    RBT_STAGE("assemble", rbt_contact_drive_assemble(s, false, s->wanted));
    RBT_STAGE("assemble", rbt_contact_drive_add(s, false));
    s->is_bent = true;
    rbt_outcome outcome = s->solver->factor(s->self, s->wanted, stages, report);
    if (outcome != RBT_DONE) return outcome;
    RBT_STAGE("solve", s->solver->solve(s->self, s->gradient, s->direction, report));
    double slope = rbt_vector_dot(3 * o->model->node_count, s->direction, s->gradient), start = rbt_now();
    s->search->expected = 0;
    report->stage = "search";
    double length = rbt_search_along(s->search, s->direction, slope, 1, s->wanted, &value, s->gradient);
    rbt_stage_add(stages, "search", rbt_now() - start);
    if (length == 1) rbt_constraints_update(o->pairs);
    *found = length > 0;
    return RBT_DONE;
}

// driven: what is prescribed has to be made, however far everything else goes.
static rbt_outcome chase(rbt_contact_drive *s, bool driven, double *z, double *share, rbt_stages *stages,
                         rbt_step_report *report) {
    rbt_objective *o = s->objective;
    rbt_vector_combine(3 * o->model->node_count, s->direction, s->wanted, -1, z);
    double farthest = driven ? INFINITY : FARTHEST * rbt_objective_longest(o, s->direction);
    for (int k = 0; k < MAX_ROUNDS; k++) {
        double length;
        bool found;
        RBT_STAGE("ccd", catch_up(s, z, share, &length));
        if (length == 1) return RBT_DONE;
        rbt_outcome outcome = improve(s, &found, stages, report);
        if (outcome != RBT_DONE) return outcome;
        if (!found || o->move > farthest) return RBT_DONE;
    }
    return RBT_DONE;
}

rbt_outcome rbt_contact_drive_chase(rbt_contact_drive *s, double *z, rbt_stages *stages, rbt_step_report *report) {
    rbt_step_contact *c = s->objective->pairs;
    double share = c->share;
    bool driven = rbt_step_contact_is_driven(c);
    size_t rubbing = c->rubbing_count;
    c->share = 1;
    c->linearised = true;
    c->rubbing_count = 0;  // friction comes in when the step is solved
    rbt_constraints_begin(c);
    rbt_outcome outcome = chase(s, driven, z, &share, stages, report);
    c->share = share;
    c->linearised = false;
    c->rubbing_count = rubbing;
    bool fatal = outcome == RBT_OUT_OF_MEMORY || outcome == RBT_STOPPED;
    return fatal ? outcome : RBT_DONE;
}
