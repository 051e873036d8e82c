// PC2 against its description, byte by byte; the OBJ that belongs to it.
#include "../support/out_model.h"
#include "base/file.h"
#include "out/obj_frames.h"
#include "out/pc2.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
// cmocka needs the headers above
#include <cmocka.h>

static const double POINTS[2][9] = {{0.1, -2, 1e-30, 4, 5, 6, 7, 8, 9}, {-0.0, 1.0 / 3, 3, 4, 5, 6.5, 7, 8, 1e10}};

static void add(rbt_frame_file *f, int frame) {
    float scratch[9];
    assert_true(rbt_pc2_add(f, 3, POINTS[frame % 2], scratch, NULL));
}

static void expect(const char *path, int samples) {
    // "POINTCACHE2\0", version 1, 3 points, first frame 0.0f, 1.0f frames per sample, samples; all little endian
    unsigned char want[32 + 36 * 8] = {'P', 'O', 'I', 'N', 'T', 'C', 'A', 'C', 'H', 'E', '2', 0, 1,    0,
                                       0,   0,   3,   0,   0,   0,   0,   0,   0,   0,   0,   0, 0x80, 0x3f};
    want[28] = (unsigned char)samples;
    for (int s = 0; s < samples; s++)
        for (int i = 0; i < 9; i++) {
            float value = (float)POINTS[s % 2][i];
            uint32_t bits;
            memcpy(&bits, &value, 4);
            for (int b = 0; b < 4; b++) want[32 + 36 * s + 4 * i + b] = (unsigned char)(bits >> (8 * b));
        }
    rbt_bytes b;
    assert_true(rbt_file_read(path, &b, NULL));
    assert_int_equal(b.size, 32 + 36 * samples);
    assert_memory_equal(b.data, want, b.size);
    free(b.data);
}

static void grows_and_is_cut_back(void **unused) {
    (void)unused;
    char *folder = out_folder_new(), path[512];
    snprintf(path, sizeof path, "%s/surface.pc2", folder);
    rbt_frame_file f;
    rbt_error e;
    assert_true(rbt_pc2_open(&f, path, 3, -1, &e));
    expect(path, 0);
    for (int i = 0; i < 5; i++) {
        add(&f, i);
        expect(path, i + 1);
    }
    assert_true(rbt_frame_file_undo(&f, &e));
    expect(path, 4);
    assert_true(rbt_frame_file_undo(&f, &e));  // there is only one step back
    expect(path, 4);
    assert_true(rbt_frame_file_close(&f, &e));

    // as a kill in the middle of a sample leaves it
    FILE *tail = fopen(path, "ab");
    fwrite(path, 1, 17, tail);
    fclose(tail);
    assert_true(rbt_pc2_open(&f, path, 3, 2, &e));
    assert_true(rbt_frame_file_cut(&f, &e));
    expect(path, 3);
    add(&f, 3);
    expect(path, 4);
    assert_true(rbt_frame_file_close(&f, &e));
    out_folder_remove(folder);
}

static void refuses_what_does_not_fit(void **unused) {
    (void)unused;
    char *folder = out_folder_new(), path[512];
    snprintf(path, sizeof path, "%s/surface.pc2", folder);
    rbt_frame_file f;
    rbt_error e;
    assert_false(rbt_pc2_open(&f, path, 3, 0, &e));
    assert_string_equal(e.file, path);
    assert_string_equal(e.message,
                        "cannot be continued after frame 0: No such file or directory; start the run again "
                        "or switch this output off");
    assert_true(rbt_pc2_open(&f, path, 3, -1, &e));
    add(&f, 0);
    add(&f, 1);
    assert_true(rbt_frame_file_close(&f, &e));
    assert_false(rbt_pc2_open(&f, path, 3, 2, &e));
    assert_string_equal(e.message,
                        "holds 2 whole frames, but the run is to continue after frame 2 and needs 3; start the "
                        "run again or continue from an earlier frame");
    assert_false(rbt_pc2_open(&f, path, 4, 1, &e));
    assert_string_equal(e.message, "does not belong to this run (its beginning differs), so it cannot be continued; "
                                   "start the run again or write into another folder");
    expect(path, 2);
    assert_false(rbt_pc2_open(&f, path, 0, -1, &e));
    assert_string_equal(e.message, "a PC2 file holds 1 to 2147483647 points, but the surface has 0");
    out_folder_remove(folder);
}

static void base_mesh_has_the_same_order(void **unused) {
    (void)unused;
    char *folder = out_folder_new(), path[512], line[128];
    snprintf(path, sizeof path, "%s/surface.obj", folder);
    out_model *o = out_model_new(1, 2, true);
    rbt_surface s;
    assert_true(rbt_surface_build(&s, &o->model, NULL));
    double *y = calloc(3 * s.vertex_count, sizeof *y);
    rbt_surface_evaluate(&s, o->model.X, y);
    assert_true(rbt_obj_write(path, &s, y, NULL));

    FILE *in = fopen(path, "r");
    size_t vertices = 0, triangles = 0, objects = 0, groups = 0;
    while (fgets(line, sizeof line, in)) {
        float p[3];
        int c[3];
        if (line[0] == 'o') objects++;
        if (strcmp(line, "g block\n") == 0) assert_int_equal(groups++, 0);
        if (strcmp(line, "g tet_1\n") == 0) {
            assert_int_equal(groups++, 1);
            assert_int_equal(triangles, 12);
        }
        if (sscanf(line, "v %f %f %f", &p[0], &p[1], &p[2]) == 3) {
            for (int i = 0; i < 3; i++) assert_true(p[i] == (float)y[3 * vertices + (size_t)i]);
            vertices++;
        }
        if (sscanf(line, "f %d %d %d", &c[0], &c[1], &c[2]) == 3) {
            for (int i = 0; i < 3; i++) assert_int_equal(c[i], s.triangles[3 * triangles + (size_t)i] + 1);
            triangles++;
        }
    }
    fclose(in);
    assert_int_equal(objects, 1);
    assert_int_equal(groups, 2);
    assert_int_equal(vertices, s.vertex_count);
    assert_int_equal(triangles, s.triangle_count);
    free(y);
    rbt_surface_free(&s);
    out_model_free(o);
    out_folder_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_and_is_cut_back),
        cmocka_unit_test(refuses_what_does_not_fit),
        cmocka_unit_test(base_mesh_has_the_same_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
