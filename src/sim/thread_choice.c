#include "sim/thread_choice.h"

#include "base/threads.h"

#include <math.h>

enum { FIRST = 3, PAUSE = 100, LONGEST_PAUSE = 400, WINS = 2 };
static const double FASTER = 0.9, ALIKE = 1.5, SLOW = 2, SHARE = 50;

static bool is_level(const rbt_thread_choice *c, int level) { return level >= 0 && (c->most >> level) >= 1; }

// No trial for so many steps and seconds
static void pause_for(rbt_thread_choice *c, int64_t steps, double seconds) {
    c->steps = 0;
    c->passed = 0;
    c->pause = steps;
    c->wanted = seconds;
    c->depth = c->wins = 0;
    c->rests = false;
}

int rbt_thread_choice_start(size_t node_count, int most) { return node_count < 2 * RBT_PARALLEL_FROM ? 1 : most; }

int rbt_thread_choice_begin(rbt_thread_choice *c, int most, int start) {
    if (c->most != most) {
        *c = (rbt_thread_choice){.most = most, .towards = 1, .fewer = c->fewer};
        while (most >> c->level > start) c->level++;
        pause_for(c, FIRST, 0);
    }
    if (c->depth == 0 && c->mean > 0 && c->steps >= c->pause && c->passed >= c->wanted) {
        if (!is_level(c, c->level + c->towards)) c->towards = -c->towards;
        if (is_level(c, c->level + c->towards)) c->depth = 1;
    }
    c->trial = c->level + (c->rests ? 0 : c->towards * c->depth);
    int threads = most >> c->trial;
    c->fewer += threads < most;
    return threads;
}

static void end_trial(rbt_thread_choice *c, double seconds, double each) {
    if (each <= FASTER * fmin(c->mean, c->last)) {
        c->rests = ++c->wins < WINS;
        if (c->rests) return;
        c->level = c->trial;
        c->mean = c->last = each;
        pause_for(c, FIRST, 0);
    } else if (each < ALIKE * c->last && is_level(c, c->trial + c->towards)) {
        c->depth++;
        c->wins = 0;
        c->rests = true;
    } else {  // it does not pay
        int64_t pause = c->pause < PAUSE ? PAUSE : 2 * c->pause;
        pause_for(c, pause < LONGEST_PAUSE ? pause : LONGEST_PAUSE, SHARE * seconds);
        c->towards = -c->towards;
    }
}

void rbt_thread_choice_end(rbt_thread_choice *c, double seconds, double work) {
    if (!(seconds > 0)) return;
    double each = seconds / fmax(work, 1);
    c->passed += seconds;
    c->steps++;
    if (c->trial != c->level) {
        end_trial(c, seconds, each);
        return;
    }
    if (c->steps == 1 && c->mean == 0) return;  // the first step of all analyses and warms up
    c->rests = false;
    c->last = each;
    // A slow step calls for a trial with fewer threads, unless one has just failed.
    if (c->mean > 0 && each > SLOW * c->mean && c->steps >= FIRST && c->passed >= 0.1 * c->wanted) {
        c->pause = FIRST;
        c->wanted = 0;
        if (c->depth == 0) c->towards = 1;
    }
    c->mean = c->mean > 0 ? 0.75 * c->mean + 0.25 * each : each;
}
