// gmsh meshes: every version and encoding gives the same mesh, and what is written reads back to the same bits.
#include "mesh/core/build.h"
#include "mesh/io/format.h"

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

// Bytes of a file being made, text and binary in either byte order.
typedef struct maker {
    char bytes[4096];
    size_t size;
    bool swap;
} maker;

static void put(maker *m, const void *data, size_t size) {
    assert_true(m->size + size < sizeof m->bytes);
    const char *from = data;
    for (size_t i = 0; i < size; i++) m->bytes[m->size + i] = from[m->swap ? size - 1 - i : i];
    m->size += size;
}
static void put_text(maker *m, const char *text) {
    size_t n = strlen(text);
    assert_true(m->size + n < sizeof m->bytes);
    memcpy(m->bytes + m->size, text, n);
    m->size += n;
}
static void put_ints(maker *m, int count, const int *values) {
    for (int i = 0; i < count; i++) put(m, &values[i], 4);
}
static void put_sizes(maker *m, int count, const int *values) {
    for (int i = 0; i < count; i++) {
        uint64_t wide = (uint64_t)values[i];
        put(m, &wide, 8);
    }
}
static void put_reals(maker *m, int count, const double *values) {
    for (int i = 0; i < count; i++) put(m, &values[i], 8);
}
#define INTS(m, ...)  put_ints(m, (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)), (int[]){__VA_ARGS__})
#define SIZES(m, ...) put_sizes(m, (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)), (int[]){__VA_ARGS__})
#define REALS(m, ...) put_reals(m, (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), (double[]){__VA_ARGS__})

static rbt_mesh *read_as(const char *path, const void *data, size_t size, rbt_error *error) {
    rbt_bytes bytes = {malloc(size + 1), size};
    memcpy(bytes.data, data, size);
    bytes.data[size] = '\0';
    *error = (rbt_error){0};
    rbt_mesh *mesh = rbt_mesh_read_bytes(&RBT_MESH_FORMATS[0], path, &bytes, error);
    free(bytes.data);
    return mesh;
}

static rbt_mesh *must_read(const void *data, size_t size) {
    rbt_error error;
    char text[2000];
    rbt_mesh *mesh = read_as("test.msh", data, size, &error);
    if (!mesh) fail_msg("%s", rbt_error_text(&error, text, sizeof text));
    return mesh;
}

static void assert_set(const rbt_mesh *mesh, const char *name, rbt_set_kind kind, size_t count,
                       const int32_t *items) {
    const rbt_mesh_set *set = rbt_mesh_find_set(mesh, name);
    if (!set) fail_msg("no set \"%s\"", name);
    assert_int_equal(set->kind, kind);
    assert_int_equal(set->count, count);
    assert_memory_equal(set->items, items, count * sizeof *items);
}
#define ASSERT_SET(mesh, name, kind, ...)                                                                            \
    assert_set(mesh, name, kind, sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t), (int32_t[]){__VA_ARGS__})

// The mesh that all the files below describe: five nodes with tags 40, 10, 30, 7, 2000000000, two tets (groups "left"
// and "both"; "right" and "both"), a triangle ("skin"), a line ("rim") and a point ("pin").
static void assert_is_the_mesh(rbt_mesh *mesh, const char *format) {
    static const double nodes[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0.1, -1.5, 1e-3};
    static const int32_t tets[8] = {0, 1, 2, 3, 1, 2, 3, 4}, triangle[3] = {0, 1, 2}, line[2] = {3, 4};
    assert_string_equal(mesh->format, format);
    assert_int_equal(mesh->node_count, 5);
    assert_memory_equal(mesh->nodes, nodes, sizeof nodes);
    assert_int_equal(mesh->tet_count, 2);
    assert_memory_equal(mesh->tets, tets, sizeof tets);
    assert_int_equal(mesh->triangle_count, 1);
    assert_memory_equal(mesh->triangles, triangle, sizeof triangle);
    assert_int_equal(mesh->edge_count, 1);
    assert_memory_equal(mesh->edges, line, sizeof line);
    assert_int_equal(mesh->set_count, 6);
    ASSERT_SET(mesh, "left", RBT_SET_TETS, 0);
    ASSERT_SET(mesh, "right", RBT_SET_TETS, 1);
    ASSERT_SET(mesh, "both halves", RBT_SET_TETS, 0, 1);
    ASSERT_SET(mesh, "skin", RBT_SET_TRIANGLES, 0);
    ASSERT_SET(mesh, "physical curve 9", RBT_SET_NODES, 3, 4);
    ASSERT_SET(mesh, "pin \"A\"", RBT_SET_NODES, 2);
    rbt_mesh_free(mesh);
}

