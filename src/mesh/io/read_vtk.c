// Legacy VTK files, versions 1.0 to 5.1, as text or big-endian binary: unstructured grids and polygonal data.
//
// Three header lines, DATASET, then sections that start with a keyword. Until version 4.2 cells are one list
// "n i1 .. in" after the other; from 5.0 on they are two arrays, OFFSETS and CONNECTIVITY. Of the attribute arrays
// only an integer cell array with regions is used; the others are stepped over, which needs their layout all the same.
// Reference: VTK User's Guide, "VTK File Formats", simple legacy formats.
#include "mesh/io/format.h"
#include "mesh/io/grow.h"
#include "mesh/io/number.h"
#include "mesh/io/vtk_cells.h"

#include <stdarg.h>
#include <string.h>

typedef struct reader {
    rbt_scan s;
    bool binary, polygonal;
    int major;
    rbt_growing grow;
    rbt_vtk_cells cells;
    bool has_points, has_cells, in_cell_data;
    size_t attribute_count;  // tuples of the arrays in the current POINT_DATA or CELL_DATA
    size_t region_count;
    int region_rank;  // of the best region array so far, see rbt_vtk_region_rank
} reader;

// With the line in a text file; lines of a binary file mean nothing.
static RBT_PRINTF(3, 4) bool fail(reader *r, rbt_error *error, const char *format, ...) {
    char message[900];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return rbt_fail_at(error, r->s.file, r->binary ? 0 : rbt_scan_line(&r->s), 0, "%s", message);
}

static bool find_kind(const char *word, rbt_number *kind) {
    static const struct {
        const char *name;
        rbt_number kind;
    } names[] = {
        {"double", RBT_NUMBER_F64},        {"float", RBT_NUMBER_F32},         {"int", RBT_NUMBER_I32},
        {"unsigned_int", RBT_NUMBER_U32},  {"char", RBT_NUMBER_I8},           {"signed_char", RBT_NUMBER_I8},
        {"unsigned_char", RBT_NUMBER_U8},  {"short", RBT_NUMBER_I16},         {"unsigned_short", RBT_NUMBER_U16},
        {"long", RBT_NUMBER_I64},          {"unsigned_long", RBT_NUMBER_U64}, {"vtkidtype", RBT_NUMBER_I32},
        {"vtktypeint64", RBT_NUMBER_I64},  {"vtktypeuint64", RBT_NUMBER_U64}, {"vtktypeint32", RBT_NUMBER_I32},
        {"vtktypeuint32", RBT_NUMBER_U32}, {"vtktypeint16", RBT_NUMBER_I16},  {"vtktypeuint16", RBT_NUMBER_U16},
        {"vtktypeint8", RBT_NUMBER_I8},    {"vtktypeuint8", RBT_NUMBER_U8},   {"vtktypefloat32", RBT_NUMBER_F32},
        {"vtktypefloat64", RBT_NUMBER_F64}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasecmp(word, names[i].name) == 0) {
            *kind = names[i].kind;
            return true;
        }
    return false;
}

static bool read_kind(reader *r, const char *what, rbt_number *kind, rbt_error *error) {
    char word[64] = "";
    rbt_scan_word(&r->s, word, sizeof word);
    return find_kind(word, kind) || fail(r, error, "%s has numbers of type \"%s\", which is unknown", what, word);
}

static bool read_count(reader *r, const char *what, size_t *count, rbt_error *error) {
    int64_t value;
    char seen[48];
    if (!rbt_scan_int(&r->s, &value))
        return fail(r, error, "%s must be followed by a count, not by %s", what, rbt_scan_seen(&r->s, seen));
    if (value < 0) return fail(r, error, "%s has the count %ld, which is negative", what, (long)value);
    *count = (size_t)value;
    return true;
}

static void end_line(reader *r) {
    const char *rest;
    size_t length;
    rbt_scan_rest(&r->s, &rest, &length);
}

// Are there bytes for so many numbers? A number takes a character and a space in text.
static bool check_left(reader *r, const char *what, rbt_number kind, size_t count, rbt_error *error) {
    size_t left = (size_t)(r->s.end - r->s.at), possible = r->binary ? left / rbt_number_size(kind) : (left + 1) / 2;
    return count <= possible ||
           fail(r, error, "%s announces %zu numbers, but only %zu bytes are left in the file", what, count, left);
}

