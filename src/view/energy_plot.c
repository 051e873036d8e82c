#include "view/energy_plot.h"

#include "view/plot.h"
#include "view/table.h"

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

static bool draw(const rbt_table *table, const char *csv, const char *title, const char *output, rbt_error *error) {
    const double *time = rbt_table_column(table, "time");
    if (!time) return rbt_fail_at(error, csv, 1, 0, "the table has no column \"time\"");
    if (!table->row_count)
        return rbt_fail_at(error, csv, 0, 0, "the table has no rows: the run has written no frame yet");
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
