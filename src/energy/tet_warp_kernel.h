// The kernel of rotation-strain warping (Huang et al. 2011), included by tet_kernel.h: F = I + omega + epsilon with
// omega skew and epsilon symmetric, as linear elasticity sees it, stands for T = exp(omega) (I + epsilon). Written
// are V (T - F) g_a.
//
//   exp(omega) - I = s omega + c omega^2,   omega^2 = w w^T - q I,   q = |w|^2 = angle^2,   s = sin(angle) / angle,
//   c = (1 - cos(angle)) / q
#ifndef RBT_ENERGY_TET_WARP_KERNEL_H
#define RBT_ENERGY_TET_WARP_KERNEL_H

// Up to a whole turn, from the series at a quarter of the angle, whose square is at most (pi/2)^2: eleven terms leave
// 1e-16. Twice the angle: s' = s cos, c' = s^2 / 2, cos = 1 - c angle^2.
INLINE void turn_factors(rbt_lane q, rbt_lane *s, rbt_lane *c) {
    // (-1)^k / (2 k + 1)! and (-1)^k / (2 k + 2)!
    static const double SINE[] = {1,
                                  -1.0 / 6,
                                  1.0 / 120,
                                  -1.0 / 5040,
                                  1.0 / 362880,
                                  -1.0 / 39916800,
                                  1.0 / 6227020800.0,
                                  -1.0 / 1307674368000.0,
                                  1.0 / 355687428096000.0,
                                  -1.0 / 121645100408832000.0,
                                  1.0 / 51090942171709440000.0};
    static const double COSINE[] = {1.0 / 2,
                                    -1.0 / 24,
                                    1.0 / 720,
                                    -1.0 / 40320,
                                    1.0 / 3628800,
                                    -1.0 / 479001600,
                                    1.0 / 87178291200.0,
                                    -1.0 / 20922789888000.0,
                                    1.0 / 6402373705728000.0,
                                    -1.0 / 2432902008176640000.0,
                                    1.0 / 1124000727777607680000.0};
    enum { LAST = sizeof SINE / sizeof *SINE - 1 };
    rbt_lane a = q / 16, sine = lane_of(SINE[LAST]), cosine = lane_of(COSINE[LAST]);
    for (int k = LAST - 1; k >= 0; k--) {
        sine = sine * a + SINE[k];
        cosine = cosine * a + COSINE[k];
    }
    for (int twice = 0; twice < 2; twice++) {
        rbt_lane next = sine * (1 - cosine * a);
        cosine = 0.5 * sine * sine;
        sine = next;
        a *= 4;
    }
    rbt_lane_mask far = q > 39;  // (2 pi)^2 = 39.5
    for (int l = 0; lane_any(far) && l < RBT_LANES; l++)
        if (far[l]) {
            double angle = sqrt(q[l]);
            sine[l] = sin(angle) / angle;
            cosine[l] = (1 - cos(angle)) / q[l];
        }
    *s = sine;
    *c = cosine;
}

static void warp_linear(const rbt_tet_batch *batches, size_t count, const double *x, double *result) {
    for (size_t first = 0; first < count; first += RBT_LANES) {
        const rbt_tet_batch *b = batches + first / RBT_W;
        const int o = (int)(first % RBT_W);
        rbt_lane3 F, E, strained, T;
        rbt_lane s, c, w[3];
        load_deformation(b, o, x, &F);
        w[0] = 0.5 * (F.at[7] - F.at[5]);
        w[1] = 0.5 * (F.at[2] - F.at[6]);
        w[2] = 0.5 * (F.at[3] - F.at[1]);
        rbt_lane q = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
        turn_factors(q, &s, &c);
        const rbt_lane none = lane_of(0), W[9] = {none, -w[2], w[1], w[2], none, -w[0], -w[1], w[0], none};
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                E.at[3 * i + j] = s * W[3 * i + j] + c * (w[i] * w[j] - (i == j ? q : none));
                strained.at[3 * i + j] = 0.5 * (F.at[3 * i + j] + F.at[3 * j + i]);
            }
        lane_multiply(&E, &strained, &T);
        for (int i = 0; i < 9; i++) T.at[i] -= W[i];
        store_forces(b, o, &T, count - first, result + 12 * first);
    }
}

#endif
