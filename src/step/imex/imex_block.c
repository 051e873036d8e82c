#include "step/imex/imex_block.h"

#include "base/threads.h"
#include "math/vec3.h"
#include "math/vector.h"
#include "model/linear_obstacle.h"
#include "step/imex/imex_cost.h"
#include "step/linearised/linearised.h"

#include <stdio.h>
#include <string.h>

enum { PATIENCE = 12, MAX_ITERATIONS = 5000 };  // with an old factor; at all

void rbt_imex_block_free(rbt_imex_block *b) {
    rbt_cholesky_free(b->factor);
    rbt_stiffness_free(&b->stiffness);
    rbt_model_part_free(&b->part);
    *b = (rbt_imex_block){0};
}

// ---- Costs

double rbt_imex_iteration_cost(const rbt_imex_block *b) {
    double cost = RBT_UNIT_PRODUCT * (double)b->part.element_count + RBT_UNIT_ROW * (double)b->count;
    return b->factor ? cost + RBT_UNIT_SOLVE * rbt_cholesky_fill(b->factor) : cost;
}

double rbt_imex_inverse_cost(const rbt_imex_block *b) {
    double elements = (double)b->part.element_count;
    return b->factor ? RBT_UNIT_ASSEMBLE * elements + RBT_UNIT_FLOP * rbt_cholesky_flops(b->factor)
                     : RBT_UNIT_DIAGONAL * elements;
}

// ---- The inverse

static rbt_outcome analyse(rbt_imex_block *b, const unsigned char *constrained) {
    bool same = b->row_count > 0 && (b->factor || b->solver == RBT_IMEX_CG);
    for (size_t i = 0; i < b->count; i++) {
        unsigned char now = constrained && constrained[b->part.nodes[i]];
        same = same && b->constrained[i] == now;
        b->constrained[i] = now;
    }
    if (same) return RBT_DONE;
    b->ready = false;
    b->row_count = 0;
    for (size_t i = 0; i < b->count; i++)
        if (!b->constrained[i]) b->rows[b->row_count++] = (int32_t)i;
    if (b->solver == RBT_IMEX_CG || !b->row_count) return RBT_DONE;
    rbt_cholesky_free(b->factor);
    // Inside conjugate gradients single precision is enough.
    b->factor = rbt_cholesky_analyse_rows(&b->A, b->rows, b->row_count, b->direct ? RBT_DOUBLE : RBT_SINGLE, NULL);
    return b->factor ? RBT_DONE : RBT_OUT_OF_MEMORY;
}

static size_t body_node(const rbt_imex_block *b, size_t i) { return (size_t)b->part.nodes[i]; }

static void assemble(rbt_imex_block *b, const double *x, double h) {
    const rbt_block_matrix *K = &b->stiffness.K;
    rbt_stiffness_assemble(&b->stiffness, &b->part.model, RBT_TANGENT, x);
    for (size_t i = 0; i < b->count; i++) {
        double scale = rbt_stiffness_factor(b->whole, body_node(b, i), h);
        double *diagonal = b->A.value + 9 * (K->start[i + 1] - 1);
        for (size_t k = 9 * K->start[i]; k < 9 * K->start[i + 1]; k++) b->A.value[k] = scale * K->value[k];
        for (size_t k = 0; k < 9; k += 4) diagonal[k] += rbt_mass_factor(b->whole, body_node(b, i), h) * b->mass[i];
        if (b->contact) rbt_obstacle_stiffen(diagonal, h * h, b->contact + 9 * i);
    }
}

static bool invert3(const double A[9], double B[9]) {
    rbt_cross(A + 3, A + 6, B);
    rbt_cross(A + 6, A, B + 3);
    rbt_cross(A, A + 3, B + 6);
    double det = rbt_dot(A, B);
    for (int i = 0; i < 9; i++) B[i] /= det;  // the transposed of the inverse, and A is symmetric
    return det > 0;
}

static rbt_factor_result invert_diagonal(rbt_imex_block *b, const double *x, double h, size_t *row) {
    rbt_tangent_diagonal(&b->tangent, x, b->inverse);
    for (size_t i = 0; i < b->count; i++) {
        double D[9], *own = b->inverse + 9 * i, scale = rbt_stiffness_factor(b->whole, body_node(b, i), h);
        for (int k = 0; k < 9; k++) D[k] = scale * own[k] + (b->contact ? h * h * b->contact[9 * i + (size_t)k] : 0);
        for (int k = 0; k < 9; k += 4) D[k] += rbt_mass_factor(b->whole, body_node(b, i), h) * b->mass[i];
        if (invert3(D, own)) continue;
        *row = i;
        return RBT_FACTOR_INDEFINITE;
    }
    return RBT_FACTORED;
}

