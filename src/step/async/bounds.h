// What keeps nodes apart, or together, without a tree: planes, and springs that may change their length only so far.
//
// A spring of length L and limit s has two nested sequences of layers (Harmon et al. 2009, section 7), whose gaps are
//   stretch  (1 + s) L - |x_1 - x_0|      shrink  |x_1 - x_0| - (1 - s) L
// and whose thickness is half the gap at rest, or that of contact if it is less. |x_1 - x_0| grows no faster than
// |v_1 - v_0|.
#ifndef RBT_STEP_ASYNC_BOUNDS_H
#define RBT_STEP_ASYNC_BOUNDS_H

#include "step/async/contact.h"

// Thickness of the layers of a limit [m]
double rbt_limit_thickness(const rbt_contact *contact, int32_t leaf);

// Whether the spring of a leaf has limits.
static inline bool rbt_leaf_is_limited(const rbt_contact_surface *s, size_t leaf) {
    return s->leaves[leaf].corners == 2 && s->def.limit && s->def.limit[leaf - s->def.triangle_count] > 0;
}

// Whether a leaf is a spring without limits, whose ends must not pass through each other.
static inline bool rbt_leaf_ends_may_touch(const rbt_contact_surface *s, size_t leaf) {
    const rbt_leaf *own = &s->leaves[leaf];
    return own->corners == 2 && !rbt_leaf_is_limited(s, leaf) &&
           s->def.inverse_mass[own->node[0]] + s->def.inverse_mass[own->node[1]] != 0;
}

// Pairs with planes and limits that may be needed in the window, one after the other: *at starts as 0 and tells where
// to continue. False: there are no more.
bool rbt_bounds_next(const rbt_contact *contact, size_t *at, rbt_candidate *candidate);

// The same for what a node and its springs are part of; not for the point that a plane goes through.
bool rbt_bounds_of_node(const rbt_contact *contact, size_t node, size_t *at, rbt_candidate *candidate);

// Whether all nodes are on the free sides of planes at the places x; false and `text` names the first one that is not.
bool rbt_walls_are_kept(const rbt_contact *contact, const double *x, double least, char *text, size_t size);

// The first spring beyond its limits at the places x: its leaf and length [m]; -1: there is none.
int32_t rbt_limit_broken(const rbt_contact *contact, const double *x, double *length);

#endif
