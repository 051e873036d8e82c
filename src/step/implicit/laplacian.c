#include "step/implicit/laplacian.h"

#include "math/vec3.h"

#include <stdio.h>
#include <string.h>

static double *entry(rbt_laplacian *l, int32_t a, int32_t b) {
    int32_t row = a > b ? a : b, column = a > b ? b : a;
    size_t low = l->A.start[row], high = l->A.start[row + 1] - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (l->A.column[middle] < column) low = middle + 1;
        else high = middle;
    }
    return &l->stiffness[low];
}

static void add_tets(rbt_laplacian *l, rbt_modulus modulus) {
    const rbt_model *m = l->objective->model;
    for (size_t t = 0; t < m->tet_count; t++) {
        const int32_t *n = m->tets + 4 * t;
        double G[4][3], mu, lambda, volume = rbt_tet_gradients(m->X, n, G);
        rbt_small_strain_lame(&m->regions[m->tet_region[t]].material, &mu, &lambda);
        for (int a = 0; a < 4; a++)
            for (int b = 0; b <= a; b++) *entry(l, n[a], n[b]) += volume * modulus(mu, lambda) * rbt_dot(G[a], G[b]);
    }
}

static void add_sheets(rbt_laplacian *l) {
    const rbt_model *m = l->objective->model;
    double blocks[RBT_W * RBT_MOST_CORNERS * (RBT_MOST_CORNERS + 1) / 2 * 9];
    for (size_t g = 0; g < m->group_count; g++) {
        const rbt_group *group = &m->groups[g];
        const rbt_group_type *type = group->type;
        if (type == &RBT_TETS) continue;
        for (size_t first = 0; first < group->count; first += RBT_W) {
            size_t count = group->count - first < RBT_W ? group->count - first : RBT_W, pair = 0;
            type->stiffness(group, RBT_PROJECTED, first, count, m->X, blocks);
            for (size_t e = first; e < first + count; e++) {
                const int32_t *n = group->nodes + e * (size_t)type->corners;
                for (int a = 0; a < type->corners; a++)
                    for (int b = 0; b <= a; b++, pair++) {
                        const double *B = blocks + 9 * pair;
                        *entry(l, n[a], n[b]) += (B[0] + B[4] + B[8]) / 3;
                    }
            }
        }
    }
}

bool rbt_laplacian_init(rbt_laplacian *l, rbt_objective *objective, rbt_modulus modulus, rbt_error *error) {
    const rbt_model *m = objective->model;
    const rbt_block_matrix *pattern = &objective->H;
    size_t entries = pattern->start[m->node_count];
    *l = (rbt_laplacian){.objective = objective, .arena = rbt_arena_new()};
    l->A = (rbt_scalar_matrix){m->node_count, pattern->start, pattern->column, NULL};
    if (l->arena && (l->A.value = rbt_arena_take(l->arena, entries, sizeof(double))) &&
        (l->stiffness = rbt_arena_take(l->arena, entries, sizeof(double))) &&
        (l->analysed = rbt_arena_take(l->arena, m->node_count, 1)) &&
        (l->keep = rbt_arena_take(l->arena, m->node_count, 1))) {
        add_tets(l, modulus);
        add_sheets(l);
        return true;
    }
    rbt_laplacian_free(l);
    return rbt_fail_memory(error, 2 * entries * sizeof(double), "a step's matrix");
}

void rbt_laplacian_free(rbt_laplacian *l) {
    rbt_cholesky_free(l->factor);
    rbt_arena_free(l->arena);
    *l = (rbt_laplacian){0};
}

static void fill(rbt_laplacian *l) {
    const rbt_objective *o = l->objective;
    const rbt_model *m = o->model;
    for (size_t n = 0; n < m->node_count; n++) {
        const rbt_damping_def *damping = &m->bodies[m->node_body[n]].damping;
        double mass = 1 + o->tau * o->drag * damping->mass,
               stiffness = o->tau * (o->tau + o->drag * damping->stiffness);
        for (size_t k = l->A.start[n]; k < l->A.start[n + 1]; k++) {
            l->A.value[k] = stiffness * l->stiffness[k];
            if (o->mass.matrix.value) l->A.value[k] += mass * o->mass.matrix.value[k];
        }
        if (!o->mass.matrix.value) l->A.value[l->A.start[n + 1] - 1] += mass * m->mass[n];
    }
}

rbt_outcome rbt_laplacian_prepare(rbt_laplacian *l, const double *x, rbt_step_report *report) {
    const rbt_objective *o = l->objective;
    size_t nodes = o->model->node_count, row = 0;
    bool analysed = l->factor && memcmp(o->constrained, l->analysed, nodes) == 0;
    if (analysed && l->factored_tau == o->tau) return RBT_DONE;
    l->factored_tau = 0;
    if (!analysed) {
        rbt_cholesky_free(l->factor);
        for (size_t n = 0; n < nodes; n++) l->keep[n] = !o->constrained[n];
        memcpy(l->analysed, o->constrained, nodes);
        l->factor = rbt_cholesky_analyse_scalar(&l->A, l->keep, NULL);
        if (!l->factor) return RBT_OUT_OF_MEMORY;
    }
    fill(l);
    rbt_factor_result result = rbt_cholesky_factor_scalar(l->factor, &l->A, &row);
    if (result == RBT_FACTOR_NO_MEMORY) return RBT_OUT_OF_MEMORY;
    if (result != RBT_FACTORED) {
        rbt_report_node(report, o->model, x, row);
        snprintf(report->hint, sizeof report->hint, "the matrix at rest is singular there: a node without mass?");
        return RBT_NOT_POSITIVE_DEFINITE;
    }
    l->factored_tau = o->tau;
    return RBT_DONE;
}
