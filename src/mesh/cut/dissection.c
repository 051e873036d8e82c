#include "mesh/cut/dissection.h"

#include "base/memory.h"
#include "math/vec3.h"

#include <math.h>
#include <string.h>

static bool allocate(rbt_dissection *d, size_t nodes, size_t elements, rbt_error *error) {
    d->node_count = nodes;
    d->element_count = elements;
    d->elements =
        rbt_array_new(elements, (size_t)d->kind->element_corners * sizeof *d->elements, "a cut mesh", error);
    d->origin = rbt_array_new(elements, sizeof *d->origin, "a cut mesh", error);
    d->support = rbt_array_new(nodes, 4 * sizeof *d->support, "a cut mesh", error);
    d->weights = rbt_array_new(nodes, 4 * sizeof *d->weights, "a cut mesh", error);
    d->on = rbt_array_new(nodes, sizeof *d->on, "a cut mesh", error);
    if (d->elements && d->origin && d->support && d->weights && d->on) return true;
    rbt_dissection_free(d);
    return false;
}

bool rbt_dissection_begin(rbt_dissection *d, const rbt_side_kind *kind, size_t node_count, const int32_t *elements,
                          size_t element_count, rbt_error *error) {
    *d = (rbt_dissection){.kind = kind, .old_node_count = node_count, .old_element_count = element_count};
    if (!allocate(d, node_count, element_count, error)) return false;
    memcpy(d->elements, elements, element_count * (size_t)kind->element_corners * sizeof *elements);
    for (size_t e = 0; e < element_count; e++) d->origin[e] = (int32_t)e;
    for (size_t n = 0; n < node_count; n++) {
        memcpy(d->support + 4 * n, (int32_t[]){(int32_t)n, -1, -1, -1}, 4 * sizeof *d->support);
        d->weights[4 * n] = 1;
    }
    return true;
}

void rbt_dissection_free(rbt_dissection *d) {
    free(d->elements);
    free(d->origin);
    free(d->support);
    free(d->weights);
    free(d->on);
    free(d->offset);
    *d = (rbt_dissection){0};
}

// ---- Carrying

void rbt_dissection_carry(const rbt_dissection *d, const double *old, int components, double *now) {
    size_t k = (size_t)components;
    for (size_t n = 0; n < d->node_count; n++)
        for (size_t i = 0; i < k; i++) {
            double sum = d->weights[4 * n] * old[k * (size_t)d->support[4 * n] + i];
            for (size_t a = 1; a < 4 && d->support[4 * n + a] >= 0; a++)
                sum += d->weights[4 * n + a] * old[k * (size_t)d->support[4 * n + a] + i];
            now[k * n + i] = sum;
        }
}

void rbt_dissection_place(const rbt_dissection *d, const double *X, double *now) {
    rbt_dissection_carry(d, X, 3, now);
    for (size_t i = 0; d->offset && i < 3 * d->node_count; i++) now[i] += d->offset[i];
}

bool rbt_dissection_move(rbt_dissection *d, const double *by, rbt_error *error) {
    if (!d->offset && !(d->offset = rbt_array_new(d->node_count, 3 * sizeof *d->offset, "a cut mesh", error)))
        return false;
    for (size_t i = 0; i < 3 * d->node_count; i++) d->offset[i] += by[i];
    return true;
}

void rbt_dissection_carry_nodes(const rbt_dissection *d, const unsigned char *old, unsigned char *now) {
    for (size_t n = 0; n < d->node_count; n++) {
        bool all = true;
        for (size_t a = 0; a < 4; a++) all = all && (d->support[4 * n + a] < 0 || old[d->support[4 * n + a]]);
        now[n] = all;
    }
}

void rbt_dissection_carry_elements(const rbt_dissection *d, const unsigned char *old, unsigned char *now) {
    for (size_t e = 0; e < d->element_count; e++) now[e] = old[d->origin[e]];
}

// ---- Cutting

static void add_support(int32_t *support, double *weights, int32_t node, double weight) {
    size_t a = 0;
    while (a < 4 && support[a] >= 0 && support[a] != node) a++;
    if (a == 4) return;  // both ends lie in one old element, which has no more nodes
    support[a] = node;
    weights[a] += weight;
}

