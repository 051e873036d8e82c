#include "energy/obstacle.h"

#include "math/vec3.h"

#include <string.h>

// Depth of x below the obstacle's surface (positive inside) and the outward unit normal there.
static double depth(const rbt_obstacle *o, const double x[3], double n[3], double *stiffness) {
    double r[3];
    switch ((rbt_obstacle_kind)o->which) {
    case RBT_OBSTACLE_PLANE: {
        const rbt_obstacle_plane *plane = o->value;
        *stiffness = plane->stiffness;
        rbt_normalize(plane->normal, n);
        rbt_subtract(x, plane->point, r);
        return -rbt_dot(r, n);
    }
    case RBT_OBSTACLE_SPHERE: {
        const rbt_obstacle_sphere *sphere = o->value;
        *stiffness = sphere->stiffness;
        rbt_subtract(x, sphere->centre, r);
        rbt_normalize(r, n);
        return sphere->radius - rbt_length(r);
    }
    case RBT_OBSTACLE_BOX: {  // inside: the way out is the nearest face
        const rbt_obstacle_box *box = o->value;
        *stiffness = box->stiffness;
        double shallowest = INFINITY;
        memset(n, 0, 3 * sizeof *n);
        int face = 0;
        for (int i = 0; i < 3; i++) {
            double below = x[i] - box->min[i], above = box->max[i] - x[i];
            if (below < shallowest) shallowest = below, face = -(i + 1);
            if (above < shallowest) shallowest = above, face = i + 1;
        }
        n[(face < 0 ? -face : face) - 1] = face < 0 ? -1 : 1;
        return shallowest;
    }
    case RBT_OBSTACLE_CAPSULE: {
        const rbt_obstacle_capsule *capsule = o->value;
        *stiffness = capsule->stiffness;
        double ab[3], ax[3];
        rbt_subtract(capsule->b, capsule->a, ab);
        rbt_subtract(x, capsule->a, ax);
        double square = rbt_dot(ab, ab), s = square > 0 ? rbt_dot(ax, ab) / square : 0;
        s = s < 0 ? 0 : s > 1 ? 1 : s;
        for (int i = 0; i < 3; i++) r[i] = ax[i] - s * ab[i];
        rbt_normalize(r, n);
        return capsule->radius - rbt_length(r);
    }
    case RBT_OBSTACLE_MESH:
    case RBT_OBSTACLE_KINDS: break;
    }
    *stiffness = 0;
    return -INFINITY;
}

double rbt_obstacles_depth(const rbt_obstacles *obstacles, const double x[3]) {
    double most = -INFINITY, n[3], k;
    for (size_t o = 0; o < obstacles->count; o++) most = fmax(most, depth(&obstacles->items[o], x, n, &k));
    return most;
}

double rbt_obstacle_stiffness(const rbt_obstacle *o, double normal[3]) {
    double stiffness = 0, anywhere[3] = {0};
    depth(o, anywhere, normal, &stiffness);
    if (o->which != RBT_OBSTACLE_PLANE) memset(normal, 0, 3 * sizeof *normal);
    return stiffness;
}

double rbt_obstacles_node(const rbt_obstacles *obstacles, const double x[3], double area, double force[3],
                          double stiffness[9]) {
    double energy = 0;
    if (force) memset(force, 0, 3 * sizeof *force);
    if (stiffness) memset(stiffness, 0, 9 * sizeof *stiffness);
    for (size_t o = 0; o < obstacles->count; o++) {
        double n[3], k, d = depth(&obstacles->items[o], x, n, &k);
        if (!(d > 0)) continue;
        energy += 0.5 * k * area * d * d;
        if (force) rbt_add_scaled(force, k * area * d, n);
        if (stiffness)
            for (int i = 0; i < 9; i++) stiffness[i] += k * area * n[i / 3] * n[i % 3];
    }
    return energy;
}
