// rubato plot: the curves of a run.
#include "base/file.h"
#include "cli/command.h"
#include "view/energy_plot.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int rbt_command_plot(int count, char **words) {
    const char *folder = NULL, *output = NULL;
    const rbt_option options[] = {
        {"--output", "-o", "FILE", "the SVG file to write (default DIR/energy.svg)", .text = &output}};
    int positionals;
    int code = rbt_options_read("plot", options, 1, count, words, &folder, &positionals, 1, 1);
    if (code >= 0) return code;
    rbt_error error = {0};
    struct stat info;
    char *csv = rbt_path_join(folder, "energy.csv"), *beside = rbt_path_join(folder, "energy.svg");
    bool good = csv && beside;
    if (!good) rbt_fail_memory(&error, 0, "a file name");
    else if (stat(folder, &info) != 0) good = rbt_fail_at(&error, folder, 0, 0, "there is no such folder");
    else if (stat(csv, &info) != 0)
        good = rbt_fail_at(&error, folder, 0, 0,
                           "the folder holds no energy.csv, so it is no run; rubato run writes one");
    const char *target = output ? output : beside;
    good = good && rbt_energy_plot_write(csv, folder, target, &error);
    if (good) printf("%s\n", target);
    free(csv);
    free(beside);
    return good ? 0 : rbt_complain(&error);
}
