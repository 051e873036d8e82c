// From the numbers that a file gives its nodes, in any order and with gaps, to their indices. Tags that count up one
// by one need no memory, tags in a narrow range a table, all others a sorted list.
#ifndef RBT_MESH_IO_TAG_MAP_H
#define RBT_MESH_IO_TAG_MAP_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

typedef struct rbt_tagged {
    int64_t tag;
    int32_t index;
} rbt_tagged;

typedef struct rbt_tag_map {
    int64_t first;       // smallest tag
    size_t range;        // largest - smallest + 1 where that is small enough for a table
    int32_t *table;      // (range) index or -1; NULL: index = tag - first
    rbt_tagged *sorted;  // (count) used instead if not NULL
    size_t count;
} rbt_tag_map;

// false if a tag occurs twice, with *twice set to it and *found true, or for lack of memory.
bool rbt_tag_map_build(rbt_tag_map *map, const int64_t *tags, size_t count, int64_t *twice, bool *found,
                       rbt_error *error);
int32_t rbt_tag_map_find(const rbt_tag_map *map, int64_t tag);  // -1 if there is none
void rbt_tag_map_free(rbt_tag_map *map);

#endif
