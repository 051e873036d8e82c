// Low modes of the bodies integrated exactly, as siere does, beside parts with steps of their own.
//
// With eigenvectors K U = M U Lambda, U^T M U = 1 of the whole, found where the step begins
// (exponential/siere_modes.h), the motion is split into modes and the rest:
//
//   b = U^T M v,   G = U^T (f_ext - f_int);      v_rest = v - U b,   f_rest = f - M U G
//
// The rest is stepped by the sub-cycling, and what that leaves in the modes is taken out again. Mode l is an oscillator
// with a constant force (math/oscillator.h), and is added at the end:
//
//   a = b S + G I,   b+ = b (1 + slope) + G S;   x+ = x + way of the rest + U a,   v+ = v of the rest + U b+
//
// Without parts the rest stays orthogonal to U and this is siere; without modes it is the sub-cycling alone. Impulses J
// of contact are forces J/H of the same kind: modes that the step resolves (H^2 |lambda| <= 1) answer with U^T J, the
// rest gets J - M U U^T J. While something touches, the other modes are left to the rest altogether, as siere does
// (exponential/siere_contact.h): forces of their own that they answer to exactly and impulses that the rest answers to
// would balance at another place than that of rest.
#ifndef RBT_STEP_MULTIRATE_REST_MODES_H
#define RBT_STEP_MULTIRATE_REST_MODES_H

#include "model/mass.h"
#include "step/core/stage.h"
#include "step/exponential/siere_modes.h"

typedef struct rbt_rest_modes {
    const rbt_model *model;
    rbt_model plain;  // without obstacles and contact: what modes are about
    void *siere;
    rbt_arena *arena;
    const rbt_mass *mass;
    rbt_siere_modes modes;                  // of this step
    size_t found;                           // modes of the state, of which modes.count are taken
    double h;                               // its length [s]
    double *b, *G, *share, *pushed;         // (capacity)
    double *by_displacement, *by_velocity;  // (capacity) for impulses.h, computed by multirate_contact.c
    bool *resolved;                         // (capacity)
    double *velocity;                       // (nodes x 3) v_rest
    double *taken;                          // (nodes x 3) M U G
    double *work, *product;                 // (nodes x 3)
} rbt_rest_modes;

// So many modes, at least 1.
rbt_rest_modes *rbt_rest_modes_new(const rbt_model *model, const rbt_mass *mass, int modes, rbt_error *error);
void rbt_rest_modes_free(rbt_rest_modes *rest);

// Bytes of the state's memory, at its beginning
size_t rbt_rest_modes_memory(const rbt_model *model, int modes);

// The modes of the state, v_rest and M U G; where it touches something, those that the step resolves. The stages are
// those of siere.
rbt_outcome rbt_rest_modes_find(rbt_rest_modes *rest, rbt_state *state, double h, bool touches, rbt_stages *stages,
                                rbt_step_report *report);
void rbt_rest_modes_remember(const rbt_rest_modes *rest, rbt_state *state, rbt_step_report *report);

// What the rest gets of impulses J (nodes x 3)
void rbt_rest_modes_split(rbt_rest_modes *rest, const double *J, double *to);

// Adds what the modes do, with the impulses split last or without, to displacements and velocities, and to `given`
// (nodes x 3; NULL: nowhere) the impulses that they got.
void rbt_rest_modes_add(rbt_rest_modes *rest, bool pushed, double *way, double *velocity, double *given);

#endif
