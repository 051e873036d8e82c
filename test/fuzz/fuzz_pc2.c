// The reader of PC2 point caches on arbitrary bytes.
#include "fuzz_mesh.h"
#include "mesh/io/read_pc2.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    rbt_bytes bytes = fuzz_bytes(data, size);
    rbt_error error = {0};
    rbt_point_cache cache;
    bool good = rbt_read_pc2("fuzz", &bytes, &cache, &error);
    if (!good && !error.message[0]) abort();  // a failure without a sentence
    double *x = good ? malloc(3 * cache.point_count * sizeof *x) : NULL;
    for (size_t k = 0; good && x && k < cache.sample_count; k++) {
        error.message[0] = 0;
        bool finite = rbt_point_cache_sample(&cache, "fuzz", k, x, &error);
        if (finite == (error.message[0] != 0)) abort();
        for (size_t i = 0; finite && i < 3 * cache.point_count; i++)
            if (!isfinite(x[i])) abort();
    }
    free(x);
    free(bytes.data);
    return 0;
}
