// Pictures of runs: files read back, the same bytes for any number of threads, and a sentence for everything that
// cannot be drawn.
#include "base/file.h"
#include "base/text.h"
#include "base/threads.h"
#include "math/vec3.h"
#include "out/vtu.h"
#include "rubato/view.h"
#include "view/picture.h"
#include "view/png.h"
#include "view/render.h"
#include "view/scenery.h"
#include "view/strands.h"

#include <dirent.h>
#include <math.h>
#include <png.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

static char folder[256];

static const char *path_of(const char *name) {
    static char paths[64][1024];  // enough that no test outlives its names
    static int turn;
    turn = (turn + 1) % 64;
    snprintf(paths[turn], sizeof paths[turn], "%s/%s", folder, name);
    return paths[turn];
}

// ---- A small run: a block of 2 x 2 x 2 cells that moves up and leans over, in five frames

enum { CELLS = 2, NODES = (CELLS + 1) * (CELLS + 1) * (CELLS + 1), TETS = 6 * CELLS * CELLS * CELLS, FRAMES = 5 };

static int node_at(int x, int y, int z) { return (z * (CELLS + 1) + y) * (CELLS + 1) + x; }

static void make_block(double *nodes, int32_t *tets) {
    static const int order[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    for (int i = 0; i < NODES; i++) {
        nodes[3 * i] = i % (CELLS + 1);
        nodes[3 * i + 1] = i / (CELLS + 1) % (CELLS + 1);
        nodes[3 * i + 2] = i / ((CELLS + 1) * (CELLS + 1));
    }
    int tet = 0;
    for (int c = 0; c < CELLS * CELLS * CELLS; c++)
        for (int k = 0; k < 6; k++, tet++) {
            int at[3] = {c % CELLS, c / CELLS % CELLS, c / (CELLS * CELLS)}, corner[4];
            corner[0] = node_at(at[0], at[1], at[2]);
            for (int s = 0; s < 3; s++) {
                at[order[k][s]]++;
                corner[s + 1] = node_at(at[0], at[1], at[2]);
            }
            if (k > 2) {  // odd orders of the axes turn the tet inside out
                int swap = corner[2];
                corner[2] = corner[3];
                corner[3] = swap;
            }
            for (int s = 0; s < 4; s++) tets[4 * tet + s] = corner[s];
        }
}

static void write_run(void) {
    rbt_error error;
    double rest[3 * NODES], x[3 * NODES], u[3 * NODES], stress[TETS];
    int32_t tets[4 * TETS], region[TETS];
    make_block(rest, tets);
    assert_true(rbt_folder_make(path_of("run/frames"), &error));
    rbt_text list = {0};
    rbt_text_add(&list, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\">\n<Collection>\n");
    for (int f = 0; f < FRAMES; f++) {
        for (int i = 0; i < NODES; i++) {
            u[3 * i] = 0.25 * f * rest[3 * i + 1] / CELLS;
            u[3 * i + 1] = 0;
            u[3 * i + 2] = 0;
            for (int k = 0; k < 3; k++) x[3 * i + k] = rest[3 * i + k] + u[3 * i + k];
        }
        for (int t = 0; t < TETS; t++) {
            stress[t] = 1000.0 * f;
            region[t] = t % 2;
        }
        const rbt_vtu_field points[] = {{"displacement", 3, u, NULL}};
        const rbt_vtu_field cells[] = {{"region", 1, NULL, region}, {"von_mises", 1, stress, NULL}};
        rbt_vtu_grid grid = {.time = 0.1 * f,
                             .point_count = NODES,
                             .cell_count = TETS,
                             .points = x,
                             .cells = tets,
                             .corners = 4,
                             .cell_type = RBT_VTU_TET,
                             .point_field_count = 1,
                             .cell_field_count = 2,
                             .point_fields = points,
                             .cell_fields = cells};
        char name[64];
        snprintf(name, sizeof name, "run/frames/frame_%06d.vtu", f);
        assert_true(rbt_vtu_write(path_of(name), &grid, (rbt_vtu_options){false, false}, &error));
        rbt_text_add(&list, "<DataSet part=\"0\" file=\"frames/frame_%06d.vtu\" timestep=\"%.17g\"/>\n", f, 0.1 * f);
    }
    rbt_text_add(&list, "</Collection>\n</VTKFile>\n");
    assert_true(rbt_file_write(path_of("run/frames.pvd"), list.text, list.size, &error));
    rbt_text_free(&list);
}

static int make_folder(void **state) {
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/rubato_view_XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(folder)) return -1;
    write_run();
    return 0;
}

