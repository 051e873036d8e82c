// Where explicit steps of a scene are stable, and what finding that out costs: prints as one JSON object the body's
// bound and the elements' local ones, the seconds of finding all local bounds and of one certificate (--repeats times
// each), and for the explicit step the bytes that it must move and the rate at which this core moves memory, and the
// rate at which it multiplies and adds. --steps N: after so many steps, which may have made cuts.
#include "tool.h"

#include "base/clock.h"
#include "step/explicit/explicit.h"
#include "step/explicit/stability.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char USAGE[] = "bounds SCENE [--set path=value]… [--threads N] [--repeats N] [--steps N]";

// Bytes per second of y = x + s z over arrays far larger than any cache, read and written, the best of many
static double memory_rate(void) {
    size_t n = 8u << 20;
    double *x = calloc(n, sizeof *x), *y = calloc(n, sizeof *y), *z = calloc(n, sizeof *z), best = 0;
    for (size_t i = 0; x && y && z && i < n; i++) {  // pages that were never written are all one page of zeros
        x[i] = (double)i;
        y[i] = z[i] = 1;
    }
    for (int round = 0; x && y && z && round < 25; round++) {
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

// Numbers multiplied and added per second in one register after the other, with the widest ones that the kernels use:
// the best of many
static double arithmetic_rate(void) {
    enum { CHAINS = 12, TIMES = 200000 };
    typedef double vector __attribute__((vector_size(32)));
    double best = 0;
    for (int round = 0; round < 100; round++) {
        double start = rbt_now();
#if defined(__x86_64__)
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
            for (int i = 0; i < TIMES; i++)
                __asm__ volatile("vfmadd231pd %%ymm0, %%ymm0, %%ymm1\n\tvfmadd231pd %%ymm0, %%ymm0, %%ymm2\n\t"
                                 "vfmadd231pd %%ymm0, %%ymm0, %%ymm3\n\tvfmadd231pd %%ymm0, %%ymm0, %%ymm4\n\t"
                                 "vfmadd231pd %%ymm0, %%ymm0, %%ymm5\n\tvfmadd231pd %%ymm0, %%ymm0, %%ymm6\n\t"
                                 "vfmadd231pd %%ymm0, %%ymm0, %%ymm7\n\tvfmadd231pd %%ymm0, %%ymm0, %%ymm8\n\t"
                                 "vfmadd231pd %%ymm0, %%ymm0, %%ymm9\n\tvfmadd231pd %%ymm0, %%ymm0, %%ymm10\n\t"
                                 "vfmadd231pd %%ymm0, %%ymm0, %%ymm11\n\tvfmadd231pd %%ymm0, %%ymm0, %%ymm12"
                                 :
                                 :
                                 : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
                                   "xmm10", "xmm11", "xmm12");
        else return NAN;
#else
        return NAN;
#endif
        best = fmax(best, (double)TIMES * CHAINS * (double)(sizeof(vector) / sizeof(double)) / (rbt_now() - start));
    }
    return best;
}

// Multiplications (with or without a sum) of the force on one tet in tet_force_kernel.h: F 27, cof F and its
// determinant 21, forces 27, and for stable neo-Hookean P 18 and factors 4; for corotational C 18, I4 and b 8, two
// steps of Halley 16, P 36, factors 14
static const double MULTIPLIED_NEO_HOOKEAN = 97, MULTIPLIED_COROTATIONAL = 167;

// What an explicit step of tets reads and writes at least: batches and corners once, slots written and read, x, v and
// f each read and written, the mass, and x and v copied for a failing step
static double explicit_bytes(
    const rbt_model *m) {  // the corners' node numbers in the batches are not read, their places are
    double corner = 0;
    for (size_t g = 0; g < m->group_count; g++)
        corner += (double)m->groups[g].count * (double)m->groups[g].type->corners;
    double batch = sizeof(rbt_tet_batch) - sizeof(((rbt_tet_batch *)0)->node);
    return (double)m->tet_count * batch / RBT_W + corner * sizeof(uint16_t) +
           (double)m->plan.slot_count * (3 * 24 + 4) + (double)m->node_count * (6 * 24 + 8 + 6 * 24);
}

static json_t *timed(const rbt_model *m, const rbt_tool_words *w, bool certificate) {
    json_t *list = json_array();
    for (int r = 0; r < w->repeats; r++) {
        rbt_stability s;
        rbt_error error = {0};
        double start = rbt_tool_processor_seconds(w);
        if (!rbt_stability_init(&s, m, NULL, &error)) rbt_tool_fail(&error);
        if (certificate) {
            start = rbt_tool_processor_seconds(w);
            rbt_stability_bound(&s, NULL, 1, NULL, NULL);
        }
        json_array_append_new(list, json_real(rbt_tool_processor_seconds(w) - start));
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
    rbt_step_report report = {0};
    for (int k = 0; k < w.steps; k++)
        if (rbt_sim_take_step(sim, &report) != RBT_DONE) return 1;
    m = sim->model;
    if (!rbt_stability_init(&s, m, NULL, &error)) rbt_tool_fail(&error);
    json_t *local = json_array();
    for (size_t e = 0; e < s.element_count; e++)  // none where all nodes are constrained
        if (s.rate[e] > 0) json_array_append_new(local, json_real(2 / sqrt(s.rate[e])));
    double bound = rbt_stability_bound(&s, NULL, 1, NULL, NULL);
    rbt_stability_free(&s);
    rbt_tool_print(json_pack("{s:i, s:i, s:f, s:o, s:o, s:o, s:f, s:f, s:f, s:f, s:f}", "elements", (int)m->tet_count,
                             "nodes", (int)m->node_count, "bound", bound, "local", local, "identify",
                             timed(m, &w, false), "certify", timed(m, &w, true), "explicit_bytes", explicit_bytes(m),
                             "memory_rate", memory_rate(), "arithmetic_rate", arithmetic_rate(),
                             "multiplied_corotational", MULTIPLIED_COROTATIONAL * (double)m->tet_count,
                             "multiplied_neo_hookean", MULTIPLIED_NEO_HOOKEAN * (double)m->tet_count));
    rbt_sim_free(sim);
    return 0;
}
