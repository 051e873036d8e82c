// Cuts and the surfaces they follow.
#include "mesh/core/unit.h"
#include "scene/table.h"
#include "scene/table_macros.h"

#define TOWARDS(type, sentence)                                                                                      \
    { FIELD(type, towards, RBT_VEC3), .doc = sentence, .example = "[0, -1, 0]" }

static const rbt_field PLANE[] = {
    {FIELD(rbt_cut_plane, point, RBT_VEC3), .unit = "m", .doc = "A point of the plane."},
    {FIELD(rbt_cut_plane, normal, RBT_VEC3), .flags = RBT_NOT_EMPTY, .fallback = {1, 0, 0},
     .doc = "Stands on the plane; its length does not matter."},
    TOWARDS(rbt_cut_plane, "Where strokes go; zero: along the longest side of the body's bounding box."),
    {FIELD(rbt_cut_plane, relative, RBT_BOOL), .doc = "Give the point in fractions of the body's bounding box."},
};
RECORD(static, PLANE_RECORD, rbt_cut_plane, PLANE, "cut-plane", "A plane without end.");

static const rbt_field RECTANGLE[] = {
    {FIELD(rbt_cut_rectangle, corner, RBT_VEC3), .flags = RBT_REQUIRED, .unit = "m",
     .doc = "The corner where the blade begins.", .example = "[0, 1, -1]"},
    {FIELD(rbt_cut_rectangle, along, RBT_VEC3), .flags = RBT_REQUIRED | RBT_NOT_EMPTY, .unit = "m",
     .doc = "The way of the blade, from the corner to where it ends.", .example = "[0, -0.5, 0]"},
    {FIELD(rbt_cut_rectangle, across, RBT_VEC3), .flags = RBT_REQUIRED | RBT_NOT_EMPTY, .unit = "m",
     .doc = "The blade itself, from the corner to its other end.", .example = "[0, 0, 2]"},
    {FIELD(rbt_cut_rectangle, relative, RBT_BOOL), .doc = "Give all three in fractions of the body's bounding box."},
};
RECORD(, RBT_CUT_RECTANGLE_RECORD, rbt_cut_rectangle, RECTANGLE, "cut-rectangle",
       "A piece of a plane: what a straight blade passes on a straight way.");

static const rbt_field BLADE[] = {
    {FIELD(rbt_cut_blade, points, RBT_VEC3S), .flags = RBT_REQUIRED | RBT_NOT_EMPTY, .unit = "m",
     .doc = "The way of one end of the blade, two points at least.",
     .example = "[[-1, 0, 0], [0, 0.2, 0], [1, 0, 0]]"},
    {FIELD(rbt_cut_blade, blade, RBT_VEC3), .flags = RBT_REQUIRED | RBT_NOT_EMPTY, .unit = "m",
     .doc = "From that end of the blade to the other.", .example = "[0, 0, 1]"},
};
RECORD(static, BLADE_RECORD, rbt_cut_blade, BLADE, "cut-blade",
       "What a straight blade passes that is moved along a line with corners; strokes follow the line.");

static const rbt_field FILE_FIELDS[] = {
    {FIELD(rbt_cut_file, file, RBT_TEXT), .flags = RBT_REQUIRED | RBT_NOT_EMPTY,
     .doc = "File of triangles (OBJ, STL, PLY, …), relative to the scene's folder.", .example = "\"path.obj\""},
    {FIELD(rbt_cut_file, unit, RBT_TEXT), .fallback_text = "m", .of.names = rbt_unit_name,
     .doc = "Unit of the numbers in the file."},
    TOWARDS(rbt_cut_file, "Where strokes go; zero: along the longest side of the surface's bounding box."),
};
RECORD(static, FILE_RECORD, rbt_cut_file, FILE_FIELDS, "cut-file",
       "The triangles of a file; they need not be closed.");

static const rbt_field SURFACES[RBT_CUT_KINDS] = {
    [RBT_CUT_PLANE] = ALTERNATIVE("plane", &PLANE_RECORD, "A plane without end."),
    [RBT_CUT_RECTANGLE] = ALTERNATIVE("rectangle", &RBT_CUT_RECTANGLE_RECORD, "A piece of a plane."),
    [RBT_CUT_BLADE] = ALTERNATIVE("blade", &BLADE_RECORD, "A straight blade moved along a line with corners."),
    [RBT_CUT_FILE] = ALTERNATIVE("triangles", &FILE_RECORD, "The triangles of a file."),
};
VARIANTS(static, SURFACE_VARIANTS, SURFACES, surface_at, "cut-surface", "What a cut follows.", -1)

static const rbt_field CUT[] = {
    {FIELD(rbt_cut_def, body, RBT_TEXT), .flags = RBT_NOT_EMPTY,
     .doc = "Name of the body that is cut; absent: all that are made of tets or triangles.", .example = "\"bar\""},
    {FIELD(rbt_cut_def, surface, RBT_VARIANT), .flags = RBT_REQUIRED, .of.variants = &SURFACE_VARIANTS,
     .doc = "What it follows."},
    {FIELD(rbt_cut_def, time, RBT_REAL), .unit = "s", .max = INFINITY,
     .doc = "When it is made: between two steps, at the first end of a step that is not before."},
    {FIELD(rbt_cut_def, until, RBT_REAL), .flags = RBT_AUTO, .fallback = {NAN}, .unit = "s", .max = INFINITY,
     .doc = "When it is complete, if it continues in strokes; \"auto\": it is made at once.", .example = "0.5"},
    {FIELD(rbt_cut_def, strokes, RBT_INT), .fallback = {16}, .min = 1, .max = 10000,
     .doc = "In how many strokes of equal length and time it continues from \"time\" to \"until\"."},
    {FIELD(rbt_cut_def, deformed, RBT_BOOL),
     .doc = "The surface lies in the world and cuts bodies as they are then; otherwise it lies in their rest shape, "
            "and they are cut there however they are deformed."},
    {FIELD(rbt_cut_def, tolerance, RBT_REAL), .flags = RBT_ABOVE, .fallback = {1e-6}, .max = 0.25,
     .doc =
         "Where an edge is crossed so near its end, in shares of its length, no sliver is made: the cut goes through "
         "the node there. Nothing is moved. With contact at least 0.05."},
};
RECORD(, RBT_CUT_RECORD, rbt_cut_def, CUT, "cut",
       "Elements are split along a surface and parted where both sides really separate; mass, momentum, materials "
       "and selections are carried over. With contact a cut has a width, so that its two sides begin apart, and what "
       "lies in it is gone.");
