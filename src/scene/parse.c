// JSON to description structs, by the tables alone: this file knows kinds of values, not one key of a scene besides
// the version. Everything it makes lives in one arena. Limits are checked afterwards on the finished structs
// (check.c), so that scenes made by programs meet the same checks.
#include "scene/parse.h"

#include "base/file.h"
#include "scene/former_names.h"
#include "scene/json_room.h"
#include "scene/table.h"

#include <limits.h>
#include <string.h>

struct rbt_scene_file {
    rbt_arena *arena;
    rbt_scene scene;
    const char *text;       // JSON, settings applied, former names replaced
    uint32_t former_names;  // bit i: name i of the table was used (scene/former_names.h)
};

typedef struct reader {
    rbt_walk *walk;
    rbt_arena *arena;
} reader;

static bool read_record(reader *r, const rbt_record *record, json_t *value, void *data);
static bool read_variant(reader *r, const rbt_variants *variants, json_t *value, rbt_variant *variant);

// ---- Words about values

const char *rbt_json_seen(const json_t *value, char buffer[96]) {
    char text[64];
    switch (json_typeof(value)) {
    case JSON_STRING: snprintf(buffer, 96, "the text %s", rbt_walk_quote(json_string_value(value), text)); break;
    case JSON_INTEGER: snprintf(buffer, 96, "%lld", (long long)json_integer_value(value)); break;
    case JSON_REAL: snprintf(buffer, 96, "%s", rbt_text_number(json_real_value(value), text)); break;
    case JSON_TRUE: snprintf(buffer, 96, "true"); break;
    case JSON_FALSE: snprintf(buffer, 96, "false"); break;
    case JSON_NULL: snprintf(buffer, 96, "null"); break;
    case JSON_ARRAY: snprintf(buffer, 96, "a list of %zu", json_array_size(value)); break;
    case JSON_OBJECT: snprintf(buffer, 96, "an object"); break;
    }
    return buffer;
}

static bool fail_kind(reader *r, const char *needed, const json_t *value) {
    char seen[96];
    return rbt_walk_fail(r->walk, "%s is needed, found %s", needed, rbt_json_seen(value, seen));
}

int rbt_json_choice(const json_t *value, rbt_name_of names) {
    const char *text = json_string_value(value);
    for (int i = 0; text && names && names(i); i++)
        if (strcmp(names(i), text) == 0) return i;
    return -1;
}

int rbt_variants_find(const rbt_variants *variants, const char *name) {
    for (int i = 0; variants->alternative(i); i++)
        if (strcmp(variants->alternative(i)->name, name) == 0) return i;
    return -1;
}

static void *take(reader *r, size_t count, size_t size) {
    void *memory = rbt_arena_take(r->arena, count, size);
    if (!memory) rbt_fail_memory(r->walk->error, count * size, "the scene");
    return memory;
}

// ---- Single values

static bool read_real(reader *r, const rbt_field *f, json_t *value, double *at) {
    bool may_auto = f->flags & RBT_AUTO, may_never = f->flags & RBT_NEVER;
    const char *text = json_string_value(value);
    if (json_is_number(value)) *at = json_number_value(value);
    else if (text && may_auto && strcmp(text, "auto") == 0) *at = NAN;
    else if (text && may_never && strcmp(text, "never") == 0) *at = INFINITY;
    else
        return fail_kind(r,
                         may_auto    ? "a number or \"auto\""
                         : may_never ? "a number or \"never\""
                                     : "a number",
                         value);
    return true;
}

static bool read_int(reader *r, const rbt_field *f, json_t *value, int *at) {
    bool may_auto = f->flags & RBT_AUTO;
    const char *text = json_string_value(value), *needed = may_auto ? "a whole number or \"auto\"" : "a whole number";
    if (text && may_auto && strcmp(text, "auto") == 0) {
        *at = -1;
        return true;
    }
    double number = json_number_value(value);
    if (!json_is_number(value) || number != floor(number)) return fail_kind(r, needed, value);
    if (number < INT_MIN || number > INT_MAX) {
        char seen[96];
        return rbt_walk_fail(r->walk, "must be at least %d and at most %d, found %s", INT_MIN, INT_MAX,
                             rbt_json_seen(value, seen));
    }
    // -1 is how "auto" is stored, so the number itself must not slip through where it is not allowed.
    if (may_auto && number == -1 && !rbt_field_allows(f, -1)) return fail_kind(r, needed, value);
    *at = (int)number;
    return true;
}

