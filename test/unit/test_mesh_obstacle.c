// Obstacles that are meshes in async-contact: at rest, moved, following a sequence, moved by a caller. Bodies touch
// them and stay apart, judged exactly from event to event; the same bits for any number of threads and after a resume.
#include "base/threads.h"
#include "math/vec3.h"
#include "model/fingerprint.h"
#include "sampled.h"
#include "scene.h"
#include "sim/sim.h"
#include "verify/verify.h"
#include "view/scenery.h"

#include <math.h>

// A cloth of 6 x 6 cells falls on an obstacle; %s: the obstacle, more of the scene.
#define SCENE                                                                                                        \
    "{'rubato': 1, 'bodies': [{'name': 'cloth', 'mesh': {'shape': {'cloth': {'length': 0.6, 'width': 0.6, "          \
    "'cells_along': 6, 'cells_across': 6}}}, 'transform': {'translate': [0.013, 0.24, 0.017]}, 'material': "         \
    "{'young': 2e4, 'poisson': 0.3, 'density': 300}, 'shell': {'thickness': 0.002}, 'velocity': {'linear': [0, -1, " \
    "0]}}], 'forces': [{'gravity': {}}], 'obstacles': [%s]%s, 'time': {'step': 1e-3, 'frame': 0.02, 'end': 2}, "     \
    "'integrator': {'method': '%s', 'options': {%s}}}"
#define CONTACT "'thickness': 0.01, 'stiffness': 500, 'restitution': 0.2, 'friction': 0.3"
#define BALL    "'mesh': {'shape': {'polyhedron': {'kind': 'icosahedron', 'radius': 0.2, 'cells': 2, 'round': true}}}"
#define FIXED   "{'mesh': {" BALL "}}"
#define SPINNING                                                                                                     \
    "{'mesh': {" BALL ", 'motions': [{'rotation': {'axis': [0, 0, 1], 'rate': 3}}, {'velocity': "                    \
    "{'velocity': [0, 0.3, 0]}}]}}"

static rbt_scene_file *cloth_scene(const char *obstacles, const char *more, const char *method, const char *options) {
    char json[4096];
    snprintf(json, sizeof json, SCENE, obstacles, more, method, options);
    return scene_from(json);
}

static rbt_sim *cloth_on(const char *obstacles) {
    rbt_scene_file *file = cloth_scene(obstacles, "", "async-contact", CONTACT);
    rbt_error error;
    rbt_sim *sim = rbt_sim_create(rbt_scene_of(file), &error);
    if (!sim) fail_msg("%s", error.message);
    rbt_scene_free(file);
    return sim;
}

// A sheet of 5 x 5 nodes that swings as a whole and bends: its positions in memory
enum { SIDE = 5, FRAMES = 6 };

typedef struct sheet {
    double nodes[3 * SIDE * SIDE], frames[FRAMES][3 * SIDE * SIDE];
    int32_t triangles[6 * (SIDE - 1) * (SIDE - 1)];
    rbt_mesh mesh;
    rbt_sequence_def sequence;
    rbt_obstacle_mesh def;
    rbt_obstacle obstacle;
} sheet;

static void make_sheet(sheet *s, bool loop) {
    int count = 0;
    for (int i = 0; i < SIDE * SIDE; i++)
        for (int k = -1; k < FRAMES; k++) {
            double *x = (k < 0 ? s->nodes : s->frames[k]) + 3 * i;
            x[0] = 0.2 * (i % SIDE - 2);
            x[2] = 0.2 * (i / SIDE - 2);
            x[1] = k < 0 ? 0 : 0.05 * sin(2 * acos(-1.0) * k / FRAMES + x[0]) + 0.03 * k * x[0] * x[2];
        }
    for (int j = 0; j + 1 < SIDE; j++)
        for (int i = 0; i + 1 < SIDE; i++, count += 6) {
            int a = j * SIDE + i, c = a + SIDE;
            const int32_t corners[6] = {a, c, c + 1, a, c + 1, a + 1};
            memcpy(s->triangles + count, corners, sizeof corners);
        }
    s->mesh = (rbt_mesh){
        .node_count = SIDE * SIDE, .nodes = s->nodes, .triangle_count = (size_t)count / 3, .triangles = s->triangles};
    s->sequence = rbt_sequence_default();
    s->sequence.positions = s->frames[0];
    s->sequence.frame_count = FRAMES;
    s->sequence.rate = 30;
    s->sequence.loop = loop;
    s->def = rbt_obstacle_mesh_default();
    s->def.mesh.mesh = &s->mesh;
    s->def.sequence = &s->sequence;
    s->obstacle = (rbt_obstacle){RBT_OBSTACLE_MESH, &s->def};
}

