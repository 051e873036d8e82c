#include "step/imex/imex_envelope.h"

#include "base/threads.h"
#include "energy/tet_group.h"

#include <math.h>
#include <string.h>

// More than is needed, so that certificates are rare: each costs as much as some hundred steps.
static const double AHEAD = 1.25, LEAST = 0.02;
static const double CLOSE = 0.5;  // of the radius
enum { MAX_TRIALS = 5, EVERY = 4 };

bool rbt_imex_stiffens(const rbt_group *group) {
    return group->type->stiffening && !group->constant_stiffness && !group->turning_stiffness;
}

bool rbt_imex_envelope_needed(const rbt_model *m) {
    for (size_t g = 0; g < m->group_count; g++)
        if (rbt_imex_stiffens(&m->groups[g])) return true;
    return false;
}

void rbt_imex_envelope_free(rbt_imex_envelope *v) {
    rbt_arena_free(v->arena);
    *v = (rbt_imex_envelope){0};
}

// The region of a tet
static size_t region_of(const rbt_model *m, const rbt_group *group, size_t e) {
    return (size_t)m->tet_region[group->members[e]];
}

static void tabulate(rbt_imex_envelope *v, const rbt_group *group, size_t e) {
    const rbt_tets *tets = group->data;
    const rbt_lame *k = &tets->batches[e / RBT_W].k;
    size_t r = region_of(v->model, group, e);
    rbt_stiffening law = rbt_stiffening_law(tets->material, k->mu[e % RBT_W], k->lambda[e % RBT_W]);
    if (isnan(v->tables[r].most[0])) rbt_stiffening_tabulate(&law, &v->tables[r]);
}

static void find_moduli(rbt_imex_envelope *v) {
    double *modulus = v->modulus;
    for (size_t r = 0; r < v->model->region_count; r++) v->tables[r].most[0] = NAN;
    for (size_t g = 0; g < v->model->group_count; modulus += v->model->groups[g++].count) {
        const rbt_group *group = &v->model->groups[g];
        for (size_t e = 0; rbt_imex_stiffens(group) && e < group->count; e++) {
            modulus[e] = group->type->modulus(group, e);
            if (group->type == &RBT_TETS) tabulate(v, group, e);
        }
    }
}

bool rbt_imex_envelope_init(rbt_imex_envelope *v, const rbt_model *m, rbt_error *error) {
    *v = (rbt_imex_envelope){.model = m, .arena = rbt_arena_new()};
    for (size_t g = 0; g < m->group_count; g++) v->element_count += m->groups[g].count;
    size_t n = v->element_count;
    bool ok = v->arena && (v->modulus = rbt_arena_take(v->arena, n, sizeof(double))) &&
              (v->tables = rbt_arena_take(v->arena, m->region_count, sizeof *v->tables)) &&
              (v->allowed = rbt_arena_take(v->arena, n, sizeof(float))) &&
              (v->limit = rbt_arena_take(v->arena, n, sizeof(double))) &&
              (v->added = rbt_arena_take(v->arena, n, sizeof(double))) &&
              (v->square = rbt_arena_take(v->arena, n, sizeof(double)));
    for (size_t e = 0; ok && e < n; e++) v->square[e] = 1;
    if (ok) find_moduli(v);
    else {
        rbt_imex_envelope_free(v);
        rbt_fail_memory(error, 5 * n * sizeof(double), "bounds of the step");
    }
    return ok;
}

// ---- Allowances

static bool has_explicit(const rbt_stability *s, const unsigned char *implicit, const int32_t *node, int corners) {
    for (int a = 0; a < corners; a++)
        if (!implicit[node[a]] && s->root[node[a]] > 0) return true;
    return false;
}

