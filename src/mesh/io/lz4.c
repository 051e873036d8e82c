#include "mesh/io/lz4.h"

#include <string.h>

enum { MATCH_MIN = 4, LENGTH_MORE = 15 };

// A length that begins with four bits of the token; false if the block ends inside it or it is beyond `most`.
static bool read_length(const unsigned char **at, const unsigned char *end, unsigned bits, size_t most,
                        size_t *length) {
    *length = bits;
    for (unsigned char more = 255; bits == LENGTH_MORE && more == 255; *length += more) {
        if (*at == end || *length > most) return false;
        more = *(*at)++;
    }
    return *length <= most;
}

bool rbt_lz4_decode(const unsigned char *block, size_t size, unsigned char *to, size_t wanted) {
    const unsigned char *at = block, *end = block + size;
    size_t made = 0, length;
    while (at < end) {
        unsigned token = *at++;
        if (!read_length(&at, end, token >> 4, wanted - made, &length) || length > (size_t)(end - at)) return false;
        if (length) memcpy(to + made, at, length);
        at += length;
        made += length;
        if (at == end) return made == wanted;
        if (end - at < 2) return false;
        size_t distance = at[0] | (size_t)at[1] << 8;
        at += 2;
        if (!distance || distance > made) return false;
        if (!read_length(&at, end, token & 15, wanted - made, &length)) return false;
        length += MATCH_MIN;
        if (length > wanted - made) return false;
        for (size_t i = 0; i < length; i++, made++) to[made] = to[made - distance];
    }
    return false;
}
