// VegaFEM's .veg meshes of tets: *VERTICES, *ELEMENTS and *SET; materials and regions are for scenes and left alone.
// Numbers count from 1 (or 0, if the first vertex or element says so) and may be separated by commas.
#include "mesh/io/format.h"

#include "base/memory.h"
#include "mesh/core/build.h"
#include "mesh/core/marks.h"
#include "mesh/io/values.h"

#include <stdio.h>

typedef struct set_name {
    const char *text;  // in the file, not NUL-terminated
    size_t length;
} set_name;

typedef struct reader {
    rbt_values in;     // over a copy of the file with blanks for commas
    const char *text;  // the file itself
    int64_t vertex_base, element_base;
    rbt_marks marks;  // numbers are places in names
    set_name *names;
    size_t name_count, name_capacity;
    rbt_mesh *mesh;
    rbt_error *error;
} reader;

static void skip_line(reader *r) {
    const char *line;
    size_t length;
    rbt_scan_rest(&r->in.scan, &line, &length);
}

// The number that begins a row, which must be base + i; the first row tells the base.
static bool take_number(reader *r, const char *what, int64_t i, int64_t count, int64_t *base) {
    int64_t number;
    if (!rbt_scan_int(&r->in.scan, &number))
        return rbt_values_missing(&r->in, r->error, "the number of %s %lld of %lld", what, (long long)i + 1,
                                  (long long)count);
    if (i == 0) *base = number;
    if (*base != 0 && *base != 1)
        return rbt_values_fail(&r->in, r->error, "the first %s has the number %lld: 1 or 0 expected", what,
                               (long long)number);
    if (number == *base + i) return true;
    return rbt_values_fail(&r->in, r->error, "%s %lld where %lld is expected: the numbers must count up one by one",
                           what, (long long)number, (long long)(*base + i));
}

static bool read_vertices(reader *r) {
    int64_t count, dimension;
    if (r->mesh->nodes) return rbt_values_fail(&r->in, r->error, "there is a second *VERTICES section");
    if (!rbt_scan_int(&r->in.scan, &count) || !rbt_scan_int(&r->in.scan, &dimension))
        return rbt_values_missing(&r->in, r->error, "count and dimension of the vertices");
    if (dimension != 3)
        return rbt_values_fail(&r->in, r->error, "the vertices have dimension %lld: only 3 is supported",
                               (long long)dimension);
    if (!rbt_values_count(&r->in, count, "vertices", 4, 1, r->error)) return false;
    skip_line(r);
    double *x = rbt_array_new((size_t)count, 3 * sizeof(double), "nodes", r->error);
    if (!x) return false;
    r->mesh->nodes = x;
    r->mesh->node_count = (size_t)count;
    for (int64_t i = 0; i < count; i++, x += 3) {
        if (!take_number(r, "vertex", i, count, &r->vertex_base)) return false;
        if (!rbt_scan_real(&r->in.scan, &x[0]) || !rbt_scan_real(&r->in.scan, &x[1]) ||
            !rbt_scan_real(&r->in.scan, &x[2]))
            return rbt_values_missing(&r->in, r->error, "three coordinates of vertex %lld",
                                      (long long)(i + r->vertex_base));
        skip_line(r);
    }
    return true;
}

static bool read_elements(reader *r) {
    int64_t count, corners, node, base = r->vertex_base;
    char type[32];
    rbt_mesh *mesh = r->mesh;
    if (mesh->tets) return rbt_values_fail(&r->in, r->error, "there is a second *ELEMENTS section");
    if (!mesh->nodes) return rbt_values_fail(&r->in, r->error, "*ELEMENTS comes before *VERTICES");
    if (!rbt_scan_word(&r->in.scan, type, sizeof type))
        return rbt_values_missing(&r->in, r->error, "the type of the elements");
    if (!rbt_scan_int(&r->in.scan, &count) || !rbt_scan_int(&r->in.scan, &corners))
        return rbt_values_missing(&r->in, r->error, "count of the elements and of their corners");
    if (strcmp(type, "TET") != 0 && strcmp(type, "TETS") != 0)
        return rbt_values_fail(&r->in, r->error,
                               "the mesh has %lld elements of type %s: only TET and TETS are supported",
                               (long long)count, type);
    if (corners != 4)
        return rbt_values_fail(&r->in, r->error,
                               "the tets have %lld nodes each: only linear tets with 4 are supported",
                               (long long)corners);
    if (!rbt_values_count(&r->in, count, "elements", 5, 1, r->error)) return false;
    skip_line(r);
    int32_t *tet = rbt_array_new((size_t)count, 4 * sizeof(int32_t), "tets", r->error);
    if (!tet) return false;
    mesh->tets = tet;
    mesh->tet_count = (size_t)count;
    for (int64_t i = 0; i < count; i++) {
        if (!take_number(r, "element", i, count, &r->element_base)) return false;
        for (int k = 0; k < 4; k++) {
            if (!rbt_scan_int(&r->in.scan, &node))
                return rbt_values_missing(&r->in, r->error, "four vertices of element %lld",
                                          (long long)(i + r->element_base));
            if (node < base || (uint64_t)(node - base) >= mesh->node_count)
                return rbt_values_fail(&r->in, r->error, "element %lld names vertex %lld, but there are %lld to %lld",
                                       (long long)(i + r->element_base), (long long)node, (long long)base,
                                       (long long)mesh->node_count + base - 1);
            *tet++ = (int32_t)(node - base);
        }
        skip_line(r);
    }
    return true;
}

