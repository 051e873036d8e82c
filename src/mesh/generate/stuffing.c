// Isosurface stuffing after Labelle and Shewchuk, "Isosurface Stuffing: Fast Tetrahedral Meshes with Good Dihedral
// Angles" (2007), at uniform resolution.
//
//   1. The lattice: points of a cubic grid and the centres of its cells. Every tet has two opposite long ("black")
//      edges, one between centres and one between grid points, and four short ("red") edges between the two kinds.
//   2. Edges whose ends lie on different sides of the surface are cut where it passes.
//   3. A lattice point that is too near to a cut point is moved onto it and then counts as on the surface.
//   4. Every lattice tet with a point inside is filled by a stencil; a face with two cut edges leaves a quadrilateral
//      whose diagonal both neighbours choose by the same rule.
//
// The lattice is stored in blocks of 4 x 4 x 4 cells, and only for blocks that the surface or the inside can reach:
// f at a block's centre tells, because f never changes faster than distance. Each point's f is computed once. Work is
// shared over blocks, numbers are given out in the order of blocks: the result does not depend on the threads.
#include "mesh/generate/stuffing.h"

#include "base/memory.h"
#include "mesh/core/build.h"
#include "mesh/core/manifold.h"

#include <math.h>
#include <string.h>

#define ALPHA_LONG     0.24999
#define ALPHA_SHORT    0.41189
#define MAX_TETS       200000000
#define MAX_BOX_BLOCKS 16000000  // in the body's box: each costs one distance
#define MAX_BLOCKS     2000000   // stored: each takes 5 KB

enum {
    SIDE = 4,
    CELLS = SIDE * SIDE * SIDE,
    POINTS = 2 * CELLS,  // of a block: 2 * cell for the grid point at its low corner, 2 * cell + 1 for its centre
    SLOTS = 14,          // edges of a cell: 0..2 from the grid point, 3..5 from the centre along x, y, z;
};                       // 6..13 from the centre to the cell's corner with bits x, y, z

enum { NOWHERE = -1, NO_CUT = -1 };

typedef struct cut {
    int32_t ends[2];  // points
    double at;        // fraction of the way from the first
    bool is_long;
} cut;

typedef struct lattice {
    const rbt_distance *body;
    double cell;
    int64_t low[3];    // cell number of the first block's first cell
    int32_t count[3];  // blocks
    int32_t *block;    // (count[0] x count[1] x count[2]) number of the stored block, NOWHERE if outside
    size_t block_count;
    int32_t *place;       // (block_count) where a stored block is in `block`
    unsigned char *full;  // (block_count) all inside
    double *value;        // (block_count x POINTS) f
    int32_t *slots;       // (block_count x CELLS x SLOTS) the cut of each edge
    size_t cut_count;
    cut *cuts;
    int32_t *moved;  // (block_count x POINTS) the cut a point was moved to, NO_CUT if none
} lattice;

// ---- Places

// Stored number of a cell's grid point (or centre: + 1); cells are counted from the lattice's low corner.
static int32_t point_of(const lattice *l, const int32_t cell[3]) {
    int32_t block[3], inner[3];
    for (int k = 0; k < 3; k++) {
        if (cell[k] < 0 || cell[k] >= l->count[k] * SIDE) return NOWHERE;
        block[k] = cell[k] / SIDE;
        inner[k] = cell[k] % SIDE;
    }
    int32_t stored = l->block[(block[2] * l->count[1] + block[1]) * l->count[0] + block[0]];
    if (stored < 0) return NOWHERE;
    return stored * POINTS + 2 * ((inner[2] * SIDE + inner[1]) * SIDE + inner[0]);
}

static void cell_of(const lattice *l, size_t block, int inner, int32_t cell[3]) {
    int32_t place = l->place[block];
    cell[0] = place % l->count[0] * SIDE + inner % SIDE;
    cell[1] = place / l->count[0] % l->count[1] * SIDE + inner / SIDE % SIDE;
    cell[2] = place / l->count[0] / l->count[1] * SIDE + inner / SIDE / SIDE;
}

static void point_position(const lattice *l, int32_t point, double x[3]) {
    int32_t cell[3];
    cell_of(l, (size_t)point / POINTS, point % POINTS / 2, cell);
    for (int k = 0; k < 3; k++) x[k] = ((double)(l->low[k] + cell[k]) + (point % 2 ? 0.5 : 0)) * l->cell;
}