static void remove_all(const char *path) {
    DIR *open = opendir(path);
    for (struct dirent *entry; open && (entry = readdir(open));) {
        if (entry->d_name[0] == '.') continue;
        char inside[1024];
        snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name);
        if (entry->d_type == DT_DIR) remove_all(inside);
        else unlink(inside);
    }
    if (open) closedir(open);
    rmdir(path);
}

static int remove_folder(void **state) {
    (void)state;
    remove_all(folder);
    return access(folder, F_OK) == 0 ? -1 : 0;
}

// ---- Whole pictures

static rbt_render_options run_options(const char *output) {
    rbt_render_options o = rbt_render_default();
    o.path = path_of("run");
    o.output = output;
    o.width = 160;
    o.height = 120;
    return o;
}

static void read_png(const char *path, png_image *png, rbt_rgb **pixels) {
    memset(png, 0, sizeof *png);
    png->version = PNG_IMAGE_VERSION;
    assert_true(png_image_begin_read_from_file(png, path));
    png->format = PNG_FORMAT_RGB;
    *pixels = malloc(PNG_IMAGE_SIZE(*png));
    assert_true(png_image_finish_read(png, NULL, *pixels, 0, NULL));
}

static void a_picture_reads_back(void **state) {
    (void)state;
    rbt_error error;
    rbt_image image;
    assert_true(rbt_image_new(&image, 37, 11, &error));
    for (int i = 0; i < 37 * 11; i++) image.pixels[i] = (rbt_rgb){(uint8_t)(7 * i), (uint8_t)(3 * i), (uint8_t)i};
    assert_true(rbt_png_write(&image, path_of("small.png"), &error));
    png_image png;
    rbt_rgb *pixels;
    read_png(path_of("small.png"), &png, &pixels);
    assert_int_equal(png.width, 37);
    assert_int_equal(png.height, 11);
    assert_memory_equal(pixels, image.pixels, 37 * 11 * 3);
    free(pixels);
    rbt_image_free(&image);
    assert_true(rbt_image_new(&image, 4, 4, &error));
    assert_false(rbt_png_write(&image, path_of("nowhere/small.png"), &error));
    assert_non_null(strstr(error.message, "cannot write the file: there is no folder "));
    rbt_image_free(&image);
}

