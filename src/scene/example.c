// Examples and defaults as JSON, from the tables.
#include "scene/schema.h"
#include "scene/table.h"

static void write_number(rbt_text *t, double value) {
    char number[32];
    rbt_text_add(t, "%s", rbt_text_number(value, number));
}

static void write_three(rbt_text *t, const double value[3]) {
    for (int k = 0; k < 3; k++) {
        rbt_text_add(t, k ? ", " : "[");
        write_number(t, value[k]);
    }
    rbt_text_add(t, "]");
}

bool rbt_default_write(rbt_text *t, const rbt_field *f) {
    double value = f->fallback[0];
    if (f->flags & (RBT_REQUIRED | RBT_NOT_KEPT)) return false;
    switch (f->kind) {
    case RBT_BOOL: rbt_text_add(t, value != 0 ? "true" : "false"); return true;
    case RBT_INT:
        if ((f->flags & RBT_AUTO) && value == -1) rbt_text_add(t, "\"auto\"");
        else rbt_text_add(t, "%d", (int)value);
        return true;
    case RBT_REAL:
        if (isfinite(value)) write_number(t, value);
        else rbt_text_add(t, isnan(value) ? "\"auto\"" : "\"never\"");
        return true;
    case RBT_VEC3:
    case RBT_INT3: write_three(t, f->fallback); return true;
    case RBT_TEXT:
        if (f->fallback_text) rbt_text_add_json(t, f->fallback_text);
        return f->fallback_text != NULL;
    case RBT_CHOICE: rbt_text_add_json(t, value < 0 ? "auto" : f->of.names((int)value)); return true;
    default: return false;
    }
}

// A number within the limits: the default if it is, else one that is easy to read
static double example_number(const rbt_field *f) {
    double low = 0, high = 0;
    if (isfinite(f->fallback[0]) && rbt_field_allows(f, f->fallback[0])) return f->fallback[0];
    bool has_low = rbt_field_low(f, &low), has_high = rbt_field_high(f, &high);
    const double tries[] = {1, has_low ? low : 1, has_high ? high : 1, has_low ? low + 1 : 1,
                            has_high ? high - 1 : 1};
    for (int i = 0; i < 5; i++)
        if (rbt_field_allows(f, tries[i])) return tries[i];
    return (low + high) / 2;
}

static int default_choice(const rbt_record *record, const rbt_field *f) {
    return (int)rbt_record_field(record, f->of.by->sibling)->fallback[0];
}

static void write_record(rbt_text *t, const rbt_record *record, bool full) {
    bool first = true, has_one_of = false;
    rbt_text_add(t, "{");
    for (int i = 0; i < record->field_count; i++) {
        const rbt_field *f = &record->fields[i];
        bool is_one_of = f->flags & RBT_ONE_OF;
        if (is_one_of ? has_one_of : !full && !(f->flags & RBT_REQUIRED)) continue;
        if (f->kind == RBT_CHOICE_BY && !f->of.by->names(default_choice(record, f))) continue;
        if (f->kind == RBT_RECORD_BY && !f->of.by->record(default_choice(record, f))) continue;
        has_one_of = has_one_of || is_one_of;
        rbt_text_add(t, "%s\"%s\": ", first ? "" : ", ", f->name);
        rbt_example_write(t, record, f, false);
        first = false;
    }
    rbt_text_add(t, "}");
}

// The alternative that a text stands for if there is one, so that examples do not nest without end.
static void write_variant(rbt_text *t, const rbt_variants *variants) {
    const rbt_field *f = variants->alternative(variants->text_means >= 0 ? variants->text_means : 0);
    if (variants->text_means < 0) rbt_text_add(t, "{\"%s\": ", f->name);
    rbt_example_write(t, NULL, f, false);
    if (variants->text_means < 0) rbt_text_add(t, "}");
}

void rbt_example_write(rbt_text *t, const rbt_record *record, const rbt_field *f, bool full) {
    int which = 0;
    if (f->example) {
        rbt_text_add(t, "%s", f->example);
        return;
    }
    if (record && (f->kind == RBT_CHOICE_BY || f->kind == RBT_RECORD_BY)) which = default_choice(record, f);
    switch (f->kind) {
    case RBT_BOOL: rbt_text_add(t, f->fallback[0] != 0 ? "true" : "false"); break;
    case RBT_INT:
    case RBT_REAL:
        if (f->fallback[0] == INFINITY) rbt_text_add(t, "\"never\"");
        else if (isnan(f->fallback[0])) rbt_text_add(t, "\"auto\"");
        else write_number(t, example_number(f));
        break;
    case RBT_VEC3:
    case RBT_INT3: {
        double one = example_number(f), zero = rbt_field_allows(f, 0) ? 0 : one, made[3] = {one, zero, zero};
        bool usable = !(f->flags & RBT_REQUIRED);
        for (int k = 0; k < 3; k++) usable = usable && rbt_field_allows(f, f->fallback[k]);
        if (one == 0) made[0] = rbt_field_allows(f, 1) ? 1 : 0;
        write_three(t, usable ? f->fallback : made);
        break;
    }
    case RBT_TEXT:
        rbt_text_add_json(t, f->fallback_text ? f->fallback_text : f->of.names ? f->of.names(0) : f->name);
        break;
    case RBT_CHOICE: rbt_text_add_json(t, f->fallback[0] < 0 ? "auto" : f->of.names((int)f->fallback[0])); break;
    case RBT_CHOICE_BY: rbt_text_add_json(t, f->of.by->names(which) ? f->of.by->names(which)(0) : ""); break;
    case RBT_RECORD:
    case RBT_OPTIONAL: write_record(t, f->of.record, full); break;
    case RBT_RECORD_BY:
        if (f->of.by->record(which)) write_record(t, f->of.by->record(which), full);
        else rbt_text_add(t, "{}");
        break;
    case RBT_VARIANT: write_variant(t, f->of.variants); break;
    case RBT_INTS:
    case RBT_REALS:
        rbt_text_add(t, "[");
        write_number(t, example_number(f));
        rbt_text_add(t, "]");
        break;
    case RBT_VEC3S: rbt_text_add(t, "[[1, 0, 0]]"); break;
    case RBT_TEXTS: rbt_text_add(t, "[\"%s\"]", f->name); break;
    case RBT_RECORDS:
        rbt_text_add(t, "[");
        write_record(t, f->of.record, full);
        rbt_text_add(t, "]");
        break;
    case RBT_VARIANTS:
        rbt_text_add(t, "[");
        write_variant(t, f->of.variants);
        rbt_text_add(t, "]");
        break;
    }
}
