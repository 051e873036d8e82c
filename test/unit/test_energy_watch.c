// No explosion is called success: steps beyond a known bound are refused, energy from nothing ends a run or is warned
// of, the work of all that acts from outside is counted, and right motions raise no alarm.
#include "model/force.h"
#include "out/checkpoint.h"
#include "sampled.h"
#include "scene.h"
#include "sim/sim.h"
#include "step/explicit/stability.h"

#include <math.h>
#include <unistd.h>

#define BAR                                                                                                          \
    "'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.4, 0.1, 0.1], 'cells': [4, 1, 1]}}}, 'material': "      \
    "{'model': '%s', 'young': 1e5, 'poisson': 0.4, 'density': 1000}"
#define TIGHT ", 'options': {'tolerance': 1e-12}"

// `body` and `scene` are further members, with a comma first
static rbt_sim *bar(const char *model, const char *method, double h, int steps, const char *body, const char *scene) {
    char json[4096];
    snprintf(json, sizeof json,
             "{'rubato': 1, 'bodies': [{" BAR "%s}]%s, 'time': {'step': %.17g, 'frame': %.17g, 'end': 1000}, "
             "'integrator': {'method': %s}}",
             model, body, scene, h, steps * h, method);
    return sim_from(json);
}

// Frames that went well, up to so many
static int go(rbt_sim *sim, int frames, rbt_step_report *report) {
    int done = 0;
    while (done < frames && rbt_sim_advance_frame(sim, report)) done++;
    return done;
}

static const rbt_ledger *ledger_of(const rbt_sim *sim) { return &sim->state.tally.ledger; }

// What the watch says in the end: 2: it has ended the run, 1: a warning, 0: nothing
static int alarm_of(const rbt_sim *sim, const rbt_step_report *report) {
    char text[320];
    if (report->outcome == RBT_UNSTABLE) return 2;
    return rbt_ledger_text(ledger_of(sim), sim->stepper.method, text) ? 1 : 0;
}

// ---- Steps beyond a bound that is known before

static double bound_of(const char *body) {
    rbt_sim *sim = bar("linear", "'symplectic-euler'", 1e-4, 1, body, "");
    double bound = rbt_stability_step_bound(sim->model, NULL, NULL, NULL);
    rbt_sim_free(sim);
    return bound;
}

static void too_long_explicit_steps_are_refused(void **state) {
    (void)state;
    static const char *const bodies[] = {"", ", 'damping': {'stiffness': 2e-3}", ", 'damping': {'mass': 30}"};
    double free_bound = bound_of("");
    for (int i = 0; i < 3; i++) {
        double bound = bound_of(bodies[i]), h = 1.06 * bound;
        if (i == 1)
            assert_true(1.06 * bound < 0.9 * free_bound);  // as long as nobody looks at the damping, h is fine
        rbt_sim *sim = bar("linear", "'symplectic-euler'", h, 4, bodies[i], ", 'forces': [{'gravity': {}}]");
        rbt_step_report report;
        size_t bytes = 3 * sim->model->node_count * sizeof(double);
        assert_false(rbt_sim_advance_frame(sim, &report));
        assert_int_equal(report.outcome, RBT_UNSTABLE);
        assert_string_equal(report.stage, "stability");
        assert_true(report.body == 0 && fabs(report.value - bound) < 1e-9 * bound);
        assert_true(report.halvings == 0 && report.steps == 0 && sim->state.t == 0);
        assert_memory_equal(sim->state.x, sim->model->x0, bytes);
        assert_non_null(strstr(report.hint, "take a smaller step, imex or an implicit method"));
        rbt_sim_free(sim);
    }
}

// Just below the bound a run continues, and its energy, which swings, is no reason to end it.
static void steps_below_the_bound_are_not_refused(void **state) {
    (void)state;
    double h = 0.999 * bound_of("");
    rbt_sim *sim =
        bar("linear", "'symplectic-euler'", h, 7, ", 'deform': [{'stretch': {'axis': [1, 0, 0], 'factor': 1.1}}]",
            ", 'forces': [{'gravity': {}}]");
    rbt_step_report report;
    char text[320];
    assert_int_equal(go(sim, 300, &report), 300);
    assert_false(sim->stepper.method->warn(sim->stepper.self, text));
    rbt_sim_free(sim);
}

