// VTK files, legacy and XML: what VTK itself wrote (test/data) in every encoding is one known mesh; what we write comes
// back bit for bit.
#include "mesh/core/build.h"
#include "mesh/io/format.h"
#include "mesh/io/lz4.h"
#include "mesh/io/read_vtu.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "random.h"

// The mesh of the fixtures. Cells in the files: triangle, tet, line, tet, vertex.
static const double NODES[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0.1, 1.0 / 3.0, -2.5e-7};
static const int32_t TETS[8] = {0, 1, 2, 3, 1, 2, 3, 4}, TRIANGLES[3] = {0, 1, 2}, EDGES[2] = {3, 4};

static rbt_mesh *read_good(const char *path) {
    rbt_error error = {0};
    rbt_mesh *mesh = rbt_mesh_read(path, &error);
    if (!mesh) fail_msg("%s: %s", path, error.message);
    return mesh;
}

static void check_known_mesh(const rbt_mesh *mesh, double tolerance) {
    assert_int_equal(mesh->node_count, 5);
    for (int i = 0; i < 15; i++) assert_true(fabs(mesh->nodes[i] - NODES[i]) <= tolerance);
    assert_int_equal(mesh->tet_count, 2);
    assert_memory_equal(mesh->tets, TETS, sizeof TETS);
    assert_int_equal(mesh->triangle_count, 1);
    assert_memory_equal(mesh->triangles, TRIANGLES, sizeof TRIANGLES);
    assert_int_equal(mesh->edge_count, 1);
    assert_memory_equal(mesh->edges, EDGES, sizeof EDGES);
    assert_int_equal(mesh->set_count, 2);
    const rbt_mesh_set *three = rbt_mesh_find_set(mesh, "region 3"), *seven = rbt_mesh_find_set(mesh, "region 7");
    assert_true(three && seven && three->kind == RBT_SET_TETS && seven->kind == RBT_SET_TETS);
    assert_int_equal(three->count, 1);
    assert_int_equal(three->items[0], 1);
    assert_int_equal(seven->count, 1);
    assert_int_equal(seven->items[0], 0);
}

static const struct {
    const char *file, *format;
} VTU[] = {{"ascii", "VTU ASCII"},
           {"binary", "VTU binary"},
           {"binary_64", "VTU binary"},
           {"binary_zlib", "VTU binary zlib"},
           {"binary_zlib_64_blocks", "VTU binary zlib"},
           {"binary_zlib_big_endian", "VTU binary zlib"},
           {"raw", "VTU appended raw"},
           {"raw_32", "VTU appended raw"},
           {"raw_big_endian", "VTU appended raw"},
           {"raw_zlib", "VTU appended raw zlib"},
           {"raw_zlib_blocks", "VTU appended raw zlib"},
           {"base64", "VTU appended base64"},
           {"base64_zlib", "VTU appended base64 zlib"},
           {"raw_lz4", "VTU appended raw LZ4"},
           {"binary_lz4_blocks", "VTU binary LZ4"}};

static void vtu_of_every_encoding(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof VTU / sizeof *VTU; i++) {
        char path[600];
        snprintf(path, sizeof path, RBT_SOURCE_DIR "/test/data/vtu/%s.vtu", VTU[i].file);
        rbt_mesh *mesh = read_good(path);
        check_known_mesh(mesh, 0);
        assert_string_equal(mesh->format, VTU[i].format);
        rbt_mesh_free(mesh);
    }
}

static void vtu_fields_of_every_encoding(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof VTU / sizeof *VTU; i++) {
        char path[600];
        rbt_mesh mesh;
        rbt_fields fields;
        rbt_error error = {0};
        snprintf(path, sizeof path, RBT_SOURCE_DIR "/test/data/vtu/%s.vtu", VTU[i].file);
        if (!rbt_vtu_read_fields(path, &mesh, &fields, &error)) fail_msg("%s: %s", path, error.message);
        check_known_mesh(&mesh, 0);
        assert_true(fields.has_time && fields.time == 0.125);
        assert_int_equal(fields.count, 3);
        assert_int_equal(fields.cell_count, 5);
        const rbt_mesh_field *velocity = rbt_fields_find(&fields, "velocity", false);
        assert_non_null(velocity);
        assert_int_equal(velocity->components, 3);
        for (int n = 0; n < 5; n++)
            assert_true(velocity->values[3 * n] == n && velocity->values[3 * n + 1] == n / 3.0 &&
                        velocity->values[3 * n + 2] == -n);
        // Cells come in the order tets, triangle, line, vertex: cells 1, 3, 0, 2, 4 of the file.
        static const double region[5] = {7, 3, -1, -1, -1}, stress[5] = {1.5, 3.5, 0.5, 2.5, 4.5};
        assert_memory_equal(rbt_fields_find(&fields, "region", true)->values, region, sizeof region);
        assert_memory_equal(rbt_fields_find(&fields, "stress", true)->values, stress, sizeof stress);
        assert_null(rbt_fields_find(&fields, "stress", false));
        assert_null(rbt_fields_find(&fields, "TimeValue", false));
        rbt_mesh_clear(&mesh);
        rbt_fields_free(&fields);
    }
}

