// Broken VTK, VTU, OBJ, STL and PLY files, each with the line and the sentence it must give.
#include "mesh/core/build.h"
#include "mesh/io/format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

typedef struct broken {
    const char *name, *format;
    const char *bytes;
    size_t size;
    long line;
    const char *sentence;
} broken;

#define BYTES(text) text, sizeof(text) - 1

// ---- Legacy VTK

#define GRID(format) "# vtk DataFile Version 3.0\nt\n" format "\nDATASET UNSTRUCTURED_GRID\n"
#define POINTS4      "POINTS 4 float\n0 0 0 1 0 0 0 1 0 0 0 1\n"
#define GRID5        "# vtk DataFile Version 5.1\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n" POINTS4
#define POLY         "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\n" POINTS4

static const broken VTK[] = {
    {"no header", "VTK", BYTES("hello"), 1, "a legacy VTK file begins with \"# vtk DataFile Version 3.0\""},
    {"version", "VTK", BYTES("# vtk DataFile Version 9.0\nt\nASCII\n"), 1,
     "version \"9.0\": versions 1.0 to 5.1 are read"},
    {"encoding", "VTK", BYTES("# vtk DataFile Version 3.0\nt\nOCTAL\n"), 3,
     "the third line must be ASCII or BINARY, not \"OCTAL\""},
    {"dataset", "VTK", BYTES("# vtk DataFile Version 3.0\nt\nASCII\nDATASET STRUCTURED_POINTS\n"), 4,
     "dataset \"STRUCTURED_POINTS\": only UNSTRUCTURED_GRID and POLYDATA are read"},
    {"unknown section", "VTK", BYTES(GRID("ASCII") POINTS4 "CELS 1 5\n"), 7,
     "\"CELS\" is not a section of a legacy VTK file"},
    {"no points", "VTK", BYTES(GRID("ASCII")), 5, "the file has no POINTS"},
    {"points twice", "VTK", BYTES(GRID("ASCII") POINTS4 POINTS4), 7, "POINTS comes twice"},
    {"type of points", "VTK", BYTES(GRID("ASCII") "POINTS 1 quad\n0 0 0\n"), 5,
     "POINTS has numbers of type \"quad\", which is unknown"},
    {"negative count", "VTK", BYTES(GRID("ASCII") "POINTS -4 float\n"), 5,
     "POINTS has the count -4, which is negative"},
    {"huge count", "VTK", BYTES(GRID("ASCII") "POINTS 2000000000 float\n0 0 0\n"), 6,
     "POINTS announces 6000000000 numbers, but only 6 bytes are left in the file"},
    {"count beyond int32", "VTK", BYTES(GRID("BINARY") "POINTS 6148914691236517206 double\n0 0 0\n"), 0,
     "6148914691236517206 nodes: the limit is 2147483647"},
    {"truncated text", "VTK", BYTES(GRID("ASCII") "POINTS 4 float\n0 0 0 1 0 0 0.123456789"), 6,
     "POINTS: number 8 of 12 is expected, but here is the end of the file"},
    {"truncated bytes", "VTK", BYTES(GRID("BINARY") "POINTS 2 float\n0123456789"), 0,
     "POINTS announces 6 numbers, but only 10 bytes are left in the file"},
    {"word among numbers", "VTK", BYTES(GRID("ASCII") "POINTS 2 float\n0 0 0 1 zero 0\n"), 6,
     "POINTS: number 5 of 6 is expected, but here is \"zero\""},
    {"NaN", "VTK", BYTES(GRID("ASCII") "POINTS 2 float\n0 0 0 1 nan 0\n"), 0,
     "node 1 (counted from 0) is at (1, nan, 0): every coordinate must be finite"},
    {"infinity in bytes", "VTK", BYTES(GRID("BINARY") "POINTS 1 float\n\x7f\x80\0\0\0\0\0\0\0\0\0\0"), 0,
     "node 0 (counted from 0) is at (inf, 0, 0): every coordinate must be finite"},
    {"negative index", "VTK", BYTES(GRID("ASCII") POINTS4 "CELLS 1 5\n4 0 1 2 -3\nCELL_TYPES 1\n10\n"), 0,
     "cell 0 (tet) names node -3, but there are 4 nodes (0 to 3)"},
    {"index too large", "VTK", BYTES(GRID("ASCII") POINTS4 "CELLS 1 5\n4 0 1 2 4\nCELL_TYPES 1\n10\n"), 0,
     "cell 0 (tet) names node 4, but there are 4 nodes (0 to 3)"},
    {"corners of a cell", "VTK", BYTES(GRID("ASCII") POINTS4 "CELLS 1 5\n9 0 1 2 3\nCELL_TYPES 1\n10\n"), 8,
     "CELLS: cell 0 has the corner count 9, but 4 numbers are left in the list"},
    {"more cells than numbers", "VTK", BYTES(GRID("ASCII") POINTS4 "CELLS 7 5\n4 0 1 2 3\n"), 8,
     "CELLS announces 7 cells in a list of only 5 numbers"},
    {"numbers left over", "VTK", BYTES(GRID("ASCII") POINTS4 "CELLS 1 6\n4 0 1 2 3 0\n"), 8,
     "CELLS announces 6 numbers, but its cells (1) use 5"},
    {"too few types", "VTK", BYTES(GRID("ASCII") POINTS4 "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 2\n10 10\n"), 9,
     "CELL_TYPES has 2 entries, but CELLS has 1"},
    {"no types", "VTK", BYTES(GRID("ASCII") POINTS4 "CELLS 1 5\n4 0 1 2 3\n"), 9,
     "the file has CELLS but no CELL_TYPES"},
    {"type of a cell", "VTK",
     BYTES(GRID("ASCII") POINTS4 "CELLS 3 13\n4 0 1 2 3\n3 0 1 2\n3 0 1 2\nCELL_TYPES 3\n10 9 9\n"), 0,
     "2 cells are of type 9 (quad), the first is cell 1: only vertex, line, triangle and tet cells are read, convert "
     "the others before"},
    {"tet with three corners", "VTK", BYTES(GRID("ASCII") POINTS4 "CELLS 1 4\n3 0 1 2\nCELL_TYPES 1\n10\n"), 0,
     "cell 0 is a tet with 3 corners instead of 4"},
    {"regions for too few cells", "VTK",
     BYTES(GRID("ASCII") POINTS4 "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\nCELL_DATA 2\nSCALARS region int\n1 2\n"),
     14, "the array of regions has 2 entries, but CELLS has 1"},
    {"array overflow", "VTK",
     BYTES(GRID("ASCII") POINTS4 "POINT_DATA 4\nFIELD f 1\na 4294967296 4294967296 int\n0\n"), 10,
     "array \"a\" announces 4294967296 x 4294967296 numbers, but only 2 bytes are left in the file"},
    {"offsets that descend", "VTK",
     BYTES(GRID5 "CELLS 3 6\nOFFSETS vtktypeint64\n0 7 6\nCONNECTIVITY vtktypeint64\n0 1 2 0 1 2\n"), 0,
     "the offsets of the cells must ascend, but cell 1 ends at 6 and starts at 7"},
    {"offsets that end early", "VTK",
     BYTES(GRID5 "CELLS 2 4\nOFFSETS vtktypeint64\n0 3\nCONNECTIVITY vtktypeint64\n0 1 2 3\n"), 0,
     "the cells end at offset 3, but the connectivity has 4 entries"},
    {"no connectivity", "VTK", BYTES(GRID5 "CELLS 2 4\nOFFSETS vtktypeint64\n0 4\n0 1 2 3\n"), 10,
     "OFFSETS must be followed by CONNECTIVITY, not by \"0\""},
    {"polygon with two corners", "VTK", BYTES(POLY "POLYGONS 1 3\n2 0 1\n"), 8,
     "POLYGONS: entry 0 has 2 corners, at least 3 are needed"},
    {"polygon with a bad index", "VTK", BYTES(POLY "POLYGONS 1 4\n3 0 1 8\n"), 0,
     "triangle 0 names node 8, but there are 4 nodes (0 to 3)"},
    {"strips", "VTK", BYTES(POLY "TRIANGLE_STRIPS 1 5\n4 0 1 2 3\n"), 8,
     "triangle strips (1 of them): only single polygons are read, convert the strips to triangles"},
};

