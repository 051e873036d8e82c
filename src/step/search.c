#include "step/search.h"

#include "math/vector.h"

#include <math.h>

enum { MOST_HALVINGS = 40 };

bool rbt_search_init(rbt_search *s, rbt_objective *objective, rbt_error *error) {
    *s = (rbt_search){.objective = objective, .arena = rbt_arena_new()};
    size_t values = 3 * objective->model->node_count;
    if (s->arena && (s->trial = rbt_arena_take(s->arena, values, sizeof(double))) &&
        (s->trial_gradient = rbt_arena_take(s->arena, values, sizeof(double))))
        return true;
    rbt_search_free(s);
    return rbt_fail_memory(error, 2 * values * sizeof(double), "a line search");
}

void rbt_search_free(rbt_search *s) {
    rbt_arena_free(s->arena);
    *s = (rbt_search){0};
}

// E(z + 2^-halvings first p), with its gradient if wanted
static double evaluate(rbt_search *s, const double *p, double first, int halvings, const double *z, bool gradient) {
    rbt_vector_combine(3 * s->objective->model->node_count, s->trial, z, ldexp(first, -halvings), p);
    return gradient ? rbt_objective_gradient(s->objective, s->trial, s->trial_gradient)
                    : rbt_objective_value(s->objective, s->trial);
}

double rbt_search_along(rbt_search *s, const double *p, double slope, double first, double *z, double *value,
                        double *gradient) {
    rbt_objective *o = s->objective;
    size_t values = 3 * o->model->node_count;
    double rounding = rbt_objective_rounding(o, *value);
    double limit = *value + (-0.5 * first * slope <= rounding ? rounding : 0);
    int halvings = s->expected;
    double trial_value = evaluate(s, p, first, halvings, z, true);
    bool good = trial_value <= limit, known = good;
    while (good && halvings > 0 && evaluate(s, p, first, halvings - 1, z, false) <= limit) {
        halvings--;
        known = false;
    }
    while (!good && ++halvings < MOST_HALVINGS) good = evaluate(s, p, first, halvings, z, false) <= limit;
    if (!good) return 0;
    if (!known) trial_value = evaluate(s, p, first, halvings, z, true);
    rbt_vector_add_scaled(values, z, ldexp(first, -halvings), p);
    rbt_vector_copy(values, gradient, s->trial_gradient);
    *value = trial_value;
    s->expected = halvings;
    return ldexp(first, -halvings);
}
