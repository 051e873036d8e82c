// Contact of everything with everything by nested penalty layers, each with its own clock (step/async/layers.h), and
// the proofs that let layers sleep. What moves is a set of tracks (step/async/track.h); this keeps no part of their
// motion, so that layers could be found again at any time and nothing of a trajectory would change.
//
//   window       until its end every node is bound to stay within a distance of a straight line, along its velocity
//                or, if it trembles, along its mean velocity. Pairs whose places in a window are further apart than
//                their layers are not looked at (contact/broad_phase/tree.h). A node that leaves its trajectory bound
//                gets a new line, and the pairs that this may bring together (step/async/repair.c)
//   cone         a node is bound to |v - v_ref| <= eps; kicks within it change no certificate. Outside of it the node
//                gets a new cone
//   certificate  a slab: along the normal n between the nearest points of a pair the gap is g and closes no faster than
//                u = max_A (n v_ref + eps) - min_B (n v_ref - eps); so layer l sleeps for (g - eta_l) / u, and for a
//                time T as long as u stays below (g - eta_l) / T: only pairs of a new cone that close faster are
//                measured again. When its time is up a slab that still has room is kept, else the nearest points are
//                found again
//   layers       a pair with awake layers is measured at every tick of its deepest ones; as many are awake as may be
//                needed before the next tick
#ifndef RBT_STEP_ASYNC_CONTACT_H
#define RBT_STEP_ASYNC_CONTACT_H

#include "contact/broad_phase/span.h"
#include "contact/broad_phase/surface.h"
#include "contact/broad_phase/tree.h"
#include "model/contact_settings.h"
#include "step/async/layers.h"
#include "step/async/queue.h"
#include "step/async/track.h"

typedef struct rbt_contact_law {
    double stiffness;                     // r of layer 1 [N/m]
    double thickness;                     // eta of layer 1 [m]
    double restitution;                   // 1: elastic; 0: no rebound
    double friction;                      // Coulomb's coefficient of all pairs, without `rubbing`
    double safety;                        // step of a layer times its frequency sqrt(r / m)
    double step;                          // the common step [s]
    int deepest;                          // no clock may tick faster than the step over 2^deepest
    bool exact;                           // cones have no width: every kick makes their nodes leave them
    const rbt_contact_settings *rubbing;  // who rubs whom, for sides of nodes (node_count); NULL: all alike
    const int32_t *side;
} rbt_contact_law;

typedef struct rbt_pair {
    rbt_pair_key key;
    int32_t node[4];
    double eta, radius;       // thickness of layer 1, and how much of the distance is inside of points [m]
    double push;              // r times the step of layer 1 [N s/m]
    double friction;          // Coulomb's coefficient
    bool watched;             // both sides are constrained for ever: it has no layers, its sides must not meet
    signed char base, level;  // level of the clock of layer 1, of the deepest layers awake; -1: all sleep
    double normal[3];         // of the slab that its certificate or level rests on
    double high, low;         // no faster than this its sides move along it [m/s]
    double allowed;           // which holds as long as the slab closes no faster [m/s]
} rbt_pair;

typedef struct rbt_cone {  // what certificates rest on: small, since it is looked up for every corner of a pair
    double v[3], eps;      // reference and radius [m/s]
} rbt_cone;

typedef struct rbt_line {      // of a window
    double start[3], path[3];  // place at its begin [m] and velocity [m/s]
    double last[3];            // place at its end
    double reach, far;         // how far from that line the node may be, and was: [m], [m^2]
    double most;               // largest deviation from the cone's reference so far, squared [m^2/s^2]
    int64_t born;              // since when the cone is there [ticks]
} rbt_line;

typedef struct rbt_velocity_predictor {  // how a node has moved of late
    double place[3], v[3];               // at the begin of the last window [m], [m/s]
    double mean[3];                      // velocity from window to window [m/s]
    float trust;                         // 1: the mean has always told better where it goes, -1: its velocity has
    bool by_mean;                        // its line follows the mean
} rbt_velocity_predictor;

typedef struct rbt_touch {  // a pair at a tick of its layers
    int32_t pair;
    rbt_gap gap;
    double support;     // gap along the normal, inside of points left out [m]
    double impulse[3];  // on B, along the normal [N s]
    double push;        // its size
    double drag[3];     // friction on B
} rbt_touch;

typedef struct rbt_candidate {
    rbt_pair_key key;
    double eta;  // its thickness [m]
} rbt_candidate;

