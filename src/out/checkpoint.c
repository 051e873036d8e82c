#include "out/checkpoint.h"

#include "model/fingerprint.h"
#include "out/numbered.h"
#include "step/core/energy_watch.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

typedef struct head {
    char magic[8];
    uint32_t version, head_size;
    uint64_t fingerprint;
    int64_t frame, step;
    double t;
    uint64_t node_count, memory_size;
    uint64_t payload_size, packed_size;
    rbt_tally tally;
    uint64_t cuts_size, input_size, watch_size;
    uint64_t method;
} head;
_Static_assert(sizeof(head) == 400, "the head has no gaps");

static const char MAGIC[8] = {'R', 'B', 'T', 'C', 'K', 'P', 'T', '1'};
enum { VERSION = 5, LEVEL = 1, NODE_BYTES = 6 * sizeof(double) };

// zstd never unpacks more than this many bytes from one: a block of 128 KiB takes at least 4 bytes.
enum { MAX_RATIO = 1 << 15 };

// ---- Writing

static bool join_payload(const rbt_state *state, rbt_bytes *payload, rbt_error *error) {
    size_t part = state->node_count * 3 * sizeof(double);
    payload->size = 2 * part + state->memory_size + state->cuts_size + state->input_size + state->watch_size;
    payload->data = rbt_array_new(payload->size, 1, "a checkpoint", error);
    if (!payload->data) return false;
    char *at = payload->data;
    const struct {
        const void *bytes;
        size_t size;
    } parts[] = {{state->x, part},
                 {state->v, part},
                 {state->memory, state->memory_size},
                 {state->cuts, state->cuts_size},
                 {state->input, state->input_size},
                 {state->watch, state->watch_size}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; at += parts[i++].size)
        if (parts[i].size) memcpy(at, parts[i].bytes, parts[i].size);
    return true;
}

static uint64_t fingerprint(const rbt_model *model) {
    return model->uncut_fingerprint ? model->uncut_fingerprint : rbt_model_fingerprint(model);
}

bool rbt_checkpoint_pack(const rbt_model *model, const rbt_state *state, rbt_bytes *bytes, rbt_error *error) {
    rbt_bytes payload;
    if (!join_payload(state, &payload, error)) return false;
    size_t bound = ZSTD_compressBound(payload.size), whole = sizeof(head) + bound + sizeof(uint64_t);
    char *file = rbt_array_new(whole, 1, "a checkpoint", error);
    size_t packed = file ? ZSTD_compress(file + sizeof(head), bound, payload.data, payload.size, LEVEL) : 0;
    free(payload.data);
    if (!file) return false;
    if (ZSTD_isError(packed)) {
        free(file);
        return rbt_fail(error, "zstd could not compress %zu bytes: %s", payload.size, ZSTD_getErrorName(packed));
    }
    head h = {.version = VERSION,
              .head_size = sizeof h,
              .fingerprint = model ? fingerprint(model) : state->fingerprint,
              .frame = state->frame,
              .step = state->step,
              .t = state->t,
              .node_count = state->node_count,
              .memory_size = state->memory_size,
              .cuts_size = state->cuts_size,
              .input_size = state->input_size,
              .watch_size = state->watch_size,
              .method = state->method,
              .payload_size = payload.size,
              .packed_size = packed,
              .tally = state->tally};
    memcpy(h.magic, MAGIC, sizeof MAGIC);
    memcpy(file, &h, sizeof h);
    uint64_t checksum = rbt_hash(0, file, sizeof h + packed);
    memcpy(file + sizeof h + packed, &checksum, sizeof checksum);
    *bytes = (rbt_bytes){file, sizeof h + packed + sizeof checksum};
    return true;
}

bool rbt_checkpoint_write(const char *path, const rbt_model *model, const rbt_state *state, rbt_error *error) {
    rbt_bytes bytes;
    if (!rbt_checkpoint_pack(model, state, &bytes, error)) return false;
    bool written = rbt_file_write(path, bytes.data, bytes.size, error);
    free(bytes.data);
    return written;
}

