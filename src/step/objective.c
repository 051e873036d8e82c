#include "step/objective.h"

#include "base/threads.h"
#include "math/vec3.h"
#include "math/vector.h"

#include <math.h>
#include <string.h>

// The face opposite corner a of a tet in rest position [m^2]
static double opposite_area(const double *X, const int32_t *tet, int a) {
    const double *p[3];
    double u[3], v[3], n[3];
    for (int k = 0, i = 0; k < 4; k++)
        if (k != a) p[i++] = X + 3 * (size_t)tet[k];
    rbt_subtract(p[1], p[0], u);
    rbt_subtract(p[2], p[0], v);
    rbt_cross(u, v, n);
    return 0.5 * rbt_length(n);
}

void rbt_small_strain_lame(const rbt_material_def *def, double *mu, double *lambda) {
    bool no_volume = rbt_material_at(def->model)->ignores_poisson;
    *mu = def->young / (2 * (1 + def->poisson));
    *lambda = no_volume ? 0 : 2 * *mu * def->poisson / (1 - 2 * def->poisson);
}

// Frobenius norm of the 9x9 second derivative of the energy density at rest, which is that of linear elasticity for every
// material: |2 mu sym + lambda I (x) I|^2 = 24 mu^2 + 12 mu lambda + 9 lambda^2.
static double rest_stiffness_norm(const rbt_material_def *def) {
    double mu, lambda;
    rbt_small_strain_lame(def, &mu, &lambda);
    return sqrt(24 * mu * mu + 12 * mu * lambda + 9 * lambda * lambda);
}

static bool characteristic_force(rbt_objective *o, rbt_error *error) {
    const rbt_model *m = o->model;
    double *sum = rbt_array_new(m->node_count, sizeof *sum, "a norm", error), square = 0;
    if (!sum) return false;
    for (size_t t = 0; t < m->tet_count; t++) {
        const int32_t *n = m->tets + 4 * t;
        double stiffness = rest_stiffness_norm(&m->regions[m->tet_region[t]].material);
        for (int a = 0; a < 4; a++) sum[n[a]] += stiffness * opposite_area(m->X, n, a);
        o->unit_energy += stiffness * rbt_tet_volume(m->X + 3 * (size_t)n[0], m->X + 3 * (size_t)n[1],
                                                     m->X + 3 * (size_t)n[2], m->X + 3 * (size_t)n[3]);
    }
    for (size_t n = 0; n < m->node_count; n++) square += sum[n] * sum[n];
    o->characteristic = sqrt(square);
    o->unit_energy += m->sheet_energy;
    free(sum);
    return true;
}

bool rbt_objective_init(rbt_objective *o, const rbt_model *m, rbt_error *error) {
    *o = (rbt_objective){.model = m, .arena = rbt_arena_new()};
    if (!o->arena || !rbt_stiffness_build(&o->stiffness, m, error) || !characteristic_force(o, error)) {
        rbt_objective_free(o);
        return false;
    }
    size_t blocks = o->stiffness.K.start[m->node_count], values = 3 * m->node_count;
    bool damped = false;
    for (size_t b = 0; b < m->body_count; b++) damped |= m->bodies[b].damping.stiffness > 0;
    o->H = o->stiffness.K;
    bool ok = (o->H.value = rbt_arena_take(o->arena, 9 * blocks, sizeof(double))) &&
              (o->target = rbt_arena_take(o->arena, values, sizeof(double))) &&
              (o->force = rbt_arena_take(o->arena, values, sizeof(double))) &&
              (o->product = rbt_arena_take(o->arena, values, sizeof(double))) &&
              (o->energies = rbt_arena_take(o->arena, m->plan.chunk_count, sizeof(double))) &&
              (o->partial = rbt_arena_take(o->arena, 3 * m->plan.slot_count, sizeof(double))) &&
              (o->held = rbt_arena_take(o->arena, m->node_count, 1));
    if (ok && damped) ok = (o->damping = rbt_arena_take(o->arena, 9 * blocks, sizeof(double))) != NULL;
    if (ok && m->obstacles.count)
        ok = (o->contact = rbt_arena_take(o->arena, 9 * m->node_count, sizeof(double))) != NULL;
    ok = ok && (o->external = rbt_arena_take(o->arena, values, sizeof(double))) &&
         (o->inertia = rbt_arena_take(o->arena, values, sizeof(double))) &&
         rbt_mass_build(&o->mass, o->arena, m, &o->stiffness.K, error);
    if (ok) return true;
    rbt_fail_memory(error, 9 * blocks * sizeof(double), "a step's matrix");
    rbt_objective_free(o);
    return false;
}

