// Additive advancement (Li, Kaufman, Jiang 2021, "Codimensional incremental potential contact") with support planes in
// place of speeds. In the frame of corner 0 the corners move straight, r_i(t) = (1 - t) p_i + t q_i. Along any n
//   G(t) = min_B n . r_b(t) - max_A n . r_a(t)   <=   |n| distance(t)
// and G, the least of linear functions, is concave: what it exceeds at two times it exceeds between them. So an advance
// from t0 to t1 is proved by G(t0) and G(t1) alone. n is the direction of the nearest points at t0, and t1 where G gets
// down to the floor, in closed form. A bound l of the relative speed never leads further: G(t) >= G(t0) - l |n| (t - t0).
//
// Rounding. u = DBL_EPSILON / 2, e = 2 u, R = max |p_i|, |q_i|, and every operation has a relative error of u at most:
//   p_i = x_i - x_0, q_i = y_i - y_0                 1 u |p|             one subtraction per coordinate
//   a_i = n . p_i, b_i = n . q_i                     3 u |n| R           a product and two sums each: with p_i 4 u
//   g_i = (1 - t) a_i + t b_i                        3 u |n| R           1 - t, product, sum: together 7 u
//   G = g_b - g_a                                    2 u |n| R           |g_b - g_a| <= 2 |n| R: together 2 x 7 + 2 = 16 u
// That is 8 e |n| R; ROUNDING = 10 leaves 2 e for terms of e^2 and for the rounding of R and |n|. Products that
// underflow lose less than DBL_MIN. Common motion cancels in q_i without a trace.
// The stored motion ends at y' instead of x + s (y - x), so at every time a corner is off its straight line by
// e (max(|x|, |y|) + |y - x|) per coordinate at most (additive.h), and by nothing in coordinates with x = y. With m_k the
// largest such of A plus the largest of B, that moves G by sum |n_k| m_k at most. Terms of the floor
//   (inside + kept) |n| + sum |n_k| m_k + 10 e |n| R
// are positive, with at most 7 u relative error in the first (sum, length 3 u, products, sum) and 10 u in the others
// (m 4 u, products, sums); the factors 1 + 8 e and 1 + 16 e in the code are above that.
#include "contact/ccd/additive.h"
#include <stddef.h>

#include "math/scalar.h"

#include <float.h>

static const double ROUNDING = 10 * DBL_EPSILON;
static const double GOOD =
    0.999;                       // a direction is as good as the nearest points if G is this share of their distance
static const double PAYS = 0.2;  // an advance pays if it can use up this share of what is kept
static const double LARGEST = 1e70;  // fourth powers, of rbt_gap_measure, stay finite
enum { MAX_ADVANCES = 1000 };

typedef struct motion {
    rbt_touch_kind kind;
    int first, corners;
    double p[12], q[12];  // from corner 0, at 0 and 1
    double size;          // R
    double moved[3];      // m
} motion;

typedef struct support {
    double n[3], length, slack;
    double a[4], b[4];  // n . p, n . q
    double now;         // G at the time it was made for
} support;

// False: not finite, or too large
static bool look(motion *m, const double *x, const double *y) {
    double sum = 0, square = 0;
    for (int i = 0; i < m->corners; i++) {
        double p = 0, q = 0;
        for (int k = 0; k < 3; k++) {
            int j = 3 * i + k;
            m->p[j] = x[j] - x[k];
            m->q[j] = y[j] - y[k];
            p += m->p[j] * m->p[j];
            q += m->q[j] * m->q[j];
            sum += fabs(x[j]) + fabs(y[j]);
        }
        square = rbt_larger(square, rbt_larger(p, q));
    }
    m->size = sqrt(square);
    for (int k = 0; k < 3; k++) {
        double off[2] = {0, 0};
        for (int i = 0; i < m->corners; i++) {
            double from = x[3 * i + k], to = y[3 * i + k];
            double error = from == to ? 0 : rbt_larger(fabs(from), fabs(to)) + fabs(to - from);
            off[i >= m->first] = rbt_larger(off[i >= m->first], error);
        }
        m->moved[k] = DBL_EPSILON * (off[0] + off[1]);
    }
    return sum < LARGEST;  // false of NaN
}

// G(t)
static double gap_along(const motion *m, const support *s, double t) {
    double end_a = -INFINITY, end_b = INFINITY, c = 1 - t;
    for (int i = 0; i < m->first; i++) end_a = rbt_larger(end_a, c * s->a[i] + t * s->b[i]);
    for (int i = m->first; i < m->corners; i++) end_b = rbt_smaller(end_b, c * s->a[i] + t * s->b[i]);
    return end_b - end_a;
}

static void lay(const motion *m, const double n[3], double t, support *s) {
    double stored = 0;
    for (int k = 0; k < 3; k++) {
        s->n[k] = n[k];
        stored += fabs(n[k]) * m->moved[k];
    }
    s->length = rbt_length(n);
    s->slack = (stored + ROUNDING * m->size * s->length) * (1 + 16 * DBL_EPSILON) + DBL_MIN;
    for (int i = 0; i < m->corners; i++) {
        s->a[i] = rbt_dot(n, m->p + 3 * i);
        s->b[i] = rbt_dot(n, m->q + 3 * i);
    }
    s->now = gap_along(m, s, t);
}

// ---- Directions where the nearest points are not good enough: flat and short things, gaps near rounding

