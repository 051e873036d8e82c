#include "out/steps_csv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void line_start(const void *context, int64_t frame, char text[RBT_LINE_START]) {
    (void)context;
    snprintf(text, RBT_LINE_START, "%lld,", (long long)frame);
}

bool rbt_steps_csv_open(rbt_frame_file *file, const char *path, int64_t from_frame, rbt_error *error) {
    const rbt_frame_file_def def = {.path = path,
                                    .head = RBT_STEPS_CSV_HEAD,
                                    .head_size = strlen(RBT_STEPS_CSV_HEAD),
                                    .tail = "",
                                    .line_start = line_start,
                                    .has_steps = true};
    return rbt_frame_file_open(file, &def, from_frame, error);
}

void rbt_steps_csv_note(rbt_text *rows, int64_t frame, const rbt_step_attempt *attempt) {
    rbt_text_add(rows, "%lld,%.17g,%.17g,", (long long)frame, attempt->t, attempt->step);
    if (isfinite(attempt->estimate)) rbt_text_add(rows, "%.6g", attempt->estimate);
    rbt_text_add(rows, ",%d,%s\n", attempt->accepted, attempt->why);
}

bool rbt_steps_csv_add(rbt_frame_file *file, rbt_text *rows, double t, rbt_error *error) {
    rbt_text_add(rows, "%lld,%.17g,0,,1,frame\n", (long long)file->frames, t);
    bool good = rows->failed ? rbt_fail_memory(error, rows->size, "steps.csv")
                             : rbt_frame_file_add(file, rows->text, rows->size, error);
    rbt_text_free(rows);
    return good;
}
