// VTK's XML unstructured grids (.vtu). The tags are read first and give a list of arrays; then each piece's arrays are
// fetched from wherever they are (mesh/io/vtu_data.h) and the pieces put behind each other.
// Reference: VTK User's Guide, "VTK File Formats", XML file formats.
#include "mesh/io/read_vtu.h"

#include "mesh/core/build.h"
#include "mesh/io/format.h"
#include "mesh/io/vtk_cells.h"
#include "mesh/io/vtu_data.h"

#include <string.h>

typedef struct piece {
    size_t point_count, cell_count;
    size_t first_array, array_count;
} piece;

typedef struct reader {
    rbt_scan s;
    rbt_vtu_data data;
    rbt_vtu_array *arrays;
    piece *pieces;
    size_t array_count, array_capacity, piece_count, piece_capacity;
    // while reading tags
    rbt_vtu_section section;
    bool in_file, in_piece, in_array;
    int depth;  // of tags within a DataArray
    const char *text;
    // the mesh so far
    rbt_mesh *mesh;
    rbt_vtk_cells cells;
    size_t node_capacity, type_capacity, offset_capacity, corner_capacity, region_capacity, region_count;
} reader;

// ---- Tags

static bool read_attribute_count(reader *r, const rbt_xml_tag *tag, const char *name, size_t *count,
                                 rbt_error *error) {
    rbt_xml_slice value = rbt_xml_attribute(tag, name);
    int64_t number = -1;
    if (!value.at) value.at = "";
    rbt_scan s = rbt_scan_begin(r->s.file, value.at, value.length);
    if (!rbt_scan_int(&s, &number) || number < 0 || number > INT32_MAX)
        return rbt_scan_fail(&r->s, error, "a Piece needs %s from 0 to %d, not \"%.*s\"", name, INT32_MAX,
                             value.length < 40 ? (int)value.length : 40, value.at);
    *count = (size_t)number;
    return true;
}

static bool open_file(reader *r, const rbt_xml_tag *tag, rbt_error *error) {
    rbt_xml_slice type = rbt_xml_attribute(tag, "type"), order = rbt_xml_attribute(tag, "byte_order");
    rbt_xml_slice header = rbt_xml_attribute(tag, "header_type"), packer = rbt_xml_attribute(tag, "compressor");
    if (!type.at || !rbt_xml_is(type, "UnstructuredGrid"))
        return rbt_scan_fail(&r->s, error, "the file holds a dataset of type \"%.*s\": only UnstructuredGrid is read",
                             type.length < 40 ? (int)type.length : 40, type.at ? type.at : "");
    if (header.at && !rbt_xml_is(header, "UInt32") && !rbt_xml_is(header, "UInt64"))
        return rbt_scan_fail(&r->s, error, "header_type is \"%.*s\": known are UInt32 and UInt64",
                             header.length < 40 ? (int)header.length : 40, header.at);
    bool zlib = packer.at && rbt_xml_is(packer, "vtkZLibDataCompressor");
    bool lz4 = packer.at && rbt_xml_is(packer, "vtkLZ4DataCompressor");
    if (packer.at && !zlib && !lz4)
        return rbt_scan_fail(&r->s, error,
                             "the data is compressed by \"%.*s\": known are vtkZLibDataCompressor and "
                             "vtkLZ4DataCompressor, save the file with one of them or without compression",
                             packer.length < 40 ? (int)packer.length : 40, packer.at);
    if (order.at && !rbt_xml_is(order, "BigEndian") && !rbt_xml_is(order, "LittleEndian"))
        return rbt_scan_fail(&r->s, error, "byte_order is \"%.*s\": known are LittleEndian and BigEndian",
                             order.length < 40 ? (int)order.length : 40, order.at);
    r->data.header_size = header.at && rbt_xml_is(header, "UInt64") ? 8 : 4;
    r->data.packing = zlib ? RBT_VTU_ZLIB : lz4 ? RBT_VTU_LZ4 : RBT_VTU_PLAIN;
    r->data.swap = rbt_swap_for(order.at && rbt_xml_is(order, "BigEndian"));
    r->in_file = true;
    return true;
}

