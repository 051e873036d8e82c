// Ticks: impulses of layers that are awake, cones, certificates. See contact.h.
#include "step/async/friction.h"
#include "step/async/window.h"

#include "base/threads.h"
#include "math/scalar.h"
#include "math/vec3.h"

#include <string.h>

enum {
    SOON = 4,  // parts of a window's length: a cone that was left earlier was too narrow
    ROOM = 4,  // ticks of its first layer for which a slab must hold to be kept
    // how many pairs ahead of the one being looked at are fetched from memory, and how many ahead their nodes
    FETCH_PAIR = 16,
    FETCH_NODES = 4
};

static rbt_touch_kind kind_of(const rbt_pair *pair) { return rbt_pair_key_kind(pair->key); }

// Pairs of a moment are few of those of the window, so each would be waited for.
static inline void fetch_pair(const rbt_contact *c, int32_t number) {
    const char *pair = (const char *)&c->pairs.items[number];
    __builtin_prefetch(pair);
    __builtin_prefetch(pair + sizeof(rbt_pair) - 1);
}

static inline void fetch_ahead(const rbt_contact *c, const int32_t *numbers, size_t i, size_t count) {
    if (i + FETCH_PAIR < count) fetch_pair(c, numbers[i + FETCH_PAIR]);
    if (i + FETCH_NODES >= count) return;
    const rbt_pair *pair = &c->pairs.items[numbers[i + FETCH_NODES]];
    for (int k = 0; k < rbt_pair_corners(kind_of(pair)); k++) {
        size_t n = (size_t)pair->node[k];
        __builtin_prefetch(c->tracks->x + 3 * n);
        __builtin_prefetch(c->tracks->v + 3 * n);
        __builtin_prefetch(c->tracks->t + n);
        __builtin_prefetch(c->certificates.cones + n);
    }
}

// Two points, or the ends of a spring: their own numbers are all that the general way would come to.
static inline void measure_points(const rbt_contact *c, const rbt_pair *pair, int64_t t, rbt_gap *gap) {
    double a[3], b[3];
    rbt_track_at(c->tracks, (size_t)pair->node[0], t, a);
    rbt_track_at(c->tracks, (size_t)pair->node[1], t, b);
    if (kind_of(pair) == RBT_TOUCH_WALL) rbt_gap_wall(b, c->surface.def.walls[pair->key & 0x3fffffff].normal, a, gap);
    else rbt_gap_points(kind_of(pair), a, b, gap);
}

static void corners_at(const rbt_contact *c, const rbt_pair *pair, int64_t t, double x[12]) {
    x[9] = x[10] = x[11] = 0;  // of three corners; the others are all there
    for (int i = 0; i < rbt_pair_corners(kind_of(pair)); i++)
        rbt_track_at(c->tracks, (size_t)pair->node[i], t, x + 3 * i);
}

// The gap of three or four corners along a normal
static double support_along(const rbt_pair *pair, const double normal[3], const double x[12]) {
    int corners = rbt_pair_corners(kind_of(pair)), first = rbt_pair_first(kind_of(pair));
    double most = -INFINITY, least = INFINITY;
    for (int i = 0; i < first; i++) most = rbt_larger(most, rbt_dot(normal, x + 3 * i));
    for (int i = first; i < corners; i++) least = rbt_smaller(least, rbt_dot(normal, x + 3 * i));
    return least - most - pair->radius;
}

void rbt_pair_measure(const rbt_contact *c, const rbt_pair *pair, int64_t t, rbt_gap *gap, double *support) {
    rbt_touch_kind kind = kind_of(pair);
    if (kind >= RBT_TOUCH_POINT) {
        measure_points(c, pair, t, gap);
        *support = gap->distance - pair->radius;
        return;
    }
    double x[12];
    corners_at(c, pair, t, x);
    rbt_gap_measure(kind, x, gap);
    *support = support_along(pair, gap->normal, x);
}

