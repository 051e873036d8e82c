#include "view/png.h"

#include <png.h>
#include <setjmp.h>
#include <stdlib.h>

static void remember_error(png_structp png, png_const_charp message) {
    rbt_fail(png_get_error_ptr(png), "libpng could not make the picture: %s", message);
    png_longjmp(png, 1);
}

static void ignore_warning(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

// The stream remembers a failed write and rbt_new_file_commit reports it, so libpng need not know.
static void write_bytes(png_structp png, png_bytep bytes, png_size_t size) {
    fwrite(bytes, 1, size, png_get_io_ptr(png));
}

static void flush_nothing(png_structp png) { (void)png; }

bool rbt_png_write(const rbt_image *image, const char *path, rbt_error *error) {
    rbt_new_file file;
    if (!rbt_new_file_open(&file, path, error)) return false;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, error, remember_error, ignore_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info) {
        png_destroy_write_struct(&png, NULL);
        rbt_new_file_abandon(&file);
        return rbt_fail_memory(error, 1 << 18, "writing a picture");
    }
    if (setjmp(png_jmpbuf(png))) {
        png_destroy_write_struct(&png, &info);
        rbt_new_file_abandon(&file);
        return false;
    }
    png_set_write_fn(png, file.stream, write_bytes, flush_nothing);
    png_set_compression_level(png, 6);
    png_set_IHDR(png, info, (png_uint_32)image->width, (png_uint_32)image->height, 8, PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    png_write_info(png, info);
    for (int y = 0; y < image->height; y++)
        png_write_row(png, (png_const_bytep)&image->pixels[(size_t)y * (size_t)image->width]);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    return rbt_new_file_commit(&file, error);
}
