#include "solve/modes.h"

#include "base/memory.h"
#include "base/threads.h"
#include "math/symmetric.h"
#include "math/vector.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { FEW_ROUNDS = 8, MANY_ROUNDS = 400, FEW = 3, MANY = 40 };  // rounds, and rounds without success

// Right-hand sides go in groups of four, and two vectors at least are guards; one group more where A's inverse tells
// modes not well apart.
size_t rbt_modes_capacity(size_t wanted) { return (wanted + wanted / 16 + 9) / 4 * 4; }
static size_t enough_vectors(const rbt_modes *m, const rbt_modes_problem *p, size_t wanted) {
    bool apart = wanted && wanted <= m->count && m->lambda[wanted - 1] > p->shift;
    size_t least = (wanted + 5) / 4 * 4;
    return apart && least < m->count ? least : m->count;
}

static size_t values_of(const rbt_modes *m) { return 3 * m->row_count; }
static double *vector_at(const rbt_modes *m, double *block, size_t i) { return block + i * values_of(m); }

bool rbt_modes_init(rbt_modes *m, size_t row_count, size_t capacity, rbt_error *error) {
    *m = (rbt_modes){.arena = rbt_arena_new(), .row_count = row_count, .capacity = capacity, .carried = capacity};
    size_t vector = 3 * row_count * sizeof(double), most = 3 * capacity;
    struct {
        double **at;
        size_t count, size;
    } arrays[] = {{&m->U, capacity, vector},
                  {&m->T, capacity, vector},
                  {&m->V, capacity, vector},
                  {&m->Q, capacity, vector},
                  {&m->KU, capacity, vector},
                  {&m->block, capacity, vector},
                  {&m->weighted, capacity, vector},
                  {&m->basis, most, vector},
                  {&m->image, most, vector},
                  {&m->lambda, capacity, sizeof(double)},
                  {&m->residual, capacity, sizeof(double)},
                  {&m->reduced, most, most * sizeof(double)},
                  {&m->values, most, sizeof(double)},
                  {&m->weight, 1, vector},
                  {&m->per_weight, 1, vector},
                  {&m->mass_part, 1, vector},
                  {&m->per_part, 1, vector},
                  {&m->small, 3 * most, sizeof(double)},
                  {&m->gram, 2 * capacity, capacity * sizeof(double)},
                  {&m->partial, rbt_vectors_work(3 * row_count, most, most), sizeof(double)},
                  {&m->turn, most, capacity * sizeof(double)}};
    bool ok = m->arena;
    for (size_t i = 0; ok && i < sizeof arrays / sizeof *arrays; i++)
        ok = (*arrays[i].at = rbt_arena_take(m->arena, arrays[i].count, arrays[i].size)) != NULL;
    if (ok) return true;
    rbt_modes_free(m);
    return rbt_fail_memory(error, 13 * capacity * vector, "modes");
}

void rbt_modes_free(rbt_modes *m) {
    rbt_arena_free(m->arena);
    *m = (rbt_modes){0};
}

static bool counts(const rbt_modes *m, size_t row) { return !m->space || !m->space->owned || m->space->owned[row]; }

// With a space: a and c of all programs' rows, the same in all rows or c = 0
static bool agree_on_parts(rbt_modes *m, bool alike) {
    // of a program without unknowns -inf
    double range[5] = {m->c > 0 ? m->a : -INFINITY, m->c > 0 ? -m->a : -INFINITY, m->c > 0 ? m->c : -INFINITY,
                       m->c > 0 ? -m->c : -INFINITY, !alike};
    m->space->most(m->space->self, range, 5);
    m->a = range[0];
    m->c = range[2];
    return range[4] == 0 && range[0] == -range[1] && range[2] == -range[3] && range[2] > 0;
}

static void look_at_unknowns(rbt_modes *m, const rbt_modes_problem *p) {
    m->unknowns = 0;
    for (size_t n = 0; n < m->row_count; n++) {
        m->unknowns += p->keep[n] && counts(m, n) ? 3 : 0;
        for (size_t i = 3 * n; i < 3 * n + 3; i++) {
            m->weight[i] = p->keep[n] ? p->lumped[n] : 0;
            m->per_weight[i] = p->keep[n] ? 1 / p->lumped[n] : 0;
            m->mass_part[i] = p->mass_share[n];
            m->per_part[i] = p->keep[n] ? 1 / p->stiffness_share[n] : 0;
        }
    }
    if (m->space) {
        double unknowns = (double)m->unknowns;
        m->space->sum(m->space->self, &unknowns, 1);
        m->unknowns = (size_t)unknowns;
    }
    m->count = m->carried < m->unknowns ? m->carried : m->unknowns;
    m->a = m->c = 0;
    bool alike = !p->extra && !p->mass.apply && m->unknowns;
    for (size_t n = 0; alike && n < m->row_count; n++) {
        if (!p->keep[n]) continue;
        if (m->c == 0) m->a = p->mass_share[n], m->c = p->stiffness_share[n];
        alike = m->a == p->mass_share[n] && m->c == p->stiffness_share[n];
    }
    if (m->space) alike = agree_on_parts(m, alike);
    if (!alike) m->c = 0;
}

