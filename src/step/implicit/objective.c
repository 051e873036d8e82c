#include "step/implicit/objective.h"

#include "base/threads.h"
#include "math/vec3.h"
#include "math/vector.h"

#include <float.h>
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

// Frobenius norm of the 9x9 second derivative of the energy density at rest, which is that of linear elasticity for
// every material: |2 mu sym + lambda I (x) I|^2 = 24 mu^2 + 12 mu lambda + 9 lambda^2.
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

// The stiffness that a node feels at rest: the Frobenius norm of its own block of K, and of obstacles that it may
// touch.
static void find_stiff(rbt_objective *o) {
    const rbt_model *m = o->model;
    const rbt_block_matrix *K = &o->stiffness.K;
    double hardest = 0, normal[3];
    for (size_t i = 0; !m->contact.on && i < m->obstacles.count; i++)
        hardest = fmax(hardest, rbt_obstacle_stiffness(&m->obstacles.items[i], normal));
    rbt_stiffness_assemble(&o->stiffness, m, RBT_PROJECTED, m->X);
    for (size_t n = 0; n < m->node_count; n++) {
        const double *own = K->value + 9 * (K->start[n + 1] - 1);
        double square = 0;
        for (size_t i = 0; i < 9; i++) square += own[i] * own[i];
        o->stiff[n] = sqrt(square) + hardest * m->node_area[n];
    }
}

