// ADMM around projective dynamics' matrix (Overby et al. 2017, "ADMM contains projective dynamics"). With Q the
// quadratic part of the step's function (objective.h) and F_e(z) the deformation gradient of tet e, linear in z,
//
//   E(z) = Q(z) + tau^2 sum_e V_e psi_e(F_e(z)),   Q(z) = 1/2 |z - y|_M^2 - tau^2 f_ext.(z - y) + tau/2 (z - b)^T D
//                                                  (z - b),
//
// every tet gets a deformation Z_e of its own, which a multiplier u_e binds to F_e(z) with the weight w_e^2 = tau^2
// k_e V_e, k = lambda + 2 mu / 3. From u = 0 an iteration is
//
//   local    Z_e = argmin psi_e(Z) + k_e/2 |Z - F_e(z) - u_e|^2,   u_e += F_e(z) - Z_e     (energy/proximal.h)
//   global   z   = argmin Q(z) + sum_e w_e^2/2 |F_e(z) - Z_e + u_e|^2.
//
// The global step is taken as a correction: z <- z - A^-1 r with r the gradient of that quadratic at z and A its
// matrix,
//
//   r = M (z - y) - tau^2 f_ext + tau D (z - b) + tau^2 sum_e V_e k_e (F_e(z) - Z_e + u_e) g_e,
//   A = (1 + tau alpha) M + tau beta K + tau^2 L,   L = sum_e k_e V_e G_e G_e^T.
//
// Without stiffness damping A acts on each component alike (laplacian.h) and is factored once. With it K is frozen
// again at every step; A is then solved with by conjugate gradients, the factor of the Laplacian's matrix as
// preconditioner, to a part of r: where the iteration rests, r = 0 all the same.
//
// It rests where F_e(z) = Z_e, and k_e u_e = P(Z_e) by the local step, so that r = grad E(z): exactly at the minimum,
// however far the weights are from the stiffness. The distance to it shrinks by a constant factor at best, and E may
// grow on the way.
#include "base/threads.h"
#include "energy/proximal.h"
#include "math/vec3.h"
#include "math/vector.h"
#include "solve/cg.h"
#include "step/implicit/laplacian.h"
#include "step/implicit/solver.h"

#include <string.h>

static const double DAMPED_TOLERANCE = 1e-3;  // of the global step with stiffness damping
enum { MAX_DAMPED_ITERATIONS = 50 };

typedef struct local_group {  // beside a group of tets
    rbt_proximal minimise;
    rbt_duals *duals;
} local_group;

typedef struct admm {
    rbt_objective *objective;
    rbt_laplacian laplacian;
    rbt_arena *arena;
    local_group *locals;                    // (group_count)
    double *gradient, *residual, *forward;  // (node_count x 3): grad E, r, A^-1 r
    double *moved, *product;                // (node_count x 3) work
    bool may_be_forbidden;                  // a material has places without an energy
    bool mass_damped;
    rbt_cg *cg;  // NULL without stiffness damping
} admm;

static void destroy(void *self) {
    admm *s = self;
    rbt_laplacian_free(&s->laplacian);
    rbt_cg_free(s->cg);
    rbt_arena_free(s->arena);
    free(s);
}

static double bulk_modulus(double mu, double lambda) { return lambda + 2 * mu / 3; }

// ---- Making one

static const char OTHERS[] = "newton, dot, lbfgs-h or lbfgs-pd";

static bool can_do(const rbt_model *m, rbt_error *error) {
    for (size_t b = 0; b < m->body_count; b++)
        if (m->bodies[b].kind != RBT_SOLID)
            return rbt_fail(
                error, "solver \"admm-pd\" knows bodies of tets only, but \"%s\" is made of %ss; take the solver %s",
                m->bodies[b].name, rbt_body_element(&m->bodies[b]), OTHERS);
    if (m->obstacles.count)
        return rbt_fail(error, "solver \"admm-pd\" knows no obstacles, but the scene has %zu; take the solver %s",
                        m->obstacles.count, OTHERS);
    return true;
}

static bool make_locals(admm *s) {
    const rbt_model *m = s->objective->model;
    s->locals = rbt_arena_take(s->arena, m->group_count, sizeof *s->locals);
    for (size_t g = 0; s->locals && g < m->group_count; g++) {
        const rbt_group *group = &m->groups[g];
        const rbt_tets *tets = group->data;
        rbt_duals *duals = rbt_arena_take(s->arena, tets->batch_count, sizeof *duals);
        if (!duals) return false;
        for (size_t e = 0; e < tets->batch_count * RBT_W; e++) {
            size_t tet = (size_t)group->members[e < group->count ? e : group->count - 1];
            double mu, lambda;
            rbt_small_strain_lame(&m->regions[m->tet_region[tet]].material, &mu, &lambda);
            duals[e / RBT_W].weight[e % RBT_W] = bulk_modulus(mu, lambda);
        }
        s->locals[g] = (local_group){rbt_proximal_of(tets->material), duals};
        s->may_be_forbidden |= !tets->material->survives_inversion;
    }
    return s->locals != NULL;
}

