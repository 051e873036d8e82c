// Bodies: selections, mesh, material, motions of driven nodes, deformation and velocity at the start.
#include "energy/material.h"
#include "mesh/core/unit.h"
#include "mesh/generate/generate.h"
#include "scene/table.h"
#include "scene/table_macros.h"

// ---- Selections

static const rbt_field SELECT_BOX[] = {
    {FIELD(rbt_select_box, min, RBT_VEC3), .flags = RBT_REQUIRED, .unit = "m",
     .doc = "Corner with the smallest coordinates.", .example = "[0, 0, 0]"},
    {FIELD(rbt_select_box, max, RBT_VEC3), .flags = RBT_REQUIRED, .unit = "m",
     .doc = "Corner with the largest coordinates.", .example = "[0.1, 1, 1]"},
    {FIELD(rbt_select_box, relative, RBT_BOOL),
     .doc = "The corners are fractions of the body's bounding box instead of metres."},
};
RECORD(, RBT_SELECT_BOX_RECORD, rbt_select_box, SELECT_BOX, "select-box", "Inside a box, its faces included.");

static const rbt_field SELECT_SPHERE[] = {
    {FIELD(rbt_select_sphere, centre, RBT_VEC3), .flags = RBT_REQUIRED, .unit = "m", .doc = "Its centre.",
     .example = "[0, 0, 0]"},
    {FIELD(rbt_select_sphere, radius, RBT_REAL), .flags = RBT_REQUIRED | RBT_ABOVE, .unit = "m", .doc = "Its radius.",
     .example = "0.1"},
};
RECORD(static, SELECT_SPHERE_RECORD, rbt_select_sphere, SELECT_SPHERE, "select-sphere",
       "Inside a ball, its surface included.");

static const rbt_field SELECT_PLANE[] = {
    {FIELD(rbt_select_plane, point, RBT_VEC3), .flags = RBT_REQUIRED, .unit = "m", .doc = "A point of the plane.",
     .example = "[0, 0.5, 0]"},
    {FIELD(rbt_select_plane, normal, RBT_VEC3), .flags = RBT_REQUIRED | RBT_NOT_EMPTY,
     .doc = "Points to the selected side; its length does not matter.", .example = "[0, 1, 0]"},
};
RECORD(static, SELECT_PLANE_RECORD, rbt_select_plane, SELECT_PLANE, "select-plane",
       "On the side of a plane that its normal points to, the plane included.");

static const rbt_field SELECT_NEAREST[] = {
    {FIELD(rbt_select_nearest, point, RBT_VEC3), .flags = RBT_REQUIRED, .unit = "m", .doc = "The place.",
     .example = "[0, 0, 0]"},
    {FIELD(rbt_select_nearest, count, RBT_INT), .fallback = {1}, .min = 1, .doc = "How many."},
};
RECORD(static, SELECT_NEAREST_RECORD, rbt_select_nearest, SELECT_NEAREST, "select-nearest",
       "The ones nearest to a place.");

