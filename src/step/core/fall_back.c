#include "step/core/fall_back.h"

#include <stdio.h>
#include <string.h>

enum { AFTER = 4, ITERATIONS = 150 };            // halvings; of a piece
enum { PAIRS_PER_NODE = 4, MORE_PAIRS = 4096 };  // that there is room for

bool rbt_fall_back_concerns(const rbt_model *m, const rbt_method *method, int halvings) {
    return method->take_contact && !method->last_resort && m->contact.on && halvings >= AFTER;
}

static const rbt_method *last_resort(void) {
    for (int i = 0; rbt_method_at(i); i++)
        if (rbt_method_at(i)->last_resort) return rbt_method_at(i);
    return NULL;
}

void rbt_fall_back_free(rbt_fall_back *f) {
    if (f->self) f->method->destroy(f->self);
    free(f->memory);
    free(f->handover.pairs);
    free(f->handover.force);
    *f = (rbt_fall_back){0};
}

static bool make(rbt_fall_back *f, const rbt_model *m, rbt_error *error) {
    rbt_implicit_options options = rbt_implicit_options_default();
    const rbt_observer *observer = f->observer;
    rbt_fall_back_free(f);
    f->method = last_resort();
    if (!f->method) return rbt_fail(error, "no method of the table is the last resort");
    options.max_iterations = ITERATIONS;
    f->model = *m;
    f->model.contact.augmented = true;
    f->observer = observer;
    f->memory_size = f->method->memory_size(&f->model, &options);
    f->handover.capacity = PAIRS_PER_NODE * m->node_count + MORE_PAIRS;
    f->memory = rbt_array_new(f->memory_size, 1, "a stepper", error);
    f->handover.pairs = rbt_array_new(f->handover.capacity, sizeof *f->handover.pairs, "a stepper", error);
    f->handover.force = rbt_array_new(3 * m->node_count + 1, sizeof(double), "a stepper", error);
    if (f->memory && f->handover.pairs && f->handover.force)
        f->self = f->method->create(&f->model, 0, &options, error);
    if (f->self && observer) f->method->set_observer(f->self, observer);
    return f->self != NULL;
}

void rbt_fall_back_set_observer(rbt_fall_back *f, const rbt_observer *observer) {
    f->observer = observer;
    if (f->self) f->method->set_observer(f->self, observer);
}

// What the start of a run allowed may not be found again: then the method's own refusal stands.
static rbt_outcome cannot_make(const rbt_error *error, rbt_step_report *report) {
    if (error->out_of_memory) return RBT_OUT_OF_MEMORY;
    snprintf(report->hint, sizeof report->hint, "backward-euler cannot take over: %.150s", error->message);
    return RBT_NOT_CONVERGED;
}

rbt_outcome rbt_fall_back_attempt(rbt_fall_back *f, const rbt_model *m, const rbt_method *method, void *self,
                                  rbt_state *state, double until, rbt_stages *stages, rbt_step_report *report) {
    rbt_contact_handover *h = &f->handover;
    rbt_error error = {0};
    if (!f->self && !make(f, m, &error)) return cannot_make(&error, report);
    int halvings = report->halvings;
    rbt_state piece = *state;
    memset(f->memory, 0, f->memory_size);
    piece.memory = f->memory;
    piece.memory_size = f->memory_size;
    method->give_contact(self, state, h);
    f->method->take_contact(f->self, &piece, h);
    report->halvings = 0;  // it begins with this piece
    rbt_outcome outcome = f->method->attempt(f->self, &piece, until, stages, report);
    report->halvings = halvings;
    if (outcome != RBT_DONE) return outcome;
    piece.t = until;
    f->method->give_contact(f->self, &piece, h);
    method->take_contact(self, state, h);
    report->statistics[RBT_STAT_DAMPED]++;
    return RBT_DONE;
}