#define NAMES                                                                                                        \
    "$PhysicalNames\n5\n3 1 \"left\"\n3 2 \"right\"\n3 3 \"both halves\"\n2 1 \"skin\"\n0 4 \"pin \"A\"\"\n"         \
    "$EndPhysicalNames\n"

static void text_2_2(void **state) {
    (void)state;
    const char *text = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n" NAMES "$Comments\nnothing to see\n$EndComments\n"
                       "$Nodes\n5\n40 0 0 0\n10 1 0 0\n30 0 1 0\n7 0 0 1\n2000000000 0.1 -1.5 1e-3\n$EndNodes\n"
                       "$Elements\n7\n1 15 2 4 1 30\n2 1 2 9 1 7 2000000000\n3 2 2 -1 1 40 10 30\n"
                       "4 4 2 1 1 40 10 30 7\n4 4 2 3 1 40 10 30 7\n5 4 4 2 2 1 1 10 30 7 2000000000\n"
                       "5 4 2 3 2 10 30 7 2000000000\n$EndElements\n";
    assert_is_the_mesh(must_read(text, strlen(text)), "gmsh 2.2 ASCII");
}

static void text_4_0(void **state) {
    (void)state;
    const char *text = "$MeshFormat\r\n4 0 8\r\n$EndMeshFormat\n" NAMES
                       "$Entities\n1 1 1 2\n1 0 1 0 0 1 0 1 4\n1 0 0 0 1 1 1 1 9 1 1\n1 0 0 0 1 1 1 1 -1 1 1\n"
                       "1 0 0 0 1 1 1 2 1 3 1 1\n2 0 0 0 1 1 1 2 2 3 0\n$EndEntities\n"
                       "$Nodes\n2 5\n1 3 0 3\n40 0 0 0\n10 1 0 0\n30 0 1 0\n1 2 1 2\n7 0 0 1 0.5 0.5\n"
                       "2000000000 0.1 -1.5 1e-3 0 0\n$EndNodes\n"
                       "$Elements\n5 5\n1 0 15 1\n1 30\n1 1 1 1\n2 7 2000000000\n1 2 2 1\n3 40 10 30\n"
                       "1 3 4 1\n4 40 10 30 7\n2 3 4 1\n5 10 30 7 2000000000\n$EndElements\n"
                       "$Surface\n1\n1 2 3\n$EndSurface\n";
    assert_is_the_mesh(must_read(text, strlen(text)), "gmsh 4.0 ASCII");
}

static void text_4_1(void **state) {
    (void)state;
    const char *text = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n" NAMES
                       "$Entities\n1 1 1 2\n1 0 1 0 1 4\n1 0 0 0 1 1 1 1 9 2 1 -2\n1 0 0 0 1 1 1 1 1 1 1\n"
                       "1 0 0 0 1 1 1 2 1 3 1 1\n2 0 0 0 1 1 1 2 2 3 0\n$EndEntities\n"
                       "$Nodes\n2 5 7 2000000000\n3 1 0 3\n40\n10\n30\n0 0 0\n1 0 0\n0 1 0\n2 1 1 2\n7\n2000000000\n"
                       "0 0 1 0.5 0.5\n0.1 -1.5 1e-3 0 0\n$EndNodes\n"
                       "$Elements\n5 5 1 5\n0 1 15 1\n1 30\n1 1 1 1\n2 7 2000000000\n2 1 2 1\n3 40 10 30\n"
                       "3 2 4 1\n5 10 30 7 2000000000\n3 1 4 1\n4 40 10 30 7\n$EndElements\n";
    assert_is_the_mesh(must_read(text, strlen(text)), "gmsh 4.1 ASCII");
}

static void begin_binary(maker *m, const char *version, bool swap) {
    *m = (maker){.swap = swap};
    put_text(m, "$MeshFormat\n");
    put_text(m, version);
    put_text(m, " 1 8\n");
    INTS(m, 1);
    put_text(m, "\n$EndMeshFormat\n" NAMES);
}

