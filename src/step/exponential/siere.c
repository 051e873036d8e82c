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
//   (da, db)_l = h phi_1(h J_l) (b, g)_l + h^2 phi_2(h J_l) (0, g')_l,
//   J_l = [[0, 1], [-lambda_l, -d_l]] (math/oscillator.h)
// By Sherman, Morrison and Woodbury, with h^2 K U + h Q D_l = A U - Q - h E:
//   A y = r - Q c - h R (da - h b) - h E db,    A T = Q + h E,    (Q^T T) z = Q^T y
//   dv = y + U db + (U - T) z,      dq = h (v_H + y - T z) + U da,     v_H = v - U b
// So one factor and s + 1 solves do what the paper needs 2 s + 4 for, for any U. With true eigenvectors z = 0 and
//   T = U Theta^-1,    Theta = I + h D_l + h^2 L.
// If U is off by rho, so is T, and z is of the size of rho: taking this T leaves an error of rho^2, and y alone
// remains to be solved for. Only where modes are strongly coupled (contact, bodies of different damping) T is solved
// for as well.
//
// Driven nodes: g' = -U^T K_fh v_h is the force that grows as they move; r holds its value at the end of the step.
// Contact is left to the semi-implicit part as a whole: R has K_contact U in it, g no contact force. In formula (10)
// what contact does to the modes changes b, but a only in the next step: symplectic Euler, which keeps the energy of
// a bounce, and gains some where h^2 U^T K_contact U is large (a ball of 20 J on a floor of 1e9 Pa/m: 400 J). There z
// = 0 is taken instead, and with it the semi-implicit answer in the modes as well.
// A is indefinite if some lambda < -1/h^2, and Cholesky's decomposition fails. Then K of this step is replaced by the
// projected stiffness: a direction that would grow by more than e in a step is beyond any linearisation. On request L
// D L^T is taken instead, which is formula (10) as it stands, as long as all negative directions of A are among the
// modes. The report counts both. (A bar twisted by 200 to 360 degrees and let go, 1 to 20 modes: 29 of 32 runs finish
// with the one, 16 with the other, none with semi-implicit Euler.)
//
// Solvers other than cholesky solve the same systems one by one, for the modes too (mode_space.h), and run on ranks: U
// is divided among these as nodes are, all that is per mode is the same everywhere. Conjugate gradients may pass over
// a direction of negative curvature, which a factor cannot; the modes tell of it, too: A is indefinite if some Theta_l
// is negative.
#include "step/exponential/siere.h"

#include "math/exponential.h"
#include "math/oscillator.h"
#include "math/vec3.h"
#include "math/vector.h"
#include "solve/modes.h"
#include "step/core/method.h"
#include "step/exponential/mode_space.h"
#include "step/exponential/siere_contact.h"
#include "step/exponential/siere_error.h"
#include "step/linearised/linearised_contact.h"

#include <stdio.h>
#include <string.h>

// Modes coupled to the rest by less than this share of their own change are weakly coupled: its square is left out.
static const double WEAK_COUPLING = 0.3;
// The first modes are found this well at least. From then on each step's round keeps up with what K changes; it would
// take long to make up for modes that were none. (Positions after 40 steps of the
// honeycomb and 60 of a soft cantilever, relative to their way: a tolerance of 0.3 instead of 1e-4 changes them by
// 3e-3 and 1.4e-4, half the step by 0.24 and 1.5e-3.)
static const double START_TOLERANCE = 1e-6;
// Symplectic Euler is unstable beyond 4.
static const double STIFF_CONTACT = 1;
// L D L^T goes column by column: beyond so many flops it is not tried.
static const double MAX_FLOPS = 2e10;
enum { FIRST_GUESS = 8 };  // modes that "auto" begins with

typedef enum matrix_kind { DEFINITE, INDEFINITE, PROJECTED } matrix_kind;

// What is remembered: this, then U
typedef struct memory_head {
    uint64_t carried;      // vectors in each block; 0: nothing yet
    uint64_t wanted;       // of them, modes that were asked for
    uint64_t constrained;  // hash of the constrained nodes
} memory_head;

typedef struct siere {
    rbt_siere_options options;
    rbt_linearised base;
    rbt_block_operator *stiffness;
    rbt_modes modes;
    rbt_mode_space space;  // of solvers that are no factor of the whole: modes.space
    size_t capacity;       // vectors in the memory's blocks
    size_t used;           // modes of this step
    bool driven;           // some constrained node can move
    bool current;          // Q and KU are those of the memory's U (linear models)
    matrix_kind matrix;
    memory_head head;                        // of this step's modes
    double *b, *g, *ramp, *da, *db, *c, *d;  // (capacity) per mode
    double *small, *z, *taken;               // (capacity^2), (capacity), (capacity)
    double *by_Q, *by_KU;                    // (capacity)
    double *mass_share, *stiffness_share;    // (node_count) of M and K in A
    double *extra;                           // (node_count x 9) h^2 K_contact, NULL without obstacles
    double *right, *solution;                // ((1 + capacity) x node_count x 3)
    double *carried;                         // (node_count x 3) velocities, of constrained nodes or of others
    unsigned char *keep;                     // (node_count) not constrained
    unsigned char *hashed;                   // (node_count) constrained nodes that `hash` is of
    uint64_t hash;
    bool has_hash;
    double *bits;  // of rbt_mode_space_hash, on ranks
} siere;

// ---- What is remembered

static const double *remembered(const memory_head *head) { return (const double *)(head + 1); }

static void remember(const siere *s, memory_head *head) {
    *head = s->head;
    rbt_vector_copy((size_t)head->carried * 3 * s->base.model->node_count, (double *)(head + 1), s->modes.U);
}

static void read_options(const void *options, rbt_siere_options *to) {
    if (options) *to = *(const rbt_siere_options *)options;
    else rbt_record_default(&RBT_SIERE_OPTIONS, to);
}

static size_t capacity_of(const rbt_siere_options *o) {
    return o->modes == 0 ? 0 : rbt_modes_capacity((size_t)(o->modes > 0 ? o->modes : o->max_modes));
}

