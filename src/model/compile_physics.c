// Materials, masses, constraints, the start and the loads of a model.
#include "math/vec3.h"
#include "mesh/core/stable_step.h"
#include "mesh/query/select.h"
#include "model/compile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- Regions, element groups, masses

static bool choose_elements(rbt_compiler *c, size_t b, size_t r, unsigned char *chosen) {
    const rbt_body_def *def = &c->scene->bodies.items[b];
    const rbt_dissection *cut = rbt_compile_dissection(c, b);
    rbt_select_context context = {c->uncut[b],
                                  def->selections.items,
                                  def->selections.count,
                                  c->scene->file,
                                  rbt_compile_path(c, "bodies[%zu].regions[%zu].where", b, r),
                                  true};
    const rbt_selection *where = &def->regions.items[r].where;
    unsigned char *before = cut ? rbt_array_new(cut->old_element_count, 1, "a region", c->error) : chosen;
    bool ok = before && (c->bodies[b].kind == RBT_SHELL ? rbt_select_triangles(&context, where, before, c->error)
                                                        : rbt_select_tets(&context, where, before, c->error));
    if (ok && cut) rbt_dissection_carry_elements(cut, before, chosen);
    if (cut) free(before);
    return ok;
}

// Regions of tets and of shells' triangles
static bool assign_regions(rbt_compiler *c, int32_t *tet_region, int32_t *triangle_region) {
    rbt_model *m = c->model;
    size_t total = 0, at = 0;
    for (size_t b = 0; b < m->body_count; b++) total += 1 + c->scene->bodies.items[b].regions.count;
    rbt_region *regions;
    if (!RBT_TAKE(c, regions, total)) return false;
    for (size_t b = 0; b < m->body_count; b++) {
        const rbt_body_def *def = &c->scene->bodies.items[b];
        const rbt_body *body = &c->bodies[b];
        size_t count = rbt_body_element_count(body);
        int32_t *region =
            body->kind == RBT_SHELL ? triangle_region + body->triangle_begin : tet_region + body->tet_begin;
        if (body->kind == RBT_NET && def->regions.count)
            return rbt_compile_fail(c, b, "regions", "all springs of a body are alike; leave \"regions\" out");
        regions[at] = (rbt_region){body->name, (int)b, def->material};
        for (size_t t = 0; (body->kind == RBT_SOLID || body->kind == RBT_SHELL) && t < count; t++)
            region[t] = (int32_t)at;
        at++;
        unsigned char *chosen = rbt_array_new(count, 1, "a region", c->error);
        if (!chosen) return false;
        for (size_t r = 0; r < def->regions.count; r++, at++) {
            const rbt_region_def *part = &def->regions.items[r];
            const char *name = part->name ? rbt_arena_text(c->arena, part->name)
                                          : rbt_compile_path(c, "%s region %zu", body->name, r);
            regions[at] = (rbt_region){name, (int)b, part->material};
            if (!choose_elements(c, b, r, chosen)) {
                free(chosen);
                return false;
            }
            for (size_t t = 0; t < count; t++)
                if (chosen[t]) region[t] = (int32_t)at;
        }
        free(chosen);
    }
    m->regions = regions;
    m->region_count = total;
    return true;
}

static bool build_group(rbt_compiler *c, rbt_group *group, int model, int32_t *members, double *mu, double *lambda) {
    const rbt_model *m = c->model;
    const rbt_material *material = rbt_material_at(model);
    size_t count = 0;
    for (size_t t = 0; t < m->tet_count; t++) {
        const rbt_material_def *def = &m->regions[m->tet_region[t]].material;
        if (def->model != model) continue;
        members[count] = (int32_t)t;
        rbt_material_lame(material, def->young, def->poisson, &mu[count], &lambda[count]);
        count++;
    }
    *group = (rbt_group){.count = 0};
    return !count ||
           rbt_tet_group_build(group, c->arena, material, m->X, m->tets, members, count, mu, lambda, c->error);
}