// A plane makes steps unstable only where it is touched: that is a warning before the start.
static void doubtful_steps_are_warned_of(void **state) {
    (void)state;
    rbt_sim *sim = bar("linear", "'symplectic-euler'", 1e-3, 1, "",
                       ", 'obstacles': [{'plane': {'point': [0, -9, 0], 'stiffness': 1e9}}]");
    rbt_step_report report;
    char text[320];
    assert_true(sim->stepper.method->warn(sim->stepper.self, text));
    assert_non_null(strstr(text, "where obstacles touch nodes of body \"bar\""));
    assert_int_equal(go(sim, 3, &report), 3);
    rbt_sim_free(sim);
}

// ---- Energy from nothing

#define SPIN ", 'velocity': {'angular': [0, 0, 80]}"

// What was seen to explode: all end with an outcome, in a frame of one step and in one of many, and leave a state of
// before.
static void explosions_end_the_run(void **state) {
    (void)state;
    static const char *const methods[] = {"'ere'", "'implicit-midpoint'" TIGHT};
    for (int i = 0; i < 2; i++)
        for (int steps = 1; steps <= 1000; steps += 999) {
            rbt_sim *sim = bar("corotational", methods[i], 0.01, steps, SPIN, "");
            double start = rbt_sim_energies(sim).total;
            rbt_step_report report;
            int frames = go(sim, 1000 / steps, &report);
            assert_true(frames < 1000 / steps);
            assert_int_equal(report.outcome, RBT_UNSTABLE);
            assert_string_equal(report.stage, "energy");
            assert_true(report.body == 0 && report.element >= 0 && strcmp(report.element_kind, "tet") == 0);
            assert_non_null(strstr(report.hint, rbt_method_name(rbt_method_find(i ? "implicit-midpoint" : "ere"))));
            assert_non_null(strstr(report.hint, "take a step below 0.01 s"));
            rbt_energies e = rbt_sim_energies(sim);
            assert_true(isfinite(e.total) && e.total > start);
            assert_true(sim->state.step == (steps == 1 ? 0 : sim->state.step) && sim->state.frame == frames);
            assert_true(fabs(sim->state.t - 0.01 * (double)(sim->state.frame * steps + sim->state.step)) < 1e-9);
            // It is no better when asked again.
            assert_false(rbt_sim_advance_frame(sim, &report));
            assert_int_equal(report.outcome, RBT_UNSTABLE);
            rbt_sim_free(sim);
        }
}

// Growth that is not without end: a warning with the figure, in the library's report, too.
static void gains_are_warned_of(void **state) {
    (void)state;
    static const char *const methods[] = {"'multirate-euler'", "'schroeder'", "'semi-implicit'"};
    for (int i = 0; i < 3; i++) {
        rbt_sim *sim = bar("corotational", methods[i], 0.01, 1, SPIN, "");
        double start = rbt_sim_energies(sim).total, most = start;
        rbt_step_report report;
        for (int k = 0; k < 50; k++) {
            advance(sim, 1);
            most = fmax(most, rbt_sim_energies(sim).total);
        }
        assert_true(rbt_sim_advance_frame(sim, &report));
        assert_true(most > 1.1 * start);
        assert_int_equal(alarm_of(sim, &report), 1);
        assert_true(fabs(report.gain - (most - start) / start) < 1e-6);
        rbt_sim_free(sim);
    }
}

// schroeder hangs its parts on the rest by jerks, which pump energy into them. Explicit steps of a part that are too
// long are told before.
static void schroeder_is_caught(void **state) {
    (void)state;
    static const char *const substeps[] = {"10", "2"};
    for (int i = 0; i < 2; i++) {
        char body[256], text[320];
        snprintf(
            body, sizeof body,
            ", 'fixed': ['left'], 'tempo': [{'where': {'box': {'min': [0.7, 0, 0], 'max': [1, 1, 1], 'relative': "
            "true}}, 'substeps': %s}]",
            substeps[i]);
        rbt_sim *sim = bar("linear", "'schroeder'", 0.01, 1, body, ", 'forces': [{'gravity': {}}]");
        rbt_step_report report;
        assert_true(sim->stepper.method->warn(sim->stepper.self, text) == (i == 1));
        if (i) assert_non_null(strstr(text, "schroeder: part 0 of body \"bar\" takes explicit steps of 0.005 s"));
        go(sim, 400, &report);
        assert_true(alarm_of(sim, &report) > 0);
        rbt_sim_free(sim);
    }
}

