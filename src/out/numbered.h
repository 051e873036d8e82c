// Files that carry a frame number in their name: frames/frame_000012.vtu, checkpoints/000012.rbt.
#ifndef RBT_OUT_NUMBERED_H
#define RBT_OUT_NUMBERED_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

// folder/prefix000012suffix; at least six digits. Free the result; NULL with an error on lack of memory.
char *rbt_numbered_path(const char *folder, const char *prefix, int64_t number, const char *suffix, rbt_error *error);

// The numbers of all such files, ascending, in *numbers (free it). A folder that does not exist has none.
bool rbt_numbered_list(const char *folder, const char *prefix, const char *suffix, int64_t **numbers, size_t *count,
                       rbt_error *error);

// Removes those with numbers above `after`, and what an interrupted write of any of them left behind. A folder that
// is a symbolic link is an error: it may lead anywhere.
bool rbt_numbered_remove(const char *folder, const char *prefix, const char *suffix, int64_t after, rbt_error *error);

#endif
