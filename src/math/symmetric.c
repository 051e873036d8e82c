#include "math/symmetric.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Rows and columns p, q of A and columns p, q of V turned such that A[p][q] = 0.
static void rotate(int n, double *A, double *V, int p, int q) {
    double off = A[n * p + q], tau = (A[n * q + q] - A[n * p + p]) / (2 * off);
    double t = copysign(1, tau) / (fabs(tau) + sqrt(1 + tau * tau)), c = 1 / sqrt(1 + t * t), s = t * c;
    for (int k = 0; k < n; k++) {
        double *row = A + n * k, kp = row[p], kq = row[q];
        row[p] = c * kp - s * kq;
        row[q] = s * kp + c * kq;
    }
    double *P = A + n * p, *Q = A + n * q;
    for (int k = 0; k < n; k++) {
        double pk = P[k], qk = Q[k];
        P[k] = c * pk - s * qk;
        Q[k] = s * pk + c * qk;
    }
    P[q] = Q[p] = 0;
    for (int k = 0; V && k < n; k++) {
        double *row = V + n * k, kp = row[p], kq = row[q];
        row[p] = c * kp - s * kq;
        row[q] = s * kp + c * kq;
    }
}

void rbt_symmetric_eigen(int n, double *A, double *V) {
    for (int i = 0; V && i < n * n; i++) V[i] = i % (n + 1) == 0;
    double size = 0;
    for (int i = 0; i < n * n; i++) size = fmax(size, fabs(A[i]));
    for (int sweep = 0; sweep < 30; sweep++) {
        double largest = 0;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                double off = fabs(A[n * p + q]);
                largest = fmax(largest, off);
                if (off > 1e-17 * size) rotate(n, A, V, p, q);
            }
        if (!(largest > 1e-15 * size)) return;
    }
}

// ---- Tridiagonal form: A = Q T Q^T

static double inner(size_t n, const double *a, const double *b) {
    enum { LANES = 8 };
    double sums[LANES] = {0}, sum = 0;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t l = 0; l < LANES; l++) sums[l] += a[i + l] * b[i + l];
    for (; i < n; i++) sum += a[i] * b[i];
    for (size_t l = 0; l < LANES; l++) sum += sums[l];
    return sum;
}

static void add_scaled(size_t n, double *restrict y, double factor, const double *restrict x) {
    for (size_t i = 0; i < n; i++) y[i] += factor * x[i];
}

// x = (x_0, rest) becomes v with (I - beta v v^T) x = (alpha, 0, ...); returns beta.
static double reflect(size_t n, double *x, double *alpha) {
    double size = 0;
    for (size_t i = 0; i < n; i++) size = fmax(size, fabs(x[i]));
    double rest = 0;
    for (size_t i = 1; i < n; i++) rest = fmax(rest, fabs(x[i]));
    *alpha = x[0];
    if (!(rest > 0)) return 0;
    for (size_t i = 0; i < n; i++) x[i] /= size;
    double length = sqrt(inner(n, x, x)), first = x[0];
    *alpha = first > 0 ? -length : length;
    x[0] = first - *alpha;
    double beta = 2 / inner(n, x, x);
    *alpha *= size;
    return beta;
}

