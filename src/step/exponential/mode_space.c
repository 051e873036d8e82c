#include "step/exponential/mode_space.h"

#include "base/threads.h"

#include <string.h>

// ---- Sums

enum { COLUMNS = 64 };  // whose sums are taken together

static void inner(void *self, size_t a, const double *X, size_t b, const double *Y, double *C) {
    rbt_mode_space *s = self;
    size_t n = 3 * s->model->node_count;
    for (size_t first = 0; first < b; first += COLUMNS) {
        size_t count = a * (b - first < COLUMNS ? b - first : COLUMNS);
        double *to = C + first * a;
#pragma omp parallel for schedule(static) if (n * count >= 16 * RBT_PARALLEL_FROM)
        for (size_t i = 0; i < count; i++) {
            s->sums[i] = (rbt_sum){0};
            rbt_ranks_add_products(s->model, &s->sums[i], X + i % a * n, Y + (first + i / a) * n);
        }
        rbt_ranks_join(s->model, s->sums, count);
        for (size_t i = 0; i < count; i++) to[i] = rbt_sum_value(&s->sums[i]);
    }
}

static void dots(void *self, size_t count, const double *X, const double *Y, double *to) {
    rbt_mode_space *s = self;
    size_t n = 3 * s->model->node_count;
#pragma omp parallel for schedule(static) if (n * count >= 16 * RBT_PARALLEL_FROM)
    for (size_t l = 0; l < count; l++) {
        s->sums[l] = (rbt_sum){0};
        rbt_ranks_add_products(s->model, &s->sums[l], X + l * n, Y + l * n);
    }
    rbt_ranks_join(s->model, s->sums, count);
    for (size_t l = 0; l < count; l++) to[l] = rbt_sum_value(&s->sums[l]);
}

static void sum(void *self, double *values, size_t count) {
    const rbt_mode_space *s = self;
    for (size_t i = 0; i < count; i++) values[i] = rbt_ranks_sum(s->model, values[i]);
}

static void most(void *self, double *values, size_t count) {
    rbt_ranks_most(((const rbt_mode_space *)self)->model, values, count);
}

static void share(void *self, double *x) { rbt_ranks_share(((const rbt_mode_space *)self)->model, x); }

// ---- Solves

// The same on all ranks
static rbt_modes_result result_of(const rbt_mode_space *s, rbt_outcome outcome) {
    double worst = outcome;
    rbt_ranks_most(s->model, &worst, 1);
    switch ((rbt_outcome)worst) {
    case RBT_DONE: return RBT_MODES_FOUND;
    case RBT_NOT_FINITE: return RBT_MODES_NOT_FINITE;
    case RBT_NOT_CONVERGED: return RBT_MODES_NOT_CONVERGED;
    case RBT_NOT_POSITIVE_DEFINITE: return RBT_MODES_INDEFINITE;
    default: return RBT_MODES_NO_MEMORY;
    }
}

static rbt_modes_result solve(void *self, size_t count, const double *B, double *X) {
    rbt_mode_space *s = self;
    size_t n = 3 * s->model->node_count;
    rbt_modes_result result = RBT_MODES_FOUND;
    for (size_t l = 0; l < count; l++) {
        rbt_linear *linear = s->is_shifted ? &s->shifted : s->linear;
        rbt_modes_result own = result_of(s, rbt_linear_solve(linear, B + l * n, X + l * n, s->report));
        if (own != RBT_MODES_FOUND && own != RBT_MODES_NOT_CONVERGED) return own;
        if (own != RBT_MODES_FOUND) result = own;
    }
    s->report->hint[0] = 0;  // what is said of modes is said by who asked for them
    return result;
}

static void drop_shift(rbt_mode_space *s) {
    if (s->is_shifted) rbt_linear_free(&s->shifted);
    s->is_shifted = false;
    free(s->shifted_matrix.value);
    s->shifted_matrix.value = NULL;
}

