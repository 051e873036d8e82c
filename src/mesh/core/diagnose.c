// What can be said about a mesh before anything moves.
//
// Tets are judged if there are any, else the triangles, and nodes that none of these use are isolated: they would
// have no mass. A tet is degenerate if |V| < 1e-12 l^3 with l the root mean square of its edges (a triangle, if its
// area is below 1e-12 l^2), so the verdict does not depend on the unit; what is degenerate is not also called
// inverted. Elements at nodes that are not numbers are left out of all measures.
#include "base/memory.h"
#include "math/vec3.h"
#include "mesh/core/build.h"
#include "mesh/core/topology.h"
#include "rubato/mesh.h"

#include <math.h>

static const double FLAT = 1e-12;

static bool is_finite_point(const double *x) { return isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]); }

static void note(size_t *count, int64_t *first, size_t item) {
    if (!(*count)++) *first = (int64_t)item;
}

static void judge_nodes(const rbt_mesh *mesh, rbt_mesh_report *r) {
    bool any = false;
    for (size_t i = 0; i < mesh->node_count; i++) {
        const double *x = mesh->nodes + 3 * i;
        if (!is_finite_point(x)) {
            note(&r->not_finite_count, &r->first_not_finite, i);
            continue;
        }
        for (int k = 0; k < 3; k++) {
            if (!any || x[k] < r->box_min[k]) r->box_min[k] = x[k];
            if (!any || x[k] > r->box_max[k]) r->box_max[k] = x[k];
        }
        any = true;
    }
}

// Volume and mean square of the six edges; false at a node that is not a number.
static bool measure_tet(const rbt_mesh *mesh, const int32_t *tet, double *volume, double *square) {
    const double *x[4];
    for (int a = 0; a < 4; a++) {
        x[a] = mesh->nodes + 3 * (size_t)tet[a];
        if (!is_finite_point(x[a])) return false;
    }
    double sum = 0, edge[3], e[3][3], normal[3];
    for (int a = 0; a < 4; a++)
        for (int b = a + 1; b < 4; b++) {
            rbt_subtract(x[b], x[a], edge);
            sum += rbt_dot(edge, edge);
        }
    for (int a = 0; a < 3; a++) rbt_subtract(x[a + 1], x[0], e[a]);
    rbt_cross(e[1], e[2], normal);
    *volume = rbt_dot(e[0], normal) / 6;
    *square = sum / 6;
    return true;
}

static void judge_tets(const rbt_mesh *mesh, rbt_mesh_report *r) {
    size_t judged = 0;
    double sum = 0;
    for (size_t t = 0; t < mesh->tet_count; t++) {
        double volume, square;
        if (!measure_tet(mesh, mesh->tets + 4 * t, &volume, &square)) continue;
        double cube = square * sqrt(square), quality = cube > 0 ? 6 * M_SQRT2 * volume / cube : 0;
        r->volume += volume;
        if (!(fabs(volume) >= FLAT * cube && cube > 0)) note(&r->degenerate_count, &r->first_degenerate, t);
        else if (volume < 0) note(&r->inverted_count, &r->first_inverted, t);
        if (!judged++ || quality < r->quality_min) {
            r->quality_min = quality;
            r->worst_tet = (int64_t)t;
        }
        sum += quality;
        int bin = quality > 0 ? (int)(quality * RBT_HISTOGRAM_BINS) : 0;
        r->quality_histogram[bin < RBT_HISTOGRAM_BINS ? bin : RBT_HISTOGRAM_BINS - 1]++;
    }
    if (judged) r->quality_mean = sum / (double)judged;
}

// Total area; with `judge`, degenerate triangles are noted.
static void judge_triangles(const rbt_mesh *mesh, const int32_t *triangles, size_t count, bool judge,
                            rbt_mesh_report *r) {
    for (size_t i = 0; i < count; i++) {
        const double *x[3];
        for (int a = 0; a < 3; a++) x[a] = mesh->nodes + 3 * (size_t)triangles[3 * i + (size_t)a];
        if (!is_finite_point(x[0]) || !is_finite_point(x[1]) || !is_finite_point(x[2])) continue;
        double e[3][3], normal[3];
        for (int a = 0; a < 3; a++) rbt_subtract(x[(a + 1) % 3], x[a], e[a]);
        rbt_cross(e[0], e[1], normal);
        double area = sqrt(rbt_dot(normal, normal)) / 2;
        double square = (rbt_dot(e[0], e[0]) + rbt_dot(e[1], e[1]) + rbt_dot(e[2], e[2])) / 3;
        r->area += area;
        if (judge && !(area >= FLAT * square && square > 0)) note(&r->degenerate_count, &r->first_degenerate, i);
    }
}