// What follows from allowances and implicit nodes
static void take(rbt_imex_envelope *v, const rbt_stability *s, const unsigned char *implicit, const float *allowed) {
    size_t first = 0;
    v->stale = false;
    memcpy(v->allowed, allowed, v->element_count * sizeof *allowed);
    for (size_t g = 0; g < v->model->group_count; first += v->model->groups[g++].count) {
        const rbt_group *group = &v->model->groups[g];
        for (size_t e = 0; rbt_imex_stiffens(group) && e < group->count; e++) {
            int corners = group->type->corners;
            bool watched = has_explicit(s, implicit, group->nodes + (size_t)corners * e, corners);
            double radius = 0;
            if (group->type == &RBT_TETS)
                radius = rbt_stiffening_radius(&v->tables[region_of(v->model, group, e)], (double)allowed[first + e]);
            v->added[first + e] = (double)allowed[first + e] * v->modulus[first + e];
            v->limit[first + e] = watched ? radius * radius : INFINITY;
        }
    }
}

// With 4 / bound^2 and 4 / own^2 the largest eigenvalues of the envelope and of sum modulus G, all allowances may grow
// by t if 4 / bound^2 + 4 t / own^2 <= 4 / step^2.
static void give_rest(rbt_imex_envelope *v, rbt_stability *s, const unsigned char *implicit, const rbt_split *split,
                      float *allowed) {
    double step = s->model->step;
    s->added = v->modulus;
    s->added_only = true;
    double own = rbt_stability_bound(s, implicit, step, NULL, NULL);
    s->added = NULL;
    s->added_only = false;
    if (split->bound >= step && isfinite(own)) {
        double more = (1 / (step * step) - 1 / (split->bound * split->bound)) * own * own;
        for (size_t e = 0; e < v->element_count; e++)
            if (v->modulus[e] > 0) allowed[e] += (float)(more * (1 - 1e-6));  // rounding of floats
    }
    take(v, s, implicit, allowed);
}

// By the local test an element could be 4 / (h^2 rate) times as stiff. Most are far from that, and allowances in
// proportion to it cost nothing: the largest share of it is taken with which the certificate holds as it is.
static void share_out(rbt_imex_envelope *v, rbt_stability *s, const unsigned char *implicit, float *allowed,
                      rbt_split *split) {
    double step = s->model->step;
    size_t first = 0;
    for (size_t g = 0; g < v->model->group_count; first += v->model->groups[g++].count) {
        const rbt_group *group = &v->model->groups[g];
        for (size_t e = 0; rbt_imex_stiffens(group) && e < group->count; e++) {
            int corners = group->type->corners;
            double rate = rbt_stability_rate(s, first + e, group->nodes + (size_t)corners * e, corners, step);
            double room = 4 / (step * step * rate) - 1;
            allowed[first + e] = room > 0 ? (float)fmin(room, 1e6) : 0;
        }
    }
    for (int trial = 0; trial < MAX_TRIALS; trial++) {
        for (size_t e = 0; e < v->element_count; e++) allowed[e] *= 0.4f;
        take(v, s, implicit, allowed);
        s->added = v->added;
        double bound = rbt_stability_bound(s, implicit, step, NULL, NULL);
        s->added = NULL;
        if (!(bound >= step)) continue;
        split->bound = bound;
        return;
    }
    memset(allowed, 0, v->element_count * sizeof *allowed);
}

void rbt_imex_envelope_open(rbt_imex_envelope *v, rbt_stability *s, const unsigned char *implicit,
                            const rbt_split *split, float *allowed) {
    rbt_split own = *split;
    share_out(v, s, implicit, allowed, &own);
    give_rest(v, s, implicit, &own, allowed);
}

// ---- The look

// Batches of a group: elements RBT_W b to RBT_W b + RBT_W - 1
static size_t batches_of(const rbt_group *group) { return (group->count + RBT_W - 1) / RBT_W; }

size_t rbt_imex_envelope_batches(const rbt_model *m) {
    size_t count = 0;
    for (size_t g = 0; g < m->group_count; g++) count += batches_of(&m->groups[g]);
    return count;
}

