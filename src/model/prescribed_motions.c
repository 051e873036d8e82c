#include "model/prescribed_motions.h"

#include "math/exact_round.h"
#include "math/vec3.h"
#include "mesh/query/box_tree.h"
#include "model/obstacle_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 9, MAX_JUDGED = 20000 };

// A thing is what moves as one: the nodes of a body with one prescribed motion, those that are fixed, or an obstacle.
typedef struct thing {
    rbt_box box;  // around its way in a span
    bool moves;
} thing;

typedef struct motions_check {
    const rbt_model *model;
    rbt_obstacle_parts obstacles;
    size_t node_count;  // of the model and of obstacles
    int32_t *group;     // (model nodes) prescribed motion, -1: none
    int32_t *thing_of;  // (node_count) -1: not prescribed
    size_t thing_count;
    thing *things;
    unsigned char *meeting;  // (thing_count x thing_count) from the start
    rbt_intersect_mesh mesh;
    double *x[SAMPLES];  // (node_count x 3) places in a span
    int judged;
    rbt_error *error;
} motions_check;

// ---- Who is prescribed

static double release_of(const motions_check *s, size_t node) {
    return s->group[node] < 0 ? INFINITY : s->model->motions.groups[s->group[node]].release;
}

// Of a driven body's nodes those of one prescribed motion, of others those that are fixed
static void name_things(motions_check *s) {
    const rbt_model *m = s->model;
    size_t kinds = m->motions.group_count + 1;
    for (size_t i = 0; i < m->node_count; i++) s->group[i] = -1;
    for (size_t i = 0; i < m->motions.node_count; i++) s->group[m->motions.node[i]] = m->motions.group[i];
    for (size_t i = 0; i < m->node_count; i++) {
        bool prescribed = m->role[i] == RBT_FIXED || s->group[i] >= 0;
        s->thing_of[i] = prescribed ? (int32_t)((size_t)m->node_body[i] * kinds + (size_t)(s->group[i] + 1)) : -1;
    }
    s->thing_count = m->body_count * kinds + m->obstacles.count;
    for (size_t i = 0; i < s->obstacles.nodes.count; i++)
        s->thing_of[m->node_count + i] = (int32_t)(m->body_count * kinds) + s->obstacles.nodes.obstacle[i];
}

static bool make(motions_check *s, const rbt_model *m, rbt_error *error) {
    *s = (motions_check){.model = m, .error = error};
    if (!rbt_obstacle_parts_make(&s->obstacles, &m->obstacles, NULL, m->node_count, error)) return false;
    s->node_count = m->node_count + s->obstacles.nodes.count;
    s->group = rbt_array_new(m->node_count, sizeof *s->group, "prescribed motions", error);
    s->thing_of = rbt_array_new(s->node_count, sizeof *s->thing_of, "prescribed motions", error);
    for (int i = 0; i < SAMPLES; i++)
        if (!(s->x[i] = rbt_array_new(s->node_count, 3 * sizeof(double), "prescribed motions", error))) return false;
    if (!s->group || !s->thing_of) return false;
    name_things(s);
    s->things = rbt_array_new(s->thing_count, sizeof *s->things, "prescribed motions", error);
    s->meeting = rbt_array_new(s->thing_count * s->thing_count, 1, "prescribed motions", error);
    return s->things && s->meeting;
}

static void unmake(motions_check *s) {
    rbt_obstacle_parts_free(&s->obstacles);
    rbt_intersect_mesh_free(&s->mesh);
    free(s->group);
    free(s->thing_of);
    free(s->things);
    free(s->meeting);
    for (int i = 0; i < SAMPLES; i++) free(s->x[i]);
}

// ---- What there is of them until a time

static bool is_constrained(const motions_check *s, int32_t node, double until) {
    return s->thing_of[node] >= 0 && ((size_t)node >= s->model->node_count || release_of(s, (size_t)node) >= until);
}

static bool are_constrained(const motions_check *s, const int32_t *nodes, int count, double until) {
    for (int i = 0; i < count; i++)
        if (!is_constrained(s, nodes[i], until)) return false;
    return true;
}

