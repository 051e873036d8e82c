#include "step/exponential/siere_modes.h"

#include "math/vector.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// The first modes are found this well at least. From then on each step's round keeps up with what K changes; it would
// take long to make up for modes that were none. (Positions after 40 steps of the
// honeycomb and 60 of a soft cantilever, relative to their way: a tolerance of 0.3 instead of 1e-4 changes them by
// 3e-3 and 1.4e-4, half the step by 0.24 and 1.5e-3.)
static const double START_TOLERANCE = 1e-6;
// L D L^T goes column by column: beyond so many flops it is not tried.
static const double MAX_FLOPS = 2e10;
enum { FIRST_GUESS = 8 };  // modes that "auto" begins with

// ---- What is remembered

static const double *remembered(const rbt_siere_memory *head) { return (const double *)(head + 1); }

static void remember(const rbt_siere *s, rbt_siere_memory *head) {
    *head = s->head;
    rbt_vector_copy((size_t)head->carried * 3 * s->base.model->node_count, (double *)(head + 1), s->modes.U);
}

// Of the constrained nodes
static uint64_t constrained_hash(rbt_siere *s) {
    const rbt_model *m = s->base.model;
    bool others = !s->has_hash || memcmp(s->hashed, s->base.constrained, m->node_count) != 0;
    if (!rbt_ranks_any(m, others)) return s->hash;
    memcpy(s->hashed, s->base.constrained, m->node_count);
    s->hash = rbt_mode_space_hash(m, s->base.constrained, s->bits);
    s->has_hash = true;
    return s->hash;
}

// ---- The matrix

static size_t max_modes(const rbt_siere *s) {
    return (size_t)(s->options.modes > 0 ? s->options.modes : s->options.max_modes);
}

rbt_outcome rbt_siere_agree(const rbt_siere *s, rbt_outcome outcome) {
    double worst = outcome;
    rbt_ranks_most(s->base.model, &worst, 1);
    return (rbt_outcome)worst;
}

static rbt_outcome factor_projected(rbt_siere *s, const rbt_state *state, double h, rbt_step_report *report) {
    s->matrix = RBT_SIERE_PROJECTED;
    report->hint[0] = 0;  // of what was tried before
    rbt_linearised_assemble(&s->base, state, RBT_PROJECTED, h);
    return rbt_siere_agree(s, rbt_linearised_factor(&s->base, state, h, report));
}

static rbt_outcome factor(rbt_siere *s, const rbt_state *state, double h, rbt_step_report *report) {
    rbt_cholesky *cholesky = s->base.linear.cholesky;
    s->matrix = RBT_SIERE_DEFINITE;
    rbt_outcome outcome = rbt_siere_agree(s, rbt_linearised_factor(&s->base, state, h, report));
    if (outcome != RBT_NOT_POSITIVE_DEFINITE) return outcome;
    size_t row;
    s->matrix = RBT_SIERE_INDEFINITE;
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

static rbt_modes_problem problem_of(rbt_siere *s, double h) {
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
                               .indefinite = s->matrix == RBT_SIERE_INDEFINITE,
                               .shift = 1 / (h * h),
                               .tolerance = s->options.tolerance};
}

static double dot(const rbt_siere *s, const double *a, const double *b) {
    const rbt_model *m = s->base.model;
    return s->modes.space ? rbt_ranks_dot(m, a, b) : rbt_vector_dot(3 * m->node_count, a, b);
}

