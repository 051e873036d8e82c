// Moebius strip and honeycomb: flat sections moved around a twisted circle, or straight up.
#include "mesh/core/build.h"
#include "mesh/generate/shapes.h"
#include "mesh/generate/sweep.h"

#include <math.h>
#include <string.h>

static const rbt_field MOEBIUS_FIELDS[] = {
    {"radius", RBT_REAL, offsetof(rbt_moebius_shape, radius), .fallback = {0.5}, RBT_SIZE_LIMITS,
     .doc = "Radius of the circle around the y axis that the strip's middle follows."},
    {"width", RBT_REAL, offsetof(rbt_moebius_shape, width), .fallback = {0.45}, RBT_SIZE_LIMITS,
     .doc = "Width of the strip; below twice the radius."},
    {"thickness", RBT_REAL, offsetof(rbt_moebius_shape, thickness), .fallback = {0.02}, RBT_SIZE_LIMITS,
     .doc = "Thickness of the strip."},
    {"cells_around", RBT_INT, offsetof(rbt_moebius_shape, cells_around), .fallback = {108}, .min = 3, .max = 1000000,
     .doc = "Cells around the circle."},
    {"cells_across", RBT_INT, offsetof(rbt_moebius_shape, cells_across), .fallback = {26}, .min = 1, .max = 10000,
     .doc = "Cells across the width; six tets each."},
    {"cells_through", RBT_INT, offsetof(rbt_moebius_shape, cells_through), .fallback = {1}, .min = 1, .max = 1000,
     .doc = "Cells through the thickness."}};
const rbt_record RBT_MOEBIUS_PARAMETERS = {
    "moebius shape",
    "A strip closed with half a twist: the tet sets core (the middle third of its width) and sheet (the rest).",
    sizeof(rbt_moebius_shape), RBT_FIELDS(MOEBIUS_FIELDS)};

static const rbt_field HONEYCOMB_FIELDS[] = {
    {"columns", RBT_INT, offsetof(rbt_honeycomb_shape, columns), .fallback = {9}, .min = 1, .max = 1000,
     .doc = "Hexagonal holes along x."},
    {"rows", RBT_INT, offsetof(rbt_honeycomb_shape, rows), .fallback = {5}, .min = 1, .max = 1000,
     .doc = "Hexagonal holes along z."},
    {"cell", RBT_REAL, offsetof(rbt_honeycomb_shape, cell), .fallback = {0.02}, RBT_SIZE_LIMITS,
     .doc = "Distance between the centres of neighbouring holes."},
    {"wall", RBT_REAL, offsetof(rbt_honeycomb_shape, wall), .fallback = {0.004}, RBT_SIZE_LIMITS,
     .doc = "Thickness of the walls; below the distance of the holes."},
    {"height", RBT_REAL, offsetof(rbt_honeycomb_shape, height), .fallback = {0.008}, RBT_SIZE_LIMITS,
     .doc = "Thickness of the plate along y."},
    {"segments", RBT_INT, offsetof(rbt_honeycomb_shape, segments), .fallback = {3}, .min = 1, .max = 100,
     .doc = "Cells along each side of a hexagon."},
    {"layers", RBT_INT, offsetof(rbt_honeycomb_shape, layers), .fallback = {2}, .min = 1, .max = 1000,
     .doc = "Cells through the plate."}};
const rbt_record RBT_HONEYCOMB_PARAMETERS = {"honeycomb shape",
                                             "A plate with hexagonal holes: the tet sets edge (around the outermost "
                                             "holes) and core (the rest), the node sets left and right.",
                                             sizeof(rbt_honeycomb_shape), RBT_FIELDS(HONEYCOMB_FIELDS)};

// ---- Moebius strip

static void place_on_twist(const void *path, double u, double v, int step, double x[3]) {
    const rbt_moebius_shape *p = path;
    double angle = 2 * M_PI * step / p->cells_around, c = cos(angle / 2), s = sin(angle / 2);
    double a = p->width / 2 * u, b = p->thickness / 2 * v, away = p->radius + a * c - b * s;
    x[0] = away * cos(angle);
    x[1] = a * s + b * c;
    x[2] = away * sin(angle);
}

