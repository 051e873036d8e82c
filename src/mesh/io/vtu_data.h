// Data arrays of VTK's XML files: where their numbers are and how to get them out.
//
// A DataArray is text, base64 between its tags, or at an offset of the AppendedData section, which is raw bytes or
// base64. Binary data starts with a header of UInt32 or UInt64 numbers in the file's byte order: the byte count or,
// compressed, [blocks, bytes of a block, bytes of the last block if smaller, compressed bytes of each block], and then
// the blocks, each a zlib stream or an LZ4 block. In base64 the header may be encoded by itself (padded) or together
// with the data.
#ifndef RBT_MESH_IO_VTU_DATA_H
#define RBT_MESH_IO_VTU_DATA_H

#include "mesh/io/number.h"
#include "mesh/io/xml.h"

typedef enum rbt_vtu_format { RBT_VTU_TEXT, RBT_VTU_INLINE, RBT_VTU_APPENDED } rbt_vtu_format;
typedef enum rbt_vtu_packing { RBT_VTU_PLAIN, RBT_VTU_ZLIB, RBT_VTU_LZ4 } rbt_vtu_packing;
typedef enum rbt_vtu_section {
    RBT_VTU_NOWHERE,
    RBT_VTU_FIELD_DATA,
    RBT_VTU_POINT_DATA,
    RBT_VTU_CELL_DATA,
    RBT_VTU_POINTS,
    RBT_VTU_CELLS
} rbt_vtu_section;

typedef struct rbt_vtu_array {
    rbt_xml_slice name, type;  // as written
    rbt_number kind;           // RBT_NUMBER_KINDS: not numbers
    rbt_vtu_section section;
    rbt_vtu_format format;
    size_t components, tuples;  // `tuples` only where the file says it (field data), else 0
    size_t offset;              // in the appended data
    rbt_xml_slice text;         // between the tags
} rbt_vtu_array;

// What all arrays of a file share.
typedef struct rbt_vtu_data {
    const char *file, *begin;  // name for messages; start of the bytes
    bool swap;
    rbt_vtu_packing packing;
    size_t header_size;  // 4 or 8
    rbt_xml_slice appended;
    bool appended_base64;
    size_t budget;  // bytes of appended data that may still be used: arrays may overlap, but not without end
} rbt_vtu_data;

// The array that a DataArray tag describes.
bool rbt_vtu_array_describe(const rbt_vtu_data *data, const rbt_xml_tag *tag, rbt_vtu_array *array, rbt_error *error);

// Exactly `count` numbers, allocated once it is sure that the file has them.
bool rbt_vtu_reals(rbt_vtu_data *data, const rbt_vtu_array *array, size_t count, double **values, rbt_error *error);
bool rbt_vtu_ints(rbt_vtu_data *data, const rbt_vtu_array *array, size_t count, int64_t **values, rbt_error *error);

#endif
