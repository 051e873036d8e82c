// The hyperelastic core on one core: element kernels, assembly, explicit and semi-implicit steps on a generated bar
// of the size of bar17K (86,400 tets, 16,592 nodes). Prints one figure a line: name, value, unit and, where there is
// one, the target.
#include "timing.h"

#include "base/threads.h"
#include "model/force.h"
#include "model/stiffness.h"
#include "sim/sim.h"
#include "solve/cholesky.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 15 };

// Median of REPEATS timings of `work`, after one that does not count; *spread: half the distance of the quartiles,
// relative.
static double median_seconds(void (*work)(void *), void *context, double *spread) {
    double seconds[REPEATS];
    work(context);
    for (int r = 0; r < REPEATS; r++) {
        double start = now();
        work(context);
        seconds[r] = now() - start;
    }
    qsort(seconds, REPEATS, sizeof *seconds, compare);
    double middle = seconds[REPEATS / 2];
    if (spread) *spread = (seconds[3 * REPEATS / 4] - seconds[REPEATS / 4]) / (2 * middle);
    return middle;
}

static rbt_sim *bar(const char *material, const char *method, const int cells[3], double step) {
    char json[1024];
    int n = snprintf(
        json, sizeof json,
        "{\"rubato\": 1, \"bodies\": [{\"name\": \"bar\", \"mesh\": {\"shape\": {\"cuboid\": {\"size\": [4, 1, 1], "
        "\"cells\": "
        "[%d, %d, %d]}}}, \"material\": {\"model\": \"%s\", \"young\": 1e5, \"poisson\": 0.4, \"density\": 1000}, "
        "\"fixed\": "
        "[\"left\"]}], \"forces\": [{\"gravity\": {}}], \"time\": {\"step\": %g, \"frame\": %g, \"end\": 1000}, "
        "\"integrator\": {\"method\": \"%s\"}}",
        cells[0], cells[1], cells[2], material, step, step, method);
    rbt_error error;
    char text[2048];
    rbt_scene_file *file = rbt_scene_parse(json, (size_t)n, "bench", NULL, 0, &error);
    rbt_sim *sim = file ? rbt_sim_create(rbt_scene_of(file), &error) : NULL;
    if (!sim) {
        fprintf(stderr, "bench_core: %s\n", rbt_error_text(&error, text, sizeof text));
        exit(1);
    }
    rbt_scene_free(file);
    for (size_t i = 0; i < 3 * sim->model->node_count; i++) sim->state.x[i] += 0.004 * sin(1.7 * (double)i);
    return sim;
}

// ---- Kernels and assembly

typedef struct core {
    rbt_sim *sim;
    rbt_stiffness stiffness;
    rbt_sum *energies;
    double *partial, *f;
    rbt_stiffness_kind kind;
} core;

static void energy(void *context) {
    core *c = context;
    rbt_energy_elastic(c->sim->model, c->sim->state.x, c->energies);
}

static void gradient(void *context) {
    core *c = context;
    memset(c->f, 0, 3 * c->sim->model->node_count * sizeof(double));
    rbt_force_elastic(c->sim->model, c->sim->state.x, c->energies, c->partial, c->f);
}

static void assembled(void *context) {
    core *c = context;
    gradient(c);
    rbt_stiffness_assemble(&c->stiffness, c->sim->model, c->kind, c->sim->state.x);
}

static const int BAR[3] = {60, 16, 15};  // 86,400 tets

static void figure(const char *name, double value, const char *unit, double spread, const char *target) {
    printf("%s_(+-%.0f%%) %.4g %s %s\n", name, 100 * spread, value, unit, target);
    fflush(stdout);
}

static void distance(const char *name, double tets_per_second, double flops_per_tet, double bytes_per_tet);

