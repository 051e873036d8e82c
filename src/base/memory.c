#include "base/memory.h"

#include <string.h>

void *rbt_array_new(size_t count, size_t size, const char *what, rbt_error *error) {
    if (size && count > SIZE_MAX / 2 / size) {
        rbt_fail(error, "%zu items of %zu bytes for %s are more than can be addressed", count, size, what);
        return NULL;
    }
    void *items = calloc(count ? count : 1, size ? size : 1);
    if (!items) rbt_fail_memory(error, count * size, what);
    return items;
}

bool rbt_array_reserve(void **items, size_t *capacity, size_t need, size_t size, const char *what, rbt_error *error) {
    if (need <= *capacity) return true;
    size_t wanted = *capacity + *capacity / 2 + 16;
    if (wanted < need) wanted = need;
    if (wanted > SIZE_MAX / 2 / size)
        return rbt_fail(error, "%zu items of %zu bytes for %s are more than can be addressed", wanted, size, what);
    void *grown = realloc(*items, wanted * size);
    if (!grown) return rbt_fail_memory(error, wanted * size, what);
    *items = grown;
    *capacity = wanted;
    return true;
}

enum { BLOCK_BYTES = 1 << 16, ALIGN = 64 };

typedef struct block {
    struct block *next;
    size_t used, size;
    char *bytes;
} block;

struct rbt_arena {
    block *first;
    size_t total;
};

rbt_arena *rbt_arena_new(void) { return calloc(1, sizeof(rbt_arena)); }

void rbt_arena_free(rbt_arena *arena) {
    if (!arena) return;
    for (block *b = arena->first, *next; b; b = next) {
        next = b->next;
        free(b->bytes);
        free(b);
    }
    free(arena);
}

static block *new_block(rbt_arena *arena, size_t bytes) {
    size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
    block *b = malloc(sizeof *b);
    char *memory = b ? aligned_alloc(ALIGN, size) : NULL;
    if (!memory) {
        free(b);
        return NULL;
    }
    memset(memory, 0, size);
    *b = (block){arena->first, 0, size, memory};
    arena->first = b;
    arena->total += size;
    return b;
}

void *rbt_arena_take(rbt_arena *arena, size_t count, size_t size) {
    if (size && count > (SIZE_MAX / 2 - ALIGN) / size) return NULL;
    size_t bytes = (count * size + ALIGN - 1) / ALIGN * ALIGN;
    if (!bytes) bytes = ALIGN;
    block *b = arena->first;
    if (!b || b->size - b->used < bytes) b = new_block(arena, bytes);
    if (!b) return NULL;
    void *memory = b->bytes + b->used;
    b->used += bytes;
    return memory;
}

char *rbt_arena_text(rbt_arena *arena, const char *text) {
    size_t n = strlen(text) + 1;
    char *copy = rbt_arena_take(arena, n, 1);
    return copy ? memcpy(copy, text, n) : NULL;
}

size_t rbt_arena_bytes(const rbt_arena *arena) { return arena->total; }
