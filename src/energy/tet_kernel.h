// The element kernels, compiled once per instruction set by the files tet_kernels_*.c. Pure functions over batches of
// tets: no memory, no threads, no globals.
//
//   F = Ds B,   W = V psi(F),   dW/dx_a = V P g_a,   d^2W/dx_a dx_b = V g_a : dP/dF : g_b
//
// with g_1..3 the rows of B and g_0 = -(g_1 + g_2 + g_3). For a material of the invariants of invariant_material.h
//
//   P = psi_1 R + 2 psi_2 F + psi_3 cof F + 4 psi_4 F C,       C = F^T F
//
// and in the frames of F = U diag(sigma) V^T the 9x9 matrix dP/dF falls apart (Smith, de Goes, Kim, "Analytic
// Eigensystems for Isotropic Distortion Energies", 2019) into a 3x3 block A on the stretches,
//
//   A_ii = psi_11 + 4 psi_22 s_i^2 + psi_33 c_i^2 + 2 psi_2 + 12 psi_4 s_i^2,          c_i = s_j s_k
//   A_ij = psi_11 + 4 psi_22 s_i s_j + psi_33 c_i c_j + psi_3 s_k
//
// and for each plane (i, j) a symmetric and an antisymmetric direction with the eigenvalues
//
//   flip_k  = 2 psi_2 - psi_3 s_k + 4 psi_4 (s_i^2 + s_i s_j + s_j^2)
//   twist_k = 2 psi_2 + psi_3 s_k + 4 psi_4 (s_i^2 - s_i s_j + s_j^2) + 2 psi_1 / (s_i + s_j).
//
// The projected stiffness replaces negative eigenvalues of all three by 0.
#ifndef RBT_ENERGY_TET_KERNEL_H
#define RBT_ENERGY_TET_KERNEL_H

#include "energy/invariant_material.h"
#include "energy/tet_kernels.h"

typedef rbt_psi (*psi_function)(rbt_lane mu, rbt_lane lambda, const rbt_lane_invariants *I);

#define INLINE static inline __attribute__((always_inline))

