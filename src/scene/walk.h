// Where a walk over a scene is: the JSON path of the current value, for messages. Parser, settings and checker share
// it, so that the same value has the same path in all of them.
#ifndef RBT_SCENE_WALK_H
#define RBT_SCENE_WALK_H

#include "base/error.h"
#include "base/record.h"

#include <stddef.h>
#include <stdint.h>

typedef struct rbt_walk {
    const char *file;  // for messages, NULL if the scene has none
    rbt_error *error;
    size_t length;  // of the path; what does not fit is left out
    int depth;
    uint32_t former_names;  // bit i: the scene uses former name i of scene/former_names.h
    char path[256];
} rbt_walk;

// Go into a key or an item of the current value; both give the mark to go back to.
size_t rbt_walk_key(rbt_walk *walk, const char *key);
size_t rbt_walk_item(rbt_walk *walk, size_t i);
void rbt_walk_back(rbt_walk *walk, size_t mark);

// One level deeper into the nest, with an error beyond RBT_MAX_DEPTH; leave with depth--.
bool rbt_walk_deeper(rbt_walk *walk);

bool rbt_walk_fail(rbt_walk *walk, const char *format, ...) RBT_PRINTF(2, 3);

// Checks the limits of every member of a struct by its table.
bool rbt_record_check(rbt_walk *walk, const rbt_record *record, const void *data);

// A word that is none of the known ones: says so, and offers the nearest one or else all of them.
// `begin`: start of the sentence ("unknown key"), `word` what was found.
bool rbt_walk_unknown(rbt_walk *walk, const char *begin, const char *word, rbt_name_of names);
bool rbt_walk_unknown_key(rbt_walk *walk, const char *word, const rbt_record *record);
bool rbt_walk_unknown_alternative(rbt_walk *walk, const char *word, const rbt_variants *variants);

// Text in quotes, shortened to fit, on one line; returns `buffer`.
const char *rbt_walk_quote(const char *text, char buffer[64]);

#endif
