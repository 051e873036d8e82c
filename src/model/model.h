// Everything that does not change while time runs, compiled once from a scene and then const.
//
// Bodies lie one after the other in every array: nodes, tets, surface triangles and edges of body b are the ranges its
// entry gives. Indices are global. One arena holds it all.
#ifndef RBT_MODEL_MODEL_H
#define RBT_MODEL_MODEL_H

#include "base/memory.h"
#include "energy/hinge.h"
#include "energy/material.h"
#include "energy/membrane.h"
#include "energy/obstacle.h"
#include "energy/spring.h"
#include "energy/tet_group.h"
#include "mesh/query/embed.h"
#include "model/contact_settings.h"
#include "model/event.h"
#include "model/load.h"
#include "model/motion.h"
#include "model/plan.h"
#include "model/ranks.h"
#include "model/tempo.h"
#include "rubato/query.h"
#include "rubato/scene.h"

#include <stdatomic.h>

typedef enum rbt_role { RBT_FREE, RBT_FIXED, RBT_DRIVEN } rbt_role;

typedef struct rbt_region {
    const char *name;
    int body;
    rbt_material_def material;
} rbt_region;

typedef struct rbt_probe {
    const char *name;
    size_t count;
    const int32_t *nodes;  // (count)
    const double *share;   // (count) of their mass
    bool every_step;       // read after every step, not only at frames
} rbt_probe;

typedef struct rbt_embedded_surface {  // a body's own render surface, NULL arrays if it has none
    rbt_embedding embedding;           // tets are global
    size_t triangle_count;
    const int32_t *triangles;  // (triangle_count x 3) into the embedding's vertices
} rbt_embedded_surface;

typedef struct rbt_node_selection {  // what a named selection of a body, or a set of its mesh, stands for
    const char *name;
    int body;
    size_t count;
    const int32_t *nodes;  // (count) ascending, counted through all bodies
} rbt_node_selection;

typedef struct rbt_body {
    const char *name;
    rbt_body_kind kind;
    size_t node_begin, node_end;
    size_t tet_begin, tet_end;            // empty unless a solid
    size_t triangle_begin, triangle_end;  // empty for nets
    size_t edge_begin, edge_end;          // empty unless a net
    double box_min[3], box_max[3];        // rest shape [m]
    double mass;                          // [kg]
    double volume;                        // [m^3]
    double explicit_step;                 // estimate of the largest stable step of symplectic Euler [s]
    rbt_damping_def damping;
    bool consistent_mass;     // instead of lumped (model/mass.h)
    rbt_shell_def shell;      // of shells
    rbt_springs_def springs;  // of nets
    rbt_particles_def particles;
    size_t fixed_count, driven_count;
    rbt_embedded_surface embedded;
} rbt_body;

// For steps by error (step/core/step_control.h): of the largest node over the size of its body, at the end of the run;
// 0: the scene gives a step, and this is not looked at
typedef struct rbt_asked_error {
    double error;
    double shortest;  // [s] steps never are
    double given;     // [s] what the scene says of that; 0: nothing
    bool meets;       // bodies can meet something
} rbt_asked_error;

