// The choices of methods that a run makes or repeats: choice.csv of its folder, a row each.
//   frame,method,solver,error,longest,occasion
// A choice holds from its frame on. Choosing measures times, so it is written down before anything follows from it,
// also where the present method is kept; a run that continues takes what is written, and one that repeats another run
// chooses nothing by itself.
#ifndef RBT_SIM_RUN_CHOICE_H
#define RBT_SIM_RUN_CHOICE_H

#include "sim/choice.h"

typedef struct rbt_choice_row {
    int64_t frame;
    rbt_chosen chosen;
    char occasion[64];
} rbt_choice_row;

typedef struct rbt_run_choices {
    bool open;     // the scene leaves method or solver to rubato
    bool repeats;  // the rows are another run's
    size_t count, capacity;
    rbt_choice_row *rows;  // by frame
    rbt_text json;         // those made by this run
    int64_t topology;      // of the simulation at the latest frame
    double promised;       // seconds per simulated second
} rbt_run_choices;

void rbt_run_choices_free(rbt_run_choices *choices);

// Rows of a folder, until `last` at most; none if the file is not there
bool rbt_run_choices_read(rbt_run_choices *choices, const char *folder, int64_t last, rbt_error *error);
bool rbt_run_choices_write(const rbt_run_choices *choices, const char *folder, rbt_error *error);

// The row in force when a frame begins to be computed after `frame`; NULL: none
const rbt_choice_row *rbt_run_choices_at(const rbt_run_choices *choices, int64_t frame);
bool rbt_run_choices_add(rbt_run_choices *choices, const rbt_choice *choice, rbt_error *error);

// Where a frame has ended: takes the row that is there, or looks at whether another method would be better since
// contact began, bodies were cut or steps became dear, and changes to it. *choice (NULL: not wanted) is filled, and
// *chosen set, if one was made. `seconds`: what the frame took
bool rbt_run_reconsider(rbt_run_choices *choices, rbt_sim *sim, const rbt_scene *scene, double seconds,
                        rbt_choice *choice, bool *chosen, rbt_error *error);

// After a step that failed, in the state of the frame before: another method
bool rbt_run_choose_other(rbt_run_choices *choices, rbt_sim *sim, const rbt_scene *scene, rbt_choice *choice,
                          rbt_error *error);

#endif
