// multirate-euler in longer runs: stability, order, momentum, threads, pauses; and regions that cannot be.
#include "base/threads.h"
#include "tempo_bar.h"

#include "random.h"
#include "sampled.h"

// ---- Stability, order, momentum

// Spectral radius of a step as a linear map of (x - X, H v), by its matrix and repeated squaring: |A^(2^k)|^(1 / 2^k)
static double spectral_radius(rbt_sim *sim) {
    size_t n = 3 * sim->model->node_count, N = 2 * n;
    double *A = new_matrix(N, N), *B = new_matrix(N, N), size = 0, power = 1, log_scale = 0;
    for (size_t j = 0; j < N; j++) {
        rbt_step_report report = {0};
        memcpy(sim->state.x, sim->model->X, n * sizeof(double));
        memset(sim->state.v, 0, n * sizeof(double));
        if (j < n) sim->state.x[j] += 1e-3;
        else sim->state.v[j - n] += 1e-3 / sim->model->step;
        if (sim->model->role[j % n / 3] != RBT_FREE) continue;
        sim->state.t = 0;
        assert_int_equal(rbt_stepper_advance(&sim->stepper, &sim->state, sim->model->step, &report), RBT_DONE);
        for (size_t i = 0; i < n; i++) {
            A[i * N + j] = (sim->state.x[i] - sim->model->X[i]) / 1e-3;
            A[(n + i) * N + j] = sim->model->step * sim->state.v[i] / 1e-3;
        }
    }
    for (int k = 0; k < 18; k++) {
        memset(B, 0, N * N * sizeof *B);
        size = 0;
        for (size_t i = 0; i < N; i++)
            for (size_t l = 0; l < N; l++)
                for (size_t j = 0; A[i * N + l] != 0 && j < N; j++) B[i * N + j] += A[i * N + l] * A[l * N + j];
        for (size_t i = 0; i < N * N; i++) size = fmax(size, fabs(B[i]));
        power *= 2;
        log_scale = 2 * log_scale + log(size);
        for (size_t i = 0; i < N * N; i++) A[i] = B[i] / size;
    }
    free(A), free(B);
    rbt_sim_free(sim);
    return exp(log_scale / power);
}

static void random_chains_are_stable(void **state) {
    (void)state;
    for (int i = 0; i < 16; i++) {
        char json[4096], tempo[512];
        int m = 1 + (int)(20 * unit());
        double H = pow(10, -4 + 4 * unit()), soft = pow(10, 2 + 4 * unit());
        double stiff = soft * pow(10, -2 + 7 * unit());
        const char *kinds[] = {ENDS("%d"), TWO("%d", "3"),
                               ", 'tempo': [" LAYERS("0", "0.7", "2") ", " LAYERS("0", "0.3", "%d") "]"};
        snprintf(tempo, sizeof tempo, "%s", kinds[i % 3]);
        char *at = strstr(tempo, "%d");
        char rest[512];
        snprintf(rest, sizeof rest, "%s", at + 2);
        snprintf(at, 500 - (size_t)(at - tempo), "%d%s", i % 3 == 2 ? 2 * m : m, rest);
        snprintf(
            json, sizeof json,
            "{'rubato': 1, 'bodies': [{'name': 'chain', 'mesh': {'shape': {'cuboid': {'size': [0.6, 0.1, 0.07], "
            "'cells': [5, 1, 1]}}}, 'material': {'model': 'linear', 'young': %g, 'poisson': 0.3, 'density': 1000}, "
            "'regions': [{'name': 'stiff', 'where': {'box': {'min': [0, 0, 0], 'max': [0.5, 1, 1], 'relative': "
            "true}}, 'material': {'model': 'linear', 'young': %g, 'poisson': 0.3, 'density': 300}}], 'fixed': "
            "[{'box': {'min': [0.95, 0, 0], 'max': [1, 1, 1], 'relative': true}}]%s%s}], 'time': {'step': %g, "
            "'frame': %g, 'end': 100}, 'integrator': {'method': 'multirate-euler'%s%s}}",
            soft, stiff, tempo, i % 4 == 3 ? MASS : "", H, H, i % 2 ? LU : "", i % 5 > 2 ? AT_END : "");
        double radius = spectral_radius(sim_from(json));
        // after 2^18 steps a norm 1e6 times that of the power of the radius would show as 5e-5
        if (!(radius < 1 + 1e-4))
            print_error("chain %d: %s H %g young %g %g: %g\n", i, tempo, H, soft, stiff, radius);
        assert_true(radius < 1 + 1e-4);
    }
}

