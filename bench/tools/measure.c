// Runs the first steps of a scene and prints what they took as one JSON object: seconds, seconds of the processors,
// iterations and residual of every step, seconds of every stage, peak memory; with --trace also how the last step
// converged, iteration by iteration; with --fill no step is made, and the factor of the whole matrix is analysed
// instead: what a step by newton would need, and how fast all threads together can read as many numbers.
// --probe x,y,z: how far the node that is nearest to this place at rest is from where it was at rest, after every
// step. --warp: what warping the places for a picture takes after every step; probes are warped, too. --energies:
// time and energies at the start and after every step. --contacts: the pairs that push each other after every step,
// [x, y, z, n_x, n_y, n_z, gap, force, area of the first node, which obstacle or body the second side is].
// --budget S: no further step after S seconds of the processors, which on one thread are the same however busy the
// machine is. "about" is what the method says of itself in run.json: subdomains, implicit nodes.
//
// A step that fails is part of the result ("failed"), not an error of this program.
#include "tool.h"

#include "math/vec3.h"
#include "model/warp.h"
#include "out/checkpoint.h"
#include "solve/cholesky.h"
#include "solve/frontal_parts.h"
#include "step/implicit/objective.h"

#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>

static const char USAGE[] =
    "measure SCENE [--set path=value]… [--steps N] [--threads N] [--load CHECKPOINT] "
    "[--save CHECKPOINT] [--probe x,y,z]… [--budget S] [--energies] [--contacts] [--warp] [--trace] [--fill]";

enum { TRACE_MOST = 200000 };

// A number, or null where JSON has none for it
static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static void add_step(json_t *steps, double seconds, double processor, const rbt_step_report *report) {
    json_array_append_new(steps,
                          json_pack("{s:f, s:f, s:I, s:o, s:i, s:I, s:I}", "seconds", seconds, "processor_seconds",
                                    processor, "iterations", (json_int_t)report->statistics[RBT_STAT_ITERATIONS],
                                    "residual", number(report->statistics[RBT_STAT_RESIDUAL]), "halvings",
                                    report->halvings, "substeps", (json_int_t)report->statistics[RBT_STAT_SUBSTEPS],
                                    "projected", (json_int_t)report->statistics[RBT_STAT_PROJECTED]));
}

static void add_energies(const rbt_sim *sim, const rbt_tool_words *w, json_t *energies) {
    if (!w->energies) return;
    rbt_energies e = rbt_sim_energies(sim);
    json_array_append_new(json_object_get(energies, "time"), number(rbt_sim_time(sim)));
    json_array_append_new(json_object_get(energies, "kinetic"), number(e.kinetic));
    json_array_append_new(json_object_get(energies, "elastic"), number(e.elastic));
    json_array_append_new(json_object_get(energies, "total"), number(e.total));
}

static json_t *list(const double *values, size_t count) {
    json_t *items = json_array();
    for (size_t i = 0; i < count; i++) json_array_append_new(items, number(values[i]));
    return items;
}

static size_t nearest_node(const rbt_model *m, const double place[3]) {
    size_t best = 0;
    double least = INFINITY;
    for (size_t n = 0; n < m->node_count; n++) {
        double way[3], distance;
        rbt_subtract(m->X + 3 * n, place, way);
        distance = rbt_length(way);
        if (distance < least) least = distance, best = n;
    }
    return best;
}

// Lists of displacements [x, y, z], one list a probe
static void add_probes(const rbt_sim *sim, const double *x, const rbt_tool_words *w, json_t *probes) {
    for (size_t i = 0; i < w->probe_count; i++) {
        double way[3];
        size_t n = nearest_node(sim->model, w->probes[i]);
        rbt_subtract(x + 3 * n, sim->model->X + 3 * n, way);
        json_array_append_new(json_array_get(probes, i), list(way, 3));
    }
}