// Of the tets that are to be looked at
static void measure(const rbt_group *group, const double *x, const unsigned char *close, bool all, double *square) {
    const rbt_tets *tets = group->data;
    size_t chunks = (group->count + RBT_CHUNK - 1) / RBT_CHUNK;
#pragma omp parallel for schedule(static) if (group->count >= RBT_PARALLEL_FROM)
    for (size_t c = 0; c < chunks; c++) {
        size_t end = (c + 1) * RBT_CHUNK < group->count ? (c + 1) * RBT_CHUNK : group->count;
        size_t piece = all ? RBT_CHUNK : RBT_W;
        for (size_t e = c * RBT_CHUNK; e < end; e += piece)
            if (all || close[e / RBT_W])
                tets->kernels.strain(tets->batches + e / RBT_W, end - e < piece ? end - e : piece, x, square + e);
    }
}

static bool element_exceeds(const rbt_imex_envelope *v, const rbt_group *group, size_t first, size_t e,
                            const double *x) {
    return !isinf(v->limit[first + e]) && !(v->square[first + e] <= v->limit[first + e]) &&
           !(group->type->stiffening(group, e, x) <= (double)v->allowed[first + e]);
}

// Whether an element of a group does. With `all`, who is close follows.
static bool group_exceeds(const rbt_imex_envelope *v, const rbt_group *group, size_t first, const double *x, bool all,
                          unsigned char *close) {
    for (size_t b = 0; b < batches_of(group); b++) {
        size_t end = RBT_W * (b + 1) < group->count ? RBT_W * (b + 1) : group->count;
        if (!all && !close[b]) continue;
        bool near = false;
        for (size_t e = RBT_W * b; e < end; e++) {
            if (element_exceeds(v, group, first, e, x)) return true;
            near = near || !(v->square[first + e] <= CLOSE * CLOSE * v->limit[first + e]);
        }
        if (all) close[b] = near;
    }
    return false;
}

static bool exceeds(const rbt_imex_envelope *v, const double *x, bool all, unsigned char *close) {
    size_t first = 0;
    for (size_t g = 0; g < v->model->group_count; first += v->model->groups[g].count, g++) {
        const rbt_group *group = &v->model->groups[g];
        if (rbt_imex_stiffens(group)) {
            if (group->type == &RBT_TETS) measure(group, x, close, all, v->square + first);
            if (group_exceeds(v, group, first, x, all, close)) return true;
        }
        close += batches_of(group);
    }
    return false;
}

static void grow(rbt_imex_envelope *v, const double *x, float *allowed) {
    size_t first = 0;
    for (size_t g = 0; g < v->model->group_count; first += v->model->groups[g++].count) {
        const rbt_group *group = &v->model->groups[g];
        for (size_t e = 0; rbt_imex_stiffens(group) && e < group->count; e++) {
            double now = isinf(v->limit[first + e]) ? 0 : group->type->stiffening(group, e, x);
            // An element that the material forbids cannot be made stiff enough; steps end with an outcome there.
            double wanted = isfinite(now) ? AHEAD * now + LEAST : 1e6;
            if (now > 0.8 * (double)allowed[first + e]) allowed[first + e] = fmaxf(allowed[first + e], (float)wanted);
            if (isfinite(v->square[first + e]) && group->type == &RBT_TETS)
                v->strain = fmax(v->strain, sqrt(v->square[first + e]));
        }
    }
}

bool rbt_imex_envelope_look(rbt_imex_envelope *v, rbt_stability *s, const double *x, uint64_t step,
                            rbt_imex_allowances to, unsigned char *implicit, rbt_split *split) {
    if (v->stale || memcmp(v->allowed, to.allowed, v->element_count * sizeof *to.allowed) != 0)
        take(v, s, implicit, to.allowed);
    if (!exceeds(v, x, step % EVERY == 0, to.close)) return false;
    grow(v, x, to.allowed);
    take(v, s, implicit, to.allowed);
    s->added = v->added;
    rbt_stability_certify(s, s->model->step, s->model->X, implicit, split);
    give_rest(v, s, implicit, split, to.allowed);
    memset(to.close, 1, rbt_imex_envelope_batches(v->model));
    return true;
}
