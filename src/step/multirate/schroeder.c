// The asynchronous scheme of Schroeder, Kwatra, Zheng and Fedkiw (2011), as Zhao, Li and Barbic (2016) describe and
// compare it (their Fig. 9): a part (model/tempo.h) that takes m steps of length h in each step H of the rest goes
// through m - 1 of them as if the rest were not there, with its own elements only, explicit in their forces and
// implicit in damping; the rest stays behind in time,
//   (M + h D) v+ = M v + h (f_ext - dW_own/dx),   x += h v+.
// Its last step is coupled with the one step of the rest, in one backward Euler solve in which every node i has its
// own step h_i:
//   M_i (v+_i - v_i) = h_i [f_ext - dW/dx - K (h_j v+_j) - D v+]_i,   x_i += h_i v+_i.
// In terms of the ways h_i v+_i its matrix M / h_i^2 + K is symmetric. Damping between nodes of different steps takes
// their old velocities.
//
// What it loses: elements between part and rest pull on the part for h of every H only, so they are m times too soft
// for it, while the rest feels them all the time: momentum is not kept. The part's steps must be stable explicit
// ones, and what the interface does to it comes in jerks of h K x every H, which needs h H K / M < 4: a stiff
// interface throws a light part off. Schroeder's filter, which spreads forces on the interface as rigid ones, is left
// out.
#include "math/vec3.h"
#include "model/force.h"
#include "model/linear_obstacle.h"
#include "model/mass.h"
#include "model/stiffness.h"
#include "solve/cholesky.h"
#include "step/core/linear.h"
#include "step/core/method.h"
#include "step/explicit/stability.h"

#include <stdio.h>
#include <string.h>

typedef struct island {  // a part without the rest
    rbt_model own;       // node_count, groups, plan of its elements; numbers of nodes are the model's
    int64_t steps;       // in each long one
    double h;
    rbt_stiffness stiffness;  // with damping of stiffness: of its elements
    rbt_block_matrix A;       // (1 + h alpha) M + h beta K
    rbt_cholesky *factor;
    unsigned char *keep;  // (node_count) rows of the factor
    double *partial;      // (plan.slot_count x 3)
} island;

typedef struct schroeder {
    const rbt_model *model;
    rbt_arena *arena;
    rbt_stiffness stiffness;
    rbt_block_matrix A;
    rbt_linear linear;
    size_t island_count;
    island *islands;                          // those that take more than one step
    double *h;                                // (node_count) each node's step
    double factored_step;                     // H of the factors; 0: none
    unsigned char *constrained;               // (node_count)
    double *f, *rhs, *way, *moved, *product;  // (node_count x 3)
    double *contact;                          // (node_count x 9) NULL without obstacles
    double *partial;                          // (plan.slot_count x 3)
    bool judged;                              // what follows is known
    int unstable;                             // a part whose steps are too long; -1: none
    double bound;                             // for its steps [s]
} schroeder;

static void destroy(void *self) {
    schroeder *s = self;
    if (!s) return;
    for (size_t i = 0; i < s->island_count; i++) {
        rbt_cholesky_free(s->islands[i].factor);
        rbt_stiffness_free(&s->islands[i].stiffness);
    }
    rbt_linear_free(&s->linear);
    rbt_stiffness_free(&s->stiffness);
    rbt_arena_free(s->arena);
    free(s);
}

// ---- Islands

static int part_of(const schroeder *s, size_t node) {
    return s->model->tempos.count ? s->model->tempos.node[node] : -1;
}

static int64_t steps_of(const rbt_tempos *tempos, int part) {
    return part < 0 ? 1 : tempos->items[part].substeps * steps_of(tempos, tempos->items[part].parent);
}

// Elements all of whose nodes are in the part; returns how many.
static size_t own_elements(const schroeder *s, const rbt_group *group, int part, int32_t *elements) {
    size_t corners = (size_t)group->type->corners, count = 0;
    for (size_t e = 0; e < group->count; e++) {
        bool inside = true;
        for (size_t a = 0; a < corners; a++) inside &= part_of(s, (size_t)group->nodes[corners * e + a]) == part;
        if (inside) elements[count++] = (int32_t)e;
    }
    return count;
}

