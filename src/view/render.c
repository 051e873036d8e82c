// Two passes over the chosen frames: the first finds what they share (camera, colours, floor), the second draws. Only
// one frame is in memory at a time; a single frame is loaded once.
#include "view/render.h"

#include "base/memory.h"
#include "out/obstacle_file.h"
#include "sim/sim.h"
#include "view/label.h"
#include "view/picture.h"
#include "view/png.h"
#include "view/sheet.h"
#include "view/ticks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const rbt_rgb INK = {52, 58, 68}, PAPER = {255, 255, 255};

typedef struct job {
    const rbt_render_options *options;
    rbt_subject subject;
    rbt_obstacle_file obstacles;
    rbt_scenery scenery;
    bool has_scenery;  // from the second pass on
    size_t *chosen, count;
    rbt_figure figure;  // of the frame loaded last
    size_t loaded;      // its position among the chosen, plus 1
    rbt_camera camera;
    rbt_camera_fit fit;
    rbt_look look;
    rbt_legend legend;
    double low, high, largest;  // of the values that occur
    long kinds[RBT_LEGEND_NAMES];
    size_t kind_count;
    int time_decimals;
} job;

rbt_render_options rbt_render_default(void) {
    rbt_error ignored;
    return (rbt_render_options){.view = {32, 16},
                                .coloring = rbt_coloring_find("plain", &ignored),
                                .zoom = 1,
                                .ground = true,
                                .ground_height = NAN,
                                .low = NAN,
                                .high = NAN,
                                .frames_per_second = 25};
}

// Obstacles follow the bodies' box and are seen from somewhere, so they come after the first pass.
static bool set_scenery(job *j, size_t place, const double *eye, rbt_error *error) {
    const rbt_sim *sim = j->options->sim;
    rbt_scenery_sight sight = {.time = j->subject.frames.entries[j->chosen[place]].time,
                               .eye = eye,
                               .motions = sim ? sim->model->obstacle_motions : NULL};
    for (int k = 0; k < 3; k++) {
        sight.low[k] = j->fit.low[k];
        sight.high[k] = j->fit.high[k];
    }
    rbt_scenery_free(&j->scenery);
    return rbt_scenery_build(&j->scenery, sim ? &sim->model->obstacles : &j->obstacles.obstacles, &sight, error);
}

static bool load(job *j, size_t place, rbt_error *error) {
    if (j->loaded == place + 1) return true;
    rbt_figure_free(&j->figure);
    j->loaded = 0;
    if (j->has_scenery && !set_scenery(j, place, j->camera.eye, error)) return false;
    if (!rbt_subject_load(&j->subject, j->chosen[place], &j->scenery, &j->figure, error)) return false;
    j->loaded = place + 1;
    return true;
}

// ---- First pass

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Widens the range by this frame's values; of every frame only the lowest `share` of them count.
static bool add_values(job *j, rbt_error *error) {
    const rbt_figure *figure = &j->figure;
    size_t count = figure->kind == RBT_FIGURE_ON_VERTICES ? figure->vertex_count : figure->scenery_begin, kept = 0;
    double *sorted = rbt_array_new(count, sizeof *sorted, "the values of a frame", error);
    if (!sorted) return false;
    for (size_t i = 0; i < count; i++)
        if (isfinite(figure->values[i])) sorted[kept++] = figure->values[i];
    if (kept) {
        qsort(sorted, kept, sizeof *sorted, compare_doubles);
        size_t last = (size_t)ceil((double)kept * j->options->coloring->share);
        j->low = fmin(j->low, sorted[0]);
        j->high = fmax(j->high, sorted[last > 0 ? last - 1 : 0]);
        j->largest = fmax(j->largest, sorted[kept - 1]);
    }
    free(sorted);
    return true;
}

static void add_kinds(job *j) {
    for (size_t i = 0; i < j->figure.scenery_begin; i++) {
        long kind = lround(j->figure.values[i]);
        size_t at = 0;
        while (at < j->kind_count && j->kinds[at] < kind) at++;
        if (at < j->kind_count && j->kinds[at] == kind) continue;
        if (j->kind_count == RBT_LEGEND_NAMES) continue;
        memmove(j->kinds + at + 1, j->kinds + at, (j->kind_count - at) * sizeof *j->kinds);
        j->kinds[at] = kind;
        j->kind_count++;
    }
}

static bool survey(job *j, rbt_error *error) {
    j->low = INFINITY;
    j->high = j->largest = -INFINITY;
    j->fit = rbt_camera_fit_begin();
    for (size_t i = 0; i < j->count; i++) {
        if (!load(j, i, error)) return false;
        rbt_camera_fit_add(&j->fit, &j->camera, j->figure.positions, j->figure.vertex_count);
        if (j->figure.kind == RBT_FIGURE_KINDS) add_kinds(j);
        else if (j->figure.kind != RBT_FIGURE_PLAIN && !add_values(j, error)) return false;
    }
    if (!j->fit.count)
        return rbt_fail_at(error, j->options->path, 0, 0, "none of the points is finite: there is nothing to draw");
    return true;
}

