// Errors of the outside world: files, memory, scenes.
//
// A function that can meet such an error returns false or NULL and fills the caller's rbt_error. The library
// never prints and never exits. Numerical trouble while stepping is not an error but an outcome (rubato/sim.h).
#ifndef RUBATO_ERROR_H
#define RUBATO_ERROR_H

#include "rubato/version.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// One sentence with the value and the limit, and the place it belongs to. Fields that do not apply are empty or 0.
typedef struct rbt_error {
    char file[512];      // the file concerned, "" if none
    long line, column;   // position of a syntax error, counted from 1; 0 if unknown
    char path[256];      // JSON path of a value in a scene, as bodies[0].material.young
    char message[1024];  // what is wrong, the value, the limit, what to try
    bool out_of_memory;  // whether lack of memory is the cause
} rbt_error;

// Writes "file:line:column: path: message" with the parts that are known, cut to fit `size` bytes; returns `text`.
// Nothing is written for an error that is NULL but an empty text, and without a text NULL is returned.
const char *rbt_error_text(const rbt_error *error, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
