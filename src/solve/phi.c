#include "solve/phi.h"

#include "base/memory.h"
#include "math/exponential.h"
#include "math/vector.h"

#include <math.h>
#include <string.h>

// Estimates are terms of a series whose others may add up.
static const double SAFETY = 4;

struct rbt_phi {
    rbt_arena *arena;
    size_t n, most;    // most: dimension of the basis
    double *basis;     // ((most + 1) x n), and of each vector
    double *last;      // (most + 1) the unknown of the ramp
    double *H;         // ((most + 1) x most) row by row
    double *E, *work;  // ((most + 3)^2) and the exponential's
    double *first;     // (most) phi_1(tau H) e_1
    double *residual;  // (n)
};

rbt_phi *rbt_phi_new(size_t n, size_t most, rbt_error *error) {
    rbt_phi *p = rbt_array_new(1, sizeof *p, "a Krylov space", error);
    if (!p) return NULL;
    size_t side = most + 3;
    *p = (rbt_phi){.arena = rbt_arena_new(), .n = n, .most = most};
    if (p->arena && (p->basis = rbt_arena_take(p->arena, most + 1, n * sizeof(double))) &&
        (p->last = rbt_arena_take(p->arena, most + 1, sizeof(double))) &&
        (p->H = rbt_arena_take(p->arena, (most + 1) * most, sizeof(double))) &&
        (p->E = rbt_arena_take(p->arena, side * side, sizeof(double))) &&
        (p->work = rbt_arena_take(p->arena, RBT_EXPONENTIAL_WORK * side * side, sizeof(double))) &&
        (p->first = rbt_arena_take(p->arena, side, sizeof(double))) &&
        (p->residual = rbt_arena_take(p->arena, n, sizeof(double))))
        return p;
    rbt_phi_free(p);
    rbt_fail_memory(error, (most + 2) * n * sizeof(double), "a Krylov space");
    return NULL;
}

void rbt_phi_free(rbt_phi *p) {
    if (!p) return;
    rbt_arena_free(p->arena);
    free(p);
}

static double *vector_at(const rbt_phi *p, size_t i) { return p->basis + i * p->n; }
static double *entry(const rbt_phi *p, size_t i, size_t j) { return &p->H[i * p->most + j]; }

static double length(const rbt_phi *p, size_t i) {
    return sqrt(rbt_vector_dot(p->n, vector_at(p, i), vector_at(p, i)) + p->last[i] * p->last[i]);
}

// Vector m without its shares of those before it; the shares are added to column m - 1 of H.
static void orthogonalise(rbt_phi *p, size_t m) {
    double *w = vector_at(p, m);
    for (size_t i = 0; i < m; i++) {
        double share = rbt_vector_dot(p->n, vector_at(p, i), w) + p->last[i] * p->last[m];
        *entry(p, i, m - 1) += share;
        rbt_vector_add_scaled(p->n, w, -share, vector_at(p, i));
        p->last[m] -= share * p->last[i];
    }
}

// Vector m = J' (vector m - 1), orthonormal to the others, and column m - 1 of H. False if nothing new comes out of
// it: the basis is all there is.
static bool extend(rbt_phi *p, const rbt_phi_def *def, const double *c, double scale, size_t m) {
    double *w = vector_at(p, m);
    def->J.apply(def->J.self, vector_at(p, m - 1), w);
    if (c) rbt_vector_add_scaled(p->n, w, p->last[m - 1] * scale, c);
    p->last[m] = 0;
    for (size_t i = 0; i <= m; i++) *entry(p, i, m - 1) = 0;
    double before = length(p, m);
    orthogonalise(p, m);
    double after = length(p, m);
    if (after < 0.5 * before) {  // much was taken away, and with it the digits: once more
        orthogonalise(p, m);
        after = length(p, m);
    }
    if (!(after > 1e-14 * before)) return false;
    *entry(p, m, m - 1) = after;
    for (size_t i = 0; i < p->n; i++) w[i] /= after;
    p->last[m] /= after;
    return true;
}

// first = phi_1(tau H_m) e_1, and the last entries of phi_2(tau H_m) e_1 and phi_3(tau H_m) e_1: the last three
// columns of
//   exp [[tau H, e_1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]].
static bool small_phi(rbt_phi *p, size_t m, double tau, double *second, double *third) {
    size_t side = m + 3;
    memset(p->E, 0, side * side * sizeof(double));
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++) p->E[i * side + j] = tau * *entry(p, i, j);
    p->E[m] = 1;
    p->E[m * side + m + 1] = 1;
    p->E[(m + 1) * side + m + 2] = 1;
    if (!rbt_dense_exponential(side, p->E, p->work)) return false;
    for (size_t i = 0; i < m; i++) p->first[i] = p->E[i * side + m];
    *second = p->E[(m - 1) * side + m + 1];
    *third = p->E[(m - 1) * side + m + 2];
    return true;
}

typedef struct part {
    double tau;         // length
    double size;        // |r|
    double error;       // estimate
    double goal;        // that it may have
    double correction;  // of v_{m+1}
} part;

