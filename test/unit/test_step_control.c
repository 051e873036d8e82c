// Steps by error (step/core/step_control.h): the plan of steps, the error that comes of them with every method that
// can, and that they are part of the state.
#include "every_method.h"
#include "math/vec3.h"

#include <math.h>

enum { FRAMES = 10 };

// A soft bar that begins to swing: the sum of a slow and several faster motions
static rbt_sim *swing(const char *method, const char *step, double error, const char *more) {
    char json[1024];
    snprintf(
        json, sizeof json,
        "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [1, 0.2, 0.2], 'cells': [4, "
        "1, 1]}}}, 'material': {'young': 1e5, 'poisson': 0.3}, 'fixed': ['left']}], 'forces': [{'gravity': {}}], "
        "'time': {'step': %s, 'frame': 0.05, 'end': 0.5%s}, 'goal': {'error': %g}, 'integrator': {'method': '%s'}}",
        step, more, error, method);
    return sim_from(json);
}

static double difference(const rbt_sim *a, const rbt_sim *b) {
    double largest = 0, size = rbt_model_diagonal(a->model);
    for (size_t n = 0; n < a->model->node_count; n++) {
        double d[3];
        rbt_subtract(a->state.x + 3 * n, b->state.x + 3 * n, d);
        largest = fmax(largest, rbt_length(d) / size);
    }
    return largest;
}

static bool can(int method) { return rbt_method_at(method)->error_law != NULL; }

// ---- The plan

static void plans_steps(void **unused) {
    (void)unused;
    rbt_sim *sim = swing("bdf2", "'auto'", 1e-2, "");
    const rbt_step_control *c = &sim->stepper.control;
    assert_true(c->on);
    rbt_step_memory memory = {.next = 0.01, .last = 0.01, .known = 2};
    assert_true(rbt_step_control_plan(c, &memory, 0.05) == 0.01);
    assert_true(rbt_step_control_plan(c, &memory, 0.015) ==
                0.0075);  // two equal ones rather than a long and a short one
    assert_true(rbt_step_control_plan(c, &memory, 0.009) == 0.009);
    rbt_step_verdict v = rbt_step_control_judge(c, &memory, 1e-9, 0.01, 2, false);
    assert_true(v.accepted && v.next == 0.02);
    v = rbt_step_control_judge(c, &memory, 0.99, 0.01, 2, false);
    assert_true(v.accepted && v.next < 0.01 && v.next > 0.008);
    v = rbt_step_control_judge(c, &memory, 1e6, 0.01, 2, false);
    assert_true(!v.accepted && fabs(v.next - 0.001) < 1e-15);
    v = rbt_step_control_judge(c, &memory, NAN, 0.01, 2, false);
    assert_true(!v.accepted && v.next < 0.01);
    rbt_step_memory least = {.next = c->shortest, .last = c->shortest, .known = 2};
    v = rbt_step_control_judge(c, &least, 10, c->shortest, 2, false);
    assert_true(v.accepted && strcmp(v.why, "floor") == 0);
    v = rbt_step_control_judge(c, &memory, 10, 0.01 / 8, 2, false);  // 10 h / T = 0.025 of the error at once
    assert_true(!v.accepted);
    v = rbt_step_control_judge(c, &memory, 5, 0.01 / 8, 2, false);
    assert_true(v.accepted && strcmp(v.why, "jump") == 0);
    rbt_sim_free(sim);
}

// Differences of v(t) = t^3 at uneven places: third derivatives are exact, and with them the estimates
static void estimates_polynomials(void **unused) {
    (void)unused;
    rbt_sim *sim = swing("bdf2", "'auto'", 1e-2, "");
    const rbt_model *m = sim->model;
    rbt_step_control *c = &sim->stepper.control;
    rbt_step_memory *memory = rbt_stepper_step_memory(&sim->stepper, &sim->state);
    double t[4] = {0.1, 0.25, 0.3, 0.42}, *before = (double *)(memory + 1), *earlier = before + 3 * m->node_count;
    double *v = calloc(3 * m->node_count, sizeof *v);
    for (size_t i = 0; i < 3 * m->node_count; i++) {
        earlier[i] = pow(t[0], 3), before[i] = pow(t[1], 3), v[i] = pow(t[2], 3), sim->state.v[i] = pow(t[3], 3);
    }
    memory->known = 2;
    memory->last = t[2] - t[1];
    memory->before = t[1] - t[0];
    double h = t[3] - t[2];
    assert_int_equal(2, rbt_step_control_estimate(c, memory, m, &sim->state, v, h, 2, 0.5));
    double second = 2 * (t[3] + t[2] + t[1]);  // v[t3, t2, t1] of t^3, times 2
    for (size_t i = 0; i < 3 * m->node_count; i++) {
        assert_true(fabs(c->ex[i] - 0.5 * pow(h, 3) * second) < 1e-14);
        assert_true(fabs(c->ev[i] - 0.5 * pow(h, 3) * 6) < 1e-12);  // rounding of third differences
    }
    memory->known = 0;  // at the start only the first difference is known
    assert_int_equal(1, rbt_step_control_estimate(c, memory, m, &sim->state, v, h, 2, 1.0 / 12));
    assert_true(fabs(c->ex[5] - 0.5 * h * (sim->state.v[5] - v[5])) < 1e-14 && c->ev[5] == 0);
    free(v);
    rbt_sim_free(sim);
}

