// PLY polygon files (Turk 1994), text and binary of either byte order.
//
// The header names the elements and the type of each property; any of them may be lists. Used are the x, y, z of
// "vertex", the list "vertex_indices" (or "vertex_index") of "face", whose polygons become fans of triangles, and
// "vertex1", "vertex2" of "edge". Everything else is stepped over.
#include "mesh/io/format.h"
#include "mesh/io/grow.h"
#include "mesh/io/number.h"

#include <math.h>
#include <string.h>

typedef struct property {
    const char *name;  // in the file
    unsigned length;
    bool list;
    rbt_number kind, count_kind;
    int use;  // place in the element's wanted values, -1 if not wanted
} property;

typedef struct element {
    const char *name;
    unsigned length;
    size_t count, first_property, property_count;
} element;

typedef struct reader {
    rbt_scan s;
    bool binary, swap;
    rbt_growing grow;
    element *elements;
    property *properties;
    size_t element_count, element_capacity, property_count, property_capacity;
    int64_t *list;  // the wanted list of the element in work
    size_t list_count, list_capacity;
} reader;

static bool is_word(const char *text, unsigned length, const char *word) {
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

static bool next_word(rbt_scan *line, const char **word, unsigned *length) {
    char first[2];
    rbt_scan_space(line);
    *word = line->at;
    bool found = rbt_scan_word(line, first, sizeof first);
    *length = (unsigned)(line->at - *word);
    return found;
}

static bool read_kind(reader *r, rbt_scan *line, rbt_number *kind, rbt_error *error) {
    static const struct {
        const char *name;
        rbt_number kind;
    } names[] = {{"char", RBT_NUMBER_I8},     {"int8", RBT_NUMBER_I8},     {"uchar", RBT_NUMBER_U8},
                 {"uint8", RBT_NUMBER_U8},    {"short", RBT_NUMBER_I16},   {"int16", RBT_NUMBER_I16},
                 {"ushort", RBT_NUMBER_U16},  {"uint16", RBT_NUMBER_U16},  {"int", RBT_NUMBER_I32},
                 {"int32", RBT_NUMBER_I32},   {"uint", RBT_NUMBER_U32},    {"uint32", RBT_NUMBER_U32},
                 {"float", RBT_NUMBER_F32},   {"float32", RBT_NUMBER_F32}, {"double", RBT_NUMBER_F64},
                 {"float64", RBT_NUMBER_F64}, {"int64", RBT_NUMBER_I64},   {"uint64", RBT_NUMBER_U64}};
    const char *word;
    unsigned length;
    next_word(line, &word, &length);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_word(word, length, names[i].name)) {
            *kind = names[i].kind;
            return true;
        }
    return rbt_scan_fail(&r->s, error, "property of type \"%.*s\", which is unknown", length < 40 ? (int)length : 40,
                         word);
}

