#include "energy/material.h"

#include "rubato/scene.h"

#include <string.h>

// Of stable neo-Hookean elasticity: psi's lambda is that of linear elasticity plus mu.
static void rbt_lambda_plus_mu(double *mu, double *lambda) { *lambda += *mu; }
static void rbt_lambda_minus_mu(double *mu, double *lambda) { *lambda -= *mu; }

static void rbt_no_lambda(double *mu, double *lambda) {
    (void)mu;
    *lambda = 0;
}

#define ENTRY(ident, rotation, quartic, text, sentence, ...)                                                         \
    {.name = text, .doc = sentence, .id = RBT_TET_##ident, .wide_energy = rotation, __VA_ARGS__},
#define LINEAR(ident, rotation, quartic, text, sentence, ...)                                                        \
    {.name = text, .doc = sentence, .id = RBT_TET_##ident, .wide_energy = true, __VA_ARGS__},
static const rbt_material MATERIALS[] = {RBT_MATERIAL_LIST(ENTRY, ENTRY, LINEAR)};
enum { MATERIAL_COUNT = sizeof MATERIALS / sizeof MATERIALS[0] };

const rbt_material *rbt_material_at(int i) { return i >= 0 && i < MATERIAL_COUNT ? &MATERIALS[i] : NULL; }
const char *rbt_material_name(int i) { return i >= 0 && i < MATERIAL_COUNT ? MATERIALS[i].name : NULL; }

int rbt_material_find(const char *name) {
    for (int i = 0; name && i < MATERIAL_COUNT; i++)
        if (strcmp(MATERIALS[i].name, name) == 0) return i;
    return -1;
}

void rbt_material_lame(const rbt_material *material, double young, double poisson, double *mu, double *lambda) {
    *mu = young / (2 * (1 + poisson));
    *lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
    if (material->parameters) material->parameters(mu, lambda);
}

const rbt_tet_kernels *rbt_tet_kernels_with(const rbt_material *material, rbt_instruction_set set) {
    if (!rbt_processor_has(set)) return NULL;
    switch (set) {
    case RBT_AVX512: return &RBT_TET_KERNELS_AVX512[material->id];
    case RBT_AVX2: return &RBT_TET_KERNELS_AVX2[material->id];
    default: return &RBT_TET_KERNELS_PLAIN[material->id];
    }
}

rbt_tet_kernels rbt_tet_kernels_of(const rbt_material *material) {
    rbt_tet_kernels kernels = *rbt_tet_kernels_with(material, rbt_processor_set(RBT_FORCE_KERNELS));
    const rbt_tet_kernels *energies = rbt_tet_kernels_with(material, rbt_processor_set(RBT_ENERGY_KERNELS));
    const rbt_tet_kernels *tangents = rbt_tet_kernels_with(material, rbt_processor_set(RBT_TANGENT_KERNELS));
    if (material->wide_energy) kernels.energy = energies->energy;
    if (!material->turning_stiffness)
        kernels.tangent = tangents->tangent;  // rotations alone are 0.91 as fast with AVX-512
    memcpy(kernels.stiffness, tangents->stiffness, sizeof kernels.stiffness);
    return kernels;
}
