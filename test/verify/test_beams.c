// Bars against beam theory and dense eigenvalues.
#include "verify_test.h"

VERIFY(cantilever)
VERIFY(frequencies)
VERIFY(eigenpairs)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cantilever),
        cmocka_unit_test(frequencies),
        cmocka_unit_test(eigenpairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
