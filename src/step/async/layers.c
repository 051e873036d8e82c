#include "step/async/layers.h"

#include <math.h>

// The last layer with l (l + 1) / 2 <= 2^depth
static int32_t last_of_depth(int depth) {
    int64_t most = (int64_t)2 << depth, l = (int64_t)sqrt((double)most);
    while (l * (l + 1) > most) l--;
    return (int32_t)l;
}

bool rbt_layers_init(rbt_layers *s, rbt_error *error) {
    *s = (rbt_layers){.depth_count = RBT_LAYER_DEPTHS};
    for (int j = 0; j < RBT_LAYER_DEPTHS; j++) s->last[j] = last_of_depth(j);
    size_t count = (size_t)s->last[RBT_LAYER_DEPTHS - 1] + 1;
    s->cubes_to = rbt_array_new(count, sizeof(double), "penalty layers", error);
    s->roots_to = rbt_array_new(count, sizeof(double), "penalty layers", error);
    s->ratio = rbt_array_new(count, sizeof(double), "penalty layers", error);
    if (!s->cubes_to || !s->roots_to || !s->ratio) {
        rbt_layers_free(s);
        return false;
    }
    for (size_t l = 1; l < count; l++) {
        double cube = (double)l * (double)l * (double)l;
        s->cubes_to[l] = s->cubes_to[l - 1] + cube;
        s->roots_to[l] = s->roots_to[l - 1] + cube / sqrt(sqrt((double)l));
        s->ratio[l] = 1 / sqrt(sqrt((double)l));
    }
    for (int j = 0; j < RBT_LAYER_DEPTHS; j++) {
        int32_t before = j ? s->last[j - 1] : 0;
        s->share[j] = ldexp(1, -j);
        s->cubes[j] = s->cubes_to[s->last[j]] - s->cubes_to[before];
        s->roots[j] = s->roots_to[s->last[j]] - s->roots_to[before];
        s->next_ratio[j] = 1 / sqrt(sqrt((double)s->last[j] + 1));
        s->first_ratio[j] = 1 / sqrt(sqrt((double)before + 1));
    }
    return true;
}

void rbt_layers_free(rbt_layers *s) {
    free(s->cubes_to);
    free(s->roots_to);
    free(s->ratio);
    *s = (rbt_layers){0};
}

// The last layer with eta_l > d, not above `most`
static int32_t deepest(const rbt_layers *s, double eta, double d, int32_t most) {
    double ratio = eta / d, l = ratio * ratio * ratio * ratio;
    if (l > most) return most;
    int32_t at = (int32_t)l;
    while (at > 0 && eta * s->ratio[at] <= d) at--;
    return at;
}

double rbt_layers_impulse(const rbt_layers *s, double eta, double d, int from, int to) {
    double sum = 0;
    for (int j = from; j <= to; j++) {
        if (eta * s->first_ratio[j] <= d) break;
        int32_t before = j ? s->last[j - 1] : 0;
        if (before == s->last[j]) continue;
        double part;
        if (eta * s->next_ratio[j] >= d) part = eta * s->roots[j] - d * s->cubes[j];
        else {
            int32_t l = deepest(s, eta, d, s->last[j]);
            if (l <= before) break;
            part = eta * (s->roots_to[l] - s->roots_to[before]) - d * (s->cubes_to[l] - s->cubes_to[before]);
        }
        sum += s->share[j] * (part > 0 ? part : 0);
    }
    return sum;
}

double rbt_layers_energy(const rbt_layers *s, double eta, double d) {
    double sum = 0;
    if (d >= eta) return 0;
    for (int32_t l = deepest(s, eta, d, s->last[s->depth_count - 1]); l > 0; l--) {
        double depth = eta * s->ratio[l] - d;
        sum += 0.5 * (double)l * (double)l * (double)l * depth * depth;
    }
    return sum;
}

double rbt_layers_force(const rbt_layers *s, double eta, double d) {
    if (d >= eta) return 0;
    int32_t l = deepest(s, eta, d, s->last[s->depth_count - 1]);
    return l > 0 ? eta * s->roots_to[l] - d * s->cubes_to[l] : 0;
}
