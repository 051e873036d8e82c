// What a surface can be coloured by: the table behind `rubato render --color`.
#ifndef RBT_VIEW_COLORING_H
#define RBT_VIEW_COLORING_H

#include "base/error.h"

typedef enum rbt_coloring_kind {
    RBT_COLOR_PLAIN,
    RBT_COLOR_VALUES,   // size of the field, interpolated
    RBT_COLOR_KINDS,    // whole numbers of the cells, one colour each
    RBT_COLOR_QUALITY,  // shape of the tets
} rbt_coloring_kind;

typedef struct rbt_coloring {
    const char *name;
    const char *doc;
    rbt_coloring_kind kind;
    const char *field;  // array of the frames, NULL if none is needed
    const char *title;  // in the legend
    const char *unit;   // of the field's numbers
    double share;       // of the vertices whose values the colours must cover; the rest may lie beyond the end
} rbt_coloring;

const rbt_coloring *rbt_coloring_at(int i);  // NULL past the end
const char *rbt_coloring_name(int i);        // NULL past the end
const rbt_coloring *rbt_coloring_find(const char *name, rbt_error *error);

#endif
