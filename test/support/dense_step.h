// One step of a model as dense matrices: the paper's formula (10) of SIERE, and the exponential Rosenbrock-Euler
// method.
#ifndef TEST_SUPPORT_DENSE_STEP_H
#define TEST_SUPPORT_DENSE_STEP_H

#include "dense.h"
#include "math/exponential.h"
#include "math/symmetric.h"
#include "model/force.h"
#include "model/mass.h"
#include "model/stiffness.h"
#include "scene.h"
#include "sim/sim.h"

// ---- Dense matrices over the free unknowns, row by row

typedef struct dense_step {
    size_t N, s;
    size_t *free;              // (N) which values of the model
    double *K, *M, *D;         // (N x N)
    double *U, *lambda;        // (s x N) modes one after the other, (s)
    double *q, *v, *f, *ramp;  // (N) change of place 0, velocity, force at the start, its growth by driven nodes
} dense_step;

static inline double *new_matrix(size_t rows, size_t columns) { return calloc(rows * columns + 1, sizeof(double)); }

// M^-1 B, B (N x m)
static inline double *divide(const dense_step *d, size_t m, const double *B) {
    double *A = new_matrix(d->N, d->N), *X = new_matrix(d->N, m);
    memcpy(A, d->M, d->N * d->N * sizeof *A);
    memcpy(X, B, d->N * m * sizeof *X);
    assert_true(rbt_dense_solve(d->N, A, m, X));
    free(A);
    return X;
}

// K u = lambda M u with M = L L^T: L^-1 K L^-T y = lambda y, u = L^-T y, by Jacobi's rotations
static inline void dense_modes(dense_step *d) {
    size_t N = d->N;
    double *L = new_matrix(N, N), *C = new_matrix(N, N), *V = new_matrix(N, N);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = d->M[i * N + j];
            for (size_t k = 0; k < j; k++) sum -= L[i * N + k] * L[j * N + k];
            L[i * N + j] = i == j ? sqrt(sum) : sum / L[j * N + j];
        }
    memcpy(C, d->K, N * N * sizeof *C);
    for (int side = 0; side < 2; side++) {  // rows, then columns: C is symmetric at the end
        for (size_t j = 0; j < N; j++)
            for (size_t i = 0; i < N; i++) {
                double *at = side ? &C[j * N + i] : &C[i * N + j], sum = *at;
                for (size_t k = 0; k < i; k++) sum -= L[i * N + k] * (side ? C[j * N + k] : C[k * N + j]);
                *at = sum / L[i * N + i];
            }
    }
    rbt_symmetric_eigen((int)N, C, V);
    bool *used = calloc(N, sizeof *used);
    for (size_t l = 0; l < d->s; l++) {
        size_t best = N;
        for (size_t i = 0; i < N; i++)
            if (!used[i] && (best == N || C[i * N + i] < C[best * N + best])) best = i;
        used[best] = true;
        d->lambda[l] = C[best * N + best];
        double *u = d->U + l * N;
        for (size_t i = N; i-- > 0;) {
            double sum = V[i * N + best];
            for (size_t k = i + 1; k < N; k++) sum -= L[k * N + i] * u[k];
            u[i] = sum / L[i * N + i];
        }
    }
    free(L), free(C), free(V), free(used);
}

static inline const rbt_damping_def *damping_at(const rbt_model *m, size_t i) {
    return &m->bodies[m->node_body[i / 3]].damping;
}