rbt_mesh *rbt_make_moebius(const void *parameters, rbt_error *error) {
    const rbt_moebius_shape *p = parameters;
    if (hypot(p->width, p->thickness) >= 2 * p->radius) {
        rbt_fail(error,
                 "a strip of width %g m and thickness %g m runs into itself on a circle of radius %g m; try a larger "
                 "radius",
                 p->width, p->thickness, p->radius);
        return NULL;
    }
    rbt_section grid;
    if (!rbt_sweep_check(2.0 * p->cells_across * p->cells_through, p->cells_around, error)) return NULL;
    if (!rbt_section_grid(&grid, p->cells_across, p->cells_through, error)) return NULL;
    // After half a turn of the section its points arrive in reverse order.
    int32_t *arrival = rbt_array_new(grid.point_count, sizeof *arrival, "a section", error);
    for (size_t i = 0; arrival && i < grid.point_count; i++) arrival[i] = (int32_t)(grid.point_count - 1 - i);
    rbt_mesh *mesh =
        arrival ? rbt_sweep_section(&grid, &(rbt_sweep){place_on_twist, p, p->cells_around, true, arrival}, error)
                : NULL;
    size_t per_step = 3 * grid.triangle_count;
    free(arrival);
    rbt_section_free(&grid);
    bool made = mesh != NULL;
    for (size_t t = 0; made && t < mesh->tet_count; t++) {
        double column = (double)(t % per_step / 6 % (size_t)p->cells_across) + 0.5;
        bool middle = fabs(column / p->cells_across - 0.5) < 1.0 / 6;
        int32_t tet = (int32_t)t;
        made = rbt_mesh_add_to_set(mesh, middle ? "core" : "sheet", RBT_SET_TETS, &tet, 1, error);
    }
    if (made) return mesh;
    rbt_mesh_free(mesh);
    return NULL;
}

// ---- Honeycomb: around every hole six trapezia that reach to the middle of the walls

typedef struct corner_point {
    int64_t key[2];  // place in units so small that equal means the same point
    int32_t slot;    // where in the triangles
} corner_point;

static int compare_places(const void *left, const void *right) {
    const corner_point *a = left, *b = right;
    for (int k = 0; k < 2; k++)
        if (a->key[k] != b->key[k]) return a->key[k] < b->key[k] ? -1 : 1;
    return (a->slot > b->slot) - (a->slot < b->slot);
}

// Twelve times `segments` triangles of the hexagon around (x, y), as coordinates.
static double *outline_hexagon(const rbt_honeycomb_shape *p, double x, double y, double *out) {
    double outer = p->cell / sqrt(3), inner = (p->cell - p->wall) / sqrt(3);
    int s = p->segments;
    for (int side = 0; side < 6; side++) {
        double a = M_PI / 3 * side + M_PI / 6, b = a + M_PI / 3;
        for (int m = 0; m < s; m++) {
            double at[2] = {(double)m / s, (m + 1.0) / s}, point[4][2];
            for (int i = 0; i < 4; i++) {  // outer m, m + 1, inner m + 1, m
                double t = at[i == 1 || i == 2], r = i < 2 ? outer : inner;
                point[i][0] = x + r * ((1 - t) * cos(a) + t * cos(b));
                point[i][1] = y + r * ((1 - t) * sin(a) + t * sin(b));
            }
            static const int split[2][6] = {{0, 1, 2, 0, 2, 3}, {0, 1, 3, 1, 2, 3}};
            const int *corners = split[2 * m + 1 < s];  // the shorter diagonal
            for (int i = 0; i < 6; i++, out += 2) memcpy(out, point[corners[i]], 2 * sizeof *out);
        }
    }
    return out;
}

// Numbers equal places once, in the order of first use.
static bool join_points(rbt_section *s, const double *places, size_t count, double unit, rbt_error *error) {
    corner_point *corners = rbt_array_new(count, sizeof *corners, "a section", error);
    int32_t *first = rbt_array_new(count, sizeof *first, "a section", error);
    bool made = corners && first;
    if (made) {
        for (size_t i = 0; i < count; i++)
            corners[i] =
                (corner_point){{llround(places[2 * i] / unit), llround(places[2 * i + 1] / unit)}, (int32_t)i};
        qsort(corners, count, sizeof *corners, compare_places);
        for (size_t i = 0; i < count; i++) {
            bool same = i && corners[i].key[0] == corners[i - 1].key[0] && corners[i].key[1] == corners[i - 1].key[1];
            first[corners[i].slot] = same ? first[corners[i - 1].slot] : corners[i].slot;
        }
        for (size_t i = 0; i < count; i++) {
            if (first[i] != (int32_t)i) {
                s->triangles[i] = s->triangles[first[i]];
                continue;
            }
            memcpy(s->points + 2 * s->point_count, places + 2 * i, 2 * sizeof *places);
            s->triangles[i] = (int32_t)s->point_count++;
        }
    }
    free(corners);
    free(first);
    return made;
}