// ---- VTU

#define OPEN(attributes)        "<VTKFile type=\"UnstructuredGrid\" " attributes "><UnstructuredGrid>"
#define PIECE(points, cells)    "<Piece NumberOfPoints=\"" points "\" NumberOfCells=\"" cells "\">"
#define ARRAY(attributes, text) "<DataArray " attributes ">" text "</DataArray>"
#define POINTS(text)            "<Points>" ARRAY("type=\"Float32\" NumberOfComponents=\"3\"", text) "</Points>"
#define FOUR                    POINTS("0 0 0 1 0 0 0 1 0 0 0 1")
#define CELLS(corners, offsets, types)                                                                               \
    "<Cells>" ARRAY("type=\"Int32\" Name=\"connectivity\"", corners)                                                 \
        ARRAY("type=\"Int32\" Name=\"offsets\"", offsets) ARRAY("type=\"UInt8\" Name=\"types\"", types) "</Cells>"
#define CLOSE "</Piece></UnstructuredGrid></VTKFile>"
#define ONE_POINT(format, text)                                                                                      \
    PIECE("1", "0")                                                                                                  \
    "<Points>" ARRAY("type=\"Float32\" Name=\"p\" NumberOfComponents=\"3\" format=\"" format "\"",                   \
                     text) "</Points>" CLOSE