static bool read_reals(reader *r, const char *what, rbt_number kind, size_t count, double **values,
                       rbt_error *error) {
    char seen[48];
    if (!check_left(r, what, kind, count, error)) return false;
    if (!(*values = rbt_array_new(count, sizeof **values, what, error))) return false;
    if (r->binary) {
        rbt_numbers_to_reals(kind, rbt_swap_for(true), r->s.at, count, *values);
        r->s.at += count * rbt_number_size(kind);
        return true;
    }
    for (size_t i = 0; i < count; i++)
        if (!rbt_scan_real(&r->s, *values + i))
            return fail(r, error, "%s: number %zu of %zu is expected, but here is %s", what, i + 1, count,
                        rbt_scan_seen(&r->s, seen));
    return true;
}

static bool read_ints(reader *r, const char *what, rbt_number kind, size_t count, int64_t **values,
                      rbt_error *error) {
    char seen[48];
    if (!check_left(r, what, kind, count, error)) return false;
    if (!(*values = rbt_array_new(count, sizeof **values, what, error))) return false;
    if (r->binary) {
        size_t good = rbt_numbers_to_ints(kind, rbt_swap_for(true), r->s.at, count, *values);
        if (good < count) return fail(r, error, "%s: number %zu is not a whole number that fits", what, good + 1);
        r->s.at += count * rbt_number_size(kind);
        return true;
    }
    for (size_t i = 0; i < count; i++)
        if (!rbt_scan_int(&r->s, *values + i))
            return fail(r, error, "%s: whole number %zu of %zu is expected, but here is %s", what, i + 1, count,
                        rbt_scan_seen(&r->s, seen));
    return true;
}

static bool read_points(reader *r, rbt_error *error) {
    size_t count = 0;
    rbt_number kind = RBT_NUMBER_F64;
    if (r->has_points) return fail(r, error, "POINTS comes twice");
    r->has_points = true;
    if (!read_count(r, "POINTS", &count, error) || !read_kind(r, "POINTS", &kind, error)) return false;
    end_line(r);
    if (count > INT32_MAX) return fail(r, error, "%zu nodes: the limit is %d", count, INT32_MAX);
    if (!read_reals(r, "POINTS", kind, 3 * count, &r->grow.mesh->nodes, error)) return false;
    r->grow.mesh->node_count = count;
    return true;
}

// Until version 4.2: "n i1 .. in" for each cell, `size` numbers in all. The counts move into the offsets.
static bool read_mixed_lists(reader *r, const char *what, size_t count, size_t size, rbt_vtk_cells *cells,
                             rbt_error *error) {
    end_line(r);
    if (!read_ints(r, what, RBT_NUMBER_I32, size, &cells->corners, error)) return false;
    if (count > size)
        return fail(r, error, "%s announces %zu cells in a list of only %zu numbers", what, count, size);
    if (!(cells->offsets = rbt_array_new(count + 1, sizeof(int64_t), what, error))) return false;
    size_t from = 0, to = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t corners = from < size ? cells->corners[from++] : -1;
        if (corners < 0 || (uint64_t)corners > size - from)
            return fail(r, error, "%s: cell %zu has the corner count %ld, but %zu numbers are left in the list", what,
                        i, (long)corners, size - from);
        memmove(cells->corners + to, cells->corners + from, (size_t)corners * sizeof(int64_t));
        from += (size_t)corners;
        to += (size_t)corners;
        cells->offsets[i + 1] = (int64_t)to;
    }
    if (from != size)
        return fail(r, error, "%s announces %zu numbers, but its cells (%zu) use %zu", what, size, count, from);
    cells->count = count;
    cells->corner_count = to;
    return true;
}

// From version 5.0 on: OFFSETS (one more than cells) and CONNECTIVITY.
static bool read_split_lists(reader *r, const char *what, size_t offset_count, size_t corner_count,
                             rbt_vtk_cells *cells, rbt_error *error) {
    char seen[48];
    rbt_number kind = RBT_NUMBER_F64;
    end_line(r);
    if (!rbt_scan_match(&r->s, "OFFSETS"))
        return fail(r, error, "%s must be followed by OFFSETS, not by %s", what, rbt_scan_seen(&r->s, seen));
    if (!read_kind(r, "OFFSETS", &kind, error)) return false;
    end_line(r);
    if (!read_ints(r, "OFFSETS", kind, offset_count, &cells->offsets, error)) return false;
    if (!rbt_scan_match(&r->s, "CONNECTIVITY"))
        return fail(r, error, "OFFSETS must be followed by CONNECTIVITY, not by %s", rbt_scan_seen(&r->s, seen));
    if (!read_kind(r, "CONNECTIVITY", &kind, error)) return false;
    end_line(r);
    if (!read_ints(r, "CONNECTIVITY", kind, corner_count, &cells->corners, error)) return false;
    if (offset_count == 0) {  // an empty list has no offsets; an array of no items still has room for this one
        cells->count = 0;
        return corner_count == 0 || fail(r, error, "%s has %zu corners but no offsets", what, corner_count);
    }
    cells->count = offset_count - 1;
    cells->corner_count = corner_count;
    return rbt_vtk_offsets_check(cells->offsets, cells->count, corner_count, r->s.file, error);
}