// Blocks written by hand: what they make, or that they are refused, in memory that ends where they do.
static void lz4_blocks(void **state) {
    (void)state;
#define BLOCK(text) sizeof text - 1, text
    static const struct {
        size_t size;
        const char *bytes;
        const char *made;  // NULL: damaged
        size_t wanted;
    } cases[] = {
        {BLOCK("\060abc"), "abc", 3},
        {BLOCK("\061abc\003\000\020!"), "abcabcab!", 9},                 // a match of 5 reaches into itself
        {BLOCK("\037a\001\000\002\000"), "aaaaaaaaaaaaaaaaaaaaaa", 22},  // 1 + 15 + 2 + 4
        {BLOCK("\360\001abcdefghijklmnop"), "abcdefghijklmnop", 16},     // 15 + 1
        {BLOCK("\000"), "", 0},
        {BLOCK("\060ab"), NULL, 3},             // literals are missing
        {BLOCK("\060abc"), NULL, 4},            // makes too little
        {BLOCK("\060abc"), NULL, 2},            // makes too much
        {BLOCK("\020a\002\000\000"), NULL, 5},  // a match before the beginning
        {BLOCK("\020a\000\000\000"), NULL, 5},  // a match at no distance
        {BLOCK("\020a\001"), NULL, 5},          // half a distance
        {BLOCK("\020a\001\000"), NULL, 5},      // no last sequence
        {BLOCK("\037a\001\000"), NULL, 20},     // a length without its end
        {BLOCK("\037a\001\000\377\377\377"), NULL, 600},
        {BLOCK("\037a\001\000\310\000"), NULL, 100},  // a match beyond the end
        {BLOCK("\360\377\377\377\377"), NULL, 100},
    };
#undef BLOCK
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        unsigned char *block = malloc(cases[i].size), *to = malloc(cases[i].wanted + 1);
        memcpy(block, cases[i].bytes, cases[i].size);
        to[cases[i].wanted] = 0x5a;
        assert_int_equal(rbt_lz4_decode(block, cases[i].size, to, cases[i].wanted), cases[i].made != NULL);
        if (cases[i].made) assert_memory_equal(to, cases[i].made, cases[i].wanted);
        assert_int_equal(to[cases[i].wanted], 0x5a);
        free(block);
        free(to);
    }
}

static void legacy_files_of_vtk(void **state) {
    (void)state;
    static const struct {
        const char *file, *format;
        double tolerance;  // VTK writes 11 digits as text
    } files[] = {{"legacy_v4_ascii", "VTK legacy 4.2 ASCII", 1e-11},
                 {"legacy_v5_ascii", "VTK legacy 5.1 ASCII", 1e-11},
                 {"legacy_v4_binary", "VTK legacy 4.2 binary", 0},
                 {"legacy_v5_binary", "VTK legacy 5.1 binary", 0}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[600];
        snprintf(path, sizeof path, RBT_SOURCE_DIR "/test/data/vtk/%s.vtk", files[i].file);
        rbt_mesh *mesh = read_good(path);
        check_known_mesh(mesh, files[i].tolerance);
        assert_string_equal(mesh->format, files[i].format);
        rbt_mesh_free(mesh);
    }
    // A sphere of VTK: two poles and a ring of four; every triangle's corners are different.
    rbt_mesh *text = read_good(RBT_SOURCE_DIR "/test/data/vtk/polygons_ascii.vtk");
    rbt_mesh *binary = read_good(RBT_SOURCE_DIR "/test/data/vtk/polygons_binary.vtk");
    assert_int_equal(text->node_count, 6);
    assert_int_equal(text->triangle_count, 8);
    assert_int_equal(binary->triangle_count, 8);
    assert_memory_equal(text->triangles, binary->triangles, 8 * 3 * sizeof(int32_t));
    for (int i = 0; i < 18; i++) assert_true(fabs(text->nodes[i] - binary->nodes[i]) < 1e-6);
    rbt_mesh_free(text);
    rbt_mesh_free(binary);
}

