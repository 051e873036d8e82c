#include "base/file.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *kind_of(mode_t mode) {
    if (S_ISDIR(mode)) return "a folder";
    if (S_ISFIFO(mode)) return "a pipe";
    if (S_ISSOCK(mode)) return "a socket";
    return S_ISREG(mode) ? "a file" : "a device";
}

// ---- Reading

enum { FIRST_BYTES = 4096, PIPE_BYTES = 1 << 28 };  // the most that a pipe may bring

static FILE *open_to_read(const char *path, bool pipes, struct stat *info, rbt_error *error) {
    // O_NONBLOCK: do not wait for a writer if it is a pipe
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | (pipes ? 0 : O_NONBLOCK));
    if (descriptor < 0) {
        rbt_fail_at(error, path, 0, 0, "cannot open the file: %s", strerror(errno));
        return NULL;
    }
    bool readable = fstat(descriptor, info) == 0 && (S_ISREG(info->st_mode) || (pipes && S_ISFIFO(info->st_mode)));
    FILE *stream = readable ? fdopen(descriptor, "rb") : NULL;
    if (stream) return stream;
    if (readable) rbt_fail_memory(error, BUFSIZ, "reading a file");
    else rbt_fail_at(error, path, 0, 0, "is %s, not a file", kind_of(info->st_mode));
    close(descriptor);
    return NULL;
}

static bool read_all(const char *path, bool pipes, rbt_bytes *bytes, rbt_error *error) {
    *bytes = (rbt_bytes){NULL, 0};
    struct stat info = {0};
    FILE *stream = open_to_read(path, pipes, &info, error);
    if (!stream) return false;
    size_t capacity = info.st_size > 0 ? (size_t)info.st_size + 1 : FIRST_BYTES, size = 0;
    bool endless = false;
    char *data = malloc(capacity);
    errno = 0;
    while (data) {
        size += fread(data + size, 1, capacity - size, stream);
        if (size < capacity) break;
        endless = S_ISFIFO(info.st_mode) && size >= PIPE_BYTES;
        if (endless) break;
        char *grown = capacity > SIZE_MAX / 4 ? NULL : realloc(data, capacity * 2);
        if (!grown) free(data);
        data = grown;
        capacity *= 2;
    }
    bool bad = ferror(stream) != 0;
    int why = errno;
    fclose(stream);
    if (!data) {
        rbt_fail_memory(error, capacity, "the bytes of a file");
        if (error) snprintf(error->file, sizeof error->file, "%s", path);
        return false;
    }
    if (bad || endless) {
        free(data);
        if (endless) return rbt_fail_at(error, path, 0, 0, "brings more than %d bytes and no end", PIPE_BYTES);
        if (why == ENOMEM) return rbt_fail_memory(error, size, "reading a file");
        return rbt_fail_at(error, path, 0, 0, "cannot read the file: %s", strerror(why ? why : EIO));
    }
    data[size] = '\0';
    *bytes = (rbt_bytes){data, size};
    return true;
}

bool rbt_file_read(const char *path, rbt_bytes *bytes, rbt_error *error) {
    return read_all(path, false, bytes, error);
}

bool rbt_stream_read(const char *path, rbt_bytes *bytes, rbt_error *error) {
    return read_all(path, true, bytes, error);
}

// ---- Writing

// Why a file cannot be made there; a missing or forbidden folder is the most frequent reason, and errno alone does
// not tell.
static bool fail_to_write(const char *path, int why, rbt_error *error) {
    if (why == ENOMEM) return rbt_fail_memory(error, BUFSIZ, "writing a file");
    const char *slash = strrchr(path, '/');
    int length = slash && slash != path ? (int)(slash - path) : 1;
    const char *folder = !slash ? "." : path;
    if (why == ENOENT && slash)
        return rbt_fail_at(error, path, 0, 0, "cannot write the file: there is no folder %.*s", length, folder);
    if (why == EACCES || why == EROFS)
        return rbt_fail_at(error, path, 0, 0, "cannot write the file: the folder %.*s cannot be written to (%s)",
                           length, folder, strerror(why));
    return rbt_fail_at(error, path, 0, 0, "cannot write the file: %s", strerror(why ? why : EIO));
}