static rbt_sim *cloth_on_sheet(sheet *s, const char *more, const char *options) {
    rbt_scene_file *file = cloth_scene("", more, "async-contact", options);
    rbt_scene scene = *rbt_scene_of(file);
    rbt_error error;
    make_sheet(s, true);
    scene.obstacles.count = 1;
    scene.obstacles.items = &s->obstacle;
    rbt_sim *sim = rbt_sim_create(&scene, &error);
    if (!sim) fail_msg("%s", error.message);
    memset(s, 0xaa, sizeof *s);  // the description is the caller's, and nobody looks at it any more
    rbt_scene_free(file);
    return sim;
}

// ---- The judge, from event to event

typedef struct trial {
    rbt_sim *sim;
    rbt_verification v;
    rbt_error error;
    bool failed;
} trial;

static void see(void *context, rbt_seen what, double t, const double *x) {
    trial *j = context;
    if (what == RBT_SEEN_START) rbt_verification_restart(&j->v, t, x);
    else {
        rbt_verified about = {.frame = j->sim->state.frame, .step = j->sim->state.step, .event = true, .t = t};
        j->failed |= !rbt_verification_add(&j->v, &about, x, &j->error);
    }
}

static void add_state(trial *j) {
    const rbt_state *s = &j->sim->state;
    rbt_verified about = {.frame = s->frame, .step = s->step, .t = s->t};
    j->failed |= !rbt_verification_add(&j->v, &about, s->x, &j->error);
}

// Runs and judges; at the end something must have been touched.
static void stays_apart(rbt_sim *sim, int steps) {
    trial j = {.sim = sim, .v = {.keep = 3, .event_ways = true}};
    rbt_observer observer = {true, see, &j};
    const rbt_method *method = sim->stepper.method;
    rbt_step_report report;
    double energy = 0;
    assert_true(rbt_verification_set_model(&j.v, sim->model, method, &j.error));
    assert_int_equal(j.v.obstacle_count, sim->model->obstacles.count);
    method->set_observer(sim->stepper.self, &observer);
    add_state(&j);
    for (int i = 0; i < steps; i++) {
        report = (rbt_step_report){.body = -1, .element = -1, .stage = ""};
        if (rbt_sim_take_step(sim, &report) != RBT_DONE) fail_msg("%s: %s", report.stage, report.hint);
        energy = fmax(energy, rbt_sim_energies(sim).contact);
        add_state(&j);
    }
    if (j.failed) fail_msg("%s", j.error.message);
    if (j.v.bad_count) {
        char text[256];
        rbt_verification_summary(&j.v, text, sizeof text);
        fail_msg("%s", text);
    }
    assert_true(energy > 0);
    if (!(j.v.event_count > (size_t)steps)) fail_msg("%zu events in %d steps", j.v.event_count, steps);
    rbt_verification_free(&j.v);
}

static void cloth_keeps_off_meshes(void **state) {
    (void)state;
    static const char *const obstacles[] = {FIXED, SPINNING, FIXED ", {'plane': {'point': [0, -0.3, 0]}}"};
    for (size_t i = LONG(0, SAMPLED(1, 2)); i < 3; i++) {
        rbt_sim *sim = cloth_on(obstacles[i]);
        stays_apart(sim, LONG(220, SAMPLED(140, 100)));
        rbt_sim_free(sim);
    }
}

static void cloth_keeps_off_a_sequence(void **state) {
    (void)state;
    sheet s;
    rbt_sim *sim = cloth_on_sheet(&s, "", CONTACT);
    assert_int_equal(sim->model->warning_count, 1);
    assert_non_null(strstr(sim->model->warnings[0], "obstacles[0]: its surface is open, 16 edges"));
    stays_apart(sim, SAMPLED(330, 220));
    rbt_sim_free(sim);
}

