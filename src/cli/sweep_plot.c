#include "cli/sweep_plot.h"

#include "base/memory.h"
#include "cli/energy_curve.h"
#include "view/plot.h"

#include <math.h>

static const double LOG_FROM = 8;  // the largest over the least value from which on an axis is logarithmic

static size_t drawn(size_t curves) { return curves < RBT_PLOT_CURVES_MAX ? curves : RBT_PLOT_CURVES_MAX; }

// What the panels point to; freed at once.
typedef struct drawing {
    const rbt_sweep_result *all;
    rbt_arena *arena;
    size_t panel_count;
    rbt_panel *panels;
} drawing;

static void *take(drawing *d, size_t count, size_t size, rbt_error *error) {
    void *memory = rbt_arena_take(d->arena, count, size);
    if (!memory) rbt_fail_memory(error, count * size, "a plot");
    return memory;
}

// The text in the arena, freed here; NULL: no memory.
static const char *keep(drawing *d, rbt_text *text, rbt_error *error) {
    const char *kept = text->failed ? NULL : rbt_arena_text(d->arena, text->text ? text->text : "");
    if (!kept) rbt_fail_memory(error, text->size, "a plot");
    rbt_text_free(text);
    return kept;
}

// "Total energy", or "Total energy, the first 40 of 128 runs"
static const char *title_of(drawing *d, const char *what, size_t curves, rbt_error *error) {
    rbt_text text = {0};
    rbt_text_add(&text, "%s", what);
    if (drawn(curves) < curves) rbt_text_add(&text, ", the first %zu of %zu curves", drawn(curves), curves);
    return keep(d, &text, error);
}

// ---- Energies over time

static bool draw_energies(drawing *d, rbt_error *error) {
    const rbt_sweep_result *all = d->all;
    size_t count = drawn(all->count);
    rbt_energy_window window = {0};
    for (size_t i = 0; i < all->count; i++)
        if (rbt_trial_complete(&all->runs[i].trial)) rbt_energy_window_add(&window, &all->runs[i]);
    rbt_series *series = take(d, count, sizeof *series, error);
    if (!series) return false;
    for (size_t i = 0; i < count; i++) {
        const rbt_contender *c = &all->runs[i];
        size_t frames = c->trial.frame_count;
        double *curve = rbt_energy_curve(c, &window, error),
               *t = curve ? take(d, 2 * frames, sizeof *t, error) : NULL;
        for (size_t k = 0; t && k < 2 * frames; k++) t[k] = curve[k];
        free(curve);
        if (!t) return false;
        series[i] = (rbt_series){c->name, frames, t, t + frames, frames == 1};
    }
    const char *title = title_of(d, "Total energy", all->count, error);
    d->panels[d->panel_count++] = (rbt_panel){
        .title = title, .x_label = "time [s]", .y_label = "energy [J]", .series_count = count, .series = series};
    return title != NULL;
}

// ---- Something over the values of an axis

typedef struct point {
    double x, y;
} point;

static int by_x(const void *a, const void *b) {
    double x = ((const point *)a)->x, y = ((const point *)b)->x;
    return (x > y) - (x < y);
}

typedef struct measure {
    const char *title, *y_label;
    double (*value)(const rbt_contender *c);
    bool log;  // always
} measure;

static double distance_of(const rbt_contender *c) { return c->distance_end; }

static const measure MEASURES[] = {
    {"Time per step", "computing time [s]", rbt_contender_step_seconds, false},
    {"Distance to the finest run at the end", "RMS over nodes [m]", distance_of, true},
};
enum { MEASURE_COUNT = sizeof MEASURES / sizeof MEASURES[0] };

static bool is_log(const rbt_sweep_axis *axis) {
    double least = INFINITY, most = -INFINITY, value;
    for (size_t i = 0; i < axis->count; i++) {
        if (!rbt_sweep_axis_number(axis, i, &value)) return false;
        least = fmin(least, value);
        most = fmax(most, value);
    }
    return least > 0 && most >= LOG_FROM * least;
}

// The runs that differ from `run`, which has the first value of the axis, in this axis alone: one curve.
static bool make_curve(drawing *d, const measure *m, size_t axis, size_t run, rbt_series *series, rbt_error *error) {
    const rbt_sweep_axes *axes = d->all->axes;
    size_t count = axes->items[axis].count, stride = rbt_sweep_axes_stride(axes, axis);
    point *points = rbt_array_new(count, sizeof *points, "curves", error);
    double *x = points ? take(d, 2 * count, sizeof *x, error) : NULL;
    for (size_t i = 0; x && i < count; i++) {
        rbt_sweep_axis_number(&axes->items[axis], i, &points[i].x);
        points[i].y = m->value(&d->all->runs[run + i * stride]);
    }
    if (x) qsort(points, count, sizeof *points, by_x);
    for (size_t i = 0; x && i < count; i++) {
        x[i] = points[i].x;
        x[count + i] = points[i].y;
    }
    free(points);
    if (!x) return false;
    rbt_text name = {0};
    rbt_sweep_axes_add_name(axes, run, axis, &name);
    *series = (rbt_series){keep(d, &name, error), count, x, x + count, true};
    return series->name != NULL;
}

static bool has_points(const rbt_series *series, size_t count) {
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < series[i].count; k++)
            if (series[i].y[k] > 0) return true;
    return false;
}

static bool draw_measure(drawing *d, const measure *m, size_t axis, rbt_error *error) {
    const rbt_sweep_axis *swept = &d->all->axes->items[axis];
    size_t curves = d->all->count / swept->count, count = 0;
    rbt_series *series = take(d, curves, sizeof *series, error);
    if (!series) return false;
    for (size_t run = 0; run < d->all->count && count < drawn(curves); run++)
        if (rbt_sweep_axes_index(d->all->axes, axis, run) == 0 &&
            !make_curve(d, m, axis, run, &series[count++], error))
            return false;
    if (!has_points(series, count)) return true;
    bool log = is_log(swept);
    const char *title = title_of(d, m->title, curves, error);
    d->panels[d->panel_count++] = (rbt_panel){.title = title,
                                              .x_label = swept->path,
                                              .y_label = m->y_label,
                                              .x_log = log,
                                              .y_log = log || m->log,
                                              .series_count = count,
                                              .series = series};
    return title != NULL;
}

static bool draw(drawing *d, const char *title, const char *output, rbt_error *error) {
    const rbt_sweep_axes *axes = d->all->axes;
    d->panels = take(d, 1 + MEASURE_COUNT * axes->count, sizeof *d->panels, error);
    if (!d->panels || !draw_energies(d, error)) return false;
    for (size_t axis = 0; axis < axes->count; axis++)
        for (int i = 0; i < MEASURE_COUNT && rbt_sweep_axis_numeric(&axes->items[axis]); i++)
            if (!draw_measure(d, &MEASURES[i], axis, error)) return false;
    rbt_plot plot = {.title = title, .panel_count = d->panel_count, .panels = d->panels};
    rbt_plot_fit(&plot);
    return rbt_plot_write(&plot, output, error);
}

bool rbt_sweep_plot_write(const rbt_sweep_result *all, const char *title, const char *output, rbt_error *error) {
    drawing d = {.all = all, .arena = rbt_arena_new()};
    bool good = d.arena ? draw(&d, title, output, error) : rbt_fail_memory(error, 0, "a plot");
    rbt_arena_free(d.arena);
    return good;
}
