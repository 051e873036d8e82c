// Blocks of LZ4, as VTK's compressor of that name writes them.
//
// A block is a list of sequences: a token, whose upper four bits count literal bytes and whose lower ones the bytes
// of a match beyond 4; a count of 15 continues in bytes that are added to it, up to one that is not 255. The literals
// follow, then two bytes with the distance back to the match (little endian). A match may reach into what it makes
// itself. The last sequence ends with its literals.
// Reference: "LZ4 Block Format Description", lz4 project.
#ifndef RBT_MESH_IO_LZ4_H
#define RBT_MESH_IO_LZ4_H

#include <stdbool.h>
#include <stddef.h>

// true if the block is whole and makes exactly `wanted` bytes. Never reads or writes beyond either end.
bool rbt_lz4_decode(const unsigned char *block, size_t size, unsigned char *to, size_t wanted);

#endif
