// Forces of tets, summed up where they are made: positions y and sums lie in places of four numbers (x, y, z and a
// spare one), one for every node of a chunk (model/plan.h), and place[4 e + a] is that of corner a of tet e. All of
// it stays in the nearest cache, and a corner is one load and one store.
//
// With R = (f F - 2 F C + 2 s cof F) / g' (svd_lane.h) the stress of tet_kernel.h needs no rotation of its own:
//   P = F (p_1 I + p_2 C) + p_3 cof F,    p_1 = 2 psi_2 + psi_1 f / g',  p_2 = 4 psi_4 - 2 psi_1 / g',
//   p_3 = psi_3 + 2 s psi_1 / g'
//
// The tets of two batches go through each stage together: Halley's steps to tr S wait for divisions, and several of
// them wait at once. What lies between the stages is kept small, since a store is dearer than a multiplication: of C
// the upper half.
#ifndef RBT_ENERGY_TET_FORCE_KERNEL_H
#define RBT_ENERGY_TET_FORCE_KERNEL_H

enum { SOME = 2 * RBT_W, VECTORS = SOME / RBT_LANES };

// d[a][i]: component i of x_{a+1} - x_0 of RBT_LANES tets
INLINE void load_edges(const uint16_t *place, const double *y, rbt_lane d[3][3]) {
#ifdef RBT_LANE_IS_PLACE
    rbt_lane first[4];
    for (int l = 0; l < 4; l++) first[l] = lane_load(y + 4 * (size_t)place[4 * l]);
    for (int a = 0; a < 3; a++) {
        rbt_lane r[4];
        for (int l = 0; l < 4; l++) r[l] = lane_load(y + 4 * (size_t)place[4 * l + a + 1]) - first[l];
        lane_from_places(r);
        for (int i = 0; i < 3; i++) d[a][i] = r[i];
    }
#else
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < 3; i++) {
            rbt_lane from, to;
            for (int l = 0; l < RBT_LANES; l++) {
                from[l] = y[4 * (size_t)place[4 * l] + (size_t)i];
                to[l] = y[4 * (size_t)place[4 * l + a + 1] + (size_t)i];
            }
            d[a][i] = to - from;
        }
#endif
}

// sum += g[a][i], component i at corner a + 1, of the first `count` tets; corner 0 gets what makes up for the others.
INLINE void add_corners(rbt_lane g[3][3], size_t count, bool full, const uint16_t *place, double *sum) {
#ifdef RBT_LANE_IS_PLACE
    rbt_lane r[3][4];
    for (int a = 0; a < 3; a++) lane_to_places(g[a], r[a]);
    for (int l = 0; l < 4 && (full || (size_t)l < count); l++) {
        for (int a = 0; a < 3; a++) {
            double *to = sum + 4 * (size_t)place[4 * l + a + 1];
            lane_store(to, lane_load(to) + r[a][l]);
        }
        double *to = sum + 4 * (size_t)place[4 * l];
        lane_store(to, lane_load(to) - (r[0][l] + r[1][l] + r[2][l]));
    }
#else
    for (size_t l = 0; l < RBT_LANES && (full || l < count); l++)
        for (size_t i = 0; i < 3; i++) {
            for (size_t a = 0; a < 3; a++) sum[4 * (size_t)place[4 * l + a + 1] + i] += g[a][i][l];
            sum[4 * (size_t)place[4 * l] + i] -= g[0][i][l] + g[1][i][l] + g[2][i][l];
        }
#endif
}

// V P g_a at the corners; volume times P is given.
INLINE void add_forces(const rbt_tet_batch *b, int o, const rbt_lane3 *VP, size_t count, const uint16_t *place,
                       double *sum) {
    rbt_lane g[3][3];
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < 3; i++)
            g[a][i] = VP->at[3 * i] * lane_load(&b->B[3 * a][o]) +
                      VP->at[3 * i + 1] * lane_load(&b->B[3 * a + 1][o]) +
                      VP->at[3 * i + 2] * lane_load(&b->B[3 * a + 2][o]);
    if (count >= RBT_LANES) add_corners(g, count, true, place, sum);
    else add_corners(g, count, false, place, sum);
}

