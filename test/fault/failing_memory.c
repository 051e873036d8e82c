// A library to be preloaded: the n-th allocation of a program fails, counted from the beginning of main.
//
//   RUBATO_FAIL_AT=n     this one alone fails
//   RUBATO_FAIL_FROM=n   this one and all later ones fail
//   RUBATO_FAIL_COUNT=f  the number of allocations is written to file f when the program ends
//   RUBATO_FAIL_TRACE=1  who asked for the first that fails is printed
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static atomic_bool armed;
static bool traces;
static atomic_long counted;
static long fail_at = -1, fail_from = -1;

static bool fails(void) {
    if (!armed) return false;
    long n = atomic_fetch_add(&counted, 1) + 1;
    bool failed = n == fail_at || (fail_from > 0 && n >= fail_from);
    if (failed && traces) {
        void *callers[32];
        traces = armed = false;
        backtrace_symbols_fd(callers, backtrace(callers, 32), STDERR_FILENO);
        armed = true;
    }
    if (failed) errno = ENOMEM;
    return failed;
}

void *malloc(size_t bytes) { return fails() ? NULL : __libc_malloc(bytes); }
void *calloc(size_t count, size_t size) { return fails() ? NULL : __libc_calloc(count, size); }
void *realloc(void *memory, size_t bytes) { return fails() ? NULL : __libc_realloc(memory, bytes); }
void *memalign(size_t alignment, size_t bytes) { return fails() ? NULL : __libc_memalign(alignment, bytes); }
void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void **memory, size_t alignment, size_t bytes) {
    if (fails()) return ENOMEM;
    *memory = __libc_memalign(alignment, bytes);
    return *memory ? 0 : ENOMEM;
}

static long number(const char *name) {
    const char *text = getenv(name);
    return text ? atol(text) : -1;
}

static int (*real_main)(int, char **, char **);

static int counted_main(int count, char **words, char **environment) {
    fail_at = number("RUBATO_FAIL_AT");
    fail_from = number("RUBATO_FAIL_FROM");
    traces = getenv("RUBATO_FAIL_TRACE");
    armed = true;
    int code = real_main(count, words, environment);
    armed = false;
    char text[32];
    const char *path = getenv("RUBATO_FAIL_COUNT");
    int file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    int length = snprintf(text, sizeof text, "%ld\n", counted);
    if (file >= 0 && (write(file, text, (size_t)length) != length || close(file) != 0)) return 99;
    return code;
}

typedef int starter(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void),
                    void *);

int __libc_start_main(int (*main)(int, char **, char **), int count, char **words, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void *stack_end) {
    starter *start;
    *(void **)&start = dlsym(RTLD_NEXT, "__libc_start_main");
    real_main = main;
    return start(counted_main, count, words, init, fini, loader_fini, stack_end);
}
