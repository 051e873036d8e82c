// Driving a simulation: by steps, to times, to frames; with any number of threads, several at once.
#include "every_method.h"

#include <math.h>
#include <pthread.h>

static void steps_are_frames(const method_case *c) {
    rbt_sim *one = method_sim(c), *other = method_sim(c);
    steps(one, 12);
    advance(other, 3);
    assert_same_motion(one, other, c->name);
    rbt_sim_free(one);
    rbt_sim_free(other);
}

static void steps_make_frames(void **state) {
    (void)state;
    assert_true(for_every_method(steps_are_frames) >= 15);
}

static void go(rbt_sim *sim, double time) {
    rbt_step_report report;
    if (!rbt_sim_advance_to(sim, time, &report))
        fail_msg("%s in %s: %s", rbt_outcome_name(report.outcome), report.stage, report.hint);
}

static void times_on_the_grid(const method_case *c) {
    rbt_sim *one = method_sim(c), *other = method_sim(c);
    go(one, 3e-3);
    go(one, 3e-3);
    go(one, 0.012);
    advance(other, 3);
    assert_same_motion(one, other, c->name);
    rbt_sim_free(one);
    rbt_sim_free(other);
}

static void times_of_steps_are_steps(void **state) {
    (void)state;
    for_every_method(times_on_the_grid);
}

// Inside a step the time is what was asked for, the grid of frames stays, and a state saved there continues with the
// same bits.
static void times_inside(const method_case *c) {
    rbt_error error;
    rbt_sim *one = method_sim(c), *other = method_sim(c);
    go(one, 4.4e-3);
    assert_true(rbt_sim_time(one) == 4.4e-3 && rbt_sim_frame(one) == 1);
    rbt_state *saved = rbt_sim_save(one, &error);
    must(saved, &error);
    go(one, 4.7e-3);
    steps(one, 1);
    assert_float_equal(rbt_sim_time(one), 5e-3, 1e-15);
    advance(one, 2);
    assert_true(rbt_sim_frame(one) == 3 && rbt_sim_time(one) == 3 * 4e-3);
    must(rbt_sim_restore(other, saved, &error), &error);
    go(other, 4.7e-3);
    steps(other, 1);
    advance(other, 2);
    assert_same_motion(one, other, c->name);
    rbt_state_free(saved);
    rbt_sim_free(one);
    rbt_sim_free(other);
}

static void times_inside_steps(void **state) {
    (void)state;
    for_every_method(times_inside);
}

// Its clocks do not mind where one looks.
static void async_contact_does_not_mind(void **state) {
    (void)state;
    method_case c = {.method = "async-contact", .name = "async-contact"};
    rbt_sim *one = method_sim_with(&c, "", "]"), *other = method_sim_with(&c, "", "]");
    for (int i = 1; i < 40; i++) go(one, i * 3.1e-4);
    go(one, 0.016);
    advance(other, 4);
    size_t bytes = 3 * rbt_sim_node_count(one) * sizeof(double);
    assert_memory_equal(rbt_sim_positions(one), rbt_sim_positions(other), bytes);
    assert_memory_equal(rbt_sim_velocities(one), rbt_sim_velocities(other), bytes);
    rbt_sim_free(one);
    rbt_sim_free(other);
}

static void impossible_times_are_refused(void **state) {
    (void)state;
    method_case c = {.method = "semi-implicit"};
    rbt_sim *sim = method_sim(&c), *other = method_sim(&c);
    rbt_step_report report;
    go(sim, 0.01);
    go(other, 0.01);
    const double wrong[] = {0.005, -1, NAN, INFINITY};
    for (int i = 0; i < 4; i++) {
        assert_false(rbt_sim_advance_to(sim, wrong[i], &report));
        assert_int_equal(report.outcome, RBT_REFUSED);
    }
    assert_true(rbt_sim_advance_to(sim, 0.01, &report));
    assert_int_equal(report.steps, 0);
    assert_same_motion(sim, other, "refused");
    rbt_sim_free(sim);
    rbt_sim_free(other);
}

