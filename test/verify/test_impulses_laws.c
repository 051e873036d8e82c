// Contact of methods with one solve a step, against what is known: momentum, Coulomb's law on a slope, a bounce, and a
// dense quadratic programme.
#include "contact_scene.h"
#include "dense.h"
#include "sim/sim.h"
#include "step/linearised/linearised.h"
#include "step/multirate/multirate.h"
#include "step/multirate/multirate_contact.h"

#include <float.h>

static const char *const METHODS[] = {"semi-implicit", "siere", "multirate-euler"};
enum { METHOD_COUNT = 3 };

// Parts for multirate-euler, which others do not see: what lies beyond a plane takes shorter steps.
#define PART(point, normal, substeps)                                                                                \
    "'tempo': [{'where': {'plane': {'point': [" point "], 'normal': [" normal "]}}, 'substeps': " substeps "}], "

// ---- Momentum

// Impulses act between the corners of pairs, and a solve with A turns them into velocities: the sum of M dv is that of
// the impulses, since A has nothing but M for translations. A solve is off by (3 n + 1) u kappa |dv| (Higham, theorem
// 10.4), and the sum of n products rounds by n u; kappa of A is that of (M + h^2 K), at most (m_max + h^2 k) / m_min.
static void momentum_stays(const char *method, double offset, double friction) {
    rbt_sim *sim = contact_sim(
        "{'rubato': 1, 'bodies': [{'name': 'a', " PART(
            "-0.55, 0, 0", "1, 1, 0", "4") "'mesh': {'shape': {'ball': "
                                           "{'radius': 0.5, 'layers': 3}}}, "
                                           "'transform': "
                                           "{'translate': [-0.55, 0, 0]}, 'material': {'model': 'neo-hookean', "
                                           "'young': 1e5, 'poisson': 0.4, 'density': "
                                           "1000}, 'velocity': {'linear': [2, 0, 0]}}, {'name': 'b', " PART(
                                               "0.7, 0, 0", "1, 0, 0",
                                               "3") "'mesh': {'shape': {'ball': {'radius': 0.5, "
                                                    "'layers': "
                                                    "4}}}, 'transform': {'axis': [1, 2, 3], 'degrees': 40, "
                                                    "'translate': [0.55, %.17g, 0]}, 'material': {'model': "
                                                    "'neo-hookean', 'young': 2e5, 'poisson': 0.3, 'density': 700}, "
                                                    "'velocity': {'linear': [-2, 0, 0]}}], "
                                                    "'contact': "
                                                    "{'thickness': 5e-3, 'friction': %.17g}, 'time': {'step': 0.01, "
                                                    "'frame': 0.01, 'end': 10}, 'integrator': "
                                                    "{'method': '%s'}}",
        offset, friction, method);
    const double *mass = rbt_sim_masses(sim);
    size_t nodes = rbt_sim_node_count(sim);
    double least = INFINITY, most = 0, moving = 0;
    for (size_t n = 0; n < nodes; n++)
        least = fmin(least, mass[n]), most = fmax(most, mass[n]), moving += 2 * mass[n];
    // k of a node: Young's modulus over 1 - 2 nu times its size, of which 1 m is more than enough
    double kappa = (most + 1e-4 * 2e5 / 0.2) / least;
    rbt_energies first = rbt_sim_energies(sim), last = first;
    double worst = 0, highest = first.total;
    size_t touching = 0;
    for (int i = 0; i < 40; i++) {
        contact_try(sim);
        last = rbt_sim_energies(sim);
        for (int k = 0; k < 3; k++) worst = fmax(worst, fabs(last.momentum[k] - first.momentum[k]));
        highest = fmax(highest, last.total);
        touching += rbt_sim_contacts(sim, NULL, 0) > 0;
    }
    double bound = 40 * (9 * (double)nodes + 1) * DBL_EPSILON * kappa * moving;
    print_message(
        "%-14s offset %g friction %g: %zu steps of contact, momentum off by %.1e kg m/s of %.1e allowed, energy "
        "%.3f\n",
        method, offset, friction, touching, worst, bound, last.total / first.total);
    assert_true(touching >= 3);
    assert_below(worst, bound);
    assert_below(worst, 1e-9 * moving);
    assert_below(highest, 1.001 * first.total);
    rbt_sim_free(sim);
}

