// The life of a simulation, and what it tells at once.
#include "sim/sim.h"

#include "base/processor.h"
#include "base/threads.h"
#include "model/fingerprint.h"
#include "scene/table.h"
#include "sim/choice.h"
#include "step/core/body_methods.h"

#include <math.h>
#include <stdio.h>

// A start that no step can continue from: the energies of frame 0 would not be numbers.
static bool check_start(const rbt_sim *sim, const rbt_scene *scene, rbt_error *error) {
    const rbt_model *m = sim->model;
    rbt_step_report report;
    bool inverted = rbt_report_inverted(&report, m, sim->state.x);
    if (!inverted && rbt_ranks_any(m, false)) return rbt_fail(error, "%s", "");  // another rank says why
    if (inverted) {
        char path[64];
        rbt_ranks_any(m, true);
        snprintf(path, sizeof path, "bodies[%lld].deform", (long long)report.body);
        return rbt_fail_path(
            error, scene->file, path,
            "tet %lld of body \"%s\" starts inside out (det F = %.3g), which its material forbids; take "
            "another deformation or stable-neo-hookean",
            (long long)report.element, m->bodies[report.body].name, report.value);
    }
    rbt_sum *energies = rbt_array_new(m->plan.chunk_count + 1, sizeof *energies, "energies", error);
    if (!energies) return false;
    rbt_energies e = rbt_model_energies(m, &sim->state, energies);
    free(energies);
    if (isfinite(e.total)) return true;
    return rbt_fail_path(
        error, scene->file, "bodies",
        "the energy of the start is beyond any number (kinetic %.3g J, elastic %.3g J, gravity %.3g J, "
        "contact %.3g J); check velocities, deformations, materials and forces",
        e.kinetic, e.elastic, e.gravity, e.contact);
}

rbt_sim *rbt_sim_begin(const rbt_scene *scene, rbt_error *error) {
    rbt_sim *sim = rbt_array_new(1, sizeof *sim, "a simulation", error);
    if (!sim) return NULL;
    sim->arena = rbt_arena_new();
    sim->workspace = sim->arena ? rbt_arena_take(sim->arena, 1, sizeof *sim->workspace) : NULL;
    sim->scene = sim->arena ? rbt_arena_take(sim->arena, 1, sizeof *sim->scene) : NULL;
    bool good = sim->workspace && sim->scene && rbt_record_copy(&RBT_SCENE_RECORD, sim->arena, scene, sim->scene);
    if (good && scene->folder) good = (sim->scene->folder = rbt_arena_text(sim->arena, scene->folder)) != NULL;
    if (good && scene->file) good = (sim->scene->file = rbt_arena_text(sim->arena, scene->file)) != NULL;
    if (good) {
        rbt_body_methods_simplify(sim->scene);
        return sim;
    }
    rbt_fail_memory(error, sizeof *sim->scene, "the scene");
    rbt_sim_free(sim);
    return NULL;
}

// With cuts, models are compiled while time runs, so meshes must stay.
static bool compile(rbt_sim *sim, rbt_error *error) {
    if (!rbt_scene_cut_count(sim->scene)) return (sim->model = rbt_model_compile(sim->scene, error)) != NULL;
    return (sim->sources = rbt_sources_new(sim->scene->bodies.count, sim->scene->obstacles.count, error)) &&
           (sim->model = rbt_model_compile_sources(sim->scene, sim->sources, error)) &&
           (sim->cutting = rbt_cutting_new(sim->scene, sim->sources, sim->model, error));
}

// The step of a scene that leaves it to the method: a function of the model alone, so that a resumed run has the same
bool rbt_sim_choose_step(rbt_sim *sim, rbt_error *error) {
    const rbt_scene *scene = sim->scene;
    const rbt_method *method = rbt_method_at(scene->integrator.method);
    if (!isnan(scene->time.step) && !sim->chooses) return true;
    if (method && method->error_law) return true;
    sim->chooses = true;
    if (!method || !method->choose_step)
        return rbt_fail_path(error, scene->file, "time.step",
                             "\"auto\" is for methods whose steps can be chosen by their error and for imex, which "
                             "chooses one; give %s a step",
                             method ? method->name : "the method");
    double step = method->choose_step(sim->model, scene->integrator.options, error);
    if (!(step > 0)) return false;
    if (sim->longest > 0 && step > sim->longest) step = sim->longest;
    rbt_model_set_step(sim->model, step);
    sim->scene->time.step = sim->model->step;  // for models after cuts, until one is chosen for them
    return true;
}

