// MEDIT meshes: .mesh (text) and .meshb (binary, versions 1 to 4, either byte order), as libMeshb writes them.
//
// Both are a list of keywords with data. In binary files a keyword is a number, followed by the place of the next one;
// version 1 holds floats, 3 and 4 have 64-bit places, 4 has 64-bit integers. References other than 0 become sets
// "ref 3" of nodes, triangles and tets; those of edges mark their nodes.
#include "mesh/io/format.h"

#include "base/memory.h"
#include "mesh/core/build.h"
#include "mesh/core/marks.h"
#include "mesh/io/values.h"

#include <ctype.h>
#include <stdio.h>

typedef enum keyword_use { IGNORE, DIMENSION, VERTICES, ELEMENTS, REFUSE, END } keyword_use;

typedef struct keyword {
    const char *name;
    int code;
    keyword_use use;
    int dimension;  // of kept elements
} keyword;

static const keyword KEYWORDS[] = {
    {"Dimension", 3, DIMENSION, 0},
    {"Vertices", 4, VERTICES, 0},
    {"Edges", 5, ELEMENTS, 1},
    {"Triangles", 6, ELEMENTS, 2},
    {"Tetrahedra", 8, ELEMENTS, 3},
    {"Quadrilaterals", 7, REFUSE, 0},
    {"Prisms", 9, REFUSE, 0},
    {"Pentahedra", 9, REFUSE, 0},
    {"Hexahedra", 10, REFUSE, 0},
    {"Pyramids", 49, REFUSE, 0},
    {"TrianglesP2", 24, REFUSE, 0},
    {"EdgesP2", 25, REFUSE, 0},
    {"QuadrilateralsQ2", 27, REFUSE, 0},
    {"TetrahedraP2", 30, REFUSE, 0},
    {"HexahedraQ2", 33, REFUSE, 0},
    {"End", 54, END, 0},
};
enum { KEYWORD_COUNT = sizeof KEYWORDS / sizeof KEYWORDS[0] };
static const keyword OTHER = {"", 0, IGNORE, 0};

typedef struct reader {
    rbt_values in;
    int version;
    int int_bytes, real_bytes, place_bytes;
    bool has_dimension;
    int64_t vertex_count;
    rbt_marks marks;
    rbt_mesh *mesh;
    rbt_error *error;
} reader;

static bool take_count(reader *r, const keyword *k, int64_t *count, size_t values, size_t bytes) {
    if (!rbt_values_int(&r->in, r->int_bytes, count))
        return rbt_values_missing(&r->in, r->error, "the number of %s", k->name);
    return rbt_values_count(&r->in, *count, k->name, values, bytes, r->error);
}

static bool read_dimension(reader *r) {
    int64_t dimension;
    if (!rbt_values_int(&r->in, 4, &dimension)) return rbt_values_missing(&r->in, r->error, "the dimension");
    if (dimension != 3)
        return rbt_values_fail(&r->in, r->error, "the mesh has dimension %lld: only 3 is supported",
                               (long long)dimension);
    r->has_dimension = true;
    return true;
}

static bool read_vertices(reader *r, const keyword *k) {
    int64_t count, reference;
    if (r->mesh->nodes) return rbt_values_fail(&r->in, r->error, "there are Vertices twice");
    if (!r->has_dimension) return rbt_values_fail(&r->in, r->error, "Vertices come before Dimension");
    if (!take_count(r, k, &count, 4, (size_t)(3 * r->real_bytes + r->int_bytes))) return false;
    double *nodes = rbt_array_new((size_t)count, 3 * sizeof(double), "nodes", r->error);
    if (!nodes) return false;
    r->mesh->nodes = nodes;
    r->mesh->node_count = (size_t)count;
    for (int64_t i = 0; i < count; i++) {
        double *x = nodes + 3 * i;
        if (!rbt_values_real(&r->in, r->real_bytes, &x[0]) || !rbt_values_real(&r->in, r->real_bytes, &x[1]) ||
            !rbt_values_real(&r->in, r->real_bytes, &x[2]) || !rbt_values_int(&r->in, r->int_bytes, &reference))
            return rbt_values_missing(&r->in, r->error, "three coordinates and reference of vertex %lld of %lld",
                                      (long long)i + 1, (long long)count);
        if (reference && !rbt_marks_add(&r->marks, 0, reference, (size_t)i, 1, r->error)) return false;
    }
    return true;
}

