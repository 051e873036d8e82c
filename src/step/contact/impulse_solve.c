// The quadratic programme of a step's impulses. See impulses.h.
//
// Nodes of different connected parts do not feel each other within a step, so S has a block for each part, and
//   c = c_free + C S C^T p = c_free + sum over parts of D_part p
// with dense D_part over the rows (normals and tangents of pairs) that have a node in the part. A pair has rows in two
// parts at most.
#include "step/contact/impulses.h"

#include "base/threads.h"
#include "math/vec3.h"

#include <stdio.h>
#include <string.h>

enum { MAX_SWEEPS = 300, SWEEPS = 15, WIDENING_SWEEPS = 10 };  // at most; between Newton steps; for gaps
static const double TOLERANCE = 1e-3;                          // thicknesses that no pair would change by
// Nodes of one part in contact: S has nine numbers for every two of them.
enum { MAX_NODES = 4000 };

static bool reserve(rbt_impulses *s, void *items, size_t *capacity, size_t need, size_t size) {
    if (rbt_array_reserve(items, capacity, need, size, "contact", NULL)) return true;
    s->contact->out_of_memory = true;
    return false;
}

// ---- Nodes and the entries of S between them

static bool add_node(rbt_impulses *s, int32_t node) {
    if (!rbt_impulses_is_free(s, node) || s->slot_of[node] >= 0) return true;
    rbt_impulse_part *part = &s->parts[s->part_of[node]];
    if (!reserve(s, &part->nodes, &part->node_capacity, part->node_count + 1, sizeof *part->nodes)) return false;
    if (!part->node_count) s->used[s->used_count++] = s->part_of[node];
    s->slot_of[node] = (int32_t)part->node_count;
    part->nodes[part->node_count++] = node;
    return true;
}

// A larger matrix with the former one in its corner, of `values` (fresh columns x all rows) the rest
static bool grow(double **matrix, size_t before, size_t after, const double *values, double scale) {
    size_t old = 3 * before, size = 3 * after;
    double *to = malloc(size * size * sizeof *to);
    if (!to) return false;
    for (size_t r = 0; r < old; r++) memcpy(to + r * size, *matrix + r * old, old * sizeof *to);
    for (size_t j = old; j < size; j++)
        for (size_t i = 0; i < size; i++) {
            double value = scale * values[(j - old) * size + i];
            if (i >= old && j > i) continue;  // the lower triangle counts
            to[i * size + j] = to[j * size + i] = value;
        }
    free(*matrix);
    *matrix = to;
    return true;
}

static rbt_outcome find_entries(rbt_impulses *s, rbt_impulse_part *part, rbt_step_report *report) {
    size_t fresh = part->node_count - part->known, numbers = 9 * fresh * part->node_count;
    if (!fresh) return RBT_DONE;
    if (part->node_count > MAX_NODES) {
        snprintf(report->hint, sizeof report->hint,
                 "%zu nodes of one body touch something at once, more than the %d that a step with one solve is made "
                 "for; take backward-euler",
                 part->node_count, MAX_NODES);
        return RBT_BLOCKED;
    }
    if (!reserve(s, &s->entries, &s->entry_capacity, numbers, sizeof(double)) ||
        !s->method->entries(s->self, fresh, part->nodes + part->known, part->node_count, part->nodes, s->entries) ||
        !grow(&part->response, part->known, part->node_count, s->entries, s->contact->h))
        return RBT_OUT_OF_MEMORY;
    part->known = part->node_count;
    return RBT_DONE;
}

// U^T J of the present impulses, into programme.amount. false: no memory.
static bool find_amounts(rbt_impulses *s) {
    size_t modes = s->method->mode_count, n = 3 * s->contact->model->node_count;
    if (!modes) return true;
    if (!reserve(s, &s->programme.amount, &s->programme.amount_capacity, modes, sizeof(double))) return false;
    for (size_t l = 0; l < modes; l++) {
        double sum = 0;
        for (size_t p = 0; p < s->used_count; p++) {
            const rbt_impulse_part *part = &s->parts[s->used[p]];
            for (size_t k = 0; k < 3 * part->node_count; k++) {
                size_t at = 3 * (size_t)part->nodes[k / 3] + k % 3;
                sum += s->method->modes[l * n + at] * s->J[at];
            }
        }
        s->programme.amount[l] = sum;
    }
    return true;
}

