#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void fill(rbt_error *error, const char *file, long line, long column, const char *path, const char *format,
                 va_list arguments) {
    if (!error) return;
    // The sentence may quote the error being replaced, so it is made before anything is overwritten.
    char message[sizeof error->message];
    vsnprintf(message, sizeof message, format, arguments);
    snprintf(error->file, sizeof error->file, "%s", file ? file : "");
    snprintf(error->path, sizeof error->path, "%s", path ? path : "");
    memcpy(error->message, message, sizeof message);
    error->line = line;
    error->column = column;
    error->out_of_memory = false;
}

bool rbt_fail(rbt_error *error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fill(error, NULL, 0, 0, NULL, format, arguments);
    va_end(arguments);
    return false;
}

bool rbt_fail_at(rbt_error *error, const char *file, long line, long column, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fill(error, file, line, column, NULL, format, arguments);
    va_end(arguments);
    return false;
}

bool rbt_fail_path(rbt_error *error, const char *file, const char *path, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fill(error, file, 0, 0, path, format, arguments);
    va_end(arguments);
    return false;
}

bool rbt_fail_memory(rbt_error *error, size_t bytes, const char *what) {
    rbt_fail(error, "not enough memory: %.3g MB for %s", (double)bytes / 1e6, what);
    if (error) error->out_of_memory = true;
    return false;
}

const char *rbt_error_text(const rbt_error *error, char *text, size_t size) {
    size_t used = 0;
    if (!text || !size) return NULL;
    text[0] = '\0';
    if (!error) return text;
#define APPEND(...)                                                                                                  \
    do {                                                                                                             \
        int n = snprintf(text + used, size - used, __VA_ARGS__);                                                     \
        if (n > 0) used = used + (size_t)n < size ? used + (size_t)n : size - 1;                                     \
    } while (0)
    if (error->file[0]) {
        APPEND("%s", error->file);
        if (error->line > 0) APPEND(":%ld", error->line);
        if (error->line > 0 && error->column > 0) APPEND(":%ld", error->column);
        APPEND(": ");
    }
    if (error->path[0]) APPEND("%s: ", error->path);
    APPEND("%s", error->message);
#undef APPEND
    return text;
}
