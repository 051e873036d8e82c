// The yardstick of solver times: one supernodal factorisation by CHOLMOD, AMD ordering, of the full projected Hessian
// of the first step of a scene, driven nodes eliminated. Prints its seconds, --repeats times, as one JSON object;
// --threads is BLAS's number.
//
// CHOLMOD opens OpenMP teams of its own and BLAS's threads spin while they wait, so that in a process with other
// threads the figure can come out several times too slow. It is therefore measured in this process, which does
// nothing else, and the caller tries OMP_THREAD_LIMIT=1 in the environment.
#include "tool.h"

#include "step/implicit/objective.h"

#include <cblas.h>
#include <cholmod.h>
#include <stdio.h>
#include <stdlib.h>

static const char USAGE[] = "unit SCENE [--set path=value]… [--threads N] [--repeats N]";

static void *must(void *pointer) {
    if (pointer) return pointer;
    fprintf(stderr, "unit: no memory\n");
    exit(1);
}

// The lower half of H without constrained nodes
static cholmod_sparse *lower_half(const rbt_objective *o, cholmod_common *common) {
    const rbt_model *m = o->model;
    const rbt_block_matrix *H = &o->H;
    int64_t *number = must(calloc(m->node_count, sizeof *number)), free_nodes = 0;
    for (size_t n = 0; n < m->node_count; n++) number[n] = o->constrained[n] ? -1 : free_nodes++;
    size_t rows = 3 * (size_t)free_nodes;
    cholmod_triplet *t =
        must(cholmod_l_allocate_triplet(rows, rows, 9 * H->start[m->node_count], -1, CHOLMOD_REAL, common));
    for (size_t n = 0; n < m->node_count; n++)
        for (size_t b = H->start[n]; number[n] >= 0 && b < H->start[n + 1]; b++) {
            int64_t other = number[H->column[b]];
            for (int i = 0; other >= 0 && i < 9; i++) {
                int64_t row = 3 * number[n] + i / 3, column = 3 * other + i % 3;
                if (row < column) continue;
                ((int64_t *)t->i)[t->nnz] = row;
                ((int64_t *)t->j)[t->nnz] = column;
                ((double *)t->x)[t->nnz++] = H->value[9 * b + (size_t)i];
            }
        }
    cholmod_sparse *A = must(cholmod_l_triplet_to_sparse(t, 0, common));
    cholmod_l_free_triplet(&t, common);
    free(number);
    return A;
}

int main(int count, char **words) {
    rbt_tool_words w = rbt_tool_read(count, words, USAGE);
    rbt_error error = {0};
    rbt_sim *sim = rbt_tool_sim(&w);
    rbt_objective o;
    if (!rbt_objective_init(&o, sim->model, &error)) rbt_tool_fail(&error);
    o.tau = sim->model->step;
    rbt_constrained_nodes(sim->model, 0, o.constrained);
    rbt_objective_hessian(&o, sim->state.x);

    cholmod_common common;
    cholmod_l_start(&common);
    common.supernodal = CHOLMOD_SUPERNODAL;
    common.nmethods = 1;
    common.method[0].ordering = CHOLMOD_AMD;
    openblas_set_num_threads(w.threads);
    cholmod_sparse *A = lower_half(&o, &common);
    cholmod_factor *L = must(cholmod_l_analyze(A, &common));
    json_t *seconds = json_array();
    for (int r = 0; r <= w.repeats; r++) {
        double start = rbt_now();
        if (!cholmod_l_factorize(A, L, &common) || common.status != CHOLMOD_OK) {
            fprintf(stderr, "unit: CHOLMOD cannot factor the matrix (status %d)\n", common.status);
            return 1;
        }
        if (r) json_array_append_new(seconds, json_real(rbt_now() - start));  // the first one warms up
    }
    rbt_tool_print(json_pack("{s:I, s:f, s:f, s:o}", "rows", (json_int_t)A->nrow, "fill", common.lnz, "flops",
                             common.fl, "seconds", seconds));
    cholmod_l_free_factor(&L, &common);
    cholmod_l_free_sparse(&A, &common);
    cholmod_l_finish(&common);
    rbt_objective_free(&o);
    rbt_sim_free(sim);
    return 0;
}
