#include "step/multirate/multirate_contact.h"

#include "math/oscillator.h"
#include "model/force.h"
#include "step/multirate/subcycling.h"

#include <string.h>

// ---- Life

static bool build(rbt_multirate_contact *s, const rbt_model *m, const rbt_block_matrix *K, rbt_error *error) {
    size_t nodes = m->node_count;
    int32_t **numbers[] = {&s->part_of, &s->place, &s->number, &s->base, &s->chosen, &s->chosen_at};
    double **vectors[] = {&s->moved, &s->sliding, &s->given, &s->reaction};
    bool good = (s->arena = rbt_arena_new()) != NULL;
    for (size_t i = 0; good && i < sizeof numbers / sizeof *numbers; i++)
        good = (*numbers[i] = rbt_arena_take(s->arena, nodes, sizeof(int32_t))) != NULL;
    for (size_t i = 0; good && i < sizeof vectors / sizeof *vectors; i++)
        good = (*vectors[i] = rbt_arena_take(s->arena, 3 * nodes, sizeof(double))) != NULL;
    good = good && (s->share = rbt_arena_take(s->arena, nodes, sizeof(double))) &&
           (s->asked = rbt_arena_take(s->arena, nodes + 1, 1));
    if (!good) return rbt_fail_memory(error, 20 * nodes * sizeof(double), "contact");
    return (s->impulses = rbt_impulses_new(m, K, error)) != NULL;
}

rbt_multirate_contact *rbt_multirate_contact_new(const rbt_model *m, const rbt_block_matrix *K, rbt_error *error) {
    rbt_multirate_contact *s = rbt_array_new(1, sizeof *s, "contact", error);
    if (s && build(s, m, K, error)) return s;
    rbt_multirate_contact_free(s);
    return NULL;
}

void rbt_multirate_contact_free(rbt_multirate_contact *s) {
    if (!s) return;
    rbt_impulses_free(s->impulses);
    rbt_arena_free(s->arena);
    free(s->inverse.value), free(s->change.value);
    free(s);
}

bool rbt_multirate_contact_parts(rbt_multirate_contact *s, const rbt_rate_parts *parts) {
    memset(s->part_of, -1, parts->model->node_count * sizeof *s->part_of);
    memset(s->number, -1, parts->model->node_count * sizeof *s->number);
    for (size_t p = 0; p < parts->count; p++)
        for (size_t i = 0; i < parts->items[p].count; i++) {
            s->part_of[parts->items[p].node[i]] = (int32_t)p;
            s->place[parts->items[p].node[i]] = (int32_t)i;
        }
    return true;
}

static bool reserve(rbt_multirate_buffer *buffer, size_t need) {
    return rbt_array_reserve((void **)&buffer->value, &buffer->capacity, need, sizeof(double), "contact", NULL);
}

// ---- The whole step

// Ways and velocities of all nodes, from what the sub-cycling has left in the parts
static void scatter(const rbt_multirate_contact *s, double *way, double *velocity) {
    const rbt_rate_parts *parts = s->parts;
    for (size_t i = 0; i < 3 * parts->model->node_count; i++) {
        if (!s->constrained[i / 3]) continue;
        velocity[i] = s->moved[i];
        way[i] = s->H * s->moved[i];
    }
    for (size_t p = 0; p < parts->count; p++) {
        const rbt_rate_part *part = &parts->items[p];
        for (size_t k = 0; k < 3 * part->count; k++) {
            size_t at = 3 * (size_t)part->node[k / 3] + k % 3;
            velocity[at] = part->v[k];
            way[at] = p ? part->total[k] : part->w[k];
        }
    }
}

// Impulses of external forces and of contact, which is part of them
static void sum_forces(rbt_multirate_contact *s) {
    for (size_t p = 0; p < s->parts->count; p++) {
        const rbt_rate_part *part = &s->parts->items[p];
        size_t n = 3 * part->count;
        int64_t instants = s->varies ? part->instants : 1;
        for (size_t k = 0; k < n; k++) {
            double sum = 0;
            for (int64_t i = 0; i < instants; i++) sum += part->f[(size_t)i * n + k];
            s->given[3 * (size_t)part->node[k / 3] + k % 3] = s->H / (double)instants * sum;
        }
    }
}

