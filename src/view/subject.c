#include "view/subject.h"

#include "base/memory.h"
#include "math/vec3.h"
#include "mesh/core/build.h"
#include "mesh/core/topology.h"
#include "mesh/io/read_vtu.h"
#include "view/live.h"
#include "view/strands.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const double CREASE = 58;  // [degrees]

// A file in memory, and its triangles to be drawn with the cell behind each (tets first, then triangles, springs and
// particles).
typedef struct sight {
    const char *path;
    rbt_mesh mesh;
    rbt_fields fields;
    size_t cell_count;    // in the file
    rbt_strands strands;  // whose nodes are drawn behind those of the mesh
    size_t triangle_count;
    int32_t *triangles, *cell;
} sight;

bool rbt_subject_open(rbt_subject *subject, const char *path, const rbt_coloring *coloring, rbt_error *error) {
    *subject = (rbt_subject){.coloring = coloring};
    struct stat info;
    if (stat(path, &info) != 0) return rbt_fail_at(error, path, 0, 0, "there is no such folder or mesh file");
    subject->is_run = S_ISDIR(info.st_mode);
    if (subject->is_run) return rbt_frames_open(&subject->frames, path, error);
    subject->frames.entries = rbt_array_new(1, sizeof *subject->frames.entries, "a file name", error);
    if (!subject->frames.entries) return false;
    subject->frames.count = 1;
    subject->frames.entries[0].tets = strdup(path);
    if (subject->frames.entries[0].tets) return true;
    rbt_subject_free(subject);
    return rbt_fail_memory(error, strlen(path), "a file name");
}

bool rbt_subject_open_sim(rbt_subject *subject, const rbt_sim *sim, const rbt_coloring *coloring, rbt_error *error) {
    *subject = (rbt_subject){.coloring = coloring, .sim = sim, .is_run = true};
    subject->frames.entries = rbt_array_new(1, sizeof *subject->frames.entries, "a frame", error);
    if (!subject->frames.entries) return false;
    subject->frames.count = 1;
    subject->frames.entries[0].time = sim->state.t;  // not rbt_sim_time: librubato_view.so would contain all of sim
    return true;
}

static void free_names(rbt_subject *subject) {
    for (size_t i = 0; i < subject->name_count; i++) free(subject->names[i]);
    free(subject->names);
    subject->names = NULL;
    subject->name_count = 0;
}

void rbt_subject_free(rbt_subject *subject) {
    rbt_frames_free(&subject->frames);
    free_names(subject);
    free(subject->tets);
    free(subject->hull);
    free(subject->owner);
    *subject = (rbt_subject){0};
}

// ---- Reading

static void sight_free(sight *s) {
    rbt_mesh_clear(&s->mesh);
    rbt_fields_free(&s->fields);
    rbt_strands_free(&s->strands);
    free(s->triangles);
    free(s->cell);
    *s = (sight){0};
}

static bool ends_with(const char *text, const char *ending) {
    size_t n = strlen(text), m = strlen(ending);
    return n >= m && strcmp(text + n - m, ending) == 0;
}

static bool sight_read(sight *s, const char *path, rbt_error *error) {
    *s = (sight){.path = path};
    if (ends_with(path, ".vtu")) return rbt_vtu_read_fields(path, &s->mesh, &s->fields, error);
    rbt_mesh *mesh = rbt_mesh_read(path, error);
    if (!mesh) return false;
    s->mesh = *mesh;
    free(mesh);
    return true;
}

static const rbt_mesh_field *find_field(const sight *s, const char *name) {
    const rbt_mesh_field *field = rbt_fields_find(&s->fields, name, false);
    return field ? field : rbt_fields_find(&s->fields, name, true);
}

// The same of a simulation
static bool look_at_sim(const rbt_subject *subject, sight *s, rbt_error *error) {
    const rbt_coloring *coloring = subject->coloring;
    *s = (sight){.path = "the simulation"};
    if (coloring->kind != RBT_COLOR_QUALITY) {
        if (!rbt_live_surface(subject->sim, &s->mesh, &s->fields, error)) return false;
        if (s->mesh.node_count && (!coloring->field || find_field(s, coloring->field))) return true;
        sight_free(s);
        s->path = "the simulation";
    }
    return rbt_live_elements(subject->sim, &s->mesh, &s->fields, error);
}

// The finer surface if the frame has one and it knows the field, else the tets.
static bool read_frame(const rbt_subject *subject, size_t frame, sight *s, rbt_error *error) {
    const rbt_frame_entry *entry = &subject->frames.entries[frame];
    const rbt_coloring *coloring = subject->coloring;
    if (subject->sim) return look_at_sim(subject, s, error);
    if (entry->surface && coloring->kind != RBT_COLOR_QUALITY) {
        if (!sight_read(s, entry->surface, error)) return false;
        if (!coloring->field || find_field(s, coloring->field)) return true;
        sight_free(s);
    }
    return sight_read(s, entry->tets, error);
}

