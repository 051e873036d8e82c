#include "step/core/step_control.h"

#include "math/vec3.h"
#include "model/force.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double AIM = 0.8;           // of what a step may make
static const double JUMP = 0.02;         // of the whole error, at one place
static const double JUMP_SHORTER = 8;    // than the step before
static const double GROW = 2;            // at most; variable BDF2 is stable below 1 + sqrt(2)
static const double SHRINK = 0.1;        // at most
static const double FIRST = 1.0 / 1024;  // of a frame
// What the solver leaves may misplace nodes by this share of what a step may make; its own tolerance, by about 2e-3 of
// what the step's forces move them.
static const double SOLVER_SHARE = 0.05, SOLVER_TOLERANCE = 2e-3, FINEST = 1e-6;

size_t rbt_step_memory_size(const rbt_model *m) {
    return sizeof(rbt_step_memory) + 6 * m->node_count * sizeof(double);
}

static const double *velocities(const rbt_step_memory *memory) { return (const double *)(memory + 1); }

bool rbt_step_control_init(rbt_step_control *c, const rbt_model *m, rbt_error *error) {
    *c = (rbt_step_control){.on = true,
                            .error = m->asked.error,
                            .length = fmax(1, (double)m->frame_count) * m->frame_interval,
                            .shortest = m->asked.shortest,
                            .longest = m->frame_interval};
    c->sizes = rbt_array_new(m->body_count, sizeof *c->sizes, "steps by error", error);
    c->ex = rbt_array_new(m->node_count, 3 * sizeof *c->ex, "steps by error", error);
    c->ev = rbt_array_new(m->node_count, 3 * sizeof *c->ev, "steps by error", error);
    c->constrained = rbt_array_new(m->node_count, 1, "steps by error", error);
    if (!c->sizes || !c->ex || !c->ev || !c->constrained) {
        rbt_step_control_free(c);
        return false;
    }
    double all = rbt_model_diagonal(m);
    for (size_t b = 0; b < m->body_count; b++) {
        double across[3];
        rbt_subtract(m->bodies[b].box_max, m->bodies[b].box_min, across);
        double size = rbt_length(across);
        c->sizes[b] = size > 0 ? size : all > 0 ? all : 1;  // a body of one node
    }
    return true;
}

void rbt_step_control_free(rbt_step_control *c) {
    free(c->sizes);
    free(c->ex);
    free(c->ev);
    free(c->constrained);
    *c = (rbt_step_control){0};
}

// The last two steps before a stop are equal, so that none is much shorter than its neighbours.
double rbt_step_control_plan(const rbt_step_control *c, const rbt_step_memory *memory, double left) {
    double h = memory->next > 0 ? memory->next : FIRST * c->longest;
    h = fmin(fmax(h, c->shortest), c->longest);
    if (h >= left * (1 - 1e-9)) return left;
    return h > 0.5 * left ? 0.5 * left : h;
}

int rbt_step_control_estimate(rbt_step_control *c, const rbt_step_memory *memory, const rbt_model *m,
                              const rbt_state *state, const double *v, double h, int order, double constant) {
    const double *before = velocities(memory), *earlier = before + 3 * m->node_count;
    double h1 = memory->last, h2 = memory->before, known = (double)memory->known;
    if (order > 1 && memory->known < 1) order = 1, constant = 0.5;
    double x_factor = constant * pow(h, order + 1), v_factor = x_factor * (order == 1 ? 2 : 6);
    for (size_t i = 0; i < 3 * m->node_count; i++) {
        double d1 = (state->v[i] - v[i]) / h, d2 = 0, d3 = 0;
        if (known >= 1) d2 = (d1 - (v[i] - before[i]) / h1) / (h + h1);
        if (known >= 2)
            d3 = (d2 - ((v[i] - before[i]) / h1 - (before[i] - earlier[i]) / h2) / (h1 + h2)) / (h + h1 + h2);
        c->ex[i] = x_factor * (order == 1 ? d1 : 2 * d2);
        c->ev[i] = v_factor * (order == 1 ? d2 : d3);
    }
    return order;
}