typedef struct
    lists {  // triangles, edges of no such triangle, and single nodes and particles, all of them constrained
    int32_t *triangles, *edges;
    rbt_round *rounds;
    size_t triangle_count, edge_count, round_count;
} lists;

static bool take_lists(const motions_check *s, lists *l) {
    const rbt_model *m = s->model;
    l->triangles = rbt_array_new(m->triangle_count + s->obstacles.triangle_count, 3 * sizeof(int32_t),
                                 "prescribed motions", s->error);
    l->edges =
        rbt_array_new(3 * m->triangle_count + m->edge_count, 2 * sizeof(int32_t), "prescribed motions", s->error);
    l->rounds = rbt_array_new(s->node_count, sizeof *l->rounds, "prescribed motions", s->error);
    return l->triangles && l->edges && l->rounds;
}

static void list_elements(const motions_check *s, double until, lists *l) {
    const rbt_model *m = s->model;
    for (size_t t = 0; t < m->triangle_count; t++) {
        const int32_t *corner = m->triangles + 3 * t;
        if (are_constrained(s, corner, 3, until)) {
            memcpy(l->triangles + 3 * l->triangle_count++, corner, 3 * sizeof *corner);
            continue;
        }
        for (int k = 0; k < 3; k++) {
            const int32_t side[2] = {corner[k], corner[(k + 1) % 3]};
            if (are_constrained(s, side, 2, until)) memcpy(l->edges + 2 * l->edge_count++, side, sizeof side);
        }
    }
    for (size_t e = 0; e < m->edge_count; e++)
        if (are_constrained(s, m->edges + 2 * e, 2, until))
            memcpy(l->edges + 2 * l->edge_count++, m->edges + 2 * e, 2 * sizeof(int32_t));
    if (s->obstacles.triangle_count)
        memcpy(l->triangles + 3 * l->triangle_count, s->obstacles.triangles,
               3 * s->obstacles.triangle_count * sizeof(int32_t));
    l->triangle_count += s->obstacles.triangle_count;
}

// Particles, and nodes that have no element among those listed: balls without a radius
static void list_rounds(const motions_check *s, double until, lists *l, unsigned char *used) {
    const rbt_model *m = s->model;
    for (size_t i = 0; i < 3 * l->triangle_count; i++) used[l->triangles[i]] = 1;
    for (size_t i = 0; i < 2 * l->edge_count; i++) used[l->edges[i]] = 1;
    for (size_t i = 0; i < m->node_count; i++) {
        const rbt_body *body = &m->bodies[m->node_body[i]];
        bool particle = body->kind == RBT_PARTICLES,
             surface = particle || body->kind == RBT_NET || m->node_area[i] > 0;
        if (surface && !used[i] && is_constrained(s, (int32_t)i, until))
            l->rounds[l->round_count++] = (rbt_round){{(int32_t)i, -1}, particle ? body->particles.radius : 0};
    }
    if (s->obstacles.round_count)
        memcpy(l->rounds + l->round_count, s->obstacles.rounds, s->obstacles.round_count * sizeof *l->rounds);
    l->round_count += s->obstacles.round_count;
}

static bool make_mesh(motions_check *s, double until) {
    lists l = {0};
    rbt_intersect_mesh_free(&s->mesh);
    unsigned char *used = rbt_array_new(s->node_count, 1, "prescribed motions", s->error);
    bool good = used && take_lists(s, &l);
    if (good) {
        list_elements(s, until, &l);
        list_rounds(s, until, &l, used);
        good = rbt_intersect_mesh_build(&s->mesh, l.triangles, l.triangle_count, l.edges, l.edge_count, s->node_count,
                                        s->error) &&
               rbt_intersect_mesh_add(&s->mesh, l.rounds, l.round_count, s->obstacles.planes,
                                      s->obstacles.plane_count, s->model->node_count, s->error);
        s->mesh.free_edges_meet = true;
    }
    free(used);
    free(l.triangles);
    free(l.edges);
    free(l.rounds);
    return good;
}

// ---- Where they are

