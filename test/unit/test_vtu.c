// VTU files are read back by a small reader of their own: attributes, offsets, block structure, every value.
#include "../support/out_model.h"
#include "base/file.h"
#include "out/pvd.h"
#include "out/vtu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <zlib.h>
// cmocka needs the headers above
#include <cmocka.h>

typedef struct file {
    rbt_bytes bytes;
    const char *appended;  // behind the underscore
    bool packed;
} file;

static file read_vtu(const char *path) {
    file f = {0};
    assert_true(rbt_file_read(path, &f.bytes, NULL));
    const char *mark = strstr(f.bytes.data, "<AppendedData encoding=\"raw\">\n   _");
    assert_non_null(mark);
    f.appended = strchr(mark, '_') + 1;
    f.packed = strstr(f.bytes.data, "compressor=\"vtkZLibDataCompressor\"") != NULL;
    assert_non_null(strstr(f.bytes.data, "type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" "
                                         "header_type=\"UInt64\""));
    return f;
}

static uint64_t word(const char *at) {
    uint64_t w;
    memcpy(&w, at, sizeof w);
    return w;
}

// The bytes of the array of this name and type; *end is the offset behind it.
static unsigned char *array(const file *f, const char *name, const char *type, size_t expected, size_t *end) {
    char mark[128];
    snprintf(mark, sizeof mark, "<DataArray type=\"%s\" Name=\"%s\"", type, name);
    const char *at = strstr(f->bytes.data, mark);
    assert_non_null(at);
    at = strstr(at, "offset=\"");
    size_t offset = strtoull(at + 8, NULL, 10);
    const char *data = f->appended + offset;
    unsigned char *out = calloc(expected + 1, 1);
    if (!f->packed) {
        assert_int_equal(word(data), expected);
        memcpy(out, data + 8, expected);
        *end = offset + 8 + expected;
        return out;
    }
    uint64_t blocks = word(data), block = word(data + 8), last = word(data + 16);
    assert_int_equal((blocks - (last ? 1 : 0)) * block + last, expected);
    const char *from = data + 24 + 8 * blocks;
    for (uint64_t b = 0; b < blocks; b++) {
        uLongf size = b + 1 < blocks || !last ? block : last, whole = size;
        assert_int_equal(uncompress(out + b * block, &size, (const unsigned char *)from, word(data + 24 + 8 * b)),
                         Z_OK);
        assert_int_equal(size, whole);
        from += word(data + 24 + 8 * b);
    }
    *end = (size_t)(from - f->appended);
    return out;
}

static size_t expect(const file *f, size_t begin, const char *name, const char *type, const void *data, size_t size) {
    size_t end;
    char mark[160];
    unsigned char *found = array(f, name, type, size, &end);
    assert_memory_equal(found, data, size);
    free(found);
    snprintf(mark, sizeof mark, "offset=\"%zu\"/>", begin);  // arrays lie one behind the other
    assert_non_null(strstr(f->bytes.data, mark));
    return end;
}

static size_t expect_reals(const file *f, size_t begin, const char *name, const double *data, size_t n, bool single) {
    if (!single) return expect(f, begin, name, "Float64", data, n * sizeof *data);
    float *floats = calloc(n + 1, sizeof *floats);
    for (size_t i = 0; i < n; i++) floats[i] = (float)data[i];
    size_t end = expect(f, begin, name, "Float32", floats, n * sizeof *floats);
    free(floats);
    return end;
}

