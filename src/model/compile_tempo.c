// The tempi of all bodies: which node takes which steps. A node that several selections hold belongs to the smallest
// of them; a selection that lies in another one is a part of it. Where a selection falls into pieces that share no
// element, each becomes a part by itself: pieces do not know of each other, so their systems and interfaces are small.
#include "model/compile.h"

#include <stdio.h>
#include <string.h>

enum { MAX_PIECES = 64 };  // more are left together

typedef struct candidate {
    size_t body, index;     // of the description
    size_t piece;           // of the selection
    unsigned char *chosen;  // (nodes of the body)
    size_t count;
} candidate;

static const char *name_of(rbt_compiler *c, const candidate *k) {
    const rbt_tempo_def *def = &c->scene->bodies.items[k->body].tempo.items[k->index];
    return def->name ? rbt_arena_text(c->arena, def->name)
                     : rbt_compile_path(c, "bodies[%zu].tempo[%zu]", k->body, k->index);
}

static bool choose(rbt_compiler *c, candidate *k) {
    const rbt_body *body = &c->bodies[k->body];
    size_t nodes = body->node_end - body->node_begin;
    const char *path = rbt_compile_path(c, "bodies[%zu].tempo[%zu].where", k->body, k->index);
    k->chosen = rbt_array_new(nodes, 1, "a tempo", c->error);
    if (!k->chosen || !rbt_compile_select(c, k->body, &c->scene->bodies.items[k->body].tempo.items[k->index].where,
                                          path, k->chosen))
        return false;
    for (size_t i = 0; i < nodes; i++) k->count += k->chosen[i];
    return true;
}

// Large ones first, so that parents come before their children
static int by_size(const void *a, const void *b) {
    const candidate *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    if (x->body != y->body) return x->body < y->body ? -1 : 1;
    if (x->index != y->index) return x->index < y->index ? -1 : 1;
    return x->piece < y->piece ? -1 : x->piece > y->piece;
}

static int32_t find(int32_t *piece, int32_t n) {
    while (piece[n] != n) n = piece[n] = piece[piece[n]];
    return n;
}

// piece[n]: the least of the chosen nodes that n hangs together with, by elements, numbers of the body; -1: not
// chosen. Returns how many pieces there are.
static size_t find_pieces(const rbt_compiler *c, const candidate *k, int32_t *piece) {
    const rbt_body *body = &c->bodies[k->body];
    size_t nodes = body->node_end - body->node_begin, count = 0;
    for (size_t n = 0; n < nodes; n++) piece[n] = k->chosen[n] ? (int32_t)n : -1;
    for (size_t g = 0; g < c->model->group_count; g++) {
        const rbt_group *group = &c->model->groups[g];
        size_t corners = (size_t)group->type->corners;
        for (size_t e = 0; e < group->count * corners; e++)
            for (size_t l = e / corners * corners; l < e; l++) {
                size_t a = (size_t)group->nodes[e] - body->node_begin, b = (size_t)group->nodes[l] - body->node_begin;
                if (a >= nodes || b >= nodes || !k->chosen[a] || !k->chosen[b]) continue;
                int32_t p = find(piece, (int32_t)a), q = find(piece, (int32_t)b);
                piece[p < q ? q : p] = p < q ? p : q;
            }
    }
    for (size_t n = 0; n < nodes; n++) count += piece[n] == (int32_t)n;
    for (size_t n = 0; n < nodes; n++)
        if (piece[n] >= 0) piece[n] = find(piece, (int32_t)n);
    return count;
}

// The pieces of candidate `at`: the first in its position, the others behind the *count candidates of the list, which
// has room for them.
static bool split(rbt_compiler *c, candidate *list, size_t at, size_t *count) {
    const rbt_body *body = &c->bodies[list[at].body];
    size_t nodes = body->node_end - body->node_begin;
    int32_t *piece = rbt_array_new(nodes, sizeof *piece, "a tempo", c->error);
    size_t pieces = piece ? find_pieces(c, &list[at], piece) : 0, made = 0;
    for (size_t n = 0; pieces > 1 && pieces <= MAX_PIECES && n < nodes; n++) {
        if (piece[n] != (int32_t)n || !made++) continue;  // the first piece stays
        candidate *own = &list[(*count)++];
        *own = (candidate){.body = list[at].body, .index = list[at].index, .piece = made - 1};
        if (!(own->chosen = rbt_array_new(nodes, 1, "a tempo", c->error))) break;
        for (size_t i = n; i < nodes; i++)
            if (piece[i] == (int32_t)n) {
                own->chosen[i] = 1;
                own->count++;
                list[at].chosen[i] = 0;
                list[at].count--;
            }
    }
    bool good = piece && (pieces <= 1 || pieces > MAX_PIECES || made == pieces);
    free(piece);
    return good && (!made || list[*count - 1].chosen);
}

static bool is_inside(const rbt_compiler *c, const candidate *inner, const candidate *outer) {
    const rbt_body *body = &c->bodies[inner->body];
    if (inner->body != outer->body || inner->count >= outer->count) return false;
    for (size_t i = 0; i < body->node_end - body->node_begin; i++)
        if (inner->chosen[i] && !outer->chosen[i]) return false;
    return true;
}