static void place(const motions_check *s, double t, double *x) {
    const rbt_model *m = s->model;
    for (size_t i = 0; i < m->node_count; i++) {
        if (s->group[i] >= 0) rbt_motion_position(&m->motions.groups[s->group[i]], m->x0 + 3 * i, t, x + 3 * i);
        else memcpy(x + 3 * i, m->x0 + 3 * i, 3 * sizeof *x);
    }
    rbt_obstacle_nodes_place(&s->obstacles.nodes, t, 0, x + 3 * m->node_count);
}

// Places at the samples of a span of steps; a single one is straight, whatever the prescribed motion says.
static void sample(motions_check *s, int64_t begin, int64_t end) {
    double step = s->model->step;
    place(s, (double)begin * step, s->x[0]);
    place(s, (double)end * step, s->x[SAMPLES - 1]);
    for (int i = 1; i < SAMPLES - 1; i++) {
        double steps = (double)begin + (double)(end - begin) * i / (SAMPLES - 1);
        if (end - begin == 1) memcpy(s->x[i], s->x[0], 3 * s->node_count * sizeof(double));
        else place(s, steps * step, s->x[i]);
    }
}

// How all prescribed motions bend in a span: 0, infinity or a rate [rad/s]
static double bend(const motions_check *s, int64_t begin, int64_t end) {
    const rbt_model *m = s->model;
    double most = 0, from = ((double)begin + 1e-6) * m->step, to = ((double)end - 1e-6) * m->step;
    for (size_t g = 0; g < m->motions.group_count; g++)
        most = fmax(most, rbt_motion_bend(&m->motions.groups[g], from, to));
    for (size_t o = 0; o < m->obstacles.count; o++) {
        const rbt_obstacle_geometry *g = rbt_obstacle_geometry_of(&m->obstacles, o);
        most = fmax(most, rbt_motion_bend(&m->obstacle_motions[o], from, to));
        if (g && rbt_obstacle_geometry_turns(g, from, to)) most = INFINITY;
    }
    return most;
}

static double longest_way(const motions_check *s, size_t node) {
    double longest = 0;
    for (int i = 1; i < SAMPLES; i++) {
        double d[3];
        rbt_subtract(s->x[i] + 3 * node, s->x[i - 1] + 3 * node, d);
        longest = fmax(longest, rbt_length(d));
    }
    return longest;
}

// Boxes of all things over the samples, wider by as much as anything goes from one to the next, and by radii
static void find_boxes(motions_check *s) {
    for (size_t t = 0; t < s->thing_count; t++) s->things[t] = (thing){rbt_box_empty(), false};
    for (size_t n = 0; n < s->node_count; n++) {
        if (s->thing_of[n] < 0) continue;
        thing *t = &s->things[s->thing_of[n]];
        double longest = longest_way(s, n);
        t->moves |= longest > 0;
        for (int i = 0; i < SAMPLES; i++) rbt_box_include(&t->box, s->x[i] + 3 * n, longest);
    }
    for (size_t i = 0; i < s->mesh.round_count; i++) {
        const rbt_round *round = &s->mesh.rounds[i];
        thing *t = &s->things[s->thing_of[round->node[0]]];
        for (int k = 0; k < 3; k++) t->box.min[k] -= round->radius, t->box.max[k] += round->radius;
    }
}

static bool is_obstacle(const motions_check *s, size_t t) { return t >= s->thing_count - s->model->obstacles.count; }

static bool counts(const motions_check *s, size_t a, size_t b) {
    return a != b && !s->meeting[a * s->thing_count + b] && !(is_obstacle(s, a) && is_obstacle(s, b));
}

static bool are_near(const motions_check *s) {
    for (size_t a = 0; a < s->thing_count; a++)
        for (size_t b = a + 1; b < s->thing_count; b++) {
            const thing *p = &s->things[a], *q = &s->things[b];
            if (!(p->moves || q->moves) || !counts(s, a, b)) continue;
            bool near = true;
            for (int k = 0; k < 3; k++) near &= p->box.min[k] <= q->box.max[k] && q->box.min[k] <= p->box.max[k];
            if (near) return true;
        }
    return false;
}

// ---- Judging

typedef struct verdict {
    bool meets;
    double when;  // share of the span
    rbt_intersection what;
} verdict;

