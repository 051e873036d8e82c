// Dense work on the fronts of a sparse Cholesky factorisation, in double and in single precision, once per
// instruction set.
//
// A front is the lower triangle of a symmetric matrix whose first `width` unknowns are eliminated and whose other
// `below` unknowns get the update; rows of either kind begin at a multiple of the quantum, and rows in between are 0:
//
//   F11          of these columns only one block is there at a time, in `panel`
//   F21  F22     `update`: by columns, those of one strip from the strip's first row on
//
// Elimination turns a block of columns after the other into columns of L; then F22 -= L21 L21^T. L is stored in
// strips of so many rows as fit in registers, each strip by columns: what the inner loops read is contiguous, without
// packing.
//
//   L11: strip i has the rows from i strip on and the columns left of the next strip (the last: all columns)
//   L21: each strip has all columns
//
// The last strip of either has as many rows as it needs, up to the quantum. On the diagonal of L are the reciprocals;
// right of it zeros.
//
// Every entry is the result of the same operations in the same order, however the work on a front is divided.
#ifndef RBT_SOLVE_DENSE_KERNELS_H
#define RBT_SOLVE_DENSE_KERNELS_H

#include "base/processor.h"

#include <stddef.h>
#include <stdint.h>

enum {
    RBT_PANEL_BLOCK = 48,   // columns that are assembled and eliminated together: a multiple of every strip
    RBT_SOLVE_BLOCK = 96,   // columns that are solved together: a multiple of every strip
    RBT_SOLVE_REACH = 384,  // columns that are solved for together with the same rows below: a multiple of the block
    RBT_SOLVE_STRIPS = 32,  // strips whose products are summed apart from those of others
    RBT_COLUMN_GROUP = 4,   // columns of the inner loop
    RBT_SIDES_VECTORS = 3,  // most vectors of right-hand sides that are solved for side by side
};

typedef struct rbt_front {
    size_t width, below;                // unknowns
    size_t width_padded, below_padded;  // rows
    void *panel;                        // ((width_padded + below_padded) x RBT_PANEL_BLOCK)
    size_t panel_first;                 // the first column in it, a multiple of the block
    void *update;                       // F22
    void *factor;                       // what it has of L
} rbt_front;

// Blocks of the matrix by columns of nodes, from the diagonal down
typedef struct rbt_front_entries {
    const double *value;   // of all blocks
    const size_t *start;   // (node columns + 1)
    const size_t *source;  // 2 block + 1 if it is used transposed
    const int32_t *row;    // node of the front, its columns counted first
    size_t block;          // unknowns of a node
} rbt_front_entries;

// Right-hand sides in a front: one, or a group that lies side by side in each unknown
typedef struct rbt_front_vectors {
    size_t width;  // numbers of an unknown: 1, or the lanes of one to three vectors
    void *x;       // (front's width; with one right-hand side: width_padded) unknowns eliminated here
    void *y;       // (below_padded) those below: sums on the way up, the solution on the way down
} rbt_front_vectors;

// Vectors of all unknowns as the caller has them: unknown r of node i of vector j is [offset[j] + spread row[i] + r].
typedef struct rbt_front_sides {
    size_t count, block;
    const size_t *offset;  // (count)
    const int32_t *row;    // (nodes) NULL: i
    const int32_t *place;  // (nodes) in the order of elimination
    size_t spread;
} rbt_front_sides;

