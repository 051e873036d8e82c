// Every material of the table, with every instruction set of this machine: derivatives against finite differences,
// what any material must satisfy at rest, the projection, and that all instruction sets agree.
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

#include "random.h"

// One batch of unit tets: B = I, V = 1, so that corner a + 1 of lane l is column a of its F, dW/dx_a is column a of
// P, and the stiffness blocks of corners 1..3 are dP/dF.
typedef struct sample {
    rbt_tet_batch batch;
    double x[12 * RBT_W];
} sample;

static void set_F(sample *s, int l, const double F[9]) {
    for (int i = 0; i < 3; i++) {
        s->x[12 * l + i] = 0;
        for (int a = 0; a < 3; a++) s->x[12 * l + 3 * (a + 1) + i] = F[3 * i + a];
    }
}

static sample unit_tets(double mu, double lambda) {
    sample s;
    memset(&s, 0, sizeof s);
    for (int l = 0; l < RBT_W; l++) {
        for (int i = 0; i < 9; i++) s.batch.B[i][l] = i % 4 == 0;
        for (int a = 0; a < 4; a++) s.batch.node[a][l] = 4 * l + a;
        s.batch.volume[l] = 1;
        s.batch.k.mu[l] = mu;
        s.batch.k.lambda[l] = lambda;
        set_F(&s, l, (double[9]){1, 0, 0, 0, 1, 0, 0, 0, 1});
    }
    return s;
}

// Each lane has its own deformation and stiffness; `spread` 0.3 stays on this side of inversion.
static sample random_tets(double spread) {
    sample s = unit_tets(1, 1);
    for (int l = 0; l < RBT_W; l++) {
        double F[9];
        s.batch.k.mu[l] = uniform(1, 3);
        s.batch.k.lambda[l] = uniform(2, 9);
        for (int i = 0; i < 9; i++) F[i] = (i % 4 == 0) + uniform(-spread, spread);
        set_F(&s, l, F);
    }
    return s;
}

// Runs `check` for every material and instruction set that this machine has.
static void each(void (*check)(const rbt_material *m, const rbt_tet_kernels *k)) {
    int sets = 0;
    for (int i = 0; rbt_material_at(i); i++)
        for (int set = 0; set < RBT_INSTRUCTION_SETS; set++) {
            const rbt_tet_kernels *k = rbt_tet_kernels_with(rbt_material_at(i), (rbt_instruction_set)set);
            random_again((uint64_t)i);
            if (k) check(rbt_material_at(i), k);
            sets += k != NULL;
        }
    assert_true(sets >= 7);
}

// Central differences with step s: truncation s^2, rounding eps / s; at s = 1e-5 both are below 1e-9 of the scale of
// the values (about 100 here), so 1e-7 is a bound with room for the third derivatives.
enum { TRIES = 10 };
static const double STEP = 1e-5, BOUND = 1e-7;

static void check_gradient(const rbt_material *m, const rbt_tet_kernels *k) {
    (void)m;
    for (int n = 0; n < TRIES; n++) {
        sample s = random_tets(n % 2 ? 0.25 : 0.05);
        double g[12 * RBT_W], energy[RBT_W], fused[RBT_W], high[RBT_W], low[RBT_W];
        k->gradient(&s.batch, RBT_W, s.x, fused, g);
        k->energy(&s.batch, RBT_W, s.x, energy);
        for (int l = 0; l < RBT_W; l++) assert_true(fabs(fused[l] - energy[l]) <= 1e-13 * (1 + fabs(energy[l])));
        for (int i = 0; i < 12; i++) {
            sample plus = s, minus = s;
            for (int l = 0; l < RBT_W; l++) plus.x[12 * l + i] += STEP, minus.x[12 * l + i] -= STEP;
            k->energy(&plus.batch, RBT_W, plus.x, high);
            k->energy(&minus.batch, RBT_W, minus.x, low);
            for (int l = 0; l < RBT_W; l++)
                assert_true(fabs((high[l] - low[l]) / (2 * STEP) - g[12 * l + i]) < BOUND);
        }
    }
}

static double block_entry(const double *blocks, int row, int column) {
    int a = row / 3, b = column / 3, i = row % 3, j = column % 3;
    return a >= b ? blocks[9 * (a * (a + 1) / 2 + b) + 3 * i + j] : blocks[9 * (b * (b + 1) / 2 + a) + 3 * j + i];
}

