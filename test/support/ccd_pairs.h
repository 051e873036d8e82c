// Random pairs in motion for the continuous test, and its judge: exact predicates on the stored motion. Shared by
// test_ccd.c and the study of millions of pairs (bench/tools/ccd_study.c).
#ifndef TEST_SUPPORT_CCD_PAIRS_H
#define TEST_SUPPORT_CCD_PAIRS_H

#include "contact/ccd/additive.h"
#include "math/exact.h"
#include "math/exact_round.h"
#include "random.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { CCD_KINDS = 5 };  // face, edges, edge, point, wall

typedef enum ccd_class {
    CCD_RANDOM,
    CCD_PLANE,     // all corners stay in a plane, or begin in it
    CCD_PARALLEL,  // edges parallel, nearly parallel or on a line
    CCD_SLIVER,    // long and thin
    CCD_REPEATED,  // corners that coincide
    CCD_CLOSE,     // gaps of 1e-12 to 1e-3
    CCD_FAR,       // 1e-3 in size, 1e6 from the origin
    CCD_ROUNDING,  // gaps of a few units in the last place
    CCD_FAST,      // 1e3 sizes
    CCD_TURNING,   // rotations, each body about an axis of its own
    CCD_GRAZING,   // passing at 1e-12 to 1e-2, on either side
    CCD_GRID,      // small whole numbers over 8
    CCD_CLASSES
} ccd_class;

static const char *const CCD_CLASS_NAMES[CCD_CLASSES] = {"random",   "plane",   "parallel", "sliver",
                                                         "repeated", "close",   "far",      "rounding",
                                                         "fast",     "turning", "grazing",  "grid"};
static const char *const CCD_KIND_NAMES[CCD_KINDS] = {"face", "edges", "edge", "point", "wall"};

typedef struct ccd_pair {
    rbt_touch_kind kind;
    double x[12], y[12], inside, reach, wall[3];
} ccd_pair;

// ---- Making them

static inline double ccd_between(uint64_t *s, double low, double high) { return low + (high - low) * random_unit(s); }
static inline double ccd_power(uint64_t *s, double low, double high) { return pow(10, ccd_between(s, low, high)); }
static inline int ccd_below(uint64_t *s, int n) { return (int)(random_bits(s) % (uint64_t)n); }

static inline void ccd_direction(uint64_t *s, double n[3]) {
    do
        for (int k = 0; k < 3; k++) n[k] = ccd_between(s, -1, 1);
    while (rbt_dot(n, n) < 1e-2 || rbt_dot(n, n) > 1);
    rbt_normalize(n, n);
}

// Distance as the contact code measures it. Of flat triangles that may be too much, so the sides are asked as well.
static inline double ccd_distance(const ccd_pair *p, const double x[12]) {
    rbt_gap gap;
    if (p->kind == RBT_TOUCH_WALL) rbt_gap_wall(x + 3, p->wall, x, &gap);
    else rbt_gap_measure(p->kind, x, &gap);
    double distance = gap.distance;
    for (int side = 0; p->kind == RBT_TOUCH_FACE && side < 3; side++) {
        double edge[12];
        memcpy(edge, x, 3 * sizeof *edge);
        memcpy(edge + 3, x + 3 + 3 * side, 3 * sizeof *edge);
        memcpy(edge + 6, x + 3 + 3 * ((side + 1) % 3), 3 * sizeof *edge);
        rbt_gap_measure(RBT_TOUCH_EDGE, edge, &gap);
        distance = fmin(distance, gap.distance);
    }
    return distance;
}

// Moves the corners of A so that a random point of theirs lies `gap` before a random point of B, along a direction
// that is at right angles to both if they are face or edges
static inline void ccd_bring_together(uint64_t *s, ccd_pair *p, double gap) {
    double *x = p->x, n[3], u[3], v[3], point[2][3] = {{0}};
    int first = rbt_pair_first(p->kind), corners = rbt_pair_corners(p->kind);
    for (int side = 0; side < 2; side++) {
        int begin = side ? first : 0, end = side ? corners : first;
        double left = 1, w;
        for (int i = begin; i < end; i++, left -= w) {
            int corner = ccd_below(s, 4) == 0;  // often an end, so that all features are nearest
            w = i == end - 1 ? left : corner ? 0 : left * random_unit(s);
            rbt_add_scaled(point[side], w, x + 3 * i);
        }
    }
    ccd_direction(s, n);
    if (p->kind == RBT_TOUCH_WALL) memcpy(n, p->wall, sizeof n);
    if (corners == 4 && ccd_below(s, 4)) {
        rbt_subtract(first == 1 ? x + 6 : x + 3, first == 1 ? x + 3 : x, u);
        rbt_subtract(x + 9, first == 1 ? x + 3 : x + 6, v);
        rbt_cross(u, v, n);
        rbt_normalize(n, n);
    }
    for (int i = 0; i < first; i++)
        for (int k = 0; k < 3; k++) x[3 * i + k] += point[1][k] - point[0][k] + gap * n[k];
}

