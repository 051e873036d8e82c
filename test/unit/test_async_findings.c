// What the papers of async-contact found (Harmon et al. 2009, Vouga et al. 2011), small: the pogo stick with regular
// clocks, restarted clocks and impulses; a particle between walls; particles in a box; momentum.
#include "math/vec3.h"
#include "sampled.h"
#include "scene.h"
#include "sim/sim.h"
#include "step/async/layers.h"

// ---- The pogo stick, by a simulation of its own: two unit masses, one unit spring, gravity 1, a floor, in one
// dimension

typedef enum clocks { REGULAR, RESTARTED, IMPULSES } clocks;
enum { LAYERS = 400 };

enum { FLOOR, ENDS, GAPS };  // what the layers keep apart: the lower end and the floor, the two ends

typedef struct stick {
    clocks clocks;
    double t, y[2], v[2];
    double h, eta, r;               // step of spring and gravity; the first layer
    double step[GAPS][LAYERS + 1];  // of layer l
    double next[GAPS][LAYERS + 1];  // its next tick
    int awake[GAPS];                // layers 1 .. awake
    int64_t steps;                  // of spring and gravity so far
} stick;

static double edge_of(const stick *s, int l) { return s->eta / sqrt(sqrt((double)l)); }
static double gap_of(const stick *s, int g) { return g == FLOOR ? s->y[0] : s->y[1] - s->y[0]; }
static double speed_of(const stick *s, int g) { return g == FLOOR ? s->v[0] : s->v[1] - s->v[0]; }

static double energy(const stick *s) {
    double stretch = s->y[1] - s->y[0] - 1;
    double e = 0.5 * (s->v[0] * s->v[0] + s->v[1] * s->v[1]) + 0.5 * stretch * stretch + s->y[0] + s->y[1];
    for (int g = 0; s->clocks != IMPULSES && g < GAPS; g++)
        for (int l = 1; l <= LAYERS && edge_of(s, l) > gap_of(s, g); l++)
            e += 0.5 * s->r * pow(l, 3) * pow(edge_of(s, l) - gap_of(s, g), 2);
    return e;
}

// When a gap will have this size, infinite if it does not get smaller
static double reaches(const stick *s, int g, double size) {
    double speed = speed_of(s, g), gap = gap_of(s, g);
    return speed < 0 && gap > size ? s->t + (size - gap) / speed : INFINITY;
}

static void drift(stick *s, double t) {
    for (int i = 0; i < 2; i++) s->y[i] += (t - s->t) * s->v[i];
    s->t = t;
}

static void bounce(stick *s, int g) {  // equal masses exchange their velocities
    double lower = s->v[0];
    s->v[0] = g == FLOOR ? -lower : s->v[1];
    if (g == ENDS) s->v[1] = lower;
}

static void tick_layer(stick *s, int g, int l) {
    double depth = edge_of(s, l) - gap_of(s, g), impulse = s->step[g][l] * s->r * pow(l, 3) * depth;
    if (depth > 0) {
        s->v[0] += g == FLOOR ? impulse : -impulse;
        if (g == ENDS) s->v[1] += impulse;
    }
    s->next[g][l] += s->step[g][l];
    while (s->awake[g] && edge_of(s, s->awake[g]) < gap_of(s, g) && speed_of(s, g) > 0) s->awake[g]--;
}

// To the next spring tick, layer tick, edge of the next layer, or contact
static void event(stick *s) {
    double tick = (double)s->steps * s->h, when = tick;
    int layer = 0, gap = -1;
    for (int g = 0; g < GAPS; g++)
        for (int l = 1; l <= s->awake[g]; l++)
            if (s->next[g][l] < when) when = s->next[g][l], layer = l, gap = g;
    for (int g = 0; g < GAPS; g++) {
        double crossing = reaches(s, g, s->clocks == IMPULSES ? 0 : edge_of(s, s->awake[g] + 1));
        if (crossing < when) when = crossing, layer = -1, gap = g;
    }
    drift(s, when);
    if (layer > 0) {
        tick_layer(s, gap, layer);
    } else if (layer < 0 && s->clocks == IMPULSES) {
        bounce(s, gap);
    } else if (layer < 0) {
        int l = ++s->awake[gap];
        assert_true(l < LAYERS);
        double h = s->step[gap][l];
        s->next[gap][l] = s->clocks == RESTARTED ? when : ceil(when / h) * h;
    } else {
        double stretch = s->y[1] - s->y[0] - 1;
        s->v[0] += s->h * (stretch - 1);
        s->v[1] += s->h * (-stretch - 1);
        s->steps++;
    }
}

