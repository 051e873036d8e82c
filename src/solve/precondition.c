#include "solve/precondition.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

// ---- 3x3 blocks ----

// W = L^-1 with L L^T = S, both lower triangular; S is given by its lower triangle. False if a pivot does not stay
// above a hair of what the diagonal of `scale` was: what is left then is rounding.
static bool inverse_factor(const double *S, const double *scale, double *W) {
    static const double HAIR = 1e-12;
    double L[9] = {0};
    for (int r = 0; r < 3; r++)
        for (int c = 0; c <= r; c++) {
            double s = S[3 * r + c];
            for (int k = 0; k < c; k++) s -= L[3 * r + k] * L[3 * c + k];
            if (r != c) L[3 * r + c] = s / L[4 * c];
            else if (s > HAIR * scale[4 * r] && isfinite(s)) L[4 * r] = sqrt(s);
            else return false;
        }
    memset(W, 0, 9 * sizeof *W);
    for (int c = 0; c < 3; c++) {
        W[4 * c] = 1 / L[4 * c];
        for (int r = c + 1; r < 3; r++) {
            double s = 0;
            for (int k = c; k < r; k++) s -= L[3 * r + k] * W[3 * k + c];
            W[3 * r + c] = s / L[4 * r];
        }
    }
    return true;
}

static void lower_product(const double *W, const double *x, double *y) {  // y = W x
    double a = W[0] * x[0], b = W[3] * x[0] + W[4] * x[1], c = W[6] * x[0] + W[7] * x[1] + W[8] * x[2];
    y[0] = a, y[1] = b, y[2] = c;
}

static void upper_product(const double *W, const double *x, double *y) {  // y = W^T x
    double a = W[0] * x[0] + W[3] * x[1] + W[6] * x[2], b = W[4] * x[1] + W[7] * x[2], c = W[8] * x[2];
    y[0] = a, y[1] = b, y[2] = c;
}

static rbt_factor_result bad_block(const double *block, size_t i, size_t *row) {
    *row = i;
    for (int k = 0; k < 9; k++)
        if (!isfinite(block[k])) return RBT_FACTOR_NOT_FINITE;
    return RBT_FACTOR_INDEFINITE;
}

// ---- block Jacobi ----

struct rbt_jacobi {
    size_t row_count;
    unsigned char *keep;
    double *W;  // (row_count x 9) inverse factors of the diagonal blocks, 0 where not kept
};

rbt_jacobi *rbt_jacobi_new(size_t row_count, const unsigned char *keep, rbt_error *error) {
    rbt_jacobi *j = rbt_array_new(1, sizeof *j, "a preconditioner", error);
    if (!j) return NULL;
    j->row_count = row_count;
    j->keep = rbt_array_new(row_count, 1, "a preconditioner", error);
    j->W = rbt_array_new(row_count, 9 * sizeof *j->W, "a preconditioner", error);
    if (j->keep && j->W) {
        memcpy(j->keep, keep, row_count);
        return j;
    }
    rbt_jacobi_free(j);
    return NULL;
}

void rbt_jacobi_free(rbt_jacobi *j) {
    if (!j) return;
    free(j->keep);
    free(j->W);
    free(j);
}

rbt_factor_result rbt_jacobi_factor(rbt_jacobi *j, const rbt_block_matrix *A, size_t *row) {
    for (size_t i = 0; i < j->row_count; i++) {
        const double *diagonal = A->value + 9 * (A->start[i + 1] - 1);
        if (j->keep[i] && !inverse_factor(diagonal, diagonal, j->W + 9 * i)) return bad_block(diagonal, i, row);
    }
    return RBT_FACTORED;
}

static void jacobi_apply(void *self, const double *x, double *y) {
    const rbt_jacobi *j = self;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < j->row_count; i++) {
        double half[3];
        lower_product(j->W + 9 * i, x + 3 * i, half);
        upper_product(j->W + 9 * i, half, y + 3 * i);
    }
}

rbt_operator rbt_jacobi_of(rbt_jacobi *j) { return (rbt_operator){jacobi_apply, j}; }

// ---- incomplete Cholesky ----

struct rbt_incomplete {
    size_t row_count;
    unsigned char *keep;
    size_t *start;    // (row_count + 1) kept blocks left of the diagonal
    int32_t *column;  // (start[row_count]) ascending in a row
    size_t *source;   // (start[row_count]) the block in A
    double *L;        // (start[row_count] x 9)
    double *W;        // (row_count x 9) inverses of the diagonal blocks of L, 0 where not kept
    double shift;
};

void rbt_incomplete_free(rbt_incomplete *f) {
    if (!f) return;
    free(f->keep);
    free(f->start);
    free(f->column);
    free(f->source);
    free(f->L);
    free(f->W);
    free(f);
}

