// Sides that coincide are found by sorting: each side is filed under its lowest node (a counting sort), and the few
// sides of one node are sorted by their other nodes. That is linear in the number of sides, keeps neighbours near
// each other in memory, and does not depend on addresses or hash seeds.
#include "mesh/core/topology.h"

#include "base/memory.h"

#include <string.h>

const rbt_side_kind RBT_FACES_OF_TETS = {4, 4, 3, {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}};
const rbt_side_kind RBT_EDGES_OF_TRIANGLES = {3, 3, 2, {{0, 1}, {1, 2}, {2, 0}}};
const rbt_side_kind RBT_TETS_THEMSELVES = {4, 1, 4, {{0, 1, 2, 3}}};
const rbt_side_kind RBT_TRIANGLES_THEMSELVES = {3, 1, 3, {{0, 1, 2}}};

typedef struct side {
    int32_t rest[3];  // the nodes behind the lowest, ascending; 0 where the side has fewer
    uint32_t number;
} side;

// Nodes of a side, ascending; false if one occurs twice.
static bool sorted_nodes(const int32_t *element, const int *corner, int n, int32_t sorted[4]) {
    for (int k = 0; k < n; k++) {
        int32_t node = element[corner[k]];
        int at = k;
        for (; at > 0 && sorted[at - 1] > node; at--) sorted[at] = sorted[at - 1];
        if (at > 0 && sorted[at - 1] == node) return false;
        sorted[at] = node;
    }
    return true;
}

static int compare_nodes(const side *a, const side *b) {
    for (int k = 0; k < 3; k++)
        if (a->rest[k] != b->rest[k]) return a->rest[k] < b->rest[k] ? -1 : 1;
    return 0;
}

static int compare_sides(const void *left, const void *right) {
    const side *a = left, *b = right;
    int nodes = compare_nodes(a, b);
    return nodes ? nodes : (a->number > b->number) - (a->number < b->number);
}

static void sort_sides(side *sides, size_t count) {
    if (count > 64) {
        qsort(sides, count, sizeof *sides, compare_sides);
        return;
    }
    for (size_t i = 1; i < count; i++) {  // they come in ascending number, and this keeps that order
        side moving = sides[i];
        size_t at = i;
        for (; at > 0 && compare_nodes(&sides[at - 1], &moving) > 0; at--) sides[at] = sides[at - 1];
        sides[at] = moving;
    }
}

// Turns counts in start[1 ..] into the places where rows begin.
static void add_up(size_t *start, size_t rows) {
    for (size_t i = 0; i < rows; i++) start[i + 1] += start[i];
}

bool rbt_match_sides(const int32_t *elements, size_t count, const rbt_side_kind *kind, size_t node_count,
                     uint32_t *first, rbt_error *error) {
    size_t per = (size_t)kind->sides, corners = (size_t)kind->element_corners;
    if (count >= RBT_NO_SIDE / per)
        return rbt_fail(error, "%zu elements are more than the %zu that can be compared", count,
                        RBT_NO_SIDE / per - 1);
    size_t *start = rbt_array_new(node_count + 2, sizeof *start, "sides of elements", error);
    if (!start) return false;
    int32_t nodes[4] = {0};
    for (size_t e = 0; e < count; e++)
        for (size_t s = 0; s < per; s++)
            if (sorted_nodes(elements + corners * e, kind->corner[s], kind->side_corners, nodes))
                start[nodes[0] + 2]++;
    add_up(start, node_count + 1);

    side *sides = rbt_array_new(start[node_count + 1], sizeof *sides, "sides of elements", error);
    if (!sides) {
        free(start);
        return false;
    }
    size_t *next = start + 1;  // start[i + 1] is where node i's next side goes, and in the end where its row ends
    for (size_t e = 0; e < count; e++)
        for (size_t s = 0; s < per; s++) {
            uint32_t number = (uint32_t)(e * per + s);
            first[number] = RBT_NO_SIDE;
            if (!sorted_nodes(elements + corners * e, kind->corner[s], kind->side_corners, nodes)) continue;
            side *filed = &sides[next[nodes[0]]++];
            for (int k = 1; k < kind->side_corners; k++) filed->rest[k - 1] = nodes[k];
            filed->number = number;
        }
    for (size_t i = 0; i < node_count; i++) {
        sort_sides(sides + start[i], start[i + 1] - start[i]);
        uint32_t leader = 0;
        for (size_t k = start[i]; k < start[i + 1]; k++) {
            if (k == start[i] || compare_nodes(&sides[k - 1], &sides[k]) != 0) leader = sides[k].number;
            first[sides[k].number] = leader;
        }
    }
    free(sides);
    free(start);
    return true;
}

// Marks in first[] the sides that occur once by keeping their own number there; all others become RBT_NO_SIDE.
static size_t keep_single(uint32_t *first, size_t count) {
    size_t single = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t leader = first[i];
        if (leader == RBT_NO_SIDE || leader == i) continue;
        first[leader] = RBT_NO_SIDE;  // a later twin still points to it, by a number lower than its own
        first[i] = RBT_NO_SIDE;
    }
    for (size_t i = 0; i < count; i++) single += first[i] != RBT_NO_SIDE;
    return single;
}

