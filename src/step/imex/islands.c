#include "step/imex/islands.h"

#include "base/threads.h"
#include "energy/tet_group.h"
#include "math/quaternion.h"
#include "math/vec3.h"
#include "model/force.h"
#include "step/imex/islands_build.h"
#include "step/linearised/linearised.h"

#include <stdio.h>
#include <string.h>

// Least of h w_e: elements that could turn far without harm to stability do not, for accuracy's sake: lag / 20 is
// 0.02 rad.
static const double SOFT = 20;
enum { SELDOM = 16 };  // steps at most between two looks at how far elements have turned

bool rbt_islands_can(const rbt_model *m, double lag) {
    for (size_t g = 0; g < m->group_count; g++)
        if (m->groups[g].type != &RBT_TETS) return false;
    return !m->obstacles.count && rbt_rotation_lag_knows(m) && (m->linear || lag > 0);
}

size_t rbt_islands_memory_size(const rbt_model *m) {
    size_t elements = 0;
    for (size_t g = 0; g < m->group_count; g++) elements += m->groups[g].count;
    return sizeof(rbt_islands_memory) + 4 * elements * sizeof(float);
}

// ---- K

// Parts of the elements at a row: K_ab = V (lambda h_a h_b^T + mu h_b h_a^T + mu (h_a . h_b) I), h_a = R g_a
// (tet_kernel.h)
static void add_use(const rbt_islands *s, size_t use, double *row) {
    size_t e = s->use[use] / 4, a = s->use[use] % 4;
    const double *R = s->rotation + 9 * e, *shape = s->shape + 14 * e;
    const double mu = shape[12], lambda = shape[13];
    double h[4][3];
    for (size_t b = 0; b < 4; b++)
        for (size_t i = 0; i < 3; i++) h[b][i] = rbt_dot(R + 3 * i, shape + 3 * b);
    for (size_t b = 0; b < 4; b++) {
        if (s->target[4 * use + b] == RBT_ISLAND_OUTSIDE) continue;
        double *to = row + 9 * (size_t)s->target[4 * use + b], dot = mu * rbt_dot(h[a], h[b]);
        for (size_t i = 0; i < 3; i++)
            for (size_t j = 0; j < 3; j++)
                to[3 * i + j] += lambda * h[a][i] * h[b][j] + mu * h[b][i] * h[a][j] + (i == j ? dot : 0);
    }
}

static void make_rows(rbt_islands *s, const rbt_island *island) {
#pragma omp parallel for schedule(static) if (island->end - island->begin >= RBT_PARALLEL_FROM)
    for (size_t r = island->begin; r < island->end; r++) {
        double *row = s->K + 9 * s->start[r];
        memset(row, 0, 9 * (s->start[r + 1] - s->start[r]) * sizeof *row);
        for (size_t u = s->use_start[r]; u < s->use_start[r + 1]; u++) add_use(s, u, row);
    }
}

// ---- Rotations, and who is stale

static void recall_rotation(rbt_islands *s, size_t e, const float *turned) {
    double q[4] = {turned[0], turned[1], turned[2], turned[3]};
    memcpy(s->turned + 4 * e, turned, 4 * sizeof *turned);
    rbt_quaternion_rotation(q, s->rotation + 9 * e);
}

// What the memory says that the workspace does not have: after a resume or a failed step
static void recall(rbt_islands *s, const float *turned) {
    if (s->ready && memcmp(s->turned, turned, 4 * s->part.element_count * sizeof *turned) == 0) return;
    for (size_t k = 0; k < s->island_count; k++)
        for (size_t i = s->islands[k].element_begin; i < s->islands[k].element_end; i++) {
            size_t e = (size_t)s->elements[i];
            if (s->ready && memcmp(s->turned + 4 * e, turned + 4 * e, 4 * sizeof *turned) == 0) continue;
            recall_rotation(s, e, turned + 4 * e);
            s->islands[k].stale = true;
        }
}

static void renew(rbt_islands *s, rbt_island *island, float *turned) {
    for (size_t i = island->element_begin; i < island->element_end; i++) {
        size_t e = (size_t)s->elements[i];
        double R[9], q[4];
        rbt_rotation_lag_rotation(&s->turn, e, R);
        rbt_quaternion_of(R, q);
        for (size_t k = 0; k < 4; k++) turned[4 * e + k] = (float)q[k];
        recall_rotation(s, e, turned + 4 * e);
    }
    island->stale = true;
}

