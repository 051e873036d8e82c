#include "step/implicit/rigid.h"

#include "math/svd3.h"
#include "math/vec3.h"

#include <string.h>

bool rbt_rigid_init(rbt_rigid *r, rbt_objective *objective, rbt_error *error) {
    *r = (rbt_rigid){.objective = objective, .arena = rbt_arena_new()};
    r->free = r->arena ? rbt_arena_take(r->arena, objective->pieces.count, 1) : NULL;
    if (r->free) return true;
    rbt_rigid_free(r);
    return rbt_fail_memory(error, objective->pieces.count, "a step");
}

void rbt_rigid_free(rbt_rigid *r) {
    rbt_arena_free(r->arena);
    *r = (rbt_rigid){0};
}

// The nodes of a piece are order[begin] … order[end - 1].
static void piece_nodes(const rbt_pieces *p, size_t piece, size_t *begin, size_t *end) {
    *begin = p->block_start[p->piece_start[piece]];
    *end = p->block_start[p->piece_start[piece + 1]];
}

// Whether every element of the model keeps its energy when it is turned
static bool turns_freely(const rbt_model *m) {
    for (size_t g = 0; g < m->group_count; g++) {
        const rbt_tets *tets = m->groups[g].type == &RBT_TETS ? m->groups[g].data : NULL;
        if (tets && !tets->material->rotation_invariant) return false;
    }
    return true;
}

static bool is_free(const rbt_objective *o, size_t piece) {
    size_t begin, end;
    piece_nodes(&o->pieces, piece, &begin, &end);
    const rbt_body *body = &o->model->bodies[o->model->node_body[o->pieces.order[begin]]];
    if (body->kind == RBT_PARTICLES || body->consistent_mass || body->damping.stiffness > 0) return false;
    for (size_t k = begin; k < end; k++)
        if (o->constrained[o->pieces.order[k]] || !(o->model->mass[o->pieces.order[k]] > 0)) return false;
    return true;
}

void rbt_rigid_begin(rbt_rigid *r) {
    const rbt_objective *o = r->objective;
    bool able = turns_freely(o->model) && !o->mass.matrix.value;
    r->any = false;
    for (size_t p = 0; p < o->pieces.count; p++) {
        r->free[p] = able && is_free(o, p);
        r->any |= r->free[p];
    }
}

static bool touches(const rbt_model *m, const double *z, const int32_t *order, size_t begin, size_t end) {
    for (size_t k = begin; m->obstacles.count && k < end; k++) {
        size_t n = (size_t)order[k];
        if (m->node_area[n] > 0 && rbt_obstacles_node(&m->obstacles, z + 3 * n, m->node_area[n], NULL, NULL) > 0)
            return true;
    }
    return false;
}

// g of a node
static void goal(const rbt_objective *o, size_t n, double g[3]) {
    double mass = o->model->mass[n], damping = o->tau * o->model->bodies[o->model->node_body[n]].damping.mass;
    for (size_t i = 3 * n; i < 3 * n + 3; i++)
        g[i - 3 * n] =
            (o->target[i] + o->tau * o->tau * o->external[i] / mass + damping * o->base[i]) / (1 + damping);
}

// x += shift + (Q - I) (x - c) with shift the mean of g - z: what is added is small, so that no mean of large
// coordinates leaves its rounding in the momentum of all nodes.
static void fit_piece(const rbt_objective *o, size_t piece, double *z) {
    size_t begin, end;
    const int32_t *order = o->pieces.order;
    double g[3], c[3] = {0}, shift[3] = {0}, S[9] = {0}, U[9], sigma[3], V[9], Q[9], total = 0;
    piece_nodes(&o->pieces, piece, &begin, &end);
    if (touches(o->model, z, order, begin, end)) return;
    for (size_t k = begin; k < end; k++) {
        size_t n = (size_t)order[k];
        goal(o, n, g);
        for (size_t i = 0; i < 3; i++) shift[i] += o->model->mass[n] * (g[i] - z[3 * n + i]);
        rbt_add_scaled(c, o->model->mass[n], z + 3 * n);
        total += o->model->mass[n];
    }
    for (size_t i = 0; i < 3; i++) shift[i] /= total, c[i] /= total;
    for (size_t k = begin; k < end; k++) {
        size_t n = (size_t)order[k];
        double from[3];
        goal(o, n, g);
        rbt_subtract(z + 3 * n, c, from);
        for (size_t i = 0; i < 9; i++) S[i] += o->model->mass[n] * (g[i / 3] - c[i / 3] - shift[i / 3]) * from[i % 3];
    }
    rbt_svd3(S, U, sigma, V);
    if (!(sigma[1] + sigma[2] > 1e-9 * sigma[0])) return;  // the turn about a line of nodes is not determined
    for (size_t i = 0; i < 9; i++) Q[i] = rbt_dot(U + 3 * (i / 3), V + 3 * (i % 3)) - (i % 4 == 0);
    for (size_t k = begin; k < end; k++) {
        double *x = z + 3 * (size_t)order[k], from[3];
        rbt_subtract(x, c, from);
        for (size_t i = 0; i < 3; i++) x[i] += shift[i] + rbt_dot(Q + 3 * i, from);
    }
}

void rbt_rigid_fit(const rbt_rigid *r, double *z) {
    for (size_t p = 0; r->any && p < r->objective->pieces.count; p++)
        if (r->free[p]) fit_piece(r->objective, p, z);
}
