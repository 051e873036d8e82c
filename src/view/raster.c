#include "view/raster.h"

#include "base/memory.h"

#include <float.h>
#include <math.h>

enum { SUB = 256, TILE = 64, SAMPLES_MAX = 8 };
static const double FAR_OUT = 1e6;

void rbt_depth_grid_clear(rbt_depth_grid *grid) {
    size_t count = (size_t)grid->width * (size_t)grid->height;
    for (size_t i = 0; i < count; i++) grid->depth[i] = -FLT_MAX;
    if (grid->owner)
        for (size_t i = 0; i < count; i++) grid->owner[i] = -1;
}

static int64_t divide_down(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

// Edge function of the samples of one row: E(i) = at + i step, inside where E >= 0.
typedef struct edge {
    int64_t ax, ay, dx, dy, bias;
} edge;

static edge edge_from(const int64_t *a, const int64_t *b) {
    edge e = {a[0], a[1], b[0] - a[0], b[1] - a[1], 0};
    // Samples exactly on an edge belong to the triangle on its right or below it only.
    if (!(e.dy < 0 || (e.dy == 0 && e.dx > 0))) e.bias = -1;
    return e;
}

static int64_t edge_at(const edge *e, int64_t x, int64_t y) {
    return e->dx * (y - e->ay) - e->dy * (x - e->ax) + e->bias;
}

static bool usable(const double *p) { return fabs(p[0]) < FAR_OUT && fabs(p[1]) < FAR_OUT && isfinite(p[2]); }

static int64_t lowest(int64_t a, int64_t b, int64_t c) { return a < b ? (a < c ? a : c) : (b < c ? b : c); }
static int64_t highest(int64_t a, int64_t b, int64_t c) { return -lowest(-a, -b, -c); }

void rbt_depth_grid_fill(rbt_depth_grid *grid, const double *a, const double *b, const double *c, int32_t owner) {
    if (!usable(a) || !usable(b) || !usable(c)) return;
    int64_t p[3][2];
    const double *corner[3] = {a, b, c};
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 2; i++) p[k][i] = llround(corner[k][i] * SUB);
    int64_t area = (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[1][1] - p[0][1]) * (p[2][0] - p[0][0]);
    if (area == 0) return;
    int second = area > 0 ? 1 : 2, third = 3 - second;
    if (area < 0) area = -area;

    // First sample at or after q: floor((q + SUB/2 - 1) / SUB); last one at or before q: floor((q - SUB/2) / SUB).
    int64_t x0 = divide_down(lowest(p[0][0], p[1][0], p[2][0]) + SUB / 2 - 1, SUB) - grid->x0;
    int64_t y0 = divide_down(lowest(p[0][1], p[1][1], p[2][1]) + SUB / 2 - 1, SUB) - grid->y0;
    int64_t x1 = divide_down(highest(p[0][0], p[1][0], p[2][0]) - SUB / 2, SUB) - grid->x0;
    int64_t y1 = divide_down(highest(p[0][1], p[1][1], p[2][1]) - SUB / 2, SUB) - grid->y0;
    if (x0 < 0) x0 = 0;
    if (y0 < 0) y0 = 0;
    if (x1 > grid->width - 1) x1 = grid->width - 1;
    if (y1 > grid->height - 1) y1 = grid->height - 1;
    if (x0 > x1 || y0 > y1) return;

    const edge edges[3] = {edge_from(p[second], p[third]), edge_from(p[third], p[0]), edge_from(p[0], p[second])};
    double z0 = corner[0][2], z1 = corner[second][2] - z0, z2 = corner[third][2] - z0;
    double inverse = 1 / (double)area;
    double slope = -((double)edges[1].dy * z1 + (double)edges[2].dy * z2) * inverse * SUB;
    for (int64_t y = y0; y <= y1; y++) {
        int64_t sample_y = (y + grid->y0) * SUB + SUB / 2, sample_x = grid->x0 * (int64_t)SUB + SUB / 2;
        int64_t first = x0, last = x1;
        for (int k = 0; k < 3; k++) {
            int64_t at = edge_at(&edges[k], sample_x, sample_y), step = -edges[k].dy * SUB;
            if (step > 0) {
                int64_t enter = -divide_down(at, step);
                if (enter > first) first = enter;
            } else if (step < 0) {
                int64_t leave = divide_down(at, -step);
                if (leave < last) last = leave;
            } else if (at < 0) {
                last = first - 1;
            }
        }
        if (first > last) continue;
        double start = z0 + ((double)(edge_at(&edges[1], sample_x, sample_y) - edges[1].bias) * z1 +
                             (double)(edge_at(&edges[2], sample_x, sample_y) - edges[2].bias) * z2) *
                                inverse;
        float *depth = grid->depth + y * grid->width;
        int32_t *owners = grid->owner ? grid->owner + y * grid->width : NULL;
        for (int64_t x = first; x <= last; x++) {
            float z = (float)(start + slope * (double)x);
            if (!(z > depth[x])) continue;
            depth[x] = z;
            if (owners) owners[x] = owner;
        }
    }
}

// ---- Tiles

typedef struct tiles {
    int across, down;
    size_t *start;   // (across * down + 1)
    int32_t *items;  // triangles of each tile, ascending
} tiles;

