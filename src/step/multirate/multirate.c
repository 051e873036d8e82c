// Asynchronous implicit backward Euler (Zhao, Li and Barbic 2016): the root of the tree of parts takes one step of
// length H, every other part a whole number of shorter steps in each step of its parent, all coupled implicitly.
// Forces are linearised once per long step. The parts and their matrices are step/multirate/rate_part.h, the steps
// step/multirate/subcycling.h.
//
// Of a linear model all factors and responses are kept: a step is one product K (x - X), and the solves. Otherwise the
// condensation is made again in every long step, and where obstacles are touched: by parts in each of their own steps
// (step/multirate/substep_obstacle.h), by the rest once per long step, as in the paper. In scenes with contact the
// sub-cycling is linear in the impulses that keep bodies apart (multirate_contact.h).
#include "step/multirate/multirate.h"

#include "math/vec3.h"
#include "model/force.h"
#include "model/linear_obstacle.h"
#include "solve/cg.h"
#include "step/core/method.h"
#include "step/multirate/fused_part.h"
#include "step/multirate/multirate_contact.h"
#include "step/multirate/rate_choice.h"
#include "step/multirate/rest_modes.h"
#include "step/multirate/subcycling.h"
#include "step/multirate/substep_obstacle.h"

#include <string.h>

typedef struct multirate {
    const rbt_model *model;
    rbt_arena *arena;
    rbt_multirate_options options;
    rbt_stiffness stiffness;
    rbt_block_operator *product;
    rbt_mass mass;
    rbt_tempo_choice choice;  // the model's tempi, or those chosen
    rbt_rate_parts parts;
    bool varies;
    double factored_step;                   // H of the factors; 0: none
    unsigned char *constrained, *analysed;  // (node_count)
    double *f, *internal, *moved, *work;    // (node_count x 3)
    double *push, *contact;                 // (node_count x 3, x 9) NULL without obstacles that push
    double *partial;                        // (plan.slot_count x 3)
    rbt_multirate_contact *meeting;         // NULL without contact
    rbt_rest_modes *rest;                   // modes that are integrated exactly; NULL: none
    rbt_state start;                        // of the step, with the velocities of the rest
} multirate;

static void destroy(void *self) {
    multirate *s = self;
    if (!s) return;
    rbt_multirate_contact_free(s->meeting);
    rbt_rest_modes_free(s->rest);
    rbt_rate_parts_free(&s->parts);
    rbt_block_operator_free(s->product);
    rbt_stiffness_free(&s->stiffness);
    rbt_arena_free(s->arena);
    free(s);
}

static bool allocate(multirate *s) {
    const rbt_model *m = s->model;
    double **vectors[] = {&s->f, &s->internal, &s->moved, &s->work};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (!(*vectors[i] = rbt_arena_take(s->arena, 3 * m->node_count, sizeof(double)))) return false;
    if (m->obstacles.count && !m->contact.on &&
        (!(s->push = rbt_arena_take(s->arena, 3 * m->node_count, sizeof(double))) ||
         !(s->contact = rbt_arena_take(s->arena, 9 * m->node_count, sizeof(double)))))
        return false;
    return (s->partial = rbt_arena_take(s->arena, 3 * m->plan.slot_count, sizeof(double))) &&
           (s->constrained = rbt_arena_take(s->arena, m->node_count, 1)) &&
           (s->analysed = rbt_arena_take(s->arena, m->node_count, 1));
}

static bool knows_contact(const rbt_model *model, int solver, rbt_error *error) {
    if (!model->contact.on || solver == 0) return true;
    return rbt_fail_path(error, NULL, "contact",
                         "the solver lu does not know contact, which needs entries of a factor; take cholesky, or "
                         "leave \"contact\" out");
}

static bool make_rest(multirate *s, rbt_error *error) {
    if (!s->options.modes) return true;
    if (s->push)
        return rbt_fail_path(
            error, NULL, "integrator.options.modes",
            "is %d, but obstacles push by a penalty, which modes do not know; put \"contact\" in the "
            "scene, or take 0",
            s->options.modes);
    return (s->rest = rbt_rest_modes_new(s->model, &s->mass, s->options.modes, error)) != NULL;
}