// Also the bounds of both sides along the normal that it comes from: closing = high - low
static inline double closing_of(const rbt_contact *c, const rbt_pair *pair, const double n[3], double *high,
                                double *low) {
    rbt_touch_kind kind = kind_of(pair);
    int corners = rbt_pair_corners(kind), first = rbt_pair_first(kind);
    if (kind >= RBT_TOUCH_STRETCH) {  // a spring may stretch whatever way it turns
        const rbt_cone *a = &c->certificates.cones[pair->node[0]], *b = &c->certificates.cones[pair->node[1]];
        double apart[3];
        rbt_subtract(a->v, b->v, apart);
        *high = a->eps + (kind == RBT_TOUCH_STRETCH ? rbt_length(apart) : rbt_dot(n, apart));
        *low = -b->eps;
        return *high - *low;
    }
    double most = -INFINITY, least = INFINITY;
    for (int i = 0; i < corners; i++) {
        const rbt_cone *cone = &c->certificates.cones[pair->node[i]];
        double along = rbt_dot(n, cone->v);
        if (i < first) most = rbt_larger(most, along + cone->eps);
        else least = rbt_smaller(least, along - cone->eps);
    }
    *high = most, *low = least;
    return most - least;
}

double rbt_pair_closing(const rbt_contact *c, const rbt_pair *pair, const double n[3]) {
    double high, low;
    return closing_of(c, pair, n, &high, &low);
}

static void list_add(rbt_contact *c, int level, int32_t pair) {
    rbt_level_list *list = &c->awake.levels[level];
    if (list->count == list->capacity && !rbt_array_reserve((void **)&list->items, &list->capacity, list->count + 1,
                                                            sizeof *list->items, "pairs in contact", NULL)) {
        c->out_of_memory = true;
        return;
    }
    if (list->count == 0) list->sorted = true;
    else if (!rbt_pair_before(c, list->items[list->count - 1], pair)) list->sorted = false;
    list->items[list->count++] = pair;
    c->awake.used |= 1ull << level;
    if (level > c->counts.deepest) c->counts.deepest = level;
}

static void wake(rbt_contact *c, int32_t number, int level) {
    rbt_pair *pair = &c->pairs.items[number];
    if (pair->level == level) return;  // it stands in that list already
    pair->level = (signed char)level;
    list_add(c, level, number);
}

// Of several pairs at one moment the one is named that is deepest within its layers.
static void stall(rbt_contact *c, const rbt_pair *pair, double support, double closing) {
    double depth = support / pair->eta;
    if (!c->stall.found || depth < c->stall.depth) {
        c->stall.depth = depth;
        c->stall.pair = pair->key;
        c->stall.gap = support;
        c->stall.speed = closing;
        c->stall.watched = pair->watched;
    }
    c->stall.found = true;
}

// Sides that both have prescribed motions are looked at again before they can meet, and stall the run once they
// nearly do.
static void watch(rbt_contact *c, int32_t number, int64_t t, double support, double closing) {
    rbt_pair *pair = &c->pairs.items[number];
    double slack = support - 1e-9 * c->trajectories.scale;
    double ticks = closing > 0 ? slack * (1 - 1e-12) / (closing * c->tracks->tick) : INFINITY;
    int64_t again = ticks >= (double)(c->window.end - t) ? c->window.end : t + (int64_t)ticks;
    if (slack <= 0 || again == t) {
        stall(c, pair, support, closing);
        return;
    }
    pair->allowed = slack * (1 - 1e-12) / ((double)(again - t) * c->tracks->tick);
    if (again < c->window.end &&
        !rbt_queue_push(&c->certificates.queue, (rbt_event){again, number, c->certificates.settled}, NULL))
        c->out_of_memory = true;
}

// The step of its first layer [ticks]. A pair whose first layer would need a faster clock than there is may be looked
// at in every tick.
static int64_t first_step(const rbt_pair *pair) {
    return (int64_t)1 << (pair->base < RBT_TICK_BITS ? RBT_TICK_BITS - pair->base : 0);
}

