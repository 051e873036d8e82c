// Instruction sets side by side: every kind of kernel (base/processor.h) with each set that this processor has, in
// turns, so that a slow moment of the machine hits all of them. Prints medians of processor time: name, speed as a
// multiple of that of plain C, unit.
#include "timing.h"

#include "../test/support/grid_matrix.h"
#include "base/processor.h"
#include "base/threads.h"
#include "energy/proximal.h"
#include "sim/sim.h"
#include "solve/cholesky.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS = 31, BATCHES = 64, TETS = BATCHES * RBT_W };

// ---- What is measured

typedef enum work { ENERGY, GRADIENT, SUM, TANGENT, APPLY, HESSIAN, PROJECTED, WARPED, PROXIMAL, WORK_COUNT } work;
static const char *const NAMES[WORK_COUNT] = {"energy",          "gradient", "sum_of_forces",     "tangent_as_a_map",
                                              "product_with_it", "Hessian",  "projected_Hessian", "tangent_as_blocks",
                                              "local_step"};

static struct {
    rbt_tet_batch batches[BATCHES];
    rbt_duals duals[BATCHES];
    double x[12 * TETS], y[16 * TETS], out[16 * TETS], energy[TETS], blocks[RBT_TET_BLOCK_DOUBLES * TETS];
    double store[96 * TETS];
    uint16_t place[4 * TETS];
} d;

// Tets of a chunk, as large as a plan has them: all of it stays in the cache.
static void fill(void) {
    for (int b = 0; b < BATCHES; b++)
        for (int l = 0; l < RBT_W; l++) {
            for (int i = 0; i < 9; i++) d.batches[b].B[i][l] = i % 4 == 0;
            for (int a = 0; a < 4; a++) d.batches[b].node[a][l] = 4 * (RBT_W * b + l) + a;
            d.batches[b].volume[l] = 1;
            d.batches[b].k.mu[l] = 2;
            d.batches[b].k.lambda[l] = 3;
            d.duals[b].weight[l] = 4;
        }
    for (size_t i = 0; i < 12 * TETS; i++) {
        size_t corner = i / 3 % 4;
        d.x[i] = (corner > 0 && corner - 1 == i % 3) + 0.1 * sin(1.7 * (double)i);
        d.y[4 * (i / 3) + i % 3] = d.x[i];
        d.place[i / 3] = (uint16_t)(i / 3);
    }
}

static bool run(const rbt_tet_kernels *k, rbt_proximal proximal, work what) {
    switch (what) {
    case ENERGY: k->energy(d.batches, TETS, d.x, d.energy); return true;
    case GRADIENT: k->gradient(d.batches, TETS, d.x, d.energy, d.out); return true;
    case SUM: k->sum(d.batches, TETS, d.place, d.y, d.energy, d.out); return true;
    case TANGENT:
        if (k->tangent_size) k->tangent(d.batches, TETS, d.x, d.store);
        return k->tangent_size > 0;
    case APPLY: k->apply(d.batches, TETS, d.store, d.place, d.y, d.out); return true;
    case HESSIAN: k->stiffness[RBT_HESSIAN](d.batches, TETS, d.x, d.blocks); return true;
    case PROJECTED: k->stiffness[RBT_PROJECTED](d.batches, TETS, d.x, d.blocks); return true;
    case WARPED: k->stiffness[RBT_TANGENT](d.batches, TETS, d.x, d.blocks); return true;
    default:
        for (int b = 0; b < BATCHES; b++) memset(d.duals[b].u, 0, sizeof d.duals[b].u + sizeof d.duals[b].shift);
        proximal(d.batches, d.duals, TETS, d.x, d.out);
        return true;
    }
}

static void report(const char *material, const char *name, double seconds[RBT_INSTRUCTION_SETS][TURNS]) {
    double plain = 0;
    for (int set = 0; set < RBT_INSTRUCTION_SETS; set++) {
        if (!rbt_processor_has((rbt_instruction_set)set)) continue;
        qsort(seconds[set], TURNS, sizeof(double), compare);
        double middle = seconds[set][TURNS / 2];
        if (set == RBT_PLAIN) plain = middle;
        else
            printf("%s_%s_%s %.3f x_plain\n", name, material, rbt_instruction_set_name((rbt_instruction_set)set),
                   plain / middle);
    }
    fflush(stdout);
}

static void bench_tets(const rbt_material *material) {
    for (work what = 0; what < WORK_COUNT; what++) {
        static double seconds[RBT_INSTRUCTION_SETS][TURNS];
        bool done = true;
        for (int t = 0; t < TURNS && done; t++)
            for (int set = 0; set < RBT_INSTRUCTION_SETS; set++) {
                const rbt_tet_kernels *k = rbt_tet_kernels_with(material, (rbt_instruction_set)set);
                if (!k) continue;
                rbt_proximal proximal = rbt_proximal_with(material, (rbt_instruction_set)set);
                run(k, proximal, what);
                double start = now();
                for (int again = 0; again < 8; again++) done = run(k, proximal, what);
                seconds[set][t] = now() - start;
            }
        if (done) report(material->name, NAMES[what], seconds);
    }
}

// ---- Factors: a solid of 21 x 21 x 21 nodes with blocks of three

static void bench_factors(bool single) {
    rbt_block_matrix A = grid_matrix_new(21, 21, 21, 0.05);
    size_t n = A.row_count;
    rbt_cholesky *factor[RBT_INSTRUCTION_SETS] = {0};
    int32_t *rows = malloc(n * sizeof *rows);
    double *b = malloc(3 * n * sizeof *b), *x = malloc(3 * n * sizeof *x);
    static double seconds[2][RBT_INSTRUCTION_SETS][TURNS];
    for (size_t i = 0; i < 3 * n; i++) b[i] = sin((double)i), rows[i / 3] = (int32_t)(i / 3);
    for (int set = 0; set < RBT_INSTRUCTION_SETS; set++) {
        if (!rbt_processor_has((rbt_instruction_set)set)) continue;
        setenv("RUBATO_ISA", rbt_instruction_set_name((rbt_instruction_set)set), 1);
        factor[set] = rbt_cholesky_analyse_rows(&A, rows, n, single ? RBT_SINGLE : RBT_DOUBLE, NULL);
    }
    unsetenv("RUBATO_ISA");
    for (int t = 0; t < TURNS; t++)
        for (int set = 0; set < RBT_INSTRUCTION_SETS; set++) {
            size_t row;
            if (!factor[set]) continue;
            double start = now();
            if (rbt_cholesky_factor(factor[set], &A, &row) != RBT_FACTORED) exit(1);
            double middle = now();
            for (int again = 0; again < 4; again++) rbt_cholesky_solve_rows(factor[set], b, x);
            seconds[0][set][t] = middle - start;
            seconds[1][set][t] = now() - middle;
        }
    report(single ? "single" : "double", "factor", seconds[0]);
    report(single ? "single" : "double", "solve", seconds[1]);
    for (int set = 0; set < RBT_INSTRUCTION_SETS; set++) rbt_cholesky_free(factor[set]);
    grid_matrix_free(&A);
    free(rows), free(b), free(x);
}

int main(void) {
    rbt_threads_set(1);
    fill();
    for (int i = 0; rbt_material_at(i); i++) bench_tets(rbt_material_at(i));
    bench_factors(false);
    bench_factors(true);
    return 0;
}
