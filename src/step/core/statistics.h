// The table of what steps count beside their number: one row a statistic. The report of a step has a number for each;
// the public library, run.json and the command line read names, units and meaning here.
#ifndef RBT_STEP_CORE_STATISTICS_H
#define RBT_STEP_CORE_STATISTICS_H

#include "rubato/query.h"

// ROW(NAME, key, object of run.json that it stands in or NULL, how several steps become one number, unit, what it is)
#define RBT_STATISTICS(ROW)                                                                                          \
    ROW(ITERATIONS, "iterations", NULL, RBT_SUMMED, "", "Iterations, solves or products of the method's solver.")    \
    ROW(RESIDUAL, "residual", NULL, RBT_LATEST, "", "What the latest solve has left, relative to what it aimed at.") \
    ROW(SUBSTEPS, "substeps", NULL, RBT_SUMMED, "", "Parts that the exponentials of ere went in.")                   \
    ROW(INDEFINITE, "indefinite", "fallbacks", RBT_SUMMED, "steps",                                                  \
        "Steps of siere whose matrix was indefinite and factored as it was.")                                        \
    ROW(PROJECTED, "projected", "fallbacks", RBT_SUMMED, "steps",                                                    \
        "Steps of siere whose matrix was indefinite, with projected stiffness instead.")                             \
    ROW(DAMPED, "damped", "fallbacks", RBT_SUMMED, "steps",                                                          \
        "Steps of implicit-midpoint that backward Euler took, because the rule would have gained energy, "           \
        "inverted an element, or found no solution.")                                                                \
    ROW(REJECTED, "rejected", NULL, RBT_SUMMED, "attempts",                                                          \
        "Steps that were taken back and made shorter because of their error, where steps are chosen by it.")

#define RBT_STATISTIC_NUMBER(NAME, ...) RBT_STAT_##NAME,
enum { RBT_STATISTICS(RBT_STATISTIC_NUMBER) RBT_STATISTIC_COUNT };
_Static_assert((int)RBT_STATISTIC_COUNT <= (int)RBT_MAX_STATISTICS, "the report has room for all statistics");

typedef enum rbt_summing { RBT_SUMMED, RBT_LATEST } rbt_summing;

const char *rbt_statistic_object(int statistic);  // of run.json; NULL: none

// Adds what later steps report to earlier ones (RBT_MAX_STATISTICS each).
void rbt_statistics_add(double *sum, const double *more);

// The same of a report that continued from `before` to `after`.
void rbt_statistics_add_change(double *sum, const double *before, const double *after);

#endif