bool rbt_objective_init(rbt_objective *o, const rbt_model *m, rbt_error *error) {
    *o = (rbt_objective){.model = m, .arena = rbt_arena_new(), .diagonal = rbt_model_diagonal(m)};
    if (!o->arena) return rbt_fail_memory(error, sizeof *o, "a step's vectors");
    if (!rbt_stiffness_build(&o->stiffness, m, error) || !characteristic_force(o, error)) {
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
              (o->energies = rbt_arena_take(o->arena, m->plan.chunk_count, sizeof *o->energies)) &&
              (o->partial = rbt_arena_take(o->arena, 3 * m->plan.slot_count, sizeof(double))) &&
              (o->constrained = rbt_arena_take(o->arena, m->node_count, 1));
    if (ok && damped) ok = (o->damping = rbt_arena_take(o->arena, 9 * blocks, sizeof(double))) != NULL;
    if (ok && m->obstacles.count && !m->contact.on)
        ok = (o->contact = rbt_arena_take(o->arena, 9 * m->node_count, sizeof(double))) != NULL;
    ok = ok && (o->external = rbt_arena_take(o->arena, values, sizeof(double))) &&
         (o->inertia = rbt_arena_take(o->arena, values, sizeof(double))) &&
         rbt_mass_build(&o->mass, o->arena, m, &o->stiffness.K, error) &&
         rbt_pieces_find(&o->pieces, o->arena, m, error) &&
         (o->acting = rbt_arena_take(o->arena, o->pieces.count, sizeof *o->acting)) &&
         (o->block_acting = rbt_arena_take(o->arena, o->pieces.block_count, sizeof *o->block_acting)) &&
         (o->block_values = rbt_arena_take(o->arena, o->pieces.block_count, sizeof(double))) &&
         (o->stiff = rbt_arena_take(o->arena, m->node_count, sizeof(double)));
    if (ok) {
        find_stiff(o);
        return true;
    }
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

// M (z - y) of a node. Held nodes of a lumped M would only add a constant to E, which costs digits: they are left out.
static void node_inertia(const rbt_objective *o, const double *z, size_t n, double moved[3], double pushed[3]) {
    bool coupled = o->mass.matrix.value != NULL;
    for (size_t i = 0; i < 3; i++) {
        moved[i] = o->constrained[n] && !coupled ? 0 : z[3 * n + i] - o->target[3 * n + i];
        pushed[i] = coupled ? o->inertia[3 * n + i] : o->model->mass[n] * moved[i];
    }
}

// What a node that is not constrained brings to its row of the gradient, and to the squares of the forces on its
// piece. o->force holds -dW/dz, o->product D (z - b), o->inertia M (z - y) if M is not lumped.
//
// Rounding: z is stored to epsilon |z|, so that K z and M z / tau^2 are off by epsilon |z| times the stiffness and
// mass that the node feels, by about as much from its neighbours' positions, and by epsilon times the stress within
// each element, which is less.
static void free_row(const rbt_objective *o, const double *z, size_t n, const double pushed[3], const double push[3],
                     bool damped, double *gradient, rbt_acting *sum) {
    double tau = o->tau, tau2 = tau * tau, *row = gradient + 3 * n;
    const double *elastic = o->force + 3 * n, *external = o->external + 3 * n, *damp = o->product + 3 * n;
    for (size_t i = 0; i < 3; i++)
        row[i] = pushed[i] - tau2 * (external[i] + elastic[i] + push[i]) + (damped ? tau * damp[i] : 0);
    double contact = o->pairs ? o->pairs->hardness[n] : 0;
    double noise = DBL_EPSILON * (o->stiff[n] + contact + o->model->mass[n] / tau2);
    sum->residual += rbt_dot(row, row);
    sum->inertia += rbt_dot(pushed, pushed);
    sum->internal += rbt_dot(elastic, elastic);
    sum->external += rbt_dot(external, external);
    sum->obstacle += rbt_dot(push, push);
    if (damped) sum->damping += rbt_dot(damp, damp);
    sum->rounding += noise * noise * rbt_dot(z + 3 * n, z + 3 * n);
}

// What a block of nodes adds to 1/2 |z - y|_M^2 + tau^2 (C(z) - f_ext.(z - y)), with a gradient to this and the
// forces, too.
static double block_terms(const rbt_objective *o, const double *z, bool damped, size_t block, double *gradient) {
    const rbt_model *m = o->model;
    const rbt_pieces *p = &o->pieces;
    double inertia = 0, outside = 0;
    rbt_acting sum = {0};
    for (size_t k = p->block_start[block]; k < p->block_start[block + 1]; k++) {
        size_t n = (size_t)p->order[k];
        double moved[3], pushed[3], push[3] = {0};
        node_inertia(o, z, n, moved, pushed);
        inertia += 0.5 * rbt_dot(moved, pushed);
        if (o->constrained[n]) {
            for (size_t i = 3 * n; gradient && i < 3 * n + 3; i++) gradient[i] = 0;
            continue;
        }
        outside -= rbt_dot(o->external + 3 * n, moved);
        if (o->pairs && gradient) memcpy(push, o->pairs->force + 3 * n, sizeof push);
        else if (o->contact && m->node_area[n] > 0)
            outside += rbt_obstacles_node(&m->obstacles, z + 3 * n, m->node_area[n], push, NULL);
        if (gradient) free_row(o, z, n, pushed, push, damped, gradient, &sum);
    }
    if (gradient) o->block_acting[block] = sum;
    return inertia + o->tau * o->tau * outside;
}

// From the sums of squares of its blocks
static rbt_acting piece_acting(const rbt_objective *o, size_t piece) {
    rbt_acting a = {0};
    double tau = o->tau, tau2 = tau * tau;
    for (size_t b = o->pieces.piece_start[piece]; b < o->pieces.piece_start[piece + 1]; b++) {
        const rbt_acting *sum = &o->block_acting[b];
        a.residual += sum->residual;
        a.inertia += sum->inertia;
        a.internal += sum->internal;
        a.external += sum->external;
        a.damping += sum->damping;
        a.obstacle += sum->obstacle;
        a.rounding += sum->rounding;
    }
    return (rbt_acting){.residual = sqrt(a.residual) / tau2,
                        .inertia = sqrt(a.inertia) / tau2,
                        .internal = sqrt(a.internal),
                        .external = sqrt(a.external),
                        .damping = sqrt(a.damping) / tau,
                        .obstacle = sqrt(a.obstacle),
                        .rounding = sqrt(a.rounding)};
}

// The same of all nodes, summed in the order of the blocks.
static double all_node_terms(rbt_objective *o, const double *z, bool damped, double *gradient) {
    double sum = 0;
#pragma omp parallel for schedule(static) if (o->model->node_count >= RBT_PARALLEL_FROM)
    for (size_t b = 0; b < o->pieces.block_count; b++) o->block_values[b] = block_terms(o, z, damped, b, gradient);
    for (size_t b = 0; b < o->pieces.block_count; b++) sum += o->block_values[b];
    for (size_t p = 0; gradient && p < o->pieces.count; p++) o->acting[p] = piece_acting(o, p);
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
    if (o->pairs) value += rbt_step_contact_value(o->pairs, z, o->pairs->share);
    return isnan(value) ? INFINITY : value;
}

double rbt_objective_gradient(rbt_objective *o, const double *z, double *gradient) {
    const rbt_model *m = o->model;
    double tau2 = o->tau * o->tau, elastic = 0, damping = 0;
    bool damped = is_damped(m);
    double contact = o->pairs ? rbt_step_contact_gradient(o->pairs, z, o->pairs->share) : 0;
    if (damped) damping = 0.5 * o->tau * damp(o, z);
    couple_inertia(o, z);
    memset(o->force, 0, 3 * m->node_count * sizeof(double));
    rbt_force_elastic(m, z, o->energies, o->partial, o->force);
    elastic = rbt_energy_of_chunks(m, o->energies);
    double value = all_node_terms(o, z, damped, gradient) + tau2 * elastic + damping + contact;
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

double rbt_objective_longest(const rbt_objective *o, const double *p) {
    double square = 0;
    for (size_t n = 0; n < o->model->node_count; n++) {
        double own = rbt_dot(p + 3 * n, p + 3 * n);
        if (!(own <= square)) square = own;  // a NaN stays
    }
    return sqrt(square);
}

double rbt_objective_rounding(const rbt_objective *o, double value) {
    return 1e-14 * (fabs(value) + o->tau * o->tau * o->unit_energy);
}
