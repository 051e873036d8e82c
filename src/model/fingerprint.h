// A 64-bit number that tells models apart, and the hash it is made with (also the checksum of checkpoints).
#ifndef RBT_MODEL_FINGERPRINT_H
#define RBT_MODEL_FINGERPRINT_H

#include "model/model.h"

// Continues the hash `seed` over these bytes. Every step is a bijection of the running value, so that two inputs of
// the same length that differ in one 8-byte word only never collide.
uint64_t rbt_hash(uint64_t seed, const void *bytes, size_t size);

// Over everything that decides how the state moves on: meshes, masses, materials, damping, roles, motions, loads,
// obstacles, gravity, step and frame interval; not over names and not over how long the run continues.
uint64_t rbt_model_fingerprint(const rbt_model *model);

#endif
