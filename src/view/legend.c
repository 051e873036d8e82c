#include "view/legend.h"

#include "view/color.h"
#include "view/label.h"
#include "view/ticks.h"

#include <math.h>
#include <stdio.h>

static const rbt_rgb INK = {52, 58, 68}, FAINT = {104, 112, 124};
enum { TICKS = 4 };
static const double BAR_WIDTH = 26, INSET = 0.9, PATCH_GAP = 1.8;  // in sizes

void rbt_legend_round(double *low, double *high) {
    if (!(*high > *low)) *high = *low + fmax(fabs(*low), 1e-12);
    for (int pass = 0; pass < 3; pass++) {  // a wider range may ask for a wider step
        double step = rbt_tick_step(*high - *low, TICKS);
        *low = step * floor(*low / step + 1e-9);
        *high = step * ceil(*high / step - 1e-9);
    }
}

static double patches_width(const rbt_legend *legend, double size) {
    double width = 0;
    for (size_t i = 0; i < legend->kind_count; i++)
        width += 1.5 * size + rbt_label_width(size, legend->kinds[i].name) + PATCH_GAP * size;
    return fmax(width - PATCH_GAP * size, 0);
}

static void head_text(const rbt_legend *legend, char text[64]) {
    text[0] = '\0';
    if (!legend->kind_count && !isnan(legend->largest)) snprintf(text, 64, "max %.3g", legend->largest);
}

double rbt_legend_height(const rbt_legend *legend, double size) {
    if (!legend->title[0]) return 0;
    return legend->kind_count ? 3.4 * size : 5.0 * size;
}

double rbt_legend_width(const rbt_legend *legend, double size) {
    if (!legend->title[0]) return 0;
    char head[64];
    head_text(legend, head);
    double title = rbt_label_width(size, legend->title) + rbt_label_width(size, head) + 2 * size;
    return fmax(title, legend->kind_count ? patches_width(legend, size) : BAR_WIDTH * size);
}

static void draw_patches(rbt_image *image, const rbt_legend *legend, double x, double y, double size) {
    for (size_t i = 0; i < legend->kind_count; i++) {
        rbt_image_box(image, x, y + 2.2 * size, size, size, 0.25 * size, rbt_color_kind(legend->kinds[i].kind), 1);
        x += 1.5 * size;
        rbt_label_draw(image, x, y + 3.2 * size, size, legend->kinds[i].name, FAINT);
        x += rbt_label_width(size, legend->kinds[i].name) + PATCH_GAP * size;
    }
}

static void draw_bar(rbt_image *image, const rbt_legend *legend, double x, double y, double size, double width) {
    int x0 = (int)lround(x + INSET * size), x1 = (int)lround(x + width - INSET * size);
    double free_from = -INFINITY;
    double top = y + 1.75 * size, height = 1.1 * size;
    for (int i = x0; i < x1; i++)
        rbt_image_box(image, i, top, 1, height, 0, rbt_color_map((i + 0.5 - x0) / (x1 - x0)), 1);
    rbt_ticks ticks = rbt_ticks_linear(legend->low, legend->high, TICKS);
    for (int i = 0; i < ticks.count; i++) {
        char text[32];
        rbt_tick_text(&ticks, ticks.at[i], text, sizeof text);
        double share = (ticks.at[i] - legend->low) / (legend->high - legend->low), at = x0 + share * (x1 - x0);
        double half = 0.5 * rbt_label_width(size, text);
        rbt_image_box(image, at - 0.5, top + height, 1, 0.4 * size, 0, FAINT, 1);
        if (at - half < free_from) continue;
        rbt_label_draw(image, at - half, top + height + 1.75 * size, size, text, FAINT);
        free_from = at + half + 0.6 * size;
    }
}

void rbt_legend_draw(rbt_image *image, const rbt_legend *legend, double x, double y, double size) {
    if (!legend->title[0]) return;
    char head[64];
    head_text(legend, head);
    double width = rbt_legend_width(legend, size);
    rbt_label_draw(image, x, y + size, size, legend->title, INK);
    rbt_label_draw(image, x + width - rbt_label_width(size, head), y + size, size, head, FAINT);
    if (legend->kind_count) draw_patches(image, legend, x, y, size);
    else draw_bar(image, legend, x, y, size, width);
}
