#include "mesh/io/tag_map.h"

#include "base/memory.h"

static int compare_tags(const void *a, const void *b) {
    const rbt_tagged *x = a, *y = b;
    if (x->tag != y->tag) return x->tag < y->tag ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static bool build_table(rbt_tag_map *map, const int64_t *tags, size_t count, int64_t *twice, bool *found,
                        rbt_error *error) {
    map->table = rbt_array_new(map->range, sizeof(int32_t), "node numbers", error);
    if (!map->table) return false;
    for (size_t i = 0; i < map->range; i++) map->table[i] = -1;
    for (size_t i = 0; i < count; i++) {
        int32_t *place = &map->table[tags[i] - map->first];
        if (*place >= 0) {
            *twice = tags[i];
            *found = true;
            return false;
        }
        *place = (int32_t)i;
    }
    return true;
}

static bool build_sorted(rbt_tag_map *map, const int64_t *tags, size_t count, int64_t *twice, bool *found,
                         rbt_error *error) {
    map->sorted = rbt_array_new(count, sizeof(rbt_tagged), "node numbers", error);
    if (!map->sorted) return false;
    for (size_t i = 0; i < count; i++) map->sorted[i] = (rbt_tagged){tags[i], (int32_t)i};
    qsort(map->sorted, count, sizeof(rbt_tagged), compare_tags);
    for (size_t i = 1; i < count; i++)
        if (map->sorted[i].tag == map->sorted[i - 1].tag) {
            *twice = map->sorted[i].tag;
            *found = true;
            return false;
        }
    return true;
}

bool rbt_tag_map_build(rbt_tag_map *map, const int64_t *tags, size_t count, int64_t *twice, bool *found,
                       rbt_error *error) {
    *map = (rbt_tag_map){.count = count};
    *found = false;
    if (!count) return true;
    int64_t least = tags[0], most = tags[0];
    bool one_by_one = true;
    for (size_t i = 1; i < count; i++) {
        one_by_one &= (uint64_t)tags[i] == (uint64_t)tags[i - 1] + 1 && tags[i] > tags[i - 1];
        if (tags[i] < least) least = tags[i];
        if (tags[i] > most) most = tags[i];
    }
    map->first = least;
    uint64_t span = (uint64_t)most - (uint64_t)least;  // without overflow for tags of either sign
    if (one_by_one) {
        map->range = count;
        return true;
    }
    if (span >= 4 * (uint64_t)count + 1000) return build_sorted(map, tags, count, twice, found, error);
    map->range = (size_t)span + 1;
    return build_table(map, tags, count, twice, found, error);
}

int32_t rbt_tag_map_find(const rbt_tag_map *map, int64_t tag) {
    if (map->sorted) {
        size_t low = 0, high = map->count;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (map->sorted[middle].tag < tag) low = middle + 1;
            else high = middle;
        }
        return low < map->count && map->sorted[low].tag == tag ? map->sorted[low].index : -1;
    }
    uint64_t offset = (uint64_t)tag - (uint64_t)map->first;
    if (tag < map->first || offset >= map->range) return -1;
    return map->table ? map->table[offset] : (int32_t)offset;
}

void rbt_tag_map_free(rbt_tag_map *map) {
    free(map->table);
    free(map->sorted);
    *map = (rbt_tag_map){0};
}
