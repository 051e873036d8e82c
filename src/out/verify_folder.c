// Verifying what a run left on disk. Nothing in the folder is believed: whatever is missing or garbled is an error.
#include "base/file.h"
#include "mesh/build.h"
#include "mesh/read_vtu.h"
#include "mesh/topology.h"
#include "out/checkpoint.h"
#include "out/numbered.h"
#include "out/verify.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct folder {
    rbt_verification *v;
    const char *path;
    rbt_mesh mesh;  // of the latest frame
    bool has_mesh;
    rbt_verify_hear hear;
    void *listener;
    rbt_error *error;
} folder;

// ---- The mesh of a frame

static bool same_mesh(const rbt_mesh *a, const rbt_mesh *b) {
    return a->node_count == b->node_count && a->tet_count == b->tet_count && a->triangle_count == b->triangle_count &&
           a->edge_count == b->edge_count && !(a->tet_count && memcmp(a->tets, b->tets, 16 * a->tet_count)) &&
           !(a->triangle_count && memcmp(a->triangles, b->triangles, 12 * a->triangle_count)) &&
           !(a->edge_count && memcmp(a->edges, b->edges, 8 * a->edge_count));
}

// Cells are in the mesh's order: tets, triangles, edges.
static bool bodies_of_nodes(const rbt_mesh *mesh, const rbt_fields *fields, const char *path, int32_t *node_body,
                            rbt_error *error) {
    const rbt_mesh_field *field = rbt_fields_find(fields, "body", true);
    if (!field || field->components != 1)
        return rbt_fail_at(error, path, 0, 0, "has no array \"body\" on its cells, so it is no frame of a run");
    const int32_t *elements[3] = {mesh->tets, mesh->triangles, mesh->edges};
    const size_t counts[3] = {mesh->tet_count, mesh->triangle_count, mesh->edge_count}, corners[3] = {4, 3, 2};
    size_t cell = 0;
    for (int kind = 0; kind < 3; kind++)
        for (size_t e = 0; e < counts[kind]; e++, cell++) {
            double body = field->values[cell];
            if (!(body >= 0 && body < 1e9))
                return rbt_fail_at(error, path, 0, 0, "cell %zu belongs to body %g, which cannot be", cell, body);
            for (size_t c = 0; c < corners[kind]; c++)
                node_body[elements[kind][corners[kind] * e + c]] = (int32_t)body;
        }
    return true;
}

static bool set_mesh(folder *f, const rbt_mesh *mesh, const rbt_fields *fields, const char *path) {
    int32_t *hull = NULL;
    f->v->particles = fields->cell_count - mesh->tet_count - mesh->triangle_count - mesh->edge_count;
    size_t hull_count = 0, shell_count = mesh->triangle_count;
    if (mesh->tet_count &&
        !rbt_boundary(mesh->tets, mesh->tet_count, mesh->node_count, &hull, NULL, &hull_count, f->error))
        return false;
    int32_t *triangles = rbt_array_new(hull_count + shell_count, 3 * sizeof *triangles, "triangles", f->error);
    int32_t *node_body = rbt_array_new(mesh->node_count, sizeof *node_body, "bodies of nodes", f->error);
    bool good = triangles && node_body && bodies_of_nodes(mesh, fields, path, node_body, f->error);
    if (good && hull_count) memcpy(triangles, hull, 3 * hull_count * sizeof *triangles);
    if (good && shell_count) memcpy(triangles + 3 * hull_count, mesh->triangles, 3 * shell_count * sizeof *triangles);
    good = good && rbt_verification_set_mesh(f->v, triangles, hull_count + shell_count, mesh->edges, mesh->edge_count,
                                             mesh->node_count, node_body, f->error);
    free(hull);
    free(triangles);
    free(node_body);
    return good;
}

// ---- States

// Positions of a checkpoint instead of the frame's, which are rounded.
static bool exact_positions(const folder *f, rbt_mesh *mesh, int64_t frame, const char *path) {
    rbt_state state = {0};
    char *checkpoint = rbt_checkpoint_path(f->path, frame, f->error);
    if (!checkpoint) return false;
    bool good;
    if (access(checkpoint, F_OK) != 0)
        good = rbt_fail_at(f->error, path, 0, 0,
                           "holds positions in single precision, and there is no checkpoint of frame %lld with all "
                           "digits; run with output.single_precision=false",
                           (long long)frame);
    else good = rbt_checkpoint_read(checkpoint, NULL, RBT_SAME_NODES, &state, f->error);
    if (good && state.node_count != mesh->node_count)
        good = rbt_fail_at(f->error, checkpoint, 0, 0, "has %zu nodes, but the frame has %zu", state.node_count,
                           mesh->node_count);
    if (good) memcpy(mesh->nodes, state.x, 3 * mesh->node_count * sizeof *state.x);
    rbt_state_free(&state);
    free(checkpoint);
    return good;
}

