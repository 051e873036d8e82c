// docs/scene.md: the reference of the scene format, made from the tables.
#include "scene/schema.h"

#include "scene/table.h"

#include <string.h>

static const char INTRODUCTION[] =
    "# The scene format\n"
    "\n"
    "This page is made by `rubato schema --reference` from the same tables that the parser walks; change those, not\n"
    "the page. `docs/scene.schema.json` is the same as a JSON Schema, for editors that complete and check while you\n"
    "type: `\"$schema\": \"docs/scene.schema.json\"` tells them where it is.\n"
    "\n"
    "A scene is a JSON file. All values are in SI units (metres, kilograms, seconds, newtons, pascals); only mesh\n"
    "files may be in another unit of length. Every key has a default unless its table says *required*. An unknown "
    "key,\n"
    "a key given twice or a value beyond its limits is an error that names the file and the place, as\n"
    "`bodies[0].material.young`. `rubato check SCENE` reads a scene and says what is wrong with it.\n"
    "\n"
    "```json\n"
    "{\n"
    "  \"rubato\": 1,\n"
    "  \"about\": \"a bar, held at one end, bends under its weight\",\n"
    "  \"bodies\": [\n"
    "    {\n"
    "      \"name\": \"bar\",\n"
    "      \"mesh\": {\"shape\": {\"bar\": {}}},\n"
    "      \"material\": {\"young\": 2e5, \"poisson\": 0.4, \"density\": 1000},\n"
    "      \"fixed\": [{\"box\": {\"min\": [0, 0, 0], \"max\": [0.01, 1, 1], \"relative\": true}}]\n"
    "    }\n"
    "  ],\n"
    "  \"forces\": [{\"gravity\": {}}],\n"
    "  \"time\": {\"step\": 0.01, \"end\": 4, \"frame\": 0.04}\n"
    "}\n"
    "```\n"
    "\n"
    "Where there are several kinds of a thing (forces, selections, shapes, ...), it is written as an object with "
    "one\n"
    "key that names the kind: `{\"gravity\": {}}`.\n"
    "\n"
    "`--set path=value` on the command line changes a value for one run: `--set bodies[0].material.young=1e6`,\n"
    "`--set integrator.method=semi-implicit`, `--set forces[0]='{\"gravity\": {}}'`. An item one past the end of a "
    "list\n"
    "is appended.\n";

// ---- Cells of the tables

// Text inside a table: a bar would end the cell.
static void write_cell(rbt_text *t, const char *text) {
    for (const char *c = text; *c; c++) rbt_text_add(t, *c == '|' ? "\\%c" : "%c", *c);
}

static void write_names(rbt_text *t, rbt_name_of names) {
    for (int i = 0; names(i); i++) rbt_text_add(t, "%s`%s`", i ? ", " : "", names(i));
}

static void write_link(rbt_text *t, const rbt_definitions *d, const void *record_or_variants) {
    const char *name = rbt_definition_name(d, record_or_variants);
    rbt_text_add(t, "[%s](#%s)", name, name);
}

// For each choice of the sibling, what there is
static void write_dependence(rbt_text *t, const rbt_definitions *d, const rbt_record *record, const rbt_field *f) {
    const rbt_field *sibling = rbt_record_field(record, f->of.by->sibling);
    rbt_text_add(t, "by `%s`:", f->of.by->sibling);
    for (int i = 0; sibling && sibling->of.names(i); i++) {
        rbt_text_add(t, "%s `%s` -> ", i ? ";" : "", sibling->of.names(i));
        if (f->kind == RBT_CHOICE_BY && f->of.by->names(i)) write_names(t, f->of.by->names(i));
        else if (f->kind == RBT_RECORD_BY && f->of.by->record(i)) write_link(t, d, f->of.by->record(i));
        else rbt_text_add(t, "none");
    }
}

static void write_kind(rbt_text *t, const rbt_definitions *d, const rbt_record *record, const rbt_field *f) {
    const char *one = f->flags & RBT_ONE_FOR_ALL ? ", or one for all" : "";
    switch (f->kind) {
    case RBT_BOOL: rbt_text_add(t, "true or false"); break;
    case RBT_INT: rbt_text_add(t, "whole number"); break;
    case RBT_REAL: rbt_text_add(t, "number"); break;
    case RBT_VEC3: rbt_text_add(t, "3 numbers%s", one); break;
    case RBT_INT3: rbt_text_add(t, "3 whole numbers%s", one); break;
    case RBT_TEXT:
        rbt_text_add(t, f->of.names ? "one of " : "text");
        if (f->of.names) write_names(t, f->of.names);
        break;
    case RBT_CHOICE:
        rbt_text_add(t, "one of ");
        write_names(t, f->of.names);
        break;
    case RBT_CHOICE_BY:
    case RBT_RECORD_BY: write_dependence(t, d, record, f); break;
    case RBT_RECORD:
    case RBT_OPTIONAL: write_link(t, d, f->of.record); break;
    case RBT_VARIANT: write_link(t, d, f->of.variants); break;
    case RBT_INTS: rbt_text_add(t, "list of whole numbers"); break;
    case RBT_REALS: rbt_text_add(t, "list of numbers"); break;
    case RBT_VEC3S: rbt_text_add(t, "list of 3 numbers each"); break;
    case RBT_TEXTS: rbt_text_add(t, "list of texts"); break;
    case RBT_RECORDS:
        rbt_text_add(t, "list of ");
        write_link(t, d, f->of.record);
        break;
    case RBT_VARIANTS:
        rbt_text_add(t, "list of ");
        write_link(t, d, f->of.variants);
        break;
    }
    if (f->flags & RBT_AUTO) rbt_text_add(t, ", or `\"auto\"`");
    if (f->flags & RBT_NEVER) rbt_text_add(t, ", or `\"never\"`");
    if (f->unit) rbt_text_add(t, " [%s]", f->unit);
}

