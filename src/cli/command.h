// The commands of the `rubato` program, and how they read their arguments.
//
// A command gets the words behind its name. It returns the exit code: 0 all went well, 1 the work failed (the reason
// is on stderr), 2 the words were wrong.
#ifndef RBT_CLI_COMMAND_H
#define RBT_CLI_COMMAND_H

#include "base/error.h"
#include "rubato/scene.h"

typedef struct rbt_command {
    const char *name;
    const char *usage;  // "SCENE [-o DIR] …"
    const char *doc;    // one line
    int (*run)(int count, char **words);
} rbt_command;

extern const rbt_command RBT_COMMANDS[];
extern const int RBT_COMMAND_COUNT;

int rbt_command_run(int count, char **words);
int rbt_command_check(int count, char **words);
int rbt_command_compare(int count, char **words);
int rbt_command_sweep(int count, char **words);
int rbt_command_info(int count, char **words);
int rbt_command_mesh(int count, char **words);
int rbt_command_render(int count, char **words);
int rbt_command_plot(int count, char **words);
int rbt_command_view(int count, char **words);
int rbt_command_export(int count, char **words);
int rbt_command_verify(int count, char **words);
int rbt_command_methods(int count, char **words);
int rbt_command_schema(int count, char **words);
int rbt_command_help(int count, char **words);

// One option of a command. Exactly one of the targets is set.
typedef struct rbt_option {
    const char *name;   // "--frames"
    const char *brief;  // "-n" or NULL
    const char *value;  // what stands behind it, for the help ("N"); NULL for a flag
    const char *doc;
    bool *flag;
    const char **text;
    double *real;
    long *integer;
    long min, max;               // limits of an integer; max 0: none
    struct rbt_word_list *list;  // may be given several times
} rbt_option;

enum { RBT_MAX_WORDS = 64 };

typedef struct rbt_word_list {
    int count;
    const char *words[RBT_MAX_WORDS];
} rbt_word_list;

// Sorts words into options and positionals (at most `max`, at least `min`); `--name value` and `--name=value`.
// Returns -1 to continue, or the exit code to end with: after --help 0, after a sentence about a wrong word 2.
int rbt_options_read(const char *command, const rbt_option *options, int option_count, int count, char **words,
                     const char **positionals, int *positional_count, int min, int max);

// "rubato: <error>" on stderr; returns 1.
int rbt_complain(const rbt_error *error);

// Before bodies of the shape "surface" are made, which may take long: how fine and how many tets, one line each to
// stdout. What is wrong with them is for those who make them to say.
void rbt_print_estimates(const rbt_scene *scene);

// Warnings about the scene's text, as about keys that have been renamed; NULL: none.
void rbt_print_scene_warnings(const rbt_scene_file *file);
bool rbt_print_estimate(const char *shape, const void *parameters);

// `begin` and the name of a scene's file without its folder and the ending .json, as in out/NAME: where results go
// unless told. NULL: no memory. Only the ending goes: a0.2.json and a0.5.json are two scenes. Free the result.
char *rbt_default_folder(const char *begin, const char *scene);

#endif
