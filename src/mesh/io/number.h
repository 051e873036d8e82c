// Packed numbers of the binary formats (VTK, VTU, PLY): every integer and real type, either byte order.
#ifndef RBT_MESH_IO_NUMBER_H
#define RBT_MESH_IO_NUMBER_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum rbt_number {
    RBT_NUMBER_I8,
    RBT_NUMBER_U8,
    RBT_NUMBER_I16,
    RBT_NUMBER_U16,
    RBT_NUMBER_I32,
    RBT_NUMBER_U32,
    RBT_NUMBER_I64,
    RBT_NUMBER_U64,
    RBT_NUMBER_F32,
    RBT_NUMBER_F64,
    RBT_NUMBER_KINDS
} rbt_number;

static inline size_t rbt_number_size(rbt_number kind) {
    static const unsigned char size[RBT_NUMBER_KINDS] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
    return size[kind];
}
static inline bool rbt_number_is_integer(rbt_number kind) { return kind < RBT_NUMBER_F32; }

// `swap`: the bytes are in the other order than the machine's. rbt_swap_for tells for a file's order.
static inline bool rbt_swap_for(bool big_endian) {
    const uint16_t one = 1;
    return (*(const unsigned char *)&one == 1) == big_endian;
}

void rbt_numbers_to_reals(rbt_number kind, bool swap, const void *bytes, size_t count, double *values);

// Reals are accepted if they are whole. Returns the number of values converted: less than `count` if the next one
// is not a whole number that fits.
size_t rbt_numbers_to_ints(rbt_number kind, bool swap, const void *bytes, size_t count, int64_t *values);

// Writers, one row of `columns` numbers a line. Text is independent of the locale and reads back to the same bits.
void rbt_print_reals(FILE *stream, const char *prefix, const double *values, size_t rows, int columns);
void rbt_put_reals_big_endian(FILE *stream, const double *values, size_t count);
void rbt_put_ints_big_endian(FILE *stream, const int32_t *values, size_t count);

#endif
