// Forces and matrices against differences.
#include "verify_test.h"

VERIFY(materials)
VERIFY(assembly)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(materials),
        cmocka_unit_test(assembly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
