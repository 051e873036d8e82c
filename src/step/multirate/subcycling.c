#include "step/multirate/subcycling.h"

#include "base/team.h"
#include "base/threads.h"
#include "step/multirate/fused_part.h"
#include "step/multirate/substep_obstacle.h"

#include <string.h>

// How the interface moves in a step of the part, in terms of a given velocity: its velocity, the change of that, its
// way over h
typedef struct interface_motion {
    double velocity, change, way;
} interface_motion;

// Steadily, or in step i of m from 0 to the given velocity
static interface_motion interface_at(const rbt_rate_part *p, bool steady, int i) {
    double share = (double)i / p->substeps;
    return steady ? (interface_motion){1, 0, 1} : (interface_motion){share, 1.0 / p->substeps, p->kappa * share};
}

static void multiply(const double *B, const double *x, double factor, double *y) {
    for (int r = 0; r < 3; r++) y[r] += factor * (B[3 * r] * x[0] + B[3 * r + 1] * x[1] + B[3 * r + 2] * x[2]);
}

static void multiply_transposed(const double *B, const double *x, double factor, double *y) {
    for (int c = 0; c < 3; c++) y[c] += factor * (B[c] * x[0] + B[3 + c] * x[1] + B[6 + c] * x[2]);
}

// ---- Held nodes that touch the part

static void move_constrained(const rbt_subcycling *cycling, rbt_rate_part *p, int64_t instant) {
    const rbt_model *m = cycling->parts->model;
    double t = cycling->state->t + (double)(instant + 1) * p->h;
    for (size_t i = 0; i < p->constrained.node_count; i++) {
        double *v = p->constrained_v + 3 * i, *x = p->constrained_x + 3 * i, target[3];
        memcpy(p->constrained_last + 3 * i, v, sizeof target);
        memset(v, 0, sizeof target);
        if (p->constrained.place[i] < 0) continue;
        rbt_motion_position(&m->motions.groups[p->constrained.place[i]], m->x0 + 3 * (size_t)p->constrained.node[i],
                            t, target);
        for (size_t k = 0; k < 3; k++) {
            v[k] = (target[k] - x[k]) / p->h;
            x[k] = target[k];
        }
    }
}

static void add_constrained(rbt_rate_part *p, double *rhs) {
    for (size_t i = 0; i < p->constrained.count; i++) {
        const rbt_link *link = &p->constrained.items[i];
        size_t row = (size_t)link->row, column = 3 * (size_t)link->column;
        const double *v = p->constrained_v + column, *last = p->constrained_last + column;
        multiply(link->K, v, -p->h * (p->h + p->delay[row]), rhs + 3 * row);
        for (size_t k = 0; k < 3; k++) rhs[3 * row + k] -= link->M * ((1 + p->h * p->damping[row]) * v[k] - last[k]);
    }
}

// ---- The right-hand side

// M v_0 + h (f - g) - interface; with theta < 1 also what the old velocity does
static void own_right(const rbt_subcycling *cycling, rbt_rate_part *p, size_t column, interface_motion interface,
                      int64_t instant) {
    size_t n = 3 * p->count, at = column * n;
    double h = p->h, *rhs = p->rhs + at;
    const double *f = p->f + (cycling->varies ? (size_t)instant * n : 0);
    const double *Mv = p->Mv + at, *g = p->g + at, *K_interface = p->K_interface + at, *kv = p->kv + at;
    bool driven = cycling->state;
    if (driven)
        for (size_t i = 0; i < n; i++) rhs[i] = Mv[i] + h * (f[i] - g[i]);
    else
        for (size_t i = 0; i < n; i++) rhs[i] = Mv[i] - h * g[i];
    for (size_t i = 0; cycling->pushed && i < n; i++) rhs[i] += p->impulse[at + i] / (double)p->instants;
    for (size_t r = 0; r < p->row_count; r++) {
        size_t node = (size_t)p->rows[r];
        double by_K = h * (h * interface.way + p->delay[node] * interface.velocity);
        double by_M = h * p->damping[node] * interface.velocity + interface.change;
        for (size_t i = 3 * node; i < 3 * node + 3; i++) rhs[i] -= by_K * K_interface[i];
        for (size_t i = 3 * node; p->M_interface && i < 3 * node + 3; i++) rhs[i] -= by_M * p->M_interface[at + i];
    }
    bool in_force = p->parent < 0 && cycling->parts->model->linear;  // what the old velocity does is in g
    for (size_t i = 0; p->theta < 1 && !in_force && i < n; i++) rhs[i] -= h * h * (1 - p->theta) * kv[i];
    if (p->touches) rbt_substep_obstacle_push(p, instant, driven, p->w + at, rhs);
    else
        for (size_t i = 0; p->push && i < n; i++) rhs[i] += h * p->push[at + i];
    if (!driven || !p->constrained_moves) return;
    move_constrained(cycling, p, instant);
    add_constrained(p, rhs);
}