// A steel bar that hangs still but for 0.8 um. Solves that stop too early gave it up to 227 J; whatever they do, it is
// right or said.
static void loose_solves_are_caught(void **state) {
    (void)state;
    static const char *const methods[] = {"'implicit-midpoint', 'solver': 'newton'",
                                          "'implicit-midpoint', 'solver': 'lbfgs-pd'",
                                          "'implicit-midpoint', 'solver': 'admm-pd'", "'bdf2', 'solver': 'lbfgs-pd'",
                                          "'backward-euler', 'solver': 'admm-pd'"};
    for (int i = 0; i < 5; i++) {
        char json[1024];
        snprintf(json, sizeof json,
                 "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.4, 0.1, 0.1], "
                 "'cells': [8, 2, 2]}}}, "
                 "'material': {'young': 2e11, 'poisson': 0.3, 'density': 7800}, 'fixed': ['left']}], 'forces': "
                 "[{'gravity': {}}], 'time': "
                 "{'step': 0.01, 'frame': 0.01, 'end': 1}, 'integrator': {'method': %s}}",
                 methods[i]);
        rbt_sim *sim = sim_from(json);
        rbt_step_report report;
        double start = rbt_sim_energies(sim).total, most = 0, fall = 0;
        for (int k = 0; k < LONG(80, SAMPLED(40, 15)) && rbt_sim_advance_frame(sim, &report); k++) {
            rbt_energies e = rbt_sim_energies(sim);
            most = fmax(most, e.total - start);
            fall = fmax(fall, -e.gravity);
        }
        double step = 0.5 * 31.2 * 9.81 * 9.81 * 1e-4;  // energy of one step of free fall
        if (most > 0.2 * (fall + step) && !alarm_of(sim, &report))
            fail_msg("%s: %g J from nothing, and no word", methods[i], most);
        rbt_sim_free(sim);
    }
}

// ---- Work

#define DRIVEN                                                                                                       \
    ", 'driven': [{'where': 'left', 'release': 0.031, 'motions': [{'rotation': {'axis': [1, 0, 0], 'rate': 9}}, "    \
    "{'oscillation': {'amplitude': [0, 0.02, 0.01], 'frequency': 6}}]}]"
#define PULLED                                                                                                       \
    ", 'forces': [{'gravity': {}}, {'pull': {'where': 'right', 'force': [1, 2, 0], 'from': 0.01, 'until': 0.04}}]"
#define GROUND ", 'obstacles': [{'plane': {'point': [0, -0.051, 0], 'normal': [0, 1, 0], 'stiffness': 1e5}}]"

// The midpoint rule keeps the energy of a linear body: total - work stays to the solver's tolerance, whatever drives
// and pulls. With a consistent mass it does once the driven nodes are released: before, their velocity is that of the
// whole step, not the midpoint's, which free nodes feel through the mass.
static void work_is_exact_for_linear_bodies(void **state) {
    (void)state;
    static const char *const bodies[] = {"", ", 'consistent_mass': true"};
    for (int i = 0; i < 2; i++) {
        char body[512];
        snprintf(body, sizeof body, "%s" DRIVEN, bodies[i]);
        rbt_sim *sim = bar("linear", "'implicit-midpoint'" TIGHT, 0.001, 2, body, PULLED);
        double start = rbt_sim_energies(sim).total, most = 0, off = 0;
        assert_true(rbt_sim_energies(sim).work == 0);
        for (int k = 0; k < 40; k++) {
            advance(sim, 1);
            rbt_energies e = rbt_sim_energies(sim);
            most = fmax(most, fabs(e.work));
            if (i && sim->state.t < 0.033) off = e.total - e.work - start;
            // Energies come from sums of squares of displacements: 1e-9 of them is far above rounding and the
            // tolerance.
            if (!(fabs(e.total - e.work - start - off) < 1e-9 * fmax(1, most)))
                fail_msg("%d, frame %d: %.17g - %.17g", i, k, e.total - start, e.work);
        }
        assert_true(most > 0.1);
        rbt_sim_free(sim);
    }
}

// With damping, which only takes energy, and with obstacles under driven nodes: total - work never rises; without
// counting, it would.
static void work_covers_damping_and_obstacles(void **state) {
    (void)state;
    rbt_sim *sim = bar("stable-neo-hookean", "'backward-euler'" TIGHT, 0.001, 1,
                       ", 'damping': {'mass': 0.5, 'stiffness': 5e-3}" DRIVEN, PULLED GROUND);
    double before = rbt_sim_energies(sim).total, most = 0;
    for (int k = 0; k < 60; k++) {
        advance(sim, 1);
        rbt_energies e = rbt_sim_energies(sim);
        most = fmax(most, e.work);
        if (!(e.total - e.work < before + 1e-3 * most))
            fail_msg("step %d: %.9g after %.9g", k, e.total - e.work, before);
        before = fmin(before, e.total - e.work);
    }
    assert_true(most > 0.1);
    rbt_sim_free(sim);
}

