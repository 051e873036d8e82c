// The least distance of two points, segments or triangles is that of a point to a point, of a point to the inside of
// a segment or a triangle, or of the insides of two segments, unless a segment goes through a triangle. Each squared
// is a quotient of polynomials of the coordinates, so all of them can be compared with the square of the radii in
// integers.
#include "math/exact_round.h"

#include "math/exact_integer.h"
#include "math/nearest.h"

#include <float.h>
#include <string.h>

enum { POINTS = 5, NUMBERS = 3 * POINTS + 2, MAX_DEPTH = 44, MAX_LOOKS = 4096, MANY_LOOKS = 1 << 24 };

typedef double points[POINTS][3];

// ---- Floating point

static double larger(double a, double b) { return a > b ? a : b; }

// From the second hull to the first at their nearest points; where they cross, any short way.
static void nearest(const rbt_round_pair *pair, points x, double d[3]) {
    double other[3];
    const double *a = x[0], *b = x[1], *c = x[pair->count[0]], *e = x[pair->count[0] + 1];
    if (pair->count[0] == 1) {
        if (pair->count[1] == 1) rbt_subtract(a, c, d);
        else if (pair->count[1] == 2) rbt_from_segment(a, c, e, d);
        else rbt_from_triangle(a, c, e, x[3], d);
        return;
    }
    if (pair->count[1] == 1) {
        rbt_from_segment(c, a, b, d);
        for (int k = 0; k < 3; k++) d[k] = -d[k];
        return;
    }
    rbt_from_edge(a, b, c, e, d);
    if (pair->count[1] == 2) return;
    rbt_from_edge(a, b, e, x[4], other);
    rbt_keep_shorter(d, other);
    rbt_from_edge(a, b, x[4], c, other);
    rbt_keep_shorter(d, other);
    for (int end = 0; end < 2; end++) {
        rbt_from_triangle(x[end], c, e, x[4], other);
        rbt_keep_shorter(d, other);
    }
}

// The first hull lies beyond the second along d by more than the radii: near - far > radius |d|. Errors, with e =
// DBL_EPSILON: as in exact_motion_filter.c for the products, and 4 e of radius |d| for the sum of radii, the length
// and their product.
static bool separates(const rbt_round_pair *pair, const double d[3], points x, double size) {
    int all = pair->count[0] + pair->count[1];
    double near = INFINITY, far = -INFINITY;
    for (int i = 0; i < all; i++) {
        double r[3];
        rbt_subtract(x[i], x[all - 1], r);
        double along = rbt_dot(d, r);
        if (i < pair->count[0]) near = along < near ? along : near;
        else far = larger(along, far);
    }
    double sum = fabs(d[0]) + fabs(d[1]) + fabs(d[2]), radius = (pair->radius + pair->other_radius) * rbt_length(d);
    return near - far > radius * (1 + 8 * DBL_EPSILON) + 32 * DBL_EPSILON * size * sum + DBL_MIN;
}

static double size_of(const rbt_round_pair *pair, bool moving) {
    double size = larger(pair->radius, pair->other_radius);
    for (int i = 0; i < pair->count[0] + pair->count[1]; i++)
        for (int k = 0; k < 3; k++) {
            size = larger(size, fabs(pair->from[i][k]));
            if (moving) size = larger(size, fabs(pair->to[i][k]));
        }
    return size;
}

// ---- Integers

typedef struct numbers {
    mpz_t point[NUMBERS];  // three of each point, then the radii
    mpz_t square;          // of the sum of the radii
    mpz_t u[3], v[3], w[3], n[3], side[3];
    mpz_t a, b, c;
} numbers;

static void each_number(numbers *z, void (*act)(mpz_t)) {
    for (int i = 0; i < NUMBERS; i++) act(z->point[i]);
    for (int k = 0; k < 3; k++) {
        act(z->u[k]);
        act(z->v[k]);
        act(z->w[k]);
        act(z->n[k]);
        act(z->side[k]);
    }
    act(z->square);
    act(z->a);
    act(z->b);
    act(z->c);
}

static void init(mpz_t z) { mpz_init(z); }
static void clear(mpz_t z) { mpz_clear(z); }

