#include "sim/sim.h"

#include "base/clock.h"
#include "base/processor.h"
#include "base/threads.h"
#include "model/fingerprint.h"
#include "model/input.h"
#include "scene/table.h"
#include "sim/choice.h"
#include "step/core/body_methods.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS_AT_ONCE = 64 };

static const double ON_GRID = 1e-6;  // of a step: a time so near to the end of one is that

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

// For another model or state
static bool renew_watch(rbt_sim *sim, rbt_error *error) {
    bool every_frame = sim->watch.every_frame;
    rbt_energy_watch_free(&sim->watch);
    if (!rbt_energy_watch_init(&sim->watch, &sim->stepper, error)) return false;
    sim->watch.every_frame = every_frame;
    return true;
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

// The model that cuts and materials of the state lead to, beside the present one, which the caller frees then
static bool model_of_state(rbt_sim *sim, rbt_error *error) {
    rbt_model *cut = NULL;
    const rbt_state *s = &sim->state;
    if (s->cuts_size) {
        if (!sim->cutting) return rbt_fail(error, "bodies were cut, but the scene has no cuts");
        if (!(cut = rbt_cutting_restore(sim->cutting, sim->model, s, error))) return false;
        sim->model = cut;
    }
    if (s->input_size && !rbt_input_is_sound(sim->model, s->input, s->input_size))
        return rbt_fail(error, "the forces and motions of the state do not fit the scene");
    rbt_material_values values = rbt_sim_materials(sim, s);
    if (rbt_materials_are(sim->model, &values)) return true;
    rbt_model *changed = rbt_model_with_materials(sim->model, &values, error);
    if (!changed) return false;
    rbt_model_free(cut);
    sim->model = changed;
    return true;
}

bool rbt_sim_resume(rbt_sim *sim, rbt_state *state, rbt_error *error) {
    const volatile int *stop = sim->stepper.stages.stop;
    const rbt_step_log log = sim->stepper.control.log;
    rbt_state_clear(&sim->state);
    sim->state = *state;
    *state = (rbt_state){0};
    rbt_model *before = sim->model;
    bool good = model_of_state(sim, error);
    if (sim->model != before) {
        rbt_stepper_free(&sim->stepper);
        rbt_model_free(before);
        good = good && rbt_sim_choose_step(sim, error) &&
               rbt_stepper_init(&sim->stepper, sim->model, &sim->scene->integrator, error);
        rbt_sim_set_stop(sim, stop);
        sim->stepper.control.log = log;
    }
    if (!good) return false;
    rbt_input_attach(sim->model, &sim->state);
    rbt_stepper_reset(&sim->stepper);
    free(sim->state.watch);  // it begins again
    sim->state.watch = NULL;
    sim->state.watch_size = 0;
    return rbt_stepper_prepare(&sim->stepper, &sim->state, error) && renew_watch(sim, error);
}

static bool fail_change(rbt_step_report *report, rbt_outcome outcome, const char *stage, const rbt_error *error) {
    report->outcome = error->out_of_memory ? RBT_OUT_OF_MEMORY : outcome;
    report->stage = stage;
    report->body = report->element = -1;
    rbt_error_text(error, report->hint, sizeof report->hint);
    return false;
}

// A stepper and its watch in the place of those that are there, whose counts continue
static void put_stepper(rbt_sim *sim, rbt_stepper *next, rbt_energy_watch *watch) {
    next->stages = sim->stepper.stages;
    next->control.log = sim->stepper.control.log;
    memcpy(next->statistics, sim->stepper.statistics, sizeof next->statistics);
    watch->every_frame = sim->watch.every_frame;
    rbt_energy_watch_free(&sim->watch);
    rbt_stepper_free(&sim->stepper);
    sim->stepper = *next;
    sim->watch = *watch;
    sim->watch.stepper = &sim->stepper;
    rbt_stepper_forget(&sim->stepper, &sim->state);
}

bool rbt_sim_exchange(rbt_sim *sim, rbt_model *model, rbt_error *error) {
    rbt_model *before = sim->model;
    rbt_stepper next = {0};
    rbt_energy_watch watch = {0};
    double step = sim->scene->time.step;
    sim->model = model;
    bool good = (!sim->chooses || sim->state.step || rbt_sim_choose_step(sim, error)) &&
                rbt_stepper_init(&next, model, &sim->scene->integrator, error) &&
                rbt_energy_watch_init(&watch, &next, error) && rbt_stepper_prepare(&next, &sim->state, error);
    if (!good) {
        rbt_energy_watch_free(&watch);
        rbt_stepper_free(&next);
        rbt_model_free(model);
        sim->model = before;
        sim->scene->time.step = step;
        return false;
    }
    put_stepper(sim, &next, &watch);
    rbt_model_free(before);
    sim->changed = sim->state.step != 0;
    return true;
}

bool rbt_sim_take_choice(rbt_sim *sim, const rbt_chosen *chosen, rbt_error *error) {
    rbt_scene *scene = sim->scene;
    rbt_model *m = sim->model;
    const rbt_scene before = *scene;
    const rbt_asked_error asked = m->asked;
    double step = m->step;
    double longest = sim->longest;
    bool chooses = sim->chooses;
    rbt_stepper next = {0};
    rbt_energy_watch watch = {0};
    bool same = scene->integrator.method == chosen->method && scene->integrator.solver == chosen->solver &&
                scene->goal.error == chosen->error && longest == chosen->longest;
    if (same) return true;  // a method's memory lasts
    if (scene->integrator.method != chosen->method) scene->integrator.options = NULL;
    scene->integrator.method = chosen->method;
    scene->integrator.solver = chosen->solver;
    scene->goal.error = chosen->error;
    sim->longest = chosen->longest;
    if (asked.error > 0) {
        scene->time.step = NAN;
        sim->chooses = false;
        rbt_model_ask(m, chosen->error);
        rbt_model_set_step(m, m->frame_interval / RBT_NOMINAL_STEPS);
    }
    if (rbt_sim_choose_step(sim, error) && rbt_stepper_init(&next, m, &scene->integrator, error) &&
        rbt_energy_watch_init(&watch, &next, error) && rbt_stepper_prepare(&next, &sim->state, error)) {
        put_stepper(sim, &next, &watch);
        return true;
    }
    rbt_energy_watch_free(&watch);
    rbt_stepper_free(&next);
    *scene = before;
    m->asked = asked;
    rbt_model_set_step(m, step);
    sim->chooses = chooses;
    sim->longest = longest;
    return false;
}

static bool fail_cut(rbt_step_report *report, const rbt_error *error) {
    return fail_change(report, RBT_CUT_FAILED, "cut", error);
}

// After cuts a step that was left to the method is chosen again, at the end of the frame, so that its steps stay
// equal; the method begins afresh with it, as a resumed run does.
static bool choose_again(rbt_sim *sim, rbt_step_report *report) {
    rbt_error error = {0};
    rbt_stepper next;
    if (!sim->chooses || !sim->changed || sim->state.step != 0) return true;
    sim->changed = false;
    if (!rbt_sim_choose_step(sim, &error) || !rbt_stepper_init(&next, sim->model, &sim->scene->integrator, &error))
        return fail_cut(report, &error);
    next.stages = sim->stepper.stages;
    next.control.log = sim->stepper.control.log;
    memcpy(next.statistics, sim->stepper.statistics, sizeof next.statistics);
    rbt_stepper_free(&sim->stepper);
    sim->stepper = next;
    if (!rbt_stepper_prepare(&sim->stepper, &sim->state, &error)) return fail_cut(report, &error);
    if (sim->state.memory_size) memset(sim->state.memory, 0, sim->state.memory_size);
    return true;
}

// A model that is compiled after a cut has the materials of the scene; events may have led to others.
static bool keep_materials(const rbt_sim *sim, rbt_change *change, rbt_error *error) {
    rbt_material_values values = rbt_sim_materials(sim, &sim->state);
    if (!change->after || rbt_materials_are(change->after, &values)) return true;
    rbt_model *model = rbt_model_with_materials(change->after, &values, error);
    rbt_model_free(change->after);
    change->after = model;
    return model != NULL;
}

// Contact must be able to keep apart what a cut leaves.
static bool accepts_cut(const rbt_sim *sim, rbt_error *error) {
    const rbt_method *method = sim->stepper.method;
    char text[200];
    if (!sim->model->contact.on || !method->accepts ||
        method->accepts(sim->stepper.self, &sim->state, text, sizeof text))
        return true;
    return rbt_fail(error,
                    "after the cut contact cannot tell %s apart; move the cut a little, or take a larger "
                    "\"tolerance\" for it or a larger contact.thickness",
                    text);
}

// All cuts that are due. Trouble with them ends the run as a failed step does.
static bool make_cuts(rbt_sim *sim, rbt_step_report *report) {
    double start = rbt_now();
    rbt_error error = {0};
    if (!sim->watch.begun) rbt_energy_watch_begin(&sim->watch, &sim->state);
    if (sim->watch.t != sim->state.t && rbt_energy_watch_look(&sim->watch, &sim->state, report) != RBT_DONE)
        return false;
    bool good = true;
    const rbt_method *method = sim->stepper.method;
    while (good && rbt_cutting_due(sim->cutting, sim->state.t)) {
        rbt_change change;
        if (method->thickness) rbt_cutting_set_thickness(sim->cutting, method->thickness(sim->stepper.self));
        good = rbt_cutting_stroke(sim->cutting, sim->model, &sim->state, &change, &error) &&
               keep_materials(sim, &change, &error);
        if (good && change.after) {
            good = rbt_stepper_follow(&sim->stepper, &change, &sim->scene->integrator, &sim->state, &error);
            if (good) rbt_model_free(sim->model);
            else sim->previous = sim->model;
            sim->model = change.after;
            sim->changed = true;
            sim->topology++;
            good = good && rbt_input_follow(sim->model, &sim->state, &error);
            if (good) rbt_sim_share_forces(sim);
            rbt_input_attach(sim->model, &sim->state);
            good = good && accepts_cut(sim, &error);
        }
        rbt_change_free(&change);
    }
    good = good && renew_watch(sim, &error);
    if (good) rbt_energy_watch_begin(&sim->watch, &sim->state);
    sim->cut_seconds += rbt_now() - start;
    return good || fail_cut(report, &error);
}

// Energy that nothing accounts for: the steps are undone, as if they had failed.
static rbt_outcome watch_energy(rbt_sim *sim, const rbt_state *before, bool due, rbt_step_report *report) {
    rbt_state *s = &sim->state;
    double start = due ? rbt_now() : 0;
    rbt_outcome outcome = rbt_energy_watch_step(&sim->watch, s, due, report);
    if (due) rbt_stage_add(&sim->stepper.stages, "energy", rbt_now() - start);
    if (outcome == RBT_DONE) return RBT_DONE;
    rbt_stepper_undo(&sim->stepper, s, before->t);
    s->tally = before->tally;
    s->frame = before->frame;
    s->step = before->step;
    return outcome;
}

double rbt_sim_grid_time(const rbt_sim *sim, int64_t steps) {
    const rbt_model *m = sim->model;
    const rbt_state *s = &sim->state;
    return steps == m->steps_per_frame ? (double)(s->frame + 1) * m->frame_interval
                                       : (double)s->frame * m->frame_interval + (double)steps * m->step;
}

static double frame_end(const rbt_sim *sim) { return (double)(sim->state.frame + 1) * sim->model->frame_interval; }

// Steps of the stepper, on as many threads as pay if nobody has said how many. Those that fail are not compared.
typedef struct timed {
    int before;  // threads
    double start, work;
} timed;

static timed begin_timed(rbt_sim *sim, const rbt_step_report *report) {
    int most = rbt_threads_count();
    bool open = sim->threads == 0 && most > 1 && !rbt_threads_are_given();
    int start = rbt_thread_choice_start(sim->model->node_count, most);
    return (timed){.before = rbt_threads_enter(open ? rbt_thread_choice_begin(&sim->shared, most, start) : 0),
                   .start = open ? rbt_now() : NAN,
                   .work = report->statistics[RBT_STAT_ITERATIONS]};
}

static rbt_outcome end_timed(rbt_sim *sim, const timed *t, const rbt_step_report *report) {
    rbt_threads_leave(t->before);
    if (report->outcome == RBT_DONE && !isnan(t->start))
        rbt_thread_choice_end(&sim->shared, rbt_now() - t->start, report->statistics[RBT_STAT_ITERATIONS] - t->work);
    return report->outcome;
}

// One step whose length its error decides, until `stop` at most; `stop` is the end of the frame or lies before it.
static rbt_outcome advance_by_error(rbt_sim *sim, double stop, rbt_step_report *report) {
    rbt_state *s = &sim->state;
    double longest = rbt_sim_longest_step(sim);
    if (!sim->watch.begun) rbt_energy_watch_begin(&sim->watch, s);
    const rbt_state before = *s;
    timed t = begin_timed(sim, report);
    rbt_stepper_advance_by_error(&sim->stepper, s, stop, longest, report);
    if (end_timed(sim, &t, report) != RBT_DONE) return report->outcome;
    bool last = s->t == frame_end(sim);
    bool due = rbt_energy_watch_due(&sim->watch, &before, 1, last);
    s->step = last ? 0 : s->step + 1;
    s->frame += last;
    return watch_energy(sim, &before, due, report);
}

// `count` steps of this frame in one attempt, the first of them perhaps begun. Times are multiples of the frame
// interval and of the step within it, never sums: a resumed run computes the same.
static rbt_outcome advance_steps(rbt_sim *sim, int64_t count, rbt_step_report *report) {
    const rbt_model *m = sim->model;
    rbt_state *s = &sim->state;
    bool last = s->step + count == m->steps_per_frame;
    double until = rbt_sim_grid_time(sim, s->step + count);
    if (!sim->watch.begun) rbt_energy_watch_begin(&sim->watch, s);
    const rbt_state before = *s;
    bool due = sim->stepper.undoable = rbt_energy_watch_due(&sim->watch, s, count, last);
    timed t = begin_timed(sim, report);
    rbt_stepper_advance(&sim->stepper, s, until, report);
    if (end_timed(sim, &t, report) != RBT_DONE) return report->outcome;
    report->steps += count - 1;
    s->tally.steps += count - 1;
    s->step = last ? 0 : s->step + count;
    s->frame += last;
    return watch_energy(sim, &before, due, report);
}

bool rbt_sim_cut(rbt_sim *sim, rbt_step_report *report) {
    return !sim->cutting || !rbt_cutting_due(sim->cutting, sim->state.t) || make_cuts(sim, report);
}

// Cuts, events and what drags, before a step until `until`
static bool begin_step(rbt_sim *sim, double until, rbt_step_report *report) {
    rbt_error error = {0};
    const rbt_state *s = &sim->state;
    if (!rbt_sim_cut(sim, report)) return false;
    bool whole = fabs(s->t - rbt_sim_grid_time(sim, s->step)) <= ON_GRID * sim->model->step;
    return rbt_sim_begin_step(sim, whole, until - s->t, &error) ||
           fail_change(report, RBT_EVENT_FAILED, "event", &error);
}

// Cuts, events and what drags, before a step by error; the step ends where the next cut or event is due.
static rbt_outcome take_step_by_error(rbt_sim *sim, double stop, rbt_step_report *report) {
    rbt_error error = {0};
    if (!rbt_sim_cut(sim, report)) return report->outcome;
    const rbt_step_memory *memory = rbt_stepper_step_memory(&sim->stepper, &sim->state);
    double planned = rbt_step_control_plan(&sim->stepper.control, memory, stop - sim->state.t);
    if (!rbt_sim_begin_step(sim, true, fmin(planned, rbt_sim_longest_step(sim)), &error)) {
        fail_change(report, RBT_EVENT_FAILED, "event", &error);
        return report->outcome;
    }
    double due =
        fmin(rbt_sim_next_event(sim), sim->cutting ? rbt_cutting_next(sim->cutting, sim->state.t) : INFINITY);
    return advance_by_error(sim, fmin(stop, due), report);
}

rbt_outcome rbt_sim_take_step(rbt_sim *sim, rbt_step_report *report) {
    if (sim->stepper.control.on) return take_step_by_error(sim, frame_end(sim), report);
    if (!begin_step(sim, rbt_sim_grid_time(sim, sim->state.step + 1), report)) return report->outcome;
    if (advance_steps(sim, 1, report) == RBT_DONE && !choose_again(sim, report)) return report->outcome;
    return report->outcome;
}

// A part of a step: the grid of steps stays, and what is left of it comes next.
static rbt_outcome take_part(rbt_sim *sim, double until, rbt_step_report *report) {
    rbt_state *s = &sim->state;
    if (!begin_step(sim, until, report)) return report->outcome;
    if (!sim->watch.begun) rbt_energy_watch_begin(&sim->watch, s);
    const rbt_state before = *s;
    sim->stepper.undoable = false;
    if (rbt_stepper_advance(&sim->stepper, s, until, report) != RBT_DONE) return report->outcome;
    return watch_energy(sim, &before, false, report);
}

// The report of a call, empty; false: there is no simulation.
static bool begin_report(const rbt_sim *sim, rbt_step_report *report) {
    *report = (rbt_step_report){.body = -1, .element = -1, .stage = ""};
    if (sim) return true;
    report->outcome = RBT_REFUSED;
    snprintf(report->hint, sizeof report->hint, "there is no simulation: the pointer is NULL");
    return false;
}

bool rbt_sim_step(rbt_sim *sim, rbt_step_report *report) {
    rbt_step_report unused;
    if (!report) report = &unused;
    if (!begin_report(sim, report)) return false;
    int threads = rbt_threads_enter(sim->threads);
    bool done = rbt_sim_take_step(sim, report) == RBT_DONE;
    rbt_threads_leave(threads);
    return done;
}

static bool advance_frame(rbt_sim *sim, rbt_step_report *report) {
    const rbt_state *s = &sim->state;
    bool many = sim->stepper.method->own_steps && !sim->cutting && !sim->model->event_count && !rbt_input_drags(s) &&
                rbt_outside_is_idle(&sim->watch.outside);
    for (int64_t frame = s->frame; s->frame == frame;) {
        // A method with steps of its own needs no states in between, unless loads are to be followed. If it fails,
        // single steps find the last good one.
        int64_t left = sim->model->steps_per_frame - s->step, count = left < STEPS_AT_ONCE ? left : STEPS_AT_ONCE;
        if (many && (many = advance_steps(sim, count, report) == RBT_DONE)) continue;
        if (report->outcome == RBT_STOPPED || report->outcome == RBT_OUT_OF_MEMORY) return false;
        if (rbt_sim_take_step(sim, report) != RBT_DONE) return false;
    }
    return true;
}

bool rbt_sim_advance_frame(rbt_sim *sim, rbt_step_report *report) {
    rbt_step_report unused;
    if (!report) report = &unused;
    if (!begin_report(sim, report)) return false;
    int threads = rbt_threads_enter(sim->threads);
    bool done = advance_frame(sim, report);
    rbt_threads_leave(threads);
    return done;
}

static bool advance_to(rbt_sim *sim, double time, rbt_step_report *report) {
    const rbt_state *s = &sim->state;
    for (;;) {
        double near = ON_GRID * sim->model->step;
        if (time <= s->t + near) return true;
        if (sim->stepper.control.on) {
            double end = frame_end(sim), stop = end <= time + near ? end : time;
            if (take_step_by_error(sim, stop, report) != RBT_DONE) return false;
            continue;
        }
        bool whole = rbt_sim_grid_time(sim, s->step + 1) <= time + near;
        rbt_outcome outcome = whole ? rbt_sim_take_step(sim, report) : take_part(sim, time, report);
        if (outcome != RBT_DONE) return false;
        if (!whole) return true;
    }
}

bool rbt_sim_advance_to(rbt_sim *sim, double time, rbt_step_report *report) {
    rbt_step_report unused;
    if (!report) report = &unused;
    if (!begin_report(sim, report)) return false;
    if (!isfinite(time) || time < sim->state.t - ON_GRID * sim->model->step) {
        report->outcome = RBT_REFUSED;
        snprintf(report->hint, sizeof report->hint, "it is %.9g s now and cannot become %.9g s by stepping",
                 sim->state.t, time);
        return false;
    }
    int threads = rbt_threads_enter(sim->threads);
    bool done = advance_to(sim, time, report);
    rbt_threads_leave(threads);
    return done;
}

bool rbt_sim_run(rbt_sim *sim, rbt_frame_callback each, void *context, rbt_step_report *report) {
    rbt_step_report unused;
    if (!report) report = &unused;
    if (!begin_report(sim, report)) return false;
    if (each && !each(sim, sim->state.frame, context)) return true;
    while (sim->state.frame < sim->model->frame_count) {
        if (!rbt_sim_advance_frame(sim, report)) return false;
        if (each && !each(sim, sim->state.frame, context)) return true;
    }
    return true;
}

double rbt_sim_time(const rbt_sim *sim) { return sim ? sim->state.t : 0; }
double rbt_sim_step_length(const rbt_sim *sim) {
    const rbt_step_memory *memory = sim ? rbt_stepper_step_memory(&sim->stepper, &sim->state) : NULL;
    if (memory) return rbt_step_control_plan(&sim->stepper.control, memory, frame_end(sim) - sim->state.t);
    return sim ? sim->model->step : 0;
}

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