static bool damps_stiffness(const rbt_model *m, int part) {
    return m->bodies[m->tempos.items[part].body].damping.stiffness > 0;
}

static bool build_island(schroeder *s, island *own, int part, const int32_t *number, int32_t *elements,
                         rbt_error *error) {
    const rbt_model *m = s->model;
    rbt_group *groups = rbt_arena_take(s->arena, m->group_count, sizeof *groups);
    own->own = (rbt_model){.node_count = m->node_count, .groups = groups, .linear = m->linear};
    own->steps = steps_of(&m->tempos, part);
    if (!groups) return rbt_fail_memory(error, m->group_count * sizeof *groups, "a stepper");
    for (size_t g = 0; g < m->group_count; g++) {
        size_t count = own_elements(s, &m->groups[g], part, elements);
        if (count &&
            !rbt_group_part(&m->groups[g], s->arena, elements, count, number, &groups[own->own.group_count++], error))
            return false;
    }
    if (!rbt_plan_build(&own->own.plan, s->arena, groups, own->own.group_count, m->node_count, error)) return false;
    own->partial = rbt_arena_take(s->arena, 3 * own->own.plan.slot_count, sizeof(double));
    if (!own->partial) return rbt_fail_memory(error, own->own.plan.slot_count, "a stepper");
    if (!damps_stiffness(m, part)) return true;
    if (!rbt_stiffness_build(&own->stiffness, &own->own, error)) return false;
    own->A = own->stiffness.K;
    own->A.value = rbt_arena_take(s->arena, 9 * own->A.start[m->node_count], sizeof(double));
    own->keep = rbt_arena_take(s->arena, m->node_count, 1);
    return (own->A.value && own->keep) || rbt_fail_memory(error, own->A.start[m->node_count], "a stepper");
}

static bool build_islands(schroeder *s, rbt_error *error) {
    const rbt_model *m = s->model;
    size_t most = 1;
    for (size_t g = 0; g < m->group_count; g++) most = m->groups[g].count > most ? m->groups[g].count : most;
    int32_t *number = rbt_array_new(m->node_count, sizeof *number, "a stepper", error);
    int32_t *elements = rbt_array_new(most, sizeof *elements, "a stepper", error);
    bool good = number && elements && (s->islands = rbt_arena_take(s->arena, m->tempos.count, sizeof *s->islands));
    for (size_t n = 0; good && n < m->node_count; n++) number[n] = (int32_t)n;
    s->island_count = good ? m->tempos.count : 0;
    for (size_t i = 0; good && i < s->island_count; i++)
        good = build_island(s, &s->islands[i], (int)i, number, elements, error);
    free(number);
    free(elements);
    return good;
}

static bool allocate(schroeder *s) {
    const rbt_model *m = s->model;
    double **vectors[] = {&s->f, &s->rhs, &s->way, &s->moved, &s->product};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (!(*vectors[i] = rbt_arena_take(s->arena, 3 * m->node_count, sizeof(double)))) return false;
    if (m->obstacles.count && !(s->contact = rbt_arena_take(s->arena, 9 * m->node_count, sizeof(double))))
        return false;
    s->A = s->stiffness.K;
    return (s->partial = rbt_arena_take(s->arena, 3 * m->plan.slot_count, sizeof(double))) &&
           (s->A.value = rbt_arena_take(s->arena, 9 * s->A.start[m->node_count], sizeof(double))) &&
           (s->h = rbt_arena_take(s->arena, m->node_count, sizeof(double))) &&
           (s->constrained = rbt_arena_take(s->arena, m->node_count, 1));
}

