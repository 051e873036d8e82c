// Elements that a file marks with numbers (references, regions, physical groups), on the way to becoming named sets.
//
// A mark says: the elements first .. first + count - 1 of a source carry this number. A source is one list of
// elements; it knows what kind of set its marks make.
#ifndef RBT_MESH_CORE_MARKS_H
#define RBT_MESH_CORE_MARKS_H

#include "base/text.h"
#include "rubato/mesh.h"

typedef struct rbt_mark {
    int source;
    int64_t number;
    size_t first, count;
} rbt_mark;

typedef struct rbt_marks {
    rbt_mark *items;
    size_t count, capacity;
} rbt_marks;

typedef struct rbt_mark_source {
    rbt_set_kind kind;
    const int32_t *items;  // (elements x per_element) what goes into the set for each element; NULL: its own index
    size_t per_element;
} rbt_mark_source;

// Appends the name of the set for the number to an empty text.
typedef void rbt_mark_name(const void *context, int source, int64_t number, rbt_text *name);

// Appends a mark, or lengthens the last one if this continues it.
bool rbt_marks_add(rbt_marks *marks, int source, int64_t number, size_t first, size_t count, rbt_error *error);

// One set for every (source, number), higher sources first, numbers ascending; those of the same kind whose names
// turn out equal are joined. The mesh must have no sets yet. Reorders the marks; n log n.
bool rbt_marks_to_sets(rbt_marks *marks, const rbt_mark_source *sources, rbt_mark_name *name, const void *context,
                       rbt_mesh *mesh, rbt_error *error);

void rbt_marks_free(rbt_marks *marks);

#endif