// What the child, after its cycling with the interface at its old velocity, does to its parent
static void add_child(const rbt_rate_part *p, const rbt_rate_part *child, size_t column, double *rhs) {
    size_t at = column * 3 * child->count;
    double h = p->h;
    for (size_t i = 0; i < child->interface.count; i++) {
        const rbt_link *link = &child->interface.items[i];
        size_t s = at + 3 * (size_t)link->row, row = (size_t)child->interface.place[link->column];
        const double *v = child->v + s, *w = child->w + s, *start = child->v_start + s;
        double by_K[3], alpha = p->damping[row], beta = p->delay[row];
        for (size_t k = 0; k < 3; k++) {
            by_K[k] = h * (w[k] + beta * v[k]);
            rhs[3 * row + k] -= link->M * (v[k] - start[k] + h * alpha * v[k]);
        }
        multiply_transposed(link->K, by_K, -1, rhs + 3 * row);
    }
}

// y[interface] += factor B x[interface]
static void add_interface_product(rbt_rate_part *child, double factor, const double *x, double *y) {
    enum { LANES = 8 };
    size_t nodes = child->interface.node_count, n = 3 * nodes;
    const int32_t *place = child->interface.place;
    double *interface = child->change;  // free until the child answers
    for (size_t i = 0; i < nodes; i++) memcpy(interface + 3 * i, x + 3 * (size_t)place[i], 3 * sizeof *x);
    for (size_t i = 0; i < n; i++) {
        const double *B = child->B + i * n;
        double sums[LANES] = {0}, sum = 0;
        size_t j = 0;
        for (; j + LANES <= n; j += LANES)
            for (size_t l = 0; l < LANES; l++) sums[l] += B[j + l] * interface[j + l];
        for (; j < n; j++) sum += B[j] * interface[j];
        for (size_t l = 0; l < LANES; l++) sum += sums[l];
        y[3 * (size_t)place[i / 3] + i % 3] += factor * sum;
    }
}

// K and M times the velocity that the parent has on the interface now
static void set_interface(const rbt_rate_part *p, rbt_rate_part *child, size_t columns) {
    size_t n = 3 * child->count;
    memset(child->K_interface, 0, columns * n * sizeof(double));
    if (child->M_interface) memset(child->M_interface, 0, columns * n * sizeof(double));
    for (size_t c = 0; c < columns; c++)
        for (size_t i = 0; i < child->interface.count; i++) {
            const rbt_link *link = &child->interface.items[i];
            const double *v = p->v + c * 3 * p->count + 3 * (size_t)child->interface.place[link->column];
            size_t at = c * n + 3 * (size_t)link->row;
            multiply(link->K, v, 1, child->K_interface + at);
            for (size_t k = 0; child->M_interface && k < 3; k++) child->M_interface[at + k] += link->M * v[k];
        }
}

// ---- After the solve

// y += R c for responses R (3 interface x n), in the rows from `first` to `end`
static void add_response(size_t n, size_t first, size_t end, size_t interface, const double *R, const double *c,
                         double *y) {
    enum { STRIP = 1024 };  // rows that stay in a cache
    for (; first < end; first += STRIP) {
        size_t last = first + STRIP < end ? first + STRIP : end, j = 0;
        for (; j + 4 <= interface; j += 4) {
            const double *a = R + j * n, *b = a + n, *d = b + n, *e = d + n;
            for (size_t i = first; i < last; i++)
                y[i] += (c[j] * a[i] + c[j + 1] * b[i]) + (c[j + 2] * d[i] + c[j + 3] * e[i]);
        }
        for (; j < interface; j++)
            for (size_t i = first; i < last; i++) y[i] += c[j] * R[j * n + i];
    }
}

