#include "step/implicit/energy_leash.h"

#include "base/threads.h"
#include "math/svd3.h"
#include "math/vec3.h"
#include "step/contact/contact_parts.h"

#include <string.h>

// A step may change the velocities about the rigid motion by these shares of themselves. Without contact a step needs a
// thousandth; within an impact that is over in a few steps, several times as much.
static const double MOST_GIVEN = 10, MOST_TAKEN = -0.5;

// Of energies that sums are made of: rounding, of sums of millions; and squares of velocities that are nothing else
static const double ENERGY_ROUNDING = 1e-14, SPEED_ROUNDING = 1e-20;

typedef struct rbt_leash_push {
    double force[3];    // [N] by contact with what is prescribed
    double carried[3];  // [N m/s] its velocity, by the size of its forces
    double size;        // [N] sum of these
} rbt_leash_push;

typedef struct rbt_leash_set {     // a piece or cluster, at one of its nodes
    size_t prescribed;             // nodes
    double weight, centre[3];      // of the nodes that count
    double velocity[3], omega[3];  // of their rigid motion
    double inertia[9], angular[3];
    bool deviates;  // prescribed nodes from that
    rbt_leash_push push;
} rbt_leash_set;

typedef struct rbt_leash_sum {  // of an account
    double along, square;       // sum m v.d, sum m d.d
    double mass, share;         // share: of d that v gets
} rbt_leash_sum;

// ---- Making

static bool turns_freely(const rbt_model *m) {
    for (size_t g = 0; g < m->group_count; g++) {
        const rbt_tets *tets = m->groups[g].type == &RBT_TETS ? m->groups[g].data : NULL;
        if (tets && !tets->material->rotation_invariant) return false;
    }
    return true;
}

static void find_pieces(rbt_energy_leash *l) {
    const rbt_model *m = l->objective->model;
    const rbt_pieces *p = &l->objective->pieces;
    for (size_t n = 0; n < m->node_count; n++) l->piece[n] = (int32_t)n;
    for (size_t i = 0; i < p->count; i++) {
        size_t begin = p->block_start[p->piece_start[i]], end = p->block_start[p->piece_start[i + 1]];
        if (begin == end || m->bodies[m->node_body[p->order[begin]]].kind == RBT_PARTICLES) continue;
        for (size_t k = begin; k < end; k++) l->piece[p->order[k]] = p->order[begin];  // nodes ascend
    }
}

bool rbt_energy_leash_init(rbt_energy_leash *l, rbt_objective *objective, double decay, rbt_error *error) {
    const rbt_model *m = objective->model;
    *l = (rbt_energy_leash){.objective = objective, .arena = rbt_arena_new(), .decay = decay};
    size_t values = 3 * m->node_count + 1;
    bool ok = l->arena && (l->start = rbt_arena_take(l->arena, values, sizeof *l->start)) &&
              (l->end = rbt_arena_take(l->arena, values, sizeof *l->end)) &&
              (l->outside = rbt_arena_take(l->arena, values, sizeof *l->outside)) &&
              (l->penalty = rbt_arena_take(l->arena, values, sizeof *l->penalty)) &&
              (l->direction = rbt_arena_take(l->arena, values, sizeof *l->direction)) &&
              (l->element = rbt_arena_take(l->arena, RBT_CHUNK * m->plan.chunk_count + 1, sizeof *l->element)) &&
              (l->piece = rbt_arena_take(l->arena, m->node_count + 1, sizeof *l->piece)) &&
              (l->cluster = rbt_arena_take(l->arena, m->node_count + 1, sizeof *l->cluster)) &&
              (l->turning = rbt_arena_take(l->arena, m->node_count + 1, sizeof *l->turning)) &&
              (l->account = rbt_arena_take(l->arena, m->body_count + 1, sizeof *l->account)) &&
              (l->energy = rbt_arena_take(l->arena, m->body_count + 1, sizeof *l->energy)) &&
              (l->size = rbt_arena_take(l->arena, m->body_count + 1, sizeof *l->size)) &&
              (l->pushes = rbt_arena_take(l->arena, m->node_count + 1, sizeof *l->pushes)) &&
              (l->sets = rbt_arena_take(l->arena, m->node_count + 1, sizeof *l->sets)) &&
              (l->sums = rbt_arena_take(l->arena, m->body_count + 1, sizeof *l->sums));
    if (!ok) {
        rbt_energy_leash_free(l);
        return rbt_fail_memory(error, values * sizeof(rbt_leash_set), "a step's energies");
    }
    l->turns = turns_freely(m);
    find_pieces(l);
    return true;
}

