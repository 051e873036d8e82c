#include "view/energy_plot.h"

#include "base/memory.h"
#include "view/plot.h"
#include "view/table.h"

#include <math.h>

enum { SERIES_MAX = 5, PANELS = 3 };

static const struct {
    const char *title, *y_label;
    struct {
        const char *column, *name;
    } curves[SERIES_MAX];
} LAYOUT[PANELS] = {
    {"Energy",
     "energy [J]",
     {{"kinetic", "kinetic"},
      {"elastic", "elastic"},
      {"gravity", "gravity"},
      {"contact", "contact"},
      {"total", "total"}}},
    {"Linear momentum", "momentum [kg m/s]", {{"px", "p x"}, {"py", "p y"}, {"pz", "p z"}}},
    {"Angular momentum", "momentum [kg m²/s]", {{"lx", "L x"}, {"ly", "L y"}, {"lz", "L z"}}},
};

// The times of a table with rows; NULL: there are none.
static const double *times_of(const rbt_table *table, const char *csv, rbt_error *error) {
    const double *time = rbt_table_column(table, "time");
    if (!time) rbt_fail_at(error, csv, 1, 0, "the table has no column \"time\"");
    else if (!table->row_count)
        rbt_fail_at(error, csv, 0, 0, "the table has no rows: the run has written no frame yet");
    return table->row_count ? time : NULL;
}

static bool draw(const rbt_table *table, const char *csv, const char *title, const char *output, rbt_error *error) {
    const double *time = times_of(table, csv, error);
    if (!time) return false;
    rbt_series series[PANELS][SERIES_MAX];
    rbt_panel panels[PANELS];
    rbt_plot plot = {.title = title, .panels = panels};
    for (int i = 0; i < PANELS; i++) {
        size_t count = 0;
        for (int k = 0; k < SERIES_MAX && LAYOUT[i].curves[k].column; k++) {
            const double *y = rbt_table_column(table, LAYOUT[i].curves[k].column);
            if (y) series[i][count++] = (rbt_series){LAYOUT[i].curves[k].name, table->row_count, time, y, false};
        }
        if (!count) continue;
        bool last = i == PANELS - 1;
        panels[plot.panel_count++] = (rbt_panel){.title = LAYOUT[i].title,
                                                 .x_label = last ? "time [s]" : "",
                                                 .y_label = LAYOUT[i].y_label,
                                                 .series_count = count,
                                                 .series = series[i]};
    }
    if (!plot.panel_count) return rbt_fail_at(error, csv, 1, 0, "the table has no column of energies or momenta");
    return rbt_plot_write(&plot, output, error);
}

bool rbt_energy_plot_write(const char *csv, const char *title, const char *output, rbt_error *error) {
    rbt_table table;
    if (!rbt_table_read(&table, csv, error)) return false;
    bool good = draw(&table, csv, title, output, error);
    rbt_table_free(&table);
    return good;
}

// ---- Several runs

static const struct {
    const char *title, *y_label;
    const char *columns[3];  // one, or the components of a vector, whose length is drawn
} QUANTITIES[] = {
    {"Total energy", "energy [J]", {"total"}},
    {"Kinetic energy", "energy [J]", {"kinetic"}},
    {"Elastic energy", "energy [J]", {"elastic"}},
    {"Gravity's potential", "energy [J]", {"gravity"}},
    {"Energy of contact", "energy [J]", {"contact"}},
    {"Linear momentum, its length", "momentum [kg m/s]", {"px", "py", "pz"}},
    {"Angular momentum, its length", "momentum [kg m²/s]", {"lx", "ly", "lz"}},
};
enum { QUANTITY_COUNT = sizeof QUANTITIES / sizeof QUANTITIES[0] };

// A quantity of one run: points into the table or to a new array of the arena. NULL: the table does not have it.
// false: no memory.
static bool find_values(const rbt_table *table, int quantity, rbt_arena *arena, const double **values,
                        rbt_error *error) {
    const char *const *names = QUANTITIES[quantity].columns;
    const double *parts[3] = {rbt_table_column(table, names[0])};
    *values = parts[0];
    if (!names[1] || !parts[0]) return true;
    parts[1] = rbt_table_column(table, names[1]);
    parts[2] = rbt_table_column(table, names[2]);
    *values = NULL;
    if (!parts[1] || !parts[2]) return true;
    double *length = rbt_arena_take(arena, table->row_count, sizeof *length);
    if (!length) return rbt_fail_memory(error, table->row_count * sizeof *length, "a curve");
    for (size_t i = 0; i < table->row_count; i++)
        length[i] = sqrt(parts[0][i] * parts[0][i] + parts[1][i] * parts[1][i] + parts[2][i] * parts[2][i]);
    *values = length;
    return true;
}

static bool is_something(const rbt_series *series, size_t count) {
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < series[i].count; k++)
            if (series[i].y[k] != 0) return true;
    return false;
}

static bool draw_all(const rbt_energy_source *runs, const rbt_table *tables, size_t count, rbt_arena *arena,
                     rbt_plot *plot, const char *output, rbt_error *error) {
    rbt_panel panels[QUANTITY_COUNT];
    for (int quantity = 0; quantity < QUANTITY_COUNT; quantity++) {
        rbt_series *series = rbt_arena_take(arena, count, sizeof *series);
        if (!series) return rbt_fail_memory(error, count * sizeof *series, "curves");
        size_t found = 0;
        for (size_t i = 0; i < count; i++) {
            const double *time = times_of(&tables[i], runs[i].csv, error), *values;
            if (!time || !find_values(&tables[i], quantity, arena, &values, error)) return false;
            if (values) series[found++] = (rbt_series){runs[i].name, tables[i].row_count, time, values, false};
        }
        if (!is_something(series, found)) continue;
        panels[plot->panel_count++] = (rbt_panel){.title = QUANTITIES[quantity].title,
                                                  .x_label = "time [s]",
                                                  .y_label = QUANTITIES[quantity].y_label,
                                                  .series_count = found,
                                                  .series = series};
    }
    if (!plot->panel_count)
        return rbt_fail_at(error, runs[0].csv, 1, 0, "no run has a column of energies or momenta that is not zero");
    plot->panels = panels;
    rbt_plot_fit(plot);
    return rbt_plot_write(plot, output, error);
}

bool rbt_energy_plot_overlay(const rbt_energy_source *runs, size_t count, const char *title, const char *output,
                             rbt_error *error) {
    if (count > RBT_PLOT_CURVES_MAX)
        return rbt_fail(error, "%zu runs in one plot cannot be told apart; give at most %d", count,
                        RBT_PLOT_CURVES_MAX);
    rbt_table *tables = rbt_array_new(count, sizeof *tables, "tables", error);
    rbt_arena *arena = rbt_arena_new();
    bool good = tables && (arena || rbt_fail_memory(error, 0, "a plot"));
    size_t read = 0;
    while (good && read < count && (good = rbt_table_read(&tables[read], runs[read].csv, error))) read++;
    rbt_plot plot = {.title = title};
    good = good && draw_all(runs, tables, count, arena, &plot, output, error);
    for (size_t i = 0; i < read; i++) rbt_table_free(&tables[i]);
    free(tables);
    rbt_arena_free(arena);
    return good;
}
