// rubato mesh: a generated shape into a file. Parameters are set by walking the shape's table.
#include "base/memory.h"
#include "base/record.h"
#include "base/text.h"
#include "cli/command.h"
#include "mesh/generate/generate.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Listing

static void list_shapes(void) {
    int width = 0;
    for (int i = 0; rbt_shape_name(i); i++) {
        int length = (int)strlen(rbt_shape_name(i));
        width = length > width ? length : width;
    }
    printf("shapes:\n");
    for (int i = 0; rbt_shape_at(i); i++) printf("  %-*s  %s\n", width, rbt_shape_name(i), rbt_shape_at(i)->doc);
    printf("\nrubato mesh SHAPE --list shows the parameters of one.\n");
}

static const char *kind_words(const rbt_field *f) {
    switch (f->kind) {
    case RBT_BOOL: return "true or false";
    case RBT_INT: return "whole number";
    case RBT_REAL: return "number";
    case RBT_VEC3: return "x,y,z";
    case RBT_INT3: return "i,j,k";
    case RBT_TEXT: return "text";
    case RBT_CHOICE: return "one of";
    default: return "in scenes only";
    }
}

static void print_default(const rbt_field *f, rbt_text *t) {
    char number[32];
    if (f->flags & RBT_REQUIRED) {
        rbt_text_add(t, "must be given");
        return;
    }
    switch (f->kind) {
    case RBT_BOOL: rbt_text_add(t, "default %s", f->fallback[0] != 0 ? "true" : "false"); break;
    case RBT_INT:
    case RBT_REAL:
        if ((f->flags & RBT_AUTO) && !(f->fallback[0] >= 0)) rbt_text_add(t, "default auto");
        else rbt_text_add(t, "default %s", rbt_text_number(f->fallback[0], number));
        break;
    case RBT_VEC3:
    case RBT_INT3:
        for (int k = 0; k < 3; k++)
            rbt_text_add(t, "%s%s", k ? "," : "default ", rbt_text_number(f->fallback[k], number));
        break;
    case RBT_TEXT:
        if (f->fallback_text) rbt_text_add(t, "default %s", f->fallback_text);
        break;
    case RBT_CHOICE: rbt_text_add(t, "default %s", f->of.names((int)f->fallback[0])); break;
    default: break;
    }
}

static void list_fields(const rbt_record *record, const char *prefix) {
    for (int i = 0; i < record->field_count; i++) {
        const rbt_field *f = &record->fields[i];
        char name[128], limits[128];
        snprintf(name, sizeof name, "%s%s", prefix, f->name);
        if (f->kind == RBT_RECORD) {
            strncat(name, ".", sizeof name - strlen(name) - 1);
            list_fields(f->of.record, name);
            continue;
        }
        rbt_text facts = {0};
        rbt_text_add(&facts, "%s", kind_words(f));
        if (f->kind == RBT_CHOICE)
            for (int k = 0; f->of.names(k); k++) rbt_text_add(&facts, "%s%s", k ? ", " : " ", f->of.names(k));
        if (f->unit) rbt_text_add(&facts, " in %s", f->unit);
        rbt_field_limits(f, limits, sizeof limits);
        if (limits[0]) rbt_text_add(&facts, ", %s", limits);
        rbt_text standard = {0};
        print_default(f, &standard);
        printf("  %-20s %s%s%s\n", name, facts.text ? facts.text : "", standard.text ? "; " : "",
               standard.text ? standard.text : "");
        printf("  %-20s %s\n", "", f->doc ? f->doc : "");
        rbt_text_free(&facts);
        rbt_text_free(&standard);
    }
}

static void list_parameters(const rbt_shape *shape) {
    printf("%s: %s\n\nparameters, as --set name=value:\n", shape->name, shape->doc);
    list_fields(shape->parameters, "");
    if (!shape->parameters->field_count) printf("  none\n");
}

// ---- Setting

static bool complain_value(const rbt_field *f, const char *value, bool whole) {
    char limits[128];
    rbt_field_limits(f, limits, sizeof limits);
    bool vector = f->kind == RBT_VEC3 || f->kind == RBT_INT3;
    fprintf(stderr, "rubato mesh: --set %s=%s: it must be %s%s%s%s\n", f->name, value,
            vector  ? whole ? "three whole numbers as 4,1,1" : "three numbers as 4,1,1"
            : whole ? "a whole number"
                    : "a number",
            limits[0] ? ", " : "", limits, f->flags & RBT_AUTO ? ", or auto" : "");
    return false;
}