static stick stick_start(clocks how, double h, double safety) {
    stick s = {.clocks = how, .y = {1, 2}, .h = h, .eta = 0.1, .r = 1000};
    for (int g = 0; g < GAPS; g++) {
        double first = h;
        while (first * sqrt((g + 1) * s.r) > safety) first *= 0.5;
        for (int l = 1; l <= LAYERS; l++) s.step[g][l] = ldexp(first, -(int)ceil(log2(0.5 * l * (l + 1.0)) - 1e-9));
    }
    return s;
}

// Means of the energy over `blocks` equal times
static void block_means(stick *s, double time, int blocks, double *mean) {
    for (int b = 0; b < blocks; b++) {
        double sum = 0, end = time * (b + 1) / blocks;
        int count = 0;
        for (double next = s->t; s->t < end; event(s))
            if (s->t >= next && s->y[0] > s->eta && gap_of(s, ENDS) > s->eta)
                sum += energy(s), count++, next = s->t + 0.1;
        mean[b] = sum / count;
    }
}

// How many of its standard errors the mean change from block to block is away from zero; a random walk's is about 1.
static double drift_of(const double *mean, int blocks, double *change) {
    double sum = 0, square = 0;
    int n = blocks - 1;
    for (int b = 0; b < n; b++) sum += mean[b + 1] - mean[b];
    for (int b = 0; b < n; b++) square += pow(mean[b + 1] - mean[b] - sum / n, 2);
    *change = sum;
    return fabs(sum / n) / sqrt(square / (n - 1) / n);
}

static void clocks_must_be_regular(void **state) {
    (void)state;
    enum { BLOCKS = 20 };
    double mean[BLOCKS], change[3], away[3], spread[3];
    for (int c = 0; c < 3; c++) {
        stick s = stick_start((clocks)c, 0.002, 0.025);
        block_means(&s, 400, BLOCKS, mean);
        away[c] = drift_of(mean, BLOCKS, &change[c]);
        double low = mean[0], high = mean[0];
        for (int b = 1; b < BLOCKS; b++) low = fmin(low, mean[b]), high = fmax(high, mean[b]);
        spread[c] = high - low;
    }
    assert_true(away[REGULAR] < 3 && fabs(change[REGULAR]) < 0.03);
    assert_true(change[RESTARTED] > 10 * fabs(change[REGULAR]) && away[RESTARTED] > 5);
    assert_true(spread[IMPULSES] > 10 * spread[REGULAR] && away[IMPULSES] < 3);  // far, but nowhere in particular
}

static rbt_sim *pogo(double step, double frame, double safety) {
    char json[2048];
    FILE *file = fopen("pogo.obj", "w");
    assert_non_null(file);
    fputs("v 0 0 0\nv 0 1 0\nl 1 2\n", file);
    fclose(file);
    snprintf(
        json, sizeof json,
        "{'rubato': 1, 'bodies': [{'name': 'pogo', 'mesh': {'file': 'pogo.obj'}, 'transform': {'translate': [0, 1, "
        "0]}, 'springs': {'stiffness': 1, 'node_mass': 1}}], 'forces': [{'gravity': {'acceleration': [0, -1, 0]}}], "
        "'obstacles': [{'plane': {'point': [0, 0, 0], 'normal': [0, 1, 0]}}], "
        "'time': {'step': %g, 'frame': %g, 'end': 1e6}, 'integrator': {'method': 'async-contact', 'options': "
        "{'stiffness': 1000, 'thickness': 0.1, 'safety': %g}}}",
        step, frame, safety);
    rbt_sim *sim = sim_from(json);
    remove("pogo.obj");
    return sim;
}