static void *create(const rbt_model *model, int solver, const void *options, rbt_error *error) {
    if (!knows_contact(model, solver, error)) return NULL;
    multirate *s = rbt_array_new(1, sizeof *s, "a stepper", error);
    if (!s) return NULL;
    s->model = model;
    rbt_record_default(&RBT_MULTIRATE_OPTIONS, &s->options);
    if (options) s->options = *(const rbt_multirate_options *)options;
    if (!(s->arena = rbt_arena_new()) || !allocate(s)) {
        rbt_fail_memory(error, 100 * model->node_count, "a stepper");
    } else if (rbt_stiffness_build(&s->stiffness, model, error) &&
               rbt_mass_build(&s->mass, s->arena, model, &s->stiffness.K, error) &&
               (s->product = rbt_block_operator_new(&s->stiffness.K, error))) {
        s->parts = (rbt_rate_parts){.model = model,
                                    .stiffness = &s->stiffness,
                                    .mass = &s->mass,
                                    .unsymmetric = solver == 1,
                                    .averaged = s->options.interpolation == 0};
        rbt_stiffness_assemble(&s->stiffness, model, RBT_TANGENT, model->X);
        s->choice.tempos = model->tempos;
        if ((s->options.regions == 0 || rbt_tempo_choose(&s->choice, s->arena, model, &s->stiffness.K, error)) &&
            (!model->contact.on || (s->meeting = rbt_multirate_contact_new(model, &s->stiffness.K, error))) &&
            make_rest(s, error))
            return s;
    }
    destroy(s);
    return NULL;
}

// ---- The start of a step

static rbt_outcome analyse(multirate *s, const rbt_state *state) {
    rbt_constrained_nodes(s->model, state->t, s->constrained);
    if (s->parts.count && memcmp(s->constrained, s->analysed, s->model->node_count) == 0) return RBT_DONE;
    rbt_rate_parts_free(&s->parts);
    s->factored_step = 0;
    memcpy(s->analysed, s->constrained, s->model->node_count);
    if (rbt_rate_parts_build(&s->parts, &s->choice.tempos, s->constrained, NULL)) {
        if (s->meeting) rbt_multirate_contact_parts(s->meeting, &s->parts);
        return RBT_DONE;
    }
    rbt_rate_parts_free(&s->parts);
    return RBT_OUT_OF_MEMORY;
}

// Whether external forces change between t and t + H other than with the motion
static bool forces_vary(const rbt_model *m, double t, double H) {
    for (size_t i = 0; i < m->loads.node_load_count; i++) {
        const rbt_node_load *load = &m->loads.node_loads[i];
        if (load->pulse ? load->from < t + H && load->until > t
                        : (load->from > t && load->from < t + H) || (load->until > t && load->until < t + H))
            return true;
    }
    for (size_t i = 0; i < m->loads.wind_count; i++)
        if (m->loads.winds[i].def.from < t + H && m->loads.winds[i].def.until > t) return true;
    for (size_t i = 0; i < m->loads.drag_count; i++)
        if (m->loads.drags[i].from < t + H && m->loads.drags[i].until > t) return true;
    return false;
}

// Obstacles, linearised about where the nodes are heading in the long step
static void touch(multirate *s, const rbt_state *state, double H) {
    memset(s->push, 0, 3 * s->model->node_count * sizeof(double));
    rbt_obstacles_meet_from_start(s->model, state, H, NULL, s->f, s->push, s->contact);
}

// K (x - X) and, by the same product, what the old velocity does in a root that moves with averaged velocities: in
// its rows K (x - X + (1 - theta) H v), v being that of the root; what this adds to other rows is taken from them
// again in the sub-cycling.
static void linear_forces(multirate *s, const rbt_state *state) {
    const rbt_rate_part *root = &s->parts.items[0];
    rbt_operator K = rbt_block_operator_of(s->product);
    for (size_t i = 0; i < 3 * s->model->node_count; i++) s->work[i] = state->x[i] - s->model->X[i];
    double way = (1 - root->theta) * root->h;
    for (size_t i = 0; root->theta < 1 && i < root->count; i++)
        for (size_t k = 0, at = 3 * (size_t)root->node[i]; k < 3; k++) s->work[at + k] += way * state->v[at + k];
    K.apply(K.self, s->work, s->internal);
}