// ---- Triangles

static bool keep_hull(rbt_subject *subject, const rbt_mesh *mesh, rbt_error *error) {
    size_t bytes = mesh->tet_count * 4 * sizeof(int32_t);
    if (subject->tets && subject->tet_count == mesh->tet_count && subject->node_count == mesh->node_count &&
        memcmp(subject->tets, mesh->tets, bytes) == 0)
        return true;
    free(subject->tets);
    free(subject->hull);
    free(subject->owner);
    subject->hull = subject->owner = NULL;
    subject->hull_count = 0;
    subject->tets = rbt_array_new(mesh->tet_count, 4 * sizeof(int32_t), "tets", error);
    if (!subject->tets) return false;
    if (bytes) memcpy(subject->tets, mesh->tets, bytes);
    subject->tet_count = mesh->tet_count;
    subject->node_count = mesh->node_count;
    if (rbt_boundary(mesh->tets, mesh->tet_count, mesh->node_count, &subject->hull, &subject->owner,
                     &subject->hull_count, error))
        return true;
    free(subject->tets);
    subject->tets = NULL;
    return false;
}

static bool find_strands(const rbt_subject *subject, sight *s, rbt_error *error) {
    const rbt_mesh *mesh = &s->mesh;
    const rbt_mesh_field *body = rbt_fields_find(&s->fields, "body", true);
    size_t listed = mesh->tet_count + mesh->triangle_count + mesh->edge_count;
    s->cell_count = s->fields.cell_count > listed ? s->fields.cell_count : listed;
    const rbt_strands_source source = {.mesh = mesh,
                                       .cell_count = s->cell_count,
                                       .body = body ? body->values : NULL,
                                       .body_stride = body ? body->components : 0,
                                       .scene = subject->scene};
    return rbt_strands_build(&s->strands, &source, error);
}

// The hull of the tets, those triangles of the file that are not made of the tets' nodes only (files often list the
// hull as well), springs and particles.
static bool find_triangles(rbt_subject *subject, sight *s, rbt_error *error) {
    const rbt_mesh *mesh = &s->mesh;
    if (!rbt_mesh_check_indices(mesh, s->path, error) || !keep_hull(subject, mesh, error) ||
        !find_strands(subject, s, error))
        return false;
    size_t most = subject->hull_count + mesh->triangle_count + s->strands.triangle_count;
    unsigned char *in_tet = rbt_array_new(mesh->node_count, 1, "nodes", error);
    s->triangles = in_tet ? rbt_array_new(most, 3 * sizeof(int32_t), "triangles", error) : NULL;
    s->cell = s->triangles ? rbt_array_new(most, sizeof(int32_t), "triangles", error) : NULL;
    if (!s->cell) {
        free(in_tet);
        return false;
    }
    for (size_t i = 0; i < 4 * mesh->tet_count; i++) in_tet[mesh->tets[i]] = 1;
    if (subject->hull_count) {
        memcpy(s->triangles, subject->hull, subject->hull_count * 3 * sizeof(int32_t));
        memcpy(s->cell, subject->owner, subject->hull_count * sizeof(int32_t));
    }
    s->triangle_count = subject->hull_count;
    for (size_t i = 0; i < mesh->triangle_count; i++) {
        const int32_t *t = mesh->triangles + 3 * i;
        if (in_tet[t[0]] && in_tet[t[1]] && in_tet[t[2]]) continue;
        memcpy(s->triangles + 3 * s->triangle_count, t, 3 * sizeof(int32_t));
        s->cell[s->triangle_count++] = (int32_t)(mesh->tet_count + i);
    }
    free(in_tet);
    for (size_t i = 0; i < s->strands.triangle_count; i++) {
        int32_t *t = s->triangles + 3 * s->triangle_count;
        for (size_t k = 0; k < 3; k++) t[k] = s->strands.triangles[3 * i + k] + (int32_t)mesh->node_count;
        s->cell[s->triangle_count++] = s->strands.cell[i];
    }
    if (s->triangle_count) return true;
    return rbt_fail_at(
        error, s->path, 0, 0,
        "the file holds %zu nodes but no tets, triangles, springs or particles: there is nothing to draw",
        mesh->node_count);
}

// ---- Values

static double size_of(const rbt_mesh_field *field, size_t i) {
    double sum = 0;
    if (field->components == 1) return field->values[i];
    for (size_t k = 0; k < field->components; k++) {
        double value = field->values[i * field->components + k];
        sum += value * value;
    }
    return sqrt(sum);
}

