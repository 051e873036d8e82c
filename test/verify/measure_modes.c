// Natural frequencies of a free square bar against theory under refinement, and ARPACK's pairs against a dense solver.
//
// Poisson's ratio 0, so that bars stretch without a change of the section, and G = E / 2:
//   longitudinal  f_k = k / 2L sqrt(E / rho)
//   torsional     f_k = k / 2L sqrt(G J / rho I_p), J = 0.140577 a^4 (Saint-Venant), I_p = a^4 / 6
//   bending       Timoshenko's beam with free ends and shear factor 5/6 (Huang 1961).
// The theory of torsion lets the section warp freely and without inertia, Timoshenko's bends it with one shear angle:
// both leave out terms of the order (a / L)^2 and (a k / L)^4.
#include "dense.h"
#include "eigen.h"
#include "verify.h"

static const double LENGTH = 1, SIDE = 0.1, YOUNG = 1e7, DENSITY = 1000, PI = 3.14159265358979323846;

typedef enum family { LONGITUDINAL, TORSIONAL, BENDING, FAMILIES } family;
static const char *const FAMILY[FAMILIES] = {"longitudinal", "torsional", "bending"};

// Frequency equation of Timoshenko's beam with free ends; b^2 = rho A L^4 omega^2 / E I
static double free_beam(double b) {
    double r2 = SIDE * SIDE / 12 / (LENGTH * LENGTH), s2 = r2 * 2 / (5.0 / 6),
           root = sqrt((r2 - s2) * (r2 - s2) + 4 / (b * b)), alpha = sqrt((root - (r2 + s2)) / 2),
           beta = sqrt((root + r2 + s2) / 2);
    return 2 - 2 * cosh(b * alpha) * cos(b * beta) +
           b / sqrt(1 - b * b * r2 * s2) * (b * b * r2 * (r2 - s2) * (r2 - s2) + 3 * r2 - s2) * sinh(b * alpha) *
               sin(b * beta);
}

// The k-th root above 0 by bisection. [Hz]
static double bending_frequency(int k) {
    double low = 5, step = 0.5;
    for (int found = 0; found < k; low += step)
        if (free_beam(low) * free_beam(low + step) < 0 && ++found == k) break;
    double high = low + step;
    for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (low + high);
        if (free_beam(low) * free_beam(middle) <= 0) high = middle;
        else low = middle;
    }
    double I_over_A = SIDE * SIDE / 12;
    return low / (LENGTH * LENGTH) * sqrt(YOUNG * I_over_A / DENSITY) / (2 * PI);
}

static double theory(family f, int k) {
    if (f == BENDING) return bending_frequency(k);
    double speed = f == LONGITUDINAL ? sqrt(YOUNG / DENSITY) : sqrt(0.5 * YOUNG * 0.140577 * 6 / DENSITY);
    return k * speed / (2 * LENGTH);
}

// Deflection and slope of Euler and Bernoulli's free beam at s in [0, 1]
static double beam_shape(int k, double s, double *slope) {
    static const double roots[] = {4.730040744862704, 7.853204624095838, 10.995607838001671};
    double b = roots[k - 1], c = (cosh(b) - cos(b)) / (sinh(b) - sin(b));
    *slope = b / LENGTH * (sinh(b * s) - sin(b * s) - c * (cosh(b * s) + cos(b * s)));
    return cosh(b * s) + cos(b * s) - c * (sinh(b * s) + sin(b * s));
}

// The motion that theory gives a node at X; `second`: the other of the two equal bending motions
static void shape_at(family f, int k, bool second, const double X[3], double u[3]) {
    double s = X[0] / LENGTH + 0.5, wave = cos(PI * k * s), slope, deflection = beam_shape(k, s, &slope);
    bool bends = f == BENDING;
    u[0] = f == LONGITUDINAL ? wave : bends ? -slope * X[second ? 2 : 1] : 0;
    u[1] = f == TORSIONAL ? -wave * X[2] : bends && !second ? deflection : 0;
    u[2] = f == TORSIONAL ? wave * X[1] : bends && second ? deflection : 0;
}

typedef struct modes {
    rbt_sim *sim;
    size_t count;
    double *lambda, *u, *residual;
} modes;

