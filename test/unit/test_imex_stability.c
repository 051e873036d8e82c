// Whether what imex leaves explicit is stable: spectral radii of whole steps on random bodies with damping and
// obstacles, the step bound of symplectic Euler by them, envelopes of elements that stiffen against dense matrices, and
// runs that blew up before certificates knew of all that.
#include "base/threads.h"
#include "coupled.h"
#include "energy/stiffening.h"
#include "sampled.h"
#include "scene.h"

#include <unistd.h>

enum { SOME = SAMPLED(60, 30) };  // of the bodies that `make verification` looks at

static char mesh_path[64];

// Whole steps of imex: the certificate covers what they do, whoever touches.
static void damped_steps_against_obstacles_are_stable(void **state) {
    (void)state;
    for (int k = 0; k < COUPLED_STEPS; k++) {
        coupled_found found = coupled_study(mesh_path, k, SOME);
        print_message("%g times the bound: spectral radius 1 + %.2g in %d steps, %zu of them mixed, %zu explicit\n",
                      COUPLED_OVER[k], found.worst - 1, SOME, found.mixed, found.without);
        assert_true(found.worst <= 1 + 1e-7);
        assert_true(found.mixed + found.without > SOME / 20);
    }
}

// A step at the bound is stable and one 5 % above it is not: the certificate takes 4 % off h^2 P(h), which is linear in
// h where damping rules, and 0.1 % is what the search leaves.
static void the_bound_of_explicit_steps_is_theirs(void **state) {
    (void)state;
    uint64_t seed = random_stream(__func__, 0);
    double radius[2] = {0, INFINITY};
    for (int k = 0; k < SOME / 2; k++) {
        size_t node = SIZE_MAX;
        coupled_mesh(mesh_path, k);
        rbt_sim *plain = coupled_sim(mesh_path, "symplectic-euler", &(coupled){.step = 1e-3});
        double whole = rbt_stability_step_bound(plain->model, NULL, NULL, NULL);
        coupled c = coupled_random(plain->model, whole, &seed);
        c.level[0] = c.level[1] = 3;  // every node touches
        rbt_sim_free(plain);
        rbt_sim *damped = coupled_sim(mesh_path, "symplectic-euler", &c);
        double bound = rbt_stability_step_bound(damped->model, NULL, &node, NULL);
        assert_true(node >= 3 && node < damped->model->node_count);
        rbt_sim_free(damped);
        for (int above = 0; above < 2; above++) {
            c.step = above ? 1.05 * bound : bound;
            rbt_sim *sim = coupled_sim(mesh_path, "symplectic-euler", &c);
            double own = coupled_radius(sim, &c);
            radius[above] = above ? fmin(radius[above], own) : fmax(radius[above], own);
            rbt_sim_free(sim);
        }
    }
    print_message("spectral radius 1 + %.2g at the bound, at least %.4f above it\n", radius[0] - 1, radius[1]);
    assert_true(radius[0] <= 1 + 1e-7);
    assert_true(radius[1] > 1 + 1e-3);
}

// ---- Stiffening

// Largest eigenvalue of M^-1/2 K M^-1/2
static double largest_rate(const rbt_model *m, double *K) {
    size_t n = 3 * m->node_count;
    double *lambda = malloc(n * sizeof *lambda);
    for (size_t i = 0; i < n * n; i++) K[i] /= sqrt(m->mass[i / n / 3] * m->mass[i % n / 3]);
    dense_eigenvalues(K, n, lambda);
    double largest = lambda[n - 1];
    free(lambda);
    return largest;
}

static double *dense_stiffness(const rbt_model *m, const double *x) {
    rbt_stiffness s;
    assert_true(rbt_stiffness_build(&s, m, NULL));
    rbt_stiffness_assemble(&s, m, RBT_TANGENT, x);
    double *K = dense_of_blocks(&s.K);
    rbt_stiffness_free(&s);
    return K;
}

// K(X) + sum d G, with every element's own d at x
static double *envelope_at(const rbt_model *m, const double *x) {
    size_t n = 3 * m->node_count;
    double *K = dense_stiffness(m, m->X), *p = calloc(n, sizeof *p);
    for (size_t j = 0; j < n; j++) {
        p[j] = 1;
        for (size_t g = 0; g < m->group_count; g++)
            for (size_t e = 0; e < m->groups[g].count; e++) {
                const rbt_group *group = &m->groups[g];
                double d = group->type->stiffening(group, e, x) * group->type->modulus(group, e);
                group->type->laplacian(group, e, d, p, K + n * j);
            }
        p[j] = 0;
    }
    free(p);
    return K;
}

