#include "model/materials.h"

#include "model/compile.h"
#include "model/fingerprint.h"

#include <math.h>
#include <string.h>

void rbt_materials_get(const rbt_model *m, const rbt_material_values *values) {
    for (size_t r = 0; r < m->region_count; r++)
        values->regions[r] = (rbt_elasticity){m->regions[r].material.young, m->regions[r].material.poisson};
    for (size_t b = 0; b < m->body_count; b++) values->damping[b] = m->bodies[b].damping;
}

bool rbt_materials_are(const rbt_model *m, const rbt_material_values *values) {
    bool same = true;
    for (size_t r = 0; r < m->region_count; r++)
        same &= m->regions[r].material.young == values->regions[r].young &&
                m->regions[r].material.poisson == values->regions[r].poisson;
    for (size_t b = 0; b < m->body_count; b++)
        same &= m->bodies[b].damping.mass == values->damping[b].mass &&
                m->bodies[b].damping.stiffness == values->damping[b].stiffness;
    return same;
}

bool rbt_materials_are_sound(const rbt_model *m, const rbt_material_values *values) {
    bool sound = true;
    for (size_t r = 0; r < m->region_count; r++) {
        const rbt_elasticity *e = &values->regions[r];
        sound &= e->young > 0 && isfinite(e->young) && e->poisson > -1 && e->poisson < 0.5;
    }
    for (size_t b = 0; b < m->body_count; b++) {
        const rbt_damping_def *d = &values->damping[b];
        sound &= d->mass >= 0 && isfinite(d->mass) && d->stiffness >= 0 && isfinite(d->stiffness);
    }
    return sound;
}

// Triangles of shells with the body's own numbers, which building their hinges asks for
static bool make_meshes(rbt_compiler *c) {
    const rbt_model *m = c->model;
    rbt_mesh *meshes;
    if (!RBT_TAKE(c, meshes, m->body_count) || !RBT_TAKE(c, c->meshes, m->body_count)) return false;
    for (size_t b = 0; b < m->body_count; b++) {
        const rbt_body *body = &m->bodies[b];
        c->meshes[b] = &meshes[b];
        if (body->kind != RBT_SHELL) continue;
        size_t count = body->triangle_end - body->triangle_begin;
        int32_t *triangles;
        if (!RBT_TAKE(c, triangles, 3 * count)) return false;
        for (size_t i = 0; i < 3 * count; i++)
            triangles[i] = m->triangles[3 * body->triangle_begin + i] - (int32_t)body->node_begin;
        meshes[b].node_count = body->node_end - body->node_begin;
        meshes[b].triangle_count = count;
        meshes[b].triangles = triangles;
    }
    return true;
}

static bool build(rbt_compiler *c, const rbt_material_values *values) {
    rbt_model *m = c->model;
    rbt_region *regions;
    if (!RBT_TAKE(c, regions, m->region_count) || !RBT_TAKE(c, c->bodies, m->body_count)) return false;
    for (size_t r = 0; r < m->region_count; r++) {
        regions[r] = m->regions[r];
        regions[r].material.young = values->regions[r].young;
        regions[r].material.poisson = values->regions[r].poisson;
    }
    for (size_t b = 0; b < m->body_count; b++) {
        c->bodies[b] = m->bodies[b];
        c->bodies[b].damping = values->damping[b];
    }
    m->regions = regions;
    m->bodies = c->bodies;
    m->group_count = 0;
    m->sheet_energy = 0;
    if (!make_meshes(c) || !rbt_compile_groups(c)) return false;
    rbt_compile_tet_steps(c);
    return rbt_compile_sheet_scales(c);
}

rbt_model *rbt_model_with_materials(rbt_model *model, const rbt_material_values *values, rbt_error *error) {
    rbt_model *after = rbt_model_share(model, error);
    if (!after) return NULL;
    rbt_compiler c = {.model = after, .arena = after->arena, .error = error};
    after->generation = model->generation + 1;
    if (!after->uncut_fingerprint) after->uncut_fingerprint = rbt_model_fingerprint(model);
    if (build(&c, values)) return after;
    rbt_model_free(after);
    return NULL;
}
