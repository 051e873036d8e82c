// Keys and choices that were renamed: scenes with the former names are still read, with a warning that tells the new
// ones.
#ifndef RBT_SCENE_FORMER_NAMES_H
#define RBT_SCENE_FORMER_NAMES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

// The key that `key` is called now, and its bit in *found; NULL: it was not renamed.
const char *rbt_former_key(const char *key, uint32_t *found);

// Replaces former names in the whole tree. An object that has both keeps the new one. Sets bit i of *found for name i
// of the table; false if memory ran out.
bool rbt_former_names_replace(json_t *root, uint32_t *found);

// The warning about name i, NULL past the end of the table.
const char *rbt_former_name_warning(int i);

#endif
