#include "contact/broad_phase/tree.h"

#include "math/scalar.h"

#include <math.h>
#include <string.h>

void rbt_dop_empty(rbt_dop *dop) {
    for (int i = 0; i < RBT_DOP_AXES; i++) dop->low[i] = INFINITY, dop->high[i] = -INFINITY;
}

void rbt_dop_add_ball(rbt_dop *dop, const double centre[3], double radius) {
    double p[RBT_DOP_AXES];
    rbt_dop_project(centre, p);
    for (int i = 0; i < RBT_DOP_AXES; i++) {
        dop->low[i] = rbt_smaller(p[i] - radius, dop->low[i]);
        dop->high[i] = rbt_larger(p[i] + radius, dop->high[i]);
    }
}

// The widest gap along an axis; negative: they overlap
static double gap_between(const rbt_dop *a, const rbt_dop *b) {
    double widest = -INFINITY;
    for (int i = 0; i < RBT_DOP_AXES; i++) {
        double above = b->low[i] - a->high[i], below = a->low[i] - b->high[i];
        widest = rbt_larger(widest, rbt_larger(above, below));
    }
    return widest;
}

bool rbt_dop_overlap(const rbt_dop *a, const rbt_dop *b) { return gap_between(a, b) <= 0; }

void rbt_dop_add(rbt_dop *dop, const rbt_dop *other) {
    for (int i = 0; i < RBT_DOP_AXES; i++) {
        dop->low[i] = rbt_smaller(dop->low[i], other->low[i]);
        dop->high[i] = rbt_larger(dop->high[i], other->high[i]);
    }
}

static float ball_distance(const rbt_ball *a, const rbt_ball *b) {
    float x = a->centre[0] - b->centre[0], y = a->centre[1] - b->centre[1], z = a->centre[2] - b->centre[2];
    return sqrtf(x * x + y * y + z * z) + a->radius + b->radius;
}

// How far they can have drifted relative to each other, rounded up: at the start of the span, and at any time of it
static float first_drift(const rbt_drift *a, const rbt_drift *b) {
    return (1 + 0x1p-18f) * ball_distance(&a->first, &b->first);
}

static float drift_between(const rbt_drift *a, const rbt_drift *b) {
    float first = ball_distance(&a->first, &b->first), last = ball_distance(&a->last, &b->last);
    return (1 + 0x1p-18f) * ((first > last ? first : last) + a->reach + b->reach);
}

static float slack_of(const rbt_tree *tree, const rbt_node_pair *pair, double gap) {
    return (1 - 0x1p-18f) * (float)gap - first_drift(&tree->drifts[pair->a], &tree->drifts[pair->b]);
}

bool rbt_tree_init(rbt_tree *tree, size_t leaf_count, rbt_error *error) {
    *tree = (rbt_tree){.leaf_count = leaf_count, .node_count = leaf_count ? 2 * leaf_count - 1 : 0};
    tree->nodes = rbt_array_new(tree->node_count, sizeof *tree->nodes, "a tree of boxes", error);
    tree->leaf_node = rbt_array_new(leaf_count, sizeof *tree->leaf_node, "a tree of boxes", error);
    tree->order = rbt_array_new(leaf_count, sizeof *tree->order, "a tree of boxes", error);
    tree->drifts = rbt_array_new(tree->node_count, sizeof *tree->drifts, "a tree of boxes", error);
    if (!tree->nodes || !tree->leaf_node || !tree->order || !tree->drifts) {
        rbt_tree_free(tree);
        return false;
    }
    for (size_t n = 0; n < tree->node_count; n++) tree->drifts[n].first.radius = INFINITY;
    return true;
}

void rbt_tree_free(rbt_tree *tree) {
    free(tree->nodes);
    free(tree->leaf_node);
    free(tree->order);
    free(tree->front);
    free(tree->next);
    free(tree->pairs);
    free(tree->entries);
    free(tree->met);
    free(tree->drifts);
    *tree = (rbt_tree){0};
}

// Reorders items so that the `middle` ones with the least coordinates come first (Hoare's selection; ties by number)
static void split(int32_t *items, size_t count, size_t middle, const double *centres, int axis) {
    size_t low = 0, high = count - 1;
    while (low < high) {
        int32_t pivot = items[low + (high - low) / 2];
        double value = centres[3 * (size_t)pivot + (size_t)axis];
        size_t i = low, j = high;
        for (;;) {
            for (double c;
                 c = centres[3 * (size_t)items[i] + (size_t)axis], c < value || (c == value && items[i] < pivot);)
                i++;
            for (double c;
                 c = centres[3 * (size_t)items[j] + (size_t)axis], c > value || (c == value && items[j] > pivot);)
                j--;
            if (i >= j) break;
            int32_t swap = items[i];
            items[i++] = items[j];
            items[j--] = swap;
        }
        if (middle <= j) high = j;
        else low = j + 1;
    }
}

