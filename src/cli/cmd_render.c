// rubato render: pictures of a run or a mesh without a display.
#include "base/clock.h"
#include "base/file.h"
#include "base/threads.h"
#include "cli/command.h"
#include "rubato/scene.h"
#include "view/render.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// "960x720", "0,1.5": two numbers with a character between them.
static bool read_pair(const char *text, char between, double *a, double *b) {
    char *end;
    *a = strtod(text, &end);
    if (end == text || *end != between) return false;
    const char *second = end + 1;
    *b = strtod(second, &end);
    return end != second && !*end && isfinite(*a) && isfinite(*b);
}

static bool read_size(const char *text, int *width, int *height, rbt_error *error) {
    double w, h;
    if (!read_pair(text, 'x', &w, &h) || w != floor(w) || h != floor(h) || w < 16 || h < 16 ||
        w > RBT_IMAGE_SIDE_MAX || h > RBT_IMAGE_SIDE_MAX)
        return rbt_fail(error, "--size \"%s\" must be WIDTHxHEIGHT in pixels as 960x720, each 16 to %d", text,
                        RBT_IMAGE_SIDE_MAX);
    *width = (int)w;
    *height = (int)h;
    return true;
}

// The scene a run leaves in its folder knows the obstacles and the bodies' names. Pictures can do without.
static bool find_scene(const char *folder, rbt_scene_file **scene, rbt_error *error) {
    char *path = rbt_path_join(folder, "scene.json");
    rbt_error why = {0};
    *scene = path && access(path, R_OK) == 0 ? rbt_scene_read(path, NULL, 0, &why) : NULL;
    bool good = path && !why.out_of_memory;
    free(path);
    return good || rbt_fail_memory(error, strlen(folder), "the scene of the run");
}

static bool render(rbt_render_options *options, rbt_error *error) {
    rbt_scene_file *file;
    if (!find_scene(options->path, &file, error)) return false;
    if (file) options->scene = rbt_scene_of(file);
    double start = rbt_now();
    rbt_render_report report;
    bool good = rbt_render(options, &report, error);
    if (good)
        printf("%s: %zu frame%s, %d x %d pixels, %zu triangles, %.2f s\n", options->output, report.frame_count,
               report.frame_count == 1 ? "" : "s", report.width, report.height, report.triangle_count,
               rbt_now() - start);
    rbt_scene_free(file);
    return good;
}

int rbt_command_render(int count, char **words) {
    rbt_render_options o = rbt_render_default();
    const char *view = "hero", *color = NULL, *size = NULL, *range = NULL, *ground = NULL, *path = NULL;
    bool no_ground = false;
    long threads = 0;
    const rbt_option options[] = {
        {"--output", "-o", "FILE", "the PNG file to write", .text = &o.output},
        {"--frames", NULL, "LIST", "which frames, as 0,5,10-20,last (default: the last)", .text = &o.frames.list},
        {"--every", NULL, "N", "every N-th frame instead", .integer = &o.frames.every, .min = 1},
        {"--view", NULL, "VIEW", "hero, front, back, side, left, top, bottom, iso, low, or yaw,pitch", .text = &view},
        {"--color", NULL, "WHAT", "plain, displacement, velocity, stress, region, body, quality", .text = &color},
        {"--size", NULL, "WxH", "of each frame (default 960x720; 480x360 in a sheet)", .text = &size},
        {"--columns", NULL, "N", "of the sheet that several frames make", .integer = &o.columns, .min = 1},
        {"--zoom", NULL, "Z", "larger than 1: closer", .real = &o.zoom},
        {"--range", NULL, "A,B", "values that the colours run over, in SI units", .text = &range},
        {"--edges", NULL, NULL, "draw the edges of the triangles", .flag = &o.edges},
        {"--ground", NULL, "Y", "height of the floor (default: a level obstacle or the lowest point)",
         .text = &ground},
        {"--no-ground", NULL, NULL, "no floor, no shadow on it", .flag = &no_ground},
        {"--animate", NULL, NULL, "an animated PNG of the frames (default: of all)", .flag = &o.animate},
        {"--fps", NULL, "N", "frames per second of the animation (default 25)", .real = &o.frames_per_second},
        {"--threads", NULL, "N", "default: OMP_NUM_THREADS, or as many as there are processors", .integer = &threads,
         .min = 1, .max = RBT_MAX_THREADS},
    };
    int positionals;
    int code = rbt_options_read("render", options, sizeof options / sizeof options[0], count, words, &path,
                                &positionals, 1, 1);
    if (code >= 0) return code;
    rbt_error error = {0};
    o.path = path;
    o.ground = !no_ground;
    o.frames.all = o.animate;
    bool good = rbt_view_parse(view, &o.view, &error) && (!size || read_size(size, &o.width, &o.height, &error));
    if (good && color) good = (o.coloring = rbt_coloring_find(color, &error)) != NULL;
    if (good && !o.output) good = rbt_fail(&error, "say with -o which PNG file to write");
    if (good && range && !read_pair(range, ',', &o.low, &o.high))
        good = rbt_fail(&error, "--range \"%s\" must be two numbers as 0,1.5", range);
    if (good && ground) {
        char *end;
        o.ground_height = strtod(ground, &end);
        if (end == ground || *end || !isfinite(o.ground_height))
            good = rbt_fail(&error, "--ground needs a number, \"%s\" is none", ground);
    }
    if (!good) {
        rbt_complain(&error);
        return 2;
    }
    if (threads) rbt_threads_set((int)threads);
    return render(&o, &error) ? 0 : rbt_complain(&error);
}