static void momentum(void **state) {
    (void)state;
    for (int i = 0; i < METHOD_COUNT; i++) {
        momentum_stays(METHODS[i], 0, 0);
        momentum_stays(METHODS[i], 0.4, 0);
        momentum_stays(METHODS[i], 0.4, 0.5);
    }
}

// ---- Friction

// A block on a plane, gravity inclined by tan = 1/2: the slope without its rotation.
static rbt_sim *slope(const char *method, double friction) {
    return contact_sim(
        "{'rubato': 1, 'bodies': [{'name': 'block', " PART(
            "0.01, 0, 0", "1, 0, 0",
            "5") "'mesh': "
                 "{'shape': {'cuboid': {'size': [0.2, 0.1, 0.2], 'cells': [3, "
                 "2, 3]}}}, 'transform': {'translate': [0, 0.0502, 0]}, 'material': {'model': "
                 "'stable-neo-hookean', 'young': 1e6, "
                 "'poisson': 0.3, 'density': 1000}}], 'obstacles': [{'plane': {}}], 'contact': {'thickness': "
                 "2e-4, 'friction': "
                 "%.17g}, 'forces': [{'gravity': {'acceleration': [4.385667, -8.771334, 0]}}], 'time': "
                 "{'step': 0.01, 'frame': "
                 "0.01, 'end': 10}, 'integrator': {'method': '%s'}}",
        friction, method);
}

// Steps may be halved where nodes rattle (multirate-euler).
static void take(rbt_sim *sim, int steps) {
    for (int i = 0; i < steps; i++) contact_try(sim);
}

static void holds_and_slides(void **state) {
    (void)state;
    for (int i = 0; i < METHOD_COUNT; i++) {
        // holds: what is left of the motion is what the iteration leaves, a thousandth of the thickness a step. Where
        // the interface of a part crosses the sole, nodes on both sides of it rattle, so that multirate-euler needs
        // more.
        double enough = i == 2 ? 0.8 : 0.55;
        rbt_sim *sim = slope(METHODS[i], enough);
        double begin[3], end[3];
        take(sim, 40);
        contact_centre(sim, 0, begin);
        take(sim, 100);
        contact_centre(sim, 0, end);
        print_message("%-14s holds at %g: %.2e m in 1 s\n", METHODS[i], enough, end[0] - begin[0]);
        assert_below(fabs(end[0] - begin[0]), 100 * 1e-3 * 2e-4);
        rbt_sim_free(sim);
        // slides: a = g (sin - mu cos), to 2 %
        sim = slope(METHODS[i], 0.4);
        take(sim, 20);
        contact_velocity(sim, 0, begin);
        take(sim, 60);
        contact_velocity(sim, 0, end);
        double a = (end[0] - begin[0]) / 0.6, coulomb = 4.385667 - 0.4 * 8.771334;
        print_message("%-14s slides at 0.4: %.5f m/s^2, Coulomb's %.5f\n", METHODS[i], a, coulomb);
        assert_below(fabs(a / coulomb - 1), 0.02);
        rbt_sim_free(sim);
    }
}

// ---- A bounce

