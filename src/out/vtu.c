#include "out/vtu.h"

#include "base/file.h"
#include "base/text.h"

#include <limits.h>
#include <string.h>
#include <zlib.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays are written as they lie in memory");

// VTK compresses block by block; blocks of this size keep several processors busy and cost nothing in size.
enum { BLOCK_BYTES = 1 << 18, MAX_ARRAYS = 32 };

// One array on its way into the file.
typedef struct array {
    const void *data;
    void *owned;  // what `data` points to if it was converted
    uint64_t size;
    uint64_t offset;  // behind the underscore
    unsigned char *packed;
    uint64_t block_count, *packed_sizes;  // of each block; blocks lie `bound` apart in `packed`
    uint64_t bound;
} array;

typedef struct writer {
    const rbt_vtu_grid *grid;
    rbt_vtu_options options;
    rbt_text head;
    int count;
    array arrays[MAX_ARRAYS];
    uint64_t offset;
    rbt_error *error;
} writer;

// ---- Compression: blocks are independent, so the bytes do not depend on the number of threads

static bool pack(array *a, rbt_error *error) {
    a->block_count = (a->size + BLOCK_BYTES - 1) / BLOCK_BYTES;
    a->bound = compressBound(BLOCK_BYTES);
    a->packed_sizes = rbt_array_new(a->block_count, sizeof *a->packed_sizes, "compressed output", error);
    a->packed = rbt_array_new(a->block_count, a->bound, "compressed output", error);
    if (!a->packed_sizes || !a->packed) return false;
    int failed = 0;
#pragma omp parallel for schedule(dynamic) reduction(| : failed)
    for (int64_t b = 0; b < (int64_t)a->block_count; b++) {
        uint64_t begin = (uint64_t)b * BLOCK_BYTES, left = a->size - begin;
        uLongf packed = a->bound;
        failed |= compress2(a->packed + (uint64_t)b * a->bound, &packed, (const unsigned char *)a->data + begin,
                            left < BLOCK_BYTES ? left : BLOCK_BYTES, Z_BEST_SPEED) != Z_OK;
        a->packed_sizes[b] = packed;
    }
    return !failed || rbt_fail(error, "zlib could not compress an array of %llu bytes", (unsigned long long)a->size);
}

static uint64_t stored_size(const array *a, bool compress) {
    if (!compress) return sizeof(uint64_t) + a->size;
    uint64_t size = (3 + a->block_count) * sizeof(uint64_t);
    for (uint64_t b = 0; b < a->block_count; b++) size += a->packed_sizes[b];
    return size;
}

static void store(const array *a, bool compress, FILE *stream) {
    if (!compress) {
        fwrite(&a->size, sizeof a->size, 1, stream);
        if (a->size) fwrite(a->data, 1, a->size, stream);
        return;
    }
    uint64_t sizes[3] = {a->block_count, BLOCK_BYTES, a->size % BLOCK_BYTES};
    fwrite(sizes, sizeof sizes, 1, stream);
    fwrite(a->packed_sizes, sizeof *a->packed_sizes, a->block_count, stream);
    for (uint64_t b = 0; b < a->block_count; b++) fwrite(a->packed + b * a->bound, 1, a->packed_sizes[b], stream);
}

// ---- The head, and with it the list of arrays

static bool add_array(writer *w, const char *attributes, const char *type, const char *name, int components,
                      const void *data, void *owned, size_t size) {
    array *a = &w->arrays[w->count++];
    *a = (array){.data = data, .owned = owned, .size = size, .offset = w->offset};
    if (w->options.compress && !pack(a, w->error)) return false;
    w->offset += stored_size(a, w->options.compress);
    rbt_text_add(&w->head, "        <DataArray type=\"%s\" Name=\"%s\"", type, name);
    if (components > 1) rbt_text_add(&w->head, " NumberOfComponents=\"%d\"", components);
    rbt_text_add(&w->head, "%s format=\"appended\" offset=\"%llu\"/>\n", attributes, (unsigned long long)a->offset);
    return true;
}

static bool add_reals(writer *w, const char *name, int components, const double *reals, size_t count) {
    size_t n = count * (size_t)components;
    if (!w->options.single_precision)
        return add_array(w, "", "Float64", name, components, reals, NULL, n * sizeof *reals);
    float *floats = rbt_array_new(n, sizeof *floats, "single precision output", w->error);
    if (!floats) return false;
    for (size_t i = 0; i < n; i++) floats[i] = (float)reals[i];
    return add_array(w, "", "Float32", name, components, floats, floats, n * sizeof *floats);
}