static modes modes_of(rbt_sim *sim, size_t count) {
    const rbt_model *m = sim->model;
    modes a = {sim, count, calloc(count, sizeof(double)), calloc(3 * m->node_count * count, sizeof(double)),
               calloc(count, sizeof(double))};
    unsigned char *keep = malloc(m->node_count);
    rbt_stiffness s;
    rbt_error error;
    if (!a.lambda || !a.u || !a.residual || !keep || !rbt_stiffness_build(&s, m, NULL))
        verify_stop("no memory for eigenpairs");
    memset(keep, 1, m->node_count);
    rbt_stiffness_assemble(&s, m, RBT_HESSIAN, m->X);
    rbt_eigen_def def = rbt_eigen_def_default();
    def.count = count;
    def.shift = -pow(2 * PI * 10, 2);
    rbt_eigen *eigen = rbt_eigen_new(m->node_count, keep, count, &error);
    if (!eigen || !rbt_eigen_solve(eigen, &def, &s.K, m->mass, a.lambda, a.u, a.residual, &error))
        verify_stop("no eigenpairs: %s", error.message);
    rbt_eigen_free(eigen);
    rbt_stiffness_free(&s);
    free(keep);
    return a;
}

static void modes_free(modes *a) {
    free(a->lambda), free(a->u), free(a->residual);
    rbt_sim_free(a->sim);
}

static rbt_sim *free_bar(int along, int across) {
    return verify_sim(
        "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [%g, %g, %g], "
        "'cells': [%d, %d, %d]}}}, 'material': {'model': 'linear', 'young': %g, 'poisson': 0, 'density': "
        "%g}}], 'integrator': {'method': 'symplectic-euler'}}",
        LENGTH, SIDE, SIDE, along, across, across, YOUNG, DENSITY);
}

// Share of mode i in the shapes of theory: 1 if it lies in their span
static double likeness(const modes *a, size_t i, family f, int k) {
    const rbt_model *m = a->sim->model;
    const double *u = a->u + 3 * m->node_count * i;
    double share = 0;
    for (int second = 0; second <= (f == BENDING); second++) {
        double product = 0, size = 0;
        for (size_t n = 0; n < m->node_count; n++) {
            double shape[3];
            shape_at(f, k, second, m->X + 3 * n, shape);
            product += m->mass[n] * rbt_dot(u + 3 * n, shape);
            size += m->mass[n] * rbt_dot(shape, shape);
        }
        share += product * product / size;
    }
    return share;
}

// The frequency [Hz] of the mode most like the k-th of a family
static double frequency(const modes *a, family f, int k, double *share) {
    size_t best = 0;
    *share = 0;
    for (size_t i = 6; i < a->count; i++) {
        double s = likeness(a, i, f, k);
        if (s > *share) *share = s, best = i;
    }
    return sqrt(a->lambda[best]) / (2 * PI);
}

enum { LEVELS = 5 };

// One mode over all meshes, as a row of the table
static void check_mode(verify *v, const modes *a, int levels, family f, int k) {
    double exact = theory(f, k), error[LEVELS], share = 0;
    rbt_text row = {0};
    rbt_text_add(&row, "%s %d|%.3f", FAMILY[f], k, exact);
    for (int i = 0; i < levels; i++) {
        double found = frequency(&a[i], f, k, &share);
        error[i] = pow(found / exact, 2) - 1;
        rbt_text_add(&row, "|%.3f", found);
    }
    // The eigenvalue omega^2 has an error c h^2 (1 + O(h^2)). Few cells across hardly let the section warp, so
    // torsion gets there late: at 8 cells the order may be 0.3 short, which the extrapolation then misses by up to 2 %.
    double fine = error[levels - 1], order = log2(error[levels - 2] / fine),
           off = sqrt(1 + fine + (fine - error[levels - 2]) / 3) - 1, width = v->full ? 0.1 : 0.3,
           most = v->full ? 0.005 : 0.02;
    verify_row(v, share > 0.98 && fabs(off) < most && fabs(order - 2) < width,
               "%s|%.3f|%.2f|2 ± %.1f|%+.2f %%|%.1f %%", row.text, fmin(share, 1), order, width, 100 * off,
               100 * most);
    rbt_text_free(&row);
}

