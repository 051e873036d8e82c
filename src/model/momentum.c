// With masses m_i on nodes the velocities of the chosen ones become v_i + a + w x (x_i - c), c being their centre of
// mass:
//   M a = lacking momentum p,   I w = lacking angular momentum L - c x p,   I = sum m_i (|r|^2 1 - r r^T),
//   r = x_i - c.
// Made twice, so that rounding of the first is corrected by the second.
#include "model/momentum.h"

#include "math/vec3.h"
#include "model/force.h"

#include <string.h>

static void add_momentum(const rbt_model *m, const rbt_body *body, const double *x, const double *v, double sign,
                         double p[3], double L[3]) {
    for (size_t n = body->node_begin; n < body->node_end; n++) {
        double spin[3];
        rbt_cross(x + 3 * n, v + 3 * n, spin);
        rbt_add_scaled(p, sign * m->mass[n], v + 3 * n);
        rbt_add_scaled(L, sign * m->mass[n], spin);
    }
}

// w with I w = L, for the nodes chosen; false if they do not tell (all on a line)
static bool turn(const rbt_model *m, const rbt_body *body, const double *x, const unsigned char *chosen,
                 const double c[3], const double L[3], double w[3]) {
    double I[3][3] = {{0}}, trace = 0, columns[3][3];
    for (size_t n = body->node_begin; n < body->node_end; n++) {
        double r[3];
        if (!chosen[n]) continue;
        rbt_subtract(x + 3 * n, c, r);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) I[i][j] += m->mass[n] * ((i == j) * rbt_dot(r, r) - r[i] * r[j]);
    }
    for (int i = 0; i < 3; i++) trace += I[i][i];
    for (int i = 0; i < 3; i++) rbt_cross(I[(i + 1) % 3], I[(i + 2) % 3], columns[i]);
    double det = rbt_dot(I[0], columns[0]);
    if (!(det > 1e-9 * trace * trace * trace)) return false;
    for (int i = 0; i < 3; i++) w[i] = rbt_dot(columns[i], L) / det;
    return true;
}

static void correct(const rbt_model *m, const rbt_body *body, const double *x, const unsigned char *chosen,
                    const double p[3], const double L[3], double *v) {
    double mass = 0, c[3] = {0}, arm[3], rest[3], w[3];
    for (size_t n = body->node_begin; n < body->node_end; n++) {
        if (!chosen[n]) continue;
        mass += m->mass[n];
        rbt_add_scaled(c, m->mass[n], x + 3 * n);
    }
    if (!(mass > 0)) return;
    for (int k = 0; k < 3; k++) c[k] /= mass;
    rbt_cross(c, p, arm);
    rbt_subtract(L, arm, rest);
    if (!turn(m, body, x, chosen, c, rest, w)) memset(w, 0, sizeof w);
    for (size_t n = body->node_begin; n < body->node_end; n++) {
        double r[3], spin[3];
        if (!chosen[n]) continue;
        rbt_subtract(x + 3 * n, c, r);
        rbt_cross(w, r, spin);
        rbt_add_scaled(v + 3 * n, 1 / mass, p);
        rbt_add_scaled(v + 3 * n, 1, spin);
    }
}

void rbt_momentum_keep(const rbt_change *change, const rbt_state *before, const double *x, double *v,
                       unsigned char *chosen) {
    const rbt_model *m = change->after;
    rbt_constrained_nodes(m, before->t, chosen);
    for (size_t n = 0; n < m->node_count; n++) chosen[n] = !chosen[n] && change->touched[n];
    for (size_t b = 0; b < m->body_count; b++) {
        if (m->bodies[b].consistent_mass) continue;
        for (int pass = 0; pass < 2; pass++) {
            double p[3] = {0}, L[3] = {0};
            add_momentum(change->before, &change->before->bodies[b], before->x, before->v, 1, p, L);
            add_momentum(m, &m->bodies[b], x, v, -1, p, L);
            correct(m, &m->bodies[b], x, chosen, p, L, v);
        }
    }
}