// ---- The error

static void keeps_to_the_error(void **unused) {
    (void)unused;
    rbt_sim *reference = swing("implicit-midpoint", SAMPLED("5e-5", "2e-4"), 1, "");
    advance(reference, FRAMES);
    int tried = 0;
    for (int i = 0; rbt_method_name(i); i++) {
        if (!can(i)) continue;
        double error[2];
        int64_t steps[2];
        for (int k = 0; k < 2; k++) {
            double asked = k ? 1e-3 : 1e-2;
            rbt_sim *sim = swing(rbt_method_name(i), "'auto'", asked, "");
            advance(sim, FRAMES);
            assert_true(rbt_sim_time(sim) == (double)FRAMES * 0.05);
            error[k] = difference(sim, reference);
            steps[k] = sim->state.tally.steps;
            if (!(error[k] <= 3 * asked))
                fail_msg("%s: an error of %g where %g was asked for", rbt_method_name(i), error[k], asked);
            assert_int_equal(0, rbt_stepper_step_memory(&sim->stepper, &sim->state)->floor_steps);
            rbt_sim_free(sim);
        }
        // a tenth of the error, by ten or sqrt(10) times as many steps where these are not those of the start
        double slope = log10(error[0] / error[1]);
        if (!(slope > 0.6 && slope < 1.4)) fail_msg("%s: the error falls by 10^%g", rbt_method_name(i), slope);
        assert_true(2 * steps[1] > 3 * steps[0]);
        tried++;
    }
    assert_true(tried >= 5);
    rbt_sim_free(reference);
}

// A bar that spins and turns stiff elements: what forces do along an arc is no small part of the error.
static rbt_sim *spin(const char *method, const char *step, double error) {
    char json[1024];
    snprintf(
        json, sizeof json,
        "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [1, 0.2, 0.2], 'cells': "
        "[4, 1, 1]}}}, 'material': {'young': 1e5, 'poisson': 0.3}, 'velocity': {'angular': [0, 0, 6]}}], 'time': "
        "{'step': %s, 'frame': 0.05, 'end': 0.5}, 'goal': {'error': %g}, 'integrator': {'method': '%s'}}",
        step, error, method);
    return sim_from(json);
}

// What a step by error from `before` has missed, in the norm of step_control.h over what it may miss: against 8 steps
// of the midpoint rule
static double missed(const rbt_sim *sim, const rbt_state *before, double span, rbt_sim *fine) {
    const rbt_model *m = sim->model;
    rbt_step_report report = {0};
    rbt_state *f = &fine->state;
    double h = sim->state.t - before->t, largest = 0, size = sim->stepper.control.sizes[0];
    memcpy(f->x, before->x, 3 * m->node_count * sizeof(double));
    memcpy(f->v, before->v, 3 * m->node_count * sizeof(double));
    f->t = before->t;
    rbt_stepper_forget(&fine->stepper, f);
    for (int i = 1; i <= 8; i++)
        assert_int_equal(RBT_DONE, rbt_stepper_advance(&fine->stepper, f, before->t + h * i / 8, &report));
    for (size_t n = 0; n < m->node_count; n++) {
        double x[3], v[3];
        rbt_subtract(sim->state.x + 3 * n, f->x + 3 * n, x);
        rbt_subtract(sim->state.v + 3 * n, f->v + 3 * n, v);
        largest = fmax(largest, sqrt(rbt_dot(x, x) + span * span * rbt_dot(v, v)) / size);
    }
    return largest / (m->asked.error * h / sim->stepper.control.length);
}

// No step makes three times the error that it may; most make about that.
static void judge_steps(rbt_sim *sim, rbt_sim *fine) {
    enum { START = 3 };
    rbt_step_report report;
    int count = 0, near = 0;
    while (sim->state.frame < FRAMES) {
        rbt_state before = {0};
        double span = rbt_stepper_step_memory(&sim->stepper, &sim->state)->span;
        assert_true(rbt_state_copy(&before, &sim->state, NULL));
        assert_true(rbt_sim_step(sim, &report));
        double error = missed(sim, &before, span, fine);
        if (++count > START && !(error <= 3))
            fail_msg("%s: %g times the error at %g s", rbt_sim_method(sim), error, before.t);
        near += error > 1.0 / 3;
        rbt_state_clear(&before);
    }
    assert_true(count > 30 && 2 * near > count);
    rbt_sim_free(sim);
}

