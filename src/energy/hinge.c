// The angle's derivatives, exact (compare Tamstorf and Grinspun 2013, "Discrete bending forces and their Jacobians"). With
// e = x_1 - x_0, a = x_2 - x_0, b = x_3 - x_0 and normals N = e x a, M = b x e:
//   d theta/dx_2 = p = |e| N/|N|^2,   d theta/dx_3 = q = |e| M/|M|^2
//   d theta/dx_1 = -(alpha p + beta q),   d theta/dx_0 = -((1 - alpha) p + (1 - beta) q),   alpha = a.e/|e|^2, beta = b.e/|e|^2
// p depends on e and a only, q on e and b only, which gives the rows of x_2 and x_3 of the second derivative; the row of x_1 is
// the derivative of the second line; x_0 follows since moving all nodes changes nothing.
//
// The projected Hessian has no short closed form: it is made by a Jacobi eigensolver on the 9x9 matrix that is left once
// translations are taken out.
#include "energy/hinge.h"

#include "math/symmetric.h"
#include "math/vec3.h"

#include <string.h>

typedef struct fold {
    double e[3], unit[3], a[3], b[3], n[3], m[3];  // n, m: unit normals
    double length, square;                         // |e| and |e|^2
    double p_size, q_size;                         // |p| and |q|: 1 / heights of the apexes
    double alpha, beta;
    double angle;
} fold;

// A triangle that has lost all its area has no normal and an infinitely sensitive angle: `floor` [m^2] bounds 2 A from below.
static fold fold_at(const double *x, const int32_t *node, double floor) {
    fold f;
    const double *x0 = x + 3 * (size_t)node[0];
    double N[3], M[3], across[3];
    rbt_subtract(x + 3 * (size_t)node[1], x0, f.e);
    rbt_subtract(x + 3 * (size_t)node[2], x0, f.a);
    rbt_subtract(x + 3 * (size_t)node[3], x0, f.b);
    rbt_cross(f.e, f.a, N);
    rbt_cross(f.b, f.e, M);
    rbt_normalize(f.e, f.unit);
    rbt_normalize(N, f.n);
    rbt_normalize(M, f.m);
    f.length = rbt_length(f.e);
    f.square = fmax(f.length * f.length, floor);
    f.p_size = f.length / fmax(rbt_length(N), floor);
    f.q_size = f.length / fmax(rbt_length(M), floor);
    f.alpha = rbt_dot(f.a, f.e) / f.square;
    f.beta = rbt_dot(f.b, f.e) / f.square;
    rbt_cross(M, N, across);
    f.angle = atan2(rbt_dot(across, f.unit), rbt_dot(M, N));
    return f;
}

double rbt_hinge_angle(const double *x, const int32_t nodes[4]) { return fold_at(x, nodes, 0x1p-1000).angle; }

// d theta/dx (12)
static void angle_gradient(const fold *f, double g[12]) {
    for (int i = 0; i < 3; i++) {
        double p = f->p_size * f->n[i], q = f->q_size * f->m[i];
        g[i] = -((1 - f->alpha) * p + (1 - f->beta) * q);
        g[3 + i] = -(f->alpha * p + f->beta * q);
        g[6 + i] = p;
        g[9 + i] = q;
    }
}

// D = scale (I - 2 n n^T) [y]x : the change of a normal over its square, for d(normal) = y x d
static void reflected_cross(double scale, const double n[3], const double y[3], double D[3][3]) {
    const double C[3][3] = {{0, -y[2], y[1]}, {y[2], 0, -y[0]}, {-y[1], y[0], 0}};
    double nC[3];
    rbt_cross(n, y, nC);  // n^T [y]x
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) D[i][j] = scale * (C[i][j] - 2 * n[i] * nC[j]);
}

// The blocks of one apex (its unit normal n, |p| = size, edge vector c = x_apex - x_0, t = c.e/|e|^2; side 1 for e x a, -1 for
// b x e): own = dp/dx_apex, edge = dp/dx_1, and its part of the block of x_1.
static void apex_blocks(const fold *f, double side, const double n[3], double size, const double c[3], double t,
                        double own[3][3], double edge[3][3], double middle[3][3]) {
    double scale = f->length > 0 ? side * size * size / f->length : 0;  // |e| / |N|^2
    reflected_cross(scale, n, f->e, own);
    reflected_cross(-scale, n, c, edge);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            if (f->length > 0) edge[i][j] += size * n[i] * f->unit[j] / f->length;
            middle[i][j] -= size * n[i] * (c[j] - 2 * t * f->e[j]) / f->square + t * edge[i][j];
        }
}

// d^2 theta/dx^2 (12 x 12) times scale, added to K
static void add_angle_hessian(const fold *f, double scale, double *K) {
    double block[4][4][3][3] = {0};  // [a][b] for a >= b
    apex_blocks(f, 1, f->n, f->p_size, f->a, f->alpha, block[2][2], block[2][1], block[1][1]);
    apex_blocks(f, -1, f->m, f->q_size, f->b, f->beta, block[3][3], block[3][1], block[1][1]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++)  // symmetric but for rounding
            block[1][1][i][j] = block[1][1][j][i] = 0.5 * (block[1][1][i][j] + block[1][1][j][i]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            block[2][0][i][j] = -(block[2][2][i][j] + block[2][1][i][j]);
            block[3][0][i][j] = -(block[3][3][i][j] + block[3][1][i][j]);
            block[1][0][i][j] = -(block[1][1][i][j] + block[2][1][j][i] + block[3][1][j][i]);
        }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++)
            block[0][0][i][j] = block[0][0][j][i] =
                -0.5 * (block[1][0][i][j] + block[1][0][j][i] + block[2][0][i][j] + block[2][0][j][i] +
                        block[3][0][i][j] + block[3][0][j][i]);
    for (int a = 0; a < 4; a++)
        for (int b = 0; b <= a; b++)
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    K[12 * (3 * a + i) + 3 * b + j] += scale * block[a][b][i][j];
                    if (a != b) K[12 * (3 * b + j) + 3 * a + i] += scale * block[a][b][i][j];
                }
}