static void between(const numbers *z, int from, int to, mpz_t *d) {
    for (int k = 0; k < 3; k++) mpz_sub(d[k], z->point[3 * to + k], z->point[3 * from + k]);
}

static void cross(mpz_t *a, mpz_t *b, mpz_t *c) {
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        mpz_mul(c[k], a[i], b[j]);
        mpz_submul(c[k], a[j], b[i]);
    }
}

static void dot(mpz_t *a, mpz_t *b, mpz_t sum) {
    mpz_set_ui(sum, 0);
    for (int k = 0; k < 3; k++) mpz_addmul(sum, a[k], b[k]);
}

// Sign of top / bottom - square; top is lost.
static int compare(numbers *z, mpz_t top, const mpz_t bottom) {
    mpz_submul(top, z->square, bottom);
    return mpz_sgn(top);
}

enum { FARTHER = 1 };

static int point_point(numbers *z, int p, int q) {
    between(z, p, q, z->u);
    dot(z->u, z->u, z->a);
    mpz_set_ui(z->b, 1);
    return compare(z, z->a, z->b);
}

// Only if the nearest point is inside the segment: |u x v|^2 / |u|^2
static int point_segment(numbers *z, int p, int a, int b) {
    between(z, a, b, z->u);
    between(z, a, p, z->v);
    dot(z->u, z->v, z->a);
    dot(z->u, z->u, z->b);
    if (mpz_sgn(z->a) <= 0 || mpz_cmp(z->a, z->b) >= 0) return FARTHER;
    cross(z->u, z->v, z->n);
    dot(z->n, z->n, z->a);
    return compare(z, z->a, z->b);
}

// Only above the triangle's inside: (w . n)^2 / |n|^2
static int point_triangle(numbers *z, int p, int a, int b, int c) {
    const int corner[3] = {a, b, c};
    between(z, a, b, z->u);
    between(z, a, c, z->v);
    cross(z->u, z->v, z->n);
    dot(z->n, z->n, z->b);
    if (mpz_sgn(z->b) == 0) return FARTHER;
    for (int k = 0; k < 3; k++) {
        between(z, corner[k], corner[(k + 1) % 3], z->u);
        between(z, corner[k], p, z->w);
        cross(z->u, z->w, z->side);
        dot(z->side, z->n, z->a);
        if (mpz_sgn(z->a) < 0) return FARTHER;
    }
    dot(z->w, z->n, z->a);
    mpz_mul(z->a, z->a, z->a);
    return compare(z, z->a, z->b);
}

// Only if the nearest points of the lines are inside both: with w from the start of one to that of the other, n = u x
// v, they are at the shares (w x v) . n / |n|^2 and (w x u) . n / |n|^2, and (w . n)^2 / |n|^2 apart.
static int segment_segment(numbers *z, int a, int b, int c, int d) {
    between(z, a, b, z->u);
    between(z, c, d, z->v);
    between(z, a, c, z->w);
    cross(z->u, z->v, z->n);
    dot(z->n, z->n, z->b);
    if (mpz_sgn(z->b) == 0) return FARTHER;
    for (int k = 0; k < 2; k++) {
        cross(z->w, k ? z->u : z->v, z->side);
        dot(z->side, z->n, z->c);
        if (mpz_sgn(z->c) < 0 || mpz_cmp(z->c, z->b) > 0) return FARTHER;
    }
    dot(z->w, z->n, z->a);
    mpz_mul(z->a, z->a, z->a);
    return compare(z, z->a, z->b);
}

static int smaller(int a, int b) { return a < b ? a : b; }

// Sign of the distance's square less that of the radii, if none of the insides cross
static int compare_all(numbers *z, int first, int second) {
    int best = FARTHER, sides = second == 3 ? 3 : second - 1, end = first + second;
    for (int i = 0; i < first; i++) {
        for (int j = first; j < end; j++) best = smaller(best, point_point(z, i, j));
        for (int s = 0; s < sides; s++)
            best = smaller(best, point_segment(z, i, first + s, first + (s + 1) % second));
        if (second == 3) best = smaller(best, point_triangle(z, i, first, first + 1, first + 2));
    }
    for (int j = first; first == 2 && j < end; j++) best = smaller(best, point_segment(z, j, 0, 1));
    for (int s = 0; first == 2 && s < sides; s++)
        best = smaller(best, segment_segment(z, 0, 1, first + s, first + (s + 1) % second));
    return best;
}

