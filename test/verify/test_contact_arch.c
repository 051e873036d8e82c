// A masonry arch stands by friction, and falls without enough of it: a short time of what `make verification` runs.
#include "verify_test.h"

VERIFY(arch)

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(arch)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
