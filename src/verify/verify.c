#include "verify/verify.h"

#include "base/clock.h"

#include <math.h>
#include <string.h>

static void free_names(rbt_verification *v) {
    for (size_t i = 0; i < v->body_count; i++) free(v->body_names[i]);
    free(v->body_names);
    v->body_names = NULL;
    v->body_count = 0;
}

static void free_mesh(rbt_verification *v) {
    rbt_intersect_mesh_free(&v->mesh);
    rbt_obstacle_parts_free(&v->obstacles);
    free(v->node_body);
    free(v->last);
    free(v->all);
    free(v->first);
    v->node_body = NULL;
    v->last = v->all = v->first = NULL;
}

void rbt_verification_free(rbt_verification *v) {
    for (size_t i = 0; i < v->count; i++) {
        rbt_intersections_free(&v->states[i].in);
        rbt_intersections_free(&v->states[i].way);
    }
    free(v->states);
    free_names(v);
    free_mesh(v);
    *v = (rbt_verification){0};
}

// ---- What is judged

static bool has_anything(const rbt_verify_parts *p, const rbt_obstacle_parts *obstacles, rbt_error *error) {
    bool bodies = p->triangle_count || (p->particle_count && p->radius);
    if (bodies || (p->edge_count && obstacles->nodes.count)) return true;
    return rbt_fail(
        error, "there are no surfaces: intersections of tets, triangles and particles can be judged, not of springs "
               "among themselves");
}

// Triangles of bodies and of obstacles
static bool build_mesh(rbt_verification *v, const rbt_verify_parts *p, rbt_error *error) {
    const rbt_obstacle_parts *o = &v->obstacles;
    size_t count = p->triangle_count + o->triangle_count, nodes = p->node_count + o->nodes.count;
    int32_t *triangles = rbt_array_new(count, 3 * sizeof *triangles, "triangles", error);
    if (!triangles) return false;
    if (p->triangle_count) memcpy(triangles, p->triangles, 3 * p->triangle_count * sizeof *triangles);
    if (o->triangle_count)
        memcpy(triangles + 3 * p->triangle_count, o->triangles, 3 * o->triangle_count * sizeof *triangles);
    bool good = rbt_intersect_mesh_build(&v->mesh, triangles, count, p->edges, p->edge_count, nodes, error);
    free(triangles);
    return good;
}

static bool add_rounds(rbt_verification *v, const rbt_verify_parts *p, rbt_error *error) {
    const rbt_obstacle_parts *o = &v->obstacles;
    size_t particles = p->radius ? p->particle_count : 0, count = particles + o->round_count;
    rbt_round *rounds = rbt_array_new(count, sizeof *rounds, "particles", error);
    if (!rounds) return false;
    for (size_t i = 0; i < particles; i++) rounds[i] = (rbt_round){{p->particles[i], -1}, p->radius[i]};
    if (o->round_count) memcpy(rounds + particles, o->rounds, o->round_count * sizeof *rounds);
    bool good = rbt_intersect_mesh_add(&v->mesh, rounds, count, o->planes, o->plane_count, p->node_count, error);
    free(rounds);
    v->particles = particles;
    v->particles_unknown = p->particle_count - particles;
    return good;
}

bool rbt_verification_set_mesh(rbt_verification *v, const rbt_verify_parts *p, rbt_error *error) {
    free_mesh(v);
    rbt_obstacles judged = p->own_contact ? p->obstacles : (rbt_obstacles){0};
    v->obstacle_count = judged.count;
    v->unjudged = p->obstacles.count - judged.count;
    v->step = p->step;
    v->curved = p->has_events && !v->event_ways && !v->all_ways && !v->states_only;
    if (!rbt_obstacle_parts_make(&v->obstacles, &judged, p->motions, p->node_count, error) ||
        !has_anything(p, &v->obstacles, error) || !build_mesh(v, p, error) || !add_rounds(v, p, error))
        return false;
    size_t n = v->mesh.node_count;
    v->node_body = rbt_array_new(n, sizeof *v->node_body, "bodies of nodes", error);
    v->all = rbt_array_new(n, 3 * sizeof *v->all, "positions", error);
    if (!v->node_body || !v->all) return false;
    if (p->node_count) memcpy(v->node_body, p->node_body, p->node_count * sizeof *v->node_body);
    for (size_t i = p->node_count; i < n; i++) v->node_body[i] = -1 - v->obstacles.nodes.obstacle[i - p->node_count];
    return true;
}

bool rbt_verification_set_names(rbt_verification *v, const rbt_scene *scene, rbt_error *error) {
    free_names(v);
    v->body_names = rbt_array_new(scene->bodies.count, sizeof *v->body_names, "names of bodies", error);
    if (!v->body_names) return false;
    for (; v->body_count < scene->bodies.count; v->body_count++) {
        const char *name = scene->bodies.items[v->body_count].name;
        if (!(v->body_names[v->body_count] = strdup(name ? name : "")))
            return rbt_fail_memory(error, 1, "names of bodies");
    }
    return true;
}

