// The viewer's messages: what is asked for, what is drawn of a mesh, frames as they are sent, a run's folder as a
// source.
#include "every_method.h"
#include "rubato/state.h"
#include "serve/drawn.h"
#include "serve/export.h"
#include "serve/live.h"
#include "serve/replay.h"
#include "serve/request.h"
#include "sim/run.h"

#include <stdlib.h>
#include <unistd.h>

static bool ask(const char *text, rbt_request *request, rbt_arena *arena, rbt_error *error) {
    *error = (rbt_error){0};
    return rbt_request_read(request, arena, text, strlen(text), 2, error);
}

static void requests(void **state) {
    (void)state;
    rbt_arena *arena = rbt_arena_new();
    rbt_request q;
    rbt_error error;
    assert_true(ask("{\"frame\": {\"run\": 1, \"number\": 12, \"fields\": 3}}", &q, arena, &error));
    assert_true(q.frame && !q.shape && !q.act && q.frame->run == 1 && q.frame->number == 12 && q.frame->fields == 3);
    assert_true(ask("{\"file\": {\"name\": \"probes.csv\", \"from\": 1e9}}", &q, arena, &error));
    assert_string_equal(rbt_served_file(q.file->name), "probes.csv");
    static const char *const refused[] = {"",
                                          "{}",
                                          "[]",
                                          "{\"frame\": {}}",
                                          "{\"frame\": {\"run\": 2, \"number\": 0}}",
                                          "{\"frame\": {\"number\": -1}}",
                                          "{\"frame\": {\"number\": 1.5}}",
                                          "{\"frame\": {\"number\": 1}, \"shape\": {\"number\": 1}}",
                                          "{\"frame\": {\"number\": 1, \"fields\": 16}}",
                                          "{\"file\": {\"name\": \"../run.json\"}}",
                                          "{\"file\": {\"name\": 0}}",
                                          "{\"pause\": {\"steps\": 100000}}",
                                          "{\"act\": {}}",
                                          "{\"evil\": {}}"};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        assert_false(ask(refused[i], &q, arena, &error));
        assert_true(error.message[0]);
    }
    rbt_arena_free(arena);
}

// Two tets with a common side, a triangle, an edge and a particle
static void what_is_drawn(void **state) {
    (void)state;
    const double rest[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1, 2, 0, 0, 3, 0, 0, 2, 1, 0, 9, 9, 9};
    const int32_t tets[] = {0, 1, 2, 3, 1, 2, 3, 4}, triangle[] = {5, 6, 7}, edge[] = {4, 5};
    const int32_t body[] = {0, 0, 1, 2, 3}, region[] = {0, 1, 2, 3, 4};
    const rbt_drawn_source source = {9, rest, 2, 1, 1, 5, tets, triangle, edge, body, region};
    rbt_error error;
    rbt_drawn *drawn = rbt_drawn_new(&source, &error);
    assert_non_null(drawn);
    assert_int_equal(drawn->triangle_count, 7);  // six sides are outside
    assert_int_equal(drawn->edge_count, 1);
    assert_int_equal(drawn->point_count, 1);
    assert_int_equal(drawn->node[drawn->points[0]], 8);
    assert_int_equal(drawn->node_count, 9);
    assert_int_equal(drawn->element[6], 2);
    assert_int_equal(drawn->body[6], 1);
    assert_int_equal(drawn->region[5], 1);
    const double values[] = {3, 5, 7, 0, 0};
    double means[9];
    assert_true(rbt_drawn_means(&source, values, means, &error));
    const double expected[] = {3, 4, 4, 4, 5, 7, 7, 7, 0};
    for (int i = 0; i < 9; i++) assert_true(means[i] == expected[i]);
    rbt_drawn_free(drawn);
}

static const char SCENE[] =
    "{\"rubato\": 1, \"bodies\": [{\"name\": \"bar\", \"mesh\": {\"shape\": {\"cuboid\": {\"size\": [1, 0.4, 0.4], "
    "\"cells\": [3, 3, 3]}}}, \"fixed\": [{\"box\": {\"min\": [0, 0, 0], \"max\": [0.01, 1, 1], \"relative\": "
    "true}}]}], "
    "\"forces\": [{\"gravity\": {}}], \"obstacles\": [{\"plane\": {\"point\": [0, -1, 0]}}], \"time\": {\"step\": "
    "0.01, "
    "\"frame\": 0.02, \"end\": 0.06}, \"integrator\": {\"method\": \"semi-implicit\"}}";

