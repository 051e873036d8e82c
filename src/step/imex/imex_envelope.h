// How much stiffer than at rest the elements next to explicit nodes may become before the certificate of imex is void.
//
// Elements stiffen as they are strained, flat tets at once: their thickness changes manifold while edges keep their
// lengths. So every element e has an allowance d_e, and what is certified is not K at some place but the envelope
//   K(X) + sum_e d_e G_e  >=  K(x) turned back,
//   for all x at which none is stiffer than rest + d_e (energy/stiffening.h).
// It covers every motion within the allowances; what it leaves out is that neighbours turn differently, as corotational
// elements do too, by about their strain. Before a step elements with explicit nodes are looked at, where their forces
// are about to be evaluated; every fourth step all of them, and else those that were not in the inner half of their
// radius then. Of tets the look asks first whether |F^T F - I| is within a radius in which the material cannot exceed
// d_e; if not, how stiff it is. If one exceeds its allowance, all that need it are given more, and the envelope is
// certified again: nodes become implicit before the step is taken. What a certificate leaves unused is given to all.
//
// Allowances, as shares of the modulus at rest, and who is close to them lie in the state's memory. Elements whose
// stiffness only turns, and hinges, have none (imex_watch.h).
#ifndef RBT_STEP_IMEX_IMEX_ENVELOPE_H
#define RBT_STEP_IMEX_IMEX_ENVELOPE_H

#include "energy/stiffening.h"
#include "step/explicit/stability.h"

typedef struct rbt_imex_envelope {
    rbt_arena *arena;  // NULL: nothing stiffens
    const rbt_model *model;
    size_t element_count;          // of all groups
    double *modulus;               // (element_count) at rest [Pa]; 0: does not stiffen
    rbt_stiffening_table *tables;  // (region_count) of tets
    float *allowed;                // (element_count) as in the memory
    double *limit;   // (element_count) of |F^T F - I|^2, 0 but for tets; infinite without explicit nodes
    double *added;   // (element_count) allowances times moduli
    double *square;  // (element_count) |F^T F - I|^2 now; 1 but for tets
    bool stale;      // the implicit nodes have changed
    double strain;   // the largest |F^T F - I| that a certificate was asked for at
} rbt_imex_envelope;

bool rbt_imex_stiffens(const rbt_group *group);

// In the state's memory
typedef struct rbt_imex_allowances {
    float *allowed;        // (element_count)
    unsigned char *close;  // (batches)
} rbt_imex_allowances;

size_t rbt_imex_envelope_batches(const rbt_model *model);  // of eight elements, group by group

// Whether a model has elements that stiffen
bool rbt_imex_envelope_needed(const rbt_model *model);

bool rbt_imex_envelope_init(rbt_imex_envelope *v, const rbt_model *model, rbt_error *error);
void rbt_imex_envelope_free(rbt_imex_envelope *v);

// The first allowances: what the certificate at rest, *split, has left. allowed (element_count)
void rbt_imex_envelope_open(rbt_imex_envelope *v, rbt_stability *s, const unsigned char *implicit,
                            const rbt_split *split, float *allowed);

// Before a step from x, the step-th. If an element exceeds its allowance, `allowed` grows, the envelope is certified
// again, nodes become implicit, *split follows and true is returned.
bool rbt_imex_envelope_look(rbt_imex_envelope *v, rbt_stability *s, const double *x, uint64_t step,
                            rbt_imex_allowances to, unsigned char *implicit, rbt_split *split);

#endif
