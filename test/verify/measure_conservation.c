// What methods must keep: energy without drift, momenta to rounding; and where methods or materials must coincide.
#include "step/implicit/objective.h"
#include "verify.h"

#include <float.h>

// ---- Energy of symplectic Euler over many steps

// Symplectic Euler is the leapfrog scheme with velocities that stand half a step before the positions. Moved on by
// that half,
//   E = 1/2 |v + h/2 M^-1 f|_M^2 + W(x),
// the energy swings by O(h^2) instead of O(h), and a drift shows all the better.
static double leapfrog_energy(const rbt_sim *sim, double *f) {
    const rbt_model *m = sim->model;
    double kinetic = 0;
    verify_elastic_force(m, sim->state.x, f);
    for (size_t i = 0; i < 3 * m->node_count; i++) {
        double v = sim->state.v[i] + 0.5 * m->step * f[i] / m->mass[i / 3];
        kinetic += 0.5 * m->mass[i / 3] * v * v;
    }
    return kinetic + verify_elastic_energy(m, sim->state.x);
}

typedef struct drift {
    double energy, band;  // of the total energy: mean, and largest minus smallest [J]
    double inner, slope;  // of the leapfrog's: band, and slope of a straight line times the duration [J]
} drift;

static drift energy_drift(rbt_sim *sim, int64_t steps, int64_t every) {
    double n = 0, sum = 0, st = 0, se = 0, stt = 0, ste = 0, low[2] = {INFINITY, INFINITY},
           high[2] = {-INFINITY, -INFINITY};
    double *f = verify_vector(sim->model), start = leapfrog_energy(sim, f);
    for (int64_t i = 0; i <= steps; i += every) {
        double e[2] = {rbt_sim_energies(sim).total, leapfrog_energy(sim, f)}, t = (double)i / (double)steps - 0.5;
        n++, st += t, stt += t * t, sum += e[0], se += e[1] - start, ste += t * (e[1] - start);
        for (int k = 0; k < 2; k++) low[k] = fmin(low[k], e[k]), high[k] = fmax(high[k], e[k]);
        if (i < steps) verify_must_step(sim, every);
    }
    free(f);
    return (drift){sum / n, high[0] - low[0], high[1] - low[1], (n * ste - st * se) / (n * stt - st * st)};
}

void verify_energy(verify *v) {
    int64_t steps = v->full ? 1000000 : 100000;
    rbt_sim *cube =
        verify_sim("{'rubato': 1, 'bodies': [{'name': 'cube', 'mesh': {'shape': {'cuboid': {'size': [0.1, 0.1, "
                   "0.1], 'cells': [1, 1, 1]}}}, 'material': {'young': 1e4, 'poisson': 0.3}}]}");
    double h = 0.25 * cube->model->bodies[0].explicit_step;
    rbt_sim_free(cube);
    verify_say(
        v,
        "## Energy of symplectic Euler\n\n"
        "A free cube of 0.1 m of six tets starts stretched and turning, %lld steps of a quarter of the estimated "
        "largest one, some %lld of its fastest vibrations. Symplectic Euler is the leapfrog scheme with velocities "
        "half a step before the positions: the energy swings in a band of the order h, with the velocities moved on "
        "by half a step in one of the order h², and neither may drift. The drift is the slope of a straight line "
        "through 5000 samples of the latter, times the duration. Energy wanders between modes, which shifts the mean "
        "a "
        "little; a tenth of the narrow band is the bound.\n",
        (long long)steps, (long long)(steps / 13000 * 1000));
    verify_table(v, "material|energy|band|narrow band|drift|drift / narrow band|bound");
    for (int i = 0; rbt_material_at(i); i++) {
        const rbt_material *material = rbt_material_at(i);
        // Linear elasticity must not turn.
        rbt_sim *sim = verify_sim(
            "{'rubato': 1, 'bodies': [{'name': 'cube', 'mesh': {'shape': {'cuboid': {'size': [0.1, 0.1, 0.1], "
            "'cells': [1, "
            "1, 1]}}}, 'material': {'model': '%s', 'young': 1e4, 'poisson': 0.3}, 'deform': [{'stretch': {'axis': "
            "[1, 2, 3], "
            "'factor': 1.1}}], 'velocity': {'angular': [%s]}}], 'time': {'step': %.17g, 'frame': %.17g, 'end': 1e5}, "
            "'integrator': {'method': 'symplectic-euler'}}",
            material->name, material->rotation_invariant ? "2, 0, 1" : "0, 0, 0", h, h);
        drift d = energy_drift(sim, steps, steps / 5000);
        verify_row(v, fabs(d.slope) < 0.1 * d.inner && d.inner < 0.2 * d.band && d.band < 0.5 * d.energy,
                   "%s|%.3e J|%.1e J|%.1e J|%+.1e J|%+.4f|0.1", material->name, d.energy, d.band, d.inner, d.slope,
                   d.slope / d.inner);
        rbt_sim_free(sim);
    }
}