// The change of the interface's velocity in the parent's step
static void find_change(const rbt_rate_part *p, rbt_rate_part *child, size_t column) {
    size_t own = column * 3 * p->count;
    double *change = child->change + column * 3 * child->interface.node_count;
    for (size_t i = 0; i < child->interface.node_count; i++)
        for (size_t k = 0, from = own + 3 * (size_t)child->interface.place[i]; k < 3; k++)
            change[3 * i + k] = p->solution[from + k] - p->v[from + k];
}

typedef struct answers {
    rbt_rate_parts *parts;
    int parent;
    size_t column;
} answers;

// What the child and those below it make of it, in the rows of this member
static void answer(const answers *a, const rbt_team *team, rbt_rate_part *child) {
    size_t interface = 3 * child->interface.node_count;
    const double *change = child->change + a->column * interface;
    for (size_t i = (size_t)(child - a->parts->items); i < a->parts->count; i++) {
        rbt_rate_part *below = &a->parts->items[i];
        const rbt_interface_response *response = &child->responses[i];
        if (!response->Y) continue;
        size_t n = 3 * below->count, at = a->column * n;
        size_t first = n * team->member / team->members, end = n * (team->member + 1) / team->members;
        double *w = below->w + at, *total = below->total + at;
        add_response(n, first, end, interface, response->Y, change, below->v + at);
        add_response(n, first, end, interface, response->W, change, below == child ? w : total);
        if (response->G) add_response(n, first, end, interface, response->G, change, below->g + at);
        for (size_t r = first; below == child && r < end; r++) total[r] += w[r];
    }
}

static void answer_rows(void *job, rbt_team *team) {
    const answers *a = job;
    for (size_t c = 1; c < a->parts->count; c++)
        if (a->parts->items[c].parent == a->parent) answer(a, team, &a->parts->items[c]);
}

static void answer_all(const rbt_subcycling *cycling, const rbt_rate_part *p, size_t column) {
    enum { ENOUGH = 20000 };  // products from which threads share them
    answers a = {cycling->parts, (int)(p - cycling->parts->items), column};
    size_t products = 0;
    for (size_t c = 1; c < a.parts->count; c++) {
        rbt_rate_part *child = &a.parts->items[c];
        if (child->parent != a.parent) continue;
        find_change(p, child, column);
        products += 18 * child->count * child->interface.node_count;
    }
    rbt_team_work(products < ENOUGH ? 1 : rbt_team_size(), answer_rows, &a);
}

// g of the part's own nodes after a step, from K v; children have answered.
static void carry_force(const rbt_subcycling *cycling, rbt_rate_part *p, size_t column, interface_motion interface,
                        int64_t instant, const double *Mv) {
    size_t n = 3 * p->count, at = column * n;
    double h = p->h, theta = p->theta, *g = p->g + at, *kv = p->kv + at, *rhs = p->rhs + at;
    const double *v = p->solution + at;
    if (!p->count) return;
    double by_M = 1 + h * p->damping[0], by_K = 1 / (h * (theta * h + p->delay[0]));
    if (p->touches) rbt_substep_obstacle_take(p, instant, v, rhs);
    else
        for (size_t c = 0; p->push && c < p->count; c++) multiply(p->contact + 9 * c, v + 3 * c, -h * h, rhs + 3 * c);
    if (theta == 1)
        for (size_t i = 0; i < n; i++) g[i] += h * by_K * (rhs[i] - by_M * Mv[i]);
    else
        for (size_t i = 0; i < n; i++) {
            double last = kv[i];
            kv[i] = by_K * (rhs[i] - by_M * Mv[i]);
            g[i] += h * (theta * kv[i] + (1 - theta) * last);
        }
    for (size_t r = 0; r < p->row_count; r++)
        for (size_t i = 3 * (size_t)p->rows[r]; i < 3 * (size_t)p->rows[r] + 3; i++)
            g[i] += h * interface.way * p->K_interface[at + i];
    for (size_t i = 0; cycling->state && p->constrained_moves && i < p->constrained.count; i++) {
        const rbt_link *link = &p->constrained.items[i];
        multiply(link->K, p->constrained_v + 3 * (size_t)link->column, h, g + 3 * (size_t)link->row);
    }
    for (size_t c = 0; p->child_count && c < cycling->parts->count; c++) {
        const rbt_rate_part *child = &cycling->parts->items[c];
        if (child->parent != (int)(p - cycling->parts->items)) continue;
        for (size_t i = 0; i < child->interface.count; i++) {
            const rbt_link *link = &child->interface.items[i];
            multiply_transposed(link->K, child->w + column * 3 * child->count + 3 * (size_t)link->row, 1,
                                g + 3 * (size_t)child->interface.place[link->column]);
        }
    }
}