static rbt_outcome apply(void *self, const double *J, double *displacement, double *velocity,
                         rbt_step_report *report) {
    rbt_multirate_contact *s = self;
    (void)report;
    if (!s->cycle(s->self, J)) return RBT_OUT_OF_MEMORY;
    scatter(s, displacement, velocity);
    sum_forces(s);
    if (s->rest) rbt_rest_modes_add(s->rest, J != NULL, displacement, velocity, s->given);
    for (size_t i = 0; i < 3 * s->parts->model->node_count; i++)
        s->sliding[i] = s->part_of[i / 3] > 0 ? displacement[i] / s->H : velocity[i];
    rbt_impulses_balance(s->impulses, s->constrained, s->given, s->state->v, velocity);
    return RBT_DONE;
}

// ---- Entries

// The part right below the root that a part is in; 0: it is the root
static size_t top_of(const rbt_rate_parts *parts, int32_t part) {
    while (part > 0 && parts->items[part].parent > 0) part = parts->items[part].parent;
    return (size_t)part;
}

static void add_base(rbt_multirate_contact *s, size_t *count, int32_t node) {
    if (s->number[node] >= 0) return;
    s->number[node] = (int32_t)*count;
    s->base[(*count)++] = node;
}

// Nodes of the root whose change of velocity is needed: rows, and interfaces of parts with rows or columns
static size_t find_base(rbt_multirate_contact *s, size_t column_count, const int32_t *column, size_t row_count,
                        const int32_t *row) {
    size_t count = 0;
    memset(s->asked, 0, s->parts->count);
    for (size_t i = 0; i < row_count + column_count; i++) {
        int32_t node = i < row_count ? row[i] : column[i - row_count];
        size_t top = top_of(s->parts, s->part_of[node]);
        s->asked[top] = 1;
        if (!top && i < row_count) add_base(s, &count, s->place[node]);
    }
    for (size_t p = 1; p < s->parts->count; p++)
        for (size_t i = 0; s->asked[p] && i < s->parts->items[p].interface.node_count; i++)
            add_base(s, &count, s->parts->items[p].interface.place[i]);
    return count;
}

// way over H of number k of a row that the root's change of velocity brings; change (base x 3)
static double way_of_change(const rbt_multirate_contact *s, int32_t node, size_t k, const double *change) {
    const rbt_rate_parts *parts = s->parts;
    int32_t own = s->part_of[node];
    size_t at = 3 * (size_t)s->place[node] + k, top = top_of(parts, own);
    if (!top) return parts->items[0].theta * change[3 * (size_t)s->number[s->place[node]] + k];
    const rbt_rate_part *part = &parts->items[top];
    const double *W = part->responses[own].W;
    size_t n = 3 * parts->items[own].count;
    double sum = 0;
    for (size_t j = 0; j < 3 * part->interface.node_count; j++)
        sum += W[j * n + at] * change[3 * (size_t)s->number[part->interface.place[j / 3]] + j % 3];
    return sum / s->H;
}

// Columns in the root
static bool root_columns(rbt_multirate_contact *s, size_t base, size_t column_count, const int32_t *column,
                         size_t row_count, const int32_t *row, double *to) {
    size_t chosen = 0, numbers = 3 * row_count;
    for (size_t c = 0; c < column_count; c++)
        if (s->part_of[column[c]] == 0) {
            s->chosen[chosen] = s->place[column[c]];
            s->chosen_at[chosen++] = (int32_t)c;
        }
    if (!chosen) return true;
    if (!reserve(&s->inverse, 9 * chosen * base) ||
        !rbt_cholesky_inverse(s->parts->items[0].cholesky, chosen, s->chosen, base, s->base, s->inverse.value))
        return false;
    for (size_t c = 0; c < 3 * chosen; c++) {
        const double *change = s->inverse.value + c * 3 * base;
        double *out = to + (3 * (size_t)s->chosen_at[c / 3] + c % 3) * numbers;
        for (size_t r = 0; r < numbers; r++) out[r] = way_of_change(s, row[r / 3], r % 3, change);
    }
    return true;
}