static void *create(const rbt_model *model, int solver, const void *options, rbt_error *error) {
    (void)solver, (void)options;
    for (size_t b = 0; b < model->body_count; b++)
        if (model->bodies[b].consistent_mass) {
            rbt_fail_path(error, NULL, "bodies",
                          "\"%s\" has a consistent mass, but schroeder needs a mass per node; set consistent_mass to "
                          "false or take "
                          "multirate-euler",
                          model->bodies[b].name);
            return NULL;
        }
    schroeder *s = rbt_array_new(1, sizeof *s, "a stepper", error);
    if (!s) return NULL;
    s->model = model;
    if (!(s->arena = rbt_arena_new())) {
        rbt_fail_memory(error, sizeof *s, "a stepper");
    } else if (rbt_stiffness_build(&s->stiffness, model, error)) {
        rbt_stiffness_assemble(&s->stiffness, model, RBT_TANGENT, model->X);
        if (!allocate(s)) rbt_fail_memory(error, 100 * model->node_count, "a stepper");
        else if (build_islands(s, error) && rbt_linear_init(&s->linear, model, &s->A, false, error)) return s;
    }
    destroy(s);
    return NULL;
}

// ---- Steps of a part by itself

// Driven nodes of a part, which are at their positions of time t, go to those of t + h.
static void drive(const schroeder *s, int part, double t, double h, rbt_state *state) {
    const rbt_model *m = s->model;
    for (size_t i = 0; i < m->motions.node_count; i++) {
        size_t n = (size_t)m->motions.node[i];
        double target[3];
        if (!s->constrained[n] || part_of(s, n) != part) continue;
        rbt_motion_position(&m->motions.groups[m->motions.group[i]], m->x0 + 3 * n, t + h, target);
        for (size_t k = 0; k < 3; k++) state->v[3 * n + k] = (target[k] - state->x[3 * n + k]) / h;
    }
}

static rbt_outcome factor_island(schroeder *s, island *own, int part, const rbt_state *state,
                                 rbt_step_report *report) {
    const rbt_model *m = s->model;
    const rbt_damping_def *damping = &m->bodies[m->tempos.items[part].body].damping;
    size_t row = 0;
    bool analysed = own->factor != NULL;
    for (size_t n = 0; n < m->node_count; n++) {
        unsigned char keep = !s->constrained[n] && part_of(s, n) == part;
        analysed &= own->keep[n] == keep;
        own->keep[n] = keep;
    }
    if (!analysed) {
        rbt_cholesky_free(own->factor);
        own->factor = rbt_cholesky_analyse(&own->A, own->keep, NULL);
    }
    if (!own->factor) return RBT_OUT_OF_MEMORY;
    rbt_stiffness_assemble(&own->stiffness, &own->own, RBT_TANGENT, state->x);
    for (size_t n = 0; n < m->node_count; n++) {
        size_t diagonal = own->A.start[n + 1] - 1;
        for (size_t i = 9 * own->A.start[n]; i < 9 * (diagonal + 1); i++)
            own->A.value[i] = own->h * damping->stiffness * own->stiffness.K.value[i];
        for (size_t i = 0; i < 9; i += 4) own->A.value[9 * diagonal + i] += (1 + own->h * damping->mass) * m->mass[n];
    }
    rbt_factor_result result = rbt_cholesky_factor(own->factor, &own->A, &row);
    if (result == RBT_FACTORED) return RBT_DONE;
    if (result == RBT_FACTOR_NO_MEMORY) return RBT_OUT_OF_MEMORY;
    rbt_report_node(report, m, state->x, row);
    return RBT_NOT_POSITIVE_DEFINITE;
}

// M v + h f, or with stiffness damping on driven nodes also what these do to the others
static void island_right(schroeder *s, const island *own, int part, const rbt_state *state) {
    const rbt_model *m = s->model;
    const rbt_plan *plan = &own->own.plan;
    rbt_force_slots(&own->own, plan, state->x, NULL, own->partial);
    for (size_t n = 0; n < m->node_count; n++) {
        double *rhs = s->rhs + 3 * n, push[3];
        if (part_of(s, n) != part || s->constrained[n]) continue;
        for (size_t k = plan->node_start[n]; k < plan->node_start[n + 1]; k++)
            rbt_add_scaled(s->f + 3 * n, -1, own->partial + 3 * (size_t)plan->node_slots[k]);
        if (s->contact && m->node_area[n] > 0) {
            rbt_obstacles_node(&m->obstacles, state->x + 3 * n, m->node_area[n], push, NULL);
            rbt_add_scaled(s->f + 3 * n, 1, push);
        }
        for (size_t k = 0; k < 3; k++) rhs[k] = m->mass[n] * state->v[3 * n + k] + own->h * s->f[3 * n + k];
    }
    if (!own->factor) return;
    for (size_t i = 0; i < 3 * m->node_count; i++)
        s->way[i] = s->constrained[i / 3] && part_of(s, i / 3) == part ? state->v[i] : 0;
    rbt_block_matrix_product(&own->A, s->way, s->product);
    for (size_t i = 0; i < 3 * m->node_count; i++) s->rhs[i] -= s->product[i];
}

