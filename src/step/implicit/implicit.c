// Backward Euler, the implicit midpoint rule, BDF2 and energy-euler: four readings of one minimisation (objective.h).
//
//                     tau    base position b        base velocity u        after the minimum z, w = (z - b)/tau
//   backward-euler    h      x_n                    v_n                    x = z,          v = w
//   implicit-midpoint h/2    x_n                    v_n                    x = 2 z - x_n,  v = 2 w - v_n
//   bdf2              2h/3   (4 x_n - x_{n-1})/3    (4 v_n - v_{n-1})/3    x = z,          v = w
//   energy-euler      h s    x_n                    v_n / s                x = z,          v: energy_euler.h
//
// BDF2 keeps x_{n-1}, v_{n-1} and the last step in the state's memory; after a step of another length, and at the
// start, it does one step of backward Euler. Where steps are chosen by their error, all but the first are of second
// order: with r = h / h_{n-1}
//   tau = h (1 + r)/(1 + 2 r),   b = ((1 + r)^2 x_n - r^2 x_{n-1})/(1 + 2 r),   u alike
//
// Errors of a step, x(t + h) less what the rule gives, by Taylor's formula:
//   backward-euler     x_n + h v(t + h) is off by -h^2/2 x'', and v likewise
//   implicit-midpoint  x_n + h (v_n + v_{n+1})/2 is off by -h^3/12 x''', and v by what forces say (midpoint.h)
//   bdf2               about t + h, terms of third order in b leave h^3 (1 + r)^2/(6 r (1 + 2 r)) x''', and v likewise
#include "step/implicit/energy_euler.h"
#include "step/implicit/midpoint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- What BDF2 remembers

static const double *remembered(const rbt_implicit *s, const rbt_state *state, double h) {
    const double *memory = state->memory;
    bool by_error = s->objective.model->asked.error > 0;
    bool usable = s->rule == RBT_RULE_BDF2 && memory && (memory[0] == h || (by_error && memory[0] > 0));
    return usable ? memory + 1 : NULL;
}

static void remember(const rbt_implicit *s, rbt_state *state, double h, const double *x, const double *v) {
    if (s->rule != RBT_RULE_BDF2 || !state->memory) return;
    size_t values = 3 * state->node_count;
    double *memory = state->memory;
    memory[0] = h;
    memcpy(memory + 1, x, values * sizeof(double));
    memcpy(memory + 1 + values, v, values * sizeof(double));
}

// ---- The stages of a step

// D belongs where the rule takes the force. The rules of second order extrapolate to there, which keeps their order;
// should a material forbid that place, x_n has to do, as it does for backward Euler.
static void freeze_damping(rbt_implicit *s, const rbt_state *state, double ahead) {
    rbt_objective *o = &s->objective;
    if (!o->damping) return;
    for (size_t i = 0; i < 3 * state->node_count; i++) s->z[i] = state->x[i] + ahead * state->v[i];
    bool allowed = ahead > 0 && isfinite(rbt_energy_elastic(o->model, s->z, o->energies));
    rbt_objective_freeze_damping(o, allowed ? s->z : state->x);
}

// Nodes of other methods begin where their free steps end; without contact that is where they stay.
static void take_free_steps(rbt_implicit *s) {
    rbt_objective *o = &s->objective;
    for (size_t i = 0; i < 3 * o->model->node_count; i++) {
        if (!o->others->is_other[i / 3]) continue;
        if (!o->constrained[i / 3]) s->z[i] = o->others->x[i];
        if (!o->pairs) s->constrained_velocity[i] = o->others->v[i];
    }
    for (size_t n = 0; !o->pairs && n < o->model->node_count; n++) o->constrained[n] |= o->others->is_other[n];
}

