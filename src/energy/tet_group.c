#include "energy/tet_group.h"

#include "math/mat3_lanes.h"

#include <math.h>
#include <string.h>

// Dm^-1 from the rest positions; returns the volume (negative if the tet is inside out).
static double rest_shape(const double *X, const int32_t *tet, double B[9]) {
    double Dm[9];
    for (int i = 0; i < 3; i++)
        for (int a = 0; a < 3; a++) Dm[3 * i + a] = X[3 * tet[a + 1] + i] - X[3 * tet[0] + i];
    rbt_mat3_lanes D;
    for (int i = 0; i < 9; i++) D.at[i][0] = Dm[i];
    double C[9], det = rbt_cofactor_lane(&D, 0, C);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) B[3 * i + j] = C[3 * j + i] / det;
    return det / 6;
}

bool rbt_tet_group_build(rbt_tet_group *group, rbt_arena *arena, const rbt_material *material, const double *X,
                         const int32_t *tets, const int32_t *members, size_t count, const double *mu,
                         const double *lambda, rbt_error *error) {
    size_t batch_count = (count + RBT_W - 1) / RBT_W;
    rbt_tet_batch *batches = rbt_arena_take(arena, batch_count, sizeof *batches);
    if (!batches) return rbt_fail_memory(error, batch_count * sizeof *batches, "the tets of a material");
    *group = (rbt_tet_group){material, count, batch_count, batches};
#pragma omp parallel for schedule(static)
    for (size_t b = 0; b < batch_count; b++)
        for (int l = 0; l < RBT_W; l++) {
            size_t i = b * RBT_W + (size_t)l, m = i < count ? i : count - 1;
            int32_t t = members[m];
            double B[9], volume = rest_shape(X, tets + 4 * (size_t)t, B);
            for (int k = 0; k < 9; k++) batches[b].B[k][l] = B[k];
            batches[b].volume[l] = i < count ? volume : 0;
            batches[b].k.mu[l] = mu[m];
            batches[b].k.lambda[l] = lambda[m];
            for (int a = 0; a < 4; a++) batches[b].node[a][l] = tets[4 * (size_t)t + (size_t)a];
            batches[b].tet[l] = i < count ? t : -1;
        }
    return true;
}

// F = Ds B,  Ds = [x1 - x0, x2 - x0, x3 - x0]
static void deformation(const rbt_tet_batch *b, const double *x, rbt_mat3_lanes *F) {
    for (int l = 0; l < RBT_W; l++) {
        const double *x0 = x + 3 * (size_t)b->node[0][l];
        for (int i = 0; i < 3; i++) {
            double d1 = x[3 * (size_t)b->node[1][l] + (size_t)i] - x0[i];
            double d2 = x[3 * (size_t)b->node[2][l] + (size_t)i] - x0[i];
            double d3 = x[3 * (size_t)b->node[3][l] + (size_t)i] - x0[i];
            for (int j = 0; j < 3; j++)
                F->at[3 * i + j][l] = d1 * b->B[j][l] + d2 * b->B[3 + j][l] + d3 * b->B[6 + j][l];
        }
    }
}

void rbt_tet_group_energy(const rbt_tet_group *group, const double *x, double *energy) {
#pragma omp parallel for schedule(static)
    for (size_t n = 0; n < group->batch_count; n++) {
        const rbt_tet_batch *b = &group->batches[n];
        rbt_mat3_lanes F;
        double psi[RBT_W];
        deformation(b, x, &F);
        group->material->energy(&b->k, &F, psi);
        for (int l = 0; l < RBT_W; l++)
            if (b->tet[l] >= 0) energy[b->tet[l]] = b->volume[l] * psi[l];
    }
}

// dW/dx_a = V P g_a,  g_1..3 the rows of B,  g_0 = -(g_1 + g_2 + g_3)
void rbt_tet_group_force(const rbt_tet_group *group, const double *x, double *gradient) {
#pragma omp parallel for schedule(static)
    for (size_t n = 0; n < group->batch_count; n++) {
        const rbt_tet_batch *b = &group->batches[n];
        rbt_mat3_lanes F, P;
        deformation(b, x, &F);
        group->material->stress(&b->k, &F, &P);
        for (int l = 0; l < RBT_W; l++) {
            if (b->tet[l] < 0) continue;
            double *g = gradient + 12 * (size_t)b->tet[l];
            for (int i = 0; i < 3; i++) {
                g[i] = 0;
                for (int a = 1; a < 4; a++) {
                    double sum = 0;
                    for (int j = 0; j < 3; j++) sum += P.at[3 * i + j][l] * b->B[3 * (a - 1) + j][l];
                    g[3 * a + i] = b->volume[l] * sum;
                    g[i] -= g[3 * a + i];
                }
            }
        }
    }
}