INLINE void deform(const rbt_tet_batch *b, int o, const uint16_t *place, const double *y, rbt_lane3 *F) {
    rbt_lane d[3][3];
    load_edges(place, y, d);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            F->at[3 * i + j] = d[0][i] * lane_load(&b->B[j][o]) + d[1][i] * lane_load(&b->B[3 + j][o]) +
                               d[2][i] * lane_load(&b->B[6 + j][o]);
}

// V P without R where it is well determined; in the lanes `bad` R comes from rbt_svd3.
INLINE rbt_psi stress(const rbt_tet_batch *b, int o, const deformation *d, rbt_lane_invariants *I, rbt_lane_mask bad,
                      rbt_lane3 *P, psi_function psi, bool rotation, bool quartic) {
    rbt_lane mu = lane_load(&b->k.mu[o]), lambda = lane_load(&b->k.lambda[o]), volume = lane_load(&b->volume[o]);
    bool rare = rotation && lane_any(bad);
    rbt_lane3 R;
    if (rare) {
        R = d->F;  // in lanes where it is not used
        lane_polar_bad(&d->F, I, bad, &R);
    }
    rbt_psi p = psi(mu, lambda, I);
    rbt_lane p1 = 2 * p.d2, p2 = 4 * p.d4, p3 = p.d3;
    if (rotation) {
        rbt_lane scale =
            rare ? lane_select(bad, lane_of(0), p.d1 / lane_select(bad, lane_of(1), I->slope)) : p.d1 / I->slope;
        p1 += (I->I1 * I->I1 + I->I2) * scale;
        p2 -= 2 * scale;
        p3 += 2 * I->I1 * scale;
    }
    p1 *= volume;
    p2 *= volume;
    p3 *= volume;
    if (rotation || quartic) {
        rbt_lane3 S;
        for (int i = 0; i < 3; i++)
            for (int j = i; j < 3; j++)
                S.at[3 * i + j] = S.at[3 * j + i] = p2 * d->C.at[3 * i + j] + (i == j ? p1 : lane_of(0));
        lane_multiply(&d->F, &S, P);
        for (int i = 0; i < 9; i++) P->at[i] += p3 * d->cofactor.at[i];
    } else
        for (int i = 0; i < 9; i++) P->at[i] = p1 * d->F.at[i] + p3 * d->cofactor.at[i];
    if (rare)
        for (int i = 0; i < 9; i++) P->at[i] += lane_select(bad, volume * p.d1 * R.at[i], lane_of(0));
    return p;
}

// F and what the material needs of it, of C the upper half; I2 without squares is for the energy alone.
INLINE void measure_tets(const rbt_tet_batch *b, int o, const uint16_t *place, const double *y, deformation *d,
                         rbt_lane_invariants *I, bool squares, bool energy) {
    deform(b, o, place, y, &d->F);
    if (squares) {
        lane_upper_squares(&d->F, I, &d->C, &d->cofactor);
        return;
    }
    I->I3 = lane_cofactor(&d->F, &d->cofactor);
    I->I2 = energy ? lane_dot9(&d->F, &d->F) : lane_of(0);
}

