// Energies, forces and stiffness of the pairs of step contact. See step_contact.h.
#include "base/threads.h"
#include "math/scalar.h"
#include "math/vec3.h"
#include "model/contact_settings.h"
#include "step/contact/contact_constraints.h"
#include "step/contact/contact_multipliers.h"
#include "step/contact/contact_parts.h"
#include "step/contact/contact_terms.h"

#include <string.h>

// Edges count as nearly parallel below this share of the largest |e1 x e2|^2 that they can have (Li et al. 2020)
static const double PARALLEL_SHARE = 1e-3;

// ---- One pair

void rbt_contact_gather(const int32_t node[4], const double *x, double corners[12]) {
    for (int k = 0; k < 4; k++) {
        if (node[k] >= 0) memcpy(corners + 3 * k, x + 3 * (size_t)node[k], 3 * sizeof *corners);
        else memset(corners + 3 * k, 0, 3 * sizeof *corners);
    }
}

static double rest_length2(const rbt_contact_surface *s, int32_t a, int32_t b) {
    double along[3];
    rbt_subtract(s->def.X + 3 * (size_t)b, s->def.X + 3 * (size_t)a, along);
    return rbt_dot(along, along);
}

// Of a node and a surface it is the node's: it must not change as the node slides.
static double raise_of(const rbt_step_contact *c, rbt_touch_kind kind, const int32_t node[4]) {
    double most = c->raise[node[0]];
    for (int k = 1; kind == RBT_TOUCH_EDGES && k < 4; k++) most = fmax(most, c->raise[node[k]]);
    return most;
}

void rbt_contact_make_pair(const rbt_step_contact *c, rbt_pair_key key, rbt_contact_pair *pair) {
    const rbt_contact_surface *s = &c->primitives;
    rbt_touch_kind kind = rbt_pair_key_kind(key);
    int corners = rbt_pair_corners(kind);
    int32_t *node = pair->node;
    rbt_pair_barrier *b = &pair->barrier;
    *pair = (rbt_contact_pair){.key = key};
    rbt_pair_nodes(s, key, node);
    for (int k = corners; k < 4; k++) node[k] = -1;
    *b = (rbt_pair_barrier){.kind = kind, .dhat = c->thickness, .scale = INFINITY};
    if (kind == RBT_TOUCH_FACE || kind == RBT_TOUCH_EDGE) {
        bool body = (size_t)node[1] < c->model->node_count;
        b->scale = fmin(c->stiffness[node[0]], body ? c->body_stiffness[c->model->node_body[node[1]]] : INFINITY);
    } else
        for (int k = 0; k < corners; k++) b->scale = fmin(b->scale, c->stiffness[node[k]]);
    if (c->uses_raise && c->is_raised) b->scale *= raise_of(c, kind, node);
    b->inside = rbt_pair_inside(s, key, node) + c->half_gap[node[0]] + c->half_gap[node[corners - 1]];
    if (kind == RBT_TOUCH_EDGES)
        b->parallel = PARALLEL_SHARE * rest_length2(s, node[0], node[1]) * rest_length2(s, node[2], node[3]);
    if (kind == RBT_TOUCH_WALL) memcpy(b->wall_normal, s->def.walls[key & 0x3fffffff].normal, sizeof b->wall_normal);
}

double rbt_contact_gap_of(const rbt_contact_pair *pair, const double *x) {
    double corners[12];
    rbt_contact_gather(pair->node, x, corners);
    return rbt_pair_barrier_gap(&pair->barrier, corners);
}

bool rbt_contact_is_far(const rbt_contact_pair *pair, const double *from, const double *to, double within) {
    rbt_touch_kind kind = pair->barrier.kind;
    int first = rbt_pair_first(kind), corners = rbt_pair_corners(kind);
    double reach = pair->barrier.inside + within;
    if (kind == RBT_TOUCH_WALL) return false;
    for (int k = 0; k < 3; k++) {
        double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
        for (int i = 0; i < corners; i++) {
            int side = i >= first;
            low[side] = rbt_smaller(low[side], rbt_smaller(from[3 * i + k], to[3 * i + k]));
            high[side] = rbt_larger(high[side], rbt_larger(from[3 * i + k], to[3 * i + k]));
        }
        if (low[0] - high[1] > reach || low[1] - high[0] > reach) return true;
    }
    return false;
}

