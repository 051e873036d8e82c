// What a caller prescribes (rubato/input.h): forces, and motions on top of prescribed motions.
#include "model/input.h"
#include "rubato/input.h"
#include "sim/sim.h"

#include <math.h>
#include <string.h>

rbt_drive rbt_drive_default(void) { return (rbt_drive){.duration = INFINITY}; }

// ---- Forces

bool rbt_sim_set_forces(rbt_sim *sim, size_t begin, size_t count, const double *forces, rbt_error *error) {
    if (!rbt_sim_is_there(sim, error)) return false;
    size_t nodes = sim->model->node_count;
    if (count > nodes || begin > nodes - count)
        return rbt_fail(error, "forces on %zu nodes from node %zu on are given, but there are %zu nodes", count,
                        begin, nodes);
    for (size_t i = 0; forces && i < 3 * count; i++)
        if (!isfinite(forces[i]))
            return rbt_fail(error, "the force on node %zu has a component of %g N; all must be finite", begin + i / 3,
                            forces[i]);
    if (!forces && !sim->state.input_size) return true;
    if (!rbt_input_make(sim->model, &sim->state, error) || !rbt_outside_make_room(&sim->watch.outside, error))
        return false;
    rbt_energy_watch_before_input(&sim->watch, &sim->state);
    double *to = rbt_input_forces(&sim->state) + 3 * begin;
    if (forces) memmove(to, forces, 3 * count * sizeof *to);
    else memset(to, 0, 3 * count * sizeof *to);
    rbt_input_attach(sim->model, &sim->state);
    rbt_energy_watch_after_input(&sim->watch, &sim->state);
    return true;
}

const double *rbt_sim_forces(const rbt_sim *sim) { return sim ? sim->model->input->given : NULL; }

// ---- Motions

size_t rbt_sim_driven_count(const rbt_sim *sim) { return sim ? sim->model->motions.group_count : 0; }
size_t rbt_sim_obstacle_count(const rbt_sim *sim) { return sim ? sim->model->obstacles.count : 0; }

const char *rbt_sim_driven_name(const rbt_sim *sim, size_t driven) {
    return driven < rbt_sim_driven_count(sim) ? sim->model->motions.groups[driven].name : NULL;
}

int rbt_sim_driven_find(const rbt_sim *sim, const char *name) {
    for (size_t i = 0; name && i < rbt_sim_driven_count(sim); i++) {
        const char *other = sim->model->motions.groups[i].name;
        if (other && strcmp(other, name) == 0) return (int)i;
    }
    return -1;
}

static bool is_finite3(const double a[3]) { return isfinite(a[0]) && isfinite(a[1]) && isfinite(a[2]); }

// What is prescribed goes straight from step to step where bodies are kept apart.
static bool check_moment(const rbt_sim *sim, rbt_error *error) {
    double begun = sim->state.t - rbt_sim_grid_time(sim, sim->state.step);
    if (sim->stepper.control.on || !rbt_method_has_contact(sim->stepper.method, sim->model) ||
        fabs(begun) <= 1e-6 * sim->model->step)
        return true;
    return rbt_fail(error,
                    "it is %.9g s, inside a step; %s takes motions between whole steps: continue to the end of it",
                    sim->state.t, sim->stepper.method->name);
}

// A motion of a guide, which groups and then obstacles have, from now on
bool rbt_sim_guide(rbt_sim *sim, size_t guide, const rbt_drive *d, rbt_error *error) {
    if (!d) return rbt_fail(error, "there is no motion: the pointer is NULL");
    if (!is_finite3(d->velocity) || !is_finite3(d->spin) || !is_finite3(d->about) || !(d->duration >= 0))
        return rbt_fail(
            error,
            "a motion of (%g, %g, %g) m/s and (%g, %g, %g) rad/s for %g s; all must be finite and the time at "
            "least 0",
            d->velocity[0], d->velocity[1], d->velocity[2], d->spin[0], d->spin[1], d->spin[2], d->duration);
    if (!check_moment(sim, error) || !rbt_input_make(sim->model, &sim->state, error)) return false;
    rbt_energy_watch_before_input(&sim->watch, &sim->state);
    rbt_guide *g = rbt_input_guide(&sim->state, guide), next = rbt_guide_at(g, sim->state.t);
    next.until = sim->state.t + d->duration;
    memcpy(next.velocity, d->velocity, sizeof next.velocity);
    memcpy(next.spin, d->spin, sizeof next.spin);
    memcpy(next.about, d->about, sizeof next.about);
    *g = next;
    rbt_input_attach(sim->model, &sim->state);
    rbt_energy_watch_after_input(&sim->watch, &sim->state);
    return true;
}

