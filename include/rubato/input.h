// Acting on a simulation while it runs: forces on nodes, springs that drag them, moving driven nodes and obstacles by
// hand, other materials. Conventions: rubato/sim.h. A scene can have the same as "events".
//
// All of it holds until it is changed, belongs to saved states and checkpoints, and is a function of time and state
// between two calls: a restored simulation continues with the same bits. Works with every method unless a comment says
// otherwise.
#ifndef RUBATO_INPUT_H
#define RUBATO_INPUT_H

#include "rubato/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Forces

// Forces (count x 3) [N] on the nodes begin .. begin + count - 1 from now on, beside those of the scene; forces NULL:
// zero. What they do counts as outside work (rbt_energies.work). Constrained nodes do not follow them. A cut that
// changes the mesh takes all forces away, since nodes have other numbers then; those of the scene's events are shared
// anew. Refused: a range that goes beyond the
// nodes, numbers that are not finite.
bool rbt_sim_set_forces(rbt_sim *sim, size_t begin, size_t count, const double *forces, rbt_error *error);

// (nodes x 3) [N]; NULL if all are zero.
const double *rbt_sim_forces(const rbt_sim *sim);

// ---- Dragging, as with a mouse: a spring from the centre of mass of some nodes to a point

// The nodes are those of rbt_sim_selection; the point is in m, the stiffness in N/m. The spring takes the place of the
// one that this selection had before; stiffness 0: it lets go. Its force is shared in proportion to mass and stays the
// same during a step. Refused: a body or a name that is not there, numbers that are not finite, a stiffness below 0 or
// above the mass of the nodes over the step squared.
bool rbt_sim_drag(rbt_sim *sim, size_t body, const char *selection, const double point[3], double stiffness,
                  rbt_error *error);

// ---- Materials

// Nothing: every value NaN, which leaves it as it is.
rbt_event_material rbt_event_material_default(void);

// Other values of the material of a body or of one of its regions, or of the body's damping, from now on. Positions
// and velocities stay, the difference of energy counts as a jump, not as work, and what the method remembers of steps
// before starts afresh, as after a cut. Refused: a body or region that is not there, values that no scene may have,
// damping of a region, a material of springs or particles. An explicit method whose step is too long then fails in its
// next step.
bool rbt_sim_set_material(rbt_sim *sim, const rbt_event_material *change, rbt_error *error);

// ---- Driven nodes, moved by hand on top of their prescribed motions: each entry of a body's "driven" list, bodies
// in order, is one group
// that moves as a rigid body. Its present motion and place are those that the last call has led to.

// A motion from now on: with a velocity, and turning about a point.
typedef struct rbt_drive {
    double velocity[3];  // [m/s]
    double spin[3];      // [rad/s], right-handed about this axis
    double about[3];     // [m] the point it turns about, where it is now; it moves along
    double duration;     // [s] after which it stands still; infinity: until the next call
} rbt_drive;

rbt_drive rbt_drive_default(void);  // standing still

size_t rbt_sim_driven_count(const rbt_sim *sim);
const char *rbt_sim_driven_name(const rbt_sim *sim, size_t driven);  // NULL: it has none
int rbt_sim_driven_find(const rbt_sim *sim, const char *name);       // the first one of that name; -1: none

// Refused: a group that is not there, numbers that are not finite or a duration below 0. Where bodies are
// kept apart (contact in the scene, or async-contact) also inside a step (after rbt_sim_advance_to): what is prescribed
// goes straight from step to step. Motions that make prescribed things meet end a step there, with RBT_BLOCKED or, of
// async-contact, RBT_STALLED.
bool rbt_sim_drive(rbt_sim *sim, size_t driven, const rbt_drive *drive, rbt_error *error);

// To be `offset` away from where the prescribed motion alone would have it, in `duration` seconds and in a straight
// line, and to stay there; turned as it is now. Refused as above, and a duration of 0.
bool rbt_sim_drive_to(rbt_sim *sim, size_t driven, const double offset[3], double duration, rbt_error *error);

// ---- Obstacles, in the order of the scene: the same. They move only where bodies are kept apart, as above; methods
// with obstacles by penalty refuse. Planes move but do not turn.

size_t rbt_sim_obstacle_count(const rbt_sim *sim);
bool rbt_sim_drive_obstacle(rbt_sim *sim, size_t obstacle, const rbt_drive *drive, rbt_error *error);
bool rbt_sim_drive_obstacle_to(rbt_sim *sim, size_t obstacle, const double offset[3], double duration,
                               rbt_error *error);

#ifdef __cplusplus
}
#endif
#endif
