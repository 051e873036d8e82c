// Shells for contact: a ribbon laid as half of a loose reef knot, a sphere, a bed of spikes.
#include "mesh/build.h"
#include "mesh/shapes.h"

#include <math.h>

// ---- Half a reef knot

static const rbt_field REEF_FIELDS[] = {
    {"strand", RBT_INT, offsetof(rbt_reef_shape, strand), .max = 1,
     .doc = "Which of the two ribbons: 0 with its bight to the right and its ends to the left, or 1, the other way "
            "round."},
    {"length", RBT_REAL, offsetof(rbt_reef_shape, length), .fallback = {0.27}, RBT_SIZE_LIMITS,
     .doc = "Length of the ribbon's middle line; at least as long as the bight needs."},
    {"width", RBT_REAL, offsetof(rbt_reef_shape, width), .fallback = {0.02}, RBT_SIZE_LIMITS,
     .doc = "Width of the ribbon, along y."},
    {"clearance", RBT_REAL, offsetof(rbt_reef_shape, clearance), .fallback = {0.006}, RBT_SIZE_LIMITS,
     .doc = "Free distance between the ribbons where they cross."},
    {"cells_along", RBT_INT, offsetof(rbt_reef_shape, cells_along), .fallback = {312}, .min = 8, .max = 1000000,
     .doc = "Cells along the length; two triangles each."},
    {"cells_across", RBT_INT, offsetof(rbt_reef_shape, cells_across), .fallback = {16}, .min = 1, .max = 100000,
     .doc = "Cells across the width."}};
const rbt_record RBT_REEF_PARAMETERS = {"reef-ribbon shape",
                                        "A ribbon laid as one strand of a loose reef knot in the plane y = 0, "
                                        "standing on its edge; the node sets left and right "
                                        "are its two ends.",
                                        sizeof(rbt_reef_shape), RBT_FIELDS(REEF_FIELDS)};

// The middle line of strand 0: from its upper end along +x, around the bight and back. Both legs are near each other where they pass
// through the other strand's bight, far apart around its legs; they rise and sink by `lift` to pass over, under and over.
typedef struct reef_line {
    double tail, half, narrow, wide, lift;
} reef_line;

static double smooth(double s) { return s <= 0 ? 0 : s >= 1 ? 1 : s * s * (3 - 2 * s); }

static void reef_leg(const reef_line *l, double x, double p[3]) {
    double s = (x + l->half) / (2 * l->half);
    p[0] = x;
    p[1] = l->lift * (1 - 2 * (smooth(2 * s) - smooth(2 * s - 1)));
    p[2] = l->narrow + (l->wide - l->narrow) * smooth(s);
}

// u from 0 to 3: leg, bight, leg back
static void reef_point(const reef_line *l, double u, double p[3]) {
    double side = u > 1.5 ? -1 : 1, from_end = u > 1.5 ? 3 - u : u;
    if (from_end <= 1) reef_leg(l, -l->half - l->tail + from_end * (2 * l->half + l->tail), p);
    else {
        double angle = (from_end - 1) * M_PI;
        p[0] = l->half + l->wide * sin(angle);
        p[1] = l->lift;
        p[2] = l->wide * cos(angle);
    }
    p[2] = side > 0 || from_end > 1 ? side * fabs(p[2]) : -p[2];
}

enum { SAMPLES = 6000 };

static double reef_length(const reef_line *l, double *at) {
    double before[3], here[3], sum = 0;
    reef_point(l, 0, before);
    for (int i = 0; i <= SAMPLES; i++) {
        reef_point(l, 3.0 * i / SAMPLES, here);
        sum += sqrt(pow(here[0] - before[0], 2) + pow(here[1] - before[1], 2) + pow(here[2] - before[2], 2));
        if (at) at[i] = sum;
        for (int k = 0; k < 3; k++) before[k] = here[k];
    }
    return sum;
}

