// Moving pairs, exactly. Relative to one of them, the points are linear in t with whole coefficients, and whether a
// vertex r lies in the triangle spanned by u, v at a time when all are in one plane,
//
//   f = r . n = 0,   n = u x v,
//
// follows from signs of polynomials in t: of  (r x v) . n,  (u x r) . n  and  n . n  less both, if n . n > 0 there, and
// otherwise of those that say whether it lies on one of the sides. Two segments go alike. If f is not zero, only its
// roots (at most three) are times to look at. If it is (all stay in one plane), the first time of contact is 0 or one
// at which some of the signs change, so that the roots of all these polynomials are looked at, and the ends.
#include "math/exact.h"
#include "math/exact_integer.h"

#include <stddef.h>

typedef struct vector {
    rbt_polynomial k[3];
} vector;

enum { SIDES = 4 };  // at most: point and segment pairs that are looked at if n = 0

typedef struct decision {
    rbt_pair_kind kind;
    vector x[4], u, v, r, n;
    rbt_polynomial f, nn, s[2], rest[2];  // (r x v) . n and the like; n . n less them
    bool has_sides;
    int side_count;
    rbt_polynomial off[SIDES], between[SIDES];  // |u x r|^2: 0 on the line; r . (r - u): not above 0 between the ends
} decision;

// ---- Polynomials of vectors

static void vector_init(vector *a) {
    for (int k = 0; k < 3; k++) rbt_polynomial_init(&a->k[k]);
}

static void vector_clear(vector *a) {
    for (int k = 0; k < 3; k++) rbt_polynomial_clear(&a->k[k]);
}

static void subtract(const vector *a, const vector *b, vector *c) {
    for (int k = 0; k < 3; k++) rbt_polynomial_subtract(&a->k[k], &b->k[k], &c->k[k]);
}

static void add_dot(const vector *a, const vector *b, rbt_polynomial *sum) {
    for (int k = 0; k < 3; k++) rbt_polynomial_add_product(&a->k[k], &b->k[k], 1, sum);
}

static void add_cross(const vector *a, const vector *b, vector *sum) {
    for (int k = 0; k < 3; k++) {
        rbt_polynomial_add_product(&a->k[(k + 1) % 3], &b->k[(k + 2) % 3], 1, &sum->k[k]);
        rbt_polynomial_add_product(&a->k[(k + 2) % 3], &b->k[(k + 1) % 3], -1, &sum->k[k]);
    }
}

// sum += (a x b) . n
static void add_triple(const vector *a, const vector *b, const vector *n, rbt_polynomial *sum) {
    vector cross;
    vector_init(&cross);
    add_cross(a, b, &cross);
    add_dot(&cross, n, sum);
    vector_clear(&cross);
}

// ---- The pair

static void read_paths(decision *d, const rbt_paths *paths) {
    double all[24];
    mpz_t z[24];
    for (int i = 0; i < 24; i++) mpz_init(z[i]);
    for (int i = 0; i < 12; i++) {
        all[i] = paths->from[i / 3][i % 3];
        all[12 + i] = paths->to[i / 3][i % 3];
    }
    rbt_doubles_to_integers(all, 24, z);
    for (int i = 0; i < 12; i++) rbt_polynomial_line(&d->x[i / 3].k[i % 3], z[i], z[12 + i]);
    for (int i = 0; i < 24; i++) mpz_clear(z[i]);
}

static void decision_init(decision *d, const rbt_paths *paths, rbt_pair_kind kind) {
    bool face = kind == RBT_VERTEX_TRIANGLE;
    d->kind = kind;
    d->has_sides = false;
    d->side_count = face ? 3 : 4;
    vector *vectors[] = {&d->x[0], &d->x[1], &d->x[2], &d->x[3], &d->u, &d->v, &d->r, &d->n};
    for (int i = 0; i < 8; i++) vector_init(vectors[i]);
    rbt_polynomial *polynomials[] = {&d->f, &d->nn, &d->s[0], &d->s[1], &d->rest[0], &d->rest[1]};
    for (int i = 0; i < 6; i++) rbt_polynomial_init(polynomials[i]);
    for (int i = 0; i < SIDES; i++) {
        rbt_polynomial_init(&d->off[i]);
        rbt_polynomial_init(&d->between[i]);
    }
    read_paths(d, paths);
    if (face) {
        subtract(&d->x[2], &d->x[1], &d->u);
        subtract(&d->x[3], &d->x[1], &d->v);
        subtract(&d->x[0], &d->x[1], &d->r);
    } else {
        subtract(&d->x[1], &d->x[0], &d->u);
        subtract(&d->x[3], &d->x[2], &d->v);
        subtract(&d->x[2], &d->x[0], &d->r);
    }
    add_cross(&d->u, &d->v, &d->n);
    add_dot(&d->r, &d->n, &d->f);
}

