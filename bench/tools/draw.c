// Draws curves for the scripts: reads a plot as JSON from the standard input and writes it as SVG with the library's
// own hand.
//   {"title": "…", "panels": [{"title": "…", "x_label": "…", "y_label": "…", "x_log": true, "y_log": true,
//     "series": [{"name": "…", "x": […], "y": […], "marks": true}]}]}
// null among the numbers is a gap. With "fit": true the picture grows with the names of the series.
#include "base/memory.h"
#include "view/plot.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void fail(const char *sentence) {
    fprintf(stderr, "draw: %s\n", sentence);
    exit(1);
}

static void *take(rbt_arena *arena, size_t count, size_t size) {
    void *memory = rbt_arena_take(arena, count, size);
    if (!memory) fail("no memory");
    return memory;
}

static const char *words(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static const double *numbers(rbt_arena *arena, const json_t *items) {
    double *values = take(arena, json_array_size(items) + 1, sizeof *values);
    size_t i;
    json_t *item;
    json_array_foreach(items, i, item) values[i] = json_is_number(item) ? json_number_value(item) : (double)NAN;
    return values;
}

static rbt_panel read_panel(rbt_arena *arena, const json_t *panel) {
    const json_t *list = json_object_get(panel, "series");
    rbt_series *series = take(arena, json_array_size(list) + 1, sizeof *series);
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item) {
        const json_t *x = json_object_get(item, "x"), *y = json_object_get(item, "y");
        if (json_array_size(x) != json_array_size(y)) fail("a series needs as many \"x\" as \"y\"");
        series[i] = (rbt_series){words(item, "name"), json_array_size(x), numbers(arena, x), numbers(arena, y),
                                 json_is_true(json_object_get(item, "marks"))};
    }
    return (rbt_panel){.title = words(panel, "title"),
                       .x_label = words(panel, "x_label"),
                       .y_label = words(panel, "y_label"),
                       .x_log = json_is_true(json_object_get(panel, "x_log")),
                       .y_log = json_is_true(json_object_get(panel, "y_log")),
                       .series_count = json_array_size(list),
                       .series = series};
}

int main(int count, char **arguments) {
    json_error_t problem;
    rbt_error error = {0};
    char text[2048];
    if (count != 2) fail("usage: draw FILE.svg <PLOT.json");
    json_t *root = json_loadf(stdin, 0, &problem);
    if (!root) fail(problem.text);
    rbt_arena *arena = rbt_arena_new();
    if (!arena) fail("no memory");
    const json_t *list = json_object_get(root, "panels");
    rbt_panel *panels = take(arena, json_array_size(list) + 1, sizeof *panels);
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item) panels[i] = read_panel(arena, item);
    rbt_plot plot = {.title = words(root, "title"), .panel_count = json_array_size(list), .panels = panels};
    if (json_is_true(json_object_get(root, "fit"))) rbt_plot_fit(&plot);
    if (!rbt_plot_write(&plot, arguments[1], &error)) fail(rbt_error_text(&error, text, sizeof text));
    rbt_arena_free(arena);
    json_decref(root);
    return 0;
}
