// Checkpoints: the same bits come back, and every damaged file is refused with a sentence.
#include "../support/out_model.h"
#include "base/file.h"
#include "model/fingerprint.h"
#include "out/checkpoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
// cmocka needs the headers above
#include <cmocka.h>

typedef struct scene {
    char *folder, path[512];
    out_model *o;
    rbt_state s;
} scene;

static scene make(void) {
    scene c = {.folder = out_folder_new(), .o = out_model_new(1, 2, false)};
    c.s = out_state_new(&c.o->model, 7);
    c.s.step = 1;
    c.s.x[0] = -0.0;
    c.s.x[1] = 4.9406564584124654e-324;
    c.s.v[2] = 1.7976931348623157e308;
    c.s.tally = (rbt_tally){25, 3, 12.5, 0.1, {.looks = 3, .energy = -2, .work = 4, .scale = 9, .gain = 0.5}};
    c.s.memory_size = 13;
    c.s.memory = malloc(13);
    memcpy(c.s.memory, "a\0b memory \xff\n", 13);
    snprintf(c.path, sizeof c.path, "%s/checkpoints/000007.rbt", c.folder);
    char inside[512];
    snprintf(inside, sizeof inside, "%s/checkpoints", c.folder);
    assert_true(rbt_folder_make(inside, NULL));
    assert_true(rbt_checkpoint_write(c.path, &c.o->model, &c.s, NULL));
    return c;
}

static void unmake(scene *c) {
    out_state_free(&c->s);
    out_model_free(c->o);
    out_folder_remove(c->folder);
}

static void expect_same(const rbt_state *a, const rbt_state *b) {
    assert_int_equal(a->frame, b->frame);
    assert_int_equal(a->step, b->step);
    assert_memory_equal(&a->t, &b->t, sizeof a->t);
    assert_int_equal(a->node_count, b->node_count);
    assert_memory_equal(&a->tally, &b->tally, sizeof a->tally);
    assert_memory_equal(a->x, b->x, 3 * a->node_count * sizeof *a->x);
    assert_memory_equal(a->v, b->v, 3 * a->node_count * sizeof *a->v);
    assert_int_equal(a->memory_size, b->memory_size);
    if (a->memory_size) assert_memory_equal(a->memory, b->memory, a->memory_size);
}

static void same_bits_come_back(void **unused) {
    (void)unused;
    scene c = make();
    rbt_state back;
    rbt_error e;
    assert_true(rbt_checkpoint_read(c.path, &c.o->model, RBT_SAME_MODEL, &back, &e));
    expect_same(&back, &c.s);
    out_state_free(&back);
    free(c.s.memory);
    c.s.memory = NULL;
    c.s.memory_size = 0;
    assert_true(rbt_checkpoint_write(c.path, &c.o->model, &c.s, NULL));
    assert_true(rbt_checkpoint_read(c.path, NULL, RBT_SAME_MODEL, &back, &e));
    expect_same(&back, &c.s);
    assert_null(back.memory);
    out_state_free(&back);
    unmake(&c);
}

static void every_cut_is_refused(void **unused) {
    (void)unused;
    scene c = make();
    rbt_bytes b;
    assert_true(rbt_file_read(c.path, &b, NULL));
    for (size_t n = 0; n < b.size; n++) {
        rbt_state back;
        rbt_error e = {0};
        char *cut = malloc(n + 1);  // exact size, so that the sanitizer sees a byte read too far
        memcpy(cut, b.data, n);
        assert_false(rbt_checkpoint_parse("cut", cut, n, &c.o->model, RBT_SAME_MODEL, &back, &e));
        assert_string_equal(e.file, "cut");
        if (n < 8) assert_string_equal(e.message, "is not a checkpoint: it does not begin with RBTCKPT1");
        else if (n < 408) assert_non_null(strstr(e.message, "is cut short: "));
        else assert_non_null(strstr(e.message, "is cut short or has grown: "));
        assert_null(back.x);
        free(cut);
    }
    free(b.data);
    unmake(&c);
}