// The judge sees what there is: without contact the cloth falls through, and that is found.
static void without_contact_it_falls_through(void **state) {
    (void)state;
    sheet s;
    rbt_sim *sim = cloth_on_sheet(&s, "", CONTACT ", 'contact': false");
    trial j = {.sim = sim, .v = {.keep = 3, .event_ways = true}};
    assert_true(rbt_verification_set_model(&j.v, sim->model, sim->stepper.method, &j.error));
    rbt_step_report report = {0};
    add_state(&j);
    for (int i = 0; i < 250; i++) {
        rbt_sim_take_step(sim, &report);
        add_state(&j);
    }
    assert_false(j.failed);
    assert_true(j.v.bad_count > 10 && j.v.on_ways > 0);
    assert_int_equal(j.v.states[j.v.count - 1].in.count, 0);  // it is below by now
    rbt_verification_free(&j.v);
    rbt_sim_free(sim);
}

// ---- Callers

static void callers_move_meshes(void **state) {
    (void)state;
    rbt_error error;
    rbt_sim *sim = cloth_on(FIXED),
            *scripted = cloth_on("{'mesh': {" BALL ", 'motions': [{'velocity': {'velocity': [0, 0.5, 0]}}]}}");
    rbt_drive drive = rbt_drive_default();
    drive.velocity[1] = 0.5;
    if (!rbt_sim_drive_obstacle(sim, 0, &drive, &error)) fail_msg("%s", error.message);
    stays_apart(sim, SAMPLED(120, 50));
    stays_apart(scripted, SAMPLED(120, 50));
    assert_memory_equal(sim->state.x, scripted->state.x, 3 * sim->model->node_count * sizeof(double));
    drive.spin[2] = 2;  // unlike a plane it can turn
    assert_true(rbt_sim_drive_obstacle(sim, 0, &drive, &error));
    stays_apart(sim, SAMPLED(60, 25));
    rbt_sim_free(sim);
    rbt_sim_free(scripted);
    // On top of a sequence
    sheet s;
    sim = cloth_on_sheet(&s, "", CONTACT);
    const double up[3] = {0, 0.1, 0};
    assert_true(rbt_sim_drive_obstacle_to(sim, 0, up, 0.2, &error));
    stays_apart(sim, SAMPLED(250, 180));
    rbt_sim_free(sim);
}

// ---- The same bits

static void threads_and_resumes_change_nothing(void **state) {
    (void)state;
    rbt_error error;
    sheet s;
    int before = rbt_threads_count();
    rbt_sim *whole = cloth_on_sheet(&s, "", CONTACT);
    size_t bytes = 3 * whole->model->node_count * sizeof(double);
    rbt_threads_set(1);
    advance(whole, 8);
    rbt_state *half = rbt_sim_save(whole, &error);
    rbt_sim *clone = rbt_sim_clone(whole, &error);
    assert_non_null(clone);
    advance(whole, 8);
    advance(clone, 8);
    assert_memory_equal(whole->state.x, clone->state.x, bytes);
    rbt_sim_free(clone);
    for (int threads = 1; threads <= 3; threads++) {
        rbt_threads_set(threads);
        rbt_sim *other = cloth_on_sheet(&s, "", CONTACT);
        assert_true(other->fingerprint == whole->fingerprint);
        if (threads == 1) {
            assert_true(rbt_sim_restore(other, half, &error));
            advance(other, 8);
        } else {
            advance(other, 16);
        }
        assert_memory_equal(whole->state.x, other->state.x, bytes);
        assert_memory_equal(whole->state.v, other->state.v, bytes);
        rbt_sim_free(other);
    }
    rbt_threads_set(before);
    rbt_state_free(half);
    rbt_sim_free(whole);
}

// A checkpoint is of the same model only if the obstacles are the same.
static void fingerprints_tell_meshes_apart(void **state) {
    (void)state;
    static const char *const obstacles[] = {
        FIXED,
        SPINNING,
        "{'mesh': {" BALL ", 'transform': {'translate': [0, -1e-9, 0]}}}",
        "{'mesh': {'mesh': {'shape': {'polyhedron': {'kind': 'octahedron', 'radius': 0.2}}}}}",
        "{'sphere': {'radius': 0.2}}",
    };
    uint64_t prints[7];
    size_t count = 0;
    for (; count < 5; count++) {
        rbt_sim *sim = cloth_on(obstacles[count]);
        prints[count] = sim->fingerprint;
        rbt_sim_free(sim);
    }
    for (; count < 7; count++) {
        sheet s;
        rbt_scene_file *file = cloth_scene("", "", "async-contact", CONTACT);
        rbt_scene scene = *rbt_scene_of(file);
        make_sheet(&s, count == 5);
        scene.obstacles.count = 1;
        scene.obstacles.items = &s.obstacle;
        rbt_model *model = rbt_model_compile(&scene, NULL);
        prints[count] = rbt_model_fingerprint(model);
        rbt_model_free(model);
        rbt_scene_free(file);
    }
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++) assert_true(prints[i] != prints[k]);
}