void rbt_energy_leash_free(rbt_energy_leash *l) {
    rbt_arena_free(l->arena);
    *l = (rbt_energy_leash){0};
}

static bool is_free(const rbt_energy_leash *l, size_t n) {
    return !l->objective->constrained[n] && l->objective->model->mass[n] > 0;
}

// ---- Energies and forces at the two ends

static void enter(rbt_energy_leash *l, int32_t body, double energy) {
    l->energy[body] += energy;
    l->size[body] += fabs(energy);
}

// energy (body_count) += sign (T + W + C) at x, v, and size the sizes of what is added. Sums follow the order of
// elements and nodes.
static void add_energies(rbt_energy_leash *l, const double *x, const double *v, double sign) {
    const rbt_model *m = l->objective->model;
#pragma omp parallel for schedule(static) if (m->node_count >= RBT_PARALLEL_FROM)
    for (size_t c = 0; c < m->plan.chunk_count; c++) {
        const rbt_chunk *chunk = &m->plan.chunks[c];
        const rbt_group *group = &m->groups[chunk->group];
        group->type->energy(group, chunk->first, chunk->count, x, l->element + RBT_CHUNK * c);
    }
    for (size_t c = 0; c < m->plan.chunk_count; c++) {
        const rbt_chunk *chunk = &m->plan.chunks[c];
        const rbt_group *group = &m->groups[chunk->group];
        const int32_t *nodes = group->nodes + (size_t)group->type->corners * chunk->first;
        for (size_t e = 0; e < chunk->count; e++)
            enter(l, m->node_body[nodes[(size_t)group->type->corners * e]], sign * l->element[RBT_CHUNK * c + e]);
    }
    for (size_t n = 0; n < m->node_count; n++) {
        double kinetic = is_free(l, n) ? 0.5 * m->mass[n] * rbt_dot(v + 3 * n, v + 3 * n) : 0, penalty = 0;
        if (l->objective->contact && m->node_area[n] > 0)
            penalty = rbt_obstacles_node(&m->obstacles, x + 3 * n, m->node_area[n], NULL, NULL);
        enter(l, m->node_body[n], sign * (kinetic + penalty));
    }
}

void rbt_energy_leash_begin(rbt_energy_leash *l, const rbt_state *state) {
    rbt_objective *o = l->objective;
    const rbt_model *m = o->model;
    memset(l->energy, 0, m->body_count * sizeof *l->energy);
    memset(l->size, 0, m->body_count * sizeof *l->size);
    add_energies(l, state->x, state->v, 1);
    memset(l->start, 0, 3 * m->node_count * sizeof *l->start);
    rbt_force_elastic(m, state->x, NULL, o->partial, l->start);
    rbt_force_external(m, state->t, state->x, state->v, l->outside);
    memset(l->penalty, 0, 3 * m->node_count * sizeof *l->penalty);
    if (o->contact) rbt_force_contact(m, state->x, l->penalty, NULL);
    memset(l->pushes, 0, m->node_count * sizeof *l->pushes);
    memcpy(l->cluster, l->piece, m->node_count * sizeof *l->cluster);
    for (size_t b = 0; b < m->body_count; b++) l->account[b] = (int32_t)b;
}