// Errors at one time against steps so short that their own error does not count: half of them with half the step
static void the_error_is_of_first_order(void **state) {
    (void)state;
    static const char *const tempi[] = {ENDS("4"), TWO("2", "3"), NESTED("2", "4")};
    for (int t = 0; t < 3; t++)
        for (int at_end = 0; at_end < 2; at_end++) {
            char body[512];
            double error[2];
            snprintf(body, sizeof body, "%s%s", tempi[t], FIXED);
            rbt_sim *exact = bar(at_end ? AT_END : "", 1.25e-5, body, GRAVITY);
            advance(exact, 3200);
            for (int i = 0; i < 2; i++) {
                rbt_sim *sim = bar(at_end ? AT_END : "", i ? 4e-4 : 8e-4, body, GRAVITY);
                advance(sim, i ? 100 : 50);
                error[i] = distance(sim, exact);
                rbt_sim_free(sim);
            }
            rbt_sim_free(exact);
            // the reference's own error is 1/64 and 1/32 of theirs
            double order = log2(error[0] / error[1]);
            if (!(fabs(order - 1) < 0.15)) print_error("%d %d: %g %g\n", t, at_end, error[0], error[1]);
            assert_true(fabs(order - 1) < 0.15);
        }
}

static double momentum_error(rbt_sim *sim, int steps) {
    rbt_energies before = rbt_sim_energies(sim), after;
    advance(sim, steps);
    after = rbt_sim_energies(sim);
    rbt_sim_free(sim);
    double most = 0, size = 0;
    for (int k = 0; k < 3; k++) {
        most = fmax(most, fabs(after.momentum[k] - before.momentum[k]));
        size = fmax(size, fabs(before.momentum[k]));
    }
    return most / size;
}

// The coupling adds no net force: a body that only travels continues for ever, whatever its parts do; one that vibrates
// feels the forces between its parts at different times, which is an error of first order, and none with one step for
// all.
static void coupling_makes_no_net_force(void **state) {
    (void)state;
    static const char *const tempi[] = {ENDS("10"), TWO("2", "7"), NESTED("2", "6")};
    for (int t = 0; t < 3; t++) {
        char json[2048];
        snprintf(json, sizeof json,
                 "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.6, 0.1, 0.07], "
                 "'cells': "
                 "[6, 1, 1]}}}, 'material': {'model': 'linear', 'young': 2e4, 'density': 1000}, 'velocity': "
                 "{'linear': [3, "
                 "1, 2]}%s}], 'time': {'step': 0.01, 'frame': 0.01, 'end': 100}, 'integrator': {'method': "
                 "'multirate-euler'}}",
                 tempi[t]);
        assert_true(momentum_error(sim_from(json), 50) < 1e-12);
        double coarse = momentum_error(bar("", 4e-4, tempi[t], ""), 100);
        double fine = momentum_error(bar("", 2e-4, tempi[t], ""), 200);
        assert_true(fine < 0.6 * coarse && coarse < 0.05);
    }
    assert_true(momentum_error(bar("", 4e-4, ENDS("1"), ""), 100) < 1e-12);
}

// ---- A body of some size

static const char *const CREATURE =
    "{'rubato': 1, 'bodies': [{'name': 'dragon', 'mesh': {'shape': {'dragon': {'size': 1, 'resolution': 26}}}, "
    "'material': {'model': '%s', 'young': 1e5, 'poisson': 0.3, 'density': 1000}, 'tempo': [{'name': 'front', "
    "'where': "
    "{'box': {'min': [0.75, 0, 0], 'max': [1, 1, 1], 'relative': true}}, 'substeps': 6}, {'name': 'back', 'where': "
    "{'box': {'min': [0, 0, 0], 'max': [0.25, 1, 1], 'relative': true}}, 'substeps': 4}], 'fixed': [{'box': {'min': "
    "[0, "
    "0, 0], 'max': [1, 0.08, 1], 'relative': true}}], 'velocity': {'angular': [3, 5, 1]}}], 'time': {'step': 0.02, "
    "'frame': 0.02, 'end': 100}, 'integrator': {'method': 'multirate-euler'%s}}";

static rbt_sim *creature(const char *model, const char *options) {
    char json[4096];
    snprintf(json, sizeof json, CREATURE, model, options);
    return sim_from(json);
}

