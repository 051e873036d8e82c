// The tables, the parser, the JSON Schema, the reference page and the structs say the same.
#include "../support/json_schema.h"
#include "base/file.h"
#include "scene/parse.h"
#include "scene/schema.h"
#include "scene/table.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "random.h"

typedef struct world {
    rbt_definitions definitions;
    rbt_text schema_text, reference;
    json_t *schema;
} world;

static int begin(void **state) {
    world *w = calloc(1, sizeof *w);
    *state = w;
    if (!rbt_definitions_collect(&w->definitions, &RBT_SCENE_RECORD, NULL)) return -1;
    if (!rbt_schema_write(&w->schema_text) || !rbt_reference_write(&w->reference)) return -1;
    w->schema = json_loads(w->schema_text.text, JSON_REJECT_DUPLICATES, NULL);
    return w->schema ? 0 : -1;
}

static int end(void **state) {
    world *w = *state;
    rbt_definitions_free(&w->definitions);
    rbt_text_free(&w->schema_text);
    rbt_text_free(&w->reference);
    json_decref(w->schema);
    free(w);
    return 0;
}

#define EACH_RECORD(w, r)                                                                                            \
    for (size_t i_ = 0; i_ < (w)->definitions.count; i_++)                                                           \
        for (const rbt_record *r = (w)->definitions.items[i_].record; r; r = NULL)

static json_t *definition_schema(const world *w, const void *record) {
    return json_object_get(json_object_get(w->schema, "$defs"), rbt_definition_name(&w->definitions, record));
}

// ---- The structs

static int by_offset(const void *a, const void *b) {
    const rbt_field *const *f = a, *const *g = b;
    return (*f)->offset < (*g)->offset ? -1 : (*f)->offset > (*g)->offset;
}

// No two fields overlap, and between them is no more room than alignment needs.
static void check_layout(const rbt_record *record) {
    const rbt_field *sorted[64];
    int count = 0;
    assert_true(record->field_count <= 64);
    for (int i = 0; i < record->field_count; i++)
        if (!(record->fields[i].flags & RBT_NOT_KEPT)) sorted[count++] = &record->fields[i];
    qsort(sorted, (size_t)count, sizeof sorted[0], by_offset);
    // Where the scene came from is no part of the file, nor are cookies, meshes and sequences in memory.
    size_t size = record == &RBT_SCENE_RECORD ? offsetof(rbt_scene, folder) : record->size;
    size_t at = record->cookie                   ? sizeof(uint64_t)
                : record == &RBT_MESH_RECORD     ? offsetof(rbt_mesh_def, file)
                : record == &RBT_SEQUENCE_RECORD ? offsetof(rbt_sequence_def, file)
                                                 : 0;
    for (int i = 0; i < count; i++) {
        if (sorted[i]->offset < at || sorted[i]->offset - at >= 8)
            fail_msg("%s.%s is at %zu, the field before it ends at %zu", record->name, sorted[i]->name,
                     sorted[i]->offset, at);
        at = sorted[i]->offset + rbt_field_size(sorted[i]);
    }
    if (at > size || size - at >= 8) fail_msg("%s: the fields end at %zu, the struct at %zu", record->name, at, size);
}

static void fields_cover_their_structs(void **state) { EACH_RECORD((world *)*state, record) check_layout(record); }

static void tables_are_complete(void **state) {
    EACH_RECORD((world *)*state, record) {
        assert_true(record->doc && strlen(record->doc) > 3);
        for (int i = 0; i < record->field_count; i++) {
            const rbt_field *f = &record->fields[i];
            if (!f->doc || f->doc[strlen(f->doc) - 1] != '.')
                fail_msg("%s.%s has no sentence", record->name, f->name);
            if (rbt_record_field(record, f->name) != f) fail_msg("%s.%s is there twice", record->name, f->name);
            if (f->kind == RBT_CHOICE_BY || f->kind == RBT_RECORD_BY) {
                const rbt_field *sibling = rbt_record_field(record, f->of.by->sibling);
                assert_true(sibling && sibling < f && sibling->kind == RBT_CHOICE);
            }
            // An absent record means all defaults, so nothing in it can be required.
            if (f->kind != RBT_RECORD || (f->flags & RBT_REQUIRED)) continue;
            for (int k = 0; k < f->of.record->field_count; k++)
                if (f->of.record->fields[k].flags & (RBT_REQUIRED | RBT_ONE_OF))
                    fail_msg("%s.%s may be absent, but its %s is required", record->name, f->name,
                             f->of.record->fields[k].name);
        }
    }
}

