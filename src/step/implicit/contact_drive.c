#include "step/implicit/contact_drive.h"

#include "base/threads.h"
#include "math/vector.h"
#include "step/contact/contact_multipliers.h"

#include <stdio.h>
#include <string.h>

// Moves of what is prescribed; iterations that were stopped, for a detour
enum { MAX_DRIVES = 200, MANY_STOPS = 15 };
static const double SHORT = 0.1;     // share of a direction that is free, below which a detour is tried
static const double MIN_LEFT = 0.1;  // of an element's volume, in an iteration; chosen
// Of the residual since the last lag, for the next one; of constraints, whose forces change within a fraction of the
// thickness, it must be less
static const double LAG_SHARE = 0.5, STIFF_LAG_SHARE = 0.1;

// ---- Ways to forces of friction that are those of the end
//
// Lags in turn, each a minimum with the forces of the one before, or steps with friction's true derivative
// (contact_coupled.c). In a chain or an arch lags oscillate for ever, between cards that lean on each other the true
// derivative does; which it will be nothing tells beforehand, and with other rounding it is the other one. So where the
// residual, with the friction of the present normal forces, has not halved for a dozen iterations, the next one of four
// is tried: steps with the true derivative after two lags that were slow; such steps always; lags alone; lags from
// halfway between this iterate and the last lag, which damps an oscillation.

enum { FIRST_LAGS = 5, SLOW_LAGS = 2, TURN = 12 };
// Of the residual of a lag, what a slow one leaves; how much longer each turn is than the one before
static const double SLOW = 0.5, LONGER = 1.2;
enum { COUPLED_IF_SLOW, COUPLED, LAGS_ALONE, LAGS_HALFWAY, WAYS };

typedef struct rubbing_way {
    int way, slow;      // which one, and slow lags in a row
    int since;          // iteration of the best residual
    double last, best;  // residuals, the latter of this turn
    double turn;        // iterations without a better one
} rubbing_way;

// The residual in iteration k, after a lag
static void note_lag(rubbing_way *w, int k, double residual) {
    w->slow = residual > SLOW * w->last ? w->slow + 1 : 0;
    w->last = residual;
    if (w->slow >= SLOW_LAGS && !(w->best < INFINITY)) w->best = residual, w->since = k;
    if (residual < 0.5 * w->best && w->best < INFINITY) w->best = residual, w->since = k;
    if (!(w->best < INFINITY) || k - w->since < w->turn) return;
    w->way = (w->way + 1) % WAYS;
    w->turn *= LONGER;
    w->best = residual, w->since = k;
}

static bool wants_coupled(const rubbing_way *w, size_t lags) {
    if (lags < FIRST_LAGS) return false;
    return w->way == COUPLED || (w->way == COUPLED_IF_SLOW && w->slow >= SLOW_LAGS);
}

static bool take_basis(rbt_contact_drive *s, size_t values) {
    if (!s->objective->pairs || !s->objective->pairs->has_friction) return true;
    for (int k = 0; k <= RBT_KRYLOV_DIMENSION; k++)
        if (!(s->basis[k] = rbt_arena_take(s->arena, values, sizeof(double)))) return false;
    return true;
}

bool rbt_contact_drive_init(rbt_contact_drive *s, rbt_objective *objective, rbt_search *search, double *gradient,
                            double *direction, rbt_error *error) {
    size_t values = 3 * objective->model->node_count;
    *s = (rbt_contact_drive){.objective = objective,
                             .search = search,
                             .gradient = gradient,
                             .direction = direction,
                             .arena = rbt_arena_new()};
    if (s->arena && (s->rhs = rbt_arena_take(s->arena, values, sizeof(double))) &&
        (s->wanted = rbt_arena_take(s->arena, values, sizeof(double))) &&
        (s->plain = rbt_arena_take(s->arena, values, sizeof(double))) &&
        (s->before = rbt_arena_take(s->arena, values, sizeof(double))) &&
        (s->lagged_at = rbt_arena_take(s->arena, values, sizeof(double))) && take_basis(s, values))
        return true;
    rbt_contact_drive_free(s);
    return rbt_fail_memory(error, 4 * values * sizeof(double), "a step solver");
}

