#include "model/ranks.h"

#include "model/model.h"

void rbt_ranks_share(const rbt_model *m, double *values) {
    if (m->ranks) m->ranks->share(m->ranks->self, values);
}

void rbt_ranks_join(const rbt_model *m, rbt_sum *sums, size_t count) {
    if (m->ranks) m->ranks->join(m->ranks->self, sums, count);
}

void rbt_ranks_most(const rbt_model *m, double *values, size_t count) {
    if (m->ranks) m->ranks->most(m->ranks->self, values, count);
}

bool rbt_ranks_any(const rbt_model *m, bool has) {
    return m->ranks ? m->ranks->first(m->ranks->self, has) < m->ranks->count : has;
}

bool rbt_ranks_owns(const rbt_model *m, size_t node) { return !m->ranks || m->ranks->owned[node]; }

size_t rbt_ranks_number(const rbt_model *m, size_t node) { return m->ranks ? (size_t)m->ranks->number[node] : node; }

size_t rbt_ranks_number_in_body(const rbt_model *m, size_t node) {
    int32_t body = m->node_body[node];
    return m->ranks ? (size_t)(m->ranks->number[node] - m->ranks->node_begin[body])
                    : node - m->bodies[body].node_begin;
}

bool rbt_ranks_counts_tet(const rbt_model *m, size_t tet) { return rbt_ranks_owns(m, (size_t)m->tets[4 * tet]); }

double rbt_ranks_sum(const rbt_model *m, double value) {
    rbt_sum sum = {0};
    rbt_sum_add_one(&sum, value);
    rbt_ranks_join(m, &sum, 1);
    return rbt_sum_value(&sum);
}

void rbt_ranks_add_products(const rbt_model *m, rbt_sum *sum, const double *a, const double *b) {
    if (!m->ranks) {
        rbt_sum_add_products(sum, a, b, 3 * m->node_count);
        return;
    }
    const unsigned char *owned = m->ranks->owned;
    for (size_t begin = 0, end; begin < m->node_count; begin = end) {
        for (end = begin; end < m->node_count && owned[end] == owned[begin]; end++) {}
        if (owned[begin]) rbt_sum_add_products(sum, a + 3 * begin, b + 3 * begin, 3 * (end - begin));
    }
}

double rbt_ranks_dot(const rbt_model *m, const double *a, const double *b) {
    if (!m->ranks) return rbt_sum_dot(a, b, 3 * m->node_count);
    rbt_sum sum = {0};
    rbt_ranks_add_products(m, &sum, a, b);
    rbt_ranks_join(m, &sum, 1);
    return rbt_sum_value(&sum);
}

void rbt_terms_flush(rbt_terms *terms) {
    for (size_t k = 0; k < terms->width; k++) rbt_sum_add(&terms->sum[k], terms->value[k], terms->count);
    terms->count = 0;
}

void rbt_terms_end(rbt_terms *terms, const rbt_model *m, double *values) {
    rbt_terms_flush(terms);
    rbt_ranks_join(m, terms->sum, terms->width);
    for (size_t k = 0; k < terms->width; k++) values[k] = rbt_sum_value(&terms->sum[k]);
}
