// Cuts while time runs: what must be conserved is, what was selected stays selected, every method continues.
#include "../support/scene.h"
#include "math/vec3.h"
#include "mesh/core/topology.h"
#include "mesh/generate/generate.h"
#include "out/checkpoint.h"
#include "sim/sim.h"

#include <math.h>

#define MATERIAL "'material': {'young': 1e5, 'poisson': 0.3, 'density': 1000}"
#define SHAPE    "'mesh': {'shape': {'cuboid': {'size': [1, 0.5, 0.5], 'cells': [8, 4, 4]}}}"
#define BODY     "'name': 'block', " SHAPE ", " MATERIAL
#define OBLIQUE  "{'plane': {'point': [0.03, 0.02, 0], 'normal': [1, 0.3, -0.2]}}"
#define TIME     "'time': {'step': 0.005, 'frame': 0.01, 'end': 0.1}"

static void advance_to(rbt_sim *sim, double t) {
    rbt_step_report report = {0};
    while (sim->state.t < t - 1e-9) assert_int_equal(rbt_sim_take_step(sim, &report), RBT_DONE);
}

// Makes the cuts that are due now without a step.
static rbt_change cut_now(rbt_sim *sim) {
    rbt_change change;
    rbt_error error = {0};
    assert_true(rbt_cutting_due(sim->cutting, sim->state.t));
    assert_true(rbt_cutting_stroke(sim->cutting, sim->model, &sim->state, &change, &error));
    return change;
}

// For the tests that only look: the simulation takes the new model as it would in a step.
static void take(rbt_sim *sim, rbt_change *change) {
    assert_true(rbt_stepper_follow(&sim->stepper, change, &sim->scene->integrator, &sim->state, NULL));
    rbt_model_free(sim->model);
    sim->model = change->after;
    rbt_energy_watch_free(&sim->watch);
    assert_true(rbt_energy_watch_init(&sim->watch, &sim->stepper, NULL));
    rbt_change_free(change);
}

static double size_of(const double v[3]) { return rbt_length(v); }

// A turning, deformed, flying body: mass, momentum and everything linear on elements stays; kinetic energy nearly.
static void cuts_conserve(void **state) {
    (void)state;
    static const char *const extras[] = {"", ", 'consistent_mass': true"};
    for (int i = 0; i < 2; i++) {
        char json[2048];
        snprintf(json, sizeof json,
                 "{'rubato': 1, 'bodies': [{" BODY ", 'velocity': {'linear': [1, 2, -1], 'angular': [3, -5, 8]}, "
                 "'deform': [{'twist': {'axis': [1, 0, 0], 'degrees': 40}}]%s}], 'forces': [{'gravity': {}}], "
                 "'cuts': [{'time': 0.03, 'surface': " OBLIQUE "}], " TIME "}",
                 extras[i]);
        rbt_sim *sim = sim_from(json);
        advance_to(sim, 0.03);
        rbt_energies before = rbt_sim_energies(sim);
        double mass = sim->model->bodies[0].mass, volume = sim->model->bodies[0].volume;
        size_t nodes = sim->model->node_count;
        rbt_change change = cut_now(sim);
        assert_non_null(change.after);
        take(sim, &change);
        rbt_energies after = rbt_sim_energies(sim);
        assert_true(sim->model->node_count > nodes);
        assert_true(fabs(sim->model->bodies[0].mass - mass) < 1e-13 * mass);
        assert_true(fabs(sim->model->bodies[0].volume - volume) < 1e-13 * volume);
        double sum = 0;
        for (size_t n = 0; n < sim->model->node_count; n++) sum += sim->model->mass[n];
        assert_true(fabs(sum - mass) < 1e-13 * mass);
        double lost[3], spun[3];
        rbt_subtract(after.momentum, before.momentum, lost);
        rbt_subtract(after.angular_momentum, before.angular_momentum, spun);
        assert_true(size_of(lost) < 1e-13 * size_of(before.momentum));
        assert_true(size_of(spun) < 1e-13 * size_of(before.angular_momentum));
        assert_true(fabs(after.elastic - before.elastic) < 1e-11 * before.elastic);
        assert_true(fabs(after.gravity - before.gravity) < 1e-11 * fabs(before.gravity) + 1e-9);
        assert_true(fabs(after.kinetic - before.kinetic) < 0.02 * before.kinetic);
        advance_to(sim, 0.1);
        rbt_sim_free(sim);
    }
}