static void every_flipped_bit_is_refused(void **unused) {
    (void)unused;
    scene c = make();
    rbt_bytes b;
    assert_true(rbt_file_read(c.path, &b, NULL));
    for (size_t bit = 0; bit < 8 * b.size; bit++) {
        rbt_state back;
        rbt_error e = {0};
        b.data[bit / 8] ^= (char)(1 << bit % 8);
        assert_false(rbt_checkpoint_parse("bit", b.data, b.size, &c.o->model, RBT_SAME_MODEL, &back, &e));
        assert_true(strlen(e.message) > 10);
        if (bit >= 8 * 400) assert_non_null(strstr(e.message, "is damaged: its checksum is "));
        b.data[bit / 8] ^= (char)(1 << bit % 8);
    }
    free(b.data);
    unmake(&c);
}

// Damage with a checksum that fits: every number of the head is judged by itself.
static void heads_that_lie(void **unused) {
    (void)unused;
    static const struct {
        size_t offset;
        uint64_t value;
        const char *sentence;
    } lies[] = {
        {24, (uint64_t)-1, "has frame -1, step 1 and time 0.233333, which no run can have"},
        {32, (uint64_t)-5, "has frame 7, step -5 and time 0.233333, which no run can have"},
        {40, 0x7ff0000000000000u, "has frame 7, step 1 and time inf, which no run can have"},
        {48, 13,
         "has 589 bytes of data, which does not fit 13 nodes, 13 bytes of memory, 0 bytes about cuts, 0 of "
         "forces and 0 of a watch"},
        {48, UINT64_MAX,
         "has 589 bytes of data, which does not fit 18446744073709551615 nodes, 13 bytes of memory, 0 bytes about "
         "cuts, 0 of "
         "forces and 0 of a watch"},
        {56, 1u << 30,
         "has 589 bytes of data, which does not fit 12 nodes, 1073741824 bytes of memory, 0 bytes about cuts, 0 of "
         "forces and 0 of a watch"},
        {64, 1u << 30,
         "has 1073741824 bytes of data, which does not fit 12 nodes, 13 bytes of memory, 0 bytes about cuts, 0 of "
         "forces and 0 of a watch"},
        {368, 5,
         "has 589 bytes of data, which does not fit 12 nodes, 13 bytes of memory, 5 bytes about cuts, 0 of "
         "forces and 0 of a watch"},
        {376, 7,
         "has 589 bytes of data, which does not fit 12 nodes, 13 bytes of memory, 0 bytes about cuts, 7 of "
         "forces and 0 of a watch"},
        {384, UINT64_MAX,
         "has 589 bytes of data, which does not fit 12 nodes, 13 bytes of memory, 0 bytes about cuts, 0 "
         "of forces and 18446744073709551615 of a watch"},
        {80, 2,
         "has 3 steps that did not converge of 2, the worst at 12.5 times its tolerance, the first at 0.1 s, which "
         "no "
         "run can have"},
        {88, (uint64_t)-1,
         "has -1 steps that did not converge of 25, the worst at 12.5 times its tolerance, the first at 0.1 s, which "
         "no "
         "run can have"},
        {96, 0x7ff0000000000000u,
         "has 3 steps that did not converge of 25, the worst at inf times its tolerance, the first at 0.1 s, which "
         "no "
         "run can have"},
        {112, (uint64_t)-1,
         "has an energy of -2 J, work of 4 J and a gain of 0.5 J at look -1, which no run can have"},
        {144, 0x7ff0000000000000u,
         "has an energy of -2 J, work of inf J and a gain of 0.5 J at look 3, which no run can have"},
        {224, 0x7ff0000000000000u,
         "has an energy of -2 J, work of 4 J and a gain of 0.5 J at look 3, which no run can have"},
    };
    scene c = make();
    rbt_bytes b;
    assert_true(rbt_file_read(c.path, &b, NULL));
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        char *copy = malloc(b.size);
        memcpy(copy, b.data, b.size);
        memcpy(copy + lies[i].offset, &lies[i].value, 8);
        uint64_t checksum = rbt_hash(0, copy, b.size - 8);
        memcpy(copy + b.size - 8, &checksum, 8);
        rbt_state back;
        rbt_error e = {0};
        assert_false(rbt_checkpoint_parse("lie", copy, b.size, NULL, RBT_SAME_NODES, &back, &e));
        assert_string_equal(e.message, lies[i].sentence);
        free(copy);
    }
    // sizes that agree with each other, but not with the data: no memory is taken for them
    char *copy = malloc(b.size);
    memcpy(copy, b.data, b.size);
    uint64_t memory = (uint64_t)1 << 50, payload = 12 * 48 + memory;
    memcpy(copy + 56, &memory, 8);
    memcpy(copy + 64, &payload, 8);
    uint64_t checksum = rbt_hash(0, copy, b.size - 8);
    memcpy(copy + b.size - 8, &checksum, 8);
    rbt_state back;
    rbt_error e = {0};
    assert_false(rbt_checkpoint_parse("lie", copy, b.size, NULL, RBT_SAME_NODES, &back, &e));
    assert_non_null(strstr(e.message, "which cannot hold the 1125899906843200 bytes its head promises"));
    free(copy);
    free(b.data);
    unmake(&c);
}

