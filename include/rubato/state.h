// States of a simulation: set by hand, saved, restored, kept in memory and on disk. Conventions: rubato/sim.h.
#ifndef RUBATO_STATE_H
#define RUBATO_STATE_H

#include "rubato/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Setting: positions (count x 3) [m] or velocities (count x 3) [m/s] of the nodes begin .. begin + count - 1.
//
// Constrained nodes keep to their prescribed values: what is given for them is not looked at. What a method remembers
// of steps before starts afresh, as after a cut, and the difference of energy counts as a jump, not as work. Refused:
// a range that goes beyond the nodes, numbers that are not finite or energies beyond any number, positions that turn
// an element inside out whose material forbids it, and, in scenes with contact and with async-contact, positions where
// something touches or crosses something: the sentence names the pair.
bool rbt_sim_set_positions(rbt_sim *sim, size_t begin, size_t count, const double *positions, rbt_error *error);
bool rbt_sim_set_velocities(rbt_sim *sim, size_t begin, size_t count, const double *velocities, rbt_error *error);

// ---- States: all that decides how a simulation continues: time, positions, velocities, what the method remembers,
// cuts, energy balance, and the forces and motions that a caller has set.

typedef struct rbt_state rbt_state;

// A new state, which the caller frees; NULL with an error if memory lacks. The simulation does not change.
rbt_state *rbt_sim_save(const rbt_sim *sim, rbt_error *error);

// The same into a state that is there already. Allocates nothing if it has held a state of this simulation
// with as many forces and motions before. If memory lacks, it is false and the state is empty: it can be saved to
// again, and restoring from it is refused.
bool rbt_sim_save_to(const rbt_sim *sim, rbt_state *state, rbt_error *error);

// Makes the simulation continue from the state, which stays as it is; bit for bit as the one that it was saved from.
// Refused: an empty state, or one of another scene or method. Allocates nothing in a simulation without cuts that has
// had as many forces and motions.
bool rbt_sim_restore(rbt_sim *sim, const rbt_state *state, rbt_error *error);

void rbt_state_free(rbt_state *state);  // NULL: nothing

double rbt_state_time(const rbt_state *state);  // [s]
size_t rbt_state_node_count(const rbt_state *state);
const double *rbt_state_positions(const rbt_state *state);   // (nodes x 3) [m], until it is saved to or freed
const double *rbt_state_velocities(const rbt_state *state);  // (nodes x 3) [m/s]

// To and from a file in the format of checkpoints. A file is complete or not there: an earlier one of that name is
// replaced at once. NULL or false with an error that names the file.
bool rbt_state_write(const rbt_state *state, const char *path, rbt_error *error);
rbt_state *rbt_state_read(const char *path, rbt_error *error);

// The same bytes in memory, for a program that sends states elsewhere: *bytes (*size) is the caller's, to free with
// free(). Bytes that are no state, or were damaged on their way, are refused.
bool rbt_state_pack(const rbt_state *state, void **bytes, size_t *size, rbt_error *error);
rbt_state *rbt_state_unpack(const void *bytes, size_t size, rbt_error *error);

#ifdef __cplusplus
}
#endif
#endif