// ---- products ----

static void clear_eliminated(const rbt_modes *m, const unsigned char *keep, double *x) {
    for (size_t n = 0; n < m->row_count; n++)
        if (!keep[n]) memset(x + 3 * n, 0, 3 * sizeof *x);
}

static void multiply_stiffness(const rbt_modes *m, const rbt_modes_problem *p, size_t count, const double *x,
                               double *y) {
    for (size_t l = 0; l < count; l++) {
        p->stiffness.apply(p->stiffness.self, x + l * values_of(m), y + l * values_of(m));
        clear_eliminated(m, p->keep, y + l * values_of(m));
        if (m->space) m->space->share(m->space->self, y + l * values_of(m));
    }
}

static void multiply_mass(const rbt_modes *m, const rbt_modes_problem *p, size_t count, const double *x, double *y) {
    if (p->mass.apply) {
        for (size_t l = 0; l < count; l++) {
            p->mass.apply(p->mass.self, x + l * values_of(m), y + l * values_of(m));
            clear_eliminated(m, p->keep, y + l * values_of(m));
            if (m->space) m->space->share(m->space->self, y + l * values_of(m));
        }
        return;
    }
#pragma omp parallel for schedule(static) if (m->row_count * count >= RBT_PARALLEL_FROM)
    for (size_t l = 0; l < count; l++) {
        const double *restrict from = x + l * values_of(m), *restrict weight = m->weight;
        double *restrict to = y + l * values_of(m);
        for (size_t i = 0; i < values_of(m); i++) to[i] = weight[i] * from[i];
    }
}

// ---- sums ----

void rbt_modes_inner(const rbt_modes *m, size_t a, const double *X, size_t b, const double *Y, double *C) {
    if (m->space) m->space->inner(m->space->self, a, X, b, Y, C);
    else rbt_vectors_inner(values_of(m), a, X, b, Y, C, m->partial);
}

// X_l^T Y_l
static void dots(const rbt_modes *m, size_t count, const double *X, const double *Y, double *to) {
    size_t n = values_of(m);
    if (m->space) m->space->dots(m->space->self, count, X, Y, to);
    else
        for (size_t l = 0; l < count; l++) to[l] = rbt_vector_dot(n, X + l * n, Y + l * n);
}

// ---- the basis ----

// z^T G y of k numbers each
static double form(size_t k, const double *G, const double *z, const double *y) {
    double sum = 0;
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; z[j] != 0 && i < k; i++) sum += z[j] * G[j * k + i] * y[i];
    return sum;
}

// Z (k x rank), columns one after the other, such that Z^T G Z = I, from G (k x k) = X^T M X: Gram and Schmidt's
// process on coefficients. Vectors whose square is not above `least`, or which are to `threshold` combinations of
// others, are left out.
static size_t orthonormal_turn(size_t k, const double *G, const double *least, double threshold, double *Z) {
    size_t rank = 0;
    for (size_t i = 0; i < k; i++) {
        double *z = Z + rank * k;
        if (!(G[i * k + i] > least[i])) continue;
        memset(z, 0, k * sizeof *z);
        z[i] = 1 / sqrt(G[i * k + i]);
        for (size_t j = 0; j < rank; j++) {
            const double *other = Z + j * k;
            double share = 0;
            for (size_t l = 0; l < k; l++) share += other[l] * G[i * k + l];
            share /= sqrt(G[i * k + i]);
            for (size_t l = 0; l < k; l++) z[l] -= share * other[l];
        }
        double square = form(k, G, z, z);
        if (!(square > threshold)) continue;
        for (size_t l = 0; l < k; l++) z[l] /= sqrt(square);
        rank++;
    }
    return rank;
}

