// With y = M^1/2 u the problem is M^-1/2 K M^-1/2 y = lambda y, symmetric with orthonormal y; ARPACK is given
//   OP = (M^-1/2 (K - sigma M) M^-1/2)^-1 = M^1/2 (K - sigma M)^-1 M^1/2
// over the kept unknowns and finds its largest eigenvalues 1 / (lambda - sigma).
#include "eigen.h"

#include "base/memory.h"

#include <arpack/arpack.h>
#include <assert.h>
#include <cblas.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

struct rbt_eigen {
    size_t row_count, kept_count, max_pairs;
    unsigned char *keep;
    int32_t *kept;         // (kept_count) rows
    double *root;          // (kept_count) square roots of the masses
    double *full, *image;  // (row_count x 3)
    double *start;         // (n) n = 3 kept_count: ARPACK's residual
    double *basis;         // (n x basis_size)
    double *work, *small;  // (3 n), (basis_size (basis_size + 8))
    double *found;         // (max_pairs)
    int *chosen;           // (basis_size)
};

rbt_eigen_def rbt_eigen_def_default(void) {
    return (rbt_eigen_def){.count = 10, .max_iterations = 1000, .factor_scale = 1};
}

// Lanczos vectors: more of them, fewer restarts.
static size_t basis_size(size_t unknowns, size_t pairs) {
    size_t size = 2 * pairs + 12;
    return size < unknowns ? size : unknowns;
}

void rbt_eigen_free(rbt_eigen *e) {
    if (!e) return;
    free(e->keep);
    free(e->kept);
    free(e->root);
    free(e->full);
    free(e->image);
    free(e->start);
    free(e->basis);
    free(e->work);
    free(e->small);
    free(e->found);
    free(e->chosen);
    free(e);
}

static bool allocate(rbt_eigen *e, rbt_error *error) {
    const char *what = "eigenvectors";
    size_t n = 3 * e->kept_count, columns = basis_size(n, e->max_pairs);
    if (!e->max_pairs || e->max_pairs >= n)
        return rbt_fail(error, "%zu eigenpairs of a matrix with %zu unknowns: must be from 1 to %zu", e->max_pairs, n,
                        n ? n - 1 : 0);
    if (n > INT_MAX / columns) return rbt_fail(error, "%zu eigenpairs of %zu unknowns: too many", e->max_pairs, n);
    e->root = rbt_array_new(e->kept_count, sizeof *e->root, what, error);
    e->full = rbt_array_new(e->row_count, 3 * sizeof *e->full, what, error);
    e->image = rbt_array_new(e->row_count, 3 * sizeof *e->image, what, error);
    e->start = rbt_array_new(n, sizeof *e->start, what, error);
    e->basis = rbt_array_new(n, columns * sizeof *e->basis, what, error);
    e->work = rbt_array_new(n, 3 * sizeof *e->work, what, error);
    e->small = rbt_array_new(columns, (columns + 8) * sizeof *e->small, what, error);
    e->found = rbt_array_new(e->max_pairs, sizeof *e->found, what, error);
    e->chosen = rbt_array_new(columns, sizeof *e->chosen, what, error);
    return e->root && e->full && e->image && e->start && e->basis && e->work && e->small && e->found && e->chosen;
}

rbt_eigen *rbt_eigen_new(size_t row_count, const unsigned char *keep, size_t max_pairs, rbt_error *error) {
    rbt_eigen *e = rbt_array_new(1, sizeof *e, "eigenvectors", error);
    if (!e) return NULL;
    openblas_set_num_threads(1);
    e->row_count = row_count;
    e->max_pairs = max_pairs;
    e->keep = rbt_array_new(row_count, 1, "eigenvectors", error);
    e->kept = rbt_array_new(row_count, sizeof *e->kept, "eigenvectors", error);
    bool good = e->keep && e->kept;
    for (size_t i = 0; good && i < row_count; i++) {
        e->keep[i] = keep[i];
        if (keep[i]) e->kept[e->kept_count++] = (int32_t)i;
    }
    if (good && allocate(e, error)) return e;
    rbt_eigen_free(e);
    return NULL;
}

// ---- between all rows and ARPACK's vectors ----

