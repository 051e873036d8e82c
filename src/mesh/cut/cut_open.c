// Opening a mesh along the sides that lie on the surface of a cut.
//
// Only nodes on the surface can be doubled, and only elements around them matter. Every corner of such an element at
// such a node is an item; items of neighbours across a side that stays closed are joined. The items of a node that
// hang together share one copy of the node. Elements that met in the node alone before (a mesh pinched there) keep
// doing so: the first part of each group that was joined by sides before keeps the node.
//
// An element all of whose nodes lie on the surface (a flat one) is part of neither side. When all others are joined,
// it is joined to the first neighbour it has, and to further ones as long as that joins nothing at any node that is
// apart: so none is cut loose, and none bridges a cut.
#include "mesh/cut/cut.h"

#include "base/memory.h"
#include "math/vec3.h"

#include <string.h>

static const double COVERED = 0.5;  // how far a side's centre may be from the surface, in lengths of its longest edge

typedef struct opener {
    const rbt_cut_surface *surface;
    const rbt_side_kind *kind;
    const double *positions;
    double until;
    rbt_cut_result *result;
    size_t corners, sides, count;  // elements with a node on the surface
    int32_t *number;               // (count) of the element
    int32_t *elements;             // (count x corners)
    uint32_t *first;               // (count x sides) leader of the sides with the same nodes
    uint32_t *partner;             // (count x sides) the same side of a neighbour, if it may be opened
    unsigned char *bound;          // (count x corners) 0: of a flat element, joined to nothing yet
    int32_t *closed, *whole;       // (count x corners) items joined across closed sides, across all
    rbt_error *error;
} opener;

static bool gather(opener *o) {
    const rbt_cut_result *r = o->result;
    size_t k = o->corners;
    for (int pass = 0; pass < 2; pass++) {
        o->count = 0;
        for (size_t e = 0; e < r->element_count; e++) {
            const int32_t *element = r->elements + k * e;
            bool touches = false;
            for (size_t a = 0; a < k; a++) touches |= r->on[element[a]];
            if (!touches) continue;
            if (pass) {
                o->number[o->count] = (int32_t)e;
                memcpy(o->elements + k * o->count, element, k * sizeof *element);
            }
            o->count++;
        }
        if (pass) break;
        o->number = rbt_array_new(o->count, sizeof *o->number, "elements at a cut", o->error);
        o->elements = rbt_array_new(o->count, k * sizeof *o->elements, "elements at a cut", o->error);
        o->first = rbt_array_new(o->count, o->sides * sizeof *o->first, "elements at a cut", o->error);
        o->partner = rbt_array_new(o->count, o->sides * sizeof *o->partner, "elements at a cut", o->error);
        o->bound = rbt_array_new(o->count, k, "elements at a cut", o->error);
        o->closed = rbt_array_new(o->count, k * sizeof *o->closed, "elements at a cut", o->error);
        o->whole = rbt_array_new(o->count, k * sizeof *o->whole, "elements at a cut", o->error);
        if (!o->number || !o->elements || !o->first || !o->partner || !o->bound || !o->closed || !o->whole)
            return false;
    }
    for (size_t i = 0; i < o->count * k; i++) o->closed[i] = o->whole[i] = (int32_t)i;
    return rbt_match_sides(o->elements, o->count, o->kind, r->node_count, o->first, o->error);
}

// ---- Which sides are opened

static const double *corner(const opener *o, size_t element, size_t k) {
    return o->positions + 3 * (size_t)o->elements[o->corners * element + k];
}

static void middle_of(const opener *o, size_t element, const int *places, int count, double middle[3]) {
    memset(middle, 0, 3 * sizeof *middle);
    for (int i = 0; i < count; i++)
        rbt_add_scaled(middle, 1.0 / count, corner(o, element, places ? (size_t)places[i] : (size_t)i));
}

// The surface must really be where the side is: nodes on its rim may span a side beyond it.
static bool is_covered(const opener *o, size_t element, size_t side) {
    const int *places = o->kind->corner[side];
    int n = o->kind->side_corners;
    double longest = 0, middle[3], edge[3];
    for (int a = 0; a < n; a++)
        for (int b = 0; b < a; b++) {
            rbt_subtract(corner(o, element, (size_t)places[a]), corner(o, element, (size_t)places[b]), edge);
            longest = fmax(longest, rbt_dot(edge, edge));
        }
    middle_of(o, element, places, n, middle);
    int32_t triangle;
    return rbt_cut_surface_distance2(o->surface, middle, o->until, &triangle) <= COVERED * COVERED * longest;
}

static bool is_on(const opener *o, size_t element, size_t k) {
    return o->result->on[o->elements[o->corners * element + k]];
}

static bool all_on(const opener *o, size_t element) {
    for (size_t k = 0; k < o->corners; k++)
        if (!is_on(o, element, k)) return false;
    return true;
}

static bool may_open(const opener *o, size_t element, size_t side) {
    for (int i = 0; i < o->kind->side_corners; i++)
        if (!is_on(o, element, (size_t)o->kind->corner[side][i])) return false;
    return is_covered(o, element, side);
}

// ---- Joining

static int32_t find_root(int32_t *above, int32_t i) {
    while (above[i] != i) i = above[i] = above[above[i]];
    return i;
}

static void join(int32_t *above, int32_t a, int32_t b) {
    a = find_root(above, a);
    b = find_root(above, b);
    above[a > b ? a : b] = a < b ? a : b;
}

// The corner of element b at the node that corner k of element a has
static size_t same_corner(const opener *o, size_t a, size_t k, size_t b) {
    for (size_t j = 0; j < o->corners; j++)
        if (o->elements[o->corners * b + j] == o->elements[o->corners * a + k]) return o->corners * b + j;
    return o->corners * b;  // never: they share the side
}