// Adds vectors to the basis, made orthonormal to it and among themselves, and K times them. Twice is enough, if the
// second time leaves most of a vector; of what was nothing but rounding it does not.
static void append(rbt_modes *m, const rbt_modes_problem *p, size_t k, const double *X) {
    const double MOSTLY_NEW = 0.25;
    size_t n = values_of(m);
    double *least = m->values;
    if (k > 3 * m->capacity - m->size) k = 3 * m->capacity - m->size;
    memcpy(m->block, X, k * n * sizeof *X);
    for (int pass = 0; pass < 2 && k; pass++) {
        multiply_mass(m, p, k, m->block, m->weighted);
        // What is left of a vector must be more than the rounding of what was.
        if (pass == 0) dots(m, k, m->block, m->weighted, least);
        for (size_t i = 0; i < k; i++) least[i] = pass ? MOSTLY_NEW : 1e-26 * least[i];
        if (m->size) {
            rbt_modes_inner(m, m->size, m->basis, k, m->weighted, m->turn);
            rbt_vectors_combine(n, -1, m->size, m->basis, m->size, m->turn, k, 1, m->block);
            multiply_mass(m, p, k, m->block, m->weighted);
        }
        rbt_modes_inner(m, k, m->block, k, m->weighted, m->gram);
        size_t rank = orthonormal_turn(k, m->gram, least, pass ? MOSTLY_NEW : 1e-12, m->turn);
        if (rank) rbt_vectors_combine(n, 1, k, m->block, k, m->turn, rank, 0, m->weighted);
        memcpy(m->block, m->weighted, rank * n * sizeof *X);
        k = rank;
    }
    memcpy(vector_at(m, m->basis, m->size), m->block, k * n * sizeof *X);
    multiply_stiffness(m, p, k, m->block, vector_at(m, m->image, m->size));
    m->size += k;
}

// ---- Rayleigh and Ritz ----

// The same with a space: residuals in `block`, M^-1 of them in `weighted`
static void measure_in_space(rbt_modes *m) {
    for (size_t l = 0; l < m->count; l++) {
        const double *q = vector_at(m, m->Q, l), *k = vector_at(m, m->KU, l);
        double *r = vector_at(m, m->block, l), *scaled = vector_at(m, m->weighted, l), lambda = m->lambda[l];
        for (size_t i = 0; i < values_of(m); i++) {
            r[i] = k[i] - lambda * q[i];
            scaled[i] = r[i] * m->per_weight[i];
        }
    }
    dots(m, m->count, m->block, m->weighted, m->residual);
    for (size_t l = 0; l < m->count; l++) m->residual[l] = sqrt(m->residual[l]);
}

// |K u - lambda M u| in the norm of M^-1
static void measure(rbt_modes *m) {
    if (m->space) {
        measure_in_space(m);
        return;
    }
#pragma omp parallel for schedule(static) if (m->row_count * m->count >= RBT_PARALLEL_FROM)
    for (size_t l = 0; l < m->count; l++) {
        const double *q = vector_at(m, m->Q, l), *k = vector_at(m, m->KU, l);
        double sum = 0, lambda = m->lambda[l];
#pragma omp simd reduction(+ : sum)
        for (size_t i = 0; i < values_of(m); i++) {
            double r = k[i] - lambda * q[i];
            sum += r * r * m->per_weight[i];
        }
        m->residual[l] = sqrt(sum);
    }
}

void rbt_modes_refresh(rbt_modes *m, const rbt_modes_problem *p) {
    look_at_unknowns(m, p);
    multiply_mass(m, p, m->count, m->U, m->Q);
    multiply_stiffness(m, p, m->count, m->U, m->KU);
    m->images = true;
    dots(m, m->count, m->U, m->KU, m->lambda);
    measure(m);
}

// Values, ascending, and vectors of `reduced` (size x size), in its position
static bool eigenpairs(rbt_modes *m, size_t size) {
    for (size_t i = 0; i < size * size; i++)
        if (!isfinite(m->reduced[i])) return false;
    return rbt_symmetric_pairs(size, m->reduced, m->values, m->small);
}

static rbt_modes_result project(rbt_modes *m, const rbt_modes_problem *p) {
    size_t size = m->size;
    rbt_modes_inner(m, size, m->basis, size, m->image, m->reduced);
    for (size_t j = 0; j < size; j++)
        for (size_t i = 0; i < j; i++) {
            double mean = 0.5 * (m->reduced[j * size + i] + m->reduced[i * size + j]);
            m->reduced[j * size + i] = m->reduced[i * size + j] = mean;
        }
    if (!eigenpairs(m, size)) return RBT_MODES_NOT_FINITE;
    rbt_vectors_combine(values_of(m), 1, size, m->basis, size, m->reduced, m->count, 0, m->U);
    rbt_vectors_combine(values_of(m), 1, size, m->image, size, m->reduced, m->count, 0, m->KU);
    m->images = true;
    memcpy(m->lambda, m->values, m->count * sizeof *m->lambda);
    multiply_mass(m, p, m->count, m->U, m->Q);
    measure(m);
    return RBT_MODES_FOUND;
}

