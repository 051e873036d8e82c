#include "step/search.h"

#include "math/vector.h"

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

double rbt_search_along(rbt_search *s, const double *p, double slope, double first, double *z, double *value,
                        double *gradient) {
    rbt_objective *o = s->objective;
    size_t values = 3 * o->model->node_count;
    double length = first, rounding = rbt_objective_rounding(o, *value);
    double limit = *value + (-0.5 * first * slope <= rounding ? rounding : 0);
    for (int halvings = 0; halvings < MOST_HALVINGS; halvings++, length *= 0.5) {
        rbt_vector_combine(values, s->trial, z, length, p);
        double trial_value =
            halvings == 0 ? rbt_objective_gradient(o, s->trial, s->trial_gradient) : rbt_objective_value(o, s->trial);
        if (!(trial_value <= limit)) continue;
        if (halvings) trial_value = rbt_objective_gradient(o, s->trial, s->trial_gradient);
        rbt_vector_copy(values, z, s->trial);
        rbt_vector_copy(values, gradient, s->trial_gradient);
        *value = trial_value;
        return length;
    }
    return 0;
}