static bool read_text(reader *r, const rbt_field *f, json_t *value, const char **at) {
    const char *text = json_string_value(value);
    if (!text) return fail_kind(r, "a text", value);
    if (f->of.names && rbt_json_choice(value, f->of.names) < 0) {
        char begin[96];
        snprintf(begin, sizeof begin, "unknown %s", f->name);
        return rbt_walk_unknown(r->walk, begin, text, f->of.names);
    }
    // Up to the last slash of the scene's own name, if this one is a file name that does not start at the root
    const char *file = r->walk->file, *slash = file ? strrchr(file, '/') : NULL;
    size_t folder = slash && (f->flags & RBT_FILE) && text[0] && text[0] != '/' ? (size_t)(slash - file) + 1 : 0;
    char *copy = take(r, folder + json_string_length(value) + 1, 1);
    if (!copy) return false;
    if (folder) memcpy(copy, file, folder);
    memcpy(copy + folder, text, json_string_length(value) + 1);
    *at = copy;
    return true;
}

// What has a choice of that name itself means that one.
static bool is_auto(const rbt_field *f, json_t *value) {
    return (f->flags & RBT_AUTO) && strcmp(json_string_value(value), "auto") == 0;
}

static bool read_choice(reader *r, const rbt_field *f, json_t *value, int *at) {
    char begin[96];
    if (!json_is_string(value)) return fail_kind(r, "a text", value);
    *at = rbt_json_choice(value, f->of.names);
    if (*at < 0 && is_auto(f, value)) return true;
    snprintf(begin, sizeof begin, "unknown %s", f->name);
    return *at >= 0 || rbt_walk_unknown(r->walk, begin, json_string_value(value), f->of.names);
}

// The name of the sibling's choice, for messages
static const char *sibling_name(const rbt_record *record, const rbt_field *f, int which) {
    const rbt_field *sibling = rbt_record_field(record, f->of.by->sibling);
    return !sibling ? "" : which < 0 ? "auto" : sibling->of.names(which);
}

static bool read_choice_by(reader *r, const rbt_record *record, const void *data, const rbt_field *f, json_t *value,
                           int *at) {
    int which = rbt_record_sibling(record, f, data);
    rbt_name_of names = f->of.by->names(which);
    if (!json_is_string(value)) return fail_kind(r, "a text", value);
    char begin[160];
    snprintf(begin, sizeof begin, "%s \"%s\" has no %s", f->of.by->sibling, sibling_name(record, f, which), f->name);
    *at = rbt_json_choice(value, names);
    if (*at < 0 && is_auto(f, value)) {
        if (!names && which >= 0) *at = 0;  // there is nothing to choose from
        return true;
    }
    return *at >= 0 || rbt_walk_unknown(r->walk, begin, json_string_value(value), names);
}

static bool read_record_by(reader *r, const rbt_record *parent, const void *data, const rbt_field *f, json_t *value,
                           const void **at) {
    const rbt_record *record = f->of.by->record(rbt_record_sibling(parent, f, data));
    if (!record) {
        const char *key = json_object_iter_key(json_object_iter(value));
        if (!json_is_object(value)) return fail_kind(r, "an object", value);
        return !key || rbt_walk_unknown_key(r->walk, key, NULL);
    }
    void *memory = take(r, 1, record->size);
    *at = memory;
    return memory && read_record(r, record, value, memory);
}

// ---- Vectors and lists

static bool read_three(reader *r, const rbt_field *f, json_t *value, double at[3]) {
    if (json_is_number(value) && (f->flags & RBT_ONE_FOR_ALL)) {
        at[0] = at[1] = at[2] = json_number_value(value);
        return true;
    }
    const char *needed =
        f->flags & RBT_ONE_FOR_ALL ? "a list of 3 numbers, or one number for all," : "a list of 3 numbers";
    if (json_array_size(value) != 3) return fail_kind(r, needed, value);
    for (size_t k = 0; k < 3; k++) {
        size_t mark = rbt_walk_item(r->walk, k);
        if (!read_real(r, f, json_array_get(value, k), &at[k])) return false;
        rbt_walk_back(r->walk, mark);
    }
    return true;
}

