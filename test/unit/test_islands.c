// Islands of implicit nodes with a stiffness that is kept: their equation against the block solver, how far elements
// may turn against the spectra of dense matrices, and that a resumed run continues with the same stiffness.
#include "base/threads.h"
#include "delaunay.h"
#include "dense.h"
#include "math/quaternion.h"
#include "math/vec3.h"
#include "scene.h"
#include "sim/sim.h"
#include "step/explicit/stability.h"
#include "step/imex/imex_block.h"
#include "step/imex/islands.h"

#include <unistd.h>

#include "random.h"
#include "sampled.h"

enum { BODIES = SAMPLED(100, 40), NODES = 12 };

static char mesh_path[64];

static rbt_sim *body_sim(int body, size_t nodes, const char *material, double step, const char *solver,
                         const char *more) {
    static delaunay d;
    char json[2048];
    delaunay_random_body(&d, nodes, random_stream("body", (uint64_t)body), 1e-5);
    delaunay_write(&d, mesh_path);
    snprintf(json, sizeof json,
             "{'rubato': 1, 'bodies': [{'name': 'body', 'mesh': {'file': '%s'}, 'material': {'model': '%s', "
             "'young': 1e4, 'poisson': 0.3, 'density': 1000}%s}], 'time': {'step': %.17g, 'frame': %.17g, 'end': "
             "1000}, 'integrator': {'method': 'imex', 'solver': '%s', 'max_halvings': 0}}",
             mesh_path, material, more, step, step, solver);
    return sim_from(json);
}

static double bound_of(const rbt_model *m, rbt_stability *s) {
    assert_true(rbt_stability_init(s, m, NULL, NULL));
    return rbt_stability_bound(s, NULL, 1, NULL, NULL);
}

// ---- Rotations

static void random_rotation(uint64_t *seed, double angle, double R[9]) {
    double axis[3], q[4];
    for (int i = 0; i < 3; i++) axis[i] = 2 * delaunay_random(seed) - 1;
    rbt_normalize(axis, q + 1);
    for (int i = 1; i < 4; i++) q[i] *= sin(angle / 2);
    q[0] = cos(angle / 2);
    rbt_quaternion_rotation(q, R);
}

static void quaternions_are_rotations(void **state) {
    (void)state;
    uint64_t seed = random_stream(__func__, 0);
    for (int k = 0; k < 200; k++) {
        double R[9], q[4], again[9], angle = k % 4 == 0 ? M_PI : 7 * delaunay_random(&seed);
        random_rotation(&seed, angle, R);
        for (int i = 0; i < 9; i++)  // R R^T = I
            assert_true(fabs(rbt_dot(R + i / 3 * 3, R + i % 3 * 3) - (i % 4 == 0)) < 1e-14);
        assert_true(fabs(R[0] + R[4] + R[8] - 1 - 2 * cos(angle)) < 1e-14);
        rbt_quaternion_of(R, q);
        rbt_quaternion_rotation(q, again);
        for (int i = 0; i < 9; i++) assert_true(fabs(R[i] - again[i]) < 1e-14);
    }
}

// ---- The equation

// The change of velocity of a block that factors in every step, in nodes of the body
static void exact_change(const rbt_model *m, const unsigned char *chosen, rbt_state *state, const double *f,
                         const unsigned char *constrained, double h, double *dv) {
    rbt_imex_block b;
    rbt_step_report report = {0};
    rbt_stages stages = {0};
    assert_true(rbt_imex_block_init(&b, m, chosen, RBT_IMEX_CHOLESKY, 1e-4, h, NULL));
    rbt_imex_block_take(&b, f);
    assert_int_equal(rbt_imex_block_solve(&b, state, NULL, constrained, h, &stages, &report), RBT_DONE);
    for (size_t i = 0; i < b.count; i++) memcpy(dv + 3 * (size_t)b.part.nodes[i], b.dv + 3 * i, 3 * sizeof *dv);
    rbt_imex_block_free(&b);
}

