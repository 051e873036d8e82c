// A comparison as text for people.
#ifndef RBT_CLI_COMPARE_TABLE_H
#define RBT_CLI_COMPARE_TABLE_H

#include "cli/contender_table.h"
#include "study/compare.h"

// Two tables (cost, accuracy), a line for every method that failed, and what the numbers mean.
void rbt_compare_table(const rbt_comparison *comparison, rbt_text *text);

#endif