static bool read_three_ints(reader *r, const rbt_field *f, json_t *value, int at[3]) {
    if (json_is_number(value) && (f->flags & RBT_ONE_FOR_ALL)) {
        if (!read_int(r, f, value, &at[0])) return false;
        at[1] = at[2] = at[0];
        return true;
    }
    const char *needed = f->flags & RBT_ONE_FOR_ALL ? "a list of 3 whole numbers, or one for all,"  //
                                                    : "a list of 3 whole numbers";
    if (json_array_size(value) != 3) return fail_kind(r, needed, value);
    for (size_t k = 0; k < 3; k++) {
        size_t mark = rbt_walk_item(r->walk, k);
        if (!read_int(r, f, json_array_get(value, k), &at[k])) return false;
        rbt_walk_back(r->walk, mark);
    }
    return true;
}

static bool read_item(reader *r, const rbt_field *f, json_t *value, void *at) {
    switch (f->kind) {
    case RBT_INTS: return read_int(r, f, value, at);
    case RBT_REALS: return read_real(r, f, value, at);
    case RBT_VEC3S: return read_three(r, f, value, at);
    case RBT_TEXTS: return read_text(r, f, value, at);
    case RBT_RECORDS: return read_record(r, f->of.record, value, at);
    default: return read_variant(r, f->of.variants, value, at);
    }
}

static bool read_list(reader *r, const rbt_field *f, json_t *value, void *at) {
    RBT_LIST(char) list = {0};
    if (!json_is_array(value)) return fail_kind(r, "a list", value);
    list.count = json_array_size(value);
    size_t size = rbt_field_item_size(f);
    char *items = take(r, list.count, size);
    if (!items) return false;
    list.items = items;
    for (size_t i = 0; i < list.count; i++) {
        size_t mark = rbt_walk_item(r->walk, i);
        if (!read_item(r, f, json_array_get(value, i), items + i * size)) return false;
        rbt_walk_back(r->walk, mark);
    }
    memcpy(at, &list, sizeof list);
    return true;
}

// ---- Fields, records, alternatives

// `record` and `data`: the struct that the field belongs to, for what depends on a sibling; NULL for an alternative.
static bool read_field(reader *r, const rbt_record *record, const void *data, const rbt_field *f, json_t *value,
                       void *at) {
    switch (f->kind) {
    case RBT_BOOL:
        if (!json_is_boolean(value)) return fail_kind(r, "true or false", value);
        *(bool *)at = json_is_true(value);
        return true;
    case RBT_INT: return read_int(r, f, value, at);
    case RBT_REAL: return read_real(r, f, value, at);
    case RBT_VEC3: return read_three(r, f, value, at);
    case RBT_INT3: return read_three_ints(r, f, value, at);
    case RBT_TEXT: return read_text(r, f, value, at);
    case RBT_CHOICE: return read_choice(r, f, value, at);
    case RBT_CHOICE_BY: return read_choice_by(r, record, data, f, value, at);
    case RBT_RECORD: return read_record(r, f->of.record, value, at);
    case RBT_RECORD_BY: return read_record_by(r, record, data, f, value, at);
    case RBT_OPTIONAL: {
        void *memory = take(r, 1, f->of.record->size);
        *(const void **)at = memory;
        return memory && read_record(r, f->of.record, value, memory);
    }
    case RBT_VARIANT: return read_variant(r, f->of.variants, value, at);
    default: return read_list(r, f, value, at);
    }
}

static bool read_record(reader *r, const rbt_record *record, json_t *value, void *data) {
    if (!json_is_object(value)) return fail_kind(r, "an object", value);
    if (!rbt_walk_deeper(r->walk)) return false;
    rbt_record_default(record, data);
    for (void *i = json_object_iter(value); i; i = json_object_iter_next(value, i))
        if (!rbt_record_field(record, json_object_iter_key(i)))
            return rbt_walk_unknown_key(r->walk, json_object_iter_key(i), record);
    for (int i = 0; i < record->field_count; i++) {
        const rbt_field *f = &record->fields[i];
        json_t *item = json_object_get(value, f->name);
        if (!item && (f->flags & RBT_REQUIRED)) return rbt_walk_fail(r->walk, "the key \"%s\" is missing", f->name);
        if (!item) continue;
        void *at = f->flags & RBT_NOT_KEPT ? take(r, 1, rbt_field_size(f)) : (char *)data + f->offset;
        size_t mark = rbt_walk_key(r->walk, f->name);
        if (!at || !read_field(r, record, data, f, item, at)) return false;
        rbt_walk_back(r->walk, mark);
    }
    r->walk->depth--;
    return true;
}

