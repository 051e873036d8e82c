#include "serve/replay.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "mesh/core/build.h"
#include "mesh/io/read_vtu.h"
#include "model/obstacle_nodes.h"
#include "out/obstacle_file.h"
#include "serve/request.h"
#include "step/core/method.h"
#include "view/frames.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct rbt_replay {
    char *folder;
    uint32_t run;
    bool live;
    pthread_mutex_t lock;  // of all below
    rbt_frames frames;
    int64_t list_size;  // of frames.pvd when it was read, and its time
    struct timespec list_time;
    // The frame in memory
    size_t number;  // SIZE_MAX: none
    bool finer;     // it is the finer surface that tets carry along
    rbt_mesh mesh;
    rbt_fields fields;
    int32_t *body, *region;  // (cells)
    double *rest;            // (nodes x 3)
    double *values[RBT_SHOWN_FIELDS];
    rbt_drawn *shape;
    bool learnt;        // which fields there are
    uint32_t known;     // of the first frame
    const char *label;  // name of its labels; NULL: none
    // Obstacles
    bool looked, moves;
    rbt_scene_file *scene;
    rbt_obstacle_file obstacles;
    double low[3], high[3];  // box of the bodies in the first frame that was read
    rbt_scenery scenery;
};

const char *rbt_replay_name(const rbt_replay *replay) { return replay->folder; }

static void forget_frame(rbt_replay *r) {
    rbt_mesh_clear(&r->mesh);
    rbt_fields_free(&r->fields);
    free(r->body);
    free(r->region);
    free(r->rest);
    for (int k = 0; k < RBT_SHOWN_FIELDS; k++) {
        free(r->values[k]);
        r->values[k] = NULL;
    }
    rbt_scenery_free(&r->scenery);
    r->body = r->region = NULL;
    r->rest = NULL;
    r->number = SIZE_MAX;
}

void rbt_replay_free(rbt_replay *r) {
    if (!r) return;
    forget_frame(r);
    rbt_frames_free(&r->frames);
    rbt_drawn_free(r->shape);
    rbt_obstacle_file_free(&r->obstacles);
    rbt_scene_free(r->scene);
    pthread_mutex_destroy(&r->lock);
    free(r->folder);
    free(r);
}

// ---- The list of frames, read again when its file has changed

static bool refresh(rbt_replay *r, rbt_error *error) {
    char *path = rbt_path_join(r->folder, "frames.pvd");
    if (!path) return rbt_fail_memory(error, strlen(r->folder), "a file name");
    struct stat info;
    bool there = stat(path, &info) == 0;
    free(path);
    if (!there && r->live) return true;
    if (there && info.st_size == r->list_size && info.st_mtim.tv_sec == r->list_time.tv_sec &&
        info.st_mtim.tv_nsec == r->list_time.tv_nsec)
        return true;
    rbt_frames frames;
    rbt_error why = {0};
    if (!rbt_frames_open(&frames, r->folder, &why)) {
        if (r->live) return true;  // it is being written
        if (error) *error = why;
        return false;
    }
    rbt_frames_free(&r->frames);
    r->frames = frames;
    if (there) {
        r->list_size = info.st_size;
        r->list_time = info.st_mtim;
    }
    return true;
}

rbt_replay *rbt_replay_open(const char *folder, uint32_t run, bool live, rbt_error *error) {
    rbt_replay *r = rbt_array_new(1, sizeof *r, "a run", error);
    if (!r) return NULL;
    r->folder = strdup(folder);
    r->run = run;
    r->live = live;
    r->number = SIZE_MAX;
    pthread_mutex_init(&r->lock, NULL);
    bool good = r->folder ? refresh(r, error) : rbt_fail_memory(error, strlen(folder), "a folder name");
    if (good) return r;
    rbt_replay_free(r);
    return NULL;
}

size_t rbt_replay_count(rbt_replay *replay) { return replay->frames.count; }
bool rbt_replay_is_finer(const rbt_replay *r) { return r->frames.count && r->frames.entries[0].surface; }
double rbt_replay_time(const rbt_replay *replay, size_t number) { return replay->frames.entries[number].time; }

// ---- One frame in memory