static void write_default(rbt_text *t, const rbt_field *f) {
    rbt_text value = {0};
    if (f->flags & RBT_REQUIRED) rbt_text_add(t, "*required*");
    else if (f->flags & RBT_ONE_OF) rbt_text_add(t, "*one of these*");
    else if (rbt_default_write(&value, f)) rbt_text_add(t, "`%s`", value.text ? value.text : "");
    else if (f->kind >= RBT_INTS && f->kind <= RBT_VARIANTS) rbt_text_add(t, "`[]`");
    else if (f->kind == RBT_RECORD || f->kind == RBT_RECORD_BY) rbt_text_add(t, "`{}`");
    else if (f->kind != RBT_CHOICE_BY) rbt_text_add(t, "absent");
    else rbt_text_add(t, "the first");
    if (value.failed) t->failed = true;
    rbt_text_free(&value);
}

static void write_limits(rbt_text *t, const rbt_field *f) {
    char limits[128];
    bool is_vector = f->kind == RBT_VEC3 || f->kind == RBT_INT3;
    rbt_field_limits(f, limits, sizeof limits);
    rbt_text_add(t, "%s", limits);
    if (f->flags & RBT_NOT_EMPTY)
        rbt_text_add(t, "%s%s", limits[0] ? ", " : "", is_vector ? "not the zero vector" : "not empty");
}

// ---- Sections

static void write_record(rbt_text *t, const rbt_definitions *d, const rbt_record *record) {
    if (!record->field_count) return;
    rbt_text_add(t, "\n| key | value | default | limits | meaning |\n|---|---|---|---|---|\n");
    for (int i = 0; i < record->field_count; i++) {
        const rbt_field *f = &record->fields[i];
        rbt_text_add(t, "| `%s` | ", f->name);
        write_kind(t, d, record, f);
        rbt_text_add(t, " | ");
        write_default(t, f);
        rbt_text_add(t, " | ");
        write_limits(t, f);
        rbt_text_add(t, " | ");
        write_cell(t, f->doc);
        rbt_text_add(t, " |\n");
    }
}

static void write_variants(rbt_text *t, const rbt_definitions *d, const rbt_variants *variants) {
    rbt_text_add(t, "\n| key | value | limits | meaning |\n|---|---|---|---|\n");
    for (int i = 0; variants->alternative(i); i++) {
        const rbt_field *f = variants->alternative(i);
        rbt_text_add(t, "| `%s` | ", f->name);
        write_kind(t, d, NULL, f);
        rbt_text_add(t, " | ");
        write_limits(t, f);
        rbt_text_add(t, " | ");
        write_cell(t, f->doc);
        rbt_text_add(t, " |\n");
    }
    rbt_text_add(t, "\n```json\n");
    for (int i = 0; variants->alternative(i); i++) {
        rbt_text_add(t, "{\"%s\": ", variants->alternative(i)->name);
        rbt_example_write(t, NULL, variants->alternative(i), true);
        rbt_text_add(t, "}\n");
    }
    rbt_text_add(t, "```\n");
    if (variants->text_means >= 0)
        rbt_text_add(t, "\nA text alone stands for `{\"%s\": ...}`.\n",
                     variants->alternative(variants->text_means)->name);
}

bool rbt_reference_write(rbt_text *t) {
    rbt_definitions d;
    bool ok = rbt_definitions_collect(&d, &RBT_SCENE_RECORD, NULL);
    rbt_text_add_bytes(t, INTRODUCTION, strlen(INTRODUCTION));
    for (size_t i = 0; ok && i < d.count; i++) {
        const rbt_record *record = d.items[i].record;
        rbt_text_add(t, "\n## %s\n\n%s\n", d.items[i].name, record ? record->doc : d.items[i].variants->doc);
        if (record) write_record(t, &d, record);
        else write_variants(t, &d, d.items[i].variants);
    }
    rbt_definitions_free(&d);
    return ok && !t->failed;
}
