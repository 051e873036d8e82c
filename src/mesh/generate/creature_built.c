// Bridge and tower: girders placed by rule.
#include "base/memory.h"
#include "mesh/generate/creature.h"

#include <math.h>

RBT_CREATURE_PARAMETERS(BRIDGE, "bridge shape",
                        "A bridge on an arch of trusses: the tet sets deck, arch, columns and braces.", 24, 124)
RBT_CREATURE_PARAMETERS(EIFFEL, "eiffel shape",
                        "A tower of lattice girders on four legs: the tet sets legs, braces, platforms and spire.",
                        30, 87.75)

enum { MAX_GIRDERS = 1000 };

typedef struct frame {
    rbt_primitive *parts;
    size_t count;
} frame;

static void add_girder(frame *f, const char *region, const double a[3], const double b[3], double radius) {
    if (f->count >= MAX_GIRDERS) return;
    f->parts[f->count++] = (rbt_primitive){region,           RBT_CAPSULE,    {a[0], a[1], a[2]}, {b[0], b[1], b[2]},
                                           {radius, radius}, .mirror = false};
}

static void add_slab(frame *f, const char *region, double y, double half_length, double half_height,
                     double half_width) {
    if (f->count >= MAX_GIRDERS) return;
    f->parts[f->count++] = (rbt_primitive){
        region, RBT_BOX, {0, y, 0}, {half_length, half_height, half_width}, .radius = {half_height, 0}};
}

static rbt_mesh *make_frame(void (*build)(frame *), double blend, const void *parameters, rbt_error *error) {
    frame f = {rbt_array_new(MAX_GIRDERS, sizeof *f.parts, "girders", error), 0};
    if (!f.parts) return NULL;
    build(&f);
    const rbt_creature creature = {f.parts, f.count, blend, 0};
    rbt_mesh *mesh = rbt_make_creature(&creature, parameters, error);
    free(f.parts);
    return mesh;
}

// ---- Bridge

enum { BAYS = 14 };
static const double SPAN = 11, RISE = 5.0, DECK = 6.1, RIB = 1.05;

static void on_arch(double part, double z, double x[3]) {  // part -1 .. 1
    x[0] = SPAN * part;
    x[1] = 0.2 + RISE * (1 - part * part);
    x[2] = z;
}

static void build_bridge(frame *f) {
    add_slab(f, "deck", DECK, 12.2, 0.17, 1.55);
    for (int side = -1; side <= 1; side += 2) {
        double z = side * RIB;
        add_girder(f, "deck", (double[3]){-12, DECK - 0.2, z}, (double[3]){12, DECK - 0.2, z}, 0.2);
        add_girder(f, "deck", (double[3]){-12, DECK + 0.2, side * 1.4}, (double[3]){12, DECK + 0.2, side * 1.4},
                   0.15);
        for (int i = 0; i < 2 * BAYS; i++) {
            double a[3], b[3];
            on_arch((double)i / BAYS - 1, z, a);
            on_arch((i + 1.0) / BAYS - 1, z, b);
            add_girder(f, "arch", a, b, 0.26);
        }
        for (int i = 0; i <= BAYS; i++) {
            double part = 2.0 * i / BAYS - 1, foot[3], next[3];
            on_arch(part, z, foot);
            const double head[3] = {foot[0], DECK, z};
            add_girder(f, "columns", foot, head, 0.18);
            if (i == BAYS) continue;
            on_arch(2.0 * (i + 1) / BAYS - 1, z, next);
            const double next_head[3] = {next[0], DECK, z};
            bool falling = i < BAYS / 2;  // braces lean towards the middle of the span
            add_girder(f, "braces", falling ? head : foot, falling ? next : next_head, 0.17);
        }
    }
    for (int i = 0; i <= BAYS; i++) {  // across, from rib to rib
        double a[3], b[3];
        on_arch(2.0 * i / BAYS - 1, -RIB, a);
        on_arch(2.0 * i / BAYS - 1, RIB, b);
        add_girder(f, "braces", a, b, 0.17);
        double room = DECK - a[1];
        for (int k = 1; k < 3 && room > 2.4; k++) {
            const double low[3] = {a[0], a[1] + room * (k - 1) / 2, -RIB}, high[3] = {a[0], a[1] + room * k / 2, RIB};
            add_girder(f, "braces", k == 1 ? low : (double[3]){low[0], low[1], RIB},
                       k == 1 ? high : (double[3]){high[0], high[1], -RIB}, 0.16);
        }
    }
}