static void check_hessian(const rbt_material *m, const rbt_tet_kernels *k) {
    (void)m;
    for (int n = 0; n < TRIES; n++) {
        sample s = random_tets(n % 2 ? 0.25 : 0.05);
        double blocks[RBT_TET_BLOCK_DOUBLES * RBT_W], high[12 * RBT_W], low[12 * RBT_W];
        k->stiffness[RBT_HESSIAN](&s.batch, RBT_W, s.x, blocks);
        for (int j = 0; j < 12; j++) {
            sample plus = s, minus = s;
            for (int l = 0; l < RBT_W; l++) plus.x[12 * l + j] += STEP, minus.x[12 * l + j] -= STEP;
            k->gradient(&plus.batch, RBT_W, plus.x, NULL, high);
            k->gradient(&minus.batch, RBT_W, minus.x, NULL, low);
            for (int l = 0; l < RBT_W; l++)
                for (int i = 0; i < 12; i++)
                    assert_true(fabs((high[12 * l + i] - low[12 * l + i]) / (2 * STEP) -
                                     block_entry(blocks + RBT_TET_BLOCK_DOUBLES * l, i, j)) < BOUND);
        }
    }
}

// At rest: no energy, no force, and the moduli of linear elasticity: dP = 2 mu eps + lambda tr(eps) I.
static void check_rest(const rbt_material *m, const rbt_tet_kernels *k) {
    double young = 5, poisson = 0.3, mu, lambda, energy[RBT_W], g[12 * RBT_W], blocks[RBT_TET_BLOCK_DOUBLES * RBT_W];
    rbt_material_lame(m, young, poisson, &mu, &lambda);
    sample s = unit_tets(mu, lambda);
    double linear_mu = young / (2 * (1 + poisson)), linear_lambda = 2 * linear_mu * poisson / (1 - 2 * poisson);
    if (m->ignores_poisson) linear_lambda = 0;
    k->gradient(&s.batch, RBT_W, s.x, energy, g);
    assert_true(fabs(energy[0]) < 1e-14);
    for (int i = 0; i < 12; i++) assert_true(fabs(g[i]) < 1e-14);
    for (int kind = 0; kind < RBT_STIFFNESS_KINDS; kind++) {
        k->stiffness[kind](&s.batch, RBT_W, s.x, blocks);
        for (int r = 3; r < 12; r++)
            for (int c = 3; c < 12; c++) {
                int i = r % 3, a = r / 3 - 1, j = c % 3, b = c / 3 - 1;  // F_ia and F_jb
                double expected =
                    linear_mu * ((i == j && a == b) + (i == b && a == j)) + linear_lambda * (i == a && j == b);
                assert_true(fabs(block_entry(blocks, r, c) - expected) < 1e-12);
            }
    }
}

// W(R F) = W(F), and a turned body feels turned forces
static void check_rotation(const rbt_material *m, const rbt_tet_kernels *k) {
    if (!m->rotation_invariant) return;
    const double origin[3] = {0}, axis[3] = {2.0 / 7, 3.0 / 7, 6.0 / 7};
    sample s = random_tets(0.3), t = s;
    double e[RBT_W], f[RBT_W], g[12 * RBT_W], h[12 * RBT_W];
    for (int c = 0; c < 4 * RBT_W; c++) rbt_rotate(s.x + 3 * c, origin, axis, 1.1, t.x + 3 * c);
    k->gradient(&s.batch, RBT_W, s.x, e, g);
    k->gradient(&t.batch, RBT_W, t.x, f, h);
    for (int l = 0; l < RBT_W; l++) assert_true(fabs(e[l] - f[l]) < 1e-12);
    for (int c = 0; c < 4 * RBT_W; c++) {
        double turned[3];
        rbt_rotate(g + 3 * c, origin, axis, 1.1, turned);
        for (int i = 0; i < 3; i++) assert_true(fabs(turned[i] - h[3 * c + i]) < 1e-11);
    }
}

