// SIERE, a hybrid of the semi-implicit and the exponential Rosenbrock-Euler method (Chen, Sheen, Ascher and Pai 2020):
// the s lowest modes of K u = lambda M u are integrated exactly, all the rest as semi-implicit Euler does.
//
// With M-orthonormal U (n x s), Q = M U, P = U Q^T and w = (q, v), F = (v, M^-1 f), the paper's equation (10) is
//   w+ = w + (I - h J_H)^-1 (h H + h [U, U] phi_1(h J_G) G),     J_H = J - [[0, P], [-U L Q^T, -U D_l Q^T]]
//   G = (Q^T v, U^T f),  H = F - [U, U] G,     L = diag(lambda_l),  D_l = diag(d_l), d_l = u_l^T D u_l
// The first block row is dq = h v_H + U da + h (I - P) dv; put into the second, it leaves one symmetric matrix, A of
// semi-implicit Euler (linearised.h), changed by rank s:
//   [A - (h^2 K U + h Q D_l) Q^T] dv = r - Q c - h R (da - h b) + Q db
//   r: right-hand side of semi-implicit Euler      b = Q^T v,  c = h g + h^2 g' - h^2 L b,  g = U^T f
//   R = K U - Q L,  E = D U - Q D_l: both are 0 if U are true eigenvectors
//   (da, db)_l = h phi_1(h J_l) (b, g)_l + h^2 phi_2(h J_l) (0, g')_l,  J_l = [[0, 1], [-lambda_l, -d_l]]  (math/oscillator.h)
// By Sherman, Morrison and Woodbury, with h^2 K U + h Q D_l = A U - Q - h E:
//   A y = r - Q c - h R (da - h b) - h E db,    A T = Q + h E,    (Q^T T) z = Q^T y
//   dv = y + U db + (U - T) z,      dq = h (v_H + y - T z) + U da,     v_H = v - U b
// So one factor and one pass over it with s + 1 right-hand sides do what the paper needs 2 s + 4 solves for, for any U. With true
// eigenvectors z = 0, and y alone remains to be solved for. T is A^-1 M U: the start of the next step's modes (solve/modes.h).
//
// Driven nodes: g' = -U^T K_fh v_h is the force that grows as they move; r holds its value at the end of the step.
// Contact is left to the semi-implicit part as a whole: R has K_contact U in it, g no contact force.
// A is indefinite if some lambda < -1/h^2, and Cholesky's decomposition fails. Then K of this step is replaced by the projected
// stiffness: a direction that would grow by more than e in a step is beyond any linearisation. On request L D L^T is taken
// instead, which is formula (10) as it stands, as long as all negative directions of A are among the modes. The report
// counts both. (A bar twisted by 200 to 360 degrees and let go, 1 to 20 modes: 29 of 32 runs finish with the one, 16 with the
// other, none with semi-implicit Euler.)
#include "step/siere.h"

#include "math/exponential.h"
#include "math/oscillator.h"
#include "math/vector.h"
#include "solve/modes.h"
#include "step/linearised.h"
#include "step/method.h"

#include <stdio.h>
#include <string.h>

// Couplings below this share of a step's change are left out, and with them the solves for T.
static const double NO_COUPLING = 1e-11;
// L D L^T goes column by column: beyond so many flops it is not tried.
static const double MOST_FLOPS = 2e10;
enum { FIRST_GUESS = 8 };  // modes that "auto" begins with

typedef enum matrix_kind { DEFINITE, INDEFINITE, PROJECTED } matrix_kind;

// What is remembered: this, then U, T and V
typedef struct memory_head {
    uint64_t carried;  // vectors in each block; 0: nothing yet
    uint64_t wanted;   // of them, modes that were asked for
    uint64_t held;     // hash of the held nodes
} memory_head;