static const double *point_field(const rbt_replay *r, const char *name, size_t components) {
    const rbt_mesh_field *field = rbt_fields_find(&r->fields, name, false);
    return field && field->components == components ? field->values : NULL;
}

static bool take_kinds(rbt_replay *r, const char *name, int32_t **kinds, rbt_error *error) {
    const rbt_mesh_field *field = rbt_fields_find(&r->fields, name, true);
    size_t cells = r->fields.cell_count;
    if (!(*kinds = rbt_array_new(cells, sizeof **kinds, "numbers of cells", error))) return false;
    for (size_t i = 0; field && i < cells; i++) {
        double value = field->values[i * field->components];
        (*kinds)[i] = fabs(value) < 1e9 ? (int32_t)value : 0;
    }
    return true;
}

static rbt_drawn_source source_of(const rbt_replay *r) {
    return (rbt_drawn_source){.node_count = r->mesh.node_count,
                              .rest = r->rest,
                              .tet_count = r->mesh.tet_count,
                              .triangle_count = r->mesh.triangle_count,
                              .edge_count = r->mesh.edge_count,
                              .cell_count = r->fields.cell_count,
                              .tets = r->mesh.tets,
                              .triangles = r->mesh.triangles,
                              .edges = r->mesh.edges,
                              .body = r->body,
                              .region = r->region};
}

static bool take_rest(rbt_replay *r, rbt_error *error) {
    size_t count = 3 * r->mesh.node_count;
    const double *shift = point_field(r, "displacement", 3);
    if (!(r->rest = rbt_array_new(count, sizeof *r->rest, "rest positions", error))) return false;
    for (size_t i = 0; i < count; i++) r->rest[i] = r->mesh.nodes[i] - (shift ? shift[i] : 0);
    return true;
}

// Where the scene's obstacles are is known from the folder; a run can be shown without, unless memory is what lacks.
static bool look_for_obstacles(rbt_replay *r, rbt_error *error) {
    rbt_error why = {0};
    if (r->looked) return true;
    for (int k = 0; k < 3; k++) r->low[k] = INFINITY, r->high[k] = -INFINITY;
    for (size_t i = 0; i < 3 * r->mesh.node_count; i++) {
        r->low[i % 3] = fmin(r->low[i % 3], r->mesh.nodes[i]);
        r->high[i % 3] = fmax(r->high[i % 3], r->mesh.nodes[i]);
    }
    char *path = rbt_path_join(r->folder, "scene.json");
    if (!path) return rbt_fail_memory(error, strlen(r->folder), "a file name");
    rbt_scene_free(r->scene);
    r->scene = access(path, R_OK) == 0 ? rbt_scene_read(path, NULL, 0, &why) : NULL;
    free(path);
    if (!r->scene || !rbt_obstacle_file_read(&r->obstacles, r->folder, rbt_scene_of(r->scene), &why)) {
        rbt_obstacle_file_free(&r->obstacles);
        r->obstacles = (rbt_obstacle_file){0};
        if (why.out_of_memory && error) *error = why;
        if (why.out_of_memory) return false;
    }
    const rbt_obstacles *all = &r->obstacles.obstacles;
    for (size_t i = 0; i < all->count; i++) {
        rbt_motion_group motion = rbt_obstacle_motion(&all->items[i]);
        r->moves = r->moves || rbt_obstacle_is_prescribed(all, i, &motion);
    }
    r->looked = true;
    return true;
}

static bool place_obstacles(rbt_replay *r, double time, rbt_error *error) {
    if (!look_for_obstacles(r, error)) return false;
    rbt_scenery_sight sight = {.time = time};
    memcpy(sight.low, r->low, sizeof sight.low);
    memcpy(sight.high, r->high, sizeof sight.high);
    return rbt_scenery_build(&r->scenery, &r->obstacles.obstacles, &sight, error);
}

