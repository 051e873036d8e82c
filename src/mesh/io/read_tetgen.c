// TetGen's pair of files: x.node (count dimension attributes markers; then number x y z attributes… marker) and x.ele
// (count corners attributes; then number a b c d attributes…). Numbers count from 0 or 1, which the first node tells.
//
// Markers other than 0 become node sets "marker 3"; the first attribute of the tets, if it is a whole number other
// than 0, becomes tet sets "region 2".
#include "mesh/io/format.h"

#include "base/memory.h"
#include "mesh/core/build.h"
#include "mesh/core/marks.h"
#include "mesh/io/values.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <strings.h>
#include <unistd.h>

static rbt_values begin_text(const char *path, const rbt_bytes *bytes) {
    rbt_values in = {.scan = rbt_scan_begin(path, bytes->data, bytes->size)};
    in.scan.comment = '#';
    return in;
}

// TetGen lets the numbers at the end of a header line away; what is missing is 0.
static bool read_header(rbt_values *in, int wanted, int64_t header[4], const char *what, rbt_error *error) {
    rbt_scan_space(&in->scan);
    rbt_values line = *in;
    const char *start;
    size_t length;
    if (!rbt_scan_rest(&in->scan, &start, &length)) return rbt_values_missing(&line, error, "%s", what);
    line.scan.end = start + length;
    for (int i = 0; i < 4; i++) header[i] = 0;
    for (int i = 0; i < 4 && !rbt_scan_at_end(&line.scan); i++)
        if (!rbt_scan_int(&line.scan, &header[i])) return rbt_values_missing(&line, error, "%s", what);
    if (!rbt_scan_at_end(&line.scan)) return rbt_values_missing(&line, error, "the end of the line");
    for (int i = wanted; i < 4; i++) header[i] = 0;
    in->scan.at = line.scan.at;  // errors about the header belong to its line
    return true;
}

static bool check_attributes(rbt_values *in, int64_t count, rbt_error *error) {
    if (count >= 0 && count <= 1000000) return true;
    return rbt_values_fail(in, error, "%lld attributes announced: 0 to 1000000 are possible", (long long)count);
}

static bool read_nodes(rbt_values *in, rbt_mesh *mesh, rbt_marks *marks, int64_t *base, rbt_error *error) {
    int64_t header[4], number, marker;  // count, dimension, attributes, markers
    double attribute;
    if (!read_header(in, 4, header, "count, dimension, attributes and markers of the nodes", error)) return false;
    if (header[1] != 3 && header[1] != 0)
        return rbt_values_fail(in, error, "the nodes have dimension %lld: only 3 is supported", (long long)header[1]);
    if (!check_attributes(in, header[2], error)) return false;
    if (header[3] != 0 && header[3] != 1)
        return rbt_values_fail(in, error, "%lld boundary markers a node: 0 or 1 expected", (long long)header[3]);
    size_t values = (size_t)(4 + header[2] + header[3]);
    if (!rbt_values_count(in, header[0], "nodes", values, 1, error)) return false;
    mesh->nodes = rbt_array_new((size_t)header[0], 3 * sizeof(double), "nodes", error);
    if (!mesh->nodes) return false;
    mesh->node_count = (size_t)header[0];
    for (int64_t i = 0; i < header[0]; i++) {
        double *x = mesh->nodes + 3 * i;
        if (!rbt_scan_int(&in->scan, &number))
            return rbt_values_missing(in, error, "the number of node %lld of %lld", (long long)i + 1,
                                      (long long)header[0]);
        if (i == 0) *base = number;
        if (*base != 0 && *base != 1)
            return rbt_values_fail(in, error, "the first node has the number %lld: 0 or 1 expected",
                                   (long long)number);
        if (number != *base + i)
            return rbt_values_fail(in, error, "node %lld follows node %lld: the numbers must count up one by one",
                                   (long long)number, (long long)(*base + i - 1));
        bool read =
            rbt_scan_real(&in->scan, &x[0]) && rbt_scan_real(&in->scan, &x[1]) && rbt_scan_real(&in->scan, &x[2]);
        for (int64_t k = 0; read && k < header[2]; k++) read = rbt_scan_real(&in->scan, &attribute);
        marker = 0;
        if (read && header[3]) read = rbt_scan_int(&in->scan, &marker);
        if (!read)
            return rbt_values_missing(in, error, "three coordinates, %lld attributes and %lld markers of node %lld",
                                      (long long)header[2], (long long)header[3], (long long)number);
        if (marker && !rbt_marks_add(marks, 0, marker, (size_t)i, 1, error)) return false;
    }
    if (rbt_scan_at_end(&in->scan)) return true;
    return rbt_values_missing(in, error, "the end of the file after %lld nodes", (long long)header[0]);
}

