#include "mesh/generate/sdf.h"

#include "base/memory.h"
#include "math/vec3.h"

#include <math.h>

// A primitive made ready for evaluation, in its own frame.
typedef struct solid {
    rbt_primitive_kind kind;
    rbt_combine combine;
    int item;            // place in the caller's list
    double origin[3];    // a capsule's first end, the centre otherwise
    double frame[3][3];  // rows: the local axes
    double size[3];      // half sides, radii; capsule: unit axis
    double radius[2];
    double length;       // capsule: between the ends
    double slope, rise;  // capsule: sine and cosine of the cone's opening
    double blend;
} solid;

struct rbt_sdf {
    solid *added, *cutting;
    size_t added_count, cutting_count;
    rbt_box *boxes;     // (added_count)
    rbt_box_tree tree;  // of the added ones
    double blend;       // the largest
    rbt_box box;
};

// ---- Distances of the primitives

// Round cone: two spheres and their common tangent cone. In the plane of the axis (along y, away x) the cone's
// outline is the line with normal (rise, slope), and the two perpendiculars at its ends bound where it counts.
static double capsule_distance(const solid *s, const double p[3]) {
    double y = rbt_dot(p, s->size), away[3];
    for (int k = 0; k < 3; k++) away[k] = p[k] - y * s->size[k];
    double x = rbt_length(away), along = y * s->rise - x * s->slope;
    if (along <= 0) return sqrt(x * x + y * y) - s->radius[0];
    if (along >= s->rise * s->length) return sqrt(x * x + (y - s->length) * (y - s->length)) - s->radius[1];
    return x * s->rise + y * s->slope - s->radius[0];
}

static double box_distance(const solid *s, const double p[3]) {
    double outside = 0, inside = -INFINITY;
    for (int k = 0; k < 3; k++) {
        double q = fabs(p[k]) - (s->size[k] - s->radius[0]);
        outside += q > 0 ? q * q : 0;
        inside = fmax(inside, q);
    }
    return sqrt(outside) + fmin(inside, 0) - s->radius[0];
}

// The foot y of p on the ellipsoid of radii e satisfies y_i = e_i^2 p_i / (t + e_i^2) with the largest root t of
//   F(t) = sum_i (e_i p_i / (t + e_i^2))^2 - 1,
// which is convex and falling right of the poles: Newton's method from the left of the root never oversteps it.
static double ellipsoid_distance(const solid *s, const double p[3]) {
    const double *e = s->size;
    double q[3], t = -INFINITY;
    for (int k = 0; k < 3; k++) {
        q[k] = fmax(fabs(p[k]), 1e-9 * e[k]);  // off the symmetry planes, where the root may sit on a pole
        t = fmax(t, e[k] * q[k] - e[k] * e[k]);
    }
    for (int i = 0; i < 100; i++) {
        double value = -1, slope = 0;
        for (int k = 0; k < 3; k++) {
            double w = 1 / (t + e[k] * e[k]), r = e[k] * q[k] * w;
            value += r * r;
            slope -= 2 * r * r * w;
        }
        if (value <= 1e-12) break;
        t -= value / slope;
    }
    double d2 = 0;
    for (int k = 0; k < 3; k++) {
        double d = q[k] * t / (t + e[k] * e[k]);
        d2 += d * d;
    }
    return t < 0 ? -sqrt(d2) : sqrt(d2);
}

static double torus_distance(const solid *s, const double p[3]) {
    return hypot(hypot(p[0], p[2]) - s->size[0], p[1]) - s->size[1];
}

static double solid_distance(const solid *s, const double x[3]) {
    double r[3], p[3];
    rbt_subtract(x, s->origin, r);
    if (s->kind == RBT_CAPSULE) return capsule_distance(s, r);
    for (int k = 0; k < 3; k++) p[k] = rbt_dot(s->frame[k], r);
    switch (s->kind) {
    case RBT_BOX: return box_distance(s, p);
    case RBT_ELLIPSOID: return ellipsoid_distance(s, p);
    default: return torus_distance(s, p);
    }
}

// ---- Combination

// min(a, b), rounded where they differ by less than k: a parabola that meets both with equal slope.
static double smooth_min(double a, double b, double k) {
    double h = k - fabs(a - b);
    return h > 0 ? fmin(a, b) - h * h / (4 * k) : fmin(a, b);
}

enum { MIXED = 64 };  // primitives that are melted together at one point

typedef struct candidate {
    double distance;
    int32_t item;
} candidate;

// Drops what is farther than `reach`; returns how many stay.
static int keep_near(candidate *list, int count, double reach) {
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (list[i].distance <= reach) list[kept++] = list[i];
    return kept;
}