static bool open_piece(reader *r, const rbt_xml_tag *tag, rbt_error *error) {
    piece p = {.first_array = r->array_count};
    if (!read_attribute_count(r, tag, "NumberOfPoints", &p.point_count, error)) return false;
    if (!read_attribute_count(r, tag, "NumberOfCells", &p.cell_count, error)) return false;
    void *pieces = r->pieces;
    if (!rbt_array_reserve(&pieces, &r->piece_capacity, r->piece_count + 1, sizeof p, "pieces", error)) return false;
    r->pieces = pieces;
    r->pieces[r->piece_count++] = p;
    r->in_piece = true;
    return true;
}

static bool open_array(reader *r, const rbt_xml_tag *tag, rbt_error *error) {
    rbt_vtu_array array;
    void *arrays = r->arrays;
    if (!rbt_vtu_array_describe(&r->data, tag, &array, error)) return false;
    array.section = r->section;
    array.text = (rbt_xml_slice){tag->end, 0};
    if (!rbt_array_reserve(&arrays, &r->array_capacity, r->array_count + 1, sizeof array, "arrays", error))
        return false;
    r->arrays = arrays;
    r->arrays[r->array_count++] = array;
    if (r->in_piece) r->pieces[r->piece_count - 1].array_count++;
    r->in_array = !tag->closes;
    r->depth = 0;
    return true;
}

// Data starts behind an underscore; what follows may be any bytes, so this is the last tag that is read.
static bool open_appended(reader *r, const rbt_xml_tag *tag, rbt_error *error) {
    rbt_xml_slice encoding = rbt_xml_attribute(tag, "encoding");
    r->data.appended_base64 = encoding.at && rbt_xml_is(encoding, "base64");
    if (!r->data.appended_base64 && (!encoding.at || !rbt_xml_is(encoding, "raw")))
        return rbt_scan_fail(&r->s, error, "AppendedData has the encoding \"%.*s\": known are raw and base64",
                             encoding.length < 40 ? (int)encoding.length : 40, encoding.at ? encoding.at : "");
    rbt_scan_space(&r->s);
    if (r->s.at >= r->s.end || *r->s.at != '_')
        return rbt_scan_fail(&r->s, error, "the data of AppendedData must start with \"_\"");
    const char *end = r->s.end;
    if (r->data.appended_base64) {
        const char *close = memchr(r->s.at, '<', (size_t)(r->s.end - r->s.at));
        if (close) end = close;
    }
    r->data.appended = (rbt_xml_slice){r->s.at + 1, (size_t)(end - r->s.at - 1)};
    return true;
}

static rbt_vtu_section section_of(rbt_xml_slice name) {
    static const char *const names[] = {"", "FieldData", "PointData", "CellData", "Points", "Cells"};
    for (int i = 1; i < 6; i++)
        if (rbt_xml_is(name, names[i])) return (rbt_vtu_section)i;
    return RBT_VTU_NOWHERE;
}

// VTK puts information tags into arrays, behind the numbers or before them: the text of an array is the first that is
// not blank.
static void tag_in_array(reader *r, const rbt_xml_tag *tag) {
    rbt_vtu_array *array = &r->arrays[r->array_count - 1];
    rbt_scan text = rbt_scan_begin(NULL, r->text, (size_t)(tag->start - r->text));
    if (!r->depth && !array->text.length && !rbt_scan_at_end(&text))
        array->text = (rbt_xml_slice){r->text, (size_t)(tag->start - r->text)};
    if (tag->opens && !tag->closes) r->depth++;
    if (tag->opens) return;
    if (rbt_xml_is(tag->name, "DataArray")) r->in_array = false;
    else if (r->depth) r->depth--;
}