static void bench_material(const char *material, const char *energy_target, const char *gradient_target,
                           rbt_stiffness_kind kind, const char *assembled_target) {
    core c = {.sim = bar(material, "symplectic-euler", BAR, 1e-4), .kind = kind};
    const rbt_model *m = c.sim->model;
    char name[96];
    double spread, millions = 1e-6 * (double)m->tet_count, seconds;
    c.energies = calloc(m->plan.chunk_count, sizeof *c.energies);
    c.partial = calloc(3 * m->plan.slot_count, sizeof(double));
    c.f = calloc(3 * m->node_count, sizeof(double));
    if (!rbt_stiffness_build(&c.stiffness, m, NULL)) exit(1);
    if (energy_target) {
        seconds = median_seconds(energy, &c, &spread);
        snprintf(name, sizeof name, "energy_%s", material);
        figure(name, millions / seconds, "Mtets/s", spread, energy_target);
        distance(name, 1e6 * millions / seconds, strcmp(material, "fixed-corotated") == 0 ? 260 : 115, 112);
    }
    if (gradient_target) {
        seconds = median_seconds(gradient, &c, &spread);
        snprintf(name, sizeof name, "energy+gradient_%s", material);
        figure(name, millions / seconds, "Mtets/s", spread, gradient_target);
        distance(name, 1e6 * millions / seconds, strcmp(material, "fixed-corotated") == 0 ? 430 : 230, 112 + 60);
    }
    seconds = median_seconds(assembled, &c, &spread);
    snprintf(name, sizeof name, "%s+gradient_assembled_%s", kind == RBT_PROJECTED ? "projected_Hessian" : "stiffness",
             material);
    figure(name, millions / seconds, "Mtets/s", spread, assembled_target);
    distance(name, 1e6 * millions / seconds, kind == RBT_PROJECTED ? 2300 : 1000, 2 * 112 + 60 + 2 * 250 + 150);
    rbt_stiffness_free(&c.stiffness);
    free(c.energies);
    free(c.partial);
    free(c.f);
    rbt_sim_free(c.sim);
}

// ---- Steps

static void step(void *context) {
    rbt_step_report report;
    if (!rbt_sim_advance_frame(context, &report)) {
        fprintf(stderr, "bench_core: a step failed: %s\n", rbt_outcome_name(report.outcome));
        exit(1);
    }
}

static void bench_explicit(const char *material, const char *target) {
    rbt_sim *sim = bar(material, "symplectic-euler", BAR, 1e-5);
    char name[96];
    double spread, seconds = median_seconds(step, sim, &spread);
    snprintf(name, sizeof name, "explicit_step_%s", material);
    figure(name, 1e-6 * (double)sim->model->tet_count / seconds, "Mtets/s", spread, target);
    rbt_sim_free(sim);
}

// A = M + h^2 K of a simulation, factored and solved on its own: what a semi-implicit step cannot do without
typedef struct bare {
    rbt_block_matrix A;
    rbt_cholesky *cholesky;
    double *b, *x;
} bare;

static void factor(void *context) {
    bare *p = context;
    size_t row;
    if (rbt_cholesky_factor(p->cholesky, &p->A, &row) != RBT_FACTORED) exit(1);
}

static void solve(void *context) {
    bare *p = context;
    rbt_cholesky_solve(p->cholesky, p->b, p->x);
}

// Step, factor and solve are timed in turns, so that a slow moment of the machine hits all of them.
static void bench_semi_implicit(const char *material, bool linear, const char *target) {
    static const int cells[3] = {80, 30, 5};  // 72,000 tets, 15,066 nodes
    rbt_sim *sim = bar(material, "semi-implicit", cells, 0.01);
    const rbt_model *m = sim->model;
    rbt_stiffness stiffness;
    if (!rbt_stiffness_build(&stiffness, m, NULL)) exit(1);
    rbt_stiffness_assemble(&stiffness, m, RBT_TANGENT, m->X);
    bare p = {.A = stiffness.K,
              .b = calloc(3 * m->node_count, sizeof(double)),
              .x = calloc(3 * m->node_count, sizeof(double))};
    unsigned char *keep = malloc(m->node_count);
    for (size_t n = 0; n < m->node_count; n++) {
        keep[n] = m->role[n] == RBT_FREE;
        for (size_t i = 9 * p.A.start[n]; i < 9 * p.A.start[n + 1]; i++) p.A.value[i] *= m->step * m->step;
        for (size_t i = 0; i < 9; i += 4) p.A.value[9 * (p.A.start[n + 1] - 1) + i] += m->mass[n];
        for (size_t i = 0; i < 3; i++) p.b[3 * n + i] = sin((double)(3 * n + i));
    }
    p.cholesky = rbt_cholesky_analyse(&p.A, keep, NULL);
    memcpy(sim->state.x, m->X, 3 * m->node_count * sizeof(double));
    step(sim);
    factor(&p);
    enum { TURNS = 9 };
    double ratio[TURNS], whole = 0, parts = 0;
    for (int t = 0; t < TURNS; t++) {
        double t0 = now();
        step(sim);
        double t1 = now();
        if (!linear) factor(&p);
        double t2 = now();
        solve(&p);
        double t3 = now();
        ratio[t] = (t1 - t0) / (linear ? t3 - t2 : t3 - t1);
        whole += (t1 - t0) / TURNS;
        parts += (linear ? t3 - t2 : t3 - t1) / TURNS;
    }
    qsort(ratio, TURNS, sizeof *ratio, compare);
    char name[128];
    snprintf(name, sizeof name, "semi-implicit_step_%s_over_%s_(%zu_nodes,_%.1f_over_%.1f_ms)", material,
             linear ? "solve" : "factor+solve", m->node_count, 1e3 * whole, 1e3 * parts);
    figure(name, ratio[TURNS / 2], "x", (ratio[3 * TURNS / 4] - ratio[TURNS / 4]) / (2 * ratio[TURNS / 2]), target);
    rbt_cholesky_free(p.cholesky);
    rbt_stiffness_free(&stiffness);
    free(p.b);
    free(p.x);
    free(keep);
    rbt_sim_free(sim);
}

