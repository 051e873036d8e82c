// The generators and the tables of their parameters (structs: rubato/shapes.h); generate.c lists them.
#ifndef RBT_MESH_SHAPES_H
#define RBT_MESH_SHAPES_H

#include "base/record.h"
#include "mesh/sdf.h"
#include "rubato/mesh.h"
#include "rubato/shapes.h"

#define RBT_MAX_GENERATED_TETS 200000000

// Limits and default of a size in metres, as initialisers of an rbt_field.
#define RBT_SIZE_LIMITS .flags = RBT_ABOVE, .min = 0, .max = 1e6, .unit = "m"

// gen_grid.c
extern const rbt_record RBT_BAR_PARAMETERS, RBT_CUBOID_PARAMETERS, RBT_CLOTH_PARAMETERS, RBT_RIBBON_PARAMETERS;
rbt_mesh *rbt_make_box(const void *parameters, rbt_error *error);
rbt_mesh *rbt_make_sheet(const void *parameters, rbt_error *error);

// gen_ball.c
extern const rbt_record RBT_BALL_PARAMETERS, RBT_SHELL_BALL_PARAMETERS;
rbt_mesh *rbt_make_ball(const void *parameters, rbt_error *error);
rbt_mesh *rbt_make_shell_ball(const void *parameters, rbt_error *error);

// gen_round.c
extern const rbt_record RBT_CYLINDER_PARAMETERS, RBT_TORUS_PARAMETERS, RBT_ROPE_COIL_PARAMETERS;
rbt_mesh *rbt_make_cylinder(const void *parameters, rbt_error *error);
rbt_mesh *rbt_make_torus(const void *parameters, rbt_error *error);
rbt_mesh *rbt_make_rope_coil(const void *parameters, rbt_error *error);

// gen_strip.c
extern const rbt_record RBT_MOEBIUS_PARAMETERS, RBT_HONEYCOMB_PARAMETERS;
rbt_mesh *rbt_make_moebius(const void *parameters, rbt_error *error);
rbt_mesh *rbt_make_honeycomb(const void *parameters, rbt_error *error);

// gen_blend.c
extern const rbt_record RBT_BLEND_PARAMETERS;
rbt_mesh *rbt_make_blend(const void *parameters, rbt_error *error);

// gen_surface.c
extern const rbt_record RBT_SURFACE_PARAMETERS;
rbt_mesh *rbt_make_surface(const void *parameters, rbt_error *error);

// ---- Creatures: tables of primitives

typedef struct rbt_creature {
    const rbt_primitive *parts;
    size_t part_count;
    double blend;  // where a part does not say otherwise
} rbt_creature;

// gen_blend.c: meshes it, names the regions, scales it to the size asked for and stands it on y = 0.
rbt_mesh *rbt_make_creature(const rbt_creature *creature, const rbt_creature_shape *parameters, rbt_error *error);

#define RBT_CREATURES(X)                                                                                             \
    X(dinosaur, DINOSAUR)                                                                                            \
    X(flower, FLOWER)                                                                                                \
    X(asian_dragon, ASIAN_DRAGON)                                                                                    \
    X(dragon, DRAGON)                                                                                                \
    X(armadillo, ARMADILLO)                                                                                          \
    X(liver, LIVER)                                                                                                  \
    X(tree, TREE)                                                                                                    \
    X(bridge, BRIDGE)                                                                                                \
    X(eiffel, EIFFEL)                                                                                                \
    X(body, BODY)

#define RBT_DECLARE_CREATURE(name, NAME)                                                                             \
    extern const rbt_record RBT_##NAME##_PARAMETERS;                                                                 \
    rbt_mesh *rbt_make_##name(const void *parameters, rbt_error *error);
RBT_CREATURES(RBT_DECLARE_CREATURE)

// Defines the table of a creature's parameters.
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
