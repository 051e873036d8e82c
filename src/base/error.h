// Filling an rbt_error. Every rbt_fail… returns false, so that `return rbt_fail(error, …)` reads as what it does.
// A NULL error is allowed: the caller does not want to know.
#ifndef RBT_BASE_ERROR_H
#define RBT_BASE_ERROR_H

#include "rubato/error.h"

#include <stdbool.h>

#define RBT_PRINTF(text, first) __attribute__((format(printf, text, first)))

bool rbt_fail(rbt_error *error, const char *format, ...) RBT_PRINTF(2, 3);

// With the file concerned and, if known (> 0), line and column.
bool rbt_fail_at(rbt_error *error, const char *file, long line, long column, const char *format, ...)
    RBT_PRINTF(5, 6);

// With the file concerned and a JSON path inside it.
bool rbt_fail_path(rbt_error *error, const char *file, const char *path, const char *format, ...) RBT_PRINTF(4, 5);

bool rbt_fail_memory(rbt_error *error, size_t bytes, const char *what);

#endif