// y(J) and its velocities at number i of node k of a part, as S~ tells them of the present base
static double foreseen(const rbt_impulses *s, const rbt_impulse_part *part, size_t k, size_t i, double *velocity) {
    const double *row = part->response + (3 * k + i) * 3 * part->node_count;
    size_t at = 3 * (size_t)part->nodes[k] + i;
    double sum = 0;
    for (size_t j = 0; j < 3 * part->node_count; j++) sum += row[j] * s->J[3 * (size_t)part->nodes[j / 3] + j % 3];
    double share = s->method->slip_share ? s->method->slip_share[part->nodes[k]] : 1;
    *velocity = s->base_velocity[at] + share * sum / s->contact->h;
    for (size_t l = 0; l < s->method->mode_count; l++) {
        double amount = s->programme.amount[l] * s->method->modes[l * 3 * s->contact->model->node_count + at];
        *velocity += s->method->by_velocity[l] * amount;
        sum += s->method->by_displacement[l] * amount;
    }
    return s->base[at] + sum;
}

static double real_velocity(const rbt_impulses *s, size_t at) {
    return (s->method->sliding ? s->method->sliding : s->velocity)[at];
}

// The base from which S~ leads to the motion that the present impulses have
static bool find_base(rbt_impulses *s) {
    if (!find_amounts(s)) return false;
    for (size_t p = 0; p < s->used_count; p++) {
        const rbt_impulse_part *part = &s->parts[s->used[p]];
        for (size_t k = 0; k < 3 * part->node_count; k++) {
            size_t at = 3 * (size_t)part->nodes[k / 3] + k % 3;
            double velocity, y = foreseen(s, part, k / 3, k % 3, &velocity);
            s->base[at] += s->contact->x0[at] + s->move[at] - y;
            s->base_velocity[at] += real_velocity(s, at) - velocity;
        }
    }
    return true;
}

double rbt_impulses_defect(rbt_impulses *s) {
    double worst = 0;
    if (!find_amounts(s)) return INFINITY;
    for (size_t p = 0; p < s->used_count; p++) {
        const rbt_impulse_part *part = &s->parts[s->used[p]];
        for (size_t k = 0; k < 3 * part->node_count; k++) {
            size_t at = 3 * (size_t)part->nodes[k / 3] + k % 3;
            double velocity, y = foreseen(s, part, k / 3, k % 3, &velocity);
            worst = fmax(worst, fabs(s->contact->x0[at] + s->move[at] - y));
            if (s->contact->has_friction) worst = fmax(worst, s->contact->h * fabs(real_velocity(s, at) - velocity));
        }
    }
    return worst;
}

// ---- Rows

static size_t row_count_of(const rbt_impulse_pair *pair) { return pair->friction > 0 ? 3 : 1; }

// Up to two parts of a pair; -1: no more
static void parts_of(const rbt_impulses *s, const rbt_impulse_pair *pair, int32_t part[2]) {
    part[0] = part[1] = -1;
    for (int i = 0; i < 4; i++) {
        int32_t node = pair->pair.node[i];
        if (!rbt_impulses_is_free(s, node)) continue;
        int32_t own = s->part_of[node];
        if (part[0] < 0) part[0] = own;
        else if (own != part[0]) part[1] = own;
    }
}

// Rows of all pairs in their parts; places (pairs x 2)
static bool list_rows(rbt_impulses *s, rbt_impulse_place *places) {
    for (size_t i = 0; i < s->used_count; i++) s->parts[s->used[i]].row_count = 0;
    for (size_t k = 0; k < s->pair_count; k++) {
        int32_t own[2];
        parts_of(s, &s->pairs[k], own);
        for (int j = 0; j < 2; j++) {
            places[2 * k + (size_t)j] = (rbt_impulse_place){.part = own[j]};
            if (own[j] < 0) continue;
            rbt_impulse_part *part = &s->parts[own[j]];
            size_t count = row_count_of(&s->pairs[k]);
            if (!reserve(s, &part->rows, &part->row_capacity, part->row_count + count, sizeof *part->rows))
                return false;
            places[2 * k + (size_t)j].row = part->row_count;
            for (size_t d = 0; d < count; d++) part->rows[part->row_count++] = 3 * k + d;
        }
    }
    return true;
}

// The entries of a row of C in a part: numbers of unknowns and factors; returns how many
static int row_of(const rbt_impulses *s, const rbt_impulse_part *part, size_t row, size_t unknown[12],
                  double factor[12]) {
    const rbt_impulse_pair *pair = &s->pairs[row / 3];
    const double *direction = rbt_impulse_direction(pair, row % 3);
    int count = 0;
    for (int i = 0; i < 4; i++) {
        int32_t node = pair->pair.node[i];
        if (!rbt_impulses_is_free(s, node) || pair->weight[i] == 0 || &s->parts[s->part_of[node]] != part) continue;
        for (size_t k = 0; k < 3; k++) {
            unknown[count] = 3 * (size_t)s->slot_of[node] + k;
            factor[count++] = pair->weight[i] * direction[k];
        }
    }
    return count;
}