// Explicit steps are sampled now and then only. What is counted is nearly the same, and what may be missing is known.
static void rare_samples_are_good_enough(void **state) {
    (void)state;
    rbt_sim *often = bar("stable-neo-hookean", "'symplectic-euler'", 2e-4, 1, DRIVEN, PULLED);
    rbt_sim *rarely = bar("stable-neo-hookean", "'symplectic-euler'", 2e-4, 50, DRIVEN, PULLED);
    assert_true(rarely->watch.outside.every > 10);
    often->watch.every_frame = rarely->watch.every_frame = true;
    for (int k = 0; k < 6; k++) {
        advance(often, 50);
        advance(rarely, 1);
        double exact = rbt_sim_energies(often).work, work = rbt_sim_energies(rarely).work;
        const rbt_ledger *ledger = ledger_of(rarely);
        if (!(fabs(work - exact) < ledger->slack + 0.1 * ledger->effort))
            fail_msg("frame %d: %.9g instead of %.9g, slack %.3g", k, work, exact, ledger->slack);
    }
    rbt_sim_free(often);
    rbt_sim_free(rarely);
}

// A load within one interval between samples is seen, and its mean is exact.
static void loads_have_exact_means(void **state) {
    (void)state;
    rbt_node_load pulse = {.from = 0.1, .until = 0.4, .pulse = true}, pull = {.from = 0.1, .until = INFINITY};
    double pi = acos(-1.0), sum = 0;
    assert_true(fabs(rbt_load_mean_strength(&pulse, 0, 1) - 0.3 * 2 / pi) < 1e-15);
    assert_true(rbt_load_mean_strength(&pulse, 0, 0.1) == 0 && rbt_load_mean_strength(&pulse, 0.4, 1) == 0);
    for (int i = 0; i < 3000; i++) sum += rbt_load_strength(&pulse, 0.2 + (i + 0.5) * 1e-4 / 2) / 3000;
    assert_true(fabs(rbt_load_mean_strength(&pulse, 0.2, 0.35) - sum) < 1e-7);
    assert_true(fabs(rbt_load_mean_strength(&pull, 0, 1) - 0.9) < 1e-15 &&
                rbt_load_mean_strength(&pull, 0.2, 3) == 1);
}

// ---- Right motions

static const char *const ALL[] = {
    "'semi-implicit'", "'backward-euler'" TIGHT, "'implicit-midpoint'" TIGHT, "'bdf2'" TIGHT,   "'siere'", "'ere'",
    "'imex'",          "'multirate-euler'",      "'symplectic-euler'",        "'async-contact'"};

