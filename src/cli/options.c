#include "base/text.h"
#include "cli/command.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const rbt_command *find_command(const char *name) {
    for (int i = 0; i < RBT_COMMAND_COUNT; i++)
        if (strcmp(RBT_COMMANDS[i].name, name) == 0) return &RBT_COMMANDS[i];
    return NULL;
}

static void print_help(const char *command, const rbt_option *options, int option_count) {
    const rbt_command *c = find_command(command);
    printf("usage: rubato %s %s\n", command, c ? c->usage : "");
    if (c) printf("\n%s\n", c->doc);
    if (option_count) printf("\n");
    for (int i = 0; i < option_count; i++) {
        char left[64];
        snprintf(left, sizeof left, "%s%s%s%s%s", options[i].brief ? options[i].brief : "",
                 options[i].brief ? ", " : "", options[i].name, options[i].value ? " " : "",
                 options[i].value ? options[i].value : "");
        printf("  %-26s %s\n", left, options[i].doc);
    }
}

static bool is_named(const rbt_option *o, const char *word, size_t length) {
    return (strlen(o->name) == length && strncmp(o->name, word, length) == 0) ||
           (o->brief && strlen(o->brief) == length && strncmp(o->brief, word, length) == 0);
}

static const char *nearest_option(const char *word, const rbt_option *options, int option_count) {
    const char *best = NULL;
    int fewest = (int)strlen(word) / 2 + 1;
    for (int i = 0; i < option_count; i++) {
        int edits = rbt_text_edits(word, options[i].name);
        if (edits < fewest) {
            fewest = edits;
            best = options[i].name;
        }
    }
    return best;
}

// Puts the value where the option wants it; false after a sentence.
static bool store(const char *command, const rbt_option *o, const char *value) {
    char *end = NULL;
    errno = 0;
    if (o->text) *o->text = value;
    else if (o->list && o->list->count < RBT_MAX_WORDS) o->list->words[o->list->count++] = value;
    else if (o->real) *o->real = strtod(value, &end);
    else if (o->integer) *o->integer = strtol(value, &end, 10);
    else {
        fprintf(stderr, "rubato %s: more than %d times %s\n", command, RBT_MAX_WORDS, o->name);
        return false;
    }
    if (end && (end == value || *end || errno || (o->real && !isfinite(*o->real)))) {
        fprintf(stderr, "rubato %s: %s needs a number, \"%s\" is none\n", command, o->name, value);
        return false;
    }
    if (!o->integer || (*o->integer >= o->min && (!o->max || *o->integer <= o->max))) return true;
    fprintf(stderr, "rubato %s: %s must be at least %ld", command, o->name, o->min);
    if (o->max) fprintf(stderr, " and at most %ld", o->max);
    fprintf(stderr, ", found %ld\n", *o->integer);
    return false;
}

int rbt_options_read(const char *command, const rbt_option *options, int option_count, int count, char **words,
                     const char **positionals, int *positional_count, int min, int max) {
    *positional_count = 0;
    bool only_positionals = false;
    for (int i = 0; i < count; i++) {
        const char *word = words[i];
        if (!only_positionals && strcmp(word, "--") == 0) {
            only_positionals = true;
            continue;
        }
        if (only_positionals || word[0] != '-' || !word[1]) {
            if (*positional_count == max) {
                fprintf(stderr, "rubato %s: \"%s\" is one word too many; see rubato %s --help\n", command, word,
                        command);
                return 2;
            }
            positionals[(*positional_count)++] = word;
            continue;
        }
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            print_help(command, options, option_count);
            return 0;
        }
        const char *equals = word[1] == '-' ? strchr(word, '=') : NULL;
        size_t length = equals ? (size_t)(equals - word) : strlen(word);
        const rbt_option *o = NULL;
        for (int k = 0; k < option_count && !o; k++)
            if (is_named(&options[k], word, length)) o = &options[k];
        if (!o) {
            char name[64];
            snprintf(name, sizeof name, "%.*s", (int)length, word);
            const char *near = nearest_option(name, options, option_count);
            fprintf(stderr, "rubato %s: no option \"%s\"%s%s%s; see rubato %s --help\n", command, name,
                    near ? ", did you mean " : "", near ? near : "", near ? "?" : "", command);
            return 2;
        }
        if (o->flag) {
            if (equals) {
                fprintf(stderr, "rubato %s: %s takes no value\n", command, o->name);
                return 2;
            }
            *o->flag = true;
            continue;
        }
        const char *value = equals ? equals + 1 : i + 1 < count ? words[++i] : NULL;
        if (!value) {
            fprintf(stderr, "rubato %s: %s needs a value (%s)\n", command, o->name, o->value);
            return 2;
        }
        if (!store(command, o, value)) return 2;
    }
    if (*positional_count < min) {
        const rbt_command *c = find_command(command);
        fprintf(stderr, "rubato %s: a word is missing; usage: rubato %s %s\n", command, command, c ? c->usage : "");
        return 2;
    }
    return -1;
}

char *rbt_default_folder(const char *begin, const char *scene) {
    const char *slash = strrchr(scene, '/'), *name = slash ? slash + 1 : scene;
    size_t length = strlen(name);
    if (length > 5 && strcmp(name + length - 5, ".json") == 0) length -= 5;
    size_t size = strlen(begin) + length + 1;
    char *folder = malloc(size);
    if (folder) snprintf(folder, size, "%s%.*s", begin, (int)length, name);
    return folder;
}

int rbt_complain(const rbt_error *error) {
    char text[2048];
    if (!error->message[0]) {  // the one trouble in which even a sentence may be missing
        fprintf(stderr, "rubato: not enough memory\n");
        return 1;
    }
    fprintf(stderr, "rubato: %s\n", rbt_error_text(error, text, sizeof text));
    return 1;
}
