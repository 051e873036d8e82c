#include "out/obstacle_file.h"

#include "base/memory.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are written as they lie in memory");

static const char NAME[] = "obstacles.rbt", MAGIC[8] = {'R', 'B', 'T', 'O', 'B', 'S', 'T', '1'};

typedef struct mesh_head {
    uint64_t number, nodes, triangles, frames, open_edges, loop;
    double rate, from;
} mesh_head;
_Static_assert(sizeof(mesh_head) == 64, "the head of a mesh has no gaps");

// ---- Writing

static void write_mesh(FILE *stream, size_t number, const rbt_obstacle_geometry *g) {
    const mesh_head head = {number,        g->node_count, g->triangle_count, g->frame_count,
                            g->open_edges, g->loop,       g->rate,           g->from};
    const int32_t filling = 0;
    fwrite(&head, sizeof head, 1, stream);
    fwrite(g->triangles, 3 * sizeof *g->triangles, g->triangle_count, stream);
    if (g->triangle_count % 2) fwrite(&filling, sizeof filling, 1, stream);
    fwrite(g->frames, 3 * sizeof *g->frames, g->node_count * g->frame_count, stream);
}

bool rbt_obstacle_file_write(const char *folder, const rbt_obstacles *o, rbt_error *error) {
    char *path = rbt_path_join(folder, NAME);
    if (!path) return rbt_fail_memory(error, strlen(folder), "a file name");
    bool any = false, good = true;
    for (size_t i = 0; o->geometry && i < o->count; i++) any |= o->geometry[i] != NULL;
    if (any) {
        rbt_new_file file;
        uint64_t count = o->count;
        good = rbt_new_file_open(&file, path, error);
        if (good) {
            fwrite(MAGIC, sizeof MAGIC, 1, file.stream);
            fwrite(&count, sizeof count, 1, file.stream);
            for (size_t i = 0; i < o->count; i++)
                if (o->geometry[i]) write_mesh(file.stream, i, o->geometry[i]);
            good = rbt_new_file_commit(&file, error);
        }
    } else if (unlink(path) != 0 && errno != ENOENT) {
        good = rbt_fail_at(error, path, 0, 0, "cannot remove the file of an earlier run: %s", strerror(errno));
    }
    free(path);
    return good;
}

// ---- Reading

typedef struct parser {
    const char *path, *at;
    size_t left;
    rbt_error *error;
} parser;

static bool take(parser *p, void *to, size_t size) {
    if (size > p->left)
        return rbt_fail_at(p->error, p->path, 0, 0, "is cut off: %zu more bytes are needed", size - p->left);
    if (size) memcpy(to, p->at, size);
    p->at += size;
    p->left -= size;
    return true;
}

// Counts that the bytes left have room for; anything else would ask for memory that nobody needs.
static bool counts_fit(const parser *p, const mesh_head *h) {
    size_t numbers = p->left / sizeof(int32_t);
    return h->nodes > 0 && h->triangles > 0 && h->frames > 0 && h->nodes < INT32_MAX && h->triangles <= numbers / 3 &&
           h->frames <= numbers && h->nodes <= numbers / h->frames && h->loop <= 1 && isfinite(h->rate) &&
           h->rate > 0 && isfinite(h->from);
}

static bool is_sound(const rbt_obstacle_geometry *g) {
    for (size_t i = 0; i < 3 * g->triangle_count; i++)
        if (g->triangles[i] < 0 || (size_t)g->triangles[i] >= g->node_count) return false;
    for (size_t i = 0; i < 3 * g->node_count * g->frame_count; i++)
        if (!isfinite(g->frames[i])) return false;
    return true;
}