static void a_cut_parts_the_body(void **state) {
    (void)state;
    rbt_sim *sim =
        sim_from("{'rubato': 1, 'bodies': [{" BODY "}], 'cuts': [{'time': 0.02, 'until': 0.06, 'strokes': 4, "
                 "'surface': " OBLIQUE "}], " TIME "}");
    static const double times[] = {0.02, 0.035, 0.055, 0.065};
    static const size_t parts[] = {1, 1, 1, 2};
    for (int i = 0; i < 4; i++) {
        advance_to(sim, times[i]);
        const rbt_model *m = sim->model;
        int32_t *part = calloc(m->node_count, sizeof *part);
        size_t count;
        assert_true(rbt_components(m->tets, m->tet_count, 4, m->node_count, part, &count, NULL));
        assert_int_equal(count, parts[i]);
        assert_int_equal(sim->model->generation > 0, i > 0);
        free(part);
    }
    rbt_sim_free(sim);
}

// New nodes are fixed, driven, loaded if both their parents are; parts have the material of the whole.
static void selections_go_along(void **state) {
    (void)state;
    rbt_sim *sim = sim_from(
        "{'rubato': 1, 'bodies': [{" BODY
        ", 'regions': [{'name': 'top', 'where': {'plane': {'point': [0, 0, 0], 'normal': [0, 1, 0]}},"
        " 'material': {'young': 2e5, 'density': 3000}}], 'fixed': [{'box': {'min': [0, 0, 0], 'max': [1, 0, 1], "
        "'relative': true}}], 'driven': [{'where': {'box': {'min': [0, 1, 0], 'max': [1, 1, 1], 'relative': true}}, "
        "'motions': [{'velocity': {'velocity': [0, 1, 0]}}]}]}], 'forces': [{'pull': {'where': 'everything', "
        "'force': "
        "[3, 0, 0]}}], 'cuts': [{'time': 0, 'surface': " OBLIQUE "}], " TIME "}");
    rbt_change c = cut_now(sim);
    const rbt_model *old = c.before, *new = c.after;
    size_t fixed = 0;
    for (size_t n = 0; n < new->node_count; n++) {
        const int32_t *p = c.parents + 2 * n;
        int expected = old->role[p[0]] == old->role[p[1]] ? old->role[p[0]] : RBT_FREE;
        assert_int_equal(new->role[n], expected);
        fixed += n >= old->node_count && new->role[n] != RBT_FREE;
        double y = new->X[3 * n + 1];
        assert_true(new->role[n] == RBT_FREE || fabs(y) > 0.24);
    }
    assert_true(fixed > 8);
    assert_int_equal(new->motions.node_count, new->bodies[0].driven_count);
    for (size_t t = 0; t < new->tet_count; t++) assert_int_equal(new->tet_region[t], old->tet_region[c.origin[t]]);
    assert_int_equal(new->loads.node_loads[0].node_count, new->node_count);
    double share = 0;
    for (size_t i = 0; i < new->node_count; i++) share += new->loads.node_loads[0].share[i];
    assert_true(fabs(share - 1) < 1e-12);
    // tets with no touched node are the same tets
    for (size_t t = 0; t < new->tet_count; t++) {
        const int32_t *tet = new->tets + 4 * t;
        if (c.touched[tet[0]] || c.touched[tet[1]] || c.touched[tet[2]] || c.touched[tet[3]]) continue;
        for (int a = 0; a < 4; a++) assert_int_equal(tet[a], old->tets[4 * c.origin[t] + a]);
    }
    take(sim, &c);
    advance_to(sim, 0.05);
    rbt_sim_free(sim);
}

// In the deformed body the surface is where it is in the world.
static void cuts_in_the_world(void **state) {
    (void)state;
    rbt_sim *sim = sim_from("{'rubato': 1, 'bodies': [{" BODY ", 'deform': [{'bend': {'axis': [1, 0, 0], 'towards': "
                            "[0, 1, 0], 'degrees': 80}}]}], 'cuts': [{'time': 0, 'deformed': true, 'surface': "
                            "{'plane': {'point': [0.1, 0, 0], 'normal': [1, 0, 0]}}}], " TIME "}");
    rbt_change c = cut_now(sim);
    for (size_t n = c.before->node_count; n < c.after->node_count; n++)
        assert_true(fabs(sim->state.x[3 * n] - 0.1) < 1e-9);
    take(sim, &c);
    rbt_sim_free(sim);
}

