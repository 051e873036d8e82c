#include "study/sweep_axes.h"

#include "base/memory.h"
#include "base/scan.h"
#include "scene/walk.h"

#include <math.h>
#include <string.h>

// ---- Splitting

// The end of the value that begins at `text`: the next comma outside of brackets, braces and double quotes, or the
// end of the text. NULL if brackets or quotes are left open, or closed without having been opened.
static const char *value_end(const char *text) {
    int depth = 0;
    bool quoted = false;
    const char *c = text;
    for (; *c && (quoted || depth || *c != ','); c++) {
        if (quoted && *c == '\\' && c[1]) c++;
        else if (*c == '"') quoted = !quoted;
        else if (!quoted && (*c == '[' || *c == '{')) depth++;
        else if (!quoted && (*c == ']' || *c == '}') && --depth < 0) return NULL;
    }
    return quoted || depth ? NULL : c;
}

static bool add_value(rbt_sweep_axis *axis, const char *from, const char *to, rbt_error *error) {
    char quoted[64];
    while (from < to && *from == ' ') from++;
    while (to > from && to[-1] == ' ') to--;
    if (from == to) return rbt_fail(error, "%s: a value is missing; write %s=a,b,c", axis->path, axis->path);
    char *value = strndup(from, (size_t)(to - from));
    if (!value) return rbt_fail_memory(error, (size_t)(to - from), "a value");
    axis->values[axis->count++] = value;
    for (size_t i = 0; i + 1 < axis->count; i++)
        if (strcmp(axis->values[i], value) == 0)
            return rbt_fail(error, "%s: the value %s is listed twice", axis->path, rbt_walk_quote(value, quoted));
    return true;
}

static bool split(rbt_sweep_axis *axis, const char *list, rbt_error *error) {
    size_t commas = 0;
    char quoted[64];
    for (const char *c = list; *c; c++) commas += *c == ',';
    axis->values = rbt_array_new(commas + 1, sizeof *axis->values, "values", error);
    if (!axis->values) return false;
    for (const char *end;; list = end + 1) {
        end = value_end(list);
        if (!end)
            return rbt_fail(error, "%s: brackets or quotes do not match in %s", axis->path,
                            rbt_walk_quote(list, quoted));
        if (!add_value(axis, list, end, error)) return false;
        if (!*end) return true;
    }
}

// ---- Axes

static rbt_sweep_axis *new_axis(rbt_sweep_axes *axes, const char *path, size_t length, rbt_error *error) {
    if (!rbt_array_reserve((void **)&axes->items, &axes->capacity, axes->count + 1, sizeof *axes->items, "axes",
                           error))
        return NULL;
    rbt_sweep_axis *axis = &axes->items[axes->count++];
    *axis = (rbt_sweep_axis){.path = strndup(path, length)};
    if (!axis->path) rbt_fail_memory(error, length, "a path");
    return axis->path ? axis : NULL;
}

bool rbt_sweep_axes_add_methods(rbt_sweep_axes *axes, const char *list, rbt_error *error) {
    rbt_sweep_axis *axis = new_axis(axes, "methods", strlen("methods"), error);
    if (!axis) return false;
    size_t count;
    axis->numerical = true;
    if (!rbt_method_specs_parse(list, &axis->specs, &count, error)) return false;
    axis->values = rbt_array_new(count, sizeof *axis->values, "methods", error);
    for (size_t i = 0; axis->values && i < count; i++, axis->count++)
        if (!(axis->values[i] = strdup(axis->specs[i].name))) return rbt_fail_memory(error, 0, "a method");
    return axis->values != NULL;
}

static bool is_numerical(const char *path) {
    return strcmp(path, "time.step") == 0 || strncmp(path, "integrator.", 11) == 0 ||
           strncmp(path, "output.", 7) == 0;
}

bool rbt_sweep_axes_add(rbt_sweep_axes *axes, const char *setting, rbt_error *error) {
    const char *equals = strchr(setting, '=');
    char quoted[64];
    if (!equals || equals == setting)
        return rbt_fail(error, "%s is not of the form path=a,b,c, as time.step=0.01,0.005",
                        rbt_walk_quote(setting, quoted));
    rbt_sweep_axis *axis = new_axis(axes, setting, (size_t)(equals - setting), error);
    if (!axis) return false;
    axis->numerical = is_numerical(axis->path);
    for (size_t i = 0; i + 1 < axes->count; i++)
        if (strcmp(axes->items[i].path, axis->path) == 0)
            return rbt_fail(error, "%s is set twice; write all its values behind one =, with commas", axis->path);
    return split(axis, equals + 1, error);
}