#define APPENDED(attributes, offset, encoding, data)                                                                 \
    OPEN(attributes)                                                                                                 \
    PIECE("1", "0")                                                                                                  \
    "<Points><DataArray type=\"Float32\" Name=\"p\" NumberOfComponents=\"3\" format=\"appended\" offset=\"" offset   \
    "\"/></Points></Piece></UnstructuredGrid><AppendedData encoding=\"" encoding "\">_" data
#define ZLIB "compressor=\"vtkZLibDataCompressor\""

static const broken VTU[] = {
    {"empty file", "VTU", BYTES(""), 0, "a VTU file needs the tag VTKFile"},
    {"other XML", "VTU", BYTES("<?xml version=\"1.0\"?>\n<svg></svg>"), 2, "the first tag is \"svg\", not VTKFile"},
    {"other dataset", "VTU", BYTES("<VTKFile type=\"PolyData\">"), 1,
     "the file holds a dataset of type \"PolyData\": only UnstructuredGrid is read"},
    {"other compressor", "VTU", BYTES(OPEN("compressor=\"vtkLZMADataCompressor\"")), 1,
     "the data is compressed by \"vtkLZMADataCompressor\": known are vtkZLibDataCompressor and vtkLZ4DataCompressor, "
     "save the file with one of them or without compression"},
    {"header type", "VTU", BYTES(OPEN("header_type=\"Int16\"")), 1,
     "header_type is \"Int16\": known are UInt32 and UInt64"},
    {"byte order", "VTU", BYTES(OPEN("byte_order=\"PDP\"")), 1,
     "byte_order is \"PDP\": known are LittleEndian and BigEndian"},
    {"comment without end", "VTU", BYTES("<!-- <VTKFile>"), 1, "a comment is not closed by \"-->\""},
    {"attribute without quotes", "VTU", BYTES("<VTKFile\ntype=UnstructuredGrid>"), 2,
     "attribute \"type\" has no value in quotes"},
    {"cut in a tag", "VTU", BYTES("<VTKFile type=\"UnstructuredGrid\""), 1,
     "the file ends within the tag \"VTKFile\""},
    {"cut in an array", "VTU", BYTES(OPEN("") PIECE("1", "0") "<Points><DataArray Name=\"p\">0 0"), 1,
     "the file ends within the array \"p\""},
    {"no piece", "VTU", BYTES(OPEN("") "</UnstructuredGrid></VTKFile>"), 0, "the file has no Piece"},
    {"piece without a count", "VTU", BYTES(OPEN("") "<Piece NumberOfPoints=\"3\">"), 1,
     "a Piece needs NumberOfCells from 0 to 2147483647, not \"\""},
    {"negative count of cells", "VTU", BYTES(OPEN("") PIECE("1", "-1")), 1,
     "a Piece needs NumberOfCells from 0 to 2147483647, not \"-1\""},
    {"huge count of points", "VTU", BYTES(OPEN("") PIECE("99999999999", "1")), 1,
     "a Piece needs NumberOfPoints from 0 to 2147483647, not \"99999999999\""},
    {"no points", "VTU", BYTES(OPEN("") PIECE("1", "0") CLOSE), 0, "piece 0 has no array of points"},
    {"two components", "VTU",
     BYTES(OPEN("") PIECE("1", "0") "<Points>" ARRAY("type=\"Float32\" NumberOfComponents=\"2\"",
                                                     "0 0") "</Points>" CLOSE),
     0, "the points have 2 components instead of 3"},
    {"no offsets", "VTU",
     BYTES(OPEN("") PIECE("4", "1") FOUR
           "<Cells>" ARRAY("type=\"Int8\" Name=\"connectivity\"", "0") "</Cells>" CLOSE),
     0, "piece 0 has no array \"offsets\" of cells"},
    {"unknown type", "VTU",
     BYTES(OPEN("") PIECE("1", "0") "<Points>" ARRAY("type=\"Float16\" Name=\"p\" NumberOfComponents=\"3\"",
                                                     "0 0 0") "</Points>" CLOSE),
     0, "array \"p\" has numbers of type \"Float16\", which is unknown"},
    {"unknown format", "VTU", BYTES(OPEN("") ONE_POINT("hex", "00")), 0,
     "array \"p\" has the format \"hex\": known are ascii, binary and appended"},
    {"too few numbers", "VTU", BYTES(OPEN("") "\n" ONE_POINT("ascii", "\n0 0 \n")), 4,
     "array \"p\" has nothing instead of number 3 of 3"},
    {"word among the numbers", "VTU", BYTES(OPEN("") ONE_POINT("ascii", "0 none 0")), 1,
     "array \"p\" has \"none\" instead of number 2 of 3"},
    {"more points than text", "VTU", BYTES(OPEN("") PIECE("2000000000", "0") POINTS("0 0 0") CLOSE), 0,
     "array \"\" should have 6000000000 numbers, but its text has only 5 characters"},
    {"NaN", "VTU", BYTES(OPEN("") ONE_POINT("ascii", "0 0 nan")), 0,
     "node 0 (counted from 0) is at (0, 0, nan): every coordinate must be finite"},
    {"bad base64", "VTU", BYTES(OPEN("") ONE_POINT("binary", "DAAAAA*AAAAAAAAAAAAAAA==")), 0,
     "array \"p\" has the character '*' (byte 42) where base64 does not allow it"},
    {"truncated base64", "VTU", BYTES(OPEN("") ONE_POINT("binary", "DAAAAA==AAAAAAAA")), 0,
     "array \"p\" needs 12 bytes of data, but only 6 are left in the file"},
    {"padding in the wrong place", "VTU", BYTES(OPEN("") ONE_POINT("binary", "DAAAAA=AAAAAAAAAAAAAAAAA")), 0,
     "array \"p\" has the character 'A' (byte 65) where base64 does not allow it"},
    {"wrong byte count", "VTU", BYTES(OPEN("") ONE_POINT("binary", "CAAAAAAAAAAAAAAA")), 0,
     "array \"p\" has 8 bytes of data, but 12 are expected"},
    {"no appended data", "VTU", BYTES(OPEN("") ONE_POINT("appended", "")), 0,
     "array \"p\" is in the appended data, but the file has none"},
    {"encoding of appended data", "VTU", BYTES(APPENDED("", "0", "hex", "")), 1,
     "AppendedData has the encoding \"hex\": known are raw and base64"},
    {"offset beyond the end", "VTU", BYTES(APPENDED("", "400", "raw", "\x0c\0\0\0")), 0,
     "array \"p\" is at offset 400 of the appended data, which has 4 bytes"},
    {"raw data cut", "VTU", BYTES(APPENDED("", "0", "raw", "\x0c\0\0\0\0\0\0\0")), 0,
     "array \"p\" needs 12 bytes of data, but only 4 are left in the file"},
    {"raw header cut", "VTU", BYTES(APPENDED("", "0", "raw", "\x0c\0")), 0,
     "array \"p\" ends before its data is complete"},
    {"raw header beyond 2^63", "VTU",
     BYTES(APPENDED("header_type=\"UInt64\"", "0", "raw", "\xff\xff\xff\xff\xff\xff\xff\xff")), 0,
     "array \"p\" has a header with a number beyond 2^63"},
    {"too many blocks", "VTU", BYTES(APPENDED(ZLIB, "0", "raw", "\xff\xff\xff\xff\1\0\0\0\0\0\0\0\1\0\0\0")), 0,
     "array \"p\" announces 4294967295 compressed blocks, but only 4 bytes are left in the file"},
    {"no blocks", "VTU", BYTES(APPENDED(ZLIB, "0", "raw", "\0\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0")), 0,
     "array \"p\" has no compressed blocks, but 12 bytes of data are expected"},
    {"blocks of another size", "VTU", BYTES(APPENDED(ZLIB, "0", "raw", "\1\0\0\0\0\x80\0\0\x0d\0\0\0\4\0\0\0abcd")),
     0, "array \"p\" has 1 blocks of 32768 bytes, the last of 13, but 12 bytes of data are expected"},
    {"block beyond the end", "VTU", BYTES(APPENDED(ZLIB, "0", "raw", "\1\0\0\0\0\x80\0\0\x0c\0\0\0\x63\0\0\0abcd")),
     0, "array \"p\" has compressed blocks that end behind the end of the file"},
    {"corrupt zlib", "VTU",
     BYTES(APPENDED(ZLIB, "0", "raw", "\1\0\0\0\0\x80\0\0\x0c\0\0\0\x0b\0\0\0\x78\x9c\x63\x60\x20\x03\0\0\x0c\0\2")),
     0, "array \"p\" has a compressed block (number 0) that is damaged"},
    {"impossible ratio", "VTU",
     BYTES(OPEN(ZLIB) PIECE("100000", "0") "<Points>" ARRAY(
         "type=\"Float32\" Name=\"p\" NumberOfComponents=\"3\" format=\"binary\"",
         "AQAAAIBPEgAAAAAABAAAAA==eJwDAA==") "</Points>" CLOSE),
     0, "array \"p\" promises 1200000 bytes from 4 compressed ones, which is impossible"},
    {"offsets that descend", "VTU", BYTES(OPEN("") PIECE("4", "2") FOUR CELLS("0 1 2", "3 2", "5 5") CLOSE), 0,
     "the offsets of the cells must ascend, but cell 1 ends at 2 and starts at 3"},
    {"offsets beyond the connectivity", "VTU", BYTES(OPEN("") PIECE("4", "1") FOUR CELLS("0 1 2", "4", "10") CLOSE),
     0, "array \"connectivity\" should have 4 numbers, but its text has only 5 characters"},
    {"negative index", "VTU", BYTES(OPEN("") PIECE("4", "1") FOUR CELLS("0 1 2 -1", "4", "10") CLOSE), 0,
     "cell 0 (tet) names node -1, but there are 4 nodes (0 to 3)"},
    {"index of another piece", "VTU",
     BYTES(OPEN("") PIECE("4", "0") FOUR "</Piece>" PIECE("4", "1") FOUR CELLS("0 1 2 4", "4", "10") CLOSE), 0,
     "piece 1 has 4 points, but its connectivity names point 4"},
    {"type of a cell", "VTU", BYTES(OPEN("") PIECE("4", "1") FOUR CELLS("0 1 2 3", "4", "99") CLOSE), 0,
     "1 cell is of type 99 (unknown), the first is cell 0: only vertex, line, triangle and tet cells are read, "
     "convert the others before"},
};

