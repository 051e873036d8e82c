// What is asked of large meshes before a run: their surface, a diagnosis, the steps of their elements, and a surface
// embedded in them. Prints one figure a line: name, value, unit and target. The targets are for a user who waits, on
// a machine that is not slow.
#include "timing.h"

#include "base/threads.h"
#include "mesh/core/stable_step.h"
#include "mesh/core/topology.h"
#include "mesh/generate/generate.h"
#include "mesh/query/embed.h"
#include "rubato/mesh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { REPEATS = 5, VERTICES = 40000 };

static void *need(void *memory) {
    if (!memory) {
        fprintf(stderr, "bench_mesh: no memory\n");
        exit(1);
    }
    return memory;
}

static rbt_mesh *box(double cells) {
    rbt_box_shape shape = {.size = {1, 1, 1}, .cells = {(int)cells, (int)cells, (int)cells}};
    return need(rbt_shape_generate("cuboid", &shape, NULL));
}

// ---- The work

typedef struct work {
    rbt_mesh *mesh;
    double *numbers;  // steps of tets, or points
} work;

static void surface(const work *w) {
    int32_t *triangles;
    size_t count;
    if (!rbt_boundary(w->mesh->tets, w->mesh->tet_count, w->mesh->node_count, &triangles, NULL, &count, NULL))
        exit(1);
    free(triangles);
}

static void diagnose(const work *w) {
    rbt_mesh_report report;
    if (!rbt_mesh_diagnose(w->mesh, &report, NULL)) exit(1);
}

static void steps(const work *w) {
    rbt_stable_steps(w->mesh->nodes, w->mesh->tets, w->mesh->tet_count, 1e6, 0.4, 1000, w->numbers);
}

static void embed(const work *w) {
    rbt_embedding e;
    if (!rbt_embed(w->mesh->nodes, w->mesh->node_count, w->mesh->tets, w->mesh->tet_count, w->numbers, VERTICES, &e,
                   NULL))
        exit(1);
    rbt_embedding_free(&e);
}

static void measure(const char *name, void (*run)(const work *), const work *w, const char *target) {
    double seconds[REPEATS];
    for (int r = 0; r < REPEATS; r++) {
        double start = now();
        run(w);
        seconds[r] = now() - start;
    }
    qsort(seconds, REPEATS, sizeof *seconds, compare);
    printf("%s_(%zu_tets) %.4g s %s\n", name, w->mesh->tet_count, seconds[REPEATS / 2], target);
    fflush(stdout);
}

int main(void) {
    rbt_threads_set(1);
    work large = {box(40), NULL}, small = {box(20), need(calloc(3 * VERTICES, sizeof(double)))};
    large.numbers = need(calloc(large.mesh->tet_count, sizeof(double)));
    // Weyl's sequences: even over a box a little larger than the body
    static const double slope[3] = {0.8191725133961645, 0.6710436067037893, 0.5497004779019703};
    for (size_t i = 0; i < 3 * (size_t)VERTICES; i++)
        small.numbers[i] = 1.2 * fmod((double)(i / 3) * slope[i % 3], 1) - 0.6;
    measure("surface", surface, &large, "<=0.2");
    measure("diagnosis", diagnose, &large, "<=0.2");
    measure("element_steps", steps, &large, "<=0.2");
    measure("embedding_of_40000_vertices", embed, &small, "<=0.2");
    rbt_mesh_free(large.mesh);
    rbt_mesh_free(small.mesh);
    free(large.numbers);
    free(small.numbers);
    return 0;
}