void rbt_contact_drive_free(rbt_contact_drive *s) {
    rbt_arena_free(s->arena);
    *s = (rbt_contact_drive){0};
}

static rbt_outcome in_the_way(const rbt_contact_drive *s, const char *what, rbt_step_report *report) {
    const rbt_step_contact *c = s->objective->pairs;
    char pair[160];
    if (c->out_of_memory) return RBT_OUT_OF_MEMORY;
    report->body = report->element = -1;
    rbt_step_contact_name(c, c->blocking, pair, sizeof pair);
    snprintf(report->hint, sizeof report->hint, "at %g s %s: %s", c->t + c->share * c->h, what, pair);
    return RBT_BLOCKED;
}

static rbt_outcome evaluate(rbt_contact_drive *s, double *z, double *value, rbt_step_report *report) {
    *value = rbt_objective_gradient(s->objective, z, s->gradient);
    if (isfinite(*value)) return RBT_DONE;
    if (s->objective->pairs->out_of_memory) return RBT_OUT_OF_MEMORY;
    return rbt_solver_not_finite(s->objective, z, s->gradient, report);
}

// Normal forces and tangents of friction where the gradient was taken last, and the gradient with them: the one that is
// there, if nothing rubs
static rbt_outcome lag(rbt_contact_drive *s, double *z, double *value, rbt_step_report *report) {
    rbt_step_contact *c = s->objective->pairs;
    size_t before = c->rubbing_count;
    if (!c->has_friction) return RBT_DONE;
    rbt_step_contact_lag(c, z);
    s->lags++;
    if (c->out_of_memory) return RBT_OUT_OF_MEMORY;
    return before || c->rubbing_count ? evaluate(s, z, value, report) : RBT_DONE;
}

// The same at z, where no gradient has been taken: that of contact is enough to find what rubs. All of it, and *value,
// follow if something does, or if they are `wanted`.
static rbt_outcome lag_alone(rbt_contact_drive *s, double *z, bool wanted, double *value, rbt_step_report *report) {
    rbt_step_contact *c = s->objective->pairs;
    if (c->has_friction && isfinite(rbt_step_contact_gradient(c, z, c->share))) {
        rbt_step_contact_lag(c, z);
        s->lags++;
    } else wanted |= c->has_friction;
    if (c->out_of_memory) return RBT_OUT_OF_MEMORY;
    return wanted || c->rubbing_count ? evaluate(s, z, value, report) : RBT_DONE;
}

// Halfway between z and the place of the last lag, if nothing is in between
static rbt_outcome go_back(rbt_contact_drive *s, double *z, double *value, rbt_stages *stages,
                           rbt_step_report *report) {
    size_t values = 3 * s->objective->model->node_count;
    double longest;
    for (size_t i = 0; i < values; i++) s->direction[i] = 0.5 * (s->lagged_at[i] - z[i]);
    RBT_STAGE("ccd", rbt_contact_drive_limit(s, z, 0, &longest));
    if (longest < 1) return RBT_DONE;
    rbt_vector_add_scaled(values, z, 1, s->direction);
    rbt_outcome outcome = evaluate(s, z, value, report);
    if (outcome == RBT_DONE) rbt_step_contact_show(s->objective->pairs, z);
    return outcome;
}

// Another round, with the forces of this one as multipliers
static rbt_outcome begin_round(rbt_contact_drive *s, double *z, double *value, rbt_step_report *report) {
    if (!rbt_multipliers_follow(s->objective->pairs)) return RBT_OUT_OF_MEMORY;
    s->is_bent = true;  // some pairs are stiffer now
    return evaluate(s, z, value, report);
}

rbt_outcome rbt_contact_drive_assemble(rbt_contact_drive *s, bool exact, const double *z) {
    (exact ? rbt_objective_true_hessian : rbt_objective_hessian)(s->objective, z);
    return RBT_DONE;
}

rbt_outcome rbt_contact_drive_add(rbt_contact_drive *s, bool exact) {
    return rbt_step_contact_hessian(s->objective->pairs, &s->objective->H, exact) ? RBT_DONE : RBT_OUT_OF_MEMORY;
}

