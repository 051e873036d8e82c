// Damping of async-contact: it resists rates of strain, so that it takes energy and no momentum, whatever the
// deformation and however strong it is (energy/group.h, step/async/clocks.h).
#include "energy/hinge.h"
#include "energy/membrane.h"
#include "energy/spring.h"
#include "energy/tet_group.h"
#include "math/vec3.h"
#include "mesh/core/stable_step.h"
#include "scene.h"
#include "sim/sim.h"
#include "step/async/clocks.h"

#include "random.h"

#define TIME(step) "'time': {'step': " step ", 'frame': 1, 'end': 9}, 'integrator': {'method': 'async-contact'}}"
#define CLOTH(beta, bending, more)                                                                                   \
    "{'rubato': 1, 'bodies': [{'name': 'cloth', 'mesh': {'shape': {'cloth': {'length': 0.3, 'width': 0.2, "          \
    "'cells_along': 3, 'cells_across': 2}}}, 'material': {'young': 1e5, 'poisson': 0.3, 'density': 500}, 'shell': "  \
    "{'thickness': 0.002, 'bending': " bending more "}, 'damping': {'stiffness': " beta "}}], "
#define BAR(beta, model)                                                                                             \
    "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.3, 0.1, 0.1], 'cells': [3, "  \
    "1, "                                                                                                            \
    "1]}}}, 'material': {'model': '" model "', 'young': 1e5, 'poisson': 0.3, 'density': 500}, 'damping': "           \
    "{'stiffness': " beta "}}], "

static double spread(void) { return 2 * unit() - 1; }

static double size_of(const double *a, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * a[i];
    return sqrt(sum);
}