bool rbt_sim_equip(rbt_sim *sim, rbt_error *error) {
    return rbt_stepper_init(&sim->stepper, sim->model, &sim->scene->integrator, error) &&
           rbt_stepper_prepare(&sim->stepper, &sim->state, error) &&
           rbt_energy_watch_init(&sim->watch, &sim->stepper, error);
}

bool rbt_sim_is_there(const rbt_sim *sim, rbt_error *error) {
    return sim || rbt_fail(error, "there is no simulation: the pointer is NULL");
}

// Meshes in memory are the caller's, and are not needed any more.
static void forget_meshes(rbt_scene *scene) {
    for (size_t b = 0; b < scene->bodies.count; b++) {
        rbt_body_def *body = (rbt_body_def *)(uintptr_t)&scene->bodies.items[b];
        body->mesh.mesh = NULL;
    }
    for (size_t o = 0; o < scene->obstacles.count; o++) {
        if (scene->obstacles.items[o].which != RBT_OBSTACLE_MESH) continue;
        rbt_obstacle_mesh *mesh = (rbt_obstacle_mesh *)(uintptr_t)scene->obstacles.items[o].value;
        rbt_sequence_def *sequence = (rbt_sequence_def *)(uintptr_t)mesh->sequence;
        mesh->mesh.mesh = NULL;
        if (sequence) sequence->positions = NULL;
    }
}

bool rbt_scene_is_open(const rbt_scene *scene) {
    const rbt_integrator_def *def = &scene->integrator;
    return def->method < 0 || def->solver < 0;
}

// Method and solver of a scene that leaves them open
static bool choose_method(rbt_sim *sim, rbt_error *error) {
    rbt_integrator_def *def = &sim->scene->integrator;
    if (!rbt_scene_is_open(sim->scene)) return true;
    sim->choice = rbt_array_new(1, sizeof *sim->choice, "a choice", error);
    if (!sim->choice || !rbt_choose(sim, &sim->state, def->method, def->method < 0 ? -1 : def->solver, -1,
                                    "the run begins", sim->choice, error))
        return false;
    const rbt_method_candidate *best = &sim->choice->candidates[sim->choice->best];
    def->method = best->method;
    def->solver = best->solver;
    sim->longest = best->longest;
    sim->scene->goal.error = sim->choice->error;
    if (sim->model->asked.error > 0) rbt_model_ask(sim->model, sim->choice->error);
    return true;
}

// With a model that it has
static bool make(rbt_sim *sim, const rbt_scene *scene, rbt_error *error) {
    return rbt_sim_note_materials(sim, error) && rbt_state_init(&sim->state, sim->model, error) &&
           check_start(sim, scene, error) && choose_method(sim, error) && rbt_sim_choose_step(sim, error) &&
           rbt_sim_equip(sim, error);
}

// The end of making one, good or not
static rbt_sim *finish(rbt_sim *sim, bool good, const rbt_scene *scene, rbt_error *error) {
    if (good) {
        forget_meshes(sim->scene);
        return sim;
    }
    // What stepper and start say has a path; of several scenes the file tells which one it is.
    if (error && error->path[0] && !error->file[0] && scene->file)
        snprintf(error->file, sizeof error->file, "%s", scene->file);
    rbt_sim_free(sim);
    return NULL;
}

rbt_sim *rbt_sim_create(const rbt_scene *scene, rbt_error *error) {
    if (!rbt_processor_check(error) || !rbt_scene_check(scene, error)) return NULL;
    rbt_sim *sim = rbt_sim_begin(scene, error);
    if (!sim) return NULL;
    bool good = compile(sim, error) && make(sim, scene, error);
    if (good) sim->fingerprint = rbt_model_fingerprint(sim->model);
    return finish(sim, good, scene, error);
}

rbt_sim *rbt_sim_create_part(const rbt_scene *scene, rbt_model *model, rbt_error *error) {
    rbt_sim *sim = rbt_sim_begin(scene, error);
    if (!sim) {
        rbt_model_free(model);
        return NULL;
    }
    sim->model = model;
    sim->fingerprint = model->uncut_fingerprint;
    return finish(sim, make(sim, scene, error), scene, error);
}

void rbt_sim_free(rbt_sim *sim) {
    if (!sim) return;
    rbt_energy_watch_free(&sim->watch);
    rbt_stepper_free(&sim->stepper);
    rbt_state_clear(&sim->state);
    rbt_model_free(sim->model);
    rbt_model_free(sim->previous);
    rbt_cutting_free(sim->cutting);
    rbt_sources_free(sim->sources);
    free(sim->acting);
    free(sim->choice);
    if (sim->workspace) rbt_sim_workspace_clear(sim->workspace);
    rbt_arena_free(sim->arena);
    free(sim);
}

