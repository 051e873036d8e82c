// A model that is divided among several programs, the ranks: each has the nodes it owns, those around them, and the
// elements that touch them (cluster/). What a rank knows of a node that it does not own comes from the owner; sums over
// all nodes or elements take what each rank owns. An element belongs to the rank that owns its first node.
//
// Nodes and elements of a rank are in the order of the whole, so that what is summed at a node that a rank owns is
// summed in that order, with the same bits; sums over all are exact (math/sum.h). With ranks NULL a model is whole, and
// all of this costs nothing.
#ifndef RBT_MODEL_RANKS_H
#define RBT_MODEL_RANKS_H

#include "base/error.h"
#include "math/sum.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rbt_model;
struct rbt_block_matrix;
struct rbt_linear_solver;

typedef struct rbt_rank_items {
    size_t count;
    const int64_t *key;    // (count) ascending
    const int32_t *place;  // (count)
} rbt_rank_items;

typedef struct rbt_ranks {
    int rank, count;
    const unsigned char *owned;  // (node_count)
    const int32_t *number;       // (node_count) of the nodes in the whole, ascending
    size_t whole_nodes, whole_tets, whole_triangles, whole_edges;  // of all ranks together
    const int32_t *tet_number;  // (tet_count) of tets, triangles and edges within their bodies in the whole
    const int32_t *triangle_number, *edge_number;
    const int32_t *node_begin;                  // (body_count) of the bodies in the whole
    size_t piece_count;                         // connected pieces of the whole
    const int32_t *piece;                       // (node_count) and in which one a node is
    size_t subdomain_count;                     // of the whole
    const size_t *home_start;                   // (node_count + 1)
    const int32_t *homes;                       // subdomains of each node, ascending
    const int32_t *rank_of;                     // (subdomain_count)
    const struct rbt_stable_steps *stable;      // what the whole allows explicit methods (step/explicit/stability.h)
    void *self;                                 // of what follows: all ranks call the same at the same time
    void (*share)(void *self, double *values);  // (node_count x 3) of nodes owned, to all who know them
    void (*join)(void *self, rbt_sum *sums, size_t count);         // sums of all ranks, at all of them
    void (*most)(void *self, double *values, size_t count);        // likewise the largest; a NaN stays
    int (*first)(void *self, bool has);                            // the first rank that has it; `count` if none has
    void (*tell)(void *self, int from, void *bytes, size_t size);  // bytes of one rank, to all
    void (*unite)(void *self, double *values, size_t count);       // numbers that one rank each has, and others 0
    bool (*gather)(void *self, uint64_t **keys, size_t *count,
                   rbt_error *error);  // keys of all ranks, one after the other
    // Values of three numbers that this rank wants to know, by their keys, from the ranks that have them, and where
    // they stand here; and those that it has. NULL: no memory.
    void *(*connect)(void *self, const rbt_rank_items *wanted, const int32_t *owner, const rbt_rank_items *known,
                     rbt_error *error);
    void (*exchange)(void *self, void *connection, double *values);
    void (*disconnect)(void *self, void *connection);
    // A solver of these ranks' own, by its name, for a symmetric matrix of blocks (step/core/linear.h)
    bool (*solver)(void *self, const char *name, const struct rbt_model *model, const struct rbt_block_matrix *A,
                   struct rbt_linear_solver *solver, rbt_error *error);
} rbt_ranks;

// What follows does nothing, or the plain thing, for whole models.

void rbt_ranks_share(const struct rbt_model *model, double *values);
void rbt_ranks_join(const struct rbt_model *model, rbt_sum *sums, size_t count);
void rbt_ranks_most(const struct rbt_model *model, double *values, size_t count);
bool rbt_ranks_any(const struct rbt_model *model, bool has);

bool rbt_ranks_owns(const struct rbt_model *model, size_t node);
size_t rbt_ranks_number(const struct rbt_model *model, size_t node);          // in the whole
size_t rbt_ranks_number_in_body(const struct rbt_model *model, size_t node);  // of the body in the whole
bool rbt_ranks_counts_tet(const struct rbt_model *model, size_t tet);         // whether it is this rank's

// Of all ranks together
double rbt_ranks_sum(const struct rbt_model *model, double value);

// a . b over this rank's nodes, to be joined with others' sums; and over all nodes, both (node_count x 3)
void rbt_ranks_add_products(const struct rbt_model *model, rbt_sum *sum, const double *a, const double *b);
double rbt_ranks_dot(const struct rbt_model *model, const double *a, const double *b);

// One number for each node, gathered and added up: several sums side by side
enum { RBT_TERMS = 12, RBT_TERM_BLOCK = 128 };
typedef struct rbt_terms {
    size_t width, count;
    double value[RBT_TERMS][RBT_TERM_BLOCK];
    rbt_sum sum[RBT_TERMS];
} rbt_terms;

static inline void rbt_terms_begin(rbt_terms *terms, size_t width) {
    terms->width = width;
    terms->count = 0;
    for (size_t k = 0; k < width; k++) terms->sum[k] = (rbt_sum){0};
}
void rbt_terms_flush(rbt_terms *terms);
// The place for the next numbers: value[k][place]
static inline size_t rbt_terms_next(rbt_terms *terms) {
    if (terms->count == RBT_TERM_BLOCK) rbt_terms_flush(terms);
    return terms->count++;
}
// Sums over all ranks
void rbt_terms_end(rbt_terms *terms, const struct rbt_model *model, double *values);

#endif
