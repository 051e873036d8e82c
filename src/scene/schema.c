// The JSON Schema (draft 2020-12) of the scene format, made from the tables. What the parser accepts is valid for the
// schema; the schema leaves out only what depends on several values at once, as names that must differ.
#include "scene/schema.h"

#include "scene/table.h"

#include <string.h>

// ---- Values

static void write_limit(rbt_text *t, const char *key, double value) {
    char number[32];
    rbt_text_add(t, ", \"%s\": %s", key, rbt_text_number(value, number));
}

static void write_number_type(rbt_text *t, const rbt_field *f, const char *type) {
    double limit;
    rbt_text_add(t, "\"type\": \"%s\"", type);
    if (rbt_field_low(f, &limit)) write_limit(t, f->flags & RBT_ABOVE ? "exclusiveMinimum" : "minimum", limit);
    if (rbt_field_high(f, &limit)) write_limit(t, f->flags & RBT_BELOW ? "exclusiveMaximum" : "maximum", limit);
    if (f->flags & RBT_NOT_ZERO) rbt_text_add(t, ", \"not\": {\"const\": 0}");
}

static void write_number(rbt_text *t, const rbt_field *f, const char *type) {
    const char *word = f->flags & RBT_AUTO ? "auto" : f->flags & RBT_NEVER ? "never" : NULL;
    if (word) rbt_text_add(t, "\"anyOf\": [{\"const\": \"%s\"}, {", word);
    write_number_type(t, f, type);
    if (word) rbt_text_add(t, "}]");
}

static void write_vector(rbt_text *t, const rbt_field *f, const char *type) {
    bool one_for_all = f->flags & RBT_ONE_FOR_ALL;
    if (one_for_all) {
        rbt_text_add(t, "\"anyOf\": [{");
        write_number_type(t, f, type);
        rbt_text_add(t, "}, {");
    }
    rbt_text_add(t, "\"type\": \"array\", \"items\": {");
    write_number_type(t, f, type);
    rbt_text_add(t, "}, \"minItems\": 3, \"maxItems\": 3");
    if (f->flags & RBT_NOT_EMPTY) rbt_text_add(t, ", \"not\": {\"const\": [0, 0, 0]}");
    if (one_for_all) rbt_text_add(t, "}]");
}

// flags: those of the field
static void write_enum(rbt_text *t, rbt_name_of names, unsigned flags) {
    bool has_auto = !(flags & RBT_AUTO);
    rbt_text_add(t, "\"enum\": [");
    for (int i = 0; names(i); i++) {
        if (i) rbt_text_add(t, ", ");
        rbt_text_add_json(t, names(i));
        has_auto |= strcmp(names(i), "auto") == 0;
    }
    rbt_text_add(t, "%s]", has_auto ? "" : ", \"auto\"");
}

static void write_text(rbt_text *t, const rbt_field *f) {
    if (f->of.names) write_enum(t, f->of.names, 0);
    else rbt_text_add(t, "\"type\": \"string\"%s", f->flags & RBT_NOT_EMPTY ? ", \"minLength\": 1" : "");
}

static void write_reference(rbt_text *t, const rbt_definitions *d, const void *record_or_variants) {
    rbt_text_add(t, "\"$ref\": \"#/$defs/%s\"", rbt_definition_name(d, record_or_variants));
}

static void write_item(rbt_text *t, const rbt_definitions *d, const rbt_field *list) {
    rbt_field item = *list, *f = &item;
    item.flags &= ~(unsigned)RBT_NOT_EMPTY;  // it is the list that must not be empty
    switch (f->kind) {
    case RBT_INTS: write_number_type(t, f, "integer"); break;
    case RBT_REALS: write_number_type(t, f, "number"); break;
    case RBT_TEXTS: write_text(t, f); break;
    case RBT_RECORDS: write_reference(t, d, f->of.record); break;
    case RBT_VARIANTS: write_reference(t, d, f->of.variants); break;
    default: write_vector(t, f, "number"); break;
    }
}