static bool take_mesh(parser *p, size_t count, rbt_obstacle_geometry **geometry) {
    mesh_head h;
    int32_t filling = 0;
    if (!take(p, &h, sizeof h)) return false;
    if (h.number >= count || geometry[h.number] || !counts_fit(p, &h))
        return rbt_fail_at(p->error, p->path, 0, 0, "is damaged: obstacle %llu of %zu has counts that cannot be",
                           (unsigned long long)h.number, count);
    rbt_obstacle_geometry *g =
        rbt_obstacle_geometry_new((size_t)h.nodes, (size_t)h.triangles, (size_t)h.frames, p->error);
    if (!g) return false;
    geometry[h.number] = g;
    g->open_edges = (size_t)h.open_edges;
    g->loop = h.loop != 0;
    g->rate = h.rate;
    g->from = h.from;
    if (!take(p, g->triangles, 3 * g->triangle_count * sizeof *g->triangles) ||
        (g->triangle_count % 2 && !take(p, &filling, sizeof filling)) ||
        !take(p, g->frames, 3 * g->node_count * g->frame_count * sizeof *g->frames))
        return false;
    return is_sound(g) ||
           rbt_fail_at(p->error, p->path, 0, 0,
                       "is damaged: obstacle %llu has a node that is none or a coordinate that is not a "
                       "number",
                       (unsigned long long)h.number);
}

bool rbt_obstacle_file_parse(const char *path, const rbt_bytes *bytes, size_t count, rbt_obstacle_geometry **geometry,
                             rbt_error *error) {
    parser p = {path, bytes->data, bytes->size, error};
    char magic[sizeof MAGIC];
    uint64_t told = 0;
    if (!take(&p, magic, sizeof magic) || !take(&p, &told, sizeof told)) return false;
    if (memcmp(magic, MAGIC, sizeof magic) != 0 || told != count)
        return rbt_fail_at(error, path, 0, 0, "does not hold the meshes of a scene with %zu obstacles", count);
    while (p.left)
        if (!take_mesh(&p, count, geometry)) return false;
    return true;
}

static bool read_bytes(rbt_obstacle_file *f, const char *path, rbt_error *error) {
    rbt_bytes bytes;
    if (!rbt_file_read(path, &bytes, error)) return false;
    bool good = rbt_obstacle_file_parse(path, &bytes, f->obstacles.count, f->geometry, error);
    free(bytes.data);
    for (size_t i = 0; good && i < f->obstacles.count; i++)
        if ((f->obstacles.items[i].which == RBT_OBSTACLE_MESH) != (f->geometry[i] != NULL))
            good = rbt_fail_at(error, path, 0, 0,
                               "does not agree with the scene about whether obstacles[%zu] is a mesh", i);
    return good;
}

static bool load_scene(rbt_obstacle_file *f, const rbt_scene *scene, rbt_error *error) {
    for (size_t i = 0; i < f->obstacles.count; i++) {
        if (scene->obstacles.items[i].which != RBT_OBSTACLE_MESH) continue;
        f->geometry[i] =
            rbt_obstacle_geometry_load(scene->obstacles.items[i].value, i, scene->folder, scene->file, error);
        if (!f->geometry[i]) return false;
    }
    return true;
}

bool rbt_obstacle_file_read(rbt_obstacle_file *f, const char *folder, const rbt_scene *scene, rbt_error *error) {
    size_t count = scene ? scene->obstacles.count : 0;
    bool any = false;
    *f = (rbt_obstacle_file){.obstacles = {count, scene ? scene->obstacles.items : NULL, NULL}};
    for (size_t i = 0; i < count; i++) any |= scene->obstacles.items[i].which == RBT_OBSTACLE_MESH;
    if (!any) return true;
    if (!(f->geometry = rbt_array_new(count, sizeof(rbt_obstacle_geometry *), "obstacles", error))) return false;
    f->obstacles.geometry = f->geometry;
    char *path = folder ? rbt_path_join(folder, NAME) : NULL;
    if (folder && !path) return rbt_fail_memory(error, strlen(folder), "a file name");
    bool good = path && access(path, F_OK) == 0 ? read_bytes(f, path, error) : load_scene(f, scene, error);
    free(path);
    return good;
}

void rbt_obstacle_file_free(rbt_obstacle_file *f) {
    for (size_t i = 0; f->geometry && i < f->obstacles.count; i++) rbt_obstacle_geometry_free(f->geometry[i]);
    free(f->geometry);
    *f = (rbt_obstacle_file){0};
}
