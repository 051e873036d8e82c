// Any bytes, read as MEDIT files: an error or a sound mesh, no more memory than a multiple of the input.
#include "mesh/io/format.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const rbt_mesh_format format = {.name = "medit", .read = rbt_read_medit};
    rbt_bytes bytes = {malloc(size + 1), size};
    rbt_error error = {0};
    if (size) memcpy(bytes.data, data, size);
    bytes.data[size] = '\0';
    rbt_mesh *mesh = rbt_mesh_read_bytes(&format, "fuzz", &bytes, &error);
    if (!mesh && !error.message[0]) abort();  // a refusal without a reason
    rbt_mesh_free(mesh);
    free(bytes.data);
    return 0;
}
