#include "energy/material.h"

#include "rubato/scene.h"

#include <stddef.h>
#include <string.h>

extern const rbt_material RBT_STABLE_NEO_HOOKEAN;

static const rbt_material *const MATERIALS[] = {&RBT_STABLE_NEO_HOOKEAN};
enum { MATERIAL_COUNT = sizeof MATERIALS / sizeof MATERIALS[0] };

const rbt_material *rbt_material_at(int i) { return i >= 0 && i < MATERIAL_COUNT ? MATERIALS[i] : NULL; }
const char *rbt_material_name(int i) { return i >= 0 && i < MATERIAL_COUNT ? MATERIALS[i]->name : NULL; }

int rbt_material_find(const char *name) {
    for (int i = 0; i < MATERIAL_COUNT; i++)
        if (strcmp(MATERIALS[i]->name, name) == 0) return i;
    return -1;
}