static void spread(const rbt_eigen *e, const double *y, bool divide, double *full) {
    for (size_t p = 0; p < e->kept_count; p++)
        for (size_t i = 0; i < 3; i++)
            full[3 * (size_t)e->kept[p] + i] = divide ? y[3 * p + i] / e->root[p] : y[3 * p + i] * e->root[p];
}

static bool apply(rbt_eigen *e, rbt_cholesky *factor, double scale, const double *x, double *y) {
    spread(e, x, false, e->full);
    if (!rbt_cholesky_solve(factor, e->full, e->image)) return false;
    for (size_t p = 0; p < e->kept_count; p++)
        for (size_t i = 0; i < 3; i++) y[3 * p + i] = scale * e->root[p] * e->image[3 * (size_t)e->kept[p] + i];
    return true;
}

// Either the caller's guess or numbers without a pattern; never those of ARPACK, whose random state lives on.
static void fill_start(rbt_eigen *e, const double *guess) {
    double largest = 0;
    for (size_t p = 0; guess && p < e->kept_count; p++)
        for (size_t i = 0; i < 3; i++) {
            e->start[3 * p + i] = e->root[p] * guess[3 * (size_t)e->kept[p] + i];
            largest = fmax(largest, fabs(e->start[3 * p + i]));
        }
    if (largest > 0 && isfinite(largest)) return;
    uint64_t state = 1;
    for (size_t i = 0; i < 3 * e->kept_count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;  // Knuth's linear congruence
        e->start[i] = (double)(state >> 11) * 0x1p-52 - 1;
    }
}

static bool take_masses(rbt_eigen *e, const double *mass, rbt_error *error) {
    for (size_t p = 0; p < e->kept_count; p++) {
        double m = mass[e->kept[p]];
        if (!(m > 0) || !isfinite(m))
            return rbt_fail(error, "node %d has mass %g; eigenvectors need a positive mass at every free node",
                            e->kept[p], m);
        e->root[p] = sqrt(m);
    }
    return true;
}

// ---- the factor of K - sigma M, if none is lent ----

static rbt_cholesky *make_factor(const rbt_eigen *e, const rbt_block_matrix *K, const double *mass, double shift,
                                 rbt_error *error) {
    size_t values = 9 * K->start[K->row_count], row = 0;
    rbt_block_matrix A = *K;
    A.value = rbt_array_new(values, sizeof *A.value, "a shifted matrix", error);
    rbt_cholesky *c = A.value ? rbt_cholesky_analyse(&A, e->keep, error) : NULL;
    if (c) {
        memcpy(A.value, K->value, values * sizeof *A.value);
        for (size_t n = 0; n < K->row_count; n++)
            for (size_t i = 0; i < 9; i += 4) A.value[9 * (K->start[n + 1] - 1) + i] -= shift * mass[n];
        rbt_factor_result result = rbt_cholesky_factor(c, &A, &row);
        if (result == RBT_FACTOR_NO_MEMORY)
            rbt_fail(error, "not enough memory to factor a matrix of %zu unknowns", 3 * e->kept_count);
        else if (result == RBT_FACTOR_NOT_FINITE) rbt_fail(error, "the stiffness at node %zu is not finite", row);
        else if (result != RBT_FACTORED)
            rbt_fail(error,
                     "K - shift M is not positive definite at node %zu with shift %g: take a shift below the lowest "
                     "eigenvalue, for a free body a negative one",
                     row, shift);
        if (result != RBT_FACTORED) {
            rbt_cholesky_free(c);
            c = NULL;
        }
    }
    free(A.value);
    return c;
}

// ---- ARPACK ----

static pthread_mutex_t arpack_lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct arpack_call {
    int n, pairs, columns, small_size;
    int parameters[11], pointers[14], info;
} arpack_call;

// The reverse-communication loop. False: the factor could not solve.
static bool iterate(rbt_eigen *e, const rbt_eigen_def *def, rbt_cholesky *factor, arpack_call *a) {
    int task = 0;
    a->parameters[0] = 1;  // exact shifts
    a->parameters[2] = def->max_iterations;
    a->parameters[3] = 1;
    a->parameters[6] = 3;  // shift-invert
    a->info = 1;           // start from our vector
    for (;;) {
        dsaupd_c(&task, "I", a->n, "LM", a->pairs, def->tolerance, e->start, a->columns, e->basis, a->n,
                 a->parameters, a->pointers, e->work, e->small, a->small_size, &a->info);
        if (task != -1 && task != 1) return true;
        if (!apply(e, factor, def->factor_scale, e->work + a->pointers[0] - 1, e->work + a->pointers[1] - 1))
            return false;
    }
}

