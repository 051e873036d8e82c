#include "cluster/petsc_solver.h"

#include "cluster/communicator.h"

#include <petscksp.h>
#include <stdio.h>
#include <string.h>

static const double TOLERANCE = 1e-9;
enum { MAX_ITERATIONS = 5000 };
static const char *const WHAT = "a linear solver";

typedef struct petsc {
    const rbt_model *m;
    const rbt_block_matrix *A;
    rbt_arena *arena;
    bool multigrid;
    MPI_Comm world;
    int32_t *number;             // (node_count)
    unsigned char *constrained;  // (node_count)
    bool analysed;
    size_t owned;  // nodes
    Mat matrix;
    Vec b, y;
    KSP ksp;
} petsc;

bool rbt_petsc_numbers(const rbt_model *m, int32_t *number, rbt_error *error) {
    const rbt_communicator *c = m->ranks->self;
    double *shared = rbt_array_new(3 * m->node_count, sizeof *shared, WHAT, error);
    int64_t own = 0, before = 0;
    if (rbt_ranks_any(m, !shared)) {
        free(shared);
        return false;
    }
    for (size_t n = 0; n < m->node_count; n++) own += m->ranks->owned[n];
    MPI_Exscan(&own, &before, 1, MPI_INT64_T, MPI_SUM, c->world);
    if (c->rank == 0) before = 0;
    for (size_t n = 0; n < m->node_count; n++)
        if (m->ranks->owned[n]) shared[3 * n] = (double)before++;
    rbt_ranks_share(m, shared);
    for (size_t n = 0; n < m->node_count; n++) number[n] = (int32_t)shared[3 * n];
    free(shared);
    return true;
}

static void destroy(void *self) {
    petsc *s = self;
    KSPDestroy(&s->ksp);
    VecDestroy(&s->b);
    VecDestroy(&s->y);
    MatDestroy(&s->matrix);
    rbt_arena_free(s->arena);
    free(s);
}

// Blocks of each row that is owned: with nodes of this rank, and with others
static void count_blocks(const petsc *s, PetscInt *here, PetscInt *there) {
    const unsigned char *owned = s->m->ranks->owned;
    PetscInt row = 0;
    int32_t *place = rbt_array_new(s->m->node_count, sizeof *place, WHAT, NULL);
    for (size_t n = 0; place && n < s->m->node_count; n++) place[n] = owned[n] ? (int32_t)row++ : -1;
    for (size_t i = 0; place && i < s->m->node_count; i++)
        for (size_t k = s->A->start[i]; k < s->A->start[i + 1]; k++) {
            size_t j = (size_t)s->A->column[k];
            if (owned[i]) (owned[j] ? here : there)[place[i]]++;
            if (i != j && owned[j]) (owned[i] ? here : there)[place[j]]++;
        }
    free(place);
}

// The products P^T A P of multigrid by hypre's kernels. PETSc's own for matrices on several ranks keep A P and P^T
// beside each level: a rank of two has then 0.84 of the peak of one alone (472,392 tets), and 0.61 with hypre's.
// PETSc's "allatonce" keeps nothing either, but takes four times as long to set up. On one rank PETSc's own keep
// little.
static PetscErrorCode choose_products(const petsc *s) {
    PetscFunctionBeginUser;
#ifdef PETSC_HAVE_HYPRE
    PetscBool asked;
    PetscCall(PetscOptionsHasName(NULL, NULL, "-matptap_via", &asked));
    if (s->multigrid && s->m->ranks->count > 1 && !asked)
        PetscCall(PetscOptionsSetValue(NULL, "-matptap_via", "hypre"));
#endif
    PetscFunctionReturn(0);
}