static void build(rbt_tree *tree, size_t node, int32_t *items, size_t count, const double *centres) {
    rbt_tree_node *own = &tree->nodes[node];
    own->size = (int32_t)count;
    own->leaf = -1;
    if (count == 1) {
        own->leaf = items[0];
        tree->leaf_node[items[0]] = (int32_t)node;
        return;
    }
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            double c = centres[3 * (size_t)items[i] + (size_t)k];
            low[k] = rbt_smaller(low[k], c);
            high[k] = rbt_larger(high[k], c);
        }
    int axis = 0;
    for (int k = 1; k < 3; k++)
        if (high[k] - low[k] > high[axis] - low[axis]) axis = k;
    size_t half = count / 2;
    split(items, count, half, centres, axis);
    own->right = (int32_t)(node + 2 * half);
    build(tree, node + 1, items, half, centres);
    build(tree, node + 2 * half, items + half, count - half, centres);
}

void rbt_tree_build(rbt_tree *tree, const double *centres) {
    for (size_t i = 0; i < tree->leaf_count; i++) tree->order[i] = (int32_t)i;
    if (tree->leaf_count) build(tree, 0, tree->order, tree->leaf_count, centres);
    tree->front_count = 0;
}

static void join_balls(const rbt_ball *a, const rbt_ball *b, rbt_ball *both) {
    float square[2] = {0, 0};
    for (int k = 0; k < 3; k++) {
        both->centre[k] = 0.5f * (a->centre[k] + b->centre[k]);
        square[0] += (a->centre[k] - both->centre[k]) * (a->centre[k] - both->centre[k]);
        square[1] += (b->centre[k] - both->centre[k]) * (b->centre[k] - both->centre[k]);
    }
    float left = sqrtf(square[0]) + a->radius, right = sqrtf(square[1]) + b->radius;
    both->radius = (1 + 0x1p-18f) * (left > right ? left : right);
}

void rbt_tree_refit_drifts(rbt_tree *tree) {
    for (size_t n = tree->node_count; n-- > 0;) {
        if (tree->nodes[n].leaf >= 0) continue;
        const rbt_drift *left = &tree->drifts[n + 1], *right = &tree->drifts[tree->nodes[n].right];
        join_balls(&left->first, &right->first, &tree->drifts[n].first);
        join_balls(&left->last, &right->last, &tree->drifts[n].last);
        tree->drifts[n].reach = left->reach > right->reach ? left->reach : right->reach;
    }
}

void rbt_tree_refit(rbt_tree *tree) {
    for (size_t n = tree->node_count; n-- > 0;) {
        rbt_tree_node *node = &tree->nodes[n];
        if (node->leaf >= 0) continue;
        node->dop = node[1].dop;
        rbt_dop_add(&node->dop, &tree->nodes[node->right].dop);
    }
    rbt_tree_refit_drifts(tree);
}

void rbt_tree_renew(rbt_tree *tree) {
    for (size_t i = 0; i < tree->front_count; i++) {
        rbt_node_pair *pair = &tree->front[i];
        float drift = first_drift(&tree->drifts[pair->a], &tree->drifts[pair->b]);
        pair->slack -= drift;
        pair->rest -= drift;
    }
}

static bool keep(rbt_tree *tree, rbt_node_pair pair, rbt_error *error) {
    if (tree->next_count == tree->next_capacity &&
        !rbt_array_reserve((void **)&tree->next, &tree->next_capacity, tree->next_count + 1, sizeof *tree->next,
                           "a separation list", error))
        return false;
    tree->next[tree->next_count++] = pair;
    return true;
}

// Two leaves that overlap
static bool report(rbt_tree *tree, rbt_node_pair pair, rbt_error *error) {
    size_t need = tree->pair_count + 1;
    if (!rbt_array_reserve((void **)&tree->pairs, &tree->pair_capacity, need, 2 * sizeof *tree->pairs,
                           "pairs of leaves", error) ||
        !rbt_array_reserve((void **)&tree->entries, &tree->entry_capacity, need, sizeof *tree->entries,
                           "pairs of leaves", error))
        return false;
    tree->pairs[2 * tree->pair_count] = tree->nodes[pair.a].leaf;
    tree->pairs[2 * tree->pair_count + 1] = tree->nodes[pair.b].leaf;
    tree->entries[tree->pair_count++] = tree->next_count;
    return keep(tree, pair, error);
}