static bool run(rbt_eigen *e, const rbt_eigen_def *def, rbt_cholesky *factor, rbt_error *error) {
    size_t n = 3 * e->kept_count, columns = basis_size(n, def->count);
    arpack_call a = {
        .n = (int)n, .pairs = (int)def->count, .columns = (int)columns, .small_size = (int)(columns * (columns + 8))};
    if (!iterate(e, def, factor, &a))
        return rbt_fail(error, "not enough memory to solve with a matrix of %zu unknowns", n);
    if (a.info == 1 || (a.info == 0 && a.parameters[4] < a.pairs))
        return rbt_fail(error,
                        "%d of %zu eigenpairs converged in %d iterations: allow more, ask for fewer, or take a shift "
                        "closer to the lowest eigenvalue than %g",
                        a.parameters[4], def->count, def->max_iterations, def->shift);
    if (a.info == 0)
        dseupd_c(1, "A", e->chosen, e->found, e->basis, a.n, def->shift, "I", a.n, "LM", a.pairs, def->tolerance,
                 e->start, a.columns, e->basis, a.n, a.parameters, a.pointers, e->work, e->small, a.small_size,
                 &a.info);
    if (a.info != 0) return rbt_fail(error, "ARPACK stopped with code %d on a matrix of %zu unknowns", a.info, n);
    return true;
}

// u = M^-1/2 y, and |M^-1/2 (K u - lambda M u)|
static double finish_pair(rbt_eigen *e, const rbt_block_matrix *K, const double *y, double lambda, double *u) {
    double sum = 0;
    memset(u, 0, 3 * e->row_count * sizeof *u);
    spread(e, y, true, u);
    rbt_block_matrix_product(K, u, e->image);
    for (size_t p = 0; p < e->kept_count; p++)
        for (size_t i = 0; i < 3; i++) {
            double r = e->image[3 * (size_t)e->kept[p] + i] / e->root[p] - lambda * y[3 * p + i];
            sum += r * r;
        }
    return sqrt(sum);
}

static size_t next_lowest(rbt_eigen *e, size_t count) {
    size_t lowest = count;
    for (size_t i = 0; i < count; i++)
        if (!e->chosen[i] && (lowest == count || e->found[i] < e->found[lowest])) lowest = i;
    e->chosen[lowest] = 1;
    return lowest;
}

bool rbt_eigen_solve(rbt_eigen *e, const rbt_eigen_def *def, const rbt_block_matrix *K, const double *mass,
                     double *lambda, double *u, double *residual, rbt_error *error) {
    assert(K->row_count == e->row_count);
    if (!def->count || def->count > e->max_pairs)
        return rbt_fail(error, "%zu eigenpairs: must be from 1 to %zu", def->count, e->max_pairs);
    if (!take_masses(e, mass, error)) return false;
    rbt_cholesky *factor = def->factor ? def->factor : make_factor(e, K, mass, def->shift, error);
    if (!factor) return false;
    rbt_eigen_def used = *def;
    if (!def->factor) used.factor_scale = 1;
    memset(e->full, 0, 3 * e->row_count * sizeof *e->full);
    fill_start(e, def->guess);
    pthread_mutex_lock(&arpack_lock);
    bool good = run(e, &used, factor, error);
    pthread_mutex_unlock(&arpack_lock);
    if (!def->factor) rbt_cholesky_free(factor);
    memset(e->chosen, 0, def->count * sizeof *e->chosen);
    for (size_t i = 0; good && i < def->count; i++) {
        size_t lowest = next_lowest(e, def->count);
        const double *y = e->basis + lowest * 3 * e->kept_count;
        lambda[i] = e->found[lowest];
        residual[i] = finish_pair(e, K, y, lambda[i], u + i * 3 * e->row_count);
    }
    return good;
}
