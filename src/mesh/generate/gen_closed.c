// Surfaces of simple things, as shells: polyhedra and balls made of them, rings, tubes, prisms, a hare.
#include "mesh/core/build.h"
#include "mesh/generate/shapes.h"

#include <math.h>
#include <string.h>

static rbt_mesh *surface_new(size_t nodes, size_t triangles, rbt_error *error) {
    rbt_mesh *mesh = rbt_mesh_new(error);
    if (mesh && rbt_mesh_allocate(mesh, nodes, 0, triangles, 0, error)) return mesh;
    rbt_mesh_free(mesh);
    return NULL;
}

static rbt_mesh *finish(rbt_mesh *mesh, rbt_error *error) {
    if (mesh && rbt_mesh_finish_sets(mesh, error)) return mesh;
    rbt_mesh_free(mesh);
    return NULL;
}

// ---- Polyhedra

static const char *const POLYHEDRA[] = {"tetrahedron", "cube", "octahedron", "icosahedron"};
static const char *polyhedron_name(int i) { return i >= 0 && i < 4 ? POLYHEDRA[i] : NULL; }

static const rbt_field POLYHEDRON_FIELDS[] = {
    {"kind", RBT_CHOICE, offsetof(rbt_polyhedron_shape, kind), .fallback_text = "icosahedron",
     .of.names = polyhedron_name, .doc = "Which."},
    {"radius", RBT_REAL, offsetof(rbt_polyhedron_shape, radius), .fallback = {0.5}, RBT_SIZE_LIMITS,
     .doc = "From the centre to the corners."},
    {"cells", RBT_INT, offsetof(rbt_polyhedron_shape, cells), .fallback = {3}, .min = 1, .max = 1000,
     .doc = "Parts that each edge is cut into."},
    {"round", RBT_BOOL, offsetof(rbt_polyhedron_shape, round),
     .doc = "All nodes on the sphere through the corners: a ball."}};
const rbt_record RBT_POLYHEDRON_PARAMETERS = {"polyhedron shape",
                                              "The surface of a regular polyhedron, or a ball made from it.",
                                              sizeof(rbt_polyhedron_shape), RBT_FIELDS(POLYHEDRON_FIELDS)};

#define GOLDEN 1.618033988749895
static const double CORNERS[4][12][3] = {
    {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}},
    {{-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {1, 1, -1}, {-1, -1, 1}, {1, -1, 1}, {-1, 1, 1}, {1, 1, 1}},
    {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}},
    {{-1, GOLDEN, 0},
     {1, GOLDEN, 0},
     {-1, -GOLDEN, 0},
     {1, -GOLDEN, 0},
     {0, -1, GOLDEN},
     {0, 1, GOLDEN},
     {0, -1, -GOLDEN},
     {0, 1, -GOLDEN},
     {GOLDEN, 0, -1},
     {GOLDEN, 0, 1},
     {-GOLDEN, 0, -1},
     {-GOLDEN, 0, 1}}};
static const int CORNER_COUNT[4] = {4, 8, 6, 12}, FACE_COUNT[4] = {4, 12, 8, 20};
static const signed char FACES[4][20][3] = {
    {{0, 1, 2}, {0, 3, 1}, {0, 2, 3}, {1, 3, 2}},
    {{0, 2, 3},
     {0, 3, 1},
     {4, 5, 7},
     {4, 7, 6},
     {0, 1, 5},
     {0, 5, 4},
     {2, 6, 7},
     {2, 7, 3},
     {0, 4, 6},
     {0, 6, 2},
     {1, 3, 7},
     {1, 7, 5}},
    {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4}, {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}},
    {{0, 11, 5},  {0, 5, 1},  {0, 1, 7},  {0, 7, 10}, {0, 10, 11}, {1, 5, 9}, {5, 11, 4},
     {11, 10, 2}, {10, 7, 6}, {7, 1, 8},  {3, 9, 4},  {3, 4, 2},   {3, 2, 6}, {3, 6, 8},
     {3, 8, 9},   {4, 9, 5},  {2, 4, 11}, {6, 2, 10}, {8, 6, 7},   {9, 8, 1}}};

typedef struct poly {
    const rbt_polyhedron_shape *shape;
    int edge[30][2], edges;
    rbt_mesh *mesh;
} poly;

// Number of the edge between two corners, which is given one when it is first asked for
static int edge_of(poly *p, int a, int b) {
    int low = a < b ? a : b, high = a < b ? b : a;
    for (int e = 0; e < p->edges; e++)
        if (p->edge[e][0] == low && p->edge[e][1] == high) return e;
    p->edge[p->edges][0] = low;
    p->edge[p->edges][1] = high;
    return p->edges++;
}

