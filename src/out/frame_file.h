// A file that grows by one piece per frame and is whole after every frame: a head, the pieces, a constant tail.
//
// Adding a piece is one write over the old tail, whatever the number of frames before. The file can be cut back to
// an earlier frame, because pieces are recognised: each ends with one line with a known beginning, or has a known size.
// A number of fixed width inside the head may follow the number of frames. If a write fails (disk full), the old
// tail is put back, so that what was whole before stays whole.
#ifndef RBT_OUT_FRAME_FILE_H
#define RBT_OUT_FRAME_FILE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum { RBT_LINE_START = 256, RBT_COUNT_WIDTH = 24 };

typedef struct rbt_frame_file_def {
    const char *path;
    const void *head;
    size_t head_size;
    const char *tail;   // "" if there is none; must outlive the file
    size_t piece_size;  // bytes of every piece; 0: a piece is one line
    void (*line_start)(const void *context, int64_t frame, char text[RBT_LINE_START]);  // how a frame's line begins
    const void *context;
    bool has_steps;                    // lines that begin otherwise belong to the piece that a frame's line ends
    size_t count_offset, count_width;  // place of the number in the head; width 0: none
    void (*count_text)(int64_t frames, char text[RBT_COUNT_WIDTH]);  // its count_width bytes
} rbt_frame_file_def;

typedef struct rbt_frame_file {
    char *path;
    int descriptor;
    const char *tail;
    int64_t frames;             // pieces in the file
    int64_t size, size_before;  // bytes before the tail, now and before the latest piece
    size_t count_offset, count_width;
    void (*count_text)(int64_t frames, char text[RBT_COUNT_WIDTH]);
} rbt_frame_file;

// from_frame -1: made again, in place of an old one. k >= 0: the file must hold the frames 0..k; it is checked but not
// changed before rbt_frame_file_cut drops what comes after frame k. On failure nothing is left to close.
bool rbt_frame_file_open(rbt_frame_file *file, const rbt_frame_file_def *def, int64_t from_frame, rbt_error *error);
bool rbt_frame_file_cut(rbt_frame_file *file, rbt_error *error);

bool rbt_frame_file_add(rbt_frame_file *file, const void *piece, size_t size, rbt_error *error);
bool rbt_frame_file_undo(rbt_frame_file *file, rbt_error *error);  // takes the latest piece back, once

bool rbt_frame_file_sync(rbt_frame_file *file, rbt_error *error);
bool rbt_frame_file_close(rbt_frame_file *file, rbt_error *error);  // a file that is not open is fine

#endif