// ---- What the frames share

// NULL: it has none
static const char *name_of_kind(const job *j, long kind) {
    const rbt_scene *scene = j->subject.scene;
    if (kind < 0) return NULL;
    if (strcmp(j->options->coloring->name, "body") == 0)
        return scene && (size_t)kind < scene->bodies.count ? scene->bodies.items[kind].name : NULL;
    return (size_t)kind < j->subject.name_count ? j->subject.names[kind] : NULL;
}

static void set_legend(job *j) {
    const rbt_coloring *coloring = j->options->coloring;
    rbt_legend *legend = &j->legend;
    *legend = (rbt_legend){.largest = NAN};
    if (coloring->kind == RBT_COLOR_PLAIN) return;
    if (coloring->kind == RBT_COLOR_KINDS) {
        snprintf(legend->title, sizeof legend->title, "%s", coloring->title);
        legend->kind_count = j->kind_count;
        for (size_t i = 0; i < j->kind_count; i++) {
            long kind = legend->kinds[i].kind = j->kinds[i];
            const char *name = name_of_kind(j, kind);
            if (name) snprintf(legend->kinds[i].name, RBT_LEGEND_NAME, "%.*s", RBT_LEGEND_NAME - 1, name);
            else snprintf(legend->kinds[i].name, RBT_LEGEND_NAME, "%ld", kind);
        }
        return;
    }
    double low = j->low, high = j->high;
    if (!(low <= high)) low = high = 0;  // no finite value at all
    if (coloring->kind == RBT_COLOR_QUALITY) {
        low = 0;
        high = 1;
    } else {
        low = fmin(low, 0);  // sizes of fields: colours begin at nothing
        rbt_legend_round(&low, &high);
    }
    if (!isnan(j->options->low)) {
        low = j->options->low;
        high = j->options->high;
    }
    j->look.low = low;
    j->look.high = high;
    char unit[16];
    double factor = rbt_unit_scale(coloring->unit, fmax(fabs(low), fabs(high)), unit, sizeof unit);
    snprintf(legend->title, sizeof legend->title, unit[0] ? "%s [%s]" : "%s", coloring->title, unit);
    legend->low = low * factor;
    legend->high = high * factor;
    if (coloring->kind == RBT_COLOR_VALUES && isfinite(j->largest)) legend->largest = j->largest * factor;
}

static void set_look(job *j) {
    const rbt_render_options *o = j->options;
    j->look.ground = o->ground;
    j->look.edges = o->edges;
    for (int k = 0; k < 3; k++) {
        j->look.box_min[k] = j->fit.low[k];
        j->look.box_max[k] = j->fit.high[k];
    }
    j->look.ground_height = !isnan(o->ground_height) ? o->ground_height
                            : j->scenery.has_floor   ? j->scenery.floor
                                                     : j->fit.low[1];
    rbt_camera_fit_finish(&j->fit, o->zoom, &j->camera);
}

// Enough digits to tell neighbouring frames apart.
static int decimals_of(const rbt_frames *frames) {
    double least = INFINITY;
    for (size_t i = 1; i < frames->count; i++) {
        double gap = fabs(frames->entries[i].time - frames->entries[i - 1].time);
        if (gap > 0) least = fmin(least, gap);
    }
    if (!isfinite(least)) return 3;
    double places = ceil(-log10(least) - 1e-6);
    return (int)fmin(fmax(places, 2), 9);
}

// ---- Second pass

static double letter_size(int height) { return fmin(fmax(height / 58.0, 8), 28); }

static void draw_time(const job *j, size_t place, rbt_image *image) {
    if (!j->subject.is_run) return;
    char text[64];
    snprintf(text, sizeof text, "t = %.*f s", j->time_decimals, j->subject.frames.entries[j->chosen[place]].time);
    double size = letter_size(image->height);
    rbt_label_draw(image, 1.6 * size, image->height - 1.6 * size, size, text, INK);
}

static void draw_legend_inside(const job *j, rbt_image *image) {
    double size = letter_size(image->height), width = rbt_legend_width(&j->legend, size);
    double height = rbt_legend_height(&j->legend, size), pad = size;
    if (!j->legend.title[0]) return;
    double x = image->width - width - 2.2 * size, y = image->height - height - 1.8 * size;
    rbt_image_box(image, x - pad, y - pad, width + 2 * pad, height + 1.6 * pad, 0.6 * size, PAPER, 0.55);
    rbt_legend_draw(image, &j->legend, x, y, size);
}

static bool draw_frame(job *j, size_t place, rbt_image *image, rbt_error *error) {
    if (!load(j, place, error) || !rbt_picture_draw(&j->figure, &j->look, &j->camera, image, error)) return false;
    draw_time(j, place, image);
    return true;
}

