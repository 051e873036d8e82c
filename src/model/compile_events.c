// Events of a scene, and what can be dragged.
#include "math/vec3.h"
#include "model/compile.h"

#include <math.h>
#include <string.h>

// ---- What can be dragged: every named selection, and what events drag beside them

static double mass_of(const rbt_model *m, const int32_t *nodes, size_t count) {
    double mass = 0;
    for (size_t i = 0; i < count; i++) mass += m->mass[nodes[i]];
    return mass;
}

// The target with these nodes, which is made if there is none yet
static size_t find_target(rbt_model *m, rbt_drag_target *targets, const rbt_node_load *load) {
    for (size_t i = 0; i < m->drag_count; i++)
        if (targets[i].node_count == load->node_count &&
            memcmp(targets[i].nodes, load->nodes, load->node_count * sizeof *load->nodes) == 0)
            return i;
    targets[m->drag_count] =
        (rbt_drag_target){load->node_count, load->nodes, mass_of(m, load->nodes, load->node_count)};
    return m->drag_count++;
}

// ---- Events

static bool plan_force(rbt_compiler *c, const rbt_event_force *def, const char *path, rbt_planned_event *event) {
    event->kind = RBT_PLANNED_FORCE;
    memcpy(event->load.force, def->force, sizeof def->force);
    return rbt_compile_shares(c, def->body, &def->where, path, &event->load);
}

// Its force stays the same during a step: k h^2 <= m keeps that stable.
static bool plan_drag(rbt_compiler *c, const rbt_event_drag *def, const char *path, rbt_drag_target *targets,
                      rbt_planned_event *event) {
    rbt_model *m = c->model;
    rbt_node_load load = {0};
    if (!rbt_compile_shares(c, def->body, &def->where, path, &load)) return false;
    event->kind = RBT_PLANNED_DRAG;
    event->target = find_target(m, targets, &load);
    event->stiffness = def->stiffness;
    memcpy(event->point, def->point, sizeof def->point);
    double most = targets[event->target].mass / (m->step * m->step);
    if (isnan(c->scene->time.step) || def->stiffness <= most) return true;
    return rbt_fail_path(c->error, c->scene->file, path,
                         "a spring of %g N/m on nodes of %g kg is too stiff for steps of %g s: it may have %g N/m at "
                         "most; take more nodes, a smaller step or a softer spring",
                         def->stiffness, targets[event->target].mass, m->step, most);
}

static bool plan_material(rbt_compiler *c, const rbt_event_material *def, const char *path,
                          rbt_planned_event *event) {
    const rbt_model *m = c->model;
    event->kind = RBT_PLANNED_MATERIAL;
    event->material = *def;
    event->material.body = event->material.region = NULL;
    while (event->body + 1 < m->body_count && strcmp(m->bodies[event->body].name, def->body) != 0) event->body++;
    while (m->regions[event->region].body != (int)event->body) event->region++;
    const rbt_body_def *body = &c->scene->bodies.items[event->body];
    for (size_t r = 0; def->region && r < body->regions.count; r++)
        if (body->regions.items[r].name && strcmp(body->regions.items[r].name, def->region) == 0)
            event->region += r + 1;
    rbt_body_kind kind = m->bodies[event->body].kind;
    if (kind == RBT_SOLID || kind == RBT_SHELL || (isnan(def->young) && isnan(def->poisson))) return true;
    return rbt_fail_path(c->error, c->scene->file, path,
                         "body \"%s\" is made of %s, which have no material; its damping can be changed", def->body,
                         kind == RBT_NET ? "springs" : "particles");
}

static void plan_drive(const rbt_model *m, const rbt_event_drive *def, rbt_planned_event *event) {
    event->kind = RBT_PLANNED_DRIVE;
    event->drive = *def;
    event->drive.driven = NULL;
    const rbt_motion_group *groups = m->motions.groups;
    while (!groups[event->group].name || strcmp(groups[event->group].name, def->driven) != 0) event->group++;
}

static bool plan(rbt_compiler *c, const rbt_event_def *def, const char *path, rbt_drag_target *targets,
                 rbt_planned_event *event) {
    if (def->force) return plan_force(c, def->force, rbt_compile_path(c, "%s.force", path), event);
    if (def->drag) return plan_drag(c, def->drag, rbt_compile_path(c, "%s.drag", path), targets, event);
    if (def->material) return plan_material(c, def->material, rbt_compile_path(c, "%s.material", path), event);
    plan_drive(c->model, def->drive, event);
    return true;
}

bool rbt_compile_events(rbt_compiler *c) {
    rbt_model *m = c->model;
    size_t count = c->scene->events.count;
    rbt_drag_target *targets;
    rbt_planned_event *events;
    if (!RBT_TAKE(c, targets, m->selection_count + count) || !RBT_TAKE(c, events, count)) return false;
    for (size_t i = 0; i < m->selection_count; i++) {
        const rbt_node_selection *s = &m->selections[i];
        targets[i] = (rbt_drag_target){s->count, s->nodes, mass_of(m, s->nodes, s->count)};
    }
    m->drag_count = m->selection_count;
    for (size_t i = 0; i < count; i++) {
        const rbt_event_def *def = &c->scene->events.items[i];
        rbt_planned_event event = {.time = def->time, .number = i};
        if (def->cut) continue;
        if (!plan(c, def, rbt_compile_path(c, "events[%zu]", i), targets, &event)) return false;
        size_t at = m->event_count++;
        for (; at > 0 && events[at - 1].time > event.time; at--) events[at] = events[at - 1];
        events[at] = event;
    }
    m->drag_targets = targets;
    m->events = events;
    return true;
}
