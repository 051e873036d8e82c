// Eight futures of one state: save, try eight forces from the same state, go back, and take the best one.
#include <rubato/rubato.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const SCENE =
    "{\"rubato\": 1, \"bodies\": [{\"name\": \"jelly\","
    " \"mesh\": {\"shape\": {\"cuboid\": {\"size\": [0.1, 0.1, 0.1], \"cells\": [4, 4, 4]}}},"
    " \"material\": {\"young\": 1e4}}], \"time\": {\"step\": 0.005, \"frame\": 0.02},"
    " \"integrator\": {\"method\": \"siere\"}}";

static int fail(const rbt_error *error) {
    char text[2048];
    fprintf(stderr, "%s\n", rbt_error_text(error, text, sizeof text));
    return 1;
}

static double mean_x(const rbt_sim *sim) {
    double sum = 0;
    size_t nodes = rbt_sim_node_count(sim);
    for (size_t n = 0; n < nodes; n++) sum += rbt_sim_positions(sim)[3 * n];
    return sum / (double)nodes;
}

// Pushes one side of the jelly for ten frames; false if something is wrong.
static bool try_push(rbt_sim *sim, double newton, rbt_error *error) {
    const int32_t *right;
    size_t count;
    double force[3] = {newton, 0, 0};
    if (!rbt_sim_selection(sim, 0, "right", &right, &count, error)) return false;
    for (size_t i = 0; i < count; i++)
        if (!rbt_sim_set_forces(sim, (size_t)right[i], 1, force, error)) return false;
    for (int frame = 0; frame < 10; frame++)
        if (!rbt_sim_advance_frame(sim, NULL)) return false;
    return true;
}

int main(void) {
    rbt_error error;
    rbt_scene_file *file = rbt_scene_parse(SCENE, strlen(SCENE), NULL, NULL, 0, &error);
    rbt_sim *sim = file ? rbt_sim_create(rbt_scene_of(file), &error) : NULL;
    rbt_scene_free(file);
    if (!sim) return fail(&error);
    size_t bytes = 3 * rbt_sim_node_count(sim) * sizeof(double);
    double *first = malloc(bytes), goal = 0.03, best_push = 0, best = 1e9;
    rbt_state *start = rbt_sim_save(sim, &error);
    if (!start || !first) return fail(&error);
    for (int k = 0; k < 8; k++) {
        double push = 0.01 * (k + 1);
        if (!rbt_sim_restore(sim, start, &error) || !try_push(sim, push, &error)) return fail(&error);
        double miss = mean_x(sim) > goal ? mean_x(sim) - goal : goal - mean_x(sim);
        printf("push %.2f N per node: the jelly is at %.4f m\n", push, mean_x(sim));
        if (miss < best) best = miss, best_push = push, memcpy(first, rbt_sim_positions(sim), bytes);
    }
    // The same future once more: the same bits.
    if (!rbt_sim_restore(sim, start, &error) || !try_push(sim, best_push, &error)) return fail(&error);
    bool same = memcmp(first, rbt_sim_positions(sim), bytes) == 0;
    printf("best push %.2f N per node, %s bits the second time\n", best_push, same ? "the same" : "other");
    free(first);
    rbt_state_free(start);
    rbt_sim_free(sim);
    return same ? 0 : 1;
}
