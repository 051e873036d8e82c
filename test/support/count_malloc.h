// Counts what the program and its libraries allocate: include it in one file of a test. With a sanitizer, which has an
// allocator of its own, nothing is counted.
#ifndef TEST_SUPPORT_COUNT_MALLOC_H
#define TEST_SUPPORT_COUNT_MALLOC_H

#include <stdatomic.h>
#include <stdlib.h>

static atomic_size_t malloc_count;

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define TEST_SANITIZED 1
#endif
#endif
#if !defined __SANITIZE_ADDRESS__ && !defined TEST_SANITIZED && defined __GLIBC__

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

void *malloc(size_t size) {
    malloc_count++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    malloc_count++;
    return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
    malloc_count++;
    return __libc_realloc(old, size);
}

#endif
#endif