// A soft ball falls on a floor: it turns round, rises lower than it began, and never touches.
static void bounces(void **state) {
    (void)state;
    for (int i = 0; i < METHOD_COUNT; i++) {
        rbt_sim *sim =
            contact_sim("{'rubato': 1, 'bodies': [{'name': 'ball', " PART(
                            "0, 0.28, 0", "0, -1, 0",
                            "5") "'mesh': {'shape': "
                                 "{'ball': {'radius': 0.1, 'layers': 3}}}, 'transform': {'translate': [0, 0.3, 0]}, "
                                 "'material': {'model': 'stable-neo-hookean', 'young': 1e5, "
                                 "'poisson': "
                                 "0.4, 'density': 1000}}], 'obstacles': [{'plane': {}}], 'contact': {}, 'forces': "
                                 "[{'gravity': {}}], "
                                 "'time': "
                                 "{'step': 0.005, 'frame': 0.005, 'end': 10}, 'integrator': {'method': '%s'%s}}",
                        METHODS[i], i == 1 ? ", 'options': {'modes': 20}" : "");
        double first = rbt_sim_energies(sim).total, lowest = INFINITY, fastest = 0;
        for (int k = 0; k < 80; k++) {
            double v[3];
            contact_step(sim);
            contact_velocity(sim, 0, v);
            fastest = fmax(fastest, v[1]);
            for (size_t n = 0; n < rbt_sim_node_count(sim); n++)
                lowest = fmin(lowest, rbt_sim_positions(sim)[3 * n + 1]);
            assert_below(rbt_sim_energies(sim).total, 1.001 * first);
        }
        print_message("%-14s bounces with %.3f m/s of 1.98, lowest node %.2e m\n", METHODS[i], fastest, lowest);
        assert_true(lowest > 0);
        assert_true(fastest > 0.2);
        rbt_sim_free(sim);
    }
}

// ---- The programme against a dense one

// A ball that is pressed into a corner of three walls and thrown at them. After a step its pairs, the matrix and the
// free motion are there to make the same programme densely: D = h C A^-1 C^T by elimination, solved by sweeps until its
// conditions hold to 1e-12 of the thickness, which makes it the solution, since D is positive semidefinite.
static void is_the_solution_of_the_dense_programme(void **state) {
    (void)state;
    rbt_sim *sim = contact_sim(
        "{'rubato': 1, 'bodies': [{'name': 'ball', 'mesh': {'shape': {'ball': {'radius': 0.1, 'layers': 2}}}, "
        "'transform': {'translate': [0.1012, 0.1013, 0.1014]}, 'material': {'model': 'stable-neo-hookean', 'young': "
        "1e5, "
        "'poisson': 0.4, 'density': 1000}, 'velocity': {'linear': [-2, -3, -1], 'angular': [3, 0, 5]}}], "
        "'obstacles': "
        "[{'plane': {}}, {'plane': {'point': [0, 0, 0], 'normal': [1, 0, 0]}}, {'plane': {'point': [0, 0, 0], "
        "'normal': "
        "[0, 0, 1]}}], 'contact': {'thickness': 5e-4}, 'time': {'step': 0.01, 'frame': 0.01, 'end': 10}, "
        "'integrator': "
        "{'method': 'semi-implicit'}}");
    contact_steps(sim, 3);
    const rbt_linearised *l = sim->stepper.self;
    const rbt_impulses *s = l->impulses;
    size_t n = 3 * l->model->node_count, pairs = s->pair_count, active = 0;
    assert_true(pairs > 6);
    double *A = dense_of_blocks(&l->A), *C = calloc(pairs * n, sizeof *C), *W = calloc(pairs * n, sizeof *W);
    double *D = calloc(pairs * pairs, sizeof *D), *base = calloc(pairs, sizeof *base), *p = calloc(pairs, sizeof *p);
    double h = s->contact->h, thickness = s->contact->thickness, off = INFINITY;
    for (size_t k = 0; k < pairs; k++) {
        const rbt_impulse_pair *pair = &s->pairs[k];
        base[k] = -pair->pair.barrier.inside - pair->target;
        for (int i = 0; i < 4; i++)
            for (size_t j = 0; pair->pair.node[i] >= 0 && j < 3; j++) {
                size_t at = 3 * (size_t)pair->pair.node[i] + j;
                base[k] += pair->weight[i] * pair->normal[j] * s->free[at];
                if (at < n) C[k * n + at] += pair->weight[i] * pair->normal[j];
            }
        double *copy = malloc(n * n * sizeof *copy);
        memcpy(copy, A, n * n * sizeof *copy);
        assert_true(dense_solve(copy, n, C + k * n, W + k * n));
        free(copy);
    }
    for (size_t k = 0; k < pairs * pairs; k++)
        for (size_t i = 0; i < n; i++) D[k] += h * C[k / pairs * n + i] * W[k % pairs * n + i];
    for (int sweep = 0; sweep < 1000000 && off > 1e-12 * thickness; sweep++) {
        off = 0;
        for (size_t k = 0; k < pairs; k++) {
            double c = base[k];
            for (size_t j = 0; j < pairs; j++) c += D[k * pairs + j] * p[j];
            double next = fmax(0, p[k] - c / D[k * pairs + k]);
            off = fmax(off, fabs(next - p[k]) * D[k * pairs + k]);
            p[k] = next;
        }
    }
    assert_below(off, 1e-12 * thickness);
    // Gaps are unique, impulses need not be. Ours are off by what a sweep would change, which grows by the coupling.
    double worst = 0, sum[2] = {0};
    for (size_t k = 0; k < pairs; k++) {
        double c[2] = {base[k], base[k]};
        for (size_t j = 0; j < pairs; j++) {
            c[0] += D[k * pairs + j] * p[j];
            c[1] += D[k * pairs + j] * s->pairs[j].impulse[0];
        }
        worst = fmax(worst, fabs(c[1] - c[0]));
        sum[0] += p[k], sum[1] += s->pairs[k].impulse[0];
        active += p[k] > 0;
        assert_true(s->pairs[k].impulse[0] >= 0);
    }
    print_message("%zu pairs, %zu push; gaps differ by %.1e of the thickness, impulses by %.1e\n", pairs, active,
                  worst / thickness, fabs(sum[1] / sum[0] - 1));
    assert_true(active >= 3);
    assert_below(worst, 0.02 * thickness);
    assert_below(fabs(sum[1] / sum[0] - 1), 1e-2);
    free(A), free(C), free(W), free(D), free(base), free(p);
    rbt_sim_free(sim);
}

