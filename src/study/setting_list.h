// Settings "path=value" of one run, put together from several sources; later ones win.
#ifndef RBT_STUDY_SETTING_LIST_H
#define RBT_STUDY_SETTING_LIST_H

#include "base/error.h"

#include <stddef.h>

typedef struct rbt_setting_list {
    char **items;  // (count)
    size_t count, capacity;
} rbt_setting_list;

bool rbt_setting_add(rbt_setting_list *list, const char *path, const char *value, rbt_error *error);
bool rbt_setting_add_text(rbt_setting_list *list, const char *setting, rbt_error *error);  // "path=value" as it is

// Every frame gets a checkpoint that stays, from which distances are measured to the last bit.
bool rbt_setting_add_checkpoints(rbt_setting_list *list, rbt_error *error);
void rbt_setting_list_free(rbt_setting_list *list);

#endif
