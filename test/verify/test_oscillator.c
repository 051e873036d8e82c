// The scalar oscillator in closed form.
#include "verify_test.h"

VERIFY(oscillator)
VERIFY(artificial_damping)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oscillator),
        cmocka_unit_test(artificial_damping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
