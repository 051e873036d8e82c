// Additive advancement (Li, Kaufman, Jiang 2021, "Codimensional incremental potential contact") with support planes in
// place of speeds. In the frame of corner 0 the corners move straight, r_i(t) = (1 - t) p_i + t q_i. Along any n
//   G(t) = min_B n . r_b(t) - max_A n . r_a(t)   <=   |n| distance(t)
// and G, the least of linear functions, is concave: what it exceeds at two times it exceeds between them. So an advance
// from t0 to t1 is proved by G(t0) and G(t1) alone. n is the direction of the nearest points at t0, and t1 is where G
// gets down to the floor, in closed form. A bound l of the relative speed leads no further: it bounds the slope of G.
//
// Where bodies turn and the gap is small beside them, a fixed n tilts into them after an angle of gap / size. So n may
// turn too, n(t) = (1 - s) n0 + s n1 with s from 0 at t0 to 1 at t1. Then n . r is a quadratic in s, no less than the
// least of its Bernstein coefficients: n0 . r(t0), (n0 . r(t1) + n1 . r(t0)) / 2, n1 . r(t1). For each of them, least
// of B less largest of A must be above the floor. |n(t)| <= max(|n0|, |n1|). Angles of sqrt(gap / size) are reached.
//
// Rounding. u = DBL_EPSILON / 2, e = 2 u, R = max |p_i|, |q_i|; every operation has a relative error of u at most:
//   p_i = x_i - x_0, q_i = y_i - y_0   1 u R      one subtraction per coordinate
//   a_i = n . p_i, b_i = n . q_i       3 u |n| R  a product and two sums: 4 u |n| R in all
//   g_i = (1 - t) a_i + t b_i          3 u |n| R  1 - t, product, sum: 7 u in all
//   G = g_b - g_a                      2 u |n| R  as |g_b - g_a| <= 2 |n| R: 2 x 7 + 2 = 16 u in all
// and for the middle coefficient, which has one sum more, 2 x 8 + 2 = 18 u. That is 9 e |n| R; ROUNDING = 10 e leaves e
// for terms of e^2 and for the rounding of R and |n|. R has TINY added, more than squares and products lose by
// underflow. Motion that all corners share cancels in q_i and leaves no trace.
// The stored motion ends at y' instead of x + s (y - x): at every time a corner is off its straight line by at most
// e (max(|x|, |y|) + |y - x|) per coordinate (additive.h), and by nothing in coordinates with x = y. With m_k the
// largest such of A plus the largest of B, that moves G by sum |n_k| m_k at most, a convex function of n: of n that
// turns, the larger of its two ends. Terms of the floor
//   (inside + kept) |n| + sum |n_k| m_k + 10 e |n| R
// are positive, with at most 7 u relative error in the first (sum, length 3 u, products, sum) and 11 u in the others
// (m 3 u, products, sums); the factors 1 + 8 e and 1 + 16 e in the code are above that.
#include "contact/ccd/additive.h"

#include "math/scalar.h"

#include <float.h>
#include <stddef.h>

static const double ROUNDING = 10 * DBL_EPSILON;
static const double GOOD = 0.999;    // a direction is good if it shows this share of the gap of the nearest points
static const double PAYS = 0.2;      // an advance pays if it can use up this share of what is kept
static const double LARGEST = 1e70;  // fourth powers, of rbt_gap_measure, stay finite
static const double TINY = 1e-150;
enum { FIXED = 2, MAX_ADVANCES = 250 };  // FIXED: so many advances before directions that turn are tried

typedef struct motion {
    rbt_touch_kind kind;
    int first, corners;
    double p[12], q[12];  // from corner 0, at 0 and 1
    double size;          // R
    double moved[3];      // m
} motion;

