// Members of a team: every item is taken once, nobody continues before all have met, and who waits long sleeps.
#include "base/team.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/resource.h>
#include <time.h>

enum { MEMBERS = 4, PIECES = 300, ITEMS = 7, LONG_PIECES = 40, PAUSE_MS = 5 };

typedef struct {
    atomic_int done[PIECES];  // items of a piece
    atomic_int early;         // members who began a piece before the one before was done
    atomic_int members;       // how many there were
} shared_pieces;

static void do_pieces(void *job, rbt_team *team) {
    shared_pieces *pieces = job;
    atomic_fetch_add(&pieces->members, 1);
    for (int p = 0; p < PIECES; p++) {
        if (p > 0 && atomic_load(&pieces->done[p - 1]) != ITEMS) atomic_fetch_add(&pieces->early, 1);
        while (rbt_team_take(team) < ITEMS) atomic_fetch_add(&pieces->done[p], 1);
        rbt_team_meet(team, ITEMS);
    }
}

static void everyone_meets_after_every_piece(void **state) {
    (void)state;
    for (size_t members = 1; members <= 2 * MEMBERS; members++) {
        shared_pieces pieces = {0};
        rbt_team_work(members, do_pieces, &pieces);
        assert_true(atomic_load(&pieces.members) >= 1 && atomic_load(&pieces.members) <= (int)members);
        assert_int_equal(atomic_load(&pieces.early), 0);
        for (int p = 0; p < PIECES; p++) assert_int_equal(atomic_load(&pieces.done[p]), ITEMS);
    }
}

static void pause_first(void *job, rbt_team *team) {
    int *members = job;
    if (team->member == 0) *members = (int)team->members;
    for (int i = 0; i < LONG_PIECES; i++) {
        if (team->member == 0) nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000L}, NULL);
        rbt_team_wait(team);
    }
}

static double processor_seconds(void) {
    struct rusage used;
    assert_int_equal(getrusage(RUSAGE_SELF, &used), 0);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

// A member that waits looks 250 times, tens of microseconds, and sleeps: a quarter of the pause is a bound that holds
// for three of them on a slow processor, under the sanitizers as well. One that yields for ever takes all of the pause.
static void who_waits_long_sleeps(void **state) {
    (void)state;
    int members = 0;
    double before = processor_seconds();
    rbt_team_work(MEMBERS, pause_first, &members);
    assert_in_range(members, 1, MEMBERS);
    double used = processor_seconds() - before;
    print_message("%d members, %d ms of pauses: %.1f ms of processor\n", members, LONG_PIECES * PAUSE_MS, 1e3 * used);
    assert_true(used < 0.25 * LONG_PIECES * PAUSE_MS * 1e-3);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(everyone_meets_after_every_piece),
                                       cmocka_unit_test(who_waits_long_sleeps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
