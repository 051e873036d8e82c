// Boxes of tets and sheets of triangles on regular grids.
//
// A box's cells are cut into six tets along their main diagonal (Kuhn): every cell is cut alike, so cells match their
// neighbours for any counts, and refinements are nested. The split into five tets needs mirrored neighbours and makes
// tets of two sizes, and with them a checkerboard of stiffness. Sheets alternate their diagonals instead, since a
// sheet with parallel ones drapes visibly askew.
#include "mesh/core/build.h"
#include "mesh/generate/shapes.h"

#define BOX_FIELDS(x, y, z, nx, ny, nz)                                                                              \
    {"size",                                                                                                         \
     RBT_VEC3,                                                                                                       \
     offsetof(rbt_box_shape, size),                                                                                  \
     .fallback = {x, y, z},                                                                                          \
     RBT_SIZE_LIMITS,                                                                                                \
     .doc = "Lengths along x, y and z; the box is centred on the origin."},                                          \
    {                                                                                                                \
        "cells", RBT_INT3, offsetof(rbt_box_shape, cells), .fallback = {nx, ny, nz}, .min = 1, .max = 100000,        \
                                                           .doc = "Cells along x, y and z; six tets each."           \
    }

static const rbt_field BAR_FIELDS[] = {BOX_FIELDS(4, 1, 1, 16, 4, 4)};
const rbt_record RBT_BAR_PARAMETERS = {
    "bar shape", "A long box; its sides are the node sets left, right, bottom, top, back and front.",
    sizeof(rbt_box_shape), RBT_FIELDS(BAR_FIELDS)};

static const rbt_field CUBOID_FIELDS[] = {BOX_FIELDS(1, 1, 1, 8, 8, 8)};
const rbt_record RBT_CUBOID_PARAMETERS = {
    "cuboid shape", "A box; its sides are the node sets left, right, bottom, top, back and front.",
    sizeof(rbt_box_shape), RBT_FIELDS(CUBOID_FIELDS)};

#define SHEET_FIELDS(meters_along, meters_across, along, across)                                                     \
    {"length",                                                                                                       \
     RBT_REAL,                                                                                                       \
     offsetof(rbt_sheet_shape, length),                                                                              \
     .fallback = {meters_along},                                                                                     \
     RBT_SIZE_LIMITS,                                                                                                \
     .doc = "Length along x; the sheet lies in the plane y = 0, centred on the origin."},                            \
        {"width",                                                                                                    \
         RBT_REAL,                                                                                                   \
         offsetof(rbt_sheet_shape, width),                                                                           \
         .fallback = {meters_across},                                                                                \
         RBT_SIZE_LIMITS,                                                                                            \
         .doc = "Width along z."},                                                                                   \
        {"cells_along",                                                                                              \
         RBT_INT,                                                                                                    \
         offsetof(rbt_sheet_shape, cells_along),                                                                     \
         .fallback = {along},                                                                                        \
         .min = 1,                                                                                                   \
         .max = 100000,                                                                                              \
         .doc = "Cells along the length; two triangles each."},                                                      \
    {                                                                                                                \
        "cells_across", RBT_INT, offsetof(rbt_sheet_shape, cells_across),                                            \
            .fallback = {across}, .min = 1, .max = 100000, .doc = "Cells across the width."                          \
    }

static const rbt_field CLOTH_FIELDS[] = {SHEET_FIELDS(1, 1, 40, 40)};
const rbt_record RBT_CLOTH_PARAMETERS = {
    "cloth shape",
    "A sheet of triangles; its edges are the node sets left, right, back and front, its corners left-back and so on.",
    sizeof(rbt_sheet_shape), RBT_FIELDS(CLOTH_FIELDS)};

static const rbt_field RIBBON_FIELDS[] = {SHEET_FIELDS(0.27, 0.02, 312, 16)};
const rbt_record RBT_RIBBON_PARAMETERS = {"ribbon shape",
                                          "A long sheet of triangles; its edges are the node sets left, right, back "
                                          "and front, its corners left-back and so on.",
                                          sizeof(rbt_sheet_shape), RBT_FIELDS(RIBBON_FIELDS)};

// ---- Boxes

// Node (i, j, k) is number i + (nx + 1) (j + (ny + 1) k).
static int32_t box_node(const int n[3], const int at[3]) { return at[0] + (n[0] + 1) * (at[1] + (n[1] + 1) * at[2]); }

static void cut_cell(const int n[3], const int cell[3], int32_t *tets) {
    // The six ways from the low to the high corner along the axes; those that turn left are swapped to stay positive.
    static const int way[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}};
    for (int w = 0; w < 6; w++, tets += 4) {
        int at[3] = {cell[0], cell[1], cell[2]};
        int32_t corner[4] = {box_node(n, at)};
        for (int step = 0; step < 3; step++) {
            at[way[w][step]]++;
            corner[step + 1] = box_node(n, at);
        }
        tets[0] = corner[0];
        tets[1] = corner[1];
        tets[2] = corner[w < 3 ? 2 : 3];
        tets[3] = corner[w < 3 ? 3 : 2];
    }
}