// The added primitives that are at most `range` farther from x than the nearest, in any order; returns how many, and
// the nearest distance. Nearer boxes are opened first, so that most of the others need not be.
static int find_near(const rbt_sdf *sdf, const double x[3], double range, candidate list[MIXED], double *nearest) {
    const rbt_box_node *nodes = sdf->tree.nodes;
    int32_t stack[RBT_BOX_TREE_DEPTH];
    double bound[RBT_BOX_TREE_DEPTH];
    int depth = 1, count = 0;
    double best = INFINITY, reach = INFINITY;  // a box farther than `reach` (squared) cannot matter
    stack[0] = 0;
    bound[0] = 0;
    while (depth) {
        int32_t at = stack[--depth];
        const rbt_box_node *node = &nodes[at];
        if (bound[depth] > reach) continue;
        if (node->right) {
            double left = rbt_box_distance2(&nodes[at + 1].box, x);
            double right = rbt_box_distance2(&nodes[node->right].box, x);
            bool left_first = left <= right;
            stack[depth] = left_first ? node->right : at + 1;
            bound[depth++] = left_first ? right : left;
            stack[depth] = left_first ? at + 1 : node->right;
            bound[depth++] = left_first ? left : right;
            continue;
        }
        for (int32_t i = node->first; i < node->first + node->count; i++) {
            int32_t item = sdf->tree.order[i];
            if (rbt_box_distance2(&sdf->boxes[item], x) > reach) continue;
            double d = solid_distance(&sdf->added[item], x);
            if (d > best + range) continue;
            if (d < best) {
                best = d;
                double limit = best + range;
                reach = limit > 0 ? limit * limit : 0;
            }
            if (count == MIXED) count = keep_near(list, count, best + range);
            if (count < MIXED) list[count++] = (candidate){d, item};
        }
    }
    *nearest = best;
    return keep_near(list, count, best + range);
}

double rbt_sdf_distance(const void *self, const double x[3]) {
    const rbt_sdf *sdf = self;
    candidate near[MIXED];
    double nearest, f = INFINITY;
    // What is farther than the nearest by twice the blend radius cannot change the rounded minimum.
    int count = find_near(sdf, x, 2 * sdf->blend, near, &nearest);
    for (int i = 1; i < count; i++) {  // in the order of the list
        candidate moving = near[i];
        int k = i;
        for (; k > 0 && near[k - 1].item > moving.item; k--) near[k] = near[k - 1];
        near[k] = moving;
    }
    for (int i = 0; i < count; i++)
        f = i ? smooth_min(f, near[i].distance, sdf->added[near[i].item].blend) : near[i].distance;
    f = fmin(f, nearest);  // the nearest may have found no room among more than MIXED
    for (size_t i = 0; i < sdf->cutting_count; i++) {
        const solid *s = &sdf->cutting[i];
        double d = solid_distance(s, x);
        f = -smooth_min(-f, s->combine == RBT_SUBTRACT ? d : -d, s->blend);
    }
    return f;
}

int rbt_sdf_nearest(const rbt_sdf *sdf, const double x[3]) {
    candidate near[MIXED];
    double nearest;
    int count = find_near(sdf, x, 0, near, &nearest);
    int32_t lowest = near[0].item;
    for (int i = 1; i < count; i++) lowest = near[i].item < lowest ? near[i].item : lowest;
    return sdf->added[lowest].item;
}

rbt_box rbt_sdf_box(const rbt_sdf *sdf) { return sdf->box; }

// ---- Making

static void prepare_capsule(solid *s, const rbt_primitive *p) {
    double axis[3], ra = p->radius[0], rb = p->radius[1];
    rbt_subtract(p->b, p->a, axis);
    s->length = rbt_length(axis);
    rbt_normalize(axis, s->size);
    if (s->length <= fabs(ra - rb)) {  // one ball holds the other
        for (int k = 0; k < 3 && rb > ra; k++) s->origin[k] = p->b[k];
        s->length = 0;
        ra = rb = fmax(ra, rb);
    }
    s->radius[0] = ra;
    s->radius[1] = rb;
    s->slope = s->length > 0 ? (ra - rb) / s->length : 0;
    s->rise = sqrt(1 - s->slope * s->slope);
}