static const rbt_field SELECTIONS[RBT_SELECT_KINDS] = {
    [RBT_SELECT_BOX] = ALTERNATIVE("box", &RBT_SELECT_BOX_RECORD, "Inside a box."),
    [RBT_SELECT_SPHERE] = ALTERNATIVE("sphere", &SELECT_SPHERE_RECORD, "Inside a ball."),
    [RBT_SELECT_PLANE] = ALTERNATIVE("plane", &SELECT_PLANE_RECORD, "On one side of a plane."),
    [RBT_SELECT_SET] = {.name = "set",
                        .kind = RBT_TEXT,
                        .flags = RBT_NOT_EMPTY,
                        .doc = "In a set: one of the body's own named selections, or a set of the mesh file; "
                               "\"everything\" is always known.",
                        .example = "\"everything\""},
    [RBT_SELECT_NODES] = {.name = "nodes",
                          .kind = RBT_INTS,
                          .flags = RBT_NOT_EMPTY,
                          .max = INFINITY,
                          .doc = "Nodes by their numbers in the body, counted from 0.",
                          .example = "[0, 1, 2]"},
    [RBT_SELECT_NEAREST] = ALTERNATIVE("nearest", &SELECT_NEAREST_RECORD, "Nearest to a place."),
    [RBT_SELECT_ALL] = {.name = "all",
                        .kind = RBT_VARIANTS,
                        .flags = RBT_NOT_EMPTY,
                        .of.variants = &RBT_SELECTION_VARIANTS,
                        .doc = "In all of these selections.",
                        .example = "[\"left\", {\"sphere\": {\"centre\": [0, 0, 0], \"radius\": 0.1}}]"},
    [RBT_SELECT_ANY] = {.name = "any",
                        .kind = RBT_VARIANTS,
                        .flags = RBT_NOT_EMPTY,
                        .of.variants = &RBT_SELECTION_VARIANTS,
                        .doc = "In at least one of these selections.",
                        .example = "[\"left\", \"right\"]"},
    [RBT_SELECT_NOT] = {.name = "not",
                        .kind = RBT_VARIANT,
                        .flags = RBT_REQUIRED,
                        .of.variants = &RBT_SELECTION_VARIANTS,
                        .doc = "Not in this selection.",
                        .example = "\"left\""},
};
VARIANTS(, RBT_SELECTION_VARIANTS, SELECTIONS, selection_at, "selection",
         "Which nodes of a body (or elements, by their centroids), judged in rest position after the body's "
         "transform.",
         RBT_SELECT_SET)

static const rbt_field NAMED_SELECTION[] = {
    {FIELD(rbt_named_selection, name, RBT_TEXT), .flags = RBT_REQUIRED | RBT_NOT_EMPTY, .doc = "Its name.",
     .example = "\"left\""},
    {FIELD(rbt_named_selection, where, RBT_VARIANT), .flags = RBT_REQUIRED, .of.variants = &RBT_SELECTION_VARIANTS,
     .doc = "What it stands for."},
};
RECORD(, RBT_NAMED_SELECTION_RECORD, rbt_named_selection, NAMED_SELECTION, "named-selection",
       "A selection under a name.");

// ---- Mesh and material

static const rbt_field SLIVERS[] = {
    {FIELD(rbt_slivers_def, share, RBT_REAL), .fallback = {0.02}, .max = 1, .doc = "Share of the tets to flatten."},
    {FIELD(rbt_slivers_def, height, RBT_REAL), .flags = RBT_ABOVE, .fallback = {0.1}, .max = 1,
     .doc = "Least part of a tet's height that is left; each flattened one has a part between this and 1, equally "
            "likely in every "
            "octave."},
    {FIELD(rbt_slivers_def, seed, RBT_INT), .max = 1000000, .doc = "Another seed, other tets."},
};
RECORD(static, SLIVERS_RECORD, rbt_slivers_def, SLIVERS, "slivers",
       "Flat tets such as real meshers leave, made on purpose: they shrink the largest explicit step. Nodes move "
       "before the mesh is "
       "placed, each at most once, and no tet turns inside out.");

static const rbt_field MESH[] = {
    {FIELD(rbt_mesh_def, file, RBT_TEXT), .flags = RBT_NOT_EMPTY | RBT_ONE_OF,
     .doc =
         "A mesh file with tetrahedra (or triangles for a shell, edges for springs), relative to the folder of the "
         "scene.",
     .example = "\"bunny.msh\""},
    {FIELD(rbt_mesh_def, shape, RBT_VARIANT), .flags = RBT_ONE_OF, .of.variants = &RBT_SHAPE_VARIANTS,
     .doc = "A generated shape."},
    {FIELD(rbt_mesh_def, unit, RBT_TEXT), .fallback_text = "m", .of.names = rbt_unit_name,
     .doc = "Unit of the numbers in the file; generated shapes are in metres."},
    {FIELD(rbt_mesh_def, slivers, RBT_OPTIONAL), .of.record = &SLIVERS_RECORD,
     .doc = "Some of a solid's tets flattened, for studies of explicit methods."},
};
RECORD(, RBT_MESH_RECORD, rbt_mesh_def, MESH, "mesh", "Where the elements of a body come from.");

