// Two simulations in two threads: a clone of the first goes its own way, and both are what they would be alone.
#include <rubato/rubato.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const char *const SCENE =
    "{\"rubato\": 1, \"bodies\": [{\"name\": \"bar\","
    " \"mesh\": {\"shape\": {\"bar\": {\"size\": [1, 0.2, 0.2], \"cells\": [10, 2, 2]}}},"
    " \"material\": {\"young\": 5e6}, \"fixed\": [\"left\"]}], \"forces\": [{\"gravity\": {}}],"
    " \"time\": {\"step\": 0.01, \"frame\": 0.04},"
    " \"integrator\": {\"method\": \"semi-implicit\"}}";

typedef struct job {
    rbt_sim *sim;
    bool done;
} job;

static void *run(void *context) {
    job *j = context;
    j->done = true;
    for (int frame = 0; frame < 20; frame++) j->done = j->done && rbt_sim_advance_frame(j->sim, NULL);
    return NULL;
}

static double tip(const rbt_sim *sim) { return rbt_sim_positions(sim)[3 * rbt_sim_node_count(sim) - 2]; }

int main(void) {
    rbt_error error;
    rbt_scene_file *file = rbt_scene_parse(SCENE, strlen(SCENE), NULL, NULL, 0, &error);
    rbt_sim *one = file ? rbt_sim_create(rbt_scene_of(file), &error) : NULL;
    rbt_sim *other = one ? rbt_sim_clone(one, &error) : NULL;
    rbt_sim *alone = one ? rbt_sim_clone(one, &error) : NULL;
    rbt_scene_free(file);
    if (!other || !alone) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    // One thread is enough for each of them.
    const double pull[3] = {0, 60, 0};
    if (!rbt_sim_set_threads(one, 1, &error) || !rbt_sim_set_threads(other, 1, &error) ||
        !rbt_sim_set_forces(other, rbt_sim_node_count(other) - 1, 1, pull, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    job jobs[2] = {{one, false}, {other, false}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, run, &jobs[i]) != 0) return 1;
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    job last = {alone, false};
    run(&last);
    bool same = memcmp(rbt_sim_positions(one), rbt_sim_positions(alone), 24 * rbt_sim_node_count(one)) == 0;
    printf("free tip at %+.4f m, pulled tip at %+.4f m\n", tip(one), tip(other));
    printf("in a thread of its own: %s bits as alone\n", same ? "the same" : "other");
    bool good = jobs[0].done && jobs[1].done && last.done && same && tip(other) > tip(one);
    rbt_sim_free(one);
    rbt_sim_free(other);
    rbt_sim_free(alone);
    return good ? 0 : 1;
}
