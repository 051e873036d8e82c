// Time in seconds from an arbitrary start: wall-clock time for stage timers, and time that the processor has spent on
// the calling thread, whatever else the machine does.
#ifndef RBT_BASE_CLOCK_H
#define RBT_BASE_CLOCK_H

double rbt_now(void);
double rbt_thread_seconds(void);

#endif
