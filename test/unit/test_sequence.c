// Meshes that obstacles are made of, and sequences of their positions: reading PC2 and numbered files, where nodes are
// at a time, what is refused and with which sentence, and the file that a run leaves of them.
#include "base/file.h"
#include "math/vec3.h"
#include "mesh/io/read_pc2.h"
#include "model/obstacle_nodes.h"
#include "out/obstacle_file.h"
#include "out/pc2.h"
#include "scene.h"

#include "random.h"

#include <math.h>
#include <unistd.h>

enum { FRAMES = 4, NODES = 5 };

// A pyramid without its base: nodes 1 to 4 around node 0, one node more that no triangle has.
static const int32_t TRIANGLES[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 1}};

static char folder[64];

static int make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/rubato-sequence.XXXXXX");
    return mkdtemp(folder) ? 0 : 1;
}

static int remove_folder(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

static const char *in_folder(const char *name) {
    static char path[4][160];
    static int next;
    char *p = path[next++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", folder, name);
    return p;
}

static void write_text(const char *name, const char *text) {
    assert_true(rbt_file_write(in_folder(name), text, strlen(text), NULL));
}

// Numbers that 32 bits hold: multiples of 1/64
static void frame_points(int k, double x[3 * (NODES + 1)]) {
    static const double rest[NODES + 1][3] = {{0, 1, 0}, {1, 0, 0}, {0, 0, 1}, {-1, 0, 0}, {0, 0, -1}, {9, 9, 9}};
    for (int i = 0; i <= NODES; i++)
        for (int c = 0; c < 3; c++) x[3 * i + c] = rest[i][c] + k * k * (i + 1) * (c + 2) / 64.0;
}

static void write_obj(const char *name, const double *x, int nodes, int triangles) {
    rbt_text t = {0};
    for (int i = 0; i < nodes; i++) rbt_text_add(&t, "v %.17g %.17g %.17g\n", x[3 * i], x[3 * i + 1], x[3 * i + 2]);
    for (int i = 0; i < triangles; i++)
        rbt_text_add(&t, "f %d %d %d\n", TRIANGLES[i][0] + 1, TRIANGLES[i][1] + 1, TRIANGLES[i][2] + 1);
    write_text(name, t.text);
    rbt_text_free(&t);
}

static void write_sequences(void) {
    double x[3 * (NODES + 1)];
    float scratch[3 * (NODES + 1)];
    rbt_frame_file pc2;
    assert_true(rbt_pc2_open(&pc2, in_folder("walk.pc2"), NODES + 1, -1, NULL));
    for (int k = 0; k < FRAMES; k++) {
        char name[32];
        frame_points(k, x);
        assert_true(rbt_pc2_add(&pc2, NODES + 1, x, scratch, NULL));
        snprintf(name, sizeof name, "walk_%03d.obj", k + 7);
        write_obj(name, x, NODES + 1, 4);
    }
    assert_true(rbt_frame_file_close(&pc2, NULL));
    frame_points(0, x);
    write_obj("rest.obj", x, NODES + 1, 4);
}

static rbt_obstacle_mesh mesh_def(const rbt_sequence_def *sequence) {
    rbt_obstacle_mesh def = rbt_obstacle_mesh_default();
    def.mesh.file = "rest.obj";
    def.sequence = sequence;
    return def;
}

static rbt_sequence_def sequence_def(const char *file, int first, int last) {
    rbt_sequence_def s = rbt_sequence_default();
    s.file = file;
    s.first = first;
    s.last = last;
    return s;
}

static rbt_obstacle_geometry *loaded(const rbt_obstacle_mesh *def) {
    rbt_error error = {0};
    rbt_obstacle_geometry *g = rbt_obstacle_geometry_load(def, 3, folder, "scene.json", &error);
    if (!g) fail_msg("%s", error.message);
    return g;
}

static void assert_point(const double *x, const double *want, double bound) {
    for (int k = 0; k < 3; k++)
        if (!(fabs(x[k] - want[k]) <= bound))
            fail_msg("component %d is %.17g instead of %.17g, bound %g", k, x[k], want[k], bound);
}

// ---- Reading

static void caches_files_and_memory_hold_the_same(void **state) {
    (void)state;
    write_sequences();
    double memory[FRAMES][3 * (NODES + 1)];
    for (int k = 0; k < FRAMES; k++) frame_points(k, memory[k]);
    rbt_sequence_def cache = sequence_def("walk.pc2", 0, -1), files = sequence_def("walk_###.obj", 7, 10),
                     own = files;
    own.file = NULL;
    own.positions = memory[0];
    own.frame_count = FRAMES;
    const rbt_sequence_def *all[] = {&cache, &files, &own};
    for (size_t i = 0; i < 3; i++) {
        rbt_obstacle_mesh def = mesh_def(all[i]);
        rbt_obstacle_geometry *g = loaded(&def);
        assert_int_equal(g->node_count, NODES);  // the one that no triangle has is left out
        assert_int_equal(g->triangle_count, 4);
        assert_int_equal(g->frame_count, FRAMES);
        assert_int_equal(g->open_edges, 4);
        for (int k = 0; k < FRAMES; k++)
            assert_memory_equal(g->frames + 3 * k * NODES, memory[k], 3 * NODES * sizeof(double));
        rbt_obstacle_geometry_free(g);
    }
    // Some of the frames only
    cache.first = 1, cache.last = 2;
    rbt_obstacle_mesh def = mesh_def(&cache);
    rbt_obstacle_geometry *g = loaded(&def);
    assert_int_equal(g->frame_count, 2);
    assert_memory_equal(g->frames, memory[1], 3 * NODES * sizeof(double));
    rbt_obstacle_geometry_free(g);
}

// Frames are placed as the mesh is: the fit is that of the mesh, not of each frame.
static void transforms_place_frames(void **state) {
    (void)state;
    write_sequences();
    rbt_sequence_def cache = sequence_def("walk.pc2", 0, -1);
    rbt_obstacle_mesh def = mesh_def(&cache);
    def.mesh.unit = "cm";
    def.transform.translate[1] = 5;
    def.transform.fit = 2;  // the box of the mesh is 10 long, with its node that no triangle has
    rbt_obstacle_geometry *g = loaded(&def);
    for (int k = 0; k < FRAMES; k++) {
        double x[3 * (NODES + 1)];
        frame_points(k, x);
        for (int i = 0; i < NODES; i++) {
            const double want[3] = {(x[3 * i] + 1) / 5, x[3 * i + 1] / 5 + 5, (x[3 * i + 2] + 1) / 5};
            assert_point(g->frames + 3 * (k * NODES + i), want, 1e-13);  // a few roundings of numbers below 20
        }
    }
    rbt_obstacle_geometry_free(g);
}

static void tets_have_their_hull(void **state) {
    (void)state;
    rbt_error error;
    rbt_obstacle_mesh def = rbt_obstacle_mesh_default();
    rbt_mesh *cube = rbt_mesh_generate("cuboid", "{\"cells\": [3, 3, 3]}", &error);
    def.mesh.mesh = cube;
    rbt_obstacle_geometry *g = loaded(&def);
    assert_int_equal(g->triangle_count, 6 * 9 * 2);
    assert_int_equal(g->node_count, 64 - 8);
    assert_int_equal(g->open_edges, 0);
    rbt_obstacle_geometry_free(g);
    rbt_mesh_free(cube);
}

// ---- Where nodes are

static void positions_at(const rbt_obstacle_geometry *g, double t, int k, int next, double w) {
    double a[3 * (NODES + 1)], b[3 * (NODES + 1)], x[3], want[3];
    frame_points(k, a);
    frame_points(next, b);
    for (int i = 0; i < NODES; i++) {
        rbt_obstacle_geometry_node(g, (size_t)i, t, x);
        for (int c = 0; c < 3; c++) want[c] = (1 - w) * a[3 * i + c] + w * b[3 * i + c];
        assert_point(x, want, 1e-12);  // t times the rate is off by a rounding, positions are below 10
    }
}

static void frames_are_linear_in_time(void **state) {
    (void)state;
    write_sequences();
    rbt_sequence_def s = sequence_def("walk.pc2", 0, -1);
    s.rate = 8;
    s.from = 0.5;
    rbt_obstacle_mesh def = mesh_def(&s);
    rbt_obstacle_geometry *g = loaded(&def);
    positions_at(g, -3, 0, 0, 0);
    positions_at(g, 0.5, 0, 0, 0);
    positions_at(g, 0.53125, 0, 1, 0.25);
    positions_at(g, 0.625, 1, 1, 0);
    positions_at(g, 0.8125, 2, 3, 0.5);
    positions_at(g, 0.875, 3, 3, 0);
    positions_at(g, 0.9, 3, 3, 0);
    positions_at(g, 1e9, 3, 3, 0);
    for (int i = 0; i < 1000; i++) {
        double at = uniform(0, 3);
        int k = (int)at;
        positions_at(g, 0.5 + at / 8, k, k + 1, at - k);
    }
    assert_false(rbt_obstacle_geometry_turns(g, 0, 0.5) || rbt_obstacle_geometry_turns(g, 0.51, 0.6));
    assert_false(rbt_obstacle_geometry_turns(g, 0.875, 99));
    assert_true(rbt_obstacle_geometry_turns(g, 0, 0.51) && rbt_obstacle_geometry_turns(g, 0.6, 0.63));
    assert_true(rbt_obstacle_geometry_turns(g, 0.8, 0.9) && rbt_obstacle_geometry_turns(g, -9, 99));
    rbt_obstacle_geometry_free(g);
}

// From the last frame back to the first takes as long as between two others, so that a loop has no jump.
static void loops_come_back(void **state) {
    (void)state;
    write_sequences();
    rbt_sequence_def s = sequence_def("walk.pc2", 0, -1);
    s.rate = 8;
    s.loop = true;
    rbt_obstacle_mesh def = mesh_def(&s);
    rbt_obstacle_geometry *g = loaded(&def);
    positions_at(g, -1, 0, 0, 0);
    for (int round = 0; round < 5; round++)
        for (int k = 0; k < FRAMES; k++) {
            positions_at(g, (round * FRAMES + k) / 8.0, k, k, 0);
            positions_at(g, (round * FRAMES + k + 0.75) / 8.0, k, (k + 1) % FRAMES, 0.75);
        }
    double before[3], after[3];
    rbt_obstacle_geometry_node(g, 2, 0.5 - 1e-12, before);
    rbt_obstacle_geometry_node(g, 2, 0.5, after);
    assert_point(before, after, 1e-10);  // 8 frames a second, less than 10 from frame to frame
    assert_true(rbt_obstacle_geometry_turns(g, 7.49, 7.51) && !rbt_obstacle_geometry_turns(g, 7.51, 7.6));
    rbt_obstacle_geometry_free(g);
}

// Motion on top of the sequence; straight between multiples of the step, whatever the sequence does in between.
static void motions_come_on_top(void **state) {
    (void)state;
    write_sequences();
    rbt_sequence_def s = sequence_def("walk.pc2", 0, -1);
    s.rate = 8;
    const rbt_move_rotation turn = {{0, 0, 0}, {0, 0, 1}, acos(-1.0) / 2, 0, INFINITY, false};
    const rbt_move_velocity up = {{0, 2, 0}, 0, INFINITY};
    rbt_motion motions[] = {{RBT_MOVE_ROTATION, &turn}, {RBT_MOVE_VELOCITY, &up}};
    rbt_obstacle_mesh def = mesh_def(&s);
    def.motions.count = 2;
    def.motions.items = motions;
    rbt_obstacle item = {RBT_OBSTACLE_MESH, &def};
    rbt_obstacle_geometry *g = loaded(&def);
    rbt_motion_group group = rbt_obstacle_motion(&item);
    double start[3 * NODES], x[3 * NODES], next[3 * NODES], between[3 * NODES];
    int32_t obstacle[NODES], number[NODES];
    rbt_obstacle_nodes nodes = {0, start, obstacle, number, {1, &item, &g}, &group};
    rbt_obstacle_nodes_add(&nodes, 0);
    assert_int_equal(nodes.count, NODES);
    assert_true(rbt_obstacle_is_prescribed(&nodes.obstacles, 0, &group));
    rbt_obstacle_nodes_place(&nodes, 0.125, 0, x);  // frame 1, an eighth of a quarter of a turn, up by 0.25
    double frame[3 * (NODES + 1)], angle = acos(-1.0) / 16;
    frame_points(1, frame);
    for (int i = 0; i < NODES; i++) {
        const double *p = frame + 3 * i;
        const double want[3] = {cos(angle) * p[0] - sin(angle) * p[1], sin(angle) * p[0] + cos(angle) * p[1] + 0.25,
                                p[2]};
        assert_point(x + 3 * i, want, 1e-13);
    }
    const double step = 0.01;
    for (int i = 0; i < 50; i++) {
        rbt_obstacle_nodes_place(&nodes, i * step, step, x);
        rbt_obstacle_nodes_place(&nodes, (i + 1) * step, step, next);
        double share = i % 2 ? uniform(0.01, 0.99) : 1 - 1e-7;  // nearly a multiple is none
        rbt_obstacle_nodes_place(&nodes, (i + share) * step, step, between);
        for (int k = 0; k < 3 * NODES; k++) {
            double want = x[k] + share * (next[k] - x[k]);
            if (!(fabs(between[k] - want) <= 1e-12)) fail_msg("%.17g instead of %.17g", between[k], want);
        }
        // The same bits as at the multiple itself
        double exact[3];
        rbt_obstacle_nodes_at(&nodes, 2, (double)i * step, exact);
        assert_memory_equal(exact, x + 6, sizeof exact);
    }
    rbt_obstacle_geometry_free(g);
}

// ---- What is refused

static void refused(const rbt_obstacle_mesh *def, const char *first, const char *second) {
    rbt_error error = {0};
    char text[2048];
    rbt_obstacle_geometry *g = rbt_obstacle_geometry_load(def, 3, folder, "scene.json", &error);
    assert_null(g);
    rbt_error_text(&error, text, sizeof text);
    if (!strstr(text, first) || !strstr(text, second))
        fail_msg("\"%s\" and \"%s\" are not in: %s", first, second, text);
}

static void refused_sequence(const char *file, int first, int last, const char *word, const char *sentence) {
    rbt_sequence_def s = sequence_def(file, first, last);
    rbt_obstacle_mesh def = mesh_def(&s);
    refused(&def, word, sentence);
}

// Whole bytes of a cache with other numbers in its head or its end
static void write_cache(int32_t version, int32_t points, int32_t samples, size_t floats, float value) {
    char bytes[32 + 4 * 256] = "POINTCACHE2";
    const float times[2] = {0, 1};
    memcpy(bytes + 12, &version, 4);
    memcpy(bytes + 16, &points, 4);
    memcpy(bytes + 20, times, 8);
    memcpy(bytes + 28, &samples, 4);
    for (size_t i = 0; i < floats; i++) memcpy(bytes + 32 + 4 * i, &value, 4);
    assert_true(rbt_file_write(in_folder("bad.pc2"), bytes, 32 + 4 * floats, NULL));
}

static void damaged_caches(void **state) {
    (void)state;
    write_sequences();
    refused_sequence("none.pc2", 0, -1, "none.pc2", "No such file");
    write_text("bad.pc2", "POINTCACHE2");
    refused_sequence("bad.pc2", 0, -1, "bad.pc2", "has 11 bytes, but a PC2 file begins with a head of 32");
    write_text("bad.pc2", "POINTCACHE3 and some more bytes than a head has in all");
    refused_sequence("bad.pc2", 0, -1, "bad.pc2", "does not begin with POINTCACHE2");
    write_cache(2, 6, 1, 18, 1);
    refused_sequence("bad.pc2", 0, -1, "version 2", "version 1 can be read");
    write_cache(1, 0, 1, 0, 1);
    refused_sequence("bad.pc2", 0, -1, "bad.pc2", "has 1 samples of 0 points");
    write_cache(1, 6, -1, 0, 1);
    refused_sequence("bad.pc2", 0, -1, "bad.pc2", "has -1 samples of 6 points");
    write_cache(1, 6, 2, 35, 1);
    refused_sequence("bad.pc2", 0, -1, "2 samples of 6 points are 12 positions", "has 140 bytes for them");
    write_cache(1, INT32_MAX, INT32_MAX, 36, 1);
    refused_sequence("bad.pc2", 0, -1, "bad.pc2", "cut off or damaged");
    write_cache(1, 5, 2, 30, 1);
    refused_sequence("bad.pc2", 0, -1, "has 5 points in every frame", "obstacles[3] has 6 nodes");
    write_cache(1, 6, 1, 18, NAN);
    refused_sequence("bad.pc2", 0, -1, "point 0 of frame 0", "not a number");
    write_cache(1, 6, 1, 18, 1);
    refused_sequence("bad.pc2", 0, -1, "obstacles[3].mesh.sequence", "triangle 0 in frame 0 has no area");
    refused_sequence("walk.pc2", 2, 4, "has frames 0 to 3", "is to take frames 2 to 4");
    refused_sequence("walk.pc2", 4, -1, "has frames 0 to 3", "is to take frames 4 to 3");
}

static void damaged_files(void **state) {
    (void)state;
    double x[3 * (NODES + 1)];
    write_sequences();
    refused_sequence("walk_###.obj", 7, 11, "walk_011.obj", "No such file");
    refused_sequence("walk_##.obj", 7, 10, "walk_07.obj", "No such file");
    frame_points(2, x);
    write_obj("walk_009.obj", x, NODES, 4);
    refused_sequence("walk_###.obj", 7, 10, "frame 9 has 5 nodes", "obstacles[3] has 6");
    write_obj("walk_009.obj", x, NODES + 1, 3);
    refused_sequence("walk_###.obj", 7, 10, "frame 9 has 3 triangles", "obstacles[3] has 4");
    write_text("walk_009.obj", "v 0 1 0\nv 1 0 0\nv 0 0 1\nv -1 0 0\nv 0 0 -1\nv 9 9 9\n"
                               "f 1 2 3\nf 1 3 4\nf 1 4 5\nf 1 2 5\n");
    refused_sequence("walk_###.obj", 7, 10, "triangle 3 of frame 9 has other nodes", "the same triangles");
    write_text("walk_009.obj", "v 0 1 0\nv 1 0 0\nv 0 0 1\nv -1 0 0\nv 0 0 x\nv 9 9 9\n");
    refused_sequence("walk_###.obj", 7, 10, "walk_009.obj", "coordinate 3 of vertex 5");
    x[3 * 2] = x[3 * 1], x[3 * 2 + 1] = x[3 * 1 + 1], x[3 * 2 + 2] = x[3 * 1 + 2];
    write_obj("walk_009.obj", x, NODES + 1, 4);
    refused_sequence("walk_###.obj", 7, 10, "obstacles[3].mesh.sequence", "triangle 0 in frame 9 has no area");
}

static void damaged_meshes(void **state) {
    (void)state;
    rbt_obstacle_mesh def = mesh_def(NULL);
    def.mesh.file = "nowhere.obj";
    refused(&def, "nowhere.obj", "No such file");
    write_text("points.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n");
    def.mesh.file = "points.obj";
    refused(&def, "obstacles[3].mesh.mesh", "has 3 nodes but no tets or triangles");
    write_text("flat.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n");
    def.mesh.file = "flat.obj";
    refused(&def, "obstacles[3].mesh.mesh", "triangle 0 has no area");
    write_text("good.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    def.mesh.file = "good.obj";
    def.mesh.unit = "parsec";
    refused(&def, "obstacles[3].mesh.mesh.unit", "no unit \"parsec\"");
    def.mesh.unit = "m";
    def.transform.scale[0] = 1e308;
    def.transform.scale[1] = 1e308;
    def.transform.translate[0] = 1.7e308;
    refused(&def, "obstacles[3].mesh.transform", "not a number");
    // In memory: arrays that are missing, nodes that are none, coordinates that are no numbers
    double nodes[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    int32_t triangle[3] = {0, 1, 7};
    rbt_mesh mesh = {.node_count = 3, .nodes = nodes, .triangle_count = 1, .triangles = triangle};
    def = rbt_obstacle_mesh_default();
    def.mesh.mesh = &mesh;
    refused(&def, "obstacles[3].mesh.mesh", "names node 7");
    triangle[2] = 2;
    nodes[4] = NAN;
    refused(&def, "obstacles[3].mesh.mesh", "finite");
    nodes[4] = 0;
    double frames[18];
    rbt_sequence_def s = rbt_sequence_default();
    s.positions = frames;
    s.frame_count = 2;
    memcpy(frames, nodes, sizeof nodes);
    memcpy(frames + 9, nodes, sizeof nodes);
    frames[13] = INFINITY;
    def.sequence = &s;
    refused(&def, "obstacles[3].mesh.sequence", "node 1 in frame 1 has a coordinate that is not a number");
    s.frame_count = (size_t)1 << 40;
    refused(&def, "obstacles[3].mesh.sequence", "the limit is 134217728 positions");
}

// What the description itself says
static void wrong_scenes(void **state) {
    (void)state;
    static const struct {
        const char *obstacle, *sentence;
    } cases[] = {
        {"{'mesh': {'shape': {'polyhedron': {}}}, 'sequence': {}}", "\"file\" is missing"},
        {"{'mesh': {'shape': {'polyhedron': {}}}, 'sequence': {'file': 'a.obj'}}", "must end in .pc2"},
        {"{'mesh': {'shape': {'polyhedron': {}}}, 'sequence': {'file': 'a#b#.obj', 'last': 1}}", "one row"},
        {"{'mesh': {'shape': {'polyhedron': {}}}, 'sequence': {'file': 'a_##.obj'}}", "number of the last one"},
        {"{'mesh': {'shape': {'polyhedron': {}}}, 'sequence': {'file': 'a.pc2', 'first': 3, 'last': 2}}",
         "at least \"first\" (3), found 2"},
        {"{'mesh': {'shape': {'polyhedron': {}}}, 'sequence': {'file': 'a.pc2', 'rate': 0}}", "above 0"},
        {"{'mesh': {'shape': {'polyhedron': {}}}, 'sequence': {'file': 'a.pc2', 'first': -1}}", "at least 0"},
        {"{'mesh': {'shape': {'polyhedron': {}}, 'file': 'x.obj'}}", "exactly one of"},
        {"{'transform': {}}", "\"mesh\" is missing"},
        {"{'mesh': {'shape': {'polyhedron': {}}}, 'stiffness': 3}", "stiffness"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char json[1024];
        snprintf(json, sizeof json,
                 "{'rubato': 1, 'bodies': [{'name': 'a', 'mesh': {'shape': {'bar': {}}}}], "
                 "'obstacles': [{'mesh': %s}]}",
                 cases[i].obstacle);
        for (char *c = json; *c; c++)
            if (*c == '\'') *c = '"';
        rbt_error error = {0};
        char text[2048];
        assert_null(rbt_scene_parse(json, strlen(json), "test.json", NULL, 0, &error));
        rbt_error_text(&error, text, sizeof text);
        if (!strstr(text, cases[i].sentence) || !strstr(text, "obstacles[0].mesh")) fail_msg("%s", text);
    }
    // By a program: both kinds of positions, or none
    double x[3] = {0};
    rbt_sequence_def s = rbt_sequence_default();
    rbt_obstacle_mesh def = rbt_obstacle_mesh_default();
    rbt_obstacle obstacle = {RBT_OBSTACLE_MESH, &def};
    rbt_scene_file *file = scene_from("{'rubato': 1, 'bodies': [{'name': 'a', 'mesh': {'shape': {'bar': {}}}}]}");
    rbt_scene scene = *rbt_scene_of(file);
    rbt_error error = {0};
    scene.obstacles.count = 1;
    scene.obstacles.items = &obstacle;
    def.sequence = &s;
    def.mesh.file = "a.obj";
    assert_false(rbt_scene_check(&scene, &error));
    assert_non_null(strstr(error.message, "\"file\" is missing"));
    s.positions = x;
    assert_false(rbt_scene_check(&scene, &error));
    assert_non_null(strstr(error.message, "need a frame at least"));
    s.frame_count = 1;
    assert_true(rbt_scene_check(&scene, &error));
    s.file = "a.pc2";
    assert_false(rbt_scene_check(&scene, &error));
    assert_non_null(strstr(error.message, "positions in memory are given"));
    rbt_scene_free(file);
}

// ---- What a run leaves

static void files_of_runs_hold_all_digits(void **state) {
    (void)state;
    write_sequences();
    rbt_error error = {0};
    rbt_sequence_def s = sequence_def("walk_###.obj", 7, 10);
    s.loop = true;
    s.rate = 1.0 / 3;
    s.from = -0.1;
    rbt_obstacle_mesh def = mesh_def(&s);
    def.transform.degrees = 33;
    rbt_obstacle_sphere ball = {.radius = 1};
    const rbt_obstacle items[] = {{RBT_OBSTACLE_SPHERE, &ball}, {RBT_OBSTACLE_MESH, &def}};
    rbt_obstacle_geometry *geometry[2] = {NULL, loaded(&def)};
    const rbt_obstacles all = {2, items, geometry};
    rbt_scene scene = rbt_scene_default();
    scene.obstacles.count = 2;
    scene.obstacles.items = items;
    scene.folder = folder;
    assert_true(rbt_obstacle_file_write(folder, &all, &error));
    rbt_obstacle_file file;
    if (!rbt_obstacle_file_read(&file, folder, &scene, &error)) fail_msg("%s", error.message);
    const rbt_obstacle_geometry *a = geometry[1], *b = file.geometry[1];
    assert_null(file.geometry[0]);
    assert_true(a->node_count == b->node_count && a->triangle_count == b->triangle_count && b->loop);
    assert_true(a->rate == b->rate && a->from == b->from && a->open_edges == b->open_edges);
    assert_memory_equal(a->triangles, b->triangles, 3 * a->triangle_count * sizeof *a->triangles);
    assert_memory_equal(a->frames, b->frames, 3 * a->node_count * a->frame_count * sizeof *a->frames);
    rbt_obstacle_file_free(&file);
    // Every byte cut off, and some changed: a sentence or a file, never anything else
    rbt_bytes bytes;
    assert_true(rbt_file_read(in_folder("obstacles.rbt"), &bytes, &error));
    size_t judged = 0;
    for (size_t size = 0; size < bytes.size; size++, judged++) {
        rbt_obstacle_geometry *read[2] = {NULL, NULL};
        rbt_bytes part = {bytes.data, size};
        bool good = rbt_obstacle_file_parse("cut", &part, 2, read, &error);
        if (good != (size == 16)) fail_msg("%zu bytes of %zu are read", size, bytes.size);
        for (int i = 0; i < 2; i++) rbt_obstacle_geometry_free(read[i]);
    }
    for (int i = 0; i < 2000; i++, judged++) {
        rbt_obstacle_geometry *read[2] = {NULL, NULL};
        size_t at = below(bytes.size < 200 ? bytes.size : 200);
        char before = bytes.data[at];
        bytes.data[at] = (char)draw();
        rbt_obstacle_file_parse("changed", &bytes, 2, read, &error);
        bytes.data[at] = before;
        for (int k = 0; k < 2; k++) rbt_obstacle_geometry_free(read[k]);
    }
    assert_true(judged > 2000);
    free(bytes.data);
    // A scene with other obstacles
    scene.obstacles.count = 1;
    scene.obstacles.items = items + 1;
    assert_false(rbt_obstacle_file_read(&file, folder, &scene, &error));
    assert_non_null(strstr(error.message, "a scene with 1 obstacles"));
    rbt_obstacle_file_free(&file);
    // Without meshes there is no file, and without a file the scene is read.
    const rbt_obstacles none = {1, items, NULL};
    assert_true(rbt_obstacle_file_write(folder, &none, &error));
    assert_int_not_equal(access(in_folder("obstacles.rbt"), F_OK), 0);
    assert_true(rbt_obstacle_file_read(&file, folder, &scene, &error));
    assert_memory_equal(a->frames, file.geometry[0]->frames, 3 * a->node_count * a->frame_count * sizeof *a->frames);
    rbt_obstacle_file_free(&file);
    rbt_obstacle_geometry_free(geometry[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(caches_files_and_memory_hold_the_same),
        cmocka_unit_test(transforms_place_frames),
        cmocka_unit_test(tets_have_their_hull),
        cmocka_unit_test(frames_are_linear_in_time),
        cmocka_unit_test(loops_come_back),
        cmocka_unit_test(motions_come_on_top),
        cmocka_unit_test(damaged_caches),
        cmocka_unit_test(damaged_files),
        cmocka_unit_test(damaged_meshes),
        cmocka_unit_test(wrong_scenes),
        cmocka_unit_test(files_of_runs_hold_all_digits),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
