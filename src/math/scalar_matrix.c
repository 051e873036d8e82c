#include "math/scalar_matrix.h"

#include <string.h>

void rbt_scalar_matrix_product(const rbt_scalar_matrix *A, const double *x, double *y) {
    memset(y, 0, 3 * A->row_count * sizeof *y);
    for (size_t i = 0; i < A->row_count; i++)
        for (size_t k = A->start[i]; k < A->start[i + 1]; k++) {
            size_t j = (size_t)A->column[k];
            for (size_t c = 0; c < 3; c++) {
                y[3 * i + c] += A->value[k] * x[3 * j + c];
                if (j != i) y[3 * j + c] += A->value[k] * x[3 * i + c];
            }
        }
}

void rbt_general_matrix_product(const rbt_general_matrix *A, const double *x, double *y) {
    for (size_t i = 0; i < A->row_count; i++) {
        double sum = 0;
        for (size_t k = A->start[i]; k < A->start[i + 1]; k++) sum += A->value[k] * x[A->column[k]];
        y[i] = sum;
    }
}