// `contact`: with contact forces on the points
static void check_tets(int n, bool contact, rbt_vtu_options options) {
    char *folder = out_folder_new(), path[512];
    snprintf(path, sizeof path, "%s/a.vtu", folder);
    out_model *o = out_model_new(n, 2, false);
    const rbt_model *m = &o->model;
    rbt_state s = out_state_new(m, 3);
    rbt_surface surface;
    rbt_vtu_frame frame;
    assert_true(rbt_surface_build(&surface, m, NULL));
    assert_true(rbt_vtu_frame_init(&frame, m, &surface, NULL));
    frame.contact = contact ? m->X : NULL;
    assert_true(rbt_vtu_write_elements(path, &frame, m, &s, options, NULL));
    file f = read_vtu(path);
    char counts[128];
    snprintf(counts, sizeof counts, "<Piece NumberOfPoints=\"%zu\" NumberOfCells=\"%zu\">", m->node_count,
             m->tet_count);
    assert_non_null(strstr(f.bytes.data, counts));
    assert_int_equal(f.packed, options.compress);

    double *shift = calloc(3 * m->node_count, sizeof *shift), *stress = calloc(m->tet_count, sizeof *stress);
    int32_t *body = calloc(m->tet_count, sizeof *body), *offsets = calloc(m->tet_count, sizeof *offsets);
    unsigned char *types = malloc(m->tet_count);
    for (size_t i = 0; i < 3 * m->node_count; i++) shift[i] = s.x[i] - m->X[i];
    rbt_model_von_mises(m, s.x, stress);
    assert_true(stress[0] > 0);
    for (size_t t = 0; t < m->tet_count; t++) {
        body[t] = t == m->tet_count - 1;
        offsets[t] = 4 * ((int32_t)t + 1);
        types[t] = 10;
    }
    bool single = options.single_precision;
    size_t at = expect(&f, 0, "TimeValue", "Float64", &s.t, sizeof s.t);
    at = expect_reals(&f, at, "displacement", shift, 3 * m->node_count, single);
    at = expect_reals(&f, at, "velocity", s.v, 3 * m->node_count, single);
    if (contact) at = expect_reals(&f, at, "contact_force", m->X, 3 * m->node_count, single);
    at = expect(&f, at, "region", "Int32", m->tet_region, 4 * m->tet_count);
    at = expect(&f, at, "body", "Int32", body, 4 * m->tet_count);
    at = expect_reals(&f, at, "von_mises", stress, m->tet_count, single);
    at = expect_reals(&f, at, "Points", s.x, 3 * m->node_count, single);
    at = expect(&f, at, "connectivity", "Int32", m->tets, 16 * m->tet_count);
    at = expect(&f, at, "offsets", "Int32", offsets, 4 * m->tet_count);
    at = expect(&f, at, "types", "UInt8", types, m->tet_count);
    assert_string_equal(f.appended + at, "\n  </AppendedData>\n</VTKFile>\n");
    free(shift), free(stress), free(body), free(offsets), free(types), free(f.bytes.data);
    rbt_vtu_frame_free(&frame);
    rbt_surface_free(&surface);
    out_state_free(&s);
    out_model_free(o);
    out_folder_remove(folder);
}

static void tets_in_all_variants(void **unused) {
    (void)unused;
    check_tets(2, true, (rbt_vtu_options){false, false});
    check_tets(2, true, (rbt_vtu_options){true, true});
    check_tets(2, false, (rbt_vtu_options){false, false});
    check_tets(2, false, (rbt_vtu_options){false, true});
    check_tets(2, false, (rbt_vtu_options){true, false});
    check_tets(2, false, (rbt_vtu_options){true, true});
}

// 16 bytes x 16384 cells would be one whole block; this grid makes one more, and arrays of several blocks.
static void blocks_when_compressed(void **unused) {
    (void)unused;
    check_tets(14, false, (rbt_vtu_options){true, false});
}

static void surface_with_skin(void **unused) {
    (void)unused;
    char *folder = out_folder_new(), path[512];
    snprintf(path, sizeof path, "%s/s.vtu", folder);
    out_model *o = out_model_new(1, 2, true);
    const rbt_model *m = &o->model;
    rbt_state s = out_state_new(m, 5);
    rbt_surface surface;
    rbt_vtu_frame frame;
    assert_true(rbt_surface_build(&surface, m, NULL));
    assert_true(surface.has_embedded);
    assert_int_equal(surface.part_count, 2);
    assert_int_equal(surface.vertex_count, 8 + 4);
    assert_int_equal(surface.triangle_count, 12 + 2);
    assert_string_equal(surface.parts[1].name, "tet 1");
    assert_int_equal(surface.parts[1].vertex_begin, 8);
    assert_int_equal(surface.triangles[3 * 12 + 5], 8 + 3);

    double vertices[36], shift[36], velocity[36];
    for (int c = 0; c < 36; c++) {
        int v = c / 3, k = c % 3;
        vertices[c] = s.x[c];
        shift[c] = s.x[c] - m->X[c];
        velocity[c] = s.v[c];
        if (v < 8) continue;
        vertices[c] = shift[c] = velocity[c] = 0;
        for (int a = 0; a < 4; a++) {  // as the embedding adds up
            double w = a == v - 8 ? 0.625 : 0.125;
            int i = 3 * (8 + a) + k;
            vertices[c] += w * s.x[i];
            shift[c] += w * (s.x[i] - m->X[i]);
            velocity[c] += w * s.v[i];
        }
    }
    assert_true(rbt_vtu_frame_init(&frame, m, &surface, NULL));
    assert_true(rbt_vtu_write_surface(path, &frame, &surface, &s, (rbt_vtu_options){0}, NULL));
    file f = read_vtu(path);
    const int32_t body[14] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1};
    size_t at = expect(&f, 0, "TimeValue", "Float64", &s.t, sizeof s.t), end;
    const struct {
        const char *name;
        const double *data;
    } fields[] = {{"displacement", shift}, {"velocity", velocity}, {"Points", vertices}};
    for (int i = 0; i < 3; i++) {
        double *found = (double *)array(&f, fields[i].name, "Float64", sizeof vertices, &end);
        for (int c = 0; c < 36; c++) assert_true(fabs(found[c] - fields[i].data[c]) < 1e-15);
        free(found);
    }
    at += 2 * (8 + sizeof vertices);
    at = expect(&f, at, "body", "Int32", body, sizeof body);
    expect(&f, at + 8 + sizeof vertices, "connectivity", "Int32", surface.triangles, 14 * 12);
    unsigned char *types = array(&f, "types", "UInt8", 14, &end);
    for (int i = 0; i < 14; i++) assert_int_equal(types[i], 5);
    free(types), free(f.bytes.data);
    rbt_vtu_frame_free(&frame);
    rbt_surface_free(&surface);
    out_state_free(&s);
    out_model_free(o);
    out_folder_remove(folder);
}

