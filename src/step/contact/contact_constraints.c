#include "step/contact/contact_constraints.h"

#include "base/threads.h"
#include "math/vec3.h"
#include "step/contact/contact_parts.h"

#include <string.h>

// m over the stiffness of the softer side; of d^, what counts as near; rounds without force until a constraint is
// dropped
static const double PENALTY = 100, NEAR = 2;
enum { IDLE_ROUNDS = 4 };
// Of the wanted gap: how much of what is missing at its start a step makes good, and what may be missing before gaps
// are restored
static const double RECOVERY = 0.1, RESTORE = 0.5;

void rbt_constraints_begin(rbt_step_contact *c) { c->constraint_count = 0; }

// ---- One constraint

static double along(const rbt_contact_constraint *k, const double *y) {
    double across[3] = {0};
    for (int i = 0; i < 4; i++)
        if (k->pair.node[i] >= 0) rbt_add_scaled(across, k->weight[i], y + 3 * (size_t)k->pair.node[i]);
    return rbt_dot(k->normal, across);
}

static double constraint_at(const rbt_contact_constraint *k, const double *y) {
    return along(k, y) - k->pair.barrier.inside - k->target;
}

static bool is_free(const rbt_step_contact *c, int32_t node) {
    return node >= 0 && (size_t)node < c->model->node_count && !c->constrained[node];
}

double rbt_contact_softer_side(const rbt_step_contact *c, const rbt_contact_pair *pair) {
    int first = rbt_pair_first(pair->barrier.kind);
    double side[2] = {0, 0};
    for (int i = 0; i < 4; i++) {
        if (!is_free(c, pair->node[i])) continue;
        double *own = &side[i >= first];
        *own = fmax(*own, c->firmness[pair->node[i]]);
    }
    if (side[0] > 0 && side[1] > 0) return fmin(side[0], side[1]);
    return fmax(side[0], side[1]);
}

// The normal and weights that the pair has at these corners. false: its nearest points coincide.
static bool linearise(rbt_contact_constraint *k, const double corners[12]) {
    rbt_gap gap;
    rbt_gap_measure_any(k->pair.barrier.kind, corners, k->pair.barrier.wall_normal, &gap);
    if (!(fabs(gap.distance) > 0)) return false;
    memcpy(k->weight, gap.weight, sizeof k->weight);
    memcpy(k->normal, gap.normal, sizeof k->normal);
    return true;
}

// false: the pair has no unknowns
static bool make(const rbt_step_contact *c, const rbt_contact_pair *pair, rbt_contact_constraint *k) {
    double softer = rbt_contact_softer_side(c, pair), start = rbt_contact_gap_of(pair, c->x0);
    *k = (rbt_contact_constraint){.pair = *pair, .penalty = PENALTY * softer};
    k->target = c->thickness;
    if (start < c->thickness) k->target = start + RECOVERY * (c->thickness - start);
    return softer > 0;
}

// ---- The set, ascending by key

static size_t find(const rbt_step_contact *c, rbt_pair_key key) {
    size_t low = 0, high = c->constraint_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->constraints[middle].pair.key < key) low = middle + 1;
        else high = middle;
    }
    return low;
}

// What has been added behind the first `old` of c->constraints, ascending as these are, is merged with them.
static void merge(rbt_step_contact *c, size_t old, size_t added) {
    rbt_contact_constraint *all = c->constraints;
    size_t total = old + added, from = old, into = total;
    // the added ones wait behind the room for all
    memcpy(all + total, all + old, added * sizeof *all);
    rbt_contact_constraint *fresh = all + total;
    while (added > 0) {
        bool old_last = from > 0 && all[from - 1].pair.key > fresh[added - 1].pair.key;
        all[--into] = old_last ? all[--from] : fresh[--added];
    }
    c->constraint_count = total;
}