// ---- What cannot be

// A block that spins and is hit by a plane: tets would turn inside out, which their material forbids. That is said, not
// that the energy is no number.
static void inverted_tets_are_named(void **state) {
    (void)state;
    rbt_sim *sim = sim_from(
        "{'rubato': 1, 'bodies': [{'name': 'block', 'mesh': {'shape': {'cuboid': {'size': [0.2, 0.2, 0.2], 'cells': "
        "[2, 2, 2]}}}, 'transform': {'translate': [0, 0.11, 0]}, 'velocity': {'angular': [200, 0, 0]}, 'material': "
        "{'model': 'neo-hookean', 'young': 1e5, 'poisson': 0.3, 'density': 1000}}], 'contact': {}, 'obstacles': "
        "[{'plane': {}}, {'plane': {'point': [0, 0.27, 0], 'normal': [0, -1, 0], 'motions': [{'velocity': "
        "{'velocity': [0, -12, 0], 'until': 0.02}}]}}], 'time': {'step': 0.02, 'frame': 0.02, 'end': 0.2}, "
        "'integrator': {'method': 'semi-implicit', 'max_halvings': 2}}");
    rbt_step_report report = {0};
    for (int i = 0; i < 10 && rbt_sim_step(sim, &report); i++) continue;
    assert_int_equal(report.outcome, RBT_INVERTED);
    assert_true(report.element >= 0);
    rbt_sim_free(sim);
}