void rbt_pair_place(rbt_contact *c, int32_t number, int64_t t, const double normal[3], double support) {
    rbt_pair *pair = &c->pairs.items[number];
    double closing = closing_of(c, pair, normal, &pair->high, &pair->low);
    memcpy(pair->normal, normal, sizeof pair->normal);
    const double rounding = 1e-13 * c->trajectories.scale;
    double slack = support - pair->eta - rounding;
    c->pairs.stamps[number] = c->certificates.settled;
    c->counts.certificates++;
    if (pair->watched) {
        watch(c, number, t, support, closing);
        return;
    }
    int64_t layer_tick = first_step(pair);
    if (slack > 0) {
        double ticks = closing > 0 ? slack * (1 - 1e-12) / (closing * c->tracks->tick) : INFINITY;
        if (ticks >= (double)(c->window.end - t)) {
            pair->allowed = slack * (1 - 1e-12) / ((double)(c->window.end - t) * c->tracks->tick);
            pair->level = -1;
            return;
        }
        if (ticks >= 2.0 * (double)layer_tick) {
            // Looked at again with the others of its clock: a moment costs something of its own.
            int64_t again = (t + (int64_t)ticks) & ~(layer_tick - 1);
            pair->allowed = slack * (1 - 1e-12) / ((double)(again - t) * c->tracks->tick);
            pair->level = -1;
            if (!rbt_queue_push(&c->certificates.queue, (rbt_event){again, number, c->certificates.settled}, NULL))
                c->out_of_memory = true;
            return;
        }
    }
    double h = (double)layer_tick * c->tracks->tick;
    for (int j = 0; j < c->layers.depth_count && pair->base + j <= c->law.deepest; j++, h *= 0.5)
        if (support - (closing > 0 ? closing * h : 0) - rounding > pair->eta * c->layers.next_ratio[j] &&
            (j == 0 || c->layers.last[j] > c->layers.last[j - 1])) {
            pair->allowed = (support - rounding - pair->eta * c->layers.next_ratio[j]) * (1 - 1e-12) / h;
            wake(c, number, pair->base + j);
            return;
        }
    stall(c, pair, support, closing);
}

// The next certificate that expires; those that were replaced since are dropped.
static inline const rbt_event *first_event(rbt_contact *c) {
    bool ok = true;
    const rbt_event *first;
    while ((first = rbt_queue_first(&c->certificates.queue, &ok)) && c->pairs.stamps[first->id] != first->stamp)
        rbt_queue_pop(&c->certificates.queue);
    if (!ok) c->out_of_memory = true;
    return first;
}

static bool reserve_order(rbt_contact *c, size_t count) {
    if (count <= c->moment.order_capacity) return true;
    size_t capacity = c->moment.order_capacity;
    return rbt_array_reserve((void **)&c->moment.merged, &capacity, count, sizeof *c->moment.merged,
                             "pairs in contact", NULL) &&
           rbt_array_reserve((void **)&c->moment.order, &c->moment.order_capacity, count, sizeof *c->moment.order,
                             "pairs in contact", NULL);
}

// A slab that still has room is kept: of pairs that stay near each other it turns little, and their nearest points
// need not be found.
static void renew(rbt_contact *c, int32_t number, int64_t t) {
    const rbt_pair *pair = &c->pairs.items[number];
    rbt_gap gap;
    double support = -INFINITY, need = INFINITY;
    if (kind_of(pair) <= RBT_TOUCH_EDGE && !pair->watched) {
        double x[12];
        corners_at(c, pair, t, x);
        memcpy(gap.normal, pair->normal, sizeof gap.normal);
        support = support_along(pair, gap.normal, x);
        need = (double)(ROOM * first_step(pair)) * c->tracks->tick * (pair->high - pair->low);
    }
    if (!(support - pair->eta > need)) rbt_pair_measure(c, pair, t, &gap, &support);
    rbt_pair_place(c, number, t, gap.normal, support);
}

// Apart, since most moments have none
__attribute__((noinline)) static void renew_until(rbt_contact *c, int64_t t) {
    size_t count = 0;
    for (const rbt_event *first; (first = first_event(c)) && first->time <= t;) {
        if (!reserve_order(c, count + 1)) {
            c->out_of_memory = true;
            return;
        }
        c->moment.order[count++] = rbt_queue_pop(&c->certificates.queue).id;
    }
    c->counts.expired += (int64_t)count;
    for (size_t i = 0; i < count; i++) {
        fetch_ahead(c, c->moment.order, i, count);
        renew(c, c->moment.order[i], t);
    }
}

