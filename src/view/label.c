// Text from the dot font. A dot is a node; dots next to each other are joined by a stroke with round ends, diagonal
// ones only where the way around the corner is not set (a solid corner stays square, a cut one becomes round). The
// coverage of a pixel follows from its distance to the nearest stroke.
#include "view/label.h"

#include "view/font.h"

#include <math.h>
#include <string.h>

enum { STROKES_MAX = 4 * RBT_FONT_COLUMNS * RBT_FONT_ROWS };
static const double THICKNESS = 0.92;  // of a stroke, in dots
static const double GAP = 1.75;        // from the last dot of a glyph to the first of the next
static const double SPACE = 3.0;

typedef struct stroke {
    double ax, ay, bx, by;
} stroke;

static const uint8_t *glyph_of(char c) {
    int i = (unsigned char)c - RBT_FONT_FIRST;
    return RBT_FONT[i >= 0 && i < RBT_FONT_GLYPHS ? i : '?' - RBT_FONT_FIRST];
}

static bool dot(const uint8_t *glyph, int column, int row) {
    if (column < 0 || row < 0 || column >= RBT_FONT_COLUMNS || row >= RBT_FONT_ROWS) return false;
    return glyph[row] >> (RBT_FONT_COLUMNS - 1 - column) & 1;
}

// First and last column in use. Digits keep the full cell, so that columns of numbers and ticking clocks stand still.
static void extent(char c, const uint8_t *glyph, int *first, int *last) {
    unsigned all = 0;
    for (int row = 0; row < RBT_FONT_ROWS; row++) all |= glyph[row];
    *first = 0;
    *last = RBT_FONT_COLUMNS - 1;
    if (!all || (c >= '0' && c <= '9')) return;
    while (!(all >> (RBT_FONT_COLUMNS - 1 - *first) & 1)) ++*first;
    while (!(all >> (RBT_FONT_COLUMNS - 1 - *last) & 1)) --*last;
}

static double advance_of(char c) {
    int first, last;
    extent(c, glyph_of(c), &first, &last);
    return c == ' ' ? SPACE : last - first + GAP;
}

static int strokes_of(const uint8_t *glyph, stroke strokes[STROKES_MAX]) {
    static const int step[4][2] = {{1, 0}, {0, 1}, {1, 1}, {-1, 1}};
    int count = 0;
    for (int row = 0; row < RBT_FONT_ROWS; row++)
        for (int column = 0; column < RBT_FONT_COLUMNS; column++) {
            if (!dot(glyph, column, row)) continue;
            bool joined = false;
            for (int k = 0; k < 4; k++) {
                int c = column + step[k][0], r = row + step[k][1];
                if (!dot(glyph, c, r) || (k > 1 && (dot(glyph, c, row) || dot(glyph, column, r)))) continue;
                strokes[count++] = (stroke){column, row, c, r};
                joined = true;
            }
            if (!joined) strokes[count++] = (stroke){column, row, column, row};
        }
    return count;
}

static double distance_to(const stroke *s, double x, double y) {
    double dx = s->bx - s->ax, dy = s->by - s->ay, length2 = dx * dx + dy * dy;
    double t = length2 > 0 ? ((x - s->ax) * dx + (y - s->ay) * dy) / length2 : 0;
    t = fmin(fmax(t, 0), 1);
    return hypot(x - s->ax - t * dx, y - s->ay - t * dy);
}

static void draw_glyph(rbt_image *image, double x, double baseline, double scale, const uint8_t *glyph, int first,
                       rbt_rgb color) {
    stroke strokes[STROKES_MAX];
    int count = strokes_of(glyph, strokes);
    if (!count) return;
    // Dot (column, row) has its centre at (x + (column - first + 1/2) scale, top + (row + 1/2) scale).
    double top = baseline - RBT_FONT_BASELINE * scale, left = x - first * scale;
    int x0 = (int)floor(left - 1), x1 = (int)ceil(left + RBT_FONT_COLUMNS * scale + 1);
    int y0 = (int)floor(top - 1), y1 = (int)ceil(top + RBT_FONT_ROWS * scale + 1);
    for (int j = y0; j < y1; j++)
        for (int i = x0; i < x1; i++) {
            double u = (i + 0.5 - left) / scale - 0.5, v = (j + 0.5 - top) / scale - 0.5, nearest = 1e9;
            for (int k = 0; k < count; k++) nearest = fmin(nearest, distance_to(&strokes[k], u, v));
            rbt_image_blend(image, i, j, color, fmin(fmax((THICKNESS / 2 - nearest) * scale + 0.5, 0), 1));
        }
}

void rbt_label_draw(rbt_image *image, double x, double y, double size, const char *text, rbt_rgb color) {
    double scale = size / RBT_FONT_BASELINE;
    for (const char *c = text; *c; c++) {
        int first, last;
        extent(*c, glyph_of(*c), &first, &last);
        draw_glyph(image, x, y, scale, glyph_of(*c), first, color);
        x += advance_of(*c) * scale;
    }
}

double rbt_label_width(double size, const char *text) {
    double width = 0;
    for (const char *c = text; *c; c++) width += advance_of(*c);
    return width * size / RBT_FONT_BASELINE;
}
