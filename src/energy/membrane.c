#include "energy/membrane.h"

#include "math/symmetric.h"
#include "math/vec3.h"

#include <string.h>

typedef struct strained {  // a triangle at x
    double f[2][3];        // columns of F
    double E[3], S[3];     // Green strain and second Piola-Kirchhoff stress: 11, 22, 12
    double g[3][2];        // dF = sum_a dx_a g_a^T
} strained;

static strained strain(const rbt_membrane *m, const int32_t *node, const double *x) {
    strained s;
    double d[2][3];
    for (int a = 0; a < 2; a++) rbt_subtract(x + 3 * (size_t)node[a + 1], x + 3 * (size_t)node[0], d[a]);
    for (int j = 0; j < 2; j++) {
        s.g[1][j] = m->B[j];
        s.g[2][j] = m->B[2 + j];
        s.g[0][j] = -(m->B[j] + m->B[2 + j]);
        for (int i = 0; i < 3; i++) s.f[j][i] = d[0][i] * m->B[j] + d[1][i] * m->B[2 + j];
    }
    s.E[0] = 0.5 * (rbt_dot(s.f[0], s.f[0]) - 1);
    s.E[1] = 0.5 * (rbt_dot(s.f[1], s.f[1]) - 1);
    s.E[2] = 0.5 * rbt_dot(s.f[0], s.f[1]);
    double trace = s.E[0] + s.E[1];
    for (int k = 0; k < 3; k++) s.S[k] = 2 * m->mu * s.E[k] + (k < 2 ? m->lambda * trace : 0);
    return s;
}

static double density(const rbt_membrane *m, const strained *s) {
    double trace = s->E[0] + s->E[1];
    return m->mu * (s->E[0] * s->E[0] + s->E[1] * s->E[1] + 2 * s->E[2] * s->E[2]) + 0.5 * m->lambda * trace * trace;
}

// y = F g
static void apply(const strained *s, const double g[2], double y[3]) {
    for (int i = 0; i < 3; i++) y[i] = s->f[0][i] * g[0] + s->f[1][i] * g[1];
}

// -dW/dx_a = -t A F S g_a
static void forces(const rbt_membrane *m, const strained *s, double *force) {
    for (int a = 0; a < 3; a++) {
        const double *g = s->g[a], Sg[2] = {s->S[0] * g[0] + s->S[2] * g[1], s->S[2] * g[0] + s->S[1] * g[1]};
        apply(s, Sg, force + 3 * a);
        for (int i = 0; i < 3; i++) force[3 * a + i] *= -m->volume;
    }
}

// K_ab = t A [ (g_a . S g_b) I + mu ((g_a . g_b) F F^T + (F g_b)(F g_a)^T) + lambda (F g_a)(F g_b)^T ]
static void hessian(const rbt_membrane *m, const strained *s, double *K) {
    double y[3][3], FF[3][3];
    for (int a = 0; a < 3; a++) apply(s, s->g[a], y[a]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) FF[i][j] = s->f[0][i] * s->f[0][j] + s->f[1][i] * s->f[1][j];
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            const double *g = s->g[a], *h = s->g[b];
            double both = g[0] * h[0] + g[1] * h[1];
            double stress = s->S[0] * g[0] * h[0] + s->S[1] * g[1] * h[1] + s->S[2] * (g[0] * h[1] + g[1] * h[0]);
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    K[9 * (3 * a + i) + 3 * b + j] =
                        m->volume * ((i == j ? stress : 0) + m->mu * (both * FF[i][j] + y[b][i] * y[a][j]) +
                                     m->lambda * y[a][i] * y[b][j]);
        }
}

// ---- The projection, closed-form
//
// With F = U diag(s_1, s_2) V^T, U (3 x 3), and principal stresses S_i, d^2psi/dF^2 has six eigenpairs:
//   scaling    u_1 v_1^T and u_2 v_2^T, mixed by the 2x2 matrix  S_i + (2 mu + lambda) s_i^2,  lambda s_1 s_2
//   twist      (u_1 v_2^T - u_2 v_1^T)/sqrt 2:   (S_1 + S_2 + mu (s_1 - s_2)^2)/2
//   flip       (u_1 v_2^T + u_2 v_1^T)/sqrt 2:   (S_1 + S_2 + mu (s_1 + s_2)^2)/2
//   outwards   u_3 v_i^T:                        S_i
// (quotients (s_1 S_1 +- s_2 S_2)/(s_1 +- s_2) with S_1 - S_2 = mu (s_1^2 - s_2^2) put in, so nothing is divided.)

