#include "study/contender_files.h"

#include "base/file.h"
#include "base/threads.h"
#include "step/core/method.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- The columns: a text or a number each

static const char *name_of(const rbt_contender *c) { return c->name; }
static const char *method_of(const rbt_contender *c) {
    const char *name = rbt_method_name(rbt_scene_of(c->scene)->integrator.method);
    return name ? name : "auto";
}

static const char *solver_of(const rbt_contender *c) {
    const rbt_scene *scene = rbt_scene_of(c->scene);
    const rbt_method *method = rbt_method_at(scene->integrator.method);
    const char *name = method && method->solvers ? method->solvers(scene->integrator.solver) : "";
    return name ? name : "auto";
}

static const char *outcome_of(const rbt_contender *c) {
    static const char *const names[] = {[RBT_TRIAL_FINISHED] = "finished",
                                        [RBT_TRIAL_NOT_CONVERGED] = "not converged",
                                        [RBT_TRIAL_STEP_FAILED] = "step failed",
                                        [RBT_TRIAL_WORLD_FAILED] = "run failed",
                                        [RBT_TRIAL_CRASHED] = "crashed"};
    return names[c->trial.end];
}

static const char *stage_of(const rbt_contender *c) { return c->trial.stage; }
static const char *reason_of(const rbt_contender *c) { return c->trial.reason; }
static const char *warning_of(const rbt_contender *c) { return c->trial.warning; }
static const char *folder_of(const rbt_contender *c) { return c->folder; }

static double step_of(const rbt_contender *c) {
    return c->trial.step > 0 ? c->trial.step : rbt_scene_of(c->scene)->time.step;
}
static double time_of(const rbt_contender *c) { return c->trial.t; }
static double frame_of(const rbt_contender *c) { return c->trial.frame_count ? (double)c->trial.frame_count - 1 : 0; }
static double runs_of(const rbt_contender *c) { return (double)c->run_count; }
static double rate_of(const rbt_contender *c) { return c->rate.median; }
static double fastest_of(const rbt_contender *c) { return c->rate.min; }
static double slowest_of(const rbt_contender *c) { return c->rate.max; }
static double setup_of(const rbt_contender *c) { return c->trial.setup_seconds; }
static double steps_of(const rbt_contender *c) { return (double)c->trial.steps; }
static double iterations_of(const rbt_contender *c) { return (double)c->trial.iterations; }
static double halved_steps_of(const rbt_contender *c) { return (double)c->trial.halved_steps; }
static double unconverged_of(const rbt_contender *c) { return (double)c->trial.unconverged; }
static double memory_of(const rbt_contender *c) { return 1e-6 * c->trial.peak_memory; }
static double first_energy_of(const rbt_contender *c) { return c->total_first; }
static double last_energy_of(const rbt_contender *c) { return c->total_last; }
static double least_energy_of(const rbt_contender *c) { return c->total_min; }
static double largest_energy_of(const rbt_contender *c) { return c->total_max; }
static double energy_scale_of(const rbt_contender *c) { return c->energy_scale; }
static double energy_end_of(const rbt_contender *c) { return c->energy_end; }
static double energy_max_of(const rbt_contender *c) { return c->energy_max; }
static double momentum_of(const rbt_contender *c) { return c->momentum_max; }
static double angular_of(const rbt_contender *c) { return c->angular_max; }
static double distance_end_of(const rbt_contender *c) { return c->distance_end; }
static double distance_max_of(const rbt_contender *c) { return c->distance_max; }

static const struct column {
    const char *name, *unit;
    const char *(*text)(const rbt_contender *c);
    double (*number)(const rbt_contender *c);
} COLUMNS[] = {
    {"name", NULL, name_of, NULL},
    {"method", NULL, method_of, NULL},
    {"solver", NULL, solver_of, NULL},
    {"step", "s", NULL, step_of},
    {"outcome", NULL, outcome_of, NULL},
    {"stage", NULL, stage_of, NULL},
    {"reason", NULL, reason_of, NULL},
    {"warning", NULL, warning_of, NULL},
    {"time", "s", NULL, time_of},
    {"frame", NULL, NULL, frame_of},
    {"finished_runs", NULL, NULL, runs_of},
    {"seconds_per_second", "s/s", NULL, rate_of},
    {"seconds_per_second_min", "s/s", NULL, fastest_of},
    {"seconds_per_second_max", "s/s", NULL, slowest_of},
    {"seconds", "s", NULL, rbt_contender_seconds},
    {"seconds_per_step", "s", NULL, rbt_contender_step_seconds},
    {"setup_seconds", "s", NULL, setup_of},
    {"steps", NULL, NULL, steps_of},
    {"iterations", NULL, NULL, iterations_of},
    {"halved_steps", NULL, NULL, halved_steps_of},
    {"unconverged_steps", NULL, NULL, unconverged_of},
    {"peak_memory", "MB", NULL, memory_of},
    {"energy_start", "J", NULL, first_energy_of},
    {"energy_end", "J", NULL, last_energy_of},
    {"energy_min", "J", NULL, least_energy_of},
    {"energy_max", "J", NULL, largest_energy_of},
    {"energy_scale", "J", NULL, energy_scale_of},
    {"energy_drift_end", "of energy_scale", NULL, energy_end_of},
    {"energy_drift_max", "of energy_scale", NULL, energy_max_of},
    {"momentum_drift", "kg m/s", NULL, momentum_of},
    {"angular_momentum_drift", "kg m^2/s", NULL, angular_of},
    {"distance_end", "m", NULL, distance_end_of},
    {"distance_max", "m", NULL, distance_max_of},
    {"folder", NULL, folder_of, NULL},
};
enum { COLUMN_COUNT = sizeof COLUMNS / sizeof COLUMNS[0] };

