#include "sim/choice.h"

#include "base/clock.h"
#include "base/threads.h"
#include "math/vec3.h"
#include "model/force.h"
#include "model/input.h"
#include "sim/unit_costs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TRIALS = 4, MOST_TRIALS = 6, MOST_SOLVERS = 3, TRIAL_STEPS = 6, MOST_STEPS = 400 };
static const double TRIAL_SECONDS = 0.25, LONG_TRIAL = 2, TRIAL_FRAMES = 2, LONG_CHOICE = 10;
static const double ALIKE = 8;  // times what is predicted of the best, for a trial of another solver of its method

// ---- What the scene is like

typedef struct motion {
    double push, speed, sound;  // A [1/s^2], the largest speed [1/s], W [1/s], all over the size of the body
} motion;

static double size_of(const rbt_model *m, size_t body) {
    double across[3];
    rbt_subtract(m->bodies[body].box_max, m->bodies[body].box_min, across);
    double size = rbt_length(across), all = rbt_model_diagonal(m);
    return size > 0 ? size : all > 0 ? all : 1;
}

static bool look(const rbt_model *m, const rbt_state *state, motion *found, rbt_error *error) {
    double *f = rbt_array_new(m->node_count, 3 * sizeof *f, "a choice", error);
    double *partial = rbt_array_new(m->plan.slot_count + 1, 3 * sizeof *partial, "a choice", error);
    unsigned char *constrained = rbt_array_new(m->node_count, 1, "a choice", error);
    bool good = f && partial && constrained;
    *found = (motion){0};
    if (good) {
        rbt_force_external(m, state->t, state->x, state->v, f);
        rbt_force_elastic(m, state->x, NULL, partial, f);
        rbt_constrained_nodes(m, state->t, constrained);
    }
    for (size_t n = 0; good && n < m->node_count; n++) {
        double size = size_of(m, (size_t)m->node_body[n]);
        found->speed = fmax(found->speed, rbt_length(state->v + 3 * n) / size);
        if (!constrained[n]) found->push = fmax(found->push, rbt_length(f + 3 * n) / m->mass[n] / size);
    }
    for (size_t r = 0; r < m->region_count; r++) {
        const rbt_material_def *material = &m->regions[r].material;
        found->sound =
            fmax(found->sound, sqrt(material->young / material->density) / size_of(m, (size_t)m->regions[r].body));
    }
    free(f);
    free(partial);
    free(constrained);
    found->push = fmax(found->push, found->speed * fmin(found->sound, 100 * found->speed));
    return good;
}

// ---- Prediction

static int order_of(const rbt_method *method) { return method->order; }

static double allowed_step(const motion *m, int order, double error, double length) {
    if (!(m->push > 0)) return INFINITY;
    double rate = fmax(m->sound, sqrt(m->push));
    return order == 1 ? 2 * error / (length * m->push) : sqrt(5 * error / (length * m->push * rate));
}

static bool by_error(const rbt_method *method, const rbt_model *m) {
    return m->asked.error > 0 && method->error_law != NULL;
}

static void predict(rbt_method_candidate *c, const rbt_model *m, const motion *moves, const rbt_unit_costs *costs,
                    double error) {
    const rbt_method *method = rbt_method_at(c->method);
    double length = fmax(1, (double)m->frame_count) * m->frame_interval;
    rbt_step_work work = {.gradients = 2, .assemblies = 0.5, .factors = 0.2, .solves = 1};
    if (method->work) work = method->work(c->solver);
    c->step_seconds = rbt_unit_costs_predict(costs, m, &work);
    c->step = m->frame_interval;
    if (by_error(method, m))
        c->step =
            fmin(m->frame_interval, fmax(m->asked.shortest, allowed_step(moves, order_of(method), error, length)));
    else if (!(m->asked.error > 0)) c->step = m->step;
    else {  // all equal: what is stable is asked for once it is tried
        for (size_t b = 0; b < m->body_count; b++) c->step = fmin(c->step, 0.7 * m->bodies[b].explicit_step);
        c->longest = error / fmax(moves->speed, fmin(sqrt(moves->push), length * moves->push));
        c->step = fmin(c->step, c->longest);
    }
    c->cost = c->step_seconds / c->step;
}

// ---- Candidates

// A copy of the model with the candidate's step, for a stepper
static bool own_model(const rbt_sim *sim, const rbt_method_candidate *c, rbt_model *model) {
    *model = *sim->model;
    if (sim->model->asked.error > 0 && !rbt_method_at(c->method)->error_law) rbt_model_set_step(model, c->step);
    return true;
}

