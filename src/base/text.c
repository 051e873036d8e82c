#include "base/text.h"

#include "base/memory.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int least(int a, int b) { return a < b ? a : b; }

// Optimal string alignment distance over three rows; names longer than the rows count as far away.
int rbt_text_edits(const char *a, const char *b) {
    enum { LONGEST = 63 };
    int n = (int)strlen(a), m = (int)strlen(b);
    if (n > LONGEST || m > LONGEST) return n > m ? n : m;
    int rows[3][LONGEST + 1];
    int *before = rows[0], *above = rows[1], *row = rows[2];
    for (int j = 0; j <= m; j++) above[j] = j;
    for (int i = 1; i <= n; i++) {
        row[0] = i;
        for (int j = 1; j <= m; j++) {
            row[j] = least(least(above[j] + 1, row[j - 1] + 1), above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
        int *spare = before;
        before = above;
        above = row;
        row = spare;
    }
    return above[m];
}

rbt_nearest rbt_nearest_begin(const char *word) { return (rbt_nearest){word, NULL, (int)strlen(word) / 2 + 1}; }

void rbt_nearest_offer(rbt_nearest *nearest, const char *name) {
    int edits = rbt_text_edits(nearest->word, name);
    if (edits >= nearest->fewest) return;
    nearest->fewest = edits;
    nearest->best = name;
}

const char *rbt_text_nearest(const char *word, rbt_name_of names) {
    rbt_nearest nearest = rbt_nearest_begin(word);
    for (int i = 0; names(i); i++) rbt_nearest_offer(&nearest, names(i));
    return nearest.best;
}

const char *rbt_text_number(double value, char buffer[32]) {
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(buffer, 32, "%.*g", digits, value);
        if (strtod(buffer, NULL) == value) break;
    }
    // 1e+06 is written 1e6
    char *exponent = strchr(buffer, 'e'), *first = exponent ? exponent + 1 : NULL;
    if (first && isfinite(value)) {
        char *digit = first + 1;
        while (*digit == '0' && digit[1]) digit++;
        if (*first == '-') first++;
        memmove(first, digit, strlen(digit) + 1);
    }
    return buffer;
}

static bool reserve(rbt_text *t, size_t more) {
    if (!t->failed && !rbt_array_reserve((void **)&t->text, &t->capacity, t->size + more + 1, 1, "text", NULL))
        t->failed = true;
    return !t->failed;
}

void rbt_text_add(rbt_text *t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (n < 0 || !reserve(t, (size_t)n)) return;
    va_start(arguments, format);
    vsnprintf(t->text + t->size, (size_t)n + 1, format, arguments);
    va_end(arguments);
    t->size += (size_t)n;
}

void rbt_text_add_bytes(rbt_text *t, const void *bytes, size_t size) {
    if (!reserve(t, size)) return;
    if (size) memcpy(t->text + t->size, bytes, size);
    t->size += size;
    t->text[t->size] = '\0';
}

void rbt_text_add_json(rbt_text *t, const char *string) {
    rbt_text_add_bytes(t, "\"", 1);
    for (const char *c = string; *c; c++) {
        if (*c == '"' || *c == '\\') rbt_text_add(t, "\\%c", *c);
        else if (*c == '\n') rbt_text_add_bytes(t, "\\n", 2);
        else if ((unsigned char)*c < 0x20) rbt_text_add(t, "\\u%04x", (unsigned)*c);
        else rbt_text_add_bytes(t, c, 1);
    }
    rbt_text_add_bytes(t, "\"", 1);
}

void rbt_text_add_json_number(rbt_text *t, double value) {
    if (isfinite(value)) rbt_text_add(t, "%.17g", value);
    else rbt_text_add_bytes(t, "null", 4);
}

void rbt_text_free(rbt_text *t) {
    free(t->text);
    *t = (rbt_text){0};
}