static void add_row(size_t count, double *to, double factor, const double *from) {
    for (size_t i = 0; i < count; i++) to[i] += factor * from[i];
}

// D = h C A^-1 C^T
static bool fill_matrix(rbt_impulses *s, rbt_impulse_part *part) {
    size_t rows = part->row_count, values = 3 * part->node_count;
    if (!reserve(s, &part->matrix, &part->matrix_capacity, rows * rows, sizeof(double)) ||
        !reserve(s, &part->images, &part->image_capacity, rows * values, sizeof(double)) ||
        !reserve(s, &part->value, &part->value_capacity, rows, sizeof(double)))
        return false;
#pragma omp parallel for schedule(static) if (rows >= 64)
    for (size_t r = 0; r < rows; r++) {
        size_t unknown[12];
        double factor[12], *image = part->images + r * values;
        int count = row_of(s, part, part->rows[r], unknown, factor);
        const double *share = part->rows[r] % 3 ? s->method->slip_share : NULL;
        memset(image, 0, values * sizeof *image);
        for (int i = 0; i < count; i++)
            add_row(values, image, share ? share[part->nodes[unknown[i] / 3]] * factor[i] : factor[i],
                    part->response + unknown[i] * values);
    }
#pragma omp parallel for schedule(static) if (rows >= 64)
    for (size_t c = 0; c < rows; c++) {
        size_t unknown[12];
        double factor[12];
        int count = row_of(s, part, part->rows[c], unknown, factor);
        for (size_t r = 0; r < rows; r++) {
            const double *image = part->images + r * values;
            double sum = 0;
            for (int i = 0; i < count; i++) sum += factor[i] * image[unknown[i]];
            part->matrix[r * rows + c] = sum;
        }
    }
    for (size_t r = 0; r < rows; r++) part->value[r] = s->pairs[part->rows[r] / 3].impulse[part->rows[r] % 3];
    return true;
}

// ---- The iteration

static double product(size_t count, const double *a, const double *b) {
    enum { LANES = 8 };
    double sum[LANES] = {0}, all = 0;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (size_t k = 0; k < LANES; k++) sum[k] += a[i + k] * b[i + k];
    for (; i < count; i++) sum[0] += a[i] * b[i];
    for (size_t k = 0; k < LANES; k++) all += sum[k];
    return all;
}

// c or u of a row without impulses
static double free_value(const rbt_impulses *s, const rbt_impulse_pair *pair, size_t direction) {
    double across[3] = {0};
    const double *from = direction ? s->base_velocity : s->base;
    for (int i = 0; i < 4; i++)
        if (pair->pair.node[i] >= 0) rbt_add_scaled(across, pair->weight[i], from + 3 * (size_t)pair->pair.node[i]);
    double value = rbt_dot(rbt_impulse_direction(pair, direction), across);
    return direction ? s->contact->h * value : value - pair->pair.barrier.inside - pair->target;
}

// B_q, or of tangents h B_v
double rbt_impulses_share(const rbt_impulses *s, size_t direction, size_t mode) {
    return direction ? s->contact->h * s->method->by_velocity[mode] : s->method->by_displacement[mode];
}

// What impulses change of c or u of pair k, and how much its own does
static double row_value(const rbt_impulses *s, const rbt_impulse_place places[2], size_t k, size_t direction,
                        double *diagonal) {
    size_t modes = s->method->mode_count;
    const double *modal = s->programme.modal + (3 * k + direction) * modes;
    double value = 0;
    *diagonal = 0;
    for (size_t l = 0; l < modes; l++) {
        double share = rbt_impulses_share(s, direction, l) * modal[l];
        value += share * s->programme.amount[l];
        *diagonal += share * modal[l];
    }
    for (int j = 0; j < 2 && places[j].part >= 0; j++) {
        const rbt_impulse_part *part = &s->parts[places[j].part];
        size_t row = places[j].row + direction;
        value += product(part->row_count, part->matrix + row * part->row_count, part->value);
        *diagonal += part->matrix[row * part->row_count + row];
    }
    return value;
}

void rbt_impulses_set(rbt_impulses *s, const rbt_impulse_place places[2], size_t k, size_t direction, double value) {
    size_t modes = s->method->mode_count;
    const double *modal = s->programme.modal + (3 * k + direction) * modes;
    double change = value - s->pairs[k].impulse[direction];
    for (size_t l = 0; l < modes; l++) s->programme.amount[l] += modal[l] * change;
    s->pairs[k].impulse[direction] = value;
    for (int j = 0; j < 2 && places[j].part >= 0; j++)
        s->parts[places[j].part].value[places[j].row + direction] = value;
}