rbt_mesh *rbt_make_bridge(const void *parameters, rbt_error *error) {
    return make_frame(build_bridge, 0.06, parameters, error);
}

// ---- Tower

// Half the width of the tower's outline at a height: steep legs that run out into a spire.
static double outline(double y) { return 0.42 + 5.2 * exp(-y / 5.6) * (1 - y / 60); }

// Corner `c` (0 .. 3) of the tower's outline, `inset` from the outside.
static void corner_at(int c, double y, double inset_x, double inset_z, double x[3]) {
    double w = outline(y), sx = c == 0 || c == 3 ? 1 : -1, sz = c < 2 ? 1 : -1;
    x[0] = sx * (w - inset_x);
    x[1] = y;
    x[2] = sz * (w - inset_z);
}

// A leg below the second platform: four girders, braced on its four faces.
static void build_leg(frame *f, int c, double from, double to, int panels) {
    static const int inset[5][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 0}};
    for (int p = 0; p < panels; p++) {
        double y[2] = {from + (to - from) * p / panels, from + (to - from) * (p + 1) / panels};
        double girth[2];
        for (int e = 0; e < 2; e++) girth[e] = 0.42 * outline(y[e]);
        for (int i = 0; i < 4; i++) {
            double a[3], b[3], other[3];
            corner_at(c, y[0], girth[0] * inset[i][0], girth[0] * inset[i][1], a);
            corner_at(c, y[1], girth[1] * inset[i][0], girth[1] * inset[i][1], b);
            corner_at(c, y[1], girth[1] * inset[i + 1][0], girth[1] * inset[i + 1][1], other);
            add_girder(f, "legs", a, b, 0.41);
            add_girder(f, "braces", a, other, 0.3);
            add_girder(f, "braces", b, other, 0.3);
        }
    }
}

// The upper tower: four girders, rings and braces around them.
static void build_shaft(frame *f, double from, double to, int panels) {
    double low = from;
    for (int p = 0; p < panels; p++) {
        double high =
            from + (to - from) * (1 - pow(1 - (p + 1.0) / panels, 1.25));  // panels get lower with the width
        for (int c = 0; c < 4; c++) {
            double a[3], b[3], other[3], below[3];
            corner_at(c, low, 0, 0, a);
            corner_at(c, high, 0, 0, b);
            corner_at((c + 1) % 4, high, 0, 0, other);
            corner_at((c + 1) % 4, low, 0, 0, below);
            add_girder(f, "legs", a, b, 0.41);
            add_girder(f, "braces", a, other, 0.3);
            add_girder(f, "braces", below, b, 0.29);
            add_girder(f, "braces", b, other, 0.3);
        }
        low = high;
    }
}

static void build_eiffel(frame *f) {
    const double first = 5.6, second = 10.6, top = 25.5;
    for (int c = 0; c < 4; c++) {
        double foot[3];
        corner_at(c, 0.2, 0.21 * outline(0), 0.21 * outline(0), foot);
        f->parts[f->count++] =
            (rbt_primitive){"legs", RBT_BOX, {foot[0], 0, foot[2]}, {1.5, 0.35, 1.5}, .radius = {0.3, 0}};
        build_leg(f, c, 0.1, first, 3);
        build_leg(f, c, first, second, 3);
        // the arch between two legs, under the first platform
        double previous[3] = {0};
        for (int i = 0; i <= 10; i++) {
            double angle = M_PI * i / 10, w = outline(2.2) - 1.3, across = w * cos(angle), y = 1.6 + 3.2 * sin(angle);
            double away = outline(y) - 0.25;
            double x[3] = {c % 2 ? across : (c == 0 ? away : -away), y, c % 2 ? (c == 1 ? away : -away) : across};
            if (i) add_girder(f, "braces", previous, x, 0.36);
            for (int k = 0; k < 3; k++) previous[k] = x[k];
        }
    }
    add_slab(f, "platforms", first, outline(first) + 0.45, 0.36, outline(first) + 0.45);
    add_slab(f, "platforms", second, outline(second) + 0.40, 0.32, outline(second) + 0.40);
    build_shaft(f, second, top, 8);
    add_slab(f, "platforms", top, 0.95, 0.3, 0.95);
    add_girder(f, "spire", (double[3]){0, top, 0}, (double[3]){0, top + 1.6, 0}, 0.5);
    add_girder(f, "spire", (double[3]){0, top + 1.6, 0}, (double[3]){0, top + 4.2, 0}, 0.34);
}

rbt_mesh *rbt_make_eiffel(const void *parameters, rbt_error *error) {
    return make_frame(build_eiffel, 0.06, parameters, error);
}