// K_ab = V g_a : dP/dF : g_b, a 3x3 block; a is the row's node.
void rbt_tet_group_stiffness(const rbt_tet_group *group, const double *x, double *blocks) {
#pragma omp parallel for schedule(static)
    for (size_t n = 0; n < group->batch_count; n++) {
        const rbt_tet_batch *b = &group->batches[n];
        rbt_mat3_lanes F;
        rbt_mat9_lanes D;
        deformation(b, x, &F);
        group->material->stiffness(&b->k, &F, &D);
        double g[4][3][RBT_W];
        for (int j = 0; j < 3; j++)
            for (int l = 0; l < RBT_W; l++) {
                for (int a = 1; a < 4; a++) g[a][j][l] = b->B[3 * (a - 1) + j][l];
                g[0][j][l] = -(g[1][j][l] + g[2][j][l] + g[3][j][l]);
            }
        for (int c = 0; c < 4; c++) {
            double Dg[9][3][RBT_W];  // Dg[ij][k] = V sum_l D[ij][kl] g_c[l]
            for (int ij = 0; ij < 9; ij++)
                for (int k = 0; k < 3; k++)
                    for (int l = 0; l < RBT_W; l++)
                        Dg[ij][k][l] = b->volume[l] * (D.at[9 * ij + 3 * k][l] * g[c][0][l] +
                                                       D.at[9 * ij + 3 * k + 1][l] * g[c][1][l] +
                                                       D.at[9 * ij + 3 * k + 2][l] * g[c][2][l]);
            for (int a = c; a < 4; a++) {
                size_t pair = (size_t)(a * (a + 1) / 2 + c);
                for (int l = 0; l < RBT_W; l++) {
                    if (b->tet[l] < 0) continue;
                    double *block = blocks + RBT_TET_BLOCK_DOUBLES * (size_t)b->tet[l] + 9 * pair;
                    for (int i = 0; i < 3; i++)
                        for (int k = 0; k < 3; k++)
                            block[3 * i + k] = Dg[3 * i][k][l] * g[a][0][l] + Dg[3 * i + 1][k][l] * g[a][1][l] +
                                               Dg[3 * i + 2][k][l] * g[a][2][l];
                }
            }
        }
    }
}

void rbt_tet_group_jacobian(const rbt_tet_group *group, const double *x, double *J) {
#pragma omp parallel for schedule(static)
    for (size_t n = 0; n < group->batch_count; n++) {
        const rbt_tet_batch *b = &group->batches[n];
        rbt_mat3_lanes F;
        double C[9];
        deformation(b, x, &F);
        for (int l = 0; l < RBT_W; l++)
            if (b->tet[l] >= 0) J[b->tet[l]] = rbt_cofactor_lane(&F, l, C);
    }
}

// Cauchy stress sigma = P F^T / J and its von Mises norm sqrt(3/2) |dev sigma|; 0 where the tet is flat, since there
// sigma has no value.
static double von_mises(const rbt_mat3_lanes *P, const rbt_mat3_lanes *F, int l) {
    double C[9], J = rbt_cofactor_lane(F, l, C), sigma[9], square = 0;
    if (!(fabs(J) > 1e-12)) return 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            sigma[3 * i + j] = 0;
            for (int k = 0; k < 3; k++) sigma[3 * i + j] += P->at[3 * i + k][l] * F->at[3 * j + k][l] / J;
        }
    double mean = (sigma[0] + sigma[4] + sigma[8]) / 3;
    for (int i = 0; i < 9; i++) {
        double deviator = sigma[i] - (i % 4 == 0 ? mean : 0);
        square += deviator * deviator;
    }
    return sqrt(1.5 * square);
}

void rbt_tet_group_von_mises(const rbt_tet_group *group, const double *x, double *result) {
#pragma omp parallel for schedule(static)
    for (size_t n = 0; n < group->batch_count; n++) {
        const rbt_tet_batch *b = &group->batches[n];
        rbt_mat3_lanes F, P;
        deformation(b, x, &F);
        group->material->stress(&b->k, &F, &P);
        for (int l = 0; l < RBT_W; l++)
            if (b->tet[l] >= 0) result[b->tet[l]] = von_mises(&P, &F, l);
    }
}
