#include "out/energy_csv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void line_start(const void *context, int64_t frame, char text[RBT_LINE_START]) {
    (void)context;
    snprintf(text, RBT_LINE_START, "%lld,", (long long)frame);
}

bool rbt_energy_csv_open(rbt_frame_file *file, const char *path, int64_t from_frame, rbt_error *error) {
    const rbt_frame_file_def def = {.path = path,
                                    .head = RBT_ENERGY_CSV_HEAD,
                                    .head_size = strlen(RBT_ENERGY_CSV_HEAD),
                                    .tail = "",
                                    .line_start = line_start};
    return rbt_frame_file_open(file, &def, from_frame, error);
}

bool rbt_energy_csv_add(rbt_frame_file *file, double t, const rbt_energies *energies, const double *statistics,
                        rbt_error *error) {
    const double *p = energies->momentum, *l = energies->angular_momentum;
    const double values[] = {t,
                             energies->kinetic,
                             energies->elastic,
                             energies->gravity,
                             energies->contact,
                             energies->total,
                             p[0],
                             p[1],
                             p[2],
                             l[0],
                             l[1],
                             l[2]};
    char row[32 * 16];
    size_t n = (size_t)snprintf(row, sizeof row, "%lld", (long long)file->frames);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        n += (size_t)snprintf(row + n, sizeof row - n, ",%.17g", values[i]);
    row[n++] = ',';
    if (!isnan(energies->work)) n += (size_t)snprintf(row + n, sizeof row - n, "%.17g", energies->work);
    const double solver[] = {statistics ? statistics[RBT_STAT_ITERATIONS] : NAN,
                             statistics ? statistics[RBT_STAT_RESIDUAL] : NAN, energies->friction};
    for (size_t i = 0; i < sizeof solver / sizeof solver[0]; i++) {
        row[n++] = ',';
        if (isfinite(solver[i])) n += (size_t)snprintf(row + n, sizeof row - n, "%.17g", solver[i]);
    }
    row[n++] = '\n';
    return rbt_frame_file_add(file, row, n, error);
}