// ---- Reading

static bool check_wrapping(const char *name, const char *bytes, size_t size, head *h, rbt_error *error) {
    if (size < sizeof MAGIC || memcmp(bytes, MAGIC, sizeof MAGIC) != 0)
        return rbt_fail_at(error, name, 0, 0, "is not a checkpoint: it does not begin with RBTCKPT1");
    if (size < sizeof *h + sizeof(uint64_t))
        return rbt_fail_at(error, name, 0, 0, "is cut short: %zu bytes, but a checkpoint has at least %zu", size,
                           sizeof *h + sizeof(uint64_t));
    memcpy(h, bytes, sizeof *h);
    if (h->version != VERSION || h->head_size != sizeof *h)
        return rbt_fail_at(error, name, 0, 0,
                           "is a checkpoint of version %u with a head of %u bytes, but this program reads version %d "
                           "with %zu bytes",
                           h->version, h->head_size, VERSION, sizeof *h);
    size_t packed = size - sizeof *h - sizeof(uint64_t);
    if (h->packed_size != packed)
        return rbt_fail_at(error, name, 0, 0,
                           "is cut short or has grown: %zu bytes of data where its head promises %llu", packed,
                           (unsigned long long)h->packed_size);
    uint64_t stored, found = rbt_hash(0, bytes, sizeof *h + packed);
    memcpy(&stored, bytes + sizeof *h + packed, sizeof stored);
    if (stored != found)
        return rbt_fail_at(error, name, 0, 0, "is damaged: its checksum is %016llx, but its bytes give %016llx",
                           (unsigned long long)stored, (unsigned long long)found);
    return true;
}

static bool check_values(const char *name, const head *h, rbt_error *error) {
    const rbt_tally *tally = &h->tally;
    if (h->frame < 0 || h->step < 0 || !isfinite(h->t))
        return rbt_fail_at(error, name, 0, 0, "has frame %lld, step %lld and time %g, which no run can have",
                           (long long)h->frame, (long long)h->step, h->t);
    if (tally->steps < 0 || tally->unconverged < 0 || tally->unconverged > tally->steps ||
        !isfinite(tally->worst_residual) || !isfinite(tally->first))
        return rbt_fail_at(error, name, 0, 0,
                           "has %lld steps that did not converge of %lld, the worst at %g times its tolerance, the "
                           "first at %g s, which no run can have",
                           (long long)tally->unconverged, (long long)tally->steps, tally->worst_residual,
                           tally->first);
    if (!rbt_ledger_is_sound(&tally->ledger))
        return rbt_fail_at(
            error, name, 0, 0,
            "has an energy of %g J, work of %g J and a gain of %g J at look %lld, which no run can have",
            tally->ledger.energy, tally->ledger.work, tally->ledger.gain, (long long)tally->ledger.looks);
    uint64_t most = SIZE_MAX / 8;
    if (h->node_count > INT32_MAX || h->memory_size > most || h->cuts_size > most || h->input_size > most ||
        h->watch_size > most ||
        h->payload_size != h->node_count * NODE_BYTES + h->memory_size + h->cuts_size + h->input_size + h->watch_size)
        return rbt_fail_at(error, name, 0, 0,
                           "has %llu bytes of data, which does not fit %llu nodes, %llu bytes of memory, %llu bytes "
                           "about cuts, %llu of "
                           "forces and %llu of a watch",
                           (unsigned long long)h->payload_size, (unsigned long long)h->node_count,
                           (unsigned long long)h->memory_size, (unsigned long long)h->cuts_size,
                           (unsigned long long)h->input_size, (unsigned long long)h->watch_size);
    if (h->payload_size / MAX_RATIO > h->packed_size)
        return rbt_fail_at(error, name, 0, 0, "has %llu bytes, which cannot hold the %llu bytes its head promises",
                           (unsigned long long)h->packed_size, (unsigned long long)h->payload_size);
    return true;
}

