// The table that verifying a run prints, a line a state, with the first intersections under it.
#ifndef RBT_CLI_VERIFY_TABLE_H
#define RBT_CLI_VERIFY_TABLE_H

#include "verify/verify.h"

void rbt_verify_table_row(const rbt_verification *v, const rbt_verified *state);  // with the head before the first
void rbt_verify_table_items(const rbt_verification *v, const rbt_verified *state);

#endif
