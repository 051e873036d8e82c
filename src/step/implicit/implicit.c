// Backward Euler, the implicit midpoint rule, BDF2 and energy-euler: four readings of one minimisation (objective.h).
//
//                     tau    base position b        base velocity u        after the minimum z, w = (z - b)/tau
//   backward-euler    h      x_n                    v_n                    x = z,          v = w
//   implicit-midpoint h/2    x_n                    v_n                    x = 2 z - x_n,  v = 2 w - v_n
//   bdf2              2h/3   (4 x_n - x_{n-1})/3    (4 v_n - v_{n-1})/3    x = z,          v = w
//   energy-euler      h s    x_n                    v_n / s                x = z,          v: see below
//
// energy-euler: s^2 = theta, the implicitness, from 1/2 to 1, so that with F the forces at free nodes, but for those R
// of contact and damping, which act as at the end,
//   x = x_n + h v_n + theta h^2 M^-1 (F(x) + R),   v = v_n + h M^-1 ((1 - theta) F(x_n) + theta F(x) + R)
//     = v_n + (x - x_n - h v_n)/(theta h) + (1 - theta) h M^-1 (F(x_n) - F(x)).
// theta = 1 is backward Euler. A vibration of q = h^2 omega^2 keeps the area (1 + (1 - theta) q)/(1 + theta q) of its
// phase plane in a step. theta = 1/2 keeps all of it, with eigenvalues of modulus 1 at any q (their sum is 2/(1 + q/2):
// 4 steps in a period at least), and is of second order: Newmark's rule of beta = gamma = 1/2. Gravity is exact, a body
// at rest stays so whatever theta is, and x is a minimum, as that of backward Euler is. Then energies are
// set right (energy_leash.h). Damping c = s: its force is D (x - x_n)/h.
//
// BDF2 keeps x_{n-1}, v_{n-1} and the last step in the state's memory; after a step of another length, and at the
// start, it does one step of backward Euler. Where steps are chosen by their error, all but the first are of second
// order: with r = h / h_{n-1}
//   tau = h (1 + r)/(1 + 2 r),   b = ((1 + r)^2 x_n - r^2 x_{n-1})/(1 + 2 r),   u alike
//
// Errors of a step, x(t + h) less what the rule gives, by Taylor's formula:
//   backward-euler     x_n + h v(t + h) is off by -h^2/2 x'', and v likewise
//   implicit-midpoint  y_n + h f((y_n + y_{n+1})/2) is off by h^3/24 y''' - h^3/8 f_y y''. For x, f_y y'' is x''',
//                      which leaves -h^3/12 x'''. For v it is v''' but for the curvature of the forces along the
//                      motion, which is large where stiff elements turn: a chord is shorter than its arc. So forces
//                      are asked, where the rule took them and where the motion was: z = x(t + h/2) + h^2/8 x'', and
//                      v is off by h^3/24 v''' - h M^-1 (f(z) - f(z - h^2/8 x'')).
//   bdf2               about t + h, terms of third order in b leave h^3 (1 + r)^2/(6 r (1 + 2 r)) x''', and v likewise
#include "math/vec3.h"
#include "math/vector.h"
#include "step/core/method.h"
#include "step/implicit/energy_leash.h"
#include "step/implicit/implicit_contact.h"
#include "step/implicit/rigid.h"
#include "step/implicit/solver.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef enum rule { BACKWARD_EULER, MIDPOINT, BDF2, ENERGY_EULER } rule;

typedef struct implicit {
    rule rule;
    rbt_implicit_options options;
    rbt_objective objective;
    rbt_rigid rigid;
    const rbt_step_solver *solver;
    void *work;  // the solver's
    rbt_arena *arena;
    double *base, *velocity, *z, *other, *constrained_velocity;  // (node_count x 3)
    double stored;                                               // [J] in contact where the step begins
    double precision;  // share of the tolerance that the next solve is made to; 0: all of it
    double refused;    // [s] a step of the midpoint rule up to then gained energy, or turned an element inside out
    bool second;       // the latest step of BDF2 was one of second order
    bool damped;       // the latest step of the midpoint rule was one of backward Euler instead
    double theta;      // of energy-euler: its implicitness, NaN: chosen; theta_now: of this step
    double theta_now;
    double until;            // [s] the end of this step
    bool kept;               // of energy-euler: energies are set right
    rbt_energy_leash leash;  // of energy-euler
} implicit;

static void destroy(void *self) {
    implicit *s = self;
    if (s->work) s->solver->destroy(s->work);
    rbt_other_methods_free(s->objective.others);
    rbt_step_contact_free(s->objective.pairs);
    rbt_energy_leash_free(&s->leash);
    rbt_rigid_free(&s->rigid);
    rbt_objective_free(&s->objective);
    rbt_arena_free(s->arena);
    free(s);
}

// ---- Contact

static bool check_contact(const implicit *s, const rbt_model *m, rbt_error *error) {
    if (!m->contact.on || s->solver->contact) return true;
    return rbt_fail_path(error, NULL, "contact",
                         "the solver %s does not know contact; take newton, dot or lbfgs-h, or leave \"contact\" out",
                         s->solver->name);
}