static void add_contacts(const rbt_sim *sim, const rbt_tool_words *w, json_t *steps) {
    if (!w->contacts) return;
    size_t count = rbt_sim_contacts(sim, NULL, 0);
    rbt_contact_point *points = calloc(count + 1, sizeof *points);
    json_t *pairs = json_array();
    rbt_sim_contacts(sim, points, count);
    for (size_t i = 0; points && i < count; i++) {
        const rbt_contact_point *p = &points[i];
        bool obstacle = (size_t)p->nodes[0] >= sim->model->node_count;
        double area = obstacle ? 0 : sim->model->node_area[p->nodes[0]];
        double values[10] = {p->point[0],  p->point[1], p->point[2], p->normal[0], p->normal[1],
                             p->normal[2], p->gap,      p->force,    area,         p->body_b};
        json_array_append_new(pairs, list(values, 10));
    }
    json_array_append_new(steps, pairs);
    free(points);
}

// Warping prepared and done once, so that its factor is there
static rbt_warp *prepare_warp(const rbt_sim *sim, double *shown) {
    rbt_error error = {0};
    rbt_warp *warp = rbt_warp_new(sim->model, &error);
    if (!warp || !rbt_warp_apply(warp, sim->state.t, sim->state.x, shown, &error)) rbt_tool_fail(&error);
    return warp;
}

static void add_warp(rbt_warp *warp, const rbt_sim *sim, double *shown, json_t *seconds) {
    rbt_error error = {0};
    double start = rbt_now();
    if (!rbt_warp_apply(warp, sim->state.t, sim->state.x, shown, &error)) rbt_tool_fail(&error);
    json_array_append_new(seconds, json_real(rbt_now() - start));
}

// What the method has to say about itself, as in run.json
static json_t *description(const rbt_sim *sim) {
    rbt_text words = {0};
    rbt_text_add(&words, "{");
    if (sim->stepper.method->describe) sim->stepper.method->describe(sim->stepper.self, &words);
    rbt_text_add(&words, "}");
    json_t *about = words.failed ? NULL : json_loads(words.text, 0, NULL);
    rbt_text_free(&words);
    return about ? about : json_null();
}

static void run_steps(rbt_sim *sim, const rbt_tool_words *w, json_t *result) {
    json_t *steps = json_array(), *stages = json_object(), *probes = json_array();
    json_t *energies = json_pack("{s:[], s:[], s:[], s:[]}", "time", "kinetic", "elastic", "total");
    rbt_trace trace = {.capacity = TRACE_MOST,
                       .seconds = calloc(TRACE_MOST, sizeof(double)),
                       .residual = calloc(TRACE_MOST, sizeof(double))};
    json_object_set_new(result, "steps", steps);
    json_object_set_new(result, "stages", stages);
    json_object_set_new(result, "probes", probes);
    json_object_set_new(result, "energies", energies);
    for (size_t i = 0; i < w->probe_count; i++) json_array_append_new(probes, json_array());
    json_t *warping = json_array(), *contacts = json_array();
    json_object_set_new(result, "contacts", contacts);
    double *shown = w->warp ? calloc(3 * sim->model->node_count, sizeof(double)) : NULL;
    rbt_warp *warp = shown ? prepare_warp(sim, shown) : NULL;
    json_object_set_new(result, "warping", warping);
    double begin = rbt_tool_processor_seconds(w);
    add_energies(sim, w, energies);
    for (int k = 0; k < w->steps && rbt_tool_processor_seconds(w) - begin < w->budget; k++) {
        rbt_step_report report = {.body = -1, .element = -1, .stage = ""};
        if (w->trace && k + 1 == w->steps) sim->stepper.stages.trace = &trace;
        double start = rbt_now(), processor_start = rbt_tool_processor_seconds(w);
        rbt_outcome outcome = rbt_sim_take_step(sim, &report);
        add_step(steps, rbt_now() - start, rbt_tool_processor_seconds(w) - processor_start, &report);
        if (outcome == RBT_DONE) {
            if (warp) add_warp(warp, sim, shown, warping);
            add_probes(sim, warp ? shown : sim->state.x, w, probes);
            add_energies(sim, w, energies);
            add_contacts(sim, w, contacts);
            continue;
        }
        json_object_set_new(result, "failed",
                            json_pack("{s:i, s:s, s:s, s:s}", "step", k + 1, "outcome", rbt_outcome_name(outcome),
                                      "stage", report.stage, "hint", report.hint));
        break;
    }
    sim->stepper.stages.trace = NULL;
    const rbt_stages *s = &sim->stepper.stages;
    for (int i = 0; i < s->count; i++) json_object_set_new(stages, s->name[i], json_real(s->seconds[i]));
    json_object_set_new(result, "about", description(sim));
    if (w->trace)
        json_object_set_new(result, "trace",
                            json_pack("{s:o, s:o}", "seconds", list(trace.seconds, trace.count), "residual",
                                      list(trace.residual, trace.count)));
    rbt_warp_free(warp);
    free(shown);
    free(trace.seconds);
    free(trace.residual);
}

