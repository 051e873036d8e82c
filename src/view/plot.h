// Curves as SVG: several panels above each other, each with axes, round ticks and a legend.
#ifndef RBT_VIEW_PLOT_H
#define RBT_VIEW_PLOT_H

#include "base/text.h"

typedef struct rbt_series {
    const char *name;
    size_t count;
    const double *x, *y;  // (count) points with a number that is not finite, or not positive on a log axis, are gaps
    bool marks;           // a dot at every point, for few points
} rbt_series;

typedef struct rbt_panel {
    const char *title, *x_label, *y_label;  // "" or NULL: none
    bool x_log, y_log;
    size_t series_count;
    const rbt_series *series;  // (series_count)
} rbt_panel;

typedef struct rbt_plot {
    const char *title;
    size_t panel_count;
    const rbt_panel *panels;  // (panel_count) from top to bottom
    int width, panel_height;  // [pixels]; 0: 860 and 300
} rbt_plot;

// More curves than this in one panel cannot be told apart.
enum { RBT_PLOT_CURVES_MAX = 40 };

// Makes the picture wide and the panels high enough for the names of many series.
void rbt_plot_fit(rbt_plot *plot);

// Adds the whole SVG document to `text`; false only for lack of memory. Panels without a drawable point say so.
bool rbt_plot_text(const rbt_plot *plot, rbt_text *text, rbt_error *error);
bool rbt_plot_write(const rbt_plot *plot, const char *path, rbt_error *error);

#endif
