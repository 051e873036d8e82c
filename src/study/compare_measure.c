// What a comparison measures once all runs are over.
//
// Energies are compared with one scale for all: that of the yardstick, which is the reference or, failing that, the
// first method that went to the end. So a method that explodes cannot hide behind its own size.
#include "study/compare.h"

#include <math.h>

static void find_yardstick(rbt_comparison *all) {
    all->yardstick = NULL;
    if (all->has_reference && rbt_trial_complete(&all->reference.trial)) all->yardstick = &all->reference;
    for (size_t i = 0; i < all->count && !all->yardstick; i++)
        if (rbt_trial_complete(&all->contenders[i].trial)) all->yardstick = &all->contenders[i];
    all->energy_scale = all->yardstick ? rbt_contender_energy_scale(all->yardstick) : NAN;
}

bool rbt_comparison_measure(rbt_comparison *all, rbt_error *error) {
    find_yardstick(all);
    if (!rbt_contender_measure(&all->reference, all->energy_scale, error)) return false;
    for (size_t i = 0; i < all->count; i++) {
        rbt_contender *c = &all->contenders[i];
        if (!rbt_contender_measure(c, all->energy_scale, error)) return false;
        if (all->has_reference && !rbt_contender_measure_distance(c, &all->reference, error)) return false;
    }
    return true;
}
