#include "model/pieces.h"

#include <stdlib.h>
#include <string.h>

int32_t rbt_pieces_root(int32_t *parent, int32_t n) {
    while (parent[n] != n) n = parent[n] = parent[parent[n]];
    return n;
}

void rbt_pieces_join(int32_t *parent, int32_t a, int32_t b) {
    a = rbt_pieces_root(parent, a);
    b = rbt_pieces_root(parent, b);
    if (a < b) parent[b] = a;
    else parent[a] = b;
}

static void join_all(const rbt_model *m, int32_t *parent) {
    for (size_t n = 0; n < m->node_count; n++) parent[n] = (int32_t)n;
    for (size_t g = 0; g < m->group_count; g++) {
        size_t corners = (size_t)m->groups[g].type->corners;
        for (size_t e = 0; e < m->groups[g].count; e++) {
            const int32_t *node = m->groups[g].nodes + corners * e;
            for (size_t a = 1; a < corners; a++) rbt_pieces_join(parent, node[0], node[a]);
        }
    }
    for (size_t b = 0; b < m->body_count; b++) {
        const rbt_body *body = &m->bodies[b];
        if (body->kind != RBT_PARTICLES) continue;
        for (size_t n = body->node_begin; n < body->node_end; n++)
            rbt_pieces_join(parent, (int32_t)body->node_begin, (int32_t)n);
    }
}

// Numbers the roots in their order: piece[n] for every node; returns how many there are. A root is the least node of
// its tree, so it has its number before the others ask for it.
static size_t number(size_t nodes, int32_t *parent, int32_t *piece) {
    size_t count = 0;
    for (size_t n = 0; n < nodes; n++) {
        int32_t root = rbt_pieces_root(parent, (int32_t)n);
        piece[n] = root == (int32_t)n ? (int32_t)count++ : piece[root];
    }
    return count;
}

static size_t blocks_of(size_t nodes) { return (nodes + RBT_PIECE_BLOCK - 1) / RBT_PIECE_BLOCK; }

// The lists, once pieces are numbered; `size` (count) holds how many nodes each has and is used up.
static void list(rbt_pieces *p, size_t nodes, const int32_t *piece, size_t *size) {
    size_t first = 0, block = 0;
    for (size_t i = 0; i < p->count; i++) {
        p->piece_start[i] = block;
        for (size_t k = 0; k < size[i]; k += RBT_PIECE_BLOCK) p->block_start[block++] = first + k;
        size_t own = size[i];
        size[i] = first;
        first += own;
    }
    p->piece_start[p->count] = block;
    p->block_start[block] = nodes;
    for (size_t n = 0; n < nodes; n++) p->order[size[piece[n]]++] = (int32_t)n;
}

bool rbt_pieces_find(rbt_pieces *p, rbt_arena *arena, const rbt_model *m, rbt_error *error) {
    size_t nodes = m->node_count;
    int32_t *parent = rbt_array_new(nodes, sizeof *parent, "connected pieces", error);
    int32_t *piece = rbt_array_new(nodes, sizeof *piece, "connected pieces", error);
    size_t *size = NULL;
    bool ok = parent && piece;
    if (ok) {
        if (m->ranks) {
            memcpy(piece, m->ranks->piece, nodes * sizeof *piece);
            p->count = m->ranks->piece_count;
        } else {
            join_all(m, parent);
            p->count = number(nodes, parent, piece);
        }
        ok = (size = rbt_array_new(p->count, sizeof *size, "connected pieces", error)) != NULL;
    }
    if (ok) {
        for (size_t n = 0; n < nodes; n++) size[piece[n]]++;
        p->block_count = 0;
        for (size_t i = 0; i < p->count; i++) p->block_count += blocks_of(size[i]);
        ok = (p->order = rbt_arena_take(arena, nodes, sizeof *p->order)) &&
             (p->block_start = rbt_arena_take(arena, p->block_count + 1, sizeof *p->block_start)) &&
             (p->piece_start = rbt_arena_take(arena, p->count + 1, sizeof *p->piece_start));
        if (ok) list(p, nodes, piece, size);
        else rbt_fail_memory(error, nodes * sizeof *p->order, "connected pieces");
    }
    free(parent);
    free(piece);
    free(size);
    return ok;
}
