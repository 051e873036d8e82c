// rubato run: a scene in, frames out, one line a frame.
#include "base/text.h"
#include "base/threads.h"
#include "cli/command.h"
#include "cli/verify_table.h"
#include "cli/viewing.h"
#include "serve/page.h"
#include "sim/run.h"
#include "step/core/body_methods.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int stop_requested;

// The first Ctrl-C gives up the step under way and ends the run; the second one ends the program at once.
static void on_interrupt(int signal_number) {
    stop_requested = 1;
    signal(signal_number, SIG_DFL);
}

typedef struct voice {
    bool quiet, json, terminal;
    double first_frame_at;
    int64_t first_frame;
    const char *folder;
    rbt_viewing *viewing;  // NULL: nobody looks
    bool viewing_failed;
} voice;

static void describe_body(const rbt_model *m, size_t body) {
    const rbt_body *b = &m->bodies[body];
    const rbt_body_integrator_def *own = rbt_body_integrator(m, body);
    size_t nodes = b->node_end - b->node_begin;
    printf("  %s: %zu nodes, %zu %ss, %zu unknowns, %.3g x %.3g x %.3g m, %.4g kg", b->name, nodes,
           rbt_body_element_count(b), rbt_body_element(b), 3 * (nodes - b->fixed_count - b->driven_count),
           b->box_max[0] - b->box_min[0], b->box_max[1] - b->box_min[1], b->box_max[2] - b->box_min[2], b->mass);
    if (b->fixed_count) printf(", %zu fixed", b->fixed_count);
    if (b->driven_count) printf(", %zu driven", b->driven_count);
    if (own) printf(", by %s", rbt_method_name(own->method));
    printf("; explicit step about %.2g s\n", b->explicit_step);
}

// The states verified for this frame: itself and those between the frame before and it.
static const rbt_verified *first_verified(const rbt_run_progress *p) {
    const rbt_verification *v = p->verification;
    size_t i = v->count - 1;
    while (i > 0 && (v->states[i - 1].step || v->states[i - 1].event)) i--;
    return &v->states[i];
}

static size_t intersections(const rbt_run_progress *p) {
    size_t count = 0;
    if (!p->verification) return 0;
    for (const rbt_verified *s = first_verified(p); s < p->verification->states + p->verification->count; s++)
        count += s->in.count + s->way.count;
    return count;
}

static void print_intersections(const rbt_run_progress *p) {
    if (!p->verification) return;
    for (const rbt_verified *s = first_verified(p); s < p->verification->states + p->verification->count; s++)
        rbt_verify_table_items(p->verification, s);
}

// Once, where bodies first pass through each other
static void warn_overlap(const rbt_run_progress *p, const voice *v) {
    char text[320];
    if (v->json || !p->overlap->now || p->overlap->crossing != 1 || !rbt_overlap_text(p->overlap, p->sim, text))
        return;
    fprintf(stderr, "rubato: warning: %s\n", text);
}

// The folder holds frame 0 by now, and nothing of runs before. A run that cannot be shown ends.
static void start_viewing(const rbt_run_progress *p, voice *v) {
    rbt_error error = {0};
    if (!v->viewing) return;
    v->viewing_failed = !rbt_viewing_start(v->viewing, 1, &v->folder, &v->folder, &error);
    if (v->viewing_failed) {
        rbt_complain(&error);
        stop_requested = 1;
    } else rbt_live_show(v->viewing->live, p->sim);
}

// A paragraph of at most 100 columns
static void print_wrapped(const char *text) {
    enum { COLUMNS = 100 };
    int column = 0;
    for (const char *word = text; *word;) {
        int length = (int)strcspn(word, " ");
        if (column && column + 1 + length > COLUMNS) column = 0, printf("\n");
        printf("%s%.*s", column ? " " : "", length, word);
        column += length + (column > 0);
        word += length;
        while (*word == ' ') word++;
    }
    printf("\n");
}

static void print_choice(const rbt_choice *choice) {
    rbt_text text = {0};
    if (!choice) return;
    rbt_choice_text(choice, &text);
    if (text.text) print_wrapped(text.text);
    rbt_text_free(&text);
}

// What would be chosen, and why; nothing is run.
static int explain(const rbt_scene *scene) {
    rbt_error error = {0};
    if (!rbt_scene_is_open(scene)) {
        const char *solver = rbt_solver_name(scene->integrator.method, scene->integrator.solver);
        printf("The scene names its method, %s%s%s; \"auto\" would leave it to rubato.\n",
               rbt_method_name(scene->integrator.method), solver ? " with " : "", solver ? solver : "");
        return 0;
    }
    rbt_sim *sim = rbt_sim_create(scene, &error);
    if (!sim) return rbt_complain(&error);
    print_choice(sim->choice);
    rbt_sim_free(sim);
    return 0;
}

