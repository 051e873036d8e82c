// What the files of the implicit methods share: their workspace, what the state remembers of them, and what they are
// asked between steps.
#ifndef RBT_STEP_IMPLICIT_IMPLICIT_H
#define RBT_STEP_IMPLICIT_IMPLICIT_H

#include "step/core/method.h"
#include "step/implicit/energy_leash.h"
#include "step/implicit/implicit_contact.h"
#include "step/implicit/rigid.h"
#include "step/implicit/solver.h"

typedef enum rbt_implicit_rule {
    RBT_RULE_BACKWARD_EULER,
    RBT_RULE_MIDPOINT,
    RBT_RULE_BDF2,
    RBT_RULE_ENERGY_EULER,
} rbt_implicit_rule;

typedef struct rbt_implicit {
    rbt_implicit_rule rule;
    rbt_implicit_options options;
    rbt_objective objective;
    rbt_rigid rigid;
    const rbt_step_solver *solver;
    void *work;  // the solver's
    rbt_arena *arena;
    double *base, *velocity, *z, *other, *constrained_velocity;  // (node_count x 3)
    double stored;                                               // [J] in contact where the step begins
    double precision;  // share of the tolerance that the next solve is made to; 0: all of it
    double refused;    // [s] a step of the midpoint rule up to then gained energy, or turned an element inside out
    bool second;       // the latest step of BDF2 was one of second order
    bool damped;       // the latest step of the midpoint rule was one of backward Euler instead
    double theta;      // of energy-euler: its implicitness, NaN: chosen; theta_now: of this step
    double theta_now;
    double until;            // [s] the end of this step
    bool kept;               // of energy-euler: energies are set right
    rbt_energy_leash leash;  // of energy-euler
} rbt_implicit;

void *rbt_implicit_create(rbt_implicit_rule rule, const rbt_model *model, int solver, const void *options,
                          rbt_error *error);
void rbt_implicit_destroy(void *self);

// ---- The state's memory: of BDF2 the last step, then x and v before it; of energy-euler the debts of bodies

size_t rbt_implicit_memory_size(const rbt_model *model, const void *options);
size_t rbt_implicit_memory_size_bdf2(const rbt_model *model, const void *options);
size_t rbt_implicit_memory_size_energy(const rbt_model *model, const void *options);

// What contact remembers comes behind that, NULL without contact; what other methods of bodies remember comes last.
rbt_contact_memory *rbt_implicit_contact_memory(const rbt_implicit *s, const rbt_state *state);
void *rbt_implicit_others_memory(const rbt_implicit *s, const rbt_state *state);

// ---- As rbt_method has them

rbt_step_work rbt_implicit_work(int solver);
void rbt_implicit_set_precision(void *self, double share);
void rbt_implicit_describe(const void *self, rbt_text *json);
int rbt_implicit_labels(const void *self, int32_t *label);
bool rbt_implicit_on_ranks(int solver, const void *options);
size_t rbt_implicit_subdomains(const rbt_model *model, int solver, const void *options);
void rbt_implicit_set_observer(void *self, const rbt_observer *observer);
bool rbt_implicit_accepts(void *self, const rbt_state *state, char *text, size_t size);
double *rbt_implicit_spent(const void *self, const rbt_state *state);
double rbt_implicit_thickness(const void *self);
void rbt_implicit_forget(void *self, rbt_state *state);
void rbt_implicit_energies(void *self, const rbt_state *state, rbt_energies *energies);
bool rbt_implicit_warn(void *self, char text[320]);
size_t rbt_implicit_contacts(void *self, const rbt_state *state, rbt_contact_point *points, size_t capacity);
void rbt_implicit_contact_forces(void *self, const rbt_state *state, double *f);
void rbt_implicit_give_contact(void *self, const rbt_state *state, rbt_contact_handover *to);
void rbt_implicit_take_contact(void *self, rbt_state *state, const rbt_contact_handover *from);

#endif
