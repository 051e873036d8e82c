#include "sim/unit_costs.h"

#include "base/file.h"
#include "base/text.h"
#include "sim/sim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = 2, STEPS = 6, STAGES = 4 };

// Nested dissection of solids, and of sheets
static double predicted_fill(const rbt_model *m) {
    double n = (double)m->node_count;
    return m->tet_count ? 30 * pow(n, 4.0 / 3) : 25 * n * log2(n + 2);
}

static double predicted_flops(const rbt_model *m) {
    double n = (double)m->node_count;
    return m->tet_count ? 30 * n * n : 250 * pow(n, 1.5);
}

// Hinges cost about what triangles do.
static double elements_of(const rbt_model *m) {
    double hull = 0;
    for (size_t b = 0; b < m->body_count; b++)
        if (m->bodies[b].kind == RBT_SOLID) hull += (double)(m->bodies[b].triangle_end - m->bodies[b].triangle_begin);
    return (double)(m->tet_count + m->edge_count) + 2.5 * ((double)m->triangle_count - hull) + 1;
}

double rbt_unit_costs_predict(const rbt_unit_costs *c, const rbt_model *m, const rbt_step_work *w) {
    return (w->gradients * c->gradient + w->assemblies * c->assembly) * elements_of(m) +
           w->factors * c->factor * predicted_flops(m) + w->solves * c->solve * predicted_fill(m);
}

// ---- Measuring

static double stage_seconds(const rbt_stages *stages, const char *name) {
    for (int i = 0; i < stages->count; i++)
        if (strcmp(stages->name[i], name) == 0) return stages->seconds[i];
    return 0;
}

// Seconds of each stage in the fastest of some steps on one thread: what other programs take from this one does not
// count, and what is kept must not be what a busy moment showed.
static bool measure_stages(rbt_sim *sim, double least[STAGES], rbt_error *error) {
    static const char *const names[STAGES] = {"force", "assemble", "factor", "solve"};
    rbt_step_report report = {0};
    if (!rbt_sim_set_threads(sim, 1, error)) return false;
    for (int k = 0; k < STAGES; k++) least[k] = INFINITY;
    for (int i = 0; i < STEPS; i++) {
        double before[STAGES];
        for (int k = 0; k < STAGES; k++) before[k] = stage_seconds(&sim->stepper.stages, names[k]);
        if (!rbt_sim_step(sim, &report)) return rbt_fail(error, "unit costs: %s", rbt_outcome_name(report.outcome));
        for (int k = 0; k < STAGES; k++)
            least[k] = fmin(least[k], stage_seconds(&sim->stepper.stages, names[k]) - before[k]);
    }
    return true;
}

static bool measure(rbt_unit_costs *costs, rbt_error *error) {
    static const char text[] =
        "{\"rubato\": 1, \"bodies\": [{\"name\": \"block\", \"mesh\": {\"shape\": {\"cuboid\": {\"cells\": [10, 10, "
        "10]}}}, \"fixed\": [\"left\"]}], \"forces\": [{\"gravity\": {}}], \"time\": {\"step\": 0.01, \"end\": 1}, "
        "\"integrator\": {\"method\": \"semi-implicit\"}}";
    rbt_scene_file *file = rbt_scene_parse(text, strlen(text), "unit costs", NULL, 0, error);
    rbt_sim *sim = file ? rbt_sim_create(rbt_scene_of(file), error) : NULL;
    double least[STAGES];
    bool good = sim && measure_stages(sim, least, error);
    if (good) {
        double elements = elements_of(sim->model);
        *costs = (rbt_unit_costs){.gradient = least[0] / elements,
                                  .assembly = least[1] / elements,
                                  .factor = least[2] / predicted_flops(sim->model),
                                  .solve = least[3] / predicted_fill(sim->model)};
    }
    rbt_sim_free(sim);
    rbt_scene_free(file);
    return good;
}

// ---- Keeping

static bool join(char path[512], const char *folder, const char *name) {
    return folder && folder[0] && (size_t)snprintf(path, 512, "%s/%s", folder, name) < 512;
}

static bool find_path(char path[512]) {
    const char *own = getenv("RUBATO_COSTS");
    if (own) return own[0] && (size_t)snprintf(path, 512, "%s", own) < 512;
    char folder[512];
    if (!join(folder, getenv("XDG_CACHE_HOME"), "rubato") && !join(folder, getenv("HOME"), ".cache/rubato"))
        return false;
    return rbt_folder_make(folder, NULL) && join(path, folder, "costs");
}

static bool is_sound(const rbt_unit_costs *c) {
    const double all[] = {c->gradient, c->assembly, c->factor, c->solve};
    for (size_t i = 0; i < 4; i++)
        if (!(all[i] > 0 && all[i] < 1)) return false;
    return true;
}

static bool read_kept(const char *path, rbt_unit_costs *c) {
    rbt_bytes bytes;
    int version = 0;
    if (!rbt_file_read(path, &bytes, NULL)) return false;
    char text[512];
    snprintf(text, sizeof text, "%.*s", (int)(bytes.size < 500 ? bytes.size : 500), bytes.data);
    free(bytes.data);
    return sscanf(text, "rubato costs %d gradient %lf assembly %lf factor %lf solve %lf", &version, &c->gradient,
                  &c->assembly, &c->factor, &c->solve) == 5 &&
           version == VERSION && is_sound(c);
}

bool rbt_unit_costs_get(rbt_unit_costs *costs, rbt_error *error) {
    char path[512];
    bool keeps = find_path(path);
    if (keeps && read_kept(path, costs)) return true;
    if (!measure(costs, error)) return false;
    rbt_text text = {0};
    rbt_text_add(&text, "rubato costs %d gradient %.6g assembly %.6g factor %.6g solve %.6g\n", VERSION,
                 costs->gradient, costs->assembly, costs->factor, costs->solve);
    if (keeps && !text.failed)
        rbt_file_write(path, text.text, text.size, NULL);  // else it is measured again next time
    rbt_text_free(&text);
    return true;
}
