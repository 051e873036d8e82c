#include "model/force.h"

#include "base/threads.h"
#include "math/vec3.h"

#include <string.h>

double rbt_load_strength(const rbt_node_load *load, double t) {
    if (t < load->from || t >= load->until) return 0;
    return load->pulse ? sin(acos(-1.0) * (t - load->from) / (load->until - load->from)) : 1;
}

double rbt_load_mean_strength(const rbt_node_load *load, double begin, double end) {
    double a = fmax(begin, load->from), b = fmin(end, load->until), whole = load->until - load->from;
    if (!(a < b)) return 0;
    if (!load->pulse) return (b - a) / (end - begin);
    double pi = acos(-1.0);
    return whole / pi * (cos(pi * (a - load->from) / whole) - cos(pi * (b - load->from) / whole)) / (end - begin);
}

// Three waves of incommensurable frequencies, together between -1 and 1: repeats never, and needs no memory.
static double gust(double t, double frequency) {
    double turn = 2 * acos(-1.0) * frequency * t;
    return (sin(turn) + 0.5 * sin(2.7183 * turn + 1) + 0.25 * sin(5.2915 * turn + 2)) / 1.75;
}

// Pressure 1/2 rho |u_n| u_n along the normal, u the wind as the triangle sees it; a third for each corner. A shell's
// triangle is both its front and its back, which a solid has apart.
static void add_wind(const rbt_model *m, const rbt_wind *wind, double t, const double *x, const double *v,
                     double *f) {
    const rbt_force_wind *def = &wind->def;
    if (t < def->from || t >= def->until) return;
    double strength = 1 + def->gust * gust(t, def->gust_frequency);
    for (size_t k = wind->triangle_begin; k < wind->triangle_end; k++) {
        const int32_t *corner = m->triangles + 3 * k;
        const double *p = x + 3 * (size_t)corner[0];
        double a[3], b[3], normal[3], unit[3], u[3];
        rbt_subtract(x + 3 * (size_t)corner[1], p, a);
        rbt_subtract(x + 3 * (size_t)corner[2], p, b);
        rbt_cross(a, b, normal);
        double area = 0.5 * rbt_length(normal);
        rbt_normalize(normal, unit);
        for (size_t i = 0; i < 3; i++) {
            double mean = 0;
            for (int n = 0; n < 3; n++) mean += v[3 * (size_t)corner[n] + i] / 3;
            u[i] = strength * def->velocity[i] - mean;
        }
        double across = rbt_dot(u, unit), sides = m->bodies[m->node_body[corner[0]]].kind == RBT_SHELL ? 2 : 1;
        for (int n = 0; n < 3; n++)
            rbt_add_scaled(f + 3 * (size_t)corner[n],
                           sides * 0.5 * def->air_density * fabs(across) * across * area / 3, unit);
    }
}

// k (point - centre of mass), shared in proportion to mass
static void add_drag(const rbt_drag *drag, double t, const double *x, double *f) {
    double away[3] = {drag->point[0], drag->point[1], drag->point[2]};
    if (t < drag->from || t >= drag->until) return;
    for (size_t i = 0; i < drag->node_count; i++)
        rbt_add_scaled(away, -drag->share[i], x + 3 * (size_t)drag->nodes[i]);
    for (size_t i = 0; i < drag->node_count; i++)
        rbt_add_scaled(f + 3 * (size_t)drag->nodes[i], drag->stiffness * drag->share[i], away);
}

void rbt_force_add_wind(const rbt_model *m, double t, const double *x, const double *v, double *f) {
    for (size_t k = 0; k < m->loads.wind_count; k++) add_wind(m, &m->loads.winds[k], t, x, v, f);
    for (size_t k = 0; k < m->loads.drag_count; k++) add_drag(&m->loads.drags[k], t, x, f);
}

void rbt_force_add_given(const rbt_model *m, double *f) {
    if (!rbt_force_is_given(m)) return;
    for (size_t i = 0; i < 3 * m->node_count; i++) f[i] += m->input->force[i];
}