static bool read_lists(reader *r, const char *what, rbt_vtk_cells *cells, rbt_error *error) {
    size_t count = 0, size = 0;
    if (!read_count(r, what, &count, error) || !read_count(r, what, &size, error)) return false;
    return r->major < 5 ? read_mixed_lists(r, what, count, size, cells, error)
                        : read_split_lists(r, what, count, size, cells, error);
}

static bool read_cell_types(reader *r, rbt_error *error) {
    size_t count = 0;
    if (r->cells.types) return fail(r, error, "CELL_TYPES comes twice");
    if (!read_count(r, "CELL_TYPES", &count, error)) return false;
    if (!r->has_cells || count != r->cells.count)
        return fail(r, error, "CELL_TYPES has %zu entries, but CELLS has %zu", count, r->cells.count);
    end_line(r);
    return read_ints(r, "CELL_TYPES", RBT_NUMBER_I32, count, &r->cells.types, error);
}

static bool add_polygons(reader *r, const char *what, const rbt_vtk_cells *lists, bool closed, rbt_error *error) {
    for (size_t i = 0; i < lists->count; i++) {
        const int64_t *corners = lists->corners + lists->offsets[i];
        size_t n = (size_t)(lists->offsets[i + 1] - lists->offsets[i]), least = closed ? 3 : 2;
        if (n < least)
            return fail(r, error, "%s: entry %zu has %zu corners, at least %zu are needed", what, i, n, least);
        if (closed && !rbt_grow_polygon(&r->grow, corners, n, error)) return false;
        for (size_t c = 1; !closed && c < n; c++)
            if (!rbt_grow_edge(&r->grow, corners[c - 1], corners[c], error)) return false;
    }
    return true;
}

static bool read_polygons(reader *r, const char *what, rbt_error *error) {
    rbt_vtk_cells lists = {0};
    bool good = read_lists(r, what, &lists, error);
    if (good && strcmp(what, "TRIANGLE_STRIPS") == 0 && lists.count)
        good = fail(r, error,
                    "triangle strips (%zu of them): only single polygons are read, convert the strips to triangles",
                    lists.count);
    if (good && strcmp(what, "LINES") == 0) good = add_polygons(r, what, &lists, false, error);
    if (good && strcmp(what, "POLYGONS") == 0) good = add_polygons(r, what, &lists, true, error);
    rbt_vtk_cells_free(&lists);  // VERTICES say nothing that the points do not
    return good;
}

// Steps over an array, or keeps it if it holds the regions of the cells.
static bool read_array(reader *r, const char *name, const char *type, size_t tuples, size_t components,
                       rbt_error *error) {
    size_t count, left = (size_t)(r->s.end - r->s.at);
    bool bits = strcasecmp(type, "bit") == 0;
    rbt_number kind = RBT_NUMBER_U8;
    if (!bits && !find_kind(type, &kind))
        return fail(r, error, "array \"%s\" has numbers of type \"%s\", which is unknown", name, type);
    if (__builtin_mul_overflow(tuples, components, &count) || count > 16 * left)
        return fail(r, error, "array \"%s\" announces %zu x %zu numbers, but only %zu bytes are left in the file",
                    name, tuples, components, left);
    if (bits && r->binary) count = (count + 7) / 8;
    int rank = r->in_cell_data && components == 1 ? rbt_vtk_region_rank(name, strlen(name)) : -1;
    if (rank >= 0 && !bits && rbt_number_is_integer(kind) && (!r->cells.region || rank < r->region_rank)) {
        free(r->cells.region);
        r->cells.region = NULL;
        r->region_rank = rank;
        r->region_count = tuples;
        return read_ints(r, name, kind, count, &r->cells.region, error);
    }
    if (!check_left(r, name, kind, count, error)) return false;
    if (r->binary) {
        r->s.at += count * rbt_number_size(kind);
        return true;
    }
    char word[32];
    for (size_t i = 0; i < count; i++)
        if (!rbt_scan_word(&r->s, word, sizeof word))
            return fail(r, error, "array \"%s\" ends after %zu of %zu numbers", name, i, count);
    return true;
}