static int side_of(const rbt_step_contact *c, int32_t node) {
    int32_t obstacle = c->surface.obstacle[node];
    return obstacle >= 0 ? -1 - obstacle : c->model->node_body[node];
}

double rbt_contact_friction_of(const rbt_step_contact *c, const int32_t node[4], int corners) {
    return rbt_contact_settings_friction(&c->model->contact, side_of(c, node[0]), side_of(c, node[corners - 1]));
}

// ---- Positions

void rbt_contact_put(rbt_step_contact *c, const double *z, double share) {
    size_t values = 3 * c->model->node_count;
    double *y = c->y;
    for (size_t i = 0; i < values; i++) y[i] = c->rate > 1 ? 2 * z[i] - c->last[i] : z[i];
    for (size_t i = values; i < 3 * c->node_count; i++)
        y[i] = share < 1 ? c->x0[i] + share * (c->x1[i] - c->x0[i]) : c->x1[i];
}

// The narrow list holds a little further than it must, for the next iterations, which move less; the wide one for
// steps.
bool rbt_contact_prepare(rbt_step_contact *c, const double *x, const double *y) {
    double narrow = fmin(0.5 * c->thickness, 0.1 * c->edge_length), wide = c->thickness + 0.1 * c->edge_length;
    size_t count;
    double start = rbt_now();
    if (!rbt_candidates_prepare(&c->candidates, c->x0, x, y, narrow, wide)) goto failed;
    if (c->pairs && c->listed == c->candidates.lists) goto done;
    count = c->candidates.count;
    if (!rbt_array_reserve((void **)&c->pairs, &c->pair_capacity, count + 1, sizeof *c->pairs, "contact", NULL) ||
        !rbt_array_reserve((void **)&c->values, &c->value_capacity, count + 1, sizeof *c->values, "contact", NULL))
        goto failed;
#pragma omp parallel for schedule(static) if (count >= RBT_PARALLEL_FROM)
    for (size_t i = 0; i < count; i++) {
        rbt_contact_make_pair(c, c->candidates.keys[i], &c->pairs[i]);
        if (c->augmented && c->constrained) rbt_multipliers_apply(c, &c->pairs[i]);
    }
    c->listed = c->candidates.lists;
done:
    c->effort.search_seconds += rbt_now() - start;
    return true;
failed:
    c->out_of_memory = true;
    return false;
}

bool rbt_contact_place(rbt_step_contact *c, const double *z, double share) {
    rbt_contact_put(c, z, share);
    return rbt_contact_prepare(c, c->y, c->y);
}

// ---- Energy

static bool reserve(rbt_step_contact *c, void *items, size_t *capacity, size_t need, size_t size) {
    if (rbt_array_reserve(items, capacity, need, size, "contact", NULL)) return true;
    c->out_of_memory = true;
    return false;
}

// Energies of all candidates into c->values; their sum
static double barrier_energy(rbt_step_contact *c) {
    size_t count = c->candidates.count;
    double sum = 0;
    if (!c->augmented) return rbt_contact_terms_make(c, &sum) ? sum : INFINITY;
#pragma omp parallel for schedule(static) if (count >= RBT_PARALLEL_FROM)
    for (size_t i = 0; i < count; i++) {
        double corners[12];
        rbt_contact_gather(c->pairs[i].node, c->y, corners);
        bool far = rbt_contact_is_far(&c->pairs[i], corners, corners, c->support);
        c->values[i] = far ? 0 : rbt_pair_barrier_value(&c->pairs[i].barrier, corners);
    }
    for (size_t i = 0; i < count; i++) sum += c->values[i];  // far candidates add 0: which are listed changes no bit
    return sum;
}

static void moved(const rbt_step_contact *c, const int32_t node[4], double move[12]) {
    double start[12];
    rbt_contact_gather(node, c->y, move);
    rbt_contact_gather(node, c->x0, start);
    for (int i = 0; i < 12; i++) move[i] -= start[i];
}

static double friction_energy(const rbt_step_contact *c) {
    double sum = 0, move[12];
    for (size_t i = 0; i < c->rubbing_count; i++) {
        moved(c, c->rubbing[i].node, move);
        sum += rbt_pair_friction_value(&c->rubbing[i].friction, move);
    }
    return sum;
}

static double weight(const rbt_step_contact *c) { return c->tau * c->tau / c->rate; }