static rbt_outcome predict(rbt_implicit *s, const rbt_state *state, double h) {
    rbt_objective *o = &s->objective;
    const rbt_model *m = o->model;
    size_t values = 3 * m->node_count;
    const double *before = remembered(s, state, h);
    s->second = before != NULL;
    o->drag = sqrt(s->theta_now);
    o->tau = s->rule == RBT_RULE_MIDPOINT ? 0.5 * h : before ? 2 * h / 3 : o->drag * h;
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
    if (s->rule == RBT_RULE_ENERGY_EULER) rbt_energy_leash_begin(&s->leash, state);
    freeze_damping(s, state, s->rule == RBT_RULE_MIDPOINT ? 0.5 * h : before ? h : (1 - s->theta_now) * h);
    rbt_force_external(m, state->t + (s->rule == RBT_RULE_MIDPOINT ? 0.5 * h : h), state->x, state->v, o->external);
    // The start of the iteration: where inertia and outside forces alone would bring the nodes, constrained nodes
    // where they must be.
    for (size_t i = 0; i < values; i++) {
        double mass = m->mass[i / 3];
        o->target[i] = s->base[i] + o->tau * s->velocity[i];
        s->z[i] = o->target[i] + (mass > 0 ? o->tau * o->tau * o->external[i] / mass : 0);
    }
    memcpy(s->constrained_velocity, state->v, values * sizeof(double));
    rbt_constrained_velocities(m, o->constrained, state->t, h, state->x, s->constrained_velocity);
    double share = s->rule == RBT_RULE_MIDPOINT ? 0.5 : 1;
    for (size_t i = 0; i < values; i++)
        if (o->constrained[i / 3]) s->z[i] = state->x[i] + share * h * s->constrained_velocity[i];
    if (o->others) take_free_steps(s);
    return RBT_DONE;
}

// s->other = x of the free nodes, with the others where they must be
static void take_other(rbt_implicit *s, const double *x) {
    const rbt_objective *o = &s->objective;
    for (size_t i = 0; i < 3 * o->model->node_count; i++) {
        bool given = o->constrained[i / 3] || (o->others && o->others->is_other[i / 3]);
        s->other[i] = given ? s->z[i] : x[i];
    }
}