static bool descend(rbt_tree *tree, rbt_node_pair pair, rbt_error *error) {
    const rbt_tree_node *a = &tree->nodes[pair.a], *b = &tree->nodes[pair.b];
    if (pair.a == pair.b) {
        if (a->leaf >= 0) return true;
        return descend(tree, (rbt_node_pair){pair.a + 1, pair.a + 1, -INFINITY, 0, 0}, error) &&
               descend(tree, (rbt_node_pair){a->right, a->right, -INFINITY, 0, 0}, error) &&
               descend(tree, (rbt_node_pair){pair.a + 1, a->right, -INFINITY, 0, 0}, error);
    }
    float drift = drift_between(&tree->drifts[pair.a], &tree->drifts[pair.b]);
    if (drift < pair.slack) return keep(tree, pair, error);
    if (pair.some && drift < pair.rest) return report(tree, pair, error);
    pair.some = 0;
    double gap = gap_between(&a->dop, &b->dop);
    pair.slack = slack_of(tree, &pair, gap);
    if (gap > 0) return keep(tree, pair, error);
    if (a->leaf >= 0 && b->leaf >= 0) return report(tree, pair, error);
    if (a->size >= b->size)
        return descend(tree, (rbt_node_pair){pair.a + 1, pair.b, -INFINITY, 0, 0}, error) &&
               descend(tree, (rbt_node_pair){a->right, pair.b, -INFINITY, 0, 0}, error);
    return descend(tree, (rbt_node_pair){pair.a, pair.b + 1, -INFINITY, 0, 0}, error) &&
           descend(tree, (rbt_node_pair){pair.a, b->right, -INFINITY, 0, 0}, error);
}

bool rbt_tree_collide(rbt_tree *tree, rbt_error *error) {
    tree->next_count = tree->pair_count = 0;
    bool ok = true;
    if (!tree->front_count && tree->node_count) ok = descend(tree, (rbt_node_pair){0, 0, -INFINITY, 0, 0}, error);
    for (size_t i = 0; ok && i < tree->front_count; i++) ok = descend(tree, tree->front[i], error);
    rbt_node_pair *swap = tree->front;
    size_t capacity = tree->front_capacity;
    tree->front = tree->next;
    tree->front_capacity = tree->next_capacity;
    tree->front_count = ok ? tree->next_count : 0;
    tree->next = swap;
    tree->next_capacity = capacity;
    return ok;
}

void rbt_tree_widen(rbt_tree *tree, size_t leaf) {
    size_t to = (size_t)tree->leaf_node[leaf], right;
    const rbt_dop *dop = &tree->nodes[to].dop;
    for (size_t n = 0; n != to; n = to < right ? n + 1 : right) {
        rbt_tree_node *node = &tree->nodes[n];
        rbt_dop_add(&node->dop, dop);
        right = (size_t)node->right;
    }
}

// Left children follow their parents, so what is left to be done after a node that is apart, or a leaf, is the next
// node beyond it.
bool rbt_tree_meet(rbt_tree *tree, const rbt_dop *dop, rbt_error *error) {
    tree->met_count = 0;
    for (size_t n = 0; n < tree->node_count;) {
        const rbt_tree_node *node = &tree->nodes[n];
        bool apart = !rbt_dop_overlap(dop, &node->dop);
        if (!apart && node->leaf >= 0) {
            if (!rbt_array_reserve((void **)&tree->met, &tree->met_capacity, tree->met_count + 1, sizeof *tree->met,
                                   "leaves", error))
                return false;
            tree->met[tree->met_count++] = node->leaf;
        }
        n += apart ? 2 * (size_t)node->size - 1 : 1;
    }
    return true;
}

void rbt_tree_tell(rbt_tree *tree, size_t i, double gap, int32_t some, double rest) {
    rbt_node_pair *entry = &tree->front[tree->entries[i]];
    entry->slack = slack_of(tree, entry, gap);
    entry->rest = slack_of(tree, entry, rest);
    entry->some = some;
}

void rbt_tree_tell_some(rbt_tree *tree, size_t i, double gap) {
    rbt_node_pair *entry = &tree->front[tree->entries[i]];
    float slack = slack_of(tree, entry, gap);
    entry->slack = slack < entry->rest ? slack : entry->rest;
}