// The first pair that counts
static void pick(const motions_check *s, const rbt_intersections *found, verdict *v) {
    for (size_t i = 0; i < found->kept; i++) {
        const rbt_intersection *item = &found->kept_items[i];
        size_t a = (size_t)s->thing_of[item->nodes[0]], b = (size_t)s->thing_of[item->nodes[item->counts[0]]];
        if (!counts(s, a, b) || (v->meets && v->when <= item->when)) continue;
        *v = (verdict){true, item->when, *item};
    }
}

// Planes are not among what has boxes: nodes are looked at one by one, at the end of a straight span.
static void look_behind_planes(const motions_check *s, verdict *v) {
    const double *from = s->x[0], *to = s->x[SAMPLES - 1];
    for (size_t p = 0; p < s->mesh.plane_count; p++)
        for (size_t i = 0; i < s->mesh.vertex_count + s->mesh.round_count; i++) {
            const rbt_half_space *plane = &s->mesh.planes[p];
            const rbt_round *round = i < s->mesh.vertex_count ? NULL : &s->mesh.rounds[i - s->mesh.vertex_count];
            int32_t n = round ? round->node[0] : s->mesh.vertices[i];
            if ((size_t)n >= s->model->node_count ||
                !counts(s, (size_t)s->thing_of[n], (size_t)s->thing_of[plane->node]))
                continue;
            size_t at = 3 * (size_t)n, base = 3 * (size_t)plane->node;
            double radius = round ? round->radius : 0, r[3], first, last;
            if (rbt_ball_above(to + at, radius, to + base, plane->normal) > 0) continue;
            rbt_subtract(from + at, from + base, r);
            first = rbt_dot(r, plane->normal) - radius * rbt_length(plane->normal);
            rbt_subtract(to + at, to + base, r);
            last = rbt_dot(r, plane->normal) - radius * rbt_length(plane->normal);
            double when = first > last ? fmin(fmax(first / (first - last), 0), 1) : 0;
            if (v->meets && v->when <= when) continue;
            *v = (verdict){true,
                           when,
                           {.kind = RBT_NODE_BEHIND_PLANE,
                            .nodes = {n, plane->node},
                            .counts = {1, 1},
                            .on_way = true,
                            .when = when}};
        }
}

static bool note_meeting(motions_check *s) {
    rbt_intersections found;
    place(s, 0, s->x[0]);
    if (!rbt_intersect_state(&s->mesh, s->x[0], SIZE_MAX, &found, s->error)) return false;
    for (size_t i = 0; i < found.kept; i++) {
        const rbt_intersection *item = &found.kept_items[i];
        size_t a = (size_t)s->thing_of[item->nodes[0]], b = (size_t)s->thing_of[item->nodes[item->counts[0]]];
        s->meeting[a * s->thing_count + b] = s->meeting[b * s->thing_count + a] = 1;
    }
    rbt_intersections_free(&found);
    return true;
}

static bool judge(motions_check *s, bool near, verdict *v) {
    rbt_intersections found;
    look_behind_planes(s, v);
    if (!near) return true;
    s->judged++;
    if (!rbt_intersect_motion(&s->mesh, s->x[0], s->x[SAMPLES - 1], SIZE_MAX, &found, s->error)) return false;
    pick(s, &found, v);
    rbt_intersections_free(&found);
    return true;
}

// ---- Words

static void add_side(const motions_check *s, const rbt_intersection *i, int side, char *text, size_t size) {
    static const char *const words[] = {"", "node", "edge", "triangle"};
    const int32_t *n = i->nodes + (side ? i->counts[0] : 0);
    if ((size_t)n[0] >= s->model->node_count) {
        snprintf(text, size, "obstacles[%d]", s->obstacles.nodes.obstacle[(size_t)n[0] - s->model->node_count]);
        return;
    }
    char nodes[48];
    snprintf(nodes, sizeof nodes,
             i->counts[side] == 1   ? "%d"
             : i->counts[side] == 2 ? "%d-%d"
                                    : "%d-%d-%d",
             n[0], n[1], i->counts[side] == 3 ? n[2] : 0);
    snprintf(text, size, "%s %s of \"%.40s\", which is %s,", words[i->counts[side]], nodes,
             s->model->bodies[s->model->node_body[n[0]]].name, s->group[n[0]] >= 0 ? "driven" : "fixed");
}