// With "auto": the modes that the frequency or the energy asks for; more than `found` if all of these are needed and
// not enough.
static size_t needed_modes(rbt_siere *s, const rbt_state *state, size_t found, double h) {
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
static size_t rigid_motions(rbt_siere *s, const rbt_state *state, double *to) {
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
static rbt_modes_result find_wanted(rbt_siere *s, const rbt_state *state, size_t wanted, double h) {
    const rbt_siere_memory *head = state->memory;
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
    s->head = (rbt_siere_memory){.carried = modes->count, .wanted = wanted, .constrained = constrained};
    return result;
}

size_t rbt_siere_free_nodes(const rbt_siere *s) {
    const rbt_model *m = s->base.model;
    size_t count = 0;
    for (size_t i = 0; i < m->node_count; i++) count += rbt_ranks_owns(m, i) && !s->base.constrained[i];
    return m->ranks ? (size_t)rbt_ranks_sum(m, (double)count) : count;
}

static rbt_outcome find_modes(rbt_siere *s, rbt_state *state, double h, rbt_step_report *report) {
    const rbt_siere_memory *head = state->memory;
    rbt_modes *modes = &s->modes;
    size_t unknowns = 3 * rbt_siere_free_nodes(s);
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

bool rbt_siere_damped_alike(const rbt_model *m) {
    for (size_t b = 1; b < m->body_count; b++)
        if (m->bodies[b].damping.mass != m->bodies[0].damping.mass ||
            m->bodies[b].damping.stiffness != m->bodies[0].damping.stiffness)
            return false;
    return true;
}

// d_l = u_l^T D u_l
static void damp_modes(rbt_siere *s) {
    const rbt_model *m = s->base.model;
    size_t n = 3 * m->node_count;
    bool alike = rbt_siere_damped_alike(m);
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

// ---- Both, until they fit each other

// Whether the matrix is definite, or all its negative directions are among the modes
static bool is_covered(const rbt_siere *s, double h) {
    size_t covered = 0;
    for (size_t l = 0; l < s->used; l++) covered += 1 + h * s->d[l] + h * h * s->modes.lambda[l] < 0;
    if (s->modes.space) return s->matrix == RBT_SIERE_PROJECTED || covered == 0;
    return s->matrix != RBT_SIERE_INDEFINITE || rbt_cholesky_negative_count(s->base.linear.cholesky) <= covered;
}

bool rbt_siere_is_mistaken(const rbt_siere *s, rbt_outcome outcome) {
    return outcome == RBT_NOT_POSITIVE_DEFINITE &&
           (s->matrix == RBT_SIERE_INDEFINITE || (s->modes.space && s->matrix == RBT_SIERE_DEFINITE));
}

static rbt_outcome prepare_modes(rbt_siere *s, rbt_state *state, double h, rbt_step_report *report) {
    s->space.x = state->x;
    s->space.constrained = s->base.constrained;
    s->space.report = report;
    rbt_outcome outcome = find_modes(s, state, h, report);
    if (outcome == RBT_DONE) {
        damp_modes(s);
        if (is_covered(s, h)) return RBT_DONE;
    } else if (!rbt_siere_is_mistaken(s, outcome)) return outcome;
    return rbt_siere_project(s, state, h, report);
}

rbt_outcome rbt_siere_project(rbt_siere *s, rbt_state *state, double h, rbt_step_report *report) {
    rbt_outcome outcome = factor_projected(s, state, h, report);
    return outcome == RBT_DONE ? prepare_modes(s, state, h, report) : outcome;
}

rbt_outcome rbt_siere_prepare(rbt_siere *s, rbt_state *state, double h, rbt_stages *stages, rbt_step_report *report) {
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

// ---- For a method that integrates them itself

static rbt_siere_options options_of(int modes) {
    rbt_siere_options o = rbt_siere_options_default();
    o.modes = modes;
    o.indefinite = RBT_INDEFINITE_PROJECTS;
    return o;
}

void *rbt_siere_modes_new(const rbt_model *model, int modes, rbt_error *error) {
    rbt_siere_options o = options_of(modes);
    return rbt_siere_create(model, RBT_LINEAR_CHOLESKY, &o, error);
}

void rbt_siere_modes_free(void *self) {
    if (self) rbt_siere_destroy(self);
}

size_t rbt_siere_modes_memory(const rbt_model *model, int modes) {
    rbt_siere_options o = options_of(modes);
    return rbt_siere_modes_size(model, rbt_siere_capacity(&o));
}

rbt_outcome rbt_siere_find_modes(void *self, rbt_state *state, double h, rbt_stages *stages, rbt_step_report *report,
                                 rbt_siere_modes *modes) {
    rbt_siere *s = self;
    rbt_linearised_constrain(&s->base, state->t);
    s->used = 0;
    *modes = (rbt_siere_modes){.force = s->base.f};
    if (!s->capacity || !rbt_siere_free_nodes(s)) return RBT_DONE;
    rbt_outcome outcome = rbt_siere_prepare(s, state, h, stages, report);
    if (outcome != RBT_DONE) return outcome;
    *modes = (rbt_siere_modes){.count = s->used,
                               .U = s->modes.U,
                               .lambda = s->modes.lambda,
                               .damping = s->d,
                               .force = s->base.f,
                               .partial = s->modes.partial};
    return RBT_DONE;
}

void rbt_siere_remember_modes(void *self, rbt_state *state, rbt_step_report *report) {
    const rbt_siere *s = self;
    remember(s, state->memory);
    report->statistics[RBT_STAT_INDEFINITE] += s->matrix == RBT_SIERE_INDEFINITE;
    report->statistics[RBT_STAT_PROJECTED] += s->matrix == RBT_SIERE_PROJECTED;
}
