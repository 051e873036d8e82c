#include "mesh/io/read_pc2.h"

#include <math.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are read as they lie in memory");

enum { HEAD = 32, POINTS_AT = 16, SAMPLES_AT = 28, POINT = 3 * sizeof(float) };

static int32_t integer_at(const char *bytes) {
    int32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

bool rbt_read_pc2(const char *path, const rbt_bytes *bytes, rbt_point_cache *cache, rbt_error *error) {
    static const char magic[12] = "POINTCACHE2";
    *cache = (rbt_point_cache){0};
    if (bytes->size < HEAD)
        return rbt_fail_at(error, path, 0, 0, "has %zu bytes, but a PC2 file begins with a head of %d", bytes->size,
                           HEAD);
    if (memcmp(bytes->data, magic, sizeof magic) != 0)
        return rbt_fail_at(error, path, 0, 0, "is no PC2 file: it does not begin with POINTCACHE2");
    int32_t version = integer_at(bytes->data + sizeof magic), points = integer_at(bytes->data + POINTS_AT),
            samples = integer_at(bytes->data + SAMPLES_AT);
    if (version != 1) return rbt_fail_at(error, path, 0, 0, "is of version %d; version 1 can be read", version);
    if (points < 1 || samples < 1)
        return rbt_fail_at(error, path, 0, 0, "has %d samples of %d points; both must be at least 1", samples,
                           points);
    uint64_t need = (uint64_t)points * (uint64_t)samples, left = bytes->size - HEAD;
    if (left % POINT != 0 || need != left / POINT)
        return rbt_fail_at(
            error, path, 0, 0,
            "%d samples of %d points are %llu positions, but the file has %zu bytes for them, 12 each: it "
            "was cut off or damaged",
            samples, points, (unsigned long long)need, (size_t)left);
    *cache = (rbt_point_cache){(size_t)points, (size_t)samples, bytes->data + HEAD};
    return true;
}

bool rbt_point_cache_sample(const rbt_point_cache *cache, const char *path, size_t sample, double *x,
                            rbt_error *error) {
    const char *at = cache->samples + sample * cache->point_count * POINT;
    for (size_t i = 0; i < 3 * cache->point_count; i++) {
        float value;
        memcpy(&value, at + i * sizeof value, sizeof value);
        if (!isfinite(value))
            return rbt_fail_at(error, path, 0, 0, "point %zu of frame %zu has a coordinate that is not a number",
                               i / 3, sample);
        x[i] = value;
    }
    return true;
}
