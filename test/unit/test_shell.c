// Bodies of triangles and of springs: what is compiled, how every method moves them, what is refused, what files show.
#include "math/vec3.h"
#include "mesh/core/build.h"
#include "mesh/io/read_vtu.h"
#include "model/force.h"
#include "model/stiffness.h"
#include "out/recorder.h"
#include "sampled.h"
#include "scene.h"
#include "sim/sim.h"
#include "view/subject.h"

#include "../support/out_model.h"

// A free cloth of 0.4 x 0.2 m, 0.08 m^2, of 8 x 4 cells: 45 nodes, 64 triangles, 108 edges of which 24 on the rim.
static rbt_sim *cloth(const char *method, double step, const char *body, const char *scene) {
    char json[4096];
    const rbt_record *options = rbt_method_at(rbt_method_find(method))->options;
    bool solves = options && rbt_record_field(options, "tolerance");
    snprintf(json, sizeof json,
             "{'rubato': 1, 'bodies': [{'name': 'cloth', 'mesh': {'shape': {'cloth': {'length': 0.4, 'width': 0.2, "
             "'cells_along': 8, 'cells_across': 4}}}, "
             "'material': {'young': 1e5, 'poisson': 0.3, 'density': 500}%s}]%s, "
             "'time': {'step': %g, 'frame': %g, 'end': 10}, 'integrator': {'method': '%s'%s}}",
             body, scene, step, step, method, solves ? ", 'options': {'tolerance': 1e-11}" : "");
    return sim_from(json);
}

static const rbt_group *find_group(const rbt_model *m, const rbt_group_type *type) {
    for (size_t g = 0; g < m->group_count; g++)
        if (m->groups[g].type == type) return &m->groups[g];
    return NULL;
}

static const char *const SHELL = ", 'shell': {'thickness': 0.001}";

// ---- What is compiled

static void a_shell_has_mass_area_and_elements(void **state) {
    (void)state;
    rbt_sim *sim = cloth("semi-implicit", 1e-3, SHELL, "");
    const rbt_model *m = sim->model;
    const rbt_body *body = &m->bodies[0];
    double mass = 0, area = 0;
    assert_int_equal(body->kind, RBT_SHELL);
    assert_int_equal(m->triangle_count, 64);
    assert_int_equal(m->tet_count, 0);
    assert_int_equal(m->edge_count, 0);
    for (size_t n = 0; n < m->node_count; n++) mass += m->mass[n], area += m->node_area[n];
    assert_true(fabs(mass - 500 * 0.001 * 0.08) < 1e-15 && fabs(body->mass - mass) < 1e-15);
    assert_true(fabs(area - 0.08) < 1e-15 && fabs(body->volume - 8e-5) < 1e-18);
    assert_int_equal(find_group(m, &RBT_MEMBRANES)->count, 64);
    const rbt_group *hinges = find_group(m, &RBT_HINGES);
    assert_int_equal(hinges->count, 84);
    assert_null(find_group(m, &RBT_SPRINGS));
    assert_false(m->linear);
    // D = E t^3 / (12 (1 - nu^2)); an edge of 0.05 m between triangles of together 0.05^2 m^2 has the weight D
    double D = 1e5 * 1e-9 / (12 * (1 - 0.09)), least = INFINITY;
    for (size_t e = 0; e < hinges->count; e++) least = fmin(least, ((const rbt_hinge *)hinges->data)[e].weight);
    assert_true(fabs(least / D - 1) < 1e-12);
    rbt_sim_free(sim);
}

static void a_shell_can_have_springs_and_no_bending(void **state) {
    (void)state;
    rbt_sim *sim =
        cloth("semi-implicit", 1e-3, ", 'shell': {'thickness': 0.001, 'membrane': 'springs', 'bending': 0}", "");
    const rbt_model *m = sim->model;
    const rbt_group *springs = find_group(m, &RBT_SPRINGS);
    assert_non_null(springs);
    assert_int_equal(springs->count, 108);
    assert_null(find_group(m, &RBT_HINGES));
    assert_null(find_group(m, &RBT_MEMBRANES));
    // E t A / L^2 with the area of one or two triangles of 0.05^2/2 m^2
    for (size_t e = 0; e < springs->count; e++) {
        const rbt_spring *s = (const rbt_spring *)springs->data + e;
        bool diagonal = s->length > 0.06, rim = s->stiffness < 60 && !diagonal;
        assert_true(fabs(s->stiffness - 1e5 * 0.001 * (diagonal ? 0.5 : rim ? 0.5 : 1)) < 1e-9);
    }
    rbt_sim_free(sim);
}