// Means at the nodes of what the tets and triangles around them have.
static bool cells_to_nodes(const sight *s, const rbt_mesh_field *field, double *at_node, rbt_error *error) {
    const rbt_mesh *mesh = &s->mesh;
    double *count = rbt_array_new(mesh->node_count, sizeof *count, "means at the nodes", error);
    if (!count) return false;
    for (size_t i = 0; i < mesh->tet_count + mesh->triangle_count; i++) {
        bool tet = i < mesh->tet_count;
        const int32_t *corners = tet ? mesh->tets + 4 * i : mesh->triangles + 3 * (i - mesh->tet_count);
        double value = size_of(field, i);
        for (int k = 0; k < (tet ? 4 : 3); k++) {
            at_node[corners[k]] += value;
            count[corners[k]] += 1;
        }
    }
    for (size_t i = 0; i < mesh->node_count; i++)
        if (count[i] > 0) at_node[i] /= count[i];
    free(count);
    return true;
}

static bool no_field(const sight *s, const rbt_coloring *coloring, rbt_error *error) {
    rbt_fail_at(error, s->path, 0, 0, "the file holds no field \"%s\" to colour by %s; try --color plain",
                coloring->field, coloring->name);
    return false;
}

static bool set_values(const sight *s, const rbt_coloring *coloring, rbt_figure *figure, rbt_error *error) {
    const rbt_mesh_field *field = find_field(s, coloring->field);
    if (!field) return no_field(s, coloring, error);
    double *at_node = rbt_array_new(s->mesh.node_count, sizeof *at_node, "values at the nodes", error);
    if (!at_node) return false;
    bool good = true;
    if (field->on_cells) good = cells_to_nodes(s, field, at_node, error);
    else
        for (size_t i = 0; i < s->mesh.node_count; i++) at_node[i] = size_of(field, i);
    good = good && (figure->values = rbt_array_new(figure->vertex_count, sizeof *figure->values, "values", error));
    for (size_t i = 0; good && i < figure->vertex_count; i++) {
        size_t n = (size_t)figure->node[i], nodes = s->mesh.node_count;
        if (n < nodes) figure->values[i] = at_node[n];
        else if (n < nodes + s->strands.node_count) figure->values[i] = at_node[s->strands.origin[n - nodes]];
    }
    figure->kind = RBT_FIGURE_ON_VERTICES;
    free(at_node);
    return good;
}

// Colours by the file's element sets: every cell gets the number of the last set that holds it, else that of "other".
static bool kinds_from_sets(rbt_subject *subject, const sight *s, double *kind, rbt_error *error) {
    const rbt_mesh *mesh = &s->mesh;
    size_t cells = s->cell_count;
    free_names(subject);
    subject->names = rbt_array_new(mesh->set_count + 1, sizeof *subject->names, "names of sets", error);
    if (!subject->names) return false;
    for (size_t i = 0; i < cells; i++) kind[i] = -1;
    for (size_t i = 0; i < mesh->set_count; i++) {
        const rbt_mesh_set *set = &mesh->sets[i];
        if (set->kind == RBT_SET_NODES || (set->kind == RBT_SET_TRIANGLES && mesh->tet_count)) continue;
        size_t first = set->kind == RBT_SET_TETS ? 0 : mesh->tet_count;
        for (size_t k = 0; k < set->count; k++) kind[first + (size_t)set->items[k]] = (double)subject->name_count;
        if (!(subject->names[subject->name_count] = strdup(set->name)))
            return rbt_fail_memory(error, strlen(set->name), "a name");
        subject->name_count++;
    }
    if (!(subject->names[subject->name_count] = strdup(subject->name_count ? "other" : "all")))
        return rbt_fail_memory(error, 6, "a name");
    for (size_t i = 0; i < cells; i++)
        if (kind[i] < 0) kind[i] = (double)subject->name_count;
    subject->name_count++;
    return true;
}

static bool set_kinds(rbt_subject *subject, const sight *s, const char *name, rbt_figure *figure, rbt_error *error) {
    const rbt_mesh_field *field = rbt_fields_find(&s->fields, name, true);
    bool by_sets = !field && !subject->is_run && strcmp(name, "region") == 0;
    if (!field && !by_sets) return no_field(s, subject->coloring, error);
    size_t cells = s->cell_count;
    double *kind = rbt_array_new(cells, sizeof *kind, "kinds of cells", error);
    figure->values = kind ? rbt_array_new(figure->triangle_count, sizeof *figure->values, "values", error) : NULL;
    bool good = figure->values && (!by_sets || kinds_from_sets(subject, s, kind, error));
    for (size_t i = 0; good && !by_sets && i < cells; i++) {
        double value = field->values[i * field->components];
        kind[i] = fabs(value) < 1e9 ? round(value) : 0;
    }
    for (size_t i = 0; good && i < figure->scenery_begin; i++) figure->values[i] = kind[s->cell[i]];
    figure->kind = RBT_FIGURE_KINDS;
    free(kind);
    return good;
}

