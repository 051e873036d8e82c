// Every material on tets, once. Kernels of all instruction sets, the local step of admm-pd, the law of stiffening,
// names and documentation are made from this list, so a material is its psi in invariant_material.h and a line here;
// what is missing does not compile.
//
//   INVARIANT(name, rotation, quartic, scene name, sentence, properties…)
//     name        psi_name is its energy density (invariant_material.h)
//     rotation    psi depends on I1, so that the rotation in F is needed
//     quartic     psi depends on I4
//     properties  members of rbt_material that are not false, as .survives_inversion = true
//
// WARPED has RBT_TANGENT from linear elasticity, turned; LINEAR is linear elasticity, which is no function of these
// invariants.
#ifndef RBT_ENERGY_MATERIAL_LIST_H
#define RBT_ENERGY_MATERIAL_LIST_H

// clang-format off
#define RBT_MATERIAL_LIST(INVARIANT, WARPED, LINEAR)                                                                  \
    INVARIANT(stable_neo_hookean, false, false, "stable-neo-hookean",                                                 \
        "rubber and flesh; finite and smooth for any deformation, inversion included",                                \
        .survives_inversion = true, .rotation_invariant = true, .parameters = rbt_lambda_plus_mu,                     \
        .small_strain = rbt_lambda_minus_mu)                                                                          \
    INVARIANT(neo_hookean, false, false, "neo-hookean",                                                               \
        "rubber with a logarithmic barrier: an element that would turn inside out is an outcome, not a state",        \
        .rotation_invariant = true)                                                                                   \
    INVARIANT(st_venant_kirchhoff, false, true, "st-venant-kirchhoff",                                                \
        "linear stress in Green's strain; for large rotations and small strains, weak under strong compression",      \
        .survives_inversion = true, .rotation_invariant = true)                                                       \
    INVARIANT(fixed_corotated, true, false, "fixed-corotated",                                                        \
        "distance to the nearest rotation plus a volume term; robust for large deformations",                         \
        .survives_inversion = true, .rotation_invariant = true)                                                       \
    WARPED(corotational, true, false, "corotational",                                                                 \
        "linear elasticity in each element's rotated frame, with the warped stiffness of Mueller and Gross; fast",    \
        .survives_inversion = true, .rotation_invariant = true, .turning_stiffness = true)                            \
    INVARIANT(arap, true, false, "arap",                                                                              \
        "as rigid as possible: distance to the nearest rotation, without resistance to a change of volume",           \
        .survives_inversion = true, .rotation_invariant = true, .ignores_poisson = true,                              \
        .small_strain = rbt_no_lambda)                                                                                \
    LINEAR(linear, false, false, "linear",                                                                            \
        "linear elasticity; the fastest, for small displacements and rotations only",                                 \
        .survives_inversion = true, .constant_stiffness = true)
// clang-format on

#define RBT_NO_MATERIAL(...)  // in place of a kind that is not wanted

typedef enum rbt_tet_material {
#define RBT_TET_ID(name, ...) RBT_TET_##name,
    RBT_MATERIAL_LIST(RBT_TET_ID, RBT_TET_ID, RBT_TET_ID)
#undef RBT_TET_ID
        RBT_TET_MATERIALS
} rbt_tet_material;

#endif
