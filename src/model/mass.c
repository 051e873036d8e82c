#include "model/mass.h"

#include "math/vec3.h"

#include <string.h>

static double tet_mass(const rbt_model *m, size_t t) {
    const int32_t *n = m->tets + 4 * t;
    const double *X[4];
    for (int a = 0; a < 4; a++) X[a] = m->X + 3 * (size_t)n[a];
    return m->regions[m->tet_region[t]].material.density * rbt_tet_volume(X[0], X[1], X[2], X[3]);
}

static double *entry(const rbt_scalar_matrix *M, int32_t a, int32_t b) {
    int32_t i = a > b ? a : b, j = a > b ? b : a;
    size_t low = M->start[i], high = M->start[i + 1] - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (M->column[middle] < j) low = middle + 1;
        else high = middle;
    }
    return &M->value[low];
}

bool rbt_mass_build(rbt_mass *mass, rbt_arena *arena, const rbt_model *m, const rbt_block_matrix *pattern,
                    rbt_error *error) {
    size_t entries = pattern->start[pattern->row_count];
    bool consistent = false;
    *mass = (rbt_mass){m, {pattern->row_count, pattern->start, pattern->column, NULL}};
    for (size_t b = 0; b < m->body_count; b++) consistent |= m->bodies[b].consistent_mass;
    if (!consistent) return true;
    mass->matrix.value = rbt_arena_take(arena, entries, sizeof(double));
    if (!mass->matrix.value) return rbt_fail_memory(error, entries * sizeof(double), "the mass matrix");
    for (size_t b = 0; b < m->body_count; b++) {
        const rbt_body *body = &m->bodies[b];
        for (size_t n = body->node_begin; !body->consistent_mass && n < body->node_end; n++)
            mass->matrix.value[pattern->start[n + 1] - 1] = m->mass[n];
        for (size_t t = body->tet_begin; body->consistent_mass && t < body->tet_end; t++)
            for (int a = 0; a < 4; a++)
                for (int c = 0; c <= a; c++)
                    *entry(&mass->matrix, m->tets[4 * t + (size_t)a], m->tets[4 * t + (size_t)c]) +=
                        tet_mass(m, t) / (a == c ? 10 : 20);
    }
    return true;
}

void rbt_mass_product(const rbt_mass *mass, const double *x, double *y) {
    const rbt_model *m = mass->model;
    if (mass->matrix.value) rbt_scalar_matrix_product(&mass->matrix, x, y);
    else
        for (size_t n = 0; n < m->node_count; n++)
            for (size_t i = 3 * n; i < 3 * n + 3; i++) y[i] = m->mass[n] * x[i];
}

void rbt_mass_add_row(const rbt_mass *mass, size_t n, double scale, const rbt_block_matrix *A) {
    size_t diagonal = A->start[n + 1] - 1;
    if (!mass->matrix.value)
        for (size_t i = 0; i < 9; i += 4) A->value[9 * diagonal + i] += scale * mass->model->mass[n];
    else
        for (size_t k = A->start[n]; k <= diagonal; k++)
            for (size_t i = 0; i < 9; i += 4) A->value[9 * k + i] += scale * mass->matrix.value[k];
}

void rbt_mass_momentum(const rbt_model *m, const double *v, size_t node, double momentum[3]) {
    bool lumped = !m->bodies[m->node_body[node]].consistent_mass;
    for (size_t i = 0; i < 3; i++) momentum[i] = lumped ? m->mass[node] * v[3 * node + i] : 0;
    for (size_t k = m->tet_start[node]; !lumped && k < m->tet_start[node + 1]; k++) {
        size_t t = (size_t)m->node_tets[k];
        double weight = tet_mass(m, t) / 20;
        rbt_add_scaled(momentum, weight, v + 3 * node);
        for (size_t a = 0; a < 4; a++) rbt_add_scaled(momentum, weight, v + 3 * (size_t)m->tets[4 * t + a]);
    }
}

// For one tet of mass m: sum_ab M_ab p_a.q_b = m/20 (sum_a p_a.q_a + (sum_a p_a).(sum_b q_b)), and likewise with
// cross products.
void rbt_mass_consistent_kinetic(const rbt_model *m, const double *x, const double *v, rbt_terms *terms,
                                 size_t kinetic, size_t angular) {
    for (size_t b = 0; b < m->body_count; b++) {
        const rbt_body *body = &m->bodies[b];
        for (size_t t = body->tet_begin; body->consistent_mass && t < body->tet_end; t++) {
            double weight = tet_mass(m, t) / 20, place[3] = {0}, speed[3] = {0}, turn[3], energy = 0, spin[3] = {0};
            if (!rbt_ranks_counts_tet(m, t)) continue;
            for (int a = 0; a < 4; a++) {
                const double *p = x + 3 * (size_t)m->tets[4 * t + (size_t)a],
                             *w = v + 3 * (size_t)m->tets[4 * t + (size_t)a];
                energy += 0.5 * weight * rbt_dot(w, w);
                rbt_cross(p, w, turn);
                rbt_add_scaled(spin, weight, turn);
                rbt_add_scaled(place, 1, p);
                rbt_add_scaled(speed, 1, w);
            }
            energy += 0.5 * weight * rbt_dot(speed, speed);
            rbt_cross(place, speed, turn);
            rbt_add_scaled(spin, weight, turn);
            size_t at = rbt_terms_next(terms);
            for (size_t k = 0; k < terms->width; k++) terms->value[k][at] = 0;
            terms->value[kinetic][at] = energy;
            for (size_t k = 0; k < 3; k++) terms->value[angular + k][at] = spin[k];
        }
    }
}
