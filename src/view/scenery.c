#include "view/scenery.h"

#include "base/memory.h"
#include "math/vec3.h"
#include "model/obstacle_nodes.h"

#include <math.h>

// Facets: of round things for their outline, of flat and straight ones because light is known at the vertices.
enum { AROUND = 64, RINGS = 32, PIECES = 24 };

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

// The parallelogram corner + [0, 1] u + [0, 1] v, facing u x v.
static bool add_patch(rbt_scenery *s, const double corner[3], const double u[3], const double v[3],
                      rbt_error *error) {
    size_t base = s->node_count;
    for (int j = 0; j <= PIECES; j++)
        for (int i = 0; i <= PIECES; i++) {
            double p[3] = {corner[0], corner[1], corner[2]};
            rbt_add_scaled(p, (double)i / PIECES, u);
            rbt_add_scaled(p, (double)j / PIECES, v);
            if (!add_node(s, p[0], p[1], p[2], error)) return false;
        }
    for (size_t j = 0; j < PIECES; j++)
        for (size_t i = 0; i < PIECES; i++) {
            size_t p = base + j * (PIECES + 1) + i, q = p + PIECES + 1;
            if (!add_triangle(s, p, p + 1, q + 1, error) || !add_triangle(s, p, q + 1, q, error)) return false;
        }
    return true;
}

static bool add_box(rbt_scenery *s, const double low[3], const double high[3], rbt_error *error) {
    for (int axis = 0; axis < 3; axis++) {
        int next = (axis + 1) % 3, last = (axis + 2) % 3;
        double u[3] = {0}, v[3] = {0}, corner[3] = {low[0], low[1], low[2]};
        u[next] = high[next] - low[next];
        v[last] = high[last] - low[last];
        if (!add_patch(s, corner, v, u, error)) return false;
        corner[axis] = high[axis];
        if (!add_patch(s, corner, u, v, error)) return false;
    }
    return true;
}

static bool add_ring(rbt_scenery *s, const double centre[3], const double u[3], const double v[3], double radius,
                     rbt_error *error) {
    for (int i = 0; i < AROUND; i++) {
        double angle = 2 * M_PI * i / AROUND, p[3] = {centre[0], centre[1], centre[2]};
        rbt_add_scaled(p, radius * cos(angle), u);
        rbt_add_scaled(p, radius * sin(angle), v);
        if (!add_node(s, p[0], p[1], p[2], error)) return false;
    }
    return true;
}

// Everything within `radius` of the segment a-b; a ball if both are the same. Rings from pole to pole: half a ball
// around a, the straight part, half a ball around b.
static bool add_capsule(rbt_scenery *s, const double a[3], const double b[3], double radius, rbt_error *error) {
    double axis[3], u[3], v[3], length;
    rbt_subtract(b, a, axis);
    length = rbt_length(axis);
    rbt_normalize(axis, axis);
    rbt_across(axis, u, v);
    size_t base = s->node_count, pieces = length > 0 ? PIECES : 0, rings = RINGS + pieces;
    for (size_t ring = 0; ring <= rings; ring++) {
        bool first = ring <= RINGS / 2, straight = !first && ring < RINGS / 2 + pieces;
        double polar = first ? M_PI * (double)ring / RINGS : M_PI * (double)(ring - pieces) / RINGS, along = 0;
        if (straight) {
            polar = M_PI / 2;
            along = length * (double)(ring - RINGS / 2) / (double)pieces;
        } else if (!first) along = length;
        double centre[3] = {a[0], a[1], a[2]};
        rbt_add_scaled(centre, along - cos(polar) * radius, axis);
        if (!add_ring(s, centre, u, v, sin(polar) * radius, error)) return false;
    }
    for (size_t ring = 0; ring < rings; ring++)
        for (size_t i = 0; i < AROUND; i++) {
            size_t p = base + ring * AROUND + i, q = base + ring * AROUND + (i + 1) % AROUND;
            if (!add_triangle(s, p, q, q + AROUND, error) || !add_triangle(s, p, q + AROUND, p + AROUND, error))
                return false;
        }
    return true;
}

static bool moves(const rbt_motion_group *motion) {
    return motion->motion_count > 0 || (motion->guide && *motion->guide);
}

