// The flower, a table, and the tree, a rule.
#include "base/memory.h"
#include "math/vec3.h"
#include "mesh/generate/creature.h"

#include <stdint.h>

// clang-format off
static const rbt_primitive FLOWER[] = {
    ROD("stem", POINT(0.00, 0.15, 0.00), POINT(0.12, 1.50, -0.05), 0.19, 0.16),
    ROD("stem", POINT(0.12, 1.50, -0.05), POINT(-0.04, 2.90, -0.15), 0.16, 0.15),
    ROD("stem", POINT(-0.04, 2.90, -0.15), POINT(0.00, 4.20, -0.20), 0.15, 0.15),
    ROD("stem", POINT(0.00, 4.20, -0.20), POINT(0.00, 4.85, 0.00), 0.15, 0.20),
    EGG("petals", POINT(0.00, 4.90, 0.14), POINT(0.46, 0.46, 0.28), STRAIGHT),
    ROD("petals", POINT(0.44, 4.99, 0.05), POINT(1.59, 5.22, 0.22), 0.16, 0.15),
    ROD("petals", POINT(0.60, 5.07, 0.08), POINT(1.12, 5.32, 0.18), 0.15, 0.15),
    ROD("petals", POINT(0.62, 4.97, 0.08), POINT(1.19, 4.95, 0.18), 0.15, 0.15),
    ROD("petals", POINT(0.25, 5.28, 0.05), POINT(0.90, 6.25, 0.22), 0.16, 0.15),
    ROD("petals", POINT(0.30, 5.44, 0.08), POINT(0.49, 5.99, 0.18), 0.15, 0.15),
    ROD("petals", POINT(0.38, 5.39, 0.08), POINT(0.81, 5.78, 0.18), 0.15, 0.15),
    ROD("petals", POINT(-0.09, 5.34, 0.05), POINT(-0.32, 6.49, 0.22), 0.16, 0.15),
    ROD("petals", POINT(-0.17, 5.50, 0.08), POINT(-0.42, 6.02, 0.18), 0.15, 0.15),
    ROD("petals", POINT(-0.07, 5.52, 0.08), POINT(-0.05, 6.09, 0.18), 0.15, 0.15),
    ROD("petals", POINT(-0.38, 5.15, 0.05), POINT(-1.35, 5.80, 0.22), 0.16, 0.15),
    ROD("petals", POINT(-0.54, 5.20, 0.08), POINT(-1.09, 5.39, 0.18), 0.15, 0.15),
    ROD("petals", POINT(-0.49, 5.28, 0.08), POINT(-0.88, 5.71, 0.18), 0.15, 0.15),
    ROD("petals", POINT(-0.44, 4.81, 0.05), POINT(-1.59, 4.58, 0.22), 0.16, 0.15),
    ROD("petals", POINT(-0.60, 4.73, 0.08), POINT(-1.12, 4.48, 0.18), 0.15, 0.15),
    ROD("petals", POINT(-0.62, 4.83, 0.08), POINT(-1.19, 4.85, 0.18), 0.15, 0.15),
    ROD("petals", POINT(-0.25, 4.52, 0.05), POINT(-0.90, 3.55, 0.22), 0.16, 0.15),
    ROD("petals", POINT(-0.30, 4.36, 0.08), POINT(-0.49, 3.81, 0.18), 0.15, 0.15),
    ROD("petals", POINT(-0.38, 4.41, 0.08), POINT(-0.81, 4.02, 0.18), 0.15, 0.15),
    ROD("petals", POINT(0.09, 4.46, 0.05), POINT(0.32, 3.31, 0.22), 0.16, 0.15),
    ROD("petals", POINT(0.17, 4.30, 0.08), POINT(0.42, 3.78, 0.18), 0.15, 0.15),
    ROD("petals", POINT(0.07, 4.28, 0.08), POINT(0.05, 3.71, 0.18), 0.15, 0.15),
    ROD("petals", POINT(0.38, 4.65, 0.05), POINT(1.35, 4.00, 0.22), 0.16, 0.15),
    ROD("petals", POINT(0.54, 4.60, 0.08), POINT(1.09, 4.41, 0.18), 0.15, 0.15),
    ROD("petals", POINT(0.49, 4.52, 0.08), POINT(0.88, 4.09, 0.18), 0.15, 0.15),
    ROD("leaves", POINT(0.10, 1.50, 0.00), POINT(0.96, 2.10, 0.10), 0.15, 0.17),
    ROD("leaves", POINT(0.96, 2.10, 0.10), POINT(1.82, 2.70, -0.05), 0.17, 0.13),
    ROD("leaves", POINT(0.33, 1.72, 0.00), POINT(0.74, 2.24, 0.12), 0.15, 0.16),
    ROD("leaves", POINT(0.74, 2.24, 0.12), POINT(1.62, 2.63, 0.00), 0.16, 0.13),
    ROD("leaves", POINT(0.39, 1.64, 0.00), POINT(1.01, 1.85, 0.12), 0.15, 0.16),
    ROD("leaves", POINT(1.01, 1.85, 0.12), POINT(1.68, 2.54, 0.00), 0.16, 0.13),
    ROD("leaves", POINT(0.00, 2.30, -0.10), POINT(-0.76, 2.87, 0.00), 0.15, 0.17),
    ROD("leaves", POINT(-0.76, 2.87, 0.00), POINT(-1.52, 3.44, -0.15), 0.17, 0.13),
    ROD("leaves", POINT(-0.26, 2.43, -0.10), POINT(-0.82, 2.64, 0.02), 0.15, 0.16),
    ROD("leaves", POINT(-0.82, 2.64, 0.02), POINT(-1.40, 3.29, -0.10), 0.16, 0.13),
    ROD("leaves", POINT(-0.20, 2.51, -0.10), POINT(-0.55, 2.99, 0.02), 0.15, 0.16),
    ROD("leaves", POINT(-0.55, 2.99, 0.02), POINT(-1.34, 3.37, -0.10), 0.16, 0.13),
    ROD("leaves", POINT(0.05, 0.35, 0.05), POINT(1.07, 0.76, 0.15), 0.15, 0.17),
    ROD("leaves", POINT(1.07, 0.76, 0.15), POINT(2.09, 1.17, 0.00), 0.17, 0.13),
    ROD("leaves", POINT(0.34, 0.52, 0.05), POINT(0.87, 0.95, 0.17), 0.15, 0.16),
    ROD("leaves", POINT(0.87, 0.95, 0.17), POINT(1.87, 1.14, 0.05), 0.16, 0.13),
    ROD("leaves", POINT(0.37, 0.43, 0.05), POINT(1.06, 0.49, 0.17), 0.15, 0.16),
    ROD("leaves", POINT(1.06, 0.49, 0.17), POINT(1.90, 1.05, 0.05), 0.16, 0.13),
    ROD("leaves", POINT(0.00, 0.45, 0.05), POINT(-1.00, 0.91, 0.15), 0.15, 0.17),
    ROD("leaves", POINT(-1.00, 0.91, 0.15), POINT(-1.99, 1.38, 0.00), 0.17, 0.13),
    ROD("leaves", POINT(-0.32, 0.54, 0.05), POINT(-1.00, 0.64, 0.17), 0.15, 0.16),
    ROD("leaves", POINT(-1.00, 0.64, 0.17), POINT(-1.82, 1.24, 0.05), 0.16, 0.13),
    ROD("leaves", POINT(-0.28, 0.63, 0.05), POINT(-0.79, 1.09, 0.17), 0.15, 0.16),
    ROD("leaves", POINT(-0.79, 1.09, 0.17), POINT(-1.77, 1.33, 0.05), 0.16, 0.13),
};
// clang-format on

