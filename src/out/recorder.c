#include "out/recorder.h"

#include "base/file.h"
#include "model/warp.h"
#include "out/checkpoint.h"
#include "out/energy_csv.h"
#include "out/numbered.h"
#include "out/obj_frames.h"
#include "out/pc2.h"
#include "out/probes_csv.h"
#include "out/pvd.h"
#include "out/steps_csv.h"
#include "out/usda.h"
#include "out/vtu.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const char TETS[] = "frames/frame_", SURFACE_NAME[] = "frames/surface_", OBJ[] = "obj/frame_";

struct rbt_recorder {
    char *folder;
    const rbt_model *model;
    int generation;  // of the model
    rbt_output_def output;
    rbt_vtu_options vtu_options;
    int64_t next;  // the frame to come
    rbt_surface surface;
    rbt_vtu_frame vtu;
    rbt_warp *warp;    // NULL: positions are shown as they are
    double *warped;    // (node_count x 3)
    double *vertices;  // (vertex_count x 3) of the surface
    float *floats;     // (vertex_count x 3)
    rbt_frame_file tets_index, embedded_index, energy, pc2, probes, steps;
    rbt_usda usda;
    rbt_frame_file *files[6];  // those of the six above that are open
    int file_count;
    const double *statistics;           // of the frame to come; NULL: not known
    const rbt_probe_reading *readings;  // (probe_count) then
    const double *contact;              // (node_count x 3) forces then; NULL: not shown
    const char *label_name;             // of the labels then
    const int32_t *labels;              // (node_count) NULL: not shown
    rbt_text rows;                      // of probes.csv, of steps since the last frame
    bool by_error;                      // attempts at steps are written down
    rbt_text attempts;                  // rows of steps.csv since the last frame
    bool failed;                        // in opening or writing: then nothing more is looked for at the end
};

static bool writes_embedded(const rbt_recorder *r) { return r->output.vtu && r->surface.has_embedded; }

// All files that grow: files[0..], then the USD ones. NULL past the end.
static rbt_frame_file *growing(rbt_recorder *r, size_t i) {
    if (i < (size_t)r->file_count) return r->files[i];
    i -= (size_t)r->file_count;
    return i < r->usda.file_count ? &r->usda.files[i] : NULL;
}

static char *inside(const rbt_recorder *r, const char *name, rbt_error *error) {
    char *path = rbt_path_join(r->folder, name);
    if (!path) rbt_fail_memory(error, strlen(r->folder), "a file name");
    return path;
}

// ---- Opening

static bool make_folder(const rbt_recorder *r, const char *name, rbt_error *error) {
    char *path = inside(r, name, error);
    bool good = path && rbt_subfolder_make(path, error);
    free(path);
    return good;
}

static bool make_folders(const rbt_recorder *r, rbt_error *error) {
    return rbt_folder_make(r->folder, error) && (!r->output.vtu || make_folder(r, "frames", error)) &&
           (!r->output.obj || make_folder(r, "obj", error));
}

static bool remove_file(const rbt_recorder *r, const char *name, rbt_error *error) {
    char *path = inside(r, name, error);
    if (!path) return false;
    bool good = unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR ||
                rbt_fail_at(error, path, 0, 0, "cannot remove the file of an earlier run: %s", strerror(errno));
    free(path);
    return good;
}

// Indices of an earlier run that this one would not replace would show frames that are gone.
static bool remove_indices(const rbt_recorder *r, rbt_error *error) {
    static const char *const names[] = {"frames.pvd", "surface.pvd", "energy.csv", "probes.csv",
                                        "steps.csv",  "frames.usda", "surface.pc2"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!remove_file(r, names[i], error)) return false;
    return true;
}

static bool remove_frames(const rbt_recorder *r, int64_t after, rbt_error *error) {
    char *frames = inside(r, "frames", error), *obj = inside(r, "obj", error);
    bool good = frames && obj && rbt_numbered_remove(frames, "frame_", ".vtu", after, error) &&
                rbt_numbered_remove(frames, "surface_", ".vtu", after, error) &&
                (!r->output.obj || rbt_numbered_remove(obj, "frame_", ".obj", after, error));
    free(frames);
    free(obj);
    return good;
}

static bool opened(rbt_recorder *r, rbt_frame_file *file, bool good) {
    if (good) r->files[r->file_count++] = file;
    return good;
}

