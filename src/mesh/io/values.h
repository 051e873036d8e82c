// Numbers one after the other from a file that holds them as text or as bytes, so that a reader says once what comes
// in which order and serves both encodings. Text ignores the widths; binary ignores white space.
#ifndef RBT_MESH_IO_VALUES_H
#define RBT_MESH_IO_VALUES_H

#include "base/scan.h"

#include <stdbool.h>
#include <string.h>

typedef struct rbt_values {
    rbt_scan scan;  // in a binary file .at is the next byte
    bool binary;
    bool swapped;  // the bytes of a number are in the other order than this machine's
} rbt_values;

static inline size_t rbt_values_left(const rbt_values *n) { return (size_t)(n->scan.end - n->scan.at); }

static inline bool rbt_values_take4(rbt_values *n, uint32_t *bits) {
    if (rbt_values_left(n) < 4) return false;
    memcpy(bits, n->scan.at, 4);
    n->scan.at += 4;
    if (n->swapped) *bits = __builtin_bswap32(*bits);
    return true;
}

static inline bool rbt_values_take8(rbt_values *n, uint64_t *bits) {
    if (rbt_values_left(n) < 8) return false;
    memcpy(bits, n->scan.at, 8);
    n->scan.at += 8;
    if (n->swapped) *bits = __builtin_bswap64(*bits);
    return true;
}

// An integer of 4 or 8 bytes. false: something else stands there, or the end.
static inline bool rbt_values_int(rbt_values *n, int width, int64_t *value) {
    if (!n->binary) return rbt_scan_int(&n->scan, value);
    uint64_t wide;
    uint32_t narrow;
    if (width == 8) {
        if (!rbt_values_take8(n, &wide)) return false;
        *value = (int64_t)wide;
    } else {
        if (!rbt_values_take4(n, &narrow)) return false;
        *value = (int32_t)narrow;
    }
    return true;
}

// A real of 4 or 8 bytes.
static inline bool rbt_values_real(rbt_values *n, int width, double *value) {
    if (!n->binary) return rbt_scan_real(&n->scan, value);
    uint64_t wide;
    uint32_t narrow;
    if (width == 8) {
        if (!rbt_values_take8(n, &wide)) return false;
        memcpy(value, &wide, 8);
    } else {
        float single;
        if (!rbt_values_take4(n, &narrow)) return false;
        memcpy(&single, &narrow, 4);
        *value = (double)single;
    }
    return true;
}

// Is this count believable? Not negative, not above INT32_MAX, and what is left of the file can hold that many items
// of at least `values` numbers (text) or `bytes` bytes (binary). Memory may be allocated for it afterwards.
bool rbt_values_count(rbt_values *n, int64_t count, const char *what, size_t values, size_t bytes, rbt_error *error);

// "expected <what>, found <what stands there>"
bool rbt_values_missing(rbt_values *n, rbt_error *error, const char *format, ...) RBT_PRINTF(3, 4);

// An error at the current line, or without a line in a binary file.
bool rbt_values_fail(rbt_values *n, rbt_error *error, const char *format, ...) RBT_PRINTF(3, 4);

#endif