static const rbt_mesh_format *find_format(const char *name) {
    for (int i = 0; i < RBT_MESH_FORMAT_COUNT; i++)
        if (strcmp(RBT_MESH_FORMATS[i].name, name) == 0) return &RBT_MESH_FORMATS[i];
    return NULL;
}

static rbt_mesh *read_text(const char *format, const char *text) {
    rbt_error error = {0};
    rbt_bytes bytes = {strdup(text), strlen(text)};
    rbt_mesh *mesh = rbt_mesh_read_bytes(find_format(format), "memory", &bytes, &error);
    free(bytes.data);
    if (!mesh) fail_msg("%s", error.message);
    return mesh;
}

static void legacy_polygons_by_hand(void **state) {
    (void)state;
    rbt_mesh *mesh = read_text("VTK", "# vtk DataFile Version 1.0\n"
                                      "a title with CELLS 3 in it\n"
                                      "ascii\n"
                                      "DATASET POLYDATA\n"
                                      "POINTS 5 float\n"
                                      "0 0 0  1 0 0  2 1 0\n1 2 0\n0 1 0\n"
                                      "METADATA\nINFORMATION 1\nNAME L2 LOCATION x\nDATA 2 0 1\n\n"
                                      "VERTICES 1 3\n2 0 1\n"
                                      "LINES 2 7\n3 0 1 2\n2 3 4\n"
                                      "POLYGONS 2 10\n5 0 1 2 3 4\n3 4 3 2\n"
                                      "CELL_DATA 4\n"
                                      "SCALARS region int\nLOOKUP_TABLE default\n1 2 3 4\n"
                                      "POINT_DATA 5\n"
                                      "VECTORS v float\n0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
                                      "TEXTURE_COORDINATES t 2 float\n0 0 0 0 0 0 0 0 0 0\n"
                                      "COLOR_SCALARS c 1\n0 0 0 0 0\n"
                                      "LOOKUP_TABLE l 1\n0 0 0 0\n");
    static const int32_t triangles[] = {0, 1, 2, 0, 2, 3, 0, 3, 4, 4, 3, 2}, edges[] = {0, 1, 1, 2, 3, 4};
    assert_int_equal(mesh->node_count, 5);
    assert_int_equal(mesh->triangle_count, 4);
    assert_memory_equal(mesh->triangles, triangles, sizeof triangles);
    assert_int_equal(mesh->edge_count, 3);
    assert_memory_equal(mesh->edges, edges, sizeof edges);
    assert_string_equal(mesh->format, "VTK legacy 1.0 ASCII");
    rbt_mesh_free(mesh);
}

// "region" wins over the other names, real arrays are no regions, unknown attributes are stepped over.
static void legacy_regions(void **state) {
    (void)state;
    static const char start[] = "# vtk DataFile Version 3.0\n\nASCII\nDATASET UNSTRUCTURED_GRID\n"
                                "POINTS 4 double\n0 0 0 1 0 0 0 1 0 0 0 1\n"
                                "CELLS 3 15\n4 0 1 2 3\n4 0 1 2 3\n4 0 1 2 3\nCELL_TYPES 3\n10 10 10\nCELL_DATA 3\n";
    static const struct {
        const char *data;
        size_t sets;
        const char *first;
    } cases[] = {{"SCALARS material int 1\nLOOKUP_TABLE default\n2 2 2\nFIELD FieldData 2\nregion 1 3 char\n5 -4 5\n"
                  "CellEntityIds 1 3 int\n1 2 3\n",
                  2, "region -4"},
                 {"SCALARS region double 1\nLOOKUP_TABLE default\n1 2 3\n", 0, ""},
                 {"FIELD FieldData 1\nCellEntityIds 1 3 int\n1 2 3\n", 3, "region 1"},
                 {"TENSORS s float\n0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
                  "SCALARS material vtkIdType\n8 8 8\n",
                  1, "region 8"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2000];
        snprintf(text, sizeof text, "%s%s", start, cases[i].data);
        rbt_mesh *mesh = read_text("VTK", text);
        assert_int_equal(mesh->tet_count, 3);
        assert_int_equal(mesh->set_count, cases[i].sets);
        if (mesh->set_count) assert_string_equal(mesh->sets[0].name, cases[i].first);
        rbt_mesh_free(mesh);
    }
}