void rbt_sweep_axes_free(rbt_sweep_axes *axes) {
    for (size_t i = 0; i < axes->count; i++) {
        rbt_sweep_axis *axis = &axes->items[i];
        for (size_t k = 0; k < axis->count; k++) free(axis->values[k]);
        free(axis->values);
        free(axis->specs);
        free(axis->brief);
        free(axis->path);
    }
    free(axes->items);
    *axes = (rbt_sweep_axes){0};
}

// ---- All of them together

// The last name of a path with the item behind it: "young" of "bodies[0].material.young"
static const char *last_name(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot && dot[1] ? dot + 1 : path;
}

static bool name_axes(rbt_sweep_axes *axes, rbt_error *error) {
    for (size_t i = 0; i < axes->count; i++) {
        const char *path = axes->items[i].path, *brief = last_name(path);
        for (size_t k = 0; k < axes->count; k++)
            if (k != i && strcmp(last_name(axes->items[k].path), last_name(path)) == 0) brief = path;
        if (!(axes->items[i].brief = strdup(brief))) return rbt_fail_memory(error, strlen(brief), "a path");
    }
    return true;
}

// A method says what the settings of the integrator would say again.
static bool check_methods(const rbt_sweep_axes *axes, const rbt_sweep_axis *methods, rbt_error *error) {
    for (size_t i = 0; i < axes->count; i++) {
        const char *path = axes->items[i].path;
        if (strcmp(path, "integrator") == 0 || strcmp(path, "integrator.method") == 0)
            return rbt_fail(error, "%s is set, and methods are listed; leave one of them out", path);
        for (size_t k = 0; k < methods->count; k++) {
            const rbt_method_spec *spec = &methods->specs[k];
            if ((spec->step > 0 && strcmp(path, "time.step") == 0) ||
                (spec->solver >= 0 && strcmp(path, "integrator.solver") == 0))
                return rbt_fail(error, "%s is set, and the method %s has its own; leave one of them out", path,
                                spec->name);
        }
    }
    return true;
}

bool rbt_sweep_axes_finish(rbt_sweep_axes *axes, size_t *runs, rbt_error *error) {
    double product = 1;
    for (size_t i = 0; i < axes->count; i++) {
        if (axes->items[i].specs && !check_methods(axes, &axes->items[i], error)) return false;
        product *= (double)axes->items[i].count;
    }
    if (product > RBT_SWEEP_RUNS_MAX)
        return rbt_fail(error, "these values make %.15g runs, more than the limit of %d; give fewer values", product,
                        RBT_SWEEP_RUNS_MAX);
    *runs = (size_t)product;
    return name_axes(axes, error);
}

size_t rbt_sweep_axes_stride(const rbt_sweep_axes *axes, size_t axis) {
    size_t stride = 1;
    for (size_t i = axis + 1; i < axes->count; i++) stride *= axes->items[i].count;
    return stride;
}

size_t rbt_sweep_axes_index(const rbt_sweep_axes *axes, size_t axis, size_t run) {
    return run / rbt_sweep_axes_stride(axes, axis) % axes->items[axis].count;
}

void rbt_sweep_axes_add_name(const rbt_sweep_axes *axes, size_t run, size_t without, rbt_text *name) {
    for (size_t i = 0; i < axes->count; i++) {
        const rbt_sweep_axis *axis = &axes->items[i];
        if (i == without || !rbt_sweep_axes_shown(axes, i)) continue;
        if (name->size) rbt_text_add(name, " ");
        if (!axis->specs) rbt_text_add(name, "%s=", axis->brief);
        rbt_text_add(name, "%s", axis->values[rbt_sweep_axes_index(axes, i, run)]);
    }
}

bool rbt_sweep_axes_shown(const rbt_sweep_axes *axes, size_t axis) {
    bool several = false;
    for (size_t i = 0; i < axes->count; i++) several = several || axes->items[i].count > 1;
    return !several || axes->items[axis].count > 1;
}

bool rbt_sweep_axis_number(const rbt_sweep_axis *axis, size_t value, double *number) {
    rbt_scan scan = rbt_scan_begin(NULL, axis->values[value], strlen(axis->values[value]));
    return rbt_scan_real(&scan, number) && rbt_scan_at_end(&scan) && isfinite(*number);
}

bool rbt_sweep_axis_numeric(const rbt_sweep_axis *axis) {
    double number;
    for (size_t i = 0; i < axis->count; i++)
        if (!rbt_sweep_axis_number(axis, i, &number)) return false;
    return axis->count > 1;
}
