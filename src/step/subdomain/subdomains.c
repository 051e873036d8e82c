#include "step/subdomain/subdomains.h"

#include "base/threads.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const WHAT = "subdomains";

void rbt_subdomains_free(rbt_subdomains *s) {
    for (size_t j = 0; s->factor && j < s->count; j++) rbt_cholesky_free(s->factor[j]);
    for (size_t j = 0; s->exact && j < s->count; j++) rbt_cholesky_free(s->exact[j]);
    if (s->connection) s->model->ranks->disconnect(s->model->ranks->self, s->connection);
    rbt_division_free(&s->division);
    free(s->mine);
    free(s->constrained);
    free(s->row_start);
    free(s->rows);
    free(s->copy_start);
    free(s->copies);
    free(s->partners);
    free(s->factor);
    free(s->exact);
    free(s->inexact);
    free(s->local);
    free(s->result);
    free(s->bad_row);
    *s = (rbt_subdomains){0};
}

static bool reserve_rows(rbt_subdomains *s, size_t count, rbt_error *error) {
    return rbt_array_reserve((void **)&s->rows, &s->row_capacity, count, sizeof *s->rows, WHAT, error) &&
           rbt_array_reserve((void **)&s->copies, &s->copy_capacity, count, sizeof *s->copies, WHAT, error) &&
           rbt_array_reserve((void **)&s->local, &s->local_capacity, 3 * count, sizeof *s->local, WHAT, error);
}

static bool divide(rbt_subdomains *s, size_t count, rbt_error *error) {
    const rbt_ranks *ranks = s->model->ranks;
    if (!ranks) return rbt_division_build(&s->division, s->model, count, error);
    return rbt_division_from_homes(&s->division, s->model->node_count, ranks->subdomain_count, ranks->home_start,
                                   ranks->homes, error);
}

bool rbt_subdomains_init(rbt_subdomains *s, const rbt_model *model, const rbt_block_matrix *H, size_t asked,
                         rbt_precision precision, rbt_error *error) {
    *s = (rbt_subdomains){.model = model, .H = H, .precision = precision};
    size_t nodes = model->node_count;
    bool ok = divide(s, asked, error);
    size_t count = s->count = s->division.count;
    s->member_start = s->division.member_start;
    s->members = s->division.members;
    s->home_start = s->division.home_start;
    s->homes = s->division.homes;
    ok = ok && (s->mine = rbt_array_new(count, 1, WHAT, error)) &&
         (s->row_start = rbt_array_new(count + 1, sizeof *s->row_start, WHAT, error)) &&
         (s->factor = rbt_array_new(count, sizeof *s->factor, WHAT, error)) &&
         (s->exact = rbt_array_new(count, sizeof *s->exact, WHAT, error)) &&
         (s->inexact = rbt_array_new(count, sizeof *s->inexact, WHAT, error)) &&
         (s->result = rbt_array_new(count, 1, WHAT, error)) &&
         (s->bad_row = rbt_array_new(count, sizeof *s->bad_row, WHAT, error)) &&
         (s->constrained = rbt_array_new(nodes, 1, WHAT, error)) &&
         (s->copy_start = rbt_array_new(nodes + 1, sizeof *s->copy_start, WHAT, error)) &&
         reserve_rows(s, s->member_start[count], error);
    for (size_t j = 0; ok && j < count; j++)
        s->mine[j] = !model->ranks || model->ranks->rank_of[j] == model->ranks->rank;
    if (!ok) rbt_subdomains_free(s);
    return ok;
}

// ---- Factors

