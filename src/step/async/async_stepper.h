// The stepper of async-contact, for the files that it is made of: async_contact.c (its options and its moments),
// async_setup.c (what the scene says about contact), async_memory.c (the memory of a state), async_report.c (what it
// tells about itself).
#ifndef RBT_STEP_ASYNC_ASYNC_STEPPER_H
#define RBT_STEP_ASYNC_ASYNC_STEPPER_H

#include "rubato/methods.h"
#include "step/async/async_surface.h"
#include "step/async/clocks.h"
#include "step/async/contact.h"
#include "step/core/method.h"

enum {
    RBT_ASYNC_STAGE_ELASTIC,
    RBT_ASYNC_STAGE_CONTACT,
    RBT_ASYNC_STAGE_CERTIFY,
    RBT_ASYNC_STAGE_SEARCH,
    RBT_ASYNC_STAGES
};

typedef struct rbt_async_head {  // of the state's memory; then x, v, ticks and how far hinges have flowed
    double step;                 // [s] that ticks are counted in; 0: nothing was stored yet
    double work;                 // by prescribed nodes [J]
    int64_t started;             // whether clocks have ticked
} rbt_async_head;

typedef struct rbt_async_stepper {
    const rbt_model *model;
    rbt_async_contact_options options;
    rbt_arena *arena;
    rbt_clocks clocks;
    rbt_tracks tracks;
    rbt_contact contact;
    rbt_model_surface surface;  // what contact is about
    bool touching;              // there is something to touch
    bool gaps;                  // bodies keep some room free
    bool moving;                // obstacles may, in this attempt
    bool synchronised;          // tracks are those of some state
    int64_t now;                // the last moment that was dealt with [ticks]
    int64_t end;                // of the last attempt
    int64_t next;               // when contact wants the next moment; not after `now`: to be asked
    bool slow, blamed;          // a step took more moments than allowed; because of a pair
    rbt_async_head head;
    double *flow;                  // (rbt_clocks_memory) of hinges, beside the tracks
    size_t node_count;             // of the model and of obstacles
    int64_t moments, forces;       // so far
    int64_t step, step_begin;      // the last one, and how many moments there were before it
    int64_t max_moments;           // that one may have
    const rbt_observer *observer;  // NULL: nobody
    double *shown;                 // (node_count x 3) places that the observer sees
    signed char *finest;           // (node_count) levels of the fastest clocks of nodes, work space
    int timed_every;               // moments
    int64_t next_timed;            // the number of the next one that is
    double reading;                // what it takes to read the time [s]
    // of this attempt, of all
    double seconds[RBT_ASYNC_STAGES], all_seconds[RBT_ASYNC_STAGES];
} rbt_async_stepper;

// ---- Setting up (async_setup.c)

// "contact" of the scene into the options
bool rbt_async_take_settings(rbt_async_stepper *s, rbt_error *error);

// Surfaces, layers and what the start must keep to
bool rbt_async_make_contact(rbt_async_stepper *s, rbt_error *error);

// ---- The state's memory (async_memory.c)

size_t rbt_async_memory_size(const rbt_model *m);  // bytes

// Time in ticks; times that are steps but for rounding are steps.
int64_t rbt_async_ticks_of(const rbt_async_stepper *s, double t);
double rbt_async_time_of(const rbt_async_stepper *s, int64_t t);

// Obstacles go where their prescribed motions want them; within a step, as since its beginning.
void rbt_async_drive(rbt_async_stepper *s, int64_t t);

// Makes the tracks those of the state, unless they are that already.
bool rbt_async_load(rbt_async_stepper *s, const rbt_state *state);
void rbt_async_store(const rbt_async_stepper *s, rbt_state *state, int64_t end);

// ---- What it tells (async_report.c), as rbt_method has it

rbt_outcome rbt_async_explain(rbt_async_stepper *s, const rbt_state *state, rbt_step_report *report);
void rbt_async_describe(const void *self, rbt_text *json);
size_t rbt_async_contacts(void *self, const rbt_state *state, rbt_contact_point *items, size_t capacity);
void rbt_async_contact_forces(void *self, const rbt_state *state, double *f);
void rbt_async_energies(void *self, const rbt_state *state, rbt_energies *e);

#endif
