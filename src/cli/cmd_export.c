// rubato export: a run as one HTML file.
#include "cli/command.h"
#include "serve/export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int rbt_command_export(int count, char **words) {
    const char *output = NULL, *name = NULL, *folder;
    bool quiet = false;
    const rbt_option options[] = {
        {"--output", "-o", "RUN.html", "the file to write (DIR.html)", .text = &output},
        {"--name", NULL, "TEXT", "what the page calls the run (its folder)", .text = &name},
        {"--quiet", "-q", NULL, "say nothing but errors", .flag = &quiet},
    };
    int positionals, code = rbt_options_read("export", options, sizeof options / sizeof *options, count, words,
                                             &folder, &positionals, 1, 1);
    if (code >= 0) return code;
    rbt_error error = {0};
    rbt_export_report report;
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/') length--;
    char *own = malloc(length + 6);
    bool good = own != NULL;
    if (good) {
        snprintf(own, length + 6, "%.*s.html", (int)length, folder);
        good = rbt_export(folder, name ? name : folder, output ? output : own, &report, &error);
    } else rbt_fail_memory(&error, length, "a file name");
    code = good ? 0 : rbt_complain(&error);
    if (good && !quiet)
        printf("%s: %zu frame%s, %zu nodes drawn, %.1f MB\n", output ? output : own, report.frames,
               report.frames == 1 ? "" : "s", report.nodes, 1e-6 * (double)report.bytes);
    free(own);
    return code;
}
