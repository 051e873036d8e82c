#include "out/probes_csv.h"

#include <stdio.h>

static void line_start(const void *context, int64_t frame, char text[RBT_LINE_START]) {
    (void)context;
    snprintf(text, RBT_LINE_START, "%lld,", (long long)frame);
}

bool rbt_probes_csv_open(rbt_frame_file *file, const char *path, const rbt_model *m, int64_t from_frame,
                         rbt_error *error) {
    static const char *const columns[] = {"x",          "y",         "z",          "vx",
                                          "vy",         "vz",        "reaction_x", "reaction_y",
                                          "reaction_z", "contact_x", "contact_y",  "contact_z"};
    rbt_text head = {0};
    rbt_text_add(&head, "frame,time");
    for (size_t i = 0; i < m->probe_count; i++)
        for (size_t k = 0; k < sizeof columns / sizeof columns[0]; k++)
            rbt_text_add(&head, ",%s.%s", m->probes[i].name, columns[k]);
    rbt_text_add(&head, "\n");
    const rbt_frame_file_def def = {.path = path,
                                    .head = head.text,
                                    .head_size = head.size,
                                    .tail = "",
                                    .line_start = line_start,
                                    .has_steps = true};
    bool good = head.failed ? rbt_fail_memory(error, head.size, "probes.csv")
                            : rbt_frame_file_open(file, &def, from_frame, error);
    rbt_text_free(&head);
    return good;
}

static void add_vector(rbt_text *row, const double v[3]) {
    rbt_text_add(row, ",%.17g,%.17g,%.17g", v[0], v[1], v[2]);
}

enum { CELLS = 12 };

static void add_row(rbt_text *rows, const rbt_model *m, int64_t frame, double t, const rbt_probe_reading *readings,
                    bool step) {
    rbt_text_add(rows, "%lld,%.17g", (long long)frame, t);
    for (size_t i = 0; i < m->probe_count; i++) {
        for (int k = 0; step && !m->probes[i].every_step && k < CELLS; k++) rbt_text_add(rows, ",");
        if (step && !m->probes[i].every_step) continue;
        add_vector(rows, readings[i].position);
        add_vector(rows, readings[i].velocity);
        add_vector(rows, readings[i].reaction);
        add_vector(rows, readings[i].contact);
    }
    rbt_text_add(rows, "\n");
}

bool rbt_probes_csv_step(rbt_text *rows, const rbt_model *m, int64_t frame, double t,
                         const rbt_probe_reading *readings, rbt_error *error) {
    add_row(rows, m, frame, t, readings, true);
    return !rows->failed || rbt_fail_memory(error, rows->size, "probes.csv");
}

bool rbt_probes_csv_add(rbt_frame_file *file, rbt_text *rows, const rbt_model *m, double t,
                        const rbt_probe_reading *readings, rbt_error *error) {
    add_row(rows, m, file->frames, t, readings, false);
    bool good = rows->failed ? rbt_fail_memory(error, rows->size, "probes.csv")
                             : rbt_frame_file_add(file, rows->text, rows->size, error);
    rbt_text_free(rows);
    return good;
}