static void regions_give_triangles_their_material(void **state) {
    (void)state;
    rbt_sim *sim = cloth("semi-implicit", 1e-3,
                         ", 'shell': {'thickness': 0.001}, 'regions': [{'name': 'hem', 'where': {'box': {'min': "
                         "[-1, -1, -1], 'max': [-0.05, 1, 1]}}, 'material': {'young': 2e5, 'density': 1500}}]",
                         "");
    const rbt_model *m = sim->model;
    const rbt_group *membranes = find_group(m, &RBT_MEMBRANES);
    size_t hem = 0;
    for (size_t e = 0; e < membranes->count; e++) {
        const rbt_membrane *membrane = (const rbt_membrane *)membranes->data + e;
        bool inside = m->triangle_region[membranes->members[e]] == 1;
        hem += inside;
        assert_true(fabs(membrane->mu - (inside ? 2e5 / 2.8 : 1e5 / 2.6)) < 1e-9);
    }
    assert_int_equal(hem, 24);
    assert_true(fabs(m->bodies[0].mass - 0.001 * 0.08 * (500 * 0.625 + 1500 * 0.375)) < 1e-15);
    rbt_sim_free(sim);
}

// Assembled stiffness against differences of forces, with hinges, membranes and springs in one model
static void assembled_stiffness_is_force_gradient(void **state) {
    (void)state;
    rbt_sim *sim = sim_from(
        "{'rubato': 1, 'bodies': [{'name': 'a', 'mesh': {'shape': {'cloth': {'length': 1, 'width': 1, "
        "'cells_along': 2, 'cells_across': 2}}}, 'shell': {'thickness': 0.2}, 'material': {'young': 10}, "
        "'deform': [{'bend': {'axis': [1, 0, 0], 'towards': [0, 1, 0], 'degrees': 70}}]}, {'name': 'b', "
        "'mesh': {'shape': {'cloth': {'length': 1, 'width': 1, 'cells_along': 2, 'cells_across': 1}}}, "
        "'shell': {'thickness': 0.2, 'membrane': 'springs'}, 'material': {'young': 10}, 'deform': [{'twist': "
        "{'axis': [1, 0, 0], 'degrees': 40}}]}, {'name': 'c', 'mesh': {'shape': {'cuboid': {'cells': [1, 1, "
        "1]}}}, 'material': {'young': 10}}], 'time': {'step': 0.01, 'frame': 0.01, 'end': 1}}");
    const rbt_model *m = sim->model;
    size_t n = 3 * m->node_count;
    const double s = 1e-6;
    double *f[2], *y = malloc(n * sizeof *y), *partial = calloc(3 * m->plan.slot_count, sizeof *partial);
    for (int side = 0; side < 2; side++) f[side] = malloc(n * sizeof(double));
    rbt_stiffness K;
    assert_true(rbt_stiffness_build(&K, m, NULL));
    rbt_stiffness_assemble(&K, m, RBT_HESSIAN, sim->state.x);
    for (size_t j = 0; j < n; j++) {
        for (int side = 0; side < 2; side++) {
            memcpy(y, sim->state.x, n * sizeof *y);
            y[j] += side ? s : -s;
            memset(f[side], 0, n * sizeof *y);
            rbt_force_elastic(m, y, NULL, partial, f[side]);
        }
        for (size_t i = j / 3; i < m->node_count; i++)
            for (size_t r = 0; r < 3; r++) {
                double slope = -(f[1][3 * i + r] - f[0][3 * i + r]) / (2 * s), entry = 0;
                for (size_t k = K.K.start[i]; k < K.K.start[i + 1]; k++)
                    if ((size_t)K.K.column[k] == j / 3) entry = K.K.value[9 * k + 3 * r + j % 3];
                assert_true(fabs(slope - entry) < 1e-6);
            }
    }
    rbt_stiffness_free(&K);
    free(f[0]), free(f[1]), free(y), free(partial);
    rbt_sim_free(sim);
}