rbt_outcome rbt_contact_drive_limit(rbt_contact_drive *s, const double *z, double advance, double *longest) {
    rbt_step_contact *c = s->objective->pairs;
    *longest = rbt_step_contact_first_stop(c, z, s->direction, c->share, advance);
    return c->out_of_memory ? RBT_OUT_OF_MEMORY : RBT_DONE;
}

// Whether some element of a material that must not turn inside out has less than MIN_LEFT of the volume at z that it
// had
static bool flattens(const rbt_objective *o, const double *z, const double *trial) {
    const rbt_model *m = o->model;
    bool found = false;
#pragma omp parallel for schedule(static) reduction(|| : found) if (m->tet_count >= RBT_PARALLEL_FROM)
    for (size_t t = 0; t < m->tet_count; t++) {
        const int32_t *n = m->tets + 4 * t;
        const double *a[4], *b[4];
        if (rbt_material_at(m->regions[m->tet_region[t]].material.model)->survives_inversion) continue;
        for (int k = 0; k < 4; k++) a[k] = z + 3 * (size_t)n[k], b[k] = trial + 3 * (size_t)n[k];
        double before = rbt_tet_volume(a[0], a[1], a[2], a[3]), after = rbt_tet_volume(b[0], b[1], b[2], b[3]);
        found = found || after / before < MIN_LEFT;
    }
    return found;
}

double rbt_contact_drive_room(rbt_contact_drive *s, const double *z, double longest) {
    const rbt_model *m = s->objective->model;
    bool forbidden = false;
    for (size_t r = 0; r < m->region_count; r++)
        forbidden |= !rbt_material_at(m->regions[r].material.model)->survives_inversion;
    for (int halvings = 0; forbidden && longest > 0 && halvings < 40; halvings++, longest *= 0.5) {
        rbt_vector_combine(3 * m->node_count, s->search->trial, z, longest, s->direction);
        if (!flattens(s->objective, z, s->search->trial)) break;
    }
    return longest;
}

// ---- What is prescribed

// rhs = g + H_fp p_p
static void predict(rbt_contact_drive *s) {
    const rbt_objective *o = s->objective;
    size_t values = 3 * o->model->node_count;
    memset(s->direction, 0, values * sizeof(double));
    rbt_step_contact_drive(o->pairs, s->direction);
    rbt_block_matrix_product(&o->H, s->direction, s->rhs);
    rbt_vector_add_scaled(values, s->rhs, 1, s->gradient);
    rbt_step_contact_couple(o->pairs, s->rhs);
}

// z and the share of the prescribed motion, as far as the test allows and E is finite
static rbt_outcome follow(rbt_contact_drive *s, double *z, double longest, double *length) {
    rbt_objective *o = s->objective;
    rbt_step_contact *c = o->pairs;
    size_t values = 3 * o->model->node_count;
    double share = c->share;
    for (int halvings = 0; halvings < 40; halvings++, longest *= 0.5) {
        rbt_vector_combine(values, s->search->trial, z, longest, s->direction);
        c->share = longest == 1 ? 1 : share + longest * (1 - share);
        if (!(longest > 0) || !isfinite(rbt_objective_value(o, s->search->trial))) continue;
        rbt_vector_copy(values, z, s->search->trial);
        *length = longest;
        return RBT_DONE;
    }
    c->share = share;
    *length = 0;
    return RBT_DONE;
}

rbt_outcome rbt_contact_drive_detour(rbt_contact_drive *s, double *z, double *value, double longest, bool *found,
                                     rbt_stages *stages, rbt_step_report *report) {
    rbt_step_contact *c = s->objective->pairs;
    size_t values = 3 * s->objective->model->node_count;
    double before = *value;
    *found = false;
    if (longest >= SHORT || ++s->stopped < MANY_STOPS || rbt_step_contact_is_driven(c)) return RBT_DONE;
    s->stopped = 0;
    rbt_vector_copy(values, s->before, z);
    rbt_vector_copy(values, s->plain, s->direction);
    rbt_vector_combine(values, s->wanted, z, 1, s->direction);
    rbt_outcome outcome = rbt_contact_drive_chase(s, z, stages, report);
    if (outcome != RBT_DONE) return outcome;
    *value = rbt_objective_gradient(s->objective, z, s->gradient);
    *found = *value < before;
    if (*found) return RBT_DONE;
    rbt_vector_copy(values, z, s->before);
    rbt_vector_copy(values, s->direction, s->plain);
    rbt_step_contact_return(c, z);
    return evaluate(s, z, value, report);
}