static rbt_sim *material_sim(const char *material) {
    char json[1024];
    snprintf(json, sizeof json,
             "{'rubato': 1, 'bodies': [{'name': 'body', 'mesh': {'file': '%s'}, 'material': {'model': '%s', "
             "'young': 1e4, 'poisson': 0.3, 'density': 1000}}], 'integrator': {'method': 'symplectic-euler'}}",
             mesh_path, material);
    return sim_from(json);
}

// lambda_max of K(x) over that of the envelope that just covers it. `amount`: of a random gradient of displacements,
// and a tenth of it of each node by itself, if `loose`. NaN where that turns a tet inside out: there rotations jump,
// and no envelope is promised.
static double covered(const rbt_model *m, double amount, bool loose, uint64_t *seed, double *growth) {
    size_t n = 3 * m->node_count;
    double *x = malloc(n * sizeof *x), G[9];
    for (int i = 0; i < 9; i++) G[i] = (i % 4 == 0) + amount * (2 * delaunay_random(seed) - 1);
    for (size_t i = 0; i < n; i++) {
        x[i] = rbt_dot(G + 3 * (i % 3), m->X + 3 * (i / 3));
        if (loose) x[i] += 0.1 * amount * (2 * delaunay_random(seed) - 1);
    }
    for (size_t t = 0; t < m->tet_count; t++) {
        const int32_t *n4 = m->tets + 4 * t;
        const double *c[4], *C[4];
        for (int a = 0; a < 4; a++) c[a] = x + 3 * n4[a], C[a] = m->X + 3 * n4[a];
        if (rbt_tet_volume(c[0], c[1], c[2], c[3]) * rbt_tet_volume(C[0], C[1], C[2], C[3]) > 0) continue;
        free(x);
        return NAN;
    }
    double *K = dense_stiffness(m, x), *most = envelope_at(m, x), *rest = dense_stiffness(m, m->X);
    double now = largest_rate(m, K), ratio = now / largest_rate(m, most);
    *growth = fmax(*growth, now / largest_rate(m, rest));
    free(K);
    free(most);
    free(rest);
    free(x);
    return ratio;
}

// Where all tets turn alike this is a theorem. Where they do not, what counts is that it stays within the 4 % that
// certificates keep.
static void envelopes_are_stiffer_than_what_they_cover(void **state) {
    (void)state;
    static const char *const NAMES[] = {"st-venant-kirchhoff", "stable-neo-hookean", "neo-hookean", "fixed-corotated",
                                        "arap"};
    static const double AMOUNTS[] = {0.01, 0.1, 0.5};
    enum { BODIES = SAMPLED(24, 12) };
    uint64_t seed = random_stream(__func__, 0);
    for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++) {
        double worst[2] = {0}, growth = 0;
        int judged = 0;
        for (int b = 0; b < BODIES; b++) {
            coupled_mesh(mesh_path, b);
            rbt_sim *sim = material_sim(NAMES[k]);
            for (int loose = 0; loose < 2; loose++) {
                double ratio = covered(sim->model, AMOUNTS[b % 3], loose, &seed, &growth);
                if (isnan(ratio)) continue;
                judged++;
                worst[loose] = fmax(worst[loose], ratio);
            }
            rbt_sim_free(sim);
        }
        print_message(
            "%s: up to %.6f of the envelope, %.4f with nodes moved by themselves; up to %.3g times as stiff\n",
            NAMES[k], worst[0], worst[1], growth);
        assert_true(worst[0] > 0 && worst[0] <= 1 + 1e-9);
        assert_true(worst[1] > 0 && worst[1] <= 1.04);
        assert_true(judged > 2 * BODIES / 3);  // of twice as many; at 0.01 hardly a tet turns inside out
    }
}