// ---- How methods move them

// A sheet that is not strained falls as one: v = g t in every method, and its shape stays.
static void every_method_lets_a_cloth_fall(void **state) {
    (void)state;
    for (int i = 0; rbt_method_at(i); i++) {
        rbt_sim *sim =
            cloth(rbt_method_at(i)->name, 1e-3, SHELL, ", 'forces': [{'gravity': {'acceleration': [0, -10, 1]}}]");
        advance(sim, 20);
        const double *x0 = sim->state.x, *X = sim->model->X;
        for (size_t n = 0; n < sim->model->node_count; n++) {
            const double *x = x0 + 3 * n, *v = sim->state.v + 3 * n;
            assert_true(fabs(v[0]) < 1e-9 && fabs(v[1] + 0.2) < 1e-9 && fabs(v[2] - 0.02) < 1e-9);
            assert_true(fabs(x[1] - X[3 * n + 1] - (x0[1] - X[1])) < 1e-9 && x[1] < X[3 * n + 1] - 1.9e-3);
        }
        rbt_sim_free(sim);
    }
}

static void every_method_keeps_momentum(void **state) {
    (void)state;
    for (int i = 0; rbt_method_at(i); i++)
        for (int springs = 0; springs < 2; springs++) {
            char body[512];
            snprintf(
                body, sizeof body,
                ", 'shell': {'thickness': 0.001, 'membrane': '%s', 'bending': 1e-3}, 'deform': [{'bend': {'axis': "
                "[1, 0, 0], 'towards': [0, 1, 0], 'degrees': 80}}, {'stretch': {'axis': [0, 0, 1], 'factor': "
                "1.05}}], 'velocity': {'linear': [1, 2, 3], 'angular': [0, 3, 4]}",
                springs ? "springs" : "constant-strain");
            rbt_sim *sim = cloth(rbt_method_at(i)->name, 2e-4, body, "");
            rbt_energies before = rbt_sim_energies(sim);
            advance(sim, SAMPLED(50, 20));
            rbt_energies after = rbt_sim_energies(sim);
            double turned[3];
            rbt_subtract(after.angular_momentum, before.angular_momentum, turned);
            for (int k = 0; k < 3; k++)
                assert_true(fabs(after.momentum[k] - before.momentum[k]) < 1e-8 * rbt_length(before.momentum));
            if (rbt_method_at(i)->keeps_angular_momentum)
                assert_true(rbt_length(turned) < 1e-8 * rbt_length(before.angular_momentum));
            assert_true(before.elastic > 1e-5 && fabs(after.elastic / before.elastic - 1) > 1e-2);
            rbt_sim_free(sim);
        }
}

// The estimate of the explicit step is safe, and not by much: three times as long a step is not stable.
static void explicit_step_is_estimated(void **state) {
    (void)state;
    static const char *const bodies[] = {
        ", 'shell': {'thickness': 0.001}, 'velocity': {'angular': [0.1, 0.2, 0.3]}",
        ", 'shell': {'thickness': 0.001, 'membrane': 'springs'}, 'velocity': {'angular': [0.1, 0.2, 0.3]}",
        ", 'shell': {'thickness': 0.03}, 'velocity': {'angular': [0.1, 0.2, 0.3]}",  // bending counts
    };
    for (size_t k = 0; k < sizeof bodies / sizeof bodies[0]; k++) {
        rbt_sim *sim = cloth("symplectic-euler", 1, bodies[k], "");
        double step = sim->model->bodies[0].explicit_step;
        assert_true(isfinite(step) && step > 0);
        rbt_sim_free(sim);
        for (int times = 1; times <= 3; times += 2) {
            sim = cloth("symplectic-euler", times == 1 ? 0.98 * step : 3 * step, bodies[k], "");
            double before = rbt_sim_energies(sim).total;
            rbt_step_report report;
            int i = 0;
            while (i < 400 && rbt_sim_advance_frame(sim, &report) && rbt_sim_energies(sim).total < 10 * before) i++;
            assert_true((i == 400) == (times == 1));
            rbt_sim_free(sim);
        }
    }
}

