// The cuts of a scene: when they are due, and carrying them out between two steps.
//
// A cut changes the sources, from which a new model is compiled; positions and velocities go over to it as they are
// on the elements, so mass, momentum, elastic energy and gravity's stay what they were. Angular momentum of nodes'
// masses is not quite that of the elements, and finer elements have a little less of the difference: what is missing
// is given back to the free nodes around the cut as a turn of all of them (a few parts in a thousand of their
// velocity, less in finer meshes).
//
// With contact a cut has a width (mesh/cut/cut_width.h), a little more than the thickness of contact and what the body
// keeps free: no force acts between its two sides when they begin. What it leaves is judged exactly
// (model/cut_judge.h); nodes in whose way something is move less, then edges are parted further from their ends. A
// stroke whose sides cannot be parted, because elements there are inside out or folded, waits for the next step, and
// fails after 20 of them with the place.
#ifndef RBT_MODEL_CUTTING_H
#define RBT_MODEL_CUTTING_H

#include "model/change.h"
#include "model/sources.h"

typedef struct rbt_cutting rbt_cutting;

// The thickness of contact [m], before the first stroke of a scene with contact. States remember it: models that are
// compiled after a cut are told, since "auto" chooses it by the start.
void rbt_cutting_set_thickness(rbt_cutting *cutting, double thickness);

// What contact could not tell apart in a model that a cut leaves, with positions x at time t: `text`, empty if it can.
// Gaps that it has to keep are no crossings, so the exact judge does not see that they are missing. false: an error.
typedef bool (*rbt_cutting_accepts)(void *context, const rbt_model *after, double t, const double *x, char text[200],
                                    rbt_error *error);

// Asked about every cut under contact; NULL: nobody.
void rbt_cutting_set_accepts(rbt_cutting *cutting, rbt_cutting_accepts accepts, void *context);

// How many a scene plans: in "cuts", and as events.
size_t rbt_scene_cut_count(const rbt_scene *scene);

// Reads the surfaces; fails if a body that is to be cut is made of springs. `scene` and `sources` must outlive it;
// the model is the one compiled from them.
rbt_cutting *rbt_cutting_new(const rbt_scene *scene, rbt_sources *sources, const rbt_model *model, rbt_error *error);
void rbt_cutting_free(rbt_cutting *cutting);

// Whether a stroke is to be made at time t, before the next step begins.
bool rbt_cutting_due(const rbt_cutting *cutting, double t);

double rbt_cutting_next(const rbt_cutting *cutting, double t);  // when the next one after t is; infinity: none

// Makes the strokes of one cut that are due at state->t. If elements changed, change->after is a new model (the
// caller's to free, as is the change) and x, v and cuts of the state are those for it; frame, step and memory are
// left alone. Otherwise change->after is NULL.
bool rbt_cutting_stroke(rbt_cutting *cutting, const rbt_model *model, rbt_state *state, rbt_change *change,
                        rbt_error *error);

// Brings the sources to where state->cuts says it was and gives the model for it, or NULL with an error.
rbt_model *rbt_cutting_restore(rbt_cutting *cutting, const rbt_model *uncut, const rbt_state *state,
                               rbt_error *error);

// What a state tells of cuts, for a scene that has more of them behind those it tells of.
bool rbt_cutting_extend(const rbt_cutting *cutting, rbt_state *state, rbt_error *error);

#endif
