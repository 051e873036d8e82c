// Where the linearisation of semi-implicit Euler fails: a bar twisted by a whole turn is let go. Known, shown, not
// hidden.
#include "verify.h"

typedef struct run {
    int steps;  // that succeeded, of STEPS
    rbt_step_report last;
    int64_t halved_steps;
    int deepest;
    double highest;  // total energy beside that of the start
} run;

enum { STEPS = 50 };

static run release(const char *method, double h, int max_halvings) {
    rbt_sim *sim =
        verify_sim("{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.4, 0.1, "
                   "0.1], 'cells': [12, 3, 3]}}}, 'material': {'model': 'stable-neo-hookean', 'young': 1e5, "
                   "'poisson': 0.4}, 'deform': [{'twist': {'axis': [1, 0, 0], 'degrees': 360}}]}], 'time': "
                   "{'step': %g, 'frame': %g, 'end': 10}, 'integrator': {'method': '%s', 'max_halvings': %d}}",
                   h, h, method, max_halvings);
    double start = rbt_sim_energies(sim).total;
    run r = {.highest = 1};
    for (bool done = true; done && r.steps < STEPS; r.steps += done) {
        done = verify_steps(sim, 1, &r.last);
        r.halved_steps += r.last.halved_steps;
        if (r.last.halvings > r.deepest) r.deepest = r.last.halvings;
        r.highest = verify_larger(r.highest, rbt_sim_energies(sim).total / start);
    }
    rbt_sim_free(sim);
    return r;
}

// Finished, or stopped with a place and a hint: in either case as it should
static void check(verify *v, const char *method, double h, int max_halvings, bool finishes) {
    run r = release(method, h, max_halvings);
    bool done = r.steps == STEPS, named = r.last.body == 0 && r.last.element >= 0 && r.last.hint[0];
    char end[256] = "finished";
    if (!done)
        snprintf(end, sizeof end, "%s at step %d, tet %lld", rbt_outcome_name(r.last.outcome), r.steps + 1,
                 (long long)r.last.element);
    verify_row(v, done == finishes && (done || named), "%s|%g ms|%d|%s|%lld|%d|%.3g", method, 1e3 * h, max_halvings,
               end, (long long)r.halved_steps, r.deepest, r.highest);
}

void verify_divergence(verify *v) {
    verify_say(
        v,
        "## Divergence of semi-implicit Euler\n\n"
        "A soft free bar of 0.4 m, twisted by a whole turn, is let go; %d steps. Semi-implicit Euler takes one "
        "linearisation per step: with long steps it overshoots, gains energy where there is none to gain, and meets "
        "a state in which its matrix is not positive definite. That is an outcome which names the element; the step "
        "is cut in halves as often as allowed, and if that does not help the run stops. Backward Euler on the same "
        "steps solves the non-linear equation: it finishes without a cut and its energy never rises. siere, which "
        "projects the stiffness where its matrix is indefinite, finishes steps twice as long as semi-implicit Euler "
        "does, and blows up with steps twice as long again. The verdict is whether a run ended as this says.\n",
        STEPS);
    verify_table(v, "method|step|halvings allowed|end|steps cut|most halvings|highest energy / start");
    check(v, "semi-implicit", 0.005, 0, true);
    check(v, "semi-implicit", 0.01, 0, false);
    check(v, "semi-implicit", 0.01, 8, true);
    // Here about 8 halvings are needed, give or take one by rounding: 3 are surely too few.
    check(v, "semi-implicit", 0.02, 3, false);
    check(v, "semi-implicit", 0.04, 3, false);
    check(v, "siere", 0.005, 0, true);
    check(v, "siere", 0.01, 0, true);
    check(v, "siere", 0.02, 0, false);
    for (int i = 0; i < 4; i++) {
        double h = 0.005 * (1 << i);
        run r = release("backward-euler", h, 0);
        // The minimum of a step is no higher than its start, so energy falls, up to the solver's tolerance.
        verify_row(v, r.steps == STEPS && r.highest <= 1 + 1e-5, "backward-euler|%g ms|0|finished|%lld|%d|%.3g",
                   1e3 * h, (long long)r.halved_steps, r.deepest, r.highest);
    }
}
