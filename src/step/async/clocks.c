#include "step/async/clocks.h"

#include "base/threads.h"
#include "math/vec3.h"
#include "mesh/core/stable_step.h"

#include <string.h>

enum { MAX_LEVELS = RBT_TICK_BITS + 1, CONSTRAINED = -1 };

// ---- Which element ticks how fast

static double tet_step(const rbt_model *m, const rbt_group *group, size_t e) {
    size_t tet = (size_t)group->members[e];
    const rbt_material_def *def = &m->regions[m->tet_region[tet]].material;
    double X[4][3];
    for (size_t a = 0; a < 4; a++) memcpy(X[a], m->X + 3 * (size_t)m->tets[4 * tet + a], sizeof X[a]);
    return rbt_tet_stable_step((const double(*)[3])X, def->young, def->poisson, def->density);
}

// Largest stable step of an element with its share of its nodes' masses, less with stiffness damping. A mode of
// frequency w and damping b w^2 is stable while h^2 w^2 + 2 h b w^2 < 4 (v and x before the kick): with h_0 = 2 / w
// the step h_0 / (1 + 4 b / h_0) is, for any b, even if the damping has twice its rate. A kick of damping alone then
// takes kinetic energy, since h b w^2 < 1.
static double element_step(const rbt_model *m, const rbt_group *group, size_t e, const int32_t *sharing) {
    size_t corners = (size_t)group->type->corners;
    const int32_t *node = group->nodes + corners * e;
    double h = INFINITY, masses[RBT_MOST_CORNERS];
    if (!group->type->rate) h = tet_step(m, group, e);
    else {
        for (size_t a = 0; a < corners; a++) masses[a] = m->mass[node[a]] / sharing[node[a]];
        double rate = group->type->rate(group, e, masses);
        if (rate > 0) h = 2 / sqrt(rate);
    }
    double beta = m->bodies[m->node_body[node[0]]].damping.stiffness;
    return isfinite(h) && h > 0 ? h / (1 + 4 * beta / h) : h;
}

static bool body_is_constrained(const rbt_model *m, size_t body) {
    for (size_t n = m->bodies[body].node_begin; n < m->bodies[body].node_end; n++)
        if (m->role[n] == RBT_FREE) return false;
    for (size_t i = 0; i < m->motions.node_count; i++)
        if ((size_t)m->node_body[m->motions.node[i]] == body &&
            m->motions.groups[m->motions.group[i]].release < INFINITY)
            return false;
    return true;
}

// One level per batch of RBT_W elements: that of its fastest one. Bodies that are constrained as a whole need no
// forces.
static bool choose_levels(const rbt_model *m, double safety, signed char **levels, rbt_error *error) {
    int32_t *sharing = rbt_array_new(m->node_count, sizeof *sharing, "clocks", error);
    unsigned char *constrained = rbt_array_new(m->body_count, 1, "clocks", error);
    bool ok = sharing && constrained;
    for (size_t b = 0; ok && b < m->body_count; b++) constrained[b] = body_is_constrained(m, b);
    for (size_t g = 0; ok && g < m->group_count; g++) {
        const rbt_group *group = &m->groups[g];
        size_t corners = (size_t)group->type->corners;
        memset(sharing, 0, m->node_count * sizeof *sharing);
        for (size_t i = 0; i < group->count * corners; i++) sharing[group->nodes[i]]++;
        for (size_t e = 0; ok && e < group->count; e++) {
            signed char *own = &levels[g][e / RBT_W];
            if (e % RBT_W == 0) *own = CONSTRAINED;
            if (constrained[m->node_body[group->nodes[corners * e]]]) continue;
            double h = m->step, most = safety * element_step(m, group, e, sharing);
            int level = 0;
            while (h > most && level <= RBT_TICK_BITS) h *= 0.5, level++;
            if (level > 20)
                ok = rbt_fail(error,
                              "%s %d of body \"%s\" allows an explicit step of %.3g s only, a millionth of the "
                              "step of %.3g s; repair the mesh or take a smaller step",
                              group->type->name, group->members[e],
                              m->bodies[m->node_body[group->nodes[corners * e]]].name, most, m->step);
            if (level > *own) *own = (signed char)level;
        }
    }
    free(sharing);
    free(constrained);
    return ok;
}