// Node of face f with weights i, j, k of its corners, i + j + k = cells: corners first, then edges, then faces
static int32_t poly_node(poly *p, int f, int i, int j, int k) {
    const signed char *corner = FACES[p->shape->kind][f];
    int n = p->shape->cells, weight[3] = {i, j, k}, first = CORNER_COUNT[p->shape->kind];
    for (int c = 0; c < 3; c++)
        if (weight[c] == n) return corner[c];
    for (int c = 0; c < 3; c++) {
        if (weight[c]) continue;
        int a = (c + 1) % 3, b = (c + 2) % 3, e = edge_of(p, corner[a], corner[b]);
        return first + e * (n - 1) + (corner[a] < corner[b] ? weight[b] : weight[a]) - 1;
    }
    int inside = (n - 1) * (n - 2) / 2, row = i - 1, before = row * (n - 2) - row * (row - 1) / 2;
    return first + p->edges * (n - 1) + f * inside + before + j - 1;
}

static void poly_place(poly *p, int f, int i, int j, int k) {
    const signed char *corner = FACES[p->shape->kind][f];
    double *x = p->mesh->nodes + 3 * (size_t)poly_node(p, f, i, j, k), n = p->shape->cells,
           weight[3] = {i / n, j / n, k / n};
    const double *first = CORNERS[p->shape->kind][0];
    double size = sqrt(first[0] * first[0] + first[1] * first[1] + first[2] * first[2]);
    for (int d = 0; d < 3; d++) {
        x[d] = 0;
        for (int c = 0; c < 3; c++) x[d] += weight[c] * CORNERS[p->shape->kind][(int)corner[c]][d];
    }
    if (p->shape->round) size = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    for (int d = 0; d < 3; d++) x[d] *= p->shape->radius / size;
}

rbt_mesh *rbt_make_polyhedron(const void *parameters, rbt_error *error) {
    poly p = {.shape = parameters};
    int n = p.shape->cells, kind = p.shape->kind, faces = FACE_COUNT[kind];
    for (int f = 0; f < faces; f++)
        for (int c = 0; c < 3; c++) edge_of(&p, FACES[kind][f][c], FACES[kind][f][(c + 1) % 3]);
    size_t nodes = (size_t)CORNER_COUNT[kind] + (size_t)p.edges * (size_t)(n - 1) +
                   (size_t)faces * (size_t)((n - 1) * (n - 2) / 2);
    p.mesh = surface_new(nodes, (size_t)faces * (size_t)(n * n), error);
    if (!p.mesh) return NULL;
    int32_t *out = p.mesh->triangles;
    for (int f = 0; f < faces; f++)
        for (int i = 0; i <= n; i++)
            for (int j = 0; i + j <= n; j++) {
                int k = n - i - j;
                poly_place(&p, f, i, j, k);
                if (k == 0) continue;
                *out++ = poly_node(&p, f, i, j, k), *out++ = poly_node(&p, f, i + 1, j, k - 1);
                *out++ = poly_node(&p, f, i, j + 1, k - 1);
                if (k == 1) continue;
                *out++ = poly_node(&p, f, i + 1, j, k - 1), *out++ = poly_node(&p, f, i + 1, j + 1, k - 2);
                *out++ = poly_node(&p, f, i, j + 1, k - 1);
            }
    return finish(p.mesh, error);
}

// ---- Grids of nodes around something: rings, tubes

// rows x columns nodes, closed along the columns and, if asked for, along the rows: two triangles between four nodes
static void fill_grid(int32_t *out, int32_t first, int rows, int columns, bool closed) {
    for (int r = 0; r < (closed ? rows : rows - 1); r++)
        for (int c = 0; c < columns; c++) {
            int32_t a = first + r * columns + c, b = first + r * columns + (c + 1) % columns;
            int32_t up = first + (r + 1) % rows * columns, d = up + c, e = up + (c + 1) % columns;
            const int32_t both[2][6] = {{a, b, e, a, e, d}, {a, b, d, b, e, d}};
            for (int k = 0; k < 6; k++) *out++ = both[(r + c) % 2][k];
        }
}

static const rbt_field RING_FIELDS[] = {
    {"ring_radius", RBT_REAL, offsetof(rbt_ring_shape, ring_radius), .fallback = {0.4}, RBT_SIZE_LIMITS,
     .doc = "Of the circle around the y axis that the tube's middle follows."},
    {"tube_radius", RBT_REAL, offsetof(rbt_ring_shape, tube_radius), .fallback = {0.1}, RBT_SIZE_LIMITS,
     .doc = "Of the tube; below that of the ring."},
    {"rings", RBT_INT, offsetof(rbt_ring_shape, rings), .fallback = {24}, .min = 3, .max = 10000,
     .doc = "Nodes around the ring."},
    {"segments", RBT_INT, offsetof(rbt_ring_shape, segments), .fallback = {10}, .min = 3, .max = 10000,
     .doc = "Nodes around the tube."}};
