// What contact is about: the surfaces of bodies, and obstacles as nodes of infinite mass behind those of the model.
//
// Every method with contact makes its surface here. Nodes of obstacles (model/obstacle_nodes.h) are where their
// prescribed motions bring them at every step and lie on straight lines between, so that they follow from time alone
// and no checkpoint holds them.
#ifndef RBT_MODEL_CONTACT_SURFACE_H
#define RBT_MODEL_CONTACT_SURFACE_H

#include "contact/broad_phase/surface.h"
#include "model/model.h"
#include "model/obstacle_nodes.h"

typedef struct rbt_model_surface {
    const rbt_model *model;
    size_t node_count;         // of the model and of obstacles
    double *x;                 // (node_count x 3) positions at the start; of obstacles before motions
    int32_t *obstacle;         // (node_count) number of the obstacle, -1 for nodes of the model
    rbt_obstacle_nodes nodes;  // of obstacles; node 0 of them is node model->node_count of the surface
    bool prescribed;           // some obstacles follow a motion or a sequence
    unsigned char *driven;     // (node_count) what def.prescribed points to
    rbt_contact_surface_def def;
} rbt_model_surface;

// Nodes of the model and of all obstacles.
size_t rbt_model_surface_node_count(const rbt_model *model);

// Everything lies in the arena; the model must stay.
bool rbt_model_surface_make(rbt_model_surface *surface, const rbt_model *model, rbt_arena *arena, rbt_error *error);

// Writes where the nodes of obstacles are at time t into x (node_count x 3); nodes of the model are left alone.
void rbt_model_surface_place(const rbt_model_surface *surface, double t, double *x);

// Writes all positions of the start into x (node_count x 3): obstacles where the scene has them at time 0, whatever a
// caller has done since.
void rbt_model_surface_start(const rbt_model_surface *surface, double *x);

// Obstacles that a caller moves are prescribed from then on: true if others are now than at the last call. Which they
// are follows from the state.
bool rbt_model_surface_follow(rbt_model_surface *surface);

// Whether some obstacles move: by a prescribed motion, or because a caller has moved them.
bool rbt_model_surface_moves(const rbt_model_surface *surface);

// What the two primitives of a sentence are and belong to.
void rbt_model_surface_name(const rbt_model_surface *surface, const rbt_contact_surface *contact, rbt_pair_key key,
                            char *text, size_t size);

#endif