rbt_mesh *rbt_make_reef(const void *parameters, rbt_error *error) {
    const rbt_reef_shape *p = parameters;
    double lift = 0.5 * (p->width + p->clearance), *at = NULL;
    reef_line line = {0, 1.3 * p->width, 0.4 * p->width, p->width, lift};
    double least = reef_length(&line, NULL);
    if (p->length < least + p->width) {
        rbt_fail(error, "a ribbon %g m wide needs a length of at least %g m for its part of the knot, but has %g m",
                 p->width, least + p->width, p->length);
        return NULL;
    }
    line.tail = 0.5 * (p->length - least);
    rbt_sheet_shape flat = {p->length, p->width, p->cells_along, p->cells_across};
    rbt_mesh *mesh = rbt_make_sheet(&flat, error);
    if (!mesh || !(at = rbt_array_new(SAMPLES + 1, sizeof *at, "a knot", error))) {
        rbt_mesh_free(mesh);
        return NULL;
    }
    double length = reef_length(&line, at), turn = p->strand ? -1 : 1;
    for (size_t n = 0; n < mesh->node_count; n++) {
        double *x = mesh->nodes + 3 * n, target = (x[0] / p->length + 0.5) * length, across = x[2], point[3];
        int low = 0, high = SAMPLES;
        while (high - low > 1) {
            int middle = (low + high) / 2;
            if (at[middle] <= target) low = middle;
            else high = middle;
        }
        double share = (target - at[low]) / (at[high] - at[low]);
        reef_point(&line, 3.0 * (low + (share < 0 ? 0 : share > 1 ? 1 : share)) / SAMPLES, point);
        x[0] = turn * point[0];
        x[1] = turn * point[1] + across;
        x[2] = point[2];
    }
    free(at);
    return mesh;
}

// ---- A sphere

static const rbt_field SPHERE_FIELDS[] = {
    {"radius", RBT_REAL, offsetof(rbt_sphere_shape, radius), .fallback = {0.5}, RBT_SIZE_LIMITS, .doc = "Radius."},
    {"rings", RBT_INT, offsetof(rbt_sphere_shape, rings), .fallback = {8}, .min = 1, .max = 10000,
     .doc = "Rings of nodes between the poles on the y axis."},
    {"segments", RBT_INT, offsetof(rbt_sphere_shape, segments), .fallback = {12}, .min = 3, .max = 10000,
     .doc = "Nodes in a ring."}};
const rbt_record RBT_SPHERE_PARAMETERS = {"sphere shape", "The surface of a ball, as triangles.",
                                          sizeof(rbt_sphere_shape), RBT_FIELDS(SPHERE_FIELDS)};

rbt_mesh *rbt_make_sphere(const void *parameters, rbt_error *error) {
    const rbt_sphere_shape *p = parameters;
    size_t rings = (size_t)p->rings, segments = (size_t)p->segments, nodes = 2 + rings * segments;
    rbt_mesh *mesh = rbt_mesh_new(error);
    if (!mesh || !rbt_mesh_allocate(mesh, nodes, 0, 2 * rings * segments, 0, error)) {
        rbt_mesh_free(mesh);
        return NULL;
    }
    int32_t *out = mesh->triangles, south = (int32_t)nodes - 2, north = south + 1;
    mesh->nodes[3 * (size_t)south + 1] = -p->radius;
    mesh->nodes[3 * (size_t)north + 1] = p->radius;
    for (size_t r = 0; r < rings; r++)
        for (size_t s = 0; s < segments; s++) {
            // Odd rings are turned by half a segment: the triangles are nearly equilateral then.
            double height = M_PI * ((double)(r + 1) / (double)(rings + 1) - 0.5);
            double angle = 2 * M_PI * ((double)s + 0.5 * (double)(r % 2)) / (double)segments;
            double *x = mesh->nodes + 3 * (r * segments + s);
            x[0] = p->radius * cos(height) * cos(angle);
            x[1] = p->radius * sin(height);
            x[2] = p->radius * cos(height) * sin(angle);
            int32_t a = (int32_t)(r * segments + s), b = (int32_t)(r * segments + (s + 1) % segments);
            size_t even = (s + 1) % segments, up = (r + 1) * segments;
            if (r == 0) *out++ = south, *out++ = a, *out++ = b;
            if (r + 1 == rings) {
                *out++ = north, *out++ = b, *out++ = a;
                continue;
            }
            int32_t c = (int32_t)(up + s), d = (int32_t)(up + even);
            int32_t both[6] = {a, c, r % 2 ? d : b, r % 2 ? a : b, r % 2 ? d : c, r % 2 ? b : d};
            for (int k = 0; k < 6; k++) *out++ = both[k];
        }
    if (rbt_mesh_finish_sets(mesh, error)) return mesh;
    rbt_mesh_free(mesh);
    return NULL;
}