static bool open_files(rbt_recorder *r, int64_t from, rbt_error *error) {
    char *energy = inside(r, "energy.csv", error), *tets = inside(r, "frames.pvd", error);
    char *embedded = inside(r, "surface.pvd", error), *pc2 = inside(r, "surface.pc2", error);
    char *probes = inside(r, "probes.csv", error), *steps = inside(r, "steps.csv", error);
    bool good = energy && tets && embedded && pc2 && probes && steps;
    good = good && opened(r, &r->energy, rbt_energy_csv_open(&r->energy, energy, from, error));
    if (r->model->probe_count)
        good = good && opened(r, &r->probes, rbt_probes_csv_open(&r->probes, probes, r->model, from, error));
    if (r->by_error) good = good && opened(r, &r->steps, rbt_steps_csv_open(&r->steps, steps, from, error));
    if (r->output.pc2)
        good = good && opened(r, &r->pc2, rbt_pc2_open(&r->pc2, pc2, r->surface.vertex_count, from, error));
    if (r->output.usda)
        good = good && rbt_usda_open(&r->usda, r->folder, &r->surface, r->model->frame_interval, from, error);
    if (r->output.vtu)
        good = good && opened(r, &r->tets_index, rbt_pvd_open(&r->tets_index, tets, TETS, from, error));
    if (writes_embedded(r))
        good = good &&
               opened(r, &r->embedded_index, rbt_pvd_open(&r->embedded_index, embedded, SURFACE_NAME, from, error));
    free(energy);
    free(tets);
    free(embedded);
    free(pc2);
    free(probes);
    free(steps);
    return good;
}

// The mesh that the point cache moves: its shape is the rest shape, its vertices are the cache's.
static bool write_base_mesh(rbt_recorder *r, rbt_error *error) {
    if (!r->output.pc2) return true;
    char *path = inside(r, "surface.obj", error);
    rbt_surface_evaluate(&r->surface, r->model->X, r->vertices);
    bool good = path && rbt_obj_write(path, &r->surface, r->vertices, error);
    free(path);
    return good;
}

// Whether the files of frames 0 to `last` are there, to continue after them or at the end
static bool frames_are_there(const rbt_recorder *r, const char *kind, const char *suffix, int64_t last, bool goes_on,
                             rbt_error *error) {
    const char *slash = strchr(kind, '/');
    char name[16];
    snprintf(name, sizeof name, "%.*s", (int)(slash - kind), kind);
    int64_t *numbers = NULL, missing = 0;
    size_t count = 0;
    char *folder = inside(r, name, error);
    bool good = folder && rbt_numbered_list(folder, slash + 1, suffix, &numbers, &count, error);
    free(folder);
    if (!good) return false;
    for (size_t i = 0; i < count && numbers[i] == missing; i++) missing++;
    free(numbers);
    if (missing > last) return true;
    char *path = rbt_numbered_path(r->folder, kind, missing, suffix, error);
    if (path && goes_on)
        rbt_fail_at(error, path, 0, 0,
                    "is missing, but to continue after frame %lld all earlier frames are needed; start the run again "
                    "or continue "
                    "from an earlier frame",
                    (long long)last);
    else if (path) rbt_fail_at(error, path, 0, 0, "is missing: it was deleted while the run continued");
    free(path);
    return false;
}

static bool all_frames_are_there(const rbt_recorder *r, int64_t last, bool goes_on, rbt_error *error) {
    return (!r->output.vtu || frames_are_there(r, TETS, ".vtu", last, goes_on, error)) &&
           (!writes_embedded(r) || frames_are_there(r, SURFACE_NAME, ".vtu", last, goes_on, error)) &&
           (!r->output.obj || frames_are_there(r, OBJ, ".obj", last, goes_on, error));
}

// Checkpoints go first: at no moment is there one that is ahead of the other files.
static bool start_anew(rbt_recorder *r, rbt_error *error) {
    return make_folders(r, error) && rbt_checkpoint_remove_after(r->folder, -1, error) && remove_indices(r, error) &&
           remove_frames(r, -1, error) && open_files(r, -1, error) && write_base_mesh(r, error);
}

static bool go_on(rbt_recorder *r, int64_t from, rbt_error *error) {
    if (!open_files(r, from, error) || !all_frames_are_there(r, from, true, error) ||
        !rbt_checkpoint_remove_after(r->folder, from, error))
        return false;
    rbt_frame_file *file;
    for (size_t i = 0; (file = growing(r, i)); i++)
        if (!rbt_frame_file_cut(file, error)) return false;
    return remove_frames(r, from, error) && write_base_mesh(r, error);
}

