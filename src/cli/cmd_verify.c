// rubato verify: does anything in a run intersect? Exit code 0: nothing, 1: something, 2: it could not be judged.
#include "base/file.h"
#include "base/threads.h"
#include "cli/command.h"
#include "cli/verify_table.h"

#include <stdio.h>

static void tell(const rbt_verification *v, const rbt_verified *state, void *quiet) {
    if (!*(const bool *)quiet) rbt_verify_table_row(v, state);
}

static bool write_json(const rbt_verification *v, const char *path, rbt_error *error) {
    rbt_text text = {0};
    rbt_verification_json(v, true, &text);
    rbt_text_add(&text, "\n");
    bool good = !text.failed || rbt_fail_memory(error, text.size, "the report");
    if (good && path) good = rbt_file_write(path, text.text, text.size, error);
    else if (good) fwrite(text.text, 1, text.size, stdout);
    rbt_text_free(&text);
    return good;
}

int rbt_command_verify(int count, char **words) {
    const char *folder, *output = NULL;
    bool json = false, quiet = false, states_only = false, ways = false;
    long pairs = 3, threads = 0;
    const rbt_option options[] = {
        {"--pairs", NULL, "N", "how many intersections to name per frame (3)", .integer = &pairs},
        {"--json", NULL, NULL, "print a JSON report instead of the table", .flag = &json},
        {"--output", "-o", "FILE", "write the JSON report to a file", .text = &output},
        {"--frames-only", NULL, NULL, "leave out the straight ways between frames", .flag = &states_only},
        {"--ways", NULL, NULL,
         "judge straight ways also of methods that do not go straight between frames (async-contact)", .flag = &ways},
        {"--threads", "-t", "N", "threads (OMP_NUM_THREADS, or all processors); the result does not depend on it",
         .integer = &threads, .min = 1, .max = RBT_MAX_THREADS},
        {"--quiet", "-q", NULL, "say nothing but errors", .flag = &quiet},
    };
    int positionals, code = rbt_options_read("verify", options, sizeof options / sizeof *options, count, words,
                                             &folder, &positionals, 1, 1);
    if (code >= 0) return code;
    rbt_threads_set((int)threads);
    rbt_verification v = {.keep = (size_t)pairs, .states_only = states_only, .all_ways = ways};
    bool silent = quiet || json;
    rbt_error error = {0};
    bool good = rbt_verify_folder(&v, folder, tell, &silent, &error);
    good = good && (!json || quiet || write_json(&v, NULL, &error)) && (!output || write_json(&v, output, &error));
    if (good && !quiet && !json) {
        char summary[256];
        rbt_verification_summary(&v, summary, sizeof summary);
        printf("%s: %s (%.2f s)\n", folder, summary, v.seconds);
    }
    if (!good) rbt_complain(&error);
    code = !good ? 2 : v.bad_count ? 1 : 0;
    rbt_verification_free(&v);
    return code;
}