// Models that cuts make have the obstacle of the first one, although its description is gone.
static void cuts_keep_meshes(void **state) {
    (void)state;
    sheet s;
    rbt_error error;
    rbt_sim *sim = cloth_on_sheet(&s, ", 'cuts': [{'time': 0.03, 'surface': {'plane': {'point': [0.01, 0, 0]}}}]",
                                  CONTACT ", 'contact': false");
    const rbt_obstacle_geometry *before = sim->model->obstacles.geometry[0];
    advance(sim, 1);
    rbt_sim *clone = rbt_sim_clone(sim, &error);
    advance(sim, 3);
    advance(clone, 3);
    assert_true(sim->model->generation > 0);
    assert_true(sim->model->obstacles.geometry[0] == before && clone->model->obstacles.geometry[0] == before);
    assert_memory_equal(sim->state.x, clone->state.x, 3 * sim->model->node_count * sizeof(double));
    rbt_sim_free(sim);
    assert_int_equal(before->node_count, SIDE * SIDE);  // the clone still has it
    rbt_sim_free(clone);
}

// ---- What cannot be

static void refused(const char *obstacles, const char *more, const char *method, const char *options,
                    const char *sentence) {
    rbt_scene_file *file = cloth_scene(obstacles, more, method, options);
    rbt_error error = {0};
    char text[2048];
    assert_null(rbt_sim_create(rbt_scene_of(file), &error));
    rbt_error_text(&error, text, sizeof text);
    if (!strstr(text, sentence)) fail_msg("%s", text);
    rbt_scene_free(file);
}

static void methods_without_contact_refuse(void **state) {
    (void)state;
    int judged = 0;
    for (int i = 0; rbt_method_name(i); i++) {
        if (rbt_method_at(i)->own_contact) continue;
        char sentence[128];
        snprintf(sentence, sizeof sentence, "%s pushes bodies out of planes, spheres, boxes and capsules only",
                 rbt_method_name(i));
        refused("{'plane': {}}, " FIXED, "", rbt_method_name(i), "", "obstacles[1]");
        refused("{'plane': {}}, " FIXED, "", rbt_method_name(i), "", sentence);
        judged++;
    }
    assert_true(judged >= 10);
}

static void starts_and_motions_that_meet(void **state) {
    (void)state;
    // The cloth lies in the ball.
    refused("{'mesh': {" BALL ", 'transform': {'translate': [0, 0.2, 0]}}}", "", "async-contact", CONTACT,
            "touch or cross at the start");
    // A mesh that comes down on what is fixed: the front of a cube of 0.2 m at 0.5 m, 1 m/s, the floor at 0.1 m
    const char *floor =
        "{'rubato': 1, 'bodies': [{'name': 'floor', 'mesh': {'shape': {'cloth': {}}}, 'shell': "
        "{'thickness': 0.002}, 'transform': {'translate': [0, 0.1, 0]}, 'fixed': ['everything']}, "
        "{'name': 'loose', 'mesh': {'shape': {'cuboid': {'cells': [1, 1, 1]}}}, 'transform': "
        "{'translate': [50, 50, 50]}}], 'obstacles': [{'mesh': {'mesh': {'shape': {'cuboid': {'size': "
        "[0.2, 0.2, 0.2], 'cells': [1, 1, 1]}}}, 'transform': {'translate': [0, %s, 0]}, 'motions': "
        "[{'velocity': {'velocity': [0, -1, 0]}}]}}], 'time': {'step': 1e-2, 'frame': 1e-2, 'end': "
        "0.5}, 'integrator': {'method': 'async-contact'}}";
    char json[2048];
    snprintf(json, sizeof json, floor, "0.6");
    refuses(json, "obstacles[0]");
    refuses(json, "meet at 0.4 s");
    snprintf(json, sizeof json, floor, "0.75");
    rbt_sim_free(sim_from(json));
}

