// The kernels of proximal.h, compiled once per instruction set beside those of tet_kernel.h.
//
// psi depends on the signed singular values alone, and of all matrices with given singular values U diag(s) V^T is
// nearest to G = U diag(t) V^T. So the minimum over nine unknowns is one over three,
//
//   phi(s) = psi(s) + k/2 |s - t|^2,
//
// for Newton's method with a line search; where phi'' is not positive definite, psi'' is projected first. With G = R
// T, T symmetric, the eigenvalues t of T and a polynomial through the values t - s give u = G - Z = R (t - s)(T). The
// sum of any two signed singular values is not negative, and s must stay where that holds: beyond, the rotation in F
// is another one, and psi as a function of s no longer that of F. Nothing pulls it there: psi is mirrored at this
// border, and t lies on the inner side.
#ifndef RBT_ENERGY_PROXIMAL_KERNEL_H
#define RBT_ENERGY_PROXIMAL_KERNEL_H

#include "energy/proximal.h"
#include "energy/tet_kernel.h"

// Few steps suffice but where the way leads past a saddle: where the negative curvature is a share e of k, steps that
// lead away from it grow by 1 + e each, and 100 of them are not rare.
enum { MAX_LOCAL_STEPS = 400, MAX_LOCAL_HALVINGS = 40 };

typedef struct local_problem {
    rbt_lane mu, lambda, weight;
    rbt_lane target[3];  // t
    psi_function psi;
    bool quartic;
} local_problem;

INLINE rbt_psi psi_of_stretches(const local_problem *q, const rbt_lane s[3], rbt_lane_invariants *I) {
    rbt_lane a = s[0] * s[0], b = s[1] * s[1], c = s[2] * s[2];
    I->I1 = s[0] + s[1] + s[2];
    I->I2 = a + b + c;
    I->I3 = s[0] * s[1] * s[2];
    I->I4 = a * a + b * b + c * c;
    return q->psi(q->mu, q->lambda, I);
}

// phi(s); infinite where s is not the singular values of U diag(s) V^T
INLINE rbt_lane local_value(const local_problem *q, const rbt_lane s[3]) {
    rbt_lane_invariants I;
    rbt_lane value = psi_of_stretches(q, s, &I).psi;
    for (int i = 0; i < 3; i++) value += 0.5 * q->weight * (s[i] - q->target[i]) * (s[i] - q->target[i]);
    rbt_lane_mask inside = (s[0] + s[1] > -1e-9) & (s[1] + s[2] > -1e-9) & (s[2] + s[0] > -1e-9);
    return lane_select(inside, value, lane_of(INFINITY));
}

// Cofactors of the symmetric A (diagonal d, off-diagonal o[k] opposite of k): c likewise; returns det A.
INLINE rbt_lane symmetric_cofactors(const rbt_lane d[3], const rbt_lane o[3], rbt_lane c[3], rbt_lane e[3]) {
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        c[k] = d[i] * d[j] - o[k] * o[k];
        e[k] = o[i] * o[j] - d[k] * o[k];
    }
    return d[0] * c[0] + o[2] * e[2] + o[1] * e[1];
}

// The step -A^-1 phi'(s) with A = phi'' where that is positive definite and otherwise psi'' projected + k; returns
// its slope.
INLINE rbt_lane local_direction(const local_problem *q, const rbt_lane s[3], rbt_lane step[3]) {
    rbt_lane_invariants I;
    rbt_psi p = psi_of_stretches(q, s, &I);
    rbt_lane g[3], A[3], d[3], o[3], c[3], e[3];
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        rbt_lane area = s[i] * s[j], square = s[k] * s[k];
        g[k] = p.d1 + 2 * p.d2 * s[k] + p.d3 * area + q->weight * (s[k] - q->target[k]);
        A[k] = p.d11 + 4 * p.d22 * square + p.d33 * area * area + 2 * p.d2;
        o[k] = p.d11 + 4 * p.d22 * area + p.d33 * area * square + p.d3 * s[k];
        if (q->quartic) {
            g[k] += 4 * p.d4 * square * s[k];
            A[k] += 12 * p.d4 * square;
        }
        d[k] = A[k] + q->weight;
    }
    rbt_lane det = symmetric_cofactors(d, o, c, e);
    rbt_lane_mask bad = ~((d[0] > 0) & (c[2] > 0) & (det > 0));
    if (lane_any(bad)) {
        rbt_lane off[3] = {o[0], o[1], o[2]};
        project_stretches(A, off);
        for (int k = 0; k < 3; k++) {
            d[k] = lane_select(bad, A[k] + q->weight, d[k]);
            o[k] = lane_select(bad, off[k], o[k]);
        }
        det = symmetric_cofactors(d, o, c, e);
    }
    rbt_lane slope = lane_of(0), inverse = -1 / det;
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        step[k] = inverse * (c[k] * g[k] + e[j] * g[i] + e[i] * g[j]);
        slope += step[k] * g[k];
    }
    return slope;
}

