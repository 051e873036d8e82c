// Reading numbers and words from text in memory (NUL behind the end, as rbt_file_read leaves it), with the line for
// error messages. Independent of the locale. Numbers are read exactly (correctly rounded).
#ifndef RBT_BASE_SCAN_H
#define RBT_BASE_SCAN_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

typedef struct rbt_scan {
    const char *at, *end;  // the next character and the NUL
    const char *begin;     // start of the text: lines are counted from here only when an error asks for one
    const char *file;      // name for messages
    char comment;          // a character that hides the rest of its line, or 0
} rbt_scan;

rbt_scan rbt_scan_begin(const char *file, const char *text, size_t size);

void rbt_scan_space(rbt_scan *s);   // skips white space, line ends and comments
bool rbt_scan_at_end(rbt_scan *s);  // after skipping space
long rbt_scan_line(const rbt_scan *s);

// Each skips space first. false with the position kept if what follows is something else; no error is filled.
bool rbt_scan_real(rbt_scan *s, double *value);
bool rbt_scan_int(rbt_scan *s, int64_t *value);
bool rbt_scan_word(rbt_scan *s, char *word, size_t size);  // up to white space; cut to fit
bool rbt_scan_match(rbt_scan *s, const char *word);        // exactly this word, followed by white space or the end

// The rest of the line (without its end), moving to the next; false at the end of the text. Not NUL-terminated.
bool rbt_scan_rest(rbt_scan *s, const char **line, size_t *length);

// What stands at the current place, quoted and shortened for a message; the text lives in `buffer`.
const char *rbt_scan_seen(rbt_scan *s, char buffer[48]);

// An error at the current line.
bool rbt_scan_fail(rbt_scan *s, rbt_error *error, const char *format, ...) RBT_PRINTF(3, 4);

#endif
