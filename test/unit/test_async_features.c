// What async-contact has beyond contact of elastic bodies: hinges that yield, the work of what follows a script.
#include "energy/hinge.h"
#include "math/vec3.h"
#include "scene.h"
#include "scene/sim.h"

static void advance(rbt_sim *sim, int frames) {
    rbt_step_report report;
    for (int i = 0; i < frames; i++) {
        bool done = rbt_sim_advance_frame(sim, &report);
        if (!done) print_error("%s: %s\n", rbt_outcome_name(report.outcome), report.hint);
        assert_true(done);
    }
}

static void refuses(const char *json, const char *sentence) {
    rbt_scene_file *file = scene_from(json);
    rbt_error error;
    rbt_sim *sim = rbt_sim_create(rbt_scene_of(file), &error);
    assert_null(sim);
    if (!strstr(error.message, sentence)) print_error("%s\n", error.message);
    assert_non_null(strstr(error.message, sentence));
    rbt_scene_free(file);
}

// As a checkpoint does
static void carry(const rbt_sim *from, rbt_sim *to) {
    size_t bytes = 3 * from->model->node_count * sizeof(double);
    memcpy(to->state.x, from->state.x, bytes);
    memcpy(to->state.v, from->state.v, bytes);
    memcpy(to->state.memory, from->state.memory, from->state.memory_size);
    to->state.t = from->state.t, to->state.frame = from->state.frame, to->state.step = from->state.step;
}

static bool same_bits(const rbt_sim *a, const rbt_sim *b) {
    size_t bytes = 3 * a->model->node_count * sizeof(double);
    return memcmp(a->state.x, b->state.x, bytes) == 0 && memcmp(a->state.v, b->state.v, bytes) == 0 &&
           memcmp(a->state.memory, b->state.memory, a->state.memory_size) == 0;
}

// ---- Hinges that yield

// Two triangles: one is fixed, the apex of the other is turned about their edge by 1 rad within 0.4 s and released at 0.5 s.
static rbt_sim *fold(const char *yield, const char *method) {
    char json[2048];
    snprintf(json, sizeof json,
             "{'rubato': 1, 'bodies': [{'name': 'fold', 'mesh': {'shape': {'cloth': {'length': 1, 'width': 1, "
             "'cells_along': 1, 'cells_across': 1}}}, 'material': {'young': 1e4, 'density': 1000}, "
             "'shell': {'thickness': 0.01, 'bending': 0.5%s}, 'damping': {'mass': 2}, "
             "'fixed': [{'nodes': [0, 3, 2]}], 'driven': [{'where': {'nodes': [1]}, 'release': 0.5, 'motions': "
             "[{'rotation': {'axis': [1, 0, 1], 'rate': 2.5, 'until': 0.4}}]}]}], "
             "'time': {'step': 5e-4, 'frame': 0.05, 'end': 20}, 'integrator': {'method': '%s'}}",
             yield, method);
    return sim_from(json);
}

static double angle_of(const rbt_sim *sim) {
    for (size_t g = 0; g < sim->model->group_count; g++)
        if (sim->model->groups[g].type == &RBT_HINGES)
            return rbt_hinge_angle(sim->state.x, sim->model->groups[g].nodes);
    return NAN;
}

// Bent by 1 rad with a yield of 0.3 rad, a hinge springs back by 0.3 rad and stays bent by 0.7 rad. Until then the script has
// done the elastic work w y^2 / 2 and the plastic work w y 0.7 instead of w / 2.
static void a_hinge_that_yields_stays_bent(void **state) {
    (void)state;
    rbt_sim *plastic = fold(", 'yield': 0.3", "async-contact"), *elastic = fold("", "async-contact");
    advance(plastic, 9);
    advance(elastic, 9);
    double weight = 0.5 * 2 / 1, y = 0.3;  // D |e|^2 / (A_1 + A_2)
    double sign = angle_of(elastic) > 0 ? 1 : -1;
    assert_true(fabs(sign * angle_of(plastic) - 1) < 1e-6);
    rbt_energies p = rbt_sim_energies(plastic), e = rbt_sim_energies(elastic);
    assert_true(fabs(p.elastic - 0.5 * weight * y * y) < 1e-6 && fabs(e.elastic - 0.5 * weight) < 1e-6);
    double more = (0.5 * weight * y * y + weight * y * 0.7) - 0.5 * weight;  // air drag is the same for both
    assert_true(fabs(p.work - e.work - more) < 0.01 * fabs(more));
    advance(plastic, 291);  // 15 s: exp(-15) of the swing is left
    advance(elastic, 291);
    assert_true(fabs(sign * angle_of(plastic) - 0.7) < 1e-5);
    assert_true(fabs(angle_of(elastic)) < 1e-5);
    rbt_sim_free(plastic);
    rbt_sim_free(elastic);
}

// What has flowed is part of the state: a workspace that knows nothing goes on with the same bits.
static void flow_is_remembered(void **state) {
    (void)state;
    rbt_sim *a = fold(", 'yield': 0.3", "async-contact"), *b = fold(", 'yield': 0.3", "async-contact");
    advance(a, 6);
    carry(a, b);
    assert_true(rbt_sim_energies(a).elastic == rbt_sim_energies(b).elastic);
    advance(a, 10);
    advance(b, 10);
    assert_true(same_bits(a, b));
    rbt_sim_free(a);
    rbt_sim_free(b);
    refuses("{'rubato': 1, 'bodies': [{'name': 'a', 'mesh': {'shape': {'cloth': {}}}, 'shell': {'thickness': 0.01, "
            "'yield': 1}}], 'integrator': {'method': 'backward-euler'}}",
            "does not know hinges that yield");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hinge_that_yields_stays_bent),
        cmocka_unit_test(flow_is_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