// Of energy-euler where something touches. An impact shorter than a few steps leaves most of its energy in vibrations
// faster than steps can tell, which hold it for good at 1/2; here they lose two thirds of it in each step, and the
// energy goes to the motion that can be told: a ball bounces on.
static const double TOUCHING_IMPLICITNESS = 0.75;

// Of a whole step that touches something
static double whole_theta(const implicit *s) { return isnan(s->theta) ? TOUCHING_IMPLICITNESS : s->theta; }

static bool make_contact(implicit *s, const rbt_model *m, rbt_error *error) {
    if (!m->contact.on) return true;
    double tau = s->rule == MIDPOINT ? 0.5 * m->step
                 : s->rule == BDF2   ? 2 * m->step / 3
                                     : sqrt(whole_theta(s)) * m->step;
    return (s->objective.pairs = rbt_step_contact_new(m, tau, &s->objective.H, error)) != NULL;
}

// Bodies of other methods are those of backward Euler only (rbt_method.joins).
static bool make_others(implicit *s, const rbt_model *m, rbt_error *error) {
    if (!rbt_other_methods_any(m)) return true;
    if (m->contact.on && s->solver != &RBT_NEWTON)
        return rbt_fail_path(
            error, NULL, "integrator.solver",
            "%s does not know bodies with a method of their own, which bring a matrix and modes with "
            "them; take newton",
            s->solver->name);
    return (s->objective.others = rbt_other_methods_new(m, &s->objective.H, error)) != NULL;
}

static bool make_leash(implicit *s, const void *options, rbt_error *error) {
    rbt_energy_euler_options standard = rbt_energy_euler_options_default();
    const rbt_energy_euler_options *own = options ? options : &standard;
    if (s->rule != ENERGY_EULER) return true;
    s->theta = own->implicitness;
    s->kept = own->energy == RBT_ENERGY_KEPT;
    const rbt_model *m = s->objective.model;
    for (size_t b = 0; b < m->body_count; b++) {
        char path[64];
        if (!m->bodies[b].consistent_mass) continue;
        snprintf(path, sizeof path, "bodies[%zu].consistent_mass", b);
        return rbt_fail_path(
            error, NULL, path,
            "energy-euler keeps the momenta of masses on nodes; leave \"consistent_mass\" out, or take "
            "implicit-midpoint");
    }
    return rbt_energy_leash_init(&s->leash, &s->objective, own->decay, error);
}

static void *create(rule which, const rbt_model *model, int solver, const void *options, rbt_error *error) {
    implicit *s = rbt_array_new(1, sizeof *s, "a stepper", error);
    if (!s) return NULL;
    s->rule = which;
    s->theta = s->theta_now = 1;
    s->solver = rbt_step_solver_at(solver);
    s->arena = rbt_arena_new();
    if (options) s->options = *(const rbt_implicit_options *)options;
    else rbt_record_default(&RBT_SOLVER_OPTIONS, &s->options);
    double **vectors[] = {&s->base, &s->velocity, &s->z, &s->other, &s->constrained_velocity};
    bool ok = s->arena;
    for (size_t i = 0; ok && i < sizeof vectors / sizeof *vectors; i++)
        ok = (*vectors[i] = rbt_arena_take(s->arena, 3 * model->node_count, sizeof(double))) != NULL;
    if (!ok) rbt_fail_memory(error, 15 * model->node_count * sizeof(double), "a stepper");
    if (ok && check_contact(s, model, error) && rbt_objective_init(&s->objective, model, error) &&
        rbt_rigid_init(&s->rigid, &s->objective, error) && make_leash(s, options, error) &&
        make_contact(s, model, error) && make_others(s, model, error) &&
        (s->work = s->solver->create(&s->objective, &s->options, error)))
        return s;
    destroy(s);
    return NULL;
}

// ---- The state's memory: of BDF2 the last step, then x and v before it; of energy-euler the debts of bodies

static size_t bdf2_memory(const rbt_model *m) { return (1 + 6 * m->node_count) * sizeof(double); }

static size_t memory_size(const rbt_model *m, const void *options) {
    (void)options;
    return rbt_contact_memory_size(m) + rbt_other_methods_memory(m);
}

static size_t memory_size_bdf2(const rbt_model *m, const void *options) {
    return bdf2_memory(m) + memory_size(m, options);
}

static size_t debt_memory(const rbt_model *m) { return m->body_count * sizeof(double); }

static size_t memory_size_energy(const rbt_model *m, const void *options) {
    return debt_memory(m) + memory_size(m, options);
}

static size_t own_memory(const implicit *s) {
    const rbt_model *m = s->objective.model;
    return s->rule == BDF2 ? bdf2_memory(m) : s->rule == ENERGY_EULER ? debt_memory(m) : 0;
}

// What contact remembers comes last; NULL without contact.
static rbt_contact_memory *contact_memory(const implicit *s, const rbt_state *state) {
    size_t before = own_memory(s);
    return s->objective.pairs && state->memory ? (void *)((char *)state->memory + before) : NULL;
}

// What other methods of bodies remember comes behind that
static void *others_memory(const implicit *s, const rbt_state *state) {
    size_t before = own_memory(s) + rbt_contact_memory_size(s->objective.model);
    return state->memory ? (char *)state->memory + before : NULL;
}

