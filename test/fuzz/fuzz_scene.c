// The scene reader on arbitrary bytes. What follows a NUL byte is a setting, as --set gives it.
#include "rubato/scene.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    rbt_error error = {0};
    char *text = malloc(size + 1);
    if (!text) return 0;
    if (size) memcpy(text, data, size);
    text[size] = '\0';
    size_t length = strlen(text);
    const char *settings[] = {text + length + 1};
    rbt_scene_file *file = rbt_scene_parse(text, length, "fuzz.json", settings, length < size, &error);
    // What the parser made must pass the check again, and what failed must say why.
    if (file ? !rbt_scene_check(rbt_scene_of(file), &error) : !error.message[0]) abort();
    rbt_scene_free(file);
    free(text);
    return 0;
}
