#include "mesh/io/values.h"

#include <stdarg.h>
#include <stdio.h>

bool rbt_values_fail(rbt_values *n, rbt_error *error, const char *format, ...) {
    char message[900];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return rbt_fail_at(error, n->scan.file, n->binary ? 0 : rbt_scan_line(&n->scan), 0, "%s", message);
}

bool rbt_values_missing(rbt_values *n, rbt_error *error, const char *format, ...) {
    char what[200], seen[48];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    const char *found = n->binary ? "the end of the file" : rbt_scan_seen(&n->scan, seen);
    return rbt_values_fail(n, error, "expected %s, found %s", what, found);
}

bool rbt_values_count(rbt_values *n, int64_t count, const char *what, size_t values, size_t bytes, rbt_error *error) {
    if (count < 0)
        return rbt_values_fail(n, error, "%lld %s announced: a count cannot be negative", (long long)count, what);
    if (count > INT32_MAX)
        return rbt_values_fail(n, error, "%lld %s announced: the limit is %d", (long long)count, what, INT32_MAX);
    size_t left = rbt_values_left(n);
    // In text a number takes a digit and a separator, which the last one may lack.
    size_t room = n->binary ? left / bytes : (left + 1) / (2 * values);
    if ((size_t)count <= room) return true;
    return rbt_values_fail(n, error,
                           "%lld %s announced, but only %zu bytes follow: the file is cut off or the count is wrong",
                           (long long)count, what, left);
}