// s <- s + a step, a = 1, 1/2, 1/4, … until phi falls as it should, up to rounding; only in the lanes to `move`.
// Lanes in which no length does stay where they are and are taken out of `move`.
INLINE rbt_lane_mask local_search(const local_problem *q, const rbt_lane step[3], rbt_lane slope, rbt_lane_mask move,
                                  rbt_lane s[3], rbt_lane *value) {
    rbt_lane length = lane_of(1), trial[3], reached;
    rbt_lane slack = 1e-15 * (q->mu + lane_abs(q->lambda) + q->weight + lane_abs(*value));
    rbt_lane_mask open = move;
    for (int k = 0; k < MAX_LOCAL_HALVINGS; k++) {
        for (int i = 0; i < 3; i++) trial[i] = s[i] + length * step[i];
        reached = local_value(q, trial);
        open = move & ~(reached <= *value + 1e-4 * length * slope + slack);
        if (!lane_any(open)) break;
        length = lane_select(open, 0.5 * length, length);
    }
    move &= ~open;
    for (int i = 0; i < 3; i++) s[i] = lane_select(move, trial[i], s[i]);
    *value = lane_select(move, reached, *value);
    return move;
}

// Where phi is least: at t, at `guess`, or, where t is nearly flat or inside out, at t with what is missing made up
// to a tenth. The last is allowed by every material, and away from barriers and saddles.
INLINE rbt_lane local_start(const local_problem *q, const rbt_lane guess[3], rbt_lane s[3]) {
    rbt_lane value = local_value(q, q->target), other = local_value(q, guess), thick[3];
    rbt_lane_mask better = other < value;
    for (int i = 0; i < 3; i++) s[i] = lane_select(better, guess[i], q->target[i]);
    value = lane_select(better, other, value);
    if (!lane_any(q->target[2] < 0.1)) return value;
    for (int i = 0; i < 3; i++) thick[i] = lane_max(q->target[i], lane_of(0.1));
    other = local_value(q, thick);
    better = ~(value <= other);
    for (int i = 0; i < 3; i++) s[i] = lane_select(better, thick[i], s[i]);
    return lane_select(better, other, value);
}

INLINE void local_minimum(const local_problem *q, const rbt_lane guess[3], rbt_lane s[3]) {
    rbt_lane value = local_start(q, guess, s), step[3];
    rbt_lane_mask move = value < INFINITY;
    for (int k = 0; k < MAX_LOCAL_STEPS && lane_any(move); k++) {
        rbt_lane slope = local_direction(q, s, step);
        rbt_lane size = s[0] * s[0] + s[1] * s[1] + s[2] * s[2] + 1;
        rbt_lane length = step[0] * step[0] + step[1] * step[1] + step[2] * step[2];
        move = local_search(q, step, slope, move, s, &value);
        move &= length > 1e-16 * size;  // Newton squares the error: after a step of 1e-8 nothing is left to gain
    }
}

// The springs' stress T = k (F - Z + u_new) = k (2 u_new - u_old) as forces; then u_old is forgotten.
INLINE void store_duals(const rbt_tet_batch *b, rbt_duals *duals, int o, const rbt_lane3 *u, size_t count,
                        double *gradient) {
    rbt_lane3 T;
    for (int i = 0; i < 9; i++) {
        T.at[i] = lane_load(&duals->weight[o]) * (2 * u->at[i] - lane_load(&duals->u[i][o]));
        lane_store(&duals->u[i][o], u->at[i]);
    }
    store_forces(b, o, &T, count, gradient);
}

// (a - b) / (t - u), or 0 where t and u cannot be told apart
INLINE rbt_lane divided(rbt_lane a, rbt_lane b, rbt_lane t, rbt_lane u) {
    rbt_lane gap = t - u;
    return lane_select(gap > 0, (a - b) / lane_select(gap > 0, gap, lane_of(1)), lane_of(0));
}

