#include "step/linearised/linearised.h"

#include "base/threads.h"
#include "model/linear_obstacle.h"
#include "step/linearised/linearised_contact.h"

#include <math.h>
#include <string.h>

void rbt_linearised_free(rbt_linearised *s) {
    rbt_impulses_free(s->impulses);
    rbt_linear_free(&s->linear);
    rbt_stiffness_free(&s->stiffness);
    rbt_arena_free(s->arena);
    *s = (rbt_linearised){0};
}

static bool allocate(rbt_linearised *s, const rbt_model *m) {
    size_t values = 3 * m->node_count;
    double **vectors[] = {&s->f, &s->rhs, &s->dv, &s->moved, &s->product, &s->inertia};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (!(*vectors[i] = rbt_arena_take(s->arena, values, sizeof(double)))) return false;
    if (m->contact.on && !(s->pushed = rbt_arena_take(s->arena, values, sizeof(double)))) return false;
    if (m->obstacles.count && !m->contact.on &&
        (!(s->contact = rbt_arena_take(s->arena, 9 * m->node_count, sizeof(double))) ||
         !(s->push = rbt_arena_take(s->arena, values, sizeof(double)))))
        return false;
    if (m->linear && !(s->work = rbt_arena_take(s->arena, 2 * values, sizeof(double)))) return false;
    s->A = s->stiffness.K;
    return (s->partial = rbt_arena_take(s->arena, 3 * m->plan.slot_count, sizeof(double))) &&
           (s->A.value = rbt_arena_take(s->arena, 9 * s->A.start[s->A.row_count], sizeof(double))) &&
           (s->constrained = rbt_arena_take(s->arena, m->node_count, 1));
}

bool rbt_linearised_init(rbt_linearised *s, const rbt_model *model, int kind, int subdomains, rbt_error *error) {
    *s = (rbt_linearised){.model = model, .arena = rbt_arena_new()};
    if (!s->arena || !rbt_stiffness_build(&s->stiffness, model, error)) {
        rbt_linearised_free(s);
        return false;
    }
    if (model->contact.on && kind != RBT_LINEAR_CHOLESKY) {
        rbt_linearised_free(s);
        return rbt_fail_path(
            error, NULL, "contact",
            "the solver %s does not know contact, which needs entries of a factor; take cholesky, or "
            "leave \"contact\" out",
            rbt_linear_name(kind));
    }
    if (model->linear) rbt_stiffness_assemble(&s->stiffness, model, RBT_TANGENT, model->X);
    if (!allocate(s, model)) rbt_fail_memory(error, rbt_arena_bytes(s->arena), "a stepper");
    else if (rbt_mass_build(&s->mass, s->arena, model, &s->stiffness.K, error) &&
             rbt_linear_init_kind(&s->linear, model, &s->A, kind, subdomains, error) &&
             (!model->contact.on || (s->impulses = rbt_impulses_new(model, &s->A, error))))
        return true;
    rbt_linearised_free(s);
    return false;
}

void rbt_linearised_constrain(rbt_linearised *s, double t) {
    rbt_constrained_nodes(s->model, t, s->constrained);
    for (size_t n = 0; s->left_out && n < s->model->node_count; n++)
        if (s->left_out[n]) s->constrained[n] = 1;
}

rbt_outcome rbt_linearised_forces(rbt_linearised *s, const rbt_state *state, double h) {
    const rbt_model *m = s->model;
    rbt_linearised_constrain(s, state->t);
    rbt_force_external(m, state->t, state->x, state->v, s->f);
    if (s->contact) {
        memcpy(s->push, s->f, 3 * m->node_count * sizeof(double));
        rbt_obstacles_meet(m, state, h, s->f, s->contact);
        for (size_t i = 0; i < 3 * m->node_count; i++) s->push[i] = s->f[i] - s->push[i];
    }
    if (!m->linear) rbt_force_elastic(m, state->x, NULL, s->partial, s->f);
    else rbt_force_linear(m, &s->stiffness.K, state->x, s->work, s->f);
    return RBT_DONE;
}