RBT_TABLE_CREATURE(flower, FLOWER, 0.12)

RBT_CREATURE_PARAMETERS(FLOWER, "flower shape", "A flower: the tet sets petals, leaves and stem.", 0.6, 40.25)
RBT_CREATURE_PARAMETERS(TREE, "tree shape", "A bare tree: the tet sets trunk and branches.", 8, 83.75)

// ---- The tree: every branch is three rods bent by chance, and ends in two or three thinner ones

enum { MAX_PARTS = 1200, LEVELS = 5 };

typedef struct growth {
    rbt_primitive *parts;
    size_t count;
    uint64_t chance;
} growth;

// A number in [-1, 1] that depends only on how many were drawn before (a linear congruence; its high bits are good).
static double draw(growth *g) {
    g->chance = g->chance * 6364136223846793005u + 1442695040888963407u;
    return (double)(g->chance >> 11) / (double)(UINT64_C(1) << 52) - 1;
}

static void add_rod(growth *g, const char *region, const double a[3], const double b[3], double ra, double rb) {
    if (g->count >= MAX_PARTS) return;
    rbt_primitive *p = &g->parts[g->count++];
    *p = (rbt_primitive){region, RBT_CAPSULE, {a[0], a[1], a[2]}, {b[0], b[1], b[2]}, {ra, rb}, .mirror = false};
}