static inline void ccd_shape(uint64_t *s, ccd_pair *p, ccd_class class) {
    double *x = p->x, d[3];
    int first = rbt_pair_first(p->kind), corners = rbt_pair_corners(p->kind);
    for (int j = 0; j < 12; j++) x[j] = ccd_between(s, -1, 1);
    for (int i = 0; i < first; i++) x[3 * i] += ccd_between(s, -1, 2);
    ccd_direction(s, d);
    if (class == CCD_PARALLEL || class == CCD_SLIVER) {
        double off = class == CCD_SLIVER || ccd_below(s, 2) ? ccd_power(s, -10, -2) : 0;
        for (int i = 1; i < corners; i++) {
            const double *from = i < first ? x : x + 3 * first;
            double along = ccd_between(s, -1, 1);
            if (i == first) continue;
            for (int k = 0; k < 3; k++) x[3 * i + k] = from[k] + along * d[k] + off * ccd_between(s, -1, 1);
        }
        if (class == CCD_PARALLEL && ccd_below(s, 4) == 0)  // on one line
            for (int i = 0; i < corners; i++) {
                double along = ccd_between(s, -1, 1);
                for (int k = 0; k < 3; k++) x[3 * i + k] = along * d[k];
            }
    }
    if (class == CCD_REPEATED) {
        int from = ccd_below(s, corners), to = ccd_below(s, corners);
        memcpy(x + 3 * to, x + 3 * from, 3 * sizeof *x);
        if (ccd_below(s, 2)) memcpy(x + 3 * (corners - 1), x + 3 * first, 3 * sizeof *x);
    }
    if (class == CCD_GRID)
        for (int j = 0; j < 12; j++) x[j] = (ccd_below(s, 9) - 4) / 8.0;
}

// Of one body, by up to pi
static inline void ccd_turn(uint64_t *s, ccd_pair *p, int begin, int end) {
    double axis[3], point[3], angle = ccd_between(s, -3.14, 3.14);
    ccd_direction(s, axis);
    for (int k = 0; k < 3; k++) point[k] = ccd_between(s, -1, 1);
    for (int i = begin; i < end; i++) rbt_rotate(p->x + 3 * i, point, axis, angle, p->y + 3 * i);
}

static inline void ccd_move(uint64_t *s, ccd_pair *p, ccd_class class) {
    double *x = p->x, *y = p->y, speed = ccd_power(s, -2, 0.5), common = ccd_below(s, 2) ? ccd_power(s, -1, 2) : 0;
    int first = rbt_pair_first(p->kind), corners = rbt_pair_corners(p->kind);
    if (class == CCD_FAST) speed = ccd_power(s, 1, 3);
    if (class == CCD_CLOSE || class == CCD_ROUNDING) speed *= ccd_power(s, -8, 0);
    bool rigid = ccd_below(s, 3) == 0;
    double shift[3], away[3];
    for (int k = 0; k < 3; k++) shift[k] = ccd_between(s, -common, common), away[k] = ccd_between(s, -speed, speed);
    for (int i = 0; i < corners; i++)
        for (int k = 0; k < 3; k++)
            y[3 * i + k] =
                x[3 * i + k] + shift[k] + (rigid ? i < first ? away[k] : 0 : ccd_between(s, -speed, speed));
    if (class == CCD_TURNING) {
        ccd_turn(s, p, 0, first);
        ccd_turn(s, p, first, corners);
    }
    if (class == CCD_GRID)
        for (int j = 0; j < 12; j++) y[j] = x[j] + (ccd_below(s, 17) - 8) / 8.0;
    if (class == CCD_GRAZING) {  // where they are now is the middle of a passage
        double share = ccd_between(s, 0.1, 0.9);
        double back[12];
        for (int j = 0; j < 12; j++)
            back[j] = x[j] - share * (y[j] - x[j]), y[j] = x[j] + (1 - share) * (y[j] - x[j]);
        memcpy(x, back, sizeof back);
    }
    if (ccd_below(s, 4) == 0) memcpy(y + 3 * first, x + 3 * first, sizeof(double) * 3 * (size_t)(corners - first));
    if (class != CCD_PLANE) return;
    int k = ccd_below(s, 3);
    bool stays = ccd_below(s, 2);
    for (int i = 0; i < corners; i++) {
        x[3 * i + k] = 0.375;
        if (stays) y[3 * i + k] = 0.375;
    }
}

