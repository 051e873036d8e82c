// What rubato reads from a mesh file, as plain text for scripts/interop, through the public library alone:
//   mesh_text FILE
// Nodes with 17 digits, tets, triangles and edges as rows of numbers counted from 0, and named sets.
#include "rubato/mesh.h"

#include <stdio.h>

static void print_rows(const char *name, const int32_t *items, size_t count, size_t corners) {
    printf("%s %zu\n", name, count);
    for (size_t i = 0; i < count * corners; i++) printf("%d%c", items[i], (i + 1) % corners ? ' ' : '\n');
}

int main(int count, char **words) {
    static const char *const kinds[] = {"nodes", "tets", "triangles"};
    rbt_error error = {0};
    char text[2048];
    if (count != 2) {
        fprintf(stderr, "usage: mesh_text FILE\n");
        return 2;
    }
    rbt_mesh *mesh = rbt_mesh_read(words[1], &error);
    if (!mesh) {
        fprintf(stderr, "%s\n", rbt_error_text(&error, text, sizeof text));
        return 1;
    }
    printf("format %s\nnodes %zu\n", mesh->format, mesh->node_count);
    for (size_t i = 0; i < 3 * mesh->node_count; i++) printf("%.17g%c", mesh->nodes[i], (i + 1) % 3 ? ' ' : '\n');
    print_rows("tets", mesh->tets, mesh->tet_count, 4);
    print_rows("triangles", mesh->triangles, mesh->triangle_count, 3);
    print_rows("edges", mesh->edges, mesh->edge_count, 2);
    printf("sets %zu\n", mesh->set_count);
    for (size_t i = 0; i < mesh->set_count; i++)
        printf("%s %zu %s\n", kinds[mesh->sets[i].kind], mesh->sets[i].count, mesh->sets[i].name);
    rbt_mesh_free(mesh);
    return 0;
}
