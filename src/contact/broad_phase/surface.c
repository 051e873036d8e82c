#include "contact/broad_phase/surface.h"

#include "math/vec3.h"

#include <stdio.h>
#include <string.h>

typedef struct side {
    int32_t low, high;
    int32_t leaf;
    int32_t corner;
} side;

static int compare_sides(const void *a, const void *b) {
    const side *s = a, *t = b;
    if (s->low != t->low) return s->low < t->low ? -1 : 1;
    if (s->high != t->high) return s->high < t->high ? -1 : 1;
    if (s->leaf != t->leaf) return s->leaf < t->leaf ? -1 : 1;
    return (s->corner > t->corner) - (s->corner < t->corner);
}

// Edges of triangles and free edges, each once; the first leaf of each owns it.
static void number_edges(rbt_contact_surface *s, side *sides) {
    size_t count = 0;
    for (size_t l = 0; l < s->leaf_count; l++) {
        const rbt_leaf *leaf = &s->leaves[l];
        for (int k = 0; k < (leaf->corners == 3 ? 3 : leaf->corners - 1); k++) {
            int32_t a = leaf->node[k], b = leaf->node[(k + 1) % leaf->corners];
            sides[count++] = (side){a < b ? a : b, a < b ? b : a, (int32_t)l, k};
        }
    }
    qsort(sides, count, sizeof *sides, compare_sides);
    for (size_t i = 0; i < count; i++) {
        bool first = i == 0 || sides[i].low != sides[i - 1].low || sides[i].high != sides[i - 1].high;
        if (first) {
            s->edges[2 * s->edge_count] = sides[i].low;
            s->edges[2 * s->edge_count++ + 1] = sides[i].high;
            s->leaves[sides[i].leaf].owned_edges |= (unsigned char)(1 << sides[i].corner);
        }
        s->leaves[sides[i].leaf].edge[sides[i].corner] = (int32_t)s->edge_count - 1;
    }
}

static void add_leaves(rbt_contact_surface *s, const int32_t *nodes, size_t count, int corners,
                       unsigned char *owned) {
    for (size_t i = 0; i < count; i++) {
        rbt_leaf *leaf = &s->leaves[s->leaf_count++];
        *leaf = (rbt_leaf){.corners = (signed char)corners};
        for (int k = 0; k < corners; k++) {
            leaf->node[k] = nodes[(size_t)corners * i + (size_t)k];
            if (!owned[leaf->node[k]]) leaf->owned_nodes |= (unsigned char)(1 << k);
            owned[leaf->node[k]] = 1;
        }
    }
}

bool rbt_contact_surface_init(rbt_contact_surface *s, const rbt_contact_surface_def *def, rbt_error *error) {
    *s = (rbt_contact_surface){.def = *def};
    size_t leaves = def->triangle_count + def->edge_count + def->point_count;
    if (leaves >= 1 << 29) return rbt_fail(error, "%zu surface elements: the limit is %d", leaves, 1 << 29);
    unsigned char *owned = rbt_array_new(def->node_count, 1, "a surface", error);
    side *sides = rbt_array_new(3 * leaves, sizeof *sides, "a surface", error);
    s->leaves = rbt_array_new(leaves, sizeof *s->leaves, "a surface", error);
    s->edges = rbt_array_new(3 * leaves, 2 * sizeof *s->edges, "a surface", error);
    bool ok = owned && sides && s->leaves && s->edges;
    if (ok) {
        add_leaves(s, def->triangles, def->triangle_count, 3, owned);
        add_leaves(s, def->edges, def->edge_count, 2, owned);
        add_leaves(s, def->points, def->point_count, 1, owned);
        number_edges(s, sides);
    }
    free(owned);
    free(sides);
    if (!ok) rbt_contact_surface_free(s);
    return ok;
}

void rbt_contact_surface_free(rbt_contact_surface *s) {
    free(s->leaves);
    free(s->edges);
    *s = (rbt_contact_surface){0};
}