static inline ccd_pair ccd_draw(uint64_t *s, rbt_touch_kind kind, ccd_class class) {
    ccd_pair p = {.kind = kind};
    ccd_direction(s, p.wall);
    ccd_shape(s, &p, class);
    if (class == CCD_CLOSE) ccd_bring_together(s, &p, ccd_power(s, -12, -3));
    if (class == CCD_ROUNDING) ccd_bring_together(s, &p, ccd_power(s, -16, -13));
    if (class == CCD_GRAZING) ccd_bring_together(s, &p, (ccd_below(s, 2) ? 1 : -1) * ccd_power(s, -12, -2));
    ccd_move(s, &p, class);
    if (class == CCD_FAR)
        for (int j = 0; j < 12; j++) {
            p.x[j] = 1e6 * (1 + j % 3) + 1e-3 * p.x[j];
            p.y[j] = 1e6 * (1 + j % 3) + 1e-3 * p.y[j];
        }
    double first = ccd_distance(&p, p.x);
    if (ccd_below(s, 2) && first > 0) p.inside = first * (1 - ccd_power(s, class == CCD_CLOSE ? -6 : -3, 0));
    p.reach = fmax(first - p.inside, 1e-300) * ccd_power(s, -3, 1);
    return p;
}

// ---- Judging them

// The position that a caller stores for share s, in both ways that a compiler may round
static inline void ccd_store(const ccd_pair *p, double share, bool fused, double y[12]) {
    for (int j = 0; j < 12; j++) {
        double by = p->y[j] - p->x[j];
        y[j] = fused ? fma(share, by, p->x[j]) : p->x[j] + share * by;
    }
}

static inline double ccd_size(const ccd_pair *p, const double y[12]) {
    double size = p->inside;
    for (int j = 0; j < 3 * rbt_pair_corners(p->kind); j++) size = fmax(size, fmax(fabs(p->x[j]), fabs(y[j])));
    return size;
}

// Points and edges are triangles whose corners coincide.
static inline bool ccd_exactly_meets(const ccd_pair *p, const double y[12], double *when) {
    rbt_paths paths;
    int last = rbt_pair_corners(p->kind) - 1;
    for (int i = 0; i < 4; i++) {
        memcpy(paths.from[i], p->x + 3 * (i < last ? i : last), sizeof paths.from[i]);
        memcpy(paths.to[i], y + 3 * (i < last ? i : last), sizeof paths.to[i]);
    }
    return rbt_paths_meet(&paths, p->kind == RBT_TOUCH_EDGES ? RBT_EDGE_EDGE : RBT_VERTEX_TRIANGLE, when);
}

static inline bool ccd_round_meets(const ccd_pair *p, const double y[12], double *when) {
    int first = rbt_pair_first(p->kind), corners = rbt_pair_corners(p->kind);
    rbt_round_pair pair = {{first, corners - first}, .radius = p->inside};
    memcpy(pair.from, p->x, 3 * (size_t)corners * sizeof(double));
    memcpy(pair.to, y, 3 * (size_t)corners * sizeof(double));
    return rbt_round_paths_meet(&pair, when);
}

typedef enum ccd_verdict { CCD_APART, CCD_MEETS, CCD_UNDECIDED } ccd_verdict;

static inline void ccd_at(const ccd_pair *p, const double y[12], double t, double x[12]) {
    for (int j = 0; j < 12; j++) x[j] = t == 0 ? p->x[j] : t == 1 ? y[j] : (1 - t) * p->x[j] + t * y[j];
}

// Whether n keeps the corners of A and B apart by more than `inside`, exactly
static inline bool ccd_separates(const ccd_pair *p, const double n[3], double inside, const double x[12]) {
    for (int i = 0; i < rbt_pair_first(p->kind); i++)
        for (int j = rbt_pair_first(p->kind); j < rbt_pair_corners(p->kind); j++)
            if (rbt_ball_above(x + 3 * j, inside, x + 3 * i, n) <= 0) return false;
    return true;
}