void rbt_objective_free(rbt_objective *o) {
    rbt_stiffness_free(&o->stiffness);
    rbt_arena_free(o->arena);
    *o = (rbt_objective){0};
}

void rbt_objective_freeze_damping(rbt_objective *o, const double *x) {
    const rbt_model *m = o->model;
    if (!o->damping) return;
    rbt_stiffness_assemble(&o->stiffness, m, RBT_PROJECTED, x);
    const rbt_block_matrix *K = &o->stiffness.K;
#pragma omp parallel for schedule(static) if (m->node_count >= RBT_PARALLEL_FROM)
    for (size_t n = 0; n < m->node_count; n++) {
        double beta = m->bodies[m->node_body[n]].damping.stiffness;
        for (size_t i = 9 * K->start[n]; i < 9 * K->start[n + 1]; i++) o->damping[i] = beta * K->value[i];
    }
}

// product = D (z - b), and returns (z - b)^T D (z - b). D = alpha M + beta K.
static double damp(rbt_objective *o, const double *z) {
    const rbt_model *m = o->model;
    size_t values = 3 * m->node_count;
    double sum = 0;
    for (size_t i = 0; i < values; i++) o->force[i] = z[i] - o->base[i];
    if (o->damping) {
        rbt_block_matrix D = o->H;
        D.value = o->damping;
        rbt_block_matrix_product(&D, o->force, o->product);
    } else memset(o->product, 0, values * sizeof(double));
    rbt_mass_product(&o->mass, o->force, o->inertia);
    for (size_t i = 0; i < values; i++) {
        o->product[i] += m->bodies[m->node_body[i / 3]].damping.mass * o->inertia[i];
        sum += o->product[i] * o->force[i];
    }
    return sum;
}

static bool is_damped(const rbt_model *m) {
    for (size_t b = 0; b < m->body_count; b++)
        if (m->bodies[b].damping.stiffness > 0 || m->bodies[b].damping.mass > 0) return true;
    return false;
}

// What a range of nodes adds to 1/2 |z - y|_M^2 + tau^2 (C(z) - f_ext.(z - y)). Held nodes of a lumped M would only add a
// constant, which costs digits: they are left out. With a gradient, o->force holds all forces at z, and o->inertia M (z - y) if M
// is not lumped.
static double node_terms(const rbt_objective *o, const double *z, bool damped, size_t begin, size_t end,
                         double *gradient) {
    const rbt_model *m = o->model;
    double inertia = 0, outside = 0, tau2 = o->tau * o->tau;
    bool coupled = o->mass.matrix.value != NULL;
    for (size_t n = begin; n < end; n++) {
        double moved[3], pushed[3];
        for (size_t i = 0; i < 3; i++) {
            moved[i] = o->held[n] && !coupled ? 0 : z[3 * n + i] - o->target[3 * n + i];
            pushed[i] = coupled ? o->inertia[3 * n + i] : m->mass[n] * moved[i];
        }
        inertia += 0.5 * rbt_dot(moved, pushed);
        if (!o->held[n]) {
            outside -= rbt_dot(o->external + 3 * n, moved);
            if (m->obstacles.count && m->node_area[n] > 0)
                outside += rbt_obstacles_node(&m->obstacles, z + 3 * n, m->node_area[n], NULL, NULL);
        }
        for (size_t i = 3 * n; gradient && i < 3 * n + 3; i++)
            gradient[i] =
                o->held[n] ? 0 : pushed[i - 3 * n] - tau2 * o->force[i] + (damped ? o->tau * o->product[i] : 0);
    }
    return inertia + tau2 * outside;
}

