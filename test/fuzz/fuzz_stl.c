// The reader of STL files on arbitrary bytes.
#include "fuzz_mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_mesh(rbt_read_stl, data, size);
    return 0;
}