rbt_outcome rbt_linearised_analyse(rbt_linearised *s) {
    bool changed;
    rbt_outcome outcome = rbt_linear_analyse(&s->linear, s->constrained, &changed);
    if (changed) s->factored_step = 0;
    return outcome;
}

bool rbt_linearised_stale(const rbt_linearised *s, double h) {
    return !s->model->linear || s->contact || s->factored_step != h;
}

rbt_outcome rbt_linearised_assemble(rbt_linearised *s, const rbt_state *state, rbt_stiffness_kind kind, double h) {
    const rbt_model *m = s->model;
    s->factored_step = 0;
    if (!m->linear) rbt_stiffness_assemble(&s->stiffness, m, kind, state->x);
    const rbt_block_matrix *K = &s->stiffness.K;
#pragma omp parallel for schedule(static) if (m->node_count >= RBT_PARALLEL_FROM)
    for (size_t n = 0; n < m->node_count; n++) {
        double scale = rbt_stiffness_factor(m, n, h), *diagonal = s->A.value + 9 * (K->start[n + 1] - 1);
        for (size_t i = 9 * K->start[n]; i < 9 * K->start[n + 1]; i++) s->A.value[i] = scale * K->value[i];
        rbt_mass_add_row(&s->mass, n, rbt_mass_factor(m, n, h), &s->A);
        if (s->contact) rbt_obstacle_stiffen(diagonal, h * h, s->contact + 9 * n);
    }
    return RBT_DONE;
}

rbt_outcome rbt_linearised_factor(rbt_linearised *s, const rbt_state *state, double h, rbt_step_report *report) {
    rbt_outcome outcome = rbt_linear_factor(&s->linear, state->x, report);
    s->factored_step = outcome == RBT_DONE ? h : 0;
    return outcome;
}

void rbt_linearised_right(rbt_linearised *s, const rbt_state *state, double h) {
    const rbt_model *m = s->model;
    size_t values = 3 * m->node_count;
    // moved = v, with the new velocity in constrained nodes: v + dv_constrained
    memcpy(s->moved, state->v, values * sizeof(double));
    rbt_constrained_velocities(m, s->constrained, state->t, h, state->x, s->moved);
    rbt_block_matrix_product(&s->stiffness.K, s->moved, s->product);
    // inertia = M (h alpha v + (1 + h alpha) dv_constrained)
    for (size_t i = 0; i < values; i++) {
        double factor_of_mass = rbt_mass_factor(m, i / 3, h);
        s->dv[i] = (factor_of_mass - 1) * state->v[i] + factor_of_mass * (s->moved[i] - state->v[i]);
    }
    rbt_mass_product(&s->mass, s->dv, s->inertia);
    for (size_t i = 0; i < values; i++)
        s->rhs[i] = s->constrained[i / 3]
                        ? 0
                        : h * s->f[i] - s->inertia[i] - rbt_stiffness_factor(m, i / 3, h) * s->product[i];
}

rbt_outcome rbt_linearised_solve(rbt_linearised *s, rbt_step_report *report) {
    rbt_outcome outcome = rbt_linear_solve(&s->linear, s->rhs, s->dv, report);
    if (outcome != RBT_DONE) return outcome;
    rbt_block_matrix_product(&s->A, s->dv, s->product);
    for (size_t i = 0; i < 3 * s->model->node_count; i++)
        s->product[i] = s->constrained[i / 3] ? 0 : s->product[i] - s->rhs[i];
    double error = rbt_ranks_dot(s->model, s->product, s->product), size = rbt_ranks_dot(s->model, s->rhs, s->rhs);
    report->statistics[RBT_STAT_RESIDUAL] = size > 0 ? sqrt(error / size) : 0;
    return RBT_DONE;
}

// In scenes with contact, which compresses bodies more than anything else, an indefinite matrix gets the projected
// stiffness, as siere has it; and beside bodies of other methods, whose step needs a minimum.
static rbt_outcome factor_or_project(rbt_linearised *s, const rbt_state *state, double h, rbt_step_report *report) {
    rbt_outcome outcome = rbt_linearised_factor(s, state, h, report);
    if (outcome != RBT_NOT_POSITIVE_DEFINITE || !(s->impulses || s->left_out)) return outcome;
    report->statistics[RBT_STAT_PROJECTED]++;
    rbt_linearised_assemble(s, state, RBT_PROJECTED, h);
    return rbt_linearised_factor(s, state, h, report);
}