// Balls that pass through each other's places in a step, each with a part of short steps: what impulses do to it is
// taken for a symmetric matrix, which it is not, and which may have directions in which sweeps over pairs grow, as may
// their corrections. Such a step is halved; once it went on for 20 rounds with ever more pairs (35244 sweeps in the
// first case, and no end within 25 s in the second).
static void what_grows_is_halved(void **state) {
    (void)state;
    static const struct {
        int substeps;
        double friction;
    } CASES[] = {{4, 0}, {8, 0.5}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char ball[] = "'mesh': {'shape': {'ball': {'radius': 0.15, 'layers': 2}}}, 'material': {'model': "
                      "'corotational', 'poisson': 0.4, 'density': 1000, 'young'";
        rbt_sim *sim = contact_sim(
            "{'rubato': 1, 'bodies': [{'name': 'a', %s: 1e7}, 'velocity': {'linear': [20, 0, 0]}, 'tempo': "
            "[{'where': {'plane': {'point': [0, 0, 0], 'normal': [1, 0.3, 0]}}, 'substeps': %d}]}, {'name': 'b', %s: "
            "1e5}, 'transform': {'translate': [0.35, 0.05, 0]}, 'velocity': {'linear': [-20, 0, 0]}, 'tempo': "
            "[{'where': {'plane': {'point': [0.35, 0.05, 0], 'normal': [0.2, 1, 0]}}, 'substeps': %d}]}], 'contact': "
            "{'thickness': 1e-3, 'friction': %g}, 'time': {'step': 0.04, 'frame': 0.04, 'end': 10}, 'integrator': "
            "{'method': 'multirate-euler'}}",
            ball, CASES[i].substeps, ball, CASES[i].substeps, CASES[i].friction);
        const rbt_impulses *impulses = rbt_multirate_contact_of(sim->stepper.self)->impulses;
        for (int k = 0; k < 3; k++) {
            contact_try(sim);
            if (impulses->sweeps > 20000) fail_msg("%zu sweeps", impulses->sweeps);
        }
        print_message("%d substeps, friction %g: %zu sweeps\n", CASES[i].substeps, CASES[i].friction,
                      impulses->sweeps);
        rbt_sim_free(sim);
    }
}

// Two balls so soft and fast that an element loses nearly all of its height in any piece: one linearisation
// turns it inside out. Such pieces are backward Euler's, with the same gaps and no energy from one to the next, so that
// momentum stays, energy does not rise, and what pushes pushes both.
static void what_no_solve_tells_is_backward_eulers(void **state) {
    (void)state;
    static const char *const ALL[] = {"semi-implicit", "siere", "multirate-euler", "imex"};
    for (int i = 0; i < 4; i++) {
        rbt_sim *sim = contact_sim(
            "{'rubato': 1, 'bodies': [{'name': 'a', 'mesh': {'shape': {'ball': {'radius': 0.1, 'layers': 2}}}, "
            "'transform': {'translate': [-0.13, 0, 0]}, 'velocity': {'linear': [150, 0, 0]}, 'material': {'model': "
            "'neo-hookean', 'young': 2e4, 'poisson': 0.45, 'density': 1000}}, {'name': 'b', 'mesh': {'shape': "
            "{'ball': {'radius': 0.1, 'layers': 2}}}, 'transform': {'axis': [1, 2, 3], 'degrees': 40, 'translate': "
            "[0.13, 0.05, 0]}, 'velocity': {'linear': [-150, 0, 0]}, 'material': {'model': 'neo-hookean', 'young': "
            "2e4, 'poisson': 0.45, 'density': 1000}}], 'contact': {'thickness': 1e-3, 'friction': 0.5}, 'time': "
            "{'step': 0.005, 'frame': 0.005, 'end': 10}, 'integrator': {'method': '%s'}}",
            ALL[i]);
        rbt_energies first = rbt_sim_energies(sim), last = first;
        size_t nodes = rbt_sim_node_count(sim), most = 0;
        double worst = 0, highest = 0, forces = 0, unbalanced = 0, *f = calloc(3 * nodes, sizeof *f);
        assert_non_null(f);
        int halvings = 0;
        for (int k = 0; k < 4; k++) {
            double sum[3] = {0}, size = 0;
            int halved = contact_try(sim);
            if (halved > halvings) halvings = halved;
            last = rbt_sim_energies(sim);
            highest = fmax(highest, last.total / first.total);
            for (int d = 0; d < 3; d++) worst = fmax(worst, fabs(last.momentum[d] - first.momentum[d]));
            memset(f, 0, 3 * nodes * sizeof *f);
            sim->stepper.method->contact_forces(sim->stepper.self, &sim->state, f);
            for (size_t n = 0; n < nodes; n++) {
                rbt_add_scaled(sum, 1, f + 3 * n);
                size += rbt_length(f + 3 * n);
            }
            forces = fmax(forces, size);
            unbalanced = fmax(unbalanced, size > 0 ? rbt_length(sum) / size : 0);
            size_t pairs = rbt_sim_contacts(sim, NULL, 0);
            if (pairs > most) most = pairs;
        }
        double damped = sim->stepper.statistics[RBT_STAT_DAMPED];
        print_message("%-15s halved %d times, %g pieces by backward Euler, energy %.3f, momentum off by %.1e of %.3g "
                      "kg m/s, up to %zu pairs and %.3g N\n",
                      ALL[i], halvings, damped, last.total / first.total, worst, rbt_sim_masses(sim)[0] * 150, most,
                      forces);
        assert_true(damped > 0);
        assert_true(most > 0 && forces > 0);
        assert_below(highest, 1.001);
        free(f);
        rbt_sim_free(sim);
    }
}

