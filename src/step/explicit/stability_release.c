#include "step/explicit/stability_release.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_ROWS = 3 * RBT_MOST_CORNERS };

// Of the local test: with it the bound of all explicit nodes stays what it is without release on the bodies of
// scenes/imex.
static const double MARGIN = 0.95;

typedef struct element {
    const int32_t *node;
    int corners;
} element;

typedef struct candidate {
    double rate;  // trace of K_nn / m [1/s^2]
    int32_t node;
} candidate;

typedef struct search {
    const rbt_stability *s;
    double step;            // [s]
    double limit;           // of the eigenvalues [1/s^2]
    size_t *start;          // (node_count + 2) where each node's elements begin in
    element *at;            // (corners of all elements)
    candidate *candidates;  // (node_count)
} search;

static void search_free(search *q) {
    free(q->start);
    free(q->at);
    free(q->candidates);
}

static bool know_rest(rbt_stability *s) {
    if (s->rest_known) return true;
    if (!rbt_stiffness_build(&s->rest, s->model, NULL)) return false;
    rbt_stiffness_assemble(&s->rest, s->model, RBT_TANGENT, s->model->X);
    return s->rest_known = true;
}

static bool search_init(search *q, rbt_stability *s, const rbt_split_def *def) {
    const rbt_model *m = s->model;
    size_t corner_count = 0;
    double share = MARGIN * def->safety;
    *q = (search){.s = s, .step = def->step, .limit = 4 * share * share / (def->step * def->step)};
    for (size_t g = 0; g < m->group_count; g++)
        corner_count += m->groups[g].count * (size_t)m->groups[g].type->corners;
    q->start = rbt_array_new(m->node_count + 2, sizeof *q->start, "nodes to be released", NULL);
    q->at = rbt_array_new(corner_count, sizeof *q->at, "nodes to be released", NULL);
    q->candidates = rbt_array_new(m->node_count, sizeof *q->candidates, "nodes to be released", NULL);
    if (!q->start || !q->at || !q->candidates || !know_rest(s)) return false;
    for (int fill = 0; fill < 2; fill++) {
        for (size_t g = 0; g < m->group_count; g++) {
            int corners = m->groups[g].type->corners;
            for (size_t k = 0; k < m->groups[g].count * (size_t)corners; k++) {
                size_t n = (size_t)m->groups[g].nodes[k], first = k - k % (size_t)corners;
                if (fill) q->at[q->start[n + 1]++] = (element){m->groups[g].nodes + first, corners};
                else q->start[n + 2]++;
            }
        }
        for (size_t n = 0; !fill && n < m->node_count; n++) q->start[n + 2] += q->start[n + 1];
    }
    return true;
}

static const double *find_block(const rbt_block_matrix *K, int32_t row, int32_t column) {
    for (size_t k = K->start[row]; k < K->start[row + 1]; k++)
        if (K->column[k] == column) return K->value + 9 * k;
    return NULL;
}

// Whether limit I - A is positive definite, A the block of P(h) of the element's explicit corners: all pivots of its
// Cholesky factor are
static bool passes(const search *q, element e, const unsigned char *implicit) {
    double L[MAX_ROWS][MAX_ROWS];
    int32_t node[RBT_MOST_CORNERS];
    int count = 0;
    for (int a = 0; a < e.corners; a++)
        if (!implicit[e.node[a]] && q->s->root[e.node[a]] > 0) node[count++] = e.node[a];
    for (int a = 0; a < count; a++)
        for (int b = 0; b < count; b++) {
            if (node[b] > node[a]) continue;
            const double *block = find_block(&q->s->rest.K, node[a], node[b]);
            size_t n = (size_t)node[a];
            double scale = q->s->root[n] * q->s->root[node[b]] * rbt_stability_factor(q->s, n, q->step);
            double shift = rbt_stability_shift(q->s, n, q->step),
                   contact = a == b ? rbt_stability_contact(q->s, n) : 0;
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    L[3 * a + i][3 * b + j] = L[3 * b + j][3 * a + i] = (a == b && i == j ? q->limit - shift : 0) -
                                                                        (block ? scale * block[3 * i + j] : 0) -
                                                                        contact * q->s->contact[3 * i + j];
        }
    for (int j = 0; j < 3 * count; j++) {
        for (int k = 0; k < j; k++) L[j][j] -= L[j][k] * L[j][k];
        if (!(L[j][j] > 0)) return false;
        double pivot = sqrt(L[j][j]);
        L[j][j] = pivot;
        for (int i = j + 1; i < 3 * count; i++) {
            for (int k = 0; k < j; k++) L[i][j] -= L[i][k] * L[j][k];
            L[i][j] /= pivot;
        }
    }
    return true;
}

static int softer(const void *a, const void *b) {
    const candidate *p = a, *q = b;
    if (p->rate != q->rate) return p->rate < q->rate ? -1 : 1;
    return (p->node > q->node) - (p->node < q->node);
}

size_t rbt_stability_release(rbt_stability *s, const rbt_split_def *def, unsigned char *implicit) {
    search q;
    size_t count = 0, released = 0;
    if (search_init(&q, s, def)) {
        const rbt_block_matrix *K = &s->rest.K;
        for (size_t n = 0; n < s->model->node_count; n++) {
            const double *D = K->value + 9 * (K->start[n + 1] - 1);
            if (implicit[n])
                q.candidates[count++] = (candidate){(D[0] + D[4] + D[8]) * s->root[n] * s->root[n], (int32_t)n};
        }
        qsort(q.candidates, count, sizeof *q.candidates, softer);
        for (size_t k = 0; k < count; k++) {
            size_t n = (size_t)q.candidates[k].node;
            bool good = true;
            implicit[n] = 0;
            for (size_t i = q.start[n]; good && i < q.start[n + 1]; i++) good = passes(&q, q.at[i], implicit);
            implicit[n] = !good;
            released += good;
        }
    }
    search_free(&q);
    return released;
}
