#include "mesh/generate/sweep.h"

#include "mesh/core/build.h"
#include "mesh/generate/shapes.h"

#include <math.h>

static bool new_section(rbt_section *s, size_t points, size_t triangles, rbt_error *error) {
    *s = (rbt_section){points, triangles, NULL, NULL};
    s->points = rbt_array_new(points, 2 * sizeof *s->points, "a section", error);
    s->triangles = rbt_array_new(triangles, 3 * sizeof *s->triangles, "a section", error);
    if (s->points && s->triangles) return true;
    rbt_section_free(s);
    return false;
}

void rbt_section_free(rbt_section *section) {
    free(section->points);
    free(section->triangles);
    *section = (rbt_section){0};
}

// Point j of ring k, counted around; ring 0 is the centre.
static int32_t ring_point(int k, int j) { return k ? 1 + 3 * k * (k - 1) + j % (6 * k) : 0; }

static void add_triangle(int32_t **out, int32_t a, int32_t b, int32_t c) {
    (*out)[0] = a;
    (*out)[1] = b;
    (*out)[2] = c;
    *out += 3;
}

bool rbt_section_disc(rbt_section *section, int rings, rbt_error *error) {
    size_t n = (size_t)rings;
    if (!new_section(section, 1 + 3 * n * (n + 1), 6 * n * n, error)) return false;
    int32_t *out = section->triangles;
    for (int k = 1; k <= rings; k++) {
        for (int j = 0; j < 6 * k; j++) {
            double angle = M_PI * j / (3 * k), *p = section->points + 2 * ring_point(k, j);
            p[0] = k * cos(angle) / rings;
            p[1] = k * sin(angle) / rings;
        }
        for (int sextant = 0; sextant < 6; sextant++)
            for (int j = 0; j < k; j++) {
                int32_t inner = ring_point(k - 1, sextant * (k - 1) + j), outer = ring_point(k, sextant * k + j);
                int32_t next = ring_point(k, sextant * k + j + 1);
                add_triangle(&out, inner, outer, next);
                if (j < k - 1) add_triangle(&out, inner, next, ring_point(k - 1, sextant * (k - 1) + j + 1));
            }
    }
    return true;
}

bool rbt_section_grid(rbt_section *section, int nu, int nv, rbt_error *error) {
    if (!new_section(section, (size_t)(nu + 1) * (size_t)(nv + 1), 2 * (size_t)nu * (size_t)nv, error)) return false;
    int32_t *out = section->triangles;
    for (int j = 0; j <= nv; j++)
        for (int i = 0; i <= nu; i++) {
            int32_t at = j * (nu + 1) + i;
            section->points[2 * at] = 2.0 * i / nu - 1;
            section->points[2 * at + 1] = 2.0 * j / nv - 1;
            if (i == nu || j == nv) continue;
            add_triangle(&out, at, at + 1, at + nu + 2);
            add_triangle(&out, at, at + nu + 2, at + nu + 1);
        }
    return true;
}

void rbt_split_prism(const int32_t prism[6], int32_t tets[12]) {
    // The six turns of a prism that bring its i-th node to the front.
    static const int turn[6][6] = {{0, 1, 2, 3, 4, 5}, {1, 2, 0, 4, 5, 3}, {2, 0, 1, 5, 3, 4},
                                   {3, 5, 4, 0, 2, 1}, {4, 3, 5, 1, 0, 2}, {5, 4, 3, 2, 1, 0}};
    int lowest = 0;
    for (int i = 1; i < 6; i++)
        if (prism[i] < prism[lowest]) lowest = i;
    int32_t v[6];
    for (int i = 0; i < 6; i++) v[i] = prism[turn[lowest][i]];
    int32_t from_1 = v[1] < v[5] ? v[1] : v[5], from_2 = v[2] < v[4] ? v[2] : v[4];
    static const int with_15[12] = {0, 1, 2, 5, 0, 1, 5, 4, 0, 4, 5, 3};
    static const int with_24[12] = {0, 1, 2, 4, 0, 4, 2, 5, 0, 4, 5, 3};
    for (int i = 0; i < 12; i++) tets[i] = v[from_1 < from_2 ? with_15[i] : with_24[i]];
}

bool rbt_sweep_check(double triangles, int steps, rbt_error *error) {
    double tets = 3 * triangles * steps;
    return tets <= RBT_MAX_GENERATED_TETS ||
           rbt_fail(error, "this shape would have %.0f tets, and the limit is %d; try fewer cells or rings", tets,
                    RBT_MAX_GENERATED_TETS);
}

rbt_mesh *rbt_sweep_section(const rbt_section *section, const rbt_sweep *sweep, rbt_error *error) {
    size_t points = section->point_count, steps = (size_t)sweep->steps, places = steps + !sweep->closed;
    if (!rbt_sweep_check((double)section->triangle_count, sweep->steps, error)) return NULL;
    rbt_mesh *mesh = rbt_mesh_new(error);
    if (!mesh || !rbt_mesh_allocate(mesh, places * points, 3 * section->triangle_count * steps, 0, 0, error)) {
        rbt_mesh_free(mesh);
        return NULL;
    }
    for (size_t s = 0; s < places; s++)
        for (size_t i = 0; i < points; i++)
            sweep->place(sweep->path, section->points[2 * i], section->points[2 * i + 1], (int)s,
                         mesh->nodes + 3 * (s * points + i));
    int32_t *out = mesh->tets;
    for (size_t s = 0; s < steps; s++)
        for (size_t t = 0; t < section->triangle_count; t++, out += 12) {
            int32_t prism[6];
            for (int k = 0; k < 3; k++) {
                int32_t point = section->triangles[3 * t + (size_t)k];
                bool last = s + 1 == places;
                prism[k] = (int32_t)(s * points) + point;
                if (!last) prism[3 + k] = (int32_t)((s + 1) * points) + point;
                else prism[3 + k] = sweep->arrival ? sweep->arrival[point] : point;
            }
            rbt_split_prism(prism, out);
        }
    return mesh;
}