static rbt_meeting exact_meeting(const rbt_round_pair *pair) {
    double all[NUMBERS] = {0};
    int count = pair->count[0] + pair->count[1];
    memcpy(all, pair->from, 3 * (size_t)count * sizeof *all);
    all[NUMBERS - 2] = pair->radius;
    all[NUMBERS - 1] = pair->other_radius;
    numbers z;
    each_number(&z, init);
    rbt_doubles_to_integers(all, NUMBERS, z.point);
    mpz_add(z.square, z.point[NUMBERS - 2], z.point[NUMBERS - 1]);
    mpz_mul(z.square, z.square, z.square);
    int sign = compare_all(&z, pair->count[0], pair->count[1]);
    bool thick = mpz_sgn(z.square) > 0;
    each_number(&z, clear);
    if (pair->count[0] == 2 && pair->count[1] == 3 && sign >= 0) {
        const double(*x)[3] = pair->from;
        rbt_meeting through = rbt_segment_meets_triangle(x[0], x[1], x[2], x[3], x[4]);
        if (through != RBT_APART) return thick ? RBT_CROSSING : through;
    }
    return sign < 0 ? RBT_CROSSING : sign == 0 ? RBT_TOUCHING : RBT_APART;
}

// ---- Answers

rbt_meeting rbt_round_meets(const rbt_round_pair *pair) {
    double size = size_of(pair, false), d[3];
    points x;
    memcpy(x, pair->from, sizeof x);
    if (size < 1e50 && size > 1e-50) {
        nearest(pair, x, d);
        if (separates(pair, d, x, size)) return RBT_APART;
    }
    return exact_meeting(pair);
}

static void points_at(const rbt_round_pair *p, double t, points x) {
    for (int i = 0; i < p->count[0] + p->count[1]; i++)
        for (int k = 0; k < 3; k++) x[i][k] = (1 - t) * p->from[i][k] + t * p->to[i][k];
}

// About 1 by a power of two, so that products stay within the range of numbers.
static rbt_round_pair scaled(const rbt_round_pair *pair, double size) {
    rbt_round_pair s = *pair;
    int exponent;
    frexp(size, &exponent);
    for (int i = 0; i < pair->count[0] + pair->count[1]; i++)
        for (int k = 0; k < 3; k++) {
            s.from[i][k] = ldexp(pair->from[i][k], -exponent);
            s.to[i][k] = ldexp(pair->to[i][k], -exponent);
        }
    s.radius = ldexp(pair->radius, -exponent);
    s.other_radius = ldexp(pair->other_radius, -exponent);
    return s;
}

// Nearer than the radii at this time, the rounding of up to 2^6 e of the size (now 1) included
static bool surely_near(const rbt_round_pair *pair, double t) {
    points x;
    double d[3];
    points_at(pair, t, x);
    nearest(pair, x, d);
    return rbt_length(d) + 64 * DBL_EPSILON < pair->radius + pair->other_radius;
}

// They are near at `near`, and were not so, or not for sure, at `begin`.
static double first_near(const rbt_round_pair *pair, double begin, double near) {
    for (int i = 0; i < 40; i++) {
        double middle = 0.5 * (begin + near);
        if (surely_near(pair, middle)) near = middle;
        else begin = middle;
    }
    return near;
}

// ---- Longer numbers

typedef long double fine[3];

