// What a step costs through the public library beside one inside of `rubato run`: the same jelly of 637 nodes, in
// turns, so that a slow moment of the machine hits both. Prints medians of processor time per step, and what the
// library adds. Through the library a step comes with what a controller does around it: the state is read and a force
// is set.
#include "timing.h"

#include "base/threads.h"
#include "rubato/rubato.h"
#include "sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS = 41, STEPS = 10 };

static const char *const JELLY =
    "{\"rubato\": 1, \"bodies\": [{\"name\": \"jelly\", \"mesh\": {\"shape\": {\"cuboid\": {\"size\": [0.2, 0.1, "
    "0.1], "
    "\"cells\": [12, 6, 6]}}}, \"material\": {\"young\": 1e4}, \"fixed\": [\"left\"]}], \"forces\": [{\"gravity\": "
    "{}}], "
    "\"time\": {\"step\": 0.002, \"frame\": 0.02, \"end\": 1000}, \"integrator\": {\"method\": \"%s\"}}";

static rbt_sim *jelly(const char *method) {
    char text[1024];
    rbt_error error;
    snprintf(text, sizeof text, JELLY, method);
    rbt_scene_file *file = rbt_scene_parse(text, strlen(text), NULL, NULL, 0, &error);
    rbt_sim *sim = file ? rbt_sim_create(rbt_scene_of(file), &error) : NULL;
    if (!sim) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    rbt_scene_free(file);
    return sim;
}

static void must(bool good) {
    if (good) return;
    fprintf(stderr, "a step failed\n");
    exit(1);
}

// As the loop of a run does
static double inside(rbt_sim *sim) {
    rbt_step_report report = {.stage = ""};
    double start = now();
    for (int i = 0; i < STEPS; i++) must(rbt_sim_take_step(sim, &report) == RBT_DONE);
    return (now() - start) / STEPS;
}

static double outside(rbt_sim *sim) {
    rbt_step_report report;
    double start = now(), force[3] = {0};
    size_t tip = rbt_sim_node_count(sim) - 1;
    for (int i = 0; i < STEPS; i++) {
        force[1] = -1e-6 * rbt_sim_velocities(sim)[3 * tip + 1];
        must(rbt_sim_set_forces(sim, tip, 1, force, NULL) && rbt_sim_step(sim, &report));
    }
    return (now() - start) / STEPS;
}

static double median(double *values) {
    qsort(values, TURNS, sizeof *values, compare);
    return values[TURNS / 2];
}

int main(void) {
    static const char *const methods[] = {"symplectic-euler", "semi-implicit", "siere", "backward-euler"};
    bool good = true;
    rbt_threads_set(1);
    for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
        rbt_sim *one = jelly(methods[m]), *other = jelly(methods[m]);
        double in[TURNS], out[TURNS];
        inside(one);
        outside(other);
        for (int i = 0; i < TURNS; i++) {
            in[i] = inside(one);
            out[i] = outside(other);
        }
        double a = median(in), b = median(out);
        printf("%-18s %9.1f us inside a run, %9.1f us through the library: %+.2f %%\n", methods[m], 1e6 * a, 1e6 * b,
               100 * (b / a - 1));
        good = good && b <= 1.02 * a;
        rbt_sim_free(one);
        rbt_sim_free(other);
    }
    return good ? 0 : 1;
}