static void write_type(rbt_text *t, const rbt_definitions *d, const rbt_field *f) {
    switch (f->kind) {
    case RBT_BOOL: rbt_text_add(t, "\"type\": \"boolean\""); break;
    case RBT_INT: write_number(t, f, "integer"); break;
    case RBT_REAL: write_number(t, f, "number"); break;
    case RBT_VEC3: write_vector(t, f, "number"); break;
    case RBT_INT3: write_vector(t, f, "integer"); break;
    case RBT_TEXT: write_text(t, f); break;
    case RBT_CHOICE: write_enum(t, f->of.names, f->flags); break;
    case RBT_CHOICE_BY: rbt_text_add(t, "\"type\": \"string\""); break;
    case RBT_RECORD_BY: rbt_text_add(t, "\"type\": \"object\""); break;
    case RBT_RECORD:
    case RBT_OPTIONAL: write_reference(t, d, f->of.record); break;
    case RBT_VARIANT: write_reference(t, d, f->of.variants); break;
    default:
        rbt_text_add(t, "\"type\": \"array\", \"items\": {");
        write_item(t, d, f);
        rbt_text_add(t, "}%s", f->flags & RBT_NOT_EMPTY ? ", \"minItems\": 1" : "");
        break;
    }
}

static void write_description(rbt_text *t, const char *doc, const char *unit) {
    rbt_text whole = {0};
    rbt_text_add(&whole, "%s%s%s%s", doc, unit ? " [" : "", unit ? unit : "", unit ? "]" : "");
    rbt_text_add(t, "\"description\": ");
    if (whole.failed) t->failed = true;
    else rbt_text_add_json(t, whole.text);
    rbt_text_free(&whole);
}

static void write_property(rbt_text *t, const rbt_definitions *d, const rbt_field *f) {
    rbt_text value = {0};
    rbt_text_add(t, "{");
    write_description(t, f->doc, f->unit);
    rbt_text_add(t, ", ");
    write_type(t, d, f);
    if (rbt_default_write(&value, f)) rbt_text_add(t, ", \"default\": %s", value.text ? value.text : "null");
    if (value.failed) t->failed = true;
    rbt_text_free(&value);
    rbt_text_add(t, "}");
}

// ---- Records and alternatives

static void write_required(rbt_text *t, const rbt_record *record) {
    int count = 0;
    for (int i = 0; i < record->field_count; i++) {
        if (!(record->fields[i].flags & RBT_REQUIRED)) continue;
        rbt_text_add(t, count++ ? ", " : ",\n      \"required\": [");
        rbt_text_add_json(t, record->fields[i].name);
    }
    if (count) rbt_text_add(t, "]");
}

static void write_one_of(rbt_text *t, const rbt_record *record) {
    int count = 0;
    for (int i = 0; i < record->field_count; i++) {
        if (!(record->fields[i].flags & RBT_ONE_OF)) continue;
        rbt_text_add(t, count++ ? ", " : ",\n      \"oneOf\": [");
        rbt_text_add(t, "{\"required\": [\"%s\"]}", record->fields[i].name);
    }
    if (count) rbt_text_add(t, "]");
}

// What fields may be, for one choice of their sibling
static void write_dependents(rbt_text *t, const rbt_definitions *d, const rbt_record *record, const char *sibling,
                             int which) {
    int count = 0;
    for (int i = 0; i < record->field_count; i++) {
        const rbt_field *f = &record->fields[i];
        bool by_name = f->kind == RBT_CHOICE_BY, by_record = f->kind == RBT_RECORD_BY;
        if (!(by_name || by_record) || strcmp(f->of.by->sibling, sibling) != 0) continue;
        rbt_text_add(t, "%s\"%s\": ", count++ ? ", " : "", f->name);
        if (by_name && f->of.by->names(which)) {
            rbt_text_add(t, "{");
            write_enum(t, f->of.by->names(which), f->flags);
            rbt_text_add(t, "}");
        } else if (by_name) {
            rbt_text_add(t, f->flags & RBT_AUTO ? "{\"const\": \"auto\"}" : "false");
        } else if (f->of.by->record(which)) {
            rbt_text_add(t, "{");
            write_reference(t, d, f->of.by->record(which));
            rbt_text_add(t, "}");
        } else {
            rbt_text_add(t, "{\"maxProperties\": 0}");
        }
    }
}