// The same of all nodes, summed over pieces that depend on the model alone.
static double all_node_terms(const rbt_objective *o, const double *z, bool damped, double *gradient) {
    enum { PIECES = 64 };
    size_t nodes = o->model->node_count;
    double part[PIECES], sum = 0;
#pragma omp parallel for schedule(static) if (nodes >= RBT_PARALLEL_FROM)
    for (size_t p = 0; p < PIECES; p++)
        part[p] = node_terms(o, z, damped, nodes * p / PIECES, nodes * (p + 1) / PIECES, gradient);
    for (size_t p = 0; p < PIECES; p++) sum += part[p];
    return sum;
}

// o->inertia = M (z - y) for an M that is not lumped
static void couple_inertia(rbt_objective *o, const double *z) {
    if (!o->mass.matrix.value) return;
    rbt_vector_combine(3 * o->model->node_count, o->force, z, -1, o->target);
    rbt_mass_product(&o->mass, o->force, o->inertia);
}

double rbt_objective_value(rbt_objective *o, const double *z) {
    double value = o->tau * o->tau * rbt_energy_elastic(o->model, z, o->energies);
    if (is_damped(o->model)) value += 0.5 * o->tau * damp(o, z);
    couple_inertia(o, z);
    value += all_node_terms(o, z, false, NULL);
    return isnan(value) ? INFINITY : value;
}

double rbt_objective_gradient(rbt_objective *o, const double *z, double *gradient) {
    const rbt_model *m = o->model;
    double tau2 = o->tau * o->tau, elastic = 0, damping = 0;
    bool damped = is_damped(m);
    if (damped) damping = 0.5 * o->tau * damp(o, z);
    couple_inertia(o, z);
    rbt_vector_copy(3 * m->node_count, o->force, o->external);
    rbt_force_elastic(m, z, o->energies, o->partial, o->force);
    rbt_force_contact(m, z, o->force, NULL);
    for (size_t c = 0; c < m->plan.chunk_count; c++) elastic += o->energies[c];
    double value = all_node_terms(o, z, damped, gradient) + tau2 * elastic + damping;
    return isnan(value) ? INFINITY : value;
}

void rbt_objective_hessian(rbt_objective *o, const double *z) {
    const rbt_model *m = o->model;
    const rbt_block_matrix *K = &o->stiffness.K;
    double tau2 = o->tau * o->tau;
    rbt_stiffness_assemble(&o->stiffness, m, RBT_PROJECTED, z);
    if (o->contact) {
        memset(o->force, 0, 3 * m->node_count * sizeof(double));
        rbt_force_contact(m, z, o->force, o->contact);
    }
#pragma omp parallel for schedule(static) if (m->node_count >= RBT_PARALLEL_FROM)
    for (size_t n = 0; n < m->node_count; n++) {
        double *diagonal = o->H.value + 9 * (K->start[n + 1] - 1);
        for (size_t i = 9 * K->start[n]; i < 9 * K->start[n + 1]; i++)
            o->H.value[i] = tau2 * K->value[i] + (o->damping ? o->tau * o->damping[i] : 0);
        rbt_mass_add_row(&o->mass, n, 1 + o->tau * m->bodies[m->node_body[n]].damping.mass, &o->H);
        for (size_t i = 0; o->contact && i < 9; i++) diagonal[i] += tau2 * o->contact[9 * n + i];
    }
}

double rbt_objective_tolerance(const rbt_objective *o, double epsilon) {
    double elastic = o->tau * o->tau * o->characteristic, sheets = o->model->sheet_inertia;
    return epsilon * (elastic > 0 && sheets > 0 ? fmin(elastic, sheets) : elastic + sheets);
}

double rbt_objective_rounding(const rbt_objective *o, double value) {
    return 1e-14 * (fabs(value) + o->tau * o->tau * o->unit_energy);
}