static bool read_tags(reader *r, rbt_error *error) {
    rbt_xml_tag tag;
    int found;
    while ((found = rbt_xml_next(&r->s, &tag, error)) > 0) {
        bool good = true;
        if (!r->in_file) {
            if (!rbt_xml_is(tag.name, "VTKFile"))
                return rbt_scan_fail(&r->s, error, "the first tag is \"%.*s\", not VTKFile",
                                     tag.name.length < 40 ? (int)tag.name.length : 40, tag.name.at);
            good = open_file(r, &tag, error);
        } else if (r->in_array) {
            tag_in_array(r, &tag);
        } else if (rbt_xml_is(tag.name, "Piece")) {
            if (tag.opens) good = open_piece(r, &tag, error);
            if (tag.closes) r->in_piece = false;
        } else if (tag.opens && rbt_xml_is(tag.name, "DataArray")) {
            good = open_array(r, &tag, error);
        } else if (tag.opens && rbt_xml_is(tag.name, "AppendedData")) {
            return open_appended(r, &tag, error);
        } else if (section_of(tag.name)) {
            r->section = tag.closes ? RBT_VTU_NOWHERE : section_of(tag.name);
        }
        if (!good) return false;
        r->text = tag.end;
    }
    if (found == 0 && !r->in_file) return rbt_fail_at(error, r->s.file, 0, 0, "a VTU file needs the tag VTKFile");
    if (found == 0 && r->in_array)
        return rbt_scan_fail(
            &r->s, error, "the file ends within the array \"%.*s\"",
            r->arrays[r->array_count - 1].name.length < 40 ? (int)r->arrays[r->array_count - 1].name.length : 40,
            r->arrays[r->array_count - 1].name.at);
    return found == 0;
}

// ---- The mesh

static const rbt_vtu_array *find_array(const reader *r, const piece *p, rbt_vtu_section section, const char *name) {
    for (size_t i = p->first_array; i < p->first_array + p->array_count; i++)
        if (r->arrays[i].section == section && (!name || rbt_xml_is(r->arrays[i].name, name))) return &r->arrays[i];
    return NULL;
}

// Puts `more` (owned, of `size` bytes each) behind the items; the first ones are taken over as they are.
static bool append(void **items, size_t *count, size_t *capacity, void *more, size_t more_count, size_t size,
                   rbt_error *error) {
    if (!*items) {
        *items = more;
        *count = *capacity = more_count;
        return true;
    }
    bool good = rbt_array_reserve(items, capacity, *count + more_count, size, "the pieces", error);
    if (good) memcpy((char *)*items + *count * size, more, more_count * size);
    if (good) *count += more_count;
    free(more);
    return good;
}

static bool append_ints(int64_t **items, size_t *count, size_t *capacity, int64_t *more, size_t more_count,
                        rbt_error *error) {
    void *all = *items;
    bool good = append(&all, count, capacity, more, more_count, sizeof **items, error);
    *items = all;
    return good;
}

static bool fail_missing(const reader *r, const piece *p, const char *name, rbt_error *error) {
    return rbt_fail_at(error, r->s.file, 0, 0, "piece %zu has no array %s", (size_t)(p - r->pieces), name);
}

static bool read_points(reader *r, const piece *p, rbt_error *error) {
    const rbt_vtu_array *array = find_array(r, p, RBT_VTU_POINTS, NULL);
    if (!array) return p->point_count == 0 || fail_missing(r, p, "of points", error);
    if (array->components != 3)
        return rbt_fail_at(error, r->s.file, 0, 0, "the points have %zu components instead of 3", array->components);
    double *values;
    if (r->mesh->node_count + p->point_count > INT32_MAX)
        return rbt_fail_at(error, r->s.file, 0, 0, "the pieces have more than %d points", INT32_MAX);
    if (!rbt_vtu_reals(&r->data, array, 3 * p->point_count, &values, error)) return false;
    void *nodes = r->mesh->nodes;
    bool good =
        append(&nodes, &r->mesh->node_count, &r->node_capacity, values, p->point_count, 3 * sizeof *values, error);
    r->mesh->nodes = nodes;
    static const char *const said[] = {"ASCII", "binary", "appended"}, *const packed[] = {"", " zlib", " LZ4"};
    snprintf(r->mesh->format, sizeof r->mesh->format, "VTU %s%s%s", said[array->format],
             array->format != RBT_VTU_APPENDED ? ""
             : r->data.appended_base64         ? " base64"
                                               : " raw",
             array->format != RBT_VTU_TEXT ? packed[r->data.packing] : "");
    return good;
}

