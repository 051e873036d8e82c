// modes_against_arpack SCENE RUN FRAME: whether the modes that siere has in the checkpoint of a frame are those that
// ARPACK finds of the same matrix, to 1e-8. They belong to the start of the frame's last step: RUN has a step in each
// frame, and the checkpoint before has those positions. Eigenvalues are compared one by one, relative to themselves;
// of the vectors, which may be any of an eigenspace, how far each lies from the span of ARPACK's, in the norm of M.
#include "eigen.h"
#include "model/force.h"
#include "model/stiffness.h"
#include "out/checkpoint.h"
#include "rubato/scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double BOUND = 1e-8;

typedef struct head {  // of siere's memory
    uint64_t carried, wanted, constrained;
} head;

static void fail(const char *what, const rbt_error *error) {
    fprintf(stderr, "modes_against_arpack: %s: %s\n", what, error->message);
    exit(2);
}

static rbt_state read_state(const char *folder, long frame, const rbt_model *m) {
    rbt_error error = {0};
    rbt_state state = {0};
    if (!rbt_checkpoint_newest(folder, frame, m, RBT_SAME_NODES, &state, &error)) fail(folder, &error);
    if (state.frame != frame) fail("there is no checkpoint of that frame", &error);
    return state;
}

static double product(size_t n, const double *mass, const double *a, const double *b) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * mass[i / 3] * b[i];
    return sum;
}

int main(int count, char **words) {
    rbt_error error = {0};
    if (count != 4) return 2;
    long frame = strtol(words[3], NULL, 10);
    rbt_scene_file *file = rbt_scene_read(words[1], NULL, 0, &error);
    rbt_model *m = file ? rbt_model_compile(rbt_scene_of(file), &error) : NULL;
    if (!m) fail(words[1], &error);
    rbt_state before = read_state(words[2], frame - 1, m), after = read_state(words[2], frame, m);
    const head *memory = after.memory;
    size_t n = 3 * m->node_count;
    if (after.memory_size < sizeof *memory || !memory->wanted || memory->wanted > memory->carried ||
        after.memory_size < sizeof *memory + memory->carried * n * sizeof(double))
        fail("the checkpoint has no modes", &error);
    const double *U = (const double *)(memory + 1);
    size_t wanted = (size_t)memory->wanted;

    unsigned char *constrained = calloc(m->node_count, 1), *keep = calloc(m->node_count, 1);
    rbt_stiffness stiffness;
    if (!rbt_stiffness_build(&stiffness, m, &error)) fail("stiffness", &error);
    rbt_stiffness_assemble(&stiffness, m, RBT_TANGENT, before.x);
    rbt_constrained_nodes(m, before.t, constrained);
    for (size_t i = 0; i < m->node_count; i++) keep[i] = !constrained[i];
    rbt_eigen_def def = rbt_eigen_def_default();
    def.count = wanted;
    def.shift = -1;
    double *lambda = calloc(wanted, sizeof *lambda), *residual = calloc(wanted, sizeof *residual);
    double *V = calloc(wanted * n, sizeof *V), *Ku = calloc(n, sizeof *Ku), *rest = calloc(n, sizeof *rest);
    rbt_eigen *eigen = rbt_eigen_new(m->node_count, keep, wanted, &error);
    if (!eigen || !rbt_eigen_solve(eigen, &def, &stiffness.K, m->mass, lambda, V, residual, &error))
        fail("ARPACK", &error);

    double of_values = 0, of_vectors = 0;
    for (size_t l = 0; l < wanted; l++) {
        const double *u = U + l * n;
        double own = 0, square;
        rbt_block_matrix_product(&stiffness.K, u, Ku);
        for (size_t i = 0; i < n; i++) own += keep[i / 3] ? u[i] * Ku[i] : 0;
        of_values = fmax(of_values, fabs(own - lambda[l]) / fabs(lambda[l]));
        for (size_t i = 0; i < n; i++) rest[i] = u[i];
        for (size_t k = 0; k < wanted; k++) {
            double share = product(n, m->mass, V + k * n, u);
            for (size_t i = 0; i < n; i++) rest[i] -= share * V[k * n + i];
        }
        square = product(n, m->mass, rest, rest) / product(n, m->mass, u, u);
        of_vectors = fmax(of_vectors, sqrt(square));
        printf("mode %zu: %.12g, ARPACK %.12g, off its span by %.1e\n", l, own, lambda[l], sqrt(square));
    }
    bool good = of_values <= BOUND && of_vectors <= BOUND;
    printf("frame %ld, %zu modes: eigenvalues differ by %.1e at most, vectors by %.1e: %s\n", frame, wanted,
           of_values, of_vectors, good ? "equal" : "NOT equal");
    rbt_eigen_free(eigen);
    rbt_stiffness_free(&stiffness);
    rbt_state_clear(&before);
    rbt_state_clear(&after);
    rbt_model_free(m);
    rbt_scene_free(file);
    free(constrained), free(keep), free(lambda), free(residual), free(V), free(Ku), free(rest);
    return good ? 0 : 1;
}
