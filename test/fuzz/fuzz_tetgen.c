// Any bytes, read as a TetGen pair: the .node half up to a line "---", the .ele half behind it (if there is one).
#include "mesh/core/build.h"
#include "mesh/io/format.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static rbt_bytes copy_of(const uint8_t *data, size_t size) {
    rbt_bytes bytes = {malloc(size + 1), size};
    if (size) memcpy(bytes.data, data, size);
    bytes.data[size] = '\0';
    return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *cut = size ? memmem(data, size, "\n---\n", 5) : NULL;
    size_t half = cut ? (size_t)(cut - data) : size;
    rbt_bytes nodes = copy_of(data, half), elements = {NULL, 0};
    if (cut) elements = copy_of(cut + 5, size - half - 5);
    rbt_error error = {0};
    rbt_mesh *mesh = rbt_mesh_new(&error);
    bool read = rbt_read_tetgen_pair("fuzz.node", &nodes, "fuzz.ele", cut ? &elements : NULL, mesh, &error) &&
                rbt_mesh_check_read(mesh, "fuzz.node", &error);
    if (!read && !error.message[0]) abort();  // a refusal without a reason
    rbt_mesh_free(mesh);
    free(nodes.data);
    free(elements.data);
    return 0;
}
