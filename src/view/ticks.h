// Round numbers for axes, legends and grids.
#ifndef RBT_VIEW_TICKS_H
#define RBT_VIEW_TICKS_H

#include <stdbool.h>
#include <stddef.h>

enum { RBT_TICKS_MAX = 24 };

typedef struct rbt_ticks {
    int count;
    double at[RBT_TICKS_MAX];
    double step;
    int decimals;      // enough to tell the ticks apart in fixed notation
    bool exponential;  // fixed notation would be long
} rbt_ticks;

// 1, 2 or 5 times a power of ten, so that about `wanted` steps make up `length`.
double rbt_tick_step(double length, int wanted);

// Multiples of such a step inside [low, high].
rbt_ticks rbt_ticks_linear(double low, double high, int wanted);

// Powers of ten inside [low, high], thinned to about `wanted`; with 2 and 5 times them in a short range.
rbt_ticks rbt_ticks_log(double low, double high, int wanted);

// A tick's number in words, as "0.25" or "2e-05".
void rbt_tick_text(const rbt_ticks *ticks, double value, char *text, size_t size);

// A unit for numbers up to `largest`: "Pa" becomes "kPa", "m" becomes "mm", …; text receives the unit's name, the
// result is the factor to multiply with. Units without prefixes stay ("" included).
double rbt_unit_scale(const char *unit, double largest, char *text, size_t size);

#endif
