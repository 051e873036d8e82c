// Arrays whose size is checked before it is multiplied, and an arena for data that lives and dies together.
#ifndef RBT_BASE_MEMORY_H
#define RBT_BASE_MEMORY_H

#include "base/error.h"

#include <stdint.h>
#include <stdlib.h>

// count * size bytes, zeroed; NULL with an error on overflow or lack of memory. A count of 0 still gives a pointer.
void *rbt_array_new(size_t count, size_t size, const char *what, rbt_error *error);

// Room for at least `need` items in *items (of `size` bytes, *capacity allocated so far), growing by half.
bool rbt_array_reserve(void **items, size_t *capacity, size_t need, size_t size, const char *what, rbt_error *error);

// A growing chain of blocks freed at once; memory is zeroed and aligned to 64 bytes.
typedef struct rbt_arena rbt_arena;

rbt_arena *rbt_arena_new(void);
void rbt_arena_free(rbt_arena *arena);
void *rbt_arena_take(rbt_arena *arena, size_t count, size_t size);  // NULL on overflow or lack of memory
char *rbt_arena_text(rbt_arena *arena, const char *text);
size_t rbt_arena_bytes(const rbt_arena *arena);

#endif
