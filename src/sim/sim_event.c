// Events of a scene while time runs, and what callers have of them (rubato/input.h): springs that drag, materials.
#include "base/threads.h"
#include "math/vec3.h"
#include "model/input.h"
#include "rubato/query.h"
#include "scene/table.h"
#include "scene/walk.h"
#include "sim/sim.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- Materials

bool rbt_sim_note_materials(rbt_sim *sim, rbt_error *error) {
    const rbt_model *m = sim->model;
    sim->own = (rbt_material_values){rbt_arena_take(sim->arena, m->region_count, sizeof *sim->own.regions),
                                     rbt_arena_take(sim->arena, m->body_count, sizeof *sim->own.damping)};
    if (!sim->own.regions || !sim->own.damping)
        return rbt_fail_memory(error, m->region_count * sizeof *sim->own.regions, "materials");
    rbt_materials_get(m, &sim->own);
    return true;
}

rbt_material_values rbt_sim_materials(const rbt_sim *sim, const rbt_state *state) {
    return rbt_input_has_materials(state) ? rbt_input_materials(state) : sim->own;
}

static void put(double *value, double other) {
    if (!isnan(other)) *value = other;
}

// The values are entered into the state first, and taken out again if no model or stepper can be made for them.
static bool change_material(rbt_sim *sim, size_t body, size_t region, const rbt_event_material *change,
                            rbt_error *error) {
    if (isnan(change->young) && isnan(change->poisson) && isnan(change->mass_damping) &&
        isnan(change->stiffness_damping))
        return true;
    if (!rbt_input_make(sim->model, &sim->state, error) || !rbt_sim_before_jump(sim, error)) return false;
    bool had = rbt_input_has_materials(&sim->state);
    rbt_material_values values = rbt_input_materials(&sim->state);
    if (!had) rbt_materials_get(sim->model, &values);
    rbt_elasticity *elasticity = &values.regions[region], old_elasticity = *elasticity;
    rbt_damping_def *damping = &values.damping[body], old_damping = *damping;
    put(&elasticity->young, change->young);
    put(&elasticity->poisson, change->poisson);
    put(&damping->mass, change->mass_damping);
    put(&damping->stiffness, change->stiffness_damping);
    rbt_input_set_materials(&sim->state, true);
    rbt_model *model = rbt_model_with_materials(sim->model, &values, error);
    if (model) rbt_input_attach(model, &sim->state);
    if (!model || !rbt_sim_exchange(sim, model, error)) {
        *elasticity = old_elasticity;
        *damping = old_damping;
        rbt_input_set_materials(&sim->state, had);
        return false;
    }
    rbt_sim_after_jump(sim);
    return true;
}

rbt_event_material rbt_event_material_default(void) {
    rbt_event_material change;
    rbt_record_default(&RBT_EVENT_MATERIAL_RECORD, &change);
    return change;
}

static bool find_region(const rbt_sim *sim, const rbt_event_material *change, size_t body, size_t *region,
                        rbt_error *error) {
    const rbt_model *m = sim->model;
    rbt_body_kind kind = m->bodies[body].kind;
    if ((kind == RBT_NET || kind == RBT_PARTICLES) && !(isnan(change->young) && isnan(change->poisson)))
        return rbt_fail(error, "body \"%s\" is made of %s, which have no material; its damping can be changed",
                        change->body, kind == RBT_NET ? "springs" : "particles");
    for (*region = 0; m->regions[*region].body != (int)body;) ++*region;
    if (!change->region) return true;
    if (!isnan(change->mass_damping) || !isnan(change->stiffness_damping))
        return rbt_fail(error, "region \"%s\" has no damping of its own: damping is that of a whole body",
                        change->region);
    for (++*region; *region < m->region_count && m->regions[*region].body == (int)body; ++*region)
        if (strcmp(m->regions[*region].name, change->region) == 0) return true;
    return rbt_fail(error, "body \"%s\" has no region \"%s\"", change->body, change->region);
}

