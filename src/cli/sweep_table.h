// A sweep as text for people: a table with one line a run, a line for every run that failed, and what the numbers mean.
#ifndef RBT_CLI_SWEEP_TABLE_H
#define RBT_CLI_SWEEP_TABLE_H

#include "cli/contender_table.h"
#include "study/sweep.h"

void rbt_sweep_table(const rbt_sweep_result *sweep, rbt_text *text);

#endif
