#include "mesh/cut/cut_width.h"

#include "base/memory.h"
#include "math/vec3.h"

#include <math.h>
#include <string.h>

// Of |F U|: a lip that a node recedes from at a flatter angle is not given its whole width.
static const double FLATTEST = 0.25;
static const double KEPT = 0.5;   // of an element's volume
static const double STEEP = 0.5;  // the least of -N . U that is looked for
enum { PASSES = 32 };             // of the search for a direction
enum { LIMITS = 60 };             // halvings of a node's way, at most

typedef struct widener {
    const rbt_cut_result *result;
    const rbt_side_kind *kind;
    size_t corners;
    const double *rest, *now;
    double *into;    // (node_count x 3) U
    double *away;    // (node_count x 3) u, the same of positions as they are now
    double *trial;   // (node_count x 3) work
    double *moved;   // (node_count x 3) F U
    double *weight;  // (node_count) volumes, then min over lips of -n . F U
    double *share;   // (node_count) of its way that a node may make
    int32_t *steepest;
} widener;

static const double *at(const double *x, int32_t node) { return x + 3 * (size_t)node; }

static const int32_t *element_of(const widener *w, size_t e) { return w->result->elements + w->corners * e; }

// The outward area of a side of an element, of triangles its outward length within the triangle, at positions x
static void outward(const widener *w, const double *x, const int32_t *element, int side, double area[3]) {
    const int *place = w->kind->corner[side];
    const double *a = at(x, element[place[0]]), *b = at(x, element[place[1]]);
    double u[3], v[3];
    rbt_subtract(b, a, u);
    if (w->corners == 4) {
        rbt_subtract(at(x, element[place[2]]), a, v);
        rbt_cross(u, v, area);
        for (int k = 0; k < 3; k++) area[k] *= 0.5;
        return;
    }
    rbt_subtract(a, at(x, element[3 - place[0] - place[1]]), v);
    double square = rbt_dot(u, u), along = square > 0 ? rbt_dot(u, v) / square : 0;
    rbt_add_scaled(v, -along, u);
    double length = rbt_length(v), wide = sqrt(square);
    for (int k = 0; k < 3; k++) area[k] = length > 0 ? wide / length * v[k] : 0;
}

static double volume(const double e[3][3]) {
    double n[3];
    rbt_cross(e[0], e[1], n);
    return rbt_dot(n, e[2]) / 6;
}

// Edges from the first corner of an element
static void edges_of(const widener *w, const double *x, const int32_t *element, double e[3][3]) {
    for (size_t k = 1; k < w->corners; k++) rbt_subtract(at(x, element[k]), at(x, element[0]), e[k - 1]);
}

// V F U of an element with edges E at rest and e now, V its volume or area, which is returned
static double deform(const widener *w, const double E[3][3], const double e[3][3], const double U[3], double to[3]) {
    double part[3] = {0}, size;
    if (w->corners == 4) {
        double n[3];
        size = volume(E);
        for (int k = 0; k < 3; k++) {
            rbt_cross(E[(k + 1) % 3], E[(k + 2) % 3], n);
            part[k] = rbt_dot(n, U) / 6;  // V times the component along E[k]
        }
    } else {
        double g00 = rbt_dot(E[0], E[0]), g01 = rbt_dot(E[0], E[1]), g11 = rbt_dot(E[1], E[1]);
        double r0 = rbt_dot(E[0], U), r1 = rbt_dot(E[1], U), det = g00 * g11 - g01 * g01;
        size = det > 0 ? 0.5 * sqrt(det) : 0;
        if (size > 0) {
            part[0] = size * (g11 * r0 - g01 * r1) / det;
            part[1] = size * (g00 * r1 - g01 * r0) / det;
        }
    }
    memset(to, 0, 3 * sizeof *to);
    for (size_t k = 0; k + 1 < w->corners; k++) rbt_add_scaled(to, part[k], e[k]);
    return size;
}

