// Animated PNG (APNG, https://wiki.mozilla.org/APNG_Specification): an ordinary PNG of the first frame, an "acTL"
// chunk in front of it, an "fcTL" in front of every frame, and later frames as "fdAT" = sequence number + zlib data.
// A frame only carries the rectangle that changed. Rows are filtered by the filter of least absolute sum.
#include "base/memory.h"
#include "view/png.h"

#include <math.h>
#include <string.h>
#include <zlib.h>

static void put32(uint8_t *bytes, uint32_t value) {
    for (int i = 0; i < 4; i++) bytes[i] = (uint8_t)(value >> (24 - 8 * i));
}

static void put16(uint8_t *bytes, uint32_t value) {
    bytes[0] = (uint8_t)(value >> 8);
    bytes[1] = (uint8_t)value;
}

// A chunk of two parts: length, name, data, checksum of name and data.
static void write_chunk(FILE *stream, const char *name, const void *a, size_t a_size, const void *b, size_t b_size) {
    uint8_t word[4];
    put32(word, (uint32_t)(a_size + b_size));
    fwrite(word, 1, 4, stream);
    uLong sum = crc32(crc32(0, NULL, 0), (const Bytef *)name, 4);
    if (a_size) sum = crc32(sum, a, (uInt)a_size);
    if (b_size) sum = crc32(sum, b, (uInt)b_size);
    fwrite(name, 1, 4, stream);
    if (a_size) fwrite(a, 1, a_size, stream);
    if (b_size) fwrite(b, 1, b_size, stream);
    put32(word, (uint32_t)sum);
    fwrite(word, 1, 4, stream);
}

static uint8_t paeth(int left, int above, int corner) {
    int p = left + above - corner, pa = abs(p - left), pb = abs(p - above), pc = abs(p - corner);
    return (uint8_t)(pa <= pb && pa <= pc ? left : pb <= pc ? above : corner);
}

// Predictions of the five PNG filters (none, left, above, mean, Paeth); `above` is NULL in the first row.
static void filter_row(int filter, const uint8_t *row, const uint8_t *above, size_t size, uint8_t *out) {
    for (size_t i = 0; i < size; i++) {
        int left = i < 3 ? 0 : row[i - 3], up = above ? above[i] : 0, corner = above && i >= 3 ? above[i - 3] : 0;
        int guess = filter == 0 ? 0 : filter == 1 ? left : filter == 2 ? up : filter == 3 ? (left + up) / 2 : 0;
        if (filter == 4) guess = paeth(left, up, corner);
        out[i] = (uint8_t)(row[i] - guess);
    }
}

static uint64_t row_cost(const uint8_t *row, size_t size) {
    uint64_t cost = 0;
    for (size_t i = 0; i < size; i++) cost += row[i] < 128 ? row[i] : 256u - row[i];
    return cost;
}

typedef struct rectangle {
    int x, y, width, height;
} rectangle;

static rectangle changed(const rbt_image *before, const rbt_image *now) {
    int x0 = now->width, y0 = now->height, x1 = -1, y1 = -1;
    for (int y = 0; y < now->height; y++) {
        const rbt_rgb *a = &before->pixels[(size_t)y * (size_t)now->width];
        const rbt_rgb *b = &now->pixels[(size_t)y * (size_t)now->width];
        for (int x = 0; x < now->width; x++) {
            if (memcmp(&a[x], &b[x], sizeof *a) == 0) continue;
            if (y < y0) y0 = y;
            y1 = y;
            if (x < x0) x0 = x;
            if (x > x1) x1 = x;
        }
    }
    if (x1 < 0) return (rectangle){0, 0, 1, 1};  // the format has no empty frames
    return (rectangle){x0, y0, x1 - x0 + 1, y1 - y0 + 1};
}

// The zlib stream of a rectangle's filtered rows; free the result.
static uint8_t *pack(const rbt_image *image, rectangle r, size_t *packed_size, rbt_error *error) {
    size_t row_size = 3 * (size_t)r.width, raw_size = (row_size + 1) * (size_t)r.height;
    uLongf bound = compressBound(raw_size);
    uint8_t *raw = rbt_array_new(raw_size + 2 * row_size, 1, "filtered rows of a picture", error);
    uint8_t *packed = raw ? rbt_array_new(bound, 1, "a compressed picture", error) : NULL;
    if (!packed) {
        free(raw);
        return NULL;
    }
    uint8_t *trial = raw + raw_size;
    const uint8_t *above = NULL;
    for (int y = 0; y < r.height; y++) {
        const uint8_t *row = (const uint8_t *)&image->pixels[(size_t)(r.y + y) * (size_t)image->width + (size_t)r.x];
        uint8_t *out = raw + (size_t)y * (row_size + 1);
        uint64_t least = UINT64_MAX;
        for (int filter = 0; filter < 5; filter++) {
            filter_row(filter, row, above, row_size, trial);
            uint64_t cost = row_cost(trial, row_size);
            if (cost >= least) continue;
            least = cost;
            out[0] = (uint8_t)filter;
            memcpy(out + 1, trial, row_size);
        }
        above = row;
    }
    int status = compress2(packed, &bound, raw, raw_size, 6);
    free(raw);
    if (status != Z_OK) {
        free(packed);
        rbt_fail(error, "zlib could not compress a picture (code %d)", status);
        return NULL;
    }
    *packed_size = bound;
    return packed;
}