// A product with K rounds by about eps times the largest eigenvalue, which the diagonal bounds from below.
static double rounding(const rbt_modes *m, const rbt_modes_problem *p) {
    double largest = 0;
    for (size_t n = 0; n < p->K->row_count; n++) {
        const double *B = p->K->value + 9 * (p->K->start[n + 1] - 1);
        if (p->keep[n] && counts(m, n))
            largest = fmax(largest, (fabs(B[0]) + fabs(B[4]) + fabs(B[8])) / p->lumped[n]);
    }
    if (m->space) m->space->most(m->space->self, &largest, 1);
    return 8 * DBL_EPSILON * largest;
}

// The worst residual of the wanted beside what it may be: done if not above 1
static double worst_of(const rbt_modes *m, const rbt_modes_problem *p, size_t wanted, double least) {
    double worst = 0;
    for (size_t l = 0; l < wanted; l++)
        worst = fmax(worst, m->residual[l] / fmax(p->tolerance * (fabs(m->lambda[l]) + p->shift), least));
    return worst;
}

// ---- the iteration ----

static const uint64_t FACTOR = 6364136223846793005u, TERM = 1442695040888963407u;  // Knuth's linear congruence

// The state after `count` numbers more: x -> a x + c that many times, by its powers of two
static uint64_t skip(uint64_t state, uint64_t count) {
    uint64_t a = FACTOR, c = TERM;
    for (; count; count /= 2) {
        if (count % 2) state = state * a + c;
        c *= a + 1;
        a *= a;
    }
    return state;
}

void rbt_modes_noise(const rbt_modes *m, const rbt_modes_problem *p, size_t seed, double *b) {
    const int32_t *number = m->space ? m->space->number : NULL;
    uint64_t state = 2 * seed + 1;
    size_t next = 0;  // row of the whole
    for (size_t i = 0; i < values_of(m); i++) {
        if (number && i % 3 == 0) {
            state = skip(state, 3 * ((uint64_t)number[i / 3] - next));
            next = (size_t)number[i / 3] + 1;
        }
        state = state * FACTOR + TERM;
        b[i] = p->keep[i / 3] ? p->lumped[i / 3] * ((double)(state >> 11) * 0x1p-52 - 1) : 0;
    }
}

// A X = B of `count` vectors
static rbt_modes_result solve(rbt_modes *m, const rbt_modes_problem *p, size_t count, const double *B, double *X) {
    m->solves++;
    if (m->space) return m->space->solve(m->space->self, count, B, X);
    return rbt_cholesky_solve_many(p->factor, count, B, X) ? RBT_MODES_FOUND : RBT_MODES_NO_MEMORY;
}

// T = A^-1 (K U - lambda Q): beside U the same directions as A^-1 Q, without the cancellation once U is good
static rbt_modes_result invert(rbt_modes *m, const rbt_modes_problem *p) {
    for (size_t l = 0; l < m->count; l++)
        rbt_vector_combine(values_of(m), vector_at(m, m->block, l), vector_at(m, m->KU, l), -m->lambda[l],
                           vector_at(m, m->Q, l));
    if (m->count < m->unknowns) rbt_modes_noise(m, p, 0, vector_at(m, m->block, m->count - 1));
    rbt_modes_result result = solve(m, p, m->count, m->block, m->T);
    return result == RBT_MODES_NOT_CONVERGED ? RBT_MODES_FOUND : result;  // directions, good or less so
}

static void begin_with_modes(rbt_modes *m, const rbt_modes_problem *p, bool image_known) {
    size_t bytes = m->count * values_of(m) * sizeof(double);
    memcpy(m->basis, m->U, bytes);
    if (image_known) memcpy(m->image, m->KU, bytes);
    else multiply_stiffness(m, p, m->count, m->basis, m->image);
    m->size = m->count;
}

// Gives up after `max_rounds`, or when the worst residual has not halved for `patience` of them.
static rbt_modes_result iterate(rbt_modes *m, const rbt_modes_problem *p, size_t wanted, int max_rounds,
                                int patience) {
    double least = rounding(m, p), best = INFINITY;
    int since = 0;
    size_t bytes = m->count * values_of(m) * sizeof(double);
    for (int round = 0;; round++) {
        begin_with_modes(m, p, round > 0);
        append(m, p, m->count, m->T);
        append(m, p, m->count, m->V);
        memcpy(m->V, m->U, bytes);
        rbt_modes_result result = project(m, p);
        if (result != RBT_MODES_FOUND) return result;
        double worst = worst_of(m, p, wanted, least);
        if (worst <= 1) return RBT_MODES_FOUND;
        since = worst < 0.5 * best ? 0 : since + 1;
        best = fmin(best, worst);
        if (round == max_rounds || since == patience || !isfinite(worst)) return RBT_MODES_NOT_CONVERGED;
        if ((result = invert(m, p)) != RBT_MODES_FOUND) return result;
    }
}

