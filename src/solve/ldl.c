// A front of w columns and u rows below is a square matrix F of which the lower triangle is used:
//
//   [ F11      ]   [ L11     ] [ D      ] [ L11^T L21^T ]
//   [ F21  F22 ] = [ L21   1 ] [     U  ] [         1   ]        U = F22 - L21 D L21^T
//
// The first w columns go to L, with D in place of its unit diagonal; U waits on a stack for the parent (Duff and Reid
// 1983). The supernodes are in postorder, so what the children left is on top.
#include "solve/ldl.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

enum { PANEL = 32, GROUP = 4 };  // columns eliminated together; columns of L subtracted in one pass

struct rbt_ldl {
    const rbt_supernodes *tree;
    rbt_frontal_entries entries;
    size_t *start;      // (supernodes + 1) of their columns in L
    double *L;          // each supernode: (width + below) rows, by columns
    double *value;      // (entries x block x block) the matrix, blocks (row, column), those on the diagonal symmetric
    double *front;      // the largest F, by columns
    double *stack;      // U of supernodes whose parent is not reached yet, by columns
    double *below;      // (largest number of rows below) of a vector
    double *sums;       // (unknowns) of the magnitudes in each row of A
    int32_t *position;  // (nodes) in the front at hand
    int32_t *waiting;   // (supernodes) whose U are on the stack
    double norm;        // largest of the sums
};

typedef struct extent {
    size_t width, below, rows;  // unknowns; rows are both
} extent;

static extent extent_of(const rbt_ldl *s, size_t k) {
    const rbt_supernodes *t = s->tree;
    size_t width = t->block * (size_t)(t->first[k + 1] - t->first[k]);
    size_t below = t->block * (t->row_start[k + 1] - t->row_start[k]);
    return (extent){width, below, width + below};
}

void rbt_ldl_free(rbt_ldl *s) {
    if (!s) return;
    free(s->start);
    free(s->L);
    free(s->value);
    free(s->front);
    free(s->stack);
    free(s->below);
    free(s->sums);
    free(s->position);
    free(s->waiting);
    free(s);
}

// ---- memory ----

static bool add_product(size_t *sum, size_t a, size_t b) {
    size_t product;
    return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(*sum, product, sum);
}

static void keep_most(size_t *most, size_t value) { *most = *most > value ? *most : value; }

typedef struct sizes {
    size_t front, stack, below;
} sizes;

// Takes the last supernode off the stack if it is a child of k. False if there is none, or no more.
static bool take_child(const rbt_ldl *s, size_t k, size_t *count, size_t *child) {
    if (!*count || s->tree->parent[s->waiting[*count - 1]] != (int32_t)k) return false;
    *child = (size_t)s->waiting[--*count];
    return true;
}

// How much room each array needs, and where in L each supernode is. False if that is more than can be addressed.
static bool measure(rbt_ldl *s, sizes *z) {
    const rbt_supernodes *t = s->tree;
    size_t top = 0, count = 0, c;
    *z = (sizes){0};
    for (size_t k = 0; k < t->count; k++) {
        extent e = extent_of(s, k);
        size_t front = 0;
        while (take_child(s, k, &count, &c)) top -= extent_of(s, c).below * extent_of(s, c).below;
        s->waiting[count++] = (int32_t)k;
        s->start[k + 1] = s->start[k];
        if (!add_product(&s->start[k + 1], e.rows, e.width) || !add_product(&front, e.rows, e.rows) ||
            !add_product(&top, e.below, e.below))
            return false;
        keep_most(&z->front, front);
        keep_most(&z->stack, top);
        keep_most(&z->below, e.below);
    }
    return true;
}