static bool make_arrays(admm *s, rbt_error *error) {
    const rbt_model *m = s->objective->model;
    size_t values = 3 * m->node_count;
    double **vectors[] = {&s->gradient, &s->residual, &s->forward, &s->moved, &s->product};
    bool ok = s->arena && make_locals(s);
    for (size_t i = 0; ok && i < sizeof vectors / sizeof *vectors; i++)
        ok = (*vectors[i] = rbt_arena_take(s->arena, values, sizeof(double))) != NULL;
    if (!ok)
        return rbt_fail_memory(error, sizeof(rbt_duals) / RBT_W * m->tet_count + 5 * values * sizeof(double),
                               "a step solver");
    for (size_t b = 0; b < m->body_count; b++) s->mass_damped |= m->bodies[b].damping.mass > 0;
    return !s->objective->damping || (s->cg = rbt_cg_new(m->node_count, error)) != NULL;
}

static void *create(rbt_objective *objective, const rbt_implicit_options *options, rbt_error *error) {
    (void)options;
    if (!can_do(objective->model, error)) return NULL;
    admm *s = rbt_array_new(1, sizeof *s, "a step solver", error);
    if (!s) return NULL;
    s->objective = objective;
    s->arena = rbt_arena_new();
    if (rbt_laplacian_init(&s->laplacian, objective, bulk_modulus, error) && make_arrays(s, error)) return s;
    destroy(s);
    return NULL;
}

// ---- The stages of an iteration

static rbt_outcome forget(admm *s) {
    const rbt_model *m = s->objective->model;
    for (size_t g = 0; g < m->group_count; g++) {
        size_t batches = ((const rbt_tets *)m->groups[g].data)->batch_count;
        for (size_t b = 0; b < batches; b++) {
            rbt_duals *duals = &s->locals[g].duals[b];
            memset(duals->u, 0, sizeof duals->u);
            memset(duals->shift, 0, sizeof duals->shift);
        }
    }
    return RBT_DONE;
}

static bool all_finite(const double *z, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += 0 * z[i];
    return sum == 0;
}

// The test all solvers stop by. On its way the iteration may pass places where grad E has no value although every Z_e
// is allowed: it does not end there, but may not stay there either.
static rbt_outcome judge(admm *s, const double *z, rbt_stop *stop, int k, int max_iterations, bool *solved,
                         rbt_stages *stages, rbt_step_report *report) {
    rbt_objective *o = s->objective;
    *solved = false;
    double value = rbt_objective_gradient(o, z, s->gradient);
    if (!isfinite(value)) {
        bool passing = s->may_be_forbidden && k < max_iterations && all_finite(z, 3 * o->model->node_count);
        return passing ? RBT_DONE : rbt_solver_not_finite(o, z, s->gradient, report);
    }
    return rbt_solver_judge(stop, z, s->gradient, k, max_iterations, solved, stages, report);
}

// Z and u of every tet, and what they pull with: V k (F - Z + u) g summed up per chunk, as forces are (model/force.c)
static rbt_outcome local_step(admm *s, const double *z) {
    const rbt_objective *o = s->objective;
    const rbt_model *m = o->model;
    const rbt_plan *plan = &m->plan;
#pragma omp parallel for schedule(static) if (m->node_count >= RBT_PARALLEL_FROM)
    for (size_t c = 0; c < plan->chunk_count; c++) {
        const rbt_chunk *chunk = &plan->chunks[c];
        const rbt_tets *tets = m->groups[chunk->group].data;
        const local_group *local = &s->locals[chunk->group];
        size_t batch = chunk->first / RBT_W;
        double corner[12 * RBT_CHUNK], *sum = o->partial + 3 * chunk->slot_begin;
        local->minimise(tets->batches + batch, local->duals + batch, chunk->count, z, corner);
        memset(sum, 0, 3 * chunk->slot_count * sizeof *sum);
        const uint16_t *slot = plan->local + chunk->corner_begin;
        for (size_t k = 0; k < 4 * chunk->count; k++) rbt_add_scaled(sum + 3 * (size_t)slot[k], 1, corner + 3 * k);
    }
    return RBT_DONE;
}

// product = M (z - from)
static void inertia(admm *s, const double *z, const double *from) {
    rbt_vector_combine(3 * s->objective->model->node_count, s->moved, z, -1, from);
    rbt_mass_product(&s->objective->mass, s->moved, s->product);
}

