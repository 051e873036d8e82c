// Every tet material, with every instruction set of the machine: force against energy, stiffness against force by
// differences, and the projection by the conditions that single it out.
#include "dense.h"
#include "energy/material.h"
#include "verify.h"

// Differences of fourth order, f' ~ (8 (f(s) - f(-s)) - (f(2s) - f(-2s))) / 12 s: an error of s^4 f^(5) / 30 from
// truncation and 1.5 eps |f| / s from rounding. The sharpest function here is log J at J >= 0.2: f^(5) <= 24 / J^5 =
// 8e4 of the material's modulus; with s = 5e-4 that is 2e-10 and 2e-13 of the size of the values, and 1e-8 leaves
// room for the sums of nine entries.
static const double STEP = 5e-4, BOUND = 1e-8;

// One batch of irregular tets, each lane with a deformation and parameters of its own
typedef struct sample {
    rbt_tet_batch batch;
    double x[12 * RBT_W];
} sample;

static double determinant(const double A[9]) {
    return A[0] * (A[4] * A[8] - A[5] * A[7]) - A[1] * (A[3] * A[8] - A[5] * A[6]) +
           A[2] * (A[3] * A[7] - A[4] * A[6]);
}

static void invert(const double A[9], double B[9]) {
    double d = determinant(A);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int a = (j + 1) % 3, b = (j + 2) % 3, c = (i + 1) % 3, e = (i + 2) % 3;
            B[3 * i + j] = (A[3 * a + c] * A[3 * b + e] - A[3 * a + e] * A[3 * b + c]) / d;
        }
}

// Edges Dm = I + 0.3 noise; F = diag(1, 1, last) + noise of size `spread`; x = F Dm
static void fill_lane(sample *s, int l, double last, double spread, bool regular) {
    double Dm[9], F[9], B[9];
    for (int i = 0; i < 9; i++) {
        Dm[i] = (i % 4 == 0) + (regular ? 0 : verify_random(-0.3, 0.3));
        F[i] = (i % 4 == 0) * (i == 8 ? last : 1) + verify_random(-spread, spread);
    }
    invert(Dm, B);
    for (int i = 0; i < 9; i++) s->batch.B[i][l] = B[i];
    s->batch.volume[l] = regular ? 1 : fabs(determinant(Dm)) / 6;
    s->batch.k.mu[l] = verify_random(1, 3);
    s->batch.k.lambda[l] = verify_random(2, 9);
    for (int a = 0; a < 4; a++) s->batch.node[a][l] = 4 * l + a;
    for (int i = 0; i < 3; i++) {
        double origin = verify_random(-1, 1);
        s->x[12 * l + i] = origin;
        for (int a = 0; a < 3; a++)
            s->x[12 * l + 3 * (a + 1) + i] =
                origin + F[3 * i] * Dm[a] + F[3 * i + 1] * Dm[3 + a] + F[3 * i + 2] * Dm[6 + a];
    }
}

static sample sample_of(double last, double spread, bool regular) {
    sample s = {0};
    for (int l = 0; l < RBT_W; l++) fill_lane(&s, l, last, spread, regular);
    return s;
}

static sample moved(const sample *s, int i, double by) {
    sample t = *s;
    for (int l = 0; l < RBT_W; l++) t.x[12 * l + i] += by;
    return t;
}

static double difference(double a, double b, double c, double d) { return (8 * (a - b) - (c - d)) / (12 * STEP); }

// Largest difference between g and the slope of the energy, beside the largest force of the tet
static double gradient_error(const rbt_tet_kernels *k, const sample *s) {
    static const double at[4] = {1, -1, 2, -2};
    double g[12 * RBT_W], e[4][RBT_W], worst = 0;
    k->gradient(&s->batch, RBT_W, s->x, NULL, g);
    for (int i = 0; i < 12; i++) {
        for (int n = 0; n < 4; n++) {
            sample t = moved(s, i, at[n] * STEP);
            k->energy(&t.batch, RBT_W, t.x, e[n]);
        }
        for (int l = 0; l < RBT_W; l++) {
            double error = fabs(difference(e[0][l], e[1][l], e[2][l], e[3][l]) - g[12 * l + i]);
            worst = verify_larger(worst, error / verify_largest(g + 12 * l, 12));
        }
    }
    return worst;
}

static double block_entry(const double *blocks, int row, int column) {
    int a = row / 3, b = column / 3, i = row % 3, j = column % 3;
    return a >= b ? blocks[9 * (a * (a + 1) / 2 + b) + 3 * i + j] : blocks[9 * (b * (b + 1) / 2 + a) + 3 * j + i];
}

static double hessian_error(const rbt_tet_kernels *k, const sample *s) {
    static const double at[4] = {1, -1, 2, -2};
    double K[RBT_TET_BLOCK_DOUBLES * RBT_W], g[4][12 * RBT_W], worst = 0;
    k->stiffness[RBT_HESSIAN](&s->batch, RBT_W, s->x, K);
    for (int j = 0; j < 12; j++) {
        for (int n = 0; n < 4; n++) {
            sample t = moved(s, j, at[n] * STEP);
            k->gradient(&t.batch, RBT_W, t.x, NULL, g[n]);
        }
        for (int l = 0; l < RBT_W; l++)
            for (int i = 0; i < 12; i++) {
                const double *blocks = K + RBT_TET_BLOCK_DOUBLES * l;
                int n = 12 * l + i;
                double error = fabs(difference(g[0][n], g[1][n], g[2][n], g[3][n]) - block_entry(blocks, i, j));
                worst = verify_larger(worst, error / verify_largest(blocks, RBT_TET_BLOCK_DOUBLES));
            }
    }
    return worst;
}