static rbt_outcome make_inverse(rbt_imex_block *b, const double *x, double h, const rbt_state *state,
                                rbt_step_report *report) {
    size_t row = 0;
    rbt_factor_result result;
    b->ready = false;
    if (b->solver == RBT_IMEX_CG) {
        result = invert_diagonal(b, x, h, &row);
    } else {
        assemble(b, x, h);
        result = rbt_cholesky_factor(b->factor, &b->A, &row);
    }
    if (result == RBT_FACTORED) {
        if (x != b->made_at) memcpy(b->made_at, x, 3 * b->part.model.node_count * sizeof *x);
        b->made_for = h;
        b->ready = true;
        return RBT_DONE;
    }
    if (result == RBT_FACTOR_NO_MEMORY) return RBT_OUT_OF_MEMORY;
    if (state) rbt_report_node(report, b->whole, state->x, body_node(b, row));
    snprintf(report->hint, sizeof report->hint,
             "the matrix of the implicit nodes is indefinite: the body is strongly compressed there; take a smaller "
             "step or backward-euler");
    return result == RBT_FACTOR_NOT_FINITE ? RBT_NOT_FINITE : RBT_NOT_POSITIVE_DEFINITE;
}

// z = inverse r over the rows that are not constrained, 0 in the others; false: no memory
static bool apply_inverse(rbt_imex_block *b, const double *r, double *z) {
    if (b->solver == RBT_IMEX_CG) {
        for (size_t i = 0; i < b->count; i++) {
            const double *B = b->inverse + 9 * i, *v = r + 3 * i;
            for (size_t k = 0; k < 3; k++) z[3 * i + k] = b->constrained[i] ? 0 : rbt_dot(B + 3 * k, v);
        }
        return true;
    }
    if (!rbt_cholesky_solve_rows(b->factor, r, z)) return false;
    if (b->row_count == b->count) return true;
    for (size_t k = b->row_count, i = b->count; i-- > 0;) {  // spread out, from the end
        if (b->constrained[i]) memset(z + 3 * i, 0, 3 * sizeof *z);
        else memmove(z + 3 * i, z + 3 * --k, 3 * sizeof *z);
    }
    return true;
}

// ---- The equation

// y = A p over the implicit nodes; p is 0 in all others
static void product(rbt_imex_block *b, const double *p, double h, double *y) {
    rbt_tangent_product(&b->tangent, p, b->Kp);
    for (size_t i = 0; i < b->count; i++) {
        double scale = rbt_stiffness_factor(b->whole, body_node(b, i), h);
        double mass = rbt_mass_factor(b->whole, body_node(b, i), h) * b->mass[i];
        for (size_t k = 3 * i; k < 3 * i + 3; k++) {
            y[k] = mass * p[k] + scale * b->Kp[k];
            if (b->contact) y[k] += h * h * rbt_dot(b->contact + 3 * k, p + 3 * i);
            if (b->constrained[i]) y[k] = 0;
        }
    }
}

static bool right_side(rbt_imex_block *b, const rbt_state *state, double h) {
    rbt_model_part_gather(&b->part, state->v, b->moved);
    rbt_tangent_product(&b->tangent, b->moved, b->Kp);
    for (size_t i = 0; i < b->count; i++) {
        double scale = rbt_stiffness_factor(b->whole, body_node(b, i), h);
        double drag = (rbt_mass_factor(b->whole, body_node(b, i), h) - 1) * b->mass[i];
        for (size_t k = 3 * i; k < 3 * i + 3; k++)
            b->rhs[k] = b->constrained[i] ? 0 : h * b->f[k] - drag * b->moved[k] - scale * b->Kp[k];
    }
    return isfinite(rbt_vector_norm(3 * b->count, b->rhs));
}