// How far an island's elements have turned, as a share of what is allowed
static double share_used(rbt_islands *s, const rbt_island *island, double h) {
    double most = 0;
    for (size_t i = island->element_begin; i < island->element_end; i++) {
        size_t e = (size_t)s->elements[i];
        double square = rbt_rotation_lag_square(&s->turn, e, s->rotation + 9 * e), weight = h * s->turn.rate[e];
        s->square[e] = weight * weight * square;
        most = fmax(most, SOFT * SOFT * square);
    }
    for (size_t r = island->begin; r < island->end; r++) {
        double sum = 0;
        for (size_t u = s->use_start[r]; u < s->use_start[r + 1]; u++) sum += s->square[s->use[u] / 4];
        most = fmax(most, sum);
    }
    return sqrt(most) / s->lag;
}

// Looks come so often that turns go beyond what is allowed by one to three tenths of it.
static void look(rbt_islands *s, rbt_islands_memory *memory, double h) {
    double most = 0;
    float *turned = (float *)(memory + 1);
    rbt_rotation_lag_look(&s->turn, s->x);
    for (size_t k = 0; k < s->island_count; k++) {
        double used = memory->made ? share_used(s, &s->islands[k], h) : 1;
        most = fmax(most, used);
        if (used < 1) continue;
        renew(s, &s->islands[k], turned);
        s->renewed++;
    }
    uint64_t every = memory->every;
    if (!memory->made) every = 1;
    else if (most > 1.3) every = every > 1 ? every / 2 : 1;
    else if (most < 1.1 && every < SELDOM) every++;
    *memory = (rbt_islands_memory){.made = 1, .every = every, .wait = every};
}

static void go_ahead(rbt_islands *s, const rbt_state *state, double h) {  // x~
    for (size_t i = 0; i < s->part.model.node_count; i++) {
        size_t n = 3 * (size_t)s->part.nodes[i];
        for (size_t k = 0; k < 3; k++) s->x[3 * i + k] = state->x[n + k] + h * state->v[n + k];
    }
}

static rbt_outcome find_rotations(rbt_islands *s, const rbt_state *state, rbt_islands_memory *memory, double h) {
    go_ahead(s, state, h);
    if (!memory) {  // K is constant
        for (size_t e = 0; !s->ready && e < s->part.element_count; e++)
            recall_rotation(s, e, (const float[4]){1, 0, 0, 0});
        for (size_t k = 0; !s->ready && k < s->island_count; k++) s->islands[k].stale = true;
        return RBT_DONE;
    }
    if (memory->made) recall(s, (const float *)(memory + 1));
    if (memory->made && --memory->wait) return RBT_DONE;
    look(s, memory, h);
    return RBT_DONE;
}

// ---- A and its inverse

static size_t body_node(const rbt_islands *s, size_t row) { return (size_t)s->part.nodes[s->node[row]]; }

// A block of A, k-th of K's in this row; rows and columns of constrained nodes are those of the identity.
static void block_of_A(const rbt_islands *s, size_t row, size_t k, size_t island_begin, double h, double A[9]) {
    size_t other = island_begin + (size_t)s->column[k], node = body_node(s, row);
    bool constrained = s->constrained[row] || s->constrained[other];
    double scale = rbt_stiffness_factor(s->whole, node, h),
           mass = rbt_mass_factor(s->whole, node, h) * s->whole->mass[node];
    for (size_t i = 0; i < 9; i++) {
        A[i] = constrained ? 0 : scale * s->K[9 * k + i];
        if (other == row && i % 4 == 0) A[i] = constrained ? 1 : A[i] + mass;
    }
}

// A^-1 in place of the positive definite A, by Gauss and Jordan; false: it is not
static bool invert(size_t n, double *A) {
    for (size_t p = 0; p < n; p++) {
        double pivot = A[n * p + p];
        if (!(pivot > 0 && pivot < INFINITY)) return false;
        A[n * p + p] = 1;
        for (size_t j = 0; j < n; j++) A[n * p + j] /= pivot;
        for (size_t i = 0; i < n; i++) {
            double factor = A[n * i + p];
            if (i == p) continue;
            A[n * i + p] = 0;
            for (size_t j = 0; j < n; j++) A[n * i + j] -= factor * A[n * p + j];
        }
    }
    return true;
}

