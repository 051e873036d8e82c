// A model filled by hand for the tests of the out room: body 0 "block" is a grid of n x n x n cubes of six tets each
// in two regions; body 1 "tet 1" is one tet that carries a embedded surface of two triangles (if asked for).
#ifndef RBT_TEST_OUT_MODEL_H
#define RBT_TEST_OUT_MODEL_H

#include "base/memory.h"
#include "mesh/core/topology.h"
#include "model/model.h"

#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct out_model {
    rbt_model model;
    rbt_body bodies[2];
    rbt_region regions[2];
    rbt_group group;
    int32_t embedded_tet[4], embedded_triangles[6];
    double embedded_weights[16];
} out_model;

static inline void out_model_grid(int n, double *X, int32_t *tets, int32_t *region) {
    static const int paths[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    size_t m = (size_t)n + 1, t = 0;
    for (size_t i = 0; i < m * m * m; i++) {
        X[3 * i] = (double)(i % m) / n;
        X[3 * i + 1] = (double)(i / m % m) / n;
        X[3 * i + 2] = (double)(i / m / m) / n;
    }
    for (size_t k = 0; k < (size_t)n; k++)
        for (size_t j = 0; j < (size_t)n; j++)
            for (size_t i = 0; i < (size_t)n; i++)
                for (int p = 0; p < 6; p++, t++) {
                    size_t at[3] = {i, j, k};
                    for (int c = 0; c < 4; c++) {
                        tets[4 * t + (size_t)c] = (int32_t)(at[0] + m * (at[1] + m * at[2]));
                        if (c < 3) at[paths[p][c]]++;
                    }
                    if (p >= 3) {  // odd permutations turn the other way round
                        int32_t swap = tets[4 * t + 1];
                        tets[4 * t + 1] = tets[4 * t + 2];
                        tets[4 * t + 2] = swap;
                    }
                    region[t] = 2 * i >= (size_t)n;
                }
}

static inline void out_model_free(out_model *o) {
    free((void *)o->model.X);
    free((void *)o->model.tets);
    free((void *)o->model.tet_region);
    free((void *)o->model.triangles);
    free((void *)o->model.mass);
    free((void *)o->model.role);
    rbt_arena_free(o->model.arena);
    free(o);
}

static inline void out_model_embedded(out_model *o, int32_t tet) {
    static const int32_t triangles[6] = {0, 1, 2, 0, 2, 3};
    for (int v = 0; v < 4; v++) {
        o->embedded_tet[v] = tet;
        for (int a = 0; a < 4; a++) o->embedded_weights[4 * v + a] = a == v ? 0.625 : 0.125;
    }
    memcpy(o->embedded_triangles, triangles, sizeof triangles);
    o->bodies[1].embedded =
        (rbt_embedded_surface){{4, o->embedded_tet, o->embedded_weights, 0, 0}, 2, o->embedded_triangles};
}

// NULL on failure. body_count 1 or 2.
static inline out_model *out_model_new(int n, size_t body_count, bool embedded) {
    static const double corner[12] = {3, 0, 0, 4, 0, 0, 3, 1, 0, 3, 0, 1};
    out_model *o = calloc(1, sizeof *o);
    if (!o) return NULL;
    size_t m = (size_t)n + 1, nodes = m * m * m, tets = 6 * (size_t)(n * n * n), extra = body_count - 1;
    double *X = calloc(3 * (nodes + 4), sizeof *X), *mass = calloc(nodes + 4, sizeof *mass);
    int32_t *tet = calloc(4 * (tets + 1), sizeof *tet), *region = calloc(tets + 1, sizeof *region), *triangles = NULL;
    double *lame = calloc(tets + 1, sizeof *lame);
    int32_t *members = calloc(tets + 1, sizeof *members);
    size_t triangle_count = 0;
    out_model_grid(n, X, tet, region);
    memcpy(X + 3 * nodes, corner, sizeof corner);
    for (int c = 0; c < 4; c++) tet[4 * tets + (size_t)c] = (int32_t)nodes + c;
    for (size_t i = 0; i < nodes + 4; i++) mass[i] = 0.25 + (double)i;
    for (size_t t = 0; t <= tets; t++) {
        members[t] = (int32_t)t;
        lame[t] = 1000;
    }
    o->model = (rbt_model){.arena = rbt_arena_new(),
                           .body_count = body_count,
                           .bodies = o->bodies,
                           .region_count = 2,
                           .regions = o->regions,
                           .node_count = nodes + 4 * extra,
                           .tet_count = tets + extra,
                           .X = X,
                           .tets = tet,
                           .tet_region = region,
                           .mass = mass,
                           .role = calloc(nodes + 4, 1),
                           .group_count = 1,
                           .groups = &o->group,
                           .step = 1.0 / 60,
                           .frame_interval = 1.0 / 30,
                           .steps_per_frame = 2,
                           .frame_count = 100};
    bool good = rbt_boundary(tet, tets + extra, o->model.node_count, &triangles, NULL, &triangle_count, NULL) &&
                rbt_tet_group_build(&o->group, o->model.arena, rbt_material_at(0), X, tet, members, tets + extra,
                                    lame, lame, NULL);
    free(lame);
    free(members);
    o->model.triangles = triangles;
    o->model.triangle_count = triangle_count;
    size_t split = triangle_count - 4 * extra;
    o->bodies[0] = (rbt_body){.name = "block", .node_end = nodes, .tet_end = tets, .triangle_end = split};
    o->bodies[1] = (rbt_body){.name = "tet 1",
                              .node_begin = nodes,
                              .node_end = nodes + 4,
                              .tet_begin = tets,
                              .tet_end = tets + 1,
                              .triangle_begin = split,
                              .triangle_end = triangle_count};
    o->regions[0] = (rbt_region){"soft", 0, {0, 1e5, 0.3, 1000}};
    o->regions[1] = (rbt_region){"hard", 0, {0, 1e6, 0.3, 1000}};
    if (embedded && extra) out_model_embedded(o, (int32_t)tets);
    if (good) return o;
    out_model_free(o);
    return NULL;
}

// A smooth motion with numbers that have no short form. The arrays are (3 x nodes), allocated here.
static inline rbt_state out_state_new(const rbt_model *model, int64_t frame) {
    rbt_state s = {.frame = frame, .t = (double)frame * model->frame_interval, .node_count = model->node_count};
    s.x = calloc(3 * s.node_count + 1, sizeof *s.x);
    s.v = calloc(3 * s.node_count + 1, sizeof *s.v);
    for (size_t i = 0; i < 3 * s.node_count; i++) {
        s.x[i] = model->X[i] + 0.1 * sin(s.t + 0.7 * (double)i);
        s.v[i] = 0.1 * cos(s.t + 0.7 * (double)i);
    }
    return s;
}

static inline void out_state_free(rbt_state *s) {
    free(s->x);
    free(s->v);
    free(s->memory);
    *s = (rbt_state){0};
}

static inline rbt_energies out_energies(int64_t frame) {
    double f = (double)frame;
    return (rbt_energies){1 / (f + 3), 2 + f, -f / 7, 0, 0.1, {1e-300, -2, 3}, {0.1, 0.2, -0.3}, 0, 0};
}

// A new folder under TMPDIR; remove it with out_folder_remove, which frees the name.
static inline char *out_folder_new(void) {
    const char *base = getenv("TMPDIR");
    char *name = NULL;
    if (asprintf(&name, "%s/rubato_out_XXXXXX", base && base[0] ? base : "/tmp") < 0) return NULL;
    return mkdtemp(name);
}

static inline int out_remove_one(const char *path, const struct stat *info, int kind, struct FTW *place) {
    (void)info, (void)kind, (void)place;
    return remove(path);
}

static inline void out_folder_remove(char *folder) {
    nftw(folder, out_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(folder);
}

#endif