// Two batches at once; `count` tets of them are there.
INLINE void sum_some(const rbt_tet_batch *b[2], size_t count, const uint16_t *place, const double *y, double *energy,
                     double *sum, psi_function psi, bool rotation, bool quartic) {
    deformation d[VECTORS];
    rbt_lane_invariants I[VECTORS];
    rbt_lane_mask bad[VECTORS] = {{0}};
    if (rotation) {
        for (int k = 0; k < VECTORS; k++)
            measure_tets(b[k * RBT_LANES / RBT_W], k * RBT_LANES % RBT_W, place + 4 * k * RBT_LANES, y, &d[k], &I[k],
                         true, energy);
        lane_sums_of_stretches(I, bad, VECTORS);
    }
    for (int k = 0; k < VECTORS && (size_t)(k * RBT_LANES) < count; k++) {
        const rbt_tet_batch *own = b[k * RBT_LANES / RBT_W];
        const int o = k * RBT_LANES % RBT_W;
        const uint16_t *corner = place + 4 * k * RBT_LANES;
        size_t left = count - (size_t)(k * RBT_LANES);
        rbt_lane3 P;
        // Without a rotation nothing waits, and all of it stays in registers.
        if (!rotation) measure_tets(own, o, corner, y, &d[0], &I[0], quartic, energy);
        rbt_psi p = stress(own, o, &d[rotation ? k : 0], &I[rotation ? k : 0], bad[k], &P, psi, rotation, quartic);
        add_forces(own, o, &P, left, corner, sum);
        if (energy) store_energies(p.psi * lane_load(&own->volume[o]), left, energy + k * RBT_LANES);
    }
}

// The next two batches on their way into the cache: pages end a stream that the processor would follow by itself.
INLINE void fetch_ahead(const rbt_tet_batch *b) {
    for (size_t k = 0; k < offsetof(rbt_tet_batch, node); k += 64) __builtin_prefetch((const char *)b + k);
}

// Places of tets that are fewer than SOME: the last one stands in for those that are not there.
INLINE const uint16_t *fill_places(const uint16_t *place, size_t count, uint16_t filled[4 * SOME]) {
    if (count >= SOME) return place;
    for (size_t k = 0; k < 4 * SOME; k++) filled[k] = place[k < 4 * count ? k : 4 * (count - 1) + k % 4];
    return filled;
}

INLINE void sum_pairs(const rbt_tet_batch *batches, size_t count, const uint16_t *place, const double *y,
                      double *energy, double *sum, psi_function psi, bool rotation, bool quartic) {
    uint16_t filled[4 * SOME];
    for (size_t first = 0; first < count; first += SOME) {
        const rbt_tet_batch *b[2] = {batches + first / RBT_W, batches + first / RBT_W + (count - first > RBT_W)};
        fetch_ahead(b[0] + 4);
        fetch_ahead(b[0] + 5);
        sum_some(b, count - first, fill_places(place + 4 * first, count - first, filled), y,
                 energy ? energy + first : NULL, sum, psi, rotation, quartic);
    }
}

// Compiled twice: energies that nobody wants are not computed.
INLINE void sum_batches(const rbt_tet_batch *batches, size_t count, const uint16_t *place, const double *y,
                        double *energy, double *sum, psi_function psi, bool rotation, bool quartic) {
    if (energy) sum_pairs(batches, count, place, y, energy, sum, psi, rotation, quartic);
    else sum_pairs(batches, count, place, y, NULL, sum, psi, rotation, quartic);
}

static void sum_linear(const rbt_tet_batch *batches, size_t count, const uint16_t *place, const double *y,
                       double *energy, double *sum) {
    for (size_t first = 0; first < count; first += RBT_W) {
        const rbt_tet_batch *b = batches + first / RBT_W;
        uint16_t filled[4 * SOME];
        const uint16_t *own = fill_places(place + 4 * first, count - first, filled);
        for (int o = 0; o < RBT_W && first + (size_t)o < count; o += RBT_LANES) {
            rbt_lane3 F, P;
            rbt_lane volume = lane_load(&b->volume[o]);
            size_t left = count - first - (size_t)o;
            deform(b, o, own + 4 * o, y, &F);
            rbt_lane w = linear_stress(&F, volume * lane_load(&b->k.mu[o]), volume * lane_load(&b->k.lambda[o]), &P);
            add_forces(b, o, &P, left, own + 4 * o, sum);
            if (energy) store_energies(w, left, energy + first + o);
        }
    }
}

#endif
