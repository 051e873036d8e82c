// Verifying what a run left on disk. Nothing in the folder is believed: whatever is missing or garbled is an error.
#include "base/file.h"
#include "mesh/core/build.h"
#include "mesh/core/topology.h"
#include "mesh/io/read_vtu.h"
#include "out/checkpoint.h"
#include "out/numbered.h"
#include "out/obstacle_file.h"
#include "step/core/method.h"
#include "verify/verify.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct folder {
    rbt_verification *v;
    const char *path;
    rbt_scene_file *scene;  // NULL: not readable; then names, radii and obstacles are not known
    rbt_obstacle_file obstacles;
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

typedef struct frame_parts {  // of a frame, for a while
    int32_t *hull, *triangles, *node_body, *particles;
    double *radius;
    size_t hull_count, particle_count;
} frame_parts;

static void frame_parts_free(frame_parts *p) {
    free(p->hull);
    free(p->triangles);
    free(p->node_body);
    free(p->particles);
    free(p->radius);
}

// Cells are in the mesh's order: tets, triangles, edges, and then vertices, which are the nodes that no other cell has.
static bool bodies_of_nodes(const rbt_mesh *mesh, const rbt_fields *fields, const char *path, frame_parts *p,
                            rbt_error *error) {
    const rbt_mesh_field *field = rbt_fields_find(fields, "body", true);
    if (!field || field->components != 1)
        return rbt_fail_at(error, path, 0, 0, "has no array \"body\" on its cells, so it is no frame of a run");
    const int32_t *elements[3] = {mesh->tets, mesh->triangles, mesh->edges};
    const size_t counts[3] = {mesh->tet_count, mesh->triangle_count, mesh->edge_count}, corners[3] = {4, 3, 2};
    size_t cell = 0;
    for (size_t i = 0; i < mesh->node_count; i++) p->node_body[i] = -1;
    for (int kind = 0; kind < 4; kind++)
        for (size_t e = 0, node = 0; kind < 3 ? e < counts[kind] : cell < fields->cell_count; e++, cell++) {
            double body = field->values[cell];
            if (!(body >= 0 && body < 1e9))
                return rbt_fail_at(error, path, 0, 0, "cell %zu belongs to body %g, which cannot be", cell, body);
            for (size_t c = 0; kind < 3 && c < corners[kind]; c++)
                p->node_body[elements[kind][corners[kind] * e + c]] = (int32_t)body;
            if (kind < 3) continue;
            while (node < mesh->node_count && p->node_body[node] >= 0) node++;
            if (node == mesh->node_count)
                return rbt_fail_at(error, path, 0, 0, "has more vertex cells than nodes that no other cell has");
            p->node_body[node] = (int32_t)body;
            p->particles[p->particle_count++] = (int32_t)node;
        }
    for (size_t i = 0; i < mesh->node_count; i++)
        if (p->node_body[i] < 0) p->node_body[i] = 0;
    return true;
}

// The radii that the scene gives; false: they are not known.
static bool radii_are_known(const folder *f, frame_parts *p) {
    const rbt_scene *scene = f->scene ? rbt_scene_of(f->scene) : NULL;
    for (size_t i = 0; i < p->particle_count; i++) {
        size_t body = (size_t)p->node_body[p->particles[i]];
        if (!scene || body >= scene->bodies.count || !scene->bodies.items[body].particles) return false;
        p->radius[i] = scene->bodies.items[body].particles->radius;
    }
    return true;
}