// `count` numbers with commas between them and nothing behind, each within the field's limits.
static bool read_numbers(const rbt_field *f, const char *value, int count, bool whole, double *numbers) {
    const char *at = value;
    bool one_for_all = (f->flags & RBT_ONE_FOR_ALL) && !strchr(value, ',');
    for (int k = 0; k < count; k++) {
        char *end;
        errno = 0;
        numbers[k] = strtod(one_for_all ? value : at, &end);
        if (end == at || errno || *end != (k + 1 < count && !one_for_all ? ',' : '\0') || !isfinite(numbers[k]) ||
            !rbt_field_allows(f, numbers[k]) ||
            (whole && (numbers[k] != rint(numbers[k]) || fabs(numbers[k]) > INT_MAX)))
            return complain_value(f, value, whole);
        at = end + 1;
    }
    return true;
}

static bool set_choice(const rbt_field *f, const char *value, int *choice) {
    for (int k = 0; f->of.names(k); k++)
        if (strcmp(f->of.names(k), value) == 0) {
            *choice = k;
            return true;
        }
    const char *near = rbt_text_nearest(value, f->of.names);
    fprintf(stderr, "rubato mesh: %s has no choice \"%s\"%s%s%s\n", f->name, value, near ? "; did you mean \"" : "",
            near ? near : "", near ? "\"?" : "");
    return false;
}

static bool set_field(const rbt_field *f, const char *value, char *at) {
    double v[3];
    if ((f->flags & RBT_AUTO) && strcmp(value, "auto") == 0) {
        if (f->kind == RBT_REAL) *(double *)at = NAN;
        if (f->kind == RBT_INT) *(int *)at = -1;
        return true;
    }
    switch (f->kind) {
    case RBT_BOOL:
        if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0) {
            fprintf(stderr, "rubato mesh: --set %s=%s: it must be true or false\n", f->name, value);
            return false;
        }
        *(bool *)at = value[0] == 't';
        return true;
    case RBT_INT:
        if (!read_numbers(f, value, 1, true, v)) return false;
        *(int *)at = (int)v[0];
        return true;
    case RBT_REAL: return read_numbers(f, value, 1, false, (double *)at);
    case RBT_VEC3: return read_numbers(f, value, 3, false, (double *)at);
    case RBT_INT3:
        if (!read_numbers(f, value, 3, true, v)) return false;
        for (int k = 0; k < 3; k++) ((int *)at)[k] = (int)v[k];
        return true;
    case RBT_TEXT: *(const char **)at = value; return true;
    case RBT_CHOICE: return set_choice(f, value, (int *)at);
    default: fprintf(stderr, "rubato mesh: %s is a list and can only be given in a scene\n", f->name); return false;
    }
}

static bool unknown_parameter(const rbt_shape *shape, const rbt_record *record, const char *name) {
    rbt_nearest near = rbt_nearest_begin(name);
    for (int i = 0; i < record->field_count; i++) rbt_nearest_offer(&near, record->fields[i].name);
    if (near.best)
        fprintf(stderr, "rubato mesh: %s has no parameter \"%s\"; did you mean \"%s\"?\n", shape->name, name,
                near.best);
    else
        fprintf(stderr, "rubato mesh: %s has no parameter \"%s\"; rubato mesh %s --list shows all\n", shape->name,
                name, shape->name);
    return false;
}

// One "name=value"; dots lead into nested records.
static bool apply_setting(const rbt_shape *shape, const char *setting, void *data, bool *given) {
    const rbt_record *record = shape->parameters;
    const char *equals = strchr(setting, '='), *name = setting;
    char *at = data, word[64];
    if (!equals || equals == setting) {
        fprintf(stderr, "rubato mesh: --set %s: it must have the form name=value\n", setting);
        return false;
    }
    for (;;) {
        size_t length = strcspn(name, ".=");
        snprintf(word, sizeof word, "%.*s", (int)length, name);
        const rbt_field *f = rbt_record_field(record, word);
        if (!f) return unknown_parameter(shape, record, word);
        if (record == shape->parameters) given[f - record->fields] = true;
        at += f->offset;
        if (name[length] == '=' && f->kind != RBT_RECORD) return set_field(f, equals + 1, at);
        if (name[length] == '=' || f->kind != RBT_RECORD) {
            fprintf(stderr, "rubato mesh: --set %s: \"%s\" %s\n", setting, word,
                    f->kind == RBT_RECORD ? "has parts; set them one by one" : "has no parts to set");
            return false;
        }
        record = f->of.record;
        name += length + 1;
    }
}

