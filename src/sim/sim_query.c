// Asking a simulation (rubato/query.h).
#include "base/threads.h"
#include "math/vec3.h"
#include "model/force.h"
#include "rubato/query.h"
#include "sim/sim.h"

#include <math.h>
#include <string.h>

// ---- Bodies

size_t rbt_sim_body_count(const rbt_sim *sim) { return sim ? sim->model->body_count : 0; }

int rbt_sim_body_find(const rbt_sim *sim, const char *name) {
    for (size_t b = 0; name && b < rbt_sim_body_count(sim); b++)
        if (strcmp(sim->model->bodies[b].name, name) == 0) return (int)b;
    return -1;
}

static bool has_body(const rbt_sim *sim, size_t body, rbt_error *error) {
    if (!rbt_sim_is_there(sim, error)) return false;
    return body < sim->model->body_count ||
           rbt_fail(error, "there is no body %zu: the scene has %zu, counted from 0", body, sim->model->body_count);
}

bool rbt_sim_body(const rbt_sim *sim, size_t body, rbt_body_info *info, rbt_error *error) {
    if (!has_body(sim, body, error)) return false;
    if (!info)
        return rbt_fail(error, "there is no place for what is known about body %zu: the pointer is NULL", body);
    const rbt_body *b = &sim->model->bodies[body];
    *info = (rbt_body_info){.name = b->name,
                            .kind = b->kind,
                            .node_begin = b->node_begin,
                            .node_end = b->node_end,
                            .tet_begin = b->tet_begin,
                            .tet_end = b->tet_end,
                            .triangle_begin = b->triangle_begin,
                            .triangle_end = b->triangle_end,
                            .edge_begin = b->edge_begin,
                            .edge_end = b->edge_end,
                            .mass = b->mass,
                            .volume = b->volume};
    return true;
}

bool rbt_sim_selection(const rbt_sim *sim, size_t body, const char *name, const int32_t **nodes, size_t *count,
                       rbt_error *error) {
    if (!has_body(sim, body, error)) return false;
    if (!name || !nodes || !count)
        return rbt_fail(error, "a selection needs a name and places for its nodes and count");
    const rbt_model *m = sim->model;
    for (size_t i = 0; i < m->selection_count; i++) {
        const rbt_node_selection *s = &m->selections[i];
        if ((size_t)s->body != body || strcmp(s->name, name) != 0) continue;
        *nodes = s->nodes;
        *count = s->count;
        return true;
    }
    return rbt_fail(error, "body \"%s\" has no selection or set \"%s\"", m->bodies[body].name, name);
}

const char *rbt_sim_selection_name(const rbt_sim *sim, size_t body, size_t selection) {
    for (size_t i = 0; sim && i < sim->model->selection_count; i++)
        if ((size_t)sim->model->selections[i].body == body && selection-- == 0) return sim->model->selections[i].name;
    return NULL;
}

int64_t rbt_sim_topology(const rbt_sim *sim) { return sim ? sim->topology : 0; }

const char *rbt_sim_note(const rbt_sim *sim, size_t i) {
    return sim && i < sim->model->warning_count ? sim->model->warnings[i] : NULL;
}

// ---- Nodes

const double *rbt_sim_masses(const rbt_sim *sim) { return sim ? sim->model->mass : NULL; }
const double *rbt_sim_rest_positions(const rbt_sim *sim) { return sim ? sim->model->X : NULL; }

size_t rbt_sim_driven_nodes(const rbt_sim *sim, size_t driven, int32_t *nodes, size_t capacity) {
    size_t count = 0;
    for (size_t i = 0; sim && i < sim->model->motions.node_count; i++) {
        if ((size_t)sim->model->motions.group[i] != driven) continue;
        if (nodes && count < capacity) nodes[count] = sim->model->motions.node[i];
        count++;
    }
    return count;
}

// A driven node is constrained until it is released.
static bool is_held(const rbt_model *m, size_t driven, double t) {
    return t < m->motions.groups[m->motions.group[driven]].release;
}

size_t rbt_sim_constrained(const rbt_sim *sim, unsigned char *constrained) {
    if (!sim) return 0;
    const rbt_model *m = sim->model;
    size_t count = 0;
    for (size_t n = 0; n < m->node_count; n++) count += m->role[n] == RBT_FIXED;
    for (size_t i = 0; i < m->motions.node_count; i++) count += is_held(m, i, sim->state.t);
    if (constrained) rbt_constrained_nodes(m, sim->state.t, constrained);
    return count;
}

