#include "../support/cube.h"
#include "mesh/query/select.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

// A box of 3 x 3 x 3 cells over [0, 3]^3: 64 nodes, 162 tets.
static rbt_mesh *mesh;
static unsigned char chosen[162];
static rbt_error error;

static int set_up(void **state) {
    (void)state;
    mesh = cube_new(3, 3, 3, 3, 3, 3);
    const int32_t corner[] = {0, 1}, inside[] = {5, 0, 1}, faces[] = {0}, few[] = {0, 1, 5, 21, 63};
    mesh->triangles = realloc(mesh->triangles, 3 * sizeof(int32_t));
    mesh->triangle_count = 1;
    const int32_t triangle[] = {60, 61, 62};
    memcpy(mesh->triangles, triangle, sizeof triangle);
    return !(rbt_mesh_add_to_set(mesh, "corner", RBT_SET_NODES, corner, 2, NULL) &&
             rbt_mesh_add_to_set(mesh, "core", RBT_SET_TETS, inside, 3, NULL) &&
             rbt_mesh_add_to_set(mesh, "top", RBT_SET_TRIANGLES, faces, 1, NULL) &&
             rbt_mesh_add_to_set(mesh, "few", RBT_SET_NODES, few, 5, NULL) && rbt_mesh_finish_sets(mesh, NULL));
}

static int tear_down(void **state) {
    (void)state;
    rbt_mesh_free(mesh);
    return 0;
}

static rbt_select_context context_of(const rbt_named_selection *named, size_t count) {
    return (rbt_select_context){mesh, named, count, "scene.json", "bodies[0].fixed[0]", true};
}

static size_t sum(size_t count) {
    size_t n = 0;
    for (size_t i = 0; i < count; i++) n += chosen[i];
    return n;
}

static size_t nodes_in(int which, const void *value) {
    rbt_select_context c = context_of(NULL, 0);
    rbt_selection where = {which, value};
    memset(chosen, 7, sizeof chosen);  // every byte must be written
    if (!rbt_select_nodes(&c, &where, chosen, &error)) fail_msg("%s", error.message);
    return sum(64);
}

static size_t tets_in(int which, const void *value) {
    rbt_select_context c = context_of(NULL, 0);
    rbt_selection where = {which, value};
    memset(chosen, 7, sizeof chosen);
    if (!rbt_select_tets(&c, &where, chosen, &error)) fail_msg("%s", error.message);
    return sum(162);
}

static void boxes(void **state) {
    (void)state;
    assert_int_equal(nodes_in(RBT_SELECT_BOX, &(rbt_select_box){{0, 0, 0}, {0, 3, 3}, false}), 16);
    assert_int_equal(nodes_in(RBT_SELECT_BOX, &(rbt_select_box){{0.5, 0.5, 0.5}, {2, 2, 2}, false}), 8);
    assert_int_equal(nodes_in(RBT_SELECT_BOX, &(rbt_select_box){{1, 0, 0}, {1, 1, 1}, true}), 16);
    assert_true(chosen[3] && !chosen[2]);
    assert_int_equal(nodes_in(RBT_SELECT_BOX, &(rbt_select_box){{0, 0, 0}, {1.0 / 3, 1, 1}, true}), 32);
    assert_int_equal(tets_in(RBT_SELECT_BOX, &(rbt_select_box){{0, 0, 0}, {1, 1, 1}, false}), 6);
    assert_int_equal(tets_in(RBT_SELECT_BOX, &(rbt_select_box){{0, 0, 0}, {1, 1, 0.334}, true}), 54);
}

static void spheres_planes_and_nearest(void **state) {
    (void)state;
    assert_int_equal(nodes_in(RBT_SELECT_SPHERE, &(rbt_select_sphere){{0, 0, 0}, 1}), 4);
    assert_int_equal(nodes_in(RBT_SELECT_PLANE, &(rbt_select_plane){{2, 9, 9}, {5, 0, 0}}), 32);
    assert_int_equal(nodes_in(RBT_SELECT_PLANE, &(rbt_select_plane){{0.5, 9, 9}, {-1, 0, 0}}), 16);
    assert_int_equal(nodes_in(RBT_SELECT_NEAREST, &(rbt_select_nearest){{3, 3, 3}, 1}), 1);
    assert_true(chosen[63]);
    // Eight nodes are equally near to the middle; the lower ones win.
    assert_int_equal(nodes_in(RBT_SELECT_NEAREST, &(rbt_select_nearest){{1.5, 1.5, 1.5}, 3}), 3);
    assert_true(chosen[21] && chosen[22] && chosen[25]);
    assert_int_equal(tets_in(RBT_SELECT_NEAREST, &(rbt_select_nearest){{0, 0, 0}, 6}), 6);
    for (int i = 0; i < 6; i++) assert_true(chosen[i]);
}