void rbt_contact_expire(rbt_contact *c, int64_t t) {
    const rbt_event_list *heap = &c->certificates.queue.heap;
    if (c->certificates.queue.binned || (heap->count && heap->items[0].time <= t)) renew_until(c, t);
}

int64_t rbt_contact_next(rbt_contact *c, int64_t now) {
    int64_t next = c->window.end;
    const rbt_event *first = first_event(c);
    if (first && first->time < next) next = first->time;
    if (c->awake.used) {
        int finest = 63 - __builtin_clzll(c->awake.used), shift = RBT_TICK_BITS - finest;
        int64_t tick = ((now >> shift) + 1) << shift;
        if (tick < next) next = tick;
    }
    return next;
}

// ---- Impulses

// Where the run of pairs in order that begins at `from` ends
static size_t run_end(const rbt_contact *c, size_t from, size_t count) {
    size_t at = from + 1;
    while (at < count && !rbt_pair_before(c, c->moment.order[at], c->moment.order[at - 1])) at++;
    return at < count ? at : count;
}

// Lists are in order but for a few that were added later, so runs are long: they are merged two by two until one is
// left.
static void merge_runs(rbt_contact *c, size_t count) {
    for (size_t from = 0, runs = 0;; from = runs = 0) {
        for (; from < count; runs++) {
            size_t a = from, middle = run_end(c, from, count), b = middle, end = b < count ? run_end(c, b, count) : b;
            for (; from < end; from++) {
                bool first = b == end || (a < middle && !rbt_pair_before(c, c->moment.order[b], c->moment.order[a]));
                c->moment.merged[from] = c->moment.order[first ? a++ : b++];
            }
        }
        int32_t *swap = c->moment.order;
        c->moment.order = c->moment.merged;
        c->moment.merged = swap;
        if (runs <= 1) return;
    }
}

// The pairs whose deepest layers tick, in the order of their names, each once; their lists are emptied.
static size_t take_due(rbt_contact *c, int slowest) {
    size_t count = 0, runs = 0;
    uint64_t due = c->awake.used & ~((1ull << slowest) - 1);
    for (uint64_t left = due; left; left &= left - 1) {
        int level = __builtin_ctzll(left);
        rbt_level_list *list = &c->awake.levels[level];
        if (!reserve_order(c, count + list->count)) {
            c->out_of_memory = true;
            return 0;
        }
        size_t before = count;
        for (size_t i = 0; i < list->count; i++)
            if (c->pairs.items[list->items[i]].level == level) c->moment.order[count++] = list->items[i];
        if (count > before) runs += list->sorted ? 1 : 2;
        list->count = 0;
        c->awake.used &= ~(1ull << level);
    }
    if (runs <= 1) return count;
    merge_runs(c, count);
    size_t unique = 0;
    for (size_t i = 0; i < count; i++)
        if (!unique || c->moment.order[unique - 1] != c->moment.order[i])
            c->moment.order[unique++] = c->moment.order[i];
    return unique;
}

// Less when the pair separates. The velocity is that before any kick of this moment, so the order of kicks does not
// matter.
static double restitution(const rbt_contact *c, const rbt_pair *pair, const rbt_gap *gap) {
    double apart = 0;
    for (int i = 0; i < rbt_pair_corners(kind_of(pair)); i++)
        apart += gap->weight[i] * rbt_dot(gap->normal, c->tracks->v + 3 * (size_t)pair->node[i]);
    return apart > 0 ? c->law.restitution : 1;
}