// ---- OBJ

static const broken OBJ[] = {
    {"no vertices", "OBJ", BYTES("# nothing\n"), 0, "the file has no vertices (lines that start with v)"},
    {"unknown statement", "OBJ", BYTES("v 0 0 0\nff 1 2 3\n"), 2, "\"ff\" is not a statement of an OBJ file"},
    {"coordinate missing", "OBJ", BYTES("v 0 0 0\nv 1 0\nv 0 0 0\n"), 2,
     "coordinate 3 of vertex 2 is missing or not a number (here is the end of the line)"},
    {"coordinate no number", "OBJ", BYTES("v 0 0,5 0\n"), 1,
     "coordinate 2 of vertex 1 is missing or not a number (here is \"0,5\")"},
    {"NaN", "OBJ", BYTES("v 0 0 0\nv 0 nan 0\n"), 0,
     "node 1 (counted from 0) is at (0, nan, 0): every coordinate must be finite"},
    {"index 0", "OBJ", BYTES("v 0 0 0\nf 0 1 1\n"), 2,
     "vertex index 0: so far there are vertices 1 to 1, and -1 to -1 count back from the last"},
    {"index too negative", "OBJ", BYTES("v 0 0 0\nf -1 -2 -1\n"), 2,
     "vertex index -2: so far there are vertices 1 to 1, and -1 to -1 count back from the last"},
    {"index too large", "OBJ", BYTES("v 0 0 0\nf 1 1 1\nf 1 2 1\nf 1 1 1\n"), 3,
     "vertex index 2, but the last vertex of the file is 1"},
    {"index overflow", "OBJ", BYTES("v 0 0 0\nf 1 1 99999999999999999999\n"), 2,
     "\"99999999999999999999\" is not a corner of a face or line: expected are v, v/vt, v//vn or v/vt/vn"},
    {"face no number", "OBJ", BYTES("v 0 0 0\nf 1 x 1\n"), 2,
     "\"x\" is not a corner of a face or line: expected are v, v/vt, v//vn or v/vt/vn"},
    {"face too short", "OBJ", BYTES("v 0 0 0\nf 1 1\n"), 2, "a face needs at least 3 corners, this one has 2"},
    {"line too short", "OBJ", BYTES("v 0 0 0\nl 1\n"), 2, "a line needs at least 2 vertices, this one has 1"},
    {"too many groups", "OBJ", BYTES("v 0 0 0\ng a b c d e f g h i\n"), 2,
     "a face is in more than 8 groups, which is the limit"},
};

