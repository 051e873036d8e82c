// As many threads as pay, on machines that are made up: large and small bodies, other programs that come and go, steps
// that happen to be slow. And in a simulation, where it changes no bit.
#include "every_method.h"
#include "random.h"
#include "sim/thread_choice.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8 };

// Seconds of a step on so many threads, step by step
typedef double (*machine)(int threads, int step);

static double large_body(int threads, int step) {
    (void)step;
    return 1.0 / threads;
}
static double small_body(int threads, int step) {
    (void)step;
    return 1 + 0.3 * (threads - 1);
}
static double best_on_two(int threads, int step) {
    (void)step;
    return threads == 1 ? 1 : threads == 2 ? 0.6 : 0.3 * threads;
}
// Other programs take the processors from step 1000 to step 2000.
static double busy_for_a_while(int threads, int step) {
    return threads == 1 ? 1 : step < 1000 || step >= 2000 ? 1.0 / threads : 10;
}
static double slow_at_times(int threads, int step) { return (step % 37 == 20 ? 20.0 : 1.0) / threads; }

typedef struct trip {
    double seconds;
    int threads;  // of the last step
    int last_fewer;
} trip;

// Times scatter by a twentieth, and every step has its own number of iterations.
static trip travel_from(machine takes, int from, int to, int start, rbt_thread_choice *choice) {
    trip t = {.last_fewer = -1};
    for (int i = from; i < to; i++) {
        double work = 1 + (double)(i % 5);
        t.threads = rbt_thread_choice_begin(choice, MOST, start);
        assert_in_range(t.threads, 1, MOST);
        double seconds = takes(t.threads, i) * uniform(0.95, 1.05);
        t.seconds += seconds;
        if (t.threads < MOST) t.last_fewer = i;
        rbt_thread_choice_end(choice, work * seconds, work);
    }
    return t;
}

static trip travel(machine takes, int from, int to, rbt_thread_choice *choice) {
    return travel_from(takes, from, to, MOST, choice);
}

// At most two per cent are lost for trials, and what the way to the right number takes.
static void it_pays(void **state) {
    (void)state;
    static const struct {
        const char *name;
        machine takes;
        int threads;
    } bodies[] = {{"large", large_body, 8}, {"small", small_body, 1}, {"between", best_on_two, 2}};
    for (size_t b = 0; b < sizeof bodies / sizeof *bodies; b++) {
        rbt_thread_choice choice = {0};
        enum { WAY = 60, STEPS = 5000 };
        travel(bodies[b].takes, 0, WAY, &choice);
        int chosen = MOST >> choice.level;
        if (chosen != bodies[b].threads) fail_msg("%s: %d threads", bodies[b].name, chosen);
        double best = bodies[b].takes(bodies[b].threads, 0) * STEPS,
               seconds = travel(bodies[b].takes, WAY, WAY + STEPS, &choice).seconds;
        rbt_thread_choice alone = {0};
        travel_from(bodies[b].takes, 0, WAY, 1, &alone);  // from one thread to the same number
        assert_int_equal(MOST >> alone.level, bodies[b].threads);
        print_message("%s: %d threads, %.4f of the best\n", bodies[b].name, chosen, seconds / best);
        assert_true(seconds < 1.02 * best);
        assert_int_equal(MOST >> choice.level, bodies[b].threads);
    }
}

static void it_follows_what_others_do(void **state) {
    (void)state;
    rbt_thread_choice choice = {0};
    trip quiet = travel(busy_for_a_while, 0, 1000, &choice);
    assert_true(quiet.seconds < 1.05 * 1000 / MOST);
    trip busy = travel(busy_for_a_while, 1000, 2000, &choice);  // a thousand seconds on one thread
    print_message("busy: %.3f of one thread's time\n", busy.seconds / 1000);
    assert_int_equal(busy.threads, 1);
    assert_true(busy.seconds < 1.3 * 1000);
    // The last trial in vain took at most 5 iterations of 10 s; fifty times that are 830 steps of 3 iterations. Three
    // levels of few steps each come behind it.
    trip again = travel(busy_for_a_while, 2000, 2000 + 900, &choice);
    print_message("quiet again: all threads from step %d on\n", again.last_fewer - 2000);
    assert_int_equal(choice.level, 0);
}

static void one_slow_step_is_no_reason(void **state) {
    (void)state;
    rbt_thread_choice choice = {0};
    double best = 0, seconds = travel(slow_at_times, 0, 4000, &choice).seconds;
    for (int i = 0; i < 4000; i++) best += slow_at_times(MOST, i);
    print_message("slow at times: %.4f of all threads' time\n", seconds / best);
    assert_true(seconds < 1.1 * best);
}

static void one_thread_has_no_choice(void **state) {
    (void)state;
    rbt_thread_choice choice = {0};
    for (int i = 0; i < 300; i++) {
        assert_int_equal(rbt_thread_choice_begin(&choice, 1, 1), 1);
        rbt_thread_choice_end(&choice, i % 7 == 3 ? 100 : 1, 1);
    }
    assert_int_equal(choice.fewer, 0);
}

#define BAR                                                                                                          \
    "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'bar': {'size': [1, 0.2, 0.2], 'cells': [24, 9, "   \
    "9]}}}, 'fixed': ['left']}], 'forces': [{'gravity': {}}], 'time': {'step': 0.01, 'frame': 0.01, 'end': 1}, "     \
    "'integrator': {'method': 'semi-implicit'}}"

// Threads that a caller asks for are those; otherwise their number changes, and not a bit with it.
static void simulations_choose(void **state) {
    (void)state;
    char *given = getenv("OMP_NUM_THREADS") ? strdup(getenv("OMP_NUM_THREADS")) : NULL;
    int before = omp_get_max_threads();
    rbt_error error = {0};
    rbt_sim *open = sim_from(BAR), *two = sim_from(BAR), *env = sim_from(BAR);
    must(rbt_sim_set_threads(two, 2, &error), &error);
    omp_set_num_threads(2);
    setenv("OMP_NUM_THREADS", "2", 1);
    steps(env, 6);
    unsetenv("OMP_NUM_THREADS");
    steps(open, 6);
    steps(two, 6);
    assert_true(open->shared.fewer > 0);  // the third step or one soon after it is a trial
    assert_int_equal(two->shared.fewer, 0);
    assert_int_equal(env->shared.fewer, 0);
    size_t bytes = 3 * rbt_sim_node_count(open) * sizeof(double);
    assert_memory_equal(rbt_sim_positions(open), rbt_sim_positions(two), bytes);
    assert_memory_equal(rbt_sim_velocities(open), rbt_sim_velocities(two), bytes);
    assert_int_equal(omp_get_max_threads(), 2);
    rbt_sim_free(open);
    rbt_sim_free(two);
    rbt_sim_free(env);
    omp_set_num_threads(before);
    if (given) setenv("OMP_NUM_THREADS", given, 1);
    free(given);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_pays),
        cmocka_unit_test(it_follows_what_others_do),
        cmocka_unit_test(one_slow_step_is_no_reason),
        cmocka_unit_test(one_thread_has_no_choice),
        cmocka_unit_test(simulations_choose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
