#include "step/core/outside_work.h"

#include "math/vec3.h"
#include "model/force.h"
#include "model/mass.h"

#include <string.h>

enum { SAMPLES_PER_FRAME = 4, SAMPLES_PER_LOAD = 32 };  // at least, where there are as many steps

static bool take(rbt_arena *arena, size_t count, double **values) {
    return (*values = rbt_arena_take(arena, 3 * count + 1, sizeof **values)) != NULL;
}

// Whether forces act that are not those of loads
static bool is_windy(const rbt_outside *s) {
    return rbt_loads_follow_motion(&s->model->loads) || rbt_force_is_given(s->model);
}

static bool take_sample(const rbt_outside *s, rbt_outside_sample *sample) {
    size_t n = 3 * s->driven_count;
    if (!take(s->arena, s->value_count / 3 + 1, &sample->values)) return false;
    double **parts[] = {&sample->x, &sample->v, &sample->momentum, &sample->gradient, &sample->elastic};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) *parts[i] = sample->values + i * n;
    sample->loaded = sample->values + 5 * n;
    return true;
}

bool rbt_outside_make_room(rbt_outside *s, rbt_error *error) {
    size_t all = s->model->node_count;
    rbt_outside_sample *samples[] = {&s->last, &s->next};
    for (int i = 0; i < 2; i++)
        if (!samples[i]->wind && !(take(s->arena, all, &samples[i]->windy) && take(s->arena, all, &samples[i]->wind)))
            return rbt_fail_memory(error, 6 * all * sizeof(double), "the work of forces");
    return true;
}

// The elements at driven nodes. Its first nodes are these, in the order of model->motions.
static bool build_part(rbt_outside *s, rbt_error *error) {
    const rbt_model *m = s->model;
    unsigned char *chosen = rbt_array_new(m->node_count, 1, "the work of driven nodes", error);
    for (size_t i = 0; chosen && i < m->motions.node_count; i++) chosen[m->motions.node[i]] = 1;
    bool ok = chosen && rbt_model_part_build(&s->part, m, chosen, error);
    free(chosen);
    return ok && (take(s->arena, s->part.model.node_count, &s->places) ||
                  rbt_fail_memory(error, s->part.model.node_count, "the work of driven nodes"));
}

// Elements of a group that are this rank's; number: what its nodes are called in the model, NULL: the same
static size_t owned_elements(const rbt_model *m, const rbt_group *group, const int32_t *number) {
    size_t count = 0, corners = (size_t)group->type->corners;
    for (size_t e = 0; e < group->count; e++) {
        int32_t node = group->nodes[corners * e];
        count += rbt_ranks_owns(m, (size_t)(number ? number[node] : node));
    }
    return count;
}

// What a sample costs beside the force of all elements: its elements, few and scattered, cost twice as much as others,
// a triangle in the wind as much as they, a node of a load a twentieth of an element (measured).
static double share_of(const rbt_outside *s) {
    enum { AT_DRIVEN, LOADED, WINDY, ALL, COUNTS };
    const rbt_model *m = s->model;
    rbt_sum count[COUNTS] = {0};
    for (size_t g = 0; g < s->part.model.group_count; g++)
        rbt_sum_add_one(&count[AT_DRIVEN], (double)owned_elements(m, &s->part.model.groups[g], s->part.nodes));
    for (size_t g = 0; g < m->group_count; g++)
        rbt_sum_add_one(&count[ALL], (double)owned_elements(m, &m->groups[g], NULL));
    for (size_t k = 0; k < m->loads.node_load_count; k++)
        for (size_t i = 0; i < m->loads.node_loads[k].node_count; i++)
            rbt_sum_add_one(&count[LOADED], rbt_ranks_owns(m, (size_t)m->loads.node_loads[k].nodes[i]));
    for (size_t k = 0; k < m->loads.wind_count; k++)
        for (size_t t = m->loads.winds[k].triangle_begin; t < m->loads.winds[k].triangle_end; t++)
            rbt_sum_add_one(&count[WINDY], rbt_ranks_owns(m, (size_t)m->triangles[3 * t]));
    rbt_ranks_join(m, count, COUNTS);
    return (2 * rbt_sum_value(&count[AT_DRIVEN]) + 0.05 * rbt_sum_value(&count[LOADED]) +
            2 * rbt_sum_value(&count[WINDY])) /
           (1 + rbt_sum_value(&count[ALL]));
}