void rbt_force_external(const rbt_model *m, double t, const double *x, const double *v, double *f) {
    for (size_t n = 0; n < m->node_count; n++)
        for (size_t i = 0; i < 3; i++) f[3 * n + i] = m->mass[n] * m->gravity[i];
    for (size_t k = 0; k < m->loads.node_load_count; k++) {
        const rbt_node_load *load = &m->loads.node_loads[k];
        double strength = rbt_load_strength(load, t);
        for (size_t i = 0; strength != 0 && i < load->node_count; i++)
            rbt_add_scaled(f + 3 * (size_t)load->nodes[i], strength * load->share[i], load->force);
    }
    rbt_force_add_wind(m, t, x, v, f);
    rbt_force_add_given(m, f);
    if (m->loads.wind_count) rbt_ranks_share(m, f);  // triangles around nodes of others are not all here
}

// Energies of the elements of a chunk that count here, which are overwritten
static rbt_sum sum_energies(const rbt_model *m, const rbt_chunk *chunk, double *energy) {
    const rbt_group *group = &m->groups[chunk->group];
    size_t corners = (size_t)group->type->corners;
    rbt_sum sum = {0};
    for (size_t e = 0; m->ranks && e < chunk->count; e++)
        if (!m->ranks->owned[group->nodes[corners * (chunk->first + e)]]) energy[e] = 0;
    rbt_sum_add(&sum, energy, chunk->count);
    return sum;
}

// The elements of a chunk, where their nodes lie side by side in places of four numbers
static void sum_places(const rbt_group *group, const rbt_plan *plan, const rbt_chunk *chunk, const double *x,
                       double *energy, double *sum) {
    double y[4 * RBT_MOST_CORNERS * RBT_CHUNK] __attribute__((aligned(32)));
    double own[4 * RBT_MOST_CORNERS * RBT_CHUNK] __attribute__((aligned(32)));
    rbt_chunk_gather(plan, chunk, x, y);
    memset(own, 0, 4 * chunk->slot_count * sizeof *own);
    group->type->sum(group, chunk->first, chunk->count, plan->local + chunk->corner_begin, y, energy, own);
    rbt_chunk_put(chunk, own, sum);
}

static void sum_corners(const rbt_group *group, const rbt_plan *plan, const rbt_chunk *chunk, const double *x,
                        double *energy, double *sum) {
    double corner[3 * RBT_MOST_CORNERS * RBT_CHUNK];
    group->type->gradient(group, chunk->first, chunk->count, x, energy, corner);
    memset(sum, 0, 3 * chunk->slot_count * sizeof *sum);
    const uint16_t *local = plan->local + chunk->corner_begin;
    for (size_t k = 0; k < chunk->count * (size_t)group->type->corners; k++)
        rbt_add_scaled(sum + 3 * (size_t)local[k], 1, corner + 3 * k);
}

// Every chunk sums its elements' forces into places of its own; every node then sums what its chunks made, in their
// order.
static void sum_chunk(const rbt_model *m, const rbt_plan *plan, size_t c, const double *x, rbt_sum *energies,
                      double *partial) {
    const rbt_chunk *chunk = &plan->chunks[c];
    const rbt_group *group = &m->groups[chunk->group];
    double energy[RBT_CHUNK], *sum = partial + 3 * chunk->slot_begin;
    if (group->type->sum) sum_places(group, plan, chunk, x, energies ? energy : NULL, sum);
    else sum_corners(group, plan, chunk, x, energies ? energy : NULL, sum);
    if (energies) energies[c] = sum_energies(m, chunk, energy);
}

void rbt_force_chunk(const rbt_model *m, const rbt_plan *plan, size_t chunk, const double *x, double *partial) {
    sum_chunk(m, plan, chunk, x, NULL, partial);
}