static bool read_field(reader *r, rbt_error *error) {
    char name[256] = "", type[64] = "";
    size_t arrays = 0, components = 0, tuples = 0;
    if (!rbt_scan_word(&r->s, name, sizeof name) || !read_count(r, "FIELD", &arrays, error))
        return fail(r, error, "FIELD must be followed by a name and the number of arrays");
    for (size_t i = 0; i < arrays; i++) {
        if (rbt_scan_match(&r->s, "METADATA")) {
            const char *line;
            size_t length;
            end_line(r);
            while (rbt_scan_rest(&r->s, &line, &length) && length) {}
        }
        if (!rbt_scan_word(&r->s, name, sizeof name))
            return fail(r, error, "FIELD announces %zu arrays, but the file ends after %zu", arrays, i);
        if (strcmp(name, "NULL_ARRAY") == 0) continue;
        if (!read_count(r, name, &components, error) || !read_count(r, name, &tuples, error)) return false;
        rbt_scan_word(&r->s, type, sizeof type);
        end_line(r);
        if (!read_array(r, name, type, tuples, components, error)) return false;
    }
    return true;
}

// SCALARS name type [components], then usually LOOKUP_TABLE name.
static bool read_scalars(reader *r, rbt_error *error) {
    char name[256] = "", type[64] = "", number[16] = "1";
    const char *rest;
    size_t length;
    rbt_scan_word(&r->s, name, sizeof name);
    rbt_scan_word(&r->s, type, sizeof type);
    if (rbt_scan_rest(&r->s, &rest, &length)) {
        rbt_scan line = rbt_scan_begin(r->s.file, rest, length);
        rbt_scan_word(&line, number, sizeof number);
    }
    size_t components = (size_t)strtoul(number, NULL, 10);
    if (components < 1 || components > 4)
        return fail(r, error, "SCALARS \"%s\" has %s components: 1 to 4 are possible", name, number);
    const char *data = r->s.at;
    if (rbt_scan_match(&r->s, "LOOKUP_TABLE")) end_line(r);
    else r->s.at = data;  // bytes that look like space may be data
    return read_array(r, name, type, r->attribute_count, components, error);
}

// The attributes with a fixed layout: keyword, name, then what the table says.
static bool read_attribute(reader *r, const char *keyword, bool *known, rbt_error *error) {
    static const struct {
        const char *keyword;
        size_t components;        // 0: a number behind the name
        const char *text, *byte;  // element type as text and in binary; NULL: a word at the end of the line
    } table[] = {{"VECTORS", 3, NULL, NULL},
                 {"NORMALS", 3, NULL, NULL},
                 {"TENSORS", 9, NULL, NULL},
                 {"TENSORS6", 6, NULL, NULL},
                 {"TEXTURE_COORDINATES", 0, NULL, NULL},
                 {"GLOBAL_IDS", 1, NULL, NULL},
                 {"PEDIGREE_IDS", 1, NULL, NULL},
                 {"EDGE_FLAGS", 1, NULL, NULL},
                 {"COLOR_SCALARS", 0, "float", "unsigned_char"},
                 {"LOOKUP_TABLE", 4, "float", "unsigned_char"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcasecmp(keyword, table[i].keyword) != 0) continue;
        *known = true;
        char name[256] = "", type[64] = "";
        size_t components = table[i].components, tuples = r->attribute_count;
        rbt_scan_word(&r->s, name, sizeof name);
        if (!components && !read_count(r, keyword, &components, error)) return false;
        if (strcmp(table[i].keyword, "LOOKUP_TABLE") == 0 && !read_count(r, keyword, &tuples, error)) return false;
        if (table[i].text) snprintf(type, sizeof type, "%s", r->binary ? table[i].byte : table[i].text);
        else rbt_scan_word(&r->s, type, sizeof type);
        end_line(r);
        return read_array(r, name, type, tuples, components, error);
    }
    *known = false;
    return true;
}