// Two pieces, information before the numbers, a header encoded by itself, entities in a name, single quotes, comments.
static void vtu_by_hand(void **state) {
    (void)state;
    static const char text[] =
        "<?xml version='1.0'?>\n<!-- <VTKFile type=\"PolyData\"> -->\n"
        "<VTKFile type='UnstructuredGrid' byte_order='LittleEndian'><UnstructuredGrid>\n"
        "<Piece NumberOfPoints='4' NumberOfCells='1'><PointData>"
        "<DataArray type='Int16' Name='a&lt;b&amp;'>1 2 3 4</DataArray></PointData>"
        "<CellData><DataArray type='UInt8' Name='material'>9</DataArray></CellData>"
        "<Points><DataArray type='Float32' NumberOfComponents='3' format='ascii'>"
        "<InformationKey name='k'><Value index='0'>7</Value></InformationKey>"
        "0 0 0 1 0 0 0 1 0 0 0 1</DataArray></Points>"
        "<Cells><DataArray type='Int32' Name='connectivity' "
        "format='binary'>EAAAAA==AAAAAAEAAAACAAAAAwAAAA==</DataArray>"
        "<DataArray type='Int8' Name='offsets' format='binary'>AQAAAAQ=</DataArray>"
        "<DataArray type='UInt8' Name='types'>10</DataArray></Cells></Piece>\n"
        "<Piece NumberOfPoints='0' NumberOfCells='0'></Piece>\n"
        "<Piece NumberOfPoints='3' NumberOfCells='2'><PointData>"
        "<DataArray type='Float64' Name='a&lt;b&amp;'>5 6 7.5</DataArray></PointData>"
        "<CellData><DataArray type='Int32' Name='material'>1 2</DataArray></CellData>"
        "<Points><DataArray type='Float64' NumberOfComponents='3'>2 0 0 3 0 0 2 1 0</DataArray></Points>"
        "<Cells><DataArray type='Int64' Name='connectivity'>0 1 2 2 0</DataArray>"
        "<DataArray type='Int64' Name='offsets'>3 5</DataArray>"
        "<DataArray type='UInt8' Name='types'>5 3</DataArray></Cells></Piece>\n"
        "</UnstructuredGrid></VTKFile>\n";
    rbt_bytes bytes = {strdup(text), sizeof text - 1};
    rbt_mesh mesh;
    rbt_fields fields;
    rbt_error error = {0};
    if (!rbt_vtu_read_fields_bytes("memory", &bytes, &mesh, &fields, &error)) fail_msg("%s", error.message);
    static const int32_t tet[] = {0, 1, 2, 3}, triangle[] = {4, 5, 6}, edge[] = {6, 4};
    assert_int_equal(mesh.node_count, 7);
    assert_true(mesh.nodes[3 * 5] == 3 && mesh.nodes[3 * 6 + 1] == 1);
    assert_int_equal(mesh.tet_count, 1);
    assert_memory_equal(mesh.tets, tet, sizeof tet);
    assert_int_equal(mesh.triangle_count, 1);
    assert_memory_equal(mesh.triangles, triangle, sizeof triangle);
    assert_int_equal(mesh.edge_count, 1);
    assert_memory_equal(mesh.edges, edge, sizeof edge);
    assert_int_equal(mesh.set_count, 1);
    assert_string_equal(mesh.sets[0].name, "region 9");
    static const double values[] = {1, 2, 3, 4, 5, 6, 7.5}, materials[] = {9, 1, 2};
    assert_non_null(rbt_fields_find(&fields, "a<b&", false));
    assert_memory_equal(rbt_fields_find(&fields, "a<b&", false)->values, values, sizeof values);
    assert_memory_equal(rbt_fields_find(&fields, "material", true)->values, materials, sizeof materials);
    assert_false(fields.has_time);
    rbt_mesh_clear(&mesh);
    rbt_fields_free(&fields);
    free(bytes.data);
}

