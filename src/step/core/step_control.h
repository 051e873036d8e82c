// Steps by error: how long a step may be so that the whole run keeps to the error that was asked for.
//
// What is asked for is the position of every node at the end of the run, to `error` times the size of its body. Errors
// of steps add up, so a step of length h may make the share h / T of it, T the length of the run (error per unit step):
//   E(h) <= error h / T
// The error of a method of order p is C h^(p+1) d^(p+1)/dt^(p+1) of x and of v, and falls as h^(p+1). With E = A
// h^(p+1) the step that uses its share up has h^p = error / (A T): the sum over the run is `error`, whatever p is, and
// halves when `error` does. Controllers that bound the error of a step instead of that per unit time lose a power of h
// there.
//
// The estimate. v is known at the ends of the last steps, and a step of a method of order p has
//   e_x = C h^(p+1) v^(p),   e_v = C h^(p+1) v^(p+1)
// with derivatives from divided differences of v at t+, t, t-, t-- (steps h, h-, h--):
//   d1 = (v+ - v)/h,   d2 = (d1 - d1-)/(h + h-),   d3 = (d2 - d2-)/(h + h- + h--),   v' = d1, v'' = 2 d2, v''' = 6 d3
// For backward Euler (C = 1/2) this is the difference to BDF2 over the same points, of BDF2 and midpoint that to the
// formula of third order. No force is evaluated for it. A method that knows more (siere) refines it.
//
// The norm. Weights as in CVODE, with the size of the body for all of its nodes, which is what the error is asked in;
// and the largest node counts instead of the mean square, since the largest is asked for:
//   E = max over free nodes of sqrt(|e_x|^2 + (s |e_v|)^2) / size
// A wrong velocity misplaces a node later: by e_v / omega in a vibration, by e_v times the time that is left in free
// flight. s is that time, measured on the motion so far as s^2 = int |v|^2 dt / int |v'|^2 dt (mass as weight), which
// is 1 / omega for a vibration, and never more than the time since the start; the largest so far counts.
//
// Forces that jump (a load begins, nodes are released) leave errors of one order less at one place, that no short step
// makes up for. A step that was shortened to an eighth of the one before may make 1/50 of the error at once.
//
// All that is remembered stands behind the method's memory in the state: resumed runs take the same steps.
#ifndef RBT_STEP_CORE_STEP_CONTROL_H
#define RBT_STEP_CORE_STEP_CONTROL_H

#include "model/model.h"

// One attempt at a step, for who keeps a log
typedef struct rbt_step_attempt {
    double t, step;   // where it began and its length [s]
    double estimate;  // E over what the step may make; NaN: the step failed
    bool accepted;
    // "error", "stop" (shortened to end at a frame, an event or a cut), "jump", "floor", "start", or the outcome of an
    // attempt that failed
    const char *why;
} rbt_step_attempt;

typedef struct rbt_step_log {
    void (*note)(void *context, const rbt_step_attempt *attempt);  // NULL: nobody listens
    void *context;
} rbt_step_log;

// What the state remembers; behind it the velocities at the ends of the last two steps but the latest
typedef struct rbt_step_memory {
    double next;           // [s] to try next; 0: nothing is known yet
    double last, before;   // [s] lengths of the last two steps
    int64_t known;         // how many velocities of before are (0 to 2)
    double moved, pushed;  // int |v|^2 dt and int |v'|^2 dt, mass as weight
    double span;           // s [s]
    double precision;      // share of the solver's tolerance that is fine enough
    int64_t floor_steps;   // steps of the least length whose error was larger than it may be
    double floor_worst;    // the largest of these errors over what it may have been
} rbt_step_memory;

typedef struct rbt_step_control {
    bool on;
    double error, length;      // asked for; T [s]
    double shortest, longest;  // [s]
    double *sizes;             // (body_count) [m]
    double *ex, *ev;           // (node_count x 3)
    unsigned char *constrained;
    rbt_step_log log;
} rbt_step_control;

size_t rbt_step_memory_size(const rbt_model *model);  // bytes behind the method's memory

// For a model whose steps are chosen by error (model->asked)
bool rbt_step_control_init(rbt_step_control *control, const rbt_model *model, rbt_error *error);
void rbt_step_control_free(rbt_step_control *control);

// How long the next step should be, with `left` until the next frame or stop; equal to left: up to there
double rbt_step_control_plan(const rbt_step_control *control, const rbt_step_memory *memory, double left);

// e_x and e_v of a step of length h that led from v to state->v, and in ex and ev of `control` what a method may
// refine; `order` and `constant` as the method has them. Returns the order that the estimate has: less at the start.
int rbt_step_control_estimate(rbt_step_control *control, const rbt_step_memory *memory, const rbt_model *model,
                              const rbt_state *state, const double *v, double h, int order, double constant);

// E of ex and ev over what a step of length h may make
double rbt_step_control_ratio(rbt_step_control *control, const rbt_step_memory *memory, const rbt_model *model,
                              double t, double h);

typedef struct rbt_step_verdict {
    bool accepted;
    double next;  // [s]
    const char *why;
} rbt_step_verdict;
rbt_step_verdict rbt_step_control_judge(const rbt_step_control *control, const rbt_step_memory *memory, double ratio,
                                        double h, int order, bool cut_short);

// After a step that was accepted
void rbt_step_control_remember(const rbt_step_control *control, rbt_step_memory *memory, const rbt_model *model,
                               const rbt_state *state, const double *v, double t, double h,
                               const rbt_step_verdict *verdict, double ratio);

#endif
