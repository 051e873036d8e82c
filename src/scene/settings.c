// Settings "path=value" from outside (--set on the command line), put into the JSON tree before it is read. The path
// is followed along the tables and the tree at once: the tables know which names exist, the tree what is there. The
// value null, which no key of a scene can have, takes a key out, so that its default counts again.
#include "scene/former_names.h"
#include "scene/parse.h"
#include "scene/table.h"

#include <limits.h>
#include <string.h>

typedef struct place {
    rbt_field field;           // describes the value
    const rbt_record *record;  // the record it is a field of, and that record's object; NULL for items
    json_t *owner;
    json_t *value;  // NULL once the path leaves what the scene has
} place;

// One step of a path: a key or, if `key` is empty, an item.
typedef struct part {
    char key[64];
    size_t item;
} part;

static bool fail_form(rbt_walk *walk, const char *setting) {
    char quoted[64];
    rbt_walk_back(walk, 0);
    return rbt_walk_fail(walk, "the setting %s is not of the form path=value, as bodies[0].material.young=1e6",
                         rbt_walk_quote(setting, quoted));
}

// Reads the next part and moves behind it; false if the text is no path.
static bool next_part(const char **at, const char *end, bool first, part *p) {
    const char *c = *at;
    p->key[0] = '\0';
    if (!first && *c == '[') {
        size_t value = 0, digits = 0;
        for (c++; c < end && *c >= '0' && *c <= '9'; c++, digits++)
            value = value < INT_MAX / 10 ? 10 * value + (size_t)(*c - '0') : INT_MAX;
        if (!digits || c >= end || *c != ']') return false;
        p->item = value;
        *at = c + 1;
        return true;
    }
    if (!first && *c++ != '.') return false;
    size_t length = 0;
    while (c + length < end && c[length] != '.' && c[length] != '[') length++;
    if (!length || length >= sizeof p->key) return false;
    memcpy(p->key, c, length);
    p->key[length] = '\0';
    *at = c + length;
    return true;
}

// The record of an RBT_RECORD_BY field by what its sibling is in the tree
static const rbt_record *record_by(const place *p) {
    const rbt_field *sibling = rbt_record_field(p->record, p->field.of.by->sibling);
    json_t *value = sibling ? json_object_get(p->owner, sibling->name) : NULL;
    if (!sibling) return NULL;
    return p->field.of.by->record(value ? rbt_json_choice(value, sibling->of.names) : (int)sibling->fallback[0]);
}

static bool into_key(rbt_walk *walk, place *p, const char *key) {
    const rbt_field *found = NULL;
    const rbt_record *record = NULL;
    switch (p->field.kind) {
    case RBT_RECORD:
    case RBT_OPTIONAL: record = p->field.of.record; break;
    case RBT_RECORD_BY: record = record_by(p); break;
    case RBT_VARIANT: {
        int which = rbt_variants_find(p->field.of.variants, key);
        if (which < 0) return rbt_walk_unknown_alternative(walk, key, p->field.of.variants);
        found = p->field.of.variants->alternative(which);
        break;
    }
    default: return rbt_walk_fail(walk, "has no keys, so \"%s\" cannot be set", key);
    }
    if (!found) found = record ? rbt_record_field(record, key) : NULL;
    const char *now = found ? NULL : rbt_former_key(key, &walk->former_names);
    if (now && record && rbt_record_field(record, now)) return into_key(walk, p, now);
    if (!found) return rbt_walk_unknown_key(walk, key, record);
    if (!json_is_object(p->value)) {
        char seen[96];
        return rbt_walk_fail(walk, "is %s in the scene, so \"%s\" cannot be set", rbt_json_seen(p->value, seen), key);
    }
    *p = (place){*found, record, p->value, json_object_get(p->value, key)};
    rbt_walk_key(walk, key);
    return true;
}

