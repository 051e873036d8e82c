// What the factorisation and the solves with its factor share.
#ifndef RBT_SOLVE_FRONTAL_PARTS_H
#define RBT_SOLVE_FRONTAL_PARTS_H

#include "solve/frontal.h"

// Work space of one thread, and of all for the fronts that they share
typedef struct rbt_frontal_space {
    void *memory;
    size_t bytes;
    char *panel[2];
    char *stack[2];  // updates of even and of odd depth: parent and child are never on the same
} rbt_frontal_space;

struct rbt_frontal {
    const rbt_supernodes *tree;
    const rbt_dense_kernels *kernels;
    rbt_frontal_entries entries;
    int32_t *entry_row;  // (entries.start[node_count]) node of the front
    int32_t *child, *sibling;
    unsigned char *parity;  // (count) of the depth
    size_t *factor_start;   // (count + 1) bytes into factor
    size_t *update_at;      // (count) bytes into a stack, or into `constrained` for roots of tasks
    size_t *vector_at;      // (count + 1) numbers of one right-hand side, below

    size_t task_count, shared_count;
    int32_t *task_first, *task_root;  // (task_count) subtrees, those with the most flops first
    int32_t *shared;                  // (shared_count) supernodes above them
    unsigned char *is_root;           // (count) of a task
    size_t *failed;                   // (task_count) first unknown with a bad pivot, SIZE_MAX: none
    double work;                      // flops and the like, of all

    size_t task_panel, task_stack[2], shared_panel, shared_stack[2], constrained_bytes;
    char *factor, *constrained;
    size_t factor_room, constrained_room;    // bytes
    rbt_frontal_space shared_space, *space;  // one per thread
    size_t space_count;

    // solving
    size_t widest, sums;   // largest padded width, largest number of sums
    size_t *owner, *load;  // (task_count) the member that works on a subtree; bytes of L that each member has
    char *vectors;
    size_t vector_bytes;
};

// The front of supernode k; panel and update are not set.
rbt_front rbt_frontal_front(const rbt_frontal *frontal, size_t k);

// 64-byte aligned, in large pages if it is large; NULL if there is no memory
void *rbt_frontal_allocate(size_t bytes);

// Makes sure that there are so many bytes; what was in them is lost if there were fewer. False: no memory, and none
// left.
bool rbt_frontal_make_room(void *memory, size_t *room, size_t bytes);

#endif