// One group per material model in use
static bool build_tet_groups(rbt_compiler *c, rbt_group *groups) {
    rbt_model *m = c->model;
    int32_t *members = rbt_array_new(m->tet_count, sizeof *members, "materials", c->error);
    double *mu = rbt_array_new(m->tet_count, sizeof *mu, "materials", c->error);
    double *lambda = rbt_array_new(m->tet_count, sizeof *lambda, "materials", c->error);
    bool ok = members && mu && lambda;
    for (int i = 0; ok && rbt_material_at(i); i++) {
        ok = build_group(c, &groups[m->group_count], i, members, mu, lambda);
        if (groups[m->group_count].count) m->group_count++;
    }
    free(members);
    free(mu);
    free(lambda);
    return ok;
}

bool rbt_compile_groups(rbt_compiler *c) {
    size_t most = 0;
    while (rbt_material_at((int)most)) most++;
    rbt_group *groups;
    if (!RBT_TAKE(c, groups, most + RBT_SHEET_GROUPS + 1) || !build_tet_groups(c, groups) ||
        !rbt_compile_sheet_groups(c, groups))
        return false;
    c->model->groups = groups;
    c->model->linear = true;
    for (size_t g = 0; g < c->model->group_count; g++) c->model->linear &= groups[g].constant_stiffness;
    return rbt_plan_build(&c->model->plan, c->arena, groups, c->model->group_count, c->model->node_count, c->error);
}

void rbt_compile_tet_steps(rbt_compiler *c) {
    const rbt_model *m = c->model;
    for (size_t b = 0; b < m->body_count; b++) {
        rbt_body *body = &c->bodies[b];
        body->explicit_step = INFINITY;
        for (size_t t = body->tet_begin; t < body->tet_end; t++) {
            const rbt_material_def *def = &m->regions[m->tet_region[t]].material;
            double X[4][3];
            for (size_t a = 0; a < 4; a++) memcpy(X[a], m->X + 3 * (size_t)m->tets[4 * t + a], sizeof X[a]);
            body->explicit_step = fmin(body->explicit_step, rbt_tet_stable_step((const double(*)[3])X, def->young,
                                                                                def->poisson, def->density));
        }
    }
}

bool rbt_compile_materials(rbt_compiler *c) {
    rbt_model *m = c->model;
    int32_t *tet_region, *triangle_region;
    double *mass;
    if (!RBT_TAKE(c, tet_region, m->tet_count) || !RBT_TAKE(c, triangle_region, m->triangle_count) ||
        !RBT_TAKE(c, mass, m->node_count))
        return false;
    m->tet_region = tet_region;
    m->triangle_region = triangle_region;
    if (!assign_regions(c, tet_region, triangle_region) || !rbt_compile_groups(c)) return false;
    for (size_t b = 0; b < m->body_count; b++) {
        rbt_body *body = &c->bodies[b];
        body->damping = c->scene->bodies.items[b].damping;
        body->consistent_mass = c->scene->bodies.items[b].consistent_mass;
        for (size_t t = body->tet_begin; t < body->tet_end; t++) {
            const rbt_material_def *def = &m->regions[tet_region[t]].material;
            double X[4][3];
            for (size_t a = 0; a < 4; a++) memcpy(X[a], m->X + 3 * (size_t)m->tets[4 * t + a], sizeof X[a]);
            double volume = rbt_tet_volume(X[0], X[1], X[2], X[3]);
            for (size_t a = 0; a < 4; a++) mass[m->tets[4 * t + a]] += def->density * volume / 4;
            body->mass += def->density * volume;
            body->volume += volume;
        }
    }
    m->mass = mass;
    rbt_compile_tet_steps(c);
    rbt_compile_sheet_masses(c, mass);
    return rbt_compile_sheet_scales(c);
}

// ---- Fixed and driven nodes