static bool reserve(rbt_step_contact *c, size_t added) {
    size_t need = c->constraint_count + 2 * added + 1;
    if (rbt_array_reserve((void **)&c->constraints, &c->constraint_capacity, need, sizeof *c->constraints, "contact",
                          NULL))
        return true;
    c->out_of_memory = true;
    return false;
}

bool rbt_constraints_add_stops(rbt_step_contact *c) {
    size_t stops = 0, added = 0, old = c->constraint_count;
    for (size_t i = 0; i < c->candidates.count; i++) stops += c->values[i] < 1;
    if (!reserve(c, stops)) return false;
    for (size_t i = 0; i < c->candidates.count; i++) {
        double from[12], to[12], t = c->values[i];
        if (!(t < 1)) continue;
        const rbt_contact_pair *pair = &c->pairs[i];
        rbt_contact_gather(pair->node, c->y, from);
        rbt_contact_gather(pair->node, c->motion, to);
        for (int k = 0; k < 12; k++) from[k] += t * (to[k] - from[k]);
        size_t at = find(c, pair->key);
        bool known = at < old && c->constraints[at].pair.key == pair->key;
        rbt_contact_constraint *k = known ? &c->constraints[at] : &c->constraints[old + added];
        if (!known && !make(c, pair, k)) continue;
        if (!linearise(k, from)) continue;
        k->idle = 0;
        added += !known;
    }
    merge(c, old, added);
    return true;
}

// Constraints that have not pushed for a while and whose pairs are not near leave.
static void drop_idle(rbt_step_contact *c) {
    size_t kept = 0;
    for (size_t i = 0; i < c->constraint_count; i++) {
        rbt_contact_constraint *k = &c->constraints[i];
        k->idle = k->force > 0 || k->multiplier > 0 || k->near ? 0 : k->idle + 1;
        if (k->idle < IDLE_ROUNDS) c->constraints[kept++] = *k;
    }
    c->constraint_count = kept;
}

bool rbt_constraints_relinearise(rbt_step_contact *c, const double *z, double share) {
    if (!rbt_contact_place(c, z, share)) return false;
    size_t count = c->candidates.count, near = 0, added = 0;
#pragma omp parallel for schedule(static) if (count >= RBT_PARALLEL_FROM)
    for (size_t i = 0; i < count; i++) {
        double corners[12];
        rbt_contact_gather(c->pairs[i].node, c->y, corners);
        bool far = rbt_contact_is_far(&c->pairs[i], corners, corners, NEAR * c->thickness);
        c->values[i] = far ? INFINITY : rbt_contact_gap_of(&c->pairs[i], c->y);
    }
    for (size_t i = 0; i < c->constraint_count; i++) c->constraints[i].near = false;
    for (size_t i = 0; i < count; i++) near += c->values[i] < NEAR * c->thickness;
    if (!reserve(c, near)) return false;
    size_t old = c->constraint_count;
    for (size_t i = 0; i < count; i++) {
        if (!(c->values[i] < NEAR * c->thickness)) continue;
        const rbt_contact_pair *pair = &c->pairs[i];
        double corners[12];
        rbt_contact_gather(pair->node, c->y, corners);
        size_t at = find(c, pair->key);
        bool known = at < old && c->constraints[at].pair.key == pair->key;
        rbt_contact_constraint *k = known ? &c->constraints[at] : &c->constraints[old + added];
        if (!known && !make(c, pair, k)) continue;
        if (!linearise(k, corners)) continue;
        k->near = true;
        added += !known;
    }
    merge(c, old, added);
    drop_idle(c);
    return true;
}

// ---- Gaps that have become small

static double mobility(const rbt_step_contact *c, int32_t node) {
    return is_free(c, node) && c->model->mass[node] > 0 ? 1 / c->model->mass[node] : 0;
}