// From p to the line a b; the second projection takes what the first has left along the line, by rounding
static inline void ccd_to_line(const double *p, const double *a, const double *b, double n[3]) {
    long double u[3], r[3], uu = 0;
    for (int k = 0; k < 3; k++) {
        u[k] = (long double)b[k] - a[k];
        r[k] = (long double)a[k] - p[k];
        uu += u[k] * u[k];
    }
    for (int round = 0; uu > 0 && round < 2; round++) {
        long double ur = u[0] * r[0] + u[1] * r[1] + u[2] * r[2];
        for (int k = 0; k < 3; k++) r[k] -= ur / uu * u[k];
    }
    for (int k = 0; k < 3; k++) n[k] = (double)r[k];
}

// At right angles to a b and c d
static inline void ccd_to_both(const double *a, const double *b, const double *c, const double *d, double n[3]) {
    long double u[3], v[3];
    for (int k = 0; k < 3; k++) {
        u[k] = (long double)b[k] - a[k];
        v[k] = (long double)d[k] - c[k];
    }
    for (int k = 0; k < 3; k++) n[k] = (double)(u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3]);
}

// Direction number `which` for the positions x; false: there are no more
static inline bool ccd_candidate(const ccd_pair *p, const double x[12], int which, double n[3]) {
    rbt_gap gap;
    int corners = rbt_pair_corners(p->kind);
    bool edges = p->kind == RBT_TOUCH_EDGES;
    if (which == 0) {
        rbt_gap_measure(p->kind, x, &gap);
        memcpy(n, gap.normal, sizeof gap.normal);
    } else if (which == 1 && corners >= 3 && !edges) ccd_to_line(x, x + 3, x + 6, n);
    else if (which < 4 && corners == 4 && !edges) ccd_to_line(x, which == 2 ? x + 3 : x + 6, x + 9, n);
    else if (which < 3 && edges) ccd_to_line(x + 3 * (which - 1), x + 6, x + 9, n);
    else if (which < 5 && edges) ccd_to_line(x + 3 * (which - 1), x, x + 3, n);
    else if (which < 7 && corners == 4)
        ccd_to_both(edges ? x : x + 3, edges ? x + 3 : x + 6, edges ? x + 6 : x + 3, x + 9, n);
    else return false;
    bool turned = edges ? which == 3 || which == 4 || which == 6 : which == 6;
    for (int k = 0; turned && k < 3; k++) n[k] = -n[k];
    rbt_normalize(n, n);
    return true;
}

// Whether spans of time that make up [begin, end] each have a direction that separates the pair at both of their ends,
// so between them as well; 8 e of the size stand for the rounding of positions between x and y. looks: how many spans
// may still be tried
static inline bool ccd_proves_apart(const ccd_pair *p, const double y[12], double begin, double end, int *looks) {
    double from[12], to[12], middle[12], n[3], between = p->inside + 8 * DBL_EPSILON * ccd_size(p, y);
    double half = 0.5 * (begin + end);
    ccd_at(p, y, begin, from);
    ccd_at(p, y, end, to);
    ccd_at(p, y, half, middle);
    for (int at = 0; at < 2; at++)
        for (int which = 0; ccd_candidate(p, at ? from : middle, which, n); which++)
            if (ccd_separates(p, n, begin == 0 ? p->inside : between, from) &&
                ccd_separates(p, n, end == 1 ? p->inside : between, to))
                return true;
    return --*looks > 0 && half > begin && half < end && ccd_proves_apart(p, y, begin, half, looks) &&
           ccd_proves_apart(p, y, half, end, looks);
}

// Exactly at the ends; between them, nearer by more than the rounding of positions
static inline bool ccd_surely_meets(const ccd_pair *p, const double y[12], double *when) {
    int first = rbt_pair_first(p->kind), corners = rbt_pair_corners(p->kind);
    for (int n = 0; n <= 64; n++) {
        double x[12], t = n / 64.0;
        rbt_round_pair pair = {{first, corners - first}, .radius = p->inside};
        if (n > 0 && n < 64) pair.radius -= 8 * DBL_EPSILON * ccd_size(p, y);
        ccd_at(p, y, t, x);
        memcpy(pair.from, x, 3 * (size_t)corners * sizeof(double));
        *when = t;
        if (pair.radius > 0 && rbt_round_meets(&pair) != RBT_APART) return true;
    }
    return false;
}

