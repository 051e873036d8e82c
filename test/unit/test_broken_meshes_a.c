// Broken gmsh, MEDIT, TetGen and Vega files, and the sentence that each is refused with.
#include "mesh/core/build.h"
#include "mesh/io/format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef enum reader { GMSH, MEDIT, TETGEN, VEG } reader;

// TetGen: the two halves are separated by a line "---"; without one there is no .ele file.
typedef struct broken {
    reader reader;
    const char *name, *bytes;
    size_t size;
    long line;  // 0: the error belongs to the file as a whole
    const char *sentence;
} broken;

#define BYTES(text)    text, sizeof(text) - 1
#define HEAD_22        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
#define HEAD_40        "$MeshFormat\n4 0 8\n$EndMeshFormat\n"
#define HEAD_41        "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
#define NODES_22       "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n"
#define NODES_41       "$Nodes\n1 4 1 4\n3 1 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n$EndNodes\n"
#define MEDIT_HEAD     "MeshVersionFormatted 2\nDimension 3\n"
#define TETGEN_NODES   "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n---\n"
#define VEGA_VERTICES  "*VERTICES\n4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n"
#define MEDIT_VERTICES MEDIT_HEAD "Vertices 2\n0 0 0 0\n1 0 0 0\n"
#define VEGA_TET       VEGA_VERTICES "*ELEMENTS\nTET\n1 4 0\n1 1 2 3 4\n"
#define BINARY_HEAD_22 "$MeshFormat\n2.2 1 8\n\001\000\000\000\n$EndMeshFormat\n"
#define BINARY_HEAD_41 "$MeshFormat\n4.1 1 8\n\001\000\000\000\n$EndMeshFormat\n"

