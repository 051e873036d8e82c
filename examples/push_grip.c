// A driven grip moved by hand: a bar is gripped at its right end, stretched, twisted and let go back, and the
// reactions tell how hard that is.
#include <rubato/rubato.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const SCENE =
    "{\"rubato\": 1, \"bodies\": [{\"name\": \"bar\","
    " \"mesh\": {\"shape\": {\"bar\": {\"size\": [0.4, 0.1, 0.1], \"cells\": [8, 2, 2]}}},"
    " \"material\": {\"young\": 1e5}, \"damping\": {\"mass\": 5, \"stiffness\": 0.005}, \"fixed\": [\"left\"],"
    " \"driven\": [{\"name\": \"grip\", \"where\": \"right\"}]}],"
    " \"time\": {\"step\": 0.01, \"frame\": 0.05}, \"integrator\": {\"method\": \"backward-euler\"}}";

// The force along x with which the grip holds the bar
static double grip_force(const rbt_sim *sim, const int32_t *nodes, size_t count, double *work) {
    double sum = 0;
    if (!rbt_sim_reactions(sim, work, NULL)) return NAN;
    for (size_t i = 0; i < count; i++) sum += work[3 * nodes[i]];
    return sum;
}

static bool go_on(rbt_sim *sim, double seconds) {
    rbt_step_report report;
    if (rbt_sim_advance_to(sim, rbt_sim_time(sim) + seconds, &report)) return true;
    fprintf(stderr, "%s: %s\n", rbt_outcome_name(report.outcome), report.hint);
    return false;
}

int main(void) {
    rbt_error error;
    rbt_scene_file *file = rbt_scene_parse(SCENE, strlen(SCENE), NULL, NULL, 0, &error);
    rbt_sim *sim = file ? rbt_sim_create(rbt_scene_of(file), &error) : NULL;
    rbt_scene_free(file);
    const int32_t *nodes;
    size_t count;
    int grip = rbt_sim_driven_find(sim, "grip");
    if (!sim || grip < 0 || !rbt_sim_selection(sim, 0, "right", &nodes, &count, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    double *work = malloc(3 * rbt_sim_node_count(sim) * sizeof *work);
    const double pulled[3] = {0.04, 0, 0}, home[3] = {0, 0, 0};
    rbt_drive twist = rbt_drive_default();
    twist.spin[0] = 1.57;  // a quarter of a turn in a second, about the axis of the bar
    twist.duration = 1;
    if (!work || !rbt_sim_drive_to(sim, (size_t)grip, pulled, 0.5, &error) || !go_on(sim, 2)) return 1;
    double stretched = grip_force(sim, nodes, count, work);
    printf("stretched by a tenth: %.1f N\n", stretched);
    if (!rbt_sim_drive(sim, (size_t)grip, &twist, &error) || !go_on(sim, 2)) return 1;
    printf("and twisted by a quarter: %.1f N\n", grip_force(sim, nodes, count, work));
    twist.spin[0] = -twist.spin[0];
    if (!rbt_sim_drive(sim, (size_t)grip, &twist, &error) || !go_on(sim, 2)) return 1;
    if (!rbt_sim_drive_to(sim, (size_t)grip, home, 0.5, &error) || !go_on(sim, 3)) return 1;
    double rest = grip_force(sim, nodes, count, work);
    printf("back again: %.1f N, after %.3f J of work\n", fabs(rest), rbt_sim_energies(sim).work);
    bool good = stretched > 80 && stretched < 150 && fabs(rest) < 1;
    free(work);
    rbt_sim_free(sim);
    return good ? 0 : 1;
}
