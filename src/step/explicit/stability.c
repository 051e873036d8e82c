#include "step/explicit/stability.h"

#include "base/threads.h"
#include "math/largest.h"
#include "math/symmetric.h"
#include "math/vec3.h"
#include "math/vector.h"
#include "model/part.h"
#include "step/explicit/stability_release.h"

#include <math.h>
#include <string.h>

static const double EPSILON = 0.04, DOUBT = 1e-9;
enum { MAX_LANCZOS = 160, MAX_ROUNDS = 40 };

void rbt_stability_forget(rbt_stability *s) {
    if (s->rest_known) rbt_stiffness_free(&s->rest);
    s->rest_known = false;
}

void rbt_stability_free(rbt_stability *s) {
    rbt_stability_forget(s);
    rbt_arena_free(s->arena);
    *s = (rbt_stability){0};
}

// Nodes that are fixed, or driven and never released
static void find_constrained(const rbt_model *m, unsigned char *constrained) {
    for (size_t n = 0; n < m->node_count; n++) constrained[n] = m->role[n] == RBT_FIXED;
    for (size_t i = 0; i < m->motions.node_count; i++)
        if (isinf(m->motions.groups[m->motions.group[i]].release)) constrained[m->motions.node[i]] = 1;
}

// The stiffness of all obstacles at once, per area of a node
static void find_contact(rbt_stability *s, double factor) {
    for (size_t o = 0; o < s->model->obstacles.count; o++) {
        double normal[3], k = factor * rbt_obstacle_stiffness(&s->model->obstacles.items[o], normal);
        bool flat = rbt_dot(normal, normal) > 0;
        for (int i = 0; i < 9; i++) s->contact[i] += k * (flat ? normal[i / 3] * normal[i % 3] : i % 4 == 0);
    }
    double C[9];
    memcpy(C, s->contact, sizeof C);
    rbt_symmetric_eigen(3, C, NULL);
    s->contact_norm = fmax(C[0], fmax(C[4], C[8]));
}

// ---- Local bounds

// What damping and obstacles add to an element: rate + *stiff + 2 *damp / h is its eigenvalue of P(h), from above
static void added_rates(const rbt_stability *s, double rate, const int32_t *node, int corners, double *stiff,
                        double *damp) {
    const rbt_damping_def *damping = &s->model->bodies[s->model->node_body[node[0]]].damping;
    *stiff = 0;
    for (int a = 0; s->contact_norm > 0 && a < corners; a++)
        *stiff = fmax(*stiff, s->contact_norm * rbt_stability_contact(s, (size_t)node[a]));
    *damp = damping->mass + damping->stiffness * rate;
}

double rbt_stability_rate(const rbt_stability *s, size_t e, const int32_t *node, int corners, double h) {
    double stiff, damp;
    added_rates(s, s->rate[e], node, corners, &stiff, &damp);
    return s->rate[e] + stiff + 2 * damp / h;
}

void rbt_stability_local_bounds(const rbt_stability *s, double *least, double *largest) {
    const double *rate = s->rate;
    *least = INFINITY;
    *largest = 0;
    for (size_t g = 0; g < s->model->group_count; rate += s->model->groups[g++].count) {
        const rbt_group *group = &s->model->groups[g];
        for (size_t e = 0; e < group->count; e++) {
            double stiff, damp;
            if (!(rate[e] > 0)) continue;
            added_rates(s, rate[e], group->nodes + (size_t)group->type->corners * e, group->type->corners, &stiff,
                        &damp);
            // h^2 (rate + stiff) + 2 h damp = 4
            double bound = 4 / (damp + sqrt(damp * damp + 4 * (rate[e] + stiff)));
            *least = fmin(*least, bound);
            *largest = fmax(*largest, bound);
        }
    }
}

// K with rows numbered otherwise than the model's nodes: number (node_count), NULL: the same
typedef struct numbered {
    const rbt_block_matrix *K;
    const int32_t *number;
} numbered;

static const double *find_block(const rbt_block_matrix *K, int32_t row, int32_t column) {
    for (size_t k = K->start[row]; k < K->start[row + 1]; k++)
        if (K->column[k] == column) return K->value + 9 * k;
    return NULL;
}

