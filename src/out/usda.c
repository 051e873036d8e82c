#include "out/usda.h"

#include "base/file.h"

#include <stdio.h>
#include <string.h>

enum { END_WIDTH = 20 };  // digits of endTimeCode, filled up with spaces
_Static_assert((int)END_WIDTH < (int)RBT_COUNT_WIDTH, "the number and its end must fit");

static const char TAIL[] = "    }\n}\n";

static void count_text(int64_t frames, char text[RBT_COUNT_WIDTH]) {
    snprintf(text, RBT_COUNT_WIDTH, "%-*lld", END_WIDTH, (long long)(frames > 0 ? frames - 1 : 0));
}

static void mesh_line_start(const void *context, int64_t frame, char text[RBT_LINE_START]) {
    (void)context;
    snprintf(text, RBT_LINE_START, "        %lld: [", (long long)frame);
}

static void stage_line_start(const void *context, int64_t frame, char text[RBT_LINE_START]) {
    (void)context;
    snprintf(text, RBT_LINE_START, "        %lld: ", (long long)frame);
}

// ---- Names: letters, digits and underscores, no digit first; distinct also where upper and lower case are the same

static bool is_taken(char *const *names, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(names[i], name) == 0) return true;
    return false;
}

static char *prim_name(char *const *names, size_t count, const char *body) {
    rbt_text text = {0};
    if (!body[0] || (body[0] >= '0' && body[0] <= '9')) rbt_text_add(&text, "_");
    for (const char *c = body; *c; c++) {
        bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
        rbt_text_add_bytes(&text, letter ? c : "_", 1);
    }
    size_t size = text.size;
    for (unsigned i = 1; !text.failed && is_taken(names, count, text.text); i++) {
        text.size = size;
        rbt_text_add(&text, "_%u", i);
    }
    if (!text.failed) return text.text;
    rbt_text_free(&text);
    return NULL;
}

static void free_names(char **names, size_t count) {
    for (size_t i = 0; names && i < count; i++) free(names[i]);
    free(names);
}

static char **prim_names(const rbt_surface *surface, rbt_error *error) {
    char **names = rbt_array_new(surface->part_count, sizeof *names, "names of prims", error);
    for (size_t b = 0; names && b < surface->part_count; b++) {
        names[b] = prim_name(names, b, surface->parts[b].name);
        if (names[b]) continue;
        rbt_fail_memory(error, strlen(surface->parts[b].name), "the name of a prim");
        free_names(names, b);
        return NULL;
    }
    return names;
}

// Bodies without a surface are left out.
static bool is_empty(const rbt_surface *surface, size_t part) {
    return surface->parts[part].triangle_begin == surface->parts[part].triangle_end;
}

// ---- Heads

// Returns where the number behind endTimeCode begins.
static size_t add_layer(rbt_text *text, const char *default_prim, double interval) {
    char end[RBT_COUNT_WIDTH];
    count_text(0, end);
    rbt_text_add(text, "#usda 1.0\n(\n    defaultPrim = \"%s\"\n    endTimeCode = ", default_prim);
    size_t place = text->size;
    rbt_text_add(text,
                 "%s\n    framesPerSecond = %.12g\n    metersPerUnit = 1\n    startTimeCode = 0\n"
                 "    timeCodesPerSecond = %.12g\n    upAxis = \"Y\"\n)\n\n",
                 end, 1 / interval, 1 / interval);
    return place;
}

static size_t add_mesh(rbt_text *text, const rbt_surface *surface, size_t part, const char *name, double interval) {
    const rbt_surface_part *p = &surface->parts[part];
    size_t place = add_layer(text, name, interval);
    rbt_text_add(text, "def Mesh \"%s\"\n{\n    int[] faceVertexCounts = [", name);
    for (size_t t = p->triangle_begin; t < p->triangle_end; t++)
        rbt_text_add_bytes(text, t == p->triangle_begin ? "3" : ", 3", t == p->triangle_begin ? 1 : 3);
    rbt_text_add(text, "]\n    int[] faceVertexIndices = [");
    for (size_t i = 3 * p->triangle_begin; i < 3 * p->triangle_end; i++) {
        char number[24];
        int n = snprintf(number, sizeof number, "%s%zu", i == 3 * p->triangle_begin ? "" : ", ",
                         (size_t)surface->triangles[i] - p->vertex_begin);
        rbt_text_add_bytes(text, number, (size_t)n);
    }
    rbt_text_add(text, "]\n    uniform token subdivisionScheme = \"none\"\n    point3f[] points.timeSamples = {\n");
    return place;
}

static size_t add_stage(rbt_text *text, const rbt_surface *surface, char *const *names, double interval) {
    size_t place = add_layer(text, "World", interval);
    rbt_text_add(text, "def Xform \"World\"\n{\n");
    for (size_t b = 0; b < surface->part_count; b++)
        if (!is_empty(surface, b))
            rbt_text_add(
                text, "    def Mesh \"%s\" (\n        prepend references = @./usda/%s.usda@\n    )\n    {\n    }\n\n",
                names[b], names[b]);
    rbt_text_add(text, "    custom double rubato:time.timeSamples = {\n");
    return place;
}