static const rbt_field TRANSFORM[] = {
    {FIELD(rbt_transform_def, scale, RBT_VEC3), .flags = RBT_NOT_ZERO | RBT_ONE_FOR_ALL, .fallback = {1, 1, 1},
     .doc = "Factor along each axis."},
    {FIELD(rbt_transform_def, axis, RBT_VEC3), .flags = RBT_NOT_EMPTY, .fallback = {0, 1, 0},
     .doc = "Axis of the rotation, through the origin."},
    {FIELD(rbt_transform_def, degrees, RBT_REAL), .unit = "degrees", .doc = "Angle of the rotation, right-handed."},
    {FIELD(rbt_transform_def, translate, RBT_VEC3), .unit = "m", .doc = "Shift."},
    {FIELD(rbt_transform_def, fit, RBT_REAL), .max = 1e6, .unit = "m",
     .doc = "Length that the longest edge of the body's box is to have, whatever the size of the mesh; the corner of "
            "the box with the smallest coordinates goes to the origin. 0: the body keeps its size and place."},
};
RECORD(, RBT_TRANSFORM_RECORD, rbt_transform_def, TRANSFORM, "transform",
       "Places a mesh: scale first, then rotate, then fit, then translate.");

static const rbt_field MATERIAL[] = {
    {FIELD(rbt_material_def, model, RBT_CHOICE), .of.names = rbt_material_name, .doc = "Law of elasticity."},
    {FIELD(rbt_material_def, young, RBT_REAL), .flags = RBT_ABOVE, .fallback = {1e5}, .unit = "Pa",
     .doc = "Young's modulus: how stiff."},
    {FIELD(rbt_material_def, poisson, RBT_REAL), .flags = RBT_ABOVE | RBT_BELOW, .fallback = {0.4}, .min = -1,
     .max = 0.5, .doc = "Poisson's ratio: how much it thins when stretched; near 0.5 the volume hardly changes."},
    {FIELD(rbt_material_def, density, RBT_REAL), .flags = RBT_ABOVE, .fallback = {1000}, .unit = "kg/m^3",
     .doc = "Mass per volume."},
};
RECORD(static, MATERIAL_RECORD, rbt_material_def, MATERIAL, "material", "What a body is made of.");

static const rbt_field REGION[] = {
    {FIELD(rbt_region_def, name, RBT_TEXT), .flags = RBT_REQUIRED | RBT_NOT_EMPTY,
     .doc = "Its name, for pictures and messages.", .example = "\"bone\""},
    {FIELD(rbt_region_def, where, RBT_VARIANT), .flags = RBT_REQUIRED, .of.variants = &RBT_SELECTION_VARIANTS,
     .doc = "Its elements, by their centroids."},
    {FIELD(rbt_region_def, material, RBT_RECORD), .of.record = &MATERIAL_RECORD, .doc = "What it is made of."},
};
RECORD(static, REGION_RECORD, rbt_region_def, REGION, "region",
       "A part of a body with a material of its own; where several match, the last one counts.");

static const rbt_field TEMPO[] = {
    {FIELD(rbt_tempo_def, name, RBT_TEXT), .flags = RBT_NOT_EMPTY, .doc = "Its name, for messages.",
     .example = "\"tail\""},
    {FIELD(rbt_tempo_def, where, RBT_VARIANT), .flags = RBT_REQUIRED, .of.variants = &RBT_SELECTION_VARIANTS,
     .doc = "Its nodes."},
    {FIELD(rbt_tempo_def, substeps, RBT_INT), .flags = RBT_REQUIRED, .min = 1, .max = 100000,
     .doc = "How many steps it takes in each step of the scene; inside another tempo a multiple of its number.",
     .example = "10"},
};
RECORD(static, TEMPO_RECORD, rbt_tempo_def, TEMPO, "tempo",
       "A part of a body that takes shorter steps than the rest: stiff or light, or where motion should be damped "
       "less.");