typedef struct rbt_model {
    rbt_arena *arena;

    size_t body_count;
    const rbt_body *bodies;
    const rbt_body_def
        *described;  // (body_count) of a scene that outlives the model; NULL: no body has its own method
    size_t region_count;
    const rbt_region *regions;
    size_t selection_count;
    const rbt_node_selection *selections;
    size_t probe_count;
    const rbt_probe *probes;

    size_t node_count, tet_count, triangle_count, edge_count;
    const double *X;                 // (node_count x 3) rest positions [m]
    const int32_t *tets;             // (tet_count x 4)
    const int32_t *tet_region;       // (tet_count)
    const int32_t *triangles;        // (triangle_count x 3) hulls of solids, outwards, and shells
    const int32_t *triangle_region;  // (triangle_count) of shells' triangles; 0 on hulls
    const int32_t *edges;            // (edge_count x 2) of nets
    const double *node_area;    // (node_count) a third of the triangles around each node, of shells one side [m^2]
    const double *mass;         // (node_count) lumped [kg]
    const int32_t *node_body;   // (node_count)
    const unsigned char *role;  // (node_count) rbt_role at time 0
    const double *x0, *v0;      // (node_count x 3) the start

    // The energies, and the plan by which results of elements become sums at nodes.
    size_t group_count;
    const rbt_group *groups;
    rbt_plan plan;
    bool linear;  // no group's stiffness depends on x

    // For tolerances, of all shells and nets (0 without): the norm over their nodes of mass times distance to the
    // neighbours [kg m], and the energy of their elements at a strain of 1 or an angle of 1 rad [J]
    double sheet_inertia, sheet_energy;

    // Tets at each node, ascending
    const size_t *tet_start;   // (node_count + 1)
    const int32_t *node_tets;  // (4 tet_count)

    rbt_tempos tempos;    // parts that take steps of their own
    rbt_motions motions;  // of driven nodes
    // What a caller prescribes beside the scene (model/input.h); NULL: nothing, as in parts of models
    rbt_input *input;
    rbt_loads loads;
    size_t event_count;  // cuts left out
    const rbt_planned_event *events;
    size_t drag_count;                    // sets of nodes that can be dragged
    const rbt_drag_target *drag_targets;  // (drag_count) named selections, in their order, then those of events
    rbt_obstacles obstacles;
    const rbt_motion_group *obstacle_motions;  // (obstacles.count) their prescribed motions
    rbt_contact_settings contact;
    double gravity[3];  // [m/s^2] sum of all gravity forces

    size_t warning_count;
    const char *const *warnings;  // sentences worth telling before the run

    double step, frame_interval;  // [s]
    int64_t frame_count;          // after frame 0
    int64_t steps_per_frame;
    rbt_asked_error asked;  // of scenes that leave the step open

    size_t cut_count;            // planned by the scene
    int generation;              // how many models cuts and other materials have replaced before this one
    uint64_t uncut_fingerprint;  // of the first of them; 0: this is the first
    bool is_cut;                 // some of these were cuts: nodes need not have begun where x0 is

    const rbt_ranks *ranks;  // this is one rank's part of a model; NULL: all of it

    struct rbt_model *base;  // whose arrays these are; NULL: its own
    atomic_size_t *users;    // of its own arrays
} rbt_model;

// The error that a scene asks for: that of its goal, or that of the goal's quality. Where bodies can meet something,
// that is several times as large: a node that meets something within a step of length h is misplaced by up to h times
// its speed, whatever the order of the method, and impacts make errors grow.
double rbt_goal_error(const rbt_scene *scene);

// Another error for a model whose steps are chosen by their error, and the shortest step for it, unless the scene gives
// one. Where bodies can meet something it is `error` times a frame: what moves by its size in a frame, as fast as
// frames can show it, is misplaced by the error in one such step. No shorter step could be told from it.
void rbt_model_ask(rbt_model *model, double error);

rbt_model *rbt_model_compile(const rbt_scene *scene, rbt_error *error);

// The same from a sources of meshes (model/sources.h), which is filled if it is empty.
typedef struct rbt_sources rbt_sources;
rbt_model *rbt_model_compile_sources(const rbt_scene *scene, rbt_sources *sources, rbt_error *error);
void rbt_model_free(rbt_model *model);

// Another model with the same arrays, which live until the last one that has them is freed, and an input of its own. It
// has the materials of the scene, whatever those of `model` have been changed to (model/materials.h).
rbt_model *rbt_model_share(rbt_model *model, rbt_error *error);

// The longest step not above this one of which a whole number makes a frame: for scenes whose step is "auto" and whose
// method chooses one, before anything else looks at the model. Such scenes are compiled with RBT_NOMINAL_STEPS steps a
// frame; where steps are chosen by error, that is the grid on which obstacles go straight on, and nothing else.
enum { RBT_NOMINAL_STEPS = 64 };
void rbt_model_set_step(rbt_model *model, double step);

// The step from multiple to multiple of which prescribed motions go straight on where bodies are kept apart; 0: steps
// are chosen by their error, and each begins and ends exactly where the motions are then.
double rbt_model_grid_step(const rbt_model *model);