// Up to RBT_RESPONSE_COLUMNS columns of nodes in and below the part `top`, from number `first` of `chosen` on
static bool push_columns(rbt_multirate_contact *s, size_t top, size_t first, size_t columns, size_t base,
                         size_t row_count, const int32_t *row, double *to) {
    rbt_rate_parts *parts = s->parts;
    rbt_rate_part *part = &parts->items[top];
    size_t numbers = 3 * row_count;
    for (size_t p = top; p < parts->count; p++)
        if (rbt_rate_part_is_below(parts, p, top))
            memset(parts->items[p].impulse, 0, columns * 3 * parts->items[p].count * sizeof(double));
    for (size_t c = 0; c < columns; c++) {
        int32_t node = s->chosen[(first + c) / 3];
        rbt_rate_part *own = &parts->items[s->part_of[node]];
        own->impulse[c * 3 * own->count + 3 * (size_t)s->place[node] + (first + c) % 3] = 1;
    }
    if (!rbt_subcycling_push(parts, part, columns)) return false;
    for (size_t c = 0; c < columns; c++) {
        double *change = s->change.value,
               *out = to + (3 * (size_t)s->chosen_at[(first + c) / 3] + (first + c) % 3) * numbers;
        memset(change, 0, 3 * base * sizeof *change);
        for (size_t i = 0; i < part->interface.node_count; i++)
            memset(s->reaction + 3 * (size_t)part->interface.place[i], 0, 3 * sizeof(double));
        rbt_subcycling_reaction(parts, part, c, s->reaction);
        for (size_t j = 0; j < 3 * part->interface.node_count; j++) {
            double impulse = s->reaction[3 * (size_t)part->interface.place[j / 3] + j % 3];
            const double *inverse = s->inverse.value + j * 3 * base;
            for (size_t i = 0; i < 3 * base; i++) change[i] += impulse * inverse[i];
        }
        for (size_t r = 0; r < numbers; r++) {
            int32_t node = row[r / 3], own = s->part_of[node];
            const rbt_rate_part *below = &parts->items[own];
            const double *way = below == part ? below->w : below->total;
            out[r] = way_of_change(s, node, r % 3, change);
            if (top_of(parts, own) == top)
                out[r] += way[c * 3 * below->count + 3 * (size_t)s->place[node] + r % 3] / s->H;
        }
    }
    return true;
}

// Columns in and below the part `top`
static bool part_columns(rbt_multirate_contact *s, size_t top, size_t base, size_t column_count,
                         const int32_t *column, size_t row_count, const int32_t *row, double *to) {
    const rbt_rate_part *part = &s->parts->items[top];
    size_t chosen = 0, interface = part->interface.node_count;
    for (size_t c = 0; c < column_count; c++)
        if (top_of(s->parts, s->part_of[column[c]]) == top) {
            s->chosen[chosen] = column[c];
            s->chosen_at[chosen++] = (int32_t)c;
        }
    if (!chosen) return true;
    if (!reserve(&s->change, 3 * base + 1) || !reserve(&s->inverse, 9 * interface * base + 1)) return false;
    if (interface && !rbt_cholesky_inverse(s->parts->items[0].cholesky, interface, part->interface.place, base,
                                           s->base, s->inverse.value))
        return false;
    for (size_t first = 0; first < 3 * chosen; first += RBT_RESPONSE_COLUMNS) {
        size_t columns = 3 * chosen - first < RBT_RESPONSE_COLUMNS ? 3 * chosen - first : RBT_RESPONSE_COLUMNS;
        if (!push_columns(s, top, first, columns, base, row_count, row, to)) return false;
    }
    return true;
}

