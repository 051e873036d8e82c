// How much of the sky and of the main light reaches a point: soft shadows and darkened corners.
//
// Sixty-four parallel lights are spread over the sky and over the main light's disc. For each, a depth grid of the
// surface seen from there tells which probes it reaches; a probe's answers are the bits of one word. Bits are
// combined by "or", so threads may take the lights in any order.
#ifndef RBT_VIEW_EXPOSURE_H
#define RBT_VIEW_EXPOSURE_H

#include "view/figure.h"

enum { RBT_SKY_LIGHTS = 40, RBT_KEY_LIGHTS = 24, RBT_LIGHTS = RBT_SKY_LIGHTS + RBT_KEY_LIGHTS };

typedef struct rbt_lights {
    double to[RBT_LIGHTS][3];  // unit vectors towards the lights; the sky's come first
    double key[3];             // towards the middle of the main light
} rbt_lights;

// The main light stands behind the viewer's left shoulder, whatever the view, and never below the horizon.
rbt_lights rbt_lights_for(const double right[3]);

// seen (probe_count): bit i is set if light i reaches the probe. normals (probe_count x 3) lift the probes off the
// surface they belong to, on the side of the light; zero vectors leave them where they are.
bool rbt_exposure(const rbt_figure *figure, const rbt_lights *lights, const double *probes, const double *normals,
                  size_t probe_count, uint64_t *seen, rbt_error *error);

// Shares between 0 and 1 of what a free point with this normal would get.
double rbt_exposure_to_sky(const rbt_lights *lights, const double normal[3], uint64_t seen);
double rbt_exposure_to_key(uint64_t seen);

#endif