const rbt_record RBT_RING_PARAMETERS = {"ring shape", "The surface of a ring.", sizeof(rbt_ring_shape),
                                        RBT_FIELDS(RING_FIELDS)};

rbt_mesh *rbt_make_ring(const void *parameters, rbt_error *error) {
    const rbt_ring_shape *p = parameters;
    if (p->tube_radius >= p->ring_radius) {
        rbt_fail(error, "a tube of radius %g m runs into itself on a ring of radius %g m; it must be thinner",
                 p->tube_radius, p->ring_radius);
        return NULL;
    }
    size_t count = (size_t)p->rings * (size_t)p->segments;
    rbt_mesh *mesh = surface_new(count, 2 * count, error);
    for (size_t i = 0; mesh && i < count; i++) {
        double around = 2 * M_PI * (double)(i / (size_t)p->segments) / p->rings;
        double turn = 2 * M_PI * (double)(i % (size_t)p->segments) / p->segments;
        double away = p->ring_radius + p->tube_radius * cos(turn), *x = mesh->nodes + 3 * i;
        x[0] = away * cos(around), x[1] = p->tube_radius * sin(turn), x[2] = away * sin(around);
    }
    if (mesh) fill_grid(mesh->triangles, 0, p->rings, p->segments, true);
    return finish(mesh, error);
}

static const rbt_field TUBE_FIELDS[] = {
    {"radius", RBT_REAL, offsetof(rbt_tube_shape, radius), .fallback = {0.5}, RBT_SIZE_LIMITS, .doc = "Radius."},
    {"length", RBT_REAL, offsetof(rbt_tube_shape, length), .fallback = {1}, RBT_SIZE_LIMITS,
     .doc = "Along the y axis."},
    {"rings", RBT_INT, offsetof(rbt_tube_shape, rings), .fallback = {9}, .min = 2, .max = 10000,
     .doc = "Rings of nodes."},
    {"segments", RBT_INT, offsetof(rbt_tube_shape, segments), .fallback = {24}, .min = 3, .max = 10000,
     .doc = "Nodes in a ring."}};
const rbt_record RBT_TUBE_PARAMETERS = {"tube shape", "The surface of a cylinder, open at its ends.",
                                        sizeof(rbt_tube_shape), RBT_FIELDS(TUBE_FIELDS)};

rbt_mesh *rbt_make_tube(const void *parameters, rbt_error *error) {
    const rbt_tube_shape *p = parameters;
    size_t count = (size_t)p->rings * (size_t)p->segments;
    rbt_mesh *mesh = surface_new(count, 2 * (count - (size_t)p->segments), error);
    for (size_t i = 0; mesh && i < count; i++) {
        double turn = 2 * M_PI * (double)(i % (size_t)p->segments) / p->segments, *x = mesh->nodes + 3 * i;
        x[0] = p->radius * sin(turn), x[2] = p->radius * cos(turn);
        x[1] = p->length * ((double)(i / (size_t)p->segments) / (p->rings - 1) - 0.5);
    }
    if (mesh) fill_grid(mesh->triangles, 0, p->rings, p->segments, false);
    return finish(mesh, error);
}

// ---- A prism with a triangle as its base

static const rbt_field PRISM_FIELDS[] = {
    {"width", RBT_REAL, offsetof(rbt_prism_shape, width), .fallback = {0.1292}, RBT_SIZE_LIMITS,
     .doc = "Of the face that lies in the plane y = 0, along x."},
    {"height", RBT_REAL, offsetof(rbt_prism_shape, height), .fallback = {0.2005}, RBT_SIZE_LIMITS,
     .doc = "Of the ridge above it, along y."},
    {"length", RBT_REAL, offsetof(rbt_prism_shape, length), .fallback = {0.3841}, RBT_SIZE_LIMITS, .doc = "Along z."},
    {"cells_below", RBT_INT, offsetof(rbt_prism_shape, cells_below), .fallback = {2}, .min = 1, .max = 10000,
     .doc = "Across the face below."},
    {"cells_up", RBT_INT, offsetof(rbt_prism_shape, cells_up), .fallback = {4}, .min = 1, .max = 10000,
     .doc = "Up each of the slopes."},
    {"cells_along", RBT_INT, offsetof(rbt_prism_shape, cells_along), .fallback = {6}, .min = 1, .max = 10000,
     .doc = "Along the length."}};