static void started(const rbt_run_progress *p, void *listener) {
    voice *v = listener;
    start_viewing(p, v);
    const rbt_model *m = p->sim->model;
    v->first_frame = p->frame;
    v->first_frame_at = p->seconds;
    if (v->json) {
        printf("{\"event\": \"start\", \"frame\": %lld, \"last_frame\": %lld, \"nodes\": %zu, \"tets\": %zu, "
               "\"step\": %.17g, "
               "\"method\": \"%s\", \"threads\": %d}\n",
               (long long)p->frame, (long long)p->last_frame, m->node_count, m->tet_count, m->step,
               p->sim->stepper.method->name, rbt_threads_count());
    } else if (!v->quiet) {
        print_choice(p->choice);
        char steps[64];
        const rbt_step_control *control = &p->sim->stepper.control;
        if (control->on) snprintf(steps, sizeof steps, "steps for an error of %g", control->error);
        else snprintf(steps, sizeof steps, "step %g s", m->step);
        int threads = rbt_threads_count();  // unless somebody has said how many, steps take as many of them as pay
        printf("%s, %s, %lld frames every %g s, %s%d thread%s\n", p->sim->stepper.method->name, steps,
               (long long)p->last_frame, m->frame_interval, threads > 1 && !rbt_threads_are_given() ? "up to " : "",
               threads, threads == 1 ? "" : "s");
        for (size_t b = 0; b < m->body_count; b++) describe_body(m, b);
        if (p->frame > 0) printf("continuing after frame %lld\n", (long long)p->frame);
        if (intersections(p)) printf("frame %lld: %zu intersections\n", (long long)p->frame, intersections(p));
        print_intersections(p);
    }
    if (!v->json)
        for (size_t i = 0; i < m->warning_count; i++) fprintf(stderr, "rubato: note: %s\n", m->warnings[i]);
    char text[320];
    if (!v->json && rbt_run_foreseen(p->sim, text)) fprintf(stderr, "rubato: warning: %s\n", text);
    if (!v->json && !v->quiet && p->overlap->looks && m->body_count > 1)
        fprintf(stderr,
                "rubato: note: bodies may pass through each other with %s; %sasync-contact keeps them apart\n",
                p->sim->stepper.method->name, p->sim->stepper.method->contact ? "\"contact\": {} or " : "");
    warn_overlap(p, v);
    fflush(stdout);
}

static void progress_bar(const rbt_run_progress *p, const voice *v) {
    enum { WIDTH = 30 };
    int64_t done = p->frame - v->first_frame, total = p->last_frame - v->first_frame;
    int filled = total > 0 ? (int)(WIDTH * done / total) : WIDTH;
    double left = done > 0 ? (p->seconds - v->first_frame_at) * (double)(total - done) / (double)done : 0;
    char bar[WIDTH + 1];
    for (int i = 0; i < WIDTH; i++) bar[i] = i < filled ? '#' : '.';
    bar[WIDTH] = '\0';
    if (p->frame < p->last_frame)
        printf("[%s] %lld %%, %.0f s left\r", bar, (long long)(100 * done / total), ceil(left));
    else printf("%*s\r", WIDTH + 24, "");
}

// What the method has to say about itself, as in run.json
static void print_description(const rbt_sim *sim) {
    const rbt_method *method = sim->stepper.method;
    if (!method->describe) return;
    rbt_text text = {0};
    method->describe(sim->stepper.self, &text);
    if (text.text) printf(", \"%s\": {%s}", method->name, text.text);
    rbt_text_free(&text);
}

