// Ribbons laid as loose knots, so that nothing touches: they stand on their edges, the width along y, and pass over
// and under each other at heights that differ by more than that. What they are laid as is their rest shape.
#include "mesh/core/build.h"
#include "mesh/generate/shapes.h"

#include <math.h>
#include <string.h>

// ---- A flat sheet laid along a line

typedef void (*line_point)(const void *line, double s, double p[3]);  // s from 0 to 1

enum { SAMPLES = 6000 };

// Length of a line; if wanted, up to each of SAMPLES + 1 points of it
static double measure(line_point point, const void *line, double *at) {
    double before[3], here[3], sum = 0;
    point(line, 0, before);
    for (int i = 0; i <= SAMPLES; i++) {
        point(line, (double)i / SAMPLES, here);
        sum += sqrt(pow(here[0] - before[0], 2) + pow(here[1] - before[1], 2) + pow(here[2] - before[2], 2));
        if (at) at[i] = sum;
        memcpy(before, here, sizeof before);
    }
    return sum;
}

static rbt_mesh *lay(const rbt_sheet_shape *flat, line_point point, const void *line, rbt_error *error) {
    double *at = rbt_array_new(SAMPLES + 1, sizeof *at, "a knot", error);
    rbt_mesh *mesh = at ? rbt_make_sheet(flat, error) : NULL;
    double length = mesh ? measure(point, line, at) : 0;
    for (size_t n = 0; mesh && n < mesh->node_count; n++) {
        double *x = mesh->nodes + 3 * n, target = (x[0] / flat->length + 0.5) * length, across = x[2];
        int low = 0, high = SAMPLES;
        while (high - low > 1) {
            int middle = (low + high) / 2;
            if (at[middle] <= target) low = middle;
            else high = middle;
        }
        double share = (target - at[low]) / (at[high] - at[low]);
        point(line, (low + (share < 0 ? 0 : share > 1 ? 1 : share)) / SAMPLES, x);
        x[1] += across;
    }
    free(at);
    return mesh;
}

// ---- Half a reef knot

static const rbt_field REEF_FIELDS[] = {
    {"strand", RBT_INT, offsetof(rbt_reef_shape, strand), .max = 1,
     .doc = "Which of the two ribbons: 0 with its bight to the right and its ends to the left, or 1, the other way "
            "round."},
    {"length", RBT_REAL, offsetof(rbt_reef_shape, length), .fallback = {0.27}, RBT_SIZE_LIMITS,
     .doc = "Length of the ribbon's middle line; at least as long as the bight needs."},
    {"width", RBT_REAL, offsetof(rbt_reef_shape, width), .fallback = {0.02}, RBT_SIZE_LIMITS,
     .doc = "Width of the ribbon, along y."},
    {"clearance", RBT_REAL, offsetof(rbt_reef_shape, clearance), .fallback = {0.006}, RBT_SIZE_LIMITS,
     .doc = "Free distance between the ribbons where they cross."},
    {"cells_along", RBT_INT, offsetof(rbt_reef_shape, cells_along), .fallback = {312}, .min = 8, .max = 1000000,
     .doc = "Cells along the length; two triangles each."},
    {"cells_across", RBT_INT, offsetof(rbt_reef_shape, cells_across), .fallback = {16}, .min = 1, .max = 100000,
     .doc = "Cells across the width."}};
const rbt_record RBT_REEF_PARAMETERS = {"reef-ribbon shape",
                                        "A ribbon laid as one strand of a loose reef knot in the plane y = 0, "
                                        "standing on its edge; the node sets left and right "
                                        "are its two ends.",
                                        sizeof(rbt_reef_shape), RBT_FIELDS(REEF_FIELDS)};

// The middle line of strand 0: from its upper end along +x, around the bight and back. Both legs are near each other
// where they pass through the other strand's bight, far apart around its legs; they rise and sink by `lift` to pass
// over, under and over.
typedef struct reef_line {
    double tail, half, narrow, wide, lift;
} reef_line;

static double smooth(double s) { return s <= 0 ? 0 : s >= 1 ? 1 : s * s * (3 - 2 * s); }

static void reef_leg(const reef_line *l, double x, double p[3]) {
    double s = (x + l->half) / (2 * l->half);
    p[0] = x;
    p[1] = l->lift * (1 - 2 * (smooth(2 * s) - smooth(2 * s - 1)));
    p[2] = l->narrow + (l->wide - l->narrow) * smooth(s);
}

// u from 0 to 3: leg, bight, leg back
static void reef_point(const reef_line *l, double u, double p[3]) {
    double side = u > 1.5 ? -1 : 1, from_end = u > 1.5 ? 3 - u : u;
    if (from_end <= 1) reef_leg(l, -l->half - l->tail + from_end * (2 * l->half + l->tail), p);
    else {
        double angle = (from_end - 1) * M_PI;
        p[0] = l->half + l->wide * sin(angle);
        p[1] = l->lift;
        p[2] = l->wide * cos(angle);
    }
    p[2] = side > 0 || from_end > 1 ? side * fabs(p[2]) : -p[2];
}

static void reef_at(const void *line, double s, double p[3]) { reef_point(line, 3 * s, p); }

rbt_mesh *rbt_make_reef(const void *parameters, rbt_error *error) {
    const rbt_reef_shape *p = parameters;
    double lift = 0.5 * (p->width + p->clearance);
    reef_line line = {0, 1.3 * p->width, 0.4 * p->width, p->width, lift};
    double least = measure(reef_at, &line, NULL);
    if (p->length < least + p->width) {
        rbt_fail(error, "a ribbon %g m wide needs a length of at least %g m for its part of the knot, but has %g m",
                 p->width, least + p->width, p->length);
        return NULL;
    }
    line.tail = 0.5 * (p->length - least);
    rbt_sheet_shape flat = {p->length, p->width, p->cells_along, p->cells_across};
    rbt_mesh *mesh = lay(&flat, reef_at, &line, error);
    for (size_t i = 0; mesh && p->strand && i < mesh->node_count; i++)  // turned about the z axis by half a circle
        mesh->nodes[3 * i] *= -1, mesh->nodes[3 * i + 1] *= -1;
    return mesh;
}