static void binary_2_2(void **state) {
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        maker m;
        begin_binary(&m, "2.2", swap);
        put_text(&m, "$Nodes\n5\n");
        static const int tags[5] = {40, 10, 30, 7, 2000000000};
        static const double x[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0.1, -1.5, 1e-3};
        for (int i = 0; i < 5; i++) {
            INTS(&m, tags[i]);
            put_reals(&m, 3, x + 3 * i);
        }
        put_text(&m, "\n$EndNodes\n$Elements\n7\n");
        INTS(&m, 15, 1, 2, 1, 4, 1, 30);
        INTS(&m, 1, 1, 2, 2, 9, 1, 7, 2000000000);
        INTS(&m, 2, 1, 2, 3, 1, 1, 40, 10, 30);
        INTS(&m, 4, 2, 2, 4, 1, 1, 40, 10, 30, 7, 4, 3, 1, 40, 10, 30, 7);
        INTS(&m, 4, 1, 4, 5, 2, 2, 1, 1, 10, 30, 7, 2000000000);
        INTS(&m, 4, 1, 2, 5, 3, 2, 10, 30, 7, 2000000000);
        put_text(&m, "\n$EndElements\n");
        assert_is_the_mesh(must_read(m.bytes, m.size), "gmsh 2.2 binary");
    }
}

static void binary_4_0(void **state) {
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        maker m;
        begin_binary(&m, "4.0", swap);
        put_text(&m, "$Entities\n");
        SIZES(&m, 1, 1, 1, 2);
        INTS(&m, 1), REALS(&m, 0, 1, 0, 0, 1, 0), SIZES(&m, 1), INTS(&m, 4);
        INTS(&m, 1), REALS(&m, 0, 0, 0, 1, 1, 1), SIZES(&m, 1), INTS(&m, 9), SIZES(&m, 1), INTS(&m, 1);
        INTS(&m, 1), REALS(&m, 0, 0, 0, 1, 1, 1), SIZES(&m, 1), INTS(&m, 1), SIZES(&m, 1), INTS(&m, 1);
        INTS(&m, 1), REALS(&m, 0, 0, 0, 1, 1, 1), SIZES(&m, 2), INTS(&m, 1, 3), SIZES(&m, 0);
        INTS(&m, 2), REALS(&m, 0, 0, 0, 1, 1, 1), SIZES(&m, 2), INTS(&m, 2, 3), SIZES(&m, 0);
        put_text(&m, "\n$EndEntities\n$Nodes\n");
        SIZES(&m, 2, 5);
        INTS(&m, 1, 3, 0), SIZES(&m, 3);
        INTS(&m, 40), REALS(&m, 0, 0, 0), INTS(&m, 10), REALS(&m, 1, 0, 0), INTS(&m, 30), REALS(&m, 0, 1, 0);
        INTS(&m, 1, 1, 1), SIZES(&m, 2);
        INTS(&m, 7), REALS(&m, 0, 0, 1, 0.5), INTS(&m, 2000000000), REALS(&m, 0.1, -1.5, 1e-3, 1);
        put_text(&m, "\n$EndNodes\n$Elements\n");
        SIZES(&m, 5, 5);
        INTS(&m, 1, 0, 15), SIZES(&m, 1), INTS(&m, 1, 30);
        INTS(&m, 1, 1, 1), SIZES(&m, 1), INTS(&m, 2, 7, 2000000000);
        INTS(&m, 1, 2, 2), SIZES(&m, 1), INTS(&m, 3, 40, 10, 30);
        INTS(&m, 1, 3, 4), SIZES(&m, 1), INTS(&m, 4, 40, 10, 30, 7);
        INTS(&m, 2, 3, 4), SIZES(&m, 1), INTS(&m, 5, 10, 30, 7, 2000000000);
        put_text(&m, "\n$EndElements\n");
        assert_is_the_mesh(must_read(m.bytes, m.size), "gmsh 4.0 binary");
    }
}