// Binary numbers are written as little-endian bytes: \001\000\000\000 is the integer 1.
static const broken BROKEN[] = {
    {GMSH, "empty file", BYTES(""), 0, "the file is empty: a gmsh file begins with $MeshFormat"},
    {GMSH, "only white space", BYTES(" \n\n"), 0, "the file is empty: a gmsh file begins with $MeshFormat"},
    {GMSH, "not a gmsh file", BYTES("hello world\n"), 1, "the file must begin with $MeshFormat, not with \"hello\""},
    {GMSH, "no header", BYTES("$Nodes\n1\n1 0 0 0\n$EndNodes\n"), 1,
     "the file must begin with $MeshFormat, not with \"$Nodes\""},
    {GMSH, "version 1", BYTES("$NOD\n1\n1 0 0 0\n$ENDNOD\n"), 1,
     "gmsh version 1 is not supported: save the mesh as version 2.2, 4.0 or 4.1"},
    {GMSH, "version 3", BYTES("$MeshFormat\n3 0 8\n$EndMeshFormat\n"), 2,
     "gmsh version 3 is not supported: save the mesh as version 2.2, 4.0 or 4.1"},
    {GMSH, "version is a word", BYTES("$MeshFormat\nnew 0 8\n$EndMeshFormat\n"), 2,
     "expected the version of the format, found \"new\""},
    {GMSH, "file type 2", BYTES("$MeshFormat\n2.2 2 8\n$EndMeshFormat\n"), 2,
     "file type 2: 0 (text) or 1 (binary) expected"},
    {GMSH, "data size 16", BYTES("$MeshFormat\n4.1 0 16\n$EndMeshFormat\n"), 2,
     "data size 16: only 8 bytes are supported"},
    {GMSH, "header only", BYTES(HEAD_22), 0, "there is no $Nodes section"},
    {GMSH, "header twice", BYTES(HEAD_22 HEAD_22), 4, "there is a second $MeshFormat section"},
    {GMSH, "header without end", BYTES("$MeshFormat\n2.2 0 8\n$Nodes\n"), 3,
     "expected $EndMeshFormat, found \"$Nodes\""},
    {GMSH, "byte order mark", BYTES("$MeshFormat\n4.1 1 8\n\007\000\000\000\n$EndMeshFormat\n"), 0,
     "the byte-order mark of the binary file is 7 instead of 1"},
    {GMSH, "unknown section without end", BYTES(HEAD_22 "$Surface\n1\n1 2 3\n"), 4,
     "the section has no end: $EndSurface is missing"},
    {GMSH, "nodes cut off in the middle", BYTES(HEAD_22 "$Nodes\n2\n1 0 0 0\n2 1 0\n"), 8,
     "expected tag and three coordinates of node 2 of 2, found the end of the file"},
    {GMSH, "fewer nodes than announced", BYTES(HEAD_22 "$Nodes\n2\n1 0 0 0\n$EndNodes\n"), 7,
     "expected tag and three coordinates of node 2 of 2, found \"$EndNodes\""},
    {GMSH, "more nodes than announced", BYTES(HEAD_22 "$Nodes\n1\n1 0 0 0\n2 1 0 0\n$EndNodes\n"), 7,
     "expected $EndNodes, found \"2\""},
    {GMSH, "too many nodes for the file", BYTES(HEAD_22 "$Nodes\n1000000\n1 0 0 0\n$EndNodes\n"), 5,
     "1000000 nodes announced, but only 19 bytes follow: the file is cut off or the count is wrong"},
    {GMSH, "negative number of nodes", BYTES(HEAD_22 "$Nodes\n-1\n$EndNodes\n"), 5,
     "-1 nodes announced: a count cannot be negative"},
    {GMSH, "number of nodes beyond 32 bits", BYTES(HEAD_22 "$Nodes\n99999999999\n$EndNodes\n"), 5,
     "99999999999 nodes announced: the limit is 2147483647"},
    {GMSH, "number of nodes beyond 64 bits", BYTES(HEAD_22 "$Nodes\n99999999999999999999999\n$EndNodes\n"), 5,
     "expected the number of nodes, found \"99999999999999999999999\""},
    {GMSH, "no nodes", BYTES(HEAD_22 "$Nodes\n0\n$EndNodes\n"), 0, "the mesh is empty: it has no nodes"},
    {GMSH, "a coordinate is not a number", BYTES(HEAD_22 "$Nodes\n1\n1 0 nan 0\n$EndNodes\n"), 0,
     "node 0 (counted from 0) is at (0, nan, 0): every coordinate must be finite"},
    {GMSH, "a coordinate overflows", BYTES(HEAD_22 "$Nodes\n2\n1 0 0 0\n2 1e999 0 0\n$EndNodes\n"), 0,
     "node 1 (counted from 0) is at (inf, 0, 0): every coordinate must be finite"},
    {GMSH, "a coordinate is a word", BYTES(HEAD_22 "$Nodes\n1\n1 0 zero 0\n$EndNodes\n"), 6,
     "expected tag and three coordinates of node 1 of 1, found \"zero\""},
    {GMSH, "node listed twice", BYTES(HEAD_22 "$Nodes\n3\n1 0 0 0\n2 1 0 0\n1 0 1 0\n$EndNodes\n"), 0,
     "node 1 is listed twice in $Nodes"},
    {GMSH, "far node listed twice",
     BYTES(HEAD_22 "$Nodes\n3\n1 0 0 0\n2000000000 1 0 0\n2000000000 0 1 0\n$EndNodes\n"), 0,
     "node 2000000000 is listed twice in $Nodes"},
    {GMSH, "nodes twice", BYTES(HEAD_22 NODES_22 NODES_22), 11, "there is a second $Nodes section"},
    {GMSH, "elements before nodes", BYTES(HEAD_22 "$Elements\n1\n1 4 0 1 2 3 4\n$EndElements\n" NODES_22), 4,
     "$Elements comes before $Nodes"},
    {GMSH, "unknown node", BYTES(HEAD_22 NODES_22 "$Elements\n1\n17 4 2 0 1 1 2 3 5\n$EndElements\n"), 13,
     "element 17 names node 5, which $Nodes does not list"},
    {GMSH, "element type unknown", BYTES(HEAD_22 NODES_22 "$Elements\n1\n1 4711 0 1 2 3 4\n$EndElements\n"), 13,
     "element type 4711 is not known: points, lines, triangles and tets (types 15, 1, 2 and 4) are supported"},
    {GMSH, "hexahedra",
     BYTES(HEAD_22 NODES_22
           "$Elements\n3\n1 5 0 1 1 1 1 1 1 1 1\n2 3 0 1 2 3 4\n3 5 0 1 1 1 1 1 1 1 1\n$EndElements\n"),
     13,
     "the mesh has 2 hexahedra (gmsh type 5) and 1 elements of other such types: only linear elements are supported, "
     "which are points, lines, triangles and tets (types 15, 1, 2 and 4)"},
    {GMSH, "second-order tets",
     BYTES(HEAD_41 NODES_41 "$Elements\n1 1 1 1\n3 1 11 1\n1 1 2 3 4 1 2 3 4 1 2\n$EndElements\n"), 18,
     "the mesh has 1 second-order tets with 10 nodes (gmsh type 11): only linear elements are supported, which are "
     "points, lines, triangles and tets (types 15, 1, 2 and 4)"},
    {GMSH, "negative number of tags", BYTES(HEAD_22 NODES_22 "$Elements\n1\n1 4 -2 1 2 3 4\n$EndElements\n"), 13,
     "-2 tags: a count cannot be negative"},
    {GMSH, "elements cut off", BYTES(HEAD_22 NODES_22 "$Elements\n2\n1 4 0 1 2 3 4\n2 4 0 1 2"), 14,
     "expected 4 nodes of element 2, found the end of the file"},
    {GMSH, "4.1 blocks hold less than announced", BYTES(HEAD_41 "$Nodes\n1 5 1 5\n3 1 0 1\n1\n0 0 0\n$EndNodes\n"), 8,
     "5 nodes announced, but the blocks hold 1"},
    {GMSH, "4.1 negative block", BYTES(HEAD_41 "$Nodes\n1 5 1 5\n3 1 0 -5\n$EndNodes\n"), 6,
     "-5 nodes announced: a count cannot be negative"},
    {GMSH, "4.1 block of dimension 4", BYTES(HEAD_41 "$Nodes\n1 1 1 1\n4 1 0 1\n1\n0 0 0\n$EndNodes\n"), 6,
     "a block of dimension 4: 0 to 3 expected"},
    {GMSH, "4.1 parametric is 2", BYTES(HEAD_41 "$Nodes\n1 1 1 1\n3 1 2 1\n1\n0 0 0\n$EndNodes\n"), 6,
     "a block of nodes has 2 where 0 or 1 (parametric) is expected"},
    {GMSH, "4.0 partitioned", BYTES(HEAD_40 "$PartitionedEntities\n2\n$EndPartitionedEntities\n"), 4,
     "a partitioned mesh of version 4.0 is not supported: save it as version 4.1"},
    {GMSH, "4.1 entities cut off", BYTES(HEAD_41 "$Entities\n0 0 0 1\n1 0 0 0 1 1\n$EndEntities\n"), 7,
     "expected 6 coordinates of entity 1 among the volumes, found \"$EndEntities\""},
    {GMSH, "4.1 too many entities", BYTES(HEAD_41 "$Entities\n0 0 0 123456\n$EndEntities\n"), 5,
     "123456 volumes announced, but only 14 bytes follow: the file is cut off or the count is wrong"},
    {GMSH, "physical name without quotes", BYTES(HEAD_41 "$PhysicalNames\n1\n3 1 left\n$EndPhysicalNames\n"), 6,
     "the name of physical group 1 is not in quotes"},
    {GMSH, "binary nodes cut off",
     BYTES(
         BINARY_HEAD_41
         "$Nodes\n\001\000\000\000\000\000\000\000\001\000\000\000\000\000\000\000\001\000\000\000\000\000\000\000"
         "\001\000\000\000\000\000\000\000\003\000\000\000\001\000\000\000\000\000\000\000\001\000\000\000\000\000"
         "\000\000\001\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"),
     0, "1 nodes announced, but only 24 bytes follow: the file is cut off or the count is wrong"},
    {GMSH, "binary count beyond the file",
     BYTES(BINARY_HEAD_41 "$Nodes\n\001\000\000\000\000\000\000\000\001\000\000\000\000\000\000\000\001\000\000\000"
                          "\000\000\000\000\001\000\000\000\000\000\000\000\003\000\000\000\001\000\000\000\000\000"
                          "\000\000\000\000\000\000\000\001\000\000"),
     0, "1099511627776 nodes announced: the limit is 2147483647"},
    {GMSH, "binary 2.2 block too large",
     BYTES(BINARY_HEAD_22 "$Nodes\n1\n\001\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
                          "\000\000\000\000\000\000\000\000\000$EndNodes\n$"
                          "Elements\n1\n\017\000\000\000\003\000\000\000\000\000\000\000\001\000\000\000\001\000\000"
                          "\000\n$EndElements\n"),
     0, "a block of 3 elements, where 1 of 1 are left"},
    {GMSH, "binary data without end mark",
     BYTES(BINARY_HEAD_22 "$Nodes\n1\n\001\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
                          "\000\000\000\000\000\000\000\000\000\001\000\000\000$EndNodes\n"),
     0, "expected $EndNodes, found \"????$EndNodes\""},
    {MEDIT, "empty file", BYTES(""), 1, "the file does not begin with MeshVersionFormatted and a number"},
    {MEDIT, "version 9", BYTES("MeshVersionFormatted 9\n"), 1, "MeshVersionFormatted 9: 1 to 4 are supported"},
    {MEDIT, "dimension 2", BYTES("MeshVersionFormatted 1\nDimension 2\n"), 2,
     "the mesh has dimension 2: only 3 is supported"},
    {MEDIT, "no dimension", BYTES("MeshVersionFormatted 1\nVertices 1\n0 0 0 0\n"), 2,
     "Vertices come before Dimension"},
    {MEDIT, "no vertices", BYTES(MEDIT_HEAD "End\n"), 0, "the file has no Vertices"},
    {MEDIT, "vertices twice", BYTES(MEDIT_VERTICES "Vertices 1\n0 0 0 0\n"), 6, "there are Vertices twice"},
    {MEDIT, "tets before vertices", BYTES(MEDIT_HEAD "Tetrahedra 1\n1 2 3 4 0\n"), 3,
     "Tetrahedra come before Vertices"},
    {MEDIT, "vertex 0", BYTES(MEDIT_VERTICES "Tetrahedra 1\n1 2 0 1 0\n"), 7,
     "number 1 of the Tetrahedra names vertex 0, but there are 1 to 2"},
    {MEDIT, "unknown vertex", BYTES(MEDIT_VERTICES "Triangles 1\n1 2 3 0\n"), 7,
     "number 1 of the Triangles names vertex 3, but there are 1 to 2"},
    {MEDIT, "hexahedra", BYTES(MEDIT_VERTICES "Hexahedra 12\n"), 6,
     "the mesh has 12 Hexahedra: only Vertices, Edges, Triangles and Tetrahedra are supported"},
    {MEDIT, "tets cut off", BYTES(MEDIT_VERTICES "Tetrahedra 1\n1 2 1 2"), 6,
     "1 Tetrahedra announced, but only 8 bytes follow: the file is cut off or the count is wrong"},
    {MEDIT, "too many vertices", BYTES(MEDIT_HEAD "Vertices 1000\n0 0 0 0\n"), 3,
     "1000 Vertices announced, but only 9 bytes follow: the file is cut off or the count is wrong"},
    {MEDIT, "number instead of a keyword", BYTES(MEDIT_VERTICES "3 4\n"), 6,
     "expected a keyword such as Tetrahedra, found \"3\""},
    {MEDIT, "infinite coordinate", BYTES(MEDIT_HEAD "Vertices 1\n0 inf 0 0\n"), 0,
     "node 0 (counted from 0) is at (0, inf, 0): every coordinate must be finite"},
    {MEDIT, "binary version 5", BYTES("\001\000\000\000\005\000\000\000"), 0,
     "binary MEDIT version 5: 1 to 4 are supported"},
    {MEDIT, "binary places go back",
     BYTES("\001\000\000\000\002\000\000\000\003\000\000\000\010\000\000\000\003\000\000\000"), 0,
     "keyword 3 says that the next one is at byte 8, but its data begins at byte 16 and the file ends at 20"},
    {MEDIT, "binary place beyond the end",
     BYTES("\001\000\000\000\002\000\000\000\003\000\000\000\240\017\000\000\003\000\000\000"), 0,
     "keyword 3 says that the next one is at byte 4000, but its data begins at byte 16 and the file ends at 20"},
    {MEDIT, "binary data beyond the next keyword",
     BYTES("\001\000\000\000\002\000\000\000\003\000\000\000\024\000\000\000\003\000\000\000\004\000\000\000 "
           "\000\000\000\001\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
           "\000\000\000\000\000\000\000\000\000"),
     0, "the data of keyword 4 reaches beyond byte 32, where the next begins"},
    {MEDIT, "binary too many vertices",
     BYTES("\001\000\000\000\002\000\000\000\003\000\000\000\024\000\000\000\003\000\000\000\004\000\000\000 "
           "\000\000\000@B\017\000"),
     0, "1000000 Vertices announced, but only 0 bytes follow: the file is cut off or the count is wrong"},
    {TETGEN, "empty .node", BYTES(""), 1,
     "expected count, dimension, attributes and markers of the nodes, found the end of the file"},
    {TETGEN, "dimension 2", BYTES("4 2 0 0\n1 0 0\n"), 1, "the nodes have dimension 2: only 3 is supported"},
    {TETGEN, "numbers from 5", BYTES("1 3 0 0\n5 0 0 0\n"), 2, "the first node has the number 5: 0 or 1 expected"},
    {TETGEN, "gap in the numbers", BYTES("2 3 0 0\n1 0 0 0\n3 0 0 0\n"), 3,
     "node 3 follows node 1: the numbers must count up one by one"},
    {TETGEN, "attributes missing", BYTES("2 3 1 0\n1 0 0 0 5\n2 0 0 0\n"), 4,
     "expected three coordinates, 1 attributes and 0 markers of node 2, found the end of the file"},
    {TETGEN, "negative attributes", BYTES("2 3 -4 0\n1 0 0 0\n2 0 0 0\n"), 1,
     "-4 attributes announced: 0 to 1000000 are possible"},
    {TETGEN, "three markers", BYTES("1 3 0 3\n1 0 0 0 1 2 3\n"), 1, "3 boundary markers a node: 0 or 1 expected"},
    {TETGEN, "too many nodes", BYTES("2000000000 3 0 0\n1 0 0 0\n"), 1,
     "2000000000 nodes announced, but only 9 bytes follow: the file is cut off or the count is wrong"},
    {TETGEN, "more nodes than announced", BYTES("1 3 0 0\n1 0 0 0\n2 0 0 0\n"), 3,
     "expected the end of the file after 1 nodes, found \"2\""},
    {TETGEN, "ten nodes a tet", BYTES(TETGEN_NODES "1 10 0\n1 1 2 3 4 1 2 3 4 1 2\n"), 1,
     "the tets have 10 nodes each: only linear tets with 4 are supported"},
    {TETGEN, "unknown node", BYTES(TETGEN_NODES "1 4 0\n1 1 2 3 5\n"), 2, "tet 1 names node 5, but there are 1 to 4"},
    {TETGEN, "node 0 of a mesh from 1", BYTES(TETGEN_NODES "1 4 0\n1 0 1 2 3\n"), 2,
     "tet 1 names node 0, but there are 1 to 4"},
    {TETGEN, "tets count from 0, nodes from 1", BYTES(TETGEN_NODES "1 4 0\n0 1 2 3 4\n"), 2,
     "tet 0 where 1 is expected: tets count up one by one from 1, as the nodes do"},
    {TETGEN, "tets cut off", BYTES(TETGEN_NODES "2 4 0\n1 1 2 3 4\n2 1 2 3\n"), 4,
     "expected four nodes of tet 2, found the end of the file"},
    {TETGEN, "empty .ele", BYTES(TETGEN_NODES), 1,
     "expected count, corners and attributes of the tets, found the end of the file"},
    {TETGEN, "word in the header", BYTES(TETGEN_NODES "one 4 0\n"), 1,
     "expected count, corners and attributes of the tets, found \"one\""},
    {VEG, "empty file", BYTES(""), 0, "the file has no *VERTICES"},
    {VEG, "no elements", BYTES(VEGA_VERTICES), 0, "the file has no *ELEMENTS"},
    {VEG, "dimension 2", BYTES("*VERTICES\n4 2 0 0\n"), 2, "the vertices have dimension 2: only 3 is supported"},
    {VEG, "cubes", BYTES(VEGA_VERTICES "*ELEMENTS\nCUBIC\n7 8 0\n1 1 2 3 4 1 2 3 4\n"), 9,
     "the mesh has 7 elements of type CUBIC: only TET and TETS are supported"},
    {VEG, "ten corners", BYTES(VEGA_VERTICES "*ELEMENTS\nTET\n1 10 0\n1 1 2 3 4 1 2 3 4 1 2\n"), 9,
     "the tets have 10 nodes each: only linear tets with 4 are supported"},
    {VEG, "elements before vertices", BYTES("*ELEMENTS\nTET\n1 4 0\n1 1 2 3 4\n" VEGA_VERTICES), 1,
     "*ELEMENTS comes before *VERTICES"},
    {VEG, "unknown vertex", BYTES(VEGA_VERTICES "*ELEMENTS\nTET\n1 4 0\n1 1 2 3 5\n"), 10,
     "element 1 names vertex 5, but there are 1 to 4"},
    {VEG, "vertices cut off", BYTES("*VERTICES\n2 3 0 0\n1 0 0 0\n2 0 0"), 4,
     "expected three coordinates of vertex 2, found the end of the file"},
    {VEG, "vertex numbers jump", BYTES("*VERTICES\n2 3 0 0\n1 0 0 0\n3 0 0 0\n"), 4,
     "vertex 3 where 2 is expected: the numbers must count up one by one"},
    {VEG, "include", BYTES(VEGA_VERTICES "*INCLUDE other.veg\n"), 7,
     "*INCLUDE is not supported: put the included file's content here"},
    {VEG, "unknown keyword", BYTES(VEGA_VERTICES "*NODES\n"), 7,
     "expected *VERTICES, *ELEMENTS, *SET, *MATERIAL or *REGION, found \"*NODES\""},
    {VEG, "set before elements", BYTES(VEGA_VERTICES "*SET a\n1\n"), 7, "*SET comes before *ELEMENTS"},
    {VEG, "set without name", BYTES(VEGA_TET "*SET\n1\n"), 11, "a *SET has no name"},
    {VEG, "set with unknown element", BYTES(VEGA_TET "*SET a\n1, 2\n"), 12,
     "set a names element 2, but there are 1 to 1"},
    {VEG, "word in a set", BYTES(VEGA_TET "*SET a\n1, two\n"), 12,
     "expected an element number or a keyword, found \"two\""},
    {VEG, "negative count", BYTES("*VERTICES\n-4 3 0 0\n"), 2, "-4 vertices announced: a count cannot be negative"},
};

