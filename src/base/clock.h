// Wall-clock time for stage timers, in seconds from an arbitrary start.
#ifndef RBT_BASE_CLOCK_H
#define RBT_BASE_CLOCK_H

double rbt_now(void);

#endif