// The first row from `row` on that is kept, by numbers of the whole; whole_rows: none is
static size_t next_kept(const rbt_modes *m, const rbt_modes_problem *p, size_t row) {
    const rbt_modes_space *space = m->space;
    const int32_t *number = space ? space->number : NULL;
    size_t whole = number ? space->whole_rows : m->row_count, found = whole;
    for (size_t n = 0; n < m->row_count && found == whole; n++) {
        size_t own = number ? (size_t)number[n] : n;
        if (own >= row && p->keep[n] && counts(m, n)) found = own;
    }
    double least = -(double)found;
    if (space) space->most(space->self, &least, 1);
    return (size_t)-least;
}

// All unknowns as the basis, where there are few: the projection is then the whole problem.
static void append_all(rbt_modes *m, const rbt_modes_problem *p) {
    const int32_t *number = m->space ? m->space->number : NULL;
    size_t n = values_of(m), whole = number ? m->space->whole_rows : m->row_count, place = 0, axis = 0;
    size_t row = next_kept(m, p, 0);
    while (row < whole) {
        size_t k = 0;
        memset(m->T, 0, m->capacity * n * sizeof(double));
        for (; row < whole && k < m->capacity; k++) {
            while (number && place < m->row_count && (size_t)number[place] < row) place++;
            if (!number) vector_at(m, m->T, k)[3 * row + axis] = 1;
            else if (place < m->row_count && (size_t)number[place] == row)
                vector_at(m, m->T, k)[3 * place + axis] = 1;
            axis = (axis + 1) % 3;
            if (axis == 0) row = next_kept(m, p, row + 1);
        }
        append(m, p, k, m->T);
    }
}

// Noise through A^-1: the low end of the spectrum dominates.
static rbt_modes_result append_noise(rbt_modes *m, const rbt_modes_problem *p) {
    for (size_t l = 0; l < m->count; l++) rbt_modes_noise(m, p, l, vector_at(m, m->block, l));
    rbt_modes_result result = solve(m, p, m->count, m->block, m->T);
    if (result != RBT_MODES_FOUND && result != RBT_MODES_NOT_CONVERGED) return result;
    append(m, p, m->count, m->T);
    return RBT_MODES_FOUND;
}

// A factor of K + shift M, M lumped; NULL if it is not positive definite or there is no memory for it.
static rbt_cholesky *factor_shifted(const rbt_modes_problem *p, double shift) {
    size_t values = 9 * p->K->start[p->K->row_count], row;
    rbt_block_matrix A = *p->K;
    A.value = rbt_array_new(values, sizeof *A.value, "a shifted matrix", NULL);
    rbt_cholesky *factor = A.value ? rbt_cholesky_analyse(&A, p->keep, NULL) : NULL;
    if (factor) {
        memcpy(A.value, p->K->value, values * sizeof *A.value);
        for (size_t n = 0; n < A.row_count; n++)
            for (size_t i = 0; i < 9; i += 4) A.value[9 * (A.start[n + 1] - 1) + i] += shift * p->lumped[n];
        if (rbt_cholesky_factor(factor, &A, &row) != RBT_FACTORED) {
            rbt_cholesky_free(factor);
            factor = NULL;
        }
    }
    free(A.value);
    return factor;
}

// The iteration with K + shift M in the place of A
static rbt_modes_result iterate_shifted(rbt_modes *m, const rbt_modes_problem *p, size_t wanted, double shift,
                                        int max_rounds, int patience) {
    if (m->space) {
        rbt_modes_result result = m->space->shift(m->space->self, shift);
        if (result == RBT_MODES_FOUND) result = iterate(m, p, wanted, max_rounds, patience);
        m->space->shift(m->space->self, 0);
        return result;
    }
    rbt_modes_problem closer = *p;
    closer.factor = factor_shifted(p, shift);
    if (!closer.factor) return RBT_MODES_INDEFINITE;
    rbt_modes_result result = iterate(m, &closer, wanted, max_rounds, patience);
    rbt_cholesky_free(closer.factor);
    return result;
}

