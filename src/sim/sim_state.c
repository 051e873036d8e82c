// States of a simulation (rubato/state.h): setting, saving, restoring, cloning.
#include "base/threads.h"
#include "mesh/core/build.h"
#include "model/fingerprint.h"
#include "model/force.h"
#include "model/input.h"
#include "out/checkpoint.h"
#include "rubato/state.h"
#include "sim/sim.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- Setting

static bool check_values(const rbt_sim *sim, size_t begin, size_t count, const double *values, const char *what,
                         rbt_error *error) {
    if (!rbt_sim_is_there(sim, error)) return false;
    size_t nodes = sim->model->node_count;
    if (count > nodes || begin > nodes - count)
        return rbt_fail(error, "%s of %zu nodes from node %zu on are given, but there are %zu nodes", what, count,
                        begin, nodes);
    if (count && !values) return rbt_fail(error, "%s of %zu nodes are given at NULL", what, count);
    for (size_t i = 0; i < 3 * count; i++)
        if (!isfinite(values[i]))
            return rbt_fail(error, "%s of node %zu: component %zu is %g; all must be finite", what, begin + i / 3,
                            i % 3, values[i]);
    return true;
}

// A copy of `old` (node_count x 3) with the values of free nodes put in
static double *changed_copy(const rbt_sim *sim, const double *old, size_t begin, size_t count, const double *values,
                            rbt_error *error) {
    size_t nodes = sim->model->node_count;
    double *copy = rbt_array_new(nodes, 3 * sizeof *copy, "a state", error);
    unsigned char *constrained = rbt_array_new(nodes, 1, "a state", error);
    if (copy && constrained) {
        memcpy(copy, old, 3 * nodes * sizeof *copy);
        rbt_constrained_nodes(sim->model, sim->state.t, constrained);
        for (size_t i = 0; i < count; i++)
            if (!constrained[begin + i]) memcpy(copy + 3 * (begin + i), values + 3 * i, 3 * sizeof *copy);
        free(constrained);
        return copy;
    }
    free(copy);
    free(constrained);
    return NULL;
}

// Whether the simulation can continue from a state that differs in x or v
static bool check_state(const rbt_sim *sim, const rbt_state *next, rbt_error *error) {
    const rbt_model *m = sim->model;
    const rbt_method *method = sim->stepper.method;
    rbt_step_report report;
    char text[192];
    if (rbt_report_inverted(&report, m, next->x))
        return rbt_fail(error,
                        "tet %lld of body \"%s\" would be inside out (det F = %.3g), which its material forbids",
                        (long long)report.element, m->bodies[report.body].name, report.value);
    rbt_energies e = rbt_model_energies(m, next, sim->stepper.energies);
    if (!isfinite(e.total))
        return rbt_fail(error, "the energy would be beyond any number (kinetic %.3g J, elastic %.3g J)", e.kinetic,
                        e.elastic);
    if (!method->accepts || next->x == sim->state.x || method->accepts(sim->stepper.self, next, text, sizeof text))
        return true;
    return rbt_fail(error, "%s would touch or cross (node numbers count through all bodies), but %s needs a gap",
                    text, method->name);
}

static bool set(rbt_sim *sim, size_t begin, size_t count, const double *values, bool places, rbt_error *error) {
    if (!check_values(sim, begin, count, values, places ? "positions" : "velocities", error)) return false;
    double *now = places ? sim->state.x : sim->state.v;
    double *next = changed_copy(sim, now, begin, count, values, error);
    if (!next) return false;
    int threads = rbt_threads_enter(sim->threads);
    rbt_state view = sim->state;
    *(places ? &view.x : &view.v) = next;
    bool good = check_state(sim, &view, error) && rbt_sim_before_jump(sim, error);
    if (good) {
        memcpy(now, next, 3 * sim->model->node_count * sizeof *now);
        rbt_stepper_forget(&sim->stepper, &sim->state);
        rbt_sim_after_jump(sim);
    }
    rbt_threads_leave(threads);
    free(next);
    return good;
}

bool rbt_sim_set_positions(rbt_sim *sim, size_t begin, size_t count, const double *positions, rbt_error *error) {
    return set(sim, begin, count, positions, true, error);
}

bool rbt_sim_set_velocities(rbt_sim *sim, size_t begin, size_t count, const double *velocities, rbt_error *error) {
    return set(sim, begin, count, velocities, false, error);
}

// ---- Saving

static uint64_t method_hash(const rbt_sim *sim) {
    const char *name = sim->stepper.method->name;
    return rbt_hash(1, name, strlen(name)) | 1;
}

static uint64_t fingerprint_of(const rbt_sim *sim) {
    return sim->model->uncut_fingerprint ? sim->model->uncut_fingerprint : sim->fingerprint;
}

