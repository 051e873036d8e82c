#include "energy/spring.h"

#include "math/vec3.h"

#include <string.h>

static double local(const rbt_group *group, size_t element, const double *x, double *force, rbt_stiffness_kind kind,
                    double *K) {
    const rbt_spring *spring = (const rbt_spring *)group->data + element;
    const int32_t *node = group->nodes + 2 * element;
    double along[3], u[3], k = spring->stiffness, L = spring->length;
    rbt_subtract(x + 3 * (size_t)node[1], x + 3 * (size_t)node[0], along);
    rbt_normalize(along, u);
    double l = rbt_length(along);
    for (int i = 0; force && i < 3; i++) {
        force[i] = k * (l - L) * u[i];
        force[3 + i] = -force[i];
    }
    // A spring of no length has no direction; the bound keeps its stiffness a number.
    double across = k * (1 - L / fmax(l, 1e-9 * L));
    if (kind != RBT_HESSIAN) across = fmax(across, 0);
    for (int i = 0; K && i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double entry = (k - across) * u[i] * u[j] + (i == j ? across : 0);
            K[6 * i + j] = K[6 * (3 + i) + 3 + j] = entry;
            K[6 * i + 3 + j] = K[6 * (3 + i) + j] = -entry;
        }
    return 0.5 * k * (l - L) * (l - L);
}

// The same numbers as from the local view, which works out more
static void gradient(const rbt_group *group, size_t first, size_t count, const double *x, double *energy,
                     double *result) {
    const rbt_spring *spring = (const rbt_spring *)group->data + first;
    const int32_t *node = group->nodes + 2 * first;
    for (size_t e = 0; e < count; e++, spring++, node += 2, result += 6) {
        double along[3], u[3];
        rbt_subtract(x + 3 * (size_t)node[1], x + 3 * (size_t)node[0], along);
        rbt_normalize(along, u);
        double l = rbt_length(along), pull = spring->stiffness * (l - spring->length);
        for (int i = 0; i < 3; i++) {
            result[3 + i] = pull * u[i];
            result[i] = -result[3 + i];
        }
        if (energy) energy[e] = 0.5 * spring->stiffness * (l - spring->length) * (l - spring->length);
    }
}

// The strain is the length, its rate l' = u . (v_1 - v_0): D v = +- k l' u, whose rate k (1/m_0 + 1/m_1) never changes.
static void damped_gradient(const rbt_group *group, size_t first, size_t count, const double *x, const double *v,
                            const double *beta, double *result) {
    const rbt_spring *spring = (const rbt_spring *)group->data + first;
    const int32_t *node = group->nodes + 2 * first;
    for (size_t e = 0; e < count; e++, spring++, node += 2, result += 6) {
        double along[3], apart[3], u[3];
        rbt_subtract(x + 3 * (size_t)node[1], x + 3 * (size_t)node[0], along);
        rbt_subtract(v + 3 * (size_t)node[1], v + 3 * (size_t)node[0], apart);
        rbt_normalize(along, u);
        double pull = spring->stiffness * (rbt_length(along) - spring->length + beta[e] * rbt_dot(u, apart));
        for (int i = 0; i < 3; i++) {
            result[3 + i] = pull * u[i];
            result[i] = -result[3 + i];
        }
    }
}

static double rate(const rbt_group *group, size_t element, const double *masses) {
    const rbt_spring *spring = (const rbt_spring *)group->data + element;
    return spring->stiffness * (1 / masses[0] + 1 / masses[1]);
}

// ---- Stiffening. A chain turns link by link, so the rest stiffness is taken as it lay, along u_0:
//   K_e / k = (1 - c) u u^T + c I <= u_0 u_0^T + d I,   c = max(0, 1 - L/l),   d = c + sqrt(1 - (u . u_0)^2),
// since u u^T - u_0 u_0^T has the eigenvalues +- sqrt(1 - (u . u_0)^2) and 0, and -c u u^T makes none of them larger.

static double modulus(const rbt_group *group, size_t e) { return ((const rbt_spring *)group->data + e)->stiffness; }

static double stiffening(const rbt_group *group, size_t e, const double *x) {
    const rbt_spring *spring = (const rbt_spring *)group->data + e;
    const int32_t *node = group->nodes + 2 * e;
    double along[3], u[3];
    rbt_subtract(x + 3 * (size_t)node[1], x + 3 * (size_t)node[0], along);
    rbt_normalize(along, u);
    double l = rbt_length(along), across = l > spring->length ? 1 - spring->length / l : 0;
    double turned = 1 - rbt_dot(u, spring->direction) * rbt_dot(u, spring->direction);
    return across + sqrt(fmax(turned, 0));
}

static void laplacian(const rbt_group *group, size_t e, double d, const double *p, double *y) {
    const int32_t *node = group->nodes + 2 * e;
    double along[3];
    rbt_subtract(p + 3 * (size_t)node[1], p + 3 * (size_t)node[0], along);
    rbt_add_scaled(y + 3 * (size_t)node[1], d, along);
    rbt_add_scaled(y + 3 * (size_t)node[0], -d, along);
}

const rbt_group_type RBT_SPRINGS = {
    .name = "springs",
    .corners = 2,
    .pairs = 3,
    .energy = rbt_group_energy,
    .gradient = gradient,
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
    .data_size = sizeof(rbt_spring),
};

bool rbt_spring_group_build(rbt_group *group, rbt_arena *arena, const double *X, const int32_t *nodes,
                            const int32_t *members, const double *stiffness, size_t count, rbt_error *error) {
    rbt_spring *springs = rbt_arena_take(arena, count, sizeof *springs);
    int32_t *ends = rbt_arena_take(arena, 2 * count, sizeof *ends);
    int32_t *numbers = rbt_arena_take(arena, count, sizeof *numbers);
    if (!springs || !ends || !numbers) return rbt_fail_memory(error, count * sizeof *springs, "springs");
    memcpy(ends, nodes, 2 * count * sizeof *ends);
    memcpy(numbers, members, count * sizeof *numbers);
    for (size_t e = 0; e < count; e++) {
        double along[3];
        rbt_subtract(X + 3 * (size_t)nodes[2 * e + 1], X + 3 * (size_t)nodes[2 * e], along);
        springs[e] = (rbt_spring){.stiffness = stiffness[e], .length = rbt_length(along)};
        rbt_normalize(along, springs[e].direction);
    }
    *group = (rbt_group){.type = &RBT_SPRINGS, .count = count, .nodes = ends, .members = numbers, .data = springs};
    return true;
}
