// Which nodes imex makes implicit at the scene's step, and whether the others bear it: prints as one JSON object for
// the set by the paper's local test alone ("paper") and for the certified one ("ours") the ill-shaped elements, the
// implicit nodes, and the bound of the explicit ones with the implicit ones constrained, all at rest.
#include "tool.h"

#include "step/explicit/stability.h"

#include <math.h>
#include <stdlib.h>

static const char USAGE[] = "splits SCENE [--set path=value]… [--threads N]";

// rbt_stability_bound takes 2 % off what Lanczos steps find, which is not below the true bound: these are put back,
// so that a step beyond it is beyond the bound for certain.
static const double TAKEN_OFF = 0.96;  // of the square

static json_t *split(rbt_stability *s, const rbt_split_def *def) {
    rbt_error error = {0};
    unsigned char *implicit = rbt_array_new(s->model->node_count, 1, "implicit nodes", &error);
    if (!implicit) rbt_tool_fail(&error);
    rbt_split found = rbt_stability_split(s, def, implicit);
    double bound = rbt_stability_bound(s, implicit, def->step, NULL, NULL) / sqrt(TAKEN_OFF);
    free(implicit);
    return json_pack("{s:i, s:i, s:o}", "ill_shaped", (int)found.ill_count, "implicit", (int)found.implicit_count,
                     "bound", isfinite(bound) ? json_real(bound) : json_null());
}

int main(int count, char **words) {
    rbt_tool_words w = rbt_tool_read(count, words, USAGE);
    rbt_sim *sim = rbt_tool_sim(&w);
    rbt_error error = {0};
    rbt_stability s;
    double h = sim->model->step;
    if (!rbt_stability_init(&s, sim->model, NULL, &error)) rbt_tool_fail(&error);
    json_t *paper = split(&s, &(rbt_split_def){.step = h, .safety = 1});
    json_t *ours = split(&s, &(rbt_split_def){.step = h, .safety = 0.93, .certify = true, .release = true});
    rbt_tool_print(json_pack("{s:i, s:f, s:o, s:o}", "nodes", (int)sim->model->node_count, "step", h, "paper", paper,
                             "ours", ours));
    rbt_stability_free(&s);
    rbt_sim_free(sim);
    return 0;
}