static bool read_tets(rbt_values *in, rbt_mesh *mesh, rbt_marks *marks, int64_t base, rbt_error *error) {
    int64_t header[4], number, node;  // count, corners, attributes
    double region, attribute;
    if (!read_header(in, 3, header, "count, corners and attributes of the tets", error)) return false;
    if (header[1] != 4 && header[1] != 0)
        return rbt_values_fail(in, error, "the tets have %lld nodes each: only linear tets with 4 are supported",
                               (long long)header[1]);
    if (!check_attributes(in, header[2], error)) return false;
    if (!rbt_values_count(in, header[0], "tets", (size_t)(5 + header[2]), 1, error)) return false;
    mesh->tets = rbt_array_new((size_t)header[0], 4 * sizeof(int32_t), "tets", error);
    if (!mesh->tets) return false;
    mesh->tet_count = (size_t)header[0];
    for (int64_t i = 0; i < header[0]; i++) {
        if (!rbt_scan_int(&in->scan, &number))
            return rbt_values_missing(in, error, "the number of tet %lld of %lld", (long long)i + 1,
                                      (long long)header[0]);
        if (number != base + i)
            return rbt_values_fail(
                in, error, "tet %lld where %lld is expected: tets count up one by one from %lld, as the nodes do",
                (long long)number, (long long)(base + i), (long long)base);
        for (int k = 0; k < 4; k++) {
            if (!rbt_scan_int(&in->scan, &node))
                return rbt_values_missing(in, error, "four nodes of tet %lld", (long long)number);
            if (node < base || (uint64_t)(node - base) >= mesh->node_count)
                return rbt_values_fail(in, error, "tet %lld names node %lld, but there are %lld to %lld",
                                       (long long)number, (long long)node, (long long)base,
                                       (long long)mesh->node_count + base - 1);
            mesh->tets[4 * i + k] = (int32_t)(node - base);
        }
        region = 0.0;
        for (int64_t k = 0; k < header[2]; k++)
            if (!rbt_scan_real(&in->scan, k ? &attribute : &region))
                return rbt_values_missing(in, error, "%lld attributes of tet %lld", (long long)header[2],
                                          (long long)number);
        if (region != 0.0 && fabs(region) < 1e15 && region == floor(region) &&
            !rbt_marks_add(marks, 3, (int64_t)region, (size_t)i, 1, error))
            return false;
    }
    if (rbt_scan_at_end(&in->scan)) return true;
    return rbt_values_missing(in, error, "the end of the file after %lld tets", (long long)header[0]);
}

static void name_mark(const void *context, int source, int64_t number, rbt_text *name) {
    (void)context;
    rbt_text_add(name, "%s %lld", source == 3 ? "region" : "marker", (long long)number);
}

bool rbt_read_tetgen_pair(const char *node_path, const rbt_bytes *nodes, const char *element_path,
                          const rbt_bytes *elements, rbt_mesh *mesh, rbt_error *error) {
    const rbt_mark_source sources[4] = {{RBT_SET_NODES, NULL, 1}, [3] = {RBT_SET_TETS, NULL, 1}};
    rbt_marks marks = {0};
    int64_t base = 0;
    rbt_values in = begin_text(node_path, nodes);
    bool read = read_nodes(&in, mesh, &marks, &base, error);
    if (read && elements) {
        in = begin_text(element_path, elements);
        read = read_tets(&in, mesh, &marks, base, error);
    }
    read = read && rbt_marks_to_sets(&marks, sources, name_mark, NULL, mesh, error);
    rbt_marks_free(&marks);
    snprintf(mesh->format, sizeof mesh->format, elements ? "TetGen .node and .ele" : "TetGen .node");
    return read;
}

bool rbt_read_tetgen(const char *path, const rbt_bytes *bytes, rbt_mesh *mesh, rbt_error *error) {
    size_t n = strlen(path);
    bool is_elements = n >= 4 && strcasecmp(path + n - 4, ".ele") == 0;
    bool is_nodes = n >= 5 && strcasecmp(path + n - 5, ".node") == 0;
    if (!is_elements && !is_nodes)
        return rbt_fail_at(error, path, 0, 0,
                           "a TetGen file must end in .node or .ele, or the other half cannot be found");
    size_t stem = n - (is_elements ? 4 : 5);
    char *partner = malloc(stem + 6);
    if (!partner) return rbt_fail_memory(error, stem + 6, "a file name");
    bool upper = isupper((unsigned char)path[stem + 1]);
    const char *ending = is_elements ? (upper ? ".NODE" : ".node") : (upper ? ".ELE" : ".ele");
    snprintf(partner, stem + 6, "%.*s%s", (int)stem, path, ending);
    rbt_bytes other = {0};
    bool read;
    if (is_nodes && access(partner, F_OK) != 0) {
        read = rbt_read_tetgen_pair(path, bytes, NULL, NULL, mesh, error);
    } else if (is_elements && access(partner, F_OK) != 0) {
        read = rbt_fail_at(error, path, 0, 0, "the other half of the mesh, %s, is missing", partner);
    } else if (!rbt_file_read(partner, &other, error)) {
        read = false;
    } else if (is_nodes) {
        read = rbt_read_tetgen_pair(path, bytes, partner, &other, mesh, error);
    } else {
        read = rbt_read_tetgen_pair(partner, &other, path, bytes, mesh, error);
    }
    free(other.data);
    free(partner);
    return read;
}
