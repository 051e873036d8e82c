#include "step/subdomain/coarse.h"

#include "base/threads.h"
#include "math/vec3.h"
#include "math/vector.h"

#include <math.h>
#include <string.h>

static const char *const WHAT = "groups of nodes";
static const double FLOOR =
    1e-9;  // added to the diagonal of E, of its size: groups of nodes in a line cannot turn about it

// ---- Groups

typedef struct numbered {
    double node;  // the first of the whole that is in it, less than 0 by that; -infinity: none is
    size_t key;
} numbered;

static int by_first_node(const void *a, const void *b) {
    double x = ((const numbered *)a)->node, y = ((const numbered *)b)->node;
    return (x < y) - (x > y);
}

// By piece and first subdomain, numbered in the order of nodes
static bool find_groups(rbt_coarse *c, const rbt_pieces *p, const rbt_subdomains *s, rbt_error *error) {
    size_t keys = p->count * s->count;
    int32_t *number = rbt_array_new(keys, sizeof *number, WHAT, error);
    double *first = rbt_array_new(keys, sizeof *first, WHAT, error);
    numbered *order = rbt_array_new(keys, sizeof *order, WHAT, error);
    bool good = number && first && order;
    for (size_t k = 0; good && k < keys; k++) first[k] = -INFINITY;
    for (size_t piece = 0; good && piece < p->count; piece++)
        for (size_t k = p->block_start[p->piece_start[piece]]; k < p->block_start[p->piece_start[piece + 1]]; k++)
            c->group[p->order[k]] = (int32_t)piece;
    for (size_t n = 0; good && n < c->node_count; n++) {
        size_t key = (size_t)c->group[n] * s->count + (size_t)s->homes[s->home_start[n]];
        c->group[n] = (int32_t)key;
        if (rbt_ranks_owns(c->model, n)) first[key] = fmax(first[key], -(double)rbt_ranks_number(c->model, n));
    }
    if (good) rbt_ranks_most(c->model, first, keys);
    for (size_t k = 0; good && k < keys; k++) {
        order[k] = (numbered){first[k], k};
        c->count += isfinite(first[k]);
    }
    if (good) qsort(order, keys, sizeof *order, by_first_node);
    for (size_t k = 0; good && k < c->count; k++) number[order[k].key] = (int32_t)k;
    for (size_t n = 0; good && n < c->node_count; n++) c->group[n] = number[c->group[n]];
    free(number);
    free(first);
    free(order);
    return good;
}

bool rbt_coarse_init(rbt_coarse *c, const rbt_pieces *pieces, const unsigned char *constrained,
                     const rbt_subdomains *s, rbt_error *error) {
    size_t nodes = s->model->node_count;
    *c = (rbt_coarse){
        .model = s->model, .H = s->H, .constrained = constrained, .node_count = nodes, .arena = rbt_arena_new()};
    bool ok = c->arena && (c->group = rbt_arena_take(c->arena, nodes, sizeof *c->group));
    if (ok && !find_groups(c, pieces, s, error)) {
        rbt_coarse_free(c);
        return false;
    }
    ok = ok && (c->mine = rbt_arena_take(c->arena, c->count, 1)) &&
         (c->arm = rbt_arena_take(c->arena, 3 * nodes, sizeof(double))) &&
         (c->moved = rbt_arena_take(c->arena, 3 * nodes, sizeof(double))) &&
         (c->left = rbt_arena_take(c->arena, 3 * nodes, sizeof(double))) &&
         (c->centre = rbt_arena_take(c->arena, 4 * c->count, sizeof(double))) &&
         (c->motion = rbt_arena_take(c->arena, 6 * c->count, sizeof(double))) &&
         (c->start = rbt_arena_take(c->arena, 2 * c->count + 1, sizeof *c->start));
    for (size_t n = 0; ok && n < nodes; n++) c->mine[c->group[n]] |= rbt_ranks_owns(c->model, n);
    if (ok) return true;
    rbt_coarse_free(c);
    return rbt_fail_memory(error, 9 * nodes * sizeof(double), WHAT);
}

void rbt_coarse_free(rbt_coarse *c) {
    rbt_cholesky_free(c->factor);
    free(c->keys);
    free(c->column);
    free(c->value);
    rbt_arena_free(c->arena);
    *c = (rbt_coarse){0};
}

// Middle and radius of each group, and with them the arms of its nodes
static void place(rbt_coarse *c, const double *x) {
    memset(c->centre, 0, 4 * c->count * sizeof *c->centre);
    for (size_t n = 0; n < c->node_count; n++) {
        double *centre = c->centre + 4 * c->group[n];
        if (!c->mine[c->group[n]]) continue;
        rbt_add_scaled(centre, 1, x + 3 * n);
        centre[3]++;
    }
    for (size_t g = 0; g < c->count; g++) {
        if (!c->mine[g]) continue;
        for (int k = 0; k < 3; k++) c->centre[4 * g + (size_t)k] /= c->centre[4 * g + 3];
        c->centre[4 * g + 3] = 0;
    }
    for (size_t n = 0; n < c->node_count; n++) {
        double *centre = c->centre + 4 * c->group[n];
        rbt_subtract(x + 3 * n, centre, c->arm + 3 * n);
        centre[3] = fmax(centre[3], rbt_length(c->arm + 3 * n));
    }
    for (size_t n = 0; n < c->node_count; n++) {
        double radius = c->centre[4 * c->group[n] + 3];
        for (size_t k = 3 * n; radius > 0 && k < 3 * n + 3; k++) c->arm[k] /= radius;
    }
    rbt_ranks_share(c->model, c->arm);
}