static bool add_fields(writer *w, const rbt_vtu_field *fields, size_t field_count, size_t count) {
    for (size_t f = 0; f < field_count; f++) {
        const rbt_vtu_field *field = &fields[f];
        size_t bytes = count * (size_t)field->components * sizeof(int32_t);
        if (field->reals ? !add_reals(w, field->name, field->components, field->reals, count)
                         : !add_array(w, "", "Int32", field->name, field->components, field->ints, NULL, bytes))
            return false;
    }
    return true;
}

static bool add_cells(writer *w) {
    const rbt_vtu_grid *grid = w->grid;
    size_t n = grid->cell_count, corners = (size_t)grid->corners;
    if (grid->ends) {
        size_t all = n ? (size_t)grid->ends[n - 1] : 0;
        return add_array(w, "", "Int32", "connectivity", 1, grid->cells, NULL, all * sizeof(int32_t)) &&
               add_array(w, "", "Int32", "offsets", 1, grid->ends, NULL, n * sizeof(int32_t)) &&
               add_array(w, "", "UInt8", "types", 1, grid->types, NULL, n);
    }
    if (n > INT32_MAX / corners)
        return rbt_fail(w->error, "%zu cells are more than the %zu that a VTU file with 32-bit offsets can hold", n,
                        INT32_MAX / corners);
    if (!add_array(w, "", "Int32", "connectivity", 1, grid->cells, NULL, n * corners * sizeof(int32_t))) return false;
    int32_t *offsets = rbt_array_new(n, sizeof *offsets, "cell offsets", w->error);
    if (!offsets) return false;
    for (size_t i = 0; i < n; i++) offsets[i] = (int32_t)((i + 1) * corners);
    if (!add_array(w, "", "Int32", "offsets", 1, offsets, offsets, n * sizeof *offsets)) return false;
    unsigned char *types = rbt_array_new(n, 1, "cell types", w->error);
    if (!types) return false;
    memset(types, grid->cell_type, n);
    return add_array(w, "", "UInt8", "types", 1, types, types, n);
}

static bool add_all(writer *w) {
    const rbt_vtu_grid *grid = w->grid;
    rbt_text *head = &w->head;
    rbt_text_add(head,
                 "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
                 "byte_order=\"LittleEndian\" header_type=\"UInt64\"%s>\n  <UnstructuredGrid>\n    <FieldData>\n",
                 w->options.compress ? " compressor=\"vtkZLibDataCompressor\"" : "");
    if (!add_array(w, " NumberOfTuples=\"1\"", "Float64", "TimeValue", 1, &grid->time, NULL, sizeof grid->time))
        return false;
    rbt_text_add(head, "    </FieldData>\n    <Piece NumberOfPoints=\"%zu\" NumberOfCells=\"%zu\">\n",
                 grid->point_count, grid->cell_count);
    rbt_text_add(head, "      <PointData>\n");
    if (!add_fields(w, grid->point_fields, grid->point_field_count, grid->point_count)) return false;
    rbt_text_add(head, "      </PointData>\n      <CellData>\n");
    if (!add_fields(w, grid->cell_fields, grid->cell_field_count, grid->cell_count)) return false;
    rbt_text_add(head, "      </CellData>\n      <Points>\n");
    if (!add_reals(w, "Points", 3, grid->points, grid->point_count)) return false;
    rbt_text_add(head, "      </Points>\n      <Cells>\n");
    if (!add_cells(w)) return false;
    rbt_text_add(head,
                 "      </Cells>\n    </Piece>\n  </UnstructuredGrid>\n  <AppendedData encoding=\"raw\">\n   _");
    return !head->failed || rbt_fail_memory(w->error, head->size, "the head of a VTU file");
}

static bool write_file(const writer *w, const char *path) {
    rbt_new_file file;
    if (!rbt_new_file_open(&file, path, w->error)) return false;
    fwrite(w->head.text, 1, w->head.size, file.stream);
    for (int i = 0; i < w->count; i++) store(&w->arrays[i], w->options.compress, file.stream);
    fputs("\n  </AppendedData>\n</VTKFile>\n", file.stream);
    return rbt_new_file_commit(&file, w->error);
}

bool rbt_vtu_write(const char *path, const rbt_vtu_grid *grid, rbt_vtu_options options, rbt_error *error) {
    writer w = {.grid = grid, .options = options, .error = error};
    bool good = grid->point_field_count + grid->cell_field_count + 5 <= MAX_ARRAYS
                    ? add_all(&w)
                    : rbt_fail(error, "a VTU file is to hold more than %d arrays", MAX_ARRAYS);
    good = good && write_file(&w, path);
    for (int i = 0; i < w.count; i++) {
        free(w.arrays[i].owned);
        free(w.arrays[i].packed);
        free(w.arrays[i].packed_sizes);
    }
    rbt_text_free(&w.head);
    return good;
}
