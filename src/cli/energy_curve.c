#include "cli/energy_curve.h"

#include "base/memory.h"

#include <math.h>

void rbt_energy_window_add(rbt_energy_window *w, const rbt_contender *c) {
    double scale = rbt_contender_energy_scale(c);
    for (size_t i = 0; isfinite(scale) && i < c->trial.frame_count; i++) {
        double total = c->trial.frames[i].energies.total;
        w->low = w->bounded ? fmin(w->low, total) : total;
        w->high = w->bounded ? fmax(w->high, total) : total;
        w->scale = fmax(w->scale, scale);
        w->bounded = true;
    }
}

double *rbt_energy_curve(const rbt_contender *c, const rbt_energy_window *w, rbt_error *error) {
    size_t count = c->trial.frame_count;
    double *t = rbt_array_new(count, 2 * sizeof(double), "curves", error);
    if (!t) return NULL;
    double *energy = t + count;
    double low = w->bounded ? w->low - w->scale : -INFINITY, high = w->bounded ? w->high + w->scale : INFINITY;
    bool outside = false;
    for (size_t i = 0; i < count; i++) {
        double total = c->trial.frames[i].energies.total;
        t[i] = c->trial.frames[i].t;
        energy[i] = outside ? NAN : fmin(fmax(total, low), high);
        outside = outside || !(total >= low && total <= high);
    }
    return t;
}
