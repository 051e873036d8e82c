// Shells (bodies of triangles) and nets (bodies of edges): masses, element groups, scales for tolerances, estimated
// explicit steps.
//
// A shell has membranes on its triangles or springs on its edges, and hinges on the edges that triangles share. Where
// more than two triangles meet, each of the others has a hinge with the first: the sheets stay at their angles, and
// none is left out.
#include "math/vec3.h"
#include "mesh/core/topology.h"
#include "model/compile.h"

#include <math.h>
#include <string.h>

static const rbt_material_def *material_of(const rbt_model *m, size_t triangle) {
    return &m->regions[m->triangle_region[triangle]].material;
}

static double area_of(const rbt_model *m, size_t triangle) {
    const int32_t *node = m->triangles + 3 * triangle;
    double u[3], v[3], n[3];
    rbt_subtract(m->X + 3 * (size_t)node[1], m->X + 3 * (size_t)node[0], u);
    rbt_subtract(m->X + 3 * (size_t)node[2], m->X + 3 * (size_t)node[0], v);
    rbt_cross(u, v, n);
    return 0.5 * rbt_length(n);
}

// ---- Masses

static void shell_masses(const rbt_model *m, rbt_body *body, double *mass) {
    for (size_t t = body->triangle_begin; t < body->triangle_end; t++) {
        double volume = area_of(m, t) * body->shell.thickness, weight = material_of(m, t)->density * volume;
        for (size_t a = 0; a < 3; a++) mass[m->triangles[3 * t + a]] += weight / 3;
        body->mass += weight;
        body->volume += volume;
    }
}

// A point mass on every node that has a spring
static void net_masses(const rbt_model *m, rbt_body *body, double *mass) {
    for (size_t i = 2 * body->edge_begin; i < 2 * body->edge_end; i++) {
        double *own = &mass[m->edges[i]];
        if (*own == 0) body->mass += body->springs.node_mass;
        *own = body->springs.node_mass;
    }
}

static void particle_masses(rbt_body *body, double *mass) {
    double radius = body->particles.radius, count = (double)(body->node_end - body->node_begin);
    for (size_t n = body->node_begin; n < body->node_end; n++) mass[n] = body->particles.mass;
    body->mass = count * body->particles.mass;
    body->volume = count * 4 / 3 * acos(-1.0) * radius * radius * radius;
}

void rbt_compile_sheet_masses(rbt_compiler *c, double *mass) {
    for (size_t b = 0; b < c->model->body_count; b++) {
        if (c->bodies[b].kind == RBT_SHELL) shell_masses(c->model, &c->bodies[b], mass);
        if (c->bodies[b].kind == RBT_NET) net_masses(c->model, &c->bodies[b], mass);
        if (c->bodies[b].kind == RBT_PARTICLES) particle_masses(&c->bodies[b], mass);
    }
}

// ---- Groups

typedef struct collection {  // elements of one group on their way
    size_t count;
    int32_t *nodes, *members;
    double *values;  // stiffness of springs, bending of hinges
    double *yield;   // of hinges
} collection;

static bool collection_new(collection *list, size_t most, size_t corners, rbt_error *error) {
    *list = (collection){.nodes = rbt_array_new(most, corners * sizeof *list->nodes, "elements of shells", error),
                         .members = rbt_array_new(most, sizeof *list->members, "elements of shells", error),
                         .values = rbt_array_new(most, sizeof *list->values, "elements of shells", error),
                         .yield = rbt_array_new(most, sizeof *list->yield, "elements of shells", error)};
    return list->nodes && list->members && list->values && list->yield;
}

static void collection_free(collection *list) {
    free(list->nodes);
    free(list->members);
    free(list->values);
    free(list->yield);
}

static bool build_membranes(rbt_compiler *c, rbt_group *groups) {
    rbt_model *m = c->model;
    size_t count = 0;
    int32_t *members = rbt_array_new(m->triangle_count, sizeof *members, "membranes", c->error);
    rbt_sheet *sheets = rbt_array_new(m->triangle_count, sizeof *sheets, "membranes", c->error);
    bool ok = members && sheets;
    for (size_t b = 0; ok && b < m->body_count; b++) {
        const rbt_body *body = &c->bodies[b];
        if (body->kind != RBT_SHELL || body->shell.membrane != RBT_MEMBRANE_CONSTANT_STRAIN) continue;
        for (size_t t = body->triangle_begin; t < body->triangle_end; t++) {
            const rbt_material_def *def = material_of(m, t);
            sheets[count] = (rbt_sheet){def->young, def->poisson, body->shell.thickness};
            members[count++] = (int32_t)t;
        }
    }
    if (ok && count)
        ok = rbt_membrane_group_build(&groups[m->group_count++], c->arena, m->X, m->triangles, members, sheets, count,
                                      c->error);
    free(members);
    free(sheets);
    return ok;
}