// The grid points of a cell's eight corners, [bits x, y, z]; + 1: the centres of the cells that begin there.
static void corners_of(const lattice *l, const int32_t cell[3], int32_t corner[8]) {
    for (int bits = 0; bits < 8; bits++) {
        const int32_t at[3] = {cell[0] + (bits & 1), cell[1] + (bits >> 1 & 1), cell[2] + (bits >> 2)};
        corner[bits] = point_of(l, at);
    }
}

// The far end of the edge in a slot of a cell, NOWHERE outside of the stored blocks.
static int32_t edge_end(const int32_t corner[8], int slot) {
    int32_t point = corner[slot < 6 ? 1 << slot % 3 : slot - 6];
    return point < 0 ? NOWHERE : point + (slot >= 3 && slot < 6);
}

// ---- 1. Blocks and values

static bool measure_box(lattice *l, rbt_error *error) {
    double blocks = 1, size = 0;
    for (int k = 0; k < 3; k++) {
        double low = floor(l->body->box.min[k] / l->cell) - 2, high = ceil(l->body->box.max[k] / l->cell) + 2;
        size = fmax(size, l->body->box.max[k] - l->body->box.min[k]);
        blocks *= ceil((high - low) / SIDE);
        if (!(fabs(low) < 1e15 && fabs(high) < 1e15 && blocks <= MAX_BOX_BLOCKS))
            return rbt_fail(
                error,
                "a cell of %g m is too fine for a body that is %g m long: its box would hold more than %d "
                "blocks of %d cells; try a cell of %g m",
                l->cell, size, MAX_BOX_BLOCKS, CELLS, size / 1000);
        l->low[k] = (int64_t)low;
        l->count[k] = (int32_t)ceil((high - low) / SIDE);
    }
    return true;
}

// Which blocks are stored: those that, with a margin of the lattice's longest edge on either side, are not all
// outside. So every tet with a point inside belongs to a stored block, and both ends of its cut edges are stored.
static bool find_blocks(lattice *l, rbt_error *error) {
    size_t total = (size_t)l->count[0] * (size_t)l->count[1] * (size_t)l->count[2];
    if (!(l->block = rbt_array_new(total, sizeof *l->block, "lattice blocks", error))) return false;
    double reach = (SIDE / 2.0 + 1.5) * sqrt(3) * l->cell;
#pragma omp parallel for schedule(static, 64)
    for (size_t i = 0; i < total; i++) {
        size_t at[3] = {i % (size_t)l->count[0], i / (size_t)l->count[0] % (size_t)l->count[1],
                        i / (size_t)l->count[0] / (size_t)l->count[1]};
        double x[3];
        for (int k = 0; k < 3; k++) x[k] = ((double)(l->low[k] + (int64_t)at[k] * SIDE) + SIDE / 2.0) * l->cell;
        double f = l->body->at(l->body->self, x);
        l->block[i] = f > reach ? NOWHERE : f < -reach ? 1 : 0;
    }
    for (size_t i = 0; i < total; i++) l->block_count += l->block[i] >= 0;
    if (l->block_count > MAX_BLOCKS)
        return rbt_fail(error,
                        "a cell of %g m would fill %zu blocks of %d cells, and the limit is %d; try a larger cell",
                        l->cell, l->block_count, CELLS, MAX_BLOCKS);
    size_t n = l->block_count;
    if (!(l->place = rbt_array_new(n, sizeof *l->place, "lattice blocks", error)) ||
        !(l->full = rbt_array_new(n, 1, "lattice blocks", error)) ||
        !(l->value = rbt_array_new(n, POINTS * sizeof *l->value, "lattice values", error)) ||
        !(l->slots = rbt_array_new(n, CELLS * SLOTS * sizeof *l->slots, "lattice edges", error)) ||
        !(l->moved = rbt_array_new(n, POINTS * sizeof *l->moved, "lattice points", error)))
        return false;
    size_t stored = 0;
    for (size_t i = 0; i < total; i++) {
        if (l->block[i] < 0) continue;
        l->place[stored] = (int32_t)i;
        l->full[stored] = (unsigned char)l->block[i];
        l->block[i] = (int32_t)stored++;
    }
    return true;
}