// body NULL: obstacles, which no box is known of
static rbt_motion copy_motion(rbt_compiler *c, const rbt_body *body, const rbt_motion *motion) {
    static const size_t sizes[] = {sizeof(rbt_move_velocity), sizeof(rbt_move_rotation), sizeof(rbt_move_oscillation),
                                   sizeof(rbt_move_keyframes)};
    void *value = rbt_arena_take(c->arena, 1, sizes[motion->which]);
    if (value) memcpy(value, motion->value, sizes[motion->which]);
    if (value && motion->which == RBT_MOVE_KEYFRAMES) {
        rbt_move_keyframes *k = value;
        double *times = rbt_arena_take(c->arena, k->times.count, sizeof *times);
        double *offsets = rbt_arena_take(c->arena, 3 * k->offsets.count, sizeof *offsets);
        if (!times || !offsets) return (rbt_motion){-1, NULL};
        memcpy(times, k->times.items, k->times.count * sizeof *times);
        memcpy(offsets, k->offsets.items, 3 * k->offsets.count * sizeof *offsets);
        k->times.items = times;
        k->offsets.items = offsets;
    }
    if (value && motion->which == RBT_MOVE_ROTATION) {
        rbt_move_rotation *r = value;
        for (int k = 0; body && r->relative && k < 3; k++)
            r->point[k] = body->box_min[k] + r->point[k] * (body->box_max[k] - body->box_min[k]);
        r->relative = false;
    }
    return (rbt_motion){value ? motion->which : -1, value};
}

static bool copy_group(rbt_compiler *c, const rbt_body *body, const rbt_motion *items, size_t count, double release,
                       rbt_motion_group *group) {
    rbt_motion *motions;
    if (!RBT_TAKE(c, motions, count)) return false;
    for (size_t i = 0; i < count; i++) {
        motions[i] = copy_motion(c, body, &items[i]);
        if (motions[i].which < 0) return rbt_fail_memory(c->error, sizeof *motions, "a motion");
    }
    *group = (rbt_motion_group){.motion_count = count, .motions = motions, .release = release};
    return true;
}

static bool constrain_body(rbt_compiler *c, size_t b, unsigned char *role, int32_t *group_of,
                           rbt_motion_group *groups, size_t *group_count, unsigned char *chosen) {
    const rbt_body_def *def = &c->scene->bodies.items[b];
    rbt_body *body = &c->bodies[b];
    size_t nodes = body->node_end - body->node_begin;
    unsigned char *roles = role + body->node_begin;
    for (size_t i = 0; i < def->fixed.count; i++) {
        const char *path = rbt_compile_path(c, "bodies[%zu].fixed[%zu]", b, i);
        if (!rbt_compile_select(c, b, &def->fixed.items[i], path, chosen)) return false;
        for (size_t n = 0; n < nodes; n++)
            if (chosen[n]) roles[n] = RBT_FIXED;
    }
    for (size_t i = 0; i < def->driven.count; i++, ++*group_count) {
        const char *path = rbt_compile_path(c, "bodies[%zu].driven[%zu].where", b, i);
        if (!rbt_compile_select(c, b, &def->driven.items[i].where, path, chosen)) return false;
        const rbt_driven_def *driven = &def->driven.items[i];
        if (!copy_group(c, body, driven->motions.items, driven->motions.count, driven->release,
                        &groups[*group_count]))
            return false;
        if (driven->name && !(groups[*group_count].name = rbt_arena_text(c->arena, driven->name)))
            return rbt_fail_memory(c->error, strlen(driven->name), "a name");
        for (size_t n = 0; n < nodes; n++) {
            if (!chosen[n]) continue;
            if (roles[n] != RBT_FREE)
                return rbt_fail_path(c->error, c->scene->file, path,
                                     "node %zu is already %s; a node can be constrained in one way only", n,
                                     roles[n] == RBT_FIXED ? "fixed" : "driven by an earlier entry");
            roles[n] = RBT_DRIVEN;
            group_of[body->node_begin + n] = (int32_t)*group_count;
        }
    }
    for (size_t n = 0; n < nodes; n++) {
        if (c->model->mass[body->node_begin + n] == 0) roles[n] = RBT_FIXED;
        body->fixed_count += roles[n] == RBT_FIXED;
        body->driven_count += roles[n] == RBT_DRIVEN;
    }
    return true;
}