static const double *remembered(const implicit *s, const rbt_state *state, double h) {
    const double *memory = state->memory;
    bool by_error = s->objective.model->asked.error > 0;
    bool usable = s->rule == BDF2 && memory && (memory[0] == h || (by_error && memory[0] > 0));
    return usable ? memory + 1 : NULL;
}

static void remember(const implicit *s, rbt_state *state, double h, const double *x, const double *v) {
    if (s->rule != BDF2 || !state->memory) return;
    size_t values = 3 * state->node_count;
    double *memory = state->memory;
    memory[0] = h;
    memcpy(memory + 1, x, values * sizeof(double));
    memcpy(memory + 1 + values, v, values * sizeof(double));
}

// ---- The stages of a step

// D belongs where the rule takes the force. The rules of second order extrapolate to there, which keeps their order;
// should a material forbid that place, x_n has to do, as it does for backward Euler.
static void freeze_damping(implicit *s, const rbt_state *state, double ahead) {
    rbt_objective *o = &s->objective;
    if (!o->damping) return;
    for (size_t i = 0; i < 3 * state->node_count; i++) s->z[i] = state->x[i] + ahead * state->v[i];
    bool allowed = ahead > 0 && isfinite(rbt_energy_elastic(o->model, s->z, o->energies));
    rbt_objective_freeze_damping(o, allowed ? s->z : state->x);
}

// Nodes of other methods begin where their free steps end; without contact that is where they stay.
static void take_free_steps(implicit *s) {
    rbt_objective *o = &s->objective;
    for (size_t i = 0; i < 3 * o->model->node_count; i++) {
        if (!o->others->is_other[i / 3]) continue;
        if (!o->constrained[i / 3]) s->z[i] = o->others->x[i];
        if (!o->pairs) s->constrained_velocity[i] = o->others->v[i];
    }
    for (size_t n = 0; !o->pairs && n < o->model->node_count; n++) o->constrained[n] |= o->others->is_other[n];
}

static rbt_outcome predict(implicit *s, const rbt_state *state, double h) {
    rbt_objective *o = &s->objective;
    const rbt_model *m = o->model;
    size_t values = 3 * m->node_count;
    const double *before = remembered(s, state, h);
    s->second = before != NULL;
    o->drag = sqrt(s->theta_now);
    o->tau = s->rule == MIDPOINT ? 0.5 * h : before ? 2 * h / 3 : o->drag * h;
    double now = 4, earlier = 1, sum = 3;  // b = (now x - earlier x_before) / sum
    if (before && before[-1] != h) {
        double r = h / before[-1];
        now = (1 + r) * (1 + r), earlier = r * r, sum = 1 + 2 * r;
        o->tau = h * (1 + r) / sum;
    }
    for (size_t i = 0; i < values; i++) {
        s->base[i] = before ? (now * state->x[i] - earlier * before[i]) / sum : state->x[i];
        s->velocity[i] = before ? (now * state->v[i] - earlier * before[values + i]) / sum : state->v[i] / o->drag;
    }
    o->base = s->base;
    rbt_constrained_nodes(m, state->t, o->constrained);
    if (s->rule == ENERGY_EULER) rbt_energy_leash_begin(&s->leash, state);
    freeze_damping(s, state, s->rule == MIDPOINT ? 0.5 * h : before ? h : (1 - s->theta_now) * h);
    rbt_force_external(m, state->t + (s->rule == MIDPOINT ? 0.5 * h : h), state->x, state->v, o->external);
    // The start of the iteration: where inertia and outside forces alone would bring the nodes, constrained nodes
    // where they must be.
    for (size_t i = 0; i < values; i++) {
        double mass = m->mass[i / 3];
        o->target[i] = s->base[i] + o->tau * s->velocity[i];
        s->z[i] = o->target[i] + (mass > 0 ? o->tau * o->tau * o->external[i] / mass : 0);
    }
    memcpy(s->constrained_velocity, state->v, values * sizeof(double));
    rbt_constrained_velocities(m, o->constrained, state->t, h, state->x, s->constrained_velocity);
    double share = s->rule == MIDPOINT ? 0.5 : 1;
    for (size_t i = 0; i < values; i++)
        if (o->constrained[i / 3]) s->z[i] = state->x[i] + share * h * s->constrained_velocity[i];
    if (o->others) take_free_steps(s);
    return RBT_DONE;
}

// s->other = x of the free nodes, with the others where they must be
static void take_other(implicit *s, const double *x) {
    const rbt_objective *o = &s->objective;
    for (size_t i = 0; i < 3 * o->model->node_count; i++) {
        bool given = o->constrained[i / 3] || (o->others && o->others->is_other[i / 3]);
        s->other[i] = given ? s->z[i] : x[i];
    }
}

// z = s->other if E is lower there
static void offer_other(implicit *s, double *value) {
    rbt_objective *o = &s->objective;
    double offered = rbt_objective_value(o, s->other);
    if (!(offered < *value)) return;
    *value = offered;
    memcpy(s->z, s->other, 3 * o->model->node_count * sizeof(double));
}