// The points of a cube of 2 x 2 x 2 cells share the value in its middle where the surface is too far to reach any.
static void evaluate_cube(lattice *l, size_t block, const int low[3]) {
    int32_t first = (int32_t)block * POINTS;
    int middle = ((low[2] + 1) * SIDE + low[1] + 1) * SIDE + low[0] + 1;
    double x[3], reach = sqrt(3) * l->cell;  // from the grid point in its middle to any of its points
    point_position(l, first + 2 * middle, x);
    double f = l->full[block] ? -INFINITY : l->body->at(l->body->self, x);
    for (int c = 0; c < 8; c++)
        for (int centre = 0; centre < 2; centre++) {
            int cell = ((low[2] + (c >> 2)) * SIDE + low[1] + (c >> 1 & 1)) * SIDE + low[0] + (c & 1);
            int32_t point = first + 2 * cell + centre;
            double value = f;
            if (fabs(f) <= reach && point != first + 2 * middle) {
                point_position(l, point, x);
                value = l->body->at(l->body->self, x);
            }
            l->value[point] = isfinite(value) ? value : value < 0 ? -1 : 1;
        }
}

static void evaluate(lattice *l) {
#pragma omp parallel for schedule(dynamic, 4)
    for (size_t b = 0; b < l->block_count; b++)
        for (int c = 0; c < CELLS / 8; c++) {
            const int low[3] = {c % (SIDE / 2) * 2, c / (SIDE / 2) % (SIDE / 2) * 2, c / (SIDE / 2) / (SIDE / 2) * 2};
            evaluate_cube(l, b, low);
        }
}

// ---- 2. Cuts

// Numbers the cut edges in the order of blocks, cells and slots.
static bool number_cuts(lattice *l, rbt_error *error) {
    size_t capacity = 0;
    for (size_t b = 0; b < l->block_count; b++)
        for (int c = 0; c < CELLS; c++) {
            int32_t cell[3], corner[8], *slots = &l->slots[(b * CELLS + (size_t)c) * SLOTS];
            for (int s = 0; s < SLOTS; s++) slots[s] = NO_CUT;
            if (l->full[b]) continue;  // neither here nor in the layer of cells around it is anything outside
            cell_of(l, b, c, cell);
            corners_of(l, cell, corner);
            for (int s = 0; s < SLOTS; s++) {
                int32_t from = (int32_t)b * POINTS + 2 * c + (s >= 3), to = edge_end(corner, s);
                if (to < 0 || l->value[from] * l->value[to] >= 0) continue;
                if (!rbt_array_reserve((void **)&l->cuts, &capacity, l->cut_count + 1, sizeof *l->cuts, "cut edges",
                                       error))
                    return false;
                slots[s] = (int32_t)l->cut_count;
                l->cuts[l->cut_count++] = (cut){{from, to}, 0.5, s < 6};
            }
        }
    if (l->block_count * POINTS + l->cut_count > INT32_MAX)
        return rbt_fail(error, "a cell of %g m makes more than %d lattice points; try a larger cell", l->cell,
                        INT32_MAX);
    return true;
}

// The zero of f between x and y, where it has the values a and b of opposite sign: regula falsi in the Illinois
// variant, which keeps the bracket.
static double find_zero(const rbt_distance *body, const double x[3], const double y[3], double a, double b) {
    double low = 0, high = 1, t = 0.5, tolerance = 1e-6 * (fabs(a) + fabs(b));
    int last = 0;
    for (int i = 0; i < 24; i++) {
        t = low + (high - low) * a / (a - b);
        double p[3];
        for (int k = 0; k < 3; k++) p[k] = x[k] + t * (y[k] - x[k]);
        double f = body->at(body->self, p);
        if (fabs(f) <= tolerance || !isfinite(f)) break;
        if ((f < 0) == (a < 0)) {
            low = t;
            a = f;
            if (last == 1) b /= 2;
            last = 1;
        } else {
            high = t;
            b = f;
            if (last == -1) a /= 2;
            last = -1;
        }
    }
    return t;
}

static void place_cuts(lattice *l) {
#pragma omp parallel for schedule(dynamic, 64)
    for (size_t i = 0; i < l->cut_count; i++) {
        cut *c = &l->cuts[i];
        double x[3], y[3];
        point_position(l, c->ends[0], x);
        point_position(l, c->ends[1], y);
        c->at = find_zero(l->body, x, y, l->value[c->ends[0]], l->value[c->ends[1]]);
    }
}

static void cut_position(const lattice *l, int32_t number, double x[3]) {
    const cut *c = &l->cuts[number];
    double y[3];
    point_position(l, c->ends[0], x);
    point_position(l, c->ends[1], y);
    for (int k = 0; k < 3; k++) x[k] += c->at * (y[k] - x[k]);
}

