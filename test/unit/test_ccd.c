// The continuous test against exact predicates: never late, whatever the pair; never early where nothing comes within
// reach; and how early elsewhere.
#include "contact/ccd/additive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "ccd_pairs.h"
#include "random.h"

static double ask(const ccd_pair *p) {
    return rbt_ccd_pair(p->kind, p->x, p->y, p->inside, p->reach, p->kind == RBT_TOUCH_WALL ? p->wall : NULL);
}

static void show(const char *name, const ccd_counts *c) {
    printf("%-9s pairs %ld passed %ld stopped %ld refused %ld late %ld undecided %ld far %ld without %ld, t/impact", name,
           c->pairs, c->passed, c->stopped, c->refused, c->late, c->undecided, c->far, c->without);
    for (int b = 0; b < CCD_BINS; b++) printf(" %ld", c->early[b]);
    printf("\n");
}

static void test_never_late(void **state) {
    (void)state;
    enum { EACH = 4000 };
    for (int class = 0; class < CCD_CLASSES; class++) {
        ccd_counts c = {0};
        for (int n = 0; n < EACH * CCD_KINDS; n++) {
            ccd_pair p = ccd_draw(&random_test_stream, (rbt_touch_kind)(n % CCD_KINDS), (ccd_class) class);
            ccd_count(&random_test_stream, &p, ask(&p), &c);
        }
        show(CCD_CLASS_NAMES[class], &c);
        assert_int_equal(c.late, 0);
        assert_int_equal(c.far, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_never_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