// Of each doubled node the least of -n . u over its lips at positions x, into `slope`, and the lip that it is of, into
// `steepest` unless that is NULL
static void find_slopes(const widener *w, const double *x, const double *u, double *slope, int32_t *steepest) {
    const rbt_cut_result *r = w->result;
    for (size_t n = 0; n < r->node_count; n++) slope[n] = INFINITY;
    for (size_t i = 0; i < r->lip_count; i++) {
        const int32_t *element = element_of(w, (size_t)r->lips[2 * i]);
        int side = r->lips[2 * i + 1];
        double area[3];
        outward(w, x, element, side, area);
        double length = rbt_length(area);
        for (int k = 0; length > 0 && k < w->kind->side_corners; k++) {
            size_t n = (size_t)element[w->kind->corner[side][k]];
            double own = -rbt_dot(area, u + 3 * n) / length;
            if (!r->doubled[n] || !(own < slope[n])) continue;
            slope[n] = own;
            if (steepest) steepest[n] = (int32_t)i;
        }
    }
}

static void make_unit(double v[3]) {
    double length = rbt_length(v);
    for (int k = 0; length > 0 && k < 3; k++) v[k] /= length;
}

// Into `u`: the unit vector against the sum of the areas of the lips around a node at positions x
static void sum_lips(const widener *w, const double *x, double *u) {
    const rbt_cut_result *r = w->result;
    memset(u, 0, 3 * r->node_count * sizeof *u);
    for (size_t i = 0; i < r->lip_count; i++) {
        const int32_t *element = element_of(w, (size_t)r->lips[2 * i]);
        int side = r->lips[2 * i + 1];
        double area[3];
        outward(w, x, element, side, area);
        for (int k = 0; k < w->kind->side_corners; k++) {
            int32_t node = element[w->kind->corner[side][k]];
            if (r->doubled[node]) rbt_add_scaled(u + 3 * (size_t)node, -1, area);
        }
    }
    for (size_t n = 0; n < r->node_count; n++) make_unit(u + 3 * n);
}

// Directions away from the lips at positions x, into `into`. Where lips are rough or fold back, their mean leads into
// one of them: projections on the half spaces -n . u >= STEEP, the one that is missed most first, find a direction away
// from all of them if there is one. The best that was seen is taken.
static void find_directions(widener *w, const double *x, double *into) {
    const rbt_cut_result *r = w->result;
    double *u = w->trial, *slope = w->share, *best = w->weight;
    sum_lips(w, x, u);
    for (size_t n = 0; n < r->node_count; n++) best[n] = -INFINITY;
    for (int pass = 0; pass < PASSES; pass++) {
        bool more = false;
        find_slopes(w, x, u, slope, w->steepest);
        for (size_t n = 0; n < r->node_count; n++) {
            if (!r->doubled[n] || !(slope[n] < INFINITY)) continue;
            if (slope[n] > best[n]) {
                best[n] = slope[n];
                memcpy(into + 3 * n, u + 3 * n, 3 * sizeof *u);
            }
            if (slope[n] >= STEEP) continue;
            const int32_t *lip = r->lips + 2 * (size_t)w->steepest[n];
            double area[3];
            outward(w, x, element_of(w, (size_t)lip[0]), lip[1], area);
            rbt_add_scaled(u + 3 * n, -(STEEP - slope[n]) / rbt_length(area), area);
            make_unit(u + 3 * n);
            more = true;
        }
        if (!more) break;
    }
}

// F U
static void find_moved(widener *w) {
    const rbt_cut_result *r = w->result;
    memset(w->moved, 0, 3 * r->node_count * sizeof *w->moved);
    memset(w->weight, 0, r->node_count * sizeof *w->weight);
    for (size_t e = 0; e < r->element_count; e++) {
        const int32_t *element = element_of(w, e);
        double E[3][3], now[3][3], part[3];
        bool found = false;
        for (size_t k = 0; k < w->corners; k++) {
            size_t n = (size_t)element[k];
            if (!r->doubled[n]) continue;
            if (!found) edges_of(w, w->rest, element, E), edges_of(w, w->now, element, now);
            found = true;
            w->weight[n] += deform(w, (const double(*)[3])E, (const double(*)[3])now, w->into + 3 * n, part);
            rbt_add_scaled(w->moved + 3 * n, 1, part);
        }
    }
    for (size_t n = 0; n < r->node_count; n++) {
        for (size_t k = 3 * n; k < 3 * n + 3; k++) w->moved[k] = w->weight[n] > 0 ? w->moved[k] / w->weight[n] : 0;
    }
}

// ---- Elements that are thinner than the cut is wide