// v, w and what follows from them
static void move(rbt_rate_part *p, size_t column) {
    size_t n = 3 * p->count, at = column * n;
    double h = p->h, theta = p->theta, *v = p->v + at, *w = p->w + at;
    const double *next = p->solution + at;
    for (size_t c = 0; p->push && !p->touches && c < p->count; c++) {
        double way[3];
        for (size_t k = 0; k < 3; k++) way[k] = (1 - theta) * v[3 * c + k] + theta * next[3 * c + k];
        multiply(p->contact + 9 * c, way, -h, p->push + at + 3 * c);
    }
    if (theta == 1)
        for (size_t i = 0; i < n; i++) w[i] += h * (v[i] = next[i]);
    else
        for (size_t i = 0; i < n; i++) {
            w[i] += h * ((1 - theta) * v[i] + theta * next[i]);
            v[i] = next[i];
        }
}

// ---- The sub-cycling

static bool subcycle_part(const rbt_subcycling *cycling, rbt_rate_part *p, size_t columns, bool steady,
                          int64_t first);

static bool subcycle_child(const rbt_subcycling *cycling, rbt_rate_part *p, rbt_rate_part *child, size_t columns,
                           int64_t instant) {
    set_interface(p, child, columns);
    return subcycle_part(cycling, child, columns, true, instant * child->substeps);
}

// Whether part c is a child of `own` that takes its steps one by one
static bool subcycles_here(const rbt_subcycling *cycling, size_t c, int own) {
    const rbt_rate_part *child = &cycling->parts->items[c];
    return child->parent == own && !(cycling->state && rbt_fused_part_is_open(child));
}

// Siblings do not know of each other: they share the threads. One alone leaves them to its solves, which look for
// threads themselves when they are not in a parallel region.
static bool subcycle_children(const rbt_subcycling *cycling, rbt_rate_part *p, size_t columns, int64_t instant) {
    rbt_rate_parts *parts = cycling->parts;
    int own = (int)(p - parts->items);
    size_t left = 0;
    bool good = true;
    if (cycling->state && !own) rbt_fused_parts_advance(cycling);
    for (size_t c = 1; c < parts->count; c++) left += subcycles_here(cycling, c, own);
    if (left < 2 || parts->model->node_count < RBT_PARALLEL_FROM) {
        for (size_t c = 1; good && left && c < parts->count; c++)
            if (subcycles_here(cycling, c, own))
                good = subcycle_child(cycling, p, &parts->items[c], columns, instant);
        return good;
    }
#pragma omp parallel for schedule(dynamic, 1) reduction(&& : good)
    for (size_t c = 1; c < parts->count; c++)
        if (subcycles_here(cycling, c, own))
            good = subcycle_child(cycling, p, &parts->items[c], columns, instant) && good;
    return good;
}

static bool step_part(const rbt_subcycling *cycling, rbt_rate_part *p, size_t columns, interface_motion interface,
                      int64_t instant) {
    rbt_rate_parts *parts = cycling->parts;
    size_t n = 3 * p->count, index = (size_t)(p - parts->items);
    if (p->child_count && !subcycle_children(cycling, p, columns, instant)) return false;
    for (size_t c = 0; c < columns; c++) {
        own_right(cycling, p, c, interface, instant);
        for (size_t i = index + 1; p->child_count && i < parts->count; i++) {
            if (parts->items[i].parent != (int)index) continue;
            add_child(p, &parts->items[i], c, p->rhs + c * n);
            add_interface_product(&parts->items[i], 1, p->v + c * n, p->rhs + c * n);
        }
    }
    if (!rbt_rate_part_solve(p, instant, columns, p->rhs, p->solution)) return false;
    for (size_t c = 0; c < columns; c++) {
        for (size_t i = index + 1; index && p->child_count && i < parts->count; i++)
            if (parts->items[i].parent == (int)index)
                add_interface_product(&parts->items[i], -1, p->solution + c * n, p->rhs + c * n);
        if (p->child_count) answer_all(cycling, p, c);
        if (index) {  // the root's force is looked up again in every step
            rbt_rate_part_mass_product(p, p->solution + c * n, p->Mv + c * n);
            carry_force(cycling, p, c, interface, instant, p->Mv + c * n);
        }
        move(p, c);
    }
    return true;
}