static bool fail_alternatives(reader *r, const rbt_variants *variants, json_t *value) {
    char seen[96];
    const char *or_text = variants->text_means >= 0 ? " or a text" : "";
    if (!json_is_object(value))
        return rbt_walk_fail(r->walk, "a %s is needed: an object with one key%s, as {\"%s\": ...}, found %s",
                             variants->name, or_text, variants->alternative(0)->name, rbt_json_seen(value, seen));
    void *first = json_object_iter(value), *second = json_object_iter_next(value, first);
    if (!first)
        return rbt_walk_fail(r->walk, "a %s is needed: an object with one key%s, as {\"%s\": ...}, found no key",
                             variants->name, or_text, variants->alternative(0)->name);
    char a[64], b[64];
    return rbt_walk_fail(r->walk, "a %s has exactly one key, found %zu: %s and %s%s", variants->name,
                         json_object_size(value), rbt_walk_quote(json_object_iter_key(first), a),
                         rbt_walk_quote(json_object_iter_key(second), b), json_object_size(value) > 2 ? ", ..." : "");
}

static bool read_variant(reader *r, const rbt_variants *variants, json_t *value, rbt_variant *variant) {
    bool is_text = json_is_string(value) && variants->text_means >= 0;
    if (!is_text && json_object_size(value) != 1) return fail_alternatives(r, variants, value);
    const char *key = is_text ? NULL : json_object_iter_key(json_object_iter(value));
    int which = is_text ? variants->text_means : rbt_variants_find(variants, key);
    if (which < 0) return rbt_walk_unknown_alternative(r->walk, key, variants);
    const rbt_field *f = variants->alternative(which);
    void *memory = take(r, 1, rbt_field_size(f));
    if (!memory || !rbt_walk_deeper(r->walk)) return false;
    size_t mark = is_text ? r->walk->length : rbt_walk_key(r->walk, key);
    if (!read_field(r, NULL, NULL, f, is_text ? value : json_object_get(value, key), memory)) return false;
    rbt_walk_back(r->walk, mark);
    r->walk->depth--;
    *variant = (rbt_variant){which, f->kind == RBT_TEXT ? *(const char **)memory : memory};
    return true;
}

bool rbt_record_parse(rbt_walk *walk, rbt_arena *arena, const rbt_record *record, json_t *value, void *data) {
    return read_record(&(reader){walk, arena}, record, value, data);
}

// ---- Whole scenes

// The version decides how everything else is read, so it is looked at first.
static bool check_version(rbt_walk *walk, json_t *root) {
    char seen[96];
    json_t *version = json_object_get(root, "rubato");
    if (!json_is_object(root)) return rbt_walk_fail(walk, "an object is needed, found %s", rbt_json_seen(root, seen));
    if (!version)
        return rbt_walk_fail(walk, "the key \"rubato\" is missing; a scene says which version of the format it is "
                                   "written in: \"rubato\": 1");
    if (json_is_number(version) && json_number_value(version) == 1) return true;
    rbt_walk_key(walk, "rubato");
    return rbt_walk_fail(walk, "rubato %s reads version 1 of the scene format, found %s", RBT_VERSION,
                         rbt_json_seen(version, seen));
}

static json_t *load(const char *json, size_t size, const char *name, rbt_error *error) {
    static const char MARK[] = "\xef\xbb\xbf";  // byte order mark, as some editors leave it
    if (size >= 3 && memcmp(json, MARK, 3) == 0) {
        json += 3;
        size -= 3;
    }
    json_error_t trouble;
    json_t *root = json_loadb(json, size, JSON_REJECT_DUPLICATES, &trouble);
    if (!root) rbt_fail_at(error, name, trouble.line, trouble.column, "not valid JSON: %s", trouble.text);
    return root;
}