// z = s->other if E is lower there
static void offer_other(rbt_implicit *s, double *value) {
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
static rbt_outcome choose_start(rbt_implicit *s, const rbt_state *state) {
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
static rbt_outcome find_start(rbt_implicit *s, const rbt_state *state) {
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
static double stiffness_across(const rbt_implicit *s, size_t n) {
    const rbt_model *m = s->objective.model;
    const rbt_body *body = &m->bodies[m->node_body[n]];
    double whole = s->objective.stiff[n];
    bool thin = s->objective.pairs->augmented && body->kind == RBT_SHELL && m->node_area[n] > 0;
    return thin ? whole * fmin(1, body->shell.thickness / sqrt(m->node_area[n])) : whole;
}

// The pairs that touch where a step begins
static rbt_outcome look_at_contact(rbt_implicit *s, const rbt_state *state, rbt_step_report *report) {
    rbt_step_contact *c = s->objective.pairs;
    bool seen = !c || rbt_contact_look(c, state, rbt_implicit_contact_memory(s, state));
    return seen ? RBT_DONE : cannot_begin(c, state, report);
}

// With contact a step begins where the last one ended, which is known to be apart. The solver goes from there towards
// where find_start wants it to begin.
static rbt_outcome begin_contact(rbt_implicit *s, const rbt_state *state, double h, rbt_step_report *report) {
    rbt_objective *o = &s->objective;
    rbt_step_contact *c = o->pairs;
    if (!c) return RBT_DONE;
    c->lagged_once = report->halvings >= LAG_ONCE;
    s->stored = rbt_contact_stored(c);
    if (s->rule == RBT_RULE_ENERGY_EULER) rbt_energy_leash_touch(&s->leash);
    if (c->observer) c->observer->see(c->observer->context, RBT_SEEN_START, state->t, state->x);
    if (report->halvings == 0) rbt_step_contact_note_speed(c, state->t, h, s->constrained_velocity, o->external);
    rbt_step_contact_begin(c, state->t, h, o->tau, s->rule == RBT_RULE_MIDPOINT ? 2 : 1, state->x, o->constrained);
    if (s->rule == RBT_RULE_MIDPOINT && report->halvings > 0) {  // with S of the piece
        rbt_step_contact_gradient(c, state->x, 0);
        s->stored = rbt_contact_stored(c);
    }
    for (size_t n = 0; n < o->model->node_count; n++)
        c->firmness[n] = stiffness_across(s, n) + o->model->mass[n] / (o->tau * o->tau);
    return c->out_of_memory ? RBT_OUT_OF_MEMORY : RBT_DONE;
}

// The energies of bodies, once contact remembers its end. A shorter step has a stiffer contact than questions between
// steps, which tell its energy.
static rbt_outcome keep_energies(rbt_implicit *s, rbt_state *state, double h, rbt_step_report *report) {
    rbt_step_contact *c = s->objective.pairs;
    rbt_state end = *state;
    end.t = s->until;
    if (c && c->tau != c->whole_tau && !rbt_contact_look(c, &end, rbt_implicit_contact_memory(s, state)))
        return cannot_begin(c, &end, report);
    rbt_energy_leash_finish(&s->leash, state, s->base, s->velocity, h, s->theta_now, state->memory);
    return RBT_DONE;
}

// Velocities of nodes of other methods, where the step ends at s->z; s->velocity is v_n.
static void update_others(rbt_implicit *s, rbt_state *state) {
    const rbt_objective *o = &s->objective;
    rbt_other_methods_velocities(o->others, s->z, s->other);
    for (size_t i = 0; i < 3 * o->model->node_count; i++)
        if (o->others->is_other[i / 3] && !o->constrained[i / 3]) state->v[i] = s->other[i];
    rbt_rigid_balance(&s->rigid, s->velocity, state->v);
}

static rbt_outcome update(rbt_implicit *s, rbt_state *state, double h, rbt_step_report *report) {
    const rbt_objective *o = &s->objective;
    size_t values = 3 * o->model->node_count;
    for (size_t i = 0; i < values; i++) {
        double w = (s->z[i] - s->base[i]) / o->tau, x = state->x[i], v = state->v[i];
        bool middle = s->rule == RBT_RULE_MIDPOINT;
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
    if (!bad && s->rule == RBT_RULE_MIDPOINT) outcome = rbt_midpoint_check_gain(s, state, report);
    bool leashed = !bad && s->rule == RBT_RULE_ENERGY_EULER && s->kept && state->memory;
    if (!bad && s->rule == RBT_RULE_ENERGY_EULER) rbt_energy_euler_update(s, state, h);
    if (leashed && o->pairs) rbt_energy_leash_take(&s->leash);
    if (outcome != RBT_DONE) {  // another rule may try
        memcpy(state->x, s->base, values * sizeof(double));
        memcpy(state->v, s->velocity, values * sizeof(double));
        return outcome;
    }
    remember(s, state, h, s->base, s->velocity);
    rbt_contact_memory *memory = rbt_implicit_contact_memory(s, state);
    if (memory) rbt_contact_remember(o->pairs, memory);
    return leashed ? keep_energies(s, state, h, report) : outcome;
}

// Of the force test's tolerance with contact. What is left of the forces on a body that others hold by friction alone
// moves it as a whole, and adds up over steps: on a slope that a body barely slides down, the force that moves it is a
// hundredth of those that act. Newton's method gets there within an iteration or two.
static const double CONTACT_SHARE = 0.01;

// Of the force test's tolerance. The midpoint rule continues twice as far as its minimum, and damps no error: those of
// many steps add up.
static double tolerance_share(const rbt_implicit *s) {
    if (s->objective.pairs) return CONTACT_SHARE;
    return (s->solver->share > 0 ? s->solver->share : 1) * (s->rule == RBT_RULE_MIDPOINT ? 0.2 : 1);
}

// With contact: what L-BFGS has not solved by then it seldom solves, and two halves of the step cost less than to find
// that out. Newton's method, which solves most steps in ten, is to be halved sooner; halves sooner than the whole step,
// and where they do not help, later: from the ninth on half as much again each time. A whole step with friction may
// take as many as there are: it is several minimisations, and a motion in pieces is another one where friction holds
// much. Constraints need more: rounds, and pairs that come in one after the other.
enum { CONTACT_ITERATIONS = 300, NEWTON_ITERATIONS = 150, OF_HALVES = 50, OF_CONSTRAINED_HALVES = 100, PATIENCE = 9 };

static int most_iterations(const rbt_implicit *s, int halvings) {
    int most = s->solver->max_iterations;
    if (s->options.max_iterations >= 0) return s->options.max_iterations;
    if (!s->objective.pairs) return most;
    if (most > CONTACT_ITERATIONS) return CONTACT_ITERATIONS;
    if (s->options.at_cap == RBT_CAP_CONTINUES) return most;
    bool augmented = s->objective.pairs->augmented, rubs = s->objective.pairs->has_friction;
    if (halvings == 0) return augmented || rubs ? most : NEWTON_ITERATIONS;
    double more = pow(1.5, halvings > PATIENCE ? halvings - PATIENCE : 0),
           patience = more * (augmented ? OF_CONSTRAINED_HALVES : OF_HALVES);
    return patience < most ? (int)patience : most;
}

static rbt_outcome minimise(rbt_implicit *s, const rbt_state *state, rbt_stages *stages, rbt_step_report *report) {
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

// Halvings after which a step of the midpoint rule that would still gain energy, or turn an element inside out behind
// its minimum, or that the solver does not find, is backward Euler's, and so is one beside bodies of other methods, and
// any step of energy-euler. That a step may be
// right for the rule that is thousands of times shorter is no help to anyone; that it was not the midpoint rule's is
// said.
enum { DAMP_AFTER = 4 };

static rbt_outcome solve_step(rbt_implicit *s, rbt_state *state, double until, rbt_stages *stages,
                              rbt_step_report *report) {
    double h = rbt_step_length(s->objective.model, state, until);
    s->until = until;
    RBT_STAGE("ccd", look_at_contact(s, state, report));
    if (s->objective.others) {
        rbt_outcome outcome =
            rbt_other_methods_begin(s->objective.others, state, rbt_implicit_others_memory(s, state),
                                    s->objective.pairs, until, stages, report);
        if (outcome != RBT_DONE) return outcome;
    }
    rbt_energy_euler_choose(s, state, report->halvings >= DAMP_AFTER);
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

// Beside bodies of other methods: pieces that one linearisation of these would turn inside out or give energy, and
// those that are not found with them, are backward Euler's for all bodies.
static rbt_outcome attempt_together(rbt_implicit *s, rbt_state *state, double until, rbt_stages *stages,
                                    rbt_step_report *report) {
    rbt_other_methods *others = s->objective.others;
    bool may_damp = s->objective.pairs && report->halvings >= DAMP_AFTER, damped = may_damp && state->t < s->refused;
    rbt_outcome outcome = damped ? RBT_INVERTED : solve_step(s, state, until, stages, report);
    bool refused = outcome == RBT_INVERTED || outcome == RBT_NOT_CONVERGED || outcome == RBT_BLOCKED;
    if (refused && may_damp) {
        s->objective.others = NULL;
        outcome = solve_step(s, state, until, stages, report);
        s->objective.others = others;
        if (outcome == RBT_DONE) report->statistics[RBT_STAT_DAMPED]++;
    }
    if (refused) s->refused = fmax(s->refused, until);
    return outcome;
}

static rbt_outcome attempt(void *self, rbt_state *state, double until, rbt_stages *stages, rbt_step_report *report) {
    rbt_implicit *s = self;
    rbt_implicit_rule asked = s->rule;
    if (report->halvings == 0) s->refused = state->t;
    if (s->objective.others) return attempt_together(s, state, until, stages, report);
    bool may_damp = asked == RBT_RULE_MIDPOINT && report->halvings >= DAMP_AFTER,
         damped = may_damp && state->t < s->refused;
    if (damped) s->rule = RBT_RULE_BACKWARD_EULER;
    rbt_outcome outcome = solve_step(s, state, until, stages, report);
    bool refused = s->rule == RBT_RULE_MIDPOINT &&
                   rbt_ranks_any(s->objective.model, outcome == RBT_UNSTABLE || outcome == RBT_INVERTED ||
                                                         (may_damp && outcome == RBT_NOT_CONVERGED));
    if (refused && may_damp) {  // at once: this piece may be the shortest that is allowed
        s->rule = RBT_RULE_BACKWARD_EULER;
        outcome = solve_step(s, state, until, stages, report);
        damped = true;
    }
    s->rule = asked;
    if (refused || (asked == RBT_RULE_MIDPOINT && outcome == RBT_INVERTED)) s->refused = fmax(s->refused, until);
    if (damped && outcome == RBT_DONE) report->statistics[RBT_STAT_DAMPED]++;
    s->damped = damped;
    return outcome;
}

static int error_law(const void *self, double ratio, double *constant) {
    const rbt_implicit *s = self;
    bool bdf2 = s->rule == RBT_RULE_BDF2 && s->second, midpoint = s->rule == RBT_RULE_MIDPOINT && !s->damped;
    *constant = 0.5;
    if (midpoint) *constant = 1.0 / 12;
    if (bdf2) *constant = (1 + ratio) * (1 + ratio) / (6 * ratio * (1 + 2 * ratio));
    return midpoint || bdf2 ? 2 : 1;
}

// ---- The tables

#define CREATE(name, which)                                                                                          \
    static void *name(const rbt_model *model, int solver, const void *options, rbt_error *error) {                   \
        return rbt_implicit_create(which, model, solver, options, error);                                            \
    }
CREATE(create_backward_euler, RBT_RULE_BACKWARD_EULER)
CREATE(create_midpoint, RBT_RULE_MIDPOINT)
CREATE(create_bdf2, RBT_RULE_BDF2)
CREATE(create_energy_euler, RBT_RULE_ENERGY_EULER)

// What the rows have in common
#define SHARED                                                                                                       \
    .solvers = rbt_step_solver_name, .contact = true, .most_attempts = RBT_MOST_ATTEMPTS,                            \
    .destroy = rbt_implicit_destroy, .attempt = attempt, .work = rbt_implicit_work,                                  \
    .set_precision = rbt_implicit_set_precision, .describe = rbt_implicit_describe, .labels = rbt_implicit_labels,   \
    .subdomains = rbt_implicit_subdomains, .set_observer = rbt_implicit_set_observer,                                \
    .accepts = rbt_implicit_accepts, .thickness = rbt_implicit_thickness, .spent = rbt_implicit_spent,               \
    .warn = rbt_implicit_warn, .forget = rbt_implicit_forget, .energies = rbt_implicit_energies,                     \
    .contacts = rbt_implicit_contacts, .contact_forces = rbt_implicit_contact_forces

const rbt_method RBT_BACKWARD_EULER = {
    .name = "backward-euler",
    .joins = true,
    .helped = "bodies of other methods",
    .last_resort = true,
    .doc = "implicit, first order: each step is the minimum of an energy, solved to a tolerance",
    .when = "robustness counts most: any stiffness, any step; damps fast motion strongly",
    .gain_remedy =
        "a tighter tolerance or another solver",  // the minimum is never above the start, unless it is missed
    .order = 1,
    .options = &RBT_SOLVER_OPTIONS,
    .memory_size = rbt_implicit_memory_size,
    .give_contact = rbt_implicit_give_contact,
    .take_contact = rbt_implicit_take_contact,
    .create = create_backward_euler,
    .error_law = error_law,
    .on_ranks = rbt_implicit_on_ranks,
    SHARED,
};

const rbt_method RBT_IMPLICIT_MIDPOINT = {
    .name = "implicit-midpoint",
    .helped = "the midpoint rule",
    .alone = "velocities give back what contact has given too much, on both sides of a pair",
    .doc = "implicit, second order: the force in the middle of the step; no numerical damping",
    .when = "long undamped motion must keep its energy and the step resolves the stiffest motion that matters",
    .gain_remedy = "a tighter tolerance, or backward-euler",
    .order = 2,
    .undamped = true,
    .keeps_angular_momentum = true,
    .options = &RBT_SOLVER_OPTIONS,
    .memory_size = rbt_implicit_memory_size,
    .create = create_midpoint,
    .error_law = error_law,
    .refine_error = rbt_midpoint_refine_error,
    .on_ranks = rbt_implicit_on_ranks,
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
    .memory_size = rbt_implicit_memory_size_bdf2,
    .memory_head = sizeof(double),
    .create = create_bdf2,
    .error_law = error_law,
    .on_ranks = rbt_implicit_on_ranks,
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
    .memory_size = rbt_implicit_memory_size_energy,
    .create = create_energy_euler,
    SHARED,
};