// ---- 3. Moving points that are too near to a cut

typedef struct violation {
    double distance;
    int32_t cut, point, other;
} violation;

static int compare_violations(const void *left, const void *right) {
    const violation *a = left, *b = right;
    if (a->distance != b->distance) return a->distance < b->distance ? -1 : 1;
    return (a->cut > b->cut) - (a->cut < b->cut);
}

// Nearest first. A point that moves takes all cuts off its edges, so that a neighbour may no longer be too near.
static bool move_points(lattice *l, rbt_error *error) {
    violation *list = rbt_array_new(l->cut_count, sizeof *list, "cut edges", error);
    if (!list) return false;
    for (size_t i = 0; i < l->block_count * POINTS; i++) l->moved[i] = NO_CUT;
    size_t count = 0;
    for (size_t i = 0; i < l->cut_count; i++) {
        const cut *c = &l->cuts[i];
        double alpha = c->is_long ? ALPHA_LONG : ALPHA_SHORT, length = c->is_long ? 1 : sqrt(3) / 2;
        bool first = c->at < alpha, second = 1 - c->at < alpha;  // at most one: both alphas are below 1/2
        if (!first && !second) continue;
        list[count++] =
            (violation){(first ? c->at : 1 - c->at) * length, (int32_t)i, c->ends[second], c->ends[first]};
    }
    qsort(list, count, sizeof *list, compare_violations);
    for (size_t i = 0; i < count; i++) {
        if (l->moved[list[i].point] != NO_CUT || l->moved[list[i].other] != NO_CUT) continue;
        l->moved[list[i].point] = list[i].cut;
        l->value[list[i].point] = 0;
    }
    free(list);
    return true;
}

// ---- 4. Stencils

// One of the twelve tets of a cell: corners 0 and 1 are centres, 2 and 3 grid points; positive volume.
typedef struct pattern {
    int bits[4];          // which of the cell's eight corners, for a centre: as the beginning of its own cell
    int edge_cell[4][4];  // [i][j]: the corner (number) whose cell owns the edge
    int slot[4][4];       // of the edge in that cell
    bool even[4][4];      // red edges: an even number of coordinates grows from i to j
} pattern;

static void make_pattern(pattern *p, int axis, int turn) {
    *p = (pattern){0};
    static const int around[5][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 0}};
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    p->bits[1] = 1 << axis;
    for (int g = 0; g < 2; g++) p->bits[2 + g] = 1 << axis | around[turn + g][0] << u | around[turn + g][1] << v;
    p->slot[0][1] = p->slot[1][0] = 3 + axis;
    int along = turn % 2 ? v : u;
    p->slot[2][3] = p->slot[3][2] = along;
    p->edge_cell[2][3] = p->edge_cell[3][2] = p->bits[2] >> along & 1 ? 3 : 2;
    for (int c = 0; c < 2; c++)
        for (int g = 2; g < 4; g++) {
            int bits = p->bits[g] & ~p->bits[c];  // the grid point as a corner of the centre's cell
            p->slot[c][g] = p->slot[g][c] = 6 + bits;
            p->edge_cell[c][g] = p->edge_cell[g][c] = c;
            p->even[c][g] = ((bits & 1) + (bits >> 1 & 1) + (bits >> 2)) % 2 == 0;
            p->even[g][c] = !p->even[c][g];  // the other coordinates, three in all
        }
}

// A lattice tet being filled: references to points (their numbers) and cuts (behind the points).
typedef struct filling {
    const lattice *l;
    const pattern *pattern;
    int32_t point[4];
    int32_t *out;  // NULL: only count
    size_t count;
} filling;

static int32_t cut_of(const filling *f, int i, int j) {
    // a corner's cell is found from its point: two points per cell
    int32_t owner = f->point[f->pattern->edge_cell[i][j]] / 2;
    int32_t number = f->l->slots[(size_t)owner * SLOTS + (size_t)f->pattern->slot[i][j]];
    return (int32_t)(f->l->block_count * POINTS) + number;
}

static bool is_odd(const int order[4]) {
    int inversions = 0;
    for (int i = 0; i < 4; i++)
        for (int j = i + 1; j < 4; j++) inversions += order[i] > order[j];
    return inversions % 2;
}

static void emit(filling *f, bool odd, int32_t a, int32_t b, int32_t c, int32_t d) {
    if (f->out) {
        int32_t *tet = f->out + 4 * f->count;
        tet[0] = a;
        tet[1] = b;
        tet[2] = odd ? d : c;
        tet[3] = odd ? c : d;
    }
    f->count++;
}

