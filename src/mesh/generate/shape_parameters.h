// Parameters of the shapes that rbt_shape_generate makes (mesh/generate/generate.h).
//
// Defaults, limits, units and meaning of every member are in the table of shapes (`rubato mesh --list`,
// docs/scene.md). y is up; bodies of simple form are centred on the origin, creatures stand on y = 0.
#ifndef RBT_MESH_GENERATE_SHAPE_PARAMETERS_H
#define RBT_MESH_GENERATE_SHAPE_PARAMETERS_H

#include "rubato/list.h"

#include <stdbool.h>

typedef struct rbt_box_shape {  // "bar", "cuboid"
    double size[3];             // [m]
    int cells[3];
} rbt_box_shape;

typedef struct rbt_sheet_shape {  // "cloth", "ribbon": triangles in the plane y = 0
    double length, width;         // along x and z [m]
    int cells_along, cells_across;
} rbt_sheet_shape;

typedef struct rbt_reef_shape {  // "reef-ribbon": one strand of a loose reef knot
    int strand;                  // 0 or 1
    double length, width;        // [m]
    double clearance;            // between the strands where they cross [m]
    int cells_along, cells_across;
} rbt_reef_shape;

typedef struct rbt_bowline_shape {  // "bowline-ribbon"
    double size, width;             // [m]
    int cells_along, cells_across;
} rbt_bowline_shape;

typedef struct rbt_polyhedron_shape {  // "polyhedron": a surface
    int kind;                          // 0 tetrahedron, 1 cube, 2 octahedron, 3 icosahedron
    double radius;                     // [m]
    int cells;                         // along each edge
    bool round;
} rbt_polyhedron_shape;

typedef struct rbt_ring_shape {       // "ring": a surface
    double ring_radius, tube_radius;  // [m]
    int rings, segments;
} rbt_ring_shape;

typedef struct rbt_tube_shape {  // "tube": a surface
    double radius, length;       // [m]
    int rings, segments;
} rbt_tube_shape;

typedef struct rbt_prism_shape {   // "prism": a surface
    double width, height, length;  // [m]
    int cells_below, cells_up, cells_along;
} rbt_prism_shape;

typedef struct rbt_hare_shape {  // "hare": a surface
    double size;                 // [m]
    int cells;
} rbt_hare_shape;

typedef struct rbt_sphere_shape {  // "sphere": a surface
    double radius;                 // [m]
    int rings, segments;
} rbt_sphere_shape;

typedef struct rbt_spikes_shape {  // "spikes" on a plate
    double size, height;           // [m]
    double apex;                   // angle of a triangle at its point [degrees]
    int count;                     // along each side
} rbt_spikes_shape;

typedef struct rbt_ball_shape {
    double radius;  // [m]
    int layers;     // from the centre to the surface
} rbt_ball_shape;

typedef struct rbt_shell_ball_shape {
    double radius;     // of the whole [m]
    double thickness;  // of the shell [m]
    int core_layers, shell_layers;
} rbt_shell_ball_shape;

typedef struct rbt_half_ball_shape {
    double radius;  // [m]
    double fine;    // radius of equal cells around the pole [m]
    int cells;      // over that radius
} rbt_half_ball_shape;

typedef struct rbt_cylinder_shape {
    double radius, length;  // [m], along x
    int rings, cells;       // across the radius, along the length
} rbt_cylinder_shape;

typedef struct rbt_torus_shape {
    double ring_radius, tube_radius;  // [m], around the y axis
    int rings, cells;                 // across the tube's radius, around the ring
} rbt_torus_shape;

typedef struct rbt_rope_coil_shape {
    double rope_radius, coil_radius;  // [m]
    double pitch;                     // rise of a turn, centre to centre [m]
    double turns;
    int rings, cells;  // across the rope's radius, along its length
} rbt_rope_coil_shape;

typedef struct rbt_moebius_shape {
    double radius, width, thickness;  // [m]
    int cells_around, cells_across, cells_through;
} rbt_moebius_shape;

typedef struct rbt_honeycomb_shape {
    int columns, rows;  // of holes
    double cell;        // distance between neighbouring holes' centres [m]
    double wall;        // thickness of the walls between them [m]
    double height;      // of the plate [m]
    int segments;       // of a wall along its length
    int layers;         // through the plate
} rbt_honeycomb_shape;

// ---- Blends of signed distances

typedef enum rbt_blend_part_kind {
    RBT_BLEND_CAPSULE,    // rbt_capsule_part
    RBT_BLEND_SPHERE,     // rbt_sphere_part
    RBT_BLEND_BOX,        // rbt_box_part
    RBT_BLEND_ELLIPSOID,  // rbt_ellipsoid_part
    RBT_BLEND_TORUS,      // rbt_torus_part
    RBT_BLEND_KINDS
} rbt_blend_part_kind;

// What every part has, first in each of the structs below.
typedef struct rbt_part {
    int combine;         // 0 add, 1 subtract from what is added, 2 intersect with it
    double blend;        // radius over which it melts into the parts before it [m]; NaN: as the body's
    const char *region;  // name of the set of tets nearest to it; NULL: none
} rbt_part;

typedef struct rbt_capsule_part {
    rbt_part part;
    double from[3], to[3];          // [m]
    double from_radius, to_radius;  // [m]; to_radius NaN: the same
} rbt_capsule_part;

typedef struct rbt_sphere_part {
    rbt_part part;
    double centre[3], radius;  // [m]
} rbt_sphere_part;

typedef struct rbt_box_part {
    rbt_part part;
    double centre[3], size[3];  // [m]
    double rounding;            // radius of the edges [m]
    double axis[3], degrees;    // turned about its centre
} rbt_box_part;

typedef struct rbt_ellipsoid_part {
    rbt_part part;
    double centre[3], radii[3];  // [m]
    double axis[3], degrees;
} rbt_ellipsoid_part;

typedef struct rbt_torus_part {
    rbt_part part;
    double centre[3];                 // [m]
    double ring_radius, tube_radius;  // [m]; around the y axis
    double axis[3], degrees;
} rbt_torus_part;

typedef struct rbt_blend_shape {
    RBT_LIST(rbt_variant) parts;  // rbt_blend_part_kind
    double blend;                 // radius over which parts melt into each other [m]
    double cell;                  // side of the lattice's cubes [m]
    bool largest_only;            // drop all connected parts but the largest
} rbt_blend_shape;

typedef struct rbt_surface_shape {
    const char *file;  // a closed surface: OBJ, STL or PLY
    double scale;      // metres per unit of the file
    double cell;       // side of the lattice's cubes [m]; NaN: chosen from the surface's edges and size
    bool largest_only;
} rbt_surface_shape;

// "dinosaur", "flower", "asian-dragon", "dragon", "armadillo", "liver", "tree", "bridge", "eiffel", "body"
typedef struct rbt_creature_shape {
    double size;        // of the longest side [m]
    double resolution;  // lattice cells along it
} rbt_creature_shape;

#endif
