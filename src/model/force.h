// Forces of a model at a state, and its energies.
#ifndef RBT_MODEL_FORCE_H
#define RBT_MODEL_FORCE_H

#include "math/block_matrix.h"
#include "model/model.h"

// External force at time t: gravity, pulls, pulses, wind, drags, and what a caller adds (model/input.h). f
// (node_count x 3) is overwritten.
void rbt_force_external(const rbt_model *model, double t, const double *x, const double *v, double *f);

// How strong a pull or pulse is at time t, as a share of its force; and on average from `begin` to `end`.
double rbt_load_strength(const rbt_node_load *load, double t);
double rbt_load_mean_strength(const rbt_node_load *load, double begin, double end);

// Whether a caller's forces act.
static inline bool rbt_force_is_given(const rbt_model *model) { return model->input && model->input->force; }

// f += the part of the external force that follows the motion, of wind and drags; and that of a caller.
void rbt_force_add_wind(const rbt_model *model, double t, const double *x, const double *v, double *f);
void rbt_force_add_given(const rbt_model *model, double *f);

// f += -dW/dx of all groups; partial (plan.slot_count x 3) is work space. With energies (plan.chunk_count), the
// energy of every chunk too.
void rbt_force_elastic(const rbt_model *model, const double *x, rbt_sum *energies, double *partial, double *f);

// The elements of a plan alone: dW/dx summed per slot of its chunks, partial (plan->slot_count x 3).
void rbt_force_slots(const rbt_model *model, const rbt_plan *plan, const double *x, rbt_sum *energies,
                     double *partial);

// One of its chunks.
void rbt_force_chunk(const rbt_model *model, const rbt_plan *plan, size_t chunk, const double *x, double *partial);

// W(x) of all groups [J]; energies (plan.chunk_count) is work space.
double rbt_energy_elastic(const rbt_model *model, const double *x, rbt_sum *energies);

// The same of chunks that are known
double rbt_energy_of_chunks(const rbt_model *model, const rbt_sum *energies);

// f += -K (x - X) of a linear model, whose stiffness K never changes; work (2 x node_count x 3).
void rbt_force_linear(const rbt_model *model, const rbt_block_matrix *K, const double *x, double *work, double *f);

// f += penalty forces of the obstacles; if wanted, their stiffness per node (node_count x 9).
void rbt_force_contact(const rbt_model *model, const double *x, double *f, double *node_stiffness);

// Nodes whose position is prescribed during a step that starts at time t: constrained[n] = 1; the others 0.
void rbt_constrained_nodes(const rbt_model *model, double t, unsigned char *constrained);

// v of the constrained nodes such that x + h v is where they must be at t + h.
void rbt_constrained_velocities(const rbt_model *model, const unsigned char *constrained, double t, double h,
                                const double *x, double *v);

#endif
