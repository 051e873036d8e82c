#include "out/frame_file.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { READ_BYTES = 1 << 18 };

static bool fail_write(const rbt_frame_file *file, int why, rbt_error *error) {
    return rbt_fail_at(error, file->path, 0, 0, "cannot write the file: %s", strerror(why ? why : EIO));
}

// Two stretches of memory one behind the other, as one system call unless the system splits it.
static bool write_at(const rbt_frame_file *file, const void *first, size_t first_size, const void *second,
                     size_t second_size, int64_t offset, rbt_error *error) {
    const char *a = first, *b = second;
    while (first_size + second_size > 0) {
        struct iovec parts[2] = {{(void *)a, first_size}, {(void *)b, second_size}};
        ssize_t n = pwritev(file->descriptor, parts, 2, (off_t)offset);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return fail_write(file, n < 0 ? errno : EIO, error);
        size_t done = (size_t)n, of_first = done < first_size ? done : first_size;
        a += of_first;
        first_size -= of_first;
        b += done - of_first;
        second_size -= done - of_first;
        offset += n;
    }
    return true;
}

static bool write_count(const rbt_frame_file *file, int64_t frames, rbt_error *error) {
    char text[RBT_COUNT_WIDTH];
    if (!file->count_width) return true;
    file->count_text(frames, text);
    return write_at(file, text, file->count_width, "", 0, (int64_t)file->count_offset, error);
}

// The count first: it never promises more than there is.
static bool cut_to(rbt_frame_file *file, int64_t size, int64_t frames, rbt_error *error) {
    size_t tail_size = strlen(file->tail);
    if (!write_count(file, frames, error) || !write_at(file, file->tail, tail_size, "", 0, size, error)) return false;
    if (ftruncate(file->descriptor, (off_t)(size + (int64_t)tail_size)) != 0) return fail_write(file, errno, error);
    file->size = file->size_before = size;
    file->frames = frames;
    return true;
}