static void subtract_interface(const rbt_rate_part *root, rbt_rate_part *p) {
    for (size_t i = 0; i < p->interface.count; i++) {
        const rbt_link *link = &p->interface.items[i];
        const double *v = root->v + 3 * (size_t)p->interface.place[link->column];
        for (size_t r = 0; r < 3; r++)
            p->g[3 * (size_t)link->row + r] -= (1 - root->theta) * root->h * rbt_dot(link->K + 3 * r, v);
    }
}

// Of external forces, what modes get is taken.
static void take_from(const multirate *s, double *f) {
    for (size_t i = 0; s->rest && i < 3 * s->model->node_count; i++) f[i] -= s->rest->taken[i];
}

// `real`: the state with all of its velocities
static rbt_outcome forces(multirate *s, const rbt_state *real, const rbt_state *state, double H) {
    const rbt_model *m = s->model;
    size_t n = 3 * m->node_count;
    rbt_rate_parts_set_step(&s->parts, H);
    rbt_force_external(m, real->t, real->x, real->v, s->f);
    take_from(s, s->f);
    s->varies = s->parts.count > 1 && forces_vary(m, state->t, H);
    if (s->push) touch(s, state, H);
    if (m->linear) {
        linear_forces(s, state);
    } else {
        memset(s->internal, 0, n * sizeof(double));
        rbt_force_elastic(m, state->x, NULL, s->partial, s->internal);
        for (size_t i = 0; i < n; i++) s->internal[i] = -s->internal[i];
    }
    return RBT_DONE;
}

// ---- Matrices

static void gather(const rbt_rate_part *p, size_t each, const double *from, double *to) {
    for (size_t i = 0; i < p->count; i++)
        memcpy(to + each * i, from + each * (size_t)p->node[i], each * sizeof(double));
}

// Whether anything must be condensed again: everything after a change of the step or of the stiffness, and the parts
// whose obstacles changed with all above them
static bool find_stale(multirate *s, double H) {
    bool any = false, all = !s->model->linear || s->factored_step != H;
    for (size_t i = s->parts.count; i-- > 0;) {
        rbt_rate_part *p = &s->parts.items[i];
        p->stale |= all;
        if (s->contact && !p->touches) {
            gather(p, 9, s->contact, p->contact);
            p->stale |= memcmp(p->contact, p->factored_contact, 9 * p->count * sizeof(double)) != 0;
        }
        if (p->stale && i) s->parts.items[p->parent].stale = true;
        any |= p->stale;
    }
    return any;
}

// ---- What the parts start from

// External forces at every instant of a part, for nodes that continue as they do
static void gather_forces(multirate *s, const rbt_state *state, rbt_rate_part *p) {
    const rbt_model *m = s->model;
    size_t n = 3 * p->count;
    gather(p, 3, s->f, p->f);
    for (int64_t k = 1; s->varies && k < p->instants; k++) {
        double later = (double)k * p->h;
        for (size_t i = 0; rbt_loads_follow_motion(&m->loads) && i < 3 * m->node_count; i++)
            s->moved[i] = state->x[i] + later * state->v[i];
        rbt_force_external(m, state->t + later, s->moved, state->v, s->work);
        take_from(s, s->work);
        gather(p, 3, s->work, p->f + (size_t)k * n);
    }
}

static void gather_constrained(const multirate *s, const rbt_state *state, rbt_rate_part *p) {
    p->constrained_moves = false;
    for (size_t i = 0; i < p->constrained.node_count; i++) {
        const double *v = state->v + 3 * (size_t)p->constrained.node[i];
        memcpy(p->constrained_v + 3 * i, v, 3 * sizeof(double));
        memcpy(p->constrained_x + 3 * i, state->x + 3 * (size_t)p->constrained.node[i], 3 * sizeof(double));
        p->constrained_moves |=
            p->constrained.place[i] >= 0 || (s->mass.matrix.value && (v[0] != 0 || v[1] != 0 || v[2] != 0));
    }
}

// K v of a part that moves with interpolated velocities
static void gather_product(multirate *s, rbt_rate_part *p) {
    rbt_operator K = rbt_block_operator_of(s->product);
    memset(s->moved, 0, 3 * s->model->node_count * sizeof(double));
    for (size_t i = 0; i < p->count; i++) memcpy(s->moved + 3 * (size_t)p->node[i], p->v + 3 * i, 3 * sizeof(double));
    K.apply(K.self, s->moved, s->work);
    gather(p, 3, s->work, p->kv);
}

