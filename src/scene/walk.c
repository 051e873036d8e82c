#include "scene/walk.h"

#include "scene/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static size_t append(rbt_walk *walk, const char *format, ...) RBT_PRINTF(2, 3);

static size_t append(rbt_walk *walk, const char *format, ...) {
    size_t mark = walk->length;
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(walk->path + mark, sizeof walk->path - mark, format, arguments);
    va_end(arguments);
    if (n > 0) walk->length = mark + (size_t)n < sizeof walk->path ? mark + (size_t)n : sizeof walk->path - 1;
    return mark;
}

size_t rbt_walk_key(rbt_walk *walk, const char *key) { return append(walk, "%s%s", walk->length ? "." : "", key); }
size_t rbt_walk_item(rbt_walk *walk, size_t i) { return append(walk, "[%zu]", i); }

void rbt_walk_back(rbt_walk *walk, size_t mark) {
    walk->length = mark;
    walk->path[mark] = '\0';
}

bool rbt_walk_deeper(rbt_walk *walk) {
    if (walk->depth >= RBT_MAX_DEPTH)
        return rbt_walk_fail(walk, "nested too deeply: at most %d levels are allowed", RBT_MAX_DEPTH);
    walk->depth++;
    return true;
}

bool rbt_walk_fail(rbt_walk *walk, const char *format, ...) {
    char message[sizeof walk->error->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return rbt_fail_path(walk->error, walk->file, walk->path, "%s", message);
}

// Bytes of UTF-8 behind the first of a character
static bool is_inside_character(char c) { return ((unsigned char)c & 0xc0) == 0x80; }

const char *rbt_walk_quote(const char *text, char buffer[64]) {
    enum { MOST = 48 };
    size_t length = strlen(text), keep = length;
    if (length > MOST) {
        keep = MOST;
        while (keep > 0 && is_inside_character(text[keep])) keep--;
    }
    snprintf(buffer, 64, "\"%.*s%s\"", (int)keep, text, keep < length ? "..." : "");
    for (char *c = buffer; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = ' ';
    return buffer;
}

// The sentence for an unknown word, from names offered one by one
typedef struct unknown {
    rbt_nearest nearest;
    char known[512];
    size_t used;
    int count;
} unknown;

static void offer(unknown *u, const char *name) {
    rbt_nearest_offer(&u->nearest, name);
    int n = snprintf(u->known + u->used, sizeof u->known - u->used, "%s%s", u->count++ ? ", " : "", name);
    if (n > 0) u->used = u->used + (size_t)n < sizeof u->known ? u->used + (size_t)n : sizeof u->known - 1;
}

static bool fail_unknown(rbt_walk *walk, const unknown *u, const char *begin, const char *word) {
    char quoted[64];
    rbt_walk_quote(word, quoted);
    if (u->nearest.best) return rbt_walk_fail(walk, "%s %s; did you mean \"%s\"?", begin, quoted, u->nearest.best);
    if (!u->count) return rbt_walk_fail(walk, "%s %s; there is nothing to choose from here", begin, quoted);
    return rbt_walk_fail(walk, "%s %s; known are: %s", begin, quoted, u->known);
}

bool rbt_walk_unknown(rbt_walk *walk, const char *begin, const char *word, rbt_name_of names) {
    unknown u = {.nearest = rbt_nearest_begin(word)};
    for (int i = 0; names && names(i); i++) offer(&u, names(i));
    return fail_unknown(walk, &u, begin, word);
}

bool rbt_walk_unknown_key(rbt_walk *walk, const char *word, const rbt_record *record) {
    unknown u = {.nearest = rbt_nearest_begin(word)};
    for (int i = 0; record && i < record->field_count; i++) offer(&u, record->fields[i].name);
    return fail_unknown(walk, &u, "unknown key", word);
}

bool rbt_walk_unknown_alternative(rbt_walk *walk, const char *word, const rbt_variants *variants) {
    unknown u = {.nearest = rbt_nearest_begin(word)};
    char begin[96];
    snprintf(begin, sizeof begin, "unknown %s", variants->name);
    for (int i = 0; variants->alternative(i); i++) offer(&u, variants->alternative(i)->name);
    return fail_unknown(walk, &u, begin, word);
}
