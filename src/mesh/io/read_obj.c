// Wavefront OBJ: v, f (v, v/vt, v//vn, v/vt/vn; negative indices count back from the last vertex) and l.
//
// Polygons become fans of triangles. Every group (g, possibly several names) and object (o) becomes a set of the
// triangles that follow it. Materials, normals and texture coordinates are read over; a word that no OBJ has is an
// error, since it may be a damaged face. Faces may name vertices that come later in the file.
#include "mesh/io/format.h"
#include "mesh/io/grow.h"

#include <string.h>

enum { MAX_NAMES = 8, MAX_NAME_BYTES = 200 };

// Triangles first .. last-1 belong to a name, which points into the file.
typedef struct run {
    const char *name;
    size_t length, first, last;
} run;

typedef struct reader {
    const char *file;
    rbt_scan s;  // whole file, at the start of the line in work
    rbt_growing grow;
    int64_t *corners;  // of the face in work
    size_t corner_capacity;
    int64_t largest;  // largest index named so far, and where
    const char *largest_at;
    run active[1 + MAX_NAMES];  // [0] the object, then groups; length 0: none
    run *runs;
    size_t run_count, run_capacity;
} reader;

static bool fail_index(reader *r, rbt_error *error, int64_t written) {
    return rbt_scan_fail(
        &r->s, error, "vertex index %ld: so far there are vertices 1 to %zu, and -1 to -%zu count back from the last",
        (long)written, r->grow.mesh->node_count, r->grow.mesh->node_count);
}

// "12", "12/3", "12//4", "12/3/4": only the first number matters.
static bool read_corner(reader *r, const char *word, int64_t *index, rbt_error *error) {
    const char *c = word + (*word == '-'), *digits = c;
    int64_t value = 0;
    for (; *c >= '0' && *c <= '9' && value <= INT32_MAX; c++) value = 10 * value + (*c - '0');
    if (c == digits || (*c && *c != '/' && *c != '\\'))
        return rbt_scan_fail(&r->s, error,
                             "\"%.40s\" is not a corner of a face or line: expected are v, v/vt, v//vn or v/vt/vn",
                             word);
    if (value == 0) return fail_index(r, error, 0);
    if (*word == '-') {
        *index = (int64_t)r->grow.mesh->node_count - value;
        return *index >= 0 || fail_index(r, error, -value);
    }
    *index = value - 1;
    if (*index > r->largest) {
        r->largest = *index;
        r->largest_at = r->s.at;
    }
    return true;
}

static bool read_corners(reader *r, rbt_scan *line, size_t *count, rbt_error *error) {
    char word[96];
    *count = 0;
    while (rbt_scan_word(line, word, sizeof word) && word[0] != '#') {
        void *corners = r->corners;
        if (!rbt_array_reserve(&corners, &r->corner_capacity, *count + 1, sizeof *r->corners, "a face", error))
            return false;
        r->corners = corners;
        if (!read_corner(r, word, &r->corners[(*count)++], error)) return false;
    }
    return true;
}

static bool read_vertex(reader *r, rbt_scan *line, rbt_error *error) {
    double x[3];
    char seen[48];
    for (int i = 0; i < 3; i++)
        if (!rbt_scan_real(line, &x[i]))
            return rbt_scan_fail(&r->s, error, "coordinate %d of vertex %zu is missing or not a number (here is %s)",
                                 i + 1, r->grow.mesh->node_count + 1,
                                 rbt_scan_at_end(line) ? "the end of the line" : rbt_scan_seen(line, seen));
    return rbt_grow_node(&r->grow, x, error);
}

static bool read_face(reader *r, rbt_scan *line, rbt_error *error) {
    size_t count;
    if (!read_corners(r, line, &count, error)) return false;
    if (count < 3) return rbt_scan_fail(&r->s, error, "a face needs at least 3 corners, this one has %zu", count);
    return rbt_grow_polygon(&r->grow, r->corners, count, error);
}

static bool read_line(reader *r, rbt_scan *line, rbt_error *error) {
    size_t count;
    if (!read_corners(r, line, &count, error)) return false;
    if (count < 2) return rbt_scan_fail(&r->s, error, "a line needs at least 2 vertices, this one has %zu", count);
    for (size_t i = 1; i < count; i++)
        if (!rbt_grow_edge(&r->grow, r->corners[i - 1], r->corners[i], error)) return false;
    return true;
}

// Ends a name at the current triangle; names without triangles leave nothing.
static bool close_run(reader *r, run *active, rbt_error *error) {
    void *runs = r->runs;
    active->last = r->grow.mesh->triangle_count;
    if (active->length && active->last > active->first) {
        if (!rbt_array_reserve(&runs, &r->run_capacity, r->run_count + 1, sizeof *r->runs, "groups", error))
            return false;
        r->runs = runs;
        r->runs[r->run_count++] = *active;
    }
    active->length = 0;
    return true;
}

static void open_run(reader *r, run *active, const char *name, size_t length) {
    length = strnlen(name, length < MAX_NAME_BYTES ? length : MAX_NAME_BYTES);
    *active = (run){name, length, r->grow.mesh->triangle_count, 0};
}