static void gather_part(multirate *s, const rbt_state *state, size_t i) {
    rbt_rate_part *p = &s->parts.items[i];
    gather(p, 3, state->v, p->v);
    gather(p, 3, s->internal, p->g);
    memset(p->total, 0, 3 * p->count * sizeof(double));
    if (p->push && !p->touches) gather(p, 3, s->push, p->push);
    gather_forces(s, state, p);
    gather_constrained(s, state, p);
    if (p->theta < 1 && (i || !s->model->linear)) gather_product(s, p);
    if (s->model->linear && p->parent == 0) subtract_interface(&s->parts.items[0], p);
}

// ---- Matrices of this step

// The obstacles that parts meet in their own steps. Where they are others than before, everything above is condensed
// again.
static rbt_outcome probe(multirate *s, const rbt_state *state, rbt_step_report *report) {
    rbt_subcycling m = {&s->parts, state, s->varies, false};
    gather(&s->parts.items[0], 3, state->v, s->parts.items[0].v);
    for (size_t i = 1; i < s->parts.count; i++) {
        rbt_rate_part *p = &s->parts.items[i];
        if (!p->touches) continue;
        gather_part(s, state, i);
        rbt_outcome outcome = rbt_subcycling_probe(&m, p, report);
        if (outcome != RBT_DONE) return outcome;
        if (!rbt_substep_obstacles_changed(p)) continue;
        p->stale = true;
        if (!s->parts.items[0].stale) rbt_rate_part_assemble(&s->parts, &s->parts.items[0]);
        s->parts.items[0].stale = true;
    }
    return RBT_DONE;
}

static rbt_outcome condense_with(multirate *s, const rbt_state *state, rbt_stiffness_kind kind, double H,
                                 rbt_step_report *report) {
    rbt_rate_parts *parts = &s->parts;
    if (!s->model->linear) rbt_stiffness_assemble(&s->stiffness, s->model, kind, state->x);
    s->factored_step = 0;
    for (size_t i = 0; i < parts->count; i++)
        if (parts->items[i].stale) rbt_rate_part_assemble(parts, &parts->items[i]);
    for (size_t i = parts->count; i-- > 1;) {
        rbt_rate_part *p = &parts->items[i];
        rbt_outcome outcome = p->touches && p->stale ? rbt_rate_part_factor(parts, p, state->x, report) : RBT_DONE;
        if (outcome != RBT_DONE) return outcome;
    }
    rbt_outcome probed = s->push ? probe(s, state, report) : RBT_DONE;
    if (probed != RBT_DONE) return probed;
    for (size_t i = parts->count; i-- > 0;) {
        rbt_rate_part *p = &parts->items[i];
        rbt_outcome outcome = p->stale && !p->touches ? rbt_rate_part_factor(parts, p, state->x, report) : RBT_DONE;
        if (outcome != RBT_DONE) return outcome;
        if (i && parts->items[p->parent].stale && !rbt_subcycling_condense(parts, p)) return RBT_OUT_OF_MEMORY;
    }
    if (!rbt_fused_parts_make(parts)) return RBT_OUT_OF_MEMORY;
    for (size_t i = 0; i < parts->count; i++) parts->items[i].stale = false;
    s->factored_step = H;
    return RBT_DONE;
}

// In scenes with contact, which compresses bodies more than anything else, an indefinite matrix gets the projected
// stiffness.
static rbt_outcome condense(multirate *s, const rbt_state *state, double H, rbt_step_report *report) {
    rbt_outcome outcome = condense_with(s, state, RBT_TANGENT, H, report);
    if (outcome != RBT_NOT_POSITIVE_DEFINITE || !s->meeting || s->model->linear) return outcome;
    report->statistics[RBT_STAT_PROJECTED]++;
    for (size_t i = 0; i < s->parts.count; i++) s->parts.items[i].stale = true;
    return condense_with(s, state, RBT_PROJECTED, H, report);
}

// ---- The sub-cycling

static rbt_outcome subcycle(multirate *s, const rbt_state *state, rbt_step_report *report) {
    for (size_t i = 0; i < s->parts.count; i++) {
        gather_part(s, state, i);
        report->statistics[RBT_STAT_ITERATIONS] += s->parts.items[i].instants;
    }
    rbt_subcycling m = {&s->parts, state, s->varies, false};
    return rbt_subcycling_root(&m) ? RBT_DONE : RBT_OUT_OF_MEMORY;
}