static bool make_parts(const folder *f, const rbt_mesh *mesh, const rbt_fields *fields, const char *path,
                       frame_parts *p) {
    size_t shells = mesh->triangle_count, n = mesh->node_count;
    if (mesh->tet_count && !rbt_boundary(mesh->tets, mesh->tet_count, n, &p->hull, NULL, &p->hull_count, f->error))
        return false;
    p->triangles = rbt_array_new(p->hull_count + shells, 3 * sizeof *p->triangles, "triangles", f->error);
    p->node_body = rbt_array_new(n, sizeof *p->node_body, "bodies of nodes", f->error);
    p->particles = rbt_array_new(n, sizeof *p->particles, "particles", f->error);
    p->radius = rbt_array_new(n, sizeof *p->radius, "particles", f->error);
    if (!p->triangles || !p->node_body || !p->particles || !p->radius) return false;
    if (p->hull_count) memcpy(p->triangles, p->hull, 3 * p->hull_count * sizeof *p->triangles);
    if (shells) memcpy(p->triangles + 3 * p->hull_count, mesh->triangles, 3 * shells * sizeof *p->triangles);
    return bodies_of_nodes(mesh, fields, path, p, f->error);
}

static bool set_mesh(folder *f, const rbt_mesh *mesh, const rbt_fields *fields, const char *path) {
    const rbt_scene *scene = f->scene ? rbt_scene_of(f->scene) : NULL;
    frame_parts p = {0};
    bool good = make_parts(f, mesh, fields, path, &p);
    if (good) {
        rbt_verify_parts parts = {.node_count = mesh->node_count,
                                  .triangle_count = p.hull_count + mesh->triangle_count,
                                  .edge_count = mesh->edge_count,
                                  .particle_count = p.particle_count,
                                  .triangles = p.triangles,
                                  .edges = mesh->edges,
                                  .particles = p.particles,
                                  .radius = radii_are_known(f, &p) ? p.radius : NULL,
                                  .node_body = p.node_body,
                                  .obstacles = f->obstacles.obstacles,
                                  .own_contact = scene && rbt_scene_has_contact(scene),
                                  .has_events = scene && rbt_scene_has_contact(scene)};
        good = rbt_verification_set_mesh(f->v, &parts, f->error);
    }
    frame_parts_free(&p);
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
    rbt_state_clear(&state);
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
        // A cut since the last frame: no frame has the mesh that the state is of, only the run itself could judge it.
        bool cut = good && state.cuts_size && state.node_count != f->mesh.node_count;
        if (good && !cut && state.node_count != f->mesh.node_count)
            good = rbt_fail_at(f->error, path, 0, 0, "has %zu nodes, but the frames have %zu", state.node_count,
                               f->mesh.node_count);
        rbt_verified about = {.frame = last_frame, .step = state.step, .failed = true, .t = state.t};
        good = good && (cut || judge(f, &about, state.x, path));
    }
    rbt_state_clear(&state);
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

// What the scene says of names, radii and obstacles: one that cannot be read again is no error, they are told to be
// unknown.
static bool read_scene(folder *f) {
    char *scene_path = rbt_path_join(f->path, "scene.json");
    rbt_error why = {0};
    f->scene = scene_path && access(scene_path, R_OK) == 0 ? rbt_scene_read(scene_path, NULL, 0, &why) : NULL;
    bool starved = !scene_path || why.out_of_memory;
    free(scene_path);
    if (starved) return rbt_fail_memory(f->error, strlen(f->path), "the scene of the run");
    f->v->scene_unknown = !f->scene;
    if (!f->scene) return true;
    const rbt_scene *scene = rbt_scene_of(f->scene);
    return rbt_verification_set_names(f->v, scene, f->error) &&
           rbt_obstacle_file_read(&f->obstacles, f->path, scene, f->error);
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
                check_numbers(path, numbers, count, error) && read_scene(&f);
    for (size_t i = 0; good && i < count; i++) {
        char *file = rbt_numbered_path(frames, "frame_", numbers[i], ".vtu", error);
        good = file && judge_frame(&f, numbers[i], file);
        free(file);
    }
    good = good && judge_failure(&f, numbers[count - 1]);
    if (f.has_mesh) rbt_mesh_clear(&f.mesh);
    rbt_obstacle_parts_free(&v->obstacles);  // they are the scene's
    rbt_obstacle_file_free(&f.obstacles);
    rbt_scene_free(f.scene);
    free(numbers);
    free(frames);
    return good;
}