static rbt_outcome step_island(schroeder *s, island *own, int part, double t, rbt_state *state) {
    const rbt_model *m = s->model;
    rbt_force_external(m, t, state->x, state->v, s->f);
    drive(s, part, t, own->h, state);
    island_right(s, own, part, state);
    if (own->factor && !rbt_cholesky_solve(own->factor, s->rhs, s->way)) return RBT_OUT_OF_MEMORY;
    for (size_t n = 0; n < m->node_count; n++) {
        if (part_of(s, n) != part) continue;
        double inertia = (1 + own->h * m->bodies[m->node_body[n]].damping.mass) * m->mass[n];
        for (size_t i = 3 * n; i < 3 * n + 3; i++) {
            if (!s->constrained[n]) state->v[i] = own->factor ? s->way[i] : s->rhs[i] / inertia;
            state->x[i] += own->h * state->v[i];
        }
    }
    return RBT_DONE;
}

static rbt_outcome walk_alone(schroeder *s, rbt_state *state, double H, rbt_step_report *report) {
    for (size_t i = 0; i < s->island_count; i++) {
        island *own = &s->islands[i];
        rbt_outcome outcome = RBT_DONE;
        bool stale = !s->model->linear || s->factored_step != H;
        if (own->A.value && stale && own->steps > 1) outcome = factor_island(s, own, (int)i, state, report);
        for (int64_t k = 0; outcome == RBT_DONE && k < own->steps - 1; k++)
            outcome = step_island(s, own, (int)i, state->t + (double)k * own->h, state);
        if (outcome != RBT_DONE) return outcome;
    }
    return rbt_check_motion(s->model, state, H, report);
}

// ---- The coupled step

static double delay_of(const rbt_model *m, size_t n) { return m->bodies[m->node_body[n]].damping.stiffness; }

// External forces on each node at the start of its own step
static void external(schroeder *s, const rbt_state *state, double H) {
    const rbt_model *m = s->model;
    rbt_force_external(m, state->t, state->x, state->v, s->f);
    for (size_t i = 0; i < s->island_count; i++) {
        if (s->islands[i].steps == 1) continue;
        rbt_force_external(m, state->t + H - s->islands[i].h, state->x, state->v, s->product);
        for (size_t n = 0; n < m->node_count; n++)
            if (part_of(s, n) == (int)i) memcpy(s->f + 3 * n, s->product + 3 * n, 3 * sizeof(double));
    }
}

// Obstacles as semi-implicit Euler has them, linearised about where each node is heading
static void touch(schroeder *s, const rbt_state *state) {
    rbt_obstacles_meet_from_start(s->model, state, 0, s->h, s->f, s->f, s->contact);
}

static rbt_outcome forces(schroeder *s, const rbt_state *state, double H) {
    external(s, state, H);
    if (s->contact) touch(s, state);
    rbt_force_elastic(s->model, state->x, NULL, s->partial, s->f);
    return RBT_DONE;
}

// M / h^2 + K, and damping
static rbt_outcome assemble(schroeder *s, const rbt_state *state) {
    const rbt_model *m = s->model;
    const rbt_block_matrix *K = &s->stiffness.K;
    if (!m->linear) rbt_stiffness_assemble(&s->stiffness, m, RBT_TANGENT, state->x);
    for (size_t n = 0; n < m->node_count; n++) {
        double h = s->h[n], *diagonal = s->A.value + 9 * (K->start[n + 1] - 1);
        for (size_t k = K->start[n]; k < K->start[n + 1]; k++) {
            double factor = 1 + (s->h[K->column[k]] == h ? delay_of(m, n) / h : 0);
            for (size_t i = 9 * k; i < 9 * k + 9; i++) s->A.value[i] = factor * K->value[i];
        }
        for (size_t i = 0; i < 9; i += 4)
            diagonal[i] += m->mass[n] * (1 / h + m->bodies[m->node_body[n]].damping.mass) / h;
        if (s->contact) rbt_obstacle_stiffen(diagonal, 1, s->contact + 9 * n);
    }
    return RBT_DONE;
}