static bool read_groups(reader *r, rbt_scan *line, rbt_error *error) {
    for (int i = 1; i <= MAX_NAMES; i++)
        if (!close_run(r, &r->active[i], error)) return false;
    char word[2];
    int count = 0;
    while (!rbt_scan_at_end(line)) {
        const char *name = line->at;
        rbt_scan_word(line, word, sizeof word);
        if (++count > MAX_NAMES)
            return rbt_scan_fail(&r->s, error, "a face is in more than %d groups, which is the limit", MAX_NAMES);
        open_run(r, &r->active[count], name, (size_t)(line->at - name));
    }
    return true;
}

static bool read_object(reader *r, rbt_scan *line, rbt_error *error) {
    if (!close_run(r, &r->active[0], error)) return false;
    rbt_scan_space(line);
    const char *end = line->end;
    while (end > line->at && strchr(" \t\r\n", end[-1])) end--;
    open_run(r, &r->active[0], line->at, (size_t)(end - line->at));
    return true;
}

static int compare_names(const run *x, const run *y) {
    int order = memcmp(x->name, y->name, x->length < y->length ? x->length : y->length);
    return order ? order : (x->length > y->length) - (x->length < y->length);
}

static int compare_runs(const void *a, const void *b) {
    const run *x = a, *y = b;
    int order = compare_names(x, y);
    return order ? order : (x->first > y->first) - (x->first < y->first);
}

// One set per name, in alphabetical order. An object and a group of the same name may overlap.
static bool make_sets(reader *r, rbt_error *error) {
    for (int i = 0; i <= MAX_NAMES; i++)
        if (!close_run(r, &r->active[i], error)) return false;
    if (!r->run_count) return true;
    qsort(r->runs, r->run_count, sizeof *r->runs, compare_runs);
    size_t capacity = 0;
    int32_t *items = rbt_array_new(r->grow.mesh->triangle_count, sizeof *items, "groups", error);
    bool good = items != NULL;
    for (size_t i = 0; good && i < r->run_count;) {
        const run *first = &r->runs[i];
        size_t count = 0, done = 0;
        for (; i < r->run_count && compare_names(first, &r->runs[i]) == 0; i++) {
            for (size_t t = r->runs[i].first > done ? r->runs[i].first : done; t < r->runs[i].last; t++)
                items[count++] = (int32_t)t;
            if (r->runs[i].last > done) done = r->runs[i].last;
        }
        char name[MAX_NAME_BYTES + 1];
        snprintf(name, sizeof name, "%.*s", (int)first->length, first->name);
        good = rbt_mesh_append_set(r->grow.mesh, name, RBT_SET_TRIANGLES, items, count, &capacity, error);
    }
    free(items);
    return good;
}

static bool ignored(const char *word) {
    static const char *const words[] = {"vt",       "vn",     "vp",         "p",         "s",     "mg",
                                        "usemtl",   "mtllib", "usemap",     "maplib",    "bevel", "c_interp",
                                        "d_interp", "lod",    "shadow_obj", "trace_obj", "ctech", "stech",
                                        "cstype",   "deg",    "bmat",       "step",      "parm",  "end"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0) return true;
    return false;
}

// The end of a logical line: a backslash before the line end continues it.
static const char *line_end(const rbt_scan *s) {
    const char *from = s->at;
    for (;;) {
        const char *end = memchr(from, '\n', (size_t)(s->end - from));
        if (!end) return s->end;
        const char *last = end > s->at && end[-1] == '\r' ? end - 1 : end;
        if (last == s->at || last[-1] != '\\') return end;
        from = end + 1;
    }
}

static bool read_statement(reader *r, rbt_scan *line, rbt_error *error) {
    char word[32];
    if (!rbt_scan_word(line, word, sizeof word) || word[0] == '#') return true;
    if (strcmp(word, "v") == 0) return read_vertex(r, line, error);
    if (strcmp(word, "f") == 0 || strcmp(word, "fo") == 0) return read_face(r, line, error);
    if (strcmp(word, "l") == 0) return read_line(r, line, error);
    if (strcmp(word, "g") == 0) return read_groups(r, line, error);
    if (strcmp(word, "o") == 0) return read_object(r, line, error);
    return ignored(word) || rbt_scan_fail(&r->s, error, "\"%.30s\" is not a statement of an OBJ file", word);
}

static bool read_all(reader *r, rbt_error *error) {
    rbt_mesh *mesh = r->grow.mesh;
    snprintf(mesh->format, sizeof mesh->format, "OBJ");
    while (r->s.at < r->s.end) {
        rbt_scan line = rbt_scan_begin(r->file, r->s.at, (size_t)(line_end(&r->s) - r->s.at));
        line.comment = '\\';  // hides the rest of its line, the line end included: a continuation
        if (!read_statement(r, &line, error)) return false;
        r->s.at = line.end < r->s.end ? line.end + 1 : r->s.end;
    }
    if (!mesh->node_count)
        return rbt_fail_at(error, r->file, 0, 0, "the file has no vertices (lines that start with v)");
    if (r->largest >= (int64_t)mesh->node_count) {
        r->s.at = r->largest_at;
        return rbt_scan_fail(&r->s, error, "vertex index %ld, but the last vertex of the file is %zu",
                             (long)r->largest + 1, mesh->node_count);
    }
    return make_sets(r, error);
}

bool rbt_read_obj(const char *path, const rbt_bytes *bytes, rbt_mesh *mesh, rbt_error *error) {
    reader r = {.file = path,
                .s = rbt_scan_begin(path, bytes->data, bytes->size),
                .grow = {.mesh = mesh, .file = path},
                .largest = -1};
    bool good = read_all(&r, error);
    free(r.corners);
    free(r.runs);
    return good;
}