// Ranges of elements of one level, none across the chunks of the model's own plan
static size_t cut_level(const rbt_model *m, signed char *const *levels, int level, rbt_chunk *chunks) {
    size_t count = 0;
    for (size_t c = 0; c < m->plan.chunk_count; c++) {
        const rbt_chunk *whole = &m->plan.chunks[c];
        bool open = false;
        for (size_t e = 0; e < whole->count; e += RBT_W) {
            if (levels[whole->group][(whole->first + e) / RBT_W] != level) {
                open = false;
                continue;
            }
            size_t left = whole->count - e, size = left < RBT_W ? left : RBT_W;
            if (!open && chunks) chunks[count] = (rbt_chunk){.group = whole->group, .first = whole->first + e};
            count += !open;
            open = true;
            if (chunks) chunks[count - 1].count += size;
        }
    }
    return count;
}

// Damping of the elements of a chunk [s]. False: no memory; *beta stays NULL if none is damped.
static bool list_damping(const rbt_clocks *s, const rbt_chunk *chunk, double **beta) {
    const rbt_model *m = s->model;
    const rbt_group *group = &m->groups[chunk->group];
    for (size_t e = 0; e < chunk->count; e++) {
        int32_t node = group->nodes[(size_t)group->type->corners * (chunk->first + e)];
        double own = m->bodies[m->node_body[node]].damping.stiffness;
        if (own > 0 && !*beta && !(*beta = rbt_arena_take(s->arena, chunk->count, sizeof **beta))) return false;
        if (*beta) (*beta)[e] = own;
    }
    return true;
}

static bool find_damped(rbt_clocks *s, rbt_clock *clock, rbt_error *error) {
    const rbt_plan *plan = &clock->plan;
    size_t bytes = 3 * plan->slot_count * sizeof *clock->pulls;
    bool any = false, ok = (clock->beta = rbt_arena_take(s->arena, plan->chunk_count, sizeof *clock->beta)) != NULL;
    for (size_t c = 0; ok && c < plan->chunk_count; c++) {
        ok = list_damping(s, &plan->chunks[c], &clock->beta[c]);
        any |= clock->beta[c] != NULL;
    }
    if (ok && any) ok = (clock->pulls = rbt_arena_take(s->arena, 3 * plan->slot_count, sizeof(double))) != NULL;
    s->stiffness_damped |= any;
    return ok || rbt_fail_memory(error, bytes, "clocks");
}

static bool add_clock(rbt_clocks *s, signed char *const *levels, int level, rbt_error *error) {
    const rbt_model *m = s->model;
    size_t chunk_count = cut_level(m, levels, level, NULL);
    if (!chunk_count && level > 0) return true;
    rbt_chunk *chunks = rbt_arena_take(s->arena, chunk_count, sizeof *chunks);
    rbt_clock *clock = &s->clocks[s->count];
    if (!chunks) return rbt_fail_memory(error, chunk_count * sizeof *chunks, "clocks");
    cut_level(m, levels, level, chunks);
    *clock = (rbt_clock){.level = level, .h = ldexp(m->step, -level)};
    if (!rbt_plan_fill(&clock->plan, s->arena, m->groups, chunks, chunk_count, m->node_count, error)) return false;
    for (size_t c = 0; c < chunk_count; c++) clock->element_count += chunks[c].count;
    if (!find_damped(s, clock, error)) return false;
    s->count++;
    s->finest = level;
    if (level == 0) return true;
    int32_t *nodes = rbt_arena_take(s->arena, clock->plan.slot_count, sizeof *nodes);
    if (!nodes) return rbt_fail_memory(error, clock->plan.slot_count * sizeof *nodes, "clocks");
    for (size_t n = 0; n < m->node_count; n++)
        if (clock->plan.node_start[n + 1] > clock->plan.node_start[n]) nodes[clock->node_count++] = (int32_t)n;
    clock->nodes = nodes;
    return true;
}

// Clocks that kick with nothing but few elements and gravity have a way of their own.
static bool find_plain(rbt_clocks *s, rbt_error *error) {
    if (s->driven || s->loaded || s->flows || s->stiffness_damped || s->mass_damped) return true;
    for (size_t c = 0; c < s->count; c++) {
        rbt_clock *clock = &s->clocks[c];
        size_t count = clock->level ? clock->node_count : s->model->node_count;
        if (!rbt_plain_clock_can(s->model, &clock->plan)) continue;
        clock->plain = rbt_plain_clock_new(s->model, s->arena, &clock->plan, clock->h, clock->nodes, count);
        if (!clock->plain) return rbt_fail_memory(error, count * sizeof *clock->plain->nodes, "clocks");
    }
    return true;
}