// ---- Momenta of a free body

static rbt_sim *thrown_bar(const rbt_method *method, double h, bool consistent) {
    return verify_sim(
        "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.4, 0.1, 0.1], "
        "'cells': [4, 1, 1]}}}, 'material': {'young': 1e4, 'poisson': 0.3}, 'transform': {'translate': "
        "[0.2, 0.1, 0]}, 'deform': [{'twist': {'axis': [1, 0, 0], 'degrees': 60}}], 'velocity': "
        "{'linear': [0.1, 0.2, 0.3], 'angular': [0, 0, 4]}, 'consistent_mass': %s}], 'time': {'step': "
        "%.17g, 'frame': %.17g, 'end': 100}, 'integrator': {'method': '%s'%s}}",
        consistent ? "true" : "false", h, h, method->name,
        method->options && rbt_record_field(method->options, "tolerance") ? ", 'options': {'tolerance': 1e-12}" : "");
}

static void check_momentum(verify *v, const rbt_method *method, bool consistent, int steps) {
    const double h = 2e-3, tolerance = 1e-12;
    rbt_sim *sim = thrown_bar(method, h, consistent);
    const rbt_model *m = sim->model;
    double sum_v = 0, sum_xv = 0, reach = 0, speed = 0, linear = 0, angular = 0, mass = 0;
    for (size_t n = 0; n < m->node_count; n++) {
        double a = rbt_length(m->x0 + 3 * n), b = rbt_length(m->v0 + 3 * n);
        sum_v += m->mass[n] * b, sum_xv += m->mass[n] * a * b, mass += m->mass[n];
        reach = fmax(reach, a), speed = fmax(speed, b);
    }
    rbt_energies before = rbt_sim_energies(sim);
    for (int k = 0; k < steps; k++) {
        verify_must_step(sim, 1);
        rbt_energies after = rbt_sim_energies(sim);
        linear = verify_larger(linear, verify_distance(after.momentum, before.momentum, 3));
        angular = verify_larger(angular, verify_distance(after.angular_momentum, before.angular_momentum, 3));
    }
    rbt_objective o;
    if (!rbt_objective_init(&o, m, NULL)) verify_stop("no memory for a step");
    // The body travels: |x| grows to reach + steps h speed. Velocities come from differences of positions, which are
    // rounded by eps |x| / h in every node and step; signs are random from step to step.
    double far = reach + steps * h * speed, rounding = sqrt(steps) * DBL_EPSILON * far / h;
    double linear_bound = rounding * mass / sum_v;
    // A residual gradient g of a step leaves a torque of at most |x| |g|_1 <= |x| sqrt(3 N) |g|, and 2 / tau of it in
    // the angular momentum; |g| is below the tolerance.
    o.tau = 0.5 * h;
    double residual = method->options && rbt_record_field(method->options, "tolerance")
                          ? rbt_objective_tolerance(&o, tolerance)
                          : 0;
    double torque = sqrt(steps) * 2 / o.tau * sqrt(3 * (double)m->node_count) * residual;
    double angular_bound = far * (rounding * mass + torque) / sum_xv;
    bool kept = method->keeps_angular_momentum;
    char bound[32] = "";
    if (kept) snprintf(bound, sizeof bound, "%.0e", angular_bound);
    verify_row(v, linear / sum_v < linear_bound && (!kept || angular / sum_xv < angular_bound),
               "%s|%s|%.1e|%.0e|%.1e|%s", method->name, consistent ? "consistent" : "lumped", linear / sum_v,
               linear_bound, angular / sum_xv, bound);
    rbt_objective_free(&o);
    rbt_sim_free(sim);
}