// Formats of one list of vertices for all frames
static bool check_cuts(const rbt_recorder *r, rbt_error *error) {
    if (!r->model->cut_count || !(r->output.pc2 || r->output.usda)) return true;
    return rbt_fail(
        error,
        "%s files hold one set of vertices and triangles for all frames, but this scene cuts bodies while "
        "time runs; take vtu or obj, which have a file per frame",
        r->output.pc2 ? "pc2" : "usda");
}

// What depends on the model
static bool prepare_frames(rbt_recorder *r, rbt_error *error) {
    if (!rbt_surface_build(&r->surface, r->model, error)) return false;
    if (!r->surface.triangle_count && (r->output.obj || r->output.pc2 || r->output.usda))
        return rbt_fail(error,
                        "obj, pc2 and usda files hold surfaces, but no body has tets or triangles; take vtu only");
    if (r->output.vtu && !rbt_vtu_frame_init(&r->vtu, r->model, &r->surface, error)) return false;
    if (r->output.warp &&
        (!(r->warp = rbt_warp_new(r->model, error)) ||
         !(r->warped = rbt_array_new(r->model->node_count, 3 * sizeof *r->warped, "warped positions", error))))
        return false;
    r->vtu.shown = r->warped;
    r->vertices = rbt_array_new(r->surface.vertex_count, 3 * sizeof *r->vertices, "surface positions", error);
    r->floats = rbt_array_new(r->surface.vertex_count, 3 * sizeof *r->floats, "surface positions", error);
    return r->vertices && r->floats;
}

static void forget_frames(rbt_recorder *r) {
    rbt_surface_free(&r->surface);
    rbt_vtu_frame_free(&r->vtu);
    rbt_warp_free(r->warp);
    free(r->warped);
    r->warp = NULL;
    r->warped = NULL;
    free(r->vertices);
    free(r->floats);
    r->vertices = NULL;
    r->floats = NULL;
}

static bool prepare(rbt_recorder *r, const char *folder, rbt_error *error) {
    r->folder = strdup(folder[0] ? folder : ".");
    if (!r->folder) return rbt_fail_memory(error, strlen(folder), "a folder name");
    return check_cuts(r, error) && prepare_frames(r, error);
}

bool rbt_recorder_follow(rbt_recorder *recorder, const rbt_model *model, rbt_error *error) {
    rbt_recorder *r = recorder;
    if (r->generation == model->generation) return true;
    forget_frames(r);
    r->model = model;
    r->generation = model->generation;
    return prepare_frames(r, error);
}

rbt_recorder *rbt_recorder_open(const char *folder, const rbt_model *model, const rbt_output_def *output,
                                bool by_error, int64_t from_frame, rbt_error *error) {
    rbt_recorder *r = rbt_array_new(1, sizeof *r, "the recorder", error);
    if (!r) return NULL;
    *r = (rbt_recorder){.model = model,
                        .generation = model->generation,
                        .output = *output,
                        .by_error = by_error,
                        .vtu_options = {output->compress, output->single_precision},
                        .next = from_frame < 0 ? 0 : from_frame + 1};
    if (prepare(r, folder, error) && (from_frame < 0 ? start_anew(r, error) : go_on(r, from_frame, error))) return r;
    r->failed = true;
    rbt_recorder_close(r, NULL);
    return NULL;
}

// ---- A frame

static bool write_frame_files(rbt_recorder *r, const rbt_state *state, rbt_error *error) {
    char *tets = rbt_numbered_path(r->folder, TETS, r->next, ".vtu", error);
    char *embedded = rbt_numbered_path(r->folder, SURFACE_NAME, r->next, ".vtu", error);
    char *obj = rbt_numbered_path(r->folder, OBJ, r->next, ".obj", error);
    bool good = tets && embedded && obj;
    r->vtu.contact = r->contact;
    r->vtu.label_name = r->label_name;
    r->vtu.labels = r->labels;
    if (r->output.vtu) good = good && rbt_vtu_write_elements(tets, &r->vtu, r->model, state, r->vtu_options, error);
    if (writes_embedded(r))
        good = good && rbt_vtu_write_surface(embedded, &r->vtu, &r->surface, state, r->vtu_options, error);
    if (r->output.obj) good = good && rbt_obj_write(obj, &r->surface, r->vertices, error);
    free(tets);
    free(embedded);
    free(obj);
    return good;
}