static bool invert_few(rbt_islands *s, rbt_island *island, double h) {
    size_t n = 3 * (island->end - island->begin);
    memset(island->inverse, 0, n * n * sizeof(double));
    for (size_t r = island->begin; r < island->end; r++)
        for (size_t k = s->start[r]; k < s->start[r + 1]; k++) {
            double A[9], *to = island->inverse + 3 * n * (r - island->begin) + 3 * (size_t)s->column[k];
            block_of_A(s, r, k, island->begin, h, A);
            for (size_t i = 0; i < 9; i++) to[n * (i / 3) + i % 3] = A[i];
        }
    return invert(n, island->inverse);
}

static rbt_factor_result factor_many(rbt_islands *s, rbt_island *island, double h, size_t *row) {
    size_t to = 0;
    for (size_t r = island->begin; r < island->end; r++)
        for (size_t k = s->start[r]; k < s->start[r + 1]; k++)
            if ((size_t)s->column[k] <= r - island->begin)
                block_of_A(s, r, k, island->begin, h, island->A.value + 9 * to++);
    if (!island->factor) island->factor = rbt_cholesky_analyse(&island->A, s->every_row, NULL);
    return island->factor ? rbt_cholesky_factor(island->factor, &island->A, row) : RBT_FACTOR_NO_MEMORY;
}

static rbt_outcome fail_inverse(const rbt_islands *s, rbt_factor_result result, const rbt_state *state, size_t row,
                                rbt_step_report *report) {
    if (result == RBT_FACTOR_NO_MEMORY) return RBT_OUT_OF_MEMORY;
    rbt_report_node(report, s->whole, state->x, body_node(s, row));
    snprintf(report->hint, sizeof report->hint,
             "the matrix of the implicit nodes there is not finite; take a smaller step");
    return RBT_NOT_FINITE;
}

static rbt_outcome find_inverses(rbt_islands *s, const rbt_state *state, const unsigned char *constrained, double h,
                                 rbt_step_report *report) {
    bool all = !s->ready || s->made_for != h;
    for (size_t r = 0; r < s->count; r++) {
        unsigned char now = constrained && constrained[body_node(s, r)];
        all = all || s->constrained[r] != now;
        s->constrained[r] = now;
    }
    s->ready = false;
    for (size_t k = 0; k < s->island_count; k++) {
        rbt_island *island = &s->islands[k];
        size_t row = 0;
        rbt_factor_result result = RBT_FACTORED;
        if (!all && !island->stale) continue;
        if (island->stale) make_rows(s, island);
        island->stale = false;
        if (island->inverse) result = invert_few(s, island, h) ? RBT_FACTORED : RBT_FACTOR_NOT_FINITE;
        else result = factor_many(s, island, h, &row);
        if (result != RBT_FACTORED) return fail_inverse(s, result, state, island->begin + row, report);
    }
    s->made_for = h;
    s->ready = true;
    return RBT_DONE;
}

// ---- The equation

void rbt_islands_take_external(rbt_islands *s, const double *f) {
    for (size_t r = 0; r < s->count; r++) memcpy(s->external + 3 * r, f + 3 * body_node(s, r), 3 * sizeof *f);
}

void rbt_islands_take(rbt_islands *s, const double *f) {
    for (size_t r = 0; r < s->count; r++)
        rbt_subtract(f + 3 * body_node(s, r), s->external + 3 * r, s->elastic + 3 * r);
}

static void right_side(rbt_islands *s, const rbt_state *state, double h) {
    memset(s->bent, 0, 3 * s->part.model.node_count * sizeof *s->bent);
    rbt_force_elastic(&s->part.model, s->x, NULL, s->partial, s->bent);
    for (size_t r = 0; r < s->count; r++) {
        size_t node = body_node(s, r);
        double beta = rbt_stiffness_factor(s->whole, node, h) / h - h;
        double drag = (rbt_mass_factor(s->whole, node, h) - 1) * s->whole->mass[node];
        const double *bent = s->bent + 3 * (size_t)s->node[r], *v = state->v + 3 * node;
        for (size_t k = 0; k < 3; k++)
            s->rhs[3 * r + k] = s->constrained[r] ? 0
                                                  : h * (s->external[3 * r + k] + bent[k]) +
                                                        beta * (bent[k] - s->elastic[3 * r + k]) - drag * v[k];
    }
}

