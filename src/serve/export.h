// A run as one HTML file: the page with the run in it, which opens from disk and needs nothing else.
//
// The file is the page and two elements more. "rubato-data" holds pieces, each deflated (RFC 1951), all of them
// together in base64; "rubato-head" is JSON that says where they are, with names, times and the run's tables. A piece
// is a shape (serve/message.h), or a frame of n drawn nodes:
//   positions quantised to 16 bits over the box of the whole run, q = round((x - low) / (high - low) 65535), and of
//   each the difference to the extrapolation 2 q' - q'' from the two frames before, modulo 65536: for every axis the n
//   low bytes and then the n high bytes; of the first frame of a shape q itself, of its second the difference to q'
//   fields: of each n bytes, round(255 sqrt(value / most)) less that of the frame before, modulo 256; labels plus 1
//   obstacles that move: float[obstacle nodes x 3]
#ifndef RBT_SERVE_EXPORT_H
#define RBT_SERVE_EXPORT_H

#include "base/error.h"

#include <stdint.h>

typedef struct rbt_export_report {
    size_t frames, nodes;  // drawn, of the last frame
    int64_t bytes;         // of the file
} rbt_export_report;

// `name`: what the page calls the run. The file appears whole or not at all.
bool rbt_export(const char *folder, const char *name, const char *output, rbt_export_report *report,
                rbt_error *error);

#endif
