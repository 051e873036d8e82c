// Where explicit steps are stable: local bounds of elements, the nodes that must be implicit at a step, and a certificate for
// the rest (Fierz, Spillmann and Harders 2011, "Element-wise mixed implicit-explicit integration", with what it leaves open).
//
// Local bound of an element: the stiffness of its one-ring with the ring's outer boundary held, its own 12 x 12 block of M^-1 K,
// largest eigenvalue lambda; ill-shaped at h iff h > 2 / sqrt(lambda). All elements at its nodes are in the ring, so the block is
// that of the assembled matrices at rest. As a principal sub-matrix's, lambda is a lower bound of the body's: the test can be too
// optimistic, and nodes of elements that pass it can still blow up.
//
// What decides is the explicit block E with the implicit nodes held:  h <= 2 / sqrt(lambda_max(M_E^-1 K_EE)).  Lanczos steps from a
// vector without preference find lambda_max from below; after k of them it is short by more than a share epsilon with a probability
// of at most 1.648 sqrt(n) exp(-sqrt(epsilon) (2 k - 1)) (Kuczynski and Wozniakowski 1992). k is chosen to make that 1e-9 for
// epsilon = 0.04, and the certificate asks for h^2 lambda <= 4 (1 - epsilon): 2 % of h. Where it fails, the nodes in which the
// unstable modes live become implicit, until it holds.
#ifndef RBT_STEP_STABILITY_H
#define RBT_STEP_STABILITY_H

#include "model/stiffness.h"
#include "model/tangent.h"

typedef struct rbt_stability {
    const rbt_model *model;
    rbt_arena *arena;
    size_t element_count;  // of all groups
    double *rate;          // (element_count) lambda of each element, group by group [1/s^2]
    unsigned char *held;   // (node_count) nodes that never move freely
    double *root;          // (node_count) 1 / sqrt(mass), 0 where held or massless
    rbt_tangent tangent;   // at rest, or where the certificate was asked for last
    double *work;          // (4 x node_count x 3)
    double *modes;         // (RBT_STABILITY_MODES x node_count x 3)
    rbt_stiffness rest;    // K at rest, if rest_known; it is large and goes with rbt_stability_forget
    bool rest_known;
} rbt_stability;

enum { RBT_STABILITY_MODES = 8 };  // unstable ones looked at in one round

// Finds the rates. `known` (elements of all groups, NULL: none): rates that are known already, NaN where not; after a change of
// topology only those elements are looked at whose one-ring has changed.
bool rbt_stability_init(rbt_stability *s, const rbt_model *model, const double *known, rbt_error *error);
void rbt_stability_free(rbt_stability *s);

// Drops what only the choice of implicit nodes needs; it is made again when asked for.
void rbt_stability_forget(rbt_stability *s);

// 2 / sqrt(lambda_max) of the nodes that are not in `implicit` (node_count; NULL: of all), within the epsilon above and with it
// taken off: a step up to this is stable. Infinite if no node is left. With `shape` (RBT_STABILITY_MODES x node_count x 3) up to so
// many modes beyond `step` are written there, *shape_count of them.
double rbt_stability_bound(rbt_stability *s, const unsigned char *implicit, double step, double *shape,
                           size_t *shape_count);

typedef struct rbt_split_def {
    double step;    // [s]
    double safety;  // an element is ill-shaped if step > safety 2 / sqrt(lambda)
    int rings;      // of nodes around ill-shaped elements that are implicit, too
    bool certify;
    bool
        release;  // nodes that need not be implicit (stability_release.h); not with rings, nor where all elements are ill-shaped
} rbt_split_def;

typedef struct rbt_split {
    size_t ill_count;       // elements
    size_t implicit_count;  // nodes, those held not counted
    size_t moved_count;     // of these, by the certificate
    int rounds;             // of the certificate
    double bound;           // that it found for the explicit nodes [s]; NaN if not asked for
} rbt_split;

// Without the certificate: implicit (node_count); returns how many elements are ill-shaped.
size_t rbt_stability_mark(rbt_stability *s, const rbt_split_def *def, unsigned char *implicit);

// The certificate at places x, with the tangent there: more nodes become implicit until it holds. Counts and bound of *split follow.
void rbt_stability_certify(rbt_stability *s, double step, const double *x, unsigned char *implicit, rbt_split *split);

// implicit (node_count): 1 for the nodes that must be implicit at this step
rbt_split rbt_stability_split(rbt_stability *s, const rbt_split_def *def, unsigned char *implicit);

#endif