static bool subcycle_part(const rbt_subcycling *cycling, rbt_rate_part *p, size_t columns, bool steady,
                          int64_t first) {
    size_t n = 3 * p->count;
    memcpy(p->v_start, p->v, columns * n * sizeof(double));
    memset(p->w, 0, columns * n * sizeof(double));
    for (size_t c = 0; c < columns; c++) rbt_rate_part_mass_product(p, p->v + c * n, p->Mv + c * n);
    for (int i = 1; i <= p->substeps; i++)
        if (!step_part(cycling, p, columns, interface_at(p, steady, i), first + i - 1)) return false;
    return true;
}

rbt_outcome rbt_subcycling_probe(const rbt_subcycling *cycling, rbt_rate_part *p, rbt_step_report *report) {
    size_t n = 3 * p->count;
    set_interface(&cycling->parts->items[p->parent], p, 1);
    memcpy(p->v_start, p->v, n * sizeof(double));
    memset(p->w, 0, n * sizeof(double));
    rbt_rate_part_mass_product(p, p->v, p->Mv);
    for (int i = 1; i <= p->substeps; i++) {
        const double *f = p->f + (cycling->varies ? (size_t)(i - 1) * n : 0);
        rbt_outcome outcome = rbt_substep_obstacle_find(cycling->parts, p, cycling->state, i - 1, f, report);
        if (outcome != RBT_DONE) return outcome;
        if (!step_part(cycling, p, 1, interface_at(p, true, i), i - 1)) return RBT_OUT_OF_MEMORY;
    }
    return RBT_DONE;
}

bool rbt_subcycling_root(const rbt_subcycling *cycling) {
    return subcycle_part(cycling, cycling->parts->items, 1, true, 0);
}

// ---- Condensation

// The state that responses start from: everything at rest, in the part and below
static void rest(rbt_rate_parts *parts, const rbt_rate_part *part, size_t columns) {
    for (size_t i = 0; i < parts->count; i++) {
        rbt_rate_part *p = &parts->items[i];
        if (!rbt_rate_part_is_below(parts, i, (size_t)(part - parts->items))) continue;
        double *vectors[] = {p->v, p->g, p->kv, p->push, p->total};
        for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
            if (vectors[k]) memset(vectors[k], 0, columns * 3 * p->count * sizeof(double));
    }
}

// K and M times unit velocities of the interface's components from `first` on
static void set_units(rbt_rate_part *p, size_t first, size_t columns) {
    size_t n = 3 * p->count;
    memset(p->K_interface, 0, columns * n * sizeof(double));
    if (p->M_interface) memset(p->M_interface, 0, columns * n * sizeof(double));
    for (size_t i = 0; i < p->interface.count; i++) {
        const rbt_link *link = &p->interface.items[i];
        for (size_t k = 0; k < 3; k++) {
            size_t unit = 3 * (size_t)link->column + k;
            if (unit < first || unit >= first + columns) continue;
            size_t at = (unit - first) * n + 3 * (size_t)link->row;
            for (size_t r = 0; r < 3; r++) p->K_interface[at + r] += link->K[3 * r + k];
            if (p->M_interface) p->M_interface[at + k] += link->M;
        }
    }
}

