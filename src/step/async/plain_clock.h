// Plain clocks: with few elements or none, and kicks by nothing but them and gravity: no damping, no flow, no
// prescribed motions, no other loads. Most moments of small scenes are ticks of such a clock, so what its corners
// pull goes straight to its nodes: no slots are summed up and nothing is looked up that never changes.
//
// A node adds its corners up in the order in which slots would (model/plan.h), so the bits are those of the general
// way.
#ifndef RBT_STEP_ASYNC_PLAIN_CLOCK_H
#define RBT_STEP_ASYNC_PLAIN_CLOCK_H

#include "model/model.h"
#include "step/async/track.h"

typedef struct rbt_plain_run {  // elements of one group
    const rbt_group *group;
    size_t first, count;
    double *pulls;  // (corners x 3) dW/dx
} rbt_plain_run;

typedef struct rbt_plain_term {
    const double *pull;  // (3) at a corner
    bool last;           // of those that one slot would add up
} rbt_plain_term;

typedef struct rbt_plain_node {  // that is free
    size_t node, term_count;
    double outside[3];  // force of gravity [N]
    double gain;        // h / m [s/kg]
} rbt_plain_node;

typedef struct rbt_plain_clock {
    size_t move_count;     // nodes that it moves
    const int32_t *moved;  // NULL: the first ones
    size_t run_count, node_count;
    rbt_plain_run *runs;
    rbt_plain_node *nodes;
    rbt_plain_term *terms;
} rbt_plain_clock;

// Whether elements are few and of types that can be in a plain clock
bool rbt_plain_clock_can(const rbt_model *model, const rbt_plan *plan);

// nodes (count): those that the elements touch; NULL: all, which feel gravity too. NULL: no memory.
rbt_plain_clock *rbt_plain_clock_new(const rbt_model *model, rbt_arena *arena, const rbt_plan *plan, double h,
                                     const int32_t *nodes, size_t count);

void rbt_plain_clock_tick(const rbt_plain_clock *clock, rbt_tracks *tracks, int64_t tick);

#endif
