#include "step/implicit/lbfgs.h"

#include "math/vector.h"

#include <math.h>
#include <string.h>

bool rbt_lbfgs_init(rbt_lbfgs *l, rbt_objective *objective, rbt_error *error) {
    size_t values = 3 * objective->model->node_count;
    *l = (rbt_lbfgs){.objective = objective, .arena = rbt_arena_new()};
    double **vectors[4 + 2 * RBT_LBFGS_PAIRS] = {&l->gradient, &l->direction, &l->before, &l->gradient_before};
    for (size_t k = 0; k < RBT_LBFGS_PAIRS; k++) {
        vectors[4 + 2 * k] = &l->s[k];
        vectors[5 + 2 * k] = &l->y[k];
    }
    bool ok = l->arena != NULL;
    for (size_t k = 0; ok && k < sizeof vectors / sizeof *vectors; k++)
        ok = (*vectors[k] = rbt_arena_take(l->arena, values, sizeof(double))) != NULL;
    if (!ok) rbt_fail_memory(error, sizeof vectors / sizeof *vectors * values * sizeof(double), "a step solver");
    if (ok && rbt_search_init(&l->search, objective, error) &&
        (!objective->pairs ||
         rbt_contact_drive_init(&l->drive, objective, &l->search, l->gradient, l->direction, error)))
        return true;
    rbt_lbfgs_free(l);
    return false;
}

void rbt_lbfgs_free(rbt_lbfgs *l) {
    rbt_contact_drive_free(&l->drive);
    rbt_search_free(&l->search);
    rbt_arena_free(l->arena);
    *l = (rbt_lbfgs){0};
}

// Exact where other ranks have a part in it, which takes several times as long
static double dot(const rbt_lbfgs *l, const double *a, const double *b) {
    const rbt_model *m = l->objective->model;
    return l->on_ranks ? rbt_ranks_dot(m, a, b) : rbt_vector_dot(3 * m->node_count, a, b);
}

// The pair that is `age` iterations old
static size_t pair(const rbt_lbfgs *l, size_t age) { return (l->newest + RBT_LBFGS_PAIRS - age) % RBT_LBFGS_PAIRS; }

rbt_outcome rbt_lbfgs_direction(rbt_lbfgs *l, const rbt_inverse *D) {
    size_t values = 3 * l->objective->model->node_count;
    double *q = l->before, *p = l->direction;
    for (size_t i = 0; i < values; i++) q[i] = -l->gradient[i];
    for (size_t age = 0; age < l->count; age++) {
        size_t k = pair(l, age);
        l->share[k] = l->inverse_ys[k] * dot(l, l->s[k], q);
        rbt_vector_add_scaled(values, q, -l->share[k], l->y[k]);
    }
    rbt_outcome outcome = D->apply(D->self, q, p);
    for (size_t age = l->count; outcome == RBT_DONE && age-- > 0;) {
        size_t k = pair(l, age);
        double back = l->inverse_ys[k] * dot(l, l->y[k], p);
        rbt_vector_add_scaled(values, p, l->share[k] - back, l->s[k]);
    }
    return outcome;
}

void rbt_lbfgs_remember(rbt_lbfgs *l, const double *z) {
    size_t values = 3 * l->objective->model->node_count, k = l->count ? (l->newest + 1) % RBT_LBFGS_PAIRS : 0;
    rbt_vector_combine(values, l->s[k], z, -1, l->before);
    rbt_vector_combine(values, l->y[k], l->gradient, -1, l->gradient_before);
    double ys = dot(l, l->y[k], l->s[k]);
    if (!(ys > 0)) {
        // The place may have held the oldest pair, which is gone now.
        if (l->count == RBT_LBFGS_PAIRS) l->count--;
        return;
    }
    l->inverse_ys[k] = 1 / ys;
    l->newest = k;
    if (l->count < RBT_LBFGS_PAIRS) l->count++;
}

static rbt_outcome advance(rbt_lbfgs *l, const rbt_inverse *D, double *z, double *value, bool *found) {
    size_t values = 3 * l->objective->model->node_count;
    double slope = dot(l, l->direction, l->gradient);
    double first = D->first_length ? D->first_length(D->self, l->direction, slope) : 1;
    rbt_vector_copy(values, l->before, z);
    rbt_vector_copy(values, l->gradient_before, l->gradient);
    double length = rbt_search_along(&l->search, l->direction, slope, first, z, value, l->gradient);
    *found = length > 0;
    if (*found) rbt_lbfgs_remember(l, z);
    return RBT_DONE;
}

// At the rate so far count log(now) / log(first / now) more iterations are to come.
bool rbt_lbfgs_new_one_pays(const rbt_inverse *D, int count, double first, double now) {
    if (!D->make || D->place || count < 0.75 * D->usual_iterations) return false;  // too early to tell
    return !((D->making_cost + D->usual_iterations) * log(first / now) > count * log(now));
}

rbt_outcome rbt_lbfgs_solve(rbt_lbfgs *l, const rbt_inverse *D, const double *last, double *z, rbt_stop *stop,
                            int max_iterations, rbt_stages *stages, rbt_step_report *report) {
    rbt_objective *o = l->objective;
    int made = 0;  // the iteration before which D was made
    bool found = true;
    double first = 0;
    if (o->pairs) return rbt_lbfgs_contact(l, D, last, z, stop, max_iterations, stages, report);
    l->search.expected = 0;
    report->stage = "start";
    double value = rbt_objective_gradient(o, z, l->gradient);
    if (!isfinite(value)) return rbt_solver_not_finite(o, z, l->gradient, report);
    for (int k = 0;; k++) {
        bool solved;
        rbt_outcome outcome = rbt_solver_judge(stop, z, l->gradient, k, max_iterations, &solved, stages, report);
        if (outcome != RBT_DONE || solved) return outcome;
        if (!found && l->count == 0) return rbt_solver_no_descent(stop, z, l->gradient, report);
        if (!found) l->count = 0;  // once more, without what older pairs say
        if (k == 0 || rbt_lbfgs_new_one_pays(D, k - made, first, report->statistics[RBT_STAT_RESIDUAL])) {
            outcome = D->make ? D->make(D->self, D->place ? D->place : z, stages, report) : RBT_DONE;
            if (outcome != RBT_DONE) return outcome;
            l->count = 0;  // older pairs belong to another D
            made = k;
            first = report->statistics[RBT_STAT_RESIDUAL];
        }
        report->statistics[RBT_STAT_ITERATIONS]++;
        RBT_STAGE("solve", rbt_lbfgs_direction(l, D));
        RBT_STAGE("search", advance(l, D, z, &value, &found));
    }
}
