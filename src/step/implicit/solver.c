#include "step/implicit/solver.h"

#include "step/subdomain/linear_kind.h"

#include "math/vector.h"

#include <stdio.h>

#define ENTRY(NAME) &RBT_##NAME,
static const rbt_step_solver *const SOLVERS[] = {RBT_STEP_SOLVER_LIST(ENTRY)};

const rbt_step_solver *rbt_step_solver_at(int i) {
    return i >= 0 && i < (int)(sizeof SOLVERS / sizeof *SOLVERS) ? SOLVERS[i] : NULL;
}

const char *rbt_step_solver_name(int i) {
    const rbt_step_solver *solver = rbt_step_solver_at(i);
    return solver ? solver->name : NULL;
}

// ---- Options

static const char *at_cap_name(int i) {
    static const char *const NAMES[] = {"fail", "continue"};
    return i >= 0 && i < 2 ? NAMES[i] : NULL;
}

static const char *start_name(int i) {
    static const char *const NAMES[] = {"best", "predictor"};
    return i >= 0 && i < 2 ? NAMES[i] : NULL;
}

static const char *variant_name(int i) {
    static const char *const NAMES[] = {"fast", "paper"};
    return i >= 0 && i < 2 ? NAMES[i] : NULL;
}

#define OPTION(member, what) .name = #member, .kind = what, .offset = offsetof(rbt_implicit_options, member)
static const char *goal_name(int i) {
    static const char *const NAMES[] = {"keep", "free"};
    return i >= 0 && i < 2 ? NAMES[i] : NULL;
}

// The first members of rbt_energy_euler_options are these, too.
#define SOLVER_FIELDS                                                                                                \
    {OPTION(tolerance, RBT_REAL), .fallback = {NAN}, .flags = RBT_ABOVE | RBT_AUTO, .max = 1,                        \
     .doc =                                                                                                          \
         "How small the residual force of a step must be, relative to what the stop test compares it with; auto: "   \
         "2e-3 of "                                                                                                  \
         "the acting forces (1e-3 for lbfgs-h, 6e-5 for lbfgs-pd, 3e-5 for admm-pd, and a fifth of that with "       \
         "implicit-midpoint), 1e-5 of the characteristic size, a step of 1e-2 of the diagonal a second."},           \
        {OPTION(stop, RBT_CHOICE), .of.names = rbt_stop_name,                                                        \
         .doc =                                                                                                      \
             "When a step counts as solved. force: the residual is small beside the forces that act (inertia, "      \
             "stress, "                                                                                              \
             "loads, "                                                                                               \
             "damping, obstacles). characteristic: it is small beside stiffness times area, as in Li et al. 2019, "  \
             "which "                                                                                                \
             "notices no loads that are small beside the stiffness; for comparing with that paper. step: the last "  \
             "direction moved no node by more than a share of the diagonal of the bodies' box a second, as in Li "   \
             "et al. "                                                                                               \
             "2020; for comparing with that paper. stall: the residual no longer falls; for references."},           \
        {OPTION(start, RBT_CHOICE), .of.names = start_name,                                                          \
         .doc = "Where the iteration starts. best: the lowest of three positions: with all forces but the elastic "  \
                "ones, "                                                                                             \
                "with "                                                                                              \
                "inertia alone, and the last ones. predictor: the first of them, as in Li et al. 2019."},            \
        {OPTION(max_iterations, RBT_INT),                                                                            \
         .flags = RBT_AUTO,                                                                                          \
         .fallback = {-1},                                                                                           \
         .min = 1,                                                                                                   \
         .max = 1e6,                                                                                                 \
         .unit = "iterations",                                                                                       \
         .doc = "After so many iterations a step has not converged; auto: 300 for newton and with contact, 1000 "    \
                "for the others; with contact newton gives a step without friction 150, halves 50 or 100."},         \
        {OPTION(at_cap, RBT_CHOICE), .of.names = at_cap_name,                                                        \
         .doc = "What a step does that has not converged: fail (and be cut), or continue; then the run does not "    \
                "end with "                                                                                          \
                "success."},                                                                                         \
        {OPTION(subdomains, RBT_INT),                                                                                \
         .flags = RBT_AUTO,                                                                                          \
         .fallback = {-1},                                                                                           \
         .min = 1,                                                                                                   \
         .max = 1e6,                                                                                                 \
         .doc =                                                                                                      \
             "Of solver dot, and of newton with schwarz: parts whose matrices are factored one by one, at most as "  \
             "many as there are elements; auto: "                                                                    \
             "chosen from the size and the cost of factors. run.json says how many there are."},                     \
        {OPTION(variant, RBT_CHOICE), .of.names = variant_name,                                                      \
         .doc = "Of solver dot: paper is the method as published (Li et al. 2019), which knows no contact, fast "    \
                "our own."},                                                                                         \
    {                                                                                                                \
        OPTION(linear, RBT_CHOICE),                                                                                  \
            .of.names = rbt_linear_name,                                                                             \
            .doc = "Of solver newton: how its linear systems are solved. cholesky: a factor of the whole matrix. "   \
                   "cg: conjugate "                                                                                  \
                   "gradients with incomplete Cholesky. schwarz: conjugate gradients around the factors of "         \
                   "subdomains, with a "                                                                             \
                   "coarse "                                                                                         \
                   "space. petsc-gamg, petsc-mumps: multigrid and a factor on many ranks, of rubato-mpi."            \
    }
