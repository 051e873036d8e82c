#include "view/strands.h"

#include "base/memory.h"
#include "math/vec3.h"

#include <math.h>
#include <string.h>

// Facets of a rod around, and of a ball around and from pole to pole; balls have fewer where there are many
enum { ROD_SIDES = 8, BALL_SIDES = 24, MIN_BALL_SIDES = 8, MANY_TRIANGLES = 200000 };

static const double ROD = 0.08;                        // radius of a spring, in mean lengths of springs
static const double ROD_MIN = 0.0012, ROD_MAX = 0.01;  // its limits, in diagonals of the box of all nodes
static const double DUST = 0.004;                      // radius of particles that have none, in such diagonals

typedef struct shape {
    rbt_strands *to;
    const rbt_strands_source *from;
    double diagonal;    // of the box of all nodes that are numbers [m]
    int ball_sides;     // around; half as many from pole to pole
    int32_t *particle;  // (particle_count) their nodes
    size_t particle_count;
} shape;

static bool is_number(const double *x) { return isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]); }

static void find_diagonal(shape *s) {
    const rbt_mesh *mesh = s->from->mesh;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, size[3];
    for (size_t n = 0; n < mesh->node_count; n++) {
        const double *x = mesh->nodes + 3 * n;
        for (int k = 0; is_number(x) && k < 3; k++) low[k] = fmin(low[k], x[k]), high[k] = fmax(high[k], x[k]);
    }
    rbt_subtract(high, low, size);
    s->diagonal = is_number(size) ? rbt_length(size) : 0;
}

// The nodes outside of all elements, if there are as many as cells that the mesh does not list.
static bool find_particles(shape *s, rbt_error *error) {
    const rbt_mesh *mesh = s->from->mesh;
    size_t listed = mesh->tet_count + mesh->triangle_count + mesh->edge_count, count = 0;
    if (s->from->cell_count <= listed) return true;
    s->particle = rbt_array_new(mesh->node_count, sizeof *s->particle, "particles", error);
    unsigned char *used = s->particle ? rbt_array_new(mesh->node_count, 1, "particles", error) : NULL;
    if (!used) return false;
    for (size_t i = 0; i < 4 * mesh->tet_count; i++) used[mesh->tets[i]] = 1;
    for (size_t i = 0; i < 3 * mesh->triangle_count; i++) used[mesh->triangles[i]] = 1;
    for (size_t i = 0; i < 2 * mesh->edge_count; i++) used[mesh->edges[i]] = 1;
    for (size_t n = 0; n < mesh->node_count; n++)
        if (!used[n]) s->particle[count++] = (int32_t)n;
    free(used);
    s->particle_count = count == s->from->cell_count - listed ? count : 0;
    return true;
}

static int facets(int sides) { return 2 * sides * (sides / 2); }

static bool allocate(shape *s, rbt_error *error) {
    rbt_strands *to = s->to;
    s->ball_sides = BALL_SIDES;
    while (s->ball_sides > MIN_BALL_SIDES && (size_t)facets(s->ball_sides) * s->particle_count > MANY_TRIANGLES)
        s->ball_sides -= 2;
    size_t sides = (size_t)s->ball_sides, edges = s->from->mesh->edge_count;
    size_t nodes = 2 * ROD_SIDES * edges + sides * (sides / 2 + 1) * s->particle_count;
    size_t triangles = 2 * ROD_SIDES * edges + (size_t)facets(s->ball_sides) * s->particle_count;
    return (to->nodes = rbt_array_new(nodes, 3 * sizeof *to->nodes, "springs and particles", error)) &&
           (to->origin = rbt_array_new(nodes, sizeof *to->origin, "springs and particles", error)) &&
           (to->triangles = rbt_array_new(triangles, 3 * sizeof *to->triangles, "springs and particles", error)) &&
           (to->cell = rbt_array_new(triangles, sizeof *to->cell, "springs and particles", error));
}

// A circle of nodes around an axis
static void add_ring(rbt_strands *to, const double centre[3], const double u[3], const double v[3], double radius,
                     int sides, int32_t origin) {
    for (int i = 0; i < sides; i++) {
        double angle = 2 * M_PI * i / sides, *p = to->nodes + 3 * to->node_count;
        memcpy(p, centre, 3 * sizeof *p);
        rbt_add_scaled(p, radius * cos(angle), u);
        rbt_add_scaled(p, radius * sin(angle), v);
        to->origin[to->node_count++] = origin;
    }
}