static void frames_become_pictures(void **state) {
    (void)state;
    rbt_error error;
    rbt_render_report report;
    rbt_render_options o = run_options(path_of("one.png"));
    o.coloring = rbt_coloring_find("displacement", &error);
    assert_true(rbt_render(&o, &report, &error));
    assert_int_equal(report.frame_count, 1);
    assert_int_equal(report.triangle_count, 12 * CELLS * CELLS);
    assert_string_equal(report.legend.title, "displacement [m]");
    assert_true(report.legend.low == 0 && report.legend.high == 1 && fabs(report.legend.largest - 1) < 1e-12);
    png_image png;
    rbt_rgb *pixels;
    read_png(path_of("one.png"), &png, &pixels);
    assert_int_equal(png.width, 160);
    assert_int_equal(png.height, 120);
    free(pixels);

    o.output = path_of("sheet.png");
    o.frames = (rbt_frame_choice){.list = "0,2-4,last"};
    o.columns = 2;
    o.coloring = rbt_coloring_find("stress", &error);
    assert_true(rbt_render(&o, &report, &error));
    assert_int_equal(report.frame_count, 5);
    assert_int_equal(report.width, 2 * 160 + 3 * 6);
    assert_true(report.height > 3 * 120 + 4 * 6);
    assert_string_equal(report.legend.title, "von Mises stress [kPa]");
    assert_true(report.legend.high == 4);

    o = run_options(path_of("region.png"));
    o.coloring = rbt_coloring_find("region", &error);
    o.edges = true;
    o.ground = false;
    assert_true(rbt_render(&o, &report, &error));
    assert_int_equal(report.legend.kind_count, 2);
    assert_string_equal(report.legend.kinds[1].name, "1");

    o = run_options(path_of("mesh.png"));
    o.path = path_of("run/frames/frame_000000.vtu");
    o.coloring = rbt_coloring_find("quality", &error);
    assert_true(rbt_render(&o, &report, &error));
    assert_true(report.legend.low == 0 && report.legend.high == 1);
}