// ---- E

static int ascending(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t key_of(int32_t a, int32_t b) {
    return (uint64_t)(uint32_t)(a > b ? a : b) << 32 | (uint32_t)(a > b ? b : a);
}

// Ascending, each once; returns how many are left.
static size_t sort_keys(uint64_t *keys, size_t count) {
    size_t unique = 0;
    qsort(keys, count, sizeof *keys, ascending);
    for (size_t i = 0; i < count; i++)
        if (!unique || keys[unique - 1] != keys[i]) keys[unique++] = keys[i];
    return unique;
}

// Pairs of groups that a block of H joins, ascending; each has four blocks of E, one of them twice on the diagonal.
static bool list_blocks(rbt_coarse *c) {
    const rbt_block_matrix *H = c->H;
    size_t count = 0, unique = 0, at = 0;
    for (int fill = 0; fill < 2; fill++) {
        if (fill &&
            !rbt_array_reserve((void **)&c->keys, &c->key_capacity, count + c->count, sizeof *c->keys, WHAT, NULL))
            return false;
        count = 0;
        for (size_t n = 0; n < c->node_count; n++)
            for (size_t k = H->start[n]; k < H->start[n + 1]; k++) {
                int32_t a = c->group[n], b = c->group[H->column[k]];
                if (a == b || !c->mine[a > b ? a : b]) continue;
                if (fill) c->keys[count] = key_of(a, b);
                count++;
            }
    }
    for (size_t g = 0; g < c->count; g++)
        if (c->mine[g]) c->keys[count++] = key_of((int32_t)g, (int32_t)g);
    unique = sort_keys(c->keys, count);
    if (c->model->ranks) {  // each has those of its own rows
        if (!c->model->ranks->gather(c->model->ranks->self, &c->keys, &unique, NULL)) return false;
        c->key_capacity = unique;
        unique = sort_keys(c->keys, unique);
    }
    if (!rbt_array_reserve((void **)&c->column, &c->column_capacity, 4 * unique, sizeof *c->column, WHAT, NULL) ||
        !rbt_array_reserve((void **)&c->value, &c->value_capacity, 36 * unique, sizeof *c->value, WHAT, NULL))
        return false;
    for (size_t begin = 0, end; begin < unique; begin = end) {
        size_t g = (size_t)(c->keys[begin] >> 32);
        for (end = begin; end < unique && c->keys[end] >> 32 == g; end++) {}
        for (size_t row = 0; row < 2; row++) {
            c->start[2 * g + row] = at;
            for (size_t i = begin; i < end; i++)
                for (size_t k = 0; k < 2; k++)
                    if (i + 1 < end || k <= row) c->column[at++] = (int32_t)(2 * (uint32_t)c->keys[i] + k);
        }
    }
    c->start[2 * c->count] = at;
    return true;
}

static double *block_of(const rbt_coarse *c, size_t row, size_t column) {
    size_t begin = c->start[row], end = c->start[row + 1];
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        if ((size_t)c->column[middle] < column) begin = middle + 1;
        else end = middle;
    }
    return c->value + 9 * begin;
}

// Z_n^T (6 x 3) of a node: t, then w by the arm d, since d.(w x ...) = w.(d x ...)
static void pull(const double arm[3], const double f[3], double out[6]) {
    memcpy(out, f, 3 * sizeof *out);
    rbt_cross(arm, f, out + 3);
}

// Adds Z_a^T B Z_b, B the block of H of nodes a and b, and its transpose where that is another block of H, to the
// blocks of their groups, of which E has those with row >= column.
static void add(const rbt_coarse *c, size_t a, size_t b, const double *B) {
    double half[3][6], whole[6][6];
    size_t ga = (size_t)c->group[a], gb = (size_t)c->group[b], high = ga > gb ? ga : gb, low = ga > gb ? gb : ga;
    double *rows[2] = {block_of(c, 2 * high, 2 * low), block_of(c, 2 * high + 1, 2 * low)};
    for (int i = 0; i < 3; i++) pull(c->arm + 3 * b, B + 3 * i, half[i]);  // B Z_b, row by row
    for (int j = 0; j < 6; j++) {
        double f[3] = {half[0][j], half[1][j], half[2][j]}, out[6];
        pull(c->arm + 3 * a, f, out);
        for (int i = 0; i < 6; i++) whole[i][j] = out[i];
    }
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 6; j++) {
            if (ga == gb && i / 3 < j / 3) continue;
            double *to = rows[i / 3] + 9 * (j / 3) + 3 * (i % 3) + j % 3;
            if (ga >= gb) *to += whole[i][j];
            if (ga < gb || (ga == gb && a != b)) *to += whole[j][i];
        }
}

