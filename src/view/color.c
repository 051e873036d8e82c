#include "view/color.h"

#include <math.h>

rbt_light rbt_light_of(rbt_rgb color) {
    const uint8_t in[3] = {color.r, color.g, color.b};
    double out[3];
    for (int i = 0; i < 3; i++) {
        double s = in[i] / 255.0;
        out[i] = s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4);
    }
    return (rbt_light){out[0], out[1], out[2]};
}

static uint8_t encode(double x) {
    if (!(x > 0)) return 0;
    double s = x <= 0.0031308 ? 12.92 * x : 1.055 * pow(fmin(x, 1), 1 / 2.4) - 0.055;
    return (uint8_t)lround(255 * fmin(s, 1));
}

rbt_rgb rbt_rgb_of(rbt_light light) { return (rbt_rgb){encode(light.r), encode(light.g), encode(light.b)}; }

// Nine equally spaced colours of the "viridis" map (S. van der Walt, N. Smith, 2015, public domain), used without its
// darkest part, in which the shading of a surface would drown.
rbt_rgb rbt_color_map(double t) {
    static const rbt_rgb stops[] = {{68, 1, 84},    {71, 44, 122}, {59, 81, 139},  {44, 113, 142}, {33, 144, 141},
                                    {39, 173, 129}, {92, 200, 99}, {170, 220, 50}, {253, 231, 37}};
    enum { LAST = sizeof stops / sizeof stops[0] - 1 };
    if (isnan(t)) return (rbt_rgb){128, 128, 128};
    static const double darkest = 0.12;
    t = (darkest + (1 - darkest) * fmin(fmax(t, 0), 1)) * LAST;
    int i = t < LAST ? (int)t : LAST - 1;
    double f = t - i;
    return (rbt_rgb){(uint8_t)lround(stops[i].r + f * (stops[i + 1].r - stops[i].r)),
                     (uint8_t)lround(stops[i].g + f * (stops[i + 1].g - stops[i].g)),
                     (uint8_t)lround(stops[i].b + f * (stops[i + 1].b - stops[i].b))};
}

rbt_rgb rbt_color_kind(long i) {
    static const rbt_rgb kinds[] = {{78, 143, 199},  {240, 160, 75}, {107, 179, 107}, {217, 96, 95},
                                    {154, 127, 196}, {91, 181, 181}, {229, 143, 177}, {180, 176, 74},
                                    {150, 112, 91},  {141, 154, 168}};
    enum { COUNT = sizeof kinds / sizeof kinds[0] };
    return kinds[(i % COUNT + COUNT) % COUNT];
}