static void wind_pushes_both_sides(void **state) {
    (void)state;
    rbt_sim *sim = cloth("semi-implicit", 1e-4, SHELL,
                         ", 'forces': [{'wind': {'velocity': [0, -10, 0], 'gust': 0, 'air_density': 1.2}}]");
    advance(sim, 1);
    rbt_energies e = rbt_sim_energies(sim);
    assert_true(fabs(e.momentum[1] / (-1e-4 * 2 * 0.5 * 1.2 * 100 * 0.08) - 1) < 0.05);
    rbt_sim_free(sim);
}

static void a_cloth_rests_on_the_ground(void **state) {
    (void)state;
    rbt_sim *sim = cloth(
        "backward-euler", 5e-3,
        ", 'shell': {'thickness': 0.001}, 'damping': {'mass': 20}, 'transform': {'translate': [0, 0.01, 0]}",
        ", 'forces': [{'gravity': {'acceleration': [0, -10, 0]}}], 'obstacles': [{'plane': {'stiffness': 1e5}}]");
    advance(sim, 300);
    for (size_t n = 0; n < sim->model->node_count; n++)  // 5 Pa / 1e5 Pa/m
        assert_true(fabs(sim->state.x[3 * n + 1] + 5e-5) < 2e-6);
    rbt_sim_free(sim);
}

// A strip constrained at one end sags under its weight as a beam of 23 stiff links does, joined by springs D / a: the
// sum of cubes is what the integral of w = q L^4 / (8 D) becomes. The nodes of the alternating mesh relax against
// each other, which leaves 5/6 of the bending stiffness of a sheet that is rolled by force (energy/hinge.h).
static void a_strip_sags_as_a_beam(void **state) {
    (void)state;
    rbt_sim *sim = sim_from(
        "{'rubato': 1, 'bodies': [{'name': 'strip', 'mesh': {'shape': {'ribbon': {'length': 0.4, 'width': 0.1, "
        "'cells_along': 24, 'cells_across': 6}}}, 'shell': {'thickness': 0.002}, 'material': {'young': 1e8, "
        "'poisson': 0, 'density': 100}, 'damping': {'mass': 20}, 'fixed': [{'box': {'min': [-1, -1, -1], 'max': "
        "[-0.18, 1, 1]}}]}], 'forces': [{'gravity': {'acceleration': [0, -0.1, 0]}}], 'time': {'step': 0.1, 'frame': "
        "0.1, 'end': 10}, 'integrator': {'method': 'backward-euler', 'options': {'tolerance': 1e-6}}}");
    advance(sim, 40);
    double L = 0.4 - 0.4 / 24, D = 1e8 * 8e-9 / 12, q = 100 * 0.002 * 0.1, links = 23, cubes = 0, tip = 0;
    for (double u = 1; u <= links; u++) cubes += u * u * u;
    double w = 6.0 / 5 * q * pow(L, 4) / (8 * D) * cubes / (pow(links, 4) / 4);
    for (size_t n = 0; n < sim->model->node_count; n++) tip = fmin(tip, sim->state.x[3 * n + 1]);
    assert_true(fabs(-tip / w - 1) < 0.01);
    rbt_sim_free(sim);
}

// ---- Springs

static char *write_obj(const char *text) {
    char *folder = out_folder_new(), path[512];
    snprintf(path, sizeof path, "%s/net.obj", folder);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
    return folder;
}

static rbt_scene_file *net_scene(const char *folder, const char *method, const char *options, const char *body) {
    char json[2048];
    snprintf(json, sizeof json,
             "{'rubato': 1, 'bodies': [{'name': 'net', 'mesh': {'file': '%s/net.obj'}%s}], 'time': {'step': 0.01, "
             "'frame': 0.01, 'end': 1}, 'integrator': {'method': '%s'%s}}",
             folder, body, method, options);
    return scene_from(json);
}

static rbt_sim *net(const char *folder, const char *method, const char *options, const char *body) {
    rbt_scene_file *file = net_scene(folder, method, options, body);
    rbt_sim *sim = rbt_sim_create(rbt_scene_of(file), NULL);
    assert_non_null(sim);
    rbt_scene_free(file);
    return sim;
}

