#include "step/implicit/objective.h"

#include "base/threads.h"
#include "math/vec3.h"
#include "math/vector.h"

#include <float.h>
#include <math.h>
#include <string.h>

// What is summed over the nodes of a piece
enum { VALUE, RESIDUAL, INERTIA, INTERNAL, EXTERNAL, ROUNDING, OBSTACLE, DAMPING, TERMS };

static bool is_damped(const rbt_model *m) {
    for (size_t b = 0; b < m->body_count; b++)
        if (m->bodies[b].damping.stiffness > 0 || m->bodies[b].damping.mass > 0) return true;
    return false;
}

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
    double *sum = rbt_array_new(m->node_count, sizeof *sum, "a norm", error), total[2];
    rbt_terms terms;
    if (!sum) return false;
    rbt_terms_begin(&terms, 2);
    for (size_t t = 0; t < m->tet_count; t++) {
        const int32_t *n = m->tets + 4 * t;
        double stiffness = rest_stiffness_norm(&m->regions[m->tet_region[t]].material);
        for (int a = 0; a < 4; a++) sum[n[a]] += stiffness * opposite_area(m->X, n, a);
        if (!rbt_ranks_counts_tet(m, t)) continue;
        size_t at = rbt_terms_next(&terms);
        terms.value[0][at] = 0;
        terms.value[1][at] = stiffness * rbt_tet_volume(m->X + 3 * (size_t)n[0], m->X + 3 * (size_t)n[1],
                                                        m->X + 3 * (size_t)n[2], m->X + 3 * (size_t)n[3]);
    }
    for (size_t n = 0; n < m->node_count; n++) {
        if (!rbt_ranks_owns(m, n)) continue;
        size_t at = rbt_terms_next(&terms);
        terms.value[0][at] = sum[n] * sum[n];
        terms.value[1][at] = 0;
    }
    rbt_terms_end(&terms, m, total);
    o->characteristic = sqrt(total[0]);
    o->unit_energy = total[1] + m->sheet_energy;
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
    *o = (rbt_objective){.model = m, .arena = rbt_arena_new(), .drag = 1, .diagonal = rbt_model_diagonal(m)};
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
         (o->block_sums = rbt_arena_take(o->arena, TERMS * o->pieces.block_count, sizeof *o->block_sums)) &&
         (o->piece_sums = rbt_arena_take(o->arena, TERMS * o->pieces.count, sizeof *o->piece_sums)) &&
         (o->stiff = rbt_arena_take(o->arena, m->node_count, sizeof(double)));
    if (ok) {
        find_stiff(o);
        // the last ones are 0 where nothing makes them
        bool pushed = m->obstacles.count || m->contact.on;
        o->acting_terms = is_damped(m) ? TERMS : pushed ? OBSTACLE + 1 : ROUNDING + 1;
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

static bool is_other(const rbt_objective *o, size_t n) { return o->others && o->others->is_other[n]; }

// Where W is evaluated
static const double *elastic_places(const rbt_objective *o, const double *z) {
    return o->others ? rbt_other_methods_still(o->others, z) : z;
}

// product = D (z - b), and returns (z - b)^T D (z - b). D = alpha M + beta K.
static double damp(rbt_objective *o, const double *base, const double *z) {
    const rbt_model *m = o->model;
    size_t values = 3 * m->node_count;
    for (size_t i = 0; i < values; i++) o->force[i] = is_other(o, i / 3) ? 0 : z[i] - base[i];
    if (o->damping) {
        rbt_block_matrix D = o->H;
        D.value = o->damping;
        rbt_block_matrix_product(&D, o->force, o->product);
    } else memset(o->product, 0, values * sizeof(double));
    rbt_mass_product(&o->mass, o->force, o->inertia);
    for (size_t i = 0; i < values; i++) o->product[i] += m->bodies[m->node_body[i / 3]].damping.mass * o->inertia[i];
    return rbt_ranks_dot(m, o->product, o->force);
}

const double *rbt_objective_damping(rbt_objective *o, const double *from, const double *to) {
    if (!is_damped(o->model)) return NULL;
    damp(o, from, to);
    return o->product;
}

// M (z - y) of a node. Held nodes of a lumped M would only add a constant to E, which costs digits: they are left out.
// Of a node of another method they are z - x^ and B (z - x^), those of constrained nodes included.
static void node_inertia(const rbt_objective *o, const double *z, size_t n, double moved[3], double pushed[3]) {
    bool coupled = o->mass.matrix.value != NULL;
    if (is_other(o, n)) {
        memcpy(moved, o->others->away + 3 * n, 3 * sizeof *moved);
        memcpy(pushed, o->others->pull + 3 * n, 3 * sizeof *pushed);
        return;
    }
    for (size_t i = 0; i < 3; i++) {
        moved[i] = o->constrained[n] && !coupled ? 0 : z[3 * n + i] - o->target[3 * n + i];
        pushed[i] = coupled ? o->inertia[3 * n + i] : o->model->mass[n] * moved[i];
    }
}

// What a node that is not constrained brings to its row of the gradient, and to the squares of the forces on its
// piece. o->force holds -dW/dz, o->product D (z - b), o->inertia M (z - y) if M is not lumped.
//
// Rounding: z is stored to epsilon |z|, so that K z, M z / tau^2 and D z / tau are off by epsilon |z| times the
// stiffness and mass that the node feels (D = alpha M + beta K, which in short steps is far stiffer than K), by about
// as much from its neighbours' positions, and by epsilon times the stress within each element, which is less.
//
// A node of another method has the pull towards the end of its free step in `pushed`, which is all but contact.
static void free_row(const rbt_objective *o, const double *z, size_t n, const double pushed[3], const double push[3],
                     bool damped, double *gradient, rbt_terms *terms, size_t at) {
    static const double NONE[3] = {0};
    double tau = o->tau, tau2 = tau * tau, *row = gradient + 3 * n;
    bool own = !is_other(o, n);
    const double *elastic = own ? o->force + 3 * n : NONE, *external = own ? o->external + 3 * n : NONE;
    const double *damp = o->product + 3 * n;
    for (size_t i = 0; i < 3; i++)
        row[i] = pushed[i] - tau2 * (external[i] + elastic[i] + push[i]) + (damped ? tau * o->drag * damp[i] : 0);
    double contact = o->pairs ? o->pairs->hardness[n] : 0;
    const rbt_damping_def *d = &o->model->bodies[o->model->node_body[n]].damping;
    double stiff = o->stiff[n] * (1 + o->drag * d->stiffness / tau);
    double inertia = o->model->mass[n] * (1 + o->drag * d->mass * tau) / tau2;
    double noise = DBL_EPSILON * (stiff + contact + inertia);
    terms->value[RESIDUAL][at] = rbt_dot(row, row);
    terms->value[INERTIA][at] = rbt_dot(pushed, pushed);
    terms->value[INTERNAL][at] = rbt_dot(elastic, elastic);
    terms->value[EXTERNAL][at] = rbt_dot(external, external);
    terms->value[ROUNDING][at] = noise * noise * rbt_dot(z + 3 * n, z + 3 * n);
    terms->value[OBSTACLE][at] = rbt_dot(push, push);
    terms->value[DAMPING][at] = damped ? rbt_dot(damp, damp) : 0;
}

// What a block of nodes adds to 1/2 |z - y|_M^2 + tau^2 (C(z) - f_ext.(z - y)), with a gradient to this and the
// forces, too.
static void block_terms(const rbt_objective *o, const double *z, bool damped, size_t block, double *gradient) {
    const rbt_model *m = o->model;
    const rbt_pieces *p = &o->pieces;
    rbt_terms terms;
    rbt_terms_begin(&terms, gradient ? o->acting_terms : 1);
    for (size_t k = p->block_start[block]; k < p->block_start[block + 1]; k++) {
        size_t n = (size_t)p->order[k];
        double moved[3], pushed[3], push[3] = {0};
        if (!rbt_ranks_owns(m, n)) continue;
        size_t at = rbt_terms_next(&terms);
        node_inertia(o, z, n, moved, pushed);
        double outside = 0;
        if (o->constrained[n]) {
            for (size_t i = 3 * n; gradient && i < 3 * n + 3; i++) gradient[i] = 0;
            for (size_t term = 1; term < terms.width; term++) terms.value[term][at] = 0;
            terms.value[VALUE][at] = 0.5 * rbt_dot(moved, pushed);
            continue;
        }
        if (!is_other(o, n)) outside -= rbt_dot(o->external + 3 * n, moved);
        if (o->pairs && gradient) memcpy(push, o->pairs->force + 3 * n, sizeof push);
        else if (o->contact && m->node_area[n] > 0)
            outside += rbt_obstacles_node(&m->obstacles, z + 3 * n, m->node_area[n], push, NULL);
        terms.value[VALUE][at] = 0.5 * rbt_dot(moved, pushed) + o->tau * o->tau * outside;
        if (gradient) free_row(o, z, n, pushed, push, damped, gradient, &terms, at);
    }
    rbt_terms_flush(&terms);
    memcpy(o->block_sums + TERMS * block, terms.sum, terms.width * sizeof *terms.sum);
}

// From the sums of squares of its blocks
static rbt_acting piece_acting(const rbt_objective *o, const rbt_sum *sums) {
    double tau = o->tau, tau2 = tau * tau, root[TERMS];
    for (size_t k = 0; k < TERMS; k++) root[k] = sqrt(rbt_sum_value(&sums[k]));
    return (rbt_acting){.residual = root[RESIDUAL] / tau2,
                        .inertia = root[INERTIA] / tau2,
                        .internal = root[INTERNAL],
                        .external = root[EXTERNAL],
                        .damping = o->drag * root[DAMPING] / tau,
                        .obstacle = root[OBSTACLE],
                        .rounding = root[ROUNDING]};
}

// The same of all nodes
static double all_node_terms(rbt_objective *o, const double *z, bool damped, double *gradient) {
    const rbt_pieces *p = &o->pieces;
    size_t width = gradient ? o->acting_terms : 1;
    rbt_sum sum = {0};
#pragma omp parallel for schedule(static) if (o->model->node_count >= RBT_PARALLEL_FROM)
    for (size_t b = 0; b < p->block_count; b++) block_terms(o, z, damped, b, gradient);
    memset(o->piece_sums, 0, TERMS * p->count * sizeof *o->piece_sums);
    for (size_t piece = 0; piece < p->count; piece++)
        for (size_t b = p->piece_start[piece]; b < p->piece_start[piece + 1]; b++)
            for (size_t k = 0; k < width; k++)
                rbt_sum_join(&o->piece_sums[TERMS * piece + k], &o->block_sums[TERMS * b + k]);
    if (gradient) rbt_ranks_join(o->model, o->piece_sums, TERMS * p->count);
    for (size_t piece = 0; piece < p->count; piece++) rbt_sum_join(&sum, &o->piece_sums[TERMS * piece + VALUE]);
    if (!gradient) rbt_ranks_join(o->model, &sum, 1);
    for (size_t piece = 0; gradient && piece < p->count; piece++)
        o->acting[piece] = piece_acting(o, o->piece_sums + TERMS * piece);
    return rbt_sum_value(&sum);
}

// o->inertia = M (z - y) for an M that is not lumped
static void couple_inertia(rbt_objective *o, const double *z) {
    if (!o->mass.matrix.value) return;
    rbt_vector_combine(3 * o->model->node_count, o->force, z, -1, o->target);
    rbt_mass_product(&o->mass, o->force, o->inertia);
}

double rbt_objective_value(rbt_objective *o, const double *z) {
    double value = o->tau * o->tau * rbt_energy_elastic(o->model, elastic_places(o, z), o->energies);
    if (is_damped(o->model)) value += 0.5 * o->tau * o->drag * damp(o, o->base, z);
    couple_inertia(o, z);
    if (o->others) rbt_other_methods_pull(o->others, z);
    value += all_node_terms(o, z, false, NULL);
    if (o->pairs) value += rbt_step_contact_value(o->pairs, z, o->pairs->share);
    return isnan(value) ? INFINITY : value;
}

double rbt_objective_gradient(rbt_objective *o, const double *z, double *gradient) {
    const rbt_model *m = o->model;
    double tau2 = o->tau * o->tau, elastic = 0, damping = 0;
    bool damped = is_damped(m);
    double contact = o->pairs ? rbt_step_contact_gradient(o->pairs, z, o->pairs->share) : 0;
    if (damped) damping = 0.5 * o->tau * o->drag * damp(o, o->base, z);
    couple_inertia(o, z);
    if (o->others) rbt_other_methods_pull(o->others, z);
    memset(o->force, 0, 3 * m->node_count * sizeof(double));
    rbt_force_elastic(m, elastic_places(o, z), o->energies, o->partial, o->force);
    elastic = rbt_energy_of_chunks(m, o->energies);
    double value = all_node_terms(o, z, damped, gradient) + tau2 * elastic + damping + contact;
    rbt_ranks_share(m, gradient);
    return isnan(value) ? INFINITY : value;
}

static void assemble(rbt_objective *o, rbt_stiffness_kind kind, const double *z) {
    const rbt_model *m = o->model;
    const rbt_block_matrix *K = &o->stiffness.K;
    double tau2 = o->tau * o->tau;
    rbt_stiffness_assemble(&o->stiffness, m, kind, elastic_places(o, z));
    if (o->contact) {
        memset(o->force, 0, 3 * m->node_count * sizeof(double));
        rbt_force_contact(m, z, o->force, o->contact);
    }
#pragma omp parallel for schedule(static) if (m->node_count >= RBT_PARALLEL_FROM)
    for (size_t n = 0; n < m->node_count; n++) {
        double *diagonal = o->H.value + 9 * (K->start[n + 1] - 1);
        if (is_other(o, n)) {
            size_t first = 9 * K->start[n], end = 9 * K->start[n + 1];
            memcpy(o->H.value + first, o->others->A.value + first, (end - first) * sizeof *o->H.value);
            continue;
        }
        for (size_t i = 9 * K->start[n]; i < 9 * K->start[n + 1]; i++)
            o->H.value[i] = tau2 * K->value[i] + (o->damping ? o->tau * o->drag * o->damping[i] : 0);
        rbt_mass_add_row(&o->mass, n, 1 + o->tau * o->drag * m->bodies[m->node_body[n]].damping.mass, &o->H);
        for (size_t i = 0; o->contact && i < 9; i++) diagonal[i] += tau2 * o->contact[9 * n + i];
    }
}

void rbt_objective_hessian(rbt_objective *o, const double *z) { assemble(o, RBT_PROJECTED, z); }

void rbt_objective_true_hessian(rbt_objective *o, const double *z) { assemble(o, RBT_HESSIAN, z); }

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
    rbt_ranks_most(o->model, &square, 1);
    return sqrt(square);
}

double rbt_objective_rounding(const rbt_objective *o, double value) {
    return 1e-14 * (fabs(value) + o->tau * o->tau * o->unit_energy);
}
