// What is measured of a contender once all runs are over.
#include "study/contender.h"

#include "base/memory.h"
#include "out/checkpoint.h"

#include <math.h>

double rbt_contender_energy_scale(const rbt_contender *c) {
    double most = 0;
    for (size_t i = 0; i < c->trial.frame_count; i++) {
        const rbt_energies *e = &c->trial.frames[i].energies;
        most = fmax(most, e->kinetic + e->elastic + e->contact);
    }
    return most > 0 ? most : NAN;
}

// ---- Energies and momenta

static double apart(const double a[3], const double b[3]) {
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

static void measure_totals(rbt_contender *c) {
    size_t count = c->trial.frame_count;
    c->total_first = c->total_last = c->total_min = c->total_max = NAN;
    if (count < 2) return;
    c->total_first = c->trial.frames[0].energies.total;
    c->total_last = c->trial.frames[count - 1].energies.total;
    for (size_t i = 0; i < count; i++) {
        c->total_min = fmin(c->total_min, c->trial.frames[i].energies.total);
        c->total_max = fmax(c->total_max, c->trial.frames[i].energies.total);
    }
}

static void measure_drift(rbt_contender *c, double energy_scale) {
    const rbt_trial *trial = &c->trial;
    c->energy_scale = energy_scale;
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

// ---- Times

static bool measure_rate(rbt_contender *c, rbt_error *error) {
    size_t count = rbt_trial_complete(&c->trial) ? c->run_count : 0;
    double *sorted = rbt_array_new(count, sizeof *sorted, "times", error);
    if (!sorted) return false;
    for (size_t i = 0; i < count; i++) sorted[i] = c->rates[i];
    c->rate = rbt_spread_of(sorted, count);
    free(sorted);
    return true;
}

double rbt_contender_seconds(const rbt_contender *c) {
    return isfinite(c->rate.median) ? c->rate.median * c->trial.t : c->trial.step_seconds;
}

double rbt_contender_step_seconds(const rbt_contender *c) {
    return c->trial.steps ? c->rate.median * c->trial.t / (double)c->trial.steps : NAN;
}

// ---- Distances

// *found: there is such a frame. false: no memory to look.
static bool read_frame(const rbt_contender *c, size_t frame, rbt_state *state, bool *found, rbt_error *error) {
    rbt_error why = {0};
    char *path = rbt_checkpoint_path(c->folder, (int64_t)frame, &why);
    *found = path && rbt_checkpoint_read(path, NULL, RBT_SAME_NODES, state, &why);
    free(path);
    return *found || !why.out_of_memory || rbt_fail_memory(error, 0, "a checkpoint");
}

static double distance_between(const rbt_state *a, const rbt_state *b) {
    double sum = 0;
    if (a->node_count != b->node_count || !a->node_count) return NAN;
    if (!(fabs(a->t - b->t) <= 1e-9 * fmax(fabs(a->t), fabs(b->t)))) return NAN;
    for (size_t i = 0; i < 3 * a->node_count; i++) sum += (a->x[i] - b->x[i]) * (a->x[i] - b->x[i]);
    return sqrt(sum / (double)a->node_count);
}

static bool measure_frame(rbt_contender *c, const rbt_contender *reference, size_t frame, rbt_error *error) {
    rbt_state own = {0}, other = {0};
    bool has_own = false, has_other = false;
    bool good = read_frame(c, frame, &own, &has_own, error) &&
                (!has_own || read_frame(reference, frame, &other, &has_other, error));
    if (has_other) c->distance[frame] = distance_between(&own, &other);
    if (has_own) rbt_state_clear(&own);
    if (has_other) rbt_state_clear(&other);
    return good;
}

static bool prepare_distances(rbt_contender *c, rbt_error *error) {
    size_t count = c->trial.frame_count;
    c->distance_end = c->distance_max = NAN;
    c->distance = rbt_array_new(count, sizeof *c->distance, "distances", error);
    for (size_t i = 0; c->distance && i < count; i++) c->distance[i] = NAN;
    return c->distance != NULL;
}

bool rbt_contender_measure_distance(rbt_contender *c, const rbt_contender *reference, rbt_error *error) {
    size_t count = c->trial.frame_count;
    for (size_t i = 0; i < count && i < reference->trial.frame_count; i++)
        if (!measure_frame(c, reference, i, error)) return false;
    for (size_t i = 1; i < count; i++) c->distance_max = fmax(c->distance_max, c->distance[i]);
    if (count && rbt_trial_complete(&c->trial)) c->distance_end = c->distance[count - 1];
    return true;
}

bool rbt_contender_measure(rbt_contender *c, double energy_scale, rbt_error *error) {
    measure_totals(c);
    measure_drift(c, energy_scale);
    return measure_rate(c, error) && prepare_distances(c, error);
}