static void decision_clear(decision *d) {
    vector *vectors[] = {&d->x[0], &d->x[1], &d->x[2], &d->x[3], &d->u, &d->v, &d->r, &d->n};
    for (int i = 0; i < 8; i++) vector_clear(vectors[i]);
    rbt_polynomial *polynomials[] = {&d->f, &d->nn, &d->s[0], &d->s[1], &d->rest[0], &d->rest[1]};
    for (int i = 0; i < 6; i++) rbt_polynomial_clear(polynomials[i]);
    for (int i = 0; i < SIDES; i++) {
        rbt_polynomial_clear(&d->off[i]);
        rbt_polynomial_clear(&d->between[i]);
    }
}

// Vertex: x0 = x1 + (s0 u + s1 v) / nn. Edges: x0 + s0 / nn u = x2 + s1 / nn v. The rests are what is left to 1.
static void find_coordinates(decision *d) {
    add_dot(&d->n, &d->n, &d->nn);
    add_triple(&d->r, &d->v, &d->n, &d->s[0]);
    if (d->kind == RBT_VERTEX_TRIANGLE) add_triple(&d->u, &d->r, &d->n, &d->s[1]);
    else add_triple(&d->r, &d->u, &d->n, &d->s[1]);
    rbt_polynomial_subtract(&d->nn, &d->s[0], &d->rest[0]);
    if (d->kind == RBT_VERTEX_TRIANGLE) rbt_polynomial_subtract(&d->rest[0], &d->s[1], &d->rest[0]);
    else rbt_polynomial_subtract(&d->nn, &d->s[1], &d->rest[1]);
}

// Point and segment: which points of the pair.
static const int FACE_SIDES[3][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 1}};
static const int EDGE_SIDES[4][3] = {{0, 2, 3}, {1, 2, 3}, {2, 0, 1}, {3, 0, 1}};

static void find_sides(decision *d) {
    if (d->has_sides) return;
    d->has_sides = true;
    vector u, r, beyond, cross;
    for (int i = 0; i < d->side_count; i++) {
        const int *side = d->kind == RBT_VERTEX_TRIANGLE ? FACE_SIDES[i] : EDGE_SIDES[i];
        vector *all[] = {&u, &r, &beyond, &cross};
        for (int k = 0; k < 4; k++) vector_init(all[k]);
        subtract(&d->x[side[2]], &d->x[side[1]], &u);
        subtract(&d->x[side[0]], &d->x[side[1]], &r);
        subtract(&r, &u, &beyond);
        add_cross(&u, &r, &cross);
        add_dot(&cross, &cross, &d->off[i]);
        add_dot(&r, &beyond, &d->between[i]);
        for (int k = 0; k < 4; k++) vector_clear(all[k]);
    }
}

// Whether they meet at a time at which the four points lie in one plane.
static bool meet_at(rbt_root *t, void *context) {
    decision *d = context;
    if (rbt_polynomial_sign(&d->nn, t) > 0)
        return rbt_polynomial_sign(&d->s[0], t) >= 0 && rbt_polynomial_sign(&d->s[1], t) >= 0 &&
               rbt_polynomial_sign(&d->rest[0], t) >= 0 &&
               (d->kind == RBT_VERTEX_TRIANGLE || rbt_polynomial_sign(&d->rest[1], t) >= 0);
    find_sides(d);
    for (int i = 0; i < d->side_count; i++)
        if (rbt_polynomial_sign(&d->off[i], t) == 0 && rbt_polynomial_sign(&d->between[i], t) <= 0) return true;
    return false;
}

// All stay in one plane: the times at which a sign changes.
static bool meet_in_plane(decision *d, double *when) {
    find_sides(d);
    const rbt_polynomial *all[5 + 2 * SIDES] = {&d->nn, &d->s[0], &d->s[1], &d->rest[0], &d->rest[1]};
    for (int i = 0; i < SIDES; i++) {
        all[5 + i] = &d->off[i];
        all[5 + SIDES + i] = &d->between[i];
    }
    if (rbt_polynomial_find_root(&d->f, meet_at, d, when)) return true;  // f = 0: the ends
    for (int i = 0; i < 5 + 2 * SIDES; i++)
        if (all[i]->degree > 0 && rbt_polynomial_find_root(all[i], meet_at, d, when)) return true;
    return false;
}

bool rbt_paths_meet(const rbt_paths *paths, rbt_pair_kind kind, double *when) {
    decision d;
    *when = 0;
    decision_init(&d, paths, kind);
    bool meet = false;
    if (d.f.degree != 0) {  // a constant other than 0 has no roots
        find_coordinates(&d);
        meet = d.f.degree < 0 ? meet_in_plane(&d, when) : rbt_polynomial_find_root(&d.f, meet_at, &d, when);
    }
    decision_clear(&d);
    return meet;
}