static const char *const MEMBRANES[RBT_MEMBRANE_KINDS] = {"constant-strain", "springs"};
static const char *membrane_name(int i) { return i >= 0 && i < RBT_MEMBRANE_KINDS ? MEMBRANES[i] : NULL; }

static const rbt_field SHELL[] = {
    {FIELD(rbt_shell_def, thickness, RBT_REAL), .flags = RBT_REQUIRED | RBT_ABOVE, .max = INFINITY, .unit = "m",
     .doc = "How thick the sheet is: with the material's density it gives the mass, with its Young's modulus the "
            "stiffness.",
     .example = "0.001"},
    {FIELD(rbt_shell_def, membrane, RBT_CHOICE), .of.names = membrane_name,
     .doc = "What resists stretching: constant-strain triangles in plane stress (exact for young and poisson), or a "
            "spring along every edge (k = young thickness area / length^2 with the area of the triangles beside it; "
            "cheaper, behaves as poisson 1/3)."},
    {FIELD(rbt_shell_def, bending, RBT_REAL), .flags = RBT_AUTO, .fallback = {NAN}, .max = INFINITY, .unit = "N m",
     .doc = "Stiffness against bending about the edges; \"auto\": that of a plate, young thickness^3 / (12 (1 - "
            "poisson^2)); 0: none. Where more than two triangles share an edge, each of the others bends against the "
            "first."},
    {FIELD(rbt_shell_def, yield, RBT_REAL), .flags = RBT_NEVER, .fallback = {INFINITY}, .max = INFINITY,
     .unit = "rad",
     .doc = "How far the angle at an edge may be from its rest angle; the rest angle follows what bends further, so "
            "that dents stay. Only async-contact knows it."},
};
RECORD(static, SHELL_RECORD, rbt_shell_def, SHELL, "shell",
       "A thin sheet (cloth, paper, metal) whose mesh is made of triangles. It takes young, poisson and density from "
       "the "
       "material, whose model does not matter: the sheet is a St. Venant-Kirchhoff membrane with discrete-shells "
       "hinges, stress-free in the shape of its mesh.");

static const rbt_field SPRINGS[] = {
    {FIELD(rbt_springs_def, stiffness, RBT_REAL), .flags = RBT_REQUIRED | RBT_ABOVE, .max = INFINITY, .unit = "N/m",
     .doc = "Force per elongation, the same for every spring.", .example = "100"},
    {FIELD(rbt_springs_def, node_mass, RBT_REAL), .flags = RBT_REQUIRED | RBT_ABOVE, .max = INFINITY, .unit = "kg",
     .doc = "Mass of every node.", .example = "0.1"},
    {FIELD(rbt_springs_def, limit, RBT_REAL), .flags = RBT_BELOW, .max = 1,
     .doc =
         "No spring gets longer or shorter by more than this share of its length, whatever pulls; 0: no limit. Only "
         "async-contact knows it."},
};
static const rbt_field PARTICLES[] = {
    {FIELD(rbt_particles_def, radius, RBT_REAL), .flags = RBT_REQUIRED, .max = INFINITY, .unit = "m",
     .doc = "Of every particle; 0 for points.", .example = "0.01"},
    {FIELD(rbt_particles_def, mass, RBT_REAL), .flags = RBT_REQUIRED | RBT_ABOVE, .max = INFINITY, .unit = "kg",
     .doc = "Of every particle.", .example = "0.1"},
    {FIELD(rbt_particles_def, speed, RBT_REAL), .max = INFINITY, .unit = "m/s",
     .doc = "Random velocities are added at the start, in all directions in which the body extends, of a size "
            "between 0 and "
            "this."},
    {FIELD(rbt_particles_def, seed, RBT_INT), .fallback = {1}, .max = 1e9, .doc = "Of the random velocities."},
};
RECORD(static, PARTICLES_RECORD, rbt_particles_def, PARTICLES, "particles",
       "Balls at the nodes of the mesh, whose elements are left out; the material is not used. They touch others in "
       "scenes with contact, and with the method async-contact.");