static void binary_4_1(void **state) {
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        maker m;
        begin_binary(&m, "4.1", swap);
        put_text(&m, "$Entities\n");
        SIZES(&m, 1, 1, 1, 2);
        INTS(&m, 1), REALS(&m, 0, 1, 0), SIZES(&m, 1), INTS(&m, 4);
        INTS(&m, 1), REALS(&m, 0, 0, 0, 1, 1, 1), SIZES(&m, 1), INTS(&m, 9), SIZES(&m, 2), INTS(&m, 1, -2);
        INTS(&m, 1), REALS(&m, 0, 0, 0, 1, 1, 1), SIZES(&m, 1), INTS(&m, 1), SIZES(&m, 1), INTS(&m, 1);
        INTS(&m, 1), REALS(&m, 0, 0, 0, 1, 1, 1), SIZES(&m, 2), INTS(&m, 1, 3), SIZES(&m, 0);
        INTS(&m, 2), REALS(&m, 0, 0, 0, 1, 1, 1), SIZES(&m, 2), INTS(&m, 2, 3), SIZES(&m, 0);
        put_text(&m, "\n$EndEntities\n$Nodes\n");
        SIZES(&m, 2, 5, 7, 2000000000);
        INTS(&m, 3, 1, 0), SIZES(&m, 3), SIZES(&m, 40, 10, 30), REALS(&m, 0, 0, 0, 1, 0, 0, 0, 1, 0);
        INTS(&m, 2, 1, 1), SIZES(&m, 2), SIZES(&m, 7, 2000000000);
        REALS(&m, 0, 0, 1, 0.5, 0.5, 0.1, -1.5, 1e-3, 0, 0);
        put_text(&m, "\n$EndNodes\n$Elements\n");
        SIZES(&m, 5, 5, 1, 5);
        INTS(&m, 0, 1, 15), SIZES(&m, 1, 1, 30);
        INTS(&m, 1, 1, 1), SIZES(&m, 1, 2, 7, 2000000000);
        INTS(&m, 2, 1, 2), SIZES(&m, 1, 3, 40, 10, 30);
        INTS(&m, 3, 2, 4), SIZES(&m, 1, 5, 10, 30, 7, 2000000000);
        INTS(&m, 3, 1, 4), SIZES(&m, 1, 4, 40, 10, 30, 7);
        put_text(&m, "\n$EndElements\n$Unknown\n");
        REALS(&m, 1, 2, 3);
        put_text(&m, "\n$EndUnknown\n");
        assert_is_the_mesh(must_read(m.bytes, m.size), "gmsh 4.1 binary");
    }
}

static void entities_tell_parts_apart(void **state) {
    (void)state;
    // No physical groups: two volumes become sets, the single surface does not.
    const char *text =
        "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
        "$Nodes\n1 5 1 5\n3 1 0 5\n1\n2\n3\n4\n9000000000000\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 1 1\n$EndNodes\n"
        "$Elements\n3 3 1 3\n2 8 2 1\n1 1 2 3\n3 5 4 1\n2 1 2 3 4\n3 6 4 1\n3 2 3 4 9000000000000\n"
        "$EndElements\n";
    rbt_mesh *mesh = must_read(text, strlen(text));
    assert_int_equal(mesh->set_count, 2);
    ASSERT_SET(mesh, "volume 5", RBT_SET_TETS, 0);
    ASSERT_SET(mesh, "volume 6", RBT_SET_TETS, 1);
    assert_int_equal(mesh->tets[7], 4);
    rbt_mesh_free(mesh);
}

static void partitions_are_read(void **state) {
    (void)state;
    const char *text = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 7 \"body\"\n$EndPhysicalNames\n"
                       "$Entities\n0 0 0 1\n1 0 0 0 1 1 1 1 7 0\n$EndEntities\n"
                       "$PartitionedEntities\n2\n1\n9 1\n1 0 0 2\n5 3 1 2 1 2 0 0 0 0\n"
                       "2 3 1 1 1 0 0 0 1 1 1 1 7 0\n3 3 1 1 2 0 0 0 1 1 1 1 7 0\n$EndPartitionedEntities\n"
                       "$Nodes\n1 5 1 5\n3 2 0 5\n1\n2\n3\n4\n5\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 1 1\n$EndNodes\n"
                       "$Elements\n2 2 1 2\n3 2 4 1\n1 1 2 3 4\n3 3 4 1\n2 2 3 4 5\n$EndElements\n"
                       "$GhostElements\n1\n1 2 1 1\n$EndGhostElements\n";
    rbt_mesh *mesh = must_read(text, strlen(text));
    assert_int_equal(mesh->tet_count, 2);
    assert_int_equal(mesh->set_count, 1);
    ASSERT_SET(mesh, "body", RBT_SET_TETS, 0, 1);
    rbt_mesh_free(mesh);
}

