#include "step/contact/contact_matrix.h"

#include "base/team.h"
#include "base/threads.h"

#include <string.h>

bool rbt_contact_matrix_init(rbt_contact_matrix *m, const rbt_block_matrix *elastic, rbt_error *error) {
    *m = (rbt_contact_matrix){.elastic = elastic, .A = {.row_count = elastic->row_count}};
    m->start = rbt_array_new(elastic->row_count + 1, sizeof *m->start, "the matrix of contact", error);
    m->place = rbt_array_new(elastic->start[elastic->row_count], sizeof *m->place, "the matrix of contact", error);
    if (m->start && m->place) return true;
    rbt_contact_matrix_free(m);
    return false;
}

void rbt_contact_matrix_free(rbt_contact_matrix *m) {
    free(m->start);
    free(m->column);
    free(m->value);
    free(m->place);
    free(m->extra);
    free(m->wanted);
    free(m->former);
    free(m->position);
    *m = (rbt_contact_matrix){0};
}

void rbt_contact_matrix_begin(rbt_contact_matrix *m) {
    m->extra_count = m->wanted_count = 0;
    m->arranged = false;
}

// Where the block stands in a row of a pattern, or where it would
static size_t find(const int32_t *column, size_t begin, size_t end, int32_t j) {
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        if (column[middle] < j) begin = middle + 1;
        else end = middle;
    }
    return begin;
}

bool rbt_contact_matrix_want(rbt_contact_matrix *m, int32_t a, int32_t b) {
    int32_t row = a > b ? a : b, column = a > b ? b : a;
    const rbt_block_matrix *known = m->arranged ? &m->A : m->elastic;
    size_t at = find(known->column, known->start[row], known->start[row + 1], column);
    if (at < known->start[row + 1] && known->column[at] == column) return true;
    if (!rbt_array_reserve((void **)&m->wanted, &m->wanted_capacity, m->wanted_count + 1, sizeof *m->wanted,
                           "the matrix of contact", NULL))
        return false;
    m->wanted[m->wanted_count++] = (uint64_t)(uint32_t)row << 32 | (uint32_t)column;
    return true;
}

static int ascending(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

// What has been asked for joins the blocks beside the elastic ones.
static bool merge(rbt_contact_matrix *m) {
    size_t count = 0;
    if (!m->wanted_count) return true;
    if (!rbt_array_reserve((void **)&m->extra, &m->extra_capacity, m->extra_count + m->wanted_count, sizeof *m->extra,
                           "the matrix of contact", NULL))
        return false;
    memcpy(m->extra + m->extra_count, m->wanted, m->wanted_count * sizeof *m->extra);
    m->extra_count += m->wanted_count;
    m->wanted_count = 0;
    qsort(m->extra, m->extra_count, sizeof *m->extra, ascending);
    for (size_t i = 0; i < m->extra_count; i++)
        if (!count || m->extra[i] != m->extra[count - 1]) m->extra[count++] = m->extra[i];
    m->extra_count = count;
    return true;
}

static bool is_former(const rbt_contact_matrix *m) {
    return m->pattern && m->extra_count == m->former_count &&
           (!m->extra_count || memcmp(m->extra, m->former, m->extra_count * sizeof *m->extra) == 0);
}

bool rbt_contact_matrix_arrange(rbt_contact_matrix *m) {
    const rbt_block_matrix *K = m->elastic;
    if (m->arranged && !m->wanted_count) return true;
    if (!merge(m)) return false;
    if ((m->arranged = is_former(m))) return true;
    size_t rows = K->row_count, blocks = K->start[rows] + m->extra_count, at = 0, e = 0;
    size_t values = m->value_capacity;
    if (!rbt_array_reserve((void **)&m->column, &m->column_capacity, blocks, sizeof *m->column, "a matrix", NULL) ||
        !rbt_array_reserve((void **)&m->value, &values, 9 * blocks, sizeof(double), "a matrix", NULL) ||
        !rbt_array_reserve((void **)&m->former, &m->former_capacity, m->extra_count + 1, sizeof *m->former,
                           "a matrix", NULL))
        return false;
    m->value_capacity = values;
    m->A.value = m->value;
    for (size_t i = 0; i < rows; i++) {
        m->start[i] = at;
        for (size_t k = K->start[i]; k < K->start[i + 1]; k++) {
            for (; e < m->extra_count && m->extra[e] >> 32 == i && (int32_t)(uint32_t)m->extra[e] < K->column[k]; e++)
                m->column[at++] = (int32_t)(uint32_t)m->extra[e];
            m->place[k] = at;
            m->column[at++] = K->column[k];
        }
    }
    m->start[rows] = at;
    if (m->extra_count) memcpy(m->former, m->extra, m->extra_count * sizeof *m->extra);
    m->former_count = m->extra_count;
    m->A.start = m->start;
    m->A.column = m->column;
    m->pattern++;
    m->arranged = true;
    return true;
}

// Before anything is added: values of its own, if it has the caller's
static void own_values(rbt_contact_matrix *m) {
    if (m->A.value == m->value) return;
    memcpy(m->value, m->A.value, 9 * m->start[m->A.row_count] * sizeof(double));
    m->A.value = m->value;
}

bool rbt_contact_matrix_fill(rbt_contact_matrix *m) {
    own_values(m);
    if (!m->wanted_count) return true;
    size_t rows = m->A.row_count, blocks = m->start[rows];
    rbt_block_matrix before = m->A;
    size_t *start = rbt_array_new(rows + 1, sizeof *start, "a matrix", NULL);
    int32_t *column = rbt_array_new(blocks, sizeof *column, "a matrix", NULL);
    double *value = rbt_array_new(9 * blocks, sizeof *value, "a matrix", NULL);
    bool ok = start && column && value;
    if (ok) {
        memcpy(start, before.start, (rows + 1) * sizeof *start);
        memcpy(column, before.column, blocks * sizeof *column);
        memcpy(value, before.value, 9 * blocks * sizeof *value);
        ok = rbt_contact_matrix_arrange(m);
    }
    if (ok) memset(m->A.value, 0, 9 * m->start[rows] * sizeof(double));
    for (size_t i = 0; ok && i < rows; i++)
        for (size_t k = start[i]; k < start[i + 1]; k++) {
            size_t at = find(m->column, m->start[i], m->start[i + 1], column[k]);
            memcpy(m->A.value + 9 * at, value + 9 * k, 9 * sizeof(double));
        }
    free(start);
    free(column);
    free(value);
    return ok;
}

void rbt_contact_matrix_copy(rbt_contact_matrix *m, double *H, bool more) {
    size_t rows = m->A.row_count;
    bool same = !more && !m->former_count;
    m->A.value = same ? H : m->value;
    if (same) return;
    const size_t *from = m->elastic->start;
#pragma omp parallel for schedule(static) if (rows >= RBT_PARALLEL_FROM)
    for (size_t i = 0; i < rows; i++) {
        size_t own = from[i + 1] - from[i], all = m->start[i + 1] - m->start[i];
        if (own == all) {
            memcpy(m->A.value + 9 * m->start[i], H + 9 * from[i], 9 * own * sizeof(double));
            continue;
        }
        memset(m->A.value + 9 * m->start[i], 0, 9 * all * sizeof(double));
        for (size_t k = from[i]; k < from[i + 1]; k++)
            memcpy(m->A.value + 9 * m->place[k], H + 9 * k, 9 * sizeof(double));
    }
}

enum { BLOCKS = 10 };  // of a term, on and below its diagonal

static void add_block(double *value, const double *block, size_t stride, bool transposed) {
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++) value[3 * i + j] += transposed ? block[j * stride + i] : block[i * stride + j];
}

