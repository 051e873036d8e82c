// Nested penalty layers (Harmon, Vouga, Smith, Tamstorf and Grinspun 2009, section 4): layer l = 1, 2, … of a pair at
// distance d has
//   V_l = r_l/2 (eta_l - d)^2 where d < eta_l,   r_l = r l^3,   eta_l = eta l^(-1/4)
// and its own regular clock. Layers of a pair add up: while layer l is awake so are all before it, together as stiff as
//   r (1 + 2^3 + … + l^3) = r (l (l + 1) / 2)^2
// so layer l has the step h / (l (l + 1) / 2), h that of layer 1: all layers down to l then are as far below their
// limit of stability as layer 1 alone is. (The paper takes h l^(-3/2), the step of layer l alone: l layers are
// unstable from 4 / sqrt(l) times h on, and energy grows long before.) Clocks are a common step over powers of two,
// so layer l ticks k + ceil(log2(l (l + 1) / 2)) levels below the common step if layer 1 does k levels below it. All
// layers of one level tick together: their forces are two sums, which are made once.
#ifndef RBT_STEP_ASYNC_LAYERS_H
#define RBT_STEP_ASYNC_LAYERS_H

#include "base/memory.h"

enum {
    RBT_TICK_BITS = 36,    // a common step is 2^36 ticks; time is a whole number of ticks
    RBT_LAYER_DEPTHS = 33  // levels of layers; the last layer is number 92,681
};

typedef struct rbt_layers {
    int depth_count;                      // depths 0 .. depth_count - 1 are there
    int32_t last[RBT_LAYER_DEPTHS];       // the last layer of each depth
    double cubes[RBT_LAYER_DEPTHS];       // sum of l^3 over the layers of a depth
    double roots[RBT_LAYER_DEPTHS];       // sum of l^(3 - 1/4)
    double next_ratio[RBT_LAYER_DEPTHS];  // eta_l / eta of the first layer beyond the depth
    double first_ratio
        [RBT_LAYER_DEPTHS];          // eta_l / eta of the first layer of the depth (of the last one if it is empty)
    double share[RBT_LAYER_DEPTHS];  // 2^-depth: of the step of layer 1
    double *cubes_to, *roots_to;     // (last layer + 1) sums over layers 1 .. l
    double *ratio;                   // (last layer + 1) eta_l / eta
} rbt_layers;

bool rbt_layers_init(rbt_layers *layers, rbt_error *error);
void rbt_layers_free(rbt_layers *layers);

// The impulse over r h: sum over depths from .. to of 2^(-depth) (eta roots - d cubes), each layer where d < eta_l. h
// is the step of layer 1.
double rbt_layers_impulse(const rbt_layers *layers, double eta, double d, int from, int to);

// Their energy over r: sum of l^3/2 (eta_l - d)^2 over all layers with eta_l > d.
double rbt_layers_energy(const rbt_layers *layers, double eta, double d);

// Their force over r: sum of l^3 (eta_l - d) over the same layers.
double rbt_layers_force(const rbt_layers *layers, double eta, double d);

// Level of the slowest clock that ticks at t: all finer ones tick too.
static inline int rbt_tick_level(int64_t t) {
    return RBT_TICK_BITS - __builtin_ctzll((unsigned long long)t | 1ull << RBT_TICK_BITS);
}

#endif