// Velocities of held nodes: those of the last step of the part that they are in. The state's positions are new.
static void set_last_velocities(const multirate *s, rbt_state *state) {
    const rbt_model *m = s->model;
    for (size_t i = 0; s->choice.tempos.count && i < m->motions.node_count; i++) {
        size_t n = (size_t)m->motions.node[i];
        const rbt_rate_part *p = &s->parts.items[s->choice.tempos.node[n] + 1];
        double before[3], t = state->t + (double)(p->instants - 1) * p->h;
        if (!s->constrained[n] || p->instants == 1) continue;
        rbt_motion_position(&m->motions.groups[m->motions.group[i]], m->x0 + 3 * n, t, before);
        for (size_t k = 0; k < 3; k++) state->v[3 * n + k] = (state->x[3 * n + k] - before[k]) / p->h;
    }
}

// Held nodes end where they must be.
static void update_constrained(const multirate *s, rbt_state *state, double H) {
    const rbt_model *m = s->model;
    rbt_constrained_velocities(m, s->constrained, state->t, H, state->x, state->v);
    for (size_t n = 0; n < m->node_count; n++)
        for (size_t k = 3 * n; s->constrained[n] && k < 3 * n + 3; k++) state->x[k] += H * state->v[k];
    set_last_velocities(s, state);
}

// s->moved is the way of the rest in free nodes.
static void add_modes(multirate *s, rbt_state *state, rbt_step_report *report) {
    size_t n = 3 * s->model->node_count;
    for (size_t i = 0; i < n; i++)
        if (s->constrained[i / 3]) s->moved[i] = 0;
    rbt_rest_modes_add(s->rest, false, s->moved, state->v, NULL);
    for (size_t i = 0; i < n; i++) state->x[i] += s->moved[i];
    rbt_rest_modes_remember(s->rest, state, report);
}

static rbt_outcome update(multirate *s, rbt_state *state, double H, rbt_step_report *report) {
    const rbt_model *m = s->model;
    update_constrained(s, state, H);
    for (size_t i = 0; i < s->parts.count; i++) {
        const rbt_rate_part *p = &s->parts.items[i];
        for (size_t k = 0; k < 3 * p->count; k++) {
            size_t at = 3 * (size_t)p->node[k / 3] + k % 3;
            state->v[at] = p->v[k];
            if (s->rest) s->moved[at] = i ? p->total[k] : p->w[k];
            else state->x[at] += i ? p->total[k] : p->w[k];
        }
    }
    if (s->rest) add_modes(s, state, report);
    return rbt_check_motion(m, state, H, report);
}

// ---- With what is in the way

// All parts to the end of the step, J being forces J/H in each of their steps
static bool cycle(void *self, const double *J) {
    multirate *s = self;
    const rbt_state *state = &s->start;
    if (J && s->rest) {
        rbt_rest_modes_split(s->rest, J, s->meeting->reaction);
        J = s->meeting->reaction;
    }
    for (size_t i = 0; i < s->parts.count; i++) {
        rbt_rate_part *p = &s->parts.items[i];
        size_t n = 3 * p->count;
        gather_part(s, state, i);
        for (size_t k = 0; J && k < (s->varies ? (size_t)p->instants : 1) * n; k++)
            p->f[k] += J[3 * (size_t)p->node[k % n / 3] + k % 3] / s->meeting->H;
    }
    rbt_subcycling m = {&s->parts, state, s->varies, false};
    return rbt_subcycling_root(&m);
}

// Behind what modes remember
static rbt_impulse_memory *contact_memory(const multirate *s, const rbt_state *state) {
    if (!s->meeting || !state->memory) return NULL;
    size_t offset = s->options.modes ? rbt_rest_modes_memory(s->model, s->options.modes) : 0;
    return (rbt_impulse_memory *)((char *)state->memory + offset);
}

static rbt_outcome finish(const multirate *s, rbt_state *state, double H, rbt_step_report *report) {
    set_last_velocities(s, state);
    rbt_outcome outcome = rbt_check_motion(s->model, state, H, report);
    if (outcome != RBT_DONE || !state->memory) return outcome;
    rbt_impulses_remember(s->meeting->impulses, state->x, contact_memory(s, state));
    if (s->rest) rbt_rest_modes_remember(s->rest, state, report);
    return outcome;
}

