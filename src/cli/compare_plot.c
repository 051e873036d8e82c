#include "cli/compare_plot.h"

#include "base/memory.h"
#include "cli/energy_curve.h"
#include "view/plot.h"

// The curves of one contender; the arrays are one allocation, begun by t.
typedef struct curves {
    double *t, *energy;
    double rate, distance_end;
} curves;

static bool make_curves(const rbt_contender *c, const rbt_energy_window *w, curves *k, rbt_error *error) {
    k->t = rbt_energy_curve(c, w, error);
    if (!k->t) return false;
    k->energy = k->t + c->trial.frame_count;
    k->rate = c->rate.median;
    k->distance_end = c->distance_end;
    return true;
}

static bool draw(const rbt_comparison *all, curves *k, rbt_series *series, const char *title, const char *output,
                 rbt_error *error) {
    size_t n = all->count;
    rbt_energy_window w = {0};
    if (all->yardstick) rbt_energy_window_add(&w, all->yardstick);
    rbt_series *energy = series, *distance = series + n + 1, *cost = series + 2 * n + 1;
    for (size_t i = 0; i < n; i++) {
        const rbt_contender *c = &all->contenders[i];
        if (!make_curves(c, &w, &k[i], error)) return false;
        size_t count = c->trial.frame_count;
        energy[i] = (rbt_series){c->name, count, k[i].t, k[i].energy, count == 1};
        distance[i] = (rbt_series){c->name, count, k[i].t, c->distance, false};
        cost[i] = (rbt_series){c->name, 1, &k[i].rate, &k[i].distance_end, true};
    }
    // The reference comes last, so that a method has one colour in all panels.
    if (all->has_reference) {
        if (!make_curves(&all->reference, &w, &k[n], error)) return false;
        energy[n] = (rbt_series){"reference", all->reference.trial.frame_count, k[n].t, k[n].energy, false};
    }
    const rbt_panel panels[] = {
        {.title = "Total energy",
         .x_label = "time [s]",
         .y_label = "energy [J]",
         .series_count = n + all->has_reference,
         .series = energy},
        {.title = "Distance to the reference",
         .x_label = "time [s]",
         .y_label = "RMS over nodes [m]",
         .y_log = true,
         .series_count = n,
         .series = distance},
        {.title = "Cost and error",
         .x_label = "computing time per simulated second [s]",
         .y_label = "distance at the end [m]",
         .x_log = true,
         .y_log = true,
         .series_count = n,
         .series = cost},
    };
    rbt_plot plot = {.title = title, .panel_count = all->has_reference ? 3 : 1, .panels = panels};
    return rbt_plot_write(&plot, output, error);
}

bool rbt_compare_plot_write(const rbt_comparison *all, const char *title, const char *output, rbt_error *error) {
    curves *k = rbt_array_new(all->count + 1, sizeof *k, "curves", error);
    rbt_series *series = k ? rbt_array_new(3 * all->count + 1, sizeof *series, "curves", error) : NULL;
    bool good = series && draw(all, k, series, title, output, error);
    for (size_t i = 0; k && i <= all->count; i++) free(k[i].t);
    free(k);
    free(series);
    return good;
}