// What contact keeps, by who computes it. Modules write what is theirs and read the rest:
//
//   given           rbt_contact_init (start.c), constant from then on
//   window          how long it is and what it has cost so far: window.c
//   trajectories    where nodes may be in the window: window.c, and repair.c for nodes that left their bounds
//   search          which leaves are near each other: window.c, and repair.c asks the tree for single nodes
//   pairs           what may touch in the window: window.c makes the list, repair.c adds to it
//   certificates    how long pairs sleep: contact.c
//   awake           pairs whose layers tick, by their clocks: contact.c
//   moment          touches and violators of one time, used up when it is settled: contact.c
//   stall           the pair that no clock is fast enough for: contact.c
typedef struct rbt_window {  // computed by rbt_contact_window
    int64_t begin, end;      // [ticks]; rbt_contact_repair ends it early if it is cut
    int64_t length;          // of the next one
    bool cut;                // by rbt_contact_repair: too many trajectory bounds were left, it ends now
    double search_work;      // as much as this many certificates: to find its pairs
    double repair_work;      // by rbt_contact_repair: to keep them complete
    int64_t work_before;     // certificates and impulses when it began
    double span;             // length of the last one [s]
    double rate;             // work per tick of the last one
    bool longer;             // whether windows are getting longer
} rbt_window;

typedef struct rbt_trajectory_bounds {   // computed by rbt_contact_window, of violators by rbt_contact_repair
    rbt_line *lines;                     // (node_count)
    rbt_velocity_predictor *predictors;  // (node_count)
    rbt_span *spans;   // (node_count), then (edge_count), then (leaf_count): of nodes, edges and leaves in the window
    double scale;      // largest coordinate [m], for rounding
    double origin[3];  // near all places, of the spans
    double min_reach;  // of all nodes [m]
} rbt_trajectory_bounds;

typedef struct rbt_pair_search {         // computed by rbt_contact_window
    rbt_tree tree;                       // its leaves also by rbt_contact_repair; at the start by start.c
    double *centres;                     // (leaf_count x 3)
    double *renewed;                     // (node_count x 3) places since which the tree counts drifts
    int since_build;                     // windows since the tree was built
    size_t looks;                        // pairs of leaves that the last search looked at
    size_t all_looks, first_front;       // with a new tree, and the length of its list; 0: there is none
    size_t vain;                         // looks in vain since places were renewed
    rbt_candidate *candidates, *sorted;  // what was found, and work space to sort it
    size_t candidate_capacity, sorted_capacity;
} rbt_pair_search;

typedef struct rbt_window_pairs {  // computed by rbt_contact_window; those from first_count on by rbt_contact_repair
    rbt_pair *items;               // (count) the part of them that certificates need: by rbt_pair_place
    size_t count, capacity;
    size_t first_count;  // that the window began with, in the order of their names; then those of repairs
    uint32_t *stamps;  // (count) when each was last given a level or a certificate, by rbt_pair_place: moment number
    size_t stamp_capacity;
    size_t *node_start;  // (node_count + 2) pairs of each node that the window began with
    int32_t *of_nodes;   // (sum of their corners)
    size_t of_nodes_capacity;
    int32_t *later;  // (count - first_count) those of repairs, in the order of their names if they are sorted
    bool later_sorted;
    size_t later_capacity;
    int32_t *later_first;  // (node_count) the last pair of repairs that a node has, -1: none
    int32_t *later_next;   // (count - first_count x 4) and the one before that, per corner
    size_t later_next_capacity;
} rbt_window_pairs;

typedef struct rbt_certificates {
    rbt_cone *cones;   // (node_count) computed by rbt_contact_settle; rbt_contact_window makes them narrower
    rbt_queue queue;   // times at which they expire, computed by rbt_pair_place
    uint32_t settled;  // moments so far, counted by rbt_contact_settle
} rbt_certificates;

typedef struct rbt_level_list {
    int32_t *items;
    size_t count, capacity;
    bool sorted;
} rbt_level_list;

typedef struct rbt_awake_pairs {               // computed by rbt_pair_place, emptied by rbt_contact_measure
    rbt_level_list levels[RBT_TICK_BITS + 1];  // pairs by the clock of their deepest layers awake
    uint64_t used;                             // bits of lists that are not empty
} rbt_awake_pairs;

typedef struct rbt_moment {
    int64_t time;        // [ticks] what these two belong to, computed by rbt_contact_check
    double since, left;  // since the begin of the window, and until nodes are looked at again [s]
    rbt_touch *touches;  // (touch_count) computed by rbt_contact_measure; their drag by rbt_contact_drag
    size_t touch_count, touch_capacity;
    int32_t *order, *merged;  // (order_capacity) of touches, work space
    size_t order_capacity;
    int32_t *dragging;        // (node_count) pairs with friction, else 0: computed by rbt_contact_drag
    int32_t *cone_violators;  // (cone_violator_count <= node_count) nodes that left their cones: rbt_contact_check
    size_t cone_violator_count;
    unsigned char *leaving;   // (node_count) whether a node is one of these
    int32_t *line_violators;  // (line_violator_count <= node_count) those that left their trajectory bounds: the same
    size_t line_violator_count;
    unsigned char *violates_line;  // (node_count)
} rbt_moment;

typedef struct rbt_stall {  // computed by rbt_pair_place and rbt_contact_blame
    bool found;             // a layer would need a faster clock than allowed, or sides that are watched meet
    rbt_pair_key pair;
    double gap, speed;
    double depth;  // its gap over its thickness
    bool watched;
} rbt_stall;

