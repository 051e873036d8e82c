#include "step/implicit/other_methods.h"

#include "math/exponential.h"
#include "math/vector.h"
#include "model/force.h"
#include "solve/vectors.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool rbt_other_methods_any(const rbt_model *m) {
    for (size_t b = 0; b < m->body_count; b++)
        if (rbt_body_integrator(m, b)) return true;
    return false;
}

// The first body that is stepped as this one is
static size_t first_alike(const rbt_model *m, size_t body) {
    for (size_t b = 0; b < body; b++) {
        const rbt_body_integrator_def *other = rbt_body_integrator(m, b);
        if (other && rbt_body_integrators_same(other, rbt_body_integrator(m, body))) return b;
    }
    return body;
}

// What free steps are about. Obstacles that are solid push through contact only.
static rbt_model plain_model(const rbt_model *m) {
    rbt_model plain = *m;
    plain.contact.on = false;
    if (m->contact.on) plain.obstacles.count = 0;
    return plain;
}

static size_t own_memory(const rbt_model *plain, const rbt_body_integrator_def *def) {
    const rbt_method *method = rbt_method_at(def->method);
    size_t size = method->memory_size ? method->memory_size(plain, def->options) : 0;
    return (size + sizeof(double) - 1) / sizeof(double) * sizeof(double);
}

size_t rbt_other_methods_memory(const rbt_model *m) {
    rbt_model plain = plain_model(m);
    size_t sum = 0;
    for (size_t b = 0; b < m->body_count; b++)
        if (rbt_body_integrator(m, b) && first_alike(m, b) == b) sum += own_memory(&plain, rbt_body_integrator(m, b));
    return sum;
}

// ---- Life

static bool add_method(rbt_other_methods *o, size_t body, size_t *memory, rbt_error *error) {
    const rbt_model *m = &o->model;
    const rbt_body_integrator_def *def = rbt_body_integrator(m, body);
    rbt_other_method *own = &o->methods[o->count++];
    *own = (rbt_other_method){.method = rbt_method_at(def->method), .options = def->options, .memory = *memory};
    *memory += own_memory(m, def);
    if (!(own->left_out = rbt_arena_take(o->arena, m->node_count, 1)))
        return rbt_fail_memory(error, m->node_count, "methods of bodies");
    memset(own->left_out, 1, m->node_count);
    return (own->self = own->method->create(m, 0, own->options, error)) != NULL;
}

static bool find_methods(rbt_other_methods *o, rbt_error *error) {
    const rbt_model *m = &o->model;
    size_t memory = 0;
    for (size_t b = 0; b < m->body_count; b++) {
        const rbt_body_integrator_def *def = rbt_body_integrator(m, b);
        size_t k = 0;
        if (!def) continue;
        if (first_alike(m, b) == b && !add_method(o, b, &memory, error)) return false;
        const rbt_body_integrator_def *first = rbt_body_integrator(m, first_alike(m, b));
        while (rbt_method_at(first->method) != o->methods[k].method || first->options != o->methods[k].options) k++;
        for (size_t n = m->bodies[b].node_begin; n < m->bodies[b].node_end; n++) {
            o->is_other[n] = 1;
            o->methods[k].left_out[n] = 0;
        }
    }
    return true;
}

static bool allocate(rbt_other_methods *o, const rbt_model *m, const rbt_block_matrix *K) {
    double **vectors[] = {&o->x, &o->v, &o->given, &o->still, &o->away, &o->pull};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (!(*vectors[i] = rbt_arena_take(o->arena, 3 * m->node_count, sizeof(double)))) return false;
    o->A = *K;
    return (o->A.value = rbt_arena_take(o->arena, 9 * K->start[K->row_count], sizeof(double))) &&
           (o->is_other = rbt_arena_take(o->arena, m->node_count, 1)) &&
           (o->methods = rbt_arena_take(o->arena, m->body_count, sizeof *o->methods));
}

rbt_other_methods *rbt_other_methods_new(const rbt_model *m, const rbt_block_matrix *K, rbt_error *error) {
    rbt_other_methods *o = rbt_array_new(1, sizeof *o, "methods of bodies", error);
    if (!o) return NULL;
    o->model = plain_model(m);
    o->arena = rbt_arena_new();
    if (!o->arena || !allocate(o, m, K))
        rbt_fail_memory(error, 9 * K->start[K->row_count] * sizeof(double), "methods of bodies");
    else if (find_methods(o, error)) return o;
    rbt_other_methods_free(o);
    return NULL;
}

static void free_modes(rbt_other_methods *o) {
    double **arrays[] = {&o->P, &o->T, &o->quickening, &o->small, &o->inverse, &o->share, &o->work};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        free(*arrays[i]);
        *arrays[i] = NULL;
    }
    o->capacity = 0;
}

void rbt_other_methods_free(rbt_other_methods *o) {
    if (!o) return;
    for (size_t k = 0; k < o->count; k++)
        if (o->methods[k].self) o->methods[k].method->destroy(o->methods[k].self);
    free_modes(o);
    rbt_arena_free(o->arena);
    free(o);
}

