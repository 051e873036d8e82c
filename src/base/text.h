// Words for people: the nearest known name, readable sizes and times; and a growing text.
#ifndef RBT_BASE_TEXT_H
#define RBT_BASE_TEXT_H

#include "base/error.h"

#include <stddef.h>

// The i-th of a list of names, NULL past the end. Tables of things with names hand out one of these.
typedef const char *(*rbt_name_of)(int i);

// The known name that takes the fewest edits from `word`, or NULL if none is near enough to be meant.
const char *rbt_text_nearest(const char *word, rbt_name_of names);
int rbt_text_edits(const char *a, const char *b);  // insertions, deletions, replacements, swaps of neighbours

// The same over any source of names: begin with the word, offer names, read `best` (NULL: none is near enough).
typedef struct rbt_nearest {
    const char *word, *best;
    int fewest;
} rbt_nearest;

rbt_nearest rbt_nearest_begin(const char *word);
void rbt_nearest_offer(rbt_nearest *nearest, const char *name);

// A number in the fewest digits (at least those of %g) that read back as the same number; returns `buffer`.
const char *rbt_text_number(double value, char buffer[32]);

// Text that grows; `text` is always NUL-terminated once something was added. Lack of memory is remembered in `failed`
// and makes later additions no-ops, so that only the end needs a check.
typedef struct rbt_text {
    char *text;
    size_t size, capacity;
    bool failed;
} rbt_text;

void rbt_text_add(rbt_text *t, const char *format, ...) RBT_PRINTF(2, 3);
void rbt_text_add_bytes(rbt_text *t, const void *bytes, size_t size);
void rbt_text_add_json(rbt_text *t, const char *string);   // with quotes and escapes
void rbt_text_add_json_number(rbt_text *t, double value);  // 17 digits; null if it is not finite
void rbt_text_free(rbt_text *t);

#endif