bool rbt_compile_constraints(rbt_compiler *c) {
    rbt_model *m = c->model;
    unsigned char *role, *chosen = rbt_array_new(m->node_count, 1, "a selection", c->error);
    int32_t *group_of = rbt_array_new(m->node_count, sizeof *group_of, "driven nodes", c->error), *node, *group;
    rbt_motion_group *groups;
    size_t total = 0, driven = 0;
    for (size_t b = 0; b < m->body_count; b++) total += c->scene->bodies.items[b].driven.count;
    bool ok = chosen && group_of && RBT_TAKE(c, role, m->node_count) && RBT_TAKE(c, groups, total);
    for (size_t b = 0; ok && b < m->body_count; b++)
        ok = constrain_body(c, b, role, group_of, groups, &m->motions.group_count, chosen);
    for (size_t n = 0; ok && n < m->node_count; n++) driven += role[n] == RBT_DRIVEN;
    ok = ok && RBT_TAKE(c, node, driven) && RBT_TAKE(c, group, driven);
    for (size_t n = 0, at = 0; ok && n < m->node_count; n++) {
        if (role[n] != RBT_DRIVEN) continue;
        node[at] = (int32_t)n;
        group[at++] = group_of[n];
    }
    if (ok) {
        m->role = role;
        m->motions.groups = groups;
        m->motions.node_count = driven;
        m->motions.node = node;
        m->motions.group = group;
    }
    free(chosen);
    free(group_of);
    return ok;
}

// ---- The start

static void start_velocity(const rbt_model *m, const rbt_body *body, const rbt_velocity_def *def, const double *x,
                           double *v) {
    double centre[3] = {0};
    for (size_t n = body->node_begin; n < body->node_end; n++)
        rbt_add_scaled(centre, m->mass[n] / body->mass, x + 3 * n);
    for (size_t n = body->node_begin; n < body->node_end; n++) {
        if (m->role[n] == RBT_FIXED) continue;
        double arm[3], *vn = v + 3 * n;
        rbt_subtract(x + 3 * n, centre, arm);
        rbt_cross(def->angular, arm, vn);
        rbt_add_scaled(vn, 1, def->linear);
    }
}

// Offsets of cuts with a width follow the deformation of the point that they begin at.
static void offset_start(const rbt_dissection *cut, const rbt_mesh *uncut, const rbt_body *body,
                         const rbt_body_def *def, double *work, double *x) {
    size_t n = cut->node_count;
    double *plain = work, *moved = work + 3 * n;
    rbt_dissection_carry(cut, uncut->nodes, 3, plain);
    rbt_dissection_place(cut, uncut->nodes, moved);
    for (size_t i = 0; i < def->deform.count; i++)
        rbt_deform_points(work, 2 * n, &def->deform.items[i], body->box_min, body->box_max);
    for (size_t i = 0; i < 3 * n; i++) x[i] += moved[i] - plain[i];
}

// Deformations are not linear: nodes that cuts have made lie between the old ones at the start too.
static bool deform_body(rbt_compiler *c, size_t b, const rbt_body_def *def, double *x) {
    const rbt_body *body = &c->bodies[b];
    const rbt_mesh *uncut = c->uncut[b];
    const rbt_dissection *cut = rbt_compile_dissection(c, b);
    double *old = cut ? rbt_array_new(uncut->node_count, 3 * sizeof *old, "positions", c->error) : x;
    if (!old) return false;
    if (cut) memcpy(old, uncut->nodes, 3 * uncut->node_count * sizeof *old);
    for (size_t i = 0; i < def->deform.count; i++)
        rbt_deform_points(old, uncut->node_count, &def->deform.items[i], body->box_min, body->box_max);
    if (!cut) return true;
    double *work = cut->offset ? rbt_array_new(cut->node_count, 6 * sizeof *work, "positions", c->error) : NULL;
    rbt_dissection_carry(cut, old, 3, x);
    if (work) offset_start(cut, uncut, body, def, work, x);
    free(old);
    free(work);
    return work || !cut->offset;
}

// Of random directions, in which the body extends, and sizes up to `speed`: numbers that depend on seed and particle
// alone
static double random_number(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15ull;  // splitmix64
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return (double)((z ^ z >> 31) >> 11) / 9007199254740992.0;
}

