// What the files of siere share: its options, its workspace, and how the state's memory is divided.
#ifndef RBT_STEP_EXPONENTIAL_SIERE_H
#define RBT_STEP_EXPONENTIAL_SIERE_H

#include "base/record.h"
#include "rubato/methods.h"
#include "solve/modes.h"
#include "step/exponential/mode_space.h"
#include "step/linearised/linearised.h"

extern const rbt_record RBT_SIERE_OPTIONS;

void rbt_siere_read_options(const void *options, rbt_siere_options *to);  // NULL: the default

// A of a step: as it is, factored although it is indefinite, or made of the projected stiffness
typedef enum rbt_siere_matrix {
    RBT_SIERE_DEFINITE,
    RBT_SIERE_INDEFINITE,
    RBT_SIERE_PROJECTED,
} rbt_siere_matrix;

// What is remembered: this, then U
typedef struct rbt_siere_memory {
    uint64_t carried;      // vectors in each block; 0: nothing yet
    uint64_t wanted;       // of them, modes that were asked for
    uint64_t constrained;  // hash of the constrained nodes
} rbt_siere_memory;

typedef struct rbt_siere {
    rbt_siere_options options;
    rbt_linearised base;
    rbt_block_operator *stiffness;
    rbt_modes modes;
    rbt_mode_space space;  // of solvers that are no factor of the whole: modes.space
    size_t capacity;       // vectors in the memory's blocks
    size_t used;           // modes of this step
    bool driven;           // some constrained node can move
    bool current;          // Q and KU are those of the memory's U (linear models)
    rbt_siere_matrix matrix;
    rbt_siere_memory head;                   // of this step's modes
    double *b, *g, *ramp, *da, *db, *c, *d;  // (capacity) per mode
    double *small, *z, *taken;               // (capacity^2), (capacity), (capacity)
    double *by_Q, *by_KU;                    // (capacity)
    double *mass_share, *stiffness_share;    // (node_count) of M and K in A
    double *extra;                           // (node_count x 9) h^2 K_contact, NULL without obstacles
    double *right, *solution;                // ((1 + capacity) x node_count x 3)
    double *carried;                         // (node_count x 3) velocities, of constrained nodes or of others
    unsigned char *keep;                     // (node_count) not constrained
    unsigned char *hashed;                   // (node_count) constrained nodes that `hash` is of
    uint64_t hash;
    bool has_hash;
    double *bits;  // of rbt_mode_space_hash, on ranks
} rbt_siere;

// As rbt_method has them
void *rbt_siere_create(const rbt_model *model, int solver, const void *options, rbt_error *error);
void rbt_siere_destroy(void *self);
size_t rbt_siere_memory_size(const rbt_model *model, const void *options);

// Vectors of the modes that the options ask for, and the bytes that these need, first in the memory
size_t rbt_siere_capacity(const rbt_siere_options *options);
size_t rbt_siere_modes_size(const rbt_model *model, size_t capacity);

// What contact remembers comes last; NULL without contact.
rbt_impulse_memory *rbt_siere_contact_memory(const rbt_siere *s, const rbt_state *state);

#endif