rbt_incomplete *rbt_incomplete_analyse(const rbt_block_matrix *A, const unsigned char *keep, rbt_error *error) {
    const char *what = "a preconditioner";
    size_t n = A->row_count, count = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = A->start[i]; k + 1 < A->start[i + 1]; k++) count += keep[i] && keep[A->column[k]];
    rbt_incomplete *f = rbt_array_new(1, sizeof *f, what, error);
    if (!f) return NULL;
    f->row_count = n;
    f->keep = rbt_array_new(n, 1, what, error);
    f->start = rbt_array_new(n + 1, sizeof *f->start, what, error);
    f->column = rbt_array_new(count, sizeof *f->column, what, error);
    f->source = rbt_array_new(count, sizeof *f->source, what, error);
    f->L = rbt_array_new(count, 9 * sizeof *f->L, what, error);
    f->W = rbt_array_new(n, 9 * sizeof *f->W, what, error);
    if (!f->keep || !f->start || !f->column || !f->source || !f->L || !f->W) {
        rbt_incomplete_free(f);
        return NULL;
    }
    memcpy(f->keep, keep, n);
    for (size_t i = 0, at = 0; i < n; i++) {
        for (size_t k = A->start[i]; k + 1 < A->start[i + 1]; k++) {
            if (!keep[i] || !keep[A->column[k]]) continue;
            f->column[at] = A->column[k];
            f->source[at++] = k;
        }
        f->start[i + 1] = at;
    }
    return f;
}

// S -= sum over j of L_ij L_kj^T, where rows i and k both have a block and j comes before k
static void subtract_common(const rbt_incomplete *f, size_t i, size_t end, size_t k, double *S) {
    size_t a = f->start[i], b = f->start[k], b_end = f->start[k + 1];
    while (a < end && b < b_end) {
        if (f->column[a] < f->column[b]) a++;
        else if (f->column[a] > f->column[b]) b++;
        else {
            const double *P = f->L + 9 * a++, *Q = f->L + 9 * b++;
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++)
                    S[3 * r + c] -= P[3 * r] * Q[3 * c] + P[3 * r + 1] * Q[3 * c + 1] + P[3 * r + 2] * Q[3 * c + 2];
        }
    }
}

// Row i of L from the rows above it:
//   L_ik = (A_ik - sum_{j<k} L_ij L_kj^T) L_kk^-T,   L_ii L_ii^T = (1 + shift) A_ii - sum_j L_ij L_ij^T
static bool factor_row(rbt_incomplete *f, const rbt_block_matrix *A, size_t i, double shift) {
    for (size_t e = f->start[i]; e < f->start[i + 1]; e++) {
        size_t k = (size_t)f->column[e];
        double S[9];
        memcpy(S, A->value + 9 * f->source[e], sizeof S);
        subtract_common(f, i, e, k, S);
        for (int r = 0; r < 3; r++) lower_product(f->W + 9 * k, S + 3 * r, f->L + 9 * e + 3 * r);  // S W_k^T
    }
    const double *diagonal = A->value + 9 * (A->start[i + 1] - 1);
    double S[9];
    for (int r = 0; r < 9; r++) S[r] = (1 + shift) * diagonal[r];
    subtract_common(f, i, f->start[i + 1], i, S);
    return inverse_factor(S, diagonal, f->W + 9 * i);
}

rbt_factor_result rbt_incomplete_factor(rbt_incomplete *f, const rbt_block_matrix *A, size_t *row) {
    // 2^40 times the first shift: by then the diagonal blocks drown all others, if they are positive at all
    enum { ATTEMPTS = 40 };
    double W[9];
    size_t i = 0;
    f->shift = 0;
    for (int attempt = 0; attempt <= ATTEMPTS; attempt++) {
        for (i = 0; i < f->row_count && (!f->keep[i] || factor_row(f, A, i, f->shift)); i++) continue;
        if (i == f->row_count) return RBT_FACTORED;
        const double *diagonal = A->value + 9 * (A->start[i + 1] - 1);
        if (!inverse_factor(diagonal, diagonal, W)) return bad_block(diagonal, i, row);
        f->shift = f->shift > 0 ? 2 * f->shift : 1e-3;
    }
    *row = i;
    return RBT_FACTOR_NOT_FINITE;
}

double rbt_incomplete_shift(const rbt_incomplete *f) { return f->shift; }

// L y = x row by row, then L^T z = y in place from the last row up. Serial: each row waits for those before it.
static void incomplete_apply(void *self, const double *x, double *y) {
    const rbt_incomplete *f = self;
    for (size_t i = 0; i < f->row_count; i++) {
        double s[3] = {x[3 * i], x[3 * i + 1], x[3 * i + 2]};
        for (size_t e = f->start[i]; e < f->start[i + 1]; e++) {
            const double *B = f->L + 9 * e, *from = y + 3 * (size_t)f->column[e];
            for (int r = 0; r < 3; r++) s[r] -= B[3 * r] * from[0] + B[3 * r + 1] * from[1] + B[3 * r + 2] * from[2];
        }
        lower_product(f->W + 9 * i, s, y + 3 * i);
    }
    for (size_t i = f->row_count; i-- > 0;) {
        double *z = y + 3 * i;
        upper_product(f->W + 9 * i, z, z);
        for (size_t e = f->start[i]; e < f->start[i + 1]; e++) {
            const double *B = f->L + 9 * e;
            double *to = y + 3 * (size_t)f->column[e];
            for (int c = 0; c < 3; c++) to[c] -= B[c] * z[0] + B[3 + c] * z[1] + B[6 + c] * z[2];
        }
    }
}

rbt_operator rbt_incomplete_of(rbt_incomplete *f) { return (rbt_operator){incomplete_apply, f}; }
