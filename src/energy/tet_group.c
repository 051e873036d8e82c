#include "energy/tet_group.h"

#include "energy/stiffening.h"
#include "math/vec3.h"

#include <stdlib.h>
#include <string.h>

// Dm^-1 from the rest positions; returns the volume (negative if the tet is inside out).
static double rest_shape(const double *X, const int32_t *tet, double B[9]) {
    double edge[3][3], normal[3];
    for (int a = 0; a < 3; a++) rbt_subtract(X + 3 * (size_t)tet[a + 1], X + 3 * (size_t)tet[0], edge[a]);
    rbt_cross(edge[1], edge[2], normal);
    double det = rbt_dot(edge[0], normal);
    for (int a = 0; a < 3;
         a++) {  // row a of the inverse: the cross product of the other two edges over the determinant
        rbt_cross(edge[(a + 1) % 3], edge[(a + 2) % 3], normal);
        for (int i = 0; i < 3; i++) B[3 * a + i] = normal[i] / det;
    }
    return det / 6;
}

double rbt_tet_gradients(const double *X, const int32_t *tet, double G[4][3]) {
    double edge[3][3];
    for (int a = 0; a < 3; a++) rbt_subtract(X + 3 * (size_t)tet[a + 1], X + 3 * (size_t)tet[0], edge[a]);
    for (int a = 0; a < 3; a++) rbt_cross(edge[(a + 1) % 3], edge[(a + 2) % 3], G[a + 1]);
    double six_volumes = rbt_dot(edge[0], G[1]);
    for (int i = 0; i < 3; i++) {
        for (int a = 1; a < 4; a++) G[a][i] /= six_volumes;
        G[0][i] = -(G[1][i] + G[2][i] + G[3][i]);
    }
    return fabs(six_volumes) / 6;
}

// Tets that lie near each other get numbers near each other (Z-order of their centroids on a 1024^3 grid): a chunk of
// elements then shares most of its nodes and fits into the cache.
typedef struct placed {
    uint32_t code;
    int32_t member;  // position in the list of members
} placed;

static uint32_t spread_bits(uint32_t v) {  // 10 bits, two zeros between any two
    v = (v | v << 16) & 0x030000ff;
    v = (v | v << 8) & 0x0300f00f;
    v = (v | v << 4) & 0x030c30c3;
    return (v | v << 2) & 0x09249249;
}

static int compare_places(const void *a, const void *b) {
    const placed *p = a, *q = b;
    if (p->code != q->code) return p->code < q->code ? -1 : 1;
    return (p->member > q->member) - (p->member < q->member);
}

static placed *order_in_space(const double *X, const int32_t *tets, const int32_t *members, size_t count,
                              rbt_error *error) {
    placed *order = rbt_array_new(count, sizeof *order, "the order of tets", error);
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, size = 0;
    if (!order) return NULL;
    for (size_t e = 0; e < count; e++)
        for (size_t i = 0; i < 3; i++) {
            double at = X[3 * (size_t)tets[4 * (size_t)members[e]] + i];
            low[i] = fmin(low[i], at);
            high[i] = fmax(high[i], at);
        }
    for (int i = 0; i < 3; i++) size = fmax(size, high[i] - low[i]);
    for (size_t e = 0; e < count; e++) {
        const int32_t *tet = tets + 4 * (size_t)members[e];
        order[e] = (placed){0, (int32_t)e};
        for (size_t i = 0; i < 3; i++) {
            double middle = 0;
            for (int a = 0; a < 4; a++) middle += 0.25 * X[3 * (size_t)tet[a] + i];
            double cell = size > 0 ? 1023 * (middle - low[i]) / size : 0;
            order[e].code |= spread_bits((uint32_t)fmin(fmax(cell, 0), 1023)) << i;
        }
    }
    qsort(order, count, sizeof *order, compare_places);
    return order;
}

// Corners in ascending order: blocks of the stiffness then never need to be transposed on their way into the matrix.
// F and the energy do not depend on the order of corners; the sign of the volume does, and is dropped.
static void sort_corners(const int32_t *from, int32_t to[4]) {
    for (int a = 0; a < 4; a++) {
        int place = a;
        for (; place > 0 && to[place - 1] > from[a]; place--) to[place] = to[place - 1];
        to[place] = from[a];
    }
}

