// The reader of checkpoints on arbitrary bytes. The input's first byte chooses whether the rest gets a checksum that
// fits, so that the fuzzer also reaches what lies behind that check, and real compressed data in place of its own.
#include "model/fingerprint.h"
#include "model/model.h"
#include "out/checkpoint.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 400, SUM = 8, ROOM = 1 << 16 };

// Head as given, the bytes behind it compressed, sizes and checksum set right.
static size_t pack(const uint8_t *data, size_t size, char *out) {
    memcpy(out, data, HEAD);
    size_t packed = ZSTD_compress(out + HEAD, ROOM - HEAD - SUM, data + HEAD, size - HEAD, 1);
    if (ZSTD_isError(packed)) return 0;
    uint64_t sizes[2] = {size - HEAD, packed};
    memcpy(out + 64, sizes, sizeof sizes);
    return HEAD + packed + SUM;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1 || size > ROOM / 2) return 0;
    uint8_t choice = *data++;
    size--;
    char *bytes = calloc(ROOM, 1);
    size_t n = size;
    if ((choice & 2) && size >= HEAD) n = pack(data, size, bytes);
    else memcpy(bytes, data, size);
    if ((choice & 1) && n >= HEAD + SUM) {
        uint64_t checksum = rbt_hash(0, bytes, n - SUM);
        memcpy(bytes + n - SUM, &checksum, SUM);
    }
    char *exact = malloc(n ? n : 1);  // so that the sanitizer sees a byte read too far
    memcpy(exact, bytes, n);
    free(bytes);
    rbt_state state;
    rbt_error error = {0};
    if (rbt_checkpoint_parse("fuzz", exact, n, NULL, RBT_SAME_NODES, &state, &error)) rbt_state_clear(&state);
    else if (!error.message[0] || state.x) abort();  // a refusal without a reason, or with something left
    free(exact);
    return 0;
}
