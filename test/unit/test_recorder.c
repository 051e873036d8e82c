// A recording that was interrupted, cut back, or met a full disk ends with the same bytes as an undisturbed one.
#include "../support/out_model.h"
#include "base/file.h"
#include "base/text.h"
#include "base/threads.h"
#include "model/fingerprint.h"
#include "out/checkpoint.h"
#include "out/recorder.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>
// cmocka needs the headers above
#include <cmocka.h>

static const rbt_output_def EVERYTHING = {
    .vtu = true, .obj = true, .pc2 = true, .usda = true, .checkpoint_every = 3, .checkpoint_keep = 2};

// ---- The whole folder as one text: names, sizes and hashes of the contents, in order of the names

static const char *walk_root;
static rbt_text walk_text;

static int walk_file(const char *path, const struct stat *info, int kind, struct FTW *place) {
    (void)info, (void)place;
    rbt_bytes b;
    if (kind != FTW_F) return 0;
    if (!rbt_file_read(path, &b, NULL)) return 1;
    rbt_text_add(&walk_text, "%s %zu %016llx\n", path + strlen(walk_root), b.size,
                 (unsigned long long)rbt_hash(0, b.data, b.size));
    free(b.data);
    return 0;
}

static int compare_lines(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static char *snapshot(const char *folder) {
    char *lines[256], *copy;
    size_t n = 0;
    walk_root = folder;
    walk_text = (rbt_text){0};
    assert_int_equal(nftw(folder, walk_file, 16, FTW_PHYS), 0);
    rbt_text_add(&walk_text, "%s", "");
    copy = walk_text.text;
    for (char *line = strtok(copy, "\n"); line; line = strtok(NULL, "\n")) {
        assert_true(n < 256);
        lines[n++] = line;
    }
    qsort(lines, n, sizeof *lines, compare_lines);
    rbt_text sorted = {0};
    rbt_text_add(&sorted, "%s", "");
    for (size_t i = 0; i < n; i++) rbt_text_add(&sorted, "%s\n", lines[i]);
    free(copy);
    return sorted.text;
}

static void expect_same(const char *have, const char *want) {
    for (const char *a = have, *b = want; *a || *b;) {
        size_t n = strcspn(a, "\n"), m = strcspn(b, "\n");
        if (n != m || memcmp(a, b, n) != 0)
            fail_msg("differs:\n%.*s\n%.*s", (int)(n < 300 ? n : 300), a, (int)(m < 300 ? m : 300), b);
        a += n + (a[n] == '\n');
        b += m + (b[m] == '\n');
    }
}

static void expect_folder(const char *folder, const char *want) {
    char *have = snapshot(folder);
    expect_same(have, want);
    free(have);
}

// ---- Recording

static bool record_frame(rbt_recorder *r, const rbt_model *m, int64_t frame, rbt_error *error) {
    rbt_state s = out_state_new(m, frame);
    rbt_energies e = out_energies(frame);
    bool good = rbt_recorder_frame(r, &s, &e, frame % 3 == 0, error);
    out_state_free(&s);
    return good;
}

static void record(const char *folder, const rbt_model *m, const rbt_output_def *output, int64_t from, int64_t to) {
    rbt_error e = {0};
    rbt_recorder *r = rbt_recorder_open(folder, m, output, false, from, &e);
    if (!r) fail_msg("%s: %s", e.file, e.message);
    for (int64_t f = from + 1; f <= to; f++) assert_true(record_frame(r, m, f, &e));
    assert_true(rbt_recorder_close(r, &e));
}

static char *undisturbed(const rbt_model *m, const rbt_output_def *output, int64_t to) {
    char *folder = out_folder_new();
    record(folder, m, output, -1, to);
    char *all = snapshot(folder);
    out_folder_remove(folder);
    return all;
}

static void add_to(const char *folder, const char *name, const char *text) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "ab");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static bool exists(const char *folder, const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static void layout_of_a_run(void **unused) {
    (void)unused;
    static const char *const names[] = {"frames/frame_000000.vtu",
                                        "frames/frame_000006.vtu",
                                        "frames.pvd",
                                        "frames/surface_000006.vtu",
                                        "surface.pvd",
                                        "obj/frame_000006.obj",
                                        "surface.pc2",
                                        "surface.obj",
                                        "frames.usda",
                                        "usda/block.usda",
                                        "usda/tet_1.usda",
                                        "energy.csv",
                                        "checkpoints/000003.rbt",
                                        "checkpoints/000006.rbt"};
    char *folder = out_folder_new();
    out_model *o = out_model_new(1, 2, true);
    record(folder, &o->model, &EVERYTHING, -1, 6);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!exists(folder, names[i])) fail_msg("%s is missing", names[i]);
    assert_false(exists(folder, "checkpoints/000000.rbt"));  // only the newest two are kept
    assert_false(exists(folder, "checkpoints/000005.rbt"));

    char path[512], want[512];
    rbt_bytes b;
    snprintf(path, sizeof path, "%s/energy.csv", folder);
    assert_true(rbt_file_read(path, &b, NULL));
    snprintf(want, sizeof want,
             "frame,time,kinetic,elastic,gravity,contact,total,px,py,pz,lx,ly,lz,work,iterations,residual,friction\n"
             "0,0,%.17g,2,-0,0,%.17g,1e-300,-2,3,%.17g,%.17g,%.17g,0,,,0\n1,%.17g,0.25,3,",
             1.0 / 3, 0.1, 0.1, 0.2, -0.3, o->model.frame_interval);
    assert_memory_equal(b.data, want, strlen(want));
    free(b.data);
    rbt_state s;
    assert_true(rbt_checkpoint_newest(folder, INT64_MAX, &o->model, RBT_SAME_MODEL, &s, NULL));
    assert_int_equal(s.frame, 6);
    out_state_free(&s);
    out_model_free(o);
    out_folder_remove(folder);
}