// Shells are cut as solids are; other bodies keep what they are.
static void shells_too(void **state) {
    (void)state;
    rbt_sim *sim =
        sim_from("{'rubato': 1, 'bodies': [{" BODY
                 "}, {'name': 'cloth', 'mesh': {'shape': {'cloth': {'length': 1, 'width': 1, "
                 "'cells_along': 6, 'cells_across': 6}}}, 'shell': {'thickness': 0.01}, 'velocity': {'angular': [1, "
                 "2, 3]}, " MATERIAL "}, {'name': 'other', 'mesh': {'shape': {'bar': {}}}, " MATERIAL
                 "}], 'cuts': [{'time': 0.01, 'body': 'cloth', 'surface': {'blade': {'points': [[-0.6, -0.1, 0.03], "
                 "[0.1, -0.1, "
                 "0.1], [0.6, -0.1, -0.2]], 'blade': [0, 0.3, 0]}}}], " TIME "}");
    advance_to(sim, 0.01);
    rbt_energies before = rbt_sim_energies(sim);
    rbt_change c = cut_now(sim);
    size_t grown = c.after->node_count - c.before->node_count;
    assert_true(grown > 10);
    assert_int_equal(c.after->bodies[2].node_begin, c.before->bodies[2].node_begin + grown);
    assert_int_equal(c.parents[2 * c.after->bodies[2].node_begin], c.before->bodies[2].node_begin);
    assert_true(fabs(c.after->bodies[1].mass - c.before->bodies[1].mass) < 1e-13 * c.before->bodies[1].mass);
    take(sim, &c);
    rbt_energies after = rbt_sim_energies(sim);
    double spun[3];
    rbt_subtract(after.angular_momentum, before.angular_momentum, spun);
    assert_true(size_of(spun) < 1e-12 * size_of(before.angular_momentum));
    advance_to(sim, 0.1);
    rbt_sim_free(sim);
}

// A checkpoint between two strokes continues to the same bits; one that lies about its cuts is refused.
static void checkpoints_know_cuts(void **state) {
    (void)state;
    rbt_scene_file *file = scene_from("{'rubato': 1, 'bodies': [{" BODY
                                      ", 'velocity': {'angular': [1, 2, 3]}}], 'cuts': [{'time': 0.02, "
                                      "'until': 0.08, 'surface': " OBLIQUE "}], " TIME "}");
    rbt_error error = {0};
    const char *path = "test_cutting.rbt";
    rbt_sim *one = rbt_sim_create(rbt_scene_of(file), &error), *two = rbt_sim_create(rbt_scene_of(file), &error);
    advance_to(one, 0.05);
    assert_true(rbt_checkpoint_write(path, one->model, &one->state, &error));
    rbt_state back;
    assert_true(rbt_checkpoint_read(path, two->model, RBT_SAME_MODEL, &back, &error));
    assert_true(back.cuts_size > 0);
    assert_true(rbt_sim_resume(two, &back, &error));
    advance_to(one, 0.1);
    advance_to(two, 0.1);
    assert_int_equal(one->model->node_count, two->model->node_count);
    assert_memory_equal(one->state.x, two->state.x, 3 * one->model->node_count * sizeof(double));
    assert_memory_equal(one->state.v, two->state.v, 3 * one->model->node_count * sizeof(double));

    rbt_sim *three = rbt_sim_create(rbt_scene_of(file), &error);
    for (size_t keep = 0; keep < one->state.cuts_size; keep += 97) {
        rbt_state lie = {.cuts_size = keep, .cuts = malloc(keep + 1)};
        memcpy(lie.cuts, one->state.cuts, keep);
        assert_null(rbt_cutting_restore(three->cutting, three->model, &lie, &error));
        rbt_state_clear(&lie);
    }
    for (size_t i = 0; i < 4000; i++) {  // whatever a wrong number says, it is refused or harmless
        rbt_state lie = {.node_count = one->state.node_count,
                         .cuts_size = one->state.cuts_size,
                         .cuts = malloc(one->state.cuts_size)};
        memcpy(lie.cuts, one->state.cuts, lie.cuts_size);
        ((unsigned char *)lie.cuts)[(i * 7919) % lie.cuts_size] ^= (unsigned char)(1u << i % 8);
        if (i % 40 == 0) rbt_model_free(rbt_cutting_restore(three->cutting, three->model, &lie, &error));
        rbt_state_clear(&lie);
    }
    remove(path);
    rbt_sim_free(one);
    rbt_sim_free(two);
    rbt_sim_free(three);
    rbt_scene_free(file);
}

