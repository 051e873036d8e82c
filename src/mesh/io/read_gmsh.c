// gmsh files, versions 2.2, 4.0 and 4.1, text and binary of either byte order: header, sections and names.
#include "mesh/io/format.h"
#include "mesh/io/gmsh.h"

#include "base/memory.h"

#include <stdio.h>

static bool read_header(rbt_gmsh *g) {
    rbt_values *in = &g->in;
    double version;
    int64_t type, size;
    if (!rbt_scan_real(&in->scan, &version)) return rbt_values_missing(in, g->error, "the version of the format");
    if (version >= 2.0 && version <= 2.2) g->version = 22;
    else if (version == 4.0) g->version = 40;
    else if (version == 4.1) g->version = 41;
    else
        return rbt_values_fail(in, g->error,
                               "gmsh version %g is not supported: save the mesh as version 2.2, 4.0 or 4.1", version);
    if (!rbt_scan_int(&in->scan, &type) || !rbt_scan_int(&in->scan, &size))
        return rbt_values_missing(in, g->error, "the file type (0 text, 1 binary) and the data size");
    if (type != 0 && type != 1)
        return rbt_values_fail(in, g->error, "file type %lld: 0 (text) or 1 (binary) expected", (long long)type);
    if (size != 8 && !(size == 4 && g->version == 41))
        return rbt_values_fail(in, g->error, "data size %lld: only 8 bytes are supported", (long long)size);
    g->size_bytes = (int)size;
    if (!type) return true;
    const char *line;
    size_t length;
    int64_t one = 0;
    rbt_scan_rest(&in->scan, &line, &length);
    in->binary = true;
    if (rbt_values_int(in, 4, &one) && one == 0x01000000) {
        in->swapped = true;
        one = 1;
    }
    if (one == 1) return true;
    return rbt_values_fail(in, g->error, "the byte-order mark of the binary file is %lld instead of 1",
                           (long long)one);
}

// number of names, then lines: dimension tag "name". Text in binary files, too.
static bool read_names(rbt_gmsh *g) {
    rbt_values text = g->in;
    text.binary = false;
    int64_t count;
    if (!rbt_scan_int(&text.scan, &count)) return rbt_values_missing(&text, g->error, "the number of physical names");
    if (!rbt_values_count(&text, count, "physical names", 3, 1, g->error)) return false;
    for (int64_t i = 0; i < count; i++) {
        rbt_gmsh_name name;
        const char *line;
        size_t length;
        if (!rbt_scan_int(&text.scan, &name.dimension) || !rbt_scan_int(&text.scan, &name.tag) ||
            !rbt_scan_rest(&text.scan, &line, &length))
            return rbt_values_missing(&text, g->error, "dimension, tag and name of physical name %lld",
                                      (long long)i + 1);
        // From the first quote to the last, so that a name may hold quotes.
        const char *open = memchr(line, '"', length), *close = open ? memrchr(line, '"', length) : NULL;
        if (!open || open == close) {
            text.scan.at = line;
            return rbt_values_fail(&text, g->error, "the name of physical group %lld is not in quotes",
                                   (long long)name.tag);
        }
        name.text = open + 1;
        name.length = (size_t)(close - open - 1);
        if (!rbt_array_reserve((void **)&g->names, &g->name_capacity, g->name_count + 1, sizeof name,
                               "physical names", g->error))
            return false;
        g->names[g->name_count++] = name;
    }
    g->in.scan.at = text.scan.at;
    return true;
}

static bool finish_nodes(rbt_gmsh *g) {
    int64_t twice;
    bool found;
    g->has_nodes = true;
    if (rbt_tag_map_build(&g->node_of, g->node_tags, g->node_count, &twice, &found, g->error)) return true;
    if (!found) return false;
    return rbt_fail_at(g->error, g->in.scan.file, 0, 0, "node %lld is listed twice in $Nodes", (long long)twice);
}

static bool finish_elements(rbt_gmsh *g) {
    g->has_elements = true;
    if (!g->unsupported) return true;
    const rbt_gmsh_type *type = &RBT_GMSH_TYPE[g->unsupported];
    g->in.scan.at = g->unsupported_at;
    char others[80] = "";
    if (g->unsupported_elements_total > g->unsupported_count)
        snprintf(others, sizeof others, " and %zu elements of other such types",
                 g->unsupported_elements_total - g->unsupported_count);
    return rbt_values_fail(&g->in, g->error,
                           "the mesh has %zu %s (gmsh type %d)%s: only linear elements are supported, which are "
                           "points, lines, triangles and tets (types 15, 1, 2 and 4)",
                           g->unsupported_count, type->name, g->unsupported, others);
}

