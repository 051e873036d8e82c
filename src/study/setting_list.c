#include "study/setting_list.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>

// Takes the text, also on failure; NULL: there was no memory for it.
static bool take(rbt_setting_list *list, char *text, rbt_error *error) {
    bool good = text ? rbt_array_reserve((void **)&list->items, &list->capacity, list->count + 1, sizeof *list->items,
                                         "settings", error)
                     : rbt_fail_memory(error, 0, "a setting");
    if (good) list->items[list->count++] = text;
    else free(text);
    return good;
}

bool rbt_setting_add(rbt_setting_list *list, const char *path, const char *value, rbt_error *error) {
    size_t size = strlen(path) + strlen(value) + 2;
    char *text = malloc(size);
    if (text) snprintf(text, size, "%s=%s", path, value);
    return take(list, text, error);
}

bool rbt_setting_add_text(rbt_setting_list *list, const char *setting, rbt_error *error) {
    return take(list, strdup(setting), error);
}

bool rbt_setting_add_checkpoints(rbt_setting_list *list, rbt_error *error) {
    return rbt_setting_add(list, "output.checkpoint_every", "1", error) &&
           rbt_setting_add(list, "output.checkpoint_keep", "0", error);
}

void rbt_setting_list_free(rbt_setting_list *list) {
    for (size_t i = 0; i < list->count; i++) free(list->items[i]);
    free(list->items);
    *list = (rbt_setting_list){0};
}