// Nodes and radii of all particles
static bool list_particles(const rbt_model *m, rbt_verify_parts *parts, int32_t **nodes, double **radius,
                           rbt_error *error) {
    *nodes = rbt_array_new(m->node_count, sizeof **nodes, "particles", error);
    *radius = rbt_array_new(m->node_count, sizeof **radius, "particles", error);
    if (!*nodes || !*radius) return false;
    for (size_t b = 0; b < m->body_count; b++)
        for (size_t i = m->bodies[b].node_begin; m->bodies[b].kind == RBT_PARTICLES && i < m->bodies[b].node_end;
             i++) {
            (*nodes)[parts->particle_count] = (int32_t)i;
            (*radius)[parts->particle_count++] = m->bodies[b].particles.radius;
        }
    parts->particles = *nodes;
    parts->radius = *radius;
    return true;
}

bool rbt_verification_set_model(rbt_verification *v, const rbt_model *model, const rbt_method *method,
                                rbt_error *error) {
    free_names(v);
    v->body_names = rbt_array_new(model->body_count, sizeof *v->body_names, "names of bodies", error);
    if (!v->body_names) return false;
    for (; v->body_count < model->body_count; v->body_count++)
        if (!(v->body_names[v->body_count] = strdup(model->bodies[v->body_count].name)))
            return rbt_fail_memory(error, 1, "names of bodies");
    rbt_verify_parts parts = {.node_count = model->node_count,
                              .triangle_count = model->triangle_count,
                              .edge_count = model->edge_count,
                              .triangles = model->triangles,
                              .edges = model->edges,
                              .node_body = model->node_body,
                              .obstacles = model->obstacles,
                              .motions = model->obstacle_motions,
                              .own_contact = rbt_method_has_contact(method, model),
                              .has_events = rbt_method_has_contact(method, model),
                              .step = rbt_model_grid_step(model)};
    int32_t *nodes = NULL;
    double *radius = NULL;
    bool good = list_particles(model, &parts, &nodes, &radius, error) && rbt_verification_set_mesh(v, &parts, error);
    free(nodes);
    free(radius);
    return good;
}

// ---- States

// Nodes and obstacles at time t
static void fill(const rbt_verification *v, double t, const double *x, double *all) {
    size_t own = v->mesh.obstacle_begin;
    if (own) memcpy(all, x, 3 * own * sizeof *all);
    rbt_obstacle_nodes_place(&v->obstacles.nodes, t, v->step, all + 3 * own);
}

// Which nodes have not moved since the first state
static bool note_still(rbt_verification *v, rbt_error *error) {
    size_t n = v->mesh.node_count;
    if (!v->first) {
        if (!(v->first = rbt_array_new(n, 3 * sizeof *v->first, "positions", error))) return false;
        memcpy(v->first, v->all, 3 * n * sizeof *v->first);
    }
    for (size_t i = 0; i < n; i++)
        v->mesh.still[i] = memcmp(v->first + 3 * i, v->all + 3 * i, 3 * sizeof *v->all) == 0;
    return true;
}

static bool judge(rbt_verification *v, rbt_verified *s, const double *x, rbt_error *error) {
    if (v->obstacles.moving && isnan(s->t))
        return rbt_fail(error, "does not say its time, so that the places of moving obstacles are not known");
    fill(v, s->t, x, v->all);
    if (!note_still(v, error) || !rbt_intersect_state(&v->mesh, v->all, v->keep, &s->in, error)) return false;
    s->has_way = v->last && !v->states_only && !v->curved && (!s->event || v->event_ways);
    s->before = s->has_way ? v->last_t : s->t;
    if (!s->has_way || rbt_intersect_motion(&v->mesh, v->last, v->all, v->keep, &s->way, error)) return true;
    rbt_intersections_free(&s->in);
    return false;
}

void rbt_verification_restart(rbt_verification *v, double t, const double *x) {
    if (v->last) fill(v, t, x, v->last);
    v->last_t = t;
}

static void count(rbt_verification *v, const rbt_verified *s) {
    v->judged++;
    v->event_count += s->event;
    v->bad_count += s->in.count + s->way.count > 0;
    v->in_states += s->in.count;
    v->touching += s->in.touching;
    v->on_ways += s->way.count;
    v->way_count += s->has_way;
    v->tested += s->in.tested + s->way.tested;
    v->exact += s->way.exact;
}

// Whose what was found is. Nodes have other numbers after the next cut, bodies have not.
static void note_owners(const rbt_verification *v, rbt_intersections *found) {
    for (size_t i = 0; i < found->kept; i++) {
        rbt_intersection *item = &found->kept_items[i];
        item->owner[0] = v->node_body[item->nodes[0]];
        item->owner[1] = v->node_body[item->nodes[item->counts[0]]];
    }
}

bool rbt_verification_add(rbt_verification *v, const rbt_verified *about, const double *x, rbt_error *error) {
    double start = rbt_now();
    void *states = v->states;
    rbt_verified s = *about;
    if (!rbt_array_reserve(&states, &v->capacity, v->count + 1, sizeof s, "verified states", error)) return false;
    v->states = states;
    if (!judge(v, &s, x, error)) return false;
    note_owners(v, &s.in);
    note_owners(v, &s.way);
    count(v, &s);
    if (!s.event || s.in.count + s.way.count > 0) {
        v->states[v->count++] = s;
    } else {
        rbt_intersections_free(&s.in);
        rbt_intersections_free(&s.way);
    }
    if (!v->last && !(v->last = rbt_array_new(v->mesh.node_count, 3 * sizeof *v->last, "positions", error)))
        return false;
    if (!s.event || v->event_ways) rbt_verification_restart(v, s.t, x);
    v->seconds += rbt_now() - start;
    return true;
}
