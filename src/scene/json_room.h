// Memory for Jansson while a scene is read. Jansson takes lack of memory for a wrong character, leaves things out, or
// ends the program (an assertion in its lexer). So the room for everything it may ask for is taken beforehand, in one
// piece, or there is an error that says so.
#ifndef RBT_SCENE_JSON_ROOM_H
#define RBT_SCENE_JSON_ROOM_H

#include "base/error.h"

#include <stddef.h>

// For a text of `size` bytes and settings; of this thread, until it leaves. All JSON values must be gone by then.
bool rbt_json_room_enter(size_t size, const char *const *settings, size_t setting_count, rbt_error *error);
void rbt_json_room_leave(void);

void rbt_json_room_free(void *memory);  // what Jansson gives away, as json_dumps does

#endif
