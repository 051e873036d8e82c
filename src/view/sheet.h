// A contact sheet: pictures of one size in a grid, and a strip below for the legend.
#ifndef RBT_VIEW_SHEET_H
#define RBT_VIEW_SHEET_H

#include "view/image.h"

typedef struct rbt_picture_sheet {
    rbt_image image;
    int columns, cell_width, cell_height, gap;
    int strip;  // y where the strip begins
} rbt_picture_sheet;

// columns 0: chosen so that the sheet comes out wider than tall. strip_height may be 0.
bool rbt_picture_sheet_new(rbt_picture_sheet *sheet, size_t count, long columns, int cell_width, int cell_height,
                           int strip_height, rbt_error *error);
void rbt_picture_sheet_place(rbt_picture_sheet *sheet, size_t i, const rbt_image *cell);
void rbt_picture_sheet_free(rbt_picture_sheet *sheet);

#endif