bool rbt_new_file_open(rbt_new_file *file, const char *path, rbt_error *error) {
    *file = (rbt_new_file){0};
    size_t n = strlen(path);
    struct stat info;
    bool there = stat(path, &info) == 0, straight = there && (S_ISCHR(info.st_mode) || S_ISFIFO(info.st_mode));
    if (there && !straight && !S_ISREG(info.st_mode))
        return rbt_fail_at(error, path, 0, 0, "cannot write the file: there is %s of this name",
                           kind_of(info.st_mode));
    file->path = strdup(path);
    file->temporary = straight ? NULL : malloc(n + 5);
    if (!file->path || (!straight && !file->temporary)) {
        rbt_new_file_abandon(file);
        return rbt_fail_memory(error, n, "a file name");
    }
    int descriptor;
    if (straight) {
        descriptor = open(path, O_WRONLY | O_CLOEXEC);
    } else {
        snprintf(file->temporary, n + 5, "%s.new", path);
        unlink(file->temporary);  // of a program that was killed; anything else of this name makes the next line fail
        descriptor = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    int why = errno;
    file->stream = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
    if (file->stream) return true;
    if (descriptor >= 0) {
        why = ENOMEM;
        close(descriptor);
        if (file->temporary) unlink(file->temporary);
    }
    rbt_new_file_abandon(file);
    return fail_to_write(path, why, error);
}

void rbt_new_file_abandon(rbt_new_file *file) {
    if (file->stream) fclose(file->stream);
    if (file->stream && file->temporary) unlink(file->temporary);
    free(file->path);
    free(file->temporary);
    *file = (rbt_new_file){0};
}

// Why an earlier write failed, which the stream does not remember: one more byte fails for the same reason.
static int reason_of(FILE *stream) { return write(fileno(stream), "", 1) < 0 ? errno : EIO; }

bool rbt_new_file_commit(rbt_new_file *file, rbt_error *error) {
    bool straight = !file->temporary;
    errno = 0;
    bool written =
        !ferror(file->stream) && fflush(file->stream) == 0 && (straight || fsync(fileno(file->stream)) == 0);
    int why = !written && ferror(file->stream) ? reason_of(file->stream) : errno;
    if (fclose(file->stream) != 0 && written) {
        written = false;
        why = errno;
    }
    file->stream = NULL;
    if (written && !straight && rename(file->temporary, file->path) != 0) {
        written = false;
        why = errno;
    }
    if (!written) {
        if (!straight) unlink(file->temporary);
        fail_to_write(file->path, why, error);
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

// ---- Folders

static bool fail_folder(const char *path, int why, rbt_error *error) {
    struct stat info;
    if (why == EEXIST && lstat(path, &info) == 0)
        return rbt_fail_at(error, path, 0, 0, "cannot make the folder: there is %s of this name",
                           S_ISLNK(info.st_mode) ? "a symbolic link" : kind_of(info.st_mode));
    return rbt_fail_at(error, path, 0, 0, "cannot make the folder: %s", strerror(why));
}

static bool is_folder(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool rbt_folder_make(const char *path, rbt_error *error) {
    if (!path[0]) return rbt_fail(error, "cannot make a folder without a name");
    char *partial = strdup(path);
    if (!partial) return rbt_fail_memory(error, strlen(path), "a folder name");
    bool good = true;
    for (char *at = partial + 1; good; at++) {
        if (*at != '/' && *at != '\0') continue;
        char end = *at;
        *at = '\0';
        int why = mkdir(partial, 0777) == 0 ? 0 : errno;
        good = !why || is_folder(partial) || fail_folder(partial, why, error);
        *at = end;
        if (!end) break;
    }
    free(partial);
    return good;
}

bool rbt_subfolder_make(const char *path, rbt_error *error) {
    struct stat info;
    if (mkdir(path, 0777) == 0) return true;
    int why = errno;
    if (lstat(path, &info) == 0 && S_ISDIR(info.st_mode)) return true;
    return fail_folder(path, why, error);
}

int rbt_folder_lock(const char *path, rbt_error *error) {
    int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) {
        rbt_fail_at(error, path, 0, 0, "cannot open the folder: %s", strerror(errno));
        return -1;
    }
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return descriptor;
    close(descriptor);
    rbt_fail_at(error, path, 0, 0, "another run writes into this folder; wait for its end or take another folder");
    return -1;
}

char *rbt_path_join(const char *folder, const char *name) {
    if (!folder || !folder[0] || name[0] == '/') return strdup(name);
    size_t n = strlen(folder) + strlen(name) + 2;
    char *path = malloc(n);
    if (path) snprintf(path, n, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name);
    return path;
}