static bool drive_to(rbt_sim *sim, size_t guide, const double offset[3], double duration, rbt_error *error) {
    if (!offset) return rbt_fail(error, "there is no place to go to: the pointer is NULL");
    if (!(duration > 0 && isfinite(duration)))
        return rbt_fail(error, "to go there takes %g s; the time must be above 0 and finite", duration);
    rbt_drive d = {.duration = duration};
    double now[3] = {0};
    if (sim->state.input_size && rbt_input_guide(&sim->state, guide)->used)
        memcpy(now, rbt_guide_at(rbt_input_guide(&sim->state, guide), sim->state.t).offset, sizeof now);
    for (int k = 0; k < 3; k++) d.velocity[k] = (offset[k] - now[k]) / duration;
    return rbt_sim_guide(sim, guide, &d, error);
}

static bool find_driven(const rbt_sim *sim, size_t driven, rbt_error *error) {
    if (!rbt_sim_is_there(sim, error)) return false;
    size_t count = sim->model->motions.group_count;
    return driven < count ||
           rbt_fail(error, "there is no driven group %zu: the scene has %zu, counted from 0", driven, count);
}

bool rbt_sim_drive(rbt_sim *sim, size_t driven, const rbt_drive *d, rbt_error *error) {
    return find_driven(sim, driven, error) && rbt_sim_guide(sim, driven, d, error);
}

bool rbt_sim_drive_to(rbt_sim *sim, size_t driven, const double offset[3], double duration, rbt_error *error) {
    return find_driven(sim, driven, error) && drive_to(sim, driven, offset, duration, error);
}

// Where the guides of obstacles begin
static bool find_obstacle(const rbt_sim *sim, size_t obstacle, size_t *guide, rbt_error *error) {
    if (!rbt_sim_is_there(sim, error)) return false;
    const rbt_model *m = sim->model;
    if (obstacle >= m->obstacles.count)
        return rbt_fail(error, "there is no obstacle %zu: the scene has %zu, counted from 0", obstacle,
                        m->obstacles.count);
    *guide = m->motions.group_count + obstacle;
    return rbt_method_has_contact(sim->stepper.method, m) ||
           rbt_fail(error,
                    "%s knows obstacles that move only in a scene with contact; take a method with contact, and "
                    "\"contact\" in the scene unless it is async-contact",
                    sim->stepper.method->name);
}

bool rbt_sim_drive_obstacle(rbt_sim *sim, size_t obstacle, const rbt_drive *d, rbt_error *error) {
    size_t guide = 0;
    if (!find_obstacle(sim, obstacle, &guide, error)) return false;
    bool turns = d && (d->spin[0] != 0 || d->spin[1] != 0 || d->spin[2] != 0);
    if (turns && sim->model->obstacles.items[obstacle].which == RBT_OBSTACLE_PLANE)
        return rbt_fail(error, "obstacle %zu is a plane, which has no end and cannot turn, only move", obstacle);
    return rbt_sim_guide(sim, guide, d, error);
}

bool rbt_sim_drive_obstacle_to(rbt_sim *sim, size_t obstacle, const double offset[3], double duration,
                               rbt_error *error) {
    size_t guide = 0;
    return find_obstacle(sim, obstacle, &guide, error) && drive_to(sim, guide, offset, duration, error);
}
