// Two blocks fall on a floor and on each other: contacts are read while the stack settles.
#include <rubato/rubato.h>

#include <stdio.h>
#include <string.h>

static const char *const SCENE =
    "{\"rubato\": 1, \"bodies\": ["
    " {\"name\": \"lower\", \"mesh\": {\"shape\": {\"cuboid\": {\"size\": [0.2, 0.1, 0.2], \"cells\": [2, 1, 2]}}},"
    "  \"material\": {\"young\": 1e5}, \"damping\": {\"mass\": 8}, \"transform\": {\"translate\": [0, 0.07, 0]}},"
    " {\"name\": \"upper\", \"mesh\": {\"shape\": {\"cuboid\": {\"size\": [0.16, 0.1, 0.16], \"cells\": [2, 1, 2]}}},"
    "  \"material\": {\"young\": 1e5}, \"damping\": {\"mass\": 8}, \"transform\": {\"translate\": [0, 0.2, 0]}}],"
    " \"obstacles\": [{\"plane\": {}}], \"forces\": [{\"gravity\": {}}],"
    " \"time\": {\"step\": 0.001, \"frame\": 0.05, \"end\": 1},"
    " \"integrator\": {\"method\": \"async-contact\", \"options\": {\"stiffness\": 2000}}}";

// Forces upwards from the floor on the lower block, and from the lower block on the upper one, of one moment
static void add_forces(const rbt_sim *sim, double *floor, double *between) {
    rbt_contact_point contacts[256];
    size_t count = rbt_sim_contacts(sim, contacts, 256);
    for (size_t i = 0; i < count && i < 256; i++) {
        const rbt_contact_point *c = &contacts[i];
        double up = c->force * c->normal[1];  // on B
        if (c->body_b < 0) *floor -= up;      // A is the block
        else if (c->body_a < 0) *floor += up;
        else *between += c->body_b == 1 ? up : -up;
    }
}

int main(void) {
    rbt_error error;
    rbt_scene_file *file = rbt_scene_parse(SCENE, strlen(SCENE), NULL, NULL, 0, &error);
    rbt_sim *sim = file ? rbt_sim_create(rbt_scene_of(file), &error) : NULL;
    rbt_scene_free(file);
    if (!sim) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    rbt_body_info lower, upper;
    if (!rbt_sim_body(sim, 0, &lower, &error) || !rbt_sim_body(sim, 1, &upper, &error)) return 1;
    double g = 9.80665, floor = 0, between = 0;
    int samples = 0;
    rbt_step_report report;
    for (int step = 0; step < 1500; step++) {
        if (!rbt_sim_step(sim, &report)) {
            fprintf(stderr, "%s: %s\n", rbt_outcome_name(report.outcome), report.hint);
            return 1;
        }
        if (step >= 1000) add_forces(sim, &floor, &between), samples++;  // layers tremble: take the mean
        if (step % 300 == 299)
            printf("%.1f s  %zu contacts, energy %.3f J\n", rbt_sim_time(sim), rbt_sim_contacts(sim, NULL, 0),
                   rbt_sim_energies(sim).kinetic);
    }
    floor /= samples, between /= samples;
    printf("the floor carries %.1f N of %.1f N, the lower block %.1f N of %.1f N\n", floor,
           g * (lower.mass + upper.mass), between, g * upper.mass);
    rbt_sim_free(sim);
    bool good = floor > 0.8 * g * (lower.mass + upper.mass) && floor < 1.2 * g * (lower.mass + upper.mass) &&
                between > 0.8 * g * upper.mass && between < 1.2 * g * upper.mass;
    return good ? 0 : 1;
}