bool rbt_sim_save_to(const rbt_sim *sim, rbt_state *state, rbt_error *error) {
    if (!rbt_sim_is_there(sim, error)) return false;
    if (!state) return rbt_fail(error, "there is no state to save to: the pointer is NULL");
    if (!rbt_state_copy(state, &sim->state, error)) return false;
    if (!rbt_state_reserve_watch(state, rbt_energy_watch_packed_size(&sim->watch), error)) {
        rbt_state_clear(state);
        return false;
    }
    rbt_energy_watch_pack(&sim->watch, state->watch);
    state->fingerprint = fingerprint_of(sim);
    state->method = method_hash(sim);
    return true;
}

rbt_state *rbt_sim_save(const rbt_sim *sim, rbt_error *error) {
    rbt_state *state = rbt_sim_is_there(sim, error) ? rbt_array_new(1, sizeof *state, "a state", error) : NULL;
    if (state && rbt_sim_save_to(sim, state, error)) return state;
    free(state);
    return NULL;
}

void rbt_state_free(rbt_state *state) {
    if (!state) return;
    rbt_state_clear(state);
    free(state);
}

double rbt_state_time(const rbt_state *state) { return state ? state->t : 0; }
size_t rbt_state_node_count(const rbt_state *state) { return state ? state->node_count : 0; }
const double *rbt_state_positions(const rbt_state *state) { return state ? state->x : NULL; }
const double *rbt_state_velocities(const rbt_state *state) { return state ? state->v : NULL; }

static bool is_full(const rbt_state *state, rbt_error *error) {
    if (!state) return rbt_fail(error, "there is no state: the pointer is NULL");
    return state->x || rbt_fail(error, "the state is empty: nothing was saved to it");
}

bool rbt_state_write(const rbt_state *state, const char *path, rbt_error *error) {
    if (!is_full(state, error)) return false;
    if (!path) return rbt_fail(error, "there is no file name: the pointer is NULL");
    return rbt_checkpoint_write(path, NULL, state, error);
}

rbt_state *rbt_state_read(const char *path, rbt_error *error) {
    if (!path) rbt_fail(error, "there is no file name: the pointer is NULL");
    rbt_state *state = path ? rbt_array_new(1, sizeof *state, "a state", error) : NULL;
    if (state && rbt_checkpoint_read(path, NULL, RBT_SAME_NODES, state, error)) return state;
    free(state);
    return NULL;
}

bool rbt_state_pack(const rbt_state *state, void **bytes, size_t *size, rbt_error *error) {
    rbt_bytes packed;
    if (!is_full(state, error)) return false;
    if (!bytes || !size) return rbt_fail(error, "there is no place for the bytes: a pointer is NULL");
    if (!rbt_checkpoint_pack(NULL, state, &packed, error)) return false;
    *bytes = packed.data;
    *size = packed.size;
    return true;
}

rbt_state *rbt_state_unpack(const void *bytes, size_t size, rbt_error *error) {
    if (!bytes) rbt_fail(error, "there are no bytes: the pointer is NULL");
    rbt_state *state = bytes ? rbt_array_new(1, sizeof *state, "a state", error) : NULL;
    if (state && rbt_checkpoint_parse("the state", bytes, size, NULL, RBT_SAME_NODES, state, error)) return state;
    free(state);
    return NULL;
}

// ---- Restoring

// Whether the model has what the state says of materials
static bool same_materials(const rbt_sim *sim, const rbt_state *state) {
    rbt_material_values values = rbt_sim_materials(sim, state);
    return rbt_materials_are(sim->model, &values);
}

static bool same_cuts(const rbt_sim *sim, const rbt_state *state) {
    return sim->state.cuts_size == state->cuts_size &&
           (!state->cuts_size || memcmp(sim->state.cuts, state->cuts, state->cuts_size) == 0);
}

static bool fail_inside(rbt_error *error) {
    return rbt_fail(error,
                    "the step is chosen again after cuts and with other materials, where frames end: a state inside "
                    "a frame cannot be restored; save it at a frame");
}

