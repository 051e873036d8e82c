// Tables that describe plain structs: the name, place, kind, unit, default, limits and meaning of every member.
//
// The scene parser, `rubato check`, the JSON Schema, the reference pages and the command line's --set all walk these
// tables; nothing about a key is written twice. A room that owns a struct owns its table: generators (mesh), materials
// (energy), method options (step), everything else (scene).
#ifndef RBT_BASE_RECORD_H
#define RBT_BASE_RECORD_H

#include "base/memory.h"
#include "base/text.h"
#include "rubato/list.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum rbt_kind {
    RBT_BOOL,       // bool
    RBT_INT,        // int
    RBT_REAL,       // double
    RBT_VEC3,       // double[3]
    RBT_INT3,       // int[3]
    RBT_TEXT,       // const char *, NULL if absent; one of of.names if that is set
    RBT_CHOICE,     // int: index into of.names
    RBT_RECORD,     // the struct itself, of.record; absent means all defaults
    RBT_OPTIONAL,   // const struct *, of.record; NULL if absent
    RBT_VARIANT,    // rbt_variant: an object with exactly one key, which names the alternative, of.variants
    RBT_INTS,       // RBT_LIST(int)
    RBT_REALS,      // RBT_LIST(double)
    RBT_VEC3S,      // RBT_LIST(double) with 3 * n items counted as n: items is (count x 3)
    RBT_TEXTS,      // RBT_LIST(const char *)
    RBT_RECORDS,    // RBT_LIST(struct), of.record
    RBT_VARIANTS,   // RBT_LIST(rbt_variant), of.variants
    RBT_CHOICE_BY,  // int: index into the names that of.by gives for a sibling's choice; absent means 0
    RBT_RECORD_BY,  // const struct *: of the record that of.by gives for a sibling's choice; NULL if absent
} rbt_kind;

enum {
    RBT_REQUIRED = 1,      // must be given
    RBT_AUTO = 2,          // the text "auto" is allowed too: stored as NaN (RBT_REAL) or -1 (RBT_INT and choices)
    RBT_ABOVE = 4,         // the lower limit itself is not allowed
    RBT_BELOW = 8,         // the upper limit itself is not allowed
    RBT_NOT_EMPTY = 16,    // a list or text needs at least one item or character; a vector must not be zero
    RBT_NOT_ZERO = 32,     // no number, component or item may be zero
    RBT_ONE_FOR_ALL = 64,  // a single number may stand for all components of a vector
    RBT_NEVER = 128,       // the text "never" is allowed too: stored as infinity (RBT_REAL)
    RBT_ONE_OF = 256,      // exactly one of the record's fields with this flag must be given
    RBT_NOT_KEPT = 512,    // accepted and checked for its kind, stored nowhere: the offset has no meaning
    RBT_FILE = 1024        // RBT_TEXT: a file name that the scene reader puts behind the scene's folder
};

typedef struct rbt_record rbt_record;
typedef struct rbt_variants rbt_variants;

// What a field of kind RBT_CHOICE_BY or RBT_RECORD_BY offers for each choice of the field named `sibling`, an
// RBT_CHOICE that stands before it in the same record. Either answer may be NULL: nothing to choose, no such record.
typedef struct rbt_dependence {
    const char *sibling;
    rbt_name_of (*names)(int which);         // RBT_CHOICE_BY
    const rbt_record *(*record)(int which);  // RBT_RECORD_BY
} rbt_dependence;

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
        const rbt_dependence *by;
    } of;
    const char *example;  // JSON for the reference pages where the default shows little; NULL: made from the table
} rbt_field;

struct rbt_record {
    const char *name;  // for headings and "$defs"
    const char *doc;
    size_t size;  // sizeof the struct
    const rbt_field *fields;
    int field_count;
    bool cookie;  // the struct's first member is a uint64_t that rbt_record_default sets and checks ask for
};

// What that member must hold: depends on the name and the size of the struct.
uint64_t rbt_record_cookie(const rbt_record *record);

// The alternatives of an rbt_variant. Each is a field of its own (offset 0 in the memory that .value points to), so
// an alternative may be a record, a list, or again a variant; if it is a text, .value is the text itself.
struct rbt_variants {
    const char *name;
    const char *doc;
    const rbt_field *(*alternative)(int which);  // NULL past the end
    int text_means;  // alternative that a bare text stands for ("left" for {"set": "left"}), or -1
};

#define RBT_FIELDS(table)             (table), (int)(sizeof(table) / sizeof(table)[0]), false
#define RBT_FIELDS_WITH_COOKIE(table) (table), (int)(sizeof(table) / sizeof(table)[0]), true

// Bytes of memory a field of this kind occupies.
size_t rbt_field_size(const rbt_field *field);

// Fills a struct with its table's defaults: lists empty, variants absent, nested records likewise.
void rbt_record_default(const rbt_record *record, void *data);

// A struct with everything it points to, in memory of the arena; false if there is not enough.
bool rbt_record_copy(const rbt_record *record, rbt_arena *arena, const void *from, void *to);

// Whether two structs of numbers, choices and texts say the same.
bool rbt_record_same(const rbt_record *record, const void *a, const void *b);

// Bytes of an item of a list field.
size_t rbt_field_item_size(const rbt_field *field);

// The limits of a number or item; false if there is none on that side. RBT_ABOVE and RBT_BELOW say if they are open.
bool rbt_field_low(const rbt_field *field, double *limit);
bool rbt_field_high(const rbt_field *field, double *limit);
bool rbt_field_allows(const rbt_field *field, double value);  // within the limits and, if asked for, not zero

// "above 0 and below 0.5" and the like: the limits of a field in words, for messages and reference pages.
void rbt_field_limits(const rbt_field *field, char *text, size_t size);

const rbt_field *rbt_record_field(const rbt_record *record, const char *name);  // NULL if there is none

// The choice that the sibling of an RBT_CHOICE_BY or RBT_RECORD_BY field has in this struct.
int rbt_record_sibling(const rbt_record *record, const rbt_field *field, const void *data);

#endif
