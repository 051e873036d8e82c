// A small font: the printable ASCII characters as dots in cells of 5 x 9 (7 rows above the baseline, 2 below).
// The dots are not drawn as squares: view/label.c joins neighbouring dots to strokes, so the font scales smoothly.
#ifndef RBT_VIEW_FONT_H
#define RBT_VIEW_FONT_H

#include <stdint.h>

enum { RBT_FONT_FIRST = 32, RBT_FONT_GLYPHS = 95, RBT_FONT_COLUMNS = 5, RBT_FONT_ROWS = 9, RBT_FONT_BASELINE = 7 };

extern const uint8_t RBT_FONT[RBT_FONT_GLYPHS][RBT_FONT_ROWS];

#endif
