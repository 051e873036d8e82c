#include "cluster/run.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/threads.h"
#include "cluster/record.h"
#include "sim/run_report.h"
#include "sim/run_times.h"
#include "step/core/method.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

typedef struct cluster_run {
    rbt_cluster_order order;
    rbt_scene_file *parsed;  // of ranks that were sent the scene
    char *text, *folder;     // likewise
    rbt_communicator ranks;
    rbt_piece piece;
    rbt_sim *sim;
    rbt_shared_record record;
    rbt_run_report report;
    char *report_path, *scene_path;
    double started;
    int64_t last_frame;
    int lock;
    double statistics[RBT_MAX_STATISTICS];
    rbt_probe_reading *readings;
    char *more;  // of run.json
    rbt_error error;
} cluster_run;

// ---- What ranks can do

bool rbt_cluster_accepts(const rbt_scene *scene, rbt_error *error) {
    const rbt_method *method = rbt_method_at(scene->integrator.method);
    const char *file = scene->file;
    if (!method || scene->integrator.solver < 0)
        return rbt_fail_path(
            error, file, method ? "integrator.solver" : "integrator.method",
            "is left to rubato, which cannot choose for ranks yet; name one, or run it without ranks: "
            "rubato run");
    if (!method->on_ranks)
        return rbt_fail_path(
            error, file, "integrator.method",
            "%s does not run on ranks yet; take symplectic-euler, semi-implicit, siere, backward-euler, bdf2 "
            "or implicit-midpoint, or run it without ranks: rubato run",
            method->name);
    if (!method->on_ranks(scene->integrator.solver, scene->integrator.options))
        return rbt_fail_path(
            error, file, "integrator.solver",
            "%s makes one factor of the whole, or is for one program alone, and does not run on ranks; "
            "take schwarz, petsc-gamg or petsc-mumps (with newton: integrator.options.linear), or dot",
            method->solvers ? method->solvers(scene->integrator.solver) : "");
    if (scene->contact)
        return rbt_fail_path(error, file, "contact", "contact does not run on ranks yet; run it without: rubato run");
    if (rbt_scene_cut_count(scene))
        return rbt_fail_path(error, file, "cuts", "cuts do not run on ranks yet; run it without: rubato run");
    if (scene->events.count)
        return rbt_fail_path(error, file, "events", "events do not run on ranks yet; run it without: rubato run");
    for (size_t i = 0; i < scene->forces.count; i++)
        if (scene->forces.items[i].which == RBT_FORCE_DRAG)
            return rbt_fail_path(error, file, "forces", "drags do not run on ranks yet; run it without: rubato run");
    for (size_t b = 0; b < scene->bodies.count; b++)
        if (scene->bodies.items[b].integrator)
            return rbt_fail_path(error, file, "bodies",
                                 "\"%s\" has a method of its own, which does not run on ranks yet; run it without: "
                                 "rubato run",
                                 scene->bodies.items[b].name);
    const rbt_output_def *output = &scene->output;
    if (output->obj || output->pc2 || output->usda || output->warp)
        return rbt_fail_path(
            error, file, "output",
            "ranks write vtu pieces only; leave obj, pc2, usda and warp out, or run it without: rubato run");
    return true;
}

// ---- Beginning

