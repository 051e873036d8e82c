// rubato view: a run in the browser, while it runs or afterwards.
#include "cli/viewing.h"
#include "serve/page.h"
#include "serve/request.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool is_folder(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

// rubato view SCENE is rubato run SCENE --view --stay.
static int run_scene(int count, char **words) {
    static char view[] = "--view", stay[] = "--stay";
    char *all[2 * RBT_MAX_WORDS + 2];
    if (count > 2 * RBT_MAX_WORDS) return fprintf(stderr, "rubato view: too many words\n"), 2;
    memcpy(all, words, (size_t)count * sizeof *all);
    all[count] = view;
    all[count + 1] = stay;
    return rbt_command_run(count + 2, all);
}

int rbt_command_view(int count, char **words) {
    rbt_viewing v = {0};
    const char *folders[RBT_MAX_RUNS];
    const rbt_option options[] = {RBT_VIEWING_OPTIONS(v)};
    if (count > 0 && words[0][0] != '-' && !is_folder(words[0])) {
        rbt_error error = {0};
        if (!rbt_page_is_there(&error)) return rbt_complain(&error);
        return run_scene(count, words);
    }
    if (count > 0 && (strcmp(words[0], "--help") == 0 || strcmp(words[0], "-h") == 0))
        printf("rubato view SCENE simulates and shows; it takes the options of rubato run, and --interact.\n"
               "rubato view DIR shows a run that is there, DIR DIR2 two side by side:\n\n");
    int positionals, code = rbt_options_read("view", options, sizeof options / sizeof *options, count, words, folders,
                                             &positionals, 1, RBT_MAX_RUNS);
    if (code >= 0) return code;
    for (int i = 0; i < positionals; i++)
        if (!is_folder(folders[i]))
            return fprintf(stderr,
                           "rubato: %s: there is no such folder; rubato view DIR DIR2 shows runs side by side\n",
                           folders[i]),
                   1;
    return rbt_viewing_show(&v, (size_t)positionals, folders, folders);
}