// The element's block of M^-1/2 K M^-1/2 into one lane
static void gather_element(const rbt_stability *s, numbered N, const int32_t *node, int corners, rbt_small_batch A,
                           int lane) {
    for (int a = 0; a < corners; a++)
        for (int b = 0; b < corners; b++) {
            int32_t row = N.number ? N.number[node[a]] : node[a], column = N.number ? N.number[node[b]] : node[b];
            if (column > row) continue;
            const double *block = row < 0 || column < 0 ? NULL : find_block(N.K, row, column);
            double scale = s->root[node[a]] * s->root[node[b]];
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    A[3 * a + i][3 * b + j][lane] = A[3 * b + j][3 * a + i][lane] =
                        block ? scale * block[3 * i + j] : 0;
        }
}

static void find_rates(rbt_stability *s, numbered N, const double *known) {
    double *rate = s->rate;
    for (size_t g = 0; g < s->model->group_count; rate += s->model->groups[g++].count) {
        const rbt_group *group = &s->model->groups[g];
        int corners = group->type->corners;
        const double *old = known ? known + (rate - s->rate) : NULL;
        size_t batches = (group->count + RBT_W - 1) / RBT_W;
#pragma omp parallel for schedule(static) if (group->count >= RBT_PARALLEL_FROM)
        for (size_t b = 0; b < batches; b++) {
            rbt_small_batch A;
            double largest[RBT_W];
            bool wanted = false;
            for (size_t l = 0; l < RBT_W; l++) {
                size_t e = b * RBT_W + l < group->count ? b * RBT_W + l : group->count - 1;
                wanted |= !old || isnan(old[e]);
            }
            for (size_t l = 0; wanted && l < RBT_W; l++) {
                size_t e = b * RBT_W + l < group->count ? b * RBT_W + l : group->count - 1;
                gather_element(s, N, group->nodes + (size_t)corners * e, corners, A, (int)l);
            }
            if (wanted) rbt_small_largest(3 * corners, A, largest);
            for (size_t l = 0; l < RBT_W && b * RBT_W + l < group->count; l++) {
                size_t e = b * RBT_W + l;
                rate[e] = old && !isnan(old[e]) ? old[e] : fmax(largest[l], 0);
            }
        }
    }
}

static bool find_all_rates(rbt_stability *s, rbt_error *error) {
    if (!rbt_stiffness_build(&s->rest, s->model, error)) return false;
    s->rest_known = true;
    rbt_stiffness_assemble(&s->rest, s->model, RBT_TANGENT, s->model->X);
    find_rates(s, (numbered){&s->rest.K, NULL}, NULL);
    return true;
}

// Only the one-rings of elements without a known rate are assembled.
static bool find_unknown_rates(rbt_stability *s, const double *known, rbt_error *error) {
    const rbt_model *m = s->model;
    rbt_model_part part = {0};
    rbt_stiffness stiffness = {0};
    unsigned char *chosen = rbt_array_new(m->node_count, 1, "bounds of the step", error);
    int32_t *number = rbt_array_new(m->node_count, sizeof *number, "bounds of the step", error);
    const double *old = known;
    for (size_t g = 0; chosen && g < m->group_count; old += m->groups[g++].count) {
        size_t corners = (size_t)m->groups[g].type->corners;
        for (size_t e = 0; e < m->groups[g].count; e++)
            for (size_t a = 0; isnan(old[e]) && a < corners; a++) chosen[m->groups[g].nodes[corners * e + a]] = 1;
    }
    bool ok = chosen && number && rbt_model_part_build(&part, m, chosen, error) &&
              rbt_stiffness_build(&stiffness, &part.model, error);
    if (ok) {
        rbt_model_part_gather(&part, m->X, s->work);
        rbt_stiffness_assemble(&stiffness, &part.model, RBT_TANGENT, s->work);
        for (size_t n = 0; n < m->node_count; n++) number[n] = -1;
        for (size_t i = 0; i < part.model.node_count; i++) number[part.nodes[i]] = (int32_t)i;
        find_rates(s, (numbered){&stiffness.K, number}, known);
    }
    rbt_stiffness_free(&stiffness);
    rbt_model_part_free(&part);
    free(chosen);
    free(number);
    return ok;
}

