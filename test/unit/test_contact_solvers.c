// Step solvers with contact find the same minimum, as far as their stop test tells.
//
// From the same state every solver makes the step to z with a residual force r = grad E / tau^2 that its stop test
// allows: |r| <= 2e-5 of the forces that act on each piece. Where E'' >= m M along the straight way between two ends
// z_a and z_b,
//
//   m |z_a - z_b|_M^2 <= (grad E(z_a) - grad E(z_b)) . (z_a - z_b) <= tau^2 |r_a - r_b|_(M^-1) |z_a - z_b|_M,
//
// so that |z_a - z_b|_M <= tau^2/m (|r_a|_(M^-1) + |r_b|_(M^-1)). m is 1 where energies beside the inertia are
// convex. Pairs that slide on each other and compressed elements have a share of negative curvature, which steps here
// are short enough to keep below half of the inertia, as is checked: m = 1/2. With friction each end has its own normal
// forces, so that grad E is not that of one function; what a difference of normal forces adds is mu times what it adds
// to the normal ones, which E'' already has: twice as much for mu <= 1.
//
// The file of the implicit methods is part of this program, to look inside.
#include "step/implicit/implicit.c"

#include "contact_scene.h"
#include "sampled.h"
#include "sim/sim.h"
#include "step/contact/contact_multipliers.h"

typedef struct scene {
    const char *name, *method;
    int before, count;  // steps with newton alone, and those that are compared
    double mu;
    size_t least_pairs;  // that push each other where some step ends, and how many of them of one body with itself
    size_t least_own;
    const char *only;  // the contact solver; NULL: each
    const char *json;  // without the integrator
} scene;

#define BLOCK(name, size, cells, place, more)                                                                        \
    "{'name': '" name "', 'mesh': {'shape': {'cuboid': {'size': [" size "], 'cells': [" cells                        \
    "]}}}, 'transform': {" place "}, 'material': {'model': 'neo-hookean', 'young': 1e5, 'poisson': 0.4, 'density': " \
    "1000}" more "}"

// Friction of cloth that lies on itself asks constraints for shorter steps: lags of friction swing.
#define TUBE                                                                                                         \
    "{'rubato': 1, 'bodies': [{'name': 'tube', 'mesh': {'shape': {'tube': {'radius': 0.05, 'length': 0.1, 'rings': " \
    "5, "                                                                                                            \
    "'segments': 16}}}, 'transform': {'axis': [1, 0, 0], 'degrees': 90, 'translate': [0, 0.052, 0]}, 'shell': "      \
    "{'thickness': 1e-3}, 'material': {'young': 1e5, 'density': 500}}], 'obstacles': [{'plane': {}}, {'plane': "     \
    "{'point': [0, 0.104, 0], 'normal': [0, -1, 0], 'motions': [{'velocity': {'velocity': [0, -2, 0]}}]}}], "        \
    "'contact': "
#define SHORT_STEPS "'time': {'step': 0.001, 'frame': 0.001, 'end': 1}, "

