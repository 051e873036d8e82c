// Asking a simulation: bodies, selections, masses, constraints, contacts, reactions, times, statistics. Conventions:
// rubato/sim.h. Nothing here changes a bit of what comes.
#ifndef RUBATO_QUERY_H
#define RUBATO_QUERY_H

#include "rubato/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Bodies, in the order of the scene. Numbers of nodes and elements count through all bodies.

typedef enum rbt_body_kind {
    RBT_SOLID,      // tets; its triangles are their hull
    RBT_SHELL,      // triangles
    RBT_NET,        // edges: springs between point masses
    RBT_PARTICLES,  // nodes
    RBT_BODY_KINDS
} rbt_body_kind;

typedef struct rbt_body_info {
    const char *name;
    rbt_body_kind kind;
    size_t node_begin, node_end;          // its nodes are node_begin .. node_end - 1
    size_t tet_begin, tet_end;            // empty unless a solid
    size_t triangle_begin, triangle_end;  // empty for nets and particles
    size_t edge_begin, edge_end;          // empty unless a net
    double mass;                          // [kg]
    double volume;                        // [m^3]
} rbt_body_info;

size_t rbt_sim_body_count(const rbt_sim *sim);
int rbt_sim_body_find(const rbt_sim *sim, const char *name);  // -1: there is none
bool rbt_sim_body(const rbt_sim *sim, size_t body, rbt_body_info *info, rbt_error *error);

// The nodes of a body that a named selection of it, or a set of its mesh, stands for: *nodes (*count), ascending,
// counted through all bodies. They live until a cut. Refused: a body or a name that is not there.
bool rbt_sim_selection(const rbt_sim *sim, size_t body, const char *name, const int32_t **nodes, size_t *count,
                       rbt_error *error);

// Names of the selections and sets of a body, in the order of the scene; NULL past the end, or without such a body.
const char *rbt_sim_selection_name(const rbt_sim *sim, size_t body, size_t selection);

// A number that changes whenever nodes and elements get other numbers: with a cut that changes the mesh, and with a
// restored state of other cuts. What was read before, selections and ranges of bodies among it, is about another mesh
// then.
int64_t rbt_sim_topology(const rbt_sim *sim);

// Sentence i worth telling about the simulation before it runs, as about a step that is too long; NULL past the end.
const char *rbt_sim_note(const rbt_sim *sim, size_t i);

// ---- Nodes

const double *rbt_sim_masses(const rbt_sim *sim);          // (nodes) [kg] lumped
const double *rbt_sim_rest_positions(const rbt_sim *sim);  // (nodes x 3) [m] where no element is strained

// How many nodes a group of driven nodes (rubato/input.h) has; the first `capacity` of their numbers are written,
// ascending. 0 for a group that is not there.
size_t rbt_sim_driven_nodes(const rbt_sim *sim, size_t driven, int32_t *nodes, size_t capacity);

// How many nodes have a prescribed position now: fixed ones, and driven ones until they are released. constrained
// (nodes) becomes 1 for these and 0 for the others; NULL: not wanted.
size_t rbt_sim_constrained(const rbt_sim *sim, unsigned char *constrained);

// Forces [N] with which constraints hold their nodes now: (nodes x 3), 0 at free nodes. By Newton's second law for
// each node,
//   m a - (elastic + damping + external + contact forces),
// a being the acceleration that is prescribed, and m the lumped mass. Refused: memory lacks.
bool rbt_sim_reactions(const rbt_sim *sim, double *reactions, rbt_error *error);

// Contact forces [N] on nodes now: (nodes x 3). In scenes with contact those between bodies, within bodies and with
// obstacles, and the friction of the last step; with async-contact those of all layers, without friction; with methods
// that let bodies pass through each other those of obstacles. Refused: memory lacks.
bool rbt_sim_contact_forces(const rbt_sim *sim, double *forces, rbt_error *error);

// ---- Probes: what the probes of the scene read now, as in probes.csv

typedef struct rbt_probe_reading {
    double position[3], velocity[3];  // [m], [m/s] means of its nodes, weighted by mass
    double reaction[3], contact[3];   // [N] sums of what constraints and contacts do to its nodes
} rbt_probe_reading;

size_t rbt_sim_probe_count(const rbt_sim *sim);
const char *rbt_sim_probe_name(const rbt_sim *sim, size_t probe);  // NULL past the end
int rbt_sim_probe_find(const rbt_sim *sim, const char *name);      // -1: there is none
bool rbt_sim_probe(const rbt_sim *sim, size_t probe, rbt_probe_reading *reading, rbt_error *error);
bool rbt_sim_probes(const rbt_sim *sim, rbt_probe_reading *readings,
                    rbt_error *error);  // all of them, for about the price of one

// ---- Contacts: pairs of A and B, each a node, an edge or a triangle, that push each other now

typedef struct rbt_contact_point {
    int body_a, body_b;    // number of the body; of obstacles -1 less the number of the obstacle
    int count_a, count_b;  // corners of A and of B
    int32_t nodes[4];      // those of A, then those of B; of obstacles numbers from the node count on
    double point[3];       // [m] half-way between the nearest points
    double normal[3];      // from A to B
    double gap;            // [m] between A and B, their radii left out
    // [N] with which B is pushed along the normal, and A the other way; without friction. With async-contact, while a
    // pair separates this is the share `restitution` of it, so that pairs at rest, which tremble, show their weight
    // with 1 only. Below 0 (implicit steps, solver "barrier"): what is counted twice by others beside it and taken off
    // here.
    double force;
} rbt_contact_point;

// How many there are; the first `capacity` of them are written, in an order that depends on the state alone. In scenes
// with contact, and of async-contact: pairs closer than its thickness (and the gap of both sides), springs at their
// limits left out. Where bodies pass through each other there are no pairs: 0.
size_t rbt_sim_contacts(const rbt_sim *sim, rbt_contact_point *contacts, size_t capacity);

// ---- Times: seconds spent in each stage of steps so far, in the order they first ran

size_t rbt_sim_stage_count(const rbt_sim *sim);
const char *rbt_sim_stage_name(const rbt_sim *sim, size_t stage);  // NULL past the end
double rbt_sim_stage_seconds(const rbt_sim *sim, size_t stage);    // 0 past the end

// ---- Statistics: what methods count beside steps, by a table. Names are keys of run.json.

typedef struct rbt_statistic_info {
    const char *name, *unit, *doc;  // live as long as the program
} rbt_statistic_info;

size_t rbt_statistic_count(void);
const rbt_statistic_info *rbt_statistic_at(int statistic);  // NULL past the end
int rbt_statistic_find(const char *name);                   // -1: there is none

// Of the call that filled the report; and of all steps since the simulation was made. 0 past the end.
double rbt_report_statistic(const rbt_step_report *report, int statistic);
double rbt_sim_statistic(const rbt_sim *sim, int statistic);

// ---- The method

// Name of the method that moves the bodies, also where the scene leaves it to rubato; NULL without a simulation. It
// lives as long as the program.
const char *rbt_sim_method(const rbt_sim *sim);

#ifdef __cplusplus
}
#endif
#endif