static rbt_integrator_def own_def(const rbt_sim *sim, const rbt_method_candidate *c) {
    const rbt_integrator_def *given = &sim->scene->integrator;
    return (rbt_integrator_def){.method = c->method,
                                .solver = c->solver,
                                .options = given->method == c->method ? given->options : NULL,
                                .max_halvings = given->max_halvings};
}

static void refuse(rbt_method_candidate *c, rbt_fate fate, const char *reason) {
    c->fate = fate;
    snprintf(c->reason, sizeof c->reason, "%.250s", reason);
}

// What is known before anything is made: whether the candidate's steps can be left open, and whether the method knows
// what the scene has
static void ask(const rbt_sim *sim, rbt_method_candidate *c) {
    const rbt_method *method = rbt_method_at(c->method);
    rbt_error why = {0};
    bool open = sim->model->asked.error > 0;
    if (sim->scene->goal.keep == RBT_KEEP_ENERGY && !method->undamped)
        refuse(c, RBT_FATE_UNWANTED, "it takes energy from vibrations");
    else if (open && !method->error_law && !method->choose_step)
        refuse(c, RBT_FATE_UNABLE, "it must be given a step");
    else if (open && !method->error_law && !method->follow && sim->model->cut_count)
        refuse(c, RBT_FATE_UNABLE, "after a cut its step may be too long");
    else if (!rbt_stepper_knows(sim->model, method, &why)) refuse(c, RBT_FATE_UNABLE, why.message);
}

// A stepper for a trial, or why there is none; false only without memory
static bool make_stepper(const rbt_sim *sim, rbt_method_candidate *c, rbt_model *model, rbt_stepper *stepper,
                         rbt_error *error) {
    const rbt_method *method = rbt_method_at(c->method);
    rbt_error why = {0};
    bool able = true;
    if (sim->model->asked.error > 0 && !method->error_law) {
        double step = method->choose_step(sim->model, NULL, &why);
        able = step > 0;
        c->step = c->longest > 0 ? fmin(step, c->longest) : step;
    }
    const rbt_integrator_def def = own_def(sim, c);
    able = able && own_model(sim, c, model) && rbt_stepper_init(stepper, model, &def, &why);
    if (!able && !why.out_of_memory) refuse(c, RBT_FATE_UNABLE, why.message);
    return able || !why.out_of_memory || rbt_fail_memory(error, 0, "a choice");
}

// Methods that keep bodies apart by themselves solve another problem than the scene states, unless nothing else can.
static void list(const rbt_sim *sim, int method, int solver, bool own_contact, rbt_choice *choice) {
    const rbt_method *row;
    for (int i = 0; (row = rbt_method_at(i)); i++) {
        if ((method >= 0 && i != method) || (method < 0 && row->own_contact != own_contact)) continue;
        for (int k = 0; k == 0 || rbt_solver_name(i, k); k++) {
            if ((solver >= 0 && k != solver) || choice->count == RBT_MAX_CANDIDATES) continue;
            rbt_method_candidate *c = &choice->candidates[choice->count++];
            *c = (rbt_method_candidate){.method = i, .solver = k, .fate = RBT_FATE_PREDICTED};
            ask(sim, c);
        }
    }
}

static int able_count(const rbt_choice *choice) {
    int count = 0;
    for (int i = 0; i < choice->count; i++) count += choice->candidates[i].fate > RBT_FATE_UNWANTED;
    return count;
}

// ---- Trials

static rbt_outcome one_step(rbt_stepper *s, rbt_state *state, double frame, rbt_step_report *report) {
    double end = (floor(state->t / frame * (1 + 1e-12) + 1e-9) + 1) * frame;
    if (s->control.on) return rbt_stepper_advance_by_error(s, state, end, INFINITY, report);
    return rbt_stepper_advance(s, state, state->t + s->model->step, report);
}

// After an impact a method without damping resolves the vibrations that it leaves for the rest of the run, and a trial
// from the start has not seen any: it counts twice. Chosen.
static double counted_cost(const rbt_model *m, const rbt_method_candidate *c) {
    static const double RINGING = 2;
    const rbt_method *method = rbt_method_at(c->method);
    return c->tried_cost * (m->asked.meets && method->undamped && by_error(method, m) ? RINGING : 1);
}