INLINE void load_deformation(const rbt_tet_batch *b, int o, const double *x, rbt_lane3 *F) {
    rbt_lane d[3][3];  // d[a][i]: component i of x_{a+1} - x_0
    for (int i = 0; i < 3; i++) {
        rbt_lane first;
        for (int l = 0; l < RBT_LANES; l++) first[l] = x[3 * (size_t)b->node[0][o + l] + (size_t)i];
        for (int a = 0; a < 3; a++) {
            rbt_lane corner;
            for (int l = 0; l < RBT_LANES; l++) corner[l] = x[3 * (size_t)b->node[a + 1][o + l] + (size_t)i];
            d[a][i] = corner - first;
        }
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            F->at[3 * i + j] = d[0][i] * lane_load(&b->B[j][o]) + d[1][i] * lane_load(&b->B[3 + j][o]) +
                               d[2][i] * lane_load(&b->B[6 + j][o]);
}

// Invariants and, where the material needs them, C, cof F and R
typedef struct deformation {
    rbt_lane3 F, C, cofactor, R;
    rbt_lane_invariants I;
} deformation;

INLINE void measure(deformation *d, bool rotation, bool need_R) {
    lane_squares(&d->F, &d->I, &d->C, &d->cofactor);
    d->I.I1 = lane_of(0);
    if (!rotation) return;
    if (need_R) {
        lane_polar(&d->F, &d->I, &d->C, &d->cofactor, &d->R);
        return;
    }
    rbt_lane_mask bad = lane_sum_of_stretches(&d->I);
    if (lane_any(bad)) lane_polar(&d->F, &d->I, &d->C, &d->cofactor, &d->R);
}

// The first `count` lanes, or all if there are no more
INLINE void store_energies(rbt_lane w, size_t count, double *energy) {
    if (count >= RBT_LANES) lane_store(energy, w);
    else
        for (size_t l = 0; l < count; l++) energy[l] = w[l];
}

INLINE void energy_batches(const rbt_tet_batch *batches, size_t count, const double *x, double *energy,
                           psi_function psi, bool rotation) {
    for (size_t first = 0; first < count; first += RBT_LANES) {
        const rbt_tet_batch *b = batches + first / RBT_W;
        const int o = (int)(first % RBT_W);
        deformation d;
        load_deformation(b, o, x, &d.F);
        measure(&d, rotation, false);
        rbt_lane w = psi(lane_load(&b->k.mu[o]), lane_load(&b->k.lambda[o]), &d.I).psi * lane_load(&b->volume[o]);
        store_energies(w, count - first, energy + first);
    }
}

// V P g_a for the four corners of each tet
INLINE void store_forces(const rbt_tet_batch *b, int o, const rbt_lane3 *P, size_t count, double *gradient) {
    rbt_lane volume = lane_load(&b->volume[o]), g[12];
    for (int i = 0; i < 3; i++) {
        rbt_lane sum = lane_of(0);
        for (int a = 0; a < 3; a++) {
            rbt_lane dot = P->at[3 * i] * lane_load(&b->B[3 * a][o]) +
                           P->at[3 * i + 1] * lane_load(&b->B[3 * a + 1][o]) +
                           P->at[3 * i + 2] * lane_load(&b->B[3 * a + 2][o]);
            g[3 * (a + 1) + i] = volume * dot;
            sum += g[3 * (a + 1) + i];
        }
        g[i] = -sum;
    }
    for (int l = 0; l < RBT_LANES && (size_t)l < count; l++)
        for (int i = 0; i < 12; i++) gradient[12 * l + i] = g[i][l];
}

INLINE void gradient_batches(const rbt_tet_batch *batches, size_t count, const double *x, double *energy,
                             double *gradient, psi_function psi, bool rotation, bool quartic) {
    for (size_t first = 0; first < count; first += RBT_LANES) {
        const rbt_tet_batch *b = batches + first / RBT_W;
        const int o = (int)(first % RBT_W);
        deformation d;
        rbt_lane3 P, FC;
        load_deformation(b, o, x, &d.F);
        measure(&d, rotation, true);
        rbt_psi p = psi(lane_load(&b->k.mu[o]), lane_load(&b->k.lambda[o]), &d.I);
        for (int i = 0; i < 9; i++) P.at[i] = 2 * p.d2 * d.F.at[i] + p.d3 * d.cofactor.at[i];
        if (rotation)
            for (int i = 0; i < 9; i++) P.at[i] += p.d1 * d.R.at[i];
        if (quartic) {
            lane_multiply(&d.F, &d.C, &FC);
            for (int i = 0; i < 9; i++) P.at[i] += 4 * p.d4 * FC.at[i];
        }
        store_forces(b, o, &P, count - first, gradient + 12 * first);
        if (!energy) continue;
        rbt_lane w = p.psi * lane_load(&b->volume[o]);
        store_energies(w, count - first, energy + first);
    }
}

// Blocks of corners 1..3 are in K[pair]; corner 0 follows, since a rigid shift does no work: K_a0 = -(K_a1 + K_a2 +
// K_a3).
INLINE void store_blocks(rbt_lane K[10][9], size_t count, double *blocks) {
    static const int pair[3][3] = {{2, 4, 7}, {4, 5, 8}, {7, 8, 9}};  // pair number of corners (a + 1, c + 1)
    for (int i = 0; i < 9; i++) K[0][i] = lane_of(0);
    for (int a = 0; a < 3; a++) {
        rbt_lane *to = K[(a + 1) * (a + 2) / 2];
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) {
                rbt_lane sum = lane_of(0);
                for (int c = 0; c < 3; c++) sum += K[pair[a][c]][c <= a ? 3 * i + k : 3 * k + i];
                to[3 * i + k] = -sum;
            }
        for (int i = 0; i < 9; i++) K[0][i] -= to[i];
    }
    for (int l = 0; l < RBT_LANES && (size_t)l < count; l++)
        for (int n = 0; n < 10; n++)
            for (int i = 0; i < 9; i++) blocks[RBT_TET_BLOCK_DOUBLES * l + 9 * n + i] = K[n][i][l];
}

// The rows of B times a matrix: out[a] = M g_{a+1}
INLINE void turn_gradients(const rbt_tet_batch *b, int o, const rbt_lane3 *M, bool transposed, rbt_lane out[3][3]) {
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < 3; i++) {
            out[a][i] = lane_of(0);
            for (int j = 0; j < 3; j++)
                out[a][i] += M->at[transposed ? 3 * j + i : 3 * i + j] * lane_load(&b->B[3 * a + j][o]);
        }
}

