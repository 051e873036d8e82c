// Units of length that mesh files may be written in.
#ifndef RBT_MESH_CORE_UNIT_H
#define RBT_MESH_CORE_UNIT_H

#include <stdbool.h>

bool rbt_unit_factor(const char *name, double *metres);  // metres in one of the unit; false if it is not known
const char *rbt_unit_name(int i);                        // NULL past the end

#endif