static bool read_set(reader *r) {
    set_name name;
    int64_t element;
    rbt_scan *s = &r->in.scan;
    char seen[48];
    if (!r->mesh->tets) return rbt_values_fail(&r->in, r->error, "*SET comes before *ELEMENTS");
    const char *start = s->at;
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t')) s->at++;
    if (!rbt_scan_rest(s, &name.text, &name.length)) name.length = 0;
    const char *comment = name.length ? memchr(name.text, '#', name.length) : NULL;
    if (comment) name.length = (size_t)(comment - name.text);
    while (name.length && (name.text[name.length - 1] == ' ' || name.text[name.length - 1] == '\t')) name.length--;
    if (!name.length) {
        s->at = start;
        return rbt_values_fail(&r->in, r->error, "a *SET has no name");
    }
    name.text = r->text + (name.text - s->begin);
    if (!rbt_array_reserve((void **)&r->names, &r->name_capacity, r->name_count + 1, sizeof name, "set names",
                           r->error))
        return false;
    r->names[r->name_count++] = name;
    while (rbt_scan_int(s, &element)) {
        int64_t item = element - r->element_base;
        if (item < 0 || (uint64_t)item >= r->mesh->tet_count)
            return rbt_values_fail(&r->in, r->error, "set %.*s names element %lld, but there are %lld to %lld",
                                   name.length < 60 ? (int)name.length : 60, name.text, (long long)element,
                                   (long long)r->element_base, (long long)r->mesh->tet_count + r->element_base - 1);
        if (!rbt_marks_add(&r->marks, 0, (int64_t)r->name_count - 1, (size_t)item, 1, r->error)) return false;
    }
    if (rbt_scan_at_end(s) || *s->at == '*') return true;
    return rbt_values_fail(&r->in, r->error, "expected an element number or a keyword, found %s",
                           rbt_scan_seen(s, seen));
}

// Materials and regions: to the next line that begins with a keyword.
static bool skip_section(reader *r) {
    do skip_line(r);
    while (!rbt_scan_at_end(&r->in.scan) && *r->in.scan.at != '*');
    return true;
}

static bool read_section(reader *r) {
    rbt_scan *s = &r->in.scan;
    char word[32];
    const char *start;
    rbt_scan_space(s);
    start = s->at;
    rbt_scan_word(s, word, sizeof word);
    if (strcmp(word, "*VERTICES") == 0) return read_vertices(r);
    if (strcmp(word, "*ELEMENTS") == 0) return read_elements(r);
    if (strcmp(word, "*SET") == 0) return read_set(r);
    if (strcmp(word, "*MATERIAL") == 0 || strcmp(word, "*REGION") == 0) return skip_section(r);
    s->at = start;
    if (strcmp(word, "*INCLUDE") == 0)
        return rbt_values_fail(&r->in, r->error, "*INCLUDE is not supported: put the included file's content here");
    return rbt_values_missing(&r->in, r->error, "*VERTICES, *ELEMENTS, *SET, *MATERIAL or *REGION");
}

static void name_set(const void *context, int source, int64_t number, rbt_text *name) {
    (void)source;
    const reader *r = context;
    rbt_text_add_bytes(name, r->names[number].text, r->names[number].length);
}

bool rbt_read_veg(const char *path, const rbt_bytes *bytes, rbt_mesh *mesh, rbt_error *error) {
    char *copy = rbt_array_new(bytes->size + 1, 1, "the text of the mesh", error);
    if (!copy) return false;
    for (size_t i = 0; i < bytes->size; i++) copy[i] = bytes->data[i] == ',' ? ' ' : bytes->data[i];
    reader r = {
        .in.scan = rbt_scan_begin(path, copy, bytes->size), .text = bytes->data, .mesh = mesh, .error = error};
    r.in.scan.comment = '#';
    bool read = true;
    while (read && !rbt_scan_at_end(&r.in.scan)) read = read_section(&r);
    if (read && !mesh->nodes) read = rbt_fail_at(error, path, 0, 0, "the file has no *VERTICES");
    if (read && !mesh->tets) read = rbt_fail_at(error, path, 0, 0, "the file has no *ELEMENTS");
    const rbt_mark_source source = {RBT_SET_TETS, NULL, 1};
    read = read && rbt_marks_to_sets(&r.marks, &source, name_set, &r, mesh, error);
    snprintf(mesh->format, sizeof mesh->format, "Vega .veg");
    rbt_marks_free(&r.marks);
    free(r.names);
    free(copy);
    return read;
}