static void fill(rbt_mesh *mesh, rbt_error *error) {
    static const double nodes[18] = {0.1, -0.0, 0,       1.0 / 3, DBL_MIN / 4, 0, 0, 1e300, 0,
                                     0,   0,    -1e-300, DBL_MAX, 1,           1, 2, 2,     2};
    static const int32_t tets[] = {0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 5, 0, 1, 4, 5}, triangles[] = {0, 1, 2, 3, 4, 5};
    assert_true(rbt_mesh_allocate(mesh, 6, 4, 2, 1, error));
    memcpy(mesh->nodes, nodes, sizeof nodes);
    memcpy(mesh->tets, tets, sizeof tets);
    memcpy(mesh->triangles, triangles, sizeof triangles);
    mesh->edges[0] = 5;
    assert_true(rbt_mesh_add_to_set(mesh, "odd", RBT_SET_TETS, (int32_t[]){1, 3}, 2, error));
    assert_true(rbt_mesh_add_to_set(mesh, "big", RBT_SET_TETS, (int32_t[]){2, 3}, 2, error));
    assert_true(rbt_mesh_add_to_set(mesh, "same as odd", RBT_SET_TETS, (int32_t[]){1, 3}, 2, error));
    assert_true(rbt_mesh_add_to_set(mesh, "top", RBT_SET_TRIANGLES, (int32_t[]){1}, 1, error));
    assert_true(rbt_mesh_add_to_set(mesh, "constrained \"here\"", RBT_SET_NODES, (int32_t[]){0, 2, 5}, 3, error));
    assert_true(rbt_mesh_add_to_set(mesh, "loaded", RBT_SET_NODES, (int32_t[]){1, 2}, 2, error));
}

static void assert_same(const rbt_mesh *a, const rbt_mesh *b) {
    assert_int_equal(a->node_count, b->node_count);
    assert_memory_equal(a->nodes, b->nodes, a->node_count * 3 * sizeof(double));
    assert_int_equal(a->tet_count, b->tet_count);
    assert_memory_equal(a->tets, b->tets, a->tet_count * 4 * sizeof(int32_t));
    assert_int_equal(a->triangle_count, b->triangle_count);
    assert_memory_equal(a->triangles, b->triangles, a->triangle_count * 3 * sizeof(int32_t));
    assert_int_equal(a->edge_count, b->edge_count);
    assert_memory_equal(a->edges, b->edges, a->edge_count * 2 * sizeof(int32_t));
    assert_int_equal(a->set_count, b->set_count);
    for (size_t i = 0; i < a->set_count; i++)
        assert_set(b, a->sets[i].name, a->sets[i].kind, a->sets[i].count, a->sets[i].items);
}

typedef struct folder {
    char path[400], file[500];
} folder;

static folder make_folder(const char *name) {
    folder f;
    const char *base = getenv("TMPDIR");
    snprintf(f.path, sizeof f.path, "%s/rubato-mesh-XXXXXX", base ? base : "/tmp");
    assert_non_null(mkdtemp(f.path));
    snprintf(f.file, sizeof f.file, "%s/%s", f.path, name);
    return f;
}

static void round_trip(void **state) {
    (void)state;
    folder f = make_folder("mesh.msh");
    for (int ascii = 0; ascii < 2; ascii++)
        for (int plain = 0; plain < 3; plain++) {
            rbt_error error = {0};
            rbt_mesh *mesh = rbt_mesh_new(&error);
            fill(mesh, &error);
            if (plain == 1) {  // without sets
                for (size_t i = 0; i < mesh->set_count; i++) free(mesh->sets[i].name), free(mesh->sets[i].items);
                mesh->set_count = 0;
            }
            if (plain == 2) {  // points only
                rbt_mesh_clear(mesh);
                assert_true(rbt_mesh_allocate(mesh, 3, 0, 0, 0, &error));
                mesh->nodes[4] = 0.1;
            }
            assert_true(rbt_mesh_write(mesh, f.file, ascii, &error));
            rbt_mesh *back = rbt_mesh_read(f.file, &error);
            if (!back) fail_msg("%s", error.message);
            assert_string_equal(back->format, ascii ? "gmsh 4.1 ASCII" : "gmsh 4.1 binary");
            assert_same(mesh, back);
            rbt_mesh_free(mesh);
            rbt_mesh_free(back);
        }
    unlink(f.file);
    assert_int_equal(rmdir(f.path), 0);
}

