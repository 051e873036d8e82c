#include "scene/former_names.h"

#include <string.h>

typedef struct former_name {
    const char *key;  // of a choice: the key whose value was renamed; else the former key
    const char *before, *now;
    const char *warning;
} former_name;

#define KEY(before, now)                                                                                             \
    { before, before, now, "the key \"" before "\" is called \"" now "\" now" }
#define CHOICE(key, before, now)                                                                                     \
    { key, before, now, key " \"" before "\" is called \"" now "\" now" }

static const former_name NAMES[] = {
    KEY("max_cuts", "max_halvings"),      KEY("center", "centre"),    KEY("vague", "slack"),
    KEY("most_moments", "max_moments"),   KEY("lag", "rotation_lag"), CHOICE("solver", "kept", "lagged"),
    CHOICE("solver", "reused", "cached"),
};
enum { COUNT = sizeof NAMES / sizeof NAMES[0] };

static bool is_choice(const former_name *name) { return strcmp(name->key, name->before) != 0; }

const char *rbt_former_key(const char *key, uint32_t *found) {
    for (int i = 0; i < COUNT; i++)
        if (!is_choice(&NAMES[i]) && strcmp(NAMES[i].before, key) == 0) {
            *found |= 1u << i;
            return NAMES[i].now;
        }
    return NULL;
}

const char *rbt_former_name_warning(int i) { return i >= 0 && i < COUNT ? NAMES[i].warning : NULL; }

static bool replace_in(json_t *object, int i, uint32_t *found) {
    const former_name *name = &NAMES[i];
    json_t *value = json_object_get(object, name->key);
    if (!value) return true;
    if (is_choice(name)) {
        const char *text = json_string_value(value);
        if (!text || strcmp(text, name->before) != 0) return true;
        *found |= 1u << i;
        return json_object_set_new(object, name->key, json_string(name->now)) == 0;
    }
    *found |= 1u << i;
    if (!json_object_get(object, name->now) && json_object_set(object, name->now, value) != 0) return false;
    return json_object_del(object, name->before) == 0;
}

bool rbt_former_names_replace(json_t *root, uint32_t *found) {
    bool good = true;
    for (int i = 0; json_is_object(root) && good && i < COUNT; i++) good = replace_in(root, i, found);
    for (void *i = json_object_iter(root); good && i; i = json_object_iter_next(root, i))
        good = rbt_former_names_replace(json_object_iter_value(i), found);
    for (size_t i = 0; good && i < json_array_size(root); i++)
        good = rbt_former_names_replace(json_array_get(root, i), found);
    return good;
}