void rbt_energy_leash_forces(rbt_energy_leash *l, const double *x, double *difference) {
    rbt_objective *o = l->objective;
    const rbt_model *m = o->model;
    memset(l->end, 0, 3 * m->node_count * sizeof *l->end);
    rbt_force_elastic(m, x, NULL, o->partial, l->end);
    memcpy(l->direction, o->external, 3 * m->node_count * sizeof *l->direction);
    if (o->contact) rbt_force_contact(m, x, l->direction, NULL);
    for (size_t i = 0; i < 3 * m->node_count; i++)
        difference[i] =
            is_free(l, i / 3)
                ? (l->start[i] + l->outside[i] + l->penalty[i] - l->end[i] - l->direction[i]) / m->mass[i / 3]
                : 0;
}

// ---- Contact

static bool is_prescribed(const rbt_energy_leash *l, int32_t node) {
    return (size_t)node >= l->objective->model->node_count || !is_free(l, (size_t)node);
}

// The free nodes of a pair are of one cluster and their bodies of one account; returns the first, -1: there is none.
static int32_t join(rbt_energy_leash *l, const int32_t node[4]) {
    const int32_t *body = l->objective->model->node_body;
    int32_t first = -1;
    for (int k = 0; k < 4 && node[k] >= 0; k++) {
        if (is_prescribed(l, node[k])) continue;
        if (first < 0) first = node[k];
        rbt_pieces_join(l->cluster, first, node[k]);
        rbt_pieces_join(l->account, body[first], body[node[k]]);
    }
    return first;
}

// Energies of pairs, for the body of their first node that is free
static void add_pairs(rbt_energy_leash *l, double sign) {
    const rbt_step_contact *c = l->objective->pairs;
    for (size_t i = 0; i < c->active_count; i++) {
        int32_t first = join(l, c->active[i].pair.node);
        if (first >= 0 && !c->augmented)
            l->energy[l->objective->model->node_body[first]] += sign * c->active[i].value;
    }
}

void rbt_energy_leash_touch(rbt_energy_leash *l) { add_pairs(l, 1); }

// What a pair with these forces at its corners (the gradient, so with the other sign) does: work of its prescribed
// corners, and their push on its cluster
static void take_pair(rbt_energy_leash *l, const int32_t node[4], const double gradient[12], double dissipation) {
    const rbt_step_contact *c = l->objective->pairs;
    int32_t first = join(l, node);
    if (first < 0) return;
    rbt_leash_push *push = &l->pushes[first];
    double work = -dissipation;
    for (int k = 0; k < 4 && node[k] >= 0; k++) {
        double move[3], size = rbt_length(gradient + 3 * k);
        if (!is_prescribed(l, node[k])) continue;
        rbt_subtract(c->y + 3 * (size_t)node[k], c->x0 + 3 * (size_t)node[k], move);
        work += rbt_dot(gradient + 3 * k, move);
        rbt_add_scaled(push->force, 1, gradient + 3 * k);  // the other corners get the opposite of this one's force
        rbt_add_scaled(push->carried, size / c->h, move);
        push->size += size;
    }
    l->energy[l->objective->model->node_body[first]] += work;
}

void rbt_energy_leash_take(rbt_energy_leash *l) {
    const rbt_step_contact *c = l->objective->pairs;
    for (size_t i = 0; i < c->active_count; i++) take_pair(l, c->active[i].pair.node, c->gradients + 12 * i, 0);
    for (size_t i = 0; i < c->rubbing_count; i++) {
        const rbt_rubbing_pair *pair = &c->rubbing[i];
        double move[12], from[12], gradient[12], dissipation = 0;
        rbt_contact_gather(pair->node, c->y, move);
        rbt_contact_gather(pair->node, c->x0, from);
        for (int k = 0; k < 12; k++) move[k] -= from[k];
        rbt_pair_friction_gradient(&pair->friction, move, gradient);
        for (int k = 0; k < 12; k++) dissipation += gradient[k] * move[k];
        take_pair(l, pair->node, gradient, dissipation);
    }
}

// Obstacles by penalty push, too, and do not move.
static void take_penalties(rbt_energy_leash *l, const double *x) {
    const rbt_model *m = l->objective->model;
    for (size_t n = 0; l->objective->contact && n < m->node_count; n++) {
        double force[3] = {0};
        if (!is_free(l, n) || !(m->node_area[n] > 0)) continue;
        rbt_obstacles_node(&m->obstacles, x + 3 * n, m->node_area[n], force, NULL);
        rbt_add_scaled(l->pushes[n].force, 1, force);
        l->pushes[n].size += rbt_length(force);
    }
}