// With at least a subdomain for each thread they are dealt out; fewer are done one after the other by all threads
// together. The bits are the same either way. (Not the `if` of an OpenMP loop: inside one, be it of one thread,
// another has to start threads of its own each time.)
static void for_each(rbt_subdomains *s, const double *q, void (*work)(rbt_subdomains *s, size_t j, const double *q)) {
    if (s->count >= (size_t)rbt_threads_count()) {
#pragma omp parallel for schedule(dynamic, 1)
        for (size_t j = 0; j < s->count; j++)
            if (s->mine[j]) work(s, j, q);
    } else
        for (size_t j = 0; j < s->count; j++)
            if (s->mine[j]) work(s, j, q);
}

static int compare_keys(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool lives_in(const rbt_subdomains *s, size_t node, int32_t j) {
    for (size_t k = s->home_start[node]; k < s->home_start[node + 1]; k++)
        if (s->homes[k] == j) return true;
    return false;
}

static void sort_partners(rbt_subdomains *s) {
    size_t count = 0;
    if (s->partner_count) qsort(s->partners, s->partner_count, sizeof *s->partners, compare_keys);
    for (size_t i = 0; i < s->partner_count; i++)
        if (!count || s->partners[count - 1] != s->partners[i]) s->partners[count++] = s->partners[i];
    s->partner_count = count;
}

static bool add_partner(rbt_subdomains *s, size_t a, size_t b) {  // b joins the subdomains of a
    for (size_t k = s->home_start[a]; k < s->home_start[a + 1]; k++) {
        if (lives_in(s, b, s->homes[k])) continue;
        if (!rbt_array_reserve((void **)&s->partners, &s->partner_capacity, s->partner_count + 1, sizeof *s->partners,
                               WHAT, NULL))
            return false;
        s->partners[s->partner_count++] = (uint64_t)s->homes[k] << 32 | (uint32_t)b;
    }
    return true;
}

// A subdomain is extended by the nodes that its own ones are in contact with.
static bool find_partners(rbt_subdomains *s) {
    s->partner_count = 0;
    for (size_t i = 0; i < s->contact->extra_count; i++) {
        size_t a = (size_t)(s->contact->extra[i] >> 32), b = (size_t)(uint32_t)s->contact->extra[i];
        if (!add_partner(s, a, b) || !add_partner(s, b, a)) return false;
    }
    sort_partners(s);
    return true;
}

static void add_row(rbt_subdomains *s, int32_t node, size_t *at) {
    if (s->constrained[node]) return;
    s->rows[(*at)++] = node;
    s->copy_start[node + 1]++;
}

static void list_rows(rbt_subdomains *s) {
    size_t at = 0, next = 0, nodes = s->model->node_count;
    memset(s->copy_start, 0, (nodes + 1) * sizeof *s->copy_start);
    for (size_t j = 0; j < s->count; j++) {
        for (size_t k = s->member_start[j]; k < s->member_start[j + 1]; k++) {
            uint64_t key = (uint64_t)j << 32 | (uint32_t)s->members[k];
            while (next < s->partner_count && s->partners[next] < key)
                add_row(s, (int32_t)(uint32_t)s->partners[next++], &at);
            add_row(s, s->members[k], &at);
        }
        while (next < s->partner_count && s->partners[next] >> 32 == j)
            add_row(s, (int32_t)(uint32_t)s->partners[next++], &at);
        s->row_start[j + 1] = at;
    }
    for (size_t n = 0; n < nodes; n++) s->copy_start[n + 1] += s->copy_start[n];
    for (size_t k = 0; k < at; k++) s->copies[s->copy_start[s->rows[k]]++] = k;
    for (size_t n = nodes; n > 0; n--) s->copy_start[n] = s->copy_start[n - 1];
    s->copy_start[0] = 0;
}

static rbt_cholesky *analyse_one(rbt_subdomains *s, size_t j, rbt_precision precision) {
    return rbt_cholesky_analyse_rows(s->H, s->rows + s->row_start[j], s->row_start[j + 1] - s->row_start[j],
                                     precision, NULL);
}

// Results in rows of other ranks' subdomains, of nodes that are this one's: keys are subdomain and node of the whole
static bool connect(rbt_subdomains *s) {
    const rbt_ranks *ranks = s->model->ranks;
    size_t rows = s->row_start[s->count], wanted = 0, known = 0;
    if (s->connection) ranks->disconnect(ranks->self, s->connection);
    s->connection = NULL;
    int64_t *keys = rbt_array_new(2 * rows, sizeof *keys, WHAT, NULL), *own = keys + rows;
    int32_t *places = rbt_array_new(3 * rows, sizeof *places, WHAT, NULL), *own_places = places + rows;
    int32_t *owner = places + 2 * rows;
    bool good = !rbt_ranks_any(s->model, !keys || !places);
    for (size_t j = 0; good && j < s->count; j++)
        for (size_t k = s->row_start[j]; k < s->row_start[j + 1]; k++) {
            int64_t key = (int64_t)j * (int64_t)ranks->whole_nodes + ranks->number[s->rows[k]];
            if (s->mine[j]) {
                own[known] = key;
                own_places[known++] = (int32_t)k;
            } else if (ranks->owned[s->rows[k]]) {
                keys[wanted] = key;
                owner[wanted] = ranks->rank_of[j];
                places[wanted++] = (int32_t)k;
            }
        }
    rbt_rank_items asked = {wanted, keys, places}, had = {known, own, own_places};
    if (good) s->connection = ranks->connect(ranks->self, &asked, owner, &had, NULL);
    free(keys);
    free(places);
    return s->connection != NULL;
}

rbt_outcome rbt_subdomains_analyse(rbt_subdomains *s, const unsigned char *constrained, bool *changed) {
    uint64_t pattern = s->contact ? s->contact->pattern : 0;
    *changed = !s->analysed || memcmp(constrained, s->constrained, s->model->node_count) != 0 ||
               pattern != s->analysed_pattern;
    *changed = rbt_ranks_any(s->model, *changed);
    if (!*changed) return RBT_DONE;
    s->analysed = false;
    s->analysed_pattern = pattern;
    memcpy(s->constrained, constrained, s->model->node_count);
    if (s->contact && (!find_partners(s) || !reserve_rows(s, s->member_start[s->count] + s->partner_count, NULL)))
        return RBT_OUT_OF_MEMORY;
    list_rows(s);
    if (s->model->ranks && !connect(s)) return RBT_OUT_OF_MEMORY;
    bool ok = true;
#pragma omp parallel for schedule(dynamic, 1) reduction(&& : ok)
    for (size_t j = 0; j < s->count; j++) {
        if (!s->mine[j]) continue;
        rbt_cholesky_free(s->factor[j]);
        rbt_cholesky_free(s->exact[j]);
        s->exact[j] = NULL;
        s->factor[j] = analyse_one(s, j, s->precision);
        ok = ok && s->factor[j];
    }
    s->analysed = ok;
    return ok ? RBT_DONE : RBT_OUT_OF_MEMORY;
}

void rbt_subdomains_work(const rbt_subdomains *s, double *flops, double *fill) {
    rbt_sum sums[2] = {0};
    for (size_t j = 0; j < s->count; j++) {
        if (!s->mine[j]) continue;
        rbt_sum_add_one(&sums[0], rbt_cholesky_flops(s->factor[j]));
        rbt_sum_add_one(&sums[1], rbt_cholesky_fill(s->factor[j]));
    }
    rbt_ranks_join(s->model, sums, 2);
    *flops = rbt_sum_value(&sums[0]);
    *fill = rbt_sum_value(&sums[1]);
}

static void factor_one(rbt_subdomains *s, size_t j, const double *unused) {
    (void)unused;
    rbt_factor_result result = rbt_cholesky_factor(s->factor[j], s->H, &s->bad_row[j]);
    s->inexact[j] = s->precision == RBT_SINGLE && result != RBT_FACTORED && result != RBT_FACTOR_NO_MEMORY;
    if (s->inexact[j]) {
        if (!s->exact[j]) s->exact[j] = analyse_one(s, j, RBT_DOUBLE);
        result = s->exact[j] ? rbt_cholesky_factor(s->exact[j], s->H, &s->bad_row[j]) : RBT_FACTOR_NO_MEMORY;
    }
    s->result[j] = (unsigned char)result;
}

rbt_outcome rbt_subdomains_factor(rbt_subdomains *s, const double *x, rbt_step_report *report) {
    for_each(s, NULL, factor_one);
    for (size_t j = 0; j < s->count; j++) {
        if (!s->mine[j] || s->result[j] == RBT_FACTORED) continue;
        if (s->result[j] == RBT_FACTOR_NO_MEMORY) {
            snprintf(report->hint, sizeof report->hint,
                     "the factors of %zu subdomains do not fit; take more subdomains or a coarser mesh", s->count);
            return RBT_OUT_OF_MEMORY;
        }
        rbt_report_node(report, s->model, x, s->bad_row[j]);
        snprintf(report->hint, sizeof report->hint,
                 "the matrix of subdomain %zu is not positive definite there; take a smaller step", j);
        return s->result[j] == RBT_FACTOR_NOT_FINITE ? RBT_NOT_FINITE : RBT_NOT_POSITIVE_DEFINITE;
    }
    return RBT_DONE;
}

static void solve_one(rbt_subdomains *s, size_t j, const double *q) {
    rbt_cholesky *factor = s->inexact[j] ? s->exact[j] : s->factor[j];
    s->result[j] = rbt_cholesky_solve_rows(factor, q, s->local + 3 * s->row_start[j]);
}

// r = B S^T local; with `roots` B has the root of what it divides by
static void bring_together(const rbt_subdomains *s, bool roots, double *r) {
    size_t nodes = s->model->node_count;
#pragma omp parallel for schedule(static) if (nodes >= RBT_PARALLEL_FROM)
    for (size_t n = 0; n < nodes; n++) {
        double sum[3] = {0, 0, 0};
        size_t begin = s->copy_start[n], end = s->copy_start[n + 1];
        double many = (double)(end - begin);
        for (size_t k = begin; k < end; k++)
            for (size_t i = 0; i < 3; i++) sum[i] += s->local[3 * s->copies[k] + i];
        for (size_t i = 0; i < 3; i++) r[3 * n + i] = end - begin > 1 ? sum[i] / (roots ? sqrt(many) : many) : sum[i];
    }
    rbt_ranks_share(s->model, r);
}

static rbt_outcome solve_all(rbt_subdomains *s, const double *q) {
    bool ok = true;
    for_each(s, q, solve_one);
    for (size_t j = 0; j < s->count; j++) ok = ok && (!s->mine[j] || s->result[j]);
    if (s->connection) s->model->ranks->exchange(s->model->ranks->self, s->connection, s->local);
    return ok ? RBT_DONE : RBT_OUT_OF_MEMORY;
}

rbt_outcome rbt_subdomains_apply(rbt_subdomains *s, const double *q, double *r) {
    rbt_outcome outcome = solve_all(s, q);
    bring_together(s, false, r);
    return outcome;
}

rbt_outcome rbt_subdomains_apply_symmetric(rbt_subdomains *s, const double *q, double *scaled, double *r) {
    size_t nodes = s->model->node_count;
#pragma omp parallel for schedule(static) if (nodes >= RBT_PARALLEL_FROM)
    for (size_t n = 0; n < nodes; n++) {
        size_t copies = s->copy_start[n + 1] - s->copy_start[n];
        double root = copies > 1 ? sqrt((double)copies) : 1;
        for (size_t i = 3 * n; i < 3 * n + 3; i++) scaled[i] = q[i] / root;
    }
    rbt_outcome outcome = solve_all(s, scaled);
    bring_together(s, true, r);
    return outcome;
}