// The positive part P of a symmetric H is the only matrix with P >= 0, N = P - H >= 0 and P N = 0. How far the
// projected stiffness of a unit tet (whose blocks of corners 1..3 are dP/dF) is from that, beside the largest entry
// of H.
static double projection_error(const rbt_tet_kernels *k, const sample *s) {
    double H[RBT_TET_BLOCK_DOUBLES * RBT_W], Q[RBT_TET_BLOCK_DOUBLES * RBT_W], worst = 0;
    k->stiffness[RBT_HESSIAN](&s->batch, RBT_W, s->x, H);
    k->stiffness[RBT_PROJECTED](&s->batch, RBT_W, s->x, Q);
    for (int l = 0; l < RBT_W; l++) {
        double P[81], N[81], values[9], size = verify_largest(H + RBT_TET_BLOCK_DOUBLES * l, RBT_TET_BLOCK_DOUBLES);
        for (int i = 0; i < 81; i++) {
            P[i] = block_entry(Q + RBT_TET_BLOCK_DOUBLES * l, 3 + i / 9, 3 + i % 9) / size;
            N[i] = P[i] - block_entry(H + RBT_TET_BLOCK_DOUBLES * l, 3 + i / 9, 3 + i % 9) / size;
        }
        dense_eigenvalues(P, 9, values);
        worst = verify_larger(worst, verify_larger(-values[0], 0.0));
        dense_eigenvalues(N, 9, values);
        worst = verify_larger(worst, verify_larger(-values[0], 0.0));
        for (int i = 0; i < 81; i++) {
            double product = 0;
            for (int n = 0; n < 9; n++) product += P[9 * (i / 9) + n] * N[9 * n + i % 9];
            worst = verify_larger(worst, fabs(product));
        }
    }
    return worst;
}

typedef struct errors {
    double gradient, hessian, inverted, projection;
} errors;

static void measure(const rbt_material *material, const rbt_tet_kernels *k, int tries, errors *e) {
    for (int n = 0; n < tries; n++) {
        sample near = sample_of(1, n % 2 ? 0.25 : 0.05, false), unit = sample_of(n % 2 ? 1 : 0.4, 0.3, true);
        e->gradient = verify_larger(e->gradient, gradient_error(k, &near));
        e->hessian = verify_larger(e->hessian, hessian_error(k, &near));
        // Smooth where no two stretches sum to 0: (1, 1, -0.6) with this noise stays away from that.
        if (material->survives_inversion) {
            sample inside_out = sample_of(-0.6, 0.05, false);
            e->inverted = verify_larger(e->inverted, gradient_error(k, &inside_out));
            e->inverted = verify_larger(e->inverted, hessian_error(k, &inside_out));
        }
        bool allowed = true;
        for (int l = 0; l < RBT_W; l++) {
            const double *x = unit.x + 12 * l;
            allowed &= material->survives_inversion || rbt_tet_volume(x, x + 3, x + 6, x + 9) > 0.02;
        }
        if (allowed) e->projection = verify_larger(e->projection, projection_error(k, &unit));
    }
}

void verify_materials(verify *v) {
    static const char *const names[RBT_INSTRUCTION_SETS] = {"plain C", "AVX2", "AVX-512"};
    int tries = v->full ? 200 : 20;
    verify_say(
        v,
        "## Materials: force, stiffness, projection\n\n"
        "Force against the slope of the energy and stiffness against the slope of the force, by differences of "
        "fourth order, on irregular tets with random deformations (entries within 0.25 of the identity; where "
        "the material allows it, also turned inside out). The projected stiffness P of a Hessian H against the "
        "conditions that single it out: no negative eigenvalue in P and in P - H, and P (P - H) = 0. Largest "
        "relative errors over %d tets per instruction set:",
        tries * RBT_W);
    for (int set = 0, found = 0; set < RBT_INSTRUCTION_SETS; set++)
        if (rbt_tet_kernels_with(rbt_material_at(0), (rbt_instruction_set)set))
            verify_say(v, "%s %s", found++ ? "," : "", names[set]);
    verify_say(v, ". The differences themselves are good to about 1e-9.\n");
    verify_table(v, "material|force|stiffness|inside out|projection|bound");
    for (int i = 0; rbt_material_at(i); i++) {
        const rbt_material *material = rbt_material_at(i);
        errors e = {0};
        for (int set = 0; set < RBT_INSTRUCTION_SETS; set++) {
            const rbt_tet_kernels *k = rbt_tet_kernels_with(material, (rbt_instruction_set)set);
            verify_random_again(1 + (uint64_t)i);
            if (k) measure(material, k, tries, &e);
        }
        char inverted[32] = "an outcome";
        if (material->survives_inversion) snprintf(inverted, sizeof inverted, "%.1e", e.inverted);
        verify_row(v, e.gradient < BOUND && e.hessian < BOUND && e.inverted < BOUND && e.projection < BOUND,
                   "%s|%.1e|%.1e|%s|%.1e|%.0e", material->name, e.gradient, e.hessian, inverted, e.projection, BOUND);
    }
}