static void knows_errors_of_steps(void **unused) {
    (void)unused;
    rbt_sim *fine_swing = swing("implicit-midpoint", "0.05", 1, ""),
            *fine_spin = spin("implicit-midpoint", "0.05", 1);
    for (int i = 0; rbt_method_name(i); i++) {
        if (!can(i)) continue;
        judge_steps(swing(rbt_method_name(i), "'auto'", 0.01, ""), fine_swing);
        judge_steps(spin(rbt_method_name(i), "'auto'", 0.05), fine_spin);
    }
    rbt_sim_free(fine_swing);
    rbt_sim_free(fine_spin);
}

typedef struct step_list {
    int accepted, rejected, failed;
    double ends, largest;  // where accepted steps end; the largest estimate of them
} step_list;

static void note(void *context, const rbt_step_attempt *a) {
    step_list *list = context;
    list->accepted += a->accepted;
    list->rejected += !a->accepted && isfinite(a->estimate);
    list->failed += !a->accepted && !isfinite(a->estimate);
    if (!a->accepted) return;
    assert_true(fabs(a->t - list->ends) < 1e-12);
    list->ends = a->t + a->step;
    if (strcmp(a->why, "jump") != 0 && strcmp(a->why, "start") != 0) list->largest = fmax(list->largest, a->estimate);
}

// Every attempt is told, accepted ones follow on one another and end at frames; what is taken back is counted
static void tells_attempts(void **unused) {
    (void)unused;
    rbt_sim *sim = swing("implicit-midpoint", "'auto'", 1e-3, "");
    step_list list = {0};
    rbt_step_report report;
    double rejected = 0;
    int64_t taken = 0;
    sim->stepper.control.log = (rbt_step_log){note, &list};
    for (int i = 0; i < FRAMES; i++) {
        assert_true(rbt_sim_advance_frame(sim, &report));
        assert_true(rbt_sim_time(sim) == (i + 1) * 0.05 && fabs(list.ends - rbt_sim_time(sim)) < 1e-12);
        rejected += report.statistics[RBT_STAT_REJECTED];
        taken += report.steps;
    }
    assert_int_equal(taken, list.accepted);
    assert_int_equal((int)rejected, list.rejected);
    assert_true(list.largest > 0.3 && list.largest <= 1);
    rbt_sim_free(sim);
}

// Steps of the least length are taken whatever their error, and counted.
static void has_a_floor(void **unused) {
    (void)unused;
    rbt_sim *sim = swing("backward-euler", "'auto'", 1e-5, ", 'min_step': 0.01");
    advance(sim, 4);
    const rbt_step_memory *memory = rbt_stepper_step_memory(&sim->stepper, &sim->state);
    assert_int_equal(20, sim->state.tally.steps);
    assert_true(memory->floor_steps > 10 && memory->floor_worst > 10);
    rbt_sim_free(sim);
}

// Where bodies can meet something, errors are larger by default, and no step is shorter than the error times a frame.
static void asks_less_where_bodies_meet(void **unused) {
    (void)unused;
    static const struct {
        const char *more;
        double error, shortest;
    } cases[] = {{"", 0.01, 0.05 / (1 << 20)},
                 {", 'contact': {}", 0.05, 0.05 * 0.05},
                 {", 'obstacles': [{'plane': {'point': [0, -9, 0]}}]", 0.05, 0.05 * 0.05},
                 {", 'contact': {}, 'goal': {'quality': 'preview'}", 0.2, 0.2 * 0.05},
                 {", 'contact': {}, 'goal': {'quality': 'accurate'}", 0.01, 0.01 * 0.05},
                 {", 'contact': {}, 'goal': {'error': 0.3}", 0.3, 0.3 * 0.05}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char json[1024];
        snprintf(
            json, sizeof json,
            "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'bar': {}}}}], 'time': {'step': 'auto', "
            "'frame': 0.05, 'end': 0.5}, 'integrator': {'method': 'bdf2'}%s}",
            cases[i].more);
        rbt_sim *sim = sim_from(json);
        const rbt_step_control *c = &sim->stepper.control;
        assert_true(c->error == cases[i].error && fabs(c->shortest - cases[i].shortest) < 1e-15);
        // an error that is chosen later moves the least step along
        rbt_error error;
        rbt_chosen chosen = {.method = rbt_method_find("bdf2"), .error = 0.5};
        must(rbt_sim_take_choice(sim, &chosen, &error), &error);
        assert_true(c->error == 0.5 && fabs(c->shortest - (i ? 0.5 * 0.05 : cases[0].shortest)) < 1e-15);
        rbt_sim_free(sim);
    }
}

