// What the parts of the gmsh reader share (https://gmsh.info/doc/texinfo/gmsh.html, "Gmsh file formats").
//
// Nodes and elements are collected in the order of the file. Element corners are translated from node tags to indices
// at once, which is why $Nodes must come before $Elements. Groups are settled at the end of the file, since names,
// entities and elements may come in any order: a run of elements remembers its entity (and in version 2 its physical
// group), and the entities their physical groups.
#ifndef RBT_MESH_IO_GMSH_H
#define RBT_MESH_IO_GMSH_H

#include "mesh/core/marks.h"
#include "mesh/io/tag_map.h"
#include "mesh/io/values.h"

// Element types by gmsh's number. Those with a dimension are kept; the others are known well enough to be counted.
typedef struct rbt_gmsh_type {
    const char *name;  // plural; NULL: no such type
    int corners;       // nodes per element
    int dimension;     // of the kept ones 0..3, else -1
} rbt_gmsh_type;

enum { RBT_GMSH_LINE = 1, RBT_GMSH_TRIANGLE = 2, RBT_GMSH_TET = 4, RBT_GMSH_POINT = 15, RBT_GMSH_TYPES = 94 };
extern const rbt_gmsh_type RBT_GMSH_TYPE[RBT_GMSH_TYPES];

// The physical group of elements in no set, in files that have sets: some programs read tags for all elements or for
// none (meshio 5). It is no set when it is read.
#define RBT_GMSH_NO_SET "(in no set)"

typedef struct rbt_gmsh_elements {
    int32_t *corners;  // (count x (dimension + 1)) node indices
    int64_t *tags;     // (count)
    size_t count, corner_capacity, tag_capacity;
} rbt_gmsh_elements;

typedef struct rbt_gmsh_run {
    int dimension;
    int64_t entity, physical;  // 0: none; version 4 knows the physical groups by entity only
    size_t first, count;
} rbt_gmsh_run;

typedef struct rbt_gmsh_entity {
    int dimension;
    int64_t tag;
    size_t first, count;  // its physical groups among rbt_gmsh.physicals
} rbt_gmsh_entity;

typedef struct rbt_gmsh_name {
    int64_t dimension, tag;
    const char *text;  // in the file, not NUL-terminated
    size_t length;
} rbt_gmsh_name;

typedef struct rbt_gmsh {
    rbt_values in;
    int version;     // 22 (2.0 to 2.2), 40 or 41
    int size_bytes;  // of a size_t in a binary file
    rbt_error *error;

    bool has_nodes, has_elements;  // the section has been read
    double *nodes;                 // (node_count x 3)
    int64_t *node_tags;            // (node_count)
    size_t node_count, node_capacity, tag_capacity;
    rbt_tag_map node_of;
    rbt_gmsh_elements elements[4];  // by dimension

    rbt_gmsh_run *runs;
    size_t run_count, run_capacity;
    rbt_gmsh_entity *entities;
    size_t entity_count, entity_capacity;
    int64_t *physicals;
    size_t physical_count, physical_capacity;
    rbt_gmsh_name *names;
    size_t name_count, name_capacity;

    int unsupported;                    // the first type met that cannot be kept, or 0
    size_t unsupported_count;           // elements of that type
    const char *unsupported_at;         // place of the first
    size_t unsupported_elements_total;  // of all such types
} rbt_gmsh;

// Sections, from behind their "$Name" line to before their "$EndName".
bool rbt_gmsh_read_nodes_2(rbt_gmsh *g);
bool rbt_gmsh_read_elements_2(rbt_gmsh *g);
bool rbt_gmsh_read_entities_4(rbt_gmsh *g, bool partitioned);
bool rbt_gmsh_read_nodes_4(rbt_gmsh *g);
bool rbt_gmsh_read_elements_4(rbt_gmsh *g);

// Checks the type number and, for one that cannot be kept, counts `count` elements of it as seen.
const rbt_gmsh_type *rbt_gmsh_find_type(rbt_gmsh *g, int64_t number, size_t count);

// Makes room for `more` nodes or elements (believable counts), then appends one.
bool rbt_gmsh_reserve_nodes(rbt_gmsh *g, size_t more);
bool rbt_gmsh_reserve_elements(rbt_gmsh *g, int dimension, size_t more);
bool rbt_gmsh_take_corners(rbt_gmsh *g, const rbt_gmsh_type *type, int64_t tag, int width, int32_t *corners);
bool rbt_gmsh_add_run(rbt_gmsh *g, rbt_gmsh_run run);

// Fills the mesh from what was collected: arrays, elements in the order of their tags, sets.
bool rbt_gmsh_finish(rbt_gmsh *g, rbt_mesh *mesh);

#endif
