// Splitting elements at the crossings of their edges.
//
// The crossings of an edge make a chain of bisections: (a, b) at the first node m1, then (m1, b) at m2, and so on. An
// element makes the bisections of its edges in the order of the edges' numbers. What happens on a side follows from
// the edges of the side and their order alone, hence is the same in both elements that share it.
#include "mesh/cut/cut.h"

#include "base/memory.h"
#include "math/vec3.h"

#include <math.h>
#include <string.h>

typedef struct bisection {
    int32_t a, b, middle;
} bisection;

typedef struct cutter {
    const rbt_cut_mesh *mesh;
    size_t corners;
    size_t near_count;
    int32_t *near;  // (near_count) elements the surface may cross, ascending
    size_t edge_count;
    uint64_t *edges;  // (edge_count) ends, lower in the upper half; ascending
    size_t *start;    // (edge_count + 1) bisections of each edge
    size_t bisection_count, bisection_capacity;
    bisection *bisections;
    size_t part_count, part_capacity;  // of the near elements
    int32_t *parts;                    // (part_count x corners)
    size_t *part_start;                // (near_count + 1)
    rbt_cut_result *result;
    rbt_error *error;
} cutter;

static uint64_t edge_key(int32_t a, int32_t b) {
    return a < b ? (uint64_t)(uint32_t)a << 32 | (uint32_t)b : (uint64_t)(uint32_t)b << 32 | (uint32_t)a;
}

static int compare_keys(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

// ---- What the surface crosses

static bool find_near(cutter *c, const rbt_cut_surface *surface) {
    const rbt_cut_mesh *m = c->mesh;
    unsigned char *is_near = rbt_array_new(m->element_count, 1, "elements near a cut", c->error);
    if (!is_near) return false;
#pragma omp parallel for schedule(static) if (m->element_count > 4096)
    for (size_t e = 0; e < m->element_count; e++) {
        double points[4][3];
        for (size_t k = 0; k < c->corners; k++)
            memcpy(points[k], m->positions + 3 * (size_t)m->elements[c->corners * e + k], sizeof points[k]);
        is_near[e] = rbt_cut_surface_separates(surface, (const double(*)[3])points, (int)c->corners);
    }
    for (size_t e = 0; e < m->element_count; e++) c->near_count += is_near[e];
    c->near = rbt_array_new(c->near_count, sizeof *c->near, "elements near a cut", c->error);
    for (size_t e = 0, at = 0; c->near && e < m->element_count; e++)
        if (is_near[e]) c->near[at++] = (int32_t)e;
    free(is_near);
    return c->near != NULL;
}

static bool list_edges(cutter *c) {
    size_t k = c->corners, count = 0;
    c->edges = rbt_array_new(c->near_count * k * (k - 1) / 2, sizeof *c->edges, "edges near a cut", c->error);
    if (!c->edges) return false;
    for (size_t i = 0; i < c->near_count; i++) {
        const int32_t *element = c->mesh->elements + k * (size_t)c->near[i];
        for (size_t a = 0; a < k; a++)
            for (size_t b = 0; b < a; b++) c->edges[count++] = edge_key(element[a], element[b]);
    }
    if (count) qsort(c->edges, count, sizeof *c->edges, compare_keys);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || c->edges[i] != c->edges[i - 1]) c->edges[c->edge_count++] = c->edges[i];
    return true;
}

static bool add_node(cutter *c, int32_t a, int32_t b, double share) {
    rbt_cut_result *r = c->result;
    if (!rbt_cut_result_grow(r, 1, c->error)) return false;
    size_t n = r->node_count++;
    r->parents[2 * n] = a;
    r->parents[2 * n + 1] = b;
    r->share[n] = share;
    r->on[n] = 1;
    r->doubled[n] = 0;
    return true;
}

// How near its ends an edge is parted, as a share of it
static double tolerance_of(const cutter *c, int32_t a, int32_t b, const rbt_cut_range *def) {
    double along[3];
    if (!(def->length > 0)) return def->tolerance;
    rbt_subtract(c->mesh->positions + 3 * (size_t)b, c->mesh->positions + 3 * (size_t)a, along);
    double share = def->length / rbt_length(along);
    return fmax(def->tolerance, share < RBT_WIDEST_TOLERANCE ? share : RBT_WIDEST_TOLERANCE);
}

