// Short forms for writing tables: the key is the member's name.
#ifndef RBT_SCENE_TABLE_MACROS_H
#define RBT_SCENE_TABLE_MACROS_H

#define FIELD(type, member, which) .name = #member, .kind = which, .offset = offsetof(type, member)

#define TIME_SPAN(type, end)                                                                                         \
    {FIELD(type, from, RBT_REAL), .unit = "s", .max = INFINITY, .doc = "When it begins."}, {                         \
        FIELD(type, until, RBT_REAL), .flags = RBT_NEVER, .fallback = {INFINITY}, .unit = "s", .max = INFINITY,      \
                                      .doc = end                                                                     \
    }

#define RECORD(scope, name, type, table, title, sentence)                                                            \
    scope const rbt_record name = {title, sentence, sizeof(type), RBT_FIELDS(table)}

// The same of a struct that carries a cookie
#define RECORD_WITH_COOKIE(scope, name, type, table, title, sentence)                                                \
    scope const rbt_record name = {title, sentence, sizeof(type), RBT_FIELDS_WITH_COOKIE(table)}

// One of several: an object with this single key, whose value is a record.
#define ALTERNATIVE(key, table, sentence)                                                                            \
    { .name = key, .kind = RBT_RECORD, .of.record = table, .doc = sentence }

#define VARIANTS(scope, variants, table, at, title, sentence, text)                                                  \
    static const rbt_field *at(int which) {                                                                          \
        return which >= 0 && which < (int)(sizeof(table) / sizeof(table)[0]) ? &(table)[which] : NULL;               \
    }                                                                                                                \
    scope const rbt_variants variants = {title, sentence, at, text};

#endif