static rbt_bytes copy_of(const char *data, size_t size) {
    rbt_bytes bytes = {malloc(size + 1), size};
    memcpy(bytes.data, data, size);
    bytes.data[size] = '\0';
    return bytes;
}

static rbt_mesh *read_tetgen(const broken *b, rbt_error *error) {
    const char *cut = memmem(b->bytes, b->size, "\n---\n", 5);
    size_t half = cut ? (size_t)(cut - b->bytes) : b->size;
    rbt_bytes nodes = copy_of(b->bytes, half), elements = {NULL, 0};
    if (cut) elements = copy_of(cut + 5, b->size - half - 5);
    rbt_mesh *mesh = rbt_mesh_new(error);
    if (!rbt_read_tetgen_pair("a.node", &nodes, "a.ele", cut ? &elements : NULL, mesh, error) ||
        !rbt_mesh_check_read(mesh, "a.node", error)) {
        rbt_mesh_free(mesh);
        mesh = NULL;
    }
    free(nodes.data);
    free(elements.data);
    return mesh;
}

static rbt_mesh *read_broken(const broken *b, rbt_error *error) {
    if (b->reader == TETGEN) return read_tetgen(b, error);
    const rbt_mesh_format formats[] = {
        [GMSH] = {.read = rbt_read_gmsh}, [MEDIT] = {.read = rbt_read_medit}, [VEG] = {.read = rbt_read_veg}};
    rbt_bytes bytes = copy_of(b->bytes, b->size);
    rbt_mesh *mesh = rbt_mesh_read_bytes(&formats[b->reader], "a", &bytes, error);
    free(bytes.data);
    return mesh;
}