// Without forces the energy of a body that is constrained falls: a step whose spectral radius is above 1 would raise
// it sooner or later.
static void a_real_body_is_stable(void **state) {
    (void)state;
    static const char *const options[] = {"", AT_END, LU};
    for (int i = 0; i < 3; i++) {
        rbt_sim *sim = creature("linear", options[i]);
        double energy = rbt_sim_energies(sim).total;
        for (int k = 0; k < 3; k++) {
            double before = energy;
            advance(sim, SAMPLED(50, 20));
            energy = rbt_sim_energies(sim).total;
            assert_true(energy > 0 && energy < before);
        }
        rbt_sim_free(sim);
    }
}

// The spectral radius of a step on it, by power iteration: |A^n z|^(1/n), between n and 2 n to be rid of what z began
// with. The norm is that of the energy, in which a slow mode has one size all the time: in |x|^2 + |H v|^2 it would
// swing by the square of the steps in its period, and the root of n steps would see that. The slowest mode of the
// single-rate step is below it, which the long step damps too.
static void a_real_body_has_a_spectral_radius_below_one(void **state) {
    (void)state;
    if (SAMPLED(false, true)) skip();
    static const char *const options[] = {"", AT_END};
    for (int i = 0; i < 2; i++) {
        rbt_sim *sim = creature("linear", options[i]);
        const rbt_model *m = sim->model;
        size_t n = 3 * m->node_count;
        double log_size = 0;
        for (size_t k = 0; k < n; k++) {
            bool is_free = m->role[k / 3] == RBT_FREE;
            sim->state.x[k] = m->X[k] + (is_free ? uniform(-0.5, 0.5) : 0);
            sim->state.v[k] = is_free ? uniform(-0.5, 0.5) / m->step : 0;
        }
        enum { STEPS = 1000 };  // so that a swing of the energy by 1.2 shows as 1e-4; the radius is 0.9990 or 0.9995
        for (int k = 0; k < 2 * STEPS; k++) {
            rbt_step_report report = {0};
            double before = sqrt(rbt_sim_energies(sim).total);
            sim->state.t = 0;
            assert_int_equal(rbt_stepper_advance(&sim->stepper, &sim->state, m->step, &report), RBT_DONE);
            double size = sqrt(rbt_sim_energies(sim).total);
            if (k >= STEPS) log_size += log(size / before);
            for (size_t l = 0; l < n; l++) {  // lest it becomes too small for rounding
                sim->state.x[l] = m->X[l] + (sim->state.x[l] - m->X[l]) / size;
                sim->state.v[l] /= size;
            }
        }
        double radius = exp(log_size / STEPS);
        if (!(radius < 1 && radius > 0.5)) print_error("%s: %.6f\n", options[i], radius);
        assert_true(radius < 1 && radius > 0.5);
        rbt_sim_free(sim);
    }
}

static rbt_sim *plain_creature(const char *model) { return creature(model, ""); }

static void threads_and_pauses_change_no_bit(void **state) {
    (void)state;
    check_threads_and_pauses(plain_creature, "linear");
    check_threads_and_pauses(plain_creature, "corotational");
}

// ---- Obstacles

// How far the nodes of a bar's end are from where single-rate steps of H / 10 bring them, over how far they went, and
// their velocities: the end of a soft bar is thrown at a wall, meets it in the middle of the one long step and is on
// its way back at the end of it.
static double thrown(rbt_sim *sim, rbt_sim *exact, double *back) {
    advance(sim, 1);
    advance(exact, 10);
    double error = 0, way = 0;
    *back = 0;
    for (size_t n = 0; n < sim->model->node_count; n++) {
        if (sim->model->X[3 * n] > sim->model->bodies[0].box_min[0] + 0.11) continue;
        error = fmax(error, largest(sim->state.x + 3 * n, exact->state.x + 3 * n, 3));
        way = fmax(way, largest(exact->state.x + 3 * n, exact->model->x0 + 3 * n, 3));
        *back = fmax(*back, sim->state.v[3 * n + 1]);
    }
    rbt_sim_free(sim);
    rbt_sim_free(exact);
    return error / way;
}

