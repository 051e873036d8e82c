// A slender bar, clamped at one end and pulled sideways at the other, against beam theory under refinement.
//
// Linear elasticity with Poisson's ratio 0, so that the clamp does not hinder a change of the section. Timoshenko's
// deflection of a square bar of side a with G = E / 2 and shear factor 5/6:
//   w = P L^3 / (3 E I) (1 + 0.6 (a / L)^2),   I = a^4 / 12.
// What is measured is the work of the load, P w = f^T u with K u = f: linear tets are too stiff in bending, and their
// energy is wrong by O(h^2).
#include "solve/cholesky.h"
#include "verify.h"

static const double LENGTH = 1, SIDE = 0.1, YOUNG = 1e7, LOAD = 1;

// Deflection with n cells across the side
static double deflection(int n) {
    rbt_sim *sim =
        verify_sim("{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [%g, %g, "
                   "%g], 'cells': [%d, %d, %d]}}}, 'material': {'model': 'linear', 'young': %g, 'poisson': "
                   "0}, 'fixed': ['left']}], 'integrator': {'method': 'symplectic-euler'}}",
                   LENGTH, SIDE, SIDE, (int)(LENGTH / SIDE + 0.5) * n, n, n, YOUNG);
    const rbt_model *m = sim->model;
    double *f = verify_vector(m), *u = verify_vector(m), work = 0;
    for (size_t k = 0; k < m->triangle_count; k++) {  // an even traction on the end face
        const int32_t *c = m->triangles + 3 * k;
        double a[3], b[3], normal[3], middle = 0;
        for (int i = 0; i < 3; i++) middle += m->X[3 * c[i]] / 3;
        rbt_subtract(m->X + 3 * c[1], m->X + 3 * c[0], a);
        rbt_subtract(m->X + 3 * c[2], m->X + 3 * c[0], b);
        rbt_cross(a, b, normal);
        if (middle < 0.5 * LENGTH - 1e-9) continue;
        for (int i = 0; i < 3; i++) f[3 * c[i] + 1] += LOAD / (SIDE * SIDE) * 0.5 * rbt_length(normal) / 3;
    }
    unsigned char *keep = calloc(m->node_count, 1);
    for (size_t i = 0; keep && i < m->node_count; i++) keep[i] = m->role[i] == RBT_FREE;
    rbt_stiffness s;
    size_t row;
    rbt_cholesky *factor = NULL;
    if (!keep || !rbt_stiffness_build(&s, m, NULL) || !(factor = rbt_cholesky_analyse(&s.K, keep, NULL)))
        verify_stop("no memory for a stiffness matrix");
    rbt_stiffness_assemble(&s, m, RBT_HESSIAN, m->X);
    if (rbt_cholesky_factor(factor, &s.K, &row) != RBT_FACTORED || !rbt_cholesky_solve(factor, f, u))
        verify_stop("the stiffness of a clamped bar has no factor");
    for (size_t i = 0; i < 3 * m->node_count; i++) work += f[i] * u[i];
    rbt_cholesky_free(factor);
    rbt_stiffness_free(&s);
    free(keep), free(f), free(u);
    rbt_sim_free(sim);
    return work / LOAD;
}

void verify_cantilever(verify *v) {
    double I = pow(SIDE, 4) / 12, slender = LOAD * pow(LENGTH, 3) / (3 * YOUNG * I),
           exact = slender * (1 + 0.6 * SIDE * SIDE / (LENGTH * LENGTH)), before = 0, last = 0, older = 0;
    verify_say(
        v,
        "## Cantilever against beam theory\n\n"
        "A square bar of 1 m x 0.1 m x 0.1 m (linear elasticity, Poisson's ratio 0), clamped at one end, with an "
        "even traction across the other. Euler and Bernoulli's tip deflection is %.4f mm, Timoshenko's with "
        "shear %.4f mm. Linear tets are too stiff in bending, and must come closer with the square of the "
        "cell's size. The excess of stiffness, w_theory / w - 1, shows the order already on coarse meshes, "
        "where the error of w itself saturates. The last line extrapolates the two finest meshes by that order; "
        "a beam theory leaves out some ten-thousandths at this slenderness.\n",
        1e3 * slender, 1e3 * exact);
    verify_table(v, "cells|deflection|error|excess of stiffness|its order|bound");
    for (int n = 1; n <= (v->full ? 16 : 8); n *= 2) {
        double w = deflection(n), excess = exact / w - 1, order = log2(before / excess);
        char text[32] = "";
        if (n > 1) snprintf(text, sizeof text, "%.2f", order);
        // Energies of a finite-element solution are too small, whatever the mesh; the excess is c h^2 (1 + O(h)).
        verify_row(v, w < exact && (n == 1 || fabs(order - 2) < 0.1), "%d x %d x %d|%.4f mm|%.2f %%|%.4f|%s|%s",
                   10 * n, n, n, 1e3 * w, 100 * (1 - w / exact), excess, text, n == 1 ? "" : "2 ± 0.1");
        before = excess;
        older = last;
        last = w;
    }
    // 1 / w_h = (1 + c h^2) / w on two meshes gives w.
    double limit = 3 / (4 / last - 1 / older), off = 1 - limit / exact;
    verify_row(v, fabs(off) < 2e-3, "extrapolated|%.4f mm|%.2f %%|||0.2 %%", 1e3 * limit, 100 * off);
}