static bool write_growing(rbt_recorder *r, const rbt_state *state, const rbt_energies *energies, rbt_error *error) {
    if (!rbt_energy_csv_add(&r->energy, state->t, energies, r->statistics, error)) return false;
    if (r->model->probe_count && !rbt_probes_csv_add(&r->probes, &r->rows, r->model, state->t, r->readings, error))
        return false;
    if (r->by_error && !rbt_steps_csv_add(&r->steps, &r->attempts, state->t, error)) return false;
    if (r->output.pc2 && !rbt_pc2_add(&r->pc2, r->surface.vertex_count, r->vertices, r->floats, error)) return false;
    if (r->output.usda && !rbt_usda_add(&r->usda, r->vertices, state->t, error)) return false;
    if (r->output.vtu && !rbt_pvd_add(&r->tets_index, TETS, state->t, error)) return false;
    return !writes_embedded(r) || rbt_pvd_add(&r->embedded_index, SURFACE_NAME, state->t, error);
}

// What grows reaches the disk before the checkpoint does, also if the machine stops.
static bool write_checkpoint(rbt_recorder *r, const rbt_state *state, rbt_error *error) {
    rbt_frame_file *file;
    for (size_t i = 0; (file = growing(r, i)); i++)
        if (!rbt_frame_file_sync(file, error)) return false;
    if (!make_folder(r, "checkpoints", error)) return false;
    char *path = rbt_checkpoint_path(r->folder, state->frame, error);
    bool good = path && rbt_checkpoint_write(path, r->model, state, error);
    free(path);
    return good;
}

static void take_back(rbt_recorder *r) {
    rbt_frame_file *file;
    for (size_t i = 0; (file = growing(r, i)); i++)
        if (file->frames > r->next) rbt_frame_file_undo(file, NULL);
    remove_frames(r, r->next - 1, NULL);
}

void rbt_recorder_note(rbt_recorder *recorder, const double *statistics, const rbt_probe_reading *readings) {
    recorder->statistics = statistics;
    recorder->readings = readings;
}

void rbt_recorder_note_contact(rbt_recorder *recorder, const double *forces) { recorder->contact = forces; }

void rbt_recorder_note_labels(rbt_recorder *recorder, const char *name, const int32_t *labels) {
    recorder->label_name = name;
    recorder->labels = labels;
}

void rbt_recorder_attempt(rbt_recorder *recorder, const rbt_step_attempt *attempt) {
    rbt_steps_csv_note(&recorder->attempts, recorder->next - 1, attempt);
}

void rbt_recorder_forget_attempts(rbt_recorder *recorder) { rbt_text_free(&recorder->attempts); }

bool rbt_recorder_step(rbt_recorder *recorder, const rbt_model *model, const rbt_state *state,
                       const rbt_probe_reading *readings, rbt_error *error) {
    return rbt_probes_csv_step(&recorder->rows, model, state->frame, state->t, readings, error);
}

bool rbt_recorder_frame(rbt_recorder *recorder, const rbt_state *state, const rbt_energies *energies, bool checkpoint,
                        rbt_error *error) {
    rbt_recorder *r = recorder;
    if (state->frame != r->next || state->node_count != r->model->node_count)
        return rbt_fail_at(error, r->folder, 0, 0,
                           "frame %lld with %zu nodes was to be recorded, but frame %lld with %zu nodes comes next",
                           (long long)state->frame, state->node_count, (long long)r->next, r->model->node_count);
    if (r->warp && !rbt_warp_apply(r->warp, state->t, state->x, r->warped, error)) return false;
    if (r->output.obj || r->output.pc2 || r->output.usda)
        rbt_surface_evaluate(&r->surface, r->warp ? r->warped : state->x, r->vertices);
    if (!write_frame_files(r, state, error) || !write_growing(r, state, energies, error) ||
        (checkpoint && !write_checkpoint(r, state, error))) {
        take_back(r);
        r->failed = true;
        return false;
    }
    r->next++;
    return !checkpoint || rbt_checkpoint_prune(r->folder, r->output.checkpoint_keep, error);
}

bool rbt_recorder_close(rbt_recorder *recorder, rbt_error *error) {
    rbt_recorder *r = recorder;
    if (!r) return true;
    bool good = r->next == 0 || r->failed || all_frames_are_there(r, r->next - 1, false, error);
    for (int i = 0; i < r->file_count; i++) good = rbt_frame_file_close(r->files[i], good ? error : NULL) && good;
    good = rbt_usda_close(&r->usda, good ? error : NULL) && good;
    forget_frames(r);
    rbt_text_free(&r->rows);
    rbt_text_free(&r->attempts);
    free(r->folder);
    free(r);
    return good;
}