// To the file, or to the caller, who takes the pixels over
static bool deliver(const job *j, rbt_image *image, rbt_error *error) {
    if (!j->options->image) return rbt_png_write(image, j->options->output, error);
    *j->options->image = *image;
    image->pixels = NULL;
    return true;
}

static bool write_single(job *j, rbt_image *image, rbt_error *error) {
    if (!draw_frame(j, 0, image, error)) return false;
    draw_legend_inside(j, image);
    return deliver(j, image, error);
}

static bool write_animation(job *j, rbt_image *image, rbt_error *error) {
    rbt_animation animation;
    if (!rbt_animation_begin(&animation, j->options->output, j->count, j->options->frames_per_second, error))
        return false;
    for (size_t i = 0; i < j->count; i++) {
        if (!draw_frame(j, i, image, error)) {
            rbt_animation_abandon(&animation);
            return false;
        }
        draw_legend_inside(j, image);
        if (!rbt_animation_add(&animation, image, error)) return false;
    }
    return rbt_animation_end(&animation, error);
}

static bool write_sheet(job *j, rbt_image *image, rbt_render_report *report, rbt_error *error) {
    rbt_picture_sheet sheet;
    double size = fmax(letter_size(image->height), 9), strip = rbt_legend_height(&j->legend, size);
    if (strip > 0) strip += 2 * size;
    if (!rbt_picture_sheet_new(&sheet, j->count, j->options->columns, image->width, image->height, (int)lround(strip),
                               error))
        return false;
    bool good = true;
    for (size_t i = 0; good && i < j->count; i++) {
        good = draw_frame(j, i, image, error);
        if (good) rbt_picture_sheet_place(&sheet, i, image);
    }
    if (good) {
        double x = 0.5 * (sheet.image.width - rbt_legend_width(&j->legend, size));
        rbt_legend_draw(&sheet.image, &j->legend, fmax(x, size), sheet.strip + 0.8 * size, size);
        report->width = sheet.image.width;
        report->height = sheet.image.height;
        good = deliver(j, &sheet.image, error);
    }
    rbt_picture_sheet_free(&sheet);
    return good;
}

// ---- All together

static bool check_options(const rbt_render_options *o, rbt_error *error) {
    if (!(o->zoom >= 0.05 && o->zoom <= 50)) return rbt_fail(error, "--zoom %g: the limits are 0.05 and 50", o->zoom);
    if (!isnan(o->low) && !(o->high > o->low))
        return rbt_fail(error, "--range %g,%g: the second number must be the larger", o->low, o->high);
    return true;
}

static bool draw_all(job *j, rbt_render_report *report, rbt_error *error) {
    const rbt_render_options *o = j->options;
    bool sheet = j->count > 1 && !o->animate;
    int width = o->width ? o->width : sheet ? 480 : 960, height = o->height ? o->height : sheet ? 360 : 720;
    rbt_image image;
    if (!rbt_image_new(&image, width, height, error)) return false;
    j->camera = rbt_camera_new(o->view, width, height);
    j->look = rbt_look_default();
    bool good = survey(j, error);
    good = good && set_scenery(j, 0, NULL, error);
    if (good) {
        set_look(j);
        j->has_scenery = j->subject.scene && j->subject.scene->obstacles.count > 0;
        if (j->has_scenery) j->loaded = 0;
        set_legend(j);
        j->time_decimals = decimals_of(&j->subject.frames);
        *report = (rbt_render_report){j->count, 0, width, height, j->legend};
        if (o->animate) good = write_animation(j, &image, error);
        else good = sheet ? write_sheet(j, &image, report, error) : write_single(j, &image, error);
        report->triangle_count = j->figure.triangle_count;
    }
    rbt_image_free(&image);
    return good;
}

bool rbt_render(const rbt_render_options *options, rbt_render_report *report, rbt_error *error) {
    job j = {.options = options};
    rbt_render_report ignored;
    if (!report) report = &ignored;
    bool good = check_options(options, error) &&
                (options->sim ? rbt_subject_open_sim(&j.subject, options->sim, options->coloring, error)
                              : rbt_subject_open(&j.subject, options->path, options->coloring, error));
    j.subject.scene = options->sim ? options->sim->scene : options->scene;
    good =
        good && rbt_frames_choose(j.subject.frames.count, options->path, options->frames, &j.chosen, &j.count, error);
    good = good && (options->sim || rbt_obstacle_file_read(&j.obstacles, options->path, options->scene, error)) &&
           draw_all(&j, report, error);
    rbt_obstacle_file_free(&j.obstacles);
    rbt_figure_free(&j.figure);
    rbt_scenery_free(&j.scenery);
    rbt_subject_free(&j.subject);
    free(j.chosen);
    return good;
}