static void measure_touch(rbt_contact *c, rbt_touch *touch, int64_t t, int slowest) {
    const rbt_pair *pair = &c->pairs.items[touch->pair];
    rbt_pair_measure(c, pair, t, &touch->gap, &touch->support);
    memset(touch->impulse, 0, sizeof touch->impulse);
    touch->push = 0;
    double d = touch->gap.distance - pair->radius;
    if (d >= pair->eta) return;
    int from = slowest > pair->base ? slowest - pair->base : 0;
    double J = pair->push * rbt_layers_impulse(&c->layers, pair->eta, d, from, pair->level - pair->base);
    if (J <= 0) return;
    if (c->law.restitution < 1) J *= restitution(c, pair, &touch->gap);
    touch->push = J;
    for (int k = 0; k < 3; k++) touch->impulse[k] = J * touch->gap.normal[k];
}

void rbt_contact_measure(rbt_contact *c, int64_t t) {
    c->moment.touch_count = 0;
    int slowest = rbt_tick_level(t);
    if (!(c->awake.used >> slowest)) return;
    size_t count = take_due(c, slowest);
    if (count > c->moment.touch_capacity && !rbt_array_reserve((void **)&c->moment.touches, &c->moment.touch_capacity,
                                                               count, sizeof *c->moment.touches, "contacts", NULL)) {
        c->out_of_memory = true;
        return;
    }
    c->moment.touch_count = count;
    c->counts.impulses += (int64_t)count;
    for (size_t i = 0; i < count; i++) {
        const rbt_pair *pair = &c->pairs.items[c->moment.order[i]];
        c->moment.touches[i].pair = c->moment.order[i];
        c->counts.layers += c->layers.last[pair->level - pair->base];
        if (slowest > pair->base) c->counts.layers -= c->layers.last[slowest - pair->base - 1];
        // A team of one thread costs more than a few pairs.
        if (count < RBT_PARALLEL_FROM) measure_touch(c, &c->moment.touches[i], t, slowest);
    }
    if (count < RBT_PARALLEL_FROM) return;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < count; i++) measure_touch(c, &c->moment.touches[i], t, slowest);
}

// ---- Trajectory bounds and cones

// How far into the window t is, and how long until nodes are looked at again: at the next step or the end of the window
static void set_moment(rbt_contact *c, int64_t t) {
    c->moment.time = t;
    c->moment.since = (double)(t - c->window.begin) * c->tracks->tick;
    c->moment.left = rbt_contact_left(c, t);
}

static void remember(rbt_contact *c, size_t node, bool line_violators, bool leaves) {
    if (line_violators && !c->moment.violates_line[node]) {
        c->moment.violates_line[node] = 1;
        c->moment.line_violators[c->moment.line_violator_count++] = (int32_t)node;
    }
    if (leaves && !c->moment.leaving[node]) {
        c->moment.leaving[node] = 1;
        c->moment.cone_violators[c->moment.cone_violator_count++] = (int32_t)node;
    }
}

// The place when the node is looked at again must be near the line, as the place now is since the last look: then so
// is all between, since a ball is convex.
static inline void check(rbt_contact *c, size_t node, int64_t t, double left, double all) {
    const rbt_cone *cone = &c->certificates.cones[node];
    rbt_line *line = &c->trajectories.lines[node];
    const rbt_tracks *tracks = c->tracks;
    const double *x = tracks->x + 3 * node, *v = tracks->v + 3 * node;
    double ahead = (double)(t - tracks->t[node]) * tracks->tick + left, off[3], last[3];
    for (int k = 0; k < 3; k++) {
        off[k] = v[k] - cone->v[k];
        last[k] = (x[k] - line->start[k]) + (ahead * v[k] - all * line->path[k]);
    }
    double square = rbt_dot(off, off), far = rbt_dot(last, last);
    line->most = rbt_larger(square, line->most);
    line->far = rbt_larger(far, line->far);
    bool line_violators = !(far <= line->reach * line->reach), leaves = !(square <= cone->eps * cone->eps);
    if (line_violators || leaves) remember(c, node, line_violators, leaves);
}

void rbt_contact_check(rbt_contact *c, const int32_t *nodes, size_t begin, size_t end, int64_t t) {
    if (c->moment.time != t) set_moment(c, t);
    // From now on, and from the begin of the window on, until the next look
    double left = c->moment.left, all = c->moment.since + left;
    for (size_t i = begin; i < end; i++) {
        size_t n = nodes ? (size_t)nodes[i] : i;
        if (c->exposed[n]) check(c, n, t, left, all);
    }
}