// Of the motion x -> y: whether the distance is ever `inside` or less, and about when first. rbt_round_paths_meet may
// count a pass as a meeting; then it takes a proof either way.
static inline ccd_verdict ccd_judge(const ccd_pair *p, const double y[12], double *when) {
    if (p->kind == RBT_TOUCH_WALL) {  // a linear height: its ends tell
        if (rbt_ball_above(p->x, p->inside, p->x + 3, p->wall) > 0 &&
            rbt_ball_above(y, p->inside, y + 3, p->wall) > 0)
            return CCD_APART;
        double from = ccd_distance(p, p->x) - p->inside, to = ccd_distance(p, y) - p->inside;
        *when = from > 0 && from > to ? fmin(1, from / (from - to)) : 0;
        return CCD_MEETS;
    }
    if (p->inside == 0 && rbt_pair_corners(p->kind) == 4)
        return ccd_exactly_meets(p, y, when) ? CCD_MEETS : CCD_APART;
    if (!ccd_round_meets(p, y, when)) return CCD_APART;
    if (p->inside == 0) return ccd_exactly_meets(p, y, when) ? CCD_MEETS : CCD_APART;
    double about = *when;
    if (ccd_surely_meets(p, y, when)) {
        *when = about;
        return CCD_MEETS;
    }
    int looks = 300;
    return ccd_proves_apart(p, y, 0, 1, &looks) ? CCD_APART : CCD_UNDECIDED;
}

// ---- Counting

enum { CCD_BINS = 12 };
static const double CCD_BIN[CCD_BINS] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1};  // upper ends

typedef struct ccd_counts {
    long pairs, passed, stopped, refused;  // t = 1, between, 0
    long late, undecided, far;             // far: stopped where the gap is reach or more
    long needless;                         // refused although 128 e of the largest coordinate apart at first
    long without;                          // stopped, but the whole motion would not have met
    long early[CCD_BINS];                  // t beside the time of impact, of those stopped before one
} ccd_counts;

// By a direction, so not by a distance that is wrong for flat triangles. With M the largest coordinate R <= 2 sqrt(3) M
// and m_k <= 6 e M, so rounding takes up to 10 R + 6 sqrt(3) M = 45 e M; the other 83 are for the direction's own.
static inline bool ccd_separated_at_first(const ccd_pair *p) {
    double n[3] = {-p->wall[0], -p->wall[1], -p->wall[2]}, inside = p->inside + 128 * DBL_EPSILON * ccd_size(p, p->y);
    if (p->kind == RBT_TOUCH_WALL) return ccd_separates(p, n, inside, p->x);
    for (int which = 0; ccd_candidate(p, p->x, which, n); which++)
        if (ccd_separates(p, n, inside, p->x)) return true;
    return false;
}

static inline void ccd_count(uint64_t *s, const ccd_pair *p, double t, ccd_counts *c) {
    double y[12], when = 1;
    c->pairs++;
    *(t == 1 ? &c->passed : t > 0 ? &c->stopped : &c->refused) += 1;
    if (!(t > 0)) {
        c->needless += ccd_separated_at_first(p);
        return;
    }
    bool fused = ccd_below(s, 2);
    double share = ccd_below(s, 4) ? t : t * random_unit(s);
    ccd_store(p, share, fused, y);
    ccd_verdict verdict = ccd_judge(p, y, &when);
    if (share == 1 && verdict != CCD_MEETS && ccd_below(s, 2)) verdict = ccd_judge(p, p->y, &when);
    c->late += verdict == CCD_MEETS || !(t <= 1);
    c->undecided += verdict == CCD_UNDECIDED;
    if (t == 1) return;
    ccd_store(p, t, fused, y);
    // Stopped at a gap of 0.1 reach and what rounding takes, 128 e of the size as above: less than reach where 0.9 of
    // it is more than that.
    bool resolved = 0.9 * p->reach > 128 * DBL_EPSILON * ccd_size(p, p->y);
    c->far += resolved && ccd_distance(p, y) - p->inside >= p->reach;
    verdict = ccd_judge(p, p->y, &when);
    if (verdict == CCD_UNDECIDED) return;
    if (verdict == CCD_APART) {
        c->without++;
        return;
    }
    int bin = 0;
    while (bin < CCD_BINS - 1 && t > CCD_BIN[bin] * when) bin++;
    c->early[bin]++;
}

#endif