// r^T M^-1 r, not less than the square of the error A^-1 r in the energy norm |e|_A^2 = e^T A e, since A - M has no
// negative eigenvalue
static double error_bound(const rbt_imex_block *b) {
    double sum = 0;
    for (size_t i = 0; i < b->count; i++)
        if (b->mass[i] > 0) sum += rbt_dot(b->r + 3 * i, b->r + 3 * i) / b->mass[i];
    return sum;
}

// Conjugate gradients for A dv = rhs from 0, until the error in the energy norm is at most `tolerance` of dv:
// |dv|_A^2 is the sum of what the iterations gain. At most `most` iterations: RBT_NOT_CONVERGED after them. *error:
// the bound relative to dv.
static rbt_outcome iterate(rbt_imex_block *b, double h, int most, int *iterations, double *error) {
    size_t n = 3 * b->count;
    double rz = 0, gained = 0, bound;
    memset(b->dv, 0, n * sizeof *b->dv);
    memcpy(b->r, b->rhs, n * sizeof *b->r);
    *error = 0;
    for (*iterations = 0; (bound = error_bound(b)) > b->tolerance * b->tolerance * gained; ++*iterations) {
        if (*iterations == most) return RBT_NOT_CONVERGED;
        if (!apply_inverse(b, b->r, b->z)) return RBT_OUT_OF_MEMORY;
        double before = rz;
        rz = rbt_vector_dot(n, b->r, b->z);
        if (*iterations) rbt_vector_combine(n, b->p, b->z, rz / before, b->p);
        else memcpy(b->p, b->z, n * sizeof *b->p);
        product(b, b->p, h, b->q);
        double curvature = rbt_vector_dot(n, b->p, b->q);
        if (!isfinite(curvature) || !isfinite(rz)) return RBT_NOT_FINITE;
        if (!(curvature > 0) || !(rz > 0)) return RBT_NOT_POSITIVE_DEFINITE;
        rbt_vector_add_scaled(n, b->dv, rz / curvature, b->p);
        rbt_vector_add_scaled(n, b->r, -rz / curvature, b->q);
        gained += rz * rz / curvature;
    }
    *error = gained > 0 ? sqrt(bound / gained) : 0;
    return RBT_DONE;
}

// ---- The stages

void rbt_imex_block_meet(rbt_imex_block *b, const rbt_state *state, const double *external, double h) {
    for (size_t i = 0; b->contact && i < b->count; i++) {
        size_t n = body_node(b, i);
        double ahead[3], y[3];
        for (size_t k = 0; k < 3; k++) {
            ahead[k] = rbt_obstacle_ahead(b->whole, n, h, external[3 * n + k]);
            y[k] = state->x[3 * n + k] + h * state->v[3 * n + k] + ahead[k];
        }
        rbt_obstacle_meet(b->whole, n, y, ahead, b->f + 3 * i, b->contact + 9 * i);
    }
}

void rbt_imex_block_take(rbt_imex_block *b, const double *f) {
    for (size_t i = 0; i < 3 * b->count; i++) {
        double own = f[3 * body_node(b, i / 3) + i % 3];
        b->f[i] = b->contact ? b->f[i] + own : own;
    }
}

static rbt_outcome prepare(rbt_imex_block *b, const rbt_state *state, const unsigned char *constrained) {
    rbt_model_part_gather(&b->part, state->x, b->x);
    if (!b->constant) rbt_tangent_prepare(&b->tangent, b->x);
    return analyse(b, constrained);
}

// The inverse that the memory speaks of, or one made here if there is none or a new one is due
static rbt_outcome invert(rbt_imex_block *b, rbt_imex_memory *memory, const rbt_state *state, double h,
                          rbt_step_report *report) {
    if (b->constant || b->direct)
        return b->constant && b->ready && b->made_for == h ? RBT_DONE : make_inverse(b, b->x, h, state, report);
    size_t bytes = 3 * b->part.model.node_count * sizeof(double);
    double *at = (double *)(memory + 1);
    if (memory->made && !memory->stale && memory->h == h) {
        if (b->ready && b->made_for == h && memcmp(b->made_at, at, bytes) == 0) return RBT_DONE;
        memcpy(b->made_at, at, bytes);
        if (make_inverse(b, b->made_at, h, state, report) == RBT_DONE) return RBT_DONE;
    }
    *memory = (rbt_imex_memory){0};
    rbt_outcome outcome = make_inverse(b, b->x, h, state, report);
    if (outcome != RBT_DONE) return outcome;
    *memory = (rbt_imex_memory){.made = 1, .h = h};
    memcpy(at, b->x, bytes);
    return RBT_DONE;
}