bool rbt_outside_init(rbt_outside *s, const rbt_model *m, bool prescribed, bool cheap, rbt_error *error) {
    *s = (rbt_outside){.model = m, .arena = rbt_arena_new(), .driven_count = prescribed ? m->motions.node_count : 0};
    for (size_t k = 0; k < m->loads.node_load_count; k++) s->load_nodes += m->loads.node_loads[k].node_count;
    s->value_count = 15 * s->driven_count + 3 * s->load_nodes;
    bool ok = s->arena && take_sample(s, &s->last) && take_sample(s, &s->next) &&
              (s->still = rbt_arena_take(s->arena, m->node_count + 1, 1));
    if (!ok) rbt_fail_memory(error, 6 * m->node_count * sizeof(double), "the work of loads");
    ok = ok && (!s->driven_count || build_part(s, error)) && (!is_windy(s) || rbt_outside_make_room(s, error));
    if (!ok) {
        rbt_outside_free(s);
        return false;
    }
    for (size_t n = 0; n < m->node_count; n++) s->still[n] = m->role[n] == RBT_FIXED;
    s->every = cheap ? 1 + (int64_t)(100 * share_of(s)) : 1;
    s->any = rbt_ranks_any(m, s->driven_count || s->load_nodes);
    return true;
}

void rbt_outside_free(rbt_outside *s) {
    rbt_model_part_free(&s->part);
    rbt_arena_free(s->arena);
    *s = (rbt_outside){0};
}

// ---- Samples

// dW/dx at driven nodes, by the elements that touch them: added in the order of the elements, which ranks have, too
static void sample_elastic(rbt_outside *s, const double *x, double *gradient) {
    const rbt_model *part = &s->part.model;
    double corner[3 * RBT_MOST_CORNERS * RBT_CHUNK];
    rbt_model_part_gather(&s->part, x, s->places);
    memset(gradient, 0, 3 * s->driven_count * sizeof *gradient);
    for (size_t c = 0; c < part->plan.chunk_count; c++) {
        const rbt_chunk *chunk = &part->plan.chunks[c];
        const rbt_group *group = &part->groups[chunk->group];
        size_t corners = (size_t)group->type->corners;
        const int32_t *node = group->nodes + corners * chunk->first;
        group->type->gradient(group, chunk->first, chunk->count, s->places, NULL, corner);
        for (size_t k = 0; k < corners * chunk->count; k++)
            if ((size_t)node[k] < s->driven_count) rbt_add_scaled(gradient + 3 * (size_t)node[k], 1, corner + 3 * k);
    }
}

static void sample_driven(rbt_outside *s, const rbt_state *state, rbt_outside_sample *to) {
    const rbt_model *m = s->model;
    sample_elastic(s, state->x, to->elastic);
    for (size_t i = 0; i < s->driven_count; i++) {
        size_t n = (size_t)m->motions.node[i];
        double push[3] = {0};
        memcpy(to->x + 3 * i, state->x + 3 * n, 3 * sizeof(double));
        memcpy(to->v + 3 * i, state->v + 3 * n, 3 * sizeof(double));
        rbt_mass_momentum(m, state->v, n, to->momentum + 3 * i);
        if (m->node_area[n] > 0) rbt_obstacles_node(&m->obstacles, state->x + 3 * n, m->node_area[n], push, NULL);
        for (size_t k = 0; k < 3; k++)
            to->gradient[3 * i + k] = to->elastic[3 * i + k] - m->mass[n] * m->gravity[k] - push[k];
    }
}

