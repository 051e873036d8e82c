// A method as people write it where several are listed: method[:solver][@step], as in
//
//   semi-implicit    backward-euler:newton    symplectic-euler@0.0001    backward-euler:newton@1e-3
#ifndef RBT_STUDY_METHOD_SPEC_H
#define RBT_STUDY_METHOD_SPEC_H

#include "rubato/scene.h"
#include "study/setting_list.h"

typedef struct rbt_method_spec {
    char name[128];  // as it was written
    int method;      // index into the table of methods
    int solver;      // index into that method's solvers; -1: not said
    double step;     // [s]; 0: not said
} rbt_method_spec;

bool rbt_method_spec_parse(const char *text, rbt_method_spec *spec, rbt_error *error);

// The same method and solver at another step, named so.
bool rbt_method_spec_at_step(const rbt_method_spec *spec, double step, rbt_method_spec *result, rbt_error *error);

// The settings that make this scene one of this method. Another method's solver and options would be errors, so they
// are taken out unless the scene's own method is meant. The contact of a scene and that of a method with contact of its
// own replace each other, with their friction, where that is all that they say.
bool rbt_method_spec_settings(const rbt_method_spec *spec, const rbt_scene *scene, rbt_setting_list *list,
                              rbt_error *error);

// A list with commas, each at most once; free *specs.
bool rbt_method_specs_parse(const char *text, rbt_method_spec **specs, size_t *count, rbt_error *error);

// Every method of the table with what it does unless told otherwise; free *specs.
bool rbt_method_specs_all(rbt_method_spec **specs, size_t *count, rbt_error *error);

#endif