static bool into_item(rbt_walk *walk, place *p, size_t item) {
    rbt_field f = p->field;
    switch (f.kind) {
    case RBT_INT3:
    case RBT_INTS: f.kind = RBT_INT; break;
    case RBT_VEC3:
    case RBT_REALS: f.kind = RBT_REAL; break;
    case RBT_VEC3S: f.kind = RBT_VEC3; break;
    case RBT_TEXTS: f.kind = RBT_TEXT; break;
    case RBT_RECORDS: f.kind = RBT_RECORD; break;
    case RBT_VARIANTS: f.kind = RBT_VARIANT; break;
    default: return rbt_walk_fail(walk, "is no list, so item %zu cannot be set", item);
    }
    size_t count = json_array_size(p->value);
    bool is_vector = p->field.kind == RBT_VEC3 || p->field.kind == RBT_INT3;
    if (!json_is_array(p->value) || item > count || (item == count && is_vector))
        return rbt_walk_fail(walk, "has %zu items, so item %zu (counted from 0) cannot be set", count, item);
    *p = (place){f, NULL, p->value, json_array_get(p->value, item)};
    rbt_walk_item(walk, item);
    return true;
}

static bool holds_others(const rbt_field *f) {
    return f->kind != RBT_BOOL && f->kind != RBT_INT && f->kind != RBT_REAL && f->kind != RBT_TEXT &&
           f->kind != RBT_CHOICE && f->kind != RBT_CHOICE_BY;
}

// An empty object or list of the kind that the field asks for, or a vector of its defaults.
static json_t *new_container(const rbt_field *f) {
    switch (f->kind) {
    case RBT_RECORD:
    case RBT_OPTIONAL:
    case RBT_RECORD_BY:
    case RBT_VARIANT: return json_object();
    case RBT_VEC3: return json_pack("[fff]", f->fallback[0], f->fallback[1], f->fallback[2]);
    case RBT_INT3: return json_pack("[iii]", (int)f->fallback[0], (int)f->fallback[1], (int)f->fallback[2]);
    default: return json_array();
    }
}

// Puts a new value at the place that `last` led to, or takes what is there out; takes the reference.
static bool put(rbt_walk *walk, place *p, const part *last, json_t *value) {
    int failed = !value;
    if (json_is_null(value) && last->key[0]) {
        json_decref(value);
        json_object_del(p->owner, last->key);
        return true;
    }
    if (value && last->key[0]) failed = json_object_set_new(p->owner, last->key, value);
    else if (value && p->value) failed = json_array_set_new(p->owner, last->item, value);
    else if (value) failed = json_array_append_new(p->owner, value);
    p->value = value;
    return !failed || rbt_walk_fail(walk, "cannot be set: not enough memory");
}

static json_t *read_value(const rbt_field *f, const char *text) {
    json_t *value = json_loads(text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
    bool wants_text = f->kind == RBT_TEXT || f->kind == RBT_CHOICE || f->kind == RBT_CHOICE_BY;
    if (value && (!wants_text || json_is_string(value) || json_is_null(value))) return value;
    json_decref(value);
    return json_string(text);
}

bool rbt_setting_apply(rbt_walk *walk, const rbt_record *record, json_t *root, const char *setting) {
    const char *equals = strchr(setting, '='), *at = setting;
    place p = {.field = {.kind = RBT_RECORD, .of.record = record}, .value = root};
    if (!equals) return fail_form(walk, setting);
    part step = {{0}, 0};
    for (int depth = 0; at < equals; depth++) {
        bool first = depth == 0;
        if (depth > 2 * RBT_MAX_DEPTH) return rbt_walk_fail(walk, "the path of a setting is too long");
        // What the scene leaves out is made on the way; a plain value is not, and into_… says why it does not
        // continue.
        if (!p.value && holds_others(&p.field) && !put(walk, &p, &step, new_container(&p.field))) return false;
        if (!next_part(&at, equals, first, &step)) return fail_form(walk, setting);
        if (step.key[0] ? !into_key(walk, &p, step.key) : !into_item(walk, &p, step.item)) return false;
    }
    if (!p.owner) return fail_form(walk, setting);
    json_t *value = read_value(&p.field, equals + 1);
    if (!value) return rbt_walk_fail(walk, "the value of a setting is no text in UTF-8");
    if (!put(walk, &p, &step, value)) return false;
    rbt_walk_back(walk, 0);
    return true;
}