// Sides of a shell's triangles, numbered 3 t + s within the body: first[side] is the first one with the same nodes.
typedef struct sides {
    const rbt_model *model;
    const rbt_body *body;
    const uint32_t *first;
    size_t count;
} sides;

static size_t triangle_of(const sides *s, size_t side) { return s->body->triangle_begin + side / 3; }

// Corner k of a side's triangle, counted from the side: 0 and 1 are its ends, 2 is opposite.
static int32_t corner_of(const sides *s, size_t side, size_t k) {
    return s->model->triangles[3 * triangle_of(s, side) + (side + k) % 3];
}

// k = E t (A_1 + A_2) / L^2, which for equilateral triangles is the sheet with Poisson's ratio 1/3 (Van Gelder 1998)
static void collect_springs(const sides *s, collection *list) {
    const rbt_model *m = s->model;
    size_t begin = list->count;
    for (size_t i = 0; i < s->count; i++) {
        if (s->first[i] != i) continue;
        for (size_t k = 0; k < 2; k++) list->nodes[2 * list->count + k] = corner_of(s, i, k);
        list->members[list->count++] = (int32_t)i;  // for now the side
    }
    for (size_t i = 0; i < s->count; i++) {
        size_t low = begin, high = list->count - 1;
        while (low < high) {  // sides in `members` ascend
            size_t middle = (low + high) / 2;
            if ((uint32_t)list->members[middle] < s->first[i]) low = middle + 1;
            else high = middle;
        }
        double along[3];
        rbt_subtract(m->X + 3 * (size_t)corner_of(s, i, 1), m->X + 3 * (size_t)corner_of(s, i, 0), along);
        list->values[low] += material_of(m, triangle_of(s, i))->young * s->body->shell.thickness *
                             area_of(m, triangle_of(s, i)) / rbt_dot(along, along);
    }
    for (size_t i = begin; i < list->count; i++) list->members[i] = (int32_t)triangle_of(s, (size_t)list->members[i]);
}

static double bending_of(const sides *s, size_t side) {
    const rbt_material_def *def = material_of(s->model, triangle_of(s, side));
    double t = s->body->shell.thickness, given = s->body->shell.bending;
    return isnan(given) ? def->young * t * t * t / (12 * (1 - def->poisson * def->poisson)) : given;
}

static void collect_hinges(const sides *s, collection *list) {
    for (size_t i = 0; i < s->count; i++) {
        size_t first = s->first[i];
        double bending = 0.5 * (bending_of(s, i) + bending_of(s, first));
        if (first == i || !(bending > 0)) continue;
        int32_t *node = list->nodes + 4 * list->count;
        for (size_t k = 0; k < 3; k++) node[k] = corner_of(s, first, k);
        node[3] = corner_of(s, i, 2);
        if (node[3] == node[2]) continue;  // the same triangle twice
        list->values[list->count] = bending;
        list->yield[list->count] = s->body->shell.yield;
        list->members[list->count++] = (int32_t)triangle_of(s, first);
    }
}

static bool collect_shell(rbt_compiler *c, size_t b, collection *springs, collection *hinges) {
    const rbt_mesh *mesh = c->meshes[b];
    uint32_t *first = rbt_array_new(mesh->triangle_count, 3 * sizeof *first, "edges of a shell", c->error);
    bool ok = first && rbt_match_sides(mesh->triangles, mesh->triangle_count, &RBT_EDGES_OF_TRIANGLES,
                                       mesh->node_count, first, c->error);
    if (ok) {
        sides s = {c->model, &c->bodies[b], first, 3 * mesh->triangle_count};
        if (s.body->shell.membrane == RBT_MEMBRANE_SPRINGS) collect_springs(&s, springs);
        collect_hinges(&s, hinges);
    }
    free(first);
    return ok;
}

static bool build_shell_edges(rbt_compiler *c, rbt_group *groups) {
    rbt_model *m = c->model;
    size_t most = 0;
    for (size_t b = 0; b < m->body_count; b++)
        if (c->bodies[b].kind == RBT_SHELL) most += 3 * rbt_body_element_count(&c->bodies[b]);
    collection springs = {0}, hinges = {0};
    bool ok = collection_new(&springs, most, 2, c->error) && collection_new(&hinges, most, 4, c->error);
    for (size_t b = 0; ok && b < m->body_count; b++)
        if (c->bodies[b].kind == RBT_SHELL) ok = collect_shell(c, b, &springs, &hinges);
    if (ok && springs.count)
        ok = rbt_spring_group_build(&groups[m->group_count++], c->arena, m->X, springs.nodes, springs.members,
                                    springs.values, springs.count, c->error);
    if (ok && hinges.count)
        ok = rbt_hinge_group_build(&groups[m->group_count++], c->arena, m->X, hinges.nodes, hinges.members,
                                   hinges.values, hinges.yield, hinges.count, c->error);
    collection_free(&springs);
    collection_free(&hinges);
    return ok;
}