static rbt_modes_result shift(void *self, double shift) {
    rbt_mode_space *s = self;
    const rbt_model *m = s->model;
    size_t values = 9 * s->K->start[s->K->row_count];
    bool changed;
    drop_shift(s);
    if (shift == 0) return RBT_MODES_FOUND;
    s->shifted_matrix = *s->K;
    s->shifted_matrix.value = rbt_array_new(values, sizeof(double), "a shifted matrix", NULL);
    if (rbt_ranks_any(m, !s->shifted_matrix.value)) return RBT_MODES_NO_MEMORY;
    double *value = s->shifted_matrix.value;
    memcpy(value, s->K->value, values * sizeof *value);
    for (size_t n = 0; n < m->node_count; n++)
        for (size_t i = 0; i < 9; i += 4) value[9 * (s->K->start[n + 1] - 1) + i] += shift * m->mass[n];
    rbt_error error = {0};
    s->is_shifted = rbt_linear_init_kind(&s->shifted, m, &s->shifted_matrix, s->kind, s->subdomains, &error);
    if (rbt_ranks_any(m, !s->is_shifted)) return RBT_MODES_NO_MEMORY;
    rbt_modes_result result = result_of(s, rbt_linear_analyse(&s->shifted, s->constrained, &changed));
    if (result == RBT_MODES_FOUND) result = result_of(s, rbt_linear_factor(&s->shifted, s->x, s->report));
    s->report->hint[0] = 0;
    return result;
}

// ---- Life

bool rbt_mode_space_init(rbt_mode_space *s, rbt_arena *arena, const rbt_model *m, const rbt_block_matrix *K,
                         rbt_linear *linear, int kind, int subdomains, size_t capacity) {
    *s = (rbt_mode_space){.model = m, .K = K, .linear = linear, .kind = kind, .subdomains = subdomains};
    s->functions = (rbt_modes_space){.self = s,
                                     .whole_rows = m->ranks ? m->ranks->whole_nodes : m->node_count,
                                     .number = m->ranks ? m->ranks->number : NULL,
                                     .owned = m->ranks ? m->ranks->owned : NULL,
                                     .inner = inner,
                                     .dots = dots,
                                     .sum = sum,
                                     .most = most,
                                     .share = share,
                                     .solve = solve,
                                     .shift = shift};
    return (s->sums = rbt_arena_take(arena, 3 * capacity * COLUMNS, sizeof *s->sums)) != NULL;
}

void rbt_mode_space_free(rbt_mode_space *s) { drop_shift(s); }

// ---- Who is constrained

// Fowler, Noll and Vo's
static uint64_t hash_more(uint64_t hash, unsigned char byte) { return (hash ^ byte) * 1099511628211u; }

uint64_t rbt_mode_space_hash(const rbt_model *m, const unsigned char *constrained, double *work) {
    uint64_t hash = 14695981039346656037u, bits;
    if (!m->ranks) {
        for (size_t n = 0; n < m->node_count; n++) hash = hash_more(hash, constrained[n]);
        return hash;
    }
    // One bit for each node of the whole, set by its owner
    size_t whole = m->ranks->whole_nodes, words = (whole + 63) / 64;
    memset(work, 0, words * sizeof *work);
    for (size_t n = 0; n < m->node_count; n++) {
        size_t number = (size_t)m->ranks->number[n];
        if (!m->ranks->owned[n] || !constrained[n]) continue;
        memcpy(&bits, work + number / 64, sizeof bits);
        bits |= (uint64_t)1 << number % 64;
        memcpy(work + number / 64, &bits, sizeof bits);
    }
    m->ranks->unite(m->ranks->self, work, words);
    for (size_t n = 0; n < whole; n++) {
        memcpy(&bits, work + n / 64, sizeof bits);
        hash = hash_more(hash, bits >> n % 64 & 1);
    }
    return hash;
}
