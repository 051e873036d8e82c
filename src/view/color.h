// Colours: sRGB and linear light, a perceptually uniform map for values, a palette for kinds.
#ifndef RBT_VIEW_COLOR_H
#define RBT_VIEW_COLOR_H

#include "view/image.h"

// Linear light, 0 to 1 a channel.
typedef struct rbt_light {
    double r, g, b;
} rbt_light;

rbt_light rbt_light_of(rbt_rgb color);
rbt_rgb rbt_rgb_of(rbt_light light);  // clamped to what can be shown

// t in [0, 1], dark to bright, even steps in inverse mass; outside values are clamped, NaN is grey.
rbt_rgb rbt_color_map(double t);

// Well distinguishable colours for regions and bodies, repeating after the last.
rbt_rgb rbt_color_kind(long i);

#endif