RECORD(static, SPRINGS_RECORD, rbt_springs_def, SPRINGS, "springs",
       "Point masses joined by springs, for a mesh made of edges; the material is not used.");

static const rbt_field DAMPING[] = {
    {FIELD(rbt_damping_def, mass, RBT_REAL), .max = INFINITY, .unit = "1/s",
     .doc = "Share of the mass matrix; damps all motion, as in syrup."},
    {FIELD(rbt_damping_def, stiffness, RBT_REAL), .max = INFINITY, .unit = "s",
     .doc =
         "Share of the stiffness matrix; damps deformation, quick vibrations most. async-contact resists the rate of "
         "strain instead, which is the same for small strains and leaves rotations alone."},
};
RECORD(static, DAMPING_RECORD, rbt_damping_def, DAMPING, "damping", "Rayleigh damping: D = mass M + stiffness K.");

// ---- Driven nodes

static const rbt_field MOVE_VELOCITY[] = {
    {FIELD(rbt_move_velocity, velocity, RBT_VEC3), .flags = RBT_REQUIRED, .unit = "m/s", .doc = "The velocity.",
     .example = "[0.1, 0, 0]"},
    TIME_SPAN(rbt_move_velocity, "When it ends; the nodes stay where they are then."),
};
RECORD(, RBT_MOVE_VELOCITY_RECORD, rbt_move_velocity, MOVE_VELOCITY, "motion-velocity", "A constant velocity.");

static const rbt_field MOVE_ROTATION[] = {
    {FIELD(rbt_move_rotation, point, RBT_VEC3), .unit = "m", .doc = "A point of the axis."},
    {FIELD(rbt_move_rotation, axis, RBT_VEC3), .flags = RBT_REQUIRED | RBT_NOT_EMPTY,
     .doc = "Its direction; its length does not matter.", .example = "[1, 0, 0]"},
    {FIELD(rbt_move_rotation, rate, RBT_REAL), .flags = RBT_REQUIRED, .unit = "rad/s",
     .doc = "How fast, right-handed about the axis.", .example = "3.14"},
    TIME_SPAN(rbt_move_rotation, "When it ends; the nodes stay where they are then."),
    {FIELD(rbt_move_rotation, relative, RBT_BOOL),
     .doc = "The point is given in fractions of the body's bounding box instead of metres: [0.5, 0.5, 0.5] is its "
            "centre."},
};
RECORD(, RBT_MOVE_ROTATION_RECORD, rbt_move_rotation, MOVE_ROTATION, "motion-rotation", "A turn about an axis.");

static const rbt_field MOVE_OSCILLATION[] = {
    {FIELD(rbt_move_oscillation, amplitude, RBT_VEC3), .flags = RBT_REQUIRED, .unit = "m",
     .doc = "How far to each side.", .example = "[0, 0.1, 0]"},
    {FIELD(rbt_move_oscillation, frequency, RBT_REAL), .flags = RBT_ABOVE, .fallback = {1}, .unit = "Hz",
     .doc = "Swings per second."},
    {FIELD(rbt_move_oscillation, phase, RBT_REAL), .unit = "rad",
     .doc = "Phase at the beginning; the offset is amplitude (sin(2 pi f (t - from) + phase) - sin(phase))."},
    TIME_SPAN(rbt_move_oscillation, "When it ends; the nodes stay where they are then."),
};
RECORD(, RBT_MOVE_OSCILLATION_RECORD, rbt_move_oscillation, MOVE_OSCILLATION, "motion-oscillation",
       "To and fro in a sine wave.");

