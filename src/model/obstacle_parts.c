#include "model/obstacle_parts.h"

#include "base/memory.h"
#include "math/vec3.h"

#include <math.h>
#include <string.h>

enum { MAX_NODES = 8, MAX_TRIANGLES = 12 };  // of an obstacle: a box

#define SCRIPT_OF(type, value)                                                                                       \
    (rbt_motion_group) {                                                                                             \
        ((const type *)(value))->motions.count, ((const type *)(value))->motions.items, INFINITY, NULL, NULL         \
    }

rbt_motion_group rbt_obstacle_motion(const rbt_obstacle *o) {
    switch ((rbt_obstacle_kind)o->which) {
    case RBT_OBSTACLE_PLANE: return SCRIPT_OF(rbt_obstacle_plane, o->value);
    case RBT_OBSTACLE_SPHERE: return SCRIPT_OF(rbt_obstacle_sphere, o->value);
    case RBT_OBSTACLE_BOX: return SCRIPT_OF(rbt_obstacle_box, o->value);
    case RBT_OBSTACLE_CAPSULE: return SCRIPT_OF(rbt_obstacle_capsule, o->value);
    default: return (rbt_motion_group){0};
    }
}

static int32_t add_node(rbt_obstacle_parts *p, const double x[3], size_t number) {
    memcpy(p->start + 3 * p->node_count, x, 3 * sizeof *x);
    p->obstacle[p->node_count] = (int32_t)number;
    return (int32_t)(p->first_node + p->node_count++);
}

// Corner i lies at max along axis k if bit k of i is set; a side is where one of the bits stays, in two triangles.
static void add_box(rbt_obstacle_parts *p, const rbt_obstacle_box *box, size_t number) {
    int32_t corner[MAX_NODES];
    for (int i = 0; i < MAX_NODES; i++) {
        double x[3];
        for (int k = 0; k < 3; k++) x[k] = i >> k & 1 ? box->max[k] : box->min[k];
        corner[i] = add_node(p, x, number);
    }
    for (int axis = 0; axis < 3; axis++)
        for (int end = 0; end < 2; end++) {
            int u = 1 << (axis + 1) % 3, v = 1 << (axis + 2) % 3, base = end << axis;
            const int quad[4] = {base, base + u, base + u + v, base + v};
            for (int half = 0; half < 2; half++, p->triangle_count++)
                for (int c = 0; c < 3; c++)
                    p->triangles[3 * p->triangle_count + (size_t)c] = corner[quad[c ? c + half : 0]];
        }
}

static void add(rbt_obstacle_parts *p, const rbt_obstacle *o, size_t number) {
    switch ((rbt_obstacle_kind)o->which) {
    case RBT_OBSTACLE_PLANE: {
        const rbt_obstacle_plane *plane = o->value;
        rbt_half_space *half = &p->planes[p->plane_count++];
        half->node = add_node(p, plane->point, number);
        rbt_moderate(plane->normal, half->normal);
        break;
    }
    case RBT_OBSTACLE_SPHERE: {
        const rbt_obstacle_sphere *sphere = o->value;
        p->rounds[p->round_count++] = (rbt_round){{add_node(p, sphere->centre, number), -1}, sphere->radius};
        break;
    }
    case RBT_OBSTACLE_CAPSULE: {
        const rbt_obstacle_capsule *capsule = o->value;
        int32_t a = add_node(p, capsule->a, number), b = add_node(p, capsule->b, number);
        p->rounds[p->round_count++] = (rbt_round){{a, b}, capsule->radius};
        break;
    }
    case RBT_OBSTACLE_BOX: add_box(p, o->value, number); break;
    case RBT_OBSTACLE_KINDS: break;
    }
    p->moving |= rbt_obstacle_motion(o).motion_count > 0;
}

bool rbt_obstacle_parts_make(rbt_obstacle_parts *p, const rbt_obstacle *items, size_t count, size_t first_node,
                             rbt_error *error) {
    *p = (rbt_obstacle_parts){.first_node = first_node, .items = items};
    p->start = rbt_array_new(MAX_NODES * count, 3 * sizeof *p->start, "obstacles", error);
    p->obstacle = rbt_array_new(MAX_NODES * count, sizeof *p->obstacle, "obstacles", error);
    p->rounds = rbt_array_new(count, sizeof *p->rounds, "obstacles", error);
    p->planes = rbt_array_new(count, sizeof *p->planes, "obstacles", error);
    p->triangles = rbt_array_new(MAX_TRIANGLES * count, 3 * sizeof *p->triangles, "obstacles", error);
    if (!p->start || !p->obstacle || !p->rounds || !p->planes || !p->triangles) {
        rbt_obstacle_parts_free(p);
        return false;
    }
    for (size_t i = 0; i < count; i++) add(p, &items[i], i);
    return true;
}

void rbt_obstacle_parts_free(rbt_obstacle_parts *p) {
    free(p->start);
    free(p->obstacle);
    free(p->rounds);
    free(p->planes);
    free(p->triangles);
    *p = (rbt_obstacle_parts){0};
}

void rbt_obstacle_parts_place(const rbt_obstacle_parts *p, double t, double step, double *x) {
    double steps = step > 0 ? t / step : 0, whole = floor(steps), share = steps - whole;
    if (share > 1 - 1e-6) whole++;
    bool between = step > 0 && share > 1e-6 && share < 1 - 1e-6;
    for (size_t i = 0; i < p->node_count; i++) {
        rbt_motion_group motion = rbt_obstacle_motion(&p->items[p->obstacle[i]]);
        double *at = x + 3 * i, next[3];
        const double *start = p->start + 3 * i;
        rbt_motion_position(&motion, start, step > 0 ? whole * step : t, at);
        if (!between) continue;
        rbt_motion_position(&motion, start, (whole + 1) * step, next);
        for (int k = 0; k < 3; k++) at[k] += share * (next[k] - at[k]);
    }
}
