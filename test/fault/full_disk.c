// A library to be preloaded: a disk that fills while a program runs. New files whose path contains RUBATO_FULL_PATH go
// to /dev/full after the first RUBATO_FULL_AFTER of them: writing there fails as on a full disk, by the kernel's own
// error.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static int count;

static int open_by(const char *name, const char *path, int flags, mode_t mode) {
    int (*next)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, name);
    const char *part = getenv("RUBATO_FULL_PATH"), *after = getenv("RUBATO_FULL_AFTER");
    if (part && after && (flags & O_CREAT) && strstr(path, part) && ++count > atoi(after))
        return next("/dev/full", O_WRONLY | O_CLOEXEC);
    return next(path, flags, mode);
}

static mode_t mode_of(int flags, va_list words) { return flags & (O_CREAT | O_TMPFILE) ? va_arg(words, mode_t) : 0; }

int open(const char *path, int flags, ...) {
    va_list words;
    va_start(words, flags);
    mode_t mode = mode_of(flags, words);
    va_end(words);
    return open_by("open", path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list words;
    va_start(words, flags);
    mode_t mode = mode_of(flags, words);
    va_end(words);
    return open_by("open64", path, flags, mode);
}