static bool name_sides(rbt_mesh *mesh, const int n[3], rbt_error *error) {
    static const char *const name[3][2] = {{"left", "right"}, {"bottom", "top"}, {"back", "front"}};
    for (int k = 0; k < n[2] + 1; k++)
        for (int j = 0; j < n[1] + 1; j++)
            for (int i = 0; i < n[0] + 1; i++) {
                int at[3] = {i, j, k};
                int32_t node = box_node(n, at);
                for (int axis = 0; axis < 3; axis++)
                    for (int high = 0; high < 2; high++)
                        if (at[axis] == high * n[axis] && name[axis][high] &&
                            !rbt_mesh_add_to_set(mesh, name[axis][high], RBT_SET_NODES, &node, 1, error))
                            return false;
            }
    return true;
}

rbt_mesh *rbt_make_box(const void *parameters, rbt_error *error) {
    const rbt_box_shape *p = parameters;
    const int *n = p->cells;
    double cells = (double)n[0] * n[1] * n[2];
    if (6 * cells > RBT_MAX_GENERATED_TETS) {
        rbt_fail(error, "%d x %d x %d cells make %.0f tets, and the limit is %d; try fewer cells", n[0], n[1], n[2],
                 6 * cells, RBT_MAX_GENERATED_TETS);
        return NULL;
    }
    rbt_mesh *mesh = rbt_mesh_new(error);
    size_t nodes = (size_t)(n[0] + 1) * (size_t)(n[1] + 1) * (size_t)(n[2] + 1);
    if (!mesh || !rbt_mesh_allocate(mesh, nodes, 6 * (size_t)cells, 0, 0, error)) {
        rbt_mesh_free(mesh);
        return NULL;
    }
    int32_t *tets = mesh->tets;
    for (int k = 0; k <= n[2]; k++)
        for (int j = 0; j <= n[1]; j++)
            for (int i = 0; i <= n[0]; i++) {
                int at[3] = {i, j, k};
                for (int axis = 0; axis < 3; axis++)
                    mesh->nodes[3 * (size_t)box_node(n, at) + (size_t)axis] =
                        p->size[axis] * ((double)at[axis] / n[axis] - 0.5);
                if (i == n[0] || j == n[1] || k == n[2]) continue;
                cut_cell(n, at, tets);
                tets += 24;
            }
    if (name_sides(mesh, n, error) && rbt_mesh_finish_sets(mesh, error)) return mesh;
    rbt_mesh_free(mesh);
    return NULL;
}

// ---- Sheets

static bool name_edges(rbt_mesh *mesh, int along, int across, rbt_error *error) {
    static const char *const name[3][3] = {
        {"left-back", "left", "left-front"}, {"back", NULL, "front"}, {"right-back", "right", "right-front"}};
    for (int j = 0; j <= across; j++)
        for (int i = 0; i <= along; i++) {
            int column = i == 0 ? 0 : i == along ? 2 : 1, row = j == 0 ? 0 : j == across ? 2 : 1;
            int32_t node = i + (along + 1) * j;
            const char *sets[3] = {column != 1 ? name[column][1] : NULL, row != 1 ? name[1][row] : NULL,
                                   column != 1 && row != 1 ? name[column][row] : NULL};
            for (int s = 0; s < 3; s++)
                if (sets[s] && !rbt_mesh_add_to_set(mesh, sets[s], RBT_SET_NODES, &node, 1, error)) return false;
        }
    return rbt_mesh_finish_sets(mesh, error);
}

rbt_mesh *rbt_make_sheet(const void *parameters, rbt_error *error) {
    const rbt_sheet_shape *p = parameters;
    int along = p->cells_along, across = p->cells_across;
    double cells = (double)along * across;
    if (2 * cells > RBT_MAX_GENERATED_TETS) {
        rbt_fail(error, "%d x %d cells make %.0f triangles, and the limit is %d; try fewer cells", along, across,
                 2 * cells, RBT_MAX_GENERATED_TETS);
        return NULL;
    }
    rbt_mesh *mesh = rbt_mesh_new(error);
    size_t nodes = (size_t)(along + 1) * (size_t)(across + 1);
    if (!mesh || !rbt_mesh_allocate(mesh, nodes, 0, 2 * (size_t)cells, 0, error)) {
        rbt_mesh_free(mesh);
        return NULL;
    }
    int32_t *out = mesh->triangles;
    for (int j = 0; j <= across; j++)
        for (int i = 0; i <= along; i++) {
            int32_t a = i + (along + 1) * j, b = a + 1, c = a + along + 1, d = c + 1;
            mesh->nodes[3 * (size_t)a] = p->length * ((double)i / along - 0.5);
            mesh->nodes[3 * (size_t)a + 2] = p->width * ((double)j / across - 0.5);
            if (i == along || j == across) continue;
            bool even = (i + j) % 2 == 0;  // seen from above (+y) counter-clockwise
            int32_t pair[6] = {a, c, even ? d : b, even ? a : c, d, b};
            for (int k = 0; k < 6; k++) *out++ = pair[k];
        }
    if (name_edges(mesh, along, across, error)) return mesh;
    rbt_mesh_free(mesh);
    return NULL;
}
