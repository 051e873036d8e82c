// Runs a scene to its end and prints how right and how costly it was, as one JSON object: steps, attempts that were
// taken back, seconds of the processors, and the error against a reference.
//   --steps N: the first N frames only. --budget S: no further frame after S seconds of the processors.
//   --save FILE: positions at every frame, to be a reference. --load FILE: a reference; the error is that of the worst
//   node over the size of its body, at the last frame that both have and at the worst frame.
//   --trace: for steps by error, what each step's error was, over what it may have been, and what the estimate said.
//   The error is measured against the same span in 16 steps of the implicit midpoint rule.
// "choice" tells what was chosen at the start, where the scene leaves that open, as run.json does. Later changes of
// mind belong to runs and are not made here.
// A step that fails is part of the result ("failed"), not an error of this program.
#include "tool.h"

#include "math/vec3.h"
#include "sim/choice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char USAGE[] = "precision SCENE [--set path=value]… [--steps FRAMES] [--threads N] [--budget S] [--load "
                            "FILE] [--save FILE] [--trace]";

enum { FINER = 16, TRACED = 400 };  // steps whose error is measured at most, evenly spread over the time

typedef struct tracer {
    rbt_sim *fine;
    rbt_state before;  // of the step
    double span;
    double next;  // [s] where the next step begins whose error is measured
    double estimate, step;
    int64_t attempts;
    json_t *measured;  // [t, step, estimate, error], both over what may be
} tracer;

static double body_size(const rbt_model *m, size_t node) {
    const rbt_body *body = &m->bodies[m->node_body[node]];
    double across[3];
    rbt_subtract(body->box_max, body->box_min, across);
    double size = rbt_length(across);
    return size > 0 ? size : rbt_model_diagonal(m);
}

static double difference(const rbt_model *m, const double *x, const double *y) {
    double largest = 0;
    for (size_t n = 0; n < m->node_count; n++) {
        double d[3];
        rbt_subtract(x + 3 * n, y + 3 * n, d);
        double e = rbt_length(d) / body_size(m, n);
        if (!(e <= largest)) largest = e;
    }
    return largest;
}

// ---- Errors of single steps

static void note(void *context, const rbt_step_attempt *attempt) {
    tracer *t = context;
    t->attempts++;
    t->estimate = attempt->estimate;
    t->step = attempt->step;
}

static void begin_trace(tracer *t, const rbt_sim *sim) {
    const rbt_step_memory *memory = rbt_stepper_step_memory(&sim->stepper, &sim->state);
    if (!rbt_state_copy(&t->before, &sim->state, NULL)) abort();
    t->span = memory->span;
    t->next = sim->state.t + (double)sim->model->frame_count * sim->model->frame_interval / TRACED;
}

// The same span by the fine rule
static void end_trace(tracer *t, const rbt_sim *sim) {
    const rbt_model *m = sim->model;
    rbt_state *f = &t->fine->state;
    rbt_step_report report = {0};
    double h = sim->state.t - t->before.t, largest = 0, size;
    memcpy(f->x, t->before.x, 3 * m->node_count * sizeof(double));
    memcpy(f->v, t->before.v, 3 * m->node_count * sizeof(double));
    f->t = t->before.t;
    rbt_stepper_forget(&t->fine->stepper, f);
    for (int i = 1; i <= FINER; i++)
        if (rbt_stepper_advance(&t->fine->stepper, f, i == FINER ? sim->state.t : t->before.t + h * i / FINER,
                                &report) != RBT_DONE)
            return;
    for (size_t n = 0; n < m->node_count; n++) {
        double dx[3], dv[3];
        rbt_subtract(sim->state.x + 3 * n, f->x + 3 * n, dx);
        rbt_subtract(sim->state.v + 3 * n, f->v + 3 * n, dv);
        if (sim->stepper.control.constrained[n]) continue;
        size = body_size(m, n);
        largest = fmax(largest, sqrt(rbt_dot(dx, dx) + t->span * t->span * rbt_dot(dv, dv)) / size);
    }
    double may = m->asked.error * h / ((double)m->frame_count * m->frame_interval);
    json_array_append_new(t->measured, json_pack("[f, f, f, f]", t->before.t, h, t->estimate, largest / may));
}

static rbt_sim *fine_sim(const rbt_sim *sim) {
    rbt_error error = {0};
    rbt_scene scene = *sim->scene;
    rbt_implicit_options options = rbt_implicit_options_default();
    options.tolerance = 1e-10;
    scene.integrator =
        (rbt_integrator_def){.method = rbt_method_find("implicit-midpoint"), .options = &options, .max_halvings = 8};
    scene.integrator.solver = rbt_solver_find(scene.integrator.method, "newton");
    scene.time.step = scene.time.frame;
    rbt_sim *fine = rbt_sim_create(&scene, &error);
    if (!fine) rbt_tool_fail(&error);
    return fine;
}