typedef struct rbt_contact_counts {
    int64_t impulses;      // pairs that were looked at when layers ticked
    int64_t layers;        // their layers that ticked: events of their own in the paper
    int64_t certificates;  // made or renewed
    int64_t expired;       // of these, because their time was up
    int64_t confirmed;     // looks at pairs of nodes with new cones
    int64_t cones;         // nodes that left theirs
    int64_t windows, cut_windows;
    int64_t repairs;     // trajectory bounds that were left and made again
    int64_t candidates;  // pairs in all windows together
    int deepest;         // finest clock so far
} rbt_contact_counts;

typedef struct rbt_contact {
    // given
    rbt_contact_law law;
    rbt_layers layers;
    rbt_contact_surface surface;
    rbt_tracks *tracks;
    double *work;        // by nodes that have a prescribed motion so far [J]; NULL: not counted
    bool rubs;           // some pair has friction
    double max_inside;   // no pair has more of its distance inside of points [m]
    size_t *leaf_start;  // (node_count + 2) leaves of each node
    int32_t *node_leaves;
    unsigned char *exposed;  // (node_count) nodes of leaves, and those that walls go through

    rbt_window window;
    rbt_trajectory_bounds trajectories;
    rbt_pair_search search;
    rbt_window_pairs pairs;
    rbt_certificates certificates;
    rbt_awake_pairs awake;
    rbt_moment moment;
    rbt_stall stall;
    bool out_of_memory;
    rbt_contact_counts counts;  // by all of them
} rbt_contact;

// The tracks must live as long as the contact.
bool rbt_contact_init(rbt_contact *contact, const rbt_contact_law *law, const rbt_contact_surface_def *def,
                      rbt_tracks *tracks, rbt_error *error);
void rbt_contact_free(rbt_contact *contact);

// Pairs that touch or cross at the places x (node_count x 3): false and `text` names the first one.
bool rbt_contact_is_legal(rbt_contact *contact, const double *x, char *text, size_t size);

// A pair that is closer than its thickness at the start
typedef struct rbt_start_gap {
    rbt_pair_key key;
    double gap, eta;  // [m]
    double energy;    // of its layers [J]
} rbt_start_gap;

// Of the pairs that are closer than their thickness at the places x, which must be legal: the one with the narrowest
// gap, or with the narrowest in parts of its thickness. False: there is none, or no memory.
bool rbt_contact_start_gap(rbt_contact *contact, const double *x, bool in_parts, rbt_start_gap *found);

// Another thickness for all pairs [m], before the first window.
void rbt_contact_set_thickness(rbt_contact *contact, double thickness);

// A new window from time t on. False: no memory, or stalled.
bool rbt_contact_window(rbt_contact *contact, int64_t t);

// The first time after `now` when a layer ticks, a certificate expires or the window ends.
int64_t rbt_contact_next(rbt_contact *contact, int64_t now);

// At time t: certificates that expire; impulses of the layers that tick, measured before anything is kicked; kicks.
void rbt_contact_expire(rbt_contact *contact, int64_t t);
void rbt_contact_measure(rbt_contact *contact, int64_t t);
void rbt_contact_kick(rbt_contact *contact, int64_t t);

// Whether nodes nodes[begin .. end - 1] (NULL: begin .. end - 1) that can touch something still keep to their
// trajectory bounds after kicks at time t; those that do not are remembered for rbt_contact_settle.
void rbt_contact_check(rbt_contact *contact, const int32_t *nodes, size_t begin, size_t end, int64_t t);

// After all kicks of time t: new cones, new certificates, new levels. False: no memory, or stalled.
bool rbt_contact_settle(rbt_contact *contact, int64_t t);

// Makes the stalled pair the first one of those with the fastest clock at time t, or the next one to be looked at.
// False: there is none.
bool rbt_contact_blame(rbt_contact *contact, int64_t t);

// Energy of all layers at time t, which must lie in the window, stalled or not [J]: what they will give back, the
// part `restitution` of what was put in. With it the energy of everything never grows, whether pairs separate or are
// pressed together again.
double rbt_contact_energy(rbt_contact *contact, int64_t t);

// Pairs whose layers push at time t, which must lie in the window, one after the other: begin with *walk from
// rbt_pair_walk_all (step/async/window.h). *force: how strongly, restitution included [N]. NULL: there are no more.
typedef struct rbt_pair_walk rbt_pair_walk;
const rbt_pair *rbt_contact_next_push(rbt_contact *contact, rbt_pair_walk *walk, int64_t t, rbt_gap *gap,
                                      double *force);

// The slab of a pair at time t: the gap along the normal, and how fast it may close (for tests and the modules of
// contact).
void rbt_pair_measure(const rbt_contact *contact, const rbt_pair *pair, int64_t t, rbt_gap *gap, double *support);
double rbt_pair_closing(const rbt_contact *contact, const rbt_pair *pair, const double normal[3]);
void rbt_pair_place(rbt_contact *contact, int32_t pair, int64_t t, const double normal[3], double support);

#endif