// The folder part of a file name, NULL if it has none
static bool set_place(rbt_scene_file *file, const char *name) {
    const char *slash = name ? strrchr(name, '/') : NULL;
    if (!name) return true;
    char *copy = rbt_arena_text(file->arena, name);
    char *folder = slash ? rbt_arena_text(file->arena, name) : NULL;
    if (!copy || (slash && !folder)) return false;
    if (folder) folder[slash == name ? 1 : slash - name] = '\0';
    file->scene.file = copy;
    file->scene.folder = folder;
    return true;
}

static const double NAMED_STEP = 0.01;  // [s] of scenes that name a method and no step

// Who names a method and no step means a fixed one; only what is left open altogether is left to rubato.
static void settle_step(const json_t *root, rbt_scene *scene) {
    if (scene->integrator.method >= 0 && !json_object_get(json_object_get(root, "time"), "step"))
        scene->time.step = NAMED_STEP;
}

static bool fill(rbt_scene_file *file, json_t *root, const char *name, const char *const *settings, size_t count,
                 rbt_error *error) {
    rbt_walk walk = {.file = name, .error = error};
    if (!check_version(&walk, root)) return false;
    if (!rbt_former_names_replace(root, &walk.former_names)) return rbt_fail_memory(error, 0, "the scene");
    for (size_t i = 0; i < count; i++)
        if (!rbt_setting_apply(&walk, &RBT_SCENE_RECORD, root, settings[i])) return false;
    if (!rbt_former_names_replace(root, &walk.former_names)) return rbt_fail_memory(error, 0, "the scene");
    if (!rbt_record_parse(&walk, file->arena, &RBT_SCENE_RECORD, root, &file->scene)) return false;
    settle_step(root, &file->scene);
    file->former_names = walk.former_names;
    if (!set_place(file, name)) return rbt_fail_memory(error, strlen(name), "the scene");
    char *text = json_dumps(root, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
    file->text = text ? rbt_arena_text(file->arena, text) : NULL;
    rbt_json_room_free(text);
    if (!file->text) return rbt_fail_memory(error, 0, "the text of the scene");
    return rbt_scene_check(&file->scene, error);
}

static bool has_texts(const char *json, const char *const *settings, size_t count, rbt_error *error) {
    bool all = json && (settings || !count);
    for (size_t i = 0; all && i < count; i++) all = settings[i] != NULL;
    return all || rbt_fail(error, "the text of the scene or of a setting is missing: a pointer is NULL");
}

rbt_scene_file *rbt_scene_parse(const char *json, size_t size, const char *name, const char *const *settings,
                                size_t count, rbt_error *error) {
    if (!has_texts(json, settings, count, error) || !rbt_json_room_enter(size, settings, count, error)) return NULL;
    json_t *root = load(json, size, name, error);
    rbt_scene_file *file = root ? calloc(1, sizeof *file) : NULL;
    if (file) file->arena = rbt_arena_new();
    bool ok = file && file->arena;
    if (root && !ok) rbt_fail_memory(error, sizeof *file, "the scene");
    ok = ok && fill(file, root, name, settings, count, error);
    json_decref(root);
    rbt_json_room_leave();
    if (ok) return file;
    rbt_scene_free(file);
    return NULL;
}

rbt_scene_file *rbt_scene_read(const char *path, const char *const *settings, size_t count, rbt_error *error) {
    rbt_bytes bytes;
    if (!path) rbt_fail(error, "there is no file name: the pointer is NULL");
    if (!path || !rbt_stream_read(path, &bytes, error)) return NULL;
    rbt_scene_file *file = rbt_scene_parse(bytes.data, bytes.size, path, settings, count, error);
    free(bytes.data);
    return file;
}

const rbt_scene *rbt_scene_of(const rbt_scene_file *file) { return file ? &file->scene : NULL; }
const char *rbt_scene_json(const rbt_scene_file *file) { return file ? file->text : NULL; }

const char *rbt_scene_warning(const rbt_scene_file *file, int i) {
    for (int k = 0; file && rbt_former_name_warning(k); k++)
        if ((file->former_names >> k & 1) && i-- == 0) return rbt_former_name_warning(k);
    return NULL;
}

void rbt_scene_free(rbt_scene_file *file) {
    if (!file) return;
    rbt_arena_free(file->arena);
    free(file);
}