// All but the rates
static bool prepare(rbt_stability *s, const rbt_model *m, double one_sided, rbt_error *error) {
    *s = (rbt_stability){.model = m, .arena = rbt_arena_new()};
    for (size_t g = 0; g < m->group_count; g++) s->element_count += m->groups[g].count;
    size_t values = 3 * m->node_count;
    if (!(s->arena && (s->rate = rbt_arena_take(s->arena, s->element_count, sizeof(double))) &&
          (s->constrained = rbt_arena_take(s->arena, m->node_count, 1)) &&
          (s->reach = rbt_arena_take(s->arena, m->node_count, 1)) &&
          (s->root = rbt_arena_take(s->arena, m->node_count, sizeof(double))) &&
          (s->work = rbt_arena_take(s->arena, 4 * values, sizeof(double))) &&
          (s->modes = rbt_arena_take(s->arena, RBT_STABILITY_MODES * values, sizeof(double)))))
        return rbt_fail_memory(error, (5 + RBT_STABILITY_MODES) * values * sizeof(double), "bounds of the step");
    memset(s->reach, 1, m->node_count);
    find_constrained(m, s->constrained);
    for (size_t n = 0; n < m->node_count; n++)
        s->root[n] = s->constrained[n] || !(m->mass[n] > 0) ? 0 : 1 / sqrt(m->mass[n]);
    find_contact(s, one_sided);
    return true;
}

static bool prepare_tangent(rbt_stability *s, const double *x, rbt_error *error) {
    if (!rbt_tangent_build(&s->tangent, s->arena, s->model, error)) return false;
    rbt_tangent_prepare(&s->tangent, x);
    return true;
}

bool rbt_stability_init(rbt_stability *s, const rbt_model *m, const double *known, rbt_error *error) {
    bool ok = prepare(s, m, RBT_STABILITY_ONE_SIDED, error) &&
              (known ? find_unknown_rates(s, known, error) : find_all_rates(s, error)) &&
              prepare_tangent(s, m->X, error);
    if (!ok) rbt_stability_free(s);
    return ok;
}

// ---- The certificate

static bool is_explicit(const rbt_stability *s, const unsigned char *implicit, size_t n) {
    return s->root[n] > 0 && !(implicit && implicit[n]);
}

// A number between -1 and 1 that depends on i alone (splitmix64)
static double scatter(uint64_t i) {
    uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)(int64_t)(z ^ z >> 31) * 0x1p-63;
}

// The explicit nodes, and the step of P
typedef struct block {
    const unsigned char *implicit;
    double h;
} block;

// y = K p, with what is added to K
static void tangent_product(rbt_stability *s, const double *p, double *y) {
    if (s->added_only) memset(y, 0, 3 * s->model->node_count * sizeof *y);
    else rbt_tangent_product(&s->tangent, p, y);
    const double *added = s->added;
    for (size_t g = 0; added && g < s->model->group_count; added += s->model->groups[g++].count) {
        const rbt_group *group = &s->model->groups[g];
        for (size_t e = 0; group->type->laplacian && e < group->count; e++)
            if (added[e] > 0) group->type->laplacian(group, e, added[e], p, y);
    }
}

// y = M_E^-1/2 P(h)_EE M_E^-1/2 q
static void scaled_product(rbt_stability *s, block E, const double *q, double *moved, double *y) {
    size_t nodes = s->model->node_count;
    for (size_t i = 0; i < 3 * nodes; i++) moved[i] = s->root[i / 3] * q[i];
    tangent_product(s, moved, y);
    for (size_t n = 0; n < nodes; n++) {
        bool own = is_explicit(s, E.implicit, n);
        double scale = own ? s->root[n] * rbt_stability_factor(s, n, E.h) : 0;
        bool all = own && !s->added_only;
        double shift = all ? rbt_stability_shift(s, n, E.h) : 0;
        double contact = all && s->contact_norm > 0 ? rbt_stability_contact(s, n) : 0;
        for (size_t i = 0; i < 3; i++) y[3 * n + i] = scale * y[3 * n + i] + shift * q[3 * n + i];
        for (size_t i = 0; contact > 0 && i < 3; i++)
            y[3 * n + i] += contact * rbt_dot(s->contact + 3 * i, q + 3 * n);
    }
}

typedef struct lanczos {
    int count;
    double d[MAX_LANCZOS], e[MAX_LANCZOS];  // T
    double start;                           // length of the vector it began with
} lanczos;

static void begin(rbt_stability *s, const unsigned char *implicit, double *q) {
    for (size_t n = 0; n < s->model->node_count; n++)
        for (size_t i = 3 * n; i < 3 * n + 3; i++) q[i] = is_explicit(s, implicit, n) ? scatter(i) : 0;
    double length = rbt_vector_norm(3 * s->model->node_count, q);
    for (size_t i = 0; length > 0 && i < 3 * s->model->node_count; i++) q[i] /= length;
}