static size_t modes_size(const rbt_model *m, size_t capacity) {
    return capacity ? sizeof(memory_head) + 3 * capacity * m->node_count * sizeof(double) : 0;
}

static size_t memory_size(const rbt_model *m, const void *options) {
    rbt_siere_options o;
    read_options(options, &o);
    return modes_size(m, capacity_of(&o)) + rbt_impulse_memory_size(m);
}

// What contact remembers comes last; NULL without contact.
static rbt_impulse_memory *contact_memory(const siere *s, const rbt_state *state) {
    if (!s->base.impulses || !state->memory) return NULL;
    return (void *)((char *)state->memory + modes_size(s->base.model, s->capacity));
}

// Of the constrained nodes
static uint64_t constrained_hash(siere *s) {
    const rbt_model *m = s->base.model;
    bool others = !s->has_hash || memcmp(s->hashed, s->base.constrained, m->node_count) != 0;
    if (!rbt_ranks_any(m, others)) return s->hash;
    memcpy(s->hashed, s->base.constrained, m->node_count);
    s->hash = rbt_mode_space_hash(m, s->base.constrained, s->bits);
    s->has_hash = true;
    return s->hash;
}

// ---- Life

static void destroy(void *self) {
    siere *s = self;
    rbt_modes_free(&s->modes);
    rbt_mode_space_free(&s->space);
    rbt_block_operator_free(s->stiffness);
    rbt_linearised_free(&s->base);
    free(s);
}

static bool allocate(siere *s, const rbt_model *m, rbt_error *error) {
    rbt_arena *arena = s->base.arena;
    size_t values = 3 * m->node_count, c = s->capacity;
    double **each[] = {&s->b, &s->g, &s->ramp, &s->da, &s->db, &s->c, &s->d, &s->z, &s->taken, &s->by_Q, &s->by_KU};
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof each / sizeof *each; i++)
        ok = (*each[i] = rbt_arena_take(arena, c, sizeof(double))) != NULL;
    ok = ok && (s->small = rbt_arena_take(arena, c, c * sizeof(double))) &&
         (s->right = rbt_arena_take(arena, 1 + c, values * sizeof(double))) &&
         (s->solution = rbt_arena_take(arena, 1 + c, values * sizeof(double))) &&
         (s->carried = rbt_arena_take(arena, values, sizeof(double))) &&
         (s->mass_share = rbt_arena_take(arena, m->node_count, sizeof(double))) &&
         (s->stiffness_share = rbt_arena_take(arena, m->node_count, sizeof(double))) &&
         (!s->base.contact || (s->extra = rbt_arena_take(arena, 3 * values, sizeof(double)))) &&
         (s->keep = rbt_arena_take(arena, m->node_count, 1)) &&
         (s->hashed = rbt_arena_take(arena, m->node_count, 1)) &&
         (!m->ranks || (s->bits = rbt_arena_take(arena, (m->ranks->whole_nodes + 63) / 64, sizeof(double))));
    return ok || rbt_fail_memory(error, 2 * (1 + c) * values * sizeof(double), "modes");
}

static bool init_space(siere *s, int solver, rbt_error *error) {
    rbt_linearised *base = &s->base;
    if (solver == RBT_LINEAR_CHOLESKY) return true;
    s->modes.space = &s->space.functions;
    return rbt_mode_space_init(&s->space, base->arena, base->model, &base->stiffness.K, &base->linear, solver,
                               s->options.subdomains, s->capacity) ||
           rbt_fail_memory(error, s->capacity * sizeof(rbt_sum), "modes");
}

static void *create(const rbt_model *model, int solver, const void *options, rbt_error *error) {
    siere *s = rbt_array_new(1, sizeof *s, "a stepper", error);
    if (!s) return NULL;
    read_options(options, &s->options);
    s->capacity = capacity_of(&s->options);
    s->driven = model->motions.node_count > 0 || model->ranks;  // another rank may have one
    bool ok =
        solver == RBT_LINEAR_CHOLESKY || s->options.indefinite == RBT_INDEFINITE_PROJECTS ||
        rbt_fail_path(error, NULL, "integrator.options.indefinite",
                      "the solver %s has no factor of an indefinite matrix; take project, or the solver cholesky",
                      rbt_linear_name(solver));
    ok = ok && rbt_linearised_init(&s->base, model, solver, s->options.subdomains, error);
    if (ok && s->capacity)
        ok = (s->stiffness = rbt_block_operator_new(&s->base.stiffness.K, error)) &&
             rbt_modes_init(&s->modes, model->node_count, s->capacity, error) && allocate(s, model, error) &&
             init_space(s, solver, error);
    if (ok) return s;
    destroy(s);
    return NULL;
}

// ---- The matrix

static size_t max_modes(const siere *s) {
    return (size_t)(s->options.modes > 0 ? s->options.modes : s->options.max_modes);
}

// The worst of all ranks
static rbt_outcome agree(const siere *s, rbt_outcome outcome) {
    double worst = outcome;
    rbt_ranks_most(s->base.model, &worst, 1);
    return (rbt_outcome)worst;
}

static rbt_outcome factor_projected(siere *s, const rbt_state *state, double h, rbt_step_report *report) {
    s->matrix = PROJECTED;
    report->hint[0] = 0;  // of what was tried before
    rbt_linearised_assemble(&s->base, state, RBT_PROJECTED, h);
    return agree(s, rbt_linearised_factor(&s->base, state, h, report));
}

static rbt_outcome factor(siere *s, const rbt_state *state, double h, rbt_step_report *report) {
    rbt_cholesky *cholesky = s->base.linear.cholesky;
    s->matrix = DEFINITE;
    rbt_outcome outcome = agree(s, rbt_linearised_factor(&s->base, state, h, report));
    if (outcome != RBT_NOT_POSITIVE_DEFINITE) return outcome;
    size_t row;
    s->matrix = INDEFINITE;
    // contact needs entries of L L^T, bodies of other methods a minimum
    if (cholesky && !s->base.impulses && !s->base.left_out && s->options.indefinite == RBT_INDEFINITE_FACTORS &&
        rbt_cholesky_flops(cholesky) <= MAX_FLOPS) {
        rbt_factor_result result = rbt_cholesky_factor_indefinite(cholesky, &s->base.A, &row);
        if (result == RBT_FACTOR_NO_MEMORY) return RBT_OUT_OF_MEMORY;
        if (result == RBT_FACTORED && rbt_cholesky_negative_count(cholesky) <= max_modes(s)) return RBT_DONE;
    }
    return factor_projected(s, state, h, report);
}

