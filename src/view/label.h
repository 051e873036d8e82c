// Lines of text on an image.
#ifndef RBT_VIEW_LABEL_H
#define RBT_VIEW_LABEL_H

#include "view/image.h"

// `size`: height of a capital letter in pixels. (x, y): left end of the baseline. Characters outside of printable
// ASCII appear as "?".
void rbt_label_draw(rbt_image *image, double x, double y, double size, const char *text, rbt_rgb color);
double rbt_label_width(double size, const char *text);

#endif
