// Lists every record and every set of alternatives that a record can hold, each once, in the order of reading.
#include "base/memory.h"
#include "scene/table.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const char *rbt_definition_name(const rbt_definitions *definitions, const void *record_or_variants) {
    for (size_t i = 0; i < definitions->count; i++) {
        const rbt_definition *d = &definitions->items[i];
        if (d->record == record_or_variants || d->variants == record_or_variants) return d->name;
    }
    return NULL;
}

static bool is_taken(const rbt_definitions *definitions, const char *name) {
    for (size_t i = 0; i < definitions->count; i++)
        if (strcmp(definitions->items[i].name, name) == 0) return true;
    return false;
}

// Tables of other rooms choose their names without knowing of each other: a number keeps them apart.
static void choose_name(const rbt_definitions *definitions, const char *title, char name[64]) {
    char base[48];
    snprintf(base, sizeof base, "%s", title);
    for (char *c = base; *c; c++) *c = isalnum((unsigned char)*c) ? (char)tolower((unsigned char)*c) : '-';
    snprintf(name, 64, "%s", base);
    for (int i = 2; is_taken(definitions, name); i++) snprintf(name, 64, "%s-%d", base, i);
}

// false: it was there already, or there is no memory (error filled)
static bool add(rbt_definitions *definitions, const rbt_record *record, const rbt_variants *variants, bool *failed,
                rbt_error *error) {
    if (*failed || rbt_definition_name(definitions, record ? (const void *)record : variants)) return false;
    if (!rbt_array_reserve((void **)&definitions->items, &definitions->capacity, definitions->count + 1,
                           sizeof *definitions->items, "definitions", error)) {
        *failed = true;
        return false;
    }
    rbt_definition d = {.record = record, .variants = variants};
    choose_name(definitions, record ? record->name : variants->name, d.name);
    definitions->items[definitions->count++] = d;
    return true;
}

static void add_record(rbt_definitions *definitions, const rbt_record *record, bool *failed, rbt_error *error);

static void add_field(rbt_definitions *definitions, const rbt_record *record, const rbt_field *f, bool *failed,
                      rbt_error *error) {
    switch (f->kind) {
    case RBT_RECORD:
    case RBT_OPTIONAL:
    case RBT_RECORDS: add_record(definitions, f->of.record, failed, error); break;
    case RBT_VARIANT:
    case RBT_VARIANTS:
        if (!add(definitions, NULL, f->of.variants, failed, error)) return;
        for (int i = 0; f->of.variants->alternative(i); i++)
            add_field(definitions, NULL, f->of.variants->alternative(i), failed, error);
        break;
    case RBT_RECORD_BY: {
        const rbt_field *sibling = rbt_record_field(record, f->of.by->sibling);
        for (int i = 0; sibling && sibling->of.names(i); i++)
            if (f->of.by->record(i)) add_record(definitions, f->of.by->record(i), failed, error);
        break;
    }
    default: break;
    }
}

static void add_record(rbt_definitions *definitions, const rbt_record *record, bool *failed, rbt_error *error) {
    if (!add(definitions, record, NULL, failed, error)) return;
    for (int i = 0; i < record->field_count; i++) add_field(definitions, record, &record->fields[i], failed, error);
}

bool rbt_definitions_collect(rbt_definitions *definitions, const rbt_record *root, rbt_error *error) {
    bool failed = false;
    *definitions = (rbt_definitions){0};
    add_record(definitions, root, &failed, error);
    return !failed;
}

void rbt_definitions_free(rbt_definitions *definitions) {
    free(definitions->items);
    *definitions = (rbt_definitions){0};
}