static bool pushes(const rbt_touch *touch) { return touch->push != 0; }

// Nodes that layers have kicked: what has a prescribed motion continues as it did.
static void check_kicked(rbt_contact *c, int64_t t) {
    if (c->moment.time != t) set_moment(c, t);
    double left = c->moment.left, all = c->moment.since + left;
    for (size_t i = 0; i < c->moment.touch_count; i++) {
        if (!pushes(&c->moment.touches[i])) continue;
        const rbt_pair *pair = &c->pairs.items[c->moment.touches[i].pair];
        for (int k = 0; k < rbt_pair_corners(kind_of(pair)); k++) {
            size_t n = (size_t)pair->node[k];
            if (c->tracks->inverse_mass[n] > 0) check(c, n, t, left, all);
        }
    }
}

void rbt_contact_kick(rbt_contact *c, int64_t t) {
    rbt_tracks *tracks = c->tracks;
    bool any = false;
    for (size_t i = 0; i < c->moment.touch_count; i++) {
        const rbt_touch *touch = &c->moment.touches[i];
        if (!pushes(touch)) continue;
        any = true;
        const rbt_pair *pair = &c->pairs.items[touch->pair];
        int corners = rbt_pair_corners(kind_of(pair));
        for (int k = 0; k < corners; k++) {
            size_t n = (size_t)pair->node[k];
            double s = touch->gap.weight[k] * tracks->inverse_mass[n];
            if (s == 0) {  // what has a prescribed motion takes the impulse without changing its motion
                if (c->work) *c->work -= touch->gap.weight[k] * rbt_dot(touch->impulse, tracks->v + 3 * n);
                continue;
            }
            rbt_track_move(tracks, n, t);
            rbt_track_kick(tracks, n, s, touch->impulse);
        }
    }
    if (!any) return;
    if (c->rubs) rbt_contact_drag(c, t);
    check_kicked(c, t);
}

// A node that leaves its cone soon gets a wider one.
static void new_cone(rbt_contact *c, size_t node, int64_t t) {
    rbt_cone *cone = &c->certificates.cones[node];
    rbt_line *line = &c->trajectories.lines[node];
    if (t - line->born < c->window.length / SOON) cone->eps *= 1.5;
    line->born = t;
    line->most = 0;
    memcpy(cone->v, c->tracks->v + 3 * node, sizeof cone->v);
    c->counts.cones++;
}

// Whether the slab of a pair surely closes no faster than it may, as far as its node, which got a new cone, tells
// together with bounds for the others that are remembered: their cones need not be looked up.
static bool surely_holds(const rbt_contact *c, rbt_pair *pair, size_t node) {
    const rbt_cone *cone = &c->certificates.cones[node];
    rbt_touch_kind kind = kind_of(pair);
    double along = rbt_dot(pair->normal, cone->v), high = pair->high, low = pair->low;
    if ((size_t)pair->node[0] == node || (kind == RBT_TOUCH_EDGES && (size_t)pair->node[1] == node))
        high = rbt_larger(high, along + cone->eps);
    else low = rbt_smaller(low, along - cone->eps);
    if (kind >= RBT_TOUCH_STRETCH || !(high - low <= pair->allowed)) return false;
    pair->high = high, pair->low = low;
    return true;
}

// A pair with a node that got a new cone: if what is known about it does not hold any more it is measured again.
static void confirm(rbt_contact *c, int32_t number, size_t node, int64_t t) {
    rbt_pair *pair = &c->pairs.items[number];
    c->counts.confirmed++;
    if (c->pairs.stamps[number] == c->certificates.settled || surely_holds(c, pair, node)) return;
    if (rbt_pair_closing(c, pair, pair->normal) <= pair->allowed) return;
    rbt_gap gap;
    double support;
    rbt_pair_measure(c, pair, t, &gap, &support);
    rbt_pair_place(c, number, t, gap.normal, support);
}

