#include "step/imex/rotation_lag.h"

#include <math.h>
#include <string.h>

bool rbt_rotation_lag_knows(const rbt_model *m) {
    for (size_t g = 0; g < m->group_count; g++)
        if (!m->groups[g].constant_stiffness && !m->groups[g].turning_stiffness) return false;
    return true;
}

static void find_rates(const rbt_model *m, const double *mass, const double *X, double *rate) {
    for (size_t g = 0; g < m->group_count; g++) {
        const rbt_group *group = &m->groups[g];
        size_t corners = (size_t)group->type->corners;
        for (size_t e = 0; e < group->count; e++, rate++) {
            double K[9 * RBT_MOST_CORNERS * RBT_MOST_CORNERS], square = 0;
            group->type->local(group, e, X, NULL, RBT_TANGENT, K);
            for (size_t i = 0; i < 3 * corners; i++) {
                double own = mass[group->nodes[corners * e + i / 3]];
                if (own > 0) square += K[(3 * corners + 1) * i] / own;
            }
            *rate = sqrt(square);
        }
    }
}

// Chunks go through the groups one after the other, as elements are numbered here.
static void find_places(rbt_rotation_lag *t) {
    const rbt_plan *plan = &t->model->plan;
    size_t *place = t->place;
    for (size_t c = 0; c < plan->chunk_count; c++) {
        bool turns = t->model->groups[plan->chunks[c].group].turning_stiffness;
        t->constant = t->constant && !turns;
        for (size_t e = 0; e < plan->chunks[c].count; e++)
            *place++ = turns ? t->now.chunk_start[c] + 9 * (e / RBT_W * RBT_W) + e % RBT_W : SIZE_MAX;
    }
}

bool rbt_rotation_lag_build(rbt_rotation_lag *t, const rbt_model_part *part, const double *mass, const double *X,
                            rbt_error *error) {
    size_t count = part->element_count;
    *t = (rbt_rotation_lag){.model = &part->model, .element_count = count, .constant = true};
    if (!rbt_tangent_build(&t->now, part->arena, &part->model, error)) return false;
    if (!(t->place = rbt_arena_take(part->arena, count, sizeof *t->place)) ||
        !(t->rate = rbt_arena_take(part->arena, count, sizeof *t->rate)))
        return rbt_fail_memory(error, count * (sizeof *t->place + sizeof *t->rate), "the turns of elements");
    find_rates(&part->model, mass, X, t->rate);
    find_places(t);
    return true;
}

void rbt_rotation_lag_look(rbt_rotation_lag *t, const double *x) { rbt_tangent_prepare(&t->now, x); }

void rbt_rotation_lag_rotation(const rbt_rotation_lag *t, size_t element, double R[9]) {
    for (size_t k = 0; k < 9; k++)
        R[k] = t->place[element] == SIZE_MAX ? k % 4 == 0 : t->now.store[t->place[element] + RBT_W * k];
}

double rbt_rotation_lag_square(const rbt_rotation_lag *t, size_t element, const double made[9]) {
    if (t->place[element] == SIZE_MAX) return 0;
    const double *now = t->now.store + t->place[element];
    double square = 0;
    for (size_t k = 0; k < 9; k++) {  // |R - R'|^2 = 8 sin^2(t / 2)
        double d = now[RBT_W * k] - made[k];
        square += 0.5 * d * d;
    }
    return square;
}
