// MEDIT (text and binary), TetGen and Vega meshes.
#include "mesh/core/build.h"
#include "mesh/io/format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct folder {
    char path[400], file[500];
} folder;

static folder make_folder(void) {
    folder f = {0};
    const char *base = getenv("TMPDIR");
    snprintf(f.path, sizeof f.path, "%s/rubato-mesh-XXXXXX", base ? base : "/tmp");
    assert_non_null(mkdtemp(f.path));
    return f;
}

static const char *in_folder(folder *f, const char *name) {
    snprintf(f->file, sizeof f->file, "%s/%s", f->path, name);
    return f->file;
}

static void write_file(folder *f, const char *name, const void *data, size_t size) {
    rbt_error error = {0};
    if (!rbt_file_write(in_folder(f, name), data, size, &error)) fail_msg("%s", error.message);
}

static rbt_mesh *must_read(const char *path) {
    rbt_error error = {0};
    char text[2000];
    rbt_mesh *mesh = rbt_mesh_read(path, &error);
    if (!mesh) fail_msg("%s", rbt_error_text(&error, text, sizeof text));
    return mesh;
}

static void assert_set(const rbt_mesh *mesh, const char *name, rbt_set_kind kind, size_t count,
                       const int32_t *items) {
    for (size_t i = 0; i < mesh->set_count; i++) {
        const rbt_mesh_set *set = &mesh->sets[i];
        if (set->kind != kind || strcmp(set->name, name) != 0) continue;
        assert_int_equal(set->count, count);
        assert_memory_equal(set->items, items, count * sizeof *items);
        return;
    }
    fail_msg("no set \"%s\"", name);
}
#define ASSERT_SET(mesh, name, kind, ...)                                                                            \
    assert_set(mesh, name, kind, sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t), (int32_t[]){__VA_ARGS__})

static void assert_nodes(const rbt_mesh *mesh) {
    static const double nodes[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0.25, 0, -1.5};
    assert_int_equal(mesh->node_count, 4);
    assert_memory_equal(mesh->nodes, nodes, sizeof nodes);
}

static void assert_is_medit(rbt_mesh *mesh, const char *format) {
    static const int32_t tets[8] = {0, 1, 2, 3, 3, 2, 1, 0}, triangle[3] = {0, 1, 2}, edge[2] = {0, 3};
    assert_string_equal(mesh->format, format);
    assert_nodes(mesh);
    assert_int_equal(mesh->tet_count, 2);
    assert_memory_equal(mesh->tets, tets, sizeof tets);
    assert_int_equal(mesh->triangle_count, 1);
    assert_memory_equal(mesh->triangles, triangle, sizeof triangle);
    assert_int_equal(mesh->edge_count, 1);
    assert_memory_equal(mesh->edges, edge, sizeof edge);
    assert_int_equal(mesh->set_count, 5);
    ASSERT_SET(mesh, "ref 3", RBT_SET_TETS, 0);
    ASSERT_SET(mesh, "ref 12", RBT_SET_TETS, 1);
    ASSERT_SET(mesh, "ref 3", RBT_SET_TRIANGLES, 0);
    ASSERT_SET(mesh, "ref 1", RBT_SET_NODES, 0, 3);
    ASSERT_SET(mesh, "ref -5", RBT_SET_NODES, 1, 3);
    assert_int_equal(rbt_mesh_find_set(mesh, "ref 3")->kind, RBT_SET_TETS);  // the highest dimension is found first
    rbt_mesh_free(mesh);
}

static void medit_text(void **state) {
    (void)state;
    static const char text[] =
        "MeshVersionFormatted 2\n\nDimension\n3\n# four\nVertices\n4\n0 0 0 0\n1 0 0 -5\n"
        "0 1 0 0\n0.25 0 -1.5 -5\nCorners 2\n1\n2\nEdges\n1\n1 4 1\nTriangles\n1\n1 2 3 3\n"
        "Quadrilaterals\n0\nTetrahedra\n2\n1 2 3 4 3\n4 3 2 1 12\nNormals\n1\n0 -0.5 1\n\nEnd\n";
    folder f = make_folder();
    write_file(&f, "a.mesh", text, sizeof text - 1);
    assert_is_medit(must_read(f.file), "MEDIT ASCII");
    unlink(f.file);
    assert_int_equal(rmdir(f.path), 0);
}

// Builds .meshb files: a keyword is number, place of the next keyword, data.
typedef struct maker {
    char bytes[2048];
    size_t size, next;  // next: where the place of the next keyword is to be filled in
    int version;
    bool swap;
} maker;

