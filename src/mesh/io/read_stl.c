// STL, text and binary: triangles whose corners are written out; equal vertices (bit for bit) become one node.
//
// Binary: 80 bytes of anything, a count, then 50 bytes a triangle (normal, three corners as floats, two spare bytes),
// little endian. The header may well start with "solid", so the size decides first: a file of exactly
// 84 + 50 count bytes is binary, whatever it starts with. Normals are not kept, they follow from the corners.
#include "mesh/io/format.h"
#include "mesh/io/grow.h"
#include "mesh/io/number.h"

#include <string.h>

enum { HEADER_BYTES = 84, TRIANGLE_BYTES = 50 };

// Open addressing: slot -> node + 1, 0 is empty; at most half full.
typedef struct merger {
    rbt_growing grow;
    int32_t *slots;
    size_t slot_count;
} merger;

static uint64_t hash_point(const double x[3]) {
    uint64_t bits[3], h = 0;
    memcpy(bits, x, sizeof bits);
    for (int i = 0; i < 3; i++) {
        h = (h ^ bits[i]) * 0x9E3779B97F4A7C15u;
        h ^= h >> 32;
    }
    return h * 0x9E3779B97F4A7C15u >> 20;
}

static size_t find_slot(const merger *m, const double x[3]) {
    size_t at = hash_point(x) & (m->slot_count - 1);
    while (m->slots[at] && memcmp(m->grow.mesh->nodes + 3 * (size_t)(m->slots[at] - 1), x, 3 * sizeof *x) != 0)
        at = (at + 1) & (m->slot_count - 1);
    return at;
}

static bool grow_slots(merger *m, rbt_error *error) {
    size_t wanted = m->slot_count ? 2 * m->slot_count : 64;
    int32_t *slots = rbt_array_new(wanted, sizeof *slots, "merging vertices", error);
    if (!slots) return false;
    free(m->slots);
    m->slots = slots;
    m->slot_count = wanted;
    for (size_t i = 0; i < m->grow.mesh->node_count; i++)
        m->slots[find_slot(m, m->grow.mesh->nodes + 3 * i)] = (int32_t)i + 1;
    return true;
}

static bool merge_point(merger *m, const double x[3], int64_t *node, rbt_error *error) {
    if (2 * (m->grow.mesh->node_count + 1) > m->slot_count && !grow_slots(m, error)) return false;
    size_t at = find_slot(m, x);
    if (!m->slots[at]) {
        if (!rbt_grow_node(&m->grow, x, error)) return false;
        m->slots[at] = (int32_t)m->grow.mesh->node_count;
    }
    *node = m->slots[at] - 1;
    return true;
}

static bool merge_triangle(merger *m, double x[3][3], rbt_error *error) {
    int64_t corners[3];
    for (int i = 0; i < 3; i++)
        if (!merge_point(m, x[i], &corners[i], error)) return false;
    return rbt_grow_polygon(&m->grow, corners, 3, error);
}

static size_t binary_count(const rbt_bytes *bytes) {
    int64_t count;
    rbt_numbers_to_ints(RBT_NUMBER_U32, rbt_swap_for(false), bytes->data + 80, 1, &count);
    return (size_t)count;
}

static bool read_binary(const rbt_bytes *bytes, merger *m, rbt_error *error) {
    size_t count = binary_count(bytes), wanted = HEADER_BYTES + TRIANGLE_BYTES * count;
    if (wanted > bytes->size)
        return rbt_fail_at(
            error, m->grow.file, 0, 0,
            "the triangle count of this binary STL file is %zu, which takes %zu bytes, but the file has %zu", count,
            wanted, bytes->size);
    const char *at = bytes->data + HEADER_BYTES;
    for (size_t i = 0; i < count; i++, at += TRIANGLE_BYTES) {
        double x[3][3];
        rbt_numbers_to_reals(RBT_NUMBER_F32, rbt_swap_for(false), at + 12, 9, x[0]);
        if (!merge_triangle(m, x, error)) return false;
    }
    return true;
}

static bool expect(rbt_scan *s, const char *first, const char *second, rbt_error *error) {
    char word[32] = "", seen[48];
    rbt_scan before = *s;
    rbt_scan_word(s, word, sizeof word);
    bool good = strcasecmp(word, first) == 0;
    if (good && second) good = rbt_scan_word(s, word, sizeof word) && strcasecmp(word, second) == 0;
    return good || rbt_scan_fail(&before, error, "\"%s%s%s\" is expected, but here is %s", first, second ? " " : "",
                                 second ? second : "", rbt_scan_seen(&before, seen));
}

static bool read_facet(rbt_scan *s, merger *m, rbt_error *error) {
    char word[32], seen[48];
    double x[3][3];
    if (!expect(s, "facet", "normal", error)) return false;
    for (int i = 0; i < 3; i++) rbt_scan_word(s, word, sizeof word);  // some writers put nan(ind) here
    if (!expect(s, "outer", "loop", error)) return false;
    for (int i = 0; i < 3; i++) {
        if (!expect(s, "vertex", NULL, error)) return false;
        for (int k = 0; k < 3; k++)
            if (!rbt_scan_real(s, &x[i][k]))
                return rbt_scan_fail(s, error, "coordinate %d of a vertex is expected, but here is %s", k + 1,
                                     rbt_scan_seen(s, seen));
    }
    return expect(s, "endloop", NULL, error) && expect(s, "endfacet", NULL, error) && merge_triangle(m, x, error);
}

static bool read_text(const rbt_bytes *bytes, merger *m, rbt_error *error) {
    rbt_scan s = rbt_scan_begin(m->grow.file, bytes->data, bytes->size);
    const char *rest;
    size_t length;
    do {  // several solids may follow each other
        if (!expect(&s, "solid", NULL, error)) return false;
        rbt_scan_rest(&s, &rest, &length);
        for (;;) {
            rbt_scan_space(&s);
            if (s.end - s.at < 8 || strncasecmp(s.at, "endsolid", 8) == 0) break;
            if (!read_facet(&s, m, error)) return false;
        }
        if (s.end - s.at < 8) return expect(&s, "endsolid", NULL, error);
        rbt_scan_rest(&s, &rest, &length);
    } while (!rbt_scan_at_end(&s));
    return true;
}

static bool looks_like_text(const rbt_bytes *bytes) {
    rbt_scan s = rbt_scan_begin("", bytes->data, bytes->size);
    rbt_scan_space(&s);
    if (s.end - s.at < 5 || strncasecmp(s.at, "solid", 5) != 0) return false;
    // A damaged binary file with such a header has zeros in its first triangles; text has none at all.
    return !memchr(bytes->data, '\0', bytes->size < 512 ? bytes->size : 512);
}

bool rbt_read_stl(const char *path, const rbt_bytes *bytes, rbt_mesh *mesh, rbt_error *error) {
    merger m = {.grow = {.mesh = mesh, .file = path}};
    bool large = bytes->size >= HEADER_BYTES;
    bool exact = large && bytes->size == HEADER_BYTES + TRIANGLE_BYTES * binary_count(bytes);
    bool text = !exact && looks_like_text(bytes);
    if (!text && !large)
        return rbt_fail_at(error, path, 0, 0,
                           "an STL file starts with \"solid\" or with %d bytes of header, but this one has %zu bytes",
                           HEADER_BYTES, bytes->size);
    snprintf(mesh->format, sizeof mesh->format, "STL %s", text ? "ASCII" : "binary");
    bool good = text ? read_text(bytes, &m, error) : read_binary(bytes, &m, error);
    free(m.slots);
    return good;
}
