#include "study/method_spec.h"

#include "base/memory.h"
#include "base/scan.h"
#include "scene/walk.h"
#include "step/core/method.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Copies `length` bytes as a text; what does not fit is no name that anything has.
static const char *cut_word(const char *text, size_t length, char word[128]) {
    snprintf(word, 128, "%.*s", length < 127 ? (int)length : 127, text);
    return word;
}

static int find_name(const char *word, rbt_name_of names) {
    for (int i = 0; names && names(i); i++)
        if (strcmp(names(i), word) == 0) return i;
    return -1;
}

static bool read_step(const char *text, double *step) {
    rbt_scan scan = rbt_scan_begin(NULL, text, strlen(text));
    return rbt_scan_real(&scan, step) && rbt_scan_at_end(&scan) && isfinite(*step) && *step > 0;
}

bool rbt_method_spec_parse(const char *text, rbt_method_spec *spec, rbt_error *error) {
    rbt_walk walk = {.error = error};
    char word[128], begin[192], quoted[64];
    size_t method_end = strcspn(text, ":@"), solver_end = strcspn(text, "@");
    *spec = (rbt_method_spec){.solver = -1};
    if (!text[0]) return rbt_fail(error, "a method is missing; write method, method:solver or method@step");
    if (strlen(text) >= sizeof spec->name)
        return rbt_fail(error, "the method %s is longer than %zu letters", rbt_walk_quote(text, quoted),
                        sizeof spec->name - 1);
    cut_word(text, method_end, word);
    spec->method = find_name(word, rbt_method_name);
    if (spec->method < 0) return rbt_walk_unknown(&walk, "unknown method", word, rbt_method_name);
    const rbt_method *method = rbt_method_at(spec->method);
    if (text[method_end] == ':') {
        cut_word(text + method_end + 1, solver_end - method_end - 1, word);
        spec->solver = find_name(word, method->solvers);
        snprintf(begin, sizeof begin, "method \"%s\" has no solver", method->name);
        if (spec->solver < 0) return rbt_walk_unknown(&walk, begin, word, method->solvers);
    }
    if (text[solver_end] == '@' && !read_step(text + solver_end + 1, &spec->step))
        return rbt_fail(error, "%s: the step behind @ must be a number of seconds above 0, found %s", method->name,
                        rbt_walk_quote(text + solver_end + 1, quoted));
    snprintf(spec->name, sizeof spec->name, "%s", text);
    return true;
}

bool rbt_method_spec_at_step(const rbt_method_spec *spec, double step, rbt_method_spec *result, rbt_error *error) {
    char text[sizeof spec->name + 32], number[32];
    snprintf(text, sizeof text, "%.*s@%s", (int)strcspn(spec->name, "@"), spec->name, rbt_text_number(step, number));
    return rbt_method_spec_parse(text, result, error);
}

// ---- Contact: of the scene, or of a method that has its own

// Whether all that the scene says about contact is a thickness and one coefficient of friction; NULL for none
static bool is_plain_contact(const rbt_scene *scene) {
    const rbt_contact_def *contact = scene->contact;
    bool plain = contact && !contact->gap && !contact->pairs.count;
    for (size_t i = 0; plain && i < scene->bodies.count; i++) {
        const rbt_body_def *body = &scene->bodies.items[i];
        plain = isnan(body->friction) && isnan(body->gap);
    }
    return plain;
}

// The coefficient that a method with contact of its own has among its options
static double own_friction(const rbt_scene *scene, const rbt_method *method) {
    const rbt_field *field = method->options ? rbt_record_field(method->options, "friction") : NULL;
    const char *options = scene->integrator.options;
    if (!field || field->kind != RBT_REAL) return NAN;
    return options ? *(const double *)(options + field->offset) : field->fallback[0];
}

static bool exchange_contact(const rbt_method *method, const rbt_scene *scene, rbt_setting_list *list,
                             rbt_error *error) {
    const rbt_method *before = rbt_method_at(scene->integrator.method);
    char number[32];
    if (method->own_contact && is_plain_contact(scene)) {
        double friction = scene->contact->friction;
        return rbt_setting_add(list, "contact", "null", error) &&
               (!(friction > 0) ||
                rbt_setting_add(list, "integrator.options.friction", rbt_text_number(friction, number), error));
    }
    if (before && before->own_contact && method->contact && !scene->contact) {
        double friction = own_friction(scene, before);
        return rbt_setting_add(list, "contact", "{}", error) &&
               (!(friction > 0) ||
                rbt_setting_add(list, "contact.friction", rbt_text_number(friction, number), error));
    }
    return true;
}

bool rbt_method_spec_settings(const rbt_method_spec *spec, const rbt_scene *scene, rbt_setting_list *list,
                              rbt_error *error) {
    const rbt_method *method = rbt_method_at(spec->method);
    char number[32];
    bool good = true;
    if (spec->method != scene->integrator.method)
        good = rbt_setting_add(list, "integrator.solver", "null", error) &&
               rbt_setting_add(list, "integrator.options", "null", error) &&
               rbt_setting_add(list, "integrator.method", method->name, error) &&
               exchange_contact(method, scene, list, error);
    if (good && spec->solver >= 0)
        good = rbt_setting_add(list, "integrator.solver", method->solvers(spec->solver), error);
    if (good && spec->step > 0) good = rbt_setting_add(list, "time.step", rbt_text_number(spec->step, number), error);
    return good;
}

bool rbt_method_specs_parse(const char *text, rbt_method_spec **specs, size_t *count, rbt_error *error) {
    size_t commas = 0;
    for (const char *c = text; *c; c++) commas += *c == ',';
    *count = 0;
    *specs = rbt_array_new(commas + 1, sizeof **specs, "a list of methods", error);
    if (!*specs) return false;
    bool good = true;
    while (good) {
        size_t length = strcspn(text, ",");
        size_t from = strspn(text, " "), to = length;
        while (to > from && text[to - 1] == ' ') to--;
        char *word = from < to ? strndup(text + from, to - from) : strdup("");
        rbt_method_spec *spec = &(*specs)[*count];
        good = word ? rbt_method_spec_parse(word, spec, error) : rbt_fail_memory(error, length, "a list of methods");
        free(word);
        for (size_t i = 0; good && i < *count; i++)
            if (strcmp((*specs)[i].name, spec->name) == 0)
                good = rbt_fail(error, "the method \"%s\" is listed twice", spec->name);
        *count += good;
        if (!text[length]) break;
        text += length + 1;
    }
    if (good) return true;
    free(*specs);
    *specs = NULL;
    *count = 0;
    return false;
}

bool rbt_method_specs_all(rbt_method_spec **specs, size_t *count, rbt_error *error) {
    *count = 0;
    while (rbt_method_at((int)*count)) (*count)++;
    *specs = rbt_array_new(*count, sizeof **specs, "a list of methods", error);
    for (size_t i = 0; *specs && i < *count; i++) {
        rbt_method_spec *spec = &(*specs)[i];
        *spec = (rbt_method_spec){.method = (int)i, .solver = -1};
        snprintf(spec->name, sizeof spec->name, "%s", rbt_method_name((int)i));
    }
    return *specs != NULL;
}