static rbt_outcome meet(multirate *s, rbt_state *state, double H, rbt_stages *stages, rbt_step_report *report) {
    rbt_multirate_contact *c = s->meeting;
    c->parts = &s->parts;
    c->constrained = s->constrained;
    c->H = H;
    c->varies = s->varies;
    c->cycle = cycle;
    c->rest = s->rest;
    c->self = s;
    for (size_t i = 0; i < s->parts.count; i++) report->statistics[RBT_STAT_ITERATIONS] += s->parts.items[i].instants;
    rbt_outcome outcome = rbt_multirate_meet(c, state, stages, report);
    if (outcome != RBT_DONE) return outcome;
    RBT_STAGE("update", finish(s, state, H, report));
    return RBT_DONE;
}

static rbt_outcome attempt(void *self, rbt_state *state, double until, rbt_stages *stages, rbt_step_report *report) {
    multirate *s = self;
    double H = rbt_step_length(s->model, state, until);
    RBT_STAGE("analyse", analyse(s, state));  // parts, orderings and fill, when nodes were released
    s->start = *state;
    if (s->rest) {  // modes, and velocities of the rest
        const rbt_impulse_memory *contact = contact_memory(s, state);
        bool touches = contact && contact->count > 0;
        rbt_outcome outcome = rbt_rest_modes_find(s->rest, state, H, touches, stages, report);
        if (outcome != RBT_DONE) return outcome;
        s->start.v = s->rest->velocity;
    }
    RBT_STAGE("force", forces(s, state, &s->start, H));  // f_ext, dW/dx
    if (find_stale(s, H) || s->push)
        RBT_STAGE("condense", condense(s, &s->start, H, report));  // A + B = L L^T, responses Y, W
    if (s->meeting) return meet(s, state, H, stages, report);
    RBT_STAGE("subcycle", subcycle(s, &s->start, report));  // all parts to the end of the step
    RBT_STAGE("update", update(s, state, H, report));
    return RBT_DONE;
}

static void describe(const void *self, rbt_text *json) {
    const multirate *s = self;
    rbt_text_add(json, "\"parts\": [");
    for (size_t i = 1; i < s->parts.count; i++) {
        const rbt_rate_part *p = &s->parts.items[i];
        rbt_text_add(json, "%s{\"name\": ", i > 1 ? ", " : "");
        rbt_text_add_json(json, s->choice.tempos.items[i - 1].name);
        rbt_text_add(json, ", \"free_nodes\": %zu, \"interface_nodes\": %zu, \"steps\": %lld}", p->count,
                     p->interface.node_count, (long long)p->instants);
    }
    rbt_text_add(json, "]");
    if (s->meeting) {
        rbt_text_add(json, ", ");
        rbt_impulses_describe(s->meeting->impulses, json);
    }
    if (!s->choice.reason) return;
    rbt_text_add(json, ", \"chosen\": ");
    rbt_text_add_json(json, s->choice.reason);
}

// ---- What it tells of contact

rbt_multirate_contact *rbt_multirate_contact_of(const void *self) { return ((const multirate *)self)->meeting; }

static rbt_impulses *impulses_of(const void *self) {
    const multirate *s = self;
    return s->meeting ? s->meeting->impulses : NULL;
}

static size_t memory_size(const rbt_model *m, const void *options) {
    const rbt_multirate_options *own = options;
    size_t modes = own && own->modes ? rbt_rest_modes_memory(m, own->modes) : 0;
    return modes + rbt_impulse_memory_size(m);
}

// Modes start again; work and friction so far stay.
static void forget(void *self, rbt_state *state) {
    const multirate *s = self;
    if (s->rest && state->memory) memset(state->memory, 0, rbt_rest_modes_memory(s->model, s->options.modes));
}