static void corners_of(const widener *w, const double *x, const double *by, const int32_t *element, double to[4][3]) {
    for (size_t k = 0; k < w->corners; k++) {
        size_t n = (size_t)element[k];
        for (size_t i = 0; i < 3; i++) to[k][i] = x[3 * n + i] + (by ? w->share[n] * by[3 * n + i] : 0);
    }
}

// What a move leaves of an element's volume or area; 1 where it has none to lose
static double left_of(const widener *w, const double *x, const double *by, const int32_t *element) {
    double from[4][3], to[4][3], e[2][3][3] = {{{0}}}, n[2][3];
    corners_of(w, x, NULL, element, from);
    corners_of(w, x, by, element, to);
    for (size_t k = 1; k < w->corners; k++) {
        rbt_subtract(from[k], from[0], e[0][k - 1]);
        rbt_subtract(to[k], to[0], e[1][k - 1]);
    }
    if (w->corners == 4) {
        double before = volume((const double(*)[3])e[0]);
        return before > 0 ? volume((const double(*)[3])e[1]) / before : 1;
    }
    for (int i = 0; i < 2; i++) rbt_cross(e[i][0], e[i][1], n[i]);
    double square = rbt_dot(n[0], n[0]);
    return square > 0 ? rbt_dot(n[0], n[1]) / square : 1;
}

static void limit(widener *w, const double *rest_by, const double *by) {
    const rbt_cut_result *r = w->result;
    bool more = true;
    for (int round = 0; more && round < LIMITS; round++) {
        more = false;
        for (size_t e = 0; e < r->element_count; e++) {
            const int32_t *element = element_of(w, e);
            bool moves = false;
            for (size_t k = 0; k < w->corners; k++) moves |= r->doubled[element[k]];
            if (!moves) continue;
            double left = fmin(left_of(w, w->rest, rest_by, element), left_of(w, w->now, by, element));
            if (left >= KEPT) continue;
            more = true;
            for (size_t k = 0; k < w->corners; k++) w->share[element[k]] *= 0.5;
        }
    }
}

static void widen(widener *w, double width, double *rest_by, double *by) {
    const rbt_cut_result *r = w->result;
    size_t values = 3 * r->node_count;
    find_directions(w, w->rest, w->into);
    find_directions(w, w->now, w->away);
    find_slopes(w, w->now, w->away, w->share, NULL);
    find_moved(w);
    find_slopes(w, w->now, w->moved, w->weight, NULL);
    memset(rest_by, 0, values * sizeof *rest_by);
    memset(by, 0, values * sizeof *by);
    for (size_t n = 0; n < r->node_count; n++) {
        double length = rbt_length(w->moved + 3 * n), slope = w->weight[n], *u = w->moved + 3 * n;
        bool alike = slope >= STEEP * length && slope > w->share[n] * FLATTEST;
        if (!alike) slope = w->share[n], length = 1, u = w->away + 3 * n;
        w->share[n] = 1;
        if (!r->doubled[n] || !(rbt_length(u) > 0)) continue;
        double D = 0.5 * width / fmax(slope, FLATTEST * length);
        rbt_add_scaled(rest_by + 3 * n, alike ? D : 0.5 * width, w->into + 3 * n);
        rbt_add_scaled(by + 3 * n, D, u);
    }
    limit(w, rest_by, by);
    for (size_t i = 0; i < values; i++) rest_by[i] *= w->share[i / 3], by[i] *= w->share[i / 3];
}

bool rbt_cut_widen(const rbt_cut_result *result, const rbt_side_kind *kind, const double *rest, const double *now,
                   double width, double *rest_by, double *by, rbt_error *error) {
    double *work = rbt_array_new(result->node_count, 14 * sizeof *work, "the width of a cut", error);
    int32_t *steepest = rbt_array_new(result->node_count, sizeof *steepest, "the width of a cut", error);
    if (!work || !steepest) {
        free(work);
        free(steepest);
        return false;
    }
    size_t n = result->node_count;
    widener w = {.result = result,
                 .kind = kind,
                 .corners = (size_t)kind->element_corners,
                 .rest = rest,
                 .now = now,
                 .into = work,
                 .moved = work + 3 * n,
                 .away = work + 6 * n,
                 .trial = work + 9 * n,
                 .weight = work + 12 * n,
                 .share = work + 13 * n,
                 .steepest = steepest};
    widen(&w, width, rest_by, by);
    free(work);
    free(steepest);
    return true;
}
