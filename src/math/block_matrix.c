#include "math/block_matrix.h"

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
