#include "cluster/record.h"

#include "base/file.h"
#include "out/checkpoint.h"
#include "out/energy_csv.h"
#include "out/numbered.h"
#include "out/probes_csv.h"
#include "out/pvd.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char PREFIX[] = ".pvtu:frames/frame_";
static const char *const WHAT = "frames";

bool rbt_ranks_agree(rbt_communicator *c, bool good, rbt_error *error) {
    int trouble = good ? c->count : c->rank, first;
    // Those who only know that another one has failed come last.
    if (!good && !error->message[0] && !error->out_of_memory) trouble = c->count - 1;
    MPI_Allreduce(&trouble, &first, 1, MPI_INT, MPI_MIN, c->world);
    if (first == c->count) return true;
    MPI_Bcast(error, (int)sizeof *error, MPI_BYTE, first, c->world);
    return false;
}

static char *join(const char *folder, const char *name, rbt_error *error) {
    char *path = rbt_path_join(folder, name);
    if (!path) rbt_fail_memory(error, strlen(folder), "a file name");
    return path;
}

static char *piece_folder(const rbt_shared_record *r, int rank, rbt_error *error) {
    char name[64];
    snprintf(name, sizeof name, "frames/rank_%04d", rank);
    return join(r->folder, name, error);
}

// ---- Opening

// Pieces of frames after `after`, of however many ranks an earlier run had
static bool remove_pieces(const rbt_shared_record *r, int64_t after, rbt_error *error) {
    char *frames = join(r->folder, "frames", error);
    DIR *folder = frames ? opendir(frames) : NULL;
    bool good = frames != NULL;
    for (struct dirent *entry; good && folder && (entry = readdir(folder));) {
        if (strncmp(entry->d_name, "rank_", 5) != 0) continue;
        char *path = join(frames, entry->d_name, error);
        good = path && rbt_numbered_remove(path, "frame_", ".vtu", after, error);
        if (path && after < 0) rmdir(path);
        free(path);
    }
    if (folder) closedir(folder);
    good = good && rbt_numbered_remove(frames, "frame_", ".pvtu", after, error) &&
           rbt_numbered_remove(frames, "frame_", ".vtu", after, error);
    free(frames);
    return good;
}

static bool remove_indices(const rbt_shared_record *r, rbt_error *error) {
    static const char *const names[] = {"frames.pvd", "surface.pvd", "energy.csv", "probes.csv"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = join(r->folder, names[i], error);
        bool gone = path && (unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR);
        if (path && !gone)
            rbt_fail_at(error, path, 0, 0, "cannot remove the file of an earlier run: %s", strerror(errno));
        free(path);
        if (!gone) return false;
    }
    return true;
}

// By the first rank
static bool open_files(rbt_shared_record *r, int64_t from, rbt_error *error) {
    char *frames = join(r->folder, "frames", error), *energy = join(r->folder, "energy.csv", error);
    char *probes = join(r->folder, "probes.csv", error), *index = join(r->folder, "frames.pvd", error);
    bool good = frames && energy && probes && index && (!r->output.vtu || rbt_subfolder_make(frames, error));
    if (good && from < 0)
        good = rbt_checkpoint_remove_after(r->folder, -1, error) && remove_indices(r, error) &&
               remove_pieces(r, -1, error);
    good = good && rbt_energy_csv_open(&r->energy, energy, from, error) &&
           (!r->piece->model->probe_count || rbt_probes_csv_open(&r->probes, probes, r->piece->model, from, error)) &&
           (!r->output.vtu || rbt_pvd_open(&r->index, index, PREFIX, from, error));
    if (good && from >= 0)
        good = rbt_checkpoint_remove_after(r->folder, from, error) && rbt_frame_file_cut(&r->energy, error) &&
               (!r->piece->model->probe_count || rbt_frame_file_cut(&r->probes, error)) &&
               (!r->output.vtu || rbt_frame_file_cut(&r->index, error)) && remove_pieces(r, from, error);
    free(frames);
    free(energy);
    free(probes);
    free(index);
    return good;
}

