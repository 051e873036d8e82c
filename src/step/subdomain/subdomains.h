// A body divided into subdomains, and the matrix that dot puts in place of the inverse of H (Li et al. 2019, eq. 13):
//
//   D = B S^T diag(H_1^-1, ..., H_s^-1) S
//
// Subdomain j has the nodes of its elements; nodes between subdomains belong to each of them. S copies a vector of
// all nodes to the subdomains, H_j is the principal sub-matrix of H for the nodes of j (which is exactly the
// subdomain's second derivative with what the interface lacks added), and B divides by the number of copies.
//
// With contact, H has blocks of nodes that are no neighbours. A subdomain is extended by the nodes that its own ones
// are in contact with: else each side of a pair would take the other for a wall, and what both do together, which
// hardly costs energy, would be as stiff for D as the barrier. Iterations a step of the first steps, four subdomains,
// without and with: two spheres 71 and 33, chain of links 335 and 242, twisted rods 7.4 and 5.9. One layer of
// elements more around these nodes: 33, 221, 6.0; two: 35, 263, 5.5. A chain
// of links is a matter for coarse.h.
#ifndef RBT_STEP_SUBDOMAIN_SUBDOMAINS_H
#define RBT_STEP_SUBDOMAIN_SUBDOMAINS_H

#include "model/division.h"
#include "solve/cholesky.h"
#include "step/contact/contact_matrix.h"
#include "step/core/stage.h"

typedef struct rbt_subdomains {
    const rbt_model *model;
    const rbt_block_matrix *H;          // its values may change between factorisations
    const rbt_contact_matrix *contact;  // H is its matrix, whose pattern may change too; NULL: it is not
    uint64_t analysed_pattern;
    rbt_precision precision;
    size_t count;
    rbt_division division;  // found once; what follows is its
    const size_t *member_start, *home_start;
    const int32_t *members, *homes;

    // On ranks each has some subdomains; of the others it knows the rows of its own nodes, whose results it is sent.
    unsigned char *mine;  // (count)
    void *connection;

    // The same without the nodes constrained at the latest analysis:
    bool analysed;
    unsigned char *constrained;  // (node_count)
    size_t *row_start;           // (count + 1)
    int32_t *rows;               // (row_start[count])
    size_t *copy_start;          // (node_count + 1)
    size_t *copies;              // (row_start[count]) the places of each node in `rows`, ascending
    size_t row_capacity, copy_capacity, local_capacity;
    uint64_t *partners;  // (partner_count) subdomain << 32 | node that contact adds to it, ascending
    size_t partner_count, partner_capacity;
    rbt_cholesky **factor;  // (count) of the precision asked for
    rbt_cholesky **exact;   // (count) of double precision where single was not enough, made when first needed
    bool *inexact;          // (count) single was not enough in the latest factorisation
    double *local;          // (row_start[count] x 3) work
    unsigned char *result;  // (count) work: rbt_factor_result
    size_t *bad_row;        // (count) work
} rbt_subdomains;

// `count` as asked for; there are as many as there are elements at most, and at least one.
bool rbt_subdomains_init(rbt_subdomains *subdomains, const rbt_model *model, const rbt_block_matrix *H, size_t count,
                         rbt_precision precision, rbt_error *error);
void rbt_subdomains_free(rbt_subdomains *subdomains);

// Sets *changed if the constrained nodes are others than last time, so that factors can no longer be kept.
rbt_outcome rbt_subdomains_analyse(rbt_subdomains *subdomains, const unsigned char *constrained, bool *changed);

// Flops of all factorisations, and non-zeros of all factors, as analysed.
void rbt_subdomains_work(const rbt_subdomains *subdomains, double *flops, double *fill);

// Factors all H_j. Where single precision finds no factor (H_j's condition is beyond 1e7 or so), double does. If one
// cannot be, the report names the node's place at x.
rbt_outcome rbt_subdomains_factor(rbt_subdomains *subdomains, const double *x, rbt_step_report *report);

// r = D q; r is 0 in constrained nodes. On ranks q must be known in all nodes, and r is.
rbt_outcome rbt_subdomains_apply(rbt_subdomains *subdomains, const double *q, double *r);

// The same with the root of the number of copies in B and in S, which makes D symmetric
rbt_outcome rbt_subdomains_apply_symmetric(rbt_subdomains *subdomains, const double *q, double *scaled, double *r);

#endif