static void sample(rbt_outside *s, const rbt_state *state, rbt_outside_sample *to) {
    const rbt_loads *loads = &s->model->loads;
    to->t = state->t;
    if (s->driven_count) sample_driven(s, state, to);
    double *loaded = to->loaded;
    for (size_t k = 0; k < loads->node_load_count; k++)
        for (size_t i = 0; i < loads->node_loads[k].node_count; i++, loaded += 3)
            memcpy(loaded, state->x + 3 * (size_t)loads->node_loads[k].nodes[i], 3 * sizeof *loaded);
    if (!is_windy(s)) return;
    size_t values = 3 * s->model->node_count;
    memcpy(to->windy, state->x, values * sizeof(double));
    memset(to->wind, 0, values * sizeof(double));
    rbt_force_add_wind(s->model, state->t, state->x, state->v, to->wind);
    rbt_force_add_given(s->model, to->wind);
}

void rbt_outside_begin(rbt_outside *s, const rbt_state *state) {
    sample(s, state, &s->last);
    s->next.t = s->last.t;
}

bool rbt_outside_is_idle(const rbt_outside *s) { return !s->any && !is_windy(s); }

// Whether nodes are released, or a load that is short beside the time between samples acts, since the last one
static bool is_eventful(const rbt_outside *s, double t, double interval) {
    const rbt_model *m = s->model;
    for (size_t g = 0; s->any && g < m->motions.group_count; g++) {
        double release = m->motions.groups[g].release;
        if (release > s->last.t && release <= t) return true;
    }
    for (size_t k = 0; k < m->loads.node_load_count; k++) {
        const rbt_node_load *load = &m->loads.node_loads[k];
        bool acts = load->from < t && load->until > s->last.t;
        if (acts && load->until - load->from < SAMPLES_PER_LOAD * interval) return true;
    }
    return false;
}

bool rbt_outside_due(const rbt_outside *s, const rbt_state *state) {
    if (rbt_outside_is_idle(s)) return false;
    int64_t most = s->model->steps_per_frame / SAMPLES_PER_FRAME, every = s->every < most ? s->every : most;
    return every <= 1 || state->step % every == 0 || is_eventful(s, state->t, (double)every * s->model->step);
}

// ---- Work between two samples

// Nodes that are constrained from the last sample on until this one
static bool is_constrained(const rbt_outside *s, size_t i) {
    return s->last.t < s->model->motions.groups[s->model->motions.group[i]].release;
}

// Between samples that are several steps apart the force may have been anywhere between its two values, or nearly so.
static void add_scripts(const rbt_outside *s, rbt_outside_work *work) {
    const rbt_model *m = s->model;
    const rbt_outside_sample *a = &s->last, *b = &s->next;
    double dt = b->t - a->t, total[2];
    rbt_terms terms;
    rbt_terms_begin(&terms, 2);
    for (size_t i = 0; i < s->driven_count; i++) {
        if (!is_constrained(s, i) || !rbt_ranks_owns(m, (size_t)m->motions.node[i])) continue;
        size_t at = rbt_terms_next(&terms);
        double own = 0, change = 0;
        double beta = m->bodies[m->node_body[m->motions.node[i]]].damping.stiffness / dt;
        for (size_t k = 3 * i; k < 3 * i + 3; k++) {
            double dx = b->x[k] - a->x[k];
            own += 0.5 * (a->v[k] + b->v[k]) * (b->momentum[k] - a->momentum[k]);
            own += (0.5 * (a->gradient[k] + b->gradient[k]) + beta * (b->elastic[k] - a->elastic[k])) * dx;
            change += (b->gradient[k] - a->gradient[k]) * dx;
        }
        terms.value[0][at] = own;
        terms.value[1][at] = change;
    }
    rbt_terms_end(&terms, m, total);
    work->prescribed += total[0];
    if (dt > 1.5 * m->step) work->slack += 0.5 * fabs(total[1]);
}

