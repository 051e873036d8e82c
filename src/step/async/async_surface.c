#include "step/async/async_surface.h"

#include "math/vec3.h"

#include <stdio.h>
#include <string.h>

enum { BOX_CORNERS = 8, BOX_TRIANGLES = 12 };

static size_t nodes_of(const rbt_obstacle *obstacle) {
    switch ((rbt_obstacle_kind)obstacle->which) {
    case RBT_OBSTACLE_BOX: return BOX_CORNERS;
    case RBT_OBSTACLE_CAPSULE: return 2;
    default: return 1;
    }
}

size_t rbt_obstacle_node_count(const rbt_model *m) {
    size_t count = 0;
    for (size_t i = 0; i < m->obstacles.count; i++) count += nodes_of(&m->obstacles.items[i]);
    return count;
}

static size_t count_of(const rbt_model *m, rbt_obstacle_kind kind) {
    size_t count = 0;
    for (size_t i = 0; i < m->obstacles.count; i++) count += m->obstacles.items[i].which == (int)kind;
    return count;
}

typedef struct parts {  // what the definition points to, while it is made
    double *X, *x, *radius, *inverse_mass, *limit;
    int32_t *body, *obstacle, *points, *triangles, *edges;
    unsigned char *prescribed;
    rbt_wall *walls;
    size_t node, point, triangle, edge, wall;  // so far
} parts;

static bool take(parts *p, const rbt_model *m, rbt_arena *arena, size_t n, rbt_error *error) {
    size_t triangles = m->triangle_count + BOX_TRIANGLES * count_of(m, RBT_OBSTACLE_BOX);
    size_t edges = m->edge_count + count_of(m, RBT_OBSTACLE_CAPSULE);
    if ((p->X = rbt_arena_take(arena, 3 * n, sizeof(double))) &&
        (p->x = rbt_arena_take(arena, 3 * n, sizeof(double))) &&
        (p->radius = rbt_arena_take(arena, n, sizeof(double))) &&
        (p->inverse_mass = rbt_arena_take(arena, n, sizeof(double))) &&
        (p->limit = rbt_arena_take(arena, edges, sizeof(double))) && (p->prescribed = rbt_arena_take(arena, n, 1)) &&
        (p->body = rbt_arena_take(arena, n, sizeof(int32_t))) &&
        (p->obstacle = rbt_arena_take(arena, n, sizeof(int32_t))) &&
        (p->points = rbt_arena_take(arena, n, sizeof(int32_t))) &&
        (p->triangles = rbt_arena_take(arena, 3 * triangles, sizeof(int32_t))) &&
        (p->edges = rbt_arena_take(arena, 2 * edges, sizeof(int32_t))) &&
        (p->walls = rbt_arena_take(arena, m->obstacles.count, sizeof(rbt_wall))))
        return true;
    return rbt_fail_memory(error, 8 * n * sizeof(double), "a surface");
}

static void copy(void *to, const void *from, size_t count, size_t size) {
    if (count) memcpy(to, from, count * size);
}

static bool is_released(const rbt_model *m, size_t node) {
    for (size_t i = 0; i < m->motions.node_count; i++)
        if ((size_t)m->motions.node[i] == node) return m->motions.groups[m->motions.group[i]].release < INFINITY;
    return false;
}

static bool add_model(parts *p, const rbt_model *m, rbt_error *error) {
    copy(p->X, m->X, 3 * m->node_count, sizeof *p->X);
    copy(p->x, m->x0, 3 * m->node_count, sizeof *p->x);
    copy(p->body, m->node_body, m->node_count, sizeof *p->body);
    copy(p->triangles, m->triangles, 3 * m->triangle_count, sizeof *p->triangles);
    copy(p->edges, m->edges, 2 * m->edge_count, sizeof *p->edges);
    p->node = m->node_count, p->triangle = m->triangle_count, p->edge = m->edge_count;
    bool moving = false;
    for (size_t i = 0; i < m->node_count; i++) {
        bool free = m->role[i] == RBT_FREE || (m->role[i] == RBT_DRIVEN && is_released(m, i));
        p->inverse_mass[i] = free ? 1 / m->mass[i] : 0;
        p->prescribed[i] = m->role[i] == RBT_DRIVEN;
        p->obstacle[i] = -1;
        moving |= free;
    }
    if (!moving)
        return rbt_fail_path(error, NULL, "bodies",
                             "every node is fixed or driven for ever, so nothing can move by forces; "
                             "leave some nodes free");
    for (size_t b = 0; b < m->body_count; b++) {
        const rbt_body *body = &m->bodies[b];
        for (size_t e = body->edge_begin; e < body->edge_end; e++) p->limit[e] = body->springs.limit;
        for (size_t i = body->node_begin; body->kind == RBT_PARTICLES && i < body->node_end; i++) {
            p->radius[i] = body->particles.radius;
            p->points[p->point++] = (int32_t)i;
        }
    }
    return true;
}

static int32_t add_node(parts *p, const double x[3], double radius, size_t number) {
    memcpy(p->X + 3 * p->node, x, 3 * sizeof *x);
    memcpy(p->x + 3 * p->node, x, 3 * sizeof *x);
    p->radius[p->node] = radius;
    p->body[p->node] = -1 - (int32_t)number;
    p->obstacle[p->node] = (int32_t)number;
    return (int32_t)p->node++;
}

