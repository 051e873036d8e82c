// Surface files: OBJ, STL and PLY made by hand in every encoding, and OBJ written and read back bit for bit.
#include "mesh/core/build.h"
#include "mesh/io/format.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static rbt_mesh *read_bytes(const char *format, const void *data, size_t size) {
    const rbt_mesh_format *found = NULL;
    rbt_error error = {0};
    rbt_bytes bytes = {calloc(size + 1, 1), size};
    memcpy(bytes.data, data, size);
    for (int i = 0; i < RBT_MESH_FORMAT_COUNT; i++)
        if (strcmp(RBT_MESH_FORMATS[i].name, format) == 0) found = &RBT_MESH_FORMATS[i];
    assert_non_null(found);
    rbt_mesh *mesh = rbt_mesh_read_bytes(found, "memory", &bytes, &error);
    free(bytes.data);
    if (!mesh) fail_msg("%ld: %s", error.line, error.message);
    return mesh;
}

static rbt_mesh *read_text(const char *format, const char *text) { return read_bytes(format, text, strlen(text)); }

static void check_triangles(const rbt_mesh *mesh, const int32_t *triangles, size_t count) {
    assert_int_equal(mesh->triangle_count, count);
    assert_memory_equal(mesh->triangles, triangles, count * 3 * sizeof *triangles);
}

static void check_set(const rbt_mesh *mesh, const char *name, const int32_t *items, size_t count) {
    const rbt_mesh_set *set = rbt_mesh_find_set(mesh, name);
    assert_non_null(set);
    assert_int_equal(set->kind, RBT_SET_TRIANGLES);
    assert_int_equal(set->count, count);
    assert_memory_equal(set->items, items, count * sizeof *items);
}

static void obj_statements(void **state) {
    (void)state;
    rbt_mesh *mesh = read_text("OBJ", "# a comment\n"
                                      "mtllib x.mtl\n"
                                      "v 0 0 0\r\n"
                                      "v 1 0 0 1.0\n"
                                      "\tv 1 1 0 0.5 0.5 0.5 # colour\n"
                                      "v 0 \\\n 1 0\n"
                                      "vt 0 0\nvn 0 0 1\n"
                                      "s off\nusemtl red\n"
                                      "f 1 2 3\n"
                                      "f 1/1 2/1 3/1 4/1\n"
                                      "f -1//1 -2//1 -3//1 # counted back\n"
                                      "f 1/1/1 2/1/1 5/1/1\n"  // a vertex that comes later
                                      "v 0 0 1e-1\n"
                                      "l 1 2/1 5\n"
                                      "f 1 2 \\\n   -1");
    static const int32_t triangles[] = {0, 1, 2, 0, 1, 2, 0, 2, 3, 3, 2, 1, 0, 1, 4, 0, 1, 4}, edges[] = {0, 1, 1, 4};
    static const double nodes[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0.1};
    assert_int_equal(mesh->node_count, 5);
    assert_memory_equal(mesh->nodes, nodes, sizeof nodes);
    check_triangles(mesh, triangles, 6);
    assert_int_equal(mesh->edge_count, 2);
    assert_memory_equal(mesh->edges, edges, sizeof edges);
    assert_int_equal(mesh->set_count, 0);
    assert_string_equal(mesh->format, "OBJ");
    rbt_mesh_free(mesh);
}

static void obj_groups(void **state) {
    (void)state;
    rbt_mesh *mesh = read_text("OBJ", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\n"
                                      "g unused\n"
                                      "f 1 2 3\n"       // 0: unused... has one
                                      "o left wing \n"  // names of objects may have spaces
                                      "g a b\n"
                                      "f 1 2 3 4\n"  // 1, 2
                                      "g b\n"
                                      "f 1 2 3\n"  // 3
                                      "g\n"
                                      "f 1 2 3\n"  // 4
                                      "o b\n"
                                      "g a b\n"
                                      "f 2 3 4\n"  // 5: in b as object and as group
                                      "g empty\n");
    assert_int_equal(mesh->set_count, 4);
    check_set(mesh, "unused", (int32_t[]){0}, 1);
    check_set(mesh, "left wing", (int32_t[]){1, 2, 3, 4}, 4);
    check_set(mesh, "a", (int32_t[]){1, 2, 5}, 3);
    check_set(mesh, "b", (int32_t[]){1, 2, 3, 5}, 4);
    assert_null(rbt_mesh_find_set(mesh, "empty"));
    rbt_mesh_free(mesh);
}

static const int32_t QUAD[] = {0, 1, 2, 1, 3, 2};
static const float CORNERS[2][9] = {{0, 0, 0, 1, 0, 0, 0, 0.1f, 0}, {1, 0, 0, 1, 0.1f, 0, 0, 0.1f, 0}};