// A team of one thread costs more than a handful of elements: methods that make millions of small events go around it.
void rbt_force_slots(const rbt_model *m, const rbt_plan *plan, const double *x, rbt_sum *energies, double *partial) {
    if (plan->slot_count < RBT_PARALLEL_FROM) {
        for (size_t c = 0; c < plan->chunk_count; c++) sum_chunk(m, plan, c, x, energies, partial);
        return;
    }
#pragma omp parallel for schedule(static)
    for (size_t c = 0; c < plan->chunk_count; c++) sum_chunk(m, plan, c, x, energies, partial);
}

void rbt_force_elastic(const rbt_model *m, const double *x, rbt_sum *energies, double *partial, double *f) {
    const rbt_plan *plan = &m->plan;
    rbt_force_slots(m, plan, x, energies, partial);
#pragma omp parallel for schedule(static) if (m->node_count >= RBT_PARALLEL_FROM)
    for (size_t n = 0; n < m->node_count; n++)
        for (size_t k = plan->node_start[n]; k < plan->node_start[n + 1]; k++)
            rbt_add_scaled(f + 3 * n, -1, partial + 3 * (size_t)plan->node_slots[k]);
}

void rbt_force_linear(const rbt_model *m, const rbt_block_matrix *K, const double *x, double *work, double *f) {
    size_t values = 3 * m->node_count;
    double *moved = work, *product = work + values;
    for (size_t i = 0; i < values; i++) moved[i] = x[i] - m->X[i];
    rbt_block_matrix_product(K, moved, product);
    for (size_t i = 0; i < values; i++) f[i] -= product[i];
}

double rbt_energy_of_chunks(const rbt_model *m, const rbt_sum *energies) {
    rbt_sum sum = {0};
    for (size_t c = 0; c < m->plan.chunk_count; c++) rbt_sum_join(&sum, &energies[c]);
    rbt_ranks_join(m, &sum, 1);
    return rbt_sum_value(&sum);
}

double rbt_energy_elastic(const rbt_model *m, const double *x, rbt_sum *energies) {
    const rbt_plan *plan = &m->plan;
#pragma omp parallel for schedule(static) if (m->node_count >= RBT_PARALLEL_FROM)
    for (size_t c = 0; c < plan->chunk_count; c++) {
        const rbt_chunk *chunk = &plan->chunks[c];
        const rbt_group *group = &m->groups[chunk->group];
        double energy[RBT_CHUNK];
        group->type->energy(group, chunk->first, chunk->count, x, energy);
        energies[c] = sum_energies(m, chunk, energy);
    }
    return rbt_energy_of_chunks(m, energies);
}

void rbt_force_contact(const rbt_model *m, const double *x, double *f, double *node_stiffness) {
    if (!m->obstacles.count) return;
#pragma omp parallel for schedule(static) if (m->node_count >= RBT_PARALLEL_FROM)
    for (size_t n = 0; n < m->node_count; n++) {
        double push[3];
        if (m->node_area[n] == 0) continue;
        rbt_obstacles_node(&m->obstacles, x + 3 * n, m->node_area[n], push,
                           node_stiffness ? node_stiffness + 9 * n : NULL);
        rbt_add_scaled(f + 3 * n, 1, push);
    }
}

void rbt_constrained_nodes(const rbt_model *m, double t, unsigned char *constrained) {
    for (size_t n = 0; n < m->node_count; n++) constrained[n] = m->role[n] == RBT_FIXED;
    for (size_t i = 0; i < m->motions.node_count; i++)
        constrained[m->motions.node[i]] = t < m->motions.groups[m->motions.group[i]].release;
}

void rbt_constrained_velocities(const rbt_model *m, const unsigned char *constrained, double t, double h,
                                const double *x, double *v) {
    for (size_t n = 0; n < m->node_count; n++)
        if (constrained[n]) memset(v + 3 * n, 0, 3 * sizeof *v);
    for (size_t i = 0; i < m->motions.node_count; i++) {
        size_t n = (size_t)m->motions.node[i];
        if (!constrained[n]) continue;
        double target[3];
        rbt_motion_position(&m->motions.groups[m->motions.group[i]], m->x0 + 3 * n, t + h, target);
        for (size_t k = 0; k < 3; k++) v[3 * n + k] = (target[k] - x[3 * n + k]) / h;
    }
}