bool rbt_tet_group_build(rbt_group *group, rbt_arena *arena, const rbt_material *material, const double *X,
                         const int32_t *tets, const int32_t *members, size_t count, const double *mu,
                         const double *lambda, rbt_error *error) {
    size_t batch_count = (count + RBT_W - 1) / RBT_W;
    rbt_tets *data = rbt_arena_take(arena, 1, sizeof *data);
    rbt_tet_batch *batches = rbt_arena_take(arena, batch_count, sizeof *batches);
    int32_t *nodes = rbt_arena_take(arena, 4 * count, sizeof *nodes);
    int32_t *numbers = rbt_arena_take(arena, count, sizeof *numbers);
    if (!data || !batches || !nodes || !numbers)
        return rbt_fail_memory(error, batch_count * sizeof *batches, "the tets of a material");
    placed *order = order_in_space(X, tets, members, count, error);
    if (!order) return false;
    *data = (rbt_tets){material, rbt_tet_kernels_of(material), batch_count, batches};
    *group = (rbt_group){.type = &RBT_TETS, .count = count, .nodes = nodes, .members = numbers, .data = data};
    group->constant_stiffness = material->constant_stiffness;
    group->turning_stiffness = material->turning_stiffness;
#pragma omp parallel for schedule(static)
    for (size_t b = 0; b < batch_count; b++)
        for (int l = 0; l < RBT_W; l++) {
            size_t e = b * RBT_W + (size_t)l, real = (size_t)order[e < count ? e : count - 1].member;
            int32_t tet[4];
            sort_corners(tets + 4 * (size_t)members[real], tet);
            if (e < count) numbers[e] = members[real];
            double B[9], volume = rest_shape(X, tet, B);
            for (int k = 0; k < 9; k++) batches[b].B[k][l] = B[k];
            batches[b].volume[l] = e < count ? fabs(volume) : 0;
            batches[b].k.mu[l] = mu[real];
            batches[b].k.lambda[l] = lambda[real];
            for (int a = 0; a < 4; a++) batches[b].node[a][l] = tet[a];
            if (e < count) memcpy(nodes + 4 * e, tet, 4 * sizeof *nodes);
        }
    free(order);
    return true;
}

// ---- The global view

static const rbt_tet_batch *batch_at(const rbt_group *group, size_t first) {
    return ((const rbt_tets *)group->data)->batches + first / RBT_W;
}

static void energy(const rbt_group *group, size_t first, size_t count, const double *x, double *result) {
    ((const rbt_tets *)group->data)->kernels.energy(batch_at(group, first), count, x, result);
}

static void gradient(const rbt_group *group, size_t first, size_t count, const double *x, double *energies,
                     double *result) {
    ((const rbt_tets *)group->data)->kernels.gradient(batch_at(group, first), count, x, energies, result);
}

static void sum(const rbt_group *group, size_t first, size_t count, const uint16_t *place, const double *y,
                double *energies, double *result) {
    ((const rbt_tets *)group->data)->kernels.sum(batch_at(group, first), count, place, y, energies, result);
}

static void stiffness(const rbt_group *group, rbt_stiffness_kind kind, size_t first, size_t count, const double *x,
                      double *blocks) {
    ((const rbt_tets *)group->data)->kernels.stiffness[kind](batch_at(group, first), count, x, blocks);
}

static size_t tangent_size(const rbt_group *group) { return ((const rbt_tets *)group->data)->kernels.tangent_size; }

static void tangent(const rbt_group *group, size_t first, size_t count, const double *x, double *store) {
    ((const rbt_tets *)group->data)->kernels.tangent(batch_at(group, first), count, x, store);
}

static void apply(const rbt_group *group, size_t first, size_t count, const double *store, const uint16_t *place,
                  const double *p, double *result) {
    ((const rbt_tets *)group->data)->kernels.apply(batch_at(group, first), count, store, place, p, result);
}

bool rbt_tet_group_can_warp(const rbt_group *group) {
    return group->type == &RBT_TETS && ((const rbt_tets *)group->data)->kernels.warp;
}