// 6 sqrt(2) V / l_rms^3, as in rbt_mesh_report.
static double quality_of(const double *nodes, const int32_t *tet) {
    double edge[3], sides[3][3], square = 0, normal[3];
    for (int i = 0; i < 4; i++)
        for (int k = i + 1; k < 4; k++) {
            rbt_subtract(nodes + 3 * (size_t)tet[k], nodes + 3 * (size_t)tet[i], edge);
            square += rbt_dot(edge, edge) / 6;
            if (i == 0) memcpy(sides[k - 1], edge, sizeof edge);
        }
    rbt_cross(sides[0], sides[1], normal);
    return square > 0 ? M_SQRT2 * rbt_dot(normal, sides[2]) / (square * sqrt(square)) : 0;
}

static bool set_quality(const sight *s, rbt_figure *figure, rbt_error *error) {
    if (!s->mesh.tet_count)
        return rbt_fail_at(error, s->path, 0, 0, "--color quality needs tets; the file holds none");
    figure->values = rbt_array_new(figure->triangle_count, sizeof *figure->values, "values", error);
    if (!figure->values) return false;
    for (size_t i = 0; i < figure->scenery_begin; i++) {
        size_t cell = (size_t)s->cell[i];
        figure->values[i] = cell < s->mesh.tet_count ? quality_of(s->mesh.nodes, s->mesh.tets + 4 * cell) : NAN;
    }
    figure->kind = RBT_FIGURE_ON_TRIANGLES;
    return true;
}

static bool set_plain(rbt_subject *subject, const sight *s, rbt_figure *figure, rbt_error *error) {
    const rbt_mesh_field *body = rbt_fields_find(&s->fields, "body", true);
    bool several = false;
    for (size_t i = 1; body && i < s->cell_count; i++)
        several |= body->values[i * body->components] != body->values[0];
    return !several || set_kinds(subject, s, "body", figure, error);
}

// ---- All together

static bool build_figure(const sight *s, const rbt_scenery *scenery, rbt_figure *figure, rbt_error *error) {
    size_t extra_nodes = scenery ? scenery->node_count : 0, extra = scenery ? scenery->triangle_count : 0;
    size_t own = s->mesh.node_count, nodes = own + s->strands.node_count, count = s->triangle_count;
    if (!extra && nodes == own)
        return rbt_figure_build(figure, s->mesh.nodes, nodes, s->triangles, count, CREASE, error);
    double *all_nodes = rbt_array_new(nodes + extra_nodes, 3 * sizeof *all_nodes, "nodes", error);
    int32_t *all = all_nodes ? rbt_array_new(count + extra, 3 * sizeof *all, "triangles", error) : NULL;
    bool good = all != NULL;
    if (good) {
        memcpy(all_nodes, s->mesh.nodes, 3 * own * sizeof *all_nodes);
        if (nodes > own) memcpy(all_nodes + 3 * own, s->strands.nodes, 3 * (nodes - own) * sizeof *all_nodes);
        if (extra_nodes) memcpy(all_nodes + 3 * nodes, scenery->nodes, 3 * extra_nodes * sizeof *all_nodes);
        memcpy(all, s->triangles, 3 * count * sizeof *all);
        for (size_t i = 0; i < 3 * extra; i++) all[3 * count + i] = scenery->triangles[i] + (int32_t)nodes;
        good = rbt_figure_build(figure, all_nodes, nodes + extra_nodes, all, count + extra, CREASE, error);
        figure->scenery_begin = count;
    }
    free(all_nodes);
    free(all);
    return good;
}

bool rbt_subject_load(rbt_subject *subject, size_t frame, const rbt_scenery *scenery, rbt_figure *figure,
                      rbt_error *error) {
    sight s = {0};
    *figure = (rbt_figure){0};
    bool good = read_frame(subject, frame, &s, error) && find_triangles(subject, &s, error) &&
                build_figure(&s, scenery, figure, error);
    if (good) switch (subject->coloring->kind) {
        case RBT_COLOR_PLAIN: good = set_plain(subject, &s, figure, error); break;
        case RBT_COLOR_VALUES: good = set_values(&s, subject->coloring, figure, error); break;
        case RBT_COLOR_KINDS: good = set_kinds(subject, &s, subject->coloring->field, figure, error); break;
        case RBT_COLOR_QUALITY: good = set_quality(&s, figure, error); break;
        }
    if (!good) rbt_figure_free(figure);
    sight_free(&s);
    return good;
}