static const rbt_field MOVE_KEYFRAMES[] = {
    {FIELD(rbt_move_keyframes, times, RBT_REALS), .flags = RBT_REQUIRED | RBT_NOT_EMPTY, .unit = "s",
     .doc = "When, ascending.", .example = "[0, 1, 2]"},
    {FIELD(rbt_move_keyframes, offsets, RBT_VEC3S), .flags = RBT_REQUIRED | RBT_NOT_EMPTY, .unit = "m",
     .doc = "How far from the start at each of the times.", .example = "[[0, 0, 0], [0, 0.1, 0], [0, 0, 0]]"},
};
RECORD(, RBT_MOVE_KEYFRAMES_RECORD, rbt_move_keyframes, MOVE_KEYFRAMES, "motion-keyframes",
       "Offsets at given times, linear between them, constant outside.");

static const rbt_field MOTIONS[RBT_MOVE_KINDS] = {
    [RBT_MOVE_VELOCITY] = ALTERNATIVE("velocity", &RBT_MOVE_VELOCITY_RECORD, "A constant velocity."),
    [RBT_MOVE_ROTATION] = ALTERNATIVE("rotation", &RBT_MOVE_ROTATION_RECORD, "A turn about an axis."),
    [RBT_MOVE_OSCILLATION] = ALTERNATIVE("oscillation", &RBT_MOVE_OSCILLATION_RECORD, "To and fro in a sine wave."),
    [RBT_MOVE_KEYFRAMES] = ALTERNATIVE("keyframes", &RBT_MOVE_KEYFRAMES_RECORD, "Offsets at given times."),
};
VARIANTS(, RBT_MOTION_VARIANTS, MOTIONS, motion_at, "motion",
         "How driven nodes move: each motion moves the point that the motions before it have made.", -1)

static const rbt_field DRIVEN[] = {
    {FIELD(rbt_driven_def, name, RBT_TEXT), .flags = RBT_NOT_EMPTY,
     .doc = "For programs that move them further (rubato/input.h).", .example = "\"grip\""},
    {FIELD(rbt_driven_def, where, RBT_VARIANT), .flags = RBT_REQUIRED, .of.variants = &RBT_SELECTION_VARIANTS,
     .doc = "The nodes."},
    {FIELD(rbt_driven_def, motions, RBT_VARIANTS), .of.variants = &RBT_MOTION_VARIANTS,
     .doc = "How they move; none: they are constrained."},
    {FIELD(rbt_driven_def, release, RBT_REAL), .flags = RBT_NEVER | RBT_ABOVE, .fallback = {INFINITY}, .unit = "s",
     .doc = "From when on they are free."},
};
RECORD(static, DRIVEN_RECORD, rbt_driven_def, DRIVEN, "driven", "Nodes that have a prescribed motion.");

// ---- The start

#define ALONG(type)                                                                                                  \
    {                                                                                                                \
        FIELD(type, axis, RBT_VEC3), .flags = RBT_REQUIRED | RBT_NOT_EMPTY,                                          \
                                     .doc = "Direction along the body; its length does not matter.",                 \
                                     .example = "[1, 0, 0]"                                                          \
    }

static const rbt_field DEFORM_STRETCH[] = {
    ALONG(rbt_deform_stretch),
    {FIELD(rbt_deform_stretch, factor, RBT_REAL), .flags = RBT_REQUIRED | RBT_ABOVE,
     .doc = "Length after by length before.", .example = "1.5"},
    {FIELD(rbt_deform_stretch, keep_volume, RBT_BOOL),
     .doc = "Thin the body across the axis so that its volume stays."},
};
RECORD(static, DEFORM_STRETCH_RECORD, rbt_deform_stretch, DEFORM_STRETCH, "deform-stretch",
       "Stretches or squeezes along an axis about the centre of the body's box.");

static const rbt_field DEFORM_TWIST[] = {
    ALONG(rbt_deform_twist),
    {FIELD(rbt_deform_twist, degrees, RBT_REAL), .flags = RBT_REQUIRED, .unit = "degrees",
     .doc = "Angle between the two ends.", .example = "90"},
};
RECORD(static, DEFORM_TWIST_RECORD, rbt_deform_twist, DEFORM_TWIST, "deform-twist",
       "Turns the ends along an axis against each other.");

