// Shells for contact: a sphere and a bed of spikes.
#include "mesh/core/build.h"
#include "mesh/generate/shapes.h"

#include <math.h>

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
