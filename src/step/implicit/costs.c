#include "step/implicit/costs.h"

rbt_costs rbt_costs_estimate(const rbt_model *m, double flops, double fill) {
    const double per_flop = 2.5e-11, per_entry = 8e-10, element_gradient = 6e-8, element_assembly = 3.4e-7,
                 node = 3e-8;
    const rbt_ranks *r = m->ranks;
    size_t tets = r ? r->whole_tets : m->tet_count, nodes = r ? r->whole_nodes : m->node_count;
    size_t others = r ? r->whole_triangles + r->whole_edges : m->triangle_count + m->edge_count;
    double elements = (double)(tets ? tets : others);
    return (rbt_costs){.assemble = element_assembly * elements,
                       .factor = per_flop * flops,
                       .solve = per_entry * fill,
                       .gradient = element_gradient * elements + node * (double)nodes};
}

double rbt_costs_making(const rbt_costs *c, bool contact) {
    return contact ? (c->assemble + 2 * c->factor) / (c->solve + 3 * c->gradient)
                   : (c->assemble + c->factor) / (c->solve + c->gradient);
}