bool rbt_sim_set_material(rbt_sim *sim, const rbt_event_material *change, rbt_error *error) {
    if (!rbt_sim_is_there(sim, error)) return false;
    if (!change || !change->body) return rbt_fail(error, "a material needs the name of a body");
    int body = rbt_sim_body_find(sim, change->body);
    size_t region = 0;
    rbt_walk walk = {.error = error};
    if (body < 0) return rbt_fail(error, "there is no body \"%s\"", change->body);
    if (!rbt_record_check(&walk, &RBT_EVENT_MATERIAL_RECORD, change) ||
        !find_region(sim, change, (size_t)body, &region, error))
        return false;
    int threads = rbt_threads_enter(sim->threads);
    bool good = change_material(sim, (size_t)body, region, change, error);
    rbt_threads_leave(threads);
    return good;
}

// ---- Dragging

static bool drag(rbt_sim *sim, size_t target, const double point[3], double stiffness, rbt_error *error) {
    const rbt_drag_target *t = &sim->model->drag_targets[target];
    double step = sim->model->step, most = t->mass / (step * step);
    if (stiffness > most && !sim->stepper.control.on)
        return rbt_fail(error,
                        "a spring of %g N/m on nodes of %g kg is too stiff for steps of %g s: it may have %g N/m at "
                        "most; take more nodes, a smaller step or a softer spring",
                        stiffness, t->mass, step, most);
    if (!rbt_input_make(sim->model, &sim->state, error)) return false;
    rbt_drag_spring *spring = &rbt_input_springs(&sim->state)[target];
    memcpy(spring->point, point, sizeof spring->point);
    spring->stiffness = stiffness;
    return true;
}

// The first target with the nodes of a selection: events that drag them have the same one.
static size_t target_of(const rbt_model *m, const int32_t *nodes, size_t count) {
    size_t i = 0;
    while (m->drag_targets[i].node_count != count ||
           memcmp(m->drag_targets[i].nodes, nodes, count * sizeof *nodes) != 0)
        i++;
    return i;
}

bool rbt_sim_drag(rbt_sim *sim, size_t body, const char *selection, const double point[3], double stiffness,
                  rbt_error *error) {
    const int32_t *nodes;
    size_t count;
    if (!rbt_sim_selection(sim, body, selection, &nodes, &count, error)) return false;
    if (!point) return rbt_fail(error, "there is no point to drag to: the pointer is NULL");
    if (!isfinite(point[0] + point[1] + point[2]) || !(stiffness >= 0 && isfinite(stiffness)))
        return rbt_fail(error,
                        "a spring of %g N/m to (%g, %g, %g) m; all must be finite and the stiffness at least 0",
                        stiffness, point[0], point[1], point[2]);
    return drag(sim, target_of(sim->model, nodes, count), point, stiffness, error);
}

// Forces of a step with springs; without, those that were there before the springs let go are put back.
static bool act(rbt_sim *sim, double h, rbt_error *error) {
    const rbt_model *m = sim->model;
    bool drags = rbt_input_drags(&sim->state);
    if (!drags && m->input->force == m->input->given) return true;
    if (drags && sim->acting_count != m->node_count) {
        double *acting = rbt_array_new(m->node_count, 3 * sizeof *acting, "forces", error);
        if (!acting) return false;
        rbt_energy_watch_before_input(&sim->watch, &sim->state);
        rbt_input_attach(m, &sim->state);
        free(sim->acting);
        sim->acting = acting;
        sim->acting_count = m->node_count;
    }
    if (drags && !rbt_outside_make_room(&sim->watch.outside, error)) return false;
    rbt_energy_watch_before_input(&sim->watch, &sim->state);
    if (drags) rbt_input_act(m, &sim->state, h, sim->acting);
    else rbt_input_attach(m, &sim->state);
    rbt_energy_watch_after_input(&sim->watch, &sim->state);
    return true;
}

// ---- Events

static void put_force(const rbt_state *state, const rbt_planned_event *event) {
    const rbt_node_load *load = &event->load;
    double *forces = rbt_input_forces(state);
    for (size_t i = 0; i < load->node_count; i++)
        for (size_t k = 0; k < 3; k++) forces[3 * (size_t)load->nodes[i] + k] = load->share[i] * load->force[k];
}