static void sets_and_lists(void **state) {
    (void)state;
    assert_int_equal(nodes_in(RBT_SELECT_SET, "corner"), 2);
    assert_int_equal(tets_in(RBT_SELECT_SET, "core"), 3);
    assert_true(chosen[0] && chosen[1] && chosen[5]);
    assert_int_equal(nodes_in(RBT_SELECT_SET, "top"), 3);
    assert_true(chosen[60] && chosen[61] && chosen[62]);
    // The three tets of "core" share the diagonal from 0 to 21.
    assert_int_equal(nodes_in(RBT_SELECT_SET, "core"), 7);
    assert_true(chosen[0] && chosen[21]);
    // Of the nodes of "few" only the first cell's tet 0-1-5-21 has all of its corners among them.
    assert_int_equal(tets_in(RBT_SELECT_SET, "few"), 1);
    assert_true(chosen[0]);
    assert_int_equal(nodes_in(RBT_SELECT_SET, "everything"), 64);
    assert_int_equal(tets_in(RBT_SELECT_SET, "everything"), 162);

    int items[] = {21, 5, 1, 0, 0};
    RBT_LIST(int) list = {5, items};
    assert_int_equal(nodes_in(RBT_SELECT_NODES, &list), 4);
    assert_int_equal(tets_in(RBT_SELECT_NODES, &list), 1);
}

static void combinations(void **state) {
    (void)state;
    rbt_select_box left = {{0, 0, 0}, {0, 1, 1}, true}, bottom = {{0, 0, 0}, {1, 1, 0}, true};
    rbt_selection both[] = {{RBT_SELECT_BOX, &left}, {RBT_SELECT_BOX, &bottom}};
    RBT_LIST(rbt_selection) list = {2, both};
    assert_int_equal(nodes_in(RBT_SELECT_ALL, &list), 4);
    assert_int_equal(nodes_in(RBT_SELECT_ANY, &list), 28);
    assert_int_equal(nodes_in(RBT_SELECT_NOT, &both[0]), 48);
    rbt_selection any = {RBT_SELECT_ANY, &list};
    assert_int_equal(nodes_in(RBT_SELECT_NOT, &any), 36);
}

static void named_selections_come_first(void **state) {
    (void)state;
    rbt_select_box left = {{0, 0, 0}, {0, 1, 1}, true};
    rbt_selection corner = {RBT_SELECT_SET, "left"};
    const rbt_named_selection named[] = {{"left", {RBT_SELECT_BOX, &left}}, {"corner", {RBT_SELECT_NOT, &corner}}};
    rbt_select_context c = context_of(named, 2);
    assert_true(rbt_select_nodes(&c, &(rbt_selection){RBT_SELECT_SET, "corner"}, chosen, &error));
    assert_int_equal(sum(64), 48);  // the body's own "corner", not the file's
}

static void nothing_may_be_allowed(void **state) {
    (void)state;
    rbt_select_context c = context_of(NULL, 0);
    c.must_match = false;
    rbt_select_sphere far = {{9, 9, 9}, 1};
    assert_true(rbt_select_nodes(&c, &(rbt_selection){RBT_SELECT_SPHERE, &far}, chosen, &error));
    assert_int_equal(sum(64), 0);
    RBT_LIST(rbt_selection) none = {0, NULL};
    assert_true(rbt_select_nodes(&c, &(rbt_selection){RBT_SELECT_ALL, &none}, chosen, &error));
    assert_int_equal(sum(64), 0);
}

static void expect(const rbt_select_context *c, bool of_tets, rbt_selection where, const char *sentence) {
    char text[2048];
    assert_false((of_tets ? rbt_select_tets : rbt_select_nodes)(c, &where, chosen, &error));
    assert_string_equal(rbt_error_text(&error, text, sizeof text), sentence);
}

