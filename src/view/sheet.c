#include "view/sheet.h"

#include <math.h>

static const rbt_rgb PAPER = {250, 251, 252};

static long best_columns(size_t count, int cell_width, int cell_height) {
    // The fewest empty cells among the grids whose sides are between 1:1 and 2.6:1; else near to 1.6:1.
    long best = 1;
    double least = INFINITY;
    for (size_t columns = 1; columns <= count && columns <= 64; columns++) {
        size_t rows = (count + columns - 1) / columns;
        double ratio = (double)columns * cell_width / ((double)rows * cell_height);
        double empty = (double)(rows * columns - count) / (double)count;
        double cost = fabs(log(ratio / 1.6)) + (ratio < 1 || ratio > 2.6 ? 1 : 0) + 2 * empty;
        if (cost < least) {
            least = cost;
            best = (long)columns;
        }
    }
    return best;
}

bool rbt_picture_sheet_new(rbt_picture_sheet *sheet, size_t count, long columns, int cell_width, int cell_height,
                           int strip_height, rbt_error *error) {
    *sheet = (rbt_picture_sheet){.cell_width = cell_width, .cell_height = cell_height, .gap = 6};
    if (columns < 0) return rbt_fail(error, "--columns %ld: must be at least 1", columns);
    if (!columns) columns = best_columns(count, cell_width, cell_height);
    if ((size_t)columns > count) columns = (long)count;
    size_t rows = (count + (size_t)columns - 1) / (size_t)columns;
    double width = (double)columns * (cell_width + sheet->gap) + sheet->gap;
    double height = (double)rows * (cell_height + sheet->gap) + sheet->gap + strip_height;
    if (width > RBT_IMAGE_SIDE_MAX || height > RBT_IMAGE_SIDE_MAX)
        return rbt_fail(error,
                        "a sheet of %zu frames in %ld columns would have %.0f x %.0f pixels, the limit is %d a side; "
                        "try a larger --every, a smaller --size or other --columns",
                        count, columns, width, height, RBT_IMAGE_SIDE_MAX);
    sheet->columns = (int)columns;
    sheet->strip = (int)height - strip_height;
    if (!rbt_image_new(&sheet->image, (int)width, (int)height, error)) return false;
    rbt_image_fill(&sheet->image, PAPER);
    return true;
}

void rbt_picture_sheet_place(rbt_picture_sheet *sheet, size_t i, const rbt_image *cell) {
    int column = (int)(i % (size_t)sheet->columns), row = (int)(i / (size_t)sheet->columns);
    rbt_image_copy(&sheet->image, sheet->gap + column * (sheet->cell_width + sheet->gap),
                   sheet->gap + row * (sheet->cell_height + sheet->gap), cell);
}

void rbt_picture_sheet_free(rbt_picture_sheet *sheet) { rbt_image_free(&sheet->image); }
