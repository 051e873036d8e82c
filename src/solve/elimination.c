#include "solve/elimination.h"

#include "base/memory.h"

static const char WHAT[] = "the elimination tree of a matrix";

void rbt_elimination_free(rbt_elimination *e) {
    free(e->parent);
    free(e->post);
    free(e->rows);
    *e = (rbt_elimination){0};
}

// ---- the tree ----

// Liu's algorithm (1986), row by row: the entries of row i left of the diagonal are in trees found so far, whose
// roots get i for a parent. `above` leads from a column towards the root of its tree; every walk leaves a shortcut to
// i behind.
static void find_parents(rbt_elimination *e, const rbt_node_graph *g, const int32_t *order, const int32_t *place,
                         int32_t *above) {
    for (int32_t i = 0; i < (int32_t)e->count; i++) {
        size_t v = (size_t)order[i];
        e->parent[i] = above[i] = -1;
        for (size_t k = g->start[v]; k < g->start[v + 1]; k++) {
            int32_t j = place[g->neighbour[k]];
            while (j >= 0 && j < i) {
                int32_t next = above[j];
                if (next < 0) e->parent[j] = i;
                above[j] = i;
                j = next;
            }
        }
    }
}

// ---- postorders ----

// The columns by their number of rows, equal ones ascending. `begin` (count + 2)
static void sort_columns(const rbt_elimination *e, int32_t *begin, int32_t *sorted) {
    size_t n = e->count;
    for (size_t r = 0; r < n + 2; r++) begin[r] = 0;
    for (size_t j = 0; j < n; j++) begin[e->rows[j] + 1]++;
    for (size_t r = 0; r <= n; r++) begin[r + 1] += begin[r];
    for (size_t j = 0; j < n; j++) sorted[begin[e->rows[j]]++] = (int32_t)j;
}

// Children in the order of `sorted`, NULL: ascending. child and sibling (count) are work space; child lists are used
// up.
static void find_post(rbt_elimination *e, const int32_t *sorted, int32_t *child, int32_t *sibling) {
    size_t n = e->count, done = 0;
    for (size_t j = 0; j < n; j++) child[j] = -1;
    for (size_t k = n; k-- > 0;) {
        int32_t j = sorted ? sorted[k] : (int32_t)k, p = e->parent[j];
        if (p < 0) continue;
        sibling[j] = child[p];
        child[p] = j;
    }
    for (size_t root = 0; root < n; root++) {
        if (e->parent[root] >= 0) continue;
        for (int32_t j = (int32_t)root; j >= 0;) {  // down to the first child that is left; without one, up
            int32_t c = child[j];
            if (c >= 0) {
                child[j] = sibling[c];
                j = c;
            } else {
                e->post[done++] = j;
                j = e->parent[j];
            }
        }
    }
}

bool rbt_elimination_sort(rbt_elimination *e, rbt_error *error) {
    int32_t *work = rbt_array_new(e->count + 1, 4 * sizeof *work, WHAT, error);
    if (!work) return false;
    int32_t *sorted = work, *child = sorted + e->count, *sibling = child + e->count, *begin = sibling + e->count;
    sort_columns(e, begin, sorted);
    find_post(e, sorted, child, sibling);
    free(work);
    return true;
}

// ---- the number of rows ----

typedef struct counting {
    int32_t *number;    // (count) of a column in the postorder
    int32_t *first;     // (count) number of its first descendant
    int32_t *previous;  // (count) the last column that was found to have an entry in this row, -1: none
    int32_t *set;       // (count) leads from a column to the root of its set
} counting;

static int32_t find_root(int32_t *set, int32_t j) {
    int32_t root = j;
    while (set[root] != root) root = set[root];
    while (set[j] != root) {
        int32_t next = set[j];
        set[j] = root;
        j = next;
    }
    return root;
}

// Gilbert, Ng and Peyton (1994). The columns with an entry in row i of L are the row subtree of i: the paths in the
// tree from the entries of the matrix in that row up to i. Let each of its leaves weigh 1, each lowest common
// ancestor of a leaf and the one before it -1, and the parent of i -1; then the weights below a column j, and its
// own, add up to 1 if j is in the subtree and to 0 if not. Summed over all i they give the rows of j. An entry is a
// leaf if no descendant of its column has an entry in the row; the columns are visited in postorder, so the last one
// that had an entry tells. Then every set is a column with all visited below it, and its root the lowest common
// ancestor of these and the column at hand.
static void weigh_columns(rbt_elimination *e, const rbt_node_graph *g, const int32_t *order, const int32_t *place,
                          const counting *c) {
    for (size_t k = 0; k < e->count; k++) {
        int32_t j = e->post[k], p = e->parent[j];
        size_t v = (size_t)order[j];
        if (c->first[j] == c->number[j]) e->rows[j]++;  // without descendants j is the only leaf of its own row
        for (size_t edge = g->start[v]; edge < g->start[v + 1]; edge++) {
            int32_t i = place[g->neighbour[edge]];
            if (i < j) continue;
            int32_t before = c->previous[i];
            c->previous[i] = j;
            if (before >= 0 && c->number[before] >= c->first[j]) continue;
            e->rows[j]++;
            if (before >= 0) e->rows[find_root(c->set, before)]--;
        }
        if (p < 0) continue;
        e->rows[p]--;
        c->set[j] = p;
    }
}

static void count_rows(rbt_elimination *e, const rbt_node_graph *g, const int32_t *order, const int32_t *place,
                       int32_t *work) {
    size_t n = e->count;
    counting c = {.number = work, .first = work + n, .previous = work + 2 * n, .set = work + 3 * n};
    for (size_t j = 0; j < n; j++) {
        c.first[j] = c.previous[j] = -1;
        c.set[j] = (int32_t)j;
        e->rows[j] = 0;
    }
    for (size_t k = 0; k < n; k++) {
        int32_t j = e->post[k], p = e->parent[j];
        c.number[j] = (int32_t)k;
        if (c.first[j] < 0) c.first[j] = (int32_t)k;
        if (p >= 0 && c.first[p] < 0) c.first[p] = c.first[j];
    }
    weigh_columns(e, g, order, place, &c);
    for (size_t k = 0; k < n; k++) {
        int32_t j = e->post[k], p = e->parent[j];
        if (p >= 0) e->rows[p] += e->rows[j];
    }
}

// ---- all of it ----

bool rbt_elimination_build(rbt_elimination *e, const rbt_node_graph *g, const int32_t *order, rbt_error *error) {
    size_t n = g->count;
    *e = (rbt_elimination){.count = n};
    e->parent = rbt_array_new(n, sizeof *e->parent, WHAT, error);
    e->post = rbt_array_new(n, sizeof *e->post, WHAT, error);
    e->rows = rbt_array_new(n, sizeof *e->rows, WHAT, error);
    int32_t *place = rbt_array_new(n, sizeof *place, WHAT, error);
    int32_t *work = rbt_array_new(n, 4 * sizeof *work, WHAT, error);
    bool good = e->parent && e->post && e->rows && place && work;
    if (good) {
        for (size_t p = 0; p < n; p++) place[order[p]] = (int32_t)p;
        find_parents(e, g, order, place, work);
        find_post(e, NULL, work, work + n);
        count_rows(e, g, order, place, work);
    }
    free(place);
    free(work);
    if (!good) rbt_elimination_free(e);
    return good;
}

double rbt_elimination_fill(const rbt_elimination *e) {
    double fill = 0;
    for (size_t j = 0; j < e->count; j++) fill += e->rows[j];
    return fill;
}
