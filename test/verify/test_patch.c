// Affine and rigid motions of irregular bodies.
#include "verify_test.h"

VERIFY(patch)
VERIFY(rigid)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patch),
        cmocka_unit_test(rigid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