typedef struct siere {
    rbt_siere_options options;
    rbt_linearised base;
    rbt_block_operator *stiffness;
    rbt_modes modes;
    size_t capacity;  // vectors in the memory's blocks
    size_t used;      // modes of this step
    bool driven;      // some held node can move
    bool current;     // Q and KU are those of the memory's U (linear models)
    matrix_kind matrix;
    memory_head head;                        // of this step's modes
    double *b, *g, *ramp, *da, *db, *c, *d;  // (capacity) per mode
    double *small, *z;                       // (capacity^2), (capacity)
    double *right, *solution;                // ((1 + capacity) x node_count x 3)
    double *carried;                         // (node_count x 3) velocities of held nodes, and what they do
} siere;

// ---- What is remembered

// U, T and V of the memory, and those of the work space
static void recall(siere *s, const memory_head *head) {
    const double *from = (const double *)(head + 1);
    size_t n = 3 * s->base.model->node_count, bytes = (size_t)head->carried * n * sizeof(double);
    if (s->current && s->base.model->linear) return;
    memcpy(s->modes.U, from, bytes);
    memcpy(s->modes.T, from + s->capacity * n, bytes);
    memcpy(s->modes.V, from + 2 * s->capacity * n, bytes);
}

static void remember(const siere *s, memory_head *head) {
    *head = s->head;
    double *to = (double *)(head + 1);
    size_t n = 3 * s->base.model->node_count, bytes = (size_t)head->carried * n * sizeof(double);
    memcpy(to, s->modes.U, bytes);
    memcpy(to + s->capacity * n, s->modes.T, bytes);
    memcpy(to + 2 * s->capacity * n, s->modes.V, bytes);
}

static void read_options(const void *options, rbt_siere_options *to) {
    if (options) *to = *(const rbt_siere_options *)options;
    else rbt_record_default(&RBT_SIERE_OPTIONS, to);
}

static size_t capacity_of(const rbt_siere_options *o) {
    return o->modes == 0 ? 0 : rbt_modes_capacity((size_t)(o->modes > 0 ? o->modes : o->max_modes));
}

static size_t memory_size(const rbt_model *m, const void *options) {
    rbt_siere_options o;
    read_options(options, &o);
    size_t capacity = capacity_of(&o);
    return capacity ? sizeof(memory_head) + 9 * capacity * m->node_count * sizeof(double) : 0;
}

static uint64_t hash_of(const unsigned char *held, size_t count) {
    uint64_t hash = 14695981039346656037u;  // Fowler, Noll and Vo's
    for (size_t i = 0; i < count; i++) hash = (hash ^ held[i]) * 1099511628211u;
    return hash;
}

// ---- Life

static void destroy(void *self) {
    siere *s = self;
    rbt_modes_free(&s->modes);
    rbt_block_operator_free(s->stiffness);
    rbt_linearised_free(&s->base);
    free(s);
}

static bool allocate(siere *s, const rbt_model *m, rbt_error *error) {
    rbt_arena *arena = s->base.arena;
    size_t values = 3 * m->node_count, c = s->capacity;
    double **each[] = {&s->b, &s->g, &s->ramp, &s->da, &s->db, &s->c, &s->d, &s->z};
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof each / sizeof *each; i++)
        ok = (*each[i] = rbt_arena_take(arena, c, sizeof(double))) != NULL;
    ok = ok && (s->small = rbt_arena_take(arena, c, c * sizeof(double))) &&
         (s->right = rbt_arena_take(arena, 1 + c, values * sizeof(double))) &&
         (s->solution = rbt_arena_take(arena, 1 + c, values * sizeof(double))) &&
         (s->carried = rbt_arena_take(arena, values, sizeof(double)));
    return ok || rbt_fail_memory(error, 2 * (1 + c) * values * sizeof(double), "modes");
}

