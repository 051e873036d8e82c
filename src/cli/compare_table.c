#include "cli/compare_table.h"

#include <math.h>
#include <stdio.h>

// ---- Cells

static void put_step(const rbt_contender *c, char *cell) {
    rbt_put_number(cell, "%.4g", c->trial.step > 0 ? c->trial.step : NAN);
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
        snprintf(cell, RBT_CELL, "%.*f (%.*f - %.*f)", decimals, median, decimals, c->rate.min, decimals,
                 c->rate.max);
    else snprintf(cell, RBT_CELL, "-");
}

static void put_halved_steps(const rbt_contender *c, char *cell) { rbt_put_count(cell, c->trial.halved_steps); }
static void put_unconverged(const rbt_contender *c, char *cell) { rbt_put_count(cell, c->trial.unconverged); }
static void put_memory(const rbt_contender *c, char *cell) {
    rbt_put_number(cell, "%.0f", 1e-6 * c->trial.peak_memory);
}

static void put_energy_end(const rbt_contender *c, char *cell) { rbt_put_number(cell, "%+.3g", 100 * c->energy_end); }
static void put_energy_max(const rbt_contender *c, char *cell) { rbt_put_number(cell, "%+.3g", 100 * c->energy_max); }
static void put_momentum(const rbt_contender *c, char *cell) { rbt_put_number(cell, "%.3g", c->momentum_max); }
static void put_angular(const rbt_contender *c, char *cell) { rbt_put_number(cell, "%.3g", c->angular_max); }
static void put_distance_max(const rbt_contender *c, char *cell) { rbt_put_number(cell, "%.3g", c->distance_max); }

// ---- Columns

static const rbt_contender_column COST[] = {
    {"step", "[s]", false, put_step},
    {"time per simulated second", "[s] median (min - max)", false, put_rate},
    {"steps", "", false, rbt_put_steps},
    {"solver", "iterations", false, rbt_put_iterations},
    {"halved", "steps", false, put_halved_steps},
    {"unconverged", "steps", false, put_unconverged},
    {"memory", "[MB]", false, put_memory},
    {"outcome", "", true, rbt_put_outcome},
};

static const rbt_contender_column ACCURACY[] = {
    {"energy drift", "end [%]", false, put_energy_end},   {"", "most [%]", false, put_energy_max},
    {"momentum drift", "[kg m/s]", false, put_momentum},  {"angular drift", "[kg m^2/s]", false, put_angular},
    {"distance", "end [m]", false, rbt_put_distance_end}, {"", "most [m]", false, put_distance_max},
};

static void add_table(rbt_text *t, const rbt_comparison *all, const rbt_contender_column *columns, size_t count) {
    static const char *const heads[] = {"method"};
    const rbt_contender_columns whole = {1, heads, count, columns};
    rbt_contender_table(t, all->contenders, all->count, &whole);
    rbt_text_add(t, "\n");
}

void rbt_compare_table(const rbt_comparison *all, rbt_text *t) {
    add_table(t, all, COST, sizeof COST / sizeof COST[0]);
    add_table(t, all, ACCURACY, sizeof ACCURACY / sizeof ACCURACY[0]);
    for (size_t i = 0; i < all->count; i++)
        rbt_contender_trouble(t, all->contenders[i].name, &all->contenders[i].trial);
    if (all->has_reference) rbt_contender_trouble(t, "the reference", &all->reference.trial);
    rbt_text_add(t, "drift: change since the start");
    if (isfinite(all->energy_scale))
        rbt_text_add(t, "; of energy in %% of %.4g J, the most that is in motion, deformation and contact in %s",
                     all->energy_scale, all->yardstick == &all->reference ? "the reference" : all->yardstick->name);
    rbt_text_add(t, "\n");
    if (all->has_reference)
        rbt_text_add(t, "distance: root mean square over the nodes, to the reference %s\n", all->reference.name);
}