// Edges from p and q (inside) to m (outside) are cut: whether the quadrilateral's diagonal starts at p and ends at the
// cut of q. It always ends at the cut of a long edge if there is one; else parity decides, the same way for both
// tets at the face.
static bool diagonal_from(const filling *f, int p, int q, int m) {
    bool p_long = (p < 2) == (m < 2), q_long = (q < 2) == (m < 2);
    if (p_long != q_long) return q_long;
    return f->pattern->even[p][m];
}

static void fill_three_inside(filling *f, const int inside[3], int m) {
    // Order them so that every diagonal starts at the earlier one: a prism is cut into three tets along such an order.
    int o[4] = {inside[0], inside[1], inside[2], m};
    for (int pass = 0; pass < 3; pass++) {
        int i = pass % 2;
        if (diagonal_from(f, o[i], o[i + 1], m)) continue;
        int spare = o[i];
        o[i] = o[i + 1];
        o[i + 1] = spare;
    }
    bool odd = is_odd(o);
    int32_t a = f->point[o[0]], b = f->point[o[1]], c = f->point[o[2]];
    int32_t ca = cut_of(f, o[0], m), cb = cut_of(f, o[1], m), cc = cut_of(f, o[2], m);
    emit(f, odd, a, b, c, cc);
    emit(f, odd, a, b, cc, cb);
    emit(f, odd, a, cb, cc, ca);
}

static void fill_two_inside_two_outside(filling *f, int p, int q, int m, int n) {
    bool pm_first = diagonal_from(f, p, q, m), pn_first = diagonal_from(f, p, q, n);
    if (!pm_first) {
        int spare = p;
        p = q;
        q = spare;
        pn_first = !pn_first;
    }
    // Now one diagonal runs from p to the cut q-m.
    bool odd = is_odd((int[4]){p, q, m, n});
    int32_t pm = cut_of(f, p, m), pn = cut_of(f, p, n), qm = cut_of(f, q, m), qn = cut_of(f, q, n);
    int32_t P = f->point[p], Q = f->point[q];
    emit(f, odd, P, qm, pm, pn);
    if (pn_first) {  // the other one also from p
        emit(f, odd, P, Q, qm, qn);
        emit(f, odd, P, qm, pn, qn);
    } else {  // the other one from q to the cut p-n
        emit(f, odd, P, Q, qm, pn);
        emit(f, odd, pn, Q, qm, qn);
    }
}

static void fill_tet(filling *f) {
    int inside[4], outside[4], zero = -1, in = 0, out = 0;
    for (int i = 0; i < 4; i++) {
        double value = f->point[i] < 0 ? 1 : f->l->value[f->point[i]];
        if (value < 0) inside[in++] = i;
        else if (value > 0) outside[out++] = i;
        else zero = i;
    }
    if (in == 0) return;
    if (out == 0) {
        emit(f, false, f->point[0], f->point[1], f->point[2], f->point[3]);
    } else if (in == 1) {
        int32_t node[4] = {f->point[0], f->point[1], f->point[2], f->point[3]};
        for (int i = 0; i < out; i++) node[outside[i]] = cut_of(f, inside[0], outside[i]);
        emit(f, false, node[0], node[1], node[2], node[3]);
    } else if (in == 3) {
        fill_three_inside(f, inside, outside[0]);
    } else if (out == 2) {
        fill_two_inside_two_outside(f, inside[0], inside[1], outside[0], outside[1]);
    } else {  // two inside, one on the surface, one outside: a pyramid
        int p = inside[0], q = inside[1], m = outside[0];
        if (!diagonal_from(f, p, q, m)) {
            p = inside[1];
            q = inside[0];
        }
        bool odd = is_odd((int[4]){p, q, m, zero});
        int32_t cp = cut_of(f, p, m), cq = cut_of(f, q, m);
        emit(f, odd, f->point[p], f->point[q], cq, f->point[zero]);
        emit(f, odd, f->point[p], cq, cp, f->point[zero]);
    }
}