static rbt_outcome factor(schroeder *s, const rbt_state *state, double H, rbt_step_report *report) {
    rbt_outcome outcome = rbt_linear_factor(&s->linear, state->x, report);
    s->factored_step = outcome == RBT_DONE ? H : 0;
    return outcome;
}

// f + M v / h - (damping between different steps) - A (ways of constrained nodes)
static void right_side(schroeder *s, const rbt_state *state, double H) {
    const rbt_model *m = s->model;
    const rbt_block_matrix *K = &s->stiffness.K;
    double t = state->t + H;
    memset(s->way, 0, 3 * m->node_count * sizeof(double));
    for (size_t i = 0; i < m->motions.node_count; i++) {
        size_t n = (size_t)m->motions.node[i];
        double target[3];
        if (!s->constrained[n]) continue;
        rbt_motion_position(&m->motions.groups[m->motions.group[i]], m->x0 + 3 * n, t, target);
        rbt_subtract(target, state->x + 3 * n, s->way + 3 * n);
    }
    rbt_block_matrix_product(&s->A, s->way, s->product);
    for (size_t i = 0; i < 3 * m->node_count; i++)
        s->rhs[i] = s->f[i] + m->mass[i / 3] * state->v[i] / s->h[i / 3] - s->product[i];
    for (size_t n = 0; n < m->node_count; n++)
        for (size_t k = K->start[n]; delay_of(m, n) > 0 && k + 1 < K->start[n + 1]; k++) {
            size_t other = (size_t)K->column[k];
            if (s->h[other] == s->h[n]) continue;
            for (size_t r = 0; r < 3; r++)
                for (size_t c = 0; c < 3; c++) {
                    double value = delay_of(m, n) * K->value[9 * k + 3 * r + c];
                    s->rhs[3 * n + r] -= value * state->v[3 * other + c];
                    s->rhs[3 * other + c] -= value * state->v[3 * n + r];
                }
        }
}

static rbt_outcome solve(schroeder *s, const rbt_state *state, double H, rbt_step_report *report) {
    right_side(s, state, H);
    return rbt_linear_solve(&s->linear, s->rhs, s->moved, report);
}

static rbt_outcome update(schroeder *s, rbt_state *state, double H, rbt_step_report *report) {
    for (size_t i = 0; i < 3 * s->model->node_count; i++) {
        double way = s->constrained[i / 3] ? s->way[i] : s->moved[i];
        state->v[i] = way / s->h[i / 3];
        state->x[i] += way;
    }
    return rbt_check_motion(s->model, state, H, report);
}

static rbt_outcome analyse(schroeder *s, const rbt_state *state, double H) {
    bool changed;
    rbt_constrained_nodes(s->model, state->t, s->constrained);
    rbt_outcome outcome = rbt_linear_analyse(&s->linear, s->constrained, &changed);
    if (changed) s->factored_step = 0;
    for (size_t n = 0; n < s->model->node_count; n++) s->h[n] = H;
    for (size_t i = 0; i < s->island_count; i++) {
        s->islands[i].h = H / (double)s->islands[i].steps;
        for (size_t n = 0; n < s->model->node_count; n++)
            if (part_of(s, n) == (int)i) s->h[n] = s->islands[i].h;
    }
    return outcome;
}