// The tiles that a triangle's box touches; false if it cannot be seen.
static bool tiles_of(const rbt_raster *raster, const tiles *t, size_t triangle, int range[4]) {
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int k = 0; k < 3; k++) {
        const double *p = raster->points + 3 * (size_t)raster->triangles[3 * triangle + (size_t)k];
        if (!usable(p) || p[2] <= 0) return false;
        for (int i = 0; i < 2; i++) {
            low[i] = fmin(low[i], p[i]);
            high[i] = fmax(high[i], p[i]);
        }
    }
    if (high[0] < 0 || high[1] < 0 || low[0] > raster->width || low[1] > raster->height) return false;
    range[0] = (int)(fmax(low[0] - 1, 0) / TILE);
    range[1] = (int)fmin((high[0] + 1) / TILE, t->across - 1);
    range[2] = (int)(fmax(low[1] - 1, 0) / TILE);
    range[3] = (int)fmin((high[1] + 1) / TILE, t->down - 1);
    return true;
}

static void tiles_free(tiles *t) {
    free(t->start);
    free(t->items);
}

static bool tiles_build(const rbt_raster *raster, tiles *t, rbt_error *error) {
    *t = (tiles){(raster->width + TILE - 1) / TILE, (raster->height + TILE - 1) / TILE, NULL, NULL};
    size_t count = (size_t)t->across * (size_t)t->down;
    t->start = rbt_array_new(count + 2, sizeof *t->start, "tiles of a picture", error);
    if (!t->start) return false;
    // Counts go two places behind, starts one: filling then moves every start to its final value.
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < raster->triangle_count; i++) {
            int r[4];
            if (!tiles_of(raster, t, i, r)) continue;
            for (int y = r[2]; y <= r[3]; y++)
                for (int x = r[0]; x <= r[1]; x++) {
                    size_t tile = (size_t)y * (size_t)t->across + (size_t)x;
                    if (pass == 0) t->start[tile + 2]++;
                    else t->items[t->start[tile + 1]++] = (int32_t)i;
                }
        }
        if (pass == 1) break;
        for (size_t i = 2; i < count + 2; i++) t->start[i] += t->start[i - 1];
        t->items = rbt_array_new(t->start[count + 1], sizeof *t->items, "triangles in the tiles of a picture", error);
        if (!t->items) {
            tiles_free(t);
            return false;
        }
    }
    return true;
}

static void draw_tile(const rbt_raster *raster, const tiles *t, int tile, rbt_depth_grid *grid,
                      rbt_pixel_function pixel, void *context) {
    int s = raster->samples, tile_x = tile % t->across * TILE, tile_y = tile / t->across * TILE;
    int width = raster->width - tile_x < TILE ? raster->width - tile_x : TILE;
    int height = raster->height - tile_y < TILE ? raster->height - tile_y : TILE;
    grid->x0 = tile_x * s;
    grid->y0 = tile_y * s;
    grid->width = width * s;
    grid->height = height * s;
    rbt_depth_grid_clear(grid);
    for (size_t k = t->start[tile]; k < t->start[tile + 1]; k++) {
        double p[3][3];
        for (int i = 0; i < 3; i++) {
            const double *from = raster->points + 3 * (size_t)raster->triangles[3 * (size_t)t->items[k] + (size_t)i];
            p[i][0] = from[0] * s;
            p[i][1] = from[1] * s;
            p[i][2] = from[2];
        }
        rbt_depth_grid_fill(grid, p[0], p[1], p[2], t->items[k]);
    }
    int32_t owners[SAMPLES_MAX * SAMPLES_MAX];
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            for (int j = 0; j < s; j++)
                for (int i = 0; i < s; i++)
                    owners[j * s + i] = grid->owner[(size_t)(y * s + j) * (size_t)grid->width + (size_t)(x * s + i)];
            pixel(context, tile_x + x, tile_y + y, owners);
        }
}

bool rbt_raster_run(const rbt_raster *raster, rbt_pixel_function pixel, void *context, rbt_error *error) {
    if (raster->samples < 1 || raster->samples > SAMPLES_MAX)
        return rbt_fail(error, "%d samples per side of a pixel: the limits are 1 and %d", raster->samples,
                        SAMPLES_MAX);
    tiles t;
    if (!tiles_build(raster, &t, error)) return false;
    size_t most = (size_t)(TILE * raster->samples) * (size_t)(TILE * raster->samples);
    bool enough = true;
#pragma omp parallel
    {
        float *depth = malloc(most * sizeof *depth);
        int32_t *owner = malloc(most * sizeof *owner);
        bool mine = depth && owner;
#pragma omp for schedule(dynamic) reduction(&& : enough)
        for (int tile = 0; tile < t.across * t.down; tile++) {
            rbt_depth_grid grid = {.depth = depth, .owner = owner};
            if (mine) draw_tile(raster, &t, tile, &grid, pixel, context);
            else enough = false;
        }
        free(depth);
        free(owner);
    }
    tiles_free(&t);
    return enough || rbt_fail_memory(error, 2 * most * sizeof(float), "drawing a tile of the picture");
}
