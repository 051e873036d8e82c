// Writes VTU files in all variants, their index, and the same numbers as plain text for vtk_reads.py:
//   write_vtu FOLDER
// FOLDER/sheets has the same of a model with tets, triangles of a shell and edges of springs.
#include "../support/out_model.h"
#include "out/recorder.h"
#include "out/surface.h"
#include "out/vtu.h"

enum { FRAMES = 3, CUBES = 14 };

static void dump(FILE *out, const char *name, int components, const double *reals, const int32_t *ints,
                 size_t count) {
    fprintf(out, "%s %d %zu\n", name, components, count);
    for (size_t i = 0; i < count * (size_t)components; i++) {
        if (reals) fprintf(out, "%.17g\n", reals[i]);
        else fprintf(out, "%d\n", ints[i]);
    }
}

static void dump_tets(FILE *out, const rbt_model *m, const rbt_state *s) {
    double *shift = calloc(3 * m->node_count, sizeof *shift), *stress = calloc(m->tet_count, sizeof *stress);
    int32_t *body = calloc(m->tet_count, sizeof *body);
    for (size_t i = 0; i < 3 * m->node_count; i++) shift[i] = s->x[i] - m->X[i];
    for (size_t t = m->bodies[1].tet_begin; t < m->tet_count; t++) body[t] = 1;
    rbt_model_von_mises(m, s->x, stress);
    dump(out, "time", 1, &s->t, NULL, 1);
    dump(out, "points", 3, s->x, NULL, m->node_count);
    dump(out, "cells10", 4, NULL, m->tets, m->tet_count);
    dump(out, "point:displacement", 3, shift, NULL, m->node_count);
    dump(out, "point:velocity", 3, s->v, NULL, m->node_count);
    dump(out, "cell:region", 1, NULL, m->tet_region, m->tet_count);
    dump(out, "cell:body", 1, NULL, body, m->tet_count);
    dump(out, "cell:von_mises", 1, stress, NULL, m->tet_count);
    free(shift), free(stress), free(body);
}

static void dump_surface(FILE *out, const rbt_model *m, const rbt_state *s) {
    rbt_surface surface;
    if (!rbt_surface_build(&surface, m, NULL)) return;
    size_t n = surface.vertex_count;
    double *x = calloc(3 * n, sizeof *x), *v = calloc(3 * n, sizeof *v);
    int32_t *body = calloc(surface.triangle_count, sizeof *body);
    rbt_surface_evaluate(&surface, s->x, x);
    rbt_surface_evaluate(&surface, s->v, v);
    for (size_t t = surface.parts[1].triangle_begin; t < surface.triangle_count; t++) body[t] = 1;
    dump(out, "time", 1, &s->t, NULL, 1);
    dump(out, "points", 3, x, NULL, n);
    dump(out, "cells5", 3, NULL, surface.triangles, surface.triangle_count);
    dump(out, "point:velocity", 3, v, NULL, n);
    dump(out, "cell:body", 1, NULL, body, surface.triangle_count);
    free(x), free(v), free(body);
    rbt_surface_free(&surface);
}

// Tets, triangles of shells and edges one after the other
static void dump_elements(FILE *out, const rbt_model *m, const rbt_state *s) {
    rbt_vtu_frame frame;
    if (!rbt_vtu_frame_init(&frame, m, NULL, NULL)) return;
    double *stress = calloc(frame.cell_count, sizeof *stress), *sheet = calloc(m->triangle_count, sizeof *sheet);
    int32_t *types = calloc(frame.cell_count, sizeof *types);
    rbt_model_von_mises(m, s->x, stress);
    rbt_model_shell_von_mises(m, s->x, sheet);
    memcpy(stress + m->tet_count, sheet + m->bodies[1].triangle_begin,
           rbt_body_element_count(&m->bodies[1]) * sizeof *stress);
    for (size_t i = 0; i < frame.cell_count; i++) types[i] = frame.types[i];
    dump(out, "time", 1, &s->t, NULL, 1);
    dump(out, "points", 3, s->x, NULL, m->node_count);
    dump(out, "cells", 1, NULL, frame.cells, (size_t)frame.ends[frame.cell_count - 1]);
    dump(out, "cells:ends", 1, NULL, frame.ends, frame.cell_count);
    dump(out, "cells:types", 1, NULL, types, frame.cell_count);
    dump(out, "point:velocity", 3, s->v, NULL, m->node_count);
    dump(out, "cell:region", 1, NULL, frame.region, frame.cell_count);
    dump(out, "cell:body", 1, NULL, frame.body, frame.cell_count);
    dump(out, "cell:von_mises", 1, stress, NULL, frame.cell_count);
    free(stress), free(sheet), free(types);
    rbt_vtu_frame_free(&frame);
}