// ---- CSV

void rbt_csv_add_cell(rbt_text *t, const char *words) {
    bool quote = strpbrk(words, ",\"\n\r") != NULL;
    if (quote) rbt_text_add_bytes(t, "\"", 1);
    for (const char *c = words; *c; c++) rbt_text_add_bytes(t, *c == '"' ? "\"\"" : c, *c == '"' ? 2 : 1);
    if (quote) rbt_text_add_bytes(t, "\"", 1);
}

void rbt_contender_add_head(rbt_text *t) {
    for (int i = 0; i < COLUMN_COUNT; i++) {
        const struct column *column = &COLUMNS[i];
        rbt_text_add(t, "%s%s", i ? "," : "", column->name);
        if (column->unit) rbt_text_add(t, " [%s]", column->unit);
    }
    rbt_text_add(t, "\n");
}

void rbt_contender_add_row(rbt_text *t, const rbt_contender *c) {
    for (int i = 0; i < COLUMN_COUNT; i++) {
        const struct column *column = &COLUMNS[i];
        double value = column->number ? column->number(c) : NAN;
        if (i) rbt_text_add(t, ",");
        if (column->text) rbt_csv_add_cell(t, column->text(c));
        else if (isfinite(value)) rbt_text_add(t, "%.9g", value);
    }
    rbt_text_add(t, "\n");
}

// ---- JSON

static void add_series(rbt_text *t, const char *name, const rbt_contender *c,
                       double (*value)(const rbt_contender *, size_t), const char *end) {
    rbt_text_add(t, "      \"%s\": [", name);
    for (size_t i = 0; i < c->trial.frame_count; i++) {
        if (i) rbt_text_add(t, ", ");
        rbt_text_add_json_number(t, value(c, i));
    }
    rbt_text_add(t, "]%s\n", end);
}

static double frame_time(const rbt_contender *c, size_t i) { return c->trial.frames[i].t; }
static double frame_energy(const rbt_contender *c, size_t i) { return c->trial.frames[i].energies.total; }
static double frame_distance(const rbt_contender *c, size_t i) { return c->distance[i]; }

void rbt_contender_add_members(rbt_text *t, const rbt_contender *c) {
    for (int i = 0; i < COLUMN_COUNT; i++) {
        const struct column *column = &COLUMNS[i];
        rbt_text_add(t, "    \"%s\": ", column->name);
        if (column->text) rbt_text_add_json(t, column->text(c));
        else rbt_text_add_json_number(t, column->number(c));
        rbt_text_add(t, ",\n");
    }
    rbt_text_add(t, "    \"seconds_per_second_each\": [");
    for (size_t i = 0; i < c->run_count; i++) {
        if (i) rbt_text_add(t, ", ");
        rbt_text_add_json_number(t, c->rates[i]);
    }
    rbt_text_add(t, "],\n    \"frames\": {\n");
    add_series(t, "time", c, frame_time, ",");
    add_series(t, "total_energy", c, frame_energy, ",");
    add_series(t, "distance", c, frame_distance, "");
    rbt_text_add(t, "    }\n");
}

static void add_units(rbt_text *t) {
    rbt_text_add(t, "  \"units\": {");
    for (int i = 0; i < COLUMN_COUNT; i++)
        if (COLUMNS[i].unit) rbt_text_add(t, "\"%s\": \"%s\", ", COLUMNS[i].name, COLUMNS[i].unit);
    rbt_text_add(t, "\"total_energy\": \"J\", \"distance\": \"m\"},\n");
}

void rbt_study_add_begin(rbt_text *t, const char *scene_path, int repeat) {
    rbt_text_add(t, "{\n  \"rubato\": \"%s\",\n  \"scene\": ", RBT_VERSION);
    rbt_text_add_json(t, scene_path);
    rbt_text_add(t, ",\n  \"repeat\": %d,\n  \"threads\": %d,\n", repeat, rbt_threads_count());
    add_units(t);
}

bool rbt_study_write(const char *folder, const char *name, rbt_text *text, rbt_error *error) {
    char *path = rbt_path_join(folder, name);
    bool good = path && !text->failed ? rbt_file_write(path, text->text, text->size, error)
                                      : rbt_fail_memory(error, text->size, name);
    rbt_text_free(text);
    free(path);
    return good;
}
