#include "step/contact/contact_terms.h"

#include "base/threads.h"
#include "step/contact/contact_parts.h"

#include <string.h>

static bool reserve(rbt_step_contact *c, void *items, size_t *capacity, size_t need, size_t size) {
    if (rbt_array_reserve(items, capacity, need, size, "contact", NULL)) return true;
    c->out_of_memory = true;
    return false;
}

// Of the group of candidate `group`
static rbt_active_pair *add_term(rbt_step_contact *c, size_t group, const rbt_contact_pair *pair, double count) {
    if (!reserve(c, &c->terms, &c->term_capacity, c->term_count + 1, sizeof *c->terms)) return NULL;
    rbt_active_pair *term = &c->terms[c->term_count++];
    *term = (rbt_active_pair){.pair = *pair, .group = group};
    term->pair.barrier.scale *= count;
    return term;
}

// ---- Nearest points of candidates

static void measure(rbt_step_contact *c) {
    size_t count = c->candidates.count;
#pragma omp parallel for schedule(static) if (count >= RBT_PARALLEL_FROM)
    for (size_t i = 0; i < count; i++) {
        const rbt_contact_pair *pair = &c->pairs[i];
        rbt_contact_near *near = &c->near[i];
        double corners[12];
        rbt_gap gap;
        near->gap = INFINITY;
        rbt_contact_gather(pair->node, c->y, corners);
        if (rbt_contact_is_far(pair, corners, corners, c->support)) continue;
        rbt_gap_measure_any(pair->barrier.kind, corners, pair->barrier.wall_normal, &gap);
        near->gap = gap.distance - pair->barrier.inside;
        near->nearest = 0;
        for (int k = 0; k < 4; k++) near->nearest |= (unsigned char)((gap.weight[k] != 0) << k);
    }
}

// ---- A node and a surface

static bool is_near(const rbt_step_contact *c, size_t i) { return c->near[i].gap < c->pairs[i].barrier.dhat; }

// The pair of the node and a feature, with the parameters of the first candidate that has the feature
static void make_pair(const rbt_step_contact *c, size_t first, size_t last, const rbt_counted_feature *f,
                      rbt_contact_pair *pair) {
    static const rbt_touch_kind KINDS[4] = {RBT_TOUCH_KINDS, RBT_TOUCH_POINT, RBT_TOUCH_EDGE, RBT_TOUCH_FACE};
    for (size_t i = first; i < last; i++) {
        const int32_t *node = c->pairs[i].node;
        if (!is_near(c, i) || (f->node[0] != node[1] && f->node[0] != node[2] && f->node[0] != node[3])) continue;
        *pair = c->pairs[i];
        break;
    }
    pair->barrier.kind = KINDS[f->corners];
    for (int k = 0; k < 3; k++) pair->node[1 + k] = k < f->corners ? f->node[k] : -1;
}

// Candidates first .. last - 1 have the same kind and node.
static bool add_node(rbt_step_contact *c, size_t first, size_t last) {
    size_t count = 0, one = first;
    for (size_t i = first; i < last; i++)
        if (is_near(c, i)) one = i, count++;
    if (count == 0) return true;
    if (count == 1) return add_term(c, first, &c->pairs[one], 1) != NULL;
    if (!reserve(c, &c->simplices, &c->simplex_capacity, count, sizeof *c->simplices) ||
        !reserve(c, &c->features, &c->feature_capacity, 7 * count, sizeof *c->features))
        return false;
    count = 0;
    double reach = 0;
    for (size_t i = first; i < last; i++) {
        const rbt_contact_pair *pair = &c->pairs[i];
        if (!is_near(c, i)) continue;
        rbt_near_simplex *s = &c->simplices[count++];
        s->corners = rbt_pair_corners(pair->barrier.kind) - 1;
        memcpy(s->node, pair->node + 1, sizeof s->node);
        s->nearest = c->near[i].nearest >> 1;
        reach = fmax(reach, pair->barrier.inside + pair->barrier.dhat);
    }
    int32_t node = c->pairs[first].node[0];
    int found = rbt_features_count(c->y, node, c->simplices, count, reach, &c->feature_work, c->features);
    if (found < 0) return !(c->out_of_memory = true);
    for (int k = 0; k < found; k++) {
        rbt_contact_pair pair;
        make_pair(c, first, last, &c->features[k], &pair);
        if (!add_term(c, first, &pair, c->features[k].count)) return false;
    }
    return true;
}

