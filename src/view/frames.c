#include "view/frames.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/scan.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

// The value of name="value" inside one XML tag, copied with the five entities replaced; NULL if it is not there, or
// with *starved set for lack of memory.
static char *attribute(const char *tag, const char *end, const char *name, bool *starved) {
    static const struct {
        const char *entity;
        char character;
    } entities[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
    size_t n = strlen(name);
    for (const char *at = tag; at + n + 2 < end; at++) {
        bool starts = at[-1] == ' ' || at[-1] == '\t' || at[-1] == '\n' || at[-1] == '\r';
        if (!starts || strncmp(at, name, n) != 0 || at[n] != '=' || (at[n + 1] != '"' && at[n + 1] != '\'')) continue;
        const char *first = at + n + 2, *last = memchr(first, at[n + 1], (size_t)(end - first));
        char *value = last ? malloc((size_t)(last - first) + 1) : NULL;
        *starved = *starved || (last && !value);
        if (!value) return NULL;
        size_t size = 0;
        while (first < last) {
            char character = *first;
            size_t skip = 1;
            for (size_t k = 0; k < sizeof entities / sizeof entities[0]; k++)
                if (strncmp(first, entities[k].entity, strlen(entities[k].entity)) == 0) {
                    character = entities[k].character;
                    skip = strlen(entities[k].entity);
                }
            value[size++] = character;
            first += skip;
        }
        value[size] = '\0';
        return value;
    }
    return NULL;
}

static bool add_entry(rbt_frames *frames, size_t *capacity, double time, char *file, rbt_error *error) {
    if (!rbt_array_reserve((void **)&frames->entries, capacity, frames->count + 1, sizeof *frames->entries,
                           "the list of frames", error))
        return false;
    frames->entries[frames->count++] = (rbt_frame_entry){time, file, NULL};
    return true;
}

// One collection file; the entries' `tets` hold the paths found.
static bool read_collection(const char *path, const char *folder, rbt_frames *frames, rbt_error *error) {
    rbt_bytes bytes;
    if (!rbt_file_read(path, &bytes, error)) return false;
    bool good = strstr(bytes.data, "<VTKFile") && strstr(bytes.data, "<Collection");
    if (!good) rbt_fail_at(error, path, 0, 0, "this is no VTK collection: <VTKFile> with <Collection> is missing");
    size_t capacity = 0;
    rbt_scan scan = rbt_scan_begin(path, bytes.data, bytes.size);
    for (const char *at = bytes.data; good && (at = strstr(at, "<DataSet"));) {
        scan.at = at;
        const char *end = strchr(at, '>');
        bool starved = false;
        char *file = end ? attribute(at + 8, end, "file", &starved) : NULL,
             *time = end ? attribute(at + 8, end, "timestep", &starved) : NULL;
        double t = 0;
        rbt_scan number = rbt_scan_begin(path, time ? time : "", time ? strlen(time) : 0);
        char *joined = file ? rbt_path_join(folder, file) : NULL;
        if (!end) good = rbt_scan_fail(&scan, error, "the <DataSet> tag has no end");
        else if (starved) good = rbt_fail_memory(error, (size_t)(end - at), "the list of frames");
        else if (!file || !file[0]) good = rbt_scan_fail(&scan, error, "the <DataSet> names no file");
        else if (!time) good = rbt_scan_fail(&scan, error, "the <DataSet> names no timestep");
        else if (!rbt_scan_real(&number, &t) || !isfinite(t))
            good = rbt_scan_fail(&scan, error, "the timestep \"%.40s\" is no number", time);
        else if (!joined) good = rbt_fail_memory(error, strlen(file), "a file name");
        else good = add_entry(frames, &capacity, t, joined, error);
        if (!good) free(joined);
        free(file);
        free(time);
        at = end;
    }
    free(bytes.data);
    return good;
}

static bool is_there(const char *path) {
    struct stat info;
    return stat(path, &info) == 0;
}

// The surfaces that belong to the frames: entry for entry, as far as both lists go and the times agree.
static bool add_surfaces(rbt_frames *frames, const char *path, const char *folder, rbt_error *error) {
    rbt_frames surfaces = {0};
    bool good = read_collection(path, folder, &surfaces, error);
    for (size_t i = 0; good && i < frames->count && i < surfaces.count; i++)
        if (surfaces.entries[i].time == frames->entries[i].time) {
            frames->entries[i].surface = surfaces.entries[i].tets;
            surfaces.entries[i].tets = NULL;
        }
    rbt_frames_free(&surfaces);
    return good;
}

bool rbt_frames_open(rbt_frames *frames, const char *folder, rbt_error *error) {
    *frames = (rbt_frames){0};
    char *list = rbt_path_join(folder, "frames.pvd"), *surfaces = rbt_path_join(folder, "surface.pvd");
    bool good = false;
    if (!list || !surfaces) rbt_fail_memory(error, strlen(folder), "a file name");
    else if (!is_there(folder)) rbt_fail_at(error, folder, 0, 0, "there is no such folder");
    else if (!is_there(list))
        rbt_fail_at(error, folder, 0, 0,
                    "the folder holds no frames.pvd, so it is no run with frames; rubato run writes one");
    else good = read_collection(list, folder, frames, error);
    if (good && !frames->count) {
        good = rbt_fail_at(error, list, 0, 0, "the list holds no frames: the run has written none yet");
    }
    if (good && is_there(surfaces)) good = add_surfaces(frames, surfaces, folder, error);
    if (!good) rbt_frames_free(frames);
    free(list);
    free(surfaces);
    return good;
}

void rbt_frames_free(rbt_frames *frames) {
    for (size_t i = 0; i < frames->count; i++) {
        free(frames->entries[i].tets);
        free(frames->entries[i].surface);
    }
    free(frames->entries);
    *frames = (rbt_frames){0};
}

// ---- Choosing

typedef struct choice {
    size_t *items, count, capacity;
} choice;

static bool choose(choice *c, size_t frame, rbt_error *error) {
    if (!rbt_array_reserve((void **)&c->items, &c->capacity, c->count + 1, sizeof *c->items, "the chosen frames",
                           error))
        return false;
    c->items[c->count++] = frame;
    return true;
}

// A frame number or "last" at *text, which moves behind it.
static bool read_number(const char **text, size_t count, const char *list, const char *name, size_t *number,
                        rbt_error *error) {
    if (strncmp(*text, "last", 4) == 0) {
        *text += 4;
        *number = count - 1;
        return true;
    }
    const char *first = *text;
    size_t value = 0;
    while (**text >= '0' && **text <= '9') {
        if (value < (size_t)1 << 40) value = 10 * value + (size_t)(**text - '0');
        ++*text;
    }
    if (*text == first) return rbt_fail(error, "\"%s\" is no list of frames; write numbers as 0,5,10-20,last", list);
    if (value >= count)
        return rbt_fail_at(error, name, 0, 0, "frame %zu was asked for, but the frames are 0 to %zu", value,
                           count - 1);
    *number = value;
    return true;
}

static bool choose_listed(choice *c, size_t count, const char *name, const char *list, rbt_error *error) {
    const char *at = list;
    for (;;) {
        size_t first, last;
        if (!read_number(&at, count, list, name, &first, error)) return false;
        last = first;
        if (*at == '-') {
            at++;
            if (!read_number(&at, count, list, name, &last, error)) return false;
            if (last < first) return rbt_fail(error, "the range %zu-%zu of frames runs backwards", first, last);
        }
        for (size_t i = first; i <= last; i++)
            if (!choose(c, i, error)) return false;
        if (!*at) return true;
        if (*at != ',') return rbt_fail(error, "\"%s\" is no list of frames; write numbers as 0,5,10-20,last", list);
        at++;
    }
}

bool rbt_frames_choose(size_t count, const char *name, rbt_frame_choice wanted, size_t **chosen, size_t *chosen_count,
                       rbt_error *error) {
    choice c = {0};
    bool good = true;
    if (wanted.list && wanted.every) good = rbt_fail(error, "--frames and --every exclude each other; give one");
    else if (wanted.every < 0) good = rbt_fail(error, "--every %ld: must be at least 1", wanted.every);
    else if (wanted.list) good = choose_listed(&c, count, name, wanted.list, error);
    else if (wanted.every || wanted.all) {
        size_t stride = wanted.every ? (size_t)wanted.every : 1;
        for (size_t i = 0; good && i < count; i += stride) good = choose(&c, i, error);
    } else good = choose(&c, count - 1, error);
    if (!good) {
        free(c.items);
        return false;
    }
    *chosen = c.items;
    *chosen_count = c.count;
    return true;
}