// r, with the local step's forces in o->partial
static void find_residual(admm *s, const double *z) {
    const rbt_objective *o = s->objective;
    const rbt_model *m = o->model;
    const rbt_plan *plan = &m->plan;
    double tau = o->tau, *r = s->residual;
    inertia(s, z, o->target);
#pragma omp parallel for schedule(static) if (m->node_count >= RBT_PARALLEL_FROM)
    for (size_t n = 0; n < m->node_count; n++) {
        double pull[3] = {0};
        for (size_t k = plan->node_start[n]; k < plan->node_start[n + 1]; k++)
            rbt_add_scaled(pull, 1, o->partial + 3 * (size_t)plan->node_slots[k]);
        for (size_t i = 0; i < 3; i++)
            r[3 * n + i] = s->product[3 * n + i] + tau * tau * (pull[i] - o->external[3 * n + i]);
    }
    if (s->mass_damped) {
        inertia(s, z, o->base);
        for (size_t i = 0; i < 3 * m->node_count; i++)
            r[i] += tau * o->drag * m->bodies[m->node_body[i / 3]].damping.mass * s->product[i];
    }
    if (o->damping) {
        rbt_block_matrix K = {m->node_count, o->H.start, o->H.column, o->damping};
        rbt_vector_combine(3 * m->node_count, s->moved, z, -1, o->base);
        rbt_block_matrix_product(&K, s->moved, s->product);
        rbt_vector_add_scaled(3 * m->node_count, r, tau * o->drag, s->product);
    }
    for (size_t n = 0; n < m->node_count; n++)
        if (o->constrained[n]) memset(r + 3 * n, 0, 3 * sizeof *r);
}

// y = A x with stiffness damping
static void apply_matrix(void *self, const double *x, double *y) {
    admm *s = self;
    const rbt_objective *o = s->objective;
    const rbt_model *m = o->model;
    rbt_block_matrix K = {m->node_count, o->H.start, o->H.column, o->damping};
    rbt_scalar_matrix L = s->laplacian.A;
    L.value = s->laplacian.stiffness;
    rbt_block_matrix_product(&K, x, y);
    rbt_mass_product(&o->mass, x, s->moved);
    rbt_scalar_matrix_product(&L, x, s->product);
    for (size_t i = 0; i < 3 * m->node_count; i++) {
        double mass = 1 + o->tau * o->drag * m->bodies[m->node_body[i / 3]].damping.mass;
        y[i] = mass * s->moved[i] + o->tau * (o->drag * y[i] + o->tau * s->product[i]);
    }
}

static void apply_factor(void *self, const double *x, double *y) {
    admm *s = self;
    if (!rbt_cholesky_solve(s->laplacian.factor, x, y)) memset(y, 0, 3 * s->objective->model->node_count * sizeof *y);
}

static rbt_outcome global_step(admm *s, double *z) {
    size_t values = 3 * s->objective->model->node_count;
    find_residual(s, z);
    if (s->cg) {
        memset(s->forward, 0, values * sizeof(double));
        rbt_cg_solve(s->cg, &(rbt_operator){apply_matrix, s}, &(rbt_operator){apply_factor, s}, s->laplacian.keep,
                     s->residual, s->forward, DAMPED_TOLERANCE, MAX_DAMPED_ITERATIONS);
    } else if (!rbt_cholesky_solve(s->laplacian.factor, s->residual, s->forward)) return RBT_OUT_OF_MEMORY;
    s->objective->move = rbt_objective_longest(s->objective, s->forward);
    rbt_vector_add_scaled(values, z, -1, s->forward);
    return RBT_DONE;
}

static rbt_outcome solve(void *self, const double *last, double *z, rbt_stop *stop, int max_iterations,
                         rbt_stages *stages, rbt_step_report *report) {
    admm *s = self;
    RBT_STAGE("factor", rbt_laplacian_prepare(&s->laplacian, last, report));  // if step or constrained nodes changed
    RBT_STAGE("start", forget(s));                                            // u = 0
    for (int k = 0;; k++) {
        bool solved;
        RBT_STAGE("gradient", judge(s, z, stop, k, max_iterations, &solved, stages, report));
        if (solved) return RBT_DONE;
        report->statistics[RBT_STAT_ITERATIONS]++;
        RBT_STAGE("local", local_step(s, z));    // Z, u
        RBT_STAGE("global", global_step(s, z));  // z
    }
}

const rbt_step_solver RBT_ADMM_PD = {
    .name = "admm-pd",
    .work = {.gradients = 200, .solves = 30},
    .doc = "ADMM with a small problem per tet and one Laplacian for the whole run: fast at first, then slow; tets "
           "without "
           "obstacles",
    .max_iterations = 1000,
    .share = 0.015,
    .create = create,
    .destroy = destroy,
    .solve = solve,
};
