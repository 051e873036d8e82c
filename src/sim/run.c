#include "sim/run.h"

#include "base/file.h"
#include "base/text.h"
#include "out/checkpoint.h"
#include "out/obstacle_file.h"
#include "out/recorder.h"
#include "rubato/state.h"
#include "scene/absolute_files.h"
#include "sim/run_choice.h"
#include "sim/run_report.h"
#include "sim/run_times.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { KEEP = 3 };  // intersections that are described per state

typedef struct run {
    const rbt_run_options *options;
    rbt_sim *sim;
    rbt_recorder *recorder;
    rbt_run_report report;
    char *report_path, *scene_path;
    int64_t last_frame;  // to go to
    double started;
    int lock;  // of the folder, -1: not held
    rbt_overlap overlap;
    rbt_verification verification;
    int verified_generation;  // of the model whose mesh it has
    rbt_observer observer;
    bool event_failed;                      // an event could not be judged
    double statistics[RBT_MAX_STATISTICS];  // of the frame
    rbt_probe_reading *readings;            // of the probes, in the frame
    double *contact;                        // (contact_nodes x 3) forces of the frame
    size_t contact_nodes;
    int32_t *labels;  // (label_nodes) of the frame
    size_t label_nodes;
    rbt_scene_file *acted;  // the scene with what was done to the run; NULL: nothing was
    bool scene_is_old;      // scene.json does not have all of it
    rbt_run_choices choices;
    rbt_choice choice;      // the latest of them
    rbt_chosen recalled;    // that was written down, for the start; of longest 0 if there is nothing to say
    rbt_state before;       // the frame to come, where methods are chosen
    int others;             // methods that were tried after one had failed
    bool chosen;            // since the listener heard last
    double acting_seconds;  // spent on acts and on waiting for them
    rbt_error *error;
} run;