void rbt_tet_group_warp(const rbt_group *group, size_t first, size_t count, const double *x, double *result) {
    ((const rbt_tets *)group->data)->kernels.warp(batch_at(group, first), count, x, result);
}

// C : E' of one lane, C the moduli that small strains see
static void viscous_stress(const rbt_tets *tets, const rbt_tet_batch *b, int l, const double E[9], double S[9]) {
    double mu = b->k.mu[l], lambda = b->k.lambda[l], trace = E[0] + E[4] + E[8];
    if (tets->material->small_strain) tets->material->small_strain(&mu, &lambda);
    for (int k = 0; k < 9; k++) S[k] = 2 * mu * E[k] + (k % 4 == 0 ? lambda * trace : 0);
}

// A^T B
static void transpose_product(const double A[9], const double B[9], double C[9]) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) C[3 * i + j] = A[i] * B[j] + A[3 + i] * B[3 + j] + A[6 + i] * B[6 + j];
}

static void deformation_gradient(const rbt_tet_batch *b, int l, const double *x, double F[9]) {
    const double *x0 = x + 3 * (size_t)b->node[0][l];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            F[3 * i + j] = 0;
            for (int a = 0; a < 3; a++)
                F[3 * i + j] += (x[3 * (size_t)b->node[a + 1][l] + (size_t)i] - x0[i]) * b->B[3 * a + j][l];
        }
}

// The strain is Green's: D v = V F (phi C : E') g_a, E' = sym(F^T F'), phi = 1 / (1 + 2 |E|) as for membranes
// (membrane.c). Linear elasticity has the linear strain: F = I and phi = 1.
static void add_damping(const rbt_tets *tets, const rbt_tet_batch *b, int l, const double *x, const double *v,
                        double beta, double *result) {
    double F[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, rate[9], C[9], both[9], S[9], square = 0, G[4][3];
    if (!tets->material->constant_stiffness) deformation_gradient(b, l, x, F);
    deformation_gradient(b, l, v, rate);
    transpose_product(F, F, C);
    transpose_product(F, rate, both);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) rate[3 * i + j] = 0.5 * (both[3 * i + j] + both[3 * j + i]);
    for (int k = 0; k < 9; k++) square += (C[k] - (k % 4 == 0)) * (C[k] - (k % 4 == 0));
    viscous_stress(tets, b, l, rate, S);
    double scale = beta * b->volume[l] / (1 + sqrt(square));
    for (int i = 0; i < 3; i++) {
        for (int a = 1; a < 4; a++) G[a][i] = b->B[3 * (a - 1) + i][l];
        G[0][i] = -(G[1][i] + G[2][i] + G[3][i]);
    }
    for (int a = 0; a < 4; a++) {
        double Sg[3] = {rbt_dot(S, G[a]), rbt_dot(S + 3, G[a]), rbt_dot(S + 6, G[a])};
        for (int i = 0; i < 3; i++) result[3 * a + i] += scale * rbt_dot(F + 3 * i, Sg);
    }
}

static void damped_gradient(const rbt_group *group, size_t first, size_t count, const double *x, const double *v,
                            const double *beta, double *result) {
    const rbt_tet_batch *batches = batch_at(group, first);
    gradient(group, first, count, x, NULL, result);
    for (size_t e = 0; e < count; e++)
        if (beta[e] > 0)
            add_damping(group->data, &batches[e / RBT_W], (int)(e % RBT_W), x, v, beta[e], result + 12 * e);
}

static void copy_lane(const rbt_tet_batch *from, int source, rbt_tet_batch *to, int lane) {
    for (int k = 0; k < 9; k++) to->B[k][lane] = from->B[k][source];
    for (int a = 0; a < 4; a++) to->node[a][lane] = from->node[a][source];
    to->volume[lane] = from->volume[source];
    to->k.mu[lane] = from->k.mu[source];
    to->k.lambda[lane] = from->k.lambda[source];
}

