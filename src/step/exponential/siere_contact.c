#include "step/exponential/siere_contact.h"

#include "math/oscillator.h"
#include "math/vector.h"
#include "solve/vectors.h"

#include <math.h>
#include <string.h>

static const double RESOLVED = 1;  // h^2 |lambda|

static void find_coefficients(rbt_siere_meeting *m) {
    for (size_t l = 0; l < m->used; l++) {
        double lambda = m->modes->lambda[l], h = m->h, theta = 1 + h * m->damping[l] + h * h * lambda;
        rbt_response r = rbt_oscillator_response(h, lambda, m->damping[l]);
        bool resolved = h * h * fabs(lambda) <= RESOLVED && h * fabs(m->damping[l]) <= RESOLVED;
        m->by_velocity[l] = resolved ? r.impulse / h - 1 / theta : 0;
        m->by_displacement[l] = resolved ? r.step / h - h / theta : 0;
    }
}

static bool entries(void *self, size_t column_count, const int32_t *column, size_t row_count, const int32_t *row,
                    double *displacement, double *velocity) {
    const rbt_siere_meeting *m = self;
    size_t n = 3 * m->base->model->node_count, height = 3 * row_count;
    if (!rbt_cholesky_inverse(m->base->linear.cholesky, column_count, column, row_count, row, velocity)) return false;
#pragma omp parallel for schedule(static) if (column_count >= 16)
    for (size_t j = 0; j < 3 * column_count; j++) {
        double *v = velocity + j * height, *q = displacement + j * height;
        size_t at = 3 * (size_t)column[j / 3] + j % 3;
        for (size_t i = 0; i < height; i++) q[i] = m->h * v[i];
        for (size_t l = 0; l < m->used; l++) {
            const double *u = m->modes->U + l * n;
            double by_v = m->by_velocity[l] * u[at], by_q = m->by_displacement[l] * u[at];
            for (size_t i = 0; i < height; i++) {
                double other = u[3 * (size_t)row[i / 3] + i % 3];
                v[i] += by_v * other;
                q[i] += by_q * other;
            }
        }
    }
    return true;
}

static rbt_outcome apply(void *self, const double *J, double *displacement, double *velocity,
                         rbt_step_report *report) {
    rbt_siere_meeting *m = self;
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
    return RBT_DONE;
}

rbt_outcome rbt_siere_meet(rbt_siere_meeting *m, rbt_state *state, rbt_stages *stages, rbt_step_report *report) {
    static const rbt_impulse_response RESPONSE = {.entries = entries, .apply = apply, .separate = true};
    find_coefficients(m);
    return rbt_impulses_step(m->base->impulses, &RESPONSE, m, state, m->h, m->base->constrained, state->x, state->v,
                             stages, report);
}