// The dissection that a cut of `from` makes, `to` being empty
static bool follow(const rbt_dissection *from, const rbt_cut_result *r, int cut, bool complete, rbt_dissection *to,
                   rbt_error *error) {
    *to = (rbt_dissection){
        .kind = from->kind, .old_node_count = from->old_node_count, .old_element_count = from->old_element_count};
    if (!allocate(to, r->node_count, r->element_count, error)) return false;
    memcpy(to->elements, r->elements, r->element_count * (size_t)from->kind->element_corners * sizeof *to->elements);
    for (size_t e = 0; e < r->element_count; e++) to->origin[e] = from->origin[r->origin[e]];
    for (size_t n = 0; n < r->node_count; n++) {
        size_t a = (size_t)r->parents[2 * n], b = (size_t)r->parents[2 * n + 1];
        double s = r->share[n];
        int32_t *support = to->support + 4 * n;
        double *weights = to->weights + 4 * n;
        memcpy(support, from->support + 4 * a, 4 * sizeof *support);
        for (size_t k = 0; k < 4; k++) weights[k] = (s == 0 ? 1 : 1 - s) * from->weights[4 * a + k];
        for (size_t k = 0; s != 0 && k < 4 && from->support[4 * b + k] >= 0; k++)
            add_support(support, weights, from->support[4 * b + k], s * from->weights[4 * b + k]);
        to->on[n] = a == b || s == 0 ? from->on[a] : from->on[a] & from->on[b];
        to->on[n] &= ~((uint64_t)1 << cut);
        if (r->on[n] && !complete) to->on[n] |= (uint64_t)1 << cut;
    }
    if (!from->offset) return true;
    to->offset = rbt_array_new(r->node_count, 3 * sizeof *to->offset, "a cut mesh", error);
    if (to->offset) rbt_cut_carry(r, from->offset, 3, to->offset);
    return to->offset != NULL;
}

// Parts whose volume (or area) is not positive in rest position: rounding has eaten them.
static bool has_flat_parts(const rbt_dissection *d, const double *X) {
    size_t k = (size_t)d->kind->element_corners;
    for (size_t e = 0; e < d->element_count; e++) {
        const double *x[4];
        for (size_t a = 0; a < k; a++) x[a] = X + 3 * (size_t)d->elements[k * e + a];
        if (k == 4 && !(rbt_tet_volume(x[0], x[1], x[2], x[3]) > 0)) return true;
        if (k == 4) continue;
        double u[3], v[3], n[3];
        rbt_subtract(x[1], x[0], u);
        rbt_subtract(x[2], x[0], v);
        rbt_cross(u, v, n);
        if (!(rbt_dot(n, n) > 0)) return true;
    }
    return false;
}

// One attempt; *flat if parts have no volume.
static bool attempt(const rbt_dissection *d, const double *X, const rbt_cut_mesh *mesh,
                    const rbt_cut_surface *surface, const rbt_cut_range *range, int cut, bool complete,
                    rbt_dissection *next, rbt_cut_result *result, bool *flat, rbt_error *error) {
    *next = (rbt_dissection){0};
    *flat = false;
    if (!rbt_cut(mesh, surface, range, result, error)) return false;
    bool good = follow(d, result, cut, complete, next, error);
    double *rest = good ? rbt_array_new(next->node_count, 3 * sizeof *rest, "a cut mesh", error) : NULL;
    if (rest) {
        rbt_dissection_place(next, X, rest);
        *flat = result->split_count && has_flat_parts(next, rest);
    }
    free(rest);
    if (rest && !*flat) return true;
    rbt_dissection_free(next);
    rbt_cut_result_free(result);
    return rest != NULL;
}

bool rbt_dissection_cut(rbt_dissection *d, const double *X, const double *positions, const rbt_cut_surface *surface,
                        const rbt_cut_range *range, int cut, bool complete, rbt_cut_result *result,
                        rbt_error *error) {
    *result = (rbt_cut_result){0};
    unsigned char *on = rbt_array_new(d->node_count, 1, "a cut mesh", error);
    if (!on) return false;
    for (size_t n = 0; n < d->node_count; n++) on[n] = d->on[n] >> cut & 1;
    rbt_cut_mesh mesh = {d->kind, d->node_count, d->element_count, positions, d->elements, on};
    rbt_cut_range wider = *range;
    rbt_dissection next;
    bool flat = true, good = true;
    for (; good && flat && wider.tolerance <= RBT_WIDEST_TOLERANCE; wider.tolerance *= 10)
        good = attempt(d, X, &mesh, surface, &wider, cut, complete, &next, result, &flat, error);
    free(on);
    if (good && flat)
        return rbt_fail(error,
                        "the cut leaves parts without volume, even with edges parted no nearer than %g of their "
                        "length from their ends; move it a little",
                        wider.tolerance / 10);
    if (!good) return false;
    rbt_dissection_free(d);
    *d = next;
    return true;
}

// ---- Bytes: counts, elements, origins, then for nodes beyond the old ones support and weights, what lies on cuts, and
// offsets if there are some

