#include "out/obj_frames.h"

#include "base/file.h"

// A group's name ends at white space, so that is replaced.
static void write_name(FILE *stream, const char *name) {
    for (const char *c = name; *c; c++) putc((unsigned char)*c <= ' ' ? '_' : *c, stream);
}

bool rbt_obj_write(const char *path, const rbt_surface *surface, const double *vertices, rbt_error *error) {
    rbt_new_file file;
    if (!rbt_new_file_open(&file, path, error)) return false;
    fputs("o surface\n", file.stream);
    for (size_t v = 0; v < surface->vertex_count; v++)  // nine digits give a 32-bit float back exactly
        fprintf(file.stream, "v %.9g %.9g %.9g\n", vertices[3 * v], vertices[3 * v + 1], vertices[3 * v + 2]);
    for (size_t b = 0; b < surface->part_count; b++) {
        if (surface->parts[b].triangle_begin == surface->parts[b].triangle_end) continue;
        fputs("g ", file.stream);
        write_name(file.stream, surface->parts[b].name);
        putc('\n', file.stream);
        for (size_t t = surface->parts[b].triangle_begin; t < surface->parts[b].triangle_end; t++) {
            const int32_t *corner = surface->triangles + 3 * t;
            fprintf(file.stream, "f %lld %lld %lld\n", corner[0] + 1LL, corner[1] + 1LL, corner[2] + 1LL);
        }
    }
    return rbt_new_file_commit(&file, error);
}