typedef struct support {
    double length, slack;  // |n|; the rounding of G and of the stored motion
    double a[4], b[4];     // n . p, n . q
    double now;            // G at the time it was made for
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
    m->size = sqrt(square) + TINY;
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

// What G must exceed for a distance above `level`
static double floor_of(double level, double length, double slack) {
    return level * length * (1 + 8 * DBL_EPSILON) + slack;
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
    for (int k = 0; k < 3; k++) stored += fabs(n[k]) * m->moved[k];
    s->length = rbt_length(n);
    s->slack = (stored + ROUNDING * m->size * s->length) * (1 + 16 * DBL_EPSILON);
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

// From p to the segment a b (times `sign`): to its nearer end, and at right angles to it to the last bit. Which of them
// is right rounding may hide.
static void try_segment(const motion *m, const double *p, const double *a, const double *b, double sign, double t,
                        support *best) {
    double u[3], d[3];
    rbt_subtract(b, a, u);
    rbt_subtract(a, p, d);
    double square = rbt_dot(u, u);
    if (-2 * rbt_dot(u, d) > square) rbt_subtract(b, p, d);
    for (int k = 0; k < 3; k++) d[k] *= sign;
    keep_better(m, d, t, best);
    for (int round = 0; square > 0 && round < 2; round++) rbt_add_scaled(d, -rbt_dot(u, d) / square, u);
    keep_better(m, d, t, best);
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
        try_segment(m, r, r + 3, r + 6, 1, t, best);
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
    for (int i = 0; i < 3 && face; i++) try_segment(m, r, r + 3 + 3 * i, r + 3 + 3 * ((i + 1) % 3), 1, t, best);
    for (int i = 0; i < 4 && !face; i++)
        try_segment(m, r + 3 * i, i < 2 ? r + 6 : r, i < 2 ? r + 9 : r + 3, i < 2 ? 1 : -1, t, best);
}

// The best support found at time t
static void find_support(const motion *m, double t, double inside, const double *wall, support *s) {
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
    if (!(s->now - inside >= GOOD * (gap.distance - inside))) try_features(m, r, t, s);
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

// Whether the direction that turns evenly from that of `from`, at t0, to that of `to`, at t1, keeps G above the floor.
static bool turns(const motion *m, const support *from, double t0, const support *to, double t1, double level) {
    double length = rbt_larger(from->length, to->length), c0 = 1 - t0, c1 = 1 - t1;
    double floor = floor_of(level, length, rbt_larger(from->slack, to->slack)), end_a = -INFINITY, end_b = INFINITY;
    for (int i = 0; i < m->corners; i++) {
        double middle = 0.5 * ((c1 * from->a[i] + t1 * from->b[i]) + (c0 * to->a[i] + t0 * to->b[i]));
        if (i < m->first) end_a = rbt_larger(end_a, middle);
        else end_b = rbt_smaller(end_b, middle);
    }
    return from->now >= floor && to->now >= floor && end_b - end_a >= floor;
}

// Tries strides beyond `next`, at most three; *s becomes the support where one ends.
static double turn_ahead(const motion *m, support *s, double t, double next, double inside, double kept,
                         double *stride) {
    for (int attempt = 0; attempt < 3 && *stride > next - t; attempt++, *stride *= 0.25) {
        double to = rbt_smaller(t + *stride, 1);
        support there;
        find_support(m, to, inside, NULL, &there);
        if (!turns(m, s, t, &there, to, inside + kept)) continue;
        *stride *= 2;
        *s = there;
        return to;
    }
    *stride = rbt_larger(*stride, 4 * (next - t));
    if (next < 1) find_support(m, next, inside, NULL, s);
    return next;
}

double rbt_ccd_pair(rbt_touch_kind kind, const double x[12], const double y[12], double inside, double reach,
                    const double wall_normal[3]) {
    motion m = {.kind = kind, .first = rbt_pair_first(kind), .corners = rbt_pair_corners(kind)};
    if (!look(&m, x, y) || !(inside >= 0 && reach >= 0)) return 0;
    support s;
    find_support(&m, 0, inside, kind == RBT_TOUCH_WALL ? wall_normal : NULL, &s);
    double t = 0, stride = 1, gap = (s.now - s.slack) / s.length - inside;
    if (!(gap > 0)) return 0;
    double kept = RBT_CCD_KEEP * rbt_smaller(gap, reach);
    for (int step = 0; step < MAX_ADVANCES && t < 1; step++) {
        double floor = floor_of(inside + kept, s.length, s.slack);
        if (!(s.now - floor > PAYS * kept * s.length)) return t;
        if (gap_along(&m, &s, 1) >= floor) return 1;
        double next = advance(&m, &s, t, floor);
        if (!(next > t) || kind == RBT_TOUCH_WALL) return next;
        if (step < FIXED) find_support(&m, next, inside, NULL, &s);
        else next = turn_ahead(&m, &s, t, next, inside, kept, &stride);
        t = next;
    }
    return t;
}
