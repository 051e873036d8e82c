// Bodies blended from primitives: those a scene lists, and the creatures, whose primitives are tables.
#include "mesh/core/build.h"
#include "mesh/generate/creature.h"
#include "mesh/generate/shapes.h"
#include "mesh/generate/stuffing.h"

#include <math.h>

// ---- The tables of a blend's parts

static const char *combine_name(int i) {
    static const char *const names[] = {"add", "subtract", "intersect"};
    return i >= 0 && i < 3 ? names[i] : NULL;
}

#define PART_FIELDS(type)                                                                                            \
    {"combine", RBT_CHOICE, offsetof(type, part.combine),                                                            \
     .doc = "Whether the part is added, taken away from all that is added, or bounds it.",                           \
     .of.names = combine_name},                                                                                      \
        {"blend",                                                                                                    \
         RBT_REAL,                                                                                                   \
         offsetof(type, part.blend),                                                                                 \
         .flags = RBT_AUTO,                                                                                          \
         .fallback = {NAN},                                                                                          \
         .min = 0,                                                                                                   \
         .max = 1e6,                                                                                                 \
         .unit = "m",                                                                                                \
         .doc = "Radius over which the part melts into those before it; auto: that of the whole body."},             \
    {                                                                                                                \
        "region", RBT_TEXT, offsetof(type, part.region),                                                             \
            .doc = "Name of the set of those tets that are nearest to this part."                                    \
    }

#define CENTER_FIELD(type)                                                                                           \
    { "centre", RBT_VEC3, offsetof(type, centre), .unit = "m", .doc = "Centre of the part." }
#define TURN_FIELDS(type)                                                                                            \
    {"axis",                                                                                                         \
     RBT_VEC3,                                                                                                       \
     offsetof(type, axis),                                                                                           \
     .fallback = {0, 1, 0},                                                                                          \
     .flags = RBT_NOT_EMPTY,                                                                                         \
     .doc = "Axis through the centre about which the part is turned."},                                              \
    {                                                                                                                \
        "degrees", RBT_REAL, offsetof(type, degrees), .unit = "degrees", .doc = "Angle of that turn."                \
    }

static const rbt_field CAPSULE_FIELDS[] = {
    {"from", RBT_VEC3, offsetof(rbt_capsule_part, from), .fallback = {-0.5, 0, 0}, .unit = "m",
     .doc = "Centre of the first end's ball."},
    {"to", RBT_VEC3, offsetof(rbt_capsule_part, to), .fallback = {0.5, 0, 0}, .unit = "m",
     .doc = "Centre of the other end's ball."},
    {"from_radius", RBT_REAL, offsetof(rbt_capsule_part, from_radius), .fallback = {0.2}, RBT_SIZE_LIMITS,
     .doc = "Radius at the first end."},
    {"to_radius", RBT_REAL, offsetof(rbt_capsule_part, to_radius), .fallback = {NAN}, .flags = RBT_AUTO, .min = 0,
     .max = 1e6, .unit = "m", .doc = "Radius at the other end; auto: the same."},
    PART_FIELDS(rbt_capsule_part)};
static const rbt_record CAPSULE = {"capsule part", "A rod with round ends, or a round cone.",
                                   sizeof(rbt_capsule_part), RBT_FIELDS(CAPSULE_FIELDS)};

static const rbt_field SPHERE_FIELDS[] = {
    CENTER_FIELD(rbt_sphere_part),
    {"radius", RBT_REAL, offsetof(rbt_sphere_part, radius), .fallback = {0.5}, RBT_SIZE_LIMITS, .doc = "Radius."},
    PART_FIELDS(rbt_sphere_part)};
static const rbt_record SPHERE = {"sphere part", "A ball.", sizeof(rbt_sphere_part), RBT_FIELDS(SPHERE_FIELDS)};

