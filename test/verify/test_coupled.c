// Explicit and implicit nodes in one step.
#include "verify_test.h"

VERIFY(coupled)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coupled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