static bool change_force(rbt_sim *sim, const rbt_planned_event *event, rbt_error *error) {
    if (!rbt_outside_make_room(&sim->watch.outside, error)) return false;
    rbt_energy_watch_before_input(&sim->watch, &sim->state);
    put_force(&sim->state, event);
    rbt_input_attach(sim->model, &sim->state);
    rbt_energy_watch_after_input(&sim->watch, &sim->state);
    return true;
}

static bool happen(rbt_sim *sim, const rbt_planned_event *event, rbt_error *error) {
    rbt_drive drive = {.duration = event->drive.duration};
    switch (event->kind) {
    case RBT_PLANNED_FORCE: return change_force(sim, event, error);
    case RBT_PLANNED_DRAG: return drag(sim, event->target, event->point, event->stiffness, error);
    case RBT_PLANNED_MATERIAL: return change_material(sim, event->body, event->region, &event->material, error);
    case RBT_PLANNED_DRIVE:
        memcpy(drive.velocity, event->drive.velocity, sizeof drive.velocity);
        memcpy(drive.spin, event->drive.spin, sizeof drive.spin);
        memcpy(drive.about, event->drive.about, sizeof drive.about);
        return rbt_sim_guide(sim, event->group, &drive, error);
    }
    return true;
}

// Times that differ by rounding are the same.
static double rounding(const rbt_sim *sim) { return 1e-9 * sim->model->frame_interval; }

// Events after those that have been dealt with, until now, in the order of time
static bool do_events(rbt_sim *sim, rbt_error *error) {
    double done = rbt_input_events(&sim->state) + rounding(sim), now = sim->state.t + rounding(sim);
    size_t i = 0, end = 0;
    while (i < sim->model->event_count && sim->model->events[i].time <= done) i++;
    for (end = i; end < sim->model->event_count && sim->model->events[end].time <= now;) end++;
    if (i == end) return true;
    if (!rbt_input_make(sim->model, &sim->state, error)) return false;
    for (; i < end; i++) {
        rbt_error why = {0};
        size_t number = sim->model->events[i].number;
        if (happen(sim, &sim->model->events[i], &why)) continue;
        char path[64];
        snprintf(path, sizeof path, "events[%zu]", number);
        rbt_fail_path(error, sim->scene->file, path, "%s", why.message);
        if (error) error->out_of_memory = why.out_of_memory;
        return false;
    }
    rbt_input_set_events(&sim->state, sim->state.t);
    return true;
}

bool rbt_sim_begin_step(rbt_sim *sim, bool whole, double h, rbt_error *error) {
    return (!whole || !sim->model->event_count || do_events(sim, error)) && act(sim, h, error);
}

void rbt_sim_share_forces(rbt_sim *sim) {
    if (!sim->state.input_size) return;
    double done = rbt_input_events(&sim->state) + rounding(sim);
    for (size_t i = 0; i < sim->model->event_count && sim->model->events[i].time <= done; i++)
        if (sim->model->events[i].kind == RBT_PLANNED_FORCE) put_force(&sim->state, &sim->model->events[i]);
}

// k h^2 <= m, as where the step is given
double rbt_sim_longest_step(const rbt_sim *sim) {
    double longest = INFINITY;
    if (!rbt_input_drags(&sim->state)) return longest;
    const rbt_drag_spring *springs = rbt_input_springs(&sim->state);
    for (size_t i = 0; i < sim->model->drag_count; i++)
        if (springs[i].stiffness > 0)
            longest = fmin(longest, sqrt(sim->model->drag_targets[i].mass / springs[i].stiffness));
    return longest;
}

double rbt_sim_next_event(const rbt_sim *sim) {
    double now = sim->state.t + rounding(sim);
    for (size_t i = 0; i < sim->model->event_count; i++)
        if (sim->model->events[i].time > now) return sim->model->events[i].time;
    return INFINITY;
}