void verify_frequencies(verify *v) {
    int levels = v->full ? LEVELS : LEVELS - 1;
    modes a[LEVELS];
    verify_say(
        v, "## Frequencies of a free bar\n\n"
           "A free square bar of 1 m x 0.1 m x 0.1 m (linear elasticity, Young's modulus 1e7 Pa, density 1000 kg/m³, "
           "Poisson's ratio 0) of 5n x n x n cells: frequencies [Hz] from the lowest eigenpairs of K u = omega² M "
           "u against theory: sound waves, Saint-Venant's torsion, Timoshenko's beam. A mode is recognised by its "
           "shape; its share in the shape of theory is its likeness. The order is that of omega² on the two "
           "finest meshes; their extrapolation by order 2 must agree with theory, where those of torsion and "
           "bending leave out some thousandths.\n");
    rbt_text columns = {0};
    rbt_text_add(&columns, "mode|theory");
    for (int i = 0; i < levels; i++) {
        a[i] = modes_of(free_bar(5 << i, 1 << i), 24);
        rbt_text_add(&columns, "|n = %d", 1 << i);
    }
    rbt_text_add(&columns, "|likeness|order|bound|extrapolated|bound");
    verify_table(v, columns.text);
    rbt_text_free(&columns);
    double rigid = 0;
    for (int f = 0; f < FAMILIES; f++)
        for (int k = 1; k <= (f == BENDING ? 3 : 2); k++) check_mode(v, a, levels, (family)f, k);
    for (int i = 0; i < levels; i++) {
        for (size_t n = 0; n < 6; n++) rigid = verify_larger(rigid, fabs(a[i].lambda[n]) / a[i].lambda[6]);
        modes_free(&a[i]);
    }
    verify_say(v, "\nThe six rigid motions have eigenvalue 0. Rounding leaves about the square of the highest "
                  "frequency times 1e-16.\n");
    // The highest frequency is some (10 n)^2 / 20 times the lowest: at n = 16 rounding leaves 2e6 eps = 4e-10.
    verify_table(v, "what|largest|bound");
    verify_row(v, rigid < 1e-9, "rigid eigenvalue / lowest other|%.1e|1e-09", rigid);
}

void verify_eigenpairs(verify *v) {
    rbt_sim *sim = free_bar(4, 1);
    const rbt_model *m = sim->model;
    size_t n = 3 * m->node_count, count = 24;
    modes a = modes_of(sim, count);
    rbt_stiffness s;
    if (!rbt_stiffness_build(&s, m, NULL)) verify_stop("no memory for a stiffness matrix");
    rbt_stiffness_assemble(&s, m, RBT_HESSIAN, m->X);
    double *D = dense_of_blocks(&s.K), *lambda = calloc(n, sizeof *lambda), worst = 0, crooked = 0, residual = 0;
    for (size_t i = 0; i < n * n; i++) D[i] /= sqrt(m->mass[i / n / 3] * m->mass[i % n / 3]);
    dense_eigenvalues(D, n, lambda);
    for (size_t i = 0; i < count; i++) {
        worst = verify_larger(worst, fabs(a.lambda[i] - lambda[i]) / lambda[n - 1]);
        residual = verify_larger(residual, a.residual[i] / lambda[n - 1]);
        for (size_t j = 0; j <= i; j++) {
            double product = 0;
            for (size_t k = 0; k < n; k++) product += m->mass[k / 3] * a.u[n * i + k] * a.u[n * j + k];
            crooked = verify_larger(crooked, fabs(product - (i == j)));
        }
    }
    verify_say(v,
               "## Eigenpairs against a dense solver\n\n"
               "The %zu lowest eigenpairs of a free bar of 4 x 1 x 1 cells (%zu unknowns), by ARPACK with "
               "shift and inversion, against Jacobi's rotations on the dense matrix. Errors beside the largest "
               "eigenvalue.\n",
               count, n);
    // Both are backward stable: errors of some n eps |K|; ARPACK's are those of (K - sigma M)^-1, amplified by a few.
    verify_table(v, "what|largest|bound");
    verify_row(v, worst < 1e-12, "eigenvalues|%.1e|1e-12", worst);
    verify_row(v, crooked < 1e-12, "orthogonality of the shapes|%.1e|1e-12", crooked);
    verify_row(v, residual < 1e-11, "residuals K u - lambda M u|%.1e|1e-11", residual);
    free(D), free(lambda);
    rbt_stiffness_free(&s);
    modes_free(&a);
}
