#include "scene/json_room.h"

#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Lists of empty objects take Jansson the most: 75 bytes for a byte that is read, and 109 when they are written once
// more (of lists of numbers, texts, lists and objects). What is asked for beyond that comes from the heap.
enum { PER_BYTE = 128, AT_LEAST = 1 << 16, GRAIN = 16 };

typedef struct room {
    char *bytes;
    size_t size, used;
} room;

static _Thread_local room own;

static bool is_inside(const void *memory) {
    uintptr_t at = (uintptr_t)memory, first = (uintptr_t)own.bytes;
    return own.bytes && at >= first && at < first + own.size;
}

static void *take(size_t bytes) {
    size_t whole = (bytes + GRAIN - 1) / GRAIN * GRAIN;
    if (!own.bytes || whole < bytes || whole > own.size - own.used) return malloc(bytes);
    void *memory = own.bytes + own.used;
    own.used += whole;
    return memory;
}

void rbt_json_room_free(void *memory) {
    if (!is_inside(memory)) free(memory);
}

// Once, unless the program that we are part of has told Jansson otherwise
__attribute__((constructor)) static void use_room(void) {
    json_malloc_t current;
    json_get_alloc_funcs(&current, NULL);
    if (current == malloc) json_set_alloc_funcs(take, rbt_json_room_free);
}

bool rbt_json_room_enter(size_t size, const char *const *settings, size_t setting_count, rbt_error *error) {
    for (size_t i = 0; i < setting_count; i++) size += strlen(settings[i]);
    if (size > (SIZE_MAX / 2 - AT_LEAST) / PER_BYTE) return rbt_fail_memory(error, size, "the scene");
    own = (room){malloc(PER_BYTE * size + AT_LEAST), PER_BYTE * size + AT_LEAST, 0};
    return own.bytes || rbt_fail_memory(error, own.size, "the scene");
}

void rbt_json_room_leave(void) {
    free(own.bytes);
    own = (room){0};
}
