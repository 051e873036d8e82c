#include "scene/absolute_files.h"

#include "base/file.h"
#include "scene/json_room.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

// Every key "file" of a scene names a file (scene/table*.c, mesh/generate).
static bool replace(json_t *value, const char *root) {
    const char *key;
    json_t *item;
    size_t i;
    bool good = true;
    if (json_is_array(value)) json_array_foreach(value, i, item) good = good && replace(item, root);
    if (!json_is_object(value)) return good;
    json_object_foreach(value, key, item) {
        const char *name = json_string_value(item);
        if (!name || strcmp(key, "file") != 0 || !name[0] || name[0] == '/') {
            good = good && replace(item, root);
            continue;
        }
        char *path = rbt_path_join(root, name);
        good = good && path && json_string_set(item, path) == 0;
        free(path);
    }
    return good;
}

char *rbt_scene_absolute_files(const char *json, const char *folder, rbt_error *error) {
    char *root = realpath(folder && folder[0] ? folder : ".", NULL), *copy = NULL;
    size_t size = strlen(json);
    // Names get longer: there are at most as many as a tenth of the letters.
    bool room = root && rbt_json_room_enter(size + size / 10 * strlen(root), NULL, 0, error);
    json_t *tree = room ? json_loadb(json, size, JSON_REJECT_DUPLICATES, NULL) : NULL;
    char *text = tree && replace(tree, root) ? json_dumps(tree, JSON_INDENT(2) | JSON_PRESERVE_ORDER) : NULL;
    if (text) copy = strdup(text);
    rbt_json_room_free(text);
    json_decref(tree);
    if (room) rbt_json_room_leave();
    if (!copy) rbt_fail_at(error, folder, 0, 0, "the scene cannot be written with the full names of its files");
    free(root);
    return copy;
}