// What one method hands over of contact is what another one tells of it: twice the forces of a block at rest, with work
// and friction added to those so far.
static void contact_is_handed_over(void **state) {
    (void)state;
    for (int i = 0; i < METHOD_COUNT; i++) {
        rbt_sim *sim = slope(METHODS[i], 0.8);
        take(sim, 30);
        const rbt_method *method = sim->stepper.method;
        size_t nodes = rbt_sim_node_count(sim), count = rbt_sim_contacts(sim, NULL, 0);
        rbt_contact_handover h = {
            .capacity = 4096, .pairs = calloc(4096, sizeof *h.pairs), .force = calloc(3 * nodes, sizeof *h.force)};
        double *before = calloc(3 * nodes, sizeof *before), *after = calloc(3 * nodes, sizeof *after), size = 0;
        rbt_contact_point *points = calloc(count, sizeof *points), *doubled = calloc(count, sizeof *doubled);
        assert_true(h.pairs && h.force && before && after && points && doubled && count > 0);
        method->contact_forces(sim->stepper.self, &sim->state, before);
        rbt_sim_contacts(sim, points, count);
        rbt_energies first = rbt_sim_energies(sim);
        method->give_contact(sim->stepper.self, &sim->state, &h);
        assert_true(h.count > 0 && h.count <= count);
        for (size_t k = 0; k < h.count; k++) h.pairs[k].force *= 2;
        for (size_t k = 0; k < 3 * nodes; k++) h.force[k] *= 2;
        h.work = 3, h.dissipation = 5;
        method->take_contact(sim->stepper.self, &sim->state, &h);
        method->contact_forces(sim->stepper.self, &sim->state, after);
        for (size_t k = 0; k < 3 * nodes; k++) {
            size = fmax(size, fabs(before[k]));
            assert_true(after[k] == 2 * before[k]);
        }
        assert_true(size > 0);
        assert_int_equal(rbt_sim_contacts(sim, doubled, count), h.count);
        double sum = 0, twice = 0;
        for (size_t k = 0; k < count; k++) sum += points[k].force;
        for (size_t k = 0; k < h.count; k++) twice += doubled[k].force;
        assert_below(fabs(twice - 2 * sum), 1e-12 * sum);
        rbt_energies last = rbt_sim_energies(sim);
        assert_below(fabs(last.work - first.work - 3), 1e-12);
        assert_below(fabs(last.friction - first.friction - 5), 1e-12);
        free(h.pairs), free(h.force), free(before), free(after), free(points), free(doubled);
        rbt_sim_free(sim);
    }
}

// ---- Rest