// Work space that is made when it is first asked for
static bool make_workspace(const rbt_sim *sim, rbt_error *error) {
    rbt_sim_workspace *w = sim->workspace;
    const rbt_model *m = sim->model;
    if (w->node_count == m->node_count && w->slot_count == m->plan.slot_count) return true;
    rbt_sim_workspace_clear(w);
    w->partial = rbt_array_new(m->plan.slot_count, 3 * sizeof(double), "forces", error);
    w->force = rbt_array_new(m->node_count, 3 * sizeof(double), "forces", error);
    w->elastic = rbt_array_new(m->node_count, 3 * sizeof(double), "forces", error);
    w->reactions = rbt_array_new(m->node_count, 3 * sizeof(double), "forces", error);
    w->moved = rbt_array_new(m->node_count, 3 * sizeof(double), "forces", error);
    w->constrained = rbt_array_new(m->node_count, 1, "forces", error);
    if (w->partial && w->force && w->elastic && w->reactions && w->moved && w->constrained) {
        w->node_count = m->node_count;
        w->slot_count = m->plan.slot_count;
        return true;
    }
    rbt_sim_workspace_clear(w);
    return false;
}

void rbt_sim_workspace_clear(rbt_sim_workspace *w) {
    free(w->partial);
    free(w->force);
    free(w->elastic);
    free(w->reactions);
    free(w->moved);
    free(w->constrained);
    *w = (rbt_sim_workspace){0};
}

// f += contact forces
static void add_contact(const rbt_sim *sim, double *f) {
    const rbt_method *method = sim->stepper.method;
    if (method->contact_forces) method->contact_forces(sim->stepper.self, &sim->state, f);
    else rbt_force_contact(sim->model, sim->state.x, f, NULL);
}

bool rbt_sim_contact_forces(const rbt_sim *sim, double *forces, rbt_error *error) {
    if (!rbt_sim_is_there(sim, error)) return false;
    if (!forces) return rbt_fail(error, "there is no place for contact forces: the pointer is NULL");
    memset(forces, 0, 3 * sim->model->node_count * sizeof *forces);
    add_contact(sim, forces);
    return true;
}

// elastic = -dW/dx at x + way v
static void elastic_at(const rbt_sim *sim, double way, double *elastic) {
    const rbt_model *m = sim->model;
    rbt_sim_workspace *w = sim->workspace;
    size_t values = 3 * m->node_count;
    for (size_t i = 0; i < values; i++) w->moved[i] = sim->state.x[i] + way * sim->state.v[i];
    memset(elastic, 0, values * sizeof *elastic);
    rbt_force_elastic(m, w->moved, NULL, w->partial, elastic);
}

// f -= alpha M v + beta K v, where K v is a difference of elastic forces along v
static void add_damping(const rbt_sim *sim, double *f) {
    const rbt_model *m = sim->model;
    rbt_sim_workspace *w = sim->workspace;
    const double *v = sim->state.v;
    double fastest = 0, size = 0, stiff = 0;
    for (size_t n = 0; n < m->node_count; n++) {
        rbt_add_scaled(f + 3 * n, -m->bodies[m->node_body[n]].damping.mass * m->mass[n], v + 3 * n);
        fastest = fmax(fastest, rbt_length(v + 3 * n));
    }
    for (size_t b = 0; b < m->body_count; b++) {
        double diagonal[3];
        rbt_subtract(m->bodies[b].box_max, m->bodies[b].box_min, diagonal);
        size = fmax(size, rbt_length(diagonal));
        stiff = fmax(stiff, m->bodies[b].damping.stiffness);
    }
    rbt_ranks_most(m, &fastest, 1);
    if (!(stiff > 0 && fastest > 0)) return;
    double way = 1e-6 * size / fastest;
    for (int side = -1; side <= 1; side += 2) {
        elastic_at(sim, side * way, w->elastic);
        for (size_t n = 0; n < m->node_count; n++)
            rbt_add_scaled(f + 3 * n, side * m->bodies[m->node_body[n]].damping.stiffness / (2 * way),
                           w->elastic + 3 * n);
    }
}

// Of a driven node, by a difference over two steps
static void prescribed_acceleration(const rbt_model *m, size_t driven, double t, double a[3]) {
    const rbt_motion_group *group = &m->motions.groups[m->motions.group[driven]];
    const double *start = m->x0 + 3 * (size_t)m->motions.node[driven];
    double before[3], now[3], after[3], h = m->step;
    rbt_motion_position(group, start, t - h, before);
    rbt_motion_position(group, start, t, now);
    rbt_motion_position(group, start, t + h, after);
    for (int k = 0; k < 3; k++) a[k] = (after[k] - 2 * now[k] + before[k]) / (h * h);
}

bool rbt_sim_reactions(const rbt_sim *sim, double *reactions, rbt_error *error) {
    if (!rbt_sim_is_there(sim, error)) return false;
    if (!reactions) return rbt_fail(error, "there is no place for reactions: the pointer is NULL");
    if (!make_workspace(sim, error)) return false;
    const rbt_model *m = sim->model;
    const rbt_state *s = &sim->state;
    rbt_sim_workspace *w = sim->workspace;
    int threads = rbt_threads_enter(sim->threads);
    rbt_force_external(m, s->t, s->x, s->v, w->force);
    elastic_at(sim, 0, w->elastic);
    for (size_t i = 0; i < 3 * m->node_count; i++) w->force[i] += w->elastic[i];
    add_contact(sim, w->force);
    add_damping(sim, w->force);
    rbt_constrained_nodes(m, s->t, w->constrained);
    for (size_t i = 0; i < 3 * m->node_count; i++) reactions[i] = w->constrained[i / 3] ? -w->force[i] : 0;
    for (size_t i = 0; i < m->motions.node_count; i++) {
        size_t n = (size_t)m->motions.node[i];
        double a[3];
        if (!w->constrained[n]) continue;
        prescribed_acceleration(m, i, s->t, a);
        rbt_add_scaled(reactions + 3 * n, m->mass[n], a);
    }
    rbt_threads_leave(threads);
    return true;
}

