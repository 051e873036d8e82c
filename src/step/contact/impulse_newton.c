// Newton's method on the impulses of a step. See impulses.h.
//
// With the pairs that push known, and of these the ones that stick, (1) and (2) are linear in the impulses:
//
//   c_k = 0  where p_k > 0,   u_kj = 0  where |p_t| < mu p,   p_t = mu p a  where it slides, a = p_t / |p_t| as it is
//
// Pairs that say the same make this singular, so a share of the diagonal is added. What comes out with the wrong sign
// or beyond its cone is put back there, and the sweeps that follow find out who pushes and sticks then.
#include "step/contact/impulses.h"

#include "math/exponential.h"

#include <string.h>

static const double REGULAR = 1e-7;  // of the diagonal
static const double INSIDE = 1 - 1e-9;

typedef struct newton {
    rbt_impulses *s;
    const rbt_impulse_programme *p;
    size_t count;
    int32_t *number;  // (pairs x 3) of the unknown that an impulse is; of a tangent that slides: that of its normal
    double *factor;   // (pairs x 3) of that unknown
    double *A, *b;
} newton;

static bool slides(const rbt_impulse_pair *pair) {
    double size = sqrt(pair->impulse[1] * pair->impulse[1] + pair->impulse[2] * pair->impulse[2]);
    return size >= INSIDE * pair->friction * pair->impulse[0] && size > 0;
}

static void number_unknowns(newton *n) {
    for (size_t k = 0; k < n->s->pair_count; k++) {
        const rbt_impulse_pair *pair = &n->s->pairs[k];
        int32_t *number = n->number + 3 * k;
        double *factor = n->factor + 3 * k;
        number[0] = number[1] = number[2] = -1;
        if (!(pair->impulse[0] > 0)) continue;
        number[0] = (int32_t)n->count++;
        factor[0] = 1;
        if (!(pair->friction > 0)) continue;
        bool slip = slides(pair);
        double size = sqrt(pair->impulse[1] * pair->impulse[1] + pair->impulse[2] * pair->impulse[2]);
        for (size_t d = 1; d < 3; d++) {
            number[d] = slip ? number[0] : (int32_t)n->count++;
            factor[d] = slip ? pair->friction * pair->impulse[d] / size : 1;
        }
    }
}

// Whether an impulse has an equation of its own
static bool has_equation(const newton *n, size_t row) {
    return n->number[row] >= 0 && (row % 3 == 0 || n->number[row] != n->number[row - row % 3]);
}

// C U B U^T C^T of a row
static void add_modes(newton *n, size_t row) {
    const rbt_impulses *s = n->s;
    size_t modes = s->method->mode_count;
    const double *own = n->p->modal + row * modes;
    double *to = n->A + n->count * (size_t)n->number[row];
    for (size_t other = 0; other < 3 * s->pair_count; other++) {
        if (n->number[other] < 0) continue;
        double sum = 0;
        for (size_t l = 0; l < modes; l++)
            sum += rbt_impulses_share(s, row % 3, l) * own[l] * n->p->modal[other * modes + l];
        to[n->number[other]] += n->factor[other] * sum;
    }
}

static void fill(newton *n) {
    const rbt_impulses *s = n->s;
    memset(n->A, 0, n->count * n->count * sizeof *n->A);
    for (size_t i = 0; i < s->used_count; i++) {
        const rbt_impulse_part *part = &s->parts[s->used[i]];
        for (size_t r = 0; r < part->row_count; r++) {
            if (!has_equation(n, part->rows[r])) continue;
            size_t equation = (size_t)n->number[part->rows[r]];
            double *row = n->A + n->count * equation;
            const double *from = part->matrix + part->row_count * r;
            for (size_t c = 0; c < part->row_count; c++) {
                int32_t unknown = n->number[part->rows[c]];
                if (unknown >= 0) row[unknown] += n->factor[part->rows[c]] * from[c];
            }
            row[equation] += REGULAR * from[r];
        }
    }
    for (size_t row = 0; s->method->mode_count && row < 3 * s->pair_count; row++)
        if (has_equation(n, row)) add_modes(n, row);
    for (size_t row = 0; row < 3 * s->pair_count; row++)
        if (has_equation(n, row)) n->b[n->number[row]] = -n->p->base[row];
}

static void take(const newton *n) {
    rbt_impulses *s = n->s;
    for (size_t k = 0; k < s->pair_count; k++) {
        const int32_t *number = n->number + 3 * k;
        const rbt_impulse_place *places = n->p->places + 2 * k;
        double next[3] = {0}, mu = s->pairs[k].friction;
        if (number[0] < 0) continue;
        for (size_t d = 0; d < (mu > 0 ? 3 : 1); d++) next[d] = n->factor[3 * k + d] * n->b[number[d]];
        double size = sqrt(next[1] * next[1] + next[2] * next[2]), limit = mu * fmax(0, next[0]);
        for (size_t d = 1; size > limit && d < 3; d++) next[d] *= limit / size;
        next[0] = fmax(0, next[0]);
        for (size_t d = 0; d < (mu > 0 ? 3 : 1); d++) rbt_impulses_set(s, places, k, d, next[d]);
    }
}

bool rbt_impulses_newton(rbt_impulses *s) {
    const rbt_impulse_programme *p = &s->programme;
    newton n = {.s = s, .p = p, .number = p->number, .factor = p->factor, .A = p->matrix, .b = p->right};
    number_unknowns(&n);
    if (!n.count || n.count > RBT_MAX_NEWTON_UNKNOWNS) return false;
    fill(&n);
    if (!rbt_dense_solve(n.count, n.A, 1, n.b)) return false;
    for (size_t i = 0; i < n.count; i++)
        if (!isfinite(n.b[i])) return false;
    take(&n);
    return true;
}