// Where the step is short beside the modes' periods, A is little but M, and its inverse tells the modes hardly apart.
// Then it is worth a factor of its own, with a shift as large as the modes' eigenvalues themselves; while they still
// fall, so does it.
static rbt_modes_result iterate_closer(rbt_modes *m, const rbt_modes_problem *p, size_t wanted) {
    double shift = INFINITY, lowest = 1e5 * rounding(m, p);
    for (int tries = 0; tries < 12; tries++) {
        double next = fmax(lowest, fmax(-4 * m->lambda[0], m->lambda[wanted ? wanted - 1 : 0]));
        bool settled = next > 0.25 * shift;
        shift = next;
        if (shift > 0.25 * p->shift && !p->indefinite) break;
        rbt_modes_result result =
            iterate_shifted(m, p, wanted, shift, settled ? MANY_ROUNDS : 2 * FEW_ROUNDS, settled ? MANY : FEW);
        if (result == RBT_MODES_INDEFINITE) {  // a lower eigenvalue than known so far
            lowest = 8 * shift;
            continue;
        }
        if (result != RBT_MODES_NOT_CONVERGED || settled) return result;
    }
    return iterate(m, p, wanted, MANY_ROUNDS, MANY);
}

// ---- rounds of inverse iteration ----

// Weighted = M W and image = K W of the equation that W = T solves with the right-hand sides in `block`
static void images_of_solution(rbt_modes *m, const rbt_modes_problem *p) {
    multiply_mass(m, p, m->count, m->T, m->weighted);
    if (m->space) {  // W solves it to a tolerance only
        multiply_stiffness(m, p, m->count, m->T, m->image);
        return;
    }
#pragma omp parallel for schedule(static) if (m->row_count * m->count >= RBT_PARALLEL_FROM)
    for (size_t l = 0; l < m->count; l++) {
        const double *restrict w = vector_at(m, m->T, l), *restrict b = vector_at(m, m->block, l);
        const double *restrict mw = vector_at(m, m->weighted, l);
        double *restrict to = vector_at(m, m->image, l);
        for (size_t i = 0; i < values_of(m); i++) to[i] = (b[i] - m->mass_part[i] * mw[i]) * m->per_part[i];
        for (size_t i = 0; p->extra && i < values_of(m); i++)
            for (size_t j = 0; j < 3; j++) to[i] -= p->extra[3 * i + j] * w[i / 3 * 3 + j] * m->per_part[i];
    }
}

// x = L^-1 x and L^-T x, L in the lower triangle of G, by columns
static void solve_lower(size_t k, const double *restrict G, double *restrict x) {
    for (size_t l = 0; l < k; l++) {
        x[l] /= G[l * k + l];
        for (size_t i = l + 1; i < k; i++) x[i] -= G[l * k + i] * x[l];
    }
}

static void solve_upper(size_t k, const double *restrict G, double *restrict x) {
    for (size_t l = k; l-- > 0;) {
        double sum = x[l];
        for (size_t i = l + 1; i < k; i++) sum -= G[l * k + i] * x[i];
        x[l] = sum / G[l * k + l];
    }
}

// Modes of the span of W = T, by the eigenproblem S C = G C Lambda of k x k matrices, G = W^T M W, S = W^T K W.
// Columns are made of length 1 first. False: W is to rounding linearly dependent, or no number.
static bool solve_reduced(rbt_modes *m) {
    size_t k = m->count;
    double *G = m->gram, *S = m->reduced, *scale = m->turn;
    for (size_t i = 0; i < k; i++) {
        if (!(G[i * k + i] > 0)) return false;
        scale[i] = 1 / sqrt(G[i * k + i]);
    }
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i <= j; i++) {
            G[i * k + j] = G[j * k + i] = 0.5 * (G[j * k + i] + G[i * k + j]) * scale[i] * scale[j];
            S[i * k + j] = S[j * k + i] = 0.5 * (S[j * k + i] + S[i * k + j]) * scale[i] * scale[j];
        }
    const double least = 1e-6;  // squared: U will be orthonormal to about 1e-16 / least
    // G = L L^T, L in the lower triangle
    for (size_t j = 0; j < k; j++) {
        for (size_t l = 0; l < j; l++)
            for (size_t i = j; i < k; i++) G[j * k + i] -= G[l * k + i] * G[l * k + j];
        if (!(G[j * k + j] > least)) return false;
        double inverse = 1 / sqrt(G[j * k + j]);
        for (size_t i = j; i < k; i++) G[j * k + i] *= inverse;
    }
    // S = L^-1 S L^-T, from both sides; then C = L^-T S
    for (size_t side = 0; side < 2; side++) {
        for (size_t j = 0; j < k; j++) solve_lower(k, G, S + j * k);
        for (size_t j = 0; j < k; j++)
            for (size_t i = 0; i < j; i++) {
                double other = S[j * k + i];
                S[j * k + i] = S[i * k + j];
                S[i * k + j] = other;
            }
    }
    for (size_t j = 0; j < k; j++)  // what rounding leaves
        for (size_t i = 0; i < j; i++) S[j * k + i] = S[i * k + j] = 0.5 * (S[j * k + i] + S[i * k + j]);
    if (!eigenpairs(m, k)) return false;
    for (size_t j = 0; j < k; j++) solve_upper(k, G, S + j * k);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++) S[j * k + i] *= scale[i];
    return true;
}

