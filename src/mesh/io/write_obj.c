// Wavefront OBJ: the triangles of the mesh or, if it lists none, the surface of its tets. A mesh without tets keeps
// its edges too, as lines. Vertices that none of them uses are left out and the others renumbered in their order;
// a mesh of nodes alone keeps them all. Sets are not kept.
#include "mesh/core/build.h"
#include "mesh/core/topology.h"
#include "mesh/io/format.h"
#include "mesh/io/number.h"

// Number of each node among those used, from 1 as OBJ counts, or 0.
static int32_t *number_used(const rbt_mesh *mesh, const int32_t *triangles, size_t triangle_count, size_t edge_count,
                            rbt_error *error) {
    int32_t *number = rbt_array_new(mesh->node_count, sizeof *number, "the vertices of a surface", error);
    if (!number) return NULL;
    for (size_t i = 0; i < 3 * triangle_count; i++) number[triangles[i]] = 1;
    for (size_t i = 0; i < 2 * edge_count; i++) number[mesh->edges[i]] = 1;
    int32_t next = 0;
    for (size_t i = 0; i < mesh->node_count; i++)
        if (number[i] || triangle_count + edge_count == 0) number[i] = ++next;
    return number;
}

bool rbt_write_obj(const rbt_mesh *mesh, FILE *stream, bool ascii, rbt_error *error) {
    (void)ascii;  // there is only text
    int32_t *surface = NULL;
    const int32_t *triangles = mesh->triangles;
    size_t triangle_count = mesh->triangle_count, edge_count = mesh->tet_count ? 0 : mesh->edge_count;
    if (!triangle_count && mesh->tet_count) {
        if (!rbt_boundary(mesh->tets, mesh->tet_count, mesh->node_count, &surface, NULL, &triangle_count, error))
            return false;
        triangles = surface;
    }
    int32_t *number = number_used(mesh, triangles, triangle_count, edge_count, error);
    if (number) {
        for (size_t first = 0, next; first < mesh->node_count; first = next + 1) {  // runs of used nodes
            for (next = first; next < mesh->node_count && number[next];) next++;
            if (next > first) rbt_print_reals(stream, "v ", mesh->nodes + 3 * first, next - first, 3);
        }
        for (const int32_t *t = triangles; t < triangles + 3 * triangle_count; t += 3)
            fprintf(stream, "f %d %d %d\n", number[t[0]], number[t[1]], number[t[2]]);
        for (const int32_t *e = mesh->edges; e < mesh->edges + 2 * edge_count; e += 2)
            fprintf(stream, "l %d %d\n", number[e[0]], number[e[1]]);
    }
    bool good = number != NULL;
    free(surface);
    free(number);
    return good;
}
