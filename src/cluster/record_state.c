// Checkpoints of runs on ranks: one file as without ranks, made and read by the first rank. Others send what they own,
// and get what they know.
#include "cluster/record.h"

#include "base/file.h"
#include "out/checkpoint.h"

#include <string.h>

static const char *const WHAT = "a checkpoint";

// Arrays of three numbers for each node: x, v and those of the method's memory
static size_t array_count(size_t memory_size, size_t head, size_t nodes) {
    return 2 + (memory_size > head && nodes ? (memory_size - head) / (3 * nodes * sizeof(double)) : 0);
}

static double *array_of(const rbt_state *state, size_t head, size_t which) {
    if (which < 2) return which ? state->v : state->x;
    return (double *)(void *)((char *)state->memory + head) + 3 * (which - 2) * state->node_count;
}

// On the first rank: how many numbers each rank has, and which
typedef struct roll {
    int *counts, *starts;
    int32_t *numbers;
    size_t all;
} roll;

static void roll_free(roll *l) {
    free(l->counts);
    free(l->starts);
    free(l->numbers);
}

static bool call_roll(rbt_communicator *c, const int32_t *numbers, size_t count, roll *l, rbt_error *error) {
    int own = (int)count;
    bool first = c->rank == 0;
    *l = (roll){.counts = rbt_array_new((size_t)c->count, sizeof(int), WHAT, error),
                .starts = rbt_array_new((size_t)c->count, sizeof(int), WHAT, error)};
    if (!rbt_ranks_agree(c, l->counts && l->starts, error)) return false;
    MPI_Gather(&own, 1, MPI_INT, l->counts, 1, MPI_INT, 0, c->world);
    for (int r = 0; first && r < c->count; r++) {
        l->starts[r] = (int)l->all;
        l->all += (size_t)l->counts[r];
    }
    l->numbers = rbt_array_new(l->all, sizeof *l->numbers, WHAT, error);
    if (!rbt_ranks_agree(c, l->numbers != NULL, error)) return false;
    MPI_Gatherv(numbers, own, MPI_INT32_T, l->numbers, l->counts, l->starts, MPI_INT32_T, 0, c->world);
    return true;
}

bool rbt_shared_record_state(rbt_communicator *c, const rbt_piece *piece, const rbt_sim *sim, const char *path,
                             rbt_error *error) {
    const rbt_model *m = piece->model;
    const rbt_ranks *ranks = &piece->ranks;
    const rbt_state *state = &sim->state;
    size_t nodes = m->node_count, whole = ranks->whole_nodes, owned = 0, head = sim->stepper.method->memory_head;
    size_t arrays = array_count(state->memory_size, head, nodes);
    int32_t *numbers = rbt_array_new(nodes, sizeof *numbers, WHAT, error);
    double *own = rbt_array_new(3 * nodes, sizeof *own, WHAT, error), *all = NULL;
    roll l = {0};
    rbt_state result = *state;
    MPI_Datatype three;
    MPI_Type_contiguous(3, MPI_DOUBLE, &three);
    MPI_Type_commit(&three);
    for (size_t n = 0; numbers && n < nodes; n++)
        if (ranks->owned[n]) numbers[owned++] = ranks->number[n];
    bool good = rbt_ranks_agree(c, numbers && own, error) && call_roll(c, numbers, owned, &l, error);
    result.x = result.v = NULL;
    result.memory = NULL;
    bool room = true;
    if (good && c->rank == 0) {
        result.node_count = whole;
        result.memory_size = state->memory_size ? head + (arrays - 2) * 3 * whole * sizeof(double) : 0;
        result.x = rbt_array_new(3 * whole, sizeof(double), WHAT, error);
        result.v = rbt_array_new(3 * whole, sizeof(double), WHAT, error);
        result.memory = rbt_array_new(result.memory_size, 1, WHAT, error);
        all = rbt_array_new(3 * whole, sizeof(double), WHAT, error);
        room = result.x && result.v && result.memory && all;
        if (room && head && state->memory_size) memcpy(result.memory, state->memory, head);
    }
    good = good && rbt_ranks_agree(c, room, error);
    for (size_t a = 0; good && a < arrays; a++) {
        const double *from = array_of(state, head, a);
        for (size_t n = 0, k = 0; n < nodes; n++)
            if (ranks->owned[n]) memcpy(own + 3 * k++, from + 3 * n, 3 * sizeof *own);
        MPI_Gatherv(own, (int)owned, three, all, l.counts, l.starts, three, 0, c->world);
        if (c->rank > 0) continue;
        double *to = array_of(&result, head, a);
        for (size_t k = 0; k < l.all; k++) memcpy(to + 3 * (size_t)l.numbers[k], all + 3 * k, 3 * sizeof *to);
    }
    result.fingerprint = m->uncut_fingerprint;
    if (good) good = rbt_ranks_agree(c, c->rank > 0 || rbt_checkpoint_write(path, NULL, &result, error), error);
    MPI_Type_free(&three);
    roll_free(&l);
    free(numbers);
    free(own);
    free(all);
    free(result.x);
    free(result.v);
    free(result.memory);
    return good;
}