// The predicted start has been moved by outside forces as if nothing held the nodes together, and can lie
// where a material forbids it. Motion by inertia alone is often lower, since most of the time stress balances the
// forces. Lower still, where both would tear a stiff or small body apart, is the last shape, moved as a whole where
// nothing holds it.
static rbt_outcome choose_start(implicit *s, const rbt_state *state) {
    double value = rbt_objective_value(&s->objective, s->z);
    rbt_rigid_begin(&s->rigid);
    if (s->options.start == RBT_START_PREDICTOR && isfinite(value)) return RBT_DONE;
    if (s->options.start == RBT_START_BEST) {
        take_other(s, s->objective.target);
        offer_other(s, &value);
    }
    take_other(s, state->x);
    if (s->options.start == RBT_START_BEST) rbt_rigid_fit(&s->rigid, s->other);
    offer_other(s, &value);
    return RBT_DONE;
}

// Contact is not asked: it comes in on the way there.
static rbt_outcome find_start(implicit *s, const rbt_state *state) {
    rbt_step_contact *pairs = s->objective.pairs;
    s->objective.pairs = NULL;
    rbt_outcome outcome = choose_start(s, state);
    s->objective.pairs = pairs;
    return outcome;
}

// Prescribed motion may leave surfaces closer than numbers can tell.
static rbt_outcome cannot_begin(rbt_step_contact *c, const rbt_state *state, rbt_step_report *report) {
    char pair[160];
    if (c->out_of_memory) return RBT_OUT_OF_MEMORY;
    bool apart = rbt_step_contact_is_apart(c, state->t, state->x, pair, sizeof pair);
    snprintf(report->hint, sizeof report->hint, "at %g s %s", state->t,
             apart ? "the energy of contact is beyond any number; take a smaller thickness" : pair);
    return c->out_of_memory ? RBT_OUT_OF_MEMORY : RBT_BLOCKED;
}

// Halvings after which friction keeps the normal forces of the start. A step that short and still not solved seldom is:
// normal forces and friction pull each other to and fro. The error is one of a step, here less than 1/256 of the whole.
enum { LAG_ONCE = 9 };

// [N/m] of a node. Constraints press on a sheet from the side, where it has its thickness to be stiff with.
static double stiffness_across(const implicit *s, size_t n) {
    const rbt_model *m = s->objective.model;
    const rbt_body *body = &m->bodies[m->node_body[n]];
    double whole = s->objective.stiff[n];
    bool thin = s->objective.pairs->augmented && body->kind == RBT_SHELL && m->node_area[n] > 0;
    return thin ? whole * fmin(1, body->shell.thickness / sqrt(m->node_area[n])) : whole;
}

// The pairs that touch where a step begins
static rbt_outcome look_at_contact(implicit *s, const rbt_state *state, rbt_step_report *report) {
    rbt_step_contact *c = s->objective.pairs;
    bool seen = !c || rbt_contact_look(c, state, contact_memory(s, state));
    return seen ? RBT_DONE : cannot_begin(c, state, report);
}

// Halvings after which a step of the midpoint rule that would still gain energy, or turn an element inside out behind
// its minimum, or that the solver does not find, is backward Euler's, and any step of energy-euler. That a step may be
// right for the rule that is thousands of times shorter is no help to anyone; that it was not the midpoint rule's is
// said.
enum { DAMP_AFTER = 4 };

static bool touches_penalty(const rbt_objective *o, const double *x) {
    const rbt_model *m = o->model;
    for (size_t n = 0; o->contact && n < m->node_count; n++)
        if (m->node_area[n] > 0 && rbt_obstacles_node(&m->obstacles, x + 3 * n, m->node_area[n], NULL, NULL) > 0)
            return true;
    return false;
}

static void choose_theta(implicit *s, const rbt_state *state, int halvings) {
    const rbt_objective *o = &s->objective;
    if (s->rule != ENERGY_EULER) return;
    bool touches = (o->pairs && o->pairs->active_count) || touches_penalty(o, state->x);
    s->theta_now = !isnan(s->theta) ? s->theta : touches ? TOUCHING_IMPLICITNESS : 0.5;
    if (halvings >= DAMP_AFTER) s->theta_now = 1;
}

// With contact a step begins where the last one ended, which is known to be apart. The solver goes from there towards
// where find_start wants it to begin.
static rbt_outcome begin_contact(implicit *s, const rbt_state *state, double h, rbt_step_report *report) {
    rbt_objective *o = &s->objective;
    rbt_step_contact *c = o->pairs;
    if (!c) return RBT_DONE;
    c->lagged_once = report->halvings >= LAG_ONCE;
    s->stored = rbt_contact_stored(c);
    if (s->rule == ENERGY_EULER) rbt_energy_leash_touch(&s->leash);
    if (c->observer) c->observer->see(c->observer->context, RBT_SEEN_START, state->t, state->x);
    if (report->halvings == 0) rbt_step_contact_note_speed(c, state->t, h, s->constrained_velocity, o->external);
    rbt_step_contact_begin(c, state->t, h, o->tau, s->rule == MIDPOINT ? 2 : 1, state->x, o->constrained);
    if (s->rule == MIDPOINT && report->halvings > 0) {  // with S of the piece
        rbt_step_contact_gradient(c, state->x, 0);
        s->stored = rbt_contact_stored(c);
    }
    for (size_t n = 0; n < o->model->node_count; n++)
        c->firmness[n] = stiffness_across(s, n) + o->model->mass[n] / (o->tau * o->tau);
    return c->out_of_memory ? RBT_OUT_OF_MEMORY : RBT_DONE;
}