// The parts of a step add up to as much as any smaller steps do: the method is of first order.
static void stopping_inside_is_a_smaller_step(void **state) {
    (void)state;
    method_case c = {.method = "backward-euler"};
    rbt_sim *whole = method_sim(&c), *parts = method_sim(&c);
    advance(whole, 10);
    for (int i = 1; i <= 80; i++) go(parts, i * 5e-4);
    double apart = 0, far = 0;
    for (size_t i = 0; i < 3 * rbt_sim_node_count(whole); i++) {
        apart = fmax(apart, fabs(rbt_sim_positions(whole)[i] - rbt_sim_positions(parts)[i]));
        far = fmax(far, fabs(rbt_sim_positions(whole)[i] - whole->model->x0[i]));
    }
    assert_true(apart > 0 && apart < 0.1 * far);
    rbt_sim_free(whole);
    rbt_sim_free(parts);
}

static void threads_change_nothing(void **state) {
    (void)state;
    const char *const json =
        "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'cells': [24, 8, 8]}}}, 'fixed': "
        "['left']}], 'forces': [{'gravity': {}}], 'integrator': {'method': 'semi-implicit'}}";
    rbt_sim *one = sim_from(json), *two = sim_from(json);
    rbt_error error;
    int before = rbt_sim_node_count(one) > 1000 ? 1 : 0;
    assert_true(before);  // otherwise loops do not run in parallel
    must(rbt_sim_set_threads(one, 1, &error), &error);
    must(rbt_sim_set_threads(two, 3, &error), &error);
    advance(one, 2);
    advance(two, 2);
    assert_same_motion(one, two, "threads");
    assert_false(rbt_sim_set_threads(one, -1, &error));
    assert_false(rbt_sim_set_threads(one, 1025, &error));
    rbt_sim_free(one);
    rbt_sim_free(two);
}

typedef struct worker {
    pthread_t thread;
    method_case what;
    rbt_sim *sim;
    bool good;
} worker;

static void *work(void *context) {
    worker *w = context;
    rbt_step_report report;
    w->good = true;
    for (int i = 0; i < 5; i++) w->good = w->good && rbt_sim_advance_frame(w->sim, &report);
    return NULL;
}

// Simulations in several threads at once do what they do one after the other.
static void threads_do_not_meet(void **state) {
    (void)state;
    enum { COUNT = 6 };
    static const char *const methods[COUNT] = {"siere", "siere", "backward-euler", "imex", "async-contact", "ere"};
    worker workers[COUNT] = {0};
    for (int i = 0; i < COUNT; i++) {
        workers[i].what = (method_case){.method = methods[i]};
        workers[i].sim = method_sim(&workers[i].what);
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < COUNT; i++) {
        pthread_join(workers[i].thread, NULL);
        rbt_sim *alone = method_sim(&workers[i].what);
        assert_true(workers[i].good);
        advance(alone, 5);
        assert_same_motion(workers[i].sim, alone, methods[i]);
        rbt_sim_free(alone);
        rbt_sim_free(workers[i].sim);
    }
}

static bool stop_at_two(const rbt_sim *sim, int64_t frame, void *context) {
    (void)sim;
    ++*(int *)context;
    return frame < 2;
}

static void a_run_calls_back(void **state) {
    (void)state;
    method_case c = {.method = "semi-implicit"};
    rbt_sim *sim = method_sim(&c);
    int calls = 0;
    assert_true(rbt_sim_run(sim, stop_at_two, &calls, NULL));
    assert_int_equal(calls, 3);
    assert_int_equal(rbt_sim_frame(sim), 2);
    rbt_sim_free(sim);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_make_frames),
        cmocka_unit_test(times_of_steps_are_steps),
        cmocka_unit_test(times_inside_steps),
        cmocka_unit_test(async_contact_does_not_mind),
        cmocka_unit_test(impossible_times_are_refused),
        cmocka_unit_test(stopping_inside_is_a_smaller_step),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(threads_do_not_meet),
        cmocka_unit_test(a_run_calls_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
