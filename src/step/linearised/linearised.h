// A step with the forces linearised once, about its start: what semi-implicit Euler is, and what siere does with all
// but its modes.
//   (M + h D + h^2 K) dv = h (f_ext - dW/dx - D v - h K v),   v+ = v + dv,   x+ = x + h v+,   D = alpha M + beta K
// Held nodes have a known dv; their columns go to the right-hand side and their rows are eliminated:
//   A = (1 + h alpha) M + h (h + beta) K + h^2 K_contact
//   A_ff dv_f = [h (f - alpha M v) - (1 + h alpha) M dv_constrained - h (h + beta) K (v + dv_constrained)]_f
// Obstacles are linearised about y = x + h v + h^2 f_ext / M, where the nodes are heading (model/linear_obstacle.h):
//   f_contact(x+) ~ f_contact(y) + K_contact h^2 f_ext / M - h K_contact dv.
// K is the exact tangent. If A is not positive definite (strong compression), the step is an outcome: a shorter one
// is, since M dominates as h goes to 0. In scenes with contact obstacles are solid, and what is in the way changes the
// solution (linearised_contact.h).
//
// By Taylor's formula v+ = v + h f/M + h^2 d(f/M)/dt + ..., where the solution has half of the last term: the error is
// -h^2/2 v'' in v and -h^2/2 x'' in x, as backward Euler's. Forces that the linearisation missed, of the curvature of
// dW/dx along dx = x+ - x and of outside forces, which are those of the start, add h M^-1 r to that in v:
//   r = F(x+) - (F(x) - K dx),   F = f_ext - dW/dx
// It is of third order where forces are smooth, and not small where a long step turns stiff elements.
#ifndef RBT_STEP_LINEARISED_LINEARISED_H
#define RBT_STEP_LINEARISED_LINEARISED_H

#include "model/force.h"
#include "model/mass.h"
#include "model/stiffness.h"
#include "step/contact/impulses.h"
#include "step/core/free_step.h"
#include "step/subdomain/linear_kind.h"

typedef struct rbt_linearised {
    const rbt_model *model;
    rbt_arena *arena;
    rbt_stiffness stiffness;
    rbt_mass mass;
    rbt_block_matrix A;  // pattern of K, values of its own
    rbt_linear linear;
    double factored_step;  // h of the factor, which a linear model without obstacles keeps; 0: none
    unsigned char *constrained;
    const unsigned char *left_out;         // (node_count) nodes that another method moves; NULL: none
    double *f;                             // (node_count x 3) f_ext + contact - dW/dx
    double *push;                          // (node_count x 3) that of obstacles in f, NULL without `contact`
    double *moved;                         // (node_count x 3) v, in constrained nodes the new one
    double *rhs, *dv, *product, *inertia;  // (node_count x 3)
    double *work;                          // (2 x node_count x 3) of a linear model
    double *partial;                       // (plan.slot_count x 3)
    double *contact;                       // (node_count x 9), NULL without obstacles that are penalties
    rbt_impulses *impulses;                // contact of the scene, NULL: it has none
    double *pushed;                        // (node_count x 3) velocities by impulses
} rbt_linearised;

// kind: rbt_linear_kind; subdomains: of schwarz, -1: chosen
bool rbt_linearised_init(rbt_linearised *s, const rbt_model *model, int kind, int subdomains, rbt_error *error);
void rbt_linearised_free(rbt_linearised *s);

// Rayleigh's factors in A at a node: mass (1 + h alpha), stiffness h (h + beta)
static inline double rbt_mass_factor(const rbt_model *m, size_t node, double h) {
    return 1 + h * m->bodies[m->node_body[node]].damping.mass;
}
static inline double rbt_stiffness_factor(const rbt_model *m, size_t node, double h) {
    return h * (h + m->bodies[m->node_body[node]].damping.stiffness);
}

// Which nodes have no unknowns in the step from t on: constrained ones, and those that are left out
void rbt_linearised_constrain(rbt_linearised *s, double t);

// ---- The stages, in their order

rbt_outcome rbt_linearised_forces(rbt_linearised *s, const rbt_state *state, double h);  // constrained nodes, f
rbt_outcome rbt_linearised_analyse(rbt_linearised *s);  // ordering and fill, when nodes were released

// Whether K and A must be made again; otherwise those of the last step, and the factor, are this step's too.
bool rbt_linearised_stale(const rbt_linearised *s, double h);

rbt_outcome rbt_linearised_assemble(rbt_linearised *s, const rbt_state *state, rbt_stiffness_kind kind, double h);
rbt_outcome rbt_linearised_factor(rbt_linearised *s, const rbt_state *state, double h, rbt_step_report *report);
void rbt_linearised_right(rbt_linearised *s, const rbt_state *state, double h);  // moved, rhs
rbt_outcome rbt_linearised_solve(rbt_linearised *s, rbt_step_report *report);    // A dv = rhs

// For rbt_method.error_law
int rbt_linearised_error_law(const void *self, double ratio, double *constant);

// ev -= h M^-1 r, after a step by dx (node_count x 3) that led to this state: ev is h^2/2 v'', whose sign is the other
// one. Returns F(x+), valid until the next step.
const double *rbt_linearised_add_missed(rbt_linearised *s, const rbt_state *state, double h, const double *dx,
                                        double *ev);

// All of them, and the update: a step of semi-implicit Euler. `memory`: where the state remembers contact; NULL
// without.
rbt_outcome rbt_linearised_attempt(rbt_linearised *s, rbt_state *state, double until, rbt_impulse_memory *memory,
                                   rbt_stages *stages, rbt_step_report *report);

// As rbt_method has it, with h the length of the step
rbt_outcome rbt_linearised_free_step(rbt_linearised *s, const rbt_state *state, double h, const rbt_free_part *part,
                                     rbt_free_step *step, rbt_stages *stages, rbt_step_report *report);

#endif