// ---- Hinges that yield

static bool yields(const rbt_group *group) {
    const rbt_hinge *hinges = group->data;
    for (size_t e = 0; group->type == &RBT_HINGES && e < group->count; e++)
        if (hinges[e].yield < INFINITY) return true;
    return false;
}

static size_t flow_memory(const rbt_model *m) {
    size_t count = 0;
    for (size_t g = 0; g < m->group_count; g++)
        if (yields(&m->groups[g])) count += m->groups[g].count;
    return count;
}

// A model never changes, so what flows is copied.
static bool copy_flowing(rbt_clocks *s, rbt_error *error) {
    const rbt_model *m = s->model;
    s->elastic = *m;
    rbt_group *groups = rbt_arena_take(s->arena, m->group_count, sizeof *groups);
    s->flowing = rbt_arena_take(s->arena, m->group_count, sizeof *s->flowing);
    if (!groups || !s->flowing) return rbt_fail_memory(error, m->group_count * sizeof *groups, "clocks");
    if (m->group_count) memcpy(groups, m->groups, m->group_count * sizeof *groups);
    for (size_t g = 0; g < m->group_count; g++) {
        if (!yields(&groups[g])) continue;
        size_t bytes = groups[g].count * sizeof **s->flowing;
        if (!(s->flowing[g] = rbt_arena_take(s->arena, groups[g].count, sizeof **s->flowing)))
            return rbt_fail_memory(error, bytes, "clocks");
        s->flows = true;
        memcpy(s->flowing[g], groups[g].data, bytes);
        groups[g].data = s->flowing[g];
    }
    s->elastic.groups = groups;
    return true;
}

// Where the memory of the flow of a group's hinges begins
static size_t flow_begin(const rbt_clocks *s, size_t group) {
    size_t begin = 0;
    for (size_t g = 0; g < group; g++)
        if (s->flowing[g]) begin += s->model->groups[g].count;
    return begin;
}

static void set_rest(const rbt_clocks *s, size_t g, size_t e, double flow) {
    s->flowing[g][e].rest_angle = ((const rbt_hinge *)s->model->groups[g].data)[e].rest_angle + flow;
}

static void flow_chunk(const rbt_clocks *s, const rbt_chunk *chunk, const double *x, double *memory) {
    const rbt_group *group = &s->model->groups[chunk->group];
    double *flow = memory + flow_begin(s, chunk->group);
    for (size_t e = chunk->first; e < chunk->first + chunk->count; e++) {
        double more = rbt_hinge_flow((const rbt_hinge *)group->data + e, group->nodes + 4 * e, x, flow[e]);
        if (more == 0) continue;
        flow[e] += more;
        set_rest(s, chunk->group, e, flow[e]);
    }
}

void rbt_clocks_recall(rbt_clocks *s, const double *memory) {
    for (size_t g = 0; g < s->model->group_count; g++)
        for (size_t e = 0; s->flowing[g] && e < s->model->groups[g].count; e++)
            set_rest(s, g, e, memory[flow_begin(s, g) + e]);
}

double rbt_clocks_energy(const rbt_clocks *s, const double *x) {
    return rbt_energy_elastic(&s->elastic, x, s->energies);
}

// ---- Making them

size_t rbt_clocks_memory(const rbt_model *m) { return flow_memory(m); }

// A step of mass damping leaves 1 - alpha h of a velocity, which must not change its sign.
static bool drag_is_slow(const rbt_model *m, rbt_error *error) {
    for (size_t b = 0; b < m->body_count; b++)
        if (m->bodies[b].damping.mass * m->step > 1)
            return rbt_fail_path(
                error, NULL, "bodies",
                "\"%s\" has a mass damping of %g 1/s, which the step of %g s cannot follow: it needs "
                "steps of %g s at most",
                m->bodies[b].name, m->bodies[b].damping.mass, m->step, 1 / m->bodies[b].damping.mass);
    return true;
}

