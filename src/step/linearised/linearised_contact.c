#include "step/linearised/linearised_contact.h"

#include "math/vector.h"

typedef struct meeting {
    rbt_linearised *s;
    const rbt_state *state;
    double h;
} meeting;

static bool entries(void *self, size_t column_count, const int32_t *column, size_t row_count, const int32_t *row,
                    double *to) {
    const meeting *m = self;
    return rbt_cholesky_inverse(m->s->linear.cholesky, column_count, column, row_count, row, to);
}

// v + dv + A^-1 J
static rbt_outcome apply(void *self, const double *J, double *displacement, double *velocity,
                         rbt_step_report *report) {
    const meeting *m = self;
    rbt_linearised *s = m->s;
    size_t values = 3 * s->model->node_count;
    rbt_outcome outcome;
    if (!J) outcome = rbt_linearised_solve(s, report);
    else outcome = rbt_linear_solve(&s->linear, J, s->pushed, report);
    if (outcome != RBT_DONE) return outcome;
    for (size_t i = 0; i < values; i++) {
        double change = s->dv[i] + (J ? s->pushed[i] : 0);
        velocity[i] = s->constrained[i / 3] ? s->moved[i] : m->state->v[i] + change;
        displacement[i] = m->h * velocity[i];
    }
    return RBT_DONE;
}

rbt_outcome rbt_linearised_remember(const rbt_linearised *s, const rbt_state *state, double h,
                                    rbt_impulse_memory *memory, rbt_step_report *report) {
    rbt_outcome outcome = rbt_check_motion(s->model, state, h, report);
    if (outcome == RBT_DONE && memory) rbt_impulses_remember(s->impulses, state->x, memory);
    return outcome;
}

rbt_outcome rbt_linearised_meet(rbt_linearised *s, rbt_state *state, double h, rbt_impulse_memory *memory,
                                rbt_stages *stages, rbt_step_report *report) {
    static const rbt_impulse_response RESPONSE = {.entries = entries, .apply = apply};
    meeting m = {.s = s, .state = state, .h = h};
    rbt_linearised_right(s, state, h);
    rbt_outcome outcome =
        rbt_impulses_step(s->impulses, &RESPONSE, &m, state, h, s->constrained, state->x, state->v, stages, report);
    if (outcome != RBT_DONE) return outcome;
    RBT_STAGE("update", rbt_linearised_remember(s, state, h, memory, report));
    return RBT_DONE;
}

// ---- As rbt_method has them

void rbt_linearised_watch(rbt_linearised *s, const rbt_observer *observer) {
    if (s->impulses) s->impulses->contact->observer = observer;
}

bool rbt_linearised_accepts(rbt_linearised *s, const rbt_state *state, char *text, size_t size) {
    return rbt_impulses_accept(s->impulses, state, text, size);
}

double rbt_linearised_thickness(const rbt_linearised *s) { return rbt_impulses_thickness(s->impulses); }

void rbt_linearised_describe(const rbt_linearised *s, rbt_text *json) {
    if (s->impulses) rbt_impulses_describe(s->impulses, json);
}

void rbt_linearised_energies(const rbt_linearised *s, const rbt_impulse_memory *memory, rbt_energies *energies) {
    if (s->impulses) rbt_impulses_energies(memory, energies);
}

size_t rbt_linearised_contacts(rbt_linearised *s, const rbt_impulse_memory *memory, const rbt_state *state,
                               rbt_contact_point *points, size_t capacity) {
    return s->impulses && memory ? rbt_impulses_points(s->impulses, memory, state, points, capacity) : 0;
}

void rbt_linearised_contact_forces(rbt_linearised *s, const rbt_impulse_memory *memory, const rbt_state *state,
                                   double *f) {
    rbt_impulses_forces(s->impulses, s->model, memory, state, f);
}
