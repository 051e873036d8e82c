// Steps of bodies of any size and stiffness that count as solved are right.
#include "verify_test.h"

VERIFY(sweep)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sweep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