// ---- The modes

static void multiply_mass(void *self, const double *x, double *y) { rbt_mass_product(self, x, y); }

static rbt_modes_problem problem_of(siere *s, double h) {
    rbt_linearised *base = &s->base;
    size_t nodes = base->model->node_count;
    for (size_t n = 0; n < nodes; n++) {
        s->mass_share[n] = rbt_mass_factor(base->model, n, h);
        s->stiffness_share[n] = rbt_stiffness_factor(base->model, n, h);
    }
    for (size_t n = 0; n < nodes; n++) s->keep[n] = !base->constrained[n];
    for (size_t i = 0; s->extra && i < 9 * nodes; i++) s->extra[i] = h * h * base->contact[i];
    return (rbt_modes_problem){.K = &base->stiffness.K,
                               .stiffness = rbt_block_operator_of(s->stiffness),
                               .mass = {base->mass.matrix.value ? multiply_mass : NULL, &base->mass},
                               .lumped = base->model->mass,
                               .keep = s->keep,
                               .factor = base->linear.cholesky,
                               .mass_share = s->mass_share,
                               .stiffness_share = s->stiffness_share,
                               .extra = s->extra,
                               .indefinite = s->matrix == INDEFINITE,
                               .shift = 1 / (h * h),
                               .tolerance = s->options.tolerance};
}

static double dot(const siere *s, const double *a, const double *b) {
    const rbt_model *m = s->base.model;
    return s->modes.space ? rbt_ranks_dot(m, a, b) : rbt_vector_dot(3 * m->node_count, a, b);
}

// With "auto": the modes that the frequency or the energy asks for; more than `found` if all of these are needed and
// not enough.
static size_t needed_modes(siere *s, const rbt_state *state, size_t found, double h) {
    const rbt_siere_options *o = &s->options;
    size_t n = 3 * s->base.model->node_count, by_frequency = 0, by_energy = 0;
    double turn = 2 * acos(-1.0) * (isnan(o->modes_below) ? 0.1 / h : o->modes_below), energy = 0, sum = 0;
    while (by_frequency < found && s->modes.lambda[by_frequency] < turn * turn) by_frequency++;
    if (o->modes_energy > 0) {
        memcpy(s->carried, state->v, n * sizeof(double));
        for (size_t i = 0; i < n; i++)
            if (s->base.constrained[i / 3]) s->carried[i] = 0;
        rbt_mass_product(&s->base.mass, s->carried, s->base.product);
        energy = o->modes_energy * dot(s, s->carried, s->base.product);
        rbt_modes_inner(&s->modes, found, s->modes.Q, 1, s->carried, s->b);
        for (; by_energy < found && sum < energy; by_energy++) sum += s->b[by_energy] * s->b[by_energy];
    }
    bool enough = (by_frequency < found || turn == 0) && sum >= energy;
    return enough ? (by_frequency > by_energy ? by_frequency : by_energy) : found + 1;
}