static void cut_back_and_go_on(size_t bodies, bool embedded, rbt_output_def output) {
    out_model *o = out_model_new(1, bodies, embedded);
    char *want = undisturbed(&o->model, &output, 7), *folder = out_folder_new();
    record(folder, &o->model, &output, -1, 5);
    // what a kill in the middle of the next frame leaves
    add_to(folder, "energy.csv", "6,0.2");
    if (output.vtu) add_to(folder, "frames/frame_000006.vtu.new", "half");
    if (output.vtu) add_to(folder, "frames/frame_000006.vtu", "whole");
    if (output.pc2) add_to(folder, "surface.pc2", "some bytes of a sample");
    if (output.usda) add_to(folder, "frames.usda", "        6: [(1, 2, 3), (");
    if (output.vtu) add_to(folder, "frames.pvd", "    <DataSet part=");
    record(folder, &o->model, &output, 3, 7);
    expect_folder(folder, want);
    record(folder, &o->model, &output, 7, 7);  // nothing to cut, nothing to add
    expect_folder(folder, want);
    out_folder_remove(folder);
    free(want);
    out_model_free(o);
}

static void cut_back_gives_the_same_bytes(void **unused) {
    (void)unused;
    rbt_output_def only_energy = {0}, vtu = {.vtu = true, .compress = true, .single_precision = true};
    cut_back_and_go_on(2, true, EVERYTHING);
    cut_back_and_go_on(1, false, EVERYTHING);
    cut_back_and_go_on(2, false, vtu);
    cut_back_and_go_on(1, false, only_energy);
}

static void refuse(const char *folder, const rbt_model *m, int64_t from, const char *file, const char *sentence) {
    char path[512], *before = snapshot(folder);
    rbt_error e = {0};
    snprintf(path, sizeof path, "%s/%s", folder, file);
    assert_null(rbt_recorder_open(folder, m, &EVERYTHING, false, from, &e));
    assert_string_equal(e.file, path);
    assert_string_equal(e.message, sentence);
    expect_folder(folder, before);
    free(before);
}