bool rbt_clocks_init(rbt_clocks *s, const rbt_model *m, double safety, rbt_error *error) {
    *s = (rbt_clocks){.model = m,
                      .arena = rbt_arena_new(),
                      .memory_count = rbt_clocks_memory(m),
                      .driven = m->motions.node_count > 0,
                      .loaded = m->loads.node_load_count > 0 || rbt_loads_follow_motion(&m->loads)};
    signed char **levels = s->arena ? rbt_arena_take(s->arena, m->group_count, sizeof *levels) : NULL;
    bool ok = levels && (s->clocks = rbt_arena_take(s->arena, MAX_LEVELS, sizeof *s->clocks));
    for (size_t g = 0; ok && g < m->group_count; g++)
        ok = (levels[g] = rbt_arena_take(s->arena, m->groups[g].count / RBT_W + 1, 1)) != NULL;
    if (!ok) rbt_fail_memory(error, m->node_count, "clocks");
    ok = ok && drag_is_slow(m, error) && copy_flowing(s, error) && choose_levels(m, safety, levels, error);
    size_t slots = 0;
    for (int level = 0; ok && level < MAX_LEVELS; level++) ok = add_clock(s, levels, level, error);
    for (size_t b = 0; ok && b < m->body_count; b++) s->mass_damped |= m->bodies[b].damping.mass > 0;
    ok = ok && find_plain(s, error);
    for (size_t i = 0; ok && i < s->count; i++)
        if (s->clocks[i].plan.slot_count > slots) slots = s->clocks[i].plan.slot_count;
    if (ok && !((s->f = rbt_arena_take(s->arena, 3 * m->node_count, sizeof(double))) &&
                (s->partial = rbt_arena_take(s->arena, 3 * slots, sizeof(double))) &&
                (s->energies = rbt_arena_take(s->arena, m->plan.chunk_count, sizeof *s->energies)) &&
                (s->constrained = rbt_arena_take(s->arena, m->node_count, 1))))
        ok = rbt_fail_memory(error, 3 * slots * sizeof(double), "clocks");
    if (!ok) rbt_clocks_free(s);
    return ok;
}

void rbt_clocks_free(rbt_clocks *s) {
    rbt_arena_free(s->arena);
    *s = (rbt_clocks){0};
}

// ---- Ticks

// Kinetic energy that prescribed motions give to the nodes that follow them [J]
static double driven_energy(const rbt_clocks *s, const rbt_tracks *tracks) {
    double sum = 0;
    for (size_t i = 0; i < s->model->motions.node_count; i++) {
        size_t n = (size_t)s->model->motions.node[i];
        if (s->constrained[n]) sum += 0.5 * s->model->mass[n] * rbt_dot(tracks->v + 3 * n, tracks->v + 3 * n);
    }
    return sum;
}

// Inverse masses of free nodes and velocities of the others, from time t on
static void hold(rbt_clocks *s, rbt_tracks *tracks, double t) {
    const rbt_model *m = s->model;
    for (size_t n = 0; n < m->node_count; n++) tracks->inverse_mass[n] = s->constrained[n] ? 0 : 1 / m->mass[n];
    double before = driven_energy(s, tracks);
    rbt_constrained_velocities(m, s->constrained, t, m->step, tracks->x, tracks->v);
    if (s->work) *s->work += driven_energy(s, tracks) - before;
}

// What the elements of a clock pull at a node, in the order of its slots
static inline void gather(const rbt_clock *clock, size_t n, const double *pulls, double f[3]) {
    const rbt_plan *plan = &clock->plan;
    for (size_t k = plan->node_start[n], end = plan->node_start[n + 1]; k < end; k++)
        rbt_add_scaled(f, -1, pulls + 3 * (size_t)plan->node_slots[k]);
}

static inline void kick(rbt_clocks *s, rbt_tracks *tracks, const rbt_clock *clock, size_t n, const double f[3]) {
    if (!s->constrained[n]) rbt_track_kick(tracks, n, clock->h / s->model->mass[n], f);
    else if (s->work) *s->work -= clock->h * rbt_dot(f, tracks->v + 3 * n);
}