// Cells that begin with a node of this rank, and their nodes
static bool choose_cells(rbt_shared_record *r, rbt_error *error) {
    const rbt_model *m = r->piece->model;
    const rbt_vtu_frame *f = &r->frame;
    size_t corners = f->cell_count ? (size_t)f->ends[f->cell_count - 1] : 0, at = 0, corner = 0;
    int32_t *place = rbt_array_new(m->node_count, sizeof *place, WHAT, error);
    int32_t **ints[] = {&r->cells, &r->ends, &r->region, &r->body, &r->element, &r->rank, &r->cell};
    double **reals[] = {&r->points, &r->displacement, &r->velocity};
    bool good = place && (r->types = rbt_array_new(f->cell_count, 1, WHAT, error)) &&
                (r->stress = rbt_array_new(f->cell_count, sizeof(double), WHAT, error)) &&
                (r->point = rbt_array_new(m->node_count, sizeof(int32_t), WHAT, error)) &&
                (r->point_number = rbt_array_new(m->node_count, sizeof(int32_t), WHAT, error)) &&
                (r->labels = rbt_array_new(m->node_count, sizeof(int32_t), WHAT, error)) &&
                (r->point_labels = rbt_array_new(m->node_count, sizeof(int32_t), WHAT, error));
    for (size_t i = 0; good && i < sizeof ints / sizeof *ints; i++)
        good = (*ints[i] = rbt_array_new(i ? f->cell_count : corners, sizeof(int32_t), WHAT, error)) != NULL;
    for (size_t i = 0; good && i < sizeof reals / sizeof *reals; i++)
        good = (*reals[i] = rbt_array_new(3 * m->node_count, sizeof(double), WHAT, error)) != NULL;
    if (!good) {
        free(place);
        return false;
    }
    for (size_t c = 0; c < f->cell_count; c++) {
        size_t begin = c ? (size_t)f->ends[c - 1] : 0, end = (size_t)f->ends[c];
        if (!r->piece->ranks.owned[f->cells[begin]]) continue;
        for (size_t k = begin; k < end; k++) place[f->cells[k]] = 1;
        r->cell[r->cell_count++] = (int32_t)c;
    }
    for (size_t n = 0; n < m->node_count; n++) {
        if (!place[n]) continue;
        r->point_number[r->point_count] = r->piece->ranks.number[n];
        r->point[r->point_count] = (int32_t)n;
        place[n] = (int32_t)r->point_count++;
    }
    // tets, triangles of shells, edges, particles: numbers within their bodies
    int32_t *numbers = rbt_array_new(f->cell_count, sizeof *numbers, WHAT, error);
    for (int kind = 0; numbers && kind < RBT_BODY_KINDS; kind++)
        for (size_t b = 0; b < m->body_count; b++) {
            const rbt_body *body = &m->bodies[b];
            if ((int)body->kind != kind) continue;
            for (size_t i = 0; i < rbt_body_element_count(body); i++)
                numbers[at++] = kind == RBT_SOLID   ? r->piece->ranks.tet_number[body->tet_begin + i]
                                : kind == RBT_SHELL ? r->piece->ranks.triangle_number[body->triangle_begin + i]
                                : kind == RBT_NET   ? r->piece->ranks.edge_number[body->edge_begin + i]
                                                    : (int32_t)rbt_ranks_number_in_body(m, body->node_begin + i);
        }
    for (size_t k = 0; numbers && k < r->cell_count; k++) {
        size_t c = (size_t)r->cell[k], begin = c ? (size_t)f->ends[c - 1] : 0;
        for (size_t i = begin; i < (size_t)f->ends[c]; i++) r->cells[corner++] = place[f->cells[i]];
        r->ends[k] = (int32_t)corner;
        r->types[k] = f->types[c];
        r->region[k] = f->region[c];
        r->body[k] = f->body[c];
        r->element[k] = numbers[c];
        r->rank[k] = r->ranks->rank;
    }
    good = numbers != NULL;
    free(numbers);
    free(place);
    return good;
}

bool rbt_shared_record_open(rbt_shared_record *r, rbt_communicator *ranks, const rbt_piece *piece, const char *folder,
                            const rbt_output_def *output, int64_t from, rbt_error *error) {
    *r = (rbt_shared_record){.ranks = ranks,
                             .piece = piece,
                             .folder = folder,
                             .output = *output,
                             .next = from < 0 ? 0 : from + 1,
                             .energy = {.descriptor = -1},
                             .probes = {.descriptor = -1},
                             .index = {.descriptor = -1}};
    bool good = ranks->rank > 0 || open_files(r, from, error);
    if (!rbt_ranks_agree(ranks, good, error)) return false;
    char *own = piece_folder(r, ranks->rank, error);
    good =
        own && (!output->vtu || (rbt_subfolder_make(own, error) &&
                                 rbt_vtu_frame_init(&r->frame, piece->model, NULL, error) && choose_cells(r, error)));
    free(own);
    return rbt_ranks_agree(ranks, good, error);
}

