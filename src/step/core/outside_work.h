// The work of what acts on the bodies from outside: pulls, pulses, wind, forces of a caller, and nodes whose motion
// is prescribed.
//
// With U the energy of elements, gravity and obstacles, M a + dU/dx = f_load + f_wind - D v at free nodes, so
//   d/dt (1/2 v^T M v + U) = sum_free (f_load + f_wind).v + sum_constrained (M a + dU/dx + beta K v).v - v^T D v.
// The first two sums are the work per time; the last one can only take energy. Between two samples, with d the
// difference and mean the mean of their values,
//   loads   mean strength . force . dx             (the strength is a known function of time: its mean is exact)
//   wind    mean(f_wind) . dx      (forces of a caller, too: they change only where a sample is taken)
//   constrained    mean(v) . d(M v) + mean(dU/dx) . dx + beta d(dW/dx) . dx / dt     (K v = d/dt dW/dx)
// For a linear body and a sample every step this is exact: the sum of mean(dU/dx) . dx over all nodes is the change of
// U.
//
// Gradients are those of the elements at the driven nodes alone (model/part.h). A sample is taken every step, unless a
// step costs little more than the force of all elements: then so rarely that samples cost a hundredth of it, but four
// times a frame.
#ifndef RBT_STEP_CORE_OUTSIDE_WORK_H
#define RBT_STEP_CORE_OUTSIDE_WORK_H

#include "model/model.h"
#include "model/part.h"

typedef struct rbt_outside_sample {
    double t;
    double *x, *v, *momentum;    // (driven_count x 3) of driven nodes
    double *gradient, *elastic;  // (driven_count x 3) dU/dx and its elastic part
    double *loaded;              // (load_nodes x 3) positions, load by load
    double *windy, *wind;  // (node_count x 3) positions and forces; NULL before there is wind or a caller's force
    double *values;        // (value_count) all of them but the last two, one after the other
} rbt_outside_sample;

typedef struct rbt_outside {
    const rbt_model *model;
    rbt_arena *arena;
    size_t driven_count;   // driven nodes whose work is counted: all, or none if the method counts it
    size_t load_nodes;     // of all loads together
    size_t value_count;    // numbers in a sample, those about wind left out
    int64_t every;         // steps between samples, at most
    rbt_model_part part;   // the elements at driven nodes
    double *places;        // (part.model.node_count x 3)
    unsigned char *still;  // (node_count) nodes on which loads do no work: they are constrained
    bool any;              // there are driven nodes or nodes of loads, on some rank
    rbt_outside_sample last, next;
} rbt_outside;

// `prescribed`: whether the work of driven nodes is to be counted; `cheap`: whether steps cost little more than forces
bool rbt_outside_init(rbt_outside *s, const rbt_model *model, bool prescribed, bool cheap, rbt_error *error);
void rbt_outside_free(rbt_outside *s);

// Whether there is nothing to count
bool rbt_outside_is_idle(const rbt_outside *s);

// Room for the forces of a caller (model/input.h), before the first of them acts.
bool rbt_outside_make_room(rbt_outside *s, rbt_error *error);

// The last sample as bytes, and from bytes; a sample that was packed without forces leaves those as they are.
size_t rbt_outside_packed_size(const rbt_outside *s);
void rbt_outside_pack(const rbt_outside *s, void *bytes);
bool rbt_outside_unpack(rbt_outside *s, const void *bytes, size_t size);

// Starts counting at this state.
void rbt_outside_begin(rbt_outside *s, const rbt_state *state);

// Whether a sample is due after a step that led to this state. One always is where nodes are released and while a short
// load acts.
bool rbt_outside_due(const rbt_outside *s, const rbt_state *state);

typedef struct rbt_outside_work {
    double loads, prescribed;  // [J] since the last sample
    double slack;  // how much more it may have been: a method sees the loads of an instant, not their mean, and
                   // forces change between samples
} rbt_outside_work;

// The work since the last sample, which this one replaces once it is kept.
rbt_outside_work rbt_outside_sample_at(rbt_outside *s, const rbt_state *state);
void rbt_outside_keep(rbt_outside *s);

#endif
