// Creatures: bodies that are tables of primitives, or lists of them made by a rule.
//
// Tables are written in any unit: y up, facing along x, alike on both sides of z = 0.
#ifndef RBT_MESH_GENERATE_CREATURE_H
#define RBT_MESH_GENERATE_CREATURE_H

#include "mesh/generate/sdf.h"
#include "mesh/generate/shapes.h"

typedef struct rbt_creature {
    const rbt_primitive *parts;
    size_t part_count;
    double blend;  // where a part does not say otherwise
    double inner;  // the node set inner lies within the parts made thinner by this factor; 0: there is none
} rbt_creature;

// gen_blend.c: meshes it, names the regions, scales it to the size asked for and stands it on y = 0.
rbt_mesh *rbt_make_creature(const rbt_creature *creature, const rbt_creature_shape *parameters, rbt_error *error);

// Primitives of a table. A point is three numbers; PAIR: once more on the other side.
#define POINT(x, y, z)                                                                                               \
    { x, y, z }
#define ROD(region, from, to, from_radius, to_radius)                                                                \
    { region, RBT_CAPSULE, from, to, {from_radius, to_radius}, .mirror = false }
#define PAIR(region, from, to, from_radius, to_radius)                                                               \
    { region, RBT_CAPSULE, from, to, {from_radius, to_radius}, .mirror = true }
#define EGG(region, centre, radii, axis_and_degrees)                                                                 \
    { region, RBT_ELLIPSOID, centre, radii, .turn = axis_and_degrees }
#define EGG_PAIR(region, centre, radii, axis_and_degrees)                                                            \
    { region, RBT_ELLIPSOID, centre, radii, .turn = axis_and_degrees, .mirror = true }
#define TURN(x, y, z, degrees)                                                                                       \
    { x, y, z, degrees }
#define STRAIGHT                                                                                                     \
    { 0, 0, 1, 0 }

#define RBT_TABLE_CREATURE(name, table, melt) RBT_TABLE_CREATURE_WITH_INNER(name, table, melt, 0)
#define RBT_TABLE_CREATURE_WITH_INNER(name, table, melt, thinner)                                                    \
    rbt_mesh *rbt_make_##name(const void *parameters, rbt_error *error) {                                            \
        const rbt_creature creature = {table, sizeof table / sizeof table[0], melt, thinner};                        \
        return rbt_make_creature(&creature, parameters, error);                                                      \
    }

// The two parameters of a creature, with its own defaults.
#define RBT_CREATURE_PARAMETERS(NAME, title, meaning, meters, cells)                                                 \
    static const rbt_field NAME##_FIELDS[] = {                                                                       \
        {"size", RBT_REAL, offsetof(rbt_creature_shape, size), .fallback = {meters}, RBT_SIZE_LIMITS,                \
         .doc = "Length of the longest side."},                                                                      \
        {"resolution", RBT_REAL, offsetof(rbt_creature_shape, resolution), .fallback = {cells}, .min = 4,            \
         .max = 4000,                                                                                                \
         .doc = "Lattice cells along the longest side; twice as many make about eight times the tets."}};            \
    const rbt_record RBT_##NAME##_PARAMETERS = {title, meaning, sizeof(rbt_creature_shape),                          \
                                                RBT_FIELDS(NAME##_FIELDS)};

#endif