static void *create(const rbt_model *model, int solver, const void *options, rbt_error *error) {
    (void)solver;
    siere *s = rbt_array_new(1, sizeof *s, "a stepper", error);
    if (!s) return NULL;
    read_options(options, &s->options);
    s->capacity = capacity_of(&s->options);
    s->driven = model->motions.node_count > 0;
    bool ok = rbt_linearised_init(&s->base, model, false, error);
    if (ok && s->capacity)
        ok = (s->stiffness = rbt_block_operator_new(&s->base.stiffness.K, error)) &&
             rbt_modes_init(&s->modes, model->node_count, s->capacity, error) && allocate(s, model, error);
    if (ok) return s;
    destroy(s);
    return NULL;
}

// ---- The matrix

static size_t most_modes(const siere *s) {
    return (size_t)(s->options.modes > 0 ? s->options.modes : s->options.max_modes);
}

static rbt_outcome factor_projected(siere *s, const rbt_state *state, double h, rbt_step_report *report) {
    s->matrix = PROJECTED;
    rbt_linearised_assemble(&s->base, state, RBT_PROJECTED, h);
    return rbt_linearised_factor(&s->base, state, h, report);
}

static rbt_outcome factor(siere *s, const rbt_state *state, double h, rbt_step_report *report) {
    rbt_cholesky *cholesky = s->base.linear.cholesky;
    s->matrix = DEFINITE;
    rbt_outcome outcome = rbt_linearised_factor(&s->base, state, h, report);
    if (outcome != RBT_NOT_POSITIVE_DEFINITE) return outcome;
    size_t row;
    s->matrix = INDEFINITE;
    if (s->options.indefinite == RBT_INDEFINITE_FACTORS && rbt_cholesky_flops(cholesky) <= MOST_FLOPS &&
        rbt_cholesky_factor_indefinite(cholesky, &s->base.A, &row) == RBT_FACTORED &&
        rbt_cholesky_negative_count(cholesky) <= most_modes(s))
        return RBT_DONE;
    return factor_projected(s, state, h, report);
}

// ---- The modes

static void multiply_mass(void *self, const double *x, double *y) { rbt_mass_product(self, x, y); }

static rbt_modes_problem problem_of(siere *s, double h) {
    rbt_linearised *base = &s->base;
    return (rbt_modes_problem){.K = &base->stiffness.K,
                               .stiffness = rbt_block_operator_of(s->stiffness),
                               .mass = {multiply_mass, &base->mass},
                               .lumped = base->model->mass,
                               .keep = base->linear.keep,
                               .factor = base->linear.cholesky,
                               .indefinite = s->matrix != DEFINITE,
                               .shift = 1 / (h * h),
                               .tolerance = s->options.tolerance};
}

// With "auto": the modes that the frequency or the energy asks for; more than `found` if all of these are needed and not enough.
static size_t needed_modes(siere *s, const rbt_state *state, size_t found, double h) {
    const rbt_siere_options *o = &s->options;
    size_t n = 3 * s->base.model->node_count, by_frequency = 0, by_energy = 0;
    double turn = 2 * acos(-1.0) * (isnan(o->modes_below) ? 0.1 / h : o->modes_below), energy = 0, sum = 0;
    while (by_frequency < found && s->modes.lambda[by_frequency] < turn * turn) by_frequency++;
    if (o->modes_energy > 0) {
        memcpy(s->carried, state->v, n * sizeof(double));
        for (size_t i = 0; i < n; i++)
            if (s->base.held[i / 3]) s->carried[i] = 0;
        rbt_mass_product(&s->base.mass, s->carried, s->base.product);
        energy = o->modes_energy * rbt_vector_dot(n, s->carried, s->base.product);
        rbt_vectors_inner(n, found, s->modes.Q, 1, s->carried, s->b);
        for (; by_energy < found && sum < energy; by_energy++) sum += s->b[by_energy] * s->b[by_energy];
    }
    bool enough = (by_frequency < found || turn == 0) && sum >= energy;
    return enough ? (by_frequency > by_energy ? by_frequency : by_energy) : found + 1;
}