// C U, and what the present impulses make of it
static bool find_modal(rbt_impulses *s) {
    rbt_impulse_programme *p = &s->programme;
    size_t modes = s->method->mode_count, n = 3 * s->contact->model->node_count;
    if (!modes) return true;
    if (!reserve(s, &p->modal, &p->modal_capacity, 3 * s->pair_count * modes, sizeof(double)) ||
        !reserve(s, &p->amount, &p->amount_capacity, modes, sizeof(double)))
        return false;
    memset(p->amount, 0, modes * sizeof *p->amount);
    for (size_t k = 0; k < s->pair_count; k++) {
        const rbt_impulse_pair *pair = &s->pairs[k];
        for (size_t d = 0; d < row_count_of(pair); d++)
            for (size_t l = 0; l < modes; l++) {
                double across[3] = {0};
                for (int i = 0; i < 4; i++)
                    if (rbt_impulses_is_free(s, pair->pair.node[i]))
                        rbt_add_scaled(across, pair->weight[i],
                                       s->method->modes + l * n + 3 * (size_t)pair->pair.node[i]);
                double value = rbt_dot(across, rbt_impulse_direction(pair, d));
                p->modal[(3 * k + d) * modes + l] = value;
                p->amount[l] += value * pair->impulse[d];
            }
    }
    return true;
}

// One pair to its own solution with the others as they are; returns by how much it was off [m].
static double relax(rbt_impulses *s, const rbt_impulse_place places[2], size_t k, const double base[3]) {
    rbt_impulse_pair *pair = &s->pairs[k];
    double diagonal, off;
    double gap = base[0] + row_value(s, places, k, 0, &diagonal);
    if (!(diagonal > 0)) return 0;
    double next = fmax(0, pair->impulse[0] - gap / diagonal);
    off = fabs(next - pair->impulse[0]) * diagonal;
    if (next != pair->impulse[0]) rbt_impulses_set(s, places, k, 0, next);
    if (!(pair->friction > 0)) return off;
    double slip[2], stiffness[2], wish[2], limit = pair->friction * next;
    if (limit == 0 && pair->impulse[1] == 0 && pair->impulse[2] == 0) return off;
    for (size_t d = 0; d < 2; d++) slip[d] = base[1 + d] + row_value(s, places, k, 1 + d, &stiffness[d]);
    double scale = fmax(stiffness[0], stiffness[1]);
    if (!(scale > 0)) return off;
    for (size_t d = 0; d < 2; d++) wish[d] = pair->impulse[1 + d] - slip[d] / scale;
    double size = sqrt(wish[0] * wish[0] + wish[1] * wish[1]), share = size > limit ? limit / size : 1;
    for (size_t d = 0; d < 2; d++) {
        double tangential = share * wish[d];
        off = fmax(off, fabs(tangential - pair->impulse[1 + d]) * scale);
        if (tangential != pair->impulse[1 + d]) rbt_impulses_set(s, places, k, 1 + d, tangential);
    }
    return off;
}

static double sweep(rbt_impulses *s) {
    const rbt_impulse_programme *p = &s->programme;
    double off = 0;
    for (size_t k = 0; k < s->pair_count; k++) off = fmax(off, relax(s, p->places + 2 * k, k, p->base + 3 * k));
    s->sweeps++;
    return off;
}

static void copy_impulses(rbt_impulses *s, bool save) {
    const rbt_impulse_programme *p = &s->programme;
    for (size_t k = 0; k < s->pair_count; k++)
        for (size_t d = 0; d < row_count_of(&s->pairs[k]); d++) {
            if (save) p->saved[3 * k + d] = s->pairs[k].impulse[d];
            else rbt_impulses_set(s, p->places + 2 * k, k, d, p->saved[3 * k + d]);
        }
}

// A Newton step is undone where the sweep after it is further off than the one before, and none is tried after that.
static void iterate(rbt_impulses *s) {
    double enough = TOLERANCE * s->contact->thickness;
    bool newton = true;
    for (int i = 1; i <= MAX_SWEEPS; i++) {
        double off = sweep(s);
        if (!(off > enough)) return;
        if (i % SWEEPS || !newton) continue;
        copy_impulses(s, true);
        newton = rbt_impulses_newton(s);
        if (!newton) continue;
        s->newtons++;
        newton = sweep(s) < off;
        if (!newton) copy_impulses(s, false);
    }
}

