// Tables that describe plain structs: the name, place, kind, unit, default, limits and meaning of every member.
//
// The scene parser, `rubato check`, the JSON Schema, the reference pages and the command line's --set all walk these
// tables; nothing about a key is written twice. A room that owns a struct owns its table: generators (mesh), materials
// (energy), method options (step), everything else (scene).
#ifndef RBT_BASE_RECORD_H
#define RBT_BASE_RECORD_H

#include "base/text.h"
#include "rubato/list.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum rbt_kind {
    RBT_BOOL,      // bool
    RBT_INT,       // int
    RBT_REAL,      // double
    RBT_VEC3,      // double[3]
    RBT_INT3,      // int[3]
    RBT_TEXT,      // const char *, NULL if absent
    RBT_CHOICE,    // int: index into of.names
    RBT_RECORD,    // the struct itself, of.record; absent means all defaults
    RBT_OPTIONAL,  // const struct *, of.record; NULL if absent
    RBT_VARIANT,   // rbt_variant: an object with exactly one key, which names the alternative, of.variants
    RBT_INTS,      // RBT_LIST(int)
    RBT_REALS,     // RBT_LIST(double)
    RBT_VEC3S,     // RBT_LIST(double) with 3 * n items counted as n: items is (count x 3)
    RBT_TEXTS,     // RBT_LIST(const char *)
    RBT_RECORDS,   // RBT_LIST(struct), of.record
    RBT_VARIANTS,  // RBT_LIST(rbt_variant), of.variants
} rbt_kind;

enum {
    RBT_REQUIRED = 1,   // must be given
    RBT_AUTO = 2,       // the text "auto" is allowed too: stored as NaN (RBT_REAL) or -1 (RBT_INT)
    RBT_ABOVE = 4,      // the lower limit itself is not allowed
    RBT_BELOW = 8,      // the upper limit itself is not allowed
    RBT_NOT_EMPTY = 16  // a list or text needs at least one item or character; a vector must not be zero
};

typedef struct rbt_record rbt_record;
typedef struct rbt_variants rbt_variants;

typedef struct rbt_field {
    const char *name;
    rbt_kind kind;
    size_t offset;
    unsigned flags;
    double fallback[3];         // default of numbers, booleans (0/1) and vectors; RBT_CHOICE: the index
    const char *fallback_text;  // default of RBT_TEXT
    double min, max;            // limits of numbers, of each component, of each list item; both 0: none
    const char *unit;           // "Pa", "m/s"; NULL if it has none
    const char *doc;            // one sentence
    union {
        const rbt_record *record;
        const rbt_variants *variants;
        rbt_name_of names;
    } of;
} rbt_field;

struct rbt_record {
    const char *name;  // for headings and "$defs"
    const char *doc;
    size_t size;  // sizeof the struct
    const rbt_field *fields;
    int field_count;
};

// The alternatives of an rbt_variant. Each is a field of its own (offset 0 in the memory that .value points to), so
// an alternative may be a record, a text, a list, or again a variant.
struct rbt_variants {
    const char *name;
    const char *doc;
    const rbt_field *(*alternative)(int which);  // NULL past the end
    int text_means;  // alternative that a bare text stands for ("left" for {"set": "left"}), or -1
};

#define RBT_FIELDS(table) (table), (int)(sizeof(table) / sizeof(table)[0])

// Bytes of memory a field of this kind occupies.
size_t rbt_field_size(const rbt_field *field);

// Fills a struct with its table's defaults: lists empty, variants absent, nested records likewise.
void rbt_record_default(const rbt_record *record, void *data);

// "Pa, above 0, default 1e5" and the like: the limits of a field in words, for messages and reference pages.
void rbt_field_limits(const rbt_field *field, char *text, size_t size);

#endif