// d, e (n): diagonal of T and what is left of it, e[0] unused. A's columns keep the reflections until Q takes their
// place.
static void make_tridiagonal(size_t n, double *A, double *d, double *e, double *p) {
    for (size_t k = 0; k + 1 < n; k++) {
        size_t m = n - k - 1;
        double *v = A + k * n + k + 1, *block = A + (k + 1) * n + k + 1, alpha;
        d[k] = A[k * n + k];
        double beta = reflect(m, v, &alpha);
        e[k + 1] = alpha;
        A[k * n + k] = beta;
        if (beta == 0) continue;
        // p = beta B v - (beta^2 / 2) (v . B v) v, B -= v p^T + p v^T
        memset(p, 0, m * sizeof *p);
        for (size_t j = 0; j < m; j++) add_scaled(m, p, beta * v[j], block + j * n);
        add_scaled(m, p, -0.5 * beta * inner(m, p, v), v);
        for (size_t j = 0; j < m; j++) {
            add_scaled(m, block + j * n, -p[j], v);
            add_scaled(m, block + j * n, -v[j], p);
        }
    }
    d[n - 1] = A[n * n - 1];
    e[0] = 0;
    // Q = H_0 H_1 ..., from the last one on: H_k acts on rows and columns behind k.
    A[n * n - 1] = 1;
    for (size_t k = n - 1; k-- > 0;) {
        size_t m = n - k - 1;
        double beta = A[k * n + k], *v = A + k * n + k + 1, *block = A + (k + 1) * n + k + 1;
        for (size_t j = 0; j < m && beta != 0; j++)
            add_scaled(m, block + j * n, -beta * inner(m, v, block + j * n), v);
        memset(v, 0, m * sizeof *v);
        for (size_t j = 0; j < m; j++) A[(k + 1 + j) * n + k] = 0;
        A[k * n + k] = 1;
    }
}

// ---- Implicit QL with Wilkinson's shift

static void turn_columns(size_t n, double *restrict a, double *restrict b, double c, double s) {
    for (size_t k = 0; k < n; k++) {
        double first = a[k], second = b[k];
        b[k] = s * first + c * second;
        a[k] = c * first - s * second;
    }
}

// One sweep from `end` down to `begin`, between which T does not fall apart
static void sweep(size_t n, double *Q, double *d, double *e, size_t begin, size_t end) {
    double half = (d[begin + 1] - d[begin]) / (2 * e[begin]), root = hypot(half, 1);
    double g = d[end] - d[begin] + e[begin] / (half + copysign(root, half)), s = 1, c = 1, p = 0;
    for (size_t i = end; i-- > begin;) {
        double f = s * e[i], b = c * e[i], r = hypot(f, g);
        e[i + 1] = r;
        if (r == 0) {  // it falls apart here
            d[i + 1] -= p;
            e[end] = 0;
            return;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        r = (d[i] - g) * s + 2 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
        turn_columns(n, Q + i * n, Q + (i + 1) * n, c, s);
    }
    d[begin] -= p;
    e[begin] = g;
    e[end] = 0;
}

static bool diagonalise(size_t n, double *Q, double *d, double *e) {
    enum { MAX_SWEEPS = 60 };  // of one value; two or three are usual
    memmove(e, e + 1, (n - 1) * sizeof *e);
    e[n - 1] = 0;
    double size = 0;  // what is nothing beside the rounding of the largest: noise of noise need not be told apart
    for (size_t i = 0; i < n; i++) size = fmax(size, fmax(fabs(d[i]), fabs(e[i])));
    const double nothing = DBL_EPSILON * DBL_EPSILON * size;
    for (size_t begin = 0; begin < n; begin++)
        for (int sweeps = 0;; sweeps++) {
            size_t end = begin;
            while (end + 1 < n && fabs(e[end]) > DBL_EPSILON * (fabs(d[end]) + fabs(d[end + 1])) + nothing) end++;
            if (end == begin) break;
            if (sweeps == MAX_SWEEPS) return false;
            sweep(n, Q, d, e, begin, end);
        }
    return true;
}

static void sort_pairs(size_t n, double *Q, double *values) {
    for (size_t i = 0; i < n; i++) {
        size_t least = i;
        for (size_t j = i + 1; j < n; j++)
            if (values[j] < values[least]) least = j;
        if (least == i) continue;
        double value = values[i];
        values[i] = values[least];
        values[least] = value;
        for (size_t k = 0; k < n; k++) {
            double number = Q[i * n + k];
            Q[i * n + k] = Q[least * n + k];
            Q[least * n + k] = number;
        }
    }
}

bool rbt_symmetric_pairs(size_t n, double *A, double *values, double *work) {
    if (!n) return true;
    make_tridiagonal(n, A, values, work, work + n);
    if (!diagonalise(n, A, values, work)) return false;
    sort_pairs(n, A, values);
    return true;
}