// Multigrid gets a new one for each matrix: the levels of the last go before the next are made.
static PetscErrorCode make_solver(petsc *s) {
    PC pc;
    PetscFunctionBeginUser;
    PetscCall(KSPDestroy(&s->ksp));
    PetscCall(KSPCreate(s->world, &s->ksp));
    PetscCall(KSPGetPC(s->ksp, &pc));
    if (s->multigrid) {
        PetscCall(KSPSetType(s->ksp, KSPCG));
        PetscCall(KSPSetNormType(s->ksp, KSP_NORM_UNPRECONDITIONED));
        PetscCall(KSPSetTolerances(s->ksp, TOLERANCE, 1e-300, PETSC_DEFAULT, MAX_ITERATIONS));
        PetscCall(PCSetType(pc, PCGAMG));
        PetscCall(PCGAMGSetType(pc, PCGAMGAGG));
    } else {
        PetscCall(KSPSetType(s->ksp, KSPPREONLY));
        PetscCall(PCSetType(pc, PCCHOLESKY));
        PetscCall(PCFactorSetMatSolverType(pc, MATSOLVERMUMPS));
    }
    PetscCall(KSPSetFromOptions(s->ksp));
    PetscFunctionReturn(0);
}

static PetscErrorCode make(petsc *s) {
    PetscInt rows = (PetscInt)s->owned;
    PetscInt *here = calloc(s->owned + 1, sizeof *here), *there = calloc(s->owned + 1, sizeof *there);
    PetscFunctionBeginUser;
    PetscCheck(here && there, PETSC_COMM_SELF, PETSC_ERR_MEM, "no memory");
    count_blocks(s, here, there);
    PetscCall(choose_products(s));
    PetscCall(MatCreate(s->world, &s->matrix));
    PetscCall(MatSetSizes(s->matrix, 3 * rows, 3 * rows, PETSC_DETERMINE, PETSC_DETERMINE));
    PetscCall(MatSetBlockSize(s->matrix, 3));
    PetscCall(MatSetType(s->matrix, MATAIJ));
    PetscCall(MatXAIJSetPreallocation(s->matrix, 3, here, there, NULL, NULL));
    PetscCall(MatSetOption(s->matrix, MAT_SPD, PETSC_TRUE));
    PetscCall(MatSetOption(s->matrix, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
    free(here);
    free(there);
    PetscCall(MatCreateVecs(s->matrix, &s->y, &s->b));
    PetscCall(make_solver(s));
    PetscFunctionReturn(0);
}

// Constrained nodes have a row of their own: their diagonal alone.
static PetscErrorCode fill(petsc *s) {
    const unsigned char *owned = s->m->ranks->owned;
    const double zero[9] = {0};
    PetscFunctionBeginUser;
    for (size_t i = 0; i < s->m->node_count; i++)
        for (size_t k = s->A->start[i]; k < s->A->start[i + 1]; k++) {
            size_t j = (size_t)s->A->column[k];
            const double *B = s->A->value + 9 * k;
            bool out = i != j && (s->constrained[i] || s->constrained[j]);
            PetscInt row = s->number[i], column = s->number[j];
            double turned[9];
            for (int e = 0; e < 9; e++) turned[e] = out ? 0 : B[3 * (e % 3) + e / 3];
            if (owned[i])
                PetscCall(MatSetValuesBlocked(s->matrix, 1, &row, 1, &column, out ? zero : B, INSERT_VALUES));
            if (i != j && owned[j])
                PetscCall(MatSetValuesBlocked(s->matrix, 1, &column, 1, &row, turned, INSERT_VALUES));
        }
    PetscCall(MatAssemblyBegin(s->matrix, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(s->matrix, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(0);
}

static PetscErrorCode tell_rigid_motions(petsc *s, const double *x) {
    MatNullSpace rigid;
    Vec places;
    PetscScalar *at;
    PetscFunctionBeginUser;
    PetscCall(VecDuplicate(s->y, &places));
    PetscCall(VecSetBlockSize(places, 3));
    PetscCall(VecGetArray(places, &at));
    for (size_t n = 0, k = 0; n < s->m->node_count; n++)
        for (size_t i = 0; s->m->ranks->owned[n] && i < 3; i++) at[k++] = x[3 * n + i];
    PetscCall(VecRestoreArray(places, &at));
    PetscCall(MatNullSpaceCreateRigidBody(places, &rigid));
    PetscCall(MatSetNearNullSpace(s->matrix, rigid));
    PetscCall(MatNullSpaceDestroy(&rigid));
    PetscCall(VecDestroy(&places));
    PetscFunctionReturn(0);
}

static rbt_outcome analyse(void *self, const unsigned char *constrained, bool *changed) {
    petsc *s = self;
    *changed = rbt_ranks_any(s->m, !s->analysed || memcmp(constrained, s->constrained, s->m->node_count) != 0);
    memcpy(s->constrained, constrained, s->m->node_count);
    s->analysed = true;
    return RBT_DONE;
}

static rbt_outcome factor(void *self, const double *x, rbt_step_report *report) {
    petsc *s = self;
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    bool bad = (s->multigrid && make_solver(s)) || fill(s) || (s->multigrid && tell_rigid_motions(s, x)) ||
               KSPSetOperators(s->ksp, s->matrix, s->matrix) || KSPSetUp(s->ksp);
    KSPGetConvergedReason(s->ksp, &reason);
    if (!rbt_ranks_any(s->m, bad)) return RBT_DONE;
    snprintf(report->hint, sizeof report->hint,
             "PETSc could not prepare the step's matrix (reason %d): memory is missing, or it is indefinite",
             (int)reason);
    return RBT_NOT_POSITIVE_DEFINITE;
}

static rbt_outcome solve(void *self, const double *b, double *y, rbt_step_report *report) {
    petsc *s = self;
    PetscScalar *to;
    const PetscScalar *from;
    const unsigned char *owned = s->m->ranks->owned;
    KSPConvergedReason reason;
    PetscInt iterations = 0;
    PetscReal left = 0;
    VecGetArray(s->b, &to);
    for (size_t n = 0, k = 0; n < s->m->node_count; n++)
        for (size_t i = 0; owned[n] && i < 3; i++) to[k++] = s->constrained[n] ? 0 : b[3 * n + i];
    VecRestoreArray(s->b, &to);
    bool bad = KSPSolve(s->ksp, s->b, s->y) != 0;
    KSPGetConvergedReason(s->ksp, &reason);
    KSPGetIterationNumber(s->ksp, &iterations);
    KSPGetResidualNorm(s->ksp, &left);
    report->statistics[RBT_STAT_ITERATIONS] += iterations;
    VecGetArrayRead(s->y, &from);
    for (size_t n = 0, k = 0; n < s->m->node_count; n++)
        for (size_t i = 0; owned[n] && i < 3; i++, k++) y[3 * n + i] = s->constrained[n] ? 0 : from[k];
    VecRestoreArrayRead(s->y, &from);
    rbt_ranks_share(s->m, y);
    if (!bad && reason > 0) return RBT_DONE;
    bool indefinite = reason == KSP_DIVERGED_INDEFINITE_PC || reason == KSP_DIVERGED_INDEFINITE_MAT;
    snprintf(
        report->hint, sizeof report->hint,
        indefinite
            ? "conjugate gradients met a direction of negative curvature (reason %d after %d iterations); take a "
              "smaller step or backward-euler"
            : "PETSc's solver stopped for reason %d after %d iterations; take schwarz or a smaller step",
        (int)reason, (int)iterations);
    return indefinite                        ? RBT_NOT_POSITIVE_DEFINITE
           : reason == KSP_DIVERGED_NANORINF ? RBT_NOT_FINITE
                                             : RBT_NOT_CONVERGED;
}

bool rbt_petsc_solver(void *self, const char *name, const rbt_model *m, const rbt_block_matrix *A,
                      rbt_linear_solver *solver, rbt_error *error) {
    const rbt_communicator *c = self;
    petsc *s = rbt_array_new(1, sizeof *s, WHAT, error);
    if (s)
        *s = (petsc){.m = m,
                     .A = A,
                     .arena = rbt_arena_new(),
                     .world = c->world,
                     .multigrid = strcmp(name, "petsc-gamg") == 0};
    bool good = s && s->arena && (s->number = rbt_arena_take(s->arena, m->node_count, sizeof *s->number)) &&
                (s->constrained = rbt_arena_take(s->arena, m->node_count, 1));
    if (!good) rbt_fail_memory(error, m->node_count, WHAT);
    if (rbt_ranks_any(m, !good)) return false;
    for (size_t n = 0; n < m->node_count; n++) s->owned += m->ranks->owned[n];
    good = rbt_petsc_numbers(m, s->number, error) && make(s) == 0;
    if (!good && !error->message[0]) rbt_fail(error, "PETSc could not make the matrix of a step");
    *solver =
        (rbt_linear_solver){.self = s, .analyse = analyse, .factor = factor, .solve = solve, .destroy = destroy};
    return good;
}
