// Members of a team: every item is taken once, nobody continues before all have met, and who waits long sleeps.
#include "base/team.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MEMBERS = 4, PIECES = 300, ITEMS = 7, LONG_PIECES = 10, LONG_TRIES = 10000 };

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

typedef struct long_wait {
    _Atomic int thread[MEMBERS];  // 0: has not begun
    int members, asleep;          // pieces in which all who waited were seen asleep
} long_wait;

static bool sleeps(int thread) {
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
    FILE *file = fopen(path, "r");
    if (!file) return false;
    const char *end = fgets(text, sizeof text, file) ? strrchr(text, ')') : NULL;
    fclose(file);
    return end && end[1] == ' ' && end[2] == 'S';
}

static bool all_others_sleep(const long_wait *w) {
    for (int m = 1; m < w->members; m++) {
        int thread = atomic_load(&w->thread[m]);
        if (!thread || !sleeps(thread)) return false;
    }
    return true;
}

// The first member comes when all others sleep, or after a long time.
static void come_last(void *job, rbt_team *team) {
    long_wait *w = job;
    if (team->member == 0) w->members = (int)team->members;
    atomic_store(&w->thread[team->member], (int)syscall(SYS_gettid));
    for (int i = 0; i < LONG_PIECES; i++) {
        bool asleep = team->member != 0;
        for (int tries = 0; !asleep && w->asleep == i && tries < LONG_TRIES; tries++) {
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
            asleep = all_others_sleep(w);
        }
        if (team->member == 0) w->asleep += asleep;
        rbt_team_wait(team);
    }
}

// Who waits looks some 250 times and sleeps then, however long that takes it on a busy machine; one that yields for
// ever is never seen asleep.
static void who_waits_long_sleeps(void **state) {
    (void)state;
    long_wait w = {0};
    rbt_team_work(MEMBERS, come_last, &w);
    assert_in_range(w.members, 1, MEMBERS);
    assert_int_equal(w.asleep, LONG_PIECES);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(everyone_meets_after_every_piece),
                                       cmocka_unit_test(who_waits_long_sleeps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
