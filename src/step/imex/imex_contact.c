#include "step/imex/imex_contact.h"

#include "math/vector.h"

#include <string.h>

bool rbt_imex_contact_init(rbt_imex_contact *s, const rbt_model *m, rbt_error *error) {
    size_t nodes = m->node_count;
    int32_t **numbers[] = {&s->place, &s->columns, &s->rows, &s->column_at, &s->row_at};
    *s = (rbt_imex_contact){.model = m, .arena = rbt_arena_new()};
    bool good = s->arena && (s->velocity = rbt_arena_take(s->arena, 3 * nodes, sizeof(double))) &&
                (s->change = rbt_arena_take(s->arena, 3 * nodes, sizeof(double)));
    for (size_t i = 0; good && i < sizeof numbers / sizeof *numbers; i++)
        good = (*numbers[i] = rbt_arena_take(s->arena, nodes, sizeof(int32_t))) != NULL;
    if (!good) return rbt_fail_memory(error, 10 * nodes * sizeof(double), "contact");
    return rbt_stiffness_build(&s->stiffness, m, error) &&
           (s->impulses = rbt_impulses_new(m, &s->stiffness.K, error)) != NULL;
}

void rbt_imex_contact_free(rbt_imex_contact *s) {
    rbt_impulses_free(s->impulses);
    rbt_stiffness_free(&s->stiffness);
    rbt_arena_free(s->arena);
    free(s->entries);
    *s = (rbt_imex_contact){0};
}

static rbt_outcome apply(void *self, const double *J, double *displacement, double *velocity,
                         rbt_step_report *report) {
    rbt_imex_contact *s = self;
    size_t nodes = s->model->node_count;
    (void)report;
    rbt_vector_copy(3 * nodes, velocity, s->velocity);
    for (size_t i = 0; J && i < 3 * nodes; i++) {
        bool explicit_one = !s->constrained[i / 3] && s->place[i / 3] < 0;
        s->change[i] = explicit_one ? J[i] / s->model->mass[i / 3] : 0;
        velocity[i] += s->change[i];
    }
    if (J && s->block && !rbt_imex_block_push(s->block, J, s->change, s->h)) return RBT_OUT_OF_MEMORY;
    for (size_t i = 0; J && s->block && i < 3 * s->block->count; i++)
        velocity[3 * (size_t)s->block->part.nodes[i / 3] + i % 3] += s->block->dv[i];
    for (size_t i = 0; i < 3 * nodes; i++) displacement[i] = s->h * velocity[i];
    return RBT_DONE;
}

// The implicit ones of some nodes: numbers in the block, and where they come from
static size_t choose(const rbt_imex_contact *s, size_t count, const int32_t *node, int32_t *chosen, int32_t *at) {
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        if (s->place[node[i]] >= 0) {
            chosen[found] = s->place[node[i]];
            at[found++] = (int32_t)i;
        }
    return found;
}

static bool entries(void *self, size_t column_count, const int32_t *column, size_t row_count, const int32_t *row,
                    double *to) {
    rbt_imex_contact *s = self;
    size_t numbers = 3 * row_count;
    memset(to, 0, 3 * column_count * numbers * sizeof *to);
    for (size_t c = 0; c < column_count; c++)
        for (size_t r = 0; s->place[column[c]] < 0 && r < row_count; r++)
            for (size_t k = 0; row[r] == column[c] && k < 3; k++)
                to[(3 * c + k) * numbers + 3 * r + k] = 1 / s->model->mass[row[r]];
    size_t columns = choose(s, column_count, column, s->columns, s->column_at);
    size_t rows = choose(s, row_count, row, s->rows, s->row_at);
    if (!columns || !rows) return true;
    if (!rbt_array_reserve((void **)&s->entries, &s->entry_capacity, 9 * columns * rows, sizeof *s->entries,
                           "contact", NULL) ||
        !rbt_cholesky_inverse(s->block->factor, columns, s->columns, rows, s->rows, s->entries))
        return false;
    for (size_t c = 0; c < 3 * columns; c++)
        for (size_t r = 0; r < 3 * rows; r++)
            to[(3 * (size_t)s->column_at[c / 3] + c % 3) * numbers + 3 * (size_t)s->row_at[r / 3] + r % 3] =
                s->entries[c * 3 * rows + r];
    return true;
}

rbt_impulse_response rbt_imex_response(const rbt_imex_contact *s) {
    return (rbt_impulse_response){
        .entries = entries, .apply = apply, .swings = true, .approximate = s->block != NULL};
}

rbt_outcome rbt_imex_meet(rbt_imex_contact *s, rbt_state *state, rbt_stages *stages, rbt_step_report *report) {
    rbt_impulse_response response = rbt_imex_response(s);
    for (size_t n = 0; n < s->model->node_count; n++) s->place[n] = -1;
    for (size_t i = 0; s->block && i < s->block->count; i++) s->place[s->block->part.nodes[i]] = (int32_t)i;
    return rbt_impulses_step(s->impulses, &response, s, state, s->h, s->constrained, state->x, state->v, stages,
                             report);
}
