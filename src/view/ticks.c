#include "view/ticks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double rbt_tick_step(double length, int wanted) {
    if (!(length > 0) || !isfinite(length)) return 1;
    double rough = length / (wanted > 0 ? wanted : 1), power = pow(10, floor(log10(rough)));
    if (!(power > 0) || !isfinite(power)) return length;
    double lead = rough / power;
    return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
}

static void choose_notation(rbt_ticks *ticks, double low, double high) {
    double largest = fmax(fabs(low), fabs(high));
    double places = ticks->step > 0 ? -floor(log10(ticks->step) + 1e-9) : 0;
    ticks->decimals = places > 0 ? (int)fmin(places, 12) : 0;
    ticks->exponential = largest >= 1e6 || (largest > 0 && largest < 1e-3);
}

rbt_ticks rbt_ticks_linear(double low, double high, int wanted) {
    rbt_ticks ticks = {.step = rbt_tick_step(high - low, wanted)};
    double first = ceil(low / ticks.step - 1e-9);
    for (double k = first; k * ticks.step <= high + 1e-9 * ticks.step && ticks.count < RBT_TICKS_MAX; k++)
        ticks.at[ticks.count++] = k * ticks.step + 0.0;  // no negative zero
    choose_notation(&ticks, low, high);
    return ticks;
}

rbt_ticks rbt_ticks_log(double low, double high, int wanted) {
    rbt_ticks ticks = {.exponential = true};
    int first = (int)floor(log10(low) + 1e-9), last = (int)ceil(log10(high) - 1e-9);
    int stride = wanted > 0 && (last - first) > wanted ? (last - first + wanted - 1) / wanted : 1;
    bool dense = last - first <= 2;
    static const double leads[] = {1, 2, 5};
    for (int e = first; e <= last; e += stride)
        for (int k = 0; k < (dense ? 3 : 1); k++) {
            double value = leads[k] * pow(10, e);
            if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9) && ticks.count < RBT_TICKS_MAX)
                ticks.at[ticks.count++] = value;
        }
    return ticks;
}

void rbt_tick_text(const rbt_ticks *ticks, double value, char *text, size_t size) {
    if (value == 0) snprintf(text, size, "0");
    else if (!ticks->exponential) snprintf(text, size, "%.*f", ticks->decimals, value);
    else snprintf(text, size, "%.4g", value);
}

double rbt_unit_scale(const char *unit, double largest, char *text, size_t size) {
    static const struct {
        const char *unit, *scaled;
        double below, factor;  // the first line of a unit whose limit is above the number
    } scales[] = {
        {"m", "um", 1e-4, 1e6},   {"m", "mm", 0.1, 1e3},    {"m/s", "mm/s", 0.1, 1e3},     {"Pa", "Pa", 2e3, 1},
        {"Pa", "kPa", 2e6, 1e-3}, {"Pa", "MPa", 2e9, 1e-6}, {"Pa", "GPa", INFINITY, 1e-9},
    };
    for (size_t i = 0; largest > 0 && i < sizeof scales / sizeof scales[0]; i++)
        if (strcmp(scales[i].unit, unit) == 0 && largest < scales[i].below) {
            snprintf(text, size, "%s", scales[i].scaled);
            return scales[i].factor;
        }
    snprintf(text, size, "%s", unit);
    return 1;
}
