// Every material of the table: derivatives against finite differences, and what any material must satisfy at rest.
#include "energy/material.h"
#include "math/vec3.h"
#include "rubato/scene.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static uint64_t random_state = 88172645463325252u;

static double uniform(double low, double high) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return low + (high - low) * (double)(random_state >> 11) / 9007199254740992.0;
}

// Each lane has its own deformation near the identity and its own stiffness.
static void random_lanes(rbt_lame *k, rbt_mat3_lanes *F, double spread) {
    for (int l = 0; l < RBT_W; l++) {
        k->mu[l] = uniform(1, 3);
        k->lambda[l] = uniform(2, 9);
        for (int i = 0; i < 9; i++) F->at[i][l] = (i % 4 == 0) + uniform(-spread, spread);
    }
}

// Central differences with step s: truncation s^2, rounding eps / s; at s = 1e-5 both are below 1e-9 of the scale
// of the values (about 100 here), so 1e-7 is a bound with room for the third derivatives.
enum { TRIES = 20 };
static const double STEP = 1e-5, BOUND = 1e-7;

static void stress_is_energy_gradient(void **state) {
    (void)state;
    const rbt_material *m;
    for (int model = 0; (m = rbt_material_at(model)); model++)
        for (int n = 0; n < TRIES; n++) {
            rbt_lame k;
            rbt_mat3_lanes F, P;
            random_lanes(&k, &F, 0.3);
            m->stress(&k, &F, &P);
            for (int i = 0; i < 9; i++) {
                rbt_mat3_lanes plus = F, minus = F;
                double high[RBT_W], low[RBT_W];
                for (int l = 0; l < RBT_W; l++) plus.at[i][l] += STEP, minus.at[i][l] -= STEP;
                m->energy(&k, &plus, high);
                m->energy(&k, &minus, low);
                for (int l = 0; l < RBT_W; l++)
                    assert_true(fabs((high[l] - low[l]) / (2 * STEP) - P.at[i][l]) < BOUND);
            }
        }
}

static void stiffness_is_stress_gradient(void **state) {
    (void)state;
    const rbt_material *m;
    for (int model = 0; (m = rbt_material_at(model)); model++)
        for (int n = 0; n < TRIES; n++) {
            rbt_lame k;
            rbt_mat3_lanes F;
            rbt_mat9_lanes D;
            random_lanes(&k, &F, 0.3);
            m->stiffness(&k, &F, &D);
            for (int j = 0; j < 9; j++) {
                rbt_mat3_lanes plus = F, minus = F, high, low;
                for (int l = 0; l < RBT_W; l++) plus.at[j][l] += STEP, minus.at[j][l] -= STEP;
                m->stress(&k, &plus, &high);
                m->stress(&k, &minus, &low);
                for (int i = 0; i < 9; i++)
                    for (int l = 0; l < RBT_W; l++) {
                        assert_true(fabs((high.at[i][l] - low.at[i][l]) / (2 * STEP) - D.at[9 * i + j][l]) < BOUND);
                        assert_true(fabs(D.at[9 * i + j][l] - D.at[9 * j + i][l]) < 1e-13 * 100);
                    }
            }
        }
}

// At rest: no energy, no stress, and the moduli of linear elasticity: dP = 2 mu eps + lambda tr(eps) I.
static void rest_is_linear_elasticity(void **state) {
    (void)state;
    const rbt_material *m;
    for (int model = 0; (m = rbt_material_at(model)); model++) {
        const double mu = 2, lambda = 5;
        double own_mu = mu, own_lambda = lambda, psi[RBT_W];
        m->parameters(&own_mu, &own_lambda);
        rbt_lame k;
        rbt_mat3_lanes F, P;
        rbt_mat9_lanes D;
        for (int l = 0; l < RBT_W; l++) {
            k.mu[l] = own_mu;
            k.lambda[l] = own_lambda;
            for (int i = 0; i < 9; i++) F.at[i][l] = i % 4 == 0;
        }
        m->energy(&k, &F, psi);
        m->stress(&k, &F, &P);
        m->stiffness(&k, &F, &D);
        assert_true(fabs(psi[0]) < 1e-14);
        for (int i = 0; i < 9; i++) assert_true(fabs(P.at[i][0]) < 1e-14);
        for (int a = 0; a < 9; a++)
            for (int b = 0; b < 9; b++) {
                bool same = a == b, transposed = a / 3 == b % 3 && a % 3 == b / 3,
                     both_diagonal = a % 4 == 0 && b % 4 == 0;
                assert_true(fabs(D.at[9 * a + b][0] - (mu * (same + transposed) + lambda * both_diagonal)) < 1e-13);
            }
    }
}

// psi(R F) = psi(F), P(R F) = R P(F)
static void rotation_does_not_matter(void **state) {
    (void)state;
    const rbt_material *m;
    const double origin[3] = {0}, axis[3] = {2.0 / 7, 3.0 / 7, 6.0 / 7};
    for (int model = 0; (m = rbt_material_at(model)); model++) {
        rbt_lame k;
        rbt_mat3_lanes F, P, G, Q;
        double psi[RBT_W], turned_psi[RBT_W];
        random_lanes(&k, &F, 0.3);
        for (int l = 0; l < RBT_W; l++)
            for (int j = 0; j < 3; j++) {
                double column[3] = {F.at[j][l], F.at[3 + j][l], F.at[6 + j][l]}, turned[3];
                rbt_rotate(column, origin, axis, 1.1, turned);
                for (int i = 0; i < 3; i++) G.at[3 * i + j][l] = turned[i];
            }
        m->energy(&k, &F, psi);
        m->energy(&k, &G, turned_psi);
        m->stress(&k, &F, &P);
        m->stress(&k, &G, &Q);
        for (int l = 0; l < RBT_W; l++) {
            assert_true(fabs(psi[l] - turned_psi[l]) < 1e-13);
            for (int j = 0; j < 3; j++) {
                double column[3] = {P.at[j][l], P.at[3 + j][l], P.at[6 + j][l]}, turned[3];
                rbt_rotate(column, origin, axis, 1.1, turned);
                for (int i = 0; i < 3; i++) assert_true(fabs(Q.at[3 * i + j][l] - turned[i]) < 1e-13 * 10);
            }
        }
    }
}

static void names_are_found(void **state) {
    (void)state;
    for (int i = 0; rbt_material_at(i); i++) assert_int_equal(rbt_material_find(rbt_material_name(i)), i);
    assert_int_equal(rbt_material_find("jelly"), -1);
    assert_null(rbt_material_at(-1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stress_is_energy_gradient), cmocka_unit_test(stiffness_is_stress_gradient),
        cmocka_unit_test(rest_is_linear_elasticity), cmocka_unit_test(rotation_does_not_matter),
        cmocka_unit_test(names_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