static const rbt_field DEFORM_BEND[] = {
    ALONG(rbt_deform_bend),
    {FIELD(rbt_deform_bend, towards, RBT_VEC3), .flags = RBT_REQUIRED | RBT_NOT_EMPTY,
     .doc = "Direction the arc curves to; not along the axis.", .example = "[0, 1, 0]"},
    {FIELD(rbt_deform_bend, degrees, RBT_REAL), .flags = RBT_REQUIRED, .unit = "degrees", .doc = "Angle of the arc.",
     .example = "90"},
};
RECORD(, RBT_DEFORM_BEND_RECORD, rbt_deform_bend, DEFORM_BEND, "deform-bend", "Makes an arc of an axis.");

static const rbt_field DEFORM_SCALE[] = {
    {FIELD(rbt_deform_scale, factors, RBT_VEC3), .flags = RBT_REQUIRED | RBT_ONE_FOR_ALL,
     .doc = "Factor along each axis; 0 flattens, below 0 turns inside out.", .example = "[1.2, 1, 1]"},
};
RECORD(static, DEFORM_SCALE_RECORD, rbt_deform_scale, DEFORM_SCALE, "deform-scale",
       "Scales about the centre of the body's box.");

static const rbt_field DEFORMATIONS[RBT_DEFORM_KINDS] = {
    [RBT_DEFORM_STRETCH] = ALTERNATIVE("stretch", &DEFORM_STRETCH_RECORD, "Longer or shorter along an axis."),
    [RBT_DEFORM_TWIST] = ALTERNATIVE("twist", &DEFORM_TWIST_RECORD, "The ends turned against each other."),
    [RBT_DEFORM_BEND] = ALTERNATIVE("bend", &RBT_DEFORM_BEND_RECORD, "An axis made an arc."),
    [RBT_DEFORM_SCALE] = ALTERNATIVE("scale", &DEFORM_SCALE_RECORD, "Scaled along x, y and z."),
};
VARIANTS(static, DEFORMATION_VARIANTS, DEFORMATIONS, deformation_at, "deformation",
         "How the body is deformed when the run starts.", -1)

static const rbt_field VELOCITY[] = {
    {FIELD(rbt_velocity_def, linear, RBT_VEC3), .unit = "m/s", .doc = "Of the centre of mass."},
    {FIELD(rbt_velocity_def, angular, RBT_VEC3), .unit = "rad/s", .doc = "Of the turn about the centre of mass."},
};
RECORD(static, VELOCITY_RECORD, rbt_velocity_def, VELOCITY, "velocity",
       "How the body moves, as if rigid, when the run starts.");

static const rbt_field SURFACE[] = {
    {FIELD(rbt_surface_def, file, RBT_TEXT), .flags = RBT_REQUIRED | RBT_NOT_EMPTY,
     .doc = "A surface mesh, relative to the folder of the scene.", .example = "\"bunny.obj\""},
    {FIELD(rbt_surface_def, unit, RBT_TEXT), .fallback_text = "m", .of.names = rbt_unit_name,
     .doc = "Unit of the numbers in the file."},
};
RECORD(static, SURFACE_RECORD, rbt_surface_def, SURFACE, "surface",
       "A finer surface that the tetrahedra carry along, written instead of their hull.");

// ---- The body