void verify_momentum(verify *v) {
    int steps = v->full ? 5000 : 500;
    verify_say(
        v,
        "## Momenta of a free body\n\n"
        "A twisted bar of 4 x 1 x 1 cells thrown with a spin, %d steps of 2 ms: the largest change of the "
        "momenta beside the sums of m |v| and m |x| |v|. Internal forces sum to zero and have no torque, so every "
        "method keeps the linear momentum to rounding. The angular momentum is kept by symplectic Euler "
        "to rounding and by the midpoint rule to the tolerance of its solver (1e-12 here); the others damp a "
        "spin, and theirs is only shown.\n",
        steps);
    verify_table(v, "method|mass|linear|bound|angular|bound");
    for (int i = 0; rbt_method_at(i); i++)
        for (int consistent = 0; consistent <= !rbt_method_at(i)->needs_lumped_mass; consistent++)
            check_momentum(v, rbt_method_at(i), consistent, steps);
}

// ---- Where things must coincide

static rbt_sim *linear_bar(const char *method, const char *options, const char *more) {
    return verify_sim(
        "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.4, 0.1, 0.1], "
        "'cells': [8, 2, 2]}}}, 'material': {'model': 'linear', 'young': 1e4, 'poisson': 0.3}, 'fixed': "
        "['left'], 'deform': [{'stretch': {'axis': [1, 0, 0], 'factor': 1.1}}], 'velocity': {'linear': "
        "[0, 0.3, 0]}%s}], 'time': {'step': 0.01, 'frame': 0.01, 'end': 100}, 'integrator': {'method': "
        "'%s', 'options': {%s}}}",
        more, method, options);
}

static const char DAMPED[] = ", 'damping': {'mass': 0.5, 'stiffness': 0.001}", TIGHT[] = "'tolerance': 1e-12";

typedef struct variant {
    const char *name, *method, *options;
} variant;

// Largest difference of two methods over the steps
static void check_linear_steps(verify *v, int steps, variant a, variant b, double x_bound, double v_bound) {
    rbt_sim *one = linear_bar(a.method, a.options, DAMPED), *other = linear_bar(b.method, b.options, DAMPED);
    double x = 0, speed = 0;
    size_t n = 3 * one->model->node_count;
    for (int i = 0; i < steps; i++) {
        verify_must_step(one, 1);
        verify_must_step(other, 1);
        x = verify_larger(x, verify_distance(one->state.x, other->state.x, n));
        speed = verify_larger(speed, verify_distance(one->state.v, other->state.v, n));
    }
    verify_row(v, x <= x_bound && speed <= v_bound,
               "linear elasticity, %d damped steps: %s and %s|%.1e m, %.1e m/s|%.0e m, %.0e m/s", steps, a.name,
               b.name, x, speed, x_bound, v_bound);
    rbt_sim_free(one);
    rbt_sim_free(other);
}