// Defaults and settings into a fresh struct; NULL after a sentence.
static void *make_parameters(const rbt_shape *shape, const rbt_word_list *settings) {
    const rbt_record *record = shape->parameters;
    rbt_error error = {0};
    void *data = rbt_array_new(1, record->size, "parameters", &error);
    bool *given = data ? rbt_array_new((size_t)record->field_count, sizeof *given, "parameters", &error) : NULL;
    bool good = given != NULL;
    if (!good) rbt_complain(&error);
    if (good) rbt_record_default(record, data);
    for (int i = 0; good && i < settings->count; i++) good = apply_setting(shape, settings->words[i], data, given);
    for (int i = 0; good && i < record->field_count; i++)
        if ((record->fields[i].flags & RBT_REQUIRED) && !given[i]) {
            fprintf(stderr, "rubato mesh: %s needs --set %s=…: %s\n", shape->name, record->fields[i].name,
                    record->fields[i].doc);
            good = false;
        }
    free(given);
    if (good) return data;
    free(data);
    return NULL;
}

// ---- Making

static int make(const rbt_shape *shape, const void *parameters, const char *file, bool ascii) {
    rbt_error error = {0};
    rbt_print_estimate(shape->name, parameters);
    rbt_mesh *mesh = rbt_shape_generate(shape->name, parameters, &error);
    bool good = mesh && rbt_mesh_write(mesh, file, ascii, &error);
    if (good) {
        printf("%s: %zu nodes", file, mesh->node_count);
        if (mesh->tet_count) printf(", %zu tets", mesh->tet_count);
        if (mesh->triangle_count) printf(", %zu triangles", mesh->triangle_count);
        if (mesh->edge_count) printf(", %zu edges", mesh->edge_count);
        printf("\n");
    }
    rbt_mesh_free(mesh);
    return good ? 0 : rbt_complain(&error);
}

int rbt_command_mesh(int count, char **words) {
    const char *name = NULL, *file = NULL;
    bool list = false, ascii = false;
    rbt_word_list settings = {0};
    const rbt_option options[] = {
        {"--output", "-o", "FILE", "the file to write: .msh, .vtk or .obj", .text = &file},
        {"--set", NULL, "NAME=VALUE", "a parameter of the shape; may be given several times", .list = &settings},
        {"--ascii", NULL, NULL, "text instead of binary", .flag = &ascii},
        {"--list", NULL, NULL, "list the shapes or, after a shape, its parameters", .flag = &list},
    };
    int names,
        code = rbt_options_read("mesh", options, sizeof options / sizeof *options, count, words, &name, &names, 0, 1);
    if (code >= 0) return code;
    if (!name && list) {
        list_shapes();
        return 0;
    }
    int which = name ? rbt_shape_find(name) : -1;
    if (which < 0) {
        const char *near = name ? rbt_text_nearest(name, rbt_shape_name) : NULL;
        if (!name) fprintf(stderr, "rubato mesh: which shape? rubato mesh --list shows them\n");
        else if (near) fprintf(stderr, "rubato mesh: no shape \"%s\"; did you mean \"%s\"?\n", name, near);
        else fprintf(stderr, "rubato mesh: no shape \"%s\"; rubato mesh --list shows them\n", name);
        return 2;
    }
    const rbt_shape *shape = rbt_shape_at(which);
    if (list) {
        list_parameters(shape);
        return 0;
    }
    if (!file) {
        fprintf(stderr, "rubato mesh: where to? Add -o FILE.msh\n");
        return 2;
    }
    void *parameters = make_parameters(shape, &settings);
    if (!parameters) return 2;
    code = make(shape, parameters, file, ascii);
    free(parameters);
    return code;
}
