#include "model/contact_surface.h"

#include "math/vec3.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

size_t rbt_model_surface_node_count(const rbt_model *m) {
    size_t count = m->node_count;
    for (size_t i = 0; i < m->obstacles.count; i++) count += rbt_obstacle_node_count(&m->obstacles, i);
    return count;
}

typedef struct parts {  // what the definition points to, while it is made
    double *X, *x, *radius, *inverse_mass, *limit;
    int32_t *body, *obstacle, *number, *points, *triangles, *edges;
    unsigned char *prescribed;
    rbt_wall *walls;
    size_t node, point, triangle, edge, wall;  // so far
} parts;

static bool take(parts *p, const rbt_model *m, rbt_arena *arena, size_t n, rbt_error *error) {
    size_t triangles = m->triangle_count, edges = m->edge_count;
    for (size_t i = 0; i < m->obstacles.count; i++) {
        triangles += rbt_obstacle_triangle_count(&m->obstacles, i);
        edges += m->obstacles.items[i].which == RBT_OBSTACLE_CAPSULE;
    }
    if ((p->X = rbt_arena_take(arena, 3 * n, sizeof(double))) &&
        (p->x = rbt_arena_take(arena, 3 * n, sizeof(double))) &&
        (p->radius = rbt_arena_take(arena, n, sizeof(double))) &&
        (p->inverse_mass = rbt_arena_take(arena, n, sizeof(double))) &&
        (p->limit = rbt_arena_take(arena, edges, sizeof(double))) && (p->prescribed = rbt_arena_take(arena, n, 1)) &&
        (p->body = rbt_arena_take(arena, n, sizeof(int32_t))) &&
        (p->obstacle = rbt_arena_take(arena, n, sizeof(int32_t))) &&
        (p->number = rbt_arena_take(arena, n, sizeof(int32_t))) &&
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

// The nodes of an obstacle; returns the first of them.
static int32_t add_nodes(parts *p, rbt_obstacle_nodes *nodes, size_t number, double radius) {
    size_t first = p->node, from = nodes->count;
    rbt_obstacle_nodes_add(nodes, number);
    for (size_t i = from; i < nodes->count; i++, p->node++) {
        memcpy(p->X + 3 * p->node, nodes->start + 3 * i, 3 * sizeof(double));
        p->radius[p->node] = radius;
        p->body[p->node] = -1 - (int32_t)number;
        p->prescribed[p->node] = rbt_obstacle_is_prescribed(&nodes->obstacles, number, &nodes->motions[number]);
    }
    return (int32_t)first;
}

static void add_triangle(parts *p, int32_t first, int32_t a, int32_t b, int32_t c) {
    const int32_t corner[3] = {first + a, first + b, first + c};
    memcpy(p->triangles + 3 * p->triangle++, corner, sizeof corner);
}

static void add_box(parts *p, rbt_obstacle_nodes *nodes, size_t number) {
    static const signed char corners[][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                                             {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
    int32_t first = add_nodes(p, nodes, number, 0);
    for (size_t t = 0; t < sizeof corners / sizeof *corners; t++)
        add_triangle(p, first, corners[t][0], corners[t][1], corners[t][2]);
}

static void add_mesh(parts *p, rbt_obstacle_nodes *nodes, size_t number) {
    const rbt_obstacle_geometry *g = rbt_obstacle_geometry_of(&nodes->obstacles, number);
    int32_t first = add_nodes(p, nodes, number, 0);
    for (size_t t = 0; g && t < g->triangle_count; t++)
        add_triangle(p, first, g->triangles[3 * t], g->triangles[3 * t + 1], g->triangles[3 * t + 2]);
}

static bool add_obstacle(parts *p, const rbt_model *m, rbt_obstacle_nodes *nodes, size_t number, rbt_error *error) {
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
        wall->node = add_nodes(p, nodes, number, 0);
        rbt_normalize(plane->normal, wall->normal);
        break;
    }
    case RBT_OBSTACLE_SPHERE:
        p->points[p->point++] = add_nodes(p, nodes, number, ((const rbt_obstacle_sphere *)obstacle->value)->radius);
        break;
    case RBT_OBSTACLE_CAPSULE: {
        int32_t a = add_nodes(p, nodes, number, ((const rbt_obstacle_capsule *)obstacle->value)->radius);
        p->edges[2 * p->edge] = a;
        p->edges[2 * p->edge++ + 1] = a + 1;
        break;
    }
    case RBT_OBSTACLE_BOX: add_box(p, nodes, number); break;
    case RBT_OBSTACLE_MESH: add_mesh(p, nodes, number); break;
    case RBT_OBSTACLE_KINDS: break;
    }
    return true;
}

bool rbt_model_surface_make(rbt_model_surface *s, const rbt_model *m, rbt_arena *arena, rbt_error *error) {
    parts p = {0};
    *s = (rbt_model_surface){.model = m, .node_count = rbt_model_surface_node_count(m)};
    if (!take(&p, m, arena, s->node_count, error) || !add_model(&p, m, error)) return false;
    s->nodes = (rbt_obstacle_nodes){.start = p.x + 3 * m->node_count,
                                    .obstacle = p.obstacle + m->node_count,
                                    .number = p.number + m->node_count,
                                    .obstacles = m->obstacles,
                                    .motions = m->obstacle_motions};
    for (size_t i = 0; i < m->obstacles.count; i++) {
        if (!add_obstacle(&p, m, &s->nodes, i, error)) return false;
        s->prescribed |= rbt_obstacle_is_prescribed(&m->obstacles, i, &m->obstacle_motions[i]);
    }
    s->x = p.x;
    s->driven = p.prescribed;
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

void rbt_model_surface_place(const rbt_model_surface *s, double t, double *x) {
    rbt_obstacle_nodes_place(&s->nodes, t, rbt_model_grid_step(s->model), x + 3 * s->model->node_count);
}

void rbt_model_surface_start(const rbt_model_surface *s, double *x) {
    const rbt_obstacle_nodes *n = &s->nodes;
    memcpy(x, s->model->x0, 3 * s->model->node_count * sizeof *x);
    for (size_t i = 0; i < n->count; i++) {
        rbt_motion_group motion = n->motions[n->obstacle[i]];
        motion.guide = NULL;
        rbt_motion_position(&motion, n->start + 3 * i, 0, x + 3 * (s->model->node_count + i));
    }
}

bool rbt_model_surface_follow(rbt_model_surface *s) {
    const rbt_model *m = s->model;
    bool changed = false;
    for (size_t n = m->node_count; n < s->node_count; n++) {
        const rbt_motion_group *motion = &m->obstacle_motions[s->obstacle[n]];
        bool guided = motion->guide && *motion->guide;
        bool driven = guided || rbt_obstacle_is_prescribed(&m->obstacles, (size_t)s->obstacle[n], motion);
        changed |= s->driven[n] != driven;
        s->driven[n] = driven;
    }
    return changed;
}

bool rbt_model_surface_moves(const rbt_model_surface *s) {
    const rbt_input *input = s->model->input;
    for (size_t i = 0; !s->prescribed && input && i < input->obstacle_count; i++)
        if (input->guides[input->group_count + i]) return true;
    return s->prescribed;
}

static void owner_of(const rbt_model_surface *s, int32_t node, char *text, size_t size) {
    if (s->obstacle[node] >= 0) snprintf(text, size, "obstacles[%d]", s->obstacle[node]);
    else snprintf(text, size, "%s", s->model->bodies[s->model->node_body[node]].name);
}

void rbt_model_surface_name(const rbt_model_surface *s, const rbt_contact_surface *contact, rbt_pair_key key,
                            char *text, size_t size) {
    int32_t node[4];
    char pair[72], first[48], last[48];
    rbt_pair_nodes(contact, key, node);
    rbt_pair_text(contact, key, pair, sizeof pair);
    owner_of(s, node[0], first, sizeof first);
    owner_of(s, node[rbt_pair_corners(rbt_pair_key_kind(key)) - 1], last, sizeof last);
    snprintf(text, size, "%s (%s, %s)", pair, first, last);
}
