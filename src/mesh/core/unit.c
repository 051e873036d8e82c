#include "mesh/core/unit.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    double metres;
} UNITS[] = {{"m", 1}, {"cm", 0.01}, {"mm", 0.001}, {"um", 1e-6}, {"km", 1000}, {"in", 0.0254}, {"ft", 0.3048}};
enum { UNIT_COUNT = sizeof UNITS / sizeof UNITS[0] };

const char *rbt_unit_name(int i) { return i >= 0 && i < UNIT_COUNT ? UNITS[i].name : NULL; }

bool rbt_unit_factor(const char *name, double *metres) {
    for (int i = 0; i < UNIT_COUNT; i++)
        if (strcmp(UNITS[i].name, name) == 0) {
            *metres = UNITS[i].metres;
            return true;
        }
    return false;
}
