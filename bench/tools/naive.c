// The naive way to a step of multirate-euler with parts: one sparse system of all velocities, at every short step of
// the parts and at the end of the long one, factored as a whole (L U), on a linear scene with parts right below the
// root. Prints what a solve takes beside a step of multirate-euler, and how far the two are apart. (Zhao, Li and
// Barbic 2016, Fig. 3.)
//
// Unknowns are the ways y_i = v_i - v_0 of the parts' instants and of the rest; rows are those of the paper, as
// multirate-euler has them with the option interpolation = end and the solver lu:
//   part, i:  M (y_i - y_(i-1)) + h^2 K sum_(k<=i) y_k + [i (i + 1) / (2 m)] h^2 K_SL Delta = h (f - f_int - i h K v_0)
//   rest:     M Delta + H h K_LS sum_k y_k + H^2 K Delta = H (f - f_int - H K v_0)
#include "tool.h"

#include "model/force.h"
#include "model/stiffness.h"
#include "solve/lu.h"

#include <math.h>
#include <string.h>

static const char USAGE[] = "naive SCENE [--set path=value]… [--steps N] [--threads N]";

typedef struct naive {
    const rbt_model *m;
    rbt_stiffness stiffness;
    size_t *start, *fill;        // of rows of K with both triangles: blocks
    int32_t *column;             // (blocks) node
    size_t *block;               // (blocks) 2 block of K + 1 if transposed
    unsigned char *constrained;  // (node_count)
    size_t *first,
        unknowns;  // (node_count) first unknown of a node; its instants follow, three each; SIZE_MAX: constrained
    rbt_general_matrix A;
    double *b, *y;
} naive;

static int steps_of(const naive *s, size_t node) {
    int part = s->m->tempos.count ? s->m->tempos.node[node] : -1;
    return part < 0 ? 1 : s->m->tempos.items[part].substeps;
}
static bool is_rest(const naive *s, size_t node) { return !s->m->tempos.count || s->m->tempos.node[node] < 0; }

static void *array(size_t count, size_t size) {
    rbt_error error = {0};
    void *memory = rbt_array_new(count, size, "the naive method", &error);
    if (!memory) rbt_tool_fail(&error);
    return memory;
}

// All blocks of each row of K, columns ascending
static void open_rows(naive *s) {
    const rbt_block_matrix *K = &s->stiffness.K;
    size_t n = K->row_count;
    s->start = array(n + 1, sizeof *s->start);
    s->fill = array(n, sizeof *s->fill);
    for (size_t i = 0; i < n; i++)
        for (size_t k = K->start[i]; k < K->start[i + 1]; k++) {
            s->start[i + 1]++;
            if ((size_t)K->column[k] != i) s->start[K->column[k] + 1]++;
        }
    for (size_t i = 0; i < n; i++) s->start[i + 1] += s->start[i];
    s->column = array(s->start[n], sizeof *s->column);
    s->block = array(s->start[n], sizeof *s->block);
    memcpy(s->fill, s->start, n * sizeof *s->fill);
    for (size_t i = 0; i < n; i++)
        for (size_t k = K->start[i]; k < K->start[i + 1]; k++) {
            size_t j = (size_t)K->column[k], own = s->fill[i]++;
            s->column[own] = (int32_t)j;
            s->block[own] = 2 * k;
            if (i == j) continue;
            size_t other = s->fill[j]++;
            s->column[other] = (int32_t)i;
            s->block[other] = 2 * k + 1;
        }
}

static double stiffness_at(const naive *s, size_t k, size_t r, size_t c) {
    const double *B = s->stiffness.K.value + 9 * (s->block[k] / 2);
    return s->block[k] & 1 ? B[3 * c + r] : B[3 * r + c];
}

// The coefficient of velocity l (from 1) of node j in row i of instant k of node n, component r of K and M: two
// passes count and write.
static double coefficient(const naive *s, size_t n, size_t j, int k, int l, double K, double mass) {
    int own = steps_of(s, n);
    double H = s->m->step, h = H / own;
    if (is_rest(s, n)) return H * (H / steps_of(s, j)) * K + (n == j ? mass : 0);
    if (is_rest(s, j)) return k * (k + 1) / (2.0 * own) * h * h * K;
    return l > k ? 0 : h * h * K + (n == j && l == k ? mass : 0) - (n == j && l == k - 1 ? mass : 0);
}

static size_t fill_row(naive *s, size_t n, int k, size_t r, size_t at, int32_t *column, double *value) {
    for (size_t e = s->start[n]; e < s->start[n + 1]; e++) {
        size_t j = (size_t)s->column[e];
        if (s->constrained[j]) continue;
        int most = !is_rest(s, n) && !is_rest(s, j) ? k : steps_of(s, j);
        for (int l = 1; l <= most; l++)
            for (size_t c = 0; c < 3; c++, at++) {
                if (!column) continue;
                column[at] = (int32_t)(s->first[j] + 3 * (size_t)(l - 1) + c);
                value[at] = coefficient(s, n, j, k, l, stiffness_at(s, e, r, c), r == c ? s->m->mass[n] : 0);
            }
    }
    return at;
}