// A chase towards where prescribed nodes must be, the others staying where they are at first
static rbt_outcome drive_by_chase(rbt_contact_drive *s, double *z, double *value, rbt_stages *stages,
                                  rbt_step_report *report) {
    size_t values = 3 * s->objective->model->node_count;
    memset(s->direction, 0, values * sizeof(double));
    rbt_step_contact_drive(s->objective->pairs, s->direction);
    rbt_vector_combine(values, s->wanted, z, 1, s->direction);
    rbt_outcome outcome = rbt_contact_drive_chase(s, z, stages, report);
    if (outcome == RBT_DONE) outcome = evaluate(s, z, value, report);
    return outcome == RBT_DONE ? lag(s, z, value, report) : outcome;
}

static rbt_outcome drive(rbt_contact_drive *s, double *z, double *value, rbt_stages *stages,
                         rbt_step_report *report) {
    rbt_step_contact *c = s->objective->pairs;
    double marked = 0;
    for (int k = 0; rbt_step_contact_is_driven(c); k++) {
        double longest, length = 0;
        bool found;
        if (k % 20 == 19) {
            if (k >= MAX_DRIVES || c->share - marked < 1e-3)
                return in_the_way(s, "a prescribed motion cannot be made", report);
            marked = c->share;
            rbt_outcome outcome = drive_by_chase(s, z, value, stages, report);
            if (outcome != RBT_DONE) return outcome;
            continue;
        }
        rbt_outcome outcome = s->solver->make(s->self, z, stages, report);
        if (outcome != RBT_DONE) return outcome;
        predict(s);
        RBT_STAGE("solve", s->solver->solve(s->self, s->rhs, s->direction, report));
        rbt_step_contact_drive(c, s->direction);
        RBT_STAGE("ccd", rbt_contact_drive_limit(s, z, 1 - c->share, &longest));
        RBT_STAGE("search", follow(s, z, rbt_contact_drive_room(s, z, longest), &length));
        rbt_step_contact_show(c, z);
        outcome = evaluate(s, z, value, report);
        if (outcome == RBT_DONE) outcome = lag(s, z, value, report);
        if (outcome == RBT_DONE && length < 1) outcome = s->solver->relax(s->self, z, value, &found, stages, report);
        if (outcome == RBT_DONE && length < 1) outcome = lag(s, z, value, report);
        if (outcome != RBT_DONE) return outcome;
    }
    return RBT_DONE;
}

// ---- The iteration

// From `last`, or from the wanted start z if the way there is free and friction, with the forces of `last`, does not
// hold things where they are.
static rbt_outcome begin(rbt_contact_drive *s, const double *last, double *z, double *value, rbt_stages *stages,
                         rbt_step_report *report) {
    rbt_step_contact *c = s->objective->pairs;
    size_t values = 3 * s->objective->model->node_count;
    double longest;
    *value = INFINITY;  // if it is not asked for
    rbt_vector_combine(values, s->direction, z, -1, last);
    rbt_vector_copy(values, z, last);
    RBT_STAGE("ccd", rbt_contact_drive_limit(s, z, 1, &longest));
    report->stage = "start";
    rbt_outcome outcome = lag_alone(s, z, longest < 1, value, report);
    if (outcome != RBT_DONE || longest < 1) return outcome;
    double held = *value;
    rbt_vector_add_scaled(values, z, 1, s->direction);
    c->share = 1;
    *value = rbt_objective_gradient(s->objective, z, s->gradient);
    if (*value <= held) return RBT_DONE;
    rbt_vector_copy(values, z, last);
    c->share = 0;
    return evaluate(s, z, value, report);
}

