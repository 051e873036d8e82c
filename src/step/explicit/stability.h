// Where explicit steps are stable: local bounds of elements, the nodes that must be implicit at a step, and a
// certificate for the rest (Fierz, Spillmann and Harders 2011, "Element-wise mixed implicit-explicit integration",
// with what it leaves open).
//
// Local bound of an element: the stiffness of its one-ring with the ring's outer boundary constrained, its own 12 x
// 12 block of M^-1 K, largest eigenvalue lambda; ill-shaped at h iff h > 2 / sqrt(lambda). All elements at its nodes
// are in the ring, so the block is that of the assembled matrices at rest. As a principal sub-matrix's, lambda is a
// lower bound of the body's: the test can be too optimistic, and nodes of elements that pass it can still blow up.
//
// What decides is the explicit block E. With C the stiffness of the obstacles and D = alpha M + beta K the damping, a
// step of imex is stable if
//   (h^2 (K + C) + 2 h D)_EE <= 4 M_E,   that is   h^2 lambda_max(M_E^-1 P(h)_EE) <= 4,
//   P(h) = K + C + (2 / h) D (1)
// and this holds for all nodes together, not for the explicit ones alone. Proof. Explicit rows of a step are M (v+ -
// v) + h (K + C) u + h D v = 0, implicit ones M (v+ - v) + h (K + C) u+ + h D v+ = 0, and u+ = u + h v+. A solution
// that grows by z in every step has, with w = 1 - 1/z, h v = w u, explicit rows multiplied by h and implicit ones by
// h / z,
//   T(z) u = 0,   T(z) = diag(z w^2 M_E, w^2 M_I) + h^2 (K + C) + h w D.
// Let |z| > 1, so that Re w > 0. With m_E = u* M_E u, m_I, k = u* (K + C) u and d = u* D u, none of which is negative
// (K is not where a body buckles, but then the motion itself is unstable), u* T u / w = 0 is
//   imaginary part over Im w:   |z|^2 m_E + m_I - h^2 k / |w|^2 = 0
//   real part, k put in:        (|z|^2 - 1) m_E + 2 Re(w) m_I + h d = 0,
// which no complex z satisfies, at any h. For real z > 1, T is positive definite. For z = -r < -1, its implicit block
// is positive definite, and the explicit one negative definite by (1): over w it is -(1 + r) M + h^2 (K + C) r / (1 +
// r) + h D, not above 0 at r = 1 and falling with r, as the derivative of r / (1 + r) is 1/4 at most and h^2 (K + C)
// <= 4 M. The Schur complement of the implicit block is then negative definite, too, and T u = 0 has no solution. An
// obstacle that a node does not touch makes C less, and one node less in E leaves a principal block: (1) with all that
// may touch is enough for any that do.
//
// lambda_max: Lanczos steps from a vector without preference find it from below; after k of them it is short by more
// than a share epsilon with a probability of at most 1.648 sqrt(n) exp(-sqrt(epsilon) (2 k - 1)) (Kuczynski and
// Wozniakowski 1992). k is chosen to make that 1e-9 for epsilon = 0.04, and the certificate asks for h^2 lambda <= 4
// (1
// - epsilon): 2 % of h. Where it fails, the nodes in which the unstable modes live become implicit, until it holds.
//
// C of a node of area A is A times the sum of k n n^T over planes and of k I over other obstacles, whose normals vary:
// what it can be at most, wherever the node is. Nodes that are not in `reach` have none. Wind is not in it: its drag
// is a load.
//
// Obstacles push and do not pull, so (1) does not rule out that a node comes back faster than it came. Let q = h^2 k A
// / m of a node that meets one at speed v, and the shares s and s' of a step that it has been inside when it is first
// felt, and outside when it is no longer. Inside, v^2 + k A x x+ / m is kept from step to step, and with x = s h v at
// its beginning and the like at its end
//   v'^2 (1 - q s' (1 - s')) = v^2 (1 - q s (1 - s)),   v'^2 <= v^2 / (1 - q / 4),
// which is a factor of 25 at what (1) allows. imex asks for (1) with 4 C in the place of C: q <= 1, a third at most
// and none on average.
#ifndef RBT_STEP_EXPLICIT_STABILITY_H
#define RBT_STEP_EXPLICIT_STABILITY_H

#include "model/stiffness.h"
#include "model/tangent.h"

typedef struct rbt_stability {
    const rbt_model *model;
    rbt_arena *arena;
    size_t element_count;  // of all groups
    double *rate;  // (element_count) lambda of each element without damping and obstacles, group by group [1/s^2]
    unsigned char *constrained;  // (node_count) nodes that never move freely
    double *root;                // (node_count) 1 / sqrt(mass), 0 where constrained or massless
    double contact[9];           // C per area of a node, times RBT_STABILITY_ONE_SIDED [Pa/m]
    double contact_norm;         // its largest eigenvalue
    unsigned char *reach;        // (node_count) nodes that may touch; all, unless somebody knows better
    rbt_tangent tangent;         // at rest, or where the certificate was asked for last
    const double *added;  // (element_count) d of elements: d G is added to K (energy/stiffening.h); NULL: nothing
    bool added_only;      // P is d G alone
    double *work;         // (4 x node_count x 3)
    double *modes;        // (RBT_STABILITY_MODES x node_count x 3)
    rbt_stiffness rest;   // K at rest, if rest_known; it is large and goes with rbt_stability_forget
    bool rest_known;
} rbt_stability;

