#include "view/table.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/scan.h"

#include <math.h>
#include <string.h>

enum { COLUMNS_MAX = 1000 };

// The next cell of the line [*at, end), without white space around it. Moves *at behind its comma.
static const char *next_cell(const char **at, const char *end, size_t *length) {
    const char *first = *at, *comma = memchr(first, ',', (size_t)(end - first)), *last = comma ? comma : end;
    *at = comma ? comma + 1 : end + 1;
    while (first < last && (*first == ' ' || *first == '\t')) first++;
    while (last > first && (last[-1] == ' ' || last[-1] == '\t' || last[-1] == '\r')) last--;
    *length = (size_t)(last - first);
    return first;
}

static size_t count_cells(const char *line, const char *end) {
    size_t count = 1;
    for (const char *c = line; c < end; c++) count += *c == ',';
    return count;
}

static bool read_names(rbt_table *table, const char *path, const char *line, const char *end, rbt_error *error) {
    size_t count = count_cells(line, end), length;
    if (count > COLUMNS_MAX)
        return rbt_fail_at(error, path, 1, 0, "%zu columns are more than the limit of %d", count, COLUMNS_MAX);
    table->names = rbt_array_new(count, sizeof *table->names, "names of columns", error);
    table->columns = table->names ? rbt_array_new(count, sizeof *table->columns, "columns", error) : NULL;
    if (!table->columns) return false;
    for (size_t k = 0; k < count; k++) {
        const char *cell = next_cell(&line, end, &length);
        if (!(table->names[k] = strndup(cell, length))) return rbt_fail_memory(error, length, "a name");
        table->column_count++;
    }
    return true;
}

static bool read_row(rbt_table *table, const char *path, long number, const char *line, const char *end,
                     rbt_error *error) {
    size_t count = count_cells(line, end), length;
    if (count != table->column_count)
        return rbt_fail_at(error, path, number, 0, "the line has %zu cells, but the table has %zu columns", count,
                           table->column_count);
    for (size_t k = 0; k < count; k++) {
        const char *cell = next_cell(&line, end, &length);
        char text[64];
        if (length >= sizeof text)
            return rbt_fail_at(error, path, number, 0, "column \"%s\" has a number of %zu characters",
                               table->names[k], length);
        memcpy(text, cell, length);
        text[length] = '\0';
        // a method that does not count it; an attempt at a step that failed, and words about it
        bool gap = length == 0 && (strcmp(table->names[k], "work") == 0 || strcmp(table->names[k], "estimate") == 0);
        if (gap || strcmp(table->names[k], "why") == 0) {
            table->columns[k][table->row_count] = NAN;
            continue;
        }
        rbt_scan scan = rbt_scan_begin(path, text, length);
        if (!rbt_scan_real(&scan, &table->columns[k][table->row_count]) || !rbt_scan_at_end(&scan))
            return rbt_fail_at(error, path, number, 0, "column \"%s\" needs a number, \"%s\" is none",
                               table->names[k], text);
    }
    table->row_count++;
    return true;
}

static bool read_lines(rbt_table *table, const char *path, const rbt_bytes *bytes, rbt_error *error) {
    const char *at = bytes->data, *stop = bytes->data + bytes->size, *end = memchr(at, '\n', bytes->size);
    if (!end) return rbt_fail_at(error, path, 0, 0, "the file has no line with the names of the columns");
    if (!read_names(table, path, at, end, error)) return false;
    size_t lines = 0;
    for (const char *c = end + 1; c < stop; c++) lines += *c == '\n';
    for (size_t k = 0; k < table->column_count; k++)
        if (!(table->columns[k] = rbt_array_new(lines, sizeof(double), "a column", error))) return false;
    long number = 2;
    for (at = end + 1; at < stop && (end = memchr(at, '\n', (size_t)(stop - at))); at = end + 1, number++) {
        bool empty = end == at || (end == at + 1 && *at == '\r');
        if (!empty && !read_row(table, path, number, at, end, error)) return false;
    }
    return true;
}

bool rbt_table_read(rbt_table *table, const char *path, rbt_error *error) {
    *table = (rbt_table){0};
    rbt_bytes bytes;
    if (!rbt_file_read(path, &bytes, error)) return false;
    bool good = read_lines(table, path, &bytes, error);
    free(bytes.data);
    if (!good) rbt_table_free(table);
    return good;
}

void rbt_table_free(rbt_table *table) {
    for (size_t k = 0; k < table->column_count; k++) {
        free(table->names[k]);
        free(table->columns[k]);
    }
    free(table->names);
    free(table->columns);
    *table = (rbt_table){0};
}

const double *rbt_table_column(const rbt_table *table, const char *name) {
    for (size_t k = 0; k < table->column_count; k++)
        if (strcmp(table->names[k], name) == 0) return table->columns[k];
    return NULL;
}