bool rbt_animation_begin(rbt_animation *animation, const char *path, size_t frame_count, double frames_per_second,
                         rbt_error *error) {
    *animation = (rbt_animation){0};
    if (!(frames_per_second >= 0.1 && frames_per_second <= 240))
        return rbt_fail(error, "%g frames per second: the limits are 0.1 and 240", frames_per_second);
    if (frame_count < 1 || frame_count > 1000000)
        return rbt_fail(error, "an animation of %zu frames: the limits are 1 and 1000000", frame_count);
    if (!rbt_new_file_open(&animation->file, path, error)) return false;
    animation->frame_count = (uint32_t)frame_count;
    animation->delay_numerator = (uint16_t)lround(1000 / fmax(frames_per_second, 1000.0 / UINT16_MAX));
    animation->delay_denominator = 1000;
    return true;
}

static bool write_head(rbt_animation *animation, const rbt_image *frame, rbt_error *error) {
    FILE *stream = animation->file.stream;
    uint8_t head[13] = {0}, control[8], intent = 0;
    put32(head, (uint32_t)frame->width);
    put32(head + 4, (uint32_t)frame->height);
    head[8] = 8;  // bits a channel
    head[9] = 2;  // red, green, blue
    put32(control, animation->frame_count);
    put32(control + 4, 0);  // for ever
    fwrite("\x89PNG\r\n\x1a\n", 1, 8, stream);
    write_chunk(stream, "IHDR", head, sizeof head, NULL, 0);
    write_chunk(stream, "sRGB", &intent, 1, NULL, 0);
    write_chunk(stream, "acTL", control, sizeof control, NULL, 0);
    return rbt_image_new(&animation->last, frame->width, frame->height, error);
}

bool rbt_animation_add(rbt_animation *animation, const rbt_image *frame, rbt_error *error) {
    if (!animation->added && !write_head(animation, frame, error)) {
        rbt_animation_abandon(animation);
        return false;
    }
    if (frame->width != animation->last.width || frame->height != animation->last.height) {
        rbt_fail(error, "frame %u of the animation has %d x %d pixels, the first one %d x %d", animation->added,
                 frame->width, frame->height, animation->last.width, animation->last.height);
        rbt_animation_abandon(animation);
        return false;
    }
    rectangle r = {0, 0, frame->width, frame->height};
    if (animation->added) r = changed(&animation->last, frame);
    size_t size;
    uint8_t *packed = pack(frame, r, &size, error);
    if (!packed) {
        rbt_animation_abandon(animation);
        return false;
    }
    FILE *stream = animation->file.stream;
    uint8_t control[26] = {0}, number[4];
    put32(control, animation->sequence++);
    put32(control + 4, (uint32_t)r.width);
    put32(control + 8, (uint32_t)r.height);
    put32(control + 12, (uint32_t)r.x);
    put32(control + 16, (uint32_t)r.y);
    put16(control + 20, animation->delay_numerator);
    put16(control + 22, animation->delay_denominator);
    write_chunk(stream, "fcTL", control, sizeof control, NULL, 0);  // keep what is there, overwrite the rectangle
    if (animation->added) {
        put32(number, animation->sequence++);
        write_chunk(stream, "fdAT", number, 4, packed, size);
    } else {
        write_chunk(stream, "IDAT", packed, size, NULL, 0);
    }
    free(packed);
    rbt_image_copy(&animation->last, 0, 0, frame);
    animation->added++;
    return true;
}

bool rbt_animation_end(rbt_animation *animation, rbt_error *error) {
    if (animation->added != animation->frame_count) {
        rbt_fail(error, "the animation was announced with %u frames but got %u", animation->frame_count,
                 animation->added);
        rbt_animation_abandon(animation);
        return false;
    }
    write_chunk(animation->file.stream, "IEND", NULL, 0, NULL, 0);
    rbt_image_free(&animation->last);
    return rbt_new_file_commit(&animation->file, error);
}

void rbt_animation_abandon(rbt_animation *animation) {
    rbt_image_free(&animation->last);
    rbt_new_file_abandon(&animation->file);
}
