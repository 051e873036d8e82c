// A struct from JSON text by its table: for texts that are no scenes, as messages are.
#ifndef RBT_SCENE_RECORD_TEXT_H
#define RBT_SCENE_RECORD_TEXT_H

#include "base/record.h"

// Fills `data`, whatever it held; what it points to is taken from the arena. Keys that the table does not know, values
// beyond their limits and text that is no JSON are refused.
bool rbt_record_read(const rbt_record *record, rbt_arena *arena, const char *json, size_t size, void *data,
                     rbt_error *error);

#endif