rbt_outcome rbt_contact_drive_judge(rbt_contact_drive *s, rbt_stop *stop, const double *z, int k, int max_iterations,
                                    bool *solved, rbt_stages *stages, rbt_step_report *report) {
    rbt_outcome outcome = rbt_solver_judge(stop, z, s->gradient, k, max_iterations, solved, stages, report);
    if (outcome != RBT_DONE || !*solved || stop->residual <= 1 || !rbt_step_contact_is_shut(s->objective->pairs))
        return outcome;
    *solved = false;  // what rounding leaves of the forces is too much where gaps are closed to it
    return k < max_iterations ? RBT_DONE : rbt_solver_at_cap(stop, z, s->gradient, report);
}

rbt_outcome rbt_contact_drive_solve(rbt_contact_drive *s, const double *last, double *z, rbt_stop *stop,
                                    int max_iterations, rbt_stages *stages, rbt_step_report *report) {
    rbt_step_contact *c = s->objective->pairs;
    double value;
    rubbing_way way = {.best = INFINITY, .turn = TURN};
    const double lag_share = c->augmented ? STIFF_LAG_SHARE : LAG_SHARE;
    s->stopped = 0;
    rbt_outcome outcome = begin(s, last, z, &value, stages, report);
    if (outcome == RBT_DONE) rbt_step_contact_show(c, z);
    if (outcome == RBT_DONE) outcome = lag(s, z, &value, report);
    if (outcome == RBT_DONE) outcome = drive(s, z, &value, stages, report);
    if (outcome != RBT_DONE) return outcome;
    bool fresh = true;  // friction has the forces of z
    size_t first_lag = s->lags;
    rbt_vector_copy(3 * s->objective->model->node_count, s->lagged_at, z);
    for (int k = 0;; k++) {
        bool solved, found = false;
        outcome = rbt_contact_drive_judge(s, stop, z, k, max_iterations, &solved, stages, report);
        if (outcome != RBT_DONE) return outcome;
        if (k == 0) way.last = stop->residual;
        if (k > 0 && c->has_friction && !fresh && !c->lagged_once &&
            (solved || stop->residual <= lag_share * way.last)) {
            if (way.way == LAGS_HALFWAY) outcome = go_back(s, z, &value, stages, report);
            rbt_vector_copy(3 * s->objective->model->node_count, s->lagged_at, z);
            if (outcome == RBT_DONE) outcome = lag(s, z, &value, report);
            if (outcome == RBT_DONE)
                outcome = rbt_contact_drive_judge(s, stop, z, k, max_iterations, &solved, stages, report);
            if (outcome != RBT_DONE) return outcome;
            note_lag(&way, k, stop->residual);
            fresh = true;
        }
        bool settled = !c->augmented || !solved || rbt_multipliers_settled(c);
        if (solved && settled) return RBT_DONE;
        if (c->augmented && !solved && k > 0) {
            bool any;
            if (!rbt_multipliers_stiffen(c, &any)) return RBT_OUT_OF_MEMORY;
            s->is_bent |= any;
            if (any) outcome = evaluate(s, z, &value, report);
            if (outcome != RBT_DONE) return outcome;
        }
        if (!settled) {
            outcome = begin_round(s, z, &value, report);
            if (outcome != RBT_DONE) return outcome;
            fresh = !c->has_friction;
        }
        if (fresh && c->rubbing_count && wants_coupled(&way, s->lags - first_lag)) {
            outcome = rbt_contact_drive_coupled(s, z, &value, &found, stages, report);
            if (outcome != RBT_DONE) return outcome;
            if (!found) way.slow = 0;
        }
        if (found) continue;
        outcome = s->solver->relax(s->self, z, &value, &found, stages, report);
        fresh = !c->has_friction;
        if (outcome == RBT_DONE && !found) {
            if (!rbt_stop_at_rounding(stop) || rbt_step_contact_is_shut(c))
                return in_the_way(s, "no room to move, or no decrease of the energy, near", report);
            outcome = evaluate(s, z, &value, report);
            if (outcome != RBT_DONE || !c->augmented || rbt_multipliers_settled(c)) return outcome;
            outcome = begin_round(s, z, &value, report);
        }
        if (outcome != RBT_DONE) return outcome;
    }
}