static size_t fill_block(const lattice *l, const pattern patterns[12], size_t block, int32_t *out) {
    filling f = {.l = l, .out = out};
    for (int c = 0; c < CELLS; c++) {
        int32_t cell[3], corner[8];
        bool inside = false;
        cell_of(l, block, c, cell);
        corners_of(l, cell, corner);
        for (int i = 0; i < 8; i++)
            inside |= corner[i] >= 0 && (l->value[corner[i]] < 0 || l->value[corner[i] + 1] < 0);
        for (int t = 0; inside && t < 12; t++) {
            f.pattern = &patterns[t];
            for (int i = 0; i < 4; i++) {
                int32_t point = corner[f.pattern->bits[i]];
                f.point[i] = point < 0 ? NOWHERE : point + (i < 2);
            }
            fill_tet(&f);
        }
    }
    return f.count;
}

// All tets, as references to points and cuts.
static bool fill_lattice(const lattice *l, int32_t **tets, size_t *tet_count, rbt_error *error) {
    pattern patterns[12];
    for (int t = 0; t < 12; t++) make_pattern(&patterns[t], t / 4, t % 4);
    size_t *start = rbt_array_new(l->block_count + 1, sizeof *start, "lattice blocks", error);
    if (!start) return false;
#pragma omp parallel for schedule(dynamic, 1)
    for (size_t b = 0; b < l->block_count; b++) start[b + 1] = fill_block(l, patterns, b, NULL);
    for (size_t b = 0; b < l->block_count; b++) start[b + 1] += start[b];
    *tet_count = start[l->block_count];
    bool made = *tet_count <= MAX_TETS ||
                rbt_fail(error, "a cell of %g m makes %zu tets, and the limit is %d; try a larger cell", l->cell,
                         *tet_count, MAX_TETS);
    if (made) made = (*tets = rbt_array_new(*tet_count, 4 * sizeof **tets, "tets", error)) != NULL;
    if (made) {
        int32_t *all = *tets;
#pragma omp parallel for schedule(dynamic, 1)
        for (size_t b = 0; b < l->block_count; b++) fill_block(l, patterns, b, all + 4 * start[b]);
    }
    free(start);
    return made;
}

// Numbers the nodes in the order in which tets name them, and places them.
static bool number_nodes(const lattice *l, rbt_mesh *mesh, int32_t *tets, size_t tet_count, rbt_error *error) {
    size_t points = l->block_count * POINTS, total = points + l->cut_count, count = 0;
    int32_t *number = rbt_array_new(total, sizeof *number, "nodes", error);
    if (!number) return false;
    for (size_t i = 0; i < 4 * tet_count; i++)
        if (!number[tets[i]]) number[tets[i]] = (int32_t)++count;
    bool made = rbt_mesh_allocate(mesh, count, tet_count, 0, 0, error);
    for (size_t i = 0; i < total && made; i++) {
        if (!number[i]) continue;
        double *x = mesh->nodes + 3 * (size_t)(number[i] - 1);
        int32_t on = i >= points ? (int32_t)(i - points) : l->moved[i];
        if (on != NO_CUT) cut_position(l, on, x);
        else point_position(l, (int32_t)i, x);
    }
    for (size_t i = 0; i < 4 * tet_count && made; i++) mesh->tets[i] = number[tets[i]] - 1;
    free(number);
    return made;
}

static void free_lattice(lattice *l) {
    free(l->block);
    free(l->place);
    free(l->full);
    free(l->value);
    free(l->slots);
    free(l->cuts);
    free(l->moved);
}

rbt_mesh *rbt_stuff(const rbt_distance *body, double cell, bool largest_only, rbt_error *error) {
    if (!(cell > 0) || isinf(cell)) {
        rbt_fail(error, "a cell of %g m is not possible: it must be above 0", cell);
        return NULL;
    }
    rbt_mesh *mesh = rbt_mesh_new(error);
    if (!mesh) return NULL;
    lattice l = {.body = body, .cell = cell};
    int32_t *tets = NULL;
    size_t tet_count = 0;
    bool made = measure_box(&l, error) && find_blocks(&l, error);
    if (made) evaluate(&l);
    made = made && number_cuts(&l, error);
    if (made) place_cuts(&l);
    made = made && move_points(&l, error) && fill_lattice(&l, &tets, &tet_count, error);
    if (made && !tet_count)
        made = rbt_fail(error, "no point of the lattice lies inside the body: a cell of %g m is too coarse for it",
                        cell);
    made = made && number_nodes(&l, mesh, tets, tet_count, error);
    free(tets);
    free_lattice(&l);
    made = made && rbt_mesh_make_manifold(mesh, largest_only, error);
    if (made) return mesh;
    rbt_mesh_free(mesh);
    return NULL;
}
