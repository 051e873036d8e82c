#include "view/image.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

bool rbt_image_new(rbt_image *image, int width, int height, rbt_error *error) {
    *image = (rbt_image){0};
    if (width < 1 || height < 1 || width > RBT_IMAGE_SIDE_MAX || height > RBT_IMAGE_SIDE_MAX)
        return rbt_fail(error, "a picture of %d x %d pixels cannot be made: each side must be 1 to %d", width, height,
                        RBT_IMAGE_SIDE_MAX);
    size_t count = (size_t)width * (size_t)height;
    if (count > RBT_IMAGE_PIXELS_MAX)
        return rbt_fail(error,
                        "a picture of %d x %d pixels is larger than the limit of %d million; try a smaller "
                        "size or fewer frames",
                        width, height, RBT_IMAGE_PIXELS_MAX / 1000000);
    image->pixels = rbt_array_new(count, sizeof(rbt_rgb), "a picture", error);
    if (!image->pixels) return false;
    image->width = width;
    image->height = height;
    return true;
}

void rbt_image_free(rbt_image *image) {
    free(image->pixels);
    *image = (rbt_image){0};
}

void rbt_image_fill(rbt_image *image, rbt_rgb color) {
    size_t count = (size_t)image->width * (size_t)image->height;
    for (size_t i = 0; i < count; i++) image->pixels[i] = color;
}

static uint8_t mix(uint8_t under, uint8_t over, double alpha) {
    return (uint8_t)lround(under + (over - under) * alpha);
}

void rbt_image_blend(rbt_image *image, int x, int y, rbt_rgb color, double alpha) {
    if (x < 0 || y < 0 || x >= image->width || y >= image->height || !(alpha > 0)) return;
    if (alpha > 1) alpha = 1;
    rbt_rgb *p = &image->pixels[(size_t)y * (size_t)image->width + (size_t)x];
    *p = (rbt_rgb){mix(p->r, color.r, alpha), mix(p->g, color.g, alpha), mix(p->b, color.b, alpha)};
}

void rbt_image_box(rbt_image *image, double x, double y, double width, double height, double radius, rbt_rgb color,
                   double alpha) {
    double half_w = width / 2, half_h = height / 2;
    int x1 = (int)fmin(ceil(x + width), image->width), y1 = (int)fmin(ceil(y + height), image->height);
    for (int j = (int)fmax(floor(y), 0); j < y1; j++)
        for (int i = (int)fmax(floor(x), 0); i < x1; i++) {
            // Distance to the rounded rectangle, negative inside; half a pixel on either side is the soft edge.
            double qx = fabs(i + 0.5 - x - half_w) - half_w + radius;
            double qy = fabs(j + 0.5 - y - half_h) - half_h + radius;
            double outside = hypot(fmax(qx, 0), fmax(qy, 0)) + fmin(fmax(qx, qy), 0) - radius;
            rbt_image_blend(image, i, j, color, alpha * fmin(fmax(0.5 - outside, 0), 1));
        }
}

void rbt_image_copy(rbt_image *to, int x, int y, const rbt_image *from) {
    for (int j = 0; j < from->height; j++) {
        if (y + j < 0 || y + j >= to->height) continue;
        int first = x < 0 ? -x : 0, last = from->width;
        if (x + last > to->width) last = to->width - x;
        if (first >= last) continue;
        memcpy(&to->pixels[(size_t)(y + j) * (size_t)to->width + (size_t)(x + first)],
               &from->pixels[(size_t)j * (size_t)from->width + (size_t)first],
               (size_t)(last - first) * sizeof(rbt_rgb));
    }
}