static void framed(const rbt_run_progress *p, void *listener) {
    const voice *v = listener;
    if (v->viewing) rbt_live_show(v->viewing->live, p->sim);
    const rbt_step_report *r = p->report;
    if (!v->quiet && !v->json) print_choice(p->choice);
    if (v->json) {
        printf("{\"event\": \"frame\", \"frame\": %lld, \"time\": %.17g, \"steps\": %lld, \"iterations\": %lld, "
               "\"halvings\": %d, \"unconverged\": %lld, "
               "\"energy\": %.17g, \"seconds\": %.6f",
               (long long)p->frame, p->sim->state.t, (long long)r->steps,
               (long long)r->statistics[RBT_STAT_ITERATIONS], r->halvings, (long long)r->unconverged,
               p->energies.total, p->frame_seconds);
        if (isfinite(r->statistics[RBT_STAT_RESIDUAL]))
            printf(", \"residual\": %.17g", r->statistics[RBT_STAT_RESIDUAL]);
        if (p->verification) printf(", \"intersections\": %zu", intersections(p));
        if (p->overlap->looks) printf(", \"passing_through\": %s", p->overlap->now ? "true" : "false");
        print_description(p->sim);
        printf("}\n");
    } else if (!v->quiet) {
        char halved[48] = "", unconverged[48] = "", fallbacks[80] = "", found[48] = "";
        if (r->halvings)
            snprintf(halved, sizeof halved, ", halved %d time%s", r->halvings, r->halvings == 1 ? "" : "s");
        if (r->unconverged)
            snprintf(unconverged, sizeof unconverged, ", %lld not converged", (long long)r->unconverged);
        double indefinite = r->statistics[RBT_STAT_INDEFINITE], projected = r->statistics[RBT_STAT_PROJECTED];
        double damped = r->statistics[RBT_STAT_DAMPED];
        if (indefinite || projected)
            snprintf(fallbacks, sizeof fallbacks, ", %lld indefinite, %lld with projected stiffness",
                     (long long)(indefinite + projected), (long long)projected);
        if (damped) snprintf(fallbacks, sizeof fallbacks, ", %lld by backward Euler", (long long)damped);
        if (p->verification) snprintf(found, sizeof found, ", %zu intersections", intersections(p));
        printf("frame %*lld of %lld  t %-8.4g s  energy %-11.5g J  %lld step%s%s%s%s%s, %.3f s%s\n",
               p->last_frame > 999 ? 5 : 3, (long long)p->frame, (long long)p->last_frame, p->sim->state.t,
               p->energies.total, (long long)r->steps, r->steps == 1 ? "" : "s", halved, unconverged, fallbacks,
               found, p->frame_seconds, v->terminal ? "          " : "");
        print_intersections(p);
        if (v->terminal) progress_bar(p, v);
    }
    warn_overlap(p, v);
    fflush(stdout);
}

// To be said when it is over, for the whole run
static void ended(const rbt_run_progress *p, void *listener) {
    const voice *v = listener;
    char text[320];
    if (v->viewing) rbt_live_finish(v->viewing->live, p->sim);
    if (v->json || p->report->outcome != RBT_DONE) return;
    bool (*const warnings[])(const rbt_sim *, char[320]) = {rbt_run_floor_warning, rbt_run_damped_warning,
                                                            rbt_run_warning};
    for (size_t i = 0; i < sizeof warnings / sizeof *warnings; i++)
        if (warnings[i](p->sim, text)) fprintf(stderr, "rubato: warning: %s\n", text);
}

static int report_failure(const rbt_scene *scene, const rbt_step_report *r, const char *folder) {
    fprintf(stderr, "rubato: a step failed: %s in stage \"%s\"", rbt_outcome_name(r->outcome), r->stage);
    if (r->body >= 0) fprintf(stderr, ", body \"%s\"", scene->bodies.items[r->body].name);
    if (r->element >= 0) fprintf(stderr, ", %s %lld", r->element_kind, (long long)r->element);
    if (r->element >= 0 && r->value != 0) fprintf(stderr, " (%.3g)", r->value);
    fprintf(stderr, ", after %d halvings", r->halvings);
    if (r->hint[0]) fprintf(stderr, "; %s", r->hint);
    fprintf(stderr, "\nrubato: earlier frames are complete; the state before the step is %s/failed.rbt\n", folder);
    return 1;
}

static int finish(rbt_run_end end, const rbt_scene *scene, const rbt_step_report *report, const rbt_error *error,
                  const char *folder, const char *scene_path, bool quiet) {
    switch (end) {
    case RBT_RUN_FINISHED:
        if (!quiet) printf("finished: %s\n", folder);
        return 0;
    case RBT_RUN_NOT_CONVERGED:
        fprintf(stderr, "rubato: not converged: %s; all frames are in %s\n", error->message, folder);
        return 1;
    case RBT_RUN_INTERSECTED: fprintf(stderr, "rubato: %s; all frames are in %s\n", error->message, folder); return 1;
    case RBT_RUN_INTERRUPTED:
        fprintf(stderr, "rubato: stopped; whole frames are kept; continue with: rubato run %s -o %s --resume\n",
                scene_path, folder);
        return 130;
    case RBT_RUN_STEP_FAILED: return report_failure(scene, report, folder);
    case RBT_RUN_WORLD_FAILED: break;
    }
    return rbt_complain(error);
}