// ---- Files

static bool open_file(rbt_usda *usda, const char *folder, const char *name, const rbt_text *head, size_t place,
                      bool mesh, int64_t from_frame, rbt_error *error) {
    char *path = rbt_path_join(folder, name);
    if (!path || head->failed) {
        free(path);
        return rbt_fail_memory(error, head->size, "the head of a USD file");
    }
    const rbt_frame_file_def def = {.path = path,
                                    .head = head->text,
                                    .head_size = head->size,
                                    .tail = TAIL,
                                    .line_start = mesh ? mesh_line_start : stage_line_start,
                                    .count_offset = place,
                                    .count_width = END_WIDTH,
                                    .count_text = count_text};
    bool good = rbt_frame_file_open(&usda->files[usda->file_count], &def, from_frame, error);
    usda->file_count += good;
    free(path);
    return good;
}

static bool open_all(rbt_usda *usda, const char *folder, char *const *names, double interval, int64_t from_frame,
                     rbt_error *error) {
    size_t bodies = 0;
    for (size_t b = 0; b < usda->surface->part_count; b++) bodies += !is_empty(usda->surface, b);
    rbt_text head = {0}, name = {0};
    bool good = true;
    if (bodies > 1 && from_frame < 0) {
        rbt_text_add(&name, "%s/usda", folder);
        good = name.failed ? rbt_fail_memory(error, name.size, "a file name") : rbt_folder_make(name.text, error);
    }
    for (size_t b = 0; good && b < usda->surface->part_count; b++) {
        if (is_empty(usda->surface, b)) continue;
        head.size = name.size = 0;
        rbt_text_add(&name, bodies > 1 ? "usda/%s.usda" : "frames.usda", names[b]);
        size_t place = add_mesh(&head, usda->surface, b, names[b], interval);
        good = !name.failed ? open_file(usda, folder, name.text, &head, place, true, from_frame, error)
                            : rbt_fail_memory(error, name.size, "a file name");
    }
    if (good && bodies != 1) {
        head.size = 0;
        size_t place = add_stage(&head, usda->surface, names, interval);
        good = open_file(usda, folder, "frames.usda", &head, place, false, from_frame, error);
    }
    rbt_text_free(&head);
    rbt_text_free(&name);
    return good;
}

bool rbt_usda_open(rbt_usda *usda, const char *folder, const rbt_surface *surface, double interval,
                   int64_t from_frame, rbt_error *error) {
    *usda = (rbt_usda){.surface = surface};
    usda->files = rbt_array_new(surface->part_count + 1, sizeof *usda->files, "USD files", error);
    char **names = usda->files ? prim_names(surface, error) : NULL;
    bool good = names && open_all(usda, folder, names, interval, from_frame, error);
    free_names(names, surface->part_count);
    if (!good) rbt_usda_close(usda, NULL);
    return good;
}

static void format_sample(rbt_text *text, int64_t frame, const double *vertices, size_t count) {
    text->size = 0;
    rbt_text_add(text, "        %lld: [", (long long)frame);
    for (size_t v = 0; v < count; v++) {  // nine digits give the 32-bit float back exactly
        char point[96];
        const double *p = vertices + 3 * v;
        int n = snprintf(point, sizeof point, "%s(%.9g, %.9g, %.9g)", v ? ", " : "", (double)(float)p[0],
                         (double)(float)p[1], (double)(float)p[2]);
        rbt_text_add_bytes(text, point, (size_t)n);
    }
    rbt_text_add(text, "],\n");
}

bool rbt_usda_add(rbt_usda *usda, const double *vertices, double t, rbt_error *error) {
    const rbt_surface *surface = usda->surface;
    rbt_text *sample = &usda->sample;
    for (size_t f = 0, b = 0; f < usda->file_count; f++, b++) {
        rbt_frame_file *file = &usda->files[f];
        while (b < surface->part_count && is_empty(surface, b)) b++;
        if (b < surface->part_count) {
            const rbt_surface_part *part = &surface->parts[b];
            format_sample(sample, file->frames, vertices + 3 * part->vertex_begin,
                          part->vertex_end - part->vertex_begin);
        } else {
            sample->size = 0;
            rbt_text_add(sample, "        %lld: %.17g,\n", (long long)file->frames, t);
        }
        if (sample->failed) {
            rbt_text_free(sample);
            return rbt_fail_memory(error, 0, "a frame in USD text");
        }
        if (!rbt_frame_file_add(file, sample->text, sample->size, error)) return false;
    }
    return true;
}

bool rbt_usda_close(rbt_usda *usda, rbt_error *error) {
    bool good = true;
    for (size_t f = 0; f < usda->file_count; f++)
        good = rbt_frame_file_close(&usda->files[f], good ? error : NULL) && good;
    free(usda->files);
    rbt_text_free(&usda->sample);
    *usda = (rbt_usda){0};
    return good;
}