static void scatter(const rbt_body *body, double *v) {
    uint64_t state = (uint64_t)body->particles.seed;
    for (size_t n = body->node_begin; body->particles.speed > 0 && n < body->node_end; n++) {
        double u[3], square;
        do {
            for (int k = 0; k < 3; k++)
                u[k] = body->box_max[k] > body->box_min[k] ? 2 * random_number(&state) - 1 : 0;
            square = rbt_dot(u, u);
        } while (square > 1 || square < 1e-6);
        rbt_add_scaled(v + 3 * n, body->particles.speed * random_number(&state) / sqrt(square), u);
    }
}

bool rbt_compile_start(rbt_compiler *c) {
    rbt_model *m = c->model;
    double *x0, *v0;
    if (!RBT_TAKE(c, x0, 3 * m->node_count) || !RBT_TAKE(c, v0, 3 * m->node_count)) return false;
    memcpy(x0, m->X, 3 * m->node_count * sizeof *x0);
    for (size_t b = 0; b < m->body_count; b++) {
        const rbt_body_def *def = &c->scene->bodies.items[b];
        const rbt_body *body = &c->bodies[b];
        if (!deform_body(c, b, def, x0 + 3 * body->node_begin)) return false;
        start_velocity(m, body, &def->velocity, x0, v0);
        if (body->kind == RBT_PARTICLES) scatter(body, v0);
    }
    m->x0 = x0;
    m->v0 = v0;
    return true;
}

// ---- Loads and obstacles

static bool find_body(rbt_compiler *c, const char *name, const char *path, size_t *begin, size_t *end) {
    *begin = 0;
    *end = c->model->body_count;
    if (!name) return true;
    for (size_t b = 0; b < c->model->body_count; b++)
        if (strcmp(c->bodies[b].name, name) == 0) {
            *begin = b;
            *end = b + 1;
            return true;
        }
    return rbt_fail_path(c->error, c->scene->file, path, "there is no body \"%s\"", name);
}

// Shares in proportion to mass: the selected part is accelerated, not torn.
bool rbt_compile_shares(rbt_compiler *c, const char *body_name, const rbt_selection *where, const char *path,
                        rbt_node_load *load) {
    rbt_model *m = c->model;
    size_t begin, end, count = 0, at = 0;
    if (!find_body(c, body_name, path, &begin, &end)) return false;
    unsigned char *chosen = rbt_array_new(m->node_count, 1, "a selection", c->error);
    bool ok = chosen != NULL;
    for (size_t b = begin; ok && b < end; b++)
        ok = rbt_compile_select(c, b, where, rbt_compile_path(c, "%s.where", path), chosen + c->bodies[b].node_begin);
    for (size_t n = 0; ok && n < m->node_count; n++) count += chosen[n] != 0;
    int32_t *nodes;
    double *share, total = 0;
    ok = ok && RBT_TAKE(c, nodes, count) && RBT_TAKE(c, share, count);
    for (size_t n = 0; ok && n < m->node_count; n++) {
        if (!chosen[n]) continue;
        nodes[at] = (int32_t)n;
        share[at++] = m->mass[n];
        total += m->mass[n];
    }
    for (size_t i = 0; ok && i < count; i++) share[i] /= total;
    if (ok) {
        load->node_count = count;
        load->nodes = nodes;
        load->share = share;
    }
    free(chosen);
    return ok;
}

bool rbt_compile_probes(rbt_compiler *c) {
    size_t count = c->scene->probes.count;
    rbt_probe *probes;
    if (!RBT_TAKE(c, probes, count)) return false;
    for (size_t i = 0; i < count; i++) {
        const rbt_probe_def *def = &c->scene->probes.items[i];
        rbt_node_load nodes = {0};
        if (!rbt_compile_shares(c, def->body, &def->where, rbt_compile_path(c, "probes[%zu]", i), &nodes))
            return false;
        probes[i] = (rbt_probe){rbt_arena_text(c->arena, def->name), nodes.node_count, nodes.nodes, nodes.share,
                                def->every == RBT_EVERY_STEP};
        if (!probes[i].name) return rbt_fail_memory(c->error, strlen(def->name), "a name");
    }
    c->model->probe_count = count;
    c->model->probes = probes;
    return true;
}

