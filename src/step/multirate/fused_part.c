#include "step/multirate/fused_part.h"

#include "base/threads.h"

#include <string.h>

// Products from which threads share the parts
static const double ENOUGH = 1e5;

// What a meeting of all threads costs, in products
static const double MEETING = 3000;

enum { EVERYONE = -1 };

struct rbt_fused_part {
    rbt_fused_solve *fused;
    int worker;  // member who does it, or EVERYONE
    // in the order of the fused sequence, see its length
    double *memory, *mass, *z, *right, *way, *interface;
    double *push;  // (substeps) h (f_{i+1} - f_i); NULL: no force varies
    double by_K, by_M;
    size_t steps;
    bool varies;
};

static double products(const rbt_rate_part *p) { return 2 * p->substeps * p->fused->fused->numbers; }

void rbt_fused_part_free(rbt_rate_part *p) {
    if (!p->fused) return;
    rbt_fused_solve_free(p->fused->fused);
    free(p->fused->memory);
    free(p->fused);
    p->fused = NULL;
}

bool rbt_fused_part_is_open(const rbt_rate_part *p) { return p->fused && !p->constrained_moves; }

// ---- Making them

static bool can_fuse(const rbt_rate_parts *parts, const rbt_rate_part *p) {
    return parts->model->linear && p->parent == 0 && !p->child_count && p->count && p->cholesky && !p->M.value &&
           !p->push;
}

static bool make(const rbt_rate_parts *parts, rbt_rate_part *p, size_t members) {
    const rbt_loads *loads = &parts->model->loads;
    bool varies = loads->node_load_count || rbt_loads_follow_motion(loads);
    rbt_fused_part *s = p->fused = rbt_array_new(1, sizeof *s, "a part's steps", NULL);
    if (!s || !(s->fused = rbt_cholesky_fused(p->cholesky, members, NULL))) return false;
    size_t n = s->fused->length, vectors = 5 + (varies ? (size_t)p->substeps : 0);
    if (!(s->memory = rbt_array_new(vectors * n, sizeof(double), "a part's steps", NULL))) return false;
    double **at[] = {&s->mass, &s->z, &s->right, &s->way, &s->interface};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) *at[i] = s->memory + i * n;
    if (varies) s->push = s->memory + 5 * n;
    for (size_t i = 0; i < p->count; i++) memcpy(s->mass + s->fused->place[i], p->mass + 3 * i, 3 * sizeof(double));
    s->steps = (size_t)p->substeps;
    return true;
}

static rbt_rate_part *largest_without(rbt_rate_parts *parts, int worker) {
    rbt_rate_part *best = NULL;
    for (size_t i = 1; i < parts->count; i++) {
        rbt_rate_part *p = &parts->items[i];
        if (p->fused && p->fused->worker == worker && (!best || products(p) > products(best))) best = p;
    }
    return best;
}

// The largest `shared` parts go to everyone, the others one by one to the member who has least so far. Returns the
// products on the longest way.
static double divide(rbt_rate_parts *parts, size_t members, size_t shared, double *load) {
    enum { NOBODY = -2 };
    double most = 0, together = 0;
    rbt_rate_part *p;
    memset(load, 0, members * sizeof *load);
    for (size_t i = 1; i < parts->count; i++)
        if (parts->items[i].fused) parts->items[i].fused->worker = NOBODY;
    for (; (p = largest_without(parts, NOBODY)) != NULL; shared -= shared > 0) {
        if (shared) {
            p->fused->worker = EVERYONE;
            together += p->substeps * (2 * p->fused->fused->shared + 2 * MEETING);
            continue;
        }
        size_t best = 0;
        for (size_t m = 1; m < members; m++)
            if (load[m] < load[best]) best = m;
        p->fused->worker = (int)best;
        load[best] += products(p);
        most = load[best] > most ? load[best] : most;
    }
    return most + together;
}

bool rbt_fused_parts_make(rbt_rate_parts *parts) {
    size_t members = (size_t)rbt_threads_count(), best = 0;
    bool any = false;
    for (size_t i = 1; i < parts->count; i++) {
        rbt_fused_part_free(&parts->items[i]);
        any |= can_fuse(parts, &parts->items[i]);
    }
    if (!any) return true;
    double *load = rbt_array_new(members, sizeof *load, "the threads' parts", NULL), shortest = 0;
    bool good = load;
    for (size_t i = 1; good && i < parts->count; i++)
        if (can_fuse(parts, &parts->items[i])) good = make(parts, &parts->items[i], members);
    for (size_t shared = 0; good && shared < parts->count; shared++) {
        double length = divide(parts, members, shared, load);
        if (shared && length >= shortest) continue;
        shortest = length;
        best = shared;
    }
    if (good) divide(parts, members, best, load);
    free(load);
    return good;
}

// ---- The steps