static const rbt_field BODY[] = {
    {FIELD(rbt_body_def, name, RBT_TEXT), .flags = RBT_REQUIRED | RBT_NOT_EMPTY,
     .doc = "Its name, for forces, files and messages; no two bodies share one.", .example = "\"bar\""},
    {FIELD(rbt_body_def, mesh, RBT_RECORD), .flags = RBT_REQUIRED, .of.record = &RBT_MESH_RECORD,
     .doc = "Where its elements come from."},
    {FIELD(rbt_body_def, transform, RBT_RECORD), .of.record = &RBT_TRANSFORM_RECORD, .doc = "Where it is placed."},
    {FIELD(rbt_body_def, material, RBT_RECORD), .of.record = &MATERIAL_RECORD, .doc = "What it is made of."},
    {FIELD(rbt_body_def, shell, RBT_OPTIONAL), .of.record = &SHELL_RECORD,
     .doc = "For a mesh of triangles: a thin sheet."},
    {FIELD(rbt_body_def, springs, RBT_OPTIONAL), .of.record = &SPRINGS_RECORD,
     .doc = "For a mesh of edges: springs between point masses."},
    {FIELD(rbt_body_def, particles, RBT_OPTIONAL), .of.record = &PARTICLES_RECORD,
     .doc = "A ball at every node of the mesh, instead of its elements."},
    {FIELD(rbt_body_def, regions, RBT_RECORDS), .of.record = &REGION_RECORD,
     .doc = "Parts with a material of their own; where several match, the last one counts."},
    {FIELD(rbt_body_def, tempo, RBT_RECORDS), .of.record = &TEMPO_RECORD,
     .doc =
         "Parts that take steps of their own, with multirate-euler; the other methods do not look at it. One may lie "
         "inside another with a layer of nodes around it; otherwise they must not touch."},
    {FIELD(rbt_body_def, selections, RBT_RECORDS), .of.record = &RBT_NAMED_SELECTION_RECORD,
     .doc = "Selections with a name, to be used wherever a selection stands."},
    {FIELD(rbt_body_def, damping, RBT_RECORD), .of.record = &DAMPING_RECORD, .doc = "Rayleigh damping."},
    {FIELD(rbt_body_def, consistent_mass, RBT_BOOL),
     .doc = "The mass matrix of the linear elements instead of a mass per node; tets and implicit methods only."},
    {FIELD(rbt_body_def, fixed, RBT_VARIANTS), .of.variants = &RBT_SELECTION_VARIANTS,
     .doc = "Nodes that never move."},
    {FIELD(rbt_body_def, driven, RBT_RECORDS), .of.record = &DRIVEN_RECORD,
     .doc = "Nodes that have a prescribed motion."},
    {FIELD(rbt_body_def, deform, RBT_VARIANTS), .of.variants = &DEFORMATION_VARIANTS,
     .doc = "Deformations of the rest shape at the start, one after the other."},
    {FIELD(rbt_body_def, velocity, RBT_RECORD), .of.record = &VELOCITY_RECORD, .doc = "How it moves at the start."},
    {FIELD(rbt_body_def, surface, RBT_OPTIONAL), .of.record = &SURFACE_RECORD,
     .doc = "A finer surface for pictures, carried along."},
    {FIELD(rbt_body_def, friction, RBT_REAL), .flags = RBT_AUTO, .fallback = {NAN}, .max = 1e6,
     .doc = "Coulomb's coefficient of its surface, in scenes with contact; of two bodies the geometric mean counts. "
            "auto: "
            "that of the scene's contact."},
    {FIELD(rbt_body_def, gap, RBT_REAL), .flags = RBT_AUTO, .fallback = {NAN}, .max = INFINITY, .unit = "m",
     .doc = "Distance that its surface always keeps from itself and from others like it, in scenes with contact: "
            "half of "
            "it on each side. auto: that of the scene's contact."},
    {FIELD(rbt_body_def, integrator, RBT_OPTIONAL), .of.record = &RBT_BODY_INTEGRATOR_RECORD,
     .doc = "A method of its own, semi-implicit or siere beside the scene's backward-euler; absent: the scene's."},
};
RECORD_WITH_COOKIE(, RBT_BODY_RECORD, rbt_body_def, BODY, "body", "An elastic body.");

rbt_body_def rbt_body_default(void) {
    rbt_body_def body;
    rbt_record_default(&RBT_BODY_RECORD, &body);
    return body;
}