// ---- Where a step begins

// Room for so many modes; that of the first steps lasts.
static bool make_room(rbt_other_methods *o, size_t modes) {
    size_t n = 3 * o->model.node_count;
    if (modes <= o->capacity) return true;
    free_modes(o);
    o->P = rbt_array_new(modes * n, sizeof(double), "modes", NULL);
    o->T = rbt_array_new(modes * n, sizeof(double), "modes", NULL);
    o->quickening = rbt_array_new(modes, sizeof(double), "modes", NULL);
    o->small = rbt_array_new(modes * modes, sizeof(double), "modes", NULL);
    o->inverse = rbt_array_new(modes * modes, sizeof(double), "modes", NULL);
    o->share = rbt_array_new(2 * modes, sizeof(double), "modes", NULL);
    o->work = rbt_array_new(rbt_vectors_work(n, modes, modes), sizeof(double), "modes", NULL);
    if (!o->P || !o->T || !o->quickening || !o->small || !o->inverse || !o->share || !o->work) {
        free_modes(o);
        return false;
    }
    o->capacity = modes;
    return true;
}

static void take_rows(rbt_other_methods *o, const rbt_other_method *own) {
    const rbt_block_matrix *A = own->step.A;
    for (size_t n = 0; n < o->model.node_count; n++) {
        if (own->left_out[n]) continue;
        memcpy(o->x + 3 * n, own->step.x + 3 * n, 3 * sizeof *o->x);
        memcpy(o->v + 3 * n, own->step.v + 3 * n, 3 * sizeof *o->v);
        memcpy(o->given + 3 * n, own->step.given + 3 * n, 3 * sizeof *o->given);
        memcpy(o->A.value + 9 * A->start[n], A->value + 9 * A->start[n],
               9 * (A->start[n + 1] - A->start[n]) * sizeof *A->value);
    }
}

// Columns of P, and what velocities get of them: u = M^-1 q, so that U diag(quickening) Q^T is P's with
// quickening / stiffening between
static void take_modes(rbt_other_methods *o) {
    size_t n = 3 * o->model.node_count;
    o->mode_count = 0;
    for (size_t k = 0; k < o->count; k++) {
        const rbt_free_step *step = &o->methods[k].step;
        for (size_t l = 0; l < step->mode_count; l++) {
            if (!(step->stiffening[l] > 0)) continue;
            double root = sqrt(step->stiffening[l]), *column = o->P + o->mode_count * n;
            for (size_t i = 0; i < n; i++) column[i] = o->methods[k].left_out[i / 3] ? 0 : root * step->Q[l * n + i];
            o->quickening[o->mode_count++] = step->quickening[l] / root;
        }
    }
}

static bool is_touched(const rbt_other_methods *o, const rbt_other_method *own, const rbt_step_contact *c) {
    for (size_t i = 0; c && i < c->active_count; i++)
        for (int k = 0; k < 4; k++) {
            int32_t n = c->active[i].pair.node[k];
            if (n >= 0 && (size_t)n < o->model.node_count && !own->left_out[n]) return true;
        }
    return false;
}

rbt_outcome rbt_other_methods_begin(rbt_other_methods *o, const rbt_state *state, void *memory,
                                    const rbt_step_contact *contact, double until, rbt_stages *stages,
                                    rbt_step_report *report) {
    size_t modes = 0;
    o->h = rbt_step_length(&o->model, state, until);
    o->start = state->x;
    for (size_t k = 0; k < o->count; k++) {
        rbt_other_method *own = &o->methods[k];
        rbt_state part = *state;
        part.memory = memory ? (char *)memory + own->memory : NULL;
        own->part = (rbt_free_part){.left_out = own->left_out, .touched = is_touched(o, own, contact)};
        rbt_outcome outcome = own->method->free_step(own->self, &part, until, &own->part, &own->step, stages, report);
        if (outcome != RBT_DONE) return outcome;
        take_rows(o, own);
        for (size_t l = 0; l < own->step.mode_count; l++) modes += own->step.stiffening[l] > 0;
    }
    if (!make_room(o, modes)) return RBT_OUT_OF_MEMORY;
    take_modes(o);
    return RBT_DONE;
}

// ---- In the minimum

const double *rbt_other_methods_still(const rbt_other_methods *o, const double *z) {
    for (size_t i = 0; i < 3 * o->model.node_count; i++) o->still[i] = o->is_other[i / 3] ? o->start[i] : z[i];
    return o->still;
}

static void find_away(rbt_other_methods *o, const double *z) {
    for (size_t i = 0; i < 3 * o->model.node_count; i++) o->away[i] = o->is_other[i / 3] ? z[i] - o->x[i] : 0;
}