static rbt_outcome modes_outcome(rbt_modes_result result, double tolerance, rbt_step_report *report) {
    switch (result) {
    case RBT_MODES_FOUND: return RBT_DONE;
    case RBT_MODES_NO_MEMORY: return RBT_OUT_OF_MEMORY;
    case RBT_MODES_NOT_FINITE:
        snprintf(report->hint, sizeof report->hint, "the stiffness is not a number somewhere; take a smaller step");
        return RBT_NOT_FINITE;
    case RBT_MODES_NOT_CONVERGED: break;
    }
    snprintf(
        report->hint, sizeof report->hint,
        "the residuals of the modes do not fall to the tolerance of %g; take a larger one, fewer modes or a smaller "
        "step",
        tolerance);
    return RBT_NOT_CONVERGED;
}

// Translations and turns of bodies none of whose nodes is held, as many as there is room for: at rest they are modes, and
// translations always. Returns how many.
static size_t rigid_motions(siere *s, const rbt_state *state, double *to) {
    const rbt_model *m = s->base.model;
    size_t n = 3 * m->node_count, count = 0;
    for (size_t b = 0; b < m->body_count; b++) {
        const rbt_body *body = &m->bodies[b];
        bool is_free = count + 6 <= s->modes.carried;
        for (size_t i = body->node_begin; i < body->node_end; i++) is_free &= !s->base.held[i];
        if (!is_free) continue;
        memset(to + count * n, 0, 6 * n * sizeof(double));
        for (size_t k = 0; k < 3; k++)
            for (size_t i = body->node_begin; i < body->node_end; i++) {
                const double *x = state->x + 3 * i;
                size_t next = (k + 1) % 3, last = (k + 2) % 3;
                to[(count + k) * n + 3 * i + k] = 1;
                to[(count + 3 + k) * n + 3 * i + next] = -x[last];
                to[(count + 3 + k) * n + 3 * i + last] = x[next];
            }
        count += 6;
    }
    return count;
}

// Equal eigenvalues belong together: which combinations of their modes come first is chance. If guards complete the last ones
// they are modes too.
static size_t complete_modes(const rbt_modes *modes, size_t used) {
    size_t complete = used;
    double equal = 1e-9 * fabs(modes->lambda[modes->count - 1]);
    while (complete && complete < modes->count && modes->lambda[complete] - modes->lambda[complete - 1] <= equal)
        complete++;
    return complete < modes->count ? complete : used;
}

// From the memory if it has modes of the same unknowns, otherwise from nothing
static rbt_modes_result find_wanted(siere *s, const rbt_state *state, size_t wanted, double h) {
    const memory_head *head = state->memory;
    rbt_modes *modes = &s->modes;
    rbt_modes_problem p = problem_of(s, h);
    uint64_t held = hash_of(s->base.held, s->base.model->node_count);
    bool known = head->carried && head->wanted == wanted && head->held == held;
    bool linear = s->base.model->linear;
    modes->carried = rbt_modes_capacity(wanted);
    if (modes->carried > s->capacity) modes->carried = s->capacity;
    if (linear && known && s->current) return RBT_MODES_FOUND;
    rbt_modes_result result = RBT_MODES_FOUND;
    if (linear && known) {
        modes->count = (size_t)head->carried;
    } else {
        result = known ? rbt_modes_follow(modes, &p, wanted) : RBT_MODES_NOT_CONVERGED;
        if (result == RBT_MODES_NOT_CONVERGED)
            result = rbt_modes_start(modes, &p, wanted, rigid_motions(s, state, modes->T));
    }
    if (result != RBT_MODES_FOUND) return result;
    if (linear) rbt_modes_refresh(modes, &p);
    s->current = true;
    s->head = (memory_head){.carried = modes->count, .wanted = wanted, .held = held};
    return result;
}