static const rbt_field BOX_FIELDS[] = {
    CENTER_FIELD(rbt_box_part),
    {"size", RBT_VEC3, offsetof(rbt_box_part, size), .fallback = {1, 1, 1}, RBT_SIZE_LIMITS,
     .doc = "Lengths of its sides before it is turned."},
    {"rounding", RBT_REAL, offsetof(rbt_box_part, rounding), .min = 0, .max = 1e6, .unit = "m",
     .doc = "Radius of its edges, which are cut off raggedly if sharper than the lattice."},
    TURN_FIELDS(rbt_box_part),
    PART_FIELDS(rbt_box_part)};
static const rbt_record BOX = {"box part", "A box, turned as one likes.", sizeof(rbt_box_part),
                               RBT_FIELDS(BOX_FIELDS)};

static const rbt_field ELLIPSOID_FIELDS[] = {CENTER_FIELD(rbt_ellipsoid_part),
                                             {"radii", RBT_VEC3, offsetof(rbt_ellipsoid_part, radii),
                                              .fallback = {0.5, 0.5, 0.5}, RBT_SIZE_LIMITS,
                                              .doc = "Half lengths of its axes before it is turned."},
                                             TURN_FIELDS(rbt_ellipsoid_part),
                                             PART_FIELDS(rbt_ellipsoid_part)};
static const rbt_record ELLIPSOID = {"ellipsoid part", "An ellipsoid, turned as one likes.",
                                     sizeof(rbt_ellipsoid_part), RBT_FIELDS(ELLIPSOID_FIELDS)};

static const rbt_field TORUS_FIELDS[] = {
    CENTER_FIELD(rbt_torus_part),
    {"ring_radius", RBT_REAL, offsetof(rbt_torus_part, ring_radius), .fallback = {0.5}, RBT_SIZE_LIMITS,
     .doc = "Radius of the circle around the y axis."},
    {"tube_radius", RBT_REAL, offsetof(rbt_torus_part, tube_radius), .fallback = {0.2}, RBT_SIZE_LIMITS,
     .doc = "Radius of the tube along that circle."},
    TURN_FIELDS(rbt_torus_part),
    PART_FIELDS(rbt_torus_part)};
static const rbt_record TORUS = {"torus part", "A ring.", sizeof(rbt_torus_part), RBT_FIELDS(TORUS_FIELDS)};

static const rbt_field *part_alternative(int which) {
    static const rbt_field alternatives[RBT_BLEND_KINDS] = {
        [RBT_BLEND_CAPSULE] = {"capsule", RBT_RECORD, .doc = "A rod with round ends, or a round cone.",
                               .of.record = &CAPSULE},
        [RBT_BLEND_SPHERE] = {"sphere", RBT_RECORD, .doc = "A ball.", .of.record = &SPHERE},
        [RBT_BLEND_BOX] = {"box", RBT_RECORD, .doc = "A box.", .of.record = &BOX},
        [RBT_BLEND_ELLIPSOID] = {"ellipsoid", RBT_RECORD, .doc = "An ellipsoid.", .of.record = &ELLIPSOID},
        [RBT_BLEND_TORUS] = {"torus", RBT_RECORD, .doc = "A ring.", .of.record = &TORUS}};
    return which >= 0 && which < RBT_BLEND_KINDS ? &alternatives[which] : NULL;
}

static const rbt_variants PARTS = {"blend part", "One primitive of a blend.", part_alternative, -1};

static const rbt_field BLEND_FIELDS[] = {
    {"parts", RBT_VARIANTS, offsetof(rbt_blend_shape, parts),
     .doc = "The primitives; if there are none, a ball with a bar through it.", .of.variants = &PARTS},
    {"blend", RBT_REAL, offsetof(rbt_blend_shape, blend), .fallback = {0.1}, .min = 0, .max = 1e6, .unit = "m",
     .doc = "Radius over which parts melt into each other."},
    {"cell", RBT_REAL, offsetof(rbt_blend_shape, cell), .fallback = {0.1}, RBT_SIZE_LIMITS,
     .doc = "Side of the lattice's cubes; a cube inside the body holds twelve tets."},
    {"largest_only", RBT_BOOL, offsetof(rbt_blend_shape, largest_only),
     .doc = "Drop all connected parts of the result but the largest."}};