static bool read_nodes(rbt_gmsh *g) {
    if (g->has_nodes) return rbt_values_fail(&g->in, g->error, "there is a second $Nodes section");
    return (g->version == 22 ? rbt_gmsh_read_nodes_2(g) : rbt_gmsh_read_nodes_4(g)) && finish_nodes(g);
}

static bool read_elements(rbt_gmsh *g) {
    if (g->has_elements) return rbt_values_fail(&g->in, g->error, "there is a second $Elements section");
    if (!g->has_nodes) return rbt_values_fail(&g->in, g->error, "$Elements comes before $Nodes");
    return (g->version == 22 ? rbt_gmsh_read_elements_2(g) : rbt_gmsh_read_elements_4(g)) && finish_elements(g);
}

// To the end mark of a section of no interest, wherever it is.
static bool skip_section(rbt_gmsh *g, const char *end_mark) {
    rbt_scan *s = &g->in.scan;
    const char *end = memmem(s->at, (size_t)(s->end - s->at), end_mark, strlen(end_mark));
    if (!end) return rbt_values_fail(&g->in, g->error, "the section has no end: %s is missing", end_mark);
    s->at = end;
    return true;
}

static bool read_section(rbt_gmsh *g) {
    rbt_scan *s = &g->in.scan;
    char name[80], end_mark[90], seen[48];
    rbt_scan_word(s, name, sizeof name);
    snprintf(end_mark, sizeof end_mark, "$End%s", name + 1);
    bool header = strcmp(name, "$MeshFormat") == 0;
    if (strcmp(name, "$NOD") == 0)
        return rbt_values_fail(&g->in, g->error,
                               "gmsh version 1 is not supported: save the mesh as version 2.2, 4.0 or 4.1");
    if (header && g->version) return rbt_values_fail(&g->in, g->error, "there is a second $MeshFormat section");
    if (!header && !g->version)
        return rbt_values_fail(&g->in, g->error, "the file must begin with $MeshFormat, not with \"%.40s\"", name);
    if (name[0] != '$')
        return rbt_values_fail(&g->in, g->error, "expected a section such as $Nodes, found \"%.40s\"", name);
    if (g->in.binary) {  // the bytes begin right behind the line end
        const char *line;
        size_t length;
        rbt_scan_rest(s, &line, &length);
    }
    bool read;
    if (header) read = read_header(g);
    else if (strcmp(name, "$PhysicalNames") == 0) read = read_names(g);
    else if (strcmp(name, "$Nodes") == 0) read = read_nodes(g);
    else if (strcmp(name, "$Elements") == 0) read = read_elements(g);
    else if (g->version >= 40 && strcmp(name, "$Entities") == 0) read = rbt_gmsh_read_entities_4(g, false);
    else if (g->version >= 40 && strcmp(name, "$PartitionedEntities") == 0) read = rbt_gmsh_read_entities_4(g, true);
    else read = skip_section(g, end_mark);
    if (!read) return false;
    if (rbt_scan_match(s, end_mark)) return true;
    return rbt_values_fail(&g->in, g->error, "expected %s, found %s", end_mark, rbt_scan_seen(s, seen));
}

bool rbt_read_gmsh(const char *path, const rbt_bytes *bytes, rbt_mesh *mesh, rbt_error *error) {
    rbt_gmsh g = {.in.scan = rbt_scan_begin(path, bytes->data, bytes->size), .error = error};
    bool read = true;
    while (read && !rbt_scan_at_end(&g.in.scan)) read = read_section(&g);
    if (read && !g.version)
        read = rbt_fail_at(error, path, 0, 0, "the file is empty: a gmsh file begins with $MeshFormat");
    if (read && !g.has_nodes) read = rbt_fail_at(error, path, 0, 0, "there is no $Nodes section");
    read = read && rbt_gmsh_finish(&g, mesh);
    const char *version = g.version == 22 ? "2.2" : g.version == 40 ? "4.0" : "4.1";
    snprintf(mesh->format, sizeof mesh->format, "gmsh %s %s", version, g.in.binary ? "binary" : "ASCII");
    free(g.nodes);
    free(g.node_tags);
    rbt_tag_map_free(&g.node_of);
    for (int d = 0; d < 4; d++) {
        free(g.elements[d].corners);
        free(g.elements[d].tags);
    }
    free(g.runs);
    free(g.entities);
    free(g.physicals);
    free(g.names);
    return read;
}
