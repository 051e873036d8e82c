// Long vectors on several threads. Sums are taken over pieces that depend on the length alone and then in the order
// of the pieces: the same bits for any number of threads.
#ifndef RBT_MATH_VECTOR_H
#define RBT_MATH_VECTOR_H

#include <stddef.h>

double rbt_vector_dot(size_t n, const double *a, const double *b);
double rbt_vector_norm(size_t n, const double *a);
void rbt_vector_copy(size_t n, double *to, const double *from);
void rbt_vector_add_scaled(size_t n, double *y, double s, const double *x);                // y += s x
void rbt_vector_combine(size_t n, double *z, const double *x, double s, const double *y);  // z = x + s y

#endif
