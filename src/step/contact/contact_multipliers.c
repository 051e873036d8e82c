#include "step/contact/contact_multipliers.h"

#include "math/vec3.h"
#include "step/contact/contact_parts.h"

#include <string.h>

// m over the stiffness of the softer side, and how much larger it gets where a round has left a pair off, or where an
// iteration has left it below this share of its target
static const double PENALTY = 100, RAISE = 10, DEEP = 0.01;
// Of the target: how far off a pair may be, w, w where no pair has a multiplier yet, where the net is, and what is made
// good in a step of what is missing at its start; of d^: lambda/m at most
static const double OFF = 0.1, ENTRY = 0.1, FIRST_ENTRY = 1, NET = 0.5, RECOVERY = 0.25, LONGEST = 0.5;

// ---- One pair

// The first multiplier whose key is not less
static size_t find(const rbt_step_contact *c, rbt_pair_key key) {
    size_t low = 0, high = c->multiplier_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->multipliers[middle].key < key) low = middle + 1;
        else high = middle;
    }
    return low;
}

// The largest of its nodes [m/s]
static double speed_of(const rbt_step_contact *c, const rbt_contact_pair *pair) {
    double most = 0;
    for (int k = 0; k < 4; k++)
        if (pair->node[k] >= 0) most = fmax(most, c->node_speed[pair->node[k]]);
    return most;
}

void rbt_multipliers_apply(const rbt_step_contact *c, rbt_contact_pair *pair) {
    rbt_pair_barrier *b = &pair->barrier;
    double start[12], softest = PENALTY * rbt_contact_softer_side(c, pair), gap = c->thickness;
    size_t i = find(c, pair->key);
    const rbt_pair_multiplier *own =
        i < c->multiplier_count && c->multipliers[i].key == pair->key ? &c->multipliers[i] : NULL;
    rbt_contact_gather(pair->node, c->x0, start);
    if (!rbt_contact_is_far(pair, start, start, c->thickness)) gap = fmin(gap, rbt_contact_gap_of(pair, c->x0));
    // half as much in half a step: what is pushed apart gets no faster for it
    double good = fmin(fmin(1, c->h / c->model->step) * (c->thickness - gap), c->h * speed_of(c, pair));
    pair->target = gap + RECOVERY * good;
    pair->multiplier = own ? own->force : 0;
    b->parabola = true;
    b->scale = fmax(softest, own ? own->penalty : 0);
    b->scale = fmax(b->scale, pair->multiplier / (LONGEST * c->thickness));
    b->net = NET * pair->target;
    b->entry = (c->has_multipliers ? ENTRY : FIRST_ENTRY) * pair->target;
    b->dhat = pair->target + (b->scale > 0 ? rbt_parabola_depth(b->scale, b->entry, pair->multiplier) : 0);
}

// f of an active pair, without the mollifier
static double force_of(const rbt_active_pair *a) { return rbt_pair_barrier_force(&a->pair.barrier, a->gap); }

// How much closer than its target a pair is, as far as it counts [m]
static double missing(const rbt_step_contact *c, const rbt_active_pair *a) {
    double corners[12];
    rbt_contact_gather(a->pair.node, c->y, corners);
    return (a->pair.target - a->gap) * rbt_pair_barrier_share(&a->pair.barrier, corners);
}

static bool is_settled(const rbt_step_contact *c, const rbt_active_pair *a) {
    return fabs(missing(c, a)) <= OFF * a->pair.target;
}

bool rbt_multipliers_settled(const rbt_step_contact *c) {
    for (size_t i = 0; i < c->active_count; i++)
        if (!is_settled(c, &c->active[i])) return false;
    return true;
}

// ---- All of them

static bool reserve(rbt_step_contact *c, size_t count) {
    if (rbt_array_reserve((void **)&c->multipliers, &c->multiplier_capacity, count + 1, sizeof *c->multipliers,
                          "contact", NULL))
        return true;
    c->out_of_memory = true;
    return false;
}

bool rbt_multipliers_set(rbt_step_contact *c, const rbt_pair_force *from, size_t count) {
    if (!reserve(c, count)) return false;
    for (size_t i = 0; i < count; i++)
        c->multipliers[i] = (rbt_pair_multiplier){.key = from[i].key, .force = from[i].force};
    c->multiplier_count = count;
    c->has_multipliers = count > 0;
    c->listed = SIZE_MAX;  // pairs have other parameters now
    return true;
}

static int by_force(const void *a, const void *b) {
    double x = ((const rbt_pair_force *)a)->force, y = ((const rbt_pair_force *)b)->force;
    return (x < y) - (x > y);
}