// The crossings of one edge: ends that are close enough come to lie on the surface, the others become bisections if
// `make`.
static bool cross_edge(cutter *c, size_t i, const rbt_cut_surface *surface, const rbt_cut_range *def, bool make) {
    int32_t a = (int32_t)(c->edges[i] >> 32), b = (int32_t)(uint32_t)c->edges[i], last = a;
    unsigned char *on = c->result->on;
    if (on[a] && on[b]) return true;
    rbt_crossing crossings[RBT_CROSSINGS];
    const double *x = c->mesh->positions;
    double tolerance = tolerance_of(c, a, b, def);
    size_t count = rbt_cut_surface_cross(surface, x + 3 * (size_t)a, x + 3 * (size_t)b, crossings);
    double before = 0;
    for (size_t k = 0; k < count; k++) {
        double s = crossings[k].s;
        if (!(crossings[k].progress > def->from && crossings[k].progress <= def->until)) continue;
        if (!make) {
            if (s <= tolerance) on[a] = 1;
            if (s >= 1 - tolerance) on[b] = 1;
            continue;
        }
        if (s - before <= tolerance || s >= 1 - tolerance) continue;
        if (!rbt_array_reserve((void **)&c->bisections, &c->bisection_capacity, c->bisection_count + 1,
                               sizeof *c->bisections, "crossings of a cut", c->error) ||
            !add_node(c, a, b, s))
            return false;
        on = c->result->on;
        int32_t middle = (int32_t)c->result->node_count - 1;
        c->bisections[c->bisection_count++] = (bisection){last, b, middle};
        last = middle;
        before = s;
    }
    return true;
}

static bool cross_edges(cutter *c, const rbt_cut_surface *surface, const rbt_cut_range *def) {
    c->start = rbt_array_new(c->edge_count + 1, sizeof *c->start, "crossings of a cut", c->error);
    if (!c->start) return false;
    for (size_t i = 0; i < c->edge_count; i++)
        if (!cross_edge(c, i, surface, def, false)) return false;
    for (size_t i = 0; i < c->edge_count; i++) {
        if (!cross_edge(c, i, surface, def, true)) return false;
        c->start[i + 1] = c->bisection_count;
    }
    return c->result->node_count <= INT32_MAX / 4 ||
           rbt_fail(c->error, "a cut makes %zu nodes: the limit is %d", c->result->node_count, INT32_MAX / 4);
}

// ---- Parts of elements

static size_t find_edge(const cutter *c, uint64_t key) {
    size_t low = 0, high = c->edge_count;
    while (low + 1 < high) {
        size_t middle = (low + high) / 2;
        if (c->edges[middle] <= key) low = middle;
        else high = middle;
    }
    return low;
}

static int place_of(const int32_t *element, size_t corners, int32_t node) {
    for (size_t k = 0; k < corners; k++)
        if (element[k] == node) return (int)k;
    return -1;
}

// Bisects those of the parts from `first` on that have the edge.
static bool bisect(cutter *c, size_t first, bisection at) {
    size_t k = c->corners, count = c->part_count;
    for (size_t p = first; p < count; p++) {
        int a = place_of(c->parts + k * p, k, at.a), b = place_of(c->parts + k * p, k, at.b);
        if (a < 0 || b < 0) continue;
        if (!rbt_array_reserve((void **)&c->parts, &c->part_capacity, c->part_count + 1, k * sizeof *c->parts,
                               "parts of elements", c->error))
            return false;
        int32_t *old = c->parts + k * p, *new = c->parts + k * c->part_count++;
        memcpy(new, old, k * sizeof *new);
        old[b] = at.middle;
        new[a] = at.middle;
    }
    return true;
}

static bool split_element(cutter *c, size_t i) {
    size_t k = c->corners, first = c->part_count, edges[6], count = 0;
    const int32_t *element = c->mesh->elements + k * (size_t)c->near[i];
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b < a; b++) {
            size_t edge = find_edge(c, edge_key(element[a], element[b])), at = count++;
            for (; at > 0 && edges[at - 1] > edge; at--) edges[at] = edges[at - 1];
            edges[at] = edge;
        }
    if (!rbt_array_reserve((void **)&c->parts, &c->part_capacity, c->part_count + 1, k * sizeof *c->parts,
                           "parts of elements", c->error))
        return false;
    memcpy(c->parts + k * c->part_count++, element, k * sizeof *element);
    for (size_t e = 0; e < count; e++)
        for (size_t b = c->start[edges[e]]; b < c->start[edges[e] + 1]; b++)
            if (!bisect(c, first, c->bisections[b])) return false;
    c->result->split_count += c->part_count > first + 1;
    c->part_start[i + 1] = c->part_count;
    return true;
}

static bool split_elements(cutter *c) {
    rbt_cut_result *r = c->result;
    const rbt_cut_mesh *m = c->mesh;
    size_t k = c->corners;
    c->part_start = rbt_array_new(c->near_count + 1, sizeof *c->part_start, "parts of elements", c->error);
    if (!c->part_start) return false;
    for (size_t i = 0; i < c->near_count; i++)
        if (!split_element(c, i)) return false;
    r->element_count = m->element_count - c->near_count + c->part_count;
    if (r->element_count > INT32_MAX / 4)
        return rbt_fail(c->error, "a cut makes %zu elements: the limit is %d", r->element_count, INT32_MAX / 4);
    r->elements = rbt_array_new(r->element_count, k * sizeof *r->elements, "elements of a cut mesh", c->error);
    r->origin = rbt_array_new(r->element_count, sizeof *r->origin, "elements of a cut mesh", c->error);
    if (!r->elements || !r->origin) return false;
    for (size_t e = 0, i = 0, at = 0; e < m->element_count; e++) {
        bool is_near = i < c->near_count && (size_t)c->near[i] == e;
        const int32_t *from = is_near ? c->parts + k * c->part_start[i] : m->elements + k * e;
        size_t count = is_near ? c->part_start[i + 1] - c->part_start[i] : 1;
        memcpy(r->elements + k * at, from, count * k * sizeof *from);
        for (size_t p = 0; p < count; p++) r->origin[at++] = (int32_t)e;
        i += is_near;
    }
    return true;
}

