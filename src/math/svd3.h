// Singular value decomposition of one 3x3 matrix, F = U diag(sigma) V^T, robust through inversion, repeated and zero
// singular values. U and V are rotations; sigma[0] >= sigma[1] >= |sigma[2]|, and sigma[2] carries the sign of det F.
#ifndef RBT_MATH_SVD3_H
#define RBT_MATH_SVD3_H

void rbt_svd3(const double F[9], double U[9], double sigma[3], double V[9]);

#endif