static rbt_outcome find_modes(siere *s, rbt_state *state, double h, rbt_step_report *report) {
    memory_head *head = state->memory;
    rbt_modes *modes = &s->modes;
    size_t unknowns = 0;
    int64_t solves = modes->solves;
    for (size_t i = 0; i < s->base.model->node_count; i++) unknowns += s->base.held[i] ? 0 : 3;
    size_t most = most_modes(s);
    if (most > unknowns) most = unknowns;
    if (head->carried > s->capacity || head->wanted > most) *head = (memory_head){0};
    recall(s, head);
    size_t wanted = s->options.modes > 0 ? most : head->wanted ? (size_t)head->wanted : FIRST_GUESS;
    for (;;) {
        if (wanted > most) wanted = most;
        rbt_modes_result result = find_wanted(s, state, wanted, h);
        report->iterations += modes->solves - solves;
        solves = modes->solves;
        if (result != RBT_MODES_FOUND) return modes_outcome(result, s->options.tolerance, report);
        s->used = s->options.modes > 0 ? wanted : needed_modes(s, state, wanted, h);
        if (s->used <= wanted || wanted == most) break;
        wanted *= 2;
    }
    s->used = complete_modes(modes, s->used < wanted ? s->used : wanted);
    return RBT_DONE;
}

// ---- The step of the modes, and the right-hand sides

// d_l = u_l^T D u_l
static void damp_modes(siere *s) {
    const rbt_model *m = s->base.model;
    size_t n = 3 * m->node_count;
    for (size_t l = 0; l < s->used; l++) {
        const double *u = s->modes.U + l * n, *q = s->modes.Q + l * n, *k = s->modes.KU + l * n;
        double sum = 0;
        for (size_t i = 0; i < n; i++) {
            const rbt_damping_def *damping = &m->bodies[m->node_body[i / 3]].damping;
            sum += u[i] * (damping->mass * q[i] + damping->stiffness * k[i]);
        }
        s->d[l] = sum;
    }
}

// g' = -U^T K v over held nodes; leaves `ramp` at 0 if none moves
static void find_ramp(siere *s) {
    const rbt_linearised *base = &s->base;
    size_t n = 3 * base->model->node_count;
    bool moves = false;
    memset(s->ramp, 0, s->used * sizeof(double));
    for (size_t i = 0; s->driven && i < n; i++) {
        s->solution[i] = base->held[i / 3] ? base->moved[i] : 0;
        moves |= s->solution[i] != 0;
    }
    if (!moves) return;
    rbt_operator K = rbt_block_operator_of(s->stiffness);
    K.apply(K.self, s->solution, s->carried);
    rbt_vectors_inner(n, s->used, s->modes.U, 1, s->carried, s->ramp);
    for (size_t l = 0; l < s->used; l++) s->ramp[l] = -s->ramp[l];
}

static void step_modes(siere *s, const rbt_state *state, double h) {
    const rbt_linearised *base = &s->base;
    size_t n = 3 * base->model->node_count;
    find_ramp(s);
    // g = U^T (f - D v - M_fh dv_h / h): the right-hand side without the part that looks ahead, h^2 K v
    for (size_t i = 0; i < n; i++)
        s->carried[i] =
            base->held[i / 3] ? 0 : base->rhs[i] / h + h * base->product[i] - (base->push ? base->push[i] : 0);
    rbt_vectors_inner(n, s->used, s->modes.U, 1, s->carried, s->g);
    memcpy(s->carried, state->v, n * sizeof(double));
    rbt_vectors_inner(n, s->used, s->modes.Q, 1, s->carried, s->b);
    for (size_t l = 0; l < s->used; l++) {
        double lambda = s->modes.lambda[l], undamped = s->g[l] + s->d[l] * s->b[l];
        rbt_response r = rbt_oscillator_response(h, lambda, s->d[l]);
        s->da[l] = s->b[l] * r.impulse + undamped * r.step + s->ramp[l] * r.ramp;
        s->db[l] = s->b[l] * r.slope + undamped * r.impulse + s->ramp[l] * r.step;
        s->c[l] = h * (s->g[l] + h * (s->ramp[l] - lambda * s->b[l]));
    }
}