static bool part_of(const rbt_group *group, rbt_arena *arena, const int32_t *elements, size_t count,
                    const int32_t *number, rbt_group *part, rbt_error *error) {
    const rbt_tets *whole = group->data;
    size_t batch_count = (count + RBT_W - 1) / RBT_W;
    rbt_tets *data = rbt_arena_take(arena, 1, sizeof *data);
    rbt_tet_batch *batches = rbt_arena_take(arena, batch_count, sizeof *batches);
    int32_t *nodes = rbt_arena_take(arena, 4 * count, sizeof *nodes);
    int32_t *members = rbt_arena_take(arena, count, sizeof *members);
    if (!data || !batches || !nodes || !members)
        return rbt_fail_memory(error, batch_count * sizeof *batches, "part of a body");
    for (size_t k = 0; k < batch_count * RBT_W; k++) {
        size_t e = (size_t)elements[k < count ? k : count - 1];
        rbt_tet_batch *to = &batches[k / RBT_W];
        int lane = (int)(k % RBT_W);
        copy_lane(&whole->batches[e / RBT_W], (int)(e % RBT_W), to, lane);
        for (int a = 0; a < 4; a++) to->node[a][lane] = number[to->node[a][lane]];
        if (k >= count) {
            to->volume[lane] = 0;
            continue;
        }
        members[k] = group->members[e];
        for (size_t a = 0; a < 4; a++) nodes[4 * k + a] = to->node[a][lane];
    }
    *data = (rbt_tets){whole->material, whole->kernels, batch_count, batches};
    *part = *group;
    part->count = count;
    part->nodes = nodes;
    part->members = members;
    part->data = data;
    return true;
}

// ---- Stiffening

static rbt_stiffening law(const rbt_group *group, size_t e) {
    const rbt_tets *tets = group->data;
    const rbt_lame *k = &tets->batches[e / RBT_W].k;
    return rbt_stiffening_law(tets->material, k->mu[e % RBT_W], k->lambda[e % RBT_W]);
}

// sum_a (p_a - p_0) g_a^T over corners 1 to 3: F of positions, dF of directions
static void gradient_of(const rbt_group *group, size_t e, const double *p, double F[9]) {
    const rbt_tet_batch *batch = &((const rbt_tets *)group->data)->batches[e / RBT_W];
    const int32_t *node = group->nodes + 4 * e;
    size_t l = e % RBT_W;
    double at[3][3];
    for (int a = 0; a < 3; a++) rbt_subtract(p + 3 * (size_t)node[a + 1], p + 3 * (size_t)node[0], at[a]);
    for (int i = 0; i < 9; i++)
        F[i] = at[0][i / 3] * batch->B[i % 3][l] + at[1][i / 3] * batch->B[3 + i % 3][l] +
               at[2][i / 3] * batch->B[6 + i % 3][l];
}

static double modulus(const rbt_group *group, size_t e) { return law(group, e).A[0]; }

static double stiffening(const rbt_group *group, size_t e, const double *x) {
    rbt_stiffening own = law(group, e);
    double F[9];
    gradient_of(group, e, x, F);
    return rbt_stiffening_of(&own, F);
}

// V d dF g_a at corner a
static void laplacian(const rbt_group *group, size_t e, double d, const double *p, double *y) {
    const rbt_tet_batch *batch = &((const rbt_tets *)group->data)->batches[e / RBT_W];
    const int32_t *node = group->nodes + 4 * e;
    size_t l = e % RBT_W;
    double dF[9];
    gradient_of(group, e, p, dF);
    for (int a = 0; a < 3; a++) {
        double g[3] = {batch->B[3 * a][l], batch->B[3 * a + 1][l], batch->B[3 * a + 2][l]}, push[3];
        for (int i = 0; i < 3; i++) push[i] = batch->volume[l] * d * rbt_dot(dF + 3 * i, g);
        rbt_add_scaled(y + 3 * (size_t)node[a + 1], 1, push);
        rbt_add_scaled(y + 3 * (size_t)node[0], -1, push);
    }
}

const rbt_group_type RBT_TETS = {
    .name = "tets",
    .corners = 4,
    .pairs = RBT_TET_PAIRS,
    .energy = energy,
    .gradient = gradient,
    .sum = sum,
    .stiffness = stiffness,
    .local = rbt_tet_local,
    .damped_gradient = damped_gradient,
    .tangent_size = tangent_size,
    .tangent = tangent,
    .apply = apply,
    .modulus = modulus,
    .stiffening = stiffening,
    .laplacian = laplacian,
    .part = part_of,
};