// Random F with a positive determinant, of which the table speaks by |F^T F - I| alone
static void tables_are_stiffer_than_what_they_cover(void **state) {
    (void)state;
    uint64_t seed = random_stream(__func__, 0);
    for (int i = 0; rbt_material_at(i); i++) {
        const rbt_material *material = rbt_material_at(i);
        if (material->constant_stiffness || material->turning_stiffness) continue;
        for (int ratio = 0; ratio < 3; ratio++) {
            double mu = 1, lambda = ratio ? 30 * (ratio - 0.9) : 0.1, closest = 0;
            rbt_stiffening law = rbt_stiffening_law(material, mu, lambda);
            rbt_stiffening_table table;
            rbt_stiffening_tabulate(&law, &table);
            for (int k = 0; k < 4000; k++) {
                double F[9], amount = coupled_spread(&seed, 1e-3, 3), square = 0, allowed;
                for (int j = 0; j < 9; j++) F[j] = (j % 4 == 0) + amount * (2 * delaunay_random(&seed) - 1);
                for (int j = 0; j < 9; j++) {
                    double C = F[j / 3] * F[j % 3] + F[3 + j / 3] * F[3 + j % 3] + F[6 + j / 3] * F[6 + j % 3];
                    square += (C - (j % 4 == 0)) * (C - (j % 4 == 0));
                }
                double now = rbt_stiffening_of(&law, F), normal[3];
                rbt_cross(F, F + 3, normal);
                if (!(rbt_dot(normal, F + 6) > 0)) continue;
                for (int level = 0; level < RBT_STIFFENING_LEVELS; level++) {
                    allowed = table.most[level];
                    if (rbt_stiffening_radius(&table, allowed) * (1 - 1e-12) < sqrt(square)) continue;
                    if (!isinf(allowed)) closest = fmax(closest, now / allowed);
                    if (!(now <= allowed))
                        fail_msg("%s lambda %g: %g above %g at %g", material->name, lambda, now, allowed,
                                 sqrt(square));
                    break;
                }
            }
            assert_true(closest > 0.3);
        }
    }
}

// ---- Runs that blew up

typedef struct energies {
    double start, first, second;  // the largest of the first and the second half
} energies;

static energies run(const char *json, int steps) {
    rbt_sim *sim = sim_from(json);
    energies e = {.start = rbt_sim_energies(sim).total};
    rbt_step_report report = {0};
    for (int i = 0; i < steps; i++) {
        if (rbt_sim_take_step(sim, &report) != RBT_DONE) fail_msg("step %d: %s", i, report.hint);
        double now = rbt_sim_energies(sim).total, *most = i < steps / 2 ? &e.first : &e.second;
        *most = fmax(*most, now);
    }
    rbt_sim_free(sim);
    return e;
}

// Symplectic Euler keeps E - h v . f / 2, so that at a frequency w E swings by (1 + h w / 2) / (1 - h w / 2). Certified
// are (h w)^2 <= 4 (1 - 0.04), and explosions go beyond any number.
static double swing(void) { return (1 + sqrt(0.96)) / (1 - sqrt(0.96)); }

static const char BAR[] =
    "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'bar': {'size': [0.2, 0.04, 0.04], 'cells': [%s]}}, "
    "'slivers': {'share': %s, 'height': %s, 'seed': 6}}, 'material': {'model': '%s', 'young': 30000, 'poisson': 0.3, "
    "'density': 1000}, %s}], %s 'time': {'step': %s, 'frame': %s, 'end': 100}, 'integrator': {'method': 'imex', "
    "'max_halvings': 0}}";
static const char CONSTRAINED_AND_BENT[] =
    "'fixed': [{'box': {'min': [0, 0, 0], 'max': [0.001, 1, 1], 'relative': true}}], "
    "'deform': [{'bend': {'axis': [1, "
    "0, 0], 'towards': [0, 1, 0], 'degrees': %d}}]%s";

// Below the bound of the undamped bar, above that of the damped one: 0.003 J became more than 1,000
static void damped_bars_come_to_rest(void **state) {
    (void)state;
    char json[2048], more[512];
    snprintf(more, sizeof more, CONSTRAINED_AND_BENT, 20, ", 'damping': {'stiffness': 2e-4}");
    snprintf(json, sizeof json, BAR, "16, 5, 5", "0.005", "0.36", "corotational", more, "", "0.0004", "0.0004");
    energies e = run(json, 500);
    print_message("%g J, then %g and %g\n", e.start, e.first, e.second);
    assert_true(e.first < swing() * e.start && e.second < e.first);
}