// Of the kinetic and elastic energy: what a step of the midpoint rule may gain by itself.
static const double GAIN_SHARE = 0.1;

static double kinetic_energy(const rbt_model *m, const double *v) {
    double sum;
    rbt_terms terms;
    rbt_terms_begin(&terms, 1);
    for (size_t n = 0; n < m->node_count; n++)
        if (rbt_ranks_owns(m, n)) terms.value[0][rbt_terms_next(&terms)] = m->mass[n] * rbt_dot(v + 3 * n, v + 3 * n);
    rbt_terms_end(&terms, m, &sum);
    return 0.5 * sum;
}

// The midpoint rule takes the elastic force in the middle, z, for the whole way from x to y: with v' + v = 2 (y - x)/h
// the kinetic energy rises by f(z).(y - x) to the last bit, and the energy of the body by
//   G = W(y) - W(x) - dW/dx(z).(y - x)
// beyond what outside forces, prescribed nodes and contact give; of third order in the move, and 0 where W is
// quadratic. Too long a step shows as a gain, and is taken in halves.
//
// What contact itself gives too much (implicit_contact.h) is taken from the velocities, as far as it can be.
static rbt_outcome check_gain(implicit *s, rbt_state *state, rbt_step_report *report) {
    rbt_objective *o = &s->objective;
    const rbt_model *m = o->model;
    const double *x = s->base, *y = state->x;
    double before = rbt_energy_elastic(m, x, o->energies), after = rbt_energy_elastic(m, y, o->energies);
    memset(o->force, 0, 3 * m->node_count * sizeof *o->force);
    rbt_force_elastic(m, s->z, NULL, o->partial, o->force);
    rbt_vector_combine(3 * m->node_count, o->product, y, -1, x);
    double given = -rbt_ranks_dot(m, o->force, o->product);
    double gain = fmax(0, after - before - given);
    if (o->pairs) gain += rbt_contact_balance(o->pairs, s->stored, state->v);
    double first = kinetic_energy(m, s->velocity) + before, last = kinetic_energy(m, state->v) + after - gain;
    double rounding = rbt_objective_rounding(o, 0) / (o->tau * o->tau);
    if (gain <= GAIN_SHARE * fmax(first, last) + rounding) return RBT_DONE;
    report->body = report->element = -1;
    report->element_kind = NULL;
    snprintf(
        report->hint, sizeof report->hint,
        "at %g s the midpoint rule would gain %.3g J in a step, where the bodies have %.3g J; take a smaller step or "
        "backward-euler",
        state->t, gain, fmax(first, last));
    return RBT_UNSTABLE;
}

// v of energy-euler, for whose update w is that of backward Euler; s->base and s->velocity are x_n and v_n.
static void update_energy_euler(implicit *s, rbt_state *state, double h) {
    const rbt_objective *o = &s->objective;
    double theta = s->theta_now;
    rbt_energy_leash_forces(&s->leash, state->x, s->other);
    for (size_t i = 0; theta < 1 && i < 3 * state->node_count; i++)
        if (!o->constrained[i / 3])
            state->v[i] = s->velocity[i] + (state->x[i] - s->base[i] - h * s->velocity[i]) / (theta * h) +
                          (1 - theta) * h * s->other[i];
}

// The energies of bodies, once contact remembers its end. A shorter step has a stiffer contact than questions between
// steps, which tell its energy.
static rbt_outcome keep_energies(implicit *s, rbt_state *state, double h, rbt_step_report *report) {
    rbt_step_contact *c = s->objective.pairs;
    rbt_state end = *state;
    end.t = s->until;
    if (c && c->tau != c->whole_tau && !rbt_contact_look(c, &end, contact_memory(s, state)))
        return cannot_begin(c, &end, report);
    rbt_energy_leash_finish(&s->leash, state, s->base, s->velocity, h, s->theta_now, state->memory);
    return RBT_DONE;
}

// Velocities of nodes of other methods, where the step ends at s->z; s->velocity is v_n.
static void update_others(implicit *s, rbt_state *state) {
    const rbt_objective *o = &s->objective;
    rbt_other_methods_velocities(o->others, s->z, s->other);
    for (size_t i = 0; i < 3 * o->model->node_count; i++)
        if (o->others->is_other[i / 3] && !o->constrained[i / 3]) state->v[i] = s->other[i];
    rbt_rigid_balance(&s->rigid, s->velocity, state->v);
}