void rbt_dissection_write(const rbt_dissection *d, rbt_text *bytes) {
    const uint64_t head[4] = {d->old_node_count, d->old_element_count, d->node_count, d->element_count};
    size_t extra = d->node_count - d->old_node_count;
    rbt_text_add_bytes(bytes, head, sizeof head);
    rbt_text_add_bytes(bytes, d->elements, d->element_count * (size_t)d->kind->element_corners * sizeof *d->elements);
    rbt_text_add_bytes(bytes, d->origin, d->element_count * sizeof *d->origin);
    rbt_text_add_bytes(bytes, d->support + 4 * d->old_node_count, 4 * extra * sizeof *d->support);
    rbt_text_add_bytes(bytes, d->weights + 4 * d->old_node_count, 4 * extra * sizeof *d->weights);
    rbt_text_add_bytes(bytes, d->on, d->node_count * sizeof *d->on);
    if (d->offset) rbt_text_add_bytes(bytes, d->offset, 3 * d->node_count * sizeof *d->offset);
}

static bool take(void *to, size_t size, const char **at, const char *end) {
    if ((size_t)(end - *at) < size) return false;
    if (size) memcpy(to, *at, size);
    *at += size;
    return true;
}

static bool is_part_of(const rbt_dissection *d, size_t e, const int32_t *old_elements) {
    size_t k = (size_t)d->kind->element_corners;
    if (d->origin[e] < 0 || (size_t)d->origin[e] >= d->old_element_count) return false;
    if (e && d->origin[e] < d->origin[e - 1]) return false;
    const int32_t *old = old_elements + k * (size_t)d->origin[e];
    for (size_t a = 0; a < k; a++) {
        int32_t node = d->elements[k * e + a];
        if (node < 0 || (size_t)node >= d->node_count) return false;
        for (size_t i = 0; i < 4 && d->support[4 * (size_t)node + i] >= 0; i++) {
            bool among = false;
            for (size_t b = 0; b < k; b++) among |= old[b] == d->support[4 * (size_t)node + i];
            if (!among) return false;
        }
    }
    return true;
}

static bool are_weights(const rbt_dissection *d, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < 4; i++) {
        int32_t node = d->support[4 * n + i];
        if (i && node >= 0 && d->support[4 * n + i - 1] < 0) return false;
        double weight = d->weights[4 * n + i];
        if (node < -1 || node >= (int32_t)d->old_node_count || (node < 0 && (i == 0 || weight != 0)) ||
            !(weight >= 0 && weight <= 1))
            return false;
        sum += weight;
    }
    return fabs(sum - 1) < 1e-9;
}

bool rbt_dissection_read(rbt_dissection *d, const rbt_side_kind *kind, size_t old_node_count,
                         const int32_t *old_elements, size_t old_element_count, bool moved, const char **at,
                         const char *end, rbt_error *error) {
    uint64_t head[4];
    *d = (rbt_dissection){.kind = kind, .old_node_count = old_node_count, .old_element_count = old_element_count};
    if (!take(head, sizeof head, at, end)) return rbt_fail(error, "the cut mesh is incomplete");
    if (head[0] != old_node_count || head[1] != old_element_count)
        return rbt_fail(error,
                        "the mesh that was cut had %llu nodes and %llu elements, but the scene's has %zu and %zu",
                        (unsigned long long)head[0], (unsigned long long)head[1], old_node_count, old_element_count);
    if (head[2] < head[0] || head[2] > (size_t)(end - *at) / sizeof *d->on ||
        head[3] > (size_t)(end - *at) / sizeof *d->origin)
        return rbt_fail(error, "the cut mesh has %llu nodes and %llu elements, which its bytes cannot hold",
                        (unsigned long long)head[2], (unsigned long long)head[3]);
    if (!allocate(d, head[2], head[3], error)) return false;
    if (moved && !(d->offset = rbt_array_new(d->node_count, 3 * sizeof *d->offset, "a cut mesh", error))) {
        rbt_dissection_free(d);
        return false;
    }
    for (size_t n = 0; n < old_node_count; n++) {
        memcpy(d->support + 4 * n, (int32_t[]){(int32_t)n, -1, -1, -1}, 4 * sizeof *d->support);
        d->weights[4 * n] = 1;
    }
    size_t extra = d->node_count - old_node_count;
    bool good = take(d->elements, d->element_count * (size_t)kind->element_corners * sizeof *d->elements, at, end) &&
                take(d->origin, d->element_count * sizeof *d->origin, at, end) &&
                take(d->support + 4 * old_node_count, 4 * extra * sizeof *d->support, at, end) &&
                take(d->weights + 4 * old_node_count, 4 * extra * sizeof *d->weights, at, end) &&
                take(d->on, d->node_count * sizeof *d->on, at, end) &&
                (!moved || take(d->offset, 3 * d->node_count * sizeof *d->offset, at, end));
    for (size_t i = 0; good && moved && i < 3 * d->node_count; i++) good = isfinite(d->offset[i]);
    for (size_t n = old_node_count; good && n < d->node_count; n++) good = are_weights(d, n);
    for (size_t e = 0; good && e < d->element_count; e++) good = is_part_of(d, e, old_elements);
    if (good) return true;
    rbt_dissection_free(d);
    return rbt_fail(error, "the cut mesh is incomplete or names nodes and elements that there are not");
}
