#include "step/exponential/siere_contact.h"

#include "math/oscillator.h"
#include "math/vector.h"
#include "solve/vectors.h"
#include "step/exponential/siere_modes.h"
#include "step/linearised/linearised_contact.h"

#include <math.h>

static const double RESOLVED = 1;  // h^2 |lambda|

bool rbt_siere_is_resolved(double lambda, double damping, double h) {
    return h * h * fabs(lambda) <= RESOLVED && h * fabs(damping) <= RESOLVED;
}

size_t rbt_siere_resolved(size_t used, const double *lambda, const double *damping, double h) {
    size_t count = 0;
    while (count < used && rbt_siere_is_resolved(lambda[count], damping[count], h)) count++;
    return count;
}

void rbt_siere_leave_unresolved(rbt_siere *s, const rbt_state *state, double h) {
    const rbt_impulse_memory *memory = rbt_siere_contact_memory(s, state);
    if (memory && memory->count > 0) s->used = rbt_siere_resolved(s->used, s->modes.lambda, s->d, h);
}

void rbt_siere_answer(size_t used, const double *lambda, const double *damping, double h, double *stiffening,
                      double *quickening) {
    for (size_t l = 0; l < used; l++) {
        double theta = 1 + h * damping[l] + h * h * lambda[l];
        rbt_response r = rbt_oscillator_response(h, lambda[l], damping[l]);
        bool resolved = rbt_siere_is_resolved(lambda[l], damping[l], h);
        stiffening[l] = resolved ? h * h / r.step - theta : 0;
        quickening[l] = resolved ? r.impulse / r.step - 1 / h : 0;
    }
}

// What the functions for impulses are told
typedef struct meeting {
    rbt_linearised *base;
    const rbt_modes *modes;
    size_t used;
    const double *damping;  // (used) d_l
    double h;
    const double *move;                     // (nodes x 3) displacements without contact
    double *velocity;                       // (nodes x 3) velocities; momentum is made right to rounding
    double *by_displacement, *by_velocity;  // (used) work: the coefficients of U U^T (siere_contact.h)
    double *share;                          // (2 x used) work
} meeting;

static void find_coefficients(meeting *m) {
    for (size_t l = 0; l < m->used; l++) {
        double lambda = m->modes->lambda[l], h = m->h, theta = 1 + h * m->damping[l] + h * h * lambda;
        rbt_response r = rbt_oscillator_response(h, lambda, m->damping[l]);
        bool resolved = rbt_siere_is_resolved(lambda, m->damping[l], h);
        m->by_velocity[l] = resolved ? r.impulse / h - 1 / theta : 0;
        m->by_displacement[l] = resolved ? r.step / h - h / theta : 0;
    }
}

static bool entries(void *self, size_t column_count, const int32_t *column, size_t row_count, const int32_t *row,
                    double *to) {
    const meeting *m = self;
    return rbt_cholesky_inverse(m->base->linear.cholesky, column_count, column, row_count, row, to);
}

static rbt_outcome apply(void *self, const double *J, double *displacement, double *velocity,
                         rbt_step_report *report) {
    meeting *m = self;
    rbt_linearised *base = m->base;
    size_t n = 3 * base->model->node_count;
    rbt_vector_copy(n, displacement, m->move);
    rbt_vector_copy(n, velocity, m->velocity);
    if (!J) return RBT_DONE;
    rbt_outcome outcome = rbt_linear_solve(&base->linear, J, base->pushed, report);
    if (outcome != RBT_DONE) return outcome;
    rbt_vectors_inner(n, m->used, m->modes->U, 1, J, m->share, m->modes->partial);
    for (size_t l = 0; l < m->used; l++) {
        const double *u = m->modes->U + l * n;
        rbt_vector_add_scaled(n, velocity, m->by_velocity[l] * m->share[l], u);
        rbt_vector_add_scaled(n, displacement, m->by_displacement[l] * m->share[l], u);
    }
    for (size_t i = 0; i < n; i++) {
        if (base->constrained[i / 3]) continue;
        velocity[i] += base->pushed[i];
        displacement[i] += m->h * base->pushed[i];
    }
    rbt_impulses_balance(base->impulses, base->constrained, J, m->velocity, velocity);
    return RBT_DONE;
}

static rbt_outcome step_with(meeting *m, rbt_state *state, rbt_stages *stages, rbt_step_report *report) {
    const rbt_impulse_response response = {.entries = entries,
                                           .apply = apply,
                                           .mode_count = m->used,
                                           .modes = m->modes->U,
                                           .by_displacement = m->by_displacement,
                                           .by_velocity = m->by_velocity};
    find_coefficients(m);
    // Modes that are off by rho are orthogonal to translations but for rho, and so is the momentum of what they move.
    rbt_impulses_balance(m->base->impulses, m->base->constrained, m->base->rhs, state->v, m->velocity);
    return rbt_impulses_step(m->base->impulses, &response, m, state, m->h, m->base->constrained, state->x, state->v,
                             stages, report);
}

rbt_outcome rbt_siere_meet(rbt_siere *s, rbt_state *state, double h, rbt_stages *stages, rbt_step_report *report) {
    rbt_linearised *base = &s->base;
    double *move = s->right, *change = s->right + 3 * base->model->node_count;
    meeting m = {.base = base,
                 .modes = &s->modes,
                 .used = s->used,
                 .damping = s->d,
                 .h = h,
                 .move = move,
                 .velocity = change,
                 .by_displacement = s->by_Q,
                 .by_velocity = s->by_KU,
                 .share = s->small};
    rbt_outcome outcome = step_with(&m, state, stages, report);
    if (outcome != RBT_DONE) return outcome;
    RBT_STAGE("update", rbt_linearised_remember(base, state, h, rbt_siere_contact_memory(s, state), report));
    rbt_siere_remember_modes(s, state, report);
    return RBT_DONE;
}