// Only nodes on the hull are vertices; triangles keep their orientation.
static void hull_is_compacted(void **unused) {
    (void)unused;
    out_model *o = out_model_new(3, 1, false);
    rbt_surface s;
    assert_true(rbt_surface_build(&s, &o->model, NULL));
    assert_false(s.has_embedded);
    assert_int_equal(s.vertex_count, 64 - 8);
    assert_int_equal(s.triangle_count, 6 * 9 * 2);
    for (size_t v = 0; v + 1 < s.vertex_count; v++) assert_true(s.node[v] < s.node[v + 1]);
    double *y = calloc(3 * s.vertex_count, sizeof *y), volume = 0;
    rbt_surface_evaluate(&s, o->model.X, y);
    for (size_t t = 0; t < s.triangle_count; t++) {
        const double *a = y + 3 * s.triangles[3 * t], *b = y + 3 * s.triangles[3 * t + 1];
        const double *c = y + 3 * s.triangles[3 * t + 2];
        volume += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                   a[2] * (b[0] * c[1] - b[1] * c[0])) /
                  6;
    }
    assert_true(fabs(volume - 1) < 1e-12);
    free(y);
    rbt_surface_free(&s);
    out_model_free(o);
}

static void unwritable_place(void **unused) {
    (void)unused;
    rbt_error e;
    double point[3] = {0};
    rbt_vtu_grid grid = {.point_count = 1, .points = point, .corners = 4, .cell_type = RBT_VTU_TET};
    assert_false(rbt_vtu_write("/nonexistent/folder/a.vtu", &grid, (rbt_vtu_options){0}, &e));
    assert_string_equal(e.file, "/nonexistent/folder/a.vtu");
    assert_string_equal(e.message, "cannot write the file: there is no folder /nonexistent/folder");
}

static const char HEAD[] = "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" "
                           "byte_order=\"LittleEndian\">\n  <Collection>\n";
static const char TAIL[] = "  </Collection>\n</VTKFile>\n";

static void expect_index(const char *path, int frames) {
    char want[4096];
    rbt_bytes b;
    snprintf(want, sizeof want, "%s", HEAD);
    for (int i = 0; i < frames; i++)
        snprintf(want + strlen(want), sizeof want - strlen(want),
                 "    <DataSet part=\"0\" file=\"frames/frame_%06d.vtu\" timestep=\"%.17g\"/>\n", i, i * 0.1);
    strcat(want, TAIL);
    assert_true(rbt_file_read(path, &b, NULL));
    assert_string_equal(b.data, want);
    free(b.data);
}

static void index_is_whole_after_every_frame(void **unused) {
    (void)unused;
    char *folder = out_folder_new(), path[512];
    snprintf(path, sizeof path, "%s/frames.pvd", folder);
    rbt_frame_file f;
    rbt_error e;
    assert_true(rbt_pvd_open(&f, path, "frames/frame_", -1, &e));
    expect_index(path, 0);
    for (int i = 0; i < 5; i++) {
        assert_true(rbt_pvd_add(&f, "frames/frame_", i * 0.1, &e));
        expect_index(path, i + 1);
    }
    assert_true(rbt_frame_file_undo(&f, &e));
    expect_index(path, 4);
    assert_true(rbt_frame_file_close(&f, &e));

    assert_true(rbt_pvd_open(&f, path, "frames/frame_", 1, &e));
    expect_index(path, 4);  // nothing happens before the cut
    assert_true(rbt_frame_file_cut(&f, &e));
    expect_index(path, 2);
    assert_true(rbt_pvd_add(&f, "frames/frame_", 2 * 0.1, &e));
    expect_index(path, 3);
    assert_true(rbt_frame_file_close(&f, &e));

    assert_false(rbt_pvd_open(&f, path, "frames/frame_", 3, &e));
    assert_string_equal(e.message,
                        "holds 3 whole frames, but the run is to continue after frame 3 and needs 4; start the "
                        "run again or continue from an earlier frame");
    assert_false(rbt_pvd_open(&f, path, "frames/other_", 0, &e));
    assert_string_equal(e.message,
                        "holds 0 whole frames, but the run is to continue after frame 0 and needs 1; start the "
                        "run again or continue from an earlier frame");
    out_folder_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tets_in_all_variants), cmocka_unit_test(blocks_when_compressed),
        cmocka_unit_test(surface_with_skin),    cmocka_unit_test(hull_is_compacted),
        cmocka_unit_test(unwritable_place),     cmocka_unit_test(index_is_whole_after_every_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