void rbt_pair_nodes(const rbt_contact_surface *s, rbt_pair_key key, int32_t node[4]) {
    size_t a = key >> 30 & 0x3fffffff, b = key & 0x3fffffff;
    node[0] = (int32_t)a;
    node[1] = node[2] = node[3] = -1;
    switch (rbt_pair_key_kind(key)) {
    case RBT_TOUCH_FACE: memcpy(node + 1, s->leaves[b].node, 3 * sizeof *node); break;
    case RBT_TOUCH_EDGES:
        memcpy(node, s->edges + 2 * a, 2 * sizeof *node);
        memcpy(node + 2, s->edges + 2 * b, 2 * sizeof *node);
        break;
    case RBT_TOUCH_EDGE: memcpy(node + 1, s->edges + 2 * b, 2 * sizeof *node); break;
    case RBT_TOUCH_POINT: node[1] = (int32_t)b; break;
    case RBT_TOUCH_WALL: node[1] = s->def.walls[b].node; break;
    case RBT_TOUCH_STRETCH:
    case RBT_TOUCH_SHRINK: memcpy(node, s->edges + 2 * a, 2 * sizeof *node); break;
    default: break;
    }
}

double rbt_pair_inside(const rbt_contact_surface *s, rbt_pair_key key, const int32_t node[4]) {
    rbt_touch_kind kind = rbt_pair_key_kind(key);
    const rbt_contact_surface_def *def = &s->def;
    if (kind < RBT_TOUCH_STRETCH) return def->radius[node[0]] + def->radius[node[rbt_pair_first(kind)]];
    double along[3], limit = def->limit[(key & 0x3fffffff) - def->triangle_count];
    rbt_subtract(def->X + 3 * (size_t)node[1], def->X + 3 * (size_t)node[0], along);
    return kind == RBT_TOUCH_STRETCH ? -(1 + limit) * rbt_length(along) : (1 - limit) * rbt_length(along);
}

static bool light(const rbt_contact_surface *s, const int32_t *node, int count) {
    bool prescribed = false;
    for (int i = 0; i < count; i++) {
        if (s->def.inverse_mass[node[i]] > 0) return true;
        prescribed |= s->def.prescribed && s->def.prescribed[node[i]];
    }
    int32_t a = s->def.body[node[0]], b = s->def.body[node[count - 1]];
    if (s->def.blocks) return prescribed && (a >= 0 || b >= 0);
    return prescribed && a != b && a >= 0 && b >= 0;
}

bool rbt_pair_exists(const rbt_contact_surface *s, rbt_pair_key key) {
    int32_t node[4];
    rbt_pair_nodes(s, key, node);
    rbt_touch_kind kind = rbt_pair_key_kind(key);
    int first = rbt_pair_first(kind), corners = rbt_pair_corners(kind);
    for (int i = 0; i < first; i++)
        for (int j = first; j < corners; j++)
            if (node[i] == node[j]) return false;
    return light(s, node, corners);
}

bool rbt_pair_key_is_sound(const rbt_contact_surface *s, rbt_pair_key key) {
    size_t a = key >> 30 & 0x3fffffff, b = key & 0x3fffffff, nodes = s->def.node_count;
    bool named = false;
    switch (rbt_pair_key_kind(key)) {
    case RBT_TOUCH_FACE: named = a < nodes && b < s->leaf_count && s->leaves[b].corners == 3; break;
    case RBT_TOUCH_EDGES: named = a < s->edge_count && b < s->edge_count; break;
    case RBT_TOUCH_EDGE: named = a < nodes && b < s->edge_count; break;
    case RBT_TOUCH_POINT: named = a < nodes && b < nodes; break;
    case RBT_TOUCH_WALL: named = a < nodes && b < s->def.wall_count; break;
    default: break;
    }
    return named && rbt_pair_exists(s, key);
}

// The nodes that leaf a owns, or some of them, against what leaf b is
static int nodes_against(const rbt_contact_surface *s, int32_t a, int32_t b, int some, rbt_pair_key *keys) {
    const rbt_leaf *A = &s->leaves[a], *B = &s->leaves[b];
    int count = 0;
    for (int k = 0; k < A->corners; k++) {
        if (!((A->owned_nodes & some) >> k & 1)) continue;
        int32_t n = A->node[k];
        if (B->corners == 3 && (n == B->node[0] || n == B->node[1] || n == B->node[2])) continue;
        if (B->corners == 3) keys[count++] = rbt_pair_key_of(RBT_TOUCH_FACE, n, b);
        else if (B->corners == 2 && A->corners == 1) keys[count++] = rbt_pair_key_of(RBT_TOUCH_EDGE, n, B->edge[0]);
        else if (B->corners == 1 && A->corners == 1 && a < b)
            keys[count++] = rbt_pair_key_of(RBT_TOUCH_POINT, n, B->node[0]);
    }
    return count;
}

