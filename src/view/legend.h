// The key to the colours: a bar with round numbers, or named patches.
#ifndef RBT_VIEW_LEGEND_H
#define RBT_VIEW_LEGEND_H

#include "view/image.h"

#include <stddef.h>

enum { RBT_LEGEND_NAMES = 12, RBT_LEGEND_NAME = 24 };

typedef struct rbt_legend {
    char title[64];    // "displacement [mm]"; "" if there is nothing to explain
    double low, high;  // of the bar, in the title's unit
    double largest;    // value that occurs, in the title's unit; NaN: not said
    size_t kind_count;
    struct {
        long kind;
        char name[RBT_LEGEND_NAME];
    } kinds[RBT_LEGEND_NAMES];  // patches instead of a bar, if there are any
} rbt_legend;

// Ends of a colour bar that runs over round numbers: the least range of whole tick steps around [low, high].
void rbt_legend_round(double *low, double *high);

// Height that rbt_legend_draw takes with capital letters of this size.
double rbt_legend_height(const rbt_legend *legend, double size);
double rbt_legend_width(const rbt_legend *legend, double size);

// (x, y): top left corner.
void rbt_legend_draw(rbt_image *image, const rbt_legend *legend, double x, double y, double size);

#endif
