// The parts of looking for candidates that take most of the time, by instruction set: all of them have the same result
// to the last bit, for they only add, multiply and compare in single precision.
#ifndef RBT_CONTACT_BROAD_PHASE_CANDIDATE_KERNELS_H
#define RBT_CONTACT_BROAD_PHASE_CANDIDATE_KERNELS_H

#include "base/processor.h"
#include "contact/broad_phase/candidate_pile.h"

// Beyond the length that a direction has in single precision
#define RBT_AXIS_LENGTH (1 + 0x1p-20f)

typedef struct rbt_narrowing {  // candidate_axes.c
    const rbt_candidates *candidates;
    const double *x, *y;
    float around;  // [m] to be added to the reach for each unit of |n|_1: of slack and rounding
} rbt_narrowing;

typedef struct rbt_candidate_kernels {
    // The pairs of primitives below a pair of nodes of the tree whose boxes overlap, into a pile
    void (*meet)(const rbt_candidates *candidates, rbt_tree_pair pair, rbt_candidate_pile *pile);
    // kept[i] for i = begin .. end - 1 of the wide list, whose directions are renewed where they do not do
    void (*narrow)(const rbt_narrowing *s, size_t begin, size_t end);
} rbt_candidate_kernels;

// NULL if the processor does not have the instruction set.
const rbt_candidate_kernels *rbt_candidate_kernels_with(rbt_instruction_set set);
const rbt_candidate_kernels *rbt_candidate_kernels_best(void);

extern const rbt_candidate_kernels RBT_CANDIDATE_KERNELS_PLAIN, RBT_CANDIDATE_KERNELS_AVX2;

#endif