static void lift_diagonal(const rbt_coarse *c) {
    for (size_t g = 0; g < c->count; g++) {
        double size = 0, *block[2];
        for (size_t row = 0; row < 2; row++) {
            block[row] = c->value + 9 * (c->start[2 * g + row + 1] - 1);
            for (size_t k = 0; k < 9; k += 4) size = fmax(size, block[row][k]);
        }
        for (size_t k = 0; k < 9; k += 4)
            for (size_t row = 0; row < 2; row++) block[row][k] += size > 0 ? FLOOR * size : 1;
    }
}

// Whether the block of E that a block of H goes to is this rank's
static bool is_mine(const rbt_coarse *c, size_t a, size_t b) {
    return c->mine[c->group[a] > c->group[b] ? c->group[a] : c->group[b]];
}

rbt_outcome rbt_coarse_factor(rbt_coarse *c, const double *x) {
    const rbt_block_matrix *H = c->H;
    size_t row;
    place(c, x);
    if (rbt_ranks_any(c->model, !list_blocks(c))) return RBT_OUT_OF_MEMORY;
    memset(c->value, 0, 9 * c->start[2 * c->count] * sizeof *c->value);
    for (size_t n = 0; n < c->node_count; n++)
        for (size_t k = H->start[n]; k < H->start[n + 1]; k++)
            if (!c->constrained[n] && !c->constrained[H->column[k]] && is_mine(c, n, (size_t)H->column[k]))
                add(c, n, (size_t)H->column[k], H->value + 9 * k);
    if (c->model->ranks) c->model->ranks->unite(c->model->ranks->self, c->value, 9 * c->start[2 * c->count]);
    lift_diagonal(c);
    rbt_block_matrix E = {2 * c->count, c->start, c->column, c->value};
    rbt_cholesky_free(c->factor);
    c->factor = NULL;
    unsigned char *keep = rbt_array_new(2 * c->count, 1, WHAT, NULL);
    if (keep) memset(keep, 1, 2 * c->count);
    if (keep) c->factor = rbt_cholesky_analyse(&E, keep, NULL);
    free(keep);
    rbt_factor_result result = c->factor ? rbt_cholesky_factor(c->factor, &E, &row) : RBT_FACTOR_NO_MEMORY;
    if (result == RBT_FACTORED) return RBT_DONE;
    return result == RBT_FACTOR_NO_MEMORY    ? RBT_OUT_OF_MEMORY
           : result == RBT_FACTOR_NOT_FINITE ? RBT_NOT_FINITE
                                             : RBT_NOT_POSITIVE_DEFINITE;
}

// c->moved = C q
static rbt_outcome solve(rbt_coarse *c, const double *q) {
    double out[6];
    memset(c->motion, 0, 6 * c->count * sizeof *c->motion);
    for (size_t n = 0; n < c->node_count; n++) {
        if (c->constrained[n] || !c->mine[c->group[n]]) continue;
        pull(c->arm + 3 * n, q + 3 * n, out);
        for (size_t k = 0; k < 6; k++) c->motion[6 * (size_t)c->group[n] + k] += out[k];
    }
    if (c->model->ranks) c->model->ranks->unite(c->model->ranks->self, c->motion, 6 * c->count);
    int threads = rbt_threads_enter(1);  // it is small: others would have to be waited for
    bool solved = rbt_cholesky_solve(c->factor, c->motion, c->motion);
    rbt_threads_leave(threads);
    if (!solved) return RBT_OUT_OF_MEMORY;
    memset(c->moved, 0, 3 * c->node_count * sizeof *c->moved);
    for (size_t n = 0; n < c->node_count; n++) {
        const double *motion = c->motion + 6 * (size_t)c->group[n];
        if (c->constrained[n]) continue;
        rbt_cross(motion + 3, c->arm + 3 * n, c->moved + 3 * n);
        rbt_add_scaled(c->moved + 3 * n, 1, motion);
    }
    return RBT_DONE;
}

rbt_outcome rbt_coarse_add(rbt_coarse *c, const double *q, double *y) {
    rbt_outcome outcome = solve(c, q);
    if (outcome == RBT_DONE) rbt_vector_add_scaled(3 * c->node_count, y, 1, c->moved);
    return outcome;
}

rbt_outcome rbt_coarse_apply(rbt_coarse *c, rbt_subdomains *D, const double *q, double *r) {
    size_t values = 3 * c->node_count;
    rbt_outcome outcome = solve(c, q);
    if (outcome != RBT_DONE) return outcome;
    rbt_block_matrix_product(c->H, c->moved, c->left);
    for (size_t i = 0; i < values; i++) c->left[i] = q[i] - c->left[i];
    rbt_ranks_share(c->model, c->left);
    outcome = rbt_subdomains_apply(D, c->left, r);
    rbt_vector_add_scaled(values, r, 1, c->moved);
    return outcome;
}
