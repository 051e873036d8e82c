// The independent judge of a run: intersections in its states and on the straight ways between them
// (verify/exact/intersect.h).
//
// States are handed over one after the other, from the run itself (`rubato run --verify`) or from what it left on disk
// (`rubato verify DIR`); what was found is kept per state and can be told as JSON. Nodes have the numbers they have
// in the frames' files: through all bodies, from 0.
#ifndef RBT_VERIFY_VERIFY_H
#define RBT_VERIFY_VERIFY_H

#include "base/text.h"
#include "model/model.h"
#include "model/obstacle_parts.h"
#include "step/core/method.h"
#include "verify/exact/intersect.h"

typedef struct rbt_verified {  // one state
    int64_t frame, step;       // the frame, or so many steps after it
    bool failed;               // the state before a step that failed for good
    bool event;                // somewhere within the step that follows
    double t, before;          // [s] its time, and that of the state before on the way
    rbt_intersections in;      // the state itself
    bool has_way;              // there was a state before with the same mesh
    rbt_intersections way;
} rbt_verified;

typedef struct rbt_verification {
    size_t keep;       // intersections to describe per state and per way
    bool states_only;  // do not look at the ways between
    // Look at them whatever the method; else not at those of methods with events, which do not go straight between
    // states.
    bool all_ways;
    bool curved;      // that is so
    bool event_ways;  // ways lead from event to event; else events stand alone
    rbt_intersect_mesh mesh;
    int32_t *node_body;               // (mesh.node_count) the body; of nodes of obstacles -1 less their number
    size_t particles;                 // that are judged
    size_t particles_unknown;         // that are there too, but with what radius is not known
    size_t obstacle_count, unjudged;  // obstacles that are judged, and that are not: the method lets bodies into them
    bool scene_unknown;               // names, radii and obstacles are not known
    rbt_obstacle_parts obstacles;
    double step;    // [s] obstacles move straight on between its multiples; 0: as their prescribed motions say
    double *all;    // (mesh.node_count x 3) positions of nodes and obstacles
    double *first;  // (mesh.node_count x 3) those of the first state; NULL: none yet
    size_t body_count;
    char **body_names;  // may be fewer than there are bodies
    double *last;       // (mesh.node_count x 3) the latest positions; NULL: none yet
    double last_t;
    size_t judged, event_count;  // states, and how many of them are events
    size_t count, capacity;
    rbt_verified *states;                 // all of them but events in which and on the way to which nothing was found
    size_t bad_count;                     // states with an intersection, in them or on the way to them
    size_t in_states, touching, on_ways;  // intersections: in states, of these only touching, and on ways
    size_t way_count, tested, exact;
    double seconds;
} rbt_verification;

// Begin with {.keep = …} and a mesh; a new mesh (after a cut) replaces the old one, and there is no way to the next
// state.
typedef struct rbt_verify_parts {
    size_t node_count, triangle_count, edge_count, particle_count;
    const int32_t *triangles, *edges;
    const int32_t *particles;         // (particle_count) their nodes
    const double *radius;             // (particle_count) [m]; NULL: not known, they are not judged
    const int32_t *node_body;         // (node_count)
    rbt_obstacles obstacles;          // what they point to must stay
    const rbt_motion_group *motions;  // of obstacles, which must stay; NULL: those of the description
    bool own_contact;                 // the method keeps bodies out of obstacles; else these are not judged
    bool has_events;                  // it has corners between states, so that straight ways are none of its
    double step;                      // [s] or 0, as below
} rbt_verify_parts;
bool rbt_verification_set_mesh(rbt_verification *v, const rbt_verify_parts *parts, rbt_error *error);
bool rbt_verification_set_names(rbt_verification *v, const rbt_scene *scene, rbt_error *error);
bool rbt_verification_set_model(rbt_verification *v, const rbt_model *model, const rbt_method *method,
                                rbt_error *error);  // mesh and names
void rbt_verification_free(rbt_verification *v);

// Judges the next state; it becomes the last of v->states, if it is to be kept. `about`: frame, step, failed, event
// and t.
bool rbt_verification_add(rbt_verification *v, const rbt_verified *about, const double *x, rbt_error *error);

// The next way begins here, whatever was judged before: what followed this state is undone.
void rbt_verification_restart(rbt_verification *v, double t, const double *x);

// All states in a run's folder: frames/*.vtu (from checkpoints of the same number where the frames are in single
// precision), and failed.rbt if the run ended with one. `hear` (may be NULL) is called after each.
typedef void (*rbt_verify_hear)(const rbt_verification *v, const rbt_verified *state, void *listener);
bool rbt_verify_folder(rbt_verification *v, const char *folder, rbt_verify_hear hear, void *listener,
                       rbt_error *error);

// ---- Words

// "edge 12-15 of "cloth" crosses triangle 3-4-5 of "ball" at (0.1, 0, 0.25)"; of those on a way with the time.
void rbt_intersection_text(const rbt_verification *v, const rbt_verified *state, const rbt_intersection *i,
                           rbt_text *text);
// "no intersections in 41 states and on 40 ways between them", or how many, where and of what kind
void rbt_verification_summary(const rbt_verification *v, char *text, size_t size);
// An object; `all`: with every state, else only with the first few that have intersections.
void rbt_verification_json(const rbt_verification *v, bool all, rbt_text *text);

#endif