// Adds to p what gives the pair its gap. p is in terms of z: y moves r times as far.
static void project(const rbt_step_contact *c, const rbt_contact_constraint *k, double *p) {
    double missing = -constraint_at(k, c->y), sum = 0;
    for (int i = 0; i < 4; i++) {
        if (!is_free(c, k->pair.node[i])) continue;
        missing -= c->rate * k->weight[i] * rbt_dot(k->normal, p + 3 * (size_t)k->pair.node[i]);
        sum += k->weight[i] * k->weight[i] * mobility(c, k->pair.node[i]);
    }
    if (!(missing > 0) || !(sum > 0)) return;
    for (int i = 0; i < 4; i++) {
        double share = mobility(c, k->pair.node[i]) * k->weight[i] / (sum * c->rate);
        if (share != 0) rbt_add_scaled(p + 3 * (size_t)k->pair.node[i], missing * share, k->normal);
    }
}

bool rbt_constraints_restore(const rbt_step_contact *c, double *p) {
    enum { SWEEPS = 8 };
    bool any = false;
    for (size_t i = 0; i < c->constraint_count; i++) {
        const rbt_contact_constraint *k = &c->constraints[i];
        any |= k->near && -constraint_at(k, c->y) > RESTORE * k->target;
    }
    memset(p, 0, 3 * c->model->node_count * sizeof *p);
    for (int sweep = 0; any && sweep < SWEEPS; sweep++)
        for (size_t i = 0; i < c->constraint_count; i++)
            if (c->constraints[i].near) project(c, &c->constraints[i], p);
    return any;
}

// ---- Energy and forces

static double force_at(const rbt_contact_constraint *k, const double *y) {
    return fmax(0, k->multiplier - k->penalty * constraint_at(k, y));
}

double rbt_constraints_value(const rbt_step_contact *c) {
    double sum = 0;
    for (size_t i = 0; i < c->constraint_count; i++) {
        double force = force_at(&c->constraints[i], c->y);
        sum += 0.5 * force * force / c->constraints[i].penalty;
    }
    return sum;
}

static void add_force(rbt_step_contact *c, const rbt_contact_constraint *k) {
    for (int i = 0; i < 4; i++) {
        if (k->pair.node[i] < 0) continue;
        rbt_add_scaled(c->force + 3 * (size_t)k->pair.node[i], k->force * k->weight[i], k->normal);
        c->hardness[k->pair.node[i]] += k->penalty * k->weight[i] * k->weight[i];
    }
}

bool rbt_constraints_gradient(rbt_step_contact *c, double *value) {
    size_t count = 0;
    *value = 0;
    memset(c->force, 0, 3 * c->node_count * sizeof *c->force);
    memset(c->hardness, 0, c->node_count * sizeof *c->hardness);
    for (size_t i = 0; i < c->constraint_count; i++) {
        rbt_contact_constraint *k = &c->constraints[i];
        k->force = force_at(k, c->y);
        *value += 0.5 * k->force * k->force / k->penalty;
        count += k->force > 0;
    }
    if (!rbt_array_reserve((void **)&c->active, &c->active_capacity, count + 1, sizeof *c->active, "contact", NULL)) {
        c->out_of_memory = true;
        return false;
    }
    c->active_count = 0;
    for (size_t i = 0; i < c->constraint_count; i++) {
        const rbt_contact_constraint *k = &c->constraints[i];
        if (!(k->force > 0)) continue;
        add_force(c, k);
        rbt_active_pair *active = &c->active[c->active_count++];
        *active = (rbt_active_pair){.pair = k->pair, .hardness = k->penalty, .force = k->force};
        memcpy(active->weight, k->weight, sizeof active->weight);
        memcpy(active->normal, k->normal, sizeof active->normal);
    }
    return true;
}

void rbt_constraint_hessian(const rbt_active_pair *active, double hessian[144]) {
    double row[12];
    for (int i = 0; i < 12; i++) row[i] = active->weight[i / 3] * active->normal[i % 3];
    for (int i = 0; i < 144; i++) hessian[i] = active->hardness * row[i / 12] * row[i % 12];
}

void rbt_constraints_update(rbt_step_contact *c) {
    for (size_t i = 0; i < c->constraint_count; i++) c->constraints[i].multiplier = c->constraints[i].force;
}