static bool allocate(rbt_ldl *s, rbt_error *error) {
    const char *what = "a factorisation";
    const rbt_supernodes *t = s->tree;
    sizes z;
    s->start = rbt_array_new(t->count + 1, sizeof *s->start, what, error);
    s->waiting = rbt_array_new(t->count, sizeof *s->waiting, what, error);
    if (!s->start || !s->waiting) return false;
    if (!measure(s, &z))
        return rbt_fail(error, "a matrix of %zu unknowns is too large to be factored", t->block * t->node_count);
    s->L = rbt_array_new(s->start[t->count], sizeof *s->L, what, error);
    s->value = rbt_array_new(s->entries.start[t->node_count], t->block * t->block * sizeof *s->value, what, error);
    s->front = rbt_array_new(z.front, sizeof *s->front, what, error);
    s->stack = rbt_array_new(z.stack, sizeof *s->stack, what, error);
    s->below = rbt_array_new(z.below, sizeof *s->below, what, error);
    s->sums = rbt_array_new(t->node_count, t->block * sizeof *s->sums, what, error);
    s->position = rbt_array_new(t->node_count, sizeof *s->position, what, error);
    return s->L && s->value && s->front && s->stack && s->below && s->sums && s->position;
}

rbt_ldl *rbt_ldl_new(const rbt_supernodes *tree, const rbt_frontal_entries *entries, rbt_error *error) {
    rbt_ldl *s = rbt_array_new(1, sizeof *s, "a factorisation", error);
    if (!s) return NULL;
    s->tree = tree;
    s->entries = *entries;
    if (allocate(s, error)) return s;
    rbt_ldl_free(s);
    return NULL;
}

// ---- the matrix ----

static void copy_block(size_t block, const double *from, bool transposed, bool diagonal, double *to) {
    for (size_t r = 0; r < block; r++)
        for (size_t c = 0; c < block; c++) {
            bool swap = diagonal ? c > r : transposed;
            to[block * r + c] = swap ? from[block * c + r] : from[block * r + c];
        }
}

static void copy_values(rbt_ldl *s, const double *value) {
    size_t block = s->tree->block, nodes = s->tree->node_count;
    memset(s->sums, 0, block * nodes * sizeof *s->sums);
    for (size_t p = 0; p < nodes; p++)
        for (size_t e = s->entries.start[p]; e < s->entries.start[p + 1]; e++) {
            size_t source = s->entries.source[e], q = (size_t)s->entries.row[e];
            double *B = s->value + block * block * e;
            copy_block(block, value + block * block * (source / 2), source & 1, q == p, B);
            for (size_t i = 0; i < block * block; i++) {
                s->sums[block * q + i / block] += fabs(B[i]);
                if (q != p) s->sums[block * p + i % block] += fabs(B[i]);
            }
        }
    s->norm = 0;
    for (size_t i = 0; i < block * nodes; i++) s->norm = fmax(s->norm, s->sums[i]);
}

static double largest(const double *values, size_t count) {
    double most = 0;
    for (size_t i = 0; i < count; i++) most = fmax(most, isnan(values[i]) ? INFINITY : fabs(values[i]));
    return most;
}

double rbt_ldl_residual(const rbt_ldl *s, const double *b, const double *x, double *r) {
    size_t block = s->tree->block, nodes = s->tree->node_count, n = block * nodes;
    memcpy(r, b, n * sizeof *r);
    for (size_t p = 0; p < nodes; p++)
        for (size_t e = s->entries.start[p]; e < s->entries.start[p + 1]; e++) {
            size_t q = (size_t)s->entries.row[e];
            const double *B = s->value + block * block * e;
            for (size_t i = 0; i < block * block; i++) {
                r[block * q + i / block] -= B[i] * x[block * p + i % block];
                if (q != p) r[block * p + i % block] -= B[i] * x[block * q + i / block];
            }
        }
    double size = s->norm * largest(x, n) + largest(b, n), error = largest(r, n);
    return error == 0 ? 0 : isfinite(size) && isfinite(error) ? error / size : INFINITY;
}

// ---- assembling ----