// A box, a cloth and a chain of springs
static rbt_model *sheet_model(const char *folder) {
    char path[1100], json[2400];
    snprintf(path, sizeof path, "%s/chain.obj", folder);
    FILE *out = fopen(path, "w");
    if (!out || fputs("v 0 3 0\nv 1 3 0\nv 2 3 0\nl 1 2 3\n", out) < 0 || fclose(out) != 0) return NULL;
    snprintf(
        json, sizeof json,
        "{\"rubato\": 1, \"bodies\": [{\"name\": \"box\", \"mesh\": {\"shape\": {\"cuboid\": {\"cells\": [3, 2, "
        "2]}}}}, {\"name\": \"cloth\", \"mesh\": {\"shape\": {\"cloth\": {\"cells_along\": 9, \"cells_across\": "
        "7}}}, \"shell\": {\"thickness\": 0.01}}, {\"name\": \"chain\", \"mesh\": {\"file\": \"%s\"}, \"springs\": "
        "{\"stiffness\": 10, \"node_mass\": 1}}]}",
        path);
    rbt_error error = {0};
    rbt_scene_file *file = rbt_scene_parse(json, strlen(json), "sheets", NULL, 0, &error);
    rbt_model *model = file ? rbt_model_compile(rbt_scene_of(file), &error) : NULL;
    if (!model) fprintf(stderr, "%s\n", error.message);
    rbt_scene_free(file);
    return model;
}

static bool write_variant(const char *folder, const char *name, const rbt_model *m, rbt_output_def output) {
    char path[1024];
    rbt_error e = {0};
    output.vtu = true;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    rbt_recorder *r = rbt_recorder_open(path, m, &output, false, -1, &e);
    bool good = r != NULL;
    for (int f = 0; good && f < FRAMES; f++) {
        rbt_state s = out_state_new(m, f);
        rbt_energies energies = out_energies(f);
        good = rbt_recorder_frame(r, &s, &energies, false, &e);
        out_state_free(&s);
    }
    good = rbt_recorder_close(r, good ? &e : NULL) && good;
    if (!good) fprintf(stderr, "%s: %s\n", e.file, e.message);
    return good;
}

static bool write_variants(const char *folder, const rbt_model *m) {
    return write_variant(folder, "plain", m, (rbt_output_def){0}) &&
           write_variant(folder, "single", m, (rbt_output_def){.single_precision = true}) &&
           write_variant(folder, "packed", m, (rbt_output_def){.compress = true}) &&
           write_variant(folder, "both", m, (rbt_output_def){.compress = true, .single_precision = true});
}

static bool write_sheets(const char *parent) {
    char folder[1024], path[1100];
    snprintf(folder, sizeof folder, "%s/sheets", parent);
    rbt_model *model = mkdir(folder, 0777) == 0 ? sheet_model(folder) : NULL;
    bool good = model && write_variants(folder, model);
    for (int f = 0; good && f < FRAMES; f++) {
        rbt_state s = out_state_new(model, f);
        snprintf(path, sizeof path, "%s/frame_%06d.txt", folder, f);
        FILE *out = fopen(path, "w");
        if (out) dump_elements(out, model, &s);
        good = out && fclose(out) == 0;
        out_state_free(&s);
    }
    rbt_model_free(model);
    return good;
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    out_model *o = out_model_new(CUBES, 2, true);
    if (!o) return 1;
    bool good = write_variants(argv[1], &o->model) && write_sheets(argv[1]);
    for (int f = 0; good && f < FRAMES; f++) {
        rbt_state s = out_state_new(&o->model, f);
        for (int surface = 0; surface < 2; surface++) {
            char path[1024];
            snprintf(path, sizeof path, "%s/%s_%06d.txt", argv[1], surface ? "surface" : "frame", f);
            FILE *out = fopen(path, "w");
            if (!out) return 1;
            if (surface) dump_surface(out, &o->model, &s);
            else dump_tets(out, &o->model, &s);
            if (fclose(out) != 0) return 1;
        }
        out_state_free(&s);
    }
    out_model_free(o);
    return good ? 0 : 1;
}
