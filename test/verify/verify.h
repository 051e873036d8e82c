// Verification against analysis. A section measures something, writes the figures into a page of Markdown and judges
// each against a bound that it derives. The tests (test_*.c) run sections in their short form and fail with a figure
// out of bounds; report.c runs all of them in full and writes docs/verification.md. So test and page cannot drift
// apart.
#ifndef TEST_VERIFY_H
#define TEST_VERIFY_H

#include "base/text.h"
#include "math/vec3.h"
#include "model/force.h"
#include "model/stiffness.h"
#include "sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct verify {
    rbt_text page;
    bool full;  // the page's measurements; tests take shorter ones
    int checks, failed;
} verify;

typedef void (*verify_section)(verify *v);

// ---- The page

void verify_say(verify *v, const char *format, ...) RBT_PRINTF(2, 3);

// Column names as "a|b|c"; a column "verdict" is added.
void verify_table(verify *v, const char *columns);

// Cells as "a|b|c"; `holds` is the verdict.
void verify_row(verify *v, bool holds, const char *format, ...) RBT_PRINTF(3, 4);

// Runs a section, in `v->full` or short form.
void verify_run(verify *v, verify_section section);

// Runs the short form of a section: true if everything holds; otherwise its page goes to standard error.
bool verify_holds(verify_section section);

// Ends the program with a sentence: a measurement could not be made at all.
_Noreturn void verify_stop(const char *format, ...) RBT_PRINTF(1, 2);

// ---- Scenes

// A simulation from JSON with single quotes for double ones.
rbt_sim *verify_sim(const char *format, ...) RBT_PRINTF(1, 2);

// `steps` steps of the model's length; false when a step failed for good, with the report filled.
bool verify_steps(rbt_sim *sim, int64_t steps, rbt_step_report *report);
void verify_must_step(rbt_sim *sim, int64_t steps);  // stops the program if one fails

// ---- Vectors of the model, (node_count x 3) unless said otherwise; zeroed, to be freed with free().

double *verify_vector(const rbt_model *m);
double *verify_copy(const double *x, size_t count);
void verify_elastic_force(const rbt_model *m, const double *x, double *f);  // -dW/dx
double verify_elastic_energy(const rbt_model *m, const double *x);
double verify_larger(double a,
                     double b);  // of two errors; NaN is larger than everything, so that no check passes by it
double verify_norm(const double *x, size_t count);
double verify_largest(const double *x, size_t count);
double verify_distance(const double *x, const double *y, size_t count);  // largest difference

// A number between low and high. Every section starts with the same sequence (test/support/random.h), and a walk over
// instruction sets goes back to the beginning of one for each.
double verify_random(double low, double high);
void verify_random_again(uint64_t number);

// ---- The sections

void verify_materials(verify *v);           // derivatives and projection of every tet material
void verify_assembly(verify *v);            // forces and matrices of models and of a step
void verify_patch(verify *v);               // a body of irregular tets reproduces affine deformations
void verify_rigid(verify *v);               // rigid motion makes no force
void verify_cantilever(verify *v);          // tip deflection against beam theory
void verify_frequencies(verify *v);         // free bar against theory
void verify_eigenpairs(verify *v);          // ARPACK against a dense solver
void verify_order(verify *v);               // every method
void verify_energy(verify *v);              // symplectic Euler over many steps
void verify_momentum(verify *v);            // every method
void verify_limits(verify *v);              // where methods must coincide
void verify_oscillator(verify *v);          // damped scalar oscillator
void verify_artificial_damping(verify *v);  // as a function of h omega
void verify_divergence(verify *v);          // where semi-implicit fails
void verify_sweep(verify *v);               // steps of any body that count as solved
void verify_coupled(verify *v);             // imex with damping and obstacles
void verify_arch(verify *v);                // contact: a masonry arch

#endif
