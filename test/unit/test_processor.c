// Which instruction set each kind of kernel uses: as the table says, or as RUBATO_ISA says; and what a wrong
// RUBATO_ISA gets.
#include "energy/proximal.h"
#include "every_isa.h"
#include "scene.h"
#include "sim/sim.h"

static const char *const BAR =
    "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'shape': {'cuboid': {'size': [0.2, 0.1, 0.1], 'cells': [2, 1, "
    "1]}}}}], 'time': {'step': 0.01, 'frame': 0.01, 'end': 1}}";

static int judged;

static void set_is_for_all_kernels(rbt_instruction_set set) {
    assert_true(rbt_processor_check(NULL));
    for (int k = 0; k < RBT_KERNEL_KINDS; k++) assert_int_equal(rbt_processor_set((rbt_kernel_kind)k), set);
    for (int i = 0; rbt_material_at(i); i++, judged++) {
        const rbt_material *m = rbt_material_at(i);
        rbt_tet_kernels used = rbt_tet_kernels_of(m);
        assert_memory_equal(&used, rbt_tet_kernels_with(m, set), sizeof used);
        assert_true(rbt_proximal_of(m) == rbt_proximal_with(m, set));
    }
}

static void one_word_is_for_all_kernels(void **state) {
    (void)state;
    with_every_set(set_is_for_all_kernels);
    assert_true(judged >= 7);
}

// Without it, every kernel is one of the sets', and of one that the processor has.
static void without_it_the_table_chooses(void **state) {
    (void)state;
    unsetenv("RUBATO_ISA");
    assert_true(rbt_processor_check(NULL));
    for (int k = 0; k < RBT_KERNEL_KINDS; k++) assert_true(rbt_processor_has(rbt_processor_set((rbt_kernel_kind)k)));
    for (int i = 0; rbt_material_at(i); i++) {
        const rbt_material *m = rbt_material_at(i);
        rbt_tet_kernels used = rbt_tet_kernels_of(m);
        const rbt_tet_kernels *forces = rbt_tet_kernels_with(m, rbt_processor_set(RBT_FORCE_KERNELS)),
                              *energies = rbt_tet_kernels_with(m, rbt_processor_set(RBT_ENERGY_KERNELS)),
                              *tangents = rbt_tet_kernels_with(m, rbt_processor_set(RBT_TANGENT_KERNELS));
        assert_true(used.energy == (m->wide_energy ? energies : forces)->energy);
        assert_true(used.gradient == forces->gradient && used.sum == forces->sum && used.apply == forces->apply);
        assert_true(used.tangent == (m->turning_stiffness ? forces : tangents)->tangent && used.warp == forces->warp);
        for (int k = 0; k < RBT_STIFFNESS_KINDS; k++) assert_true(used.stiffness[k] == tangents->stiffness[k]);
    }
}

static void fails_with(const char *word, const char *sentence) {
    setenv("RUBATO_ISA", word, 1);
    refuses(BAR, sentence);
    for (int k = 0; k < RBT_KERNEL_KINDS; k++) assert_true(rbt_processor_has(rbt_processor_set((rbt_kernel_kind)k)));
}

static void other_words_get_a_sentence(void **state) {
    (void)state;
    fails_with("avx1024", "RUBATO_ISA must be plain, avx2 or avx512; found \"avx1024\"");
    fails_with("AVX2", "found \"AVX2\"");
    if (!rbt_processor_has(RBT_AVX512))
        fails_with("avx512", "RUBATO_ISA is \"avx512\", which this processor does not have; its best is ");
    setenv("RUBATO_ISA", "", 1);  // as if it were not set
    rbt_sim_free(sim_from(BAR));
}

int main(void) {
    keep_set();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(one_word_is_for_all_kernels, put_back),
        cmocka_unit_test_teardown(without_it_the_table_chooses, put_back),
        cmocka_unit_test_teardown(other_words_get_a_sentence, put_back),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(started_with);
    return failed;
}