static void sentences(void **state) {
    (void)state;
    rbt_select_context c = context_of(NULL, 0);
#define AT "scene.json: bodies[0].fixed[0]"
    expect(&c, false, (rbt_selection){RBT_SELECT_SET, "conrer"},
           AT ".set: there is no set \"conrer\"; did you mean \"corner\"?");
    expect(&c, false, (rbt_selection){RBT_SELECT_SET, "handle"},
           AT ".set: there is no set \"handle\"; known are \"corner\", \"core\", \"top\", \"few\", \"everything\"");
    expect(&c, false, (rbt_selection){RBT_SELECT_SPHERE, &(rbt_select_sphere){{9, 9, 9}, 1}},
           AT ": selects none of the 64 nodes; the body reaches from (0, 0, 0) to (3, 3, 3) m");
    expect(&c, true, (rbt_selection){RBT_SELECT_SET, "top"},
           AT ": selects none of the 162 tets; the body reaches from (0, 0, 0) to (3, 3, 3) m");
    expect(&c, false, (rbt_selection){RBT_SELECT_SPHERE, &(rbt_select_sphere){{0, 0, 0}, -1}},
           AT ".sphere: the radius is -1; it must be at least 0");
    expect(&c, false, (rbt_selection){RBT_SELECT_PLANE, &(rbt_select_plane){{0, 0, 0}, {0, 0, 0}}},
           AT ".plane: the normal is (0, 0, 0); it must have a direction");
    expect(&c, false, (rbt_selection){RBT_SELECT_NEAREST, &(rbt_select_nearest){{0, 0, 0}, 65}},
           AT ".nearest: count is 65, but the body has only 64 nodes");
    expect(&c, false, (rbt_selection){RBT_SELECT_NEAREST, &(rbt_select_nearest){{0, 0, 0}, 0}},
           AT ".nearest: count is 0; it must be at least 1");
    expect(&c, false, (rbt_selection){-1, NULL}, AT ": a selection is missing; \"everything\" takes all nodes");

    int items[] = {3, 64};
    RBT_LIST(int) list = {2, items};
    expect(&c, true, (rbt_selection){RBT_SELECT_NODES, &list},
           AT ".nodes[1]: there is no node 64: the body has 64 nodes (0 to 63)");
    rbt_select_box wrong = {{0, 2, 0}, {1, 1, 1}, false};
    rbt_selection inner = {RBT_SELECT_BOX, &wrong},
                  not [] = {{RBT_SELECT_SET, "everything"}, {RBT_SELECT_NOT, &inner}};
    RBT_LIST(rbt_selection) all = {2, not };
    expect(&c, false, (rbt_selection){RBT_SELECT_ALL, &all},
           AT ".all[1].not.box: min is 2 and max 1 along y; a box needs min <= max");
}

static void sentences_about_named_selections(void **state) {
    (void)state;
    rbt_selection b = {RBT_SELECT_SET, "b"}, wrong = {RBT_SELECT_SET, "tap"};
    RBT_LIST(rbt_selection) list = {1, &wrong};
    const rbt_named_selection named[] = {
        {"a", {RBT_SELECT_NOT, &b}}, {"b", {RBT_SELECT_SET, "a"}}, {"lid", {RBT_SELECT_ANY, &list}}};
    rbt_select_context c = context_of(named, 3);
    expect(&c, false, (rbt_selection){RBT_SELECT_SET, "a"},
           AT ".set: selection \"a\", needed by \"b\", needed by \"a\", is defined by itself");
    expect(&c, false, (rbt_selection){RBT_SELECT_SET, "lid"},
           AT ".set: selection \"lid\": there is no set \"tap\"; did you mean \"top\"?");
}

static void a_very_long_path_is_cut(void **state) {
    (void)state;
    rbt_selection chain[200];
    RBT_LIST(rbt_selection) list[200];
    chain[0] = (rbt_selection){RBT_SELECT_SET, "nowhere"};
    for (int i = 1; i < 200; i++) {
        list[i].count = 1;
        list[i].items = &chain[i - 1];
        chain[i] = (rbt_selection){RBT_SELECT_ANY, &list[i]};
    }
    rbt_select_context c = context_of(NULL, 0);
    assert_false(rbt_select_nodes(&c, &chain[199], chosen, &error));
    assert_int_equal(strlen(error.path), sizeof error.path - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes),
        cmocka_unit_test(spheres_planes_and_nearest),
        cmocka_unit_test(sets_and_lists),
        cmocka_unit_test(combinations),
        cmocka_unit_test(named_selections_come_first),
        cmocka_unit_test(nothing_may_be_allowed),
        cmocka_unit_test(sentences),
        cmocka_unit_test(sentences_about_named_selections),
        cmocka_unit_test(a_very_long_path_is_cut),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
