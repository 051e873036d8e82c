#include "energy/proximal.h"

rbt_proximal rbt_proximal_with(const rbt_material *material, rbt_instruction_set set) {
    if (!rbt_processor_has(set)) return NULL;
    switch (set) {
    case RBT_AVX512: return RBT_PROXIMALS_AVX512[material->id];
    case RBT_AVX2: return RBT_PROXIMALS_AVX2[material->id];
    default: return RBT_PROXIMALS_PLAIN[material->id];
    }
}

rbt_proximal rbt_proximal_of(const rbt_material *material) {
    return rbt_proximal_with(material, rbt_processor_set(RBT_PROXIMAL_KERNELS));
}