// All clocks of the simulation above tick when the method's do, so both go the same way until rounding has grown.
static void pogo_is_the_simple_simulation(void **state) {
    (void)state;
    rbt_sim *sim = pogo(0.002, 0.01, 0.05);
    stick s = stick_start(REGULAR, 0.002, 0.05);
    double lowest = 1;
    for (int i = 1; i <= 800; i++) {
        advance(sim, 1);
        double end = rbt_sim_time(sim);
        while (s.t < end - 1e-12) {
            stick before = s;
            event(&s);
            if (s.t < end - 1e-12) continue;
            s = before;
            break;
        }
        double y = s.y[0] + (end - s.t) * s.v[0];
        lowest = fmin(lowest, y);
        if (i * 0.01 < 6) assert_true(fabs(sim->state.x[1] - y) < 1e-6);
    }
    assert_true(lowest < 0.1 && lowest > 0);
    rbt_sim_free(sim);
}

static void pogo_has_no_drift(void **state) {
    (void)state;
    enum { BLOCKS = 20 };
    rbt_sim *sim = pogo(0.002, 0.5, 0.05);
    double mean[BLOCKS], change, first = rbt_sim_energies(sim).total;
    for (int b = 0; b < BLOCKS; b++) {
        double sum = 0;
        for (int i = 0; i < 100; i++) {
            advance(sim, 1);
            sum += rbt_sim_energies(sim).total;
        }
        mean[b] = sum / 100;
    }
    assert_true(fabs(first - 3) < 1e-12);
    assert_true(drift_of(mean, BLOCKS, &change) < 3 && fabs(change) < 0.03);
    rbt_sim_free(sim);
}

// ---- A particle between walls, for any stiffness and thickness of the layers

static void energy_is_good_for_any_layers(void **state) {
    (void)state;
    static const double eta[] = {1, 0.1}, r[] = {1, 0.1, 0.01};
    for (int i = 0; i < 6; i += LONG(1, SAMPLED(2, 4))) {
        char json[2048];
        snprintf(json, sizeof json,
                 "{'rubato': 1, 'bodies': [{'name': 'ball', 'mesh': {'shape': {'cloth': {'length': 9, 'width': 9, "
                 "'cells_along': 1, 'cells_across': 1}}}, 'transform': {'translate': [0, 0.5, 0]}, "
                 "'particles': {'radius': 0, 'mass': 1}, 'velocity': {'linear': [0.0871557, 0.9961947, 0]}}], "
                 "'obstacles': [{'plane': {'point': [0, 0, 0], 'normal': [0, 1, 0]}}, {'plane': {'point': [0, 1, 0], "
                 "'normal': [0, -1, 0]}}], 'time': {'step': 0.01, 'frame': 0.5, 'end': 1e6}, "
                 "'integrator': {'method': 'async-contact', 'options': {'stiffness': %g, 'thickness': %g, 'safety': "
                 "0.1}}}",
                 r[i % 3], eta[i / 3]);
        rbt_sim *sim = sim_from(json);
        double first = rbt_sim_energies(sim).total, most = 0;
        for (int k = 0; k < 200; k++) {
            advance(sim, 1);
            most = fmax(most, fabs(rbt_sim_energies(sim).total / first - 1));
            for (size_t n = 0; n < 4; n++) assert_true(sim->state.x[3 * n + 1] > 0 && sim->state.x[3 * n + 1] < 1);
        }
        if (most >= 0.05) print_error("r %g eta %g: %g\n", r[i % 3], eta[i / 3], most);
        assert_true(most < 0.05);
        rbt_sim_free(sim);
    }
}

// ---- Particles in a box

