// "method": "auto" (sim/choice.h): who can, who is tried, what is chosen and said, and changes where frames end.
#include "every_method.h"
#include "sim/choice.h"
#include "sim/unit_costs.h"

#include <math.h>
#include <unistd.h>

static rbt_sim *bar(const char *goal, const char *integrator, const char *more) {
    char json[2048];
    snprintf(
        json, sizeof json,
        "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [1, 0.2, 0.2], 'cells': [6, "
        "2, 2]}}}, 'material': {'young': 1e5}, 'fixed': ['left']}], 'forces': [{'gravity': {}}], 'time': {'step': "
        "'auto', 'frame': 0.05, 'end': 0.5}, 'goal': {%s}, 'integrator': {%s}%s}",
        goal, integrator, more);
    return sim_from(json);
}

static const rbt_method_candidate *best_of(const rbt_sim *sim) {
    assert_non_null(sim->choice);
    assert_true(sim->choice->best >= 0);
    return &sim->choice->candidates[sim->choice->best];
}

static void chooses_and_says_why(void **unused) {
    (void)unused;
    rbt_sim *sim = bar("", "'method': 'auto'", "");
    const rbt_method_candidate *best = best_of(sim);
    assert_string_equal(rbt_sim_method(sim), rbt_method_name(best->method));
    int tried = 0, able = 0;
    bool kinds[5] = {false};  // equal steps; by error of order 1 and 2, 2 more without damping
    for (int i = 0; i < sim->choice->count; i++) {
        const rbt_method_candidate *c = &sim->choice->candidates[i];
        const rbt_method *method = rbt_method_at(c->method);
        bool can = method->error_law || method->choose_step;
        if (!can) assert_int_equal(RBT_FATE_UNABLE, c->fate);
        if (c->fate == RBT_FATE_UNABLE) assert_true(strlen(c->reason) > 10);
        able += c->fate > RBT_FATE_UNWANTED;
        tried += c->fate >= RBT_FATE_FAILED;
        if (c->fate >= RBT_FATE_FAILED) kinds[method->error_law ? method->order + 2 * method->undamped : 0] = true;
        if (c->fate >= RBT_FATE_TRIED) assert_true(c->tried_cost > 0 && c->tried_cost >= best->tried_cost);
        if (c->fate >= RBT_FATE_PREDICTED) assert_true(c->cost > 0 && c->step > 0);
    }
    assert_true(able >= 10 && tried >= 4 && kinds[0] && kinds[1] && kinds[2] && kinds[4]);
    rbt_text text = {0}, json = {0};
    rbt_choice_text(sim->choice, &text);
    rbt_choice_json(sim->choice, &json);
    assert_true(strncmp(text.text, "Chosen: ", 8) == 0 && strstr(text.text, rbt_sim_method(sim)));
    assert_non_null(strstr(text.text, "Left out: "));
    assert_non_null(strstr(json.text, "\"fate\": \"chosen\""));
    rbt_text_free(&text);
    rbt_text_free(&json);
    advance(sim, 10);
    rbt_sim_free(sim);
}

static void keeps_what_is_asked_for(void **unused) {
    (void)unused;
    rbt_sim *sim = bar("'keep': 'energy'", "'method': 'auto'", "");
    assert_true(rbt_method_at(best_of(sim)->method)->undamped);
    rbt_sim_free(sim);
    sim = bar("", "'method': 'bdf2', 'solver': 'auto'", "");
    assert_string_equal(rbt_sim_method(sim), "bdf2");
    for (int i = 0; i < sim->choice->count; i++)
        assert_int_equal(best_of(sim)->method, sim->choice->candidates[i].method);
    rbt_sim_free(sim);
    // A budget that nothing fits makes the error as large as it must be.
    sim = bar("'budget': 1e-6", "'method': 'bdf2', 'solver': 'auto'", "");
    assert_true(sim->choice->error > sim->choice->asked && sim->stepper.control.error == sim->choice->error);
    rbt_text text = {0};
    rbt_choice_text(sim->choice, &text);
    assert_non_null(strstr(text.text, "does not fit the budget"));
    rbt_text_free(&text);
    rbt_sim_free(sim);
}

// With contact in the scene only methods that know it are left, and the solvers that do.
static void asks_who_can(void **unused) {
    (void)unused;
    rbt_sim *sim = bar("'quality': 'preview'", "'method': 'auto'",
                       ", 'contact': {}, 'obstacles': [{'plane': {'point': [0, -0.5, 0]}}]");
    for (int i = 0; i < sim->choice->count; i++) {
        const rbt_method_candidate *c = &sim->choice->candidates[i];
        if (c->fate > RBT_FATE_UNWANTED) assert_true(rbt_method_at(c->method)->contact);
    }
    assert_true(rbt_method_at(best_of(sim)->method)->contact);
    rbt_sim_free(sim);
}