static void add_box(parts *p, const rbt_obstacle_box *box, size_t number) {
    static const signed char corners[BOX_TRIANGLES][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6},
                                                          {0, 1, 5}, {0, 5, 4}, {2, 6, 7}, {2, 7, 3},
                                                          {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
    int32_t first = (int32_t)p->node;
    for (int i = 0; i < BOX_CORNERS; i++) {
        double x[3];
        for (int k = 0; k < 3; k++) x[k] = i >> k & 1 ? box->max[k] : box->min[k];
        add_node(p, x, 0, number);
    }
    for (int t = 0; t < BOX_TRIANGLES; t++, p->triangle++)
        for (int k = 0; k < 3; k++) p->triangles[3 * p->triangle + (size_t)k] = first + corners[t][k];
}

static bool add_obstacle(parts *p, const rbt_model *m, size_t number, rbt_error *error) {
    const rbt_obstacle *obstacle = &m->obstacles.items[number];
    const rbt_motion_group *motion = &m->obstacle_motions[number];
    switch ((rbt_obstacle_kind)obstacle->which) {
    case RBT_OBSTACLE_PLANE: {
        const rbt_obstacle_plane *plane = obstacle->value;
        for (size_t i = 0; i < motion->motion_count; i++)
            if (motion->motions[i].which == RBT_MOVE_ROTATION)
                return rbt_fail(error,
                                "obstacles[%zu]: a plane has no end and cannot turn, only move; take a box or a body "
                                "that is driven as a whole",
                                number);
        rbt_wall *wall = &p->walls[p->wall++];
        wall->node = add_node(p, plane->point, 0, number);
        rbt_normalize(plane->normal, wall->normal);
        break;
    }
    case RBT_OBSTACLE_SPHERE: {
        const rbt_obstacle_sphere *sphere = obstacle->value;
        p->points[p->point++] = add_node(p, sphere->centre, sphere->radius, number);
        break;
    }
    case RBT_OBSTACLE_CAPSULE: {
        const rbt_obstacle_capsule *capsule = obstacle->value;
        p->edges[2 * p->edge] = add_node(p, capsule->a, capsule->radius, number);
        p->edges[2 * p->edge++ + 1] = add_node(p, capsule->b, capsule->radius, number);
        break;
    }
    default: add_box(p, obstacle->value, number);
    }
    return true;
}

bool rbt_async_surface_make(rbt_async_surface *s, const rbt_model *m, rbt_arena *arena, rbt_error *error) {
    parts p = {0};
    *s = (rbt_async_surface){.model = m, .node_count = m->node_count + rbt_obstacle_node_count(m)};
    if (!take(&p, m, arena, s->node_count, error) || !add_model(&p, m, error)) return false;
    for (size_t i = 0; i < m->obstacles.count; i++) {
        if (!add_obstacle(&p, m, i, error)) return false;
        s->prescribed |= m->obstacle_motions[i].motion_count > 0;
    }
    s->x = p.x;
    s->obstacle = p.obstacle;
    s->def = (rbt_contact_surface_def){.node_count = s->node_count,
                                       .triangle_count = p.triangle,
                                       .edge_count = p.edge,
                                       .point_count = p.point,
                                       .wall_count = p.wall,
                                       .triangles = p.triangles,
                                       .edges = p.edges,
                                       .points = p.points,
                                       .limit = p.limit,
                                       .walls = p.walls,
                                       .radius = p.radius,
                                       .body = p.body,
                                       .X = p.X,
                                       .inverse_mass = p.inverse_mass,
                                       .prescribed = p.prescribed};
    return true;
}

void rbt_async_surface_drive(const rbt_async_surface *s, rbt_tracks *tracks, int64_t tick, double t, double h) {
    for (size_t n = s->model->node_count; n < s->node_count; n++) {
        const rbt_motion_group *motion = &s->model->obstacle_motions[s->obstacle[n]];
        double *x = tracks->x + 3 * n, *v = tracks->v + 3 * n, next[3];
        rbt_motion_position(motion, s->x + 3 * n, t, x);
        rbt_motion_position(motion, s->x + 3 * n, t + h, next);
        for (size_t k = 0; k < 3; k++) v[k] = (next[k] - x[k]) / h;
        tracks->t[n] = tick;
    }
}

bool rbt_async_surface_moves(const rbt_async_surface *s) {
    const rbt_input *input = s->model->input;
    for (size_t i = 0; !s->prescribed && input && i < input->obstacle_count; i++)
        if (input->guides[input->group_count + i]) return true;
    return s->prescribed;
}

static void owner_of(const rbt_async_surface *s, int32_t node, char *text, size_t size) {
    if (s->obstacle[node] >= 0) snprintf(text, size, "obstacles[%d]", s->obstacle[node]);
    else snprintf(text, size, "%s", s->model->bodies[s->model->node_body[node]].name);
}

void rbt_async_surface_name(const rbt_async_surface *s, const rbt_contact_surface *contact, rbt_pair_key key,
                            char *text, size_t size) {
    int32_t node[4];
    char pair[72], first[48], last[48];
    rbt_pair_nodes(contact, key, node);
    rbt_pair_text(contact, key, pair, sizeof pair);
    owner_of(s, node[0], first, sizeof first);
    owner_of(s, node[rbt_pair_corners(rbt_pair_key_kind(key)) - 1], last, sizeof last);
    snprintf(text, size, "%s (%s, %s)", pair, first, last);
}