static size_t islands_differ(rbt_sim *sim, double share, double turned, double speed, double tolerance,
                             uint64_t *seed, size_t *judged) {
    const rbt_model *m = sim->model;
    size_t n = 3 * m->node_count, many = 0;
    unsigned char chosen[DELAUNAY_POINTS] = {0}, constrained[DELAUNAY_POINTS] = {0};
    double f[3 * DELAUNAY_POINTS], dv[3 * DELAUNAY_POINTS] = {0}, R[9], error = 0, size = 0;
    void *memory = calloc(1, rbt_islands_memory_size(m));
    random_rotation(seed, turned, R);
    for (size_t i = 0; i < m->node_count; i++) {
        chosen[i] = delaunay_random(seed) < share;
        constrained[i] = delaunay_random(seed) < 0.1;
        for (size_t k = 0; k < 3; k++) sim->state.x[3 * i + k] = rbt_dot(R + 3 * k, m->X + 3 * i);
    }
    for (size_t i = 0; i < n; i++) {
        f[i] = speed * (2 * delaunay_random(seed) - 1);
        sim->state.v[i] = speed * (2 * delaunay_random(seed) - 1);
    }
    exact_change(m, chosen, &sim->state, f, constrained, m->step, dv);
    rbt_islands s;
    rbt_step_report report = {0};
    rbt_stages stages = {0};
    assert_true(rbt_islands_init(&s, m, chosen, 0.4, NULL));
    rbt_islands_take_external(&s, f);
    rbt_islands_take(&s, f);  // elastic forces are 0 in a body at rest, turned or not
    assert_int_equal(rbt_islands_solve(&s, &sim->state, memory, constrained, m->step, &stages, &report), RBT_DONE);
    double *before = malloc(n * sizeof *before);
    memcpy(before, sim->state.v, n * sizeof *before);
    rbt_islands_add(&s, &sim->state);
    for (size_t i = 0; i < n; i++) {
        error = fmax(error, fabs(sim->state.v[i] - before[i] - (constrained[i / 3] ? 0 : dv[i])));
        size = fmax(size, fabs(dv[i]));
    }
    for (size_t k = 0; k < s.island_count; k++) many += s.islands[k].inverse == NULL;
    many = s.island_count > 1 ? many : 0;
    rbt_islands_free(&s);
    free(before);
    free(memory);
    assert_true(size > 0 ? error < tolerance * size : error == 0);
    *judged += size > 0;
    return many;
}

// Of linear bodies both are the same equation; of corotational ones to the first order in the speed, which is small
// here. Rotations are off by 2^-24 in each of four numbers, K' by no more than four times that, and a step five times
// the bound makes 1 + (5 x 2)^2 = 101 times as much of it.
static void islands_are_the_block(void **state) {
    (void)state;
    uint64_t seed = random_stream(__func__, 0);
    size_t both = 0, judged = 0;
    for (int b = 0; b < 40 || (b < 400 && !both); b++) {  // until one has islands of many nodes beside others
        static const char *const MATERIALS[] = {"corotational", "linear"};
        rbt_stability s;
        rbt_sim *plain = body_sim(b, 60, "linear", 1e-3, "auto", "");
        double step = 5 * bound_of(plain->model, &s);
        rbt_stability_free(&s);
        rbt_sim_free(plain);
        rbt_sim *sim =
            body_sim(b, 60, MATERIALS[b % 2], step, "auto", ", 'damping': {'mass': 0.3, 'stiffness': 1e-4}");
        double share = 0.1 + 0.2 * (b % 5);
        if (b % 2) both += islands_differ(sim, share, 0, 1, 1e-10, &seed, &judged);
        else islands_differ(sim, share, 2, 1e-6, 101 * 0x1p-22, &seed, &judged);
        rbt_sim_free(sim);
    }
    assert_true(both > 0 && judged > 20);  // the others have no implicit node that moves
}

// ---- How far elements may turn

