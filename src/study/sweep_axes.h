// The values that a sweep goes through, as people write them, and their product.
//
//   time.step=0.01,0.005            two values
//   forces[0]={"gravity": {}},null  two: commas inside brackets, braces and double quotes do not split
//
// An axis is one path with its values, or the list of methods. Runs are counted through the product of all axes, the
// last one fastest.
#ifndef RBT_STUDY_SWEEP_AXES_H
#define RBT_STUDY_SWEEP_AXES_H

#include "base/text.h"
#include "study/method_spec.h"

enum { RBT_SWEEP_RUNS_MAX = 1000 };

typedef struct rbt_sweep_axis {
    char *path;   // "methods" if it is the list of methods
    char *brief;  // the path's last name, or the whole path where another axis has the same
    size_t count;
    char **values;           // (count)
    rbt_method_spec *specs;  // (count) NULL: not the list of methods
    bool numerical;          // changes how a motion is computed, not what moves: methods, steps, options, output
} rbt_sweep_axis;

typedef struct rbt_sweep_axes {
    rbt_sweep_axis *items;  // (count)
    size_t count, capacity;
} rbt_sweep_axes;

// Each adds an axis; an error says which path, what was found and what to write. Methods come first.
bool rbt_sweep_axes_add_methods(rbt_sweep_axes *axes, const char *list, rbt_error *error);
bool rbt_sweep_axes_add(rbt_sweep_axes *axes, const char *setting, rbt_error *error);

// To be called when all axes are there: checks that they can be set together and counts the runs, at most
// RBT_SWEEP_RUNS_MAX.
bool rbt_sweep_axes_finish(rbt_sweep_axes *axes, size_t *runs, rbt_error *error);
void rbt_sweep_axes_free(rbt_sweep_axes *axes);

// Which value of an axis a run has, and how many runs further the next value is.
size_t rbt_sweep_axes_index(const rbt_sweep_axes *axes, size_t axis, size_t run);
size_t rbt_sweep_axes_stride(const rbt_sweep_axes *axes, size_t axis);

// "semi-implicit young=1e5 step=0.01": the values of a run that are shown, but for one axis (axes->count: all).
void rbt_sweep_axes_add_name(const rbt_sweep_axes *axes, size_t run, size_t without, rbt_text *name);

// Whether runs differ in this axis, so that it is worth showing: it has several values, or no axis has.
bool rbt_sweep_axes_shown(const rbt_sweep_axes *axes, size_t axis);

bool rbt_sweep_axis_number(const rbt_sweep_axis *axis, size_t value, double *number);  // false: it is none
bool rbt_sweep_axis_numeric(const rbt_sweep_axis *axis);                               // several values, all numbers

#endif
