// Inside of the scene reader: settings are put into the JSON tree, then a table is walked over it.
#ifndef RBT_SCENE_PARSE_H
#define RBT_SCENE_PARSE_H

#include "base/memory.h"
#include "scene/walk.h"

#include <jansson.h>

// A JSON object to the struct that a table describes; what it points to is taken from the arena.
bool rbt_record_parse(rbt_walk *walk, rbt_arena *arena, const rbt_record *record, json_t *value, void *data);

// "path=value": the value is JSON if it can be read as such, otherwise text. Objects and lists on the way that the
// tree does not have are made; the path must exist in the tables. The value null takes a key out.
bool rbt_setting_apply(rbt_walk *walk, const rbt_record *record, json_t *root, const char *setting);

// What a JSON value is, in words, shortened: `the text "soft"`, `a list of 3`, `-5`.
const char *rbt_json_seen(const json_t *value, char buffer[96]);

// Index of a text among names, -1 if it is none of them.
int rbt_json_choice(const json_t *value, rbt_name_of names);

// The alternative with this name, -1 if there is none.
int rbt_variants_find(const rbt_variants *variants, const char *name);

#endif
