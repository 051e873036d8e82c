#include "step/core/linear.h"

#include <stdio.h>
#include <string.h>

// The relative residual that conjugate gradients stop at, and their patience
static const double TOLERANCE = 1e-9;
enum { MAX_ITERATIONS = 5000 };

bool rbt_linear_init(rbt_linear *l, const rbt_model *model, const rbt_block_matrix *A, bool iterative,
                     rbt_error *error) {
    *l = (rbt_linear){.model = model, .A = A, .iterative = iterative};
    l->analysed = rbt_array_new(model->node_count, 1, "a linear solver", error);
    l->keep = rbt_array_new(model->node_count, 1, "a linear solver", error);
    bool ok = l->analysed && l->keep;
    if (ok && iterative)
        ok = (l->cg = rbt_cg_new(model->node_count, error)) && (l->product = rbt_block_operator_new(A, error));
    if (!ok) rbt_linear_free(l);
    return ok;
}

void rbt_linear_free(rbt_linear *l) {
    if (l->other.self) l->other.destroy(l->other.self);
    rbt_cholesky_free(l->cholesky);
    rbt_core_order_free(&l->core_order);
    rbt_incomplete_free(l->incomplete);
    rbt_block_operator_free(l->product);
    rbt_cg_free(l->cg);
    free(l->analysed);
    free(l->keep);
    *l = (rbt_linear){0};
}

// The pattern of A has changed, and its core has not.
static rbt_outcome analyse_more(rbt_linear *l) {
    l->cholesky = rbt_cholesky_analyse_more(l->cholesky, &l->core_order, l->A, l->keep, NULL);
    l->analysed_pattern = l->pattern ? *l->pattern : 0;
    return l->cholesky ? RBT_DONE : RBT_OUT_OF_MEMORY;
}

rbt_outcome rbt_linear_analyse(rbt_linear *l, const unsigned char *constrained, bool *changed) {
    size_t nodes = l->model->node_count;
    if (l->other.self) return l->other.analyse(l->other.self, constrained, changed);
    bool others = !(l->cholesky || l->incomplete) || memcmp(constrained, l->analysed, nodes) != 0;
    *changed = others || (l->pattern && *l->pattern != l->analysed_pattern);
    if (!*changed) return RBT_DONE;
    if (l->core && !others) return analyse_more(l);
    rbt_cholesky_free(l->cholesky);
    rbt_core_order_free(&l->core_order);
    rbt_incomplete_free(l->incomplete);
    l->cholesky = NULL;
    l->incomplete = NULL;
    for (size_t n = 0; n < nodes; n++) l->keep[n] = !constrained[n];
    memcpy(l->analysed, constrained, nodes);
    if (l->core)
        return rbt_core_order_find(&l->core_order, l->core, l->keep, NULL) ? analyse_more(l) : RBT_OUT_OF_MEMORY;
    if (l->pattern) l->analysed_pattern = *l->pattern;
    if (l->iterative) l->incomplete = rbt_incomplete_analyse(l->A, l->keep, NULL);
    else l->cholesky = rbt_cholesky_analyse(l->A, l->keep, NULL);
    return l->cholesky || l->incomplete ? RBT_DONE : RBT_OUT_OF_MEMORY;
}

rbt_outcome rbt_linear_factor(rbt_linear *l, const double *x, rbt_step_report *report) {
    size_t row = 0;
    if (l->other.self) return l->other.factor(l->other.self, x, report);
    rbt_factor_result result = l->iterative ? rbt_incomplete_factor(l->incomplete, l->A, &row)
                                            : rbt_cholesky_factor(l->cholesky, l->A, &row);
    if (result == RBT_FACTORED) return RBT_DONE;
    if (result == RBT_FACTOR_NO_MEMORY) {
        snprintf(report->hint, sizeof report->hint,
                 "the factor needs %.3g GB; take a coarser mesh, the solver cg or an explicit method",
                 8e-9 * (l->cholesky ? rbt_cholesky_fill(l->cholesky) : 0));
        return RBT_OUT_OF_MEMORY;
    }
    rbt_report_node(report, l->model, x, row);
    if (result == RBT_FACTOR_NOT_FINITE) {
        snprintf(report->hint, sizeof report->hint, "the stiffness there is not a number; take a smaller step");
        return RBT_NOT_FINITE;
    }
    snprintf(report->hint, sizeof report->hint,
             "the step's matrix is indefinite: the body is strongly compressed there; take a smaller step or "
             "backward-euler");
    return RBT_NOT_POSITIVE_DEFINITE;
}

rbt_outcome rbt_linear_solve(rbt_linear *l, const double *b, double *y, rbt_step_report *report) {
    if (l->other.self) return l->other.solve(l->other.self, b, y, report);
    if (!l->iterative) {
        report->statistics[RBT_STAT_ITERATIONS]++;
        return rbt_cholesky_solve(l->cholesky, b, y) ? RBT_DONE : RBT_OUT_OF_MEMORY;
    }
    rbt_operator A = rbt_block_operator_of(l->product), P = rbt_incomplete_of(l->incomplete);
    memset(y, 0, 3 * l->model->node_count * sizeof *y);
    rbt_cg_report cg = rbt_cg_solve(l->cg, &A, &P, l->keep, b, y, TOLERANCE, MAX_ITERATIONS);
    report->statistics[RBT_STAT_ITERATIONS] += cg.iterations;
    report->statistics[RBT_STAT_RESIDUAL] = cg.residual;
    report->value = cg.residual;
    switch (cg.outcome) {
    case RBT_CG_CONVERGED: return RBT_DONE;
    case RBT_CG_INDEFINITE:
        snprintf(report->hint, sizeof report->hint,
                 "conjugate gradients met a direction of negative curvature; take a smaller step or backward-euler");
        return RBT_NOT_POSITIVE_DEFINITE;
    case RBT_CG_NOT_FINITE: return RBT_NOT_FINITE;
    case RBT_CG_NOT_CONVERGED: break;
    }
    snprintf(report->hint, sizeof report->hint,
             "conjugate gradients stopped at a residual of %.2g after %d iterations; take the solver cholesky",
             cg.residual, cg.iterations);
    return RBT_NOT_CONVERGED;
}