// ---- STL

#define SPACES20 "                    "
#define SPACES80 SPACES20 SPACES20 SPACES20 SPACES20
#define FACET    "facet normal 0 0 1\nouter loop\nvertex 0 0 0\n"

static const broken STL[] = {
    {"too short", "STL", BYTES("stl"), 0,
     "an STL file starts with \"solid\" or with 84 bytes of header, but this one has 3 bytes"},
    {"binary truncated", "STL", BYTES(SPACES80 "\2\0\0\0abcdefghij"), 0,
     "the triangle count of this binary STL file is 2, which takes 184 bytes, but the file has 94"},
    {"binary count too large", "STL", BYTES(SPACES80 "\xff\xff\xff\xff"), 0,
     "the triangle count of this binary STL file is 4294967295, which takes 214748364834 bytes, but the file has 84"},
    {"binary that starts with solid", "STL", BYTES("solid              \0" SPACES20 SPACES20 SPACES20 "\1\0\0\0ab"),
     0, "the triangle count of this binary STL file is 1, which takes 134 bytes, but the file has 86"},
    {"no end", "STL", BYTES("solid a\n"), 2, "\"endsolid\" is expected, but here is the end of the file"},
    {"facet without normal", "STL", BYTES("solid a\nfacet outer loop\nendsolid"), 2,
     "\"facet normal\" is expected, but here is \"facet\""},
    {"two vertices", "STL", BYTES("solid a\n" FACET "vertex 1 0 0\nendloop\nendfacet\nendsolid\n"), 6,
     "\"vertex\" is expected, but here is \"endloop\""},
    {"four vertices", "STL",
     BYTES("solid a\n" FACET "vertex 1 0 0\nvertex 0 1 0\nvertex 1 1 0\nendloop\nendfacet\nendsolid\n"), 7,
     "\"endloop\" is expected, but here is \"vertex\""},
    {"coordinate no number", "STL", BYTES("solid a\n" FACET "vertex 1 0 zero\nendsolid\n"), 5,
     "coordinate 3 of a vertex is expected, but here is \"zero\""},
    {"infinite", "STL", BYTES("solid a\n" FACET "vertex 1 0 inf\nvertex 0 1 0\nendloop endfacet endsolid"), 0,
     "node 1 (counted from 0) is at (1, 0, inf): every coordinate must be finite"},
    {"no triangles", "STL", BYTES("solid a\nendsolid a\n"), 0, "the mesh is empty: it has no nodes"},
};

