#include "serve/export.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "serve/page.h"
#include "serve/replay.h"
#include "serve/request.h"

#include <math.h>
#include <string.h>
#include <zlib.h>

static const uint32_t EXPORTED = RBT_SHOWN_ALL;

typedef struct writer {
    rbt_replay *replay;
    FILE *stream;
    rbt_error *error;
    double low[3], high[3], most[RBT_SHOWN_FIELDS];
    uint32_t known;  // fields that every frame has
    bool labels;
    // The encoding so far
    uint64_t shape;
    int depth;                 // frames of this shape before, at most 2
    size_t nodes;              // drawn
    uint16_t *before, *first;  // (3 nodes) quantised, of the last frame and of the one before it
    unsigned char *last;       // (RBT_SHOWN_FIELDS nodes) fields of the last frame
    uint64_t written;          // bytes of pieces
    unsigned char carry[3];    // of base64
    int carried;
    rbt_text shapes, frames;
} writer;

// ---- Bytes

static void put_base64(writer *w, const unsigned char *bytes, size_t size, bool end) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char out[4096];
    size_t n = 0;
    for (size_t i = 0; i < size || (end && w->carried);) {
        while (w->carried < 3 && i < size) w->carry[w->carried++] = bytes[i++];
        if (w->carried < 3 && !end) break;
        int given = w->carried;
        for (int k = given; k < 3; k++) w->carry[k] = 0;
        const unsigned char *c = w->carry;
        const unsigned places[4] = {c[0] >> 2u, (c[0] & 3u) << 4u | c[1] >> 4u, (c[1] & 15u) << 2u | c[2] >> 6u,
                                    c[2] & 63u};
        for (int k = 0; k < 4; k++) out[n++] = k <= given ? letters[places[k]] : '=';
        w->carried = 0;
        if (n == sizeof out || i >= size) {
            fwrite(out, 1, n, w->stream);
            n = 0;
        }
    }
    fwrite(out, 1, n, w->stream);
}