// K with every element turned, and the elements' own
static void turned_stiffness(const rbt_model *m, const double *angle, bool together, uint64_t *seed, double *K) {
    size_t n = 3 * m->node_count;
    uint64_t first = *seed;
    memset(K, 0, n * n * sizeof *K);
    for (size_t e = 0; e < m->groups[0].count; e++) {
        const int32_t *node = m->groups[0].nodes + 4 * e;
        double own[144], R[9];
        if (together) *seed = first;  // the same axis
        random_rotation(seed, angle[e], R);
        m->groups[0].type->local(&m->groups[0], e, m->X, NULL, RBT_TANGENT, own);
        for (size_t a = 0; a < 4; a++)
            for (size_t b = 0; b < 4; b++)
                for (size_t i = 0; i < 9; i++)
                    for (size_t k = 0; k < 9; k++)  // R K_ab R^T
                        K[(3 * (size_t)node[a] + i / 3) * n + 3 * (size_t)node[b] + i % 3] +=
                            R[i / 3 * 3 + k / 3] * own[12 * (3 * a + k / 3) + 3 * b + k % 3] * R[i % 3 * 3 + k % 3];
    }
}

// Random angles such that at the worst node the sum of turn.h is lag^2, or one for all elements
static void random_angles(const rbt_model *m, double h, double lag, bool together, uint64_t *seed, double *angle) {
    rbt_model_part part;
    rbt_rotation_lag turn;
    unsigned char all[DELAUNAY_POINTS];
    memset(all, 1, sizeof all);
    double sum[DELAUNAY_POINTS] = {0}, most = 0;
    assert_true(rbt_model_part_build(&part, m, all, NULL));
    assert_true(rbt_rotation_lag_build(&turn, &part, m->mass, m->X, NULL));
    for (size_t e = 0; e < part.element_count; e++) {
        assert_int_equal(part.model.groups[0].members[e], m->groups[0].members[e]);
        angle[e] = together ? 1 : delaunay_random(seed) / (h * turn.rate[e]);
        for (size_t a = 0; a < 4; a++) {
            double *to = &sum[m->groups[0].nodes[4 * e + a]];
            *to += pow(h * turn.rate[e] * angle[e], 2);
            most = fmax(most, *to);
        }
    }
    for (size_t e = 0; e < part.element_count; e++) angle[e] *= lag / sqrt(most);
    rbt_model_part_free(&part);
}

// Of a step over (x, d), d being the last step's motion; explicit nodes E first, then implicit ones I with the
// stiffness K' = `old`:
//   M d+ = M d - h^2 K x  in E,      (M + h^2 K') (d+ - d) = - h^2 K (x + d~)  in I,      d~ = d in I, d+ in E
static double spectral_radius(const rbt_model *m, const unsigned char *implicit, const double *K, const double *old,
                              double h) {
    size_t n = 3 * m->node_count;
    double *A = calloc(n * n, sizeof *A), *B = calloc(4 * n * n, sizeof *B), *rhs = malloc(n * sizeof *rhs);
    double *d = malloc(n * sizeof *d);
    bool fixed[3 * DELAUNAY_POINTS] = {0};  // three nodes, so that there is no rigid motion with its double root 1
    for (size_t i = 0; i < 9; i++) fixed[i] = true;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            A[i * n + j] = fixed[i] ? i == j
                                    : (i == j) * m->mass[i / 3] +
                                          (implicit[i / 3] ? h * h * (implicit[j / 3] ? old : K)[i * n + j] : 0);
    for (size_t j = 0; j < 2 * n; j++) {
        for (size_t i = 0; i < n; i++) {
            size_t d_of = j % n;
            bool both = implicit[i / 3] && implicit[d_of / 3];
            rhs[i] = j < n ? -h * h * K[i * n + j] : (i == d_of) * m->mass[i / 3];
            if (j >= n && both) rhs[i] += h * h * (old[i * n + d_of] - K[i * n + d_of]);
            if (fixed[i]) rhs[i] = 0;
        }
        if (fixed[j % n]) memset(rhs, 0, n * sizeof *rhs);
        assert_true(dense_solve(A, n, rhs, d));
        for (size_t i = 0; i < n; i++) {
            B[j * 2 * n + i] = (fixed[i] ? 0 : i == j) + d[i];
            B[j * 2 * n + n + i] = d[i];
        }
    }
    double radius = dense_radius(B, 2 * n);
    free(A);
    free(B);
    free(rhs);
    free(d);
    return radius;
}