static bool fits(const rbt_sim *sim, const rbt_state *s, rbt_error *error) {
    const rbt_model *m = sim->model;
    if (!is_full(s, error)) return false;
    if (s->fingerprint != fingerprint_of(sim))
        return rbt_fail(error,
                        "the state was made with another scene (another mesh, material, force, motion or step)");
    if (s->method && s->method != method_hash(sim))
        return rbt_fail(error, "the state was made by another method than %s", sim->stepper.method->name);
    bool by_error = sim->stepper.control.on;  // its steps lie anywhere in the frame
    double length = by_error ? m->frame_interval : m->step, near = 1e-3 * length;
    double begin = (double)s->frame * m->frame_interval + (by_error ? 0 : (double)s->step * m->step);
    if ((!by_error && s->step >= m->steps_per_frame) || s->t < begin - near || s->t > begin + length + near)
        return rbt_fail(error, "the state is at %g s, in step %lld of frame %lld, which the scene has at %g s", s->t,
                        (long long)s->step, (long long)s->frame, begin);
    if (sim->chooses && s->cuts_size && s->step) return fail_inside(error);
    if (!same_cuts(sim, s)) return true;  // the rest is checked with the model that they make
    if (s->node_count != m->node_count || (s->memory_size && s->memory_size != sim->stepper.memory_size))
        return rbt_fail(error,
                        "the state has %zu nodes and %zu bytes of a method's memory, but the scene has %zu and %zu",
                        s->node_count, s->memory_size, m->node_count, sim->stepper.memory_size);
    if (s->input_size && !rbt_input_is_sound(m, s->input, s->input_size))
        return rbt_fail(error, "the forces and motions of the state do not fit the scene");
    return !sim->chooses || !s->step || same_materials(sim, s) || fail_inside(error);
}

static bool has_forces(const rbt_state *state) {
    const double *force = state->input_size ? rbt_input_forces(state) : NULL;
    for (size_t i = 0; force && i < 3 * state->node_count; i++)
        if (force[i] != 0) return true;
    return false;
}

// The watch where it was, or beginning again
static void place_watch(rbt_sim *sim, const rbt_state *state) {
    const void *bytes = state->watch;
    size_t size = state->watch_size;
    if (size && rbt_energy_watch_unpack(&sim->watch, bytes, size)) return;
    // One that has met forces knows more of them.
    if (size && rbt_outside_make_room(&sim->watch.outside, NULL) && rbt_energy_watch_unpack(&sim->watch, bytes, size))
        return;
    sim->watch.begun = false;
    sim->watch.t = NAN;
    rbt_energy_watch_after_input(&sim->watch, &sim->state);
}

// Into the same model
static bool put_back(rbt_sim *sim, const rbt_state *state, rbt_error *error) {
    rbt_state next = {0};
    bool room = rbt_state_has_room(&sim->state, state);
    if (has_forces(state) && !rbt_outside_make_room(&sim->watch.outside, error)) return false;
    if (!room && (!rbt_state_copy(&next, state, error) || !rbt_stepper_prepare(&sim->stepper, &next, error))) {
        rbt_state_clear(&next);
        return false;
    }
    if (room) rbt_state_copy(&sim->state, state, error);
    else {
        rbt_state_clear(&sim->state);
        sim->state = next;
    }
    rbt_input_attach(sim->model, &sim->state);
    rbt_stepper_reset(&sim->stepper);
    place_watch(sim, state);
    return true;
}

static rbt_sources *copy_sources(const rbt_sources *sources, rbt_error *error) {
    rbt_sources *copy = rbt_sources_new(sources->body_count, sources->obstacle_count, error);
    for (size_t o = 0; copy && o < sources->obstacle_count; o++)
        copy->obstacles[o] = rbt_obstacle_geometry_keep(sources->obstacles[o]);
    for (size_t b = 0; copy && b < sources->body_count; b++) {
        copy->fits[b] = sources->fits[b];
        if ((copy->meshes[b] = rbt_mesh_copy(sources->meshes[b], "the mesh of a body", error))) continue;
        rbt_sources_free(copy);
        copy = NULL;
    }
    return copy;
}

// The model that cuts have led to, with all it is made from
static bool cut_model(rbt_sim *next, const rbt_sim *sim, rbt_error *error) {
    if (!(next->sources = copy_sources(sim->sources, error)) ||
        !(next->model = rbt_model_compile_sources(next->scene, next->sources, error)) ||
        !(next->cutting = rbt_cutting_new(next->scene, next->sources, next->model, error)))
        return false;
    if (!next->state.cuts_size) {
        next->model->generation = sim->model->generation + 1;
        return next->state.node_count == next->model->node_count ||
               rbt_fail(error, "the state has %zu nodes, but the scene has %zu", next->state.node_count,
                        next->model->node_count);
    }
    rbt_model *model = rbt_cutting_restore(next->cutting, next->model, &next->state, error);
    if (!model) return false;
    model->generation = sim->model->generation + 1;
    rbt_model_free(next->model);
    next->model = model;
    return true;
}

// A model with the materials of the state
static bool take_materials(rbt_sim *next, rbt_error *error) {
    rbt_material_values values = rbt_sim_materials(next, &next->state);
    if (rbt_materials_are(next->model, &values)) return true;
    rbt_model *model = rbt_model_with_materials(next->model, &values, error);
    if (!model) return false;
    rbt_model_free(next->model);
    next->model = model;
    return true;
}