static rbt_outcome update(implicit *s, rbt_state *state, double h, rbt_step_report *report) {
    const rbt_objective *o = &s->objective;
    size_t values = 3 * o->model->node_count;
    for (size_t i = 0; i < values; i++) {
        double w = (s->z[i] - s->base[i]) / o->tau, x = state->x[i], v = state->v[i];
        bool middle = s->rule == MIDPOINT;
        s->base[i] = x;
        s->velocity[i] = v;
        state->x[i] = middle ? 2 * s->z[i] - x : s->z[i];
        state->v[i] = o->constrained[i / 3] ? s->constrained_velocity[i] : middle ? 2 * w - v : w;
    }
    if (o->others && o->pairs) update_others(s, state);
    rbt_outcome outcome = rbt_check_motion(o->model, state, h, report);
    if (outcome == RBT_DONE && o->others && o->pairs)
        outcome =
            rbt_other_methods_check(o->others, state, s->base, s->velocity, o->pairs->force, o->energies, report);
    bool bad = rbt_ranks_any(o->model, outcome != RBT_DONE);
    if (!bad && s->rule == MIDPOINT) outcome = check_gain(s, state, report);
    bool leashed = !bad && s->rule == ENERGY_EULER && s->kept && state->memory;
    if (!bad && s->rule == ENERGY_EULER) update_energy_euler(s, state, h);
    if (leashed && o->pairs) rbt_energy_leash_take(&s->leash);
    if (outcome != RBT_DONE) {  // another rule may try
        memcpy(state->x, s->base, values * sizeof(double));
        memcpy(state->v, s->velocity, values * sizeof(double));
        return outcome;
    }
    remember(s, state, h, s->base, s->velocity);
    rbt_contact_memory *memory = contact_memory(s, state);
    if (memory) rbt_contact_remember(o->pairs, memory);
    return leashed ? keep_energies(s, state, h, report) : outcome;
}

// Of the force test's tolerance with contact. What is left of the forces on a body that others hold by friction alone
// moves it as a whole, and adds up over steps: on a slope that a body barely slides down, the force that moves it is a
// hundredth of those that act. Newton's method gets there within an iteration or two.
static const double CONTACT_SHARE = 0.01;

// Of the force test's tolerance. The midpoint rule continues twice as far as its minimum, and damps no error: those of
// many steps add up.
static double tolerance_share(const implicit *s) {
    if (s->objective.pairs) return CONTACT_SHARE;
    return (s->solver->share > 0 ? s->solver->share : 1) * (s->rule == MIDPOINT ? 0.2 : 1);
}

// With contact: what L-BFGS has not solved by then it seldom solves, and two halves of the step cost less than to find
// that out. Newton's method, which solves most steps in ten, is to be halved sooner; halves sooner than the whole step,
// and where they do not help, later: from the ninth on half as much again each time.
enum { CONTACT_ITERATIONS = 300, NEWTON_ITERATIONS = 150, OF_HALVES = 50, PATIENCE = 9 };

static int most_iterations(const implicit *s, int halvings) {
    int most = s->solver->max_iterations;
    if (s->options.max_iterations >= 0) return s->options.max_iterations;
    if (!s->objective.pairs) return most;
    if (most > CONTACT_ITERATIONS) return CONTACT_ITERATIONS;
    if (s->objective.pairs->augmented || s->options.at_cap == RBT_CAP_CONTINUES) return most;
    if (halvings == 0) return NEWTON_ITERATIONS;
    double patience = OF_HALVES * pow(1.5, halvings > PATIENCE ? halvings - PATIENCE : 0);
    return patience < most ? (int)patience : most;
}

static rbt_outcome minimise(implicit *s, const rbt_state *state, rbt_stages *stages, rbt_step_report *report) {
    double share = tolerance_share(s) * (s->precision > 0 ? s->precision : 1);
    rbt_stop stop = rbt_stop_begin(&s->objective, s->options.stop, s->options.tolerance, share);
    if (s->objective.pairs) stop.share = 1;  // a smaller tolerance makes rounding no smaller
    rbt_trace_begin(stages);
    report->at_cap = false;
    return s->solver->solve(s->work, state->x, s->z, &stop, most_iterations(s, report->halvings), stages, report);
}

// A step that is accepted although it has not converged. It goes into the report, and from there into the run's
// outcome.
static void count_unconverged(double t, rbt_step_report *report) {
    if (!report->unconverged) report->first_unconverged = t;
    if (!report->unconverged || report->statistics[RBT_STAT_RESIDUAL] > report->worst_residual)
        report->worst_residual = report->statistics[RBT_STAT_RESIDUAL];
    report->unconverged++;
}

static rbt_outcome solve_step(implicit *s, rbt_state *state, double until, rbt_stages *stages,
                              rbt_step_report *report) {
    double h = rbt_step_length(s->objective.model, state, until);
    s->until = until;
    RBT_STAGE("ccd", look_at_contact(s, state, report));
    if (s->objective.others) {
        rbt_outcome outcome = rbt_other_methods_begin(s->objective.others, state, others_memory(s, state),
                                                      s->objective.pairs, until, stages, report);
        if (outcome != RBT_DONE) return outcome;
    }
    choose_theta(s, state, report->halvings);
    RBT_STAGE("predict", predict(s, state, h));  // y = b + tau u, and f_ext
    RBT_STAGE("start", find_start(s, state));
    RBT_STAGE("ccd", begin_contact(s, state, h, report));
    rbt_outcome outcome = minimise(s, state, stages, report);  // z = argmin E
    if (s->objective.pairs && (outcome != RBT_DONE || report->halvings > 0))
        rbt_step_contact_raise(s->objective.pairs);
    bool accept = outcome == RBT_NOT_CONVERGED && report->at_cap && s->options.at_cap == RBT_CAP_CONTINUES;
    if (outcome != RBT_DONE && !accept) return outcome;
    if (s->objective.pairs) rbt_rigid_fit_clusters(&s->rigid, s->z);
    else if (s->options.stop != RBT_STOP_CHARACTERISTIC) rbt_rigid_fit(&s->rigid, s->z);
    RBT_STAGE("update", update(s, state, h, report));
    if (accept) count_unconverged(state->t, report);
    return RBT_DONE;
}