double rbt_step_contact_value(rbt_step_contact *c, const double *z, double share) {
    if (c->linearised) {
        rbt_contact_put(c, z, share);
        return weight(c) * (rbt_constraints_value(c) + friction_energy(c));
    }
    if (!rbt_contact_place(c, z, share)) return INFINITY;
    return weight(c) * (barrier_energy(c) + friction_energy(c));
}

// ---- Forces

// Pairs with energy, in their order
static bool list_active(rbt_step_contact *c) {
    size_t count = 0;
    if (!c->augmented) {
        if (!reserve(c, &c->active, &c->active_capacity, c->term_count, sizeof *c->active)) return false;
        c->active_count = 0;
        for (size_t i = 0; i < c->term_count; i++)
            if (c->terms[i].value != 0) c->active[c->active_count++] = c->terms[i];
        return true;
    }
    for (size_t i = 0; i < c->candidates.count; i++) count += c->values[i] > 0;
    if (!reserve(c, &c->active, &c->active_capacity, count, sizeof *c->active)) return false;
    c->active_count = 0;
    for (size_t i = 0; i < c->candidates.count; i++)
        if (c->values[i] > 0)
            c->active[c->active_count++] = (rbt_active_pair){.pair = c->pairs[i], .value = c->values[i]};
    return true;
}

static void scatter(const rbt_step_contact *c, const int32_t node[4], const double gradient[12]) {
    for (int k = 0; k < 4; k++)
        if (node[k] >= 0) rbt_add_scaled(c->force + 3 * (size_t)node[k], -1, gradient + 3 * k);
}

// Of the barrier
static bool barrier_forces(rbt_step_contact *c, const double *z, double share, double *energy) {
    if (!rbt_contact_place(c, z, share)) return false;
    *energy = barrier_energy(c);
    if (!isfinite(*energy) || !list_active(c)) return false;
    size_t need = c->active_count;
    if (!reserve(c, &c->gradients, &c->gradient_capacity, 12 * need, sizeof(double))) return false;
    if (need > c->effort.most_pairs) c->effort.most_pairs = need;
    memset(c->force, 0, 3 * c->node_count * sizeof *c->force);
    memset(c->hardness, 0, c->node_count * sizeof *c->hardness);
#pragma omp parallel for schedule(static) if (need >= RBT_PARALLEL_FROM)
    for (size_t i = 0; i < need; i++) {
        const rbt_contact_pair *pair = &c->active[i].pair;
        double corners[12];
        rbt_contact_gather(pair->node, c->y, corners);
        rbt_pair_barrier_gradient(&pair->barrier, corners, c->gradients + 12 * i);
        c->active[i].gap = rbt_contact_gap_of(pair, c->y);
        c->active[i].hardness = rbt_pair_barrier_stiffness(&pair->barrier, c->active[i].gap);
    }
    for (size_t i = 0; i < need; i++) {
        const int32_t *node = c->active[i].pair.node;
        scatter(c, node, c->gradients + 12 * i);
        for (int k = 0; k < 4; k++)
            if (node[k] >= 0) c->hardness[node[k]] += fmax(0, c->active[i].hardness);
    }
    return true;
}

// Friction is stiffest where nothing slips: f0''(0) = 2/e.
static void harden(const rbt_step_contact *c, const rbt_rubbing_pair *pair) {
    const rbt_pair_friction *f = &pair->friction;
    for (int k = 0; k < 4; k++)
        if (pair->node[k] >= 0) c->hardness[pair->node[k]] += 2 * f->limit / f->smooth * f->weight[k] * f->weight[k];
}

double rbt_step_contact_gradient(rbt_step_contact *c, const double *z, double share) {
    double energy, gradient[12], move[12];
    if (c->linearised) rbt_contact_put(c, z, share);
    if (!(c->linearised ? rbt_constraints_gradient(c, &energy) : barrier_forces(c, z, share, &energy)))
        return INFINITY;
    for (size_t i = 0; i < c->rubbing_count; i++) {
        moved(c, c->rubbing[i].node, move);
        energy += rbt_pair_friction_gradient(&c->rubbing[i].friction, move, gradient);
        scatter(c, c->rubbing[i].node, gradient);
        harden(c, &c->rubbing[i]);
    }
    return weight(c) * energy;
}

// ---- Stiffness

