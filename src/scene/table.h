// The tables of every description struct in rubato/scene.h, and the list of all tables reachable from one.
//
// Parser, checker, JSON Schema and reference pages walk these tables; a key, its default, its limits and its meaning
// are written here and nowhere else. Shapes (mesh) and method options (step) bring their own tables, which these
// point to.
#ifndef RBT_SCENE_TABLE_H
#define RBT_SCENE_TABLE_H

#include "base/record.h"
#include "rubato/scene.h"

extern const rbt_record RBT_SCENE_RECORD, RBT_BODY_RECORD, RBT_MESH_RECORD, RBT_NAMED_SELECTION_RECORD;
extern const rbt_record RBT_TIME_RECORD, RBT_INTEGRATOR_RECORD, RBT_BODY_INTEGRATOR_RECORD, RBT_OUTPUT_RECORD;
extern const rbt_record RBT_SELECT_BOX_RECORD;
extern const rbt_record RBT_MOVE_VELOCITY_RECORD, RBT_MOVE_ROTATION_RECORD, RBT_MOVE_OSCILLATION_RECORD,
    RBT_MOVE_KEYFRAMES_RECORD;
extern const rbt_record RBT_DEFORM_BEND_RECORD;
extern const rbt_record RBT_FORCE_PULL_RECORD, RBT_FORCE_PULSE_RECORD, RBT_FORCE_WIND_RECORD, RBT_FORCE_DRAG_RECORD;
extern const rbt_record RBT_TRANSFORM_RECORD;
extern const rbt_record RBT_OBSTACLE_BOX_RECORD, RBT_OBSTACLE_MESH_RECORD, RBT_SEQUENCE_RECORD;
extern const rbt_variants RBT_OBSTACLE_VARIANTS;
extern const rbt_record RBT_PROBE_RECORD;
extern const rbt_record RBT_CONTACT_RECORD;
extern const rbt_record RBT_CUT_RECORD, RBT_CUT_RECTANGLE_RECORD;
extern const rbt_record RBT_EVENT_RECORD, RBT_EVENT_FORCE_RECORD, RBT_EVENT_DRAG_RECORD, RBT_EVENT_MATERIAL_RECORD,
    RBT_EVENT_DRIVE_RECORD;
extern const rbt_variants RBT_MOTION_VARIANTS;
extern const rbt_variants RBT_SELECTION_VARIANTS;

// How deep records, alternatives and lists may nest: bounds the recursion of every walk.
enum { RBT_MAX_DEPTH = 40 };

// A record or a set of alternatives with the name it has in "$defs" and as a heading: unique, small letters, digits
// and hyphens.
typedef struct rbt_definition {
    const rbt_record *record;  // one of the two is set
    const rbt_variants *variants;
    char name[64];
} rbt_definition;

typedef struct rbt_definitions {
    size_t count, capacity;
    rbt_definition *items;
} rbt_definitions;

// All that can be reached from `root`, in reading order, `root` first. Free also after failure.
bool rbt_definitions_collect(rbt_definitions *definitions, const rbt_record *root, rbt_error *error);
void rbt_definitions_free(rbt_definitions *definitions);
const char *rbt_definition_name(const rbt_definitions *definitions, const void *record_or_variants);

#endif