// ---- PLY

#define HEAD(format, vertices) "ply\nformat " format " 1.0\nelement vertex " vertices "\n"
#define XYZ                    "property float x\nproperty float y\nproperty float z\n"
#define FACES(count)           "element face " count "\nproperty list uchar int vertex_indices\nend_header\n"

static const broken PLY[] = {
    {"no magic", "PLY", BYTES("plyx\n"), 1, "a PLY file starts with \"ply\""},
    {"no end of the header", "PLY", BYTES(HEAD("ascii", "1") XYZ), 7, "the file ends before \"end_header\""},
    {"no format", "PLY", BYTES("ply\nend_header\n"), 3, "the header has no line \"format\""},
    {"unknown format", "PLY", BYTES("ply\nformat hex 1.0\n"), 2,
     "format \"hex\": known are ascii, binary_little_endian and binary_big_endian"},
    {"unknown line", "PLY", BYTES("ply\nformat ascii 1.0\nelment vertex 3\n"), 3,
     "\"elment\" is not a line of a PLY header"},
    {"unknown type", "PLY", BYTES(HEAD("ascii", "1") "property real x\n"), 4,
     "property of type \"real\", which is unknown"},
    {"property of nothing", "PLY", BYTES("ply\nformat ascii 1.0\nproperty float x\n"), 3,
     "a property before the first element"},
    {"negative count", "PLY", BYTES(HEAD("ascii", "-1")), 3, "an element needs a name and a count of at least 0"},
    {"strips", "PLY", BYTES(HEAD("ascii", "1") XYZ "element tristrips 1\n"), 7,
     "triangle strips are not read: save the surface with single faces"},
    {"no z", "PLY", BYTES(HEAD("ascii", "1") "property float x\nproperty float y\nend_header\n0 0\n"), 0,
     "element vertex lacks the properties x, y and z"},
    {"faces without corners", "PLY",
     BYTES(HEAD("ascii", "1") XYZ "element face 1\nproperty int a\nend_header\n0 0 0\n1\n"), 0,
     "element face lacks the properties vertex_indices"},
    {"huge count", "PLY", BYTES(HEAD("ascii", "2000000000") XYZ "end_header\n0 0 0\n"), 0,
     "2000000000 of element vertex are announced, but only 6 bytes are left in the file"},
    {"text cut", "PLY", BYTES(HEAD("ascii", "2") XYZ "end_header\n0.25 0.25 0.25\n0"), 9,
     "vertex 1 of 2 needs a number, but here is the end of the file"},
    {"text no number", "PLY", BYTES(HEAD("ascii", "1") XYZ "end_header\n0 zero 0\n"), 8,
     "vertex 0 of 1 needs a number, but here is \"zero\""},
    {"NaN", "PLY", BYTES(HEAD("ascii", "1") XYZ "end_header\n0 nan 0\n"), 0,
     "node 0 (counted from 0) is at (0, nan, 0): every coordinate must be finite"},
    {"binary cut", "PLY", BYTES(HEAD("binary_little_endian", "1") XYZ FACES("1") "abcdabcdabcd\3abcdabcdab"), 0,
     "face 0 has a list of 3 entries, but only 10 bytes are left in the file"},
    {"binary list cut", "PLY",
     BYTES(HEAD("binary_little_endian", "1") XYZ "property list uchar uchar a\nproperty double b\nend_header\n"
                                                 "abcdabcdabcd\2xxabcdef"),
     0, "the file ends within vertex 0 of 1"},
    {"list count negative", "PLY", BYTES(HEAD("ascii", "1") XYZ FACES("1") "0 0 0\n-3 0 0 0\n"), 11,
     "face 0 has a list of -3 entries, but only 7 bytes are left in the file"},
    {"face too short", "PLY", BYTES(HEAD("ascii", "1") XYZ FACES("1") "0 0 0\n2 0 0\n"), 0,
     "face 0 has 2 corners, at least 3 are needed"},
    {"negative index", "PLY", BYTES(HEAD("ascii", "1") XYZ FACES("1") "0 0 0\n3 0 0 -1\n"), 0,
     "a corner has the node number -1, possible are 0 to 2147483646"},
    {"index too large", "PLY", BYTES(HEAD("ascii", "1") XYZ FACES("1") "0 0 0\n3 0 0 1\n"), 0,
     "triangle 0 names node 1, but there are 1 nodes (0 to 0)"},
    {"index with a fraction", "PLY", BYTES(HEAD("ascii", "1") XYZ FACES("1") "0 0 0\n3 0 0 0.5\n"), 11,
     "face 0 names vertex 0.5, which is not a whole number"},
};