static rbt_outcome solve(rbt_imex_block *b, rbt_imex_memory *memory, const rbt_state *state, double h,
                         rbt_step_report *report) {
    int iterations = 0;
    if (!right_side(b, state, h)) return RBT_NOT_FINITE;
    if (b->direct) {
        report->statistics[RBT_STAT_ITERATIONS]++;
        return apply_inverse(b, b->rhs, b->dv) ? RBT_DONE : RBT_OUT_OF_MEMORY;
    }
    bool old = memory && memory->fresh > 0;
    int patience = b->solver == RBT_IMEX_CACHED && old ? PATIENCE : MAX_ITERATIONS;
    rbt_outcome outcome = iterate(b, h, patience, &iterations, &report->statistics[RBT_STAT_RESIDUAL]);
    if (old && (outcome == RBT_NOT_CONVERGED || outcome == RBT_NOT_POSITIVE_DEFINITE)) {
        memory->stale = 1;
        memory->fresh = 0;
        if ((outcome = invert(b, memory, state, h, report)) != RBT_DONE) return outcome;
        report->statistics[RBT_STAT_ITERATIONS] += iterations;
        outcome = iterate(b, h, MAX_ITERATIONS, &iterations, &report->statistics[RBT_STAT_RESIDUAL]);
    }
    report->statistics[RBT_STAT_ITERATIONS] += iterations;
    if (outcome == RBT_NOT_POSITIVE_DEFINITE)
        snprintf(report->hint, sizeof report->hint,
                 "the matrix of the implicit nodes is indefinite: the body is strongly compressed there; take a "
                 "smaller step or backward-euler");
    if (outcome != RBT_DONE || !memory) return outcome;
    if (memory->fresh > 0) memory->spent += (iterations - memory->fresh) * rbt_imex_iteration_cost(b);
    else memory->fresh = iterations > 1 ? iterations : 1;
    // The stiffness of contacts is not remembered, and jumps: with obstacles every step has an inverse of its own.
    memory->stale = b->contact || memory->spent > rbt_imex_inverse_cost(b);
    return RBT_DONE;
}

rbt_outcome rbt_imex_block_solve(rbt_imex_block *b, rbt_state *state, rbt_imex_memory *memory,
                                 const unsigned char *constrained, double h, rbt_stages *stages,
                                 rbt_step_report *report) {
    RBT_STAGE("tangent", prepare(b, state, constrained));  // K(x) of the elements at implicit nodes, as a map
    if (!b->row_count) {
        memset(b->dv, 0, 3 * b->count * sizeof *b->dv);
        return RBT_DONE;
    }
    RBT_STAGE("factor", invert(b, memory, state, h, report));  // an inverse of A, old or new
    RBT_STAGE("solve", solve(b, memory, state, h, report));    // A dv = h (f - D v - h K v)
    return RBT_DONE;
}

bool rbt_imex_block_push(rbt_imex_block *b, const double *J, const double *known, double h) {
    memset(b->dv, 0, 3 * b->count * sizeof *b->dv);
    if (!b->row_count) return true;
    rbt_model_part_gather(&b->part, known, b->moved);
    rbt_tangent_product(&b->tangent, b->moved, b->Kp);
    for (size_t i = 0; i < 3 * b->count; i++) {
        double scale = rbt_stiffness_factor(b->whole, body_node(b, i / 3), h);
        b->rhs[i] = b->constrained[i / 3] ? 0 : J[3 * body_node(b, i / 3) + i % 3] - scale * b->Kp[i];
    }
    return apply_inverse(b, b->rhs, b->dv);
}

void rbt_imex_block_add(const rbt_imex_block *b, rbt_state *state) {
    for (size_t i = 0; i < 3 * b->count; i++)
        if (!b->constrained[i / 3]) state->v[3 * body_node(b, i / 3) + i % 3] += b->dv[i];
}

// ---- Life