void rbt_shared_record_close(rbt_shared_record *r) {
    if (!r->ranks) return;
    if (r->energy.path) rbt_frame_file_close(&r->energy, NULL);
    if (r->probes.path) rbt_frame_file_close(&r->probes, NULL);
    if (r->index.path) rbt_frame_file_close(&r->index, NULL);
    rbt_vtu_frame_free(&r->frame);
    void *const arrays[] = {r->cells,    r->ends,   r->region,       r->body,        r->element, r->rank,
                            r->cell,     r->point,  r->points,       r->stress,      r->types,   r->displacement,
                            r->velocity, r->labels, r->point_labels, r->point_number};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
    rbt_text_free(&r->rows);
    *r = (rbt_shared_record){0};
}

// ---- A frame

static void gather(const rbt_shared_record *r, const double *nodes, double *points) {
    for (size_t i = 0; i < r->point_count; i++)
        memcpy(points + 3 * i, nodes + 3 * (size_t)r->point[i], 3 * sizeof *points);
}

static bool write_piece(rbt_shared_record *r, const rbt_sim *sim, rbt_error *error) {
    const rbt_state *state = &sim->state;
    const rbt_method *method = sim->stepper.method;
    rbt_vtu_frame_evaluate(&r->frame, r->piece->model, state);
    gather(r, state->x, r->points);
    gather(r, r->frame.displacement, r->displacement);
    gather(r, state->v, r->velocity);
    for (size_t k = 0; k < r->cell_count; k++) r->stress[k] = r->frame.stress[r->cell[k]];
    int kind = method->labels ? method->labels(sim->stepper.self, r->labels) : -1;
    r->label_name = rbt_label_name(kind);
    for (size_t i = 0; kind >= 0 && i < r->point_count; i++) r->point_labels[i] = r->labels[r->point[i]];
    const rbt_vtu_field points[] = {{"displacement", 3, r->displacement, NULL},
                                    {"velocity", 3, r->velocity, NULL},
                                    {"node", 1, NULL, r->point_number},
                                    {r->label_name, 1, NULL, r->point_labels}};
    const rbt_vtu_field cells[] = {{"region", 1, NULL, r->region},
                                   {"body", 1, NULL, r->body},
                                   {"von_mises", 1, r->stress, NULL},
                                   {"element", 1, NULL, r->element},
                                   {"rank", 1, NULL, r->rank}};
    rbt_vtu_grid grid = {.time = state->t,
                         .point_count = r->point_count,
                         .cell_count = r->cell_count,
                         .points = r->points,
                         .cells = r->cells,
                         .ends = r->ends,
                         .types = r->types,
                         .point_field_count = kind >= 0 ? 4 : 3,
                         .cell_field_count = 5,
                         .point_fields = points,
                         .cell_fields = cells};
    char *folder = piece_folder(r, r->ranks->rank, error);
    char *path = folder ? rbt_numbered_path(folder, "frame_", r->next, ".vtu", error) : NULL;
    bool good =
        path && rbt_vtu_write(path, &grid, (rbt_vtu_options){r->output.compress, r->output.single_precision}, error);
    free(folder);
    free(path);
    return good;
}

static bool write_pieces_list(const rbt_shared_record *r, rbt_error *error) {
    const char *real = r->output.single_precision ? "Float32" : "Float64";
    rbt_text t = {0};
    rbt_text_add(&t,
                 "<?xml version=\"1.0\"?>\n<VTKFile type=\"PUnstructuredGrid\" version=\"1.0\" "
                 "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n  <PUnstructuredGrid GhostLevel=\"0\">\n"
                 "    <PPointData>\n"
                 "      <PDataArray type=\"%s\" Name=\"displacement\" NumberOfComponents=\"3\"/>\n"
                 "      <PDataArray type=\"%s\" Name=\"velocity\" NumberOfComponents=\"3\"/>\n"
                 "      <PDataArray type=\"Int32\" Name=\"node\"/>\n",
                 real, real);
    if (r->label_name) rbt_text_add(&t, "      <PDataArray type=\"Int32\" Name=\"%s\"/>\n", r->label_name);
    rbt_text_add(
        &t,
        "    </PPointData>\n    <PCellData>\n"
        "      <PDataArray type=\"Int32\" Name=\"region\"/>\n      <PDataArray type=\"Int32\" Name=\"body\"/>\n"
        "      <PDataArray type=\"%s\" Name=\"von_mises\"/>\n"
        "      <PDataArray type=\"Int32\" Name=\"element\"/>\n      <PDataArray type=\"Int32\" Name=\"rank\"/>\n"
        "    </PCellData>\n    <PPoints>\n"
        "      <PDataArray type=\"%s\" Name=\"Points\" NumberOfComponents=\"3\"/>\n    </PPoints>\n",
        real, real);
    for (int k = 0; k < r->ranks->count; k++)
        rbt_text_add(&t, "    <Piece Source=\"rank_%04d/frame_%06lld.vtu\"/>\n", k, (long long)r->next);
    rbt_text_add(&t, "  </PUnstructuredGrid>\n</VTKFile>\n");
    char *frames = join(r->folder, "frames", error);
    char *path = frames ? rbt_numbered_path(frames, "frame_", r->next, ".pvtu", error) : NULL;
    bool good = path && (!t.failed || rbt_fail_memory(error, t.size, "a frame")) &&
                rbt_file_write(path, t.text, t.size, error);
    rbt_text_free(&t);
    free(frames);
    free(path);
    return good;
}