// ---- The result

bool rbt_cut_result_grow(rbt_cut_result *r, size_t extra, rbt_error *error) {
    size_t need = r->node_count + extra;
    if (need <= r->node_capacity) return true;
    size_t parents = r->node_capacity, share = r->node_capacity, on = r->node_capacity, doubled = r->node_capacity;
    if (!rbt_array_reserve((void **)&r->parents, &parents, need, 2 * sizeof *r->parents, "nodes of a cut", error) ||
        !rbt_array_reserve((void **)&r->share, &share, need, sizeof *r->share, "nodes of a cut", error) ||
        !rbt_array_reserve((void **)&r->on, &on, need, sizeof *r->on, "nodes of a cut", error) ||
        !rbt_array_reserve((void **)&r->doubled, &doubled, need, sizeof *r->doubled, "nodes of a cut", error))
        return false;
    r->node_capacity = parents < share ? parents : share;
    if (on < r->node_capacity) r->node_capacity = on;
    if (doubled < r->node_capacity) r->node_capacity = doubled;
    return true;
}

static bool begin_result(cutter *c) {
    rbt_cut_result *r = c->result;
    size_t nodes = c->mesh->node_count;
    *r = (rbt_cut_result){0};
    if (!rbt_cut_result_grow(r, nodes + nodes / 8 + 64, c->error)) return false;
    r->node_count = nodes;
    for (size_t n = 0; n < nodes; n++) {
        r->parents[2 * n] = r->parents[2 * n + 1] = (int32_t)n;
        r->share[n] = 0;
        r->on[n] = c->mesh->on && c->mesh->on[n];
        r->doubled[n] = 0;
    }
    return true;
}

// Elements that were split or got other nodes change what is around all their nodes, those they had included.
static bool mark_touched(cutter *c) {
    rbt_cut_result *r = c->result;
    size_t k = c->corners;
    r->touched = rbt_array_new(r->node_count, 1, "nodes of a cut", c->error);
    for (size_t e = 0; r->touched && e < r->element_count; e++) {
        const int32_t *now = r->elements + k * e, *before = c->mesh->elements + k * (size_t)r->origin[e];
        if (memcmp(now, before, k * sizeof *now) == 0) continue;
        for (size_t a = 0; a < k; a++) r->touched[now[a]] = r->touched[before[a]] = 1;
    }
    return r->touched != NULL;
}

static bool open_result(cutter *c, const rbt_cut_surface *surface, const rbt_cut_range *def) {
    double *positions = rbt_array_new(c->result->node_count, 3 * sizeof *positions, "nodes of a cut", c->error);
    if (!positions) return false;
    rbt_cut_carry(c->result, c->mesh->positions, 3, positions);
    bool good = rbt_cut_open(surface, c->mesh->kind, positions, def->until, c->result, c->error);
    free(positions);
    return good;
}

bool rbt_cut(const rbt_cut_mesh *mesh, const rbt_cut_surface *surface, const rbt_cut_range *def,
             rbt_cut_result *result, rbt_error *error) {
    cutter c = {.mesh = mesh, .corners = (size_t)mesh->kind->element_corners, .result = result, .error = error};
    bool good = begin_result(&c) && find_near(&c, surface) && list_edges(&c) && cross_edges(&c, surface, def) &&
                split_elements(&c) && open_result(&c, surface, def) && mark_touched(&c);
    free(c.near);
    free(c.edges);
    free(c.start);
    free(c.bisections);
    free(c.parts);
    free(c.part_start);
    if (!good) rbt_cut_result_free(result);
    return good;
}

void rbt_cut_result_free(rbt_cut_result *result) {
    free(result->elements);
    free(result->origin);
    free(result->parents);
    free(result->share);
    free(result->on);
    free(result->touched);
    free(result->doubled);
    free(result->lips);
    *result = (rbt_cut_result){0};
}

void rbt_cut_carry(const rbt_cut_result *result, const double *field, int components, double *carried) {
    size_t k = (size_t)components;
    for (size_t n = 0; n < result->node_count; n++) {
        const double *a = field + k * (size_t)result->parents[2 * n],
                     *b = field + k * (size_t)result->parents[2 * n + 1];
        double s = result->share[n];
        for (size_t i = 0; i < k; i++) carried[k * n + i] = s == 0 ? a[i] : (1 - s) * a[i] + s * b[i];
    }
}