// q'' + d q' + omega^2 q = 0, omega = 100, d = 1, h = 0.01: each method is its recursion.
static void scalar_step(const char *method, int n, double *q, double *v, double *q1, double *v1) {
    const double h = 0.01, d = 1, w2 = 1e4;
    double q0 = *q, v0 = *v;
    // imex: the spring allows a step of 14 ms, so nothing is implicit
    if (strcmp(method, "symplectic-euler") == 0 || strcmp(method, "imex") == 0) {
        *v += h * (-w2 * *q - d * *v);
        *q += h * *v;
    } else if (strcmp(method, "implicit-midpoint") == 0) {
        double middle = (v0 - 0.5 * h * w2 * q0) / (1 + 0.5 * h * d + 0.25 * h * h * w2);
        *q = q0 + h * middle;
        *v = 2 * middle - v0;
    } else if (strcmp(method, "energy-euler") == 0) {  // with its energy left alone
        *q = (q0 * (1 + 0.5 * h * d) + h * v0) / (1 + 0.5 * h * d + 0.5 * h * h * w2);
        *v = v0 + 2 * (*q - q0 - h * v0) / h + 0.5 * h * w2 * (*q - q0);
    } else if (strcmp(method, "bdf2") == 0 && n > 0) {
        double tau = 2 * h / 3, b = (4 * q0 - *q1) / 3, u = (4 * v0 - *v1) / 3;
        *v = (u - tau * w2 * b) / (1 + tau * d + tau * tau * w2);
        *q = b + tau * *v;
    } else if (strcmp(method, "ere") == 0 ||
               strcmp(method, "siere") == 0) {  // exact: there are fewer unknowns than modes
        double w = sqrt(w2 - d * d / 4), s = exp(-0.5 * h * d) * sin(w * h) / w, c = exp(-0.5 * h * d) * cos(w * h);
        *q = q0 * (c + 0.5 * d * s) + v0 * s;
        *v = -q0 * w2 * s + v0 * (c - 0.5 * d * s);
    } else {  // backward Euler, and for a linear spring semi-implicit as well
        *v = (v0 - h * w2 * q0) / (1 + h * d + h * h * w2);
        *q = q0 + h * *v;
    }
    *q1 = q0;
    *v1 = v0;
}

static bool has_tolerance(const rbt_record *options) {
    for (int i = 0; options && i < options->field_count; i++)
        if (strcmp(options->fields[i].name, "tolerance") == 0) return true;
    return false;
}

static void an_oscillator_follows_its_recursion(void **state) {
    (void)state;
    char *folder = write_obj("v 0 0 0\nv 4 0 0\nv 7 7 7\nl 1 2\n");
    for (int i = 0; rbt_method_at(i); i++) {
        const char *name = rbt_method_at(i)->name;
        if (rbt_method_at(i)->own_steps) continue;  // test_async_contact.c holds it against symplectic Euler
        rbt_sim *sim = net(folder, name,
                           strcmp(name, "energy-euler") == 0 ? ", 'options': {'tolerance': 1e-12, 'energy': 'free'}"
                           : has_tolerance(rbt_method_at(i)->options) ? ", 'options': {'tolerance': 1e-12}"
                                                                      : "",
                           ", 'springs': {'stiffness': 1e4, 'node_mass': 1}, 'damping': {'mass': 1}, 'fixed': "
                           "[{'nodes': [0]}], 'deform': [{'stretch': {'axis': [1, 0, 0], 'factor': 1.25}}]");
        const rbt_model *m = sim->model;
        assert_int_equal(m->bodies[0].kind, RBT_NET);
        assert_true(m->mass[0] == 1 && m->mass[1] == 1 && m->mass[2] == 0 && m->bodies[0].mass == 2);
        assert_int_equal(m->role[2], RBT_FIXED);  // a node of no spring stays where it is
        assert_int_equal(m->warning_count, 1);
        assert_true(fabs(m->bodies[0].explicit_step - 2 / sqrt(2e4)) < 1e-12);
        double q = 1, v = 0, q1 = 0, v1 = 0;
        for (int n = 0; n < 60; n++) {
            advance(sim, 1);
            scalar_step(name, n, &q, &v, &q1, &v1);
            double l = sim->state.x[3] - sim->state.x[0];
            assert_true(fabs(l - 4 - q) < 1e-9 && fabs(sim->state.v[3] - v) < 1e-7);
        }
        rbt_sim_free(sim);
    }
    out_folder_remove(folder);
}

