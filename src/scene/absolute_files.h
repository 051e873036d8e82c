// The text of a scene that can be read from any folder: the names of its files start at the root.
#ifndef RBT_SCENE_ABSOLUTE_FILES_H
#define RBT_SCENE_ABSOLUTE_FILES_H

#include "base/error.h"

// `folder`: where names that do not start at the root start now; NULL: the working folder. Free the result; NULL with
// an error.
char *rbt_scene_absolute_files(const char *json, const char *folder, rbt_error *error);

#endif