// w(S) for the symmetric S with eigenvalues t, and w at these: Newton's interpolation w_0 I + w_01 (S - t_0) + w_012
// (S - t_0) (S - t_1). Eigenvectors are not needed, nor that eigenvalues lie apart: the quotients of close ones are
// noise, but what they are multiplied with is as small.
INLINE void function_of_matrix(const rbt_lane3 *S, const rbt_lane t[3], const rbt_lane w[3], rbt_lane3 *W) {
    rbt_lane first = divided(w[0], w[1], t[0], t[1]), second = divided(w[1], w[2], t[1], t[2]);
    rbt_lane third = divided(first, second, t[0], t[2]);
    rbt_lane3 A = *S, B = *S, AB;
    for (int i = 0; i < 9; i += 4) {
        A.at[i] -= t[0];
        B.at[i] -= t[1];
    }
    lane_multiply(&A, &B, &AB);
    for (int i = 0; i < 9; i++) W->at[i] = first * A.at[i] + third * AB.at[i] + (i % 4 == 0 ? w[0] : lane_of(0));
}

INLINE void proximal_batches(const rbt_tet_batch *batches, rbt_duals *duals, size_t count, const double *x,
                             double *gradient, psi_function psi, bool quartic) {
    for (size_t first = 0; first < count; first += RBT_LANES) {
        const rbt_tet_batch *b = batches + first / RBT_W;
        rbt_duals *dual = duals + first / RBT_W;
        const int o = (int)(first % RBT_W);
        deformation d;  // of G
        rbt_lane3 S, W, u;
        rbt_lane guess[3], s[3], w[3];
        local_problem q = {.mu = lane_load(&b->k.mu[o]),
                           .lambda = lane_load(&b->k.lambda[o]),
                           .weight = lane_load(&dual->weight[o]),
                           .psi = psi,
                           .quartic = quartic};
        load_deformation(b, o, x, &d.F);
        for (int i = 0; i < 9; i++) d.F.at[i] += lane_load(&dual->u[i][o]);
        measure(&d, true, true);
        lane_multiply_transposed(&d.R, &d.F, &S);  // G = R S
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < i; j++) S.at[3 * i + j] = S.at[3 * j + i] = 0.5 * (S.at[3 * i + j] + S.at[3 * j + i]);
        lane_eigenvalues(&S, q.target);
        for (int k = 0; k < 3; k++) guess[k] = q.target[k] + lane_load(&dual->shift[k][o]);
        local_minimum(&q, guess, s);
        for (int k = 0; k < 3; k++) {
            w[k] = q.target[k] - s[k];
            lane_store(&dual->shift[k][o], -w[k]);
        }
        function_of_matrix(&S, q.target, w, &W);
        lane_multiply(&d.R, &W, &u);  // G - Z
        store_duals(b, dual, o, &u, count - first, gradient + 12 * first);
    }
}

// Linear elasticity is not rotation invariant, and quadratic: with e the strain of Z and f that of G, the rotations
// of Z and G are the same, the deviator of (2 mu + k) e is that of k f, and (2 mu + 3 lambda + k) tr e = k tr f.
static void proximal_linear(const rbt_tet_batch *batches, rbt_duals *duals, size_t count, const double *x,
                            double *gradient) {
    for (size_t first = 0; first < count; first += RBT_LANES) {
        const rbt_tet_batch *b = batches + first / RBT_W;
        rbt_duals *dual = duals + first / RBT_W;
        const int o = (int)(first % RBT_W);
        rbt_lane mu2 = 2 * lane_load(&b->k.mu[o]), lambda = lane_load(&b->k.lambda[o]);
        rbt_lane k = lane_load(&dual->weight[o]), deviator = mu2 / (mu2 + k);
        rbt_lane bulk = (mu2 + 3 * lambda) / (mu2 + 3 * lambda + k);
        rbt_lane3 G, u;
        load_deformation(b, o, x, &G);
        for (int i = 0; i < 9; i++) G.at[i] += lane_load(&dual->u[i][o]);
        rbt_lane third = (G.at[0] + G.at[4] + G.at[8] - 3) / 3;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                rbt_lane strain = 0.5 * (G.at[3 * i + j] + G.at[3 * j + i]) - (i == j);
                if (i == j) strain -= third;
                u.at[3 * i + j] = deviator * strain + (i == j ? bulk * third : lane_of(0));
            }
        store_duals(b, dual, o, &u, count - first, gradient + 12 * first);
    }
}

#define PROXIMAL(name, rotation, quartic, ...)                                                                       \
    static void proximal_##name(const rbt_tet_batch *b, rbt_duals *d, size_t n, const double *x, double *g) {        \
        proximal_batches(b, d, n, x, g, psi_##name, quartic);                                                        \
    }
RBT_MATERIAL_LIST(PROXIMAL, PROXIMAL, RBT_NO_MATERIAL)

#define PROXIMAL_ENTRY(name, ...) [RBT_TET_##name] = proximal_##name,
#define RBT_PROXIMAL_TABLE                                                                                           \
    { RBT_MATERIAL_LIST(PROXIMAL_ENTRY, PROXIMAL_ENTRY, PROXIMAL_ENTRY) }

#endif