static void set_observer(void *self, const rbt_observer *observer) {
    if (impulses_of(self)) impulses_of(self)->contact->observer = observer;
}
static bool accepts(void *self, const rbt_state *state, char *text, size_t size) {
    return rbt_impulses_accept(impulses_of(self), state, text, size);
}
static double thickness(const void *self) { return rbt_impulses_thickness(impulses_of(self)); }
static double *spent(const void *self, const rbt_state *state) {
    rbt_impulse_memory *memory = contact_memory(self, state);
    return memory ? &memory->work : NULL;
}
static void energies(void *self, const rbt_state *state, rbt_energies *e) {
    if (impulses_of(self)) rbt_impulses_energies(contact_memory(self, state), e);
}
static size_t contacts(void *self, const rbt_state *state, rbt_contact_point *points, size_t capacity) {
    const rbt_impulse_memory *memory = contact_memory(self, state);
    return memory ? rbt_impulses_points(impulses_of(self), memory, state, points, capacity) : 0;
}
static void contact_forces(void *self, const rbt_state *state, double *f) {
    rbt_impulses_forces(impulses_of(self), ((multirate *)self)->model, contact_memory(self, state), state, f);
}
static void give_contact(void *self, const rbt_state *state, rbt_contact_handover *to) {
    rbt_impulses_give(((multirate *)self)->model, contact_memory(self, state), to);
}
static void take_contact(void *self, rbt_state *state, const rbt_contact_handover *from) {
    rbt_impulses_take(((multirate *)self)->model, contact_memory(self, state), from);
}

// ---- The tables

static const char *regions_name(int i) {
    static const char *const NAMES[] = {"given", "auto"};
    return i >= 0 && i < 2 ? NAMES[i] : NULL;
}

static const char *interpolation_name(int i) {
    static const char *const NAMES[] = {"averaged", "end"};
    return i >= 0 && i < 2 ? NAMES[i] : NULL;
}

#define OPTION(member, what) .name = #member, .kind = what, .offset = offsetof(rbt_multirate_options, member)
static const rbt_field FIELDS[] = {
    {OPTION(regions, RBT_CHOICE), .of.names = regions_name,
     .doc = "Which parts take shorter steps: those of the bodies' tempo, or chosen where local frequencies are well "
            "above "
            "the others; run.json tells which and why."},
    {OPTION(interpolation, RBT_CHOICE), .of.names = interpolation_name,
     .doc =
         "How a part with long steps moves where shorter steps continue beside it: by the average of the velocities "
         "that the "
         "others see, so that all agree where the interface between them is, or by its velocity at the end of the "
         "step, as the "
         "paper has it, which drags along what hangs on a stiff interface."},
    {OPTION(modes, RBT_INT), .max = 1000,
     .doc =
         "Slowest modes of the bodies that are integrated exactly, as siere does, while the rest is stepped with its "
         "parts: low modes keep their swinging, and what is stiff or light is sub-cycled. 0: none. With parts of no "
         "body it is siere."},
};
const rbt_record RBT_MULTIRATE_OPTIONS = {"multirate-euler options", "How parts with steps of their own are coupled.",
                                          sizeof(rbt_multirate_options), RBT_FIELDS_WITH_COOKIE(FIELDS)};

rbt_multirate_options rbt_multirate_options_default(void) {
    rbt_multirate_options options;
    rbt_record_default(&RBT_MULTIRATE_OPTIONS, &options);
    return options;
}

static const char *solver_name(int i) { return i == 0 ? "cholesky" : i == 1 ? "lu" : NULL; }

static int labels(const void *self, int32_t *label) {
    const multirate *s = self;
    const int32_t *part = s->choice.tempos.node;
    for (size_t n = 0; n < s->model->node_count; n++) label[n] = part ? part[n] + 1 : 0;
    return RBT_LABEL_RATE_PART;
}

const rbt_method RBT_MULTIRATE_EULER = {
    .name = "multirate-euler",
    .helped = "one solve",
    .alone = "what an impulse does to it is no symmetric matrix, which no minimum has",
    .doc = "backward Euler with shorter steps in chosen parts of a body (tempo), all coupled implicitly",
    .when =
        "a small stiff or light part should swing instead of being damped away, on a body that the long step itself "
        "suits; costs more the larger the part and its interface",
    .order = 1,
    .solvers = solver_name,
    .options = &RBT_MULTIRATE_OPTIONS,
    .create = create,
    .destroy = destroy,
    .attempt = attempt,
    .labels = labels,
    .contact = true,
    .memory_size = memory_size,
    .failure_spares_memory = true,
    .most_attempts = RBT_MOST_ATTEMPTS,
    .forget = forget,
    .set_observer = set_observer,
    .accepts = accepts,
    .thickness = thickness,
    .spent = spent,
    .describe = describe,
    .energies = energies,
    .contacts = contacts,
    .contact_forces = contact_forces,
    .give_contact = give_contact,
    .take_contact = take_contact,
};
