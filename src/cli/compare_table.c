#include "cli/compare_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CELL = 136 };

const char *rbt_outcome_text(const rbt_trial *trial, char text[64]) {
    if (trial->end == RBT_TRIAL_FINISHED) snprintf(text, 64, "finished");
    else if (trial->end == RBT_TRIAL_NOT_CONVERGED) snprintf(text, 64, "not converged");
    else snprintf(text, 64, "%s at %.4g s", trial->end == RBT_TRIAL_CRASHED ? "crashed" : "failed", trial->t);
    return text;
}

// ---- Cells

static void put_number(char *cell, const char *format, double value) {
    if (isfinite(value)) snprintf(cell, CELL, format, value);
    else snprintf(cell, CELL, "-");
}

static void put_name(const rbt_contender *c, char *cell) { snprintf(cell, CELL, "%s", c->spec.name); }
static void put_step(const rbt_contender *c, char *cell) {
    put_number(cell, "%.4g", c->trial.step > 0 ? c->trial.step : NAN);
}

static void put_rate(const rbt_contender *c, char *cell) {
    double median = c->rate.median;
    int decimals = median >= 100    ? 0
                   : median >= 10   ? 1
                   : median >= 1    ? 2
                   : median >= 0.1  ? 3
                   : median >= 0.01 ? 4
                                    : 5;
    if (isfinite(median))
        snprintf(cell, CELL, "%.*f (%.*f - %.*f)", decimals, median, decimals, c->rate.min, decimals, c->rate.max);
    else snprintf(cell, CELL, "-");
}

static void put_count(char *cell, int64_t count) { snprintf(cell, CELL, "%lld", (long long)count); }
static void put_steps(const rbt_contender *c, char *cell) { put_count(cell, c->trial.steps); }
static void put_iterations(const rbt_contender *c, char *cell) { put_count(cell, c->trial.iterations); }
static void put_halved_steps(const rbt_contender *c, char *cell) { put_count(cell, c->trial.halved_steps); }
static void put_unconverged(const rbt_contender *c, char *cell) { put_count(cell, c->trial.unconverged); }
static void put_memory(const rbt_contender *c, char *cell) { put_number(cell, "%.0f", 1e-6 * c->trial.peak_memory); }

static void put_outcome(const rbt_contender *c, char *cell) {
    char text[64];
    snprintf(cell, CELL, "%s", rbt_outcome_text(&c->trial, text));
}

static void put_energy_end(const rbt_contender *c, char *cell) { put_number(cell, "%+.3g", 100 * c->energy_end); }
static void put_energy_max(const rbt_contender *c, char *cell) { put_number(cell, "%+.3g", 100 * c->energy_max); }
static void put_momentum(const rbt_contender *c, char *cell) { put_number(cell, "%.3g", c->momentum_max); }
static void put_angular(const rbt_contender *c, char *cell) { put_number(cell, "%.3g", c->angular_max); }
static void put_distance_end(const rbt_contender *c, char *cell) { put_number(cell, "%.3g", c->distance_end); }
static void put_distance_max(const rbt_contender *c, char *cell) { put_number(cell, "%.3g", c->distance_max); }

// ---- Columns

typedef struct column {
    const char *head, *unit;  // in two lines
    bool left;                // aligned
    void (*put)(const rbt_contender *c, char *cell);
} column;

static const column COST[] = {
    {"method", "", true, put_name},
    {"step", "[s]", false, put_step},
    {"time per simulated second", "[s] median (min - max)", false, put_rate},
    {"steps", "", false, put_steps},
    {"solver", "iterations", false, put_iterations},
    {"cut", "steps", false, put_halved_steps},
    {"unconverged", "steps", false, put_unconverged},
    {"memory", "[MB]", false, put_memory},
    {"outcome", "", true, put_outcome},
};

static const column ACCURACY[] = {
    {"method", "", true, put_name},
    {"energy drift", "end [%]", false, put_energy_end},
    {"", "most [%]", false, put_energy_max},
    {"momentum drift", "[kg m/s]", false, put_momentum},
    {"angular drift", "[kg m^2/s]", false, put_angular},
    {"distance", "end [m]", false, put_distance_end},
    {"", "most [m]", false, put_distance_max},
};

// Nothing stands behind the last word of a line.
static void add_cell(rbt_text *t, const char *words, int width, const column *c, bool last) {
    rbt_text_add(t, c->left ? "%-*s  " : "%*s  ", width, words);
    if (!last || t->failed) return;
    while (t->size && t->text[t->size - 1] == ' ') t->size--;
    rbt_text_add(t, "\n");
}

static int width_of(const rbt_comparison *all, const column *c) {
    size_t width = strlen(c->head) > strlen(c->unit) ? strlen(c->head) : strlen(c->unit);
    char cell[CELL];
    for (size_t i = 0; i < all->count; i++) {
        c->put(&all->contenders[i], cell);
        if (strlen(cell) > width) width = strlen(cell);
    }
    return (int)width;
}

static void add_table(rbt_text *t, const rbt_comparison *all, const column *columns, size_t count) {
    int width[16];
    char cell[CELL];
    for (size_t k = 0; k < count; k++) width[k] = width_of(all, &columns[k]);
    for (size_t k = 0; k < count; k++) add_cell(t, columns[k].head, width[k], &columns[k], k + 1 == count);
    for (size_t k = 0; k < count; k++) add_cell(t, columns[k].unit, width[k], &columns[k], k + 1 == count);
    for (size_t i = 0; i < all->count; i++)
        for (size_t k = 0; k < count; k++) {
            columns[k].put(&all->contenders[i], cell);
            add_cell(t, cell, width[k], &columns[k], k + 1 == count);
        }
}

static void add_failure(rbt_text *t, const char *name, const rbt_trial *trial) {
    char text[64];
    if (trial->end != RBT_TRIAL_FINISHED)
        rbt_text_add(t, "%s %s: %s\n", name, rbt_outcome_text(trial, text), trial->reason);
    else if (trial->warning[0]) rbt_text_add(t, "%s finished, but: %s\n", name, trial->warning);
}

void rbt_compare_table(const rbt_comparison *all, rbt_text *t) {
    add_table(t, all, COST, sizeof COST / sizeof COST[0]);
    rbt_text_add(t, "\n");
    add_table(t, all, ACCURACY, sizeof ACCURACY / sizeof ACCURACY[0]);
    rbt_text_add(t, "\n");
    for (size_t i = 0; i < all->count; i++) add_failure(t, all->contenders[i].spec.name, &all->contenders[i].trial);
    if (all->has_reference) add_failure(t, "the reference", &all->reference.trial);
    rbt_text_add(t, "drift: change since the start");
    if (isfinite(all->energy_scale))
        rbt_text_add(t, "; of energy in %% of %.4g J, the most that is in motion, deformation and contact in %s",
                     all->energy_scale,
                     all->yardstick == &all->reference ? "the reference" : all->yardstick->spec.name);
    rbt_text_add(t, "\n");
    if (all->has_reference)
        rbt_text_add(t, "distance: root mean square over the nodes, to the reference %s\n", all->reference.spec.name);
}
