#include "cli/sweep_table.h"

#include "cli/command.h"

static void put_seconds(const rbt_contender *c, char *cell) {
    rbt_put_number(cell, "%.3g", rbt_contender_seconds(c));
}
static void put_step_seconds(const rbt_contender *c, char *cell) {
    rbt_put_number(cell, "%.3g", 1e3 * rbt_contender_step_seconds(c));
}
static void put_energy_end(const rbt_contender *c, char *cell) { rbt_put_number(cell, "%.5g", c->total_last); }
static void put_energy_min(const rbt_contender *c, char *cell) { rbt_put_number(cell, "%.5g", c->total_min); }
static void put_energy_max(const rbt_contender *c, char *cell) { rbt_put_number(cell, "%.5g", c->total_max); }

static const rbt_contender_column COLUMNS[] = {
    {"steps", "", false, rbt_put_steps},
    {"solver", "iterations", false, rbt_put_iterations},
    {"in steps", "[s]", false, put_seconds},
    {"per step", "[ms]", false, put_step_seconds},
    {"energy", "end [J]", false, put_energy_end},
    {"", "min [J]", false, put_energy_min},
    {"", "max [J]", false, put_energy_max},
    {"distance to the", "finest run, end [m]", false, rbt_put_distance_end},
    {"outcome", "", true, rbt_put_outcome},
};

void rbt_sweep_table(const rbt_sweep_result *all, rbt_text *t) {
    const char *heads[RBT_MAX_WORDS + 1];  // every --set, and the methods
    rbt_contender_columns columns = {0, heads, sizeof COLUMNS / sizeof COLUMNS[0], COLUMNS};
    for (size_t i = 0; i < all->axes->count; i++)
        if (rbt_sweep_axes_shown(all->axes, i)) heads[columns.head_count++] = all->axes->items[i].brief;
    rbt_contender_table(t, all->runs, all->count, &columns);
    rbt_text_add(t, "\n");
    bool measured = false;
    for (size_t i = 0; i < all->count; i++) {
        rbt_contender_trouble(t, all->runs[i].name, &all->runs[i].trial);
        measured = measured || all->references[i];
    }
    rbt_text_add(t, "energy: total, at the end, the least and the most of all frames\n");
    if (measured)
        rbt_text_add(t, "distance: root mean square over the nodes, at the end, to the finest run: the one with the "
                        "shortest step among those that differ only in method, step, options or output\n");
}