// ---- Rigid motions

// omega of I omega = L; directions about which nothing can be turned have none.
static void turn_of(const double I[9], const double L[3], double omega[3]) {
    double U[9], sigma[3], V[9];
    rbt_svd3(I, U, sigma, V);
    memset(omega, 0, 3 * sizeof *omega);
    for (int k = 0; k < 3; k++) {
        const double u[3] = {U[k], U[3 + k], U[6 + k]}, v[3] = {V[k], V[3 + k], V[6 + k]};
        if (fabs(sigma[k]) > 1e-9 * sigma[0]) rbt_add_scaled(omega, rbt_dot(u, L) / sigma[k], v);
    }
}

static void add_inertia(rbt_leash_set *set, double mass, const double r[3], const double p[3]) {
    double L[3];
    rbt_cross(r, p, L);
    rbt_add_scaled(set->angular, 1, L);
    for (int i = 0; i < 9; i++) set->inertia[i] += mass * ((i % 4 == 0 ? rbt_dot(r, r) : 0) - r[i / 3] * r[i % 3]);
}

static void clear_sets(rbt_energy_leash *l, int32_t *root) {
    const rbt_model *m = l->objective->model;
    memset(l->sets, 0, m->node_count * sizeof *l->sets);
    for (size_t n = 0; n < m->node_count; n++) {
        rbt_leash_set *set = &l->sets[rbt_pieces_root(root, (int32_t)n)];
        set->prescribed += l->objective->constrained[n];
        rbt_add_scaled(set->push.force, 1, l->pushes[n].force);
        rbt_add_scaled(set->push.carried, 1, l->pushes[n].carried);
        set->push.size += l->pushes[n].size;
    }
}

// What a node counts for in the motion of its set: its mass or, where prescribed nodes hold the set, one of these 1
static double weight_of(const rbt_energy_leash *l, const rbt_leash_set *set, size_t n, bool held) {
    if (held && set->prescribed) return l->objective->constrained[n];
    return is_free(l, n) ? l->objective->model->mass[n] : 0;
}

// The rigid motion, in the mean, of the velocities v of every set at x
static void find_motions(rbt_energy_leash *l, int32_t *root, const double *x, const double *v, bool held) {
    size_t nodes = l->objective->model->node_count;
    clear_sets(l, root);
    for (size_t n = 0; n < nodes; n++) {
        rbt_leash_set *set = &l->sets[rbt_pieces_root(root, (int32_t)n)];
        double weight = weight_of(l, set, n, held);
        set->weight += weight;
        rbt_add_scaled(set->centre, weight, x + 3 * n);
        rbt_add_scaled(set->velocity, weight, v + 3 * n);
    }
    for (size_t n = 0; n < nodes; n++)
        for (size_t i = 0; i < 3 && l->sets[n].weight > 0; i++)
            l->sets[n].centre[i] /= l->sets[n].weight, l->sets[n].velocity[i] /= l->sets[n].weight;
    for (size_t n = 0; n < nodes; n++) {
        rbt_leash_set *set = &l->sets[rbt_pieces_root(root, (int32_t)n)];
        double weight = weight_of(l, set, n, held), r[3], p[3];
        rbt_subtract(x + 3 * n, set->centre, r);
        for (size_t i = 0; i < 3; i++) p[i] = weight * (v[3 * n + i] - set->velocity[i]);
        if (weight > 0) add_inertia(set, weight, r, p);
    }
    for (size_t n = 0; n < nodes; n++)
        if (l->sets[n].weight > 0) turn_of(l->sets[n].inertia, l->sets[n].angular, l->sets[n].omega);
}

// d -= the rigid motion of its set at a node
static void leave_motion(const rbt_leash_set *set, const double x[3], double d[3]) {
    double r[3], turn[3];
    rbt_subtract(x, set->centre, r);
    rbt_cross(set->omega, r, turn);
    for (size_t i = 0; i < 3; i++) d[i] -= set->velocity[i] + turn[i];
}