static void other_models_are_refused(void **unused) {
    (void)unused;
    scene c = make();
    out_model *other = out_model_new(2, 2, false);
    rbt_state back;
    rbt_error e = {0};
    assert_false(rbt_checkpoint_read(c.path, &other->model, RBT_SAME_NODES, &back, &e));
    assert_string_equal(e.message,
                        "has 12 nodes, but the scene has 31; the bodies' meshes must be the same to continue "
                        "from it");
    c.o->regions[1].material.young *= 2;
    assert_false(rbt_checkpoint_read(c.path, &c.o->model, RBT_SAME_MODEL, &back, &e));
    assert_string_equal(e.message, "was made with another scene (another mesh, material, force, motion or step); "
                                   "resume with the scene as it was, or restart from a frame with --from-frame");
    assert_true(rbt_checkpoint_read(c.path, &c.o->model, RBT_SAME_NODES, &back, &e));
    expect_same(&back, &c.s);
    out_state_free(&back);
    out_model_free(other);
    unmake(&c);
}

static void fingerprint_sees_everything(void **unused) {
    (void)unused;
    out_model *o = out_model_new(1, 2, false);
    rbt_model *m = &o->model;
    uint64_t base = rbt_model_fingerprint(m);
    assert_true(base == rbt_model_fingerprint(m));
    m->frame_count = 7;  // a longer run is still the same one
    o->bodies[0].name = "renamed";
    assert_true(base == rbt_model_fingerprint(m));
#define CHANGES(what, value)                                                                                         \
    do {                                                                                                             \
        __typeof__(what) old = what;                                                                                 \
        what = value;                                                                                                \
        assert_true(base != rbt_model_fingerprint(m));                                                               \
        what = old;                                                                                                  \
        assert_true(base == rbt_model_fingerprint(m));                                                               \
    } while (0)
    CHANGES(((double *)m->X)[4], 0.5);
    CHANGES(((int32_t *)m->tets)[5], 0);
    CHANGES(((int32_t *)m->tet_region)[0], 1);
    CHANGES(((double *)m->mass)[11], 3);
    CHANGES(((unsigned char *)m->role)[3], RBT_FIXED);
    CHANGES(o->bodies[1].damping.stiffness, 0.1);
    CHANGES(o->regions[0].material.poisson, 0.4);
    CHANGES(m->gravity[1], -9.81);
    CHANGES(m->step, 0.1);
    CHANGES(m->frame_interval, 0.1);
    CHANGES(m->steps_per_frame, 3);

    rbt_obstacle_plane plane = {{0, 0, 0}, {0, 1, 0}, 1e6, {0}};
    rbt_obstacle obstacle = {RBT_OBSTACLE_PLANE, &plane};
    double times[2] = {0, 1}, offsets[6] = {0};
    rbt_move_keyframes keys = {{2, times}, {2, offsets}};
    rbt_motion motion = {RBT_MOVE_KEYFRAMES, &keys};
    rbt_motion_group group = {.motion_count = 1, .motions = &motion, .release = 5};
    int32_t node = 1, of_group = 0;
    double share = 1;
    rbt_node_load load = {{0, 1, 0}, 0, 1, false, 1, &node, &share};
    rbt_wind wind = {{.velocity = {1, 0, 0}, .air_density = 1.2}, 0, 4};
    m->obstacles = (rbt_obstacles){1, &obstacle, NULL};
    m->motions = (rbt_motions){1, &group, 1, &node, &of_group};
    m->loads = (rbt_loads){.node_load_count = 1, .node_loads = &load, .wind_count = 1, .winds = &wind};
    base = rbt_model_fingerprint(m);
    CHANGES(plane.stiffness, 1e5);
    CHANGES(times[1], 2);
    CHANGES(offsets[5], 1);
    CHANGES(group.release, 6);
    CHANGES(node, 2);
    CHANGES(load.force[2], 1);
    CHANGES(load.pulse, true);
    CHANGES(wind.def.gust, 0.5);
    CHANGES(wind.triangle_end, 5);
#undef CHANGES
    out_model_free(o);
}