// The energy balance since time 0 (step/core/energy_watch.h) [J]
enum { RBT_LEDGER_RECENT = 16 };
typedef struct rbt_ledger {
    int64_t looks;           // so far; 0: nothing below is known yet
    double time;             // of the latest look [s]
    double energy, gravity;  // total energy, and gravity's part of it, at the latest look
    double work;             // of outside forces and prescribed motion so far, as the watch counts it
    double own_work;         // beside it, what the method itself had counted at the latest look
    double effort;           // sum of the sizes of the pieces that the work came in
    double slack;    // how wrong the work may be: loads that began or ended within a step, forces between samples
    double jumps;    // what cuts, and a scene that was changed before it continued, added to the energy
    double start;    // kinetic, elastic and contact energy of the start
    double top;      // gravity's energy of the start
    double scale;    // the most that start, work and falling have explained so far
    int64_t frames;  // looks at the ends of frames
    double recent[RBT_LEDGER_RECENT];  // balances (energy - work - jumps) of the latest of them, in turn
    double level;                      // the least that all of as many in a row stayed below so far
    double gain, gain_time;            // the largest rise above that, and when [s]
} rbt_ledger;

// How the steps since time 0 went.
typedef struct rbt_tally {
    int64_t steps;          // accepted
    int64_t unconverged;    // of these, with a solve that had not converged
    double worst_residual;  // of the latter, size of the gradient over the tolerance
    double first;           // when the first of the latter began [s]
    rbt_ledger ledger;
} rbt_tally;

// What a checkpoint holds.
typedef struct rbt_state {
    int64_t frame;  // last whole frame
    int64_t step;   // whole steps since that frame
    double t;       // [s]
    size_t node_count;
    double *x, *v;       // (node_count x 3)
    size_t memory_size;  // bytes of the method's own memory, copied as they are
    void *memory;
    rbt_tally tally;
    size_t cuts_size;  // bytes that tell what cuts have made of the bodies (model/cutting.h); 0: nothing
    void *cuts;
    size_t input_size;  // bytes of what a caller prescribes (model/input.h); 0: nothing so far
    void *input;
    size_t watch_size;  // bytes of where the energy watch is (step/core/energy_watch.h); 0: it begins again
    void *watch;
    uint64_t fingerprint, method;  // of the model and the method that it belongs to; 0: not known
} rbt_state;

bool rbt_state_init(rbt_state *state, const rbt_model *model, rbt_error *error);
void rbt_state_clear(rbt_state *state);  // frees the arrays, keeps the struct

// Makes `to` the same but for `watch`, which stays as it is, in the memory that it has where sizes are the same; on
// failure it is empty. It cannot fail where it has room.
bool rbt_state_copy(rbt_state *to, const rbt_state *from, rbt_error *error);
bool rbt_state_has_room(const rbt_state *to, const rbt_state *from);
bool rbt_state_reserve_watch(rbt_state *state, size_t bytes, rbt_error *error);

// The diagonal of the box that all nodes start in [m]
double rbt_model_diagonal(const rbt_model *model);

// energies (plan.chunk_count) is work space.
rbt_energies rbt_model_energies(const rbt_model *model, const rbt_state *state, rbt_sum *energies);

// Energy of a tet whose strain is 1 in one direction, lambda + 2 mu per volume [J]. Energies are differences of numbers
// of this size.
double rbt_model_tet_energy(const rbt_model *model, size_t tet);
// What differences of elastic energies are off by, for sums of millions of elements [J]
double rbt_model_energy_rounding(const rbt_model *model);

// von Mises stress of every tet [Pa] (tet_count).
void rbt_model_von_mises(const rbt_model *model, const double *x, double *stress);

// Likewise of every triangle (triangle_count); 0 on hulls, and on shells whose membrane is made of springs.
void rbt_model_shell_von_mises(const rbt_model *model, const double *x, double *stress);

// What the elements of a body are called: "tet", "triangle", "edge"; and how many it has.
const char *rbt_body_element(const rbt_body *body);
size_t rbt_body_element_count(const rbt_body *body);

#endif