// The head of a state: all but its arrays
static bool read_whole(const rbt_piece *piece, const rbt_sim *sim, const char *folder, int64_t from_frame,
                       rbt_state *whole, rbt_error *error) {
    const rbt_model *m = piece->model;
    rbt_model named = {.node_count = piece->ranks.whole_nodes, .uncut_fingerprint = m->uncut_fingerprint};
    bool resume = from_frame < 0;
    if (!rbt_checkpoint_newest(folder, resume ? INT64_MAX : from_frame, &named,
                               resume ? RBT_SAME_MODEL : RBT_SAME_NODES, whole, error))
        return false;
    if (!resume && whole->frame != from_frame)
        return rbt_fail_at(error, folder, 0, 0,
                           "has no checkpoint of frame %lld; the nearest before it is frame %lld",
                           (long long)from_frame, (long long)whole->frame);
    if (whole->cuts_size || whole->input_size)
        return rbt_fail_at(error, folder, 0, 0,
                           "holds a run with cuts or events, which ranks do not know; go on with rubato run");
    double expected = (double)whole->frame * m->frame_interval;
    if (whole->t - expected > 1e-9 * (1 + whole->t) || expected - whole->t > 1e-9 * (1 + whole->t))
        return rbt_fail_at(
            error, folder, 0, 0,
            "frame %lld of the earlier run was at %g s, but with frames every %g s it would be at %g s; "
            "keep time.frame as it was",
            (long long)whole->frame, whole->t, m->frame_interval, expected);
    size_t head = sim->stepper.method->memory_head, nodes = piece->ranks.whole_nodes;
    size_t wanted = sim->stepper.memory_size;
    size_t fits = wanted ? head + (array_count(wanted, head, m->node_count) - 2) * 3 * nodes * sizeof(double) : 0;
    if (whole->memory_size != fits) {  // of another method, which begins afresh
        free(whole->memory);
        whole->memory = NULL;
        whole->memory_size = 0;
    }
    return true;
}

bool rbt_shared_record_restore(rbt_communicator *c, const rbt_piece *piece, const rbt_sim *sim, const char *folder,
                               int64_t from_frame, rbt_state *state, rbt_error *error) {
    const rbt_model *m = piece->model;
    rbt_state whole = {0};
    size_t nodes = m->node_count, head = sim->stepper.method->memory_head;
    bool good = c->rank > 0 || read_whole(piece, sim, folder, from_frame, &whole, error);
    *state = (rbt_state){0};
    if (!rbt_ranks_agree(c, good, error)) {
        rbt_state_clear(&whole);
        return false;
    }
    rbt_state copy = whole;
    MPI_Bcast(&copy, (int)sizeof copy, MPI_BYTE, 0, c->world);
    size_t arrays = array_count(copy.memory_size, head, piece->ranks.whole_nodes);
    *state = copy;
    state->node_count = nodes;
    state->memory_size = copy.memory_size ? head + (arrays - 2) * 3 * nodes * sizeof(double) : 0;
    state->x = rbt_array_new(3 * nodes, sizeof(double), WHAT, error);
    state->v = rbt_array_new(3 * nodes, sizeof(double), WHAT, error);
    state->memory = state->memory_size ? rbt_array_new(state->memory_size, 1, WHAT, error) : NULL;
    state->cuts = state->input = state->watch = NULL;
    state->cuts_size = state->input_size = state->watch_size = 0;
    roll l = {0};
    double *all = NULL;
    MPI_Datatype three;
    MPI_Type_contiguous(3, MPI_DOUBLE, &three);
    MPI_Type_commit(&three);
    good = rbt_ranks_agree(c, state->x && state->v && (state->memory || !state->memory_size), error) &&
           call_roll(c, piece->ranks.number, nodes, &l, error);
    if (good) good = rbt_ranks_agree(c, (all = rbt_array_new(3 * l.all, sizeof *all, WHAT, error)) != NULL, error);
    if (good && state->memory_size && head) {
        if (c->rank == 0) memcpy(state->memory, whole.memory, head);
        MPI_Bcast(state->memory, (int)head, MPI_BYTE, 0, c->world);
    }
    for (size_t a = 0; good && a < arrays; a++) {
        for (size_t k = 0; c->rank == 0 && k < l.all; k++)
            memcpy(all + 3 * k, array_of(&whole, head, a) + 3 * (size_t)l.numbers[k], 3 * sizeof *all);
        MPI_Scatterv(all, l.counts, l.starts, three, array_of(state, head, a), (int)nodes, three, 0, c->world);
    }
    MPI_Type_free(&three);
    roll_free(&l);
    free(all);
    rbt_state_clear(&whole);
    if (!good) rbt_state_clear(state);
    return good;
}