// Whether a part of length tau meets the tolerance with a basis of m vectors; `norm` is the size of y so far, `whole`
// the way.
static bool good_enough(rbt_phi *p, const rbt_phi_def *def, size_t m, bool complete, double norm, double whole,
                        part *a) {
    double second, third, gone = 0, growth = 0;
    a->error = INFINITY;
    a->goal = 0;
    if (!small_phi(p, m, a->tau, &second, &third)) return false;
    for (size_t i = 0; i < m; i++) gone += p->first[i] * p->first[i];
    for (size_t i = 0; i < m; i++) growth += pow(*entry(p, i, m - 1), 2);
    // The first term is added to the result; the second, with |J' v| as for the last vector, is what then is left
    // out. Either may pass through zero.
    double unit = complete ? 0 : a->tau * a->tau * a->size * *entry(p, m, m - 1);
    a->correction = unit * second;
    a->error = SAFETY * fmax(fabs(a->correction), unit * fabs(third) * a->tau * sqrt(growth));
    a->goal = def->tolerance * fmax(norm, a->tau * a->size * sqrt(gone)) * a->tau / whole;
    return isfinite(gone) && a->error <= a->goal;
}

// y += tau |r| V phi_1 e_1 + correction
static void go(const rbt_phi *p, size_t m, bool complete, const part *a, double *y) {
    for (size_t i = 0; i < m; i++) rbt_vector_add_scaled(p->n, y, a->tau * a->size * p->first[i], vector_at(p, i));
    if (!complete) rbt_vector_add_scaled(p->n, y, a->correction, vector_at(p, m));
}

// One part, as long as possible up to `rest`. Returns false if none is short enough.
static bool advance(rbt_phi *p, const rbt_phi_def *def, const double *c, double whole, double rest, double *y,
                    part *a, rbt_phi_report *report) {
    size_t most = def->max_dimension < p->most ? def->max_dimension : p->most, m = 0, check = 4;
    double norm = rbt_vector_norm(p->n, y), size = rbt_vector_norm(p->n, p->residual), scale = 0;
    bool complete = false;
    double ramp = c ? rbt_vector_norm(p->n, c) : 0;
    a->tau = rest;
    a->size = size;
    memcpy(vector_at(p, 0), p->residual, p->n * sizeof(double));
    p->last[0] = 0;
    if (ramp > 0) {  // the unknown of the ramp counts time in a unit that makes it as large as the rest
        p->last[0] = size + whole * ramp;
        scale = 1 / p->last[0];
        a->size = sqrt(size * size + p->last[0] * p->last[0]);
    }
    report->finite = isfinite(a->size);
    if (!(a->size > 0) || !report->finite) return a->size == 0;
    for (size_t i = 0; i < p->n; i++) vector_at(p, 0)[i] /= a->size;
    p->last[0] /= a->size;
    while (m < most && !complete) {
        complete = !extend(p, def, ramp > 0 ? c : NULL, scale, ++m);
        report->products++;
        report->finite = isfinite(*entry(p, m - 1, m - 1));
        if (!report->finite) return false;
        if (m < check && m < most && !complete) continue;
        check = m + m / 2;
        if (good_enough(p, def, m, complete, norm, whole, a)) {
            go(p, m, complete, a, y);
            return true;
        }
    }
    for (int i = 0; i < 60; i++) {
        bool known = a->error > 0 && isfinite(a->error) && a->goal > 0;
        double factor = known ? 0.9 * pow(a->goal / a->error, 1 / (double)m) : 0.5;
        a->tau *= fmin(fmax(factor, 0.3), 0.8);
        if (good_enough(p, def, m, complete, norm, whole, a)) {
            go(p, m, complete, a, y);
            return true;
        }
    }
    return false;
}

rbt_phi_report rbt_phi_solve(rbt_phi *p, const rbt_phi_def *def, double h, const double *b, const double *c,
                             double *y) {
    rbt_phi_report report = {0};
    double t = 0;
    memset(y, 0, p->n * sizeof *y);
    while (t < h) {
        memset(p->residual, 0, p->n * sizeof(double));
        if (t > 0) {
            def->J.apply(def->J.self, y, p->residual);
            report.products++;
        }
        rbt_vector_add_scaled(p->n, p->residual, 1, b);
        if (c && t > 0) rbt_vector_add_scaled(p->n, p->residual, t, c);
        part a = {0};
        bool good = advance(p, def, c, h, h - t, y, &a, &report);
        report.parts++;
        report.error += a.error;
        // What is left after a rounded sum is no part of its own.
        if (good) t = a.tau >= (h - t) * (1 - 1e-12) ? h : t + a.tau;
        report.reached = t / h;
        if (!good || report.products >= def->max_products) {
            report.converged = good && t >= h;
            break;
        }
        report.converged = t >= h;
    }
    double norm = rbt_vector_norm(p->n, y);
    report.error = norm > 0 ? report.error / norm : 0;
    report.converged &= isfinite(norm);
    return report;
}