static bool is_row(const rbt_contact_matrix *m, int32_t node, const unsigned char *constrained) {
    return node >= 0 && (size_t)node < m->A.row_count && !constrained[node];
}

// Where the blocks of a term stand: 2 place + 1 if it is to be transposed, SIZE_MAX: nowhere
static void find_positions(const rbt_contact_matrix *m, const int32_t node[4], const unsigned char *constrained,
                           size_t position[BLOCKS]) {
    for (int a = 0; a < 4; a++)
        for (int b = 0; b <= a; b++, position++) {
            *position = SIZE_MAX;
            if (!is_row(m, node[a], constrained) || !is_row(m, node[b], constrained)) continue;
            bool transposed = node[a] < node[b];
            int32_t row = transposed ? node[b] : node[a], column = transposed ? node[a] : node[b];
            *position = 2 * find(m->column, m->start[row], m->start[row + 1], column) + transposed;
        }
}

typedef struct summing {
    rbt_contact_matrix *matrix;
    size_t terms;
    const double *hessian;
} summing;

// Runs of blocks belong to one member each, which visits all terms in their order.
static void sum_own(void *job, rbt_team *team) {
    enum { RUN = 64 };
    const summing *s = job;
    for (size_t i = 0; i < BLOCKS * s->terms; i++) {
        size_t at = s->matrix->position[i];
        if (at == SIZE_MAX || at / (2 * RUN) % team->members != team->member) continue;
        static const unsigned char ROW[BLOCKS] = {0, 1, 1, 2, 2, 2, 3, 3, 3, 3},
                                   COLUMN[BLOCKS] = {0, 0, 1, 0, 1, 2, 0, 1, 2, 3};
        const double *H = s->hessian + 144 * (i / BLOCKS);
        add_block(s->matrix->A.value + 9 * (at / 2), H + 36 * ROW[i % BLOCKS] + 3 * COLUMN[i % BLOCKS], 12, at % 2);
    }
}

bool rbt_contact_matrix_sum(rbt_contact_matrix *m, size_t terms, const int32_t *node, const double *hessian,
                            const unsigned char *constrained) {
    if (!terms) return true;
    own_values(m);
    if (!rbt_array_reserve((void **)&m->position, &m->position_capacity, BLOCKS * terms, sizeof *m->position,
                           "the matrix of contact", NULL))
        return false;
#pragma omp parallel for schedule(static) if (terms >= 64)
    for (size_t i = 0; i < terms; i++) find_positions(m, node + 4 * i, constrained, m->position + BLOCKS * i);
    summing job = {m, terms, hessian};
    rbt_team_work(terms < 64 ? 1 : rbt_team_size(), sum_own, &job);
    return true;
}

void rbt_contact_matrix_add(rbt_contact_matrix *m, int32_t a, int32_t b, const double *block, size_t stride) {
    int32_t row = a > b ? a : b, column = a > b ? b : a;
    size_t at = find(m->column, m->start[row], m->start[row + 1], column);
    own_values(m);
    add_block(m->A.value + 9 * at, block, stride, a < b);
}