static bool read_elements(reader *r, const keyword *k) {
    rbt_mesh *mesh = r->mesh;
    int32_t **arrays[4] = {NULL, &mesh->edges, &mesh->triangles, &mesh->tets};
    size_t *counts[4] = {NULL, &mesh->edge_count, &mesh->triangle_count, &mesh->tet_count};
    int corners = k->dimension + 1;
    int64_t count, node, reference;
    if (*arrays[k->dimension]) return rbt_values_fail(&r->in, r->error, "there are %s twice", k->name);
    if (!mesh->nodes) return rbt_values_fail(&r->in, r->error, "%s come before Vertices", k->name);
    if (!take_count(r, k, &count, (size_t)corners + 1, (size_t)(corners + 1) * (size_t)r->int_bytes)) return false;
    int32_t *elements = rbt_array_new((size_t)count, (size_t)corners * sizeof(int32_t), k->name, r->error);
    if (!elements) return false;
    *arrays[k->dimension] = elements;
    for (int64_t i = 0; i < count; i++) {
        for (int c = 0; c < corners; c++) {
            if (!rbt_values_int(&r->in, r->int_bytes, &node))
                return rbt_values_missing(&r->in, r->error, "%d vertices and reference of number %lld of %lld %s",
                                          corners, (long long)i + 1, (long long)count, k->name);
            if (node < 1 || (uint64_t)node > mesh->node_count)
                return rbt_values_fail(&r->in, r->error,
                                       "number %lld of the %s names vertex %lld, but there are 1 to %zu",
                                       (long long)i + 1, k->name, (long long)node, mesh->node_count);
            *elements++ = (int32_t)(node - 1);
        }
        if (!rbt_values_int(&r->in, r->int_bytes, &reference))
            return rbt_values_missing(&r->in, r->error, "the reference of number %lld of %lld %s", (long long)i + 1,
                                      (long long)count, k->name);
        if (reference && !rbt_marks_add(&r->marks, k->dimension, reference, (size_t)i, 1, r->error)) return false;
    }
    *counts[k->dimension] = (size_t)count;
    return true;
}

static bool refuse(reader *r, const keyword *k) {
    int64_t count;
    if (!rbt_values_int(&r->in, r->int_bytes, &count))
        return rbt_values_missing(&r->in, r->error, "the number of %s", k->name);
    if (!count) return true;
    return rbt_values_fail(&r->in, r->error,
                           "the mesh has %lld %s: only Vertices, Edges, Triangles and Tetrahedra are supported",
                           (long long)count, k->name);
}

static bool read_keyword(reader *r, const keyword *k) {
    switch (k->use) {
    case DIMENSION: return read_dimension(r);
    case VERTICES: return read_vertices(r, k);
    case ELEMENTS: return read_elements(r, k);
    case REFUSE: return refuse(r, k);
    case IGNORE:
    case END: break;
    }
    return true;
}

static bool read_text(reader *r) {
    rbt_scan *s = &r->in.scan;
    int64_t version;
    s->comment = '#';
    if (!rbt_scan_match(s, "MeshVersionFormatted") || !rbt_scan_int(s, &version))
        return rbt_values_fail(&r->in, r->error, "the file does not begin with MeshVersionFormatted and a number");
    if (version < 1 || version > 4)
        return rbt_values_fail(&r->in, r->error, "MeshVersionFormatted %lld: 1 to 4 are supported",
                               (long long)version);
    while (!rbt_scan_at_end(s)) {
        char word[48], seen[48];
        if (!isalpha((unsigned char)*s->at))
            return rbt_values_fail(&r->in, r->error, "expected a keyword such as Tetrahedra, found %s",
                                   rbt_scan_seen(s, seen));
        rbt_scan_word(s, word, sizeof word);
        const keyword *k = &OTHER;
        for (int i = 0; i < KEYWORD_COUNT; i++)
            if (strcmp(KEYWORDS[i].name, word) == 0) k = &KEYWORDS[i];
        if (k->use == END) return true;
        if (!read_keyword(r, k)) return false;
        // The numbers of a keyword of no interest: up to the next word.
        while (k->use == IGNORE && !rbt_scan_at_end(s) && !isalpha((unsigned char)*s->at))
            rbt_scan_word(s, word, sizeof word);
    }
    return true;
}