static bool add_plane(rbt_scenery *s, const rbt_obstacle_plane *plane, const rbt_motion_group *motion,
                      const rbt_scenery_sight *sight, rbt_error *error) {
    double normal[3], point[3], u[3], v[3], middle[3], size[3], from[3];
    rbt_normalize(plane->normal, normal);
    if (normal[1] > 1 - 1e-6 && !moves(motion)) {
        s->floor = s->has_floor ? fmax(s->floor, plane->point[1]) : plane->point[1];
        s->has_floor = true;
        return true;
    }
    rbt_motion_position(motion, plane->point, sight->time, point);
    if (sight->eye) {
        rbt_subtract(sight->eye, point, from);
        if (rbt_dot(from, normal) <= 0) return true;
    }
    rbt_across(normal, u, v);
    rbt_subtract(sight->high, sight->low, size);
    for (int k = 0; k < 3; k++) middle[k] = 0.5 * (sight->low[k] + sight->high[k]) - point[k];
    double half = 0.6 * rbt_length(size), above = rbt_dot(middle, normal);
    double corner[3];
    for (int k = 0; k < 3; k++) {
        corner[k] = point[k] + middle[k] - above * normal[k] - half * (u[k] + v[k]);
        u[k] *= 2 * half;
        v[k] *= 2 * half;
    }
    return add_patch(s, corner, u, v, error);
}

// Where its sequence has it. Both sides of every triangle: an open mesh may be looked at from either.
static bool add_mesh(rbt_scenery *s, const rbt_obstacle_geometry *g, double time, rbt_error *error) {
    size_t base = s->node_count;
    for (size_t i = 0; i < g->node_count; i++) {
        double x[3];
        rbt_obstacle_geometry_node(g, i, time, x);
        if (!add_node(s, x[0], x[1], x[2], error)) return false;
    }
    for (size_t t = 0; t < g->triangle_count; t++) {
        const int32_t *corner = g->triangles + 3 * t;
        size_t a = base + (size_t)corner[0], b = base + (size_t)corner[1], c = base + (size_t)corner[2];
        if (!add_triangle(s, a, b, c, error) || !add_triangle(s, a, c, b, error)) return false;
    }
    return true;
}

static bool add_obstacle(rbt_scenery *s, const rbt_obstacles *obstacles, size_t number,
                         const rbt_scenery_sight *sight, rbt_error *error) {
    const rbt_obstacle *obstacle = &obstacles->items[number];
    const rbt_obstacle_geometry *geometry = rbt_obstacle_geometry_of(obstacles, number);
    const void *value = obstacle->value;
    rbt_motion_group motion = sight->motions ? sight->motions[number] : rbt_obstacle_motion(obstacle);
    size_t first = s->node_count;
    bool good = true;
    if (obstacle->which == RBT_OBSTACLE_PLANE) return add_plane(s, value, &motion, sight, error);
    if (obstacle->which == RBT_OBSTACLE_BOX) {
        const rbt_obstacle_box *box = value;
        good = add_box(s, box->min, box->max, error);
    }
    if (obstacle->which == RBT_OBSTACLE_SPHERE) {
        const rbt_obstacle_sphere *sphere = value;
        good = add_capsule(s, sphere->centre, sphere->centre, sphere->radius, error);
    }
    if (obstacle->which == RBT_OBSTACLE_CAPSULE) {
        const rbt_obstacle_capsule *capsule = value;
        good = add_capsule(s, capsule->a, capsule->b, capsule->radius, error);
    }
    if (geometry) good = add_mesh(s, geometry, sight->time, error);
    for (size_t i = first; moves(&motion) && i < s->node_count; i++) {  // rigid, so that every point may go by itself
        double start[3] = {s->nodes[3 * i], s->nodes[3 * i + 1], s->nodes[3 * i + 2]};
        rbt_motion_position(&motion, start, sight->time, s->nodes + 3 * i);
    }
    return good;
}

bool rbt_scenery_build(rbt_scenery *scenery, const rbt_obstacles *obstacles, const rbt_scenery_sight *sight,
                       rbt_error *error) {
    *scenery = (rbt_scenery){0};
    bool good = true;
    for (size_t i = 0; good && i < obstacles->count; i++) good = add_obstacle(scenery, obstacles, i, sight, error);
    if (!good) rbt_scenery_free(scenery);
    return good;
}

void rbt_scenery_free(rbt_scenery *scenery) {
    free(scenery->nodes);
    free(scenery->triangles);
    *scenery = (rbt_scenery){0};
}