// The embedded surface of a ring cut twice: closed again, in two parts, and on the tets everywhere.
static void skins_are_cut(void **state) {
    (void)state;
    const char *path = "test_cutting_skin.obj";
    rbt_mesh *fine = rbt_shape_generate("ball", &(rbt_ball_shape){0.5, 9}, NULL);
    assert_true(rbt_mesh_write(fine, path, false, NULL));
    rbt_mesh_free(fine);
    rbt_sim *sim =
        sim_from("{'rubato': 1, 'bodies': [{'name': 'ball', 'mesh': {'shape': {'ball': {'radius': 0.5, 'layers': "
                 "4}}}, 'surface': {'file': 'test_cutting_skin.obj'}, " MATERIAL
                 "}], 'cuts': [{'time': 0, 'surface': {'plane': {'point': [0.07, 0, 0], 'normal': [1, 0.2, "
                 "0.1]}}}], " TIME "}");
    const rbt_embedded_surface *before = &sim->model->bodies[0].embedded;
    size_t triangles = before->triangle_count;
    rbt_change c = cut_now(sim);
    take(sim, &c);
    const rbt_embedded_surface *embedded = &sim->model->bodies[0].embedded;
    size_t vertices = embedded->embedding.vertex_count;
    assert_true(embedded->triangle_count > triangles);
    int32_t *body = calloc(sim->model->node_count, sizeof *body);
    size_t parts;
    double *y = calloc(vertices, 3 * sizeof *y);
    rbt_embedding_apply(&embedded->embedding, sim->model->tets, sim->model->X, y);
    assert_true(
        rbt_components(sim->model->tets, sim->model->tet_count, 4, sim->model->node_count, body, &parts, NULL));
    assert_int_equal(parts, 2);
    // every triangle is carried by one of the two halves, and lies on its side
    const double normal[3] = {1, 0.2, 0.1}, point[3] = {0.07, 0, 0};
    for (size_t t = 0; t < embedded->triangle_count; t++) {
        int32_t half = -1;
        double side = 0;
        for (int k = 0; k < 3; k++) {
            int32_t v = embedded->triangles[3 * t + (size_t)k];
            int32_t here = body[sim->model->tets[4 * embedded->embedding.tet[v]]];
            double d[3];
            assert_true(half < 0 || here == half);
            half = here;
            rbt_subtract(y + 3 * v, point, d);
            if (fabs(rbt_dot(d, normal)) > fabs(side)) side = rbt_dot(d, normal);
        }
        if (fabs(side) >
            0.03) {          // the embedded surface stands out that far, and its cut follows the hull's normals there
            double sum = 0;  // on which side this half is
            for (size_t n = 0; n < sim->model->node_count; n++) {
                double d[3];
                rbt_subtract(sim->model->X + 3 * n, point, d);
                if (body[n] == half) sum += rbt_dot(d, normal);
            }
            assert_true(sum * side > 0);
        }
    }
    free(body);
    free(y);
    remove(path);
    rbt_sim_free(sim);
}

static void what_cannot_be_cut(void **state) {
    (void)state;
    static const struct {
        const char *cuts, *message;
    } wrong[] = {
        {"[{'time': -1, 'surface': " OBLIQUE "}]", "must be at least 0"},
        {"[{'time': 2, 'until': 1, 'surface': " OBLIQUE "}]", "must be at least \"time\" (2 s), found 1"},
        {"[{'body': 'blok', 'surface': " OBLIQUE "}]", "did you mean \"block\"?"},
        {"[{'surface': {'blade': {'points': [[0, 0, 0]], 'blade': [0, 0, 1]}}}]", "needs two points at least"},
        {"[{'surface': {'rectangle': {'corner': [0, 0, 0], 'along': [0, 0, 2], 'across': [0, 0, 1]}}}]",
         "must not point along the blade's way"},
        {"[{'surface': {'plane': {'normal': [0, 0, 0]}}}]", "zero"},
        {"[{}]", "\"surface\" is missing"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char json[1024];
        rbt_error error = {0};
        snprintf(json, sizeof json, "{'rubato': 1, 'bodies': [{" BODY "}], 'cuts': %s}", wrong[i].cuts);
        for (char *c = json; *c; c++)
            if (*c == '\'') *c = '"';
        assert_null(rbt_scene_parse(json, strlen(json), NULL, NULL, 0, &error));
        if (!strstr(error.message, wrong[i].message)) print_error("%s: %s\n", error.path, error.message);
        assert_non_null(strstr(error.message, wrong[i].message));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_conserve),       cmocka_unit_test(a_cut_parts_the_body),
        cmocka_unit_test(selections_go_along), cmocka_unit_test(cuts_in_the_world),
        cmocka_unit_test(shells_too),          cmocka_unit_test(checkpoints_know_cuts),
        cmocka_unit_test(skins_are_cut),       cmocka_unit_test(what_cannot_be_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
