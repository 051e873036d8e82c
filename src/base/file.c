#include "base/file.h"

#include "base/memory.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool rbt_file_read(const char *path, rbt_bytes *bytes, rbt_error *error) {
    *bytes = (rbt_bytes){NULL, 0};
    struct stat info;
    FILE *stream = fopen(path, "rb");
    if (!stream) return rbt_fail_at(error, path, 0, 0, "cannot open the file: %s", strerror(errno));
    if (fstat(fileno(stream), &info) == 0 && S_ISDIR(info.st_mode)) {
        fclose(stream);
        return rbt_fail_at(error, path, 0, 0, "is a folder, not a file");
    }
    size_t capacity = info.st_size > 0 ? (size_t)info.st_size + 1 : 4096;
    char *data = malloc(capacity);
    size_t size = 0;
    while (data) {
        size += fread(data + size, 1, capacity - size, stream);
        if (size < capacity) break;
        char *grown = capacity > SIZE_MAX / 4 ? NULL : realloc(data, capacity * 2);
        if (!grown) free(data);
        data = grown;
        capacity *= 2;
    }
    bool bad = ferror(stream) != 0;
    int why = errno;
    fclose(stream);
    if (!data) return rbt_fail_at(error, path, 0, 0, "not enough memory to read the file");
    if (bad) {
        free(data);
        return rbt_fail_at(error, path, 0, 0, "cannot read the file: %s", strerror(why));
    }
    data[size] = '\0';
    *bytes = (rbt_bytes){data, size};
    return true;
}

bool rbt_new_file_open(rbt_new_file *file, const char *path, rbt_error *error) {
    *file = (rbt_new_file){0};
    size_t n = strlen(path);
    file->path = strdup(path);
    file->temporary = malloc(n + 5);
    if (!file->path || !file->temporary) {
        rbt_new_file_abandon(file);
        return rbt_fail_memory(error, n, "a file name");
    }
    snprintf(file->temporary, n + 5, "%s.new", path);
    file->stream = fopen(file->temporary, "wb");
    if (file->stream) return true;
    int why = errno;
    rbt_new_file_abandon(file);
    return rbt_fail_at(error, path, 0, 0, "cannot write the file: %s", strerror(why));
}

void rbt_new_file_abandon(rbt_new_file *file) {
    if (file->stream) fclose(file->stream);
    if (file->stream && file->temporary) unlink(file->temporary);
    free(file->path);
    free(file->temporary);
    *file = (rbt_new_file){0};
}

bool rbt_new_file_commit(rbt_new_file *file, rbt_error *error) {
    errno = 0;
    bool written = !ferror(file->stream) && fflush(file->stream) == 0 && fsync(fileno(file->stream)) == 0;
    int why = errno;
    if (fclose(file->stream) != 0 && written) {
        written = false;
        why = errno;
    }
    file->stream = NULL;
    if (written && rename(file->temporary, file->path) != 0) {
        written = false;
        why = errno;
    }
    if (!written) {
        unlink(file->temporary);
        rbt_fail_at(error, file->path, 0, 0, "cannot write the file: %s", strerror(why ? why : EIO));
    }
    rbt_new_file_abandon(file);
    return written;
}

bool rbt_file_write(const char *path, const void *data, size_t size, rbt_error *error) {
    rbt_new_file file;
    if (!rbt_new_file_open(&file, path, error)) return false;
    if (size) fwrite(data, 1, size, file.stream);
    return rbt_new_file_commit(&file, error);
}

bool rbt_folder_make(const char *path, rbt_error *error) {
    char *partial = strdup(path);
    if (!partial) return rbt_fail_memory(error, strlen(path), "a folder name");
    for (char *at = partial + 1;; at++) {
        if (*at != '/' && *at != '\0') continue;
        char end = *at;
        *at = '\0';
        struct stat info;
        if (mkdir(partial, 0777) != 0 && (stat(partial, &info) != 0 || !S_ISDIR(info.st_mode))) {
            rbt_fail_at(error, path, 0, 0, "cannot make the folder: %s", strerror(errno == EEXIST ? ENOTDIR : errno));
            free(partial);
            return false;
        }
        *at = end;
        if (!end) break;
    }
    free(partial);
    return true;
}

char *rbt_path_join(const char *folder, const char *name) {
    if (!folder || !folder[0] || name[0] == '/') return strdup(name);
    size_t n = strlen(folder) + strlen(name) + 2;
    char *path = malloc(n);
    if (path) snprintf(path, n, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name);
    return path;
}
