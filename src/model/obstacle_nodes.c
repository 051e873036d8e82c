#include "model/obstacle_nodes.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { BOX_CORNERS = 8, BOX_TRIANGLES = 12 };

const rbt_obstacle_geometry *rbt_obstacle_geometry_of(const rbt_obstacles *o, size_t number) {
    return o->geometry && o->items[number].which == RBT_OBSTACLE_MESH ? o->geometry[number] : NULL;
}

size_t rbt_obstacle_node_count(const rbt_obstacles *o, size_t number) {
    const rbt_obstacle_geometry *g = rbt_obstacle_geometry_of(o, number);
    switch ((rbt_obstacle_kind)o->items[number].which) {
    case RBT_OBSTACLE_BOX: return BOX_CORNERS;
    case RBT_OBSTACLE_CAPSULE: return 2;
    case RBT_OBSTACLE_MESH: return g ? g->node_count : 0;
    default: return 1;
    }
}

size_t rbt_obstacle_triangle_count(const rbt_obstacles *o, size_t number) {
    const rbt_obstacle_geometry *g = rbt_obstacle_geometry_of(o, number);
    return g ? g->triangle_count : o->items[number].which == RBT_OBSTACLE_BOX ? BOX_TRIANGLES : 0;
}

#define MOTION_OF(type, value)                                                                                       \
    (rbt_motion_group) {                                                                                             \
        ((const type *)(value))->motions.count, ((const type *)(value))->motions.items, INFINITY, NULL, NULL         \
    }

rbt_motion_group rbt_obstacle_motion(const rbt_obstacle *o) {
    switch ((rbt_obstacle_kind)o->which) {
    case RBT_OBSTACLE_PLANE: return MOTION_OF(rbt_obstacle_plane, o->value);
    case RBT_OBSTACLE_SPHERE: return MOTION_OF(rbt_obstacle_sphere, o->value);
    case RBT_OBSTACLE_BOX: return MOTION_OF(rbt_obstacle_box, o->value);
    case RBT_OBSTACLE_CAPSULE: return MOTION_OF(rbt_obstacle_capsule, o->value);
    case RBT_OBSTACLE_MESH: return MOTION_OF(rbt_obstacle_mesh, o->value);
    default: return (rbt_motion_group){0};
    }
}

bool rbt_obstacle_is_prescribed(const rbt_obstacles *o, size_t number, const rbt_motion_group *motion) {
    const rbt_obstacle_geometry *g = rbt_obstacle_geometry_of(o, number);
    return motion->motion_count > 0 || (g && rbt_obstacle_geometry_moves(g));
}

static void add(rbt_obstacle_nodes *n, const double x[3], size_t obstacle, size_t number) {
    memcpy(n->start + 3 * n->count, x, 3 * sizeof *x);
    n->obstacle[n->count] = (int32_t)obstacle;
    n->number[n->count++] = (int32_t)number;
}

// Corner i of a box lies at max along axis k if bit k of i is set.
static void add_box(rbt_obstacle_nodes *n, const rbt_obstacle_box *box, size_t number) {
    for (size_t i = 0; i < BOX_CORNERS; i++) {
        double x[3];
        for (int k = 0; k < 3; k++) x[k] = i >> k & 1 ? box->max[k] : box->min[k];
        add(n, x, number, i);
    }
}

void rbt_obstacle_nodes_add(rbt_obstacle_nodes *n, size_t number) {
    const void *value = n->obstacles.items[number].value;
    const rbt_obstacle_geometry *g = rbt_obstacle_geometry_of(&n->obstacles, number);
    switch ((rbt_obstacle_kind)n->obstacles.items[number].which) {
    case RBT_OBSTACLE_PLANE: add(n, ((const rbt_obstacle_plane *)value)->point, number, 0); break;
    case RBT_OBSTACLE_SPHERE: add(n, ((const rbt_obstacle_sphere *)value)->centre, number, 0); break;
    case RBT_OBSTACLE_BOX: add_box(n, value, number); break;
    case RBT_OBSTACLE_CAPSULE:
        add(n, ((const rbt_obstacle_capsule *)value)->a, number, 0);
        add(n, ((const rbt_obstacle_capsule *)value)->b, number, 1);
        break;
    case RBT_OBSTACLE_MESH:
        for (size_t i = 0; g && i < g->node_count; i++) {
            double x[3];
            rbt_obstacle_geometry_node(g, i, 0, x);
            add(n, x, number, i);
        }
        break;
    case RBT_OBSTACLE_KINDS: break;
    }
}

void rbt_obstacle_nodes_at(const rbt_obstacle_nodes *n, size_t i, double t, double x[3]) {
    size_t o = (size_t)n->obstacle[i];
    const rbt_obstacle_geometry *g = rbt_obstacle_geometry_of(&n->obstacles, o);
    double start[3];
    if (g && g->frame_count > 1) rbt_obstacle_geometry_node(g, (size_t)n->number[i], t, start);
    else memcpy(start, n->start + 3 * i, sizeof start);
    rbt_motion_position(&n->motions[o], start, t, x);
}

// Times that are off a multiple by more are positions within a step: what is pressed by an obstacle that moves far in
// it may be nearer to it than a millionth of its way.
static const double ROUNDING = 16 * DBL_EPSILON;

void rbt_obstacle_nodes_place(const rbt_obstacle_nodes *n, double t, double step, double *x) {
    double steps = step > 0 ? t / step : 0, whole = floor(steps), share = steps - whole;
    double rounding = ROUNDING * (1 + steps);
    if (share > 1 - rounding) whole++;
    bool between = step > 0 && share > rounding && share < 1 - rounding;
    for (size_t i = 0; i < n->count; i++) {
        double *at = x + 3 * i, next[3];
        rbt_obstacle_nodes_at(n, i, step > 0 ? whole * step : t, at);
        if (!between) continue;
        rbt_obstacle_nodes_at(n, i, (whole + 1) * step, next);
        for (int k = 0; k < 3; k++) at[k] += share * (next[k] - at[k]);
    }
}