// ---- A bowline

static const rbt_field BOWLINE_FIELDS[] = {
    {"size", RBT_REAL, offsetof(rbt_bowline_shape, size), .fallback = {0.26}, RBT_SIZE_LIMITS,
     .doc = "From the knot's middle to the end of the standing part along z; everything else is in proportion."},
    {"width", RBT_REAL, offsetof(rbt_bowline_shape, width), .fallback = {0.02}, RBT_SIZE_LIMITS,
     .doc = "Width of the ribbon, along y; at most a tenth of the size."},
    {"cells_along", RBT_INT, offsetof(rbt_bowline_shape, cells_along), .fallback = {379}, .min = 40, .max = 1000000,
     .doc = "Cells along the length; two triangles each."},
    {"cells_across", RBT_INT, offsetof(rbt_bowline_shape, cells_across), .fallback = {6}, .min = 1, .max = 100000,
     .doc = "Cells across the width."}};
const rbt_record RBT_BOWLINE_PARAMETERS = {"bowline-ribbon shape",
                                           "A ribbon laid as a loose bowline in the plane y = 0, standing on its "
                                           "edge: its loop goes around the point (0, 0, -size / 2) at a "
                                           "distance of at least 0.23 size; the node sets left and right are the end "
                                           "of the standing part and the other end.",
                                           sizeof(rbt_bowline_shape), RBT_FIELDS(BOWLINE_FIELDS)};

// Where the middle line goes: x and z in parts of the size, and the height in levels, two of which pass over each
// other. From the standing part it makes the small loop and passes over itself, goes around the large loop, comes up
// through the small loop, behind the standing part and back down through the small loop.
static const double BOWLINE[][3] = {
    {0, 26, 0},        {0, 20, 0},         {0, 14, 0},          {0, 12, 0},        {0, 9, 0},
    {0, 6.5, -0.3},    {0, 4, -0.5},       {0, 1.5, -0.25},     {-1.2, -0.6, 0.2}, {-2.8, -1.2, 0.5},
    {-4, -1.2, 0.5},   {-5.5, -1.2, 0.5},  {-7.3, -0.6, 0.3},   {-8.8, 1.5, 0},    {-8, 3.6, -0.3},
    {-6.6, 4.2, -0.5}, {-5.5, 4.2, -0.5},  {-4, 4.2, -0.5},     {-2, 4.1, 0},      {0, 4, 0.5},
    {2.5, 3.2, 0.4},   {5, 0.5, 0.1},      {6.5, -4, 0},        {7, -9, 0},        {7, -13, 0},
    {4.95, -17.95, 0}, {0, -20, 0},        {-4.95, -17.95, 0},  {-7, -13, 0},      {-6.7, -8, 0},
    {-6, -4.5, -0.3},  {-5.5, -1.2, -0.5}, {-5.5, 1.5, 0},      {-5.5, 4.2, 0.5},  {-5.4, 7, 0},
    {-4.2, 10, -0.6},  {-2.2, 11.8, -0.9}, {0, 12, -1},         {2, 11.7, -0.7},   {3, 10.5, 0},
    {2, 9.3, 0.7},     {0, 9, 1},          {-2, 8.6, 0.9},      {-3.6, 7, 0.7},    {-4, 4.2, 0.5},
    {-4, 1.5, 0},      {-4, -1.2, -0.5},   {-3.7, -3.5, -0.35}, {-3, -6, -0.1}};
enum { BOWLINE_POINTS = sizeof BOWLINE / sizeof BOWLINE[0] };

// Cubic pieces whose slope at a point is that between its neighbours (Catmull and Rom)
static void bowline_at(const void *shape, double s, double p[3]) {
    const rbt_bowline_shape *b = shape;
    double along = s * (BOWLINE_POINTS - 1), unit = b->size / 26, level = 1.3 * b->width, at[3];
    int i = along >= BOWLINE_POINTS - 1 ? BOWLINE_POINTS - 2 : (int)along;
    double t = along - i;
    const double *q[4];
    for (int k = 0; k < 4; k++) {
        int j = i + k - 1;
        q[k] = BOWLINE[j < 0 ? 0 : j >= BOWLINE_POINTS ? BOWLINE_POINTS - 1 : j];
    }
    for (int k = 0; k < 3; k++)
        at[k] = q[1][k] + 0.5 * t *
                              (q[2][k] - q[0][k] +
                               t * (2 * q[0][k] - 5 * q[1][k] + 4 * q[2][k] - q[3][k] +
                                    t * (3 * (q[1][k] - q[2][k]) + q[3][k] - q[0][k])));
    p[0] = unit * at[0];
    p[1] = level * at[2];
    p[2] = unit * at[1];
}

rbt_mesh *rbt_make_bowline(const void *parameters, rbt_error *error) {
    const rbt_bowline_shape *p = parameters;
    if (p->width > 0.1 * p->size) {
        rbt_fail(error, "a ribbon %g m wide is too wide for a knot of size %g m; take at most a tenth", p->width,
                 p->size);
        return NULL;
    }
    rbt_sheet_shape flat = {measure(bowline_at, p, NULL), p->width, p->cells_along, p->cells_across};
    return lay(&flat, bowline_at, p, error);
}
