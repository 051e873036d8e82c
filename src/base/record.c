#include "base/record.h"

#include <stdio.h>
#include <string.h>

size_t rbt_field_size(const rbt_field *field) {
    switch (field->kind) {
    case RBT_BOOL: return sizeof(bool);
    case RBT_INT:
    case RBT_CHOICE:
    case RBT_CHOICE_BY: return sizeof(int);
    case RBT_REAL: return sizeof(double);
    case RBT_VEC3: return 3 * sizeof(double);
    case RBT_INT3: return 3 * sizeof(int);
    case RBT_TEXT: return sizeof(const char *);
    case RBT_RECORD: return field->of.record->size;
    case RBT_OPTIONAL:
    case RBT_RECORD_BY: return sizeof(void *);
    case RBT_VARIANT: return sizeof(rbt_variant);
    default: return sizeof(RBT_LIST(void *));
    }
}

size_t rbt_field_item_size(const rbt_field *field) {
    switch (field->kind) {
    case RBT_INTS: return sizeof(int);
    case RBT_REALS: return sizeof(double);
    case RBT_VEC3S: return 3 * sizeof(double);
    case RBT_TEXTS: return sizeof(const char *);
    case RBT_RECORDS: return field->of.record->size;
    default: return sizeof(rbt_variant);
    }
}

uint64_t rbt_record_cookie(const rbt_record *record) {
    uint64_t hash = 0xcbf29ce484222325u ^ record->size;  // FNV-1a
    for (const char *c = record->name; *c; c++) hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    return hash;
}

void rbt_record_default(const rbt_record *record, void *data) {
    memset(data, 0, record->size);
    if (record->cookie) *(uint64_t *)data = rbt_record_cookie(record);
    for (int i = 0; i < record->field_count; i++) {
        const rbt_field *f = &record->fields[i];
        if (f->flags & RBT_NOT_KEPT) continue;
        char *at = (char *)data + f->offset;
        switch (f->kind) {
        case RBT_BOOL: *(bool *)at = f->fallback[0] != 0; break;
        case RBT_INT:
        case RBT_CHOICE: *(int *)at = (int)f->fallback[0]; break;
        case RBT_REAL: *(double *)at = f->fallback[0]; break;
        case RBT_VEC3: memcpy(at, f->fallback, sizeof f->fallback); break;
        case RBT_INT3:
            for (int k = 0; k < 3; k++) ((int *)at)[k] = (int)f->fallback[k];
            break;
        case RBT_TEXT: *(const char **)at = f->fallback_text; break;
        case RBT_RECORD: rbt_record_default(f->of.record, at); break;
        case RBT_VARIANT: ((rbt_variant *)at)->which = -1; break;
        default: break;
        }
    }
}

static bool is_limited(const rbt_field *f) { return f->min != 0 || f->max != 0 || (f->flags & RBT_ABOVE); }

bool rbt_field_low(const rbt_field *field, double *limit) {
    *limit = field->min;
    return is_limited(field) && isfinite(field->min);
}

bool rbt_field_high(const rbt_field *field, double *limit) {
    *limit = field->max;
    return is_limited(field) && isfinite(field->max) &&
           (field->max > field->min || (field->max == field->min && field->max != 0));
}

bool rbt_field_allows(const rbt_field *field, double value) {
    double limit;
    if (rbt_field_low(field, &limit) && (field->flags & RBT_ABOVE ? !(value > limit) : !(value >= limit)))
        return false;
    if (rbt_field_high(field, &limit) && (field->flags & RBT_BELOW ? !(value < limit) : !(value <= limit)))
        return false;
    return !(field->flags & RBT_NOT_ZERO) || value != 0;
}

void rbt_field_limits(const rbt_field *field, char *text, size_t size) {
    double limit;
    char low[48] = "", high[48] = "", number[32];
    if (rbt_field_low(field, &limit))
        snprintf(low, sizeof low, "%s %s", field->flags & RBT_ABOVE ? "above" : "at least",
                 rbt_text_number(limit, number));
    if (rbt_field_high(field, &limit))
        snprintf(high, sizeof high, "%s %s", field->flags & RBT_BELOW ? "below" : "at most",
                 rbt_text_number(limit, number));
    if (high[0] && field->min == field->max) {
        snprintf(text, size, "exactly %s", rbt_text_number(limit, number));
        return;
    }
    snprintf(text, size, "%s%s%s%s%s", low, low[0] && high[0] ? " and " : "", high,
             (low[0] || high[0]) && (field->flags & RBT_NOT_ZERO) ? " and " : "",
             field->flags & RBT_NOT_ZERO ? "not 0" : "");
}

