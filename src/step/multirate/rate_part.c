#include "step/multirate/rate_part.h"

#include "model/linear_obstacle.h"
#include "step/multirate/fused_part.h"
#include "step/multirate/substep_obstacle.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct builder {
    rbt_rate_parts *parts;
    const int32_t *part_of;  // (node_count) -1: constrained
    const int32_t *place;    // (node_count) in its part
    rbt_error *error;
} builder;

static void *take(rbt_rate_parts *parts, size_t count, size_t size, bool *good) {
    void *memory = *good ? rbt_arena_take(parts->arena, count ? count : 1, size) : NULL;
    *good = *good && memory;
    return memory;
}

void rbt_rate_parts_free(rbt_rate_parts *parts) {
    for (size_t i = 0; i < parts->count; i++) {
        rbt_cholesky_free(parts->items[i].cholesky);
        rbt_lu_free(parts->items[i].lu);
        rbt_substep_obstacles_free(&parts->items[i]);
        rbt_fused_part_free(&parts->items[i]);
    }
    rbt_arena_free(parts->arena);
    parts->arena = NULL;
    parts->items = NULL;
    parts->count = 0;
}

bool rbt_rate_part_is_below(const rbt_rate_parts *parts, size_t i, size_t p) {
    while (i > p) i = (size_t)parts->items[i].parent;
    return i == p;
}

// ---- Who touches whom

// The part whose list a block between two nodes belongs to; *constrained: the list of constrained nodes. NULL: a
// part's own block, or none's.
static rbt_rate_part *owner_of(const builder *b, size_t i, size_t j, bool *constrained, bool *transposed) {
    int p = b->part_of[i], q = b->part_of[j];
    *constrained = p < 0 || q < 0;
    if (p == q) return NULL;
    bool first = q < 0 || (p >= 0 && b->parts->items[p].parent == q);  // node i is the part's own
    *transposed = !first;
    return &b->parts->items[first ? p : q];
}

static int driven_motion(const rbt_model *m, int32_t node) {
    for (size_t i = 0; i < m->motions.node_count; i++)
        if (m->motions.node[i] == node) return m->motions.group[i];
    return -1;
}

// Counts links first, then writes them; `mark` (node_count) is the number of each outside node in the list being made.
static bool build_links(const builder *b, rbt_rate_part *part, bool of_constrained, int32_t *mark) {
    const rbt_block_matrix *K = &b->parts->stiffness->K;
    rbt_links *links = of_constrained ? &part->constrained : &part->interface;
    bool good = true;
    for (int pass = 0; pass < 2; pass++) {
        size_t at = 0;
        for (size_t i = 0; i < K->row_count; i++)
            for (size_t k = K->start[i]; k + 1 < K->start[i + 1]; k++) {
                bool constrained, transposed = false;
                size_t j = (size_t)K->column[k];
                if (owner_of(b, i, j, &constrained, &transposed) != part || constrained != of_constrained) continue;
                size_t own = transposed ? j : i, other = transposed ? i : j;
                if (!pass) mark[other] = 0;
                else
                    links->items[at] = (rbt_link){
                        .row = b->place[own], .column = mark[other], .source = 2 * k + (transposed ? 1 : 0)};
                at++;
            }
        if (pass) break;
        links->count = at;
        for (size_t n = 0; n < K->row_count; n++) links->node_count += mark[n] == 0;
        links->items = take(b->parts, at, sizeof *links->items, &good);
        links->node = take(b->parts, links->node_count, sizeof *links->node, &good);
        links->place = take(b->parts, links->node_count, sizeof *links->place, &good);
        if (!good) return false;
        int32_t next = 0;
        for (size_t n = 0; n < K->row_count; n++)
            if (mark[n] == 0) {
                mark[n] = next;
                links->node[next] = (int32_t)n;
                links->place[next++] = of_constrained ? driven_motion(b->parts->model, (int32_t)n) : b->place[n];
            }
    }
    memset(mark, -1, K->row_count * sizeof *mark);
    return true;
}

// Nodes of the part that touch its interface
static bool build_rows(const builder *b, rbt_rate_part *part, int32_t *mark) {
    bool good = true;
    for (size_t i = 0; i < part->interface.count; i++) mark[part->interface.items[i].row] = 1;
    for (size_t r = 0; r < part->count; r++) part->row_count += mark[r] == 1;
    if (!(part->rows = take(b->parts, part->row_count, sizeof *part->rows, &good))) return false;
    for (size_t r = 0, at = 0; r < part->count; r++)
        if (mark[r] == 1) part->rows[at++] = (int32_t)r;
    for (size_t i = 0; i < part->row_count; i++) mark[part->rows[i]] = -1;
    return true;
}

