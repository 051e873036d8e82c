// An 8-bit sRGB image and the few ways of drawing flat things on it. Everything clips at the border.
#ifndef RBT_VIEW_IMAGE_H
#define RBT_VIEW_IMAGE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum { RBT_IMAGE_SIDE_MAX = 16384, RBT_IMAGE_PIXELS_MAX = 100000000 };

typedef struct rbt_rgb {
    uint8_t r, g, b;
} rbt_rgb;

typedef struct rbt_image {
    int width, height;
    rbt_rgb *pixels;  // (height x width), top row first
} rbt_image;

// A black image; an error if a side is below 1 or above the limits.
bool rbt_image_new(rbt_image *image, int width, int height, rbt_error *error);
void rbt_image_free(rbt_image *image);

void rbt_image_fill(rbt_image *image, rbt_rgb color);
void rbt_image_blend(rbt_image *image, int x, int y, rbt_rgb color, double alpha);

// A rectangle with corners rounded by `radius`; edges may lie between pixels.
void rbt_image_box(rbt_image *image, double x, double y, double width, double height, double radius, rbt_rgb color,
                   double alpha);

void rbt_image_copy(rbt_image *to, int x, int y, const rbt_image *from);

#endif
