// The generators and the tables of their parameters (structs: shape_parameters.h); generate.c lists them.
#ifndef RBT_MESH_GENERATE_SHAPES_H
#define RBT_MESH_GENERATE_SHAPES_H

#include "base/record.h"
#include "mesh/generate/sdf.h"
#include "mesh/generate/shape_parameters.h"
#include "rubato/mesh.h"

#define RBT_MAX_GENERATED_TETS 200000000

// Limits and default of a size in metres, as initialisers of an rbt_field.
#define RBT_SIZE_LIMITS .flags = RBT_ABOVE, .min = 0, .max = 1e6, .unit = "m"

// gen_grid.c
extern const rbt_record RBT_BAR_PARAMETERS, RBT_CUBOID_PARAMETERS, RBT_CLOTH_PARAMETERS, RBT_RIBBON_PARAMETERS;
rbt_mesh *rbt_make_box(const void *parameters, rbt_error *error);
rbt_mesh *rbt_make_sheet(const void *parameters, rbt_error *error);

// gen_knot.c
extern const rbt_record RBT_REEF_PARAMETERS, RBT_BOWLINE_PARAMETERS;
rbt_mesh *rbt_make_reef(const void *parameters, rbt_error *error);
rbt_mesh *rbt_make_bowline(const void *parameters, rbt_error *error);

// gen_closed.c
extern const rbt_record RBT_POLYHEDRON_PARAMETERS, RBT_RING_PARAMETERS, RBT_TUBE_PARAMETERS, RBT_PRISM_PARAMETERS,
    RBT_HARE_PARAMETERS;
rbt_mesh *rbt_make_polyhedron(const void *parameters, rbt_error *error);
rbt_mesh *rbt_make_ring(const void *parameters, rbt_error *error);
rbt_mesh *rbt_make_tube(const void *parameters, rbt_error *error);
rbt_mesh *rbt_make_prism(const void *parameters, rbt_error *error);
rbt_mesh *rbt_make_hare(const void *parameters, rbt_error *error);

// gen_shells.c
extern const rbt_record RBT_SPHERE_PARAMETERS, RBT_SPIKES_PARAMETERS;
rbt_mesh *rbt_make_sphere(const void *parameters, rbt_error *error);
rbt_mesh *rbt_make_spikes(const void *parameters, rbt_error *error);

// gen_ball.c
extern const rbt_record RBT_BALL_PARAMETERS, RBT_SHELL_BALL_PARAMETERS;
rbt_mesh *rbt_make_ball(const void *parameters, rbt_error *error);
rbt_mesh *rbt_make_shell_ball(const void *parameters, rbt_error *error);

// gen_half_ball.c
extern const rbt_record RBT_HALF_BALL_PARAMETERS;
rbt_mesh *rbt_make_half_ball(const void *parameters, rbt_error *error);

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

// creature_*.c
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

#endif