// Number of hessians: those of active pairs, then those of rubbing ones
static size_t term_count(const rbt_step_contact *c) { return c->active_count + c->rubbing_count; }

static const int32_t *term_nodes(const rbt_step_contact *c, size_t i) {
    return i < c->active_count ? c->active[i].pair.node : c->rubbing[i - c->active_count].node;
}

static void term_hessian(const rbt_step_contact *c, size_t i, bool exact, double *hessian) {
    double corners[12], gradient[12];
    if (i < c->active_count) {
        const rbt_contact_pair *pair = &c->active[i].pair;
        if (c->linearised) {
            rbt_constraint_hessian(&c->active[i], hessian);
            return;
        }
        rbt_contact_gather(pair->node, c->y, corners);
        if (exact) rbt_pair_barrier_exact_hessian(&pair->barrier, corners, gradient, hessian);
        else rbt_pair_barrier_hessian(&pair->barrier, corners, gradient, hessian);
    } else {
        const rbt_rubbing_pair *pair = &c->rubbing[i - c->active_count];
        moved(c, pair->node, corners);
        (c->cautious ? rbt_pair_friction_secant : rbt_pair_friction_hessian)(&pair->friction, corners, gradient,
                                                                             hessian);
    }
}

// Whether a corner is an unknown of the step
static bool is_free(const rbt_step_contact *c, int32_t node) {
    return node >= 0 && (size_t)node < c->model->node_count && !c->constrained[node];
}

static bool want_blocks(rbt_step_contact *c, const int32_t node[4]) {
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < a; b++)
            if (is_free(c, node[a]) && is_free(c, node[b]) && !rbt_contact_matrix_want(&c->matrix, node[a], node[b]))
                return false;
    return true;
}

// Pairs that do not push yet but may do so in this step get their blocks as well, once some pair has none: the next one
// then finds its own, and nothing has to be ordered again.
static bool want_all(rbt_step_contact *c) {
    size_t count = term_count(c), before = c->matrix.wanted_count;
    for (size_t i = 0; i < count; i++)
        if (!want_blocks(c, term_nodes(c, i))) return false;
    if (c->matrix.arranged && c->matrix.wanted_count == before) return true;
    for (size_t i = 0; i < c->candidates.count; i++) {
        const rbt_contact_pair *pair = &c->pairs[i];
        double corners[12];
        rbt_contact_gather(pair->node, c->y, corners);
        if (rbt_contact_is_far(pair, corners, corners, c->ahead)) continue;
        if (rbt_contact_gap_of(pair, c->y) < c->ahead && !want_blocks(c, pair->node)) return false;
    }
    return true;
}

bool rbt_step_contact_hessian(rbt_step_contact *c, const rbt_block_matrix *H, bool exact) {
    size_t count = term_count(c);
    if (!reserve(c, &c->hessians, &c->hessian_capacity, 144 * count, sizeof(double))) return false;
    if (!reserve(c, &c->corners, &c->corner_capacity, 4 * count, sizeof *c->corners)) return false;
    double scale = weight(c) * c->rate * c->rate;
#pragma omp parallel for schedule(static) if (count >= 64)
    for (size_t i = 0; i < count; i++) {
        double *hessian = c->hessians + 144 * i;
        term_hessian(c, i, exact, hessian);
        for (int k = 0; k < 144; k++) hessian[k] *= scale;
        memcpy(c->corners + 4 * i, term_nodes(c, i), 4 * sizeof *c->corners);
    }
    if (!want_all(c) || !rbt_contact_matrix_arrange(&c->matrix)) return false;
    rbt_contact_matrix_copy(&c->matrix, H->value, count > 0);
    return rbt_contact_matrix_sum(&c->matrix, count, c->corners, c->hessians, c->constrained);
}

// H couples free nodes with constrained ones and with obstacles: what these are about to move, free nodes feel.
void rbt_step_contact_couple(const rbt_step_contact *c, double *rhs) {
    double left = 1 - c->share;
    for (size_t i = 0; i < term_count(c); i++) {
        const int32_t *node = term_nodes(c, i);
        const double *hessian = c->hessians + 144 * i;  // scaled, for unknowns z: y moves r times as far
        for (int b = 0; b < 4; b++) {
            if (node[b] < 0 || is_free(c, node[b])) continue;
            for (int a = 0; a < 4; a++) {
                if (!is_free(c, node[a])) continue;
                for (int k = 0; k < 9; k++) {
                    size_t j = 3 * (size_t)node[b] + (size_t)(k % 3);
                    rhs[3 * (size_t)node[a] + (size_t)(k / 3)] +=
                        hessian[12 * (3 * a + k / 3) + 3 * b + k % 3] * left * (c->x1[j] - c->x0[j]) / c->rate;
                }
            }
        }
    }
}

