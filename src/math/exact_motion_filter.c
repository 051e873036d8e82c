// Moving pairs that are surely apart, in floating point: a direction that separates two convex hulls at the beginning
// and at the end of a time span separates them all the time, since every product with it is linear in time. The
// direction is that between the nearest points halfway; if it fails, each half of the span is tried by itself. Any
// direction will do, so only the products' rounding errors need a bound.
#include "math/exact.h"
#include "math/nearest.h"
#include "math/vec3.h"

#include <float.h>
#include <math.h>

enum { MAX_SPLITS = 12, MAX_DEPTH = 7 };

typedef double four_points[4][3];

// (1 - t) from + t to: each coordinate is wrong by at most 2 DBL_EPSILON times the largest of the pair.
static void points_at(const rbt_paths *p, double t, four_points x) {
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) x[i][k] = (1 - t) * p->from[i][k] + t * p->to[i][k];
}

static double larger(double a, double b) { return a > b ? a : b; }

// Points 0 .. first - 1 lie beyond the others along d, by more than the products' error: each coordinate is wrong by
// at most 2 e size (and 2 e size more by the subtraction), the product of three by at most 3 e of 2 size |d|, e =
// DBL_EPSILON.
static bool separates(const double d[3], four_points x, int first, double size) {
    double near = INFINITY, far = -INFINITY;
    for (int i = 0; i < 4; i++) {
        double r[3];
        rbt_subtract(x[i], x[3], r);
        double along = rbt_dot(d, r);
        if (i < first) near = along < near ? along : near;
        else far = larger(along, far);
    }
    double length = fabs(d[0]) + fabs(d[1]) + fabs(d[2]);
    return near - far > 32 * DBL_EPSILON * size * length + DBL_MIN;
}

typedef struct span {
    double begin, end;
    int depth;
} span;

static double size_of(const rbt_paths *paths) {
    double size = 0;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) {
            size = larger(size, fabs(paths->from[i][k]));
            size = larger(size, fabs(paths->to[i][k]));
        }
    return size;
}

// Coordinates are scaled to about 1 by a power of two if products of them might leave the range of numbers; what then
// becomes too small to be a number was far below the error that is allowed for.
static void scale(rbt_paths *paths, double size) {
    int exponent;
    frexp(size, &exponent);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) {
            paths->from[i][k] = ldexp(paths->from[i][k], -exponent);
            paths->to[i][k] = ldexp(paths->to[i][k], -exponent);
        }
}

bool rbt_paths_apart(const rbt_paths *paths, rbt_pair_kind kind, double begin, double end) {
    double size = size_of(paths);
    rbt_paths scaled;
    if (!(size < 1e50 && size > 1e-50)) {
        scaled = *paths;
        scale(&scaled, size);
        paths = &scaled;
        size = 1;
    }
    span stack[MAX_DEPTH + 2] = {{begin, end, 0}};
    int splits = 0, first = kind == RBT_VERTEX_TRIANGLE ? 1 : 2;
    for (int top = 1; top > 0;) {
        span s = stack[--top];
        double middle = 0.5 * (s.begin + s.end), d[3];
        four_points x, y;
        points_at(paths, middle, x);
        if (kind == RBT_VERTEX_TRIANGLE) rbt_from_triangle(x[0], x[1], x[2], x[3], d);
        else rbt_from_edge(x[0], x[1], x[2], x[3], d);
        points_at(paths, s.begin, x);
        points_at(paths, s.end, y);
        if (separates(d, x, first, size) && separates(d, y, first, size)) continue;
        if (s.depth == MAX_DEPTH || ++splits > MAX_SPLITS) return false;
        stack[top++] = (span){middle, s.end, s.depth + 1};
        stack[top++] = (span){s.begin, middle, s.depth + 1};
    }
    return true;
}
