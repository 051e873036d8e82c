#include "mesh/generate/generate.h"

#include "mesh/core/build.h"
#include "mesh/generate/shapes.h"

#include <stdio.h>
#include <string.h>

// One line a shape: name, table of parameters, generator, what it is.
#define SHAPES(X)                                                                                                    \
    X("bar", RBT_BAR_PARAMETERS, rbt_make_box, "A long box of tets.")                                                \
    X("cuboid", RBT_CUBOID_PARAMETERS, rbt_make_box, "A box of tets.")                                               \
    X("ball", RBT_BALL_PARAMETERS, rbt_make_ball, "A solid ball.")                                                   \
    X("shell-ball", RBT_SHELL_BALL_PARAMETERS, rbt_make_shell_ball, "A solid ball with a shell of its own.")         \
    X("half-ball", RBT_HALF_BALL_PARAMETERS, rbt_make_half_ball, "Half a ball, fine around its pole.")               \
    X("cylinder", RBT_CYLINDER_PARAMETERS, rbt_make_cylinder, "A solid cylinder.")                                   \
    X("torus", RBT_TORUS_PARAMETERS, rbt_make_torus, "A solid ring.")                                                \
    X("rope-coil", RBT_ROPE_COIL_PARAMETERS, rbt_make_rope_coil, "A rope wound into a helix.")                       \
    X("cloth", RBT_CLOTH_PARAMETERS, rbt_make_sheet, "A sheet of triangles.")                                        \
    X("ribbon", RBT_RIBBON_PARAMETERS, rbt_make_sheet, "A long sheet of triangles.")                                 \
    X("reef-ribbon", RBT_REEF_PARAMETERS, rbt_make_reef, "A ribbon laid as one strand of a loose reef knot.")        \
    X("bowline-ribbon", RBT_BOWLINE_PARAMETERS, rbt_make_bowline, "A ribbon laid as a loose bowline.")               \
    X("sphere", RBT_SPHERE_PARAMETERS, rbt_make_sphere, "The surface of a ball.")                                    \
    X("polyhedron", RBT_POLYHEDRON_PARAMETERS, rbt_make_polyhedron, "The surface of a regular polyhedron.")          \
    X("ring", RBT_RING_PARAMETERS, rbt_make_ring, "The surface of a ring.")                                          \
    X("tube", RBT_TUBE_PARAMETERS, rbt_make_tube, "The surface of a cylinder without its ends.")                     \
    X("prism", RBT_PRISM_PARAMETERS, rbt_make_prism, "The surface of a prism with a triangle as its base.")          \
    X("hare", RBT_HARE_PARAMETERS, rbt_make_hare, "The surface of a hare with long ears.")                           \
    X("spikes", RBT_SPIKES_PARAMETERS, rbt_make_spikes, "A plate with sharp spikes.")                                \
    X("moebius", RBT_MOEBIUS_PARAMETERS, rbt_make_moebius, "A strip closed with half a twist.")                      \
    X("honeycomb", RBT_HONEYCOMB_PARAMETERS, rbt_make_honeycomb, "A plate with hexagonal holes.")                    \
    X("blend", RBT_BLEND_PARAMETERS, rbt_make_blend, "Primitives melted into one body.")                             \
    X("surface", RBT_SURFACE_PARAMETERS, rbt_make_surface, "The inside of a closed surface from a file.")            \
    X("dinosaur", RBT_DINOSAUR_PARAMETERS, rbt_make_dinosaur, "A long-necked dinosaur.")                             \
    X("flower", RBT_FLOWER_PARAMETERS, rbt_make_flower, "A flower with petals and leaves.")                          \
    X("asian-dragon", RBT_ASIAN_DRAGON_PARAMETERS, rbt_make_asian_dragon, "A long winding dragon with horns.")       \
    X("dragon", RBT_DRAGON_PARAMETERS, rbt_make_dragon, "A winged dragon with open jaws.")                           \
    X("armadillo", RBT_ARMADILLO_PARAMETERS, rbt_make_armadillo, "An animal upright on two legs.")                   \
    X("liver", RBT_LIVER_PARAMETERS, rbt_make_liver, "A liver of two lobes.")                                        \
    X("tree", RBT_TREE_PARAMETERS, rbt_make_tree, "A bare tree.")                                                    \
    X("bridge", RBT_BRIDGE_PARAMETERS, rbt_make_bridge, "A bridge on an arch of trusses.")                           \
    X("eiffel", RBT_EIFFEL_PARAMETERS, rbt_make_eiffel, "A tower of lattice girders.")                               \
    X("body", RBT_BODY_PARAMETERS, rbt_make_body, "A standing human body.")