// Deflates a piece and writes it; its place goes into the text as members of an object.
static bool put_piece(writer *w, const unsigned char *bytes, size_t size, rbt_text *text) {
    z_stream z = {0};
    if (size > UINT32_MAX / 2) return rbt_fail(w->error, "a frame of %zu bytes is too large for a page", size);
    if (deflateInit2(&z, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        return rbt_fail_memory(w->error, 1 << 18, "compressing");
    size_t room = deflateBound(&z, (uLong)size);
    unsigned char *out = rbt_array_new(1, room, "compressing", w->error);
    bool good = out != NULL;
    if (good) {
        z.next_in = (unsigned char *)(uintptr_t)bytes;
        z.avail_in = (uInt)size;
        z.next_out = out;
        z.avail_out = (uInt)room;
        good = deflate(&z, Z_FINISH) == Z_STREAM_END || rbt_fail(w->error, "a frame cannot be compressed");
    }
    if (good) {
        rbt_text_add(text, "\"at\": %llu, \"size\": %lu", (unsigned long long)w->written, z.total_out);
        w->written += z.total_out;
        put_base64(w, out, z.total_out, false);
    }
    deflateEnd(&z);
    free(out);
    return good;
}

// ---- First all frames are measured

static bool measure(writer *w) {
    // A finer surface has no stresses; it is what people want to see.
    w->known = EXPORTED & (rbt_replay_is_finer(w->replay) ? RBT_SHOWN_SPEED : EXPORTED);
    for (int k = 0; k < 3; k++) w->low[k] = INFINITY, w->high[k] = -INFINITY;
    for (size_t i = 0; i < rbt_replay_count(w->replay); i++) {
        rbt_replay_values v;
        if (!rbt_replay_load(w->replay, i, w->known, &v, w->error)) return false;
        for (size_t n = 0; n < v.shape->node_count; n++)
            for (int k = 0; k < 3; k++) {
                double x = v.x[3 * (size_t)v.shape->node[n] + (size_t)k];
                if (!isfinite(x)) return rbt_fail(w->error, "frame %zu has positions that are no numbers", i);
                w->low[k] = fmin(w->low[k], x);
                w->high[k] = fmax(w->high[k], x);
            }
        for (int k = 0; k < RBT_SHOWN_FIELDS; k++) {
            if (!v.fields[k]) w->known &= ~(1u << k);
            for (size_t n = 0; v.fields[k] && n < v.shape->node_count; n++)
                w->most[k] = fmax(w->most[k], v.fields[k][v.shape->node[n]]);
        }
    }
    return true;
}

// ---- Then they are written

static bool begin_shape(writer *w, const rbt_replay_values *v) {
    size_t n = v->shape->node_count;
    free(w->before);
    free(w->first);
    free(w->last);
    w->before = rbt_array_new(n, 3 * sizeof *w->before, "a frame", w->error);
    w->first = rbt_array_new(n, 3 * sizeof *w->first, "a frame", w->error);
    w->last = rbt_array_new(n, RBT_SHOWN_FIELDS, "a frame", w->error);
    if (!w->before || !w->first || !w->last) return false;
    w->nodes = n;
    w->shape = v->shape->id;
    w->depth = 0;
    rbt_message *m = rbt_drawn_message(v->shape, v->scenery, 0, 0, w->error);
    if (!m) return false;
    rbt_text_add(&w->shapes, "%s{", w->shapes.size ? ", " : "");
    bool good = put_piece(w, m->bytes, m->size, &w->shapes);
    rbt_text_add(&w->shapes, ", \"id\": \"%llx\"}", (unsigned long long)v->shape->id);
    rbt_message_drop(m);
    return good;
}

static void put_positions(writer *w, const rbt_replay_values *v, unsigned char *to) {
    size_t n = w->nodes;
    for (size_t k = 0; k < 3; k++, to += 2 * n)
        for (size_t i = 0; i < n; i++) {
            double size = w->high[k] - w->low[k], x = v->x[3 * (size_t)v->shape->node[i] + k];
            uint16_t q = size > 0 ? (uint16_t)lround((x - w->low[k]) / size * 65535) : 0, expected = 0;
            uint16_t *before = &w->before[k * n + i], *first = &w->first[k * n + i];
            if (w->depth == 1) expected = *before;
            if (w->depth > 1) expected = (uint16_t)(2 * *before - *first);
            uint16_t rest = (uint16_t)(q - expected);
            to[i] = (unsigned char)(rest & 255);
            to[n + i] = (unsigned char)(rest >> 8);
            *first = *before;
            *before = q;
        }
}

static unsigned char quantise(const writer *w, int field, double value) {
    if (1u << field == RBT_SHOWN_LABEL) return (unsigned char)fmin(fmax(value + 1, 0), 255);
    return w->most[field] > 0 ? (unsigned char)lround(255 * sqrt(fmax(value, 0) / w->most[field])) : 0;
}

static bool put_frame(writer *w, size_t number) {
    rbt_replay_values v;
    if (!rbt_replay_load(w->replay, number, w->known, &v, w->error)) return false;
    if ((!w->before || v.shape->id != w->shape) && !begin_shape(w, &v)) return false;
    size_t n = w->nodes, fields = 0, around = v.obstacles_move ? v.scenery->node_count : 0;
    for (int k = 0; k < RBT_SHOWN_FIELDS; k++) fields += w->known >> k & 1;
    size_t size = 6 * n + fields * n + 12 * around;
    unsigned char *bytes = rbt_array_new(1, size, "a frame", w->error), *to = bytes;
    if (!bytes) return false;
    put_positions(w, &v, to);
    to += 6 * n;
    for (int k = 0; k < RBT_SHOWN_FIELDS; k++) {
        if (!(w->known >> k & 1)) continue;
        unsigned char *last = w->last + (size_t)k * n;
        for (size_t i = 0; i < n; i++) {
            unsigned char q = quantise(w, k, v.fields[k][v.shape->node[i]]);
            to[i] = (unsigned char)(q - last[i]);
            last[i] = q;
        }
        to += n;
    }
    for (size_t i = 0; i < 3 * around; i++, to += 4) {
        float x = (float)v.scenery->nodes[i];
        memcpy(to, &x, sizeof x);
    }
    if (w->depth < 2) w->depth++;
    rbt_text_add(&w->frames, "%s{", number ? ",\n" : "");
    bool good = put_piece(w, bytes, size, &w->frames);
    rbt_text_add(&w->frames, ", \"time\": %.17g, \"shape\": \"%llx\", \"nodes\": %zu, \"around\": %zu}",
                 rbt_replay_time(w->replay, number), (unsigned long long)w->shape, n, around);
    free(bytes);
    return good;
}

// ---- The head

static void add_three(rbt_text *t, const char *name, const double *v) {
    rbt_text_add(t, "\"%s\": [%.17g, %.17g, %.17g], ", name, v[0], v[1], v[2]);
}

static bool add_files(writer *w, rbt_text *t) {
    rbt_text_add(t, "\"files\": {");
    for (int i = 0; rbt_served_file(i); i++) {
        rbt_text content = {0};
        for (size_t from = 0;;) {
            rbt_message *m = rbt_replay_file(w->replay, i, (double)from, w->error);
            if (!m) return rbt_text_free(&content), false;
            size_t head = 32 + 16, size = m->size - head;
            rbt_text_add_bytes(&content, m->bytes + head, size);
            rbt_message_drop(m);
            from += size;
            if (!size) break;
        }
        rbt_text_add(t, "%s\"%s\": ", i ? ", " : "", rbt_served_file(i));
        rbt_text_add_json(t, content.text ? content.text : "");
        t->failed = t->failed || content.failed;
        rbt_text_free(&content);
    }
    rbt_text_add(t, "}");
    return true;
}

// JSON inside of an HTML element: nothing in it may look like the element's end.
static void put_json(const writer *w, const rbt_text *t) {
    for (size_t i = 0; i < t->size; i++) {
        if (t->text[i] == '<') fputs("\\u003c", w->stream);
        else fputc(t->text[i], w->stream);
    }
}

static bool put_head(writer *w, const char *name) {
    rbt_text t = {0};
    rbt_replay_values v;
    if (!rbt_replay_load(w->replay, 0, RBT_SHOWN_LABEL, &v, w->error)) return false;
    rbt_text_add(&t, "{\"version\": 1, \"name\": ");
    rbt_text_add_json(&t, name);
    rbt_text_add(&t, ", \"label\": ");
    if (v.label) rbt_text_add_json(&t, v.label);
    else rbt_text_add(&t, "null");
    rbt_text_add(&t, ", \"known\": %u, ", w->known);
    add_three(&t, "low", w->low);
    add_three(&t, "high", w->high);
    rbt_text_add(&t, "\"most\": [");
    for (int k = 0; k < RBT_SHOWN_FIELDS; k++) rbt_text_add(&t, "%s%.17g", k ? ", " : "", w->most[k]);
    rbt_text_add(&t, "], \"shapes\": [%s], \"frames\": [%s], ", w->shapes.text, w->frames.text);
    bool good = add_files(w, &t);
    rbt_text_add(&t, "}");
    if (good && (t.failed || w->shapes.failed || w->frames.failed))
        good = rbt_fail_memory(w->error, t.size, "the page");
    if (good) put_json(w, &t);
    rbt_text_free(&t);
    return good;
}

static bool put_all(writer *w, const char *name) {
    static const char END[] = "</body>";
    size_t end = RBT_PAGE_SIZE - strlen(END);
    while (end > 0 && memcmp(RBT_PAGE + end, END, strlen(END)) != 0) end--;
    fwrite(RBT_PAGE, 1, end, w->stream);
    fputs("<script id=\"rubato-data\" type=\"text/plain\">", w->stream);
    for (size_t i = 0; i < rbt_replay_count(w->replay); i++)
        if (!put_frame(w, i)) return false;
    put_base64(w, NULL, 0, true);
    fputs("</script>\n<script id=\"rubato-head\" type=\"application/json\">", w->stream);
    if (!put_head(w, name)) return false;
    fputs("</script>\n", w->stream);
    fwrite(RBT_PAGE + end, 1, RBT_PAGE_SIZE - end, w->stream);
    return true;
}

bool rbt_export(const char *folder, const char *name, const char *output, rbt_export_report *report,
                rbt_error *error) {
    rbt_new_file file;
    writer w = {.error = error};
    if (!rbt_page_is_there(error) || !(w.replay = rbt_replay_open(folder, 0, false, error))) return false;
    bool good = measure(&w) && rbt_new_file_open(&file, output, error);
    if (good) {
        w.stream = file.stream;
        good = put_all(&w, name);
        if (report) *report = (rbt_export_report){rbt_replay_count(w.replay), w.nodes, ftell(file.stream)};
        if (good) good = rbt_new_file_commit(&file, error);
        else rbt_new_file_abandon(&file);
    }
    rbt_replay_free(w.replay);
    rbt_text_free(&w.shapes);
    rbt_text_free(&w.frames);
    free(w.before);
    free(w.first);
    free(w.last);
    return good;
}
