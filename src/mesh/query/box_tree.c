// Splits at the median of the centres along the longest side, so the depth is that of a balanced tree; equal centres
// are told apart by their item's number, which makes the split unique.
#include "mesh/query/box_tree.h"

#include "base/memory.h"

enum { LEAF = RBT_BOX_TREE_LEAF };

typedef struct builder {
    rbt_box_tree *tree;
    const rbt_box *boxes;
    int axis;
} builder;

static double centre(const builder *b, int32_t item) {
    return b->boxes[item].min[b->axis] + b->boxes[item].max[b->axis];
}

static bool comes_before(const builder *b, int32_t left, int32_t right) {
    double x = centre(b, left), y = centre(b, right);
    return x < y || (x == y && left < right);
}

// Moves the k smallest items to the front (quickselect with the middle as pivot).
static void select_first(const builder *b, int32_t *items, int32_t count, int32_t k) {
    int32_t low = 0, high = count - 1;
    while (low < high) {
        int32_t pivot = items[low + (high - low) / 2], i = low, j = high;
        while (i <= j) {
            while (comes_before(b, items[i], pivot)) i++;
            while (comes_before(b, pivot, items[j])) j--;
            if (i <= j) {
                int32_t spare = items[i];
                items[i++] = items[j];
                items[j--] = spare;
            }
        }
        if (k <= j) high = j;
        else if (k >= i) low = i;
        else return;
    }
}

static int32_t build_node(builder *b, int32_t first, int32_t count) {
    int32_t number = (int32_t)b->tree->node_count++;
    rbt_box box = rbt_box_empty(), centres = rbt_box_empty();
    for (int32_t i = first; i < first + count; i++) {
        const rbt_box *item = &b->boxes[b->tree->order[i]];
        double middle[3];
        for (int k = 0; k < 3; k++) middle[k] = item->min[k] + item->max[k];
        rbt_box_include(&box, item->min, 0);
        rbt_box_include(&box, item->max, 0);
        rbt_box_include(&centres, middle, 0);
    }
    b->tree->nodes[number] = (rbt_box_node){box, first, count, 0};
    if (count <= LEAF) return number;
    b->axis = 0;
    for (int k = 1; k < 3; k++)
        if (centres.max[k] - centres.min[k] > centres.max[b->axis] - centres.min[b->axis]) b->axis = k;
    int32_t half = count / 2;
    select_first(b, b->tree->order + first, count, half);
    build_node(b, first, half);
    int32_t right = build_node(b, first + half, count - half);
    b->tree->nodes[number].right = right;
    return number;
}

bool rbt_box_tree_build(rbt_box_tree *tree, const rbt_box *boxes, size_t count, rbt_error *error) {
    *tree = (rbt_box_tree){0};
    if (count > INT32_MAX / 2)
        return rbt_fail(error, "%zu items: a tree of boxes holds at most %d", count, INT32_MAX / 2);
    tree->nodes = rbt_array_new(count, sizeof *tree->nodes, "a tree of boxes", error);
    tree->order = tree->nodes ? rbt_array_new(count, sizeof *tree->order, "a tree of boxes", error) : NULL;
    if (!tree->order) {
        rbt_box_tree_free(tree);
        return false;
    }
    for (size_t i = 0; i < count; i++) tree->order[i] = (int32_t)i;
    builder b = {tree, boxes, 0};
    if (count) build_node(&b, 0, (int32_t)count);
    return true;
}

static void unite(rbt_box *box, const rbt_box *more) {
    for (int k = 0; k < 3; k++) {
        if (more->min[k] < box->min[k]) box->min[k] = more->min[k];
        if (more->max[k] > box->max[k]) box->max[k] = more->max[k];
    }
}

// Children stand behind their parents, so backwards every node finds its children done.
void rbt_box_tree_refit(rbt_box_tree *tree, const rbt_box *boxes) {
    for (size_t i = tree->node_count; i-- > 0;) {
        rbt_box_node *node = &tree->nodes[i];
        node->box = rbt_box_empty();
        if (node->right) {
            unite(&node->box, &tree->nodes[i + 1].box);
            unite(&node->box, &tree->nodes[node->right].box);
        } else {
            for (int32_t k = node->first; k < node->first + node->count; k++)
                unite(&node->box, &boxes[tree->order[k]]);
        }
    }
}

void rbt_box_tree_free(rbt_box_tree *tree) {
    free(tree->nodes);
    free(tree->order);
    *tree = (rbt_box_tree){0};
}