// W = T, B = block: A W = B = M X. Noise takes the place of the last guard.
static rbt_modes_result smooth(rbt_modes *m, const rbt_modes_problem *p, const double *X) {
    size_t k = m->count;
    multiply_mass(m, p, k, X, m->block);
    if (k < m->unknowns) rbt_modes_noise(m, p, 0, vector_at(m, m->block, k - 1));
    return solve(m, p, k, m->block, m->T);
}

// The squares of residuals by small matrices: P = W^T B, and C, the coefficients, in `turn`
static void measure_reduced(rbt_modes *m, const double *P) {
    size_t k = m->count, n = values_of(m);
    bool noise = k < m->unknowns;
    double *with_noise = m->gram, square = 0;  // of B's last column, X^T B and its own square
    if (noise) {
        const double *last = vector_at(m, m->block, k - 1);
        double *noise_of_mass = m->weighted;  // M^-1 of it
        for (size_t i = 0; i < n; i++) noise_of_mass[i] = last[i] * m->per_weight[i];
        if (m->space) dots(m, 1, last, noise_of_mass, &square);
        else
            for (size_t i = 0; i < n; i++) square += last[i] * noise_of_mass[i];
        rbt_modes_inner(m, k, m->block, 1, noise_of_mass, with_noise);
    }
    double *PC = m->reduced;
    rbt_vectors_combine(k, 1, k, P, k, m->turn, k, 0, PC);
    for (size_t l = 0; l < k; l++) {
        const double *C = m->turn + l * k;
        double size = 0, product = 0, sum = m->a + m->c * m->lambda[l];
        for (size_t j = 0; j < k; j++) {
            product += C[j] * PC[l * k + j];
            bool is_noise = noise && j == k - 1;
            size += C[j] * C[j] * (is_noise ? square : 1);
            if (noise && !is_noise) size += 2 * C[j] * C[k - 1] * with_noise[j];
        }
        m->residual[l] = sqrt(fmax(size - 2 * sum * product + sum * sum, 0)) / m->c;
    }
}

// One round where a and c are the same in all rows: besides the solve two symmetric products of blocks and one
// combination
static rbt_modes_result refine_alike(rbt_modes *m, const rbt_modes_problem *p, const double *X) {
    size_t n = values_of(m), k = m->count;
    rbt_modes_result result = smooth(m, p, X);
    if (result != RBT_MODES_FOUND) return result;
    double *P = m->turn + k * k;
    if (m->space) {
        multiply_mass(m, p, k, m->T, m->weighted);
        rbt_modes_inner(m, k, m->T, k, m->weighted, m->gram);
        rbt_modes_inner(m, k, m->T, k, m->block, P);
    } else rbt_vectors_inner_symmetric(n, k, m->T, m->weight, m->weighted, m->block, m->gram, P, m->partial);
    for (size_t i = 0; i < k * k; i++) m->reduced[i] = (P[i] - m->a * m->gram[i]) / m->c;
    if (!solve_reduced(m)) return RBT_MODES_NOT_CONVERGED;
    memcpy(m->turn, m->reduced, k * k * sizeof *m->turn);
    memcpy(m->lambda, m->values, k * sizeof *m->lambda);
    measure_reduced(m, P);
    rbt_vectors_turn(n, k, m->T, k, m->turn, k, m->weight, m->U, m->Q);
    m->images = false;
    return RBT_MODES_FOUND;
}

// One round: U, and all that belongs to it, from the span of A^-1 M X.
static rbt_modes_result refine(rbt_modes *m, const rbt_modes_problem *p, const double *X) {
    const double FINE = 1e-5;  // a tolerance for which the residuals of small matrices are good enough
    size_t n = values_of(m), k = m->count;
    if (m->c > 0 && p->tolerance >= FINE) return refine_alike(m, p, X);
    rbt_modes_result result = smooth(m, p, X);
    if (result != RBT_MODES_FOUND) return result;
    images_of_solution(m, p);
    rbt_modes_inner(m, k, m->T, k, m->weighted, m->gram);
    rbt_modes_inner(m, k, m->T, k, m->image, m->reduced);
    if (!solve_reduced(m)) return RBT_MODES_NOT_CONVERGED;
    rbt_vectors_combine(n, 1, k, m->T, k, m->reduced, k, 0, m->U);
    rbt_vectors_combine(n, 1, k, m->image, k, m->reduced, k, 0, m->KU);
    m->images = true;
    memcpy(m->lambda, m->values, k * sizeof *m->lambda);
    multiply_mass(m, p, k, m->U, m->Q);
    measure(m);
    return RBT_MODES_FOUND;
}