typedef struct rbt_dense_kernels {
    size_t bytes;    // of a number
    size_t quantum;  // rows are padded to a multiple of it
    size_t strip;    // rows of a strip: a multiple of the quantum and of the column group
    size_t lanes;    // numbers of a vector

    // ---- assembling the columns first <= c < last of the front, all of the panel or none, at most RBT_PANEL_BLOCK
    // ----
    void (*clear)(const rbt_front *front, size_t first, size_t last);
    void (*enter)(const rbt_front *front, const rbt_front_entries *entries, size_t first, size_t last);
    // F += the update of a child, relative (child's below / block) as in rbt_supernodes
    void (*add)(const rbt_front *front, const rbt_front *child, const int32_t *relative, size_t block, size_t first,
                size_t last);

    // ---- eliminating the block in the panel; strips are counted through L11 and L21 ----
    // In its own rows. Returns the number of a column whose pivot is not positive and finite, width if all are.
    size_t (*eliminate)(const rbt_front *front);
    // In other strips below
    void (*eliminate_strips)(const rbt_front *front, size_t strip, size_t last_strip);
    // F22 -= L21 L21^T in the columns first <= c < last of F22; first is a multiple of the strip
    void (*subtract)(const rbt_front *front, size_t first, size_t last);

    // The triangles of the strips on the diagonal of L become their inverses, which is what solves want; L is needed
    // for nothing else then.
    void (*invert)(const rbt_front *front);

    // ---- solving L L^T x = b: forward, then backward; blocks of columns begin at `first` ----
    void (*forward)(const rbt_front *front, const rbt_front_vectors *v, size_t first);
    void (*backward)(const rbt_front *front, const rbt_front_vectors *v, size_t first);
    // Strips -= L x for the columns first <= c < last
    void (*forward_strips)(const rbt_front *front, const rbt_front_vectors *v, size_t first, size_t last,
                           size_t strip, size_t last_strip);
    // sums (columns x v->width) = L^T times what the strips have, for the columns first <= c < last, at most
    // RBT_SOLVE_REACH; if sums is NULL, x -= that
    void (*backward_strips)(const rbt_front *front, const rbt_front_vectors *v, size_t first, size_t last,
                            size_t strip, size_t last_strip, void *sums);
    // x -= `count` of such sums, one behind the other
    void (*take)(const rbt_front_vectors *v, size_t first, size_t last, size_t count, const void *sums);

    // Between `count` of the caller's vectors, from number `side` on, and a group of `width` of them side by side,
    // for some of the caller's nodes: one after the other in the vectors, whole unknowns in the group
    void (*read_sides)(const double *from, const rbt_front_sides *sides, size_t first_node, size_t last_node,
                       size_t side, size_t count, size_t width, void *to);
    void (*write_sides)(const void *from, const rbt_front_sides *sides, size_t first_node, size_t last_node,
                        size_t side, size_t count, size_t width, double *to);
    // y = x of some nodes
    void (*gather)(const void *from, const int32_t *node, size_t count, size_t block, size_t width, void *to);
    void (*add_vectors)(const rbt_front *front, const rbt_front_vectors *v, const rbt_front *child, const void *y,
                        const int32_t *relative, size_t block);

    // ---- a fused sequence of solves with P = [L11^-1; -L21 L11^-1] (solve/fused_solve.h); vectors t have the rows
    // of the front ----
    size_t (*fused_count)(const rbt_front *front);                                          // numbers in P
    void (*fused_fill)(const rbt_front *front, void *work, void *P);                        // work: one vector
    void (*fused_forward)(const rbt_front *front, const void *P, void *t);                  // t = P t
    void (*fused_backward)(const rbt_front *front, const void *P, const void *t, void *x);  // x = P^T t
} rbt_dense_kernels;

// NULL if the processor does not have the instruction set.
const rbt_dense_kernels *rbt_dense_kernels_with(rbt_instruction_set set, bool single);

// [0] double, [1] single precision
extern const rbt_dense_kernels RBT_DENSE_KERNELS_PLAIN[2], RBT_DENSE_KERNELS_AVX2[2], RBT_DENSE_KERNELS_AVX512[2];

static inline size_t rbt_padded(size_t count, size_t quantum) { return (count + quantum - 1) / quantum * quantum; }

static inline size_t rbt_strip_count(const rbt_dense_kernels *k, size_t rows) {
    return (rows + k->strip - 1) / k->strip;
}

// Numbers in the strips of L11 before strip i, and in the columns of F22 before its strip i
static inline size_t rbt_strips_before(size_t strip, size_t i) { return strip * strip * (i * (i + 1) / 2); }
static inline size_t rbt_columns_before(size_t strip, size_t i, size_t below_padded) {
    return i ? strip * (below_padded * i - strip * (i * (i - 1) / 2)) : 0;
}

// Numbers in all of L, in F22 and in the panel of a front
static inline size_t rbt_factor_count(const rbt_dense_kernels *k, const rbt_front *f) {
    size_t full = f->width ? (f->width - 1) / k->strip : 0;
    return rbt_strips_before(k->strip, full) + (f->width_padded - full * k->strip + f->below_padded) * f->width;
}
static inline size_t rbt_update_count(const rbt_dense_kernels *k, const rbt_front *f) {
    size_t full = f->below ? (f->below - 1) / k->strip : 0, left = f->below - full * k->strip;
    return rbt_columns_before(k->strip, full, f->below_padded) +
           (f->below_padded - full * k->strip) * rbt_padded(left, RBT_COLUMN_GROUP);
}
static inline size_t rbt_panel_count(const rbt_front *f) {
    size_t columns = f->width < RBT_PANEL_BLOCK ? rbt_padded(f->width, RBT_COLUMN_GROUP) : RBT_PANEL_BLOCK;
    return (f->width_padded + f->below_padded) * columns;
}

#endif
