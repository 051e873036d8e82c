// A part of a model: the elements that touch some nodes, as a model of their own with few nodes, for what must be
// computed often and there only. Its first nodes are the chosen ones, ascending; those that only share elements with
// them follow.
#ifndef RBT_MODEL_PART_H
#define RBT_MODEL_PART_H

#include "model/model.h"

typedef struct rbt_model_part {
    rbt_arena *arena;
    rbt_model model;       // node_count, groups, plan; nothing else is filled
    size_t chosen_count;   // the nodes that were chosen
    size_t element_count;  // of all groups
    const int32_t *nodes;  // (model.node_count) their numbers in the whole
} rbt_model_part;

// chosen (node_count): not 0 for the nodes wanted. `whole` must outlive the part.
bool rbt_model_part_build(rbt_model_part *part, const rbt_model *whole, const unsigned char *chosen,
                          rbt_error *error);
void rbt_model_part_free(rbt_model_part *part);

// Values (node_count x 3) of the whole at the nodes of the part
void rbt_model_part_gather(const rbt_model_part *part, const double *whole, double *values);

#endif