void rbt_modes_images(rbt_modes *m) {
    size_t n = values_of(m), k = m->count;
    if (m->images) return;
    rbt_vectors_combine(n, 1 / m->c, k, m->block, k, m->turn, k, 0, m->KU);
#pragma omp parallel for schedule(static) if (m->row_count * k >= RBT_PARALLEL_FROM)
    for (size_t l = 0; l < k; l++)
        rbt_vector_add_scaled(n, vector_at(m, m->KU, l), -m->a / m->c, vector_at(m, m->Q, l));
    m->images = true;
}

void rbt_modes_add(rbt_modes *m, double alpha, size_t count, double *z, const double *k_z, double *y) {
    size_t n = values_of(m), k = m->count;
    if (m->images) {
        rbt_vectors_combine(n, alpha, count, m->KU, count, k_z, 1, 1, y);
    } else {
        double *turned = m->small;
        for (size_t i = 0; i < k; i++) {
            turned[i] = 0;
            for (size_t l = 0; l < count; l++) turned[i] += m->turn[l * k + i] * k_z[l];
        }
        if (m->space) {  // rows have the same bits wherever they stand
            for (size_t i = 0; i < k; i++) turned[i] *= alpha / m->c;
            rbt_vectors_combine(n, 1, k, m->block, k, turned, 1, 1, y);
        } else rbt_vectors_combine(n, alpha / m->c, k, m->block, k, turned, 1, 1, y);
        for (size_t l = 0; l < count; l++) z[l] -= k_z[l] * m->a / m->c;
    }
    rbt_vectors_combine(n, alpha, count, m->Q, count, z, 1, 1, y);
}

// Each round must halve the worst residual, or it is not worth its price. *X is where the next one would start.
static rbt_modes_result refine_until(rbt_modes *m, const rbt_modes_problem *p, size_t wanted, const double **X) {
    double least = rounding(m, p), before = INFINITY;
    for (int round = 0; round < FEW_ROUNDS; round++) {
        rbt_modes_result result = refine(m, p, *X);
        if (result != RBT_MODES_FOUND) return result;
        *X = m->U;
        double worst = worst_of(m, p, wanted, least);
        if (worst <= 1) return RBT_MODES_FOUND;
        if (!(worst < 0.5 * before)) break;
        before = worst;
    }
    return RBT_MODES_NOT_CONVERGED;
}

rbt_modes_result rbt_modes_follow(rbt_modes *m, const rbt_modes_problem *p, size_t wanted, const double *X) {
    look_at_unknowns(m, p);
    rbt_modes_result result = p->indefinite ? RBT_MODES_NOT_CONVERGED : refine_until(m, p, wanted, &X);
    if (result != RBT_MODES_NOT_CONVERGED) return result;
    size_t bytes = m->count * values_of(m) * sizeof(double);
    memcpy(m->T, X, bytes);
    m->size = 0;
    append(m, p, m->count, m->T);  // orthonormal to rounding, which the basis of many rounds must be
    if (m->size < m->count) return RBT_MODES_NOT_CONVERGED;
    result = project(m, p);
    if (result != RBT_MODES_FOUND) return result;
    memset(m->T, 0, bytes);
    memset(m->V, 0, bytes);
    result = iterate(m, p, wanted, p->indefinite ? 0 : FEW_ROUNDS, FEW);
    return result == RBT_MODES_NOT_CONVERGED ? iterate_closer(m, p, wanted) : result;
}

rbt_modes_result rbt_modes_start(rbt_modes *m, const rbt_modes_problem *p, size_t wanted, size_t known) {
    look_at_unknowns(m, p);
    size_t bytes = m->capacity * values_of(m) * sizeof(double);
    m->size = 0;
    append(m, p, known, m->T);
    rbt_modes_result result = RBT_MODES_FOUND;
    if (m->unknowns <= 3 * m->capacity) append_all(m, p);
    else result = append_noise(m, p);
    if (result != RBT_MODES_FOUND) return result;
    if (m->size < m->count) return RBT_MODES_NOT_FINITE;
    result = project(m, p);
    if (result != RBT_MODES_FOUND) return result;
    memset(m->T, 0, bytes);
    memset(m->V, 0, bytes);
    result = iterate(m, p, wanted, p->indefinite ? 0 : FEW_ROUNDS, FEW);
    if (result == RBT_MODES_NOT_CONVERGED) result = iterate_closer(m, p, wanted);
    m->count = enough_vectors(m, p, wanted);
    return result;
}