static int by_key(const void *a, const void *b) {
    rbt_pair_key x = ((const rbt_pair_force *)a)->key, y = ((const rbt_pair_force *)b)->key;
    return (x > y) - (x < y);
}

size_t rbt_multipliers_get(const rbt_step_contact *c, rbt_pair_force *to, size_t capacity) {
    size_t count = 0, worst = 0;
    for (size_t i = 0; i < c->active_count; i++) {
        rbt_pair_force own = {.key = c->active[i].pair.key, .force = force_of(&c->active[i])};
        if (count < capacity) {
            to[count++] = own;
            if (count == capacity && i + 1 < c->active_count) qsort(to, count, sizeof *to, by_force);
            continue;
        }
        // Rare: `to` is sorted by force, and the least goes
        if (capacity && own.force > to[capacity - 1].force) {
            for (worst = capacity - 1; worst > 0 && to[worst - 1].force < own.force; worst--)
                to[worst] = to[worst - 1];
            to[worst] = own;
        }
    }
    if (c->active_count > capacity) qsort(to, count, sizeof *to, by_key);
    return count;
}

bool rbt_multipliers_follow(rbt_step_contact *c) {
    c->effort.rounds++;
    if (!reserve(c, c->active_count)) return false;
    for (size_t i = 0; i < c->active_count; i++) {
        const rbt_active_pair *a = &c->active[i];
        bool known = a->pair.multiplier > 0, off = !is_settled(c, a);
        double penalty = (off ? RAISE : 1) * a->pair.barrier.scale;
        c->multipliers[i] =
            (rbt_pair_multiplier){.key = a->pair.key, .force = force_of(a), .penalty = known ? penalty : 0};
    }
    c->multiplier_count = c->active_count;
    c->has_multipliers = c->multiplier_count > 0;
    c->listed = SIZE_MAX;
    return true;
}

// Entries of pairs that are not known yet get in at their place.
static rbt_pair_multiplier *entry_of(rbt_step_contact *c, rbt_pair_key key) {
    size_t i = find(c, key);
    if (i < c->multiplier_count && c->multipliers[i].key == key) return &c->multipliers[i];
    if (!reserve(c, c->multiplier_count + 1)) return NULL;
    memmove(c->multipliers + i + 1, c->multipliers + i, (c->multiplier_count - i) * sizeof *c->multipliers);
    c->multipliers[i] = (rbt_pair_multiplier){.key = key};
    c->multiplier_count++;
    return &c->multipliers[i];
}

bool rbt_multipliers_stiffen(rbt_step_contact *c, bool *any) {
    *any = false;
    for (size_t i = 0; i < c->active_count; i++) {
        const rbt_active_pair *a = &c->active[i];
        if (!(a->gap < DEEP * a->pair.target)) continue;
        rbt_pair_multiplier *own = entry_of(c, a->pair.key);
        if (!own) return false;
        own->penalty = RAISE * a->pair.barrier.scale;
        *any = true;
    }
    if (*any) c->listed = SIZE_MAX;
    return true;
}

// ---- Between steps

bool rbt_multipliers_look(rbt_step_contact *c) {
    size_t count = c->multiplier_count;
    if (!rbt_array_reserve((void **)&c->active, &c->active_capacity, count + 1, sizeof *c->active, "contact", NULL) ||
        !rbt_array_reserve((void **)&c->gradients, &c->gradient_capacity, 12 * count + 1, sizeof(double), "contact",
                           NULL)) {
        c->out_of_memory = true;
        return false;
    }
    memset(c->force, 0, 3 * c->node_count * sizeof *c->force);
    memset(c->hardness, 0, c->node_count * sizeof *c->hardness);
    c->active_count = 0;
    for (size_t i = 0; i < count; i++) {
        double corners[12], *gradient = c->gradients + 12 * c->active_count;
        rbt_active_pair *a = &c->active[c->active_count++];
        *a = (rbt_active_pair){0};
        rbt_contact_make_pair(c, c->multipliers[i].key, &a->pair);
        a->gap = rbt_contact_gap_of(&a->pair, c->y);
        if (!(a->gap > 0)) return false;
        // a parabola of stiffness 1 that has this force here
        a->pair.barrier.parabola = true;
        a->pair.barrier.scale = 1;
        a->pair.barrier.dhat = a->gap + c->multipliers[i].force;  // no entry
        rbt_contact_gather(a->pair.node, c->y, corners);
        rbt_pair_barrier_gradient(&a->pair.barrier, corners, gradient);
        for (int k = 0; k < 4; k++)
            if (a->pair.node[k] >= 0) rbt_add_scaled(c->force + 3 * (size_t)a->pair.node[k], -1, gradient + 3 * k);
    }
    return true;
}