static void stl_text(void **state) {
    (void)state;
    rbt_mesh *mesh =
        read_text("STL", "solid a name with facet in it\n"
                         " facet normal 0 0 1\n  outer loop\n"
                         "   vertex 0 0 0\n   vertex 1 0 0\n   vertex 0 0.1 0\n"
                         "  endloop\n endfacet\nendsolid a name\n"
                         "SOLID\nFACET NORMAL nan -nan(ind) nan\nOUTER LOOP\n"
                         "VERTEX 1.0e0 0 0\nVERTEX 1 .1 0\nVERTEX 0 1e-1 0\nENDLOOP\nENDFACET\nENDSOLID");
    assert_int_equal(mesh->node_count, 4);
    assert_true(mesh->nodes[7] == 0.1);
    check_triangles(mesh, QUAD, 2);
    assert_string_equal(mesh->format, "STL ASCII");
    rbt_mesh_free(mesh);
}

// Headers of 80 bytes that look like text, like nothing and like other formats' text are all the same.
static void stl_binary(void **state) {
    (void)state;
    static const char *const headers[] = {"solid exported by a program\nfacet normal 0 0 1", "", "COLOR=abcd"};
    for (int h = 0; h < 3; h++) {
        unsigned char file[84 + 100] = {0};
        memset(file, ' ', 80);
        memcpy(file, headers[h], strlen(headers[h]));
        file[80] = 2;
        for (int i = 0; i < 2; i++) memcpy(file + 84 + 50 * i + 12, CORNERS[i], sizeof CORNERS[i]);
        rbt_mesh *mesh = read_bytes("STL", file, sizeof file);
        assert_int_equal(mesh->node_count, 4);
        assert_true(mesh->nodes[7] == (double)0.1f);
        check_triangles(mesh, QUAD, 2);
        assert_string_equal(mesh->format, "STL binary");
        rbt_mesh_free(mesh);
    }
}

// Vertices merge only if all bits agree: 0 and -0 do not, nor do neighbours. Enough of them to make the table grow.
static void stl_merging(void **state) {
    (void)state;
    enum { N = 500 };
    size_t size = 84 + 50 * N;
    unsigned char *file = calloc(size, 1);
    file[80] = N & 255;
    file[81] = N >> 8;
    for (int i = 0; i < N; i++) {
        float x = (float)(i % 250), corners[9] = {x, 0, 0, nextafterf(x, 1e9f), 0, 0, x, i % 2 ? -0.0f : 0.0f, 1};
        memcpy(file + 84 + 50 * i + 12, corners, sizeof corners);
    }
    rbt_mesh *mesh = read_bytes("STL", file, size);
    assert_int_equal(mesh->node_count, 750);  // the second half repeats the first: 250 is even
    assert_int_equal(mesh->triangle_count, N);
    for (int i = 0; i < N; i++)
        for (int c = 0; c < 3; c++) {
            float corner[3];
            memcpy(corner, file + 84 + 50 * i + 12 + 12 * c, sizeof corner);
            const double *node = mesh->nodes + 3 * mesh->triangles[3 * i + c];
            for (int k = 0; k < 3; k++)
                assert_true(node[k] == (double)corner[k] && !signbit(node[k]) == !signbit(corner[k]));
        }
    rbt_mesh_free(mesh);
    free(file);
}

#define PLY_REST                                                                                                     \
    " 1.0\ncomment element vertex 99\nobj_info nothing\nelement vertex 4\nproperty uchar red\nproperty float x\n"    \
    "property list uchar short scores\nproperty double y\nproperty int16 z\nelement nothing 3\nelement extra 2\n"    \
    "property list uint8 float64 weights\nproperty int8 flag\nelement face 2\nproperty float quality\n"              \
    "property list uchar int vertex_indices\nelement edge 1\nproperty uint vertex2\nproperty ushort vertex1\n"       \
    "end_header\n"

static void check_ply(const rbt_mesh *mesh, const char *format) {
    static const double nodes[] = {0, 0, 0, 1.5, 0.1, -1, 2, 1, 0, 0, 1, 300};
    static const int32_t triangles[] = {0, 1, 2, 0, 2, 3, 3, 2, 1}, edge[] = {2, 3};
    assert_string_equal(mesh->format, format);
    assert_int_equal(mesh->node_count, 4);
    assert_memory_equal(mesh->nodes, nodes, sizeof nodes);
    check_triangles(mesh, triangles, 3);
    assert_int_equal(mesh->edge_count, 1);
    assert_memory_equal(mesh->edges, edge, sizeof edge);
}

static void ply_text(void **state) {
    (void)state;
    rbt_mesh *mesh =
        read_text("PLY", "ply\nformat ascii" PLY_REST "255 0 0 0 0\n1 1.5 2 7 8 0.1 -1\n1 2 0 1 0\n1 0 1 5 1 300\n"
                         "3 0.5 0.5 0.5 1\n0 -1\n"
                         "0.5 4 0 1 2 3\n1 3 3 2 1\n3 2\n");
    check_ply(mesh, "PLY ASCII");
    rbt_mesh_free(mesh);
    mesh = read_text("PLY",
                     "ply\r\nformat ascii 1.0\r\nelement vertex 3\r\nproperty float x\r\nproperty float y\r\n"
                     "property float z\r\nelement face 1\r\nproperty list uchar int vertex_index\r\nend_header\r\n"
                     "0 0 0\r\n1 0 0\r\n0 1 0\r\n3 0 1 2\r\n");
    check_triangles(mesh, (int32_t[]){0, 1, 2}, 1);
    rbt_mesh_free(mesh);
}