// A sequence that meets a fixed sheet: found in the span between the two frames where it does
static void sequences_that_meet(void **state) {
    (void)state;
    sheet s;
    rbt_scene_file *file = scene_from(
        "{'rubato': 1, 'bodies': [{'name': 'ceiling', 'mesh': {'shape': {'cloth': {'length': 3, 'width': 3}}}, "
        "'shell': "
        "{'thickness': 0.002}, 'transform': {'translate': [0.003, 0.5, 0.001]}, 'fixed': ['everything']}, {'name': "
        "'loose', 'mesh': {'shape': {'cuboid': {'cells': [1, 1, 1]}}}, 'transform': {'translate': [50, 50, 50]}}], "
        "'time': {'step': 1e-3, 'frame': 1e-2, 'end': 0.5}, 'integrator': {'method': 'async-contact'}}");
    for (int hits = 0; hits < 2; hits++) {
        rbt_scene scene = *rbt_scene_of(file);
        rbt_error error = {0};
        make_sheet(&s, false);
        // Flat, and from frame 3 to frame 4 up by 0.8 or by 0.4: from 0.1 s to 0.1333 s
        for (int k = 0; k < FRAMES; k++)
            for (int i = 0; i < SIDE * SIDE; i++) s.frames[k][3 * i + 1] = k < 4 ? 0 : hits ? 0.8 : 0.4;
        scene.obstacles.count = 1;
        scene.obstacles.items = &s.obstacle;
        rbt_sim *sim = rbt_sim_create(&scene, &error);
        assert_int_equal(sim == NULL, hits);
        // Half a metre of 0.8 m in a thirtieth of a second; the last step of each frame straight to 1 ms
        if (hits && !strstr(error.message, "meet at 0.12")) fail_msg("%s", error.message);
        if (hits && !strstr(error.message, "obstacles[0]")) fail_msg("%s", error.message);
        rbt_sim_free(sim);
    }
    rbt_scene_free(file);
}

// ---- Pictures

static void pictures_show_them_where_they_are(void **state) {
    (void)state;
    sheet s;
    rbt_error error;
    make_sheet(&s, false);
    const rbt_move_velocity up = {{0, 2, 0}, 0, INFINITY};
    rbt_motion rise = {RBT_MOVE_VELOCITY, &up};
    s.def.motions.count = 1;
    s.def.motions.items = &rise;
    rbt_obstacle_geometry *geometry = rbt_obstacle_geometry_load(&s.def, 0, NULL, NULL, &error);
    const rbt_obstacles all = {1, &s.obstacle, &geometry};
    rbt_scenery_sight sight = {{-1, -1, -1}, {1, 1, 1}, 2.5 / 30, NULL, NULL};
    rbt_scenery scenery;
    assert_true(rbt_scenery_build(&scenery, &all, &sight, &error));
    assert_int_equal(scenery.node_count, SIDE * SIDE);
    assert_int_equal(scenery.triangle_count, 2 * s.mesh.triangle_count);  // both sides
    for (int i = 0; i < SIDE * SIDE; i++) {
        double want = 0.5 * (s.frames[2][3 * i + 1] + s.frames[3][3 * i + 1]) + 2 * sight.time;
        if (!(fabs(scenery.nodes[3 * i + 1] - want) <= 1e-14))
            fail_msg("%g is not %g", scenery.nodes[3 * i + 1], want);
    }
    rbt_scenery_free(&scenery);
    rbt_obstacle_geometry_free(geometry);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cloth_keeps_off_meshes),
        cmocka_unit_test(cloth_keeps_off_a_sequence),
        cmocka_unit_test(without_contact_it_falls_through),
        cmocka_unit_test(callers_move_meshes),
        cmocka_unit_test(threads_and_resumes_change_nothing),
        cmocka_unit_test(fingerprints_tell_meshes_apart),
        cmocka_unit_test(cuts_keep_meshes),
        cmocka_unit_test(methods_without_contact_refuse),
        cmocka_unit_test(starts_and_motions_that_meet),
        cmocka_unit_test(sequences_that_meet),
        cmocka_unit_test(pictures_show_them_where_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