// Replaces the negative eigenvalues of K by 0. K knows nothing of translations: in an orthonormal frame of what is left of
// four nodes without them it is 9x9.
static void project(double *K) {
    const double r2 = sqrt(1.0 / 2), r6 = sqrt(1.0 / 6), r12 = sqrt(1.0 / 12);
    const double Q[3][4] = {{r2, -r2, 0, 0}, {r6, r6, -2 * r6, 0}, {r12, r12, r12, -3 * r12}};
    double half[108] = {0}, A[81] = {0}, V[81];
    for (int r = 0; r < 9; r++)
        for (int a = 0; a < 4; a++)
            for (int c = 0; c < 12; c++) half[12 * r + c] += Q[r / 3][a] * K[12 * (3 * a + r % 3) + c];
    for (int r = 0; r < 9; r++)
        for (int s = 0; s < 9; s++)
            for (int b = 0; b < 4; b++) A[9 * r + s] += Q[s / 3][b] * half[12 * r + 3 * b + s % 3];
    rbt_symmetric_eigen(9, A, V);
    for (int k = 0; k < 9; k++) {
        double value = A[10 * k], mode[12] = {0};
        if (!(value < 0)) continue;
        for (int r = 0; r < 9; r++)
            for (int a = 0; a < 4; a++) mode[3 * a + r % 3] += Q[r / 3][a] * V[9 * r + k];
        for (int i = 0; i < 12; i++)
            for (int j = 0; j < 12; j++) K[12 * i + j] -= value * mode[i] * mode[j];
    }
}

static double local(const rbt_group *group, size_t element, const double *x, double *force, rbt_stiffness_kind kind,
                    double *K) {
    const rbt_hinge *hinge = (const rbt_hinge *)group->data + element;
    fold f = fold_at(x, group->nodes + 4 * element, 1e-8 * hinge->area);
    double more = remainder(f.angle - hinge->rest_angle, 2 * M_PI), g[12];
    if (force || K) angle_gradient(&f, g);
    for (int i = 0; force && i < 12; i++) force[i] = -hinge->weight * more * g[i];
    if (K) {
        for (int i = 0; i < 144; i++) K[i] = hinge->weight * g[i / 12] * g[i % 12];
        add_angle_hessian(&f, hinge->weight * more, K);
        if (kind == RBT_PROJECTED && more != 0) project(K);
    }
    return 0.5 * hinge->weight * more * more;
}

// At rest K = weight g g^T, of rank one
static double rate(const rbt_group *group, size_t element, const double *masses) {
    const rbt_hinge *hinge = (const rbt_hinge *)group->data + element;
    double sum = 0;
    for (int a = 0; a < 4; a++) sum += hinge->slope[a] / masses[a];
    return hinge->weight * sum;
}

const rbt_group_type RBT_HINGES = {
    .name = "hinges",
    .corners = 4,
    .pairs = 10,
    .energy = rbt_group_energy,
    .gradient = rbt_group_gradient,
    .stiffness = rbt_group_stiffness,
    .local = local,
    .rate = rate,
};

static rbt_hinge rest(const double *X, const int32_t *node, double bending) {
    fold f = fold_at(X, node, 0x1p-1000);
    double N[3], M[3], g[12];
    rbt_cross(f.e, f.a, N);
    rbt_cross(f.b, f.e, M);
    double area = 0.5 * (rbt_length(N) + rbt_length(M));
    rbt_hinge hinge = {.weight = bending * f.square / area, .rest_angle = f.angle, .area = area};
    angle_gradient(&f, g);
    for (int a = 0; a < 4; a++) hinge.slope[a] = rbt_dot(g + 3 * a, g + 3 * a);
    return hinge;
}

bool rbt_hinge_group_build(rbt_group *group, rbt_arena *arena, const double *X, const int32_t *nodes,
                           const int32_t *members, const double *bending, size_t count, rbt_error *error) {
    rbt_hinge *hinges = rbt_arena_take(arena, count, sizeof *hinges);
    int32_t *corners = rbt_arena_take(arena, 4 * count, sizeof *corners);
    int32_t *numbers = rbt_arena_take(arena, count, sizeof *numbers);
    if (!hinges || !corners || !numbers) return rbt_fail_memory(error, count * sizeof *hinges, "hinges");
    memcpy(corners, nodes, 4 * count * sizeof *corners);
    memcpy(numbers, members, count * sizeof *numbers);
    for (size_t e = 0; e < count; e++) hinges[e] = rest(X, nodes + 4 * e, bending[e]);
    *group = (rbt_group){.type = &RBT_HINGES, .count = count, .nodes = corners, .members = numbers, .data = hinges};
    return true;
}
