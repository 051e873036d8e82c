// What the measuring programs share: their words, and the simulation they look at.
#ifndef RBT_BENCH_TOOL_H
#define RBT_BENCH_TOOL_H

#include "sim/sim.h"

#include <jansson.h>

enum { RBT_TOOL_SETTINGS = 64, RBT_TOOL_PROBES = 4 };

typedef struct rbt_tool_words {
    const char *scene;
    size_t setting_count;
    const char *settings[RBT_TOOL_SETTINGS];  // of --set
    int steps, threads, repeats;              // of --steps, --threads, --repeats
    const char *load, *save;                  // of --load, --save: checkpoints
    size_t probe_count;
    double probes[RBT_TOOL_PROBES][3];  // of --probe: places at rest
    double budget;                      // of --budget: seconds of the processors
    // of --energies, --contacts, --trace, --fill, --warp
    bool energies, contacts, trace, fill, warp;
} rbt_tool_words;

// Reads the program's words; ends it with 2 and a sentence if they are wrong.
rbt_tool_words rbt_tool_read(int count, char **words, const char *usage);

// The simulation of the scene with the settings applied; ends the program with 1 and the reason if there is none.
rbt_sim *rbt_tool_sim(const rbt_tool_words *words);

// Seconds of the processors that the work has had so far, whatever else the machine does: of this thread if the words
// ask for one, since a library's own threads may wait busily beside it; else of all threads.
double rbt_tool_processor_seconds(const rbt_tool_words *words);

// Ends the program with 1 and this error.
void rbt_tool_fail(const rbt_error *error);

// Prints a JSON object as one line and frees it.
void rbt_tool_print(json_t *object);

#endif