static bool make_comb(const rbt_honeycomb_shape *p, rbt_section *s, rbt_error *error) {
    size_t triangles = (size_t)p->columns * (size_t)p->rows * 12 * (size_t)p->segments, count = 3 * triangles;
    *s = (rbt_section){.triangle_count = triangles};
    double *places = NULL;
    bool made = (places = rbt_array_new(count, 2 * sizeof *places, "a section", error)) &&
                (s->points = rbt_array_new(count, 2 * sizeof *s->points, "a section", error)) &&
                (s->triangles = rbt_array_new(count, sizeof *s->triangles, "a section", error));
    double *out = places;
    for (int row = 0; row < p->rows && made; row++)
        for (int column = 0; column < p->columns; column++) {
            double x = (column + (row % 2 ? 0.5 : 0) - (p->columns - 1) / 2.0 - (p->rows > 1 ? 0.25 : 0)) * p->cell;
            double y = (row - (p->rows - 1) / 2.0) * p->cell * sqrt(3) / 2;
            out = outline_hexagon(p, x, y, out);
        }
    made = made && join_points(s, places, count, p->cell * 1e-6, error);
    free(places);
    if (!made) rbt_section_free(s);
    return made;
}

static void place_in_plate(const void *path, double u, double v, int step, double x[3]) {
    const rbt_honeycomb_shape *p = path;
    x[0] = u;
    x[1] = p->height * ((double)step / p->layers - 0.5);
    x[2] = -v;
}

static bool name_comb(const rbt_honeycomb_shape *p, rbt_mesh *mesh, rbt_error *error) {
    size_t per_hole = 36 * (size_t)p->segments, columns = (size_t)p->columns, rows = (size_t)p->rows;
    for (size_t t = 0; t < mesh->tet_count; t++) {
        size_t hole = t % (per_hole * columns * rows) / per_hole, column = hole % columns, row = hole / columns;
        bool outermost = column == 0 || row == 0 || column + 1 == columns || row + 1 == rows;
        int32_t tet = (int32_t)t;
        if (!rbt_mesh_add_to_set(mesh, outermost ? "edge" : "core", RBT_SET_TETS, &tet, 1, error)) return false;
    }
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < mesh->node_count; i++) {
        low = fmin(low, mesh->nodes[3 * i]);
        high = fmax(high, mesh->nodes[3 * i]);
    }
    for (size_t i = 0; i < mesh->node_count; i++) {  // every other row ends half a hole further in
        double x = mesh->nodes[3 * i], reach = 0.5 * p->cell + 0.5 * p->wall;
        int32_t node = (int32_t)i;
        if (x < low + reach && !rbt_mesh_add_to_set(mesh, "left", RBT_SET_NODES, &node, 1, error)) return false;
        if (x > high - reach && !rbt_mesh_add_to_set(mesh, "right", RBT_SET_NODES, &node, 1, error)) return false;
    }
    return true;
}

rbt_mesh *rbt_make_honeycomb(const void *parameters, rbt_error *error) {
    const rbt_honeycomb_shape *p = parameters;
    if (p->wall >= p->cell) {
        rbt_fail(error, "walls of %g m leave no holes at a distance of %g m: they must be thinner", p->wall, p->cell);
        return NULL;
    }
    double tets = 36.0 * p->columns * p->rows * p->segments * p->layers;
    if (tets > RBT_MAX_GENERATED_TETS) {
        rbt_fail(error, "%d x %d holes with %d segments and %d layers make %.0f tets, and the limit is %d; try fewer",
                 p->columns, p->rows, p->segments, p->layers, tets, RBT_MAX_GENERATED_TETS);
        return NULL;
    }
    rbt_section comb;
    if (!make_comb(p, &comb, error)) return NULL;
    rbt_mesh *mesh = rbt_sweep_section(&comb, &(rbt_sweep){place_in_plate, p, p->layers, false, NULL}, error);
    rbt_section_free(&comb);
    if (mesh && name_comb(p, mesh, error)) return mesh;
    rbt_mesh_free(mesh);
    return NULL;
}