void rbt_sim_set_stop(rbt_sim *sim, const volatile int *stop) {
    if (sim) sim->stepper.stages.stop = stop;
}

bool rbt_sim_set_threads(rbt_sim *sim, int count, rbt_error *error) {
    if (!rbt_sim_is_there(sim, error)) return false;
    if (count < 0 || count > RBT_MAX_THREADS)
        return rbt_fail(error, "%d threads: the number must be at least 0 and at most %d", count, RBT_MAX_THREADS);
    sim->threads = count;
    return true;
}

double rbt_sim_time(const rbt_sim *sim) { return sim ? sim->state.t : 0; }
double rbt_sim_frame_interval(const rbt_sim *sim) { return sim ? sim->model->frame_interval : 0; }
int64_t rbt_sim_frame(const rbt_sim *sim) { return sim ? sim->state.frame : 0; }
int64_t rbt_sim_frame_count(const rbt_sim *sim) { return sim ? sim->model->frame_count : 0; }
size_t rbt_sim_node_count(const rbt_sim *sim) { return sim ? sim->model->node_count : 0; }
const double *rbt_sim_positions(const rbt_sim *sim) { return sim ? sim->state.x : NULL; }
const double *rbt_sim_velocities(const rbt_sim *sim) { return sim ? sim->state.v : NULL; }
size_t rbt_sim_tet_count(const rbt_sim *sim) { return sim ? sim->model->tet_count : 0; }
const int32_t *rbt_sim_tets(const rbt_sim *sim) { return sim ? sim->model->tets : NULL; }
size_t rbt_sim_triangle_count(const rbt_sim *sim) { return sim ? sim->model->triangle_count : 0; }
const int32_t *rbt_sim_triangles(const rbt_sim *sim) { return sim ? sim->model->triangles : NULL; }
size_t rbt_sim_edge_count(const rbt_sim *sim) { return sim ? sim->model->edge_count : 0; }
const int32_t *rbt_sim_edges(const rbt_sim *sim) { return sim ? sim->model->edges : NULL; }

rbt_energies rbt_sim_energies(const rbt_sim *sim) {
    if (!sim) return (rbt_energies){0};
    int threads = rbt_threads_enter(sim->threads);
    rbt_energies e = rbt_stepper_energies(&sim->stepper, &sim->state);
    e.work = rbt_energy_watch_work(&sim->watch, &sim->state, &e);
    rbt_threads_leave(threads);
    return e;
}

rbt_energies rbt_sim_frame_energies(const rbt_sim *sim) {
    if (!sim->watch.begun || sim->watch.t != sim->state.t) return rbt_sim_energies(sim);
    rbt_energies e = sim->watch.energies;
    e.work = rbt_energy_watch_work(&sim->watch, &sim->state, &e);
    return e;
}

bool rbt_sim_before_jump(rbt_sim *sim, rbt_error *error) {
    rbt_step_report report;
    if (!sim->watch.begun) rbt_energy_watch_begin(&sim->watch, &sim->state);
    if (sim->watch.t == sim->state.t || rbt_energy_watch_look(&sim->watch, &sim->state, &report) == RBT_DONE)
        return true;
    return rbt_fail(error, "%s", report.hint);
}

void rbt_sim_after_jump(rbt_sim *sim) { rbt_energy_watch_begin(&sim->watch, &sim->state); }

const char *rbt_outcome_name(rbt_outcome outcome) {
    static const char *const names[RBT_OUTCOMES] = {
        [RBT_DONE] = "done",
        [RBT_NOT_FINITE] = "not finite",
        [RBT_INVERTED] = "inverted",
        [RBT_NOT_POSITIVE_DEFINITE] = "not positive definite",
        [RBT_NOT_CONVERGED] = "not converged",
        [RBT_OUT_OF_MEMORY] = "out of memory",
        [RBT_STALLED] = "stalled",
        [RBT_UNSTABLE] = "unstable",
        [RBT_CUT_FAILED] = "cut failed",
        [RBT_STOPPED] = "stopped",
        [RBT_REFUSED] = "refused",
        [RBT_EVENT_FAILED] = "event failed",
        [RBT_BLOCKED] = "blocked by contact",
    };
    return outcome >= 0 && outcome < RBT_OUTCOMES ? names[outcome] : "unknown";
}