static void enter_matrix(rbt_ldl *s, size_t k, size_t rows) {
    const rbt_supernodes *t = s->tree;
    size_t block = t->block;
    int32_t width = t->first[k + 1] - t->first[k];
    for (size_t e = t->row_start[k]; e < t->row_start[k + 1]; e++)
        s->position[t->row[e]] = width + (int32_t)(e - t->row_start[k]);
    for (int32_t p = t->first[k]; p < t->first[k + 1]; p++) s->position[p] = p - t->first[k];
    for (int32_t p = t->first[k]; p < t->first[k + 1]; p++)
        for (size_t e = s->entries.start[p]; e < s->entries.start[p + 1]; e++) {
            const double *B = s->value + block * block * e;
            double *to = s->front + block * ((size_t)s->position[p] * rows + (size_t)s->position[s->entries.row[e]]);
            for (size_t c = 0; c < block; c++)
                for (size_t r = 0; r < block; r++) to[c * rows + r] = B[block * r + c];
        }
}

// F += U of child c, lower triangle
static void add_update(rbt_ldl *s, size_t c, const double *U, size_t rows) {
    const rbt_supernodes *t = s->tree;
    const int32_t *relative = t->relative + t->row_start[c];
    size_t block = t->block, count = t->row_start[c + 1] - t->row_start[c], height = block * count;
    for (size_t j = 0; j < count; j++)
        for (size_t b = 0; b < block; b++, U += height) {
            double *column = s->front + (block * (size_t)relative[j] + b) * rows;
            for (size_t i = j; i < count; i++)
                for (size_t r = 0; r < block; r++) column[block * (size_t)relative[i] + r] += U[block * i + r];
        }
}

// ---- eliminating ----

// F_j and F_j+1 -= the sum over four columns of L, from row `first` to row `last`; a has the factors of either.
static void subtract_group(const double *restrict L, size_t rows, const double a[2][GROUP], size_t first, size_t last,
                           double *restrict F) {
    const double *L0 = L, *L1 = L + rows, *L2 = L + 2 * rows, *L3 = L + 3 * rows;
    double *restrict F0 = F, *restrict F1 = F + rows;
    for (size_t i = first; i < last; i++) {
        F0[i] -= a[0][0] * L0[i] + a[0][1] * L1[i] + a[0][2] * L2[i] + a[0][3] * L3[i];
        F1[i] -= a[1][0] * L0[i] + a[1][1] * L1[i] + a[1][2] * L2[i] + a[1][3] * L3[i];
    }
}

// F -= a L
static void subtract_one(const double *restrict L, double a, size_t first, size_t last, double *restrict F) {
    for (size_t i = first; i < last; i++) F[i] -= a * L[i];
}

// Column j -= L D L^T over the columns from `begin` to `end`
static void subtract_column(const rbt_ldl *s, size_t rows, size_t begin, size_t end, size_t j) {
    double *F = s->front;
    for (size_t k = begin; k < end; k++)
        subtract_one(F + k * rows, F[k * rows + k] * F[k * rows + j], j, rows, F + j * rows);
}

// All columns right of a panel, two at a time: of the second one an entry above the diagonal is touched, which nobody
// reads.
static void subtract_panel(const rbt_ldl *s, size_t rows, size_t begin, size_t end) {
    double *F = s->front;
    for (size_t j = end; j < rows; j += 2) {
        size_t k = begin;
        if (j + 1 == rows) {
            subtract_column(s, rows, begin, end, j);
            continue;
        }
        for (; k + GROUP <= end; k += GROUP) {
            double a[2][GROUP];
            for (size_t g = 0; g < GROUP; g++)
                for (size_t c = 0; c < 2; c++) a[c][g] = F[(k + g) * (rows + 1)] * F[(k + g) * rows + j + c];
            subtract_group(F + k * rows, rows, a, j, rows, F + j * rows);
        }
        subtract_column(s, rows, k, end, j);
        subtract_column(s, rows, k, end, j + 1);
    }
}

// Returns the column whose pivot is bad, width if there is none.
static size_t eliminate(const rbt_ldl *s, const extent *e) {
    double *F = s->front;
    for (size_t begin = 0; begin < e->width; begin += PANEL) {
        size_t end = begin + PANEL < e->width ? begin + PANEL : e->width;
        for (size_t j = begin; j < end; j++) {
            subtract_column(s, e->rows, begin, j, j);
            double *column = F + j * e->rows, pivot = column[j];
            if (pivot == 0 || !isfinite(pivot)) return j;
            for (size_t i = j + 1; i < e->rows; i++) column[i] /= pivot;
        }
        subtract_panel(s, e->rows, begin, end);
    }
    return e->width;
}