static rbt_outcome modes_outcome(rbt_modes_result result, double tolerance, rbt_step_report *report) {
    switch (result) {
    case RBT_MODES_FOUND: return RBT_DONE;
    case RBT_MODES_NO_MEMORY: return RBT_OUT_OF_MEMORY;
    case RBT_MODES_INDEFINITE: return RBT_NOT_POSITIVE_DEFINITE;
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

// Translations and turns of bodies none of whose nodes is constrained, as many as there is room for: at rest they are
// modes, and translations always. Returns how many.
static size_t rigid_motions(siere *s, const rbt_state *state, double *to) {
    const rbt_model *m = s->base.model;
    size_t n = 3 * m->node_count, count = 0;
    for (size_t b = 0; b < m->body_count; b++) {
        const rbt_body *body = &m->bodies[b];
        double held = 0;  // on any rank
        for (size_t i = body->node_begin; i < body->node_end; i++)
            if (s->base.constrained[i]) held = 1;
        rbt_ranks_most(m, &held, 1);
        if (held != 0 || count + 6 > s->modes.carried) continue;
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

// Equal eigenvalues belong together: which combinations of their modes come first is chance. If guards complete the
// last ones they are modes too.
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
    uint64_t constrained = constrained_hash(s);
    bool known =
        head->carried && head->carried <= s->capacity && head->wanted == wanted && head->constrained == constrained;
    bool linear = s->base.model->linear;
    size_t most = rbt_modes_capacity(wanted);
    if (most > s->capacity) most = s->capacity;
    modes->carried = known ? (size_t)head->carried : most;
    if (linear && known && s->current) return RBT_MODES_FOUND;
    rbt_modes_result result = RBT_MODES_FOUND;
    if (linear && known) {
        modes->count = (size_t)head->carried;
        rbt_vector_copy(modes->count * 3 * s->base.model->node_count, modes->U, remembered(head));
    } else {
        result = known ? rbt_modes_follow(modes, &p, wanted, remembered(head)) : RBT_MODES_NOT_CONVERGED;
        if (result == RBT_MODES_NOT_CONVERGED) {
            p.tolerance = fmin(p.tolerance, START_TOLERANCE);
            modes->carried = most;
            result = rbt_modes_start(modes, &p, wanted, rigid_motions(s, state, modes->T));
        }
    }
    if (result != RBT_MODES_FOUND) return result;
    if (linear) rbt_modes_refresh(modes, &p);
    s->current = true;
    s->head = (memory_head){.carried = modes->count, .wanted = wanted, .constrained = constrained};
    return result;
}

static size_t free_nodes(const siere *s) {
    const rbt_model *m = s->base.model;
    size_t count = 0;
    for (size_t i = 0; i < m->node_count; i++) count += rbt_ranks_owns(m, i) && !s->base.constrained[i];
    return m->ranks ? (size_t)rbt_ranks_sum(m, (double)count) : count;
}

static rbt_outcome find_modes(siere *s, rbt_state *state, double h, rbt_step_report *report) {
    const memory_head *head = state->memory;
    rbt_modes *modes = &s->modes;
    size_t unknowns = 3 * free_nodes(s);
    int64_t solves = modes->solves;
    size_t most = max_modes(s);
    if (most > unknowns) most = unknowns;
    bool usable = head->carried <= s->capacity && head->wanted <= most;
    size_t wanted = s->options.modes > 0 ? most : usable && head->wanted ? (size_t)head->wanted : FIRST_GUESS;
    for (;;) {
        if (wanted > most) wanted = most;
        rbt_modes_result result = find_wanted(s, state, wanted, h);
        if (!modes->space) report->statistics[RBT_STAT_ITERATIONS] += modes->solves - solves;
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

// Whether all bodies are damped alike, so that D U = alpha Q + beta K U
static bool damped_alike(const rbt_model *m) {
    for (size_t b = 1; b < m->body_count; b++)
        if (m->bodies[b].damping.mass != m->bodies[0].damping.mass ||
            m->bodies[b].damping.stiffness != m->bodies[0].damping.stiffness)
            return false;
    return true;
}

// d_l = u_l^T D u_l
static void damp_modes(siere *s) {
    const rbt_model *m = s->base.model;
    size_t n = 3 * m->node_count;
    bool alike = damped_alike(m);
    if (!alike) rbt_modes_images(&s->modes);
    for (size_t l = 0; l < s->used; l++) {
        const double *u = s->modes.U + l * n, *q = s->modes.Q + l * n, *k = s->modes.KU + l * n;
        double sum = 0;
        if (alike) sum = m->bodies[0].damping.mass + m->bodies[0].damping.stiffness * s->modes.lambda[l];
        else
            for (size_t i = 0; i < n; i++) {
                const rbt_damping_def *damping = &m->bodies[m->node_body[i / 3]].damping;
                s->carried[i] = damping->mass * q[i] + damping->stiffness * k[i];
                sum += u[i] * s->carried[i];
            }
        s->d[l] = !alike && s->modes.space ? dot(s, u, s->carried) : sum;
    }
}

// g' = -U^T K v over constrained nodes; leaves `ramp` at 0 if none moves
static void find_ramp(siere *s) {
    const rbt_linearised *base = &s->base;
    size_t n = 3 * base->model->node_count;
    bool moves = false;  // on any rank
    memset(s->ramp, 0, s->used * sizeof(double));
    for (size_t i = 0; s->driven && i < n; i++) {
        s->solution[i] = base->constrained[i / 3] ? base->moved[i] : 0;
        moves |= s->solution[i] != 0;
    }
    if (!rbt_ranks_any(base->model, moves)) return;
    rbt_operator K = rbt_block_operator_of(s->stiffness);
    K.apply(K.self, s->solution, s->carried);
    rbt_modes_inner(&s->modes, s->used, s->modes.U, 1, s->carried, s->ramp);
    for (size_t l = 0; l < s->used; l++) s->ramp[l] = -s->ramp[l];
}

static void step_modes(siere *s, const rbt_state *state, double h) {
    const rbt_linearised *base = &s->base;
    size_t n = 3 * base->model->node_count;
    find_ramp(s);
    // g = U^T (f - D v - M_fh dv_h / h): the right-hand side without the part that looks ahead, h^2 K v; b = U^T M v
    double *force = s->right, *momentum = s->right + n, *products = s->small;
    for (size_t i = 0; i < n; i++) {
        force[i] =
            base->constrained[i / 3] ? 0 : base->rhs[i] / h + h * base->product[i] - (base->push ? base->push[i] : 0);
        s->carried[i] = base->constrained[i / 3] ? 0 : state->v[i];
    }
    rbt_mass_product(&base->mass, s->carried, momentum);
    rbt_modes_inner(&s->modes, s->used, s->modes.U, 2, s->right, products);
    for (size_t l = 0; l < s->used; l++) {
        s->g[l] = products[l];
        s->b[l] = products[s->used + l];
        double lambda = s->modes.lambda[l], undamped = s->g[l] + s->d[l] * s->b[l];
        rbt_response r = rbt_oscillator_response(h, lambda, s->d[l]);
        s->da[l] = s->b[l] * r.impulse + undamped * r.step + s->ramp[l] * r.ramp;
        s->db[l] = s->b[l] * r.slope + undamped * r.impulse + s->ramp[l] * r.step;
        s->c[l] = h * (s->g[l] + h * (s->ramp[l] - lambda * s->b[l]));
    }
}

// Coupling to the rest: (|h^2 R| + |h E|) / (1 + h d + h^2 lambda), in the norm of M^-1
static double coupling_of(const siere *s, size_t l, double h, double R, double E) {
    return (h * h * R + h * E) / (1 + h * fabs(s->d[l]) + h * h * fabs(s->modes.lambda[l]));
}

// What the modes add to the right-hand side, -Q c - h R (da - h b) - h E db, if R and E are combinations of Q and K
// U: all bodies damped alike, no contact. Returns the strongest coupling.
static double add_modes(siere *s, double h) {
    const rbt_damping_def *damping = &s->base.model->bodies[0].damping;
    double strongest = 0;
    for (size_t l = 0; l < s->used; l++) {
        double by_R = h * (s->da[l] - h * s->b[l]), by_E = h * s->db[l];
        s->by_Q[l] = s->c[l] - by_R * s->modes.lambda[l] + by_E * (damping->mass - s->d[l]);
        s->by_KU[l] = by_R + by_E * damping->stiffness;
        double R = s->modes.residual[l];
        strongest = fmax(strongest, coupling_of(s, l, h, R, damping->stiffness * R));
    }
    rbt_modes_add(&s->modes, -1, s->used, s->by_Q, s->by_KU, s->right);
    return strongest;
}

// The same for mode l in any case; and Q + h E, the right-hand side of its own.
static double add_mode(siere *s, size_t l, double h) {
    const rbt_linearised *base = &s->base;
    const rbt_model *m = base->model;
    size_t n = 3 * m->node_count;
    const double *u = s->modes.U + l * n, *q = s->modes.Q + l * n, *k = s->modes.KU + l * n;
    double *own = s->right + (1 + l) * n, lambda = s->modes.lambda[l], squares[2];
    rbt_terms terms;
    rbt_terms_begin(&terms, 2);
    double by_R = h * (s->da[l] - h * s->b[l]), by_E = h * s->db[l];
    for (size_t node = 0; node < m->node_count; node++) {
        const rbt_damping_def *damping = &m->bodies[m->node_body[node]].damping;
        double R2 = 0, E2 = 0;
        for (size_t i = 3 * node; i < 3 * node + 3; i++) {
            own[i] = 0;
            if (base->constrained[node]) continue;
            double R = k[i] - lambda * q[i], E = (damping->mass - s->d[l]) * q[i] + damping->stiffness * k[i];
            for (size_t j = 0; base->contact && j < 3; j++) R += base->contact[3 * i + j] * u[3 * node + j];
            s->right[i] -= s->c[l] * q[i] + by_R * R + by_E * E;
            own[i] = q[i] + h * E;
            R2 += R * R / m->mass[node];
            E2 += E * E / m->mass[node];
        }
        if (!rbt_ranks_owns(m, node)) continue;
        size_t place = rbt_terms_next(&terms);
        terms.value[0][place] = R2;
        terms.value[1][place] = E2;
    }
    rbt_terms_end(&terms, m, squares);
    return coupling_of(s, l, h, sqrt(squares[0]), sqrt(squares[1]));
}

// ---- The solve

// The first `count` right-hand sides: A y = b, then A T = Q + h E
static rbt_outcome solve_block(siere *s, size_t count, rbt_step_report *report) {
    rbt_cholesky *cholesky = s->base.linear.cholesky;
    size_t n = 3 * s->base.model->node_count;
    for (size_t k = count; s->modes.space && k-- > 0;) {  // y last: the residual of the report is its own
        rbt_outcome outcome =
            agree(s, rbt_linear_solve(&s->base.linear, s->right + k * n, s->solution + k * n, report));
        if (outcome != RBT_DONE) return outcome;
    }
    if (s->modes.space) return RBT_DONE;
    report->statistics[RBT_STAT_ITERATIONS]++;
    if (!rbt_cholesky_solve_many(cholesky, count, s->right, s->solution)) return RBT_OUT_OF_MEMORY;
    if (s->matrix != INDEFINITE) return RBT_DONE;
    // Without pivoting digits can be lost: this one solves again, refines and judges.
    rbt_solve_result result =
        rbt_cholesky_solve_indefinite(cholesky, s->right, s->solution, &report->statistics[RBT_STAT_RESIDUAL]);
    if (result == RBT_SOLVE_NO_MEMORY) return RBT_OUT_OF_MEMORY;
    return result == RBT_SOLVED ? RBT_DONE : RBT_NOT_POSITIVE_DEFINITE;
}

// (Q^T T) z = Q^T y, then y - T z
static rbt_outcome couple_strongly(siere *s, rbt_step_report *report) {
    size_t n = 3 * s->base.model->node_count, k = s->used;
    double *y = s->solution, *T = s->solution + n;
    rbt_modes_inner(&s->modes, k, s->modes.Q, 1, y, s->z);
    rbt_modes_inner(&s->modes, k, T, k, s->modes.Q, s->small);  // column i: row i of Q^T T
    if (rbt_dense_solve(k, s->small, 1, s->z)) {
        rbt_vectors_combine(n, -1, k, T, k, s->z, 1, 1, y);
        return RBT_DONE;
    }
    snprintf(report->hint, sizeof report->hint,
             "the modes' small matrix is singular; take another step or fewer modes");
    return RBT_NOT_CONVERGED;
}

// The same with T = U Theta^-1: y - U t, where t = Theta^-1 z is left in `taken`
static void couple_weakly(siere *s, double h) {
    size_t k = s->used;
    rbt_modes_inner(&s->modes, k, s->modes.Q, 1, s->solution, s->taken);
    for (size_t l = 0; l < k; l++) s->z[l] = s->taken[l] * (1 + h * s->d[l] + h * h * s->modes.lambda[l]);
}

// A bound of the largest eigenvalue of h^2 U^T K_contact U: its trace
static double stiffness_of_contact(const siere *s, double h) {
    const rbt_model *m = s->base.model;
    const double *contact = s->base.contact;
    double sum = 0;
    rbt_terms terms;
    if (!contact) return 0;
    rbt_terms_begin(&terms, 1);
    for (size_t l = 0; l < s->used; l++) {
        const double *u = s->modes.U + 3 * l * m->node_count;
        for (size_t node = 0; node < m->node_count; node++) {
            if (!rbt_ranks_owns(m, node)) continue;
            double *own = &terms.value[0][rbt_terms_next(&terms)];
            *own = 0;
            for (size_t i = 3 * node; i < 3 * node + 3; i++) *own += u[i] * rbt_dot(contact + 3 * i, u + 3 * node);
        }
    }
    rbt_terms_end(&terms, m, &sum);
    return h * h * sum;
}

static rbt_outcome solve(siere *s, rbt_state *state, double h, rbt_step_report *report) {
    rbt_linearised *base = &s->base;
    size_t n = 3 * base->model->node_count;
    double coupling = 0;
    rbt_linearised_right(base, state, h);
    step_modes(s, state, h);
    rbt_vector_copy(n, s->right, base->rhs);
    bool alike = !base->contact && damped_alike(base->model);
    if (alike) coupling = add_modes(s, h);
    if (!alike || coupling > WEAK_COUPLING) {
        rbt_modes_images(&s->modes);
        rbt_vector_copy(n, s->right, base->rhs);
        for (size_t l = 0; l < s->used; l++) coupling = fmax(coupling, add_mode(s, l, h));
    }
    bool pushed = stiffness_of_contact(s, h) > STIFF_CONTACT, strong = coupling > WEAK_COUPLING && !pushed;
    rbt_outcome outcome = solve_block(s, strong ? 1 + s->used : 1, report);
    if (outcome != RBT_DONE) return outcome;
    memset(s->taken, 0, s->used * sizeof(double));
    if (strong) return couple_strongly(s, report);
    if (pushed) memset(s->z, 0, s->used * sizeof(double));
    else couple_weakly(s, h);
    return RBT_DONE;
}

// dv = y - T z + U (db + z),  dq = h (v - U b + y - T z) + U da, with y - T z + U t in the place of y: what U has of
// dq - h dv and of dv, into `right`, one behind the other
static void combine_modes(siere *s, double h) {
    size_t n = 3 * s->base.model->node_count, k = s->used;
    double *share = s->small;
    for (size_t l = 0; l < k; l++) {
        share[l] = s->da[l] - h * (s->b[l] + s->taken[l]);
        share[k + l] = s->db[l] + s->z[l] - s->taken[l];
    }
    rbt_vectors_combine(n, 1, k, s->modes.U, k, share, 2, 0, s->right);
}

static void finish(siere *s, rbt_state *state, rbt_step_report *report) {
    remember(s, state->memory);
    report->statistics[RBT_STAT_INDEFINITE] += s->matrix == INDEFINITE;
    report->statistics[RBT_STAT_PROJECTED] += s->matrix == PROJECTED;
}

static rbt_outcome update(siere *s, rbt_state *state, double h, rbt_step_report *report) {
    const rbt_linearised *base = &s->base;
    size_t n = 3 * base->model->node_count;
    double *y = s->solution, *move = s->right, *change = s->right + n;
    combine_modes(s, h);
    for (size_t i = 0; i < n; i++) {
        bool constrained = base->constrained[i / 3];
        state->x[i] += move[i] + h * (constrained ? base->moved[i] : state->v[i] + y[i]);
        state->v[i] = constrained ? base->moved[i] : state->v[i] + y[i] + change[i];
    }
    rbt_outcome outcome = rbt_check_motion(base->model, state, h, report);
    if (outcome == RBT_DONE) finish(s, state, report);
    return outcome;
}

// The motion of the step and the velocities of its end, into `right`, one behind the other
static void find_end(siere *s, const rbt_state *state, double h) {
    const rbt_linearised *base = &s->base;
    size_t n = 3 * base->model->node_count;
    double *y = s->solution, *move = s->right, *change = s->right + n;
    combine_modes(s, h);
    for (size_t i = 0; i < n; i++) {
        bool constrained = base->constrained[i / 3];
        move[i] += h * (constrained ? base->moved[i] : state->v[i] + y[i]);
        change[i] = constrained ? base->moved[i] : state->v[i] + y[i] + change[i];
    }
}

// The same with what is in the way (siere_contact.h)
static rbt_outcome meet(siere *s, rbt_state *state, double h, rbt_stages *stages, rbt_step_report *report) {
    rbt_linearised *base = &s->base;
    double *move = s->right, *change = s->right + 3 * base->model->node_count;
    find_end(s, state, h);
    rbt_siere_meeting m = {.base = base,
                           .modes = &s->modes,
                           .used = s->used,
                           .damping = s->d,
                           .h = h,
                           .move = move,
                           .velocity = change,
                           .by_displacement = s->by_Q,
                           .by_velocity = s->by_KU,
                           .share = s->small};
    rbt_outcome outcome = rbt_siere_meet(&m, state, stages, report);
    if (outcome != RBT_DONE) return outcome;
    RBT_STAGE("update", rbt_linearised_remember(base, state, h, contact_memory(s, state), report));
    finish(s, state, report);
    return RBT_DONE;
}

// Whether the matrix is definite, or all its negative directions are among the modes
static bool is_covered(const siere *s, double h) {
    size_t covered = 0;
    for (size_t l = 0; l < s->used; l++) covered += 1 + h * s->d[l] + h * h * s->modes.lambda[l] < 0;
    if (s->modes.space) return s->matrix == PROJECTED || covered == 0;
    return s->matrix != INDEFINITE || rbt_cholesky_negative_count(s->base.linear.cholesky) <= covered;
}

// Whether an outcome says that the matrix was taken for another one than it is
static bool is_mistaken(const siere *s, rbt_outcome outcome) {
    return outcome == RBT_NOT_POSITIVE_DEFINITE &&
           (s->matrix == INDEFINITE || (s->modes.space && s->matrix == DEFINITE));
}

static rbt_outcome prepare_modes(siere *s, rbt_state *state, double h, rbt_step_report *report) {
    s->space.x = state->x;
    s->space.constrained = s->base.constrained;
    s->space.report = report;
    rbt_outcome outcome = find_modes(s, state, h, report);
    if (outcome == RBT_DONE) {
        damp_modes(s);
        if (is_covered(s, h)) return RBT_DONE;
    } else if (!is_mistaken(s, outcome)) return outcome;
    outcome = factor_projected(s, state, h, report);
    return outcome == RBT_DONE ? prepare_modes(s, state, h, report) : outcome;
}

static rbt_outcome solve_or_project(siere *s, rbt_state *state, double h, rbt_step_report *report) {
    rbt_outcome outcome = solve(s, state, h, report);
    if (!is_mistaken(s, outcome)) return outcome;
    outcome = factor_projected(s, state, h, report);
    if (outcome == RBT_DONE) outcome = prepare_modes(s, state, h, report);
    return outcome == RBT_DONE ? solve(s, state, h, report) : outcome;
}

// Everything up to the modes
static rbt_outcome prepare(siere *s, rbt_state *state, double h, rbt_stages *stages, rbt_step_report *report) {
    rbt_linearised *base = &s->base;
    RBT_STAGE("force", rbt_linearised_forces(base, state, h));  // f = f_ext - dW/dx
    RBT_STAGE("analyse", rbt_linearised_analyse(base));         // ordering and fill, when nodes were released
    if (rbt_linearised_stale(base, h)) {
        RBT_STAGE("assemble", rbt_linearised_assemble(base, state, RBT_TANGENT, h));  // K(x), A = M + h D + h^2 K
        RBT_STAGE("factor", factor(s, state, h, report));                             // A = L L^T
    }
    RBT_STAGE("modes", prepare_modes(s, state, h, report));  // K U = M U Lambda
    return RBT_DONE;
}

static rbt_siere_options options_of(int modes) {
    rbt_siere_options o = rbt_siere_options_default();
    o.modes = modes;
    o.indefinite = RBT_INDEFINITE_PROJECTS;
    return o;
}

void *rbt_siere_modes_new(const rbt_model *model, int modes, rbt_error *error) {
    rbt_siere_options o = options_of(modes);
    return create(model, RBT_LINEAR_CHOLESKY, &o, error);
}

void rbt_siere_modes_free(void *self) {
    if (self) destroy(self);
}

size_t rbt_siere_modes_memory(const rbt_model *model, int modes) {
    rbt_siere_options o = options_of(modes);
    return modes_size(model, capacity_of(&o));
}

rbt_outcome rbt_siere_find_modes(void *self, rbt_state *state, double h, rbt_stages *stages, rbt_step_report *report,
                                 rbt_siere_modes *modes) {
    siere *s = self;
    rbt_linearised_constrain(&s->base, state->t);
    s->used = 0;
    *modes = (rbt_siere_modes){.force = s->base.f};
    if (!s->capacity || !free_nodes(s)) return RBT_DONE;
    rbt_outcome outcome = prepare(s, state, h, stages, report);
    if (outcome != RBT_DONE) return outcome;
    *modes = (rbt_siere_modes){.count = s->used,
                               .U = s->modes.U,
                               .lambda = s->modes.lambda,
                               .damping = s->d,
                               .force = s->base.f,
                               .partial = s->modes.partial};
    return RBT_DONE;
}

void rbt_siere_remember_modes(void *self, rbt_state *state, rbt_step_report *report) { finish(self, state, report); }

// A mode that a step does not resolve answers to contact as A does (siere_contact.h), but to its own forces exactly:
// the two would balance at another place than that of rest. While something touches it is left to the rest.
static void leave_unresolved(siere *s, const rbt_state *state, double h) {
    const rbt_impulse_memory *memory = contact_memory(s, state);
    if (memory && memory->count > 0) s->used = rbt_siere_resolved(s->used, s->modes.lambda, s->d, h);
}

static rbt_outcome attempt(void *self, rbt_state *state, double until, rbt_stages *stages, rbt_step_report *report) {
    siere *s = self;
    rbt_linearised *base = &s->base;
    double h = rbt_step_length(base->model, state, until);
    rbt_linearised_constrain(base, state->t);
    s->used = 0;
    if (!s->capacity || !free_nodes(s))
        return rbt_linearised_attempt(base, state, until, contact_memory(s, state), stages, report);
    rbt_outcome outcome = prepare(s, state, h, stages, report);
    if (outcome != RBT_DONE) return outcome;
    if (base->impulses) leave_unresolved(s, state, h);
    RBT_STAGE("solve", solve_or_project(s, state, h, report));  // modes exactly, the rest A y = ...
    if (base->impulses) return meet(s, state, h, stages, report);
    RBT_STAGE("update", update(s, state, h, report));
    return RBT_DONE;
}

static rbt_outcome free_step(void *self, rbt_state *state, double until, const rbt_free_part *part,
                             rbt_free_step *step, rbt_stages *stages, rbt_step_report *report) {
    siere *s = self;
    rbt_linearised *base = &s->base;
    size_t n = 3 * base->model->node_count;
    double h = rbt_step_length(base->model, state, until);
    base->left_out = part->left_out;
    rbt_linearised_constrain(base, state->t);
    s->used = 0;
    if (!s->capacity || !free_nodes(s)) return rbt_linearised_free_step(base, state, h, part, step, stages, report);
    rbt_outcome outcome = prepare(s, state, h, stages, report);
    if (outcome != RBT_DONE) return outcome;
    if (part->touched) s->used = rbt_siere_resolved(s->used, s->modes.lambda, s->d, h);
    RBT_STAGE("solve", solve_or_project(s, state, h, report));
    find_end(s, state, h);
    for (size_t i = 0; i < n; i++) s->right[i] += state->x[i];
    rbt_siere_answer(s->used, s->modes.lambda, s->d, h, s->by_Q, s->by_KU);
    *step = (rbt_free_step){.x = s->right,
                            .v = s->right + n,
                            .given = base->rhs,
                            .A = &base->A,
                            .mode_count = s->used,
                            .U = s->modes.U,
                            .Q = s->modes.Q,
                            .stiffening = s->by_Q,
                            .quickening = s->by_KU};
    finish(s, state, report);
    return RBT_DONE;
}

// ---- What it tells of contact

// Modes start again; work and friction so far stay.
static void forget(void *self, rbt_state *state) {
    const siere *s = self;
    if (state->memory) memset(state->memory, 0, modes_size(s->base.model, s->capacity));
}

static void set_observer(void *self, const rbt_observer *observer) {
    rbt_linearised_watch(&((siere *)self)->base, observer);
}
static double *spent(const void *self, const rbt_state *state) {
    rbt_impulse_memory *memory = contact_memory(self, state);
    return memory ? &memory->work : NULL;
}

static double thickness(const void *self) { return rbt_linearised_thickness(&((const siere *)self)->base); }

static bool accepts(void *self, const rbt_state *state, char *text, size_t size) {
    return rbt_linearised_accepts(&((siere *)self)->base, state, text, size);
}
static void describe(const void *self, rbt_text *json) {
    const rbt_linearised *base = &((const siere *)self)->base;
    const rbt_linear_solver *other = &base->linear.other;
    if (other->self && other->describe) other->describe(other->self, json);
    rbt_linearised_describe(base, json);
}
static int labels(const void *self, int32_t *label) {
    const rbt_linear_solver *other = &((const siere *)self)->base.linear.other;
    return other->self && other->labels ? other->labels(other->self, label) : -1;
}
static void energies(void *self, const rbt_state *state, rbt_energies *e) {
    rbt_linearised_energies(&((siere *)self)->base, contact_memory(self, state), e);
}
static size_t contacts(void *self, const rbt_state *state, rbt_contact_point *points, size_t capacity) {
    return rbt_linearised_contacts(&((siere *)self)->base, contact_memory(self, state), state, points, capacity);
}
static void contact_forces(void *self, const rbt_state *state, double *f) {
    rbt_linearised_contact_forces(&((siere *)self)->base, contact_memory(self, state), state, f);
}

// ---- Steps by error

static int refine_error(void *self, const rbt_state *state, double h, int order, double *ex, double *ev) {
    siere *s = self;
    rbt_linearised *base = &s->base;
    const rbt_model *m = base->model;
    for (size_t i = 0; i < 3 * m->node_count; i++) {
        s->carried[i] = base->constrained[i / 3] ? 0 : state->v[i];
        base->moved[i] = h * state->v[i];
    }
    // dx = h (v+ - U c) + U da, c = Q^T v+
    rbt_vectors_inner(3 * m->node_count, s->used, s->modes.Q, 1, s->carried, s->c, s->modes.partial);
    for (size_t l = 0; l < s->used; l++) s->z[l] = s->da[l] - h * s->c[l];
    rbt_vectors_combine(3 * m->node_count, 1, s->used, s->modes.U, s->used, s->z, 1, 1, base->moved);
    const double *F = rbt_linearised_add_missed(base, state, h, base->moved, ev);
    if (!s->used) return order;
    rbt_vectors_inner(3 * m->node_count, s->used, s->modes.U, 1, F, s->z, s->modes.partial);
    for (size_t l = 0; l < s->used; l++) {
        double foreseen = s->g[l] + h * s->ramp[l] - s->modes.lambda[l] * s->da[l] - s->d[l] * s->db[l];
        s->z[l] += -s->d[l] * s->c[l] - foreseen;
    }
    const rbt_siere_error e = {.count = 3 * m->node_count,
                               .modes = s->used,
                               .U = s->modes.U,
                               .Q = s->modes.Q,
                               .missed = s->z,
                               .small = s->small,
                               .partial = s->modes.partial};
    return rbt_siere_refine(&e, h, ex, ev);
}

static int error_law(const void *self, double ratio, double *constant) {
    const siere *s = self;
    return rbt_linearised_error_law(&s->base, ratio, constant);
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
            "many as modes_below or modes_energy ask for, again in every step."},
    {OPTION(modes_below, RBT_REAL), .flags = RBT_AUTO, .fallback = {NAN}, .max = INFINITY, .unit = "Hz",
     .doc =
         "With modes auto: all modes of a lower frequency; auto: those with more than ten steps in a period, 1 / (10 "
         "step). 0: frequencies do not count."},
    {OPTION(modes_energy, RBT_REAL), .flags = RBT_BELOW, .max = 1,
     .doc = "With modes auto: so many that they have this share of the kinetic energy when a step begins. 0: energy "
            "does not "
            "count."},
    {OPTION(max_modes, RBT_INT), .fallback = {50}, .min = 1, .max = 1000, .doc = "With modes auto: never more."},
    {OPTION(tolerance, RBT_REAL), .fallback = {0.3}, .flags = RBT_ABOVE, .max = 1,
     .doc = "Residual |K u - lambda M u| of the modes, relative to lambda + 1 / step^2."},
    {OPTION(indefinite, RBT_CHOICE), .of.names = indefinite_name,
     .doc = "What a step does whose matrix is indefinite: project its stiffness, or factor it as it is if there are "
            "enough "
            "modes for all unstable directions."},
    {OPTION(subdomains, RBT_INT), .flags = RBT_AUTO, .fallback = {-1}, .min = 1, .max = 1e6,
     .doc = "Of solver schwarz: parts whose matrices are factored one by one, at most as many as there are elements; "
            "auto: one for every 2,048 nodes. run.json says how many there are."},
};
const rbt_record RBT_SIERE_OPTIONS = {"siere options", "Which modes are integrated exactly.",
                                      sizeof(rbt_siere_options), RBT_FIELDS_WITH_COOKIE(FIELDS)};

rbt_siere_options rbt_siere_options_default(void) {
    rbt_siere_options options;
    rbt_record_default(&RBT_SIERE_OPTIONS, &options);
    return options;
}

static rbt_step_work work(int solver) {
    if (solver != RBT_LINEAR_CHOLESKY)  // of every vector that is carried along; products cost about what forces do
        return (rbt_step_work){.gradients = 100, .assemblies = 1.3};
    return (rbt_step_work){.gradients = 2, .assemblies = 1.3, .factors = 1, .solves = 3};
}

static bool on_ranks(int solver, const void *options) {
    (void)options;
    return rbt_linear_on_ranks(solver);
}

static size_t subdomains(const rbt_model *m, int solver, const void *options) {
    rbt_siere_options o;
    read_options(options, &o);
    return rbt_linear_subdomains(m, solver, o.subdomains);
}

const rbt_method RBT_SIERE = {
    .name = "siere",
    .doc = "the lowest modes integrated exactly, the rest as semi-implicit does: one sparse factor per step",
    .when = "stiff bodies with large steps should keep their slow swinging; little dearer than semi-implicit, and "
            "finishes "
            "where that diverges",
    .order = 1,
    .solvers = rbt_linear_name,
    .options = &RBT_SIERE_OPTIONS,
    .on_ranks = on_ranks,
    .subdomains = subdomains,
    .labels = labels,
    .memory_size = memory_size,
    .memory_head = sizeof(memory_head),
    .failure_spares_memory = true,
    .contact = true,
    .create = create,
    .destroy = destroy,
    .attempt = attempt,
    .free_step = free_step,
    .forget = forget,
    .set_observer = set_observer,
    .accepts = accepts,
    .thickness = thickness,
    .spent = spent,
    .describe = describe,
    .energies = energies,
    .contacts = contacts,
    .contact_forces = contact_forces,
    .work = work,
    .error_law = error_law,
    .refine_error = refine_error,
};
