#include "cli/contender_table.h"

#include "cli/command.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *rbt_outcome_text(const rbt_trial *trial, char text[64]) {
    if (trial->end == RBT_TRIAL_FINISHED) snprintf(text, 64, "finished");
    else if (trial->end == RBT_TRIAL_NOT_CONVERGED) snprintf(text, 64, "not converged");
    else snprintf(text, 64, "%s at %.4g s", trial->end == RBT_TRIAL_CRASHED ? "crashed" : "failed", trial->t);
    return text;
}

// ---- Cells

void rbt_put_number(char *cell, const char *format, double value) {
    if (isfinite(value)) snprintf(cell, RBT_CELL, format, value);
    else snprintf(cell, RBT_CELL, "-");
}

void rbt_put_count(char *cell, int64_t count) { snprintf(cell, RBT_CELL, "%lld", (long long)count); }
void rbt_put_steps(const rbt_contender *c, char *cell) { rbt_put_count(cell, c->trial.steps); }
void rbt_put_iterations(const rbt_contender *c, char *cell) { rbt_put_count(cell, c->trial.iterations); }

void rbt_put_outcome(const rbt_contender *c, char *cell) {
    char text[64];
    snprintf(cell, RBT_CELL, "%s", rbt_outcome_text(&c->trial, text));
}

void rbt_put_distance_end(const rbt_contender *c, char *cell) { rbt_put_number(cell, "%.3g", c->distance_end); }

// ---- The table

// Column k of all: a label or one of the others.
static const char *head_of(const rbt_contender_columns *columns, size_t k) {
    return k < columns->head_count ? columns->heads[k] : columns->columns[k - columns->head_count].head;
}

static const char *unit_of(const rbt_contender_columns *columns, size_t k) {
    return k < columns->head_count ? "" : columns->columns[k - columns->head_count].unit;
}

static void put_cell(const rbt_contender_columns *columns, size_t k, const rbt_contender *c, char cell[RBT_CELL]) {
    if (k < columns->head_count) snprintf(cell, RBT_CELL, "%s", c->labels[k]);
    else columns->columns[k - columns->head_count].put(c, cell);
}

static int width_of(const rbt_contender_columns *columns, size_t k, const rbt_contender *contenders, size_t count) {
    const char *head = head_of(columns, k), *unit = unit_of(columns, k);
    size_t width = strlen(head) > strlen(unit) ? strlen(head) : strlen(unit);
    char cell[RBT_CELL];
    for (size_t i = 0; i < count; i++) {
        put_cell(columns, k, &contenders[i], cell);
        if (strlen(cell) > width) width = strlen(cell);
    }
    return (int)width;
}

typedef struct sheet {
    rbt_text *text;
    const rbt_contender_columns *columns;
    size_t width_count;
    const int *width;  // (width_count)
} sheet;

// Nothing stands behind the last word of a line.
static void add_cell(const sheet *s, size_t k, const char *words) {
    rbt_text *t = s->text;
    bool left = k < s->columns->head_count || s->columns->columns[k - s->columns->head_count].left;
    rbt_text_add(t, left ? "%-*s  " : "%*s  ", s->width[k], words);
    if (k + 1 < s->width_count || t->failed) return;
    while (t->size && t->text[t->size - 1] == ' ') t->size--;
    rbt_text_add(t, "\n");
}

void rbt_contender_table(rbt_text *t, const rbt_contender *contenders, size_t count,
                         const rbt_contender_columns *columns) {
    int width[RBT_MAX_WORDS + 32];
    char cell[RBT_CELL];
    const sheet s = {t, columns, columns->head_count + columns->count, width};
    for (size_t k = 0; k < s.width_count; k++) width[k] = width_of(columns, k, contenders, count);
    for (size_t k = 0; k < s.width_count; k++) add_cell(&s, k, head_of(columns, k));
    for (size_t k = 0; k < s.width_count; k++) add_cell(&s, k, unit_of(columns, k));
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < s.width_count; k++) {
            put_cell(columns, k, &contenders[i], cell);
            add_cell(&s, k, cell);
        }
}

void rbt_contender_trouble(rbt_text *t, const char *name, const rbt_trial *trial) {
    char text[64];
    if (trial->end != RBT_TRIAL_FINISHED)
        rbt_text_add(t, "%s %s: %s\n", name, rbt_outcome_text(trial, text), trial->reason);
    else if (trial->warning[0]) rbt_text_add(t, "%s finished, but: %s\n", name, trial->warning);
}

// ---- A command

void rbt_contender_hear(const rbt_contender_news *news, void *listener) {
    const bool *terminal = listener;
    const rbt_contender *c = news->contender;
    const rbt_trial *trial = &c->trial;
    char text[64];
    if (news->over)
        printf("run %d of %d  %s: %s, %.3g s in steps%s\n", news->run, news->runs, c->name,
               rbt_outcome_text(trial, text), trial->step_seconds, *terminal ? "        " : "");
    else if (*terminal && !trial->frame_count) printf("run %d of %d  %s: starting\r", news->run, news->runs, c->name);
    else if (*terminal)
        printf("run %d of %d  %s: frame %zu of %lld\r", news->run, news->runs, c->name, trial->frame_count - 1,
               (long long)trial->last_frame);
    fflush(stdout);
}

int rbt_study_present(const rbt_study_end *end, rbt_text *table, rbt_error *error) {
    bool good = end->saved;
    if (table->failed) good = rbt_fail_memory(error, table->size, "a table");
    else if (!end->quiet) printf("\n%s", table->text);
    rbt_text_free(table);
    if (!good) return rbt_complain(error);
    if (!end->quiet) printf("saved: %s and a folder for every run in %s\n", end->files, end->folder);
    if (rbt_contenders_finished(end->contenders, end->count)) return 0;
    fprintf(stderr, "rubato: no %s finished; the first one: %s\n", end->kind, end->contenders[0].trial.reason);
    return 1;
}