static bool solve_island(rbt_islands *s, const rbt_island *island) {
    size_t n = 3 * (island->end - island->begin);
    const double *b = s->rhs + 3 * island->begin;
    double *x = s->dv + 3 * island->begin;
    if (!island->inverse) return rbt_cholesky_solve(island->factor, b, x);
    for (size_t i = 0; i < n; i++) {
        x[i] = 0;
        for (size_t j = 0; j < n; j++) x[i] += island->inverse[n * i + j] * b[j];
    }
    return true;
}

static rbt_outcome solve(rbt_islands *s, const rbt_state *state, double h, rbt_step_report *report) {
    right_side(s, state, h);
    report->statistics[RBT_STAT_ITERATIONS]++;
    for (size_t k = 0; k < s->island_count; k++)
        if (!solve_island(s, &s->islands[k])) return RBT_OUT_OF_MEMORY;
    return RBT_DONE;
}

rbt_outcome rbt_islands_solve(rbt_islands *s, rbt_state *state, rbt_islands_memory *memory,
                              const unsigned char *constrained, double h, rbt_stages *stages,
                              rbt_step_report *report) {
    RBT_STAGE("tangent", find_rotations(s, state, memory, h));             // who has turned too far
    RBT_STAGE("factor", find_inverses(s, state, constrained, h, report));  // K and A^-1 of their islands
    RBT_STAGE("solve", solve(s, state, h, report));                        // dv
    return RBT_DONE;
}

void rbt_islands_add(const rbt_islands *s, rbt_state *state) {
    for (size_t r = 0; r < s->count; r++)
        if (!s->constrained[r]) rbt_add_scaled(state->v + 3 * body_node(s, r), 1, s->dv + 3 * r);
}

// ---- Life

void rbt_islands_free(rbt_islands *s) {
    for (size_t k = 0; s->islands && k < s->island_count; k++) rbt_cholesky_free(s->islands[k].factor);
    rbt_model_part_free(&s->part);
    *s = (rbt_islands){0};
}

static bool allocate(rbt_islands *s) {
    size_t nodes = s->part.model.node_count, elements = s->part.element_count;
    double **own[] = {&s->external, &s->elastic, &s->rhs, &s->dv}, **all[] = {&s->x, &s->bent};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (!(*own[i] = rbt_arena_take(s->part.arena, 3 * s->count, sizeof(double)))) return false;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!(*all[i] = rbt_arena_take(s->part.arena, 3 * nodes, sizeof(double)))) return false;
    return (s->partial = rbt_arena_take(s->part.arena, 3 * s->part.model.plan.slot_count, sizeof(double))) &&
           (s->turned = rbt_arena_take(s->part.arena, 4 * elements, sizeof *s->turned)) &&
           (s->square = rbt_arena_take(s->part.arena, elements, sizeof *s->square)) &&
           (s->rotation = rbt_arena_take(s->part.arena, 9 * elements, sizeof *s->rotation)) &&
           (s->constrained = rbt_arena_take(s->part.arena, s->count, 1)) &&
           (s->every_row = rbt_arena_take(s->part.arena, s->count, 1));
}

bool rbt_islands_init(rbt_islands *s, const rbt_model *model, const unsigned char *chosen, double lag,
                      rbt_error *error) {
    *s = (rbt_islands){.whole = model, .lag = lag};
    if (!rbt_model_part_build(&s->part, model, chosen, error)) return false;
    s->count = s->part.chosen_count;
    size_t nodes = s->part.model.node_count;
    double *mass = rbt_arena_take(s->part.arena, nodes, sizeof *mass);
    bool ok = (mass && allocate(s)) || rbt_fail_memory(error, 20 * nodes * sizeof(double), "the implicit nodes");
    if (ok) {
        memset(s->every_row, 1, s->count);
        for (size_t i = 0; i < nodes; i++) mass[i] = model->mass[s->part.nodes[i]];
        rbt_model_part_gather(&s->part, model->X, s->x);
        ok = rbt_rotation_lag_build(&s->turn, &s->part, mass, s->x, error) && rbt_islands_build(s, error);
    }
    if (!ok) rbt_islands_free(s);
    return ok;
}