static bool respond(rbt_rate_parts *parts, rbt_rate_part *p, size_t first, size_t columns) {
    const rbt_rate_part *parent = &parts->items[p->parent];
    rbt_subcycling cycling = {.parts = parts};
    rest(parts, p, columns);
    set_units(p, first, columns);
    if (!subcycle_part(&cycling, p, columns, false, 0)) return false;
    for (size_t i = (size_t)(p - parts->items); i < parts->count; i++) {
        const rbt_rate_part *below = &parts->items[i];
        const rbt_interface_response *response = &p->responses[i];
        size_t n = 3 * below->count, bytes = columns * n * sizeof(double);
        if (!response->Y) continue;
        memcpy(response->Y + first * n, below->v, bytes);
        memcpy(response->W + first * n, below == p ? below->w : below->total, bytes);
        if (response->G) memcpy(response->G + first * n, below->g, bytes);
    }
    // The part saw its interface go kappa (m + 1) / (2 m) h of the change; the interface itself goes theta h.
    double rest_of_way = parent->h * (parent->theta - p->kappa * (p->substeps + 1) / (2.0 * p->substeps));
    double *G = p->responses[p - parts->items].G;
    for (size_t i = 0; G && i < columns * 3 * p->count; i++)
        G[first * 3 * p->count + i] += rest_of_way * p->K_interface[i];
    return true;
}

bool rbt_subcycling_push(rbt_rate_parts *parts, rbt_rate_part *p, size_t columns) {
    rbt_subcycling cycling = {.parts = parts, .pushed = true};
    rest(parts, p, columns);
    memset(p->K_interface, 0, columns * 3 * p->count * sizeof(double));
    if (p->M_interface) memset(p->M_interface, 0, columns * 3 * p->count * sizeof(double));
    return subcycle_part(&cycling, p, columns, true, 0);
}

void rbt_subcycling_reaction(const rbt_rate_parts *parts, const rbt_rate_part *p, size_t column, double *to) {
    add_child(&parts->items[p->parent], p, column, to);
}

static void find_B(const rbt_rate_parts *parts, rbt_rate_part *p) {
    const rbt_rate_part *parent = &parts->items[p->parent];
    size_t n = 3 * p->count, interface = 3 * p->interface.node_count;
    const rbt_interface_response *own = &p->responses[p - parts->items];
    double h = parent->h;
    memset(p->B, 0, interface * interface * sizeof(double));
    for (size_t i = 0; i < p->interface.count; i++) {
        const rbt_link *link = &p->interface.items[i];
        size_t row = (size_t)p->interface.place[link->column];
        double alpha = parent->damping[row], beta = parent->delay[row];
        for (size_t j = 0; j < interface; j++) {
            const double *Y = own->Y + j * n + 3 * (size_t)link->row, *W = own->W + j * n + 3 * (size_t)link->row;
            double by_K[3], sum[3];
            for (size_t k = 0; k < 3; k++) {
                by_K[k] = h * (W[k] + beta * Y[k]);
                sum[k] = link->M * (1 + h * alpha) * Y[k];
            }
            multiply_transposed(link->K, by_K, 1, sum);
            for (size_t k = 0; k < 3; k++) p->B[(3 * (size_t)link->column + k) * interface + j] += sum[k];
        }
    }
    for (size_t i = 0; !parts->unsymmetric && i < interface; i++)
        for (size_t j = 0; j < i; j++)
            p->B[i * interface + j] = p->B[j * interface + i] =
                0.5 * (p->B[i * interface + j] + p->B[j * interface + i]);
}

static void add_B(const rbt_rate_parts *parts, const rbt_rate_part *p) {
    rbt_rate_part *parent = &parts->items[p->parent];
    size_t nodes = p->interface.node_count, interface = 3 * nodes;
    for (size_t i = 0; i < nodes; i++)
        for (size_t j = 0; j <= i; j++) {
            double *to = parent->A.value + 9 * p->cell[i * nodes + j];
            double *upper = parent->upper ? parent->upper + 9 * p->cell[i * nodes + j] : NULL;
            for (size_t e = 0; e < 9; e++) {
                to[e] += p->B[(3 * i + e / 3) * interface + 3 * j + e % 3];
                if (upper) upper[e] += p->B[(3 * j + e / 3) * interface + 3 * i + e % 3];
            }
        }
}

bool rbt_subcycling_condense(rbt_rate_parts *parts, rbt_rate_part *p) {
    size_t interface = 3 * p->interface.node_count;
    if (p->stale) {
        for (size_t first = 0; first < interface; first += RBT_RESPONSE_COLUMNS)
            if (!respond(parts, p, first,
                         interface - first < RBT_RESPONSE_COLUMNS ? interface - first : RBT_RESPONSE_COLUMNS))
                return false;
        find_B(parts, p);
    }
    add_B(parts, p);
    return true;
}