static void right_motions_raise_no_alarm(void **state) {
    (void)state;
    static const struct {
        const char *what, *body, *scene;
    } cases[] = {
        {"free", "", ""},
        {"falling", "", ", 'forces': [{'gravity': {}}]"},
        {"hanging", ", 'fixed': ['left']", ", 'forces': [{'gravity': {}}]"},
        {"released", ", 'deform': [{'twist': {'axis': [1, 0, 0], 'degrees': 30}}]", ""},
        {"driven", DRIVEN, PULLED},
        {"landing", ", 'transform': {'translate': [0, 0.1, 0]}, 'velocity': {'linear': [0, -1.5, 0]}",
         ", 'forces': [{'gravity': {}}], 'obstacles': [{'plane': {'stiffness': 1e6}}]"},
        {"kicked", ", 'fixed': ['left']",
         ", 'forces': [{'pulse': {'where': 'right', 'peak': [0, 20, 0], 'from': 0.0123, 'duration': 0.0004}}]"},
        {"windy", ", 'fixed': ['left']", ", 'forces': [{'wind': {'velocity': [0, 0, 20], 'gust_frequency': 9}}]"},
        {"spinning", ", 'velocity': {'angular': [1, 2, 9]}", ""},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
        for (size_t i = 0; i < sizeof ALL / sizeof ALL[0]; i++)
            for (int steps = 1; steps <= 40; steps += 39) {
                rbt_sim *sim = bar("stable-neo-hookean", ALL[i], 5e-4, steps, cases[c].body, cases[c].scene);
                rbt_step_report report = {0};
                int frames = SAMPLED(80, 40) / steps, done = go(sim, frames, &report);
                if (done < frames || alarm_of(sim, &report))
                    fail_msg("%s, %s, %d steps a frame: gain %.3g of %.3g J at %g s; %d frames, %s", cases[c].what,
                             ALL[i], steps, ledger_of(sim)->gain, ledger_of(sim)->scale, ledger_of(sim)->gain_time,
                             done, report.hint);
                rbt_sim_free(sim);
            }
}

// A cut and a changed scene change the energy; that is no gain.
static void jumps_are_no_gains(void **state) {
    (void)state;
    rbt_sim *sim = sim_from("{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.4, "
                            "0.1, 0.1], 'cells': [8, 2, 2]}}}, 'material': "
                            "{'young': 1e5}, 'fixed': ['left']}], 'forces': [{'gravity': {}}], 'cuts': [{'surface': "
                            "{'plane': {'point': [0.033, 0.01, 0], "
                            "'normal': [1, 0.2, 0]}}, 'time': 0.05}], 'time': {'step': 1e-3, 'frame': 0.01, 'end': "
                            "1}, 'integrator': {'method': 'semi-implicit'}}");
    rbt_step_report report;
    assert_int_equal(go(sim, 30, &report), 30);
    assert_true(sim->model->generation > 0);
    assert_int_equal(alarm_of(sim, &report), 0);
    rbt_sim_free(sim);

    // Ten times as stiff from here on, as with --from-frame: the elastic energy is ten times as large at once.
    sim =
        bar("stable-neo-hookean", "'semi-implicit'", 1e-3, 5, ", 'fixed': ['left']", ", 'forces': [{'gravity': {}}]");
    rbt_scene_file *file = scene_from(
        "{'rubato': 1, 'bodies': [{"
        "'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.4, 0.1, 0.1], "
        "'cells': [4, 1, 1]}}}, 'material': {'young': 1e8}, 'fixed': ['left']}], 'time': {'step': 1e-3, 'frame': "
        "0.005, 'end': 1}, 'integrator': {'method': 'semi-implicit'}}");
    advance(sim, 20);
    rbt_sim *next = rbt_sim_create(rbt_scene_of(file), NULL);
    assert_non_null(next);
    assert_true(rbt_sim_resume(next, &sim->state, NULL));
    rbt_sim_free(sim);
    assert_int_equal(go(next, 20, &report), 20);
    assert_true(ledger_of(next)->jumps > 0);
    assert_int_equal(alarm_of(next, &report), 0);
    rbt_sim_free(next);
    rbt_scene_free(file);
}

// The ledger of a run that continues from a checkpoint is that of one that never stopped, bit for bit.
static void ledgers_survive(void **state) {
    (void)state;
    static const char *const methods[] = {"'semi-implicit'", "'symplectic-euler'", "'async-contact'"};
    char path[] = "/tmp/rubato-ledger.XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    for (int i = 0; i < 3; i++) {
        rbt_sim *whole = bar("stable-neo-hookean", methods[i], 5e-4, 20, DRIVEN, PULLED);
        rbt_sim *again = bar("stable-neo-hookean", methods[i], 5e-4, 20, DRIVEN, PULLED);
        rbt_state back;
        rbt_error error = {0};
        advance(whole, 2);
        assert_true(rbt_checkpoint_write(path, whole->model, &whole->state, &error));
        assert_true(rbt_checkpoint_read(path, again->model, RBT_SAME_MODEL, &back, &error));
        assert_true(rbt_sim_resume(again, &back, &error));
        advance(whole, 3);
        advance(again, 3);
        assert_true(ledger_of(whole)->work != 0 || i == 2);
        assert_true(rbt_sim_energies(whole).work == rbt_sim_energies(again).work);
        assert_memory_equal(ledger_of(whole), ledger_of(again), sizeof(rbt_ledger));
        rbt_sim_free(whole);
        rbt_sim_free(again);
    }
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(too_long_explicit_steps_are_refused),
        cmocka_unit_test(steps_below_the_bound_are_not_refused),
        cmocka_unit_test(doubtful_steps_are_warned_of),
        cmocka_unit_test(explosions_end_the_run),
        cmocka_unit_test(gains_are_warned_of),
        cmocka_unit_test(schroeder_is_caught),
        cmocka_unit_test(loose_solves_are_caught),
        cmocka_unit_test(work_is_exact_for_linear_bodies),
        cmocka_unit_test(work_covers_damping_and_obstacles),
        cmocka_unit_test(rare_samples_are_good_enough),
        cmocka_unit_test(loads_have_exact_means),
        cmocka_unit_test(right_motions_raise_no_alarm),
        cmocka_unit_test(jumps_are_no_gains),
        cmocka_unit_test(ledgers_survive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