// ---- Probes

size_t rbt_sim_probe_count(const rbt_sim *sim) { return sim ? sim->model->probe_count : 0; }

const char *rbt_sim_probe_name(const rbt_sim *sim, size_t probe) {
    return probe < rbt_sim_probe_count(sim) ? sim->model->probes[probe].name : NULL;
}

int rbt_sim_probe_find(const rbt_sim *sim, const char *name) {
    for (size_t i = 0; name && i < rbt_sim_probe_count(sim); i++)
        if (strcmp(sim->model->probes[i].name, name) == 0) return (int)i;
    return -1;
}

// reactions, contact (node_count x 3)
static rbt_probe_reading read_probe(const rbt_sim *sim, const rbt_probe *probe, const double *reactions,
                                    const double *contact) {
    rbt_probe_reading r = {0};
    rbt_terms terms;
    double total[12];
    rbt_terms_begin(&terms, 12);
    for (size_t i = 0; i < probe->count; i++) {
        size_t n = 3 * (size_t)probe->nodes[i];
        if (!rbt_ranks_owns(sim->model, n / 3)) continue;
        size_t at = rbt_terms_next(&terms);
        for (size_t k = 0; k < 3; k++) {
            terms.value[k][at] = probe->share[i] * sim->state.x[n + k];
            terms.value[3 + k][at] = probe->share[i] * sim->state.v[n + k];
            terms.value[6 + k][at] = reactions[n + k];
            terms.value[9 + k][at] = contact[n + k];
        }
    }
    rbt_terms_end(&terms, sim->model, total);
    memcpy(r.position, total, sizeof r.position);
    memcpy(r.velocity, total + 3, sizeof r.velocity);
    memcpy(r.reaction, total + 6, sizeof r.reaction);
    memcpy(r.contact, total + 9, sizeof r.contact);
    return r;
}

static bool read_probes(const rbt_sim *sim, size_t begin, size_t end, rbt_probe_reading *readings, rbt_error *error) {
    if (!readings) return rbt_fail(error, "there is no place for what a probe reads: the pointer is NULL");
    if (begin == end) return true;
    if (!make_workspace(sim, error)) return false;
    rbt_sim_workspace *w = sim->workspace;
    if (!rbt_sim_reactions(sim, w->reactions, error)) return false;
    memset(w->elastic, 0, 3 * w->node_count * sizeof *w->elastic);
    add_contact(sim, w->elastic);
    for (size_t i = begin; i < end; i++)
        readings[i - begin] = read_probe(sim, &sim->model->probes[i], w->reactions, w->elastic);
    return true;
}

bool rbt_sim_probe(const rbt_sim *sim, size_t probe, rbt_probe_reading *reading, rbt_error *error) {
    if (!rbt_sim_is_there(sim, error)) return false;
    if (probe >= sim->model->probe_count)
        return rbt_fail(error, "there is no probe %zu: the scene has %zu, counted from 0", probe,
                        sim->model->probe_count);
    return read_probes(sim, probe, probe + 1, reading, error);
}

bool rbt_sim_probes(const rbt_sim *sim, rbt_probe_reading *readings, rbt_error *error) {
    return rbt_sim_is_there(sim, error) && read_probes(sim, 0, sim->model->probe_count, readings, error);
}

// ---- Contacts, times, statistics

size_t rbt_sim_contacts(const rbt_sim *sim, rbt_contact_point *contacts, size_t capacity) {
    if (!sim || !sim->stepper.method->contacts) return 0;
    return sim->stepper.method->contacts(sim->stepper.self, &sim->state, contacts, contacts ? capacity : 0);
}

size_t rbt_sim_stage_count(const rbt_sim *sim) { return sim ? (size_t)sim->stepper.stages.count : 0; }

const char *rbt_sim_stage_name(const rbt_sim *sim, size_t stage) {
    return stage < rbt_sim_stage_count(sim) ? sim->stepper.stages.name[stage] : NULL;
}

double rbt_sim_stage_seconds(const rbt_sim *sim, size_t stage) {
    return stage < rbt_sim_stage_count(sim) ? sim->stepper.stages.seconds[stage] : 0;
}

double rbt_sim_statistic(const rbt_sim *sim, int statistic) {
    return sim && rbt_statistic_at(statistic) ? sim->stepper.statistics[statistic] : 0;
}

const char *rbt_sim_method(const rbt_sim *sim) { return sim ? sim->stepper.method->name : NULL; }
