#include "base/file.h"
#include "cli/command.h"
#include "scene/schema.h"

#include <stdio.h>

int rbt_command_schema(int count, char **words) {
    bool reference = false;
    const char *output = NULL, *positionals[1];
    int positional_count;
    const rbt_option options[] = {
        {.name = "--reference",
         .doc = "the reference page in Markdown instead of the JSON Schema",
         .flag = &reference},
        {.name = "--output",
         .brief = "-o",
         .value = "FILE",
         .doc = "write here instead of to the terminal",
         .text = &output},
    };
    int done = rbt_options_read("schema", options, 2, count, words, positionals, &positional_count, 0, 0);
    if (done >= 0) return done;
    rbt_error error = {0};
    rbt_text text = {0};
    bool ok = reference ? rbt_reference_write(&text) : rbt_schema_write(&text);
    if (!ok) rbt_fail_memory(&error, text.size, "the text");
    else if (output) ok = rbt_file_write(output, text.text, text.size, &error);
    else fwrite(text.text, 1, text.size, stdout);  // main looks whether it arrived
    rbt_text_free(&text);
    return ok ? 0 : rbt_complain(&error);
}