static bool create(rbt_frame_file *file, const rbt_frame_file_def *def, rbt_error *error) {
    rbt_text text = {0};
    rbt_text_add_bytes(&text, def->head, def->head_size);
    rbt_text_add_bytes(&text, def->tail, strlen(def->tail));
    if (text.failed) {
        rbt_text_free(&text);
        return rbt_fail_memory(error, def->head_size, "the beginning of an output file");
    }
    char count[RBT_COUNT_WIDTH];
    if (def->count_width) {
        def->count_text(0, count);
        memcpy(text.text + def->count_offset, count, def->count_width);
    }
    bool written = rbt_file_write(def->path, text.text, text.size, error);
    rbt_text_free(&text);
    if (!written) return false;
    file->descriptor = open(def->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (file->descriptor < 0) return fail_write(file, errno, error);
    file->size = file->size_before = (int64_t)def->head_size;
    return true;
}

// ---- Finding the end of a frame in a file of an earlier run

typedef struct reader {
    const rbt_frame_file *file;
    char *bytes;  // (READ_BYTES)
    size_t used, filled;
    int64_t offset;  // of bytes[used] in the file
} reader;

// Makes at least `need` bytes available behind bytes[used], or all that are left; false on a read error.
static bool fill(reader *r, size_t need, rbt_error *error) {
    if (r->filled - r->used >= need) return true;
    memmove(r->bytes, r->bytes + r->used, r->filled - r->used);
    r->filled -= r->used;
    r->used = 0;
    while (r->filled < READ_BYTES) {
        ssize_t n = pread(r->file->descriptor, r->bytes + r->filled, READ_BYTES - r->filled,
                          (off_t)(r->offset + (int64_t)r->filled));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return rbt_fail_at(error, r->file->path, 0, 0, "cannot read the file: %s", strerror(errno));
        if (n == 0) break;
        r->filled += (size_t)n;
    }
    return true;
}

static void move(reader *r, size_t n) {
    r->used += n;
    r->offset += (int64_t)n;
}

// The head as this run would write it, except for the count.
static bool check_head(reader *r, const rbt_frame_file_def *def, rbt_error *error) {
    const char *head = def->head;
    for (size_t done = 0; done < def->head_size;) {
        size_t left = def->head_size - done, want = left < READ_BYTES ? left : READ_BYTES;
        if (!fill(r, want, error)) return false;
        size_t got = r->filled - r->used < want ? r->filled - r->used : want;
        for (size_t i = 0; i < got; i++) {
            size_t at = done + i;
            bool in_count = at >= def->count_offset && at < def->count_offset + def->count_width;
            if (r->bytes[r->used + i] != head[at] && !in_count) got = 0;
        }
        if (got == 0)
            return rbt_fail_at(error, def->path, 0, 0,
                               "does not belong to this run (its beginning differs), so it cannot be continued; "
                               "start the run again or write into another folder");
        move(r, got);
        done += got;
    }
    return true;
}

// Moves behind the next line; *whole false if the file ends within it.
static bool skip_line(reader *r, bool *whole, rbt_error *error) {
    for (*whole = false;;) {
        const char *end = memchr(r->bytes + r->used, '\n', r->filled - r->used);
        if (end) {
            move(r, (size_t)(end - (r->bytes + r->used)) + 1);
            *whole = true;
            return true;
        }
        move(r, r->filled - r->used);
        if (!fill(r, 1, error)) return false;
        if (r->filled == r->used) return true;
    }
}

// Moves behind the frame's line; *found false if there is no such whole line.
static bool pass_line(reader *r, const rbt_frame_file_def *def, int64_t frame, bool *found, rbt_error *error) {
    char start[RBT_LINE_START];
    def->line_start(def->context, frame, start);
    size_t length = strlen(start);
    bool whole = true;
    for (*found = false; whole && !*found;) {
        if (!fill(r, length, error)) return false;
        bool starts = r->filled - r->used >= length && memcmp(r->bytes + r->used, start, length) == 0;
        if (!starts && (!def->has_steps || r->filled == r->used)) return true;
        if (!skip_line(r, &whole, error)) return false;
        *found = starts && whole;
    }
    return true;
}

static bool find_end(rbt_frame_file *file, const rbt_frame_file_def *def, int64_t frames, rbt_error *error) {
    struct stat info;
    if (fstat(file->descriptor, &info) != 0)
        return rbt_fail_at(error, def->path, 0, 0, "cannot read the file: %s", strerror(errno));
    reader r = {file, rbt_array_new(READ_BYTES, 1, "reading an output file", error), 0, 0, 0};
    if (!r.bytes) return false;
    bool good = check_head(&r, def, error);
    int64_t have = 0;
    if (good && def->piece_size) {
        have = ((int64_t)info.st_size - r.offset) / (int64_t)def->piece_size;
        if (have > frames) have = frames;
        r.offset += have * (int64_t)def->piece_size;
    } else if (good) {
        for (bool found = true; good && have < frames; have++) {
            good = pass_line(&r, def, have, &found, error);
            if (!found) break;
        }
    }
    free(r.bytes);
    if (!good) return false;
    if (have < frames)
        return rbt_fail_at(error, def->path, 0, 0,
                           "holds %lld whole frames, but the run is to continue after frame %lld and needs %lld; "
                           "start the run again or continue from an earlier frame",
                           (long long)have, (long long)(frames - 1), (long long)frames);
    file->size = file->size_before = r.offset;
    file->frames = frames;
    return true;
}

bool rbt_frame_file_open(rbt_frame_file *file, const rbt_frame_file_def *def, int64_t from_frame, rbt_error *error) {
    *file = (rbt_frame_file){.path = strdup(def->path),
                             .descriptor = -1,
                             .tail = def->tail,
                             .count_offset = def->count_offset,
                             .count_width = def->count_width,
                             .count_text = def->count_text};
    if (!file->path) return rbt_fail_memory(error, strlen(def->path), "a file name");
    bool good;
    if (from_frame < 0) {
        good = create(file, def, error);
    } else {
        file->descriptor = open(def->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
        good = file->descriptor >= 0
                   ? find_end(file, def, from_frame + 1, error)
                   : rbt_fail_at(error, def->path, 0, 0,
                                 "cannot be continued after frame %lld: %s; start the run again or switch this "
                                 "output off",
                                 (long long)from_frame, strerror(errno));
    }
    if (!good) rbt_frame_file_close(file, NULL);
    return good;
}

bool rbt_frame_file_cut(rbt_frame_file *file, rbt_error *error) {
    return cut_to(file, file->size, file->frames, error);
}

// A file that was deleted or replaced can still be written to, but nobody will ever see it.
static bool check_place(const rbt_frame_file *file, rbt_error *error) {
    struct stat own, there;
    if (fstat(file->descriptor, &own) == 0 && lstat(file->path, &there) == 0 && own.st_dev == there.st_dev &&
        own.st_ino == there.st_ino)
        return true;
    return rbt_fail_at(error, file->path, 0, 0, "was deleted or replaced by something else while the run continued");
}

bool rbt_frame_file_add(rbt_frame_file *file, const void *piece, size_t size, rbt_error *error) {
    if (!check_place(file, error)) return false;
    if (!write_at(file, piece, size, file->tail, strlen(file->tail), file->size, error) ||
        !write_count(file, file->frames + 1, error)) {
        cut_to(file, file->size, file->frames, NULL);  // these bytes were there before: no new room is needed
        return false;
    }
    file->size_before = file->size;
    file->size += (int64_t)size;
    file->frames++;
    return true;
}

bool rbt_frame_file_undo(rbt_frame_file *file, rbt_error *error) {
    if (file->size_before == file->size) return true;
    return cut_to(file, file->size_before, file->frames - 1, error);
}

bool rbt_frame_file_sync(rbt_frame_file *file, rbt_error *error) {
    return fdatasync(file->descriptor) == 0 || fail_write(file, errno, error);
}

bool rbt_frame_file_close(rbt_frame_file *file, rbt_error *error) {
    bool is_open = file->path && file->descriptor >= 0, good = !is_open || check_place(file, error);
    if (is_open && close(file->descriptor) != 0) good = fail_write(file, errno, error);
    free(file->path);
    *file = (rbt_frame_file){.descriptor = -1};
    return good;
}