// Bytes per second of reading `count` numbers over and over, by all threads, the best of many
static double read_rate(size_t count) {
    enum { ROUNDS = 40, RUN = 4096, LANES = 16 };
    double *numbers = rbt_frontal_allocate(count * sizeof *numbers), best = 0, kept = 0;
    for (size_t i = 0; numbers && i < count; i++) numbers[i] = 1;
    for (int round = 0; numbers && round < ROUNDS; round++) {
        double start = rbt_now(), all = 0;
#pragma omp parallel for schedule(static) reduction(+ : all)
        for (size_t first = 0; first < count / RUN * RUN; first += RUN) {
            double sums[LANES] = {0};
            for (size_t i = first; i < first + RUN; i += LANES)
                for (size_t l = 0; l < LANES; l++) sums[l] += numbers[i + l];
            for (size_t l = 0; l < LANES; l++) all += sums[l];
        }
        best = fmax(best, (double)(count / RUN * RUN * sizeof *numbers) / (rbt_now() - start));
        kept += all;
    }
    free(numbers);
    return kept > 0 ? best : 0;
}

// Non-zeros and flops of the factor of the whole matrix, its driven nodes eliminated
static void analyse(const rbt_sim *sim, json_t *result) {
    const rbt_model *m = sim->model;
    rbt_error error = {0};
    rbt_stiffness stiffness;
    unsigned char *constrained = rbt_array_new(m->node_count, 1, "constrained nodes", &error);
    if (!constrained || !rbt_stiffness_build(&stiffness, m, &error)) rbt_tool_fail(&error);
    rbt_constrained_nodes(m, 0, constrained);
    for (size_t n = 0; n < m->node_count; n++) constrained[n] = !constrained[n];
    double start = rbt_now();
    rbt_cholesky *cholesky = rbt_cholesky_analyse(&stiffness.K, constrained, &error);
    if (!cholesky) rbt_tool_fail(&error);
    json_object_set_new(result, "analysis",
                        json_pack("{s:f, s:f, s:f, s:f}", "seconds", rbt_now() - start, "fill",
                                  rbt_cholesky_fill(cholesky), "flops", rbt_cholesky_flops(cholesky), "read_rate",
                                  read_rate((size_t)rbt_cholesky_fill(cholesky))));
    rbt_cholesky_free(cholesky);
    rbt_stiffness_free(&stiffness);
    free(constrained);
}

static void load(rbt_sim *sim, const char *path) {
    rbt_error error = {0};
    rbt_state state = {0};
    if (!rbt_checkpoint_read(path, sim->model, RBT_SAME_NODES, &state, &error)) rbt_tool_fail(&error);
    rbt_state_clear(&sim->state);
    sim->state = state;
    if (!rbt_stepper_prepare(&sim->stepper, &sim->state, &error)) rbt_tool_fail(&error);
}

int main(int count, char **words) {
    rbt_tool_words w = rbt_tool_read(count, words, USAGE);
    rbt_error error = {0};
    double start = rbt_now();
    rbt_sim *sim = rbt_tool_sim(&w);
    json_t *result = json_pack("{s:I, s:I, s:i, s:f, s:f}", "nodes", (json_int_t)sim->model->node_count, "tets",
                               (json_int_t)sim->model->tet_count, "threads", w.threads, "step", sim->model->step,
                               "setup_seconds", rbt_now() - start);
    if (w.load) load(sim, w.load);
    if (w.fill) analyse(sim, result);
    else run_steps(sim, &w, result);
    if (w.save && !rbt_checkpoint_write(w.save, sim->model, &sim->state, &error)) rbt_tool_fail(&error);
    rbt_sim_free(sim);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    json_object_set_new(result, "megabytes", json_real((double)usage.ru_maxrss / 1024));
    rbt_tool_print(result);
    return 0;
}