double rbt_step_control_ratio(rbt_step_control *c, const rbt_step_memory *memory, const rbt_model *m, double t,
                              double h) {
    double largest = 0, s = memory->span;
    rbt_constrained_nodes(m, t, c->constrained);
    for (size_t n = 0; n < m->node_count; n++) {
        if (c->constrained[n]) continue;
        const double *ex = c->ex + 3 * n, *ev = c->ev + 3 * n;
        double size = c->sizes[m->node_body[n]], e = (rbt_dot(ex, ex) + s * s * rbt_dot(ev, ev)) / (size * size);
        if (!(e <= largest)) largest = e;  // and what is no number
    }
    return sqrt(largest) / (c->error * h / c->length);
}

// May a jump's error be made here?
static bool is_jump(const rbt_step_control *c, const rbt_step_memory *memory, double ratio, double h) {
    bool shortened = memory->last > 0 && h * JUMP_SHORTER <= memory->last;
    return (shortened || !memory->known) && ratio * h / c->length <= JUMP;
}

rbt_step_verdict rbt_step_control_judge(const rbt_step_control *c, const rbt_step_memory *memory, double ratio,
                                        double h, int order, bool cut_short) {
    double factor = ratio > 0 ? pow(AIM / ratio, 1.0 / order) : GROW;
    rbt_step_verdict v = {.accepted = true, .why = cut_short ? "stop" : "error"};
    if (!(ratio <= 1)) {
        if (is_jump(c, memory, ratio, h)) v.why = memory->known ? "jump" : "start";
        else if (h <= c->shortest * (1 + 1e-9)) v.why = "floor";
        else {
            v.accepted = false;
            v.next = h * (factor > SHRINK ? fmin(factor, 0.9) : SHRINK);  // also where it is no number
            v.next = fmax(v.next, c->shortest);
            return v;
        }
        factor = fmin(fmax(factor, 0.5), 1);
    }
    v.next = h * fmin(factor, GROW);
    // A step that ended at a stop says nothing against the length that was planned.
    if (cut_short && memory->next > v.next) v.next = fmin(memory->next, h * factor);
    v.next = fmin(fmax(v.next, c->shortest), c->longest);
    return v;
}

// s, and how fine the next solve must be
static void measure(const rbt_step_control *c, rbt_step_memory *memory, const rbt_model *m, const rbt_state *state,
                    const double *v, double t, double h) {
    double moved = 0, pushed = 0, most = 0;
    for (size_t n = 0; n < m->node_count; n++) {
        const double *now = state->v + 3 * n;
        double change[3];
        rbt_subtract(now, v + 3 * n, change);
        moved += m->mass[n] * rbt_dot(now, now);
        pushed += m->mass[n] * rbt_dot(change, change);
        most = fmax(most, rbt_length(change) / c->sizes[m->node_body[n]]);
    }
    memory->moved += h * moved;
    memory->pushed += pushed / h;
    double since = t + h, span = memory->pushed > 0 ? fmin(since, sqrt(memory->moved / memory->pushed)) : since;
    memory->span = fmax(memory->span, span);
    double allowed = SOLVER_SHARE * c->error * h / c->length, left = SOLVER_TOLERANCE * h * most;
    memory->precision = left > allowed ? fmax(FINEST, allowed / left) : 1;
}

void rbt_step_control_remember(const rbt_step_control *c, rbt_step_memory *memory, const rbt_model *m,
                               const rbt_state *state, const double *v, double t, double h,
                               const rbt_step_verdict *verdict, double ratio) {
    size_t values = 3 * m->node_count;
    double *before = (double *)(memory + 1), *earlier = before + values;
    bool again = strcmp(verdict->why, "jump") == 0;  // what was before it says nothing of what comes
    memcpy(earlier, before, values * sizeof(double));
    memcpy(before, v, values * sizeof(double));
    memory->before = memory->last;
    memory->last = h;
    memory->known = again ? 1 : memory->known < 2 ? memory->known + 1 : 2;
    memory->next = verdict->next;
    measure(c, memory, m, state, v, t, h);
    if (strcmp(verdict->why, "floor") != 0) return;
    memory->floor_steps++;
    memory->floor_worst = fmax(memory->floor_worst, ratio);
}
