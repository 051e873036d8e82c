#include "view/steps_plot.h"

#include "base/memory.h"
#include "view/plot.h"
#include "view/table.h"

#include <math.h>

enum { KINDS = 3 };  // accepted, taken back, failed

// Which of the attempts a row is; -1: it is a frame's
static int kind_of(double step, double estimate, double accepted) {
    if (!(step > 0)) return -1;
    if (accepted > 0) return 0;
    return isfinite(estimate) ? 1 : 2;
}

static bool draw(const rbt_table *table, const char *csv, const char *title, const char *output, rbt_error *error) {
    static const char *const names[KINDS] = {"accepted", "taken back", "failed"};
    const double *time = rbt_table_column(table, "time"), *step = rbt_table_column(table, "step");
    const double *estimate = rbt_table_column(table, "estimate"), *accepted = rbt_table_column(table, "accepted");
    if (!time || !step || !estimate || !accepted)
        return rbt_fail_at(error, csv, 1, 0, "the table needs the columns time, step, estimate and accepted");
    size_t rows = table->row_count, counts[KINDS] = {0};
    double *values = rbt_array_new(3 * KINDS * rows + 1, sizeof *values, "a plot", error);
    if (!values) return false;
    rbt_series steps[KINDS], errors[KINDS - 1];
    for (size_t i = 0; i < rows; i++) {
        int kind = kind_of(step[i], estimate[i], accepted[i]);
        if (kind < 0) continue;
        double *at = values + 3 * (size_t)kind * rows + counts[kind]++;
        at[0] = time[i];
        at[rows] = step[i];
        at[2 * rows] = estimate[i];
    }
    size_t step_count = 0, error_count = 0;
    for (int k = 0; k < KINDS; k++) {
        const double *at = values + 3 * (size_t)k * rows;
        if (!counts[k]) continue;
        steps[step_count++] = (rbt_series){names[k], counts[k], at, at + rows, k > 0};
        if (k < KINDS - 1) errors[error_count++] = (rbt_series){names[k], counts[k], at, at + 2 * rows, k > 0};
    }
    const rbt_panel panels[] = {{.title = "Length of steps",
                                 .y_label = "step [s]",
                                 .y_log = true,
                                 .series_count = step_count,
                                 .series = steps},
                                {.title = "Estimated error over what it may be",
                                 .x_label = "time [s]",
                                 .y_label = "ratio",
                                 .y_log = true,
                                 .series_count = error_count,
                                 .series = errors}};
    const rbt_plot plot = {.title = title, .panel_count = 2, .panels = panels};
    bool good = rbt_plot_write(&plot, output, error);
    free(values);
    return good;
}

bool rbt_steps_plot_write(const char *csv, const char *title, const char *output, rbt_error *error) {
    rbt_table table;
    if (!rbt_table_read(&table, csv, error)) return false;
    bool good = draw(&table, csv, title, output, error);
    rbt_table_free(&table);
    return good;
}
