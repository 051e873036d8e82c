#include "out/verify.h"

#include "base/clock.h"

#include <string.h>

static void free_names(rbt_verification *v) {
    for (size_t i = 0; i < v->body_count; i++) free(v->body_names[i]);
    free(v->body_names);
    v->body_names = NULL;
    v->body_count = 0;
}

static void free_mesh(rbt_verification *v) {
    rbt_intersect_mesh_free(&v->mesh);
    free(v->node_body);
    free(v->last);
    v->node_body = NULL;
    v->last = NULL;
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

bool rbt_verification_set_mesh(rbt_verification *v, const int32_t *triangles, size_t triangle_count,
                               const int32_t *edges, size_t edge_count, size_t node_count, const int32_t *node_body,
                               rbt_error *error) {
    free_mesh(v);
    if (!triangle_count)
        return rbt_fail(error,
                        "there are no surfaces: intersections of tets and triangles can be judged, not of springs or "
                        "particles alone");
    if (!rbt_intersect_mesh_build(&v->mesh, triangles, triangle_count, edges, edge_count, node_count, error))
        return false;
    v->node_body = rbt_array_new(node_count, sizeof *v->node_body, "bodies of nodes", error);
    if (v->node_body && node_count) memcpy(v->node_body, node_body, node_count * sizeof *v->node_body);
    return v->node_body != NULL;
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

bool rbt_verification_set_model(rbt_verification *v, const rbt_model *model, rbt_error *error) {
    free_names(v);
    v->body_names = rbt_array_new(model->body_count, sizeof *v->body_names, "names of bodies", error);
    if (!v->body_names) return false;
    for (; v->body_count < model->body_count; v->body_count++)
        if (!(v->body_names[v->body_count] = strdup(model->bodies[v->body_count].name)))
            return rbt_fail_memory(error, 1, "names of bodies");
    v->particles = 0;
    for (size_t b = 0; b < model->body_count; b++)
        if (model->bodies[b].kind == RBT_PARTICLES) v->particles += rbt_body_element_count(&model->bodies[b]);
    return rbt_verification_set_mesh(v, model->triangles, model->triangle_count, model->edges, model->edge_count,
                                     model->node_count, model->node_body, error);
}

static bool judge(rbt_verification *v, rbt_verified *s, const double *x, rbt_error *error) {
    if (!rbt_intersect_state(&v->mesh, x, v->keep, &s->in, error)) return false;
    s->has_way = v->last && !v->states_only && (!s->event || v->event_ways);
    s->before = s->has_way ? v->last_t : s->t;
    if (!s->has_way || rbt_intersect_motion(&v->mesh, v->last, x, v->keep, &s->way, error)) return true;
    rbt_intersections_free(&s->in);
    return false;
}

void rbt_verification_restart(rbt_verification *v, double t, const double *x) {
    if (v->last && v->mesh.node_count) memcpy(v->last, x, 3 * v->mesh.node_count * sizeof *x);
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

bool rbt_verification_add(rbt_verification *v, const rbt_verified *about, const double *x, rbt_error *error) {
    double start = rbt_now();
    void *states = v->states;
    rbt_verified s = *about;
    if (!rbt_array_reserve(&states, &v->capacity, v->count + 1, sizeof s, "verified states", error)) return false;
    v->states = states;
    if (!judge(v, &s, x, error)) return false;
    count(v, &s);
    if (!s.event || s.in.count + s.way.count > 0) {
        v->states[v->count++] = s;
    } else {
        rbt_intersections_free(&s.in);
        rbt_intersections_free(&s.way);
    }
    if (!v->last) v->last = rbt_array_new(v->mesh.node_count, 3 * sizeof *v->last, "positions", error);
    if (!s.event || v->event_ways) rbt_verification_restart(v, s.t, x);
    v->seconds += rbt_now() - start;
    return v->last != NULL;
}