// T of `most` steps. A second time with weights (modes x MAX_LANCZOS) it also sums the vectors up: shape += weight q.
static void iterate(rbt_stability *s, block E, int most, lanczos *T, const double *weights, size_t modes,
                    double *shape) {
    size_t n = 3 * s->model->node_count;
    double *q = s->work, *before = q + n, *y = before + n, *moved = y + n;
    begin(s, E.implicit, q);
    memset(before, 0, n * sizeof *before);
    for (T->count = 0; T->count < most;) {
        int k = T->count++;
        for (size_t m = 0; m < modes; m++)
            rbt_vector_add_scaled(n, shape + m * n, weights[m * MAX_LANCZOS + (size_t)k], q);
        scaled_product(s, E, q, moved, y);
        T->d[k] = rbt_vector_dot(n, q, y);
        rbt_vector_add_scaled(n, y, -T->d[k], q);
        if (k) rbt_vector_add_scaled(n, y, -T->e[k - 1], before);
        T->e[k] = rbt_vector_norm(n, y);
        // Nothing is left: the space of the start is exhausted, and T exact.
        if (!(T->e[k] > 1e-13 * fabs(T->d[0]))) return;
        for (size_t i = 0; i < n; i++) {
            before[i] = q[i];
            q[i] = y[i] / T->e[k];
        }
    }
}

// An eigenvector of T for theta, by two steps of inverse iteration with T - theta I = L U, pivots kept off zero
static void tridiagonal_vector(const lanczos *T, double theta, double *z) {
    int n = T->count;
    double pivot[MAX_LANCZOS], size = fabs(theta) + fabs(T->d[0]);
    for (int i = 0; i < n; i++) z[i] = 1 + 0.1 * scatter((uint64_t)i);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < n; i++) {
            pivot[i] = T->d[i] - theta - (i ? T->e[i - 1] * T->e[i - 1] / pivot[i - 1] : 0);
            if (fabs(pivot[i]) < 1e-14 * size) pivot[i] = 1e-14 * size;
            if (i) z[i] -= T->e[i - 1] / pivot[i - 1] * z[i - 1];
        }
        double square = 0;
        for (int i = n; i-- > 0;) {
            z[i] = (z[i] - (i + 1 < n ? T->e[i] * z[i + 1] : 0)) / pivot[i];
            square += z[i] * z[i];
        }
        for (int i = 0; i < n; i++) z[i] /= sqrt(square);
    }
}

// How many eigenvalues of T are above z
static int count_above(const lanczos *T, double z) {
    double q = 1;
    int above = 0;
    for (int i = 0; i < T->count; i++) {
        q = T->d[i] - z - (i ? T->e[i - 1] * T->e[i - 1] / (fabs(q) > 1e-300 ? q : 1e-300) : 0);
        above += q > 0;
    }
    return above;
}

// The number-th largest eigenvalue of T, number = 0 for the largest
static double eigenvalue(const lanczos *T, int number, double high) {
    double low = 0;
    for (int step = 0; step < 60; step++) {
        double middle = 0.5 * (low + high);
        if (count_above(T, middle) > number) low = middle;
        else high = middle;
    }
    return high;
}

double rbt_stability_bound(rbt_stability *s, const unsigned char *implicit, double step, double *shape,
                           size_t *shape_count) {
    size_t left = 0, n = 3 * s->model->node_count;
    for (size_t k = 0; k < s->model->node_count; k++) left += is_explicit(s, implicit, k);
    if (shape_count) *shape_count = 0;
    if (!left) return INFINITY;
    double steps = 0.5 * (1 + log(1.648 * sqrt(3.0 * (double)left) / DOUBT) / sqrt(EPSILON));
    int most = steps < MAX_LANCZOS ? (int)ceil(steps) : MAX_LANCZOS;
    lanczos T;
    block E = {implicit, step};
    iterate(s, E, most, &T, NULL, 0, NULL);
    double rate = rbt_tridiagonal_largest(T.count, T.d, T.e), limit = 4 * (1 - EPSILON) / (step * step);
    if (shape && rate > limit) {
        double weights[RBT_STABILITY_MODES * MAX_LANCZOS] = {0};
        int above = count_above(&T, limit);
        size_t modes = above < RBT_STABILITY_MODES ? (size_t)(above > 0 ? above : 1) : RBT_STABILITY_MODES;
        for (size_t m = 0; m < modes; m++)
            tridiagonal_vector(&T, eigenvalue(&T, (int)m, rate * (1 + 1e-12)), weights + m * MAX_LANCZOS);
        memset(shape, 0, modes * n * sizeof *shape);
        iterate(s, E, T.count, &T, weights, modes, shape);
        *shape_count = modes;
    }
    return rate > 0 ? 2 * sqrt((1 - EPSILON) / rate) : INFINITY;
}