static void every_one_is_refused(void **state) {
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof BROKEN / sizeof BROKEN[0]; i++) {
        const broken *b = &BROKEN[i];
        rbt_error error = {0};
        rbt_mesh *mesh = read_broken(b, &error);
        bool halves = memmem(b->bytes, b->size, "\n---\n", 5) != NULL;
        const char *file = b->reader != TETGEN ? "a" : halves ? "a.ele" : "a.node";
        if (mesh || strcmp(error.message, b->sentence) != 0 || error.line != b->line ||
            strcmp(error.file, file) != 0) {
            print_error("%zu\t%ld\t%s\n", i, error.line, mesh ? "accepted" : error.message);
            print_error("    is not what \"%s\" expects: %ld %s\n", b->name, b->line, b->sentence);
            wrong++;
        }
        rbt_mesh_free(mesh);
    }
    assert_int_equal(wrong, 0);
}

// Cut anywhere, a good file is refused or still sound (when only the end mark or a comment is missing), never worse.
static void every_beginning_is_safe(void **state) {
    (void)state;
    static const broken whole[] = {
        {GMSH, "2.2", BYTES(HEAD_22 NODES_22 "$Elements\n1\n1 4 2 1 1 1 2 3 4\n$EndElements\n"), 0, ""},
        {GMSH, "4.1", BYTES(HEAD_41 NODES_41 "$Elements\n1 1 1 1\n3 1 4 1\n1 1 2 3 4\n$EndElements\n"), 0, ""},
        {MEDIT, "text", BYTES(MEDIT_VERTICES "Edges 1\n1 2 7\nEnd\n"), 0, ""},
        {TETGEN, "pair", BYTES(TETGEN_NODES "1 4 1\n1 1 2 3 4 2\n"), 0, ""},
        {VEG, "set", BYTES(VEGA_TET "*SET a\n1\n"), 0, ""},
    };
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
        for (size_t size = 0; size <= whole[i].size; size++) {
            broken part = whole[i];
            rbt_error error = {0};
            part.size = size;
            rbt_mesh *mesh = read_broken(&part, &error);
            if (!mesh) assert_true(error.message[0] != '\0');
            if (size == whole[i].size) assert_non_null(mesh);
            rbt_mesh_free(mesh);
        }
}

// 400 groups times 80 elements from a file of 2 kB: what an entity unfolds to is limited, too.
static void groups_do_not_explode(void **state) {
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    fputs(HEAD_41 "$Entities\n0 0 0 1\n1 0 0 0 1 1 1 400", stream);
    for (int i = 0; i < 400; i++) fputs(" 1", stream);
    fputs(" 0\n$EndEntities\n" NODES_41 "$Elements\n1 80 1 80\n3 1 4 80\n", stream);
    for (int i = 0; i < 80; i++) fputs("1 1 2 3 4\n", stream);
    fputs("$EndElements\n", stream);
    fclose(stream);
    rbt_error error = {0};
    broken b = {GMSH, "groups", text, size, 0, ""};
    assert_null(read_broken(&b, &error));
    assert_string_equal(error.message,
                        "volume 1 belongs to 400 physical groups: too many for the number of its elements");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_one_is_refused),
        cmocka_unit_test(every_beginning_is_safe),
        cmocka_unit_test(groups_do_not_explode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