static double product(const double *a, const double *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

// ---- One element

enum { MOST = 3 * RBT_MOST_CORNERS };

// D v of one element, with positions and velocities of its corners: with so much damping that the gradient does not
// count
static void damped(const rbt_model *m, const rbt_group *group, size_t e, const double *x, const double *v,
                   double *result) {
    double *X = calloc(3 * m->node_count, sizeof *X), *V = calloc(3 * m->node_count, sizeof *V);
    size_t first = e / RBT_W * RBT_W, corners = (size_t)group->type->corners;
    double *all = calloc(3 * corners * RBT_W, sizeof *all), beta[RBT_W] = {0};
    beta[e - first] = 0x1p100;
    memcpy(X, m->X, 3 * m->node_count * sizeof *X);
    for (size_t a = 0; a < corners; a++) {
        memcpy(X + 3 * (size_t)group->nodes[corners * e + a], x + 3 * a, 3 * sizeof *x);
        memcpy(V + 3 * (size_t)group->nodes[corners * e + a], v + 3 * a, 3 * sizeof *v);
    }
    group->type->damped_gradient(group, first, e - first + 1, X, V, beta, all);
    for (size_t i = 0; i < 3 * corners; i++) result[i] = 0x1p-100 * all[3 * corners * (e - first) + i];
    free(X);
    free(V);
    free(all);
}

static void positions(const rbt_model *m, const rbt_group *group, size_t e, double *x) {
    for (size_t a = 0; a < (size_t)group->type->corners; a++)
        memcpy(x + 3 * a, m->X + 3 * (size_t)group->nodes[(size_t)group->type->corners * e + a], 3 * sizeof *x);
}

// Largest eigenvalue of K / m at rest, m = 1 kg at every corner
static double rate_at_rest(const rbt_model *m, const rbt_group *group, size_t e) {
    const double masses[RBT_MOST_CORNERS] = {1, 1, 1, 1};
    if (group->type->rate) return group->type->rate(group, e, masses);
    const int32_t *tet = m->tets + 4 * (size_t)group->members[e];
    const rbt_material_def *def = &m->regions[m->tet_region[group->members[e]]].material;
    double X[4][3];
    for (int a = 0; a < 4; a++) memcpy(X[a], m->X + 3 * (size_t)tet[a], sizeof X[a]);
    double volume = fabs(rbt_tet_volume(X[0], X[1], X[2], X[3])),
           h = rbt_tet_stable_step((const double(*)[3])X, def->young, def->poisson, 4 / volume);  // rho V / 4 = 1
    return 4 / (h * h);
}

// Of the corners about the origin: v_a = u + w x x_a
static void rigid(const double *x, size_t corners, double *v) {
    double u[3], w[3];
    for (int i = 0; i < 3; i++) u[i] = spread(), w[i] = spread();
    for (size_t a = 0; a < corners; a++) {
        rbt_cross(w, x + 3 * a, v + 3 * a);
        rbt_add_scaled(v + 3 * a, 1, u);
    }
}

// At deformed positions: symmetric, never negative, no force and no torque on anything, none from rigid motions, and
// no faster than K at rest: so steps that are short enough at rest are always. `large`: of the sizes of its terms.
static void judge_deformed(const rbt_model *m, const rbt_group *group, size_t e, const double *x, double most) {
    size_t corners = (size_t)group->type->corners, n = 3 * corners;
    double v[MOST] = {0}, w[MOST] = {0}, Dv[MOST], Dw[MOST], force[3] = {0}, torque[3] = {0};
    for (size_t i = 0; i < n; i++) v[i] = spread(), w[i] = spread();
    damped(m, group, e, x, v, Dv);
    damped(m, group, e, x, w, Dw);
    if (group->type == &RBT_TETS && !((const rbt_tets *)group->data)->material->survives_inversion &&
        !isfinite(product(w, Dv, n)))
        return;  // inside out: the gradient itself is no number
    double rounding = 1e-13 * most;
    assert_true(fabs(product(w, Dv, n) - product(v, Dw, n)) <= rounding * size_of(v, n) * size_of(w, n));
    assert_true(product(v, Dv, n) >= -rounding * product(v, v, n));
    assert_true(product(v, Dv, n) <= most * product(v, v, n) * (1 + 1e-12));
    for (size_t a = 0; a < corners; a++) {
        double turn[3];
        rbt_cross(x + 3 * a, Dv + 3 * a, turn);
        rbt_add_scaled(force, 1, Dv + 3 * a);
        rbt_add_scaled(torque, 1, turn);
    }
    double scale = fmax(size_of(Dv, n), rounding);
    assert_true(rbt_length(force) <= 1e-14 * scale);
    assert_true(rbt_length(torque) <= 1e-13 * scale * fmax(size_of(x, n), 1));
    rigid(x, corners, v);
    damped(m, group, e, x, v, Dv);
    assert_true(size_of(Dv, n) <= 1e-12 * most * size_of(v, n) * fmax(size_of(x, n), 1));
}

static void judge_element(const rbt_model *m, const rbt_group *group, size_t e) {
    double rest[MOST] = {0}, x[MOST] = {0};
    double most = rate_at_rest(m, group, e) * (group->type == &RBT_HINGES ? 2 : 1);  // energy/hinge.c
    positions(m, group, e, rest);
    for (int kind = 0; kind < 30; kind++) {  // from nearly at rest to torn apart and crushed
        double far = 0.1 * pow(10, kind / 10.0 - 2), scale = kind % 3 == 0 ? 0.05 : 1;
        for (size_t i = 0; i < 3 * (size_t)group->type->corners; i++) x[i] = scale * rest[i] + far * spread();
        judge_deformed(m, group, e, x, most);
    }
}

// Without damping it is the gradient, bit for bit.
static void judge_undamped(const rbt_model *m, const rbt_group *group) {
    size_t count = group->count, n = 3 * count * (size_t)group->type->corners;
    double *x = calloc(3 * m->node_count, sizeof *x), *a = calloc(n, sizeof *a), *b = calloc(n, sizeof *b);
    double *none = calloc(count, sizeof *none);
    for (size_t i = 0; i < 3 * m->node_count; i++) x[i] = m->X[i] + 0.01 * spread();
    group->type->gradient(group, 0, count, x, NULL, a);
    group->type->damped_gradient(group, 0, count, x, x, none, b);
    for (size_t i = 0; i < n; i++) assert_true(a[i] == b[i]);
    free(x);
    free(a);
    free(b);
    free(none);
}

// At rest D is the stiffness, up to the rounding of its terms.
static void judge_rest(const rbt_model *m, const rbt_group *group, size_t e) {
    size_t n = 3 * (size_t)group->type->corners;
    double x[MOST] = {0}, v[MOST] = {0}, Dv[MOST], K[MOST * MOST];
    positions(m, group, e, x);
    for (size_t i = 0; i < n; i++) v[i] = spread();
    damped(m, group, e, x, v, Dv);
    group->type->local(group, e, m->X, NULL, RBT_HESSIAN, K);
    double most = size_of(K, n * n) * size_of(v, n);
    for (size_t i = 0; i < n; i++) assert_true(fabs(product(K + n * i, v, n) - Dv[i]) <= 1e-9 * most);
}

static size_t judge_model(const char *json, const rbt_group_type *type) {
    rbt_sim *sim = sim_from(json);
    size_t judged = 0;
    for (size_t g = 0; g < sim->model->group_count; g++) {
        const rbt_group *group = &sim->model->groups[g];
        if (group->type != type) continue;
        judge_undamped(sim->model, group);
        for (size_t e = 0; e < group->count; e++, judged++) {
            judge_element(sim->model, group, e);
            judge_rest(sim->model, group, e);
        }
    }
    rbt_sim_free(sim);
    return judged;
}

static void elements_resist_strain_rates_only(void **state) {
    (void)state;
    assert_true(judge_model(CLOTH("1e-3", "1e-3", ", 'membrane': 'springs'") TIME("1e-4"), &RBT_SPRINGS) > 10);
    assert_true(judge_model(CLOTH("1e-3", "1e-3", "") TIME("1e-4"), &RBT_MEMBRANES) > 10);
    assert_true(judge_model(CLOTH("1e-3", "1e-3", "") TIME("1e-4"), &RBT_HINGES) > 10);
    static const char *const bars[] = {
        BAR("1e-3", "stable-neo-hookean") TIME("1e-4"),  BAR("1e-3", "neo-hookean") TIME("1e-4"),
        BAR("1e-3", "st-venant-kirchhoff") TIME("1e-4"), BAR("1e-3", "fixed-corotated") TIME("1e-4"),
        BAR("1e-3", "corotational") TIME("1e-4"),        BAR("1e-3", "arap") TIME("1e-4")};
    for (size_t i = 0; i < sizeof bars / sizeof *bars; i++) assert_true(judge_model(bars[i], &RBT_TETS) > 10);
}

// ---- Long runs of bodies that spin and are under stress

typedef struct run {
    rbt_sim *sim;
    rbt_clocks clocks;
    rbt_tracks tracks;
    double *memory;
    int64_t tick;
} run;

// Stretched by `stretch` along x, turned by `spin` [1/s] about y and, a little, about the others, with random
// velocities on top
static void start(run *r, const char *json, double safety, double stretch, double spin, double wild) {
    *r = (run){.sim = sim_from(json)};
    const rbt_model *m = r->sim->model;
    size_t n = m->node_count;
    assert_true(rbt_clocks_init(&r->clocks, m, safety, NULL));
    assert_true(r->clocks.stiffness_damped);
    assert_int_equal(rbt_clocks_memory(m), 0);
    r->memory = calloc(1, sizeof(double));
    r->tracks = (rbt_tracks){.count = n, .tick = ldexp(m->step, -RBT_TICK_BITS)};
    r->tracks.x = calloc(3 * n, sizeof(double));
    r->tracks.v = calloc(3 * n, sizeof(double));
    r->tracks.t = calloc(n, sizeof(int64_t));
    r->tracks.inverse_mass = calloc(n, sizeof(double));
    rbt_constrained_nodes(m, 0, r->clocks.constrained);
    const double w[3] = {0.3 * spin, spin, 0.1 * spin};
    for (size_t i = 0; i < n; i++) {
        double *x = r->tracks.x + 3 * i, *v = r->tracks.v + 3 * i;
        memcpy(x, m->X + 3 * i, 3 * sizeof *x);
        x[0] *= stretch;
        rbt_cross(w, x, v);
        for (int k = 0; k < 3; k++) v[k] += wild * spread() + 0.1 * (k + 1);
    }
}

static void end(run *r) {
    rbt_clocks_free(&r->clocks);
    rbt_sim_free(r->sim);
    free(r->memory);
    free(r->tracks.x);
    free(r->tracks.v);
    free(r->tracks.t);
    free(r->tracks.inverse_mass);
}

static void tick(run *r) {
    int shift = RBT_TICK_BITS - r->clocks.finest;
    rbt_clocks_tick(&r->clocks, &r->tracks, r->tick << shift, r->tick == 0, r->memory);
    r->tick++;
}

// p and L (3 each), and the sums of the sizes of their terms
static void momenta(const run *r, double p[3], double L[3], double *p_size, double *L_size) {
    *p_size = *L_size = 0;
    memset(p, 0, 3 * sizeof *p);
    memset(L, 0, 3 * sizeof *L);
    for (size_t i = 0; i < r->tracks.count; i++) {
        double mass = r->sim->model->mass[i], turn[3];
        const double *x = r->tracks.x + 3 * i, *v = r->tracks.v + 3 * i;
        rbt_cross(x, v, turn);
        rbt_add_scaled(p, mass, v);
        rbt_add_scaled(L, mass, turn);
        *p_size += mass * rbt_length(v);
        *L_size += mass * rbt_length(x) * rbt_length(v);
    }
}

// Elastic at positions of all nodes at the last tick and kinetic [J]
static double energy(run *r) {
    double sum = 0;
    int64_t now = (r->tick - 1) << (RBT_TICK_BITS - r->clocks.finest);
    for (size_t i = 0; i < r->tracks.count; i++) {
        rbt_track_move(&r->tracks, i, now);
        sum += 0.5 * r->sim->model->mass[i] * rbt_dot(r->tracks.v + 3 * i, r->tracks.v + 3 * i);
    }
    return sum + rbt_clocks_energy(&r->clocks, r->tracks.x);
}

// Every kick rounds what it adds to a momentum; so many kicks may all round one way. Forces change momenta by far
// more than is left of them, so the largest size on the way counts.
static void keeps_momenta(const char *json, int ticks) {
    run r;
    start(&r, json, 0.5, 1.2, 20, 0.5);
    double p0[3], L0[3], p[3], L[3], p_size, L_size, p_max = 0, L_most = 0, E0 = 0;
    for (int k = 0; k < ticks; k++) {
        tick(&r);
        if (k == 0) {
            momenta(&r, p0, L0, &p_size, &L_size);
            assert_true(rbt_length(L0) > 0.1 * L_size);  // it spins
            E0 = energy(&r);
        }
        if (k % 100 && k < ticks - 1) continue;
        energy(&r);  // brings all nodes to this tick
        momenta(&r, p, L, &p_size, &L_size);
        p_max = fmax(p_max, p_size), L_most = fmax(L_most, L_size);
        double off[3];
        rbt_subtract(p, p0, off);
        double bound = (k + 2) * 16 * 0x1p-53;
        if (rbt_length(off) > bound * p_max) fail_msg("p off by %g, bound %g", rbt_length(off), bound * p_max);
        rbt_subtract(L, L0, off);
        if (rbt_length(off) > bound * L_most) fail_msg("L off by %g, bound %g", rbt_length(off), bound * L_most);
    }
    assert_true(energy(&r) < 0.98 * E0);  // it has been damped
    end(&r);
}

static void write_spring(void) {
    FILE *file = fopen("damped-spring.obj", "w");
    assert_non_null(file);
    fputs("v -0.5 0 0\nv 0.5 0 0\nl 1 2\n", file);
    fclose(file);
}

#define SPRING(beta)                                                                                                 \
    "{'rubato': 1, 'bodies': [{'name': 'spring', 'mesh': {'file': 'damped-spring.obj'}, 'springs': {'stiffness': "   \
    "100, "                                                                                                          \
    "'node_mass': 0.5}, 'damping': {'stiffness': " beta "}}], "

static void momenta_are_kept_for_long(void **state) {
    (void)state;
    write_spring();
    keeps_momenta(SPRING("1e-2") TIME("0.02"), 20000);
    keeps_momenta(SPRING("1") TIME("0.02"), 20000);
    keeps_momenta(CLOTH("1e-4", "0", "") TIME("1e-3"), 8000);
    keeps_momenta(CLOTH("1e-2", "0", "") TIME("1e-3"), 8000);
    keeps_momenta(CLOTH("1e-3", "1e-2", "") TIME("1e-3"), 8000);
    keeps_momenta(CLOTH("1e-3", "1e-2", ", 'membrane': 'springs'") TIME("1e-3"), 8000);
    keeps_momenta(BAR("1e-3", "stable-neo-hookean") TIME("1e-3"), 4000);
    keeps_momenta(BAR("1e-2", "corotational") TIME("1e-3"), 4000);
    remove("damped-spring.obj");
}

// One spring along x is linear: with w^2 = 2 k / m, d = beta w^2 its stretch obeys
//   y'' = y_{k+1} - 2 y_k + y_{k-1} = -h^2 w^2 y_k - h d (y_k - y_{k-1}),   roots z of z^2 - (2 - h^2 w^2 - h d) z +
//                                                                           1 - h d
// so the amplitude decays as |z|^k = (1 - h d)^(k/2), which is exp(-beta w^2 t / 2) for small steps.
static void spring_decays_as_derived(void **state) {
    (void)state;
    write_spring();
    static const char *const scenes[] = {SPRING("1e-4") TIME("2e-3"), SPRING("2e-3") TIME("2e-3"),
                                         SPRING("1e-2") TIME("2e-3")};
    static const double beta[] = {1e-4, 2e-3, 1e-2};
    for (int i = 0; i < 3; i++) {
        run r;
        start(&r, scenes[i], 0.5, 1.1, 0, 0);
        assert_int_equal(r.clocks.finest, 0);
        const double h = 2e-3, w2 = 400, d = beta[i] * w2, half = 1 - 0.5 * h * h * w2 - 0.5 * h * d;
        const double decay = 1 - h * d, turn = acos(half / sqrt(decay));
        double y[2], far = 0;
        for (int k = 0; k < 2000; k++) {
            tick(&r);
            double stretch = r.tracks.x[3] - r.tracks.x[0] - 1;  // at tick k, before its kick
            if (k < 2) y[k] = stretch;
            if (k < 2) continue;
            // y_k = s^k (y_0 cos k a + c sin k a), s = sqrt(decay), c from y_1
            double s = sqrt(decay), c = (y[1] / s - y[0] * cos(turn)) / sin(turn), size = hypot(y[0], c);
            double expected = pow(s, k) * (y[0] * cos(k * turn) + c * sin(k * turn));
            far = fmax(far, fabs(stretch - expected) / size);
            // c is known to the rounding of y over sin a; positions of size 1 round at every tick.
            assert_true(fabs(stretch - expected) <= (k + 1) * 8 * 0x1p-53 / sin(turn) * (1 + 1 / sin(turn)));
        }
        double left = pow(decay, 1000), smooth = exp(-d * 4 / 2);  // of the amplitude after 4 s
        assert_true(fabs(log(left) / log(smooth) - 1) <= h * d);
        end(&r);
    }
    remove("damped-spring.obj");
}

// Kinetic energy of a rigid motion with the momenta of the present shape, which no damping takes: |p|^2 / 2 m + w.L /
// 2 with I w = L about the centre of mass. A hair is added to I, which a line of nodes has no inverse of.
static double rigid_energy(const run *r) {
    double p[3], L[3], unused, c[3] = {0}, total = 0, I[9] = {0}, trace, own[3], w[3], column[3][3], turn[3];
    momenta(r, p, L, &unused, &unused);
    for (size_t i = 0; i < r->tracks.count; i++) {
        total += r->sim->model->mass[i];
        rbt_add_scaled(c, r->sim->model->mass[i], r->tracks.x + 3 * i);
    }
    for (int i = 0; i < 3; i++) c[i] /= total;
    rbt_cross(c, p, own);
    rbt_add_scaled(L, -1, own);
    for (size_t n = 0; n < r->tracks.count; n++) {
        double d[3];
        rbt_subtract(r->tracks.x + 3 * n, c, d);
        for (int i = 0; i < 9; i++)
            I[i] += r->sim->model->mass[n] * ((i % 4 == 0 ? rbt_dot(d, d) : 0) - d[i / 3] * d[i % 3]);
    }
    trace = I[0] + I[4] + I[8];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) column[i][j] = I[3 * j + i] + (i == j ? 1e-9 * trace : 0);
    for (int i = 0; i < 3; i++) {  // Cramer's rule
        rbt_cross(column[(i + 1) % 3], column[(i + 2) % 3], turn);
        w[i] = rbt_dot(L, turn) / rbt_dot(column[i], turn);
    }
    return 0.5 * (rbt_dot(p, p) / total + rbt_dot(w, L));
}

