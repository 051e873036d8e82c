#include "step/method.h"

#include <string.h>

static const rbt_method *const METHODS[] = {
    &RBT_SEMI_IMPLICIT, &RBT_SIERE, &RBT_BACKWARD_EULER,  &RBT_IMPLICIT_MIDPOINT, &RBT_BDF2,
    &RBT_ERE,           &RBT_IMEX,  &RBT_MULTIRATE_EULER, &RBT_SYMPLECTIC_EULER,  &RBT_SCHROEDER,
    &RBT_ASYNC_CONTACT};
enum { METHOD_COUNT = sizeof METHODS / sizeof METHODS[0] };

const rbt_method *rbt_method_at(int i) { return i >= 0 && i < METHOD_COUNT ? METHODS[i] : NULL; }
const char *rbt_method_name(int i) { return i >= 0 && i < METHOD_COUNT ? METHODS[i]->name : NULL; }

int rbt_method_find(const char *name) {
    for (int i = 0; i < METHOD_COUNT; i++)
        if (strcmp(METHODS[i]->name, name) == 0) return i;
    return -1;
}