// As `rubato render`: the finer surface, if there is one and it has the fields.
static bool read_frame(rbt_replay *r, size_t number, uint32_t fields, rbt_error *error) {
    const rbt_frame_entry *entry = &r->frames.entries[number];
    bool finer = entry->surface && !(fields & ~(uint32_t)RBT_SHOWN_SPEED);
    const char *path = finer ? entry->surface : entry->tets;
    if (r->number == number && r->finer == finer) return true;
    forget_frame(r);
    r->finer = finer;
    if (!rbt_vtu_read_fields(path, &r->mesh, &r->fields, error)) return false;
    bool good = rbt_mesh_check_indices(&r->mesh, path, error) && take_kinds(r, "body", &r->body, error) &&
                take_kinds(r, "region", &r->region, error) && take_rest(r, error) &&
                place_obstacles(r, entry->time, error);
    if (!good) {
        forget_frame(r);
        return false;
    }
    r->number = number;
    return true;
}

static bool take_sizes(const rbt_replay *r, const char *name, double **values, rbt_error *error) {
    const double *field = point_field(r, name, 3);
    size_t count = r->mesh.node_count;
    if (!field) return true;
    if (!(*values = rbt_array_new(count, sizeof **values, "values", error))) return false;
    for (size_t i = 0; i < count; i++) {
        const double *v = field + 3 * i;
        (*values)[i] = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    }
    return true;
}

static const char *label_name(const rbt_replay *r) {
    for (int i = 0; rbt_label_name(i); i++)
        if (point_field(r, rbt_label_name(i), 1)) return rbt_label_name(i);
    return NULL;
}

static bool take_field(rbt_replay *r, int k, rbt_error *error) {
    size_t count = r->mesh.node_count;
    if (r->values[k]) return true;
    if (1u << k == RBT_SHOWN_SPEED) return take_sizes(r, "velocity", &r->values[k], error);
    if (1u << k == RBT_SHOWN_CONTACT) return take_sizes(r, "contact_force", &r->values[k], error);
    if (1u << k == RBT_SHOWN_LABEL) {
        const double *label = label_name(r) ? point_field(r, label_name(r), 1) : NULL;
        if (!label) return true;
        if (!(r->values[k] = rbt_array_new(count, sizeof *label, "values", error))) return false;
        memcpy(r->values[k], label, count * sizeof *label);
        return true;
    }
    const rbt_mesh_field *stress = rbt_fields_find(&r->fields, "von_mises", true);
    if (!stress || stress->components != 1) return true;
    if (!(r->values[k] = rbt_array_new(count, sizeof(double), "values", error))) return false;
    const rbt_drawn_source source = source_of(r);
    return rbt_drawn_means(&source, stress->values, r->values[k], error);
}

static bool find_shape(rbt_replay *r, rbt_error *error) {
    const rbt_drawn_source source = source_of(r);
    if (r->shape && r->shape->id == rbt_drawn_id(&source)) return true;
    rbt_drawn_free(r->shape);
    return (r->shape = rbt_drawn_new(&source, error)) != NULL;
}

bool rbt_replay_load(rbt_replay *r, size_t number, uint32_t fields, rbt_replay_values *values, rbt_error *error) {
    if (number >= r->frames.count)
        return rbt_fail_at(error, r->folder, 0, 0, "frame %zu was asked for, but there are %zu", number,
                           r->frames.count);
    if (!read_frame(r, number, fields, error) || !find_shape(r, error)) return false;
    *values = (rbt_replay_values){.shape = r->shape,
                                  .x = r->mesh.nodes,
                                  .scenery = &r->scenery,
                                  .obstacles_move = r->moves,
                                  .label = label_name(r)};
    for (int k = 0; k < RBT_SHOWN_FIELDS; k++) {
        if (!(fields >> k & 1)) continue;
        if (!take_field(r, k, error)) return false;
        values->fields[k] = r->values[k];
    }
    return true;
}

// ---- Messages

// Which fields the frame in memory has; a finer surface has not all that its tets have.
static uint32_t fields_there(const rbt_replay *r) {
    uint32_t fields = 0;
    if (point_field(r, "velocity", 3)) fields |= RBT_SHOWN_SPEED;
    if (rbt_fields_find(&r->fields, "von_mises", true)) fields |= RBT_SHOWN_STRESS;
    if (point_field(r, "contact_force", 3)) fields |= RBT_SHOWN_CONTACT;
    if (label_name(r)) fields |= RBT_SHOWN_LABEL;
    return fields;
}

// What frames have is looked up in one of them, once.
static bool learn_fields(rbt_replay *r, rbt_error *error) {
    if (r->learnt || !r->frames.count) return true;
    if (!read_frame(r, 0, RBT_SHOWN_ALL, error)) return false;
    r->known = fields_there(r);
    r->label = label_name(r);
    r->learnt = true;
    return true;
}

