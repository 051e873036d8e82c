// Isotropic materials as functions of four invariants of the deformation gradient, with sigma its signed singular
// values:
//     I1 = sum sigma = tr S,   I2 = sum sigma^2 = |F|^2,   I3 = product sigma = det F,   I4 = sum sigma^4 = |F^T F|^2.
// A material is its energy density psi and the derivatives of psi by these; stress and stiffness follow for all of them
// (tet_kernel.h). Only psi_11, psi_22 and psi_33 are kept: no material here mixes two invariants or bends with I4.
#ifndef RBT_ENERGY_INVARIANT_MATERIAL_H
#define RBT_ENERGY_INVARIANT_MATERIAL_H

#include "math/svd_lane.h"

typedef struct rbt_psi {
    rbt_lane psi;             // [J/m^3]
    rbt_lane d1, d2, d3, d4;  // d psi / d I
    rbt_lane d11, d22, d33;   // second derivatives
} rbt_psi;

static inline rbt_psi psi_zero(void) {
    rbt_lane o = lane_of(0);
    return (rbt_psi){o, o, o, o, o, o, o, o};
}

// psi = mu/2 (I2 - 3) - mu (J - 1) + lambda/2 (J - 1)^2: finite and smooth through inversion (Smith et al. 2018,
// simplest form). At rest dP = mu (dF + dF^T) + (lambda - mu) tr(dF) I, so linear elasticity's lambda is this one
// minus mu.
static inline rbt_psi psi_stable_neo_hookean(rbt_lane mu, rbt_lane lambda, const rbt_lane_invariants *I) {
    rbt_psi p = psi_zero();
    rbt_lane grown = I->I3 - 1;
    p.psi = 0.5 * mu * (I->I2 - 3) + (0.5 * lambda * grown - mu) * grown;
    p.d2 = 0.5 * mu;
    p.d3 = lambda * grown - mu;
    p.d33 = lambda;
    return p;
}

// psi = mu/2 (I2 - 3) - mu log J + lambda/2 (log J)^2; infinite where J <= 0, and the derivatives are not numbers there
static inline rbt_psi psi_neo_hookean(rbt_lane mu, rbt_lane lambda, const rbt_lane_invariants *I) {
    rbt_psi p = psi_zero();
    rbt_lane L = lane_log(I->I3), inverse = 1 / I->I3;
    p.psi = lane_select(I->I3 > 0, 0.5 * mu * (I->I2 - 3) + (0.5 * lambda * L - mu) * L, lane_of(INFINITY));
    p.d2 = 0.5 * mu;
    p.d3 = (lambda * L - mu) * inverse;
    p.d33 = (lambda * (1 - L) + mu) * inverse * inverse;
    return p;
}

// St. Venant-Kirchhoff: psi = mu |E|^2 + lambda/2 (tr E)^2, E = (F^T F - I) / 2
static inline rbt_psi psi_st_venant_kirchhoff(rbt_lane mu, rbt_lane lambda, const rbt_lane_invariants *I) {
    rbt_psi p = psi_zero();
    rbt_lane trace = 0.5 * (I->I2 - 3);
    p.psi = 0.25 * mu * (I->I4 - 2 * I->I2 + 3) + 0.5 * lambda * trace * trace;
    p.d2 = 0.5 * (lambda * trace - mu);
    p.d4 = 0.25 * mu;
    p.d22 = 0.25 * lambda;
    return p;
}

// psi = mu |F - R|^2 + lambda/2 (J - 1)^2 (Stomakhin et al. 2012)
static inline rbt_psi psi_fixed_corotated(rbt_lane mu, rbt_lane lambda, const rbt_lane_invariants *I) {
    rbt_psi p = psi_zero();
    rbt_lane grown = I->I3 - 1;
    p.psi = mu * (I->I2 - 2 * I->I1 + 3) + 0.5 * lambda * grown * grown;
    p.d1 = -2 * mu;
    p.d2 = mu;
    p.d3 = lambda * grown;
    p.d33 = lambda;
    return p;
}

// Corotational linear elasticity: psi = mu |S - I|^2 + lambda/2 tr(S - I)^2. Its force is Mueller and Gross's R K
// (R^T x - X).
static inline rbt_psi psi_corotational(rbt_lane mu, rbt_lane lambda, const rbt_lane_invariants *I) {
    rbt_psi p = psi_zero();
    rbt_lane trace = I->I1 - 3;
    p.psi = mu * (I->I2 - 2 * I->I1 + 3) + 0.5 * lambda * trace * trace;
    p.d1 = lambda * trace - 2 * mu;
    p.d2 = mu;
    p.d11 = lambda;
    return p;
}

// As rigid as possible: psi = mu |F - R|^2
static inline rbt_psi psi_arap(rbt_lane mu, rbt_lane lambda, const rbt_lane_invariants *I) {
    rbt_psi p = psi_zero();
    (void)lambda;
    p.psi = mu * (I->I2 - 2 * I->I1 + 3);
    p.d1 = -2 * mu;
    p.d2 = mu;
    return p;
}

#endif
