#include "mesh/io/vtu_data.h"

#include "base/memory.h"
#include "mesh/io/lz4.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

// Deflate cannot do better than 1032 : 1, LZ4 than 255 : 1, so a header that promises more lies.
enum { LARGEST_RATIO = 1100 };

static RBT_PRINTF(4, 5) bool fail(const rbt_vtu_data *data, const rbt_vtu_array *array, rbt_error *error,
                                  const char *format, ...) {
    char message[800];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return rbt_fail_at(error, data->file, 0, 0, "array \"%.*s\" %s",
                       array->name.length < 60 ? (int)array->name.length : 60, array->name.at, message);
}

static rbt_number find_kind(rbt_xml_slice type) {
    static const char *const names[RBT_NUMBER_KINDS] = {"Int8",   "UInt8", "Int16",  "UInt16",  "Int32",
                                                        "UInt32", "Int64", "UInt64", "Float32", "Float64"};
    for (int i = 0; i < RBT_NUMBER_KINDS; i++)
        if (rbt_xml_is(type, names[i])) return (rbt_number)i;
    return RBT_NUMBER_KINDS;
}

static bool read_count(const rbt_vtu_data *data, const rbt_xml_tag *tag, const rbt_vtu_array *array,
                       const char *attribute, size_t fallback, size_t *count, rbt_error *error) {
    rbt_xml_slice value = rbt_xml_attribute(tag, attribute);
    int64_t number;
    *count = fallback;
    if (!value.at) return true;
    rbt_scan s = rbt_scan_begin(data->file, value.at, value.length);
    if (!rbt_scan_int(&s, &number) || number < 0)
        return fail(data, array, error, "has %s=\"%.*s\": a count is expected", attribute,
                    value.length < 40 ? (int)value.length : 40, value.at);
    *count = (size_t)number;
    return true;
}

bool rbt_vtu_array_describe(const rbt_vtu_data *data, const rbt_xml_tag *tag, rbt_vtu_array *array,
                            rbt_error *error) {
    *array = (rbt_vtu_array){.name = rbt_xml_attribute(tag, "Name"), .type = rbt_xml_attribute(tag, "type")};
    if (!array->name.at) array->name = (rbt_xml_slice){"", 0};
    if (!array->type.at) array->type = (rbt_xml_slice){"", 0};
    array->kind = find_kind(array->type);
    rbt_xml_slice format = rbt_xml_attribute(tag, "format");
    if (!format.at || rbt_xml_is(format, "ascii")) array->format = RBT_VTU_TEXT;
    else if (rbt_xml_is(format, "binary")) array->format = RBT_VTU_INLINE;
    else if (rbt_xml_is(format, "appended")) array->format = RBT_VTU_APPENDED;
    else
        return fail(data, array, error, "has the format \"%.*s\": known are ascii, binary and appended",
                    format.length < 40 ? (int)format.length : 40, format.at);
    return read_count(data, tag, array, "NumberOfComponents", 1, &array->components, error) &&
           read_count(data, tag, array, "NumberOfTuples", 0, &array->tuples, error) &&
           read_count(data, tag, array, "offset", 0, &array->offset, error);
}

// ---- Bytes one after the other, raw or from base64

typedef struct source {
    const char *at, *end;
    bool base64;
    unsigned char waiting[3];  // decoded but not yet taken
    int waiting_count;
    char bad;  // the character that does not belong there, or 0
} source;

// Value of a base64 digit; 64 for '=', 65 for white space, 66 for anything else.
static const unsigned char *base64_digits(void) {
#define R8(v) v, v, v, v, v, v, v, v
#define R26(v)                                                                                                       \
    v, v + 1, v + 2, v + 3, v + 4, v + 5, v + 6, v + 7, v + 8, v + 9, v + 10, v + 11, v + 12, v + 13, v + 14,        \
        v + 15, v + 16, v + 17, v + 18, v + 19, v + 20, v + 21, v + 22, v + 23, v + 24, v + 25
    static const unsigned char digits[256] = {
        R8(66), 66,      65,     65,     65,     65,     65,     66,     66, R8(66), R8(66),  // control characters
        65,     66,      66,     66,     66,     66,     66,     66,     66, 66,     66,
        62,     66,      66,     66,     63,  // space + /
        52,     53,      54,     55,     56,     57,     58,     59,     60, 61,     66,
        66,     66,      64,     66,     66,                              // 0-9 =
        66,     R26(0),  66,     66,     66,     66,     66,              // A-Z
        66,     R26(26), 66,     66,     66,     66,     66,              // a-z
        R8(66), R8(66),  R8(66), R8(66), R8(66), R8(66), R8(66), R8(66),  // not ASCII
        R8(66), R8(66),  R8(66), R8(66), R8(66), R8(66), R8(66), R8(66)};
#undef R8
#undef R26
    return digits;
}