// Another simulation of the same scene in this state
static rbt_sim *make_in(const rbt_sim *sim, const rbt_state *state, rbt_error *error) {
    rbt_sim *next = rbt_sim_begin(sim->scene, error);
    if (!next) return NULL;
    next->chooses = sim->chooses;
    next->longest = sim->longest;
    next->changed = sim->changed;
    next->threads = sim->threads;
    next->fingerprint = sim->fingerprint;
    bool good =
        rbt_state_copy(&next->state, state, error) &&
        (sim->cutting ? cut_model(next, sim, error) : (next->model = rbt_model_share(sim->model, error)) != NULL);
    if (good && next->model->described) next->model->described = next->scene->bodies.items;
    good = good && rbt_sim_note_materials(next, error);
    if (good && state->input_size && !rbt_input_is_sound(next->model, state->input, state->input_size))
        good = rbt_fail(error, "the forces and motions of the state do not fit the scene");
    good = good && take_materials(next, error);
    if (good && (sim->cutting || !same_materials(sim, state)))
        good = !sim->chooses || rbt_sim_choose_step(next, error);
    if (good) rbt_input_attach(next->model, &next->state);
    if (good && rbt_sim_equip(next, error)) {
        next->stepper.stages.stop = sim->stepper.stages.stop;
        next->watch.every_frame = sim->watch.every_frame;
        place_watch(next, state);
        return next;
    }
    rbt_sim_free(next);
    return NULL;
}

rbt_sim *rbt_sim_clone(const rbt_sim *sim, rbt_error *error) {
    rbt_state *state = rbt_sim_save(sim, error);
    if (!state) return NULL;
    int threads = rbt_threads_enter(sim->threads);
    rbt_sim *clone = make_in(sim, state, error);
    rbt_threads_leave(threads);
    rbt_state_free(state);
    return clone;
}

// The forces of the latest step while springs drag, which no state has: the energy watch counts their work until the
// next step begins.
static bool keep_acting(rbt_sim *next, const rbt_sim *sim, rbt_error *error) {
    size_t nodes = next->model->node_count;
    if (!sim->acting || sim->model->input->force != sim->acting || sim->acting_count != nodes) return true;
    if (!(next->acting = rbt_array_new(nodes, 3 * sizeof *next->acting, "forces", error))) return false;
    memcpy(next->acting, sim->acting, 3 * nodes * sizeof *next->acting);
    next->acting_count = nodes;
    next->model->input->force = next->acting;
    return true;
}

rbt_sim *rbt_sim_extend(const rbt_sim *sim, const rbt_scene *scene, rbt_error *error) {
    rbt_sim *next = rbt_sim_create(scene, error);
    rbt_state *state = next ? rbt_sim_save(sim, error) : NULL;
    bool good = state && rbt_input_extend(next->model, state, error) &&
                (!state->cuts_size || rbt_cutting_extend(next->cutting, state, error));
    if (good) {
        next->threads = sim->threads;
        next->stepper.stages.stop = sim->stepper.stages.stop;
        next->watch.every_frame = sim->watch.every_frame;
        next->changed = sim->changed;
        state->fingerprint = next->fingerprint;
        good = rbt_sim_restore(next, state, error) && keep_acting(next, sim, error);
    }
    rbt_state_free(state);
    if (!good) {
        rbt_sim_free(next);
        return NULL;
    }
    next->stepper.stages = sim->stepper.stages;
    memcpy(next->stepper.statistics, sim->stepper.statistics, sizeof next->stepper.statistics);
    next->cut_seconds = sim->cut_seconds;
    if (next->model->generation <= sim->model->generation) next->model->generation = sim->model->generation + 1;
    return next;
}

// Other cuts or materials: everything is made again before anything is given up.
static bool put_into_other_model(rbt_sim *sim, const rbt_state *state, rbt_error *error) {
    if (!sim->cutting && state->cuts_size) return rbt_fail(error, "bodies were cut, but the scene has no cuts");
    rbt_sim *next = make_in(sim, state, error);
    if (!next) return false;
    next->stepper.stages = sim->stepper.stages;
    memcpy(next->stepper.statistics, sim->stepper.statistics, sizeof next->stepper.statistics);
    next->cut_seconds = sim->cut_seconds;
    next->topology = sim->topology + !same_cuts(sim, state);
    rbt_sim swap = *sim;
    *sim = *next;
    *next = swap;
    sim->watch.stepper = &sim->stepper;
    rbt_sim_free(next);
    return true;
}

bool rbt_sim_restore(rbt_sim *sim, const rbt_state *state, rbt_error *error) {
    if (!rbt_sim_is_there(sim, error) || !fits(sim, state, error)) return false;
    int threads = rbt_threads_enter(sim->threads);
    bool same = same_cuts(sim, state) && same_materials(sim, state);
    bool good = same ? put_back(sim, state, error) : put_into_other_model(sim, state, error);
    rbt_threads_leave(threads);
    return good;
}