static bool judge(folder *f, const rbt_verified *about, const double *x, const char *path) {
    if (!rbt_verification_add(f->v, about, x, f->error)) {
        if (f->error && !f->error->file[0]) snprintf(f->error->file, sizeof f->error->file, "%s", path);
        return false;
    }
    if (f->hear) f->hear(f->v, &f->v->states[f->v->count - 1], f->listener);
    return true;
}

static bool judge_frame(folder *f, int64_t frame, const char *path) {
    rbt_mesh mesh;
    rbt_fields fields;
    if (!rbt_vtu_read_fields(path, &mesh, &fields, f->error)) return false;
    bool good = !fields.single_precision || exact_positions(f, &mesh, frame, path);
    if (good && !(f->has_mesh && same_mesh(&f->mesh, &mesh))) good = set_mesh(f, &mesh, &fields, path);
    rbt_verified about = {.frame = frame, .t = fields.has_time ? fields.time : NAN};
    good = good && judge(f, &about, mesh.nodes, path);
    rbt_fields_free(&fields);
    if (f->has_mesh) rbt_mesh_clear(&f->mesh);
    f->mesh = mesh;
    f->has_mesh = true;
    return good;
}

static bool judge_failure(folder *f, int64_t last_frame) {
    char *path = rbt_path_join(f->path, "failed.rbt");
    if (!path) return rbt_fail_memory(f->error, strlen(f->path), "a file name");
    rbt_state state = {0};
    bool good = true;
    if (access(path, F_OK) == 0) {
        good = rbt_checkpoint_read(path, NULL, RBT_SAME_NODES, &state, f->error);
        if (good && state.node_count != f->mesh.node_count)
            good = rbt_fail_at(f->error, path, 0, 0, "has %zu nodes, but the frames have %zu", state.node_count,
                               f->mesh.node_count);
        rbt_verified about = {.frame = last_frame, .step = state.step, .failed = true, .t = state.t};
        good = good && judge(f, &about, state.x, path);
    }
    rbt_state_free(&state);
    free(path);
    return good;
}

// ---- The folder

static bool check_folder(const char *path, rbt_error *error) {
    struct stat info;
    if (stat(path, &info) != 0)
        return rbt_fail_at(error, path, 0, 0, "cannot open the folder of a run: %s", strerror(errno));
    return S_ISDIR(info.st_mode) ||
           rbt_fail_at(error, path, 0, 0, "is no folder; rubato verify takes the folder that rubato run wrote");
}

static bool check_numbers(const char *path, const int64_t *numbers, size_t count, rbt_error *error) {
    if (!count)
        return rbt_fail_at(error, path, 0, 0,
                           "has no frames/frame_*.vtu; rubato verify takes the folder of a run with output.vtu");
    for (size_t i = 0; i < count; i++)
        if (numbers[i] != (int64_t)i)
            return rbt_fail_at(error, path, 0, 0, "frame %zu is missing, but there is frame %lld", i,
                               (long long)numbers[i]);
    return true;
}

// Names are a help to readers: a scene that cannot be read again is no error.
static bool read_names(rbt_verification *v, const char *path, rbt_error *error) {
    char *scene_path = rbt_path_join(path, "scene.json");
    rbt_error ignored;
    rbt_scene_file *scene =
        scene_path && access(scene_path, R_OK) == 0 ? rbt_scene_read(scene_path, NULL, 0, &ignored) : NULL;
    bool good = !scene || rbt_verification_set_names(v, rbt_scene_of(scene), error);
    rbt_scene_free(scene);
    free(scene_path);
    return good;
}

bool rbt_verify_folder(rbt_verification *v, const char *path, rbt_verify_hear hear, void *listener,
                       rbt_error *error) {
    folder f = {.v = v, .path = path, .hear = hear, .listener = listener, .error = error};
    int64_t *numbers = NULL;
    size_t count = 0;
    if (!check_folder(path, error)) return false;
    char *frames = rbt_path_join(path, "frames");
    if (!frames) return rbt_fail_memory(error, strlen(path), "a file name");
    bool good = rbt_numbered_list(frames, "frame_", ".vtu", &numbers, &count, error) &&
                check_numbers(path, numbers, count, error) && read_names(v, path, error);
    for (size_t i = 0; good && i < count; i++) {
        char *file = rbt_numbered_path(frames, "frame_", numbers[i], ".vtu", error);
        good = file && judge_frame(&f, numbers[i], file);
        free(file);
    }
    good = good && judge_failure(&f, numbers[count - 1]);
    if (f.has_mesh) rbt_mesh_clear(&f.mesh);
    free(numbers);
    free(frames);
    return good;
}
