// The linear solver of a step: a Cholesky factor, or conjugate gradients with incomplete Cholesky as preconditioner.
// Constrained nodes are eliminated; the symbolic part is done again only when other nodes are constrained, or when the
// pattern of the matrix changes.
#ifndef RBT_STEP_CORE_LINEAR_H
#define RBT_STEP_CORE_LINEAR_H

#include "base/text.h"
#include "solve/cholesky.h"
#include "solve/precondition.h"
#include "step/core/stage.h"

// Another solver in the place of these two: subdomains (step/subdomain/schwarz.h), or what ranks bring (model/ranks.h)
typedef struct rbt_linear_solver {
    void *self;
    rbt_outcome (*analyse)(void *self, const unsigned char *constrained, bool *changed);
    rbt_outcome (*factor)(void *self, const double *x, rbt_step_report *report);
    rbt_outcome (*solve)(void *self, const double *b, double *y, rbt_step_report *report);
    void (*destroy)(void *self);
    void (*describe)(const void *self, rbt_text *json);  // members of an object, in JSON; NULL: nothing
    int (*labels)(const void *self, int32_t *label);     // as rbt_method has them; NULL: none
} rbt_linear_solver;

typedef struct rbt_linear {
    const rbt_model *model;
    rbt_linear_solver other;    // self NULL: none
    const rbt_block_matrix *A;  // the values may change between factorisations
    bool iterative;
    rbt_cholesky *cholesky;
    const rbt_block_matrix *core;  // the caller's: part of A whose pattern never changes; NULL: all of it
    rbt_core_order core_order;     // of it, for the constrained nodes of `analysed`
    rbt_incomplete *incomplete;    // iterative:
    rbt_block_operator *product;
    rbt_cg *cg;
    unsigned char *analysed, *keep;  // (node_count)
    const uint64_t *pattern;         // the caller's: another number for another pattern of A; NULL: it never changes
    uint64_t analysed_pattern;
} rbt_linear;

bool rbt_linear_init(rbt_linear *linear, const rbt_model *model, const rbt_block_matrix *A, bool iterative,
                     rbt_error *error);
void rbt_linear_free(rbt_linear *linear);

// Sets *changed if the constrained nodes are others than last time, so that a factor can no longer be kept.
rbt_outcome rbt_linear_analyse(rbt_linear *linear, const unsigned char *constrained, bool *changed);

// Factors A (or its preconditioner). If it cannot, the report names the node's place at x.
rbt_outcome rbt_linear_factor(rbt_linear *linear, const double *x, rbt_step_report *report);

// A y = b over the nodes that are not constrained; y is 0 in the others.
rbt_outcome rbt_linear_solve(rbt_linear *linear, const double *b, double *y, rbt_step_report *report);

#endif
