#include "base/processor.h"
#include "base/text.h"
#include "base/threads.h"
#include "cli/command.h"
#include "step/core/method.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const rbt_command RBT_COMMANDS[] = {
    {"run", "SCENE [-o DIR] [options]", "Simulate a scene and write frames, energies and a report.", rbt_command_run},
    {"view", "SCENE|DIR [DIR2…] [options]", "Show a run in the browser, while it runs or afterwards.",
     rbt_command_view},
    {"export", "DIR -o RUN.html", "Write a run as one HTML file that plays in any browser.", rbt_command_export},
    {"check", "SCENE…", "Validate scenes without running them.", rbt_command_check},
    {"compare", "SCENE --methods a,b,… [options]", "Run several methods on one scene: times, errors, plots.",
     rbt_command_compare},
    {"sweep", "SCENE --set path=a,b,… [options]", "Run one scene with several values: a table, plots.",
     rbt_command_sweep},
    {"info", "MESH…", "Describe and diagnose mesh files.", rbt_command_info},
    {"mesh", "SHAPE -o FILE [--set name=value…]", "Generate a mesh.", rbt_command_mesh},
    {"render", "DIR -o PICTURE.png [options]", "Draw frames of a run, or a mesh, without a display.",
     rbt_command_render},
    {"plot", "DIR… [--steps] [-o FILE.svg]",
     "Draw the energies and momenta of a run, or of several, as curves; or the steps of one.", rbt_command_plot},
    {"verify", "DIR [--json] [options]",
     "Search a run's frames and the ways between them for intersections, exactly.", rbt_command_verify},
    {"methods", "", "List the time-stepping methods and when to use them.", rbt_command_methods},
    {"schema", "[--reference] [-o FILE]", "Print the JSON Schema or the reference page of scenes.",
     rbt_command_schema},
    {"help", "[COMMAND]", "Explain a command.", rbt_command_help},
};
const int RBT_COMMAND_COUNT = sizeof RBT_COMMANDS / sizeof RBT_COMMANDS[0];

static const char *command_name(int i) { return i < RBT_COMMAND_COUNT ? RBT_COMMANDS[i].name : NULL; }

static void print_overview(void) {
    printf("rubato %s: elastodynamics in which every part of a body may keep its own tempo\n\nusage:\n", RBT_VERSION);
    for (int i = 0; i < RBT_COMMAND_COUNT; i++)
        printf("  rubato %-8s %-36s %s\n", RBT_COMMANDS[i].name, RBT_COMMANDS[i].usage, RBT_COMMANDS[i].doc);
    printf("\nrubato COMMAND --help lists a command's options.\n");
}

static int call(const char *name, int count, char **words) {
    for (int i = 0; i < RBT_COMMAND_COUNT; i++)
        if (strcmp(RBT_COMMANDS[i].name, name) == 0) return RBT_COMMANDS[i].run(count, words);
    const char *near = rbt_text_nearest(name, command_name);
    fprintf(stderr, "rubato: no command \"%s\"%s%s%s\n", name, near ? "; did you mean \"" : "", near ? near : "",
            near ? "\"?" : "; rubato help lists them");
    return 2;
}

int rbt_command_help(int count, char **words) {
    static char help[] = "--help";
    if (count > 0 && strcmp(words[0], "help") != 0) return call(words[0], 1, (char *[]){help});
    print_overview();
    return 0;
}

int rbt_command_methods(int count, char **words) {
    const char *unused[1];
    int positionals, code = rbt_options_read("methods", NULL, 0, count, words, unused, &positionals, 0, 0);
    if (code >= 0) return code;
    for (int i = 0; rbt_method_at(i); i++) {
        const rbt_method *m = rbt_method_at(i);
        printf("%s\n  %s\n  use it when: %s\n", m->name, m->doc, m->when);
        for (int s = 0; m->solvers && m->solvers(s); s++) printf("%s%s", s ? ", " : "  solvers: ", m->solvers(s));
        printf(m->solvers ? "\n\n" : "\n");
    }
    return 0;
}

// What was printed must have arrived: a full disk behind stdout is an error as any other.
static int finish(int code) {
    bool whole = !ferror(stdout) && fflush(stdout) == 0;
    if (whole) return code;
    // The stream does not remember why: one more byte behind what is lost anyway fails for the same reason.
    int why = write(STDOUT_FILENO, "\n", 1) < 0 ? errno : EIO;
    fprintf(stderr, "rubato: cannot write to standard output: %s\n", strerror(why));
    return code ? code : 1;
}

static int start(int count, char **words) {
    if (count < 2 || strcmp(words[1], "--help") == 0 || strcmp(words[1], "-h") == 0) {
        print_overview();
        return count < 2 ? 2 : 0;
    }
    if (strcmp(words[1], "--version") == 0) {
        printf("rubato %s\n", RBT_VERSION);
        return 0;
    }
    rbt_error error = {0};
    if (!rbt_processor_check(&error)) return rbt_complain(&error), 2;
    if (!rbt_threads_make_room(&error)) return rbt_complain(&error);
    return call(words[1], count - 2, words + 2);
}

int main(int count, char **words) {
    signal(SIGXFSZ, SIG_IGN);  // a file that grows too large is an error to report, not an end without a word
    return finish(start(count, words));
}
