#include "base/record.h"

#include <stdio.h>
#include <string.h>

size_t rbt_field_size(const rbt_field *field) {
    switch (field->kind) {
    case RBT_BOOL: return sizeof(bool);
    case RBT_INT:
    case RBT_CHOICE: return sizeof(int);
    case RBT_REAL: return sizeof(double);
    case RBT_VEC3: return 3 * sizeof(double);
    case RBT_INT3: return 3 * sizeof(int);
    case RBT_TEXT: return sizeof(const char *);
    case RBT_RECORD: return field->of.record->size;
    case RBT_OPTIONAL: return sizeof(void *);
    case RBT_VARIANT: return sizeof(rbt_variant);
    default: return sizeof(RBT_LIST(void *));
    }
}

void rbt_record_default(const rbt_record *record, void *data) {
    memset(data, 0, record->size);
    for (int i = 0; i < record->field_count; i++) {
        const rbt_field *f = &record->fields[i];
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

void rbt_field_limits(const rbt_field *field, char *text, size_t size) {
    char low[48] = "", high[48] = "";
    bool limited = field->min != 0 || field->max != 0 || (field->flags & RBT_ABOVE);
    if (limited && isfinite(field->min))
        snprintf(low, sizeof low, "%s %g", field->flags & RBT_ABOVE ? "above" : "at least", field->min);
    if (limited && isfinite(field->max) && field->max > field->min)
        snprintf(high, sizeof high, "%s %g", field->flags & RBT_BELOW ? "below" : "at most", field->max);
    snprintf(text, size, "%s%s%s", low, low[0] && high[0] ? " and " : "", high);
}