static rbt_outcome right_and_solve(rbt_linearised *s, const rbt_state *state, double h, rbt_step_report *report) {
    rbt_linearised_right(s, state, h);
    return rbt_linearised_solve(s, report);
}

static rbt_outcome update(const rbt_linearised *s, rbt_state *state, double h, rbt_step_report *report) {
    for (size_t i = 0; i < 3 * s->model->node_count; i++) {
        state->v[i] = s->constrained[i / 3] ? s->moved[i] : state->v[i] + s->dv[i];
        state->x[i] += h * state->v[i];
    }
    return rbt_check_motion(s->model, state, h, report);
}

// Everything up to the factor
static rbt_outcome prepare(rbt_linearised *s, const rbt_state *state, double h, rbt_stages *stages,
                           rbt_step_report *report) {
    RBT_STAGE("force", rbt_linearised_forces(s, state, h));  // f = f_ext - dW/dx
    RBT_STAGE("analyse", rbt_linearised_analyse(s));         // ordering and fill, when nodes were released
    if (rbt_linearised_stale(s, h)) {
        RBT_STAGE("assemble", rbt_linearised_assemble(s, state, RBT_TANGENT, h));  // K(x), A = M + h D + h^2 K
        RBT_STAGE("factor", factor_or_project(s, state, h, report));               // A = L L^T
    }
    return RBT_DONE;
}

rbt_outcome rbt_linearised_free_step(rbt_linearised *s, const rbt_state *state, double h, const rbt_free_part *part,
                                     rbt_free_step *step, rbt_stages *stages, rbt_step_report *report) {
    s->left_out = part->left_out;
    rbt_outcome outcome = prepare(s, state, h, stages, report);
    if (outcome != RBT_DONE) return outcome;
    RBT_STAGE("solve", right_and_solve(s, state, h, report));
    for (size_t i = 0; i < 3 * s->model->node_count; i++) {
        s->dv[i] = s->constrained[i / 3] ? s->moved[i] : state->v[i] + s->dv[i];
        s->product[i] = state->x[i] + h * s->dv[i];
    }
    *step = (rbt_free_step){.x = s->product, .v = s->dv, .given = s->rhs, .A = &s->A};
    return RBT_DONE;
}

rbt_outcome rbt_linearised_attempt(rbt_linearised *s, rbt_state *state, double until, rbt_impulse_memory *memory,
                                   rbt_stages *stages, rbt_step_report *report) {
    double h = rbt_step_length(s->model, state, until);
    rbt_outcome outcome = prepare(s, state, h, stages, report);
    if (outcome != RBT_DONE) return outcome;
    if (s->impulses) return rbt_linearised_meet(s, state, h, memory, stages, report);
    RBT_STAGE("solve", right_and_solve(s, state, h, report));  // A dv = h (f - D v - h K v)
    RBT_STAGE("update", update(s, state, h, report));          // v += dv, x += h v
    return RBT_DONE;
}

int rbt_linearised_error_law(const void *self, double ratio, double *constant) {
    (void)self, (void)ratio;
    *constant = 0.5;
    return 1;
}

const double *rbt_linearised_add_missed(rbt_linearised *s, const rbt_state *state, double h, const double *dx,
                                        double *ev) {
    const rbt_model *m = s->model;
    double *F = s->rhs;
    rbt_force_external(m, state->t + h, state->x, state->v, F);
    if (!m->linear) rbt_force_elastic(m, state->x, NULL, s->partial, F);
    else rbt_force_linear(m, &s->stiffness.K, state->x, s->work, F);
    rbt_block_matrix_product(&s->stiffness.K, dx, s->product);
    for (size_t i = 0; i < 3 * m->node_count; i++) {
        double r = F[i] - (s->f[i] - (s->push ? s->push[i] : 0)) + s->product[i], mass = m->mass[i / 3];
        if (mass > 0 && !s->constrained[i / 3]) ev[i] -= h * r / mass;
    }
    return F;
}
