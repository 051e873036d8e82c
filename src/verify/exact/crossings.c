#include "verify/exact/crossings.h"

#include "base/memory.h"
#include "mesh/core/topology.h"
#include "verify/exact/intersect.h"

#include <string.h>

enum { KEEP = 100000 };

static void add(rbt_surface_crossing *c, const rbt_intersection *i, int32_t a, int32_t b) {
    if (!c->count++) {
        memcpy(c->place, i->place, sizeof c->place);
        c->parts[0] = a < b ? a : b;
        c->parts[1] = a < b ? b : a;
    }
}

static bool look(const rbt_mesh *mesh, const int32_t *triangles, size_t count, const int32_t *part,
                 rbt_crossings *crossings, rbt_error *error) {
    rbt_intersect_mesh surface = {0};
    rbt_intersections found = {0};
    if (!rbt_intersect_mesh_build(&surface, triangles, count, NULL, 0, mesh->node_count, error)) return false;
    bool good = rbt_intersect_state(&surface, mesh->nodes, KEEP, &found, error);
    for (size_t i = 0; good && i < found.kept; i++) {
        const rbt_intersection *item = &found.kept_items[i];
        int32_t a = part[item->nodes[0]], b = part[item->nodes[item->counts[0]]];
        if (!item->touching) add(a == b ? &crossings->within : &crossings->between, item, a, b);
    }
    crossings->more = good && found.count > found.kept;
    if (good) rbt_intersections_free(&found);
    rbt_intersect_mesh_free(&surface);
    return good;
}

bool rbt_mesh_crossings(const rbt_mesh *mesh, rbt_crossings *crossings, rbt_error *error) {
    int32_t *hull = NULL;
    size_t count = mesh->triangle_count, parts;
    *crossings = (rbt_crossings){0};
    if (mesh->tet_count && !rbt_boundary(mesh->tets, mesh->tet_count, mesh->node_count, &hull, NULL, &count, error))
        return false;
    const int32_t *triangles = hull ? hull : mesh->triangles;
    int32_t *part = rbt_array_new(mesh->node_count, sizeof *part, "parts of a mesh", error);
    bool good =
        part && rbt_components(mesh->tet_count ? mesh->tets : triangles, mesh->tet_count ? mesh->tet_count : count,
                               mesh->tet_count ? 4 : 3, mesh->node_count, part, &parts, error);
    good = good && (!count || look(mesh, triangles, count, part, crossings, error));
    free(part);
    free(hull);
    return good;
}