static inline dense_step dense_of(const rbt_sim *sim, size_t s, double h) {
    const rbt_model *m = sim->model;
    size_t n = 3 * m->node_count;
    dense_step d = {.s = s, .free = calloc(n, sizeof(size_t))};
    unsigned char *constrained = calloc(m->node_count, 1);
    rbt_constrained_nodes(m, sim->state.t, constrained);
    for (size_t i = 0; i < n; i++)
        if (!constrained[i / 3]) d.free[d.N++] = i;
    size_t N = d.N;
    if (s > N) d.s = N;
    rbt_stiffness stiffness;
    rbt_mass mass;
    assert_true(rbt_stiffness_build(&stiffness, m, NULL));
    assert_true(rbt_mass_build(&mass, stiffness.arena, m, &stiffness.K, NULL));
    rbt_stiffness_assemble(&stiffness, m, RBT_TANGENT, sim->state.x);
    double *full = dense_of_blocks(&stiffness.K), *e = calloc(n, sizeof *e), *Me = calloc(n, sizeof *Me);
    double *partial = calloc(3 * m->plan.slot_count, sizeof *partial), *f = calloc(n, sizeof *f);
    double *moved = calloc(n, sizeof *moved);
    d.K = new_matrix(N, N), d.M = new_matrix(N, N), d.D = new_matrix(N, N), d.U = new_matrix(N, N);
    d.lambda = new_matrix(N, 1), d.q = new_matrix(N, 1), d.v = new_matrix(N, 1), d.f = new_matrix(N, 1);
    d.ramp = new_matrix(N, 1);
    rbt_force_external(m, sim->state.t, sim->state.x, sim->state.v, f);
    rbt_force_elastic(m, sim->state.x, NULL, partial, f);
    memcpy(moved, sim->state.v, n * sizeof *moved);
    rbt_constrained_velocities(m, constrained, sim->state.t, h, sim->state.x, moved);
    for (size_t j = 0; j < n; j++)
        e[j] = damping_at(m, j)->mass * sim->state.v[j] +
               (1 / h + damping_at(m, j)->mass) * (moved[j] - sim->state.v[j]);
    rbt_mass_product(&mass, e, Me);  // alpha M v, and what the constrained nodes' acceleration does
    for (size_t i = 0; i < N; i++) {
        d.v[i] = sim->state.v[d.free[i]];
        d.f[i] = f[d.free[i]] - Me[d.free[i]];
        for (size_t j = 0; j < n; j++) {
            d.f[i] -= damping_at(m, d.free[i])->stiffness * full[d.free[i] * n + j] * moved[j];
            if (constrained[j / 3]) d.ramp[i] -= full[d.free[i] * n + j] * moved[j];
        }
    }
    memset(e, 0, n * sizeof *e);
    for (size_t j = 0; j < N; j++) {
        e[d.free[j]] = 1;
        rbt_mass_product(&mass, e, Me);
        e[d.free[j]] = 0;
        for (size_t i = 0; i < N; i++) {
            d.M[i * N + j] = Me[d.free[i]];
            d.K[i * N + j] = full[d.free[i] * n + d.free[j]];
            const rbt_damping_def *damping = damping_at(m, d.free[i]);
            d.D[i * N + j] = damping->mass * d.M[i * N + j] + damping->stiffness * d.K[i * N + j];
        }
    }
    dense_modes(&d);
    rbt_stiffness_free(&stiffness);
    free(constrained), free(full), free(e), free(Me), free(partial), free(f), free(moved);
    return d;
}

static inline void dense_free(dense_step *d) {
    free(d->free), free(d->K), free(d->M), free(d->D), free(d->U), free(d->lambda), free(d->q), free(d->v),
        free(d->f);
    free(d->ramp);
}

// J (2N x 2N), and with modes its part J_G = [[0, P], [-U L U^T M, -U D_l U^T M]], P = U U^T M
static inline double *jacobian(const dense_step *d, bool of_modes) {
    size_t N = d->N, n = 2 * N;
    double *J = new_matrix(n, n);
    if (!of_modes) {
        double *K = divide(d, N, d->K), *D = divide(d, N, d->D);
        for (size_t i = 0; i < N; i++) {
            J[i * n + N + i] = 1;
            for (size_t j = 0; j < N; j++) {
                J[(N + i) * n + j] = -K[i * N + j];
                J[(N + i) * n + N + j] = -D[i * N + j];
            }
        }
        free(K), free(D);
        return J;
    }
    for (size_t l = 0; l < d->s; l++) {
        const double *u = d->U + l * N;
        double rate = 0;
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < N; j++) rate += u[i] * d->D[i * N + j] * u[j];
        for (size_t j = 0; j < N; j++) {
            double q = 0;
            for (size_t k = 0; k < N; k++) q += u[k] * d->M[k * N + j];
            for (size_t i = 0; i < N; i++) {
                J[i * n + N + j] += u[i] * q;
                J[(N + i) * n + j] -= d->lambda[l] * u[i] * q;
                J[(N + i) * n + N + j] -= rate * u[i] * q;
            }
        }
    }
    return J;
}