// ---- Two edges

// What an end of an edge counts in sums over all of the edge: minus a half, or 0 where the edges end with it
static double end_count(const rbt_step_contact *c, int32_t node) { return c->node_edges[node] > 1 ? -0.5 : 0; }

static bool add_edges(rbt_step_contact *c, size_t i) {
    const rbt_contact_pair *pair = &c->pairs[i];
    const int32_t *node = pair->node;
    double parts[2][3] = {{1, end_count(c, node[0]), end_count(c, node[1])},
                          {1, end_count(c, node[2]), end_count(c, node[3])}};
    double corners[12], count[16] = {0};
    rbt_contact_gather(pair->node, c->y, corners);
    for (signed char p = 0; p < 3; p++)
        for (signed char q = 0; q < 3; q++) {
            rbt_gap gap;
            double by = parts[0][p] * parts[1][q];
            unsigned nearest = 0;
            if (by == 0) continue;
            rbt_gap_edge_parts(corners, (signed char[2]){p, q}, &gap);
            if (!(gap.distance - pair->barrier.inside < pair->barrier.dhat)) continue;
            for (int k = 0; k < 4; k++) nearest |= (unsigned)(gap.weight[k] != 0) << k;
            count[nearest] += by;
        }
    for (unsigned k = 0; k < 16; k++) {
        static const signed char PART[4] = {0, 1, 2, 0};
        if (count[k] == 0) continue;  // sums of quarters are exact
        rbt_active_pair *term = add_term(c, i, pair, count[k]);
        if (!term) return false;
        term->pair.barrier.part[0] = PART[k & 3];
        term->pair.barrier.part[1] = PART[k >> 2];
    }
    return true;
}

// ---- All

static bool touches(const rbt_step_contact *c) {
    for (size_t i = 0; i < c->candidates.count; i++)
        if (!(c->near[i].gap > 0)) return true;
    return false;
}

bool rbt_contact_terms_make(rbt_step_contact *c, double *energy) {
    size_t count = c->candidates.count;
    c->term_count = 0;
    *energy = INFINITY;
    if (!reserve(c, &c->near, &c->near_capacity, count + 1, sizeof *c->near)) return false;
    measure(c);
    if (touches(c)) return true;
    for (size_t i = 0, next; i < count; i = next) {
        rbt_touch_kind kind = c->pairs[i].barrier.kind;
        bool good = true;
        next = i + 1;
        if (kind == RBT_TOUCH_FACE || kind == RBT_TOUCH_EDGE) {
            while (next < count && c->pairs[next].key >> 30 == c->pairs[i].key >> 30) next++;
            good = add_node(c, i, next);
        } else if (is_near(c, i)) {
            good = kind == RBT_TOUCH_EDGES ? add_edges(c, i) : add_term(c, i, &c->pairs[i], 1) != NULL;
        }
        if (!good) return false;
    }
    *energy = 0;
#pragma omp parallel for schedule(static) if (c->term_count >= RBT_PARALLEL_FROM)
    for (size_t i = 0; i < c->term_count; i++) {
        double corners[12];
        rbt_contact_gather(c->terms[i].pair.node, c->y, corners);
        c->terms[i].value = rbt_pair_barrier_value(&c->terms[i].pair.barrier, corners);
    }
    for (size_t i = 0; i < c->term_count; i++) *energy += c->terms[i].value;
    return true;
}
