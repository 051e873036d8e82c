// Runs the first steps of a scene with each contact solver, side by side, and prints as one JSON object how far apart
// nodes in contact are after every step, over the thickness, and what the steps took: seconds of the processors and
// iterations.
//
// A third simulation takes each step with the barrier from where the augmented Lagrangian began it: how far one step
// leads them apart.
//
// "steps": [{"off": largest distance over the thickness, of nodes that push in either run, "all": of all nodes, "one":
// of nodes that push, after one step from the same state; "pairs": [of each], "seconds": [of each], "iterations": [of
// each]}…], "thickness", "failed": a solver whose step failed, and how.
#include "tool.h"

#include "math/vec3.h"
#include "rubato/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char USAGE[] = "contact_solvers SCENE [--set path=value]… [--steps N] [--threads N] [--budget S]";
static const char *const SOLVERS[2] = {"barrier", "augmented-lagrangian"};

typedef struct side {
    rbt_sim *sim;
    size_t pairs;
    double seconds, iterations;  // of the latest step
} side;

static side begin(const rbt_tool_words *words, const char *solver) {
    rbt_tool_words own = *words;
    char setting[64];
    snprintf(setting, sizeof setting, "contact.solver=%s", solver);
    own.settings[own.setting_count++] = setting;
    return (side){.sim = rbt_tool_sim(&own)};
}

// Marks the nodes of the pairs that push each other.
static void mark(side *s, unsigned char *touching) {
    s->pairs = rbt_sim_contacts(s->sim, NULL, 0);
    rbt_contact_point *points = calloc(s->pairs + 1, sizeof *points);
    if (!points) exit(1);
    rbt_sim_contacts(s->sim, points, s->pairs);
    for (size_t i = 0; i < s->pairs; i++)
        for (int k = 0; k < points[i].count_a + points[i].count_b; k++)
            if ((size_t)points[i].nodes[k] < rbt_sim_node_count(s->sim)) touching[points[i].nodes[k]] = 1;
    free(points);
}

static bool advance(side *s, const rbt_tool_words *w, const char *solver, json_t *result) {
    rbt_step_report report;
    double start = rbt_tool_processor_seconds(w);
    bool good = rbt_sim_step(s->sim, &report);
    s->seconds = rbt_tool_processor_seconds(w) - start;
    s->iterations = report.statistics[RBT_STAT_ITERATIONS];
    if (!good)
        json_object_set_new(result, "failed",
                            json_pack("{s:s, s:s, s:s}", "solver", solver, "outcome",
                                      rbt_outcome_name(report.outcome), "hint", report.hint));
    return good;
}

// A step with the barrier from another one's state. false: it failed.
static bool follow(side *s, const rbt_sim *from) {
    rbt_error error = {0};
    rbt_step_report report;
    size_t nodes = rbt_sim_node_count(s->sim);
    return rbt_sim_set_positions(s->sim, 0, nodes, rbt_sim_positions(from), &error) &&
           rbt_sim_set_velocities(s->sim, 0, nodes, rbt_sim_velocities(from), &error) &&
           rbt_sim_step(s->sim, &report);
}

// Between two simulations, of nodes that are marked; NULL: of all
static double farthest(const rbt_sim *a, const rbt_sim *b, const unsigned char *touching) {
    const double *x = rbt_sim_positions(a), *y = rbt_sim_positions(b);
    double most = 0, by[3];
    for (size_t n = 0; n < rbt_sim_node_count(a); n++) {
        if (touching && !touching[n]) continue;
        rbt_subtract(x + 3 * n, y + 3 * n, by);
        most = fmax(most, rbt_length(by));
    }
    return most;
}

static double thickness_of(const rbt_sim *sim) {
    rbt_text words = {0};
    rbt_text_add(&words, "{");
    sim->stepper.method->describe(sim->stepper.self, &words);
    rbt_text_add(&words, "}");
    json_t *about = words.failed ? NULL : json_loads(words.text, 0, NULL);
    double thickness = json_real_value(json_object_get(json_object_get(about, "contact"), "thickness"));
    json_decref(about);
    rbt_text_free(&words);
    return thickness;
}

int main(int count, char **words) {
    rbt_tool_words w = rbt_tool_read(count, words, USAGE);
    if (w.setting_count == RBT_TOOL_SETTINGS) w.setting_count--;
    side sides[3] = {begin(&w, SOLVERS[0]), begin(&w, SOLVERS[1]), begin(&w, SOLVERS[0])};
    size_t nodes = rbt_sim_node_count(sides[0].sim);
    double thickness = thickness_of(sides[0].sim), spent = 0;
    unsigned char *touching = calloc(nodes + 1, 1);
    json_t *result = json_object(), *steps = json_array();
    if (!touching || !(thickness > 0)) exit(1);
    json_object_set_new(result, "thickness", json_real(thickness));
    for (int k = 0; k < w.steps && !(spent > w.budget); k++) {
        bool good = true, followed = follow(&sides[2], sides[1].sim);
        for (int i = 0; good && i < 2; i++) good = advance(&sides[i], &w, SOLVERS[i], result);
        if (!good) break;
        memset(touching, 0, nodes);
        for (int i = 0; i < 2; i++) mark(&sides[i], touching);
        double off = farthest(sides[0].sim, sides[1].sim, touching);
        double all = farthest(sides[0].sim, sides[1].sim, NULL);
        if (followed) mark(&sides[2], touching);
        double one = followed ? farthest(sides[1].sim, sides[2].sim, touching) : -thickness;  // below 0: it failed
        json_array_append_new(steps, json_pack("{s:f, s:f, s:f, s:[I, I], s:[f, f], s:[f, f]}", "off",
                                               off / thickness, "all", all / thickness, "one", one / thickness,
                                               "pairs", (json_int_t)sides[0].pairs, (json_int_t)sides[1].pairs,
                                               "seconds", sides[0].seconds, sides[1].seconds, "iterations",
                                               sides[0].iterations, sides[1].iterations));
        spent += sides[0].seconds + sides[1].seconds;
    }
    json_object_set_new(result, "steps", steps);
    for (int i = 0; i < 3; i++) rbt_sim_free(sides[i].sim);
    free(touching);
    rbt_tool_print(result);
    return 0;
}