// What mode l adds to the right-hand sides: -Q c - h R (da - h b) - h E db to the first, Q + h E to its own. Returns how
// strongly it is coupled to the rest: (|h^2 R| + |h E|) / (1 + h d + h^2 lambda), in the norm of M^-1.
static double add_mode(siere *s, size_t l, double h) {
    const rbt_linearised *base = &s->base;
    const rbt_model *m = base->model;
    size_t n = 3 * m->node_count;
    const double *u = s->modes.U + l * n, *q = s->modes.Q + l * n, *k = s->modes.KU + l * n;
    double *own = s->right + (1 + l) * n, lambda = s->modes.lambda[l], R2 = 0, E2 = 0;
    double by_R = h * (s->da[l] - h * s->b[l]), by_E = h * s->db[l];
    for (size_t node = 0; node < m->node_count; node++) {
        const rbt_damping_def *damping = &m->bodies[m->node_body[node]].damping;
        for (size_t i = 3 * node; i < 3 * node + 3; i++) {
            own[i] = 0;
            if (base->held[node]) continue;
            double R = k[i] - lambda * q[i], E = (damping->mass - s->d[l]) * q[i] + damping->stiffness * k[i];
            for (size_t j = 0; base->contact && j < 3; j++) R += base->contact[3 * i + j] * u[3 * node + j];
            s->right[i] -= s->c[l] * q[i] + by_R * R + by_E * E;
            own[i] = q[i] + h * E;
            R2 += R * R / m->mass[node];
            E2 += E * E / m->mass[node];
        }
    }
    return (h * h * sqrt(R2) + h * sqrt(E2)) / (1 + h * fabs(s->d[l]) + h * h * fabs(lambda));
}

// ---- The solve

// A y = b, A T = Q + h E; the vectors behind the modes' are for the next step's start.
static rbt_outcome solve_block(siere *s, size_t count, rbt_step_report *report) {
    rbt_cholesky *cholesky = s->base.linear.cholesky;
    report->iterations++;
    if (!rbt_cholesky_solve_many(cholesky, count, s->right, s->solution)) return RBT_OUT_OF_MEMORY;
    if (s->matrix != INDEFINITE) return RBT_DONE;
    // Without pivoting digits can be lost: this one solves again, refines and judges.
    rbt_solve_result result = rbt_cholesky_solve_indefinite(cholesky, s->right, s->solution, &report->residual);
    if (result == RBT_SOLVE_NO_MEMORY) return RBT_OUT_OF_MEMORY;
    return result == RBT_SOLVED ? RBT_DONE : RBT_NOT_POSITIVE_DEFINITE;
}

// (Q^T T) z = Q^T y
static rbt_outcome solve_coupling(siere *s, rbt_step_report *report) {
    size_t n = 3 * s->base.model->node_count, k = s->used;
    const double *y = s->solution, *T = s->solution + n;
    rbt_vectors_inner(n, k, s->modes.Q, 1, y, s->z);
    rbt_vectors_inner(n, k, T, k, s->modes.Q, s->small);  // column i: T^T q_i, which is row i of Q^T T
    if (rbt_dense_solve(k, s->small, 1, s->z)) return RBT_DONE;
    snprintf(report->hint, sizeof report->hint,
             "the modes' small matrix is singular; take another step or fewer modes");
    return RBT_NOT_CONVERGED;
}