// The order of the first rank, at all
static bool receive_order(cluster_run *r) {
    rbt_communicator *c = &r->ranks;
    int64_t head[8] = {0};
    if (c->rank == 0) {
        const rbt_cluster_order *o = &r->order;
        const int64_t own[8] = {(int64_t)strlen(o->scene_text) + 1,
                                (int64_t)strlen(o->folder) + 1,
                                o->frames,
                                o->from_frame,
                                o->resume,
                                o->threads,
                                0,
                                0};
        memcpy(head, own, sizeof head);
    }
    MPI_Bcast(head, 8, MPI_INT64_T, 0, c->world);
    bool good = c->rank == 0 || ((r->text = malloc((size_t)head[0])) && (r->folder = malloc((size_t)head[1])));
    if (!good) rbt_fail_memory(&r->error, (size_t)head[0], "the scene");
    if (!rbt_ranks_agree(c, good, &r->error)) return false;
    MPI_Bcast(c->rank ? r->text : (char *)(uintptr_t)r->order.scene_text, (int)head[0], MPI_CHAR, 0, c->world);
    MPI_Bcast(c->rank ? r->folder : (char *)(uintptr_t)r->order.folder, (int)head[1], MPI_CHAR, 0, c->world);
    if (c->rank > 0) {
        r->parsed = rbt_scene_parse(r->text, strlen(r->text), "scene", NULL, 0, &r->error);
        good = r->parsed != NULL;
        r->order = (rbt_cluster_order){.scene = good ? rbt_scene_of(r->parsed) : NULL,
                                       .scene_text = r->text,
                                       .folder = r->folder,
                                       .frames = head[2],
                                       .from_frame = head[3],
                                       .resume = head[4] != 0,
                                       .quiet = true,
                                       .threads = (int)head[5],
                                       .stop = r->order.stop};
    }
    return rbt_ranks_agree(c, good, &r->error);
}