static bool copy_obstacles(rbt_compiler *c) {
    static const size_t sizes[] = {sizeof(rbt_obstacle_plane), sizeof(rbt_obstacle_sphere), sizeof(rbt_obstacle_box),
                                   sizeof(rbt_obstacle_capsule), sizeof(rbt_obstacle_mesh)};
    static const size_t motions_at[] = {offsetof(rbt_obstacle_plane, motions), offsetof(rbt_obstacle_sphere, motions),
                                        offsetof(rbt_obstacle_box, motions), offsetof(rbt_obstacle_capsule, motions),
                                        offsetof(rbt_obstacle_mesh, motions)};
    typedef RBT_LIST(rbt_motion) motion_list;
    size_t count = c->scene->obstacles.count;
    rbt_obstacle *items;
    rbt_motion_group *groups;
    if (!RBT_TAKE(c, items, count) || !RBT_TAKE(c, groups, count)) return false;
    for (size_t i = 0; i < count; i++) {
        const rbt_obstacle *o = &c->scene->obstacles.items[i];
        void *value = rbt_arena_take(c->arena, 1, sizes[o->which]);
        if (!value) return rbt_fail_memory(c->error, sizes[o->which], "an obstacle");
        memcpy(value, o->value, sizes[o->which]);
        motion_list motions;
        memcpy(&motions, (const char *)value + motions_at[o->which], sizeof motions);
        if (!copy_group(c, NULL, motions.items, motions.count, INFINITY, &groups[i])) return false;
        motions.items = (void *)groups[i].motions;
        memcpy((char *)value + motions_at[o->which], &motions, sizeof motions);
        items[i] = (rbt_obstacle){o->which, value};
    }
    c->model->obstacles = (rbt_obstacles){count, items, NULL};
    c->model->obstacle_motions = groups;
    return true;
}

// Meshes are read once, into the sources; what the description points to is the caller's and not needed any more.
static bool load_obstacle(rbt_compiler *c, size_t i, rbt_obstacle_geometry **geometry) {
    const rbt_obstacle_mesh *def = c->scene->obstacles.items[i].value;
    rbt_obstacle_geometry **source = &c->sources->obstacles[i];
    rbt_obstacle_mesh *copy = (rbt_obstacle_mesh *)(uintptr_t)c->model->obstacles.items[i].value;
    copy->mesh = (rbt_mesh_def){.shape = {-1, NULL}};
    copy->sequence = NULL;
    if (!*source && !(*source = rbt_obstacle_geometry_load(def, i, c->scene->folder, c->scene->file, c->error)))
        return false;
    *geometry = rbt_obstacle_geometry_keep(*source);
    if (!(*geometry)->open_edges) return true;
    return rbt_compile_warn(c,
                            "obstacles[%zu]: its surface is open, %zu edges have a triangle on one side only: things "
                            "may pass around the rim, and it has no inside",
                            i, (*geometry)->open_edges);
}

static bool load_obstacles(rbt_compiler *c) {
    rbt_obstacle_geometry **geometry;
    if (!RBT_TAKE(c, geometry, c->model->obstacles.count)) return false;
    c->model->obstacles.geometry = geometry;
    for (size_t i = 0; i < c->model->obstacles.count; i++)
        if (c->model->obstacles.items[i].which == RBT_OBSTACLE_MESH && !load_obstacle(c, i, &geometry[i]))
            return false;
    return true;
}

// Bodies of which a free node starts in an obstacle, deeper than a millionth of the body's size, which nobody would
// see.
static bool warn_inside(rbt_compiler *c) {
    const rbt_model *m = c->model;
    for (size_t o = 0; o < m->obstacles.count; o++)
        for (size_t b = 0; b < m->body_count; b++) {
            const rbt_body *body = &c->bodies[b];
            const rbt_obstacles one = {1, &m->obstacles.items[o], NULL};
            double size[3], deepest = 0;
            size_t count = 0, surface = 0;
            rbt_subtract(body->box_max, body->box_min, size);
            for (size_t i = body->node_begin; i < body->node_end; i++) {
                if (!(m->node_area[i] > 0) || m->role[i] != RBT_FREE) continue;
                double depth = rbt_obstacles_depth(&one, m->x0 + 3 * i);
                surface++;
                if (!(depth > 1e-6 * rbt_length(size))) continue;
                count++;
                deepest = fmax(deepest, depth);
            }
            if (count &&
                !rbt_compile_warn(c,
                                  "body \"%s\" starts inside obstacles[%zu]: %zu of its %zu surface nodes, up to "
                                  "%.3g m deep; %s",
                                  body->name, o, count, surface, deepest,
                                  c->scene->contact ? "contact keeps it there" : "it will be pushed out"))
                return false;
        }
    return true;
}