static bool run_trial(rbt_stepper *s, rbt_state *state, rbt_method_candidate *c) {
    double frame = s->model->frame_interval, until = state->t + TRIAL_FRAMES * frame, begun = rbt_now(), spent = 0;
    double lengths = 0;
    int counted = 0;
    rbt_step_memory *memory = rbt_stepper_step_memory(s, state);
    if (memory && !(memory->next > 0)) memory->next = fmin(0.25 * c->step, frame);  // no long start
    for (int i = 0; i < MOST_STEPS && state->t < until * (1 - 1e-9); i++) {
        rbt_step_report report = {0};
        double start = rbt_thread_seconds(), t = state->t;
        rbt_outcome outcome = one_step(s, state, frame, &report);
        if (outcome != RBT_DONE) {
            char why[256];
            snprintf(why, sizeof why, "%s at %g s", rbt_outcome_name(outcome), t);
            refuse(c, RBT_FATE_FAILED, why);
            return outcome != RBT_OUT_OF_MEMORY;
        }
        if (i > 0 || state->t >= until * (1 - 1e-9)) {  // the first one orders its matrix
            // steps grow at the start: later ones count more
            spent = 0.5 * spent + (rbt_thread_seconds() - start);
            lengths = 0.5 * lengths + (state->t - t);
            counted++;
        }
        double passed = rbt_now() - begun;
        if ((counted >= TRIAL_STEPS && passed > TRIAL_SECONDS) || (counted && passed > LONG_TRIAL)) break;
    }
    c->fate = RBT_FATE_TRIED;
    c->tried_step = counted ? lengths / (2 - pow(0.5, counted - 1)) : 0;
    c->tried_seconds = counted ? spent / (2 - pow(0.5, counted - 1)) : 0;
    if (memory && memory->next > 2 * c->tried_step) c->tried_step *= 2;  // it would go on growing
    c->tried_cost = c->tried_step > 0 ? c->tried_seconds / c->tried_step : c->cost;
    c->counted_cost = counted_cost(s->model, c);
    return true;
}

static bool try_out(const rbt_sim *sim, const rbt_state *start, rbt_method_candidate *c, rbt_error *error) {
    rbt_model model;
    rbt_stepper stepper = {0};
    rbt_state state = {0};
    if (!make_stepper(sim, c, &model, &stepper, error)) return false;
    if (c->fate == RBT_FATE_UNABLE) return true;
    bool good = rbt_state_copy(&state, start, error);
    if (good) {
        free(state.memory);
        state.memory = NULL;
        state.memory_size = 0;
        stepper.stages.stop = sim->stepper.stages.stop;
    }
    good = good && rbt_stepper_prepare(&stepper, &state, error);
    if (good) good = run_trial(&stepper, &state, c) || rbt_fail_memory(error, 0, "a trial");
    rbt_state_clear(&state);
    rbt_stepper_free(&stepper);
    return good;
}

// Candidates whose steps are predicted in one way, and are too long or too short together: by error of first or of
// second order, with or without damping, which decides whether fast vibrations last; 0 for those that are all equal
static int kind_of(const rbt_model *m, const rbt_method_candidate *c) {
    const rbt_method *method = rbt_method_at(c->method);
    return by_error(method, m) ? order_of(method) + 2 * method->undamped : 0;
}

// How much longer than predicted steps of a kind have shown to be; 0: none of it has been tried
static double shown_length(const rbt_model *m, const rbt_choice *choice, int kind) {
    double ratio = 0;
    for (int i = 0; i < choice->count; i++) {
        const rbt_method_candidate *c = &choice->candidates[i];
        if (c->fate <= RBT_FATE_PREDICTED || kind_of(m, c) != kind) continue;
        ratio = fmax(ratio, c->fate == RBT_FATE_TRIED && c->tried_step > 0 ? c->tried_step / c->step : 1e-300);
    }
    return ratio;
}

// What has not been tried and promises the least cost, by what others of its kind have shown; kinds of which none has
// been tried come first. -1: none
static int next_to_try(const rbt_model *m, const rbt_choice *choice, double *cost) {
    int best = -1;
    bool is_new = false;
    for (int i = 0; i < choice->count; i++) {
        const rbt_method_candidate *c = &choice->candidates[i];
        if (c->fate != RBT_FATE_PREDICTED) continue;
        double ratio = shown_length(m, choice, kind_of(m, c)), own = ratio > 1e-300 ? c->cost / ratio : c->cost;
        if (best >= 0 && (is_new && ratio > 0)) continue;
        if (best >= 0 && is_new == (ratio == 0) && !(own < *cost)) continue;
        best = i;
        *cost = own;
        is_new = ratio == 0;
    }
    return best;
}