static void check_table(const broken *table, size_t count) {
    size_t wrong = 0;
    for (const broken *b = table; b < table + count; b++) {
        const rbt_mesh_format *format = NULL;
        rbt_error error = {0};
        rbt_bytes bytes = {malloc(b->size + 1), b->size};
        memcpy(bytes.data, b->bytes, b->size + 1);
        for (int i = 0; i < RBT_MESH_FORMAT_COUNT; i++)
            if (strcmp(RBT_MESH_FORMATS[i].name, b->format) == 0) format = &RBT_MESH_FORMATS[i];
        rbt_mesh *mesh = rbt_mesh_read_bytes(format, "broken", &bytes, &error);
        if (mesh || strcmp(error.message, b->sentence) != 0 || error.line != b->line ||
            strcmp(error.file, "broken") != 0) {
            print_error("%s, %s: %s\n  line %ld: %s\nexpected\n  line %ld: %s\n", b->format, b->name,
                        mesh ? "was read" : error.file, error.line, error.message, b->line, b->sentence);
            wrong++;
        }
        rbt_mesh_free(mesh);
        free(bytes.data);
    }
    assert_int_equal(wrong, 0);
}

#define CHECK(function, table)                                                                                       \
    static void function(void **state) {                                                                             \
        (void)state;                                                                                                 \
        check_table(table, sizeof table / sizeof *table);                                                            \
    }
CHECK(broken_vtk, VTK)
CHECK(broken_vtu, VTU)
CHECK(broken_obj, OBJ)
CHECK(broken_stl, STL)
CHECK(broken_ply, PLY)

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(broken_vtk), cmocka_unit_test(broken_vtu),
                                       cmocka_unit_test(broken_obj), cmocka_unit_test(broken_stl),
                                       cmocka_unit_test(broken_ply)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