// Ends of the cells in the piece -> offsets of all cells, from 0 on.
static bool read_offsets(reader *r, const piece *p, const rbt_vtu_array *array, size_t *corner_count,
                         rbt_error *error) {
    int64_t *ends, base = r->cells.offsets ? r->cells.offsets[r->cells.count] : 0, before = 0;
    *corner_count = 0;
    if (!rbt_vtu_ints(&r->data, array, p->cell_count, &ends, error)) return false;
    void *offsets = r->cells.offsets;
    bool good = rbt_array_reserve(&offsets, &r->offset_capacity, r->cells.count + p->cell_count + 1, sizeof *ends,
                                  "the pieces", error);
    r->cells.offsets = offsets;
    if (good) r->cells.offsets[r->cells.count] = base;
    for (size_t i = 0; good && i < p->cell_count; i++) {
        if (ends[i] < before || ends[i] > INT64_MAX / 16 - base)
            good = rbt_fail_at(error, r->s.file, 0, 0,
                               "the offsets of the cells must ascend, but cell %zu ends at %ld and starts at %ld", i,
                               (long)ends[i], (long)before);
        before = ends[i];
        if (good) r->cells.offsets[r->cells.count + i + 1] = base + before;
    }
    free(ends);
    if (good) *corner_count = (size_t)before;
    return good;
}

static bool read_corners(reader *r, const piece *p, const rbt_vtu_array *array, size_t count, size_t first_node,
                         rbt_error *error) {
    int64_t *corners;
    if (!rbt_vtu_ints(&r->data, array, count, &corners, error)) return false;
    // Nodes of other pieces must not be reached; with one piece the elements are checked when they are made.
    for (size_t i = 0; r->piece_count > 1 && i < count; i++) {
        if (corners[i] < 0 || (uint64_t)corners[i] >= p->point_count) {
            rbt_fail_at(error, r->s.file, 0, 0, "piece %zu has %zu points, but its connectivity names point %ld",
                        (size_t)(p - r->pieces), p->point_count, (long)corners[i]);
            free(corners);
            return false;
        }
        corners[i] += (int64_t)first_node;
    }
    return append_ints(&r->cells.corners, &r->cells.corner_count, &r->corner_capacity, corners, count, error);
}

// Labels count only if every piece has them.
static bool read_region(reader *r, const piece *p, rbt_error *error) {
    const rbt_vtu_array *best = NULL;
    int best_rank = -1;
    for (size_t i = p->first_array; i < p->first_array + p->array_count; i++) {
        const rbt_vtu_array *a = &r->arrays[i];
        int rank = rbt_vtk_region_rank(a->name.at, a->name.length);
        if (a->section != RBT_VTU_CELL_DATA || a->components != 1 || !rbt_number_is_integer(a->kind) || rank < 0)
            continue;
        if (best && rank >= best_rank) continue;
        best = a;
        best_rank = rank;
    }
    int64_t *labels;
    if (!best) return true;
    return rbt_vtu_ints(&r->data, best, p->cell_count, &labels, error) &&
           append_ints(&r->cells.region, &r->region_count, &r->region_capacity, labels, p->cell_count, error);
}