// ---- A bed of spikes

static const rbt_field SPIKES_FIELDS[] = {{"size", RBT_REAL, offsetof(rbt_spikes_shape, size), .fallback = {0.2},
                                           RBT_SIZE_LIMITS, .doc = "Side of the square plate in the plane y = 0."},
                                          {"height", RBT_REAL, offsetof(rbt_spikes_shape, height),
                                           .fallback = {0.078}, RBT_SIZE_LIMITS, .doc = "Of the spikes."},
                                          {"apex", RBT_REAL, offsetof(rbt_spikes_shape, apex), .fallback = {3.47},
                                           .flags = RBT_ABOVE, .max = 60, .unit = "degrees",
                                           .doc = "Angle of each of a spike's six triangles at its point."},
                                          {"count", RBT_INT, offsetof(rbt_spikes_shape, count), .fallback = {6},
                                           .min = 1, .max = 1000, .doc = "Spikes along each side."}};
const rbt_record RBT_SPIKES_PARAMETERS = {"spikes shape", "A square plate with spikes of six sliver triangles each.",
                                          sizeof(rbt_spikes_shape), RBT_FIELDS(SPIKES_FIELDS)};

rbt_mesh *rbt_make_spikes(const void *parameters, rbt_error *error) {
    const rbt_spikes_shape *p = parameters;
    size_t count = (size_t)p->count * (size_t)p->count;
    rbt_mesh *mesh = rbt_mesh_new(error);
    if (!mesh || !rbt_mesh_allocate(mesh, 4 + 7 * count, 0, 2 + 6 * count, 0, error)) {
        rbt_mesh_free(mesh);
        return NULL;
    }
    static const int32_t plate[6] = {0, 2, 3, 0, 3, 1};
    for (size_t i = 0; i < 4; i++) {
        mesh->nodes[3 * i] = p->size * ((double)(i % 2) - 0.5);
        mesh->nodes[3 * i + 2] = p->size * ((double)(i / 2) - 0.5);
    }
    for (size_t i = 0; i < 6; i++) mesh->triangles[i] = plate[i];
    // The spikes stand a little above the plate, which they would touch otherwise.
    double radius = 2 * p->height * tan(0.5 * p->apex * M_PI / 180), above = 0.01 * p->height;
    for (size_t s = 0; s < count; s++) {
        double x = p->size * (((double)(s % (size_t)p->count) + 0.5) / p->count - 0.5);
        double z = p->size * (((double)(s / (size_t)p->count) + 0.5) / p->count - 0.5);
        size_t first = 4 + 7 * s;
        double *tip = mesh->nodes + 3 * first;
        tip[0] = x, tip[1] = above + p->height, tip[2] = z;
        for (size_t k = 0; k < 6; k++) {
            double *foot = tip + 3 * (k + 1), angle = M_PI / 3 * (double)k;
            foot[0] = x + radius * cos(angle), foot[1] = above, foot[2] = z + radius * sin(angle);
            int32_t *t = mesh->triangles + 6 + 3 * (6 * s + k);
            t[0] = (int32_t)first, t[1] = (int32_t)(first + 1 + (k + 1) % 6), t[2] = (int32_t)(first + 1 + k);
        }
    }
    if (rbt_mesh_finish_sets(mesh, error)) return mesh;
    rbt_mesh_free(mesh);
    return NULL;
}