// ---- Schema and reference know every key

static const char *section_of(const world *w, const void *record) {
    char heading[96];
    snprintf(heading, sizeof heading, "\n## %s\n", rbt_definition_name(&w->definitions, record));
    const char *at = strstr(w->reference.text, heading);
    if (!at) fail_msg("the reference has no section%s", heading);
    return at + 4;
}

static void expect_row(const world *w, const void *record, const rbt_field *f) {
    char row[96];
    snprintf(row, sizeof row, "\n| `%s` | ", f->name);
    const char *section = section_of(w, record), *next = strstr(section, "\n## "), *at = strstr(section, row);
    if (!at || (next && at > next)) fail_msg("the reference has no row for %s in %.20s", f->name, section);
    const char *line_end = strchr(at + 1, '\n');
    char *line = strndup(at + 1, (size_t)(line_end - at - 1));
    if (!strchr(f->doc, '|') && !strstr(line, f->doc))
        fail_msg("the row of %s lacks its sentence: %s", f->name, line);
    free(line);
}

static void expect_property(json_t *object, const rbt_field *f) {
    json_t *property = json_object_get(json_object_get(object, "properties"), f->name);
    const char *description = json_string_value(json_object_get(property, "description"));
    if (!description || strncmp(description, f->doc, strlen(f->doc)) != 0) fail_msg("the schema lacks %s", f->name);
    if (f->unit && !strstr(description, f->unit)) fail_msg("the schema lacks the unit of %s", f->name);
}

static void schema_and_reference_have_every_key(void **state) {
    const world *w = *state;
    for (size_t d = 0; d < w->definitions.count; d++) {
        const rbt_record *record = w->definitions.items[d].record;
        const rbt_variants *variants = w->definitions.items[d].variants;
        json_t *schema = definition_schema(w, record ? (const void *)record : variants);
        assert_non_null(schema);
        for (int i = 0; record && i < record->field_count; i++) {
            expect_row(w, record, &record->fields[i]);
            expect_property(schema, &record->fields[i]);
        }
        if (record) assert_int_equal(json_object_size(json_object_get(schema, "properties")), record->field_count);
        for (int i = 0; variants && variants->alternative(i); i++) {
            json_t *list = json_object_get(schema, "oneOf");
            expect_row(w, variants, variants->alternative(i));
            expect_property(json_array_get(list, (size_t)(i + (variants->text_means >= 0))),
                            variants->alternative(i));
        }
    }
}

static void expect_file(const char *name, const rbt_text *made, const char *command) {
    char path[512];
    rbt_bytes bytes;
    rbt_error error = {0};
    snprintf(path, sizeof path, "%s/%s", RBT_SOURCE_DIR, name);
    if (!rbt_file_read(path, &bytes, &error)) fail_msg("%s: %s", path, error.message);
    bool same = bytes.size == made->size && memcmp(bytes.data, made->text, made->size) == 0;
    free(bytes.data);
    if (!same) fail_msg("%s is not what the tables give now; run: %s", name, command);
}

static void committed_pages_are_up_to_date(void **state) {
    const world *w = *state;
    expect_file("docs/scene.schema.json", &w->schema_text, "build/rubato schema -o docs/scene.schema.json");
    expect_file("docs/scene.md", &w->reference, "build/rubato schema --reference -o docs/scene.md");
}

// ---- Values through the parser

typedef struct trial {
    rbt_arena *arena;
    rbt_error error;
    void *data;
} trial;

