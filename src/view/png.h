// Images to files: PNG through libpng, and animated PNG.
#ifndef RBT_VIEW_PNG_H
#define RBT_VIEW_PNG_H

#include "base/file.h"
#include "view/image.h"

bool rbt_png_write(const rbt_image *image, const char *path, rbt_error *error);

// An animation being written: begin, add every frame, end. All frames have the size of the first. On failure the
// file is abandoned and the animation needs no more care; rbt_animation_abandon gives up early.
typedef struct rbt_animation {
    rbt_new_file file;
    uint32_t frame_count, added, sequence;
    uint16_t delay_numerator, delay_denominator;  // [s]
    rbt_image last;                               // what is on the screen
} rbt_animation;

bool rbt_animation_begin(rbt_animation *animation, const char *path, size_t frame_count, double frames_per_second,
                         rbt_error *error);
bool rbt_animation_add(rbt_animation *animation, const rbt_image *frame, rbt_error *error);
bool rbt_animation_end(rbt_animation *animation, rbt_error *error);
void rbt_animation_abandon(rbt_animation *animation);

#endif