static rbt_outcome solve(siere *s, rbt_state *state, double h, rbt_step_report *report) {
    rbt_linearised *base = &s->base;
    rbt_modes *modes = &s->modes;
    size_t n = 3 * base->model->node_count;
    double coupling = 0;
    rbt_linearised_right(base, state, h);
    step_modes(s, state, h);
    memcpy(s->right, base->rhs, n * sizeof(double));
    for (size_t l = 0; l < s->used; l++) coupling = fmax(coupling, add_mode(s, l, h));
    memset(s->z, 0, s->used * sizeof(double));
    if (coupling <= NO_COUPLING) return solve_block(s, 1, report);
    for (size_t l = s->used; l < modes->count; l++)
        memcpy(s->right + (1 + l) * n, modes->Q + l * n, n * sizeof(double));
    if (s->used < modes->count) {
        rbt_modes_problem p = problem_of(s, h);
        rbt_modes_noise(modes, &p, 0, s->right + modes->count * n);
    }
    rbt_outcome outcome = solve_block(s, 1 + modes->count, report);
    if (outcome != RBT_DONE) return outcome;
    memcpy(modes->T, s->solution + n, modes->count * n * sizeof(double));
    return solve_coupling(s, report);
}

// dv = y + U db + (U - T) z,  dq = h (v - U b + y - T z) + U da
static rbt_outcome update(siere *s, rbt_state *state, double h, rbt_step_report *report) {
    const rbt_linearised *base = &s->base;
    size_t n = 3 * base->model->node_count, k = s->used;
    double *y = s->solution, *move = s->carried;
    rbt_vectors_combine(n, -1, k, s->modes.T, k, s->z, 1, 1, y);
    for (size_t i = 0; i < n; i++) move[i] = base->held[i / 3] ? h * base->moved[i] : h * (state->v[i] + y[i]);
    for (size_t l = 0; l < k; l++) {
        s->db[l] += s->z[l];
        s->da[l] -= h * s->b[l];
    }
    rbt_vectors_combine(n, 1, k, s->modes.U, k, s->da, 1, 1, move);
    rbt_vectors_combine(n, 1, k, s->modes.U, k, s->db, 1, 1, y);
    for (size_t i = 0; i < n; i++) {
        state->v[i] = base->held[i / 3] ? base->moved[i] : state->v[i] + y[i];
        state->x[i] += move[i];
    }
    rbt_outcome outcome = rbt_check_motion(base->model, state, h, report);
    if (outcome != RBT_DONE) return outcome;
    remember(s, state->memory);
    report->indefinite += s->matrix == INDEFINITE;
    report->projected += s->matrix == PROJECTED;
    return RBT_DONE;
}

static bool all_held(const siere *s) {
    size_t free_nodes = 0;
    for (size_t i = 0; i < s->base.model->node_count; i++) free_nodes += !s->base.held[i];
    return !free_nodes;
}

// Whether all negative directions of an indefinite matrix are among the modes
static bool is_covered(const siere *s, double h) {
    size_t covered = 0;
    for (size_t l = 0; l < s->used; l++) covered += 1 + h * s->d[l] + h * h * s->modes.lambda[l] < 0;
    return s->matrix != INDEFINITE || rbt_cholesky_negative_count(s->base.linear.cholesky) <= covered;
}

static rbt_outcome prepare_modes(siere *s, rbt_state *state, double h, rbt_step_report *report) {
    rbt_outcome outcome = find_modes(s, state, h, report);
    if (outcome != RBT_DONE) return outcome;
    damp_modes(s);
    if (is_covered(s, h)) return RBT_DONE;
    outcome = factor_projected(s, state, h, report);
    return outcome == RBT_DONE ? prepare_modes(s, state, h, report) : outcome;
}

static rbt_outcome solve_or_project(siere *s, rbt_state *state, double h, rbt_step_report *report) {
    rbt_outcome outcome = solve(s, state, h, report);
    if (outcome != RBT_NOT_POSITIVE_DEFINITE || s->matrix != INDEFINITE) return outcome;
    outcome = factor_projected(s, state, h, report);
    if (outcome == RBT_DONE) outcome = prepare_modes(s, state, h, report);
    return outcome == RBT_DONE ? solve(s, state, h, report) : outcome;
}

