#include "view/scenery.h"

#include "base/memory.h"
#include "math/vec3.h"

#include <math.h>

enum { AROUND = 96, RINGS = 48 };  // facets of round things

static bool add_node(rbt_scenery *s, double x, double y, double z, rbt_error *error) {
    size_t need = 3 * (s->node_count + 1);
    if (!rbt_array_reserve((void **)&s->nodes, &s->node_capacity, need, sizeof(double), "obstacles", error))
        return false;
    double *p = s->nodes + 3 * s->node_count++;
    p[0] = x;
    p[1] = y;
    p[2] = z;
    return true;
}

static bool add_triangle(rbt_scenery *s, size_t a, size_t b, size_t c, rbt_error *error) {
    size_t need = 3 * (s->triangle_count + 1);
    if (!rbt_array_reserve((void **)&s->triangles, &s->triangle_capacity, need, sizeof(int32_t), "obstacles", error))
        return false;
    int32_t *t = s->triangles + 3 * s->triangle_count++;
    t[0] = (int32_t)a;
    t[1] = (int32_t)b;
    t[2] = (int32_t)c;
    return true;
}

static bool add_box(rbt_scenery *s, const double low[3], const double high[3], rbt_error *error) {
    static const int faces[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                    {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    size_t base = s->node_count;
    for (int i = 0; i < 8; i++)
        if (!add_node(s, i & 1 ? high[0] : low[0], i & 2 ? high[1] : low[1], i & 4 ? high[2] : low[2], error))
            return false;
    for (int f = 0; f < 6; f++)
        for (int k = 1; k < 3; k++)
            if (!add_triangle(s, base + (size_t)faces[f][0], base + (size_t)faces[f][k],
                              base + (size_t)faces[f][k + 1], error))
                return false;
    return true;
}

// Two unit vectors at right angles to a unit vector and to each other.
static void across(const double axis[3], double u[3], double v[3]) {
    const double helper[3] = {fabs(axis[0]) < 0.5, fabs(axis[0]) >= 0.5, 0};
    rbt_cross(axis, helper, u);
    rbt_normalize(u, u);
    rbt_cross(axis, u, v);
}

// Everything within `radius` of the segment a-b; a ball if both are the same. Rings of nodes from pole to pole, the
// lower half around a, the upper half around b.
static bool add_capsule(rbt_scenery *s, const double a[3], const double b[3], double radius, rbt_error *error) {
    double axis[3], u[3], v[3];
    rbt_subtract(b, a, axis);
    rbt_normalize(axis, axis);
    across(axis, u, v);
    size_t base = s->node_count;
    for (int ring = 0; ring <= RINGS; ring++) {
        double polar = M_PI * ring / RINGS, along = -cos(polar) * radius, wide = sin(polar) * radius;
        const double *center = 2 * ring < RINGS ? a : b;
        for (int i = 0; i < AROUND; i++) {
            double angle = 2 * M_PI * i / AROUND, p[3];
            for (int k = 0; k < 3; k++)
                p[k] = center[k] + along * axis[k] + wide * (cos(angle) * u[k] + sin(angle) * v[k]);
            if (!add_node(s, p[0], p[1], p[2], error)) return false;
        }
    }
    for (size_t ring = 0; ring < RINGS; ring++)
        for (size_t i = 0; i < AROUND; i++) {
            size_t p = base + ring * AROUND + i, q = base + ring * AROUND + (i + 1) % AROUND;
            if (!add_triangle(s, p, q, q + AROUND, error) || !add_triangle(s, p, q + AROUND, p + AROUND, error))
                return false;
        }
    return true;
}

static bool add_plane(rbt_scenery *s, const rbt_obstacle_plane *plane, const double low[3], const double high[3],
                      rbt_error *error) {
    double normal[3], u[3], v[3], middle[3], size[3];
    rbt_normalize(plane->normal, normal);
    if (normal[1] > 1 - 1e-6) {
        s->floor = s->has_floor ? fmax(s->floor, plane->point[1]) : plane->point[1];
        s->has_floor = true;
        return true;
    }
    across(normal, u, v);
    rbt_subtract(high, low, size);
    for (int k = 0; k < 3; k++) middle[k] = 0.5 * (low[k] + high[k]) - plane->point[k];
    double half = 0.6 * rbt_length(size), above = rbt_dot(middle, normal);
    size_t base = s->node_count;
    for (int i = 0; i < 4; i++) {
        double a = i == 1 || i == 2 ? half : -half, b = i > 1 ? half : -half, p[3];
        for (int k = 0; k < 3; k++) p[k] = plane->point[k] + middle[k] - above * normal[k] + a * u[k] + b * v[k];
        if (!add_node(s, p[0], p[1], p[2], error)) return false;
    }
    return add_triangle(s, base, base + 1, base + 2, error) && add_triangle(s, base, base + 2, base + 3, error);
}

bool rbt_scenery_build(rbt_scenery *scenery, const rbt_obstacle *obstacles, size_t count, const double low[3],
                       const double high[3], rbt_error *error) {
    *scenery = (rbt_scenery){0};
    bool good = true;
    for (size_t i = 0; good && i < count; i++) {
        const void *value = obstacles[i].value;
        if (obstacles[i].which == RBT_OBSTACLE_PLANE) good = add_plane(scenery, value, low, high, error);
        if (obstacles[i].which == RBT_OBSTACLE_BOX) {
            const rbt_obstacle_box *box = value;
            good = add_box(scenery, box->min, box->max, error);
        }
        if (obstacles[i].which == RBT_OBSTACLE_SPHERE) {
            const rbt_obstacle_sphere *sphere = value;
            good = add_capsule(scenery, sphere->center, sphere->center, sphere->radius, error);
        }
        if (obstacles[i].which == RBT_OBSTACLE_CAPSULE) {
            const rbt_obstacle_capsule *capsule = value;
            good = add_capsule(scenery, capsule->a, capsule->b, capsule->radius, error);
        }
    }
    if (!good) rbt_scenery_free(scenery);
    return good;
}

void rbt_scenery_free(rbt_scenery *scenery) {
    free(scenery->nodes);
    free(scenery->triangles);
    *scenery = (rbt_scenery){0};
}