static bool allocate(rbt_imex_block *b, rbt_arena *arena) {
    size_t values = 3 * b->part.model.node_count, own = 3 * b->count;
    double **full[] = {&b->made_at, &b->x, &b->moved, &b->Kp, &b->rhs, &b->dv, &b->r, &b->z, &b->q, &b->p};
    for (size_t i = 0; i < sizeof full / sizeof *full; i++)
        if (!(*full[i] = rbt_arena_take(arena, values, sizeof(double)))) return false;
    if (b->whole->obstacles.count && !(b->contact = rbt_arena_take(arena, 3 * own, sizeof(double)))) return false;
    return (b->mass = rbt_arena_take(arena, b->count, sizeof(double))) &&
           (b->f = rbt_arena_take(arena, own, sizeof(double))) &&
           (b->inverse = rbt_arena_take(arena, 9 * b->part.model.node_count, sizeof(double))) &&
           (b->rows = rbt_arena_take(arena, b->count, sizeof *b->rows)) &&
           (b->constrained = rbt_arena_take(arena, b->count, 1));
}

static bool build_matrix(rbt_imex_block *b, rbt_error *error) {
    if (!rbt_stiffness_build(&b->stiffness, &b->part.model, error)) return false;
    b->A = b->stiffness.K;
    size_t blocks = b->A.start[b->A.row_count];
    return (b->A.value = rbt_arena_take(b->part.arena, 9 * blocks, sizeof(double))) ||
           rbt_fail_memory(error, 9 * blocks * sizeof(double), "the implicit nodes");
}

// Iterations of conjugate gradients at rest, with the diagonal blocks' inverse, for a right-hand side without
// preference
static int probe(rbt_imex_block *b, double step) {
    rbt_step_report unused = {0};
    int iterations = MAX_ITERATIONS;
    rbt_model_part_gather(&b->part, b->whole->X, b->x);
    b->solver = RBT_IMEX_CG;
    analyse(b, NULL);
    if (make_inverse(b, b->x, step, NULL, &unused) != RBT_DONE) return MAX_ITERATIONS;
    for (size_t i = 0; i < 3 * b->count; i++) b->rhs[i] = b->mass[i / 3] * ((i * 2654435761u % 1024) / 512.0 - 1);
    iterate(b, step, 300, &iterations, &unused.statistics[RBT_STAT_RESIDUAL]);
    b->ready = false;
    return iterations;
}

// The cheaper of both by the fixed units. An old factor needs about three iterations, and every twenty steps a new one.
static bool choose(rbt_imex_block *b, double step, rbt_error *error) {
    double cg = probe(b, step) * rbt_imex_iteration_cost(b);
    b->solver = RBT_IMEX_CACHED;
    b->direct = b->constant;
    b->row_count = 0;
    if (!build_matrix(b, error) || analyse(b, NULL) != RBT_DONE) return false;
    double factored = b->constant ? RBT_UNIT_SOLVE * rbt_cholesky_fill(b->factor)
                                  : 3 * rbt_imex_iteration_cost(b) + rbt_imex_inverse_cost(b) / 20;
    if (factored <= cg) return true;
    rbt_cholesky_free(b->factor);
    rbt_stiffness_free(&b->stiffness);
    b->factor = NULL;
    b->solver = RBT_IMEX_CG;
    b->direct = false;
    return true;
}

bool rbt_imex_block_init(rbt_imex_block *b, const rbt_model *model, const unsigned char *chosen,
                         rbt_imex_solver solver, double tolerance, double step, rbt_error *error) {
    *b = (rbt_imex_block){.whole = model, .tolerance = tolerance, .solver = solver};
    if (!rbt_model_part_build(&b->part, model, chosen, error)) return false;
    b->count = b->part.chosen_count;
    bool ok = allocate(b, b->part.arena) ||
              rbt_fail_memory(error, 30 * b->part.model.node_count * sizeof(double), "the implicit nodes");
    ok = ok && rbt_tangent_build(&b->tangent, b->part.arena, &b->part.model, error);
    if (ok) {
        for (size_t i = 0; i < b->count; i++) b->mass[i] = model->mass[body_node(b, i)];
        b->constant = model->linear && !b->contact;
        rbt_model_part_gather(&b->part, model->X, b->x);
        rbt_tangent_prepare(&b->tangent, b->x);
        if (solver == RBT_IMEX_AUTO) ok = choose(b, step, error);
        else if (solver != RBT_IMEX_CG) {
            b->direct = b->constant || solver == RBT_IMEX_CHOLESKY;
            ok = build_matrix(b, error);
        }
    }
    if (!ok) rbt_imex_block_free(b);
    return ok;
}