// Replaces the negative eigenvalues of the symmetric A (diagonal d, off-diagonal o[k] opposite of k) by 0, where it
// has any.
INLINE void project_stretches(rbt_lane d[3], rbt_lane o[3]) {
    // Leading minors of A: all positive means positive definite.
    rbt_lane second = d[0] * d[1] - o[2] * o[2];
    rbt_lane third = d[2] * second - d[0] * o[0] * o[0] - d[1] * o[1] * o[1] + 2 * o[0] * o[1] * o[2];
    rbt_lane_mask bad = ~((d[0] > 0) & (second > 0) & (third > 0));
    if (!lane_any(bad)) return;
    rbt_lane3 S = {{d[0], o[2], o[1], o[2], d[1], o[0], o[1], o[0], d[2]}}, V;
    rbt_lane value[3];
    lane_eigen(&S, value, &V);
    for (int k = 0; k < 3; k++) value[k] = lane_max(value[k], lane_of(0));
#define ENTRY(i, j)                                                                                                  \
    (V.at[3 * (i)] * value[0] * V.at[3 * (j)] + V.at[3 * (i) + 1] * value[1] * V.at[3 * (j) + 1] +                   \
     V.at[3 * (i) + 2] * value[2] * V.at[3 * (j) + 2])
    for (int i = 0; i < 3; i++) {
        d[i] = lane_select(bad, ENTRY(i, i), d[i]);
        o[i] = lane_select(bad, ENTRY((i + 1) % 3, (i + 2) % 3), o[i]);
    }
#undef ENTRY
}

// dP/dF in the frames of U and V, as above: stretches with the diagonal A and, opposite to k, o; the planes' sums and
// halves of flip and twist
typedef struct spectrum {
    rbt_lane3 U, V;
    rbt_lane A[3], o[3], sum[3], half[3];
} spectrum;

INLINE void decompose(const rbt_tet_batch *b, int off, const double *x, psi_function psi, bool rotation, bool quartic,
                      bool projected, spectrum *d) {
    rbt_lane3 F;
    rbt_lane s[3];
    rbt_lane_invariants I;
    load_deformation(b, off, x, &F);
    lane_svd(&F, &d->U, s, &d->V, &I);
    rbt_psi p = psi(lane_load(&b->k.mu[off]), lane_load(&b->k.lambda[off]), &I);
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        rbt_lane c = s[i] * s[j], ci = s[j] * s[k], cj = s[i] * s[k];
        d->A[k] = p.d11 + 4 * p.d22 * s[k] * s[k] + p.d33 * c * c + 2 * p.d2;
        d->o[k] = p.d11 + 4 * p.d22 * s[i] * s[j] + p.d33 * ci * cj + p.d3 * s[k];
        rbt_lane flip = 2 * p.d2 - p.d3 * s[k], twist = 2 * p.d2 + p.d3 * s[k];
        if (quartic) {
            rbt_lane squares = s[i] * s[i] + s[j] * s[j];
            d->A[k] += 12 * p.d4 * s[k] * s[k];
            flip += 4 * p.d4 * (squares + s[i] * s[j]);
            twist += 4 * p.d4 * (squares - s[i] * s[j]);
        }
        if (rotation) {
            rbt_lane both = s[i] + s[j];
            twist += 2 * p.d1 / lane_select(lane_abs(both) > 1e-9, both, lane_of(1e-9));
        }
        if (projected) {
            flip = lane_max(flip, lane_of(0));
            twist = lane_max(twist, lane_of(0));
        }
        d->sum[k] = 0.5 * (flip + twist);
        d->half[k] = 0.5 * (flip - twist);
    }
    if (projected) project_stretches(d->A, d->o);
}

INLINE void stiffness_batches(const rbt_tet_batch *batches, size_t count, const double *x, double *blocks,
                              psi_function psi, bool rotation, bool quartic, bool projected) {
    for (size_t first = 0; first < count; first += RBT_LANES) {
        const rbt_tet_batch *b = batches + first / RBT_W;
        const int off = (int)(first % RBT_W);
        spectrum d;
        rbt_lane g[3][3], K[10][9];
        decompose(b, off, x, psi, rotation, quartic, projected, &d);
        turn_gradients(b, off, &d.V, true, g);
        rbt_lane volume = lane_load(&b->volume[off]);
        for (int a = 0; a < 3; a++)
            for (int c = 0; c <= a; c++) {
                rbt_lane3 D, UD;  // in the frames of U and V: D, then K = U D U^T
                rbt_lane same[3];
                for (int i = 0; i < 3; i++) same[i] = g[a][i] * g[c][i];
                for (int i = 0; i < 3; i++) {
                    int j = (i + 1) % 3, k = (i + 2) % 3;
                    D.at[4 * i] = volume * (d.A[i] * same[i] + d.sum[k] * same[j] + d.sum[j] * same[k]);
                    D.at[3 * i + j] = volume * (d.o[k] * g[a][i] * g[c][j] + d.half[k] * g[a][j] * g[c][i]);
                    D.at[3 * j + i] = volume * (d.o[k] * g[a][j] * g[c][i] + d.half[k] * g[a][i] * g[c][j]);
                }
                lane_multiply(&d.U, &D, &UD);
                rbt_lane *to = K[(a + 1) * (a + 2) / 2 + c + 1];
                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < 3; j++)
                        to[3 * i + j] = UD.at[3 * i] * d.U.at[3 * j] + UD.at[3 * i + 1] * d.U.at[3 * j + 1] +
                                        UD.at[3 * i + 2] * d.U.at[3 * j + 2];
            }
        store_blocks(K, count - first, blocks + RBT_TET_BLOCK_DOUBLES * first);
    }
}

