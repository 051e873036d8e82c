// What a comparison measures once all runs are over.
//
// Energies are compared with one scale for all: the largest kinetic + elastic + contact energy of the yardstick, which
// is the reference or, failing that, the first method that went to the end. Unlike the total energy it does not
// depend on where gravity's potential is zero, and a method that explodes cannot hide behind its own size.
#include "study/compare.h"

#include "base/memory.h"
#include "out/checkpoint.h"

#include <math.h>

static double largest_energy(const rbt_trial *trial) {
    double most = 0;
    for (size_t i = 0; i < trial->frame_count; i++) {
        const rbt_energies *e = &trial->frames[i].energies;
        most = fmax(most, e->kinetic + e->elastic + e->contact);
    }
    return most > 0 ? most : NAN;
}

static void find_yardstick(rbt_comparison *all) {
    all->yardstick = NULL;
    if (all->has_reference && rbt_trial_complete(&all->reference.trial)) all->yardstick = &all->reference;
    for (size_t i = 0; i < all->count && !all->yardstick; i++)
        if (rbt_trial_complete(&all->contenders[i].trial)) all->yardstick = &all->contenders[i];
    all->energy_scale = all->yardstick ? largest_energy(&all->yardstick->trial) : NAN;
}

static double apart(const double a[3], const double b[3]) {
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

static void measure_drift(rbt_contender *c, double energy_scale) {
    const rbt_trial *trial = &c->trial;
    c->energy_end = c->energy_max = c->momentum_max = c->angular_max = NAN;
    if (trial->frame_count < 2) return;
    const rbt_energies *first = &trial->frames[0].energies;
    c->energy_max = c->momentum_max = c->angular_max = 0;
    for (size_t i = 0; i < trial->frame_count; i++) {
        const rbt_energies *e = &trial->frames[i].energies;
        c->energy_end = (e->total - first->total) / energy_scale;
        if (!(fabs(c->energy_end) <= fabs(c->energy_max))) c->energy_max = c->energy_end;
        c->momentum_max = fmax(c->momentum_max, apart(e->momentum, first->momentum));
        c->angular_max = fmax(c->angular_max, apart(e->angular_momentum, first->angular_momentum));
    }
}

// ---- Distances: from the checkpoints, which hold the very bits

static bool read_frame(const rbt_contender *c, size_t frame, rbt_state *state) {
    char *path = rbt_checkpoint_path(c->folder, (int64_t)frame, NULL);
    bool good = path && rbt_checkpoint_read(path, NULL, RBT_SAME_NODES, state, NULL);
    free(path);
    return good;
}

static double distance_between(const rbt_state *a, const rbt_state *b) {
    double sum = 0;
    if (a->node_count != b->node_count || !a->node_count) return NAN;
    for (size_t i = 0; i < 3 * a->node_count; i++) sum += (a->x[i] - b->x[i]) * (a->x[i] - b->x[i]);
    return sqrt(sum / (double)a->node_count);
}

static void measure_frame(rbt_comparison *all, size_t frame) {
    rbt_state reference = {0};
    if (!read_frame(&all->reference, frame, &reference)) return;
    for (size_t i = 0; i < all->count; i++) {
        rbt_contender *c = &all->contenders[i];
        rbt_state state = {0};
        if (frame >= c->trial.frame_count || !read_frame(c, frame, &state)) continue;
        c->distance[frame] = distance_between(&state, &reference);
        rbt_state_free(&state);
    }
    rbt_state_free(&reference);
}

static bool prepare_distances(rbt_contender *c, rbt_error *error) {
    size_t count = c->trial.frame_count;
    c->distance_end = c->distance_max = NAN;
    c->distance = rbt_array_new(count, sizeof *c->distance, "distances", error);
    for (size_t i = 0; c->distance && i < count; i++) c->distance[i] = NAN;
    return c->distance != NULL;
}

static void sum_up_distances(rbt_contender *c) {
    size_t count = c->trial.frame_count;
    for (size_t i = 1; i < count; i++) c->distance_max = fmax(c->distance_max, c->distance[i]);
    if (count && rbt_trial_complete(&c->trial)) c->distance_end = c->distance[count - 1];
}

static bool measure_rate(rbt_contender *c, rbt_error *error) {
    size_t count = rbt_trial_complete(&c->trial) ? c->run_count : 0;
    double *sorted = rbt_array_new(count, sizeof *sorted, "times", error);
    if (!sorted) return false;
    for (size_t i = 0; i < count; i++) sorted[i] = c->rates[i];
    c->rate = rbt_spread_of(sorted, count);
    free(sorted);
    return true;
}

static bool measure_run(rbt_contender *c, double energy_scale, rbt_error *error) {
    measure_drift(c, energy_scale);
    return measure_rate(c, error) && prepare_distances(c, error);
}

bool rbt_comparison_measure(rbt_comparison *all, rbt_error *error) {
    find_yardstick(all);
    if (!measure_run(&all->reference, all->energy_scale, error)) return false;
    for (size_t i = 0; i < all->count; i++)
        if (!measure_run(&all->contenders[i], all->energy_scale, error)) return false;
    for (size_t frame = 0; all->has_reference && frame < all->reference.trial.frame_count; frame++)
        measure_frame(all, frame);
    for (size_t i = 0; i < all->count; i++) sum_up_distances(&all->contenders[i]);
    return true;
}