static bool accepts(trial *t, const rbt_record *record, json_t *object) {
    *t = (trial){.arena = rbt_arena_new()};
    t->data = rbt_arena_take(t->arena, 1, record->size);
    rbt_walk walk = {.error = &t->error};
    if (!rbt_record_parse(&walk, t->arena, record, object, t->data)) return false;
    walk = (rbt_walk){.error = &t->error};
    return rbt_record_check(&walk, record, t->data);
}

static bool is_accepted(const rbt_record *record, json_t *object) {
    trial t;
    bool ok = accepts(&t, record, object);
    rbt_arena_free(t.arena);
    return ok;
}

static json_t *example_of(const rbt_record *record, const rbt_field *f, bool full) {
    rbt_text text = {0};
    rbt_example_write(&text, record, f, full);
    json_t *value = json_loads(text.text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
    if (!value) fail_msg("the example of %s is no JSON: %s", f->name, text.text);
    rbt_text_free(&text);
    return value;
}

static json_t *example_record(const rbt_record *record, bool full) {
    return example_of(NULL, &(rbt_field){.name = record->name, .kind = RBT_RECORD, .of.record = record}, full);
}

// The required keys and this one; of keys that exclude each other only this one.
static json_t *example_with(const rbt_record *record, const rbt_field *f, json_t *value) {
    json_t *object = example_record(record, false);
    for (int i = 0; i < record->field_count; i++)
        if ((f->flags & RBT_ONE_OF) && (record->fields[i].flags & RBT_ONE_OF))
            json_object_del(object, record->fields[i].name);
    json_object_set_new(object, f->name, value);
    return object;
}

static bool is_nothing_to_choose(const rbt_record *record, const rbt_field *f) {
    if (f->kind != RBT_CHOICE_BY) return false;
    return !f->of.by->names((int)rbt_record_field(record, f->of.by->sibling)->fallback[0]);
}

static void expect_verdict(const world *w, const rbt_record *record, json_t *object, bool verdict) {
    trial t;
    bool parser = accepts(&t, record, object),
         schema = schema_accepts(w->schema, definition_schema(w, record), object);
    char *text = json_dumps(object, JSON_COMPACT);
    if (parser != verdict)
        fail_msg("%s: the parser says %s to %s: %s", record->name, parser ? "yes" : "no", text, t.error.message);
    if (schema != verdict) fail_msg("%s: the schema says %s to %s", record->name, schema ? "yes" : "no", text);
    free(text);
    rbt_arena_free(t.arena);
    json_decref(object);
}

static void every_key_is_accepted(void **state) {
    const world *w = *state;
    EACH_RECORD(w, record) {
        expect_verdict(w, record, example_record(record, false), true);
        expect_verdict(w, record, example_record(record, true), true);
        for (int i = 0; i < record->field_count; i++) {
            const rbt_field *f = &record->fields[i];
            if (is_nothing_to_choose(record, f)) continue;
            expect_verdict(w, record, example_with(record, f, example_of(record, f, false)), true);
            if (f->flags & RBT_ONE_FOR_ALL) expect_verdict(w, record, example_with(record, f, json_integer(2)), true);
            if (f->flags & RBT_AUTO) expect_verdict(w, record, example_with(record, f, json_string("auto")), true);
            if (f->flags & RBT_NEVER) expect_verdict(w, record, example_with(record, f, json_string("never")), true);
        }
    }
}

static void every_alternative_is_accepted(void **state) {
    const world *w = *state;
    for (size_t d = 0; d < w->definitions.count; d++) {
        const rbt_variants *variants = w->definitions.items[d].variants;
        rbt_variant place;
        const rbt_field field = {.name = "it", .kind = RBT_VARIANT, .of.variants = variants};
        const rbt_record record = {"one", "One.", sizeof place, &field, 1, false};
        for (int i = 0; variants && variants->alternative(i); i++) {
            const rbt_field *f = variants->alternative(i);
            json_t *value = json_object(), *object = json_object();
            json_object_set_new(value, f->name, example_of(NULL, f, true));
            json_object_set_new(object, "it", value);
            if (!is_accepted(&record, object)) fail_msg("%s: the example of %s is refused", variants->name, f->name);
            assert_true(schema_accepts(w->schema, definition_schema(w, variants), value));
            json_object_set_new(value, "zzz", json_integer(1));
            assert_false(is_accepted(&record, object));
            assert_false(schema_accepts(w->schema, definition_schema(w, variants), value));
            json_decref(object);
        }
    }
}

static void missing_and_unknown_keys_are_refused(void **state) {
    const world *w = *state;
    EACH_RECORD(w, record) {
        json_t *object = example_record(record, false);
        json_object_set_new(object, "zzzzzzzzzzzzzzzzzzzz", json_integer(1));
        expect_verdict(w, record, object, false);
        for (int i = 0; i < record->field_count; i++) {
            if (!(record->fields[i].flags & (RBT_REQUIRED | RBT_ONE_OF))) continue;
            object = example_record(record, false);
            if (json_object_del(object, record->fields[i].name) != 0) json_decref(object);
            else expect_verdict(w, record, object, false);
        }
    }
}

// A value of the field's kind that holds this number
static json_t *value_with(const rbt_field *f, double number) {
    bool whole = f->kind == RBT_INT || f->kind == RBT_INT3 || f->kind == RBT_INTS;
    json_t *value = whole ? json_integer((json_int_t)number) : json_real(number);
    if (f->kind == RBT_INT || f->kind == RBT_REAL) return value;
    json_t *list = json_array();
    if (f->kind == RBT_INTS || f->kind == RBT_REALS) {
        json_array_append_new(list, value);
        return list;
    }
    for (int k = 0; k < 3; k++) json_array_append(list, value);
    json_decref(value);
    if (f->kind == RBT_VEC3 || f->kind == RBT_INT3) return list;
    json_t *lists = json_array();
    json_array_append_new(lists, list);
    return lists;
}

static bool has_numbers(const rbt_field *f) {
    return f->kind == RBT_INT || f->kind == RBT_REAL || f->kind == RBT_VEC3 || f->kind == RBT_INT3 ||
           f->kind == RBT_INTS || f->kind == RBT_REALS || f->kind == RBT_VEC3S;
}

// Just outside a limit is refused by both; just inside, the schema accepts, and the parser does not name the limit.
static void expect_limit(const world *w, const rbt_record *record, const rbt_field *f, double limit, double outwards,
                         bool is_open) {
    bool whole = f->kind == RBT_INT || f->kind == RBT_INT3 || f->kind == RBT_INTS;
    double next = whole ? limit + outwards : nextafter(limit, outwards * INFINITY);
    double inside = is_open ? (whole ? limit - outwards : nextafter(limit, -outwards * INFINITY)) : limit;
    expect_verdict(w, record, example_with(record, f, value_with(f, is_open ? limit : next)), false);
    if (!rbt_field_allows(f, inside)) return;
    if (inside == 0 && (f->flags & RBT_NOT_EMPTY)) return;
    json_t *object = example_with(record, f, value_with(f, inside));
    assert_true(schema_accepts(w->schema, definition_schema(w, record), object));
    trial t;
    char limits[128];
    rbt_field_limits(f, limits, sizeof limits);
    if (!accepts(&t, record, object) && strstr(t.error.message, limits))
        fail_msg("%s.%s: refused at the limit: %s", record->name, f->name, t.error.message);
    rbt_arena_free(t.arena);
    json_decref(object);
}

static void limits_are_the_same_everywhere(void **state) {
    const world *w = *state;
    EACH_RECORD(w, record) for (int i = 0; i < record->field_count; i++) {
        const rbt_field *f = &record->fields[i];
        double limit;
        if (!has_numbers(f)) continue;
        if (rbt_field_low(f, &limit)) expect_limit(w, record, f, limit, -1, f->flags & RBT_ABOVE);
        if (rbt_field_high(f, &limit)) expect_limit(w, record, f, limit, 1, f->flags & RBT_BELOW);
        if (f->flags & RBT_NOT_ZERO) expect_verdict(w, record, example_with(record, f, value_with(f, 0)), false);
        if ((f->flags & RBT_NOT_EMPTY) && (f->kind == RBT_VEC3 || f->kind == RBT_INT3))
            expect_verdict(w, record, example_with(record, f, value_with(f, 0)), false);
    }
}

static void schema_defaults_are_the_struct_defaults(void **state) {
    const world *w = *state;
    EACH_RECORD(w, record) {
        char *fresh = calloc(1, record->size);
        rbt_record_default(record, fresh);
        for (int i = 0; i < record->field_count; i++) {
            const rbt_field *f = &record->fields[i];
            json_t *property = json_object_get(json_object_get(definition_schema(w, record), "properties"), f->name);
            json_t *value = json_object_get(property, "default");
            bool plain = f->kind <= RBT_CHOICE && f->kind != RBT_TEXT;
            if (plain && !(f->flags & (RBT_REQUIRED | RBT_NOT_KEPT))) assert_non_null(value);
            if (!value) continue;
            json_t *object = example_with(record, f, json_incref(value));
            trial t;
            if (!accepts(&t, record, object)) fail_msg("%s.%s: %s", record->name, f->name, t.error.message);
            const char *a = fresh + f->offset, *b = (char *)t.data + f->offset;
            if (f->kind == RBT_TEXT)
                assert_string_equal(*(char *const *)(const void *)a, *(char *const *)(const void *)b);
            else if (f->kind == RBT_REAL && isnan(*(const double *)(const void *)a))
                assert_true(isnan(*(const double *)(const void *)b));
            else assert_memory_equal(a, b, rbt_field_size(f));
            rbt_arena_free(t.arena);
            json_decref(object);
        }
        free(fresh);
    }
}

// ---- Random scenes: what the parser accepts, the schema accepts

static json_t *random_value(void) {
    static const char *const values[] = {"null",
                                         "true",
                                         "0",
                                         "1",
                                         "-1",
                                         "0.25",
                                         "1e30",
                                         "3.0",
                                         "\"auto\"",
                                         "\"never\"",
                                         "\"\"",
                                         "\"bar\"",
                                         "\"m\"",
                                         "[]",
                                         "[1]",
                                         "[0, 0, 0]",
                                         "[1, 2, 3]",
                                         "{}",
                                         "[\"bar\"]",
                                         "[[1, 2, 3]]",
                                         "[{}]",
                                         "{\"box\": {}}",
                                         "{\"set\": \"x\"}",
                                         "\"semi-implicit\"",
                                         "\"symplectic-euler\""};
    return json_loads(values[below(sizeof values / sizeof values[0])], JSON_DECODE_ANY, NULL);
}

// Changes one value somewhere inside
static void mutate(json_t *value) {
    size_t count = json_is_object(value) ? json_object_size(value) : json_array_size(value);
    if (!count) return;
    size_t chosen = below(count);
    void *iterator = json_object_iter(value);
    for (size_t i = 0; json_is_object(value) && i < chosen; i++) iterator = json_object_iter_next(value, iterator);
    json_t *inner = json_is_object(value) ? json_object_iter_value(iterator) : json_array_get(value, chosen);
    bool deeper = (json_object_size(inner) || json_array_size(inner)) && below(4);
    if (deeper) mutate(inner);
    else if (json_is_array(value)) json_array_set_new(value, chosen, random_value());
    else if (below(4)) json_object_iter_set_new(value, iterator, random_value());
    else json_object_del(value, json_object_iter_key(iterator));
}

static void what_the_parser_accepts_the_schema_accepts(void **state) {
    const world *w = *state;
    int accepted = 0, refused = 0;
    EACH_RECORD(w, record) {
        json_t *original = example_record(record, true);
        for (int i = 0; i < 150; i++) {
            json_t *object = json_deep_copy(original);
            for (size_t k = below(3) + 1; k; k--) mutate(object);
            bool ok = is_accepted(record, object);
            if (ok && !schema_accepts(w->schema, definition_schema(w, record), object))
                fail_msg("%s: only the parser accepts %s", record->name, json_dumps(object, JSON_COMPACT));
            accepted += ok;
            refused += !ok;
            json_decref(object);
        }
        json_decref(original);
    }
    assert_true(accepted > 500 && refused > 500);
}

// Whole scenes in the reference, between ```json and ```
static void scenes_of_the_reference_are_valid(void **state) {
    const world *w = *state;
    static const char opening[] = "```json\n{\n";
    int count = 0;
    for (const char *at = w->reference.text; (at = strstr(at, opening)); count++) {
        at += strlen("```json\n");
        size_t size = (size_t)(strstr(at, "```") - at);
        rbt_error error = {0};
        rbt_scene_file *file = rbt_scene_parse(at, size, "docs/scene.md", NULL, 0, &error);
        if (!file) fail_msg("%s: %s", error.path, error.message);
        rbt_scene_free(file);
        json_t *scene = json_loadb(at, size, 0, NULL);
        assert_true(schema_accepts(w->schema, w->schema, scene));
        json_decref(scene);
    }
    assert_true(count >= 1);
}

static void shipped_scenes_are_valid(void **state) {
    const world *w = *state;
    glob_t found;
    assert_int_equal(glob(RBT_SOURCE_DIR "/scenes/*.json", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        rbt_error error = {0};
        rbt_scene_file *file = rbt_scene_read(found.gl_pathv[i], NULL, 0, &error);
        if (!file) fail_msg("%s: %s: %s", found.gl_pathv[i], error.path, error.message);
        rbt_scene_free(file);
        json_t *scene = json_load_file(found.gl_pathv[i], 0, NULL);
        if (!schema_accepts(w->schema, w->schema, scene)) fail_msg("%s: the schema refuses it", found.gl_pathv[i]);
        json_decref(scene);
    }
    globfree(&found);
}

// ---- Kinds and flags that tables of other rooms may use, on a table of our own

typedef struct odd_options {
    double tolerance;
} odd_options;

typedef const char *word;

typedef struct odd {
    double maybe;
    int count, cells[3], pick, way;
    RBT_LIST(double) reals;
    RBT_LIST(word) texts;
    const void *options;
} odd;

static const char *pick_name(int i) { return i == 0 ? "plain" : i == 1 ? "fancy" : NULL; }
static const char *way_name(int i) { return i == 0 ? "direct" : i == 1 ? "iterative" : NULL; }
static rbt_name_of ways_of(int pick) { return pick == 1 ? way_name : NULL; }

static const rbt_field ODD_OPTIONS[] = {
    {.name = "tolerance", .kind = RBT_REAL, .flags = RBT_ABOVE, .fallback = {1e-6}, .max = 1, .doc = "How exact."}};
static const rbt_record ODD_OPTIONS_RECORD = {"fancy options", "Of fancy.", sizeof(odd_options),
                                              RBT_FIELDS(ODD_OPTIONS)};
static const rbt_record *odd_options_of(int pick) { return pick == 1 ? &ODD_OPTIONS_RECORD : NULL; }
static const rbt_dependence BY_PICK = {"pick", ways_of, odd_options_of};

static const rbt_field ODD[] = {
    {.name = "maybe",
     .kind = RBT_REAL,
     .offset = offsetof(odd, maybe),
     .flags = RBT_AUTO,
     .fallback = {NAN},
     .doc = "x."},
    {.name = "count",
     .kind = RBT_INT,
     .offset = offsetof(odd, count),
     .flags = RBT_AUTO,
     .fallback = {-1},
     .min = 1,
     .doc = "x."},
    {.name = "cells",
     .kind = RBT_INT3,
     .offset = offsetof(odd, cells),
     .flags = RBT_ONE_FOR_ALL,
     .fallback = {1, 2, 3},
     .min = 1,
     .doc = "x."},
    {.name = "pick", .kind = RBT_CHOICE, .offset = offsetof(odd, pick), .of.names = pick_name, .doc = "x."},
    {.name = "way", .kind = RBT_CHOICE_BY, .offset = offsetof(odd, way), .of.by = &BY_PICK, .doc = "x."},
    {.name = "reals", .kind = RBT_REALS, .offset = offsetof(odd, reals), .flags = RBT_NOT_ZERO, .doc = "x."},
    {.name = "texts", .kind = RBT_TEXTS, .offset = offsetof(odd, texts), .flags = RBT_NOT_EMPTY, .doc = "x."},
    {.name = "options", .kind = RBT_RECORD_BY, .offset = offsetof(odd, options), .of.by = &BY_PICK, .doc = "x."},
};
static const rbt_record ODD_RECORD = {"odd", "Of all kinds.", sizeof(odd), RBT_FIELDS(ODD)};

static const struct {
    const char *json, *sentence;  // NULL: fine
} ODD_CASES[] = {
    {"{'texts': ['a', '']}", NULL},
    {"{'texts': ['a'], 'maybe': 'auto', 'count': 'auto', 'cells': 4}", NULL},
    {"{'texts': ['a'], 'maybe': -3, 'count': 1, 'cells': [4, 5.0, 6]}", NULL},
    {"{'texts': ['a'], 'pick': 'fancy', 'way': 'iterative', 'options': {'tolerance': 0.5}}", NULL},
    {"{'texts': ['a'], 'pick': 'plain', 'options': {}}", NULL},
    {"{'texts': []}", "texts: needs at least one item"},
    {"{'texts': [1]}", "texts[0]: a text is needed, found 1"},
    {"{'texts': ['a'], 'maybe': 'never'}", "maybe: a number or `auto` is needed, found the text `never`"},
    {"{'texts': ['a'], 'count': 0}", "count: must be at least 1, found 0"},
    {"{'texts': ['a'], 'count': -1}", "count: a whole number or `auto` is needed, found -1"},
    {"{'texts': ['a'], 'cells': 0}", "cells[0]: must be at least 1, found 0"},
    {"{'texts': ['a'], 'cells': [1, 2]}",
     "cells: a list of 3 whole numbers, or one for all, is needed, found a list of 2"},
    {"{'texts': ['a'], 'cells': [1, 2, 'x']}", "cells[2]: a whole number is needed, found the text `x`"},
    {"{'texts': ['a'], 'reals': [1, 0]}", "reals[1]: must not be 0"},
    {"{'texts': ['a'], 'way': 'direct'}",
     "way: pick `plain` has no way `direct`; there is nothing to choose from here"},
    {"{'texts': ['a'], 'pick': 'fancy', 'way': 'drect'}",
     "way: pick `fancy` has no way `drect`; did you mean `direct`?"},
    {"{'texts': ['a'], 'pick': 'fancy', 'way': 1}", "way: a text is needed, found 1"},
    {"{'texts': ['a'], 'pick': 'fancy', 'options': {'tolerance': 2}}",
     "options.tolerance: must be above 0 and at most 1, found 2"},
    {"{'texts': ['a'], 'pick': 'fancy', 'options': {'tolerence': 1}}",
     "options: unknown key `tolerence`; did you mean `tolerance`?"},
    {"{'texts': ['a'], 'options': {'tolerance': 1}}",
     "options: unknown key `tolerance`; there is nothing to choose from here"},
    {"{'texts': ['a'], 'options': []}", "options: an object is needed, found a list of 0"},
};

static json_t *load(const char *text) {
    char *copy = strdup(text);
    for (char *c = copy; *c; c++)
        if (*c == '\'') *c = '"';
    json_t *value = json_loads(copy, JSON_DECODE_ANY, NULL);
    assert_non_null(value);
    free(copy);
    return value;
}

static void all_kinds_work_in_parser_and_schema(void **state) {
    (void)state;
    rbt_text text = {0};
    assert_true(rbt_schema_write_of(&text, &ODD_RECORD, "odd"));
    json_t *schema = json_loads(text.text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(schema);
    for (size_t i = 0; i < sizeof ODD_CASES / sizeof ODD_CASES[0]; i++) {
        json_t *object = load(ODD_CASES[i].json);
        const char *sentence = ODD_CASES[i].sentence;
        trial t;
        bool ok = accepts(&t, &ODD_RECORD, object);
        char found[2048];
        rbt_error_text(&t.error, found, sizeof found);
        for (char *c = found; *c; c++)
            if (*c == '"') *c = '`';
        if (ok != !sentence || (sentence && strcmp(found, sentence) != 0))
            fail_msg("%s\n  expected %s\n  found    %s", ODD_CASES[i].json, sentence ? sentence : "fine", found);
        if (schema_accepts(schema, schema, object) != ok) fail_msg("the schema differs on %s", ODD_CASES[i].json);
        rbt_arena_free(t.arena);
        json_decref(object);
    }
    json_decref(schema);
    rbt_text_free(&text);
}

static void all_kinds_go_into_their_members(void **state) {
    (void)state;
    json_t *object = load("{'texts': ['a', 'b'], 'pick': 'fancy', 'way': 'iterative', 'cells': 7, 'reals': [1, 2.5],"
                          " 'options': {}}");
    trial t;
    assert_true(accepts(&t, &ODD_RECORD, object));
    const odd *o = t.data;
    assert_true(isnan(o->maybe) && o->count == -1 && o->pick == 1 && o->way == 1);
    assert_true(o->cells[0] == 7 && o->cells[1] == 7 && o->cells[2] == 7);
    assert_true(o->reals.count == 2 && o->reals.items[1] == 2.5 && o->texts.count == 2);
    assert_string_equal(o->texts.items[1], "b");
    assert_true(((const odd_options *)o->options)->tolerance == 1e-6);
    rbt_arena_free(t.arena);
    json_decref(object);
}

static void settings_reach_dependent_records(void **state) {
    (void)state;
    rbt_error error = {0};
    json_t *object = load("{'texts': ['a'], 'pick': 'fancy'}");
    rbt_walk walk = {.error = &error};
    assert_true(rbt_setting_apply(&walk, &ODD_RECORD, object, "options.tolerance=0.5"));
    assert_true(rbt_setting_apply(&walk, &ODD_RECORD, object, "cells[1]=9"));
    assert_true(rbt_setting_apply(&walk, &ODD_RECORD, object, "texts[1]=12"));
    trial t;
    assert_true(accepts(&t, &ODD_RECORD, object));
    const odd *o = t.data;
    assert_true(((const odd_options *)o->options)->tolerance == 0.5);
    assert_true(o->cells[0] == 1 && o->cells[1] == 9 && o->cells[2] == 3);
    assert_string_equal(o->texts.items[1], "12");
    assert_false(rbt_setting_apply(&walk, &ODD_RECORD, object, "options.tolerence=0.5"));
    assert_string_equal(error.message, "unknown key \"tolerence\"; did you mean \"tolerance\"?");
    rbt_arena_free(t.arena);
    json_decref(object);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_cover_their_structs),
        cmocka_unit_test(tables_are_complete),
        cmocka_unit_test(schema_and_reference_have_every_key),
        cmocka_unit_test(committed_pages_are_up_to_date),
        cmocka_unit_test(every_key_is_accepted),
        cmocka_unit_test(every_alternative_is_accepted),
        cmocka_unit_test(missing_and_unknown_keys_are_refused),
        cmocka_unit_test(limits_are_the_same_everywhere),
        cmocka_unit_test(schema_defaults_are_the_struct_defaults),
        cmocka_unit_test(what_the_parser_accepts_the_schema_accepts),
        cmocka_unit_test(scenes_of_the_reference_are_valid),
        cmocka_unit_test(shipped_scenes_are_valid),
        cmocka_unit_test(all_kinds_work_in_parser_and_schema),
        cmocka_unit_test(all_kinds_go_into_their_members),
        cmocka_unit_test(settings_reach_dependent_records),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
