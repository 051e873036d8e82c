// Where semi-implicit Euler fails.
#include "verify_test.h"

VERIFY(divergence)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(divergence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
