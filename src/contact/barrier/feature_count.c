#include "contact/barrier/feature_count.h"

#include <string.h>

typedef struct rbt_feature_share {  // what some simplex adds to a feature
    uint64_t feature;               // an edge: its nodes, the lower one first; a node: itself and NONE
    int count;
} rbt_feature_share;

static const uint32_t NONE = UINT32_MAX;

static uint64_t edge_of(int32_t a, int32_t b) {
    return a < b ? (uint64_t)(uint32_t)a << 32 | (uint32_t)b : (uint64_t)(uint32_t)b << 32 | (uint32_t)a;
}
static uint64_t corner_of(int32_t a) { return (uint64_t)(uint32_t)a << 32 | NONE; }

void rbt_feature_work_free(rbt_feature_work *work) {
    free(work->edges);
    free(work->shares);
    free(work->corners);
    *work = (rbt_feature_work){0};
}

static bool reserve(rbt_feature_work *w, size_t count) {
    return rbt_array_reserve((void **)&w->edges, &w->edge_capacity, 3 * count, sizeof *w->edges, "contact", NULL) &&
           rbt_array_reserve((void **)&w->shares, &w->share_capacity, 7 * count, sizeof *w->shares, "contact",
                             NULL) &&
           rbt_array_reserve((void **)&w->corners, &w->corner_capacity, 12 * count, sizeof *w->corners, "contact",
                             NULL);
}

// ---- Sorting: few, mostly

enum { FEW = 48 };

static int ascending(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;  // first member of a share, too
    return x < y ? -1 : x > y;
}

static void sort_edges(uint64_t *keys, size_t count) {
    if (count > FEW) qsort(keys, count, sizeof *keys, ascending);
    else
        for (size_t i = 1; i < count; i++) {
            uint64_t key = keys[i];
            size_t at = i;
            for (; at && keys[at - 1] > key; at--) keys[at] = keys[at - 1];
            keys[at] = key;
        }
}

// Sorts shares and adds up those of one feature; returns how many are left.
static size_t add_up(rbt_feature_share *shares, size_t count) {
    size_t kept = 0;
    if (count > FEW) qsort(shares, count, sizeof *shares, ascending);
    else
        for (size_t i = 1; i < count; i++) {
            rbt_feature_share own = shares[i];
            size_t at = i;
            for (; at && shares[at - 1].feature > own.feature; at--) shares[at] = shares[at - 1];
            shares[at] = own;
        }
    for (size_t i = 0; i < count; i++) {
        if (kept && shares[kept - 1].feature == shares[i].feature) shares[kept - 1].count += shares[i].count;
        else shares[kept++] = shares[i];
    }
    return kept;
}

// ---- Closest features

// The distance of p from an edge, and which of edge and ends is closest
static double edge_distance(const double *x, int32_t p, uint64_t edge, uint64_t *feature) {
    int32_t a = (int32_t)(edge >> 32), b = (int32_t)(uint32_t)edge;
    double corners[12];
    rbt_gap gap;
    memcpy(corners, x + 3 * (size_t)p, 3 * sizeof *x);
    memcpy(corners + 3, x + 3 * (size_t)a, 3 * sizeof *x);
    memcpy(corners + 6, x + 3 * (size_t)b, 3 * sizeof *x);
    rbt_gap_measure(RBT_TOUCH_EDGE, corners, &gap);
    *feature = gap.weight[1] == 0 ? corner_of(b) : gap.weight[2] == 0 ? corner_of(a) : edge;
    return gap.distance;
}

static uint64_t closest_of(const rbt_near_simplex *s) {
    int at[3] = {0}, count = 0;
    for (int k = 0; k < s->corners; k++)
        if (s->nearest >> k & 1) at[count++] = k;
    return count == 1 ? corner_of(s->node[at[0]]) : edge_of(s->node[at[0]], s->node[at[1]]);
}

// ---- Counting

static size_t put(rbt_feature_share *shares, size_t count, uint64_t feature, int by) {
    shares[count] = (rbt_feature_share){feature, by};
    return count + 1;
}

int rbt_features_count(const double *x, int32_t p, const rbt_near_simplex *simplices, size_t count, double reach,
                       rbt_feature_work *w, rbt_counted_feature *features) {
    size_t edges = 0, shares = 0, corners = 0;
    int found = 0;
    if (!reserve(w, count)) return -1;
    for (size_t i = 0; i < count; i++) {
        const rbt_near_simplex *s = &simplices[i];
        int sides = s->corners == 3 ? 3 : 0;
        if (s->corners == 3 && s->nearest == 7) {
            features[found] = (rbt_counted_feature){.corners = 3, .count = 1};
            memcpy(features[found++].node, s->node, sizeof s->node);
        } else shares = put(w->shares, shares, closest_of(s), 1);
        for (int k = 0; k < sides; k++) w->edges[edges++] = edge_of(s->node[k], s->node[(k + 1) % 3]);
        for (int k = 0; k < s->corners; k++) corners = put(w->corners, corners, corner_of(s->node[k]), -1);
    }
    sort_edges(w->edges, edges);
    for (size_t i = 0, next; i < edges; i = next) {
        for (next = i; next < edges && w->edges[next] == w->edges[i];) next++;
        int c = 1 - (int)(next - i);
        uint64_t edge = w->edges[i], feature;
        if (!c) continue;
        corners = put(w->corners, corners, corner_of((int32_t)(edge >> 32)), -c);
        corners = put(w->corners, corners, corner_of((int32_t)(uint32_t)edge), -c);
        if (edge_distance(x, p, edge, &feature) < reach) shares = put(w->shares, shares, feature, c);
    }
    corners = add_up(w->corners, corners);
    for (size_t i = 0; i < corners; i++) {
        double away[3];
        int c = 1 + w->corners[i].count;
        if (!c) continue;
        rbt_subtract(x + 3 * (size_t)(w->corners[i].feature >> 32), x + 3 * (size_t)p, away);
        if (rbt_length(away) < reach) shares = put(w->shares, shares, w->corners[i].feature, c);
    }
    shares = add_up(w->shares, shares);
    for (size_t i = 0; i < shares; i++) {
        const rbt_feature_share *s = &w->shares[i];
        if (!s->count) continue;
        bool corner = (uint32_t)s->feature == NONE;
        features[found++] =
            (rbt_counted_feature){.node = {(int32_t)(s->feature >> 32), (int32_t)(uint32_t)s->feature},
                                  .corners = corner ? 1 : 2,
                                  .count = s->count};
    }
    return found;
}