// ---- Friction

// The normal force of an active pair, and the shape that friction needs
static double contact_of(const rbt_step_contact *c, const rbt_active_pair *active, rbt_gap_shape *shape) {
    if (c->linearised) {
        *shape = (rbt_gap_shape){.corners = rbt_pair_corners(active->pair.barrier.kind)};
        memcpy(shape->gap.weight, active->weight, sizeof shape->gap.weight);
        memcpy(shape->gap.normal, active->normal, sizeof shape->gap.normal);
        rbt_gap_shape_frame(shape);
        return active->force;
    }
    double corners[12];
    rbt_contact_gather(active->pair.node, c->y, corners);
    return rbt_pair_barrier_contact(&active->pair.barrier, corners, shape);
}

// Of the forces of a group, how much is left of the positive ones if the negative ones are taken off them
static double share_left(const double *force, const rbt_active_pair *active, size_t count) {
    double pushing = 0, sum = 0;
    for (size_t i = 0; i < count && active[i].group == active->group; i++) {
        pushing += fmax(0, force[i]);
        sum += force[i];
    }
    return sum < pushing ? fmax(0, sum / pushing) : 1;
}

bool rbt_step_contact_normal_forces(rbt_step_contact *c) {
    if (!reserve(c, &c->lagged, &c->lagged_capacity, c->active_count, sizeof *c->lagged)) return false;
    rbt_gap_shape shape;
    for (size_t i = 0; i < c->active_count; i++) c->lagged[i] = contact_of(c, &c->active[i], &shape);
    for (size_t i = 0, next; i < c->active_count; i = next) {
        double left = share_left(c->lagged + i, c->active + i, c->active_count - i);
        for (next = i; next < c->active_count && c->active[next].group == c->active[i].group; next++)
            c->lagged[next] = left * fmax(0, c->lagged[next]);
    }
    return true;
}

void rbt_step_contact_lag(rbt_step_contact *c, const double *z) {
    (void)z;
    c->rubbing_count = 0;
    if (!c->has_friction) return;
    if (!reserve(c, &c->rubbing, &c->rubbing_capacity, c->active_count, sizeof *c->rubbing)) return;
    if (!rbt_step_contact_normal_forces(c)) return;
    for (size_t i = 0; i < c->active_count; i++) {
        const rbt_contact_pair *pair = &c->active[i].pair;
        rbt_gap_shape shape;
        double mu = rbt_contact_friction_of(c, pair->node, rbt_pair_corners(pair->barrier.kind));
        if (!(mu > 0) || !(c->lagged[i] > 0)) continue;
        double force = contact_of(c, &c->active[i], &shape);
        rbt_rubbing_pair *rubbing = &c->rubbing[c->rubbing_count++];
        memcpy(rubbing->node, pair->node, sizeof rubbing->node);
        rbt_gap_gradient(&shape.gap, rubbing->change);
        for (int k = 0; k < 12; k++) rubbing->change[k] *= -c->active[i].hardness / force;
        rbt_pair_friction_make(&shape, mu * c->lagged[i], c->h * c->slip_speed, &rubbing->friction);
    }
}

void rbt_step_contact_couple_friction(const rbt_step_contact *c, const double *p, double *rhs) {
    double scale = weight(c) * c->rate * c->rate, move[12], force[12];
    for (size_t i = 0; i < c->rubbing_count; i++) {
        const rbt_rubbing_pair *pair = &c->rubbing[i];
        double change = 0;
        for (int k = 0; k < 4; k++)
            if (is_free(c, pair->node[k])) change += rbt_dot(pair->change + 3 * k, p + 3 * (size_t)pair->node[k]);
        moved(c, pair->node, move);
        rbt_pair_friction_gradient(&pair->friction, move, force);
        for (int k = 0; k < 4; k++)
            if (is_free(c, pair->node[k]))
                rbt_add_scaled(rhs + 3 * (size_t)pair->node[k], scale * change, force + 3 * k);
    }
}