typedef struct principal {
    double s[2], u[3][3], v[2][2];
} principal;

static principal decompose(const strained *s) {
    principal p;
    double turn = 0.5 * atan2(4 * s->E[2], 2 * (s->E[0] - s->E[1])), y[2][3];
    p.v[0][0] = p.v[1][1] = cos(turn);
    p.v[0][1] = sin(turn);
    p.v[1][0] = -p.v[0][1];
    for (int k = 0; k < 2; k++) {
        apply(s, p.v[k], y[k]);
        p.s[k] = rbt_length(y[k]);
    }
    rbt_normalize(y[0], p.u[0]);
    rbt_add_scaled(y[1], -rbt_dot(p.u[0], y[1]), p.u[0]);
    if (!(rbt_length(y[1]) > 1e-12 * p.s[0])) {  // a needle or a point: any direction across it will do
        double axis[3] = {0};
        axis[fabs(p.u[0][0]) < 0.6 ? 0 : 1] = 1;
        rbt_cross(p.u[0], axis, y[1]);
    }
    rbt_normalize(y[1], p.u[1]);
    rbt_cross(p.u[0], p.u[1], p.u[2]);
    return p;
}

// K += scale y y^T, y (9)
static void add_mode(double scale, const double y[9], double *K) {
    if (!(scale > 0)) return;
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 9; j++) K[9 * i + j] += scale * y[i] * y[j];
}

static void projected(const rbt_membrane *m, const strained *strained_at, double *K) {
    principal p = decompose(strained_at);
    double s0 = p.s[0], s1 = p.s[1], E0 = 0.5 * (s0 * s0 - 1), E1 = 0.5 * (s1 * s1 - 1);
    double S0 = 2 * m->mu * E0 + m->lambda * (E0 + E1), S1 = 2 * m->mu * E1 + m->lambda * (E0 + E1);
    double A0 = S0 + (2 * m->mu + m->lambda) * s0 * s0, A1 = S1 + (2 * m->mu + m->lambda) * s1 * s1;
    double mixed = m->lambda * s0 * s1, turn = 0.5 * atan2(2 * mixed, A0 - A1), c = cos(turn), s = sin(turn);
    double root = hypot(0.5 * (A0 - A1), mixed), half = sqrt(0.5), mean = 0.5 * (S0 + S1);
    const double value[6] = {0.5 * (A0 + A1) + root,
                             0.5 * (A0 + A1) - root,
                             mean + 0.5 * m->mu * (s0 - s1) * (s0 - s1),
                             mean + 0.5 * m->mu * (s0 + s1) * (s0 + s1),
                             S0,
                             S1};
    double mode[6][9];
    for (int a = 0; a < 3; a++) {
        const double *g = strained_at->g[a];
        double along = g[0] * p.v[0][0] + g[1] * p.v[0][1], across = g[0] * p.v[1][0] + g[1] * p.v[1][1];
        for (int i = 0; i < 3; i++) {
            double u0 = p.u[0][i], u1 = p.u[1][i], u2 = p.u[2][i];
            mode[0][3 * a + i] = c * along * u0 + s * across * u1;
            mode[1][3 * a + i] = -s * along * u0 + c * across * u1;
            mode[2][3 * a + i] = half * (across * u0 - along * u1);
            mode[3][3 * a + i] = half * (across * u0 + along * u1);
            mode[4][3 * a + i] = along * u2;
            mode[5][3 * a + i] = across * u2;
        }
    }
    memset(K, 0, 81 * sizeof *K);
    for (int k = 0; k < 6; k++) add_mode(m->volume * value[k], mode[k], K);
}

// ---- The type

static double local(const rbt_group *group, size_t element, const double *x, double *force, rbt_stiffness_kind kind,
                    double *K) {
    const rbt_membrane *m = (const rbt_membrane *)group->data + element;
    strained s = strain(m, group->nodes + 3 * element, x);
    if (force) forces(m, &s, force);
    if (K && kind != RBT_HESSIAN) projected(m, &s, K);
    else if (K) hessian(m, &s, K);
    return m->volume * density(m, &s);
}