static bool refuse(const motions_check *s, const verdict *v, int64_t begin, int64_t end) {
    char first[160], second[160];
    add_side(s, &v->what, 0, first, sizeof first);
    add_side(s, &v->what, 1, second, sizeof second);
    return rbt_fail_path(
        s->error, NULL, (size_t)v->what.nodes[0] < s->model->node_count ? "bodies" : "obstacles",
        "%s and %s meet at %.6g s: both go where they are told, so nothing can keep them apart; change a "
        "motion (node numbers count through all bodies)",
        first, second, ((double)begin + v->when * (double)(end - begin)) * s->model->step);
}

// ---- All the time

// Whether all nodes are before all planes at the samples of a span, by more than they go from one to the next.
static bool are_clear_of_planes(const motions_check *s) {
    for (size_t p = 0; p < s->mesh.plane_count; p++)
        for (size_t i = 0; i < s->mesh.vertex_count + s->mesh.round_count; i++) {
            const rbt_half_space *plane = &s->mesh.planes[p];
            const rbt_round *round = i < s->mesh.vertex_count ? NULL : &s->mesh.rounds[i - s->mesh.vertex_count];
            size_t n = (size_t)(round ? round->node[0] : s->mesh.vertices[i]), base = (size_t)plane->node;
            if (n >= s->model->node_count || !counts(s, (size_t)s->thing_of[n], (size_t)s->thing_of[base])) continue;
            double room = longest_way(s, n) + longest_way(s, base) + (round ? round->radius : 0);
            for (int k = 0; k < SAMPLES; k++) {
                double r[3];
                rbt_subtract(s->x[k] + 3 * n, s->x[k] + 3 * base, r);
                if (rbt_dot(r, plane->normal) <= room * rbt_length(plane->normal)) return false;
            }
        }
    return true;
}

static bool look(motions_check *s, int64_t begin, int64_t end) {
    if (s->judged >= MAX_JUDGED) return true;
    double most = bend(s, begin, end), turned = most * s->model->step * (double)(end - begin) / (SAMPLES - 1);
    if (end - begin == 1 || most == 0) {
        verdict v = {0};
        sample(s, begin, end);
        find_boxes(s);
        if (!judge(s, are_near(s), &v)) return false;
        return !v.meets || refuse(s, &v, begin, end);
    }
    if (turned < 0.5) {  // from sample to sample; ways are hardly longer than their chords
        sample(s, begin, end);
        find_boxes(s);
        if (!are_near(s) && are_clear_of_planes(s)) return true;
    }
    int64_t middle = begin + (end - begin) / 2;
    return look(s, begin, middle) && look(s, middle, end);
}

static bool look_until(motions_check *s, int64_t begin, int64_t end) {
    return make_mesh(s, (double)end * s->model->step) && (begin > 0 || note_meeting(s)) && look(s, begin, end);
}

// The first release after a step, or the end of the run
static int64_t next_end(const motions_check *s, int64_t begin, int64_t all) {
    const rbt_motions *motions = &s->model->motions;
    int64_t end = all;
    for (size_t g = 0; g < motions->group_count; g++) {
        double steps = motions->groups[g].release / s->model->step;
        if (steps < (double)end && (int64_t)steps > begin) end = (int64_t)steps;
    }
    return end;
}

bool rbt_prescribed_motions_are_possible(const rbt_model *m, rbt_error *error) {
    bool moving = m->motions.node_count > 0, constrained = false;
    for (size_t i = 0; i < m->obstacles.count; i++)
        moving |= rbt_obstacle_is_prescribed(&m->obstacles, i, &m->obstacle_motions[i]);
    for (size_t i = 0; i < m->node_count; i++) constrained |= m->role[i] != RBT_FREE;
    int64_t all = m->frame_count * m->steps_per_frame;
    if (!moving || !constrained || all < 1) return true;
    motions_check s;
    bool good = make(&s, m, error);
    for (int64_t begin = 0; good && begin < all;) {
        int64_t end = next_end(&s, begin, all);
        good = look_until(&s, begin, end);
        begin = end;
    }
    unmake(&s);
    return good;
}
