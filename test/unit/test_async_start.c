// How async-contact starts: a thickness that fits the gaps, sentences that name the pair that is too near, and
// energies that are numbers even where no step is possible.
#include "scene.h"
#include "sim/sim.h"

#define EVERYTHING "'integrator': {'method': 'async-contact', 'options': {%s}}}"

// A cube of 2 x 2 x 2 cells, 1 m, its lower side at the height `y`, above something whose top is at 0
static void cube(char json[2048], double y, const char *below, const char *options) {
    snprintf(
        json, 2048,
        "{'rubato': 1, 'bodies': [{'name': 'cube', 'mesh': {'shape': {'cuboid': {'size': [1, 1, 1], 'cells': [2, 2, "
        "2]}}}, 'transform': {'translate': [0, %.17g, 0]}, 'material': {'young': 1e5, 'density': 1000}}%s, 'forces': "
        "[{'gravity': {}}], 'time': {'step': 1e-3, 'frame': 1e-2, 'end': 9}, " EVERYTHING,
        0.5 + y, below, options);
}

static const char *const BELOW[] = {
    "], 'obstacles': [{'plane': {}}]",
    "], 'obstacles': [{'sphere': {'centre': [0, -1, 0], 'radius': 1}}]",
    "], 'obstacles': [{'capsule': {'a': [-2, -0.5, 0.1], 'b': [2, -0.5, 0.1], 'radius': 0.5}}]",
    "], 'obstacles': [{'box': {'min': [-1, -1, -1], 'max': [1, 0, 1]}}]",
    ", {'name': 'table', 'mesh': {'shape': {'cloth': {'length': 3, 'width': 3, 'cells_along': 3, 'cells_across': "
    "3}}}, "
    "'shell': {'thickness': 0.01}, 'fixed': [{'box': {'min': [-9, -9, -9], 'max': [9, 9, 9]}}]}]",
};
enum { KINDS = sizeof BELOW / sizeof *BELOW };

// Nothing pushes at the start, whatever is below and however near it is, and the cube lands on it without a blow:
// what it has at the most is what it has fallen.
static void thickness_fits_the_gaps(void **state) {
    (void)state;
    for (int i = 0; i < KINDS; i++)
        for (double gap = 0.03; gap > 0.001; gap /= 4) {
            char json[2048];
            cube(json, gap, BELOW[i], "");
            rbt_sim *sim = sim_from(json);
            rbt_energies first = rbt_sim_energies(sim);
            if (first.contact != 0 || first.kinetic != 0) fail_msg("%d, gap %g: %g J", i, gap, first.contact);
            for (int k = 0; k < 20; k++) {
                advance(sim, 1);
                rbt_energies now = rbt_sim_energies(sim);
                double fallen = first.gravity - now.gravity;
                // Spring and gravity are read half a step off; 1000 kg fall at no more than 2 m/s here.
                if (!(fabs(now.total - first.total) < 0.02 * fabs(fallen) + 0.5e-3 * 9.81 * 1000 * 2))
                    fail_msg("%d, gap %g: %g J of %g J", i, gap, now.total, first.total);
            }
            rbt_sim_free(sim);
        }
}

// Where a thickness is given that buries a pair the sentence names that pair, of all of them, with its numbers.
static void buried_pairs_are_named(void **state) {
    (void)state;
    char json[2048];
    static const char *const names[KINDS] = {"(cube, obstacles[0])", "(obstacles[0], cube)", "obstacles[0]",
                                             "obstacles[0]", "table"};
    for (int i = 0; i < KINDS; i++) {
        cube(json, 0.002, BELOW[i], "'thickness': 0.15");
        refuses(json, names[i]);
        refuses(json, "0.002 m apart at the start, but their layers are 0.15 m thick: contact would begin with");
        cube(json, 0.002, BELOW[i], "'thickness': 0.003");  // a few layers push, and that is what was asked for
        rbt_sim_free(sim_from(json));
    }
    // The second of two planes is the near one.
    cube(json, 0.1, "], 'obstacles': [{'plane': {}}, {'plane': {'point': [0.503, 0, 0], 'normal': [-1, 0, 0]}}]",
         "'thickness': 0.05");
    refuses(json,
            "and plane 1 (cube, obstacles[1]) are 0.003 m apart at the start, but their layers are 0.05 m thick");
}

static void starts_without_a_gap_are_refused(void **state) {
    (void)state;
    char json[2048];
    for (int i = 0; i < KINDS; i++) {
        cube(json, 0, BELOW[i], "");
        refuses(json, "touch or cross at the start");
        refuses(json, "contact needs a gap");
        cube(json, 1e-7, BELOW[i], "");
        refuses(json, "1e-07 m apart at the start, less than a thousandth of the thickness");
        cube(json, 1e-5, BELOW[i], "'thickness': 1e-5");
        rbt_sim_free(sim_from(json));
    }
}

// No clock is fast enough for layers as stiff as these: the run stops once they would be needed, and names the pair.
static void stiffness_beyond_all_clocks_stalls(void **state) {
    (void)state;
    static const char *const options[] = {"'stiffness': 1e25", "'stiffness': 1e26, 'floor': 1e-300",
                                          "'stiffness': 1e60", "'stiffness': 1e300"};
    for (int i = 0; i < 4; i++) {
        char json[2048];
        cube(json, 0.002, BELOW[0], options[i]);
        rbt_sim *sim = sim_from(json);
        rbt_step_report report;
        bool done = true;
        for (int k = 0; done && k < 100; k++) done = rbt_sim_advance_frame(sim, &report);
        assert_false(done);
        assert_int_equal(report.outcome, RBT_STALLED);
        assert_non_null(strstr(report.hint, "plane 0 (cube, obstacles[0])"));
        assert_non_null(strstr(report.hint, "layers need steps below"));
        rbt_sim_free(sim);
    }
}

// Before the first step and after it has failed
static void energies_are_numbers_where_no_step_is_possible(void **state) {
    (void)state;
    char json[2048];
    cube(json, 0.002, BELOW[0], "'stiffness': 1e25, 'thickness': 0.0025");
    rbt_sim *sim = sim_from(json);
    rbt_step_report report;
    for (int k = 0; k < 2; k++) {
        rbt_energies now = rbt_sim_energies(sim);
        assert_true(isfinite(now.kinetic) && isfinite(now.elastic) && isfinite(now.contact) && isfinite(now.total));
        assert_true(now.contact > 1e25 * 0.5 * 0.0005 * 0.0005);  // of the first layer of one node
        assert_false(rbt_sim_advance_frame(sim, &report));
        assert_int_equal(report.outcome, RBT_STALLED);
    }
    rbt_sim_free(sim);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thickness_fits_the_gaps),
        cmocka_unit_test(buried_pairs_are_named),
        cmocka_unit_test(starts_without_a_gap_are_refused),
        cmocka_unit_test(stiffness_beyond_all_clocks_stalls),
        cmocka_unit_test(energies_are_numbers_where_no_step_is_possible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