static void put_bytes(maker *m, size_t at, const void *data, size_t size) {
    const char *from = data;
    assert_true(at + size < sizeof m->bytes);
    for (size_t i = 0; i < size; i++) m->bytes[at + i] = from[m->swap ? size - 1 - i : i];
}
static void put_int(maker *m, int64_t value, size_t size) {
    int32_t narrow = (int32_t)value;
    put_bytes(m, m->size, size == 8 ? (void *)&value : &narrow, size);
    m->size += size;
}
static void put_keyword(maker *m, int code) {
    size_t width = m->version >= 3 ? 8 : 4, here = m->size;
    if (m->next) {
        m->size = m->next;
        put_int(m, (int64_t)here, width);
        m->size = here;
    }
    put_int(m, code, 4);
    m->next = m->size;
    put_int(m, 0, width);
}
static void put_numbers(maker *m, int count, const int *values) {
    for (int i = 0; i < count; i++) put_int(m, values[i], m->version == 4 ? 8 : 4);
}
#define NUMBERS(m, ...) put_numbers(m, (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)), (int[]){__VA_ARGS__})

static void medit_binary(void **state) {
    (void)state;
    static const double nodes[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0.25, 0, -1.5};
    static const int references[4] = {0, -5, 0, -5};
    folder f = make_folder();
    for (int version = 1; version <= 4; version++)
        for (int swap = 0; swap < 2; swap++) {
            maker m = {.version = version, .swap = swap};
            put_int(&m, 1, 4);
            put_int(&m, version, 4);
            put_keyword(&m, 3);
            put_int(&m, 3, 4);
            put_keyword(&m, 4);
            NUMBERS(&m, 4);
            for (int i = 0; i < 4; i++) {
                for (int k = 0; k < 3; k++) {
                    float single = (float)nodes[3 * i + k];
                    size_t width = version == 1 ? 4 : 8;
                    put_bytes(&m, m.size, version == 1 ? (void *)&single : (const void *)&nodes[3 * i + k], width);
                    m.size += width;
                }
                NUMBERS(&m, references[i]);
            }
            put_keyword(&m, 13);  // Corners
            NUMBERS(&m, 2, 1, 2);
            put_keyword(&m, 5);
            NUMBERS(&m, 1, 1, 4, 1);
            put_keyword(&m, 6);
            NUMBERS(&m, 1, 1, 2, 3, 3);
            put_keyword(&m, 7);
            NUMBERS(&m, 0);
            put_keyword(&m, 8);
            NUMBERS(&m, 2, 1, 2, 3, 4, 3, 4, 3, 2, 1, 12);
            put_keyword(&m, 54);
            char format[40];
            snprintf(format, sizeof format, "MEDIT binary, version %d", version);
            write_file(&f, "a.meshb", m.bytes, m.size);
            assert_is_medit(must_read(f.file), format);
        }
    unlink(f.file);
    assert_int_equal(rmdir(f.path), 0);
}

static void tetgen_pair(void **state) {
    (void)state;
    static const char nodes_1[] = "# made by hand\n4 3 1 1 # header\n\n1 0 0 0 9.5 0\n2 1 0 0 9.5 3\n"
                                  "  3 0 1 0 9.5 3\n4 0.25 0 -1.5 9.5 -1\n# end\n";
    static const char tets_1[] = "2 4 1\n1 1 2 3 4 2\n2 4 3 2 1 0.5\n";
    static const char nodes_0[] = "4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0.25 0 -1.5\n";
    static const char tets_0[] = "2 4 0\n0 0 1 2 3\n1 3 2 1 0\n";
    static const int32_t tets[8] = {0, 1, 2, 3, 3, 2, 1, 0};
    folder f = make_folder();
    for (int base = 0; base < 2; base++)
        for (int half = 0; half < 2; half++) {
            write_file(&f, "a.node", base ? nodes_1 : nodes_0, strlen(base ? nodes_1 : nodes_0));
            write_file(&f, "a.ele", base ? tets_1 : tets_0, strlen(base ? tets_1 : tets_0));
            rbt_mesh *mesh = must_read(in_folder(&f, half ? "a.ele" : "a.node"));
            assert_string_equal(mesh->format, "TetGen .node and .ele");
            assert_nodes(mesh);
            assert_int_equal(mesh->tet_count, 2);
            assert_memory_equal(mesh->tets, tets, sizeof tets);
            assert_int_equal(mesh->set_count, base ? 3 : 0);
            if (base) {
                ASSERT_SET(mesh, "marker 3", RBT_SET_NODES, 1, 2);
                ASSERT_SET(mesh, "marker -1", RBT_SET_NODES, 3);
                ASSERT_SET(mesh, "region 2", RBT_SET_TETS, 0);
            }
            rbt_mesh_free(mesh);
        }
    unlink(in_folder(&f, "a.ele"));
    rbt_mesh *points = must_read(in_folder(&f, "a.node"));
    assert_string_equal(points->format, "TetGen .node");
    assert_nodes(points);
    assert_int_equal(points->tet_count, 0);
    assert_non_null(points->tets);
    rbt_mesh_free(points);
    unlink(f.file);

    rbt_error error = {0};
    char sentence[700];
    write_file(&f, "b.ele", tets_0, sizeof tets_0 - 1);
    assert_null(rbt_mesh_read(f.file, &error));
    snprintf(sentence, sizeof sentence, "the other half of the mesh, %s/b.node, is missing", f.path);
    assert_string_equal(error.message, sentence);
    unlink(f.file);
    assert_int_equal(rmdir(f.path), 0);
}