// However strong it is, and however far the body is stretched: energy is taken. Read at a tick it is off by up to h w
// / 2 of a mode's own, which with half of the stable step (h w <= 1) is a factor between 1/2 and 3/2: a bound of 3
// for what grows and shrinks again.
static void only_takes(const char *json, double stretch, double wild, int ticks) {
    run r;
    start(&r, json, 0.5, stretch, 0, wild);
    tick(&r);
    double first = energy(&r), middle = 0;
    for (int k = 0; k < ticks; k++) {
        tick(&r);
        if (k % 10) continue;
        double now = energy(&r);
        if (!(now <= 3 * first)) fail_msg("%g J of %g J at tick %d", now, first, k);
        if (k < ticks / 2) middle = now;
    }
    double last = energy(&r), rigid = rigid_energy(&r);
    assert_true(last - rigid <= 3 * (middle - rigid) && last - rigid < 0.9 * (first - rigid));
    end(&r);
}

static void damping_of_any_strength_takes_energy(void **state) {
    (void)state;
    write_spring();
    static const char *const scenes[] = {SPRING("1e-2") TIME("0.02"),
                                         SPRING("10") TIME("0.02"),
                                         CLOTH("1e-3", "1e-2", "") TIME("1e-3"),
                                         CLOTH("0.1", "1e-2", "") TIME("1e-3"),
                                         CLOTH("1e-3", "1e-2", ", 'membrane': 'springs'") TIME("1e-3"),
                                         CLOTH("0.1", "1e-2", ", 'membrane': 'springs'") TIME("1e-3"),
                                         BAR("1e-3", "stable-neo-hookean") TIME("1e-3"),
                                         BAR("0.1", "stable-neo-hookean") TIME("1e-3"),
                                         BAR("0.1", "corotational") TIME("1e-3")};
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) only_takes(scenes[i], 1, 0.3, 1500);
    // Pulled to three times its length, where D without its phi is nine times as fast as at rest.
    only_takes(CLOTH("0.1", "1e-2", "") TIME("1e-3"), 3, 0.3, 1500);
    only_takes(BAR("0.1", "stable-neo-hookean") TIME("1e-3"), 3, 0.3, 1500);
    remove("damped-spring.obj");
}