// What the interface does at its old velocity
static void set_interface(const rbt_subcycling *cycling, const rbt_rate_part *p) {
    const rbt_rate_part *root = &cycling->parts->items[p->parent];
    const rbt_fused_part *s = p->fused;
    for (size_t i = 0; i < p->row_count; i++)
        memset(s->interface + s->fused->place[p->rows[i]], 0, 3 * sizeof(double));
    for (size_t i = 0; i < p->interface.count; i++) {
        const rbt_link *link = &p->interface.items[i];
        const double *v = root->v + 3 * (size_t)p->interface.place[link->column], *K = link->K;
        double *to = s->interface + s->fused->place[link->row];
        for (int r = 0; r < 3; r++)
            to[r] += p->h * p->h * (K[3 * r] * v[0] + K[3 * r + 1] * v[1] + K[3 * r + 2] * v[2]);
    }
}

// Of the nodes from `first` to `last`
static void begin(const rbt_rate_part *p, bool varies, size_t first, size_t last) {
    const rbt_fused_part *s = p->fused;
    size_t n = 3 * p->count, length = s->fused->length;
    double h = p->h, by_interface = (h + p->delay[0]) / h;
    memcpy(p->v_start + 3 * first, p->v + 3 * first, 3 * (last - first) * sizeof(double));
    for (size_t i = first; i < last; i++) {
        size_t at = (size_t)s->fused->place[i];
        const double *v = p->v + 3 * i, *g = p->g + 3 * i, *f = p->f + 3 * i;
        for (size_t k = 0; k < 3; k++) {
            double z = h * (g[k] - f[k]) + by_interface * s->interface[at + k];
            s->z[at + k] = z;
            s->right[at + k] = s->mass[at + k] * v[k] - z;
            s->way[at + k] = 0;
        }
        for (size_t j = 1; varies && j < s->steps; j++)
            for (size_t k = 0; k < 3; k++) s->push[j * length + at + k] = h * (f[j * n + k] - f[(j - 1) * n + k]);
    }
}

static void turn(void *self, size_t step, size_t first, size_t count, const double *restrict x,
                 double *restrict right) {
    rbt_fused_part *s = self;
    double *restrict r = s->right + first, *restrict z = s->z + first, *restrict way = s->way + first;
    const double *restrict mass = s->mass + first, *restrict interface = s->interface + first;
    double by_K = s->by_K, by_M = s->by_M;
    if (!step) {
        memcpy(right, r, count * sizeof *right);
        return;
    }
    if (step == s->steps) {
        for (size_t i = 0; i < count; i++) way[i] += x[i];
        return;
    }
    if (s->varies) {
        const double *push = s->push + step * s->fused->length + first;
        for (size_t i = 0; i < count; i++) z[i] -= push[i];
    }
    for (size_t i = 0; i < count; i++) {
        double Mx = mass[i] * x[i];
        way[i] += x[i];
        z[i] += by_K * (r[i] - by_M * Mx) + interface[i];
        right[i] = r[i] = Mx - z[i];
    }
}

static void end(rbt_rate_part *p, size_t first, size_t last) {
    const rbt_fused_part *s = p->fused;
    for (size_t i = first; i < last; i++)
        for (size_t k = 0, at = (size_t)s->fused->place[i]; k < 3; k++) {
            p->v[3 * i + k] = s->fused->x[at + k];
            p->w[3 * i + k] = p->h * s->way[at + k];
        }
}

static void go(const rbt_subcycling *cycling, rbt_team *team, rbt_rate_part *p) {
    rbt_fused_part *s = p->fused;
    size_t first = p->count * team->member / team->members, last = p->count * (team->member + 1) / team->members;
    if (!team->member) {
        s->by_K = p->h / (p->h + p->delay[0]);
        s->by_M = 1 + p->h * p->damping[0];
        s->varies = cycling->varies;
        set_interface(cycling, p);
    }
    rbt_team_wait(team);
    begin(p, cycling->varies, first, last);
    rbt_team_wait(team);
    rbt_fused_solve_run(s->fused, team, s->steps, turn, s);
    rbt_team_wait(team);
    end(p, first, last);
}

static void work(void *job, rbt_team *team) {
    const rbt_subcycling *cycling = job;
    rbt_team alone = rbt_team_alone();
    for (int all = 1; all >= 0; all--)
        for (size_t i = 1; i < cycling->parts->count; i++) {
            rbt_rate_part *p = &cycling->parts->items[i];
            if (!rbt_fused_part_is_open(p) || (p->fused->worker == EVERYONE) != all) continue;
            if (all) go(cycling, team, p);
            else if ((size_t)p->fused->worker % team->members == team->member) go(cycling, &alone, p);
        }
}

void rbt_fused_parts_advance(const rbt_subcycling *cycling) {
    double total = 0;
    for (size_t i = 1; i < cycling->parts->count; i++)
        if (rbt_fused_part_is_open(&cycling->parts->items[i])) total += products(&cycling->parts->items[i]);
    if (total > 0) rbt_team_work(total < ENOUGH ? 1 : rbt_team_size(), work, (void *)cycling);
}
