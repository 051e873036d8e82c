// Nearest points by the regions of the triangle and the clamped parameters of the two segments (Ericson 2004, chapter
// 5).
#include "contact/distance/gap.h"

#include "math/vec3.h"

// Barycentric coordinates of the point of a triangle nearest to p. An edge without length (d1 = d3 = 0) is left to the
// others.
static void nearest_on_triangle(const double p[3], const double a[3], const double b[3], const double c[3],
                                double w[3]) {
    double ab[3], ac[3], ap[3], bp[3], cp[3];
    rbt_subtract(b, a, ab);
    rbt_subtract(c, a, ac);
    rbt_subtract(p, a, ap);
    rbt_subtract(p, b, bp);
    rbt_subtract(p, c, cp);
    double d1 = rbt_dot(ab, ap), d2 = rbt_dot(ac, ap), d3 = rbt_dot(ab, bp), d4 = rbt_dot(ac, bp);
    double d5 = rbt_dot(ab, cp), d6 = rbt_dot(ac, cp);
    double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
    w[0] = w[1] = w[2] = 0;
    if (d1 <= 0 && d2 <= 0) w[0] = 1;
    else if (d3 >= 0 && d4 <= d3) w[1] = 1;
    else if (d6 >= 0 && d5 <= d6) w[2] = 1;
    else if (vc <= 0 && d1 >= 0 && d3 <= 0 && d1 > d3) w[1] = d1 / (d1 - d3), w[0] = 1 - w[1];
    else if (vb <= 0 && d2 >= 0 && d6 <= 0 && d2 > d6) w[2] = d2 / (d2 - d6), w[0] = 1 - w[2];
    else if (va <= 0 && d4 >= d3 && d5 >= d6) w[2] = (d4 - d3) / ((d4 - d3) + (d5 - d6)), w[1] = 1 - w[2];
    else {
        double sum = va + vb + vc;
        w[1] = vb / sum;
        w[2] = vc / sum;
        w[0] = 1 - w[1] - w[2];
    }
}

static double clamp01(double s) { return s < 0 ? 0 : s > 1 ? 1 : s; }

static double nearest_on_segment(const double p[3], const double a[3], const double b[3]) {
    double ab[3], ap[3];
    rbt_subtract(b, a, ab);
    rbt_subtract(p, a, ap);
    double square = rbt_dot(ab, ab);
    return square > 0 ? clamp01(rbt_dot(ap, ab) / square) : 0;
}

static double square_between(const double *x, double s, double t) {
    double across[3];
    for (int k = 0; k < 3; k++) across[k] = (1 - t) * x[6 + k] + t * x[9 + k] - (1 - s) * x[k] - s * x[3 + k];
    return rbt_dot(across, across);
}

// Of nearly parallel segments an end is as near to the other one as any point, up to rounding.
static void nearest_ends(const double *x, double *s, double *t) {
    double least = square_between(x, *s, *t);
    for (int i = 0; i < 4; i++) {
        double end = i % 2, other = i < 2 ? nearest_on_segment(x + 3 * (i % 2), x + 6, x + 9)
                                          : nearest_on_segment(x + 6 + 3 * (i % 2), x, x + 3);
        double square = i < 2 ? square_between(x, end, other) : square_between(x, other, end);
        if (square >= least) continue;
        least = square;
        *s = i < 2 ? end : other;
        *t = i < 2 ? other : end;
    }
}

// Parameters of the nearest points of the segments x0 x1 and x2 x3
static void nearest_on_segments(const double *x, double *s, double *t) {
    double u[3], v[3], r[3];
    rbt_subtract(x + 3, x, u);
    rbt_subtract(x + 9, x + 6, v);
    rbt_subtract(x, x + 6, r);
    double a = rbt_dot(u, u), e = rbt_dot(v, v), b = rbt_dot(u, v), c = rbt_dot(u, r), f = rbt_dot(v, r);
    double determinant = a * e - b * b;
    *s = determinant > 1e-12 * a * e ? clamp01((b * f - c * e) / determinant) : 0;
    *t = e > 0 ? (b * *s + f) / e : 0;
    if (*t < 0) *t = 0, *s = a > 0 ? clamp01(-c / a) : 0;
    else if (*t > 1) *t = 1, *s = a > 0 ? clamp01((b - c) / a) : 0;
    if (determinant <= 1e-8 * a * e) nearest_ends(x, s, t);
}

void rbt_gap_edge_parts(const double x[12], const signed char part[2], rbt_gap *gap) {
    double s = part[0] - 1, t = part[1] - 1, *w = gap->weight, across[3] = {0};
    if (!part[0] && !part[1]) nearest_on_segments(x, &s, &t);
    else if (!part[0]) s = nearest_on_segment(x + 6 + 3 * (part[1] - 1), x, x + 3);
    else if (!part[1]) t = nearest_on_segment(x + 3 * (part[0] - 1), x + 6, x + 9);
    w[0] = s - 1, w[1] = -s, w[2] = 1 - t, w[3] = t;
    for (int i = 0; i < 4; i++) rbt_add_scaled(across, w[i], x + 3 * i);
    rbt_gap_lay(across, gap);
}

void rbt_gap_measure(rbt_touch_kind kind, const double x[12], rbt_gap *gap) {
    double *w = gap->weight, t;
    switch (kind) {
    case RBT_TOUCH_FACE:
        w[0] = -1;
        nearest_on_triangle(x, x + 3, x + 6, x + 9, w + 1);
        break;
    case RBT_TOUCH_EDGES: rbt_gap_edge_parts(x, (const signed char[2]){0, 0}, gap); return;
    case RBT_TOUCH_EDGE:
        t = nearest_on_segment(x, x + 3, x + 6);
        w[0] = -1, w[1] = 1 - t, w[2] = t, w[3] = 0;
        break;
    default: rbt_gap_points(kind, x, x + 3, gap); return;
    }
    int corners = rbt_pair_corners(kind);
    double across[3] = {0};
    for (int i = 0; i < corners; i++) rbt_add_scaled(across, w[i], x + 3 * i);
    rbt_gap_lay(across, gap);
}

int rbt_gap_crosses(const double p[3], const double q[3], const double a[3], const double b[3], const double c[3]) {
    double below = rbt_tet_volume(a, b, c, p), above = rbt_tet_volume(a, b, c, q), size = 0;
    for (int k = 0; k < 3; k++) {
        const double *at[4] = {b, c, p, q};
        for (int i = 0; i < 4; i++) size = fmax(size, fabs(at[i][k] - a[k]));
    }
    // Ends in the plane of the triangle do not cross it: there the distances of the primitives tell.
    double rounding = 1e-14 * size * size * size;
    if (fabs(below) <= rounding || fabs(above) <= rounding || (below > 0) == (above > 0)) return 0;
    double u = rbt_tet_volume(p, q, a, b), v = rbt_tet_volume(p, q, b, c), w = rbt_tet_volume(p, q, c, a);
    return (u >= 0 && v >= 0 && w >= 0) || (u <= 0 && v <= 0 && w <= 0);
}