// What turns as one: a cluster, or where something is prescribed in it each of its pieces
static void choose_turning(rbt_energy_leash *l) {
    size_t nodes = l->objective->model->node_count;
    clear_sets(l, l->cluster);
    for (size_t n = 0; n < nodes; n++) {
        int32_t root = rbt_pieces_root(l->cluster, (int32_t)n);
        l->turning[n] = l->sets[root].prescribed ? l->piece[n] : root;
    }
}

// The angular momentum of a set changes by the torque, about the end, of all forces but the elastic ones:
//   L_1 = L_0 + sum r_1 x (m (v_1 - v_0) - h f),   f = (1 - theta) f_0 + theta f_1
// so that v lacks the angular momentum sum r_0 x m v_0 - r_1 x (m v_0 + h f), r from the centre of mass. The sums are
// taken about the centre and with the velocities of the set at the start: centre_0, V_0.
static void keep_angular_momentum(rbt_energy_leash *l, const double *x0, const double *v0, double h, double theta,
                                  const double *x, double *v) {
    const rbt_model *m = l->objective->model;
    if (!l->turns) return;
    choose_turning(l);
    find_motions(l, l->turning, x, v0, false);
    for (size_t n = 0; n < m->node_count; n++) {
        memset(l->sets[n].angular, 0, sizeof l->sets[n].angular);
        memset(l->sets[n].omega, 0, sizeof l->sets[n].omega);  // centre_0 until it is used
    }
    for (size_t n = 0; n < m->node_count; n++) {
        rbt_leash_set *set = &l->sets[rbt_pieces_root(l->turning, (int32_t)n)];
        if (is_free(l, n)) rbt_add_scaled(set->omega, m->mass[n] / set->weight, x0 + 3 * n);
    }
    for (size_t n = 0; n < m->node_count; n++) {
        rbt_leash_set *set = &l->sets[rbt_pieces_root(l->turning, (int32_t)n)];
        double r0[3], r1[3], p0[3], p1[3], before[3], after[3];
        if (!is_free(l, n)) continue;
        rbt_subtract(x0 + 3 * n, set->omega, r0);
        rbt_subtract(x + 3 * n, set->centre, r1);
        for (size_t i = 0; i < 3; i++) {
            p0[i] = m->mass[n] * (v0[3 * n + i] - set->velocity[i]);
            p1[i] = p0[i] + h * ((1 - theta) * l->start[3 * n + i] + theta * l->end[3 * n + i]);
        }
        rbt_cross(r0, p0, before);
        rbt_cross(r1, p1, after);
        rbt_add_scaled(set->angular, 1, before);
        rbt_add_scaled(set->angular, -1, after);
    }
    for (size_t n = 0; n < m->node_count; n++) {
        memset(l->sets[n].velocity, 0, sizeof l->sets[n].velocity);
        if (l->sets[n].weight > 0) turn_of(l->sets[n].inertia, l->sets[n].angular, l->sets[n].omega);
        for (size_t i = 0; i < 3; i++) l->sets[n].omega[i] = -l->sets[n].omega[i];  // of what is too much
    }
    for (size_t n = 0; n < m->node_count; n++) {
        const rbt_leash_set *set = &l->sets[rbt_pieces_root(l->turning, (int32_t)n)];
        if (is_free(l, n) && !set->prescribed) leave_motion(set, x + 3 * n, v + 3 * n);
    }
}

// ---- The balance

// Work of outside forces and of prescribed nodes on elements, less what damping takes
static void add_work(rbt_energy_leash *l, const double *x0, const double *x, double h, double theta) {
    rbt_objective *o = l->objective;
    const rbt_model *m = o->model;
    const double *damping = rbt_objective_damping(o, x0, x);
    for (size_t n = 0; n < m->node_count; n++) {
        double work = 0;
        for (size_t i = 3 * n; i < 3 * n + 3; i++) {
            double way = x[i] - x0[i], outer = (1 - theta) * l->outside[i] + theta * o->external[i];
            if (o->constrained[n]) work -= 0.5 * (l->start[i] + l->end[i]) * way;
            else work += (outer - (damping ? damping[i] / h : 0)) * way;
        }
        enter(l, m->node_body[n], work);
    }
}