// One group of four digits, white space in between allowed, into `waiting`.
static bool decode_group(source *s) {
    const unsigned char *digits = base64_digits();
    unsigned bits = 0;
    int count = 0, padding = 0;
    for (; count < 4 && s->at < s->end; s->at++) {
        unsigned char digit = digits[(unsigned char)*s->at];
        if (digit == 65) continue;
        if (digit == 66 || (padding && digit != 64) || (digit == 64 && count < 2)) {
            s->bad = *s->at;
            return false;
        }
        padding += digit == 64;
        bits = bits << 6 | (digit & 63);
        count++;
    }
    if (count < 4) return false;
    s->waiting_count = 3 - padding;
    s->waiting[0] = (unsigned char)(bits >> 16);
    s->waiting[1] = (unsigned char)(bits >> 8);
    s->waiting[2] = (unsigned char)bits;
    return true;
}

static bool take_base64(source *s, unsigned char *to, size_t count) {
    const unsigned char *digits = base64_digits();
    for (;;) {
        while (count && s->waiting_count) {
            *to++ = s->waiting[0];
            memmove(s->waiting, s->waiting + 1, 2);
            s->waiting_count--;
            count--;
        }
        while (count >= 3 && s->end - s->at >= 4) {  // whole groups without white space or padding
            unsigned a = digits[(unsigned char)s->at[0]], b = digits[(unsigned char)s->at[1]];
            unsigned c = digits[(unsigned char)s->at[2]], d = digits[(unsigned char)s->at[3]];
            if ((a | b | c | d) >= 64) break;
            *to++ = (unsigned char)(a << 2 | b >> 4);
            *to++ = (unsigned char)(b << 4 | c >> 2);
            *to++ = (unsigned char)(c << 6 | d);
            s->at += 4;
            count -= 3;
        }
        if (!count) return true;
        if (!decode_group(s)) return false;
    }
}

static bool take(source *s, void *to, size_t count) {
    if (s->base64) return take_base64(s, to, count);
    if ((size_t)(s->end - s->at) < count) return false;
    memcpy(to, s->at, count);
    s->at += count;
    return true;
}

// An upper bound of what is left.
static size_t left_of(const source *s) {
    size_t left = (size_t)(s->end - s->at);
    return s->base64 ? left / 4 * 3 + (size_t)s->waiting_count : left;
}

static bool fail_source(const rbt_vtu_data *data, const rbt_vtu_array *array, const source *s, rbt_error *error) {
    if (s->bad)
        return fail(data, array, error, "has the character '%c' (byte %d) where base64 does not allow it",
                    isprint((unsigned char)s->bad) ? s->bad : '?', (unsigned char)s->bad);
    return fail(data, array, error, "ends before its data is complete");
}

static bool take_header(const rbt_vtu_data *data, const rbt_vtu_array *array, source *s, uint64_t *numbers,
                        size_t count, rbt_error *error) {
    for (size_t i = 0; i < count; i++) {
        unsigned char bytes[8];
        int64_t value;
        rbt_number kind = data->header_size == 8 ? RBT_NUMBER_U64 : RBT_NUMBER_U32;
        if (!take(s, bytes, data->header_size)) return fail_source(data, array, s, error);
        if (!rbt_numbers_to_ints(kind, data->swap, bytes, 1, &value))
            return fail(data, array, error, "has a header with a number beyond 2^63");
        numbers[i] = (uint64_t)value;
    }
    return true;
}

static bool spend(rbt_vtu_data *data, const rbt_vtu_array *array, uint64_t bytes, rbt_error *error) {
    if (array->format != RBT_VTU_APPENDED) return true;
    if (bytes > data->budget)
        return fail(data, array, error, "overlaps with others: the arrays together use the appended data too often");
    data->budget -= (size_t)bytes;
    return true;
}

// ---- The bytes of one array

