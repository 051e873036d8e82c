// What rubato/view.h declares, in terms of this room.
#include "rubato/view.h"

#include "base/file.h"
#include "view/energy_plot.h"
#include "view/render.h"

#include <stdlib.h>
#include <sys/stat.h>

rbt_view_options rbt_view_default(void) {
    rbt_render_options o = rbt_render_default();
    return (rbt_view_options){.direction = "hero",
                              .color = "plain",
                              .zoom = o.zoom,
                              .ground = o.ground,
                              .ground_height = o.ground_height,
                              .low = o.low,
                              .high = o.high,
                              .frames_per_second = o.frames_per_second};
}

static bool draw(rbt_render_options what, const rbt_view_options *options, rbt_render_report *drawn,
                 rbt_error *error) {
    rbt_render_options o = {.path = what.path,
                            .sim = what.sim,
                            .output = what.output,
                            .image = what.image,
                            .frames = {.list = options->frames, .every = options->every, .all = options->animate},
                            .width = options->width,
                            .height = options->height,
                            .columns = options->columns,
                            .zoom = options->zoom,
                            .ground = options->ground,
                            .ground_height = options->ground_height,
                            .edges = options->edges,
                            .low = options->low,
                            .high = options->high,
                            .animate = options->animate,
                            .frames_per_second = options->frames_per_second,
                            .scene = options->scene};
    if (what.sim) o.frames = (rbt_frame_choice){0};
    if (!rbt_view_parse(options->direction, &o.view, error)) return false;
    o.coloring = rbt_coloring_find(options->color, error);
    return o.coloring && rbt_render(&o, drawn, error);
}

static bool are_options(const rbt_view_options *options) { return options && options->direction && options->color; }

bool rbt_view_draw(const char *path, const char *output, const rbt_view_options *options, rbt_view_report *report,
                   rbt_error *error) {
    rbt_render_report drawn;
    if (!path || !output || !are_options(options))
        return rbt_fail(error, "a path, an output and options made by rbt_view_default are needed");
    if (!draw((rbt_render_options){.path = path, .output = output}, options, &drawn, error)) return false;
    if (report) *report = (rbt_view_report){drawn.frame_count, drawn.triangle_count, drawn.width, drawn.height};
    return true;
}

static bool paint(rbt_render_options what, const rbt_view_options *options, rbt_view_image *image, rbt_error *error) {
    rbt_image painted = {0};
    if (options->animate) return rbt_fail(error, "an animation is a file; paint its frames one by one");
    what.image = &painted;
    if (!draw(what, options, NULL, error)) return false;
    *image = (rbt_view_image){painted.width, painted.height, (unsigned char *)painted.pixels};
    return true;
}

bool rbt_view_paint(const char *path, const rbt_view_options *options, rbt_view_image *image, rbt_error *error) {
    if (!path || !image || !are_options(options))
        return rbt_fail(error, "a path, an image and options made by rbt_view_default are needed");
    return paint((rbt_render_options){.path = path}, options, image, error);
}

bool rbt_view_paint_sim(const rbt_sim *sim, const rbt_view_options *options, rbt_view_image *image,
                        rbt_error *error) {
    if (!sim || !image || !are_options(options))
        return rbt_fail(error, "a simulation, an image and options made by rbt_view_default are needed");
    return paint((rbt_render_options){.sim = sim}, options, image, error);
}

void rbt_view_image_free(rbt_view_image *image) {
    if (!image) return;
    free(image->pixels);
    *image = (rbt_view_image){0};
}

bool rbt_view_plot(const char *folder, const char *output, rbt_error *error) {
    struct stat info;
    if (!folder || !output) return rbt_fail(error, "a run's folder and an output are needed");
    if (stat(folder, &info) != 0) return rbt_fail_at(error, folder, 0, 0, "there is no such folder");
    char *csv = rbt_path_join(folder, "energy.csv");
    if (!csv) return rbt_fail_memory(error, 0, "a file name");
    bool good = stat(csv, &info) == 0;
    if (good) good = rbt_energy_plot_write(csv, folder, output, error);
    else rbt_fail_at(error, folder, 0, 0, "the folder holds no energy.csv, so it is no run; rubato run writes one");
    free(csv);
    return good;
}