static const scene SCENES[] = {
    {"blocks on a floor, friction", "backward-euler", 2, 6, 0.5, 20, 0, NULL,
     "{'rubato': 1, 'bodies': [" BLOCK(
         "low", "0.4, 0.2, 0.4", "4, 2, 4", "'translate': [0, 0.101, 0]",
         "") ", " BLOCK("high", "0.2, 0.2, 0.2", "3, 2, 3",
                        "'axis': [0, 1, 0], 'degrees': 25, 'translate': [0.03, 0.303, 0.02]",
                        ", 'velocity': {'linear': [0.5, -1, 0.2]}") "], 'obstacles': [{'plane': {}}], 'forces': "
                                                                    "[{'gravity': {}}], "
                                                                    "'contact': {'thickness': 2e-3, 'friction': "
                                                                    "0.5}, 'time': "
                                                                    "{'step': 0.002, 'frame': 0.002, 'end': 1}, "},
    {"a ball between a floor and a plate that comes down", "bdf2", 2, 6, 0, 12, 0, NULL,
     "{'rubato': 1, 'bodies': [{'name': 'ball', 'mesh': {'shape': {'ball': {'radius': 0.1, 'layers': 4}}}, "
     "'transform': {'translate': [0, 0.102, 0]}, 'material': {'young': 1e5, 'density': 1000}}], 'obstacles': "
     "[{'plane': "
     "{}}, {'plane': {'point': [0, 0.204, 0], 'normal': [0, -1, 0], 'motions': [{'velocity': {'velocity': [0, -2, "
     "0]}}]}}], 'contact': {'thickness': 2e-3}, 'time': {'step': 0.002, 'frame': 0.002, 'end': 1}, "},
    {"a tube of cloth pressed flat on itself", "backward-euler", 38, 4, 0.3, 20, 20, "barrier",
     TUBE "{'thickness': 1e-3, 'friction': 0.3}, " SHORT_STEPS},
    {"a tube of cloth pressed flat on itself, no friction", "backward-euler", 44, 4, 0, 20, 20,
     "augmented-lagrangian", TUBE "{'thickness': 1e-3}, " SHORT_STEPS},
    {"two sheets and driven corners over a ball", "implicit-midpoint", 6, 6, 0.3, 10, 0, NULL,
     "{'rubato': 1, 'bodies': [{'name': 'a', 'mesh': {'shape': {'cloth': {'length': 0.3, 'width': 0.3, "
     "'cells_along': 8, "
     "'cells_across': 8}}}, 'transform': {'translate': [0, 0.103, 0]}, 'shell': {'thickness': 1e-3}, 'material': "
     "{'young': 1e5, 'density': 500}, 'velocity': {'linear': [0, -1, 0]}}, {'name': 'b', 'mesh': {'shape': {'cloth': "
     "{'length': 0.3, 'width': 0.3, 'cells_along': 7, 'cells_across': 7}}}, 'transform': {'axis': [0, 1, 0], "
     "'degrees': "
     "20, 'translate': [0, 0.106, 0]}, 'shell': {'thickness': 1e-3}, 'material': {'young': 1e5, 'density': 500}, "
     "'driven': [{'where': 'left', 'motions': [{'velocity': {'velocity': [0, -1, 0]}}]}]}], 'obstacles': [{'sphere': "
     "{'centre': [0, 0, 0], 'radius': 0.1}}], 'contact': {'thickness': 1e-3, 'friction': 0.3}, 'time': {'step': "
     "0.001, "
     "'frame': 0.001, 'end': 1}, "},
};

static const struct {
    const char *name, *options;
} SOLVERS[] = {{"newton", ""},
               {"lbfgs-h", ""},
               {"dot", ", 'options': {'subdomains': 1}"},
               {"dot", ", 'options': {'subdomains': 4}"}};
enum { SOLVER_COUNT = sizeof SOLVERS / sizeof *SOLVERS };

// A scene with one of the contact solvers
typedef struct trial {
    const scene *scene;
    const char *by;
    char name[96];
} trial;

static rbt_sim *sim_of(const scene *s, size_t solver) {
    return contact_sim("%s'integrator': {'method': '%s', 'solver': '%s'%s}}", s->json, s->method,
                       SOLVERS[solver].name, SOLVERS[solver].options);
}

// Where a step ends, in terms of the unknown of its minimisation, and the residual there
typedef struct end {
    double *z, *gradient;  // (node_count x 3)
    double residual;       // |grad E|_(M^-1) [m sqrt(kg)]
} end;

