#include "model/obstacle_geometry.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

rbt_obstacle_geometry *rbt_obstacle_geometry_new(size_t nodes, size_t triangles, size_t frames, rbt_error *error) {
    rbt_obstacle_geometry *g = rbt_array_new(1, sizeof *g, "an obstacle", error);
    if (!g) return NULL;
    *g = (rbt_obstacle_geometry){.node_count = nodes, .triangle_count = triangles, .frame_count = frames, .rate = 1};
    atomic_init(&g->users, 1);
    g->triangles = rbt_array_new(triangles, 3 * sizeof *g->triangles, "an obstacle", error);
    g->frames = nodes && frames > SIZE_MAX / nodes
                    ? NULL
                    : rbt_array_new(nodes * frames, 3 * sizeof *g->frames, "the frames of an obstacle", error);
    if (g->triangles && g->frames) return g;
    rbt_obstacle_geometry_free(g);
    return NULL;
}

rbt_obstacle_geometry *rbt_obstacle_geometry_keep(rbt_obstacle_geometry *g) {
    if (g) atomic_fetch_add(&g->users, 1);
    return g;
}

void rbt_obstacle_geometry_free(rbt_obstacle_geometry *g) {
    if (!g || atomic_fetch_sub(&g->users, 1) > 1) return;
    free(g->triangles);
    free(g->frames);
    free(g);
}

bool rbt_obstacle_geometry_moves(const rbt_obstacle_geometry *g) { return g->frame_count > 1; }

void rbt_obstacle_geometry_node(const rbt_obstacle_geometry *g, size_t node, double t, double x[3]) {
    double s = (t - g->from) * g->rate, count = (double)g->frame_count;
    size_t k = 0, next = 0;
    if (g->loop && s >= count) s = fmod(s, count);
    if (s > 0) k = s < count ? (size_t)s : g->frame_count - 1;
    if (s > 0 && s < count) next = k + 1 < g->frame_count ? k + 1 : g->loop ? 0 : k;
    else next = k;
    const double *a = g->frames + 3 * (k * g->node_count + node), *b = g->frames + 3 * (next * g->node_count + node);
    double w = s - (double)k;
    for (int i = 0; i < 3; i++) x[i] = k == next ? a[i] : (1 - w) * a[i] + w * b[i];
}

bool rbt_obstacle_geometry_turns(const rbt_obstacle_geometry *g, double begin, double end) {
    if (g->frame_count < 2) return false;
    double k = floor((begin - g->from) * g->rate);  // the first corner after `begin` is that of k or k + 1
    for (int i = 0; i < 2; i++, k++) {
        double corner = g->from + k / g->rate;
        if (k >= 0 && (g->loop || k < (double)g->frame_count) && corner > begin && corner < end) return true;
    }
    return begin < g->from && g->from < end;
}
