// The matrix of a step with contact: the blocks of the elastic matrix and those of pairs of nodes in contact. Its
// pattern grows with the pairs of a step and is made again where a step begins, so that it depends on that step alone.
#ifndef RBT_STEP_CONTACT_CONTACT_MATRIX_H
#define RBT_STEP_CONTACT_CONTACT_MATRIX_H

#include "base/memory.h"
#include "math/block_matrix.h"

typedef struct rbt_contact_matrix {
    const rbt_block_matrix *elastic;  // whose pattern is part of it
    rbt_block_matrix A;               // its values are those of `value`, or the caller's where contact adds nothing
    double *value;
    uint64_t pattern;  // another number for another pattern
    size_t *start;     // (rows + 1) of A
    int32_t *column;
    size_t column_capacity, value_capacity;
    size_t *place;  // (blocks of elastic) where they stand in A
    // Blocks (row > column) beside the elastic ones: row << 32 | column, ascending
    uint64_t *extra;
    size_t extra_count, extra_capacity;
    uint64_t *wanted;  // those that have been asked for, in any order
    size_t wanted_count, wanted_capacity;
    uint64_t *former;  // (former_count) extra of the pattern that A has
    size_t former_count, former_capacity;
    bool arranged;     // A has the pattern of `extra`
    size_t *position;  // (terms x 10) work of rbt_contact_matrix_sum
    size_t position_capacity;
} rbt_contact_matrix;

bool rbt_contact_matrix_init(rbt_contact_matrix *matrix, const rbt_block_matrix *elastic, rbt_error *error);
void rbt_contact_matrix_free(rbt_contact_matrix *matrix);

// Forgets all blocks beside the elastic ones.
void rbt_contact_matrix_begin(rbt_contact_matrix *matrix);

// Asks for a block of two nodes.
bool rbt_contact_matrix_want(rbt_contact_matrix *matrix, int32_t a, int32_t b);

// Makes the pattern of what has been asked for since it began; A has no values then. `pattern` changes only if that
// does.
bool rbt_contact_matrix_arrange(rbt_contact_matrix *matrix);

// The same after A has got values, which stay: new blocks are 0.
bool rbt_contact_matrix_fill(rbt_contact_matrix *matrix);

// A = H on the elastic blocks, 0 elsewhere. If A has no other blocks and nothing will be added, H itself is taken.
void rbt_contact_matrix_copy(rbt_contact_matrix *matrix, double *H, bool more);

// A += the blocks of terms with four nodes each (node: terms x 4, below 0: none) and 12 x 12 numbers; those of a node
// that is not free (one byte a row) or that is no row are left out. Sums follow the order of the terms. false: no
// memory.
bool rbt_contact_matrix_sum(rbt_contact_matrix *matrix, size_t terms, const int32_t *node, const double *hessian,
                            const unsigned char *constrained);

// A += the block (3 x 3, row by row) of the pair of nodes (a, b), or its transpose where b > a.
void rbt_contact_matrix_add(rbt_contact_matrix *matrix, int32_t a, int32_t b, const double *block, size_t stride);

#endif