// From a step h that is stable, h' = h sqrt(4 / (h^2 lambda)) is one, too, as no part of h^2 P(h) grows faster than
// h^2; from one that is not, h' = h 4 / (h^2 lambda) is not above the bound, as none shrinks slower than h. The first
// guess is exact without obstacles for bodies of one damping.
double rbt_stability_largest_step(rbt_stability *s, const unsigned char *implicit) {
    double h = rbt_stability_bound(s, implicit, INFINITY, NULL, NULL), mass = 0, stiffness = 0;
    for (size_t b = 0; b < s->model->body_count; b++) {
        mass = fmax(mass, s->model->bodies[b].damping.mass);
        stiffness = fmax(stiffness, s->model->bodies[b].damping.stiffness);
    }
    if (!isfinite(h) ? !(mass > 0) : !(mass > 0 || stiffness > 0)) return h;
    double rate = isfinite(h) ? 4 / (h * h) : 0, damp = mass + stiffness * rate;
    h = 4 / (damp + sqrt(damp * damp + 4 * rate));
    for (int round = 0; round < MAX_ROUNDS; round++) {
        double ratio = rbt_stability_bound(s, implicit, h, NULL, NULL) / h;
        h *= ratio < 1 ? ratio * ratio : ratio;
        if (fabs(ratio - 1) < 1e-3 || isinf(ratio)) break;
    }
    return h;
}

static size_t largest_node(const rbt_stability *s, const double *shape) {
    size_t node = 0;
    double most = 0;
    for (size_t n = 0; n < s->model->node_count; n++) {
        double square = rbt_dot(shape + 3 * n, shape + 3 * n);
        if (!(square > most)) continue;
        most = square;
        node = n;
    }
    return node;
}

double rbt_stability_step_bound(const rbt_model *m, const double *x, size_t *node, rbt_error *error) {
    rbt_stability s;
    double bound = NAN;
    size_t modes = 0;
    if (node) *node = 0;
    if (prepare(&s, m, 1, error) && prepare_tangent(&s, x ? x : m->X, error)) {
        bound = rbt_stability_largest_step(&s, NULL);
        if (node && isfinite(bound)) rbt_stability_bound(&s, NULL, 2 * bound, s.modes, &modes);
        if (modes) *node = largest_node(&s, s.modes);
    }
    rbt_stability_free(&s);
    return bound;
}

// Whether elements alone, each free in space, allow the step: no body is faster than its fastest element. Found with
// the model already, where the certificate takes as long as a hundred steps and more.
static bool is_short(const rbt_model *m) {
    double h = m->step;
    bool is = m->obstacles.count == 0;
    for (size_t b = 0; b < m->body_count; b++) {
        const rbt_body *body = &m->bodies[b];
        double rate = 4 / (body->explicit_step * body->explicit_step), damping = body->damping.mass;
        damping += body->damping.stiffness * rate;
        is &= body->kind == RBT_SOLID && h * h * rate + 2 * h * damping < 3.6;
    }
    return is;
}

bool rbt_stability_judge(const rbt_model *m, rbt_stable_steps *s) {
    size_t node = 0, touching = 0;
    if (m->ranks) {
        *s = *m->ranks->stable;
        return true;
    }
    *s = (rbt_stable_steps){.bound = INFINITY, .touching_bound = INFINITY};
    if (is_short(m)) return true;
    rbt_model untouched = *m;
    untouched.obstacles.count = 0;
    s->bound = s->touching_bound = rbt_stability_step_bound(&untouched, NULL, &node, NULL);
    touching = node;
    if (m->obstacles.count) s->touching_bound = rbt_stability_step_bound(m, NULL, &touching, NULL);
    s->body = m->node_body[node];
    s->node = node - m->bodies[s->body].node_begin;
    s->touching_body = m->node_body[touching];
    return !isnan(s->bound) && !isnan(s->touching_bound);
}

// ---- The implicit nodes

static bool is_ill_shaped(const rbt_stability *s, const rbt_split_def *def, size_t e, const int32_t *node,
                          int corners) {
    return def->step * sqrt(rbt_stability_rate(s, e, node, corners, def->step)) > 2 * def->safety;
}