// Stiff planes under a falling bar
static void stiff_planes_give_no_energy(void **state) {
    (void)state;
    static const char *const STIFFNESS[] = {"1e7", "1e8", "1e11"};
    for (int k = 0; k < 3; k++) {
        char json[2048], planes[256];
        snprintf(planes, sizeof planes,
                 "'obstacles': [{'plane': {'point': [0, -0.05, 0], 'normal': [0.1, 1, 0], 'stiffness': %s}}],",
                 STIFFNESS[k]);
        snprintf(json, sizeof json, BAR, "12, 3, 3", "0.005", "0.36", "corotational",
                 "'velocity': {'linear': [0, -1, 0]}", planes, "0.0004", "0.0004");
        energies e = run(json, 400);
        print_message("%s Pa/m: %g J, then %g and %g\n", STIFFNESS[k], e.start, e.first, e.second);
        assert_true(e.first < swing() * e.start && e.second < 1.01 * e.first);
    }
}

// A workspace that knows nothing of who has come into reach continues with the same bits.
static void reach_is_the_states(void **state) {
    (void)state;
    char json[2048];
    snprintf(json, sizeof json, BAR, "12, 3, 3", "0.005", "0.36", "st-venant-kirchhoff",
             "'velocity': {'linear': [0, -1, 0], 'angular': [0, 0, 5]}",
             "'obstacles': [{'plane': {'point': [0, -0.05, 0], 'stiffness': 1e8}}],", "0.0004", "0.0004");
    rbt_sim *one = sim_from(json), *other = sim_from(json);
    rbt_step_report report = {0};
    size_t bytes = 3 * one->model->node_count * sizeof(double), before = coupled_implicit(one);
    for (int k = 0; k < 150; k++) assert_int_equal(rbt_sim_take_step(one, &report), RBT_DONE);
    assert_true(coupled_implicit(one) > before);
    memcpy(other->state.x, one->state.x, bytes);
    memcpy(other->state.v, one->state.v, bytes);
    memcpy(other->state.memory, one->state.memory, one->state.memory_size);
    other->state.t = one->state.t;
    other->state.frame = one->state.frame;
    for (int k = 0; k < 100; k++) {
        assert_int_equal(rbt_sim_take_step(one, &report), RBT_DONE);
        assert_int_equal(rbt_sim_take_step(other, &report), RBT_DONE);
    }
    assert_memory_equal(one->state.x, other->state.x, bytes);
    assert_memory_equal(one->state.v, other->state.v, bytes);
    rbt_sim_free(one);
    rbt_sim_free(other);
}

// St. Venant-Kirchhoff's slivers, which stiffen most where edges show least
static void slivers_that_stiffen_give_no_energy(void **state) {
    (void)state;
    static const char *const STEP[] = {"0.0004", "0.0006", "0.001"};
    for (int k = 0; k < 3; k++) {
        char json[2048], more[512];
        snprintf(more, sizeof more, CONSTRAINED_AND_BENT, 60, "");
        snprintf(json, sizeof json, BAR, "10, 3, 3", "0.05", "0.1", "st-venant-kirchhoff", more, "", STEP[k],
                 STEP[k]);
        energies e = run(json, SAMPLED(3000, 600));
        print_message("%s s: %g J, then %g and %g\n", STEP[k], e.start, e.first, e.second);
        assert_true(e.first < swing() * e.start && e.second < 1.01 * e.first);
    }
}

static int remove_mesh(void **state) {
    (void)state;
    return unlink(mesh_path);
}

int main(void) {
    rbt_threads_set(1);  // many small steps
    snprintf(mesh_path, sizeof mesh_path, "/tmp/rubato_imex_stability_%d.mesh", (int)getpid());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damped_steps_against_obstacles_are_stable),
        cmocka_unit_test(the_bound_of_explicit_steps_is_theirs),
        cmocka_unit_test(envelopes_are_stiffer_than_what_they_cover),
        cmocka_unit_test(tables_are_stiffer_than_what_they_cover),
        cmocka_unit_test(damped_bars_come_to_rest),
        cmocka_unit_test(stiff_planes_give_no_energy),
        cmocka_unit_test(reach_is_the_states),
        cmocka_unit_test(slivers_that_stiffen_give_no_energy),
    };
    return cmocka_run_group_tests(tests, NULL, remove_mesh);
}