// Those asked for; else those of OMP_NUM_THREADS, which is about a process; else processors of this machine, shared by
// its ranks
static void set_threads(const cluster_run *r) {
    MPI_Comm here;
    int ranks = 1, threads = r->order.threads;
    MPI_Comm_split_type(r->ranks.world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_size(here, &ranks);
    MPI_Comm_free(&here);
    rbt_threads_set(0);
    if (threads <= 0) threads = rbt_threads_count() / (rbt_threads_are_given() ? 1 : ranks);
    rbt_threads_set(threads < 1 ? 1 : threads);
}

enum { MOST_AT_ONCE = 1 << 30, BYTES_TAG = 11 };

static void send_bytes(rbt_communicator *c, int to, const rbt_text *bytes) {
    uint64_t size = bytes->size;
    MPI_Send(&size, 1, MPI_UINT64_T, to, BYTES_TAG, c->world);
    for (uint64_t at = 0; at < size; at += MOST_AT_ONCE)
        MPI_Send(bytes->text + at, (int)(size - at < MOST_AT_ONCE ? size - at : MOST_AT_ONCE), MPI_BYTE, to,
                 BYTES_TAG, c->world);
}

static bool receive_piece(cluster_run *r) {
    uint64_t size;
    MPI_Recv(&size, 1, MPI_UINT64_T, 0, BYTES_TAG, r->ranks.world, MPI_STATUS_IGNORE);
    char *bytes = malloc(size ? size : 1);
    if (!bytes) {  // the first rank waits for somebody who listens: there is nothing to agree on any more
        fprintf(stderr, "rubato-mpi: rank %d has no memory for its part of %.3g GB\n", r->ranks.rank,
                1e-9 * (double)size);
        MPI_Abort(r->ranks.world, 1);
        return false;
    }
    for (uint64_t at = 0; at < size; at += MOST_AT_ONCE)
        MPI_Recv(bytes + at, (int)(size - at < MOST_AT_ONCE ? size - at : MOST_AT_ONCE), MPI_BYTE, 0, BYTES_TAG,
                 r->ranks.world, MPI_STATUS_IGNORE);
    bool good = size && rbt_piece_unpack(&r->piece, bytes, size, &r->error);
    free(bytes);
    return good;
}

// A scene with this method asks for so many subdomains; 0: it does not care
static size_t subdomains_of(const rbt_model *m, const rbt_scene *scene) {
    const rbt_method *method = rbt_method_at(scene->integrator.method);
    return method->subdomains ? method->subdomains(m, scene->integrator.solver, scene->integrator.options) : 0;
}

static bool compile_whole(cluster_run *r, rbt_model **whole, rbt_cluster_plan *plan) {
    const rbt_scene *scene = r->order.scene;
    if (!rbt_cluster_accepts(scene, &r->error) || !rbt_scene_check(scene, &r->error) ||
        !(*whole = rbt_model_compile(scene, &r->error)))
        return false;
    if (isnan(scene->time.step))
        return rbt_fail_path(&r->error, scene->file, "time.step",
                             "steps by error do not run on ranks yet; give %s a step, or run it without: rubato run",
                             rbt_method_at(scene->integrator.method)->name);
    if (!rbt_cluster_plan_make(plan, *whole, r->ranks.count, subdomains_of(*whole, scene), &r->error)) return false;
    return !rbt_method_at(scene->integrator.method)->cheap_steps || rbt_stability_judge(*whole, &plan->stable) ||
           rbt_fail_memory(&r->error, (*whole)->node_count, "what steps are stable");
}

// The first rank reads and divides, and sends each its part, its own last.
static bool distribute(cluster_run *r) {
    rbt_communicator *c = &r->ranks;
    rbt_model *whole = NULL;
    rbt_cluster_plan plan = {0};
    bool good = c->rank > 0 || compile_whole(r, &whole, &plan);
    bool go = rbt_ranks_agree(c, good, &r->error);
    for (int rank = c->count - 1; go && c->rank == 0 && rank >= 0; rank--) {
        rbt_text bytes = {0};
        bool packed = good && rbt_piece_pack(&plan, rank, &bytes, &r->error);
        if (!packed) {  // nothing to unpack
            rbt_text_free(&bytes);
            good = false;
        }
        if (rank > 0) send_bytes(c, rank, &bytes);
        else if (good) {
            rbt_cluster_plan_free(&plan);
            rbt_model_free(whole);
            whole = NULL;
            good = rbt_piece_unpack(&r->piece, bytes.text, bytes.size, &r->error);
        }
        rbt_text_free(&bytes);
    }
    if (go && c->rank > 0) good = receive_piece(r);
    rbt_cluster_plan_free(&plan);
    rbt_model_free(whole);
    if (!go) return false;
    return rbt_ranks_agree(c, good, &r->error) && rbt_communicator_connect(c, c->world, &r->piece, &r->error);
}

static void stamp(char text[32]) {
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

// ---- run.json

typedef struct rank_figures {
    double seconds, step_seconds, waiting, memory_gb;
    int64_t nodes, owned, tets, messages, bytes, reductions, reduced;
} rank_figures;

static bool gather_figures(cluster_run *r) {
    rbt_communicator *c = &r->ranks;
    const rbt_model *m = r->piece.model;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    rank_figures own = {.seconds = rbt_now() - r->started,
                        .step_seconds = r->report.step_seconds,
                        .waiting = c->traffic.seconds,
                        .memory_gb = 1024e-9 * (double)usage.ru_maxrss,
                        .nodes = (int64_t)m->node_count,
                        .tets = (int64_t)m->tet_count,
                        .messages = c->traffic.messages,
                        .bytes = c->traffic.bytes,
                        .reductions = c->traffic.reductions,
                        .reduced = c->traffic.reduced};
    for (size_t n = 0; n < m->node_count; n++) own.owned += r->piece.ranks.owned[n];
    rank_figures *all = rbt_array_new((size_t)c->count, sizeof *all, "run.json", NULL);
    if (!rbt_ranks_agree(c, all != NULL, &r->error)) {
        free(all);
        return false;
    }
    MPI_Gather(&own, (int)sizeof own, MPI_BYTE, all, (int)sizeof own, MPI_BYTE, 0, c->world);
    rbt_text t = {0};
    rbt_text_add(&t, "  \"ranks\": {\"count\": %d, \"subdomains\": %zu, \"each\": [\n", c->count,
                 r->piece.ranks.subdomain_count);
    for (int k = 0; k < c->count; k++)
        rbt_text_add(
            &t,
            "    {\"nodes\": %lld, \"owned\": %lld, \"tets\": %lld, \"memory_gb\": %.4g, \"step_seconds\": %.6g, "
            "\"exchange_seconds\": %.6g, \"messages\": %lld, \"bytes\": %lld, \"reductions\": %lld, "
            "\"reduced_bytes\": %lld}%s\n",
            (long long)all[k].nodes, (long long)all[k].owned, (long long)all[k].tets, all[k].memory_gb,
            all[k].step_seconds, all[k].waiting, (long long)all[k].messages, (long long)all[k].bytes,
            (long long)all[k].reductions, (long long)all[k].reduced, k + 1 < c->count ? "," : "");
    rbt_text_add(&t, "  ]},\n");
    free(all);
    free(r->more);
    r->more = t.failed ? NULL : t.text;
    if (t.failed) rbt_text_free(&t);
    r->report.more = r->more;
    return true;
}

static bool write_report(cluster_run *r, const char *status) {
    if (!gather_figures(r)) return false;
    r->report.status = status;
    r->report.total_seconds = rbt_now() - r->started;
    bool good = r->ranks.rank > 0 || rbt_run_report_write(&r->report, r->report_path, &r->error);
    return rbt_ranks_agree(&r->ranks, good, &r->error);
}

// ---- Frames

static bool write_frame(cluster_run *r, bool last) {
    double start = rbt_now();
    const rbt_state *state = &r->sim->state;
    int every = r->order.scene->output.checkpoint_every;
    bool checkpoint = every > 0 && (last || state->frame % every == 0);
    r->report.last = rbt_sim_frame_energies(r->sim);
    if (state->frame == 0) r->report.first = r->report.last;
    bool good = !r->sim->model->probe_count || rbt_sim_probes(r->sim, r->readings, &r->error);
    if (!rbt_ranks_agree(&r->ranks, good, &r->error) ||
        !rbt_shared_record_frame(&r->record, r->sim, &r->report.last, r->statistics, r->readings, checkpoint,
                                 &r->error))
        return false;
    r->report.frames = state->frame;
    r->report.write_seconds += rbt_now() - start;
    return write_report(r, "running");
}

// By the first rank: whether the folder holds this run
static bool same_scene(cluster_run *r) {
    rbt_bytes before;
    const char *now = r->order.scene_text;
    if (access(r->scene_path, F_OK) != 0)
        return rbt_fail_at(&r->error, r->order.folder, 0, 0,
                           "holds no run, so there is nothing to continue from; leave --resume out");
    if (!rbt_file_read(r->scene_path, &before, &r->error)) return false;
    bool same = before.size == strlen(now) && memcmp(before.data, now, before.size) == 0;
    free(before.data);
    return same ||
           rbt_fail_at(&r->error, r->scene_path, 0, 0,
                       "the scene has changed since this run was started; --from-frame N continues from frame "
                       "N with the changed scene");
}

static bool lock_folder(cluster_run *r) {
    const rbt_cluster_order *o = &r->order;
    return rbt_folder_make(o->folder, &r->error) && (r->lock = rbt_folder_lock(o->folder, &r->error)) >= 0 &&
           (!o->resume || same_scene(r));
}

static bool begin(cluster_run *r) {
    const rbt_cluster_order *o = &r->order;
    rbt_communicator *c = &r->ranks;
    bool again = o->resume || o->from_frame >= 0;
    double start = rbt_now();
    r->report_path = rbt_path_join(o->folder, "run.json");
    r->scene_path = rbt_path_join(o->folder, "scene.json");
    bool good = r->report_path && r->scene_path;
    if (!rbt_ranks_agree(c, good, &r->error) || !distribute(r)) return false;
    r->sim = rbt_sim_create_part(o->scene, r->piece.model, &r->error);
    if (!r->sim) r->piece.model = NULL;
    if (!rbt_ranks_agree(c, r->sim != NULL, &r->error)) return false;
    r->report.sim = r->sim;
    r->report.bodies = r->piece.whole_bodies;
    r->sim->watch.every_frame = true;
    r->report.compile_seconds = rbt_now() - start;
    if (!rbt_ranks_agree(c, c->rank > 0 || lock_folder(r), &r->error)) return false;
    if (again) {
        rbt_state state;
        if (!rbt_shared_record_restore(c, &r->piece, r->sim, o->folder, o->resume ? -1 : o->from_frame, &state,
                                       &r->error))
            return false;
        good = rbt_sim_resume(r->sim, &state, &r->error);
        if (!rbt_ranks_agree(c, good, &r->error)) return false;
    }
    r->readings = rbt_array_new(r->sim->model->probe_count, sizeof *r->readings, "probes", &r->error);
    if (!rbt_ranks_agree(c, r->readings != NULL, &r->error)) return false;
    r->report.resumed_from = again ? r->sim->state.frame : -1;
    if (!rbt_shared_record_open(&r->record, c, &r->piece, o->folder, &o->scene->output, r->report.resumed_from,
                                &r->error))
        return false;
    if (c->rank == 0) {
        rbt_run_times_begin(o->folder, r->report.resumed_from);
        good = rbt_file_write(r->scene_path, o->scene_text, strlen(o->scene_text), &r->error);
        char *failed = rbt_path_join(o->folder, "failed.rbt");
        if (failed) unlink(failed);
        free(failed);
    }
    if (!rbt_ranks_agree(c, good, &r->error)) return false;
    if (!again) return write_frame(r, false);
    r->report.frames = r->sim->state.frame;
    r->report.first = r->report.last = rbt_sim_energies(r->sim);
    return write_report(r, "running");
}

// ---- Words, from the first rank

static void say_start(const cluster_run *r) {
    const rbt_model *m = r->sim->model;
    const rbt_body *bodies = r->piece.whole_bodies;
    if (r->ranks.rank > 0) return;
    if (r->order.json) {
        printf("{\"event\": \"start\", \"frame\": %lld, \"last_frame\": %lld, \"nodes\": %zu, \"tets\": %zu, "
               "\"step\": %.17g, "
               "\"method\": \"%s\", \"ranks\": %d, \"subdomains\": %zu, \"threads\": %d}\n",
               (long long)r->sim->state.frame, (long long)r->last_frame, r->piece.ranks.whole_nodes,
               r->piece.ranks.whole_tets, m->step, r->sim->stepper.method->name, r->ranks.count,
               r->piece.ranks.subdomain_count, rbt_threads_count());
        return;
    }
    if (!r->order.quiet) {
        printf("%s, step %g s, %lld frames every %g s, %d rank%s of %d thread%s\n", r->sim->stepper.method->name,
               m->step, (long long)r->last_frame, m->frame_interval, r->ranks.count, r->ranks.count == 1 ? "" : "s",
               rbt_threads_count(), rbt_threads_count() == 1 ? "" : "s");
        for (size_t b = 0; b < m->body_count; b++)
            printf("%s: %zu nodes, %zu %ss\n", bodies[b].name, bodies[b].node_end - bodies[b].node_begin,
                   rbt_body_element_count(&bodies[b]), rbt_body_element(&bodies[b]));
        if (r->sim->state.frame > 0) printf("continuing after frame %lld\n", (long long)r->sim->state.frame);
    }
    for (size_t i = 0; i < m->warning_count; i++) fprintf(stderr, "rubato-mpi: note: %s\n", m->warnings[i]);
    char text[320];
    if (rbt_run_foreseen(r->sim, text)) fprintf(stderr, "rubato-mpi: warning: %s\n", text);
    fflush(stdout);
}

static void say_frame(const cluster_run *r, const rbt_step_report *report, double seconds) {
    if (r->ranks.rank > 0) return;
    if (r->order.json)
        printf("{\"event\": \"frame\", \"frame\": %lld, \"time\": %.17g, \"steps\": %lld, \"iterations\": %lld, "
               "\"energy\": %.17g, \"seconds\": %.6f}\n",
               (long long)r->sim->state.frame, r->sim->state.t, (long long)report->steps,
               (long long)report->statistics[RBT_STAT_ITERATIONS], r->report.last.total, seconds);
    else if (!r->order.quiet)
        printf("frame %3lld of %lld  t %-8.4g s  energy %-11.5g J  %lld step%s, %.3f s\n",
               (long long)r->sim->state.frame, (long long)r->last_frame, r->sim->state.t, r->report.last.total,
               (long long)report->steps, report->steps == 1 ? "" : "s", seconds);
    fflush(stdout);
}

// ---- Running

static bool stop_asked(const cluster_run *r) {
    int asked = r->order.stop && *r->order.stop, any;
    MPI_Allreduce(&asked, &any, 1, MPI_INT, MPI_MAX, r->ranks.world);
    return any;
}

static bool has_step_probes(const rbt_model *m) {
    for (size_t i = 0; i < m->probe_count; i++)
        if (m->probes[i].every_step) return true;
    return false;
}

static rbt_run_end advance(cluster_run *r, rbt_step_report *report) {
    double start = rbt_now();
    int64_t frame = r->sim->state.frame;
    rbt_run_end end = RBT_RUN_FINISHED;
    bool probed = has_step_probes(r->sim->model);
    *report = (rbt_step_report){.body = -1, .element = -1, .stage = ""};
    while (r->sim->state.frame == frame && end == RBT_RUN_FINISHED) {
        if (rbt_sim_take_step(r->sim, report) != RBT_DONE) end = RBT_RUN_STEP_FAILED;
        else if (r->sim->state.frame == frame && probed) {
            bool good = rbt_sim_probes(r->sim, r->readings, &r->error);
            if (!rbt_ranks_agree(&r->ranks, good, &r->error) ||
                !rbt_shared_record_step(&r->record, r->sim, r->readings, &r->error))
                end = RBT_RUN_WORLD_FAILED;
        }
    }
    r->report.step_seconds += rbt_now() - start;
    if (end == RBT_RUN_STEP_FAILED && report->outcome == RBT_STOPPED) end = RBT_RUN_INTERRUPTED;
    return end;
}

static rbt_run_end run_frames(cluster_run *r, rbt_step_report *report) {
    const rbt_cluster_order *o = &r->order;
    int64_t last = r->sim->model->frame_count;
    if (o->frames >= 0 && o->frames < last) last = o->frames;
    r->last_frame = last;
    rbt_sim_set_stop(r->sim, o->stop);
    say_start(r);
    while (r->sim->state.frame < last) {
        if (stop_asked(r)) return RBT_RUN_INTERRUPTED;
        double start = rbt_now(), before = r->report.step_seconds;
        rbt_run_end end = advance(r, report);
        r->report.steps += report->steps;
        rbt_statistics_add(r->report.statistics, report->statistics);
        memcpy(r->statistics, report->statistics, sizeof r->statistics);
        r->report.halved_steps += report->halved_steps;
        if (report->halvings > r->report.max_halvings) r->report.max_halvings = report->halvings;
        if (end != RBT_RUN_FINISHED) return end;
        if (!write_frame(r, r->sim->state.frame == last || stop_asked(r))) return RBT_RUN_WORLD_FAILED;
        if (r->ranks.rank == 0)
            rbt_run_times_add(o->folder, r->sim->state.frame, r->sim->state.t, report->steps,
                              r->report.step_seconds - before);
        say_frame(r, report, rbt_now() - start);
    }
    if (!r->sim->state.tally.unconverged) return RBT_RUN_FINISHED;
    char text[256];
    rbt_unconverged_text(&r->sim->state.tally, text);
    rbt_fail(&r->error, "%s", text);
    return RBT_RUN_NOT_CONVERGED;
}

static void say_failure(const cluster_run *r, const rbt_step_report *s) {
    fprintf(stderr, "rubato-mpi: a step failed: %s in stage \"%s\"", rbt_outcome_name(s->outcome), s->stage);
    if (s->body >= 0) fprintf(stderr, ", body \"%s\"", r->piece.whole_bodies[s->body].name);
    if (s->element >= 0) fprintf(stderr, ", %s %lld", s->element_kind, (long long)s->element);
    if (s->element >= 0 && s->value != 0) fprintf(stderr, " (%.3g)", s->value);
    fprintf(stderr, ", after %d halvings", s->halvings);
    if (s->hint[0]) fprintf(stderr, "; %s", s->hint);
    fprintf(stderr, "\nrubato-mpi: earlier frames are complete; the state before the step is %s/failed.rbt\n",
            r->order.folder);
}

static int end_run(cluster_run *r, rbt_run_end end, rbt_step_report *report) {
    static const char *const status[] = {[RBT_RUN_FINISHED] = "finished",
                                         [RBT_RUN_NOT_CONVERGED] = "not converged",
                                         [RBT_RUN_INTERRUPTED] = "interrupted",
                                         [RBT_RUN_STEP_FAILED] = "failed",
                                         [RBT_RUN_WORLD_FAILED] = "failed"};
    bool first = r->ranks.rank == 0;
    rbt_error trouble = r->error;
    char text[2048];
    if (end == RBT_RUN_STEP_FAILED) {
        char *path = rbt_path_join(r->order.folder, "failed.rbt");
        r->report.failure = report;
        if (!rbt_ranks_agree(&r->ranks, path != NULL, &r->error) ||
            !rbt_shared_record_state(&r->ranks, &r->piece, r->sim, path, &r->error))
            end = RBT_RUN_WORLD_FAILED, trouble = r->error;
        free(path);
    }
    if (end == RBT_RUN_WORLD_FAILED) r->report.problem = trouble.message;
    if (!write_report(r, status[end]) && end != RBT_RUN_WORLD_FAILED) end = RBT_RUN_WORLD_FAILED, trouble = r->error;
    if (!first) return end == RBT_RUN_FINISHED ? 0 : end == RBT_RUN_INTERRUPTED ? 130 : 1;
    if (end == RBT_RUN_FINISHED && rbt_run_warning(r->sim, text)) fprintf(stderr, "rubato-mpi: warning: %s\n", text);
    switch (end) {
    case RBT_RUN_FINISHED:
        if (!r->order.quiet && !r->order.json) printf("finished: %s\n", r->order.folder);
        return 0;
    case RBT_RUN_NOT_CONVERGED:
        fprintf(stderr, "rubato-mpi: not converged: %s; all frames are in %s\n", trouble.message, r->order.folder);
        return 1;
    case RBT_RUN_INTERRUPTED:
        fprintf(stderr, "rubato-mpi: stopped; whole frames are kept; --resume continues, with any number of ranks\n");
        return 130;
    case RBT_RUN_STEP_FAILED: say_failure(r, report); return 1;
    default: fprintf(stderr, "rubato-mpi: %s\n", rbt_error_text(&trouble, text, sizeof text)); return 1;
    }
}

int rbt_cluster_run(MPI_Comm world, const rbt_cluster_order *order) {
    cluster_run r = {.order = *order, .started = rbt_now(), .lock = -1, .ranks = {.world = world}};
    rbt_step_report report = {.body = -1, .element = -1, .stage = ""};
    char text[2048];
    int code = 1;
    MPI_Comm_rank(world, &r.ranks.rank);
    MPI_Comm_size(world, &r.ranks.count);
    bool good = receive_order(&r);
    if (good) {
        r.report = (rbt_run_report){.scene = r.order.scene, .scene_text = r.order.scene_text};
        stamp(r.report.started);
        set_threads(&r);
        good = begin(&r);
    }
    if (good) {
        rbt_run_end end = run_frames(&r, &report);
        code = end_run(&r, end, &report);
    } else if (r.ranks.rank == 0) fprintf(stderr, "rubato-mpi: %s\n", rbt_error_text(&r.error, text, sizeof text));
    rbt_shared_record_close(&r.record);
    if (r.sim) r.piece.model = NULL;  // it is the simulation's
    rbt_sim_free(r.sim);
    rbt_piece_free(&r.piece);
    rbt_communicator_free(&r.ranks);
    free(r.readings);
    free(r.more);
    free(r.report_path);
    free(r.scene_path);
    rbt_scene_free(r.parsed);
    free(r.text);
    free(r.folder);
    if (r.lock >= 0) close(r.lock);
    return code;
}