static rbt_outcome attempt(void *self, rbt_state *state, double until, rbt_stages *stages, rbt_step_report *report) {
    implicit *s = self;
    rule asked = s->rule;
    if (report->halvings == 0) s->refused = state->t;
    bool may_damp = asked == MIDPOINT && report->halvings >= DAMP_AFTER, damped = may_damp && state->t < s->refused;
    if (damped) s->rule = BACKWARD_EULER;
    rbt_outcome outcome = solve_step(s, state, until, stages, report);
    bool refused =
        s->rule == MIDPOINT && rbt_ranks_any(s->objective.model, outcome == RBT_UNSTABLE || outcome == RBT_INVERTED ||
                                                                     (may_damp && outcome == RBT_NOT_CONVERGED));
    if (refused && may_damp) {  // at once: this piece may be the shortest that is allowed
        s->rule = BACKWARD_EULER;
        outcome = solve_step(s, state, until, stages, report);
        damped = true;
    }
    s->rule = asked;
    if (refused || (asked == MIDPOINT && outcome == RBT_INVERTED)) s->refused = fmax(s->refused, until);
    if (damped && outcome == RBT_DONE) report->statistics[RBT_STAT_DAMPED]++;
    s->damped = damped;
    return outcome;
}

static int error_law(const void *self, double ratio, double *constant) {
    const implicit *s = self;
    bool bdf2 = s->rule == BDF2 && s->second, midpoint = s->rule == MIDPOINT && !s->damped;
    *constant = 0.5;
    if (midpoint) *constant = 1.0 / 12;
    if (bdf2) *constant = (1 + ratio) * (1 + ratio) / (6 * ratio * (1 + 2 * ratio));
    return midpoint || bdf2 ? 2 : 1;
}

// Of the midpoint rule: e_v = h^3/24 v''' - h M^-1 (f(z) - f(z - h^2/8 x'')), f the elastic forces. h^3/12 v''' is
// there, whose sign is the other one.
static int refine_error(void *self, const rbt_state *state, double h, int order, double *ex, double *ev) {
    implicit *s = self;
    rbt_objective *o = &s->objective;
    const rbt_model *m = o->model;
    size_t values = 3 * m->node_count;
    (void)ex;
    if (s->damped) return order;
    for (size_t i = 0; i < values; i++) {
        s->other[i] = s->z[i] - (o->constrained[i / 3] ? 0 : h / 8 * (state->v[i] - s->velocity[i]));
        o->force[i] = o->product[i] = 0;
    }
    rbt_force_elastic(m, s->z, NULL, o->partial, o->force);
    rbt_force_elastic(m, s->other, NULL, o->partial, o->product);
    for (size_t i = 0; i < values; i++) {
        double mass = m->mass[i / 3];
        ev[i] = 0.5 * ev[i] - (mass > 0 ? h * (o->force[i] - o->product[i]) / mass : 0);
    }
    return order;
}

static rbt_step_work work(int solver) { return rbt_step_solver_at(solver)->work; }

static void set_precision(void *self, double share) {
    implicit *s = self;
    s->precision = share;
}

static void describe(const void *self, rbt_text *json) {
    const implicit *s = self;
    size_t before = json->size;
    if (s->solver->describe) s->solver->describe(s->work, json);
    if (!s->objective.pairs) return;
    if (json->size > before) rbt_text_add(json, ", ");
    rbt_step_contact_describe(s->objective.pairs, json);
}

static int labels(const void *self, int32_t *label) {
    const implicit *s = self;
    return s->solver->labels ? s->solver->labels(s->work, label) : -1;
}

static bool on_ranks(int solver, const void *options) {
    const rbt_step_solver *own = rbt_step_solver_at(solver);
    rbt_implicit_options standard = rbt_implicit_options_default();
    return own && own->on_ranks && own->on_ranks(options ? options : &standard);
}

static size_t subdomains(const rbt_model *m, int solver, const void *options) {
    const rbt_step_solver *own = rbt_step_solver_at(solver);
    rbt_implicit_options standard = rbt_implicit_options_default();
    return own && own->subdomains ? own->subdomains(m, options ? options : &standard) : 0;
}

static void set_observer(void *self, const rbt_observer *observer) {
    implicit *s = self;
    if (s->objective.pairs) s->objective.pairs->observer = observer;
}

// Positions that somebody has set must be apart.
static bool accepts(void *self, const rbt_state *state, char *text, size_t size) {
    implicit *s = self;
    return !s->objective.pairs || rbt_step_contact_is_apart(s->objective.pairs, state->t, state->x, text, size);
}

static double *spent(const void *self, const rbt_state *state) {
    rbt_contact_memory *memory = contact_memory(self, state);
    return memory ? &memory->work : NULL;
}

static double thickness(const void *self) {
    const implicit *s = self;
    return s->objective.pairs ? s->objective.pairs->thickness : 0;
}

