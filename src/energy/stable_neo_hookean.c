// Neo-Hookean elasticity without logarithm: finite and smooth through inversion
// (after Smith, de Goes, Kim, "Stable Neo-Hookean Flesh Simulation", ACM TOG 37(2), 2018, in its simplest form).
//
//   psi(F)  = mu/2 (|F|^2 - 3) - mu (J - 1) + lambda/2 (J - 1)^2,      J = det F
//   P(F)    = mu F + s cof F,                                          s = lambda (J - 1) - mu
//   dP/dF   = mu I + lambda cof F (x) cof F + s d(cof F)/dF,           d(cof F)_ij/dF_kl = e_ikm e_jln F_mn
//
// At F = I: dP = mu (dF + dF^T) + (lambda - mu) tr(dF) I, so linear elasticity's lambda is ours minus mu.
#include "energy/material.h"
#include "math/mat3_lanes.h"

static void parameters(double *mu, double *lambda) { *lambda += *mu; }

static void energy(const rbt_lame *k, const rbt_mat3_lanes *F, double psi[RBT_W]) {
    for (int l = 0; l < RBT_W; l++) {
        double C[9], J = rbt_cofactor_lane(F, l, C), square = 0;
        for (int i = 0; i < 9; i++) square += F->at[i][l] * F->at[i][l];
        psi[l] = 0.5 * k->mu[l] * (square - 3) + (0.5 * k->lambda[l] * (J - 1) - k->mu[l]) * (J - 1);
    }
}

static void stress(const rbt_lame *k, const rbt_mat3_lanes *F, rbt_mat3_lanes *P) {
    for (int l = 0; l < RBT_W; l++) {
        double C[9], J = rbt_cofactor_lane(F, l, C), s = k->lambda[l] * (J - 1) - k->mu[l];
        for (int i = 0; i < 9; i++) P->at[i][l] = k->mu[l] * F->at[i][l] + s * C[i];
    }
}

static void stiffness(const rbt_lame *k, const rbt_mat3_lanes *F, rbt_mat9_lanes *dPdF) {
    for (int l = 0; l < RBT_W; l++) {
        double C[9], J = rbt_cofactor_lane(F, l, C), s = k->lambda[l] * (J - 1) - k->mu[l];
        for (int a = 0; a < 9; a++)
            for (int b = 0; b < 9; b++) dPdF->at[9 * a + b][l] = k->lambda[l] * C[a] * C[b] + (a == b ? k->mu[l] : 0);
        // Rows i and columns j permute cyclically: i+1, i+2 and j+1, j+2 give the four non-zero products e_ikm e_jln.
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3, row = 9 * (3 * i + j);
                dPdF->at[row + 3 * i1 + j1][l] += s * F->at[3 * i2 + j2][l];
                dPdF->at[row + 3 * i2 + j2][l] += s * F->at[3 * i1 + j1][l];
                dPdF->at[row + 3 * i1 + j2][l] -= s * F->at[3 * i2 + j1][l];
                dPdF->at[row + 3 * i2 + j1][l] -= s * F->at[3 * i1 + j2][l];
            }
    }
}

extern const rbt_material RBT_STABLE_NEO_HOOKEAN;
const rbt_material RBT_STABLE_NEO_HOOKEAN = {
    .name = "stable-neo-hookean",
    .doc = "rubber and flesh; finite and smooth for any deformation, inversion included",
    .survives_inversion = true,
    .parameters = parameters,
    .energy = energy,
    .stress = stress,
    .stiffness = stiffness,
};
