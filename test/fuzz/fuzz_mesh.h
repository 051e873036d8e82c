// What the fuzz targets of the mesh readers share: arbitrary bytes become a file in memory, the reader fills an empty
// mesh, and what it accepts must pass the checks that every caller relies on.
#ifndef FUZZ_MESH_H
#define FUZZ_MESH_H

#include "mesh/core/build.h"
#include "mesh/io/format.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline rbt_bytes fuzz_bytes(const uint8_t *data, size_t size) {
    rbt_bytes bytes = {malloc(size + 1), size};
    if (!bytes.data) abort();
    if (size) memcpy(bytes.data, data, size);
    bytes.data[size] = '\0';
    return bytes;
}

typedef bool (*fuzz_reader)(const char *path, const rbt_bytes *bytes, rbt_mesh *mesh, rbt_error *error);

static inline void fuzz_mesh(fuzz_reader read, const uint8_t *data, size_t size) {
    rbt_bytes bytes = fuzz_bytes(data, size);
    rbt_error error = {0};
    rbt_mesh mesh = {0};
    bool good = read("fuzz", &bytes, &mesh, &error);
    if (!good && !error.message[0]) abort();  // a failure without a sentence
    if (good && rbt_mesh_check_read(&mesh, "fuzz", &error) && !rbt_mesh_check_indices(&mesh, "fuzz", &error)) abort();
    rbt_mesh_clear(&mesh);
    free(bytes.data);
}

#endif
