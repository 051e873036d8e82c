// Writes VTU files in all variants, their index, and the same numbers as plain text for vtk_reads.py:
//   write_vtu FOLDER
#include "../support/out_model.h"
#include "out/recorder.h"
#include "out/surface.h"

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

static bool write_variant(const char *folder, const char *name, const rbt_model *m, rbt_output_def output) {
    char path[1024];
    rbt_error e = {0};
    output.vtu = true;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    rbt_recorder *r = rbt_recorder_open(path, m, &output, -1, &e);
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

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    out_model *o = out_model_new(CUBES, 2, true);
    if (!o) return 1;
    bool good =
        write_variant(argv[1], "plain", &o->model, (rbt_output_def){0}) &&
        write_variant(argv[1], "single", &o->model, (rbt_output_def){.single_precision = true}) &&
        write_variant(argv[1], "packed", &o->model, (rbt_output_def){.compress = true}) &&
        write_variant(argv[1], "both", &o->model, (rbt_output_def){.compress = true, .single_precision = true});
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
