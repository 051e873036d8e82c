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

void rbt_record_default(const rbt_record *record, void *data) {
    memset(data, 0, record->size);
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