const rbt_field *rbt_record_field(const rbt_record *record, const char *name) {
    for (int i = 0; i < record->field_count; i++)
        if (strcmp(record->fields[i].name, name) == 0) return &record->fields[i];
    return NULL;
}

int rbt_record_sibling(const rbt_record *record, const rbt_field *field, const void *data) {
    const rbt_field *sibling = rbt_record_field(record, field->of.by->sibling);
    return sibling ? *(const int *)((const char *)data + sibling->offset) : -1;
}

// ---- Copies

static bool copy_text(rbt_arena *arena, const char **at) {
    return !*at || (*at = rbt_arena_text(arena, *at)) != NULL;
}

// What a pointer to a struct points to, and all below it
static bool copy_pointed(const rbt_record *record, rbt_arena *arena, const void **at) {
    if (!*at || !record) return true;
    void *copy = rbt_arena_take(arena, 1, record->size);
    const void *from = *at;
    *at = copy;
    return copy && rbt_record_copy(record, arena, from, copy);
}

static bool copy_below(const rbt_record *record, const void *data, const rbt_field *f, rbt_arena *arena, void *at);

static bool copy_variant(const rbt_variants *variants, rbt_arena *arena, rbt_variant *variant) {
    const rbt_field *f = variant->which < 0 ? NULL : variants->alternative(variant->which);
    if (!f) return true;
    if (f->kind == RBT_TEXT) return (variant->value = rbt_arena_text(arena, variant->value)) != NULL;
    void *copy = rbt_arena_take(arena, 1, rbt_field_size(f));
    if (!copy) return false;
    memcpy(copy, variant->value, rbt_field_size(f));
    variant->value = copy;
    return copy_below(NULL, NULL, f, arena, copy);
}

static bool copy_list(const rbt_field *f, rbt_arena *arena, void *at) {
    RBT_LIST(char) list;
    memcpy(&list, at, sizeof list);
    size_t size = rbt_field_item_size(f);
    char *items = rbt_arena_take(arena, list.count, size);
    if (!items) return false;
    if (list.count) memcpy(items, list.items, list.count * size);
    list.items = items;
    memcpy(at, &list, sizeof list);
    for (size_t i = 0; i < list.count; i++) {
        void *item = items + i * size;
        if (f->kind == RBT_TEXTS     ? !copy_text(arena, item)
            : f->kind == RBT_RECORDS ? !rbt_record_copy(f->of.record, arena, item, item)
                                     : f->kind == RBT_VARIANTS && !copy_variant(f->of.variants, arena, item))
            return false;
    }
    return true;
}

// `at` is a copy already, but points to what the original points to.
static bool copy_below(const rbt_record *record, const void *data, const rbt_field *f, rbt_arena *arena, void *at) {
    switch (f->kind) {
    case RBT_TEXT: return copy_text(arena, at);
    case RBT_RECORD: return rbt_record_copy(f->of.record, arena, at, at);
    case RBT_OPTIONAL: return copy_pointed(f->of.record, arena, at);
    case RBT_RECORD_BY: return copy_pointed(f->of.by->record(rbt_record_sibling(record, f, data)), arena, at);
    case RBT_VARIANT: return copy_variant(f->of.variants, arena, at);
    case RBT_INTS:
    case RBT_REALS:
    case RBT_VEC3S:
    case RBT_TEXTS:
    case RBT_RECORDS:
    case RBT_VARIANTS: return copy_list(f, arena, at);
    default: return true;
    }
}

bool rbt_record_copy(const rbt_record *record, rbt_arena *arena, const void *from, void *to) {
    if (from != to) memcpy(to, from, record->size);
    for (int i = 0; i < record->field_count; i++) {
        const rbt_field *f = &record->fields[i];
        if (!(f->flags & RBT_NOT_KEPT) && !copy_below(record, to, f, arena, (char *)to + f->offset)) return false;
    }
    return true;
}

bool rbt_record_same(const rbt_record *record, const void *a, const void *b) {
    for (int i = 0; i < record->field_count; i++) {
        const rbt_field *f = &record->fields[i];
        const char *first = (const char *)a + f->offset, *second = (const char *)b + f->offset;
        if ((f->flags & RBT_NOT_KEPT) || memcmp(first, second, rbt_field_size(f)) == 0) continue;
        if (f->kind != RBT_TEXT) return false;
        const char *text = *(const char *const *)first, *other = *(const char *const *)second;
        if (!text || !other || strcmp(text, other) != 0) return false;
    }
    return true;
}