// From `last`, where the state is, and past the stepper, whose questions about the state would make contact forget the
// step. The positions of the state are `last` again afterwards: contact of the midpoint rule begins there.
static end try_step(rbt_sim *sim, const double *last, const char *what) {
    rbt_implicit *s = sim->stepper.self;
    rbt_stages stages = {0};
    rbt_step_report report = {0};
    rbt_outcome outcome = attempt(s, &sim->state, sim->state.t + sim->model->step, &stages, &report);
    if (outcome != RBT_DONE) fail_msg("%s: %s in %s: %s", what, rbt_outcome_name(outcome), report.stage, report.hint);
    const rbt_model *m = sim->model;
    size_t values = 3 * m->node_count;
    end e = {.z = malloc(values * sizeof *e.z), .gradient = malloc(values * sizeof *e.gradient)};
    memcpy(e.z, s->z, values * sizeof *e.z);
    memcpy(sim->state.x, last, values * sizeof *last);
    assert_true(isfinite(rbt_objective_gradient(&s->objective, e.z, e.gradient)));
    for (size_t i = 0; i < values; i++)
        if (!s->objective.constrained[i / 3]) e.residual += e.gradient[i] * e.gradient[i] / m->mass[i / 3];
    e.residual = sqrt(e.residual);
    rbt_stop stop = rbt_stop_begin(&s->objective, RBT_STOP_FORCE, NAN, tolerance_share(s));
    rbt_stop_judge(&stop, 1);
    if (!(stop.residual <= 1) && !rbt_stop_at_rounding(&stop)) fail_msg("stopped at %g", stop.residual);
    return e;
}

// m of the way between two ends
static double curvature(const rbt_model *m, const end *a, const end *b) {
    double change = 0, square = 0;
    for (size_t i = 0; i < 3 * m->node_count; i++) {
        double by = a->z[i] - b->z[i];
        change += by * (a->gradient[i] - b->gradient[i]);
        square += m->mass[i / 3] * by * by;
    }
    return square > 0 ? change / square : INFINITY;
}

// Pairs whose nodes all belong to the same body
static size_t own_pairs(const rbt_sim *sim) {
    const rbt_implicit *s = sim->stepper.self;
    const rbt_step_contact *c = s->objective.pairs;
    size_t count = 0;
    for (size_t i = 0; i < c->active_count; i++) {
        const int32_t *node = c->active[i].pair.node;
        bool own = true;
        for (int k = 0; k < 4; k++)
            own &= node[k] < 0 || ((size_t)node[k] < sim->model->node_count &&
                                   sim->model->node_body[node[k]] == sim->model->node_body[node[0]]);
        count += own && node[1] >= 0;
    }
    return count;
}

