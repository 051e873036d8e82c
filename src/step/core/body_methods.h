// Methods of bodies: which of them can be stepped together, and what the scene means by them.
//
// A body may name a method of its own. If all bodies have the same one, it is the scene's. Otherwise the scene's method
// joins them in one step (rbt_method.joins): theirs must have a free step.
#ifndef RBT_STEP_CORE_BODY_METHODS_H
#define RBT_STEP_CORE_BODY_METHODS_H

#include "step/core/method.h"

// The method of its own that a body has, NULL: it is the scene's.
const rbt_body_integrator_def *rbt_body_integrator(const rbt_model *model, size_t body);

// Whether two bodies are stepped in the same way
bool rbt_body_integrators_same(const rbt_body_integrator_def *a, const rbt_body_integrator_def *b);

// Takes out what says nothing: bodies that name the scene's method; and where all of them name the same one, it becomes
// the scene's. The bodies of this scene are its own.
void rbt_body_methods_simplify(rbt_scene *scene);

// Whether a method can step the bodies of this model together, with those of other methods; the error names body and
// methods.
bool rbt_body_methods_fit(const rbt_model *model, const rbt_method *method, rbt_error *error);

#endif