static void join_corners(const opener *o, int32_t *above, size_t a, size_t side, size_t b) {
    for (int i = 0; i < o->kind->side_corners; i++) {
        size_t k = (size_t)o->kind->corner[side][i], other = same_corner(o, a, k, b);
        join(above, (int32_t)(o->corners * a + k), (int32_t)other);
        if (above == o->closed) o->bound[o->corners * a + k] = o->bound[other] = 1;
    }
}

// All neighbours but those across a side that may be opened
static void join_neighbours(opener *o) {
    for (size_t e = 0; e < o->count; e++)
        if (!all_on(o, e)) memset(o->bound + o->corners * e, 1, o->corners);
    for (size_t i = 0; i < o->count * o->sides; i++) o->partner[i] = RBT_NO_SIDE;
    for (size_t i = 0; i < o->count * o->sides; i++) {
        uint32_t leader = o->first[i];
        if (leader == RBT_NO_SIDE || leader == i) continue;
        size_t a = leader / o->sides, b = i / o->sides;
        join_corners(o, o->whole, a, leader % o->sides, b);
        if (may_open(o, a, leader % o->sides)) {
            o->partner[i] = leader;
            o->partner[leader] = (uint32_t)i;
            o->result->opened_count++;
        } else join_corners(o, o->closed, a, leader % o->sides, b);
    }
}

static bool joins_what_is_apart(const opener *o, size_t a, size_t side, size_t b) {
    for (int i = 0; i < o->kind->side_corners; i++) {
        size_t k = (size_t)o->kind->corner[side][i], one = o->corners * a + k, other = same_corner(o, a, k, b);
        if (o->bound[one] && o->bound[other] &&
            find_root(o->closed, (int32_t)one) != find_root(o->closed, (int32_t)other))
            return true;
    }
    return false;
}

// Again and again until no flat element finds one more neighbour: those in the middle of others wait for these.
static void join_flat(opener *o) {
    for (bool more = true; more;) {
        more = false;
        for (size_t e = 0; e < o->count; e++) {
            if (!all_on(o, e)) continue;
            for (size_t s = o->sides * e; s < o->sides * (e + 1); s++) {
                if (o->partner[s] == RBT_NO_SIDE) continue;
                size_t other = o->partner[s] / o->sides, in_contact = 0;
                for (size_t k = 0; k < o->corners; k++) in_contact += o->bound[o->corners * other + k];
                if (!in_contact || joins_what_is_apart(o, e, s % o->sides, other)) continue;
                join_corners(o, o->closed, e, s % o->sides, other);
                o->partner[o->partner[s]] = RBT_NO_SIDE;
                o->partner[s] = RBT_NO_SIDE;
                o->result->opened_count--;
                more = true;
            }
        }
    }
}

// ---- Copies of nodes

static bool copy_node(opener *o, int32_t node, int32_t *copy) {
    rbt_cut_result *r = o->result;
    if (!rbt_cut_result_grow(r, 1, o->error)) return false;
    size_t n = r->node_count++;
    memcpy(r->parents + 2 * n, r->parents + 2 * (size_t)node, 2 * sizeof *r->parents);
    r->share[n] = r->share[node];
    r->on[n] = 1;
    r->doubled[n] = r->doubled[node] = 1;
    *copy = (int32_t)n;
    return true;
}

static bool double_nodes(opener *o) {
    size_t items = o->count * o->corners;
    int32_t *copy = rbt_array_new(items, sizeof *copy, "copies of nodes", o->error);
    unsigned char *kept = rbt_array_new(items, 1, "copies of nodes", o->error);
    bool good = copy && kept;
    for (size_t i = 0; good && i < items; i++) copy[i] = -1;
    for (size_t i = 0; good && i < items; i++) {
        int32_t node = o->elements[i], part = find_root(o->closed, (int32_t)i),
                group = find_root(o->whole, (int32_t)i);
        if (!o->result->on[node]) continue;
        if (copy[part] < 0) {
            if (kept[group]) good = copy_node(o, node, &copy[part]);
            else copy[part] = node;
            kept[group] = 1;
        }
        o->result->elements[o->corners * (size_t)o->number[i / o->corners] + i % o->corners] = copy[part];
    }
    free(copy);
    free(kept);
    return good;
}

// The sides that were opened; of some, at the rim, all nodes stay joined.
static bool list_lips(opener *o) {
    rbt_cut_result *r = o->result;
    r->lips = rbt_array_new(2 * r->opened_count, 2 * sizeof *r->lips, "sides of a cut", o->error);
    if (!r->lips) return false;
    for (size_t i = 0; i < o->count * o->sides; i++) {
        if (o->partner[i] == RBT_NO_SIDE) continue;
        r->lips[2 * r->lip_count] = o->number[i / o->sides];
        r->lips[2 * r->lip_count++ + 1] = (int32_t)(i % o->sides);
    }
    return true;
}

bool rbt_cut_open(const rbt_cut_surface *surface, const rbt_side_kind *kind, const double *positions, double until,
                  rbt_cut_result *result, rbt_error *error) {
    opener o = {.surface = surface,
                .kind = kind,
                .positions = positions,
                .until = until,
                .result = result,
                .corners = (size_t)kind->element_corners,
                .sides = (size_t)kind->sides,
                .error = error};
    bool good = gather(&o);
    if (good) {
        join_neighbours(&o);
        join_flat(&o);
    }
    good = good && (!result->opened_count || (double_nodes(&o) && list_lips(&o)));
    free(o.number);
    free(o.elements);
    free(o.first);
    free(o.partner);
    free(o.bound);
    free(o.closed);
    free(o.whole);
    return good;
}