// Another solver of the best method: unit costs know what its step does, not how many iterations a step takes. -1: none
// whose prediction is near enough
static int next_solver(const rbt_choice *choice) {
    const rbt_method_candidate *best = &choice->candidates[choice->best];
    int next = -1;
    for (int i = 0; i < choice->count; i++) {
        const rbt_method_candidate *c = &choice->candidates[i];
        if (c->fate != RBT_FATE_PREDICTED || c->method != best->method || c->cost > ALIKE * best->cost) continue;
        if (next < 0 || c->cost < choice->candidates[next].cost) next = i;
    }
    return next;
}

// After so many trials: who still promises more than the best of them has shown
static bool is_worth_a_trial(const rbt_choice *choice, double cost, int finished, double passed) {
    if (finished >= MOST_TRIALS || (finished > 1 && passed > LONG_CHOICE)) return false;
    return finished < TRIALS || cost < choice->candidates[choice->best].counted_cost;
}

static bool try_best(const rbt_sim *sim, const rbt_state *state, rbt_choice *choice, rbt_error *error) {
    double begun = rbt_now();
    for (int finished = 0, solvers = 0;;) {
        double cost = 0, passed = rbt_now() - begun;
        int next = next_to_try(sim->model, choice, &cost);
        if (next < 0 || !is_worth_a_trial(choice, cost, finished, passed))
            next = choice->best >= 0 && solvers++ < MOST_SOLVERS && passed < LONG_CHOICE ? next_solver(choice) : -1;
        if (next < 0) break;
        rbt_method_candidate *c = &choice->candidates[next];
        if (!try_out(sim, state, c, error)) return false;
        finished += c->fate == RBT_FATE_TRIED;
        if (sim->stepper.stages.stop && *sim->stepper.stages.stop) break;
        if (c->fate != RBT_FATE_TRIED) continue;
        if (choice->best < 0 || c->counted_cost < choice->candidates[choice->best].counted_cost) choice->best = next;
    }
    if (choice->best >= 0) choice->candidates[choice->best].fate = RBT_FATE_CHOSEN;
    return true;
}

// ---- The choice

// A budget that the error does not fit makes it less strict: time goes with the error to the power -1/order.
static void fit_budget(const rbt_sim *sim, rbt_choice *choice) {
    const rbt_method_candidate *c = &choice->candidates[choice->best];
    double budget = sim->scene->goal.budget;
    if (!by_error(rbt_method_at(c->method), sim->model) || !(c->tried_cost > budget)) return;
    choice->error = fmin(1, choice->error * pow(c->tried_cost / budget, rbt_method_at(c->method)->order));
}

static bool fail_all(const rbt_sim *sim, const rbt_choice *choice, rbt_error *error) {
    const rbt_method_candidate *c = choice->count ? &choice->candidates[0] : NULL;
    for (int i = 0; i < choice->count; i++)
        if (choice->candidates[i].fate == RBT_FATE_FAILED) c = &choice->candidates[i];
    return rbt_fail_path(
        error, sim->scene->file, "integrator.method",
        "\"auto\" found no method that can do this scene%s; of %s: %.200s; name a method to see more",
        sim->scene->goal.keep == RBT_KEEP_ENERGY ? " and keeps energy" : "", c ? rbt_method_name(c->method) : "none",
        c ? c->reason : "");
}

bool rbt_choose(const rbt_sim *sim, const rbt_state *state, int method, int solver, int without, const char *occasion,
                rbt_choice *choice, rbt_error *error) {
    rbt_unit_costs costs = {0};
    motion moves = {0};
    double start = rbt_now(), asked = rbt_goal_error(sim->scene);
    *choice = (rbt_choice){.frame = state->frame,
                           .time = state->t,
                           .occasion = occasion,
                           .error = asked,
                           .asked = asked,
                           .open = sim->model->asked.error > 0,
                           .best = -1};
    int most = rbt_threads_count(),
        threads =
            rbt_threads_enter(sim->threads ? sim->threads : rbt_thread_choice_start(sim->model->node_count, most));
    bool good = rbt_unit_costs_get(&costs, error) && look(sim->model, state, &moves, error);
    list(sim, method, solver, false, choice);
    if (!able_count(choice)) list(sim, method, solver, true, choice);
    for (int i = 0; i < choice->count; i++)
        if (choice->candidates[i].method == without)
            refuse(&choice->candidates[i], RBT_FATE_UNABLE, "it has just failed");
    for (int i = 0; good && i < choice->count; i++)
        if (choice->candidates[i].fate == RBT_FATE_PREDICTED)
            predict(&choice->candidates[i], sim->model, &moves, &costs, asked);
    good = good && try_best(sim, state, choice, error);
    rbt_threads_leave(threads);
    if (good && choice->best < 0) good = fail_all(sim, choice, error);
    if (good) fit_budget(sim, choice);
    choice->seconds = rbt_now() - start;
    return good;
}