// The projected stiffness has no negative direction, equals the Hessian where that has none either, and is never
// below it.
static void check_projection(const rbt_material *m, const rbt_tet_kernels *k) {
    for (int n = 0; n < 4 * TRIES; n++) {
        sample s = random_tets(n % 4 ? 0.3 : 0.9);
        if (!m->survives_inversion && n % 4 == 0) continue;
        double H[RBT_TET_BLOCK_DOUBLES * RBT_W], P[RBT_TET_BLOCK_DOUBLES * RBT_W];
        k->stiffness[RBT_HESSIAN](&s.batch, RBT_W, s.x, H);
        k->stiffness[RBT_PROJECTED](&s.batch, RBT_W, s.x, P);
        for (int l = 0; l < RBT_W; l++)
            for (int probe = 0; probe < 30; probe++) {
                double v[12], hv = 0, pv = 0, size = 0;
                for (int i = 0; i < 12; i++) v[i] = uniform(-1, 1);
                for (int i = 0; i < 12; i++)
                    for (int j = 0; j < 12; j++) {
                        hv += v[i] * v[j] * block_entry(H + RBT_TET_BLOCK_DOUBLES * l, i, j);
                        pv += v[i] * v[j] * block_entry(P + RBT_TET_BLOCK_DOUBLES * l, i, j);
                        size += fabs(v[i] * v[j] * block_entry(P + RBT_TET_BLOCK_DOUBLES * l, i, j));
                    }
                assert_true(pv >= -1e-10 * size);  // both are 0 where nothing is left of it
                assert_true(pv >= hv - 1e-9 * (size + fabs(hv)));
            }
    }
}

// Whatever F is, singular or inverted: the results are numbers and the derivatives still fit (checked where smooth).
static void check_inverted(const rbt_material *m, const rbt_tet_kernels *k) {
    static const double hard[][9] = {
        {0, 0, 0, 0, 0, 0, 0, 0, 0},      {1, 0, 0, 0, 1, 0, 0, 0, -1},      {1, 0, 0, 0, 1, 0, 0, 0, 0},
        {-1, 0, 0, 0, -1, 0, 0, 0, -1},   {1, 2, 3, 2, 4, 6, 3, 6, 9},       {1e-9, 0, 0, 0, 1, 0, 0, 0, 1},
        {2, 0, 0, 0, 0.5, 0, 0, 0, -0.5}, {1e3, 0, 0, 0, 1e3, 0, 0, 0, 1e3},
    };
    sample s = unit_tets(2, 3);
    for (int l = 0; l < RBT_W; l++) set_F(&s, l, hard[l]);
    double e[RBT_W], g[12 * RBT_W], P[RBT_TET_BLOCK_DOUBLES * RBT_W];
    k->gradient(&s.batch, RBT_W, s.x, e, g);
    k->stiffness[RBT_PROJECTED](&s.batch, RBT_W, s.x, P);
    for (int l = 0; l < RBT_W; l++) {
        if (!m->survives_inversion && l != 5 && l != 7) {
            assert_true(isinf(e[l]) && e[l] > 0);
            continue;
        }
        assert_true(isfinite(e[l]));
        for (int i = 0; i < 12; i++) assert_true(isfinite(g[12 * l + i]));
        for (int i = 0; i < RBT_TET_BLOCK_DOUBLES; i++) assert_true(isfinite(P[RBT_TET_BLOCK_DOUBLES * l + i]));
    }
}

// Any number of tets up to a batch: the rest of the output is not touched.
static void check_counts(const rbt_material *m, const rbt_tet_kernels *k) {
    (void)m;
    sample s = random_tets(0.2);
    double all[12 * RBT_W], e[RBT_W];
    k->gradient(&s.batch, RBT_W, s.x, e, all);
    for (size_t n = 1; n < RBT_W; n++) {
        double part[12 * RBT_W + 1], f[RBT_W + 1];
        for (int i = 0; i <= 12 * RBT_W; i++) part[i] = -7;
        for (int i = 0; i <= RBT_W; i++) f[i] = -7;
        k->gradient(&s.batch, n, s.x, f, part);
        assert_memory_equal(part, all, 12 * n * sizeof(double));
        assert_memory_equal(f, e, n * sizeof(double));
        assert_true(part[12 * n] == -7 && f[n] == -7);
    }
}