const rbt_record RBT_BLEND_PARAMETERS = {
    "blend shape", "Rods, boxes and ellipsoids melted into one body, with a tet set for every region named.",
    sizeof(rbt_blend_shape), RBT_FIELDS(BLEND_FIELDS)};

// ---- From parts to primitives

static void copy3(double to[3], const double from[3]) {
    for (int k = 0; k < 3; k++) to[k] = from[k];
}

static void set_turn(rbt_primitive *q, const double axis[3], double degrees) {
    copy3(q->turn, axis);
    q->turn[3] = degrees;
}

static bool read_part(const rbt_variant *part, size_t number, rbt_primitive *q, rbt_error *error) {
    if (part->which < 0 || part->which >= RBT_BLEND_KINDS || !part->value)
        return rbt_fail(error, "part %zu of the blend is of no known kind", number);
    const rbt_part *common = part->value;
    *q = (rbt_primitive){.region = common->region, .combine = (rbt_combine)common->combine};
    if (common->combine < RBT_ADD || common->combine > RBT_INTERSECT)
        return rbt_fail(error, "part %zu of the blend is combined in no known way (%d)", number, common->combine);
    switch ((rbt_blend_part_kind)part->which) {
    case RBT_BLEND_CAPSULE: {
        const rbt_capsule_part *p = part->value;
        q->kind = RBT_CAPSULE;
        copy3(q->a, p->from);
        copy3(q->b, p->to);
        q->radius[0] = p->from_radius;
        q->radius[1] = isnan(p->to_radius) ? p->from_radius : p->to_radius;
        break;
    }
    case RBT_BLEND_SPHERE: {
        const rbt_sphere_part *p = part->value;
        q->kind = RBT_CAPSULE;
        copy3(q->a, p->centre);
        copy3(q->b, p->centre);
        q->radius[0] = q->radius[1] = p->radius;
        break;
    }
    case RBT_BLEND_BOX: {
        const rbt_box_part *p = part->value;
        q->kind = RBT_BOX;
        copy3(q->a, p->centre);
        for (int k = 0; k < 3; k++) q->b[k] = p->size[k] / 2;
        q->radius[0] = p->rounding;
        set_turn(q, p->axis, p->degrees);
        break;
    }
    case RBT_BLEND_ELLIPSOID: {
        const rbt_ellipsoid_part *p = part->value;
        q->kind = RBT_ELLIPSOID;
        copy3(q->a, p->centre);
        copy3(q->b, p->radii);
        set_turn(q, p->axis, p->degrees);
        break;
    }
    default: {
        const rbt_torus_part *p = part->value;
        q->kind = RBT_TORUS;
        copy3(q->a, p->centre);
        q->b[0] = p->ring_radius;
        q->b[1] = p->tube_radius;
        set_turn(q, p->axis, p->degrees);
        break;
    }
    }
    q->blend = common->blend;
    return true;
}

// ---- Meshing

// A tet set for every region: the tets whose centre is nearest to one of its primitives.
static bool name_regions(rbt_mesh *mesh, const rbt_sdf *sdf, const rbt_primitive *parts, rbt_error *error) {
    int32_t *nearest = rbt_array_new(mesh->tet_count, sizeof *nearest, "regions", error);
    if (!nearest) return false;
#pragma omp parallel for schedule(static)
    for (size_t t = 0; t < mesh->tet_count; t++) {
        double centre[3] = {0, 0, 0};
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 3; k++) centre[k] += mesh->nodes[3 * mesh->tets[4 * t + (size_t)i] + k] / 4;
        nearest[t] = rbt_sdf_nearest(sdf, centre);
    }
    bool made = true;
    for (size_t t = 0; t < mesh->tet_count && made; t++) {
        const char *region = parts[nearest[t]].region;
        int32_t tet = (int32_t)t;
        if (region) made = rbt_mesh_add_to_set(mesh, region, RBT_SET_TETS, &tet, 1, error);
    }
    free(nearest);
    return made && rbt_mesh_finish_sets(mesh, error);
}

