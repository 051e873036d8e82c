// What must be kept, and what must coincide.
#include "verify_test.h"

VERIFY(energy)
VERIFY(momentum)
VERIFY(limits)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energy),
        cmocka_unit_test(momentum),
        cmocka_unit_test(limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