static bool read_cells(reader *r, const piece *p, size_t first_node, rbt_error *error) {
    static const char *const names[] = {"offsets", "connectivity", "types"};
    const rbt_vtu_array *arrays[3];
    size_t corner_count;
    if (!p->cell_count) return true;
    for (int i = 0; i < 3; i++) {
        char quoted[32];
        snprintf(quoted, sizeof quoted, "\"%s\" of cells", names[i]);
        if (!(arrays[i] = find_array(r, p, RBT_VTU_CELLS, names[i]))) return fail_missing(r, p, quoted, error);
    }
    if (r->cells.count + p->cell_count > INT32_MAX)
        return rbt_fail_at(error, r->s.file, 0, 0, "the pieces have more than %d cells", INT32_MAX);
    int64_t *types;
    size_t type_count = r->cells.count;
    if (!read_offsets(r, p, arrays[0], &corner_count, error) ||
        !read_corners(r, p, arrays[1], corner_count, first_node, error) || !read_region(r, p, error) ||
        !rbt_vtu_ints(&r->data, arrays[2], p->cell_count, &types, error) ||
        !append_ints(&r->cells.types, &type_count, &r->type_capacity, types, p->cell_count, error))
        return false;
    r->cells.count = type_count;
    return true;
}

static bool read_mesh(reader *r, rbt_error *error) {
    if (!r->piece_count) return rbt_fail_at(error, r->s.file, 0, 0, "the file has no Piece");
    for (size_t i = 0; i < r->piece_count; i++) {
        size_t first_node = r->mesh->node_count;
        if (!read_points(r, &r->pieces[i], error) || !read_cells(r, &r->pieces[i], first_node, error)) return false;
    }
    if (r->region_count != r->cells.count) {
        free(r->cells.region);
        r->cells.region = NULL;
    }
    return rbt_vtk_cells_to_mesh(&r->cells, r->mesh, r->s.file, error);
}

// ---- Fields

void rbt_fields_free(rbt_fields *fields) {
    for (size_t i = 0; i < fields->count; i++) {
        free(fields->items[i].name);
        free(fields->items[i].values);
    }
    free(fields->items);
    *fields = (rbt_fields){0};
}

const rbt_mesh_field *rbt_fields_find(const rbt_fields *fields, const char *name, bool on_cells) {
    for (size_t i = 0; i < fields->count; i++)
        if (fields->items[i].on_cells == on_cells && strcmp(fields->items[i].name, name) == 0)
            return &fields->items[i];
    return NULL;
}

static bool same_slice(rbt_xml_slice a, rbt_xml_slice b) {
    return a.length == b.length && memcmp(a.at, b.at, a.length) == 0;
}

// One array of the first piece that has points, with what the other pieces have under its name.
static bool read_field(reader *r, const rbt_vtu_array *model, rbt_mesh_field *field, rbt_error *error) {
    size_t tuples = 0, capacity = 0, width = model->components * sizeof(double);
    void *values = NULL;
    bool good = true;
    for (size_t i = 0; good && i < r->piece_count; i++) {
        const piece *p = &r->pieces[i];
        size_t count = field->on_cells ? p->cell_count : p->point_count, numbers = 0;
        const rbt_vtu_array *array = NULL;
        double *more;
        if (!count) continue;
        for (size_t k = p->first_array; !array && k < p->first_array + p->array_count; k++)
            if (r->arrays[k].section == model->section && same_slice(r->arrays[k].name, model->name))
                array = &r->arrays[k];
        if (!array || array->components != model->components)
            good = rbt_fail_at(error, r->s.file, 0, 0, "piece %zu has no array \"%s\" with %zu components", i,
                               field->name, model->components);
        else if (__builtin_mul_overflow(count, array->components, &numbers))
            good = rbt_fail_at(error, r->s.file, 0, 0, "array \"%s\" has %zu components", field->name,
                               array->components);
        good = good && rbt_vtu_reals(&r->data, array, numbers, &more, error) &&
               append(&values, &tuples, &capacity, more, count, width, error);
    }
    if (good && !values) good = (values = rbt_array_new(0, 1, "a field", error));
    field->values = values;
    return good;
}

static bool order_cells(const rbt_vtk_cells *cells, rbt_mesh_field *field, const size_t *places, rbt_error *error) {
    size_t n = field->components;
    double *ordered = rbt_array_new(cells->count * n, sizeof *ordered, "a field", error);
    if (!ordered) return false;
    for (size_t i = 0; i < cells->count; i++)
        memcpy(ordered + places[i] * n, field->values + i * n, n * sizeof *ordered);
    free(field->values);
    field->values = ordered;
    return true;
}

