// Limited-memory BFGS around a matrix D that approximates the inverse of E's second derivative: p = -D_k grad E,
// where D_k is D corrected by the last pairs of differences s = z_{k+1} - z_k, y = grad E_{k+1} - grad E_k (Nocedal
// and Wright 2006, algorithm 7.4). What D is makes the method: lbfgs_h.c, lbfgs_pd.c, dot.c.
#ifndef RBT_STEP_IMPLICIT_LBFGS_H
#define RBT_STEP_IMPLICIT_LBFGS_H

#include "step/implicit/contact_drive.h"

enum { RBT_LBFGS_PAIRS = 5 };
enum {
    RBT_LBFGS_CONTACT_ITERATIONS = 8
};  // that a step with contact usually takes with a D made at its start, at least

typedef struct rbt_inverse {  // D
    void *self;
    // Makes D at z. NULL: it is ready.
    rbt_outcome (*make)(void *self, const double *z, rbt_stages *stages, rbt_step_report *report);
    // With contact: makes it of objective->pairs->matrix as it is now.
    rbt_outcome (*factor)(void *self, const double *z, rbt_stages *stages, rbt_step_report *report);
    rbt_outcome (*apply)(void *self, const double *q, double *r);       // r = D q
    double (*first_length)(void *self, const double *p, double slope);  // of the line search; NULL: 1
    // Where D is made, once a step; NULL: at z, and again where that seems to save more than it costs:
    const double *place;
    double making_cost;       // in iterations
    double usual_iterations;  // of a step with a D made at its start
} rbt_inverse;

typedef struct rbt_lbfgs {
    rbt_objective *objective;
    rbt_arena *arena;
    rbt_search search;
    double *gradient, *direction, *before, *gradient_before;  // (node_count x 3)
    double *s[RBT_LBFGS_PAIRS], *y[RBT_LBFGS_PAIRS];          // (node_count x 3)
    double inverse_ys[RBT_LBFGS_PAIRS], share[RBT_LBFGS_PAIRS];
    size_t count, newest;
    bool on_ranks;  // the same bits on any number of ranks

    // With contact (lbfgs_contact.c):
    rbt_contact_drive drive;
    const rbt_inverse *D;
    bool stale;      // D has to be made again
    bool whole;      // the last step was taken whole
    int age;         // iterations since it was made
    double first;    // the residual then
    size_t rubbing;  // pairs that had friction then
} rbt_lbfgs;

bool rbt_lbfgs_init(rbt_lbfgs *lbfgs, rbt_objective *objective, rbt_error *error);
void rbt_lbfgs_free(rbt_lbfgs *lbfgs);

// l->direction = -D_k l->gradient, by the two loops
rbt_outcome rbt_lbfgs_direction(rbt_lbfgs *lbfgs, const rbt_inverse *D);

// Keeps the pair of z and l->before, and of their gradients, unless it shows no positive curvature, with which D_k
// would lose its definiteness.
void rbt_lbfgs_remember(rbt_lbfgs *lbfgs, const double *z);

// Since D was made, `count` iterations brought the residual (gradient over tolerance) from `first` to `now`. Whether
// making it again seems to save more than it costs.
bool rbt_lbfgs_new_one_pays(const rbt_inverse *D, int count, double first, double now);

// Like a step solver's solve. D is made if the start is not already good enough. The pairs of earlier steps are
// forgotten.
rbt_outcome rbt_lbfgs_solve(rbt_lbfgs *lbfgs, const rbt_inverse *D, const double *last, double *z, rbt_stop *stop,
                            int max_iterations, rbt_stages *stages, rbt_step_report *report);

// The same with contact (lbfgs_contact.c), for a D that has `factor`.
rbt_outcome rbt_lbfgs_contact(rbt_lbfgs *lbfgs, const rbt_inverse *D, const double *last, double *z, rbt_stop *stop,
                              int max_iterations, rbt_stages *stages, rbt_step_report *report);

#endif