// ---- The run

typedef struct reference {
    FILE *load, *save;
    size_t nodes;
    double *x;  // (nodes x 3)
    double last, worst;
} reference;

static void compare(reference *r, const rbt_sim *sim) {
    size_t values = 3 * sim->model->node_count;
    if (r->save && fwrite(sim->state.x, sizeof(double), values, r->save) != values) abort();
    if (!r->load || r->nodes != sim->model->node_count) return;
    if (fread(r->x, sizeof(double), values, r->load) != values) {
        r->nodes = 0;  // it has no more frames
        return;
    }
    r->last = difference(sim->model, sim->state.x, r->x);
    r->worst = fmax(r->worst, r->last);
}

static bool advance(rbt_sim *sim, tracer *t, rbt_step_report *sum) {
    rbt_step_report report;
    bool good = true;
    for (int64_t frame = sim->state.frame; good && sim->state.frame == frame;) {
        bool traced = t->fine && sim->state.t >= t->next;
        if (traced) begin_trace(t, sim);
        if (t->fine) good = rbt_sim_step(sim, &report);
        else good = rbt_sim_advance_frame(sim, &report);
        if (good && traced) end_trace(t, sim);
        sum->steps += report.steps;
        sum->halved_steps += report.halved_steps;
        rbt_statistics_add(sum->statistics, report.statistics);
        if (!good) snprintf(sum->hint, sizeof sum->hint, "%s: %.200s", rbt_outcome_name(report.outcome), report.hint);
    }
    return good;
}

static json_t *choice_of(const rbt_sim *sim) {
    rbt_text text = {0};
    if (sim->choice) rbt_choice_json(sim->choice, &text);
    json_t *choice = text.text ? json_loads(text.text, 0, NULL) : NULL;
    rbt_text_free(&text);
    return choice ? choice : json_null();
}

int main(int count, char **words) {
    rbt_tool_words w = rbt_tool_read(count, words, USAGE);
    rbt_sim *sim = rbt_tool_sim(&w);
    const rbt_model *m = sim->model;
    tracer t = {.measured = json_array()};
    reference r = {.load = w.load ? fopen(w.load, "rb") : NULL,
                   .save = w.save ? fopen(w.save, "wb") : NULL,
                   .nodes = m->node_count,
                   .x = calloc(3 * m->node_count, sizeof(double))};
    if ((w.load && !r.load) || (w.save && !r.save) || !r.x) {
        fprintf(stderr, "precision: cannot open %s\n", r.load || !w.load ? w.save : w.load);
        return 1;
    }
    if (w.trace && sim->stepper.control.on) {
        t.fine = fine_sim(sim);
        sim->stepper.control.log = (rbt_step_log){note, &t};
    }
    rbt_step_report sum = {0};
    double start = rbt_tool_processor_seconds(&w);
    int64_t last = w.steps > 0 && w.steps < m->frame_count ? w.steps : m->frame_count;
    bool good = true;
    compare(&r, sim);
    while (good && sim->state.frame < last) {
        good = advance(sim, &t, &sum);
        if (good) compare(&r, sim);
        if (w.budget > 0 && rbt_tool_processor_seconds(&w) - start > w.budget) break;
    }
    json_t *result = json_pack(
        "{s:s, s:I, s:I, s:f, s:I, s:I, s:f, s:I, s:f, s:f, s:o, s:s, s:b}", "method", sim->stepper.method->name,
        "frames", (json_int_t)sim->state.frame, "last_frame", (json_int_t)last, "time", sim->state.t, "steps",
        (json_int_t)sum.steps, "rejected", (json_int_t)sum.statistics[RBT_STAT_REJECTED], "processor_seconds",
        rbt_tool_processor_seconds(&w) - start, "iterations", (json_int_t)sum.statistics[RBT_STAT_ITERATIONS],
        "error", w.load ? r.last : 0, "worst_error", w.load ? r.worst : 0, "local", t.measured, "failed", sum.hint,
        "good", good);
    json_object_set_new(result, "choice", choice_of(sim));
    rbt_tool_print(result);
    if (r.save && fclose(r.save) != 0) return 1;
    if (r.load) fclose(r.load);
    free(r.x);
    rbt_state_clear(&t.before);
    rbt_sim_free(t.fine);
    rbt_sim_free(sim);
    return 0;
}