// Some programs read physical groups of all entities or of none (meshio 5 fails on others; read with it by hand, the
// test looks at the file). Counts entities with groups and without in the text of $Entities: points are "tag x y z
// count groups…", the others "tag box of 6 count groups… count bounding".
static void count_groups(const char *text, int *with, int *without) {
    int counts[4], length;
    *with = *without = 0;
    text = strstr(text, "$Entities\n") + 10;
    assert_int_equal(sscanf(text, "%d %d %d %d%n", &counts[0], &counts[1], &counts[2], &counts[3], &length), 4);
    for (int d = 0; d < 4; d++)
        for (int i = 0; i < counts[d]; i++) {
            int groups = -1, skipped = d ? 7 : 4;
            text = strchr(text, '\n') + 1;
            const char *at = text;
            while (skipped--) at = strchr(at, ' ') + 1;
            assert_int_equal(sscanf(at, "%d", &groups), 1);
            assert_true(groups >= 0);
            *(groups ? with : without) += 1;
        }
}

static void all_entities_have_groups_or_none(void **state) {
    (void)state;
    for (int sets = 0; sets < 2; sets++) {
        rbt_error error = {0};
        rbt_mesh *mesh = rbt_mesh_new(&error);
        fill(mesh, &error);
        if (!sets) {
            for (size_t i = 0; i < mesh->set_count; i++) free(mesh->sets[i].name), free(mesh->sets[i].items);
            mesh->set_count = 0;
        }
        char *text = NULL;
        size_t size;
        FILE *stream = open_memstream(&text, &size);
        assert_true(rbt_write_gmsh(mesh, stream, true, &error));
        fclose(stream);
        int with, without;
        count_groups(text, &with, &without);
        // tets: in none, odd, big, both; triangles: in none, top; the edge; points: constrained, loaded, both
        assert_int_equal(with, sets ? 10 : 0);
        assert_int_equal(without, sets ? 0 : 3);
        free(text);
        if (sets) {
            assert_true(rbt_mesh_add_to_set(mesh, "(in no set)", RBT_SET_TETS, (int32_t[]){0}, 1, &error));
            stream = open_memstream(&text, &size);
            assert_false(rbt_write_gmsh(mesh, stream, true, &error));
            fclose(stream);
            free(text);
            assert_string_equal(error.message, "set 6 is named \"(in no set)\", which stands for no set: rename it");
        }
        rbt_mesh_free(mesh);
    }
}

static void failed_write_leaves_nothing(void **state) {
    (void)state;
    folder f = make_folder("mesh.msh");
    rbt_error error = {0};
    rbt_mesh *mesh = rbt_mesh_new(&error);
    fill(mesh, &error);
    assert_true(rbt_mesh_add_to_set(mesh, "two\nlines", RBT_SET_TETS, (int32_t[]){0}, 1, &error));
    assert_false(rbt_mesh_write(mesh, f.file, true, &error));
    assert_string_equal(error.file, f.file);
    assert_string_equal(error.message, "the name of set 6 holds a line end, which a gmsh file cannot: rename it");
    char other[520];
    snprintf(other, sizeof other, "%s/mesh.inp", f.path);
    assert_false(rbt_mesh_write(mesh, other, true, &error));
    assert_string_equal(error.message,
                        "the ending \".inp\" is not one of the mesh formats that can be written: .msh .vtk .obj");
    snprintf(other, sizeof other, "%s/mesh.veg", f.path);
    assert_false(rbt_mesh_write(mesh, other, true, &error));
    assert_string_equal(error.message,
                        "the ending \".veg\" is not one of the mesh formats that can be written: .msh .vtk .obj");
    rbt_mesh_free(mesh);
    assert_int_equal(rmdir(f.path), 0);  // empty: no file and no half of one
}