static bool build_nets(rbt_compiler *c, rbt_group *groups) {
    rbt_model *m = c->model;
    collection list = {0};
    bool ok = collection_new(&list, m->edge_count, 2, c->error);
    for (size_t b = 0; ok && b < m->body_count; b++)
        for (size_t e = c->bodies[b].edge_begin; e < c->bodies[b].edge_end; e++) {
            list.members[e] = (int32_t)e;
            list.values[e] = c->bodies[b].springs.stiffness;
        }
    if (ok && m->edge_count)
        ok = rbt_spring_group_build(&groups[m->group_count++], c->arena, m->X, m->edges, list.members, list.values,
                                    m->edge_count, c->error);
    collection_free(&list);
    return ok;
}

bool rbt_compile_sheet_groups(rbt_compiler *c, rbt_group *groups) {
    return build_membranes(c, groups) && build_shell_edges(c, groups) && build_nets(c, groups);
}

// ---- Scales
//
// A sheet is stiff along itself and soft against bending, so its stiffness is no scale for what a step may leave
// unsolved. The scale is inertia: since the matrix of a step is at least M, a gradient of epsilon m l misplaces a
// node by epsilon l at most.

static double unit_energy(const rbt_group *group) {
    double sum = 0;
    for (size_t e = 0; e < group->count; e++) {
        if (group->type == &RBT_MEMBRANES) {
            const rbt_membrane *m = (const rbt_membrane *)group->data + e;
            sum += 2 * m->volume * (m->mu + fabs(m->lambda));
        } else if (group->type == &RBT_SPRINGS) {
            const rbt_spring *s = (const rbt_spring *)group->data + e;
            sum += s->stiffness * s->length * s->length;
        } else if (group->type == &RBT_HINGES) sum += ((const rbt_hinge *)group->data + e)->weight;
    }
    return sum;
}

static bool measure_scales(rbt_compiler *c) {
    rbt_model *m = c->model;
    double *distance = rbt_array_new(m->node_count, sizeof *distance, "a scale", c->error), square = 0;
    if (!distance) return false;
    for (size_t n = 0; n < m->node_count; n++)
        distance[n] = c->bodies[m->node_body[n]].kind == RBT_SHELL ? sqrt(m->node_area[n]) : 0;
    for (size_t i = 0; i < 2 * m->edge_count; i++) {
        double along[3], *own = &distance[m->edges[i]];
        rbt_subtract(m->X + 3 * (size_t)m->edges[i], m->X + 3 * (size_t)m->edges[i ^ 1], along);
        *own = *own > 0 ? fmin(*own, rbt_length(along)) : rbt_length(along);
    }
    for (size_t n = 0; n < m->node_count; n++) square += pow(m->mass[n] * distance[n], 2);
    free(distance);
    m->sheet_inertia = sqrt(square);
    for (size_t g = 0; g < m->group_count; g++) m->sheet_energy += unit_energy(&m->groups[g]);
    return true;
}

// ---- Explicit steps
//
// omega^2 = max of v^T K v / v^T M v <= sum over groups of the largest rate of an element, if every group shares the
// mass of a node among its elements there. Held nodes would allow more.

static void add_rates(const rbt_compiler *c, const rbt_group *group, const int32_t *count, double *rate) {
    const rbt_model *m = c->model;
    size_t corners = (size_t)group->type->corners;
    for (size_t e = 0; e < group->count; e++) {
        const int32_t *node = group->nodes + corners * e;
        double masses[RBT_MOST_CORNERS];
        for (size_t a = 0; a < corners; a++) masses[a] = m->mass[node[a]] / count[node[a]];
        double *largest = &rate[m->node_body[node[0]]];
        *largest = fmax(*largest, group->type->rate(group, e, masses));
    }
}

bool rbt_compile_sheet_scales(rbt_compiler *c) {
    const rbt_model *m = c->model;
    int32_t *count = rbt_array_new(m->node_count, sizeof *count, "an estimate", c->error);
    double *rate = rbt_array_new(m->body_count, sizeof *rate, "an estimate", c->error);
    double *sum = rbt_array_new(m->body_count, sizeof *sum, "an estimate", c->error);
    bool ok = count && rate && sum;
    for (size_t g = 0; ok && g < m->group_count; g++) {
        const rbt_group *group = &m->groups[g];
        if (!group->type->rate) continue;
        memset(count, 0, m->node_count * sizeof *count);
        memset(rate, 0, m->body_count * sizeof *rate);
        for (size_t i = 0; i < group->count * (size_t)group->type->corners; i++) count[group->nodes[i]]++;
        add_rates(c, group, count, rate);
        for (size_t b = 0; b < m->body_count; b++) sum[b] += rate[b];
    }
    for (size_t b = 0; ok && b < m->body_count; b++)
        if (sum[b] > 0) c->bodies[b].explicit_step = 2 / sqrt(sum[b]);
    free(count);
    free(rate);
    free(sum);
    return ok && measure_scales(c);
}