static bool check_model(const char *name, const head *h, const rbt_model *model, rbt_checkpoint_match match,
                        rbt_error *error) {
    if (!model) return true;
    if (h->node_count != model->node_count && !h->cuts_size)  // cut bodies have more, which is checked with the cuts
        return rbt_fail_at(error, name, 0, 0,
                           "has %llu nodes, but the scene has %zu; the bodies' meshes must be the "
                           "same to continue from it",
                           (unsigned long long)h->node_count, model->node_count);
    if (match == RBT_SAME_MODEL && h->fingerprint != fingerprint(model))
        return rbt_fail_at(error, name, 0, 0,
                           "was made with another scene (another mesh, material, force, motion or step); resume with "
                           "the scene as it was, or restart from a frame with --from-frame");
    return true;
}

static bool check_content(const char *name, const head *h, const char *packed, rbt_error *error) {
    return ZSTD_getFrameContentSize(packed, h->packed_size) == h->payload_size ||
           rbt_fail_at(error, name, 0, 0, "does not hold the %llu bytes its head promises",
                       (unsigned long long)h->payload_size);
}

static bool unpack(const char *name, const char *packed, const head *h, char *payload, rbt_error *error) {
    size_t got = ZSTD_decompress(payload, h->payload_size, packed, h->packed_size);
    if (ZSTD_isError(got))
        return rbt_fail_at(error, name, 0, 0, "cannot be decompressed: %s", ZSTD_getErrorName(got));
    if (got != h->payload_size)
        return rbt_fail_at(error, name, 0, 0, "holds %zu bytes instead of the %llu its head promises", got,
                           (unsigned long long)h->payload_size);
    return true;
}

static bool check_finite(const char *name, const rbt_state *state, rbt_error *error) {
    for (size_t i = 0; i < 3 * state->node_count; i++)
        if (!isfinite(state->x[i]) || !isfinite(state->v[i]))
            return rbt_fail_at(error, name, 0, 0, "has a position of %g and a velocity of %g at node %zu",
                               state->x[i], state->v[i], i / 3);
    return true;
}

// A part of the payload, which `at` is moved behind; NULL if it is empty
static void *take_part(const char **at, size_t size, bool *good, rbt_error *error) {
    void *part = size ? rbt_array_new(size, 1, "a checkpoint", error) : NULL;
    *good = *good && (part || !size);
    if (part) memcpy(part, *at, size);
    *at += size;
    return part;
}

bool rbt_checkpoint_parse(const char *name, const void *bytes, size_t size, const rbt_model *model,
                          rbt_checkpoint_match match, rbt_state *state, rbt_error *error) {
    *state = (rbt_state){0};
    head h;
    if (!check_wrapping(name, bytes, size, &h, error) || !check_values(name, &h, error) ||
        !check_model(name, &h, model, match, error) ||
        !check_content(name, &h, (const char *)bytes + sizeof h, error))
        return false;
    char *payload = rbt_array_new(h.payload_size, 1, "a checkpoint", error);
    bool good = payload && unpack(name, (const char *)bytes + sizeof h, &h, payload, error);
    if (good) {
        const char *at = payload;
        *state = (rbt_state){.frame = h.frame,
                             .step = h.step,
                             .t = h.t,
                             .node_count = h.node_count,
                             .tally = h.tally,
                             .memory_size = h.memory_size,
                             .cuts_size = h.cuts_size,
                             .input_size = h.input_size,
                             .watch_size = h.watch_size,
                             .fingerprint = h.fingerprint,
                             .method = h.method};
        state->x = take_part(&at, h.node_count * 3 * sizeof(double), &good, error);
        state->v = take_part(&at, h.node_count * 3 * sizeof(double), &good, error);
        state->memory = take_part(&at, h.memory_size, &good, error);
        state->cuts = take_part(&at, h.cuts_size, &good, error);
        state->input = take_part(&at, h.input_size, &good, error);
        state->watch = take_part(&at, h.watch_size, &good, error);
        good = good && check_finite(name, state, error);
        if (!good) rbt_state_clear(state);
    }
    free(payload);
    return good;
}