static long double fine_dot(const fine a, const fine b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void fine_cross(const fine a, const fine b, fine c) {
    for (int k = 0; k < 3; k++) c[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

// Keeps r - s u - v w if that is shorter than what is in `best`.
static void keep(const fine r, long double s, const fine u, long double v, const fine w, fine best) {
    fine d;
    for (int k = 0; k < 3; k++) d[k] = r[k] - s * u[k] - v * w[k];
    if (!(fine_dot(d, d) < fine_dot(best, best))) return;
    memcpy(best, d, sizeof d);
}

static void fine_differences(const fine *x, int from, int to, fine d) {
    for (int k = 0; k < 3; k++) d[k] = x[to][k] - x[from][k];
}

// From the segment a b, or a = b, to p (to it, with sign -1); from the inside of the triangle a b c; from the inside of
// c d to that of a b
static void fine_from_segment(const fine *x, int p, int a, int b, long double sign, fine best) {
    fine u, r, none = {0};
    fine_differences(x, a, b, u);
    fine_differences(x, a, p, r);
    for (int k = 0; k < 3; k++) r[k] *= sign, u[k] *= sign;
    long double uu = fine_dot(u, u), s = uu > 0 ? fine_dot(u, r) / uu : 0;
    keep(r, s > 0 ? (s < 1 ? s : 1) : 0, u, 0, none, best);
}

static void fine_from_triangle(const fine *x, int p, int a, fine best) {
    fine u, v, n, r, su, sv, none = {0};
    fine_differences(x, a, a + 1, u);
    fine_differences(x, a, a + 2, v);
    fine_differences(x, a, p, r);
    fine_cross(u, v, n);
    fine_cross(u, r, su);
    fine_cross(r, v, sv);
    long double beta = fine_dot(sv, n), gamma = fine_dot(su, n), area = fine_dot(n, n);
    if (!(area > 0 && beta >= 0 && gamma >= 0 && beta + gamma <= area)) return;
    long double height = fine_dot(r, n) / area;
    keep(none, -height, n, 0, none, best);
}

static void fine_from_edge(const fine *x, int a, int b, int c, int d, fine best) {
    fine u, w, r;
    fine_differences(x, a, b, u);
    fine_differences(x, c, d, w);
    fine_differences(x, c, a, r);
    long double uu = fine_dot(u, u), ww = fine_dot(w, w), uw = fine_dot(u, w), ur = fine_dot(u, r),
                wr = fine_dot(w, r);
    long double area = uu * ww - uw * uw, s = (uw * wr - ww * ur) / area, v = (uu * wr - uw * ur) / area;
    if (area > 0 && s >= 0 && s <= 1 && v >= 0 && v <= 1) keep(r, -s, u, v, w, best);
}

// As `nearest`: the shortest of all ways from a feature of the second hull to one of the first
static void nearest_finely(const rbt_round_pair *pair, const fine *x, fine d) {
    int first = pair->count[0], second = pair->count[1], sides = second == 3 ? 3 : 1;
    for (int k = 0; k < 3; k++) d[k] = 1e4;
    for (int s = 0; s < sides; s++) {
        int c = first + s, e = first + (s + 1) % second;
        for (int i = 0; i < first; i++) fine_from_segment(x, i, c, e, 1, d);
        if (first == 2) fine_from_segment(x, c, 0, 1, -1, d), fine_from_segment(x, e, 0, 1, -1, d);
        if (first == 2 && second > 1) fine_from_edge(x, 0, 1, c, e, d);
    }
    for (int i = 0; i < first && second == 3; i++) fine_from_triangle(x, i, first, d);
}

static void fine_points_at(const rbt_round_pair *p, long double t, fine *x) {
    for (int i = 0; i < p->count[0] + p->count[1]; i++)
        for (int k = 0; k < 3; k++) x[i][k] = (1 - t) * p->from[i][k] + t * p->to[i][k];
}

// As `separates`, now that the size is 1: with e = LDBL_EPSILON, 4 e more for the points.
static bool separates_finely(const rbt_round_pair *pair, const fine d, const fine *x) {
    int all = pair->count[0] + pair->count[1];
    long double near = INFINITY, far = -INFINITY, sum = fabsl(d[0]) + fabsl(d[1]) + fabsl(d[2]);
    for (int i = 0; i < all; i++) {
        long double along = fine_dot(d, x[i]);
        if (i < pair->count[0]) near = along < near ? along : near;
        else far = along > far ? along : far;
    }
    long double radius = ((long double)pair->radius + pair->other_radius) * sqrtl(fine_dot(d, d));
    return near - far > radius * (1 + 8 * LDBL_EPSILON) + 32 * LDBL_EPSILON * sum + DBL_MIN;
}

// ---- Ways

// Whether the direction of the nearest points in the middle separates the pair from `begin` to `end`
static bool are_apart(const rbt_round_pair *pair, double begin, double end) {
    double d[3];
    points x;
    points_at(pair, 0.5 * (begin + end), x);
    nearest(pair, x, d);
    points_at(pair, begin, x);
    if (!separates(pair, d, x, 1)) return false;
    points_at(pair, end, x);
    return separates(pair, d, x, 1);
}

static bool are_apart_finely(const rbt_round_pair *pair, double begin, double end) {
    fine d, x[POINTS];
    fine_points_at(pair, 0.5 * (begin + end), x);
    nearest_finely(pair, (const fine *)x, d);
    fine_points_at(pair, begin, x);
    if (!separates_finely(pair, d, (const fine *)x)) return false;
    fine_points_at(pair, end, x);
    return separates_finely(pair, d, (const fine *)x);
}

typedef enum answer { NO, YES, UNDECIDED } answer;

// Times are halved until every part is apart, or the middle of one is near for sure.
static answer search_times(const rbt_round_pair *pair, bool longer, int most_looks, double *when) {
    struct {
        double begin, end;
        int depth;
    } stack[MAX_DEPTH + 2] = {{0, 1, 0}}, s;
    int looks = 0;
    for (int top = 1; top > 0;) {
        s = stack[--top];
        double middle = 0.5 * (s.begin + s.end);
        if (longer ? are_apart_finely(pair, s.begin, s.end) : are_apart(pair, s.begin, s.end)) continue;
        if (surely_near(pair, middle)) {
            *when = first_near(pair, s.begin, middle);
            return YES;
        }
        if (s.depth == MAX_DEPTH || ++looks > most_looks) {
            *when = s.begin;
            return UNDECIDED;
        }
        stack[top].begin = middle, stack[top].end = s.end, stack[top++].depth = s.depth + 1;
        stack[top].begin = s.begin, stack[top].end = middle, stack[top++].depth = s.depth + 1;
    }
    return NO;
}

// What doubles leave open is asked again with longer numbers and more patience.
bool rbt_round_paths_meet(const rbt_round_pair *given, double *when) {
    double size = size_of(given, true);
    rbt_round_pair pair = scaled(given, size > 0 ? size : 1);
    answer found = search_times(&pair, false, MAX_LOOKS, when);
    if (found == UNDECIDED) found = search_times(&pair, true, MANY_LOOKS, when);
    return found != NO;
}

// ---- Planes

static int exact_above(const double all[10]) {  // x, p, n, radius
    mpz_t z[10], height, length, d;
    for (int i = 0; i < 10; i++) mpz_init(z[i]);
    mpz_init(height);
    mpz_init(length);
    mpz_init(d);
    rbt_doubles_to_integers(all, 10, z);
    for (int k = 0; k < 3; k++) {
        mpz_sub(d, z[k], z[3 + k]);
        mpz_addmul(height, d, z[6 + k]);
        mpz_addmul(length, z[6 + k], z[6 + k]);
    }
    int sign = mpz_sgn(height);
    if (sign > 0) {  // both sides are positive: compare squares
        mpz_mul(height, height, height);
        mpz_mul(d, z[9], z[9]);
        mpz_submul(height, d, length);
        sign = mpz_sgn(height);
    } else if (mpz_sgn(z[9]) > 0) sign = -1;
    for (int i = 0; i < 10; i++) mpz_clear(z[i]);
    mpz_clear(height);
    mpz_clear(length);
    mpz_clear(d);
    return sign;
}

int rbt_ball_above(const double x[3], double radius, const double p[3], const double n[3]) {
    double height = 0, size = 0;
    for (int k = 0; k < 3; k++) {
        height += (x[k] - p[k]) * n[k];
        size += fabs((x[k] - p[k]) * n[k]);
    }
    double edge = radius * rbt_length(n), bound = 8 * DBL_EPSILON * (size + edge) + 1e-300;
    if (height - edge > bound) return 1;
    if (edge - height > bound) return -1;
    return exact_above((double[10]){x[0], x[1], x[2], p[0], p[1], p[2], n[0], n[1], n[2], radius});
}
