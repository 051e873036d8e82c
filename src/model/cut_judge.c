#include "model/cut_judge.h"

#include "base/memory.h"
#include "model/obstacle_parts.h"

#include <string.h>

// Triangles, springs, particles and obstacles of a model
static bool build(const rbt_model *m, const rbt_obstacle_parts *o, rbt_intersect_mesh *mesh, rbt_error *error) {
    size_t nodes = m->node_count + o->nodes.count, triangle_count = m->triangle_count + o->triangle_count, rounds = 0;
    int32_t *triangles = rbt_array_new(triangle_count, 3 * sizeof *triangles, "triangles", error);
    rbt_round *round = rbt_array_new(m->node_count + o->round_count, sizeof *round, "particles", error);
    bool good = triangles && round;
    if (good && m->triangle_count) memcpy(triangles, m->triangles, 3 * m->triangle_count * sizeof *triangles);
    if (good && o->triangle_count)
        memcpy(triangles + 3 * m->triangle_count, o->triangles, 3 * o->triangle_count * sizeof *triangles);
    for (size_t i = 0; good && i < m->node_count; i++) {
        const rbt_body *body = &m->bodies[m->node_body[i]];
        if (body->kind == RBT_PARTICLES) round[rounds++] = (rbt_round){{(int32_t)i, -1}, body->particles.radius};
    }
    if (good && o->round_count) memcpy(round + rounds, o->rounds, o->round_count * sizeof *round);
    good =
        good && rbt_intersect_mesh_build(mesh, triangles, triangle_count, m->edges, m->edge_count, nodes, error) &&
        rbt_intersect_mesh_add(mesh, round, rounds + o->round_count, o->planes, o->plane_count, m->node_count, error);
    // Bodies may be built into obstacles, where neither moves.
    for (size_t i = 0; good && i < nodes; i++)
        mesh->still[i] = i < m->node_count ? m->role[i] == RBT_FIXED : !o->moving;
    free(triangles);
    free(round);
    return good;
}

static void note(const rbt_model *m, const rbt_intersection *item, unsigned char *moved, rbt_cut_verdict *verdict) {
    int count = item->counts[0] + item->counts[1], body = -1;
    for (int k = 0; k < count; k++) {
        size_t n = (size_t)item->nodes[k];
        if (n >= m->node_count || !moved[n]) continue;
        moved[n] |= 2;
        if (body < 0) body = m->node_body[n];
    }
    if (body < 0 || verdict->count++) return;
    verdict->body = body;
    memcpy(verdict->place, item->place, sizeof verdict->place);
}

static bool look(const rbt_model *m, const rbt_obstacle_parts *o, const double *x, double t, unsigned char *moved,
                 rbt_cut_verdict *verdict, rbt_error *error) {
    rbt_intersect_mesh mesh = {0};
    rbt_intersections found = {0};
    double *all = rbt_array_new(m->node_count + o->nodes.count, 3 * sizeof *all, "positions", error);
    bool good = all && build(m, o, &mesh, error);
    if (good) {
        memcpy(all, x, 3 * m->node_count * sizeof *all);
        rbt_obstacle_nodes_place(&o->nodes, t, rbt_model_grid_step(m), all + 3 * m->node_count);
        good = rbt_intersect_state(&mesh, all, SIZE_MAX, &found, error);
    }
    for (size_t i = 0; good && i < found.kept; i++) note(m, &found.kept_items[i], moved, verdict);
    if (good) rbt_intersections_free(&found);
    rbt_intersect_mesh_free(&mesh);
    free(all);
    return good;
}

bool rbt_cut_judge(const rbt_model *m, const rbt_motion_group *motions, const double *x, double t,
                   unsigned char *moved, rbt_cut_verdict *verdict, rbt_error *error) {
    rbt_obstacle_parts parts = {0};
    *verdict = (rbt_cut_verdict){.body = -1};
    bool good = rbt_obstacle_parts_make(&parts, &m->obstacles, motions, m->node_count, error) &&
                look(m, &parts, x, t, moved, verdict, error);
    rbt_obstacle_parts_free(&parts);
    return good;
}
