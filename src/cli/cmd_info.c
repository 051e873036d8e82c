// rubato info: what a mesh file holds, what is wrong with it, and how small the steps of explicit methods would be.
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/command.h"
#include "mesh/core/stable_step.h"
#include "mesh/core/unit.h"
#include "mesh/io/format.h"
#include "verify/exact/crossings.h"

#include <dirent.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct wishes {
    double young, poisson, density, metres;
    bool json;
} wishes;

typedef struct findings {
    const char *path;
    const rbt_mesh *mesh;
    rbt_mesh_report report;
    rbt_step_histogram steps;
    rbt_crossings crossings;
} findings;

// ---- Problems as sentences

enum { SENTENCE = 240, MAX_PROBLEMS = 12 };

typedef struct problems {
    int count;
    char sentence[MAX_PROBLEMS][SENTENCE];
} problems;

RBT_PRINTF(2, 3)
static void add_problem(problems *list, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(list->sentence[list->count++], SENTENCE, format, arguments);
    va_end(arguments);
}

static const char *plural(size_t n) { return n == 1 ? "" : "s"; }
static const char *belong(size_t n) { return n == 1 ? "belongs" : "belong"; }

static void find_problems(const findings *f, problems *list) {
    const rbt_mesh_report *r = &f->report;
    const char *element = f->mesh->tet_count ? "tet" : "triangle";
    size_t n;
    *list = (problems){0};
    if (!f->mesh->node_count) add_problem(list, "the file has no nodes");
    if ((n = r->not_finite_count))
        add_problem(list, "%zu node%s with a coordinate that is not a finite number, first node %lld", n, plural(n),
                    (long long)r->first_not_finite);
    if ((n = r->inverted_count))
        add_problem(list, "%zu inverted tet%s (negative volume), first tet %lld: exchange two of its nodes", n,
                    plural(n), (long long)r->first_inverted);
    if ((n = r->degenerate_count))
        add_problem(list, "%zu degenerate %s%s (flat within rounding), first %s %lld: remove or mesh again", n,
                    element, plural(n), element, (long long)r->first_degenerate);
    if ((n = r->duplicate_count))
        add_problem(list, "%zu %s%s with the same nodes as an earlier one, first %s %lld", n, element, plural(n),
                    element, (long long)r->first_duplicate);
    if ((n = r->isolated_count))
        add_problem(list, "%zu node%s %s to no %s and would have no mass, first node %lld", n, plural(n), belong(n),
                    f->mesh->tet_count || f->mesh->triangle_count ? element : "edge", (long long)r->first_isolated);
    if ((n = r->non_manifold_edge_count))
        add_problem(list, "%zu surface edge%s %s to more than two triangles: parts touch along them", n, plural(n),
                    belong(n));
    if (f->mesh->tet_count && (n = r->open_edge_count))
        add_problem(list, "%zu surface edge%s %s to one triangle only: the surface has holes", n, plural(n),
                    belong(n));
    const char *least = f->crossings.more ? "at least " : "";
    const rbt_surface_crossing *own = &f->crossings.within, *other = &f->crossings.between;
    if ((n = own->count))
        add_problem(list,
                    "the surface intersects itself: %s%zu edge%s through triangles, first near (%.4g, %.4g, %.4g)",
                    least, n, plural(n), own->place[0], own->place[1], own->place[2]);
    if ((n = other->count))
        add_problem(
            list,
            "parts %d and %d intersect each other: %s%zu edge%s of parts through triangles of others, first near "
            "(%.4g, %.4g, %.4g)",
            other->parts[0], other->parts[1], least, n, plural(n), other->place[0], other->place[1], other->place[2]);
}

// Something to think about rather than a fault: a size that suggests another unit; false if there is nothing.
static bool find_note(const findings *f, char note[SENTENCE]) {
    double size = 0;
    for (int k = 0; k < 3; k++) size = fmax(size, f->report.box_max[k] - f->report.box_min[k]);
    if (!(size > 100 || (size > 0 && size < 1e-3))) return false;
    snprintf(note, SENTENCE, "the body is %.3g m large: if the numbers are not metres, say so with --unit", size);
    return true;
}

// ---- Text