// Clocks of damped elements are faster, as far as their own damping needs and no more: h_0 / (1 + 4 b / h_0) over a
// power of two.
static void damping_shortens_steps(void **state) {
    (void)state;
    write_spring();
    static const char *const scenes[] = {SPRING("1e-9") TIME("0.02"), SPRING("0.1") TIME("0.02"),
                                         SPRING("10") TIME("0.02")};
    static const double beta[] = {1e-9, 0.1, 10};
    for (int i = 0; i < 3; i++) {
        run r;
        start(&r, scenes[i], 0.5, 1, 0, 0);
        const double longest = 2 / sqrt(400), allowed = 0.5 * longest / (1 + 4 * beta[i] / longest);
        double h = 0.02 * exp2(-r.clocks.finest);
        assert_true(h <= allowed && 2 * h > fmin(allowed, 0.02));
        end(&r);
    }
    remove("damped-spring.obj");
}

static void fast_drag_is_refused(void **state) {
    (void)state;
    refuses("{'rubato': 1, 'bodies': [{'name': 'dust', 'mesh': {'shape': {'cloth': {'length': 1, 'width': 1, "
            "'cells_along': 1, 'cells_across': 1}}}, 'particles': {'radius': 0.1, 'mass': 1}, 'damping': {'mass': "
            "1500}}], " TIME("1e-3"),
            "\"dust\" has a mass damping of 1500 1/s, which the step of 0.001 s cannot follow");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_resist_strain_rates_only),
        cmocka_unit_test(momenta_are_kept_for_long),
        cmocka_unit_test(spring_decays_as_derived),
        cmocka_unit_test(damping_of_any_strength_takes_energy),
        cmocka_unit_test(damping_shortens_steps),
        cmocka_unit_test(fast_drag_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