// Between the ring that begins at node `base` and the one behind it
static void add_band(rbt_strands *to, size_t base, int sides, size_t cell) {
    for (int i = 0; i < sides; i++) {
        int32_t p = (int32_t)base + i, q = (int32_t)base + (i + 1) % sides;
        const int32_t both[6] = {p, q, q + sides, p, q + sides, p + sides};
        memcpy(to->triangles + 3 * to->triangle_count, both, sizeof both);
        for (int k = 0; k < 2; k++) to->cell[to->triangle_count++] = (int32_t)cell;
    }
}

static void add_rod(shape *s, size_t edge, double radius, size_t cell) {
    const int32_t *end = s->from->mesh->edges + 2 * edge;
    const double *a = s->from->mesh->nodes + 3 * (size_t)end[0], *b = s->from->mesh->nodes + 3 * (size_t)end[1];
    double axis[3], u[3], v[3];
    rbt_subtract(b, a, axis);
    if (!is_number(axis) || !(rbt_length(axis) > 0)) return;
    rbt_normalize(axis, axis);
    rbt_across(axis, u, v);
    size_t base = s->to->node_count;
    add_ring(s->to, a, u, v, radius, ROD_SIDES, end[0]);
    add_ring(s->to, b, u, v, radius, ROD_SIDES, end[1]);
    add_band(s->to, base, ROD_SIDES, cell);
}

static void add_ball(shape *s, int32_t node, double radius, size_t cell) {
    static const double up[3] = {0, 1, 0}, u[3] = {0, 0, 1}, v[3] = {1, 0, 0};  // up = u x v
    const double *x = s->from->mesh->nodes + 3 * (size_t)node;
    int rings = s->ball_sides / 2;
    if (!is_number(x)) return;
    for (int ring = 0; ring <= rings; ring++) {
        double polar = M_PI * ring / rings, centre[3] = {x[0], x[1], x[2]};
        size_t base = s->to->node_count;
        rbt_add_scaled(centre, -radius * cos(polar), up);
        add_ring(s->to, centre, u, v, radius * sin(polar), s->ball_sides, node);
        if (ring < rings) add_band(s->to, base, s->ball_sides, cell);
    }
}

static double rod_radius(const shape *s) {
    const rbt_mesh *mesh = s->from->mesh;
    double sum = 0;
    size_t count = 0;
    for (size_t e = 0; e < mesh->edge_count; e++) {
        double axis[3];
        rbt_subtract(mesh->nodes + 3 * (size_t)mesh->edges[2 * e], mesh->nodes + 3 * (size_t)mesh->edges[2 * e + 1],
                     axis);
        if (is_number(axis)) sum += rbt_length(axis), count++;
    }
    return count ? fmin(fmax(ROD * sum / (double)count, ROD_MIN * s->diagonal), ROD_MAX * s->diagonal) : 0;
}

static double ball_radius(const shape *s, size_t cell) {
    const rbt_strands_source *from = s->from;
    double body = from->body ? from->body[cell * from->body_stride] : -1;
    const rbt_particles_def *def = from->scene && body >= 0 && body < (double)from->scene->bodies.count
                                       ? from->scene->bodies.items[(size_t)body].particles
                                       : NULL;
    return def && def->radius > 0 ? def->radius : DUST * s->diagonal;
}

bool rbt_strands_build(rbt_strands *strands, const rbt_strands_source *source, rbt_error *error) {
    *strands = (rbt_strands){0};
    shape s = {.to = strands, .from = source};
    const rbt_mesh *mesh = source->mesh;
    size_t first = mesh->tet_count + mesh->triangle_count;
    bool good = find_particles(&s, error);
    if (good && (mesh->edge_count || s.particle_count)) {
        find_diagonal(&s);
        double radius = rod_radius(&s);
        good = allocate(&s, error);
        for (size_t e = 0; good && e < mesh->edge_count; e++) add_rod(&s, e, radius, first + e);
        for (size_t i = 0; good && i < s.particle_count; i++) {
            size_t cell = first + mesh->edge_count + i;
            add_ball(&s, s.particle[i], ball_radius(&s, cell), cell);
        }
    }
    free(s.particle);
    if (!good) rbt_strands_free(strands);
    return good;
}

void rbt_strands_free(rbt_strands *strands) {
    free(strands->nodes);
    free(strands->origin);
    free(strands->triangles);
    free(strands->cell);
    *strands = (rbt_strands){0};
}