// ---- The local view: the same kernels on a batch with one tet in it

static rbt_tet_batch batch_of_one(const rbt_group *group, size_t element) {
    const rbt_tet_batch *from = &((const rbt_tets *)group->data)->batches[element / RBT_W];
    int lane = (int)(element % RBT_W);
    rbt_tet_batch one;
    for (int l = 0; l < RBT_W; l++) copy_lane(from, lane, &one, l);
    return one;
}

double rbt_tet_local(const rbt_group *group, size_t element, const double *x, double *force, rbt_stiffness_kind kind,
                     double *matrix) {
    const rbt_tet_kernels *kernels = &((const rbt_tets *)group->data)->kernels;
    rbt_tet_batch one = batch_of_one(group, element);
    double w, g[12], blocks[RBT_TET_BLOCK_DOUBLES];
    kernels->gradient(&one, 1, x, &w, g);
    for (int i = 0; force && i < 12; i++) force[i] = -g[i];
    if (!matrix) return w;
    kernels->stiffness[kind](&one, 1, x, blocks);
    for (int a = 0; a < 4; a++)
        for (int b = 0; b <= a; b++)
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    double entry = blocks[9 * (a * (a + 1) / 2 + b) + 3 * i + j];
                    matrix[12 * (3 * a + i) + 3 * b + j] = matrix[12 * (3 * b + j) + 3 * a + i] = entry;
                }
    return w;
}

// ---- Reports

static double determinant(const double F[9]) {
    double n[3];
    rbt_cross(F + 3, F + 6, n);
    return rbt_dot(F, n);
}

void rbt_tet_group_jacobian(const rbt_group *group, const double *x, double *J) {
    const rbt_tets *tets = group->data;
#pragma omp parallel for schedule(static)
    for (size_t e = 0; e < group->count; e++) {
        double F[9];
        deformation_gradient(&tets->batches[e / RBT_W], (int)(e % RBT_W), x, F);
        J[group->members[e]] = determinant(F);
    }
}

// P from the force on the tet's corners, V P g_a = f_a: P = (1/V) sum_a f_a Dm_a^T; then the Cauchy stress sigma = P
// F^T / J and its von Mises norm sqrt(3/2) |dev sigma|; 0 where the tet is flat, since there sigma has no value.
static double von_mises(const double f[12], double volume, const double *x, const int32_t *node, double J) {
    double sigma[9] = {0}, square = 0;
    if (!(fabs(J) > 1e-12)) return 0;
    // P F^T = (1/V) sum_a f_a (F Dm_a)^T = (1/V) sum_a f_a (x_a - x_0)^T
    for (int a = 1; a < 4; a++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                sigma[3 * i + j] += f[3 * a + i] *
                                    (x[3 * (size_t)node[a] + (size_t)j] - x[3 * (size_t)node[0] + (size_t)j]) /
                                    (volume * J);
    double mean = (sigma[0] + sigma[4] + sigma[8]) / 3;
    for (int i = 0; i < 9; i++) {
        double deviator = sigma[i] - (i % 4 == 0 ? mean : 0);
        square += deviator * deviator;
    }
    return sqrt(1.5 * square);
}

void rbt_tet_group_von_mises(const rbt_group *group, const double *x, double *stress) {
    const rbt_tets *tets = group->data;
#pragma omp parallel for schedule(static)
    for (size_t b = 0; b < tets->batch_count; b++) {
        double g[12 * RBT_W], F[9];
        size_t first = b * RBT_W, count = group->count - first < RBT_W ? group->count - first : RBT_W;
        tets->kernels.gradient(&tets->batches[b], count, x, NULL, g);
        for (size_t l = 0; l < count; l++) {
            deformation_gradient(&tets->batches[b], (int)l, x, F);
            stress[group->members[first + l]] =
                von_mises(g + 12 * l, tets->batches[b].volume[l], x, group->nodes + 4 * (first + l), determinant(F));
        }
    }
}
