// Regular clocks of elastic forces. Every batch of elements ticks at the common step over a power of two, small
// enough for its own stability; elements that share a clock are one vectorised event, since forces of one moment see
// the same positions and commute (Harmon et al. 2009, section 6). Level 0 ticks at every step and includes gravity
// and loads on all nodes.
//
// The first tick goes the general way, also of clocks that are plain (step/async/plain_clock.h). With one level the
// sums are those of symplectic Euler, bit for bit.
//
// Damping resists the rate of strain of every element, and all motion if there is mass damping:
//   f = -dW/dx - beta D(x) v - alpha m v
// x and v are those before any kick of the moment, so that damping forces commute too and nothing is remembered
// between ticks. D keeps linear and angular momentum (energy/group.h). A difference of forces over a tick, beta (g_k
// - g_{k-1}) / h with g = dW/dx, would not: g turns with an element that is under stress, and the difference brakes
// its spin.
//
// Rest angles of hinges that yield follow the angle at the ticks of the hinge, and are remembered.
#ifndef RBT_STEP_ASYNC_CLOCKS_H
#define RBT_STEP_ASYNC_CLOCKS_H

#include "model/force.h"
#include "step/async/layers.h"
#include "step/async/plain_clock.h"

typedef struct rbt_clock {
    int level;
    double h;       // [s]
    rbt_plan plan;  // its elements
    size_t element_count;
    size_t node_count;     // nodes that it kicks
    const int32_t *nodes;  // NULL: all
    double *pulls;         // (plan.slot_count x 3) dW/dx + beta D v per slot; NULL: no element has stiffness damping
    double **beta;         // (plan.chunk_count), each NULL or (its elements) their stiffness damping [s]
    const rbt_plain_clock *plain;  // NULL: it is not
} rbt_clock;

typedef struct rbt_clocks {
    const rbt_model *model;
    rbt_model elastic;    // the model, but hinges that yield have data of their own
    rbt_hinge **flowing;  // (group_count) these data; NULL: no hinge of the group yields
    rbt_arena *arena;
    size_t count;
    rbt_clock *clocks;  // (count) by level
    int finest;
    size_t memory_count;         // doubles that hinges remember
    double *f;                   // (node_count x 3)
    double *partial;             // (most slots x 3)
    rbt_sum *energies;           // (chunks of the model) work
    unsigned char *constrained;  // (node_count)
    bool mass_damped, stiffness_damped;
    bool driven;   // some nodes have prescribed motions: who is constrained, and how fast, changes with time
    bool loaded;   // there are forces from outside other than gravity
    bool flows;    // some hinges yield
    double *work;  // by prescribed nodes so far [J]
} rbt_clocks;

// Doubles of memory that hinges that yield need between ticks.
size_t rbt_clocks_memory(const rbt_model *model);

// safety: part of the stable step that is used.
bool rbt_clocks_init(rbt_clocks *clocks, const rbt_model *model, double safety, rbt_error *error);
void rbt_clocks_free(rbt_clocks *clocks);

// After `memory` has come from elsewhere, as from a checkpoint.
void rbt_clocks_recall(rbt_clocks *clocks, const double *memory);

// Energy of all elements at x [J]
double rbt_clocks_energy(const rbt_clocks *clocks, const double *x);

// Time of a tick, from ticks alone: how frames divide it changes no bit of a prescribed motion's motion.
static inline double rbt_clocks_time(const rbt_clocks *clocks, const rbt_tracks *tracks, int64_t tick) {
    const int64_t step = (int64_t)1 << RBT_TICK_BITS;
    return (double)(tick >> RBT_TICK_BITS) * clocks->model->step + (double)(tick & (step - 1)) * tracks->tick;
}

// Forces of all clocks with damping that tick at `tick`, before any of them kicks. `memory` as below.
void rbt_clocks_damp(rbt_clocks *clocks, rbt_tracks *tracks, int64_t tick, double *memory);

// One of them, in the general way
void rbt_clock_tick(rbt_clocks *clocks, rbt_tracks *tracks, const rbt_clock *clock, int64_t tick, bool first,
                    double *memory);

// All clocks that tick at `tick`: advances the nodes they touch and kicks them. `memory` is rbt_clocks_memory doubles
// that start as zeros, `first` tells that there is no tick before this one. Returns the number of elements.
static inline size_t rbt_clocks_tick(rbt_clocks *clocks, rbt_tracks *tracks, int64_t tick, bool first,
                                     double *memory) {
    size_t elements = 0;
    int slowest = rbt_tick_level(tick);
    bool given = slowest == 0 && rbt_force_is_given(clocks->model);
    if (clocks->stiffness_damped) rbt_clocks_damp(clocks, tracks, tick, memory);
    for (const rbt_clock *clock = clocks->clocks, *end = clock + clocks->count; clock < end; clock++) {
        if (clock->level < slowest) continue;
        elements += clock->element_count;
        if (clock->plain && !first && (clock->level || !given)) rbt_plain_clock_tick(clock->plain, tracks, tick);
        else rbt_clock_tick(clocks, tracks, clock, tick, first, memory);
    }
    return elements;
}

#endif