bool rbt_contact_settle(rbt_contact *c, int64_t t) {
    c->certificates.settled++;
    for (size_t i = 0; i < c->moment.cone_violator_count; i++) {
        new_cone(c, (size_t)c->moment.cone_violators[i], t);
        c->moment.leaving[c->moment.cone_violators[i]] = 0;
    }
    if (c->moment.line_violator_count) rbt_contact_repair(c, t);
    if (!c->window.cut) {
        for (size_t i = 0; i < c->moment.touch_count; i++) {
            const rbt_touch *touch = &c->moment.touches[i];
            c->pairs.items[touch->pair].level = -1;  // its list was emptied
            rbt_pair_place(c, touch->pair, t, touch->gap.normal, touch->support);
        }
        for (size_t i = 0; i < c->moment.cone_violator_count; i++) {
            size_t node = (size_t)c->moment.cone_violators[i];
            for (size_t k = c->pairs.node_start[node], end = c->pairs.node_start[node + 1]; k < end; k++) {
                if (k + FETCH_PAIR < end) fetch_pair(c, c->pairs.of_nodes[k + FETCH_PAIR]);
                confirm(c, c->pairs.of_nodes[k], node, t);
            }
            for (int32_t k = c->pairs.later_first[node]; k >= 0; k = rbt_later_next(c, k, node))
                confirm(c, k, node, t);
        }
    }
    c->moment.cone_violator_count = c->moment.touch_count = 0;
    return !c->out_of_memory && !c->stall.found;
}

bool rbt_contact_blame(rbt_contact *c, int64_t t) {
    const rbt_pair *worst = NULL;
    rbt_pair_walk walk = rbt_pair_walk_all(c);
    for (const rbt_pair *pair; (pair = rbt_pair_next(c, &walk));)
        if (pair->level >= 0 && (!worst || pair->level > worst->level)) worst = pair;
    const rbt_event *first = first_event(c);
    if (!worst && first) worst = &c->pairs.items[first->id];
    if (!worst) return false;
    rbt_gap gap;
    rbt_pair_measure(c, worst, t, &gap, &c->stall.gap);
    c->stall.pair = worst->key;
    c->stall.watched = false;
    c->stall.speed = rbt_pair_closing(c, worst, gap.normal);
    return true;
}

double rbt_contact_energy(rbt_contact *c, int64_t t) {
    double sum = 0;
    rbt_pair_walk walk = rbt_pair_walk_all(c);
    for (const rbt_pair *pair; (pair = rbt_pair_next(c, &walk));) {
        if (pair->level < 0 && !c->stall.found) continue;  // it sleeps; of one that is stalled no level is known
        rbt_gap gap;
        double support;
        rbt_pair_measure(c, pair, t, &gap, &support);
        sum += c->law.stiffness * rbt_layers_energy(&c->layers, pair->eta, gap.distance - pair->radius);
    }
    return c->law.restitution * sum;
}

// How fast the nearest points of a pair come apart [m/s]
static double opening_speed(const rbt_contact *c, const rbt_pair *pair, const rbt_gap *gap) {
    double speed = 0;
    for (int k = 0; k < rbt_pair_corners(rbt_pair_key_kind(pair->key)); k++)
        speed += gap->weight[k] * rbt_dot(gap->normal, c->tracks->v + 3 * (size_t)pair->node[k]);
    return speed;
}

const rbt_pair *rbt_contact_next_push(rbt_contact *c, rbt_pair_walk *walk, int64_t t, rbt_gap *gap, double *force) {
    for (const rbt_pair *pair; (pair = rbt_pair_next(c, walk));) {
        double support;
        if (pair->level < 0 && !c->stall.found) continue;
        rbt_pair_measure(c, pair, t, gap, &support);
        double push = c->law.stiffness * rbt_layers_force(&c->layers, pair->eta, gap->distance - pair->radius);
        if (!(push > 0)) continue;
        *force = opening_speed(c, pair, gap) > 0 ? c->law.restitution * push : push;
        return pair;
    }
    return NULL;
}