// BDF2 starts again, debts and modes are forgotten; the work of contact and friction so far stays.
static void forget(void *self, rbt_state *state) {
    implicit *s = self;
    if (!state->memory) return;
    memset(state->memory, 0, own_memory(s));
    if (s->objective.others) memset(others_memory(s, state), 0, rbt_other_methods_memory(s->objective.model));
}

static void energies(void *self, const rbt_state *state, rbt_energies *e) {
    implicit *s = self;
    const rbt_contact_memory *memory = contact_memory(s, state);
    if (!s->objective.pairs) return;
    e->contact = rbt_contact_energy_at(s->objective.pairs, state, memory);
    e->total = e->kinetic + e->elastic + e->gravity + e->contact;
    if (!memory) return;
    e->work = memory->work;
    e->friction = memory->dissipation;
}

static bool warn(void *self, char text[320]) {
    implicit *s = self;
    return s->objective.pairs && rbt_step_contact_foresee(s->objective.pairs, text);
}

static size_t contacts(void *self, const rbt_state *state, rbt_contact_point *points, size_t capacity) {
    implicit *s = self;
    rbt_step_contact *pairs = s->objective.pairs;
    return pairs ? rbt_contact_points(pairs, state, contact_memory(s, state), points, capacity) : 0;
}

static void contact_forces(void *self, const rbt_state *state, double *f) {
    implicit *s = self;
    if (s->objective.pairs) rbt_contact_add_forces(s->objective.pairs, state, contact_memory(s, state), f);
    else rbt_force_contact(s->objective.model, state->x, f, NULL);
}

#define CREATE(name, which)                                                                                          \
    static void *name(const rbt_model *model, int solver, const void *options, rbt_error *error) {                   \
        return create(which, model, solver, options, error);                                                         \
    }
CREATE(create_backward_euler, BACKWARD_EULER)
CREATE(create_midpoint, MIDPOINT)
CREATE(create_bdf2, BDF2)
CREATE(create_energy_euler, ENERGY_EULER)

// A thousand pieces are worth a step that things pass by a thousand times their size in; one that needs all 16384 was
// meant to be another.
enum { MOST_ATTEMPTS = 1000 };

// What the rows have in common
#define SHARED                                                                                                       \
    .solvers = rbt_step_solver_name, .contact = true, .most_attempts = MOST_ATTEMPTS, .destroy = destroy,            \
    .attempt = attempt, .work = work, .set_precision = set_precision, .describe = describe, .labels = labels,        \
    .subdomains = subdomains, .set_observer = set_observer, .accepts = accepts, .thickness = thickness,              \
    .spent = spent, .warn = warn, .forget = forget, .energies = energies, .contacts = contacts,                      \
    .contact_forces = contact_forces

const rbt_method RBT_BACKWARD_EULER = {
    .name = "backward-euler",
    .joins = true,
    .doc = "implicit, first order: each step is the minimum of an energy, solved to a tolerance",
    .when = "robustness counts most: any stiffness, any step; damps fast motion strongly",
    .gain_remedy =
        "a tighter tolerance or another solver",  // the minimum is never above the start, unless it is missed
    .order = 1,
    .options = &RBT_SOLVER_OPTIONS,
    .memory_size = memory_size,
    .create = create_backward_euler,
    .error_law = error_law,
    .on_ranks = on_ranks,
    SHARED,
};

const rbt_method RBT_IMPLICIT_MIDPOINT = {
    .name = "implicit-midpoint",
    .alone = "velocities give back what contact has given too much, on both sides of a pair",
    .doc = "implicit, second order: the force in the middle of the step; no numerical damping",
    .when = "long undamped motion must keep its energy and the step resolves the stiffest motion that matters",
    .gain_remedy = "a tighter tolerance, or backward-euler",
    .order = 2,
    .undamped = true,
    .keeps_angular_momentum = true,
    .options = &RBT_SOLVER_OPTIONS,
    .memory_size = memory_size,
    .create = create_midpoint,
    .error_law = error_law,
    .refine_error = refine_error,
    .on_ranks = on_ranks,
    SHARED,
};

const rbt_method RBT_BDF2 = {
    .name = "bdf2",
    .alone = "velocities get a push of contact over several steps, so that momentum would not be kept",
    .doc = "implicit, second order, two steps: stable for any stiffness, damps far less than backward Euler",
    .when = "stiff bodies should move livelier than with backward Euler at the same cost",
    .gain_remedy = "a tighter tolerance, or backward-euler",
    .order = 2,
    .options = &RBT_SOLVER_OPTIONS,
    .memory_size = memory_size_bdf2,
    .memory_head = sizeof(double),
    .create = create_bdf2,
    .error_law = error_law,
    .on_ranks = on_ranks,
    SHARED,
};

const rbt_method RBT_ENERGY_EULER = {
    .name = "energy-euler",
    .alone = "the accounts of energy are those of all bodies that touch each other",
    .doc = "implicit, second order: the energy of bodies is kept, or falls as asked for, at any step",
    .when = "a motion must neither lose nor gain energy, with long steps, stiff bodies or contact",
    .gain_remedy = "backward-euler",
    .order = 2,
    .undamped = true,
    .keeps_angular_momentum = true,
    .needs_lumped_mass = true,
    .options = &RBT_ENERGY_OPTIONS,
    .memory_size = memory_size_energy,
    .create = create_energy_euler,
    SHARED,
};