static void vega(void **state) {
    (void)state;
    static const char from_1[] =
        "# Vega mesh file.\n\n*VERTICES\n4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0.25 0 -1.5\n\n*ELEMENTS\nTET\n2 4 0\n"
        "1 1 2 3 4\n2 4 3 2 1\n\n*MATERIAL soft\nENU, 1000, 1e6, 0.45\n\n*SET left, upper\n2, 1,\n2\n\n"
        "*SET tip # of the nose\n*SET tip\n2\n*REGION\ntip, soft\n";
    static const char from_0[] = "*VERTICES\n4,3,0,0\n0,0,0,0\n1,1,0,0\n2,0,1,0\n3,0.25,0,-1.5\n*ELEMENTS\nTETS\n"
                                 "2,4,0\n0,0,1,2,3\n1,3,2,1,0\n*SET tip\n1\n*SET left, upper\n0,1";
    static const int32_t tets[8] = {0, 1, 2, 3, 3, 2, 1, 0};
    folder f = make_folder();
    for (int base = 0; base < 2; base++) {
        write_file(&f, "a.veg", base ? from_1 : from_0, strlen(base ? from_1 : from_0));
        rbt_mesh *mesh = must_read(f.file);
        assert_string_equal(mesh->format, "Vega .veg");
        assert_nodes(mesh);
        assert_int_equal(mesh->tet_count, 2);
        assert_memory_equal(mesh->tets, tets, sizeof tets);
        assert_int_equal(mesh->set_count, 2);
        ASSERT_SET(mesh, "left, upper", RBT_SET_TETS, 0, 1);
        ASSERT_SET(mesh, "tip", RBT_SET_TETS, 1);
        rbt_mesh_free(mesh);
    }
    unlink(f.file);
    assert_int_equal(rmdir(f.path), 0);
}

static void equal_names_are_joined(void **state) {
    (void)state;
    static const char text[] = "*VERTICES\n4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n*ELEMENTS\nTET\n3 4 0\n"
                               "1 1 2 3 4\n2 1 2 3 4\n3 1 2 3 4\n*SET a\n3\n*SET b\n2\n*SET a\n1 3\n";
    folder f = make_folder();
    write_file(&f, "a.veg", text, sizeof text - 1);
    rbt_mesh *mesh = must_read(f.file);
    assert_int_equal(mesh->set_count, 2);
    ASSERT_SET(mesh, "a", RBT_SET_TETS, 0, 2);
    ASSERT_SET(mesh, "b", RBT_SET_TETS, 1);
    rbt_mesh_free(mesh);
    unlink(f.file);
    assert_int_equal(rmdir(f.path), 0);
}

static void shared_meshes(void **state) {
    (void)state;
    static const struct {
        const char *name;
        size_t nodes, tets, sets;
    } known[] = {
        {"asianDragon.veg", 959, 2591, 1}, {"comb.tet.veg", 1623, 5844, 0}, {"dragon-coarse.tet.veg", 197, 552, 0},
        {"honeycomb.node", 3642, 9850, 0}, {"moebius.ele", 5829, 16857, 0}, {"tree.node", 24533, 79217, 0},
        {"bridge.node", 30133, 99455, 0},  {"arma_3.ele", 1475, 4902, 0},   {"arma_5.node", 726, 2516, 0}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        char path[600];
        snprintf(path, sizeof path, "%s/../shared/meshes/%s", RBT_SOURCE_DIR, known[i].name);
        if (access(path, R_OK) != 0) {
            print_message("skipped: %s is not there\n", path);
            continue;
        }
        rbt_mesh *mesh = must_read(path);
        assert_int_equal(mesh->node_count, known[i].nodes);
        assert_int_equal(mesh->tet_count, known[i].tets);
        assert_int_equal(mesh->set_count, known[i].sets);
        rbt_mesh_free(mesh);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(medit_text), cmocka_unit_test(medit_binary),           cmocka_unit_test(tetgen_pair),
        cmocka_unit_test(vega),       cmocka_unit_test(equal_names_are_joined), cmocka_unit_test(shared_meshes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
