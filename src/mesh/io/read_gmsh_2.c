// Nodes and elements of gmsh version 2: every element carries its own type and tags (physical group, entity, …).
//
// Text:   number type count-of-tags tags… nodes…
// Binary: blocks of a header (type, elements that follow, count of tags) and then number tags… nodes… for each.
#include "mesh/io/gmsh.h"

bool rbt_gmsh_read_nodes_2(rbt_gmsh *g) {
    rbt_values *in = &g->in;
    int64_t count;
    // The count is text in both encodings; in a binary file the bytes begin behind its line end.
    if (!rbt_scan_int(&in->scan, &count)) return rbt_values_missing(in, g->error, "the number of nodes");
    if (in->binary) {
        const char *line;
        size_t length;
        rbt_scan_rest(&in->scan, &line, &length);
    }
    if (!rbt_values_count(in, count, "nodes", 4, 28, g->error) || !rbt_gmsh_reserve_nodes(g, (size_t)count))
        return false;
    for (int64_t i = 0; i < count; i++) {
        double *x = g->nodes + 3 * g->node_count;
        if (!rbt_values_int(in, 4, &g->node_tags[g->node_count]) || !rbt_values_real(in, 8, &x[0]) ||
            !rbt_values_real(in, 8, &x[1]) || !rbt_values_real(in, 8, &x[2]))
            return rbt_values_missing(in, g->error, "tag and three coordinates of node %lld of %lld",
                                      (long long)i + 1, (long long)count);
        g->node_count++;
    }
    return true;
}

// gmsh lists an element once for each of its physical groups, one after the other: all but the first only mark it.
static bool is_repeated(const rbt_gmsh *g, const rbt_gmsh_elements *list, int dimension, int64_t physical) {
    if (list->count < 1 || !g->run_count) return false;
    const rbt_gmsh_run *last = &g->runs[g->run_count - 1];
    if (last->dimension != dimension || last->physical == physical || last->first + last->count != list->count)
        return false;
    size_t n = (size_t)dimension + 1;
    const int32_t *fresh = list->corners + n * list->count;
    return memcmp(fresh, fresh - n, n * sizeof *fresh) == 0;
}

static bool read_element(rbt_gmsh *g, const rbt_gmsh_type *type, int64_t tag, int64_t tag_count) {
    rbt_values *in = &g->in;
    int64_t tags[2] = {0}, other;  // physical group and entity; the partitions that may follow are not needed
    for (int64_t k = 0; k < tag_count; k++)
        if (!rbt_values_int(in, 4, k < 2 ? &tags[k] : &other))
            return rbt_values_missing(in, g->error, "%lld tags of element %lld", (long long)tag_count,
                                      (long long)tag);
    if (type->dimension < 0) {
        for (int k = 0; k < type->corners; k++)
            if (!rbt_values_int(in, 4, &other))
                return rbt_values_missing(in, g->error, "%d nodes of element %lld", type->corners, (long long)tag);
        return true;
    }
    int d = type->dimension;
    rbt_gmsh_elements *list = &g->elements[d];
    if (!rbt_gmsh_reserve_elements(g, d, 1)) return false;
    if (!rbt_gmsh_take_corners(g, type, tag, 4, list->corners + (size_t)(d + 1) * list->count)) return false;
    // A negative physical group stands for the reversed element.
    int64_t physical = tags[0] < 0 ? -tags[0] : tags[0];
    if (is_repeated(g, list, d, physical))
        return rbt_gmsh_add_run(g, (rbt_gmsh_run){d, tags[1], physical, list->count - 1, 1});
    list->tags[list->count++] = tag;
    return rbt_gmsh_add_run(g, (rbt_gmsh_run){d, tags[1], physical, list->count - 1, 1});
}

static bool check_tag_count(rbt_gmsh *g, int64_t tag_count) {
    if (tag_count >= 0) return true;
    return rbt_values_fail(&g->in, g->error, "%lld tags: a count cannot be negative", (long long)tag_count);
}

static bool read_text_elements(rbt_gmsh *g, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        int64_t tag, number, tag_count;
        if (!rbt_values_int(&g->in, 4, &tag) || !rbt_values_int(&g->in, 4, &number) ||
            !rbt_values_int(&g->in, 4, &tag_count))
            return rbt_values_missing(&g->in, g->error, "number, type and count of tags of element %lld of %lld",
                                      (long long)i + 1, (long long)count);
        const rbt_gmsh_type *type = rbt_gmsh_find_type(g, number, 1);
        if (!type || !check_tag_count(g, tag_count) || !read_element(g, type, tag, tag_count)) return false;
    }
    return true;
}

static bool read_binary_elements(rbt_gmsh *g, int64_t count) {
    int64_t done = 0;
    while (done < count) {
        int64_t number, block, tag_count, tag;
        if (!rbt_values_int(&g->in, 4, &number) || !rbt_values_int(&g->in, 4, &block) ||
            !rbt_values_int(&g->in, 4, &tag_count))
            return rbt_values_missing(&g->in, g->error, "the header of a block of elements");
        if (block < 1 || block > count - done)
            return rbt_values_fail(&g->in, g->error, "a block of %lld elements, where %lld of %lld are left",
                                   (long long)block, (long long)(count - done), (long long)count);
        const rbt_gmsh_type *type = rbt_gmsh_find_type(g, number, (size_t)block);
        if (!type || !check_tag_count(g, tag_count)) return false;
        for (int64_t i = 0; i < block; i++) {
            if (!rbt_values_int(&g->in, 4, &tag))
                return rbt_values_missing(&g->in, g->error, "element %lld of %lld", (long long)(done + i) + 1,
                                          (long long)count);
            if (!read_element(g, type, tag, tag_count)) return false;
        }
        done += block;
    }
    return true;
}

bool rbt_gmsh_read_elements_2(rbt_gmsh *g) {
    rbt_values *in = &g->in;
    int64_t count;
    if (!rbt_scan_int(&in->scan, &count)) return rbt_values_missing(in, g->error, "the number of elements");
    if (in->binary) {
        const char *line;
        size_t length;
        rbt_scan_rest(&in->scan, &line, &length);
    }
    if (!rbt_values_count(in, count, "elements", 4, 8, g->error)) return false;
    return in->binary ? read_binary_elements(g, count) : read_text_elements(g, count);
}