void rbt_impulses_sum(const rbt_impulses *s, double *J) {
    memset(J, 0, 3 * s->contact->model->node_count * sizeof *J);
    for (size_t k = 0; k < s->pair_count; k++) {
        const rbt_impulse_pair *pair = &s->pairs[k];
        for (int i = 0; i < 4; i++) {
            if (!rbt_impulses_is_free(s, pair->pair.node[i])) continue;
            double *to = J + 3 * (size_t)pair->pair.node[i];
            for (size_t d = 0; d < 3; d++)
                if (pair->impulse[d] != 0)
                    rbt_add_scaled(to, pair->weight[i] * pair->impulse[d], rbt_impulse_direction(pair, d));
        }
    }
}

bool rbt_impulses_widen(rbt_impulses *s, double *J) {
    const rbt_impulse_programme *p = &s->programme;
    bool any = false;
    copy_impulses(s, true);
    for (size_t k = 0; k < s->pair_count; k++)
        for (size_t d = 0; d < row_count_of(&s->pairs[k]); d++) rbt_impulses_set(s, p->places + 2 * k, k, d, 0);
    for (int i = 0; i < WIDENING_SWEEPS; i++)
        for (size_t k = 0; k < s->pair_count; k++) {
            double diagonal, change = row_value(s, p->places + 2 * k, k, 0, &diagonal) - p->wanted[k];
            if (!(diagonal > 0) || !isfinite(change)) continue;
            double next = fmax(0, s->pairs[k].impulse[0] - change / diagonal);
            any |= next > 0;
            rbt_impulses_set(s, p->places + 2 * k, k, 0, next);
        }
    rbt_impulses_sum(s, J);
    copy_impulses(s, false);
    return any;
}

static bool reserve_programme(rbt_impulses *s) {
    rbt_impulse_programme *p = &s->programme;
    size_t places = 0, base = 0, saved = 0, wanted = 0, number = 0, factor = 0, matrix = 0, right = 0;
    size_t count = s->pair_count + s->pair_count / 2 + 16;
    size_t unknowns = 3 * count < RBT_MAX_NEWTON_UNKNOWNS ? 3 * count : RBT_MAX_NEWTON_UNKNOWNS;
    if (s->pair_count <= p->capacity) return true;
    p->capacity = 0;
    bool good = reserve(s, &p->places, &places, 2 * count, sizeof *p->places) &&
                reserve(s, &p->base, &base, 3 * count, sizeof *p->base) &&
                reserve(s, &p->saved, &saved, 3 * count, sizeof *p->saved) &&
                reserve(s, &p->wanted, &wanted, count, sizeof *p->wanted) &&
                reserve(s, &p->number, &number, 3 * count, sizeof *p->number) &&
                reserve(s, &p->factor, &factor, 3 * count, sizeof *p->factor) &&
                reserve(s, &p->matrix, &matrix, unknowns * unknowns, sizeof *p->matrix) &&
                reserve(s, &p->right, &right, unknowns, sizeof *p->right);
    if (good) p->capacity = count;
    return good;
}

rbt_outcome rbt_impulses_solve(rbt_impulses *s, rbt_step_report *report) {
    size_t nodes = 0;
    for (size_t k = 0; k < s->pair_count; k++)
        for (int i = 0; i < 4; i++)
            if (!add_node(s, s->pairs[k].pair.node[i])) return RBT_OUT_OF_MEMORY;
    for (size_t i = 0; i < s->used_count; i++) {
        rbt_outcome outcome = find_entries(s, &s->parts[s->used[i]], report);
        if (outcome != RBT_DONE) return outcome;
        nodes += s->parts[s->used[i]].node_count;
    }
    if (s->method->approximate && !find_base(s)) return RBT_OUT_OF_MEMORY;
    if (nodes > s->most_nodes) s->most_nodes = nodes;
    rbt_contact_effort *effort = &s->contact->effort;
    if (s->pair_count > effort->most_pairs) effort->most_pairs = s->pair_count;
    bool good = reserve_programme(s) && list_rows(s, s->programme.places) && find_modal(s);
    for (size_t i = 0; good && i < s->used_count; i++) good = fill_matrix(s, &s->parts[s->used[i]]);
    if (!good) return RBT_OUT_OF_MEMORY;
    for (size_t k = 0; k < s->pair_count; k++)
        for (size_t d = 0; d < row_count_of(&s->pairs[k]); d++)
            s->programme.base[3 * k + d] = free_value(s, &s->pairs[k], d);
    iterate(s);
    return RBT_DONE;
}
