#include "energy/material.h"

#include "rubato/scene.h"

#include <string.h>

static void raise_lambda(double *mu, double *lambda) { *lambda += *mu; }
static void lower_lambda(double *mu, double *lambda) { *lambda -= *mu; }

static void drop_lambda(double *mu, double *lambda) {
    (void)mu;
    *lambda = 0;
}

static const rbt_material MATERIALS[] = {
    {.name = "stable-neo-hookean",
     .doc = "rubber and flesh; finite and smooth for any deformation, inversion included",
     .id = RBT_STABLE_NEO_HOOKEAN,
     .survives_inversion = true,
     .rotation_invariant = true,
     .parameters = raise_lambda,
     .small_strain = lower_lambda},
    {.name = "neo-hookean",
     .doc = "rubber with a logarithmic barrier: an element that would turn inside out is an outcome, not a state",
     .id = RBT_NEO_HOOKEAN,
     .rotation_invariant = true},
    {.name = "st-venant-kirchhoff",
     .doc = "linear stress in Green's strain; for large rotations and small strains, weak under strong compression",
     .id = RBT_ST_VENANT_KIRCHHOFF,
     .survives_inversion = true,
     .rotation_invariant = true},
    {.name = "fixed-corotated",
     .doc = "distance to the nearest rotation plus a volume term; robust for large deformations",
     .id = RBT_FIXED_COROTATED,
     .survives_inversion = true,
     .rotation_invariant = true},
    {.name = "corotational",
     .doc = "linear elasticity in each element's rotated frame, with the warped stiffness of Mueller and Gross; fast",
     .id = RBT_COROTATIONAL,
     .survives_inversion = true,
     .rotation_invariant = true,
     .turning_stiffness = true},
    {.name = "arap",
     .doc = "as rigid as possible: distance to the nearest rotation, without resistance to a change of volume",
     .id = RBT_ARAP,
     .survives_inversion = true,
     .rotation_invariant = true,
     .ignores_poisson = true,
     .small_strain = drop_lambda},
    {.name = "linear",
     .doc = "linear elasticity; the fastest, for small displacements and rotations only",
     .id = RBT_LINEAR,
     .survives_inversion = true,
     .constant_stiffness = true},
};
enum { MATERIAL_COUNT = sizeof MATERIALS / sizeof MATERIALS[0] };

const rbt_material *rbt_material_at(int i) { return i >= 0 && i < MATERIAL_COUNT ? &MATERIALS[i] : NULL; }
const char *rbt_material_name(int i) { return i >= 0 && i < MATERIAL_COUNT ? MATERIALS[i].name : NULL; }

int rbt_material_find(const char *name) {
    for (int i = 0; i < MATERIAL_COUNT; i++)
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
    const rbt_tet_kernels *tangents = rbt_tet_kernels_with(material, rbt_processor_set(RBT_TANGENT_KERNELS));
    const rbt_tet_kernels *projected = rbt_tet_kernels_with(material, rbt_processor_set(RBT_PROJECT_KERNELS));
    kernels.stiffness[RBT_HESSIAN] = tangents->stiffness[RBT_HESSIAN];
    kernels.stiffness[RBT_TANGENT] = tangents->stiffness[RBT_TANGENT];
    kernels.stiffness[RBT_PROJECTED] = projected->stiffness[RBT_PROJECTED];
    return kernels;
}