// Turned as far as the bound allows, each element its own way or all alike, implicit nodes are stable; turned as far
// as islands allow, so are certified explicit ones beside them. Turned thirty times as far, they are not.
static void turned_elements_are_stable(void **state) {
    (void)state;
    uint64_t seed = random_stream(__func__, 0);
    double worst[3] = {0}, bound = sqrt(1.0 / 3);
    for (int b = 0; b < BODIES; b++) {
        rbt_stability s;
        rbt_sim *sim = body_sim(b, NODES, "linear", 1e-3, "auto", "");
        const rbt_model *m = sim->model;
        size_t n = 3 * m->node_count;
        double h = (b % 3 == 0 ? 1.3 : b % 3 == 1 ? 3 : 10) * bound_of(m, &s);
        double *angle = calloc(m->groups[0].count, sizeof *angle);
        double *K = malloc(n * n * sizeof *K), *old = malloc(n * n * sizeof *old);
        bool together = b / 3 % 2;
        unsigned char implicit[DELAUNAY_POINTS], all[DELAUNAY_POINTS];
        memset(all, 1, sizeof all);
        turned_stiffness(m, angle, false, &seed, K);
        rbt_split_def def = {.step = h, .safety = 0.93, .certify = true, .release = true};
        rbt_stability_split(&s, &def, implicit);
        for (int k = 0; k < 3; k++) {
            random_angles(m, h, k == 0 ? bound : k == 1 ? 0.4 : 30 * bound, together, &seed, angle);
            turned_stiffness(m, angle, together, &seed, old);
            worst[k] = fmax(worst[k], spectral_radius(m, k == 1 ? implicit : all, K, old, h));
        }
        free(angle);
        free(K);
        free(old);
        rbt_stability_free(&s);
        rbt_sim_free(sim);
    }
    print_message("spectral radius: all implicit 1 + %.2g, with explicit nodes 1 + %.2g, much further %.3g\n",
                  worst[0] - 1, worst[1] - 1, worst[2]);
    assert_true(worst[0] <= 1 + 1e-7 && worst[1] <= 1 + 1e-7);
    assert_true(worst[2] > 1.1);
}

// ---- Runs

static rbt_sim *spinning_ball(double step, const char *solver) {
    char json[1024];
    snprintf(
        json, sizeof json,
        "{'rubato': 1, 'bodies': [{'name': 'ball', 'mesh': {'shape': {'ball': {'radius': 0.1, 'layers': 5}}, "
        "'slivers': {'share': 0.03, 'height': 0.01, 'seed': 2}}, 'material': {'model': 'corotational', 'young': 1e4, "
        "'density': 1000}, 'deform': [{'stretch': {'axis': [0, 1, 0], 'factor': 1.02}}], 'velocity': {'angular': "
        "[0.6, 1.8, 1]}}], 'time': {'step': %.17g, 'frame': %.17g, 'end': 1000}, 'integrator': {'method': 'imex', "
        "'solver': '%s', 'max_halvings': 0}}",
        step, step, solver);
    return sim_from(json);
}

static void step(rbt_sim *sim, int steps) {
    rbt_step_report report = {0};
    for (int k = 0; k < steps; k++) assert_int_equal(rbt_sim_take_step(sim, &report), RBT_DONE);
}

static double distance(const rbt_sim *a, const rbt_sim *b) {
    double sum = 0;
    for (size_t i = 0; i < 3 * a->model->node_count; i++) sum += pow(a->state.x[i] - b->state.x[i], 2);
    return sqrt(sum);
}

static size_t bytes_of(const rbt_sim *sim) { return 3 * sim->model->node_count * sizeof(double); }