// ---- The pattern of A*

static int ascending(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

// Columns of row r before the diagonal: those of the stiffness, then those of children's interfaces that r is in
static size_t row_columns(const builder *b, const rbt_rate_part *part, size_t r, int32_t *mark, int32_t *columns) {
    const rbt_block_matrix *K = &b->parts->stiffness->K;
    size_t index = (size_t)(part - b->parts->items), n = (size_t)part->node[r], count = 0;
    for (size_t k = K->start[n]; k + 1 < K->start[n + 1]; k++)
        if (b->part_of[K->column[k]] == (int)index) columns[count++] = b->place[K->column[k]];
    for (size_t i = 0; i < count; i++) mark[columns[i]] = 1;
    for (size_t c = index + 1; c < b->parts->count; c++) {
        const rbt_links *interface = &b->parts->items[c].interface;
        if (b->parts->items[c].parent != (int)index) continue;
        if (!bsearch(&(int32_t){(int32_t)r}, interface->place, interface->node_count, sizeof(int32_t), ascending))
            continue;
        for (size_t i = 0; i < interface->node_count && (size_t)interface->place[i] < r; i++)
            if (mark[interface->place[i]] < 0) mark[columns[count++] = interface->place[i]] = 1;
    }
    for (size_t i = 0; i < count; i++) mark[columns[i]] = -1;
    qsort(columns, count, sizeof *columns, ascending);
    return count;
}

static size_t block_of(const rbt_block_matrix *A, size_t i, size_t j) {
    const int32_t *at = bsearch(&(int32_t){(int32_t)j}, A->column + A->start[i], A->start[i + 1] - A->start[i],
                                sizeof(int32_t), ascending);
    return at ? (size_t)(at - A->column) : SIZE_MAX;
}

static bool build_matrix(const builder *b, rbt_rate_part *part, int32_t *mark, int32_t *columns) {
    const rbt_block_matrix *K = &b->parts->stiffness->K;
    bool good = true, consistent = b->parts->mass->matrix.value;
    size_t total = part->count;
    for (size_t r = 0; r < part->count; r++) total += row_columns(b, part, r, mark, columns);
    size_t *start = take(b->parts, part->count + 1, sizeof *start, &good);
    int32_t *column = take(b->parts, total, sizeof *column, &good);
    part->source = take(b->parts, total, sizeof *part->source, &good);
    part->A = (rbt_block_matrix){part->count, start, column, take(b->parts, 9 * total, sizeof(double), &good)};
    if (b->parts->unsymmetric && part->child_count) part->upper = take(b->parts, 9 * total, sizeof(double), &good);
    if (consistent) part->M.value = take(b->parts, total, sizeof(double), &good);
    if (!good) return false;
    part->M = (rbt_scalar_matrix){part->count, start, column, part->M.value};
    for (size_t r = 0, at = 0; r < part->count; r++) {
        size_t count = row_columns(b, part, r, mark, columns);
        memcpy(column + at, columns, count * sizeof *column);
        at += count;
        column[at++] = (int32_t)r;
        start[r + 1] = at;
        for (size_t k = start[r]; k < at; k++) {
            size_t block = block_of(K, (size_t)part->node[r], (size_t)part->node[column[k]]);
            part->source[k] = block == SIZE_MAX ? 0 : 1 + block;
            if (consistent && block != SIZE_MAX) part->M.value[k] = b->parts->mass->matrix.value[block];
        }
    }
    for (size_t c = 0; c < b->parts->count; c++) {
        rbt_rate_part *child = &b->parts->items[c];
        size_t interface = child->interface.node_count;
        if (child->parent != (int)(part - b->parts->items)) continue;
        if (!(child->cell = take(b->parts, interface * interface, sizeof *child->cell, &good))) return false;
        for (size_t i = 0; i < interface; i++)
            for (size_t j = 0; j <= i; j++)
                child->cell[i * interface + j] =
                    block_of(&part->A, (size_t)child->interface.place[i], (size_t)child->interface.place[j]);
    }
    return true;
}

// All entries of A*, from A's blocks and from `upper`
static bool build_general(const builder *b, rbt_rate_part *part) {
    const rbt_block_matrix *A = &part->A;
    size_t n = 3 * part->count, entries = 9 * (2 * A->start[part->count] - part->count);
    bool good = true;
    size_t *start = take(b->parts, n + 1, sizeof *start, &good), *fill = take(b->parts, n, sizeof *fill, &good);
    int32_t *column = take(b->parts, entries, sizeof *column, &good);
    part->general_source = take(b->parts, entries, sizeof *part->general_source, &good);
    part->general = (rbt_general_matrix){n, start, column, take(b->parts, entries, sizeof(double), &good)};
    if (!good) return false;
    for (size_t i = 0; i < part->count; i++)
        for (size_t k = A->start[i]; k < A->start[i + 1]; k++)
            for (size_t r = 0; r < 3; r++) {
                start[3 * i + r + 1] += 3;
                if ((size_t)A->column[k] != i) start[3 * (size_t)A->column[k] + r + 1] += 3;
            }
    for (size_t i = 0; i < n; i++) start[i + 1] += start[i];
    memcpy(fill, start, n * sizeof *fill);
    // Rows from above: each row first gets its own blocks, then those of the rows after it.
    for (size_t i = 0; i < part->count; i++)
        for (size_t k = A->start[i]; k < A->start[i + 1]; k++)
            for (size_t e = 0; e < 9; e++) {
                size_t j = (size_t)A->column[k], own = fill[3 * i + e / 3]++;
                column[own] = (int32_t)(3 * j + e % 3);
                part->general_source[own] = 2 * (9 * k + e);
                if (i == j) continue;
                size_t other = fill[3 * j + e / 3]++;
                column[other] = (int32_t)(3 * i + e % 3);
                part->general_source[other] = 2 * (9 * k + e) + 1;
            }
    return true;
}

// ---- The rest

static bool build_responses(rbt_rate_parts *parts, rbt_rate_part *part) {
    size_t interface = 3 * part->interface.node_count;
    bool good = true;
    for (size_t i = 0; part->responses && i < parts->count; i++) {
        size_t values = interface * 3 * parts->items[i].count;
        if (!rbt_rate_part_is_below(parts, i, (size_t)(part - parts->items))) continue;
        part->responses[i].Y = take(parts, values, sizeof(double), &good);
        part->responses[i].W = take(parts, values, sizeof(double), &good);
        if (part->parent > 0) part->responses[i].G = take(parts, values, sizeof(double), &good);
    }
    return good;
}

static bool build_vectors(const builder *b, rbt_rate_part *part) {
    rbt_rate_parts *parts = b->parts;
    const rbt_model *m = parts->model;
    size_t n = 3 * part->count, interface = 3 * part->interface.node_count,
           constrained = 3 * part->constrained.node_count;
    size_t columns = RBT_RESPONSE_COLUMNS;
    bool good = true, contact = m->obstacles.count && !m->contact.on,
         varies = m->loads.node_load_count || rbt_loads_follow_motion(&m->loads);
    double **vectors[] = {&part->v, &part->v_start, &part->Mv,  &part->w,        &part->total,
                          &part->g, &part->kv,      &part->rhs, &part->solution, &part->K_interface};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = take(parts, columns * n, sizeof(double), &good);
    if (part->M.value) part->M_interface = take(parts, columns * n, sizeof(double), &good);
    if (contact) {
        part->push = take(parts, columns * n, sizeof(double), &good);
        part->contact = take(parts, 3 * n, sizeof(double), &good);
        part->factored_contact = take(parts, 3 * n, sizeof(double), &good);
    }
    part->f = take(parts, n * (varies ? (size_t)part->instants : 1), sizeof(double), &good);
    if (m->contact.on) part->impulse = take(parts, columns * n, sizeof(double), &good);
    part->constrained_v = take(parts, constrained, sizeof(double), &good);
    part->constrained_last = take(parts, constrained, sizeof(double), &good);
    part->constrained_x = take(parts, constrained, sizeof(double), &good);
    part->change = take(parts, columns * interface, sizeof(double), &good);
    if (part->parent >= 0) {
        part->B = take(parts, interface * interface, sizeof(double), &good);
        part->responses = take(parts, parts->count, sizeof *part->responses, &good);
    }
    return good && rbt_substep_obstacles_build(parts, part) && build_responses(parts, part);
}

static bool build_part(const builder *b, rbt_rate_part *part, int32_t *mark, int32_t *columns) {
    const rbt_model *m = b->parts->model;
    for (size_t i = 0; i < part->count; i++) {
        const rbt_damping_def *damping = &m->bodies[m->node_body[part->node[i]]].damping;
        for (size_t k = 0; k < 3; k++) part->mass[3 * i + k] = m->mass[part->node[i]];
        part->damping[i] = damping->mass;
        part->delay[i] = damping->stiffness;
    }
    part->stale = true;
    if (!build_matrix(b, part, mark, columns) || (part->upper && !build_general(b, part)) || !build_vectors(b, part))
        return rbt_fail_memory(b->error, rbt_arena_bytes(b->parts->arena), "parts with steps of their own");
    if (!part->count) return true;
    if (part->upper) return (part->lu = rbt_lu_analyse(&part->general, b->error)) != NULL;
    unsigned char *keep = rbt_array_new(part->count, 1, "a part", b->error);
    if (!keep) return false;
    memset(keep, 1, part->count);
    part->cholesky = rbt_cholesky_analyse(&part->A, keep, b->error);
    free(keep);
    return part->cholesky;
}

// Nodes of each part; part_of and place are filled.
static bool share_nodes(rbt_rate_parts *parts, const rbt_tempos *tempos, const unsigned char *constrained,
                        int32_t *part_of, int32_t *place) {
    const rbt_model *m = parts->model;
    bool good = true;
    for (size_t i = 0; i < parts->count; i++) {
        rbt_rate_part *part = &parts->items[i];
        *part = (rbt_rate_part){.parent = i ? tempos->items[i - 1].parent + 1 : -1,
                                .substeps = i ? tempos->items[i - 1].substeps : 1,
                                .instants = 1};
        if (i) {
            part->instants = parts->items[part->parent].instants * part->substeps;
            parts->items[part->parent].child_count++;
        }
    }
    for (size_t n = 0; n < m->node_count; n++) {
        part_of[n] = constrained[n] ? -1 : tempos->count ? tempos->node[n] + 1 : 0;
        if (!constrained[n]) place[n] = (int32_t)parts->items[part_of[n]].count++;
    }
    for (size_t i = 0; i < parts->count; i++) {
        rbt_rate_part *part = &parts->items[i];
        part->node = take(parts, part->count, sizeof *part->node, &good);
        part->mass = take(parts, 3 * part->count, sizeof(double), &good);
        part->damping = take(parts, part->count, sizeof(double), &good);
        part->delay = take(parts, part->count, sizeof(double), &good);
    }
    for (size_t n = 0; good && n < m->node_count; n++)
        if (!constrained[n]) parts->items[part_of[n]].node[place[n]] = (int32_t)n;
    return good;
}

bool rbt_rate_parts_build(rbt_rate_parts *parts, const rbt_tempos *tempos, const unsigned char *constrained,
                          rbt_error *error) {
    size_t nodes = parts->model->node_count, count = 1 + tempos->count;
    bool good = (parts->arena = rbt_arena_new()) != NULL;
    parts->items = take(parts, count, sizeof *parts->items, &good);
    int32_t *part_of = take(parts, nodes, sizeof *part_of, &good), *place = take(parts, nodes, sizeof *place, &good);
    int32_t *mark = take(parts, nodes, sizeof *mark, &good), *columns = take(parts, nodes, sizeof *columns, &good);
    if (!good) return rbt_fail_memory(error, nodes * sizeof *place, "parts with steps of their own");
    parts->count = count;
    builder b = {parts, part_of, place, error};
    memset(mark, -1, nodes * sizeof *mark);
    good = share_nodes(parts, tempos, constrained, part_of, place);
    for (size_t i = 0; good && i < count; i++)
        good = build_links(&b, &parts->items[i], true, mark) && build_links(&b, &parts->items[i], false, mark) &&
               build_rows(&b, &parts->items[i], mark);
    if (!good) return rbt_fail_memory(error, rbt_arena_bytes(parts->arena), "parts with steps of their own");
    for (size_t i = 0; i < count; i++)
        if (!build_part(&b, &parts->items[i], mark, columns)) return false;
    return true;
}

// ---- Values

// A child with m steps sees its interface go (m + 1) / (2 m) of what the change of its velocity would make in a whole
// step. With averaged velocities the parent goes as far; of several children the one with the fewest steps decides,
// and kappa stretches what the others see, so that all agree where the interface is at the end. Where they do not,
// stiff interfaces are dragged along: the jaw of a dragon that is pulled for 8 steps went a fifth of its way, and
// parts of 4 and 6 steps that disagreed by 1/24 blew up within 50 steps.
static double seen_way(double m) { return (m + 1) / (2 * m); }

static double theta_of(const rbt_rate_parts *parts, size_t part) {
    double theta = 0;
    for (size_t c = part + 1; c < parts->count; c++)
        if (parts->items[c].parent == (int)part) theta = fmax(theta, seen_way(parts->items[c].substeps));
    return parts->averaged && theta > 0 ? theta : 1;
}

void rbt_rate_parts_set_step(rbt_rate_parts *parts, double H) {
    for (size_t i = 0; i < parts->count; i++) {
        rbt_rate_part *part = &parts->items[i];
        part->h = H / (double)part->instants;
        part->theta = theta_of(parts, i);
        part->kappa = i && parts->averaged ? parts->items[part->parent].theta / seen_way(part->substeps) : 1;
    }
}

static void fill_links(const rbt_rate_parts *parts, rbt_links *links) {
    for (size_t i = 0; i < links->count; i++) {
        rbt_link *link = &links->items[i];
        const double *K = parts->stiffness->K.value + 9 * (link->source / 2);
        for (size_t e = 0; e < 9; e++) link->K[e] = link->source & 1 ? K[3 * (e % 3) + e / 3] : K[e];
        link->M = parts->mass->matrix.value ? parts->mass->matrix.value[link->source / 2] : 0;
    }
}

void rbt_rate_part_assemble(const rbt_rate_parts *parts, rbt_rate_part *part) {
    const double *K = parts->stiffness->K.value;
    double h = part->h;
    fill_links(parts, &part->interface);
    fill_links(parts, &part->constrained);
    for (size_t r = 0; r < part->count; r++) {
        double by_K = h * (part->theta * h + part->delay[r]), by_M = 1 + h * part->damping[r];
        size_t diagonal = part->A.start[r + 1] - 1;
        for (size_t k = part->A.start[r]; k <= diagonal; k++) {
            double *to = part->A.value + 9 * k;
            const double *from = part->source[k] ? K + 9 * (part->source[k] - 1) : NULL;
            double M = part->M.value ? part->M.value[k] : k == diagonal ? part->mass[3 * r] : 0;
            for (size_t e = 0; e < 9; e++) to[e] = (from ? by_K * from[e] : 0) + (e % 4 ? 0 : by_M * M);
        }
        if (part->contact) rbt_obstacle_stiffen(part->A.value + 9 * diagonal, h * h, part->contact + 9 * r);
        for (size_t k = part->A.start[r]; part->upper && k <= diagonal; k++)
            for (size_t e = 0; e < 9; e++) part->upper[9 * k + e] = part->A.value[9 * k + 3 * (e % 3) + e / 3];
    }
    if (part->contact) memcpy(part->factored_contact, part->contact, 9 * part->count * sizeof(double));
}

rbt_outcome rbt_rate_part_factor(const rbt_rate_parts *parts, rbt_rate_part *part, const double *x,
                                 rbt_step_report *report) {
    size_t row = 0;
    rbt_factor_result result = RBT_FACTORED;
    if (!part->count) return RBT_DONE;
    if (part->lu) {
        for (size_t i = 0; i < part->general.start[part->general.row_count]; i++) {
            size_t from = part->general_source[i];
            part->general.value[i] = (from & 1 ? part->upper : part->A.value)[from / 2];
        }
        result = rbt_lu_factor(part->lu, &part->general);
    } else {
        result = rbt_cholesky_factor(part->cholesky, &part->A, &row);
    }
    rbt_substep_obstacles_forget(part);
    if (result == RBT_FACTORED) return RBT_DONE;
    if (result == RBT_FACTOR_NO_MEMORY) return RBT_OUT_OF_MEMORY;
    rbt_report_node(report, parts->model, x, (size_t)part->node[row]);
    if (result == RBT_FACTOR_NOT_FINITE) return RBT_NOT_FINITE;
    snprintf(report->hint, sizeof report->hint, "take a shorter step, or less force on the compressed part");
    return RBT_NOT_POSITIVE_DEFINITE;
}

bool rbt_rate_part_solve(rbt_rate_part *part, int64_t instant, size_t columns, const double *b, double *y) {
    if (!part->count) return true;
    rbt_cholesky *cholesky = part->touches ? part->touches[instant].factor : part->cholesky;
    if (!part->lu) return rbt_cholesky_solve_many(cholesky, columns, b, y);
    for (size_t j = 0; j < columns; j++) rbt_lu_solve(part->lu, b + j * 3 * part->count, y + j * 3 * part->count);
    return true;
}

void rbt_rate_part_mass_product(const rbt_rate_part *part, const double *x, double *y) {
    if (part->M.value) rbt_scalar_matrix_product(&part->M, x, y);
    else
        for (size_t i = 0; i < 3 * part->count; i++) y[i] = part->mass[i] * x[i];
}