enum {
    RBT_STABILITY_MODES = 8,      // unstable ones looked at in one round
    RBT_STABILITY_ONE_SIDED = 4,  // factor of C; rbt_stability_step_bound takes 1
};

// Finds the rates. `known` (elements of all groups, NULL: none): rates that are known already, NaN where not; after a
// change of topology only those elements are looked at whose one-ring has changed.
bool rbt_stability_init(rbt_stability *s, const rbt_model *model, const double *known, rbt_error *error);
void rbt_stability_free(rbt_stability *s);

// Drops what only the choice of implicit nodes needs; it is made again when asked for.
void rbt_stability_forget(rbt_stability *s);

// ---- P(h), rows scaled by 1 / sqrt(mass)

// Factor of K and what is added to the diagonal, at a node; with an infinite h those of K alone
static inline double rbt_stability_factor(const rbt_stability *s, size_t node, double h) {
    return 1 + 2 * s->model->bodies[s->model->node_body[node]].damping.stiffness / h;
}
static inline double rbt_stability_shift(const rbt_stability *s, size_t node, double h) {
    return 2 * s->model->bodies[s->model->node_body[node]].damping.mass / h;
}

// Factor of `contact` at a node
static inline double rbt_stability_contact(const rbt_stability *s, size_t node) {
    return s->reach[node] ? s->model->node_area[node] * s->root[node] * s->root[node] : 0;
}

// An element's eigenvalue of P(h), from above: e is counted over all groups, node (corners) are its nodes
double rbt_stability_rate(const rbt_stability *s, size_t e, const int32_t *node, int corners, double h);

// The step h at which h^2 times that is 4: least and largest over all elements that have a rate. Infinite and 0 if
// none has.
void rbt_stability_local_bounds(const rbt_stability *s, double *least, double *largest);

// ---- Bounds

// 2 / sqrt(lambda_max) of P(step) over the nodes that are not in `implicit` (node_count; NULL: of all), within the
// epsilon above and with it taken off. If it is not below `step`, all steps up to it are stable. Infinite if no node
// is left. With `shape` (RBT_STABILITY_MODES x node_count x 3) up to so many modes beyond `step` are written there,
// *shape_count of them.
double rbt_stability_bound(rbt_stability *s, const unsigned char *implicit, double step, double *shape,
                           size_t *shape_count);

// The largest step that is stable with these implicit nodes (NULL: none), to 0.1 % and the epsilon above.
double rbt_stability_largest_step(rbt_stability *s, const unsigned char *implicit);

// The same for a model all of whose nodes are explicit, as with symplectic-euler, with its damping and obstacles by
// (1) as it stands, and the tangent at x (NULL: at rest): beyond it steps blow up. *node (NULL: not wanted): where the
// fastest mode is largest. Infinite if nothing can move; NaN with an error if there is no memory.
double rbt_stability_step_bound(const rbt_model *model, const double *x, size_t *node, rbt_error *error);

// What symplectic-euler is stable with
typedef struct rbt_stable_steps {
    double bound;           // longest stable step at rest, nothing touched [s]; infinite: the model's is far below it
    size_t node;            // where the mode lives that decides: its number within its body
    int32_t body;           // and that
    double touching_bound;  // the same with all obstacles touched
    int32_t touching_body;
} rbt_stable_steps;

// false: there is no memory. Of a rank's part it is what was found for the whole.
bool rbt_stability_judge(const rbt_model *model, rbt_stable_steps *steps);

typedef struct rbt_split_def {
    double step;    // [s]
    double safety;  // an element is ill-shaped if step > safety 2 / sqrt(lambda)
    int rings;      // of nodes around ill-shaped elements that are implicit, too
    bool certify;
    // Release nodes that need not be implicit (stability_release.h); not with rings, nor where all elements are
    // ill-shaped.
    bool release;
} rbt_split_def;

typedef struct rbt_split {
    size_t ill_count;       // elements
    size_t implicit_count;  // nodes, those constrained not counted
    size_t moved_count;     // of these, by the certificate
    int rounds;             // of the certificate
    double bound;           // that it found for the explicit nodes [s]; NaN if not asked for
} rbt_split;

// Without the certificate: implicit (node_count); returns how many elements are ill-shaped.
size_t rbt_stability_mark(rbt_stability *s, const rbt_split_def *def, unsigned char *implicit);

// The certificate at places x, with the tangent there: more nodes become implicit until it holds. Counts and bound of
// *split follow.
void rbt_stability_certify(rbt_stability *s, double step, const double *x, unsigned char *implicit, rbt_split *split);

// implicit (node_count): 1 for the nodes that must be implicit at this step
rbt_split rbt_stability_split(rbt_stability *s, const rbt_split_def *def, unsigned char *implicit);

#endif