static rbt_sim *box(const char *walls, const char *more, double restitution) {
    char json[4096];
    snprintf(
        json, sizeof json,
        "{'rubato': 1, 'bodies': [{'name': 'discs', 'mesh': {'shape': {'cloth': {'length': 0.6, 'width': 0.6, "
        "'cells_along': 5, 'cells_across': 5}}}, 'particles': {'radius': 0.04, 'mass': 1, 'speed': 10}}%s], %s "
        "'time': {'step': 0.001, 'frame': 0.02, 'end': 1e6}, 'integrator': {'method': 'async-contact', 'options': "
        "{'stiffness': 1e5, 'thickness': 0.02, 'safety': 0.05, 'restitution': %g}}}",
        more, walls, restitution);
    return sim_from(json);
}

static const char WALLS[] =
    "'obstacles': [{'plane': {'point': [-0.4, 0, 0], 'normal': [1, 0, 0]}}, {'plane': {'point': "
    "[0.4, 0, 0], 'normal': [-1, 0, 0]}}, {'plane': {'point': [0, 0, -0.4], 'normal': [0, 0, "
    "1]}}, {'plane': {'point': [0, 0, 0.4], 'normal': [0, 0, -1]}}],";

// Layers count with what they give back, so energy never grows. What is read of it swings by half of `safety` at most
// (test_async_energy.c): no frame may rise by more. As long as the gas cools homogeneously, all collide alike and
// less restitution means less energy at any time; later, in clusters, the way a gas of inelastic particles cools does
// not depend on its restitution any more (Ben-Naim, Chen, Doolen and Redner 1999).
static void restitution_decides_the_decay(void **state) {
    (void)state;
    static const double e[] = {1, 0.9, 0.8, 0.7, 0.5, 0.2, 0};
    enum { HOMOGENEOUS = 5 };
    const double swing = 0.5 * 0.05;
    double last[HOMOGENEOUS];
    for (int i = 0; i < 7; i++) {
        rbt_sim *sim = box(WALLS, "", e[i]);
        double first = rbt_sim_energies(sim).total, before = first;
        for (int k = 0; k < 25; k++) {
            advance(sim, 1);
            double now = rbt_sim_energies(sim).total;
            if (i) assert_true(now <= (1 + swing) * before);
            else assert_true(fabs(now / first - 1) <= swing);
            if (k < HOMOGENEOUS) {
                if (i) assert_true(now < 0.97 * last[k]);
                last[k] = now;
            }
            before = now;
        }
        rbt_sim_free(sim);
    }
}

// A second cloud flies into the first, without walls
static void momentum_is_exact(void **state) {
    (void)state;
    rbt_sim *sim =
        box("",
            ", {'name': 'more', 'mesh': {'shape': {'cloth': {'length': 0.6, 'width': 0.6, 'cells_along': 5, "
            "'cells_across': 5}}}, 'transform': {'translate': [0.9, 0.01, 0.03]}, 'particles': {'radius': "
            "0.04, 'mass': 2}, 'velocity': {'linear': [-20, 0, 0]}}",
            1);
    const rbt_model *m = sim->model;
    double sum = 0;
    for (size_t n = 0; n < m->node_count; n++) sum += m->mass[n] * rbt_length(m->v0 + 3 * n);
    rbt_energies before = rbt_sim_energies(sim), after;
    advance(sim, 10);
    after = rbt_sim_energies(sim);
    double exchanged = 0;
    for (size_t n = 0; n < m->node_count; n++) {
        double change[3];
        rbt_subtract(sim->state.v + 3 * n, m->v0 + 3 * n, change);
        exchanged += m->mass[n] * rbt_length(change);
    }
    assert_true(exchanged > 0.1 * sum);
    for (int k = 0; k < 3; k++) {
        assert_true(fabs(after.momentum[k] - before.momentum[k]) < 1e-12 * sum);
        assert_true(fabs(after.angular_momentum[k] - before.angular_momentum[k]) < 1e-12 * sum);
    }
    rbt_sim_free(sim);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clocks_must_be_regular),
        cmocka_unit_test(pogo_is_the_simple_simulation),
        cmocka_unit_test(pogo_has_no_drift),
        cmocka_unit_test(energy_is_good_for_any_layers),
        cmocka_unit_test(restitution_decides_the_decay),
        cmocka_unit_test(momentum_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