void rbt_other_methods_pull(rbt_other_methods *o, const double *z) {
    size_t n = 3 * o->model.node_count;
    find_away(o, z);
    rbt_block_matrix_product(&o->A, o->away, o->pull);
    if (!o->mode_count) return;
    rbt_vectors_inner(n, o->mode_count, o->P, 1, o->away, o->share, o->work);
    rbt_vectors_combine(n, 1, o->mode_count, o->P, o->mode_count, o->share, 1, 1, o->pull);
}

bool rbt_other_methods_prepare(rbt_other_methods *o, rbt_cholesky *factor) {
    size_t n = 3 * o->model.node_count, k = o->mode_count;
    if (!k) return true;
    if (!rbt_cholesky_solve_many(factor, k, o->P, o->T)) return false;
    rbt_vectors_inner(n, k, o->P, k, o->T, o->small, o->work);
    for (size_t i = 0; i < k * k; i++) o->inverse[i] = i % (k + 1) == 0;
    for (size_t l = 0; l < k; l++) o->small[l * k + l] += 1;
    return rbt_dense_solve(k, o->small, k, o->inverse);  // 1 + P^T T is never singular
}

void rbt_other_methods_correct(const rbt_other_methods *o, double *y) {
    size_t n = 3 * o->model.node_count, k = o->mode_count;
    double *taken = o->share + k;
    if (!k) return;
    rbt_vectors_inner(n, k, o->P, 1, y, o->share, o->work);
    for (size_t l = 0; l < k; l++) {
        taken[l] = 0;
        for (size_t i = 0; i < k; i++) taken[l] += o->inverse[l * k + i] * o->share[i];
    }
    rbt_vectors_combine(n, -1, k, o->T, k, taken, 1, 1, y);
}

// ---- Where it ends

// w = v^ + (z - x^)/h + sum of quickening_l u_l q_l^T (z - x^)
void rbt_other_methods_velocities(rbt_other_methods *o, const double *z, double *v) {
    size_t n = 3 * o->model.node_count, mode = 0;
    find_away(o, z);
    for (size_t i = 0; i < n; i++)
        if (o->is_other[i / 3]) v[i] = o->v[i] + o->away[i] / o->h;
    if (!o->mode_count) return;
    rbt_vectors_inner(n, o->mode_count, o->P, 1, o->away, o->share, o->work);
    for (size_t k = 0; k < o->count; k++) {
        const rbt_other_method *own = &o->methods[k];
        for (size_t l = 0; l < own->step.mode_count; l++) {
            if (!(own->step.stiffening[l] > 0)) continue;
            double share = o->quickening[mode] * o->share[mode];
            const double *u = own->step.U + l * n;
            mode++;
            for (size_t i = 0; i < n; i++)
                if (!own->left_out[i / 3]) v[i] += share * u[i];
        }
    }
}

// ---- Energy

// Of what these bodies have and get: what one linearisation may miss, as for impulses
static const double MAX_GAIN = 0.25;

// Elastic energy with these nodes at x and the others at x0, where they add a constant
static double elastic(const rbt_other_methods *o, const double *x, const double *x0, rbt_sum *energies) {
    for (size_t i = 0; i < 3 * o->model.node_count; i++) o->still[i] = (o->is_other[i / 3] ? x : x0)[i];
    return rbt_energy_elastic(&o->model, o->still, energies);
}

rbt_outcome rbt_other_methods_check(rbt_other_methods *o, const rbt_state *end, const double *x0, const double *v0,
                                    const double *push, rbt_sum *energies, rbt_step_report *report) {
    const rbt_model *m = &o->model;
    double work = 0, given = 0, before = 0, after = 0, *force = o->pull;
    bool pushed = false;
    if (m->motions.node_count) return RBT_DONE;  // whose work is not known here: the energy watch has to do
    rbt_force_external(m, end->t, x0, v0, force);
    for (size_t i = 0; i < 3 * m->node_count; i++) {
        if (!o->is_other[i / 3]) continue;
        pushed |= push[i] != 0;
        work += force[i] * (end->x[i] - x0[i]);
        given += push[i] * (end->x[i] - x0[i]);
        before += 0.5 * m->mass[i / 3] * v0[i] * v0[i];
        after += 0.5 * m->mass[i / 3] * end->v[i] * end->v[i];
    }
    if (!pushed) return RBT_DONE;
    double rest = elastic(o, m->X, x0, energies);
    before += elastic(o, x0, x0, energies) - rest;
    after += elastic(o, end->x, x0, energies) - rest;
    double gained = after - before - work - given;
    if (gained <= MAX_GAIN * (before + fabs(work) + fabs(given))) return RBT_DONE;
    if (!isfinite(after) && rbt_report_inverted(report, m, end->x)) return RBT_INVERTED;
    report->body = report->element = -1;
    report->element_kind = NULL;
    report->value = gained;
    snprintf(report->hint, sizeof report->hint,
             "the step at %g s would give bodies by %s %.3g J that nothing has: an impact or a turn is too much for "
             "one linearisation; take a smaller step, or backward-euler for all bodies",
             end->t, o->methods[0].method->name, gained);
    return RBT_NOT_CONVERGED;
}