// The strain is Green's: E' = sym(F^T F'), D v = t A F (phi C : E') g_a. Corners that move by u strain the triangle
// at rest as U u, F = R U, do this one, so the rate of D is at most phi lambda_max(U^2) times that at rest;
// lambda_max <= 1 + 2 |E|.
static void add_viscous_stress(const rbt_membrane *m, const int32_t *node, const double *v, double beta,
                               strained *s) {
    double d[2][3], f[2][3];
    for (int a = 0; a < 2; a++) rbt_subtract(v + 3 * (size_t)node[a + 1], v + 3 * (size_t)node[0], d[a]);
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 3; i++) f[j][i] = d[0][i] * m->B[j] + d[1][i] * m->B[2 + j];
    double rate[3] = {rbt_dot(s->f[0], f[0]), rbt_dot(s->f[1], f[1]),
                      0.5 * (rbt_dot(s->f[0], f[1]) + rbt_dot(s->f[1], f[0]))};
    double size = sqrt(s->E[0] * s->E[0] + s->E[1] * s->E[1] + 2 * s->E[2] * s->E[2]);
    double scale = beta / (1 + 2 * size), trace = rate[0] + rate[1];
    for (int k = 0; k < 3; k++) s->S[k] += scale * (2 * m->mu * rate[k] + (k < 2 ? m->lambda * trace : 0));
}

static void damped_gradient(const rbt_group *group, size_t first, size_t count, const double *x, const double *v,
                            const double *beta, double *result) {
    const rbt_membrane *m = (const rbt_membrane *)group->data + first;
    const int32_t *node = group->nodes + 3 * first;
    for (size_t e = 0; e < count; e++, m++, node += 3, result += 9) {
        strained s = strain(m, node, x);
        if (beta[e] > 0) add_viscous_stress(m, node, v, beta[e], &s);
        forces(m, &s, result);
        for (int i = 0; i < 9; i++) result[i] = -result[i];
    }
}

// At rest K = t A sum b C b^T, where corner a moving by u in the plane strains by b_a u = sym(u g_a^T). In the frame
// of strains (e11 + e22, e11 - e22, 2 e12)/sqrt 2 the moduli C are diagonal, so the rate is that of a 3x3 matrix.
static double rate(const rbt_group *group, size_t element, const double *masses) {
    const rbt_membrane *m = (const rbt_membrane *)group->data + element;
    const double moduli[3] = {2 * (m->mu + m->lambda), 2 * m->mu, 2 * m->mu};
    double A[9] = {0}, largest = 0;
    for (int a = 0; a < 3; a++) {
        double g0 = a ? m->B[2 * a - 2] : -(m->B[0] + m->B[2]), g1 = a ? m->B[2 * a - 1] : -(m->B[1] + m->B[3]);
        const double b[3][2] = {{g0, g1}, {g0, -g1}, {g1, g0}};
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                A[3 * i + j] += 0.5 * m->volume / masses[a] * sqrt(moduli[i] * moduli[j]) *
                                (b[i][0] * b[j][0] + b[i][1] * b[j][1]);
    }
    rbt_symmetric_eigen(3, A, NULL);
    for (int i = 0; i < 9; i += 4) largest = fmax(largest, A[i]);
    return largest;
}

// ---- Stiffening: the eigenvalues above, minus those at rest

static double modulus(const rbt_group *group, size_t e) {
    const rbt_membrane *m = (const rbt_membrane *)group->data + e;
    return 2 * m->mu + m->lambda;
}

static double stiffening(const rbt_group *group, size_t e, const double *x) {
    const rbt_membrane *m = (const rbt_membrane *)group->data + e;
    strained at = strain(m, group->nodes + 3 * e, x);
    double trace = at.E[0] + at.E[1], root = hypot(at.E[0] - at.E[1], 2 * at.E[2]), P = 2 * m->mu + m->lambda;
    double E[2] = {0.5 * (trace + root), 0.5 * (trace - root)}, s[2], S[2], A[2];
    for (int k = 0; k < 2; k++) {
        s[k] = sqrt(fmax(1 + 2 * E[k], 0));
        S[k] = 2 * m->mu * E[k] + m->lambda * trace;
        A[k] = S[k] + P * (s[k] * s[k] - 1);
    }
    double mean = 0.5 * (S[0] + S[1]), mixed = m->lambda * (s[0] * s[1] - 1);
    double most = fmax(0.5 * (A[0] + A[1]) + hypot(0.5 * (A[0] - A[1]), mixed), fmax(S[0], S[1]));
    most = fmax(most, mean + 0.5 * m->mu * (s[0] - s[1]) * (s[0] - s[1]));
    most = fmax(most, mean + 0.5 * m->mu * (s[0] + s[1]) * (s[0] + s[1]) - 2 * m->mu);
    return fmax(most, 0) / P;
}

