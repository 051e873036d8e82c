// A box of nx x ny x nz cells, each cut into six tets along its diagonal (Kuhn), for tests.
//
// Node (i, j, k) has the number i + (nx + 1) (j + (ny + 1) k); all tets have positive volume and fit together.
#ifndef TEST_SUPPORT_CUBE_H
#define TEST_SUPPORT_CUBE_H

#include "mesh/core/build.h"

#include <stddef.h>

static inline size_t cube_node(int nx, int ny, int i, int j, int k) {
    return (size_t)i + (size_t)(nx + 1) * ((size_t)j + (size_t)(ny + 1) * (size_t)k);
}

static inline rbt_mesh *cube_new(int nx, int ny, int nz, double width, double depth, double height) {
    // The six ways from (0, 0, 0) to (1, 1, 1) along the axes; odd orders are turned round to keep the volume positive.
    static const int order[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}};
    rbt_mesh *mesh = rbt_mesh_new(NULL);
    if (!mesh) return NULL;
    size_t nodes = (size_t)(nx + 1) * (size_t)(ny + 1) * (size_t)(nz + 1),
           tets = 6 * (size_t)nx * (size_t)ny * (size_t)nz;
    if (!rbt_mesh_allocate(mesh, nodes, tets, 0, 0, NULL)) {
        rbt_mesh_free(mesh);
        return NULL;
    }
    for (int k = 0; k <= nz; k++)
        for (int j = 0; j <= ny; j++)
            for (int i = 0; i <= nx; i++) {
                double *x = mesh->nodes + 3 * cube_node(nx, ny, i, j, k);
                x[0] = width * i / nx;
                x[1] = depth * j / ny;
                x[2] = height * k / nz;
            }
    int32_t *tet = mesh->tets;
    for (int k = 0; k < nz; k++)
        for (int j = 0; j < ny; j++)
            for (int i = 0; i < nx; i++)
                for (int o = 0; o < 6; o++, tet += 4) {
                    int at[3] = {i, j, k};
                    for (int c = 0; c < 4; c++) {
                        if (c) at[order[o][c - 1]]++;
                        tet[c] = (int32_t)cube_node(nx, ny, at[0], at[1], at[2]);
                    }
                    if (o >= 3) {
                        int32_t spare = tet[2];
                        tet[2] = tet[3];
                        tet[3] = spare;
                    }
                }
    return mesh;
}

#endif