// Appends a number of `size` bytes in the wanted order.
static void put(rbt_bytes *to, bool big, const void *number, size_t size) {
    const char *bytes = number;
    for (size_t i = 0; i < size; i++) to->data[to->size++] = bytes[big ? size - 1 - i : i];
}
#define PUT(type, value) put(&file, big, &(type){value}, sizeof(type))

static void ply_binary(void **state) {
    (void)state;
    for (int big = 0; big < 2; big++) {
        char buffer[2000];
        rbt_bytes file = {buffer, 0};
        file.size = (size_t)snprintf(buffer, sizeof buffer, "ply\nformat %s" PLY_REST,
                                     big ? "binary_big_endian" : "binary_little_endian");
        static const double nodes[4][3] = {{0, 0, 0}, {1.5, 0.1, -1}, {2, 1, 0}, {0, 1, 300}};
        for (int i = 0; i < 4; i++) {
            PUT(uint8_t, 10);  // looks like a line end
            PUT(float, (float)nodes[i][0]);
            PUT(uint8_t, (uint8_t)(i % 3));
            for (int k = 0; k < i % 3; k++) PUT(int16_t, 2570);
            PUT(double, nodes[i][1]);
            PUT(int16_t, (int16_t)nodes[i][2]);
        }
        for (int i = 0; i < 2; i++) {
            PUT(uint8_t, (uint8_t)i);
            for (int k = 0; k < i; k++) PUT(double, 0.5);
            PUT(int8_t, -1);
        }
        PUT(float, 0.5f);
        PUT(uint8_t, 4);
        for (int k = 0; k < 4; k++) PUT(int32_t, k);
        PUT(float, 1.0f);
        PUT(uint8_t, 3);
        for (int k = 3; k > 0; k--) PUT(int32_t, k);
        PUT(uint32_t, 3);
        PUT(uint16_t, 2);
        rbt_mesh *mesh = read_bytes("PLY", file.data, file.size);
        check_ply(mesh, big ? "PLY binary big endian" : "PLY binary little endian");
        rbt_mesh_free(mesh);
    }
}

// The surface of tets: only its vertices are written, in their order, also where the program's locale has commas.
static void obj_written_and_read(void **state) {
    (void)state;
    char folder[400], path[450];
    const char *place = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/rubato_obj_XXXXXX", place && place[0] ? place : "/tmp");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/mesh.obj", folder);
    setlocale(LC_ALL, "de_DE.UTF-8");
    rbt_error error = {0};
    rbt_mesh *mesh = rbt_mesh_new(&error);
    assert_true(rbt_mesh_allocate(mesh, 6, 1, 0, 1, &error));
    static const int32_t tet[] = {1, 2, 3, 5};
    memcpy(mesh->tets, tet, sizeof tet);
    static const double nodes[18] = {9, 9, 9, 0.1, 5e-324, -0.0, 1.0 / 3, 0, 0, 0, 2.0 / 3, 0, 9, 9, 9, 0, 0, 1e300};
    memcpy(mesh->nodes, nodes, sizeof nodes);
    assert_true(rbt_mesh_write(mesh, path, true, &error));
    rbt_mesh *surface = rbt_mesh_read(path, &error);
    assert_non_null(surface);
    assert_int_equal(surface->node_count, 4);
    assert_memory_equal(surface->nodes, nodes + 3, 9 * sizeof(double));
    assert_memory_equal(surface->nodes + 9, nodes + 15, 3 * sizeof(double));
    assert_int_equal(surface->triangle_count, 4);
    assert_int_equal(surface->edge_count, 0);

    // What was read is a surface without tets: written again it stays as it is, edges included.
    surface->edge_count = 1;
    surface->edges = realloc(surface->edges, 2 * sizeof(int32_t));
    surface->edges[0] = 3;
    surface->edges[1] = 1;
    assert_true(rbt_mesh_write(surface, path, false, &error));
    rbt_mesh *again = rbt_mesh_read(path, &error);
    assert_non_null(again);
    assert_int_equal(again->node_count, 4);
    assert_memory_equal(again->nodes, surface->nodes, 12 * sizeof(double));
    check_triangles(again, surface->triangles, 4);
    assert_int_equal(again->edge_count, 1);
    assert_memory_equal(again->edges, surface->edges, 2 * sizeof(int32_t));
    rbt_mesh_free(mesh);
    rbt_mesh_free(surface);
    rbt_mesh_free(again);
    setlocale(LC_ALL, "C");
    unlink(path);
    rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(obj_statements), cmocka_unit_test(obj_groups),           cmocka_unit_test(stl_text),
        cmocka_unit_test(stl_binary),     cmocka_unit_test(stl_merging),          cmocka_unit_test(ply_text),
        cmocka_unit_test(ply_binary),     cmocka_unit_test(obj_written_and_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
