#include "step/contact/impulse_balance.h"

#include "step/contact/impulses.h"

#include <string.h>

void rbt_impulses_balance(const rbt_impulses *s, const unsigned char *constrained, const double *given,
                          const double *before, double *velocity) {
    const rbt_model *m = s->contact->model;
    const double *mass = m->mass;
    size_t nodes = m->node_count;
    memset(s->momenta, 0, s->part_count * sizeof *s->momenta);
    for (size_t i = 0; i < nodes; i++) {
        rbt_part_momentum *own = &s->momenta[s->part_of[i]];
        own->mass += mass[i];
        own->held |= constrained[i] || m->bodies[m->node_body[i]].damping.mass != 0;
        for (size_t k = 3 * i; k < 3 * i + 3; k++)
            own->missing[k - 3 * i] += given[k] - mass[i] * (velocity[k] - before[k]);
    }
    for (size_t i = 0; i < nodes; i++) {
        const rbt_part_momentum *own = &s->momenta[s->part_of[i]];
        for (size_t k = 0; k < 3 && !own->held && own->mass > 0; k++)
            velocity[3 * i + k] += own->missing[k] / own->mass;
    }
}