static void laplacian(const rbt_group *group, size_t e, double d, const double *p, double *y) {
    const rbt_membrane *m = (const rbt_membrane *)group->data + e;
    const int32_t *node = group->nodes + 3 * e;
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++) {
            const double *g = m->B + 2 * a, *h = m->B + 2 * b;
            double scale = m->volume * d * (g[0] * h[0] + g[1] * h[1]), along[3];
            rbt_subtract(p + 3 * (size_t)node[b + 1], p + 3 * (size_t)node[0], along);
            rbt_add_scaled(y + 3 * (size_t)node[a + 1], scale, along);
            rbt_add_scaled(y + 3 * (size_t)node[0], -scale, along);
        }
}

const rbt_group_type RBT_MEMBRANES = {
    .name = "membranes",
    .corners = 3,
    .pairs = 6,
    .energy = rbt_group_energy,
    .gradient = rbt_group_gradient,
    .stiffness = rbt_group_stiffness,
    .local = local,
    .rate = rate,
    .damped_gradient = damped_gradient,
    .tangent_size = rbt_group_tangent_size,
    .tangent = rbt_group_tangent,
    .apply = rbt_group_apply,
    .modulus = modulus,
    .stiffening = stiffening,
    .laplacian = laplacian,
    .data_size = sizeof(rbt_membrane),
};

static rbt_membrane rest(const double *X, const int32_t *node, const rbt_sheet *sheet) {
    double edge[2][3], u[3], n[3];
    for (int a = 0; a < 2; a++) rbt_subtract(X + 3 * (size_t)node[a + 1], X + 3 * (size_t)node[0], edge[a]);
    rbt_normalize(edge[0], u);
    rbt_cross(edge[0], edge[1], n);
    // Edges (l, 0) and (along, height) in the frame of the first edge and the direction across it
    double l = rbt_length(edge[0]), along = rbt_dot(edge[1], u), height = rbt_length(n) / l;
    return (rbt_membrane){
        .B = {1 / l, -along / (l * height), 0, 1 / height},
        .volume = 0.5 * l * height * sheet->thickness,
        .mu = sheet->young / (2 * (1 + sheet->poisson)),
        .lambda = sheet->young * sheet->poisson / (1 - sheet->poisson * sheet->poisson),
    };
}

bool rbt_membrane_group_build(rbt_group *group, rbt_arena *arena, const double *X, const int32_t *triangles,
                              const int32_t *members, const rbt_sheet *sheets, size_t count, rbt_error *error) {
    rbt_membrane *membranes = rbt_arena_take(arena, count, sizeof *membranes);
    int32_t *nodes = rbt_arena_take(arena, 3 * count, sizeof *nodes);
    int32_t *numbers = rbt_arena_take(arena, count, sizeof *numbers);
    if (!membranes || !nodes || !numbers) return rbt_fail_memory(error, count * sizeof *membranes, "membranes");
    memcpy(numbers, members, count * sizeof *numbers);
    for (size_t e = 0; e < count; e++) {
        memcpy(nodes + 3 * e, triangles + 3 * (size_t)members[e], 3 * sizeof *nodes);
        membranes[e] = rest(X, nodes + 3 * e, &sheets[e]);
    }
    *group =
        (rbt_group){.type = &RBT_MEMBRANES, .count = count, .nodes = nodes, .members = numbers, .data = membranes};
    return true;
}

// Principal Cauchy stresses s_i^2 S_i / (s_1 s_2); 0 for a triangle that has lost its area, where they have no value.
void rbt_membrane_group_von_mises(const rbt_group *group, const double *x, double *stress) {
#pragma omp parallel for schedule(static)
    for (size_t e = 0; e < group->count; e++) {
        const rbt_membrane *m = (const rbt_membrane *)group->data + e;
        strained at = strain(m, group->nodes + 3 * e, x);
        principal p = decompose(&at);
        double E0 = 0.5 * (p.s[0] * p.s[0] - 1), E1 = 0.5 * (p.s[1] * p.s[1] - 1), ratio = p.s[0] * p.s[1];
        double a = p.s[0] * p.s[0] * (2 * m->mu * E0 + m->lambda * (E0 + E1)),
               b = p.s[1] * p.s[1] * (2 * m->mu * E1 + m->lambda * (E0 + E1));
        stress[group->members[e]] = ratio > 1e-12 ? sqrt(a * a - a * b + b * b) / ratio : 0;
    }
}
