// Materials that change while time runs: a model that differs in Young's moduli, Poisson's ratios and damping alone.
#ifndef RBT_MODEL_MATERIALS_H
#define RBT_MODEL_MATERIALS_H

#include "model/model.h"

typedef struct rbt_elasticity {
    double young, poisson;
} rbt_elasticity;

typedef struct rbt_material_values {
    rbt_elasticity *regions;   // (region_count)
    rbt_damping_def *damping;  // (body_count)
} rbt_material_values;

// Those that a model has; and whether it has these.
void rbt_materials_get(const rbt_model *model, const rbt_material_values *values);
bool rbt_materials_are(const rbt_model *model, const rbt_material_values *values);

// Whether a scene may have these: the limits of its tables.
bool rbt_materials_are_sound(const rbt_model *model, const rbt_material_values *values);

// The model with these values, as if it had been compiled with them: element groups are built again, all else is
// shared. NULL with an error if memory lacks.
rbt_model *rbt_model_with_materials(rbt_model *model, const rbt_material_values *values, rbt_error *error);

#endif
