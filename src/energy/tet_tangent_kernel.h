// The tangent of tets as a map, without a matrix: what of it depends on x is stored once, then applied to any
// direction p.
//   dF = Ds(p) B,   dP = dP/dF : dF,   (K p)_a = V dP g_a
// Hyperelastic materials store U, V and the spectrum of dP/dF (tet_kernel.h): S = U^T dF V, dP = U D V^T with
//   D_ii = A_i S_ii + o_k S_jj + o_j S_kk,      D_ij = sum_k S_ij + half_k S_ji
// Corotational ones store R:  S = R^T dF,  dP = R (mu (S + S^T) + lambda tr(S) I); linear ones nothing.
// Numbers lie in lanes, as in rbt_tet_batch: number k of tet l of a batch is store[RBT_W k + l]. p and the result lie
// in places (tet_force_kernel.h).
#ifndef RBT_ENERGY_TET_TANGENT_KERNEL_H
#define RBT_ENERGY_TET_TANGENT_KERNEL_H

enum { SPECTRUM_DOUBLES = 30 };

INLINE void store_lanes(double *store, int o, const rbt_lane *values, int count) {
    for (int k = 0; k < count; k++) lane_store(store + RBT_W * k + o, values[k]);
}

INLINE void load_lanes(const double *store, int o, rbt_lane *values, int count) {
    for (int k = 0; k < count; k++) values[k] = lane_load(store + RBT_W * k + o);
}

INLINE void tangent_batches(const rbt_tet_batch *batches, size_t count, const double *x, double *store,
                            psi_function psi, bool rotation, bool quartic) {
    for (size_t first = 0; first < count; first += RBT_LANES) {
        const int o = (int)(first % RBT_W);
        double *own = store + first / RBT_W * SPECTRUM_DOUBLES * RBT_W;
        spectrum d;
        decompose(batches + first / RBT_W, o, x, psi, rotation, quartic, false, &d);
        store_lanes(own, o, d.U.at, 9);
        store_lanes(own + 9 * RBT_W, o, d.V.at, 9);
        store_lanes(own + 18 * RBT_W, o, d.A, 3);
        store_lanes(own + 21 * RBT_W, o, d.o, 3);
        store_lanes(own + 24 * RBT_W, o, d.sum, 3);
        store_lanes(own + 27 * RBT_W, o, d.half, 3);
    }
}

INLINE void spectrum_stress(const double *store, int o, const rbt_lane3 *F, rbt_lane3 *P) {
    spectrum d;
    rbt_lane3 T, S, D;
    load_lanes(store, o, d.U.at, 9);
    load_lanes(store + 9 * RBT_W, o, d.V.at, 9);
    load_lanes(store + 18 * RBT_W, o, d.A, 3);
    load_lanes(store + 21 * RBT_W, o, d.o, 3);
    load_lanes(store + 24 * RBT_W, o, d.sum, 3);
    load_lanes(store + 27 * RBT_W, o, d.half, 3);
    lane_multiply(F, &d.V, &T);
    lane_multiply_transposed(&d.U, &T, &S);
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        D.at[4 * i] = d.A[i] * S.at[4 * i] + d.o[k] * S.at[4 * j] + d.o[j] * S.at[4 * k];
        D.at[3 * i + j] = d.sum[k] * S.at[3 * i + j] + d.half[k] * S.at[3 * j + i];
        D.at[3 * j + i] = d.sum[k] * S.at[3 * j + i] + d.half[k] * S.at[3 * i + j];
    }
    lane_multiply(&d.U, &D, &T);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            P->at[3 * i + j] = T.at[3 * i] * d.V.at[3 * j] + T.at[3 * i + 1] * d.V.at[3 * j + 1] +
                               T.at[3 * i + 2] * d.V.at[3 * j + 2];
}

// store: NULL for linear elasticity, R = I
INLINE void warped_stress(const rbt_tet_batch *b, const double *store, int o, const rbt_lane3 *F, rbt_lane3 *P) {
    rbt_lane mu = lane_load(&b->k.mu[o]), lambda = lane_load(&b->k.lambda[o]);
    rbt_lane3 R, S, T;
    S = *F;
    if (store) {
        load_lanes(store, o, R.at, 9);
        lane_multiply_transposed(&R, F, &S);
    }
    rbt_lane trace = lambda * (S.at[0] + S.at[4] + S.at[8]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            T.at[3 * i + j] = mu * (S.at[3 * i + j] + S.at[3 * j + i]) + (i == j ? trace : lane_of(0));
    *P = T;
    if (store) lane_multiply(&R, &T, P);
}

// size: numbers per tet in store
INLINE void apply_batches(const rbt_tet_batch *batches, size_t count, const double *store, int size,
                          const uint16_t *place, const double *p, double *sum) {
    uint16_t filled[4 * SOME];
    for (size_t first = 0; first < count; first += RBT_W) {
        const rbt_tet_batch *b = batches + first / RBT_W;
        const uint16_t *own = fill_places(place + 4 * first, count - first, filled);
        for (int o = 0; o < RBT_W && first + (size_t)o < count; o += RBT_LANES) {
            rbt_lane3 F, P;
            rbt_lane volume = lane_load(&b->volume[o]);
            deform(b, o, own + 4 * o, p, &F);
            if (size == SPECTRUM_DOUBLES) spectrum_stress(store + first * SPECTRUM_DOUBLES, o, &F, &P);
            else warped_stress(b, size ? store + first * 9 : NULL, o, &F, &P);
            for (int i = 0; i < 9; i++) P.at[i] *= volume;
            add_forces(b, o, &P, count - first - (size_t)o, own + 4 * o, sum);
        }
    }
}

static void apply_spectrum(const rbt_tet_batch *b, size_t n, const double *store, const uint16_t *place,
                           const double *p, double *sum) {
    apply_batches(b, n, store, SPECTRUM_DOUBLES, place, p, sum);
}

// The tets of a batch at once, as in tet_force_kernel.h
static void tangent_rotation(const rbt_tet_batch *batches, size_t count, const double *x, double *store) {
    enum { BOTH = RBT_W / RBT_LANES };
    for (size_t first = 0; first < count; first += RBT_W) {
        deformation d[BOTH];
        rbt_lane_invariants I[BOTH];
        rbt_lane_mask bad[BOTH];
        for (int k = 0; k < BOTH; k++) {
            load_deformation(batches + first / RBT_W, k * RBT_LANES, x, &d[k].F);
            lane_squares(&d[k].F, &I[k], &d[k].C, &d[k].cofactor);
        }
        lane_sums_of_stretches(I, bad, BOTH);
        for (int k = 0; k < BOTH; k++) {
            lane_rotation(&d[k].F, &I[k], &d[k].C, &d[k].cofactor, bad[k], &d[k].R);
            store_lanes(store + first * 9, k * RBT_LANES, d[k].R.at, 9);
        }
    }
}

static void apply_rotation(const rbt_tet_batch *b, size_t n, const double *store, const uint16_t *place,
                           const double *p, double *sum) {
    apply_batches(b, n, store, 9, place, p, sum);
}

static void tangent_nothing(const rbt_tet_batch *b, size_t n, const double *x, double *store) {
    (void)b, (void)n, (void)x, (void)store;
}

static void apply_linear(const rbt_tet_batch *b, size_t n, const double *store, const uint16_t *place,
                         const double *p, double *sum) {
    (void)store;
    apply_batches(b, n, NULL, 0, place, p, sum);
}

#endif