static void hand_over(const rbt_sim *from, rbt_sim *to) {
    memcpy(to->state.x, from->state.x, bytes_of(from));
    memcpy(to->state.v, from->state.v, bytes_of(from));
    memcpy(to->state.memory, from->state.memory, from->state.memory_size);
    to->state.t = from->state.t;
    to->state.frame = from->state.frame;
}

static void assert_same(const rbt_sim *a, const rbt_sim *b) {
    assert_memory_equal(a->state.x, b->state.x, bytes_of(a));
    assert_memory_equal(a->state.v, b->state.v, bytes_of(a));
}

static long number_after(const char *text, const char *name) {
    const char *at = strstr(text, name);
    assert_non_null(at);
    return strtol(at + strlen(name), NULL, 10);
}

// A spinning body turns its elements all the time. What is kept changes the motion less than the step itself does,
// gains no energy, and a workspace that knows nothing but the state continues with the same bits.
static void spinning_bodies_keep_what_serves(void **state) {
    (void)state;
    const double h = 1e-3;
    rbt_sim *kept = spinning_ball(h, "lagged"), *resumed = spinning_ball(h, "lagged");
    rbt_sim *exact = spinning_ball(h, "cholesky"), *finer = spinning_ball(h / 2, "cholesky");
    double start = rbt_sim_energies(kept).total;
    step(kept, 300);
    step(exact, 300);
    step(finer, 600);
    rbt_text words = {0};
    kept->stepper.method->describe(kept->stepper.self, &words);
    long islands = number_after(words.text, "\"islands\": "),
         renewed = number_after(words.text, "\"islands_renewed\": ");
    print_message("kept: %.2g from exact, half the step %.2g; %ld islands made %ld times in 300 steps\n",
                  distance(kept, exact), distance(finer, exact), islands, renewed);
    assert_true(distance(kept, exact) > 0 && distance(kept, exact) < distance(finer, exact));
    assert_true(renewed > islands && renewed < 200 * islands);
    rbt_text_free(&words);
    hand_over(kept, resumed);
    step(kept, 300);
    step(resumed, 300);
    assert_same(kept, resumed);
    step(kept, SAMPLED(5000, 1000));
    assert_true(rbt_sim_energies(kept).total < start);
    rbt_sim_free(kept);
    rbt_sim_free(exact);
    rbt_sim_free(finer);
    rbt_sim_free(resumed);
}

// A step that fails at its end, after elements were looked at and islands renewed: the state is as before, and steps
// continue from it, with the same bits in a workspace that has not seen the failure.
static void failed_steps_can_be_tried_again(void **state) {
    (void)state;
    rbt_sim *sim = spinning_ball(1e-3, "lagged"), *other = spinning_ball(1e-3, "lagged"),
            *never = spinning_ball(1e-3, "lagged");
    rbt_step_report report = {0};
    step(sim, 7);
    step(never, 7);
    double fast = 1e12, last = sim->state.v[0], t = sim->state.t;
    sim->state.v[0] = fast;
    hand_over(sim, other);
    assert_int_not_equal(rbt_sim_take_step(sim, &report), RBT_DONE);
    assert_same(sim, other);
    assert_true(sim->state.t == t);
    sim->state.v[0] = last;
    hand_over(sim, other);
    step(sim, 40);
    step(other, 40);
    step(never, 40);
    assert_same(sim, other);
    assert_true(distance(sim, never) < 1e-4);
    rbt_sim_free(sim);
    rbt_sim_free(other);
    rbt_sim_free(never);
}

static int remove_mesh(void **state) {
    (void)state;
    return unlink(mesh_path);
}

int main(void) {
    rbt_threads_set(1);  // many small steps
    snprintf(mesh_path, sizeof mesh_path, "/tmp/rubato_islands_%d.mesh", (int)getpid());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quaternions_are_rotations),       cmocka_unit_test(islands_are_the_block),
        cmocka_unit_test(turned_elements_are_stable),      cmocka_unit_test(spinning_bodies_keep_what_serves),
        cmocka_unit_test(failed_steps_can_be_tried_again),
    };
    return cmocka_run_group_tests(tests, NULL, remove_mesh);
}