static bool read_section(reader *r, const char *keyword, rbt_error *error) {
    if (strcasecmp(keyword, "POINTS") == 0) return read_points(r, error);
    if (strcasecmp(keyword, "METADATA") == 0) {
        const char *line;
        size_t length;
        end_line(r);
        while (rbt_scan_rest(&r->s, &line, &length) && length) {}
        return true;
    }
    if (strcasecmp(keyword, "FIELD") == 0) return read_field(r, error);
    if (strcasecmp(keyword, "SCALARS") == 0) return read_scalars(r, error);
    if (strcasecmp(keyword, "POINT_DATA") == 0 || strcasecmp(keyword, "CELL_DATA") == 0) {
        r->in_cell_data = strcasecmp(keyword, "CELL_DATA") == 0;
        return read_count(r, keyword, &r->attribute_count, error);
    }
    if (!r->polygonal && strcasecmp(keyword, "CELLS") == 0) {
        if (r->has_cells) return fail(r, error, "CELLS comes twice");
        r->has_cells = true;
        return read_lists(r, "CELLS", &r->cells, error);
    }
    if (!r->polygonal && strcasecmp(keyword, "CELL_TYPES") == 0) return read_cell_types(r, error);
    static const char *const polygons[] = {"VERTICES", "LINES", "POLYGONS", "TRIANGLE_STRIPS"};
    for (int i = 0; r->polygonal && i < 4; i++)
        if (strcasecmp(keyword, polygons[i]) == 0) return read_polygons(r, polygons[i], error);
    bool known;
    if (!read_attribute(r, keyword, &known, error)) return false;
    return known || fail(r, error, "\"%.40s\" is not a section of a legacy VTK file", keyword);
}

static bool read_header(reader *r, rbt_error *error) {
    static const char magic[] = "# vtk DataFile Version ";
    const char *line;
    char word[64] = "", format[64] = "";
    size_t length;
    int minor = 0;
    if ((size_t)(r->s.end - r->s.at) < sizeof magic - 1 || strncasecmp(r->s.at, magic, sizeof magic - 1) != 0)
        return rbt_fail_at(error, r->s.file, 1, 0, "a legacy VTK file begins with \"%s3.0\"", magic);
    r->s.at += sizeof magic - 1;
    rbt_scan_word(&r->s, word, sizeof word);
    if (sscanf(word, "%3d.%3d", &r->major, &minor) != 2 || r->major < 1 || r->major > 5)
        return fail(r, error, "version \"%s\": versions 1.0 to 5.1 are read", word);
    end_line(r);
    if (!rbt_scan_rest(&r->s, &line, &length)) return fail(r, error, "the file ends before its title");
    rbt_scan_word(&r->s, format, sizeof format);
    r->binary = strcasecmp(format, "BINARY") == 0;
    if (!r->binary && strcasecmp(format, "ASCII") != 0)
        return fail(r, error, "the third line must be ASCII or BINARY, not \"%s\"", format);
    end_line(r);
    snprintf(r->grow.mesh->format, sizeof r->grow.mesh->format, "VTK legacy %d.%d %s", r->major, minor,
             r->binary ? "binary" : "ASCII");
    return true;
}

static bool read_dataset(reader *r, rbt_error *error) {
    char word[64] = "";
    rbt_scan_word(&r->s, word, sizeof word);
    while (strcasecmp(word, "FIELD") == 0) {  // field data may come before the dataset
        if (!read_field(r, error)) return false;
        word[0] = '\0';
        rbt_scan_word(&r->s, word, sizeof word);
    }
    if (strcasecmp(word, "DATASET") != 0) return fail(r, error, "DATASET is expected, but here is \"%s\"", word);
    word[0] = '\0';
    rbt_scan_word(&r->s, word, sizeof word);
    r->polygonal = strcasecmp(word, "POLYDATA") == 0;
    if (!r->polygonal && strcasecmp(word, "UNSTRUCTURED_GRID") != 0)
        return fail(r, error, "dataset \"%s\": only UNSTRUCTURED_GRID and POLYDATA are read", word);
    while (rbt_scan_word(&r->s, word, sizeof word))
        if (!read_section(r, word, error)) return false;
    if (!r->has_points) return fail(r, error, "the file has no POINTS");
    return true;
}

static bool finish_grid(reader *r, rbt_error *error) {
    if (r->cells.count && !r->cells.types) return fail(r, error, "the file has CELLS but no CELL_TYPES");
    if (!r->has_cells) return true;
    if (r->cells.region && r->region_count != r->cells.count)
        return fail(r, error, "the array of regions has %zu entries, but CELLS has %zu", r->region_count,
                    r->cells.count);
    return rbt_vtk_cells_to_mesh(&r->cells, r->grow.mesh, r->s.file, error);
}

bool rbt_read_vtk(const char *path, const rbt_bytes *bytes, rbt_mesh *mesh, rbt_error *error) {
    reader r = {.s = rbt_scan_begin(path, bytes->data, bytes->size), .grow = {.mesh = mesh, .file = path}};
    bool good = read_header(&r, error) && read_dataset(&r, error) && (r.polygonal || finish_grid(&r, error));
    rbt_vtk_cells_free(&r.cells);
    return good;
}