// ---- What is refused

static void says(rbt_scene_file *file, const char *path, const char *sentence) {
    rbt_error error = {0};
    rbt_model *model = rbt_model_compile(rbt_scene_of(file), &error);
    assert_null(model);
    assert_string_equal(error.path, path);
    assert_string_equal(error.message, sentence);
    rbt_scene_free(file);
}

static rbt_scene_file *body_scene(const char *body) {
    char json[2048];
    snprintf(json, sizeof json, "{'rubato': 1, 'bodies': [{'name': 'b', %s}]}", body);
    return scene_from(json);
}

static const char *const PLAIN_CLOTH =
    "'mesh': {'shape': {'cloth': {'length': 1, 'width': 1, 'cells_along': 2, 'cells_across': 2}}}";

static void mistakes_are_named(void **state) {
    (void)state;
    char text[1024];
    says(body_scene(PLAIN_CLOTH), "bodies[0].mesh",
         "has 8 triangles and no tets: give the body a \"shell\" with its thickness to make it a sheet, or make a "
         "solid of a closed surface with the shape \"surface\"");
    says(body_scene("'mesh': {'shape': {'cuboid': {'cells': [1, 1, 1]}}}, 'shell': {'thickness': 0.1}"),
         "bodies[0].shell", "the mesh has 6 tets and makes a solid; leave \"shell\" out");
    says(body_scene(
             "'mesh': {'shape': {'cuboid': {'cells': [1, 1, 1]}}}, 'springs': {'stiffness': 1, 'node_mass': 1}"),
         "bodies[0].springs", "the mesh has 6 tets and makes a solid; leave \"springs\" out");
    snprintf(text, sizeof text, "%s, 'shell': {'thickness': 0.1}, 'springs': {'stiffness': 1, 'node_mass': 1}",
             PLAIN_CLOTH);
    says(body_scene(text), "bodies[0].springs",
         "the mesh has 8 triangles and makes a shell; \"springs\" is for meshes of edges, shell.membrane = "
         "\"springs\" "
         "puts a spring along every edge of the triangles");
    snprintf(text, sizeof text, "%s, 'shell': {'thickness': 0.1}, 'surface': {'file': 'x.obj'}", PLAIN_CLOTH);
    says(body_scene(text), "bodies[0].surface",
         "tets carry a finer surface, but this body has none; leave \"surface\" out");
    snprintf(text, sizeof text, "%s, 'shell': {'thickness': 0.1}, 'consistent_mass': true", PLAIN_CLOTH);
    says(body_scene(text), "bodies[0].consistent_mass", "is for tets, but the body is made of triangles");
}

static void mistakes_in_nets_are_named(void **state) {
    (void)state;
    char *folder = write_obj("v 0 0 0\nv 1 0 0\nv 1 0 0\nl 1 2 3\n");
    says(net_scene(folder, "bdf2", "", ""), "bodies[0].mesh",
         "has 2 edges and no tets or triangles: give the body \"springs\" with their stiffness and the mass of a "
         "node");
    says(net_scene(folder, "bdf2", "", ", 'shell': {'thickness': 1}"), "bodies[0].shell",
         "the mesh has 2 edges and no triangles to make a shell of");
    says(net_scene(folder, "bdf2", "", ", 'springs': {'stiffness': 1, 'node_mass': 1}"), "bodies[0].mesh",
         "edge 1 has no length; repair the mesh");
    out_folder_remove(folder);
    folder = write_obj("v 0 0 0\nv 1 0 0\nl 1 2\n");
    says(
        net_scene(folder, "bdf2", "",
                  ", 'springs': {'stiffness': 1, 'node_mass': 1}, 'regions': [{'name': 'r', 'where': 'everything'}]"),
        "bodies[0].regions", "all springs of a body are alike; leave \"regions\" out");
    out_folder_remove(folder);
    folder = write_obj("v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n");
    says(net_scene(folder, "bdf2", "", ", 'shell': {'thickness': 1}"), "bodies[0].mesh",
         "triangle 0 has no area (0 m^2 with an edge of 2 m); repair the mesh");
    out_folder_remove(folder);
    folder = write_obj("v 0 0 0\nv 1 0 0\nv 2 0 0\n");
    says(net_scene(folder, "bdf2", "", ""), "bodies[0].mesh", "has 3 nodes but no tets, triangles or edges");
    out_folder_remove(folder);
}