static void build(naive *s) {
    for (size_t n = 0; n < s->m->node_count; n++) {
        s->first[n] = s->constrained[n] ? SIZE_MAX : s->unknowns;
        if (!s->constrained[n]) s->unknowns += 3 * (size_t)steps_of(s, n);
    }
    size_t *start = array(s->unknowns + 1, sizeof *start), entries = 0, row = 0;
    int32_t *column = NULL;
    double *value = NULL;
    for (int pass = 0; pass < 2; pass++) {
        entries = row = 0;
        for (size_t n = 0; n < s->m->node_count; n++)
            for (int k = 1; !s->constrained[n] && k <= steps_of(s, n); k++)
                for (size_t r = 0; r < 3; r++) start[++row] = entries = fill_row(s, n, k, r, entries, column, value);
        if (pass) break;
        column = array(entries, sizeof *column);
        value = array(entries, sizeof *value);
    }
    s->A = (rbt_general_matrix){s->unknowns, start, column, value};
}

// Right-hand side at a state, whose external force does not change in the step
static void right_side(naive *s, const rbt_state *state, double *f, double *Kv, double *work) {
    const rbt_model *m = s->m;
    rbt_force_external(m, state->t, state->x, state->v, f);
    rbt_force_linear(m, &s->stiffness.K, state->x, work, f);
    rbt_block_matrix_product(&s->stiffness.K, state->v, Kv);
    for (size_t n = 0; n < m->node_count; n++)
        for (int k = 1; !s->constrained[n] && k <= steps_of(s, n); k++)
            for (size_t r = 0; r < 3; r++) {
                double h = m->step / steps_of(s, n);
                s->b[s->first[n] + 3 * (size_t)(k - 1) + r] = h * (f[3 * n + r] - k * h * Kv[3 * n + r]);
            }
}

// The largest difference to a state's velocities, over the largest of these
static double difference(const naive *s, const double *v_0, const double *v) {
    double most = 0, size = 0;
    for (size_t n = 0; n < s->m->node_count; n++)
        for (size_t r = 0; !s->constrained[n] && r < 3; r++) {
            double own = v_0[3 * n + r] + s->y[s->first[n] + 3 * (size_t)(steps_of(s, n) - 1) + r];
            most = fmax(most, fabs(own - v[3 * n + r]));
            size = fmax(size, fabs(v[3 * n + r]));
        }
    return most / size;
}

int main(int count, char **words) {
    rbt_tool_words w = rbt_tool_read(count, words, USAGE);
    rbt_error error = {0};
    rbt_sim *sim = rbt_tool_sim(&w);
    const rbt_model *m = sim->model;
    naive s = {.m = m, .constrained = array(m->node_count, 1), .first = array(m->node_count, sizeof(size_t))};
    if (!m->linear || !rbt_stiffness_build(&s.stiffness, m, &error)) rbt_tool_fail(&error);
    rbt_stiffness_assemble(&s.stiffness, m, RBT_TANGENT, m->X);
    rbt_constrained_nodes(m, 0, s.constrained);
    open_rows(&s);
    build(&s);
    s.b = array(s.unknowns, sizeof(double));
    s.y = array(s.unknowns, sizeof(double));
    double *f = array(3 * m->node_count, sizeof(double)), *Kv = array(3 * m->node_count, sizeof(double)),
           *work = array(6 * m->node_count, sizeof(double)), *v_0 = array(3 * m->node_count, sizeof(double));
    double start = rbt_now();
    rbt_lu *lu = rbt_lu_analyse(&s.A, &error);
    if (!lu) rbt_tool_fail(&error);
    if (rbt_lu_factor(lu, &s.A) != RBT_FACTORED) rbt_tool_fail(&error);
    double factored = rbt_now() - start, worst = 0;
    json_t *seconds = json_array(), *others = json_array();
    for (int k = 0; k < w.steps; k++) {
        rbt_step_report report = {0};
        start = rbt_now();
        right_side(&s, &sim->state, f, Kv, work);
        rbt_lu_solve(lu, s.b, s.y);
        json_array_append_new(seconds, json_real(rbt_now() - start));
        memcpy(v_0, sim->state.v, 3 * m->node_count * sizeof *v_0);
        start = rbt_now();
        if (rbt_sim_take_step(sim, &report) != RBT_DONE) rbt_tool_fail(&error);
        json_array_append_new(others, json_real(rbt_now() - start));
        worst = fmax(worst, difference(&s, v_0, sim->state.v));
    }
    rbt_lu_free(lu);
    rbt_tool_print(json_pack("{s:I, s:I, s:f, s:o, s:o, s:f}", "unknowns", (json_int_t)s.unknowns, "entries",
                             (json_int_t)s.A.start[s.unknowns], "factor_seconds", factored, "seconds", seconds,
                             "multirate_seconds", others, "difference", worst));
    return 0;
}
