// What subdomains (subdomains.h) cannot agree on quickly: the rigid motions of what each of them has of each connected
// piece. Through contact they go on from body to body, and every iteration carries them one subdomain further. So they
// are solved for together, and D gets what is left:
//
//   r = C q + D (q - H C q),      C = Z (Z^T H Z)^-1 Z^T,
//
// Z having six columns for each group of nodes: z_n = t + w x (x_n - c) / R about its middle c, R its radius. A node
// between subdomains is in the group of the first.
#ifndef RBT_STEP_SUBDOMAIN_COARSE_H
#define RBT_STEP_SUBDOMAIN_COARSE_H

#include "model/pieces.h"
#include "step/subdomain/subdomains.h"

typedef struct rbt_coarse {
    const rbt_model *model;
    const rbt_block_matrix *H;
    const unsigned char *constrained;  // (node_count) the objective's: their rows of Z are 0
    size_t node_count, count;          // of groups
    rbt_arena *arena;
    int32_t *group;        // (node_count)
    unsigned char *mine;   // (count) on ranks: its nodes are this rank's, all of them or none
    double *arm;           // (node_count x 3) (x_n - c) / R where the matrix was made
    double *centre;        // (count x 4) c and R, work
    double *motion;        // (count x 6) t and w, work
    double *moved, *left;  // (node_count x 3) C q and q - H C q, work
    size_t *start;         // (2 count + 1) of E = Z^T H Z, with rows of t and w of each group
    uint64_t *keys;        // (key_count) its blocks row << 32 | column of groups, ascending, work
    int32_t *column;
    double *value;
    size_t key_capacity, column_capacity, value_capacity;
    rbt_cholesky *factor;
} rbt_coarse;

// For subdomains of a model and its connected pieces; `constrained` (node_count) is the caller's.
bool rbt_coarse_init(rbt_coarse *coarse, const rbt_pieces *pieces, const unsigned char *constrained,
                     const rbt_subdomains *subdomains, rbt_error *error);
void rbt_coarse_free(rbt_coarse *coarse);

// Factors E at positions x, for the values and the pattern that H has now.
rbt_outcome rbt_coarse_factor(rbt_coarse *coarse, const double *x);

// y += C q
rbt_outcome rbt_coarse_add(rbt_coarse *coarse, const double *q, double *y);

// r = C q + D (q - H C q). On ranks q must be known in all nodes, and r is.
rbt_outcome rbt_coarse_apply(rbt_coarse *coarse, rbt_subdomains *D, const double *q, double *r);

#endif
