#include "mesh/io/number.h"

#include <byteswap.h>
#include <locale.h>
#include <math.h>
#include <string.h>

static uint8_t load_8(const unsigned char *at, bool swap) { return (void)swap, *at; }
static uint16_t load_16(const unsigned char *at, bool swap) {
    uint16_t v;
    memcpy(&v, at, sizeof v);
    return swap ? bswap_16(v) : v;
}
static uint32_t load_32(const unsigned char *at, bool swap) {
    uint32_t v;
    memcpy(&v, at, sizeof v);
    return swap ? bswap_32(v) : v;
}
static uint64_t load_64(const unsigned char *at, bool swap) {
    uint64_t v;
    memcpy(&v, at, sizeof v);
    return swap ? bswap_64(v) : v;
}
static float load_f32(const unsigned char *at, bool swap) {
    uint32_t bits = load_32(at, swap);
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}
static double load_f64(const unsigned char *at, bool swap) {
    uint64_t bits = load_64(at, swap);
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

// One loop per kind, so that each is a plain load, swap and store.
#define EACH(size, value)                                                                                            \
    do {                                                                                                             \
        for (size_t i = 0; i < count; i++, at += (size)) values[i] = (value);                                        \
    } while (0)

void rbt_numbers_to_reals(rbt_number kind, bool swap, const void *bytes, size_t count, double *values) {
    const unsigned char *at = bytes;
    switch (kind) {
    case RBT_NUMBER_I8: EACH(1, (int8_t)load_8(at, swap)); break;
    case RBT_NUMBER_U8: EACH(1, load_8(at, swap)); break;
    case RBT_NUMBER_I16: EACH(2, (int16_t)load_16(at, swap)); break;
    case RBT_NUMBER_U16: EACH(2, load_16(at, swap)); break;
    case RBT_NUMBER_I32: EACH(4, (int32_t)load_32(at, swap)); break;
    case RBT_NUMBER_U32: EACH(4, load_32(at, swap)); break;
    case RBT_NUMBER_I64: EACH(8, (double)(int64_t)load_64(at, swap)); break;
    case RBT_NUMBER_U64: EACH(8, (double)load_64(at, swap)); break;
    case RBT_NUMBER_F32: EACH(4, load_f32(at, swap)); break;
    case RBT_NUMBER_F64: EACH(8, load_f64(at, swap)); break;
    case RBT_NUMBER_KINDS: break;
    }
}

static size_t reals_to_ints(rbt_number kind, bool swap, const unsigned char *at, size_t count, int64_t *values) {
    size_t size = rbt_number_size(kind);
    for (size_t i = 0; i < count; i++, at += size) {
        double v = kind == RBT_NUMBER_F32 ? (double)load_f32(at, swap) : load_f64(at, swap);
        if (!(fabs(v) <= 9007199254740992.0) || v != floor(v)) return i;  // 2^53: whole numbers up to here are exact
        values[i] = (int64_t)v;
    }
    return count;
}

size_t rbt_numbers_to_ints(rbt_number kind, bool swap, const void *bytes, size_t count, int64_t *values) {
    const unsigned char *at = bytes;
    switch (kind) {
    case RBT_NUMBER_I8: EACH(1, (int8_t)load_8(at, swap)); break;
    case RBT_NUMBER_U8: EACH(1, load_8(at, swap)); break;
    case RBT_NUMBER_I16: EACH(2, (int16_t)load_16(at, swap)); break;
    case RBT_NUMBER_U16: EACH(2, load_16(at, swap)); break;
    case RBT_NUMBER_I32: EACH(4, (int32_t)load_32(at, swap)); break;
    case RBT_NUMBER_U32: EACH(4, load_32(at, swap)); break;
    case RBT_NUMBER_I64: EACH(8, (int64_t)load_64(at, swap)); break;
    case RBT_NUMBER_U64:
        EACH(8, (int64_t)load_64(at, swap));
        for (size_t i = 0; i < count; i++)
            if (values[i] < 0) return i;
        break;
    case RBT_NUMBER_F32:
    case RBT_NUMBER_F64: return reals_to_ints(kind, swap, at, count, values);
    case RBT_NUMBER_KINDS: return 0;
    }
    return count;
}

void rbt_print_reals(FILE *stream, const char *prefix, const double *values, size_t rows, int columns) {
    // A program that embeds the library may have chosen a locale with decimal commas.
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0), before = (locale_t)0;
    if (plain) before = uselocale(plain);
    for (size_t r = 0; r < rows; r++) {
        fputs(prefix, stream);
        for (int c = 0; c < columns; c++) fprintf(stream, c ? " %.17g" : "%.17g", *values++);
        fputc('\n', stream);
    }
    if (plain) {
        uselocale(before);
        freelocale(plain);
    }
}

enum { CHUNK = 1024 };

void rbt_put_reals_big_endian(FILE *stream, const double *values, size_t count) {
    const bool swap = rbt_swap_for(true);
    for (size_t done = 0; done < count;) {
        uint64_t chunk[CHUNK];
        size_t n = count - done < CHUNK ? count - done : CHUNK;
        for (size_t i = 0; i < n; i++) chunk[i] = load_64((const unsigned char *)(values + done + i), swap);
        fwrite(chunk, sizeof *chunk, n, stream);
        done += n;
    }
}

void rbt_put_ints_big_endian(FILE *stream, const int32_t *values, size_t count) {
    const bool swap = rbt_swap_for(true);
    for (size_t done = 0; done < count;) {
        uint32_t chunk[CHUNK];
        size_t n = count - done < CHUNK ? count - done : CHUNK;
        for (size_t i = 0; i < n; i++) chunk[i] = load_32((const unsigned char *)(values + done + i), swap);
        fwrite(chunk, sizeof *chunk, n, stream);
        done += n;
    }
}