// Three sheets meet at an edge: two hinges, stress-free as they are, and stiff.
static void an_edge_may_have_three_triangles(void **state) {
    (void)state;
    char *folder = write_obj("v 0 0 0\nv 0 1 0\nv 1 0 0\nv -1 0 0.5\nv 0 0 1\nf 1 2 3\nf 2 1 4\nf 1 2 5\n");
    rbt_sim *sim = net(folder, "backward-euler", "", ", 'shell': {'thickness': 0.1}, 'material': {'young': 1e3}");
    const rbt_group *hinges = find_group(sim->model, &RBT_HINGES);
    assert_int_equal(hinges->count, 2);
    advance(sim, 5);
    rbt_energies e = rbt_sim_energies(sim);
    assert_true(e.elastic < 1e-20 && e.kinetic < 1e-20);
    rbt_sim_free(sim);
    out_folder_remove(folder);
}

// Speeds beyond anything name the triangle.
static void divergence_names_a_triangle(void **state) {
    (void)state;
    rbt_sim *sim =
        cloth("symplectic-euler", 1e-5, ", 'shell': {'thickness': 0.001}, 'velocity': {'linear': [1e12, 0, 0]}", "");
    rbt_step_report report = {0};
    while (rbt_sim_frame(sim) < 50 && rbt_sim_advance_frame(sim, &report)) continue;
    assert_int_equal(report.outcome, RBT_NOT_FINITE);
    assert_true(report.body == 0 && report.element >= 0 && report.element < 64);
    assert_string_equal(report.element_kind, "triangle");
    rbt_sim_free(sim);
}

// ---- What files show

static rbt_sim *mixed(const char *folder) {
    char json[2048];
    snprintf(
        json, sizeof json,
        "{'rubato': 1, 'bodies': [{'name': 'net', 'mesh': {'file': '%s/net.obj'}, 'springs': {'stiffness': 10, "
        "'node_mass': 1}}, {'name': 'cloth', %s, 'shell': {'thickness': 0.01}, 'deform': [{'stretch': {'axis': "
        "[1, 0, 0], 'factor': 1.1}}], 'regions': [{'name': 'half', 'where': {'box': {'min': [0, -1, -1], 'max': "
        "[1, 1, 1]}}}]}, {'name': 'box', 'mesh': {'shape': {'cuboid': {'cells': [1, 1, 1]}}}}], 'time': {'step': "
        "0.01, 'frame': 0.01, 'end': 1}}",
        folder, PLAIN_CLOTH);
    return sim_from(json);
}