static void check_linear_methods(verify *v, int steps) {
    const variant si = {"semi-implicit", "semi-implicit", ""}, ere = {"ere", "ere", TIGHT},
                  none = {"siere without modes", "siere", "'modes': 0"},
                  every = {"siere with all 216 modes", "siere", "'modes': 216"};
    // Both solve the same system; positions are rounded by eps per step, and rounding of the velocities is damped.
    check_linear_steps(v, steps, si, (variant){"backward Euler", "backward-euler", TIGHT}, 1e-12, 1e-10);
    check_linear_steps(v, steps, si, none, 0, 0);  // the same operations
    // Both are the exact flow. A step changes x by less than 0.01 m and v by less than 1 m/s; ere is off by its
    // tolerance times that, at worst always in one direction.
    check_linear_steps(v, steps / 10, ere, every, 1e-15 * steps, 1e-13 * steps);
}

static void check_linear_energy(verify *v, int steps, bool consistent) {
    rbt_sim *sim = linear_bar("implicit-midpoint", TIGHT, consistent ? ", 'consistent_mass': true" : "");
    double start = rbt_sim_energies(sim).total, worst = 0;
    for (int i = 0; i < steps; i++) {
        verify_must_step(sim, 1);
        worst = verify_larger(worst, fabs(rbt_sim_energies(sim).total / start - 1));
    }
    // Per step velocities are wrong by eps |x| / h, 1e-14 of themselves; at worst all in one direction: 2e-14 steps.
    verify_row(v, worst < 2e-14 * steps,
               "linear elasticity, %s mass, %d steps of the midpoint rule: energy and that of the start|%.1e|%.0e",
               consistent ? "consistent" : "lumped", steps, worst, 2e-14 * steps);
    rbt_sim_free(sim);
}

static double *small_force(const char *material, double poisson, double strain) {
    rbt_sim *sim =
        verify_sim("{'rubato': 1, 'bodies': [{'name': 'cube', 'mesh': {'shape': {'cuboid': {'cells': [3, 3, "
                   "3]}}}, 'material': {'model': '%s', 'young': 1, 'poisson': %g}}], 'integrator': "
                   "{'method': 'symplectic-euler'}}",
                   material, poisson);
    double *f = verify_vector(sim->model), *x = verify_vector(sim->model);
    for (size_t i = 0; i < 3 * sim->model->node_count; i++)
        x[i] = sim->model->X[i] + strain * sin(7 * sim->model->X[(i + 1) % 3 + i / 3 * 3] + (double)(i % 3));
    verify_elastic_force(sim->model, x, f);
    free(x);
    rbt_sim_free(sim);
    return f;
}

// The force of a small displacement is that of linear elasticity, up to its square.
static void check_small_strains(verify *v) {
    for (int i = 0; rbt_material_at(i); i++) {
        const rbt_material *material = rbt_material_at(i);
        if (material->constant_stiffness) continue;
        double poisson = material->ignores_poisson ? 0 : 0.3, off[2];
        for (int k = 0; k < 2; k++) {
            double strain = k ? 1e-6 : 1e-4;
            double *f = small_force(material->name, poisson, strain), *g = small_force("linear", poisson, strain);
            size_t count = 3 * 64;
            off[k] = verify_distance(f, g, count) / verify_largest(g, count);
            free(f), free(g);
        }
        // Relative difference c * 1e-4 and c * 1e-6 with c of the order 10: derivatives of the displacement are 7
        // strains.
        verify_row(v, off[1] < 1e-4 && fabs(off[0] / off[1] / 100 - 1) < 0.01,
                   "%s and linear elasticity: forces at displacements of 1e-6; ratio to that at 1e-4|%.1e; "
                   "%.2f|1e-04; 100 ± 1",
                   material->name, off[1], off[0] / off[1]);
    }
}

void verify_limits(verify *v) {
    int steps = v->full ? 2000 : 200;
    verify_say(v,
               "## Limits that coincide\n\n"
               "For a quadratic energy one linearisation is exact, and the midpoint rule keeps the energy; siere is "
               "semi-implicit Euler without modes and ere with all of them. Every material is linear elasticity for "
               "small displacements.\n");
    verify_table(v, "what|difference|bound");
    check_linear_methods(v, steps);
    check_linear_energy(v, steps, false);
    check_linear_energy(v, steps, true);
    check_small_strains(v);
}