static void add_loads(const rbt_outside *s, const unsigned char *still, rbt_outside_work *work) {
    const rbt_loads *loads = &s->model->loads;
    const double *from = s->last.loaded, *to = s->next.loaded;
    for (size_t k = 0; k < loads->node_load_count; k++) {
        const rbt_node_load *load = &loads->node_loads[k];
        double path;
        rbt_terms terms;
        rbt_terms_begin(&terms, 1);
        for (size_t i = 0; i < load->node_count; i++, from += 3, to += 3) {
            if (still[load->nodes[i]] || !rbt_ranks_owns(s->model, (size_t)load->nodes[i])) continue;
            double moved[3];
            rbt_subtract(to, from, moved);
            terms.value[0][rbt_terms_next(&terms)] = load->share[i] * rbt_dot(load->force, moved);
        }
        rbt_terms_end(&terms, s->model, &path);
        double mean = rbt_load_mean_strength(load, s->last.t, s->next.t);
        double begin = rbt_load_strength(load, s->last.t), end = rbt_load_strength(load, s->next.t);
        work->loads += mean * path;
        work->slack += fmax(fabs(begin - mean), fabs(end - mean)) * fabs(path);
    }
}

static double wind_work(const rbt_outside *s, const unsigned char *still) {
    const rbt_outside_sample *a = &s->last, *b = &s->next;
    double work;
    rbt_terms terms;
    rbt_terms_begin(&terms, 1);
    for (size_t n = 0; n < s->model->node_count; n++)
        for (size_t k = 3 * n; !still[n] && rbt_ranks_owns(s->model, n) && k < 3 * n + 3; k++)
            terms.value[0][rbt_terms_next(&terms)] = 0.5 * (a->wind[k] + b->wind[k]) * (b->windy[k] - a->windy[k]);
    rbt_terms_end(&terms, s->model, &work);
    return work;
}

rbt_outside_work rbt_outside_sample_at(rbt_outside *s, const rbt_state *state) {
    rbt_outside_work work = {0};
    const rbt_motions *motions = &s->model->motions;
    if (!(state->t > s->last.t)) return work;
    sample(s, state, &s->next);
    add_scripts(s, &work);
    for (size_t i = 0; i < motions->node_count; i++) s->still[motions->node[i]] = is_constrained(s, i);
    add_loads(s, s->still, &work);
    if (is_windy(s)) work.loads += wind_work(s, s->still);
    return work;
}

void rbt_outside_keep(rbt_outside *s) {
    rbt_outside_sample kept = s->next;
    if (!(s->next.t > s->last.t)) return;
    s->next = s->last;
    s->last = kept;
}

// ---- As bytes: the time, the values, and those about wind where there are some

static size_t wind_count_of(const rbt_outside *s) { return s->last.wind ? 3 * s->model->node_count : 0; }

size_t rbt_outside_packed_size(const rbt_outside *s) {
    return (1 + s->value_count + 2 * wind_count_of(s)) * sizeof(double);
}

void rbt_outside_pack(const rbt_outside *s, void *bytes) {
    double *at = bytes;
    size_t windy = wind_count_of(s);
    *at++ = s->last.t;
    memcpy(at, s->last.values, s->value_count * sizeof *at);
    if (!windy) return;
    memcpy(at + s->value_count, s->last.windy, windy * sizeof *at);
    memcpy(at + s->value_count + windy, s->last.wind, windy * sizeof *at);
}

bool rbt_outside_unpack(rbt_outside *s, const void *bytes, size_t size) {
    const double *at = bytes;
    size_t windy = wind_count_of(s);
    bool plain = size == (1 + s->value_count) * sizeof *at;
    if (!plain && size != rbt_outside_packed_size(s)) return false;
    s->last.t = s->next.t = *at++;
    memcpy(s->last.values, at, s->value_count * sizeof *at);
    if (plain || !windy) return true;
    memcpy(s->last.windy, at + s->value_count, windy * sizeof *at);
    memcpy(s->last.wind, at + s->value_count + windy, windy * sizeof *at);
    return true;
}
