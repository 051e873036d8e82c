#include "out/pc2.h"

#include <limits.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are written as they lie in memory");

typedef struct head {
    char magic[12];
    int32_t version, points;
    float first_frame, frames_per_sample;
    int32_t samples;
} head;
_Static_assert(sizeof(head) == 32, "PC2 has a head of 32 bytes");

static void count_text(int64_t frames, char text[RBT_COUNT_WIDTH]) {
    int32_t samples = frames < INT32_MAX ? (int32_t)frames : INT32_MAX;
    memcpy(text, &samples, sizeof samples);
}

bool rbt_pc2_open(rbt_frame_file *file, const char *path, size_t vertex_count, int64_t from_frame, rbt_error *error) {
    if (vertex_count == 0 || vertex_count > INT32_MAX)
        return rbt_fail_at(error, path, 0, 0, "a PC2 file holds 1 to %d points, but the surface has %zu", INT32_MAX,
                           vertex_count);
    const head h = {"POINTCACHE2", 1, (int32_t)vertex_count, 0, 1, 0};
    const rbt_frame_file_def def = {.path = path,
                                    .head = &h,
                                    .head_size = sizeof h,
                                    .tail = "",
                                    .piece_size = vertex_count * 3 * sizeof(float),
                                    .count_offset = offsetof(head, samples),
                                    .count_width = sizeof h.samples,
                                    .count_text = count_text};
    return rbt_frame_file_open(file, &def, from_frame, error);
}

bool rbt_pc2_add(rbt_frame_file *file, size_t vertex_count, const double *vertices, float *scratch,
                 rbt_error *error) {
    if (file->frames >= INT32_MAX)
        return rbt_fail_at(error, file->path, 0, 0, "a PC2 file holds at most %d frames", INT32_MAX);
    for (size_t i = 0; i < 3 * vertex_count; i++) scratch[i] = (float)vertices[i];
    return rbt_frame_file_add(file, scratch, 3 * vertex_count * sizeof *scratch, error);
}