static void keep_better(const motion *m, const double d[3], double t, support *best) {
    support s;
    double n[3];
    rbt_normalize(d, n);
    lay(m, n, t, &s);
    if (s.now > best->now || !(best->now > -INFINITY)) *best = s;
}

// From p to the segment a b, at right angles to it to the last bit if the nearest point is inside
static void to_segment(const double *p, const double *a, const double *b, double d[3]) {
    double u[3];
    rbt_subtract(b, a, u);
    rbt_subtract(a, p, d);
    double square = rbt_dot(u, u), s = -rbt_dot(u, d);
    if (!(s > 0 && square > 0)) return;
    if (s >= square) {
        rbt_subtract(b, p, d);
        return;
    }
    rbt_add_scaled(d, s / square, u);
    rbt_add_scaled(d, -rbt_dot(u, d) / square, u);
}

// At right angles to u and v, within the rounding of their lengths however small the angle between them is: u x v'
// with v' = v - (v . u / |u|^2) u and |u| >= |v|
static void across(const double *u, const double *v, double n[3]) {
    double rest[3] = {0}, uu = rbt_dot(u, u), vv = rbt_dot(v, v), share = rbt_dot(u, v) / rbt_larger(uu, vv);
    const double *along = uu >= vv ? u : v, *other = uu >= vv ? v : u;
    for (int k = 0; k < 3; k++) rest[k] = other[k] - share * along[k];
    rbt_cross(along, rest, n);
}

static void try_features(const motion *m, const double *r, double t, support *best) {
    double u[3], v[3], d[3];
    if (m->kind == RBT_TOUCH_POINT) return;
    if (m->kind == RBT_TOUCH_EDGE) {
        to_segment(r, r + 3, r + 6, d);
        keep_better(m, d, t, best);
        return;
    }
    bool face = m->kind == RBT_TOUCH_FACE;
    rbt_subtract(face ? r + 6 : r + 3, face ? r + 3 : r, u);
    rbt_subtract(r + 9, face ? r + 3 : r + 6, v);
    across(u, v, d);
    for (int sign = 0; sign < 2; sign++) {
        keep_better(m, d, t, best);
        for (int k = 0; k < 3; k++) d[k] = -d[k];
    }
    for (int i = 0; i < (face ? 3 : 4); i++) {
        if (face) to_segment(r, r + 3 + 3 * i, r + 3 + 3 * ((i + 1) % 3), d);
        else to_segment(r + 3 * i, i < 2 ? r + 6 : r, i < 2 ? r + 9 : r + 3, d);
        for (int k = 0; i > 1 && !face && k < 3; k++) d[k] = -d[k];  // from A to B
        keep_better(m, d, t, best);
    }
}

// The best support found at time t
static void find_support(const motion *m, double t, const double *wall, support *s) {
    double r[12], away[3];
    if (wall) {
        for (int k = 0; k < 3; k++) away[k] = -wall[k];
        lay(m, away, t, s);
        return;
    }
    rbt_gap gap;
    for (int j = 0; j < 3 * m->corners; j++) r[j] = (1 - t) * m->p[j] + t * m->q[j];
    rbt_gap_measure(m->kind, r, &gap);
    lay(m, gap.normal, t, s);
    if (!(s->now >= GOOD * gap.distance)) try_features(m, r, t, s);
}

// ---- Advancing

// From t, where G is above the floor, to about where it meets it; t if rounding leaves no room. G(1) is below it.
static double advance(const motion *m, const support *s, double t, double floor) {
    double share = 1, aim = floor + ROUNDING * m->size * s->length, c = 1 - t;
    for (int i = 0; i < m->first; i++)
        for (int j = m->first; j < m->corners; j++) {
            double now = (c * s->a[j] + t * s->b[j]) - (c * s->a[i] + t * s->b[i]), end = s->b[j] - s->b[i];
            if (end < aim) share = rbt_smaller(share, (now - aim) / (now - end));
        }
    for (double less = 0x1p-40; share > 0 && less < 1; less *= 0x1p10) {
        double next = t + c * share;
        if (gap_along(m, s, next) >= floor) return next;
        share *= 1 - less;
    }
    return t;
}

double rbt_ccd_pair(rbt_touch_kind kind, const double x[12], const double y[12], double inside, double reach,
                    const double wall_normal[3]) {
    motion m = {.kind = kind, .first = rbt_pair_first(kind), .corners = rbt_pair_corners(kind)};
    if (!look(&m, x, y) || !(inside >= 0 && reach >= 0)) return 0;
    double t = 0, kept = 0;
    for (int step = 0; step < MAX_ADVANCES; step++) {
        support s;
        find_support(&m, t, kind == RBT_TOUCH_WALL ? wall_normal : NULL, &s);
        if (step == 0) {
            double gap = (s.now - s.slack) / s.length - inside;
            if (!(gap > 0)) return 0;
            kept = RBT_CCD_KEEP * rbt_smaller(gap, reach);
        }
        double floor = (inside + kept) * s.length * (1 + 8 * DBL_EPSILON) + s.slack;
        if (!(s.now - floor > PAYS * kept * s.length)) return t;
        if (gap_along(&m, &s, 1) >= floor) return 1;
        double next = advance(&m, &s, t, floor);
        if (!(next > t) || kind == RBT_TOUCH_WALL) return next;
        t = next;
    }
    return t;
}
