// Whole files in and out. A file appears under its name complete or not at all: it is written beside its position and
// renamed. Reading gives a buffer with a NUL byte behind the end, so that text can be scanned without bounds checks
// on every character.
#ifndef RBT_BASE_FILE_H
#define RBT_BASE_FILE_H

#include "base/error.h"

#include <stddef.h>
#include <stdio.h>

typedef struct rbt_bytes {
    char *data;  // (size + 1), NUL behind the end; free with free()
    size_t size;
} rbt_bytes;

// Regular files only: devices and pipes are refused, since they may have no end.
bool rbt_file_read(const char *path, rbt_bytes *bytes, rbt_error *error);

// Also reads a pipe to its end, as a shell's <(command) makes one.
bool rbt_stream_read(const char *path, rbt_bytes *bytes, rbt_error *error);

// A file being written: write to .stream (errors are remembered by it), then commit or abandon. Both free it. A
// symbolic link of this name is replaced, not followed. A character device or pipe (/dev/null, /dev/stdout) is
// written to and stays what it is.
typedef struct rbt_new_file {
    FILE *stream;
    char *path, *temporary;  // temporary NULL: written to directly
} rbt_new_file;

bool rbt_new_file_open(rbt_new_file *file, const char *path, rbt_error *error);
bool rbt_new_file_commit(rbt_new_file *file, rbt_error *error);  // flush, check every earlier write, sync, rename
void rbt_new_file_abandon(rbt_new_file *file);

bool rbt_file_write(const char *path, const void *data, size_t size, rbt_error *error);
bool rbt_folder_make(const char *path, rbt_error *error);  // with parents; an existing folder is fine
bool rbt_subfolder_make(const char *path,
                        rbt_error *error);  // without; a symbolic link is refused: it may lead anywhere

// Locks a folder for one writer. Returns a descriptor that holds the lock until it is closed or the program ends, or
// -1 with an error if another writer holds it. On file systems without locks it always succeeds.
int rbt_folder_lock(const char *path, rbt_error *error);

// `folder`/`name`, or `name` alone if it is absolute or the folder is NULL or empty. Free the result.
char *rbt_path_join(const char *folder, const char *name);

#endif