static rbt_outcome attempt(void *self, rbt_state *state, double until, rbt_stages *stages, rbt_step_report *report) {
    siere *s = self;
    rbt_linearised *base = &s->base;
    double h = rbt_step_length(base->model, state, until);
    rbt_held_nodes(base->model, state->t, base->held);
    if (!s->capacity || all_held(s)) return rbt_linearised_attempt(base, state, until, stages, report);
    RBT_STAGE("force", rbt_linearised_forces(base, state, h));  // f = f_ext - dW/dx
    RBT_STAGE("analyse", rbt_linearised_analyse(base));         // ordering and fill, when nodes were released
    if (rbt_linearised_stale(base, h)) {
        RBT_STAGE("assemble", rbt_linearised_assemble(base, state, RBT_TANGENT, h));  // K(x), A = M + h D + h^2 K
        RBT_STAGE("factor", factor(s, state, h, report));                             // A = L L^T
    }
    RBT_STAGE("modes", prepare_modes(s, state, h, report));     // K U = M U Lambda
    RBT_STAGE("solve", solve_or_project(s, state, h, report));  // modes exactly, the rest A y = ...
    RBT_STAGE("update", update(s, state, h, report));
    return RBT_DONE;
}

// ---- The tables

static const char *indefinite_name(int i) {
    static const char *const NAMES[] = {"project", "factor"};
    return i >= 0 && i < 2 ? NAMES[i] : NULL;
}

#define OPTION(member, what) .name = #member, .kind = what, .offset = offsetof(rbt_siere_options, member)
static const rbt_field FIELDS[] = {
    {OPTION(modes, RBT_INT), .flags = RBT_AUTO, .fallback = {5}, .max = 1000,
     .doc = "Lowest modes that are integrated exactly; a free body has six at frequency 0. 0: semi-implicit Euler; "
            "auto: as "
            "many as modes_below or modes_energy ask for, anew in every step."},
    {OPTION(modes_below, RBT_REAL), .flags = RBT_AUTO, .fallback = {NAN}, .max = INFINITY, .unit = "Hz",
     .doc =
         "With modes auto: all modes of a lower frequency; auto: those with more than ten steps in a period, 1 / (10 "
         "step). 0: frequencies do not count."},
    {OPTION(modes_energy, RBT_REAL), .flags = RBT_BELOW, .max = 1,
     .doc = "With modes auto: so many that they have this share of the kinetic energy when a step begins. 0: energy "
            "does not "
            "count."},
    {OPTION(max_modes, RBT_INT), .fallback = {50}, .min = 1, .max = 1000, .doc = "With modes auto: never more."},
    {OPTION(tolerance, RBT_REAL), .fallback = {1e-3}, .flags = RBT_ABOVE, .max = 1,
     .doc = "Residual |K u - lambda M u| of the modes, relative to lambda + 1 / step^2."},
    {OPTION(indefinite, RBT_CHOICE), .of.names = indefinite_name,
     .doc = "What a step does whose matrix is indefinite: project its stiffness, or factor it as it is if there are "
            "enough "
            "modes for all unstable directions."},
};
const rbt_record RBT_SIERE_OPTIONS = {"siere options", "Which modes are integrated exactly.",
                                      sizeof(rbt_siere_options), RBT_FIELDS(FIELDS)};

static const char *solver_name(int i) { return i == 0 ? "cholesky" : NULL; }

const rbt_method RBT_SIERE = {
    .name = "siere",
    .doc = "the lowest modes integrated exactly, the rest as semi-implicit does: one sparse factor per step",
    .when = "stiff bodies with large steps should keep their slow swinging; little dearer than semi-implicit, and "
            "finishes "
            "where that diverges",
    .order = 1,
    .solvers = solver_name,
    .options = &RBT_SIERE_OPTIONS,
    .memory_size = memory_size,
    .create = create,
    .destroy = destroy,
    .attempt = attempt,
};
