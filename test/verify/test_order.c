// The order of every method.
#include "verify_test.h"

VERIFY(order)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