static bool read_binary_keyword(reader *r, bool *last) {
    rbt_values *in = &r->in;
    int64_t code, next;
    if (!rbt_values_int(in, 4, &code)) {
        *last = true;  // End is often left away
        return true;
    }
    const keyword *k = &OTHER;
    for (int i = 0; i < KEYWORD_COUNT; i++)
        if (KEYWORDS[i].code == code) k = &KEYWORDS[i];
    *last = k->use == END;
    if (*last) return true;
    if (!rbt_values_int(in, r->place_bytes, &next))
        return rbt_values_missing(in, r->error, "the place of the keyword after keyword %lld", (long long)code);
    size_t here = (size_t)(in->scan.at - in->scan.begin), size = (size_t)(in->scan.end - in->scan.begin);
    if (next != 0 && (next < 0 || (uint64_t)next < here || (uint64_t)next > size))
        return rbt_values_fail(in, r->error,
                               "keyword %lld says that the next one is at byte %lld, but its data begins at byte %zu "
                               "and the file ends at %zu",
                               (long long)code, (long long)next, here, size);
    if (!read_keyword(r, k)) return false;
    *last = next == 0;
    if (next != 0) {
        const char *target = in->scan.begin + next;
        if (target < in->scan.at)
            return rbt_values_fail(in, r->error,
                                   "the data of keyword %lld reaches beyond byte %lld, where the next begins",
                                   (long long)code, (long long)next);
        in->scan.at = target;
    }
    return true;
}

static bool read_binary(reader *r) {
    int64_t mark = 0, version;
    r->in.binary = true;
    rbt_values_int(&r->in, 4, &mark);
    r->in.swapped = mark != 1;
    if (!rbt_values_int(&r->in, 4, &version)) return rbt_values_missing(&r->in, r->error, "the version");
    if (version < 1 || version > 4)
        return rbt_values_fail(&r->in, r->error, "binary MEDIT version %lld: 1 to 4 are supported",
                               (long long)version);
    r->version = (int)version;
    r->real_bytes = version == 1 ? 4 : 8;
    r->place_bytes = version >= 3 ? 8 : 4;
    r->int_bytes = version == 4 ? 8 : 4;
    for (bool last = false; !last;)
        if (!read_binary_keyword(r, &last)) return false;
    return true;
}

static void name_reference(const void *context, int source, int64_t number, rbt_text *name) {
    (void)context;
    (void)source;
    rbt_text_add(name, "ref %lld", (long long)number);
}

static bool is_binary(const rbt_bytes *bytes) {
    int32_t mark = 0;
    if (bytes->size >= 4) memcpy(&mark, bytes->data, 4);
    return mark == 1 || mark == 0x01000000;
}

bool rbt_read_medit(const char *path, const rbt_bytes *bytes, rbt_mesh *mesh, rbt_error *error) {
    reader r = {.in.scan = rbt_scan_begin(path, bytes->data, bytes->size), .mesh = mesh, .error = error};
    r.int_bytes = 4;
    bool read = is_binary(bytes) ? read_binary(&r) : read_text(&r);
    if (read && !mesh->nodes) read = rbt_fail_at(error, path, 0, 0, "the file has no Vertices");
    const rbt_mark_source sources[4] = {{RBT_SET_NODES, NULL, 1},
                                        {RBT_SET_NODES, mesh->edges, 2},
                                        {RBT_SET_TRIANGLES, NULL, 1},
                                        {RBT_SET_TETS, NULL, 1}};
    read = read && rbt_marks_to_sets(&r.marks, sources, name_reference, NULL, mesh, error);
    rbt_marks_free(&r.marks);
    if (r.in.binary) snprintf(mesh->format, sizeof mesh->format, "MEDIT binary, version %d", r.version);
    else snprintf(mesh->format, sizeof mesh->format, "MEDIT ASCII");
    return read;
}