typedef struct loaded {
    const void *bytes;  // in the file or in `memory`
    void *memory;
} loaded;

static bool load_plain(rbt_vtu_data *data, const rbt_vtu_array *array, source *s, size_t wanted, loaded *result,
                       rbt_error *error) {
    uint64_t bytes = 0;
    if (!take_header(data, array, s, &bytes, 1, error)) return false;
    if (bytes != wanted)
        return fail(data, array, error, "has %llu bytes of data, but %zu are expected", (unsigned long long)bytes,
                    wanted);
    if (wanted > left_of(s))
        return fail(data, array, error, "needs %zu bytes of data, but only %zu are left in the file", wanted,
                    left_of(s));
    if (!spend(data, array, bytes, error)) return false;
    result->bytes = s->at;
    if (!s->base64) return true;
    result->bytes = result->memory = rbt_array_new(wanted, 1, "an array", error);
    return result->memory && (take(s, result->memory, wanted) || fail_source(data, array, s, error));
}

// Sizes of the blocks after the decoding of the header, checked against what is wanted and left.
typedef struct blocks {
    uint64_t count, size, last;  // `last`: bytes of the last block
    uint64_t *compressed;        // (count) bytes in the file
} blocks;

static bool read_blocks(rbt_vtu_data *data, const rbt_vtu_array *array, source *s, size_t wanted, blocks *b,
                        rbt_error *error) {
    uint64_t head[3] = {0}, total = 0, full;
    if (!take_header(data, array, s, head, 3, error)) return false;
    *b = (blocks){head[0], head[1], head[2] ? head[2] : head[1], NULL};
    if (!b->count)
        return fail(data, array, error, "has no compressed blocks, but %zu bytes of data are expected", wanted);
    if (b->count > left_of(s) / data->header_size)
        return fail(data, array, error, "announces %llu compressed blocks, but only %zu bytes are left in the file",
                    (unsigned long long)b->count, left_of(s));
    if (b->last > b->size || __builtin_mul_overflow(b->count - 1, b->size, &full) || full > wanted ||
        wanted - full != b->last)
        return fail(data, array, error,
                    "has %llu blocks of %llu bytes, the last of %llu, but %zu bytes of data are expected",
                    (unsigned long long)b->count, (unsigned long long)b->size, (unsigned long long)b->last, wanted);
    if (!(b->compressed = rbt_array_new((size_t)b->count, sizeof *b->compressed, "an array", error))) return false;
    if (!take_header(data, array, s, b->compressed, (size_t)b->count, error)) return false;
    for (uint64_t i = 0; i < b->count; i++) {
        if (b->compressed[i] > left_of(s) - total)
            return fail(data, array, error, "has compressed blocks that end behind the end of the file");
        total += b->compressed[i];
    }
    if (wanted / LARGEST_RATIO > total)
        return fail(data, array, error, "promises %zu bytes from %llu compressed ones, which is impossible", wanted,
                    (unsigned long long)total);
    return spend(data, array, total, error);
}

static bool unpack(rbt_vtu_packing packing, const void *bytes, size_t from, unsigned char *to, size_t size) {
    uLongf made = size;
    if (packing == RBT_VTU_LZ4) return rbt_lz4_decode(bytes, from, to, size);
    return uncompress(to, &made, bytes, from) == Z_OK && made == size;
}

static bool load_compressed(rbt_vtu_data *data, const rbt_vtu_array *array, source *s, size_t wanted, loaded *result,
                            rbt_error *error) {
    blocks b = {0};
    void *packed = NULL;
    size_t packed_capacity = 0;
    bool good = read_blocks(data, array, s, wanted, &b, error) &&
                (result->memory = rbt_array_new(wanted, 1, "an array", error));
    unsigned char *to = result->memory;
    result->bytes = to;
    for (uint64_t i = 0; good && i < b.count; i++) {
        size_t from = (size_t)b.compressed[i], size = (size_t)(i + 1 < b.count ? b.size : b.last);
        const void *bytes = s->at;
        if (s->base64) {
            good = rbt_array_reserve(&packed, &packed_capacity, from, 1, "an array", error) &&
                   (take(s, packed, from) || fail_source(data, array, s, error));
            bytes = packed;
        } else s->at += from;
        if (good && !unpack(data->packing, from ? bytes : (const void *)"", from, to, size))
            good = fail(data, array, error, "has a compressed block (number %llu) that is damaged",
                        (unsigned long long)i);
        to += size;
    }
    free(b.compressed);
    free(packed);
    return good;
}