static const rbt_field FIELDS[] = {SOLVER_FIELDS};
const rbt_record RBT_SOLVER_OPTIONS = {"implicit options", "How an implicit step is solved.",
                                       sizeof(rbt_implicit_options), RBT_FIELDS_WITH_COOKIE(FIELDS)};

rbt_implicit_options rbt_implicit_options_default(void) {
    rbt_implicit_options options;
    rbt_record_default(&RBT_SOLVER_OPTIONS, &options);
    return options;
}

#define OWN(member, what) .name = #member, .kind = what, .offset = offsetof(rbt_energy_euler_options, member)
static const rbt_field ENERGY_FIELDS[] = {
    SOLVER_FIELDS,
    {OWN(energy, RBT_CHOICE), .of.names = goal_name,
     .doc = "keep: after every step velocities are corrected so that each body, with those that it touches, has the "
            "energy of the start, plus the work of outside forces and prescribed motion, less what damping, friction "
            "and decay take. free: they are not."},
    {OWN(decay, RBT_REAL), .fallback = {0}, .min = 0, .max = 1e6, .unit = "1/s",
     .doc = "The rate at which vibrations lose energy where energy is kept, whatever their frequency."},
    {OWN(implicitness, RBT_REAL), .fallback = {NAN}, .flags = RBT_AUTO, .min = 0.5, .max = 1,
     .doc =
         "How much of the forces is taken at the end of a step: 0.5 damps nothing, 1 is backward Euler. auto: 0.5, "
         "and 0.75 in steps that begin in contact."},
};
const rbt_record RBT_ENERGY_OPTIONS = {"energy-euler options",
                                       "How an implicit step is solved, and what becomes of the energy.",
                                       sizeof(rbt_energy_euler_options), RBT_FIELDS_WITH_COOKIE(ENERGY_FIELDS)};

rbt_energy_euler_options rbt_energy_euler_options_default(void) {
    rbt_energy_euler_options options;
    rbt_record_default(&RBT_ENERGY_OPTIONS, &options);
    return options;
}

// ---- What solvers share

// The largest gradient shows where a step does not come to rest. Returns the node's number within its body.
static size_t report_worst(const rbt_model *m, const double *z, const double *gradient, rbt_step_report *report) {
    size_t worst = 0;
    for (size_t i = 1; i < 3 * m->node_count; i++)
        if (!(fabs(gradient[i]) <= fabs(gradient[worst]))) worst = i;
    rbt_report_node(report, m, z, worst / 3);
    return rbt_ranks_number_in_body(m, worst / 3);
}

rbt_outcome rbt_solver_not_finite(const rbt_objective *o, const double *z, const double *gradient,
                                  rbt_step_report *report) {
    if (rbt_report_inverted(report, o->model, z)) return RBT_INVERTED;
    size_t node = report_worst(o->model, z, gradient, report);
    snprintf(report->hint, sizeof report->hint,
             "node %zu would go beyond any distance; check forces, speeds and driven nodes, or take a smaller step",
             node);
    return RBT_NOT_FINITE;
}

rbt_outcome rbt_solver_no_descent(const rbt_stop *stop, const double *z, const double *gradient,
                                  rbt_step_report *report) {
    if (rbt_stop_at_rounding(stop)) return RBT_DONE;
    snprintf(report->hint, sizeof report->hint,
             "the line search found no decrease at node %zu; loosen the tolerance or take a smaller step",
             report_worst(stop->objective->model, z, gradient, report));
    return RBT_NOT_CONVERGED;
}

rbt_outcome rbt_solver_at_cap(const rbt_stop *stop, const double *z, const double *gradient,
                              rbt_step_report *report) {
    report->at_cap = true;
    snprintf(report->hint, sizeof report->hint,
             "the residual force is still %.3g times the tolerance, most at node %zu; take a smaller step or more "
             "iterations",
             report->statistics[RBT_STAT_RESIDUAL], report_worst(stop->objective->model, z, gradient, report));
    return RBT_NOT_CONVERGED;
}

rbt_outcome rbt_solver_judge(rbt_stop *stop, const double *z, const double *gradient, int iteration,
                             int max_iterations, bool *solved, rbt_stages *stages, rbt_step_report *report) {
    *solved = rbt_stop_judge(stop, iteration);
    if (!isfinite(stop->residual)) return rbt_solver_not_finite(stop->objective, z, gradient, report);
    report->statistics[RBT_STAT_RESIDUAL] = stop->residual;
    rbt_trace_add(stages, report->statistics[RBT_STAT_RESIDUAL]);
    return *solved || iteration < max_iterations ? RBT_DONE : rbt_solver_at_cap(stop, z, gradient, report);
}
