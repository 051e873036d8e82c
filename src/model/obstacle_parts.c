#include "model/obstacle_parts.h"

#include "base/memory.h"
#include "math/vec3.h"

#include <string.h>

// A side of a box is where one of the bits of its corners stays, in two triangles.
static void add_box(rbt_obstacle_parts *p, int32_t first) {
    for (int axis = 0; axis < 3; axis++)
        for (int end = 0; end < 2; end++) {
            int u = 1 << (axis + 1) % 3, v = 1 << (axis + 2) % 3, base = end << axis;
            const int quad[4] = {base, base + u, base + u + v, base + v};
            for (int half = 0; half < 2; half++, p->triangle_count++)
                for (int c = 0; c < 3; c++)
                    p->triangles[3 * p->triangle_count + (size_t)c] = first + quad[c ? c + half : 0];
        }
}

static void add_mesh(rbt_obstacle_parts *p, const rbt_obstacle_geometry *g, int32_t first) {
    for (size_t i = 0; i < 3 * g->triangle_count; i++)
        p->triangles[3 * p->triangle_count + i] = first + g->triangles[i];
    p->triangle_count += g->triangle_count;
}

static void add(rbt_obstacle_parts *p, size_t number) {
    const rbt_obstacle *o = &p->nodes.obstacles.items[number];
    const rbt_obstacle_geometry *g = rbt_obstacle_geometry_of(&p->nodes.obstacles, number);
    int32_t first = (int32_t)(p->first_node + p->nodes.count);
    rbt_obstacle_nodes_add(&p->nodes, number);
    switch ((rbt_obstacle_kind)o->which) {
    case RBT_OBSTACLE_PLANE: {
        rbt_half_space *half = &p->planes[p->plane_count++];
        half->node = first;
        rbt_moderate(((const rbt_obstacle_plane *)o->value)->normal, half->normal);
        break;
    }
    case RBT_OBSTACLE_SPHERE:
        p->rounds[p->round_count++] = (rbt_round){{first, -1}, ((const rbt_obstacle_sphere *)o->value)->radius};
        break;
    case RBT_OBSTACLE_CAPSULE:
        p->rounds[p->round_count++] =
            (rbt_round){{first, first + 1}, ((const rbt_obstacle_capsule *)o->value)->radius};
        break;
    case RBT_OBSTACLE_BOX: add_box(p, first); break;
    case RBT_OBSTACLE_MESH:
        if (g) add_mesh(p, g, first);
        break;
    case RBT_OBSTACLE_KINDS: break;
    }
    p->moving |= rbt_obstacle_is_prescribed(&p->nodes.obstacles, number, &p->nodes.motions[number]);
}

static bool take(rbt_obstacle_parts *p, rbt_error *error) {
    const rbt_obstacles *o = &p->nodes.obstacles;
    size_t nodes = 0, triangles = 0;
    for (size_t i = 0; i < o->count; i++) {
        nodes += rbt_obstacle_node_count(o, i);
        triangles += rbt_obstacle_triangle_count(o, i);
    }
    if (nodes > INT32_MAX - p->first_node || triangles > INT32_MAX / 3)
        return rbt_fail(error, "%zu nodes and %zu triangles of obstacles are too many", nodes, triangles);
    return (p->nodes.start = rbt_array_new(nodes, 3 * sizeof *p->nodes.start, "obstacles", error)) &&
           (p->nodes.obstacle = rbt_array_new(nodes, sizeof *p->nodes.obstacle, "obstacles", error)) &&
           (p->nodes.number = rbt_array_new(nodes, sizeof *p->nodes.number, "obstacles", error)) &&
           (p->own_motions = rbt_array_new(o->count, sizeof *p->own_motions, "obstacles", error)) &&
           (p->rounds = rbt_array_new(o->count, sizeof *p->rounds, "obstacles", error)) &&
           (p->planes = rbt_array_new(o->count, sizeof *p->planes, "obstacles", error)) &&
           (p->triangles = rbt_array_new(triangles, 3 * sizeof *p->triangles, "obstacles", error));
}

bool rbt_obstacle_parts_make(rbt_obstacle_parts *p, const rbt_obstacles *obstacles, const rbt_motion_group *motions,
                             size_t first_node, rbt_error *error) {
    *p = (rbt_obstacle_parts){.first_node = first_node, .nodes = {.obstacles = *obstacles}};
    if (!take(p, error)) {
        rbt_obstacle_parts_free(p);
        return false;
    }
    for (size_t i = 0; i < obstacles->count; i++) p->own_motions[i] = rbt_obstacle_motion(&obstacles->items[i]);
    p->nodes.motions = motions ? motions : p->own_motions;
    for (size_t i = 0; i < obstacles->count; i++) add(p, i);
    return true;
}

void rbt_obstacle_parts_free(rbt_obstacle_parts *p) {
    free(p->nodes.start);
    free(p->nodes.obstacle);
    free(p->nodes.number);
    free(p->own_motions);
    free(p->rounds);
    free(p->planes);
    free(p->triangles);
    *p = (rbt_obstacle_parts){0};
}