static void write_dependences(rbt_text *t, const rbt_definitions *d, const rbt_record *record) {
    const char *sibling = NULL;
    for (int i = 0; i < record->field_count && !sibling; i++) {
        const rbt_field *f = &record->fields[i];
        if (f->kind == RBT_CHOICE_BY || f->kind == RBT_RECORD_BY) sibling = f->of.by->sibling;
    }
    const rbt_field *chooser = sibling ? rbt_record_field(record, sibling) : NULL;
    if (!chooser) return;
    rbt_text_add(t, ",\n      \"allOf\": [");
    int first = chooser->flags & RBT_AUTO ? -1 : 0;
    for (int which = first; which < 0 || chooser->of.names(which); which++) {
        bool is_default = which == (int)chooser->fallback[0];
        rbt_text_add(t, "%s\n        {\"if\": {\"properties\": {\"%s\": {\"const\": \"%s\"}}",
                     which > first ? "," : "", sibling, which < 0 ? "auto" : chooser->of.names(which));
        if (!is_default) rbt_text_add(t, ", \"required\": [\"%s\"]", sibling);
        rbt_text_add(t, "},\n         \"then\": {\"properties\": {");
        write_dependents(t, d, record, sibling, which);
        rbt_text_add(t, "}}}");
    }
    rbt_text_add(t, "\n      ]");
}

static void write_record(rbt_text *t, const rbt_definitions *d, const rbt_record *record) {
    rbt_text_add(t, "{\n      \"type\": \"object\",\n      ");
    write_description(t, record->doc, NULL);
    rbt_text_add(t, ",\n      \"properties\": {");
    for (int i = 0; i < record->field_count; i++) {
        rbt_text_add(t, "%s\n        \"%s\": ", i ? "," : "", record->fields[i].name);
        write_property(t, d, &record->fields[i]);
    }
    rbt_text_add(t, "\n      }");
    write_required(t, record);
    write_one_of(t, record);
    write_dependences(t, d, record);
    rbt_text_add(t, ",\n      \"additionalProperties\": false\n    }");
}

static void write_variants(rbt_text *t, const rbt_definitions *d, const rbt_variants *variants) {
    rbt_text_add(t, "{\n      ");
    write_description(t, variants->doc, NULL);
    rbt_text_add(t, ",\n      \"oneOf\": [");
    if (variants->text_means >= 0) {
        const rbt_field *f = variants->alternative(variants->text_means);
        rbt_text_add(t, "\n        {");
        write_description(t, f->doc, f->unit);
        rbt_text_add(t, ", ");
        write_type(t, d, f);
        rbt_text_add(t, "},");
    }
    for (int i = 0; variants->alternative(i); i++) {
        const rbt_field *f = variants->alternative(i);
        rbt_text_add(t, "%s\n        {\"type\": \"object\", \"properties\": {\"%s\": {", i ? "," : "", f->name);
        write_description(t, f->doc, f->unit);
        rbt_text_add(t, ", ");
        write_type(t, d, f);
        rbt_text_add(t, "}}, \"required\": [\"%s\"], \"additionalProperties\": false}", f->name);
    }
    rbt_text_add(t, "\n      ]\n    }");
}

bool rbt_schema_write_of(rbt_text *t, const rbt_record *root, const char *title) {
    rbt_definitions d;
    bool ok = rbt_definitions_collect(&d, root, NULL);
    if (ok) {
        rbt_text_add(t, "{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n  \"title\": ");
        rbt_text_add_json(t, title);
        rbt_text_add(t, ",\n  \"$ref\": \"#/$defs/%s\",\n  \"$defs\": {", d.items[0].name);
    }
    for (size_t i = 0; ok && i < d.count; i++) {
        rbt_text_add(t, "%s\n    \"%s\": ", i ? "," : "", d.items[i].name);
        if (d.items[i].record) write_record(t, &d, d.items[i].record);
        else write_variants(t, &d, d.items[i].variants);
    }
    rbt_definitions_free(&d);
    rbt_text_add(t, "\n  }\n}\n");
    return ok && !t->failed;
}

bool rbt_schema_write(rbt_text *t) { return rbt_schema_write_of(t, &RBT_SCENE_RECORD, "rubato scene, version 1"); }