// Bars of solid blocks where the terminal's language has them.
static bool has_blocks(void) {
    const char *names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (int i = 0; i < 3; i++) {
        const char *value = getenv(names[i]);
        if (value && *value) return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

static void print_bar(size_t count, size_t most) {
    enum { WIDTH = 40 };
    static const char *const eighth[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    size_t eighths = most ? (size_t)ceil(8.0 * WIDTH * (double)count / (double)most) : 0;
    bool blocks = has_blocks();
    size_t whole = blocks ? eighths / 8 : (eighths + 7) / 8;
    for (size_t i = 0; i < whole; i++) fputs(blocks ? "█" : "#", stdout);
    if (blocks) fputs(eighth[eighths % 8], stdout);
    printf("%s%zu\n", count ? " " : "", count);
}

static size_t largest(const size_t counts[RBT_HISTOGRAM_BINS]) {
    size_t most = 0;
    for (int b = 0; b < RBT_HISTOGRAM_BINS; b++) most = counts[b] > most ? counts[b] : most;
    return most;
}

static void print_quality(const rbt_mesh_report *r) {
    if (r->worst_tet < 0) return;
    printf("  quality      least %.3g (tet %lld), mean %.3g; 1 is regular, 0 flat\n", r->quality_min,
           (long long)r->worst_tet, r->quality_mean);
    for (int b = 0; b < RBT_HISTOGRAM_BINS; b++) {
        printf("  %6.1f to %-9.1f ", (double)b / RBT_HISTOGRAM_BINS, (double)(b + 1) / RBT_HISTOGRAM_BINS);
        print_bar(r->quality_histogram[b], largest(r->quality_histogram));
    }
}

static void print_steps(const rbt_step_histogram *h, const wishes *w) {
    if (h->smallest < 0) return;
    char young[32], poisson[32], density[32];
    printf("  stable step  explicit methods are stable up to %.3g s (tet %lld)\n", h->min, (long long)h->smallest);
    printf("               for young %s Pa, poisson %s, density %s kg/m^3\n", rbt_text_number(w->young, young),
           rbt_text_number(w->poisson, poisson), rbt_text_number(w->density, density));
    const char *unit = h->min < 1e-4 ? "us" : h->min < 0.1 ? "ms" : "s";
    double scale = h->min < 1e-4 ? 1e6 : h->min < 0.1 ? 1e3 : 1;
    bool alike = h->max < h->min * (1 + 1e-9);
    for (int b = 0; b < (alike ? 1 : RBT_HISTOGRAM_BINS); b++) {
        printf("  %6.4g to %6.4g %s ", scale * h->edge[b], scale * (alike ? h->max : h->edge[b + 1]), unit);
        print_bar(h->count[b], largest(h->count));
    }
}

static void print_counts(const findings *f) {
    const rbt_mesh *m = f->mesh;
    printf("%s: %s, %zu node%s", f->path, m->format, m->node_count, plural(m->node_count));
    if (m->tet_count) printf(", %zu tet%s", m->tet_count, plural(m->tet_count));
    if (m->triangle_count) printf(", %zu triangle%s", m->triangle_count, plural(m->triangle_count));
    if (m->edge_count) printf(", %zu edge%s", m->edge_count, plural(m->edge_count));
    printf("\n");
}

static void print_sets(const rbt_mesh *mesh) {
    static const char *const kind[] = {"nodes", "tets", "triangles"};
    int width = 0;
    for (size_t i = 0; i < mesh->set_count; i++) {
        int length = (int)strlen(mesh->sets[i].name);
        width = length > width && length <= 40 ? length : width;
    }
    for (size_t i = 0; i < mesh->set_count; i++)
        printf("  %-12s %-*s  %zu %s\n", i ? "" : "sets", width, mesh->sets[i].name, mesh->sets[i].count,
               kind[mesh->sets[i].kind]);
}

static void print_problems(const findings *f) {
    problems list;
    find_problems(f, &list);
    bool color = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
    if (!list.count) printf("  problems     none\n");
    for (int i = 0; i < list.count; i++)
        printf("  %-12s %s%s%s\n", i ? "" : "problems", color ? "\033[33m" : "", list.sentence[i],
               color ? "\033[0m" : "");
}

static void print_text(const findings *f, const wishes *w) {
    const rbt_mesh_report *r = &f->report;
    const double *a = r->box_min, *b = r->box_max;
    print_counts(f);
    printf("  size         %.4g x %.4g x %.4g m, from (%.4g, %.4g, %.4g) to (%.4g, %.4g, %.4g)\n", b[0] - a[0],
           b[1] - a[1], b[2] - a[2], a[0], a[1], a[2], b[0], b[1], b[2]);
    if (f->mesh->tet_count)
        printf("  volume       %.4g m^3, mass %.4g kg at %g kg/m^3\n", r->volume, r->volume * w->density, w->density);
    if (r->surface_triangle_count) {
        printf("  surface      %zu triangle%s, %.4g m^2, ", r->surface_triangle_count,
               plural(r->surface_triangle_count), r->area);
        if (r->open_edge_count)
            printf("open: %zu edge%s of one triangle%s\n", r->open_edge_count, plural(r->open_edge_count),
                   f->mesh->tet_count ? "" : "; for a shell, not as the boundary of a solid");
        else printf("closed\n");
    }
    if (r->component_count) printf("  parts        %zu\n", r->component_count);
    print_sets(f->mesh);
    print_problems(f);
    char note[SENTENCE];
    if (find_note(f, note)) printf("  note         %s\n", note);
    print_quality(r);
    print_steps(&f->steps, w);
}

// ---- JSON

static void json_number(rbt_text *t, const char *key, double value) {
    if (isfinite(value)) rbt_text_add(t, ", \"%s\": %.17g", key, value);
    else rbt_text_add(t, ", \"%s\": null", key);
}

static void json_vector(rbt_text *t, const char *key, const double v[3]) {
    rbt_text_add(t, ", \"%s\": [%.17g, %.17g, %.17g]", key, v[0], v[1], v[2]);
}

static void json_counts(rbt_text *t, const char *key, const size_t counts[RBT_HISTOGRAM_BINS]) {
    rbt_text_add(t, ", \"%s\": [", key);
    for (int b = 0; b < RBT_HISTOGRAM_BINS; b++) rbt_text_add(t, "%s%zu", b ? ", " : "", counts[b]);
    rbt_text_add(t, "]");
}

// Count and first of a kind of problem, as "inverted": {"count": 2, "first": 17}.
static void json_problem(rbt_text *t, const char *key, size_t count, int64_t first) {
    rbt_text_add(t, ", \"%s\": {\"count\": %zu, \"first\": ", key, count);
    if (first >= 0) rbt_text_add(t, "%lld}", (long long)first);
    else rbt_text_add(t, "null}");
}

static void json_sets(rbt_text *t, const rbt_mesh *mesh) {
    static const char *const kind[] = {"nodes", "tets", "triangles"};
    rbt_text_add(t, ", \"sets\": [");
    for (size_t i = 0; i < mesh->set_count; i++) {
        rbt_text_add(t, "%s{\"name\": ", i ? ", " : "");
        rbt_text_add_json(t, mesh->sets[i].name);
        rbt_text_add(t, ", \"kind\": \"%s\", \"count\": %zu}", kind[mesh->sets[i].kind], mesh->sets[i].count);
    }
    rbt_text_add(t, "]");
}

static void add_json(rbt_text *t, const findings *f, const wishes *w) {
    const rbt_mesh *m = f->mesh;
    const rbt_mesh_report *r = &f->report;
    rbt_text_add(t, "{\"file\": ");
    rbt_text_add_json(t, f->path);
    rbt_text_add(t, ", \"format\": ");
    rbt_text_add_json(t, m->format);
    rbt_text_add(t, ", \"nodes\": %zu, \"tets\": %zu, \"triangles\": %zu, \"edges\": %zu", m->node_count,
                 m->tet_count, m->triangle_count, m->edge_count);
    json_vector(t, "box_min", r->box_min);
    json_vector(t, "box_max", r->box_max);
    json_number(t, "volume", r->volume);
    json_number(t, "mass", r->volume * w->density);
    json_number(t, "area", r->area);
    rbt_text_add(t, ", \"parts\": %zu, \"surface_triangles\": %zu, \"open_edges\": %zu, \"non_manifold_edges\": %zu",
                 r->component_count, r->surface_triangle_count, r->open_edge_count, r->non_manifold_edge_count);
    rbt_text_add(t, ", \"closed\": %s, \"self_intersections\": %zu, \"mutual_intersections\": %zu",
                 r->surface_triangle_count && !r->open_edge_count ? "true" : "false", f->crossings.within.count,
                 f->crossings.between.count);
    json_problem(t, "inverted", r->inverted_count, r->first_inverted);
    json_problem(t, "degenerate", r->degenerate_count, r->first_degenerate);
    json_problem(t, "duplicate", r->duplicate_count, r->first_duplicate);
    json_problem(t, "isolated", r->isolated_count, r->first_isolated);
    json_problem(t, "not_finite", r->not_finite_count, r->first_not_finite);
    json_sets(t, m);
    problems list;
    find_problems(f, &list);
    rbt_text_add(t, ", \"problems\": [");
    for (int i = 0; i < list.count; i++) {
        rbt_text_add(t, i ? ", " : "");
        rbt_text_add_json(t, list.sentence[i]);
    }
    rbt_text_add(t, "]");
    char note[SENTENCE];
    if (find_note(f, note)) {
        rbt_text_add(t, ", \"note\": ");
        rbt_text_add_json(t, note);
    }
    if (r->worst_tet >= 0) {
        rbt_text_add(t, ", \"quality\": {\"worst_tet\": %lld", (long long)r->worst_tet);
        json_number(t, "min", r->quality_min);
        json_number(t, "mean", r->quality_mean);
        json_counts(t, "histogram", r->quality_histogram);
        rbt_text_add(t, "}");
    }
    if (f->steps.smallest >= 0) {
        rbt_text_add(t, ", \"stable_step\": {\"smallest_tet\": %lld", (long long)f->steps.smallest);
        json_number(t, "min", f->steps.min);
        json_number(t, "max", f->steps.max);
        json_counts(t, "histogram", f->steps.count);
        rbt_text_add(t, "}");
    }
    rbt_text_add(t, "}");
}

static void add_json_error(rbt_text *t, const char *path, const rbt_error *error) {
    char text[2048];
    rbt_text_add(t, "{\"file\": ");
    rbt_text_add_json(t, path);
    rbt_text_add(t, ", \"error\": ");
    rbt_text_add_json(t, rbt_error_text(error, text, sizeof text));
    rbt_text_add(t, "}");
}

// ---- Files and folders

static bool examine(const char *path, const wishes *w, rbt_text *json, int *shown, rbt_error *error) {
    rbt_mesh *mesh = rbt_mesh_read(path, error);
    if (!mesh) return false;
    for (size_t i = 0; i < 3 * mesh->node_count; i++) mesh->nodes[i] *= w->metres;
    findings f = {.path = path, .mesh = mesh};
    double *steps = rbt_array_new(mesh->tet_count, sizeof *steps, "stable steps", error);
    bool good = steps && rbt_mesh_diagnose(mesh, &f.report, error);
    good = good && (f.report.not_finite_count || rbt_mesh_crossings(mesh, &f.crossings, error));
    if (good) {
        rbt_stable_steps(mesh->nodes, mesh->tets, mesh->tet_count, w->young, w->poisson, w->density, steps);
        rbt_step_histogram_fill(steps, mesh->tet_count, &f.steps);
        if (json) add_json(json, &f, w);
        else {
            if ((*shown)++) printf("\n");
            print_text(&f, w);
        }
    }
    free(steps);
    rbt_mesh_free(mesh);
    return good;
}

// Mesh files by their ending; a TetGen pair is shown once, as its .ele.
static int is_mesh_name(const struct dirent *entry) {
    const char *ending = strrchr(entry->d_name, '.');
    if (!ending || strcasecmp(ending, ".node") == 0) return 0;
    size_t n = strlen(ending);
    for (int i = 0; i < RBT_MESH_FORMAT_COUNT; i++)
        for (const char *known = RBT_MESH_FORMATS[i].endings; *known; known += strspn(known, " ")) {
            size_t length = strcspn(known, " ");
            if (length == n && strncasecmp(known, ending, n) == 0) return 1;
            known += length;
        }
    return 0;
}

// `word` itself or, if it names a folder, the mesh files in it by name; free the list and its items.
static char **list_files(const char *word, int *count) {
    struct stat status;
    struct dirent **entries = NULL;
    bool folder = stat(word, &status) == 0 && S_ISDIR(status.st_mode);
    *count = folder ? scandir(word, &entries, is_mesh_name, alphasort) : 1;
    char **files = *count > 0 ? calloc((size_t)*count, sizeof *files) : NULL;
    for (int i = 0; i < *count; i++) {
        char *path = folder ? rbt_path_join(word, entries[i]->d_name) : strdup(word);
        if (files) files[i] = path;
        else free(path);
        if (folder) free(entries[i]);
    }
    free(entries);
    return files;
}

static bool check_wishes(const wishes *w, const char *unit) {
    const char *near = rbt_text_nearest(unit, rbt_unit_name);
    if (!(w->metres > 0))
        fprintf(stderr, "rubato info: no unit \"%s\"%s%s%s\n", unit,
                near ? "; did you mean \"" : "; try m, cm, mm or in", near ? near : "", near ? "\"?" : "");
    else if (!(w->young > 0)) fprintf(stderr, "rubato info: --young is %g Pa; it must be above 0\n", w->young);
    else if (!(w->density > 0))
        fprintf(stderr, "rubato info: --density is %g kg/m^3; it must be above 0\n", w->density);
    else if (!(w->poisson > -1 && w->poisson < 0.5))
        fprintf(stderr, "rubato info: --poisson is %g; it must be above -1 and below 0.5\n", w->poisson);
    else return true;
    return false;
}

// All files that one word stands for; true if every one could be read.
static bool examine_word(const char *word, const wishes *w, rbt_text *json, int *shown) {
    int count;
    char **files = list_files(word, &count);
    bool good = files != NULL;
    if (!files) fprintf(stderr, "rubato: %s: no mesh files in this folder\n", word);
    for (int i = 0; files && i < count; i++) {
        rbt_error error = {0};
        if (json && (*shown)++) rbt_text_add(json, ",\n ");
        if (!files[i] || !examine(files[i], w, json, shown, &error)) {
            good = false;
            if (json) add_json_error(json, files[i] ? files[i] : word, &error);
            fflush(stdout);
            rbt_complain(&error);
        }
        free(files[i]);
    }
    free(files);
    return good;
}

int rbt_command_info(int count, char **words) {
    enum { MOST = 1024 };
    wishes w = {.young = 1e6, .poisson = 0.4, .density = 1000};
    const char *unit = "m", *paths[MOST];
    const rbt_option options[] = {
        {"--young", NULL, "PA", "stiffness for the stable step (1e6)", .real = &w.young},
        {"--poisson", NULL, "NU", "Poisson's ratio for the stable step (0.4)", .real = &w.poisson},
        {"--density", NULL, "RHO", "density in kg/m^3 for mass and stable step (1000)", .real = &w.density},
        {"--unit", NULL, "UNIT", "unit of the numbers in the files: m, cm, mm, um, km, in, ft (m)", .text = &unit},
        {"--json", NULL, NULL, "a JSON list with one object per file", .flag = &w.json},
    };
    int path_count, code = rbt_options_read("info", options, sizeof options / sizeof *options, count, words, paths,
                                            &path_count, 1, MOST);
    if (code >= 0) return code;
    if (!rbt_unit_factor(unit, &w.metres)) w.metres = 0;
    if (!check_wishes(&w, unit)) return 2;
    rbt_text json = {0};
    if (w.json) rbt_text_add(&json, "[");
    bool good = true;
    int shown = 0;
    for (int i = 0; i < path_count; i++) good &= examine_word(paths[i], &w, w.json ? &json : NULL, &shown);
    if (w.json) {
        rbt_text_add(&json, "]\n");
        if (json.failed) good = false;
        else fputs(json.text, stdout);
    }
    rbt_text_free(&json);
    return good ? 0 : 1;
}