static bool read_format(reader *r, rbt_scan *line, rbt_error *error) {
    static const char *const names[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    static const char *const said[] = {"ASCII", "binary little endian", "binary big endian"};
    const char *word;
    unsigned length;
    next_word(line, &word, &length);
    for (int i = 0; i < 3; i++) {
        if (!is_word(word, length, names[i])) continue;
        r->binary = i > 0;
        r->swap = rbt_swap_for(i == 2);
        snprintf(r->grow.mesh->format, sizeof r->grow.mesh->format, "PLY %s", said[i]);
        return true;
    }
    return rbt_scan_fail(&r->s, error, "format \"%.*s\": known are ascii, binary_little_endian and binary_big_endian",
                         length < 40 ? (int)length : 40, word);
}

static bool read_element(reader *r, rbt_scan *line, rbt_error *error) {
    element e = {.first_property = r->property_count};
    int64_t count;
    if (!next_word(line, &e.name, &e.length) || !rbt_scan_int(line, &count) || count < 0)
        return rbt_scan_fail(&r->s, error, "an element needs a name and a count of at least 0");
    if (is_word(e.name, e.length, "tristrips"))
        return rbt_scan_fail(&r->s, error, "triangle strips are not read: save the surface with single faces");
    e.count = (size_t)count;
    void *elements = r->elements;
    if (!rbt_array_reserve(&elements, &r->element_capacity, r->element_count + 1, sizeof e, "elements", error))
        return false;
    r->elements = elements;
    r->elements[r->element_count++] = e;
    return true;
}

// Which of the element's values a property is: 0, 1, 2 for x, y, z; 0, 1 for the ends of an edge; 0 for corners.
static int find_use(const element *e, const property *p) {
    static const struct {
        const char *element, *property;
        bool list;
        int use;
    } wanted[] = {{"vertex", "x", false, 0},         {"vertex", "y", false, 1},
                  {"vertex", "z", false, 2},         {"face", "vertex_indices", true, 0},
                  {"face", "vertex_index", true, 0}, {"edge", "vertex1", false, 0},
                  {"edge", "vertex2", false, 1}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (is_word(e->name, e->length, wanted[i].element) && is_word(p->name, p->length, wanted[i].property) &&
            p->list == wanted[i].list)
            return wanted[i].use;
    return -1;
}

static bool read_property(reader *r, rbt_scan *line, rbt_error *error) {
    property p = {0};
    if (!r->element_count) return rbt_scan_fail(&r->s, error, "a property before the first element");
    p.list = rbt_scan_match(line, "list");
    if (p.list && !read_kind(r, line, &p.count_kind, error)) return false;
    if (!read_kind(r, line, &p.kind, error)) return false;
    if (!next_word(line, &p.name, &p.length)) return rbt_scan_fail(&r->s, error, "a property without a name");
    element *e = &r->elements[r->element_count - 1];
    p.use = find_use(e, &p);
    void *properties = r->properties;
    if (!rbt_array_reserve(&properties, &r->property_capacity, r->property_count + 1, sizeof p, "properties", error))
        return false;
    r->properties = properties;
    r->properties[r->property_count++] = p;
    e->property_count++;
    return true;
}

static bool read_header(reader *r, rbt_error *error) {
    const char *text;
    size_t length;
    bool formatted = false;
    if (!rbt_scan_match(&r->s, "ply")) return rbt_scan_fail(&r->s, error, "a PLY file starts with \"ply\"");
    rbt_scan_rest(&r->s, &text, &length);
    for (;;) {
        rbt_scan here = r->s;
        if (!rbt_scan_rest(&here, &text, &length))
            return rbt_scan_fail(&r->s, error, "the file ends before \"end_header\"");
        rbt_scan line = rbt_scan_begin(r->s.file, text, length);
        const char *word;
        unsigned size;
        bool good = true;
        if (!next_word(&line, &word, &size) || is_word(word, size, "comment") || is_word(word, size, "obj_info")) {
        } else if (is_word(word, size, "end_header")) {
            r->s.at = here.at;
            return formatted || rbt_scan_fail(&r->s, error, "the header has no line \"format\"");
        } else if (is_word(word, size, "format")) {
            good = formatted = read_format(r, &line, error);
        } else if (is_word(word, size, "element")) {
            good = read_element(r, &line, error);
        } else if (is_word(word, size, "property")) {
            good = read_property(r, &line, error);
        } else {
            good = rbt_scan_fail(&r->s, error, "\"%.*s\" is not a line of a PLY header", size < 40 ? (int)size : 40,
                                 word);
        }
        if (!good) return false;
        r->s.at = here.at;
    }
}

static bool fail_data(reader *r, const element *e, size_t i, rbt_error *error) {
    char seen[48];
    int name = e->length < 40 ? (int)e->length : 40;
    if (r->binary)
        return rbt_fail_at(error, r->s.file, 0, 0, "the file ends within %.*s %zu of %zu", name, e->name, i,
                           e->count);
    return rbt_scan_fail(&r->s, error, "%.*s %zu of %zu needs a number, but here is %s", name, e->name, i, e->count,
                         rbt_scan_seen(&r->s, seen));
}

// All integer types of the format but the largest of 64 bits fit a double exactly, and those are no index.
static bool read_value(reader *r, rbt_number kind, double *value) {
    if (!r->binary) return rbt_scan_real(&r->s, value);
    size_t size = rbt_number_size(kind);
    if ((size_t)(r->s.end - r->s.at) < size) return false;
    rbt_numbers_to_reals(kind, r->swap, r->s.at, 1, value);
    r->s.at += size;
    return true;
}

static bool to_index(reader *r, const element *e, size_t i, double value, int64_t *index, rbt_error *error) {
    if (!(fabs(value) < 1e15) || value != floor(value))
        return rbt_fail_at(error, r->s.file, r->binary ? 0 : rbt_scan_line(&r->s), 0,
                           "%.*s %zu names vertex %g, which is not a whole number",
                           e->length < 40 ? (int)e->length : 40, e->name, i, value);
    *index = (int64_t)value;
    return true;
}

static bool read_list(reader *r, const element *e, const property *p, size_t i, rbt_error *error) {
    double length, value;
    if (!read_value(r, p->count_kind, &length)) return fail_data(r, e, i, error);
    size_t left = (size_t)(r->s.end - r->s.at);
    size_t possible = r->binary ? left / rbt_number_size(p->kind) : left / 2 + 1;
    if (!(length >= 0 && length <= (double)possible) || length != floor(length))
        return rbt_fail_at(error, r->s.file, r->binary ? 0 : rbt_scan_line(&r->s), 0,
                           "%.*s %zu has a list of %g entries, but only %zu bytes are left in the file",
                           e->length < 40 ? (int)e->length : 40, e->name, i, length, left);
    size_t count = (size_t)length;
    if (p->use < 0 && r->binary) {
        r->s.at += count * rbt_number_size(p->kind);
        return true;
    }
    void *list = r->list;
    if (!rbt_array_reserve(&list, &r->list_capacity, count, sizeof *r->list, "a face", error)) return false;
    r->list = list;
    for (size_t k = 0; k < count; k++) {
        if (!read_value(r, p->kind, &value)) return fail_data(r, e, i, error);
        if (p->use >= 0 && !to_index(r, e, i, value, &r->list[k], error)) return false;
    }
    if (p->use >= 0) r->list_count = count;
    return true;
}

static bool use_values(reader *r, const element *e, char what, size_t i, const double value[3], rbt_error *error) {
    if (what == 'v') return rbt_grow_node(&r->grow, value, error);
    if (what == 'e') {
        int64_t ends[2] = {0};
        return to_index(r, e, i, value[0], &ends[0], error) && to_index(r, e, i, value[1], &ends[1], error) &&
               rbt_grow_edge(&r->grow, ends[0], ends[1], error);
    }
    if (what != 'f') return true;
    if (r->list_count < 3)
        return rbt_fail_at(error, r->s.file, 0, 0, "face %zu has %zu corners, at least 3 are needed", i,
                           r->list_count);
    return rbt_grow_polygon(&r->grow, r->list, r->list_count, error);
}

// 'v', 'f', 'e' for the elements that are used, if they have what is needed; 0 for others.
static bool find_role(reader *r, const element *e, char *role, rbt_error *error) {
    static const char *const names[] = {"vertex", "face", "edge"};
    static const char *const missing[] = {"x, y and z", "vertex_indices", "vertex1 and vertex2"};
    static const unsigned need[] = {7, 1, 3};
    unsigned found = 0;
    for (size_t p = 0; p < e->property_count; p++)
        if (r->properties[e->first_property + p].use >= 0) found |= 1u << r->properties[e->first_property + p].use;
    *role = 0;
    for (int i = 0; i < 3; i++) {
        if (!is_word(e->name, e->length, names[i])) continue;
        if (found != need[i])
            return rbt_fail_at(error, r->s.file, 0, 0, "element %s lacks the properties %s", names[i], missing[i]);
        *role = names[i][0];
    }
    return true;
}

static bool read_data(reader *r, const element *e, rbt_error *error) {
    char role;
    if (!e->count) return true;
    if (!find_role(r, e, &role, error)) return false;
    if (!e->property_count) return true;
    const property *properties = r->properties + e->first_property;
    size_t least = 0, left = (size_t)(r->s.end - r->s.at);  // least bytes of one of them
    for (size_t p = 0; p < e->property_count; p++)
        least += r->binary ? rbt_number_size(properties[p].list ? properties[p].count_kind : properties[p].kind) : 2;
    if (e->count > (left + 1) / least)
        return rbt_fail_at(error, r->s.file, 0, 0,
                           "%zu of element %.*s are announced, but only %zu bytes are left in the file", e->count,
                           e->length < 40 ? (int)e->length : 40, e->name, left);
    for (size_t i = 0; i < e->count; i++) {
        double wanted[3] = {0}, value;
        for (size_t p = 0; p < e->property_count; p++) {
            if (properties[p].list) {
                if (!read_list(r, e, &properties[p], i, error)) return false;
                continue;
            }
            if (!read_value(r, properties[p].kind, &value)) return fail_data(r, e, i, error);
            if (properties[p].use >= 0) wanted[properties[p].use] = value;
        }
        if (!use_values(r, e, role, i, wanted, error)) return false;
    }
    return true;
}

bool rbt_read_ply(const char *path, const rbt_bytes *bytes, rbt_mesh *mesh, rbt_error *error) {
    reader r = {.s = rbt_scan_begin(path, bytes->data, bytes->size), .grow = {.mesh = mesh, .file = path}};
    bool good = read_header(&r, error);
    for (size_t i = 0; good && i < r.element_count; i++) good = read_data(&r, &r.elements[i], error);
    free(r.elements);
    free(r.properties);
    free(r.list);
    return good;
}