static void many_interleaved_sets(void **state) {
    (void)state;
    enum { N = 500 };
    rbt_error error = {0};
    rbt_mesh *mesh = rbt_mesh_new(&error);
    assert_true(rbt_mesh_allocate(mesh, 4, N, 0, 0, &error));
    for (int32_t i = 0; i < 4 * N; i++) mesh->tets[i] = (i + i / 4) % 4;
    for (int bit = 0; bit < 9; bit++)
        for (int32_t i = 0; i < N; i++) {
            char name[16];
            snprintf(name, sizeof name, "bit %d", bit);
            if (i >> bit & 1) assert_true(rbt_mesh_add_to_set(mesh, name, RBT_SET_TETS, &i, 1, &error));
        }
    for (int ascii = 0; ascii < 2; ascii++) {
        rbt_bytes bytes = {0};
        FILE *stream = open_memstream(&bytes.data, &bytes.size);
        assert_true(rbt_write_gmsh(mesh, stream, ascii, &error));
        fclose(stream);
        rbt_mesh *back = must_read(bytes.data, bytes.size);
        assert_same(mesh, back);
        rbt_mesh_free(back);
        free(bytes.data);
    }
    rbt_mesh_free(mesh);
}

static void first_bytes_beat_the_ending(void **state) {
    (void)state;
    static const char text[] = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0 0\n$EndNodes\n";
    folder f = make_folder("mesh.txt");
    rbt_error error = {0};
    assert_true(rbt_file_write(f.file, text, sizeof text - 1, &error));
    rbt_mesh *mesh = rbt_mesh_read(f.file, &error);
    assert_non_null(mesh);
    assert_int_equal(mesh->node_count, 1);
    assert_non_null(mesh->tets);
    assert_int_equal(mesh->tet_count, 0);
    rbt_mesh_free(mesh);
    assert_true(rbt_file_write(f.file, "hello", 5, &error));
    assert_null(rbt_mesh_read(f.file, &error));
    assert_string_equal(error.file, f.file);
    assert_string_equal(error.message, "the ending \".txt\" is not one of the mesh formats that can be read: .msh "
                                       ".mesh .meshb .node .ele .veg .vtk .vtu .obj .stl .ply");
    unlink(f.file);
    assert_null(rbt_mesh_read(f.file, &error));
    assert_string_equal(error.message, "cannot open the file: No such file or directory");
    assert_int_equal(rmdir(f.path), 0);
}

static void shared_meshes(void **state) {
    (void)state;
    static const struct {
        const char *name;
        size_t nodes, tets;
    } known[] = {{"bunny5K", 4670, 19379}, {"horse7K", 7476, 31092}, {"bar17K", 17315, 86058}};
    for (int i = 0; i < 3; i++) {
        char path[600];
        rbt_error error = {0};
        snprintf(path, sizeof path, "%s/../shared/meshes/%s.msh", RBT_SOURCE_DIR, known[i].name);
        if (access(path, R_OK) != 0) {
            print_message("skipped: %s is not there\n", path);
            continue;
        }
        rbt_mesh *mesh = rbt_mesh_read(path, &error);
        if (!mesh) fail_msg("%s", error.message);
        assert_string_equal(mesh->format, "gmsh 4.0 ASCII");
        assert_int_equal(mesh->node_count, known[i].nodes);
        assert_int_equal(mesh->tet_count, known[i].tets);
        assert_int_equal(mesh->set_count, 0);
        rbt_mesh_free(mesh);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_2_2),
        cmocka_unit_test(text_4_0),
        cmocka_unit_test(text_4_1),
        cmocka_unit_test(binary_2_2),
        cmocka_unit_test(binary_4_0),
        cmocka_unit_test(binary_4_1),
        cmocka_unit_test(entities_tell_parts_apart),
        cmocka_unit_test(partitions_are_read),
        cmocka_unit_test(round_trip),
        cmocka_unit_test(all_entities_have_groups_or_none),
        cmocka_unit_test(failed_write_leaves_nothing),
        cmocka_unit_test(many_interleaved_sets),
        cmocka_unit_test(first_bytes_beat_the_ending),
        cmocka_unit_test(shared_meshes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