bool rbt_boundary(const int32_t *tets, size_t tet_count, size_t node_count, int32_t **triangles, int32_t **owner,
                  size_t *count, rbt_error *error) {
    *triangles = NULL;
    if (owner) *owner = NULL;
    *count = 0;
    uint32_t *first = rbt_array_new(tet_count, 4 * sizeof *first, "faces of tets", error);
    if (!first) return false;
    if (!rbt_match_sides(tets, tet_count, &RBT_FACES_OF_TETS, node_count, first, error)) {
        free(first);
        return false;
    }
    size_t found = keep_single(first, 4 * tet_count), written = 0;
    int32_t *surface = rbt_array_new(found, 3 * sizeof *surface, "surface triangles", error);
    int32_t *behind = owner && surface ? rbt_array_new(found, sizeof *behind, "surface triangles", error) : NULL;
    if (!surface || (owner && !behind)) {
        free(surface);
        free(first);
        return false;
    }
    for (size_t i = 0; i < 4 * tet_count; i++) {
        if (first[i] == RBT_NO_SIDE) continue;
        const int *corner = RBT_FACES_OF_TETS.corner[i % 4];
        for (int k = 0; k < 3; k++) surface[3 * written + (size_t)k] = tets[i / 4 * 4 + (size_t)corner[k]];
        if (behind) behind[written] = (int32_t)(i / 4);
        written++;
    }
    free(first);
    *triangles = surface;
    if (owner) *owner = behind;
    *count = found;
    return true;
}

void rbt_rows_free(rbt_rows *rows) {
    free(rows->start);
    free(rows->items);
    *rows = (rbt_rows){0};
}

// Whether corner k is the first place where its element names that node.
static bool is_new_corner(const int32_t *element, int k) {
    for (int j = 0; j < k; j++)
        if (element[j] == element[k]) return false;
    return true;
}

bool rbt_elements_of_nodes(const int32_t *elements, size_t count, int corners, size_t node_count, rbt_rows *rows,
                           rbt_error *error) {
    *rows = (rbt_rows){.row_count = node_count};
    // One place more than the rows need: filling moves every start to its row's end, which is the next row's start.
    rows->start = rbt_array_new(node_count + 2, sizeof *rows->start, "rows", error);
    if (!rows->start) return false;
    size_t n = (size_t)corners, *next = rows->start + 1;
    for (size_t e = 0; e < count; e++)
        for (int k = 0; k < corners; k++)
            if (is_new_corner(elements + n * e, k)) rows->start[elements[n * e + (size_t)k] + 2]++;
    add_up(rows->start, node_count + 1);
    rows->items = rbt_array_new(rows->start[node_count + 1], sizeof *rows->items, "elements of nodes", error);
    if (!rows->items) {
        rbt_rows_free(rows);
        return false;
    }
    for (size_t e = 0; e < count; e++)
        for (int k = 0; k < corners; k++)
            if (is_new_corner(elements + n * e, k)) rows->items[next[elements[n * e + (size_t)k]]++] = (int32_t)e;
    return true;
}

// Calls of one sweep: for every node i in ascending order and every neighbour j once, either counts for or appends to
// row j. The relation is symmetric, so the rows come out complete and ascending without sorting.
static void sweep_neighbours(const int32_t *elements, size_t corners, const rbt_rows *around, int32_t *seen,
                             size_t *place, int32_t *items) {
    for (size_t i = 0; i < around->row_count; i++) seen[i] = -1;
    for (size_t i = 0; i < around->row_count; i++) {
        seen[i] = (int32_t)i;
        if (items) items[place[i]] = (int32_t)i;
        place[i]++;
        for (size_t r = around->start[i]; r < around->start[i + 1]; r++)
            for (size_t k = 0; k < corners; k++) {
                int32_t j = elements[corners * (size_t)around->items[r] + k];
                if (seen[j] == (int32_t)i) continue;
                seen[j] = (int32_t)i;
                if (items) items[place[j]] = (int32_t)i;
                place[j]++;
            }
    }
}

bool rbt_nodes_of_nodes(const int32_t *elements, size_t count, int corners, size_t node_count, rbt_rows *rows,
                        rbt_error *error) {
    *rows = (rbt_rows){.row_count = node_count};
    rbt_rows around;
    if (!rbt_elements_of_nodes(elements, count, corners, node_count, &around, error)) return false;
    int32_t *seen = rbt_array_new(node_count, sizeof *seen, "neighbours of nodes", error);
    rows->start = seen ? rbt_array_new(node_count + 2, sizeof *rows->start, "rows", error) : NULL;
    if (rows->start) {
        sweep_neighbours(elements, (size_t)corners, &around, seen, rows->start + 2, NULL);
        add_up(rows->start, node_count + 1);
        rows->items = rbt_array_new(rows->start[node_count + 1], sizeof *rows->items, "neighbours of nodes", error);
    }
    bool made = rows->items != NULL;
    if (made) sweep_neighbours(elements, (size_t)corners, &around, seen, rows->start + 1, rows->items);
    else rbt_rows_free(rows);
    free(seen);
    rbt_rows_free(&around);
    return made;
}

static int32_t find_root(int32_t *above, int32_t i) {
    while (above[i] != i) i = above[i] = above[above[i]];
    return i;
}

bool rbt_components(const int32_t *elements, size_t count, int corners, size_t node_count, int32_t *part,
                    size_t *part_count, rbt_error *error) {
    *part_count = 0;
    int32_t *above = rbt_array_new(node_count, sizeof *above, "connected parts", error);
    if (!above) return false;
    size_t n = (size_t)corners;
    for (size_t i = 0; i < node_count; i++) {
        above[i] = (int32_t)i;
        part[i] = -1;
    }
    for (size_t e = 0; e < count; e++)
        for (size_t k = 0; k < n; k++) {
            int32_t a = find_root(above, elements[n * e]), b = find_root(above, elements[n * e + k]);
            above[a > b ? a : b] = a < b ? a : b;  // a root is its part's lowest node
            part[elements[n * e + k]] = 0;
        }
    for (size_t i = 0; i < node_count; i++) {
        if (part[i] < 0) continue;
        int32_t root = find_root(above, (int32_t)i);
        part[i] = root == (int32_t)i ? (int32_t)(*part_count)++ : part[root];
    }
    free(above);
    return true;
}