static void take_back(rbt_shared_record *r) {
    if (r->ranks->rank == 0) {
        if (r->energy.frames > r->next) rbt_frame_file_undo(&r->energy, NULL);
        if (r->probes.path && r->probes.frames > r->next) rbt_frame_file_undo(&r->probes, NULL);
        if (r->index.path && r->index.frames > r->next) rbt_frame_file_undo(&r->index, NULL);
        char *frames = join(r->folder, "frames", NULL);
        if (frames) rbt_numbered_remove(frames, "frame_", ".pvtu", r->next - 1, NULL);
        free(frames);
    }
    char *own = piece_folder(r, r->ranks->rank, NULL);
    if (own) rbt_numbered_remove(own, "frame_", ".vtu", r->next - 1, NULL);
    free(own);
}

static bool write_growing(rbt_shared_record *r, const rbt_sim *sim, const rbt_energies *energies,
                          const double *statistics, const rbt_probe_reading *readings, bool checkpoint,
                          rbt_error *error) {
    const rbt_model *m = r->piece->model;
    double t = sim->state.t;
    if (r->output.vtu && !write_pieces_list(r, error)) return false;
    if (!rbt_energy_csv_add(&r->energy, t, energies, statistics, error)) return false;
    if (m->probe_count && !rbt_probes_csv_add(&r->probes, &r->rows, m, t, readings, error)) return false;
    if (r->output.vtu && !rbt_pvd_add(&r->index, PREFIX, t, error)) return false;
    if (!checkpoint) return true;
    char *folder = join(r->folder, "checkpoints", error);
    bool good = folder && rbt_subfolder_make(folder, error) && rbt_frame_file_sync(&r->energy, error) &&
                (!m->probe_count || rbt_frame_file_sync(&r->probes, error)) &&
                (!r->output.vtu || rbt_frame_file_sync(&r->index, error));
    free(folder);
    return good;
}

static bool write_all(rbt_shared_record *r, const rbt_sim *sim, const rbt_energies *energies,
                      const double *statistics, const rbt_probe_reading *readings, bool checkpoint,
                      rbt_error *error) {
    bool good = !r->output.vtu || write_piece(r, sim, error);
    if (!rbt_ranks_agree(r->ranks, good, error)) return false;
    if (r->ranks->rank == 0) good = write_growing(r, sim, energies, statistics, readings, checkpoint, error);
    if (!rbt_ranks_agree(r->ranks, good, error)) return false;
    if (!checkpoint) return true;
    char *path = rbt_checkpoint_path(r->folder, sim->state.frame, error);
    good = rbt_ranks_agree(r->ranks, path != NULL, error) &&
           rbt_shared_record_state(r->ranks, r->piece, sim, path, error);
    free(path);
    return good;
}

bool rbt_shared_record_frame(rbt_shared_record *r, const rbt_sim *sim, const rbt_energies *energies,
                             const double *statistics, const rbt_probe_reading *readings, bool checkpoint,
                             rbt_error *error) {
    if (!write_all(r, sim, energies, statistics, readings, checkpoint, error)) {
        take_back(r);
        return false;
    }
    r->next++;
    bool good = true;
    if (r->ranks->rank == 0 && checkpoint) good = rbt_checkpoint_prune(r->folder, r->output.checkpoint_keep, error);
    return rbt_ranks_agree(r->ranks, good, error);
}

bool rbt_shared_record_step(rbt_shared_record *r, const rbt_sim *sim, const rbt_probe_reading *readings,
                            rbt_error *error) {
    bool good = r->ranks->rank > 0 ||
                rbt_probes_csv_step(&r->rows, r->piece->model, sim->state.frame, sim->state.t, readings, error);
    return rbt_ranks_agree(r->ranks, good, error);
}