static void stamp(char text[32]) {
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

// Whether scene.json says what this run's scene says; false with an error if it cannot be read.
static bool compare_scenes(const run *r, bool *same, rbt_error *error) {
    rbt_bytes before;
    const char *now = r->options->scene_text;
    *same = false;
    if (!rbt_file_read(r->scene_path, &before, error)) return false;
    *same = now && before.size == strlen(now) && memcmp(before.data, now, before.size) == 0;
    free(before.data);
    return true;
}

// A run that continues must be the run that stopped: the same scene, to the letter.
static bool same_scene(run *r) {
    bool same;
    if (!compare_scenes(r, &same, r->error)) return false;
    return same ||
           rbt_fail_at(r->error, r->scene_path, 0, 0,
                       "the scene has changed since this run was started; --from-frame N continues from frame N "
                       "with the changed scene");
}

static bool restore(run *r) {
    const rbt_run_options *o = r->options;
    const rbt_model *m = r->sim->model;
    rbt_state state = {0};
    if (o->resume && !same_scene(r)) return false;
    int64_t limit = o->resume ? INT64_MAX : o->from_frame;
    if (!rbt_checkpoint_newest(o->folder, limit, m, o->resume ? RBT_SAME_MODEL : RBT_SAME_NODES, &state, r->error))
        return false;
    bool fits = true;
    if (!o->resume && state.frame != o->from_frame)
        fits = rbt_fail_at(r->error, o->folder, 0, 0,
                           "has no checkpoint of frame %lld; the nearest before it is frame %lld",
                           (long long)o->from_frame, (long long)state.frame);
    else if (fabs(state.t - (double)state.frame * m->frame_interval) > 1e-9 * fmax(1, state.t))
        fits = rbt_fail_at(
            r->error, o->folder, 0, 0,
            "frame %lld of the earlier run was at %g s, but with frames every %g s it would be at %g s; keep "
            "time.frame as it was",
            (long long)state.frame, state.t, m->frame_interval, (double)state.frame * m->frame_interval);
    if (!fits) {
        rbt_state_clear(&state);
        return false;
    }
    return rbt_sim_resume(r->sim, &state, r->error);
}

static bool write_report(run *r, const char *status) {
    r->report.status = status;
    r->report.total_seconds = rbt_now() - r->started;
    return rbt_run_report_write(&r->report, r->report_path, r->error);
}

// Contact forces for the frame's VTU file, where bodies are kept apart
static bool note_contact(run *r) {
    const rbt_stepper *stepper = &r->sim->stepper;
    size_t nodes = r->sim->model->node_count;
    if (!r->options->scene->output.vtu || !rbt_method_has_contact(stepper->method, stepper->model)) return true;
    if (r->contact_nodes != nodes) {  // at first, and after a cut
        free(r->contact);
        r->contact_nodes = 0;
        if (!(r->contact = rbt_array_new(nodes, 3 * sizeof *r->contact, "contact forces", r->error))) return false;
        r->contact_nodes = nodes;
    }
    rbt_recorder_note_contact(r->recorder, r->contact);
    return rbt_sim_contact_forces(r->sim, r->contact, r->error);
}

// What the method makes of the nodes, for the frame's VTU file
static bool note_labels(run *r) {
    const rbt_stepper *stepper = &r->sim->stepper;
    size_t nodes = r->sim->model->node_count;
    if (!r->options->scene->output.vtu || !stepper->method->labels) return true;
    if (r->label_nodes != nodes) {
        free(r->labels);
        r->label_nodes = 0;
        if (!(r->labels = rbt_array_new(nodes, sizeof *r->labels, "labels", r->error))) return false;
        r->label_nodes = nodes;
    }
    int kind = stepper->method->labels(stepper->self, r->labels);
    rbt_recorder_note_labels(r->recorder, rbt_label_name(kind), kind < 0 ? NULL : r->labels);
    return true;
}

static void note_attempt(void *context, const rbt_step_attempt *attempt) { rbt_recorder_attempt(context, attempt); }

// Attempts at steps go into steps.csv.
static void listen(run *r) { r->sim->stepper.control.log = (rbt_step_log){note_attempt, r->recorder}; }

// ---- Acts

// scene.json has what was done until the frame that is written, as its checkpoint has. It can be run where it lies.
static bool write_scene(run *r) {
    if (!r->scene_is_old) return true;
    r->scene_is_old = false;
    char *text = rbt_scene_absolute_files(r->report.scene_text, r->report.scene->folder, r->error);
    bool good = text && rbt_file_write(r->scene_path, text, strlen(text), r->error);
    free(text);
    return good;
}

// The scene with one event more, and the simulation of it
static bool add_event(run *r, const char *event, rbt_error *error) {
    const rbt_scene *scene = r->report.scene;
    const char *text = r->report.scene_text, *members = strchr(event, '{');
    rbt_text setting = {0};
    if (!text) return rbt_fail(error, "the run has no scene as JSON that the event could be written to");
    if (!members) return rbt_fail(error, "an event is a JSON object");
    rbt_text_add(&setting, "events[%zu]={\"time\": %.17g, %s", scene->events.count, r->sim->state.t, members + 1);
    rbt_scene_file *file = NULL;
    if (setting.failed) rbt_fail_memory(error, setting.size, "an event");
    else file = rbt_scene_parse(text, strlen(text), scene->file, (const char *const[]){setting.text}, 1, error);
    rbt_text_free(&setting);
    rbt_scene with = file ? *rbt_scene_of(file) : (rbt_scene){0};
    if (r->choices.open) with.integrator = r->sim->scene->integrator, with.goal = r->sim->scene->goal;
    rbt_sim *next = file ? rbt_sim_extend(r->sim, &with, error) : NULL;
    if (!next) {
        rbt_scene_free(file);
        return false;
    }
    rbt_sim_free(r->sim);
    rbt_scene_free(r->acted);
    r->sim = next;
    listen(r);
    r->acted = file;
    r->report.sim = next;
    r->report.scene = rbt_scene_of(file);
    r->report.scene_text = rbt_scene_json(file);
    r->scene_is_old = true;
    return true;
}

static void do_acts(run *r) {
    const rbt_run_hand *hand = r->options->hand;
    const char *event;
    double start = rbt_now();
    while ((event = hand->act(r->sim, hand->self))) {
        rbt_error error = {0};
        bool good = add_event(r, event, &error);
        hand->acted(good ? NULL : &error, r->sim->state.t, hand->self);
    }
    r->acting_seconds += rbt_now() - start;
}

static bool write_frame(run *r, bool last) {
    double start = rbt_now();
    const rbt_state *state = &r->sim->state;
    int every = r->options->scene->output.checkpoint_every;
    bool checkpoint = every > 0 && (last || state->frame % every == 0);
    r->report.last = rbt_sim_frame_energies(r->sim);
    if (state->frame == 0) r->report.first = r->report.last;
    if (r->sim->model->probe_count && !rbt_sim_probes(r->sim, r->readings, r->error)) return false;
    rbt_recorder_note(r->recorder, r->statistics, r->readings);
    if (!note_contact(r) || !note_labels(r) || !write_scene(r)) return false;
    if (!rbt_recorder_follow(r->recorder, r->sim->model, r->error) ||
        !rbt_recorder_frame(r->recorder, state, &r->report.last, checkpoint, r->error))
        return false;
    r->report.frames = state->frame;
    r->report.write_seconds += rbt_now() - start;
    return write_report(r, "running");
}

static void tell(run *r, void (*hear)(const rbt_run_progress *, void *), const rbt_step_report *report,
                 double frame_seconds) {
    if (!hear) return;
    rbt_run_progress progress = {
        r->sim,     r->sim->state.frame, r->last_frame, rbt_now() - r->started, frame_seconds,
        report,     r->report.last,      &r->report,    r->report.verification, r->chosen ? &r->choice : NULL,
        &r->overlap};
    hear(&progress, r->options->listener);
    r->chosen = false;
}

static void see(void *context, rbt_seen what, double t, const double *x) {
    run *r = context;
    const rbt_state *state = &r->sim->state;
    rbt_verify_level level = r->options->verify;
    if (what == RBT_SEEN_START) {
        if (level == RBT_VERIFY_EVENTS) rbt_verification_restart(&r->verification, t, x);
        return;
    }
    uint64_t drawn = ((uint64_t)state->frame + 1) * 0x9e3779b97f4a7c15u >> 32;  // one step a frame
    // steps by error are as many as they are: the first
    uint64_t steps = r->sim->stepper.control.on ? 1 : (uint64_t)r->sim->model->steps_per_frame;
    if (level == RBT_VERIFY_FRAMES && state->step != (int64_t)(drawn % steps)) return;
    rbt_verified about = {.frame = state->frame, .step = state->step, .event = true, .t = t};
    if (!r->event_failed) r->event_failed = !rbt_verification_add(&r->verification, &about, x, r->error);
}

static bool prepare_verification(run *r) {
    const rbt_stepper *stepper = &r->sim->stepper;
    bool every = r->options->verify == RBT_VERIFY_EVENTS;
    if (every && !rbt_method_has_contact(stepper->method, stepper->model))
        return rbt_fail(r->error, "%s goes in steps and has no events to verify; verify its steps",
                        stepper->method->name);
    r->verification.event_ways = every;
    r->observer = (rbt_observer){every, see, r};
    rbt_stepper_set_observer(&r->sim->stepper, &r->observer);
    r->report.verification = &r->verification;
    r->verified_generation = r->sim->model->generation;
    return rbt_verification_set_model(&r->verification, r->sim->model, stepper->method, r->error);
}

// `failed`: the state before a step that failed
static bool verify(run *r, bool failed) {
    const rbt_state *state = &r->sim->state;
    rbt_verification *v = &r->verification;
    if (r->options->verify == RBT_VERIFY_NOTHING) return true;
    bool prepared = r->report.verification && r->verified_generation == r->sim->model->generation;
    if (!prepared && !prepare_verification(r)) return false;  // at first, and after a cut
    rbt_verified about = {.frame = state->frame, .step = state->step, .failed = failed, .t = state->t};
    // no motion leads back from where the step that failed had come to
    if (failed && r->options->verify == RBT_VERIFY_EVENTS) rbt_verification_restart(v, state->t, state->x);
    return rbt_verification_add(v, &about, state->x, r->error);
}

static bool has_step_probes(const rbt_model *m) {
    for (size_t i = 0; i < m->probe_count; i++)
        if (m->probes[i].every_step) return true;
    return false;
}

static bool read_step(run *r) {
    return rbt_sim_probes(r->sim, r->readings, r->error) &&
           rbt_recorder_step(r->recorder, r->sim->model, &r->sim->state, r->readings, r->error);
}

// Makes the cuts that are due, and shows the judge what they leave before anything moves on. Without contact their
// sides touch, which says nothing.
static rbt_run_end cut(run *r, rbt_step_report *report) {
    int generation = r->sim->model->generation;
    if (!rbt_sim_cut(r->sim, report)) return RBT_RUN_STEP_FAILED;
    if (r->sim->model->generation == generation || !r->sim->model->contact.on) return RBT_RUN_FINISHED;
    return verify(r, false) ? RBT_RUN_FINISHED : RBT_RUN_WORLD_FAILED;
}

// To the next frame; the frame itself is verified once it is written. RBT_RUN_FINISHED: it was reached.
static rbt_run_end advance(run *r, rbt_step_report *report) {
    double start = rbt_now(), verified = r->verification.seconds, acting = r->acting_seconds;
    int64_t frame = r->sim->state.frame;
    rbt_run_end end = RBT_RUN_FINISHED;
    bool each = r->options->verify >= RBT_VERIFY_STEPS, probed = has_step_probes(r->sim->model);
    const rbt_run_hand *hand = r->options->hand;
    bool steps = r->options->verify != RBT_VERIFY_NOTHING || probed || hand;
    if (!steps && !rbt_sim_advance_frame(r->sim, report)) end = RBT_RUN_STEP_FAILED;
    if (steps) *report = (rbt_step_report){.body = -1, .element = -1, .stage = ""};
    while (r->sim->state.frame == frame && end == RBT_RUN_FINISHED) {
        if (hand) do_acts(r);
        if ((end = cut(r, report)) != RBT_RUN_FINISHED) break;
        if (rbt_sim_take_step(r->sim, report) != RBT_DONE) end = RBT_RUN_STEP_FAILED;
        else if (r->sim->state.frame != frame) break;
        else if ((each && !verify(r, false)) || (probed && !read_step(r))) end = RBT_RUN_WORLD_FAILED;
        else if (hand) hand->stepped(r->sim, hand->self);
    }
    r->report.step_seconds += rbt_now() - start - (r->verification.seconds - verified) - (r->acting_seconds - acting);
    if (end == RBT_RUN_STEP_FAILED && report->outcome == RBT_STOPPED) end = RBT_RUN_INTERRUPTED;
    return r->event_failed ? RBT_RUN_WORLD_FAILED : end;
}

// Whether another method would be better from now on
static bool reconsider(run *r, double seconds) {
    size_t rows = r->choices.count;
    if (!r->choices.open) return true;
    if (!rbt_run_reconsider(&r->choices, r->sim, r->options->scene, seconds, &r->choice, &r->chosen, r->error))
        return false;
    return r->choices.count == rows || rbt_run_choices_write(&r->choices, r->options->folder, r->error);
}

// After a step that failed: back to the frame before, with another method; false: there is none, or none is wanted.
static bool change_method(run *r, const rbt_step_report *report) {
    enum { OTHERS = 3 };
    rbt_error error = {0};
    bool numerics = report->outcome != RBT_OUT_OF_MEMORY && report->outcome != RBT_CUT_FAILED &&
                    report->outcome != RBT_EVENT_FAILED && report->outcome != RBT_STOPPED;
    if (!r->choices.open || !numerics || r->others >= OTHERS || !rbt_sim_restore(r->sim, &r->before, &error))
        return false;
    r->others++;
    rbt_recorder_forget_attempts(r->recorder);
    if (!rbt_run_choose_other(&r->choices, r->sim, r->options->scene, &r->choice, &error)) return false;
    r->chosen = true;
    return rbt_run_choices_write(&r->choices, r->options->folder, &error);
}

static rbt_run_end run_frames(run *r, rbt_step_report *report) {
    const rbt_run_options *o = r->options;
    int64_t last = r->sim->model->frame_count;
    if (o->frames >= 0 && o->frames < last) last = o->frames;
    r->last_frame = last;
    rbt_sim_set_stop(r->sim, o->stop);
    if (!verify(r, false) || !rbt_overlap_look(&r->overlap, r->sim, false, r->error)) return RBT_RUN_WORLD_FAILED;
    tell(r, o->started, report, 0);
    while (r->sim->state.frame < last) {
        if (o->stop && *o->stop) return RBT_RUN_INTERRUPTED;
        double start = rbt_now(), before = r->report.step_seconds;
        if (r->choices.open && !rbt_sim_save_to(r->sim, &r->before, r->error)) return RBT_RUN_WORLD_FAILED;
        rbt_run_end end = advance(r, report);
        while (end == RBT_RUN_STEP_FAILED && change_method(r, report)) end = advance(r, report);
        r->report.steps += report->steps;
        rbt_statistics_add(r->report.statistics, report->statistics);
        memcpy(r->statistics, report->statistics, sizeof r->statistics);
        r->report.halved_steps += report->halved_steps;
        if (report->halvings > r->report.max_halvings) r->report.max_halvings = report->halvings;
        if (end == RBT_RUN_STEP_FAILED && !verify(r, true)) end = RBT_RUN_WORLD_FAILED;
        if (end != RBT_RUN_FINISHED) return end;
        bool stopping = r->sim->state.frame == last || (o->stop && *o->stop);
        if (!rbt_overlap_look(&r->overlap, r->sim, stopping, r->error) || !write_frame(r, stopping) ||
            !verify(r, false))
            return RBT_RUN_WORLD_FAILED;
        rbt_run_times_add(o->folder, r->sim->state.frame, r->sim->state.t, report->steps,
                          r->report.step_seconds - before);
        if (r->sim->state.frame < last && !reconsider(r, r->report.step_seconds - before))
            return RBT_RUN_WORLD_FAILED;
        tell(r, o->framed, report, rbt_now() - start);
    }
    char text[256];
    if (r->verification.bad_count) {
        rbt_verification_summary(&r->verification, text, sizeof text);
        rbt_fail(r->error, "%s", text);
        return RBT_RUN_INTERSECTED;
    }
    if (!r->sim->state.tally.unconverged) return RBT_RUN_FINISHED;
    rbt_unconverged_text(&r->sim->state.tally, text);
    rbt_fail(r->error, "%s", text);
    return RBT_RUN_NOT_CONVERGED;
}

bool rbt_run_foreseen(const rbt_sim *sim, char text[320]) {
    const rbt_stepper *stepper = &sim->stepper;
    return stepper->method->warn && stepper->method->warn(stepper->self, text);
}

bool rbt_run_warning(const rbt_sim *sim, char text[320]) {
    return rbt_ledger_text(&sim->state.tally.ledger, sim->stepper.method, text);
}

bool rbt_run_floor_warning(const rbt_sim *sim, char text[320]) {
    const rbt_step_memory *memory = rbt_stepper_step_memory(&sim->stepper, &sim->state);
    if (!memory || !memory->floor_steps) return false;
    snprintf(
        text, 320,
        "%lld steps of the least length, %g s, had a larger error than asked for, up to %.3g times; the result may "
        "be less accurate than goal.error: lower time.min_step, ask for less, or take another method",
        (long long)memory->floor_steps, sim->stepper.control.shortest, memory->floor_worst);
    return true;
}

bool rbt_run_damped_warning(const rbt_sim *sim, char text[320]) {
    double damped = sim->stepper.statistics[RBT_STAT_DAMPED];
    if (!(damped > 0) || !sim->stepper.method->helped) return false;
    snprintf(
        text, 320,
        "%.0f steps were taken by backward Euler, which loses energy, because %s would have gained "
        "some, turned an element inside out, or found no solution, even at a sixteenth of the step; take a smaller "
        "step, or backward-euler for all",
        damped, sim->stepper.method->helped);
    return true;
}

void rbt_unconverged_text(const rbt_tally *tally, char text[256]) {
    snprintf(
        text, 256,
        "%lld of %lld steps did not converge (the residual was up to %.3g times the tolerance), the first at %g s; "
        "take more iterations, a smaller step or another solver",
        (long long)tally->unconverged, (long long)tally->steps, tally->worst_residual, tally->first);
}

// The state before the failing step, for whoever wants to look into it.
static bool keep_failure(run *r, const rbt_step_report *report) {
    char *path = rbt_path_join(r->options->folder, "failed.rbt");
    r->report.failure = report;
    bool ok = path && rbt_checkpoint_write(path, r->sim->model, &r->sim->state, r->error);
    free(path);
    return write_report(r, "failed") && ok;
}

// That of an earlier run would be taken for this one's; if it cannot go, writing over it will tell.
static void remove_failure(const run *r) {
    char *path = rbt_path_join(r->options->folder, "failed.rbt");
    if (path) unlink(path);
    free(path);
}

// Whether the folder holds a run to continue from: its scene, or its checkpoints if a program ran it without one.
static bool has_run(const run *r) {
    char *checkpoints = rbt_path_join(r->options->folder, "checkpoints");
    bool has = access(r->scene_path, F_OK) == 0 || (checkpoints && access(checkpoints, F_OK) == 0);
    free(checkpoints);
    if (has) return true;
    const char *why = access(r->options->folder, F_OK) == 0 ? "holds no run" : "is no folder";
    return rbt_fail_at(r->error, r->options->folder, 0, 0,
                       "%s, so there is nothing to continue from; %s starts a run, and -o says where another one is",
                       why, r->options->resume ? "leaving out --resume" : "leaving out --from-frame");
}

// The frame that a run continues after; -1 with an error
static int64_t frame_to_continue(run *r) {
    rbt_state state = {0};
    int64_t limit = r->options->resume ? INT64_MAX : r->options->from_frame;
    if (!rbt_checkpoint_newest(r->options->folder, limit, NULL, RBT_SAME_NODES, &state, r->error)) return -1;
    int64_t frame = state.frame;
    rbt_state_clear(&state);
    return frame;
}

// Choices that are written down take the place of what the scene leaves open. The one of the very frame that a run
// continues after was made with its state: it is taken once that is there, as it was then.
static bool recall_choices(run *r, bool again, rbt_scene *scene) {
    const rbt_run_options *o = r->options;
    const char *from = o->choices ? o->choices : again ? o->folder : NULL;
    r->choices.open = rbt_scene_is_open(scene);
    r->choices.repeats = o->choices;
    r->report.choices = &r->choices.json;
    if (!r->choices.open || !from) return true;
    int64_t frame = again ? frame_to_continue(r) : 0;
    bool changed = again && !o->resume && !o->choices;  // --from-frame: the scene may be another one from there on
    bool same = !changed;
    if (changed && access(r->scene_path, F_OK) == 0 && !compare_scenes(r, &same, r->error)) return false;
    if (frame < 0 || !rbt_run_choices_read(&r->choices, from, same ? INT64_MAX : frame, r->error)) return false;
    const rbt_choice_row *row = rbt_run_choices_at(&r->choices, frame > 0 ? frame - 1 : 0);
    if (o->choices && !row)
        return rbt_fail_at(r->error, o->choices, 0, 0, "holds no choice.csv with choices of a method");
    if (!row) return true;
    if (scene->integrator.method != row->chosen.method) scene->integrator.options = NULL;
    scene->integrator.method = row->chosen.method;
    scene->integrator.solver = row->chosen.solver;
    scene->goal.error = row->chosen.error;
    r->recalled = row->chosen;
    return true;
}

static bool record_choice(run *r) {
    const rbt_choice_row *row = rbt_run_choices_at(&r->choices, r->sim->state.frame);
    if (!r->choices.open) return true;
    if (r->sim->choice) {
        r->choice = *r->sim->choice;
        r->chosen = true;
        r->choices.count = 0;
        if (!rbt_run_choices_add(&r->choices, r->sim->choice, r->error)) return false;
    } else if (row && row->frame > 0 && row->frame == r->sim->state.frame &&
               !rbt_sim_take_choice(r->sim, &row->chosen, r->error))
        return false;
    return rbt_run_choices_write(&r->choices, r->options->folder, r->error);
}

static bool begin(run *r) {
    const rbt_run_options *o = r->options;
    bool again = o->resume || o->from_frame >= 0;
    double start = rbt_now();
    rbt_scene scene = *o->scene;
    if (again && !has_run(r)) return false;
    if (!recall_choices(r, again, &scene) || !(r->sim = rbt_sim_create(&scene, r->error))) return false;
    if (r->recalled.longest > 0 && !rbt_sim_take_choice(r->sim, &r->recalled, r->error)) return false;
    r->report.sim = r->sim;
    r->sim->watch.every_frame = true;
    r->report.compile_seconds = rbt_now() - start;
    if (!rbt_folder_make(o->folder, r->error) || (r->lock = rbt_folder_lock(o->folder, r->error)) < 0) return false;
    if (again && !restore(r)) return false;
    r->choices.topology = r->sim->topology;
    if (!record_choice(r)) return false;
    remove_failure(r);
    r->readings = rbt_array_new(r->sim->model->probe_count, sizeof *r->readings, "probes", r->error);
    if (!r->readings) return false;
    r->report.resumed_from = again ? r->sim->state.frame : -1;
    r->recorder = rbt_recorder_open(o->folder, r->sim->model, &o->scene->output,
                                    r->sim->stepper.control.on || (r->choices.open && isnan(o->scene->time.step)),
                                    r->report.resumed_from, r->error);
    if (!r->recorder) return false;
    listen(r);
    rbt_run_times_begin(o->folder, r->report.resumed_from);
    if (!rbt_obstacle_file_write(o->folder, &r->sim->model->obstacles, r->error)) return false;
    if (o->scene_text && !rbt_file_write(r->scene_path, o->scene_text, strlen(o->scene_text), r->error)) return false;
    if (!again) return write_frame(r, false);
    r->report.frames = r->sim->state.frame;
    r->report.first = r->report.last = rbt_sim_energies(r->sim);
    return write_report(r, "running");
}

rbt_run_end rbt_run(const rbt_run_options *options, rbt_step_report *report, rbt_error *error) {
    run r = {.options = options, .error = error, .started = rbt_now(), .lock = -1, .verification = {.keep = KEEP}};
    *report = (rbt_step_report){.body = -1, .element = -1, .stage = ""};
    r.report = (rbt_run_report){.scene = options->scene, .scene_text = options->scene_text, .overlap = &r.overlap};
    stamp(r.report.started);
    r.report_path = rbt_path_join(options->folder, "run.json");
    r.scene_path = rbt_path_join(options->folder, "scene.json");
    rbt_run_end end = RBT_RUN_WORLD_FAILED;
    if (!r.report_path || !r.scene_path) rbt_fail_memory(error, strlen(options->folder), "a file name");
    else if (begin(&r)) {
        end = run_frames(&r, report);
        tell(&r, options->ended, report, 0);
    }
    if (r.recorder && !rbt_recorder_close(r.recorder, end == RBT_RUN_WORLD_FAILED ? NULL : error))
        end = RBT_RUN_WORLD_FAILED;
    if (end == RBT_RUN_FINISHED && !write_report(&r, "finished")) end = RBT_RUN_WORLD_FAILED;
    if (end == RBT_RUN_NOT_CONVERGED && !write_report(&r, "not converged")) end = RBT_RUN_WORLD_FAILED;
    if (end == RBT_RUN_INTERSECTED && !write_report(&r, "intersected")) end = RBT_RUN_WORLD_FAILED;
    if (end == RBT_RUN_INTERRUPTED && !write_report(&r, "interrupted")) end = RBT_RUN_WORLD_FAILED;
    if (end == RBT_RUN_STEP_FAILED && !keep_failure(&r, report)) end = RBT_RUN_WORLD_FAILED;
    if (end == RBT_RUN_WORLD_FAILED && r.recorder && error) {
        r.report.problem = error->message;
        r.error = NULL;
        write_report(&r, "failed");
    }
    rbt_verification_free(&r.verification);
    rbt_overlap_free(&r.overlap);
    rbt_run_choices_free(&r.choices);
    rbt_state_clear(&r.before);
    rbt_sim_free(r.sim);
    free(r.readings);
    free(r.contact);
    free(r.labels);
    rbt_scene_free(r.acted);
    if (r.lock >= 0) close(r.lock);
    free(r.report_path);
    free(r.scene_path);
    return end;
}
