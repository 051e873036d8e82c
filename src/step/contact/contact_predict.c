#include "step/contact/contact_predict.h"

#include "math/vec3.h"
#include "step/contact/contact_parts.h"

#include <string.h>

static const double SPRING = 1e6, TARGET = 0.5;

void rbt_contact_predict_begin(rbt_step_contact *c) { c->predicted_count = 0; }

// n . sum_i w_i (displacement of corner i); `from` and `to`: positions (all nodes x 3)
static double along(const rbt_predicted_pair *pair, const double *from, const double *to) {
    double sum = 0, by[3];
    for (int k = 0; k < 4; k++) {
        if (pair->node[k] < 0) continue;
        size_t at = 3 * (size_t)pair->node[k];
        rbt_subtract(to + at, from + at, by);
        sum += pair->weight[k] * rbt_dot(pair->normal, by);
    }
    return sum;
}

static bool is_free(const rbt_step_contact *c, int32_t node) {
    return node >= 0 && (size_t)node < c->model->node_count && !c->constrained[node];
}

// The constraint of a pair that stops the motion from c->y to c->motion at t. What prescribed corners do is known.
static bool predict(const rbt_step_contact *c, const rbt_contact_pair *pair, double t, rbt_predicted_pair *to) {
    double from[12], end[12], now = rbt_contact_gap_of(pair, c->y);
    rbt_gap gap;
    bool any = false;
    rbt_contact_gather(pair->node, c->y, from);
    rbt_contact_gather(pair->node, c->motion, end);
    for (int i = 0; i < 12; i++) from[i] += t * (end[i] - from[i]);
    rbt_gap_measure_any(pair->barrier.kind, from, pair->barrier.wall_normal, &gap);
    *to = (rbt_predicted_pair){.key = pair->key};
    memcpy(to->node, pair->node, sizeof to->node);
    memcpy(to->weight, gap.weight, sizeof to->weight);
    memcpy(to->normal, gap.normal, sizeof to->normal);
    to->least =
        TARGET * fmin(c->thickness, now) - (gap.distance - pair->barrier.inside) + t * along(to, c->y, c->motion);
    for (int k = 0; k < 4; k++) {
        if (is_free(c, to->node[k])) {
            any = true;
            continue;
        }
        double by[3] = {0};
        size_t at = to->node[k] < 0 ? 0 : 3 * (size_t)to->node[k];
        if (to->node[k] >= 0) rbt_subtract(c->motion + at, c->y + at, by);
        to->least -= to->weight[k] * rbt_dot(to->normal, by);
        to->weight[k] = 0;
    }
    return any;
}

static double moved(const rbt_step_contact *c, const rbt_predicted_pair *pair, const double *p) {
    double sum = 0;
    for (int k = 0; k < 4; k++)
        if (pair->weight[k] != 0)
            sum += c->rate * pair->weight[k] * rbt_dot(pair->normal, p + 3 * (size_t)pair->node[k]);
    return sum;
}

// Keys are ascending in both lists.
size_t rbt_contact_predict_update(rbt_step_contact *c, const double *p) {
    size_t kept = 0, old, changes = 0, stops = 0, next = 0;
    for (size_t i = 0; i < c->predicted_count; i++)
        if (moved(c, &c->predicted[i], p) <= c->predicted[i].least * (1 + 1e-9) + 1e-12 * c->thickness)
            c->predicted[kept++] = c->predicted[i];
    changes += c->predicted_count - kept;
    old = kept;
    for (size_t i = 0; i < c->candidates.count; i++) stops += c->values[i] < 1;
    if (!rbt_array_reserve((void **)&c->predicted, &c->predicted_capacity, 2 * (old + stops) + 1,
                           sizeof *c->predicted, "contact", NULL)) {
        c->out_of_memory = true;
        return SIZE_MAX;
    }
    // merged behind the old ones, then moved to the front
    rbt_predicted_pair *merged = c->predicted + old, one;
    size_t count = 0;
    for (size_t i = 0; i < c->candidates.count; i++) {
        if (!(c->values[i] < 1)) continue;
        while (next < old && c->predicted[next].key < c->pairs[i].key) merged[count++] = c->predicted[next++];
        bool known = next < old && c->predicted[next].key == c->pairs[i].key;
        if (known) next++;
        if (!predict(c, &c->pairs[i], c->values[i], &one)) continue;
        merged[count++] = one;
        changes++;
    }
    while (next < old) merged[count++] = c->predicted[next++];
    memmove(c->predicted, merged, count * sizeof *merged);
    c->predicted_count = count;
    return changes;
}

static double largest_diagonal(const rbt_block_matrix *H, size_t n) {
    const double *own = H->value + 9 * (H->start[n + 1] - 1);
    return fmax(own[0], fmax(own[4], own[8]));
}

bool rbt_contact_predict_add(rbt_step_contact *c, const rbt_block_matrix *H, double *rhs) {
    for (size_t i = 0; i < c->predicted_count; i++)
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < a; b++) {
                const rbt_predicted_pair *pair = &c->predicted[i];
                if (pair->weight[a] != 0 && pair->weight[b] != 0 &&
                    !rbt_contact_matrix_want(&c->matrix, pair->node[a], pair->node[b]))
                    return false;
            }
    if (!rbt_contact_matrix_fill(&c->matrix)) return false;
    for (size_t i = 0; i < c->predicted_count; i++) {
        const rbt_predicted_pair *pair = &c->predicted[i];
        const double *n = pair->normal;
        double spring = 0, block[9];
        for (int a = 0; a < 4; a++)
            if (pair->weight[a] != 0) spring = fmax(spring, SPRING * largest_diagonal(H, (size_t)pair->node[a]));
        for (int a = 0; a < 4; a++) {
            if (pair->weight[a] == 0) continue;
            rbt_add_scaled(rhs + 3 * (size_t)pair->node[a], -spring * c->rate * pair->weight[a] * pair->least, n);
            for (int b = 0; b <= a; b++) {
                if (pair->weight[b] == 0) continue;
                double share = spring * c->rate * c->rate * pair->weight[a] * pair->weight[b];
                for (int k = 0; k < 9; k++) block[k] = share * n[k / 3] * n[k % 3];
                rbt_contact_matrix_add(&c->matrix, pair->node[a], pair->node[b], block, 3);
            }
        }
    }
    return true;
}