static void newest_readable_one(void **unused) {
    (void)unused;
    scene c = make();
    rbt_state back;
    rbt_error e = {0};
    const int64_t frames[] = {2, 12, 1000003};
    for (int i = 0; i < 3; i++) {
        char *path = rbt_checkpoint_path(c.folder, frames[i], NULL);
        c.s.frame = frames[i];
        assert_true(rbt_checkpoint_write(path, &c.o->model, &c.s, NULL));
        free(path);
    }
    assert_true(rbt_checkpoint_newest(c.folder, INT64_MAX, &c.o->model, RBT_SAME_MODEL, &back, &e));
    assert_int_equal(back.frame, 1000003);
    out_state_free(&back);
    assert_true(rbt_checkpoint_newest(c.folder, 11, &c.o->model, RBT_SAME_MODEL, &back, &e));
    assert_int_equal(back.frame, 7);
    out_state_free(&back);
    assert_false(rbt_checkpoint_newest(c.folder, 1, &c.o->model, RBT_SAME_MODEL, &back, &e));
    assert_string_equal(e.message, "has no checkpoint up to frame 1: the oldest one is of frame 2");

    assert_true(rbt_file_write(c.path, "RBTCKPT1 and no more", 20, NULL));
    assert_true(rbt_checkpoint_newest(c.folder, 11, &c.o->model, RBT_SAME_MODEL, &back, &e));
    assert_int_equal(back.frame, 2);
    out_state_free(&back);

    assert_true(rbt_checkpoint_prune(c.folder, 0, &e));
    assert_true(rbt_checkpoint_prune(c.folder, 3, &e));
    assert_false(rbt_checkpoint_newest(c.folder, 11, &c.o->model, RBT_SAME_MODEL, &back, &e));
    assert_string_equal(e.file, c.path);
    assert_string_equal(e.message, "is cut short: 20 bytes, but a checkpoint has at least 408");
    assert_true(rbt_checkpoint_remove_after(c.folder, 12, &e));
    assert_true(rbt_checkpoint_newest(c.folder, INT64_MAX, &c.o->model, RBT_SAME_MODEL, &back, &e));
    assert_int_equal(back.frame, 12);
    out_state_free(&back);
    assert_true(rbt_checkpoint_remove_after(c.folder, -1, &e));
    assert_false(rbt_checkpoint_newest(c.folder, INT64_MAX, &c.o->model, RBT_SAME_MODEL, &back, &e));
    assert_string_equal(e.message, "has no checkpoints; start the run from the beginning");
    unmake(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits_come_back),          cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(every_flipped_bit_is_refused), cmocka_unit_test(heads_that_lie),
        cmocka_unit_test(other_models_are_refused),     cmocka_unit_test(fingerprint_sees_everything),
        cmocka_unit_test(newest_readable_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