static double distance(const rbt_model *m, const double *a, const double *b) {  // |a - b|_M
    double sum = 0;
    for (size_t i = 0; i < 3 * m->node_count; i++) sum += m->mass[i / 3] * (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

static void solvers_agree(void **state) {
    const trial *t = *state;
    const scene *s = t->scene;
    contact_by = t->by;
    rbt_sim *sims[SOLVER_COUNT];
    rbt_error error;
    double worst = 0, moved = 0;
    size_t pairs = 0, own = 0;
    for (size_t k = 0; k < SOLVER_COUNT; k++) sims[k] = sim_of(s, k);
    for (int i = 0; i < s->before; i++) contact_try(sims[0]);
    for (int i = 0; i < s->count; i++) {
        if (SAMPLED(false, i != 1 && i != s->count - 1)) {  // the second and the last one are compared
            contact_try(sims[0]);
            continue;
        }
        end ends[SOLVER_COUNT];
        const rbt_model *m = sims[0]->model;
        size_t bytes = 3 * m->node_count * sizeof(double);
        double *x = malloc(bytes);
        memcpy(x, sims[0]->state.x, bytes);
        rbt_state *begin = rbt_sim_save(sims[0], &error);
        for (size_t k = 0; k < SOLVER_COUNT; k++) {
            if (!rbt_sim_restore(sims[k], begin, &error)) fail_msg("%s", error.message);
            ends[k] = try_step(sims[k], x, SOLVERS[k].name);
            size_t seen = ((rbt_implicit *)sims[k]->stepper.self)->objective.pairs->active_count;
            pairs = seen > pairs ? seen : pairs;
            seen = own_pairs(sims[k]);
            own = seen > own ? seen : own;
        }
        moved = fmax(moved, distance(m, x, ends[0].z));
        for (size_t k = 1; k < SOLVER_COUNT; k++) {
            double bound = (s->mu > 0 ? 4 : 2) * (ends[0].residual + ends[k].residual);
            double off = distance(m, ends[0].z, ends[k].z);
            double m_of_way = curvature(m, &ends[0], &ends[k]), least = s->mu > 0 ? 0.25 : 0.5;
            if (!(m_of_way >= least)) fail_msg("%s, step %d: m is %.3g, not above %g", s->name, i, m_of_way, least);
            if (!(off <= bound))
                fail_msg("%s, step %d: %s%s is off by %.3g, allowed %.3g", s->name, i, SOLVERS[k].name,
                         SOLVERS[k].options, off, bound);
            worst = fmax(worst, off / bound);
        }
        for (size_t k = 0; k < SOLVER_COUNT; k++) free(ends[k].z), free(ends[k].gradient);
        if (!rbt_sim_restore(sims[0], begin, &error)) fail_msg("%s", error.message);
        contact_try(sims[0]);
        rbt_state_free(begin);
        free(x);
    }
    print_message("%s: up to %zu pairs, %zu of a body with itself, off by at most %.2g of the bound\n", t->name,
                  pairs, own, worst);
    assert_true(pairs >= s->least_pairs && own >= s->least_own && moved > 0);
    for (size_t k = 0; k < SOLVER_COUNT; k++) rbt_sim_free(sims[k]);
}

// Where a state has room for some multipliers only, those of the largest forces are kept, ascending by key.
static void largest_multipliers_are_kept(void **state) {
    (void)state;
    contact_by = "augmented-lagrangian";
    rbt_sim *sim = sim_of(&SCENES[0], 0);
    for (int i = 0; i < 6; i++) contact_try(sim);
    size_t count = rbt_sim_contacts(sim, NULL, 0);
    const rbt_step_contact *c = ((rbt_implicit *)sim->stepper.self)->objective.pairs;
    rbt_pair_force *all = calloc(count + 1, sizeof *all), *some = calloc(count + 1, sizeof *some);
    assert_true(count > 20 && all && some);
    assert_int_equal(rbt_multipliers_get(c, all, count), count);
    for (size_t room = 0; room <= count; room++) {
        double least = INFINITY;
        size_t larger = 0;
        assert_int_equal(rbt_multipliers_get(c, some, room), room);
        for (size_t i = 0; i < room; i++) {
            assert_true(i == 0 || some[i].key > some[i - 1].key);
            least = fmin(least, some[i].force);
        }
        for (size_t i = 0; i < count; i++) larger += all[i].force > least;
        assert_true(larger <= room);
    }
    free(all);
    free(some);
    rbt_sim_free(sim);
}

int main(void) {
    enum { SCENE_COUNT = sizeof SCENES / sizeof *SCENES };
    static const char *const BY[] = {"barrier", "augmented-lagrangian"};
    static trial trials[2 * SCENE_COUNT];
    struct CMUnitTest tests[2 * SCENE_COUNT + 1];
    size_t count = 0;
    for (size_t i = 0; i < 2 * SCENE_COUNT; i++) {
        const scene *s = &SCENES[i / 2];
        if (s->only && strcmp(s->only, BY[i % 2])) continue;
        trial *t = &trials[count];
        *t = (trial){.scene = s, .by = BY[i % 2]};
        snprintf(t->name, sizeof t->name, "%s, %s", s->name, t->by);
        tests[count++] = (struct CMUnitTest){t->name, solvers_agree, NULL, NULL, t};
    }
    tests[count++] =
        (struct CMUnitTest){"largest multipliers are kept", largest_multipliers_are_kept, NULL, NULL, NULL};
    return _cmocka_run_group_tests("solvers", tests, count, NULL, NULL);
}
