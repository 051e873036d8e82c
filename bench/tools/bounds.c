// Where explicit steps of a scene are stable, and what finding that out costs: prints as one JSON object the body's bound and the
// elements' local ones, the seconds of finding all local bounds and of one certificate (--repeats times each), and for the
// explicit step the bytes that it must move and the rate at which this core moves memory.
#include "tool.h"

#include "base/clock.h"
#include "step/explicit.h"
#include "step/stability.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char USAGE[] = "bounds SCENE [--set path=value]… [--threads N] [--repeats N]";

// Bytes per second of y = x + s z over arrays far larger than any cache, read and written, the best of five
static double memory_rate(void) {
    size_t n = 8u << 20;
    double *x = calloc(n, sizeof *x), *y = calloc(n, sizeof *y), *z = calloc(n, sizeof *z), best = 0;
    for (size_t i = 0; x && y && z && i < n; i++) {  // pages that were never written are all one page of zeros
        x[i] = (double)i;
        y[i] = z[i] = 1;
    }
    for (int round = 0; x && y && z && round < 5; round++) {
        double start = rbt_now();
        for (size_t i = 0; i < n; i++) y[i] = x[i] + 0.5 * z[i];
        best = fmax(best,
                    4.0 * (double)n * sizeof(double) / (rbt_now() - start));  // a line is read before it is written
        x[round] = y[n / 2];
    }
    free(x);
    free(y);
    free(z);
    return best;
}

// What an explicit step of tets reads and writes at least: batches and corners once, slots written and read, x, v and f each read
// and written, the mass, and x and v copied for a failing step
static double explicit_bytes(const rbt_model *m) {
    double corner = 0;
    for (size_t g = 0; g < m->group_count; g++)
        corner += (double)m->groups[g].count * (double)m->groups[g].type->corners;
    return (double)m->tet_count * sizeof(rbt_tet_batch) / RBT_W + corner * sizeof(uint16_t) +
           (double)m->plan.slot_count * (3 * 24 + 4) + (double)m->node_count * (6 * 24 + 8 + 6 * 24);
}

static json_t *timed(const rbt_model *m, int repeats, bool certificate) {
    json_t *list = json_array();
    for (int r = 0; r < repeats; r++) {
        rbt_stability s;
        rbt_error error = {0};
        double start = rbt_now();
        if (!rbt_stability_init(&s, m, NULL, &error)) rbt_tool_fail(&error);
        if (certificate) {
            start = rbt_now();
            rbt_stability_bound(&s, NULL, 1, NULL, NULL);
        }
        json_array_append_new(list, json_real(rbt_now() - start));
        rbt_stability_free(&s);
    }
    return list;
}

int main(int count, char **words) {
    rbt_tool_words w = rbt_tool_read(count, words, USAGE);
    rbt_sim *sim = rbt_tool_sim(&w);
    const rbt_model *m = sim->model;
    rbt_error error = {0};
    rbt_stability s;
    if (!rbt_stability_init(&s, m, NULL, &error)) rbt_tool_fail(&error);
    json_t *local = json_array();
    for (size_t e = 0; e < s.element_count; e++)  // none where all nodes are held
        if (s.rate[e] > 0) json_array_append_new(local, json_real(2 / sqrt(s.rate[e])));
    double bound = rbt_stability_bound(&s, NULL, 1, NULL, NULL);
    rbt_stability_free(&s);
    rbt_tool_print(json_pack("{s:i, s:i, s:f, s:o, s:o, s:o, s:f, s:f}", "elements", (int)m->tet_count, "nodes",
                             (int)m->node_count, "bound", bound, "local", local, "identify",
                             timed(m, w.repeats, false), "certify", timed(m, w.repeats, true), "explicit_bytes",
                             explicit_bytes(m), "memory_rate", memory_rate()));
    rbt_sim_free(sim);
    return 0;
}
