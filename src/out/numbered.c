#include "out/numbered.h"

#include "base/file.h"
#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

char *rbt_numbered_path(const char *folder, const char *prefix, int64_t number, const char *suffix,
                        rbt_error *error) {
    char *path = NULL;
    if (asprintf(&path, "%s/%s%06lld%s", folder, prefix, (long long)number, suffix) >= 0) return path;
    rbt_fail_memory(error, strlen(folder), "a file name");
    return NULL;
}

// The number in a name, -1 if the name is of another kind. Digits as rbt_numbered_path writes them, no others.
static int64_t number_of(const char *name, const char *prefix, const char *suffix, const char *more) {
    size_t n = strlen(prefix), digits = 0;
    if (strncmp(name, prefix, n) != 0) return -1;
    int64_t number = 0;
    for (const char *c = name + n; *c >= '0' && *c <= '9' && digits < 18; c++, digits++)
        number = 10 * number + (*c - '0');
    const char *end = name + n + digits;
    if (digits < 6 || (digits > 6 && name[n] == '0') || strncmp(end, suffix, strlen(suffix)) != 0) return -1;
    return strcmp(end + strlen(suffix), more) == 0 ? number : -1;
}

static int compare_numbers(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

// `more` flags of open; *at NULL without an error: there is no such folder
static bool open_folder(const char *folder, int more, DIR **at, rbt_error *error) {
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | more);
    *at = descriptor >= 0 ? fdopendir(descriptor) : NULL;
    if (*at) return true;
    if (descriptor < 0 && errno == ENOENT) return true;
    if (descriptor < 0) return rbt_fail_at(error, folder, 0, 0, "cannot read the folder: %s", strerror(errno));
    close(descriptor);
    return rbt_fail_memory(error, BUFSIZ, "reading a folder");
}

bool rbt_numbered_list(const char *folder, const char *prefix, const char *suffix, int64_t **numbers, size_t *count,
                       rbt_error *error) {
    *numbers = NULL;
    *count = 0;
    DIR *at;
    if (!open_folder(folder, 0, &at, error)) return false;
    size_t capacity = 0;
    bool good = true;
    for (const struct dirent *entry; at && good && (entry = readdir(at));) {
        int64_t number = number_of(entry->d_name, prefix, suffix, "");
        if (number < 0) continue;
        good = rbt_array_reserve((void **)numbers, &capacity, *count + 1, sizeof **numbers, "a list of files", error);
        if (good) (*numbers)[(*count)++] = number;
    }
    if (at) closedir(at);
    if (*count) qsort(*numbers, *count, sizeof **numbers, compare_numbers);
    if (good) return true;
    free(*numbers);
    *numbers = NULL;
    *count = 0;
    return false;
}

bool rbt_numbered_remove(const char *folder, const char *prefix, const char *suffix, int64_t after,
                         rbt_error *error) {
    DIR *at;
    if (!open_folder(folder, O_NOFOLLOW, &at, error)) return false;
    bool good = true;
    for (const struct dirent *entry; at && good && (entry = readdir(at));) {
        bool unfinished = number_of(entry->d_name, prefix, suffix, ".new") >= 0;
        if (!unfinished && number_of(entry->d_name, prefix, suffix, "") <= after) continue;
        if (!unfinished && number_of(entry->d_name, prefix, suffix, "") < 0) continue;
        char *path = rbt_path_join(folder, entry->d_name);
        if (!path) good = rbt_fail_memory(error, strlen(folder), "a file name");
        else if (unlink(path) != 0 && errno != ENOENT)
            good = rbt_fail_at(error, path, 0, 0, "cannot remove the file of an earlier run: %s", strerror(errno));
        free(path);
    }
    if (at) closedir(at);
    return good;
}
