// The reader of obstacles.rbt on arbitrary bytes, for a scene with two obstacles.
#include "fuzz_mesh.h"
#include "out/obstacle_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    rbt_bytes bytes = fuzz_bytes(data, size);
    rbt_error error = {0};
    rbt_obstacle_geometry *geometry[2] = {NULL, NULL};
    bool good = rbt_obstacle_file_parse("fuzz", &bytes, 2, geometry, &error);
    if (!good && !error.message[0]) abort();  // a failure without a sentence
    for (int i = 0; i < 2; i++) {
        const rbt_obstacle_geometry *g = geometry[i];
        for (size_t n = 0; good && g && n < g->node_count; n++) {
            double x[3];
            rbt_obstacle_geometry_node(g, n, 0.37, x);
        }
        rbt_obstacle_geometry_free(geometry[i]);
    }
    free(bytes.data);
    return 0;
}