static rbt_message *list_message(rbt_replay *r, rbt_error *error) {
    rbt_text text = {0};
    if (!learn_fields(r, error)) return NULL;
    uint32_t fields = r->known;
    rbt_text_add(&text, "{\"type\": \"frames\", \"run\": %u, \"fields\": %u, \"label\": ", r->run, fields);
    if (r->label) rbt_text_add_json(&text, r->label);
    else rbt_text_add(&text, "null");
    rbt_text_add(&text, ", \"times\": [");
    for (size_t i = 0; i < r->frames.count; i++)
        rbt_text_add(&text, "%s%.17g", i ? "," : "", r->frames.entries[i].time);
    rbt_text_add(&text, "]}");
    rbt_message *m = text.failed ? NULL : rbt_message_new(true, error);
    if (text.failed) rbt_fail_memory(error, text.size, "a message");
    if (m) rbt_message_add(m, text.text, text.size);
    rbt_text_free(&text);
    return rbt_message_done(m, error);
}

rbt_message *rbt_replay_list(rbt_replay *r, rbt_error *error) {
    pthread_mutex_lock(&r->lock);
    rbt_message *m = refresh(r, error) ? list_message(r, error) : NULL;
    pthread_mutex_unlock(&r->lock);
    return m;
}

rbt_message *rbt_replay_frame(rbt_replay *r, size_t number, uint32_t fields, rbt_error *error) {
    rbt_replay_values values;
    rbt_message *m = NULL;
    pthread_mutex_lock(&r->lock);
    if ((number < r->frames.count || refresh(r, error)) && rbt_replay_load(r, number, fields, &values, error)) {
        rbt_shown_frame frame = {.run = r->run,
                                 .frame = (uint32_t)number,
                                 .time = r->frames.entries[number].time,
                                 .x = values.x,
                                 .scenery = values.obstacles_move ? values.scenery : NULL};
        memcpy(frame.fields, values.fields, sizeof frame.fields);
        m = rbt_drawn_frame_message(values.shape, &frame, error);
    }
    pthread_mutex_unlock(&r->lock);
    return m;
}

rbt_message *rbt_replay_shape(rbt_replay *r, size_t number, uint32_t fields, rbt_error *error) {
    rbt_replay_values values = {0};
    rbt_message *m = NULL;
    pthread_mutex_lock(&r->lock);
    if ((number < r->frames.count || refresh(r, error)) && rbt_replay_load(r, number, fields, &values, error))
        m = rbt_drawn_message(values.shape, values.scenery, r->run, (uint32_t)number, error);
    pthread_mutex_unlock(&r->lock);
    return m;
}

// ---- Files: regular ones, never through a symbolic link

enum { CHUNK = 4 << 20 };  // bytes of a file in one message

rbt_message *rbt_replay_file(rbt_replay *r, int name, double from, rbt_error *error) {
    char *path = rbt_path_join(r->folder, rbt_served_file(name));
    if (!path) return rbt_fail_memory(error, strlen(r->folder), "a file name"), NULL;
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    free(path);
    struct stat info;
    bool there = file >= 0 && fstat(file, &info) == 0 && S_ISREG(info.st_mode);
    uint64_t size = there ? (uint64_t)info.st_size : 0, begin = (uint64_t)from;
    if (begin > size) begin = size;
    rbt_message *m = rbt_message_new(false, error);
    if (m) {
        const rbt_message_head head = {RBT_MESSAGE_FILE, r->run, (uint32_t)name, 0, 0};
        const uint64_t span[] = {begin, size};
        rbt_message_add_head(m, &head);
        rbt_message_add(m, span, sizeof span);
        size_t wanted = size - begin < CHUNK ? (size_t)(size - begin) : CHUNK;
        char *room = wanted ? rbt_message_room(m, wanted) : NULL;
        ssize_t got = room ? pread(file, room, wanted, (off_t)begin) : 0;
        if (room) m->size -= wanted - (size_t)(got > 0 ? got : 0);
    }
    if (file >= 0) close(file);
    return rbt_message_done(m, error);
}
