// sweep.csv and sweep.json: the values of every run in front of what every contender has.
#include "study/contender_files.h"
#include "study/sweep.h"

static bool write_csv(const rbt_sweep_result *all, rbt_error *error) {
    const rbt_sweep_axes *axes = all->axes;
    rbt_text t = {0};
    for (size_t i = 0; i < axes->count; i++) {
        rbt_csv_add_cell(&t, axes->items[i].path);
        rbt_text_add(&t, ",");
    }
    rbt_contender_add_head(&t);
    for (size_t run = 0; run < all->count; run++) {
        for (size_t i = 0; i < axes->count; i++) {
            rbt_csv_add_cell(&t, axes->items[i].values[rbt_sweep_axes_index(axes, i, run)]);
            rbt_text_add(&t, ",");
        }
        rbt_contender_add_row(&t, &all->runs[run]);
    }
    return rbt_study_write(all->folder, "sweep.csv", &t, error);
}

// A number as a number, everything else as the text that it was.
static void add_value(rbt_text *t, const rbt_sweep_axis *axis, size_t value) {
    double number;
    if (rbt_sweep_axis_number(axis, value, &number)) rbt_text_add_json_number(t, number);
    else rbt_text_add_json(t, axis->values[value]);
}

static void add_axes(rbt_text *t, const rbt_sweep_axes *axes) {
    rbt_text_add(t, "  \"values\": {");
    for (size_t i = 0; i < axes->count; i++) {
        if (i) rbt_text_add(t, ", ");
        rbt_text_add_json(t, axes->items[i].path);
        rbt_text_add(t, ": [");
        for (size_t k = 0; k < axes->items[i].count; k++) {
            if (k) rbt_text_add(t, ", ");
            add_value(t, &axes->items[i], k);
        }
        rbt_text_add(t, "]");
    }
    rbt_text_add(t, "},\n");
}

static void add_run(rbt_text *t, const rbt_sweep_result *all, size_t run) {
    const rbt_sweep_axes *axes = all->axes;
    rbt_text_add(t, "{\n    \"values\": {");
    for (size_t i = 0; i < axes->count; i++) {
        if (i) rbt_text_add(t, ", ");
        rbt_text_add_json(t, axes->items[i].path);
        rbt_text_add(t, ": ");
        add_value(t, &axes->items[i], rbt_sweep_axes_index(axes, i, run));
    }
    rbt_text_add(t, "},\n    \"reference\": ");
    if (all->references[run]) rbt_text_add_json(t, all->references[run]->name);
    else rbt_text_add(t, "null");
    rbt_text_add(t, ",\n");
    rbt_contender_add_members(t, &all->runs[run]);
    rbt_text_add(t, "  }%s", run + 1 < all->count ? ", " : "");
}

static bool write_json(const rbt_sweep_result *all, rbt_error *error) {
    rbt_text t = {0};
    rbt_study_add_begin(&t, all->scene_path, all->repeat);
    add_axes(&t, all->axes);
    rbt_text_add(&t, "  \"runs\": [");
    for (size_t run = 0; run < all->count; run++) add_run(&t, all, run);
    rbt_text_add(&t, "]\n}\n");
    return rbt_study_write(all->folder, "sweep.json", &t, error);
}

bool rbt_sweep_write(const rbt_sweep_result *all, rbt_error *error) {
    return write_csv(all, error) && write_json(all, error);
}