// S_q / H
static bool entries(void *self, size_t column_count, const int32_t *column, size_t row_count, const int32_t *row,
                    double *to) {
    rbt_multirate_contact *s = self;
    size_t base = find_base(s, column_count, column, row_count, row);
    bool good = root_columns(s, base, column_count, column, row_count, row, to);
    for (size_t p = 1; good && p < s->parts->count; p++)
        if (s->asked[p]) good = part_columns(s, p, base, column_count, column, row_count, row, to);
    for (size_t i = 0; i < base; i++) s->number[s->base[i]] = -1;
    return good;
}

// ---- Modes

// Displacement over H^2 of an oscillator after `steps` backward Euler steps of unit force, in all of the time H
static double cycled(double H, int64_t steps, double theta, double lambda, double d) {
    double h = H / (double)steps, v = 0, w = 0;
    for (int64_t i = 0; i < steps; i++) {
        v = (v + h * (1 - lambda * w)) / (1 + h * d + theta * h * h * lambda);
        w += theta * h * v;
    }
    return w / (H * H);
}

// What S~ has of the modes is replaced by their exact answer, as in exponential/siere_contact.h: of a mode that lies in
// several parts, what these would make of an oscillator of its own, weighted by their shares of its mass.
static void find_coefficients(const rbt_multirate_contact *s) {
    const rbt_rest_modes *rest = s->rest;
    const rbt_rate_parts *parts = s->parts;
    for (size_t l = 0; l < rest->modes.count; l++) {
        const double *u = rest->modes.U + l * 3 * parts->model->node_count;
        double lambda = rest->modes.lambda[l], d = rest->modes.damping[l], H = s->H, in_root = 0, sum = 0;
        rbt_response r = rbt_oscillator_response(H, lambda, d);
        for (size_t p = 0; rest->resolved[l] && p < parts->count; p++) {
            const rbt_rate_part *part = &parts->items[p];
            double share = 0;
            for (size_t k = 0; k < 3 * part->count; k++) {
                double value = u[3 * (size_t)part->node[k / 3] + k % 3];
                share += part->mass[k] * value * value;
            }
            sum += share * cycled(H, part->instants, p ? 1 : part->theta, lambda, d);
            if (!p) in_root = share;
        }
        double theta = parts->items[0].theta, end = 1 / (1 + H * d + theta * H * H * lambda);
        double slid = in_root * (r.impulse / H - end) + (1 - in_root) * (r.step / (H * H) - sum) +
                      in_root * (sum - theta * end);
        rest->by_displacement[l] = rest->resolved[l] ? r.step / H - H * sum : 0;
        rest->by_velocity[l] = rest->resolved[l] ? slid : 0;
    }
}

// ---- The step

rbt_impulse_response rbt_multirate_response(const rbt_multirate_contact *s) {
    rbt_impulse_response response = {.entries = entries,
                                     .apply = apply,
                                     .approximate = s->parts->count > 1,
                                     .sliding = s->sliding,
                                     .slip_share = s->share};
    if (!s->rest) return response;
    response.approximate = true;
    response.mode_count = s->rest->modes.count;
    response.modes = s->rest->modes.U;
    response.by_displacement = s->rest->by_displacement;
    response.by_velocity = s->rest->by_velocity;
    return response;
}

rbt_outcome rbt_multirate_meet(rbt_multirate_contact *s, rbt_state *state, rbt_stages *stages,
                               rbt_step_report *report) {
    const rbt_model *m = s->parts->model;
    rbt_impulse_response response = rbt_multirate_response(s);
    if (s->rest) find_coefficients(s);
    s->state = state;
    for (size_t n = 0; n < m->node_count; n++) s->share[n] = s->part_of[n] == 0 ? 1 / s->parts->items[0].theta : 1;
    rbt_constrained_velocities(m, s->constrained, state->t, s->H, state->x, s->moved);
    return rbt_impulses_step(s->impulses, &response, s, state, s->H, s->constrained, state->x, state->v, stages,
                             report);
}
