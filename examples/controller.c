// A soft finger that is told where its tip should be: a PD controller reads the tip after every step and pushes it.
#include <rubato/rubato.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const FINGER =
    "{\"rubato\": 1, \"bodies\": [{\"name\": \"finger\","
    " \"mesh\": {\"shape\": {\"bar\": {\"size\": [0.1, 0.02, 0.02], \"cells\": [10, 2, 2]}}},"
    " \"material\": {\"young\": 2e5, \"density\": 1000}, \"damping\": {\"stiffness\": 0.002}, \"fixed\": "
    "[\"left\"]}],"
    " \"probes\": [{\"name\": \"tip\", \"body\": \"finger\", \"where\": \"right\"}],"
    " \"time\": {\"step\": 0.002, \"frame\": 0.02, \"end\": 1}, \"integrator\": {\"method\": \"backward-euler\"}}";

static int fail(const rbt_error *error) {
    char text[2048];
    fprintf(stderr, "%s\n", rbt_error_text(error, text, sizeof text));
    return 1;
}

int main(void) {
    rbt_error error;
    rbt_scene_file *file = rbt_scene_parse(FINGER, strlen(FINGER), NULL, NULL, 0, &error);
    if (!file) return fail(&error);
    rbt_sim *sim = rbt_sim_create(rbt_scene_of(file), &error);
    rbt_scene_free(file);
    if (!sim) return fail(&error);

    const int32_t *nodes;
    size_t count, probe = (size_t)rbt_sim_probe_find(sim, "tip");
    if (!rbt_sim_selection(sim, 0, "right", &nodes, &count, &error)) return fail(&error);
    const double target = 0.01, stiffness = 200, damping = 1.5;  // [m], [N/m], [N s/m]
    double y = 0, sum = 0;
    rbt_probe_reading tip;
    rbt_step_report report;
    for (int step = 0; step < 500; step++) {
        if (!rbt_sim_probe(sim, probe, &tip, &error)) return fail(&error);
        y = tip.position[1];
        sum += (target - y) * rbt_sim_step_length(sim);
        double force[3] = {0, (stiffness * (target - y) + 2000 * sum - damping * tip.velocity[1]) / (double)count, 0};
        for (size_t i = 0; i < count; i++)
            if (!rbt_sim_set_forces(sim, (size_t)nodes[i], 1, force, &error)) return fail(&error);
        if (!rbt_sim_step(sim, &report)) {
            fprintf(stderr, "%s: %s\n", rbt_outcome_name(report.outcome), report.hint);
            return 1;
        }
        if (step % 100 == 99)
            printf("%4.1f s  tip %+.5f m of %+.5f m, force %.3f N\n", rbt_sim_time(sim), y, target,
                   force[1] * (double)count);
    }
    bool reached = fabs(y - target) < 1e-4;
    printf("%s\n", reached ? "the tip is where it should be" : "the tip is elsewhere");
    rbt_sim_free(sim);
    return reached ? 0 : 1;
}