static rbt_mesh *mesh_parts(const rbt_primitive *parts, size_t count, double blend, double cell, double resolution,
                            bool largest_only, rbt_error *error) {
    rbt_sdf *sdf = rbt_sdf_new(parts, count, blend, error);
    if (!sdf) return NULL;
    rbt_distance body = {rbt_sdf_distance, sdf, rbt_sdf_box(sdf)};
    double longest = 0;
    for (int k = 0; k < 3; k++) longest = fmax(longest, body.box.max[k] - body.box.min[k]);
    rbt_mesh *mesh = rbt_stuff(&body, resolution > 0 ? longest / resolution : cell, largest_only, error);
    if (mesh && !name_regions(mesh, sdf, parts, error)) {
        rbt_mesh_free(mesh);
        mesh = NULL;
    }
    rbt_sdf_free(sdf);
    return mesh;
}

rbt_mesh *rbt_make_blend(const void *parameters, rbt_error *error) {
    static const rbt_primitive example[] = {
        {"ball", RBT_CAPSULE, .radius = {0.5, 0.5}},
        {"bar", RBT_CAPSULE, .a = {-1, 0, 0}, .b = {1, 0, 0}, .radius = {0.2, 0.2}}};
    const rbt_blend_shape *p = parameters;
    if (!p->parts.count) return mesh_parts(example, 2, p->blend, p->cell, 0, p->largest_only, error);
    rbt_primitive *parts = rbt_array_new(p->parts.count, sizeof *parts, "parts", error);
    bool made = parts != NULL;
    for (size_t i = 0; i < p->parts.count && made; i++) {
        made = read_part(&p->parts.items[i], i, &parts[i], error);
        if (isnan(parts[i].blend)) parts[i].blend = p->blend;
    }
    rbt_mesh *mesh = made ? mesh_parts(parts, p->parts.count, 0, p->cell, 0, p->largest_only, error) : NULL;
    free(parts);
    return mesh;
}

// The node set inner: the nodes inside the creature's capsules and ellipsoids, made thinner. Thin limbs may have none.
static bool name_inner(rbt_mesh *mesh, const rbt_creature *creature, rbt_error *error) {
    size_t count = creature->part_count;
    rbt_primitive *parts = rbt_array_new(count, sizeof *parts, "parts", error);
    if (!parts) return false;
    for (size_t i = 0; i < count; i++) {
        parts[i] = creature->parts[i];
        for (int k = 0; k < 2; k++) parts[i].radius[k] *= creature->inner;
        for (int k = 0; k < 3 && parts[i].kind == RBT_ELLIPSOID; k++) parts[i].b[k] *= creature->inner;
    }
    rbt_sdf *sdf = rbt_sdf_new(parts, count, 0, error);
    bool made = sdf != NULL;
    for (size_t i = 0; i < mesh->node_count && made; i++) {
        int32_t node = (int32_t)i;
        if (rbt_sdf_distance(sdf, mesh->nodes + 3 * i) <= 0)
            made = rbt_mesh_add_to_set(mesh, "inner", RBT_SET_NODES, &node, 1, error);
    }
    rbt_sdf_free(sdf);
    free(parts);
    return made && rbt_mesh_finish_sets(mesh, error);
}

rbt_mesh *rbt_make_creature(const rbt_creature *creature, const rbt_creature_shape *p, rbt_error *error) {
    rbt_mesh *mesh =
        mesh_parts(creature->parts, creature->part_count, creature->blend, 0, p->resolution, true, error);
    if (mesh && creature->inner > 0 && !name_inner(mesh, creature, error)) {
        rbt_mesh_free(mesh);
        return NULL;
    }
    if (!mesh) return NULL;
    rbt_box box = rbt_box_empty();
    for (size_t i = 0; i < mesh->node_count; i++) rbt_box_include(&box, mesh->nodes + 3 * i, 0);
    double longest = 0, base[3];
    for (int k = 0; k < 3; k++) {
        longest = fmax(longest, box.max[k] - box.min[k]);
        base[k] = k == 1 ? box.min[k] : (box.min[k] + box.max[k]) / 2;
    }
    for (size_t i = 0; i < 3 * mesh->node_count; i++)
        mesh->nodes[i] = (mesh->nodes[i] - base[i % 3]) * (p->size / longest);
    return mesh;
}