// Grows one branch from `foot` along the unit vector `direction`, and what it carries.
static void grow(growth *g, const double foot[3], const double direction[3], double length, double radius,
                 int level) {
    enum { RODS = 3 };
    const char *region = level == 0 ? "trunk" : "branches";
    double at[3] = {foot[0], foot[1], foot[2]}, along[3] = {direction[0], direction[1], direction[2]};
    double thinner = level == 0 ? 0.72 : 0.62, end = fmax(radius * thinner, 0.07);
    for (int rod = 0; rod < RODS; rod++) {
        double next[3], bend = level == 0 ? 0.06 : 0.22;
        for (int k = 0; k < 3; k++) along[k] += bend * draw(g);
        along[1] += level == 0 ? 0 : 0.10;  // towards the light
        rbt_normalize(along, along);
        for (int k = 0; k < 3; k++) next[k] = at[k] + along[k] * length / RODS;
        double ra = radius + (end - radius) * rod / RODS, rb = radius + (end - radius) * (rod + 1) / RODS;
        add_rod(g, region, at, next, ra, rb);
        for (int k = 0; k < 3; k++) at[k] = next[k];
        if (level > 0 && level < LEVELS - 1 && rod == 1) {  // a side branch halfway
            double side[3] = {draw(g), 0.3 + 0.3 * draw(g), draw(g)};
            for (int k = 0; k < 3; k++) side[k] = 0.5 * along[k] + 0.9 * side[k];
            rbt_normalize(side, side);
            grow(g, at, side, length * 0.55, fmax(rb * 0.62, 0.07), level + 2);
        }
    }
    if (level >= LEVELS) return;
    int children = level == 0 ? 5 : 2;
    double turn = M_PI * draw(g), across[3], other[3], up[3] = {0.31, 0.17, 0.93};
    rbt_cross(along, up, across);
    rbt_normalize(across, across);
    rbt_cross(along, across, other);
    for (int c = 0; c < children; c++) {
        double angle = turn + 2 * M_PI * c / children + 0.3 * draw(g),
               spread = (level == 0 ? 0.95 : 0.55) + 0.15 * draw(g);
        double child[3];
        for (int k = 0; k < 3; k++)
            child[k] = cos(spread) * along[k] + sin(spread) * (cos(angle) * across[k] + sin(angle) * other[k]);
        rbt_normalize(child, child);
        double shorter = (level == 0 ? 0.62 : 0.72) * (1 + 0.12 * draw(g));
        grow(g, at, child, length * shorter, fmax(end * (level == 0 ? 0.60 : 0.82), 0.07), level + 1);
    }
}

rbt_mesh *rbt_make_tree(const void *parameters, rbt_error *error) {
    growth g = {.parts = rbt_array_new(MAX_PARTS, sizeof *g.parts, "branches", error), .chance = 20190607};
    if (!g.parts) return NULL;
    const double foot[3] = {0, 0.3, 0}, up[3] = {0, 1, 0};
    grow(&g, foot, up, 2.8, 0.44, 0);
    for (int i = 0; i < 6; i++) {  // roots
        double angle = M_PI * i / 3 + 0.2 * draw(&g), base[3] = {0, 0.55, 0},
               tip[3] = {0.95 * cos(angle), 0.10, 0.95 * sin(angle)};
        add_rod(&g, "trunk", base, tip, 0.36, 0.14);
    }
    const rbt_creature creature = {g.parts, g.count, 0.06, 0};
    rbt_mesh *mesh = rbt_make_creature(&creature, parameters, error);
    free(g.parts);
    return mesh;
}