static void refuses_when_behind(void **unused) {
    (void)unused;
    char *folder = out_folder_new(), path[512];
    out_model *o = out_model_new(1, 2, true);
    const rbt_model *m = &o->model;
    record(folder, m, &EVERYTHING, -1, 6);
    refuse(folder, m, 7, "energy.csv",
           "holds 7 whole frames, but the run is to continue after frame 7 and needs 8; start the run again or "
           "continue from "
           "an earlier frame");
    snprintf(path, sizeof path, "%s/surface.pc2", folder);
    assert_int_equal(truncate(path, 32 + 12 * 12 * 6 + 11), 0);
    refuse(folder, m, 6, "surface.pc2",
           "holds 6 whole frames, but the run is to continue after frame 6 and needs 7; start the run again or "
           "continue from "
           "an earlier frame");
    snprintf(path, sizeof path, "%s/frames/frame_000005.vtu", folder);
    assert_int_equal(unlink(path), 0);
    refuse(folder, m, 5, "frames/frame_000005.vtu",
           "is missing, but to continue after frame 5 all earlier frames are needed; start the run again or continue "
           "from an earlier frame");
    snprintf(path, sizeof path, "%s/surface.pvd", folder);
    assert_int_equal(unlink(path), 0);
    refuse(folder, m, 4, "surface.pvd",
           "cannot be continued after frame 4: No such file or directory; start the run again or switch this output "
           "off");
    snprintf(path, sizeof path, "%s/energy.csv", folder);
    assert_true(rbt_file_write(path, "a,b\n0,1\n1,2\n2,3\n", 16, NULL));
    refuse(folder, m, 1, "energy.csv",
           "does not belong to this run (its beginning differs), so it cannot be continued; start the run again or "
           "write into another folder");
    out_model_free(o);
    out_folder_remove(folder);
}

static void set_limit(rlim_t bytes) {
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

// No file may become longer than `limit`: the writes stop there as on a full disk.
static void full_disk(rbt_output_def output) {
    char *folder = out_folder_new();
    out_model *o = out_model_new(1, 2, true);
    char *want = undisturbed(&o->model, &output, 3);
    rbt_error e = {0};
    rbt_recorder *r = rbt_recorder_open(folder, &o->model, &output, false, -1, &e);
    for (int64_t f = 0; f < 3; f++) assert_true(record_frame(r, &o->model, f, &e));
    char *before = snapshot(folder);
    int failures = 0, successes = 0;
    for (rlim_t limit = 0; limit < 20000 && !successes; limit += 151) {
        set_limit(limit);
        bool good = record_frame(r, &o->model, 3, &e);
        set_limit(RLIM_INFINITY);
        successes += good;
        failures += !good;
        if (good) continue;
        assert_string_equal(e.message, "cannot write the file: File too large");
        expect_folder(folder, before);
    }
    assert_true(failures > 10 && successes == 1);  // the recorder itself continued when there was room again
    assert_true(rbt_recorder_close(r, &e));
    expect_folder(folder, want);
    free(before), free(want);
    out_model_free(o);
    out_folder_remove(folder);
}

static void full_disk_keeps_earlier_frames(void **unused) {
    (void)unused;
    signal(SIGXFSZ, SIG_IGN);
    full_disk(EVERYTHING);
    full_disk((rbt_output_def){.pc2 = true, .usda = true});
    signal(SIGXFSZ, SIG_DFL);
}

static void unwritable_folder(void **unused) {
    (void)unused;
    char *folder = out_folder_new(), path[512];
    out_model *o = out_model_new(1, 1, false);
    rbt_error e = {0};
    add_to(folder, "file", "text");
    snprintf(path, sizeof path, "%s/file/run", folder);
    assert_null(rbt_recorder_open(path, &o->model, &EVERYTHING, false, -1, &e));
    path[strlen(path) - 4] = '\0';
    assert_string_equal(e.file, path);
    assert_string_equal(e.message, "cannot make the folder: there is a file of this name");
    out_model_free(o);
    out_folder_remove(folder);
}

static void a_new_run_removes_only_its_own(void **unused) {
    (void)unused;
    static const char *const foreign[] = {"notes.txt",    "frames/frame_1.vtu",   "frames/frame_000001.vtk",
                                          "frames/a.vtu", "checkpoints/last.rbt", "obj/frame_000003.obj",
                                          "surface.obj"};
    static const char *const stale[] = {"frames/frame_000003.vtu",
                                        "frames/surface_000001.vtu",
                                        "frames.pvd",
                                        "surface.pvd",
                                        "frames.usda",
                                        "surface.pc2",
                                        "checkpoints/000003.rbt"};
    char *folder = out_folder_new();
    out_model *o = out_model_new(1, 2, true);
    record(folder, &o->model, &EVERYTHING, -1, 3);
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) add_to(folder, foreign[i], "mine");
    record(folder, &o->model, &(rbt_output_def){0}, -1, 2);
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
        if (!exists(folder, foreign[i])) fail_msg("%s was removed", foreign[i]);
    for (size_t i = 0; i < sizeof stale / sizeof stale[0]; i++)
        if (exists(folder, stale[i])) fail_msg("%s was left", stale[i]);
    out_model_free(o);
    out_folder_remove(folder);
}