static bool read_time(reader *r, rbt_fields *fields, rbt_error *error) {
    for (size_t i = 0; i < r->array_count; i++) {
        const rbt_vtu_array *a = &r->arrays[i];
        if (a->section != RBT_VTU_FIELD_DATA || !rbt_xml_is(a->name, "TimeValue") || a->tuples != 1) continue;
        double *time;
        if (!rbt_vtu_reals(&r->data, a, 1, &time, error)) return false;
        fields->has_time = true;
        fields->time = *time;
        free(time);
        break;
    }
    return true;
}

static bool read_fields(reader *r, rbt_fields *fields, rbt_error *error) {
    const piece *p = r->pieces;
    while (p + 1 < r->pieces + r->piece_count && !p->point_count) p++;
    fields->cell_count = r->cells.count;
    for (size_t i = 0; i < r->array_count; i++)
        if (r->arrays[i].section == RBT_VTU_POINTS && r->arrays[i].kind == RBT_NUMBER_F32)
            fields->single_precision = true;
    fields->items = rbt_array_new(p->array_count, sizeof *fields->items, "fields", error);
    size_t *places = NULL;
    bool good = fields->items && rbt_vtk_cell_places(&r->cells, &places, error) && read_time(r, fields, error);
    for (size_t i = p->first_array; good && i < p->first_array + p->array_count; i++) {
        const rbt_vtu_array *a = &r->arrays[i];
        bool on_cells = a->section == RBT_VTU_CELL_DATA;
        if (!(on_cells || a->section == RBT_VTU_POINT_DATA) || rbt_xml_is(a->type, "String") || !a->components)
            continue;
        rbt_mesh_field *field = &fields->items[fields->count++];
        *field = (rbt_mesh_field){rbt_xml_copy(a->name), on_cells, a->components, NULL};
        good = field->name ? read_field(r, a, field, error) : rbt_fail_memory(error, a->name.length, "a field");
        if (good && on_cells) good = order_cells(&r->cells, field, places, error);
    }
    free(places);
    return good;
}

static bool read_all(const char *path, const rbt_bytes *bytes, rbt_mesh *mesh, rbt_fields *fields, rbt_error *error) {
    reader r = {.s = rbt_scan_begin(path, bytes->data, bytes->size), .mesh = mesh};
    r.data = (rbt_vtu_data){.file = path, .begin = bytes->data, .header_size = 4, .budget = 4 * bytes->size};
    bool good = read_tags(&r, error) && read_mesh(&r, error) && (!fields || read_fields(&r, fields, error));
    free(r.arrays);
    free(r.pieces);
    rbt_vtk_cells_free(&r.cells);
    return good;
}

bool rbt_read_vtu(const char *path, const rbt_bytes *bytes, rbt_mesh *mesh, rbt_error *error) {
    return read_all(path, bytes, mesh, NULL, error);
}

bool rbt_vtu_read_fields_bytes(const char *path, const rbt_bytes *bytes, rbt_mesh *mesh, rbt_fields *fields,
                               rbt_error *error) {
    *mesh = (rbt_mesh){0};
    *fields = (rbt_fields){0};
    if (read_all(path, bytes, mesh, fields, error) && rbt_mesh_check_read(mesh, path, error)) return true;
    rbt_mesh_clear(mesh);
    rbt_fields_free(fields);
    if (error && !error->file[0]) snprintf(error->file, sizeof error->file, "%s", path);
    return false;
}

bool rbt_vtu_read_fields(const char *path, rbt_mesh *mesh, rbt_fields *fields, rbt_error *error) {
    rbt_bytes bytes;
    *mesh = (rbt_mesh){0};
    *fields = (rbt_fields){0};
    if (!rbt_file_read(path, &bytes, error)) return false;
    bool good = rbt_vtu_read_fields_bytes(path, &bytes, mesh, fields, error);
    free(bytes.data);
    return good;
}