// ---- The machine

typedef struct stream {
    size_t n;
    double *a, *b, *c;
} stream;

static void triad(void *context) {
    stream *s = context;
    for (size_t i = 0; i < s->n; i++) s->a[i] = s->b[i] + 3.0 * s->c[i];
}

// Multiply-adds in independent chains: what the arithmetic units can do at most
#if defined(__x86_64__)
typedef double wide __attribute__((vector_size(32)));

__attribute__((target("avx2,fma"))) static double multiply_add(size_t n) {
    wide sum[10], factor = {0.999, 0.998, 0.997, 0.996}, term = {1e-3, 2e-3, 3e-3, 4e-3};
    for (int k = 0; k < 10; k++) sum[k] = term * (double)k;
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < 10; k++) sum[k] = __builtin_ia32_vfmaddpd256(sum[k], factor, term);
    for (int k = 1; k < 10; k++) sum[0] += sum[k];
    return sum[0][0];
}

enum { FLOP_TURNS = 1000000 };
static volatile double flop_sink;
static void flops(void *context) {
    (void)context;
    flop_sink = multiply_add(FLOP_TURNS);
}
#endif

static double peak_flops, bandwidth;  // [flop/s], [byte/s], as measured

static void bench_machine(void) {
    stream s = {8000000, calloc(8000000, 8), calloc(8000000, 8), calloc(8000000, 8)};
    double spread, seconds;
    for (size_t i = 0; i < s.n; i++) s.b[i] = s.c[i] = 1;
    seconds = median_seconds(triad, &s, &spread);
    bandwidth = 32 * (double)s.n / seconds;
    figure("memory_bandwidth_(triad,_32_bytes_an_item)", 1e-9 * bandwidth, "GB/s", spread, "");
    free(s.a);
    free(s.b);
    free(s.c);
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return;
    seconds = median_seconds(flops, NULL, &spread);
    peak_flops = 80.0 * FLOP_TURNS / seconds;
    figure("peak_multiply-adds_(AVX2)", 1e-9 * peak_flops, "GFlop/s", spread, "");
#endif
}

// How far a kernel is from what the machine can do: its flops and the bytes it must stream per tet (the batch of
// constants is 112, and the 12 floats of a gradient or 90 of a stiffness stay in the cache), counted by hand from
// tet_kernel.h to about 10 %.
static void distance(const char *name, double tets_per_second, double flops_per_tet, double bytes_per_tet) {
    char text[128];
    if (peak_flops > 0) {
        snprintf(text, sizeof text, "%s,_share_of_peak_flops_(%.0f_a_tet)", name, flops_per_tet);
        figure(text, 100 * tets_per_second * flops_per_tet / peak_flops, "%", 0, "");
    }
    snprintf(text, sizeof text, "%s,_share_of_bandwidth_(%.0f_bytes_a_tet)", name, bytes_per_tet);
    figure(text, 100 * tets_per_second * bytes_per_tet / bandwidth, "%", 0, "");
}

int main(void) {
    rbt_threads_set(1);
    bench_machine();
    bench_material("fixed-corotated", ">=12", ">=8", RBT_PROJECTED, ">=1.5");
    bench_material("stable-neo-hookean", "", ">=20", RBT_PROJECTED, ">=2");
    bench_material("corotational", NULL, NULL, RBT_TANGENT, ">=4");
    bench_explicit("linear", ">=40");
    bench_explicit("stable-neo-hookean", ">=15");
    bench_semi_implicit("stable-neo-hookean", false, "<=1.15");
    bench_semi_implicit("linear", true, "<=1.5");
    return 0;
}