// Methods see its force where a step begins: k h^2 <= m keeps that stable.
static bool make_drag(rbt_compiler *c, const rbt_force_drag *def, size_t number, rbt_drag *drag) {
    const rbt_model *m = c->model;
    const char *path = rbt_compile_path(c, "forces[%zu].drag", number);
    rbt_node_load load = {0};
    double mass = 0;
    if (!rbt_compile_shares(c, def->body, &def->where, path, &load)) return false;
    for (size_t i = 0; i < load.node_count; i++) mass += m->mass[load.nodes[i]];
    *drag = (rbt_drag){.stiffness = def->stiffness,
                       .from = def->from,
                       .until = def->until,
                       .node_count = load.node_count,
                       .nodes = load.nodes,
                       .share = load.share};
    memcpy(drag->point, def->point, sizeof drag->point);
    if (isnan(c->scene->time.step) || def->stiffness * m->step * m->step <= mass) return true;
    return rbt_fail_path(
        c->error, c->scene->file, path,
        "a spring of %g N/m on nodes of %g kg is too stiff for steps of %g s: it may have %g N/m at most; take "
        "more nodes, a smaller step or a softer spring",
        def->stiffness, mass, m->step, mass / (m->step * m->step));
}

bool rbt_compile_loads(rbt_compiler *c) {
    rbt_model *m = c->model;
    size_t count = c->scene->forces.count, load_count = 0, wind_count = 0, drag_count = 0;
    rbt_node_load *loads;
    rbt_wind *winds;
    rbt_drag *drags;
    if (!RBT_TAKE(c, loads, count) || !RBT_TAKE(c, winds, count) || !RBT_TAKE(c, drags, count)) return false;
    for (size_t i = 0; i < count; i++) {
        const rbt_force *force = &c->scene->forces.items[i];
        rbt_node_load *load = &loads[load_count];
        switch ((rbt_force_kind)force->which) {
        case RBT_FORCE_GRAVITY: {
            const rbt_force_gravity *def = force->value;
            rbt_add_scaled(m->gravity, 1, def->acceleration);
            break;
        }
        case RBT_FORCE_PULL: {
            const rbt_force_pull *def = force->value;
            *load = (rbt_node_load){.from = def->from, .until = def->until};
            memcpy(load->force, def->force, sizeof load->force);
            if (!rbt_compile_shares(c, def->body, &def->where, rbt_compile_path(c, "forces[%zu].pull", i), load))
                return false;
            load_count++;
            break;
        }
        case RBT_FORCE_PULSE: {
            const rbt_force_pulse *def = force->value;
            *load = (rbt_node_load){.from = def->from, .until = def->from + def->duration, .pulse = true};
            memcpy(load->force, def->peak, sizeof load->force);
            if (!rbt_compile_shares(c, def->body, &def->where, rbt_compile_path(c, "forces[%zu].pulse", i), load))
                return false;
            load_count++;
            break;
        }
        case RBT_FORCE_WIND: {
            const rbt_force_wind *def = force->value;
            size_t begin, end;
            if (!find_body(c, def->body, rbt_compile_path(c, "forces[%zu].wind.body", i), &begin, &end)) return false;
            winds[wind_count++] = (rbt_wind){*def, c->bodies[begin].triangle_begin, c->bodies[end - 1].triangle_end};
            winds[wind_count - 1].def.body = NULL;
            break;
        }
        case RBT_FORCE_DRAG:
            if (!make_drag(c, force->value, i, &drags[drag_count++])) return false;
            break;
        case RBT_FORCE_KINDS: break;
        }
    }
    m->loads = (rbt_loads){load_count, loads, wind_count, winds, drag_count, drags};
    return copy_obstacles(c) && load_obstacles(c) && warn_inside(c);
}