static bool fill_item(rbt_compiler *c, const candidate *list, size_t at, rbt_tempo *items, int32_t *node) {
    const candidate *k = &list[at];
    const rbt_body *body = &c->bodies[k->body];
    int substeps = c->scene->bodies.items[k->body].tempo.items[k->index].substeps, above = 1;
    items[at] = (rbt_tempo){.name = name_of(c, k), .body = (int)k->body, .parent = -1};
    for (size_t o = 0; o < at; o++)
        if (is_inside(c, k, &list[o])) items[at].parent = (int)o;
    for (int p = items[at].parent; p >= 0; p = items[p].parent) above *= items[p].substeps;
    if (substeps % above)
        return rbt_fail_path(
            c->error, c->scene->file, rbt_compile_path(c, "bodies[%zu].tempo[%zu].substeps", k->body, k->index),
            "must be a multiple of %d, since \"%s\" lies inside \"%s\", which takes so many; found %d", above,
            items[at].name, items[items[at].parent].name, substeps);
    items[at].substeps = substeps / above;
    for (size_t i = 0; i < body->node_end - body->node_begin; i++)
        if (k->chosen[i]) node[body->node_begin + i] = (int32_t)at;
    return true;
}

static bool warn_everything(rbt_compiler *c, const rbt_tempos *tempos) {
    for (size_t n = 0; n < c->model->node_count; n++)
        if (tempos->node[n] < 0) return true;
    return rbt_compile_warn(
        c, "the tempi hold every node, so that no part is left to take the long step: the same motion "
           "costs less with time.step divided by the substeps");
}

// *total grows with the pieces.
static bool fill(rbt_compiler *c, candidate *list, size_t *total) {
    rbt_tempo *items;
    int32_t *node;
    size_t count = *total;
    for (size_t i = 0; i < count; i++)
        if (!choose(c, &list[i])) return false;
    for (size_t i = 0; i < count; i++)
        if (!split(c, list, i, total)) return false;
    count = *total;
    if (!RBT_TAKE(c, items, count) || !RBT_TAKE(c, node, c->model->node_count)) return false;
    memset(node, -1, c->model->node_count * sizeof *node);
    qsort(list, count, sizeof *list, by_size);
    for (size_t i = 0; i < count; i++)
        if (!fill_item(c, list, i, items, node)) return false;
    c->model->tempos = (rbt_tempos){count, items, node};
    if (rbt_tempos_check(c->model, &c->model->tempos, c->error)) return warn_everything(c, &c->model->tempos);
    if (c->error) snprintf(c->error->file, sizeof c->error->file, "%s", c->scene->file ? c->scene->file : "");
    return false;
}

bool rbt_compile_tempos(rbt_compiler *c) {
    size_t count = 0, at = 0;
    for (size_t b = 0; b < c->model->body_count; b++) count += c->scene->bodies.items[b].tempo.count;
    if (!count) return true;
    candidate *list = rbt_array_new(count * MAX_PIECES, sizeof *list, "tempi", c->error);
    if (!list) return false;
    for (size_t b = 0; b < c->model->body_count; b++)
        for (size_t i = 0; i < c->scene->bodies.items[b].tempo.count; i++)
            list[at++] = (candidate){.body = b, .index = i};
    bool good = fill(c, list, &count);
    for (size_t i = 0; i < count; i++) free(list[i].chosen);
    free(list);
    return good;
}

// ---- What may touch

// At most one of the two nodes takes the long step.
static bool fail_touch(const rbt_model *m, const rbt_tempos *t, size_t a, size_t b, rbt_error *error) {
    int p = t->node[a], q = t->node[b];
    const rbt_body *body = &m->bodies[m->node_body[a]];
    if (p < 0) return fail_touch(m, t, b, a, error);
    size_t i = a - body->node_begin, j = b - body->node_begin;
    if (q < 0)
        return rbt_fail(
            error,
            "tempo \"%s\" of body \"%s\" lies inside \"%s\" but reaches beyond it: its node %zu shares an "
            "element with node %zu, which takes the long step; put a layer of nodes around it into \"%s\"",
            t->items[p].name, body->name, t->items[t->items[p].parent].name, i, j, t->items[t->items[p].parent].name);
    return rbt_fail(
        error,
        "tempi \"%s\" and \"%s\" of body \"%s\" touch: node %zu of the one shares an element with node %zu of "
        "the other; leave a layer of nodes between them, or put the one with shorter steps inside the other, "
        "with a layer of nodes around it",
        t->items[p].name, t->items[q].name, body->name, i, j);
}

bool rbt_tempos_check(const rbt_model *m, const rbt_tempos *t, rbt_error *error) {
    for (size_t g = 0; g < m->group_count; g++) {
        const rbt_group *group = &m->groups[g];
        size_t corners = (size_t)group->type->corners;
        for (size_t k = 0; k < group->count * corners; k++)
            for (size_t l = k / corners * corners; l < k; l++) {
                size_t a = (size_t)group->nodes[k], b = (size_t)group->nodes[l];
                int p = t->node[a], q = t->node[b];
                if (p == q || (p >= 0 && t->items[p].parent == q) || (q >= 0 && t->items[q].parent == p)) continue;
                return fail_touch(m, t, a, b, error);
            }
    }
    return true;
}