// Bodies at rest in rotated shapes have energies of rounding alone, of which a step may make several times as much
// without a gain: no step is halved for that.
static void rounding_is_no_gain(void **state) {
    (void)state;
    static const char *const MODELS[] = {"neo-hookean", "stable-neo-hookean", "corotational", "st-venant-kirchhoff"};
    for (int i = 0; i < METHOD_COUNT; i++)
        for (size_t k = 0; k < sizeof MODELS / sizeof *MODELS; k++) {
            rbt_sim *sim = contact_sim(
                "{'rubato': 1, 'bodies': [{'name': 'ball', 'mesh': {'shape': {'ball': {'radius': 0.2, 'layers': "
                "2}}}, "
                "'transform': {'axis': [1, 2, 3], 'degrees': 40, 'translate': [0.3, 1.1, 0.7]}, 'material': "
                "{'model': "
                "'%s', 'young': 1e8, 'poisson': 0.499, 'density': 1000}}], 'contact': {}, 'time': {'step': 0.004, "
                "'frame': 0.004, 'end': 10}, 'integrator': {'method': '%s'}}",
                MODELS[k], METHODS[i]);
            contact_steps(sim, 5);
            rbt_sim_free(sim);
        }
}

// A stiff bar lies down on two supports. All of its bending is faster than a step: with modes of it that were exact
// under gravity, and answered to contact as a long implicit step does, it would never come to rest but walk sideways on
// its supports, by 11 mm in 3 s with 8 modes. Landing from 0.5 mm above them, and what the mass is damped by, leave it
// where it fell: within two thicknesses, and slower than a thickness a second.
static void stiff_bars_come_to_rest(void **state) {
    (void)state;
    static const struct {
        const char *method;
        int modes;
    } CASES[] = {{"siere", 0}, {"siere", 5}, {"siere", 8}, {"siere", 20}, {"multirate-euler", 8}};
    for (size_t m = 0; m < sizeof CASES / sizeof *CASES; m++) {
        rbt_sim *sim = contact_sim(
            "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [1, 0.1, 0.1], 'cells': "
            "[12, 1, 1]}}}, 'transform': {'translate': [0, 0.151, 0]}, 'material': {'model': 'corotational', "
            "'young': 3e8, 'poisson': 0.3, 'density': 1000}, 'damping': {'mass': 10}}], 'forces': [{'gravity': {}}], "
            "'contact': {'friction': 0.3, 'thickness': 5e-4}, 'obstacles': [{'box': {'min': [-0.5, 0, -0.2], 'max': "
            "[-0.4, 0.1, 0.2]}}, {'box': {'min': [0.4, 0, -0.2], 'max': [0.5, 0.1, 0.2]}}], 'time': {'step': 0.01, "
            "'frame': 0.01, 'end': 10}, 'integrator': {'method': '%s', 'options': {'modes': %d}}}",
            CASES[m].method, CASES[m].modes);
        size_t nodes = rbt_sim_node_count(sim);
        double mean[3] = {0}, fastest = 0;
        for (int i = 0; i < 200; i++) contact_try(sim);
        const double *x = rbt_sim_positions(sim), *v = rbt_sim_velocities(sim);
        for (size_t n = 0; n < nodes; n++) {
            for (size_t k = 0; k < 3; k++) mean[k] += x[3 * n + k] / (double)nodes;
            fastest = fmax(fastest, rbt_length(v + 3 * n));
        }
        print_message("%s, %2d modes: %.2g and %.2g m aside, fastest node %.2g m/s\n", CASES[m].method,
                      CASES[m].modes, mean[0], mean[2], fastest);
        assert_true(fabs(mean[0]) < 1e-3 && fabs(mean[2]) < 1e-3);
        assert_true(fastest < 5e-4);
        rbt_sim_free(sim);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(momentum),
        cmocka_unit_test(holds_and_slides),
        cmocka_unit_test(bounces),
        cmocka_unit_test(is_the_solution_of_the_dense_programme),
        cmocka_unit_test(inverted_tets_are_named),
        cmocka_unit_test(what_grows_is_halved),
        cmocka_unit_test(what_no_solve_tells_is_backward_eulers),
        cmocka_unit_test(contact_is_handed_over),
        cmocka_unit_test(rounding_is_no_gain),
        cmocka_unit_test(stiff_bars_come_to_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