// Gravity, loads and the elements of the common step, for all nodes
static void kick_all(rbt_clocks *s, rbt_tracks *tracks, const rbt_clock *clock, int64_t tick, bool first,
                     const double *pulls) {
    const rbt_model *m = s->model;
    double *v = tracks->v, *x = tracks->x, t = rbt_clocks_time(s, tracks, tick);
    if (s->driven) rbt_constrained_nodes(m, t, s->constrained);
    bool loaded = s->loaded || rbt_force_is_given(m);
    if (loaded) rbt_force_external(m, t, x, v, s->f);
    for (size_t n = 0; n < m->node_count; n++) {
        double f[3];
        for (size_t i = 0; i < 3; i++) f[i] = loaded ? s->f[3 * n + i] : m->mass[n] * m->gravity[i];
        gather(clock, n, pulls, f);
        if (s->mass_damped) rbt_add_scaled(f, -m->bodies[m->node_body[n]].damping.mass * m->mass[n], v + 3 * n);
        kick(s, tracks, clock, n, f);
    }
    if (s->driven || first) hold(s, tracks, t);
}

static void move_nodes(const rbt_clocks *s, rbt_tracks *tracks, const rbt_clock *clock, int64_t tick) {
    size_t count = clock->level ? clock->node_count : s->model->node_count;
    for (size_t i = 0; i < count; i++) rbt_track_move(tracks, clock->level ? (size_t)clock->nodes[i] : i, tick);
}

static void flow(rbt_clocks *s, const rbt_clock *clock, const double *x, double *memory) {
    for (size_t k = 0; s->flows && k < clock->plan.chunk_count; k++)
        if (s->flowing[clock->plan.chunks[k].group]) flow_chunk(s, &clock->plan.chunks[k], x, memory);
}

static void damp_chunk(const rbt_clocks *s, const rbt_clock *clock, size_t c, const rbt_tracks *tracks) {
    const rbt_chunk *chunk = &clock->plan.chunks[c];
    const rbt_group *group = &s->elastic.groups[chunk->group];
    double corner[3 * RBT_MOST_CORNERS * RBT_CHUNK], *sum = clock->pulls + 3 * chunk->slot_begin;
    if (!clock->beta[c]) {
        rbt_force_chunk(&s->elastic, &clock->plan, c, tracks->x, clock->pulls);
        return;
    }
    group->type->damped_gradient(group, chunk->first, chunk->count, tracks->x, tracks->v, clock->beta[c], corner);
    memset(sum, 0, 3 * chunk->slot_count * sizeof *sum);
    const uint16_t *local = clock->plan.local + chunk->corner_begin;
    for (size_t k = 0; k < chunk->count * (size_t)group->type->corners; k++)
        rbt_add_scaled(sum + 3 * (size_t)local[k], 1, corner + 3 * k);
}

void rbt_clocks_damp(rbt_clocks *s, rbt_tracks *tracks, int64_t tick, double *memory) {
    for (size_t i = 0; i < s->count; i++) {
        const rbt_clock *clock = &s->clocks[i];
        if (clock->level < rbt_tick_level(tick) || !clock->pulls) continue;
        move_nodes(s, tracks, clock, tick);
        flow(s, clock, tracks->x, memory);
        // A team of one thread costs more than a handful of elements.
        if (clock->plan.slot_count < RBT_PARALLEL_FROM) {
            for (size_t c = 0; c < clock->plan.chunk_count; c++) damp_chunk(s, clock, c, tracks);
            continue;
        }
#pragma omp parallel for schedule(static)
        for (size_t c = 0; c < clock->plan.chunk_count; c++) damp_chunk(s, clock, c, tracks);
    }
}

void rbt_clock_tick(rbt_clocks *s, rbt_tracks *tracks, const rbt_clock *clock, int64_t tick, bool first,
                    double *memory) {
    const double *pulls = clock->pulls ? clock->pulls : s->partial;
    move_nodes(s, tracks, clock, tick);
    if (!clock->pulls) {
        flow(s, clock, tracks->x, memory);
        rbt_force_slots(&s->elastic, &clock->plan, tracks->x, NULL, s->partial);
    }
    if (clock->level == 0) kick_all(s, tracks, clock, tick, first, pulls);
    for (size_t i = 0; clock->level && i < clock->node_count; i++) {
        size_t n = (size_t)clock->nodes[i];
        double f[3] = {0};
        gather(clock, n, pulls, f);
        kick(s, tracks, clock, n, f);
    }
}