static void frames_come_in_order(void **unused) {
    (void)unused;
    char *folder = out_folder_new();
    out_model *o = out_model_new(1, 1, false);
    rbt_error e = {0};
    rbt_recorder *r = rbt_recorder_open(folder, &o->model, &EVERYTHING, false, -1, &e);
    assert_false(record_frame(r, &o->model, 1, &e));
    assert_string_equal(e.message, "frame 1 with 8 nodes was to be recorded, but frame 0 with 8 nodes comes next");
    assert_true(rbt_recorder_close(r, &e));
    assert_true(rbt_recorder_close(NULL, &e));
    out_model_free(o);
    out_folder_remove(folder);
}

// Killed at many moments; each time the newest checkpoint leads to the same end.
static void killed_runs_go_on(void **unused) {
    (void)unused;
    enum { LAST = 6 };
    out_model *o = out_model_new(1, 2, true);
    char *want = undisturbed(&o->model, &EVERYTHING, LAST);
    for (long moment = 0; moment < 6; moment++) {
        char *folder = out_folder_new();
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            rbt_recorder *r = rbt_recorder_open(folder, &o->model, &EVERYTHING, false, -1, NULL);
            for (int64_t f = 0; r && f <= LAST; f++) record_frame(r, &o->model, f, NULL);
            for (;;) pause();
        }
        usleep((useconds_t)(1000 + 4000 * moment));
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, NULL, 0), child);
        rbt_state s;
        bool found = rbt_checkpoint_newest(folder, INT64_MAX, &o->model, RBT_SAME_MODEL, &s, NULL);
        record(folder, &o->model, &EVERYTHING, found ? s.frame : -1, LAST);
        if (found) out_state_free(&s);
        expect_folder(folder, want);
        out_folder_remove(folder);
    }
    free(want);
    out_model_free(o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layout_of_a_run),      cmocka_unit_test(cut_back_gives_the_same_bytes),
        cmocka_unit_test(refuses_when_behind),  cmocka_unit_test(full_disk_keeps_earlier_frames),
        cmocka_unit_test(unwritable_folder),    cmocka_unit_test(a_new_run_removes_only_its_own),
        cmocka_unit_test(frames_come_in_order), cmocka_unit_test(killed_runs_go_on),
    };
    rbt_threads_set(1);  // forked children cannot use the threads of their parent
    return cmocka_run_group_tests(tests, NULL, NULL);
}