typedef struct seen {
    rbt_live *live;
    rbt_message *frames[4];
    int count;
} seen;

static void framed(const rbt_run_progress *p, void *listener) {
    seen *s = listener;
    rbt_live_want(s->live, RBT_SHOWN_ALL);
    rbt_live_show(s->live, p->sim);
    if (s->count < 4) s->frames[s->count++] = rbt_live_newest(s->live, 0);
}

// A state of a run in progress is sent as the frame on disk is: only the marks of being live differ.
static void live_is_replay(void **state) {
    (void)state;
    rbt_error error = {0};
    rbt_step_report report;
    char folder[64], page[80], command[160];
    snprintf(folder, sizeof folder, "/tmp/rubato_serve_%ld", (long)getpid());
    snprintf(page, sizeof page, "%s.html", folder);
    rbt_scene_file *file = rbt_scene_parse(SCENE, strlen(SCENE), NULL, NULL, 0, &error);
    must(file != NULL, &error);
    seen s = {.live = rbt_live_new(false, &error)};
    const rbt_run_options o = {.scene = rbt_scene_of(file),
                               .scene_text = rbt_scene_json(file),
                               .folder = folder,
                               .frames = -1,
                               .from_frame = -1,
                               .started = framed,
                               .framed = framed,
                               .listener = &s};
    assert_int_equal(rbt_run(&o, &report, &error), RBT_RUN_FINISHED);
    assert_int_equal(s.count, 4);
    rbt_replay *replay = rbt_replay_open(folder, 0, false, &error);
    must(replay != NULL, &error);
    for (int i = 0; i < 4; i++) {
        rbt_message *m = rbt_replay_frame(replay, (size_t)i, RBT_SHOWN_ALL, &error);
        must(m != NULL, &error);
        assert_non_null(s.frames[i]);
        assert_int_equal(m->size, s.frames[i]->size);
        assert_memory_equal(m->bytes, s.frames[i]->bytes, 44);  // head, counts
        size_t data = 56, same = 0;                             // behind the marks: positions, speeds, stresses
        for (size_t k = data; k < m->size; k++) same += m->bytes[k] == s.frames[i]->bytes[k];
        assert_int_equal(same, m->size - data);
        rbt_message_drop(m);
        rbt_message_drop(s.frames[i]);
    }
    rbt_message *mine = rbt_replay_shape(replay, 0, RBT_SHOWN_ALL, &error), *theirs = rbt_live_shape(s.live);
    must(mine && theirs, &error);
    assert_int_equal(mine->size, theirs->size);
    assert_memory_equal(mine->bytes + 32, theirs->bytes + 32, 48);
    assert_null(rbt_replay_frame(replay, 4, 0, &error));
    assert_true(error.message[0]);
    rbt_message_drop(mine);
    rbt_message_drop(theirs);
    rbt_export_report about;
    must(rbt_export(folder, "bar", page, &about, &error), &error);
    assert_int_equal(about.frames, 4);
    assert_int_equal(about.nodes, 56);  // 4 x 4 x 4 but for the 8 inside
    rbt_replay_free(replay);
    rbt_live_free(s.live);
    rbt_scene_free(file);
    snprintf(command, sizeof command, "rm -r %s %s", folder, page);
    assert_int_equal(system(command), 0);
}

// A spring on nodes that nobody has named: the scene with it, in the middle of a run, against one that has had it
// always.
static void extended(const method_case *c) {
    rbt_error error;
    static const char *const EVENT = "], 'events': [{'time': 0.005, 'drag': {'body': 'bar', 'where': {'nearest': "
                                     "{'point': [0, 0, 0], 'count': 3}}, "
                                     "'point': [0, 0.2, 0], 'stiffness': 3}}]";
    rbt_sim *before = method_sim_with(c, "", "]"), *whole = method_sim_with(c, "", EVENT);
    steps(before, 5);
    rbt_sim *after = rbt_sim_extend(before, whole->scene, &error);
    must(after != NULL, &error);
    rbt_sim_free(before);
    steps(after, 8);
    steps(whole, 13);
    assert_same_motion(after, whole, c->name);
    rbt_sim_free(after);
    rbt_sim_free(whole);
}

static void events_can_be_added(void **state) {
    (void)state;
    assert_true(for_every_method(extended) >= 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(requests), cmocka_unit_test(what_is_drawn),
                                       cmocka_unit_test(live_is_replay), cmocka_unit_test(events_can_be_added)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