// direction = h M^-1 (f_1 - f_0), without a rigid motion where nothing is prescribed
static void find_damping(rbt_energy_leash *l, double h, const double *x) {
    const rbt_model *m = l->objective->model;
    for (size_t i = 0; i < 3 * m->node_count; i++)
        l->direction[i] = is_free(l, i / 3) ? h * (l->end[i] - l->start[i]) / m->mass[i / 3] : 0;
    find_motions(l, l->piece, x, l->direction, false);
    for (size_t n = 0; n < m->node_count; n++) {
        const rbt_leash_set *set = &l->sets[rbt_pieces_root(l->piece, (int32_t)n)];
        if (is_free(l, n) && !set->prescribed) leave_motion(set, x + 3 * n, l->direction + 3 * n);
    }
}

// Sets whose prescribed nodes do not move as one are held at rest. Their mean motion would leave velocities about it
// where nodes are held, and what is given along these pulls at the constraints.
static void keep_rigid_holds(rbt_energy_leash *l, const double *x, const double *v) {
    size_t nodes = l->objective->model->node_count;
    for (size_t n = 0; n < nodes; n++) {
        rbt_leash_set *set = &l->sets[rbt_pieces_root(l->cluster, (int32_t)n)];
        double left[3] = {v[3 * n], v[3 * n + 1], v[3 * n + 2]}, whole = rbt_dot(left, left);
        if (!l->objective->constrained[n]) continue;
        leave_motion(set, x + 3 * n, left);
        set->deviates |= rbt_dot(left, left) > 1e-12 * (whole + rbt_dot(set->velocity, set->velocity));
    }
    for (size_t n = 0; n < nodes; n++) {
        if (!l->sets[n].deviates) continue;
        memset(l->sets[n].velocity, 0, sizeof l->sets[n].velocity);
        memset(l->sets[n].omega, 0, sizeof l->sets[n].omega);
    }
}

// direction = d of energy_leash.h
static void find_scaling(rbt_energy_leash *l, const double *x, const double *v) {
    const rbt_model *m = l->objective->model;
    find_motions(l, l->cluster, x, v, true);
    keep_rigid_holds(l, x, v);
    for (size_t n = 0; n < m->node_count; n++) {
        const rbt_leash_set *set = &l->sets[rbt_pieces_root(l->cluster, (int32_t)n)];
        double *d = l->direction + 3 * n, normal[3], approach[3], size = rbt_length(set->push.force);
        memset(d, 0, 3 * sizeof *d);
        if (!is_free(l, n)) continue;
        rbt_add_scaled(d, 1, v + 3 * n);
        leave_motion(set, x + 3 * n, d);
        if (set->prescribed || !(size > 0)) continue;
        for (size_t i = 0; i < 3; i++) {
            normal[i] = set->push.force[i] / size;
            approach[i] = set->velocity[i] - set->push.carried[i] / set->push.size;
        }
        rbt_add_scaled(d, rbt_dot(normal, approach), normal);
    }
}

// Of each account: sum m v.d, sum m d.d
static void sum_direction(rbt_energy_leash *l, const double *v) {
    const rbt_model *m = l->objective->model;
    memset(l->sums, 0, m->body_count * sizeof *l->sums);
    for (size_t n = 0; n < m->node_count; n++) {
        rbt_leash_sum *sum = &l->sums[rbt_pieces_root(l->account, m->node_body[n])];
        const double *d = l->direction + 3 * n;
        sum->mass += m->mass[n];
        sum->along += m->mass[n] * rbt_dot(v + 3 * n, d);
        sum->square += m->mass[n] * rbt_dot(d, d);
    }
}

// The share s of d by which T rises by `missing`: T(s) = T + along s + square s^2 / 2, or comes closest to that, in
// units of along / square; of the two the one nearer to 0. In this unit: s + s^2 / 2 = missing square / along^2
static double share_for(const rbt_leash_sum *sum, double missing) {
    double part = missing * sum->square / (sum->along * sum->along), root = 1 + 2 * part;
    if (!isfinite(part)) return 0;
    return root > 0 ? 2 * part / (1 + sqrt(root)) : -1;
}

