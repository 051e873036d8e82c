// A surface carried along by tets: every vertex is a fixed affine combination of one tet's nodes,
//   y_i = sum_a w_ia x_{t(i), a},   sum_a w_ia = 1,
// with the tet that contains it at rest or, outside of all, the nearest one (weights then leave [0, 1]).
#ifndef RBT_MESH_QUERY_EMBED_H
#define RBT_MESH_QUERY_EMBED_H

#include "rubato/mesh.h"

typedef struct rbt_embedding {
    size_t vertex_count;
    int32_t *tet;          // (vertex_count)
    double *weights;       // (vertex_count x 4)
    size_t outside_count;  // vertices in no tet
    double farthest;       // how far the worst of them is from its tet [m]
} rbt_embedding;

bool rbt_embed(const double *X, size_t node_count, const int32_t *tets, size_t tet_count, const double *vertices,
               size_t vertex_count, rbt_embedding *embedding, rbt_error *error);
void rbt_embedding_free(rbt_embedding *embedding);

// positions (vertex_count x 3) from nodes x (node_count x 3)
void rbt_embedding_apply(const rbt_embedding *embedding, const int32_t *tets, const double *x, double *positions);

#endif
