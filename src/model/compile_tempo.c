// The tempi of all bodies: which node takes which steps. A node that several selections hold belongs to the smallest of them;
// a selection that lies in another one is a part of it.
#include "model/compile.h"

#include <stdio.h>
#include <string.h>

typedef struct candidate {
    size_t body, index;     // of the description
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
    return x->index < y->index ? -1 : x->index > y->index;
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

static bool fill(rbt_compiler *c, candidate *list, size_t count) {
    rbt_tempo *items;
    int32_t *node;
    if (!RBT_TAKE(c, items, count) || !RBT_TAKE(c, node, c->model->node_count)) return false;
    memset(node, -1, c->model->node_count * sizeof *node);
    for (size_t i = 0; i < count; i++)
        if (!choose(c, &list[i])) return false;
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
    candidate *list = rbt_array_new(count, sizeof *list, "tempi", c->error);
    if (!list) return false;
    for (size_t b = 0; b < c->model->body_count; b++)
        for (size_t i = 0; i < c->scene->bodies.items[b].tempo.count; i++)
            list[at++] = (candidate){.body = b, .index = i};
    bool good = fill(c, list, count);
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