bool rbt_checkpoint_read(const char *path, const rbt_model *model, rbt_checkpoint_match match, rbt_state *state,
                         rbt_error *error) {
    *state = (rbt_state){0};
    rbt_bytes bytes;
    if (!rbt_file_read(path, &bytes, error)) return false;
    bool good = rbt_checkpoint_parse(path, bytes.data, bytes.size, model, match, state, error);
    free(bytes.data);
    return good;
}

// ---- The checkpoints of a run

static char *checkpoint_folder(const char *folder, rbt_error *error) {
    char *path = rbt_path_join(folder, "checkpoints");
    if (!path) rbt_fail_memory(error, strlen(folder), "a folder name");
    return path;
}

char *rbt_checkpoint_path(const char *folder, int64_t frame, rbt_error *error) {
    char *inside = checkpoint_folder(folder, error);
    char *path = inside ? rbt_numbered_path(inside, "", frame, ".rbt", error) : NULL;
    free(inside);
    return path;
}

static bool list(const char *folder, int64_t **frames, size_t *count, rbt_error *error) {
    char *inside = checkpoint_folder(folder, error);
    bool good = inside && rbt_numbered_list(inside, "", ".rbt", frames, count, error);
    free(inside);
    return good;
}

static bool read_frame(const char *folder, int64_t frame, const rbt_model *model, rbt_checkpoint_match match,
                       rbt_state *state, rbt_error *error) {
    char *path = rbt_checkpoint_path(folder, frame, error);
    bool good = path && rbt_checkpoint_read(path, model, match, state, error);
    if (good && state->frame != frame) {
        good = rbt_fail_at(error, path, 0, 0, "holds frame %lld, not the frame of its name", (long long)state->frame);
        rbt_state_clear(state);
    }
    free(path);
    return good;
}

bool rbt_checkpoint_newest(const char *folder, int64_t limit, const rbt_model *model, rbt_checkpoint_match match,
                           rbt_state *state, rbt_error *error) {
    *state = (rbt_state){0};
    int64_t *frames;
    size_t count;
    if (!list(folder, &frames, &count, error)) return false;
    bool found = false, tried = false;
    rbt_error ignored;
    for (size_t i = count; i-- > 0 && !found;) {
        if (frames[i] > limit) continue;
        found = read_frame(folder, frames[i], model, match, state, tried ? &ignored : error);
        tried = true;
    }
    if (!tried && count)
        rbt_fail_at(error, folder, 0, 0, "has no checkpoint up to frame %lld: the oldest one is of frame %lld",
                    (long long)limit, (long long)frames[0]);
    else if (!tried) rbt_fail_at(error, folder, 0, 0, "has no checkpoints; start the run from the beginning");
    free(frames);
    return found;
}

bool rbt_checkpoint_prune(const char *folder, int keep, rbt_error *error) {
    int64_t *frames;
    size_t count;
    if (keep <= 0) return true;
    if (!list(folder, &frames, &count, error)) return false;
    bool good = true;
    for (size_t i = 0; good && i + (size_t)keep < count; i++) {
        char *path = rbt_checkpoint_path(folder, frames[i], error);
        good = path != NULL;
        if (path && unlink(path) != 0 && errno != ENOENT)
            good = rbt_fail_at(error, path, 0, 0, "cannot remove the old checkpoint: %s", strerror(errno));
        free(path);
    }
    free(frames);
    return good;
}

bool rbt_checkpoint_remove_after(const char *folder, int64_t frame, rbt_error *error) {
    char *inside = checkpoint_folder(folder, error);
    bool good = inside && rbt_numbered_remove(inside, "", ".rbt", frame, error);
    free(inside);
    return good;
}