// In flight the midpoint rule costs what bdf2 does; after the impact it does not.
static void undamped_methods_count_twice_where_things_meet(void **unused) {
    (void)unused;
    int judged = 0;
    for (int again = 0; again < 6; again++) {
        rbt_sim *sim = bar("'quality': 'preview'", "'method': 'auto'",
                           ", 'contact': {}, 'obstacles': [{'plane': {'point': [0, -0.5, 0]}}]");
        for (int i = 0; i < sim->choice->count; i++) {
            const rbt_method_candidate *c = &sim->choice->candidates[i];
            const rbt_method *method = rbt_method_at(c->method);
            if (c->fate < RBT_FATE_TRIED) continue;
            double times = method->undamped && method->error_law ? 2 : 1;
            assert_true(c->counted_cost == times * c->tried_cost && best_of(sim)->counted_cost <= c->counted_cost);
            judged += times == 2;
        }
        rbt_sim_free(sim);
    }
    assert_true(judged > 0);
}

// A scene with a step: every method takes it.
static void takes_a_step_that_is_given(void **unused) {
    (void)unused;
    rbt_sim *sim = sim_from(
        "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'bar': {'cells': [4, 2, 2]}}}, 'fixed': "
        "['left']}], "
        "'forces': [{'gravity': {}}], 'time': {'step': 0.02, 'frame': 0.04, 'end': 1}, 'integrator': {'method': "
        "'auto'}}");
    assert_false(sim->stepper.control.on);
    assert_true(rbt_sim_step_length(sim) == 0.02);
    rbt_text text = {0};
    rbt_choice_text(sim->choice, &text);
    assert_null(strstr(text.text, "for an error"));  // nothing is made of one
    rbt_text_free(&text);
    advance(sim, 3);
    rbt_sim_free(sim);
}

// Changes of the method where frames end: from steps by error to equal ones and back
static void changes_at_frames(void **unused) {
    (void)unused;
    rbt_error error;
    rbt_sim *sim = bar("", "'method': 'bdf2'", "");
    advance(sim, 2);
    rbt_chosen chosen = {.method = rbt_method_find("symplectic-euler"), .error = 0.01, .longest = 1e-3};
    must(rbt_sim_take_choice(sim, &chosen, &error), &error);
    assert_string_equal(rbt_sim_method(sim), "symplectic-euler");
    assert_true(!sim->stepper.control.on && rbt_sim_step_length(sim) <= 1e-3);
    advance(sim, 1);
    chosen = (rbt_chosen){.method = rbt_method_find("siere"), .error = 0.02};
    must(rbt_sim_take_choice(sim, &chosen, &error), &error);
    assert_true(sim->stepper.control.on && sim->stepper.control.error == 0.02);
    advance(sim, 2);
    assert_true(rbt_sim_time(sim) == 5 * 0.05);
    chosen = (rbt_chosen){.method = rbt_method_find("ere"), .error = 0.01};  // has no step of its own: all stays
    assert_false(rbt_sim_take_choice(sim, &chosen, &error));
    assert_string_equal(rbt_sim_method(sim), "siere");
    advance(sim, 1);
    rbt_sim_free(sim);
}

static void costs_are_kept(void **unused) {
    (void)unused;
    rbt_error error;
    char path[64];
    snprintf(path, sizeof path, "costs-%ld", (long)getpid());
    setenv("RUBATO_COSTS", path, 1);
    rbt_unit_costs first, second;
    must(rbt_unit_costs_get(&first, &error), &error);
    must(rbt_unit_costs_get(&second, &error), &error);  // from the file: six digits
    assert_true(fabs(first.factor - second.factor) <= 1e-5 * first.factor && second.gradient > 0);
    FILE *file = fopen(path, "w");
    fprintf(file, "rubato costs 1 threads 1 gradient nan assembly 0 factor -1 solve 1e300\n");
    fclose(file);
    must(rbt_unit_costs_get(&second, &error), &error);  // damaged: measured again
    assert_true(second.factor > 0 && second.factor < 1e-3);
    remove(path);
    unsetenv("RUBATO_COSTS");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_are_kept),
        cmocka_unit_test(chooses_and_says_why),
        cmocka_unit_test(keeps_what_is_asked_for),
        cmocka_unit_test(asks_who_can),
        cmocka_unit_test(undamped_methods_count_twice_where_things_meet),
        cmocka_unit_test(takes_a_step_that_is_given),
        cmocka_unit_test(changes_at_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
