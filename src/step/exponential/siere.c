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
#include "step/core/method.h"
#include "step/exponential/siere_contact.h"
#include "step/exponential/siere_error.h"
#include "step/exponential/siere_modes.h"
#include "step/linearised/linearised_contact.h"

#include <stdio.h>
#include <string.h>

// Modes coupled to the rest by less than this share of their own change are weakly coupled: its square is left out.
static const double WEAK_COUPLING = 0.3;
// Symplectic Euler is unstable beyond 4.
static const double STIFF_CONTACT = 1;

// ---- The step of the modes, and the right-hand sides

// g' = -U^T K v over constrained nodes; leaves `ramp` at 0 if none moves
static void find_ramp(rbt_siere *s) {
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

static void step_modes(rbt_siere *s, const rbt_state *state, double h) {
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
static double coupling_of(const rbt_siere *s, size_t l, double h, double R, double E) {
    return (h * h * R + h * E) / (1 + h * fabs(s->d[l]) + h * h * fabs(s->modes.lambda[l]));
}

// What the modes add to the right-hand side, -Q c - h R (da - h b) - h E db, if R and E are combinations of Q and K
// U: all bodies damped alike, no contact. Returns the strongest coupling.
static double add_modes(rbt_siere *s, double h) {
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
static double add_mode(rbt_siere *s, size_t l, double h) {
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
static rbt_outcome solve_block(rbt_siere *s, size_t count, rbt_step_report *report) {
    rbt_cholesky *cholesky = s->base.linear.cholesky;
    size_t n = 3 * s->base.model->node_count;
    for (size_t k = count; s->modes.space && k-- > 0;) {  // y last: the residual of the report is its own
        rbt_outcome outcome =
            rbt_siere_agree(s, rbt_linear_solve(&s->base.linear, s->right + k * n, s->solution + k * n, report));
        if (outcome != RBT_DONE) return outcome;
    }
    if (s->modes.space) return RBT_DONE;
    report->statistics[RBT_STAT_ITERATIONS]++;
    if (!rbt_cholesky_solve_many(cholesky, count, s->right, s->solution)) return RBT_OUT_OF_MEMORY;
    if (s->matrix != RBT_SIERE_INDEFINITE) return RBT_DONE;
    // Without pivoting digits can be lost: this one solves again, refines and judges.
    rbt_solve_result result =
        rbt_cholesky_solve_indefinite(cholesky, s->right, s->solution, &report->statistics[RBT_STAT_RESIDUAL]);
    if (result == RBT_SOLVE_NO_MEMORY) return RBT_OUT_OF_MEMORY;
    return result == RBT_SOLVED ? RBT_DONE : RBT_NOT_POSITIVE_DEFINITE;
}

// (Q^T T) z = Q^T y, then y - T z
static rbt_outcome couple_strongly(rbt_siere *s, rbt_step_report *report) {
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
static void couple_weakly(rbt_siere *s, double h) {
    size_t k = s->used;
    rbt_modes_inner(&s->modes, k, s->modes.Q, 1, s->solution, s->taken);
    for (size_t l = 0; l < k; l++) s->z[l] = s->taken[l] * (1 + h * s->d[l] + h * h * s->modes.lambda[l]);
}

// A bound of the largest eigenvalue of h^2 U^T K_contact U: its trace
static double stiffness_of_contact(const rbt_siere *s, double h) {
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

static rbt_outcome solve(rbt_siere *s, rbt_state *state, double h, rbt_step_report *report) {
    rbt_linearised *base = &s->base;
    size_t n = 3 * base->model->node_count;
    double coupling = 0;
    rbt_linearised_right(base, state, h);
    step_modes(s, state, h);
    rbt_vector_copy(n, s->right, base->rhs);
    bool alike = !base->contact && rbt_siere_damped_alike(base->model);
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

static rbt_outcome solve_or_project(rbt_siere *s, rbt_state *state, double h, rbt_step_report *report) {
    rbt_outcome outcome = solve(s, state, h, report);
    if (!rbt_siere_is_mistaken(s, outcome)) return outcome;
    outcome = rbt_siere_project(s, state, h, report);
    return outcome == RBT_DONE ? solve(s, state, h, report) : outcome;
}

// ---- The end of the step

// dv = y - T z + U (db + z),  dq = h (v - U b + y - T z) + U da, with y - T z + U t in the place of y: what U has of
// dq - h dv and of dv, into `right`, one behind the other
static void combine_modes(rbt_siere *s, double h) {
    size_t n = 3 * s->base.model->node_count, k = s->used;
    double *share = s->small;
    for (size_t l = 0; l < k; l++) {
        share[l] = s->da[l] - h * (s->b[l] + s->taken[l]);
        share[k + l] = s->db[l] + s->z[l] - s->taken[l];
    }
    rbt_vectors_combine(n, 1, k, s->modes.U, k, share, 2, 0, s->right);
}

static rbt_outcome update(rbt_siere *s, rbt_state *state, double h, rbt_step_report *report) {
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
    if (outcome == RBT_DONE) rbt_siere_remember_modes(s, state, report);
    return outcome;
}

// The motion of the step and the velocities of its end, into `right`, one behind the other
static void find_end(rbt_siere *s, const rbt_state *state, double h) {
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

// ---- The step

static rbt_outcome attempt(void *self, rbt_state *state, double until, rbt_stages *stages, rbt_step_report *report) {
    rbt_siere *s = self;
    rbt_linearised *base = &s->base;
    double h = rbt_step_length(base->model, state, until);
    rbt_linearised_constrain(base, state->t);
    s->used = 0;
    if (!s->capacity || !rbt_siere_free_nodes(s))
        return rbt_linearised_attempt(base, state, until, rbt_siere_contact_memory(s, state), stages, report);
    rbt_outcome outcome = rbt_siere_prepare(s, state, h, stages, report);
    if (outcome != RBT_DONE) return outcome;
    if (base->impulses) rbt_siere_leave_unresolved(s, state, h);
    RBT_STAGE("solve", solve_or_project(s, state, h, report));  // modes exactly, the rest A y = ...
    if (base->impulses) {
        find_end(s, state, h);
        return rbt_siere_meet(s, state, h, stages, report);
    }
    RBT_STAGE("update", update(s, state, h, report));
    return RBT_DONE;
}

static rbt_outcome free_step(void *self, rbt_state *state, double until, const rbt_free_part *part,
                             rbt_free_step *step, rbt_stages *stages, rbt_step_report *report) {
    rbt_siere *s = self;
    rbt_linearised *base = &s->base;
    size_t n = 3 * base->model->node_count;
    double h = rbt_step_length(base->model, state, until);
    base->left_out = part->left_out;
    rbt_linearised_constrain(base, state->t);
    s->used = 0;
    if (!s->capacity || !rbt_siere_free_nodes(s))
        return rbt_linearised_free_step(base, state, h, part, step, stages, report);
    rbt_outcome outcome = rbt_siere_prepare(s, state, h, stages, report);
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
    rbt_siere_remember_modes(s, state, report);
    return RBT_DONE;
}

// ---- What it is asked between steps

// Modes start again; work and friction so far stay.
static void forget(void *self, rbt_state *state) {
    const rbt_siere *s = self;
    if (state->memory) memset(state->memory, 0, rbt_siere_modes_size(s->base.model, s->capacity));
}

static int error_law(const void *self, double ratio, double *constant) {
    const rbt_siere *s = self;
    return rbt_linearised_error_law(&s->base, ratio, constant);
}

static void set_observer(void *self, const rbt_observer *observer) {
    rbt_linearised_watch(&((rbt_siere *)self)->base, observer);
}

static double *spent(const void *self, const rbt_state *state) {
    rbt_impulse_memory *memory = rbt_siere_contact_memory(self, state);
    return memory ? &memory->work : NULL;
}

static double thickness(const void *self) { return rbt_linearised_thickness(&((const rbt_siere *)self)->base); }

static bool accepts(void *self, const rbt_state *state, char *text, size_t size) {
    return rbt_linearised_accepts(&((rbt_siere *)self)->base, state, text, size);
}

static void describe(const void *self, rbt_text *json) {
    const rbt_linearised *base = &((const rbt_siere *)self)->base;
    const rbt_linear_solver *other = &base->linear.other;
    if (other->self && other->describe) other->describe(other->self, json);
    rbt_linearised_describe(base, json);
}

static int labels(const void *self, int32_t *label) {
    const rbt_linear_solver *other = &((const rbt_siere *)self)->base.linear.other;
    return other->self && other->labels ? other->labels(other->self, label) : -1;
}

static void energies(void *self, const rbt_state *state, rbt_energies *e) {
    rbt_linearised_energies(&((rbt_siere *)self)->base, rbt_siere_contact_memory(self, state), e);
}

static size_t contacts(void *self, const rbt_state *state, rbt_contact_point *points, size_t capacity) {
    return rbt_linearised_contacts(&((rbt_siere *)self)->base, rbt_siere_contact_memory(self, state), state, points,
                                   capacity);
}

static void contact_forces(void *self, const rbt_state *state, double *f) {
    rbt_linearised_contact_forces(&((rbt_siere *)self)->base, rbt_siere_contact_memory(self, state), state, f);
}
static void give_contact(void *self, const rbt_state *state, rbt_contact_handover *to) {
    rbt_impulses_give(((rbt_siere *)self)->base.model, rbt_siere_contact_memory(self, state), to);
}
static void take_contact(void *self, rbt_state *state, const rbt_contact_handover *from) {
    rbt_impulses_take(((rbt_siere *)self)->base.model, rbt_siere_contact_memory(self, state), from);
}

// ---- The table

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
    rbt_siere_read_options(options, &o);
    return rbt_linear_subdomains(m, solver, o.subdomains);
}

const rbt_method RBT_SIERE = {
    .name = "siere",
    .helped = "one solve",
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
    .memory_size = rbt_siere_memory_size,
    .memory_head = sizeof(rbt_siere_memory),
    .failure_spares_memory = true,
    .most_attempts = RBT_MOST_ATTEMPTS,
    .contact = true,
    .create = rbt_siere_create,
    .destroy = rbt_siere_destroy,
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
    .give_contact = give_contact,
    .take_contact = take_contact,
    .work = work,
    .error_law = error_law,
    .refine_error = rbt_siere_refine_error,
};
