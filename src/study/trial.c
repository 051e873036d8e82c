#include "study/trial.h"

#include "base/memory.h"
#include "sim/run.h"
#include "sim/run_report.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

// What goes through the pipe. Shorter than PIPE_BUF, so that a note arrives whole or not at all.
typedef struct note {
    enum { FRAME, STAND, VERDICT } kind;  // a new frame; where it stands at the end; how it ended
    rbt_trial now;                        // without frames
    rbt_energies energies;
} note;
_Static_assert(sizeof(note) <= 4096, "a note fits into a pipe at once");

// ---- In the child

typedef struct child {
    int pipe;
    volatile int stop;  // nobody listens any more
    note note;
} child;

static void send_note(child *c) {
    ssize_t sent;
    do sent = write(c->pipe, &c->note, sizeof c->note);
    while (sent < 0 && errno == EINTR);
    if (sent != sizeof c->note) c->stop = 1;
}

static void tell(child *c, const rbt_run_progress *p, int kind) {
    const rbt_run_report *totals = p->totals;
    c->note.kind = kind;
    c->note.energies = p->energies;
    c->note.now = (rbt_trial){.step = p->sim->model->step,
                              .t = p->sim->state.t,
                              .last_frame = p->last_frame,
                              .steps = totals->steps,
                              .iterations = (int64_t)totals->statistics[RBT_STAT_ITERATIONS],
                              .halved_steps = totals->halved_steps,
                              .unconverged = p->sim->state.tally.unconverged,
                              .setup_seconds = totals->compile_seconds,
                              .step_seconds = totals->step_seconds};
    if (!rbt_run_warning(p->sim, c->note.now.warning)) c->note.now.warning[0] = '\0';
    send_note(c);
}

static void framed(const rbt_run_progress *progress, void *listener) { tell(listener, progress, FRAME); }
static void ended(const rbt_run_progress *progress, void *listener) { tell(listener, progress, STAND); }

// "not finite in stage "update", body "bar", tet 7, after 8 halvings; try a smaller step"
static void describe_failure(rbt_trial *now, const rbt_scene *scene, const rbt_step_report *r) {
    char body[160] = "", element[48] = "";
    if (r->body >= 0 && (size_t)r->body < scene->bodies.count)
        snprintf(body, sizeof body, ", body \"%.120s\"", scene->bodies.items[r->body].name);
    if (r->element >= 0) snprintf(element, sizeof element, ", %s %lld", r->element_kind, (long long)r->element);
    snprintf(now->stage, sizeof now->stage, "%s", r->stage);
    snprintf(now->reason, sizeof now->reason, "%s in stage \"%s\"%s%s, after %d halvings%s%s",
             rbt_outcome_name(r->outcome), r->stage, body, element, r->halvings, r->hint[0] ? "; " : "", r->hint);
}

static void run_as_child(const rbt_trial_def *def, int pipe) {
    child c = {.pipe = pipe};
    rbt_error error = {0};
    rbt_step_report report;
    const rbt_run_options options = {.scene = rbt_scene_of(def->scene),
                                     .scene_text = rbt_scene_json(def->scene),
                                     .folder = def->folder,
                                     .frames = def->frames,
                                     .from_frame = -1,
                                     .started = framed,
                                     .framed = framed,
                                     .ended = ended,
                                     .listener = &c,
                                     .stop = &c.stop};
    rbt_run_end end = rbt_run(&options, &report, &error);
    rbt_trial *now = &c.note.now;
    char text[2048];
    c.note.kind = VERDICT;
    now->end = end == RBT_RUN_FINISHED        ? RBT_TRIAL_FINISHED
               : end == RBT_RUN_NOT_CONVERGED ? RBT_TRIAL_NOT_CONVERGED
               : end == RBT_RUN_STEP_FAILED   ? RBT_TRIAL_STEP_FAILED
                                              : RBT_TRIAL_WORLD_FAILED;
    if (!rbt_trial_complete(now)) now->warning[0] = '\0';
    if (now->end == RBT_TRIAL_STEP_FAILED) describe_failure(now, options.scene, &report);
    if (now->end == RBT_TRIAL_WORLD_FAILED || now->end == RBT_TRIAL_NOT_CONVERGED)
        snprintf(now->reason, sizeof now->reason, "%.*s", (int)sizeof now->reason - 1,
                 error.message[0] ? rbt_error_text(&error, text, sizeof text) : "not enough memory");
    send_note(&c);
}

// ---- In the parent

static bool receive(int pipe, note *n) {
    char *at = (char *)n;
    size_t have = 0;
    while (have < sizeof *n) {
        ssize_t got = read(pipe, at + have, sizeof *n - have);
        if (got == 0 || (got < 0 && errno != EINTR)) return false;
        if (got > 0) have += (size_t)got;
    }
    return true;
}

// Everything in the note but the frames, which the parent collects itself.
static void take_in(rbt_trial *trial, const note *n) {
    size_t count = trial->frame_count, capacity = trial->capacity;
    rbt_trial_frame *frames = trial->frames;
    rbt_trial_end end = n->kind == VERDICT ? n->now.end : RBT_TRIAL_CRASHED;
    *trial = n->now;
    trial->end = end;
    trial->frame_count = count;
    trial->capacity = capacity;
    trial->frames = frames;
}

static bool follow(const rbt_trial_def *def, int pipe, pid_t process, rbt_trial *trial, rbt_error *error) {
    note n;
    while (receive(pipe, &n)) {
        take_in(trial, &n);
        if (n.kind != FRAME) continue;
        if (!rbt_array_reserve((void **)&trial->frames, &trial->capacity, trial->frame_count + 1,
                               sizeof *trial->frames, "the frames of a trial", error))
            return false;
        trial->frames[trial->frame_count++] = (rbt_trial_frame){n.now.t, n.energies};
        if (def->heard) def->heard(trial, process, def->listener);
    }
    return true;
}

static void conclude(rbt_trial *trial, int status, const struct rusage *usage) {
    trial->peak_memory = 1024 * (double)usage->ru_maxrss;
    if (trial->end != RBT_TRIAL_CRASHED) return;
    if (WIFSIGNALED(status))
        snprintf(trial->reason, sizeof trial->reason, "the process was ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(trial->reason, sizeof trial->reason, "the process ended with code %d before its run was over",
                 WEXITSTATUS(status));
}

bool rbt_trial_run(const rbt_trial_def *def, rbt_trial *trial, rbt_error *error) {
    *trial = (rbt_trial){.end = RBT_TRIAL_CRASHED};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return rbt_fail(error, "cannot make a pipe: %s", strerror(errno));
    pid_t parent = getpid(), process = fork();
    int why = errno;
    if (process == 0) {
        // Whoever ends the parent ends the trial, even in the middle of a step; it may be too late to be told.
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(1);
        close(ends[0]);
        run_as_child(def, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    if (process < 0) {
        close(ends[0]);
        return rbt_fail(error, "cannot start a process: %s", strerror(why));
    }
    bool good = follow(def, ends[0], process, trial, error);
    close(ends[0]);
    int status = 0;
    struct rusage usage = {0};
    while (wait4(process, &status, 0, &usage) < 0 && errno == EINTR) {}
    conclude(trial, status, &usage);
    return good;
}

bool rbt_trial_complete(const rbt_trial *trial) {
    return trial->end == RBT_TRIAL_FINISHED || trial->end == RBT_TRIAL_NOT_CONVERGED;
}

void rbt_trial_free(rbt_trial *trial) {
    free(trial->frames);
    *trial = (rbt_trial){0};
}
