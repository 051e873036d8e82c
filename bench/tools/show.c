// What showing a state costs a run beside a step: seconds of the processors (tool.h), as JSON.
#include "serve/live.h"
#include "serve/message.h"
#include "tool.h"

#include <stdlib.h>

enum { SHOWN = 20 };

static double cost_of(rbt_live *live, const rbt_sim *sim, uint32_t fields, const rbt_tool_words *words,
                      size_t *bytes) {
    double start = rbt_tool_processor_seconds(words);
    for (int i = 0; i < SHOWN; i++) {
        rbt_live_want(live, fields);
        rbt_live_show(live, sim);
    }
    double seconds = (rbt_tool_processor_seconds(words) - start) / SHOWN;
    rbt_message *m = rbt_live_newest(live, 0);
    *bytes = m ? m->size : 0;
    rbt_message_drop(m);
    return seconds;
}

int main(int count, char **arguments) {
    rbt_tool_words words =
        rbt_tool_read(count, arguments, "show SCENE [--steps N] [--threads N] [--set PATH=VALUE]…");
    rbt_sim *sim = rbt_tool_sim(&words);
    rbt_error error = {0};
    rbt_step_report report;
    rbt_live *live = rbt_live_new(false, &error);
    if (!live) rbt_tool_fail(&error);
    size_t bytes[3];
    if (!rbt_sim_step(sim, &report)) return 1;  // which analyses the matrix
    double start = rbt_tool_processor_seconds(&words);
    for (int i = 0; i < words.steps; i++)
        if (!rbt_sim_step(sim, &report)) return 1;
    double step = (rbt_tool_processor_seconds(&words) - start) / words.steps;
    rbt_live_want(live, 0);
    double first = rbt_tool_processor_seconds(&words);
    rbt_live_show(live, sim);  // with what depends on the mesh alone
    first = rbt_tool_processor_seconds(&words) - first;
    double positions = cost_of(live, sim, 0, &words, &bytes[0]);
    double speed = cost_of(live, sim, RBT_SHOWN_SPEED, &words, &bytes[1]);
    double stress = cost_of(live, sim, RBT_SHOWN_STRESS, &words, &bytes[2]);
    rbt_tool_print(json_pack("{s:i, s:f, s:f, s:f, s:f, s:f, s:i}", "nodes", (int)rbt_sim_node_count(sim), "step",
                             step, "first", first, "positions", positions, "speed", speed, "stress", stress, "bytes",
                             (int)bytes[0]));
    rbt_live_free(live);
    rbt_sim_free(sim);
    return 0;
}
