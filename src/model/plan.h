// How results of elements become sums at nodes, with the same bits for any number of threads and little memory moved.
//
// Every group is cut into chunks of RBT_CHUNK elements. A chunk's elements share most of their nodes; it adds their
// results up in a slot per node it touches, in the order of its elements. A node then adds its slots in the order of
// the chunks. Chunks depend on the mesh alone, never on the number of threads.
#ifndef RBT_MODEL_PLAN_H
#define RBT_MODEL_PLAN_H

#include "base/memory.h"
#include "energy/group.h"

enum { RBT_CHUNK = 512 };  // elements; a multiple of RBT_W

typedef struct rbt_chunk {
    size_t group, first, count;     // elements first .. first + count - 1 of a group
    size_t slot_begin, slot_count;  // nodes it touches
    size_t corner_begin;            // its corners in `local`
} rbt_chunk;

typedef struct rbt_plan {
    size_t chunk_count, slot_count;
    const rbt_chunk *chunks;
    const int32_t *slot_node;   // (slot_count) ascending within a chunk
    const uint16_t *local;      // per corner of every element: the slot, counted from its chunk's first
    const size_t *node_start;   // (nodes + 1)
    const int32_t *node_slots;  // (slot_count) the slots of each node, ascending
} rbt_plan;

// A plan of some of the elements only: chunks (chunk_count), in the arena, name them (group, first, count); the rest
// is filled in.
bool rbt_plan_fill(rbt_plan *plan, rbt_arena *arena, const rbt_group *groups, rbt_chunk *chunks, size_t chunk_count,
                   size_t node_count, rbt_error *error);

bool rbt_plan_build(rbt_plan *plan, rbt_arena *arena, const rbt_group *groups, size_t group_count, size_t node_count,
                    rbt_error *error);

// Vectors of a chunk's nodes side by side, in places of four numbers, the last one spare and 0 (rbt_group_type.sum):
// taken from those of all nodes, and sums put into its slots, three numbers each.
void rbt_chunk_gather(const rbt_plan *plan, const rbt_chunk *chunk, const double *of_nodes, double *places);
void rbt_chunk_put(const rbt_chunk *chunk, const double *places, double *slots);

#endif