static void parts_meet_obstacles_in_their_own_steps(void **state) {
    (void)state;
    char json[4096];
    static const char *const format =
        "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.6, 0.1, 0.07], 'cells': "
        "[6, 1, 1]}}}, 'transform': {'translate': [0, 0.062, 0]}, 'material': {'model': 'linear', 'young': 500, "
        "'poisson': 0.3, "
        "'density': 1000}, 'velocity': {'linear': [0, -1, 0]}%s}], 'obstacles': [{'plane': {'stiffness': 1e7}}], "
        "'time': {'step': "
        "%g, 'frame': %g, 'end': 1}, 'integrator': {'method': '%s'}}";
    rbt_sim *sims[3];
    static const struct {
        const char *method, *tempo;
        double step;
    } runs[] = {{"multirate-euler", ENDS("10"), 0.02}, {"semi-implicit", "", 0.002}, {"semi-implicit", "", 0.02}};
    for (int i = 0; i < 3; i++) {
        snprintf(json, sizeof json, format, runs[i].tempo, runs[i].step, runs[i].step, runs[i].method);
        sims[i] = sim_from(json);
    }
    double back, error = thrown(sims[0], sims[1], &back), stuck = 0;
    if (!(error < 0.02 && back > 0.05)) print_error("error %g, back at %g m/s\n", error, back);
    assert_true(error < 0.02 && back > 0.05);
    // one long step for all presses it flat against the wall instead
    advance(sims[2], 1);
    for (size_t n = 0; n < sims[2]->model->node_count; n++) stuck = fmax(stuck, sims[2]->state.v[3 * n + 1]);
    assert_true(stuck < 0.5 * back);
    rbt_sim_free(sims[2]);
}

// A body that stands with its parts on the ground, and falls on them, comes to rest: what holds it is stiff for the
// long step.
static void standing_on_parts_is_stable(void **state) {
    (void)state;
    static const char *const models[] = {"linear", "corotational"};
    for (int i = 0; i < 2; i++) {
        char json[4096];
        snprintf(
            json, sizeof json,
            "{'rubato': 1, 'bodies': [{'name': 'pillar', 'mesh': {'shape': {'cuboid': {'size': [0.2, 0.6, 0.2], "
            "'cells': [2, 6, "
            "2]}}}, 'transform': {'translate': [0, 0.31, 0]}, 'material': {'model': '%s', 'young': 2e5, 'poisson': "
            "0.3, 'density': "
            "1000}, 'damping': {'mass': 4, 'stiffness': 1e-3}, 'tempo': [{'where': {'box': {'min': [0, 0, 0], 'max': "
            "[1, 0.2, 1], "
            "'relative': true}}, 'substeps': 8}]}], 'forces': [{'gravity': {}}], 'obstacles': [{'plane': "
            "{'stiffness': "
            "1e8}}], 'time': {'step': 0.02, 'frame': 0.02, 'end': 10}, 'integrator': {'method': 'multirate-euler'}}",
            models[i]);
        rbt_sim *sim = sim_from(json);
        advance(sim, 150);
        rbt_energies e = rbt_sim_energies(sim);
        if (!(e.kinetic < 1e-6)) print_error("%s: %g J\n", models[i], e.kinetic);
        assert_true(e.kinetic < 1e-6);
        rbt_sim_free(sim);
    }
}

// ---- Regions chosen by the method

static const char *const STIFF_END =
    "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [1, 0.2, 0.2], 'cells': [20, 4, "
    "4]}}}, "
    "'material': {'model': 'linear', 'young': 1e5, 'poisson': 0.3, 'density': 1000}, 'regions': [{'name': 'end', "
    "'where': "
    "{'box': {'min': [0.75, 0, 0], 'max': [1, 1, 1], 'relative': true}}, 'material': {'model': 'linear', 'young': "
    "%g, "
    "'poisson': 0.3, 'density': 1000}}], 'fixed': ['left'], 'velocity': {'linear': [0, 1, 0]}}], 'time': {'step': "
    "0.02, "
    "'frame': 0.02, 'end': 1}, 'integrator': {'method': 'multirate-euler', 'options': {'regions': 'auto'}}}";

static const char *described(double young, rbt_text *text) {
    char json[2048];
    snprintf(json, sizeof json, STIFF_END, young);
    rbt_sim *sim = sim_from(json);
    advance(sim, 2);
    sim->stepper.method->describe(sim->stepper.self, text);
    rbt_sim_free(sim);
    return text->text;
}

static void regions_are_chosen_where_sound_is_fast(void **state) {
    (void)state;
    rbt_text stiff = {0}, same = {0};
    // sqrt(1e7 / 1e5) = 10 steps; a quarter of 525 nodes, and the layer between
    const char *said = described(1e7, &stiff);
    assert_non_null(strstr(said, "\"steps\": 10}]"));
    assert_non_null(strstr(said, "\"interface_nodes\": 25"));
    assert_non_null(strstr(said, "of bar take 10 steps"));
    said = described(1e5, &same);
    assert_non_null(strstr(said, "\"parts\": []"));
    assert_non_null(strstr(said, "one step"));
    rbt_text_free(&stiff);
    rbt_text_free(&same);
}

