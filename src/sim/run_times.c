#include "sim/run_times.h"

#include "base/file.h"
#include "base/text.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD "frame,time,steps,seconds_per_step\n"

void rbt_run_times_begin(const char *folder, int64_t from_frame) {
    char *path = rbt_path_join(folder, "times.csv");
    rbt_bytes old = {0};
    rbt_text kept = {0};
    rbt_text_add(&kept, "%s", HEAD);
    if (path && from_frame >= 0 && rbt_file_read(path, &old, NULL)) {
        const char *line = old.size >= strlen(HEAD) ? old.data + strlen(HEAD) : "";
        for (const char *end; (end = strchr(line, '\n')); line = end + 1)
            if (atoll(line) <= from_frame) rbt_text_add_bytes(&kept, line, (size_t)(end + 1 - line));
    }
    if (path && !kept.failed) rbt_file_write(path, kept.text, kept.size, NULL);
    free(old.data);
    free(path);
    rbt_text_free(&kept);
}

void rbt_run_times_add(const char *folder, int64_t frame, double time, int64_t steps, double step_seconds) {
    char *path = rbt_path_join(folder, "times.csv"), row[128];
    int file = path ? open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC) : -1;
    int size = snprintf(row, sizeof row, "%lld,%.9g,%lld,%.6g\n", (long long)frame, time, (long long)steps,
                        step_seconds / (double)(steps > 0 ? steps : 1));
    if (file >= 0 && write(file, row, (size_t)size) != size) close(file), file = -1;
    if (file >= 0) close(file);
    free(path);
}
