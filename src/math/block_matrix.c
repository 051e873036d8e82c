#include "math/block_matrix.h"

#include "base/threads.h"

#include <string.h>

void rbt_block_matrix_product(const rbt_block_matrix *A, const double *x, double *y) {
    memset(y, 0, 3 * A->row_count * sizeof *y);
    for (size_t i = 0; i < A->row_count; i++) {
        const double *xi = x + 3 * i;
        double *yi = y + 3 * i;
        for (size_t k = A->start[i]; k < A->start[i + 1]; k++) {
            size_t j = (size_t)A->column[k];
            const double *B = A->value + 9 * k, *xj = x + 3 * j;
            double *yj = y + 3 * j;
            for (int r = 0; r < 3; r++) yi[r] += B[3 * r] * xj[0] + B[3 * r + 1] * xj[1] + B[3 * r + 2] * xj[2];
            if (j == i) continue;
            for (int c = 0; c < 3; c++) yj[c] += B[c] * xi[0] + B[3 + c] * xi[1] + B[6 + c] * xi[2];
        }
    }
}

static double form_of_rows(const rbt_block_matrix *A, const double *x, size_t begin, size_t end) {
    double sum = 0;
    for (size_t i = begin; i < end; i++) {
        double y[3] = {0, 0, 0}, last[3] = {0, 0, 0};
        for (size_t k = A->start[i]; k < A->start[i + 1]; k++) {
            const double *B = A->value + 9 * k, *v = x + 3 * (size_t)A->column[k];
            for (int r = 0; r < 3; r++) {
                last[r] = B[3 * r] * v[0] + B[3 * r + 1] * v[1] + B[3 * r + 2] * v[2];
                y[r] += last[r];
            }
        }
        // Blocks beside the diagonal stand for two; the diagonal, the last of its row, for one.
        for (int r = 0; r < 3; r++) sum += x[3 * i + (size_t)r] * (2 * y[r] - last[r]);
    }
    return sum;
}

double rbt_block_matrix_form(const rbt_block_matrix *A, const double *x) {
    enum { PIECES = 64 };
    double part[PIECES], sum = 0;
#pragma omp parallel for schedule(static) if (A->row_count >= RBT_PARALLEL_FROM)
    for (size_t p = 0; p < PIECES; p++)
        part[p] = form_of_rows(A, x, A->row_count * p / PIECES, A->row_count * (p + 1) / PIECES);
    for (size_t p = 0; p < PIECES; p++) sum += part[p];
    return sum;
}