static void add_shares(const rbt_energy_leash *l, double *v) {
    const rbt_model *m = l->objective->model;
    for (size_t n = 0; n < m->node_count; n++)
        rbt_add_scaled(v + 3 * n, l->sums[rbt_pieces_root(l->account, m->node_body[n])].share, l->direction + 3 * n);
}

// v += share d; what is missing falls by what that gives.
static void follow(rbt_energy_leash *l, size_t account, double share) {
    rbt_leash_sum *sum = &l->sums[account];
    sum->share = share;
    l->energy[account] -= share * (sum->along + 0.5 * share * sum->square);
}

// Whether there is something to set right, and velocities to do it with. What is missing by the rounding of energies is
// none, nor are velocities by the rounding of larger ones: scaled up step by step they would become a noise of the
// square root of that.
static bool is_off(const rbt_energy_leash *l, size_t account) {
    double noise = ENERGY_ROUNDING * (l->size[account] + l->objective->unit_energy);
    return l->account[account] == (int32_t)account && fabs(l->energy[account]) > noise &&
           l->sums[account].square > SPEED_ROUNDING * l->size[account];
}

// Too much, by the stiffness, at most up to theta = 1
static void take(rbt_energy_leash *l, double h, double theta, const double *x, double *v) {
    find_damping(l, h, x);
    sum_direction(l, v);
    for (size_t b = 0; b < l->objective->model->body_count; b++) {
        const rbt_leash_sum *sum = &l->sums[b];
        if (!is_off(l, b) || !(l->energy[b] < 0 && sum->along < 0)) continue;
        follow(l, b, fmin(share_for(sum, l->energy[b]) * sum->along / sum->square, 1 - theta));
    }
    add_shares(l, v);
}

// The rest, by scaling. Where velocities are nearly at right angles to d, little can be given along it: a share of
// along / square, not of 1, lest a square root make a large change of what is missing by an error of the step.
static void scale(rbt_energy_leash *l, const double *x, double *v) {
    find_scaling(l, x, v);
    sum_direction(l, v);
    for (size_t b = 0; b < l->objective->model->body_count; b++) {
        const rbt_leash_sum *sum = &l->sums[b];
        if (!is_off(l, b)) continue;
        double share = fmin(fmax(share_for(sum, l->energy[b]), MOST_TAKEN), MOST_GIVEN);
        follow(l, b, share * sum->along / sum->square);
    }
    add_shares(l, v);
}

void rbt_energy_leash_finish(rbt_energy_leash *l, rbt_state *state, const double *x0, const double *v0, double h,
                             double theta, double *debt) {
    const rbt_model *m = l->objective->model;
    const double *x = state->x;
    double *v = state->v;
    keep_angular_momentum(l, x0, v0, h, theta, x, v);
    take_penalties(l, x);
    add_work(l, x0, x, h, theta);
    add_energies(l, x, v, -1);
    if (l->objective->pairs) add_pairs(l, -1);
    for (size_t b = 0; b < m->body_count; b++) {  // an account has what its bodies have
        int32_t root = rbt_pieces_root(l->account, (int32_t)b);
        l->energy[b] += debt[b];
        if (root == (int32_t)b) continue;
        l->energy[root] += l->energy[b];
        l->size[root] += l->size[b];
    }
    if (l->decay > 0) {
        find_scaling(l, x, v);
        sum_direction(l, v);
        for (size_t b = 0; b < m->body_count; b++) l->energy[b] -= l->decay * h * l->sums[b].square;
    }
    take(l, h, theta, x, v);
    scale(l, x, v);
    for (size_t b = 0; b < m->body_count; b++) {
        int32_t root = rbt_pieces_root(l->account, (int32_t)b);
        debt[b] = l->sums[root].mass > 0 ? l->energy[root] * m->bodies[b].mass / l->sums[root].mass : 0;
    }
}
