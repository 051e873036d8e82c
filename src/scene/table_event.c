// Events: what is done to the bodies while time runs.
#include "scene/table.h"
#include "scene/table_macros.h"

#define ON_NODES(type, sentence)                                                                                     \
    {FIELD(type, body, RBT_TEXT), .flags = RBT_NOT_EMPTY,                                                            \
     .doc = "Name of the body whose nodes they are; absent: all of them.", .example = "\"bar\""},                    \
    {                                                                                                                \
        FIELD(type, where, RBT_VARIANT), .flags = RBT_REQUIRED, .of.variants = &RBT_SELECTION_VARIANTS,              \
                                         .doc = sentence                                                             \
    }

static const rbt_field FORCE[] = {
    ON_NODES(rbt_event_force, "The nodes that are pulled."),
    {FIELD(rbt_event_force, force, RBT_VEC3), .flags = RBT_REQUIRED, .unit = "N",
     .doc = "Total force, shared in proportion to the mass of the nodes, in place of what events have put on them "
            "before; zero: none.",
     .example = "[0, 10, 0]"},
};
RECORD(, RBT_EVENT_FORCE_RECORD, rbt_event_force, FORCE, "event-force", "A force that holds until it is changed.");

static const rbt_field DRAG[] = {
    ON_NODES(rbt_event_drag, "The nodes that are dragged."),
    {FIELD(rbt_event_drag, point, RBT_VEC3), .unit = "m", .doc = "Where their centre of mass is pulled to."},
    {FIELD(rbt_event_drag, stiffness, RBT_REAL), .flags = RBT_REQUIRED, .unit = "N/m", .max = INFINITY,
     .doc = "Force per distance, at most the mass of the nodes over the square of the step; 0: it lets go.",
     .example = "10"},
};
RECORD(, RBT_EVENT_DRAG_RECORD, rbt_event_drag, DRAG, "event-drag",
       "A spring from the centre of mass of some nodes to a point, in place of the one that these nodes had before. "
       "Its force is shared in proportion to mass and stays the same during a step: it is that of half-way through "
       "the step if nothing else acted.");

#define AS_IT_IS .fallback = {NAN}

static const rbt_field MATERIAL[] = {
    {FIELD(rbt_event_material, body, RBT_TEXT), .flags = RBT_REQUIRED | RBT_NOT_EMPTY, .doc = "Name of the body.",
     .example = "\"bar\""},
    {FIELD(rbt_event_material, region, RBT_TEXT), .flags = RBT_NOT_EMPTY,
     .doc = "Name of one of its regions; absent: the body's own material, which elements outside of regions have.",
     .example = "\"core\""},
    {FIELD(rbt_event_material, young, RBT_REAL), .flags = RBT_ABOVE | RBT_AUTO, AS_IT_IS, .unit = "Pa",
     .doc = "Young's modulus; auto: as it is.", .example = "2e5"},
    {FIELD(rbt_event_material, poisson, RBT_REAL), .flags = RBT_ABOVE | RBT_BELOW | RBT_AUTO, AS_IT_IS, .min = -1,
     .max = 0.5, .doc = "Poisson's ratio; auto: as it is.", .example = "0.3"},
    {FIELD(rbt_event_material, mass_damping, RBT_REAL), .flags = RBT_AUTO, AS_IT_IS, .max = INFINITY, .unit = "1/s",
     .doc = "The body's damping by a share of the mass matrix; auto: as it is.", .example = "0.5"},
    {FIELD(rbt_event_material, stiffness_damping, RBT_REAL), .flags = RBT_AUTO, AS_IT_IS, .max = INFINITY,
     .unit = "s", .doc = "The body's damping by a share of the stiffness matrix; auto: as it is.",
     .example = "0.001"},
};
RECORD(
    , RBT_EVENT_MATERIAL_RECORD, rbt_event_material, MATERIAL, "event-material",
    "Other values of a material. Positions and velocities stay; the energy that comes or goes is a jump, not work. "
    "What the method remembers of steps before starts afresh, as after a cut.");

static const rbt_field DRIVE[] = {
    {FIELD(rbt_event_drive, driven, RBT_TEXT), .flags = RBT_REQUIRED | RBT_NOT_EMPTY,
     .doc = "Name of driven nodes (\"driven\" of a body).", .example = "\"grip\""},
    {FIELD(rbt_event_drive, velocity, RBT_VEC3), .unit = "m/s", .doc = "How fast they go."},
    {FIELD(rbt_event_drive, spin, RBT_VEC3), .unit = "rad/s", .doc = "How fast they turn, right-handed about it."},
    {FIELD(rbt_event_drive, about, RBT_VEC3), .unit = "m",
     .doc = "The point they turn about, where it is then; it moves along."},
    {FIELD(rbt_event_drive, duration, RBT_REAL), .flags = RBT_NEVER, .fallback = {INFINITY}, .unit = "s",
     .max = INFINITY, .doc = "After which they stand still; never: they go on until the next event."},
};
RECORD(, RBT_EVENT_DRIVE_RECORD, rbt_event_drive, DRIVE, "event-drive",
       "A motion of driven nodes on top of their prescribed one, from where they are then.");

#define KIND(member, table, sentence)                                                                                \
    { FIELD(rbt_event_def, member, RBT_OPTIONAL), .flags = RBT_ONE_OF, .of.record = table, .doc = sentence }

static const rbt_field EVENT[] = {
    {FIELD(rbt_event_def, time, RBT_REAL), .flags = RBT_REQUIRED, .unit = "s", .max = INFINITY,
     .doc = "It takes effect where the first whole step begins that does not begin before this time.",
     .example = "0.5"},
    KIND(force, &RBT_EVENT_FORCE_RECORD, "A force on some nodes that holds until it is changed."),
    KIND(drag, &RBT_EVENT_DRAG_RECORD, "A spring that pulls some nodes to a point, or the end of it."),
    KIND(material, &RBT_EVENT_MATERIAL_RECORD, "Other values of a material."),
    KIND(cut, &RBT_CUT_RECORD, "A cut, as in \"cuts\"; its times count from that of the event."),
    KIND(drive, &RBT_EVENT_DRIVE_RECORD, "A motion of driven nodes."),
};
RECORD(, RBT_EVENT_RECORD, rbt_event_def, EVENT, "event",
       "Something that is done to the bodies at a time; several at one time are done in the order of the list.");