static rbt_outcome attempt(void *self, rbt_state *state, double until, rbt_stages *stages, rbt_step_report *report) {
    schroeder *s = self;
    double H = rbt_step_length(s->model, state, until);
    RBT_STAGE("analyse", analyse(s, state, H));           // ordering and fill, when nodes were released
    RBT_STAGE("alone", walk_alone(s, state, H, report));  // parts, all their steps but the last
    RBT_STAGE("force", forces(s, state, H));              // f_ext - dW/dx
    if (!s->model->linear || s->contact || s->factored_step != H) {
        RBT_STAGE("assemble", assemble(s, state));  // M / h^2 + D / h + K
        RBT_STAGE("factor", factor(s, state, H, report));
    }
    RBT_STAGE("solve", solve(s, state, H, report));  // the ways of all nodes
    RBT_STAGE("update", update(s, state, H, report));
    return RBT_DONE;
}

// ---- Whether the steps of parts are stable

// implicit[n] = 0 for the nodes of a part, or only for those that share elements with others
static void mark(const schroeder *s, int part, bool interface, unsigned char *implicit) {
    const rbt_model *m = s->model;
    for (size_t n = 0; n < m->node_count; n++) implicit[n] = interface || part_of(s, n) != part;
    for (size_t g = 0; interface && g < m->group_count; g++) {
        size_t corners = (size_t)m->groups[g].type->corners;
        for (size_t e = 0; e < m->groups[g].count; e++) {
            const int32_t *node = m->groups[g].nodes + corners * e;
            bool inside = true;
            for (size_t a = 0; a < corners; a++) inside &= part_of(s, (size_t)node[a]) == part;
            for (size_t a = 0; !inside && a < corners; a++)
                if (part_of(s, (size_t)node[a]) == part) implicit[node[a]] = 0;
        }
    }
}

// h^2 lambda < 4 in the part, and h H lambda < 4 on its interface, with lambda of all elements there
static int first_unstable(const schroeder *s, rbt_stability *stability, unsigned char *implicit, double *bound) {
    double H = s->model->step;
    for (size_t i = 0; i < s->island_count; i++) {
        double h = H / (double)s->islands[i].steps;
        for (int interface = 0; s->islands[i].steps > 1 && interface < 2; interface++) {
            mark(s, (int)i, interface, implicit);
            double longest = rbt_stability_bound(stability, implicit, INFINITY, NULL, NULL);
            *bound = interface ? longest * longest / H : longest;
            if (h > *bound) return (int)i;
        }
    }
    return -1;
}

static bool warn(void *self, char text[320]) {
    schroeder *s = self;
    const rbt_model *m = s->model;
    if (!s->judged) {
        rbt_stability stability;
        rbt_model bare = *m;  // contact and damping are implicit, or nearly so
        bare.obstacles.count = 0;
        unsigned char *implicit = rbt_array_new(m->node_count, 1, "a warning", NULL);
        s->unstable = -1;
        if (implicit && rbt_stability_init(&stability, &bare, NULL, NULL)) {
            s->unstable = first_unstable(s, &stability, implicit, &s->bound);
            rbt_stability_free(&stability);
        }
        free(implicit);
        s->judged = true;
    }
    if (s->unstable < 0) return false;
    const rbt_tempo *tempo = &m->tempos.items[s->unstable];
    snprintf(text, 320,
             "schroeder: part %d of body \"%.80s\" takes explicit steps of %.3g s, but only below %.3g s they are "
             "certain to be stable; it may gain energy: take more substeps or multirate-euler",
             s->unstable, m->bodies[tempo->body].name, m->step / (double)s->islands[s->unstable].steps, s->bound);
    return true;
}

static int labels(const void *self, int32_t *label) {
    const schroeder *s = self;
    const int32_t *part = s->model->tempos.node;
    for (size_t n = 0; n < s->model->node_count; n++) label[n] = part ? part[n] + 1 : 0;
    return RBT_LABEL_RATE_PART;
}

const rbt_method RBT_SCHROEDER = {
    .name = "schroeder",
    .alone = "bodies do not know contact",
    .doc = "parts (tempo) walk alone with explicit short steps and are coupled with the rest once per long step",
    .when = "comparing with multirate-euler only: parts hang on the rest too softly, momentum is lost between them",
    .order = 1,
    .needs_lumped_mass = true,
    .create = create,
    .destroy = destroy,
    .attempt = attempt,
    .labels = labels,
    .warn = warn,
};