// The failing call leaves nothing behind, and says which cells it does not know.
static void vtu_with_a_hexahedron(void **state) {
    (void)state;
    rbt_mesh mesh;
    rbt_fields fields;
    rbt_error error = {0};
    assert_false(rbt_vtu_read_fields(RBT_SOURCE_DIR "/test/data/vtu/hexahedron.vtu", &mesh, &fields, &error));
    assert_string_equal(error.message, "1 cell is of type 12 (hexahedron), the first is cell 0: only vertex, line, "
                                       "triangle and tet cells are read, convert the others before");
    assert_true(!mesh.nodes && !mesh.tets && !fields.items && fields.count == 0);
    assert_null(rbt_mesh_read(RBT_SOURCE_DIR "/test/data/vtu/empty.vtu", &error));
    assert_string_equal(error.message, "the mesh is empty: it has no nodes");
}

static rbt_mesh *make_mesh(bool partition) {
    enum { N = 40 };
    rbt_error error = {0};
    rbt_mesh *mesh = rbt_mesh_new(&error);
    assert_true(rbt_mesh_allocate(mesh, N, N - 3, 5, 3, &error));
    for (int i = 0; i < 3 * N; i++) {  // doubles of all sizes and both signs
        uint64_t seed = draw();
        mesh->nodes[i] = ldexp((double)(int64_t)seed, (int)(seed >> 40) % 900 - 60);
    }
    mesh->nodes[0] = -0.0;
    mesh->nodes[1] = 5e-324;
    mesh->nodes[2] = 1.7976931348623157e308;
    for (int i = 0; i < 4 * (N - 3); i++) mesh->tets[i] = i / 4 + i % 4;
    for (int i = 0; i < 15; i++) mesh->triangles[i] = 2 * i;
    for (int i = 0; i < 6; i++) mesh->edges[i] = i;
    for (int32_t i = 0; i < N - 3; i++)
        if (partition || i != 5)
            assert_true(rbt_mesh_add_to_set(mesh, i % 3 ? "region 12" : "region -2", RBT_SET_TETS, &i, 1, &error));
    return mesh;
}

static void written_files_come_back(void **state) {
    (void)state;
    char folder[400], path[450];
    const char *place = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/rubato_vtk_XXXXXX", place && place[0] ? place : "/tmp");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/mesh.vtk", folder);
    for (int i = 0; i < 4; i++) {
        bool ascii = i & 1, partition = i & 2;
        rbt_error error = {0};
        rbt_mesh *mesh = make_mesh(partition);
        if (!rbt_mesh_write(mesh, path, ascii, &error)) fail_msg("%s", error.message);
        rbt_mesh *again = read_good(path);
        assert_string_equal(again->format, ascii ? "VTK legacy 3.0 ASCII" : "VTK legacy 3.0 binary");
        assert_int_equal(again->node_count, mesh->node_count);
        assert_memory_equal(again->nodes, mesh->nodes, mesh->node_count * 3 * sizeof(double));
        assert_int_equal(again->tet_count, mesh->tet_count);
        assert_memory_equal(again->tets, mesh->tets, mesh->tet_count * 4 * sizeof(int32_t));
        assert_int_equal(again->triangle_count, mesh->triangle_count);
        assert_memory_equal(again->triangles, mesh->triangles, mesh->triangle_count * 3 * sizeof(int32_t));
        assert_int_equal(again->edge_count, mesh->edge_count);
        assert_memory_equal(again->edges, mesh->edges, mesh->edge_count * 2 * sizeof(int32_t));
        assert_int_equal(again->set_count, partition ? 2 : 0);
        for (size_t k = 0; k < again->set_count; k++) {
            const rbt_mesh_set *set = rbt_mesh_find_set(mesh, again->sets[k].name);
            assert_non_null(set);
            assert_int_equal(again->sets[k].count, set->count);
            assert_memory_equal(again->sets[k].items, set->items, set->count * sizeof(int32_t));
        }
        rbt_mesh_free(mesh);
        rbt_mesh_free(again);
    }
    unlink(path);
    rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vtu_of_every_encoding),
        cmocka_unit_test(lz4_blocks),
        cmocka_unit_test(vtu_fields_of_every_encoding),
        cmocka_unit_test(legacy_files_of_vtk),
        cmocka_unit_test(legacy_polygons_by_hand),
        cmocka_unit_test(legacy_regions),
        cmocka_unit_test(vtu_by_hand),
        cmocka_unit_test(vtu_with_a_hexahedron),
        cmocka_unit_test(written_files_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