// Nodes and edges of leaf a, all or some of them, against all of leaf b; all nodes of leaf b against leaf a
static int names(const rbt_contact_surface *s, int32_t a, int32_t b, int nodes, int edges, rbt_pair_key keys[15]) {
    const rbt_leaf *A = &s->leaves[a], *B = &s->leaves[b];
    int count = nodes_against(s, a, b, nodes, keys);
    count += nodes_against(s, b, a, 7, keys + count);
    for (int i = 0; i < 3; i++)
        for (int j = 0; ((A->owned_edges & edges) >> i & 1) && j < 3; j++) {
            if (!(B->owned_edges >> j & 1)) continue;
            int32_t p = A->node[i], q = A->node[(i + 1) % A->corners], r = B->node[j],
                    u = B->node[(j + 1) % B->corners];
            if (p == r || p == u || q == r || q == u) continue;
            int32_t e = A->edge[i], f = B->edge[j];
            keys[count++] = rbt_pair_key_of(RBT_TOUCH_EDGES, e < f ? e : f, e < f ? f : e);
        }
    return count;
}

int rbt_leaf_names(const rbt_contact_surface *s, int32_t a, int32_t b, rbt_pair_key keys[15]) {
    return names(s, a, b, 7, 7, keys);
}

int rbt_leaf_names_of(const rbt_contact_surface *s, int32_t a, int32_t b, int32_t node, rbt_pair_key keys[15]) {
    const rbt_leaf *A = &s->leaves[a];
    int corner = node == A->node[0] ? 0 : node == A->node[1] ? 1 : 2;
    int edges = A->corners < 3 ? 7 : 1 << corner | 1 << (corner + 2) % 3;  // from the corner on, and to it
    return names(s, a, b, 1 << corner, edges, keys);
}

int rbt_leaf_pairs(const rbt_contact_surface *s, int32_t a, int32_t b, rbt_pair_key keys[15]) {
    int count = 0, names = rbt_leaf_names(s, a, b, keys);
    for (int i = 0; i < names; i++)
        if (rbt_pair_exists(s, keys[i])) keys[count++] = keys[i];
    return count;
}

void rbt_pair_text(const rbt_contact_surface *s, rbt_pair_key key, char *text, size_t size) {
    unsigned a = (unsigned)(key >> 30 & 0x3fffffff), b = (unsigned)(key & 0x3fffffff);
    int32_t n[4];
    rbt_pair_nodes(s, key, n);
    switch (rbt_pair_key_kind(key)) {
    case RBT_TOUCH_FACE: snprintf(text, size, "node %u and triangle %d-%d-%d", a, n[1], n[2], n[3]); break;
    case RBT_TOUCH_EDGES: snprintf(text, size, "edges %d-%d and %d-%d", n[0], n[1], n[2], n[3]); break;
    case RBT_TOUCH_EDGE: snprintf(text, size, "node %u and edge %d-%d", a, n[1], n[2]); break;
    case RBT_TOUCH_POINT: snprintf(text, size, "nodes %u and %u", a, b); break;
    case RBT_TOUCH_WALL: snprintf(text, size, "node %u and plane %u", a, b); break;
    default: snprintf(text, size, "the limits of spring %d-%d", n[0], n[1]); break;
    }
}

bool rbt_leaves_cross(const rbt_contact_surface *s, const double *x, int32_t a, int32_t b) {
    const rbt_leaf *A = &s->leaves[a], *B = &s->leaves[b];
    if (B->corners != 3 || A->corners < 2) return false;
    for (int k = 0; k < (A->corners == 3 ? 3 : 1); k++) {
        int32_t p = A->node[k], q = A->node[(k + 1) % A->corners];
        bool shared = false;
        for (int i = 0; i < 3; i++) shared |= B->node[i] == p || B->node[i] == q;
        if (!shared && rbt_gap_crosses(x + 3 * (size_t)p, x + 3 * (size_t)q, x + 3 * (size_t)B->node[0],
                                       x + 3 * (size_t)B->node[1], x + 3 * (size_t)B->node[2]))
            return true;
    }
    return false;
}