// A load that begins inside the run, and nodes that are released, cost a few short steps each.
static void meets_jumps(void **unused) {
    (void)unused;
    rbt_sim *sim = sim_from(
        "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [1, 0.2, 0.2], 'cells': [4, "
        "1, "
        "1]}}}, 'material': {'young': 1e5}, 'fixed': ['left'], 'driven': [{'where': 'right', 'release': 0.21}]}], "
        "'forces': [{'gravity': {}}], 'events': [{'time': 0.113, 'force': {'body': 'bar', 'where': 'top', 'force': "
        "[0, "
        "0, 30]}}], 'time': {'step': 'auto', 'frame': 0.05, 'end': 0.5}, 'integrator': {'method': 'bdf2'}}");
    step_list list = {0};
    sim->stepper.control.log = (rbt_step_log){note, &list};
    advance(sim, 10);
    assert_int_equal(0, rbt_stepper_step_memory(&sim->stepper, &sim->state)->floor_steps);
    assert_true(list.rejected < 80);
    rbt_sim_free(sim);
}

// ---- The state

static void continues(const char *method) {
    rbt_error error;
    rbt_step_report report;
    rbt_sim *one = swing(method, "'auto'", 1e-2, ""), *other = swing(method, "'auto'", 1e-2, "");
    advance(one, 2);
    steps(one, 3);
    rbt_state *saved = rbt_sim_save(one, &error);
    must(saved, &error);
    advance(other, 4);  // it has been somewhere else
    must(rbt_sim_restore(other, saved, &error), &error);
    rbt_sim *clone = rbt_sim_clone(other, &error);
    must(clone, &error);
    rbt_sim *each[] = {one, other, clone};
    for (int i = 0; i < 3; i++) {
        must(rbt_sim_set_threads(each[i], 1 + i, &error), &error);
        double time = rbt_state_time(saved) + 0.013;  // inside a frame, or beyond its end
        assert_true(rbt_sim_advance_to(each[i], time, &report));
        assert_true(rbt_sim_time(each[i]) == time);
        advance(each[i], 3);
        assert_same_motion(one, each[i], method);
    }
    for (int i = 0; i < 3; i++) rbt_sim_free(each[i]);
    rbt_state_free(saved);
}

static void is_part_of_the_state(void **unused) {
    (void)unused;
    for (int i = 0; rbt_method_name(i); i++)
        if (can(i)) continues(rbt_method_name(i));
}

// A step that fails is halved: BDF2 with an iteration that is cut off at once cannot make long ones.
static void halves_what_fails(void **unused) {
    (void)unused;
    rbt_sim *sim = sim_from("{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [1, 0.2, "
                            "0.2], 'cells': [4, 1, "
                            "1]}}}, 'material': {'young': 1e5, 'model': 'neo-hookean'}, 'deform': [{'twist': "
                            "{'axis': [1, 0, 0], 'degrees': "
                            "40}}]}], 'time': {'step': 'auto', 'frame': 0.05, 'end': 0.5}, 'goal': {'error': 0.5}, "
                            "'integrator': {'method': "
                            "'backward-euler', 'options': {'max_iterations': 1}}}");
    step_list list = {0};
    rbt_step_report report;
    sim->stepper.control.log = (rbt_step_log){note, &list};
    assert_true(rbt_sim_advance_frame(sim, &report));
    assert_true(list.failed > 0 && report.halvings > 0 && report.halved_steps > 0);
    assert_true(rbt_sim_time(sim) == 0.05);
    rbt_sim_free(sim);
}

static void refuses_what_cannot(void **unused) {
    (void)unused;
    refuses("{'rubato': 1, 'bodies': [{'name': 'a', 'mesh': {'shape': {'bar': {}}}}], 'time': {'step': 'auto'}, "
            "'integrator': {'method': 'ere'}}",
            "give ere a step");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_steps),
        cmocka_unit_test(estimates_polynomials),
        cmocka_unit_test(keeps_to_the_error),
        cmocka_unit_test(knows_errors_of_steps),
        cmocka_unit_test(tells_attempts),
        cmocka_unit_test(has_a_floor),
        cmocka_unit_test(asks_less_where_bodies_meet),
        cmocka_unit_test(meets_jumps),
        cmocka_unit_test(is_part_of_the_state),
        cmocka_unit_test(halves_what_fails),
        cmocka_unit_test(refuses_what_cannot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