// --method and --solver are short for settings of the integrator. They come first, wherever they stand: --set may be
// about options of that method.
static rbt_scene_file *read_scene(const char *path, const char *method, const char *solver, const rbt_word_list *more,
                                  rbt_error *error) {
    const char *all[2 + RBT_MAX_WORDS];
    size_t count = 0;
    rbt_text first = {0}, second = {0};
    if (method) rbt_text_add(&first, "integrator.method=\"%s\"", method);
    if (solver) rbt_text_add(&second, "integrator.solver=\"%s\"", solver);
    if (first.text) all[count++] = first.text;
    if (second.text) all[count++] = second.text;
    for (int i = 0; i < more->count; i++) all[count++] = more->words[i];
    rbt_scene_file *file = NULL;
    if (first.failed || second.failed) rbt_fail_memory(error, strlen(path), "the words of the command");
    else file = rbt_scene_read(path, all, count, error);
    rbt_text_free(&first);
    rbt_text_free(&second);
    return file;
}

// The folder of a run whose own scene.json this is, if it chose methods: running that scene repeats the run, bit for
// bit. NULL: it is none. Free the result.
static char *folder_of_choices(const char *scene_path) {
    const char *slash = strrchr(scene_path, '/');
    if (strcmp(slash ? slash + 1 : scene_path, "scene.json") != 0) return NULL;
    char *folder = slash ? strndup(scene_path, (size_t)(slash - scene_path) + 1) : strdup("."), *found = NULL;
    char *choices = folder ? rbt_path_join(folder, "choice.csv") : NULL;
    char *report = folder ? rbt_path_join(folder, "run.json") : NULL;
    if (choices && report && access(choices, R_OK) == 0 && access(report, R_OK) == 0) found = folder;
    else free(folder);
    free(choices);
    free(report);
    return found;
}

