// Two shapes that the description structs are made of.
#ifndef RUBATO_LIST_H
#define RUBATO_LIST_H

#include <stddef.h>

// `count` items; all lists share one layout, so that tables can describe them.
#define RBT_LIST(type)                                                                                               \
    struct {                                                                                                         \
        size_t count;                                                                                                \
        const type *items;                                                                                           \
    }

// One of several alternatives: `which` is an enum constant named beside the alternatives, `value` points to that
// alternative's struct; if it is a text, `value` is the text: {RBT_SELECT_SET, "left"}. which < 0: absent.
typedef struct rbt_variant {
    int which;
    const void *value;
} rbt_variant;

#endif
