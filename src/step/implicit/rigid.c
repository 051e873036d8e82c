#include "step/implicit/rigid.h"

#include "math/svd3.h"
#include "math/vec3.h"
#include "step/contact/contact_parts.h"

#include <string.h>

typedef struct rbt_rigid_marks {  // of a cluster
    bool bound;                   // something prescribed is in it
    bool stiff;                   // it can only be shifted
    bool mixed;                   // nodes of other methods are in it
    bool damped;                  // masses are, of some body
} rbt_rigid_marks;

typedef struct rbt_rigid_sums {  // of a cluster
    double mass, centre[3], shift[3], S[9], Q[9];
} rbt_rigid_sums;

bool rbt_rigid_init(rbt_rigid *r, rbt_objective *objective, rbt_error *error) {
    *r = (rbt_rigid){.objective = objective, .arena = rbt_arena_new()};
    r->free = r->arena ? rbt_arena_take(r->arena, objective->pieces.count, 1) : NULL;
    r->held = r->arena ? rbt_arena_take(r->arena, objective->pieces.count, sizeof *r->held) : NULL;
    bool ok = r->free && r->held;
    if (ok && objective->model->contact.on) {
        size_t nodes = objective->model->node_count;
        ok = (r->cluster = rbt_arena_take(r->arena, nodes, sizeof *r->cluster)) &&
             (r->marks = rbt_arena_take(r->arena, nodes, sizeof *r->marks)) &&
             (r->sums = rbt_arena_take(r->arena, nodes, sizeof *r->sums)) &&
             (r->shift = rbt_arena_take(r->arena, 3 * nodes, sizeof *r->shift));
    }
    if (ok) return true;
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

static bool is_other(const rbt_objective *o, size_t n) { return o->others && o->others->is_other[n]; }

static bool is_free(const rbt_objective *o, size_t piece) {
    size_t begin, end;
    piece_nodes(&o->pieces, piece, &begin, &end);
    if (begin == end) return true;  // other ranks know
    const rbt_body *body = &o->model->bodies[o->model->node_body[o->pieces.order[begin]]];
    if (body->kind == RBT_PARTICLES || body->consistent_mass || body->damping.stiffness > 0) return false;
    if (is_other(o, (size_t)o->pieces.order[begin])) return false;
    for (size_t k = begin; k < end; k++)
        if (o->constrained[o->pieces.order[k]] || !(o->model->mass[o->pieces.order[k]] > 0)) return false;
    return true;
}

void rbt_rigid_begin(rbt_rigid *r) {
    const rbt_objective *o = r->objective;
    bool able = turns_freely(o->model) && !o->mass.matrix.value;
    r->any = false;
    for (size_t p = 0; p < o->pieces.count; p++) r->held[p] = !(able && is_free(o, p));
    rbt_ranks_most(o->model, r->held, o->pieces.count);
    for (size_t p = 0; p < o->pieces.count; p++) {
        r->free[p] = r->held[p] == 0;
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
    double mass = o->model->mass[n],
           damping = o->tau * o->drag * o->model->bodies[o->model->node_body[n]].damping.mass;
    for (size_t i = 3 * n; i < 3 * n + 3; i++)
        g[i - 3 * n] =
            (o->target[i] + o->tau * o->tau * o->external[i] / mass + damping * o->base[i]) / (1 + damping);
}

// Q - I of the turn that S asks for; false: it is not determined.
static bool turn_of(const double S[9], double Q[9]) {
    double U[9], sigma[3], V[9];
    rbt_svd3(S, U, sigma, V);
    for (size_t i = 0; i < 9; i++) Q[i] = rbt_dot(U + 3 * (i / 3), V + 3 * (i % 3)) - (i % 4 == 0);
    return sigma[1] + sigma[2] > 1e-9 * sigma[0];
}

// x += shift + (Q - I) (x - c) with shift the mean of g - z: what is added is small, so that no mean of large
// coordinates leaves its rounding in the momentum of all nodes.
static void fit_piece(const rbt_objective *o, size_t piece, double *z) {
    size_t begin, end;
    const int32_t *order = o->pieces.order;
    double g[3], c[3], shift[3], S[9], Q[9], total[7];
    rbt_terms terms;
    piece_nodes(&o->pieces, piece, &begin, &end);
    if (rbt_ranks_any(o->model, touches(o->model, z, order, begin, end))) return;
    rbt_terms_begin(&terms, 7);
    for (size_t k = begin; k < end; k++) {
        size_t n = (size_t)order[k];
        if (!rbt_ranks_owns(o->model, n)) continue;
        size_t at = rbt_terms_next(&terms);
        double mass = terms.value[6][at] = o->model->mass[n];
        goal(o, n, g);
        for (size_t i = 0; i < 3; i++) {
            terms.value[i][at] = mass * (g[i] - z[3 * n + i]);
            terms.value[3 + i][at] = mass * z[3 * n + i];
        }
    }
    rbt_terms_end(&terms, o->model, total);
    for (size_t i = 0; i < 3; i++) shift[i] = total[i] / total[6], c[i] = total[3 + i] / total[6];
    rbt_terms_begin(&terms, 9);
    for (size_t k = begin; k < end; k++) {
        size_t n = (size_t)order[k];
        double from[3];
        if (!rbt_ranks_owns(o->model, n)) continue;
        size_t at = rbt_terms_next(&terms);
        goal(o, n, g);
        rbt_subtract(z + 3 * n, c, from);
        for (size_t i = 0; i < 9; i++)
            terms.value[i][at] = o->model->mass[n] * (g[i / 3] - c[i / 3] - shift[i / 3]) * from[i % 3];
    }
    rbt_terms_end(&terms, o->model, S);
    if (!turn_of(S, Q)) return;  // the turn about a line of nodes is not determined
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

// ---- Clusters of contact

static void join_pieces(const rbt_rigid *r) {
    const rbt_objective *o = r->objective;
    const rbt_pieces *p = &o->pieces;
    for (size_t n = 0; n < o->model->node_count; n++) r->cluster[n] = (int32_t)n;
    for (size_t piece = 0; piece < p->count; piece++) {
        size_t begin, end;
        piece_nodes(p, piece, &begin, &end);
        if (o->model->bodies[o->model->node_body[p->order[begin]]].kind == RBT_PARTICLES) continue;
        for (size_t k = begin + 1; k < end; k++) rbt_pieces_join(r->cluster, p->order[begin], p->order[k]);
    }
}

// The nodes of a pair belong together; obstacles bind them.
static void join_pair(const rbt_rigid *r, const int32_t node[4]) {
    int32_t first = -1;
    bool obstacle = false;
    for (int k = 0; k < 4; k++) {
        if (node[k] < 0) continue;
        if ((size_t)node[k] >= r->objective->model->node_count) obstacle = true;
        else if (first < 0) first = node[k];
        else rbt_pieces_join(r->cluster, first, node[k]);
    }
    if (obstacle && first >= 0) r->marks[first].bound = true;
}

static void stiffen(const rbt_rigid *r, const int32_t node[4]) {
    for (int k = 0; k < 4; k++)
        if (node[k] >= 0 && (size_t)node[k] < r->objective->model->node_count) r->marks[node[k]].stiff = true;
}

static void find_clusters(const rbt_rigid *r) {
    const rbt_objective *o = r->objective;
    const rbt_step_contact *c = o->pairs;
    size_t nodes = o->model->node_count;
    bool stiff = !turns_freely(o->model);
    join_pieces(r);
    for (size_t n = 0; n < nodes; n++) {
        const rbt_damping_def *damping = &o->model->bodies[o->model->node_body[n]].damping;
        r->marks[n] = (rbt_rigid_marks){.bound = o->constrained[n] || !(o->model->mass[n] > 0),
                                        .stiff = stiff || damping->stiffness > 0,
                                        .mixed = is_other(o, n),
                                        .damped = damping->mass > 0};
    }
    for (size_t i = 0; i < c->active_count; i++) {
        join_pair(r, c->active[i].pair.node);
        if (c->rate > 1) stiffen(r, c->active[i].pair.node);
    }
    for (size_t i = 0; i < c->rubbing_count; i++) {
        join_pair(r, c->rubbing[i].node);
        stiffen(r, c->rubbing[i].node);
    }
    for (size_t n = 0; n < nodes; n++) {
        rbt_rigid_marks *all = &r->marks[rbt_pieces_root(r->cluster, (int32_t)n)];
        all->bound |= r->marks[n].bound;
        all->stiff |= r->marks[n].stiff;
        all->mixed |= r->marks[n].mixed;
        all->damped |= r->marks[n].damped;
    }
}

static bool moves(const rbt_rigid *r, size_t root) { return !r->marks[root].bound && !r->marks[root].mixed; }

// Whether a cluster may move as a whole
static bool any_moves(const rbt_rigid *r) {
    bool any = false;
    for (size_t n = 0; n < r->objective->model->node_count; n++) any |= (size_t)r->cluster[n] == n && moves(r, n);
    return any;
}

static void sum_up(const rbt_rigid *r, const double *z) {
    const rbt_objective *o = r->objective;
    size_t nodes = o->model->node_count;
    double g[3], from[3];
    memset(r->sums, 0, nodes * sizeof *r->sums);
    for (size_t n = 0; n < nodes; n++) {
        size_t root = (size_t)rbt_pieces_root(r->cluster, (int32_t)n);
        rbt_rigid_sums *sum = &r->sums[root];
        double mass = o->model->mass[n];
        if (!moves(r, root)) continue;
        goal(o, n, g);
        for (size_t i = 0; i < 3; i++) sum->shift[i] += mass * (g[i] - z[3 * n + i]);
        rbt_add_scaled(sum->centre, mass, z + 3 * n);
        sum->mass += mass;
    }
    for (size_t n = 0; n < nodes; n++)
        for (size_t i = 0; i < 3 && r->sums[n].mass > 0; i++)
            r->sums[n].shift[i] /= r->sums[n].mass, r->sums[n].centre[i] /= r->sums[n].mass;
    for (size_t n = 0; n < nodes; n++) {
        size_t root = (size_t)rbt_pieces_root(r->cluster, (int32_t)n);
        rbt_rigid_sums *sum = &r->sums[root];
        if (!moves(r, root) || r->marks[root].stiff) continue;
        goal(o, n, g);
        rbt_subtract(z + 3 * n, sum->centre, from);
        for (size_t i = 0; i < 9; i++)
            sum->S[i] += o->model->mass[n] * (g[i / 3] - sum->centre[i / 3] - sum->shift[i / 3]) * from[i % 3];
    }
    for (size_t n = 0; n < nodes; n++) {
        rbt_rigid_sums *sum = &r->sums[n];
        if (sum->mass > 0 && (r->marks[n].stiff || !turn_of(sum->S, sum->Q))) memset(sum->Q, 0, sizeof sum->Q);
    }
}

void rbt_rigid_fit_clusters(rbt_rigid *r, double *z) {
    rbt_objective *o = r->objective;
    size_t nodes = o->model->node_count;
    if (o->mass.matrix.value) return;
    find_clusters(r);
    if (!any_moves(r)) {
        rbt_contact_put(o->pairs, z, o->pairs->share);
        return;
    }
    sum_up(r, z);
    for (size_t n = 0; n < nodes; n++) {
        size_t root = (size_t)rbt_pieces_root(r->cluster, (int32_t)n);
        const rbt_rigid_sums *sum = &r->sums[root];
        double from[3];
        rbt_subtract(z + 3 * n, sum->centre, from);
        for (size_t i = 0; i < 3; i++)
            r->shift[3 * n + i] = moves(r, root) ? sum->shift[i] + rbt_dot(sum->Q + 3 * i, from) : 0;
    }
    if (!(rbt_step_contact_limit(o->pairs, z, r->shift, o->pairs->share, 0) >= 1)) return;
    for (size_t i = 0; i < 3 * nodes; i++) z[i] += r->shift[i];
}

void rbt_rigid_balance(const rbt_rigid *r, const double *v0, double *v) {
    const rbt_objective *o = r->objective;
    const double *mass = o->model->mass;
    if (o->mass.matrix.value) return;
    for (size_t n = 0; n < o->model->node_count; n++) {
        rbt_rigid_sums *sum = &r->sums[n];
        sum->mass = 0;
        memset(sum->shift, 0, sizeof sum->shift);
    }
    for (size_t n = 0; n < o->model->node_count; n++) {
        rbt_rigid_sums *sum = &r->sums[rbt_pieces_root(r->cluster, (int32_t)n)];
        sum->mass += mass[n];
        for (size_t i = 3 * n; i < 3 * n + 3; i++)
            sum->shift[i - 3 * n] +=
                (is_other(o, n) ? o->others->given[i] : o->tau * o->external[i]) - mass[n] * (v[i] - v0[i]);
    }
    for (size_t n = 0; n < o->model->node_count; n++) {
        size_t root = (size_t)rbt_pieces_root(r->cluster, (int32_t)n);
        const rbt_rigid_sums *sum = &r->sums[root];
        if (!r->marks[root].mixed || r->marks[root].bound || r->marks[root].damped) continue;
        for (size_t i = 0; i < 3; i++) v[3 * n + i] += sum->shift[i] / sum->mass;
    }
}
