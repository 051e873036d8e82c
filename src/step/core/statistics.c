#include "step/core/statistics.h"

#include <stddef.h>
#include <string.h>

typedef struct rbt_statistic_row {
    rbt_statistic_info info;
    const char *object;
    rbt_summing summing;
} rbt_statistic_row;

#define ENTRY(NAME, key, object, summing, unit, doc) {{key, unit, doc}, object, summing},
static const rbt_statistic_row TABLE[RBT_STATISTIC_COUNT] = {RBT_STATISTICS(ENTRY)};

size_t rbt_statistic_count(void) { return RBT_STATISTIC_COUNT; }

static bool exists(int i) { return i >= 0 && i < RBT_STATISTIC_COUNT; }

const rbt_statistic_info *rbt_statistic_at(int i) { return exists(i) ? &TABLE[i].info : NULL; }
const char *rbt_statistic_object(int i) { return exists(i) ? TABLE[i].object : NULL; }

int rbt_statistic_find(const char *name) {
    for (int i = 0; name && i < RBT_STATISTIC_COUNT; i++)
        if (strcmp(TABLE[i].info.name, name) == 0) return i;
    return -1;
}

double rbt_report_statistic(const rbt_step_report *report, int i) {
    return report && exists(i) ? report->statistics[i] : 0;
}

void rbt_statistics_add(double *sum, const double *more) {
    for (int i = 0; i < RBT_STATISTIC_COUNT; i++)
        sum[i] = TABLE[i].summing == RBT_SUMMED ? sum[i] + more[i] : more[i];
}

void rbt_statistics_add_change(double *sum, const double *before, const double *after) {
    for (int i = 0; i < RBT_STATISTIC_COUNT; i++)
        sum[i] = TABLE[i].summing == RBT_SUMMED ? sum[i] + (after[i] - before[i]) : after[i];
}
