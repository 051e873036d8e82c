// Sections of the verification as cmocka tests: VERIFY(order) is a test of verify_order in its short form.
#ifndef TEST_VERIFY_TEST_H
#define TEST_VERIFY_TEST_H

#include "verify.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define VERIFY(section)                                                                                              \
    static void section(void **state) {                                                                              \
        (void)state;                                                                                                 \
        assert_true(verify_holds(verify_##section));                                                                 \
    }

#endif