// ---- Linear elasticity: P = mu (F + F^T - 2 I) + lambda tr(F - I) I

INLINE rbt_lane linear_stress(const rbt_lane3 *F, rbt_lane mu, rbt_lane lambda, rbt_lane3 *P) {
    rbt_lane trace = F->at[0] + F->at[4] + F->at[8] - 3, psi = 0.5 * lambda * trace * trace;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            rbt_lane strain = 0.5 * (F->at[3 * i + j] + F->at[3 * j + i]) - (i == j);
            P->at[3 * i + j] = 2 * mu * strain + (i == j ? lambda * trace : lane_of(0));
            psi += mu * strain * strain;
        }
    return psi;
}

INLINE void linear_batches(const rbt_tet_batch *batches, size_t count, const double *x, double *energy,
                           double *gradient) {
    for (size_t first = 0; first < count; first += RBT_LANES) {
        const rbt_tet_batch *b = batches + first / RBT_W;
        const int o = (int)(first % RBT_W);
        rbt_lane3 F, P;
        load_deformation(b, o, x, &F);
        rbt_lane w =
            linear_stress(&F, lane_load(&b->k.mu[o]), lane_load(&b->k.lambda[o]), &P) * lane_load(&b->volume[o]);
        if (gradient) store_forces(b, o, &P, count - first, gradient + 12 * first);
        if (energy) store_energies(w, count - first, energy + first);
    }
}

// K_ab = V (lambda h_a h_b^T + mu h_b h_a^T + mu (h_a.h_b) I) with h_a = R g_a: linear elasticity's stiffness turned
// by R (Mueller and Gross 2004); R = I gives linear elasticity itself.
INLINE void warped_batches(const rbt_tet_batch *batches, size_t count, const double *x, double *blocks, bool linear) {
    for (size_t first = 0; first < count; first += RBT_LANES) {
        const rbt_tet_batch *b = batches + first / RBT_W;
        const int o = (int)(first % RBT_W);
        deformation d;
        rbt_lane h[3][3], K[10][9];
        rbt_lane mu = lane_load(&b->k.mu[o]) * lane_load(&b->volume[o]);
        rbt_lane lambda = lane_load(&b->k.lambda[o]) * lane_load(&b->volume[o]);
        if (linear) {
            for (int a = 0; a < 3; a++)
                for (int i = 0; i < 3; i++) h[a][i] = lane_load(&b->B[3 * a + i][o]);
        } else {
            load_deformation(b, o, x, &d.F);
            measure(&d, true, true);
            turn_gradients(b, o, &d.R, false, h);
        }
        for (int a = 0; a < 3; a++)
            for (int c = 0; c <= a; c++) {
                rbt_lane *to = K[(a + 1) * (a + 2) / 2 + c + 1];
                rbt_lane dot = mu * (h[a][0] * h[c][0] + h[a][1] * h[c][1] + h[a][2] * h[c][2]);
                for (int i = 0; i < 3; i++)
                    for (int k = 0; k < 3; k++)
                        to[3 * i + k] =
                            lambda * h[a][i] * h[c][k] + mu * h[c][i] * h[a][k] + (i == k ? dot : lane_of(0));
            }
        store_blocks(K, count - first, blocks + RBT_TET_BLOCK_DOUBLES * first);
    }
}

// |C - I|^2 = I4 - 2 I2 + 3; C does not see whether a tet is inside out
static void strain_batches(const rbt_tet_batch *batches, size_t count, const double *x, double *square) {
    for (size_t first = 0; first < count; first += RBT_LANES) {
        rbt_lane3 F, C, cofactor;
        rbt_lane_invariants I;
        load_deformation(batches + first / RBT_W, (int)(first % RBT_W), x, &F);
        lane_upper_squares(&F, &I, &C, &cofactor);
        rbt_lane own = lane_select(I.I3 > 0, I.I4 - 2 * I.I2 + 3, lane_of(INFINITY));
        store_energies(own, count - first, square + first);
    }
}

