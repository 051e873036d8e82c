#include "step/implicit/search.h"

#include "math/vector.h"

#include <math.h>

enum { MAX_HALVINGS = 40 };

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

// Whether the decrease that the slope promises for this length drowns in the rounding of E
static bool is_blind(double slope, double first, int halvings, double rounding) {
    return -0.5 * ldexp(first, -halvings) * slope <= rounding;
}

// Where E is blind: the decrease that the slope promises drowns in the rounding of E, but the slope along p does not.
// phi'(s) <= (1 - 2 delta) |phi'(0)| is, on a parabola, the decrease that E would have to show (Hager and Zhang 2005,
// "approximate Wolfe conditions"); E must not increase by more than its rounding all the same.
static double search_by_slope(rbt_search *s, const double *p, double slope, double first, int halvings, double limit,
                              double *z, double *value, double *gradient) {
    static const double DELTA = 0.1;
    size_t values = 3 * s->objective->model->node_count;
    for (; halvings < MAX_HALVINGS; halvings++) {
        double trial_value = evaluate(s, p, first, halvings, z, true);
        double trial_slope = rbt_ranks_dot(s->objective->model, p, s->trial_gradient);
        if (!(trial_value <= limit) || !(trial_slope <= (1 - 2 * DELTA) * fabs(slope))) continue;
        rbt_vector_copy(values, z, s->trial);
        rbt_vector_copy(values, gradient, s->trial_gradient);
        *value = trial_value;
        return ldexp(first, -halvings);
    }
    return 0;
}

double rbt_search_along(rbt_search *s, const double *p, double slope, double first, double *z, double *value,
                        double *gradient) {
    rbt_objective *o = s->objective;
    o->move = rbt_objective_longest(o, p);
    size_t values = 3 * o->model->node_count;
    double rounding = rbt_objective_rounding(o, *value), limit = *value;
    int halvings = s->expected;
    if (is_blind(slope, first, halvings, rounding))
        return search_by_slope(s, p, slope, first, 0, limit + rounding, z, value, gradient);
    double trial_value = evaluate(s, p, first, halvings, z, true);
    bool good = trial_value <= limit, known = good;
    while (good && halvings > 0 && evaluate(s, p, first, halvings - 1, z, false) <= limit) {
        halvings--;
        known = false;
    }
    while (!good && ++halvings < MAX_HALVINGS) {
        if (is_blind(slope, first, halvings, rounding))
            return search_by_slope(s, p, slope, first, halvings, limit + rounding, z, value, gradient);
        good = evaluate(s, p, first, halvings, z, false) <= limit;
    }
    if (!good) return 0;
    if (!known) trial_value = evaluate(s, p, first, halvings, z, true);
    rbt_vector_add_scaled(values, z, ldexp(first, -halvings), p);
    rbt_vector_copy(values, gradient, s->trial_gradient);
    *value = trial_value;
    s->expected = halvings;
    return ldexp(first, -halvings);
}
