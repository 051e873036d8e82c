#include "step/imex/imex_cost.h"

#include "base/sets.h"

#include <math.h>
#include <string.h>

static const double TOLERANCE = 1e-4;  // of the conjugate gradients that are guessed at

double rbt_imex_cost(const rbt_imex_work *w) {
    double ns = RBT_UNIT_FORCE * w->elements + RBT_UNIT_NODE * w->nodes;
    if (!(w->implicit_nodes > 0)) return 1e-9 * ns;
    double tangent = RBT_UNIT_TANGENT * w->implicit_elements, product = RBT_UNIT_PRODUCT * w->implicit_elements;
    double row = RBT_UNIT_ROW * w->implicit_nodes + RBT_UNIT_SOLVE * w->fill;
    double inverse = w->fill > 0 ? RBT_UNIT_ASSEMBLE * w->implicit_elements + RBT_UNIT_FLOP * w->flops
                                 : RBT_UNIT_DIAGONAL * w->implicit_elements;
    if (w->kept) return 1e-9 * (ns + RBT_UNIT_FORCE * w->implicit_elements + row + tangent / 2 + inverse / w->reuse);
    return 1e-9 * (ns + tangent + product + w->iterations * (product + row) + inverse / w->reuse);
}

// ---- Connected sets of implicit nodes

static void join(const rbt_stability *s, const unsigned char *implicit, int32_t *parent, rbt_imex_work *work) {
    for (size_t g = 0; g < s->model->group_count; g++) {
        const rbt_group *group = &s->model->groups[g];
        size_t corners = (size_t)group->type->corners;
        for (size_t e = 0; e < group->count; e++) {
            const int32_t *node = group->nodes + corners * e;
            int32_t first = -1;
            for (size_t a = 0; a < corners; a++) {
                if (!implicit[node[a]]) continue;
                if (first >= 0) rbt_sets_join(parent, node[a], first);
                first = node[a];
            }
            work->implicit_elements += first >= 0;
        }
    }
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_rate(const rbt_stability *s, double *sorted) {
    memcpy(sorted, s->rate, s->element_count * sizeof *sorted);
    qsort(sorted, s->element_count, sizeof *sorted, ascending);
    return s->element_count ? sorted[s->element_count / 2] : 0;
}

// Factor or conjugate gradients, whichever costs less
static void choose_solver(rbt_imex_work *work, double step, double rate, bool keeps) {
    rbt_imex_work cg = *work;
    work->kept = keeps;
    work->iterations = keeps ? 0 : 2;
    work->reuse = keeps ? 10 : 15;
    cg.fill = cg.flops = 0;
    cg.iterations = 2 + 0.5 * sqrt(1 + step * step * rate) * log(2 / TOLERANCE);
    cg.reuse = 15;
    if (rbt_imex_cost(&cg) < rbt_imex_cost(work)) *work = cg;
}

bool rbt_imex_guess(rbt_stability *s, const rbt_split_def *def, const unsigned char *chosen, bool keeps,
                    rbt_imex_work *work, rbt_error *error) {
    size_t nodes = s->model->node_count;
    unsigned char *implicit = rbt_array_new(nodes, 1, "a guess of costs", error);
    int32_t *parent = rbt_array_new(nodes, sizeof *parent, "a guess of costs", error);
    double *sorted = rbt_array_new(s->element_count + nodes, sizeof *sorted, "a guess of costs", error);
    bool ok = implicit && parent && sorted;
    if (ok) {
        *work = (rbt_imex_work){.elements = (double)s->element_count, .nodes = (double)nodes};
        double rate = median_rate(s, sorted), *size = sorted;
        if (chosen) memcpy(implicit, chosen, nodes);
        else rbt_stability_mark(s, def, implicit);
        for (size_t n = 0; n < nodes; n++) parent[n] = (int32_t)n;
        join(s, implicit, parent, work);
        memset(size, 0, nodes * sizeof *size);
        for (size_t n = 0; n < nodes; n++)
            if (implicit[n]) size[rbt_set_of(parent, (int32_t)n)]++;
        for (size_t n = 0; n < nodes; n++) {
            double k = size[n];
            work->implicit_nodes += k;
            work->fill += fmin(30 * pow(k, 4.0 / 3), 4.5 * k * k);
            work->flops += fmin(30 * k * k, 9 * k * k * k);
        }
        size_t free_nodes = 0;
        for (size_t n = 0; n < nodes; n++) free_nodes += s->root[n] > 0 && !implicit[n];
        if (free_nodes) choose_solver(work, def->step, rate, keeps);
        else work->iterations = work->reuse = 1;  // semi-implicit Euler's own solver
    }
    free(implicit);
    free(parent);
    free(sorted);
    return ok;
}

double rbt_imex_cheapest(rbt_stability *s, const rbt_split_def *def, bool keeps, rbt_error *error) {
    double best = 0, least = INFINITY, first = rbt_stability_largest_step(s, NULL), lowest, last;
    rbt_stability_local_bounds(s, &lowest, &last);
    if (!isfinite(first) || !(last > 0)) {
        rbt_fail_path(error, NULL, "time.step", "no step can be chosen where nothing can move; give one");
        return 0;
    }
    for (double step = first; step <= last * (1 + 1e-9); step *= pow(2, 0.25)) {
        rbt_split_def own = *def;
        rbt_imex_work work;
        own.step = step;
        if (!rbt_imex_guess(s, &own, NULL, keeps, &work, error)) return 0;
        double cost = rbt_imex_cost(&work) / step;
        if (!(cost < least)) continue;
        least = cost;
        best = step;
    }
    return best;
}
