// A Newton step with the true derivative of friction (contact_drive.h).
//
// Friction F(y) = mu N(y) f0'(|u|) u/|u| depends on positions through the slip u, which its energy with lagged N knows,
// and through the normal force N, which it does not: with A the symmetric matrix of lagged friction and
//
//   B = sum over pairs of F (N'/N)^T      (not symmetric, of low rank)
//
// Newton's step of the forces that act solves (A + B) p = -g. Where friction is strong, lags alone contract slowly
// (0.9 an iteration), or not at all. GMRES (Saad and Schultz 1986), preconditioned by the factor of A that is there,
// needs about as many solves as pairs whose normal force changes the motion. There is no energy to decrease: a step
// counts if it makes the residual less, friction having its own forces at both ends; where the whole step does not, for
// pairs have come in or have begun to slip on the way, a half of it is tried, and down to a sixteenth.
#include "math/vector.h"
#include "step/implicit/contact_drive.h"

#include <string.h>

enum { DIMENSION = RBT_KRYLOV_DIMENSION, HALVINGS = 5 };
static const double TOLERANCE = 1e-3;  // of the linear system
static const double PROGRESS = 0.3;    // how much less the residual must be after a whole step

typedef struct rbt_krylov {
    double H[DIMENSION + 1][DIMENSION];  // upper Hessenberg, made triangular by rotations
    double cosine[DIMENSION], sine[DIMENSION];
    double rhs[DIMENSION + 1];
} rbt_krylov;

// to = v + A^-1 B v
static rbt_outcome apply(rbt_contact_drive *s, const double *v, double *to, rbt_step_report *report) {
    size_t values = 3 * s->objective->model->node_count;
    memset(s->rhs, 0, values * sizeof(double));
    rbt_step_contact_couple_friction(s->objective->pairs, v, s->rhs);
    rbt_outcome outcome = s->solver->solve(s->self, s->rhs, to, report);  // -A^-1 B v
    for (size_t i = 0; i < values; i++) to[i] = v[i] - to[i];
    return outcome;
}

// Column k of H: rotations so far, and one that makes its last entry 0. Returns what is left of the residual.
static double rotate(rbt_krylov *w, int k) {
    for (int i = 0; i < k; i++) {
        double a = w->H[i][k], b = w->H[i + 1][k];
        w->H[i][k] = w->cosine[i] * a + w->sine[i] * b;
        w->H[i + 1][k] = w->cosine[i] * b - w->sine[i] * a;
    }
    double size = hypot(w->H[k][k], w->H[k + 1][k]);
    w->cosine[k] = size > 0 ? w->H[k][k] / size : 1;
    w->sine[k] = size > 0 ? w->H[k + 1][k] / size : 0;
    w->H[k][k] = size;
    w->rhs[k + 1] = -w->sine[k] * w->rhs[k];
    w->rhs[k] *= w->cosine[k];
    return fabs(w->rhs[k + 1]);
}

// p: in -A^-1 g, out the solution of (I + A^-1 B) p = -A^-1 g
static rbt_outcome solve_coupled(rbt_contact_drive *s, double *p, rbt_step_report *report) {
    size_t values = 3 * s->objective->model->node_count;
    rbt_krylov w;
    double size = sqrt(rbt_vector_dot(values, p, p));
    int count = 0;
    if (!(size > 0)) return RBT_DONE;
    for (size_t i = 0; i < values; i++) s->basis[0][i] = p[i] / size;
    w.rhs[0] = size;
    for (int k = 0; k < DIMENSION; k++) {
        double *next = s->basis[k + 1];
        rbt_outcome outcome = apply(s, s->basis[k], next, report);
        if (outcome != RBT_DONE) return outcome;
        for (int i = 0; i <= k; i++) {
            w.H[i][k] = rbt_vector_dot(values, next, s->basis[i]);
            rbt_vector_add_scaled(values, next, -w.H[i][k], s->basis[i]);
        }
        double left = sqrt(rbt_vector_dot(values, next, next));
        w.H[k + 1][k] = left;
        double residual = rotate(&w, k);
        count = k + 1;
        if (!(residual > TOLERANCE * size) || !(left > 0)) break;
        for (size_t i = 0; i < values; i++) next[i] /= left;
    }
    memset(p, 0, values * sizeof(double));
    for (int k = count - 1; k >= 0; k--) {
        double y = w.rhs[k];
        for (int i = k + 1; i < count; i++) y -= w.H[k][i] * w.rhs[i];
        w.rhs[k] = w.H[k][k] > 0 ? y / w.H[k][k] : 0;
        rbt_vector_add_scaled(values, p, w.rhs[k], s->basis[k]);
    }
    return RBT_DONE;
}

// The gradient at z, with friction of its own forces there, and its size
static bool measure(rbt_contact_drive *s, const double *z, double *value, double *size) {
    rbt_objective *o = s->objective;
    *value = rbt_objective_gradient(o, z, s->gradient);
    if (!isfinite(*value)) return false;
    rbt_step_contact_lag(o->pairs, z);
    s->lags++;
    *value = rbt_objective_gradient(o, z, s->gradient);
    *size = sqrt(rbt_vector_dot(3 * o->model->node_count, s->gradient, s->gradient));
    return isfinite(*value) && !o->pairs->out_of_memory;
}

rbt_outcome rbt_contact_drive_coupled(rbt_contact_drive *s, double *z, double *value, bool *found, rbt_stages *stages,
                                      rbt_step_report *report) {
    rbt_step_contact *c = s->objective->pairs;
    size_t values = 3 * s->objective->model->node_count;
    double before = sqrt(rbt_vector_dot(values, s->gradient, s->gradient)), after = INFINITY, longest;
    *found = false;
    c->cautious = false;
    rbt_outcome outcome = s->solver->make(s->self, z, stages, report);
    if (outcome != RBT_DONE) return outcome;
    RBT_STAGE("solve", s->solver->solve(s->self, s->gradient, s->direction, report));
    RBT_STAGE("solve", solve_coupled(s, s->direction, report));
    RBT_STAGE("ccd", rbt_contact_drive_limit(s, z, 0, &longest));
    longest = rbt_contact_drive_room(s, z, longest);
    rbt_vector_copy(values, s->before, z);
    double start = rbt_now();
    report->stage = "search";
    for (int halvings = 0; longest > 0 && !*found && halvings < HALVINGS; halvings++) {
        double length = ldexp(longest, -halvings);
        rbt_vector_combine(values, z, s->before, length, s->direction);
        *found = measure(s, z, value, &after) && after <= (1 - PROGRESS * length) * before;
    }
    if (!*found) {
        rbt_vector_copy(values, z, s->before);
        measure(s, z, value, &after);
    }
    rbt_stage_add(stages, "search", rbt_now() - start);
    if (c->out_of_memory) return RBT_OUT_OF_MEMORY;
    if (*found) rbt_step_contact_show(c, z);
    return RBT_DONE;
}