#define AS_SHAPE(name, record, make, doc)     {name, doc, &record, make},
#define AS_FIELD(title, table, make, meaning) {title, RBT_RECORD, .doc = meaning, .of.record = &table},

static const rbt_shape TABLE[] = {SHAPES(AS_SHAPE)};
enum { COUNT = sizeof TABLE / sizeof TABLE[0] };

const rbt_shape *rbt_shape_at(int i) { return i >= 0 && i < COUNT ? &TABLE[i] : NULL; }
const char *rbt_shape_name(int i) { return i >= 0 && i < COUNT ? TABLE[i].name : NULL; }

int rbt_shape_find(const char *name) {
    for (int i = 0; i < COUNT; i++)
        if (strcmp(TABLE[i].name, name) == 0) return i;
    return -1;
}

static const rbt_field *shape_alternative(int which) {
    static const rbt_field fields[COUNT] = {SHAPES(AS_FIELD)};
    return which >= 0 && which < COUNT ? &fields[which] : NULL;
}

const rbt_variants RBT_SHAPE_VARIANTS = {"shape", "A generated mesh.", shape_alternative, -1};

// ---- Limits, for programs that fill the parameters by hand

static bool check_number(const rbt_shape *shape, const rbt_field *field, double value, rbt_error *error) {
    if ((field->flags & RBT_AUTO) && isnan(value)) return true;
    bool limited = field->min != 0 || field->max != 0;
    bool low = field->flags & RBT_ABOVE ? value > field->min : value >= field->min;
    bool high = field->flags & RBT_BELOW ? value < field->max : value <= field->max;
    if (isfinite(value) && (!limited || (low && high))) return true;
    char limits[128];
    rbt_field_limits(field, limits, sizeof limits);
    return rbt_fail(error, "%s: %s is %g%s%s, but must be %s", shape->name, field->name, value,
                    field->unit ? " " : "", field->unit ? field->unit : "", limited ? limits : "finite");
}

static bool check_parameters(const rbt_shape *shape, const void *parameters, rbt_error *error) {
    for (int i = 0; i < shape->parameters->field_count; i++) {
        const rbt_field *field = &shape->parameters->fields[i];
        const void *at = (const char *)parameters + field->offset;
        int count = field->kind == RBT_VEC3 || field->kind == RBT_INT3 ? 3 : 1;
        for (int k = 0; k < count; k++) {
            bool sound = true;
            if (field->kind == RBT_REAL || field->kind == RBT_VEC3)
                sound = check_number(shape, field, ((const double *)at)[k], error);
            else if (field->kind == RBT_INT || field->kind == RBT_INT3)
                sound = check_number(shape, field, ((const int *)at)[k], error);
            if (!sound) return false;
        }
    }
    return true;
}

rbt_mesh *rbt_shape_generate(const char *name, const void *parameters, rbt_error *error) {
    int which = rbt_shape_find(name);
    if (which < 0) {
        const char *nearest = rbt_text_nearest(name, rbt_shape_name);
        rbt_fail(error, "there is no shape \"%s\"%s%s%s; `rubato mesh --list` shows them all", name,
                 nearest ? ": did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
        return NULL;
    }
    const rbt_shape *shape = &TABLE[which];
    void *defaults = NULL;
    if (!parameters) {
        defaults = rbt_array_new(1, shape->parameters->size, "parameters", error);
        if (!defaults) return NULL;
        rbt_record_default(shape->parameters, defaults);
        parameters = defaults;
    }
    rbt_mesh *mesh = check_parameters(shape, parameters, error) ? shape->generate(parameters, error) : NULL;
    if (mesh) snprintf(mesh->format, sizeof mesh->format, "generated %s", name);
    free(defaults);
    return mesh;
}