int rbt_command_run(int count, char **words) {
    const char *folder = NULL, *method = NULL, *solver = NULL, *log = NULL, *choices = NULL, *scene_path;
    long frames = -1, threads = 0, from_frame = -1;
    bool view = false, only_explain = false;
    rbt_viewing viewing = {0};
    bool resume = false, quiet = false, verify = false, verify_steps = false, verify_events = false;
    rbt_word_list settings = {0};
    const rbt_option options[] = {
        {"--output", "-o", "DIR", "where the results go (out/NAME of the scene, unless it says otherwise)",
         .text = &folder},
        {"--method", "-m", "M", "time-stepping method, instead of the scene's", .text = &method},
        {"--solver", NULL, "S", "step solver, instead of the scene's", .text = &solver},
        {"--frames", "-n", "N", "stop after frame N; 0: write the start only", .integer = &frames},
        {"--threads", "-t", "N", "threads (OMP_NUM_THREADS, or as many as pay); the result does not depend on it",
         .integer = &threads, .min = 1, .max = RBT_MAX_THREADS},
        {"--set", NULL, "PATH=VALUE", "change a value of the scene, as time.step=0.001; may be repeated",
         .list = &settings},
        {"--resume", NULL, NULL, "continue from the newest checkpoint in DIR", .flag = &resume},
        {"--from-frame", NULL, "N", "continue from frame N, also with a changed scene", .integer = &from_frame},
        {"--verify", NULL, NULL, "search every frame and the way to it for intersections, as rubato verify does",
         .flag = &verify},
        {"--verify-steps", NULL, NULL, "the same after every step", .flag = &verify_steps},
        {"--verify-events", NULL, NULL, "the same from event to event, of methods that have events",
         .flag = &verify_events},
        {"--explain", NULL, NULL, "which method and steps would be chosen, and why; nothing is run",
         .flag = &only_explain},
        {"--choices", NULL, "DIR", "take the methods that the run in DIR has chosen, instead of choosing",
         .text = &choices},
        {"--view", NULL, NULL, "show it in the browser while it runs", .flag = &view},
        {"--interact", NULL, NULL, "with --view: pause, drag, push and cut; all of it goes into the scene's events",
         .flag = &viewing.interact},
        {"--paused", NULL, NULL, "with --interact: wait before the first step", .flag = &viewing.paused},
        {"--stay", NULL, NULL, "with --view: show it until Ctrl-C when it is over", .flag = &viewing.stay},
        RBT_VIEWING_OPTIONS(viewing),
        {"--quiet", "-q", NULL, "say nothing but errors", .flag = &quiet},
        {"--log", NULL, "json", "one JSON object per line instead of text", .text = &log},
    };
    int positionals, code = rbt_options_read("run", options, sizeof options / sizeof *options, count, words,
                                             &scene_path, &positionals, 1, 1);
    if (code >= 0) return code;
    if (log && strcmp(log, "json") != 0) {
        fprintf(stderr, "rubato run: --log \"%s\": only json is known\n", log);
        return 2;
    }
    if (resume && from_frame >= 0) {
        fprintf(stderr, "rubato run: --resume and --from-frame exclude each other\n");
        return 2;
    }
    if (!view && (viewing.interact || viewing.stay || viewing.port || viewing.host)) {
        fprintf(stderr, "rubato run: --interact, --stay, --port and --host are about the viewer; give --view too\n");
        return 2;
    }
    if (viewing.paused && !viewing.interact) {
        fprintf(stderr, "rubato run: --paused waits for somebody who lets the run begin; give --interact too\n");
        return 2;
    }
    rbt_threads_set((int)threads);
    rbt_error error = {0};
    if (view && !rbt_page_is_there(&error)) return rbt_complain(&error);
    rbt_scene_file *file = read_scene(scene_path, method, solver, &settings, &error);
    if (!file) return rbt_complain(&error);
    const rbt_scene *scene = rbt_scene_of(file);
    if (only_explain) {
        code = explain(scene);
        rbt_scene_free(file);
        return code;
    }
    char *chosen = folder                 ? strdup(folder)
                   : scene->output.folder ? strdup(scene->output.folder)
                                          : rbt_default_folder("out/", scene_path);
    if (!chosen) rbt_fail_memory(&error, strlen(scene_path), "a folder name");
    if (!chosen || (view && !(viewing.live = rbt_live_new(viewing.interact, &error)))) {
        free(chosen);
        rbt_scene_free(file);
        return rbt_complain(&error);
    }
    bool as_it_is = !choices && !method && !solver && !settings.count && !resume && from_frame < 0;
    char *repeated = as_it_is && rbt_scene_is_open(scene) ? folder_of_choices(scene_path) : NULL;
    if (repeated && !quiet && !log)
        printf("The methods are those that the run beside %s has chosen; with -m auto rubato chooses again.\n",
               scene_path);
    if (viewing.paused) rbt_live_pause(viewing.live, true, 0);
    viewing.quiet = quiet || log;
    voice v = {.quiet = quiet,
               .json = log != NULL,
               .terminal = isatty(STDOUT_FILENO) && !quiet,
               .folder = chosen,
               .viewing = view ? &viewing : NULL};
    const rbt_run_hand hand =
        view && viewing.interact ? rbt_live_hand(viewing.live, &stop_requested) : (rbt_run_hand){0};
    if (!v.json) rbt_print_scene_warnings(file);
    if (!quiet && !v.json) rbt_print_estimates(scene);
    signal(SIGINT, on_interrupt);
    signal(SIGTERM, on_interrupt);
    rbt_run_options o = {.scene = scene,
                         .scene_text = rbt_scene_json(file),
                         .folder = chosen,
                         .choices = choices ? choices : repeated,
                         .frames = frames,
                         .resume = resume,
                         .from_frame = from_frame,
                         .verify = verify_events  ? RBT_VERIFY_EVENTS
                                   : verify_steps ? RBT_VERIFY_STEPS
                                   : verify       ? RBT_VERIFY_FRAMES
                                                  : RBT_VERIFY_NOTHING,
                         .started = started,
                         .framed = framed,
                         .ended = ended,
                         .listener = &v,
                         .hand = hand.act ? &hand : NULL,
                         .stop = &stop_requested};
    rbt_step_report report;
    rbt_run_end end = rbt_run(&o, &report, &error);
    code = finish(end, scene, &report, &error, chosen, scene_path, quiet || v.json);
    if (v.viewing_failed) code = 1;
    if (view && viewing.stay && end != RBT_RUN_INTERRUPTED) {
        if (!viewing.quiet && viewing.server) printf("The run is over; its view stays until Ctrl-C.\n");
        fflush(stdout);
        rbt_viewing_wait(&viewing, &stop_requested);
    }
    rbt_viewing_end(&viewing);
    free(repeated);
    free(chosen);
    rbt_scene_free(file);
    return code;
}