const rbt_record RBT_PRISM_PARAMETERS = {"prism shape", "The surface of a prism whose base is an isosceles triangle.",
                                         sizeof(rbt_prism_shape), RBT_FIELDS(PRISM_FIELDS)};

// Around the base triangle: along the face below, up one slope and down the other
static void prism_outline(const rbt_prism_shape *p, int i, double x[3]) {
    double low = p->cells_below, up = p->cells_up, s = i;
    if (s <= low) x[0] = p->width * (s / low - 0.5), x[1] = 0;
    else if (s <= low + up) x[0] = 0.5 * p->width * (1 - (s - low) / up), x[1] = p->height * (s - low) / up;
    else x[0] = -0.5 * p->width * (s - low - up) / up, x[1] = p->height * (1 - (s - low - up) / up);
}

rbt_mesh *rbt_make_prism(const void *parameters, rbt_error *error) {
    const rbt_prism_shape *p = parameters;
    int around = p->cells_below + 2 * p->cells_up, rows = p->cells_along + 1;
    size_t grid = (size_t)around * (size_t)rows, sides = 2 * (size_t)around * (size_t)p->cells_along;
    rbt_mesh *mesh = surface_new(grid + 2, sides + 2 * (size_t)around, error);
    if (!mesh) return NULL;
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < around; i++) {
            double *x = mesh->nodes + 3 * (size_t)(r * around + i);
            prism_outline(p, i, x);
            x[2] = p->length * (0.5 - (double)r / p->cells_along);
        }
    fill_grid(mesh->triangles, 0, rows, around, false);
    for (int end = 0; end < 2; end++) {  // a fan from a node in the middle of the base
        double *x = mesh->nodes + 3 * (grid + (size_t)end);
        int32_t hub = (int32_t)grid + end, first = end ? p->cells_along * around : 0;
        x[0] = 0, x[1] = p->height / 3, x[2] = end ? -0.5 * p->length : 0.5 * p->length;
        for (int i = 0; i < around; i++) {
            int32_t *t = mesh->triangles + 3 * (sides + (size_t)(end * around + i));
            t[0] = hub, t[end ? 2 : 1] = first + i, t[end ? 1 : 2] = first + (i + 1) % around;
        }
    }
    return finish(mesh, error);
}

// ---- A hare: a ball whose radius depends on the direction, so that it never crosses itself

static const rbt_field HARE_FIELDS[] = {{"size", RBT_REAL, offsetof(rbt_hare_shape, size), .fallback = {0.2},
                                         RBT_SIZE_LIMITS, .doc = "Of the body, across."},
                                        {"cells", RBT_INT, offsetof(rbt_hare_shape, cells), .fallback = {8}, .min = 1,
                                         .max = 1000, .doc = "Parts that each edge of an icosahedron is cut into."}};
const rbt_record RBT_HARE_PARAMETERS = {"hare shape", "The surface of a sitting hare with long ears.",
                                        sizeof(rbt_hare_shape), RBT_FIELDS(HARE_FIELDS)};

typedef struct bump {
    double toward[3], height, breadth;  // unit direction; share of the radius; angle [rad]
} bump;

rbt_mesh *rbt_make_hare(const void *parameters, rbt_error *error) {
    static const bump bumps[] = {{{0.48, 0.84, 0.25}, 0.9, 0.2}, {{0.48, 0.84, -0.25}, 0.9, 0.2},
                                 {{0.83, 0.55, 0}, 0.45, 0.5},   {{0.85, -0.5, 0.15}, 0.3, 0.35},
                                 {{-0.95, -0.3, 0}, 0.25, 0.25}, {{0.1, -0.9, 0.4}, 0.15, 0.3},
                                 {{0.1, -0.9, -0.4}, 0.15, 0.3}};
    const rbt_hare_shape *p = parameters;
    rbt_polyhedron_shape ball = {.kind = 3, .radius = 1, .cells = p->cells, .round = true};
    rbt_mesh *mesh = rbt_make_polyhedron(&ball, error);
    for (size_t n = 0; mesh && n < mesh->node_count; n++) {
        double *x = mesh->nodes + 3 * n, away = 1;
        for (size_t b = 0; b < sizeof bumps / sizeof bumps[0]; b++) {
            const double *u = bumps[b].toward;
            double size = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
            double cosine = (x[0] * u[0] + x[1] * u[1] + x[2] * u[2]) / size;
            double angle = acos(cosine > 1 ? 1 : cosine < -1 ? -1 : cosine) / bumps[b].breadth;
            away += bumps[b].height * exp(-angle * angle);
        }
        for (int k = 0; k < 3; k++) x[k] *= 0.5 * p->size * away;
    }
    return mesh;
}