static bool load(rbt_vtu_data *data, const rbt_vtu_array *array, size_t count, loaded *result, rbt_error *error) {
    source s = {array->text.at, array->text.at + array->text.length, true, {0}, 0, 0};
    size_t wanted;
    if (__builtin_mul_overflow(count, rbt_number_size(array->kind), &wanted) || wanted > SIZE_MAX / 4)
        return fail(data, array, error, "would have %zu numbers, which is too many", count);
    if (array->format == RBT_VTU_APPENDED) {
        if (!data->appended.at) return fail(data, array, error, "is in the appended data, but the file has none");
        if (array->offset >= data->appended.length)
            return fail(data, array, error, "is at offset %zu of the appended data, which has %zu bytes",
                        array->offset, data->appended.length);
        s.at = data->appended.at + array->offset;
        s.end = data->appended.at + data->appended.length;
        s.base64 = data->appended_base64;
    }
    return data->packing ? load_compressed(data, array, &s, wanted, result, error)
                         : load_plain(data, array, &s, wanted, result, error);
}

static bool check_kind(const rbt_vtu_data *data, const rbt_vtu_array *array, rbt_error *error) {
    return array->kind < RBT_NUMBER_KINDS ||
           fail(data, array, error, "has numbers of type \"%.*s\", which is unknown",
                array->type.length < 40 ? (int)array->type.length : 40, array->type.at);
}

// A scanner of the text between the tags that knows the lines of the whole file.
static bool begin_text(const rbt_vtu_data *data, const rbt_vtu_array *array, size_t count, rbt_scan *s,
                       rbt_error *error) {
    *s = (rbt_scan){array->text.at, array->text.at + array->text.length, data->begin, data->file, 0};
    return count <= array->text.length / 2 + 1 ||
           fail(data, array, error, "should have %zu numbers, but its text has only %zu characters", count,
                array->text.length);
}

static bool fail_text(const rbt_vtu_array *array, rbt_scan *s, size_t i, size_t count, rbt_error *error) {
    char seen[48];
    return rbt_scan_fail(s, error, "array \"%.*s\" has %s instead of number %zu of %zu",
                         array->name.length < 60 ? (int)array->name.length : 60, array->name.at,
                         rbt_scan_at_end(s) ? "nothing" : rbt_scan_seen(s, seen), i + 1, count);
}

bool rbt_vtu_reals(rbt_vtu_data *data, const rbt_vtu_array *array, size_t count, double **values, rbt_error *error) {
    *values = NULL;
    loaded raw = {0};
    rbt_scan s;
    bool text = array->format == RBT_VTU_TEXT, good = check_kind(data, array, error);
    if (good && count)
        good = text ? begin_text(data, array, count, &s, error) : load(data, array, count, &raw, error);
    good = good && (*values = rbt_array_new(count, sizeof **values, "an array", error));
    if (good && count && !text) rbt_numbers_to_reals(array->kind, data->swap, raw.bytes, count, *values);
    for (size_t i = 0; text && good && i < count; i++)
        if (!rbt_scan_real(&s, *values + i)) good = fail_text(array, &s, i, count, error);
    free(raw.memory);
    if (!good) {
        free(*values);
        *values = NULL;
    }
    return good;
}

bool rbt_vtu_ints(rbt_vtu_data *data, const rbt_vtu_array *array, size_t count, int64_t **values, rbt_error *error) {
    *values = NULL;
    loaded raw = {0};
    rbt_scan s;
    bool text = array->format == RBT_VTU_TEXT, good = check_kind(data, array, error);
    if (good && count)
        good = text ? begin_text(data, array, count, &s, error) : load(data, array, count, &raw, error);
    good = good && (*values = rbt_array_new(count, sizeof **values, "an array", error));
    if (good && count && !text) {
        size_t whole = rbt_numbers_to_ints(array->kind, data->swap, raw.bytes, count, *values);
        if (whole < count) good = fail(data, array, error, "has no whole number that fits at place %zu", whole);
    }
    for (size_t i = 0; text && good && i < count; i++)
        if (!rbt_scan_int(&s, *values + i)) good = fail_text(array, &s, i, count, error);
    free(raw.memory);
    if (!good) {
        free(*values);
        *values = NULL;
    }
    return good;
}