// h phi_1(h J) b + h^2 phi_2(h J) c: the last but one column of exp(h [[J, c, b], [0, 0, 1], [0, 0, 0]]) and so on
static inline void phi_product(size_t n, const double *J, const double *b, const double *c, double h, double *y) {
    size_t m = n + 2;
    double *E = new_matrix(m, m), *work = new_matrix(RBT_EXPONENTIAL_WORK * m, m);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) E[i * m + j] = h * J[i * n + j];
        E[i * m + n] = h * c[i];
        E[i * m + n + 1] = h * b[i];
    }
    E[n * m + n + 1] = h;
    assert_true(rbt_dense_exponential(m, E, work));
    for (size_t i = 0; i < n; i++) y[i] = E[i * m + n + 1];
    free(E), free(work);
}

// G and H of equation (8), and their growth by driven nodes; d->s = 0: all is H; d->s = N: all is G
static inline void split(const dense_step *d, double *G, double *H, double *growth_G, double *growth_H) {
    size_t N = d->N;
    double *a = divide(d, 1, d->f), *r = divide(d, 1, d->ramp);
    memset(G, 0, 2 * N * sizeof *G), memset(growth_G, 0, 2 * N * sizeof *G);
    for (size_t l = 0; l < d->s; l++) {
        const double *u = d->U + l * N;
        double b = 0, g = 0, ramp = 0;
        for (size_t i = 0; i < N; i++) {
            for (size_t j = 0; j < N; j++) b += u[i] * d->M[i * N + j] * d->v[j];
            g += u[i] * d->f[i], ramp += u[i] * d->ramp[i];
        }
        for (size_t i = 0; i < N; i++) G[i] += b * u[i], G[N + i] += g * u[i], growth_G[N + i] += ramp * u[i];
    }
    for (size_t i = 0; i < N; i++) {
        H[i] = d->v[i] - G[i], H[N + i] = a[i] - G[N + i];
        growth_H[i] = 0, growth_H[N + i] = r[i] - growth_G[N + i];
    }
    free(a), free(r);
}

// delta = h H + h^2 H' + h phi_1(h J_G) G + h^2 phi_2(h J_G) G'
static inline void right_side(const dense_step *d, const double *JG, double h, double *delta) {
    size_t n = 2 * d->N;
    double *G = new_matrix(n, 1), *H = new_matrix(n, 1), *g = new_matrix(n, 1), *k = new_matrix(n, 1);
    split(d, G, H, g, k);
    phi_product(n, JG, G, g, h, delta);
    for (size_t i = 0; i < n; i++) delta[i] += h * H[i] + h * h * k[i];
    free(G), free(H), free(g), free(k);
}

// Equation (10): (I - h (J - J_G)) dw = delta
static inline double *formula_10(const dense_step *d, double h) {
    size_t n = 2 * d->N;
    double *J = jacobian(d, false), *JG = jacobian(d, true), *delta = new_matrix(n, 1);
    right_side(d, JG, h, delta);
    for (size_t i = 0; i < n * n; i++) J[i] = (i % (n + 1) ? 0 : 1) - h * (J[i] - JG[i]);
    assert_true(rbt_dense_solve(n, J, 1, delta));
    free(J), free(JG);
    return delta;
}

// h phi_1(h J) F, and what driven nodes add
static inline double *rosenbrock_euler(const dense_step *d, double h) {
    size_t n = 2 * d->N;
    double *J = jacobian(d, false), *dw = new_matrix(n, 1), *F = new_matrix(n, 1), *grows = new_matrix(n, 1);
    double *a = divide(d, 1, d->f), *r = divide(d, 1, d->ramp);
    for (size_t i = 0; i < d->N; i++) F[i] = d->v[i], F[d->N + i] = a[i], grows[d->N + i] = r[i];
    phi_product(n, J, F, grows, h, dw);
    free(J), free(F), free(grows), free(a), free(r);
    return dw;
}

// Largest difference between a step and dw = (dq, dv), beside the largest of dw
static inline double difference(const rbt_sim *sim, const dense_step *d, const double *x, const double *v,
                                const double *dw) {
    double place = 0, speed = 0, error_x = 0, error_v = 0;
    for (size_t i = 0; i < d->N; i++) {
        size_t at = d->free[i];
        place = fmax(place, fabs(dw[i])), speed = fmax(speed, fabs(dw[d->N + i]));
        error_x = fmax(error_x, fabs(sim->state.x[at] - x[at] - dw[i]));
        error_v = fmax(error_v, fabs(sim->state.v[at] - v[at] - dw[d->N + i]));
    }
    return fmax(error_x / place, error_v / speed);
}

#endif
