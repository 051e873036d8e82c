#include "model/division.h"

#include "solve/partition.h"

#include <string.h>

static const char *const WHAT = "subdomains";

typedef struct elements {  // of all bodies: tets, triangles of shells, edges of nets
    size_t count, corner_count;
    size_t *start;
    int32_t *node;
} elements;

static void add_elements(elements *e, const int32_t *node, size_t corners, size_t begin, size_t end) {
    for (size_t k = begin; k < end; k++) {
        memcpy(e->node + e->corner_count, node + corners * k, corners * sizeof *node);
        e->corner_count += corners;
        e->start[++e->count] = e->corner_count;
    }
}

static bool collect(elements *e, const rbt_model *m, rbt_error *error) {
    size_t most = m->tet_count + m->triangle_count + m->edge_count;
    *e = (elements){.start = rbt_array_new(most + 1, sizeof *e->start, WHAT, error),
                    .node = rbt_array_new(4 * most, sizeof *e->node, WHAT, error)};
    if (!e->start || !e->node) return false;
    for (size_t b = 0; b < m->body_count; b++) {
        const rbt_body *body = &m->bodies[b];
        add_elements(e, m->tets, 4, body->tet_begin, body->tet_end);
        if (body->kind == RBT_SHELL) add_elements(e, m->triangles, 3, body->triangle_begin, body->triangle_end);
        add_elements(e, m->edges, 2, body->edge_begin, body->edge_end);
    }
    return true;
}

static int compare_keys(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

// The nodes of each part, from the corners of its elements; nodes without an element go to the first.
static bool list_members(rbt_division *s, size_t nodes, const elements *e, const int32_t *part, rbt_error *error) {
    size_t count = 0, unique = 0;
    uint64_t *keys = rbt_array_new(e->corner_count + nodes, sizeof *keys, WHAT, error);
    unsigned char *seen = rbt_array_new(nodes, 1, WHAT, error);
    bool ok = keys && seen;
    for (size_t k = 0; ok && k < e->count; k++)
        for (size_t c = e->start[k]; c < e->start[k + 1]; c++) {
            keys[count++] = (uint64_t)(uint32_t)part[k] << 32 | (uint32_t)e->node[c];
            seen[e->node[c]] = 1;
        }
    for (size_t n = 0; ok && n < nodes; n++)
        if (!seen[n]) keys[count++] = n;
    if (ok) qsort(keys, count, sizeof *keys, compare_keys);
    for (size_t k = 0; ok && k < count; k++)
        if (!unique || keys[unique - 1] != keys[k]) keys[unique++] = keys[k];
    ok = ok && (s->members = rbt_array_new(unique, sizeof *s->members, WHAT, error));
    for (size_t k = 0; ok && k < unique; k++) {
        s->members[k] = (int32_t)(uint32_t)keys[k];
        s->member_start[1 + (keys[k] >> 32)]++;
    }
    for (size_t j = 0; ok && j < s->count; j++) s->member_start[j + 1] += s->member_start[j];
    free(keys);
    free(seen);
    return ok;
}

static bool divide(rbt_division *s, size_t nodes, const elements *e, rbt_error *error) {
    int32_t *part = rbt_array_new(e->count, sizeof *part, WHAT, error);
    bool ok = part && rbt_partition(e->count, e->start, e->node, nodes, (int)s->count, part, error) &&
              list_members(s, nodes, e, part, error);
    free(part);
    return ok;
}

static void list_homes(rbt_division *s, size_t nodes) {
    size_t *start = s->home_start;
    for (size_t k = 0; k < s->member_start[s->count]; k++) start[s->members[k] + 1]++;
    for (size_t n = 0; n < nodes; n++) start[n + 1] += start[n];
    for (size_t j = 0; j < s->count; j++)
        for (size_t k = s->member_start[j]; k < s->member_start[j + 1]; k++)
            s->homes[start[s->members[k]]++] = (int32_t)j;
    for (size_t n = nodes; n > 0; n--) start[n] = start[n - 1];
    start[0] = 0;
}

bool rbt_division_build(rbt_division *s, const rbt_model *m, size_t count, rbt_error *error) {
    elements e;
    size_t nodes = m->node_count;
    bool ok = collect(&e, m, error);
    if (ok && count > e.count) count = e.count;
    *s = (rbt_division){.count = count < 1 ? 1 : count};
    ok = ok && (s->member_start = rbt_array_new(s->count + 1, sizeof *s->member_start, WHAT, error)) &&
         divide(s, nodes, &e, error) &&
         (s->home_start = rbt_array_new(nodes + 1, sizeof *s->home_start, WHAT, error)) &&
         (s->homes = rbt_array_new(s->member_start[s->count], sizeof *s->homes, WHAT, error));
    if (ok) list_homes(s, nodes);
    free(e.start);
    free(e.node);
    if (!ok) rbt_division_free(s);
    return ok;
}

// Members are counted by subdomain and put down in the order of nodes.
bool rbt_division_from_homes(rbt_division *s, size_t nodes, size_t count, const size_t *home_start,
                             const int32_t *homes, rbt_error *error) {
    size_t all = home_start[nodes];
    *s = (rbt_division){.count = count,
                        .member_start = rbt_array_new(count + 2, sizeof *s->member_start, WHAT, error),
                        .members = rbt_array_new(all, sizeof *s->members, WHAT, error),
                        .home_start = rbt_array_new(nodes + 1, sizeof *s->home_start, WHAT, error),
                        .homes = rbt_array_new(all, sizeof *s->homes, WHAT, error)};
    if (!s->member_start || !s->members || !s->home_start || !s->homes) {
        rbt_division_free(s);
        return false;
    }
    memcpy(s->home_start, home_start, (nodes + 1) * sizeof *home_start);
    memcpy(s->homes, homes, all * sizeof *homes);
    for (size_t k = 0; k < all; k++) s->member_start[homes[k] + 2]++;
    for (size_t j = 0; j < count; j++) s->member_start[j + 2] += s->member_start[j + 1];
    for (size_t n = 0; n < nodes; n++)
        for (size_t k = home_start[n]; k < home_start[n + 1]; k++)
            s->members[s->member_start[homes[k] + 1]++] = (int32_t)n;
    return true;
}

void rbt_division_free(rbt_division *s) {
    free(s->member_start);
    free(s->members);
    free(s->home_start);
    free(s->homes);
    *s = (rbt_division){0};
}