// Forces added up where they are made are those of gradient, for any number of tets up to three batches; what lies at
// other places stays. F is a small or a large strain, or one of the hard cases, where R comes from rbt_svd3.
static void check_sums(const rbt_material *m, const rbt_tet_kernels *k) {
    enum { BATCHES = 3, TETS = BATCHES * RBT_W };
    rbt_tet_batch batches[BATCHES];
    double x[12 * TETS], y[16 * TETS + 4], g[12 * TETS], e[TETS];
    uint16_t place[4 * TETS];
    for (int b = 0; b < BATCHES; b++) {
        sample s = random_tets(b == 0 ? 1e-3 : 0.3);
        static const double flat[9] = {2, 0, 0, 0, 0.5, 0, 0, 0, -0.5},
                            mirrored[9] = {1, 0, 0, 0, 1.2, 0, 0, 0, -0.9};
        for (int l = 0; b == 2 && m->survives_inversion && l < 4; l++) set_F(&s, l, l % 2 ? flat : mirrored);
        batches[b] = s.batch;
        memcpy(x + 12 * RBT_W * b, s.x, sizeof s.x);
        for (int l = 0; l < RBT_W; l++)
            for (int a = 0; a < 4; a++) batches[b].node[a][l] += 4 * RBT_W * b;
    }
    for (uint16_t i = 0; i < 4 * TETS; i++) {
        place[i] = (uint16_t)(4 * TETS - 1 - i);
        memcpy(y + 4 * place[i], x + 3 * i, 3 * sizeof *y);
        y[4 * place[i] + 3] = 0;
    }
    k->gradient(batches, TETS, x, e, g);
    for (size_t n = 1; n <= TETS; n++) {
        double sum[16 * TETS], f[TETS + 1];
        for (int i = 0; i < 16 * TETS; i++) sum[i] = 3;
        f[n] = -7;
        k->sum(batches, n, place, y, f, sum);
        assert_true(f[n] == -7);
        for (size_t t = 0; t < n; t++) assert_true(fabs(f[t] - e[t]) <= 1e-13 * (1 + fabs(e[t])));
        for (size_t i = 0; i < 12 * TETS; i++) {
            double own = i < 12 * n ? g[i] : 0;
            assert_true(fabs(sum[4 * place[i / 3] + i % 3] - 3 - own) <= 1e-12 * (1 + fabs(own)));
        }
    }
}

static void gradient_is_energy_slope(void **state) { (void)state, each(check_gradient); }
static void sums_are_gradients(void **state) { (void)state, each(check_sums); }
static void hessian_is_gradient_slope(void **state) { (void)state, each(check_hessian); }
static void rest_is_linear_elasticity(void **state) { (void)state, each(check_rest); }
static void rotation_does_not_matter(void **state) { (void)state, each(check_rotation); }
static void projection_is_the_nearest_above(void **state) { (void)state, each(check_projection); }
static void hard_cases_give_numbers(void **state) { (void)state, each(check_inverted); }
static void part_of_a_batch_is_the_same(void **state) { (void)state, each(check_counts); }

// Rounding differs between instruction sets (fused multiply-add), nothing else.
static void instruction_sets_agree(void **state) {
    (void)state;
    for (int i = 0; rbt_material_at(i); i++)
        for (int set = RBT_AVX2; set < RBT_INSTRUCTION_SETS; set++) {
            const rbt_tet_kernels *fast = rbt_tet_kernels_with(rbt_material_at(i), (rbt_instruction_set)set);
            const rbt_tet_kernels *plain = rbt_tet_kernels_with(rbt_material_at(i), RBT_PLAIN);
            if (!fast) continue;
            random_again((uint64_t)i);
            sample s = random_tets(0.3);
            double g[2][12 * RBT_W], P[2][RBT_TET_BLOCK_DOUBLES * RBT_W];
            plain->gradient(&s.batch, RBT_W, s.x, NULL, g[0]);
            fast->gradient(&s.batch, RBT_W, s.x, NULL, g[1]);
            for (int kind = 0; kind < RBT_STIFFNESS_KINDS; kind++) {
                plain->stiffness[kind](&s.batch, RBT_W, s.x, P[0]);
                fast->stiffness[kind](&s.batch, RBT_W, s.x, P[1]);
                for (int n = 0; n < RBT_TET_BLOCK_DOUBLES * RBT_W; n++) assert_true(fabs(P[0][n] - P[1][n]) < 1e-9);
            }
            for (int n = 0; n < 12 * RBT_W; n++) assert_true(fabs(g[0][n] - g[1][n]) < 1e-11);
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
        cmocka_unit_test(gradient_is_energy_slope),  cmocka_unit_test(sums_are_gradients),
        cmocka_unit_test(hessian_is_gradient_slope), cmocka_unit_test(rest_is_linear_elasticity),
        cmocka_unit_test(rotation_does_not_matter),  cmocka_unit_test(projection_is_the_nearest_above),
        cmocka_unit_test(hard_cases_give_numbers),   cmocka_unit_test(part_of_a_batch_is_the_same),
        cmocka_unit_test(instruction_sets_agree),    cmocka_unit_test(names_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