// ---- Bad regions

static void fails_with(const char *tempo, const char *sentence) {
    char json[2048], message[2048] = "";
    snprintf(json, sizeof json,
             "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.6, 0.1, 0.07], "
             "'cells': [6, "
             "1, 1]}}}, 'tempo': [%s]}], 'integrator': {'method': 'multirate-euler'}}",
             tempo);
    for (char *c = json; *c; c++)
        if (*c == '\'') *c = '"';
    rbt_error error;
    rbt_scene_file *file = rbt_scene_parse(json, strlen(json), "test.json", NULL, 0, &error);
    rbt_sim *sim = file ? rbt_sim_create(rbt_scene_of(file), &error) : NULL;
    assert_null(sim);
    rbt_error_text(&error, message, sizeof message);
    if (!strstr(message, sentence)) print_error("%s\n", message);
    assert_non_null(strstr(message, sentence));
    rbt_scene_free(file);
}

static void bad_regions_get_a_sentence(void **state) {
    (void)state;
    fails_with(LAYERS("0", "0.2", "0"), "bodies[0].tempo[0].substeps: must be at least 1");
    fails_with(LAYERS("0", "0.2", "1.5"), "bodies[0].tempo[0].substeps: a whole number is needed");
    fails_with(LAYERS("2", "3", "2"), "bodies[0].tempo[0].where: ");
    fails_with(
        "{'name': 'a', 'where': {'nodes': [0]}, 'substeps': 2}, {'name': 'b', 'where': {'nodes': [1]}, 'substeps': "
        "3}",
        "tempi \"b\" and \"a\" of body \"bar\" touch: node 1 of the one shares an element with node 0 of the other");
    fails_with(
        "{'name': 'a', "
        "'where': {'box': {'min': [0, 0, 0], 'max': [0.4, 1, 1], 'relative': true}}, 'substeps': 2}, "
        "{'name': 'b', 'where': {'box': {'min': [0.3, 0, 0], 'max': [0.4, 1, 1], 'relative': true}}, 'substeps': 4}",
        "tempo \"b\" of body \"bar\" lies inside \"a\" but reaches beyond it: its node ");
    fails_with(LAYERS("0", "0.7", "4") ", " LAYERS("0", "0.2", "6"),
               "bodies[0].tempo[1].substeps: must be a multiple of 4, since \"bodies[0].tempo[1]\" lies inside "
               "\"bodies[0].tempo[0]\", which takes so many; found 6");
    // Everything: it runs, and is told that it costs less another way.
    rbt_sim *sim = bar("", 0.02, ", 'tempo': [" LAYERS("0", "1", "3") "]", "");
    assert_int_equal(sim->model->warning_count, 1);
    assert_non_null(strstr(sim->model->warnings[0], "the tempi hold every node"));
    rbt_sim_free(sim);
}

// A long step that does not divide the frame is shortened, which is said; the parts' steps with it.
static void a_step_that_does_not_divide_the_frame_is_told(void **state) {
    (void)state;
    rbt_sim *sim =
        sim_from("{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.6, 0.1, 0.07], "
                 "'cells': [6, 1, 1]}}}, 'material': {'model': 'linear'}" ENDS(
                     "3") "}], 'time': {'step': 0.03, 'frame': "
                          "0.04, 'end': 1}, 'integrator': {'method': 'multirate-euler'}}");
    assert_int_equal(sim->model->warning_count, 1);
    assert_string_equal(sim->model->warnings[0],
                        "the step is 0.02 s instead of 0.03 s, so that 2 of them make a frame of 0.04 s");
    advance(sim, 1);
    assert_true(sim->state.t == 0.04);
    rbt_sim_free(sim);
}

int main(void) {
    rbt_threads_set(1);  // many small systems, which threads only wait for
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_chains_are_stable),
        cmocka_unit_test(the_error_is_of_first_order),
        cmocka_unit_test(coupling_makes_no_net_force),
        cmocka_unit_test(a_real_body_is_stable),
        cmocka_unit_test(a_real_body_has_a_spectral_radius_below_one),
        cmocka_unit_test(threads_and_pauses_change_no_bit),
        cmocka_unit_test(regions_are_chosen_where_sound_is_fast),
        cmocka_unit_test(parts_meet_obstacles_in_their_own_steps),
        cmocka_unit_test(standing_on_parts_is_stable),
        cmocka_unit_test(bad_regions_get_a_sentence),
        cmocka_unit_test(a_step_that_does_not_divide_the_frame_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