#include "energy/tet_force_kernel.h"
#include "energy/tet_tangent_kernel.h"
#include "energy/tet_warp_kernel.h"

// ---- The table of one instruction set

#define INVARIANT_KERNELS(name, rotation, quartic)                                                                   \
    static void energy_##name(const rbt_tet_batch *b, size_t n, const double *x, double *e) {                        \
        energy_batches(b, n, x, e, psi_##name, rotation);                                                            \
    }                                                                                                                \
    static void gradient_##name(const rbt_tet_batch *b, size_t n, const double *x, double *e, double *g) {           \
        gradient_batches(b, n, x, e, g, psi_##name, rotation, quartic);                                              \
    }                                                                                                                \
    static void sum_##name(const rbt_tet_batch *b, size_t n, const uint16_t *place, const double *y, double *e,      \
                           double *sum) {                                                                            \
        sum_batches(b, n, place, y, e, sum, psi_##name, rotation, quartic);                                          \
    }                                                                                                                \
    static void hessian_##name(const rbt_tet_batch *b, size_t n, const double *x, double *k) {                       \
        stiffness_batches(b, n, x, k, psi_##name, rotation, quartic, false);                                         \
    }                                                                                                                \
    static void projected_##name(const rbt_tet_batch *b, size_t n, const double *x, double *k) {                     \
        stiffness_batches(b, n, x, k, psi_##name, rotation, quartic, true);                                          \
    }

#define TANGENT_KERNEL(name, rotation, quartic)                                                                      \
    static void tangent_##name(const rbt_tet_batch *b, size_t n, const double *x, double *t) {                       \
        tangent_batches(b, n, x, t, psi_##name, rotation, quartic);                                                  \
    }

#define BOTH_KERNELS(name, rotation, quartic, ...)                                                                   \
    INVARIANT_KERNELS(name, rotation, quartic)                                                                       \
    TANGENT_KERNEL(name, rotation, quartic)
#define NO_TANGENT_KERNEL(name, rotation, quartic, ...) INVARIANT_KERNELS(name, rotation, quartic)
RBT_MATERIAL_LIST(BOTH_KERNELS, NO_TANGENT_KERNEL, RBT_NO_MATERIAL)

static void energy_linear(const rbt_tet_batch *b, size_t n, const double *x, double *e) {
    linear_batches(b, n, x, e, NULL);
}
static void gradient_linear(const rbt_tet_batch *b, size_t n, const double *x, double *e, double *g) {
    linear_batches(b, n, x, e, g);
}
static void hessian_linear(const rbt_tet_batch *b, size_t n, const double *x, double *k) {
    warped_batches(b, n, x, k, true);
}
static void warped_corotational(const rbt_tet_batch *b, size_t n, const double *x, double *k) {
    warped_batches(b, n, x, k, false);
}

#define KERNELS(name, ...)                                                                                           \
    [RBT_TET_##name] = {                                                                                             \
        energy_##name,    gradient_##name, sum_##name,     {hessian_##name, projected_##name, hessian_##name},       \
        SPECTRUM_DOUBLES, tangent_##name,  apply_spectrum, NULL,                                                     \
        strain_batches},
#define WARPED_KERNELS(name, ...)                                                                                    \
    [RBT_TET_##name] = {energy_##name,                                                                               \
                        gradient_##name,                                                                             \
                        sum_##name,                                                                                  \
                        {hessian_##name, projected_##name, warped_##name},                                           \
                        9,                                                                                           \
                        tangent_rotation,                                                                            \
                        apply_rotation,                                                                              \
                        NULL,                                                                                        \
                        strain_batches},
#define LINEAR_KERNELS(name, ...)                                                                                    \
    [RBT_TET_##name] = {energy_##name,                                                                               \
                        gradient_##name,                                                                             \
                        sum_##name,                                                                                  \
                        {hessian_##name, hessian_##name, hessian_##name},                                            \
                        0,                                                                                           \
                        tangent_nothing,                                                                             \
                        apply_##name,                                                                                \
                        warp_##name,                                                                                 \
                        strain_batches},

#define RBT_TET_KERNEL_TABLE                                                                                         \
    { RBT_MATERIAL_LIST(KERNELS, WARPED_KERNELS, LINEAR_KERNELS) }

#endif
