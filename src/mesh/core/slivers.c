#include "mesh/core/slivers.h"

#include "base/memory.h"
#include "math/vec3.h"
#include "mesh/core/topology.h"

#include <math.h>
#include <string.h>

// A number between 0 and 1 for each (seed, tet, purpose)
static double chance(uint64_t seed, uint64_t tet, uint64_t purpose) {
    uint64_t z = (seed * 0x9e3779b97f4a7c15u) ^ (tet * 0xd1342543de82ef95u + purpose * 0xaf251af3b0f025b5u + 1);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

// Height of corner a over the opposite face, with sign; `normal` is that face's unit normal, towards a for a good tet
static double height(const double *nodes, const int32_t *tet, int a, double normal[3]) {
    static const int FACE[4][3] = {{1, 3, 2}, {0, 2, 3}, {0, 3, 1}, {0, 1, 2}};
    const double *p[3];
    double u[3], v[3], w[3], cross[3];
    for (int k = 0; k < 3; k++) p[k] = nodes + 3 * (size_t)tet[FACE[a][k]];
    rbt_subtract(p[1], p[0], u);
    rbt_subtract(p[2], p[0], v);
    rbt_cross(u, v, cross);
    rbt_normalize(cross, normal);
    rbt_subtract(nodes + 3 * (size_t)tet[a], p[0], w);
    return rbt_dot(w, normal);
}

static int corner_of(const int32_t *tet, int32_t node) {
    int a = 0;
    while (tet[a] != node) a++;
    return a;
}

// Moves the node to `place`, unless a tet around it is left with less than `least` of its height; whether it did
static bool try_move(rbt_mesh *mesh, const rbt_rows *around, int32_t node, const double place[3], double least) {
    double *at = mesh->nodes + 3 * (size_t)node, before[3], normal[3];
    memcpy(before, at, sizeof before);
    for (size_t k = around->start[node]; k < around->start[node + 1]; k++) {
        const int32_t *tet = mesh->tets + 4 * (size_t)around->items[k];
        int a = corner_of(tet, node);
        double own = height(mesh->nodes, tet, a, normal);
        memcpy(at, place, sizeof before);
        double left = height(mesh->nodes, tet, a, normal);
        memcpy(at, before, sizeof before);
        if (!(left >= least * own)) return false;
    }
    memcpy(at, place, sizeof before);
    return true;
}

bool rbt_mesh_flatten(rbt_mesh *mesh, const rbt_slivers_def *def, rbt_error *error) {
    rbt_rows around;
    unsigned char *used = rbt_array_new(mesh->node_count, 1, "a mesh", error);
    if (!used || !rbt_elements_of_nodes(mesh->tets, mesh->tet_count, 4, mesh->node_count, &around, error)) {
        free(used);
        return false;
    }
    uint64_t seed = (uint64_t)def->seed;
    for (size_t t = 0; t < mesh->tet_count; t++) {
        const int32_t *tet = mesh->tets + 4 * t;
        if (chance(seed, t, 0) >= def->share || used[tet[0]] || used[tet[1]] || used[tet[2]] || used[tet[3]])
            continue;
        double part = pow(def->height, chance(seed, t, 1));
        int first = (int)(4 * chance(seed, t, 2));
        for (int k = 0; k < 4; k++) {
            int a = (first + k) % 4;
            double normal[3], place[3], own = height(mesh->nodes, tet, a, normal);
            for (int i = 0; i < 3; i++)
                place[i] = mesh->nodes[3 * (size_t)tet[a] + (size_t)i] - (1 - part) * own * normal[i];
            if (!try_move(mesh, &around, tet[a], place, part * (1 - 1e-9))) continue;
            for (int b = 0; b < 4; b++) used[tet[b]] = 1;
            break;
        }
    }
    rbt_rows_free(&around);
    free(used);
    return true;
}