static void frames_show_every_element(void **state) {
    (void)state;
    char *folder = write_obj("v 0 0 0\nv 1 0 0\nv 2 0 0\nl 1 2 3\n"), path[512];
    rbt_sim *sim = mixed(folder);
    rbt_error error = {0};
    rbt_energies energies = rbt_sim_energies(sim);
    rbt_output_def output = {.vtu = true, .obj = true, .pc2 = true, .usda = true};
    rbt_recorder *recorder = rbt_recorder_open(folder, sim->model, &output, false, -1, &error);
    assert_non_null(recorder);
    assert_true(rbt_recorder_frame(recorder, &sim->state, &energies, true, &error));
    assert_true(rbt_recorder_close(recorder, &error));

    rbt_mesh mesh;
    rbt_fields fields;
    snprintf(path, sizeof path, "%s/frames/frame_000000.vtu", folder);
    assert_true(rbt_vtu_read_fields(path, &mesh, &fields, &error));
    assert_int_equal(mesh.node_count, 3 + 9 + 8);
    assert_int_equal(mesh.tet_count, 6);
    assert_int_equal(mesh.triangle_count, 8);
    assert_int_equal(mesh.edge_count, 2);
    const rbt_mesh_field *body = rbt_fields_find(&fields, "body", true),
                         *region = rbt_fields_find(&fields, "region", true),
                         *stress = rbt_fields_find(&fields, "von_mises", true);
    int half = 0;
    for (int i = 0; i < 16; i++) {
        assert_true(body->values[i] == (i < 6 ? 2 : i < 14 ? 1 : 0));
        assert_true(i >= 6 && i < 14 ? stress->values[i] > 1e3 : fabs(stress->values[i]) < 1e-6);
        assert_true(region->values[i] == (i < 6 ? 3 : i >= 14 ? 0 : region->values[i] == 2 ? 2 : 1));
        half += region->values[i] == 2;
    }
    assert_int_equal(half, 4);
    rbt_mesh_clear(&mesh);
    rbt_fields_free(&fields);

    // Pictures show the hull of the box and the cloth, each in its colour, and two springs as rods of 16 triangles.
    rbt_subject subject;
    rbt_figure figure;
    assert_true(rbt_subject_open(&subject, folder, rbt_coloring_find("body", &error), &error));
    assert_true(rbt_subject_load(&subject, 0, NULL, &figure, &error));
    assert_int_equal(figure.triangle_count, 12 + 8 + 2 * 16);
    for (int i = 0; i < 20; i++) assert_true(figure.values[i] == (i < 12 ? 2 : 1));
    rbt_figure_free(&figure);
    rbt_subject_free(&subject);

    snprintf(path, sizeof path, "%s/obj/frame_000000.obj", folder);
    rbt_mesh *surface = rbt_mesh_read(path, &error);
    assert_non_null(surface);
    assert_int_equal(surface->node_count, 9 + 8);
    assert_int_equal(surface->triangle_count, 8 + 12);
    assert_int_equal(surface->set_count, 3);  // the object and two groups: no empty one for the net
    rbt_mesh_free(surface);
    snprintf(path, sizeof path, "%s/usda/net.usda", folder);
    assert_int_not_equal(access(path, F_OK), 0);
    snprintf(path, sizeof path, "%s/usda/cloth.usda", folder);
    assert_int_equal(access(path, F_OK), 0);
    rbt_sim_free(sim);
    out_folder_remove(folder);
}

static void nothing_to_show_is_said(void **state) {
    (void)state;
    char *folder = write_obj("v 0 0 0\nv 1 0 0\nl 1 2\n");
    rbt_sim *sim = net(folder, "bdf2", "", ", 'springs': {'stiffness': 1, 'node_mass': 1}");
    rbt_error error = {0};
    rbt_output_def output = {.vtu = true, .usda = true};
    assert_null(rbt_recorder_open(folder, sim->model, &output, false, -1, &error));
    assert_string_equal(error.message,
                        "obj, pc2 and usda files hold surfaces, but no body has tets or triangles; take vtu only");
    output.usda = false;
    rbt_recorder *recorder = rbt_recorder_open(folder, sim->model, &output, false, -1, &error);
    assert_non_null(recorder);
    assert_true(rbt_recorder_close(recorder, &error));
    rbt_sim_free(sim);
    out_folder_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shell_has_mass_area_and_elements),
        cmocka_unit_test(a_shell_can_have_springs_and_no_bending),
        cmocka_unit_test(regions_give_triangles_their_material),
        cmocka_unit_test(assembled_stiffness_is_force_gradient),
        cmocka_unit_test(every_method_lets_a_cloth_fall),
        cmocka_unit_test(every_method_keeps_momentum),
        cmocka_unit_test(explicit_step_is_estimated),
        cmocka_unit_test(wind_pushes_both_sides),
        cmocka_unit_test(a_cloth_rests_on_the_ground),
        cmocka_unit_test(a_strip_sags_as_a_beam),
        cmocka_unit_test(an_oscillator_follows_its_recursion),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(mistakes_in_nets_are_named),
        cmocka_unit_test(an_edge_may_have_three_triangles),
        cmocka_unit_test(divergence_names_a_triangle),
        cmocka_unit_test(frames_show_every_element),
        cmocka_unit_test(nothing_to_show_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