static bool find_duplicates(const int32_t *elements, size_t count, const rbt_side_kind *kind, size_t node_count,
                            rbt_mesh_report *r, rbt_error *error) {
    uint32_t *first = rbt_array_new(count, sizeof *first, "duplicate elements", error);
    bool found = first && rbt_match_sides(elements, count, kind, node_count, first, error);
    for (size_t i = 0; found && i < count; i++)
        if (first[i] != RBT_NO_SIDE && first[i] != i) note(&r->duplicate_count, &r->first_duplicate, i);
    free(first);
    return found;
}

static bool judge_edges(const int32_t *triangles, size_t count, size_t node_count, rbt_mesh_report *r,
                        rbt_error *error) {
    size_t sides = 3 * count;
    uint32_t *first = rbt_array_new(count, 3 * sizeof *first, "surface edges", error);
    uint32_t *uses = first ? rbt_array_new(count, 3 * sizeof *uses, "surface edges", error) : NULL;
    bool matched = uses && rbt_match_sides(triangles, count, &RBT_EDGES_OF_TRIANGLES, node_count, first, error);
    for (size_t i = 0; matched && i < sides; i++)
        if (first[i] != RBT_NO_SIDE) uses[first[i]]++;
    for (size_t i = 0; matched && i < sides; i++) {
        r->open_edge_count += uses[i] == 1;
        r->non_manifold_edge_count += uses[i] > 2;
    }
    free(first);
    free(uses);
    return matched;
}

// Connected parts and the nodes outside of them.
static bool judge_parts(const int32_t *elements, size_t count, int corners, size_t node_count, rbt_mesh_report *r,
                        rbt_error *error) {
    int32_t *part = rbt_array_new(node_count, sizeof *part, "connected parts", error);
    bool found = part && rbt_components(elements, count, corners, node_count, part, &r->component_count, error);
    for (size_t i = 0; found && i < node_count; i++)
        if (part[i] < 0) note(&r->isolated_count, &r->first_isolated, i);
    free(part);
    return found;
}

bool rbt_mesh_diagnose(const rbt_mesh *mesh, rbt_mesh_report *report, rbt_error *error) {
    rbt_mesh_report *r = report;
    if (!report) return rbt_fail(error, "there is no place for the report: the pointer is NULL");
    if (!rbt_mesh_is_whole(mesh, "the mesh", error)) return false;
    *r = (rbt_mesh_report){.first_inverted = -1,
                           .first_degenerate = -1,
                           .first_duplicate = -1,
                           .first_isolated = -1,
                           .first_not_finite = -1,
                           .worst_tet = -1};
    size_t nodes = mesh->node_count;
    judge_nodes(mesh, r);
    judge_tets(mesh, r);
    if (!mesh->tet_count) {
        r->surface_triangle_count = mesh->triangle_count;
        judge_triangles(mesh, mesh->triangles, mesh->triangle_count, true, r);
        if (mesh->triangle_count)
            return find_duplicates(mesh->triangles, mesh->triangle_count, &RBT_TRIANGLES_THEMSELVES, nodes, r,
                                   error) &&
                   judge_edges(mesh->triangles, mesh->triangle_count, nodes, r, error) &&
                   judge_parts(mesh->triangles, mesh->triangle_count, 3, nodes, r, error);
        return !mesh->edge_count || judge_parts(mesh->edges, mesh->edge_count, 2, nodes, r, error);
    }
    int32_t *surface;
    if (!find_duplicates(mesh->tets, mesh->tet_count, &RBT_TETS_THEMSELVES, nodes, r, error) ||
        !judge_parts(mesh->tets, mesh->tet_count, 4, nodes, r, error) ||
        !rbt_boundary(mesh->tets, mesh->tet_count, nodes, &surface, NULL, &r->surface_triangle_count, error))
        return false;
    judge_triangles(mesh, surface, r->surface_triangle_count, false, r);
    bool judged = judge_edges(surface, r->surface_triangle_count, nodes, r, error);
    free(surface);
    return judged;
}
