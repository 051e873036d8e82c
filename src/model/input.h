// What a caller or an event prescribes while time runs (rubato/input.h): forces on nodes, rigid motions on top of the
// prescribed motions of driven nodes and obstacles, springs that drag nodes, and values of materials. Between two calls
// all of it is a function of time and of the state where a step begins. It lies in one block of bytes of the state, so
// that a checkpoint holds it; a model's rbt_input says where, and is the one part of a model that changes.
//
// The block: rbt_input_head, then the guides of groups of driven nodes and of obstacles, springs (drag_count), values
// of materials (region_count), dampings (body_count), forces (node_count x 3).
#ifndef RBT_MODEL_INPUT_H
#define RBT_MODEL_INPUT_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

// A rigid motion p -> Q p + o at `from`. From then until `until` it moves with a velocity and turns about a point,
// which moves along; afterwards it stays.
typedef struct rbt_guide {
    double from, until;         // [s]
    double turn[4], offset[3];  // Q as a unit quaternion (w, x, y, z), and o [m]
    double velocity[3];         // [m/s]
    double spin[3];             // [rad/s]
    double about[3];            // [m] where that point is at `from`
    int64_t used;               // 0: nobody has moved it yet
} rbt_guide;

// A spring from the centre of mass of a drag target to a point
typedef struct rbt_drag_spring {
    double point[3], stiffness;  // [m], [N/m]; 0: there is none
} rbt_drag_spring;

typedef struct rbt_input {
    size_t group_count, obstacle_count;
    const double *force;       // (node_count x 3) [N] all that acts in a step; NULL: none
    const double *given;       // (node_count x 3) [N] without springs; NULL: none
    const rbt_guide **guides;  // (group_count + obstacle_count) NULL: nobody has moved it
} rbt_input;

struct rbt_model;
struct rbt_state;
struct rbt_material_values;

// Where a guide brings p at time t.
void rbt_guide_apply(const rbt_guide *guide, double t, double p[3]);

// The same motion with what comes after time t left out: its pose then is where a new one begins.
rbt_guide rbt_guide_at(const rbt_guide *guide, double t);

// Gives the state an empty block for this model, unless it has one.
bool rbt_input_make(const struct rbt_model *model, struct rbt_state *state, rbt_error *error);

// After a cut: a block for the model that it has made, with all but the forces as it was.
bool rbt_input_follow(const struct rbt_model *model, struct rbt_state *state, rbt_error *error);

// A block that was made for a model with fewer drag targets, which come first in this one, whatever cuts have made of
// it.
bool rbt_input_extend(const struct rbt_model *model, struct rbt_state *state, rbt_error *error);

// From now on the model has what the state's block says.
void rbt_input_attach(const struct rbt_model *model, const struct rbt_state *state);

// Parts of a block that is there
double *rbt_input_forces(const struct rbt_state *state);
rbt_guide *rbt_input_guide(const struct rbt_state *state, size_t number);
rbt_drag_spring *rbt_input_springs(const struct rbt_state *state);
struct rbt_material_values rbt_input_materials(const struct rbt_state *state);

// Whether a spring drags something; and whether materials are those of the block, not those of the scene.
bool rbt_input_drags(const struct rbt_state *state);
bool rbt_input_has_materials(const struct rbt_state *state);
void rbt_input_set_materials(const struct rbt_state *state, bool own);

// Until when events have been dealt with [s]; -infinity: none so far
double rbt_input_events(const struct rbt_state *state);
void rbt_input_set_events(const struct rbt_state *state, double t);

// The forces of a step of length h that begins at this state, into force (node_count x 3), which must stay while the
// step is taken: those of the block, and springs k (p - c) with c where the centre of mass is after h / 2 at its
// present velocity. Forces that stay the same in a step then give no energy to a spring of k h^2 <= m: with
// x' = x + h v + h^2 a / 2, v' = v + h a and a = -k/m (x + h v / 2) the step's matrix has the determinant 1.
void rbt_input_act(const struct rbt_model *model, const struct rbt_state *state, double h, double *force);

// Whether these bytes are a block for a model with so many nodes, groups and obstacles, with numbers that a caller
// can have given.
bool rbt_input_is_sound(const struct rbt_model *model, const void *bytes, size_t size);

#endif