static solid prepare(const rbt_primitive *p, int item, double blend, double sign) {
    solid s = {.kind = p->kind, .combine = p->combine, .item = item, .blend = p->blend > 0 ? p->blend : blend};
    rbt_primitive q = *p;
    q.a[2] *= sign;
    if (p->kind == RBT_CAPSULE) q.b[2] *= sign;
    q.turn[0] *= sign;  // a mirrored turn: the axis is a pseudo-vector
    q.turn[1] *= sign;
    for (int k = 0; k < 3; k++) s.origin[k] = q.a[k];
    if (q.kind == RBT_CAPSULE) {
        prepare_capsule(&s, &q);
        return s;
    }
    double axis[3], centre[3] = {0, 0, 0}, angle = q.turn[3] * (M_PI / 180);
    rbt_normalize(q.turn, axis);
    for (int k = 0; k < 3; k++) {
        double unit[3] = {k == 0, k == 1, k == 2}, turned[3];
        rbt_rotate(unit, centre, axis, angle, turned);
        for (int c = 0; c < 3; c++) s.frame[k][c] = turned[c];
        s.size[k] = q.b[k];
    }
    s.radius[0] = fmin(q.radius[0], fmin(q.b[0], fmin(q.b[1], q.b[2])));
    return s;
}

static rbt_box solid_box(const solid *s) {
    rbt_box box = rbt_box_empty();
    if (s->kind == RBT_CAPSULE) {
        double end[3];
        for (int k = 0; k < 3; k++) end[k] = s->origin[k] + s->length * s->size[k];
        rbt_box_include(&box, s->origin, s->radius[0]);
        rbt_box_include(&box, end, s->radius[1]);
        return box;
    }
    double half[3] = {s->size[0], s->size[1], s->size[2]};
    if (s->kind == RBT_TORUS) {
        half[0] = half[2] = s->size[0] + s->size[1];
        half[1] = s->size[1];
    }
    for (int c = 0; c < 3; c++) {  // of the turned local box: a little generous for round things
        double reach = 0;
        for (int k = 0; k < 3; k++) reach += half[k] * fabs(s->frame[k][c]);
        box.min[c] = s->origin[c] - reach;
        box.max[c] = s->origin[c] + reach;
    }
    return box;
}

static bool is_sound(const rbt_primitive *p) {
    const double *numbers[] = {p->a, p->b, p->turn};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            if (!isfinite(numbers[i][k])) return false;
    if (!isfinite(p->turn[3]) || !(p->blend >= 0) || isinf(p->blend)) return false;
    if (p->kind == RBT_CAPSULE)
        return p->radius[0] >= 0 && p->radius[1] >= 0 && p->radius[0] + p->radius[1] > 0 &&
               isfinite(p->radius[0] + p->radius[1]);
    if (p->kind == RBT_TORUS) return p->b[0] > 0 && p->b[1] > 0;
    return p->b[0] > 0 && p->b[1] > 0 && p->b[2] > 0 && p->radius[0] >= 0;
}

rbt_sdf *rbt_sdf_new(const rbt_primitive *primitives, size_t count, double blend, rbt_error *error) {
    rbt_sdf *sdf = rbt_array_new(1, sizeof *sdf, "a body of signed distances", error);
    if (!sdf) return NULL;
    sdf->added = rbt_array_new(2 * count, sizeof *sdf->added, "primitives", error);
    sdf->cutting = rbt_array_new(2 * count, sizeof *sdf->cutting, "primitives", error);
    rbt_box *boxes = sdf->boxes = rbt_array_new(2 * count, sizeof *boxes, "primitives", error);
    bool made = sdf->added && sdf->cutting && boxes;
    sdf->box = rbt_box_empty();
    for (size_t i = 0; i < count && made; i++) {
        const rbt_primitive *p = &primitives[i];
        if (!is_sound(p)) {
            made = rbt_fail(
                error, "part %zu of the blend has a size that is not above 0 or a coordinate that is not finite", i);
            break;
        }
        for (int side = 0; side < (p->mirror ? 2 : 1); side++) {
            solid s = prepare(p, (int)i, blend, side ? -1 : 1);
            if (s.blend > sdf->blend) sdf->blend = s.blend;
            if (s.combine != RBT_ADD) {
                sdf->cutting[sdf->cutting_count++] = s;
                continue;
            }
            boxes[sdf->added_count] = solid_box(&s);
            rbt_box_include(&sdf->box, boxes[sdf->added_count].min, 0);
            rbt_box_include(&sdf->box, boxes[sdf->added_count].max, 0);
            sdf->added[sdf->added_count++] = s;
        }
    }
    if (made && !sdf->added_count) made = rbt_fail(error, "a blend needs at least one part that is added");
    made = made && rbt_box_tree_build(&sdf->tree, boxes, sdf->added_count, error);
    for (int k = 0; k < 3; k++) {  // melting swells a joint by up to about the blend radius
        sdf->box.min[k] -= sdf->blend;
        sdf->box.max[k] += sdf->blend;
    }
    if (made) return sdf;
    rbt_sdf_free(sdf);
    return NULL;
}

void rbt_sdf_free(rbt_sdf *sdf) {
    if (!sdf) return;
    rbt_box_tree_free(&sdf->tree);
    free(sdf->boxes);
    free(sdf->added);
    free(sdf->cutting);
    free(sdf);
}