static size_t mark_ill_shaped(const rbt_stability *s, const rbt_split_def *def, unsigned char *implicit) {
    size_t ill = 0;
    for (size_t g = 0, first = 0; g < s->model->group_count; first += s->model->groups[g++].count) {
        const rbt_group *group = &s->model->groups[g];
        size_t corners = (size_t)group->type->corners;
        for (size_t e = 0; e < group->count; e++) {
            const int32_t *node = group->nodes + corners * e;
            if (!is_ill_shaped(s, def, first + e, node, (int)corners)) continue;
            ill++;
            for (size_t a = 0; a < corners; a++) implicit[node[a]] = 1;
        }
    }
    return ill;
}

// The neighbours of implicit nodes, too: those marked before have 1, their neighbours get 2 first
static void add_ring(const rbt_model *m, unsigned char *implicit) {
    for (size_t g = 0; g < m->group_count; g++) {
        const rbt_group *group = &m->groups[g];
        size_t corners = (size_t)group->type->corners;
        for (size_t e = 0; e < group->count; e++) {
            const int32_t *node = group->nodes + corners * e;
            unsigned char any = 0;
            for (size_t a = 0; a < corners; a++) any |= implicit[node[a]] == 1;
            for (size_t a = 0; any && a < corners; a++)
                if (!implicit[node[a]]) implicit[node[a]] = 2;
        }
    }
    for (size_t n = 0; n < m->node_count; n++) implicit[n] = implicit[n] != 0;
}

// Nodes where an unstable mode has more than a fourth of its largest energy at a node
static size_t move_nodes(const rbt_stability *s, const double *shape, unsigned char *implicit) {
    double most = 0;
    size_t moved = 0;
    for (size_t n = 0; n < s->model->node_count; n++)
        most = fmax(most, shape[3 * n] * shape[3 * n] + shape[3 * n + 1] * shape[3 * n + 1] +
                              shape[3 * n + 2] * shape[3 * n + 2]);
    for (size_t n = 0; n < s->model->node_count; n++) {
        const double *u = shape + 3 * n;
        if (implicit[n] || !(u[0] * u[0] + u[1] * u[1] + u[2] * u[2] > 0.25 * most)) continue;
        implicit[n] = 1;
        moved++;
    }
    return moved;
}

static bool some_are_well_shaped(const rbt_stability *s, const rbt_split_def *def) {
    for (size_t g = 0, first = 0; g < s->model->group_count; first += s->model->groups[g++].count) {
        const rbt_group *group = &s->model->groups[g];
        int corners = group->type->corners;
        for (size_t e = 0; e < group->count; e++)
            if (s->rate[first + e] > 0 &&
                !is_ill_shaped(s, def, first + e, group->nodes + (size_t)corners * e, corners))
                return true;
    }
    return false;
}

size_t rbt_stability_mark(rbt_stability *s, const rbt_split_def *def, unsigned char *implicit) {
    memset(implicit, 0, s->model->node_count);
    size_t ill = mark_ill_shaped(s, def, implicit);
    for (int r = 0; r < def->rings; r++) add_ring(s->model, implicit);
    for (size_t n = 0; n < s->model->node_count; n++) implicit[n] &= !s->constrained[n];
    if (def->release && ill && !def->rings && some_are_well_shaped(s, def)) rbt_stability_release(s, def, implicit);
    return ill;
}

static void certify(rbt_stability *s, double step, unsigned char *implicit, rbt_split *split) {
    size_t nodes = s->model->node_count;
    for (;;) {
        size_t modes, moved = 0;
        split->bound = rbt_stability_bound(s, implicit, step, s->modes, &modes);
        split->rounds++;
        for (size_t k = 0; k < modes; k++) moved += move_nodes(s, s->modes + 3 * k * nodes, implicit);
        split->moved_count += moved;
        if (split->bound >= step || !moved) break;
    }
    split->implicit_count = 0;
    for (size_t n = 0; n < nodes; n++) split->implicit_count += implicit[n];
}

void rbt_stability_certify(rbt_stability *s, double step, const double *x, unsigned char *implicit,
                           rbt_split *split) {
    rbt_tangent_prepare(&s->tangent, x);
    certify(s, step, implicit, split);
}

rbt_split rbt_stability_split(rbt_stability *s, const rbt_split_def *def, unsigned char *implicit) {
    rbt_split split = {.bound = NAN};
    split.ill_count = rbt_stability_mark(s, def, implicit);
    if (def->certify) certify(s, def->step, implicit, &split);
    for (size_t n = 0; !def->certify && n < s->model->node_count; n++) split.implicit_count += implicit[n];
    return split;
}