// A finer surface stands in for the hull where the frame has one and it knows the field.
static void surfaces_are_preferred(void **state) {
    (void)state;
    rbt_error error;
    rbt_render_report report;
    const double points[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, shift[12] = {0, 0, 0, 3, 0, 4};
    const int32_t triangles[] = {0, 1, 2, 0, 2, 3};
    const rbt_vtu_field fields[] = {{"displacement", 3, shift, NULL}};
    rbt_vtu_grid grid = {.point_count = 4,
                         .cell_count = 2,
                         .points = points,
                         .cells = triangles,
                         .corners = 3,
                         .cell_type = RBT_VTU_TRIANGLE,
                         .point_field_count = 1,
                         .point_fields = fields};
    const char *frames = "<VTKFile><Collection>\n<DataSet file=\"../run/frames/frame_000000.vtu\" timestep=\"0\"/>\n"
                         "<DataSet file='../run/frames/frame_000001.vtu' timestep='1'/>\n</Collection></VTKFile>\n";
    const char *surfaces =
        "<VTKFile><Collection>\n<DataSet timestep=\"0\" file=\"a&amp;b.vtu\"/>\n</Collection></VTKFile>\n";
    assert_true(rbt_folder_make(path_of("skinned"), &error));
    assert_true(rbt_file_write(path_of("skinned/frames.pvd"), frames, strlen(frames), &error));
    assert_true(rbt_file_write(path_of("skinned/surface.pvd"), surfaces, strlen(surfaces), &error));
    assert_true(rbt_vtu_write(path_of("skinned/a&b.vtu"), &grid, (rbt_vtu_options){false, false}, &error));
    static const struct {
        const char *frame, *color;
        size_t triangles;
    } cases[] = {{"0", "plain", 2},
                 {"0", "displacement", 2},
                 {"0", "stress", 12 * CELLS * CELLS},
                 {"1", "plain", 12 * CELLS * CELLS}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rbt_render_options o = run_options(path_of("skinned.png"));
        o.path = path_of("skinned");
        o.width = o.height = 48;
        o.frames.list = cases[i].frame;
        o.coloring = rbt_coloring_find(cases[i].color, &error);
        assert_true(rbt_render(&o, &report, &error));
        assert_int_equal(report.triangle_count, cases[i].triangles);
        if (i == 1) assert_true(report.legend.largest == 5);
    }
}

static void obstacles_and_ranges_are_drawn(void **state) {
    (void)state;
    rbt_error error;
    rbt_render_report report;
    const rbt_obstacle_plane floor = {{0, -0.5, 0}, {0, 1, 0}, 1, {0}}, slope = {{0, -1, 0}, {0.3, 1, 0}, 1, {0}};
    const rbt_obstacle_sphere ball = {{1, -0.6, 1}, 0.5, 1, {0}};
    const rbt_obstacle_box box = {{3, 0, 0}, {4, 1, 1}, 1, {0}};
    const rbt_obstacle_capsule rod = {{-2, 0, 0}, {-2, 2, 0}, 0.3, 1, {0}};
    const rbt_obstacle obstacles[] = {{RBT_OBSTACLE_PLANE, &floor},
                                      {RBT_OBSTACLE_PLANE, &slope},
                                      {RBT_OBSTACLE_SPHERE, &ball},
                                      {RBT_OBSTACLE_BOX, &box},
                                      {RBT_OBSTACLE_CAPSULE, &rod}};
    rbt_render_options o = run_options(path_of("obstacles.png"));
    rbt_scene scene = rbt_scene_default();
    scene.obstacles.items = obstacles;
    scene.obstacles.count = 5;
    o.scene = &scene;
    o.coloring = rbt_coloring_find("displacement", &error);
    o.low = 0;
    o.high = 0.05;
    assert_true(rbt_render(&o, &report, &error));
    assert_true(report.triangle_count > 12 * CELLS * CELLS + 14);
    assert_string_equal(report.legend.title, "displacement [mm]");
    assert_true(fabs(report.legend.high - 50) < 1e-9);
}

// A triangle's share of the volume that it encloses with others, seen from a point
static double volume_of(const rbt_strands *s, size_t triangle, const double from[3]) {
    double side[3][3], across[3];
    for (int k = 0; k < 3; k++)
        rbt_subtract(s->nodes + 3 * (size_t)s->triangles[3 * triangle + (size_t)k], from, side[k]);
    rbt_cross(side[0], side[1], across);
    return rbt_dot(across, side[2]) / 6;
}

// Two springs of 1 m, and beside them two particles: of a body with a radius, and of one without
static void springs_and_particles_have_a_size(void **state) {
    (void)state;
    double nodes[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 3, 0, 0, 0, 4};
    int32_t edges[] = {0, 1, 1, 2};
    const double body[] = {0, 0, 1, 2}, diagonal = sqrt(1 + 9 + 16);
    const double radius[] = {0, 0, 0.25, 0.004 * diagonal}, rod = 0.01 * diagonal;  // 0.08 m would be thicker
    rbt_mesh mesh = {.node_count = 5, .nodes = nodes, .edge_count = 2, .edges = edges};
    const rbt_particles_def ball = {.radius = 0.25}, dust = {.radius = 0};
    rbt_body_def bodies[] = {rbt_body_default(), rbt_body_default(), rbt_body_default()};
    bodies[1].particles = &ball;
    bodies[2].particles = &dust;
    rbt_scene scene = rbt_scene_default();
    scene.bodies.items = bodies;
    scene.bodies.count = 3;
    rbt_strands_source source = {&mesh, 4, body, 1, &scene};
    rbt_strands s;
    rbt_error error;
    assert_true(rbt_strands_build(&s, &source, &error));
    double volume[4] = {0};
    for (size_t i = 0; i < s.triangle_count; i++) {
        size_t cell = (size_t)s.cell[i], node = cell < 2 ? cell : cell + 1;
        volume[cell] += volume_of(&s, i, nodes + 3 * node);
        for (int k = 0; cell >= 2 && k < 3; k++) {
            size_t corner = (size_t)s.triangles[3 * i + (size_t)k];
            double off[3];
            rbt_subtract(s.nodes + 3 * corner, nodes + 3 * node, off);
            assert_true(s.origin[corner] == (int32_t)node && fabs(rbt_length(off) - radius[cell]) < 1e-12);
        }
    }
    // Inscribed, so a little less than a cylinder without its lids, 2/3 of it, or a ball; and turned outwards
    for (int e = 0; e < 2; e++) assert_true(fabs(volume[e] / (2 * M_PI / 3 * rod * rod) - 0.9) < 0.05);
    for (int p = 2; p < 4; p++) assert_true(fabs(volume[p] / (4 * M_PI / 3 * pow(radius[p], 3)) - 0.97) < 0.02);
    rbt_strands_free(&s);
    source.cell_count = 5;  // than there are nodes outside of springs: they cannot be told
    assert_true(rbt_strands_build(&s, &source, &error));
    assert_int_equal(s.triangle_count, 32);
    rbt_strands_free(&s);
}

static void springs_and_particles_are_drawn(void **state) {
    (void)state;
    rbt_error error;
    rbt_render_report report;
    const double points[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0.5, 0},
                 velocity[12] = {0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 3, 4};
    const int32_t cells[] = {0, 1, 1, 2, 3}, ends[] = {2, 4, 5}, body[] = {0, 0, 1};
    const unsigned char types[] = {RBT_VTU_LINE, RBT_VTU_LINE, RBT_VTU_VERTEX};
    const rbt_vtu_field on_points[] = {{"velocity", 3, velocity, NULL}}, on_cells[] = {{"body", 1, NULL, body}};
    rbt_vtu_grid grid = {.point_count = 4,
                         .cell_count = 3,
                         .points = points,
                         .cells = cells,
                         .ends = ends,
                         .types = types,
                         .point_field_count = 1,
                         .cell_field_count = 1,
                         .point_fields = on_points,
                         .cell_fields = on_cells};
    assert_true(rbt_vtu_write(path_of("net.vtu"), &grid, (rbt_vtu_options){false, false}, &error));
    rbt_render_options o = run_options(path_of("net.png"));
    o.path = path_of("net.vtu");
    o.frames = (rbt_frame_choice){0};
    o.coloring = rbt_coloring_find("velocity", &error);
    assert_true(rbt_render(&o, &report, &error));
    assert_true(report.triangle_count > 32 && report.legend.largest == 5);
    o.coloring = rbt_coloring_find("body", &error);
    assert_true(rbt_render(&o, &report, &error));
    assert_int_equal(report.legend.kind_count, 2);
}

static void middle_of(const rbt_scenery *s, double middle[3]) {
    memset(middle, 0, 3 * sizeof *middle);
    for (size_t i = 0; i < 3 * s->node_count; i++) middle[i % 3] += s->nodes[i] / (double)s->node_count;
}

static void obstacles_are_where_they_are_at_the_time(void **state) {
    (void)state;
    rbt_error error;
    const rbt_move_velocity up = {{0, 2, 0}, 1, 3};
    const rbt_move_rotation turn = {{0, 0, 0}, {0, 0, 1}, acos(-1.0) / 2, 0, INFINITY, false};
    rbt_motion rise = {RBT_MOVE_VELOCITY, &up}, round = {RBT_MOVE_ROTATION, &turn};
    const rbt_obstacle_sphere ball = {{5, 1, 0}, 0.5, 1, {1, &rise}};
    const rbt_obstacle_box box = {{3, 0, 0}, {5, 1, 1}, 1, {1, &round}};
    const rbt_obstacle_plane lift = {{0, -1, 0}, {0, 1, 0}, 1, {1, &rise}};
    const rbt_obstacle all[] = {{RBT_OBSTACLE_SPHERE, &ball}, {RBT_OBSTACLE_BOX, &box}, {RBT_OBSTACLE_PLANE, &lift}};
    const double eye[3] = {0, 2.5, 9};
    const struct {
        int which;
        double time, middle[3];
    } cases[] = {{0, 0.5, {5, 1, 0}},    {0, 2, {5, 3, 0}},  {0, 9, {5, 5, 0}},  {1, 0, {4, 0.5, 0.5}},
                 {1, 1, {-0.5, 4, 0.5}}, {2, 1, {0, -1, 0}}, {2, 2.5, {0, 2, 0}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rbt_scenery s;
        rbt_scenery_sight sight = {{-1, -1, -1}, {1, 1, 1}, cases[i].time, eye, NULL};
        const rbt_obstacles one = {1, &all[cases[i].which], NULL};
        assert_true(rbt_scenery_build(&s, &one, &sight, &error));
        assert_false(s.has_floor);
        double middle[3];
        middle_of(&s, middle);
        for (int k = 0; k < 3; k++) assert_true(fabs(middle[k] - cases[i].middle[k]) < 1e-9);
        rbt_scenery_free(&s);
        sight.time = 9;  // the plane is above the eye, which sees it from behind
        assert_true(rbt_scenery_build(&s, &one, &sight, &error));
        assert_int_equal(s.triangle_count == 0, cases[i].which == 2);
        rbt_scenery_free(&s);
    }
}

static void the_same_bytes_for_any_number_of_threads(void **state) {
    (void)state;
    rbt_error error;
    rbt_bytes first = {0};
    int before = rbt_threads_count();
    for (int threads = 1; threads <= 3; threads++) {
        rbt_threads_set(threads);
        rbt_render_options o = run_options(path_of("threads.png"));
        o.width = 200;
        o.height = 150;
        o.coloring = rbt_coloring_find("displacement", &error);
        assert_true(rbt_render(&o, NULL, &error));
        rbt_bytes bytes;
        assert_true(rbt_file_read(path_of("threads.png"), &bytes, &error));
        if (threads == 1) {
            first = bytes;
            continue;
        }
        assert_int_equal(bytes.size, first.size);
        assert_memory_equal(bytes.data, first.data, first.size);
        free(bytes.data);
    }
    free(first.data);
    rbt_threads_set(before);
}

// Chunks of an animation: in order, with the right checksums, consecutive sequence numbers and frames inside the
// picture.
static void animations_follow_the_format(void **state) {
    (void)state;
    rbt_error error;
    rbt_render_options o = run_options(path_of("movie.png"));
    o.animate = o.frames.all = true;
    o.frames_per_second = 10;
    assert_true(rbt_render(&o, NULL, &error));
    rbt_bytes file;
    assert_true(rbt_file_read(path_of("movie.png"), &file, &error));
    const uint8_t *bytes = (const uint8_t *)file.data;
    assert_memory_equal(bytes, "\x89PNG\r\n\x1a\n", 8);
    uint32_t sequence = 0, controls = 0, data = 0, announced = 0;
    bool ended = false;
#define WORD(p) ((uint32_t)(p)[0] << 24 | (uint32_t)(p)[1] << 16 | (uint32_t)(p)[2] << 8 | (p)[3])
    for (size_t at = 8; at < file.size;) {
        assert_true(at + 12 <= file.size);
        uint32_t size = WORD(bytes + at);
        const uint8_t *name = bytes + at + 4, *body = name + 4;
        assert_true(at + 12 + size <= file.size);
        assert_int_equal(WORD(body + size), (uint32_t)crc32(crc32(0, NULL, 0), name, size + 4));
        if (!memcmp(name, "acTL", 4)) announced = WORD(body);
        if (!memcmp(name, "fcTL", 4)) {
            assert_int_equal(WORD(body), sequence++);
            assert_true(WORD(body + 4) + WORD(body + 12) <= 160 && WORD(body + 8) + WORD(body + 16) <= 120);
            assert_int_equal(body[20] << 8 | body[21], 100);
            assert_int_equal(body[22] << 8 | body[23], 1000);
            controls++;
        }
        if (!memcmp(name, "fdAT", 4)) assert_int_equal(WORD(body), sequence++);
        if (!memcmp(name, "fdAT", 4) || !memcmp(name, "IDAT", 4)) data++;
        ended = !memcmp(name, "IEND", 4);
        at += 12 + size;
    }
#undef WORD
    assert_true(ended);
    assert_int_equal(announced, FRAMES);
    assert_int_equal(controls, FRAMES);
    assert_int_equal(data, FRAMES);
    free(file.data);
    png_image png;
    rbt_rgb *pixels;
    read_png(path_of("movie.png"), &png, &pixels);  // libpng sees the first frame
    assert_int_equal(png.width, 160);
    free(pixels);
}

// ---- What cannot be drawn

static void expect_failure(const rbt_render_options *o, const char *file, const char *message) {
    rbt_error error = {0};
    assert_false(rbt_render(o, NULL, &error));
    assert_string_equal(error.message, message);
    if (file) assert_string_equal(error.file, file);
    // Nothing is left behind under the name of the picture.
    assert_int_not_equal(access(o->output, F_OK), 0);
}

static void write_list(const char *name, const char *text) {
    rbt_error error;
    assert_true(rbt_folder_make(path_of(name), &error));
    char list[512];
    snprintf(list, sizeof list, "%s/frames.pvd", name);
    assert_true(rbt_file_write(path_of(list), text, strlen(text), &error));
}

static void assert_same_files(const char *a, const char *b) {
    rbt_bytes first, second;
    assert_true(rbt_file_read(a, &first, NULL) && rbt_file_read(b, &second, NULL));
    assert_int_equal(first.size, second.size);
    assert_memory_equal(first.data, second.data, first.size);
    free(first.data);
    free(second.data);
}

static void the_public_functions_draw_the_same(void **state) {
    (void)state;
    rbt_error error;
    rbt_render_report wanted;
    rbt_view_report report;
    char *own = strdup(path_of("own.png")), *public = strdup(path_of("public.png")), *run = strdup(path_of("run"));
    const rbt_obstacle_sphere ball = {{1, -0.6, 1}, 0.5, 1, {0}};
    const rbt_obstacle obstacle = {RBT_OBSTACLE_SPHERE, &ball};
    rbt_scene scene = rbt_scene_default();
    scene.obstacles.items = &obstacle;
    scene.obstacles.count = 1;
    for (int kind = 0; kind < 3; kind++) {  // the last frame as it comes; a sheet; an animation
        rbt_render_options o = rbt_render_default();
        rbt_view_options v = rbt_view_default();
        o.path = run;
        o.output = own;
        o.width = v.width = 64;
        o.height = v.height = 48;
        if (kind) {
            o.frames.list = v.frames = "0,2,last";
            o.view = (rbt_direction){10, 40};
            v.direction = "10,40";
            o.coloring = rbt_coloring_find(v.color = "displacement", &error);
            o.edges = v.edges = true;
            o.scene = v.scene = &scene;
            o.animate = v.animate = kind == 2;
        }
        assert_true(rbt_render(&o, &wanted, &error));
        assert_true(rbt_view_draw(run, public, &v, &report, &error));
        assert_int_equal(report.frame_count, wanted.frame_count);
        assert_int_equal(report.triangle_count, wanted.triangle_count);
        assert_true(report.width == wanted.width && report.height == wanted.height);
        assert_same_files(own, public);
    }
    rbt_view_options v = rbt_view_default();
    v.color = "strain";
    assert_false(rbt_view_draw(run, public, &v, NULL, &error));
    assert_non_null(strstr(error.message, "no colouring \"strain\""));
    v = rbt_view_default();
    v.direction = "nowhere";
    assert_false(rbt_view_draw(run, public, &v, NULL, &error));
    assert_non_null(strstr(error.message, "nowhere"));
    assert_false(rbt_view_plot(run, public, &error));
    assert_string_equal(error.message, "the folder holds no energy.csv, so it is no run; rubato run writes one");
    assert_false(rbt_view_plot(path_of("nothing"), public, &error));
    assert_string_equal(error.message, "there is no such folder");
    free(own), free(public), free(run);
}

static void missing_things_are_named(void **state) {
    (void)state;
    rbt_error error;
    char keep[1024], output[1024];
    snprintf(keep, sizeof keep, "%s", path_of("run"));
    snprintf(output, sizeof output, "%s", path_of("none.png"));
    rbt_render_options o = run_options(output);

    o.path = path_of("nowhere");
    expect_failure(&o, path_of("nowhere"), "there is no such folder or mesh file");
    assert_true(rbt_folder_make(path_of("empty"), &error));
    o.path = path_of("empty");
    expect_failure(&o, path_of("empty"),
                   "the folder holds no frames.pvd, so it is no run with frames; rubato run writes one");
    write_list("none", "<VTKFile type=\"Collection\">\n<Collection>\n</Collection></VTKFile>\n");
    o.path = path_of("none");
    expect_failure(&o, path_of("none/frames.pvd"), "the list holds no frames: the run has written none yet");
    write_list("none", "hello\n");
    expect_failure(&o, path_of("none/frames.pvd"),
                   "this is no VTK collection: <VTKFile> with <Collection> is missing");
    write_list("none", "<VTKFile><Collection>\n<DataSet timestep=\"0\"/>\n</Collection></VTKFile>\n");
    expect_failure(&o, path_of("none/frames.pvd"), "the <DataSet> names no file");
    write_list("none",
               "<VTKFile><Collection>\n<DataSet file=\"a.vtu\" timestep=\"soon\"/>\n</Collection></VTKFile>\n");
    expect_failure(&o, path_of("none/frames.pvd"), "the timestep \"soon\" is no number");
    write_list("none", "<VTKFile><Collection>\n<DataSet file=\"a.vtu\" timestep=\"0\"");
    expect_failure(&o, path_of("none/frames.pvd"), "the <DataSet> tag has no end");

    o.path = keep;
    o.frames.list = "0,7";
    expect_failure(&o, keep, "frame 7 was asked for, but the frames are 0 to 4");
    o.frames.list = "1,two";
    expect_failure(&o, NULL, "\"1,two\" is no list of frames; write numbers as 0,5,10-20,last");
    o.frames.list = "3-1";
    expect_failure(&o, NULL, "the range 3-1 of frames runs backwards");
    o.frames.list = "99999999999999999999999999";
    assert_false(rbt_render(&o, NULL, &error));
    o.frames = (rbt_frame_choice){.list = "1", .every = 2};
    expect_failure(&o, NULL, "--frames and --every exclude each other; give one");
    o.frames = (rbt_frame_choice){.every = -2};
    expect_failure(&o, NULL, "--every -2: must be at least 1");
    o.frames = (rbt_frame_choice){0};
    o.zoom = 0;
    expect_failure(&o, NULL, "--zoom 0: the limits are 0.05 and 50");
    o.zoom = 1;
    o.low = o.high = 2;
    expect_failure(&o, NULL, "--range 2,2: the second number must be the larger");
    o.low = o.high = NAN;
    o.coloring = rbt_coloring_find("velocity", &error);
    expect_failure(&o, path_of("run/frames/frame_000004.vtu"),
                   "the file holds no field \"velocity\" to colour by velocity; try --color plain");
    o.coloring = rbt_coloring_find("plain", &error);
    o.animate = true;
    o.frames_per_second = 0;
    expect_failure(&o, NULL, "0 frames per second: the limits are 0.1 and 240");
    assert_null(rbt_coloring_find("strain", &error));
    assert_string_equal(error.message, "no colouring \"strain\", did you mean plain?; there are plain, displacement, "
                                       "velocity, stress, region, body, quality");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_picture_reads_back),
        cmocka_unit_test(frames_become_pictures),
        cmocka_unit_test(surfaces_are_preferred),
        cmocka_unit_test(obstacles_and_ranges_are_drawn),
        cmocka_unit_test(obstacles_are_where_they_are_at_the_time),
        cmocka_unit_test(springs_and_particles_have_a_size),
        cmocka_unit_test(springs_and_particles_are_drawn),
        cmocka_unit_test(the_same_bytes_for_any_number_of_threads),
        cmocka_unit_test(animations_follow_the_format),
        cmocka_unit_test(the_public_functions_draw_the_same),
        cmocka_unit_test(missing_things_are_named),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