static void store(rbt_ldl *s, size_t k, const extent *e, double *U) {
    memcpy(s->L + s->start[k], s->front, e->rows * e->width * sizeof *s->L);
    for (size_t j = 0; j < e->below; j++)
        memcpy(U + j * e->below + j, s->front + (e->width + j) * (e->rows + 1), (e->below - j) * sizeof *U);
}

bool rbt_ldl_factor(rbt_ldl *s, const double *value, size_t *node) {
    const rbt_supernodes *t = s->tree;
    double *top = s->stack;
    size_t count = 0, c;
    copy_values(s, value);
    for (size_t k = 0; k < t->count; k++) {
        extent e = extent_of(s, k);
        for (size_t j = 0; j < e.rows; j++) memset(s->front + j * e.rows + j, 0, (e.rows - j) * sizeof *s->front);
        enter_matrix(s, k, e.rows);
        while (take_child(s, k, &count, &c)) {
            top -= extent_of(s, c).below * extent_of(s, c).below;
            add_update(s, c, top, e.rows);
        }
        size_t bad = eliminate(s, &e);
        if (bad < e.width) {
            *node = (size_t)t->first[k] + bad / t->block;
            return false;
        }
        store(s, k, &e, top);
        s->waiting[count++] = (int32_t)k;
        top += e.below * e.below;
    }
    return true;
}

size_t rbt_ldl_negative_count(const rbt_ldl *s) {
    size_t negative = 0;
    for (size_t k = 0; k < s->tree->count; k++) {
        extent e = extent_of(s, k);
        for (size_t j = 0; j < e.width; j++) negative += s->L[s->start[k] + j * (e.rows + 1)] < 0;
    }
    return negative;
}

// ---- solving ----

// In four sums, of which the compiler makes vectors
static double dot(const double *restrict L, const double *restrict y, size_t count) {
    double sum[4] = {0};
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (size_t j = 0; j < 4; j++) sum[j] += L[i + j] * y[i + j];
    for (; i < count; i++) sum[0] += L[i] * y[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// x = D^-1 L^-1 x in the columns of supernode k, and what the rows below lose by it
static void forward(rbt_ldl *s, size_t k, double *x) {
    const rbt_supernodes *t = s->tree;
    extent e = extent_of(s, k);
    double *own = x + t->block * (size_t)t->first[k];
    memset(s->below, 0, e.below * sizeof *s->below);
    for (size_t j = 0; j < e.width; j++) {
        const double *L = s->L + s->start[k] + j * e.rows;
        subtract_one(L, own[j], j + 1, e.width, own);
        subtract_one(L + e.width, own[j], 0, e.below, s->below);
        own[j] /= L[j];
    }
    for (size_t i = 0; i < e.below; i++)
        x[t->block * (size_t)t->row[t->row_start[k] + i / t->block] + i % t->block] += s->below[i];
}

// x = L^-T x in the columns of supernode k
static void backward(rbt_ldl *s, size_t k, double *x) {
    const rbt_supernodes *t = s->tree;
    extent e = extent_of(s, k);
    double *own = x + t->block * (size_t)t->first[k];
    for (size_t i = 0; i < e.below; i++)
        s->below[i] = x[t->block * (size_t)t->row[t->row_start[k] + i / t->block] + i % t->block];
    for (size_t j = e.width; j-- > 0;) {
        const double *L = s->L + s->start[k] + j * e.rows;
        own[j] -= dot(L + e.width, s->below, e.below) + dot(L + j + 1, own + j + 1, e.width - j - 1);
    }
}

void rbt_ldl_solve(rbt_ldl *s, double *x) {
    for (size_t k = 0; k < s->tree->count; k++) forward(s, k, x);
    for (size_t k = s->tree->count; k-- > 0;) backward(s, k, x);
}
